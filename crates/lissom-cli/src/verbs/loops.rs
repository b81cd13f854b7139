//! What is understood of the loops of a model.

use lissom::closure::diagnose;
use lissom::model::spec::{AttachmentSpec, ModelSpec, Place, Slopes};
use lissom::model::{ClosureKind, ClosureMethod, Model, spanning_tree};
use serde::Serialize;

use crate::output::counted;

/// The closures of a model and what they leave of its freedom.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LoopsEntry {
    pub(super) closures: Vec<ClosureEntry>,
    /// How the equations are formed.
    pub(super) closure: &'static str,
    /// Scalar equations of all closures.
    pub(super) equations: usize,
    /// Independent ones among them, at the start or near it.
    pub(super) rank: usize,
    /// Names of the others.
    pub(super) redundant: Vec<String>,
    /// Degrees of freedom if nothing could bend, by rank.
    pub(super) rigid_degrees_of_freedom: usize,
    /// The same by Grübler's formula.
    pub(super) gruebler: isize,
    /// Largest pivot of the equations over the smallest.
    pub(super) condition: f64,
    pub(super) singular_start: bool,
}

/// One closure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ClosureEntry {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) equations: usize,
    /// Whether it is a joint that was cut.
    pub(super) cut: bool,
}

impl LoopsEntry {
    pub(super) fn of(spec: &ModelSpec, model: &Model) -> Option<Self> {
        if model.linkage.closures.is_empty() {
            return None;
        }
        let cuts = spanning_tree(spec).cuts;
        let cut = cuts.iter().map(|&cut| &spec.joint[cut]);
        // a support that holds the direction of a beam is two closures
        let supports = spec.support.iter().flat_map(|support| {
            let closures = match support.slopes {
                Slopes::Free => 1,
                Slopes::Tied => 2,
            };
            std::iter::repeat_n([support.beam.clone(), side(&support.on)], closures)
        });
        let loops = spec.loops.iter();
        let sides: Vec<[String; 2]> = cut
            .map(|joint| [side(&joint.parent), side(&joint.child)])
            .chain(loops.map(|closure| [side(&closure.from), side(&closure.to)]))
            .chain(supports)
            .collect();
        let closures = model.linkage.closures.iter().zip(sides).enumerate();
        let diagnosis = diagnose(&model.linkage, &model.initial_position);
        let mobility = diagnosis.mobility;
        Some(Self {
            closures: closures
                .map(|(index, (closure, [from, to]))| ClosureEntry {
                    name: closure.name.clone(),
                    kind: kind(&closure.kind),
                    from,
                    to,
                    equations: closure.kind.equations(),
                    cut: index < cuts.len(),
                })
                .collect(),
            closure: method(&model.linkage.closure_method),
            equations: mobility.equations,
            rank: mobility.rank,
            rigid_degrees_of_freedom: mobility.rigid_degrees_of_freedom(),
            condition: mobility.condition,
            redundant: mobility.redundant,
            gruebler: diagnosis.gruebler,
            singular_start: diagnosis.singular_start,
        })
    }

    pub(super) fn in_words(&self) -> Vec<String> {
        let mut lines: Vec<String> = (self.closures.iter())
            .map(|closure| {
                format!(
                    "{:<20}{} ({}{}) from {} to {}, {}",
                    "loop",
                    closure.name,
                    closure.kind,
                    if closure.cut { ", cut" } else { "" },
                    closure.from,
                    closure.to,
                    counted(closure.equations, "equation")
                )
            })
            .collect();
        lines.push(format!(
            "mobility            {} without bending: {} of {} are independent, Gruebler's formula gives {}",
            self.rigid_degrees_of_freedom,
            self.rank,
            counted(self.equations, "equation"),
            self.gruebler
        ));
        if !self.redundant.is_empty() {
            lines.push(format!("redundant           {}", self.redundant.join(", ")));
        }
        lines.push(format!("closure             {}", self.closure));
        lines
    }
}

fn side(attachment: &AttachmentSpec) -> String {
    match attachment.place() {
        Place::Named(at) => format!("{} at {at}", attachment.body),
        Place::Position([x, y, z]) => format!("{} at [{x}, {y}, {z}]", attachment.body),
        Place::Unsaid => attachment.body.clone(),
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
        ClosureKind::Distance { .. } => "distance",
    }
}

fn method(method: &ClosureMethod) -> &'static str {
    match method {
        ClosureMethod::JointSpace { .. } => "joint_space",
        ClosureMethod::CartesianSpace { .. } => "cartesian_space",
        ClosureMethod::Automatic => "automatic",
        ClosureMethod::Stabilized { .. } => "stabilized",
        ClosureMethod::Projected => "projected",
        ClosureMethod::OperationalSpace => "operational_space",
    }
}
