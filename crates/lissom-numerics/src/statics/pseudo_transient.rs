//! From far away towards rest, as if everything moved through honey.
//!
//! Newton's iteration needs a start near an equilibrium; a linkage that is caught on its way has none near by. Pseudo-transient
//! continuation \[Kelley & Keyes, *SIAM J. Numer. Anal.* 35 (1998)\] follows $`\rho\,\dot q = -r`$ with the closures kept, by steps that are
//! implicit,
//!
//! ```math
//! \begin{bmatrix} K + \rho & -J^T \\ J & 0 \end{bmatrix}
//! \begin{bmatrix} \Delta q \\ \Delta\lambda \end{bmatrix} = -\begin{bmatrix} r \\ \Phi \end{bmatrix} ,
//! ```
//!
//! $`\rho`$ in units of work per large change of every coordinate. A resistance that is large enough leads downhill whatever the
//! stiffness; it is lowered as long as steps stay short, and without it the step is that of Newton.

use nalgebra::DVector;

use super::Balance;
use super::newton::norms;
use super::solve::Scaled;

/// Largest change at once, of the scale of the unknown: a tenth of a radian.
const LARGEST_CHANGE: f64 = 0.1;
/// Change from which on Newton's iteration goes on alone.
const NEAR: f64 = 1e-3;
/// Steps: dozens of radians, and as many in which the resistance falls.
const MOST_STEPS: usize = 400;
/// Times by which the resistance is raised where a step is too long or leads uphill, at most: from nothing to beyond any stiffness.
const MOST_RAISES: usize = 60;
/// The resistance is raised and lowered by these.
const RAISED: f64 = 4.0;
const LOWERED: f64 = 0.4;
/// Resistance, of the stiffness that the start has, that is none.
const NO_RESISTANCE: f64 = 1e-9;

/// A place near an equilibrium that is reached downhill from a start; `None` if none is.
pub(super) fn pseudo_transient<B: Balance>(balance: &mut B, start: &B::Place) -> Option<B::Place> {
    let scales = balance.scales().to_vec();
    let coordinates = scales.iter().filter(|scale| scale.is_finite()).count();
    let mut place = start.clone();
    let mut residual = DVector::zeros(scales.len());
    let mut at_work = balance.evaluate(&place, 1.0, &mut residual).ok()?;
    // work of the forces over a large change, and no less than anything
    let mut resistance = 0.0_f64;
    for (force, scale) in residual.iter().zip(&scales[..coordinates]) {
        resistance = resistance.max((force * scale).abs());
    }
    let largest_resistance = resistance;
    for _ in 0..MOST_STEPS {
        let stiffness = balance.stiffness(&place, 1.0).ok()?;
        let mut raises = 0;
        let (change, largest) = loop {
            let mut matrix = stiffness.clone();
            for (at, scale) in scales[..coordinates].iter().enumerate() {
                matrix[(at, at)] += resistance / (scale * scale);
            }
            let matrix = Scaled::new(matrix, &scales);
            if !matrix.is_finite() || residual.iter().any(|x| !x.is_finite()) {
                return None;
            }
            let change = matrix.factored(at_work).correction(&residual);
            let [largest, _] = norms(&change, &scales);
            let work = (0..coordinates)
                .map(|at| residual[at] * change[at])
                .sum::<f64>();
            let downhill = work <= 0.0 || largest <= NEAR;
            if largest <= LARGEST_CHANGE && downhill {
                break (change, largest);
            }
            raises += 1;
            if raises > MOST_RAISES {
                return None;
            }
            resistance = (RAISED * resistance).max(NO_RESISTANCE * largest_resistance);
        };
        place = balance.displaced(&place, &change, 1.0);
        at_work = at_work.max(balance.evaluate(&place, 1.0, &mut residual).ok()?);
        if largest <= NEAR && resistance <= NO_RESISTANCE * largest_resistance {
            return Some(place);
        }
        resistance *= LOWERED;
    }
    None
}
