//! What is done with a mechanism, whatever formulation its equations come from.
//!
//! A formulation implements [`Dynamics`]; everything here is written over that trait and sees neither trees nor nodes.
//!
//! | module | does |
//! |---|---|
//! | [`Dynamics`] | equations of a mechanism as integrators see them, and what can be read off an evaluated state |
//! | [`State`] | where a mechanism is: time, positions, velocities, works, memory |
//! | [`Signal`] | one quantity that can be named: its name, unit, kind and stage |
//! | [`Axis`] | one degree of freedom of a joint, as both formulations build it |
//! | [`LoadCurve`], [`MotionCurve`] | loads and motions as functions of time |
//! | [`Recording`], [`Audit`] | what a run leaves behind |
//! | [`study`] | what is asked of a mechanism: runs, and stepping |

mod audit;
mod axis;
mod bending;
mod dynamics;
mod error;
mod external;
mod integrator;
mod limit;
mod nominal;
mod profile;
pub mod recording;
mod sampler;
mod signal;
mod state;
mod stepper;
pub mod study;

pub use audit::{Audit, ClosureAudit, EnergyAudit, LimitViolation, MomentumAudit, Repartitioning};
pub use axis::{Axis, AxisName, Motor, Resistance, effort_label};
pub use bending::{BodyExtent, Divergence, SMALL_DEFLECTION_LENGTHS, SMALL_SLOPE_RAD};
pub use dynamics::{Dynamics, EnergyAndMomentum, FlexibleLink, Power};
pub use error::{PlaceError, RunError};
pub use external::External;
pub use integrator::Integrator;
pub use limit::{Limit, LimitedQuantity};
pub use nominal::NominalError;
pub use profile::{LoadCurve, MotionCurve, MotionPoint};
pub use recording::{Channel, Recording};
pub use sampler::{Sampler, marker_signals, snapshot};
pub use signal::{Kind, Signal, Stage};
pub use state::{State, StateError, state_of};
