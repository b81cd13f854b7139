//! The stiffness that a link's own rotation gives it \[Fattah 1995, eq. (5.18)\].

use lissom_core::study::{Linearized, OperatingPoint};
use lissom_engine::model::Model;
use lissom_engine::simulate::{Evaluation, StateInput, evaluate};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Terms, TrackedModes};

use crate::models::{built, hinged_beam, parsed};
use crate::runs::tree_mechanism;

const LENGTH: f64 = 1.3;
const MASS_PER_LENGTH: f64 = 0.7;

/// A beam on a joint about z that bends in both planes.
fn beam(basis: &str, shortening: &str) -> Model {
    let beam = hinged_beam(&format!(
        "length_m = {LENGTH}\nmass_per_length_kg_per_m = {MASS_PER_LENGTH}\n\
         bending_stiffness_y_n_m2 = 20.0\nbending_stiffness_z_n_m2 = 45.0\nbasis.{basis}"
    ));
    built(&format!(
        "{beam}[fidelity]\nshortening = \"{shortening}\"\n"
    ))
}

/// Force on every elastic coordinate of a beam that turns at `rate` about `z` with one of them at 1, without any
/// acceleration, less the same at rest.
fn added_by_rotation(model: &Model, coordinate: usize, rate: f64) -> Vec<f64> {
    let size = model.linkage.system.velocity_count();
    let at = |rate: f64| -> Evaluation {
        let mut position = vec![0.0; size];
        position[1 + coordinate] = 1.0;
        let mut velocity = vec![0.0; size];
        velocity[0] = rate;
        let force = vec![0.0; size];
        let input = StateInput {
            position,
            velocity,
            force,
            acceleration: None,
        };
        evaluate(model, &input)
    };
    let (turning, still) = (at(rate).bias, at(0.0).bias);
    let added = turning.iter().zip(&still).map(|(a, b)| a - b);
    added.skip(1).collect()
}

/// $`\int_0^L \tfrac12\rho A(L^2 - x^2)\,\varphi'^2 dx / \int_0^L \rho A\,\varphi^2 dx`$ of the first function of a
/// clamped beam, whose $`\beta L`$ is the first root of $`1 + \cos\cosh = 0`$.
fn southwell_coefficient() -> f64 {
    const ROOT: f64 = 1.875_104_068_711_961;
    let ratio = (ROOT.sinh() - ROOT.sin()) / (ROOT.cosh() + ROOT.cos());
    let value = |x: f64| x.cosh() - x.cos() - ratio * (x.sinh() - x.sin());
    let slope = |x: f64| ROOT * (x.sinh() + x.sin() - ratio * (x.cosh() - x.cos()));
    // Simpson's rule with 2000 intervals: its error is of fourth order in 1/2000 and below 1e-12
    let n = 2000;
    let (mut above, mut below) = (0.0, 0.0);
    for i in 0..=n {
        let weight = match i {
            0 => 1.0,
            _ if i == n => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let x = f64::from(i) / f64::from(n);
        above += weight * 0.5 * (1.0 - x * x) * slope(ROOT * x).powi(2);
        below += weight * value(ROOT * x).powi(2);
    }
    above / below
}

/// Closed form and published number: the square of the first frequency of a beam that turns at a constant rate grows
/// by 1.193 of the square of the rate in bending along the axis of rotation, and by one less across it.
#[test]
fn the_frequency_of_a_rotating_beam_rises_by_its_southwell_coefficient() {
    // Simpson's rule, and the digits of the root
    const CLOSED_FORM: f64 = 1e-10;
    // Southwell's coefficient as handbooks print it
    const PRINTED: f64 = 5e-4;
    let coefficient = southwell_coefficient();
    assert!((coefficient - 1.193).abs() < PRINTED, "{coefficient}");
    let basis = "clamped_free = { bending_y = 1, bending_z = 1 }";
    let model = beam(basis, "geometric_stiffness");
    for rate in [0.7, 3.0] {
        let across = added_by_rotation(&model, 0, rate)[0] / (rate * rate);
        let along = added_by_rotation(&model, 1, rate)[1] / (rate * rate);
        assert!(
            (across - (coefficient - 1.0)).abs() < CLOSED_FORM,
            "{across}"
        );
        assert!((along - coefficient).abs() < CLOSED_FORM, "{along}");
    }
    // without it the rotation softens the bending across, and leaves that along the axis alone
    let model = beam(basis, "none");
    assert!((added_by_rotation(&model, 0, 3.0)[0] / 9.0 + 1.0).abs() < CLOSED_FORM);
    assert!(added_by_rotation(&model, 1, 3.0)[1].abs() < CLOSED_FORM);
}

/// Hand integration: one Hermite element with the functions $`3\xi^2 - 2\xi^3`$ and $`L(\xi^3 - \xi^2)`$ of the tip's
/// deflection and slope, along the axis of rotation.
#[test]
fn one_element_has_the_stiffness_integrated_by_hand() {
    // a dozen products
    const ROUNDING: f64 = 1e-12;
    const RATE: f64 = 2.0;
    let basis = "elements = { count = 1, bending_y = false, bending_z = true }";
    let model = beam(basis, "geometric_stiffness");
    let names: Vec<&str> = model
        .linkage
        .positions
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let scale = MASS_PER_LENGTH * LENGTH * RATE * RATE;
    let by_hand = [
        [3.0 / 7.0, -9.0 / 140.0 * LENGTH],
        [-9.0 / 140.0 * LENGTH, 1.0 / 42.0 * LENGTH * LENGTH],
    ];
    for (coordinate, expected) in by_hand.iter().enumerate() {
        let found = added_by_rotation(&model, coordinate, RATE);
        for (found, expected) in found.iter().zip(expected) {
            let apart = found / scale - expected;
            assert!(apart.abs() < ROUNDING, "{names:?} {found} {expected}");
        }
    }
}

/// A model linearised along its nominal motion at some instants.
fn along_nominal(text: &str, times: &[f64]) -> Linearized {
    let mechanism = tree_mechanism(&parsed(text));
    let (start, mut watch) = (mechanism.start().unwrap(), |_| Flow::Continue);
    let found = mechanism.linearize(&start, OperatingPoint::Nominal, times, &mut watch);
    found.unwrap()
}

/// Closed form: Southwell's coefficient again, where stretch is a coordinate and the strain quadratic. Along the nominal motion nothing is
/// stretched, but the tension is there.
#[test]
fn undeformed_beams_are_as_tight_as_their_nominal_motion_asks() {
    const RATE: f64 = 5.0;
    // cosines of the tension N = (L^2 - x^2)/2 from the ninth on: their sum is below 32/pi^3 / (4 16^2) of N at the root, and the
    // integral of the squared slopes alone is 4.65 times that of the squared function, halved
    const SERIES: f64 = 2.5e-3;
    for elasticity in ["constant_axial_load", "third_order", "full"] {
        let beam = hinged_beam(&format!(
            "length_m = {LENGTH}\nmass_per_length_kg_per_m = {MASS_PER_LENGTH}\n\
             bending_stiffness_y_n_m2 = 20.0\nbending_stiffness_z_n_m2 = 45.0\naxial_stiffness_n = 1e5\n\
             basis.clamped_free = {{ bending_y = 1, bending_z = 1, stretch = 8 }}"
        ));
        let text = format!(
            "{beam}[[motion]]\njoint = \"hub\"\nconstant_rate.rate_rad_per_s = {RATE}\n\
             [fidelity]\nshortening = \"none\"\nelasticity = \"{elasticity}\"\n"
        );
        let found = along_nominal(&text, &[0.0]);
        let labels = &found.trajectory.labels().coordinates;
        let linear = &found.trajectory.points()[0].linear;
        for (name, softened) in [("beam.bending_y_1", -1.0), ("beam.bending_z_1", 0.0)] {
            let at = labels.iter().position(|label| label.name == name).unwrap();
            let of = |matrix: &nalgebra::DMatrix<f64>| matrix[(at, at)] / linear.mass[(at, at)];
            let (tight, turned) = (of(&linear.geometric), of(&linear.dynamic));
            let apart = tight / (RATE * RATE) - southwell_coefficient();
            assert!(apart.abs() < SERIES, "{elasticity} {name}: {apart}");
            let apart = turned / (RATE * RATE) - softened;
            assert!(apart.abs() < 1e-9, "{elasticity} {name}: {apart}");
        }
    }
}

/// Second way: in a loop the closures carry a part of the tension. The frequencies of a driven four-bar come to those of beams that are shortened by
/// their slopes, which have no tension but what inertia and closures do to shortened beams.
#[test]
fn undeformed_beams_in_loops_feel_the_forces_of_the_closures() {
    // cosines that are zero at the tip come to a tension that is not by one over their number
    const HALVED: f64 = 0.6;
    // what twelve of them miss of the frequencies, beside what tension does to these
    const MISSED: f64 = 0.1;
    let four_bar = include_str!("../../../../models/examples/four_bar.toml");
    let four_bar = four_bar.split("[[input]]").next().unwrap();
    let four_bar = four_bar.replace(
        "bending_stiffness_y_n_m2 = 12.0",
        "bending_stiffness_y_n_m2 = 12.0\naxial_stiffness_n = 1e6",
    );
    // the two lowest at some instants
    let frequencies = |stretch: usize, fidelity: &str, terms: Terms| -> Vec<f64> {
        let functions = format!("bending_y = 2, stretch = {stretch} }}");
        let four_bar = four_bar.replace("bending_y = 2 }", &functions);
        assert_eq!(four_bar.matches(&functions).count(), 2);
        let text = format!(
            "{four_bar}[[motion]]\njoint = \"motor\"\nconstant_rate.rate_rad_per_s = 40.0\n[fidelity]\n{fidelity}\n"
        );
        let found = along_nominal(&text, &[0.0, 0.03, 0.06, 0.09]);
        let modes = TrackedModes::new(&Frozen::new(&found.trajectory, &[]), terms, 2).unwrap();
        let at = modes.modes.iter().flatten();
        at.map(|mode| mode.frequency().unwrap()).collect()
    };
    let [complete, without_tension] = [Terms::CASES[0], Terms::CASES[4]];
    let shortened = frequencies(6, "shortening = \"kinematic\"", complete);
    let full = "shortening = \"none\"\nelasticity = \"full\"";
    let apart = |found: &[f64]| -> Vec<f64> {
        let pairs = found.iter().zip(&shortened);
        pairs
            .map(|(found, wanted)| (found - wanted).abs())
            .collect()
    };
    let [six, twelve] = [6, 12].map(|stretch| apart(&frequencies(stretch, full, complete)));
    let loose = apart(&frequencies(6, full, without_tension));
    for (at, (six, twelve)) in six.iter().zip(&twelve).enumerate() {
        assert!(*twelve < HALVED * six, "{at}: {six} {twelve}");
    }
    let most = |of: &[f64]| of.iter().fold(0.0_f64, |most, x| most.max(*x));
    assert!(
        most(&twelve) < MISSED * most(&loose),
        "{twelve:?} {loose:?}"
    );
}
