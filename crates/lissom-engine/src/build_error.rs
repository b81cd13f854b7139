//! [`BuildError`]: why a spec is no mechanism.

use lissom_spec::{ModelError, Path};
use lissom_tree::closure::AssemblyError;

use crate::model;
use crate::nodal_model::NodalModelError;

/// Why a spec is no mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The model says something wrong.
    #[error(transparent)]
    Model(ModelError),
    /// A body cannot be reduced to elastic coordinates.
    #[error(transparent)]
    Body(model::BuildError),
    /// The model cannot be run in the nodal formulation.
    #[error(transparent)]
    Nodal(NodalModelError),
    /// A sensor has a channel of the same name as something else.
    #[error(
        "sensor {name:?} has a channel {channel}, and so has something else of the model; give the sensor another name"
    )]
    Channel {
        /// The sensor, by its place in the model.
        sensor: usize,
        /// Its name.
        name: String,
        /// The channel.
        channel: String,
    },
    /// The loops cannot be closed at the start.
    #[error("{error}")]
    Loops {
        /// The loop or joint concerned, or the section of loops.
        at: Path,
        /// What stays open.
        error: AssemblyError,
    },
}

impl BuildError {
    /// Where the model says what is wrong.
    pub fn path(&self) -> Path {
        match self {
            Self::Model(error) => error.path.clone(),
            Self::Body(error) => Path::root().key("body").index(error.body),
            Self::Nodal(error) => error.path(),
            Self::Channel { sensor, .. } => Path::root().key("sensor").index(*sensor).key("name"),
            Self::Loops { at, .. } => at.clone(),
        }
    }
}
