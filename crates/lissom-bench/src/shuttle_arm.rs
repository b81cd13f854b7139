//! The Shuttle arm of \[Damaren & Sharf 1995, section 4.2\]: six joints and two flexible booms, 18 degrees of
//! freedom, with every inertial and elastic term and exact tips.

use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_engine::model::Model;
use lissom_engine::simulate::Equations;
use lissom_numerics::integrate::FirstOrder;
use lissom_spec::ModelSpec;
use lissom_tree::tree::{ArticulatedBody, Kinematics};

const MANOEUVRE: &str = include_str!("../../../models/damaren_1995/shuttle_arm.toml");

/// The arm as shipped, in manoeuvre I-f.
///
/// # Panics
/// If the shipped model cannot be read, which a test of the core would find first.
pub fn manoeuvre() -> ModelSpec {
    ModelSpec::parse(MANOEUVRE, &[]).expect("the shipped model can be read")
}

/// The model of a manoeuvre.
///
/// # Panics
/// If it cannot be built.
pub fn build(spec: &ModelSpec) -> Model {
    Model::build(spec).expect("the shipped model can be built")
}

/// The derivative of the state in mid-manoeuvre, with a little bending, as integrators call it.
pub struct Derivative<'m> {
    equations: Equations<'m>,
    time: f64,
    state: Vec<f64>,
    /// The last result.
    pub rate: Vec<f64>,
}

impl<'m> Derivative<'m> {
    /// Memory for `model`.
    pub fn new(model: &'m Model) -> Self {
        let equations = Equations::new(model);
        let mut state = equations.initial_state();
        let elastic = |c: &lissom_tree::Coordinate| {
            c.kind == lissom_tree::CoordinateKind::Elastic && c.unit == "m"
        };
        for (x, coordinate) in state.iter_mut().zip(equations.state_layout()) {
            if elastic(&coordinate) {
                *x = 0.01;
            }
        }
        let rate = vec![0.0; state.len()];
        Self {
            equations,
            time: 7.0,
            state,
            rate,
        }
    }

    /// One call, a little later than the last, so that nothing can be kept from it.
    pub fn call(&mut self) {
        self.time += 1e-9;
        self.equations
            .derivative(self.time, &self.state, &mut self.rate);
    }
}

/// The whole run with its recording and audit.
///
/// # Panics
///
/// If the model is not sound.
pub fn whole_run(spec: &ModelSpec) -> Run {
    let mechanism = Mechanism::build(spec).expect("a shipped model");
    mechanism.run(&sample_instants(spec, &[]))
}

/// Highest frequency in rad/s of small vibrations about the initial state, all joints free: the square root
/// of the largest eigenvalue of $`M^{-1}K`$, by power iteration with the mass matrix as an operator.
pub fn fastest_vibration(model: &Model) -> f64 {
    const ITERATIONS: usize = 200;
    let system = &model.linkage.system;
    let layout = system.layout();
    let n = system.velocity_count();
    let mut kinematics = Kinematics::new(system);
    let mut articulated = ArticulatedBody::new(system);
    kinematics.update(system, &model.initial_position, &model.initial_velocity);
    articulated.factor(system, &kinematics);
    let mut shape: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut force = vec![0.0; n];
    let mut eigenvalue = 0.0;
    for _ in 0..ITERATIONS {
        let length = shape.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in &mut shape {
            *x /= length;
        }
        force.fill(0.0);
        for (k, body) in system.bodies().iter().enumerate() {
            let Some(flexible) = &body.flexible else {
                continue;
            };
            let (first, modes) = (layout.elastic_velocity[k], body.modes());
            for i in 0..modes {
                for j in 0..modes {
                    force[first + i] += flexible.stiffness[i * modes + j] * shape[first + j];
                }
            }
        }
        let before = shape.clone();
        articulated.solve(system, &kinematics, &force, &mut shape);
        eigenvalue = before.iter().zip(&shape).map(|(x, y)| x * y).sum();
    }
    eigenvalue.sqrt()
}
