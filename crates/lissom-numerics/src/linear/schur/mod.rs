//! Real Schur form $`A = Q T Q^T`$ of a dense matrix: $`Q`$ orthogonal, $`T`$ upper triangular but for two-by-two blocks of conjugate
//! eigenvalues, which have equal entries on their diagonal.
//!
//! Small matrices go through Francis's iteration with two shifts (`francis.rs`; Golub & Van Loan, *Matrix Computations*, 7.5). Large
//! ones take many shifts at once, so that nearly all arithmetic is products of matrices, and look for eigenvalues that have
//! converged inside a window at the end (`multishift.rs`; Braman, Byers & Mathias, *SIAM J. Matrix Anal. Appl.* 23 (2002) 929
//! and 948).

mod francis;
mod hessenberg;
mod multishift;

use nalgebra::{Complex, DMatrix, DVector};

use francis::francis;
pub(super) use hessenberg::hessenberg;
use multishift::multishift;

use super::error::{GoOn, LinearError};
use super::spectrum::NOT_CONVERGED;

/// Matrices up to this size are left to two shifts at a time.
pub(super) const SMALL: usize = 96;

/// A real Schur form.
#[derive(Clone, Debug)]
pub(super) struct RealSchur {
    /// $`T`$.
    pub(super) form: DMatrix<f64>,
    /// $`Q`$.
    pub(super) vectors: DMatrix<f64>,
}

impl RealSchur {
    /// Of a matrix with finite entries. That of a large one takes its time: `go_on` is asked after every panel and every sweep.
    ///
    /// # Errors
    /// When the iteration does not converge, or is stopped.
    pub(super) fn new(matrix: DMatrix<f64>, go_on: &mut GoOn<'_>) -> Result<Self, LinearError> {
        let size = matrix.nrows();
        let (mut form, mut vectors) = hessenberg(matrix, go_on)?;
        let converged = if size <= SMALL {
            francis(&mut form, &mut vectors)
        } else {
            multishift(&mut form, &mut vectors, go_on)?
        };
        if converged {
            Ok(Self { form, vectors })
        } else {
            Err(NOT_CONVERGED)
        }
    }

    /// Eigenvalues in the order of the diagonal; of conjugates the one with positive imaginary part first.
    pub(super) fn eigenvalues(&self) -> Vec<Complex<f64>> {
        eigenvalues(&self.form)
    }

    /// Right and left eigenvectors $`x`$, $`y`$ of the eigenvalue at a place of the diagonal, of unit length:
    /// $`Ax = \lambda x`$, $`y^HA = \lambda y^H`$.
    pub(super) fn eigenvectors(&self, place: usize) -> [DVector<Complex<f64>>; 2] {
        let value = self.eigenvalue(place);
        let solved = [
            right_vector(&self.form, place, value),
            left_vector(&self.form, place, value),
        ];
        solved.map(|vector| {
            let [re, im] = [vector.map(|x| x.re), vector.map(|x| x.im)];
            let vector = (&self.vectors * re).zip_map(&(&self.vectors * im), Complex::new);
            let length = vector.norm();
            vector / Complex::new(length, 0.0)
        })
    }

    fn eigenvalue(&self, place: usize) -> Complex<f64> {
        let form = &self.form;
        let size = form.nrows();
        if place + 1 < size && form[(place + 1, place)] != 0.0 {
            return pair(form, place);
        }
        if place > 0 && form[(place, place - 1)] != 0.0 {
            return pair(form, place - 1).conj();
        }
        Complex::new(form[(place, place)], 0.0)
    }
}

/// Eigenvalues of a real Schur form.
fn eigenvalues(form: &DMatrix<f64>) -> Vec<Complex<f64>> {
    let mut values = Vec::with_capacity(form.nrows());
    while values.len() < form.nrows() {
        let at = values.len();
        if at + 1 < form.nrows() && form[(at + 1, at)] != 0.0 {
            let value = pair(form, at);
            values.extend([value, value.conj()]);
        } else {
            values.push(Complex::new(form[(at, at)], 0.0));
        }
    }
    values
}

/// The eigenvalue with positive imaginary part of a two-by-two block.
fn pair(form: &DMatrix<f64>, at: usize) -> Complex<f64> {
    let product = form[(at, at + 1)].abs().sqrt() * form[(at + 1, at)].abs().sqrt();
    Complex::new(form[(at, at)], product)
}

/// Size of the block that begins at a place.
fn block(form: &DMatrix<f64>, at: usize) -> usize {
    let double = at + 1 < form.nrows() && form[(at + 1, at)] != 0.0;
    1 + usize::from(double)
}

/// Solves one or two equations; eigenvalues that are equal are kept apart by rounding, so that their vectors exist.
fn solve_block(
    form: &DMatrix<f64>,
    at: usize,
    size: usize,
    value: Complex<f64>,
    transposed: bool,
    [first, second]: [Complex<f64>; 2],
    least: f64,
) -> [Complex<f64>; 2] {
    let apart = |x: Complex<f64>| {
        if x.norm() < least {
            Complex::new(least, 0.0)
        } else {
            x
        }
    };
    if size == 1 {
        return [
            first / apart(form[(at, at)] - value),
            Complex::new(0.0, 0.0),
        ];
    }
    let (mut above, mut below) = (form[(at, at + 1)], form[(at + 1, at)]);
    if transposed {
        std::mem::swap(&mut above, &mut below);
    }
    let own = form[(at, at)] - value;
    // equal entries on the diagonal: the largest of three is the pivot
    let across = Complex::new(above, 0.0);
    let under = Complex::new(below, 0.0);
    if own.norm() >= above.abs().max(below.abs()) {
        let y = (second - under / own * first) / apart(own - under / own * across);
        [(first - across * y) / own, y]
    } else if above.abs() >= below.abs() {
        let x = (second - own / across * first) / apart(under - own / across * own);
        [x, (first - own * x) / across]
    } else {
        let y = (first - own / under * second) / apart(across - own / under * own);
        [(second - own * y) / under, y]
    }
}

/// Eigenvector of a block of a Schur form, in its own two coordinates: right, and left as a column.
fn own_vector(
    form: &DMatrix<f64>,
    at: usize,
    value: Complex<f64>,
    left: bool,
) -> [Complex<f64>; 2] {
    // (a − λ, b; c, a − λ) with λ = a ± i√(−bc)
    let (above, below) = (form[(at, at + 1)], form[(at + 1, at)]);
    let step = value - form[(at, at)];
    let across = if left { below } else { above };
    let other = if left { above } else { below };
    if across.abs() >= other.abs() {
        [Complex::new(1.0, 0.0), step / across]
    } else {
        [step / other, Complex::new(1.0, 0.0)]
    }
}

fn right_vector(form: &DMatrix<f64>, place: usize, value: Complex<f64>) -> DVector<Complex<f64>> {
    let mut vector = DVector::zeros(form.nrows());
    let least = f64::EPSILON * form.norm();
    let first = if place > 0 && form[(place, place - 1)] != 0.0 {
        place - 1
    } else {
        place
    };
    let own = block(form, first);
    if own == 2 {
        let [a, b] = own_vector(form, first, value, false);
        (vector[first], vector[first + 1]) = (a, b);
    } else {
        vector[first] = Complex::new(1.0, 0.0);
    }
    // column by column: what is known is taken off the right sides of all rows above
    let mut right = DVector::<Complex<f64>>::zeros(first);
    let take = |right: &mut DVector<Complex<f64>>, rows: usize, column: usize, x: Complex<f64>| {
        for (right, entry) in right
            .rows_mut(0, rows)
            .iter_mut()
            .zip(form.column(column).iter())
        {
            *right -= x * *entry;
        }
    };
    for column in first..first + own {
        take(&mut right, first, column, vector[column]);
    }
    let mut row = first;
    while row > 0 {
        let size = if row > 1 { block(form, row - 2) } else { 1 };
        let at = row - size;
        let known = [
            right[at],
            if size == 2 {
                right[at + 1]
            } else {
                Complex::new(0.0, 0.0)
            },
        ];
        let solved = solve_block(form, at, size, value, false, known, least);
        for (i, solved) in solved.into_iter().take(size).enumerate() {
            vector[at + i] = solved;
            take(&mut right, at, at + i, solved);
        }
        row = at;
    }
    vector
}

/// $`y`$ with $`y^HT = \lambda y^H`$: $`T^Ty = \bar\lambda y`$.
fn left_vector(form: &DMatrix<f64>, place: usize, value: Complex<f64>) -> DVector<Complex<f64>> {
    let count = form.nrows();
    let value = value.conj();
    let mut vector = DVector::zeros(count);
    let least = f64::EPSILON * form.norm();
    let first = if place > 0 && form[(place, place - 1)] != 0.0 {
        place - 1
    } else {
        place
    };
    let own = block(form, first);
    if own == 2 {
        let [a, b] = own_vector(form, first, value, true);
        (vector[first], vector[first + 1]) = (a, b);
    } else {
        vector[first] = Complex::new(1.0, 0.0);
    }
    let mut at = first + own;
    while at < count {
        let size = block(form, at);
        let sum = |column: usize| -> Complex<f64> {
            -(first..at)
                .map(|k| vector[k] * form[(k, column)])
                .sum::<Complex<f64>>()
        };
        let right = [
            sum(at),
            if size == 2 {
                sum(at + 1)
            } else {
                Complex::new(0.0, 0.0)
            },
        ];
        let solved = solve_block(form, at, size, value, true, right, least);
        for (i, solved) in solved.into_iter().take(size).enumerate() {
            vector[at + i] = solved;
        }
        at += size;
    }
    vector
}

#[cfg(test)]
mod tests;
