//! A nodal model frozen at instants of a motion on which axes exchange their places: every instant has degrees of freedom of its
//! own, and shapes are compared in the first ones and all axes that follow from them.

use lissom_core::study::{Linearize as _, LinearizeError, OutputOrder, linearize};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, FrozenPoint};
use nalgebra::DMatrix;

use super::nominal::{NodalLinearizer, NodalMotion};

impl NodalLinearizer<'_> {
    /// The equations frozen at motions of rising instants, in one set of degrees of freedom if that goes, with driven axes held, or
    /// `free`.
    ///
    /// # Errors
    /// When the mechanism cannot be linearised somewhere, or the watcher stops.
    pub(super) fn frozen_at(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let found = match linearize(self, motions, OutputOrder::First, watch) {
            Ok(found) if found.further.is_empty() => found,
            Ok(_)
            | Err(LinearizeError::IllConditioned { .. } | LinearizeError::Singular { .. })
                if self.nodal.charts.is_some() =>
            {
                return self.frozen_in_charts(motions, free, watch);
            }
            found => found?,
        };
        let held: &[usize] = if free { &[] } else { &found.driven };
        let mut frozen = Frozen::new(&found.trajectory, held);
        frozen.rigid = self.nodal.floating_dofs();
        Ok(frozen)
    }

    /// The equations frozen at motions of rising instants, each in a chart that suits it, with driven axes held, or `free`.
    ///
    /// # Errors
    /// When an axis that is held reaches a dead point, or the watcher stops.
    fn frozen_in_charts(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let held = if free {
            Vec::new()
        } else {
            self.driven_places()
        };
        let mut points = Vec::with_capacity(motions.len());
        for motion in motions {
            points.push(self.frozen_point(motion, &held, watch)?);
        }
        Ok(Frozen {
            coordinates: self.all.labels.clone(),
            held,
            rigid: Vec::new(),
            points,
        })
    }

    fn frozen_point(
        &mut self,
        motion: &NodalMotion,
        held: &[usize],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<FrozenPoint, LinearizeError> {
        self.choose(motion)?;
        let point = self.point(motion, OutputOrder::First, watch)?;
        let independent = self.independent();
        if !held.iter().all(|at| independent.contains(at)) {
            let time_s = motion.time_s;
            return Err(LinearizeError::Singular { time_s });
        }
        let moving: Vec<usize> = (0..independent.len())
            .filter(|&dof| !held.contains(&independent[dof]))
            .collect();
        let all = self.all.labels.len();
        let basis = match &point.dependence {
            Some(dependence) => dependence.basis.select_columns(&moving),
            None => DMatrix::identity(all, all).select_columns(&moving),
        };
        let mut inertia = DMatrix::zeros(all, all);
        for (i, &row) in independent.iter().enumerate() {
            for (j, &column) in independent.iter().enumerate() {
                inertia[(row, column)] = point.linear.mass[(i, j)];
            }
        }
        Ok(FrozenPoint {
            time: point.time,
            linear: point.linear.restricted(&moving),
            basis,
            inertia,
            gross: None,
        })
    }
}
