//! [`SideBySide`]: several states of a tree evaluated at once, the recursions over [`Lanes`].
//!
//! Lanes do the operations of single evaluations in the same order: what is found has the same bits.

use std::array;

use super::Equations;
use crate::evaluator::{RowQuantity, SIDE_BY_SIDE, StateRows};
use crate::model::Model;
use lissom_spatial::{Lanes, Scalar as _};
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, mass_matrix,
};

type States = Lanes<SIDE_BY_SIDE>;

/// Workspace of the recursions.
#[derive(Clone, Debug)]
pub(super) struct SideBySide {
    position: Vec<States>,
    velocity: Vec<States>,
    /// Generalised forces that resist.
    resistance: Vec<States>,
    /// Generalised forces or accelerations that come with the states.
    given: Vec<States>,
    found: Vec<States>,
    kinematics: Kinematics<States>,
    articulated: ArticulatedBody<States>,
    inverse: InverseDynamics<States>,
    composite: CompositeBody<States>,
}

impl SideBySide {
    pub(super) fn new(model: &Model) -> Self {
        let system = &model.linkage.system;
        let (n_q, n_v) = (system.position_count(), system.velocity_count());
        let zeros = |n: usize| vec![States::zero(); n];
        Self {
            position: zeros(n_q),
            velocity: zeros(n_v),
            resistance: zeros(n_v),
            given: zeros(n_v),
            found: Vec::new(),
            kinematics: Kinematics::new(system),
            articulated: ArticulatedBody::new(system),
            inverse: InverseDynamics::new(system),
            composite: CompositeBody::new(system),
        }
    }

    /// Evaluates the states that rows hold. False where the mass matrix of one of them is not positive definite.
    pub(super) fn evaluate(
        &mut self,
        equations: &mut Equations<'_>,
        quantity: RowQuantity,
        rows: &StateRows<'_>,
        found: &mut [f64],
    ) -> bool {
        let system = &equations.model.linkage.system;
        let counts = [self.position.len(), self.velocity.len()];
        let motions: [_; SIDE_BY_SIDE] = array::from_fn(|lane| rows.motion(counts, lane));
        gather(&mut self.position, array::from_fn(|lane| motions[lane][0]));
        if quantity == RowQuantity::MassMatrix {
            self.velocity.fill(States::zero());
        } else {
            gather(&mut self.velocity, array::from_fn(|lane| motions[lane][1]));
            self.resist(equations, motions);
        }
        if !rows.with.is_empty() {
            gather(
                &mut self.given,
                array::from_fn(|lane| rows.with(counts, lane)),
            );
        }
        self.found
            .resize(found.len() / SIDE_BY_SIDE, States::zero());
        let Self {
            position,
            velocity,
            resistance,
            given,
            kinematics,
            ..
        } = self;
        kinematics.update(system, position, velocity);
        match quantity {
            RowQuantity::MassMatrix => {
                mass_matrix(system, kinematics, &mut self.composite, &mut self.found);
            }
            RowQuantity::InverseDynamics => {
                inverse_dynamics(
                    system,
                    kinematics,
                    given,
                    &mut self.inverse,
                    &mut self.found,
                );
                for (force, &resistance) in self.found.iter_mut().zip(&*resistance) {
                    *force -= resistance;
                }
            }
            RowQuantity::ForwardDynamics => {
                if !rows.with.is_empty() {
                    for (sum, &force) in resistance.iter_mut().zip(&*given) {
                        *sum += force;
                    }
                }
                self.articulated.factor(system, kinematics);
                self.articulated
                    .forward_dynamics(system, kinematics, resistance, &mut self.found);
                if !self.articulated.is_positive_definite(system) {
                    return false;
                }
            }
        }
        let size = self.found.len();
        for (lane, found) in found.chunks_exact_mut(size).enumerate() {
            for (found, values) in found.iter_mut().zip(&self.found) {
                *found = values.0[lane];
            }
        }
        true
    }

    /// Joint resistances of the states, one after the other: their laws have branches.
    fn resist(&mut self, equations: &mut Equations<'_>, motions: [[&[f64]; 2]; SIDE_BY_SIDE]) {
        self.resistance.fill(States::zero());
        let actions = &equations.model.actions;
        if actions.resistances.is_empty() && actions.stops.is_empty() {
            return;
        }
        for (lane, [position, velocity]) in motions.into_iter().enumerate() {
            equations.resist_bare(position, velocity);
            for (value, &force) in self.resistance.iter_mut().zip(&equations.force) {
                value.0[lane] = force;
            }
        }
    }
}

/// Rows side by side, each in a lane.
fn gather(values: &mut [States], rows: [&[f64]; SIDE_BY_SIDE]) {
    let [a, b, c, d] = rows.map(|row| &row[..values.len()]);
    for (at, value) in values.iter_mut().enumerate() {
        value.0 = [a[at], b[at], c[at], d[at]];
    }
}
