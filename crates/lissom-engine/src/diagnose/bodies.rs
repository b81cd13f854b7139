//! Bodies with the joints that carry them.

use std::collections::BTreeMap;

use lissom_spatial::rounded;
use lissom_spec::spec::{AttachmentSpec, BodyKind, BodySpec, Place};
use lissom_spec::{ModelSpec, SpanningTree};
use lissom_tree::flex::FlexibleBody;
use serde::Serialize;

use crate::model::Model;

/// One body with the joint that carries it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BodySummary {
    /// Name of the body.
    pub name: String,
    /// `rigid`, `beam`, `reduced` or `nodal`.
    pub kind: &'static str,
    /// Its mass without payloads.
    pub mass_kg: f64,
    /// What carries it.
    pub joint: JointSummary,
    /// Names of its elastic coordinates.
    pub elastic_coordinates: Vec<String>,
    /// With the body's frame held, or its root, rising.
    pub frequencies_rad_per_s: Vec<f64>,
    /// Whether it is the root, because the frame lies on the chord.
    #[serde(skip)]
    pub held_at_root: bool,
    /// What it carries.
    pub payloads: Vec<PayloadSummary>,
    /// Names of the markers on it.
    pub markers: Vec<String>,
    /// Joints between the body and the ground.
    pub depth: usize,
}

/// A joint of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JointSummary {
    /// Name of the joint.
    pub name: String,
    /// Its kind, as in the model.
    pub kind: &'static str,
    /// Body that carries it, or the ground.
    pub parent: String,
    /// Place on the parent, where it is said.
    pub at: Option<String>,
    /// Directions that it leaves free.
    pub degrees_of_freedom: usize,
}

/// Something that a body carries.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PayloadSummary {
    /// Its name.
    pub name: String,
    /// Its mass.
    pub mass_kg: f64,
}

/// Natural frequencies of a body, if it has any. What moves without deformation has zero, whatever rounding left of it.
fn frequencies(body: &FlexibleBody) -> Vec<f64> {
    let mut frequencies = body.frequencies().unwrap_or_default();
    let rigid = body.rigid_directions().len().min(frequencies.len());
    frequencies[..rigid].fill(0.0);
    frequencies
}

/// All bodies, parents first.
pub(super) fn summaries(
    spec: &ModelSpec,
    tree: &Model,
    spanning: &SpanningTree,
) -> Vec<BodySummary> {
    let specs: BTreeMap<&str, &BodySpec> = (spec.body.iter())
        .map(|body| (body.name.as_str(), body))
        .collect();
    let built: BTreeMap<&str, usize> = (tree.linkage.system.bodies().iter().enumerate())
        .map(|(index, body)| (body.name.as_str(), index))
        .collect();
    let mut payloads: BTreeMap<&str, Vec<PayloadSummary>> = BTreeMap::new();
    for payload in &spec.payload {
        let on_body = payloads.entry(&payload.body).or_default();
        on_body.push(PayloadSummary {
            name: payload.name.clone(),
            mass_kg: payload.mass_kg,
        });
    }
    let mut markers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for marker in &spec.marker {
        let on_body = markers.entry(&marker.body).or_default();
        on_body.push(marker.name.clone());
    }
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut summaries = Vec::with_capacity(spec.body.len());
    for tree_joint in &spanning.joints {
        let joint = &spec.joint[tree_joint.joint];
        let (carrier, carried) = tree_joint.sides(spec);
        let name = carried.body.as_str();
        let (Some(body), Some(&index), Some(kind)) =
            (specs.get(name), built.get(name), joint.kind())
        else {
            continue;
        };
        let built = &tree.linkage.system.bodies()[index];
        let payloads = payloads.remove(name).unwrap_or_default();
        // a rigid body was built together with its payloads
        let included: f64 = match built.flexible {
            None => payloads.iter().map(|payload| payload.mass_kg).sum(),
            Some(_) => 0.0,
        };
        let depth = depths.get(carrier.body.as_str()).map_or(1, |&at| at + 1);
        depths.insert(name, depth);
        let flexible = built.flexible.as_ref();
        summaries.push(BodySummary {
            name: name.to_owned(),
            kind: match body.kind() {
                Some(BodyKind::Beam(_)) => "beam",
                Some(BodyKind::Nodal(_) | BodyKind::NodalFile(_)) => "nodal",
                Some(
                    BodyKind::Frame(_)
                    | BodyKind::Mesh(_)
                    | BodyKind::Reduced(_)
                    | BodyKind::ReducedFile(_),
                ) => "reduced",
                Some(BodyKind::Rigid(_)) | None => "rigid",
            },
            mass_kg: built.rigid.mass - included,
            joint: JointSummary {
                name: joint.name.clone(),
                kind: kind.key(),
                parent: carrier.body.clone(),
                at: place(carrier),
                degrees_of_freedom: kind.degrees_of_freedom(),
            },
            elastic_coordinates: flexible.map_or_else(Vec::new, |f| f.coordinates.clone()),
            frequencies_rad_per_s: flexible.map_or_else(Vec::new, frequencies),
            held_at_root: flexible.is_some_and(|f| f.held.is_some()),
            payloads,
            markers: markers.remove(name).unwrap_or_default(),
            depth,
        });
    }
    summaries
}

/// Place of one side of a joint or a loop, where it is said.
pub(super) fn place(attachment: &AttachmentSpec) -> Option<String> {
    match attachment.place() {
        Place::Named(at) => Some(at.to_owned()),
        Place::Position(position) => {
            let [x, y, z] = position.map(|x| rounded(x, 6));
            Some(format!("[{x}, {y}, {z}]"))
        }
        Place::Unsaid => None,
    }
}
