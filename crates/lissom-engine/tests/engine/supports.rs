//! Supports of beams that slide: twist, what is found before a run, starts, energy.

use std::f64::consts::PI;

use lissom_core::study::Ending;
use lissom_engine::diagnose::{BeamEnd, Warning};

use crate::models::{assembled, changed, parsed};
use crate::runs::{in_tree, mechanism, samples};
use crate::shipped::{FOUR_BAR, SLIDER_CRANK, SLIDING_BOOM, SLIDING_LINKS};

/// A beam of a metre over two supports at 0.1 and 0.6 m of it, which only they hold, fed along its axis by a joint.
fn beam(keys: &str, second: &str, more: &str) -> String {
    format!(
        r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
torsional_stiffness_n_m2 = 2.0
section_inertia_y_kg_m = 1e-3
section_inertia_z_kg_m = 1e-3
{keys}
[[joint]]
name = "feed"
parent = "ground"
child = "beam"
prismatic = {{ axis = [1.0, 0.0, 0.0] }}
[[support]]
name = "first"
beam = "beam"
on = {{ body = "ground", position_m = [0.1, 0.0, 0.0] }}
[[support]]
name = "second"
beam = "beam"
on = {{ body = "ground", position_m = [0.6, 0.0, 0.0] }}
{second}
[[marker]]
name = "tip"
body = "beam"
at = "tip"
{more}
"#
    )
}

const TWISTING: &str =
    "basis = { elements = { count = 4, torsion = true, boundary = \"unconstrained\" } }";
const MODES_THAT_TWIST: &str = "basis = { unconstrained = { bending_y = 4, torsion = 3 } }";

fn warnings(text: &str) -> Vec<Warning> {
    mechanism(&parsed(text)).diagnose().warnings
}

/// Property: that nothing holds the twist of a beam is told, and only then.
#[test]
fn a_free_twist_is_told() {
    let frees = |warnings: &[Warning]| {
        let free = |warning: &&Warning| matches!(warning, Warning::FreeTwist { .. });
        warnings
            .iter()
            .filter(free)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    for keys in [TWISTING, MODES_THAT_TWIST] {
        let free = frees(&warnings(&beam(keys, "", "")));
        assert_eq!(free.len(), 1, "{keys}");
        assert!(
            free[0].contains("beam") && free[0].contains("twist = \"tied\""),
            "{free:?}"
        );
        assert!(
            frees(&warnings(&beam(keys, "twist = \"tied\"", ""))).is_empty(),
            "{keys}"
        );
    }
    let without = "basis = { unconstrained = { bending_y = 4 } }";
    assert!(frees(&warnings(&beam(without, "", ""))).is_empty());
}

/// Closed form: a torque at the tip twists what is beyond the support that holds the twist, which carries the torque.
#[test]
fn a_support_holds_the_twist() {
    const ROUNDING: f64 = 1e-9;
    let torque = 0.3;
    let load = format!(
        "[[input]]\nmarker = \"tip\"\ndirection = [1.0, 0.0, 0.0]\ntorque_constant.value_n_m = {torque}\n\
         [[motion]]\njoint = \"feed\"\nconstant_rate.rate_m_per_s = 0.0\n\
         [simulation]\nduration_s = 0.01\ninitial = \"equilibrium\"\n"
    );
    let run = in_tree(&parsed(&beam(TWISTING, "twist = \"tied\"", &load)));
    assert_eq!(run.ending, Ending::Completed);
    let first = |channel: &str| samples(&run.recording, channel)[0];
    // elements of 0.25 m: the whole of the last one, and of the one that the support is in, 0.4 of it behind its first node,
    // 0.6 squared, as its twist is a straight line
    let expected = torque / 2.0 * 0.25 * (1.0 + 0.6 * 0.6);
    let found = first("beam.twist_5");
    assert!((found - expected).abs() < ROUNDING, "{found} {expected}");
    let carried = first("second.twist.moment.x");
    assert!((carried.abs() - torque).abs() < ROUNDING, "{carried}");
    assert!(first("second.force.y").abs() < ROUNDING);
}

/// Closed form: a twisted beam that is drawn back through its supports is twisted by less, as what is beyond the support becomes
/// shorter, and its energy is in balance.
#[test]
fn twist_is_held_while_the_beam_slides() {
    // the twist has a kink at the support, which 24 smooth functions leave 2 % off, and swings a little
    const CONVERGED: f64 = 0.05;
    let more = "[[motion]]\njoint = \"feed\"\ncycloid = { final_displacement_m = -0.3, duration_s = 0.2 }\n\
         [[input]]\nmarker = \"tip\"\ndirection = [1.0, 0.0, 0.0]\ntorque_constant.value_n_m = 0.01\n\
         [simulation]\nduration_s = 0.2\ninitial = \"equilibrium\"\n\
         integrator.dop853 = { rtol = 1e-8, atol = 1e-11 }\n[output]\nsample_period_s = 0.01\n";
    let keys = "basis = { unconstrained = { bending_y = 3, torsion = 24 } }";
    let run = in_tree(&parsed(&beam(keys, "twist = \"tied\"", more)));
    assert_eq!(run.ending, Ending::Completed);
    let drift = run.audit.energy.max_drift_percent;
    assert!(drift < 1e-3, "{drift}");
    // half the angle of 0.01 N m over 0.4 and over 0.1 m of 2 N m^2
    let found = samples(&run.recording, "tip.quaternion.x");
    for (found, length) in [(found[0], 0.4), (found[found.len() - 1], 0.1)] {
        let expected = 0.5 * 0.01 * length / 2.0;
        assert!(
            (found - expected).abs() < CONVERGED * 1e-3,
            "{found} {expected}"
        );
    }
}

/// Closed form: a support that starts beyond an end is told with its distance, and one that a prescribed feed takes over an end
/// with the instant at which the run ends.
#[test]
fn supports_off_their_beams_are_told_before_a_run() {
    let plain = "basis = { unconstrained = { bending_y = 4 } }";
    let off = beam(plain, "", "").replace("[0.6, 0.0, 0.0]", "[1.25, 0.0, 0.0]");
    let off = warnings(&off);
    let found = off.iter().find_map(|warning| match warning {
        Warning::StartsOffBeam {
            support,
            end,
            beyond_m,
            ..
        } => Some((support, *end, *beyond_m)),
        _ => None,
    });
    let (support, end, beyond) = found.unwrap();
    assert_eq!((support.as_str(), end), ("second", BeamEnd::Tip));
    assert!((beyond - 0.25).abs() < 1e-12, "{beyond}");

    // forward and back: farthest halfway, where nothing but a sine is
    let fed = |amplitude: f64| {
        let more = format!(
            "[[motion]]\njoint = \"feed\"\nsines = {{ amplitude_m = [{amplitude}], frequency_rad_per_s = [{PI}] }}\n\
             [simulation]\nduration_s = 1.0\n"
        );
        beam(plain, "", &more)
    };
    let text = fed(0.3);
    let found = warnings(&text)
        .into_iter()
        .find(|warning| matches!(warning, Warning::LeavesBeam { .. }));
    let Some(Warning::LeavesBeam {
        support,
        end,
        time_s,
        farthest_s,
        beyond_m,
        ..
    }) = found
    else {
        panic!("{:?}", warnings(&text));
    };
    assert_eq!((support.as_str(), end), ("first", BeamEnd::Root));
    // 0.3 sin(πt) = 0.1
    let expected = (1.0_f64 / 3.0).asin() / PI;
    assert!((time_s - expected).abs() < 1e-8, "{time_s} {expected}");
    assert!(
        (farthest_s - 0.5).abs() < 1e-6 && (beyond_m - 0.2).abs() < 1e-9,
        "{farthest_s} {beyond_m}"
    );
    let run = in_tree(&parsed(&text));
    let Ending::Failed(error) = &run.ending else {
        panic!("{:?}", run.ending);
    };
    assert!((error.time_s() - time_s).abs() < 1e-7, "{error}");
    assert!(
        !warnings(&fed(0.09))
            .iter()
            .any(|warning| matches!(warning, Warning::LeavesBeam { .. }))
    );
}

/// By construction: values of the first node start a beam that only supports hold; those that meet its supports stay, others are
/// told with what they become.
#[test]
fn the_first_node_of_an_unconstrained_beam_may_be_given() {
    let start = |values: &str| {
        let initial = format!("{TWISTING}\n[body.initial]\nelastic = {{ {values} }}");
        let one = beam(&initial, "", "").replace("[0.6, 0.0, 0.0]", "[0.5, 0.0, 0.0]");
        // the first support is taken away
        let (before, rest) = one.split_once("[[support]]\nname = \"first\"").unwrap();
        let (_, after) = rest.split_once("[[support]]").unwrap();
        assembled(&parsed(&format!("{before}[[support]]{after}")))
    };
    let slope = 0.01;
    let turned: Vec<String> = (0..5)
        .map(|node| {
            format!(
                "v_{n} = {}, v_slope_{n} = {slope}",
                slope * (f64::from(node) * 0.25 - 0.5),
                n = node + 1
            )
        })
        .collect();
    let model = start(&turned.join(", "));
    assert!(model.start_changes.is_empty(), "{:?}", model.start_changes);
    let at = model
        .linkage
        .positions
        .iter()
        .position(|c| c.name == "beam.v_1")
        .unwrap();
    assert!((model.initial_position[at] + 0.005).abs() < 1e-12);

    let model = start("v_1 = 0.01, v_3 = 0.02");
    let moved: Vec<&str> = model
        .start_changes
        .iter()
        .map(|change| change.coordinate.as_str())
        .collect();
    assert_eq!(moved, ["beam.v_3"]);
    let change = &model.start_changes[0];
    assert!(
        change.written == 0.02 && change.closed.abs() < 1e-9 && change.unit == "m",
        "{change:?}"
    );
}

/// By construction: guesses of joints that closing a loop moves are told, held ones stay.
#[test]
fn starts_that_loops_change_are_told() {
    let spec = parsed(FOUR_BAR);
    let model = assembled(&spec);
    let changes = mechanism(&spec).diagnose().start_changes;
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].coordinate, "rocker_pivot.angle");
    let at = model
        .linkage
        .positions
        .iter()
        .position(|c| c.name == changes[0].coordinate)
        .unwrap();
    assert_eq!(changes[0].written, 1.0);
    assert_eq!(changes[0].closed, model.initial_position[at]);
    // written as it closes
    let closed = format!(
        "joint.rocker_pivot.revolute.initial_angle_rad={:?}",
        model.initial_position[at]
    );
    let spec = changed(FOUR_BAR, &[&closed]);
    assert!(mechanism(&spec).diagnose().start_changes.is_empty());
}

/// The shipped links with a slider between them in elements, whose slopes the slider ties, moved faster and to and fro.
fn meshed_links(damping: &str) -> String {
    SLIDING_LINKS
        .replace("clamped_free]\nbending_y = 4", "elements]\ncount = 6")
        .replace(
            "unconstrained]\nbending_y = 6",
            "elements]\ncount = 6\nboundary = \"unconstrained\"",
        )
        .replace("duration_s = 1.0", "duration_s = 0.2")
        .replace(
            "[[body.point_mass]]",
            &format!("{damping}[[body.point_mass]]"),
        )
}

/// Property: the energy that dampers, friction and impulses of supports take never comes back, and energy balances.
#[test]
fn what_is_dissipated_never_comes_back() {
    const DAMPED: &str = "[body.damping.rayleigh]\nstiffness_s = 1e-4\n";
    let rubbing = "joint.motor.revolute.friction={coulomb_n_m=0.1,viscous_n_m_s_per_rad=0.05}";
    let boom = SLIDING_BOOM.replace(
        "[[body.point_mass]]",
        &format!("{DAMPED}[[body.point_mass]]"),
    );
    for (text, change) in [
        (meshed_links(""), None),
        (meshed_links(DAMPED), None),
        (boom, None),
        (FOUR_BAR.to_owned(), Some(rubbing)),
        (SLIDER_CRANK.to_owned(), None),
    ] {
        let changes = ["simulation.duration_s=0.2"].into_iter().chain(change);
        let spec = changed(&text, &changes.collect::<Vec<_>>());
        let name = spec.name.clone().unwrap();
        let run = in_tree(&spec);
        assert_eq!(run.ending, Ending::Completed, "{name}");
        let lost = samples(&run.recording, "energy.dissipated");
        let peak = run.audit.energy.peak_j;
        for (i, pair) in lost.windows(2).enumerate() {
            assert!(
                pair[1] >= pair[0] - 1e-13 * peak,
                "{name}, sample {i}: {pair:?} of {peak}"
            );
        }
        assert!(
            run.audit.energy.max_drift_percent < 1e-2,
            "{name}: {:?}",
            run.audit.energy
        );
    }
}

/// Second formulations: a method of second order counts the energy of impulses of supports as one of first order does.
#[test]
fn both_kinds_of_integrators_book_impulses() {
    let tied = SLIDING_BOOM.replace(
        "on = { body = \"sleeve\"",
        "slopes = \"tied\"\non = { body = \"sleeve\"",
    );
    let lost = |integrator: &str| {
        let change = format!("simulation.integrator={integrator}");
        let run = in_tree(&changed(&tied, &["simulation.duration_s=0.6", &change]));
        assert_eq!(run.ending, Ending::Completed, "{integrator}");
        *samples(&run.recording, "energy.dissipated").last().unwrap()
    };
    let exact = lost("{dop853={rtol=1e-8,atol=1e-11}}");
    let stepped = lost("{newmark={step_s=2e-4}}");
    assert!(
        exact > 1e-7 && (stepped / exact - 1.0).abs() < 1e-3,
        "{exact:e} {stepped:e}"
    );
}
