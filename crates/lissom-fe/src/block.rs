//! A block of elements, to try and to measure reductions on.

use crate::mesh::{Group, Mesh, Solid};
use crate::shape::{CORNERS, Kind};
use lissom_spec::spec::{InterfaceSpec, MaterialSpec, MeshBasisSpec, MeshSpec};

/// Tetrahedra of a cube around one of its diagonals, by its corners: faces that two cubes share are cut alike.
const TETRAS: [[usize; 4]; 6] = [
    [0, 1, 2, 6],
    [0, 2, 3, 6],
    [0, 3, 7, 6],
    [0, 7, 4, 6],
    [0, 4, 5, 6],
    [0, 5, 1, 6],
];

/// A box along x from the origin, its section centred on the axis, of cells along x, y, z with one hexahedron or six tetrahedra each. The groups `root`
/// and `tip` are the nodes of its ends.
pub fn block(kind: Kind, cells: [usize; 3], size: [f64; 3]) -> Mesh {
    // a grid of half cells; nodes that no element takes stay unused
    let counts = cells.map(|n| 2 * n + 1);
    let at = |[i, j, k]: [usize; 3]| (i * counts[1] + j) * counts[2] + k;
    let mut mesh = Mesh::default();
    let mut ends = ["root", "tip"].map(|name| Group {
        name: name.to_owned(),
        ..Group::default()
    });
    for place in places(counts) {
        let share = |axis: usize| place[axis] as f64 / (counts[axis] - 1) as f64;
        mesh.nodes.push([
            size[0] * share(0),
            size[1] * (share(1) - 0.5),
            size[2] * (share(2) - 0.5),
        ]);
        if place[0] == 0 {
            ends[0].nodes.insert(at(place));
        }
        if place[0] == counts[0] - 1 {
            ends[1].nodes.insert(at(place));
        }
    }
    mesh.groups = ends.into();
    let tetras: Vec<Vec<usize>> = match kind {
        Kind::Hexa8 | Kind::Hexa20 => vec![(0..CORNERS.len()).collect()],
        Kind::Tetra4 | Kind::Tetra10 => TETRAS.map(Vec::from).into(),
    };
    for cell in places(cells) {
        // twice the place of a corner of the cell in the grid
        let corner = |corner: usize| -> [usize; 3] {
            std::array::from_fn(|k| 4 * cell[k] + if CORNERS[corner][k] > 0.0 { 4 } else { 0 })
        };
        for corners in &tetras {
            let place = |node: usize| {
                let [a, b] = kind.edge_of(node).unwrap_or([node, node]);
                let [a, b] = [a, b].map(|own| corner(corners[own]));
                at(std::array::from_fn(|k| (a[k] + b[k]) / 4))
            };
            mesh.solids.push(Solid {
                number: mesh.solids.len() + 1,
                kind,
                nodes: (0..kind.nodes()).map(place).collect(),
                groups: Vec::new(),
            });
        }
    }
    mesh
}

/// How such a block of one material is reduced, with both ends as interfaces.
pub fn block_spec(material: MaterialSpec, basis: MeshBasisSpec) -> MeshSpec {
    let interface = |name: &str| InterfaceSpec {
        name: name.to_owned(),
        ..InterfaceSpec::default()
    };
    MeshSpec {
        file: String::new(),
        unit_m: 1.0,
        mass_unit_kg: 1.0,
        material: vec![material],
        matrices: None,
        interface: ["root", "tip"].map(interface).into(),
        basis,
        stiffening: true,
    }
}

/// All places of a grid, in turn.
fn places(counts: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [along, across, up] = counts.map(|count| 0..count);
    along.flat_map(move |i| {
        let up = up.clone();
        (across.clone()).flat_map(move |j| up.clone().map(move |k| [i, j, k]))
    })
}
