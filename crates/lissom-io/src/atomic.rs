//! A file is written whole or not at all: under a temporary name in the same folder, then renamed.
//!
//! Whoever writes holds a lock on the temporary file, which ends with the process. A temporary file that nobody holds was left
//! by a process that was killed; the next one that writes the same file removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::IoError;

/// Writes what `fill` produces to `path`, replacing a file that stands there.
///
/// The name comes to stand for the new content in one step, after it has reached the disk. Whatever
/// fails before leaves the old file as it was and no temporary file.
///
/// # Errors
///
/// [`IoError::NotReplaced`] where anything but a file stands there, [`IoError::Write`] with the path and the reason.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), IoError> {
    refuse_other_than_file(path)?;
    replace(path, fill).map_err(|reason| IoError::Write {
        path: path.to_owned(),
        reason,
    })
}

/// Refuses a path to which [`write`](fn@write) could write nothing, before the work whose result is to go there.
///
/// # Errors
///
/// As [`write`](fn@write).
pub fn refuse_unwritable(path: &Path) -> Result<(), IoError> {
    refuse_other_than_file(path)?;
    let tried = Temporary::beside(path).map(drop);
    tried.map_err(|reason| IoError::Write {
        path: path.to_owned(),
        reason,
    })
}

/// Refuses a path at which something stands that is not a file: renaming would replace a device, a pipe or a link.
pub(crate) fn refuse_other_than_file(path: &Path) -> Result<(), IoError> {
    let Ok(metadata) = path.symlink_metadata() else {
        return Ok(());
    };
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "a device, a pipe or a socket"
    };
    Err(IoError::NotReplaced {
        path: path.to_owned(),
        what,
    })
}

fn replace(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let (temporary, file) = Temporary::beside(path)?;
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()?;
    // its lock keeps others from taking it for abandoned until it has its name; Windows does not rename an open file
    let _held = (!cfg!(windows)).then_some(out);
    fs::rename(&temporary.path, path)
}

/// The temporary file; whoever drops it removes it, which after the rename finds nothing to remove.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(path: &Path) -> io::Result<(Self, File)> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not the name of a file",
            ));
        };
        let beginning = format!(".{}.", name.display());
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        remove_abandoned(folder.unwrap_or(Path::new(".")), &beginning);
        loop {
            let name = format!("{beginning}{}.tmp", unique());
            let path = path.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // where files cannot be locked, nobody takes them for abandoned either; elsewhere it may just have been taken for that
                    if file.lock().is_ok() && !path.exists() {
                        continue;
                    }
                    remember(&path);
                    return Ok((Self { path }, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing better can be done when this fails.
        let _ = fs::remove_file(&self.path);
        forget(&self.path);
    }
}

/// Temporary files and folders of this process.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes a temporary file or folder that is to go when the process ends in the midst.
pub(crate) fn remember(path: &Path) {
    let mut paths = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
    paths.push(path.to_owned());
}

/// Notes that one is gone.
pub(crate) fn forget(path: &Path) {
    let mut paths = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
    paths.retain(|known| known != path);
}

/// Removes what this process is writing and has not put in its place, for a process that ends in the midst.
pub fn remove_temporaries() {
    let paths = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths.iter() {
        // whatever stays is removed by the next process that writes there
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    // whoever would put something in its place waits for the end of the process
    std::mem::forget(paths);
}

/// A part of a name that no other writer uses: process and counter keep two writers of one file apart.
pub(crate) fn unique() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{count}", std::process::id())
}

/// Removes the temporary files of writers that are gone. Whatever cannot be removed stays.
fn remove_abandoned(folder: &Path, beginning: &str) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_temporary = name.starts_with(beginning) && name.ends_with(".tmp");
        if is_temporary && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            if let Some(_lock) = abandoned(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The lock of a file or folder that its writer holds as long as it lives, if nobody holds it.
pub(crate) fn abandoned(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Has the names of a folder reach the disk, where folders can be opened.
pub(crate) fn sync_names(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: writers of one file, each of which clears up after those that are gone, never take a living one for gone.
    #[test]
    fn writers_of_one_file_leave_each_other_alone() {
        const WRITERS: usize = 4;
        const TIMES: usize = 100;
        let folder = std::env::temp_dir().join(format!("lissom-writers-{}", unique()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("one.txt");
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    for _ in 0..TIMES {
                        write(&path, |out| out.write_all(b"whole")).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
