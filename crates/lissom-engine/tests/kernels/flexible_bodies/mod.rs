//! Flexible bodies against closed forms, reference data, and each other.

use std::f64::consts::PI;

use lissom_tree::flex::{
    Basis, Beam, Boundary, Damping, Deformation, FlexibleBody, Membrane, ModalIntegrals,
    ModeCounts, Segment,
};

mod bases;
mod eigenfunctions;
mod integrals;
mod strain;

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
        foreshortening: false,
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
        membrane: Membrane::Pointwise,
    }
}

fn reduce(beam: &Beam) -> FlexibleBody {
    beam.reduce(&[0.0, 0.4 * beam.length(), beam.length()], &Damping::None)
        .expect("the beam is valid")
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
        Boundary::PinnedPinned => ([PI, 2.0 * PI, 3.0 * PI], 0.5),
        _ => (FREE_ROOTS, 0.0),
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

/// A sequence of numbers between -1 and 1 without pattern.
fn scattered() -> impl FnMut() -> f64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from(u32::try_from(state >> 32).expect("32 bits are left")) / f64::from(u32::MAX) * 2.0
            - 1.0
    }
}

fn stepped(basis: Basis) -> Beam {
    let root = slender();
    let tip = Segment {
        length: 0.9,
        mass_per_length: 0.8,
        bending_stiffness: [35.0, 90.0],
        axial_stiffness: 9.0e4,
        torsional_stiffness: 6.0,
        section_inertia: [6.0e-5, 4.0e-5],
    };
    Beam {
        segments: vec![root, tip],
        rotary_inertia: false,
        basis,
        point_masses: Vec::new(),
    }
}
