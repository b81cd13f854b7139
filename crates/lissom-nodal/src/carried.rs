//! Elements that form a tree, and in which order each of them carries the nodes of its other end.
//!
//! Where that is so, joints that move take along what hangs on them: see `equations/carry.rs`.

use std::collections::VecDeque;

use super::element::{Element, ElementKind};
use super::mechanism::Mechanism;
use super::role::Role;

/// An element that carries its second end, or its first one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) element: usize,
    /// Whether it carries its first end.
    pub(super) reversed: bool,
}

/// Point and orientation of either end of an element, as far as it has them; `None` for an element that carries nothing.
pub(super) fn ends(element: &Element) -> Option<[[Option<usize>; 2]; 2]> {
    let node = |at: usize| element.nodes.get(at).copied();
    match &element.kind {
        ElementKind::Beam(_) => Some([[node(0), node(1)], [node(2), node(3)]]),
        ElementKind::Hinge(_) => Some([[None, node(0)], [None, node(1)]]),
        ElementKind::Slider(_) => Some([[node(0), node(1)], [node(2), None]]),
        ElementKind::Ball(_) => Some([[node(2), node(0)], [node(3), node(1)]]),
        ElementKind::Truss(_) => None,
    }
}

/// The elements of a mechanism, each behind what carries it; `None` where they form no tree.
pub(super) fn in_order(mechanism: &Mechanism) -> Option<Vec<Carried>> {
    let mut known = Vec::with_capacity(mechanism.nodes.len());
    for node in &mechanism.nodes {
        let components = node.kind.components().iter();
        let unknown = components.filter(|&&component| node.roles[component] == Role::Free);
        let count = unknown.count();
        if count != 0 && count != node.kind.components().len() {
            return None;
        }
        known.push(count == 0);
    }
    let mut elements_of = vec![Vec::new(); mechanism.nodes.len()];
    for (index, element) in mechanism.elements.iter().enumerate() {
        // an element of which nothing is held or given holds nothing together
        if element.roles.iter().any(|&role| role != Role::Free) {
            ends(element)?;
            for &node in &element.nodes {
                elements_of[node].push(index);
            }
        }
    }
    let mut reached: VecDeque<usize> = (0..known.len()).filter(|&node| known[node]).collect();
    let mut is_done = vec![false; mechanism.elements.len()];
    let mut order = Vec::with_capacity(mechanism.elements.len());
    while let Some(node) = reached.pop_front() {
        for &index in &elements_of[node] {
            if is_done[index] {
                continue;
            }
            let element = &mechanism.elements[index];
            if element.nodes.iter().all(|&node| known[node]) {
                return None;
            }
            let Some(reversed) = direction(element, &known) else {
                continue;
            };
            is_done[index] = true;
            for &node in &element.nodes {
                if !known[node] {
                    known[node] = true;
                    reached.push_back(node);
                }
            }
            order.push(Carried {
                element: index,
                reversed,
            });
        }
    }
    known.iter().all(|&known| known).then_some(order)
}

/// Whether an element carries its first end, all of the other being known; `None` if it carries neither yet.
fn direction(element: &Element, known: &[bool]) -> Option<bool> {
    let [first, second] = ends(element)?;
    let known = |node: Option<usize>| node.is_none_or(|node| known[node]);
    let unknown = |node: Option<usize>| node.is_none_or(|node| !known(Some(node)));
    if first.into_iter().all(known) && second.into_iter().all(unknown) {
        return Some(false);
    }
    let carries_first = match &element.kind {
        // its axes are those of its one orientation
        ElementKind::Slider(_) => unknown(first[0]) && known(first[1]),
        ElementKind::Ball(_) => false,
        _ => first.into_iter().all(unknown),
    };
    (second.into_iter().all(known) && carries_first).then_some(true)
}
