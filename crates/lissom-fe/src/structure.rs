//! [`Structure`]: stiffness and mass over unknowns, whatever they come from, seen from a frame of reference.
//!
//! A free body has six rigid motions $`R`$, and its displacements are measured from a frame in which six functionals vanish, $`W^T x = 0`$
//! with $`R^T W = 1`$. A load is balanced by what holds that frame, $`f - W R^T f`$; whatever six unknowns are held to solve for it
//! carry nothing, and the frame is found again by $`x - R W^T x`$. With $`W`$ the mean of an interface the frame is tangent there, with $`W = M R`$ it is that
//! of mean axes, in which deformation has no momentum, and with displacements of two interfaces it lies on the chord between them. Where an interface moves as a rigid body its own six unknowns are held, and nothing has to be
//! balanced.

use nalgebra::{Matrix6, Vector6};

use crate::FeError;
use crate::cholesky::Cholesky;
use crate::modes::dot;

/// A linear function of the unknowns: unknowns and factors.
pub(crate) type Functional = Vec<(usize, f64)>;

/// Displacements along x, y, z and rotations about them of a frame.
pub(crate) type Frame = [Functional; 6];

/// Share of a load that is rounding beside what holds the frame of reference.
const BALANCED: f64 = 1e-9;

/// A matrix, by what it makes of a vector.
type Product<'m> = dyn Fn(&[f64]) -> Vec<f64> + 'm;

/// Stiffness and mass over unknowns.
pub(crate) struct Structure<'m> {
    pub(crate) unknowns: usize,
    /// Frames of the interfaces.
    pub(crate) frames: Vec<Frame>,
    rigid: Vec<Vec<f64>>,
    /// Unknowns that are left out of the factor.
    held: [usize; 6],
    factor: Cholesky,
    mass: Box<Product<'m>>,
    /// $`W`$; none if the held unknowns are those of the first frame.
    reference: Option<Vec<Vec<f64>>>,
    /// Whether the first interface moves in the frame.
    floats: bool,
}

impl<'m> Structure<'m> {
    /// A structure whose frame is tangent at its first interface; `factorise` is told which unknowns are held.
    ///
    /// # Errors
    /// If the structure cannot be held by its first interface.
    pub(crate) fn new(
        frames: Vec<Frame>,
        rigid: Vec<Vec<f64>>,
        mass: impl Fn(&[f64]) -> Vec<f64> + 'm,
        factorise: impl FnOnce(&[usize]) -> Result<Cholesky, FeError>,
    ) -> Result<Self, FeError> {
        let own: Vec<usize> = (frames[0].iter())
            .filter_map(|functional| match functional[..] {
                [(unknown, _)] => Some(unknown),
                _ => None,
            })
            .collect();
        let (held, is_tied) = match <[usize; 6]>::try_from(own) {
            Ok(own) => (own, true),
            Err(_) => (independent(&rigid), false),
        };
        let mut structure = Self {
            unknowns: rigid[0].len(),
            factor: factorise(&held)?,
            frames,
            rigid,
            held,
            mass: Box::new(mass),
            reference: None,
            floats: false,
        };
        if !is_tied {
            let conditions: Vec<Vec<f64>> = (structure.frames[0].iter())
                .map(|functional| structure.load(functional))
                .collect();
            structure.reference = Some(structure.balanced(&conditions));
        }
        Ok(structure)
    }

    /// Measures displacements from mean axes from now on.
    pub(crate) fn take_mean_axes(&mut self) {
        let conditions: Vec<Vec<f64>> = self.rigid.iter().map(|r| self.times_mass(r)).collect();
        self.reference = Some(self.balanced(&conditions));
        self.floats = true;
    }

    /// Measures displacements from now on from the frame in which six displacements and rotations of interfaces vanish, which no rigid motion
    /// leaves at rest together.
    pub(crate) fn take_axes(&mut self, conditions: &[Functional; 6]) {
        let conditions: Vec<Vec<f64>> = (conditions.iter())
            .map(|functional| self.load(functional))
            .collect();
        self.reference = Some(self.balanced(&conditions));
        self.floats = true;
    }

    /// A rigid motion: displacements along x, y, z, then rotations about these axes through the origin.
    pub(crate) fn rigid_motion(&self, index: usize) -> &[f64] {
        &self.rigid[index]
    }

    /// Forces of inertia under unit linear accelerations along x, y, z, then under angular ones about the first interface.
    pub(crate) fn inertia_loads(&self) -> Vec<Vec<f64>> {
        let about_first = |motion: usize| {
            let mut turned = self.rigid[motion].clone();
            for (along, functional) in self.frames[0][..3].iter().enumerate() {
                let moved = value(functional, &self.rigid[motion]);
                subtract(&mut turned, moved, &self.rigid[along]);
            }
            self.times_mass(&turned)
        };
        let linear = self.rigid[..3].iter().map(|own| self.times_mass(own));
        linear.chain((3..6).map(about_first)).collect()
    }

    /// Numbers that the factor holds.
    pub(crate) fn factor_entries(&self) -> usize {
        self.factor.entries()
    }

    /// Unknowns that deform the structure.
    pub(crate) fn deformations(&self) -> usize {
        self.unknowns - self.held.len()
    }

    /// The first frame that moves: all if the frame of reference is not tangent at the first, all but this one otherwise.
    pub(crate) fn first_moving(&self) -> usize {
        usize::from(!self.floats)
    }

    /// The frame of an interface, if it moves.
    pub(crate) fn moving_frame(&self, interface: usize) -> Option<&Frame> {
        (interface >= self.first_moving()).then(|| &self.frames[interface])
    }

    /// The static responses to loads, seen from the frame of reference.
    pub(crate) fn solve(&self, loads: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let right = |load: &Vec<f64>| {
            let mut right = self.deforming(load);
            for &unknown in &self.held {
                right[unknown] = 0.0;
            }
            right
        };
        let rights: Vec<Vec<f64>> = loads.iter().map(right).collect();
        let mut responses = self.factor.solve(&rights);
        for response in &mut responses {
            self.seen(response);
        }
        responses
    }

    /// A load with what holds the frame of reference against it.
    fn deforming(&self, load: &[f64]) -> Vec<f64> {
        let mut left = load.to_vec();
        if let Some(reference) = &self.reference {
            for (w, r) in reference.iter().zip(&self.rigid) {
                subtract(&mut left, dot(r, load), w);
            }
        }
        left
    }

    /// Whether a load deforms the structure, and is not just what holds its frame of reference.
    pub(crate) fn is_deformed_by(&self, load: &[f64]) -> bool {
        let size = |load: &[f64]| load.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        size(&self.deforming(load)) > BALANCED * size(load)
    }

    /// Takes the motion of the frame of reference out of a displacement.
    pub(crate) fn seen(&self, x: &mut [f64]) {
        if let Some(reference) = &self.reference {
            let moved: Vec<f64> = reference.iter().map(|w| dot(w, x)).collect();
            for (r, moved) in self.rigid.iter().zip(moved) {
                subtract(x, moved, r);
            }
        }
    }

    pub(crate) fn times_mass(&self, x: &[f64]) -> Vec<f64> {
        (self.mass)(x)
    }

    /// The load that a functional is: forces and moments of one on a frame.
    pub(crate) fn load(&self, functional: &[(usize, f64)]) -> Vec<f64> {
        let mut load = vec![0.0; self.unknowns];
        for &(unknown, factor) in functional {
            load[unknown] += factor;
        }
        load
    }

    /// Loads of one on every frame that moves, frame by frame.
    pub(crate) fn frame_loads(&self) -> Vec<Vec<f64>> {
        let moving = self.frames[self.first_moving()..].iter().flatten();
        moving.map(|functional| self.load(functional)).collect()
    }

    /// $`B (R^T B)^{-1}`$ of six conditions.
    fn balanced(&self, conditions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let gram = Matrix6::from_fn(|i, j| dot(&self.rigid[i], &conditions[j]));
        let lu = gram.lu();
        let column = |k: usize| {
            let mut unit = Vector6::zeros();
            unit[k] = 1.0;
            // six conditions that hold a body are independent on its rigid motions
            let factors = lu.solve(&unit).unwrap_or(unit);
            let mut w = vec![0.0; self.unknowns];
            for (condition, factor) in conditions.iter().zip(factors.iter()) {
                subtract(&mut w, -factor, condition);
            }
            w
        };
        (0..6).map(column).collect()
    }
}

/// The value of a functional.
pub(crate) fn value(functional: &[(usize, f64)], x: &[f64]) -> f64 {
    functional.iter().map(|&(u, factor)| factor * x[u]).sum()
}

/// `x −= factor y`.
pub(crate) fn subtract(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= factor * y;
    }
}

/// Six unknowns that no rigid motion leaves at rest together: the rows of the rigid motions that are furthest from those taken before.
fn independent(rigid: &[Vec<f64>]) -> [usize; 6] {
    let scale: Vec<f64> = (rigid.iter())
        .map(|r| r.iter().fold(0.0, |most: f64, x| most.max(x.abs())))
        .collect();
    let mut rows: Vec<Vector6<f64>> = (0..rigid[0].len())
        .map(|u| Vector6::from_fn(|k, _| rigid[k][u] / scale[k]))
        .collect();
    std::array::from_fn(|_| {
        let longest = |(best, most): (usize, f64), (u, row): (usize, &Vector6<f64>)| {
            let length = row.norm_squared();
            if length > most {
                (u, length)
            } else {
                (best, most)
            }
        };
        let (taken, _) = rows.iter().enumerate().fold((0, 0.0), longest);
        let direction = rows[taken].normalize();
        for row in &mut rows {
            *row -= direction * direction.dot(row);
        }
        taken
    })
}
