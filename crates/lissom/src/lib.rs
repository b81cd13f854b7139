#![doc = include_str!("../README.md")]

pub use lissom_core::recording;
pub use lissom_core::recording::{Channel, Recording};
pub use lissom_core::study::{
    AnalysisError, DrivenJoints, Ending, Equilibrium, Linearized, OperatingPoint, OutputOrder,
    PerturbOptions, PerturbedRun, Run, SimulateOptions, Watch, mode_recording, sample_instants,
    sample_instants_from,
};
pub use lissom_core::{
    Audit, Divergence, EnergyAndMomentum, Kind, MarkerId, NominalDrives, NominalError, Quantity,
    RunError, SMALL_DEFLECTION_LENGTHS, SMALL_SLOPE_RAD, Signal, SignalId, Signals, Source, Stage,
    State, StateError,
};
pub use lissom_engine::{
    BuildError, Evaluator, Inputs, Mechanism, ModesOptions, RowQuantity, SampledError,
    SampledOptions, SampledSimulation, Simulation, StateRows,
};
pub use lissom_engine::{compare, converge, diagnose, evaluate, inverse, scene, shaping};
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

/// The examples of the README of the repository, which are tests like those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
