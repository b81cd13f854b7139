//! Identities of the spatial algebra, against 6 × 6 matrices and exact derivatives.

use lissom_engine::testing::Random;
use lissom_spatial::{
    ArticulatedInertia, Dual, Force, Matrix, Motion, Quaternion, RigidInertia, RotationVector,
    Symmetric, Transform, Vector, inverse_rate_matrix, rotation_vector_of,
};
use nalgebra::{Matrix6, Vector6};

/// A few dozen operations on numbers of order one.
const ROUNDING: f64 = 1e-13;
/// Where an inverse sine or a square root costs half of the digits near π, far from it only a few.
const INVERSE: f64 = 1e-12;

const TRIALS: u64 = 20;

type Rate = Dual<f64, 1>;

fn trials(test: impl Fn(&mut Random)) {
    for seed in 0..TRIALS {
        test(&mut Random::new(seed));
    }
}

fn vector(random: &mut Random) -> Vector<f64> {
    Vector(random.vector(1.0))
}

fn motion(random: &mut Random) -> Motion<f64> {
    Motion::new(vector(random), vector(random))
}

fn force(random: &mut Random) -> Force<f64> {
    Force::new(vector(random), vector(random))
}

fn rotation(random: &mut Random) -> Matrix<f64> {
    RotationVector::new(Vector(random.vector(1.7))).matrix()
}

fn transform(random: &mut Random) -> Transform<f64> {
    Transform::new(rotation(random), vector(random))
}

/// Mass spread over a few points.
fn points(random: &mut Random) -> Vec<(f64, Vector<f64>)> {
    (0..5)
        .map(|_| (random.uniform(0.1, 1.0), vector(random)))
        .collect()
}

fn inertia_of(points: &[(f64, Vector<f64>)]) -> RigidInertia<f64> {
    let mut second = Matrix::zero();
    let (mut mass, mut first) = (0.0, Vector::zero());
    for &(m, p) in points {
        mass += m;
        first += p.scale(m);
        second += p.outer(p).scale(m);
    }
    RigidInertia::from_moments(mass, first, second)
}

fn articulated(random: &mut Random) -> ArticulatedInertia<f64> {
    let mut inertia = ArticulatedInertia::from(inertia_of(&points(random)));
    let taken = force(random).scale(0.1);
    inertia.subtract_square(taken, 0.7);
    inertia
}

fn of_motion(m: Motion<f64>) -> Vector6<f64> {
    Vector6::from_iterator(m.angular.0.into_iter().chain(m.linear.0))
}

fn of_force(f: Force<f64>) -> Vector6<f64> {
    Vector6::from_iterator(f.moment.0.into_iter().chain(f.force.0))
}

fn of_articulated(inertia: &ArticulatedInertia<f64>) -> Matrix6<f64> {
    let (angular, linear) = (inertia.angular.full(), inertia.linear.full());
    Matrix6::from_fn(|i, j| match (i / 3, j / 3) {
        (0, 0) => angular.0[i][j],
        (0, 1) => inertia.coupling.0[i][j - 3],
        (1, 0) => inertia.coupling.0[j][i - 3],
        _ => linear.0[i - 3][j - 3],
    })
}

/// The map of motions to the child frame, column by column.
fn to_child(pose: &Transform<f64>) -> Matrix6<f64> {
    let rotation = Matrix6::from_fn(|i, j| match (i / 3, j / 3) {
        (0, 0) => pose.rotation.0[j][i],
        (1, 1) => pose.rotation.0[j - 3][i - 3],
        _ => 0.0,
    });
    // v at the child's origin is v + ω × p
    let p = pose.translation;
    let skew = Matrix::skew(p);
    let shift = Matrix6::from_fn(|i, j| {
        let identity = if i == j { 1.0 } else { 0.0 };
        if i >= 3 && j < 3 {
            -skew.0[i - 3][j]
        } else {
            identity
        }
    });
    rotation * shift
}

#[track_caller]
fn close<const N: usize>(found: [f64; N], expected: [f64; N], tolerance: f64) {
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

fn six(x: Vector6<f64>) -> [f64; 6] {
    x.into()
}

fn nine(x: Matrix<f64>) -> [f64; 9] {
    std::array::from_fn(|i| x.0[i / 3][i % 3])
}

#[test]
fn transforms_compose_and_invert() {
    trials(|random| {
        let (a, b) = (transform(random), transform(random));
        let (x, m, f) = (vector(random), motion(random), force(random));
        close((a * b).point(x).0, a.point(b.point(x)).0, ROUNDING);
        close((a.inverse() * a).point(x).0, x.0, ROUNDING);
        let steps = b.motion_to_child(a.motion_to_child(m));
        let at_once = (a * b).motion_to_child(m);
        close(six(of_motion(at_once)), six(of_motion(steps)), ROUNDING);
        let steps = a.force_to_parent(b.force_to_parent(f));
        let at_once = (a * b).force_to_parent(f);
        close(six(of_force(at_once)), six(of_force(steps)), ROUNDING);
        let back = a.motion_to_parent(a.motion_to_child(m));
        close(six(of_motion(back)), six(of_motion(m)), ROUNDING);
    });
}

#[test]
fn transforms_are_the_matrices_of_textbooks() {
    trials(|random| {
        let pose = transform(random);
        let (m, f) = (motion(random), force(random));
        let matrix = to_child(&pose);
        let expected = matrix * of_motion(m);
        close(
            six(of_motion(pose.motion_to_child(m))),
            six(expected),
            ROUNDING,
        );
        // forces transform by the transpose, which keeps the power
        let expected = matrix.transpose() * of_force(f);
        close(
            six(of_force(pose.force_to_parent(f))),
            six(expected),
            ROUNDING,
        );
        let power = m.dot(pose.force_to_parent(f));
        close([pose.motion_to_child(m).dot(f)], [power], ROUNDING);
    });
}

#[test]
fn rigid_inertia_shifts_like_its_points() {
    trials(|random| {
        let points = points(random);
        let pose = transform(random);
        let moved: Vec<_> = points.iter().map(|&(m, p)| (m, pose.point(p))).collect();
        let (found, expected) = (inertia_of(&points).to_parent(&pose), inertia_of(&moved));
        close([found.mass], [expected.mass], ROUNDING);
        close(found.first_moment.0, expected.first_moment.0, ROUNDING);
        close(found.rotational.0, expected.rotational.0, ROUNDING);

        // momentum of the points
        let twist = motion(random);
        let mut total = Force::zero();
        for &(mass, p) in &points {
            let momentum = (twist.linear + twist.angular.cross(p)).scale(mass);
            total += Force::new(p.cross(momentum), momentum);
        }
        let found = inertia_of(&points).times(twist);
        close(six(of_force(found)), six(of_force(total)), ROUNDING);
    });
}

#[test]
fn articulated_inertia_is_a_symmetric_matrix() {
    trials(|random| {
        let inertia = articulated(random);
        let (pose, m) = (transform(random), motion(random));
        let expected = of_articulated(&inertia) * of_motion(m);
        close(six(of_force(inertia.times(m))), six(expected), ROUNDING);

        let shift = to_child(&pose);
        let expected = shift.transpose() * of_articulated(&inertia) * shift;
        let found = of_articulated(&inertia.to_parent(&pose));
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= ROUNDING);
        }

        let taken = force(random);
        let mut less = inertia;
        less.subtract_square(taken, 1.3);
        let square = of_force(taken) * of_force(taken).transpose();
        let expected = of_articulated(&inertia) - square * 1.3;
        for (a, b) in of_articulated(&less).iter().zip(&expected) {
            assert!((a - b).abs() <= ROUNDING);
        }
    });
}

/// A pose that moves with a twist of the child frame, given in child components.
fn moving(pose: &Transform<f64>, twist: Motion<f64>) -> Transform<Rate> {
    let turning = pose.rotation * Matrix::skew(twist.angular);
    let sliding = pose.rotation * twist.linear;
    let dual = |value: f64, rate: f64| Rate {
        value,
        tangent: [rate],
    };
    Transform::new(
        Matrix(std::array::from_fn(|i| {
            std::array::from_fn(|j| dual(pose.rotation.0[i][j], turning.0[i][j]))
        })),
        Vector(std::array::from_fn(|i| {
            dual(pose.translation[i], sliding[i])
        })),
    )
}

fn constant(x: Vector<f64>) -> Vector<Rate> {
    Vector::constant(x.0)
}

#[test]
fn cross_products_are_rates_of_what_a_frame_carries() {
    trials(|random| {
        let (pose, twist) = (transform(random), motion(random));
        let (m, f) = (motion(random), force(random));
        let moving = moving(&pose, twist);
        let rate = |x: Vector<Rate>| x.0.map(|x| x.tangent[0]);

        let carried = moving.motion_to_parent(Motion::new(constant(m.angular), constant(m.linear)));
        let expected = pose.motion_to_parent(twist.cross_motion(m));
        close(rate(carried.angular), expected.angular.0, ROUNDING);
        close(rate(carried.linear), expected.linear.0, ROUNDING);

        let carried = moving.force_to_parent(Force::new(constant(f.moment), constant(f.force)));
        let expected = pose.force_to_parent(twist.cross_force(f));
        close(rate(carried.moment), expected.moment.0, ROUNDING);
        close(rate(carried.force), expected.force.0, ROUNDING);

        // dual to each other: the power of a carried pair is constant
        let power = twist.cross_motion(m).dot(f) + m.dot(twist.cross_force(f));
        close([power], [0.0], ROUNDING);
    });
}

#[test]
fn rotation_vectors_and_quaternions_agree() {
    trials(|random| {
        for size in [1e-9, 1e-4, 0.3, 1.75] {
            let vector = Vector(random.vector(size));
            let matrix = RotationVector::new(vector).matrix();
            let quaternion = Quaternion::of_rotation_vector(vector);
            close(nine(matrix), nine(quaternion.matrix()), ROUNDING);
            let length = quaternion.0.map(|x| x * -1.3);
            close(nine(matrix), nine(Quaternion(length).matrix()), ROUNDING);
            close(
                nine(matrix * matrix.transpose()),
                nine(Matrix::identity()),
                ROUNDING,
            );
            close(rotation_vector_of(&matrix).0, vector.0, INVERSE);
        }
    });
}

#[test]
fn rotations_by_nearly_half_a_turn_come_back() {
    // the rotation vector is within rounding / sqrt(rounding) of the boundary only at π itself
    for axis in [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.6, -0.64, 0.48],
    ] {
        for angle in [std::f64::consts::PI - 1e-6, 3.0, 2.0] {
            let vector = Vector(axis).scale(angle);
            let back = rotation_vector_of(&Quaternion::of_rotation_vector(vector).matrix());
            close(back.0, vector.0, INVERSE);
        }
    }
}

/// Γ, and the bias, by differentiating the exponential along a straight path of rotation vectors.
#[test]
fn rates_of_rotation_vectors_are_angular_velocities() {
    trials(|random| {
        for size in [0.0, 1e-6, 0.2, 1.5] {
            let (theta, theta_rate) = (Vector(random.vector(size)), vector(random));
            let path = |i: usize| Dual::<Rate, 1> {
                value: Rate {
                    value: theta[i],
                    tangent: [theta_rate[i]],
                },
                tangent: [Rate {
                    value: theta_rate[i],
                    tangent: [0.0],
                }],
            };
            let exponential = RotationVector::new(Vector(std::array::from_fn(path))).matrix();
            let value = Matrix(exponential.0.map(|row| row.map(|x| x.value)));
            let rate = Matrix(exponential.0.map(|row| row.map(|x| x.tangent[0])));
            let skew = rate * value.transpose();
            let omega = [skew.0[2][1], skew.0[0][2], skew.0[1][0]];

            let at = RotationVector::new(theta);
            close(
                (at.rate_matrix() * theta_rate).0,
                omega.map(|x| x.value),
                ROUNDING,
            );
            close(
                at.angular_bias(theta_rate).0,
                omega.map(|x| x.tangent[0]),
                ROUNDING,
            );
        }
    });
}

#[test]
fn quaternion_rates_are_angular_velocities_of_the_child() {
    trials(|random| {
        let start = Quaternion::of_rotation_vector(Vector(random.vector(1.5)));
        let omega = vector(random);
        let rate = start.rate(omega);
        let moving = Quaternion(std::array::from_fn(|i| Rate {
            value: start.0[i],
            tangent: [rate.0[i]],
        }));
        let matrix = moving.matrix();
        let turning = Matrix(matrix.0.map(|row| row.map(|x| x.tangent[0])));
        let expected = start.matrix() * Matrix::skew(omega);
        close(nine(turning), nine(expected), ROUNDING);

        let turned = start.rotated(omega).matrix();
        let expected = start.matrix() * RotationVector::new(omega).matrix();
        close(nine(turned), nine(expected), ROUNDING);
    });
}

#[test]
fn matrix_helpers_do_what_they_say() {
    trials(|random| {
        let (a, b, x) = (vector(random), vector(random), vector(random));
        let m = rotation(random);
        close((Matrix::skew(a) * x).0, a.cross(x).0, ROUNDING);
        close((a.outer(b) * x).0, a.scale(b.dot(x)).0, ROUNDING);
        close(a.outer(b).cross_of_outer().0, a.cross(b).0, ROUNDING);
        close([a.outer(b).trace()], [a.dot(b)], ROUNDING);
        close(m.transpose_mul(x).0, (m.transpose() * x).0, ROUNDING);
        let square = a.outer(a) + b.outer(b).scale(-2.0);
        let symmetric = Symmetric::upper(&square);
        close(nine(symmetric.full()), nine(square), ROUNDING);
        close((symmetric * x).0, (square * x).0, ROUNDING);
        close(
            a.symmetric_outer(a.scale(-2.0)).0,
            Symmetric::upper(&a.outer(a).scale(-2.0)).0,
            ROUNDING,
        );
        let expected = m * square * m.transpose();
        close(nine(symmetric.rotate(m).full()), nine(expected), ROUNDING);
    });
}

/// Identity: rates of rotation vectors become angular velocities and rates again, for small and large angles.
#[test]
fn rates_of_rotation_vectors_are_inverted() {
    trials(|random| {
        for size in [0.0, 1e-6, 5e-3, 0.01, 0.3, 1.75] {
            let vector = Vector(random.vector(size));
            let product = inverse_rate_matrix(vector) * RotationVector::new(vector).rate_matrix();
            close(nine(product), nine(Matrix::identity()), ROUNDING);
        }
    });
}
