//! Modes of matrices whose eigenvalues are known.

use nalgebra::{Complex, DMatrix, DVector};

use super::error::unwatched;
use super::frozen::Pencil;
use super::rigid::{free_motions, pivots};
use super::spectrum::skew_part;
use super::symmetric::Symmetric;
use super::{DampedMode, Growth, UndampedModes};

/// An orthogonal matrix that mixes all coordinates: the sine transform.
pub(super) fn mixed(size: usize) -> DMatrix<f64> {
    let count = size as f64 + 1.0;
    DMatrix::from_fn(size, size, |i, j| {
        let angle = std::f64::consts::PI * (i + 1) as f64 * (j + 1) as f64 / count;
        (2.0 / count).sqrt() * angle.sin()
    })
}

/// Closed form: frequencies over ten decades, the mass of each coordinate by itself over twelve: low and high ones have nearly all their
/// digits, as a stiffness of springs between neighbours leaves them.
#[test]
fn low_and_high_frequencies_alike() {
    // the entries round by 2e-16, and each frequency has a coordinate of its own but for couplings of a hundredth
    const DIGITS: f64 = 1e-13;
    let size = 11;
    let squares: Vec<f64> = (0..size)
        .map(|i| 10.0_f64.powf(2.0 * i as f64 - 8.0))
        .collect();
    // K = A^T diag(ω²) A, M = A^T A with a unit triangular A
    let change = DMatrix::from_fn(size, size, |i, j| {
        if i == j {
            1.0
        } else if j == i + 1 {
            0.01
        } else {
            0.0
        }
    });
    let diagonal = DMatrix::from_diagonal(&DVector::from_vec(squares.clone()));
    let mass = change.transpose() * &change;
    let stiffness = change.transpose() * diagonal * &change;
    let found = Symmetric::new(&mass, &stiffness, &mut unwatched).unwrap();
    for (found, wanted) in found.squares.iter().zip(&squares) {
        assert!((found - wanted).abs() < DIGITS * wanted, "{found} {wanted}");
    }
}

/// Closed form: two equal oscillators in turning axes, $`\lambda = \pm i(\omega \pm \Omega)`$, at rest, below and above the critical speed; many
/// pairs of them mixed. Nothing grows.
#[test]
fn gyroscopic_modes() {
    const ROUNDING: f64 = 1e-11;
    let pairs = 20;
    let turn = mixed(2 * pairs);
    for speed in [0.0, 0.7, 5.0, 30.0] {
        let mut damping = DMatrix::zeros(2 * pairs, 2 * pairs);
        let mut stiffness = damping.clone();
        let mut wanted = Vec::new();
        for pair in 0..pairs {
            let frequency = 1.0 + pair as f64;
            let at = 2 * pair;
            (damping[(at, at + 1)], damping[(at + 1, at)]) = (-2.0 * speed, 2.0 * speed);
            for i in [at, at + 1] {
                stiffness[(i, i)] = frequency * frequency - speed * speed;
            }
            wanted.extend([(frequency - speed).abs(), frequency + speed]);
        }
        // where the speed is a frequency, nothing is left to resist a motion
        let critical = wanted.contains(&0.0);
        wanted.sort_by(f64::total_cmp);
        let [damping, stiffness] = [damping, stiffness].map(|x| &turn * x * turn.transpose());
        let mass = DMatrix::identity(2 * pairs, 2 * pairs);
        let modes = DampedMode::all(&mass, &damping, &stiffness).unwrap();
        for (mode, wanted) in modes.iter().zip(&wanted) {
            if !critical {
                let apart = (mode.eigenvalue - Complex::new(0.0, *wanted)).norm();
                assert!(
                    apart < ROUNDING * wanted.max(1.0),
                    "{speed}: {mode:?} {wanted}"
                );
            }
            assert_ne!(mode.growth, Growth::Grows, "{speed}: {mode:?}");
            let complex = |x: &DMatrix<f64>| x.map(|x| Complex::new(x, 0.0));
            let value = mode.eigenvalue;
            let matrix =
                complex(&mass) * (value * value) + complex(&damping) * value + complex(&stiffness);
            let residual = (matrix * &mode.shape).norm() / stiffness.norm();
            assert!(residual < ROUNDING, "{speed}: {value} {residual:.1e}");
        }
    }
}

/// Closed form: the same with equal pairs, as of equal shafts side by side: as many equal eigenvalues, all of them found.
#[test]
fn equal_gyroscopic_modes() {
    const ROUNDING: f64 = 1e-11;
    let cases = [
        (8, [1.0, 3.0, 3.0]),
        (6, [1.0, 7.0, 30.0]),
        (8, [1.0, 20.0, 400.0]),
    ];
    for (copies, frequencies) in cases {
        let pairs = 3 * copies;
        let turn = mixed(2 * pairs);
        for speed in [0.3, 0.7, 2.0, 5.0, 11.0, 16.0, 25.0, 90.0] {
            let mut damping = DMatrix::zeros(2 * pairs, 2 * pairs);
            let mut stiffness = damping.clone();
            let mut wanted = Vec::new();
            for pair in 0..pairs {
                let frequency: f64 = frequencies[pair % 3];
                let at = 2 * pair;
                (damping[(at, at + 1)], damping[(at + 1, at)]) = (-2.0 * speed, 2.0 * speed);
                for i in [at, at + 1] {
                    stiffness[(i, i)] = frequency * frequency - speed * speed;
                }
                wanted.extend([(frequency - speed).abs(), frequency + speed]);
            }
            wanted.sort_by(f64::total_cmp);
            let [damping, stiffness] = [damping, stiffness].map(|x| &turn * x * turn.transpose());
            let mass = DMatrix::identity(2 * pairs, 2 * pairs);
            let modes = DampedMode::all(&mass, &damping, &stiffness).unwrap();
            assert_eq!(modes.len(), wanted.len());
            for (mode, wanted) in modes.iter().zip(&wanted) {
                let apart = (mode.eigenvalue - Complex::new(0.0, *wanted)).norm();
                let largest = frequencies[2] + speed;
                assert!(apart < ROUNDING * largest, "{speed}: {mode:?} {wanted}");
                assert_ne!(mode.growth, Growth::Grows, "{speed}: {mode:?}");
            }
        }
    }
}

/// Closed form: a stiffness $`(a, b; -b, c)`$ without damping flutters where $`4b^2 > (a - c)^2`$, and is at the limit where both are equal, whatever
/// rounding makes of the eigenvalues there.
#[test]
fn coalescing_modes_are_at_the_limit() {
    let mass = DMatrix::identity(2, 2);
    let still = DMatrix::zeros(2, 2);
    let stiffness = |skew: f64| DMatrix::from_row_slice(2, 2, &[3.0, skew, -skew, 1.0]);
    let growth = |skew: f64| -> Vec<Growth> {
        let modes = DampedMode::all(&mass, &still, &stiffness(skew)).unwrap();
        modes.iter().map(|mode| mode.growth).collect()
    };
    assert_eq!(growth(0.9), [Growth::None; 2]);
    assert_eq!(growth(1.0), [Growth::AtLimit; 2]);
    let flutters = growth(1.1);
    assert_eq!(flutters.len(), 2);
    assert_eq!(flutters.iter().filter(|&&x| x == Growth::Grows).count(), 1);
    let modes = DampedMode::all(&mass, &still, &stiffness(1.1)).unwrap();
    // λ² = −2 ± i√0.21
    let wanted = Complex::new(-2.0, 0.21_f64.sqrt()).sqrt();
    assert!(
        modes
            .iter()
            .any(|mode| (mode.eigenvalue - wanted).norm() < 1e-14)
    );
}

/// Closed form: mass, spring, point without mass, spring, ground: springs in series.
#[test]
fn motions_without_inertia_follow() {
    let mass = DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 0.0]);
    let stiffness = DMatrix::from_row_slice(2, 2, &[3.0, -3.0, -3.0, 9.0]);
    let modes = UndampedModes::new(&mass, &stiffness).unwrap();
    assert_eq!(modes.squares.len(), 1);
    // 3 and 6 in series are 2
    assert!(
        (modes.squares[0] - 1.0).abs() < 1e-15,
        "{:?}",
        modes.squares
    );
    assert!((modes.shapes[(1, 0)] / modes.shapes[(0, 0)] - 1.0 / 3.0).abs() < 1e-15);
    // nothing says where a point without mass and spring is
    let loose = DMatrix::from_row_slice(2, 2, &[3.0, 0.0, 0.0, 0.0]);
    assert!(UndampedModes::new(&mass, &loose).is_err());
}

/// A chain of masses with springs between, held by nothing, and a damper on a further mass that nothing else holds.
fn chain(size: usize, damper: f64) -> Pencil {
    let mut stiffness = DMatrix::zeros(size + 1, size + 1);
    for i in 0..size - 1 {
        stiffness[(i, i)] += 1e6;
        stiffness[(i + 1, i + 1)] += 1e6;
        stiffness[(i, i + 1)] -= 1e6;
        stiffness[(i + 1, i)] -= 1e6;
    }
    let mut damping = DMatrix::zeros(size + 1, size + 1);
    damping[(size, size)] = damper;
    Pencil {
        mass: DMatrix::identity(size + 1, size + 1),
        damping,
        stiffness,
        basis: DMatrix::identity(size + 1, size + 1),
        loops: None,
        gross: None,
    }
}

/// Closed form: a chain that floats has frequencies $`2\sqrt{k/m}\sin(\pi i/2n)`$ and moves as a whole; a mass that only a damper brakes comes to rest, with
/// eigenvalues zero and $`-c/m`$, and is no free motion.
#[test]
fn free_motions_are_taken_out() {
    const ROUNDING: f64 = 1e-13;
    let size = 30;
    for (damper, free) in [(0.0, 2), (0.5, 1)] {
        let pencil = chain(size, damper);
        let motions = free_motions(&pencil, &mut unwatched).unwrap();
        assert_eq!(motions.ncols(), free);
        let told = pivots(&motions, &DVector::repeat(size + 1, 1.0));
        assert_eq!(told.len(), free);
        assert_eq!(told.contains(&size), damper == 0.0);
        let rest = pencil.without(&motions, &told).unwrap();
        let modes = DampedMode::all(&rest.mass, &rest.damping, &rest.stiffness).unwrap();
        let oscillating = modes.iter().filter(|mode| mode.eigenvalue.im > 0.0);
        for (i, mode) in oscillating.enumerate() {
            let angle = std::f64::consts::PI * (i + 1) as f64 / (2.0 * size as f64);
            let wanted = Complex::new(0.0, 2e3 * angle.sin());
            assert!(
                (mode.eigenvalue - wanted).norm() < ROUNDING * 2e3,
                "{mode:?} {wanted}"
            );
        }
        assert!(modes.iter().all(|mode| mode.growth == Growth::None));
        let mut real: Vec<f64> = (modes.iter().filter(|mode| mode.eigenvalue.im == 0.0))
            .map(|mode| mode.eigenvalue.re)
            .collect();
        real.sort_by(f64::total_cmp);
        let wanted: &[f64] = if damper == 0.0 { &[] } else { &[-0.5, 0.0] };
        assert_eq!(real.len(), wanted.len());
        for (found, wanted) in real.iter().zip(wanted) {
            assert!((found - wanted).abs() < ROUNDING * 2e3, "{found} {wanted}");
        }
    }
}

/// Closed form: rounding that makes the stiffness a little unsymmetric, as reduction to independent coordinates does, holds nothing: the
/// same motions are free and nothing else changes.
#[test]
fn rounding_holds_nothing() {
    let size = 30;
    let mut pencil = chain(size, 0.0);
    let rounding = pencil.stiffness.amax() * f64::EPSILON;
    for i in 0..=size {
        for j in 0..i {
            let noise = rounding * ((7 * i + 3 * j) as f64).sin();
            pencil.stiffness[(i, j)] += noise;
            pencil.stiffness[(j, i)] -= noise;
        }
    }
    let symmetric = Symmetric::new(&pencil.mass, &pencil.stiffness, &mut unwatched).unwrap();
    assert!(skew_part(&symmetric, &pencil.stiffness).is_none());
    let motions = free_motions(&pencil, &mut unwatched).unwrap();
    assert_eq!(motions.ncols(), 2);
    // a force of the same kind that is no rounding pushes along a circle
    pencil.stiffness[(0, size)] += 1.0;
    pencil.stiffness[(size, 0)] -= 1.0;
    assert!(skew_part(&symmetric, &pencil.stiffness).is_some());
    assert_eq!(free_motions(&pencil, &mut unwatched).unwrap().ncols(), 0);
}

/// Property: forces that rounding of accelerations makes on a mass that nothing holds hold it no more, as they have no potential; a spring as
/// soft as they are does.
#[test]
fn rounding_of_accelerations_is_no_spring() {
    let size = 30;
    let soft = 1e-10;
    let mut pencil = chain(size, 0.0);
    pencil.stiffness[(size, size)] = soft;
    assert_eq!(free_motions(&pencil, &mut unwatched).unwrap().ncols(), 1);
    for j in 0..size {
        pencil.stiffness[(size, j)] = if j.is_multiple_of(2) { soft } else { -soft };
    }
    assert_eq!(free_motions(&pencil, &mut unwatched).unwrap().ncols(), 2);
}

/// Closed form: a structure that is pushed and accelerates as a whole, whose deformation d changes the momentum of the whole, moves freely
/// with a displacement s that nothing depends on, $`\omega^2 = (K - kb/m)/(M - b^2/m)`$.
#[test]
fn what_accelerates_moves_freely() {
    let (whole, coupling, own) = (2.0, 1.0, 3.0);
    let (stiffness, pushed) = (5.0, 1.0);
    let pencil = Pencil {
        mass: DMatrix::from_row_slice(2, 2, &[whole, coupling, coupling, own]),
        damping: DMatrix::zeros(2, 2),
        stiffness: DMatrix::from_row_slice(2, 2, &[0.0, pushed, 0.0, stiffness]),
        basis: DMatrix::identity(2, 2),
        loops: None,
        gross: None,
    };
    let motions = free_motions(&pencil, &mut unwatched).unwrap();
    let told = pivots(&motions, &DVector::repeat(2, 1.0));
    assert_eq!(told, [0]);
    let rest = pencil.without(&motions, &told).unwrap();
    let square = rest.stiffness[(0, 0)] / rest.mass[(0, 0)];
    let wanted = (stiffness - pushed * coupling / whole) / (own - coupling * coupling / whole);
    assert!(
        (square - wanted).abs() < 1e-15 * wanted,
        "{square} {wanted}"
    );
}

/// Closed form: nothing resists two bodies on one line, one of which pushes the other through a soft spring between very stiff ones:
/// the soft spring is no free motion.
#[test]
fn a_soft_spring_is_not_free() {
    let stiff = 1e12;
    let stiffness = DMatrix::from_diagonal(&DVector::from_vec(vec![stiff, 1e-4, stiff]));
    let pencil = Pencil {
        mass: DMatrix::identity(3, 3),
        damping: DMatrix::zeros(3, 3),
        stiffness,
        basis: DMatrix::identity(3, 3),
        loops: None,
        gross: None,
    };
    assert_eq!(free_motions(&pencil, &mut unwatched).unwrap().ncols(), 0);
    let modes = UndampedModes::new(&pencil.mass, &pencil.stiffness).unwrap();
    assert!(
        (modes.squares[0] - 1e-4).abs() < 1e-16,
        "{:?}",
        modes.squares
    );
}
