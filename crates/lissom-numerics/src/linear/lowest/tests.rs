//! The lowest modes of many coordinates are those that all modes begin with.

use nalgebra::{Complex, DMatrix};

use crate::linear::error::unwatched;
use crate::linear::frozen::Pencil;
use crate::linear::{
    DampedMode, Frozen, FrozenPoint, Growth, Label, Linearization, Terms, TrackedModes,
    UndampedModes,
};

/// Coordinates of the models here: more than are solved for all modes.
const SIZE: usize = 300;
/// Modes asked for.
const COUNT: usize = 12;
/// Agreement of frequencies: all modes of such matrices are good to rounding times the ratio of the highest square to theirs.
const AGREEMENT: f64 = 1e-9;

/// A chain of masses with springs between neighbours, held at its first or at no end. Masses couple neighbours, as those of finite elements.
struct Chain {
    mass: DMatrix<f64>,
    stiffness: DMatrix<f64>,
}

impl Chain {
    fn new(size: usize, held: bool) -> Self {
        let (mut mass, mut stiffness) = (DMatrix::zeros(size, size), DMatrix::zeros(size, size));
        for i in 0..size {
            let heavy = 1.0 + 0.3 * (i as f64).sin();
            mass[(i, i)] += heavy;
            if i + 1 < size {
                let spring = 1e4 * (1.0 + 0.2 * (2.0 * i as f64).cos());
                for (row, column, sign) in [
                    (i, i, 1.0),
                    (i, i + 1, -1.0),
                    (i + 1, i, -1.0),
                    (i + 1, i + 1, 1.0),
                ] {
                    stiffness[(row, column)] += sign * spring;
                }
                mass[(i, i + 1)] += 0.2;
                mass[(i + 1, i)] += 0.2;
            }
        }
        if held {
            stiffness[(0, 0)] += 1e4;
        }
        Self { mass, stiffness }
    }

    /// Two of them side by side that know nothing of each other: every frequency is there twice.
    fn twice(&self) -> Self {
        let both = |one: &DMatrix<f64>| {
            let n = one.nrows();
            let mut two = DMatrix::zeros(2 * n, 2 * n);
            for k in 0..2 {
                two.view_mut((k * n, k * n), (n, n)).copy_from(one);
            }
            two
        };
        Self {
            mass: both(&self.mass),
            stiffness: both(&self.stiffness),
        }
    }

    fn tracked(&self, damping: DMatrix<f64>, rigid: Vec<usize>) -> TrackedModes {
        let size = self.mass.nrows();
        let none = || DMatrix::zeros(size, size);
        let label = |i: usize| Label::coordinate(format!("x{i}"), "m", "m/s");
        let frozen = Frozen {
            coordinates: (0..size).map(label).collect(),
            held: Vec::new(),
            rigid,
            points: vec![FrozenPoint {
                time: 0.0,
                linear: Linearization {
                    mass: self.mass.clone(),
                    damping,
                    structural: self.stiffness.clone(),
                    dynamic: none(),
                    geometric: none(),
                    input: DMatrix::zeros(size, 0),
                    loops: None,
                },
                basis: DMatrix::identity(size, size),
                inertia: self.mass.clone(),
                gross: None,
            }],
        };
        let (point, terms) = (&frozen.points[0], Terms::CASES[0]);
        let lowest = Pencil::of_lowest(&frozen, point, terms, COUNT, &mut unwatched).unwrap();
        assert!(lowest.unwrap().mass.nrows() < SIZE / 2);
        TrackedModes::new(&frozen, terms, COUNT).unwrap()
    }

    fn undamped(&self) -> DMatrix<f64> {
        DMatrix::zeros(self.mass.nrows(), self.mass.nrows())
    }
}

fn compare(found: &TrackedModes, squares: &[f64]) {
    assert_eq!(found.modes.len(), COUNT);
    for (mode, &square) in found.modes.iter().zip(squares) {
        let own = mode[0].square;
        assert_eq!(own.im, 0.0);
        assert!(
            (own.re - square).abs() <= AGREEMENT * square.abs(),
            "{own} {square}"
        );
    }
}

/// Agreement: frequencies and shapes of a chain that is held are those of all its modes; so are those that are there twice.
#[test]
fn lowest_modes_are_those_of_all() {
    for chain in [Chain::new(SIZE, true), Chain::new(SIZE / 2, true).twice()] {
        let all = UndampedModes::new(&chain.mass, &chain.stiffness).unwrap();
        let found = chain.tracked(chain.undamped(), Vec::new());
        compare(&found, &all.squares);
        for mode in &found.modes {
            let shape = nalgebra::DVector::from_vec(mode[0].shape.clone());
            let missed = &chain.stiffness * &shape - &chain.mass * &shape * mode[0].square.re;
            // the shape is good to the root of what the frequency is good to
            assert!(missed.norm() < 1e-5 * (&chain.mass * &shape).norm() * mode[0].square.re);
            assert!((shape.dot(&(&chain.mass * &shape)) - 1.0).abs() < 1e-10);
        }
        assert!(found.judged_all && found.growing[0].is_empty());
    }
}

/// Agreement: of a chain that nothing holds, the motion as a whole is told and no mode; so it is where it is said to float.
#[test]
fn free_motions_are_no_modes() {
    let chain = Chain::new(SIZE, false);
    let all = UndampedModes::new(&chain.mass, &chain.stiffness).unwrap();
    let found = chain.tracked(chain.undamped(), Vec::new());
    assert_eq!(found.rigid.len(), 1);
    compare(&found, &all.squares[1..]);
    let floating = chain.tracked(chain.undamped(), vec![0]);
    assert_eq!(floating.rigid, [0]);
    // motions without momentum along that of one coordinate alone: the others do not move it
    let mut along = DMatrix::zeros(SIZE, 1);
    along[(0, 0)] = 1.0;
    for mode in &floating.modes {
        let shape = nalgebra::DVector::from_vec(mode[0].shape.clone());
        let momentum = along.column(0).dot(&(&chain.mass * &shape));
        assert!(momentum.abs() < 1e-9, "{momentum}");
    }
}

/// Agreement: one that pushes away has a negative square, which comes first and grows.
#[test]
fn what_pushes_away_is_found() {
    let mut chain = Chain::new(SIZE, true);
    chain.stiffness[(SIZE / 2, SIZE / 2)] -= 3e4;
    let all = UndampedModes::new(&chain.mass, &chain.stiffness).unwrap();
    assert!(all.squares[0] < 0.0);
    let found = chain.tracked(chain.undamped(), Vec::new());
    compare(&found, &all.squares);
    assert_eq!(found.modes[0][0].growth, Growth::Grows);
    assert_eq!(found.growing[0].len(), 1);
}

/// Agreement: eigenvalues with dampers here and there, which couple all modes, and with gyroscopic terms, are those of the complete
/// equations.
#[test]
fn velocity_terms_couple_with_higher_modes() {
    let chain = Chain::new(SIZE, true);
    let mut damping = &chain.stiffness * 1e-5;
    for at in [10, 111, 250] {
        damping[(at, at)] += 3.0;
    }
    for at in 0..SIZE - 5 {
        damping[(at, at + 5)] += 0.4;
        damping[(at + 5, at)] -= 0.4;
    }
    let all = DampedMode::all(&chain.mass, &damping, &chain.stiffness).unwrap();
    let found = chain.tracked(damping, Vec::new());
    assert!(!found.judged_all);
    for mode in &found.modes {
        let own = mode[0].roots.unwrap()[0];
        let nearest = all.iter().map(|mode| (mode.eigenvalue - own).norm());
        let missed = nearest.fold(f64::INFINITY, f64::min);
        assert!(own.im > 0.0 && own.re < 0.0);
        assert!(missed < AGREEMENT * own.norm(), "{own} {missed}");
    }
}

/// Agreement: a stiffness that is not symmetric, as where loads follow or a mechanism accelerates, gives the squares of all modes.
#[test]
fn stiffness_may_be_unsymmetric() {
    let mut chain = Chain::new(SIZE, true);
    for at in 0..SIZE - 3 {
        chain.stiffness[(at, at + 3)] += 5.0;
        chain.stiffness[(at + 3, at)] -= 5.0;
    }
    let all = DampedMode::all(&chain.mass, &chain.undamped(), &chain.stiffness).unwrap();
    let found = chain.tracked(chain.undamped(), Vec::new());
    for mode in &found.modes {
        let own = mode[0].square;
        let nearest = all.iter().map(|mode| {
            let square: Complex<f64> = -mode.eigenvalue * mode.eigenvalue;
            (square - own).norm().min((square.conj() - own).norm())
        });
        let missed = nearest.fold(f64::INFINITY, f64::min);
        assert!(missed < 1e-7 * own.norm(), "{own} {missed}");
    }
}
