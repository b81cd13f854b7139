//! Eigenfunctions of uniform beams: closed forms and reference data.

use std::f64::consts::PI;

use lissom_tree::flex::{Basis, Beam, Boundary, Damping, Segment};

use super::{
    CLAMPED_ROOTS, CLOSED_FORM, FREQUENCY, angular, beam, close, counts, entry,
    expected_frequencies, reduce, relatively_close, slender,
};

/// Closed form: tabulated roots of the characteristic equations.
#[test]
fn frequencies_of_eigenfunctions() {
    for boundary in [
        Boundary::Clamped,
        Boundary::Free,
        Boundary::PinnedPinned,
        Boundary::ClampedClamped,
    ] {
        let mut expected = expected_frequencies(boundary);
        expected.sort_by(f64::total_cmp);
        let whole = beam(Basis::held(boundary, counts(3, 3, 3, 3)));
        let mut halves = whole.clone();
        halves.segments[0].length *= 0.4;
        let mut rest = whole.segments[0].clone();
        rest.length *= 0.6;
        halves.segments.push(rest);
        for beam in [whole, halves] {
            let found = reduce(&beam).frequencies().unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                relatively_close(*found, *expected, FREQUENCY, "frequency");
            }
        }
    }
}

/// Closed form: the static shapes of slopes at both ends are cubics, whose vibrations have
/// $`\omega^2 = 120`$ and $`2520\,EI/\rho A L^4`$ and whose compliance is that of beam statics; a linear stretch has
/// $`3\,EA/\rho A L^2`$. Functions clamped at both ends bring the frequencies down to those of free hinges, and the compliance
/// stays.
#[test]
fn fixed_interface_functions() {
    let s = slender();
    let flexibility = s.length / s.bending_stiffness[0];
    let unit = s.bending_stiffness[0] / (s.mass_per_length * s.length.powi(4));
    let axial = s.axial_stiffness / (s.mass_per_length * s.length.powi(2));
    let mut above = [f64::INFINITY; 2];
    for count in [2, 4, 8, 16] {
        let basis = Basis::held(Boundary::FixedInterface, counts(count, 0, count - 1, 0));
        let body = reduce(&beam(basis));
        let n = 2 * count - 1;
        let square = |k: usize| entry(&body.stiffness, n, k, k);
        let ends = [0, 2].map(|node| &body.nodes[node].rotation);
        for (row, column, expected) in [(0, 0, 1.0 / 3.0), (0, 1, -1.0 / 6.0), (1, 1, 1.0 / 3.0)] {
            let compliance: f64 = (0..count)
                .map(|k| ends[row][k][2] * ends[column][k][2] / square(k))
                .sum();
            close(
                compliance / flexibility,
                expected,
                CLOSED_FORM,
                "compliance",
            );
        }
        for displacement in body.nodes[0].displacement.iter().take(count) {
            assert_eq!(*displacement, [0.0; 3], "the chord begins at the root");
        }
        let bending = [square(0) / unit, square(1) / unit];
        if count == 2 {
            relatively_close(bending[0], 120.0, CLOSED_FORM, "symmetric cubic");
            relatively_close(bending[1], 2520.0, CLOSED_FORM, "antisymmetric cubic");
            relatively_close(square(2), 3.0 * axial, CLOSED_FORM, "linear stretch");
        }
        for (mode, square) in bending.into_iter().enumerate() {
            let error = square / (PI * (mode + 1) as f64).powi(4) - 1.0;
            assert!(
                error > -FREQUENCY,
                "upper bound, {count} functions: {error:e}"
            );
            // the slopes at the hinges converge as the third power of the number
            assert!(error < above[mode] / 4.0, "{count} functions: {error:e}");
            above[mode] = error.max(1e-9);
        }
    }
    let few = beam(Basis::held(Boundary::FixedInterface, counts(1, 0, 0, 0)));
    assert!(few.reduce(&[0.0], &Damping::None).is_err());
}

/// Closed form: modes are orthogonal with unit mass when the slopes carry none.
#[test]
fn eigenfunctions_are_orthonormal() {
    // rounding of an eigenproblem whose eigenvalues span thirty to the fourth power
    const EIGENPROBLEM: f64 = 1e-10;
    for (boundary, tolerance) in [
        (Boundary::Clamped, CLOSED_FORM),
        (Boundary::Free, CLOSED_FORM),
        (Boundary::PinnedPinned, CLOSED_FORM),
        (Boundary::ClampedClamped, EIGENPROBLEM),
        (Boundary::FixedInterface, EIGENPROBLEM),
    ] {
        let body = reduce(&beam(Basis::held(boundary, counts(30, 9, 6, 5))));
        for row in 0..50 {
            for column in 0..50 {
                let unit = if row == column { 1.0 } else { 0.0 };
                let found = entry(&body.integrals.mass_matrix, 50, row, column);
                close(found, unit, tolerance, &format!("mass ({row}, {column})"));
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
            frequencies: [2_791.852_363, 37.183_835_7, 233.027_120_6, 1_402.216_193],
            tip_stretch: 0.120_385_853_1,
            tip_bending: 0.170_251_306_2,
            tip_slopes: [0.036_617_477_61, -0.127_177_151_4],
            mass: [1.000_164_451, 1.001_147_015],
            first: [10.576_321_99, 9.198_070_473, 5.097_592_552],
            angular: [42.771_333_04, 6.818_796_879],
        },
        Link {
            segment: segment(7.0, 85.0, 2.807e6, 1.192_98e9, 1.4153e6),
            frequencies: [2_224.221_199, 34.499_709_31, 216.205_987_7, 1_116.773_538],
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
            basis: Basis::held(Boundary::Clamped, counts(2, 2, 1, 1)),
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

/// Closed form: $`\int\varphi\,dx = 2\sigma L/\beta`$, $`\int x\varphi\,dx = 2L^2/\beta^2`$ of clamped
/// bending functions, $`\sqrt{2}L/\beta`$ of stretch, and the moments of a straight rod.
#[test]
fn integrals_of_clamped_functions() {
    let s = slender();
    let body = reduce(&Beam {
        rotary_inertia: true,
        ..beam(Basis::held(Boundary::Clamped, counts(3, 3, 3, 3)))
    });
    let mass = s.mass_per_length * s.length;
    let norm = s.mass_per_length / mass.sqrt();
    let twist_norm = ((s.section_inertia[0] + s.section_inertia[1]) * s.length).sqrt();
    for order in 0..3 {
        let root = CLAMPED_ROOTS[order];
        let sigma = (root.cosh() + root.cos()) / (root.sinh() + root.sin());
        let first = norm * 2.0 * sigma * s.length / root;
        close(body.integrals.first[order][1], first, CLOSED_FORM, "P of v");
        close(
            body.integrals.first[3 + order][2],
            first,
            CLOSED_FORM,
            "P of w",
        );
        let moment = norm * 2.0 * (s.length / root).powi(2);
        close(
            body.integrals.with_position[order][0][1],
            moment,
            CLOSED_FORM,
            "R of v",
        );
        close(
            body.integrals.with_position[3 + order][0][2],
            moment,
            CLOSED_FORM,
            "R of w",
        );
        // sections that tilt: the integral of the slope is the tip value, 2 in magnitude and alternating
        let tip = 2.0 / mass.sqrt() * if order == 1 { -1.0 } else { 1.0 };
        let tilt = body.integrals.with_position[order][1][0];
        close(tilt, -s.section_inertia[0] * tip, CLOSED_FORM, "tilt of v");
        let quarter = (order as f64 + 0.5) * PI;
        let stretch = (2.0 * mass).sqrt() / quarter;
        close(
            body.integrals.first[6 + order][0],
            stretch,
            CLOSED_FORM,
            "P of u",
        );
        let twist = 2.0_f64.sqrt() / quarter * twist_norm;
        close(
            angular(&body.integrals, 9 + order)[0],
            twist,
            CLOSED_FORM,
            "H of twist",
        );
    }
    close(body.mass, mass, CLOSED_FORM, "mass");
    close(
        body.first_moment[0],
        mass * s.length / 2.0,
        CLOSED_FORM,
        "first moment",
    );
    close(
        body.second_moment[0][0],
        mass * s.length.powi(2) / 3.0,
        CLOSED_FORM,
        "second moment along x",
    );
    close(
        body.second_moment[1][1],
        s.section_inertia[0] * s.length,
        CLOSED_FORM,
        "second moment along y",
    );
    close(
        body.second_moment[2][2],
        s.section_inertia[1] * s.length,
        CLOSED_FORM,
        "second moment along z",
    );
}

/// Conservation: free vibrations carry no momentum.
#[test]
fn free_functions_carry_no_momentum() {
    let body = reduce(&beam(Basis::held(Boundary::Free, counts(5, 4, 4, 3))));
    for coordinate in 0..body.len() {
        for axis in 0..3 {
            close(
                body.integrals.first[coordinate][axis],
                0.0,
                CLOSED_FORM,
                "P",
            );
            close(
                angular(&body.integrals, coordinate)[axis],
                0.0,
                CLOSED_FORM,
                "H",
            );
        }
    }
    let root = &body.nodes[0];
    assert!(
        root.displacement[..5].iter().all(|d| d[1] > 0.0),
        "bending is positive at the root"
    );
    assert!(
        root.displacement[9..13].iter().all(|d| d[0] > 0.0),
        "stretch is positive at the root"
    );
}

/// Invariance: rotary inertia changes what slopes carry, and nothing else.
#[test]
fn rotary_inertia_can_be_left_out() {
    let without = reduce(&beam(Basis::held(Boundary::Clamped, counts(2, 2, 1, 1))));
    let with = reduce(&Beam {
        rotary_inertia: true,
        ..beam(Basis::held(Boundary::Clamped, counts(2, 2, 1, 1)))
    });
    assert_eq!(with.second_moment, without.second_moment);
    assert_eq!(with.nodes, without.nodes);
    assert_eq!(with.integrals.first, without.integrals.first);
    for coordinate in 0..6 {
        let difference = entry(&with.integrals.mass_matrix, 6, coordinate, coordinate)
            - entry(&without.integrals.mass_matrix, 6, coordinate, coordinate);
        assert_eq!(
            difference > 1e-6,
            coordinate < 4,
            "coordinate {coordinate}: {difference:e}"
        );
    }
}
