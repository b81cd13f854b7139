//! [`IoError`]: what can go wrong with a file, with its path and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::table::TableError;

/// A file or folder that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The folder for the output does not exist and cannot be made.
    #[error(
        "cannot make the folder {}: {reason}; name a folder in a place you may write to",
        path.display()
    )]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// A file could not be written; what stood there before still does.
    #[error(
        "cannot write {}: {reason}; check free space and permissions of its folder",
        path.display()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system or the writer said.
        reason: io::Error,
    },
    /// Something stands in the place of a file that is none.
    #[error("{} is {what}, and nothing but a file is replaced; name another file", path.display())]
    NotReplaced {
        /// Where the file was to be written.
        path: PathBuf,
        /// What stands there.
        what: &'static str,
    },
    /// A file could not be read.
    #[error("cannot read {}: {reason}; check the name and the permissions", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// A file does not lie below the folder of the model that names it, or of the recording that it belongs to.
    #[error(
        "the file \"{name}\" does not lie below the folder {}; copy it there and name it relative to the folder",
        folder.display()
    )]
    Outside {
        /// The name of the file, as the model writes it.
        name: String,
        /// The folder of the model or recording.
        folder: PathBuf,
    },
    /// A folder, a device or a pipe stands where a file should.
    #[error("{} is not a file but a folder, a device or a pipe; name a file", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// A file is larger than any model needs.
    #[error("{} has more than {limit_mib} MiB; shorten or thin it", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size accepted, in units of 2²⁰ bytes.
        limit_mib: u64,
    },
    /// The files that a model names are larger together than any model needs.
    #[error(
        "with {name} the files of the model have more than {limit_mib} MiB together; name fewer or smaller ones, and none over and over"
    )]
    TooMuch {
        /// The file that is too much, as the model names it.
        name: String,
        /// The largest size accepted, in units of 2²⁰ bytes.
        limit_mib: u64,
    },
    /// A file holds something other than text.
    #[error("{} is not UTF-8 at byte {byte}; save it as {}", path.display(), as_text(path))]
    NotText {
        /// The file.
        path: PathBuf,
        /// Offset of the first byte that is not text.
        byte: usize,
    },
    /// A time table says something that is not a table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// What a file is to be saved as.
fn as_text(path: &Path) -> &'static str {
    if path.extension().is_some_and(|ending| ending == "msh") {
        "text (in Gmsh with Mesh.Binary = 0)"
    } else {
        "UTF-8 text"
    }
}
