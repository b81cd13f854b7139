//! [`SpaceCurve`]: a line, an arc or a spline in space, by the distance along it.
//!
//! With the distance $`s`$ as its parameter a curve $`p(s)`$ has a tangent $`p'`$ of length one, so that whatever runs along it as $`s(t)`$ has
//! the speed $`\dot s`$ and the acceleration $`p'\ddot s + p''\dot s^2`$. A spline $`p(u)`$, cubic from point to point in the sum $`u`$ of the
//! chords, has
//!
//! ```math
//! s(u) = \int_0^u |p_u|\,du, \qquad p' = p_u/|p_u|, \qquad p'' = \frac{p_{uu} - p'(p'\cdot p_{uu})}{|p_u|^2} .
//! ```
//!
//! The integral is one of Gauss over pieces of each way from point to point, and $`u(s)`$ is found by Newton's method within a piece.

use std::f64::consts::TAU;

use lissom_spatial::Vector;
use lissom_spec::spec::{ArcPathSpec, MarkerPathSpec, SplinePathSpec};

use super::NominalError;
use crate::profile::{Ends, MotionPoint, cubic, cubic_at, interval};

/// Sine of the angle at which the points of an arc count as on a line, and ways relative to the places that they are between, that are
/// rounding.
const ROUNDING: f64 = 1e-12;
/// Pieces of the way between two points of a spline.
const PIECES: usize = 16;
/// Places and weights of Gauss' formula of five points, exact to order ten, on −1…1.
const GAUSS: [[f64; 2]; 5] = [
    [-0.906_179_845_938_664, 0.236_926_885_056_189_1],
    [-0.538_469_310_105_683_1, 0.478_628_670_499_366_5],
    [0.0, 0.568_888_888_888_888_9],
    [0.538_469_310_105_683_1, 0.478_628_670_499_366_5],
    [0.906_179_845_938_664, 0.236_926_885_056_189_1],
];
/// Newton's steps to a place on a spline; each doubles the digits.
const MOST_STEPS: usize = 20;

/// A curve in space.
#[derive(Clone, Debug)]
pub(super) enum SpaceCurve {
    /// Straight.
    Line {
        from: Vector<f64>,
        /// Unit vector.
        along: Vector<f64>,
        length: f64,
    },
    /// Around an axis.
    Arc {
        center: Vector<f64>,
        /// From the centre to the beginning.
        radius: Vector<f64>,
        /// As long, along the tangent at the beginning.
        across: Vector<f64>,
        length: f64,
    },
    /// Through points.
    Spline(SpaceSpline),
}

/// A cubic spline through points.
#[derive(Clone, Debug)]
pub(super) struct SpaceSpline {
    /// Sum of the chords up to every point.
    chords: Vec<f64>,
    /// Components of the points with their second derivatives by it.
    components: [[Vec<f64>; 2]; 3],
    /// Distance along the curve to the beginning of every piece, and to the end.
    distances: Vec<f64>,
}

impl SpaceCurve {
    /// The curve of a path whose marker starts at `start`.
    pub(super) fn new(path: &MarkerPathSpec, start: Vector<f64>) -> Result<Self, NominalError> {
        let from = path.from_m.map_or(start, Vector);
        let curve = if let Some(line) = &path.line {
            let way = Vector(line.to_m) - from;
            let length = norm(way);
            require(
                length > ROUNDING * norm(from),
                "the line ends where it begins; correct to_m",
            )?;
            Self::Line {
                from,
                along: way.scale(1.0 / length),
                length,
            }
        } else if let Some(arc) = &path.arc {
            Self::arc(arc, from)?
        } else if let Some(spline) = &path.spline {
            Self::Spline(SpaceSpline::new(spline, from)?)
        } else {
            return Err(NominalError::NoPath {
                reason: "it is neither a line nor an arc nor a spline",
            });
        };
        Ok(curve)
    }

    fn arc(arc: &ArcPathSpec, from: Vector<f64>) -> Result<Self, NominalError> {
        let (center, axis, angle) = match (arc.via_m, arc.to_m) {
            (Some(via), Some(to)) => {
                let [a, b] = [Vector(via) - from, Vector(to) - from];
                let normal = a.cross(b);
                require(
                    norm(normal) > ROUNDING * norm(a) * norm(b),
                    "its beginning, via_m and to_m are on a line, through which there is no circle; correct them, or use a line",
                )?;
                let right = b.scale(a.dot(a)) - a.scale(b.dot(b));
                let center = from + (right.cross(normal)).scale(0.5 / normal.dot(normal));
                let (axis, radius, last) = (normal.unit(), from - center, Vector(to) - center);
                let angle = axis.dot(radius.cross(last)).atan2(radius.dot(last));
                (center, axis, angle.rem_euclid(TAU))
            }
            _ => (
                Vector(arc.center_m.unwrap_or_default()),
                Vector(arc.axis.unwrap_or([0.0, 0.0, 1.0])).unit(),
                arc.angle_rad.unwrap_or_default(),
            ),
        };
        let way = from - center;
        let radius = way - axis.scale(axis.dot(way));
        require(
            norm(radius) > ROUNDING * norm(from).max(norm(center)),
            "it begins on the axis of its arc; correct center_m",
        )?;
        require(
            angle != 0.0,
            "its arc has an angle of zero; correct angle_rad",
        )?;
        Ok(Self::Arc {
            center: from - radius,
            across: axis.scale(angle.signum()).cross(radius),
            length: norm(radius) * angle.abs(),
            radius,
        })
    }

    /// Its length.
    pub(super) fn length(&self) -> f64 {
        match self {
            Self::Line { length, .. } | Self::Arc { length, .. } => *length,
            Self::Spline(spline) => spline.length(),
        }
    }

    /// Position with its first two derivatives by the distance. Beyond its ends it goes on: straight, or around its axis.
    fn at(&self, distance: f64) -> [Vector<f64>; 3] {
        match self {
            Self::Line { from, along, .. } => {
                [*from + along.scale(distance), *along, Vector::zero()]
            }
            Self::Arc {
                center,
                radius,
                across,
                ..
            } => {
                let size = norm(*radius);
                let (sin, cos) = (distance / size).sin_cos();
                let outward = radius.scale(cos) + across.scale(sin);
                let along = across.scale(cos) - radius.scale(sin);
                [
                    *center + outward,
                    along.scale(1.0 / size),
                    outward.scale(-1.0 / (size * size)),
                ]
            }
            Self::Spline(spline) => spline.at(distance),
        }
    }

    /// Motion of every component where something is that runs along it.
    pub(super) fn along(&self, distance: MotionPoint) -> [MotionPoint; 3] {
        let [position, tangent, curvature] = self.at(distance.position);
        let (rate, acceleration) = (distance.rate, distance.acceleration);
        [0, 1, 2].map(|axis| MotionPoint {
            position: position[axis],
            rate: tangent[axis] * rate,
            acceleration: tangent[axis] * acceleration + curvature[axis] * rate * rate,
        })
    }
}

impl SpaceSpline {
    fn new(spline: &SplinePathSpec, from: Vector<f64>) -> Result<Self, NominalError> {
        let points: Vec<Vector<f64>> = std::iter::once(from)
            .chain(spline.through_m.iter().map(|point| Vector(*point)))
            .collect();
        let mut chords = vec![0.0];
        let mut reached = 0.0;
        for pair in points.windows(2) {
            let chord = norm(pair[1] - pair[0]);
            require(
                chord > ROUNDING * norm(pair[0]),
                "two points of its spline are the same; leave one out (it begins at from_m, or where the marker starts)",
            )?;
            reached += chord;
            chords.push(reached);
        }
        let components = [0, 1, 2].map(|axis| {
            let values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
            let curvature = cubic(&chords, &values, Ends::Straight);
            [values, curvature]
        });
        let mut curve = Self {
            chords,
            components,
            distances: vec![0.0],
        };
        let pieces = PIECES * (points.len() - 1);
        let mut distance = 0.0;
        for piece in 0..pieces {
            let [begin, end] = curve.piece(piece);
            distance += curve.way(begin, end);
            curve.distances.push(distance);
        }
        Ok(curve)
    }

    fn length(&self) -> f64 {
        self.distances[self.distances.len() - 1]
    }

    /// Sums of chords between which a piece is.
    fn piece(&self, piece: usize) -> [f64; 2] {
        let (row, part) = (piece / PIECES, piece % PIECES);
        let [from, until] = [self.chords[row], self.chords[row + 1]];
        [part, part + 1].map(|part| from + (until - from) * part as f64 / PIECES as f64)
    }

    /// Position with its first two derivatives by the sum of the chords, on the way from a point.
    fn by_chord(&self, row: usize, chord: f64) -> [Vector<f64>; 3] {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let [values, curvature] = &self.components[axis];
            cubic_at(&self.chords, values, curvature, row, chord)
        });
        [0, 1, 2].map(|order| Vector([x[order], y[order], z[order]]))
    }

    /// Distance along the curve within a piece.
    fn way(&self, from: f64, until: f64) -> f64 {
        let (middle, half) = (0.5 * (from + until), 0.5 * (until - from));
        let row = interval(&self.chords, middle);
        let speed = |[place, weight]: [f64; 2]| {
            let [_, by_chord, _] = self.by_chord(row, middle + half * place);
            weight * norm(by_chord)
        };
        half * GAUSS.into_iter().map(speed).sum::<f64>()
    }

    fn at(&self, distance: f64) -> [Vector<f64>; 3] {
        let within = distance.clamp(0.0, self.length());
        let piece = interval(&self.distances, within);
        let [begin, end] = self.piece(piece);
        let row = piece / PIECES;
        let [before, after] = [self.distances[piece], self.distances[piece + 1]];
        let mut chord = begin + (end - begin) * (within - before) / (after - before);
        for _ in 0..MOST_STEPS {
            let [_, by_chord, _] = self.by_chord(row, chord);
            let missing = within - before - self.way(begin, chord);
            let next = (chord + missing / norm(by_chord)).clamp(begin, end);
            let step = (next - chord).abs();
            chord = next;
            // the step after it is its square
            if step <= 1e-9 * (end - begin) {
                break;
            }
        }
        let [position, first, second] = self.by_chord(row, chord);
        let speed = norm(first);
        let tangent = first.scale(1.0 / speed);
        let curvature = (second - tangent.scale(tangent.dot(second))).scale(1.0 / (speed * speed));
        [
            position + tangent.scale(distance - within),
            tangent,
            curvature,
        ]
    }
}

fn norm(vector: Vector<f64>) -> f64 {
    vector.dot(vector).sqrt()
}

fn require(holds: bool, reason: &'static str) -> Result<(), NominalError> {
    if holds {
        Ok(())
    } else {
        Err(NominalError::NoPath { reason })
    }
}

#[cfg(test)]
mod tests;
