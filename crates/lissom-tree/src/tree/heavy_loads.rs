//! Bodies under loads that are much heavier than they are themselves.
//!
//! The large inertia of a load leaves its rounding in whatever is computed from it: factoring loses too many digits, and even the
//! [indirect inverse](super::indirect_inverse) keeps some of it where a body yields in some directions only and carries the whole mass in
//! the others. What inverse dynamics says the accelerations lack does not suffer from that: it adds up the acceleration of the load
//! before it multiplies by the inertia, and a correction divides by the same inertia. So one correction by
//! $`M^{-1}(\tau - c - M\dot v)`$, with the factor at hand, brings back what was lost.

use super::inverse_dynamics::{InverseDynamics, inverse_dynamics};
use super::{Kinematics, StageInertia};
use crate::{Place, System};
use lissom_spatial::Scalar;

/// Mass of what hangs on the nodes of a body over its own from which factoring loses too many digits, whatever it costs: a few modes may lose 1e-9
/// from three hundred on.
const HEAVY_LOAD: f64 = 2e2;
/// The same of a body with many modes: of nineteen in one plane factoring loses 1e-10 at a ratio of ten and 1e-7 at five hundred.
const HEAVY_LOAD_OF_MANY_MODES: f64 = 10.0;
/// Number of modes below which factoring stays within 1e-9 up to [`HEAVY_LOAD`]; six lose 5e-10.
const MANY_MODES: usize = 8;

/// Whether what hangs on the nodes of each body is much heavier than the body itself.
pub(super) fn heavily_loaded(system: &System) -> Vec<bool> {
    let bodies = system.bodies();
    let mut subtree: Vec<f64> = bodies.iter().map(|body| body.rigid.mass).collect();
    let mut hanging = vec![0.0; bodies.len()];
    for (k, body) in bodies.iter().enumerate().rev() {
        let Some(parent) = body.parent else { continue };
        subtree[parent] += subtree[k];
        if matches!(body.outboard, Place::Node { .. }) {
            hanging[parent] += subtree[k];
        }
    }
    let heavy = |modes: usize| {
        if modes >= MANY_MODES {
            HEAVY_LOAD_OF_MANY_MODES
        } else {
            HEAVY_LOAD
        }
    };
    let loaded = hanging.iter().zip(bodies);
    loaded
        .map(|(&load, body)| load > heavy(body.modes()) * body.rigid.mass)
        .collect()
}

/// What a correction of accelerations needs.
#[derive(Clone, Debug)]
pub(super) struct Refinement<T> {
    inverse: InverseDynamics<T>,
    pub(super) lacking: Vec<T>,
    pub(super) correction: Vec<T>,
}

impl<T: Scalar> Refinement<T> {
    /// For a system in which a body is heavily loaded.
    pub(super) fn of(system: &System) -> Option<Self> {
        let n = system.velocity_count();
        heavily_loaded(system).contains(&true).then(|| Self {
            inverse: InverseDynamics::new(system),
            lacking: vec![T::zero(); n],
            correction: vec![T::zero(); n],
        })
    }

    /// Leaves the generalised force that accelerations, and what a stage `added` to the inertia, do not explain in `lacking`.
    pub(super) fn compare(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        added: Option<&StageInertia>,
        generalized_force: &[T],
        acceleration: &[T],
    ) {
        inverse_dynamics(
            system,
            kinematics,
            acceleration,
            &mut self.inverse,
            &mut self.lacking,
        );
        if let Some(added) = added {
            added.add_force(system, acceleration, &mut self.lacking);
        }
        for (lacking, &force) in self.lacking.iter_mut().zip(generalized_force) {
            *lacking = force - *lacking;
        }
    }
}
