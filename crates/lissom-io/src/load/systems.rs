//! Linear systems of controllers that stand in files of their own.

use std::io;

use lissom::ModelSpec;
use lissom::spec::StateSpaceSpec;

use super::{FileError, Files};
use crate::npz;

impl Files<'_> {
    /// Reads the matrices of controllers.
    pub(super) fn systems(&mut self, spec: &mut ModelSpec) {
        for (index, controller) in spec.controller.iter_mut().enumerate() {
            let path = lissom::Path::root().key("controller").index(index);
            let Some(law) = &mut controller.state_space else {
                continue;
            };
            if let Some(name) = law.file.take() {
                let path = path.key("state_space");
                let file = name.clone();
                let read = self.content(name, path.key("file"), path.clone(), |content| {
                    system(&content.bytes).map_err(|error| FileError::System {
                        message: error.to_string(),
                        file,
                    })
                });
                *law = read.unwrap_or_default();
            }
        }
    }
}

/// A linear system of an archive with the arrays A, B, C, D, and perhaps r.
fn system(bytes: &[u8]) -> io::Result<StateSpaceSpec> {
    let mut arrays = npz::read_matrices(bytes)?;
    let mut take = |name: &str| arrays.remove(name).unwrap_or_default();
    let law = StateSpaceSpec {
        file: None,
        a: take("A"),
        b: take("B"),
        c: take("C"),
        d: take("D"),
        reference: take("r").concat(),
    };
    if law.c.is_empty() && law.d.is_empty() {
        let reason = "it has neither C nor D";
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(law)
}
