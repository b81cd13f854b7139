//! Files named in a model are read only below the model's folder, and files of a recording only in its own.
//!
//! Both may come from anywhere; reading them must not read what their author was not given.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::IoError;

/// The largest file that a model may name, in units of 2²⁰ bytes.
const LIMIT_MIB: u64 = 256;

/// The largest file of a recording that is read, in units of 2²⁰ bytes: no run records more.
const RECORDING_LIMIT_MIB: u64 = 16 << 10;

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The file.
    pub(crate) path: PathBuf,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

impl Content {
    /// What it holds as text.
    ///
    /// # Errors
    ///
    /// [`IoError::NotText`] if it is not UTF-8.
    pub(crate) fn text(self) -> Result<String, IoError> {
        let path = self.path;
        String::from_utf8(self.bytes).map_err(|error| IoError::NotText {
            path,
            byte: error.utf8_error().valid_up_to(),
        })
    }
}

/// Text of the file a model names, relative to the model's folder.
///
/// # Errors
///
/// [`IoError::Outside`] for absolute names, names with `..` and links that lead out of the folder;
/// [`IoError::Read`], [`IoError::NotAFile`], [`IoError::TooLarge`] (above 256 MiB) and
/// [`IoError::NotText`] (UTF-8) with the path.
pub fn read_below(folder: &Path, name: &str) -> Result<String, IoError> {
    content_below(folder, name)?.text()
}

/// The same for a file that may be none of text.
pub(crate) fn content_below(folder: &Path, name: &str) -> Result<Content, IoError> {
    // A model named without a folder lies in the current one.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let outside = || IoError::Outside {
        name: name.to_owned(),
        folder: folder.to_owned(),
    };
    let stays_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(stays_below) {
        return Err(outside());
    }
    let path = folder.join(name);
    let unreadable = |reason| IoError::Read {
        path: path.clone(),
        reason,
    };
    let root = folder.canonicalize().map_err(unreadable)?;
    let target = path.canonicalize().map_err(unreadable)?;
    if !target.starts_with(&root) {
        return Err(outside());
    }
    let bytes = read_at_most(&target, LIMIT_MIB)?;
    Ok(Content { path, bytes })
}

/// Text of a file that a user names by itself, of the size that a model may name.
///
/// # Errors
///
/// [`IoError::Read`], [`IoError::NotAFile`], [`IoError::TooLarge`] and [`IoError::NotText`] with the path.
pub fn read_text(path: &Path) -> Result<String, IoError> {
    let bytes = read_at_most(path, LIMIT_MIB)?;
    let path = path.to_owned();
    Content { path, bytes }.text()
}

/// Content of a file of a recording, which is no link that leads out of the folder in which it stands.
///
/// # Errors
///
/// [`IoError::Outside`], and as [`read_file`].
pub(crate) fn read_in_its_folder(path: &Path) -> Result<Vec<u8>, IoError> {
    let unreadable = |reason| IoError::Read {
        path: path.to_owned(),
        reason,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let root = folder.canonicalize().map_err(unreadable)?;
    let target = path.canonicalize().map_err(unreadable)?;
    if target.starts_with(root) {
        return read_file(path);
    }
    let name = path.file_name().unwrap_or_default().display().to_string();
    Err(IoError::Outside {
        name,
        folder: folder.to_owned(),
    })
}

/// Content of a file that a run or a user has left.
///
/// # Errors
///
/// [`IoError::Read`], [`IoError::NotAFile`] and [`IoError::TooLarge`] with the path.
pub fn read_file(path: &Path) -> Result<Vec<u8>, IoError> {
    read_at_most(path, RECORDING_LIMIT_MIB)
}

fn read_at_most(path: &Path, limit_mib: u64) -> Result<Vec<u8>, IoError> {
    let unreadable = |reason| IoError::Read {
        path: path.to_owned(),
        reason,
    };
    // Asked before opening: a pipe would wait for its writer, a huge file would fill the memory.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(IoError::NotAFile {
            path: path.to_owned(),
        });
    }
    if metadata.len() > limit_mib << 20 {
        return Err(IoError::TooLarge {
            path: path.to_owned(),
            limit_mib,
        });
    }
    fs::read(path).map_err(unreadable)
}
