//! Reduced meshes against closed forms and beam theory.

mod bars;
mod bases;
mod beams;
mod imported;
mod nastran;
mod second_order;
mod surface;
mod text;

use std::cell::Cell;

use crate::{Attached, FeError, Kind, NEVER, block, reduce};
use lissom_spec::spec::{
    InterfaceSpec, MaterialSpec, MeshBasisSpec, MeshModesSpec, MeshSpec, NodeSpec, ReducedSpec,
};

fn interface(name: &str) -> InterfaceSpec {
    InterfaceSpec {
        name: name.to_owned(),
        ..InterfaceSpec::default()
    }
}

fn spec(basis: MeshBasisSpec, interfaces: &[&str], poisson_ratio: f64) -> MeshSpec {
    MeshSpec {
        file: String::new(),
        unit_m: 1.0,
        mass_unit_kg: 1.0,
        material: vec![MaterialSpec {
            group: None,
            youngs_modulus_pa: 2.0e11,
            poisson_ratio,
            density_kg_per_m3: 7800.0,
        }],
        matrices: None,
        interface: interfaces.iter().map(|name| interface(name)).collect(),
        basis,
        stiffening: true,
    }
}

/// Something that may be attached at a point.
fn at_point(name: &str, position_m: [f64; 3]) -> Attached {
    Attached {
        points: vec![NodeSpec {
            name: name.to_owned(),
            position_m,
        }],
        ..Attached::default()
    }
}

fn clamped(modes: usize) -> MeshBasisSpec {
    MeshBasisSpec::ClampedFree(lowest(modes))
}

fn lowest(modes: usize) -> MeshModesSpec {
    MeshModesSpec {
        modes: Some(modes),
        ..MeshModesSpec::default()
    }
}

fn frequencies(body: &ReducedSpec) -> Vec<f64> {
    (0..body.stiffness.len())
        .map(|i| body.stiffness[i][i].sqrt())
        .collect()
}

/// Closed forms: mass, centre and inertia of a box, whatever the elements.
#[test]
fn a_box_has_the_inertia_of_a_box() {
    for kind in [Kind::Tetra4, Kind::Tetra10, Kind::Hexa8, Kind::Hexa20] {
        let [a, b, c] = [0.5, 0.06, 0.04];
        let mesh = block(kind, [3, 1, 1], [a, b, c]);
        let body = reduce(
            &mesh,
            &spec(clamped(1), &["root"], 0.3),
            &Attached::default(),
            NEVER,
        )
        .unwrap()
        .body;
        let mass = 7800.0 * a * b * c;
        let close = |found: f64, wanted: f64| {
            assert!(
                (found - wanted).abs() < 1e-12 * mass,
                "{kind:?}: {found} {wanted}"
            );
        };
        close(body.mass_kg, mass);
        close(body.center_of_mass_m[0], a / 2.0);
        close(body.center_of_mass_m[1], 0.0);
        close(body.inertia_kg_m2[0][0], mass * (b * b + c * c) / 12.0);
        close(body.inertia_kg_m2[1][1], mass * (a * a + c * c) / 12.0);
        close(body.inertia_kg_m2[2][2], mass * (a * a + b * b) / 12.0);
        close(body.inertia_kg_m2[0][1], 0.0);
        // the trace of the products is the mass matrix
        let product = body.product_integrals[0][0];
        assert!((product[0][0] + product[1][1] + product[2][2] - 1.0).abs() < 1e-12);
    }
}

/// By counting: somebody is asked in the factorisation, in the search for modes and in the second-order displacements, and is heard wherever
/// the work is; what nobody ends is what it is without asking.
#[test]
fn a_reduction_ends_when_somebody_says_so() {
    let mesh = block(Kind::Tetra10, [6, 2, 2], [0.5, 0.06, 0.04]);
    let spec = spec(
        MeshBasisSpec::CraigBampton(lowest(4)),
        &["root", "tip"],
        0.3,
    );
    let ended_after = |most: usize| {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > most
        };
        let found = reduce(&mesh, &spec, &Attached::default(), &stop);
        (asked.get(), found)
    };
    let (asked, whole) = ended_after(usize::MAX);
    let unasked = reduce(&mesh, &spec, &Attached::default(), NEVER);
    assert_eq!(whole.unwrap(), unasked.unwrap());
    // at least once per element, which second-order displacements go through one by one
    assert!(asked > mesh.solids.len() + 10, "{asked}");
    for most in [0, 1, asked / 20, asked / 4, asked / 2, asked - 1] {
        let (count, found) = ended_after(most);
        assert_eq!((count, found.err()), (most + 1, Some(FeError::Stopped)));
    }
}

/// A slender beam of quadratic elements has Timoshenko's frequencies, 0.5 %, and none below them: elements that conform only stiffen.
#[test]
fn a_slender_beam_has_the_frequencies_of_timoshenko() {
    let [length, width, height] = [1.0, 0.05, 0.03];
    // without Poisson's ratio the root is clamped as beams are
    let mut wanted: Vec<f64> = Vec::new();
    for depth in [width, height] {
        wanted.extend(timoshenko(length, depth, 3));
    }
    wanted.sort_by(f64::total_cmp);
    for (kind, cells) in [(Kind::Hexa20, [20, 1, 1]), (Kind::Tetra10, [24, 1, 1])] {
        let mesh = block(kind, cells, [length, width, height]);
        let own = spec(clamped(6), &["root"], 0.0);
        let body = reduce(&mesh, &own, &Attached::default(), NEVER)
            .unwrap()
            .body;
        for (found, wanted) in frequencies(&body).iter().zip(&wanted).take(4) {
            let error = found / wanted - 1.0;
            // shear of beam theory is that of a mean over the section
            assert!((-1e-4..5e-3).contains(&error), "{kind:?}: {found} {wanted}");
        }
    }
}

/// Frequencies of a clamped-free Timoshenko beam of rectangular section, steel without Poisson's ratio, by the roots of the
/// determinant of its boundary conditions in transfer-matrix form.
fn timoshenko(length: f64, depth: f64, count: usize) -> Vec<f64> {
    let (e, rho) = (2.0e11, 7800.0);
    let g = 0.5 * e;
    let shear = g * 5.0 / 6.0;
    let inertia = depth * depth / 12.0;
    // per unit area: (w, θ, M, Q)' = A (w, θ, M, Q), clamped at 0, free at the end
    let determinant = |omega: f64| {
        let square = omega * omega;
        let a = nalgebra::Matrix4::new(
            0.0,
            1.0,
            0.0,
            1.0 / shear,
            0.0,
            0.0,
            1.0 / (e * inertia),
            0.0,
            0.0,
            -rho * inertia * square,
            0.0,
            -1.0,
            -rho * square,
            0.0,
            0.0,
            0.0,
        );
        let transfer = (a * length).exp();
        transfer[(2, 2)] * transfer[(3, 3)] - transfer[(2, 3)] * transfer[(3, 2)]
    };
    let mut found = Vec::new();
    let euler = 1.8751_f64.powi(2) * (e * inertia / rho).sqrt() / (length * length);
    let step = 0.05 * euler;
    let mut omega = step;
    while found.len() < count {
        let (mut a, mut b) = (omega, omega + step);
        if determinant(a) * determinant(b) < 0.0 {
            for _ in 0..60 {
                let middle = 0.5 * (a + b);
                if determinant(a) * determinant(middle) <= 0.0 {
                    b = middle;
                } else {
                    a = middle;
                }
            }
            found.push(0.5 * (a + b));
        }
        omega += step;
    }
    found
}

/// Second program: `CalculiX` 2.20 (Debian's `calculix-ccx`) on the same meshes and nodes, C3D20 and C3D10, `*FREQUENCY`.
#[test]
fn frequencies_are_those_of_calculix() {
    /// It prints seven digits.
    const PRINTED: f64 = 1e-6;
    /// It integrates the mass of tetrahedra at four points, which is not exact; with that rule all eight agree to what is printed.
    const OTHER_MASS: f64 = 5e-4;
    let hexa20 = [
        155.8484, 258.8518, 975.6401, 1607.352, 2729.097, 4369.803, 4438.252, 5343.825,
    ];
    let tetra10 = [
        156.0845, 258.7475, 978.9925, 1606.705, 2750.638, 4232.494, 4439.635, 5423.019,
    ];
    for (kind, cells, wanted, within) in [
        (Kind::Hexa20, [12, 1, 1], hexa20, PRINTED),
        (Kind::Tetra10, [12, 2, 1], tetra10, OTHER_MASS),
    ] {
        let mesh = block(kind, cells, [1.0, 0.05, 0.03]);
        let body = reduce(
            &mesh,
            &spec(clamped(8), &["root"], 0.3),
            &Attached::default(),
            NEVER,
        )
        .unwrap()
        .body;
        for (found, wanted) in frequencies(&body).iter().zip(wanted) {
            assert!(
                (found / wanted - 1.0).abs() < within,
                "{kind:?}: {found} {wanted}"
            );
        }
    }
}

/// The stiffening of a clamped straight beam by rotation is that of Euler and Bernoulli: its first frequency along the axis of
/// rotation grows by 1.193 ω² \[Fattah 1995, after eq. (5.18)\], here per unit of modal mass.
#[test]
fn rotation_stiffens_a_straight_beam_as_theory_says() {
    let mesh = block(Kind::Hexa20, [24, 1, 1], [1.0, 0.03, 0.02]);
    let body = reduce(
        &mesh,
        &spec(clamped(2), &["root"], 0.0),
        &Attached::default(),
        NEVER,
    )
    .unwrap()
    .body;
    let second = body.second_order.as_ref().unwrap();
    // −∫x h_x dm
    for mode in 0..2 {
        let stiffness = -second.position_integrals[0][0][mode][mode];
        assert!((stiffness / 1.193 - 1.0).abs() < 0.005, "{stiffness}");
    }
}

/// Craig and Bampton's basis against the whole mesh: low modes with the tip free, and the static stiffness of the tip.
#[test]
fn static_shapes_of_interfaces_keep_low_modes_and_statics() {
    let mesh = block(Kind::Hexa20, [12, 1, 1], [1.0, 0.05, 0.03]);
    let whole = reduce(
        &mesh,
        &spec(clamped(6), &["root", "tip"], 0.0),
        &Attached::default(),
        NEVER,
    )
    .unwrap()
    .body;
    let basis = MeshBasisSpec::CraigBampton(lowest(8));
    let attached = at_point("middle", [0.5, 0.025, 0.015]);
    let reduced = reduce(&mesh, &spec(basis, &["root", "tip"], 0.0), &attached, NEVER)
        .unwrap()
        .body;
    assert_eq!(reduced.stiffness.len(), 14);
    for (found, wanted) in frequencies(&reduced)
        .iter()
        .zip(frequencies(&whole))
        .take(4)
    {
        // a reduced basis is stiffer, by little
        assert!(
            *found > wanted * (1.0 - 1e-9) && *found < wanted * 1.0005,
            "{found} {wanted}"
        );
    }
    // tip deflection under a unit force, by the modes: L³/3EI and what shear adds
    let compliance = |axis: usize| -> f64 {
        let row = &reduced.nodes[1].influence[3 + axis];
        (row.iter().zip(frequencies(&reduced)))
            .map(|(psi, omega)| (psi / omega).powi(2))
            .sum()
    };
    for (axis, depth, other) in [(1, 0.05_f64, 0.03), (2, 0.03, 0.05)] {
        let bending = 1.0 / (3.0 * 2.0e11 * other * depth.powi(3) / 12.0);
        assert!(
            (compliance(axis) / bending - 1.0).abs() < 0.01,
            "{}",
            compliance(axis) / bending
        );
    }
    assert_eq!(reduced.nodes[2].name, "middle");
    assert_eq!(reduced.nodes[2].second_order.len(), 6);
}

/// By construction: numbers that no body has end with words, not in a panic and not in a search without end.
#[test]
fn numbers_that_no_body_has_are_refused() {
    let bases = [clamped(2), MeshBasisSpec::CraigBampton(lowest(2))];
    for basis in bases {
        for [size, modulus, density] in [
            [1e100, 2e11, 7800.0],
            [1e154, 2e11, 7800.0],
            [1.0, 1e-200, 7800.0],
            [1.0, 2e11, 5e-324],
            [1.0, 1e20, 1e-300],
            [1e-100, 2e11, 7800.0],
        ] {
            let mesh = block(Kind::Hexa8, [2, 1, 1], [size, 0.1 * size, 0.1 * size]);
            let mut spec = spec(basis, &["root", "tip"], 0.3);
            spec.material[0].youngs_modulus_pa = modulus;
            spec.material[0].density_kg_per_m3 = density;
            // what is far apart and still a number may be reduced; the checks of bodies judge it
            if let Err(error) = reduce(&mesh, &spec, &Attached::default(), NEVER) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
