//! Supports that pass a node of their beam, and supports that leave it.

use lissom_core::RunError;
use lissom_core::study::{Ending, Run};

use super::beam::{EXACT, FE4, PUSH, beam};
use super::simulated;
use crate::numbers::apart;
use crate::runs::samples;
use crate::shipped::SLIDING_LINKS;

/// The beam as two elements, with a node in the middle that both supports pass, by steps of one length.
fn stepped(step: f64, crossings: &str) -> Vec<f64> {
    let text = |step: f64| {
        format!(
            "integrator.dop853 = {{ rtol = 0.1, atol = 0.1, initial_step_s = {step}, max_step_s = {step} }}\n\
             element_crossings = \"{crossings}\""
        )
    };
    let basis = r#"{ elements = { count = 2, boundary = "unconstrained" } }"#;
    let run = beam(basis, "second_order", 0.7, PUSH, "root", 0.2, &text(step));
    super::beam::tip_of(&run)
}

/// Order of convergence: a method of order eight keeps it where supports pass a node, if the crossing is located, and has lost most
/// of it otherwise.
#[test]
fn the_order_is_kept_where_a_support_passes_a_node() {
    let order = |crossings: &str, steps: [f64; 2]| {
        let exact = stepped(steps[1] / 4.0, "located");
        let errors = steps.map(|step| apart(&stepped(step, crossings), &exact));
        (errors[0] / errors[1]).log2() / (steps[0] / steps[1]).log2()
    };
    let steps = [2.8e-3, 1.4e-3];
    let located = order("located", steps);
    let stepped_over = order("stepped_over", steps);
    assert!(located > 7.0, "{located}");
    assert!(stepped_over < 4.0, "{stepped_over}");
}

/// A boom clamped to a carriage in a sleeve whose mouth holds its direction too, in elements or in eigenfunctions.
fn tied_boom(basis: &str) -> Run {
    let exact = "integrator.dop853 = { rtol = 1e-9, atol = 1e-12 }";
    tied_boom_fed(basis, 0.3, 0.4, exact)
}

/// The same with another feed, in 0.4 s, of which a run shows a part.
fn tied_boom_fed(basis: &str, feed: f64, duration: f64, integrator: &str) -> Run {
    simulated(&format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
basis = {basis}
[[joint]]
name = "slide"
parent = "ground"
child = "boom"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
[[motion]]
joint = "slide"
[motion.cycloid]
final_displacement_m = {feed:?}
duration_s = 0.4
[[support]]
name = "mouth"
beam = "boom"
on = {{ body = "ground", position_m = [0.5, 0.0, 0.0] }}
slopes = "tied"
[[marker]]
name = "tip"
body = "boom"
at = "tip"
[simulation]
duration_s = {duration:?}
initial = "equilibrium"
{integrator}
[output]
sample_period_s = 0.04
"#
    ))
}

/// Conservation: a support that ties the slope takes an impulse from the beam at nodes. The impulse takes energy and never gives any; what it
/// takes is in the audit, falls with the length of the elements, and is nothing for smooth functions.
#[test]
fn tied_slopes_take_impulses_at_nodes() {
    // per cent of the peak
    const DRIFT: f64 = 1e-6;
    let lost = |basis: &str| {
        let run = tied_boom(basis);
        assert_eq!(run.ending, Ending::Completed, "{basis}");
        let drift = run.audit.energy.max_drift_percent;
        assert!(drift < DRIFT, "{basis}: {drift} %");
        let lost = &run.recording.channel("energy.dissipated").unwrap().samples;
        assert!(lost.windows(2).all(|pair| pair[1] >= pair[0]), "{basis}");
        lost[lost.len() - 1] / run.audit.energy.peak_j
    };
    let coarse = lost("{ elements = { count = 4 } }");
    let fine = lost("{ elements = { count = 8 } }");
    assert!(coarse > 0.0 && fine < 0.5 * coarse, "{coarse} {fine}");
    assert!(lost("{ clamped_free = { bending_y = 8 } }").abs() < f64::EPSILON);
}

/// Closed form: the mouth is on the node at 0.3 m when half of a feed of 0.4 m is done. A step ends there, a run ends there, and
/// another goes on; the work of the drive is what the boom has gained.
#[test]
fn steps_may_end_on_a_node() {
    // of the peak, per cent: works are sums by the trapezoidal rule
    const BALANCE: f64 = 1e-2;
    let elements = "{ elements = { count = 4 } }";
    for duration in [0.2, 0.22] {
        let exact = "integrator.dop853 = { rtol = 1e-9, atol = 1e-12 }";
        let exact = tied_boom_fed(elements, 0.4, duration, exact);
        for method in ["newmark", "generalized_alpha"] {
            let steps = format!("integrator.{method} = {{ step_s = 1e-3 }}");
            let run = tied_boom_fed(elements, 0.4, duration, &steps);
            assert_eq!(run.ending, Ending::Completed, "{method} {duration}");
            let drift = run.audit.energy.max_drift_percent;
            assert!(drift < BALANCE, "{method} {duration}: {drift} %");
            let [found, wanted] = [&run, &exact].map(|run| {
                let work = &run.recording.channel("energy.work").unwrap().samples;
                work[work.len() - 1]
            });
            let off = (found - wanted).abs() / run.audit.energy.peak_j;
            assert!(
                off < 1e-2 * BALANCE,
                "{method} {duration}: {found} {wanted}"
            );
        }
    }
}

/// Two links and the slider between them, in elements whose slopes are tied where they pass.
fn tied_links(step: f64) -> Vec<f64> {
    let text = SLIDING_LINKS
        .replace(
            "[body.beam.basis.clamped_free]\nbending_y = 4",
            "[body.beam.basis.elements]\ncount = 6",
        )
        .replace(
            "[body.beam.basis.unconstrained]\nbending_y = 6",
            "[body.beam.basis.elements]\ncount = 6\nboundary = \"unconstrained\"",
        )
        .replace("duration_s = 1.5", "duration_s = 0.36")
        .replace(
            "[simulation.integrator.dop853]\nrtol = 1e-9\natol = 1e-12",
            &format!("[simulation.integrator.newmark]\nstep_s = {step:?}"),
        );
    assert_eq!(text.matches("basis.elements").count(), 2);
    let run = simulated(&text);
    assert_eq!(run.ending, Ending::Completed, "{step}");
    samples(&run.recording, "tip.position.y").to_vec()
}

/// Order of convergence: a slider with tied slopes passes a node of each of two links under steps of one length, which come to one
/// solution.
#[test]
fn fixed_steps_pass_nodes_of_tied_links() {
    // metres, of 1.2; errors of second order in 1 ms, and of first order in an impulse
    const AGREEMENT: f64 = 1e-5;
    let (coarse, fine) = (tied_links(1e-3), tied_links(2e-4));
    let off = apart(&coarse, &fine);
    assert!(off < AGREEMENT, "{off}");
}

/// What a run that a support ended says: which, of which beam, where along it, and when.
fn left(run: &Run) -> (&str, &str, f64, f64) {
    let Ending::Failed(error) = &run.ending else {
        panic!("{:?}", run.ending);
    };
    let RunError::LeftBeam {
        support,
        beam,
        place,
        time_s,
        ..
    } = error
    else {
        panic!("{error}");
    };
    let text = error.to_string();
    let end = if *place < 0.1 { "root" } else { "tip" };
    let said = format!("support {support:?} left beam {beam:?} at t = ");
    assert!(text.starts_with(&said) && text.contains(end), "{text}");
    (support, beam, *place, *time_s)
}

/// Closed form: a feed that is too long takes the rear end of the beam over the first support; every integrator finds the instant.
#[test]
fn a_prescribed_feed_takes_a_support_off_its_beam() {
    // beyond an end by less than 1e-9 of its length nothing has left it; the beam is at 1.5 m/s there
    const INSTANT: f64 = 2e-9;
    let feed = |t: f64| {
        let turn = std::f64::consts::TAU * t / 0.7;
        -0.725 + 0.925 * (t / 0.7 - turn.sin() / std::f64::consts::TAU)
    };
    let (mut early, mut late) = (0.0, 0.7);
    while late - early > 1e-14 {
        let middle = 0.5 * (early + late);
        if feed(middle) < 0.0 {
            early = middle;
        } else {
            late = middle;
        }
    }
    for solution in [
        EXACT,
        "integrator.radau = { rtol = 1e-6, atol = 1e-9 }",
        "integrator.adams = { rtol = 1e-6, atol = 1e-9 }",
        "integrator.newmark = { step_s = 1e-3 }",
        "integrator.generalized_alpha = { step_s = 1e-3 }\n\
         closure.stabilized = { frequency_rad_per_s = 5.0, damping_ratio = 1.0 }",
    ] {
        let run = beam(FE4, "none", 0.7, [-0.725, 0.2], "root", 0.2, solution);
        let (support, beam, place, time) = left(&run);
        assert_eq!((support, beam), ("first", "beam"), "{solution}");
        assert!(place.abs() < 1e-8, "{solution}: {place}");
        assert!((time - early).abs() < INSTANT, "{solution}: {time} {early}");
    }
}

/// A rail, straight and without gravity, along which two beads move freely from a place, m, with a speed, m/s.
fn two_beads(slow: [f64; 2], fast: [f64; 2]) -> Run {
    let bead = |name: &str, [place, speed]: [f64; 2]| {
        format!(
            r#"
[[body]]
name = "{name}"
[body.rigid]
mass_kg = 0.1
inertia_kg_m2 = [1e-5, 1e-5, 1e-5]
[[joint]]
name = "{name}-slide"
parent = "ground"
child = "{name}"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = {place}
initial_rate_m_per_s = {speed}
[[support]]
name = "{name}-ring"
beam = "rail"
on = "{name}"
"#
        )
    };
    let (slow, fast) = (bead("slow", slow), bead("fast", fast));
    simulated(&format!(
        r#"
format = 1
[[body]]
name = "rail"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 40.0
basis = {{ clamped_free = {{ bending_y = 3 }} }}
[[joint]]
name = "root"
parent = "ground"
child = "rail"
fixed = {{}}
{slow}
{fast}
[simulation]
duration_s = 2.0
"#
    ))
}

/// Closed form: a boom that a constant force drives, straight and without gravity, leaves the mouth of its sleeve when its carriage
/// does, and a bead that moves on along a rail with the speed it had leaves it at the end; of two, the first to come there.
#[test]
fn free_coordinates_take_supports_off_their_beams() {
    // a support counts as gone 1e-9 of the beam beyond its end; speeds are about 1 m/s
    const INSTANT: f64 = 1e-8;
    let driven = simulated(
        r#"
format = 1
[[body]]
name = "boom"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 40.0
basis = { elements = { count = 4 } }
[[joint]]
name = "slide"
parent = "ground"
child = "boom"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
[[support]]
name = "mouth"
beam = "boom"
on = { body = "ground", position_m = [0.6, 0.0, 0.0] }
[[input]]
joint = "slide"
force_constant = { value_n = 2.0 }
[simulation]
duration_s = 2.0
"#,
    );
    let (support, beam, place, time) = left(&driven);
    assert_eq!((support, beam), ("mouth", "boom"));
    // 0.6 m at 1 m/s^2
    assert!((time - 1.2_f64.sqrt()).abs() < INSTANT, "{time}");
    assert!(place.abs() < 1e-8);

    // one bead behind the other, and slower
    let free = two_beads([0.3, 0.1], [0.5, 0.5]);
    let (support, beam, place, time) = left(&free);
    assert_eq!((support, beam), ("fast-ring", "rail"));
    assert!((time - 1.0).abs() < INSTANT, "{time}");
    assert!((place - 1.0).abs() < 1e-8);
}

/// Closed form: where one bead overtakes another both hold the same point of the rail, and one of their equations says nothing.
#[test]
fn supports_that_meet_are_a_singular_configuration() {
    const INSTANT: f64 = 1e-8;
    let run = two_beads([0.5, 0.1], [0.1, 0.9]);
    let Ending::Failed(RunError::Singular { time_s, .. }) = run.ending else {
        panic!("{:?}", run.ending);
    };
    // 0.5 + 0.1 t = 0.1 + 0.9 t
    assert!((time_s - 0.5).abs() < INSTANT, "{time_s}");
}
