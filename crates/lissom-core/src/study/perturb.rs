//! Perturbation runs: vibrations about the nominal motion by the time-varying linear system, recorded as a run is.
//!
//! Jonker & Aarts (23)–(32), (41). The nominal motion with its inputs and stress resultants is that of a
//! [`Linearized`](super::Linearized) model; controllers feed back deviations, and their states and those of actuators are integrated with
//! them; cases without inertia are quasi-static.
//!
//! Matrices and stress resultants, which belong to joints and deformations, are interpolated between the points of
//! linearisation. What is recorded is not: at every sample the mechanism is brought to its nominal state of that instant, and
//! coordinates and markers are expanded there. What remains of the interpolation is estimated by leaving out every second
//! point: where something happens between the points, such as a beam that passes a support, the error of twice the intervals is
//! twice as large, so that the difference is the error; where all is smooth it is sixteen times as large and the difference fifteen errors.
//! Past dead points matrices change so quickly that two solutions may agree by chance: there a third one, with every fourth point, has its say.

mod solution;

use lissom_numerics::integrate::{Flow, Statistics};
use lissom_numerics::linear::{
    ChosenCoordinates, Interpolation, Label, LinearizedTrajectory, Terms,
};
use lissom_spec::spec::SimulationSpec;

use self::solution::{Limits, Sample, Solution, System, angles};
use super::closed_loop::{Closing, state_names, uncontrolled};
use super::linearize::{Deviated, Deviation, linearize};
use super::{AnalysisError, Linearize, Linearized, OutputOrder};
use crate::recording::Recording;
use crate::state::State;

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
    /// Coordinates, rates, positions of markers and their deviations from the nominal ones, inputs, states of controllers and actuators.
    pub recording: Recording,
    /// Which channels are components of positions of markers, and which of their deviations from the nominal ones.
    pub markers: MarkerChannels,
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

/// Channels of markers, by their places in a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkerChannels {
    /// Components of positions.
    pub positions: Vec<usize>,
    /// Components of deviations from the nominal positions.
    pub deviations: Vec<usize>,
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
    simulation: &SimulationSpec,
    linearized: &Linearized,
    samples: &[f64],
    options: PerturbOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<PerturbedRun, AnalysisError> {
    let actions = of.actions();
    let states = state_names(actions);
    let system = System {
        closing: Closing::new(actions, linearized, "the perturbation method")?,
        integrator: &simulation.integrator,
        terms: options.terms,
        interpolation: options.interpolation,
    };
    let limits = Limits {
        angle_rad: LARGE_RAD,
        actuators: actions.actuators.clone(),
        stops: (actions.stops.iter())
            .filter_map(|stop| Some((of.place(stop.axis)?, stop.clone())))
            .collect(),
    };
    let fine = system.solve(linearized, samples, Some(&limits), watch)?;
    if let (Some(error), true) = (&fine.failure, fine.samples.is_empty()) {
        return Err(error.clone());
    }
    let reached: Vec<f64> = fine.samples.iter().map(|sample| sample.time).collect();
    let coarser = match fine.stopped_at {
        None => coarser(&system, linearized, &reached, watch),
        Some(_) => None,
    };
    let (names, markers) = names(linearized, states);
    let mut recording = Recording::with_capacity(names, fine.samples.len());
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
        markers,
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
    system: &System<'_>,
    linearized: &Linearized,
    samples: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Option<Vec<Solution>> {
    let count = if passes_dead_points(linearized) { 2 } else { 1 };
    let mut solutions = Vec::with_capacity(count);
    let mut points = linearized.every_second()?;
    loop {
        // as far as the finer one, so that there is something to hold against it
        let solved = system.solve(&points, samples, None, watch).ok()?;
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
pub fn quasi_static<L: Linearize>(of: &mut L, start_s: f64) -> Result<State, AnalysisError> {
    let motions = [of.nominal(start_s)?];
    let found = linearize(of, &motions, OutputOrder::First, &mut |_| Flow::Continue)?;
    let closing = Closing::new(of.actions(), &found, "a quasi-static start")?;
    let trajectory = &found.trajectory;
    let loops = closing.loops(trajectory, false);
    let held = uncontrolled(&found);
    let mut position = trajectory.steady(start_s, Terms::CASES[0], &loops, &held)?;
    let control = position.split_off(trajectory.coordinates().independent.len());
    let deviation = Deviation {
        independent: &trajectory.coordinates().independent,
        position: &position,
        rate: &vec![0.0; position.len()],
    };
    let state = of.state(&motions[0], &deviation)?;
    Ok(State { control, ..state })
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
            stretch,
            state,
            effort,
            ..
        }: &Sample,
        order: OutputOrder,
    ) -> Result<Vec<f64>, AnalysisError> {
        let trajectory = linearized.stretch(*stretch);
        let dofs = trajectory.coordinates().independent.len();
        let (position, rest) = state.split_at(dofs);
        let (rate, states) = rest.split_at(dofs);
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
        for (&joint, effort) in self.joints[*stretch].iter().zip(effort) {
            input[joint] += effort;
        }
        row.extend(linearized.nominal_inputs.iter().map(|&joint| input[joint]));
        row.extend(states);
        Ok(row)
    }
}

/// Names and units of what is recorded.
fn names(
    linearized: &Linearized,
    states: Vec<(String, &'static str)>,
) -> (Vec<(String, &'static str)>, MarkerChannels) {
    let labels = linearized.trajectory.labels();
    let mut names: Vec<(String, &str)> = Vec::new();
    for label in &linearized.coordinates {
        names.push((label.name.clone(), label.unit));
    }
    for label in &linearized.coordinates {
        names.push((format!("{}.rate", label.name), label.rate_unit));
    }
    let mut markers = MarkerChannels::default();
    for marker in &labels.markers {
        for (what, places) in [
            ("position", &mut markers.positions),
            ("deviation", &mut markers.deviations),
        ] {
            for axis in ["x", "y", "z"] {
                places.push(names.len());
                names.push((format!("{marker}.{what}.{axis}"), "m"));
            }
        }
    }
    for &input in &linearized.actuated_inputs {
        let effort = &labels.inputs[input];
        names.push((effort.name.clone(), effort.unit));
    }
    names.extend(states);
    (names, markers)
}
