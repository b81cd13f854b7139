use super::*;
use crate::linear::error::unwatched;

/// Rounding of a product of two hundred reflections per column, in units of the matrix's norm.
const ROUNDING: f64 = 1e-13;

/// Numbers between −½ and ½ that are always the same.
fn random(size: usize, mut seed: u64) -> DMatrix<f64> {
    DMatrix::from_fn(size, size, |_, _| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    })
}

/// $`A = QTQ^T`$, $`Q^TQ = 1`$, $`T`$ quasi-triangular in standard form, and vectors that are eigenvectors.
fn check(matrix: &DMatrix<f64>) -> RealSchur {
    let size = matrix.nrows();
    let schur = RealSchur::new(matrix.clone(), &mut unwatched).expect("converges");
    let RealSchur { form, vectors } = &schur;
    let scale = matrix.norm().max(f64::MIN_POSITIVE);
    let residual = (vectors * form * vectors.transpose() - matrix).norm() / scale;
    assert!(
        residual <= ROUNDING * (size as f64).sqrt(),
        "{size}: {residual:.1e}"
    );
    let orthogonal = (vectors.transpose() * vectors - DMatrix::identity(size, size)).norm();
    assert!(orthogonal <= ROUNDING * size as f64, "{orthogonal:.1e}");
    for column in 0..size {
        for row in column + 1..size {
            let entry = form[(row, column)];
            assert!(entry == 0.0 || row == column + 1, "{row} {column} {entry}");
            if entry != 0.0 {
                assert_eq!(form[(row, row)], form[(column, column)]);
                assert!(entry * form[(column, row)] < 0.0);
                assert!(row + 1 == size || form[(row + 1, row)] == 0.0);
            }
        }
    }
    schur
}

fn check_vectors(matrix: &DMatrix<f64>, schur: &RealSchur, within: f64) {
    let complex = matrix.map(|x| Complex::new(x, 0.0));
    for (place, value) in schur.eigenvalues().into_iter().enumerate() {
        let [right, left] = schur.eigenvectors(place);
        let residual = (&complex * &right - &right * value).norm() / matrix.norm();
        let other = (complex.adjoint() * &left - &left * value.conj()).norm() / matrix.norm();
        assert!(
            residual < within && other < within,
            "{place} {value}: {residual:.1e} {other:.1e}"
        );
    }
}

/// Identity: random matrices of sizes around every change of method.
#[test]
fn random_matrices() {
    for size in [0, 1, 2, 3, 4, 5, 10, 33, 34, 35, 66, 96, 97, 110, 150, 260] {
        let matrix = random(size, 7 + size as u64);
        let schur = check(&matrix);
        check_vectors(&matrix, &schur, ROUNDING * (1 + size) as f64);
    }
}

/// Closed form: a cyclic permutation has the roots of unity, on which plain shifts do not converge; a companion form of a pair of
/// mirrored springs has equal eigenvalues.
#[test]
fn matrices_that_do_not_converge_by_themselves() {
    for size in [3, 4, 8, 40, 128] {
        let cycle = DMatrix::from_fn(size, size, |i, j| f64::from(u8::from((j + 1) % size == i)));
        let schur = check(&cycle);
        for value in schur.eigenvalues() {
            assert!(
                (value.powi(i32::try_from(size).unwrap()) - 1.0).norm()
                    < ROUNDING * (size * size) as f64
            );
        }
    }
    for count in [6, 60] {
        // equal oscillators, coupled in no way, in coordinates that mix all of them
        let turn = nalgebra::linalg::QR::new(random(2 * count, 3)).q();
        let mut oscillators = DMatrix::zeros(2 * count, 2 * count);
        for i in 0..count {
            oscillators[(i, count + i)] = 1.0;
            oscillators[(count + i, i)] = -4.0;
        }
        let matrix = &turn * oscillators * turn.transpose();
        let schur = check(&matrix);
        check_vectors(&matrix, &schur, ROUNDING * count as f64);
        for value in schur.eigenvalues() {
            assert!(
                (value.norm() - 2.0).abs() < ROUNDING * count as f64,
                "{value}"
            );
        }
    }
    check(&DMatrix::zeros(120, 120));
    check(&DMatrix::identity(120, 120));
}

/// Identity: matrices that are nearly diagonal, with entries over many decades in either order and many equal ones, as equations of
/// mechanisms are in the coordinates of their modes.
#[test]
fn graded_matrices() {
    for size in [40, 130, 240] {
        for rises in [true, false] {
            for coupling in [0.0, 1e-12, 1e-6, 1e-2] {
                let noise = random(size, 11);
                let entry = |i: usize| 10.0_f64.powf(8.0 * (i / 6 * 6) as f64 / size as f64);
                let place = |i: usize| if rises { i } else { size - 1 - i };
                let matrix = DMatrix::from_fn(size, size, |i, j| {
                    let own = if i == j { entry(place(i)) } else { 0.0 };
                    let between = entry(place(i)).max(entry(place(j)));
                    own + coupling * between * (noise[(i, j)] - noise[(j, i)])
                });
                check(&matrix);
            }
        }
    }
}

/// Identity: two oscillators of one frequency without damping that have all but parted: their diagonal is rounding, and the entry
/// between them, however small, is larger. Such a block came up in the modes of a hexapod whose legs turn about their axes.
#[test]
fn oscillators_that_have_all_but_parted() {
    let [w1, w2, w3, w4] = [
        0.141_926_411_836_116_4,
        0.141_926_411_836_116_18,
        0.141_926_411_836_116_8,
        0.141_926_411_836_116_54,
    ];
    #[rustfmt::skip]
    let matrix = DMatrix::from_row_slice(4, 4, &[
        0.0, -w1,      -1.8e-21, 9.5e-17,
        w2,  -1.2e-104, 8.1e-17, -1.4e-20,
        0.0, 3.1e-89,   0.0,     -w3,
        0.0, 0.0,       w4,      0.0,
    ]);
    let schur = check(&matrix);
    check_vectors(&matrix, &schur, ROUNDING);
    for value in schur.eigenvalues() {
        assert!((value.norm() - w1).abs() < ROUNDING, "{value}");
    }
}

/// By counting: somebody is asked after every panel and every sweep, and is heard.
#[test]
fn a_large_form_ends_when_somebody_says_so() {
    const STOPPED: LinearError = LinearError::Stopped { at_s: 3.0 };
    let matrix = random(160, 5);
    let ended_after = |most: usize| {
        let mut asked = 0;
        let found = RealSchur::new(matrix.clone(), &mut || {
            asked += 1;
            if asked > most { Err(STOPPED) } else { Ok(()) }
        });
        (asked, found.err())
    };
    let (asked, none) = ended_after(usize::MAX);
    assert_eq!(none, None);
    // five panels of 32 columns, and sweeps
    assert!(asked > 7, "{asked}");
    for most in [0, 4, 6, asked - 1] {
        assert_eq!(ended_after(most), (most + 1, Some(STOPPED)));
    }
}
