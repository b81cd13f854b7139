//! [`Folder`]: the rows of a sweep as they come, so that it goes on where it was stopped.
//!
//! ```text
//! sweep.json   which sweep it is: version, model, values, measures
//! rows.txt     a line per run that is done: its number, a blank, its row
//! ```
//!
//! A row is one line in whatever form its sweep has. It is appended at once, which a process that is killed does not undo, and a thread brings
//! it onto the disk within a second, which a machine that stops does not. A line that was cut off is dropped when the folder is opened
//! again, and its run is made anew.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::TABLE;

use crate::{IoError, atomic, resource};

/// The file that says which sweep it is.
pub const IDENTITY: &str = "sweep.json";
/// The file of the rows.
pub const ROWS: &str = "rows.txt";
/// Longest time that a row waits for others before all of them are brought onto the disk.
const GATHERED: Duration = Duration::from_millis(500);

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
    /// Length of the whole lines.
    length: u64,
    disk: Disk,
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
        let [file, table] = [ROWS, TABLE].map(|name| path.join(name));
        atomic::refuse_other_than_file(&file)?;
        atomic::refuse_unwritable(&table)?;
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
            // it would stand beside rows that are none of its
            match fs::remove_file(&table) {
                Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                    return Err(IoError::Write {
                        path: table,
                        reason,
                    }
                    .into());
                }
                _ => {}
            }
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
        let length = whole as u64;
        let disk = (rows.set_len(length))
            .and_then(|()| rows.seek(SeekFrom::End(0)))
            .and_then(|_| Disk::of(&rows));
        atomic::sync_names(path);
        let folder = Self {
            path: path.to_owned(),
            disk: disk.map_err(unwritable)?,
            rows,
            length,
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
        let written = self.append(&format!("{at} {row}\n"));
        written.map_err(|reason| self.unwritable(reason))
    }

    /// Waits until all rows are on the disk.
    ///
    /// # Errors
    ///
    /// [`IoError::Write`].
    pub fn close(mut self) -> Result<(), IoError> {
        let ended = self.disk.end();
        ended.map_err(|reason| self.unwritable(reason))
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if line.matches('\n').count() > 1 {
            let several = "a row of a sweep is one line";
            return Err(io::Error::new(io::ErrorKind::InvalidData, several));
        }
        // in one piece, so that nothing comes between
        if let Err(error) = self.rows.write_all(line.as_bytes()) {
            // a part of it would be in the way of the next
            self.rows.set_len(self.length)?;
            self.rows.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += line.len() as u64;
        self.disk.note_row()
    }

    fn unwritable(&self, reason: io::Error) -> IoError {
        IoError::Write {
            path: self.path.join(ROWS),
            reason,
        }
    }
}

/// The thread that brings rows onto the disk: one by one they would cost more than short runs, and the last must not wait for another.
#[derive(Debug)]
struct Disk {
    rows_come: Option<Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// The process that it lives in: one that is forked from it has no such thread, and would wait for it without end.
    process: u32,
}

impl Disk {
    fn of(rows: &File) -> io::Result<Self> {
        let rows = rows.try_clone()?;
        let (rows_come, heard) = channel();
        let sync = move || rows.sync_data();
        let thread = Builder::new().spawn(move || bring_to_disk(&heard, sync))?;
        Ok(Self {
            rows_come: Some(rows_come),
            thread: Some(thread),
            process: std::process::id(),
        })
    }

    /// Says that there is a row.
    fn note_row(&mut self) -> io::Result<()> {
        let is_heard = (self.rows_come.as_ref()).is_some_and(|told| told.send(()).is_ok());
        // a thread that does not hear has failed
        if is_heard { Ok(()) } else { self.end() }
    }

    /// Waits until all rows are there.
    fn end(&mut self) -> io::Result<()> {
        self.rows_come = None;
        let thread = self.thread.take();
        let thread = thread.filter(|_| self.process == std::process::id());
        thread.map_or(Ok(()), |thread| {
            let panicked = |_| Err(io::Error::other("nothing brings rows onto the disk"));
            thread.join().unwrap_or_else(panicked)
        })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // the rows are in the file; whether they reach the disk at once cannot be helped
        let _ = self.end();
    }
}

/// Brings rows onto the disk until no more can come, those together that come close together.
fn bring_to_disk(heard: &Receiver<()>, mut sync: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    while heard.recv().is_ok() {
        let until = Instant::now() + GATHERED;
        let left = || until.saturating_duration_since(Instant::now());
        while !left().is_zero() && heard.recv_timeout(left()).is_ok() {}
        sync()?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: a row reaches the disk though no other comes, rows that come together do so at once, and those of the end are waited for.
    #[test]
    fn no_row_waits_for_another() {
        /// Longest wait for a thread of a busy machine.
        const PATIENCE: Duration = Duration::from_secs(30);
        let (rows_come, heard) = channel();
        let (synced, seen) = channel();
        let thread = std::thread::spawn(move || {
            bring_to_disk(&heard, || synced.send(()).map_err(io::Error::other))
        });
        rows_come.send(()).unwrap();
        seen.recv_timeout(PATIENCE).unwrap();
        const ROWS: usize = 10_000;
        for _ in 0..ROWS {
            rows_come.send(()).unwrap();
        }
        drop(rows_come);
        thread.join().unwrap().unwrap();
        assert!((1..ROWS / 10).contains(&seen.iter().count()));
    }

    /// By construction: what keeps rows from the disk is said with the next row, and the rows before are still there.
    #[test]
    fn a_disk_that_fails_is_told() {
        let (rows_come, heard) = channel();
        let thread = std::thread::spawn(move || {
            bring_to_disk(&heard, || Err(io::Error::other("the disk is gone")))
        });
        let mut disk = Disk {
            rows_come: Some(rows_come),
            thread: Some(thread),
            process: std::process::id(),
        };
        let failure = std::iter::repeat_with(|| {
            std::thread::sleep(Duration::from_millis(10));
            disk.note_row()
        })
        .find_map(Result::err);
        assert_eq!(failure.unwrap().to_string(), "the disk is gone");
    }
}
