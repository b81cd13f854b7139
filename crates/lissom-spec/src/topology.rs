//! Which joint carries which body: the spanning tree of the joints, and the joints that are cut for it.
//!
//! The tree grows from the ground. Of all joints between a body that is reached and one that is not, the
//! next one is chosen by, in this order,
//!
//! 1. what would be lost by cutting it: a free joint, which has no equations to close a loop with; a prescribed
//!    motion; inputs, controllers, motors, springs, friction and limits, which cost a coordinate of their own
//!    where the joint is cut; a start that is written down;
//! 2. whether it carries its child, as written, rather than its parent;
//! 3. few degrees of freedom: a cut joint of many leaves the smaller tree and the fewer equations;
//! 4. the order of the file.
//!
//! Growing by the best joint makes a tree that keeps as many joints of the first kinds as any tree can
//! (Prim's algorithm). Joints that are left over, or say so themselves, are cut.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::spec::{AttachmentSpec, GROUND, JointKind, JointSpec, ModelSpec, RevoluteSpec};

/// Joints that carry bodies, and joints that close loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanningTree {
    /// Joints of the tree, each after the one that carries its parent: depth first, in the order of the
    /// file among the children of one body.
    pub joints: Vec<TreeJoint>,
    /// Indices of the joints that are cut, rising.
    pub cuts: Vec<usize>,
}

/// A joint of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeJoint {
    /// Index of the joint in the file.
    pub joint: usize,
    /// Whether it carries the body that is written as its parent.
    pub reversed: bool,
}

impl TreeJoint {
    /// The side that carries, and the side that is carried.
    pub fn sides<'a>(&self, spec: &'a ModelSpec) -> (&'a AttachmentSpec, &'a AttachmentSpec) {
        let joint = &spec.joint[self.joint];
        if self.reversed {
            (&joint.child, &joint.parent)
        } else {
            (&joint.parent, &joint.child)
        }
    }
}

/// Finds the tree of a model. Bodies that no joint connects with the ground are left out; a checked model
/// has none.
pub fn spanning_tree(spec: &ModelSpec) -> SpanningTree {
    // ground is 0, bodies follow
    let number: BTreeMap<&str, usize> = std::iter::once(GROUND)
        .chain(spec.body.iter().map(|body| body.name.as_str()))
        .enumerate()
        .map(|(index, name)| (name, index))
        .collect();
    let ends: Vec<Option<(usize, usize)>> = spec
        .joint
        .iter()
        .map(|joint| {
            let parent = number.get(joint.parent.body.as_str())?;
            let child = number.get(joint.child.body.as_str())?;
            Some((*parent, *child))
        })
        .collect();
    let mut touching = vec![Vec::new(); spec.body.len() + 1];
    for (index, ends) in ends.iter().enumerate() {
        if let (Some((parent, child)), false) = (ends, spec.joint[index].cut) {
            touching[*parent].push(index);
            touching[*child].push(index);
        }
    }
    let prescribed = prescribed(spec);
    let driven: BTreeSet<&str> = driven(spec).collect();
    let mut reached = vec![false; spec.body.len() + 1];
    let mut kept = vec![None; spec.joint.len()];
    // joints by merit, those that have become loops in the meantime among them
    let mut frontier: BinaryHeap<(Merit, usize, bool)> = BinaryHeap::new();
    let mut next = Some(0);
    while let Some(body) = next {
        reached[body] = true;
        for &joint in &touching[body] {
            let Some((parent, _)) = ends[joint] else {
                continue;
            };
            let reversed = parent != body;
            if !reversed || can_reverse(&spec.joint[joint]) {
                let candidate = TreeJoint { joint, reversed };
                let merit = merit(&spec.joint[joint], candidate, &prescribed, &driven);
                frontier.push((merit, joint, reversed));
            }
        }
        let outer = |tree: &TreeJoint| {
            let (parent, child) = ends[tree.joint]?;
            let carried = if tree.reversed { parent } else { child };
            (!reached[carried]).then_some(carried)
        };
        next = loop {
            let Some((_, joint, reversed)) = frontier.pop() else {
                break None;
            };
            let tree = TreeJoint { joint, reversed };
            if let Some(carried) = outer(&tree) {
                kept[joint] = Some(tree);
                break Some(carried);
            }
        };
    }
    SpanningTree {
        joints: depth_first(spec, &ends, &kept),
        cuts: (0..spec.joint.len())
            .filter(|&joint| {
                kept[joint].is_none()
                    && ends[joint].is_some_and(|(a, b)| a != b && reached[a] && reached[b])
            })
            .collect(),
    }
}

/// How much a joint should be in the tree; larger is better.
type Merit = (u8, bool, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>);

/// The merit of a candidate, by the names of the joints whose motion is prescribed and of those that are driven.
fn merit(
    joint: &JointSpec,
    candidate: TreeJoint,
    prescribed: &BTreeSet<&str>,
    driven: &BTreeSet<&str>,
) -> Merit {
    let kind = joint.kind();
    let name = joint.name.as_str();
    let loss = match kind {
        Some(JointKind::Free(_)) => 4,
        _ if prescribed.contains(name) => 3,
        _ if carries_effort(joint) || driven.contains(name) => 2,
        _ if has_start(joint) => 1,
        _ => 0,
    };
    let freedoms = kind.map_or(0, |kind| kind.degrees_of_freedom());
    (
        loss,
        !candidate.reversed,
        std::cmp::Reverse(freedoms),
        std::cmp::Reverse(candidate.joint),
    )
}

/// Names of the joints whose motion is prescribed.
pub(super) fn prescribed(spec: &ModelSpec) -> BTreeSet<&str> {
    spec.motion
        .iter()
        .map(|motion| motion.joint.as_str())
        .collect()
}

/// Names of the joints that inputs drive, controllers keep on their motion or actuators limit.
fn driven(spec: &ModelSpec) -> impl Iterator<Item = &str> {
    let inputs = spec.input.iter().filter_map(|input| input.joint.as_deref());
    let controlled = spec.controller.iter().flat_map(|law| spec.driven_by(law));
    let actuated = spec.actuator.iter().map(|actuator| actuator.joint.as_str());
    inputs.chain(controlled).chain(actuated)
}

/// Whether anything acts on a joint or watches it: input, controller, actuator, encoder, motor, spring, friction or limits. Where such a
/// joint is cut, it keeps its coordinates.
pub fn is_acted_on(spec: &ModelSpec, joint: &JointSpec) -> bool {
    let encoders = (spec.sensor.iter()).filter_map(|sensor| sensor.encoder.as_ref());
    let measured = encoders.map(|encoder| encoder.joint.as_str());
    carries_effort(joint) || (driven(spec).chain(measured)).any(|name| name == joint.name)
}

/// Whether a joint has a motor, spring, friction or limits of its own; stops have limits.
pub fn carries_effort(joint: &JointSpec) -> bool {
    let revolute = |r: &RevoluteSpec| {
        r.motor.is_some() || r.spring.is_some() || r.friction.is_some() || r.limits.is_some()
    };
    match joint.kind() {
        Some(JointKind::Revolute(r)) => revolute(r),
        Some(JointKind::Universal(u)) => revolute(&u.first) || revolute(&u.second),
        Some(JointKind::Prismatic(p)) => {
            p.motor.is_some() || p.spring.is_some() || p.friction.is_some() || p.limits.is_some()
        }
        Some(JointKind::Spherical(s)) => {
            s.motor.is_some() || s.spring.is_some() || s.friction.is_some() || s.limits.is_some()
        }
        Some(JointKind::Free(f)) => {
            f.motor.is_some() || f.spring.is_some() || f.friction.is_some() || f.limits.is_some()
        }
        Some(JointKind::Fixed) | None => false,
    }
}

/// Whether the start of a joint is written down.
fn has_start(joint: &JointSpec) -> bool {
    let revolute = |r: &RevoluteSpec| {
        r.initial_angle_rad != 0.0
            || r.initial_rate_rad_per_s != 0.0
            || r.held
            || r.branch.is_some()
    };
    match joint.kind() {
        Some(JointKind::Revolute(r)) => revolute(r),
        Some(JointKind::Universal(u)) => revolute(&u.first) || revolute(&u.second),
        Some(JointKind::Prismatic(p)) => {
            p.initial_displacement_m != 0.0
                || p.initial_rate_m_per_s != 0.0
                || p.held
                || p.branch.is_some()
        }
        Some(JointKind::Spherical(s)) => {
            s.initial_rotation_vector_rad != [0.0; 3]
                || s.initial_angular_velocity_rad_per_s != [0.0; 3]
        }
        Some(JointKind::Free(_) | JointKind::Fixed) | None => false,
    }
}

/// Whether a joint can carry its parent: where its coordinates mean the same from either side, with the
/// axis reversed.
pub(super) fn can_reverse(joint: &JointSpec) -> bool {
    matches!(
        joint.kind(),
        Some(JointKind::Revolute(_) | JointKind::Prismatic(_) | JointKind::Fixed)
    )
}

fn depth_first(
    spec: &ModelSpec,
    ends: &[Option<(usize, usize)>],
    kept: &[Option<TreeJoint>],
) -> Vec<TreeJoint> {
    let mut children = vec![Vec::new(); spec.body.len() + 1];
    for tree in kept.iter().flatten() {
        if let Some((parent, child)) = ends[tree.joint] {
            let (carrier, carried) = if tree.reversed {
                (child, parent)
            } else {
                (parent, child)
            };
            children[carrier].push((*tree, carried));
        }
    }
    let mut order = Vec::with_capacity(spec.joint.len());
    // the last entry is visited next, so children are pushed in reverse
    let mut pending: Vec<(TreeJoint, usize)> = children[0].iter().rev().copied().collect();
    while let Some((tree, body)) = pending.pop() {
        order.push(tree);
        pending.extend(children[body].iter().rev());
    }
    order
}

/// Names of bodies that joints connect with each other but not with the ground, group by group, each with
/// the index of its first joint. A body without any joint is not among them.
pub(super) fn adrift(spec: &ModelSpec) -> Vec<(usize, Vec<&str>)> {
    let bodies: BTreeSet<&str> = spec.body.iter().map(|body| body.name.as_str()).collect();
    let mut joined: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for joint in spec.joint.iter().filter(|joint| !joint.cut) {
        let (parent, child) = (joint.parent.body.as_str(), joint.child.body.as_str());
        joined.entry(parent).or_default().push(child);
        joined.entry(child).or_default().push(parent);
    }
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    // every body that joints connect with the first
    let mut group_of = |first| {
        reached.insert(first);
        let mut group = vec![first];
        let mut at = 0;
        while at < group.len() {
            for &there in joined.get(group[at]).into_iter().flatten() {
                if bodies.contains(there) && reached.insert(there) {
                    group.push(there);
                }
            }
            at += 1;
        }
        group
    };
    let mut known: BTreeSet<&str> = group_of(GROUND).into_iter().collect();
    let mut groups = Vec::new();
    for (index, joint) in spec.joint.iter().enumerate() {
        let (parent, child) = (joint.parent.body.as_str(), joint.child.body.as_str());
        let exist = bodies.contains(parent) && bodies.contains(child);
        if joint.cut || known.contains(parent) || !exist {
            continue;
        }
        let group = group_of(parent);
        known.extend(&group);
        groups.push((index, group));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{BodySpec, FixedSpec, RevoluteSpringSpec, SphericalSpec};

    fn body(name: &str) -> BodySpec {
        BodySpec {
            name: name.to_owned(),
            ..BodySpec::default()
        }
    }

    fn model(bodies: &[&str], joints: &[(&str, &str)]) -> ModelSpec {
        let joint = joints
            .iter()
            .enumerate()
            .map(|(index, (parent, child))| JointSpec {
                name: format!("j{index}"),
                parent: AttachmentSpec::new(*parent),
                child: AttachmentSpec::new(*child),
                revolute: Some(RevoluteSpec::default()),
                ..JointSpec::default()
            })
            .collect();
        ModelSpec {
            body: bodies.iter().map(|name| body(name)).collect(),
            joint,
            ..ModelSpec::default()
        }
    }

    fn order(spec: &ModelSpec) -> Vec<usize> {
        let tree = spanning_tree(spec);
        tree.joints.iter().map(|tree| tree.joint).collect()
    }

    const FOUR_BAR: [(&str, &str); 4] = [
        ("ground", "crank"),
        ("crank", "coupler"),
        ("coupler", "rocker"),
        ("ground", "rocker"),
    ];

    /// By construction: a branched tree written child first.
    #[test]
    fn parents_come_first_and_siblings_keep_their_order() {
        let spec = model(
            &["a", "b", "c", "d", "e"],
            &[
                ("b", "c"),
                ("a", "b"),
                ("ground", "a"),
                ("a", "d"),
                ("ground", "e"),
            ],
        );
        assert_eq!(order(&spec), [2, 1, 0, 3, 4]);
        assert!(spanning_tree(&spec).cuts.is_empty());
        assert!(adrift(&spec).is_empty());
    }

    /// By construction: of equal joints the last is cut, and none is reversed.
    #[test]
    fn a_four_bar_is_cut_once() {
        let mut spec = model(&["crank", "coupler", "rocker"], &FOUR_BAR);
        let tree = spanning_tree(&spec);
        assert_eq!(tree.cuts, [3]);
        assert!(tree.joints.iter().all(|joint| !joint.reversed));
        spec.joint[0].cut = true;
        let tree = spanning_tree(&spec);
        assert_eq!(tree.cuts, [0]);
        assert_eq!(order(&spec), [3, 2, 1]);
        let reversed: Vec<bool> = tree.joints.iter().map(|joint| joint.reversed).collect();
        assert_eq!(reversed, [false, true, true]);
    }

    /// By construction: joints with springs stay though one of them has to be reversed; a ball joint is cut
    /// before a revolute one.
    #[test]
    fn what_acts_is_kept() {
        let mut spec = model(&["crank", "coupler", "rocker"], &FOUR_BAR);
        let sprung = RevoluteSpec {
            spring: Some(RevoluteSpringSpec::default()),
            ..RevoluteSpec::default()
        };
        for joint in [2, 3] {
            spec.joint[joint].revolute = Some(sprung.clone());
        }
        let tree = spanning_tree(&spec);
        assert_eq!(tree.cuts, [1]);
        assert!(tree.joints[2].reversed);
        let mut spec = model(&["crank", "coupler", "rocker"], &FOUR_BAR);
        spec.joint[2].revolute = None;
        spec.joint[2].spherical = Some(SphericalSpec::default());
        assert_eq!(spanning_tree(&spec).cuts, [2]);
    }

    /// By construction: bodies that only each other hold.
    #[test]
    fn bodies_adrift_are_found() {
        let mut spec = model(&["a", "b", "c"], &[("ground", "a"), ("b", "c"), ("c", "b")]);
        assert_eq!(adrift(&spec), [(1, vec!["b", "c"])]);
        spec.joint[2].parent = AttachmentSpec::new("a");
        spec.joint[2].child = AttachmentSpec::new("c");
        spec.joint[2].revolute = None;
        spec.joint[2].fixed = Some(FixedSpec {});
        assert!(adrift(&spec).is_empty());
        assert_eq!(order(&spec), [0, 2, 1]);
        assert!(spanning_tree(&spec).joints[2].reversed);
    }
}
