//! Modes along a motion: natural frequencies (Jonker & Aarts (33)) and damping, followed by modal assurance so that
//! curves do not swap.

use nalgebra::{Complex, DMatrix, DVector};

use super::along::{Along, Terms};
use super::error::LinearError;
use super::modes::{DampedMode, UndampedModes, follow_modes};

/// Likeness above which a mode with damping is taken for the one without.
const SAME: f64 = 0.5;

/// A mode at one point of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeAt {
    /// $`\omega^2`$ without damping, negative for a mode that grows.
    pub square: f64,
    /// Eigenvalue with damping; none if no mode with damping is like this one.
    pub eigenvalue: Option<Complex<f64>>,
    /// Shape in the coordinates that were not held, with unit modal mass and the sign of the point before.
    pub shape: Vec<f64>,
    /// Modal assurance with the same mode at the point before; one at the first.
    pub likeness: f64,
}

impl ModeAt {
    /// Natural frequency in rad/s; none for a mode that grows.
    pub fn frequency(&self) -> Option<f64> {
        (self.square >= 0.0).then(|| self.square.sqrt())
    }

    /// Damping ratio; negative for a mode that grows.
    pub fn damping_ratio(&self) -> Option<f64> {
        let eigenvalue = self.eigenvalue.filter(|x| x.norm() > 0.0)?;
        Some(-eigenvalue.re / eigenvalue.norm())
    }
}

/// Modes of linearised equations along a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedModes {
    /// Instants.
    pub times: Vec<f64>,
    /// Degrees of freedom that were not held.
    pub coordinates: Vec<usize>,
    /// By rising frequency at the first instant; each with one entry per instant.
    pub modes: Vec<Vec<ModeAt>>,
    /// Whether frequencies are those without velocity terms. Where these are complex somewhere (flutter), all are those
    /// of the modes with velocity terms.
    pub natural: bool,
}

impl TrackedModes {
    /// The `count` lowest modes at the first point and what becomes of them, with `held` degrees of freedom at rest.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn new(
        along: &Along,
        held: &[usize],
        terms: Terms,
        count: usize,
    ) -> Result<Self, LinearError> {
        Self::followed(along, held, terms, count, true)
    }

    /// The same without eigenvalues with damping, at a fraction of the cost. Where frequencies are complex (flutter), all are
    /// those of the symmetric part of the stiffness, by size at every point: the other part changes squares of frequencies to second
    /// order only.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn undamped(
        along: &Along,
        held: &[usize],
        terms: Terms,
        count: usize,
    ) -> Result<Self, LinearError> {
        Self::followed(along, held, terms, count, false)
    }

    fn followed(
        along: &Along,
        held: &[usize],
        terms: Terms,
        count: usize,
        with_damping: bool,
    ) -> Result<Self, LinearError> {
        let all = along.labels().coordinates.len();
        let coordinates: Vec<usize> = (0..all).filter(|dof| !held.contains(dof)).collect();
        let size = coordinates.len();
        let pick = |matrix: &DMatrix<f64>| {
            DMatrix::from_fn(size, size, |i, j| matrix[(coordinates[i], coordinates[j])])
        };
        let count = count.min(size);
        let matrices = || {
            along.points().iter().map(|point| {
                (
                    pick(&point.linear.mass),
                    pick(&point.linear.damping),
                    pick(&point.stiffness(terms)),
                )
            })
        };
        let natural = |symmetric: bool| -> Result<Vec<_>, LinearError> {
            let modes = matrices().map(|(mass, damping, stiffness)| {
                let damping = with_damping.then_some(&damping);
                let stiffness = if symmetric {
                    (&stiffness + stiffness.transpose()) * 0.5
                } else {
                    stiffness
                };
                let modes = Found::natural(&mass, damping, &stiffness)?;
                Ok((mass, modes))
            });
            modes.collect()
        };
        let damped = || -> Result<Vec<_>, LinearError> {
            let modes = matrices().map(|(mass, damping, stiffness)| {
                let modes = Found::damped(&mass, &damping, &stiffness)?;
                Ok((mass, modes))
            });
            modes.collect()
        };
        let mut symmetric = false;
        let (natural, found) = match natural(false) {
            Err(LinearError::Flutter) if with_damping => (false, damped()?),
            Err(LinearError::Flutter) => {
                symmetric = true;
                (true, natural(true)?)
            }
            found => (true, found?),
        };
        let mut modes: Vec<Vec<ModeAt>> = vec![Vec::new(); count];
        let mut before: Option<DMatrix<f64>> = None;
        for (mass, found) in &found {
            let order: Vec<usize> = match &before {
                Some(before) if !symmetric => follow_modes(mass, before, &found.shapes),
                // by size they are continuous
                _ => (0..count).collect(),
            };
            let mut now = DMatrix::zeros(size, count);
            for (mode, &column) in order.iter().enumerate() {
                let column = column.min(found.squares.len() - 1);
                let mut shape: DVector<f64> = found.shapes.column(column).into_owned();
                let weighted = mass * &shape;
                let mut likeness = 1.0;
                if let Some(before) = &before {
                    let old = before.column(mode);
                    let product = old.dot(&weighted);
                    let old_size = (old.transpose() * mass * old)[(0, 0)];
                    likeness = product * product / (old_size * shape.dot(&weighted));
                    if product < 0.0 {
                        shape = -shape;
                    }
                }
                now.set_column(mode, &shape);
                modes[mode].push(ModeAt {
                    square: found.squares[column],
                    eigenvalue: found.eigenvalues[column],
                    shape: shape.as_slice().to_vec(),
                    likeness,
                });
            }
            before = Some(now);
        }
        Ok(Self {
            times: along.points().iter().map(|point| point.time).collect(),
            coordinates,
            modes,
            natural,
        })
    }

    /// Instant at which a mode is least like itself at the instant before, with that likeness; none for one instant.
    pub fn least_likeness(&self) -> Option<(f64, f64)> {
        let all = (self.modes.iter()).flat_map(|mode| mode.iter().zip(&self.times).skip(1));
        all.map(|(at, &time)| (time, at.likeness))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Modes at one point, by rising frequency.
struct Found {
    squares: Vec<f64>,
    eigenvalues: Vec<Option<Complex<f64>>>,
    shapes: DMatrix<f64>,
}

impl Found {
    /// Without velocity terms, each with the eigenvalue that it has with them.
    fn natural(
        mass: &DMatrix<f64>,
        damping: Option<&DMatrix<f64>>,
        stiffness: &DMatrix<f64>,
    ) -> Result<Self, LinearError> {
        let modes = UndampedModes::new(mass, stiffness)?;
        let damped = match damping {
            Some(damping) => DampedMode::all(mass, damping, stiffness)?,
            None => Vec::new(),
        };
        let eigenvalue = |shape| most_like(mass, &nalgebra::Matrix::into_owned(shape), &damped);
        Ok(Self {
            eigenvalues: modes.shapes.column_iter().map(eigenvalue).collect(),
            squares: modes.squares,
            shapes: modes.shapes,
        })
    }

    /// With velocity terms; shapes are seen when they are most real.
    fn damped(
        mass: &DMatrix<f64>,
        damping: &DMatrix<f64>,
        stiffness: &DMatrix<f64>,
    ) -> Result<Self, LinearError> {
        let modes = DampedMode::all(mass, damping, stiffness)?;
        let mut shapes = DMatrix::zeros(mass.nrows(), modes.len());
        for (column, mode) in modes.iter().enumerate() {
            let largest = mode.shape[mode.shape.icamax()];
            let phase = largest.conj() / largest.norm();
            let real = mode.shape.map(|x| (x * phase).re);
            let size = real.dot(&(mass * &real)).sqrt();
            shapes.set_column(column, &(real / size));
        }
        Ok(Self {
            squares: modes
                .iter()
                .map(|mode| mode.eigenvalue.norm_sqr())
                .collect(),
            eigenvalues: modes.iter().map(|mode| Some(mode.eigenvalue)).collect(),
            shapes,
        })
    }
}

/// Eigenvalue of the damped mode that is most like a shape.
fn most_like(
    mass: &DMatrix<f64>,
    shape: &DVector<f64>,
    modes: &[DampedMode],
) -> Option<Complex<f64>> {
    let weighted = mass * shape;
    let own = shape.dot(&weighted);
    let likeness = |mode: &DampedMode| {
        let (re, im) = (mode.shape.map(|x| x.re), mode.shape.map(|x| x.im));
        let product = re.dot(&weighted).powi(2) + im.dot(&weighted).powi(2);
        let size = re.dot(&(mass * &re)) + im.dot(&(mass * &im));
        product / (own * size)
    };
    modes
        .iter()
        .map(|mode| (likeness(mode), mode.eigenvalue))
        .filter(|(likeness, _)| *likeness > SAME)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, eigenvalue)| eigenvalue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Label, Labels, Linearization, Point};

    /// Closed form: a stiffness of unit matrix and a rotation has complex frequencies; its symmetric part has one, twice.
    #[test]
    fn flutter_leaves_the_symmetric_part() {
        let zero = DMatrix::zeros(2, 2);
        let point = Point {
            time: 0.0,
            position: vec![0.0; 2],
            velocity: vec![0.0; 2],
            linear: Linearization {
                mass: DMatrix::identity(2, 2),
                damping: zero.clone(),
                structural: DMatrix::identity(2, 2),
                dynamic: DMatrix::from_row_slice(2, 2, &[0.0, 0.3, -0.3, 0.0]),
                geometric: zero,
                input: DMatrix::zeros(2, 0),
            },
            input: Vec::new(),
            excitation: vec![0.0; 2],
            outputs: Vec::new(),
        };
        let label = |name: &str| Label::coordinate(name.to_owned(), "m", "m/s");
        let labels = Labels {
            coordinates: vec![label("x"), label("y")],
            inputs: Vec::new(),
            markers: Vec::new(),
        };
        let along = Along::new(labels, vec![point], Vec::new());
        let modes = TrackedModes::undamped(&along, &[], Terms::CASES[0], 2).unwrap();
        for mode in &modes.modes {
            assert!((mode[0].square - 1.0).abs() < 1e-14, "{}", mode[0].square);
        }
        assert!(
            !TrackedModes::new(&along, &[], Terms::CASES[0], 2)
                .unwrap()
                .natural
        );
    }
}
