//! What closes the loops of a mechanism, and what that leaves of its freedom.

use lissom_spec::spec::{AttachmentSpec, Slopes, Twist};
use lissom_spec::{ModelSpec, SpanningTree};
use lissom_tree::ClosureKind;
use lissom_tree::closure::diagnose;
use serde::Serialize;

use super::bodies::place;
use crate::model::Model;

/// The closures of a mechanism and what they leave of its freedom.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LoopsSummary {
    /// Joints that were cut, loops and supports.
    pub closures: Vec<ClosureSummary>,
    /// How the equations are formed.
    pub closure: &'static str,
    /// Scalar equations of all closures.
    pub equations: usize,
    /// Independent ones among them, at the start or near it.
    pub rank: usize,
    /// Names of the others.
    pub redundant: Vec<String>,
    /// Degrees of freedom if nothing could bend, by rank.
    pub rigid_degrees_of_freedom: usize,
    /// The same by Grübler's formula.
    pub gruebler: isize,
    /// Largest pivot of the equations over the smallest.
    pub condition: f64,
    /// Whether equations that are independent nearby are not so at the start.
    pub singular_start: bool,
}

/// One closure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClosureSummary {
    /// Its name.
    pub name: String,
    /// Its kind, as in the model.
    pub kind: &'static str,
    /// Body and place of one side.
    pub from: String,
    /// Body and place of the other.
    pub to: String,
    /// Scalar equations that it makes.
    pub equations: usize,
    /// Whether it is a joint that was cut.
    pub cut: bool,
}

/// The loops of a model; `None` if it has none.
pub(super) fn summary(
    spec: &ModelSpec,
    tree: &Model,
    spanning: &SpanningTree,
) -> Option<LoopsSummary> {
    let linkage = &tree.linkage;
    if linkage.closures.is_empty() {
        return None;
    }
    let sides = sides(spec, &spanning.cuts);
    let closures = linkage.closures.iter().zip(sides).enumerate();
    let diagnosis = diagnose(linkage, &tree.initial_position);
    let mobility = diagnosis.mobility;
    Some(LoopsSummary {
        closures: closures
            .map(|(index, (closure, [from, to]))| ClosureSummary {
                name: closure.name.clone(),
                kind: kind(&closure.kind),
                from,
                to,
                equations: closure.kind.equations(),
                cut: index < spanning.cuts.len(),
            })
            .collect(),
        closure: linkage.closure_method.name(),
        equations: mobility.equations,
        rank: mobility.rank,
        rigid_degrees_of_freedom: mobility.rigid_degrees_of_freedom(),
        condition: mobility.condition,
        redundant: mobility.redundant,
        gruebler: diagnosis.gruebler,
        singular_start: diagnosis.singular_start,
    })
}

/// What every closure connects, in the order in which the tree has them: cut joints, loops, supports.
fn sides(spec: &ModelSpec, cuts: &[usize]) -> Vec<[String; 2]> {
    let cut = cuts.iter().map(|&cut| &spec.joint[cut]);
    // a support that holds direction or twist of a beam is a closure more for each
    let supports = spec.support.iter().flat_map(|support| {
        let closures = 1
            + usize::from(support.slopes == Slopes::Tied)
            + usize::from(support.twist == Twist::Tied);
        std::iter::repeat_n([support.beam.clone(), side(&support.on)], closures)
    });
    let loops = spec.loops.iter();
    cut.map(|joint| [side(&joint.parent), side(&joint.child)])
        .chain(loops.map(|closure| [side(&closure.from), side(&closure.to)]))
        .chain(supports)
        .collect()
}

fn side(attachment: &AttachmentSpec) -> String {
    match place(attachment) {
        Some(at) => format!("{} at {at}", attachment.body),
        None => attachment.body.clone(),
    }
}

fn kind(kind: &ClosureKind) -> &'static str {
    match kind {
        ClosureKind::Fixed => "fixed",
        ClosureKind::Revolute { .. } => "revolute",
        ClosureKind::Prismatic { .. } => "prismatic",
        ClosureKind::Universal { .. } => "universal",
        ClosureKind::Spherical => "spherical",
        ClosureKind::PointOnLine { .. } => "point_on_line",
        ClosureKind::OnBeam { .. } => "on_beam",
        ClosureKind::AlongBeam { .. } => "along_beam",
        ClosureKind::TwistOfBeam => "twist_of_beam",
        ClosureKind::Distance { .. } => "distance",
    }
}
