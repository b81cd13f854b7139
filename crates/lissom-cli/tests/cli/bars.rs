//! Meshes of bars for tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A bar of quadratic hexahedra along x, one across, as a Gmsh file of version 2.2 with the groups `root`, `tip` and `bar`; `bend` takes points
/// of the straight bar, whose section is centred, to where they are.
pub(crate) fn bar(cells: usize, size: [f64; 3], bend: impl Fn([f64; 3]) -> [f64; 3]) -> String {
    const CORNERS: [[usize; 3]; 8] = [
        [0, 0, 0],
        [2, 0, 0],
        [2, 2, 0],
        [0, 2, 0],
        [0, 0, 2],
        [2, 0, 2],
        [2, 2, 2],
        [0, 2, 2],
    ];
    // the order of Gmsh
    const EDGES: [[usize; 2]; 12] = [
        [0, 1],
        [0, 3],
        [0, 4],
        [1, 2],
        [1, 5],
        [2, 3],
        [2, 6],
        [3, 7],
        [4, 5],
        [4, 7],
        [5, 6],
        [6, 7],
    ];
    let mut numbers: BTreeMap<[usize; 3], usize> = BTreeMap::new();
    let (mut nodes, mut elements) = (String::new(), String::new());
    for cell in 0..cells {
        let middles =
            EDGES.map(|[a, b]| [0, 1, 2].map(|k| usize::midpoint(CORNERS[a][k], CORNERS[b][k])));
        write!(elements, "{} 17 2 3 1", cell + 3).unwrap();
        for [i, j, k] in CORNERS.into_iter().chain(middles) {
            let place = [2 * cell + i, j, k];
            let count = numbers.len() + 1;
            let number = *numbers.entry(place).or_insert_with(|| {
                let [x, y, z] = bend([
                    size[0] * place[0] as f64 / (2 * cells) as f64,
                    size[1] * (place[1] as f64 / 2.0 - 0.5),
                    size[2] * (place[2] as f64 / 2.0 - 0.5),
                ]);
                writeln!(nodes, "{count} {x:?} {y:?} {z:?}").unwrap();
                count
            });
            write!(elements, " {number}").unwrap();
        }
        elements.push('\n');
    }
    let mut faces = String::new();
    for (group, end) in [(1, 0), (2, 2 * cells)] {
        write!(faces, "{group} 16 2 {group} {group}").unwrap();
        for [j, k] in [
            [0, 0],
            [2, 0],
            [2, 2],
            [0, 2],
            [1, 0],
            [2, 1],
            [1, 2],
            [0, 1],
        ] {
            write!(faces, " {}", numbers[&[end, j, k]]).unwrap();
        }
        faces.push('\n');
    }
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"root\"\n2 2 \"tip\"\n3 3 \"bar\"\n$EndPhysicalNames\n\
         $Nodes\n{}\n{nodes}$EndNodes\n$Elements\n{}\n{faces}{elements}$EndElements\n",
        numbers.len(),
        cells + 2
    )
}
