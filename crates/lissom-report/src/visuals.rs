//! Shapes that rigid bodies and the ground are drawn by, where a model says what they look like.

use std::collections::BTreeMap;

use lissom::scene::Scene;
use lissom::spec::{GROUND, VisualKind, VisualSpec};
use lissom_io::load::Loaded;
use lissom_io::visual::VisualMesh;
use serde::Serialize;

use crate::data::{Block, Numbers};

/// A shape on a body.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Visual {
    /// Index of the body; none for the ground.
    body: Option<usize>,
    /// Origin of the shape in the body's frame.
    position: [f64; 3],
    /// Turns the axes of the body into those of the shape.
    rotation_vector: [f64; 3],
    #[serde(flatten)]
    shape: Shape,
}

/// What is drawn, with sizes in metres.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Shape {
    Mesh {
        /// Positions, three numbers each.
        positions: Numbers,
        /// Corners of the triangles.
        triangles: Numbers,
        scale: [f64; 3],
    },
    Box {
        edges: [f64; 3],
    },
    /// Along z.
    Cylinder {
        diameter: f64,
        length: f64,
    },
    Sphere {
        diameter: f64,
    },
}

/// The shapes of a model. What a scene has made up for their bodies is taken out of it: solids from inertia, struts and plates.
pub(crate) fn drawn_by(loaded: &Loaded, scene: &mut Scene, block: &mut Block) -> Vec<Visual> {
    let mut kept = BTreeMap::new();
    let mut visuals = Vec::new();
    for spec in &loaded.spec.visual {
        let frame = scene.rigid.iter().find(|frame| frame.name == spec.body);
        if spec.body != GROUND && frame.is_none() {
            continue;
        }
        let mesh = |name: &str| loaded.visuals.get(name);
        let Some(shape) = shape(spec, mesh, &mut kept, block) else {
            continue;
        };
        let (position, rotation_vector) = (spec.position_m, spec.rotation_vector_rad);
        let [position, rotation_vector] = frame.map_or([position, rotation_vector], |frame| {
            frame.place(position, rotation_vector)
        });
        visuals.push(Visual {
            body: frame.and_then(|frame| frame.drawn_by.first().copied()),
            position,
            rotation_vector,
            shape,
        });
        for &body in frame.iter().flat_map(|frame| &frame.drawn_by) {
            let body = &mut scene.bodies[body];
            body.solids.retain(|solid| solid.payload.is_some());
            body.struts.clear();
            body.plate.clear();
        }
    }
    visuals
}

/// The shape of a visual. Meshes of one file are kept once.
fn shape<'s>(
    spec: &'s VisualSpec,
    mesh: impl Fn(&str) -> Option<&'s VisualMesh>,
    kept: &mut BTreeMap<&'s str, (Numbers, Numbers)>,
    block: &mut Block,
) -> Option<Shape> {
    Some(match spec.kind()? {
        VisualKind::Mesh(own) => {
            let found = mesh(&own.file)?;
            let &mut (positions, triangles) = kept.entry(&own.file).or_insert_with(|| {
                let positions = found.positions.iter().flatten().copied();
                let triangles = found.triangles.iter().flatten().copied();
                (block.singles(positions), block.indices(triangles))
            });
            Shape::Mesh {
                positions,
                triangles,
                scale: own.scale,
            }
        }
        VisualKind::Box(own) => Shape::Box { edges: own.edges_m },
        VisualKind::Cylinder(own) => Shape::Cylinder {
            diameter: own.diameter_m,
            length: own.length_m,
        },
        VisualKind::Sphere(own) => Shape::Sphere {
            diameter: own.diameter_m,
        },
        _ => return None,
    })
}
