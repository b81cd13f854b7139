//! Three-dimensional vectors and matrices over a [`Scalar`].
//!
//! What the recursions use is written out by components: closures that `std::array` would call for each of them are
//! not always inlined, and what is not inlined is not compiled for the processor at hand.

use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub};

use crate::scalar::Scalar;

/// Three components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector<T>(pub [T; 3]);

/// A 3 × 3 matrix by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix<T>(pub [[T; 3]; 3]);

/// A symmetric 3 × 3 matrix: `xx, xy, xz, yy, yz, zz`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symmetric<T>(pub [T; 6]);

impl Vector<f64> {
    /// The same direction at length one.
    #[must_use]
    pub fn unit(self) -> Self {
        // squares of very short and very long vectors leave the range of numbers
        let largest = self.0.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let scaled = Self(self.0.map(|x| x / largest));
        scaled.scale(1.0 / scaled.dot(scaled).sqrt())
    }
}

impl<T: Scalar> Vector<T> {
    /// The zero vector.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self([T::zero(); 3])
    }

    /// The unit vector along a coordinate axis.
    #[inline(always)]
    pub fn axis(axis: usize) -> Self {
        Self(std::array::from_fn(|i| {
            T::constant(if i == axis { 1.0 } else { 0.0 })
        }))
    }

    /// A vector known when the system was built.
    #[inline(always)]
    pub fn constant(x: [f64; 3]) -> Self {
        Self([T::constant(x[0]), T::constant(x[1]), T::constant(x[2])])
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        self[0] * other[0] + self[1] * other[1] + self[2] * other[2]
    }

    /// Cross product.
    #[must_use]
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self([
            self[1] * other[2] - self[2] * other[1],
            self[2] * other[0] - self[0] * other[2],
            self[0] * other[1] - self[1] * other[0],
        ])
    }

    /// Every component times a scalar.
    #[must_use]
    #[inline(always)]
    pub fn scale(self, factor: T) -> Self {
        Self([self[0] * factor, self[1] * factor, self[2] * factor])
    }

    /// One triangle of `self otherᵀ`, where `other` is a multiple of `self`.
    #[inline(always)]
    pub fn symmetric_outer(self, other: Self) -> Symmetric<T> {
        let ([x, y, z], [u, v, w]) = (self.0, other.0);
        Symmetric([x * u, x * v, x * w, y * v, y * w, z * w])
    }

    /// The matrix `self otherᵀ`.
    #[inline(always)]
    pub fn outer(self, other: Self) -> Matrix<T> {
        let [x, y, z] = self.0;
        Matrix([other.scale(x).0, other.scale(y).0, other.scale(z).0])
    }
}

impl<T: Scalar> Matrix<T> {
    /// The zero matrix.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[T::zero(); 3]; 3])
    }

    /// The identity.
    #[must_use]
    #[inline(always)]
    pub fn identity() -> Self {
        Self::diagonal(T::constant(1.0))
    }

    /// `x` times the identity.
    #[inline(always)]
    pub fn diagonal(x: T) -> Self {
        let o = T::zero();
        Self([[x, o, o], [o, x, o], [o, o, x]])
    }

    /// A matrix known when the system was built.
    #[inline(always)]
    pub fn constant(x: [[f64; 3]; 3]) -> Self {
        let [a, b, c] = x;
        Self([
            Vector::constant(a).0,
            Vector::constant(b).0,
            Vector::constant(c).0,
        ])
    }

    /// The skew matrix of `v`: `skew(v) x = v × x`.
    #[inline(always)]
    pub fn skew(v: Vector<T>) -> Self {
        let o = T::zero();
        Self([[o, -v[2], v[1]], [v[2], o, -v[0]], [-v[1], v[0], o]])
    }

    /// The rows.
    #[inline(always)]
    pub fn rows(self) -> [Vector<T>; 3] {
        let [a, b, c] = self.0;
        [Vector(a), Vector(b), Vector(c)]
    }

    /// Transpose.
    #[must_use]
    #[inline(always)]
    pub fn transpose(self) -> Self {
        let m = self.0;
        Self([
            [m[0][0], m[1][0], m[2][0]],
            [m[0][1], m[1][1], m[2][1]],
            [m[0][2], m[1][2], m[2][2]],
        ])
    }

    /// `selfᵀ v` without forming the transpose.
    #[inline(always)]
    pub fn transpose_mul(self, v: Vector<T>) -> Vector<T> {
        let [a, b, c] = self.rows();
        a.scale(v[0]) + b.scale(v[1]) + c.scale(v[2])
    }

    /// Inverse of a matrix that is far from singular, by cofactors.
    #[must_use]
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let [a, b, c] = self.rows();
        let cofactors = Self([b.cross(c).0, c.cross(a).0, a.cross(b).0]);
        let scale = T::constant(1.0) / a.dot(Vector(cofactors.0[0]));
        cofactors.scale(scale).transpose()
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> T {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// The vector `∫ a × b` of a matrix `∫ a bᵀ`.
    #[inline(always)]
    pub fn cross_of_outer(self) -> Vector<T> {
        let m = self.0;
        Vector([m[1][2] - m[2][1], m[2][0] - m[0][2], m[0][1] - m[1][0]])
    }

    /// Every entry times a scalar.
    #[must_use]
    #[inline(always)]
    pub fn scale(self, factor: T) -> Self {
        let [a, b, c] = self.rows();
        Self([a.scale(factor).0, b.scale(factor).0, c.scale(factor).0])
    }
}

impl<T: Scalar> Symmetric<T> {
    /// The zero matrix.
    #[must_use]
    #[inline(always)]
    pub fn zero() -> Self {
        Self([T::zero(); 6])
    }

    /// `x` times the identity.
    #[inline(always)]
    pub fn diagonal(x: T) -> Self {
        let o = T::zero();
        Self([x, o, o, x, o, x])
    }

    /// A matrix known when the system was built.
    #[inline(always)]
    pub fn constant(x: [f64; 6]) -> Self {
        let [xx, xy, xz, yy, yz, zz] = x;
        let constant = T::constant;
        Self([
            constant(xx),
            constant(xy),
            constant(xz),
            constant(yy),
            constant(yz),
            constant(zz),
        ])
    }

    /// The upper triangle of a matrix that is symmetric.
    #[inline(always)]
    pub fn upper(m: &Matrix<T>) -> Self {
        let m = &m.0;
        Self([m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2]])
    }

    /// All nine entries.
    #[inline(always)]
    pub fn full(self) -> Matrix<T> {
        let [xx, xy, xz, yy, yz, zz] = self.0;
        Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> T {
        self.0[0] + self.0[3] + self.0[5]
    }

    /// `rotation self rotationᵀ`.
    #[must_use]
    #[inline(always)]
    pub fn rotate(self, rotation: Matrix<T>) -> Self {
        let half = rotation * self.full();
        let entry = |i: usize, j: usize| Vector(half.0[i]).dot(Vector(rotation.0[j]));
        Self([
            entry(0, 0),
            entry(0, 1),
            entry(0, 2),
            entry(1, 1),
            entry(1, 2),
            entry(2, 2),
        ])
    }
}

impl<T> Index<usize> for Vector<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.0[i]
    }
}
impl<T> IndexMut<usize> for Vector<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.0[i]
    }
}
impl<T: Scalar> Add for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self([self[0] + other[0], self[1] + other[1], self[2] + other[2]])
    }
}
impl<T: Scalar> Sub for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self([self[0] - other[0], self[1] - other[1], self[2] - other[2]])
    }
}
impl<T: Scalar> Neg for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self[0], -self[1], -self[2]])
    }
}
impl<T: Scalar> AddAssign for Vector<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<T: Scalar> Add for Matrix<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [u, v, w]) = (self.rows(), other.rows());
        Self([(a + u).0, (b + v).0, (c + w).0])
    }
}
impl<T: Scalar> Sub for Matrix<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [u, v, w]) = (self.rows(), other.rows());
        Self([(a - u).0, (b - v).0, (c - w).0])
    }
}
impl<T: Scalar> AddAssign for Matrix<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl<T: Scalar> Mul<Vector<T>> for Matrix<T> {
    type Output = Vector<T>;
    #[inline(always)]
    fn mul(self, v: Vector<T>) -> Vector<T> {
        let [a, b, c] = self.rows();
        Vector([a.dot(v), b.dot(v), c.dot(v)])
    }
}
impl<T: Scalar> Mul for Matrix<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let [a, b, c] = self.rows();
        Self([
            other.transpose_mul(a).0,
            other.transpose_mul(b).0,
            other.transpose_mul(c).0,
        ])
    }
}
impl<T: Scalar> Add for Symmetric<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [u, v, w, x, y, z]) = (self.0, other.0);
        Self([a + u, b + v, c + w, d + x, e + y, f + z])
    }
}
impl<T: Scalar> Sub for Symmetric<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [u, v, w, x, y, z]) = (self.0, other.0);
        Self([a - u, b - v, c - w, d - x, e - y, f - z])
    }
}
impl<T: Scalar> Mul<Vector<T>> for Symmetric<T> {
    type Output = Vector<T>;
    #[inline(always)]
    fn mul(self, v: Vector<T>) -> Vector<T> {
        self.full() * v
    }
}
