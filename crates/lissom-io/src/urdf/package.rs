//! Where the files lie that a URDF file names: below its own folder, or below that of the package that it belongs to.
//!
//! | name | looked for |
//! |---|---|
//! | `package://NAME/meshes/arm.stl`, `model://…` | below the nearest folder above the URDF file that is called NAME and holds a `package.xml`, or is the first or second above |
//! | `../meshes/arm.stl`, `file:///…` | below the nearest folder above the URDF file that holds a `package.xml`, or below the URDF file's own |

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::IoError;

/// The file by which a folder is known as a package.
const DESCRIPTION: &str = "package.xml";

/// A file by the folder that it has to lie in, and by its name below that.
pub(crate) struct Located {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
}

/// The file that a URDF file of `folder` calls `name`.
///
/// # Errors
/// [`IoError::Read`] if there is no such package, [`IoError::Outside`] for names that lead out of the package.
pub(crate) fn locate(folder: &Path, name: &str) -> Result<Located, IoError> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let own = folder.canonicalize().map_err(|reason| IoError::Read {
        path: folder.to_owned(),
        reason,
    })?;
    let in_package = ["package://", "model://"]
        .iter()
        .find_map(|scheme| name.strip_prefix(scheme));
    if let Some(rest) = in_package {
        let (package, rest) = rest.split_once('/').unwrap_or((rest, ""));
        // a file from anywhere must not choose that all of /home is its package
        let is_package = |(above, folder): &(usize, &Path)| {
            let is_called_so = folder.file_name().is_some_and(|name| name == package);
            is_called_so && (*above < 2 || folder.join(DESCRIPTION).is_file())
        };
        let Some((_, root)) = own.ancestors().enumerate().find(is_package) else {
            let reason = format!("no folder above the URDF file is the package {package}");
            return Err(IoError::Read {
                path: PathBuf::from(name),
                reason: io::Error::new(io::ErrorKind::NotFound, reason),
            });
        };
        return Ok(Located {
            folder: root.to_owned(),
            name: rest.to_owned(),
        });
    }
    let mut packages = own.ancestors();
    let root = packages.find(|folder| folder.join(DESCRIPTION).is_file());
    let root = root.unwrap_or(&own);
    let wanted = own.join(name.strip_prefix("file://").unwrap_or(name));
    let below = without_steps_back(&wanted);
    let below = below
        .as_deref()
        .and_then(|path| path.strip_prefix(root).ok());
    match below.and_then(Path::to_str) {
        Some(below) => Ok(Located {
            folder: root.to_owned(),
            name: below.to_owned(),
        }),
        None => Err(IoError::Outside {
            name: name.to_owned(),
            folder: root.to_owned(),
        }),
    }
}

/// An absolute path in which `..` has taken away the folder before it; `None` if there is none.
fn without_steps_back(path: &Path) -> Option<PathBuf> {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !short.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => short.push(other),
        }
    }
    Some(short)
}
