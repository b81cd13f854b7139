//! A nodal model as one of the two formulations.

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
    NodalLinearizer, NodalModel, equations_at, equilibrium, state_layout, unplaced, written_state,
};
use crate::evaluator::AtStates;
use crate::formulation::{Formulation, LinearAnalysis};
use crate::scene::{Drawable, DrawnNodes};

impl Formulation for NodalModel {
    fn written_state(&self, time_s: f64) -> State {
        written_state(self, time_s)
    }

    /// States hold independent coordinates alone, from which the others follow.
    fn closed_state(
        &self,
        state: State,
        _given: &BTreeMap<String, f64>,
    ) -> Result<State, StateError> {
        Ok(state)
    }

    fn state_layout(
        &self,
        _simulation: &SimulationSpec,
        memory: &Memory,
    ) -> Result<Vec<Coordinate>, StateError> {
        state_layout(self, memory)
    }

    fn equilibrium(
        &self,
        initial: &InitialSpec,
        near: &State,
        watch: &mut dyn FnMut() -> Flow,
    ) -> Result<Found, RunError> {
        equilibrium(self, initial, near, watch).map_err(|source| unplaced(&source, near.time_s))
    }

    fn dynamics(
        &self,
        _simulation: &SimulationSpec,
        start: &State,
    ) -> Result<Box<dyn Dynamics + '_>, RunError> {
        Ok(Box::new(equations_at(self, start)?))
    }

    fn actions(&self) -> &Actions {
        &self.actions
    }

    fn at_states(&self, start: &State) -> Result<Box<dyn AtStates + '_>, RunError> {
        Ok(Box::new(equations_at(self, start)?))
    }

    fn linearizer(&self) -> Result<Box<dyn LinearAnalysis + '_>, RunError> {
        let made = NodalLinearizer::new(self);
        Ok(Box::new(
            made.map_err(|source| unplaced(&source, self.start_s))?,
        ))
    }

    fn nominal_drives(
        &self,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError> {
        Nominal::nominal_drives(self, times_s, watch)
    }

    fn drawable<'a>(&'a self, _spec: &'a ModelSpec) -> Result<Box<dyn Drawable + 'a>, PlaceError> {
        Ok(Box::new(DrawnNodes::new(self)?))
    }
}
