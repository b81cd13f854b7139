//! Tree and nodal formulation on the same models: they share the model file and nothing else.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

use lissom::integrate::{
    Control, FixedStep, Flow, Method, Observer, Schedule, Scheme, integrate, integrate_second_order,
};
use lissom::mesh::{Acts, Mesh, MeshError};
use lissom::model::{Model, ModelSpec};
use lissom::nodal::{Dynamics, Equations};
use lissom::simulate::{Ending, run, sample_instants};

/// Step of the nodal runs: a thirtieth of the shortest period that matters.
const STEP_S: f64 = 2e-3;

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

fn by_nodes(
    spec: &ModelSpec,
    elements: usize,
    step: Option<f64>,
    marker: &str,
    instants: &[f64],
) -> Vec<[f64; 3]> {
    let mesh = Mesh::new(spec, elements).unwrap();
    let acts = Acts::new(spec, &mesh).unwrap();
    let breakpoints = acts.breakpoints();
    let mut dynamics = Dynamics::new(Equations::new(&mesh.mechanism).unwrap(), acts);
    let mut position = mesh.initial_position();
    let positions = position.len();
    let mut velocity = mesh.initial_velocity();
    let schedule = Schedule {
        start: 0.0,
        end: *instants.last().unwrap(),
        breakpoints: &breakpoints,
        samples: instants,
    };
    let mut states = States::default();
    if let Some(step) = step {
        let options = FixedStep {
            step,
            tolerance: 1e-6,
            max_iterations: 10,
        };
        let scheme = Scheme::GeneralizedAlpha {
            spectral_radius: 0.8,
        };
        integrate_second_order(
            scheme,
            &options,
            &mut dynamics,
            &schedule,
            &mut position,
            &mut velocity,
            &mut states,
        )
        .unwrap();
    } else {
        let control = Control {
            rtol: 1e-6,
            atol: vec![1e-8],
            initial_step: None,
            max_step: None,
            max_steps: 1_000_000,
        };
        let mut state = [position, velocity].concat();
        let method = Method::Dop853;
        integrate(
            method,
            &control,
            &mut dynamics,
            &schedule,
            &mut state,
            &mut states,
        )
        .unwrap();
    }
    let dofs = mesh.mechanism.dof_count();
    let place = mesh.markers[marker].point;
    let mut tips = Vec::new();
    for (state, &time) in states.0.iter().zip(instants) {
        dynamics
            .set_state(
                time,
                &state[..positions],
                &state[positions..positions + dofs],
            )
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

/// A shoulder and an elbow, links that bend in both planes and twist, driven by torques that would move
/// it as a rigid arm.
fn arm(modes: usize) -> ModelSpec {
    use std::fmt::Write as _;
    let mut text = String::from("format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n");
    let mut parent = "ground";
    for (link, axis) in [("upper", "[0, 0, 1]"), ("fore", "[0, 1, 0]")] {
        write!(
            text,
            "\n[[body]]\nname = \"{link}\"\n[body.beam]\nlength_m = 1.0\n\
             mass_per_length_kg_per_m = 0.8\nbending_stiffness_y_n_m2 = 120.0\n\
             bending_stiffness_z_n_m2 = 180.0\ntorsional_stiffness_n_m2 = 60.0\n\
             section_inertia_y_kg_m = 2e-4\nsection_inertia_z_kg_m = 2e-4\n\
             basis.clamped_free = {{ bending_y = {modes}, bending_z = {modes}, torsion = {modes} }}\n\
             \n[[joint]]\nname = \"{link}_joint\"\nparent = \"{parent}\"\nchild = \"{link}\"\n\
             [joint.revolute]\naxis = {axis}\ninitial_angle_rad = 0.3\n\
             \n[[input]]\njoint = \"{link}_joint\"\n\
             [input.rigid_inverse_dynamics.cycloid]\nfinal_angle_rad = 1.1\nduration_s = 0.8\n"
        )
        .unwrap();
        parent = link;
    }
    text.push_str(
        "\n[[payload]]\nname = \"load\"\nbody = \"fore\"\nmass_kg = 0.5\n\
         inertia_kg_m2 = [1e-3, 1e-3, 1e-3]\n\
         \n[[marker]]\nname = \"hand\"\nbody = \"fore\"\n\
         \n[simulation]\nduration_s = 0.4\nintegrator.radau = { rtol = 1e-6, atol = 1e-8 }\n",
    );
    toml::from_str(&text).unwrap()
}

/// Two formulations: an arm in space that sags and swings by a fifth of its length. The tree keeps
/// deformation to second order in slopes of a fifth, so that a hundredth of the deflection is at stake.
#[test]
fn flexible_arm_in_space() {
    const AGREEMENT_M: f64 = 0.01;
    let instants = [0.2, 0.4];
    let spec = arm(3);
    let tree = by_tree(&spec, "hand", &instants);
    let nodes = by_nodes(&spec, 2, None, "hand", &instants);
    let difference = apart(&tree, &nodes);
    assert!(difference < AGREEMENT_M, "{tree:?} {nodes:?}");
}

/// Two formulations: the beam of Simo & Vu-Quoc on its way up. Three modes without stretch against eight
/// elements: half a per cent of the deflection of 0.47 m.
#[test]
fn spin_up_beam() {
    const AGREEMENT_M: f64 = 0.005 * 0.47;
    let text = include_str!("../../../models/simo_1986/spin_up_beam.toml");
    let spec: ModelSpec = toml::from_str(text).unwrap();
    let instants = [2.0, 5.0];
    let tree = by_tree(&spec, "tip", &instants);
    let nodes = by_nodes(&spec, 8, Some(STEP_S), "tip", &instants);
    assert!(apart(&tree, &nodes) < AGREEMENT_M, "{tree:?} {nodes:?}");
}

/// Property: what the nodal formulation does not know is refused by name.
#[test]
fn unknown_joints_are_named() {
    let text = include_str!("../../../models/examples/space_arm.toml");
    let spec: ModelSpec = toml::from_str(text).unwrap();
    let error = Mesh::new(&spec, 2).unwrap_err();
    assert!(matches!(error, MeshError::Unknown { .. }), "{error}");
}
