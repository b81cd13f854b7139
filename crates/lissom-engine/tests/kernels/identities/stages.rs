//! What implicit stages add to the mass matrix: the sweep against matrices, and the stiffness in it against derivatives by dual
//! numbers.

use lissom_engine::testing::Random;
use lissom_spec::ModelSpec;
use lissom_tree::System;
use lissom_tree::tree::{
    ArticulatedBody, InverseDynamics, Kinematics, StageInertia, inverse_dynamics,
};
use nalgebra::{DMatrix, DVector};

use super::tools::*;

/// What is added at a state and with accelerations.
fn added(
    system: &System,
    kinematics: &Kinematics<f64>,
    [position, acceleration]: [&[f64]; 2],
    share: f64,
) -> StageInertia {
    let mut inverse = InverseDynamics::new(system);
    let mut force = vec![0.0; acceleration.len()];
    inverse_dynamics(system, kinematics, acceleration, &mut inverse, &mut force);
    let mut added = StageInertia::new(system);
    added.update(system, kinematics, &inverse, position, share);
    added
}

fn matrix_of(system: &System, added: &StageInertia) -> DMatrix<f64> {
    let size = system.velocity_count();
    let mut matrix = vec![0.0; size * size];
    added.add_to_matrix(system, &mut matrix);
    DMatrix::from_row_slice(size, size, &matrix)
}

/// Second formulation: the articulated-body sweep of a stage solves the equations with the mass matrix and what is added to it, and
/// the force that is added is that matrix times the accelerations.
#[test]
fn the_sweep_of_a_stage_solves_with_the_matrix_of_the_stage() {
    const ROUNDING: f64 = 1e-8;
    let mut random = Random::new(61);
    for case in trees() {
        let (system, kinematics) = (case.system(), case.kinematics());
        let state = &case.state;
        let mut added = added(
            system,
            &kinematics,
            [&state.position, &state.acceleration],
            0.01,
        );
        for (k, body) in system.bodies().iter().enumerate() {
            for direction in 0..body.joint.kind.velocities() {
                added.add_to_joint(system, k, direction, random.uniform(0.0, 2.0));
            }
        }
        let size = system.velocity_count();
        let x = matrix_of(system, &added);
        assert!(x.iter().any(|x| *x != 0.0), "{}", case.name);
        let mut force = random.list(size, 1.0);
        let mut articulated = ArticulatedBody::with_indirect_from(system, usize::MAX);
        let mut solved = vec![0.0; size];
        articulated.factor_stage(system, &kinematics, &added);
        articulated.solve(system, &kinematics, &force, &mut solved);
        let whole = DMatrix::from_row_slice(size, size, &mass(system, &kinematics)) + &x;
        let factor = whole.cholesky().expect("what is added is not negative");
        let expected = factor.solve(&DVector::from_row_slice(&force));
        assert_close(&solved, expected.as_slice(), ROUNDING, &case.name);

        let moved = &x * DVector::from_row_slice(&state.acceleration);
        let expected: Vec<f64> = force.iter().zip(&moved).map(|(f, x)| f + x).collect();
        added.add_force(system, &state.acceleration, &mut force);
        assert_close(&force, &expected, ROUNDING, &case.name);
    }
}

/// Exact derivatives: elastic and geometric stiffness of a bent beam that carries a heavy load are the derivatives of all its
/// forces at rest. The load's mass is at the node, so that it makes no stiffness of its own.
#[test]
fn the_stiffness_of_a_loaded_beam_is_the_derivative_of_its_forces() {
    const ROUNDING: f64 = 1e-9;
    let text = |elasticity: &str, shortening: &str| {
        format!(
            "format = 1\ngravity_m_per_s2 = [30.0, -9.0, 4.0]\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.3\n\
             mass_per_length_kg_per_m = 0.7\nbending_stiffness_y_n_m2 = 200.0\nbending_stiffness_z_n_m2 = 300.0\n\
             torsional_stiffness_n_m2 = 90.0\nsection_inertia_y_kg_m = 1e-4\nsection_inertia_z_kg_m = 1e-4\naxial_stiffness_n = 5e4\n\
             basis.clamped_free = {{ bending_y = 2, bending_z = 2, stretch = 1, torsion = 1 }}\n\
             [[body]]\nname = \"load\"\nrigid = {{ mass_kg = 20.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}\n\
             [[joint]]\nname = \"wall\"\nparent = \"ground\"\nchild = \"beam\"\nfixed = {{}}\n\
             [[joint]]\nname = \"grip\"\nparent = \"beam\"\nchild = \"load\"\nfixed = {{}}\n\
             [fidelity]\nelasticity = \"{elasticity}\"\nshortening = \"{shortening}\"\ntip = \"rotation_vector\"\n"
        )
    };
    let mut random = Random::new(62);
    for (elasticity, shortening) in [
        ("linear", "kinematic"),
        ("third_order", "none"),
        ("full", "none"),
    ] {
        let model = build(&ModelSpec::parse(&text(elasticity, shortening), &[]).unwrap());
        let system = &model.linkage.system;
        let size = system.velocity_count();
        let position = random.list(size, 0.01);
        let still = vec![0.0; size];
        let kinematics = prepared(system, &position, &still);
        let found = matrix_of(
            system,
            &added(system, &kinematics, [&position, &still], 1.0),
        );
        let undeformed = vec![0.0; size];
        let straight = prepared(system, &undeformed, &still);
        let constant = matrix_of(
            system,
            &added(system, &straight, [&undeformed, &still], 1.0),
        );
        for column in 0..size {
            let mut direction = vec![0.0; size];
            direction[column] = 1.0;
            let moved = moving(&position, &direction);
            let still: Vec<Rate> = lift(&still);
            let force = forces(system, &prepared(system, &moved, &still), &still);
            let expected: Vec<f64> = force.iter().map(|force| force.tangent[0]).collect();
            let found: Vec<f64> = found.column(column).iter().copied().collect();
            assert_close(
                &found,
                &expected,
                ROUNDING,
                &format!("{elasticity} {shortening}"),
            );
        }
        let nonlinear = (&found - &constant).abs().max();
        assert!(
            elasticity == "linear" || nonlinear > 1e-3,
            "bending changes the stiffness: {nonlinear}"
        );
    }
}

/// By construction: under a compression far beyond that of buckling nothing negative is added.
#[test]
fn a_buckled_beam_adds_nothing_negative() {
    let text = "format = 1\ngravity_m_per_s2 = [-9.81, 0, 0]\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.0\n\
                mass_per_length_kg_per_m = 0.5\nbending_stiffness_y_n_m2 = 10.0\nbasis.clamped_free = { bending_y = 2 }\n\
                [[body]]\nname = \"load\"\nrigid = { mass_kg = 50.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }\n\
                [[joint]]\nname = \"wall\"\nparent = \"ground\"\nchild = \"beam\"\nfixed = {}\n\
                [[joint]]\nname = \"grip\"\nparent = \"beam\"\nchild = \"load\"\nfixed = {}\n";
    let model = build(&ModelSpec::parse(text, &[]).unwrap());
    let system = &model.linkage.system;
    let still = vec![0.0; system.velocity_count()];
    let kinematics = prepared(system, &still, &still);
    let found = matrix_of(system, &added(system, &kinematics, [&still, &still], 1.0));
    let constant = &system.bodies()[0].flexible.as_ref().unwrap().stiffness;
    assert_eq!(found.as_slice(), constant.as_slice());
}
