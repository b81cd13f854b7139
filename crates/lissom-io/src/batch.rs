//! [`Batch`]: files of one folder, and of folders in it, that are replaced together.
//!
//! ```text
//! results/arm/.lissom-7-0.new/    being written; the old files count
//! results/arm/.lissom-7-0.done/   complete: from this renaming on the new files count
//! results/arm/                    the files are moved here one after the other
//! ```
//!
//! A process that is killed leaves the old files if it had not come to the renaming, and the new ones if it had: [`Batch::begin`]
//! finishes what was complete and removes what was not, and readers find a file wherever it stands. Writers and
//! readers of a folder exclude each other by a lock on the folder, which ends with the process that holds it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::IoError;
use crate::atomic::{abandoned, forget, refuse_other_than_file, remember, sync_names, unique};
use crate::checksum::Checksum;

/// What the names of a batch's own folders begin with.
const BEGINNING: &str = ".lissom-";
/// What the name of a folder ends with that is being written.
const UNFINISHED: &str = ".new";
/// What the name of a folder ends with whose files count.
const FINISHED: &str = ".done";
/// The file of such a folder that names what is to be removed.
const REMOVED: &str = ".removed";

/// Files of one folder that are replaced together, or not at all.
#[derive(Debug)]
pub struct Batch {
    folder: PathBuf,
    stage: PathBuf,
    /// Held as long as the batch lives, so that nobody takes it for abandoned.
    _lock: Option<File>,
    /// Names of the files that are replaced.
    replaced: BTreeSet<String>,
    written: BTreeSet<String>,
    is_finished: bool,
}

/// A file of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where it will stand.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// CRC-32 of its content.
    pub crc32: u32,
}

impl Batch {
    /// Begins a batch in a folder, which is made if need be. It replaces the files of these names: those that it does not write are
    /// removed when it is finished, as parts of what it replaces. What processes that were killed left in the folder is
    /// finished, or removed if it was not complete.
    ///
    /// # Errors
    ///
    /// [`IoError::CreateFolder`], [`IoError::NotReplaced`] or [`IoError::Write`], with the path and the reason: if there is none, the
    /// files can be written.
    pub fn begin(folder: &Path, replaced: Vec<String>) -> Result<Self, IoError> {
        fs::create_dir_all(folder).map_err(|reason| IoError::CreateFolder {
            path: folder.to_owned(),
            reason,
        })?;
        for name in &replaced {
            place_of(folder, Path::new(name))?;
        }
        let _exclusive = lock(folder, File::lock);
        clear_up(folder)?;
        let stage = folder.join(format!("{BEGINNING}{}{UNFINISHED}", unique()));
        fs::create_dir(&stage).map_err(unwritable(folder))?;
        remember(&stage);
        Ok(Self {
            folder: folder.to_owned(),
            _lock: lock(&stage, File::lock),
            stage,
            replaced: replaced.into_iter().collect(),
            written: BTreeSet::new(),
            is_finished: false,
        })
    }

    /// Adds a file to those that the batch replaces.
    ///
    /// # Errors
    ///
    /// As [`Batch::write`].
    pub(crate) fn replace(&mut self, name: &str) -> Result<(), IoError> {
        place_of(&self.folder, Path::new(name))?;
        self.replaced.insert(name.to_owned());
        Ok(())
    }

    /// Where the files will stand.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of the batch, by its name or by its path below the folder (`default/recording.csv`).
    ///
    /// # Errors
    ///
    /// [`IoError::NotReplaced`] where anything but a file stands in its place, [`IoError::Write`] with the path and the reason.
    pub fn write(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut Checksum<BufWriter<File>>) -> io::Result<()>,
    ) -> Result<Written, IoError> {
        let path = place_of(&self.folder, Path::new(name))?;
        let write = || {
            let staged = self.stage.join(name);
            fs::create_dir_all(staged.parent().unwrap_or(&self.stage))?;
            let file = File::create_new(staged)?;
            let mut out = Checksum::of(BufWriter::new(file));
            fill(&mut out)?;
            let (mut out, bytes, crc32) = out.finish();
            out.flush()?;
            out.get_ref().sync_all()?;
            Ok((bytes, crc32))
        };
        let (bytes, crc32) = write().map_err(|reason| IoError::Write {
            path: path.clone(),
            reason,
        })?;
        self.written.insert(name.to_owned());
        Ok(Written { path, bytes, crc32 })
    }

    /// Writes something as a JSON file of the batch.
    ///
    /// # Errors
    ///
    /// As [`Batch::write`].
    pub fn write_json(&mut self, name: &str, content: &impl Serialize) -> Result<Written, IoError> {
        self.write(name, |out| {
            serde_json::to_writer_pretty(&mut *out, content)?;
            writeln!(out)
        })
    }

    /// Puts the files in their places.
    ///
    /// # Errors
    ///
    /// [`IoError::NotReplaced`] where anything but a file has come to stand in a place, [`IoError::Write`] with the folder and the reason.
    pub fn finish(mut self) -> Result<(), IoError> {
        let _exclusive = lock(&self.folder, File::lock);
        let done = self.complete().map_err(unwritable(&self.folder))?;
        move_into_place(&self.folder, &done)
    }

    /// From here on the new files count. The folder is locked.
    fn complete(&mut self) -> io::Result<PathBuf> {
        let removed = self.replaced.iter().filter(|name| {
            let stands = self.folder.join(name).symlink_metadata();
            !self.written.contains(*name) && stands.is_ok_and(|metadata| metadata.is_file())
        });
        let removed: Vec<&str> = removed.map(String::as_str).collect();
        fs::write(self.stage.join(REMOVED), removed.join("\n"))?;
        sync_names(&self.stage);
        let done = self.stage.with_extension(&FINISHED[1..]);
        forget(&self.stage);
        fs::rename(&self.stage, &done)?;
        self.is_finished = true;
        sync_names(&self.folder);
        Ok(done)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if !self.is_finished {
            // Nothing better can be done when this fails; the next batch tries again.
            let _ = fs::remove_dir_all(&self.stage);
        }
        forget(&self.stage);
    }
}

/// A folder while it is read: no batch is finished meanwhile, so that its files belong together. It may be a folder of a batch
/// that fills several.
#[derive(Debug)]
pub(crate) struct Reading {
    folder: PathBuf,
    /// The folder around it, in which a batch may be complete, and its own name there.
    around: Option<(PathBuf, OsString)>,
    _locks: [Option<File>; 2],
}

impl Reading {
    pub(crate) fn of(folder: &Path) -> Self {
        // a file that is named without a folder lies in the current one
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let around = folder.canonicalize().ok().and_then(|folder| {
            let name = folder.file_name()?.to_owned();
            Some((folder.parent()?.to_owned(), name))
        });
        let outer = around.as_ref().map(|(around, _)| around.as_path());
        Self {
            _locks: [outer, Some(folder)].map(|folder| lock(folder?, File::lock_shared)),
            around,
            folder: folder.to_owned(),
        }
    }

    /// Where a file of the folder stands: in its place, or complete on the way there.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let inside = staged(&self.folder, FINISHED).map(|stage| stage.join(name));
        let around = self.around.iter().flat_map(|(around, own)| {
            staged(around, FINISHED).map(move |stage| stage.join(own).join(name))
        });
        let found = around.chain(inside).find(|path| path.is_file());
        found.unwrap_or_else(|| self.folder.join(name))
    }
}

/// Finishes complete batches, and removes those whose writers are gone. The folder is locked.
fn clear_up(folder: &Path) -> Result<(), IoError> {
    for done in staged(folder, FINISHED) {
        move_into_place(folder, &done)?;
    }
    for stage in staged(folder, UNFINISHED) {
        if let Some(_lock) = abandoned(&stage) {
            fs::remove_dir_all(stage).map_err(unwritable(folder))?;
        }
    }
    Ok(())
}

/// Moves the files of a complete batch to their places. The batch may be one that came with a folder of somebody else: all of its
/// places are looked at before anything is touched.
fn move_into_place(folder: &Path, done: &Path) -> Result<(), IoError> {
    let mut names = Vec::new();
    add_files(done, Path::new(""), &mut names).map_err(unwritable(folder))?;
    names.retain(|name| name != Path::new(REMOVED));
    let removed = fs::read_to_string(done.join(REMOVED)).unwrap_or_default();
    let place = |name: &Path| place_of(folder, name);
    let removed = removed.lines().map(|name| place(Path::new(name)));
    let removed = removed.collect::<Result<Vec<PathBuf>, IoError>>()?;
    let places = names.iter().map(|name| place(name));
    let places = places.collect::<Result<Vec<PathBuf>, IoError>>()?;
    let finish = || {
        for path in removed {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // a folder that holds nothing any more goes too; one that holds something cannot be removed
            if let Some(around) = path.parent().filter(|&around| around != folder) {
                let _ = fs::remove_dir(around);
            }
        }
        let mut filled = BTreeSet::from([folder]);
        for (name, path) in names.iter().zip(&places) {
            let around = path.parent().unwrap_or(folder);
            if filled.insert(around) {
                fs::create_dir_all(around)?;
            }
            fs::rename(done.join(name), path)?;
        }
        filled.into_iter().for_each(sync_names);
        fs::remove_dir_all(done)
    };
    finish().map_err(unwritable(folder))
}

/// Adds the files of the folder `within` another, and of folders in it, by their paths below the other.
fn add_files(folder: &Path, within: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(within))? {
        let entry = entry?;
        let name = within.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(folder, &name, names)?;
        } else if kind.is_file() {
            names.push(name);
        } else {
            let reason = format!("{} is no file", entry.path().display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
    }
    Ok(())
}

/// Where a file of a batch goes: below the folder, not through a link, and in the place of nothing but a file.
fn place_of(folder: &Path, name: &Path) -> Result<PathBuf, IoError> {
    let mut path = folder.to_owned();
    for (depth, part) in name.components().enumerate() {
        let Component::Normal(part) = part else {
            let reason = "this leads out of the folder of the output";
            return Err(IoError::Write {
                path: folder.join(name),
                reason: io::Error::new(io::ErrorKind::InvalidInput, reason),
            });
        };
        // the folder itself may be reached by a link
        if depth > 0 && path.is_symlink() {
            let what = "a link";
            return Err(IoError::NotReplaced { path, what });
        }
        if depth > 0 && path.exists() && !path.is_dir() {
            let reason = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(IoError::Write { path, reason });
        }
        path.push(part);
    }
    refuse_other_than_file(&path)?;
    Ok(path)
}

/// An error in a folder that is written to.
fn unwritable(folder: &Path) -> impl Fn(io::Error) -> IoError {
    move |reason| IoError::Write {
        path: folder.to_owned(),
        reason,
    }
}

/// Folders of batches in a folder.
fn staged(folder: &Path, ending: &str) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_stage = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let named = name.starts_with(BEGINNING) && name.ends_with(ending);
        // a link is none of ours
        named && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut found: Vec<PathBuf> = entries.filter(is_stage).map(|entry| entry.path()).collect();
    found.sort();
    found.into_iter()
}

/// A lock on a folder, where the operating system has such.
fn lock(folder: &Path, kind: fn(&File) -> io::Result<()>) -> Option<File> {
    // a pipe in its place would wait for its writer
    if !folder.is_dir() {
        return None;
    }
    let file = File::open(folder).ok()?;
    kind(&file).ok()?;
    Some(file)
}
