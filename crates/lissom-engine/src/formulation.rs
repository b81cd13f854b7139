//! What the engine asks of a formulation: [`Formulation`], which trees and nodal models implement.
//!
//! `Mechanism::formulation` is the one place that chooses between them; whatever is written over this trait, and over the
//! traits of `lissom-core`, works in both.

use std::collections::BTreeMap;

use lissom_core::study::{
    AnalysisError, Deviation, DrivenJoints, Found, Linearize, Linearized, LinearizedAt,
    OutputOrder, PerturbOptions, PerturbedRun, closed_loop, linearize, perturb, quasi_static,
};
use lissom_core::{
    Actions, Dynamics, NominalDrives, NominalError, PlaceError, RunError, State, StateError,
};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::Frozen;
use lissom_numerics::{Coordinate, Memory};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{InitialSpec, SimulationSpec};

use crate::diagnose::Inspect;
use crate::evaluate::Evaluate;
use crate::evaluator::AtStates;
use crate::scene::Drawable;

/// A mechanism in one formulation. It is constant: whatever changes is in states and in what the methods return.
pub(crate) trait Formulation: Evaluate + Inspect {
    /// The state that the model writes down, loops closed.
    fn written_state(&self, time_s: f64) -> State;

    /// A state near another whose loops are closed; joints whose positions or velocities are `given` stay where they are.
    fn closed_state(
        &self,
        state: State,
        given: &BTreeMap<String, f64>,
    ) -> Result<State, StateError>;

    /// A state in which parts of the formulation that were not given follow those that were, as where a model starts.
    fn followed_state(
        &self,
        _simulation: &SimulationSpec,
        state: State,
        _is_given: &dyn Fn(&str) -> bool,
    ) -> Result<State, StateError> {
        Ok(state)
    }

    /// Name, unit and kind of every entry of the states that a memory belongs to.
    fn state_layout(
        &self,
        simulation: &SimulationSpec,
        memory: &Memory,
    ) -> Result<Vec<Coordinate>, StateError>;

    /// The equilibrium near a state, at its instant, under what `initial` adds to the loads of the model.
    fn equilibrium(
        &self,
        initial: &InitialSpec,
        near: &State,
        watch: &mut dyn FnMut() -> Flow,
    ) -> Result<Found, RunError>;

    /// The equations of motion with their workspace, placed at a state.
    fn dynamics(
        &self,
        simulation: &SimulationSpec,
        start: &State,
    ) -> Result<Box<dyn Dynamics + '_>, RunError>;

    /// What acts on it.
    fn actions(&self) -> &Actions;

    /// The equations at states of a mechanism that nothing drives, with their workspace.
    fn at_states(&self, start: &State) -> Result<Box<dyn AtStates + '_>, RunError>;

    /// The derivatives of the equations of motion.
    fn linearizer(&self) -> Result<Box<dyn LinearAnalysis + '_>, RunError>;

    /// What the drives do at instants of the nominal trajectory, one after the other; nothing if no input asks for one. It ends early where whoever
    /// watches says so.
    fn nominal_drives(
        &self,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError>;

    /// The mechanism as it is drawn.
    fn drawable<'a>(&'a self, spec: &'a ModelSpec) -> Result<Box<dyn Drawable + 'a>, PlaceError>;
}

/// The linear analyses of `lissom-core`, whatever states of motion a formulation works with.
pub(crate) trait LinearAnalysis {
    /// The equations linearised at states, in a study that begins at `from`.
    fn linearized(
        &mut self,
        from: &State,
        states: &LinearizedAt<'_>,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Linearized, AnalysisError>;

    /// The run of the linear system along a nominal motion.
    fn perturbed(
        &mut self,
        simulation: &SimulationSpec,
        linearized: &Linearized,
        samples: &[f64],
        options: PerturbOptions,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<PerturbedRun, AnalysisError>;

    /// The start in the quasi-static deviation from the nominal motion.
    fn quasi_static(&mut self, start_s: f64) -> Result<State, AnalysisError>;

    /// The state at a deviation from the nominal motion at an instant.
    fn deviated_state(
        &mut self,
        time_s: f64,
        deviation: &Deviation<'_>,
    ) -> Result<State, AnalysisError>;

    /// The equations frozen at states, for modes; if no more than `few` of them are asked for, of one state perhaps in a space that contains
    /// the lowest.
    fn frozen(
        &mut self,
        states: &LinearizedAt<'_>,
        joints: DrivenJoints,
        few: Option<usize>,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, AnalysisError>;

    /// Instants at which a load or a motion is not smooth.
    fn breakpoints(&self) -> Vec<f64>;
}

impl<L: Linearize> LinearAnalysis for L {
    fn linearized(
        &mut self,
        from: &State,
        states: &LinearizedAt<'_>,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Linearized, AnalysisError> {
        let motions = states.motions(self, watch)?;
        let mut found = linearize(self, &motions, order, watch)?;
        if let Some(first) = motions.first() {
            found.begin_at(&self.deviation(from, first));
            let there = match states {
                LinearizedAt::Moving(states) => states.first().map(|state| &state.control),
                LinearizedAt::Equilibrium(state) => Some(&state.control),
                LinearizedAt::Nominal(_) => None,
            };
            found.begin_control_at(&from.control, there.map_or(&[], |own| &own[..]));
        }
        Ok(found)
    }

    fn perturbed(
        &mut self,
        simulation: &SimulationSpec,
        linearized: &Linearized,
        samples: &[f64],
        options: PerturbOptions,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<PerturbedRun, AnalysisError> {
        perturb(self, simulation, linearized, samples, options, watch)
    }

    fn quasi_static(&mut self, start_s: f64) -> Result<State, AnalysisError> {
        quasi_static(self, start_s)
    }

    fn deviated_state(
        &mut self,
        time_s: f64,
        deviation: &Deviation<'_>,
    ) -> Result<State, AnalysisError> {
        let motion = self.nominal(time_s)?;
        self.choose(&motion)?;
        Ok(self.state(&motion, deviation)?)
    }

    fn frozen(
        &mut self,
        states: &LinearizedAt<'_>,
        joints: DrivenJoints,
        few: Option<usize>,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, AnalysisError> {
        let motions = states.steady_motions(self, watch)?;
        if joints.closed_loop {
            let found = linearize(self, &motions, OutputOrder::First, watch)?;
            return closed_loop(self.actions(), &found, joints.free);
        }
        if let (Some(count), [motion]) = (few, &motions[..])
            && let Some(lowest) = self.frozen_lowest(motion, joints.free, count, watch)?
        {
            return Ok(lowest);
        }
        Ok(Linearize::frozen(self, &motions, joints.free, watch)?)
    }

    fn breakpoints(&self) -> Vec<f64> {
        Linearize::breakpoints(self)
    }
}
