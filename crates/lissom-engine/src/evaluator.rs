//! [`Evaluator`]: a mechanism evaluated at many states, one after the other.
//!
//! What it computes is what [`Mechanism::evaluate`] computes, with every joint free, but it keeps its workspace, and
//! each quantity is asked for by itself. What is asked of either formulation is the trait `AtStates`.

use std::sync::Arc;

use lissom_core::{EnergyAndMomentum, State};
use nalgebra::DMatrix;
use self_cell::self_cell;

use crate::evaluate::{EvaluateError, MarkerPose};
use crate::mechanism::Mechanism;

/// What is asked of a formulation at states of a mechanism that nothing drives. Vectors are those of states; what cannot be
/// evaluated is not a number.
pub(crate) trait AtStates: Send {
    /// Mass matrix, n × n by rows; where loops of a tree close, with its loops cut.
    fn mass_matrix(&mut self, time_s: f64, position: &[f64], mass: &mut [f64]);

    /// Generalised force of accelerations; where loops close, that of the tree with its loops cut.
    fn inverse_dynamics(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        acceleration: &[f64],
        force: &mut [f64],
    );

    /// Accelerations under a generalised force; where loops close, those that keep them closed.
    fn forward_dynamics(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
        acceleration: &mut [f64],
    );

    /// Derivatives of the accelerations under a generalised force by displacements of the position, by velocities and by the
    /// force; `None` where they are no numbers.
    fn forward_derivatives(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
    ) -> Option<[DMatrix<f64>; 3]>;

    /// Energy and momentum.
    fn energy_and_momentum(&mut self, time_s: f64, motion: [&[f64]; 2]) -> EnergyAndMomentum;

    /// Names of the markers.
    fn markers(&self) -> Vec<String>;

    /// Where a marker is; `None` where the mechanism cannot be.
    fn marker(&mut self, time_s: f64, motion: [&[f64]; 2], marker: usize) -> Option<MarkerPose>;

    /// The twist of a marker for every velocity at one, 6 × n by rows: angular velocity, then velocity of its point, in
    /// ground axes.
    fn jacobian(&mut self, time_s: f64, position: &[f64], marker: usize, jacobian: &mut [f64]);

    /// Where constant velocities lead from a position in unit time.
    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]);

    /// Constant velocities that lead from one position to another in unit time.
    fn difference(&self, from: &[f64], to: &[f64], change: &mut [f64]);

    /// Whether what is found of a state depends on it alone, and not on states before.
    fn is_independent(&self) -> bool;

    /// Evaluates the first [`SIDE_BY_SIDE`] of the rows at once, to the bits of single evaluations. False, and nothing is
    /// promised of `found`, where a formulation cannot or something is not a number.
    fn evaluate_side_by_side(
        &mut self,
        _: RowQuantity,
        _: &StateRows<'_>,
        _found: &mut [f64],
    ) -> bool {
        false
    }
}

/// States that are evaluated at once where a formulation can.
pub(crate) const SIDE_BY_SIDE: usize = 4;

/// What can be evaluated at many states in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowQuantity {
    /// [`Evaluator::mass_matrix`], n × n numbers a state.
    MassMatrix,
    /// [`Evaluator::inverse_dynamics`], of the accelerations that come with the states.
    InverseDynamics,
    /// [`Evaluator::forward_dynamics`], under the generalised forces that come with the states.
    ForwardDynamics,
}

/// States as rows of arrays.
#[derive(Clone, Copy, Debug)]
pub struct StateRows<'a> {
    /// Instant at which all of them are evaluated.
    pub time_s: f64,
    /// Positions and then velocities, row by row.
    pub motion: &'a [f64],
    /// Accelerations or forces, row by row: as many as there are states, one row for all of them, or none, which means zero.
    pub with: &'a [f64],
}

impl<'a> StateRows<'a> {
    /// How many states there are.
    fn len(&self, [n_q, n_v]: [usize; 2]) -> usize {
        self.motion.len() / (n_q + n_v)
    }

    /// Some of the rows.
    fn rows(&self, [n_q, n_v]: [usize; 2], from: usize, count: usize) -> Self {
        let with = if self.with.len() > n_v {
            &self.with[from * n_v..][..count * n_v]
        } else {
            self.with
        };
        Self {
            motion: &self.motion[from * (n_q + n_v)..][..count * (n_q + n_v)],
            with,
            ..*self
        }
    }

    /// Positions and velocities of a state.
    pub(crate) fn motion(&self, [n_q, n_v]: [usize; 2], at: usize) -> [&'a [f64]; 2] {
        let (position, velocity) = self.motion[at * (n_q + n_v)..][..n_q + n_v].split_at(n_q);
        [position, velocity]
    }

    /// What comes with a state; empty where nothing does.
    pub(crate) fn with(&self, [_, n_v]: [usize; 2], at: usize) -> &'a [f64] {
        if self.with.len() > n_v {
            &self.with[at * n_v..][..n_v]
        } else {
            self.with
        }
    }
}

type Workspace<'m> = Box<dyn AtStates + 'm>;

self_cell!(
    /// A mechanism with a workspace that reads it.
    struct Owned {
        owner: Arc<Mechanism>,
        #[covariant]
        dependent: Workspace,
    }
);

/// A mechanism with every joint free, ready to be evaluated at any of its states: what it takes to do so is made once.
///
/// Positions, velocities, accelerations and forces are in the order of [`coordinates`](Mechanism::coordinates) of its
/// [mechanism](Self::mechanism); an empty force is none, and methods may panic at other lengths. What cannot be evaluated is not
/// a number. Loops of the nodal formulation are closed from the state before: states far from each other may find another branch.
pub struct Evaluator {
    owned: Owned,
    counts: [usize; 2],
}

impl Evaluator {
    /// An evaluator of a mechanism, with every joint [free](Mechanism::released).
    ///
    /// # Errors
    /// When the mechanism cannot be made with every joint free.
    pub fn new(mechanism: &Mechanism) -> Result<Self, EvaluateError> {
        Self::of_released(Arc::new(mechanism.released()?))
    }

    /// The same of a mechanism that is [free](Mechanism::released) already.
    ///
    /// # Errors
    /// When it cannot be where its model has it start.
    pub fn of_released(released: Arc<Mechanism>) -> Result<Self, EvaluateError> {
        let start: State = released.written();
        let counts = [start.position.len(), start.velocity.len()];
        let owned = Owned::try_new(released, |mechanism| {
            mechanism.formulation().at_states(&start)
        })?;
        Ok(Self { owned, counts })
    }

    /// The mechanism that is evaluated.
    pub fn mechanism(&self) -> &Arc<Mechanism> {
        self.owned.borrow_owner()
    }

    /// Number of positions.
    pub fn position_count(&self) -> usize {
        self.counts[0]
    }

    /// Number of velocities.
    pub fn velocity_count(&self) -> usize {
        self.counts[1]
    }

    fn ask<R>(&mut self, ask: impl FnOnce(&mut dyn AtStates) -> R) -> R {
        self.owned.with_dependent_mut(|_, work| ask(&mut **work))
    }

    /// Writes the mass matrix, n × n by rows. Where loops close, it is that of the tree with its loops cut.
    pub fn mass_matrix(&mut self, time_s: f64, position: &[f64], mass: &mut [f64]) {
        self.ask(|work| work.mass_matrix(time_s, position, mass));
    }

    /// Writes the generalised force of accelerations: $`M\dot v + h`$. Where loops close, it is that of the tree with its
    /// loops cut.
    pub fn inverse_dynamics(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        acceleration: &[f64],
        force: &mut [f64],
    ) {
        self.ask(|work| work.inverse_dynamics(time_s, motion, acceleration, force));
    }

    /// Writes the accelerations under a generalised force. Where loops close, they stay closed.
    pub fn forward_dynamics(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
        acceleration: &mut [f64],
    ) {
        self.ask(|work| work.forward_dynamics(time_s, motion, force, acceleration));
    }

    /// Writes the derivatives of the accelerations under a generalised force, three matrices n × n by rows, without error but
    /// rounding: by [displacements](Self::displace) of the position, by velocities, by the force.
    ///
    /// Where loops of a tree close they are those of the equations that keep the closures' accelerations at zero, along changes of
    /// position and velocity that open the loops, too: changes that keep them closed change the closed mechanism so.
    pub fn forward_derivatives(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
        derivatives: &mut [f64],
    ) {
        let Some(found) = self.ask(|work| work.forward_derivatives(time_s, motion, force)) else {
            derivatives.fill(f64::NAN);
            return;
        };
        let entries = found.iter().flat_map(|found| {
            let rows = found.row_iter();
            rows.flat_map(|row| row.iter().copied().collect::<Vec<_>>())
        });
        for (own, entry) in derivatives.iter_mut().zip(entries) {
            *own = entry;
        }
    }

    /// Energy and momentum of a motion: positions and velocities.
    pub fn energy_and_momentum(&mut self, time_s: f64, motion: [&[f64]; 2]) -> EnergyAndMomentum {
        self.ask(|work| work.energy_and_momentum(time_s, motion))
    }

    /// Names of the markers, in the order by which they are asked for.
    pub fn markers(&self) -> Vec<String> {
        self.owned.borrow_dependent().markers()
    }

    /// Where a marker is and how it moves; `None` where the mechanism cannot be.
    ///
    /// # Panics
    /// If there is no such marker.
    pub fn marker(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        marker: usize,
    ) -> Option<MarkerPose> {
        self.ask(|work| work.marker(time_s, motion, marker))
    }

    /// Writes the Jacobian of a marker, 6 × n by rows: angular velocity, then velocity of its point, in ground axes, for
    /// every velocity at one.
    ///
    /// # Panics
    /// If there is no such marker.
    pub fn jacobian(&mut self, time_s: f64, position: &[f64], marker: usize, jacobian: &mut [f64]) {
        self.ask(|work| work.jacobian(time_s, position, marker, jacobian));
    }

    /// Whether what is found of a state depends on it alone. Nodes are placed from where they were before, and differ by rounding.
    pub fn is_independent(&self) -> bool {
        self.owned.borrow_dependent().is_independent()
    }

    /// Writes where constant velocities lead from a position in unit time: the sum of both where velocities are rates of
    /// positions, turned orientations where they are not.
    pub fn displace(&mut self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        self.ask(|work| work.displace(position, increment, displaced));
    }

    /// Writes the constant velocities that lead from one position to another in unit time; orientations turn the shorter way.
    pub fn difference(&mut self, from: &[f64], to: &[f64], change: &mut [f64]) {
        self.ask(|work| work.difference(from, to, change));
    }

    /// Writes something of many states, one after the other, each to the bits of a single call: a tree works on several states
    /// at a time.
    pub fn evaluate_rows(
        &mut self,
        quantity: RowQuantity,
        rows: &StateRows<'_>,
        found: &mut [f64],
    ) {
        let counts = self.counts;
        let n_v = counts[1];
        let size = match quantity {
            RowQuantity::MassMatrix => n_v * n_v,
            RowQuantity::InverseDynamics | RowQuantity::ForwardDynamics => n_v,
        };
        // nothing is found of what cannot move
        if size == 0 {
            return;
        }
        let still = match quantity {
            RowQuantity::InverseDynamics => vec![0.0; n_v],
            RowQuantity::MassMatrix | RowQuantity::ForwardDynamics => Vec::new(),
        };
        let rows = StateRows {
            with: if rows.with.is_empty() {
                &still
            } else {
                rows.with
            },
            ..*rows
        };
        let count = rows.len(counts);
        self.ask(|work| {
            for first in (0..count).step_by(SIDE_BY_SIDE) {
                let together = SIDE_BY_SIDE.min(count - first);
                let block = rows.rows(counts, first, together);
                let found = &mut found[first * size..][..together * size];
                if together == SIDE_BY_SIDE && work.evaluate_side_by_side(quantity, &block, found) {
                    continue;
                }
                for (at, found) in found.chunks_exact_mut(size).enumerate() {
                    let (motion, with) = (block.motion(counts, at), block.with(counts, at));
                    match quantity {
                        RowQuantity::MassMatrix => work.mass_matrix(rows.time_s, motion[0], found),
                        RowQuantity::InverseDynamics => {
                            work.inverse_dynamics(rows.time_s, motion, with, found);
                        }
                        RowQuantity::ForwardDynamics => {
                            work.forward_dynamics(rows.time_s, motion, with, found);
                        }
                    }
                }
            }
        });
    }
}
