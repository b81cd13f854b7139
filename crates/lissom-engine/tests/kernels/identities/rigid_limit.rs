//! Stiff bodies move like rigid ones.

use lissom_engine::model::Model;
use lissom_engine::testing::{Random, RandomBody, RandomJoint, Variety, random_state};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{BasisSpec, BeamSpec, BodySpec, RigidSpec};
use lissom_tree::System;
use nalgebra::{DMatrix, DVector};

use super::tools::*;

/// Slope of the error against the stiffness in logarithms: first order in the flexibility.
const SLOPE: f64 = 0.1;
/// Same mass properties by two ways of summing them.
const SAME_MASS: f64 = 1e-10;

/// A chain of beams of one segment, every stiffness times `factor`.
fn arm(factor: f64) -> ModelSpec {
    let chain = Variety {
        body_kinds: &[RandomBody::ClampedFree, RandomBody::FreeFree],
        joint_kinds: &[RandomJoint::Revolute, RandomJoint::Spherical],
        branching: false,
        ..Variety::everything(3)
    };
    let mut spec = chain.mechanism(51);
    for beam in spec.body.iter_mut().filter_map(|body| body.beam.as_mut()) {
        for segment in &mut beam.segments {
            for stiffness in [
                &mut segment.bending_stiffness_y_n_m2,
                &mut segment.bending_stiffness_z_n_m2,
                &mut segment.axial_stiffness_n,
                &mut segment.torsional_stiffness_n_m2,
            ] {
                *stiffness = stiffness.map(|x| x * factor);
            }
        }
    }
    spec
}

/// Entries of the joints in the vectors of positions and velocities.
fn joint_entries(system: &System) -> (Vec<usize>, Vec<usize>) {
    let layout = system.layout();
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    for (k, body) in system.bodies().iter().enumerate() {
        let kind = &body.joint.kind;
        positions.extend(layout.joint_position[k]..layout.joint_position[k] + kind.positions());
        velocities.extend(layout.joint_velocity[k]..layout.joint_velocity[k] + kind.velocities());
    }
    (positions, velocities)
}

/// Joint accelerations under joint forces with the elastic coordinates in quasi-static balance: elastic
/// rates and accelerations are zero, and the elastic coordinates solve their rows.
fn quasi_static(
    model: &Model,
    position: &[f64],
    velocity: &[f64],
    joint_force: &[f64],
) -> Vec<f64> {
    let system = &model.linkage.system;
    let size = system.velocity_count();
    let (_, joints) = joint_entries(system);
    let layout = system.layout();
    let mut position = position.to_vec();
    let mut acceleration = vec![0.0; size];
    // contracts by about the flexibility each time
    for _ in 0..60 {
        let kinematics = prepared(system, &position, velocity);
        let matrix = mass(system, &kinematics);
        let bias = forces(system, &kinematics, &vec![0.0; size]);
        let count = joints.len();
        let block = DMatrix::from_fn(count, count, |i, j| matrix[joints[i] * size + joints[j]]);
        let right = DVector::from_fn(count, |i, _| joint_force[i] - bias[joints[i]]);
        let solution = block.cholesky().unwrap().solve(&right);
        for (&at, &x) in joints.iter().zip(&solution) {
            acceleration[at] = x;
        }
        let needed = forces(system, &kinematics, &acceleration);
        for (k, body) in system.bodies().iter().enumerate() {
            let Some(flexible) = &body.flexible else {
                continue;
            };
            let n = flexible.len();
            let stiffness = DMatrix::from_row_slice(n, n, &flexible.stiffness);
            let row = layout.elastic_velocity[k];
            let step = stiffness
                .cholesky()
                .unwrap()
                .solve(&DVector::from_column_slice(&needed[row..row + n]));
            for (alpha, step) in step.iter().enumerate() {
                position[layout.elastic_position[k] + alpha] -= step;
            }
        }
    }
    // balanced
    let needed = forces(
        system,
        &prepared(system, &position, velocity),
        &acceleration,
    );
    let elastic = (0..size).filter(|i| !joints.contains(i)).map(|i| needed[i]);
    assert_small(
        &elastic.collect::<Vec<_>>(),
        1e-9,
        "elastic rows are balanced",
    );
    joints.iter().map(|&at| acceleration[at]).collect()
}

#[test]
fn joint_accelerations_tend_to_the_rigid_ones_with_the_stiffness() {
    let reference = build(&arm(1.0));
    let state = random_state(&reference.linkage.system, &mut Random::new(52));
    let (positions, velocities) = joint_entries(&reference.linkage.system);
    let mut random = Random::new(53);
    let joint_force = random.list(velocities.len(), 10.0);

    let rigid = reference.linkage.system.rigidified();
    let pick = |x: &[f64], entries: &[usize]| entries.iter().map(|&i| x[i]).collect::<Vec<_>>();
    let kinematics = prepared(
        &rigid,
        &pick(&state.position, &positions),
        &pick(&state.velocity, &velocities),
    );
    let expected = accelerations(&rigid, &kinematics, &joint_force);

    let errors: Vec<f64> = [1e3, 1e4, 1e5, 1e6]
        .into_iter()
        .map(|factor| {
            let model = build(&arm(factor));
            let mut position = vec![0.0; model.linkage.system.position_count()];
            let mut velocity = vec![0.0; model.linkage.system.velocity_count()];
            for &i in &positions {
                position[i] = state.position[i];
            }
            for &i in &velocities {
                velocity[i] = state.velocity[i];
            }
            difference(
                &quasi_static(&model, &position, &velocity, &joint_force),
                &expected,
            )
        })
        .collect();
    assert!(errors[0] > 1e-6, "far above rounding: {errors:?}");
    for pair in errors.windows(2) {
        let slope = (pair[0] / pair[1]).log10();
        assert!(
            (slope - 1.0).abs() < SLOPE,
            "slope {slope}, errors {errors:?}"
        );
    }
}

/// The rigid body with the mass properties of a uniform beam.
fn rigid_like(beam: &BeamSpec) -> RigidSpec {
    let segment = &beam.segments[0];
    let length = segment.length_m;
    let mass = segment.mass_per_length_kg_per_m * length;
    let (y, z) = (
        segment.section_inertia_y_kg_m * length,
        segment.section_inertia_z_kg_m * length,
    );
    let slender = mass * length * length / 12.0;
    RigidSpec {
        mass_kg: mass,
        center_of_mass_m: [0.5 * length, 0.0, 0.0],
        inertia_kg_m2: [y + z, slender + z, slender + y],
        products_of_inertia_kg_m2: [0.0; 3],
    }
}

#[test]
fn rigidified_systems_are_those_of_rigid_bodies() {
    let mut flexible = arm(1.0);
    for body in &mut flexible.body {
        body.beam.as_mut().unwrap().segments.truncate(1);
        body.point_mass.clear();
        let length = body.beam.as_ref().unwrap().total_length_m();
        body.node[0].position_m = [0.6 * length, 0.0, 0.0];
    }
    // places are said in full, for a rigid body has no tip
    let tip = flexible.body[0].beam.as_ref().unwrap().total_length_m();
    for joint in &mut flexible.joint {
        if !joint.parent.is_ground() {
            joint.parent.at = None;
            joint.parent.position_m = Some([tip, 0.0, 0.0]);
        }
        joint.child.at = None;
        joint.child.position_m = Some([0.2 * tip, 0.0, 0.0]);
    }
    flexible.payload.clear();
    flexible.marker.clear();
    let mut rigid = flexible.clone();
    for body in &mut rigid.body {
        let beam = body.beam.take().unwrap();
        assert!(matches!(
            beam.basis,
            BasisSpec::ClampedFree(_) | BasisSpec::FreeFree(_)
        ));
        *body = BodySpec {
            rigid: Some(rigid_like(&beam)),
            damping: None,
            ..body.clone()
        };
    }
    let (by_system, by_spec) = (
        build(&flexible).linkage.system.rigidified(),
        build(&rigid).linkage.system,
    );
    let mut random = Random::new(54);
    let state = random_state(&by_spec, &mut random);
    let force = random.list(by_spec.velocity_count(), 10.0);
    let [found, expected] = [&by_system, &by_spec].map(|system| {
        let kinematics = prepared(system, &state.position, &state.velocity);
        accelerations(system, &kinematics, &force)
    });
    assert_close(&found, &expected, SAME_MASS, "rigidified beams");
}
