//! A nodal model frozen at instants of a motion on which axes exchange their places: every instant has degrees of freedom of its
//! own, and shapes are compared in the first ones and all axes that follow from them.

use lissom_core::study::{Linearize as _, LinearizeError, OutputOrder};
use lissom_core::{AxisId, Coordinates};
use lissom_nodal::ElementId;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, FrozenPoint, Label};
use nalgebra::DMatrix;

use super::charts::Charts;
use super::nominal::{NodalLinearizer, NodalMotion};

/// Coordinates in which shapes are compared, by the deformations that they are.
struct Common {
    labels: Vec<Label>,
    deformations: Vec<Option<(ElementId, usize)>>,
}

impl NodalLinearizer<'_> {
    /// The equations frozen at motions of rising instants, each in a chart that suits it, with driven axes held, or `free`.
    ///
    /// # Errors
    /// When an axis that is held reaches a dead point, or the watcher stops.
    pub(super) fn frozen_in_charts(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let common = self.common();
        let driven: Vec<AxisId> = self.nodal.actions.driven().collect();
        let place = |axis: &AxisId| {
            let axis = &self.nodal.axes[axis.0];
            common.place((axis.element, axis.deformation))
        };
        let held: Vec<usize> = driven.iter().filter_map(place).collect();
        let held = if free { Vec::new() } else { held };
        let mut points = Vec::with_capacity(motions.len());
        for motion in motions {
            points.push(self.frozen_point(motion, &common, &held)?);
            let at_s = motion.time_s();
            if watch(at_s) == Flow::Stop {
                return Err(LinearizeError::Stopped { at_s });
            }
        }
        Ok(Frozen {
            coordinates: common.labels,
            held,
            rigid: Vec::new(),
            points,
        })
    }

    /// The degrees of freedom of the first chart, then the axes that follow in it.
    fn common(&self) -> Common {
        let (nodal, first) = (self.nodal, self.nodal.first_chart().mechanism);
        let parts = nodal.coordinates_of_dofs(first);
        let mut labels: Vec<Label> = parts.iter().flat_map(Coordinates::deviations).collect();
        let mut deformations: Vec<_> = (0..first.dof_count())
            .map(|dof| first.dof_deformation(dof))
            .collect();
        for AxisId(at) in nodal.charts.iter().flat_map(Charts::followers) {
            let axis = &nodal.axes[at];
            labels.extend(Coordinates::Axis(AxisId(at), axis.name.clone()).deviations());
            deformations.push(Some((axis.element, axis.deformation)));
        }
        Common {
            labels,
            deformations,
        }
    }

    fn frozen_point(
        &mut self,
        motion: &NodalMotion,
        common: &Common,
        held: &[usize],
    ) -> Result<FrozenPoint, LinearizeError> {
        self.choose_afresh(motion)?;
        let point = self.point(motion, OutputOrder::First)?;
        let mechanism = self.chart.mechanism;
        let places: Vec<Option<usize>> = (0..mechanism.dof_count())
            .map(|dof| common.place(mechanism.dof_deformation(dof)?))
            .collect();
        let leads = |at: &usize| places.contains(&Some(*at));
        if !held.iter().all(leads) {
            let time_s = motion.time_s();
            return Err(LinearizeError::Singular { time_s });
        }
        let moves = |dof: &usize| places[*dof].is_none_or(|at| !held.contains(&at));
        let moving: Vec<usize> = (0..places.len()).filter(moves).collect();
        let mut basis = DMatrix::zeros(common.labels.len(), moving.len());
        for (column, &dof) in moving.iter().enumerate() {
            self.equations.set_unit_velocity(dof);
            for (row, deformation) in common.deformations.iter().enumerate() {
                basis[(row, column)] = match deformation {
                    _ if places[dof] == Some(row) => 1.0,
                    _ if leads(&row) => 0.0,
                    Some((element, index)) => self.equations.unit_rate(*element, *index),
                    None => 0.0,
                };
            }
        }
        let mut inertia = DMatrix::zeros(common.labels.len(), common.labels.len());
        for (i, row) in places.iter().enumerate() {
            for (j, column) in places.iter().enumerate() {
                if let (&Some(row), &Some(column)) = (row, column) {
                    inertia[(row, column)] = point.linear.mass[(i, j)];
                }
            }
        }
        Ok(FrozenPoint {
            time: point.time,
            linear: point.linear.restricted(&moving),
            basis,
            inertia,
        })
    }
}

impl Common {
    /// Which coordinate a deformation is.
    fn place(&self, deformation: (ElementId, usize)) -> Option<usize> {
        (self.deformations.iter()).position(|&own| own == Some(deformation))
    }
}
