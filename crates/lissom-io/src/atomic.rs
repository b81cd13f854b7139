//! A file is written whole or not at all: under a temporary name in the same folder, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::IoError;

/// Writes what `fill` produces to `path`, replacing a file that stands there.
///
/// The name comes to stand for the new content in one step, after it has reached the disk. Whatever
/// fails before leaves the old file as it was and no temporary file.
///
/// # Errors
///
/// [`IoError::Write`] with the path and the reason.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), IoError> {
    replace(path, fill).map_err(|reason| IoError::Write {
        path: path.to_owned(),
        reason,
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
    // Windows does not rename an open file.
    drop(out);
    fs::rename(&temporary.path, path)
}

/// The temporary file; whoever drops it removes it, which after the rename finds nothing to remove.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(path: &Path) -> io::Result<(Self, File)> {
        // Process and counter keep two writers of one file apart.
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not the name of a file",
            ));
        };
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".{}.{}-{count}.tmp", name.display(), std::process::id());
            let path = path.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Self { path }, file)),
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
    }
}
