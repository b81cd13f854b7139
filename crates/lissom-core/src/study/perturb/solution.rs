//! The linear system along a nominal motion, solved over all stretches as long as it holds.

use lissom_numerics::integrate::{
    Flow, IntegrateError, Observer, Outcome, Schedule, Statistics, integrate,
    integrate_second_order,
};
use lissom_numerics::linear::{
    Interpolation, Label, LinearizedTrajectory, Loops, LoopsBetween, Perturbed, Point, Terms,
};
use lissom_spec::spec::IntegratorSpec;

use super::super::closed_loop::Closing;
use super::{AnalysisError, Linearized};
use crate::action::{Actuator, JointStop};
use crate::integrator::Integrator;

/// The linear system, and how it is solved.
pub(super) struct System<'a> {
    pub(super) closing: Closing,
    pub(super) integrator: &'a IntegratorSpec,
    pub(super) terms: Terms,
    pub(super) interpolation: Interpolation,
}

/// Where linear equations hold no more.
pub(super) struct Limits {
    /// Deviation of an angle that is too large.
    pub(super) angle_rad: f64,
    pub(super) actuators: Vec<Actuator>,
    /// Stops, with the places of their coordinates among all.
    pub(super) stops: Vec<(usize, JointStop)>,
}

/// The solution at the samples.
#[derive(Default)]
pub(super) struct Solution {
    pub(super) samples: Vec<Sample>,
    /// Of every stretch: the joints on which controllers and actuators act, among all with actuators.
    pub(super) joints: Vec<Vec<usize>>,
    pub(super) statistics: Statistics,
    pub(super) stopped_at: Option<f64>,
    pub(super) failure: Option<AnalysisError>,
}

/// Deviations at an instant: coordinates, then their rates, then states of controllers and actuators.
pub(super) struct Sample {
    pub(super) time: f64,
    pub(super) stretch: usize,
    pub(super) state: Vec<f64>,
    /// What controllers and actuators give beyond the nominal efforts.
    pub(super) effort: Vec<f64>,
}

impl System<'_> {
    /// Solves it over all stretches, as far as it holds if there are limits.
    pub(super) fn solve(
        &self,
        linearized: &Linearized,
        samples: &[f64],
        limits: Option<&Limits>,
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
        let mut control = linearized.initial_control.clone();
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
            state.append(&mut control);
            let loops = self.closing.loops(trajectory, false);
            let mut watcher = Watcher {
                trajectory,
                loops: &loops,
                closing: &self.closing,
                stretch: index,
                samples: &mut solution.samples,
                watch: &mut *watch,
                limits,
                failure: None,
            };
            let stopped_at = if self.terms.inertia {
                let inside = |time: &f64| *time > start && *time < until;
                let breakpoints = linearized.breakpoints.iter().copied().filter(inside);
                let schedule = Schedule {
                    start,
                    end: until,
                    breakpoints: &breakpoints.collect::<Vec<f64>>(),
                    samples: &samples,
                };
                let system = Perturbed::new(trajectory, &loops, self.terms, self.interpolation)?;
                match advance(self.integrator, system, &schedule, &mut state, &mut watcher) {
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
                self.steady(&samples, &mut watcher)?
            };
            let failure = watcher.failure;
            control = state.split_off(2 * trajectory.coordinates().independent.len());
            solution.joints.push(self.closing.joints(trajectory));
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

    /// The case without inertia: every sample by itself, where nothing changes. Returns when whoever watches stopped it.
    fn steady(
        &self,
        samples: &[f64],
        watcher: &mut Watcher<'_, '_>,
    ) -> Result<Option<f64>, AnalysisError> {
        let dofs = watcher.trajectory.coordinates().independent.len();
        for &time in samples {
            let (trajectory, loops) = (watcher.trajectory, watcher.loops);
            let mut state = trajectory.steady(time, self.terms, loops, &[])?;
            let control = state.split_off(dofs);
            state.resize(2 * dofs, 0.0);
            state.extend(control);
            let stops = watcher.sample(time, &state) == Flow::Stop;
            if stops || watcher.step(time, &state) == Flow::Stop {
                return Ok(Some(time));
            }
        }
        Ok(None)
    }
}

/// Advances the linear system by the integrator of the model.
fn advance(
    integrator: &IntegratorSpec,
    mut system: Perturbed<'_>,
    schedule: &Schedule<'_>,
    state: &mut [f64],
    watcher: &mut Watcher<'_, '_>,
) -> Result<Outcome, IntegrateError> {
    match Integrator::of(integrator) {
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

/// Keeps the deviations of the samples and watches that the linear equations hold.
struct Watcher<'a, 'w> {
    trajectory: &'a LinearizedTrajectory,
    loops: &'a [Loops],
    closing: &'a Closing,
    stretch: usize,
    samples: &'w mut Vec<Sample>,
    watch: &'w mut dyn FnMut(f64) -> Flow,
    limits: Option<&'a Limits>,
    /// Set when the linear equations hold no more.
    failure: Option<AnalysisError>,
}

impl Watcher<'_, '_> {
    /// Whether all angles are near the nominal motion, all actuators within their limits, and all joints between their stops.
    fn holds(&mut self, time: f64, state: &[f64]) -> bool {
        let Some(limits) = self.limits else {
            return true;
        };
        let mut angles = angles(self.trajectory, state).into_iter();
        let large =
            |(_, deviation): &(&Label, f64)| deviation.is_nan() || *deviation > limits.angle_rad;
        let large = angles
            .find(large)
            .map(|(label, deviation_rad)| AnalysisError::Large {
                coordinate: label.name.clone(),
                deviation_rad,
                time_s: time,
                by_interpolation: false,
            });
        let large = large.or_else(|| self.at_limit(limits, time, state));
        self.failure = large.or_else(|| self.at_stop(limits, time, state));
        self.failure.is_none()
    }

    /// What controllers and actuators do at a state, and their states.
    fn given<'s>(&self, time: f64, state: &'s [f64]) -> (LoopsBetween, &'s [f64]) {
        let dofs = self.trajectory.coordinates().independent.len();
        let (position, rest) = state.split_at(dofs);
        let (rate, states) = rest.split_at(dofs);
        let deviated = [position, rate, states];
        let given = self.trajectory.loops_at(self.loops, time, deviated);
        (given, states)
    }

    /// An actuator that is beyond a limit.
    fn at_limit(&self, limits: &Limits, time: f64, state: &[f64]) -> Option<AnalysisError> {
        let mut nominal = vec![0.0; limits.actuators.len()];
        (self.trajectory).nominal(time, |point, at| point.actuation.asked[at], &mut nominal);
        let (given, states) = self.given(time, state);
        self.closing.actuators().find_map(|(row, driving)| {
            let actuator = &limits.actuators[driving.number];
            let (asked, change) = match driving.follows {
                None => (nominal[driving.number] + given.effort[row], 0.0),
                Some((state, time)) => {
                    let change = given.rate[state];
                    (change * time + states[state], change)
                }
            };
            let beyond =
                |value: f64, limit: Option<f64>| limit.is_some_and(|most| value.abs() > most);
            let fastest = actuator.response.and_then(|response| response.fastest);
            let of_rate = beyond(change, fastest);
            (of_rate || beyond(asked, actuator.limit)).then(|| AnalysisError::AtLimit {
                actuator: actuator.name.clone(),
                of_rate,
                time_s: time,
            })
        })
    }
}

impl Watcher<'_, '_> {
    /// A joint that is not between its stops.
    fn at_stop(&self, limits: &Limits, time: f64, state: &[f64]) -> Option<AnalysisError> {
        let joints = &self.trajectory.coordinates().joints;
        limits.stops.iter().find_map(|(place, stop)| {
            let row = joints.iter().position(|own| own == place)?;
            let position = |point: &Point, _: usize| {
                let slopes = self.trajectory.joint_rows(point);
                let slopes = slopes.row(row);
                let deviation: f64 = slopes.iter().zip(state).map(|(slope, x)| slope * x).sum();
                point.joints[row] + deviation
            };
            let mut found = [0.0];
            self.trajectory.nominal(time, position, &mut found);
            let [lower, upper] = stop.ends;
            (found[0] < lower || found[0] > upper).then(|| AnalysisError::AtStop {
                joint: stop.name.label(),
                time_s: time,
            })
        })
    }
}

/// How far every angle of a stretch is off the nominal motion.
pub(super) fn angles<'t>(
    trajectory: &'t LinearizedTrajectory,
    state: &[f64],
) -> Vec<(&'t Label, f64)> {
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
        let states = self.loops.first().map_or(0, Loops::state_count);
        let deviations = 2 * self.trajectory.coordinates().independent.len();
        let effort = self.given(time, state).0.effort;
        self.samples.push(Sample {
            time,
            stretch: self.stretch,
            // structural methods tell accelerations too
            state: state[..deviations + states].to_vec(),
            effort,
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
