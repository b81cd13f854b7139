//! Beams of many modes under loads that are much heavier than they are.
//!
//! The reference is a different algorithm in twice the precision: mass matrix by composite bodies, bias by inverse
//! dynamics, solved by elimination. Both read the same plain numbers of the model.

mod closed;
mod random;
mod starts;
mod twofold;

use self::twofold::Twofold;
use std::fmt::Write;

use lissom_engine::model::Model;
use lissom_spatial::Scalar;
use lissom_spec::ModelSpec;
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, StageInertia, inverse_dynamics,
    mass_matrix,
};
use lissom_tree::{Coordinate, CoordinateKind};

use crate::models::{built, parsed};
use crate::numbers::{apart, largest};
use crate::runs::{completed, in_tree, samples};

/// Error of accelerations, relative to the largest of their kind, up to the heaviest load.
const ACCURACY: f64 = 1e-9;
/// Masses of the load in masses of the beam.
const MASS_RATIOS: [f64; 4] = [1.0, 1e2, 1e4, 1e6];

const CLAMPED: &str = "clamped_free = { bending_y = 10, bending_z = 10 }";
const IN_ONE_PLANE: &str = "clamped_free = { bending_y = 20 }";
const EVERY_WAY: &str = "clamped_free = { bending_y = 8, bending_z = 8, stretch = 2, torsion = 2 }";
const FEW_ELEMENTS: &str = "elements = { count = 2 }";
const MODES_OF_ELEMENTS: &str = "elements = { count = 20, modes = 10 }";
const FREE: &str = "free_free = { bending_y = 10, bending_z = 10, torsion = 2 }";

const FIXED: &str = "fixed = {}";
const REVOLUTE: &str = "revolute = { axis = [0.36, 0.48, 0.8], initial_angle_rad = 0.4, initial_rate_rad_per_s = 0.3 }";
const SPHERICAL: &str = "spherical = { initial_rotation_vector_rad = [0.5, 0.2, -0.3] }";
const UNIVERSAL: &str = "universal = { first = { axis = [0.0, 1.0, 0.0], initial_angle_rad = 0.5 }, second = { axis = [0.0, 0.0, 1.0] } }";

/// A boom of 10 m and 1 kg on a shoulder, with a load at each of these places.
fn boom(basis: &str, places: &[f64], joint: &str, mass_ratio: f64) -> String {
    let mut text = format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "boom"
[body.beam]
length_m = 10.0
mass_per_length_kg_per_m = 0.1
bending_stiffness_y_n_m2 = 200.0
bending_stiffness_z_n_m2 = 150.0
axial_stiffness_n = 2.0e5
torsional_stiffness_n_m2 = 100.0
section_inertia_y_kg_m = 1.0e-4
section_inertia_z_kg_m = 1.0e-4
basis = {{ {basis} }}
[[joint]]
name = "shoulder"
parent = "ground"
child = "boom"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_rate_rad_per_s = 0.2
[fidelity]
shortening = "none"
"#
    );
    for (i, place) in places.iter().enumerate() {
        let mass = mass_ratio * (1.0 + 0.3 * i as f64);
        write!(
            text,
            r#"
[[body]]
name = "load_{i}"
[body.rigid]
mass_kg = {mass}
center_of_mass_m = [0.4, 0.2, -0.1]
inertia_kg_m2 = [{}, {}, {}]
[[joint]]
name = "wrist_{i}"
parent = {{ body = "boom", position_m = [{place}, 0.0, 0.0] }}
child = "load_{i}"
{joint}
"#,
            0.09 * mass,
            0.12 * mass,
            0.08 * mass,
        )
        .unwrap();
    }
    text
}

/// The model's start, a little bent and bending.
fn state(model: &Model) -> [Vec<f64>; 2] {
    let elastic = |i: usize, size: f64| size / (1.0 + (i % 7) as f64);
    let linkage = &model.linkage;
    let bent = |coordinates: &[Coordinate], start: &[f64], size: f64| {
        (coordinates.iter().zip(start).enumerate())
            .map(|(i, (c, &x))| match c.kind {
                CoordinateKind::Elastic => elastic(i, size),
                _ => x,
            })
            .collect()
    };
    [
        bent(&linkage.positions, &model.initial_position, 0.02),
        bent(&linkage.velocities, &model.initial_velocity, 0.1),
    ]
}

fn prepared<T: Scalar>(model: &Model) -> Kinematics<T> {
    let [position, velocity] = state(model).map(|x| x.into_iter().map(T::constant).collect());
    let (position, velocity): (Vec<T>, Vec<T>) = (position, velocity);
    let system = &model.linkage.system;
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, &position, &velocity);
    kinematics
}

/// Accelerations by articulated bodies, with the indirect inverse from so many modes on.
fn by_articulated_bodies(model: &Model, indirect_from: usize) -> Vec<f64> {
    let system = &model.linkage.system;
    accelerations(
        model,
        ArticulatedBody::with_indirect_from(system, indirect_from),
    )
}

fn accelerations(model: &Model, articulated: ArticulatedBody<f64>) -> Vec<f64> {
    tried(model, articulated).expect("the inertia is positive definite")
}

/// Accelerations; none where a pivot is not positive.
fn tried(model: &Model, mut articulated: ArticulatedBody<f64>) -> Option<Vec<f64>> {
    let system = &model.linkage.system;
    let kinematics = prepared(model);
    let mut acceleration = vec![0.0; system.velocity_count()];
    let force = acceleration.clone();
    articulated.factor(system, &kinematics);
    if !articulated.is_positive_definite(system) {
        return None;
    }
    articulated.forward_dynamics(system, &kinematics, &force, &mut acceleration);
    Some(acceleration)
}

/// Accelerations by the mass matrix, in twice the precision.
fn by_mass_matrix(model: &Model) -> Vec<f64> {
    by_matrix(model, None)
}

/// The same with what a stage adds to the mass matrix.
fn by_matrix(model: &Model, added: Option<&StageInertia>) -> Vec<f64> {
    let system = &model.linkage.system;
    let kinematics = prepared::<Twofold>(model);
    let n = system.velocity_count();
    let mut matrix = vec![Twofold::zero(); n * n];
    let mut workspace = CompositeBody::new(system);
    mass_matrix(system, &kinematics, &mut workspace, &mut matrix);
    if let Some(added) = added {
        let mut plain = vec![0.0; n * n];
        added.add_to_matrix(system, &mut plain);
        for (entry, added) in matrix.iter_mut().zip(plain) {
            *entry += Twofold::constant(added);
        }
    }
    let mut bias = vec![Twofold::zero(); n];
    let still = bias.clone();
    let mut workspace = InverseDynamics::new(system);
    inverse_dynamics(system, &kinematics, &still, &mut workspace, &mut bias);
    let mut x: Vec<Twofold> = bias.into_iter().map(|b| -b).collect();
    for i in 0..n {
        for j in i + 1..n {
            let share = matrix[j * n + i] / matrix[i * n + i];
            for l in i..n {
                let taken = share * matrix[i * n + l];
                matrix[j * n + l] -= taken;
            }
            let taken = share * x[i];
            x[j] -= taken;
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            let taken = matrix[i * n + j] * x[j];
            x[i] -= taken;
        }
        x[i] = x[i] / matrix[i * n + i];
    }
    x.into_iter().map(Twofold::rounded).collect()
}

/// The larger error of joint and of elastic accelerations.
fn error(model: &Model, found: &[f64], exact: &[f64]) -> f64 {
    let of_kind = |x: &[f64], elastic: bool| -> Vec<f64> {
        (model.linkage.velocities.iter().zip(x))
            .filter(|(c, _)| (c.kind == CoordinateKind::Elastic) == elastic)
            .map(|(_, &x)| x)
            .collect()
    };
    let [joint, elastic] = [false, true].map(|elastic| {
        let (found, exact) = (of_kind(found, elastic), of_kind(exact, elastic));
        apart(&found, &exact) / largest(&exact)
    });
    joint.max(elastic)
}

/// Identity: the indirect inverse solves the equations of motion, whatever hangs on the body, however heavy.
#[test]
fn accelerations_hold_up_to_a_million_times_the_mass_of_the_beam() {
    let places: [&[f64]; 2] = [&[10.0], &[5.0, 10.0]];
    for basis in [
        CLAMPED,
        IN_ONE_PLANE,
        EVERY_WAY,
        FEW_ELEMENTS,
        MODES_OF_ELEMENTS,
        FREE,
    ] {
        for (joint, places) in [FIXED, REVOLUTE, SPHERICAL, UNIVERSAL]
            .into_iter()
            .flat_map(|joint| places.map(|places| (joint, places)))
        {
            for mass_ratio in MASS_RATIOS {
                let model = built(&boom(basis, places, joint, mass_ratio));
                let exact = by_mass_matrix(&model);
                let found = by_articulated_bodies(&model, 1);
                assert_ne!(found, by_articulated_bodies(&model, usize::MAX), "{basis}");
                let error = error(&model, &found, &exact);
                assert!(
                    error < ACCURACY,
                    "{error} with {basis}, {joint} at {places:?}, {mass_ratio}"
                );
            }
        }
    }
}

/// Few modes under heavy loads are as exact, by the elimination that is chosen as by factoring, in frames that float on fewer modes
/// than there are directions in which loads pull too.
#[test]
fn few_modes_hold_under_heavy_loads_too() {
    let [at_tip, at_both]: [&[f64]; 2] = [&[10.0], &[5.0, 10.0]];
    for basis in [
        "clamped_free = { bending_y = 10 }",
        "clamped_free = { bending_y = 4, bending_z = 4 }",
        "free_free = { bending_y = 6, bending_z = 6, torsion = 2 }",
        "free_free = { bending_y = 2, bending_z = 1 }",
        "free_free = { bending_y = 1 }",
    ] {
        for (places, mass_ratio) in [(at_tip, 2e3), (at_tip, 1e6), (at_both, 1e6)] {
            let model = built(&boom(basis, places, REVOLUTE, mass_ratio));
            let exact = by_mass_matrix(&model);
            for articulated in [
                ArticulatedBody::new(&model.linkage.system),
                ArticulatedBody::with_indirect_from(&model.linkage.system, usize::MAX),
            ] {
                let found = tried(&model, articulated);
                let found = found.map_or(f64::INFINITY, |found| error(&model, &found, &exact));
                assert!(
                    found < ACCURACY,
                    "{found} with {basis} at {places:?}, {mass_ratio}"
                );
            }
        }
    }
}

/// Two booms in a chain, each with a load, on a base: how the first boom and the second are held, and what the fidelity is.
fn chain(bases: [&str; 2], joints: [&str; 2], shortening: &str, mass_ratio: f64) -> String {
    let mut text = format!(
        "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 1.0]\n[fidelity]\nshortening = \"{shortening}\"\n"
    );
    let mut parent = "ground".to_owned();
    for (i, (basis, joint)) in bases.into_iter().zip(joints).enumerate() {
        let mass = mass_ratio * (1.0 + 0.3 * i as f64);
        write!(
            text,
            r#"
[[body]]
name = "boom_{i}"
[body.beam]
length_m = 5.0
mass_per_length_kg_per_m = 0.2
bending_stiffness_y_n_m2 = 200.0
bending_stiffness_z_n_m2 = 150.0
axial_stiffness_n = 2.0e5
torsional_stiffness_n_m2 = 100.0
section_inertia_y_kg_m = 1.0e-4
section_inertia_z_kg_m = 1.0e-4
basis = {{ {basis} }}
[[joint]]
name = "joint_{i}"
parent = "{parent}"
child = "boom_{i}"
{joint}
[[payload]]
name = "load_{i}"
body = "boom_{i}"
position_m = [4.0, 0.0, 0.0]
mass_kg = {mass:e}
center_of_mass_m = [0.0, 0.3, 0.1]
inertia_kg_m2 = [{:e}, {:e}, {:e}]
"#,
            0.09 * mass,
            0.12 * mass,
            0.08 * mass,
        )
        .unwrap();
        parent = format!("boom_{i}");
    }
    text
}

/// Identity: chains of light booms with a heavy load on each, on hinges, slides, ball joints and a floating base, in every kind of
/// functions, with and without shortening, by the elimination that is chosen.
#[test]
fn chains_hold_under_heavy_loads_too() {
    // one boom hands what rounding leaves of it on to the other, whatever they carry
    const OF_TWO: f64 = 10.0 * ACCURACY;
    const SLIDE: &str = "prismatic = { axis = [0.8, 0.0, 0.6], initial_displacement_m = 0.3 }";
    const FLOATING: &str = "free = { initial_angular_velocity_rad_per_s = [0.1, 0.2, -0.1] }";
    let bases = [
        CLAMPED,
        FREE,
        "clamped_free = { bending_y = 3, bending_z = 2, torsion = 1 }",
        "fixed_interface = { bending_y = 4, bending_z = 4, torsion = 2 }",
        "pinned_pinned = { bending_y = 4, bending_z = 3 }",
        "elements = { count = 3 }",
    ];
    let mut found = Vec::new();
    for (i, first) in bases.into_iter().enumerate() {
        let both = [first, bases[(i + 1) % bases.len()]];
        for joints in [
            [REVOLUTE, REVOLUTE],
            [SPHERICAL, SLIDE],
            [FLOATING, UNIVERSAL],
            [REVOLUTE, FIXED],
        ] {
            for shortening in ["none", "kinematic"] {
                for mass_ratio in [1e2, 1e4, 1e6] {
                    let model = built(&chain(both, joints, shortening, mass_ratio));
                    let exact = by_mass_matrix(&model);
                    let articulated = ArticulatedBody::new(&model.linkage.system);
                    let error = tried(&model, articulated)
                        .map_or(f64::INFINITY, |found| error(&model, &found, &exact));
                    if error.is_nan() || error >= OF_TWO {
                        found.push(format!(
                            "{error:.1e}: {both:?}, {joints:?}, {shortening}, {mass_ratio:e}"
                        ));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Identity: the sweep of an implicit stage is as exact, with the stiffness of the beam over a long and a short share of a step.
#[test]
fn stages_hold_under_heavy_loads_too() {
    for basis in [
        "clamped_free = { bending_y = 10 }",
        "clamped_free = { bending_y = 4, bending_z = 4 }",
        "free_free = { bending_y = 2, bending_z = 1 }",
    ] {
        for (mass_ratio, share) in [(2e3, 1e-2), (1e6, 1e-2), (1e6, 1e-4)] {
            let model = built(&boom(basis, &[10.0], REVOLUTE, mass_ratio));
            let system = &model.linkage.system;
            let kinematics = prepared(&model);
            let mut acceleration = vec![0.0; system.velocity_count()];
            let mut force = acceleration.clone();
            let mut inverse = InverseDynamics::new(system);
            inverse_dynamics(system, &kinematics, &acceleration, &mut inverse, &mut force);
            let mut added = StageInertia::new(system);
            let [position, _] = state(&model);
            added.update(system, &kinematics, &inverse, &position, share);
            let exact = by_matrix(&model, Some(&added));
            force.fill(0.0);
            let mut articulated = ArticulatedBody::with_indirect_from(system, usize::MAX);
            articulated.factor_stage(system, &kinematics, &added);
            let found = &mut acceleration;
            articulated.forward_dynamics_stage(system, &kinematics, &added, &force, found);
            let error = error(&model, found, &exact);
            assert!(
                error < ACCURACY,
                "{error} with {basis}, {mass_ratio}, {share}"
            );
        }
    }
}

/// Runs end, and end where runs with fewer modes do.
#[test]
fn booms_of_twenty_modes_run_under_heavy_payloads() {
    // the last modes in each plane move the shoulder by less
    const CONVERGENCE: f64 = 2e-3;
    let shoulder = |basis: &str, mass_ratio: f64| {
        let text = boom(basis, &[10.0], FIXED, mass_ratio)
            + r#"
[[input]]
joint = "shoulder"
torque_step = { value_n_m = 20.0 }
[simulation]
duration_s = 0.2
integrator.dop853 = { rtol = 1.0e-8, atol = 1.0e-10 }
[output]
sample_period_s = 0.02
"#;
        let spec: ModelSpec = parsed(&text);
        samples(&completed(in_tree(&spec)).recording, "shoulder.angle").to_vec()
    };
    for (many, fewer) in [
        (CLAMPED, "clamped_free = { bending_y = 9, bending_z = 9 }"),
        (IN_ONE_PLANE, "clamped_free = { bending_y = 19 }"),
    ] {
        for mass_ratio in [1e4, 1e5] {
            let (found, expected) = (shoulder(many, mass_ratio), shoulder(fewer, mass_ratio));
            let error = apart(&found, &expected) / largest(&expected);
            assert!(error < CONVERGENCE, "{many} {mass_ratio}: {error}");
        }
    }
}
