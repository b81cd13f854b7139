//! Second-order displacements of a reduced body, $`\tfrac12\sum h_{\alpha\beta}\eta_\alpha\eta_\beta`$, by the work of loads on them.
//!
//! A body that is deformed by $`\Psi\eta`$ finds its balance at $`\Psi\eta + r_2`$, and its energy is $`\tfrac16 K'''(\Psi\eta)^3`$ beyond the quadratic one. With
//! the part of a load's static response that the basis lacks, $`u_\perp = (K^{-1} - \Psi\Lambda^{-1}\Psi^T) f`$, Betti's theorem gives
//!
//! ```math
//! f \cdot h_{\alpha\beta} = -K'''(u_\perp, \psi_\alpha, \psi_\beta) ,
//! ```
//!
//! so that one static solution per load does what one per pair of shapes would. What lies in the basis is cubic strain energy; it has no lower
//! bound, and with a shape that stretches among others that bend it would let a slender link run away once it bends further than it is thick.
//! Coordinates that measure true deformation have none: $`\eta_\delta \to \eta_\delta + \tfrac12\sum c_{\delta\alpha\beta}\eta_\alpha\eta_\beta`$ removes it with
//!
//! ```math
//! c_{\delta\alpha\beta} = -\frac{w_\delta}{\lambda_\delta} K'''(\psi_\delta, \psi_\alpha, \psi_\beta) , \qquad
//! w_\delta = \frac{\lambda_\delta^2}{\lambda_\delta^2 + \lambda_\alpha^2 + \lambda_\beta^2} ,
//! ```
//!
//! the stiffest of three shapes giving way, as the stretch of a beam does to its bending. $`\Psi c`$ is then part of $`h`$, and the strain
//! energy stays $`\tfrac12\eta^T\Lambda\eta`$.

use nalgebra::{DMatrix, Matrix3};

use crate::FeError;
use crate::finite_elements::{Field, FiniteElements, second_order_work};
use crate::modes::{Mode, dot};
use crate::stop::Stop;
use crate::structure::{Frame, Structure, subtract};

/// Loads that are held in memory at once: each is as long as there are unknowns, and every named place of a body has six.
const AT_ONCE: usize = 128;

/// Loads whose responses are found together, a multiple of those that are solved side by side, before somebody is asked whether to go on.
const SOLVED: usize = 8;

/// A load on the unknowns of a structure.
pub(crate) struct Load {
    /// Work per unknown.
    unknowns: Vec<f64>,
    /// [`FiniteElements::moments`] of what acts on points.
    moments: Vec<Matrix3<f64>>,
}

/// Elements and their stiffness and mass.
pub(crate) struct Assembled<'s> {
    pub(crate) elements: &'s dyn FiniteElements,
    pub(crate) structure: &'s Structure<'s>,
    pub(crate) stop: Stop<'s>,
}

impl Assembled<'_> {
    /// Forces on points.
    pub(crate) fn load(&self, forces: &Field) -> Load {
        Load {
            unknowns: self.elements.loads(forces),
            moments: self.elements.moments(forces),
        }
    }

    /// A force or moment of one on the frame of a place.
    pub(crate) fn load_on_frame(&self, place: usize, frame: &Frame, row: usize) -> Load {
        let moments = if place < self.elements.interfaces() {
            self.elements.moments_on_frame(place, row)
        } else {
            Vec::new()
        };
        Load {
            unknowns: self.structure.load(&frame[row]),
            moments,
        }
    }

    /// $`f \cdot h`$ for every load, each a symmetric matrix over the modes.
    ///
    /// # Errors
    /// When somebody stops it.
    pub(crate) fn hessians(
        &self,
        modes: &[Mode],
        mut loads: impl Iterator<Item = Load>,
    ) -> Result<Vec<DMatrix<f64>>, FeError> {
        let mut found = Vec::new();
        loop {
            let some: Vec<Load> = loads.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                return Ok(found);
            }
            found.extend(self.hessians_of(modes, &some)?);
        }
    }

    fn hessians_of(&self, modes: &[Mode], loads: &[Load]) -> Result<Vec<DMatrix<f64>>, FeError> {
        let n = modes.len();
        let shares: Vec<Vec<f64>> = (loads.iter())
            .map(|load| {
                modes
                    .iter()
                    .map(|mode| dot(&mode.vector, &load.unknowns))
                    .collect()
            })
            .collect();
        // what the basis lacks of the responses, then the modes
        let mut unknowns: Vec<Vec<f64>> = Vec::with_capacity(loads.len() + n);
        let rights: Vec<Vec<f64>> = loads.iter().map(|load| load.unknowns.clone()).collect();
        for (rights, shares) in rights.chunks(SOLVED).zip(shares.chunks(SOLVED)) {
            if (self.stop)() {
                return Err(FeError::Stopped);
            }
            for (mut response, shares) in self.structure.solve(rights).into_iter().zip(shares) {
                for (mode, share) in modes.iter().zip(shares) {
                    subtract(&mut response, share / mode.square, &mode.vector);
                }
                unknowns.push(response);
            }
        }
        unknowns.extend(modes.iter().map(|mode| mode.vector.clone()));
        let third = (self.elements).third_derivative(&unknowns, loads.len(), self.stop)?;
        let rotations: Vec<_> = (modes.iter())
            .map(|mode| self.elements.rotations(&mode.vector))
            .collect();
        let changes = changes_of_coordinates(modes, &third[loads.len()..]);
        let mut found = Vec::with_capacity(loads.len());
        for ((load, shares), third) in loads.iter().zip(&shares).zip(&third) {
            let mut hessian = -third;
            for a in 0..n {
                for b in 0..n {
                    hessian[(a, b)] +=
                        second_order_work(&load.moments, &rotations[a], &rotations[b]);
                }
            }
            for (share, change) in shares.iter().zip(&changes) {
                hessian += change * *share;
            }
            found.push(hessian);
        }
        Ok(found)
    }
}

/// $`c_\delta`$ of every mode.
fn changes_of_coordinates(modes: &[Mode], third: &[DMatrix<f64>]) -> Vec<DMatrix<f64>> {
    let n = modes.len();
    let square = |mode: usize| modes[mode].square * modes[mode].square;
    let change = |(delta, third): (usize, &DMatrix<f64>)| {
        DMatrix::from_fn(n, n, |a, b| {
            let weight = square(delta) / (square(delta) + square(a) + square(b));
            -weight / modes[delta].square * third[(a, b)]
        })
    };
    third.iter().enumerate().map(change).collect()
}
