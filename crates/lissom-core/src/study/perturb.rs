//! Perturbation runs: vibrations about the nominal motion by the time-varying linear system, recorded as a run is.
//!
//! Jonker & Aarts (23)–(32), (41). The nominal motion with its inputs and stress resultants is that of a
//! [`Linearized`](super::Linearized) model; controllers feed back deviations; cases without inertia are quasi-static.

use nalgebra::DMatrix;

use lissom_spec::ModelSpec;
use lissom_spec::spec::{ControllerSpec, InitialSpec};

use super::{AnalysisError, Linearized};
use crate::action::ControlLaw;
use crate::integrator::Integrator;
use crate::recording::Recording;
use lissom_numerics::integrate::{Flow, IntegrateError, Observer, Schedule, Statistics, integrate};
use lissom_numerics::linear::{Along, Interpolation, Perturbed, Servo, Terms};

/// Choices of a perturbation run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerturbOptions {
    /// Which terms are taken.
    pub terms: Terms,
    /// What is interpolated between the points of linearisation.
    pub interpolation: Interpolation,
    /// Whether markers move to second order in the deviations.
    pub second_order: bool,
}

/// What a perturbation run leaves behind.
#[derive(Clone, Debug)]
pub struct PerturbedRun {
    /// Coordinates, rates, positions of markers and their deviations from the nominal ones, inputs.
    pub recording: Recording,
    /// What the integrator did; nothing in a quasi-static case.
    pub statistics: Statistics,
    /// Instant at which whoever watches stopped it.
    pub stopped_at: Option<f64>,
}

/// Runs the linear system of a model linearised along its nominal motion, recording at `samples`.
///
/// # Errors
/// When the linear system has no solution or the integrator gives up.
pub fn perturb(
    spec: &ModelSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<PerturbedRun, AnalysisError> {
    let along = &linearized.along;
    let servos = servos(spec, linearized)?;
    let start = spec.simulation.start_s;
    let steady = |time: f64| {
        let count = along.actuated().len();
        let mut gain = DMatrix::zeros(count, count);
        for servo in &servos {
            servo.add_position_gain(time, &mut gain);
        }
        along.steady(time, options.terms, Some(&gain))
    };
    let mut recorder = Recorder::new(along, servos.clone(), options.second_order, watch);
    if !options.terms.inertia {
        for &time in samples {
            let mut state = steady(time)?;
            state.resize(2 * state.len(), 0.0);
            if recorder.sample(time, &state) == Flow::Stop
                || recorder.step(time, &state) == Flow::Stop
            {
                return Ok(recorder.finish(Statistics::default(), Some(time)));
            }
        }
        return Ok(recorder.finish(Statistics::default(), None));
    }
    let mut state = match spec.simulation.initial {
        InitialSpec::Written => linearized.initial.concat(),
        InitialSpec::Equilibrium | InitialSpec::StaticLoad(_) => {
            let mut state = steady(start)?;
            state.resize(2 * state.len(), 0.0);
            state
        }
    };
    let mut system = Perturbed::new(along, servos, options.terms, options.interpolation)?;
    let end = start + spec.simulation.duration_s;
    let inside = |time: &f64| *time > start && *time < end;
    let breakpoints: Vec<f64> = (linearized.breakpoints.iter().copied())
        .filter(inside)
        .collect();
    let schedule = Schedule {
        start,
        end,
        breakpoints: &breakpoints,
        samples,
    };
    let (method, control) = Integrator::adaptive_of(&spec.simulation.integrator);
    let outcome = integrate(
        method,
        &control,
        &mut system,
        &schedule,
        &mut state,
        &mut recorder,
    );
    match outcome {
        Ok(outcome) => Ok(recorder.finish(outcome.statistics, outcome.stopped_at)),
        Err(error) => Err(failed(along, error)),
    }
}

fn failed(along: &Along, source: IntegrateError) -> AnalysisError {
    let labels = &along.labels().coordinates;
    let coordinate = source
        .component()
        .and_then(|component| labels.get(component % labels.len().max(1)))
        .map_or_else(|| "unknown".to_owned(), |label| label.name.clone());
    AnalysisError::Integration {
        source: Box::new(source),
        coordinate,
    }
}

/// The controllers of a model on the actuated coordinates.
fn servos(spec: &ModelSpec, linearized: &Linearized) -> Result<Vec<Servo>, AnalysisError> {
    let servo = |(controller, members): (&ControllerSpec, &Vec<usize>)| {
        let (along, members) = (&linearized.along, members.clone());
        // gains belong to joints by their place
        if members.len() < controller.joints.len() {
            return Some(Err(AnalysisError::SolvedFor {
                controller: controller.name.clone(),
            }));
        }
        Some(Ok(match ControlLaw::of(controller)? {
            ControlLaw::Joint { position, rate } => Servo::constant(members, &position, &rate),
            ControlLaw::Computed { frequency, damping } => {
                Servo::computed(along, members, frequency, damping)
            }
        }))
    };
    let controllers = spec.controller.iter();
    controllers
        .zip(&linearized.controlled)
        .filter_map(servo)
        .collect()
}

/// Records deviations as motion.
struct Recorder<'a, 'w> {
    along: &'a Along,
    servos: Vec<Servo>,
    second_order: bool,
    watch: &'w mut dyn FnMut(f64) -> Flow,
    recording: Recording,
    row: Vec<f64>,
}

impl<'a, 'w> Recorder<'a, 'w> {
    fn new(
        along: &'a Along,
        servos: Vec<Servo>,
        second_order: bool,
        watch: &'w mut dyn FnMut(f64) -> Flow,
    ) -> Self {
        let labels = along.labels();
        let mut names: Vec<(String, &str)> = Vec::new();
        for label in &labels.coordinates {
            names.push((label.name.clone(), label.unit));
        }
        for label in &labels.coordinates {
            names.push((format!("{}.rate", label.name), label.rate_unit));
        }
        for marker in &labels.markers {
            for what in ["position", "deviation"] {
                for axis in ["x", "y", "z"] {
                    names.push((format!("{marker}.{what}.{axis}"), "m"));
                }
            }
        }
        // inputs on actuated coordinates stand before those at markers
        for effort in labels.inputs.iter().take(along.actuated().len()) {
            names.push((effort.name.clone(), effort.unit));
        }
        Self {
            along,
            servos,
            second_order,
            watch,
            recording: Recording::with_capacity(names, 0),
            row: Vec::new(),
        }
    }

    fn finish(self, statistics: Statistics, stopped_at: Option<f64>) -> PerturbedRun {
        PerturbedRun {
            recording: self.recording,
            statistics,
            stopped_at,
        }
    }
}

impl Observer for Recorder<'_, '_> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        use lissom_numerics::linear::Feedback as _;
        let along = self.along;
        let n = state.len() / 2;
        let (deviation, rates) = state.split_at(n);
        let mut nominal = vec![0.0; n];
        self.row.clear();
        along.nominal(time, |point, i| point.position[i], &mut nominal);
        self.row
            .extend(nominal.iter().zip(deviation).map(|(a, b)| a + b));
        along.nominal(time, |point, i| point.velocity[i], &mut nominal);
        self.row
            .extend(nominal.iter().zip(rates).map(|(a, b)| a + b));
        for marker in 0..along.labels().markers.len() {
            let moved = along.displacement(marker, time, deviation, self.second_order);
            let mut place = [0.0; 3];
            along.nominal(
                time,
                |point, i| point.outputs[marker].position[i],
                &mut place,
            );
            self.row.extend((0..3).map(|i| place[i] + moved[i]));
            self.row.extend_from_slice(&moved.0);
        }
        let actuated = along.actuated();
        let pick = |x: &[f64]| -> Vec<f64> { actuated.iter().map(|&dof| x[dof]).collect() };
        let (mut input, mut effort) = (vec![0.0; actuated.len()], vec![0.0; actuated.len()]);
        along.input(time, &mut input);
        self.servos
            .effort(time, &pick(deviation), &pick(rates), &mut effort);
        self.row
            .extend(input.iter().zip(&effort).map(|(a, b)| a + b));
        self.recording.push(time, &self.row);
        Flow::Continue
    }

    fn step(&mut self, time: f64, _: &[f64]) -> Flow {
        (self.watch)(time)
    }
}
