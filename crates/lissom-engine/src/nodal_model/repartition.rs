//! A nodal model that changes its chart: looked for after every step, done where it is a state event.
//!
//! Integrators see a state of as many entries as before, whose entries mean other axes from the event on. Those who look at
//! their states are told by the chart that the equations are in, which is part of their memory.

use lissom_core::{AxisId, PlaceError, Repartitioning, RunError};
use lissom_nodal::{Drive, ElementId, Equations, Motion, NodalError, Role};
use lissom_numerics::integrate::Projection;
use lissom_numerics::{Memory, RecallError};

use super::charts::{Chart, Charts};
use super::run::NodalEquations;
use super::{NodalAxis, NodalModel};

/// Name of the dependent axes in the memory of evaluations; without it they are in the first chart.
const DEPENDENT: &str = "dependent_axes";

/// Violation, in m or rad, from which a closure no longer follows from the others.
const REDUNDANT: f64 = 1e-8;

/// What is looked at after every step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    /// When was last looked.
    time: f64,
    /// Largest gain where other axes had better be independent, as found then.
    pub(super) gain: Option<f64>,
    /// Whether no other chart was found where one was looked for.
    in_vain: bool,
    /// Sign of the determinant when was last looked, zero if nothing is known.
    side: f64,
    /// When it was found to have changed.
    passed: Option<f64>,
    /// Largest violation of closures after any step, and that of their rates.
    pub(super) violation: [f64; 2],
    /// What followed from other closures at the start and was found open.
    opened: Option<Opened>,
}

/// A deformation that would vanish if it followed from others.
#[derive(Clone, Copy, Debug)]
struct Opened {
    element: ElementId,
    deformation: usize,
    gap: f64,
    /// When it was closed.
    good_until: f64,
}

impl Watch {
    /// Nothing has been looked at since equations were placed.
    pub(super) fn of(equations: &Equations<'_>) -> Self {
        Self {
            time: f64::NEG_INFINITY,
            gain: None,
            in_vain: false,
            side: equations.side().unwrap_or(0.0),
            passed: None,
            violation: [0.0; 2],
            opened: None,
        }
    }
}

impl Chart<'_> {
    /// Adds the chart to a memory, if it is not the first.
    pub(super) fn remember(&self, nodal: &NodalModel, memory: &mut Memory) {
        if self.dependent != nodal.first_chart().dependent {
            memory.set_indices(DEPENDENT, self.dependent);
        }
    }
}

impl NodalModel {
    /// The chart that a memory is in.
    pub(super) fn remembered_chart(&self, memory: &Memory) -> Result<Chart<'_>, RecallError> {
        let first = self.first_chart();
        if memory.get(DEPENDENT).is_none() {
            return Ok(first);
        }
        let dependent =
            memory.index_list(DEPENDENT, self.charts.as_ref().map_or(0, Charts::len))?;
        if let Some(at) = dependent.windows(2).position(|pair| pair[0] >= pair[1]) {
            let (at, value) = (at + 1, dependent[at + 1] as f64);
            let expected = "larger than the entry before";
            return Err(RecallError::value(DEPENDENT, at, value, expected));
        }
        let chart = (dependent.len() == first.dependent.len()).then(|| self.chart(&dependent));
        chart
            .and_then(Result::ok)
            .ok_or_else(|| RecallError::Length {
                name: DEPENDENT.to_owned(),
                expected: first.dependent.len(),
                found: dependent.len(),
            })
    }

    /// Equations that stand where a memory has left them, in its chart.
    pub(super) fn recalled(
        &self,
        memory: &Memory,
    ) -> Result<(Chart<'_>, Equations<'_>), PlaceError> {
        let placed = || {
            let chart = self.remembered_chart(memory)?;
            let mut equations = Equations::unplaced(chart.mechanism);
            equations.recall(memory)?;
            Ok((chart, equations))
        };
        placed().map_err(|error: RecallError| PlaceError {
            reason: error.to_string(),
            part: "the mechanism",
        })
    }

    /// Elements that close loops, with those of their deformations that are to vanish.
    pub(super) fn held_closed(&self) -> impl Iterator<Item = (ElementId, &'static [usize])> {
        let holding = self.closures.iter().flat_map(|closure| closure.holding);
        holding.flatten()
    }

    /// Whether other axes had better be independent where equations in a chart are placed. Leaves velocities unset.
    pub(super) fn is_ill_conditioned(
        &self,
        chart: Chart<'_>,
        equations: &mut Equations<'_>,
    ) -> bool {
        (self.charts.as_ref()).is_some_and(|charts| chart.is_bad(charts.largest_gain(equations)))
    }

    /// A motion in the chart in which other axes than `held` ones are best independent, with equations that stand there. `equations` are
    /// placed there in another chart, and their velocities are unset afterwards.
    pub(super) fn in_best_chart<'m>(
        &'m self,
        equations: &mut Equations<'_>,
        motion: &Motion,
        drives: &[Drive],
        held: &[AxisId],
    ) -> Result<(Chart<'m>, Equations<'m>, Motion), NodalError> {
        let dependent = match &self.charts {
            Some(charts) => charts.best(equations, held).0,
            None => Vec::new(),
        };
        let best = self.chart(&dependent)?;
        equations.set_velocity(&motion.velocity, drives);
        let (exchanged, motion) = equations.exchanged(best.mechanism, motion, drives)?;
        Ok((best, exchanged, motion))
    }
}

impl NodalEquations<'_> {
    /// Looks at the configuration last evaluated, which is one of the step that ends at `time`; positive if other axes had
    /// better lead. A state event is then where the step ends. Allocates nothing.
    pub(super) fn look(&mut self, time: f64) -> f64 {
        let is_new = time > self.watch.time;
        if is_new {
            let before = std::mem::replace(&mut self.watch.time, time);
            self.look_at_closures(before, time);
        }
        let Some(charts) = &self.nodal.charts else {
            return f64::NEG_INFINITY;
        };
        if self.watch.in_vain {
            return f64::NEG_INFINITY;
        }
        if is_new {
            let equations = self.dynamics.equations_mut();
            self.watch.gain = (equations.is_placed())
                .then(|| charts.largest_gain(equations))
                .filter(|&gain| self.chart.is_bad(gain));
        }
        if self.watch.gain.is_some() { 1.0 } else { -1.0 }
    }

    /// Notes how far closures are open in the evaluation last made, and whether a step led over a singular configuration or away from
    /// one in which it began.
    fn look_at_closures(&mut self, before: f64, time: f64) {
        let equations = self.dynamics.equations();
        if self.nodal.has_loops
            && let Some(side) = equations.side()
        {
            if side * self.watch.side < 0.0 {
                self.watch.passed = Some(time);
            }
            self.watch.side = side;
        }
        let [position, rate] = &mut self.watch.violation;
        for (element, deformations) in self.nodal.held_closed() {
            for &index in deformations {
                let gap = equations.deformation(element, index).abs();
                *position = position.max(gap);
                let is_left_out = || self.chart.mechanism.role(element, index) == Role::Free;
                if gap > REDUNDANT && self.watch.opened.is_none() && is_left_out() {
                    self.watch.opened = Some(Opened {
                        element,
                        deformation: index,
                        gap,
                        good_until: before,
                    });
                }
                *rate = rate.max(equations.deformation_rate(element, index).abs());
            }
        }
    }

    /// Begins a piece of the solution: in another chart, if that is what it begins for.
    pub(super) fn begin_piece(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) {
        let gain = self.watch.gain.take();
        self.watch.time = time;
        self.watch.side = self.dynamics.equations().side().unwrap_or(0.0);
        let Some(gain) = gain else {
            return;
        };
        let motion = Motion {
            position: position.to_vec(),
            velocity: velocity.to_vec(),
        };
        match self.repartition(time, &motion, gain) {
            Ok(motion) => {
                position.copy_from_slice(&motion.position);
                velocity.copy_from_slice(&motion.velocity);
            }
            // the integrator goes on, and fails if it has to
            Err(error) => {
                self.error = Some(error);
                self.watch.in_vain = true;
            }
        }
    }

    fn repartition(&mut self, time: f64, motion: &Motion, gain: f64) -> Result<Motion, NodalError> {
        let nodal = self.nodal;
        let Some(charts) = &nodal.charts else {
            return Ok(motion.clone());
        };
        let (position, velocity) = (&motion.position, &motion.velocity);
        self.dynamics.set_state(time, position, velocity)?;
        let (dependent, gain_after) = charts.best(self.dynamics.equations_mut(), &[]);
        let (before, after) = (self.chart, nodal.chart(&dependent)?);
        let motion = self.change_to(time, motion, after)?;
        self.repartitions.push(Repartitioning {
            time_s: time,
            before: charts.independent(before),
            after: charts.independent(after),
            condition_before: gain,
            condition_after: gain_after,
        });
        Ok(motion)
    }
}

impl NodalEquations<'_> {
    /// Whether to go on: not beyond a singular configuration, nor with a loop that has opened.
    pub(super) fn projection(&self) -> Projection {
        let opened = self.watch.opened.map(|opened| opened.good_until);
        match self.watch.passed.or(opened) {
            Some(good_until) => Projection::Stop { good_until },
            None => Projection::Kept,
        }
    }

    /// The singular configuration that a step led over, or in which the mechanism began.
    pub(super) fn singularity(&self, stopped_at: Option<f64>) -> Option<RunError> {
        let Some(time_s) = self.watch.passed else {
            let opened = self.watch.opened?;
            let mechanism = &self.chart.mechanism;
            return Some(RunError::NoLongerRedundant {
                equation: mechanism.deformation_name(opened.element, opened.deformation),
                violation: opened.gap,
                time_s: stopped_at?,
            });
        };
        let depends = |axis: &&NodalAxis| {
            let role = (self.chart.mechanism).role(axis.element, axis.deformation);
            role == Role::Free
        };
        let dependent = self.nodal.axes.iter().filter(depends);
        Some(RunError::Singular {
            time_s,
            condition: f64::INFINITY,
            coordinates: dependent
                .map(|axis| format!("{}.rate", axis.name.coordinate()))
                .collect(),
        })
    }
}

impl<'m> NodalEquations<'m> {
    /// Goes over to another chart at a motion, and gives that motion there.
    fn change_to(
        &mut self,
        time: f64,
        motion: &Motion,
        chart: Chart<'m>,
    ) -> Result<Motion, NodalError> {
        let (position, velocity) = (&motion.position, &motion.velocity);
        self.dynamics.set_state(time, position, velocity)?;
        let (equations, drives) = (self.dynamics.equations(), self.dynamics.drives());
        let (equations, motion) = equations.exchanged(chart.mechanism, motion, drives)?;
        self.watch.side = equations.side().unwrap_or(0.0);
        self.dynamics.set_equations(equations);
        self.chart = chart;
        Ok(motion)
    }

    /// Goes over to the chart of somebody whose states are looked at, at the last one in the chart before.
    pub(super) fn follow_into(
        &mut self,
        time: f64,
        state: &[f64],
        dependent: &[usize],
    ) -> Result<(), NodalError> {
        if dependent == self.chart.dependent {
            return Ok(());
        }
        let chart = self.nodal.chart(dependent)?;
        let (position, rest) = state.split_at(chart.mechanism.position_count());
        let motion = Motion {
            position: position.to_vec(),
            velocity: rest[..chart.mechanism.dof_count()].to_vec(),
        };
        self.change_to(time, &motion, chart).map(drop)
    }
}
