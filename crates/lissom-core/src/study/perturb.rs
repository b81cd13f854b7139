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
use lissom_numerics::linear::{
    Feedback as _, Interpolation, Label, LinearizedTrajectory, Perturbed, Servo, Terms,
};

/// Deviation with which a perturbation run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// That of the state that the study begins at.
    AtState,
    /// The same, but of a model that begins in equilibrium the one that stays by the linear equations: what inputs drive
    /// without feedback is held.
    AsModel,
}

/// Choices of a perturbation run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerturbOptions {
    /// Which terms are taken.
    pub terms: Terms,
    /// What is interpolated between the points of linearisation.
    pub interpolation: Interpolation,
    /// Whether markers move to second order in the deviations.
    pub second_order: bool,
    /// With which deviation it begins.
    pub begins: Begins,
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

/// Deviation of an angle up to which linear equations are taken at their word: sine and cosine are then off by a sixth and a half.
const LARGE_RAD: f64 = 1.0;

/// Runs the linear system of a model linearised along its nominal motion from its first instant on, recording at `samples`.
///
/// # Errors
/// When the linear system has no solution, holds no more or the integrator gives up.
pub fn perturb(
    spec: &ModelSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<PerturbedRun, AnalysisError> {
    let stretches: Vec<&LinearizedTrajectory> = linearized.stretches().collect();
    let starts = stretches.iter().map(|along| along.points().first());
    let starts: Vec<f64> = starts
        .map(|point| point.map_or(f64::NAN, |point| point.time))
        .collect();
    let end = spec.simulation.start_s + spec.simulation.duration_s;
    let mut recorder = Recorder::new(linearized, options.second_order, watch);
    let mut state = linearized.initial.concat();
    let mut statistics = Statistics::default();
    for (index, &along) in stretches.iter().enumerate() {
        let (start, until) = (starts[index], starts.get(index + 1).copied().unwrap_or(end));
        // an instant between two stretches belongs to the one before
        let own = |time: &&f64| (index == 0 || **time > start) && **time <= until;
        let samples: Vec<f64> = samples.iter().filter(own).copied().collect();
        if index > 0 {
            state = linearized.further[index - 1].carried(stretches[index - 1], &state);
        }
        recorder.enter(along, servos(spec, along, &linearized.controlled)?);
        let rests = options.begins == Begins::AsModel
            && spec.simulation.initial == InitialSpec::Equilibrium;
        if index == 0 && rests && options.terms.inertia {
            state = recorder.steady(start, options.terms, &uncontrolled(linearized))?;
            state.resize(2 * state.len(), 0.0);
        }
        if !options.terms.inertia {
            for &time in &samples {
                let mut state = recorder.steady(time, options.terms, &[])?;
                state.resize(2 * state.len(), 0.0);
                if recorder.sample(time, &state) == Flow::Stop
                    || recorder.step(time, &state) == Flow::Stop
                {
                    return recorder.finish(statistics, Some(time));
                }
            }
            continue;
        }
        let servos = recorder.servos.clone();
        let mut system = Perturbed::new(along, servos, options.terms, options.interpolation)?;
        let inside = |time: &f64| *time > start && *time < until;
        let breakpoints = linearized.breakpoints.iter().copied().filter(inside);
        let breakpoints: Vec<f64> = breakpoints.collect();
        let schedule = Schedule {
            start,
            end: until,
            breakpoints: &breakpoints,
            samples: &samples,
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
        let outcome = outcome.map_err(|error| failed(along, error))?;
        statistics = statistics.and(outcome.statistics);
        if outcome.stopped_at.is_some() {
            return recorder.finish(statistics, outcome.stopped_at);
        }
    }
    recorder.finish(statistics, None)
}

/// Coordinates that inputs drive and no controller leads.
pub(super) fn uncontrolled(linearized: &Linearized) -> Vec<usize> {
    let actuated = linearized.along.actuated();
    let is_led = |dof: &usize| {
        let mut led = linearized.controlled.iter().flatten();
        led.any(|&place| actuated[place] == *dof)
    };
    let driven = linearized.driven.iter().copied();
    driven.filter(|dof| !is_led(dof)).collect()
}

fn failed(along: &LinearizedTrajectory, source: IntegrateError) -> AnalysisError {
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
pub(super) fn servos(
    spec: &ModelSpec,
    along: &LinearizedTrajectory,
    controlled: &[Vec<usize>],
) -> Result<Vec<Servo>, AnalysisError> {
    let servo = |(controller, members): (&ControllerSpec, &Vec<usize>)| {
        let members = members.clone();
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
    controllers.zip(controlled).filter_map(servo).collect()
}

/// Records deviations as motion.
struct Recorder<'a, 'w> {
    along: &'a LinearizedTrajectory,
    servos: Vec<Servo>,
    second_order: bool,
    watch: &'w mut dyn FnMut(f64) -> Flow,
    recording: Recording,
    row: Vec<f64>,
    /// Set when the linear equations hold no more.
    failure: Option<AnalysisError>,
}

impl<'a, 'w> Recorder<'a, 'w> {
    fn new(
        linearized: &'a Linearized,
        second_order: bool,
        watch: &'w mut dyn FnMut(f64) -> Flow,
    ) -> Self {
        let along = &linearized.along;
        let labels = along.labels();
        let mut names: Vec<(String, &str)> = Vec::new();
        for label in &linearized.coordinates {
            names.push((label.name.clone(), label.unit));
        }
        for label in &linearized.coordinates {
            names.push((format!("{}.rate", label.name), label.rate_unit));
        }
        for marker in &labels.markers {
            for what in ["position", "deviation"] {
                for axis in ["x", "y", "z"] {
                    names.push((format!("{marker}.{what}.{axis}"), "m"));
                }
            }
        }
        for &input in &linearized.actuated_inputs {
            let effort = &labels.inputs[input];
            names.push((effort.name.clone(), effort.unit));
        }
        Self {
            along,
            servos: Vec::new(),
            second_order,
            watch,
            recording: Recording::with_capacity(names, 0),
            row: Vec::new(),
            failure: None,
        }
    }

    /// Goes on along a stretch of the motion.
    fn enter(&mut self, along: &'a LinearizedTrajectory, servos: Vec<Servo>) {
        (self.along, self.servos) = (along, servos);
    }

    /// Deviations that stay if nothing accelerates, some coordinates held.
    fn steady(&self, time: f64, terms: Terms, held: &[usize]) -> Result<Vec<f64>, AnalysisError> {
        let count = self.along.actuated().len();
        let mut gain = DMatrix::zeros(count, count);
        for servo in &self.servos {
            servo.add_position_gain(time, &mut gain);
        }
        Ok((self.along).steady_holding(time, terms, Some(&gain), held)?)
    }

    fn finish(
        self,
        statistics: Statistics,
        stopped_at: Option<f64>,
    ) -> Result<PerturbedRun, AnalysisError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(PerturbedRun {
                recording: self.recording,
                statistics,
                stopped_at,
            }),
        }
    }
}

impl Observer for Recorder<'_, '_> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        let along = self.along;
        let (deviation, rates) = state.split_at(state.len() / 2);
        self.row.clear();
        for values in along.motion(time, deviation, rates) {
            self.row.extend(values);
        }
        for marker in 0..along.labels().markers.len() {
            let moved = along.displacement(marker, time, deviation, self.second_order);
            let mut place = [0.0; 3];
            along.nominal(
                time,
                |point, i| point.outputs[marker].position[i],
                &mut place,
            );
            self.row.extend((0..3).map(|i| place[i] + moved[i]));
            self.row.extend(moved.0);
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

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        let coordinates = self.along.labels().coordinates.iter();
        let large = |(label, deviation): &(&Label, &f64)| {
            label.unit == "rad" && (deviation.is_nan() || deviation.abs() > LARGE_RAD)
        };
        if let Some((label, deviation)) = coordinates.zip(state).find(large) {
            self.failure = Some(AnalysisError::Large {
                coordinate: label.name.clone(),
                deviation_rad: deviation.abs(),
                time_s: time,
            });
            return Flow::Stop;
        }
        (self.watch)(time)
    }
}
