//! [`Folder`]: the rows of a sweep as they come, so that it goes on where it was stopped.
//!
//! ```text
//! sweep.json   which sweep it is: version, model, values, measures
//! rows.txt     a line per run that is done: its number, a blank, its row
//! ```
//!
//! A row is one line in whatever form its sweep has. It is appended at once and brought onto the disk with the first row behind a second; a line that was cut off when a
//! process or machine ended is dropped when the folder is opened again, and its run is made anew.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{IoError, atomic, resource};

/// The file that says which sweep it is.
pub const IDENTITY: &str = "sweep.json";
/// The file of the rows.
pub const ROWS: &str = "rows.txt";
/// Longest time that a row waits for the disk while others come.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Why a folder cannot hold the rows of a sweep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// There are rows of another sweep.
    #[error(
        "{} holds rows of another sweep (other values or measures, another model or another version); name another folder, or \
         begin anew",
        folder.display()
    )]
    Other {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process adds rows.
    #[error("another sweep is writing to {}; wait for its end or name another folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else than rows stands in the file.
    #[error("line {line} of {} is no row of a sweep; name another folder, or begin anew", file.display())]
    NotARow {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
}

/// The rows of a sweep on the disk.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    rows: File,
    synced: Instant,
}

impl Folder {
    /// Opens a folder for the sweep that `identity` describes, with the rows that are there by their numbers. What is there of
    /// another sweep is refused, unless one is to begin `anew`.
    ///
    /// # Errors
    ///
    /// Why the folder cannot hold them.
    pub fn open(
        path: &Path,
        identity: &str,
        anew: bool,
    ) -> Result<(Self, BTreeMap<usize, String>), FolderError> {
        fs::create_dir_all(path).map_err(|reason| IoError::CreateFolder {
            path: path.to_owned(),
            reason,
        })?;
        let file = path.join(ROWS);
        atomic::refuse_other_than_file(&file)?;
        let unwritable = |reason| IoError::Write {
            path: file.clone(),
            reason,
        };
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let mut rows = options.open(&file).map_err(unwritable)?;
        if matches!(rows.try_lock(), Err(TryLockError::WouldBlock)) {
            let folder = path.to_owned();
            return Err(FolderError::Busy { folder });
        }
        if anew {
            rows.set_len(0).map_err(unwritable)?;
        }
        let text = resource::read_file(&file)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n');
        let whole = whole.map_or(0, |last| last + 1);
        let known = resource::read_in_its_folder(&path.join(IDENTITY)).ok();
        if known.as_deref() != Some(identity.as_bytes()) {
            if whole > 0 {
                let folder = path.to_owned();
                return Err(FolderError::Other { folder });
            }
            atomic::write(&path.join(IDENTITY), |out| {
                out.write_all(identity.as_bytes())
            })?;
        }
        let found = parsed(&file, &text[..whole])?;
        rows.set_len(whole as u64)
            .and_then(|()| rows.seek(SeekFrom::End(0)).map(drop))
            .map_err(unwritable)?;
        let folder = Self {
            path: path.to_owned(),
            rows,
            synced: Instant::now(),
        };
        Ok((folder, found))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds the row of a run, which is one line.
    ///
    /// # Errors
    ///
    /// [`IoError::Write`]; what was added before is still there.
    pub fn add(&mut self, at: usize, row: &str) -> Result<(), IoError> {
        let mut write = || {
            if row.contains('\n') {
                let several = "a row of a sweep is one line";
                return Err(io::Error::new(io::ErrorKind::InvalidData, several));
            }
            // in one piece, so that nothing comes between
            self.rows.write_all(format!("{at} {row}\n").as_bytes())?;
            if self.synced.elapsed() >= SYNC_EVERY {
                self.rows.sync_data()?;
                self.synced = Instant::now();
            }
            Ok(())
        };
        write().map_err(|reason| IoError::Write {
            path: self.path.join(ROWS),
            reason,
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // the rows are in the file; whether they reach the disk at once cannot be helped
        let _ = self.rows.sync_data();
    }
}

fn parsed(file: &Path, text: &[u8]) -> Result<BTreeMap<usize, String>, FolderError> {
    let mut found = BTreeMap::new();
    for (index, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let row = std::str::from_utf8(line).ok();
        let row = row.and_then(|line| line.strip_suffix('\n')?.split_once(' '));
        let row = row.and_then(|(at, row)| Some((at.parse().ok()?, row)));
        let (at, row) = row.ok_or_else(|| FolderError::NotARow {
            file: file.to_owned(),
            line: index + 1,
        })?;
        found.insert(at, row.to_owned());
    }
    Ok(found)
}
