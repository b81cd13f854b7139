//! Which joint carries which body: the order of the tree, and loops that keep it from being one.

use super::spec::ModelSpec;

/// Indices of the joints such that every joint comes after the one that carries its parent body: depth
/// first, in the order of the file among the children of one body. Joints that the ground does not reach
/// are left out; a checked model has none.
pub fn tree_order(spec: &ModelSpec) -> Vec<usize> {
    let mut order = Vec::with_capacity(spec.joint.len());
    let mut visited = vec![false; spec.joint.len()];
    // the last entry is visited next, so children are pushed in reverse
    let mut pending: Vec<usize> = Vec::new();
    let push_children = |parent: &str, pending: &mut Vec<usize>| {
        let carried = |index: &usize| spec.joint[*index].parent.body == parent;
        pending.extend((0..spec.joint.len()).rev().filter(carried));
    };
    push_children(super::spec::GROUND, &mut pending);
    while let Some(index) = pending.pop() {
        if !std::mem::replace(&mut visited[index], true) {
            order.push(index);
            push_children(&spec.joint[index].child.body, &mut pending);
        }
    }
    order
}

/// Every ring of bodies that carry each other, as joint indices from child to parent, in the order of the
/// file. Where several joints carry one body, the first counts.
pub(super) fn loops(spec: &ModelSpec) -> Vec<Vec<usize>> {
    let carrier: Vec<Option<usize>> = spec
        .joint
        .iter()
        .map(|joint| {
            spec.joint
                .iter()
                .position(|other| other.child.body == joint.parent.body)
        })
        .collect();
    // 0: not seen, otherwise the number of the walk that saw the joint
    let mut seen = vec![0_usize; spec.joint.len()];
    let mut rings = Vec::new();
    for start in 0..spec.joint.len() {
        let walk = start + 1;
        let mut next = Some(start);
        while let Some(index) = next {
            if seen[index] == walk {
                rings.push(ring_from(index, &carrier));
                break;
            }
            if seen[index] != 0 {
                break;
            }
            seen[index] = walk;
            next = carrier[index];
        }
    }
    rings
}

/// The ring through one joint, starting with the joint that is written first.
fn ring_from(start: usize, carrier: &[Option<usize>]) -> Vec<usize> {
    let mut ring = vec![start];
    while let Some(next) = carrier[ring[ring.len() - 1]].filter(|next| *next != start) {
        ring.push(next);
    }
    let first = (0..ring.len())
        .min_by_key(|place| ring[*place])
        .unwrap_or(0);
    ring.rotate_left(first);
    ring
}

#[cfg(test)]
mod tests {
    use super::super::spec::{AttachmentSpec, JointSpec};
    use super::*;

    fn model(joints: &[(&str, &str)]) -> ModelSpec {
        let joint = joints
            .iter()
            .map(|(parent, child)| JointSpec {
                parent: AttachmentSpec::new(*parent),
                child: AttachmentSpec::new(*child),
                ..JointSpec::default()
            })
            .collect();
        ModelSpec {
            joint,
            ..ModelSpec::default()
        }
    }

    /// By construction: a branched tree written child first.
    #[test]
    fn parents_come_first_and_siblings_keep_their_order() {
        let spec = model(&[
            ("b", "c"),
            ("a", "b"),
            ("ground", "a"),
            ("a", "d"),
            ("ground", "e"),
        ]);
        assert_eq!(tree_order(&spec), [2, 1, 0, 3, 4]);
        assert!(loops(&spec).is_empty());
    }

    /// By construction: two rings, one of them with a tail, and a body on itself.
    #[test]
    fn every_ring_is_found_once() {
        let spec = model(&[
            ("b", "a"),
            ("c", "b"),
            ("a", "c"),
            ("a", "tail"),
            ("self", "self"),
        ]);
        assert_eq!(loops(&spec), [vec![0, 1, 2], vec![4]]);
        assert!(tree_order(&spec).is_empty());
    }
}
