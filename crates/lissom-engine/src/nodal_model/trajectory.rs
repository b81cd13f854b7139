//! What leads the nominal trajectory of a nodal mechanism: prescribed motions, inputs and the path of a marker, or its loads where
//! nothing leads it.

use super::NodalModel;
use super::rigid::RigidNodal;
use lissom_core::{AxisId, MotionPoint, NominalDrives, NominalError, NominalMotions, Trajectory};
use lissom_nodal::Drive;
use lissom_numerics::integrate::Flow;

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

/// What says how the joints of a nodal model move without deformation.
fn motions(nodal: &NodalModel) -> NominalMotions<'_> {
    let mechanism = &nodal.mechanism;
    let is_motor = |axis| nodal.actions.gears.iter().any(|gear| gear.motor == axis);
    let is_driven = |&AxisId(axis): &AxisId| {
        let axis = &nodal.axes[axis];
        let drive = mechanism.deformation_drive(axis.element, axis.deformation);
        drive.is_some()
    };
    // joints that follow where loops close may have a motion of their own
    let moves = |axis: &AxisId| nodal.has_loops || nodal.axis_dof(*axis).is_some();
    let axes = (0..nodal.axes.len()).map(AxisId);
    let axes = axes.filter(|axis| !is_motor(*axis) && !is_driven(axis) && moves(axis));
    NominalMotions {
        axes: axes.map(|axis| (axis, None)).collect(),
        actions: &nodal.actions,
        path: nodal.path.as_ref(),
        prescribes: !nodal.motions.is_empty(),
        start_s: nodal.start_s,
    }
}

/// The trajectory that inputs or controllers of a nodal model go by, if any do.
pub(super) fn trajectory(nodal: &NodalModel) -> Result<Option<NodalTrajectory<'_>>, NominalError> {
    Trajectory::for_actions(|| RigidNodal::for_feedforward(nodal), &motions(nodal))
}

/// The trajectory of a nodal model; forward dynamics where nothing leads it. Where joints of loops may exchange their places it goes
/// on past their dead points, with the loops open.
pub(super) fn any_trajectory(nodal: &NodalModel) -> Result<NodalTrajectory<'_>, NominalError> {
    let motions = motions(nodal);
    let open = nodal.open();
    if motions.lead() {
        let open = RigidNodal::new(nodal, open, |load| load.in_feedforward, false)?;
        return Trajectory::new(open, &motions);
    }
    let mechanism = RigidNodal::new(nodal, open, |_| true, true)?;
    let breakpoints = mechanism.inputs.breakpoints().collect();
    Trajectory::forward(mechanism, &motions, breakpoints)
}

/// The trajectory of a nodal model whose joints follow from loops or from the motion of a marker; `None` when inputs and prescribed motions
/// do not tell.
pub(super) fn followed_trajectory(nodal: &NodalModel) -> Option<NodalTrajectory<'_>> {
    if !nodal.has_loops && nodal.path.is_none() {
        return None;
    }
    let built = Trajectory::moving(
        RigidNodal::for_feedforward(nodal).ok()?,
        &motions(nodal),
        true,
    );
    let mut trajectory = built.ok()?;
    trajectory.follow(nodal.start_s).ok()?;
    Some(trajectory)
}

/// What the drives of a nodal model do along its nominal trajectory at instants, one after the other; nothing if no input asks.
pub(crate) fn nominal_drives(
    nodal: &NodalModel,
    times_s: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Vec<NominalDrives>, NominalError> {
    match trajectory(nodal)? {
        Some(mut trajectory) => trajectory.drives(&nodal.actions, times_s, watch),
        None => Ok(Vec::new()),
    }
}
