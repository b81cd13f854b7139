//! A tree as studies linearise it.

use super::loops::Independent;
use super::{LinearizeError, Linearizer, MotionState};
use lissom_core::study::{Deviated, Deviation, Linearize, OutputOrder};
use lissom_core::{Actions, AxisId, Commanded, State};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Label, Labels, Point};

impl Linearize for Linearizer<'_> {
    type Motion = MotionState;

    fn moving(&mut self, state: &State) -> Result<MotionState, LinearizeError> {
        self.equations.commands.set_control(&state.control);
        let motion = State {
            control: Vec::new(),
            ..state.clone()
        };
        self.moving_state(state.time_s, &motion.packed())
    }

    fn in_equilibrium(&mut self, state: &State) -> Result<MotionState, LinearizeError> {
        let time_s = state.time_s;
        let n = self.model.linkage.velocities.len();
        let free = self.equations.free_positions.len();
        Ok(MotionState {
            time_s,
            position: self.equations.position_at(time_s, &state.position).to_vec(),
            velocity: vec![0.0; n],
            acceleration: vec![0.0; n],
            motors: (state.position[free..].iter())
                .map(|&position| [position, 0.0, 0.0])
                .collect(),
            control: state.control.clone(),
            undeformed: false,
        })
    }

    fn nominal(&mut self, time_s: f64) -> Result<MotionState, LinearizeError> {
        self.nominal_state(time_s)
    }

    fn steady(&mut self, motion: MotionState) -> MotionState {
        self.locked(&motion)
    }

    fn choose(&mut self, first: &MotionState) -> Result<(), LinearizeError> {
        self.independent = Independent::choose(self, first, &[])?;
        Ok(())
    }

    fn tolerate(&mut self) {
        if let Some(independent) = &mut self.independent {
            independent.tolerate();
        }
    }

    fn point(
        &mut self,
        motion: &MotionState,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Point, LinearizeError> {
        let whole = self.whole_point(motion, watch)?;
        let Some(mut independent) = self.independent.take() else {
            return Ok(whole);
        };
        let reduced = independent.reduce(self, motion, whole, order);
        self.independent = Some(independent);
        reduced
    }

    fn deviated(
        &mut self,
        motion: &MotionState,
        deviation: &Deviation<'_>,
        order: OutputOrder,
    ) -> Result<Deviated, LinearizeError> {
        self.deviated_from(motion, deviation, order)
    }

    fn state(
        &mut self,
        motion: &MotionState,
        deviation: &Deviation<'_>,
    ) -> Result<State, LinearizeError> {
        self.state_from(motion, deviation)
    }

    fn labels(&self) -> Labels {
        let all = self.all_labels();
        let chosen = self.independent().into_iter();
        Labels {
            coordinates: chosen.map(|i| all.coordinates[i].clone()).collect(),
            ..all
        }
    }

    fn actuated(&self) -> Vec<usize> {
        self.actuated_entries()
    }

    fn actions(&self) -> &Actions {
        &self.model.actions
    }

    fn place(&self, axis: AxisId) -> Option<usize> {
        self.axis_entry(axis)
    }

    fn commands(&self) -> &dyn Commanded {
        &self.equations.commands
    }

    fn coordinates(&self) -> Vec<Label> {
        self.all_labels().coordinates
    }

    fn independent(&self) -> Vec<usize> {
        match &self.independent {
            Some(independent) => independent.entries().to_vec(),
            None => (0..self.equations.state_velocities()).collect(),
        }
    }

    fn deviation(&mut self, state: &State, from: &MotionState) -> [Vec<f64>; 2] {
        self.whole_deviation(state, from)
    }

    fn frozen(
        &mut self,
        motions: &[MotionState],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        self.frozen_at(motions, free, watch)
    }

    fn frozen_lowest(
        &mut self,
        motion: &MotionState,
        free: bool,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<Frozen>, LinearizeError> {
        self.lowest_at(motion, free, count, watch)
    }
}
