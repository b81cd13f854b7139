//! Loads at which a beam in equilibrium stops being stable, in both formulations.

use std::collections::BTreeMap;

use lissom::spec::{FormulationSpec, NodalFormulationSpec};
use lissom::{Flow, Mechanism, ModelSpec, Override, Place, linearized};

/// The cantilever, whose only input is the load.
const NARROW_CANTILEVER: &str =
    include_str!("../../../../validation/timoshenko_1961/narrow_cantilever.toml");

/// Loads between which the beam buckles.
const BETWEEN: [f64; 2] = [3.0, 5.0];

/// Halvings of that span: to 1e-6.
const HALVINGS: usize = 21;

const ELEMENTS: usize = 8;

/// Buckling loads of the narrow cantilever by the name of the formulation.
pub(super) fn lateral_buckling() -> Option<BTreeMap<String, f64>> {
    let nodal = FormulationSpec::Nodal(NodalFormulationSpec {
        elements_per_link: ELEMENTS,
    });
    let loads = [("tree", FormulationSpec::Tree), ("nodal", nodal)];
    (loads.into_iter())
        .map(|(name, formulation)| Some((name.to_owned(), buckling_load(&formulation)?)))
        .collect()
}

fn buckling_load(formulation: &FormulationSpec) -> Option<f64> {
    let [mut low, mut high] = BETWEEN;
    if !is_stable(formulation, low)? || is_stable(formulation, high)? {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_stable(formulation, middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// Whether the stiffness about the equilibrium under a load is positive definite.
fn is_stable(formulation: &FormulationSpec, load: f64) -> Option<bool> {
    let change = Override::parse(&format!("input.0.force_constant.value_n={load}")).ok()?;
    let spec = ModelSpec {
        formulation: formulation.clone(),
        ..ModelSpec::parse(NARROW_CANTILEVER, &[change]).ok()?
    };
    let mechanism = Mechanism::build(&spec).ok()?;
    let watch = &mut |_| Flow::Continue;
    let from = mechanism.written();
    let found = linearized(&mechanism, &from, Place::Equilibrium, &[], watch).ok()?;
    let stiffness = found.along.points().first()?.linear.stiffness();
    Some(stiffness.cholesky().is_some())
}
