//! How a nodal mechanism comes to its nominal trajectory, and what its prescribed motions are at an instant.

use super::NodalModel;
use super::rigid::RigidNodal;
use lissom_core::{
    AxisId, MotionPoint, Nominal, NominalError, NominalMotions, Purpose, Trajectory,
};
use lissom_nodal::Drive;

/// The nominal trajectory of a nodal mechanism.
pub(super) type NodalTrajectory<'m> = Trajectory<RigidNodal<'m>>;

/// A prescribed motion as it is at an instant.
pub(super) fn drive_of(point: MotionPoint) -> Drive {
    Drive {
        value: point.position,
        rate: point.rate,
        acceleration: point.acceleration,
    }
}

impl NodalModel {
    /// What is prescribed at an instant.
    pub(super) fn drives(&self, time_s: f64) -> Vec<Drive> {
        let mut drives = self.mechanism.assembled_drives();
        self.write_drives(time_s, &mut drives);
        drives
    }

    /// Writes what is prescribed at an instant.
    pub(super) fn write_drives(&self, time_s: f64, drives: &mut [Drive]) {
        for (drive, curve) in drives.iter_mut().zip(&self.motions) {
            *drive = drive_of(curve.at(time_s));
        }
    }
}

impl Nominal for NodalModel {
    type Rigid<'a> = RigidNodal<'a>;

    fn nominal_motions(&self) -> NominalMotions<'_> {
        let is_motor = |axis| self.actions.gears.iter().any(|gear| gear.motor == axis);
        let is_driven = |&AxisId(axis): &AxisId| {
            let axis = &self.axes[axis];
            let drive = (self.mechanism).deformation_drive(axis.element, axis.deformation);
            drive.is_some()
        };
        // joints that follow where loops close may have a motion of their own
        let moves = |axis: &AxisId| self.has_loops || self.axis_dof(*axis).is_some();
        let axes = (0..self.axes.len()).map(AxisId);
        let axes = axes.filter(|axis| !is_motor(*axis) && !is_driven(axis) && moves(axis));
        NominalMotions {
            axes: axes.map(|axis| (axis, None)).collect(),
            actions: &self.actions,
            path: self.path.as_ref(),
            prescribes: !self.motions.is_empty(),
            start_s: self.start_s,
        }
    }

    /// Where joints of loops may exchange their places, a trajectory goes on past their dead points, with the loops open.
    fn rigid(&self, purpose: Purpose) -> Result<RigidNodal<'_>, NominalError> {
        let open = self.open().filter(|_| purpose != Purpose::Feedforward);
        RigidNodal::new(self, open, purpose)
    }
}
