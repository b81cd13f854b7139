//! Profiles against closed forms and differences.

use lissom_spec::spec::{RampProfile, ShapedModeSpec, ShapingSpec};

use super::*;

fn all_motions() -> Vec<MotionProfile> {
    vec![
        MotionProfile::Cycloid {
            initial: Some(0.2),
            target: 1.5,
            from_s: 0.1,
            duration_s: 0.8,
        },
        MotionProfile::CycloidalRamps {
            initial: Some(0.2),
            target: 1.5,
            from_s: 0.05,
            duration_s: 0.9,
            ramp_s: 0.3,
        },
        MotionProfile::Quintic {
            initial: Some(0.2),
            target: 1.5,
            from_s: 0.05,
            duration_s: 0.9,
        },
        MotionProfile::Ramps {
            initial: Some(0.2),
            target: 1.5,
            from_s: 0.05,
            ramps: RampProfile::Durations {
                duration_s: 0.9,
                ramp_s: 0.3,
                jerk_s: 0.0,
            },
        },
        MotionProfile::Ramps {
            initial: Some(0.2),
            target: -1.5,
            from_s: 0.05,
            ramps: RampProfile::Limits {
                rate: 3.0,
                acceleration: 16.0,
                jerk: 170.0,
            },
        },
        MotionProfile::Table {
            time_s: vec![0.0, 0.3, 0.5, 0.7, 1.0],
            value: vec![0.0, 0.2, 0.3, 0.5, 0.6],
            spline: Spline::Quintic,
        },
        MotionProfile::CycloidalRate {
            rate: 2.0,
            from_s: 0.05,
            duration_s: 0.7,
        },
        MotionProfile::Polynomial {
            coefficients: vec![0.1, -0.4, 2.0, 0.7],
            from_s: 0.02,
            until_s: None,
        },
        MotionProfile::Sines {
            amplitude: vec![0.3, 0.1],
            frequency_rad_per_s: vec![5.0, 11.0],
            phase_rad: vec![0.2, -0.4],
            from_s: 0.0,
            until_s: Some(0.95),
        },
        MotionProfile::Table {
            time_s: vec![0.0, 0.2, 0.5, 0.6, 1.0],
            value: vec![0.0, 0.4, 0.3, 0.9, 0.2],
            spline: Spline::Cubic,
        },
        MotionProfile::ConstantRate { rate: 0.3 },
    ]
}

#[test]
fn rates_are_derivatives_of_positions() {
    // central differences err by h²/6 times a third derivative, which is below 5e3 here
    const DIFFERENCE: f64 = 1e-7;
    let h = 1e-5;
    for profile in all_motions() {
        let curve = MotionCurve::new(&profile, 0.4);
        for t in [0.13, 0.31, 0.55, 0.68, 0.87] {
            let (before, after) = (curve.at(t - h), curve.at(t + h));
            let here = curve.at(t);
            let rate = (after.position - before.position) / (2.0 * h);
            let acceleration = (after.rate - before.rate) / (2.0 * h);
            assert!((here.rate - rate).abs() < DIFFERENCE, "{profile:?} at {t}");
            assert!(
                (here.acceleration - acceleration).abs() < DIFFERENCE,
                "{profile:?} at {t}"
            );
        }
    }
}

/// Property: in shares a motion begins where it does and ends where it does, later by as much as the last share; one that goes on at a rate is behind by
/// the mean of their delays. At a constant rate nothing is shared out.
#[test]
fn shares_of_a_motion_begin_and_end_where_it_does() {
    const ROUNDING: f64 = 1e-14;
    let mode = |frequency_rad_per_s| ShapedModeSpec {
        frequency_rad_per_s,
        damping_ratio: 0.05,
    };
    let shaping = ShapingSpec {
        zv: vec![mode(30.0)],
        zvd: vec![mode(50.0)],
    };
    let impulses = shaping.impulses();
    let mean: f64 = impulses.iter().map(|own| own.share * own.delay_s).sum();
    let last = impulses
        .iter()
        .fold(0.0, |last, own| f64::max(last, own.delay_s));
    for profile in all_motions() {
        let curve = MotionCurve::new(&profile, 0.4);
        let shaped = MotionCurve::new(&profile.clone().in_shares(&impulses), 0.4);
        let (begins, ends) = match &profile {
            // begin with a rate, which the checks refuse
            MotionProfile::Polynomial { .. } | MotionProfile::Sines { .. } => continue,
            MotionProfile::ConstantRate { .. } => {
                for time in [0.0, 0.3, 0.9] {
                    assert_eq!(shaped.at(time), curve.at(time));
                }
                continue;
            }
            _ => {
                let breakpoints = curve.breakpoints();
                let (first, rest) = breakpoints.split_first().unwrap();
                (*first, rest.iter().copied().fold(*first, f64::max))
            }
        };
        let close = |one: f64, other: f64| (one - other).abs() < ROUNDING;
        let (own, written) = (shaped.at(begins), curve.at(begins));
        assert!(
            close(own.position, written.position),
            "{profile:?}: {own:?}"
        );
        assert!(close(own.rate, 0.0), "{profile:?}: {own:?}");
        let (own, written) = (shaped.at(ends + last), curve.at(ends + last));
        let behind = mean * written.rate;
        assert!(
            close(own.position, written.position - behind),
            "{profile:?}: {own:?}"
        );
        assert!(close(own.rate, written.rate), "{profile:?}: {own:?}");
    }
}

/// Closed form: half of the way in the middle, at the way over duration less one ramp; at rest at both ends.
#[test]
fn ramps_lead_to_a_constant_rate_and_back() {
    // rounding of a dozen operations on numbers near one
    const ROUNDING: f64 = 1e-14;
    let curve = MotionCurve::new(
        &MotionProfile::CycloidalRamps {
            initial: None,
            target: 1.5,
            from_s: 0.1,
            duration_s: 1.0,
            ramp_s: 0.3,
        },
        0.1,
    );
    for (time, position, rate) in [
        (0.0, 0.1, 0.0),
        (0.1, 0.1, 0.0),
        (0.4, 0.1 + 0.3, 2.0),
        (0.6, 0.8, 2.0),
        (0.8, 1.5 - 0.3, 2.0),
        (1.1, 1.5, 0.0),
        (7.0, 1.5, 0.0),
    ] {
        let point = curve.at(time);
        assert!((point.position - position).abs() < ROUNDING, "{point:?}");
        assert!((point.rate - rate).abs() < ROUNDING, "{point:?}");
        assert!(point.acceleration.abs() < 1e3 * ROUNDING, "{point:?}");
    }
}

#[test]
fn a_spline_passes_through_its_rows_and_starts_at_rest() {
    let profile = MotionProfile::Table {
        time_s: vec![0.0, 0.2, 0.5, 0.6, 1.0],
        value: vec![0.0, 0.4, 0.3, 0.9, 0.2],
        spline: Spline::Cubic,
    };
    let curve = MotionCurve::new(&profile, 7.0);
    for (t, x) in [(0.0, 0.0), (0.2, 0.4), (0.5, 0.3), (0.6, 0.9), (1.0, 0.2)] {
        assert!((curve.at(t).position - x).abs() < 1e-14);
    }
    assert!(curve.at(0.0).rate.abs() < 1e-14);
    assert!(curve.at(1.0 - 1e-12).rate.abs() < 1e-10);
}

#[test]
fn a_step_is_closed_on_the_left_and_open_on_the_right() {
    let curve = LoadCurve::new(&LoadProfile::Step {
        value: 2.0,
        from_s: 0.5,
        until_s: Some(1.0),
    });
    assert_eq!(curve.value(0.5_f64.next_down()), 0.0);
    assert_eq!(curve.value(0.5), 2.0);
    assert_eq!(curve.value(1.0_f64.next_down()), 2.0);
    assert_eq!(curve.value(1.0), 0.0);
    assert_eq!(curve.breakpoints(), [0.5, 1.0]);
}

#[test]
fn a_table_is_linear_between_rows_and_held_outside() {
    let curve = LoadCurve::new(&LoadProfile::Table {
        time_s: vec![1.0, 2.0, 4.0],
        value: vec![10.0, 20.0, 0.0],
    });
    for (t, x) in [
        (0.0, 10.0),
        (1.5, 15.0),
        (2.0, 20.0),
        (3.0, 10.0),
        (9.0, 0.0),
    ] {
        assert!((curve.value(t) - x).abs() < 1e-13);
    }
}

/// Ramps over a way of 1.2 in limits.
fn limited(rate: f64, acceleration: f64, jerk: f64) -> MotionCurve {
    let profile = MotionProfile::Ramps {
        initial: None,
        target: 1.5,
        from_s: 0.1,
        ramps: RampProfile::Limits {
            rate,
            acceleration,
            jerk,
        },
    };
    MotionCurve::new(&profile, 0.3)
}

/// Closed forms: durations of the shortest motions under limits. By hand, of way D, rate v, acceleration a and jerk j: D/v + v/a + a/j with
/// all three reached, D/v + v/a without a jerk, 2 √(D/a) if the rate is not reached either, 4 ∛(D/2j) if nothing but the jerk is,
/// D/v + 2 √(v/j) with the rate and not the acceleration, a/j + √((a/j)² + 4 D/a) with the acceleration and not the rate.
#[test]
fn limits_give_the_shortest_motion() {
    const ROUNDING: f64 = 1e-13;
    let free = f64::INFINITY;
    for (limits, duration) in [
        ([2.0, 8.0, 80.0], 0.6 + 0.25 + 0.1),
        ([2.0, 8.0, free], 0.6 + 0.25),
        ([100.0, 8.0, free], 2.0 * 0.15_f64.sqrt()),
        ([100.0, 900.0, 75.0], 4.0 * 0.2),
        ([1.0, 900.0, 25.0], 1.2 + 2.0 * 0.2),
        ([100.0, 5.0, 50.0], 0.1 + (0.01_f64 + 0.96).sqrt()),
    ] {
        let curve = limited(limits[0], limits[1], limits[2]);
        let breakpoints = curve.breakpoints();
        let end = breakpoints.iter().copied().fold(0.0, f64::max);
        assert!((end - 0.1 - duration).abs() < ROUNDING, "{limits:?}: {end}");
        assert_eq!(curve.at(end).position, 1.5);
        // nothing exceeds its limit, and position, rate and (where the jerk is limited) acceleration are continuous everywhere
        let steps = 4000;
        let step = duration / f64::from(steps);
        let mut before = curve.at(0.1 - step);
        let mut most = [0.0_f64; 3];
        for i in 0..=steps + 1 {
            let now = curve.at(0.1 + step * f64::from(i));
            let jerk = (now.acceleration - before.acceleration) / step;
            for (most, x) in most.iter_mut().zip([now.rate, now.acceleration, jerk]) {
                *most = most.max(x.abs());
            }
            let way = 0.5 * step * (now.rate + before.rate);
            let bend = step * step * (most[1] + step * most[2].min(1e4));
            assert!((now.position - before.position - way).abs() <= bend);
            before = now;
        }
        for (most, limit) in most.iter().zip(limits) {
            assert!(*most <= limit * (1.0 + 1e-9), "{limits:?}: {most}");
        }
    }
}

/// Property: a way of nothing takes no time under limits, and stays under durations.
#[test]
fn ramps_may_have_no_way() {
    let curve = |ramps| {
        let profile = MotionProfile::Ramps {
            initial: None,
            target: 0.3,
            from_s: 0.1,
            ramps,
        };
        MotionCurve::new(&profile, 0.3)
    };
    for ramps in [
        RampProfile::Limits {
            rate: 1.0,
            acceleration: 2.0,
            jerk: 3.0,
        },
        RampProfile::Durations {
            duration_s: 1.0,
            ramp_s: 0.5,
            jerk_s: 0.25,
        },
    ] {
        let curve = curve(ramps);
        for time in [0.0, 0.1, 0.35, 0.6, 1.1, 2.0] {
            let held = MotionPoint {
                position: 0.3,
                ..MotionPoint::default()
            };
            assert_eq!(curve.at(time), held, "{ramps:?} at {time}");
        }
    }
}

/// Closed form: seven parts given by their durations. With T = 1, ramps of 0.4 and rises of 0.1 on a way of 1.2: rate 2, acceleration 20/3.
#[test]
fn an_s_curve_may_be_given_by_durations() {
    const ROUNDING: f64 = 1e-13;
    let profile = MotionProfile::Ramps {
        initial: None,
        target: 1.5,
        from_s: 0.0,
        ramps: RampProfile::Durations {
            duration_s: 1.0,
            ramp_s: 0.4,
            jerk_s: 0.1,
        },
    };
    let curve = MotionCurve::new(&profile, 0.3);
    let a = 20.0 / 3.0;
    for (time, position, rate, acceleration) in [
        (0.1, 0.3 + a * 0.01 / 6.0, 0.5 * a * 0.1, a),
        (
            0.3,
            0.3 + a * (0.25_f64.powi(2) / 2.0 + 0.01 / 24.0),
            a * 0.25,
            a,
        ),
        (0.4, 0.3 + 0.4, 2.0, 0.0),
        (0.5, 0.9, 2.0, 0.0),
        (0.9, 1.5 - a * 0.01 / 6.0, 0.5 * a * 0.1, -a),
    ] {
        let point = curve.at(time);
        assert!(
            (point.position - position).abs() < ROUNDING,
            "{point:?} at {time}"
        );
        assert!((point.rate - rate).abs() < ROUNDING, "{point:?} at {time}");
        assert!(
            (point.acceleration - acceleration).abs() < 1e2 * ROUNDING,
            "{point:?} at {time}"
        );
    }
    let mut breakpoints = curve.breakpoints();
    breakpoints.sort_by(f64::total_cmp);
    for (found, expected) in breakpoints
        .iter()
        .zip([0.0, 0.1, 0.3, 0.4, 0.6, 0.7, 0.9, 1.0])
    {
        assert!((found - expected).abs() < ROUNDING);
    }
}

/// Closed forms: between two rows the spline of fifth order is the quintic profile, and through rows of a polynomial of fifth order at rest at both
/// ends it is that polynomial. Between rows that are none, four derivatives are continuous.
#[test]
fn a_quintic_spline_is_smooth_through_its_rows() {
    const ROUNDING: f64 = 1e-12;
    let spline = |time_s: &[f64], value: &[f64]| {
        let profile = MotionProfile::Table {
            time_s: time_s.to_vec(),
            value: value.to_vec(),
            spline: Spline::Quintic,
        };
        MotionCurve::new(&profile, 7.0)
    };
    let whole = MotionProfile::Quintic {
        initial: Some(0.2),
        target: 1.7,
        from_s: 0.5,
        duration_s: 1.5,
    };
    let whole = MotionCurve::new(&whole, 7.0);
    let times = [0.5, 0.8, 0.9, 1.6, 2.0];
    let through = times.map(|time| whole.at(time).position);
    for curve in [spline(&[0.5, 2.0], &[0.2, 1.7]), spline(&times, &through)] {
        for time in [0.0, 0.5, 0.6, 0.83, 1.1, 1.7, 1.99, 2.0, 3.0] {
            let (one, other) = (curve.at(time), whole.at(time));
            assert!((one.position - other.position).abs() < ROUNDING, "{time}");
            assert!((one.rate - other.rate).abs() < 10.0 * ROUNDING, "{time}");
            let apart = (one.acceleration - other.acceleration).abs();
            assert!(apart < 100.0 * ROUNDING, "{time}: {apart}");
        }
    }
    let pieces = spline::quintic(&[0.0, 0.2, 0.5, 0.6, 1.0], &[0.0, 0.4, 0.3, 0.9, 0.2]);
    for (piece, (next, h)) in pieces.iter().zip(pieces[1..].iter().zip([0.2, 0.3, 0.1])) {
        let h: f64 = h;
        // derivatives at the end of a piece over their factorials, against those where the next one begins
        for order in 0..5 {
            let binomial =
                |k: usize| (1..=order).fold(1.0, |b, i| b * (k - order + i) as f64 / i as f64);
            let power = |k: usize| (order..k).fold(1.0, |power, _| power * h);
            let terms = (order..6).map(|k| piece[k] * binomial(k) * power(k));
            let (end, scale) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
            assert!(
                (end - next[order]).abs() < ROUNDING * (1.0 + scale),
                "order {order}"
            );
        }
    }
    assert_eq!(pieces[0][..3], [0.0; 3]);
}
