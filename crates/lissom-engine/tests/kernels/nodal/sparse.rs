//! The equations in nodal coordinates: against the reduced mass matrix, and tangents against differences.

use allocation_counter::measure;
use lissom_engine::testing::Random;
use lissom_nodal::{Dynamics, Equations, Mechanism, Role, Unforced};
use nalgebra::{DMatrix, DVector};

use super::models::{everything, four_bar, jonker_beam, weightless_everything};

fn mechanisms() -> Vec<Mechanism> {
    vec![
        everything(0.02),
        weightless_everything(0.02),
        four_bar([0.8, 1.9, 1.5], 1.0, true).mechanism,
        four_bar([0.8, 1.9, 1.5], 1.0, false).mechanism,
        jonker_beam(4, true, Role::Dof).mechanism,
        jonker_beam(64, true, Role::Dof).mechanism,
    ]
}

/// Positions near the assembled ones; quaternions stay those of the assembly.
fn position_near_assembly(mechanism: &Mechanism, random: &mut Random, far: f64) -> Vec<f64> {
    let mut position = mechanism.assembled_position();
    for dof in 0..mechanism.dof_count() {
        let at = mechanism.dof_positions(dof);
        if at.len() == 1 {
            position[at.start] += random.signed(far);
        }
    }
    position
}

/// Second way: accelerations from nodal coordinates balance the reduced equations of motion.
#[test]
fn accelerations_balance_the_reduced_equations() {
    // some hundred operations per entry; accelerations of ill-conditioned mass matrices differ by more
    const ROUNDING: f64 = 1e-11;
    for mechanism in mechanisms() {
        let mut random = Random::new(3);
        let dofs = mechanism.dof_count();
        let equations = Equations::new(&mechanism).unwrap();
        let mut dynamics = Dynamics::new(equations, Unforced::new(&mechanism));
        let far = 0.5 / (1.0 + dofs as f64);
        for _ in 0..4 {
            let position = position_near_assembly(&mechanism, &mut random, far);
            let velocity = random.list(dofs, 1.0);
            let still = vec![0.0; dofs];
            let mut lacking = vec![0.0; dofs];
            let mut mass = vec![0.0; dofs * dofs];
            dynamics
                .motion_residual(0.0, &position, &velocity, &still, &mut lacking)
                .unwrap();
            let right = DVector::from_column_slice(&lacking);
            // with weights of zero the tangent is the mass matrix
            let motion = [&position[..], &velocity, &still];
            assert!(dynamics.form_tangent(0.0, motion, [0.0; 2]), "{dofs}");
            dynamics.solve_tangent(&mut lacking);
            let mut evaluated = still.clone();
            dynamics
                .accelerate(0.0, &position, &velocity, &mut evaluated)
                .unwrap();
            dynamics.equations_mut().mass_matrix(&mut mass);
            let mass = DMatrix::from_row_slice(dofs, dofs, &mass);
            let evaluated = -DVector::from_column_slice(&evaluated);
            for found in [DVector::from_column_slice(&lacking), evaluated] {
                let balanced = (&mass * &found - &right).amax();
                let parts = (mass.abs() * found.abs() + right.abs()).amax();
                assert!(balanced < ROUNDING * parts, "{dofs}: {balanced} of {parts}");
            }
        }
    }
}

/// Second way: at rest and without weight, where nothing is left out, tangents are differences of the residual.
#[test]
fn tangents_at_rest_are_derivatives() {
    const STEP: f64 = 1e-6;
    // second differences of residuals of order 1e3, over a step of 1e-6, beside tangents of the same order
    const TOLERANCE: f64 = 1e-5;
    let mut random = Random::new(11);
    for mechanism in [
        weightless_everything(0.02),
        jonker_beam(4, true, Role::Dof).mechanism,
    ] {
        let dofs = mechanism.dof_count();
        let equations = Equations::new(&mechanism).unwrap();
        let mut dynamics = Dynamics::new(equations, Unforced::new(&mechanism));
        let position = position_near_assembly(&mechanism, &mut random, 0.05);
        let still = vec![0.0; dofs];
        for weights in [[0.3, 0.1], [1e-4, 1e-2], [0.0, 1.0]] {
            let motion = [&position[..], &still, &still];
            assert!(dynamics.form_tangent(0.0, motion, weights), "{dofs}");
            for column in 0..dofs {
                let mut change = [vec![0.0; dofs], vec![0.0; dofs]];
                for (change, sign) in change.iter_mut().zip([-1.0, 1.0]) {
                    let along = |weight: f64| {
                        let mut all = vec![0.0; dofs];
                        all[column] = sign * weight * STEP;
                        all
                    };
                    let mut displaced = position.clone();
                    let equations = dynamics.equations();
                    equations.displace(&position, &along(weights[0]), &mut displaced);
                    let (velocity, acceleration) = (along(weights[1]), along(1.0));
                    dynamics
                        .motion_residual(0.0, &displaced, &velocity, &acceleration, change)
                        .unwrap();
                }
                let mut derivative: Vec<f64> = (change[1].iter().zip(&change[0]))
                    .map(|(ahead, behind)| (ahead - behind) / (2.0 * STEP))
                    .collect();
                dynamics.solve_tangent(&mut derivative);
                for (dof, &found) in derivative.iter().enumerate() {
                    let wanted = if dof == column { 1.0 } else { 0.0 };
                    assert!((found - wanted).abs() < TOLERANCE, "{dof} {column} {found}");
                }
            }
        }
    }
}

/// Promise: corrections of implicit steps allocate nothing, once the first has been made.
#[test]
fn corrections_allocate_nothing() {
    let mechanism = everything(0.02);
    let dofs = mechanism.dof_count();
    let equations = Equations::new(&mechanism).unwrap();
    let mut dynamics = Dynamics::new(equations, Unforced::new(&mechanism));
    let position = mechanism.assembled_position();
    let (still, mut lacking) = (vec![0.0; dofs], vec![1.0; dofs]);
    let mut correct = || {
        let motion = [&position[..], &still, &still];
        assert!(dynamics.form_tangent(0.0, motion, [1e-6, 1e-3]));
        dynamics.solve_tangent(&mut lacking);
    };
    correct();
    assert_eq!(measure(correct).count_total, 0);
}
