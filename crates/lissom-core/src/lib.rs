//! What is done with a mechanism, whatever formulation its equations come from.
//!
//! A formulation implements [`Dynamics`]; everything here is written over that trait and sees neither trees nor nodes.
//!
//! | module | does |
//! |---|---|
//! | [`Dynamics`] | equations of a mechanism as integrators see them, and what can be read off an evaluated state |
//! | [`Controlled`] | the same with states of controllers and actuators |
//! | [`State`] | where a mechanism is: time, positions, velocities, works, memory |
//! | [`Signals`] | the one list of what can be named: [`Parts`] that a formulation has, and how they are read ([`Readout`]) |
//! | [`Axis`], [`Ball`] | joints as both formulations build them: one degree of freedom, or all rotations |
//! | [`Actions`] | what acts: springs, friction, gears, inputs, controllers, each written once over a [`View`] of a state |
//! | [`Trajectory`] | the nominal trajectory: paths, inverse kinematics, rigid inverse dynamics, over a [`RigidMechanism`] |
//! | [`Commands`] | inputs, prescribed motions and controllers at an instant, with the trajectory that they go by |
//! | [`Sensor`] | what sensors read of a state: bias, noise, resolution |
//! | [`LoadCurve`], [`MotionCurve`] | loads and motions as functions of time |
//! | [`SectionStress`] | stresses in a section of a beam |
//! | [`Recording`], [`Audit`] | what a run leaves behind |
//! | [`study`] | what is asked of a mechanism: runs, stepping, equilibrium, linearisation, perturbation |

mod action;
mod audit;
mod axis;
mod ball;
mod bending;
mod controlled;
mod dynamics;
mod error;
mod external;
mod integrator;
mod limit;
mod profile;
mod quasi_rates;
pub mod recording;
mod rotation;
mod sampler;
mod sensor;
mod signal;
mod state;
mod stepper;
mod stress;
pub mod study;
mod trajectory;
mod view;

pub use action::{
    Actions, Actuator, Contact, ControlLaw, ControlledAxis, Controller, Delivery, Due, Efforts,
    End, Feedback, Gear, Inputs, JointResistance, JointStop, Load, LoadTarget, Pid, Pull, Pulled,
    Resistance, Response, Sampling, StateSpaceLaw, Toward,
};
pub use audit::{Audit, ClosureAudit, EnergyAudit, LimitViolation, MomentumAudit, Repartitioning};
pub use axis::{Axis, AxisName, Motor, effort_label};
pub use ball::Ball;
pub use bending::{
    BodyExtent, Divergence, MISSING_STIFFNESS, MissingStiffness, SMALL_DEFLECTION_LENGTHS,
    SMALL_SLOPE_RAD, STIFFENING,
};
pub use controlled::{Controlled, with_control};
pub use dynamics::{Dynamics, EnergyAndMomentum, FlexibleLink, Impulse, Power};
pub use error::{PlaceError, RunError};
pub use external::External;
pub use integrator::Integrator;
pub use limit::{Limit, LimitedQuantity};
pub use profile::{LoadCurve, MotionCurve, MotionPoint};
pub use quasi_rates::{TurningJoint, quasi_rates};
pub use recording::{Channel, Recording};
pub use rotation::rotation_matrix;
pub use sampler::{Sampler, Selection, snapshot};
pub use sensor::{Measured, Sensor, read_outputs};
pub use signal::{
    BeamPart, ClosureEnd, ClosurePart, Coordinates, ElasticId, JointPart, JointReading, Kind,
    NodePart, NodeSignals, Parts, Quantity, Readout, Signal, SignalId, Signals, Source, Stage,
};
pub use state::{State, StateError, state_of};
pub use stress::{SectionStress, Stresses};
pub use trajectory::{
    AxisCurve, ClosureEquations, Commanded, Commands, MarkerPath, Nominal, NominalDrives,
    NominalError, NominalMotions, Order, Purpose, RigidMechanism, RigidState, Trajectory, joint_of,
};
pub use view::{AxisId, GaugeId, JointId, JointMotion, MarkerId, MarkerMotion, View};
