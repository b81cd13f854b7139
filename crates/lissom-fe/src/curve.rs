//! [`Curve`]: the line of a member, by the share of its length.

use nalgebra::{DMatrix, Vector3};

use crate::quadrature::gauss_legendre;

type Point = Vector3<f64>;

/// Pieces of a spline, per interval between its points, in which its length is measured.
const PIECES: usize = 16;

/// Newton's steps towards a share of the length; each doubles the digits, from a start within a piece.
const STEPS: usize = 6;

/// Height of an arc over its chord below which the three points are on a line, relative to the chord.
const FLAT: f64 = 1e-9;

/// The line of a member.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    Line {
        from: Point,
        to: Point,
    },
    Arc {
        centre: Point,
        /// From the centre to the beginning, and a quarter of a turn further.
        axes: [Point; 2],
        angle: f64,
    },
    Spline(Spline),
}

/// A cubic spline through points, whose parameter is the length of the chords; the first and last of its intervals are parabolas.
#[derive(Clone, Debug)]
pub(crate) struct Spline {
    knots: Vec<f64>,
    points: Vec<Point>,
    /// Second derivatives at the points.
    curvatures: Vec<Point>,
    /// Parameter and length from the beginning, at the ends of the pieces.
    lengths: Vec<[f64; 2]>,
}

impl Curve {
    /// The arc through three points; none if they are on a line.
    pub(crate) fn arc(from: Point, through: Point, to: Point) -> Option<Self> {
        let (u, v) = (through - from, to - from);
        let normal = u.cross(&v);
        if normal.norm() <= FLAT * v.norm_squared() {
            return None;
        }
        let towards = normal.cross(&u) * v.norm_squared() + v.cross(&normal) * u.norm_squared();
        let centre = from + towards / (2.0 * normal.norm_squared());
        let first = from - centre;
        let second = normal.normalize().cross(&first);
        let end = to - centre;
        let angle = end.dot(&second).atan2(end.dot(&first));
        Some(Self::Arc {
            centre,
            axes: [first, second],
            angle: angle.rem_euclid(std::f64::consts::TAU),
        })
    }

    /// The spline through points; none if two that follow each other are one.
    pub(crate) fn spline(points: Vec<Point>) -> Option<Self> {
        Spline::new(points).map(Self::Spline)
    }

    pub(crate) fn length(&self) -> f64 {
        match self {
            Self::Line { from, to } => (to - from).norm(),
            Self::Arc { axes, angle, .. } => axes[0].norm() * angle,
            Self::Spline(spline) => spline.lengths.last().map_or(0.0, |end| end[1]),
        }
    }

    /// The point at a share of the length.
    pub(crate) fn at(&self, share: f64) -> Point {
        match self {
            Self::Line { from, to } => from + (to - from) * share,
            Self::Arc {
                centre,
                axes,
                angle,
            } => {
                let (sin, cos) = (share * angle).sin_cos();
                centre + axes[0] * cos + axes[1] * sin
            }
            Self::Spline(spline) => spline.at(share),
        }
    }
}

impl Spline {
    fn new(points: Vec<Point>) -> Option<Self> {
        let mut knots = vec![0.0];
        for pair in points.windows(2) {
            let chord = (pair[1] - pair[0]).norm();
            if chord <= 0.0 {
                return None;
            }
            knots.push(knots[knots.len() - 1] + chord);
        }
        // continuity of the slope at inner points, curvatures of the ends those of their neighbours
        let n = points.len();
        let mut matrix = DMatrix::identity(n, n);
        (matrix[(0, 1)], matrix[(n - 1, n - 2)]) = (-1.0, -1.0);
        let mut right = DMatrix::zeros(n, 3);
        for i in 1..n - 1 {
            let (before, after) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
            matrix[(i, i - 1)] = before / 6.0;
            matrix[(i, i)] = (before + after) / 3.0;
            matrix[(i, i + 1)] = after / 6.0;
            let slope = (points[i + 1] - points[i]) / after - (points[i] - points[i - 1]) / before;
            right.row_mut(i).copy_from(&slope.transpose());
        }
        let solution = matrix.lu().solve(&right)?;
        let mut spline = Self {
            curvatures: (0..n)
                .map(|i| solution.row(i).transpose().fixed_rows::<3>(0).into_owned())
                .collect(),
            points,
            lengths: vec![[0.0; 2]],
            knots,
        };
        let ends: Vec<[f64; 2]> = spline.knots.windows(2).map(|k| [k[0], k[1]]).collect();
        for [start, end] in ends {
            for piece in 0..PIECES {
                let at = |piece: usize| start + (end - start) * piece as f64 / PIECES as f64;
                let [_, before] = spline.lengths[spline.lengths.len() - 1];
                let length = before + spline.between(at(piece), at(piece + 1));
                spline.lengths.push([at(piece + 1), length]);
            }
        }
        Some(spline)
    }

    fn interval(&self, t: f64) -> usize {
        let behind = self.knots.partition_point(|&knot| knot <= t);
        behind.clamp(1, self.knots.len() - 1) - 1
    }

    fn point(&self, t: f64) -> Point {
        let i = self.interval(t);
        let h = self.knots[i + 1] - self.knots[i];
        let (a, b) = ((self.knots[i + 1] - t) / h, (t - self.knots[i]) / h);
        let bent = self.curvatures[i] * (a * a * a - a) + self.curvatures[i + 1] * (b * b * b - b);
        self.points[i] * a + self.points[i + 1] * b + bent * (h * h / 6.0)
    }

    fn slope(&self, t: f64) -> Point {
        let i = self.interval(t);
        let h = self.knots[i + 1] - self.knots[i];
        let (a, b) = ((self.knots[i + 1] - t) / h, (t - self.knots[i]) / h);
        let bent =
            self.curvatures[i + 1] * (3.0 * b * b - 1.0) - self.curvatures[i] * (3.0 * a * a - 1.0);
        (self.points[i + 1] - self.points[i]) / h + bent * (h / 6.0)
    }

    /// Length between two parameters of one interval.
    fn between(&self, start: f64, end: f64) -> f64 {
        let half = 0.5 * (end - start);
        let rule = gauss_legendre(6);
        let speed = |xi: f64| self.slope(start + half * (1.0 + xi)).norm();
        rule.iter()
            .map(|&(xi, weight)| half * weight * speed(xi))
            .sum()
    }

    fn at(&self, share: f64) -> Point {
        let [_, whole] = self.lengths[self.lengths.len() - 1];
        let wanted = share.clamp(0.0, 1.0) * whole;
        let piece = (self.lengths.partition_point(|end| end[1] < wanted)).max(1) - 1;
        let [start, length] = self.lengths[piece];
        let mut t = start;
        for _ in 0..STEPS {
            let missing = wanted - length - self.between(start, t);
            t += missing / self.slope(t).norm();
        }
        self.point(t)
    }
}
