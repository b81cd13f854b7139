//! A tree as studies linearise it.

use super::loops::Independent;
use super::{LinearizeError, Linearizer, MotionState};
use lissom_core::study::{Deviated, Deviation, Linearize, OutputOrder};
use lissom_core::{Actions, AxisId, State};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Actuation, Frozen, Label, Labels, Point};

impl Linearizer<'_> {
    /// Coordinates of the state that were chosen.
    fn kept(&self) -> Vec<usize> {
        match &self.independent {
            Some(independent) => independent.kept().to_vec(),
            None => (0..self.equations.state_velocities()).collect(),
        }
    }
}

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

    fn resting(&mut self, state: &State) -> Result<MotionState, LinearizeError> {
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
        let kept = self.kept().into_iter();
        Labels {
            coordinates: kept.map(|i| all.coordinates[i].clone()).collect(),
            ..all
        }
    }

    fn actuated(&self) -> Vec<usize> {
        self.actuated_entries()
    }

    fn driven(&self) -> Vec<usize> {
        let (driven, kept) = (self.driven_entries(), self.kept());
        let all = 0..kept.len();
        all.filter(|&i| driven.contains(&kept[i])).collect()
    }

    fn driven_inputs(&self) -> Vec<usize> {
        let (actuated, driven) = (self.actuated_entries(), self.driven_entries());
        let joints = self.equations.free_velocities.len();
        let acts = |input: &usize| match actuated.get(*input) {
            Some(entry) => driven.contains(entry) || *entry >= joints,
            // loads on markers come after the joints
            None => true,
        };
        let inputs = self.all_labels().inputs.len();
        (0..inputs).filter(acts).collect()
    }

    fn actions(&self) -> &Actions {
        &self.model.actions
    }

    fn place(&self, axis: AxisId) -> Option<usize> {
        self.axis_entry(axis)
    }

    fn actuation(&self) -> Actuation {
        self.equations.commands.actuation()
    }

    fn coordinates(&self) -> Vec<Label> {
        self.all_labels().coordinates
    }

    fn independent(&self) -> Vec<usize> {
        self.kept()
    }

    fn deviation(&mut self, state: &State, from: &MotionState) -> [Vec<f64>; 2] {
        self.whole_deviation(state, from)
    }

    fn breakpoints(&self) -> Vec<f64> {
        let commands = &self.equations.commands;
        commands.breakpoints(f64::NEG_INFINITY, f64::INFINITY)
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
