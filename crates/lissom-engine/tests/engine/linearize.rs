//! Linearised equations of the tree: against differences, closed forms and the other formulation.

use std::fmt::Write as _;

use lissom_core::State;
use lissom_core::study::{Deviation, Linearize as _, OperatingPoint, OutputOrder};
use lissom_engine::model::Model;
use lissom_engine::nodal_model::NodalLinearizer;
use lissom_engine::simulate::{Equations, Linearizer, MotionState, written_state};
use lissom_engine::testing::{Random, Variety, random_state};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{ChosenCoordinates, DampedMode, LinearizedTrajectory, Point, Terms};
use lissom_spec::{ModelSpec, TEMPLATE};
use nalgebra::{Complex, DMatrix, DVector};

use crate::models::{assembled, built, driven_arm, jonker_beam, nodal_model, parsed};
use crate::runs::tree_mechanism;
use crate::shipped::FOUR_BAR;

/// Accelerations of the state's velocities at a state of the equations, motors last.
fn accelerations(linearizer: &mut Linearizer<'_>, time: f64, state: &[f64]) -> DVector<f64> {
    let moving = linearizer.moving_state(time, state).unwrap();
    of_state(linearizer.model(), &moving)
}

fn of_state(model: &Model, moving: &MotionState) -> DVector<f64> {
    let free = (0..moving.velocity.len())
        .filter(|&i| !model.motions.iter().any(|motion| motion.velocity == i))
        .map(|i| moving.acceleration[i])
        .chain(moving.motors.iter().map(|motor| motor[2]));
    DVector::from_vec(free.collect())
}

/// $`-M^{-1}K`$ and $`-M^{-1}C`$.
fn system(point: &Point) -> [DMatrix<f64>; 2] {
    let factor = point.linear.mass.clone().lu();
    [point.linear.stiffness(), point.linear.damping.clone()]
        .map(|matrix| -factor.solve(&matrix).unwrap())
}

/// Largest difference of two matrices relative to the largest entry of their rows.
fn apart(found: &DMatrix<f64>, wanted: &DMatrix<f64>) -> f64 {
    let mut worst = 0.0_f64;
    for (found, wanted) in found.row_iter().zip(wanted.row_iter()) {
        worst = worst.max((found - wanted).amax() / wanted.amax().max(1.0));
    }
    worst
}

/// Second way: central differences of the accelerations of random trees with every kind of body, and of a model with
/// an elastic gear, springs, friction, loads in both frames and a prescribed joint.
#[test]
fn matrices_are_derivatives_of_the_accelerations() {
    // truncation h² of sines and stiff bodies, rounding ε/h times their stiffness
    const STEP: f64 = 1e-6;
    const DIFFERENCE: f64 = 2e-6;
    let variety = |bodies| Variety {
        joint_kinds: Variety::VECTOR_JOINTS,
        ..Variety::everything(bodies)
    };
    let mut specs: Vec<ModelSpec> = vec![
        variety(2).mechanism(31),
        variety(5).mechanism(32),
        variety(5).mechanism(33),
    ];
    specs.push(parsed(&geared()));
    for spec in specs {
        let model = Model::build(&spec).unwrap();
        let mut random = Random::new(3);
        let equations = Equations::new(&model);
        let (n_q, n_v) = (equations.state_positions(), equations.state_velocities());
        assert_eq!(n_q, n_v);
        let mut state = equations.initial_state();
        if model.motions.is_empty() && model.transmissions.is_empty() {
            let found = random_state(&model.linkage.system, &mut random);
            state[..n_q].copy_from_slice(&found.position);
            state[n_q..n_q + n_v].copy_from_slice(&found.velocity);
        } else {
            for x in &mut state[..n_q + n_v] {
                *x += random.signed(0.1);
            }
        }
        let mut linearizer = Linearizer::new(&model);
        let time = 0.4;
        let moving = linearizer.moving_state(time, &state).unwrap();
        let along = linearizer
            .trajectory(&[moving], &mut |_| Flow::Continue)
            .unwrap();
        let point = &along.points()[0];
        let parts = system(point);
        for (part, first) in parts.iter().zip([0, n_q]) {
            let mut wanted = DMatrix::zeros(n_v, n_v);
            for column in 0..n_v {
                let mut moved = state.clone();
                moved[first + column] += STEP;
                let above = accelerations(&mut linearizer, time, &moved);
                moved[first + column] -= 2.0 * STEP;
                let below = accelerations(&mut linearizer, time, &moved);
                wanted.set_column(column, &((above - below) / (2.0 * STEP)));
            }
            let worst = apart(part, &wanted);
            assert!(worst < DIFFERENCE, "{worst} of {:?}", spec.name);
        }
        // the state moves as the equations say, so that nothing is left to drive deviations
        let scale = point.linear.mass.amax() * 1e3;
        assert!(point.excitation.iter().all(|x| x.abs() < 1e-9 * scale));
    }
}

/// A hub behind an elastic gear, a link on a sprung joint that prescribed motion carries, a pushed tip.
fn geared() -> String {
    let mut text = String::from("format = 1\ngravity_m_per_s2 = [0, -9.81, 0]\n");
    for name in ["a", "b", "c"] {
        write!(
            text,
            "[[body]]\nname = \"{name}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 2.0\n\
             bending_stiffness_y_n_m2 = 300.0\nbending_stiffness_z_n_m2 = 300.0\n\
             basis.clamped_free = {{ bending_y = 2, bending_z = 1 }}\n[body.damping]\nmodal_ratio = 0.02\n"
        )
        .unwrap();
    }
    text.push_str(
        "[[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"a\"\n\
         [joint.revolute]\naxis = [0, 0, 1]\n\
         motor = { inertia_kg_m2 = 0.01, gear_ratio = 10.0, stiffness_n_m_per_rad = 400.0, \
         damping_n_m_s_per_rad = 0.5 }\n\
         [[joint]]\nname = \"wrist\"\nparent = \"a\"\nchild = \"b\"\n[joint.revolute]\naxis = [0, 0, 1]\n\
         [[joint]]\nname = \"elbow\"\nparent = \"b\"\nchild = \"c\"\n[joint.revolute]\naxis = [0, 1, 1]\n\
         spring = { stiffness_n_m_per_rad = 30.0, damping_n_m_s_per_rad = 1.5 }\n\
         friction = { coulomb_n_m = 0.2, coulomb_rate_rad_per_s = 0.5 }\n\
         [[motion]]\njoint = \"wrist\"\ncycloid = { final_angle_rad = 1.0, duration_s = 1.0 }\n\
         [[input]]\njoint = \"hub\"\ntorque_constant = { value_n_m = 3.0 }\n\
         [[marker]]\nname = \"tip\"\nbody = \"c\"\n\
         [[input]]\nmarker = \"tip\"\ndirection = [0, 1, 1]\nframe = \"body\"\nforce_constant = { value_n = 5.0 }\n\
         [[input]]\nmarker = \"tip\"\ndirection = [1, 0, 1]\nforce_constant = { value_n = 4.0 }\n\
         [simulation]\nduration_s = 1.0\n",
    );
    text
}

/// Closed form: a spinning free body nutates at $`(1 - I_3/I_1)\Omega`$ in its own axes, its momentum stays where it is
/// in space (frequency $`\Omega`$ in turning axes), and it drifts.
#[test]
fn a_spinning_body_nutates() {
    const ROUNDING: f64 = 1e-7;
    let text = "format = 1\n[[body]]\nname = \"top\"\n\
                rigid = { mass_kg = 2.0, center_of_mass_m = [0, 0, 0], inertia_kg_m2 = [0.5, 0.5, 0.8] }\n\
                [[joint]]\nname = \"float\"\nparent = \"ground\"\nchild = \"top\"\nfree = {}\n\
                [simulation]\nduration_s = 1.0\n";
    let mut model = built(text);
    let speed = 3.0;
    model.initial_velocity[2] = speed;
    let mut linearizer = Linearizer::new(&model);
    let start = linearizer.initial_state(0.0).unwrap();
    let along = linearizer
        .trajectory(&[start], &mut |_| Flow::Continue)
        .unwrap();
    let linear = &along.points()[0].linear;
    // the six turns and slides by first-order eigenvalues; the double zeros are lost to rounding
    let modes = DampedMode::all(&linear.mass, &linear.damping, &linear.stiffness()).unwrap();
    let nutation = speed * (0.8 / 0.5 - 1.0);
    for wanted in [nutation, speed] {
        let nearest = modes
            .iter()
            .map(|mode| (mode.eigenvalue.im - wanted).abs())
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-6, "{wanted}: {nearest}");
    }
    // a body that drifts does so in a straight line: in turning axes at the frequency of the turn
    let slides = modes
        .iter()
        .filter(|mode| (mode.eigenvalue.im - speed).abs() < 1e-5)
        .count();
    assert!(slides >= 2, "{slides}");
    assert!(
        modes
            .iter()
            .all(|mode| mode.eigenvalue.re.abs() < ROUNDING.sqrt())
    );
    assert_eq!(along.labels().coordinates[3].name, "float.translation.x");
}

/// Squares of the lowest eigenvalues with free joints and no damping, with and without the parts of the
/// stiffness; without some parts an unsymmetric stiffness may flutter, so that they are complex.
fn squares(along: &LinearizedTrajectory, terms: Terms, count: usize) -> Vec<Complex<f64>> {
    let point = &along.points()[0];
    let (mass, stiffness) = (&point.linear.mass, point.stiffness(terms));
    let modes = DampedMode::all(mass, &(mass * 0.0), &stiffness).unwrap();
    // of a pair of real eigenvalues one; those of free motion are zero but for rounding
    let mut squares: Vec<Complex<f64>> = (modes.iter())
        .filter(|mode| mode.eigenvalue.im > 0.0 || mode.eigenvalue.re > 0.0)
        .filter(|mode| mode.eigenvalue.norm() > 1e-3)
        .map(|mode| -mode.eigenvalue * mode.eigenvalue)
        .collect();
    squares.sort_by(|a, b| a.re.total_cmp(&b.re));
    squares.truncate(count);
    squares
}

/// Converged numbers of a spectral elastica: first frequency of Jonker & Aarts' beam at rest and turning; without the
/// geometric part its square is that at rest less the square of the speed.
#[test]
fn parts_of_the_stiffness_of_a_turning_beam() {
    // five digits are known; six clamped modes are that close
    const DIGITS: f64 = 6e-5;
    let text = jonker_beam(6)
        + "[[motion]]\njoint = \"hub\"\nconstant_rate = { rate_rad_per_s = 4.0 }\n\
           [simulation]\nduration_s = 1.0\n";
    let model = built(&text);
    let mut linearizer = Linearizer::new(&model);
    let state = linearizer.nominal_state(0.3).unwrap();
    let along = linearizer
        .trajectory(&[state], &mut |_| Flow::Continue)
        .unwrap();
    let [whole, _, structural, _, without_geometric] = Terms::CASES;
    for (terms, wanted) in [
        (structural, 2.90992_f64.powi(2)),
        (without_geometric, 2.90992_f64.powi(2) - 16.0),
        (whole, 3.3464_f64.powi(2)),
    ] {
        let found = squares(&along, terms, 1)[0].re;
        assert!((found - wanted).abs() < DIGITS * 16.0, "{found} {wanted}");
    }
    let linear = &along.points()[0].linear;
    assert!((&linear.dynamic + &linear.mass * 16.0).amax() < 1e-9 * linear.mass.amax());
}

/// An arm in a vertical plane that moves fast, with a payload.
fn arm(modes: usize) -> ModelSpec {
    let beam =
        format!("bending_stiffness_y_n_m2 = 120.0\nbasis.clamped_free = {{ bending_y = {modes} }}");
    let arm = driven_arm(
        [0.0, -9.81, 0.0],
        ["[0, 0, 1]", "[0, 0, 1]"],
        &beam,
        "final_angle_rad = 2.3, duration_s = 0.5",
    );
    parsed(&format!("{arm}[simulation]\nduration_s = 0.5\n"))
}

/// Second formulation: the lowest squared frequencies of an arm in fast motion under gravity with every set of terms;
/// frequencies and damping of the whole; nominal torques; the tip's derivatives. The joints are free: held ones carry
/// moments, which clamped modes do not like.
#[test]
fn parts_agree_with_the_nodal_formulation() {
    // six clamped modes and six elements leave this much of the squared frequencies
    const AGREEMENT: f64 = 2e-3;
    let time = 0.15;
    let spec = arm(6);
    let model = Model::build(&spec).unwrap();
    let mut linearizer = Linearizer::new(&model);
    let state = linearizer.nominal_state(time).unwrap();
    let tree = linearizer
        .trajectory(&[state], &mut |_| Flow::Continue)
        .unwrap();
    let nodal = nodal_model(&spec, 6).unwrap();
    let mut meshed = NodalLinearizer::new(&nodal).unwrap();
    let motion = meshed.nominal(time).unwrap();
    let point = meshed
        .point(&motion, OutputOrder::Second, &mut |_| Flow::Continue)
        .unwrap();
    let coordinates = ChosenCoordinates {
        independent: meshed.independent(),
        joints: meshed.actuated(),
    };
    let nodes = LinearizedTrajectory::new(meshed.labels(), vec![point], coordinates);
    let speed_squared = 20.0;
    for terms in Terms::CASES {
        let (a, b) = (squares(&tree, terms, 3), squares(&nodes, terms, 3));
        // rigid motions and the two lowest vibrations, which are converged
        for (a, b) in a.iter().zip(&b).filter(|(_, b)| b.norm() < 3e4) {
            // of a conjugate pair either may come first
            let apart = Complex::new(a.re - b.re, a.im.abs() - b.im.abs()).norm();
            let scale = b.norm().max(speed_squared);
            assert!(apart < AGREEMENT * scale, "{terms:?}: {a} {b}");
        }
        // and the parts are large enough to be told apart
        let first = |terms| squares(&tree, terms, 1)[0].re;
        if terms != Terms::CASES[0] && terms != Terms::CASES[1] {
            let changed = (first(terms) - first(Terms::CASES[0])).abs();
            assert!(
                changed > 10.0 * AGREEMENT * first(terms).abs(),
                "{terms:?}: {changed}"
            );
        }
    }
    let modes = |along: &LinearizedTrajectory| {
        let linear = &along.points()[0].linear;
        DampedMode::all(&linear.mass, &linear.damping, &linear.stiffness()).unwrap()
    };
    for (a, b) in modes(&tree).iter().zip(&modes(&nodes)).take(4) {
        let scale = b.eigenvalue.norm().max(1.0);
        assert!(
            (a.eigenvalue - b.eigenvalue).norm() < AGREEMENT * scale,
            "{} {}",
            a.eigenvalue,
            b.eigenvalue
        );
    }
    let (a, b) = (&tree.points()[0], &nodes.points()[0]);
    for (a, b) in a.input.iter().zip(&b.input) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
    }
    // joint angles come first in neither, but are the same two
    for (column_a, column_b) in tree.actuated().iter().zip(nodes.actuated()) {
        let (a, b) = (&a.outputs[0], &b.outputs[0]);
        for i in 0..3 {
            let pair = [a.first[(i, *column_a)], b.first[(i, *column_b)]];
            assert!((pair[0] - pair[1]).abs() < 1e-9, "{pair:?}");
            let [a, b] = [a, b].map(|output| &output.second.as_ref().unwrap()[i]);
            let pair = [a[(*column_a, *column_a)], b[(*column_b, *column_b)]];
            assert!((pair[0] - pair[1]).abs() < 1e-9, "{pair:?}");
        }
    }
}

/// Second formulation: what springs, friction, rotors and torques of spherical and free joints do is split into the same parts as what those of
/// hinges do.
#[test]
fn parts_agree_where_joints_turn_in_any_way() {
    const ROUNDING: f64 = 1e-10;
    let body = |name: &str, joint: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = 1.2, center_of_mass_m = [0.3, 0.1, -0.1], inertia_kg_m2 = [0.04, 0.05, 0.06] }}\n{joint}"
        )
    };
    let text = format!(
        "format = 1\ngravity_m_per_s2 = [1.0, -9.81, 2.0]\n{}{}{}",
        body(
            "arm",
            "[[joint]]\nname = \"hinge\"\nparent = \"ground\"\nchild = \"arm\"\n\
             revolute = { axis = [0.2, 0.3, 1.0], initial_rate_rad_per_s = 0.7 }\n"
        ),
        body(
            "ball",
            "[[joint]]\nname = \"socket\"\nparent = { body = \"arm\", position_m = [0.6, 0.1, 0.0] }\nchild = \"ball\"\n[joint.spherical]\n\
             initial_rotation_vector_rad = [0.4, -0.3, 0.2]\ninitial_angular_velocity_rad_per_s = [0.5, -1.0, 0.8]\n\
             spring = { stiffness_n_m_per_rad = 6.0, damping_n_m_s_per_rad = 0.3 }\nmotor = { inertia_kg_m2 = 0.02, gear_ratio = 2.0 }\n\
             [[input]]\njoint = \"socket\"\ncomponent = 2\ntorque_constant = { value_n_m = 1.5 }\n"
        ),
        body(
            "float",
            "[[joint]]\nname = \"space\"\nparent = { body = \"ball\", position_m = [0.5, 0.0, 0.2] }\nchild = \"float\"\n[joint.free]\n\
             initial_position_m = [0.2, 0.1, -0.1]\ninitial_rotation_vector_rad = [-0.3, 0.5, 0.1]\n\
             initial_velocity_m_per_s = [0.4, -0.2, 0.6]\ninitial_angular_velocity_rad_per_s = [0.3, 0.9, -0.4]\n\
             spring = { linear_stiffness_n_per_m = 30.0, angular_stiffness_n_m_per_rad = 4.0 }\n\
             friction = { linear_viscous_n_s_per_m = 0.4, angular_viscous_n_m_s_per_rad = 0.2 }\n\
             motor = { angular_inertia_kg_m2 = 0.03, linear_inertia_kg_m2 = 0.5 }\n"
        ),
    );
    let spec = parsed(&text);
    let model = Model::build(&spec).unwrap();
    let mut linearizer = Linearizer::new(&model);
    let motion = linearizer.moving(&written_state(&model, 0.0)).unwrap();
    let tree = linearizer
        .point(&motion, OutputOrder::First, &mut |_| Flow::Continue)
        .unwrap()
        .linear;
    let nodal = nodal_model(&spec, 1).unwrap();
    let start = [nodal.initial_position(), nodal.initial_velocity()].map(<[f64]>::to_vec);
    let [position, velocity] = start;
    let mut linearizer = NodalLinearizer::new(&nodal).unwrap();
    let motion = (linearizer.moving(&State::new(0.0, position, velocity))).unwrap();
    let nodes = linearizer
        .point(&motion, OutputOrder::First, &mut |_| Flow::Continue)
        .unwrap()
        .linear;
    for (what, tree, nodes) in [
        ("K0", &tree.structural, &nodes.structural),
        ("N0", &tree.dynamic, &nodes.dynamic),
        ("G0", &tree.geometric, &nodes.geometric),
    ] {
        assert!(tree.amax() > 1.0, "{what} is there");
        assert!(apart(nodes, tree) < ROUNDING, "{what}: {nodes} {tree}");
    }
}

/// Second way: differences of the accelerations of a flexible four-bar in motion whose equations keep the same
/// independent coordinates, and of its marker to second order.
#[test]
fn loops_in_independent_coordinates() {
    const STEP: f64 = 1e-5;
    // truncation and rounding, times what the closures amplify
    const DIFFERENCE: f64 = 1e-5;
    let mut model = assembled(&parsed(FOUR_BAR));
    model.initial_velocity[0] = 2.0;
    let probe = Linearizer::new(&model).initial_state(0.1).unwrap();
    let along = Linearizer::new(&model)
        .trajectory(&[probe], &mut |_| Flow::Continue)
        .unwrap();
    let names: Vec<&str> = (along.labels().coordinates.iter())
        .map(|label| label.name.as_str())
        .collect();
    let independent: Vec<usize> = names
        .iter()
        .map(|name| {
            model
                .linkage
                .positions
                .iter()
                .position(|p| p.name == *name)
                .unwrap()
        })
        .collect();
    assert_eq!(names[0], "motor.angle");
    assert_eq!(independent.len(), 5);
    model.linkage.closure_method = lissom_tree::ClosureMethod::JointSpace {
        independent: independent.clone(),
    };
    let mut linearizer = Linearizer::new(&model);
    let start = linearizer.initial_state(0.1).unwrap();
    let n = start.position.len();
    let base: Vec<f64> = (start.position.iter().chain(&start.velocity))
        .copied()
        .chain([0.0, 0.0])
        .collect();
    let along = linearizer
        .trajectory(&[start], &mut |_| Flow::Continue)
        .unwrap();
    let point = &along.points()[0];
    let accelerations = |linearizer: &mut Linearizer<'_>, state: &[f64]| {
        let moving = linearizer.moving_state(0.1, state).unwrap();
        let picked = independent.iter().map(|&at| moving.acceleration[at]);
        DVector::from_vec(picked.collect())
    };
    for (part, first) in system(point).iter().zip([0, n]) {
        let mut wanted = DMatrix::zeros(independent.len(), independent.len());
        for (column, &at) in independent.iter().enumerate() {
            let mut moved = base.clone();
            moved[first + at] += STEP;
            let above = accelerations(&mut linearizer, &moved);
            moved[first + at] -= 2.0 * STEP;
            let below = accelerations(&mut linearizer, &moved);
            wanted.set_column(column, &((above - below) / (2.0 * STEP)));
        }
        let worst = apart(part, &wanted);
        assert!(worst < DIFFERENCE, "{worst}");
    }
    // the marker moves as its expansion says, up to third order
    let far = 1e-2_f64;
    let mut deviation = vec![0.0; independent.len()];
    deviation[0] = far;
    let mut moved = base.clone();
    moved[independent[0]] += far;
    let state = linearizer.moving_state(0.1, &moved).unwrap();
    let found = linearizer
        .trajectory(&[state], &mut |_| Flow::Continue)
        .unwrap()
        .points()[0]
        .outputs[0]
        .position;
    let output = &point.outputs[0];
    let still = vec![0.0; deviation.len()];
    let places: Vec<usize> = linearizer.independent();
    let start = linearizer.initial_state(0.1).unwrap();
    for (order, tolerance) in [
        (OutputOrder::First, 10.0 * far * far),
        (OutputOrder::Second, 10.0 * far.powi(3)),
    ] {
        let at = Deviation {
            independent: &places,
            position: &deviation,
            rate: &still,
        };
        let deviated = linearizer.deviated(&start, &at, order).unwrap();
        let [nominal, moved] = deviated.markers[0];
        let error = found - nominal - moved;
        assert!(error.dot(error).sqrt() < tolerance, "{error:?}");
        // the same from the matrices
        let along = DVector::from_column_slice(&deviation);
        for component in 0..3 {
            let mut wanted = (&output.first * &along)[component];
            if order == OutputOrder::Second {
                let second = &output.second.as_ref().unwrap()[component];
                wanted += 0.5 * along.dot(&(second * &along));
            }
            assert!(
                (moved[component] - wanted).abs() < 1e-12,
                "{moved:?} {wanted}"
            );
        }
    }
}

/// Identity: of inputs that are chosen twice the last choice is among those of the first, nominal values too.
#[test]
fn inputs_may_be_chosen_twice() {
    let mechanism = tree_mechanism(&parsed(TEMPLATE));
    let (start, watch) = (mechanism.start().unwrap(), &mut |_| Flow::Continue);
    let found = mechanism.linearize(&start, OperatingPoint::Start, &[], watch);
    let once = found.unwrap().with_inputs(&[1]);
    let twice = once.with_inputs(&[0]);
    assert_eq!(once.nominal_inputs, [1]);
    assert_eq!(twice.nominal_inputs, once.nominal_inputs);
    assert_eq!(twice.trajectory.labels(), once.trajectory.labels());
}
