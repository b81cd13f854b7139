//! What is known of a body before any motion: how its nodes yield to forces when nothing hangs on them.

use crate::flex::Node;
use lissom_spatial::Force;
use lissom_spatial::Scalar;

/// Entries of the elastic mass matrix, relative to the diagonal, that are taken for the rounding of modes which are
/// orthogonal in exact arithmetic: eigenvectors of a few hundred coordinates are orthogonal to this.
const ORTHOGONAL: f64 = 1e-12;

/// Square of a direction's length, relative to what it was, below which orthogonalisation has left rounding only.
const NOTHING: f64 = 1e-26;

/// Square of the part of a displacement that the directions before it do not contain, from which it makes a good
/// direction of its own.
const DISTINCT: f64 = 1e-2;

/// The inverse $`\Lambda`$ of a constant elastic mass matrix.
#[derive(Clone, Debug)]
pub(super) enum InverseMass {
    /// Mass-normalised modes and the like.
    Diagonal(Vec<f64>),
    /// n × n by rows.
    Dense(Vec<f64>),
}

impl InverseMass {
    /// Of a symmetric matrix, n × n; `None` when it is not positive definite.
    pub(super) fn new(mass: &[f64], n: usize) -> Option<Self> {
        let size = |i: usize, j: usize| (mass[i * n + i] * mass[j * n + j]).sqrt();
        let is_rounding = |i: usize, j: usize| mass[i * n + j].abs() <= ORTHOGONAL * size(i, j);
        let is_diagonal = (0..n).all(|i| (0..n).all(|j| i == j || is_rounding(i, j)));
        if is_diagonal {
            let diagonal = (0..n).map(|i| mass[i * n + i]);
            let positive = diagonal.clone().all(|m| m > 0.0);
            return positive.then(|| Self::Diagonal(diagonal.map(|m| 1.0 / m).collect()));
        }
        let factor = nalgebra::DMatrix::from_row_slice(n, n, mass).cholesky()?;
        Some(Self::Dense(factor.inverse().as_slice().to_vec()))
    }

    /// Row `alpha` of the inverse times a vector.
    #[inline(always)]
    pub(super) fn times<T: Scalar>(&self, alpha: usize, x: &[T]) -> T {
        match self {
            Self::Diagonal(d) => x[alpha] * d[alpha],
            Self::Dense(m) => {
                let mut sum = T::zero();
                for (&m, &x) in m[alpha * x.len()..].iter().zip(x) {
                    sum += x * m;
                }
                sum
            }
        }
    }

    /// Row `alpha` of the inverse times one force per coordinate.
    #[inline(always)]
    pub(super) fn times_forces<T: Scalar>(&self, alpha: usize, x: &[Force<T>]) -> Force<T> {
        match self {
            Self::Diagonal(d) => x[alpha].scale(T::constant(d[alpha])),
            Self::Dense(m) => {
                let mut sum = Force::zero();
                for (&m, &x) in m[alpha * x.len()..].iter().zip(x) {
                    sum += x.scale(T::constant(m));
                }
                sum
            }
        }
    }
}

/// How the nodes of a bare body yield: $`\Omega = \Pi_t\Lambda\Pi_t^* = B\,\mathrm{diag}(\omega)\,B^*`$.
///
/// The rows of $`\Pi_t`$, one per component of a node's small rotation and displacement, are made orthogonal one after the
/// other in the metric $`\Lambda`$: $`\Pi_t = B R`$ and $`R\Lambda R^* = \mathrm{diag}(\omega)`$. Every row of $`R`$ is a direction
/// in which the nodes yield independently of the others, and directions in which they do not yield at all have $`\omega = 0`$
/// exactly. Displacements come first: what has no moment of inertia then feels none.
#[derive(Clone, Debug)]
pub(super) struct Compliance {
    /// Number of directions, six per node.
    pub(super) size: usize,
    /// $`B`$, by rows: one row per component of the nodes.
    pub(super) directions: Vec<f64>,
    /// $`B^{-1}`$, by rows: one row per direction.
    pub(super) components: Vec<f64>,
    /// $`\omega`$: acceleration along every direction for a unit force along it.
    pub(super) yielding: Vec<f64>,
    /// $`\hat\Upsilon = \Lambda R^*`$, n rows: elastic accelerations for unit forces along the directions.
    pub(super) spread: Vec<f64>,
}

impl Compliance {
    /// Of a body with n elastic coordinates at these nodes.
    pub(super) fn new(inverse_mass: &InverseMass, n: usize, nodes: &[&Node]) -> Self {
        let size = 6 * nodes.len();
        let mut rows: Vec<Vec<f64>> = nodes.iter().flat_map(|node| node_rows(node, n)).collect();
        let spread_of = |row: &[f64]| -> Vec<f64> {
            (0..n).map(|alpha| inverse_mass.times(alpha, row)).collect()
        };
        let whole: Vec<f64> = rows.iter().map(|row| dot(row, &spread_of(row))).collect();
        let mut directions = vec![0.0; size * size];
        let mut yielding = vec![0.0; size];
        let mut spread = vec![0.0; n * size];
        let mut left: Vec<usize> = (0..size).collect();
        let mut order = Vec::with_capacity(size);
        while let Some((next, relative)) = next_direction(&left, |i| {
            let rest = dot(&rows[i], &spread_of(&rows[i]));
            if whole[i] > 0.0 { rest / whole[i] } else { 0.0 }
        }) {
            let at = order.len();
            left.retain(|&i| i != next);
            order.push(next);
            directions[next * size + at] = 1.0;
            if relative <= NOTHING {
                continue;
            }
            let (pivot, spread_of_pivot) = (rows[next].clone(), spread_of(&rows[next]));
            yielding[at] = dot(&pivot, &spread_of_pivot);
            for (alpha, &x) in spread_of_pivot.iter().enumerate() {
                spread[alpha * size + at] = x;
            }
            for &i in &left {
                let share = dot(&rows[i], &spread_of_pivot) / yielding[at];
                directions[i * size + at] = share;
                for (x, &p) in rows[i].iter_mut().zip(&pivot) {
                    *x -= share * p;
                }
            }
        }
        let components = inverse_of_permuted_triangle(&directions, &order);
        Self {
            size,
            directions,
            components,
            yielding,
            spread,
        }
    }
}

/// Small rotation, then displacement, of a node per elastic coordinate.
pub(super) fn node_rows(node: &Node, n: usize) -> Vec<Vec<f64>> {
    let row = |of: &[[f64; 3]], i: usize| (0..n).map(|alpha| of[alpha][i]).collect();
    let rotation = (0..3).map(|i| row(&node.rotation, i));
    let displacement = (0..3).map(|i| row(&node.displacement, i));
    rotation.chain(displacement).collect()
}

/// The component to go on with, and how much of it is left: the most distinct displacement while there is one, then
/// whatever has most left, so that no direction is made of small differences.
fn next_direction(left: &[usize], relative: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
    let rest: Vec<(usize, f64)> = left.iter().map(|&i| (i, relative(i))).collect();
    let most = |of: &mut dyn Iterator<Item = (usize, f64)>| {
        of.fold(None, |most: Option<(usize, f64)>, x| match most {
            Some(most) if most.1 >= x.1 => Some(most),
            _ => Some(x),
        })
    };
    let is_distinct_displacement = |&(i, rest): &(usize, f64)| i % 6 >= 3 && rest >= DISTINCT;
    most(&mut rest.iter().copied().filter(is_distinct_displacement))
        .or_else(|| most(&mut rest.iter().copied()))
}

/// Inverse of a matrix whose rows, taken in this order, are a lower triangle with a unit diagonal.
fn inverse_of_permuted_triangle(matrix: &[f64], order: &[usize]) -> Vec<f64> {
    let size = order.len();
    let mut inverse = vec![0.0; size * size];
    for column in 0..size {
        for (j, &row) in order.iter().enumerate() {
            let known: f64 = (0..j)
                .map(|l| matrix[row * size + l] * inverse[l * size + column])
                .sum();
            inverse[j * size + column] = f64::from(u8::from(row == column)) - known;
        }
    }
    inverse
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
