//! Poles, and the frequencies at which a response is looked at: evenly by their logarithms, and closer where lightly damped
//! vibrations make it peak.

use nalgebra::Complex;

use super::Transfer;
use crate::linear::error::{GoOn, LinearError};
use crate::linear::quadratic::solved;

/// Poles that are slower than the fastest by more than this are motions that nothing holds, but for rounding.
const SLOWEST: f64 = 1e-7;
/// How far a range goes beyond the slowest and the fastest pole.
const BEYOND: [f64; 2] = [0.1, 2.0];
/// The range of what has no poles but at zero, in rad/s.
const WITHOUT_POLES: [f64; 2] = [0.1, 100.0];
/// Damping ratio from which on the even spacing shows a peak.
const FLAT: f64 = 0.2;
/// Damping ratio that a peak without damping is looked at with.
const LEAST: f64 = 1e-4;
/// Places beside a peak, in half widths of it.
const BESIDE: [f64; 8] = [-10.0, -3.0, -1.0, -0.3, 0.3, 1.0, 3.0, 10.0];

impl Transfer {
    /// Poles by rising absolute value, whether or not inputs reach and outputs see them; of conjugate ones that with positive imaginary part.
    ///
    /// # Errors
    /// When the mass matrix is not definite, no eigenvalues are found, or the search is stopped.
    pub fn poles(&self, go_on: &mut GoOn<'_>) -> Result<Vec<Complex<f64>>, LinearError> {
        if self.loops.is_some() {
            return self.first_order_poles(go_on);
        }
        let (_, _, roots) = solved(&self.mass, &self.damping, &self.stiffness, go_on)?;
        Ok(roots.values().to_vec())
    }

    /// About so many rising angular frequencies in a range, in rad/s, that show what these poles do; without a range from below the slowest
    /// to above the fastest.
    pub fn spread(poles: &[Complex<f64>], range: Option<[f64; 2]>, count: usize) -> Vec<f64> {
        let fastest = poles.last().map_or(0.0, |pole| pole.norm());
        let rates = poles.iter().map(|pole| pole.norm());
        let slowest = rates.into_iter().find(|&rate| rate > SLOWEST * fastest);
        let usual = slowest.map_or(WITHOUT_POLES, |slowest| {
            [BEYOND[0] * slowest, BEYOND[1] * fastest]
        });
        let [low, high] = range.unwrap_or(usual);
        let last = (count.max(2) - 1) as f64;
        let even = (0..count).map(|i| low * (high / low).powf(i as f64 / last));
        let peaks = poles.iter().flat_map(|pole| {
            let ratio = -pole.re / pole.norm();
            let shown = if ratio < FLAT { &BESIDE[..] } else { &[] };
            let width = ratio.abs().max(LEAST);
            shown.iter().map(move |k| pole.norm() * (1.0 + k * width))
        });
        let inside = |frequency: &f64| (low..=high).contains(frequency);
        let mut all: Vec<f64> = even.chain(peaks).filter(inside).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}
