#![doc = include_str!("../README.md")]

pub mod compare;
pub mod converge;
pub mod cost;
mod end_effector;
pub mod evaluate;
pub mod inverse;
mod sampled;
pub mod shaping;
mod simulation;

pub use lissom_core::recording;
pub use lissom_core::recording::{Channel, Recording};
pub use lissom_core::study::{
    AnalysisError, DrivenJoints, Ending, Equilibrium, Linearized, OperatingPoint, OutputOrder,
    PerturbOptions, PerturbedRun, Run, SimulateOptions, Watch, mode_recording, sample_instants,
    sample_instants_from,
};
pub use lissom_core::{
    Audit, Divergence, Kind, MarkerId, NominalDrives, Quantity, RunError, SMALL_DEFLECTION_LENGTHS,
    SMALL_SLOPE_RAD, Signal, Signals, Source, Stage, State, StateError,
};
pub use lissom_engine::{BuildError, Evaluator, Mechanism, ModesOptions, RowQuantity, StateRows};
pub use lissom_engine::{diagnose, scene};
pub use lissom_numerics::integrate::Flow;
pub use lissom_numerics::linear::{
    Complex, Crossing, Frozen, Growth, Interpolation, LinearError, LinearizedTrajectory, ModeAt,
    Point, SignalNames, StateSpace, Terms, TrackedModes, Transfer,
};
pub use lissom_numerics::statics::Stability;
pub use lissom_numerics::{Coordinate, CoordinateKind, Memory};
pub use lissom_spec::{
    ErrorKind, Fidelity, ModelError, ModelSpec, Override, Path, TEMPLATE, json_schema, spec,
};
pub use sampled::{SampledError, SampledOptions, SampledSimulation};
pub use simulation::{Inputs, Simulation};

/// The examples of the README of the repository, which are tests like those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
