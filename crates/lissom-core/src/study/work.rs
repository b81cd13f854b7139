//! Work of inputs and dampers, for methods that do not integrate it with the motion.

use lissom_numerics::integrate::FirstOrder;

use crate::dynamics::{Dynamics, Power};
use crate::state::State;

/// Work of inputs and energy dissipated of a state that is integrated with them, behind so many numbers of the motion. What the error of
/// an integrator has taken from nothing is not less than nothing.
pub(crate) fn integrated(state: &[f64], motion: usize) -> [f64; 2] {
    [state[motion], state[motion + 1].max(0.0)]
}

/// Work by the trapezoidal rule over the steps of a method of second order.
pub(crate) struct WorkSum {
    positions: usize,
    velocities: usize,
    breakpoints: Vec<f64>,
    time: f64,
    power: Power,
    sums: [f64; 2],
    /// The state at hand, brought onto the closures.
    projected: Vec<f64>,
}

impl WorkSum {
    /// The works that a state has, to which those of steps from there on are added.
    pub(crate) fn new(start: &State, breakpoints: Vec<f64>) -> Self {
        Self {
            positions: start.position.len(),
            velocities: start.velocity.len() + start.control.len(),
            breakpoints,
            time: f64::NAN,
            power: Power::default(),
            sums: [start.work_j, start.dissipated_j],
            projected: Vec::new(),
        }
    }

    /// Whether nothing has been added yet.
    pub(crate) fn begins(&self) -> bool {
        self.time.is_nan()
    }

    /// Work of the inputs and energy dissipated.
    pub(crate) fn sums(&self) -> [f64; 2] {
        self.sums
    }

    /// Goes on at an instant where what acts may have jumped, over a stretch with these breakpoints.
    pub(crate) fn restart(
        &mut self,
        dynamics: &mut dyn Dynamics,
        time: f64,
        state: &[f64],
        breakpoints: Vec<f64>,
    ) {
        self.project(dynamics, time, state);
        let (q, v) = self.split(&self.projected);
        self.power = dynamics.evaluate(time, q, v);
        (self.time, self.breakpoints) = (time, breakpoints);
    }

    /// Adds a step that ends at a state; returns the works there.
    pub(crate) fn add(
        &mut self,
        dynamics: &mut dyn Dynamics,
        time: f64,
        state: &[f64],
    ) -> [f64; 2] {
        self.project(dynamics, self.arriving(time), state);
        let (sums, mut power) = self.arrived(dynamics, time, &self.projected);
        if self.breaks_at(time) {
            let (q, v) = self.split(&self.projected);
            power = dynamics.evaluate(time, q, v);
        }
        (self.time, self.power, self.sums) = (time, power, sums);
        sums
    }

    /// Adds what happens where one piece of the motion ends and the next begins, if velocities jump there or stops may be touched. Where other
    /// coordinates lead from there on, their numbers are others, and nothing jumps.
    pub(crate) fn begin(
        &mut self,
        dynamics: &mut dyn Dynamics,
        time: f64,
        [arriving, leaving]: [&[f64]; 2],
        chart: &[usize],
    ) {
        let (q, before) = self.split(arriving);
        let (_, after) = self.split(leaving);
        let jumps = before != after;
        if !(jumps || has_stops(dynamics)) || FirstOrder::chart(dynamics) != chart {
            return;
        }
        // the independent coordinates that are chosen for the state serve for both velocities
        self.add(dynamics, time, arriving);
        if !jumps {
            return;
        }
        let impulse = dynamics.impulse(time, q, before, after);
        self.sums[0] += impulse.work;
        self.sums[1] += impulse.dissipated;
        self.power = dynamics.evaluate(time, q, after);
    }

    /// Takes the power at the begin of a piece, which may have other contacts than the one before.
    pub(crate) fn go_on(&mut self, dynamics: &mut dyn Dynamics, time: f64, leaving: &[f64]) {
        if has_stops(dynamics) && !self.begins() {
            self.project(dynamics, time, leaving);
            let (q, v) = self.split(&self.projected);
            self.power = dynamics.evaluate(time, q, v);
        }
    }

    /// Brings a state onto the closures, by independent coordinates that are chosen for it: those of an earlier one may
    /// determine nothing here, as where a support has passed a node.
    fn project(&mut self, dynamics: &mut dyn Dynamics, time: f64, state: &[f64]) {
        self.projected.clear();
        self.projected.extend_from_slice(state);
        dynamics.project_sample(time, &mut self.projected);
    }

    /// The works at a state within a step, which is on the closures.
    pub(crate) fn until(&self, dynamics: &mut dyn Dynamics, time: f64, state: &[f64]) -> [f64; 2] {
        self.arrived(dynamics, time, state).0
    }

    /// Works and power at a state that comes next.
    fn arrived(&self, dynamics: &mut dyn Dynamics, time: f64, state: &[f64]) -> ([f64; 2], Power) {
        let (q, v) = self.split(state);
        let power = dynamics.evaluate(self.arriving(time), q, v);
        let [mut work, mut dissipated] = self.sums;
        if !self.begins() {
            let half = 0.5 * (time - self.time);
            work += half * (self.power.input + power.input);
            dissipated += half * (self.power.dissipated + power.dissipated);
        }
        ([work, dissipated], power)
    }

    /// What arrives at a breakpoint belongs to its left side.
    fn arriving(&self, time: f64) -> f64 {
        if self.breaks_at(time) {
            time.next_down()
        } else {
            time
        }
    }

    fn breaks_at(&self, time: f64) -> bool {
        let found = self.breakpoints.binary_search_by(|b| b.total_cmp(&time));
        found.is_ok()
    }

    fn split<'s>(&self, state: &'s [f64]) -> (&'s [f64], &'s [f64]) {
        let (q, rest) = state.split_at(self.positions);
        (q, &rest[..self.velocities])
    }
}

fn has_stops(dynamics: &dyn Dynamics) -> bool {
    !dynamics.actions().stops.is_empty()
}
