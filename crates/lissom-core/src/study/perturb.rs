//! Perturbation runs: vibrations about the nominal motion by the time-varying linear system, recorded as a run is.
//!
//! Jonker & Aarts (23)–(32), (41). The nominal motion with its inputs and stress resultants is that of a
//! [`Linearized`](super::Linearized) model; controllers feed back deviations; cases without inertia are quasi-static.
//!
//! Matrices and stress resultants, which belong to joints and deformations, are interpolated between the points of
//! linearisation. What is recorded is not: at every sample the mechanism is brought to its nominal state of that instant, and
//! coordinates and markers are expanded there. What remains of the interpolation is estimated by leaving out every second
//! point: where something happens between the points, such as a beam that passes a support, the error of twice the intervals is
//! twice as large, so that the difference is the error; where all is smooth it is sixteen times as large and the difference fifteen errors.
//! Past dead points matrices change so quickly that two solutions may agree by chance: there a third one, with every fourth point, has its say.

use nalgebra::DMatrix;

use lissom_spec::ModelSpec;

use super::linearize::{Deviated, Deviation, linearize};
use super::servo::{refuse_control_states, servos, uncontrolled};
use super::{AnalysisError, Linearize, Linearized, OutputOrder};
use crate::integrator::Integrator;
use crate::recording::Recording;
use crate::state::State;
use lissom_numerics::integrate::{
    Flow, IntegrateError, Observer, Outcome, Schedule, Statistics, integrate,
    integrate_second_order,
};
use lissom_numerics::linear::{
    ChosenCoordinates, Interpolation, Label, LinearizedTrajectory, Perturbed, Servo, Terms,
};

/// Choices of a perturbation run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerturbOptions {
    /// Which terms are taken.
    pub terms: Terms,
    /// What is interpolated between the points of linearisation.
    pub interpolation: Interpolation,
    /// To which order markers move in the deviations.
    pub order: OutputOrder,
}

/// What a perturbation run leaves behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PerturbedRun {
    /// Coordinates, rates, positions of markers and their deviations from the nominal ones, inputs.
    pub recording: Recording,
    /// What the integrator did; nothing in a quasi-static case.
    pub statistics: Statistics,
    /// Instant at which whoever watches stopped it.
    pub stopped_at: Option<f64>,
    /// Why it does not go on after its last sample, where that is before the end.
    pub failure: Option<AnalysisError>,
    /// The angle that is furthest off the nominal motion at a sample; none where nothing turns.
    pub largest_angle: Option<AngleDeviation>,
    /// Estimate of the error that interpolating between the points leaves, one per channel; `None`
    /// where too few points are left for it when every second one is taken away, and past dead points every second one again.
    pub interpolation_error: Option<Vec<f64>>,
}

/// An angle off the nominal motion.
#[derive(Clone, Debug, PartialEq)]
pub struct AngleDeviation {
    /// The coordinate.
    pub coordinate: String,
    /// How far, without its sign.
    pub deviation_rad: f64,
    /// When.
    pub time_s: f64,
}

/// Deviation of an angle up to which linear equations are taken at their word: sine and cosine are then off by a sixth and a half.
const LARGE_RAD: f64 = 1.0;

/// Runs the linear system of a model linearised along its nominal motion from its first instant on until the last of `samples`,
/// which rise, or until it holds no more: an angle is too far off, or the integrator gives up.
///
/// # Errors
/// When the linear system has no solution, or holds not even at the first sample.
pub fn perturb<L: Linearize>(
    of: &mut L,
    spec: &ModelSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<PerturbedRun, AnalysisError> {
    refuse_control_states(
        spec,
        "the perturbation method",
        "run the model, or use joint_pd or computed_pd without an [[actuator]]",
    )?;
    let fine = solve(spec, linearized, samples, options, LARGE_RAD, watch)?;
    if let (Some(error), true) = (&fine.failure, fine.samples.is_empty()) {
        return Err(error.clone());
    }
    let reached: Vec<f64> = fine.samples.iter().map(|sample| sample.time).collect();
    let coarser = match fine.stopped_at {
        None => coarser(spec, linearized, &reached, options, watch),
        Some(_) => None,
    };
    let mut recording = Recording::with_capacity(names(linearized), fine.samples.len());
    let mut errors = coarser.as_ref().map(|_| Vec::new());
    for (index, sample) in fine.samples.iter().enumerate() {
        let motion = of.nominal(sample.time)?;
        let row = fine.row(of, &motion, linearized, sample, options.order)?;
        if let (Some(coarser), Some(errors)) = (&coarser, &mut errors) {
            errors.resize(row.len(), 0.0_f64);
            let mut finer = row.clone();
            for solution in coarser {
                let sample = &solution.samples[index];
                let coarse = solution.row(of, &motion, linearized, sample, options.order)?;
                for ((error, fine), coarse) in errors.iter_mut().zip(&finer).zip(&coarse) {
                    *error = error.max((fine - coarse).abs());
                }
                finer = coarse;
            }
        }
        recording.push(sample.time, &row);
    }
    let mut failure = fine.failure.clone();
    if let Some(AnalysisError::Large {
        coordinate,
        by_interpolation,
        ..
    }) = &mut failure
    {
        let of = |label: &Label| label.name == *coordinate;
        let place = linearized.coordinates.iter().position(of);
        let error = place.and_then(|place| Some(errors.as_ref()?[place]));
        let largest = fine.largest_angle(linearized, Some(coordinate));
        // where it is not known it may well be
        *by_interpolation = match (error, largest) {
            (Some(error), Some(largest)) => error > 0.5 * largest.deviation_rad,
            _ => true,
        };
    }
    Ok(PerturbedRun {
        recording,
        statistics: fine.statistics,
        stopped_at: fine.stopped_at,
        failure,
        largest_angle: fine.largest_angle(linearized, None),
        interpolation_error: errors,
    })
}

/// Solutions with every second point, and past dead points with every fourth too. `None` where there are not so many, or one has no
/// solution, which says nothing of that with all points.
fn coarser(
    spec: &ModelSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Option<Vec<Solution>> {
    let count = if passes_dead_points(linearized) { 2 } else { 1 };
    let mut solutions = Vec::with_capacity(count);
    let mut points = linearized.every_second()?;
    loop {
        // as far as the finer one, so that there is something to hold against it
        let solved = solve(spec, &points, samples, options, f64::INFINITY, watch).ok()?;
        if solved.samples.len() < samples.len() {
            return None;
        }
        solutions.push(solved);
        if solutions.len() == count {
            return Some(solutions);
        }
        points = points.every_second()?;
    }
}

/// Whether joints that lead somewhere on the way follow elsewhere.
fn passes_dead_points(linearized: &Linearized) -> bool {
    let leading = |stretch: &LinearizedTrajectory| -> Vec<usize> {
        let ChosenCoordinates {
            independent,
            joints,
        } = stretch.coordinates();
        let leads = |joint: &&usize| independent.contains(joint);
        joints.iter().filter(leads).copied().collect()
    };
    let first = leading(&linearized.trajectory);
    (linearized.further.iter()).any(|stretch| leading(stretch) != first)
}

/// The state in which nothing accelerates relative to the nominal motion where that begins, eq (41): feedback holds what it
/// leads, and what inputs drive without feedback is held. Deviations keep still, $`\delta\dot e = 0`$.
///
/// # Errors
/// When there is no nominal motion, or the stiffness is singular.
pub fn quasi_static<L: Linearize>(
    of: &mut L,
    spec: &ModelSpec,
    start_s: f64,
) -> Result<State, AnalysisError> {
    refuse_control_states(
        spec,
        "a quasi-static start",
        "start with initial = \"equilibrium\" or \"written\"",
    )?;
    let motions = [of.nominal(start_s)?];
    let found = linearize(of, &motions, OutputOrder::First, &mut |_| Flow::Continue)?;
    let servos = servos(spec, &found.trajectory, &found.controlled)?;
    let held = uncontrolled(&found);
    let position = steady(&found.trajectory, &servos, start_s, Terms::CASES[0], &held)?;
    let deviation = Deviation {
        independent: &found.trajectory.coordinates().independent,
        position: &position,
        rate: &vec![0.0; position.len()],
    };
    Ok(of.state(&motions[0], &deviation)?)
}

/// Deviations that stay if nothing accelerates, some coordinates held.
fn steady(
    trajectory: &LinearizedTrajectory,
    servos: &[Servo],
    time: f64,
    terms: Terms,
    held: &[usize],
) -> Result<Vec<f64>, AnalysisError> {
    let count = trajectory.actuated().len();
    let mut gain = DMatrix::zeros(count, count);
    for servo in servos {
        servo.add_position_gain(time, &mut gain);
    }
    Ok(trajectory.steady_holding(time, terms, Some(&gain), held)?)
}

/// The solution of the linear system at the samples.
#[derive(Default)]
struct Solution {
    samples: Vec<Sample>,
    /// Controllers on every stretch.
    servos: Vec<Vec<Servo>>,
    statistics: Statistics,
    stopped_at: Option<f64>,
    failure: Option<AnalysisError>,
}

/// Deviations at an instant: coordinates, then rates.
struct Sample {
    time: f64,
    stretch: usize,
    state: Vec<f64>,
}

/// Solves the linear system over all stretches, as long as angles deviate by less than `large`.
fn solve(
    spec: &ModelSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    large: f64,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Solution, AnalysisError> {
    let stretches: Vec<&LinearizedTrajectory> = linearized.stretches().collect();
    let starts = stretches
        .iter()
        .map(|trajectory| trajectory.points().first());
    let starts: Vec<f64> = starts
        .map(|point| point.map_or(f64::NAN, |point| point.time))
        .collect();
    let Some(&end) = samples.last() else {
        return Ok(Solution::default());
    };
    let time_s = starts.first().copied().unwrap_or(f64::NAN);
    let mut state = linearized
        .start()
        .ok_or(AnalysisError::NoStart { time_s })?;
    let mut solution = Solution::default();
    for (index, &trajectory) in stretches.iter().enumerate() {
        let (start, until) = (starts[index], starts.get(index + 1).copied().unwrap_or(end));
        if start > end {
            break;
        }
        let until = until.min(end);
        // an instant between two stretches belongs to the one before
        let own = |time: &&f64| (index == 0 || **time > start) && **time <= until;
        let samples: Vec<f64> = samples.iter().filter(own).copied().collect();
        if index > 0 {
            state = trajectory.carried(stretches[index - 1], &state);
        }
        let servos = servos(spec, trajectory, &linearized.controlled)?;
        let mut watcher = Watcher {
            trajectory,
            stretch: index,
            samples: &mut solution.samples,
            watch: &mut *watch,
            large,
            failure: None,
        };
        let stopped_at = if options.terms.inertia {
            let inside = |time: &f64| *time > start && *time < until;
            let breakpoints = linearized.breakpoints.iter().copied().filter(inside);
            let schedule = Schedule {
                start,
                end: until,
                breakpoints: &breakpoints.collect::<Vec<f64>>(),
                samples: &samples,
            };
            let system = Perturbed::new(
                trajectory,
                servos.clone(),
                options.terms,
                options.interpolation,
            )?;
            match advance(spec, system, &schedule, &mut state, &mut watcher) {
                Ok(outcome) => {
                    solution.statistics += outcome.statistics;
                    outcome.stopped_at
                }
                Err(error) => {
                    solution.statistics += error.statistics();
                    watcher.failure = Some(failed(trajectory, error));
                    None
                }
            }
        } else {
            quasi_static_samples(trajectory, &servos, &samples, options.terms, &mut watcher)?
        };
        let failure = watcher.failure;
        solution.servos.push(servos);
        if failure.is_some() {
            solution.failure = failure;
            break;
        }
        if stopped_at.is_some() {
            solution.stopped_at = stopped_at;
            break;
        }
    }
    Ok(solution)
}

/// Advances the linear system by the integrator of the model.
fn advance(
    spec: &ModelSpec,
    mut system: Perturbed<'_, Vec<Servo>>,
    schedule: &Schedule<'_>,
    state: &mut [f64],
    watcher: &mut Watcher<'_, '_>,
) -> Result<Outcome, IntegrateError> {
    match Integrator::of(&spec.simulation.integrator) {
        Integrator::Adaptive(method, control) => {
            integrate(method, &control, &mut system, schedule, state, watcher)
        }
        Integrator::Fixed(scheme, options) => {
            let (position, velocity) = state.split_at_mut(system.dof_count());
            integrate_second_order(
                scheme,
                &options,
                &mut system,
                schedule,
                position,
                velocity,
                watcher,
            )
        }
    }
}

/// The case without inertia: every sample by itself. Returns when whoever watches stopped it.
fn quasi_static_samples(
    trajectory: &LinearizedTrajectory,
    servos: &[Servo],
    samples: &[f64],
    terms: Terms,
    watcher: &mut Watcher<'_, '_>,
) -> Result<Option<f64>, AnalysisError> {
    for &time in samples {
        let mut state = steady(trajectory, servos, time, terms, &[])?;
        state.resize(2 * state.len(), 0.0);
        if watcher.sample(time, &state) == Flow::Stop || watcher.step(time, &state) == Flow::Stop {
            return Ok(Some(time));
        }
    }
    Ok(None)
}

fn failed(trajectory: &LinearizedTrajectory, source: IntegrateError) -> AnalysisError {
    let labels = &trajectory.labels().coordinates;
    let coordinate = source
        .component()
        .and_then(|component| labels.get(component % labels.len().max(1)))
        .map_or_else(|| "unknown".to_owned(), |label| label.name.clone());
    AnalysisError::Integration {
        source: Box::new(source),
        coordinate,
    }
}

/// Keeps the deviations of the samples and watches that they stay small.
struct Watcher<'a, 'w> {
    trajectory: &'a LinearizedTrajectory,
    stretch: usize,
    samples: &'w mut Vec<Sample>,
    watch: &'w mut dyn FnMut(f64) -> Flow,
    /// Deviation of an angle that is too large.
    large: f64,
    /// Set when the linear equations hold no more.
    failure: Option<AnalysisError>,
}

impl Watcher<'_, '_> {
    /// Whether all angles are near the nominal motion.
    fn holds(&mut self, time: f64, state: &[f64]) -> bool {
        let angles = angles(self.trajectory, state);
        let large = |(_, deviation): &(&Label, f64)| deviation.is_nan() || *deviation > self.large;
        let Some((label, deviation_rad)) = angles.into_iter().find(large) else {
            return true;
        };
        self.failure = Some(AnalysisError::Large {
            coordinate: label.name.clone(),
            deviation_rad,
            time_s: time,
            by_interpolation: false,
        });
        false
    }
}

/// How far every angle of a stretch is off the nominal motion.
fn angles<'t>(trajectory: &'t LinearizedTrajectory, state: &[f64]) -> Vec<(&'t Label, f64)> {
    let coordinates = trajectory.labels().coordinates.iter().zip(state);
    (coordinates.filter(|(label, _)| label.unit == "rad"))
        .map(|(label, deviation)| (label, deviation.abs()))
        .collect()
}

impl Observer for Watcher<'_, '_> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        if !self.holds(time, state) {
            return Flow::Stop;
        }
        let deviations = 2 * self.trajectory.labels().coordinates.len();
        self.samples.push(Sample {
            time,
            stretch: self.stretch,
            // structural methods tell accelerations too
            state: state[..deviations].to_vec(),
        });
        Flow::Continue
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        if self.holds(time, state) {
            (self.watch)(time)
        } else {
            Flow::Stop
        }
    }
}

impl Solution {
    /// The angle that is furthest off at a sample, of a coordinate or of all.
    fn largest_angle(
        &self,
        linearized: &Linearized,
        coordinate: Option<&str>,
    ) -> Option<AngleDeviation> {
        let at_sample = |sample: &Sample| {
            let angles = angles(linearized.stretch(sample.stretch), &sample.state);
            let asked = |label: &Label| coordinate.is_none_or(|name| name == label.name);
            let asked = angles.into_iter().filter(|(label, _)| asked(label));
            let most = asked.max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some((sample.time, most))
        };
        let most = (self.samples.iter().filter_map(at_sample))
            .max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1))?;
        let (time_s, (label, deviation_rad)) = most;
        Some(AngleDeviation {
            coordinate: label.name.clone(),
            deviation_rad,
            time_s,
        })
    }

    /// What is recorded of a sample: the nominal state of its instant with the deviations.
    fn row<L: Linearize>(
        &self,
        of: &mut L,
        motion: &L::Motion,
        linearized: &Linearized,
        Sample {
            time,
            stretch,
            state,
        }: &Sample,
        order: OutputOrder,
    ) -> Result<Vec<f64>, AnalysisError> {
        let trajectory = linearized.stretch(*stretch);
        let (position, rate) = state.split_at(state.len() / 2);
        let deviation = Deviation {
            independent: &trajectory.coordinates().independent,
            position,
            rate,
        };
        let Deviated {
            position: mut row,
            velocity,
            mut input,
            markers,
        } = of.deviated(motion, &deviation, order)?;
        row.extend(velocity);
        for [nominal, displacement] in markers {
            row.extend((nominal + displacement).0);
            row.extend(displacement.0);
        }
        let actuated = trajectory.actuated();
        let pick = |x: &[f64]| -> Vec<f64> { actuated.iter().map(|&dof| x[dof]).collect() };
        let mut effort = vec![0.0; actuated.len()];
        for servo in &self.servos[*stretch] {
            servo.add_effort(*time, &pick(position), &pick(rate), &mut effort);
        }
        for (&joint, effort) in trajectory.actuated_joints().iter().zip(&effort) {
            input[joint] += effort;
        }
        row.extend(linearized.nominal_inputs.iter().map(|&joint| input[joint]));
        Ok(row)
    }
}

/// Names and units of what is recorded.
fn names(linearized: &Linearized) -> Vec<(String, &'static str)> {
    let labels = linearized.trajectory.labels();
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
    names
}
