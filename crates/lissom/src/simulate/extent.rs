//! How far flexible bodies bend while a run goes on, and when that is no longer bending.
//!
//! Bodies bend by small displacements and rotations in their own frames. What that leaves out is of second order in
//! the slope: of a cantilever under a load at its tip the true deflection is less than the linear one by
//!
//! ```math
//! \frac{\delta_{lin} - \delta}{\delta_{lin}} = \frac{12}{105}\left(\frac{P L^2}{E I}\right)^2 = \frac{16}{35}\,\theta^2,
//! \qquad \theta = \frac{P L^2}{2 E I} = \frac32\,\frac{\delta_{lin}}{L}.
//! ```
//!
//! At [`SMALL_SLOPE_RAD`] and [`SMALL_DEFLECTION_LENGTHS`], which such a load reaches together, that is 4 %; whoever
//! goes further should know.

use serde::Serialize;

use crate::model::Model;
use crate::simulate::recording::Sample;
use lissom_tree::flex::{FlexibleBody, Node};

/// Largest rotation of a section that counts as small.
pub const SMALL_SLOPE_RAD: f64 = 0.3;

/// Largest displacement that counts as small, in lengths of the body.
pub const SMALL_DEFLECTION_LENGTHS: f64 = 0.2;

/// How far one flexible body bends in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BodyExtent {
    /// Name of the body.
    pub body: String,
    /// Largest distance of its nodes and mass points from its origin.
    pub length_m: f64,
    /// Largest displacement of a point in the body's frame, without shortening.
    pub deflection: Sample,
    /// Largest small rotation of a section.
    pub slope: Sample,
    /// Whether both stayed small, [`SMALL_SLOPE_RAD`] and [`SMALL_DEFLECTION_LENGTHS`].
    pub small: bool,
}

/// The instant at which a run leaves what its equations describe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    /// The first sample that is beyond.
    pub time_s: f64,
    /// The body.
    pub body: String,
    /// The coordinate that contributes most there.
    pub coordinate: String,
    /// Displacement of the point furthest out, in lengths of the body.
    pub lengths: f64,
}

/// Follows the bending of every flexible body from sample to sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents {
    bodies: Vec<Bent>,
}

/// A flexible body and how far it has bent.
#[derive(Clone, Debug)]
struct Bent {
    /// Index in the system.
    body: usize,
    name: String,
    /// Its first elastic coordinate among the positions.
    first: usize,
    length: f64,
    deflection: Sample,
    slope: Sample,
}

impl Extents {
    pub(super) fn new(model: &Model) -> Self {
        let layout = model.linkage.system.layout();
        let bodies = model.linkage.system.bodies().iter().enumerate();
        let bent = bodies.filter_map(|(k, body)| {
            let flexible = body.flexible.as_ref()?;
            let none = Sample {
                value: 0.0,
                time_s: 0.0,
            };
            Some(Bent {
                body: k,
                name: body.name.clone(),
                first: layout.elastic_position[k],
                length: points(flexible)
                    .map(|node| length(node.position))
                    .fold(0.0, f64::max),
                deflection: none,
                slope: none,
            })
        });
        Self {
            bodies: bent.collect(),
        }
    }

    /// Looks at the positions of a sample; tells of the first body that is displaced by more than `most` of its
    /// lengths.
    pub(super) fn look(
        &mut self,
        time_s: f64,
        model: &Model,
        position: &[f64],
        most: f64,
    ) -> Option<Departure> {
        let mut departure = None;
        for bent in &mut self.bodies {
            let body = &model.linkage.system.bodies()[bent.body];
            let Some(flexible) = &body.flexible else {
                continue;
            };
            let shape = &position[bent.first..][..body.modes()];
            let deflection = largest(flexible, shape, |node| &node.displacement);
            let slope = largest(flexible, shape, |node| &node.rotation);
            if deflection > bent.deflection.value {
                bent.deflection = Sample {
                    value: deflection,
                    time_s,
                };
            }
            if slope > bent.slope.value {
                bent.slope = Sample {
                    value: slope,
                    time_s,
                };
            }
            if bent.length > 0.0 && deflection > most * bent.length && departure.is_none() {
                departure = Some(Departure {
                    time_s,
                    body: body.name.clone(),
                    coordinate: leading(model, bent.first, flexible, shape),
                    lengths: deflection / bent.length,
                });
            }
        }
        departure
    }

    pub(super) fn finish(self) -> Vec<BodyExtent> {
        let extent = |bent: Bent| BodyExtent {
            body: bent.name,
            length_m: bent.length,
            deflection: bent.deflection,
            slope: bent.slope,
            small: bent.slope.value <= SMALL_SLOPE_RAD
                && (bent.length <= 0.0
                    || bent.deflection.value <= SMALL_DEFLECTION_LENGTHS * bent.length),
        };
        self.bodies.into_iter().map(extent).collect()
    }
}

fn points(flexible: &FlexibleBody) -> impl Iterator<Item = &Node> {
    let slices = flexible.mass_nodes.iter().map(|mass| &mass.node);
    flexible.nodes.iter().chain(slices)
}

/// Length of the largest body: the distance of its points and of the places of its joints from its origin; a metre for
/// bodies without extent.
pub(super) fn reach(model: &Model) -> f64 {
    let bodies = model.linkage.system.bodies().iter();
    let flexible = bodies.clone().filter_map(|body| body.flexible.as_ref());
    let lengths = flexible.flat_map(points).map(|node| length(node.position));
    let places = bodies.flat_map(|body| [&body.inboard, &body.outboard]);
    let places = places.map(|place| length(place.offset().translation.0));
    let reach = lengths.chain(places).fold(0.0, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}

/// For every velocity, the change of an elastic coordinate that displaces its body by its length or turns a section by a
/// radian, whichever is less; 1 for other coordinates.
pub(super) fn large_changes(model: &Model) -> Vec<f64> {
    let layout = model.linkage.system.layout();
    let mut changes = vec![1.0; model.linkage.system.velocity_count()];
    for (k, body) in model.linkage.system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let long = points(flexible).map(|node| length(node.position));
        let long = long.fold(0.0, f64::max);
        for alpha in 0..body.modes() {
            let most = |of: fn(&Node) -> &[[f64; 3]]| {
                let moved = points(flexible).map(|node| length(of(node)[alpha]));
                moved.fold(0.0, f64::max)
            };
            let by_length = long / most(|node| &node.displacement);
            let by_turn = 1.0 / most(|node| &node.rotation);
            let change = by_length.min(by_turn);
            if change.is_finite() && change > 0.0 {
                changes[layout.elastic_velocity[k] + alpha] = change;
            }
        }
    }
    changes
}

fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Length of the longest $`\sum x_\alpha \eta_\alpha`$ over all points.
fn largest(flexible: &FlexibleBody, shape: &[f64], of: fn(&Node) -> &[[f64; 3]]) -> f64 {
    let mut most = 0.0;
    for node in points(flexible) {
        let mut sum = [0.0; 3];
        for (influence, eta) in of(node).iter().zip(shape) {
            for (s, x) in sum.iter_mut().zip(influence) {
                *s += x * eta;
            }
        }
        most = f64::max(most, length(sum));
    }
    most
}

/// Name of the coordinate that displaces some point most.
fn leading(model: &Model, first: usize, flexible: &FlexibleBody, shape: &[f64]) -> String {
    let reach = |alpha: usize| {
        let moved = points(flexible).map(|node| length(node.displacement[alpha]));
        moved.fold(0.0, f64::max) * shape[alpha].abs()
    };
    let order = (0..shape.len()).max_by(|&a, &b| reach(a).total_cmp(&reach(b)));
    order.map_or_else(String::new, |alpha| {
        model.linkage.positions[first + alpha].name.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deflection of the tip of an elastica of unit length under a dead load across it, and the linear one, for
    /// $`PL^2/EI`$: $`\theta'' = -\alpha\cos\theta`$ with $`\theta(0) = 0, \theta'(1) = 0`$, by shooting from the tip.
    fn tip_deflections(alpha: f64) -> (f64, f64) {
        const STEPS: usize = 2000;
        let step = 1.0 / STEPS as f64;
        // from the tip inward: slope at the root for a slope at the tip, and the rise between them
        let shoot = |tip: f64| {
            let (mut theta, mut curvature, mut rise) = (tip, 0.0_f64, 0.0_f64);
            for _ in 0..STEPS {
                let middle = theta - 0.5 * step * curvature;
                rise += step * middle.sin();
                curvature += step * alpha * middle.cos();
                theta = middle - 0.5 * step * curvature;
            }
            (theta, rise)
        };
        let (mut low, mut high) = (0.0, 1.5);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if shoot(middle).0 > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        (shoot(low).1, alpha / 3.0)
    }

    /// Second formulation: the elastica holds the error that the module states for a beam at the threshold.
    #[test]
    fn at_the_threshold_linear_bending_is_four_percent_off() {
        let alpha = 2.0 * SMALL_SLOPE_RAD;
        assert!((alpha / 3.0 - SMALL_DEFLECTION_LENGTHS).abs() < 1e-12);
        let (true_tip, linear_tip) = tip_deflections(alpha);
        let stated = 16.0 / 35.0 * SMALL_SLOPE_RAD * SMALL_SLOPE_RAD;
        let found = (linear_tip - true_tip) / linear_tip;
        // the next term of the series is of fourth order in the slope
        let next = SMALL_SLOPE_RAD.powi(4);
        assert!((found - stated).abs() < next, "{found} {stated}");
        assert!((0.035..0.045).contains(&stated));
    }
}
