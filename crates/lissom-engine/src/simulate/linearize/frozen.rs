//! Equations frozen at single instants of a motion, for modes: driven joints held or free, every instant in independent coordinates
//! of its own, floating bases told.
//!
//! While a mechanism moves, what its frozen equations say depends on the coordinates (their rates of change enter), by
//! squares of rates against squares of frequencies. A choice is therefore kept as long as it determines the rest well.

use nalgebra::DMatrix;

use super::derivatives::Derivatives;
use super::loops::Independent;
use super::{LinearizeError, Linearizer, MotionState};
use lissom_core::study::Linearize as _;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, FrozenPoint};
use lissom_tree::JointKind;
use lissom_tree::closure::Constraints;

/// A choice is ill-conditioned when dependent coordinates move so much more than when it was made.
const ILL_CONDITIONED: f64 = 10.0;
/// Share of an equation of a closure that is rounding.
const ROUNDING: f64 = 1e-10;

impl Linearizer<'_> {
    /// The equations frozen at states of rising instants, with the joints on which inputs act held, or `free`. `watch` is told
    /// every instant, and may stop.
    ///
    /// # Errors
    /// When the closures are singular somewhere, or the watcher stops.
    pub(super) fn frozen_at(
        &mut self,
        states: &[MotionState],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let held = if free {
            Vec::new()
        } else {
            self.driven_places()
        };
        let mut points = Vec::with_capacity(states.len());
        let mut choice = None;
        for state in states {
            points.push(self.frozen_point(state, &held, &mut choice, watch)?);
        }
        let rigid = match states.first() {
            Some(first) => self.rigid_motions(first),
            None => Vec::new(),
        };
        Ok(Frozen {
            coordinates: self.all_labels().coordinates,
            rigid: rigid.into_iter().filter(|at| !held.contains(at)).collect(),
            held,
            points,
        })
    }

    /// At a state, in the coordinates that were chosen before, with the largest part of the basis then, or in new ones.
    fn frozen_point(
        &mut self,
        state: &MotionState,
        held: &[usize],
        choice: &mut Option<(Independent, f64)>,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<FrozenPoint, LinearizeError> {
        let derivatives = self.derivatives(state, None, watch)?;
        let inertia = derivatives.linear.mass.clone();
        let time = state.time_s;
        if let Some((independent, largest)) = choice {
            let reduced = independent.reduce_linear(self, state, &derivatives);
            if let Ok(reduced) = reduced
                && reduced.basis.amax() <= ILL_CONDITIONED * *largest
            {
                return Ok(FrozenPoint {
                    time,
                    linear: reduced.linear,
                    basis: reduced.basis,
                    inertia,
                    gross: None,
                });
            }
        }
        let Some(independent) = Independent::choose(self, state, held)? else {
            return Ok(Self::tree_point(time, &derivatives, held));
        };
        let reduced = independent.reduce_linear(self, state, &derivatives)?;
        *choice = Some((independent, reduced.basis.amax()));
        Ok(FrozenPoint {
            time,
            linear: reduced.linear,
            basis: reduced.basis,
            inertia,
            gross: None,
        })
    }

    fn tree_point(time: f64, derivatives: &Derivatives, held: &[usize]) -> FrozenPoint {
        let n = derivatives.linear.mass.nrows();
        let moving: Vec<usize> = (0..n).filter(|at| !held.contains(at)).collect();
        FrozenPoint {
            time,
            linear: derivatives.linear.restricted(&moving),
            basis: DMatrix::identity(n, n).select_columns(&moving),
            inertia: derivatives.linear.mass.clone(),
            gross: None,
        }
    }

    /// Coordinates of free joints that no spring and no closure resists.
    pub(super) fn rigid_motions(&mut self, state: &MotionState) -> Vec<usize> {
        let model = self.model;
        let system = &model.linkage.system;
        self.load_plain(state);
        let plain = &mut self.plain;
        (plain.kinematics).update(system, &plain.position, &plain.velocity);
        let mut constraints = Constraints::<f64>::new(system, &model.linkage.closures);
        constraints.update(
            system,
            &model.linkage.closures,
            &mut plain.kinematics,
            &plain.position,
            &plain.velocity,
        );
        let closed = |at: usize| {
            (0..constraints.len()).any(|row| {
                let row = constraints.row(row);
                let largest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                row[at].abs() > ROUNDING * largest
            })
        };
        let entries = &self.equations.free_velocities;
        let mut rigid = Vec::new();
        for (k, body) in system.bodies().iter().enumerate() {
            if body.joint.kind != JointKind::Free
                || (model.ball_joint(k)).is_some_and(|joint| model.resists(joint))
            {
                continue;
            }
            let first = system.layout().joint_velocity[k];
            let own = first..first + body.joint.kind.velocities();
            let found: Vec<usize> = (own.clone())
                .filter(|&at| !closed(at))
                .filter_map(|at| entries.binary_search(&at).ok())
                .collect();
            // all or nothing: a point that is held is no floating whole
            if found.len() == own.len() {
                rigid.extend(found);
            }
        }
        rigid
    }
}
