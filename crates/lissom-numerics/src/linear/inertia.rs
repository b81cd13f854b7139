//! A mass matrix between two points of a motion, inverted for all instants between them at once.
//!
//! With $`M_a = L L^T`$ and $`L^{-1} M_b L^{-T} = Q D Q^T`$ the matrices of both points are diagonal in the coordinates
//! $`W = L^{-T} Q`$, and so is every matrix between them:
//!
//! ```math
//! \bigl((1 - s) M_a + s M_b\bigr)^{-1} = W\,\mathrm{diag}\Bigl(\frac{1}{1 - s + s\,d_i}\Bigr)\,W^T .
//! ```
//!
//! An integrator that is held to short steps by the highest frequencies asks for accelerations thousands of times between
//! two points: each is two products with a matrix, where it would be a factorisation.

use nalgebra::{Cholesky, DMatrix, SymmetricEigen};

use super::symmetric::{ITERATIONS_PER_MODE, reduced};

/// $`M`$ between two points.
#[derive(Clone, Debug)]
pub(super) struct InertiaBetween {
    /// $`W`$; not numbers where the matrix of the first point is not definite.
    shapes: DMatrix<f64>,
    /// $`W^T`$, so that both products go along columns.
    transposed: DMatrix<f64>,
    /// $`d_i`$.
    ratios: Vec<f64>,
}

impl InertiaBetween {
    pub(super) fn new(mass: &DMatrix<f64>, later: &DMatrix<f64>) -> Self {
        let size = mass.nrows();
        let none = || {
            (
                DMatrix::from_element(size, size, f64::NAN),
                vec![f64::NAN; size],
            )
        };
        let (shapes, ratios) = decomposed(mass, later).unwrap_or_else(none);
        Self {
            transposed: shapes.transpose(),
            shapes,
            ratios,
        }
    }

    /// Replaces forces by accelerations at a share of the way between the points. Allocates nothing.
    pub(super) fn solve(&self, share: f64, force: &mut [f64], modal: &mut [f64]) {
        modal.fill(0.0);
        add_product(&self.transposed, 1.0, force, modal);
        for (modal, ratio) in modal.iter_mut().zip(&self.ratios) {
            *modal /= 1.0 - share + share * ratio;
        }
        force.fill(0.0);
        add_product(&self.shapes, 1.0, modal, force);
    }
}

/// $`W`$ and $`d_i`$ of two matrices, the first of them definite.
fn decomposed(mass: &DMatrix<f64>, later: &DMatrix<f64>) -> Option<(DMatrix<f64>, Vec<f64>)> {
    let size = mass.nrows();
    // the eigenvalue iteration knows no matrix without entries
    if size == 0 {
        return Some((DMatrix::zeros(0, 0), Vec::new()));
    }
    let factor = Cholesky::new(mass.clone())?;
    let ratio = reduced(&factor, later).ok()?;
    let most = ITERATIONS_PER_MODE * (size + 1);
    let eigen = SymmetricEigen::try_new(ratio, f64::EPSILON, most)?;
    let mut shapes = eigen.eigenvectors;
    let solved = factor.l_dirty().tr_solve_lower_triangular_mut(&mut shapes);
    solved.then(|| (shapes, eigen.eigenvalues.as_slice().to_vec()))
}

/// Adds `weight` times a matrix times a vector to a sum, column by column, as matrices lie in memory.
pub(super) fn add_product(matrix: &DMatrix<f64>, weight: f64, vector: &[f64], sum: &mut [f64]) {
    let columns = matrix.as_slice().chunks_exact(sum.len().max(1));
    for (column, &x) in columns.zip(vector) {
        let x = weight * x;
        for (sum, &entry) in sum.iter_mut().zip(column) {
            *sum += entry * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;

    /// Identity: between two random definite matrices accelerations are those of elimination, at the points and between them.
    #[test]
    fn accelerations_are_those_of_elimination() {
        // condition numbers are some hundreds
        const ROUNDING: f64 = 1e-12;
        let size = 7;
        let definite = |seed: usize| {
            let root = DMatrix::from_fn(size, size, |i, j| {
                let mixed = (seed + 3 * i + 5 * j * j) as f64;
                mixed.sin() + if i == j { 3.0 } else { 0.0 }
            });
            &root * root.transpose()
        };
        let [mass, later] = [definite(1), definite(2)];
        let inertia = InertiaBetween::new(&mass, &later);
        let force = DVector::from_fn(size, |i, _| (i as f64).cos());
        for share in [0.0, 0.3, 1.0] {
            let between = &mass * (1.0 - share) + &later * share;
            let wanted = between.lu().solve(&force).unwrap();
            let mut found = force.clone();
            inertia.solve(share, found.as_mut_slice(), &mut vec![0.0; size]);
            let error = (&found - &wanted).amax() / wanted.amax();
            assert!(error < ROUNDING, "{error} at {share}");
        }
    }

    /// A direction without inertia leaves no numbers, which the integrator tells.
    #[test]
    fn accelerations_without_inertia_are_no_numbers() {
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.0]));
        let mut force = [1.0, 1.0];
        InertiaBetween::new(&mass, &mass).solve(0.5, &mut force, &mut [0.0; 2]);
        assert!(force.iter().all(|x| x.is_nan()), "{force:?}");
    }
}
