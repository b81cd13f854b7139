//! Linearised equations between the points of a motion.
//!
//! Entries of mass matrices must not be interpolated where a light beam carries a heavy load: of a motion of the beam that leaves
//! the load where it is, $`M`$ keeps the small inertia of the beam as the difference of entries that hold the load. An error of a
//! thousandth in these is an error of hundreds in the difference: frequencies become wrong, and vibrations grow that do not. What is
//! interpolated by cubics is therefore the factor $`L`$ of $`M = LL^T`$, in which the inertia of the beam is an entry by itself.
//! Velocity terms and stiffening contain the load as well, on the side of the forces: $`L^{-1}C`$ and $`L^{-1}(N_0 + G_0)`$ are
//! interpolated, which are accelerations. The structural stiffness, constant but for loops, and what drives the deviations, which
//! vanishes at joints that nothing drives, are interpolated as they are. With $`f`$ what drives and feeds back,
//!
//! ```math
//! L\,\bigl(L^T\ddot q + (L^{-1}C)\,\dot q + L^{-1}(N_0 + G_0)\,q\bigr) = f - K_0\,q .
//! ```
//!
//! A factor is as smooth as its matrix unless a pivot that holds a load all but vanishes, as where an arm passes a singular
//! configuration. Between points whose factors say something else than their matrices, the entries of all matrices are interpolated, linearly:
//! the mass matrix stays definite.

use nalgebra::{Cholesky, DMatrix};

use super::error::LinearError;
use super::trajectory::{LinearizedTrajectory, Terms};
use super::weights::Weights;

/// How far a mass matrix from interpolated factors may be off the interpolated one halfway, against the inertias of both coordinates.
/// Both are exact to fourth order; where a factor is not smooth they differ by all of it.
const SAME: f64 = 0.1;

/// $`L`$, $`L^{-1}C`$ and $`L^{-1}(N_0 + G_0)`$ at the points, and what they are at an instant between.
#[derive(Debug)]
pub(super) struct Between<'a> {
    trajectory: &'a LinearizedTrajectory,
    factors: Vec<DMatrix<f64>>,
    velocity: Vec<DMatrix<f64>>,
    stiffening: Vec<DMatrix<f64>>,
    /// Whether factors are interpolated between a point and the next.
    smooth: Vec<bool>,
    terms: Terms,
    weights: Weights,
    by_factors: bool,
    /// $`L`$ at the instant of the weights.
    factor: DMatrix<f64>,
}

impl<'a> Between<'a> {
    /// # Errors
    ///
    /// When a mass matrix along the motion is singular.
    pub(super) fn new(
        trajectory: &'a LinearizedTrajectory,
        terms: Terms,
    ) -> Result<Self, LinearError> {
        let count = trajectory.points().len();
        let mut factors = Vec::with_capacity(count);
        let mut velocity = Vec::with_capacity(count);
        let mut stiffening = Vec::with_capacity(count);
        for point in trajectory.points() {
            let singular = LinearError::SingularMass { time_s: point.time };
            let factor = Cholesky::new(point.linear.mass.clone()).ok_or(singular.clone())?;
            let factor = factor.unpack();
            let mut damping = point.linear.damping.clone();
            let mut stiffness = point.stiffness(terms) - &point.linear.structural;
            if !(factor.solve_lower_triangular_mut(&mut damping)
                && factor.solve_lower_triangular_mut(&mut stiffness))
            {
                return Err(singular);
            }
            factors.push(factor);
            velocity.push(damping);
            stiffening.push(stiffness);
        }
        let dofs = factors.first().map_or(0, DMatrix::nrows);
        let smooth = (0..count).map(|index| are_smooth(trajectory, &factors, index));
        Ok(Self {
            smooth: smooth.collect(),
            terms,
            by_factors: true,
            trajectory,
            factors,
            velocity,
            stiffening,
            weights: Weights::default(),
            factor: DMatrix::zeros(dofs, dofs),
        })
    }

    /// Goes to an instant.
    pub(super) fn set(&mut self, time: f64) {
        self.by_factors = self.smooth[self.trajectory.interval(time)];
        if self.by_factors {
            self.weights = self.trajectory.cubic(time);
            let factors = &self.factors;
            blend(self.weights, |point| &factors[point], &mut self.factor);
            return;
        }
        self.weights = self.trajectory.linear(time);
        let points = self.trajectory.points();
        let mut mass = std::mem::take(&mut self.factor);
        blend(self.weights, |point| &points[point].linear.mass, &mut mass);
        let size = mass.nrows();
        // what is not definite leaves no numbers, which the integrator tells
        self.factor = Cholesky::new(mass).map_or_else(
            || DMatrix::from_element(size, size, f64::NAN),
            Cholesky::unpack,
        );
    }

    /// Replaces forces by accelerations. Allocates nothing.
    pub(super) fn accelerate(&self, position: &[f64], velocity: &[f64], force: &mut [f64]) {
        self.add_forces(-1.0, position, velocity, force);
        self.divide_by_factor(force);
        self.add_relative(-1.0, position, velocity, force);
        self.divide_by_transposed(force);
    }

    /// Writes what the accelerations and the equations leave of forces, $`M\ddot q + C\dot q + Kq - f`$.
    pub(super) fn residual(
        &self,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        force: &[f64],
        [relative, residual]: [&mut [f64]; 2],
    ) {
        let columns = self.factor.as_slice().chunks_exact(force.len().max(1));
        for (relative, column) in relative.iter_mut().zip(columns) {
            let products = column.iter().zip(acceleration);
            *relative = products.map(|(entry, x)| entry * x).sum();
        }
        self.add_relative(1.0, position, velocity, relative);
        for (residual, force) in residual.iter_mut().zip(force) {
            *residual = -force;
        }
        self.add_forces(1.0, position, velocity, residual);
        add_product(&self.factor, 1.0, relative, residual);
    }

    /// Writes the mass matrix into the first rows and columns of one with rows of a length.
    pub(super) fn mass(&self, mass: &mut [f64], length: usize) {
        let product = &self.factor * self.factor.transpose();
        let size = product.nrows();
        let rows = mass.chunks_exact_mut(length.max(1));
        // symmetric: columns are rows
        for (row, own) in rows.zip(product.as_slice().chunks_exact(size.max(1))) {
            row[..size].copy_from_slice(own);
        }
    }

    /// Adds a multiple of $`K_0 q`$, and of the other terms too where they are not interpolated with the factors.
    fn add_forces(&self, factor: f64, position: &[f64], velocity: &[f64], sum: &mut [f64]) {
        for (point, weight) in self.weights.iter() {
            let linear = &self.trajectory.points()[point].linear;
            add_product(&linear.structural, factor * weight, position, sum);
            if self.by_factors {
                continue;
            }
            add_product(&linear.damping, factor * weight, velocity, sum);
            if self.terms.dynamic {
                add_product(&linear.dynamic, factor * weight, position, sum);
            }
            if self.terms.geometric {
                add_product(&linear.geometric, factor * weight, position, sum);
            }
        }
    }

    /// Adds a multiple of $`(L^{-1}C)\,\dot q + L^{-1}(N_0 + G_0)\,q`$ where that is interpolated.
    fn add_relative(&self, factor: f64, position: &[f64], velocity: &[f64], sum: &mut [f64]) {
        if !self.by_factors {
            return;
        }
        for (point, weight) in self.weights.iter() {
            add_product(&self.velocity[point], factor * weight, velocity, sum);
            add_product(&self.stiffening[point], factor * weight, position, sum);
        }
    }

    /// $`L^{-1}`$ times a vector, in its place.
    fn divide_by_factor(&self, vector: &mut [f64]) {
        let size = vector.len();
        for j in 0..size {
            let column = &self.factor.as_slice()[j * size..(j + 1) * size];
            let (before, after) = vector.split_at_mut(j + 1);
            before[j] /= column[j];
            for (x, entry) in after.iter_mut().zip(&column[j + 1..]) {
                *x -= entry * before[j];
            }
        }
    }

    /// $`L^{-T}`$ times a vector, in its place.
    fn divide_by_transposed(&self, vector: &mut [f64]) {
        let size = vector.len();
        for j in (0..size).rev() {
            let column = &self.factor.as_slice()[j * size..(j + 1) * size];
            let (before, after) = vector.split_at_mut(j + 1);
            let known = column[j + 1..].iter().zip(&*after);
            let known: f64 = known.map(|(entry, x)| entry * x).sum();
            before[j] = (before[j] - known) / column[j];
        }
    }
}

/// Whether factors between a point and the next say what the matrices say.
fn are_smooth(trajectory: &LinearizedTrajectory, factors: &[DMatrix<f64>], index: usize) -> bool {
    let points = trajectory.points();
    let Some(next) = points.get(index + 1) else {
        return true;
    };
    let weights = trajectory.cubic(points[index].time.midpoint(next.time));
    let size = factors[index].nrows();
    let [mut factor, mut mass] = [(); 2].map(|()| DMatrix::zeros(size, size));
    blend(weights, |point| &factors[point], &mut factor);
    blend(weights, |point| &points[point].linear.mass, &mut mass);
    let own = &factor * factor.transpose();
    (0..size).all(|i| {
        (0..=i).all(|j| {
            let scale = (mass[(i, i)] * mass[(j, j)]).sqrt();
            (own[(i, j)] - mass[(i, j)]).abs() <= SAME * scale
        })
    })
}

/// Writes the weighted sum of matrices of points.
fn blend<'m>(weights: Weights, of: impl Fn(usize) -> &'m DMatrix<f64>, sum: &mut DMatrix<f64>) {
    sum.fill(0.0);
    for (point, weight) in weights.iter() {
        for (sum, &entry) in sum.iter_mut().zip(of(point)) {
            *sum += weight * entry;
        }
    }
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
    use super::super::linearization::{Labels, Linearization};
    use super::super::loops::Actuation;
    use super::super::trajectory::{ChosenCoordinates, Point, SensorRows};
    use super::*;

    /// Two coordinates that carry a load along a direction that turns: $`M = m + M_l\,j j^T`$ with $`j = (\cos t, \sin t)`$, and
    /// the load's velocity terms $`2M_l\,j\dot j^T`$.
    fn carried(load: f64, times: impl Iterator<Item = f64>) -> LinearizedTrajectory {
        let point = |time: f64| {
            let direction = DMatrix::from_column_slice(2, 1, &[time.cos(), time.sin()]);
            let rate = DMatrix::from_column_slice(2, 1, &[-time.sin(), time.cos()]);
            let none = DMatrix::zeros(2, 2);
            Point {
                time,
                position: vec![0.0; 2],
                velocity: vec![0.0; 2],
                linear: Linearization {
                    mass: DMatrix::identity(2, 2) + &direction * direction.transpose() * load,
                    damping: &direction * rate.transpose() * (2.0 * load),
                    structural: DMatrix::identity(2, 2) * 3.0,
                    dynamic: none.clone(),
                    geometric: none,
                    input: DMatrix::zeros(2, 0),
                    loops: None,
                },
                input: Vec::new(),
                excitation: vec![0.0; 2],
                outputs: Vec::new(),
                sensors: SensorRows::constant(Vec::new(), 2),
                joints: Vec::new(),
                actuation: Actuation::default(),
                dependence: None,
            }
        };
        let points = times.map(point).collect();
        LinearizedTrajectory::new(Labels::default(), points, ChosenCoordinates::default())
    }

    /// Closed form: across the direction of the load only the light part accelerates, by force over its own mass, whatever the load;
    /// the velocity terms of the load do not act there. Entries of the matrices, interpolated by cubics, are off by hundreds.
    #[test]
    fn heavy_loads_leave_light_parts_light() {
        /// Cubics over a tenth of a radian, and the load counts by the square root of its ratio in factors.
        const CLOSE: f64 = 1e-3;
        let trajectory = carried(1e8, (0..9).map(|i| 0.1 * f64::from(i)));
        let mut between = Between::new(&trajectory, Terms::CASES[0]).unwrap();
        for time in [0.05_f64, 0.23, 0.45, 0.71, 0.8] {
            between.set(time);
            let across = [-time.sin(), time.cos()];
            let mut found = across;
            between.accelerate(&[0.0; 2], &across, &mut found);
            let along: f64 = found.iter().zip(across).map(|(a, b)| a * b).sum();
            assert!((along - 1.0).abs() < CLOSE, "{along} at {time}");
        }
    }

    /// Identity: accelerations leave no residual, between factors and, where the pivot that holds the load vanishes, between entries;
    /// the mass matrix is the derivative of the residual.
    #[test]
    fn accelerations_leave_no_residual() {
        // of forces of some hundred
        const ROUNDING: f64 = 1e-10;
        let trajectory = carried(1e2, (0..9).map(|i| 0.4 * f64::from(i)));
        let mut between = Between::new(&trajectory, Terms::CASES[0]).unwrap();
        assert!(between.smooth.contains(&true) && between.smooth.contains(&false));
        let (position, velocity, force) = ([0.3, -0.2], [0.5, 0.7], [1.0, 2.0]);
        for time in (0..32).map(|i| 0.1 * f64::from(i)) {
            between.set(time);
            let mut acceleration = force;
            between.accelerate(&position, &velocity, &mut acceleration);
            let residual = |acceleration: &[f64]| {
                let mut residual = [0.0; 2];
                let places = [&mut [0.0; 2][..], &mut residual];
                between.residual(&position, &velocity, acceleration, &force, places);
                residual
            };
            let left = residual(&acceleration);
            assert!(left.iter().all(|x| x.abs() < ROUNDING), "{left:?}");
            let mut mass = [0.0; 4];
            between.mass(&mut mass, 2);
            let other = residual(&[acceleration[0] + 1.0, acceleration[1]]);
            for row in 0..2 {
                assert!((other[row] - left[row] - mass[row]).abs() < ROUNDING);
            }
        }
    }

    /// A direction without inertia is told with its instant.
    #[test]
    fn what_has_no_inertia_is_told() {
        let mut points = carried(1.0, [0.0, 0.5].into_iter()).points().to_vec();
        points[1].linear.mass.fill(0.0);
        let trajectory =
            LinearizedTrajectory::new(Labels::default(), points, ChosenCoordinates::default());
        assert_eq!(
            Between::new(&trajectory, Terms::CASES[0]).err(),
            Some(LinearError::SingularMass { time_s: 0.5 })
        );
    }
}
