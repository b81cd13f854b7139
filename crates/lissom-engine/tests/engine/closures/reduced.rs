//! The equations of motion in independent speeds, as single-state evaluations give them.

use lissom_engine::model::Model;
use lissom_engine::simulate::{ClosedEvaluation, StateInput, evaluate};
use lissom_engine::testing::Random;
use lissom_tree::ClosureMethod;
use lissom_tree::tree::displace;

use super::mechanisms::{Mechanism, four_bar, four_bar_of, planar_3rrr, spatial_3rrs};
use super::methods::consistent_state;
use crate::models::marker_at;

/// Condition numbers of mass matrices and Jacobians here stay below 1e5, rounding is 1e-16 of the largest.
const AGREEMENT: f64 = 1e-9;

fn product(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks_exact(x.len());
    rows.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A state off the start with random forces, and what is said of it.
fn closed(mechanism: &Mechanism, method: ClosureMethod) -> (Model, StateInput, ClosedEvaluation) {
    let model = mechanism.with(method);
    let (position, velocity) = consistent_state(mechanism, 7);
    let mut random = Random::new(8);
    let force = velocity.iter().map(|_| random.signed(1.0)).collect();
    let input = StateInput {
        position,
        velocity,
        force,
        acceleration: None,
    };
    let evaluation = evaluate(&model, &input);
    let closed = evaluation.closed.unwrap().unwrap();
    // property: of all speeds these are independent, and they carry the whole kinetic energy
    let speeds: Vec<f64> = independent(&model, &input.position, &input.velocity, &closed);
    let whole = dot(
        &input.velocity,
        &product(&evaluation.mass_matrix, &input.velocity),
    );
    let reduced = dot(&speeds, &product(&closed.mass_matrix, &speeds));
    assert!(
        (whole - reduced).abs() < AGREEMENT * whole,
        "{whole} {reduced}"
    );
    let velocity = product(&closed.complement, &speeds);
    for (found, given) in velocity.iter().zip(&input.velocity) {
        assert!((found - given).abs() < AGREEMENT, "{found} {given}");
    }
    (model, input, closed)
}

/// The independent speeds of a state, by their names.
fn independent(
    model: &Model,
    position: &[f64],
    velocity: &[f64],
    closed: &ClosedEvaluation,
) -> Vec<f64> {
    let of = |name: &String| {
        if let Some(at) = model
            .linkage
            .velocities
            .iter()
            .position(|c| c.name == *name)
        {
            return velocity[at];
        }
        let (marker, what) = name.split_once('.').unwrap();
        let marker = model
            .linkage
            .markers
            .iter()
            .find(|m| m.name == marker)
            .unwrap();
        let motion = marker_at(model, marker, position, velocity);
        let (what, axis) = what.split_once('.').unwrap();
        let twist = match what {
            "velocity" => motion.twist.linear,
            _ => motion.twist.angular,
        };
        twist["xyz".find(axis).unwrap()]
    };
    closed
        .independent
        .iter()
        .map(|(name, _)| of(name))
        .collect()
}

fn moving_loops() -> Vec<Mechanism> {
    vec![
        four_bar(false, 0.7, ""),
        four_bar(true, 0.7, ""),
        planar_3rrr(true),
        spatial_3rrs(true),
    ]
}

/// Identity: the equations hold for the derivatives of the independent speeds, by differences along the motion, whether
/// they are speeds of joints or of a marker.
#[test]
fn reduced_equations_hold_for_the_accelerations() {
    // short beside the fastest mode; differences leave its fourth power, and rounding over it: 1e-11
    const SPAN: f64 = 1e-5;
    const DIFFERENCES: f64 = 1e-6;
    for mechanism in moving_loops() {
        for method in &mechanism.methods()[..4] {
            let (model, input, closed) = closed(&mechanism, method.clone());
            let at = |span: f64| {
                let mut position = input.position.clone();
                let step: Vec<f64> = (input.velocity.iter().zip(&closed.acceleration))
                    .map(|(v, a)| span * (v + 0.5 * span * a))
                    .collect();
                displace(&model.linkage.system, &mut position, &step);
                let velocity: Vec<f64> = (input.velocity.iter().zip(&closed.acceleration))
                    .map(|(v, a)| v + span * a)
                    .collect();
                independent(&model, &position, &velocity, &closed)
            };
            let difference = |span: f64| -> Vec<f64> {
                (at(span).iter().zip(at(-span)))
                    .map(|(after, before)| (after - before) / (2.0 * span))
                    .collect()
            };
            // what is of second order in the span is taken off
            let rates: Vec<f64> = (difference(SPAN).iter().zip(difference(2.0 * SPAN)))
                .map(|(near, far)| (4.0 * near - far) / 3.0)
                .collect();
            let inertia = product(&closed.mass_matrix, &rates);
            let scale = inertia.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            for ((inertia, bias), force) in inertia.iter().zip(&closed.bias).zip(&closed.force) {
                let off = (inertia + bias - force).abs();
                assert!(
                    off < DIFFERENCES * scale,
                    "{} {method:?}: {off:e}",
                    mechanism.name
                );
            }
        }
    }
}

/// Closed form: a parallelogram's cranks turn about their pivots and its coupler goes round without turning; gravity
/// turns the cranks at their middles and the coupler at their ends.
#[test]
fn a_parallelogram_is_one_inertia() {
    const ROUNDING: f64 = 1e-13;
    let (length, angle) = (0.3, 0.7);
    let mechanism = four_bar_of([length, 0.7, length, 0.7], false, angle, "");
    let (_, input, closed) = closed(&mechanism, mechanism.methods().swap_remove(0));
    // cranks of 0.4 kg, a coupler of 0.5 kg
    let inertia = (2.0 * 0.4 / 3.0 + 0.5) * length * length;
    assert_eq!(
        closed.independent,
        [("crank.angle.rate".to_owned(), "rad/s")]
    );
    assert!((closed.mass_matrix[0] - inertia).abs() < ROUNDING);
    let weight = 9.81 * (0.4 + 0.5) * length * angle.cos();
    assert!((closed.bias[0] - weight).abs() < ROUNDING * 10.0);
    // coupler and rocker count as they turn: against the crank, and with it
    let force = input.force[0] - input.force[1] + input.force[2];
    assert!((closed.force[0] - force).abs() < ROUNDING * 10.0);
    let turning = (force - weight) / inertia;
    for (found, sign) in closed.acceleration.iter().zip([1.0, -1.0, 1.0]) {
        assert!((found - sign * turning).abs() < AGREEMENT * turning.abs());
    }
}

/// Property: what the method of the file cannot say, as with multipliers or a prescribed crank, is said in the automatic choice,
/// or with the prescribed joints among the independent ones.
#[test]
fn every_method_has_independent_speeds() {
    let mechanism = four_bar(true, 0.7, "");
    for method in mechanism.methods() {
        let (_, _, closed) = closed(&mechanism, method);
        assert_eq!(closed.independent.len(), 5);
        assert_eq!(closed.closure_forces.len(), 1);
    }
    let drive = "[[motion]]\njoint = \"crank\"\nconstant_rate.rate_rad_per_s = 3.0\n";
    let driven = four_bar(false, 0.7, drive);
    let model = driven.with(ClosureMethod::JointSpace {
        independent: Vec::new(),
    });
    let input = StateInput {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        force: vec![0.0; 3],
        acceleration: None,
    };
    let closed = evaluate(&model, &input).closed.unwrap().unwrap();
    assert_eq!(closed.independent[0].0, "crank.angle.rate");
}
