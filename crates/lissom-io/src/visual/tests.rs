use std::fmt::Write as _;

use super::*;

/// A tetrahedron between the origin and the ends of the unit vectors: four facets of twelve corners.
const FACETS: [[[f32; 3]; 3]; 4] = {
    let [o, x, y, z] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    [[o, y, x], [o, x, z], [o, z, y], [x, y, z]]
};

fn binary(header: &str, facets: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(80, b' ');
    bytes.extend(u32::try_from(facets.len()).unwrap().to_le_bytes());
    for facet in facets {
        bytes.extend([0; 12]);
        let numbers = facet.iter().flatten();
        bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn ascii(facets: &[[[f32; 3]; 3]]) -> String {
    let mut text = "solid tetrahedron\n".to_owned();
    for facet in facets {
        text.push_str("  facet normal 0 0 0\n    outer loop\n");
        for [x, y, z] in facet {
            writeln!(text, "      vertex {x:e} {y:e} {z:e}").unwrap();
        }
        text.push_str("    endloop\n  endfacet\n");
    }
    text + "endsolid tetrahedron\n"
}

/// Volume inside a closed surface by the divergence theorem.
fn volume(mesh: &VisualMesh) -> f64 {
    let corner = |index: u32| mesh.positions[index as usize].map(f64::from);
    let sixth = |&[a, b, c]: &[u32; 3]| {
        let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (corner(a), corner(b), corner(c));
        (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6.0
    };
    mesh.triangles.iter().map(sixth).sum()
}

/// One tetrahedron in four files, and its volume of 1/6.
#[test]
fn the_same_shape_is_read_from_every_format() {
    let obj = "# corners\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\n\
               f 1 3 2\nf 1/1 2/2 4/3\nf 1//1 4//1 3//1\nf -3 -2 -1\n";
    let files: [(&str, Vec<u8>); 4] = [
        ("a.stl", binary("made by hand", &FACETS)),
        ("a.STL", binary("solid but binary", &FACETS)),
        ("a.stl", ascii(&FACETS).into_bytes()),
        ("a.obj", obj.as_bytes().to_vec()),
    ];
    for (name, bytes) in files {
        let mesh = VisualMesh::parse(name, &bytes).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 4));
        // halves and ones are exact
        assert!((volume(&mesh) - 1.0 / 6.0).abs() < f64::EPSILON);
        let again = VisualMesh::parse("kept.obj", mesh.text().as_bytes()).unwrap();
        assert_eq!(again, mesh);
    }
}

/// By construction: faces of four corners are two triangles, and bits survive being kept.
#[test]
fn polygons_and_odd_numbers_are_kept() {
    let text = "v 0.1 1e-30 -0.0\nv 1 0 0\nv 1 1 0\nv 0 1 123456.79\nf 1 2 3 4\n";
    let mesh = VisualMesh::parse("quad.obj", text.as_bytes()).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    let again = VisualMesh::parse("quad.obj", mesh.text().as_bytes()).unwrap();
    let bits = |mesh: &VisualMesh| -> Vec<u32> {
        mesh.positions
            .iter()
            .flatten()
            .map(|x| x.to_bits())
            .collect()
    };
    assert_eq!(bits(&again), bits(&mesh));
}

/// A closed form: the volume of a sphere of many triangles, before and after thinning.
#[test]
fn fine_meshes_are_thinned_and_keep_their_shape() {
    /// Rings and sectors: 160,000 triangles.
    const RINGS: u16 = 200;
    const SECTORS: u16 = 400;
    /// Cells are a sixtieth of the diameter or less where 20,000 triangles are left, and points stay where they were.
    const SHARE: f64 = 0.03;
    let at = |ring: u16, sector: u16| {
        let polar = std::f32::consts::PI * f32::from(ring) / f32::from(RINGS);
        let turn = std::f32::consts::TAU * f32::from(sector % SECTORS) / f32::from(SECTORS);
        [
            polar.sin() * turn.cos(),
            polar.sin() * turn.sin(),
            polar.cos(),
        ]
    };
    let mut facets = Vec::new();
    for ring in 0..RINGS {
        for sector in 0..SECTORS {
            let [a, b] = [at(ring, sector), at(ring + 1, sector)];
            let [c, d] = [at(ring + 1, sector + 1), at(ring, sector + 1)];
            facets.extend([[a, b, c], [a, c, d]]);
        }
    }
    let mesh = VisualMesh::parse("sphere.stl", &binary("", &facets)).unwrap();
    let count = mesh.triangles.len();
    assert!(count <= MOST_TRIANGLES, "{count}");
    // not thinned for nothing
    assert!(2 * count > MOST_TRIANGLES, "{count}");
    let exact = 4.0 / 3.0 * std::f64::consts::PI;
    let found = volume(&mesh);
    assert!((found / exact - 1.0).abs() < SHARE, "{found} for {exact}");
}

/// Whatever is wrong is said, with the line.
#[test]
fn what_is_no_mesh_is_refused() {
    let mut short = binary("", &FACETS);
    short.pop();
    let mut not_finite = FACETS;
    not_finite[2][1][0] = f32::NAN;
    let half = ascii(&FACETS).replacen("      vertex 0e0 1e0 0e0\n", "", 1);
    let cases: [(&str, &[u8], &str); 12] = [
        ("a.dae", b"<COLLADA/>", ".dae files are not read"),
        ("a", b"", "unnamed files are not read"),
        ("a.stl", b"", "no STL file"),
        ("a.stl", &short, "no STL file"),
        ("a.stl", &binary("", &not_finite), "triangle 3"),
        ("a.stl", &binary("", &[]), "no triangles"),
        ("a.stl", b"solid x\nendsolid x\n", "no triangles"),
        ("a.stl", b"solid x\nvertex 1 2\n", "line 2"),
        ("a.stl", half.as_bytes(), "line 6: a facet has three"),
        ("a.obj", b"v 0 0 0\nf 1 1 2\n", "line 2: \"2\" is no corner"),
        ("a.obj", b"v 0 0 0\nv 1 1 1\nf 1 2\n", "line 3: a face"),
        ("a.obj", b"v 0 1e13 0\n", "line 1: \"1e13\""),
    ];
    for (name, bytes, expected) in cases {
        let error = VisualMesh::parse(name, bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}
