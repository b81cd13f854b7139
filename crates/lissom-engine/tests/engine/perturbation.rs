//! Controllers in model files, and perturbation runs of the tree: published numbers and closed forms.

use lissom_core::study::{
    Linearized, OperatingPoint, OutputOrder, PerturbOptions, sample_instants,
};
use lissom_core::{Channel, Recording};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Interpolation, Terms, TrackedModes};
use lissom_spec::ModelSpec;

use crate::models::{changed, jonker_beam, parsed};
use crate::numbers::lateral;
use crate::runs::{
    completed, in_nodes, in_tree, last, mechanism, nodal_mechanism, tree_mechanism, value_at,
};
use crate::shipped::{SLIDING_BEAM, SLIDING_BOOM_SPATIAL};

fn simulated(spec: &ModelSpec) -> Recording {
    let run = completed(in_tree(spec));
    assert!(run.audit.energy.max_drift_percent < 1e-4);
    run.recording
}

/// As a tree, or in so many elements per link.
fn built(spec: &ModelSpec, elements: Option<usize>) -> Mechanism {
    match elements {
        None => tree_mechanism(spec),
        Some(elements) => nodal_mechanism(spec, elements),
    }
}

fn along(mechanism: &Mechanism, points: usize) -> Linearized {
    let step = mechanism.spec().simulation.duration_s / (points - 1) as f64;
    let times: Vec<f64> = (0..points).map(|i| step * i as f64).collect();
    let times = mechanism.with_breaks(&times).unwrap();
    let mut watch = |_| Flow::Continue;
    mechanism
        .linearize(
            &mechanism.start().unwrap(),
            OperatingPoint::Nominal,
            &times,
            &mut watch,
        )
        .unwrap()
}

fn perturbed(
    mechanism: &Mechanism,
    found: &Linearized,
    case: usize,
    order: OutputOrder,
) -> Recording {
    let options = PerturbOptions {
        terms: Terms::CASES[case],
        interpolation: Interpolation::Matrices,
        order,
    };
    let samples = sample_instants(mechanism.spec(), &[]);
    let mut watch = |_| Flow::Continue;
    let done = mechanism
        .perturb(found, &samples, options, &mut watch)
        .unwrap();
    done.recording
}

/// The beam of Jonker & Aarts with a marker, and what is done to it.
fn beam(rest: &str) -> ModelSpec {
    let beam = jonker_beam(4);
    parsed(&format!(
        "{beam}[[marker]]\nname = \"tip\"\nbody = \"beam\"\n{rest}"
    ))
}

/// Converged numbers of a spectral elastica: largest lag of the tip in the cases of Table I; case 5 grows without bounds.
#[test]
fn five_cases_of_table_1() {
    // what four modes leave of five digits, and the largest of samples below that of the curve
    const DIGITS: f64 = 1e-4;
    let spec = beam(
        "[[motion]]\njoint = \"hub\"\ncycloidal_rate = { final_rate_rad_per_s = 4.0, duration_s = 15.0 }\n\
         [simulation]\nduration_s = 15.0\nintegrator.dop853 = { rtol = 1e-7, atol = 1e-9 }\n\
         [output]\nsample_period_s = 0.01\n",
    );
    let tree = built(&spec, None);
    let found = along(&tree, 301);
    for (case, wanted) in [
        Some(0.53472),
        Some(0.52714),
        Some(0.57170),
        Some(0.571_005),
        None,
    ]
    .into_iter()
    .enumerate()
    {
        let recording = perturbed(&tree, &found, case, OutputOrder::Second);
        let largest = (recording.time_s.iter()).fold(0.0_f64, |largest, &time| {
            // the hub is on its nominal trajectory
            let s = time / 15.0;
            let tau = std::f64::consts::TAU;
            let angle = 4.0 * 15.0 * (0.5 * s * s + ((tau * s).cos() - 1.0) / (tau * tau));
            let at = |axis: &str| value_at(&recording, &format!("tip.deviation.{axis}"), time);
            largest.max(-lateral(at("x"), at("y"), angle))
        });
        match wanted {
            Some(wanted) => assert!((largest - wanted).abs() < DIGITS, "{case}: {largest}"),
            None => assert!(largest > 1e3, "case 5 should diverge: {largest}"),
        }
    }
    // and its first frequency as it turns, followed from rest
    let modes =
        TrackedModes::new(&Frozen::new(&found.trajectory, &[]), Terms::CASES[0], 2).unwrap();
    let last = modes.modes[0].last().unwrap().frequency().unwrap();
    // functions that are not the modes of a turning beam give too high a frequency, if little
    assert!(last > 3.3464 - DIGITS && last < 3.3464 + 1e-3, "{last}");
    assert!(modes.encounters.is_empty());
    assert!(modes.modes[0].iter().all(|at| at.mac > 0.99));
}

/// Second implementation, four elements: deviation of the tip from its nominal place in the controlled quarter turn of
/// section 7.2, nonlinear and by the perturbation method.
#[test]
fn controlled_quarter_turn() {
    // four elements are 6e-4 of the deflection from converged, four modes less
    const AGREEMENT_M: f64 = 1e-3;
    let spec = beam(
        "[[input]]\njoint = \"hub\"\n\
         rigid_inverse_dynamics.cycloid = { final_angle_rad = 1.5707963267948966, duration_s = 5.0 }\n\
         [[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
         computed_pd = { frequency_rad_per_s = 1.45, damping_ratio = 0.9 }\n\
         [simulation]\nduration_s = 8.0\nintegrator.dop853 = { rtol = 1e-8, atol = 1e-10 }\n\
         [output]\nsample_period_s = 0.05\n",
    );
    let nonlinear = simulated(&spec);
    let tree = built(&spec, None);
    let found = along(&tree, 201);
    let linear = perturbed(&tree, &found, 0, OutputOrder::First);
    assert_eq!(found.driven.len(), 1);
    for (time, wanted_nonlinear, wanted_linear) in [
        (1.0, -0.29817, -0.29829),
        (3.0, 0.09112, 0.09151),
        (5.0, 0.26987, 0.27023),
        (8.0, 0.00496, 0.00495),
    ] {
        let s = f64::min(time / 5.0, 1.0);
        let tau = std::f64::consts::TAU;
        let angle = tau / 4.0 * (s - (tau * s).sin() / tau);
        let place = |axis: &str| value_at(&nonlinear, &format!("tip.position.{axis}"), time);
        let off = lateral(place("x"), place("y"), angle);
        assert!(
            (off - wanted_nonlinear).abs() < AGREEMENT_M,
            "{time}: {off}"
        );
        let moved = |axis: &str| value_at(&linear, &format!("tip.deviation.{axis}"), time);
        let off = lateral(moved("x"), moved("y"), angle);
        assert!((off - wanted_linear).abs() < AGREEMENT_M, "{time}: {off}");
        // feed-forward and feedback together
        let torque = value_at(&nonlinear, "hub.torque", time)
            + value_at(&nonlinear, "servo.hub.torque", time);
        let found = value_at(&linear, "hub.torque", time);
        assert!((torque - found).abs() < 0.05, "{time}: {torque} {found}");
    }
}

/// Closed form: a rigid arm off its nominal trajectory by a small angle comes back as an oscillator of the frequency and damping
/// ratio asked for, whatever the trajectory; with gains by hand, of the frequency that they make.
#[test]
fn rigid_joints_follow_the_law() {
    // the integrator's tolerance over some hundred steps
    const TOLERANCE: f64 = 1e-8;
    let (frequency, ratio) = (6.0_f64, 0.4_f64);
    let inertia = 2.0 / 3.0;
    for law in [
        format!("computed_pd = {{ frequency_rad_per_s = {frequency}, damping_ratio = {ratio} }}"),
        format!(
            "joint_pd = {{ position_gain = [{}], rate_gain = [{}] }}",
            inertia * frequency * frequency,
            2.0 * inertia * ratio * frequency
        ),
    ] {
        let spec = parsed(&format!(
            "format = 1\n[[body]]\nname = \"arm\"\n\
             rigid = {{ mass_kg = 2.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, {one}, {one}] }}\n\
             [[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"arm\"\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = 0.05 }}\n\
             [[input]]\njoint = \"hub\"\nrigid_inverse_dynamics.cycloid = {{ initial_angle_rad = 0.0, \
             final_angle_rad = 1.0, duration_s = 1.0 }}\n\
             [[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n{law}\n\
             [simulation]\nduration_s = 1.0\nintegrator.dop853 = {{ rtol = 1e-10, atol = 1e-12 }}\n",
            one = 2.0 / 3.0 - 2.0 * 0.25
        ));
        let recording = simulated(&spec);
        for time in [0.3, 0.7, 1.0] {
            let tau = std::f64::consts::TAU;
            let nominal = time - (tau * time).sin() / tau;
            let damped = frequency * (1.0 - ratio * ratio).sqrt();
            let wanted = 0.05
                * (-ratio * frequency * time).exp()
                * ((damped * time).cos() + ratio * frequency / damped * (damped * time).sin());
            let found = value_at(&recording, "hub.angle", time) - nominal;
            assert!(
                (found - wanted).abs() < TOLERANCE,
                "{time}: {found} {wanted}"
            );
        }
    }
}

/// Second formulation: the same perturbation run in nodes, from the same file, open loop and closed.
#[test]
fn formulations_agree() {
    // of 0.05 m: undamped high modes are not resolved alike by four modes and four elements
    const AGREEMENT_M: f64 = 1e-3;
    let servo = "[[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
                 computed_pd = { frequency_rad_per_s = 1.45, damping_ratio = 0.9 }\n";
    for controller in ["", servo] {
        let spec = beam(&format!(
            "[[input]]\njoint = \"hub\"\nrigid_inverse_dynamics.cycloid = \
             {{ final_angle_rad = 1.5707963267948966, duration_s = 5.0 }}\n{controller}\
             [simulation]\nduration_s = 3.0\nintegrator.dop853 = {{ rtol = 1e-7, atol = 1e-9 }}\n\
             [output]\nsample_period_s = 0.5\n"
        ));
        let [tree, nodes] = [None, Some(4)].map(|elements| {
            let mechanism = built(&spec, elements);
            let found = along(&mechanism, 101);
            assert_eq!(found.driven, [0]);
            perturbed(&mechanism, &found, 0, OutputOrder::Second)
        });
        let mut largest = 0.0_f64;
        for axis in ["x", "y"] {
            for time in [0.5, 1.5, 3.0] {
                let channel = format!("tip.deviation.{axis}");
                let (a, b) = (
                    value_at(&tree, &channel, time),
                    value_at(&nodes, &channel, time),
                );
                assert!((a - b).abs() < AGREEMENT_M, "{channel} {time}: {a} {b}");
                largest = largest.max(b.abs());
            }
        }
        assert!(largest > 0.05, "{largest}");
    }
}

/// Closed form: a joint under feedback starts where it is written, and its beam sags from there as a clamped one, μgL⁴/8EI.
#[test]
fn a_start_in_equilibrium_holds_joints_under_feedback() {
    // six eigenfunctions leave 2e-5 of the sag out, and slopes of 2e-3 count by their squares
    const DIGITS: f64 = 1e-4;
    let spec = parsed(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -10.0, 0.0]
[[body]]
name = "boom"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1000.0
basis = { clamped_free = { bending_y = 6 } }
[[joint]]
name = "hinge"
parent = "ground"
child = "boom"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.0
[[controller]]
name = "servo"
joints = ["hinge"]
joint_pd = { position_gain = [100.0], rate_gain = [1.0] }
[[marker]]
name = "tip"
body = "boom"
at = "tip"
[simulation]
duration_s = 0.01
initial = "equilibrium"
[output]
sample_period_s = 0.01
"#,
    );
    for recording in [simulated(&spec), in_nodes(&spec, 4).recording] {
        assert_eq!(value_at(&recording, "hinge.angle", 0.0), 0.0);
        let sag = value_at(&recording, "tip.position.y", 0.0);
        let clamped = -10.0 / (8.0 * 1000.0);
        assert!((sag - clamped).abs() < DIGITS * clamped.abs(), "{sag}");
    }
}

const RIGID_ARM: &str = "format = 1\ngravity_m_per_s2 = [0, -9.81, 0]\n\
    [[body]]\nname = \"upper\"\nrigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.3, 0.3] }\n\
    [[body]]\nname = \"fore\"\nrigid = { mass_kg = 1.0, center_of_mass_m = [0.4, 0, 0], inertia_kg_m2 = [0.1, 0.2, 0.2] }\n\
    [[joint]]\nname = \"shoulder\"\nparent = \"ground\"\nchild = \"upper\"\n\
    revolute = { axis = [0, 0, 1], initial_angle_rad = 0.3, initial_rate_rad_per_s = -1.0 }\n\
    [[joint]]\nname = \"elbow\"\nparent = { body = \"upper\", position_m = [1, 0, 0] }\nchild = \"fore\"\n";

/// Second way: a rigid mechanism under given torques has no deviation from its nominal motion, which is that of a run: a chain of
/// hinges, one with a ball, one that floats, and a loop, torques that jump on the way.
#[test]
fn torques_without_a_motion_are_followed_by_forward_dynamics() {
    // tolerances of either integration
    const SAME: f64 = 1e-7;
    let hinge = "revolute = { axis = [0, 0, 1], initial_rate_rad_per_s = 2.0 }\n";
    let ball = "spherical = { initial_rotation_vector_rad = [0, 0.4, 0.2], initial_angular_velocity_rad_per_s = [1.0, 2.0, -1.0] }\n";
    let floating = "[[body]]\nname = \"base\"\nrigid = { mass_kg = 5.0, inertia_kg_m2 = [1, 2, 3] }\n\
        [[joint]]\nname = \"float\"\nparent = \"ground\"\nchild = \"base\"\n\
        free = { initial_angular_velocity_rad_per_s = [0.5, 1.0, -0.5], initial_velocity_m_per_s = [1, 0, 0] }\n";
    let rest = "[[marker]]\nname = \"hand\"\nbody = \"fore\"\nposition_m = [0.8, 0, 0]\n\
        [[input]]\njoint = \"shoulder\"\ntorque_step = { value_n_m = 15.0, until_s = 0.3 }\n\
        [simulation]\nduration_s = 0.6\nintegrator.dop853 = { rtol = 1e-10, atol = 1e-12 }\n\
        [output]\nsample_period_s = 0.05\n";
    let on_base = RIGID_ARM.replace(
        "parent = \"ground\"\nchild = \"upper\"",
        "parent = \"base\"\nchild = \"upper\"",
    );
    let models = [
        format!("{RIGID_ARM}{hinge}{rest}"),
        format!("{RIGID_ARM}{ball}{rest}"),
        format!("{on_base}{hinge}{floating}{rest}"),
    ];
    for (index, text) in models.iter().enumerate() {
        let spec = parsed(text);
        for elements in [None, Some(1)] {
            let mechanism = built(&spec, elements);
            let linear = perturbed(&mechanism, &along(&mechanism, 13), 0, OutputOrder::Second);
            let run = completed(mechanism.run(&linear.time_s)).recording;
            for axis in ["x", "y", "z"] {
                let of = |recording: &Recording, what: &str| {
                    let name = format!("hand.{what}.{axis}");
                    recording.channel(&name).unwrap().samples.clone()
                };
                let nominal = of(&linear, "position");
                for (found, wanted) in nominal.iter().zip(of(&run, "position")) {
                    assert!(
                        (found - wanted).abs() < SAME,
                        "{index} {elements:?} {axis}: {found} {wanted}"
                    );
                }
                for deviation in of(&linear, "deviation") {
                    assert!(
                        deviation.abs() < SAME,
                        "{index} {elements:?} {axis}: {deviation}"
                    );
                }
            }
        }
    }
}

/// Reference: deviations are linear in the bend at the start, as the equations of Pan, Scott & Ulsoy are. The beam that slides over
/// two supports has the deflections of their four elements, exact in time; the run, which bends through 14 mm on the way, ends elsewhere.
#[test]
fn a_sliding_beam_deviates_in_proportion_to_its_bend() {
    // in mm at every tenth of the run, with the digits of the reference
    const LINEAR_MM: [f64; 10] = [
        10.1664, 10.7218, 11.4375, 14.2975, 14.0498, -6.7637, 2.1630, -0.8782, -0.5991, 0.4416,
    ];
    const DIGITS_MM: f64 = 1e-3;
    // three hundredths of the bend at the start
    const STATED_MM: f64 = 0.3;
    const END_OF_THE_RUN_MM: f64 = 0.280;
    let spec = changed(SLIDING_BEAM, &["output.sample_period_s=0.07"]);
    let mechanism = mechanism(&spec);
    let options = PerturbOptions {
        terms: Terms::CASES[0],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::Second,
    };
    let samples = sample_instants(&spec, &[]);
    let mut watch = |_| Flow::Continue;
    let linearized = along(&mechanism, 401);
    let done = mechanism.perturb(&linearized, &samples, options, &mut watch);
    let done = done.unwrap();
    let rear = |channel: &Channel| channel.name == "rear.position.y";
    let at = done.recording.channels.iter().position(rear).unwrap();
    let stated_mm = 1e3 * done.interpolation_error.unwrap()[at];
    assert!(stated_mm < STATED_MM, "{stated_mm}");
    let found = &done.recording.channels[at].samples;
    for (found, expected) in found[1..].iter().zip(LINEAR_MM) {
        let apart = (1e3 * found - expected).abs();
        assert!(apart < DIGITS_MM + stated_mm, "{found} {expected}");
    }
    let run = completed(mechanism.run(&samples));
    let end_mm = 1e3 * last(&run.recording, "rear.position.y");
    assert!((end_mm - END_OF_THE_RUN_MM).abs() < DIGITS_MM, "{end_mm}");
}

/// What is left out falls to a sixteenth, or below, where bodies are four times as stiff, but for orders beyond the second; at first order to a fourth.
const SECOND_ORDER: f64 = 12.0;

/// Order of convergence: what linear equations leave out is of second order in the deviation, also where a support and a beam carry a load
/// that either of them could carry alone.
#[test]
fn beams_on_supports_deviate_to_second_order() {
    let left_out = |times: f64| -> [f64; 2] {
        let stiffness = |plane: &str, value: f64| {
            let value = times * value;
            format!("body.boom.beam.bending_stiffness_{plane}_n_m2={value:?}")
        };
        let (y, z) = (stiffness("y", 40.0), stiffness("z", 25.0));
        let spec = changed(
            SLIDING_BOOM_SPATIAL,
            &[
                "body.boom.beam.basis={clamped_free={bending_y=2,bending_z=2}}",
                &y,
                &z,
                "simulation.duration_s=0.5",
                "simulation.integrator.dop853.rtol=1e-9",
                "output.sample_period_s=0.1",
            ],
        );
        let mechanism = mechanism(&spec);
        let linear = perturbed(&mechanism, &along(&mechanism, 161), 0, OutputOrder::Second);
        let run = completed(mechanism.run(&sample_instants(&spec, &[])));
        ["slide.displacement", "swing.angle"]
            .map(|name| (last(&linear, name) - last(&run.recording, name)).abs())
    };
    let (soft, stiff) = (left_out(4.0), left_out(16.0));
    for (soft, stiff) in soft.into_iter().zip(stiff) {
        assert!(soft > SECOND_ORDER * stiff, "{soft} {stiff}");
    }
}

/// Order of convergence: torques that jump leave nothing of first order out where no vibration begins with them, in an arm that nothing holds
/// on its motion.
#[test]
fn free_arms_deviate_to_second_order_without_vibrations() {
    let left_out = |stiffness: f64| -> [f64; 2] {
        let beam = |name: &str| {
            format!(
                "[[body]]\nname = \"{name}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\n\
                 bending_stiffness_y_n_m2 = {stiffness:?}\nbasis = {{ clamped_free = {{ bending_y = 2 }} }}\n"
            )
        };
        let joint = |name: &str, parent: &str, child: &str, torque: f64| {
            format!(
                "[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = \"{child}\"\nrevolute = {{ axis = [0, 0, 1] }}\n\
                 [[input]]\njoint = \"{name}\"\ntorque_step = {{ value_n_m = {torque:?} }}\n"
            )
        };
        let spec = parsed(&format!(
            "format = 1\n{}{}{}{}[simulation]\nduration_s = 0.5\ninitial = \"quasi_static\"\n\
             integrator.dop853 = {{ rtol = 1e-9, atol = 1e-12 }}\n[output]\nsample_period_s = 0.1\n",
            beam("upper"),
            beam("fore"),
            joint("shoulder", "\"ground\"", "upper", 5.0),
            joint("elbow", "{ body = \"upper\", at = \"tip\" }", "fore", 1.0),
        ));
        let mechanism = mechanism(&spec);
        let linear = perturbed(&mechanism, &along(&mechanism, 41), 0, OutputOrder::Second);
        let run = completed(mechanism.run(&sample_instants(&spec, &[])));
        ["shoulder.angle", "elbow.angle"]
            .map(|name| (last(&linear, name) - last(&run.recording, name)).abs())
    };
    let (soft, stiff) = (left_out(400.0), left_out(1600.0));
    for (soft, stiff) in soft.into_iter().zip(stiff) {
        assert!(soft > SECOND_ORDER * stiff, "{soft} {stiff}");
    }
}

/// Words: a start that cannot be expressed in the coordinates of the nominal motion is told, and no run begins with what is no number.
#[test]
fn starts_that_are_no_deviations_are_told() {
    let spec = changed(SLIDING_BEAM, &[]);
    let mechanism = mechanism(&spec);
    let mut linearized = along(&mechanism, 41);
    assert!(linearized.start().is_some());
    linearized.initial[1][0] = f64::NAN;
    assert!(linearized.start().is_none());
    let options = PerturbOptions {
        terms: Terms::CASES[0],
        interpolation: Interpolation::Matrices,
        order: OutputOrder::First,
    };
    let done = mechanism.perturb(&linearized, &[0.0, 0.1], options, &mut |_| Flow::Continue);
    let told = done.err().unwrap().to_string();
    assert!(
        told.contains("independent coordinates of the nominal motion at t = 0 s"),
        "{told}"
    );
}
