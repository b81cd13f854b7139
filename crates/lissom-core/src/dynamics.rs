//! [`Dynamics`]: what studies see of a mechanism, whatever formulation its equations come from.

use lissom_numerics::integrate::{FirstOrder, IntegrateError, Outcome, SecondOrder};
use lissom_numerics::{Coordinate, Memory};
use lissom_spatial::Force;

use crate::audit::Audit;
use crate::error::{PlaceError, RunError};
use crate::external::External;
use crate::limit::LimitedQuantity;
use crate::signal::Readout;
use crate::state::{State, StateError, make_unit, state_of};
use crate::trajectory::Commanded;

/// Power that flows into and out of the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// From inputs and prescribed motions.
    pub input: f64,
    /// Into dampers and friction.
    pub dissipated: f64,
}

/// Where the energy of an impulse comes from and goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Work of the drives that keep joints on their prescribed motion.
    pub work: f64,
    /// Energy dissipated, never negative.
    pub dissipated: f64,
}

/// Energy and momentum of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct EnergyAndMomentum {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Strain energy, springs included.
    pub strain: f64,
    /// Energy in the field of gravity.
    pub gravity: f64,
    /// Momentum about the ground's origin.
    pub momentum: Force<f64>,
}

impl EnergyAndMomentum {
    /// Kinetic and potential energy.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.gravity
    }
}

/// A body whose bending must stay small.
#[derive(Clone, Debug, PartialEq)]
pub struct FlexibleLink {
    /// Name of the body.
    pub body: String,
    /// Largest distance of its nodes and mass points from its origin.
    pub length_m: f64,
    /// Its lowest frequency, if it brings no data by which it would stiffen when it rotates.
    pub unstiffened_rad_per_s: Option<f64>,
}

/// Equations of a mechanism as integrators see them, and what can be read off an evaluated state.
///
/// As a [`FirstOrder`] system the state is positions, velocities, work of the inputs and energy dissipated; as a
/// [`SecondOrder`] system it is positions and velocities, and the run sums up the works itself. States of controllers and actuators stand
/// behind the velocities: [`Controlled`](crate::Controlled) adds them to what a formulation says.
pub trait Dynamics: FirstOrder + SecondOrder + Readout + Send {
    /// Name, unit and kind of every entry of the state.
    fn state_layout(&self) -> Vec<Coordinate>;

    /// What the mechanism is told to do, to be changed.
    fn commands_mut(&mut self) -> &mut dyn Commanded;

    /// Instants strictly inside the span at which something is not smooth, sorted.
    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        self.commands().breakpoints(start, end)
    }

    /// Evaluates everything at a state; what follows reads it. Returns the power that flows.
    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power;

    /// Takes states of controllers and actuators for the evaluations that follow.
    fn set_control(&mut self, states: &[f64]) {
        self.commands_mut().set_control(states);
    }

    /// Changes states of sampled controllers as they do at an instant whose state was evaluated last, with `readings` of all sensors there.
    fn tick(&self, time: f64, readings: &[f64], states: &mut [f64]) {
        (self.commands()).tick(self.actions(), time, readings, states);
    }

    /// Instant from which ticks count.
    fn first_tick(&self) -> f64;

    /// How many of the velocities are states of controllers and actuators: the last.
    fn control_count(&self) -> usize {
        0
    }

    /// Energy and momentum of the evaluated state.
    fn energy_and_momentum(&mut self) -> EnergyAndMomentum;

    /// Value of a limited quantity in the evaluated state.
    fn limited(&mut self, quantity: LimitedQuantity) -> f64;

    /// Whether nothing outside acts on the mechanism.
    fn conserves_momentum(&self) -> bool;

    /// What keeps the energy balance from closing, a sentence each.
    fn non_conservative(&self) -> Vec<String> {
        Vec::new()
    }

    /// Bodies whose bending must stay small; none where it need not.
    fn flexible_links(&self) -> Vec<FlexibleLink> {
        Vec::new()
    }

    /// Largest displacement and largest rotation of a section of such a body in the evaluated state.
    fn bending(&self, _link: usize) -> [f64; 2] {
        [0.0; 2]
    }

    /// Angular velocity of such a body in the evaluated state, in size.
    fn rotation_rate(&self, _link: usize) -> f64 {
        0.0
    }

    /// Name of the coordinate that displaces such a body most in the evaluated state.
    fn leading_coordinate(&self, _link: usize) -> String {
        String::new()
    }

    /// Goes over to the coordinates of another [chart](FirstOrder::chart) at a state: positions and velocities in the
    /// coordinates that hold until then, and what else is integrated. For dynamics that look at what others integrate.
    fn change_chart(&mut self, _time: f64, _state: &[f64], _chart: &[usize]) {}

    /// Begins a piece of a motion at a state: the contacts of stops that it has there hold until the next, wherever evaluations are. For dynamics that
    /// look at what others integrate, and for those that go on within a piece.
    fn enter_piece(&mut self, _time: f64, _state: &[f64]) {}

    /// From here on states that others integrate are looked at, wherever they are: what was remembered of where the next step begins does not hold
    /// for them.
    fn observe(&mut self) {}

    /// Brings a state onto the closures that is not the next of a run.
    fn project_sample(&mut self, _time: f64, _state: &mut [f64]) {}

    /// Largest violation of closures at a state, of positions and of velocities.
    fn violation(&mut self, _time: f64, _state: &[f64]) -> Option<[f64; 2]> {
        None
    }

    /// Work of the drives, and energy dissipated, in an impulse that changed velocities; nothing where there are no impulses.
    fn impulse(
        &mut self,
        _time: f64,
        _positions: &[f64],
        _before: &[f64],
        _after: &[f64],
    ) -> Impulse {
        Impulse::default()
    }

    /// What the formulation knows of the end of a run that the integrator does not.
    fn failure(&self, _result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        None
    }

    /// Takes over an input, or gives it back to the model.
    fn set_input(&mut self, input: usize, external: Option<External>) {
        self.commands_mut().set_input(input, external);
    }

    /// The state at an instant of which recorded signals are known by their names.
    ///
    /// # Errors
    /// When one that is needed is not known.
    fn recorded_state(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let (layout, positions) = (self.state_layout(), self.position_count());
        let mut state = state_of(&layout, positions, time_s, value)?;
        make_unit(&layout[..positions], &mut state.position);
        Ok(state)
    }

    /// What evaluations remember beside the state.
    fn memory(&self) -> Memory {
        Memory::default()
    }

    /// Takes over what evaluations of somebody else remembered at the state that this one was made at.
    ///
    /// # Errors
    /// When the memory is not one of this mechanism.
    fn recall(&mut self, _memory: &Memory) -> Result<(), PlaceError> {
        Ok(())
    }

    /// Adds what only the formulation knows to the audit.
    fn finish(&self, _audit: &mut Audit) {}
}
