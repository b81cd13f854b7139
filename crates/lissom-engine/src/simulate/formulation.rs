//! A tree as one of the two formulations.

use std::collections::BTreeMap;

use lissom_core::study::Found;
use lissom_core::{
    Actions, Dynamics, Nominal, NominalDrives, NominalError, PlaceError, RunError, State,
    StateError,
};
use lissom_numerics::integrate::Flow;
use lissom_numerics::{Coordinate, Memory};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{InitialSpec, SimulationSpec};

use super::{
    Equations, Linearizer, closed_state, equations_at, equilibrium, follow_given, written_state,
};
use crate::evaluator::AtStates;
use crate::formulation::{Formulation, LinearAnalysis};
use crate::model::Model;
use crate::scene::{Drawable, DrawnTree};

impl Formulation for Model {
    fn written_state(&self, time_s: f64) -> State {
        written_state(self, time_s)
    }

    fn closed_state(
        &self,
        state: State,
        given: &BTreeMap<String, f64>,
    ) -> Result<State, StateError> {
        closed_state(self, state, given)
    }

    /// The orientation of an exact tip follows the deformation of its beam.
    fn followed_state(
        &self,
        simulation: &SimulationSpec,
        mut state: State,
        is_given: &dyn Fn(&str) -> bool,
    ) -> Result<State, StateError> {
        let layout = self.state_layout(simulation, &state.memory)?;
        follow_given(self, &layout, &mut state, is_given);
        Ok(state)
    }

    /// States of a tree hold all its coordinates, whichever of them are independent.
    fn state_layout(
        &self,
        simulation: &SimulationSpec,
        _memory: &Memory,
    ) -> Result<Vec<Coordinate>, StateError> {
        let written = written_state(self, simulation.start_s);
        let equations = equations_at(self, simulation, &written);
        let equations = equations.map_err(|error| StateError::Unplaced {
            reason: error.to_string(),
        })?;
        Ok(equations.state_layout())
    }

    fn equilibrium(
        &self,
        initial: &InitialSpec,
        near: &State,
        watch: &mut dyn FnMut() -> Flow,
    ) -> Result<Found, RunError> {
        let time_s = near.time_s;
        equilibrium(self, initial, near, watch)
            .map_err(|source| RunError::NoEquilibrium { source, time_s })
    }

    fn dynamics(
        &self,
        simulation: &SimulationSpec,
        start: &State,
    ) -> Result<Box<dyn Dynamics + '_>, RunError> {
        Ok(Box::new(equations_at(self, simulation, start)?))
    }

    fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Loops by multipliers: no choice of independent coordinates would be good at every state.
    fn at_states(&self, start: &State) -> Result<Box<dyn AtStates + '_>, RunError> {
        let equations = Equations::by_multipliers(self, start);
        equations.refuse_open(start.time_s)?;
        Ok(Box::new(equations))
    }

    fn linearizer(&self) -> Result<Box<dyn LinearAnalysis + '_>, RunError> {
        Ok(Box::new(Linearizer::new(self)))
    }

    fn nominal_drives(
        &self,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError> {
        Nominal::nominal_drives(self, times_s, watch)
    }

    fn drawable<'a>(&'a self, spec: &'a ModelSpec) -> Result<Box<dyn Drawable + 'a>, PlaceError> {
        Ok(Box::new(DrawnTree::new(spec, self)))
    }
}
