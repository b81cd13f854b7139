//! Tree and nodal formulation on the same models: they share the model file and nothing else.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

use lissom::integrate::{Control, Flow, Method, Observer, Schedule, integrate};
use lissom::mesh::{Acts, Mesh, MeshError};
use lissom::model::{Model, ModelSpec};
use lissom::nodal::{Dynamics, Equations};
use lissom::simulate::{Ending, run, sample_instants};

/// States at the samples.
#[derive(Default)]
struct States(Vec<Vec<f64>>);

impl Observer for States {
    fn sample(&mut self, _: f64, state: &[f64]) -> Flow {
        self.0.push(state.to_vec());
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}

fn by_tree(spec: &ModelSpec, marker: &str, instants: &[f64]) -> Vec<[f64; 3]> {
    let model = Model::build(spec).unwrap();
    let samples = sample_instants(spec, instants);
    let run = run(&model, &spec.simulation, &samples, None, &mut |_| {
        Flow::Continue
    });
    assert_eq!(run.ending, Ending::Completed);
    instants
        .iter()
        .map(|&time| {
            ["x", "y", "z"].map(|axis| {
                let name = format!("{marker}.position.{axis}");
                let channel = run.recording.channel(&name).unwrap();
                run.recording.value_at(channel, time).unwrap()
            })
        })
        .collect()
}

fn by_nodes(spec: &ModelSpec, elements: usize, marker: &str, instants: &[f64]) -> Vec<[f64; 3]> {
    let mesh = Mesh::new(spec, elements).unwrap();
    let acts = Acts::new(spec, &mesh).unwrap();
    let breakpoints = acts.breakpoints();
    let mut dynamics = Dynamics::new(Equations::new(&mesh.mechanism).unwrap(), acts);
    let mut state = mesh.initial_position();
    let positions = state.len();
    state.extend(mesh.initial_velocity());
    let control = Control {
        rtol: 1e-7,
        atol: vec![1e-9],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end: *instants.last().unwrap(),
        breakpoints: &breakpoints,
        samples: instants,
    };
    let mut states = States::default();
    integrate(
        Method::Radau,
        &control,
        &mut dynamics,
        &schedule,
        &mut state,
        &mut states,
    )
    .unwrap();
    let place = mesh.markers[marker].point;
    let mut tips = Vec::new();
    for (state, &time) in states.0.iter().zip(instants) {
        dynamics
            .set_state(time, &state[..positions], &state[positions..])
            .unwrap();
        tips.push(dynamics.equations().node(place).position.0);
    }
    tips
}

fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            squares.sqrt()
        })
        .fold(0.0, f64::max)
}

/// A shoulder and an elbow, links that bend in both planes and twist, split into `parts` bodies each,
/// driven by torques that would move it as a rigid arm.
fn arm(parts: usize, modes: usize) -> ModelSpec {
    use std::fmt::Write as _;
    let mut text = String::from("format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n");
    let mut parent = "ground".to_owned();
    for (link, axis) in [("upper", "[0, 0, 1]"), ("fore", "[0, 1, 0]")] {
        for part in 1..=parts {
            let joint = if part == 1 {
                format!("[joint.revolute]\naxis = {axis}\ninitial_angle_rad = 0.3\n")
            } else {
                "[joint.fixed]\n".to_owned()
            };
            write!(
                text,
                "\n[[body]]\nname = \"{link}_{part}\"\n[body.beam]\nlength_m = {length}\n\
                 mass_per_length_kg_per_m = 0.8\nbending_stiffness_y_n_m2 = 120.0\n\
                 bending_stiffness_z_n_m2 = 180.0\ntorsional_stiffness_n_m2 = 60.0\n\
                 section_inertia_y_kg_m = 2e-4\nsection_inertia_z_kg_m = 2e-4\n\
                 rotary_inertia = true\n\
                 basis.clamped_free = {{ bending_y = {modes}, bending_z = {modes}, torsion = {modes} }}\n\
                 [[joint]]\nname = \"{link}_joint_{part}\"\nparent = \"{parent}\"\n\
                 child = \"{link}_{part}\"\n{joint}",
                length = 1.0 / parts as f64,
            )
            .unwrap();
            parent = format!("{link}_{part}");
        }
        write!(
            text,
            "\n[[input]]\njoint = \"{link}_joint_1\"\n\
             [input.rigid_inverse_dynamics.cycloid]\ntarget_angle_rad = 1.1\nduration_s = 0.8\n"
        )
        .unwrap();
    }
    write!(
        text,
        "\n[[payload]]\nname = \"load\"\nbody = \"{parent}\"\nmass_kg = 0.5\n\
         inertia_kg_m2 = [1e-3, 1e-3, 1e-3]\n\
         \n[[marker]]\nname = \"hand\"\nbody = \"{parent}\"\n\
         \n[simulation]\nduration_s = 0.8\nintegrator.radau = {{ rtol = 1e-7, atol = 1e-9 }}\n"
    )
    .unwrap();
    toml::from_str(&text).unwrap()
}

#[test]
fn arm_in_space() {
    let instants = [0.2, 0.4, 0.6, 0.8];
    for elements in [2, 4, 8] {
        let begin = std::time::Instant::now();
        let t = by_nodes(&arm(1, 3), elements, "hand", &instants);
        eprintln!("nodal {elements} {t:?} {:?}", begin.elapsed());
    }
    for (parts, modes) in [(1, 3), (1, 5), (2, 3), (4, 2)] {
        let begin = std::time::Instant::now();
        let t = by_tree(&arm(parts, modes), "hand", &instants);
        eprintln!("tree {parts} {modes} {t:?} {:?}", begin.elapsed());
    }
}

#[test]
fn spin_up() {
    let spec: ModelSpec =
        toml::from_str(include_str!("../../../models/simo_1986/spin_up_beam.toml")).unwrap();
    let instants = [2.0, 5.0];
    let a = by_tree(&spec, "tip", &instants);
    let b = by_nodes(&spec, 8, "tip", &instants);
    eprintln!("{a:?} {b:?} {}", apart(&a, &b));
}

/// Property: what the nodal formulation does not know is refused by name.
#[test]
fn unknown_joints_are_named() {
    let text = include_str!("../../../models/examples/space_arm.toml");
    let spec: ModelSpec = toml::from_str(text).unwrap();
    let error = Mesh::new(&spec, 2).unwrap_err();
    assert!(matches!(error, MeshError::Unknown { .. }), "{error}");
}
