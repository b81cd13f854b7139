//! Elements that form a tree, and in which order each of them carries the nodes of its other end.
//!
//! Where that is so, joints that move take along what hangs on them: see `equations/carry.rs`. What closes a loop in such a tree moves with
//! the freedoms on the two ways from its ends to where they meet, and with no others: see [`Carriers`].

use std::collections::{BTreeMap, VecDeque};

use super::element::{Element, ElementId, ElementKind};
use super::mechanism::{Mechanism, Slot};
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

/// What carries the nodes of a mechanism whose elements form a tree.
#[derive(Clone, Debug)]
pub struct Carriers<'m> {
    mechanism: &'m Mechanism,
    order: &'m [Carried],
    /// For every node the place in the order of the element that carries it.
    of_node: Vec<Option<usize>>,
}

impl Mechanism {
    /// What carries its nodes; `None` where its elements form no tree.
    pub fn carriers(&self) -> Option<Carriers<'_>> {
        let order = self.carried.as_deref()?;
        let mut of_node = vec![None; self.nodes.len()];
        for (at, carried) in order.iter().enumerate() {
            for &node in &self.elements[carried.element].nodes {
                // all others are known before
                if self.nodes[node].free_count() > 0 && of_node[node].is_none() {
                    of_node[node] = Some(at);
                }
            }
        }
        Some(Carriers {
            mechanism: self,
            order,
            of_node,
        })
    }
}

impl Carriers<'_> {
    /// Degrees of freedom, and behind their number drives, that move the two ends of an element against each other, in ascending
    /// order: those on the ways from both ends to where they meet.
    pub fn freedoms_across(&self, ElementId(element): ElementId) -> Vec<usize> {
        let element = &self.mechanism.elements[element];
        let node = |at: usize| element.nodes.get(at).copied();
        let ends = match ends(element) {
            Some(ends) => ends,
            // a truss has points alone
            None => [[node(0), None], [node(1), None]],
        };
        // elements on the ways, and whether on that of the first end and of the second
        let mut ways: BTreeMap<usize, [bool; 2]> = BTreeMap::new();
        let go_on = |ways: &mut BTreeMap<usize, [bool; 2]>, node: usize, sides: [bool; 2]| {
            if let Some(at) = self.of_node[node] {
                let both = ways.entry(at).or_default();
                *both = [both[0] || sides[0], both[1] || sides[1]];
            }
        };
        for (end, sides) in ends.into_iter().zip([[true, false], [false, true]]) {
            for node in end.into_iter().flatten() {
                go_on(&mut ways, node, sides);
            }
        }
        let mut freedoms = Vec::new();
        // from the last element back: what carries an element stands before it
        while ways.values().any(|[first, second]| first != second)
            && let Some((at, sides)) = ways.pop_last()
        {
            let element = self.order[at].element;
            if sides[0] != sides[1] {
                self.push_freedoms(element, &mut freedoms);
            }
            let nodes = self.mechanism.elements[element].nodes.iter();
            for &node in nodes.filter(|&&node| self.of_node[node] != Some(at)) {
                go_on(&mut ways, node, sides);
            }
        }
        freedoms.sort_unstable();
        freedoms
    }

    fn push_freedoms(&self, element: usize, freedoms: &mut Vec<usize>) {
        let all = self.mechanism.first[element]..self.mechanism.first[element + 1];
        let drives = self.mechanism.dof_count();
        freedoms.extend(
            self.mechanism.conditions[all]
                .iter()
                .filter_map(|condition| match condition.slot {
                    Slot::Dof(dof) => Some(dof),
                    Slot::Drive(drive) => Some(drives + drive),
                    Slot::Still | Slot::Unknown(_) => None,
                }),
        );
    }
}

/// The elements of a mechanism, each behind what carries it; `None` where they form no tree.
pub(super) fn in_order(mechanism: &Mechanism) -> Option<Vec<Carried>> {
    let mut known = Vec::with_capacity(mechanism.nodes.len());
    for node in &mechanism.nodes {
        let count = node.free_count();
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
