//! How far flexible bodies of a tree bend, and what counts as far.

use crate::model::Model;
use lissom_core::FlexibleLink;
use lissom_tree::flex::{FlexibleBody, Node};

/// The flexible bodies of a model: index in the system, name and length.
pub(super) fn flexible_links(model: &Model) -> Vec<(usize, FlexibleLink)> {
    let bodies = model.linkage.system.bodies().iter().enumerate();
    let links = bodies.filter_map(|(k, body)| {
        let flexible = body.flexible.as_ref()?;
        let link = FlexibleLink {
            body: body.name.clone(),
            length_m: points(flexible)
                .map(|node| length(node.position))
                .fold(0.0, f64::max),
            unstiffened_rad_per_s: unstiffened(flexible),
        };
        Some((k, link))
    });
    links.collect()
}

/// Lowest frequency of a body that brings no data by which it would stiffen when it rotates.
pub(crate) fn unstiffened(flexible: &FlexibleBody) -> Option<f64> {
    let lacks = match &flexible.second_order_integrals {
        // what loads on its places do to it is not what rotation does
        Some(integrals) => integrals.know_no_rotation(),
        None => flexible.second_order.is_none() && flexible.centreline.is_none(),
    };
    lacks
        .then(|| flexible.frequencies().ok())??
        .first()
        .copied()
}

/// Largest distance of a place on a body from its first one.
pub(crate) fn extent(flexible: &FlexibleBody) -> f64 {
    let Some(first) = flexible.nodes.first() else {
        return 0.0;
    };
    let away = |node: &Node| {
        length(std::array::from_fn(|k| {
            node.position[k] - first.position[k]
        }))
    };
    flexible.nodes.iter().map(away).fold(0.0, f64::max)
}

/// Largest displacement of a point and largest rotation of a section of a body at a position.
pub(super) fn bending(model: &Model, body: usize, position: &[f64]) -> [f64; 2] {
    let (flexible, shape) = shape(model, body, position);
    flexible.map_or([0.0; 2], |flexible| {
        [
            largest(flexible, shape, |node| &node.displacement),
            largest(flexible, shape, |node| &node.rotation),
        ]
    })
}

/// Name of the elastic coordinate that displaces some point of a body most.
pub(super) fn leading_coordinate(model: &Model, body: usize, position: &[f64]) -> String {
    let first = model.linkage.system.layout().elastic_position[body];
    let (flexible, shape) = shape(model, body, position);
    flexible.map_or_else(String::new, |flexible| {
        leading(model, first, flexible, shape)
    })
}

fn shape<'a>(
    model: &'a Model,
    body: usize,
    position: &'a [f64],
) -> (Option<&'a FlexibleBody>, &'a [f64]) {
    let first = model.linkage.system.layout().elastic_position[body];
    let body = &model.linkage.system.bodies()[body];
    (body.flexible.as_ref(), &position[first..][..body.modes()])
}

fn points(flexible: &FlexibleBody) -> impl Iterator<Item = &Node> {
    let slices = flexible.mass_nodes.iter().map(|mass| &mass.node);
    flexible.nodes.iter().chain(slices)
}

/// Length of the largest body: the distance of its points and of the places of its joints from its origin; a metre for
/// bodies without extent.
pub(super) fn reach(model: &Model) -> f64 {
    let bodies = model.linkage.system.bodies().iter();
    let flexible = bodies.clone().filter_map(|body| body.flexible.as_ref());
    let lengths = flexible.flat_map(points).map(|node| length(node.position));
    let places = bodies.flat_map(|body| [&body.inboard, &body.outboard]);
    let places = places.map(|place| length(place.offset().translation.0));
    let reach = lengths.chain(places).fold(0.0, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}

/// For every velocity, the change of an elastic coordinate that displaces its body by its length or turns a section by a
/// radian, whichever is less; 1 for other coordinates.
pub(super) fn large_changes(model: &Model) -> Vec<f64> {
    let layout = model.linkage.system.layout();
    let mut changes = vec![1.0; model.linkage.system.velocity_count()];
    for (k, body) in model.linkage.system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let long = points(flexible).map(|node| length(node.position));
        let long = long.fold(0.0, f64::max);
        for alpha in 0..body.modes() {
            let most = |of: fn(&Node) -> &[[f64; 3]]| {
                let moved = points(flexible).map(|node| length(of(node)[alpha]));
                moved.fold(0.0, f64::max)
            };
            let by_length = long / most(|node| &node.displacement);
            let by_turn = 1.0 / most(|node| &node.rotation);
            let change = by_length.min(by_turn);
            if change.is_finite() && change > 0.0 {
                changes[layout.elastic_velocity[k] + alpha] = change;
            }
        }
    }
    changes
}

fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Length of the longest $`\sum x_\alpha \eta_\alpha`$ over all points.
fn largest(flexible: &FlexibleBody, shape: &[f64], of: fn(&Node) -> &[[f64; 3]]) -> f64 {
    let mut most = 0.0;
    for node in points(flexible) {
        let mut sum = [0.0; 3];
        for (influence, eta) in of(node).iter().zip(shape) {
            for (s, x) in sum.iter_mut().zip(influence) {
                *s += x * eta;
            }
        }
        most = f64::max(most, length(sum));
    }
    most
}

/// Name of the coordinate that displaces some point most.
fn leading(model: &Model, first: usize, flexible: &FlexibleBody, shape: &[f64]) -> String {
    let reach = |alpha: usize| {
        let moved = points(flexible).map(|node| length(node.displacement[alpha]));
        moved.fold(0.0, f64::max) * shape[alpha].abs()
    };
    let order = (0..shape.len()).max_by(|&a, &b| reach(a).total_cmp(&reach(b)));
    order.map_or_else(String::new, |alpha| {
        model.linkage.positions[first + alpha].name.clone()
    })
}
