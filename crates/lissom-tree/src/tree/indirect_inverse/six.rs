//! Motions, forces and inertias as six numbers and six by six, angular first.

use lissom_spatial::Scalar;
use lissom_spatial::{ArticulatedInertia, Force, Matrix, Motion, Symmetric, Vector};

/// A 6 × 6 matrix by rows, angular first.
pub(super) type Six<T> = [[T; 6]; 6];

#[inline(always)]
pub(super) fn six_of_motion<T: Scalar>(m: Motion<T>) -> [T; 6] {
    let ([a, b, c], [d, e, f]) = (m.angular.0, m.linear.0);
    [a, b, c, d, e, f]
}

#[inline(always)]
pub(super) fn six_of_force<T: Scalar>(m: Force<T>) -> [T; 6] {
    let ([a, b, c], [d, e, f]) = (m.moment.0, m.force.0);
    [a, b, c, d, e, f]
}

#[inline(always)]
pub(super) fn motion_of_six<T: Scalar>([a, b, c, d, e, f]: [T; 6]) -> Motion<T> {
    Motion::new(Vector([a, b, c]), Vector([d, e, f]))
}

#[inline(always)]
pub(super) fn force_of_six<T: Scalar>([a, b, c, d, e, f]: [T; 6]) -> Force<T> {
    Force::new(Vector([a, b, c]), Vector([d, e, f]))
}

#[inline(always)]
pub(super) fn six_of_inertia<T: Scalar>(inertia: &ArticulatedInertia<T>) -> Six<T> {
    let (angular, linear) = (inertia.angular.full().0, inertia.linear.full().0);
    let coupling = inertia.coupling.0;
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i < 3, j < 3) {
            (true, true) => angular[i][j],
            (true, false) => coupling[i][j - 3],
            (false, true) => coupling[j][i - 3],
            (false, false) => linear[i - 3][j - 3],
        })
    })
}

/// An inertia from the upper triangle.
#[inline(always)]
pub(super) fn inertia_of_six<T: Scalar>(x: &Six<T>) -> ArticulatedInertia<T> {
    let block = |first: usize| {
        Symmetric([
            x[first][first],
            x[first][first + 1],
            x[first][first + 2],
            x[first + 1][first + 1],
            x[first + 1][first + 2],
            x[first + 2][first + 2],
        ])
    };
    ArticulatedInertia {
        angular: block(0),
        coupling: Matrix(std::array::from_fn(|i| {
            std::array::from_fn(|j| x[i][j + 3])
        })),
        linear: block(3),
    }
}

/// `a b`.
#[inline(always)]
pub(super) fn product<T: Scalar>(a: &Six<T>, b: &Six<T>) -> Six<T> {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let mut sum = T::zero();
            for l in 0..6 {
                sum += a[i][l] * b[l][j];
            }
            sum
        })
    })
}

/// `a x`.
#[inline(always)]
pub(super) fn times<T: Scalar>(a: &Six<T>, x: &[T; 6]) -> [T; 6] {
    std::array::from_fn(|i| {
        let mut sum = T::zero();
        for j in 0..6 {
            sum += a[i][j] * x[j];
        }
        sum
    })
}

/// `aᵀ x`.
#[inline(always)]
pub(super) fn transpose_times<T: Scalar>(a: &Six<T>, x: &[T; 6]) -> [T; 6] {
    std::array::from_fn(|j| {
        let mut sum = T::zero();
        for i in 0..6 {
            sum += a[i][j] * x[i];
        }
        sum
    })
}

/// A factor $`LDL^T`$ of a symmetric 6 × 6 matrix, with $`D^{-1}`$ on the diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor<T>([T; 36]);

impl<T: Scalar> Factor<T> {
    /// Of a matrix given by its lower triangle.
    #[inline(always)]
    pub(super) fn new(matrix: &Six<T>) -> Self {
        let mut flat = std::array::from_fn(|i| matrix[i / 6][i % 6]);
        super::super::articulated_body::factor_symmetric(&mut flat, 6);
        Self(flat)
    }

    /// $`D^{-1}`$.
    #[inline(always)]
    pub(super) fn inverse_pivot(&self, i: usize) -> T {
        self.0[7 * i]
    }

    /// $`L^{-1}x`$.
    #[inline(always)]
    pub(super) fn forward(&self, mut x: [T; 6]) -> [T; 6] {
        for i in 0..6 {
            for j in 0..i {
                x[i] -= self.0[6 * i + j] * x[j];
            }
        }
        x
    }

    /// $`L^{-T}D^{-1}x`$.
    #[inline(always)]
    pub(super) fn backward(&self, mut x: [T; 6]) -> [T; 6] {
        for i in (0..6).rev() {
            x[i] = x[i] * self.inverse_pivot(i);
            for j in i + 1..6 {
                x[i] -= self.0[6 * j + i] * x[j];
            }
        }
        x
    }
}
