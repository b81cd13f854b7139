//! What a reduced body looks like: triangles over the corners of its outer faces, with their displacement and stress.

use std::collections::BTreeMap;

use crate::finite_elements::Field;
use crate::mesh::Mesh;
use lissom_spec::spec::SurfaceSpec;

/// Most points times shapes of a surface that is kept: pages, body files and manifests grow by three megabytes at most.
pub(crate) const MOST: usize = 30_000;

/// Digits behind the first that are kept of displacement and stress: more than a picture shows.
const DIGITS: usize = 4;

/// The surface of solid elements, displaced by fields; `stresses` are those of the fields at a corner of an element. None without elements, and
/// if there are too many points for a picture.
pub(crate) fn of_solids(
    mesh: &Mesh,
    shapes: &[Field],
    stresses: impl Fn(usize, usize) -> Option<Vec<[f64; 6]>>,
) -> Option<SurfaceSpec> {
    let faces = outer_faces(mesh);
    let mut points: BTreeMap<usize, usize> = BTreeMap::new();
    for &node in faces.iter().flatten() {
        points.insert(node, 0);
    }
    if points.is_empty() || points.len() * shapes.len() > MOST {
        return None;
    }
    for (index, point) in points.values_mut().enumerate() {
        *point = index;
    }
    let triangles = faces.iter().flat_map(|face| {
        let corners = face.iter().map(|node| points[node]);
        let corners: Vec<usize> = corners.collect();
        (2..corners.len()).map(move |k| [corners[0], corners[k - 1], corners[k]])
    });
    let displacement = |&node: &usize| shapes.iter().map(|own| own[node].map(short)).collect();
    Some(SurfaceSpec {
        positions_m: points.keys().map(|&node| mesh.nodes[node]).collect(),
        triangles: triangles.collect(),
        displacement: points.keys().map(displacement).collect(),
        stress_pa: mean_stresses(mesh, &points, shapes.len(), stresses),
    })
}

/// Corners of the faces that belong to one element alone.
fn outer_faces(mesh: &Mesh) -> Vec<Vec<usize>> {
    let mut faces: BTreeMap<Vec<usize>, Option<Vec<usize>>> = BTreeMap::new();
    for solid in &mesh.solids {
        for face in solid.kind.faces() {
            let corners: Vec<usize> = face.iter().map(|&corner| solid.nodes[corner]).collect();
            let mut key = corners.clone();
            key.sort_unstable();
            faces
                .entry(key)
                .and_modify(|own| *own = None)
                .or_insert(Some(corners));
        }
    }
    faces.into_values().flatten().collect()
}

/// Mean over the elements around every point; nothing if any point has none.
fn mean_stresses(
    mesh: &Mesh,
    points: &BTreeMap<usize, usize>,
    shapes: usize,
    stresses: impl Fn(usize, usize) -> Option<Vec<[f64; 6]>>,
) -> Vec<Vec<[f64; 6]>> {
    let mut sums = vec![vec![[0.0; 6]; shapes]; points.len()];
    let mut counts = vec![0.0_f64; points.len()];
    for (element, solid) in mesh.solids.iter().enumerate() {
        let corners = solid.kind.corners();
        for (corner, node) in solid.nodes[..corners].iter().enumerate() {
            let Some(&point) = points.get(node) else {
                continue;
            };
            if let Some(own) = stresses(element, corner) {
                counts[point] += 1.0;
                for (sum, own) in sums[point].iter_mut().flatten().zip(own.iter().flatten()) {
                    *sum += own;
                }
            }
        }
    }
    if counts.contains(&0.0) {
        return Vec::new();
    }
    for (sums, count) in sums.iter_mut().zip(&counts) {
        for sum in sums.iter_mut().flatten() {
            *sum = short(*sum / count);
        }
    }
    sums
}

/// The number with fewer digits.
pub(crate) fn short(x: f64) -> f64 {
    format!("{x:.DIGITS$e}").parse().unwrap_or(x)
}
