//! Least squares against closed forms.

use nalgebra::{DMatrix, DVector};

use super::*;

const ANYWHERE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

fn solved(
    start: &[f64],
    residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Result<LeastSquares, LeastSquaresError> {
    let anywhere = |start: &f64| (*start, ANYWHERE);
    within(&start.iter().map(anywhere).collect::<Vec<_>>(), residuals)
}

/// The same with parameters between bounds.
fn within(
    start: &[(f64, [f64; 2])],
    residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Result<LeastSquares, LeastSquaresError> {
    let unknown = |&(start, [least, most]): &(f64, [f64; 2])| Unknown {
        start,
        scale: start.abs(),
        least,
        most,
    };
    let unknowns: Vec<Unknown> = start.iter().map(unknown).collect();
    let mut evaluate = |points: &[Vec<f64>]| {
        let inside = |point: &[f64]| {
            let mut pairs = point.iter().zip(start);
            pairs.all(|(value, (_, [least, most]))| least <= value && value <= most)
        };
        assert!(points.iter().all(|point| inside(point)), "{points:?}");
        Some(points.iter().map(|point| residuals(point)).collect())
    };
    least_squares(&unknowns, &mut evaluate)
}

/// Closed form: a straight line through points, with the covariance of linear regression.
#[test]
fn a_line_is_that_of_regression() {
    const ROUNDING: f64 = 1e-9;
    let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.1, 2.9, 5.2, 6.8]);
    let line = |p: &[f64]| Some((0..4).map(|k| p[0] + p[1] * x[k] - y[k]).collect());
    let found = solved(&[1.0, 1.0], line).unwrap();
    // sums by hand: Sx = 6, Sxx = 14, Sy = 16, Sxy = 33.7
    let slope = (4.0 * 33.7 - 6.0 * 16.0) / (4.0 * 14.0 - 36.0);
    let offset = (16.0 - slope * 6.0) / 4.0;
    assert!(found.converged);
    assert!((found.parameters[0] - offset).abs() < ROUNDING);
    assert!((found.parameters[1] - slope).abs() < ROUNDING);
    let left: f64 = (0..4).map(|k| (offset + slope * x[k] - y[k]).powi(2)).sum();
    let variance = left / 2.0;
    let expected = [[14.0, -6.0], [-6.0, 4.0]].map(|row| row.map(|n| variance * n / 20.0));
    for (found, expected) in found
        .covariance
        .iter()
        .flatten()
        .zip(expected.iter().flatten())
    {
        assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    }
}

/// Known solution of a problem that is far from linear: Rosenbrock's valley, from its usual start.
#[test]
fn a_curved_valley_is_followed() {
    let valley = |p: &[f64]| Some(vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0], 0.0]);
    let found = solved(&[-1.2, 1.0], valley).unwrap();
    assert!(found.converged, "{found:?}");
    assert!((found.parameters[0] - 1.0).abs() < 1e-6, "{found:?}");
    assert!((found.parameters[1] - 1.0).abs() < 1e-6, "{found:?}");
}

/// By construction: only a sum matters, and a parameter that must not be negative is not.
#[test]
fn what_cannot_be_told_is_said() {
    let sum = |p: &[f64]| {
        (p[0] > 0.0).then(|| {
            (1..6)
                .map(|k| f64::from(k) * (p[0] + p[1] - 3.0) + 0.1)
                .collect()
        })
    };
    let found = solved(&[1.0, 1.0], sum).unwrap();
    assert!(found.combinations[1].deviation.is_infinite());
    let difference = &found.combinations[1].parts;
    assert!(
        (difference[0] + difference[1]).abs() < 1e-6,
        "{difference:?}"
    );
    assert!(found.covariance[0][0].is_infinite());
    let free = |p: &[f64]| (p[0] > 0.0).then(|| vec![p[0].ln() + 5.0, 0.01, -0.01]);
    let found = solved(&[1.0], free).unwrap();
    assert!(
        (found.parameters[0] - (-5.0_f64).exp()).abs() < 1e-8,
        "{found:?}"
    );
    assert_eq!(solved(&[1.0], |_| None), Err(LeastSquaresError::Start));
    let few = solved(&[1.0], |p| Some(vec![p[0]]));
    assert!(matches!(few, Err(LeastSquaresError::TooFew { .. })));
    let nothing = solved(&[1.0], |_| Some(vec![1.0, 2.0])).unwrap();
    assert!(nothing.converged && nothing.covariance[0][0].is_infinite());
}

/// Closed form: a line that must not fall through points that do is their mean, known as a mean is; without the bound it would have the slope of regression.
/// No value beyond the bound is asked for.
#[test]
fn a_parameter_stays_at_its_bound() {
    const ROUNDING: f64 = 1e-9;
    let (x, y) = ([0.0, 1.0, 2.0, 3.0], [6.8, 5.2, 2.9, 1.1]);
    let line = |p: &[f64]| Some((0..4).map(|k| p[0] + p[1] * x[k] - y[k]).collect());
    for bounds in [[0.0, f64::INFINITY], [0.0, 3.0]] {
        let found = within(&[(1.0, ANYWHERE), (1.0, bounds)], line).unwrap();
        assert!(found.converged && !found.is_blocked, "{found:?}");
        assert_eq!(found.parameters[1], 0.0);
        assert!((found.parameters[0] - 4.0).abs() < ROUNDING);
        let variance = y.map(|y| (y - 4.0) * (y - 4.0)).iter().sum::<f64>() / 3.0;
        assert!((found.covariance[0][0] - variance / 4.0).abs() < ROUNDING);
        assert_eq!(found.covariance[1], [0.0, 0.0]);
        assert_eq!(found.held[0], None);
        let held = found.held[1].unwrap();
        // sums by hand: Sx = 6, Sxx = 14, Sy = 16, Sxy = 14.3
        let slope = (4.0 * 14.3 - 6.0 * 16.0) / (4.0 * 14.0 - 36.0);
        assert!((held.wanted - slope).abs() < ROUNDING, "{held:?}");
        let deviation = (variance * 4.0 / 20.0).sqrt();
        assert!((held.deviation - deviation).abs() < ROUNDING, "{held:?}");
    }
    let rising = |p: &[f64]| Some((0..4).map(|k| p[0] - p[1] * x[k] - y[k]).collect());
    let found = within(&[(1.0, ANYWHERE), (1.0, [-9.0, 2.0])], rising).unwrap();
    assert_eq!(found.held, [None, None]);
    let found = within(&[(1.0, ANYWHERE), (1.0, [0.5, 1.5])], rising).unwrap();
    assert_eq!(found.parameters[1], 1.5);
    assert!(found.held[1].unwrap().wanted > 1.5);
}

/// Independent way: of all choices of parameters at their bounds, the one whose solution lies within them and is pulled outwards at them.
#[test]
fn bounds_hold_the_right_parameters() {
    const ROUNDING: f64 = 1e-7;
    const SEEDS: u64 = 200;
    let mut held = 0;
    for seed in 0..SEEDS {
        let random = crate::Random::new(seed);
        let matrix = DMatrix::from_fn(6, 3, |i, j| {
            random.unit(u32::try_from(i).unwrap(), j as u64) - 0.3
        });
        let right = DVector::from_fn(6, |i, _| random.unit(9, i as u64) - 0.5);
        let expected = (0..8_u32).find_map(|choice| {
            let free: Vec<usize> = (0..3).filter(|j| choice >> j & 1 == 0).collect();
            let mut point = [0.0; 3];
            if !free.is_empty() {
                let own = matrix.select_columns(&free).svd(true, true);
                let solved = own.solve(&right, 1e-12).unwrap();
                for (&j, value) in free.iter().zip(solved.iter()) {
                    point[j] = *value;
                }
            }
            let left = &right - &matrix * DVector::from(point.to_vec());
            let pull = matrix.transpose() * left;
            let fits = point.iter().all(|value| *value >= 0.0)
                && (0..3).all(|j| free.contains(&j) || pull[j] <= 0.0);
            fits.then_some(point)
        });
        let expected = expected.unwrap();
        let residuals = |p: &[f64]| {
            Some(
                (&matrix * DVector::from(p.to_vec()) - &right)
                    .as_slice()
                    .to_vec(),
            )
        };
        let bounds = (1.0, [0.0, f64::INFINITY]);
        let found = within(&[bounds; 3], residuals).unwrap();
        assert!(found.converged, "{seed}: {found:?}");
        for j in 0..3 {
            let off = (found.parameters[j] - expected[j]).abs();
            assert!(off < ROUNDING, "{seed}: {found:?} {expected:?}");
            assert_eq!(
                found.held[j].is_some(),
                expected[j] == 0.0,
                "{seed}: {found:?}"
            );
        }
        held += found.held.iter().flatten().count();
    }
    // that there was something to hold
    assert!(held > 100, "{held}");
}

/// By construction: an edge that nobody told is not taken for the end of the search, and derivatives beside it are those of the other side.
#[test]
fn an_edge_that_is_not_known_is_told() {
    /// One-sided differences over 1e-4 err by its square, and by a third of a third derivative of e.
    const DIFFERENCE: f64 = 1e-7;
    let edge = |p: &[f64]| (p[0] >= 0.5).then(|| vec![p[0] - 0.2, 0.01, -0.01]);
    let found = solved(&[1.0], edge).unwrap();
    assert!(found.is_blocked && !found.converged, "{found:?}");
    assert!((found.parameters[0] - 0.5).abs() < 1e-3, "{found:?}");
    for p in [1.0, 1.5] {
        let one_side = |q: &[f64]| {
            (q[0] == p || (q[0] > p) == (p < 1.2))
                .then(|| vec![0.1 * (q[0].exp() - p.exp()), 1.0, -1.0])
        };
        let found = solved(&[p], one_side).unwrap();
        // the residuals that stay are of unit variance
        let expected = 1.0 / (0.1 * p.exp());
        let deviation = found.covariance[0][0].sqrt();
        assert!((deviation / expected - 1.0).abs() < DIFFERENCE, "{found:?}");
    }
    let nowhere = |q: &[f64]| (q[0] == 1.0).then(|| vec![1.0, 2.0]);
    assert_eq!(solved(&[1.0], nowhere), Err(LeastSquaresError::Derivative));
}
