//! Meshes that bodies are drawn by: read if they can be, told of if not.

use lissom::ModelSpec;

use super::Files;
use crate::visual::{VisualError, VisualMesh};

/// Most triangles of all meshes of a model together: some ten megabytes of a page.
const MOST_TRIANGLES: usize = 400_000;

impl Files<'_> {
    /// Reads the meshes that bodies are drawn by. Those that cannot be read are taken out of the model: a picture stops no run.
    pub(super) fn visuals(&mut self, spec: &mut ModelSpec) {
        let mut triangles = 0;
        spec.visual.retain(|visual| {
            let Some(mesh) = &visual.mesh else {
                return true;
            };
            if self.visuals.contains_key(&mesh.file) {
                return true;
            }
            match self.visual(&mesh.file, triangles) {
                Ok(read) => {
                    triangles += read.triangles.len();
                    self.visuals.insert(mesh.file.clone(), read);
                    true
                }
                Err(reason) => {
                    let note = format!(
                        "the mesh {:?} of {} is not drawn: {reason}",
                        mesh.file, visual.body
                    );
                    self.notes.push(note);
                    false
                }
            }
        });
    }

    fn visual(&mut self, name: &str, before: usize) -> Result<VisualMesh, String> {
        let content = self.find(name).map_err(|error| error.to_string())?;
        let mesh = VisualMesh::parse(name, &content.bytes).map_err(|error| error.to_string())?;
        if before + mesh.triangles.len() > MOST_TRIANGLES {
            let most = MOST_TRIANGLES;
            return Err(VisualError::TooMany { before, most }.to_string());
        }
        Ok(mesh)
    }
}
