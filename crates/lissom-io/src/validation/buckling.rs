//! Loads at which a beam in equilibrium stops being stable, in both formulations.

use std::collections::BTreeMap;

use lissom::spec::{FormulationSpec, NodalFormulationSpec};
use lissom::{Mechanism, ModelSpec, Override, Stability};

/// The cantilever, whose only input is the load.
const NARROW_CANTILEVER: &str =
    include_str!("../../../../validation/timoshenko_1961/narrow_cantilever.toml");

/// Loads between which the beam buckles.
const BETWEEN: [f64; 2] = [3.0, 5.0];

/// Halvings of that span: to a ten thousandth.
const HALVINGS: usize = 14;

const ELEMENTS: usize = 8;

/// Buckling loads of the narrow cantilever by the name of the formulation, as far as they are found.
pub(super) fn lateral_buckling() -> BTreeMap<String, f64> {
    let nodal = FormulationSpec::Nodal(NodalFormulationSpec {
        elements_per_link: ELEMENTS,
    });
    let loads = [("tree", FormulationSpec::Tree), ("nodal", nodal)];
    (loads.into_iter())
        .filter_map(|(name, formulation)| Some((name.to_owned(), buckling_load(formulation)?)))
        .collect()
}

fn buckling_load(formulation: FormulationSpec) -> Option<f64> {
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

/// Whether the equilibrium under a load is stable.
fn is_stable(formulation: FormulationSpec, load: f64) -> Option<bool> {
    let change = Override::parse(&format!("input.0.force_constant.value_n={load}")).ok()?;
    let spec = ModelSpec {
        formulation,
        ..ModelSpec::parse(NARROW_CANTILEVER, &[change]).ok()?
    };
    let mechanism = Mechanism::build(&spec).ok()?;
    let rest = mechanism.equilibrium(&mechanism.written()).ok()?;
    Some(rest.stability? == Stability::Stable)
}
