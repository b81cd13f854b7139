//! The lowest modes of large linearised equations, from products with vectors and approximate solves alone.
//!
//! A space of motions grows by what is missed in it. In every space $`V`$ with $`V^TMV = 1`$ the modes of $`V^TKV`$ are the best there are;
//! their residuals $`r = Kx - \omega^2Mx`$ lead to new directions
//!
//! ```math
//! z = (K + sM)^{-1} r, \qquad s > 0,
//! ```
//!
//! which with an exact solve is the Krylov space of $`(K + sM)^{-1}M`$, the one of shift and invert, by blocks; with one that is only nearly so
//! the modes are as exact, found in a few more steps. As many directions as modes are wanted start together, so that equal
//! frequencies have all their shapes. $`\sqrt{r^Tz/(\omega^2 + s)}`$ measures the error of a shape by its energy; that of a frequency is its square.
//!
//! Velocity terms couple the modes with others: the space goes on growing by the residuals of $`(\lambda^2M + \lambda C + K)\,x = 0`$ until the
//! eigenvalues that belong to the lowest modes are exact as well.

use nalgebra::{Complex, DMatrix, DVector, SymmetricEigen};

use super::error::{GoOn, LinearError};
use super::quadratic::Roots;
use super::spectrum::{Spectrum, skew_part};
use super::symmetric::Symmetric;

/// Modes that are sought beyond those wanted: the last wanted one converges as fast as the distance to the first that is not sought.
const GUARDS: usize = 6;
/// The space is cut down to so many times the modes sought where it has grown to one more.
const KEPT: usize = 3;
/// Error of a shape, measured by its energy.
const CONVERGED: f64 = 1e-9;
/// Error of an eigenvalue with velocity terms, as a share of it, that counts as none.
const CONVERGED_ROOT: f64 = 1e-9;
/// Steps after which modes count as not to be found like this.
const STEPS: usize = 60;
/// Steps after which a shift is looked at again, and the share of it that squares sought have at least where it is near enough.
const RESHIFT: usize = 6;
const NEAR: f64 = 0.1;
/// Directions whose share outside of the others is less than this are none of their own.
const DEPENDENT: f64 = 1e-10;
/// First share of the largest square of frequencies by which the stiffness is shifted, and by how much it grows until it is definite.
const SHIFT: f64 = 1e-8;

/// Share of the highest square found below which a motion may be one that nothing resists.
const SOFT: f64 = 1e-6;

/// Linearised equations $`M\ddot x + C\dot x + Kx = 0`$ by what they do to motions, one per column.
pub trait Products {
    /// Number of coordinates.
    fn size(&self) -> usize;

    /// $`MX`$.
    fn mass(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64>;

    /// $`CX`$.
    fn damping(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64>;

    /// $`KX`$.
    fn stiffness(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64>;

    /// Prepares solves with $`K + sM + FF^T`$, or something near it; whether there are any. $`F`$ are forces that lift motions which the
    /// stiffness pushes away; who can solve with what is indefinite may leave them out.
    ///
    /// # Errors
    /// When it is stopped.
    fn shift(
        &mut self,
        shift: f64,
        lifting: &DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<bool, LinearError>;

    /// Solutions with what was prepared last, one per column.
    ///
    /// # Errors
    /// When it is stopped.
    fn solve(
        &mut self,
        forces: DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<DMatrix<f64>, LinearError>;

    /// Work of the parts of the stiffness on a motion, summed without their signs: rounding of $`x^TKx`$ is in proportion to it.
    fn gross_work(&mut self, motion: &DVector<f64>) -> f64;
}

/// Equations in a space that contains the lowest modes, $`V^TMV = 1`$.
#[derive(Clone, Debug)]
pub struct Lowest {
    /// $`V`$, modes of the symmetric part of the stiffness in this space: one column each, by rising square.
    pub basis: DMatrix<f64>,
    /// $`V^TCV`$.
    pub damping: DMatrix<f64>,
    /// $`V^TKV`$.
    pub stiffness: DMatrix<f64>,
    /// Work on every mode without signs, see [`Products::gross_work`].
    pub gross: DVector<f64>,
}

impl Lowest {
    /// The `count` lowest modes and some more, of motions without momentum along those of single coordinates that are `rigid`. None if they are not
    /// found. `go_on` is asked in every step of the search.
    ///
    /// # Errors
    /// When numbers are not finite, or the search is stopped.
    pub fn new(
        of: &mut dyn Products,
        rigid: &[usize],
        count: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Self>, LinearError> {
        let Some(mut space) = Space::new(of, rigid, count, go_on)? else {
            return Ok(None);
        };
        if !space.find_modes()? || !space.find_roots()? {
            return Ok(None);
        }
        space.finish().map(Some)
    }
}

/// A space of motions, with what the equations make of them.
struct Space<'p> {
    of: &'p mut dyn Products,
    go_on: &'p mut GoOn<'p>,
    count: usize,
    /// Motions of a whole, and what weighs momenta along them.
    rigid: DMatrix<f64>,
    weights: DMatrix<f64>,
    /// Smallest square that is more than rounding.
    least: f64,
    shift: f64,
    /// Forces that lift what pushes away.
    lifting: DMatrix<f64>,
    basis: DMatrix<f64>,
    momenta: DMatrix<f64>,
    forces: DMatrix<f64>,
}

impl<'p> Space<'p> {
    /// Begins with directions in which the lowest modes are large, and a shift among their squares.
    fn new(
        of: &'p mut dyn Products,
        rigid: &[usize],
        count: usize,
        go_on: &'p mut GoOn<'p>,
    ) -> Result<Option<Self>, LinearError> {
        let size = of.size();
        let rigid = alone(size, rigid);
        let weights = if rigid.is_empty() {
            rigid.clone()
        } else {
            let momenta = of.mass(&rigid);
            let Some(inertia) = (rigid.transpose() * &momenta).cholesky() else {
                return Ok(None);
            };
            inertia.solve(&momenta.transpose()).transpose()
        };
        let none = DMatrix::zeros(size, 0);
        let mut space = Self {
            of,
            go_on,
            count,
            rigid,
            weights,
            least: 0.0,
            shift: 0.0,
            lifting: none.clone(),
            basis: none.clone(),
            momenta: none.clone(),
            forces: none,
        };
        let mut block = scattered(size, count + GUARDS);
        let probes = block.columns(0, 4.min(block.ncols())).into_owned();
        let [weight, work] = [space.of.mass(&probes), space.of.stiffness(&probes)]
            .map(|of_probes| probes.dot(&of_probes));
        let largest = (work / weight).abs();
        let usual = SHIFT * if largest > 0.0 { largest } else { 1.0 };
        if !usual.is_finite() || !space.set_shift(usual)? {
            return Ok(None);
        }
        for _ in 0..2 {
            let momenta = space.of.mass(&block);
            let pushed = space.of.solve(momenta, space.go_on)?;
            space.restart(&DMatrix::zeros(space.basis.ncols(), 0));
            space.extend(pushed);
            block = space.basis.clone();
        }
        space.least = f64::EPSILON * largest * size as f64;
        Ok(match space.shift_nearer() {
            Err(stopped @ LinearError::Stopped { .. }) => return Err(stopped),
            found => found.is_ok_and(|shifted| shifted).then_some(space),
        })
    }

    /// Shifts by this much, or more until the stiffness is definite.
    fn set_shift(&mut self, least: f64) -> Result<bool, LinearError> {
        for step in 0..16 {
            self.shift = least * 10.0_f64.powi(step);
            if (self.of).shift(self.shift, &self.lifting, self.go_on)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Shifts by a square among those that are sought, if the shift is far from them: by a share of the highest, or since
    /// something pushes away, which is known by now and lifted. Whether there are solves.
    fn shift_nearer(&mut self) -> Result<bool, LinearError> {
        let found = Symmetric::new(&self.identity(), &self.stiffness(), self.go_on)?;
        let negative: Vec<usize> = (0..found.squares.len())
            .filter(|&mode| found.squares[mode] < 0.0)
            .collect();
        let middle = found.squares.get(negative.len() + self.count / 2);
        let middle = middle.map_or(self.shift, |square| square.max(self.least));
        if middle >= NEAR * self.shift {
            return Ok(true);
        }
        self.lifting = &self.momenta * found.shapes.select_columns(&negative);
        for (mut force, &mode) in self.lifting.column_iter_mut().zip(&negative) {
            force *= (-2.0 * found.squares[mode]).sqrt();
        }
        self.set_shift(middle)
    }

    fn identity(&self) -> DMatrix<f64> {
        DMatrix::identity(self.basis.ncols(), self.basis.ncols())
    }

    /// $`V^TKV`$.
    fn stiffness(&self) -> DMatrix<f64> {
        self.basis.transpose() * &self.forces
    }

    /// Goes on with combinations of the directions.
    fn restart(&mut self, combinations: &DMatrix<f64>) {
        for directions in [&mut self.basis, &mut self.momenta, &mut self.forces] {
            *directions = &*directions * combinations;
        }
    }

    /// Adds directions, as far as they are none of those that are there.
    fn extend(&mut self, mut block: DMatrix<f64>) {
        let mut momenta = block.clone();
        for _ in 0..2 {
            for mut direction in block.column_iter_mut() {
                let length = direction.norm();
                if length > 0.0 {
                    direction /= length;
                }
            }
            let along = self.weights.tr_mul(&block);
            block -= &self.rigid * along;
            let along = self.momenta.tr_mul(&block);
            block -= &self.basis * along;
            momenta = self.of.mass(&block);
            let Some(own) = orthonormal(&(block.tr_mul(&momenta))) else {
                return;
            };
            block = &block * &own;
            momenta = &momenta * &own;
        }
        let forces = self.of.stiffness(&block);
        append(&mut self.basis, &block);
        append(&mut self.momenta, &momenta);
        append(&mut self.forces, &forces);
    }

    /// Grows until the lowest modes without velocity terms are in it. Whether they are.
    fn find_modes(&mut self) -> Result<bool, LinearError> {
        let sought = self.count + GUARDS;
        for step in 1..=STEPS {
            if step % RESHIFT == 0 && !self.shift_nearer()? {
                return Ok(false);
            }
            let spectrum = Spectrum::new(&self.identity(), &self.stiffness(), self.go_on)?;
            let (shapes, squares) = real_pairs(&spectrum, sought);
            if self.basis.ncols() > (KEPT + 1) * sought {
                let (kept, _) = real_pairs(&spectrum, KEPT * sought);
                let Some(own) = orthonormal(&kept.tr_mul(&kept)) else {
                    return Ok(false);
                };
                self.restart(&(kept * own));
                continue;
            }
            let residuals = &self.forces * &shapes - &self.momenta * (&shapes * &squares);
            let residuals = self.without_rigid(residuals);
            let corrections = self.of.solve(residuals.clone(), self.go_on)?;
            let missed = |mode: usize| {
                let energy = residuals.column(mode).dot(&corrections.column(mode)).abs();
                let scale = squares[(mode, mode)].abs() + self.shift;
                (energy / scale).sqrt() / shapes.column(mode).norm()
            };
            let is_found = |mode: usize| missed(mode) <= CONVERGED;
            let left: Vec<usize> = (0..shapes.ncols())
                .filter(|&mode| !is_found(mode))
                .collect();
            if left.iter().all(|&mode| mode >= self.count) {
                return Ok(self.basis.ncols() >= self.count);
            }
            let before = self.basis.ncols();
            self.extend(corrections.select_columns(&left));
            if self.basis.ncols() == before {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Forces less those that accelerate the motions of the whole.
    fn without_rigid(&self, forces: DMatrix<f64>) -> DMatrix<f64> {
        let along = self.rigid.tr_mul(&forces);
        forces - &self.weights * along
    }

    /// Grows until the eigenvalues with velocity terms that belong to the lowest modes are in it. Whether they are.
    fn find_roots(&mut self) -> Result<bool, LinearError> {
        let mut damping = self.of.damping(&self.basis);
        if damping.iter().all(|&x| x == 0.0) {
            return Ok(true);
        }
        for _ in 0..STEPS {
            let stiffness = self.stiffness();
            let symmetric = Symmetric::new(&self.identity(), &stiffness, self.go_on)?;
            let skew = skew_part(&symmetric, &stiffness);
            let own = self.basis.tr_mul(&damping);
            let own = symmetric.project(&own);
            let roots = Roots::new(&symmetric, skew.as_ref(), &own, None, self.go_on)?;
            let mut corrections = Vec::new();
            for index in 0..self.count.min(roots.values().len()) {
                let root = roots.root(index);
                if root.value.im == 0.0 && root.value.re != 0.0 {
                    // the other one of two real eigenvalues may be anywhere among the higher ones
                    return Ok(false);
                }
                let shape = symmetric.shapes.map(|x| Complex::new(x, 0.0)) * root.shape;
                let parts = [root.value * root.value, root.value, Complex::new(1.0, 0.0)];
                let [mut re, mut im] = [(); 2].map(|()| DVector::zeros(self.basis.nrows()));
                for (factor, of) in parts
                    .into_iter()
                    .zip([&self.momenta, &damping, &self.forces])
                {
                    let weighed = &shape * factor;
                    re += of * weighed.map(|x| x.re);
                    im += of * weighed.map(|x| x.im);
                }
                let residual = DMatrix::from_columns(&[re, im]);
                let residual = self.without_rigid(residual);
                let correction = self.of.solve(residual.clone(), self.go_on)?;
                let energy = residual.dot(&correction).abs();
                let scale = root.value.norm_sqr() + self.shift;
                let is_found = (energy / scale).sqrt() <= CONVERGED_ROOT * shape.norm();
                if !is_found {
                    corrections.extend(correction.column_iter().map(DVector::from));
                }
            }
            if corrections.is_empty() {
                return Ok(true);
            }
            let before = self.basis.ncols();
            self.extend(DMatrix::from_columns(&corrections));
            if self.basis.ncols() == before || self.basis.ncols() > self.of.size() / 2 {
                return Ok(false);
            }
            let new = self.basis.columns_range(before..).into_owned();
            append(&mut damping, &self.of.damping(&new));
        }
        Ok(false)
    }

    /// The equations in the space, in the modes of the symmetric part of its stiffness.
    fn finish(mut self) -> Result<Lowest, LinearError> {
        let symmetric = Symmetric::new(&self.identity(), &self.stiffness(), self.go_on)?;
        self.restart(&symmetric.shapes);
        let damping = self.of.damping(&self.basis);
        let soft = SOFT * symmetric.highest_square();
        let gross = self.basis.column_iter().zip(&symmetric.squares);
        let gross = gross.map(|(shape, square)| {
            // only what is next to nothing may be rounding
            if square.abs() <= soft {
                self.of.gross_work(&shape.into_owned())
            } else {
                square.abs()
            }
        });
        let gross: Vec<f64> = gross.collect();
        Ok(Lowest {
            damping: self.basis.tr_mul(&damping),
            stiffness: self.basis.tr_mul(&self.forces),
            gross: DVector::from_vec(gross),
            basis: self.basis,
        })
    }
}

/// Real columns that span the first modes, two for conjugate ones, with $`KX = MX\,T`$ of the whole of them.
fn real_pairs(spectrum: &Spectrum, count: usize) -> (DMatrix<f64>, DMatrix<f64>) {
    let all = spectrum.squares.len();
    let mut count = count.min(all);
    // conjugate ones stay together
    if count < all && spectrum.squares[count - 1].im > 0.0 {
        count += 1;
    }
    let mut shapes = DMatrix::zeros(spectrum.shapes.nrows(), count);
    let mut squares = DMatrix::zeros(count, count);
    for mode in 0..count {
        let square = spectrum.squares[mode];
        let shape = spectrum.shapes.column(mode);
        squares[(mode, mode)] = square.re;
        if square.im >= 0.0 {
            shapes.set_column(mode, &shape.map(|x| x.re));
        } else {
            shapes.set_column(mode, &spectrum.shapes.column(mode - 1).map(|x| x.im));
            squares[(mode, mode - 1)] = square.im;
            squares[(mode - 1, mode)] = -square.im;
        }
    }
    (shapes, squares)
}

/// Combinations of directions with these products that are orthonormal; none if all are nothing.
fn orthonormal(products: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let lengths = products.diagonal().map(|x| x.max(0.0).sqrt());
    let longest = lengths.max();
    if !(longest > 0.0 && longest.is_finite()) {
        return None;
    }
    let unit = lengths.map(|x| if x > 0.0 { 1.0 / x } else { 0.0 });
    let size = unit.len();
    let scaled = DMatrix::from_fn(size, size, |i, j| {
        unit[i] * 0.5 * (products[(i, j)] + products[(j, i)]) * unit[j]
    });
    let eigen = SymmetricEigen::new(scaled);
    let kept: Vec<usize> = (0..size)
        .filter(|&i| eigen.eigenvalues[i] > DEPENDENT * size as f64)
        .collect();
    let mut own = eigen.eigenvectors.select_columns(&kept);
    for (mut column, &i) in own.column_iter_mut().zip(&kept) {
        column /= eigen.eigenvalues[i].sqrt();
        column.component_mul_assign(&unit);
    }
    (!kept.is_empty()).then_some(own)
}

/// Motions of single coordinates, one per column.
pub(super) fn alone(size: usize, coordinates: &[usize]) -> DMatrix<f64> {
    let mut motions = DMatrix::zeros(size, coordinates.len());
    for (column, &row) in coordinates.iter().enumerate() {
        motions[(row, column)] = 1.0;
    }
    motions
}

fn append(to: &mut DMatrix<f64>, block: &DMatrix<f64>) {
    let before = to.ncols();
    let whole = std::mem::replace(to, DMatrix::zeros(0, 0));
    *to = whole.resize_horizontally(before + block.ncols(), 0.0);
    to.columns_range_mut(before..).copy_from(block);
}

/// Directions that no mode is orthogonal to: the same at every call.
fn scattered(size: usize, count: usize) -> DMatrix<f64> {
    // xorshift of Marsaglia, 2003
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    DMatrix::from_fn(size, count, |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

#[cfg(test)]
mod tests;
