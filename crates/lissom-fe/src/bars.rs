//! Straight beams of a mesh file, as [`Beams`]: one element of third degree each.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use crate::FeError;
use crate::beams::{Beams, NODES, Section};
use crate::frame::{points_of, section};
use crate::mesh::{Bar, Mesh};
use lissom_spec::spec::{MeshSpec, NodeSpec};

/// `points` are places at whose nearest nodes something may be attached.
///
/// # Errors
/// For interfaces that are not one node of a beam each, for beams that do not hang together, and for meshes with solids or materials beside them.
pub(crate) fn beams(mesh: &Mesh, spec: &MeshSpec, points: &[NodeSpec]) -> Result<Beams, FeError> {
    if !mesh.solids.is_empty() || !spec.material.is_empty() {
        return Err(FeError::BesideBeams);
    }
    mesh.connected()?;
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    for node in mesh.bars.iter().flat_map(|bar| bar.nodes) {
        used.insert(node, 0);
    }
    let mut nodes: Vec<Vector3<f64>> = Vec::with_capacity(used.len());
    for (&node, own) in &mut used {
        *own = nodes.len();
        nodes.push(mesh.nodes[node].into());
    }
    // ends, and what divides every beam into three
    let elements: Vec<[usize; NODES]> = (mesh.bars.iter())
        .map(|bar| {
            let [from, to] = bar.nodes.map(|node| used[&node]);
            let inner = [1.0, 2.0].map(|third| {
                let at = nodes[from] + (nodes[to] - nodes[from]) * (third / 3.0);
                nodes.push(at);
                nodes.len() - 1
            });
            [from, inner[0], inner[1], to]
        })
        .collect();
    let mut beams = Beams::new(nodes);
    for (bar, &nodes) in mesh.bars.iter().zip(&elements) {
        let section = |_: f64, tangent: Vector3<f64>| Ok::<Section, FeError>(across(bar, tangent));
        beams.add_element(nodes, section)?;
    }
    for lump in &mesh.lumps {
        let Some(&own) = used.get(&lump.node) else {
            let node = mesh.numbers[lump.node];
            return Err(FeError::LooseMass { node });
        };
        let moments = Matrix3::from_fn(|i, j| lump.second_moments[i][j]).symmetric_eigen();
        let axes = [0, 1, 2].map(|k| moments.eigenvectors.column(k).into_owned());
        let points = points_of(
            lump.mass,
            lump.offset.into(),
            axes,
            moments.eigenvalues.into(),
        );
        beams.add_lump(own, points.into_iter());
    }
    for interface in &spec.interface {
        let group = interface.group.as_ref().unwrap_or(&interface.name);
        let own = &mesh.groups[mesh.place_group(group)?].nodes;
        let own: Vec<usize> = own
            .iter()
            .filter_map(|node| used.get(node).copied())
            .collect();
        let &[node] = own.as_slice() else {
            return Err(FeError::InterfaceOfBeams {
                interface: interface.name.clone(),
                count: own.len(),
            });
        };
        beams.add_place(&interface.name, node, true);
    }
    for point in points {
        let away = |node: usize| {
            let at = Vector3::from(mesh.nodes[node]);
            (at - Vector3::from(point.position_m)).norm_squared()
        };
        let near = used
            .iter()
            .min_by(|(a, _), (b, _)| away(**a).total_cmp(&away(**b)));
        if let Some((_, &node)) = near {
            beams.add_place(&point.name, node, false);
        }
    }
    Ok(beams)
}

/// The section of a beam, across its line.
fn across(bar: &Bar, tangent: Vector3<f64>) -> Section {
    let y = Vector3::from(bar.y_direction).normalize();
    section(
        &bar.section,
        [tangent, y, tangent.cross(&y)],
        Vector3::zeros(),
    )
}
