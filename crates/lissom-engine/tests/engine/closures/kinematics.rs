//! Rigid mechanisms with a driven crank against closed forms.

use lissom_tree::ClosureMethod;

use super::mechanisms::{
    FOUR_BAR, SLIDER_CRANK, four_bar, four_bar_angles, slider_crank, slider_crank_position,
};
use super::runs::{completed, simulated};
use crate::runs::samples;

/// Positions are closed to 1e-13 and conditioned by less than ten.
const CLOSED_FORM: f64 = 1e-12;

const DRIVE: &str = "[[motion]]\njoint = \"crank\"\nconstant_rate.rate_rad_per_s = 3.0\n";

/// Wrapped into half a turn either side.
fn wrapped(angle: f64) -> f64 {
    (angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI
}

/// Closed form: angles of coupler and rocker, and the rate of the rocker, for two turns of the crank.
#[test]
fn a_driven_four_bar_follows_freudenstein() {
    let mechanism = four_bar(false, 0.7, DRIVE);
    for method in [
        ClosureMethod::Automatic,
        ClosureMethod::Projected,
        ClosureMethod::OperationalSpace,
    ] {
        let run = completed(&mechanism, &method, &simulated(4.0, 1e-9));
        let crank = samples(&run.recording, "crank.angle");
        let [a, _, c, _] = FOUR_BAR;
        for (i, &crank) in crank.iter().enumerate() {
            let (coupler, rocker) = four_bar_angles(FOUR_BAR, crank);
            let found = samples(&run.recording, "rocker.angle")[i];
            assert!(
                wrapped(found - rocker).abs() < CLOSED_FORM,
                "rocker at {crank}"
            );
            let found = samples(&run.recording, "coupler.angle")[i];
            assert!(
                wrapped(found - (coupler - crank)).abs() < CLOSED_FORM,
                "coupler at {crank}"
            );
            let rate = 3.0 * a * (crank - coupler).sin() / (c * (rocker - coupler).sin());
            let found = samples(&run.recording, "rocker.angle.rate")[i];
            assert!((found - rate).abs() < 10.0 * CLOSED_FORM, "rate at {crank}");
        }
    }
}

/// Closed form: position and velocity of the slider for two turns of the crank.
#[test]
fn a_driven_slider_crank_follows_its_closed_form() {
    let mechanism = slider_crank(false, 0.7, DRIVE);
    let run = completed(&mechanism, &ClosureMethod::Automatic, &simulated(4.0, 1e-9));
    let [r, _] = SLIDER_CRANK;
    for (i, &crank) in samples(&run.recording, "crank.angle").iter().enumerate() {
        let (rod, slide) = slider_crank_position(crank);
        let found = samples(&run.recording, "slide.displacement")[i];
        assert!((found - slide).abs() < CLOSED_FORM, "position at {crank}");
        let velocity = -3.0 * r * (crank - rod).sin() / rod.cos();
        let found = samples(&run.recording, "slide.displacement.rate")[i];
        assert!(
            (found - velocity).abs() < 10.0 * CLOSED_FORM,
            "rate at {crank}"
        );
    }
}
