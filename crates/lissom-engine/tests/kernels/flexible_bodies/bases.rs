//! Elements and stepped beams against closed forms and against each other.

use lissom_tree::flex::{Basis, Beam, Boundary, Deformation, Membrane, Segment};

use super::{
    CLOSED_FORM, FREQUENCY, beam, close, counts, elements, entry, expected_frequencies, reduce,
    relatively_close, slender, stepped,
};

/// Order of accuracy: $`h^4`$ for Hermite elements, $`h^2`$ for linear ones.
#[test]
fn elements_converge_at_their_order() {
    // what the next order still contributes with 16 elements
    const ORDER: f64 = 0.1;
    for boundary in [Boundary::Clamped, Boundary::Free] {
        let expected = expected_frequencies(boundary);
        let errors = |count: usize| -> Vec<f64> {
            let body = reduce(&beam(elements(&[count], Some(3), boundary)));
            (0..12)
                .map(|k| entry(&body.stiffness, 12, k, k).sqrt() / expected[k] - 1.0)
                .collect()
        };
        let (coarse, fine) = (errors(16), errors(32));
        for coordinate in 0..12 {
            let order = (coarse[coordinate] / fine[coordinate]).log2();
            let theory = if coordinate < 6 { 4.0 } else { 2.0 };
            assert!(
                (order - theory).abs() < ORDER,
                "coordinate {coordinate}: order {order}"
            );
        }
    }
}

/// Agreement of two bases: reduced elements against eigenfunctions.
#[test]
fn reduced_elements_agree_with_eigenfunctions() {
    // the modes of 40 elements: fourth order in bending, second in stretch and torsion
    const BENDING: f64 = 2e-5;
    const ROD: f64 = 5e-3;
    let exact = reduce(&beam(Basis::held(Boundary::Clamped, counts(3, 3, 3, 3))));
    let found = reduce(&beam(elements(&[40], Some(3), Boundary::Clamped)));
    assert_eq!(found.coordinates, exact.coordinates);
    for coordinate in 0..12 {
        let tolerance = if coordinate < 6 { BENDING } else { ROD };
        // elements have the largest displacement positive, which is that of the tip here
        let sign = if coordinate % 3 == 1 { -1.0 } else { 1.0 };
        for axis in 0..3 {
            let expected = sign * exact.integrals.first[coordinate][axis];
            close(
                found.integrals.first[coordinate][axis],
                expected,
                tolerance,
                "P",
            );
            let (tip, exact_tip) = (&found.nodes[2], &exact.nodes[2]);
            let expected = sign * exact_tip.displacement[coordinate][axis];
            close(
                tip.displacement[coordinate][axis],
                expected,
                tolerance,
                "tip displacement",
            );
            let expected = sign * exact_tip.rotation[coordinate][axis];
            close(
                tip.rotation[coordinate][axis],
                expected,
                tolerance,
                "tip rotation",
            );
        }
        let unit = entry(&found.integrals.mass_matrix, 12, coordinate, coordinate);
        close(unit, 1.0, CLOSED_FORM, "modal mass");
    }
}

/// Agreement of two descriptions: a uniform beam cut in two is the same beam.
#[test]
fn segments_of_a_uniform_beam_make_no_difference() {
    // the eigenvectors of the fifth mode lose about three digits
    const SHAPE: f64 = 1e-11;
    let s = slender();
    for basis in [
        Basis::held(Boundary::Clamped, counts(5, 4, 3, 3)),
        Basis::held(Boundary::Free, counts(5, 4, 3, 3)),
    ] {
        let whole = reduce(&Beam {
            rotary_inertia: true,
            ..beam(basis.clone())
        });
        let cut = reduce(&Beam {
            segments: vec![
                Segment {
                    length: 0.6,
                    ..s.clone()
                },
                Segment {
                    length: s.length - 0.6,
                    ..s.clone()
                },
            ],
            rotary_inertia: true,
            basis,
            point_masses: Vec::new(),
        });
        for k in 0..15 {
            let (found, expected) = (
                entry(&cut.stiffness, 15, k, k),
                entry(&whole.stiffness, 15, k, k),
            );
            relatively_close(found.sqrt(), expected.sqrt(), FREQUENCY, "frequency");
        }
        for (found, expected) in cut
            .integrals
            .mass_matrix
            .iter()
            .zip(&whole.integrals.mass_matrix)
        {
            close(*found, *expected, SHAPE, "mass matrix");
        }
        for (found, expected) in cut.nodes.iter().zip(&whole.nodes) {
            for k in 0..15 {
                for axis in 0..3 {
                    close(
                        found.displacement[k][axis],
                        expected.displacement[k][axis],
                        SHAPE,
                        "displacement",
                    );
                    close(
                        found.rotation[k][axis],
                        expected.rotation[k][axis],
                        SHAPE,
                        "rotation",
                    );
                }
            }
            for (found, expected) in found.second_order.iter().zip(&expected.second_order) {
                close(*found, *expected, SHAPE, "second-order field");
            }
        }
    }
}

/// Agreement of two bases on a beam without closed form: eigenfunctions of a stepped beam are the limit of
/// finite elements, approached at their order.
#[test]
fn stepped_beam_is_the_limit_of_elements() {
    const ORDER: f64 = 0.1;
    for boundary in [Boundary::Clamped, Boundary::Free] {
        let exact = reduce(&stepped(Basis::held(boundary, counts(2, 2, 2, 2))));
        let errors = |count: usize| -> Vec<f64> {
            let body = reduce(&stepped(elements(&[count, count], Some(2), boundary)));
            (0..8)
                .map(|k| entry(&body.stiffness, 8, k, k) / entry(&exact.stiffness, 8, k, k) - 1.0)
                .collect()
        };
        let (coarse, fine) = (errors(8), errors(16));
        for k in 0..8 {
            let order = (coarse[k] / fine[k]).log2();
            let theory = if k < 4 { 4.0 } else { 2.0 };
            assert!(fine[k] > 0.0, "elements are too stiff, {k}: {}", fine[k]);
            assert!(
                (order - theory).abs() < ORDER,
                "coordinate {k}: order {order}"
            );
        }
    }
}

/// Closed form: clamped beam with a mass at its tip as heavy as itself,
/// $`1 + \cos\beta\cosh\beta + \beta(\cos\beta\sinh\beta - \sin\beta\cosh\beta) = 0`$.
#[test]
fn point_masses_lower_frequencies() {
    let s = slender();
    let residual =
        |b: f64| 1.0 + b.cos() * b.cosh() + b * (b.cos() * b.sinh() - b.sin() * b.cosh());
    let (mut low, mut high) = (1.0, 1.5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if residual(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let expected = (low / s.length).powi(2) * (s.bending_stiffness[0] / s.mass_per_length).sqrt();
    let mass = s.mass_per_length * s.length;
    let loaded = |basis: Basis| {
        let body = reduce(&Beam {
            point_masses: vec![(s.length, mass)],
            ..beam(basis)
        });
        close(body.mass, 2.0 * mass, CLOSED_FORM, "mass");
        close(
            body.first_moment[0],
            1.5 * mass * s.length,
            CLOSED_FORM,
            "first moment",
        );
        assert_eq!(
            body.mass_nodes.iter().map(|node| node.mass).sum::<f64>(),
            body.mass
        );
        body.frequencies().unwrap()[0]
    };
    let bending = |count: usize, modes: Option<usize>| Basis::Elements {
        per_segment: vec![count],
        planes: vec![Deformation::BendingY],
        modes,
        boundary: Boundary::Clamped,
        membrane: Membrane::Pointwise,
    };
    // Hermite elements: (1.25 / 20)^4 / 720
    relatively_close(loaded(bending(20, None)), expected, 1e-7, "elements");
    relatively_close(
        loaded(bending(20, Some(2))),
        expected,
        1e-7,
        "modes of elements",
    );
    // modes of the bare beam converge slowly, from above
    let modal = loaded(Basis::held(Boundary::Clamped, counts(12, 0, 0, 0)));
    relatively_close(modal, expected, 1e-4, "eigenfunctions");
    assert!(modal > expected);
}

/// Names and order of element coordinates.
#[test]
fn element_coordinates_are_grouped() {
    let body = reduce(&beam(elements(&[2], None, Boundary::Clamped)));
    let names = [
        "v_2",
        "v_slope_2",
        "v_3",
        "v_slope_3",
        "w_2",
        "w_slope_2",
        "w_3",
        "w_slope_3",
        "u_2",
        "u_3",
        "twist_2",
        "twist_3",
    ];
    assert_eq!(body.coordinates, names);
    let second_order = body.second_order.as_ref().unwrap();
    assert_eq!(second_order.coordinates, [0..4, 4..8, 10..12]);
    // the values and slopes of the tip are coordinates
    let tip = &body.nodes[2];
    assert_eq!(tip.displacement[2], [0.0, 1.0, 0.0]);
    assert_eq!(tip.rotation[3], [0.0, 0.0, 1.0]);
    assert_eq!(tip.rotation[7], [0.0, -1.0, 0.0]);
    assert_eq!(tip.rotation[11], [1.0, 0.0, 0.0]);
}

/// Closed form: consistent mass matrix of one Hermite element, \[ρAl/420\] × (156, -22 l; -22 l, 4 l²).
#[test]
fn one_element_has_the_textbook_matrices() {
    let s = slender();
    let body = reduce(&beam(elements(&[1], None, Boundary::Clamped)));
    let (l, unit) = (s.length, s.mass_per_length * s.length / 420.0);
    let mass = &body.integrals.mass_matrix;
    close(entry(mass, 6, 0, 0), 156.0 * unit, CLOSED_FORM, "mass of v");
    close(
        entry(mass, 6, 0, 1),
        -22.0 * l * unit,
        CLOSED_FORM,
        "mass of v and slope",
    );
    close(
        entry(mass, 6, 1, 1),
        4.0 * l * l * unit,
        CLOSED_FORM,
        "mass of slope",
    );
    close(entry(mass, 6, 4, 4), 140.0 * unit, CLOSED_FORM, "mass of u");
    let bending = s.bending_stiffness[1] / l.powi(3);
    close(
        entry(&body.stiffness, 6, 2, 2),
        12.0 * bending,
        CLOSED_FORM,
        "stiffness of w",
    );
    close(
        entry(&body.stiffness, 6, 2, 3),
        -6.0 * l * bending,
        CLOSED_FORM,
        "stiffness of w and slope",
    );
    close(
        entry(&body.stiffness, 6, 3, 3),
        4.0 * l * l * bending,
        CLOSED_FORM,
        "stiffness of slope",
    );
    close(
        entry(&body.stiffness, 6, 5, 5),
        s.torsional_stiffness / l,
        CLOSED_FORM,
        "stiffness of twist",
    );
}
