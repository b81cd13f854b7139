//! The load at which a column under a thrust along its tip flutters, and its frequencies below, in both formulations.

use std::collections::BTreeMap;

use lissom::spec::{FormulationSpec, NodalFormulationSpec};
use lissom::{Flow, Mechanism, ModelSpec, OperatingPoint, Override};
use lissom_numerics::linear::{LinearError, UndampedModes};

/// The column, whose only input is the thrust.
const COLUMN: &str = include_str!("../../../../validation/beck_1952/column.toml");

/// Loads between which the column begins to flutter.
const BETWEEN: [f64; 2] = [10.0, 30.0];

/// Halvings of that span: the frequencies that meet depend on the root of the distance from the flutter load.
const HALVINGS: usize = 36;

const ELEMENTS: usize = 8;

/// Flutter load, frequency there, and the two lowest frequencies at half of Beck's load, by formulation and name, as far as
/// they are found.
pub(super) fn flutter() -> BTreeMap<String, f64> {
    let nodal = FormulationSpec::Nodal(NodalFormulationSpec {
        elements_per_link: ELEMENTS,
    });
    let mut numbers = BTreeMap::new();
    for (name, formulation) in [("tree", FormulationSpec::Tree), ("nodal", nodal)] {
        let mut note = |quantity: &str, number: f64| {
            numbers.insert(format!("{name}.{quantity}"), number);
        };
        if let Some([load, frequency]) = flutter_point(COLUMN, formulation) {
            note("flutter_load", load);
            note("flutter_frequency", frequency);
        }
        let half = column(COLUMN, formulation, HALF_OF_BECKS_LOAD);
        if let Some(Column::Vibrates([first, second])) = half {
            note("first_at_half", first);
            note("second_at_half", second);
        }
    }
    numbers
}

/// Half of the load of the characteristic equation.
const HALF_OF_BECKS_LOAD: f64 = 0.5 * 20.050_953_619;

/// What the straight column does under a thrust.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    /// It vibrates, with these as its two lowest frequencies.
    Vibrates([f64; 2]),
    /// It flutters.
    Flutters,
}

/// The load at which the two lowest frequencies meet, and the frequency; none if anything fails, or the column does not begin to flutter between the loads.
fn flutter_point(text: &str, formulation: FormulationSpec) -> Option<[f64; 2]> {
    let [mut low, mut high] = BETWEEN;
    let under = |thrust: f64| column(text, formulation, thrust);
    let (Column::Vibrates(mut frequencies), Column::Flutters) = (under(low)?, under(high)?) else {
        return None;
    };
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match under(middle)? {
            Column::Vibrates(found) => (low, frequencies) = (middle, found),
            Column::Flutters => high = middle,
        }
    }
    let [first, second] = frequencies;
    Some([low, (0.5 * (first * first + second * second)).sqrt()])
}

/// The straight column under a thrust; none if anything fails.
fn column(text: &str, formulation: FormulationSpec, thrust: f64) -> Option<Column> {
    let change = Override::parse(&format!("input.0.force_constant.value_n={thrust}")).ok()?;
    let spec = ModelSpec {
        formulation,
        ..ModelSpec::parse(text, &[change]).ok()?
    };
    let mechanism = Mechanism::build(&spec).ok()?;
    let mut watch = |_| Flow::Continue;
    let start = mechanism.written();
    let found = mechanism
        .linearize(&start, OperatingPoint::Start, &[], &mut watch)
        .ok()?;
    let linear = &found.trajectory.points()[0].linear;
    match UndampedModes::new(&linear.mass, &linear.stiffness()) {
        Ok(modes) => {
            let frequencies = modes.frequencies();
            let lowest = [*frequencies.first()?, *frequencies.get(1)?];
            // not a number where the column would fall to one side
            let vibrates = lowest.iter().all(|frequency| frequency.is_finite());
            vibrates.then_some(Column::Vibrates(lowest))
        }
        Err(LinearError::Flutter) => Some(Column::Flutters),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: what cannot be computed is no flutter, and neither is a load range without any.
    #[test]
    fn failures_are_not_flutter() {
        let tree = FormulationSpec::Tree;
        let [low, high] = BETWEEN;
        assert!(matches!(
            column(COLUMN, tree, low),
            Some(Column::Vibrates(_))
        ));
        assert_eq!(column(COLUMN, tree, high), Some(Column::Flutters));
        assert_eq!(column("format = 1", tree, high), None);
        let heavy = COLUMN.replace(
            "mass_per_length_kg_per_m = ",
            "mass_per_length_kg_per_m = -",
        );
        assert_ne!(heavy, COLUMN);
        assert_eq!(column(&heavy, tree, high), None);
        let stiff = COLUMN.replace(
            "bending_stiffness_y_n_m2 = 1.0",
            "bending_stiffness_y_n_m2 = 9.0",
        );
        assert_ne!(stiff, COLUMN);
        assert_eq!(flutter_point(&stiff, tree), None);
    }
}
