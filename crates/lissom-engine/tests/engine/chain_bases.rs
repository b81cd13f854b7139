//! Bases that fit how a link is held: a falling chain in functions of every kind.

use std::fmt::Write;

use lissom_core::study::Run;
use lissom_engine::Mechanism;

use crate::models::{parsed, revolute};
use crate::runs::{in_nodes, in_tree, value_at};

/// Links of one metre that hinge on the ground and on each other, horizontal at rest under gravity.
fn falling_chain(links: usize, basis: &str) -> String {
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    for link in 0..links {
        let parent = match link.checked_sub(1) {
            None => "\"ground\"".to_owned(),
            Some(before) => format!("{{ body = \"link_{before}\", at = \"tip\" }}"),
        };
        let joint = revolute(
            &format!("hinge_{link}"),
            &parent,
            &format!("\"link_{link}\""),
            "",
        );
        write!(
            text,
            "[[body]]\nname = \"link_{link}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 0.1384\n\
             bending_stiffness_y_n_m2 = 7.815\naxial_stiffness_n = 3.49747e6\nbasis = {{ {basis} }}\n{joint}"
        )
        .unwrap();
    }
    let last = links - 1;
    write!(
        text,
        "[[marker]]\nname = \"hand\"\nbody = \"link_{last}\"\nat = \"tip\"\n[simulation]\nduration_s = 1.0\n\
         integrator.radau = {{ rtol = 1e-7, atol = 1e-7 }}\n[output]\nsample_period_s = 0.5\n"
    )
    .unwrap();
    text
}

/// Reference data: the tip of a chain of five links after half a second and a second, from absolute nodal coordinates with eight elements per link
/// and extrapolated steps.
const TIP: [(f64, [f64; 2]); 2] = [
    (0.5, [4.563_044_77, -1.232_434_77]),
    (1.0, [0.543_203_24, -4.922_226_61]),
];

fn error(basis: &str) -> f64 {
    let run = in_tree(&parsed(&falling_chain(5, basis)));
    let off = TIP.map(|(time, expected)| {
        let [x, y] =
            ["x", "y"].map(|axis| value_at(&run.recording, &format!("hand.position.{axis}"), time));
        (x - expected[0]).hypot(y - expected[1])
    });
    off.into_iter().fold(0.0, f64::max)
}

/// Reference data: sines in the chord's frame need fewer coordinates between hinges than functions clamped at the root or free, by
/// errors that an independent program found for the same bases.
#[test]
fn sines_fit_links_between_hinges() {
    // errors found elsewhere, in m, rounded up in their last digit
    for (count, most) in [(1, 8.6e-4), (2, 7.8e-5), (3, 1.2e-5)] {
        let stretch = "stretch = { fixed_interface = 1 }";
        let found = error(&format!(
            "each = {{ bending_y = {{ pinned_pinned = {count} }}, {stretch} }}"
        ));
        assert!(found < most, "{count} sines: {found:e}");
        let clamped = error(&format!(
            "clamped_free = {{ bending_y = {count}, stretch = 1 }}"
        ));
        assert!(clamped > 5.0 * found, "{count} functions: {clamped:e}");
    }
    // static shapes of the ends and two functions behind them
    let found = error("fixed_interface = { bending_y = 4, stretch = 1 }");
    assert!(found < 7.8e-5, "fixed interfaces: {found:e}");
}

/// What is chosen for a body: deformation, functions and their number.
fn chosen(text: &str, body: &str) -> Vec<(&'static str, &'static str, usize)> {
    let mechanism = Mechanism::build(&parsed(text)).unwrap();
    let all = mechanism.chosen_functions().iter();
    all.filter(|chosen| chosen.body == body)
        .map(|chosen| (chosen.deformation, chosen.functions, chosen.count))
        .collect()
}

/// By hand: hinges that nothing drives want sines, everything else the static shapes of the ends; what a hinge lets turn in one plane
/// it clamps in the other.
#[test]
fn functions_are_chosen_by_what_holds_the_ends() {
    let falling = |changes: &[(&str, &str)]| {
        let mut text = falling_chain(3, "auto = {}").replace(
            "basis = { auto = {} }",
            "bending_stiffness_z_n_m2 = 9.0\nbasis.auto = {}",
        );
        for (before, after) in changes {
            assert!(text.contains(before), "{before}");
            text = text.replacen(before, after, 1);
        }
        text
    };
    let sines = [
        ("bending_y", "pinned_pinned", 2),
        ("bending_z", "fixed_interface", 3),
    ];
    let interface = [
        ("bending_y", "fixed_interface", 3),
        ("bending_z", "fixed_interface", 3),
    ];
    let passive = falling(&[]);
    assert_eq!(chosen(&passive, "link_0"), sines);
    assert_eq!(chosen(&passive, "link_1"), sines);
    // a hinge at the root and nothing at the tip
    let last = [
        ("bending_y", "fixed_interface", 3),
        ("bending_z", "clamped_free", 2),
    ];
    assert_eq!(chosen(&passive, "link_2"), last);

    for effort in [
        ", friction = { viscous_n_m_s_per_rad = 0.1 }",
        ", spring = { stiffness_n_m_per_rad = 1.0 }",
    ] {
        let hinge = "child = \"link_1\"\nrevolute = { axis = [0.0, 0.0, 1.0]";
        let acted = falling(&[(hinge, &format!("{hinge}{effort}"))]);
        assert_eq!(chosen(&acted, "link_0"), interface, "{effort}");
        assert_eq!(chosen(&acted, "link_1"), interface, "{effort}");
        assert_eq!(chosen(&acted, "link_2"), last, "{effort}");
    }
    let driven =
        passive.clone() + "[[input]]\njoint = \"hinge_0\"\ntorque_constant.value_n_m = 1.0\n";
    assert_eq!(chosen(&driven, "link_0"), interface);
    let loaded = passive.clone()
        + "[[payload]]\nname = \"load\"\nbody = \"link_0\"\nat = \"tip\"\nmass_kg = 1.0\n";
    assert_eq!(chosen(&loaded, "link_0"), interface);

    // the hinge of the link turned by a quarter about x: the planes change places
    let quarter = falling(&[(
        "child = \"link_0\"",
        "child = { body = \"link_0\", rotation_vector_rad = [1.5707963267948966, 0.0, 0.0] }",
    )]);
    assert_eq!(chosen(&quarter, "link_0"), interface);
}

/// Closed form: sines of order n have (nπ/L)² √(EI/ρA); those below a frequency are taken.
#[test]
fn a_frequency_says_how_many_functions() {
    let first = std::f64::consts::PI.powi(2) * (7.815_f64 / 0.1384).sqrt();
    for (times, count) in [(0.5, 1), (3.9, 1), (4.1, 2), (8.9, 2), (9.1, 3)] {
        let basis = format!("auto = {{ frequency_rad_per_s = {:?} }}", first * times);
        let found = chosen(&falling_chain(3, &basis), "link_1");
        assert_eq!(found, [("bending_y", "pinned_pinned", count)], "{times}");
    }
}

/// A cantilever of 1 m that is let go with its tip pulled aside, with a damping ratio of 2 % in each of its own modes.
fn cantilever(basis: &str) -> String {
    format!(
        r#"
format = 1
[[body]]
name = "boom"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 100.0
basis.{basis}
[body.damping]
modal_ratio = 0.02
[[joint]]
name = "wall"
parent = "ground"
child = "boom"
fixed = {{}}
[[marker]]
name = "hand"
body = "boom"
at = "tip"
[simulation]
duration_s = 1.0
initial.static_load.force = [{{ marker = "hand", force_n = [0.0, 3.0, 0.0] }}]
[output]
sample_period_s = 0.05
"#
    )
}

/// Agreement of independent ways: functions on the chord say nothing of how a link is held. What damps it and where its deflection is measured from
/// is therefore its root, as for functions that are clamped there and as for finite elements.
#[test]
fn functions_on_the_chord_are_damped_and_deflect_as_clamped_ones() {
    /// Errors of the first frequencies in six functions, over some six oscillations, with a margin of ten.
    const TRUNCATION: f64 = 1e-3;
    let text = cantilever("clamped_free.bending_y = 6");
    let clamped = in_tree(&parsed(&text));
    let nodal = in_nodes(&parsed(&text), 8);
    let chord = in_tree(&parsed(&cantilever("fixed_interface.bending_y = 6")));
    for (channel, amplitude) in [
        // F L³/3EI, times the first frequency
        ("hand.deflection.y", 0.01),
        ("hand.deflection_rate.y", 0.01 * 35.16),
        ("hand.position.y", 0.01),
    ] {
        for time in [0.0, 0.1, 0.35, 0.6, 1.0] {
            let at = |run: &Run| value_at(&run.recording, channel, time);
            let expected = at(&clamped);
            for run in [&nodal, &chord] {
                let off = (at(run) - expected).abs();
                assert!(
                    off <= TRUNCATION * amplitude,
                    "{channel} at {time}: {off:e}"
                );
            }
        }
    }
}

/// Closed form: a cantilever has the frequencies $`(\beta L)^2\sqrt{EI/(\rho A L^4)}`$ with 1.875104 and 4.694091, whatever functions describe it.
#[test]
fn frequencies_of_functions_on_the_chord_are_those_of_a_cantilever() {
    /// Of two static shapes and four functions behind them.
    const TRUNCATION: f64 = 1e-3;
    let mechanism =
        Mechanism::build(&parsed(&cantilever("fixed_interface.bending_y = 6"))).unwrap();
    let found = mechanism.diagnose().bodies[0].frequencies_rad_per_s.clone();
    for (found, root) in found.iter().zip([1.875_104_f64, 4.694_091]) {
        let expected = root * root * 10.0;
        assert!((found / expected - 1.0).abs() < TRUNCATION, "{found}");
    }
}
