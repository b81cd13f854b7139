//! The load at which a column under a thrust along its tip flutters, and its frequencies below, in both formulations.

use std::collections::BTreeMap;

use lissom::spec::{FormulationSpec, NodalFormulationSpec};
use lissom::{Flow, Mechanism, ModelSpec, OperatingPoint, Override};
use lissom_numerics::linear::UndampedModes;

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
        if let Some([load, frequency]) = meeting(formulation) {
            note("flutter_load", load);
            note("flutter_frequency", frequency);
        }
        if let Some([first, second]) = lowest(formulation, HALF_OF_BECKS_LOAD) {
            note("first_at_half", first);
            note("second_at_half", second);
        }
    }
    numbers
}

/// Half of the load of the characteristic equation.
const HALF_OF_BECKS_LOAD: f64 = 0.5 * 20.050_953_619;

/// The load at which the two lowest frequencies meet, and the frequency.
fn meeting(formulation: FormulationSpec) -> Option<[f64; 2]> {
    let [mut low, mut high] = BETWEEN;
    let mut frequencies = lowest(formulation, low)?;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match lowest(formulation, middle) {
            Some(found) => (low, frequencies) = (middle, found),
            None => high = middle,
        }
    }
    let [first, second] = frequencies;
    Some([low, (0.5 * (first * first + second * second)).sqrt()])
}

/// The two lowest frequencies of the straight column under a thrust; none when it flutters.
fn lowest(formulation: FormulationSpec, thrust: f64) -> Option<[f64; 2]> {
    let change = Override::parse(&format!("input.0.force_constant.value_n={thrust}")).ok()?;
    let spec = ModelSpec {
        formulation,
        ..ModelSpec::parse(COLUMN, &[change]).ok()?
    };
    let mechanism = Mechanism::build(&spec).ok()?;
    let mut watch = |_| Flow::Continue;
    let start = mechanism.written();
    let found = mechanism
        .linearize(&start, OperatingPoint::Start, &[], &mut watch)
        .ok()?;
    let linear = &found.trajectory.points()[0].linear;
    let modes = UndampedModes::new(&linear.mass, &linear.stiffness()).ok()?;
    let frequencies = modes.frequencies();
    Some([*frequencies.first()?, *frequencies.get(1)?])
}
