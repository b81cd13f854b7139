//! [`Stop`]: why the command ends before its work is done, and the exit code that says so.

use std::path::Path;

use crate::output::short;

/// Exit code of wrong usage.
pub(crate) const USAGE: u8 = 2;
/// Exit code of a command that was asked to end: what a shell reports for one ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why the command ends before its work is done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The command was called in a way that makes no sense.
    Usage(String),
    /// The model, the run or a file failed.
    Failed(String),
    /// The same, with words that need no heading.
    Explained(String),
    /// Problems of a model as they are shown, with colours.
    Diagnosed(String),
    /// The user stopped the run.
    Interrupted(String),
}

impl Stop {
    /// A run that the user stopped at an instant, with what it has in a folder.
    pub(crate) fn interrupted(at_s: f64, run: &str, folder: &Path) -> Self {
        let (at_s, folder) = (short(at_s), folder.display());
        Self::Interrupted(format!(
            "interrupted at {at_s} s of {run}; what was computed until then is in {folder}"
        ))
    }

    /// The exit code of the command.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::Explained(_) | Self::Diagnosed(_) => 1,
            Self::Usage(_) => USAGE,
            Self::Interrupted(_) => INTERRUPTED,
        }
    }
}

impl<E: std::error::Error> From<E> for Stop {
    /// What fails anywhere below ends the command with what it says.
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => write!(formatter, "error: {text}"),
            Self::Explained(text) | Self::Diagnosed(text) | Self::Interrupted(text) => {
                formatter.write_str(text)
            }
        }
    }
}
