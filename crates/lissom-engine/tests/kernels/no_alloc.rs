//! Functions that run once per step allocate nothing.

use allocation_counter::measure;
use lissom_engine::model::Model;
use lissom_engine::simulate::{Equations, close_loops};
use lissom_engine::testing::{Random, RandomState, Variety, random_state};
use lissom_numerics::integrate::FirstOrder;
use lissom_spatial::{Force, Lanes, Motion, Scalar, Vector};
use lissom_spec::ModelSpec;
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, apply_wrench, energy,
    inverse_dynamics, marker_jacobian, marker_motion, mass_matrix, momentum,
};

use crate::identities::Rate;

#[track_caller]
fn assert_no_allocation(what: &str, run: impl FnOnce()) {
    let count = measure(run).count_total;
    assert_eq!(count, 0, "{what} allocates");
}

fn recursions<T: Scalar>(model: &Model, state: &RandomState) {
    let system = &model.linkage.system;
    let size = system.velocity_count();
    let lift = |x: &[f64]| x.iter().map(|&x| T::constant(x)).collect::<Vec<T>>();
    let (position, velocity) = (lift(&state.position), lift(&state.velocity));
    let mut acceleration = lift(&state.acceleration);
    let mut kinematics = Kinematics::<T>::new(system);
    let mut inverse = InverseDynamics::new(system);
    let mut composite = CompositeBody::new(system);
    let mut force = vec![T::zero(); size];
    let mut matrix = vec![T::zero(); size * size];
    let mut jacobian = vec![T::zero(); 6 * size];

    assert_no_allocation("Kinematics::update", || {
        kinematics.update(system, &position, &velocity);
    });
    assert_no_allocation("Kinematics::update_poses", || {
        kinematics.update_poses(system);
    });
    assert_no_allocation("inverse_dynamics", || {
        inverse_dynamics(system, &kinematics, &acceleration, &mut inverse, &mut force);
    });
    assert_no_allocation("mass_matrix", || {
        mass_matrix(system, &kinematics, &mut composite, &mut matrix);
    });
    // by factoring, and by the indirect inverse wherever it can be
    for indirect_from in [usize::MAX, 1] {
        let mut articulated = ArticulatedBody::with_indirect_from(system, indirect_from);
        assert_no_allocation("ArticulatedBody::factor", || {
            articulated.factor(system, &kinematics);
        });
        assert_no_allocation("ArticulatedBody::forward_dynamics", || {
            articulated.forward_dynamics(system, &kinematics, &force, &mut acceleration);
        });
        assert_no_allocation("ArticulatedBody::solve", || {
            articulated.solve(system, &kinematics, &force, &mut acceleration);
        });
    }
    assert_no_allocation("energy", || {
        energy(system, &kinematics, &position, &velocity);
    });
    assert_no_allocation("momentum", || {
        momentum(system, &kinematics, &velocity);
    });
    for marker in &model.linkage.markers {
        let body = marker.body.unwrap();
        let mut influence = vec![Motion::zero(); system.bodies()[body].modes()];
        assert_no_allocation("markers", || {
            let motion = marker_motion(
                system,
                &kinematics,
                body,
                &marker.place,
                &position,
                &velocity,
                &mut influence,
            );
            let point = motion.pose.translation;
            marker_jacobian(system, &kinematics, body, point, &influence, &mut jacobian);
            let wrench = Force::new(Vector::zero(), Vector::constant([1.0, 0.0, 0.0]));
            apply_wrench(system, &mut kinematics, body, point, &influence, wrench);
        });
    }
}

#[test]
fn recursions_allocate_nothing() {
    let model = Model::build(&Variety::everything(30).mechanism(81)).unwrap();
    let state = random_state(&model.linkage.system, &mut Random::new(82));
    recursions::<f64>(&model, &state);
    recursions::<Lanes<4>>(&model, &state);
    recursions::<Rate>(&model, &state);
}

/// Everything that can act: torques on joints and at a marker, a table, prescribed and nominal motions, an
/// elastic gear under feedback, springs and friction on simple and quaternion joints.
const DRIVEN: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]

[[body]]
name = "base"
rigid = { mass_kg = 5.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }

[[body]]
name = "boom"
damping.modal_ratio = 0.01
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 50.0
basis.clamped_free = { bending_y = 2 }

[[body]]
name = "stick"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 50.0
basis.free_free = { bending_y = 2 }

[[body]]
name = "ball"
rigid = { mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }

[[joint]]
name = "float"
parent = "ground"
child = "base"
[joint.free]
spring = { angular_stiffness_n_m_per_rad = 3.0, linear_stiffness_n_per_m = 5.0 }
friction = { angular_viscous_n_m_s_per_rad = 0.1 }

[[joint]]
name = "shoulder"
parent = "base"
child = "boom"
[joint.revolute]
axis = [0, 0, 1]
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 100.0, stiffness_n_m_per_rad = 500.0, damping_n_m_s_per_rad = 0.5 }

[[joint]]
name = "elbow"
parent = "boom"
child = "stick"
[joint.revolute]
axis = [0, 0, 1]
friction = { coulomb_n_m = 0.2, viscous_n_m_s_per_rad = 0.1 }

[[joint]]
name = "wrist"
parent = "stick"
child = "ball"
[joint.spherical]
spring = { stiffness_n_m_per_rad = 2.0, damping_n_m_s_per_rad = 0.1 }

[[marker]]
name = "tip"
body = "stick"

[[motion]]
joint = "elbow"
cycloid = { final_angle_rad = 0.5, duration_s = 1.0 }

[[input]]
joint = "shoulder"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.4, duration_s = 1.0 }

[[controller]]
name = "servo"
joints = ["shoulder"]
computed_pd = { frequency_rad_per_s = 5.0, damping_ratio = 0.7 }

[[input]]
joint = "wrist"
component = 2
torque_table = { time_s = [0.0, 0.5, 1.0], value_n_m = [0.0, 1.0, 0.5] }

[[input]]
marker = "tip"
direction = [0, 1, 0]
frame = "body"
force_step = { value_n = 2.0 }
"#;

#[test]
fn equations_of_motion_allocate_nothing() {
    let spec: ModelSpec = toml::from_str(DRIVEN).unwrap();
    let model = Model::build(&spec).unwrap();
    let mut equations = Equations::new(&model);
    let state = equations.initial_state();
    let mut rate = vec![0.0; state.len()];
    assert_no_allocation("Equations::derivative", || {
        equations.derivative(0.3, &state, &mut rate);
    });
    assert!(rate.iter().all(|x| x.is_finite()), "{rate:?}");
    assert!(rate.iter().any(|x| *x != 0.0), "something moves");
}

/// One step of an implicit method: what its stages add, and an iteration.
#[test]
fn implicit_stages_allocate_nothing() {
    let driven: ModelSpec = toml::from_str(DRIVEN).unwrap();
    let shuttle = include_str!("../../../../models/damaren_1995/shuttle_arm.toml");
    let loops = include_str!("../../../../models/fattah_1995/cooperating_arms.toml");
    let shipped = [shuttle, loops].map(|text| ModelSpec::parse(text, &[]).unwrap());
    for spec in shipped.iter().chain([&driven]) {
        let mut model = Model::build(spec).unwrap();
        close_loops(&mut model, 0.0).unwrap();
        let mut equations = Equations::new(&model);
        let state = equations.initial_state();
        let mut rate = vec![0.0; state.len()];
        equations.derivative(0.0, &state, &mut rate);
        // the first step makes the memory for all
        let mut allowance = vec![1.0; state.len()];
        assert!(equations.prepare_stages(0.01, &state, &rate, 1e-3, &mut allowance));
        assert_no_allocation("Equations::prepare_stages and improve_stage", || {
            equations.prepare_stages(0.02, &state, &rate, 1e-3, &mut allowance);
            equations.improve_stage(0.02, &state, 1e-3, &mut rate);
        });
        assert!(rate.iter().all(|x| x.is_finite()), "{rate:?}");
    }
}

/// The nominal motion of a closed mechanism is solved for at every instant: loops, marker, inverse dynamics and its share
/// for every drive.
#[test]
fn nominal_motions_of_loops_allocate_nothing() {
    for text in [
        include_str!("../../../../models/fattah_1995/cooperating_arms.toml"),
        include_str!("../../../../models/fattah_1995/spatial_3rrs.toml"),
    ] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let mut model = Model::build(&spec).unwrap();
        close_loops(&mut model, 0.0).unwrap();
        let mut equations = Equations::new(&model);
        let mut state = equations.initial_state();
        let mut rate = vec![0.0; state.len()];
        // degrees of freedom are counted at the first instant
        equations.derivative(0.0, &state, &mut rate);
        let force = |equations: &mut Equations<'_>| equations.closure_forces().last();
        let before = force(&mut equations);
        assert_no_allocation("Equations::derivative along a nominal motion", || {
            for instant in 1..=5_u8 {
                equations.derivative(0.01 * f64::from(instant), &state, &mut rate);
            }
            equations.project(0.05, &mut state);
        });
        assert!(rate.iter().all(|x| x.is_finite()), "{rate:?}");
        assert_ne!(before, force(&mut equations), "the drives push");
    }
}

/// Rigid links of one metre on hinges: each on the one before, all on the first, or chains of equal length from the ground
/// whose ends are held by 50 loops.
fn large_model(shape: &str, bodies: usize) -> String {
    const LOOPS: usize = 50;
    let chain = bodies / LOOPS;
    let link = |at: usize| {
        let (parent, angle) = match shape {
            "star" if at > 0 => (Some(0), 0.0),
            "loops" if at.is_multiple_of(chain) => (None, -0.3),
            "loops" => (Some(at - 1), 0.7 / chain as f64),
            _ => (at.checked_sub(1), 0.0),
        };
        let y = if shape == "loops" { at / chain } else { 0 };
        let parent = match parent {
            Some(parent) => format!("body = \"b{parent}\", position_m = [1.0, 0.0, 0.0]"),
            None => format!("body = \"ground\", position_m = [0.0, {y}.0, 0.0]"),
        };
        let closed = (shape == "loops" && at % chain == chain - 1).then(|| {
            let x = 0.9 * chain as f64;
            format!(
                "[[loop]]\nname = \"l{y}\"\nfrom = {{ body = \"ground\", position_m = [{x:?}, {y}.0, 0.0] }}\n\
                 to = {{ body = \"b{at}\", position_m = [1.0, 0.0, 0.0] }}\nspherical = {{}}\n"
            )
        });
        format!(
            "[[body]]\nname = \"b{at}\"\n\
             rigid = {{ mass_kg = 1.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }}\n\
             [[joint]]\nname = \"j{at}\"\nparent = {{ {parent} }}\nchild = \"b{at}\"\n\
             revolute = {{ axis = [0.0, 1.0, 0.0], initial_angle_rad = {angle:?} }}\n{}",
            closed.unwrap_or_default()
        )
    };
    let head = "format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n".to_owned();
    head + &(0..bodies).map(link).collect::<String>()
}

/// Property: what `lissom check` does, from the text to what it prints, allocates in proportion to the bodies: no matrix over
/// all of them is formed.
#[test]
fn a_diagnosis_costs_what_its_bodies_cost() {
    // twice, and a little for capacities that double
    const PER_DOUBLING: f64 = 2.2;
    for shape in ["chain", "star", "loops"] {
        let cost = |bodies: usize| {
            let text = large_model(shape, bodies);
            let info = measure(|| {
                let spec = ModelSpec::parse(&text, &[]).unwrap();
                let diagnosis = lissom_engine::Mechanism::build(&spec).unwrap().diagnose();
                assert_eq!(diagnosis.bodies.len(), bodies);
                assert_eq!(diagnosis.loops.is_some(), shape == "loops");
                let told = serde_json::to_string(&diagnosis).unwrap();
                assert!(told.contains("warnings"));
            });
            [info.count_total as f64, info.bytes_total as f64]
        };
        let costs = [250, 500, 1000].map(cost);
        for pair in costs.windows(2) {
            for (less, more) in pair[0].iter().zip(pair[1]) {
                let ratio = more / less;
                assert!(ratio < PER_DOUBLING, "{shape}: {ratio} times {less}");
            }
        }
    }
}
