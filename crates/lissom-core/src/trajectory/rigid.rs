//! [`RigidMechanism`]: what the nominal trajectory needs of a formulation.

use lissom_spatial::{Motion, Transform};

use super::NominalError;
use crate::profile::MotionPoint;
use crate::view::{AxisId, JointId, MarkerId};

/// Motion of a rigid mechanism at one instant. How positions are laid out is the formulation's own affair.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidState {
    /// Positions.
    pub position: Vec<f64>,
    /// Velocities.
    pub velocity: Vec<f64>,
    /// Accelerations, one per velocity.
    pub acceleration: Vec<f64>,
}

impl RigidState {
    pub(super) fn copy(&mut self, other: &Self) {
        self.position.copy_from_slice(&other.position);
        self.velocity.copy_from_slice(&other.velocity);
        self.acceleration.copy_from_slice(&other.acceleration);
    }
}

/// Equations of closures where a rigid mechanism was placed last.
#[derive(Clone, Copy, Debug)]
pub struct ClosureEquations<'a> {
    /// What stays open.
    pub residual: &'a [f64],
    /// Its derivative by the velocities, by rows.
    pub jacobian: &'a [f64],
    /// Its derivative by time without velocities, if motions are prescribed beside them.
    pub drift: Option<&'a [f64]>,
    /// Its second derivative by time without accelerations.
    pub bias: &'a [f64],
}

/// Which derivative by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first one. Drift: what prescribed motions give while the velocities are zero.
    Rate,
    /// The second one. Drift: what there is while the accelerations are zero.
    Acceleration,
}

/// A mechanism whose bodies are all rigid. What is asked of it is asked where it was placed last.
pub trait RigidMechanism {
    /// The state in which the model has it start, at rest.
    fn start(&self) -> RigidState;

    /// The velocities with which the model has it start.
    fn start_velocity(&self) -> Vec<f64>;

    /// Whether coordinates follow from others.
    fn has_loops(&self) -> bool;

    /// Instants at which its loads are not smooth.
    fn breakpoints(&self) -> Vec<f64>;

    /// Number of equations of closures that it leaves open.
    fn closures(&self) -> usize;

    /// Places it at the positions of a state, under the motions prescribed at an instant.
    ///
    /// # Errors
    /// When there is no such configuration.
    fn place(&mut self, time_s: f64, state: &RigidState) -> Result<(), NominalError>;

    /// Takes the velocities of the state as well.
    fn set_velocity(&mut self, state: &RigidState);

    /// Both at once.
    ///
    /// # Errors
    /// When there is no such configuration.
    fn move_to(&mut self, time_s: f64, state: &RigidState) -> Result<(), NominalError> {
        self.place(time_s, state)?;
        self.set_velocity(state);
        Ok(())
    }

    /// Moves positions by velocities that last for a unit of time.
    fn displace(&mut self, position: &mut [f64], step: &[f64]);

    /// Equations of its closures.
    fn closure_equations(&self) -> ClosureEquations<'_>;

    /// Gives an axis that is a coordinate its motion.
    fn set_axis(&self, axis: AxisId, point: MotionPoint, state: &mut RigidState);

    /// Position of an axis.
    fn axis(&self, axis: AxisId, state: &RigidState) -> f64;

    /// Rate of an axis.
    fn axis_rate(&self, axis: AxisId, state: &RigidState) -> f64;

    /// Writes the derivative of an axis by the velocities into zeros.
    fn write_axis_row(&mut self, axis: AxisId, row: &mut [f64]);

    /// What moves an axis beside its row.
    fn axis_drift(&self, axis: AxisId, order: Order) -> f64;

    /// Writes the derivative of a component of the velocity of a spherical or free joint into zeros.
    fn write_component_row(&mut self, joint: JointId, component: usize, row: &mut [f64]);

    /// Pose of a marker.
    fn marker(&self, marker: MarkerId) -> Transform<f64>;

    /// Writes the derivatives of a marker's angular velocity and velocity in ground components: six rows.
    fn write_marker_rows(&mut self, marker: MarkerId, rows: &mut [f64]);

    /// What moves a marker beside its rows.
    fn marker_drift(&self, marker: MarkerId, order: Order) -> Motion<f64>;

    /// Generalised forces that a state takes beyond what acts on the joints of themselves and what is counted on.
    fn force(&mut self, time_s: f64, state: &RigidState, force: &mut [f64]);

    /// Mass matrix by rows, rotors among it.
    fn mass(&mut self, mass: &mut [f64]);
}
