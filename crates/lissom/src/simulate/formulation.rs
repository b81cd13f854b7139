//! What a run needs of the equations of a mechanism, whatever formulation they come from.

use crate::model::{Coordinate, Limit, LimitedQuantity};
use crate::simulate::audit::Audit;
use crate::simulate::extent::{Departure, Extents};
use crate::simulate::run::RunError;
use lissom_numerics::integrate::{FirstOrder, IntegrateError, Outcome, SecondOrder};
use lissom_spatial::Force;

/// Power that flows into and out of the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Power {
    /// From inputs and prescribed motions.
    pub(crate) input: f64,
    /// Into dampers and friction.
    pub(crate) lost: f64,
}

/// Energy and momentum of a mechanism.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holdings {
    /// Kinetic energy.
    pub(crate) kinetic: f64,
    /// Strain energy, springs included.
    pub(crate) strain: f64,
    /// Energy in the field of gravity.
    pub(crate) gravity: f64,
    /// Momentum about the ground's origin.
    pub(crate) momentum: Force<f64>,
}

/// Equations of a mechanism as integrators see them, and what can be read off an evaluated state.
///
/// As a [`FirstOrder`] system the state is positions, velocities, work of the inputs and work lost; as a
/// [`SecondOrder`] system it is positions and velocities, and the run sums up the works itself.
pub(crate) trait Formulation: FirstOrder + SecondOrder {
    /// The state at the start, works included.
    fn initial_state(&self) -> Vec<f64>;

    /// Name, unit and kind of every entry of the state.
    fn state_layout(&self) -> Vec<Coordinate>;

    /// Instants strictly inside the span at which something is not smooth, sorted.
    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64>;

    /// Evaluates everything at a state; what follows reads it. Returns the power that flows.
    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power;

    /// Name and unit of every channel but energy and momentum.
    fn channels(&self) -> Vec<(String, String)>;

    /// Appends the values of these channels in the evaluated state.
    fn read(&mut self, row: &mut Vec<f64>);

    /// Energy and momentum of the evaluated state.
    fn holdings(&mut self) -> Holdings;

    /// Limits to be watched.
    fn limits(&self) -> &[Limit];

    /// Value of a limited quantity in the evaluated state.
    fn limited(&self, quantity: LimitedQuantity) -> f64;

    /// Whether nothing outside acts on the mechanism.
    fn conserves_momentum(&self) -> bool;

    /// What keeps the energy balance from closing, a sentence each.
    fn unbalanced_by(&self) -> Vec<String> {
        Vec::new()
    }

    /// Bodies whose bending must stay small; none where it need not.
    fn extents(&self) -> Extents {
        Extents::default()
    }

    /// Looks at their bending in the evaluated state; tells of the first one displaced by more than `most` of
    /// its lengths.
    fn look(&self, _extents: &mut Extents, _time: f64, _most: f64) -> Option<Departure> {
        None
    }

    /// Brings a state onto the closures that is not the next of a run.
    fn settle_sample(&mut self, _time: f64, _state: &mut [f64]) {}

    /// Largest violation of closures at a state, of positions and of velocities.
    fn violation(&mut self, _time: f64, _state: &[f64]) -> Option<[f64; 2]> {
        None
    }

    /// What the formulation knows of the end of a run that the integrator does not.
    fn trouble(&self, _result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        None
    }

    /// Adds what only the formulation knows to the books.
    fn conclude(&self, _audit: &mut Audit) {}
}
