use super::*;
use lissom_spec::spec::{AngularVelocitySpec, Spline};

/// Step of central differences.
const STEP: f64 = 1e-4;
/// Their error, of fourth order in the step and of rounding over it.
const DIFFERENCES: f64 = 1e-10;

fn start() -> Matrix<f64> {
    RotationVector::new(Vector([0.4, -0.7, 0.9])).matrix()
}

/// Rows that turn far and about changing axes, at uneven instants.
fn table(relative_to: OrientationFrame) -> OrientationTableSpec {
    OrientationTableSpec {
        time_s: vec![0.1, 0.4, 1.0, 1.3, 2.1, 2.2],
        rotation_vector_rad: Some(vec![
            [0.0, 0.0, 0.0],
            [0.5, -1.2, 0.3],
            [1.9, 0.4, -1.1],
            [0.2, 2.6, 0.5],
            [-1.4, 0.8, 1.0],
            [-1.2, 0.9, 1.3],
        ]),
        relative_to,
        ..OrientationTableSpec::default()
    }
}

fn curves() -> Vec<OrientationCurve> {
    let cycloid = |vector, quaternion, relative_to| {
        OrientationMotionSpec::Cycloid(OrientationCycloidSpec {
            final_rotation_vector_rad: vector,
            final_quaternion: quaternion,
            relative_to,
            from_s: 0.2,
            duration_s: 1.5,
        })
    };
    let motions = [
        cycloid(Some([1.0, 0.5, -1.3]), None, OrientationFrame::Ground),
        cycloid(None, Some([0.5, -0.5, 0.5, 0.5]), OrientationFrame::Start),
        // more than a whole turn
        cycloid(Some([4.0, 5.0, -6.0]), None, OrientationFrame::Start),
        OrientationMotionSpec::CycloidalRamps(OrientationRampsSpec {
            final_rotation_vector_rad: Some([-0.3, 2.0, 0.4]),
            duration_s: 2.0,
            ramp_s: 0.5,
            ..OrientationRampsSpec::default()
        }),
        OrientationMotionSpec::ConstantRate(AngularVelocitySpec {
            angular_velocity_rad_per_s: [3.0, -4.0, 5.0],
        }),
        OrientationMotionSpec::Table(table(OrientationFrame::Ground)),
        OrientationMotionSpec::Table(table(OrientationFrame::Start)),
    ];
    let of = |motion: &OrientationMotionSpec| OrientationCurve::new(motion, start(), None);
    motions.iter().map(of).collect()
}

fn assert_near(a: Vector<f64>, b: Vector<f64>, tolerance: f64, what: &str) {
    let apart = a - b;
    let scale = 1.0 + b.dot(b).sqrt();
    let error = apart.dot(apart).sqrt() / scale;
    assert!(error <= tolerance, "{what}: {a:?} {b:?}");
}

/// Finite differences: angular velocity is that of the rotation matrices, angular acceleration its derivative.
#[test]
fn rates_are_derivatives() {
    for (number, curve) in curves().iter().enumerate() {
        let mut moved = 0.0;
        for instant in 0..47 {
            let time = 0.013 + 0.05 * f64::from(instant);
            let now = curve.at(time);
            let differences = |step: f64| {
                let (before, after) = (curve.at(time - step), curve.at(time + step));
                // of the rotation as seen from the instant itself, whose rotation vectors have its rate there
                let seen = |point: &OrientationPoint| {
                    rotation_vector_of(&(point.rotation * now.rotation.transpose()))
                };
                let turn = seen(&after) - seen(&before);
                let change = after.angular_velocity - before.angular_velocity;
                [turn, change].map(|x| x.scale(0.5 / step))
            };
            let (once, twice) = (differences(STEP), differences(2.0 * STEP));
            let [rate, change] =
                [0, 1].map(|i| once[i].scale(4.0 / 3.0) - twice[i].scale(1.0 / 3.0));
            let what = format!("curve {number} at {time}");
            assert_near(now.angular_velocity, rate, DIFFERENCES, &what);
            assert_near(now.angular_acceleration, change, 10.0 * DIFFERENCES, &what);
            moved += now.angular_velocity.dot(now.angular_velocity);
        }
        assert!(moved > 1.0, "curve {number} stands");
    }
}

/// A table is gone through its rows, at rest at both ends, with continuous angular velocity and acceleration between.
#[test]
fn tables_pass_their_rows_smoothly() {
    const ROUNDING: f64 = 1e-12;
    for frame in [OrientationFrame::Ground, OrientationFrame::Start] {
        let table = table(frame);
        let rows = table.quaternions();
        let axes = match frame {
            OrientationFrame::Ground => Matrix::identity(),
            OrientationFrame::Start => start(),
        };
        let curve =
            OrientationCurve::new(&OrientationMotionSpec::Table(table.clone()), start(), None);
        for (row, &time) in rows.iter().zip(&table.time_s) {
            let wanted = axes * Quaternion(*row).matrix();
            let found = curve.at(time).rotation;
            let apart = rotation_vector_of(&(wanted * found.transpose()));
            assert_near(apart, Vector::zero(), ROUNDING, "place");
        }
        for &time in &table.time_s[1..table.time_s.len() - 1] {
            let (before, after) = (curve.at(time * (1.0 - 1e-15)), curve.at(time));
            let [a, b] = [before, after].map(|point| point.angular_velocity);
            assert_near(a, b, ROUNDING, "angular velocity");
            let [a, b] = [before, after].map(|point| point.angular_acceleration);
            assert_near(a, b, 100.0 * ROUNDING, "angular acceleration");
        }
        let [first, last] = [0.1, 2.2].map(|time| curve.at(time).angular_velocity);
        assert_near(first, Vector::zero(), ROUNDING, "start");
        assert_near(last, Vector::zero(), ROUNDING, "end");
    }
}

/// Rows as far apart as a model may have them are gone through as smoothly.
#[test]
fn rows_may_be_three_radians_apart() {
    let axes = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.6, 0.8],
        [0.6, 0.0, -0.8],
        [-0.48, 0.6, 0.64],
    ];
    let mut rotation = Matrix::identity();
    let mut rows = vec![[1.0, 0.0, 0.0, 0.0]];
    for axis in axes {
        rotation = rotation * RotationVector::new(Vector(axis).scale(3.0)).matrix();
        rows.push(Quaternion::of_matrix(&rotation).0);
    }
    let table = OrientationTableSpec {
        time_s: (0..rows.len()).map(|row| row as f64).collect(),
        quaternion: Some(rows),
        ..OrientationTableSpec::default()
    };
    let curve = OrientationCurve::new(&OrientationMotionSpec::Table(table), start(), None);
    for row in 1..axes.len() {
        let time = row as f64;
        let (before, after) = (curve.at(time * (1.0 - 1e-15)), curve.at(time));
        let [a, b] = [before, after].map(|point| point.angular_acceleration);
        assert_near(a, b, 1e-10, "angular acceleration");
    }
}

/// Special case: about one axis a table of orientations is the cubic spline of the angle.
#[test]
fn one_axis_is_the_spline_of_an_angle() {
    let axis = Vector([2.0, -1.0, 2.0]).scale(1.0 / 3.0);
    let (times, angles) = (vec![0.0, 0.5, 0.9, 2.0], vec![0.1, 1.4, 0.3, 2.2]);
    let profile = MotionProfile::Table {
        time_s: times.clone(),
        value: angles.clone(),
        spline: Spline::Cubic,
    };
    let fixed = OrientationCurve::about(axis, MotionCurve::new(&profile, 0.0));
    let rows = angles.iter().map(|angle| axis.scale(*angle).0);
    let table = OrientationTableSpec {
        time_s: times,
        rotation_vector_rad: Some(rows.collect()),
        ..OrientationTableSpec::default()
    };
    let general = OrientationCurve::new(&OrientationMotionSpec::Table(table), start(), None);
    for instant in 0..40 {
        let time = 0.051 * f64::from(instant);
        let (a, b) = (general.at(time), fixed.at(time));
        let apart = rotation_vector_of(&(a.rotation * b.rotation.transpose()));
        assert_near(apart, Vector::zero(), 1e-12, "place");
        assert_near(a.angular_velocity, b.angular_velocity, 1e-12, "rate");
        let [a, b] = [a, b].map(|point| point.angular_acceleration);
        assert_near(a, b, 1e-11, "acceleration");
    }
}

/// A turn about a fixed axis goes on exactly after many whole turns.
#[test]
fn whole_turns_lose_nothing() {
    let axis = Vector([0.0, 0.6, 0.8]);
    let rotation = MotionProfile::ConstantRate { rate: 1.0 };
    let curve = OrientationCurve::about(axis, MotionCurve::new(&rotation, 0.0));
    let turns = 20.0 * std::f64::consts::TAU;
    let apart = curve.at(turns + 0.3).rotation * curve.at(0.3).rotation.transpose();
    assert_near(rotation_vector_of(&apart), Vector::zero(), 1e-13, "turns");
}
