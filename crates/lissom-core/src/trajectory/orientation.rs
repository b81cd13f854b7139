//! How an orientation runs in time, with its exact angular velocity and acceleration.
//!
//! A turn about one axis is $`R(t) = R_0\,\mathrm{Exp}(\varphi\,s(t))`$ with a profile $`s`$, so that
//! $`\omega = R_0\varphi\,\dot s`$ and $`\dot\omega = R_0\varphi\,\ddot s`$.
//!
//! A curve through the orientations $`R_i`$ of a table is $`R(t) = R_i\,\mathrm{Exp}(\vartheta_i(t))`$ from one row to the next,
//! $`\vartheta_i`$ the cubic with $`\vartheta_i = 0`$ and $`\dot\vartheta_i = \omega_i`$ at its beginning, $`\vartheta_i = \varphi_i`$ and
//! $`\dot\vartheta_i = \Gamma^{-T}(\varphi_i)\,\omega_{i+1}`$ at its end, $`\mathrm{Exp}(\varphi_i) = R_i^TR_{i+1}`$. It has the angular velocity
//! $`\omega_i`$, in the axes of the row, at every row. These are chosen so that the angular acceleration is continuous too:
//!
//! ```math
//! \frac{2}{h_{i-1}}\Gamma^T(\varphi_{i-1})\,\omega_{i-1} + \left(\frac{4}{h_{i-1}} + \frac{4}{h_i}\right)\omega_i
//!   + \frac{2}{h_i}\Gamma^{-T}(\varphi_i)\,\omega_{i+1}
//!   = \frac{6\varphi_{i-1}}{h_{i-1}^2} + \frac{6\varphi_i}{h_i^2} - \mathrm{Exp}(\varphi_{i-1})^T\,\dot\Gamma\dot\vartheta_{i-1} ,
//! ```
//!
//! the last term at the end of the way before. Its first and last row are at rest. About one axis it is the cubic spline of an
//! angle.

use lissom_spatial::{
    Matrix, Quaternion, RotationVector, Vector, inverse_rate_matrix, rotation_vector_of,
};
use lissom_spec::spec::{
    Impulse, MotionProfile, OrientationAlongPathSpec, OrientationCycloidSpec, OrientationFrame,
    OrientationMotionSpec, OrientationRampsSpec, OrientationTableSpec,
};

use crate::profile::{MotionCurve, MotionPoint, interval};
use crate::rotation::rotation_matrix;

/// Sweeps over the rows of a table; each leaves at most three quarters of the error, mostly a quarter.
const MOST_SWEEPS: usize = 500;

/// An orientation at an instant; all in ground axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OrientationPoint {
    /// Turns components of the marker's frame into those of the ground.
    pub(super) rotation: Matrix<f64>,
    /// Angular velocity.
    pub(super) angular_velocity: Vector<f64>,
    /// Angular acceleration.
    pub(super) angular_acceleration: Vector<f64>,
}

/// How an orientation runs in time.
#[derive(Clone, Debug)]
pub(super) enum OrientationCurve {
    /// About one axis.
    Turn {
        /// The orientation that is turned.
        from: Matrix<f64>,
        /// Rotation vector in its axes that is turned through when the share is one.
        turn: Vector<f64>,
        /// The share of it.
        share: MotionCurve,
    },
    /// Through the rows of a table.
    Rows(Rows),
}

/// A smooth curve through orientations.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    time_s: Vec<f64>,
    rotation: Vec<Matrix<f64>>,
    ways: Vec<Way>,
}

/// The way from one row to the next.
#[derive(Clone, Copy, Debug)]
struct Way {
    duration: f64,
    /// The turn, in the axes of the first row.
    turn: Vector<f64>,
    /// Rates of the rotation vector at both ends.
    rates: [Vector<f64>; 2],
}

impl OrientationCurve {
    /// A curve that begins where the marker is, unless a table says otherwise.
    /// Turns come in shares, if these are given.
    pub(super) fn new(
        motion: &OrientationMotionSpec,
        start: Matrix<f64>,
        impulses: Option<&[Impulse]>,
    ) -> Self {
        let shaped = |share: MotionProfile| match impulses {
            Some(impulses) => share.in_shares(impulses),
            None => share,
        };
        match motion {
            OrientationMotionSpec::Cycloid(cycloid) => {
                let &OrientationCycloidSpec {
                    final_rotation_vector_rad: vector,
                    final_quaternion: quaternion,
                    relative_to,
                    from_s,
                    duration_s,
                } = cycloid;
                let share = MotionProfile::Cycloid {
                    initial: None,
                    target: 1.0,
                    from_s,
                    duration_s,
                };
                Self::turn(
                    start,
                    &shaped(share),
                    turn(&start, vector, quaternion, relative_to),
                )
            }
            OrientationMotionSpec::CycloidalRamps(ramps) => {
                let &OrientationRampsSpec {
                    final_rotation_vector_rad: vector,
                    final_quaternion: quaternion,
                    relative_to,
                    from_s,
                    duration_s,
                    ramp_s,
                } = ramps;
                let share = MotionProfile::CycloidalRamps {
                    initial: None,
                    target: 1.0,
                    from_s,
                    duration_s,
                    ramp_s,
                };
                Self::turn(
                    start,
                    &shaped(share),
                    turn(&start, vector, quaternion, relative_to),
                )
            }
            OrientationMotionSpec::ConstantRate(rate) => {
                let share = MotionProfile::ConstantRate { rate: 1.0 };
                let velocity = Vector(rate.angular_velocity_rad_per_s);
                Self::turn(start, &shaped(share), start.transpose() * velocity)
            }
            OrientationMotionSpec::AlongPath(along) => {
                let &OrientationAlongPathSpec {
                    final_rotation_vector_rad: vector,
                    final_quaternion: quaternion,
                    relative_to,
                } = along;
                let share = MotionProfile::ConstantRate { rate: 1.0 };
                Self::turn(start, &share, turn(&start, vector, quaternion, relative_to))
            }
            OrientationMotionSpec::Table(table) => Self::Rows(Rows::new(table, &start)),
        }
    }

    /// The angle about an axis of the ground by which the marker's axes are turned from those of the ground.
    pub(super) fn about(axis: Vector<f64>, angle: MotionCurve) -> Self {
        Self::Turn {
            from: Matrix::identity(),
            turn: axis,
            share: angle,
        }
    }

    fn turn(from: Matrix<f64>, share: &MotionProfile, turn: Vector<f64>) -> Self {
        let share = MotionCurve::new(share, 0.0);
        Self::Turn { from, turn, share }
    }

    /// The orientation where it has come to in the place of a time, in which it runs with that.
    pub(super) fn along(&self, place: MotionPoint) -> OrientationPoint {
        let point = self.at(place.position);
        OrientationPoint {
            angular_velocity: point.angular_velocity.scale(place.rate),
            angular_acceleration: point.angular_velocity.scale(place.acceleration)
                + (point.angular_acceleration).scale(place.rate * place.rate),
            ..point
        }
    }

    /// The orientation at `time`.
    pub(super) fn at(&self, time: f64) -> OrientationPoint {
        match self {
            Self::Turn { from, turn, share } => {
                let share = share.at(time);
                let axis = *from * *turn;
                OrientationPoint {
                    rotation: *from * rotation_matrix(turn.scale(share.position)),
                    angular_velocity: axis.scale(share.rate),
                    angular_acceleration: axis.scale(share.acceleration),
                }
            }
            Self::Rows(rows) => rows.at(time),
        }
    }

    /// Instants at which the motion is not smooth.
    pub(super) fn breakpoints(&self) -> Vec<f64> {
        match self {
            Self::Turn { share, .. } => share.breakpoints(),
            Self::Rows(rows) => rows.time_s.clone(),
        }
    }
}

/// Rotation vector, in the axes of the start, from there to the orientation that is given.
fn turn(
    start: &Matrix<f64>,
    vector: Option<[f64; 3]>,
    quaternion: Option<[f64; 4]>,
    relative_to: OrientationFrame,
) -> Vector<f64> {
    let given = match (vector, quaternion) {
        (Some(vector), _) if relative_to == OrientationFrame::Start => return Vector(vector),
        (Some(vector), _) => rotation_matrix(Vector(vector)),
        (None, Some(quaternion)) => Quaternion(quaternion).matrix(),
        (None, None) => return Vector::zero(),
    };
    match relative_to {
        OrientationFrame::Ground => rotation_vector_of(&(start.transpose() * given)),
        OrientationFrame::Start => rotation_vector_of(&given),
    }
}

impl Rows {
    fn new(table: &OrientationTableSpec, start: &Matrix<f64>) -> Self {
        let rows = table.quaternions().into_iter();
        let rotation: Vec<Matrix<f64>> = rows
            .map(|row| match table.relative_to {
                OrientationFrame::Ground => Quaternion(row).matrix(),
                OrientationFrame::Start => *start * Quaternion(row).matrix(),
            })
            .collect();
        let time_s = table.places().1.to_vec();
        let ways = time_s.windows(2).zip(rotation.windows(2));
        let ways = ways.map(|(times, rotations)| Way {
            duration: times[1] - times[0],
            turn: rotation_vector_of(&(rotations[0].transpose() * rotations[1])),
            rates: [Vector::zero(); 2],
        });
        let mut ways: Vec<Way> = ways.collect();
        let velocity = angular_velocities(&ways);
        for (way, pair) in ways.iter_mut().zip(velocity.windows(2)) {
            way.rates = [pair[0], end_rate(way.turn, pair[1])];
        }
        Self {
            time_s,
            rotation,
            ways,
        }
    }

    fn at(&self, time: f64) -> OrientationPoint {
        let held = |rotation: &Matrix<f64>| OrientationPoint {
            rotation: *rotation,
            angular_velocity: Vector::zero(),
            angular_acceleration: Vector::zero(),
        };
        let (first, last) = (self.time_s[0], self.time_s[self.ways.len()]);
        if time < first {
            return held(&self.rotation[0]);
        }
        if time >= last {
            return held(&self.rotation[self.ways.len()]);
        }
        let row = interval(&self.time_s, time);
        let [vector, rate, acceleration] = self.ways[row].at(time - self.time_s[row]);
        let (axes, vector) = (self.rotation[row], RotationVector::new(vector));
        let gamma = vector.rate_matrix();
        OrientationPoint {
            rotation: axes * vector.matrix(),
            angular_velocity: axes * (gamma * rate),
            angular_acceleration: axes * (gamma * acceleration + vector.angular_bias(rate)),
        }
    }
}

impl Way {
    /// Rotation vector with its first two derivatives at a time since the beginning.
    fn at(&self, time: f64) -> [Vector<f64>; 3] {
        let (h, s) = (self.duration, time / self.duration);
        let [first, last] = self.rates.map(|rate| rate.scale(h));
        let sum = |a: f64, b: f64, c: f64| first.scale(a) + self.turn.scale(b) + last.scale(c);
        [
            sum(
                s * (1.0 - s) * (1.0 - s),
                s * s * (3.0 - 2.0 * s),
                s * s * (s - 1.0),
            ),
            sum(
                (1.0 - s) * (1.0 - 3.0 * s),
                6.0 * s * (1.0 - s),
                s * (3.0 * s - 2.0),
            )
            .scale(1.0 / h),
            sum(6.0 * s - 4.0, 6.0 - 12.0 * s, 6.0 * s - 2.0).scale(1.0 / (h * h)),
        ]
    }
}

/// Rate of the rotation vector at the end of a turn for an angular velocity in the axes there.
fn end_rate(turn: Vector<f64>, velocity: Vector<f64>) -> Vector<f64> {
    inverse_rate_matrix(turn).transpose() * velocity
}

/// Angular velocity at every row, in its own axes, at which the angular acceleration is continuous: Gauss–Seidel, whose
/// diagonal outweighs the rest.
fn angular_velocities(ways: &[Way]) -> Vec<Vector<f64>> {
    let mut velocity = vec![Vector::zero(); ways.len() + 1];
    for _ in 0..MOST_SWEEPS {
        let (mut change, mut size) = (0.0_f64, 0.0_f64);
        for row in 1..ways.len() {
            let [before, after] = [&ways[row - 1], &ways[row]];
            let [h, k] = [before.duration, after.duration];
            let vector = RotationVector::new(before.turn);
            let bias = vector.angular_bias(end_rate(before.turn, velocity[row]));
            let right = before.turn.scale(6.0 / (h * h)) + after.turn.scale(6.0 / (k * k))
                - vector.matrix().transpose() * bias
                - (vector.rate_matrix().transpose() * velocity[row - 1]).scale(2.0 / h)
                - end_rate(after.turn, velocity[row + 1]).scale(2.0 / k);
            let next = right.scale(1.0 / (4.0 / h + 4.0 / k));
            let step = next - velocity[row];
            change = change.max(step.dot(step));
            size = size.max(next.dot(next));
            velocity[row] = next;
        }
        // squares: rounding
        if change <= 1e-31 * size {
            break;
        }
    }
    velocity
}

#[cfg(test)]
mod tests;
