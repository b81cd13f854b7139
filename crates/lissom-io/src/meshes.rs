//! Meshes and matrices that models name, reduced.

use std::collections::BTreeMap;
use std::path::Path;

use lissom::spec::{JointKind, MeshSpec, ModelSpec, Place};
use lissom_fe::{Attached, Dmig, FeError, Matrices, Matrix, Mesh, Reduction, Source, Stop};

use lissom_spec::Turns;
use nalgebra::{Rotation3, Vector3};

use crate::load::FileError;

/// What is attached to every body: joints, closures, payloads, point masses and forces at its places, and whether it floats.
pub(crate) fn attached(spec: &ModelSpec) -> BTreeMap<String, Attached> {
    let mut bodies: BTreeMap<String, Attached> = BTreeMap::new();
    for (body, attachments) in spec.attachments() {
        let own = bodies.entry(body.to_owned()).or_default();
        for attachment in &attachments {
            let Place::Named(at) = attachment.place else {
                continue;
            };
            // two that stand in one place turn against each other
            let is_alone = own.loaded.insert(at.to_owned());
            match axes(&attachment.turns).filter(|_| is_alone) {
                Some(axes) => own.hinges.insert(at.to_owned(), axes),
                None => own.hinges.remove(at),
            };
        }
    }
    // what acts at a marker turns its place as it likes
    let acted_on = spec.input.iter().filter_map(|input| input.marker.as_ref());
    for name in acted_on {
        let Some(marker) = spec.marker.iter().find(|own| own.name == *name) else {
            continue;
        };
        if let Place::Named(at) = marker.place() {
            let own = bodies.entry(marker.body.clone()).or_default();
            own.loaded.insert(at.to_owned());
            own.hinges.remove(at);
        }
    }
    for joint in &spec.joint {
        if matches!(joint.kind(), Some(JointKind::Free(_))) {
            let own = bodies.entry(joint.child.body.clone()).or_default();
            own.floats = true;
        }
    }
    bodies
}

/// The axes of a body about which something lets it turn without a moment, if there are any.
fn axes(turns: &Turns) -> Option<Vec<[f64; 3]>> {
    match *turns {
        Turns::Any => Some(vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        Turns::About {
            axis,
            rotation_vector_rad,
        } => {
            let turn = Rotation3::from_scaled_axis(rotation_vector_rad.into());
            Some(vec![(turn * Vector3::from(axis)).normalize().into()])
        }
        _ => None,
    }
}

/// Content of a file of a mesh.
pub(crate) fn parsed<T>(
    name: &str,
    text: &str,
    parse: fn(&str) -> Result<T, FeError>,
) -> Result<T, FileError> {
    parse(text).map_err(|error| FileError::Mesh {
        file: name.to_owned(),
        error,
    })
}

/// A matrix from its text.
pub(crate) fn matrix(name: &str, text: &str) -> Result<Matrix, FileError> {
    parsed(name, text, Matrix::parse)
}

/// Mass or stiffness as a file holds it.
pub(crate) enum Read {
    /// By rows and columns.
    Rows(Matrix),
    /// By nodes and directions.
    Nodes(Dmig),
}

/// The mass from its text.
pub(crate) fn mass(name: &str, text: &str) -> Result<Read, FileError> {
    either(name, text, |text| lissom_fe::parse_dmig(text, 'M'))
}

/// The stiffness from its text.
pub(crate) fn stiffness(name: &str, text: &str) -> Result<Read, FileError> {
    either(name, text, |text| lissom_fe::parse_dmig(text, 'K'))
}

fn either(
    name: &str,
    text: &str,
    parse: fn(&str) -> Result<Dmig, FeError>,
) -> Result<Read, FileError> {
    if lissom_fe::is_dmig(text) {
        parsed(name, text, parse).map(Read::Nodes)
    } else {
        matrix(name, text).map(Read::Rows)
    }
}

/// Mass and stiffness together, of a file called `name`.
pub(crate) fn together(
    name: &str,
    mass: Read,
    stiffness: Read,
    unknowns: Option<Vec<(usize, usize)>>,
) -> Result<Matrices, FileError> {
    let failed = |error| FileError::Mesh {
        file: name.to_owned(),
        error,
    };
    match (mass, stiffness) {
        (Read::Rows(mass), Read::Rows(stiffness)) => Ok(Matrices {
            mass,
            stiffness,
            unknowns,
            geometric: Vec::new(),
        }),
        (Read::Nodes(mass), Read::Nodes(stiffness)) => {
            lissom_fe::dmig_matrices(mass, stiffness).map_err(failed)
        }
        _ => Err(failed(FeError::Text {
            line: 1,
            message: "mass and stiffness must both be DMIG, or neither".to_owned(),
        })),
    }
}

/// The unknowns of matrices from their text.
pub(crate) fn unknowns(name: &str, text: &str) -> Result<Vec<(usize, usize)>, FileError> {
    parsed(name, text, lissom_fe::parse_unknowns)
}

/// A mesh from its text, reduced by its materials, or by its matrices if there are any.
pub(crate) fn reduced(
    name: &str,
    text: &str,
    spec: &MeshSpec,
    attached: &Attached,
    matrices: Option<Matrices>,
    stop: Stop<'_>,
) -> Result<Reduction, FileError> {
    let parse: fn(&str) -> Result<Mesh, FeError> = match ending(name).as_str() {
        "inp" => lissom_fe::parse_abaqus,
        "csv" => lissom_fe::parse_nodes,
        "bdf" | "nas" => lissom_fe::parse_nastran,
        _ => lissom_fe::parse_gmsh,
    };
    let mut mesh = parsed(name, text, parse)?;
    mesh.scale(spec.unit_m, spec.mass_unit_kg);
    let reduction = match matrices {
        Some(matrices) => lissom_fe::reduce_matrices(&mesh, matrices, spec, attached, stop),
        None => lissom_fe::reduce(&mesh, spec, attached, stop),
    };
    reduction.map_err(|error| FileError::Mesh {
        file: name.to_owned(),
        error,
    })
}

/// What to know of a body whose elements hardly bend.
pub(crate) fn stiff_elements(source: &Source) -> Option<String> {
    let Source {
        elements,
        linear_elements,
        ..
    } = *source;
    (linear_elements > 0).then(|| {
        format!(
            "{linear_elements} of {elements} elements are linear (4 or 8 nodes), which may be many times too stiff in bending; mesh with quadratic ones (10 or 20 \
             nodes; in Gmsh Mesh.ElementOrder = 2 and Mesh.SecondOrderIncomplete = 1)"
        )
    })
}

fn ending(name: &str) -> String {
    let ending = Path::new(name).extension().unwrap_or_default();
    ending.to_string_lossy().to_ascii_lowercase()
}
