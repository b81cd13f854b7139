//! Bodies that models name files for, or describe as meshes and frames: read and reduced.

use lissom::ModelSpec;
use lissom::spec::{BeamFrameSpec, MatricesSpec, MeshSpec};
use lissom_fe::{Attached, FeError, Matrices, Reduction};

use super::{Files, Problem};
use crate::{body_file, meshes};

impl Files<'_> {
    /// Reads and reduces what bodies name.
    pub(super) fn bodies(&mut self, spec: &mut ModelSpec) {
        let mut attached = meshes::attached(spec);
        for (index, body) in spec.body.iter_mut().enumerate() {
            let path = lissom::Path::root().key("body").index(index);
            if let Some(name) = body.nodal_file.take() {
                let named_at = path.key("nodal_file");
                body.nodal = self.read(name, named_at, path.key("nodal"), body_file::parse_nodal);
            }
            if let Some(name) = body.reduced_file.take() {
                let named_at = path.key("reduced_file");
                body.reduced = self.read(name, named_at, path.key("reduced"), body_file::parse);
            }
            let mut attached = attached.remove(&body.name).unwrap_or_default();
            let mut made = None;
            if let Some(frame) = body.frame.take() {
                made = self.frame(&path.key("frame"), &frame, &attached);
            }
            if let Some(mesh) = body.mesh.take() {
                attached.points = std::mem::take(&mut body.node);
                made = self.mesh(&path, &mesh, &attached);
            }
            if let Some(made) = made {
                body.reduced = Some(made.body);
                let stiff = meshes::stiff_elements(&made.source);
                self.notes
                    .extend(stiff.map(|what| format!("{}: {what}", body.name)));
                self.meshes.insert(body.name.clone(), made.source);
            }
        }
    }

    /// The frame of beams at a path, reduced.
    fn frame(
        &mut self,
        path: &lissom::Path,
        frame: &BeamFrameSpec,
        attached: &Attached,
    ) -> Option<Reduction> {
        let error = match lissom_fe::reduce_frame(frame, attached, self.stop) {
            Ok(made) => return Some(made),
            Err(error) => error,
        };
        let at = match &error {
            FeError::Member { index, .. } => path.key("member").index(*index),
            _ => path.clone(),
        };
        self.problems.push(Problem::Frame { at, error });
        None
    }

    /// The mesh of the body at a path, reduced.
    fn mesh(
        &mut self,
        path: &lissom::Path,
        mesh: &MeshSpec,
        attached: &Attached,
    ) -> Option<Reduction> {
        let at = path.key("mesh");
        let matrices = match &mesh.matrices {
            Some(own) => Some(self.matrices(&at.key("matrices"), own)?),
            None => None,
        };
        let stop = self.stop;
        let reduce =
            |name: &str, text: &str| meshes::reduced(name, text, mesh, attached, matrices, stop);
        let stands_at = path.key("reduced");
        self.read(mesh.file.clone(), at.key("file"), stands_at, reduce)
    }

    fn matrices(&mut self, path: &lissom::Path, spec: &MatricesSpec) -> Option<Matrices> {
        let at = |key: &str| (path.key(key), path.key(key));
        let (named_at, stands_at) = at("mass");
        let mass = self.read(spec.mass.clone(), named_at, stands_at, meshes::mass);
        let (named_at, stands_at) = at("stiffness");
        let name = spec.stiffness.clone();
        let stiffness = self.read(name.clone(), named_at, stands_at, meshes::stiffness);
        let unknowns = spec.unknowns.clone().map(|name| {
            let (named_at, stands_at) = at("unknowns");
            self.read(name, named_at, stands_at, meshes::unknowns)
        });
        let mut geometric = Vec::new();
        for (index, own) in spec.geometric_stiffness.iter().enumerate() {
            let at = path.key("geometric_stiffness").index(index).key("file");
            let matrix = self.read(own.file.clone(), at.clone(), at, meshes::matrix);
            geometric.push((own.clone(), matrix?));
        }
        let unknowns = unknowns.map_or(Some(None), |read| read.map(Some))?;
        match meshes::together(&name, mass?, stiffness?, unknowns) {
            Ok(matrices) => Some(Matrices {
                geometric,
                ..matrices
            }),
            Err(error) => {
                let at = path.key("stiffness");
                self.problems.push(Problem::File { at, error });
                None
            }
        }
    }
}
