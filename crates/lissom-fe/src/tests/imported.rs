//! Bodies from matrices: against the mesh that the matrices come from, closed forms, and what is wrong with them.

mod refused;

use std::fmt::Write as _;

use nalgebra::DMatrix;

use super::{at_point, block, clamped, frequencies, lowest, spec};
use crate::elements::Elements;
use crate::{
    Attached, FeError, Kind, Matrices, Matrix, Mesh, NEVER, Reduction, parse_nodes, parse_unknowns,
    reduce, reduce_matrices,
};
use lissom_spec::spec::{
    AxisName, ForcePerMassSpec, GeometricStiffnessSpec, InterfaceLoadSpec, MatricesSpec,
    MeshBasisSpec, MeshSpec, ReducedSpec,
};

/// A matrix in Matrix Market's format, its lower triangle.
fn market(matrix: &DMatrix<f64>) -> String {
    let n = matrix.nrows();
    let entries: Vec<String> = (0..n)
        .flat_map(|j| (j..n).map(move |i| (i, j)))
        .filter(|&at| matrix[at] != 0.0)
        .map(|(i, j)| format!("{} {} {:?}", i + 1, j + 1, matrix[(i, j)]))
        .collect();
    format!(
        "%%MatrixMarket matrix coordinate real symmetric\n% of a test\n{n} {n} {}\n{}\n",
        entries.len(),
        entries.join("\n")
    )
}

/// What another program would write of a mesh of solids: a table of nodes, unknowns, mass and stiffness; lengths and masses in other units.
struct Written {
    nodes: String,
    unknowns: String,
    mass: DMatrix<f64>,
    stiffness: DMatrix<f64>,
}

fn written(mesh: &Mesh, spec: &MeshSpec, unit_m: f64, mass_unit_kg: f64) -> Written {
    let elements = Elements::new(mesh, &spec.material).unwrap();
    let mut used: Vec<usize> = (mesh.solids.iter())
        .flat_map(|solid| solid.nodes.iter().copied())
        .collect();
    used.sort_unstable();
    used.dedup();
    let size = 3 * used.len();
    let row = |node: usize| 3 * used.binary_search(&node).unwrap();
    let (mut mass, mut stiffness) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
    for (index, solid) in mesh.solids.iter().enumerate() {
        let own = elements.stiffness(index).unwrap();
        for (a, &node) in solid.nodes.iter().enumerate() {
            for (b, &other) in solid.nodes.iter().enumerate() {
                for i in 0..3 {
                    for j in 0..3 {
                        stiffness[(row(node) + i, row(other) + j)] +=
                            own[(3 * a + i, 3 * b + j)] / mass_unit_kg;
                    }
                }
            }
        }
    }
    for &node in &used {
        let mut unit = vec![[0.0; 3]; mesh.nodes.len()];
        unit[node] = [1.0; 3];
        for (other, own) in elements.times_mass(&unit).iter().enumerate() {
            if own[0] != 0.0 {
                for k in 0..3 {
                    mass[(row(other) + k, row(node) + k)] = own[0] / mass_unit_kg;
                }
            }
        }
    }
    let (mut nodes, mut unknowns) = (String::from("node,x,y,z,group\n"), String::new());
    for &node in &used {
        let [x, y, z] = mesh.nodes[node].map(|x| x / unit_m);
        let group = mesh.groups.iter().find(|group| group.nodes.contains(&node));
        let group = group.map_or("", |group| group.name.as_str());
        writeln!(nodes, "{}, {x:?}, {y:?}, {z:?}, {group}", 10 + node).unwrap();
        for direction in 1..=3 {
            writeln!(unknowns, "{}.{direction}", 10 + node).unwrap();
        }
    }
    Written {
        nodes,
        unknowns,
        mass,
        stiffness,
    }
}

fn imported(
    written: &Written,
    spec: &MeshSpec,
    attached: &Attached,
    geometric: Vec<(GeometricStiffnessSpec, Matrix)>,
) -> Result<Reduction, FeError> {
    let mut mesh = parse_nodes(&written.nodes)?;
    mesh.scale(spec.unit_m, spec.mass_unit_kg);
    let matrices = Matrices {
        mass: Matrix::parse(&market(&written.mass))?,
        stiffness: Matrix::parse(&market(&written.stiffness))?,
        unknowns: Some(parse_unknowns(&written.unknowns)?),
        geometric,
    };
    reduce_matrices(&mesh, matrices, spec, attached, NEVER)
}

/// The mesh spec with matrices in these units.
fn with_matrices(mut spec: MeshSpec, unit_m: f64, mass_unit_kg: f64) -> MeshSpec {
    spec.unit_m = unit_m;
    spec.mass_unit_kg = mass_unit_kg;
    spec.matrices = Some(MatricesSpec::default());
    spec
}

fn alike(found: f64, wanted: f64, scale: f64, what: &str) {
    assert!(
        (found - wanted).abs() < 1e-8 * scale,
        "{what}: {found} {wanted}"
    );
}

/// Second formulation: the matrices of a mesh are the mesh. Frequencies to 1e-8, and every integral, in every basis, in metres and kilograms and in
/// millimetres and tonnes.
#[test]
fn matrices_of_solids_are_the_solids() {
    let mesh = block(Kind::Hexa20, [5, 1, 1], [0.4, 0.05, 0.03]);
    let middle = at_point("middle", [0.2, 0.025, 0.015]);
    for (basis, unit_m, mass_unit_kg) in [
        (clamped(4), 1.0, 1.0),
        (MeshBasisSpec::CraigBampton(lowest(3)), 0.001, 1000.0),
        (MeshBasisSpec::FreeFree(lowest(4)), 0.001, 1000.0),
    ] {
        let mut own = spec(basis, &["root", "tip"], 0.3);
        own.stiffening = false;
        let wanted = reduce(&mesh, &own, &middle, NEVER).unwrap().body;
        let spec = with_matrices(own.clone(), unit_m, mass_unit_kg);
        let made = imported(
            &written(&mesh, &own, unit_m, mass_unit_kg),
            &spec,
            &middle,
            Vec::new(),
        );
        let Reduction { body, source } = made.unwrap();
        assert!(
            source.from_displacements < 1e-9,
            "{}",
            source.from_displacements
        );
        assert_eq!(source.elements, 0);
        for (a, b) in frequencies(&body).iter().zip(frequencies(&wanted)) {
            alike(*a, b, b, "frequency");
        }
        alike(body.mass_kg, wanted.mass_kg, wanted.mass_kg, "mass");
        for k in 0..3 {
            alike(
                body.center_of_mass_m[k],
                wanted.center_of_mass_m[k],
                1.0,
                "centre",
            );
            for j in 0..3 {
                alike(
                    body.inertia_kg_m2[k][j],
                    wanted.inertia_kg_m2[k][j],
                    0.1,
                    "inertia",
                );
            }
        }
        same_integrals(&body, &wanted);
    }
}

fn same_integrals(body: &ReducedSpec, wanted: &ReducedSpec) {
    let n = body.stiffness.len();
    for a in 0..n {
        for k in 0..3 {
            alike(
                body.displacement_integrals[a][k],
                wanted.displacement_integrals[a][k],
                1.0,
                "∫ψ",
            );
            for j in 0..3 {
                alike(
                    body.position_integrals[a][k][j],
                    wanted.position_integrals[a][k][j],
                    1.0,
                    "∫rψ",
                );
                for b in 0..n {
                    let [found, wanted] =
                        [body, wanted].map(|own| own.product_integrals[a][b][k][j]);
                    alike(found, wanted, 1.0, "∫ψψ");
                }
            }
        }
    }
    for (node, other) in body.nodes.iter().zip(&wanted.nodes) {
        assert_eq!(node.name, other.name);
        let rows = node.influence.iter().zip(&other.influence).enumerate();
        for (row, (own, other)) in rows {
            // rotations at a point are means over nodes here, over elements there
            if node.name == "middle" && row < 3 {
                continue;
            }
            for (a, b) in own.iter().zip(other) {
                alike(*a, *b, 10.0, "influence");
            }
        }
    }
}

/// A straight beam of Euler and Bernoulli along x, in two planes, with stretch and torsion: stiffness, consistent mass, and the gain in stiffness under
/// a force per mass along x that grows with x and under a force at its end.
struct Beam {
    mass: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    centrifugal: DMatrix<f64>,
    pulled: DMatrix<f64>,
    nodes: String,
}

const BENDING: f64 = 1.4e4;
const PER_LENGTH: f64 = 1.2;
const LENGTH: f64 = 10.0;

fn beam(elements: usize) -> Beam {
    let size = 6 * (elements + 1);
    let mut beam = Beam {
        mass: DMatrix::zeros(size, size),
        stiffness: DMatrix::zeros(size, size),
        centrifugal: DMatrix::zeros(size, size),
        pulled: DMatrix::zeros(size, size),
        nodes: String::new(),
    };
    let h = LENGTH / elements as f64;
    let bending = DMatrix::from_row_slice(
        4,
        4,
        &[
            12.0, 6.0, -12.0, 6.0, 6.0, 4.0, -6.0, 2.0, -12.0, -6.0, 12.0, -6.0, 6.0, 2.0, -6.0,
            4.0,
        ],
    );
    let inertia = DMatrix::from_row_slice(
        4,
        4,
        &[
            156.0, 22.0, 54.0, -13.0, 22.0, 4.0, 13.0, -3.0, 54.0, 13.0, 156.0, -22.0, -13.0, -3.0,
            -22.0, 4.0,
        ],
    );
    // slopes of the cubics at a point
    let slopes = |s: f64| {
        [
            (-6.0 * s + 6.0 * s * s) / h,
            1.0 - 4.0 * s + 3.0 * s * s,
            (6.0 * s - 6.0 * s * s) / h,
            -2.0 * s + 3.0 * s * s,
        ]
    };
    let gauss = [
        (0.5 - 0.5 * (0.6_f64).sqrt(), 5.0 / 18.0),
        (0.5, 8.0 / 18.0),
        (0.5 + 0.5 * (0.6_f64).sqrt(), 5.0 / 18.0),
    ];
    for e in 0..elements {
        let first = 6 * e;
        // bending along y with rotation about z, along z with rotation about −y
        for (place, turn, sign) in [(1, 5, 1.0), (2, 4, -1.0)] {
            let rows = [
                first + place,
                first + turn,
                first + 6 + place,
                first + 6 + turn,
            ];
            let scale = [1.0, sign * h, 1.0, sign * h];
            for i in 0..4 {
                for j in 0..4 {
                    let at = (rows[i], rows[j]);
                    let both = scale[i] * scale[j];
                    beam.stiffness[at] += BENDING / h.powi(3) * both * bending[(i, j)];
                    beam.mass[at] += PER_LENGTH * h / 420.0 * both * inertia[(i, j)];
                    for (s, weight) in gauss {
                        let x = h * (e as f64 + s);
                        let slope = slopes(s);
                        let sign = |k: usize| if k % 2 == 1 { sign } else { 1.0 };
                        let product = weight * h * sign(i) * slope[i] * sign(j) * slope[j];
                        let tension = 0.5 * PER_LENGTH * (LENGTH * LENGTH - x * x);
                        beam.centrifugal[at] += tension * product;
                        beam.pulled[at] += product;
                    }
                }
            }
        }
        for (place, stiffness, mass) in [(0, 2.8e7, PER_LENGTH), (3, 1.1e4, 1.2e-3)] {
            for (i, j, k, m) in [
                (0, 0, 1.0, 2.0),
                (0, 1, -1.0, 1.0),
                (1, 0, -1.0, 1.0),
                (1, 1, 1.0, 2.0),
            ] {
                let at = (first + place + 6 * i, first + place + 6 * j);
                beam.stiffness[at] += stiffness / h * k;
                beam.mass[at] += mass * h / 6.0 * m;
            }
        }
    }
    for node in 0..=elements {
        let group = match node {
            0 => ", root",
            _ if node == elements => ", tip",
            _ => "",
        };
        writeln!(
            beam.nodes,
            "{}, {:?}, 0, 0{group}",
            node + 1,
            h * node as f64
        )
        .unwrap();
    }
    beam
}

fn reduced_beam(beam: &Beam, basis: MeshBasisSpec, stiffens: bool) -> Reduction {
    let gains = [
        (
            GeometricStiffnessSpec {
                force_per_mass: Some(ForcePerMassSpec {
                    along: AxisName::X,
                    growing_with: Some(AxisName::X),
                }),
                ..GeometricStiffnessSpec::default()
            },
            &beam.centrifugal,
        ),
        (
            GeometricStiffnessSpec {
                force: Some(InterfaceLoadSpec {
                    at: "tip".to_owned(),
                    along: AxisName::X,
                }),
                ..GeometricStiffnessSpec::default()
            },
            &beam.pulled,
        ),
    ];
    let gains = gains.into_iter().filter(|_| stiffens);
    let matrices = Matrices {
        mass: Matrix::parse(&market(&beam.mass)).unwrap(),
        stiffness: Matrix::parse(&market(&beam.stiffness)).unwrap(),
        unknowns: None,
        geometric: gains
            .map(|(spec, matrix)| (spec, Matrix::parse(&market(matrix)).unwrap()))
            .collect(),
    };
    let spec = with_matrices(spec(basis, &["root", "tip"], 0.3), 1.0, 1.0);
    reduce_matrices(
        &parse_nodes(&beam.nodes).unwrap(),
        matrices,
        &spec,
        &Attached::default(),
        NEVER,
    )
    .unwrap()
}

/// Closed forms: a beam with rotations, held by one node, has the mass, the centre, the frequencies and the compliance of a beam, and stiffens by 1.193 ω²
/// \[Fattah 1995, after eq. (5.18)\].
#[test]
fn matrices_with_rotations_are_those_of_a_beam() {
    let beam = beam(16);
    let Reduction { body, source } = reduced_beam(&beam, clamped(4), true);
    alike(body.mass_kg, 12.0, 12.0, "mass");
    alike(body.center_of_mass_m[0], 5.0, 5.0, "centre");
    alike(
        body.inertia_kg_m2[1][1],
        12.0 * 100.0 / 12.0,
        100.0,
        "inertia",
    );
    let first = 1.875_104_068_711_961_f64.powi(2) * (BENDING / PER_LENGTH).sqrt() / 100.0;
    let found = frequencies(&body);
    assert!(
        (found[0] / first - 1.0).abs() < 1e-6,
        "{} {first}",
        found[0]
    );
    let second = body.second_order.as_ref().unwrap();
    for mode in 0..2 {
        let gain = -second.position_integrals[0][0][mode][mode];
        assert!((gain / 1.193 - 1.0).abs() < 1e-3, "{gain}");
        // under tension: ∫w'² per unit of modal mass, 4.6478/L² of a clamped beam over ρA L
        let pulled = -body.nodes[1].second_order[3][mode][mode] * 12.0 * LENGTH;
        assert!((pulled / 4.6478 - 1.0).abs() < 1e-3, "{pulled}");
    }
    // ∫x ψ dm of the first mode is 0.5690 √m L
    let integral = body.position_integrals[0][0][1].hypot(body.position_integrals[0][0][2]);
    let wanted = 2.0 / 1.875_104_068_711_961_f64.powi(2) * 12.0_f64.sqrt() * LENGTH;
    assert!(
        (integral / wanted - 1.0).abs() < 1e-3,
        "{integral} {wanted}"
    );
    // most of the mass of bending is that of displacements
    assert!(
        source.from_displacements < 0.02,
        "{}",
        source.from_displacements
    );
    let without = reduced_beam(&beam, clamped(4), false).body;
    assert!(without.second_order.is_none());
    let statics = reduced_beam(&beam, MeshBasisSpec::CraigBampton(lowest(2)), true).body;
    let compliance = |row: usize| -> f64 {
        let own = statics.nodes[1].influence[row]
            .iter()
            .zip(frequencies(&statics));
        own.map(|(psi, omega)| (psi / omega).powi(2)).sum()
    };
    let wanted = LENGTH.powi(3) / (3.0 * BENDING);
    alike(compliance(4), wanted, 1e2 * wanted, "compliance");
    alike(
        compliance(0),
        LENGTH / 1.1e4,
        1e2 * LENGTH / 1.1e4,
        "torsion",
    );
}
