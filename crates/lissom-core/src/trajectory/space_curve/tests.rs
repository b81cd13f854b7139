use super::*;
use lissom_spec::spec::{ConstantRateSpec, LinePathSpec, MotionProfileSpec};

/// Rounding of places and lengths of a few metres.
const ROUNDING: f64 = 1e-14;

fn path() -> MarkerPathSpec {
    MarkerPathSpec {
        from_m: None,
        line: None,
        arc: None,
        spline: None,
        distance: MotionProfileSpec::ConstantRate(ConstantRateSpec::default()),
    }
}

fn arc(arc: ArcPathSpec) -> SpaceCurve {
    let path = MarkerPathSpec {
        arc: Some(arc),
        ..path()
    };
    SpaceCurve::new(&path, Vector([1.3, 0.2, 0.5])).unwrap()
}

fn spline(points: &[[f64; 3]]) -> SpaceCurve {
    let path = MarkerPathSpec {
        from_m: Some(points[0]),
        spline: Some(SplinePathSpec {
            through_m: points[1..].to_vec(),
        }),
        ..path()
    };
    SpaceCurve::new(&path, Vector::zero()).unwrap()
}

/// Points of uneven distance that turn sharply.
fn knotted() -> SpaceCurve {
    spline(&[
        [0.0, 0.0, 0.0],
        [0.3, 0.1, 0.0],
        [0.35, 0.6, 0.4],
        [-0.2, 0.5, 0.3],
        [-0.1, 0.45, -0.6],
    ])
}

#[track_caller]
fn assert_near(a: Vector<f64>, b: Vector<f64>, tolerance: f64) {
    assert!(norm(a - b) <= tolerance, "{a:?} {b:?}");
}

/// Closed form: an arc about an axis keeps its distance from it, has the curvature of a circle, and ends after its angle; in either
/// direction and beyond a turn.
#[test]
fn arcs_are_circles() {
    let axis = Vector([2.0, -1.0, 2.0]).scale(1.0 / 3.0);
    let center = Vector([0.4, -0.3, 0.1]);
    for angle in [1.2, -0.7, 8.0] {
        let curve = arc(ArcPathSpec {
            center_m: Some(center.0),
            axis: Some(axis.scale(7.0).0),
            angle_rad: Some(angle),
            ..ArcPathSpec::default()
        });
        let start = Vector([1.3, 0.2, 0.5]);
        let height = axis.dot(start - center);
        let radius = norm(start - center - axis.scale(height));
        assert!((curve.length() - radius * angle.abs()).abs() < ROUNDING * 10.0);
        for part in 0..=8 {
            let distance = curve.length() * f64::from(part) / 8.0;
            let [place, tangent, curvature] = curve.at(distance);
            let turn = axis.scale(angle * f64::from(part) / 8.0);
            let turned = crate::rotation::rotation_matrix(turn) * (start - center);
            assert_near(place, center + turned, 10.0 * ROUNDING);
            assert!((norm(tangent) - 1.0).abs() < ROUNDING);
            let inward = center + axis.scale(height) - place;
            assert_near(
                curvature,
                inward.scale(1.0 / (radius * radius)),
                10.0 * ROUNDING,
            );
        }
    }
}

/// Identity: an arc through points passes both of them, the first before the second, on either side of half a turn.
#[test]
fn arcs_pass_their_points() {
    let from = Vector([1.3, 0.2, 0.5]);
    for (via, to) in [
        ([1.1, 0.6, 0.6], [0.4, 0.9, 0.7]),
        ([0.2, 0.9, 0.7], [1.25, 0.1, 0.5]),
    ] {
        let curve = arc(ArcPathSpec {
            via_m: Some(via),
            to_m: Some(to),
            ..ArcPathSpec::default()
        });
        assert_near(curve.at(0.0)[0], from, 10.0 * ROUNDING);
        assert_near(curve.at(curve.length())[0], Vector(to), 10.0 * ROUNDING);
        // the point between is where the arc comes nearest to it
        let gap = |distance: f64| norm(curve.at(distance)[0] - Vector(via));
        let steps = (0..=20_000).map(|step| gap(curve.length() * f64::from(step) / 2e4));
        let nearest = steps.fold(f64::INFINITY, f64::min);
        assert!(nearest < 0.5 * curve.length() / 2e4, "{nearest}");
    }
}

/// Property: a spline passes its points, is run through at a speed of one (differences of the place), and its derivatives are those of
/// its place, across the points too.
#[test]
fn splines_are_measured_along_themselves() {
    // error of central differences, of second order in the step with third derivatives of some hundred, and of rounding over it
    const STEP: f64 = 1e-5;
    const DIFFERENCES: f64 = 1e-7;
    let curve = knotted();
    let SpaceCurve::Spline(inner) = &curve else {
        panic!("a spline");
    };
    for row in 1..=4 {
        let place = curve.at(inner.distances[row * PIECES])[0];
        let values = [0, 1, 2].map(|axis| inner.components[axis][0][row]);
        assert_near(place, Vector(values), ROUNDING);
    }
    for part in 0..=200 {
        // a little beyond either end, where it goes on straight
        let distance = curve.length() * (f64::from(part) / 190.0 - 0.02);
        let [[before, t0, _], [_, tangent, curvature], [after, t1, _]] =
            [-STEP, 0.0, STEP].map(|step| curve.at(distance + step));
        assert!((norm(tangent) - 1.0).abs() < ROUNDING);
        let rate = (after - before).scale(0.5 / STEP);
        assert_near(rate, tangent, DIFFERENCES);
        let bend = (t1 - t0).scale(0.5 / STEP);
        // the rate of the curvature jumps at the points
        assert_near(bend, curvature, DIFFERENCES.max(STEP * 200.0));
    }
}

/// Closed form: the length of a spline between two pieces is what a sum of many chords tends to, of second order.
#[test]
fn lengths_of_splines_are_sums_of_chords() {
    let curve = knotted();
    let sum = |count: u32| {
        let at = |i: u32| curve.at(curve.length() * f64::from(i) / f64::from(count))[0];
        (0..count).map(|i| norm(at(i + 1) - at(i))).sum::<f64>()
    };
    let (coarse, fine) = (sum(2000), sum(4000));
    let extrapolated = fine + (fine - coarse) / 3.0;
    // the next order of the chords
    assert!(
        (extrapolated - curve.length()).abs() < 1e-9,
        "{extrapolated}"
    );
}

/// By hand: paths that lead nowhere are told.
#[test]
fn no_path_is_made_of_nothing() {
    let start = Vector([1.0, 0.0, 0.0]);
    let reason = |path: MarkerPathSpec| match SpaceCurve::new(&path, start) {
        Err(NominalError::NoPath { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let line = LinePathSpec { to_m: start.0 };
    let none = MarkerPathSpec {
        line: Some(line),
        ..path()
    };
    assert!(reason(none).contains("to_m"));
    let arc = |arc| MarkerPathSpec {
        arc: Some(arc),
        ..path()
    };
    let straight = ArcPathSpec {
        via_m: Some([2.0, 0.0, 0.0]),
        to_m: Some([3.0, 0.0, 0.0]),
        ..ArcPathSpec::default()
    };
    assert!(reason(arc(straight)).contains("on a line"));
    let on_axis = ArcPathSpec {
        center_m: Some([0.0; 3]),
        axis: Some([1.0, 0.0, 0.0]),
        angle_rad: Some(1.0),
        ..ArcPathSpec::default()
    };
    assert!(reason(arc(on_axis)).contains("center_m"));
    let twice = MarkerPathSpec {
        spline: Some(SplinePathSpec {
            through_m: vec![start.0, [2.0, 0.0, 0.0]],
        }),
        ..path()
    };
    assert!(reason(twice).contains("same"));
}
