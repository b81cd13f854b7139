//! Inverse dynamics of flexible arms: zeros against those of the response, and torques replayed in the nonlinear model.

use std::fmt::Write as _;

use lissom::inverse::{
    Compensation, FlexibleInverse, FlexibleOptions, InverseError, flexible_inverse_dynamics,
    inverse_dynamics,
};
use lissom::{
    Flow, LinearError, Mechanism, ModelSpec, OperatingPoint, Recording, SimulateOptions, State,
    Transfer, sample_instants,
};

/// Share of the tip error of rigid torques that those of an inversion may leave.
const LEFT: f64 = 0.1;

/// A beam of 1 m that turns about its root, with a load at its tip, which moves by a radian after 0.6 s of rest.
const BEAM: &str = r#"
format = 1
[[body]]
name = "arm"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 25.0
basis.clamped_free = { bending_y = 2 }
[[joint]]
name = "hinge"
parent = "ground"
child = "arm"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
[[payload]]
name = "load"
body = "arm"
mass_kg = 0.2
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
[[marker]]
name = "tip"
body = "arm"
[simulation]
duration_s = 2.0
integrator.dop853 = { rtol = 1e-8, atol = 1e-10 }
[output]
sample_period_s = 0.002
"#;

const BEAM_MOTION: &str = r#"
[[input]]
joint = "hinge"
rigid_inverse_dynamics.quintic = { final_angle_rad = 1.0, from_s = 0.6, duration_s = 0.7 }
"#;

/// Two such links that hang in gravity, so that torques without feedback hold them, and move their tip along a line.
const TWO_LINKS: &str = r#"
format = 1
gravity_m_per_s2 = [3.0, 4.5, 0.0]
[[body]]
name = "upper"
damping.modal_ratio = 0.01
[body.beam]
length_m = 0.6
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 150.0
basis.clamped_free = { bending_y = 2 }
[[body]]
name = "lower"
damping.modal_ratio = 0.01
[body.beam]
length_m = 0.5
mass_per_length_kg_per_m = 0.7
bending_stiffness_y_n_m2 = 80.0
basis.clamped_free = { bending_y = 2 }
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.3
[[joint]]
name = "elbow"
parent = "upper"
child = "lower"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.9
[[payload]]
name = "load"
body = "lower"
mass_kg = 0.2
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
[[marker]]
name = "tip"
body = "lower"
[simulation]
duration_s = 1.8
integrator.dop853 = { rtol = 1e-8, atol = 1e-10 }
[output]
sample_period_s = 0.002
"#;

const TWO_LINKS_MOTION: &str = r#"
[[input]]
joint = "shoulder"
nominal_motion = true
[[input]]
joint = "elbow"
nominal_motion = true
[nominal_motion]
marker = "tip"
[nominal_motion.path]
line = { to_m = [0.5, 0.9, 0.0] }
distance.quintic = { from_s = 0.5, duration_s = 0.7 }
"#;

fn mechanism(text: &str) -> (ModelSpec, Mechanism) {
    let spec = ModelSpec::parse(text, &[]).unwrap();
    let mechanism = Mechanism::build(&spec).unwrap();
    (spec, mechanism)
}

fn inverted(text: &str, compensation: Compensation) -> Result<FlexibleInverse, InverseError> {
    let (spec, mechanism) = mechanism(text);
    let options = FlexibleOptions {
        marker: None,
        compensation,
    };
    let times = sample_instants(&spec, &[]);
    flexible_inverse_dynamics(&mechanism, &times, &options, &mut |_| Flow::Continue)
}

/// A model under torques of a recording instead of its inputs, from a state or where it rests under gravity.
fn replayed(model: &str, drives: &[&str], torques: &Recording, start: Option<&State>) -> Recording {
    let mut text = model.to_owned();
    for drive in drives {
        let torque = torques.channel(&format!("{drive}.torque")).unwrap();
        let _ = write!(
            text,
            "[[input]]\njoint = \"{drive}\"\ntorque_table = {{ time_s = {:?}, value_n_m = {:?} }}\n",
            torques.time_s, torque.samples
        );
    }
    let (spec, mechanism) = mechanism(&text);
    let rest = || mechanism.equilibrium(&mechanism.written()).unwrap().state;
    let start = start.cloned().unwrap_or_else(rest);
    let samples = sample_instants(&spec, &[]);
    let options = SimulateOptions {
        samples: &samples,
        channels: None,
        most_lengths: f64::INFINITY,
    };
    let run = mechanism.simulate(&start, &spec.simulation, &options, &mut |_| Flow::Continue);
    assert_eq!(run.recording.time_s.len(), samples.len());
    run.recording
}

/// Largest distance of the tip from where it would be with rigid links.
fn tip_error(run: &Recording, wanted: impl Fn(f64) -> [f64; 2]) -> f64 {
    let [x, y] = ["x", "y"].map(|axis| {
        &run.channel(&format!("tip.position.{axis}"))
            .unwrap()
            .samples
    });
    let errors = run
        .time_s
        .iter()
        .zip(x.iter().zip(y))
        .map(|(&time, (x, y))| {
            let [a, b] = wanted(time);
            (x - a).hypot(y - b)
        });
    errors.fold(0.0, f64::max)
}

fn quintic(time: f64, from: f64, duration: f64) -> f64 {
    let s = ((time - from) / duration).clamp(0.0, 1.0);
    s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
}

fn rigid_torques(text: &str) -> Recording {
    let (spec, mechanism) = mechanism(text);
    let times = sample_instants(&spec, &[]);
    let found = inverse_dynamics(&mechanism, &times, &mut |_| Flow::Continue);
    found.unwrap().recording
}

/// The classical beam: its zeros grow, so that the torque begins before the motion; replayed, the tip keeps its path ten times better than under
/// the torque of rigid bodies, and a causal inverse is refused.
#[test]
fn a_beam_is_moved_before_it_moves() {
    let text = [BEAM, BEAM_MOTION].concat();
    let found = inverted(&text, Compensation::Stable).unwrap();
    // half of the four zeros grow, none is at rest
    assert_eq!(found.growing_zeros.len(), 2, "{:?}", found.growing_zeros);
    assert!((found.rest_s - 0.6).abs() < 0.003, "{}", found.rest_s);
    assert!(
        found.pre_actuation_s < found.rest_s,
        "{}",
        found.pre_actuation_s
    );
    let torque = found.inverse.recording.channel("hinge.torque").unwrap();
    let before = found.inverse.recording.time_s.iter().zip(&torque.samples);
    let before = before.filter(|(time, _)| **time < 0.58);
    let most = before.map(|(_, torque)| torque.abs()).fold(0.0, f64::max);
    let peak = found.inverse.drives[0].effort.peak.value.abs();
    assert!(most > 0.01 * peak, "{most} {peak}");

    let wanted = |time: f64| {
        let angle = quintic(time, 0.6, 0.7);
        [angle.cos(), angle.sin()]
    };
    let drives = ["hinge"];
    let rigid = replayed(BEAM, &drives, &rigid_torques(&text), None);
    let own = replayed(BEAM, &drives, &found.inverse.recording, Some(&found.start));
    let [rigid, own] = [rigid, own].map(|run| tip_error(&run, wanted));
    assert!(own < LEFT * rigid, "{own} {rigid}");

    let refused = inverted(&text, Compensation::Causal).unwrap_err();
    assert!(
        matches!(refused, InverseError::Linear(LinearError::Growing { .. })),
        "{refused}"
    );
}

/// Second implementation: what grows are the transmission zeros of the response from the drive to the tip, where the arm stands.
#[test]
fn what_grows_are_the_zeros_of_the_response() {
    let text = [BEAM, BEAM_MOTION].concat();
    let found = inverted(&text, Compensation::Stable).unwrap();
    let (_, mechanism) = mechanism(&text);
    let from = mechanism.written();
    let at = OperatingPoint::Nominal;
    let linearized = mechanism
        .linearize(&from, at, &[0.0], &mut |_| Flow::Continue)
        .unwrap();
    let trajectory = &linearized.trajectory;
    let transfer = Transfer::new(trajectory, &trajectory.points()[0]).unwrap();
    let lateral = transfer.between(&[0], &[1]);
    let zeros = lateral.zeros(&mut || Ok(())).unwrap();
    let mut growing: Vec<f64> = zeros
        .iter()
        .map(|zero| zero.re)
        .filter(|x| *x > 1.0)
        .collect();
    growing.sort_by(f64::total_cmp);
    assert_eq!(growing.len(), found.growing_zeros.len(), "{zeros:?}");
    for (a, b) in growing.iter().zip(&found.growing_zeros) {
        // both from dense eigenvalues
        assert!(
            (a - b).abs() < 1e-7 * a,
            "{growing:?} {:?}",
            found.growing_zeros
        );
    }
}

/// Two links under gravity keep their tip on its line, with the load held from the beginning.
#[test]
fn two_links_keep_their_tip_on_its_line() {
    let text = [TWO_LINKS, TWO_LINKS_MOTION].concat();
    let drives = ["shoulder", "elbow"];
    let from = [
        0.6 * 0.3_f64.cos() + 0.5 * 1.2_f64.cos(),
        0.6 * 0.3_f64.sin() + 0.5 * 1.2_f64.sin(),
    ];
    let wanted = |time: f64| {
        let share = quintic(time, 0.5, 0.7);
        [0, 1].map(|axis| from[axis] + ([0.5, 0.9][axis] - from[axis]) * share)
    };
    let found = inverted(&text, Compensation::Stable).unwrap();
    let still = inverted(&text, Compensation::QuasiStatic).unwrap();
    // without compensation from where the torques of rigid links balance the arm, which sags
    let sagging = replayed(TWO_LINKS, &drives, &rigid_torques(&text), None);
    // from the same start, so that gravity is carried in both
    let rigid = replayed(
        TWO_LINKS,
        &drives,
        &rigid_torques(&text),
        Some(&found.start),
    );
    let own = replayed(
        TWO_LINKS,
        &drives,
        &found.inverse.recording,
        Some(&found.start),
    );
    let slow = replayed(
        TWO_LINKS,
        &drives,
        &still.inverse.recording,
        Some(&still.start),
    );
    let [sagging, rigid, own, slow] =
        [sagging, rigid, own, slow].map(|run| tip_error(&run, wanted));
    assert!(own < LEFT * rigid, "{own} {rigid}");
    assert!(slow < LEFT * sagging, "{slow} {sagging}");
    assert!(found.residual.value < 0.1 * found.deflection.value);
}

/// Elements replay their own inverse: in the nodal formulation, too, the tip keeps its path ten times better than under the torque of rigid bodies.
#[test]
fn elements_keep_the_tip_on_its_path() {
    let model = format!("formulation.nodal = {{ elements_per_link = 4 }}\n{BEAM}");
    let text = [&model, BEAM_MOTION].concat();
    let found = inverted(&text, Compensation::Stable).unwrap();
    let wanted = |time: f64| {
        let angle = quintic(time, 0.6, 0.7);
        [angle.cos(), angle.sin()]
    };
    let drives = ["hinge"];
    let rigid = replayed(&model, &drives, &rigid_torques(&text), None);
    let own = replayed(
        &model,
        &drives,
        &found.inverse.recording,
        Some(&found.start),
    );
    let [rigid, own] = [rigid, own].map(|run| tip_error(&run, wanted));
    assert!(own < LEFT * rigid, "{own} {rigid}");
}
