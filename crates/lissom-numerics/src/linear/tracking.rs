//! Modes along a motion: natural frequencies (Jonker & Aarts (33)), damping and shapes, followed so that curves do not swap.

use nalgebra::{Complex, DMatrix, DVector};

use super::along::Terms;
use super::assignment::assign;
use super::error::LinearError;
use super::following::{Crossing, Interval, Numbered};
use super::frozen::{Frozen, Pencil};
use super::modes::DampedMode;
use super::spectrum::Spectrum;

/// Part of a mode with damping that has to be of a mode without, for its eigenvalue to be the same mode's.
const SAME: f64 = 0.5;
/// Frequencies whose squares differ by a smaller share have no shapes of their own.
const EQUAL: f64 = 1e-7;

/// A mode at one point of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeAt {
    /// $`\omega^2`$ without velocity terms: negative for a mode that grows without oscillating, complex for one that flutters.
    pub square: Complex<f64>,
    /// Eigenvalue with velocity terms; none if no mode with them is like this one, or if they were left out.
    pub eigenvalue: Option<Complex<f64>>,
    /// Shape in the coordinates that were not held, with unit modal mass and the sign of the point before. A shape that
    /// flutters is seen when it is most like the one before.
    pub shape: Vec<f64>,
    /// Modal assurance with the same mode at the point before; one at the first.
    pub mac: f64,
}

impl ModeAt {
    /// Natural frequency in rad/s, $`\mathrm{Re}\,\omega`$; none for a mode that grows without oscillating.
    pub fn frequency(&self) -> Option<f64> {
        (self.square.im != 0.0 || self.square.re >= 0.0).then(|| self.square.sqrt().re)
    }

    /// $`|\mathrm{Im}\,\omega|`$, the rate at which a mode grows without velocity terms; zero for one that only oscillates.
    pub fn growth(&self) -> f64 {
        self.square.sqrt().im.abs()
    }

    /// Damping ratio; negative for a mode that grows.
    pub fn damping_ratio(&self) -> Option<f64> {
        let eigenvalue = self.eigenvalue.filter(|x| x.norm() > 0.0)?;
        Some(-eigenvalue.re / eigenvalue.norm())
    }
}

/// Modes that met between two instants, so that something about their numbers is a convention.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// Where the squares meet, or the later of the instants.
    pub time: f64,
    /// Modes, by their places in [`TrackedModes::modes`]; one alone if it met modes beyond those followed.
    pub modes: Vec<usize>,
    /// What happened.
    pub kind: Crossing,
}

/// Modes of linearised equations along a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedModes {
    /// Instants.
    pub times: Vec<f64>,
    /// Coordinates that were not held, those that depend on others among them.
    pub coordinates: Vec<usize>,
    /// Coordinates that move a floating mechanism as a whole, at no frequency; the modes are those without momentum.
    pub rigid: Vec<usize>,
    /// By rising frequency at the first instant; each with one entry per instant.
    pub modes: Vec<Vec<ModeAt>>,
    /// Where following modes is not defined, by rising instants.
    pub encounters: Vec<Encounter>,
}

impl TrackedModes {
    /// The `count` lowest modes at the first point and what becomes of them.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn new(frozen: &Frozen, terms: Terms, count: usize) -> Result<Self, LinearError> {
        Self::followed(frozen, terms, count, true)
    }

    /// The same without eigenvalues with velocity terms, at a fraction of the cost.
    ///
    /// # Errors
    /// When there are no modes at some point.
    pub fn undamped(frozen: &Frozen, terms: Terms, count: usize) -> Result<Self, LinearError> {
        Self::followed(frozen, terms, count, false)
    }

    fn followed(
        frozen: &Frozen,
        terms: Terms,
        count: usize,
        with_damping: bool,
    ) -> Result<Self, LinearError> {
        let mut encounters = Vec::new();
        let mut numbered: Vec<Numbered> = Vec::with_capacity(frozen.points.len());
        let mut pencils: Vec<Pencil> = Vec::with_capacity(frozen.points.len());
        for (at, point) in frozen.points.iter().enumerate() {
            let pencil = Pencil::new(frozen, point, terms)?;
            let spectrum = Spectrum::new(&pencil.mass, &pencil.stiffness)?;
            let now = match (numbered.pop(), pencils.last()) {
                (Some(before), Some(old)) => {
                    let count = count.min(before.squares.len());
                    let change = change(old, &pencil, &point.inertia)?;
                    let (after, spectrum) = change.onto_before(&pencil, spectrum)?;
                    let interval = Interval {
                        before: old,
                        after: &after,
                        count,
                        first: at == 1,
                    };
                    let (mut now, before, met) = interval.follow(before, spectrum)?;
                    numbered.push(before);
                    now.shapes = change.onto_after(now.shapes);
                    let start = frozen.points[at - 1].time;
                    encounters.extend(met.into_iter().map(|met| Encounter {
                        time: start + met.share * (point.time - start),
                        modes: met.modes.into_iter().filter(|&i| i < count).collect(),
                        kind: met.kind,
                    }));
                    now
                }
                _ => Numbered {
                    squares: spectrum.squares,
                    shapes: spectrum.shapes,
                },
            };
            numbered.push(now);
            pencils.push(pencil);
        }
        let coordinates = frozen.free();
        let count = count.min(numbered.first().map_or(0, |first| first.squares.len()));
        let mut modes: Vec<Vec<ModeAt>> = vec![Vec::new(); count];
        let mut before: Option<DMatrix<f64>> = None;
        for ((point, pencil), found) in frozen.points.iter().zip(&pencils).zip(&numbered) {
            let eigenvalues = if with_damping {
                let damped = DampedMode::all(&pencil.mass, &pencil.damping, &pencil.stiffness)?;
                eigenvalues(&pencil.mass, found, &damped)
            } else {
                vec![None; found.squares.len()]
            };
            let mut now = DMatrix::zeros(frozen.coordinates.len(), count);
            for mode in 0..count {
                let shape = pencil.basis.map(|x| Complex::new(x, 0.0)) * found.shapes.column(mode);
                let old = before
                    .as_ref()
                    .map(|before| before.column(mode).into_owned());
                let (shape, mac) = seen(&shape, old.as_ref(), &point.inertia);
                modes[mode].push(ModeAt {
                    square: found.squares[mode],
                    eigenvalue: eigenvalues[mode],
                    shape: coordinates.iter().map(|&dof| shape[dof]).collect(),
                    mac,
                });
                now.set_column(mode, &shape);
            }
            before = Some(now);
        }
        Ok(Self {
            times: frozen.points.iter().map(|point| point.time).collect(),
            coordinates,
            rigid: frozen.rigid.clone(),
            modes,
            encounters,
        })
    }
}

/// Coordinates of a point in those of the point before; none where they are the same.
struct Change(Option<DMatrix<f64>>);

/// What moves most like a coordinate of the point before, in the mass of the point.
fn change(old: &Pencil, new: &Pencil, inertia: &DMatrix<f64>) -> Result<Change, LinearError> {
    if old.basis == new.basis {
        return Ok(Change(None));
    }
    let right = new.basis.transpose() * (inertia * &old.basis);
    let factor = new.mass.clone().cholesky().ok_or(LinearError::NoModes {
        reason: "mass matrix is not positive definite; give every motion inertia",
    })?;
    Ok(Change(Some(factor.solve(&right))))
}

impl Change {
    /// Matrices and modes in the coordinates of the point before.
    fn onto_before(
        &self,
        pencil: &Pencil,
        spectrum: Spectrum,
    ) -> Result<(Pencil, Spectrum), LinearError> {
        let Some(change) = &self.0 else {
            return Ok((pencil.clone(), spectrum));
        };
        let project = |matrix: &DMatrix<f64>| change.transpose() * matrix * change;
        let complex = change.map(|x| Complex::new(x, 0.0));
        let shapes = (complex.lu().solve(&spectrum.shapes)).ok_or(LinearError::NoModes {
            reason: "the mechanism changes altogether between two instants; take more of them",
        })?;
        let pencil = Pencil {
            mass: project(&pencil.mass),
            damping: project(&pencil.damping),
            stiffness: project(&pencil.stiffness),
            basis: pencil.basis.clone() * change,
        };
        Ok((pencil, Spectrum { shapes, ..spectrum }))
    }

    fn onto_after(&self, shapes: DMatrix<Complex<f64>>) -> DMatrix<Complex<f64>> {
        match &self.0 {
            Some(change) => change.map(|x| Complex::new(x, 0.0)) * shapes,
            None => shapes,
        }
    }
}

/// A shape when it is most like the one before, or most real, with unit modal mass; and its modal assurance.
fn seen(
    shape: &DVector<Complex<f64>>,
    before: Option<&DVector<f64>>,
    inertia: &DMatrix<f64>,
) -> (DVector<f64>, f64) {
    let [re, im] = [shape.map(|x| x.re), shape.map(|x| x.im)];
    let largest = shape[shape.icamax()];
    let weighted = before.map(|before| inertia * before);
    let toward = match &weighted {
        Some(weighted) => Complex::new(re.dot(weighted), im.dot(weighted)),
        None => largest,
    };
    let toward = if toward.norm() > 0.0 { toward } else { largest };
    let phase = toward.conj() / toward.norm();
    let real = re * phase.re - im * phase.im;
    let real = &real / real.dot(&(inertia * &real)).sqrt();
    let mac = match (before, weighted) {
        (Some(before), Some(weighted)) => real.dot(&weighted).powi(2) / before.dot(&weighted),
        _ => 1.0,
    };
    (real, mac)
}

/// Eigenvalues with velocity terms of the modes without: each the mode that is made of it most, together as much as can be.
fn eigenvalues(
    mass: &DMatrix<f64>,
    modes: &Numbered,
    damped: &[DampedMode],
) -> Vec<Option<Complex<f64>>> {
    let size = modes.squares.len();
    let mass = mass.map(|x| Complex::new(x, 0.0));
    let sizes: Vec<f64> = (modes.shapes.column_iter())
        .map(|shape| shape.dotc(&(&mass * shape)).re)
        .collect();
    let factor = modes.shapes.clone().lu();
    let mut part = DMatrix::zeros(size, damped.len().max(size));
    for (column, mode) in damped.iter().enumerate() {
        let Some(parts) = factor.solve(&mode.shape) else {
            return vec![None; size];
        };
        let parts: Vec<f64> = (parts.iter().zip(&sizes))
            .map(|(x, size)| x.norm_sqr() * size)
            .collect();
        let sum: f64 = parts.iter().sum();
        for (row, value) in parts.into_iter().enumerate() {
            part[(row, column)] = value / sum;
        }
    }
    // equal frequencies are each made of all of them
    let same = |a: Complex<f64>, b: Complex<f64>| (a - b).norm() <= EQUAL * a.norm().max(b.norm());
    let mac = |row: usize, column: usize| -> f64 {
        let own = modes.squares[row];
        let equal = (0..size).filter(|&k| same(own, modes.squares[k]));
        equal.map(|k| part[(k, column)]).sum()
    };
    let together = DMatrix::from_fn(size, part.ncols(), mac);
    // a little of the own part, so that equal frequencies keep to themselves
    let places = assign(&(&together + &part * EQUAL));
    let found = places.iter().enumerate().map(|(row, &column)| {
        let likely = together[(row, column)] > SAME;
        (damped.get(column).filter(|_| likely)).map(|mode| mode.eigenvalue)
    });
    found.collect()
}
