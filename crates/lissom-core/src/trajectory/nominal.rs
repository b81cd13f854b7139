//! [`Nominal`]: how a mechanism comes to its nominal trajectory, whatever formulation its rigid counterpart is in.

use lissom_numerics::integrate::Flow;

use super::{NominalDrives, NominalError, NominalMotions, RigidMechanism, Trajectory, asks};
use crate::action::{Actions, JointStop, Load};

/// What the rigid counterpart of a mechanism is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Inverse dynamics, under the loads that it counts on.
    Feedforward,
    /// The same motion without efforts, as far as it goes: past dead points of loops too.
    Trajectory,
    /// Forward dynamics under all loads.
    Forward,
}

impl Purpose {
    /// Whether a load acts.
    pub fn includes(self, load: &Load) -> bool {
        self == Self::Forward || load.in_feedforward
    }

    /// Stops that act: no drive is to press against one.
    pub fn stops(self, actions: &Actions) -> Vec<JointStop> {
        if self == Self::Forward {
            actions.stops.clone()
        } else {
            Vec::new()
        }
    }
}

/// A mechanism with a rigid counterpart.
pub trait Nominal {
    /// The mechanism with every body rigid.
    type Rigid<'a>: RigidMechanism
    where
        Self: 'a;

    /// What says how its joints move if every body is rigid.
    fn nominal_motions(&self) -> NominalMotions<'_>;

    /// Its rigid counterpart.
    ///
    /// # Errors
    /// When that cannot be where the model has it start.
    fn rigid(&self, purpose: Purpose) -> Result<Self::Rigid<'_>, NominalError>;

    /// The trajectory that inputs or controllers go by, if any do.
    ///
    /// # Errors
    /// When the rigid mechanism cannot be where the model has it start.
    fn trajectory(&self) -> Result<Option<Trajectory<Self::Rigid<'_>>>, NominalError> {
        let rigid = || self.rigid(Purpose::Feedforward);
        Trajectory::for_actions(rigid, &self.nominal_motions())
    }

    /// The trajectory, whether anything goes by it or not; forward dynamics where nothing says how the mechanism should move.
    ///
    /// # Errors
    /// When the rigid mechanism cannot be where the model has it start.
    fn any_trajectory(&self) -> Result<Trajectory<Self::Rigid<'_>>, NominalError> {
        let motions = self.nominal_motions();
        if motions.are_given() {
            Trajectory::new(self.rigid(Purpose::Trajectory)?, &motions)
        } else {
            Trajectory::forward(self.rigid(Purpose::Forward)?, &motions)
        }
    }

    /// The trajectory of a mechanism whose joints follow from loops or from the motion of a marker; `None` when inputs and prescribed motions do not
    /// tell.
    fn followed_trajectory(&self) -> Option<Trajectory<Self::Rigid<'_>>> {
        let motions = self.nominal_motions();
        let rigid = self.rigid(Purpose::Feedforward).ok()?;
        if !rigid.has_loops() && motions.path.is_none() {
            return None;
        }
        let mut trajectory = Trajectory::moving(rigid, &motions, true).ok()?;
        trajectory.follow(motions.start_s).ok()?;
        Some(trajectory)
    }

    /// What its drives do at instants along the trajectory, one after the other; nothing if no input asks. It ends early where whoever watches says
    /// so.
    ///
    /// # Errors
    /// When the trajectory cannot be followed or driven.
    fn nominal_drives(
        &self,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError> {
        let actions = self.nominal_motions().actions;
        if !asks(actions) {
            return Ok(Vec::new());
        }
        match self.trajectory()? {
            Some(mut trajectory) => trajectory.drives(actions, times_s, watch),
            None => Ok(Vec::new()),
        }
    }
}
