//! The stiffness that a link's own rotation gives it \[Fattah 1995, eq. (5.18)\].

use lissom_engine::model::Model;
use lissom_engine::simulate::{Evaluation, StateInput, evaluate};

use crate::models::{built, hinged_beam};

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
