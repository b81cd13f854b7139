//! Bases that fit how a link is held: a falling chain in functions of every kind.

use std::fmt::Write;

use lissom_engine::Mechanism;

use crate::models::{parsed, revolute};
use crate::runs::{in_tree, value_at};

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
        ("bending_z", "fixed_interface", 4),
    ];
    let interface = [
        ("bending_y", "fixed_interface", 4),
        ("bending_z", "fixed_interface", 4),
    ];
    let passive = falling(&[]);
    assert_eq!(chosen(&passive, "link_0"), sines);
    assert_eq!(chosen(&passive, "link_1"), sines);
    // a hinge at the root and nothing at the tip
    let last = [
        ("bending_y", "fixed_interface", 4),
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
