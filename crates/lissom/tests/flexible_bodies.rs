//! Flexible bodies against closed forms, reference data, and each other.

use std::f64::consts::PI;

use lissom::flex::{
    Basis, Beam, Boundary, Damping, Deformation, FlexError, FlexibleBody, MassNode, ModalIntegrals,
    ModeCounts, NodalBody, NodalMass, Segment,
};

/// Closed forms for functions that are themselves closed forms.
const CLOSED_FORM: f64 = 1e-12;
/// Asked of the frequencies of eigenfunctions.
const FREQUENCY: f64 = 1e-8;

fn slender() -> Segment {
    Segment {
        length: 1.7,
        mass_per_length: 2.3,
        bending_stiffness: [410.0, 230.0],
        axial_stiffness: 3.0e5,
        torsional_stiffness: 55.0,
        section_inertia: [3.0e-4, 5.0e-4],
    }
}

fn counts(bending_y: usize, bending_z: usize, stretch: usize, torsion: usize) -> ModeCounts {
    ModeCounts {
        bending_y,
        bending_z,
        stretch,
        torsion,
    }
}

fn beam(basis: Basis) -> Beam {
    Beam {
        segments: vec![slender()],
        rotary_inertia: false,
        basis,
        point_masses: Vec::new(),
    }
}

fn elements(per_segment: &[usize], modes: Option<usize>, boundary: Boundary) -> Basis {
    use Deformation::{BendingY, BendingZ, Stretch, Torsion};
    Basis::Elements {
        per_segment: per_segment.to_vec(),
        planes: vec![BendingY, BendingZ, Stretch, Torsion],
        modes,
        boundary,
    }
}

fn reduce(beam: &Beam) -> FlexibleBody {
    beam.reduce(&[0.0, 0.4 * beam.length(), beam.length()], &Damping::None)
        .unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found:e} against {expected:e}"
    );
}

fn relatively_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{what}: {found:e} against {expected:e}"
    );
}

/// Entry of a matrix stored by rows.
fn entry(matrix: &[f64], size: usize, row: usize, column: usize) -> f64 {
    matrix[row * size + column]
}

/// $`H_\alpha = \int r \times \psi_\alpha dm`$.
fn angular(integrals: &ModalIntegrals, coordinate: usize) -> [f64; 3] {
    let r = integrals.with_position[coordinate];
    [r[1][2] - r[2][1], r[2][0] - r[0][2], r[0][1] - r[1][0]]
}

/// Printed roots of `cos β cosh β = -1`, from tables.
const CLAMPED_ROOTS: [f64; 3] = [
    1.875_104_068_711_961,
    4.694_091_132_974_175,
    7.854_757_438_237_613,
];
/// Printed roots of `cos β cosh β = 1`, from tables.
const FREE_ROOTS: [f64; 3] = [
    4.730_040_744_862_704,
    7.853_204_624_095_838,
    10.995_607_838_001_671,
];

/// Frequencies expected of `slender`, in the order of the coordinates, three each.
fn expected_frequencies(boundary: Boundary) -> Vec<f64> {
    let s = slender();
    let (roots, shift) = match boundary {
        Boundary::Clamped => (CLAMPED_ROOTS, 0.5),
        Boundary::Free => (FREE_ROOTS, 0.0),
    };
    let bending = |stiffness: f64| {
        roots.map(|root| (root / s.length).powi(2) * (stiffness / s.mass_per_length).sqrt())
    };
    let rod = |ratio: f64| [1.0, 2.0, 3.0].map(|k| (k - shift) * PI / s.length * ratio.sqrt());
    [
        bending(s.bending_stiffness[0]),
        bending(s.bending_stiffness[1]),
        rod(s.axial_stiffness / s.mass_per_length),
        rod(s.torsional_stiffness / (s.section_inertia[0] + s.section_inertia[1])),
    ]
    .concat()
}

/// Closed form: tabulated roots of the characteristic equations.
#[test]
fn frequencies_of_eigenfunctions() {
    for (boundary, basis) in [
        (Boundary::Clamped, Basis::ClampedFree(counts(3, 3, 3, 3))),
        (Boundary::Free, Basis::FreeFree(counts(3, 3, 3, 3))),
    ] {
        let mut expected = expected_frequencies(boundary);
        expected.sort_by(f64::total_cmp);
        let found = reduce(&beam(basis)).frequencies().unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            relatively_close(*found, *expected, FREQUENCY, "frequency");
        }
    }
}

/// Closed form: modes are orthogonal with unit mass when the slopes carry none.
#[test]
fn eigenfunctions_are_orthonormal() {
    for basis in [
        Basis::ClampedFree(counts(12, 9, 6, 5)),
        Basis::FreeFree(counts(12, 9, 6, 5)),
    ] {
        let body = reduce(&beam(basis));
        for row in 0..32 {
            for column in 0..32 {
                let unit = if row == column { 1.0 } else { 0.0 };
                let found = entry(&body.integrals.mass_matrix, 32, row, column);
                close(found, unit, CLOSED_FORM, &format!("mass ({row}, {column})"));
            }
        }
    }
}

/// Reference data: the two flexible links of the Shuttle arm [Damaren & Sharf 1995, table 2], computed
/// independently and given to ten digits.
#[test]
fn shuttle_arm_links() {
    const PRINTED: f64 = 1e-8;
    struct Link {
        segment: Segment,
        /// u1, v1, v2, phi1.
        frequencies: [f64; 4],
        tip_stretch: f64,
        tip_bending: f64,
        tip_slopes: [f64; 2],
        mass: [f64; 2],
        first: [f64; 3],
        angular: [f64; 2],
    }
    let segment = |length: f64, mass: f64, ei: f64, ea: f64, gj: f64| Segment {
        length,
        mass_per_length: mass / length,
        bending_stiffness: [ei; 2],
        axial_stiffness: ea,
        torsional_stiffness: gj,
        section_inertia: [0.2 / length; 2],
    };
    let links = [
        Link {
            segment: segment(6.4, 138.0, 4.046e6, 2.79e9, 2.04e6),
            frequencies: [2791.852_363, 37.183_835_7, 233.027_120_6, 1402.216_193],
            tip_stretch: 0.120_385_853_1,
            tip_bending: 0.170_251_306_2,
            tip_slopes: [0.036_617_477_61, -0.127_177_151_4],
            mass: [1.000_164_451, 1.001_147_015],
            first: [10.576_321_99, 9.198_070_473, 5.097_592_552],
            angular: [42.771_333_04, 6.818_796_879],
        },
        Link {
            segment: segment(7.0, 85.0, 2.807e6, 1.192_98e9, 1.4153e6),
            frequencies: [2224.221_199, 34.499_709_31, 216.205_987_7, 1116.773_538],
            tip_stretch: 0.153_392_997_8,
            tip_bending: 0.216_930_457_8,
            tip_slopes: [0.042_657_995, -0.148_156_635_6],
            mass: [1.000_223_183, 1.001_556_658],
            first: [8.300_506_302, 7.218_827_305, 4.000_691_277],
            angular: [36.716_397_64, 5.851_600_976],
        },
    ];
    for link in links {
        let length = link.segment.length;
        let beam = Beam {
            segments: vec![link.segment.clone()],
            rotary_inertia: true,
            basis: Basis::ClampedFree(counts(2, 2, 1, 1)),
            point_masses: Vec::new(),
        };
        let body = beam.reduce(&[length], &Damping::None).unwrap();
        let names = [
            "bending_y_1",
            "bending_y_2",
            "bending_z_1",
            "bending_z_2",
            "stretch_1",
            "torsion_1",
        ];
        assert_eq!(body.coordinates, names);
        let tip = &body.nodes[0];
        let integrals = &body.integrals;
        for order in 0..2 {
            let (y, z) = (order, 2 + order);
            let sign = if order == 0 { 1.0 } else { -1.0 };
            close(
                tip.displacement[y][1],
                sign * link.tip_bending,
                PRINTED,
                "tip v",
            );
            close(
                tip.displacement[z][2],
                sign * link.tip_bending,
                PRINTED,
                "tip w",
            );
            close(
                tip.rotation[y][2],
                link.tip_slopes[order],
                PRINTED,
                "tip v slope",
            );
            close(
                tip.rotation[z][1],
                -link.tip_slopes[order],
                PRINTED,
                "tip w slope",
            );
            close(
                entry(&integrals.mass_matrix, 6, y, y),
                link.mass[order],
                PRINTED,
                "mass y",
            );
            close(
                entry(&integrals.mass_matrix, 6, z, z),
                link.mass[order],
                PRINTED,
                "mass z",
            );
            close(integrals.first[y][1], link.first[1 + order], PRINTED, "P y");
            close(integrals.first[z][2], link.first[1 + order], PRINTED, "P z");
            close(
                angular(integrals, y)[2],
                link.angular[order],
                PRINTED,
                "H y",
            );
            close(
                angular(integrals, z)[1],
                -link.angular[order],
                PRINTED,
                "H z",
            );
            let frequency = entry(&body.stiffness, 6, y, y).sqrt();
            relatively_close(
                frequency,
                link.frequencies[1 + order],
                PRINTED,
                "bending frequency",
            );
        }
        close(tip.displacement[4][0], link.tip_stretch, PRINTED, "tip u");
        close(tip.rotation[5][0], 2.236_067_977, PRINTED, "tip twist");
        close(integrals.first[4][0], link.first[0], PRINTED, "P u");
        close(
            angular(integrals, 5)[0],
            0.569_410_034_7,
            PRINTED,
            "H twist",
        );
        relatively_close(
            entry(&body.stiffness, 6, 4, 4).sqrt(),
            link.frequencies[0],
            PRINTED,
            "stretch",
        );
        relatively_close(
            entry(&body.stiffness, 6, 5, 5).sqrt(),
            link.frequencies[3],
            PRINTED,
            "torsion",
        );
    }
}
