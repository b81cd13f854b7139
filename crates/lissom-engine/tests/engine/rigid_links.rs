//! The fidelity preset `rigid`: the rigid counterpart of a model.

use lissom_core::study::Run;
use lissom_engine::Mechanism;
use lissom_spec::{ErrorKind, ModelSpec};

use crate::models::parsed;
use crate::runs::{assert_alike, completed, in_nodes, in_tree};

/// Rounding of two runs of the same equations, integrated to 1e-12.
const SAME: f64 = 1e-9;

/// An arm in space without its links: gravity, a swinging load, a torque, a gear that bends and a payload.
const ARM: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 1.0]
[[joint]]
name = "shoulder"
parent = "ground"
child = { body = "upper", UPPER_ROOT }
revolute = { axis = [0.0, 0.2, 1.0], initial_rate_rad_per_s = 1.5 }
[[joint]]
name = "elbow"
parent = { body = "upper", UPPER_TIP }
child = { body = "lower", LOWER_ROOT }
[joint.revolute]
axis = [0.1, 1.0, 0.3]
initial_angle_rad = 0.7
motor = { inertia_kg_m2 = 1e-3, gear_ratio = 10.0, stiffness_n_m_per_rad = 300.0, damping_n_m_s_per_rad = 1.0 }
[[body]]
name = "load"
rigid = { mass_kg = 0.7, center_of_mass_m = [0.1, 0.05, 0.0], inertia_kg_m2 = [0.01, 0.02, 0.03] }
[[joint]]
name = "wrist"
parent = { body = "lower", LOWER_TIP }
child = "load"
spherical = { initial_angular_velocity_rad_per_s = [0.3, 0.1, 0.4] }
[[payload]]
name = "tool"
body = "upper"
UPPER_MIDDLE
mass_kg = 0.3
center_of_mass_m = [0.0, 0.1, 0.0]
inertia_kg_m2 = [1e-3, 2e-3, 2e-3]
[[marker]]
name = "hand"
body = "lower"
LOWER_TIP
[[input]]
joint = "elbow"
torque_constant = { value_n_m = 0.5 }
[simulation]
duration_s = 0.2
integrator.dop853 = { rtol = 1e-12, atol = 1e-13 }
"#;

/// The links as beams: the upper one of two segments and with a point mass, the lower one bent at the start, with a
/// fidelity of its own.
const BEAMS: &str = r#"
[[body]]
name = "upper"
[body.beam]
segments = [
  { length_m = 0.4, mass_per_length_kg_per_m = 0.9, bending_stiffness_y_n_m2 = 30.0, bending_stiffness_z_n_m2 = 20.0, torsional_stiffness_n_m2 = 9.0, section_inertia_y_kg_m = 2e-3, section_inertia_z_kg_m = 1e-3 },
  { length_m = 0.6, mass_per_length_kg_per_m = 0.5, bending_stiffness_y_n_m2 = 30.0, bending_stiffness_z_n_m2 = 20.0, torsional_stiffness_n_m2 = 9.0, section_inertia_y_kg_m = 1e-3, section_inertia_z_kg_m = 3e-3 },
]
basis.clamped_free = { bending_y = 2, bending_z = 2, torsion = 1 }
[[body.point_mass]]
position_m = [0.4, 0.0, 0.0]
mass_kg = 0.2
[[body]]
name = "lower"
initial.elastic = { bending_y_1 = 0.02 }
damping.modal_ratio = 0.01
fidelity.preset = "exact"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 20.0
axial_stiffness_n = 1e5
section_inertia_y_kg_m = 1e-3
section_inertia_z_kg_m = 2e-3
basis.clamped_free = { bending_y = 1, stretch = 1 }
[fidelity]
preset = "rigid"
"#;

/// The links by hand: mass, first and second moments of the segments summed, and taken about the centre of mass.
fn by_hand() -> String {
    let segments = [(0.0, 0.4, 0.9, 2e-3, 1e-3), (0.4, 1.0, 0.5, 1e-3, 3e-3_f64)];
    let (mut mass, mut first, mut along, mut y, mut z) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (from, to, density, section_y, section_z) in segments {
        mass += density * (to - from);
        first += density * (to * to - from * from) / 2.0;
        along += density * (to * to * to - from * from * from) / 3.0;
        y += section_y * (to - from);
        z += section_z * (to - from);
    }
    let centre = first / mass;
    let about = along - mass * centre * centre;
    let slender: f64 = 0.5 * 0.8 * 0.8 * 0.8 / 12.0;
    let lower = [3e-3 * 0.8, slender + 2e-3 * 0.8, slender + 1e-3 * 0.8];
    format!(
        r#"
[[body]]
name = "upper"
rigid = {{ mass_kg = {mass:e}, center_of_mass_m = [{centre:e}, 0.0, 0.0], inertia_kg_m2 = [{:e}, {:e}, {:e}] }}
[[body.point_mass]]
position_m = [0.4, 0.0, 0.0]
mass_kg = 0.2
[[body]]
name = "lower"
rigid = {{ mass_kg = 0.4, center_of_mass_m = [0.4, 0.0, 0.0], inertia_kg_m2 = {lower:?} }}
"#,
        y + z,
        about + z,
        about + y
    )
}

fn arm(links: &str, places: [&str; 5]) -> ModelSpec {
    let keys = [
        "UPPER_ROOT",
        "UPPER_TIP",
        "LOWER_ROOT",
        "LOWER_TIP",
        "UPPER_MIDDLE",
    ];
    let mut text = ARM.to_owned();
    for (key, place) in keys.into_iter().zip(places) {
        text = text.replace(key, place);
    }
    // a body without a place is a table with one key
    parsed(&(text.replace(", }", " }") + links))
}

fn flexible_arm() -> ModelSpec {
    arm(BEAMS, ["", "", "", "", "position_m = [0.5, 0.0, 0.0]"])
}

fn elastic_channels(run: &Run) -> usize {
    let channels = run.recording.channels.iter();
    channels
        .filter(|channel| channel.name.contains("bending_") || channel.name.contains("stretch_"))
        .count()
}

/// Second model: links under `rigid` are the rigid bodies that one would write, in both formulations. Elastic coordinates are
/// gone with their start, the elastic gear stays.
#[test]
fn links_are_the_rigid_bodies_of_a_hand() {
    let root = "position_m = [0.0, 0.0, 0.0]";
    let places = [
        root,
        "position_m = [1.0, 0.0, 0.0]",
        root,
        "position_m = [0.8, 0.0, 0.0]",
        "position_m = [0.5, 0.0, 0.0]",
    ];
    let written = arm(&by_hand(), places);
    let rigid = flexible_arm();
    let tree = [&written, &rigid].map(|spec| completed(in_tree(spec)));
    let nodes = [&written, &rigid].map(|spec| completed(in_nodes(spec, 4)));
    for [by_hand, by_preset] in [&tree, &nodes] {
        assert_eq!(elastic_channels(by_preset), 0);
        let count = assert_alike(by_hand, by_preset, SAME);
        assert_eq!(count, by_hand.recording.channels.len());
        assert_eq!(count, by_preset.recording.channels.len());
    }
    assert!(assert_alike(&tree[1], &nodes[1], 100.0 * SAME) > 20);
    assert!(tree[1].recording.channel("elbow.motor_angle").is_some());
}

/// A body of its own may be rigid in a flexible model.
#[test]
fn one_link_may_be_rigid() {
    let mut spec = flexible_arm();
    let lower = spec.body.iter_mut().find(|body| body.name == "lower");
    lower.unwrap().fidelity = Some(spec.fidelity);
    spec.fidelity = lissom_spec::spec::FidelitySpec::default();
    let names = Mechanism::build(&spec).unwrap().coordinates().unwrap()[0].clone();
    let has = |body: &str| names.iter().any(|name| name.name.starts_with(body));
    assert!(has("upper.bending_y_1") && !has("lower."), "{names:?}");
}

/// A body given by its modes keeps what its nodes weigh, where they are.
#[test]
fn bodies_of_modes_keep_their_inertia() {
    let text = |link: &str| {
        format!(
            r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 1.0]
[[body]]
name = "link"
{link}
[[joint]]
name = "ball"
parent = "ground"
child = {{ body = "link", at = "near" }}
spherical = {{ initial_angular_velocity_rad_per_s = [0.3, 0.1, 0.4] }}
[[marker]]
name = "hand"
body = "link"
at = "far"
[simulation]
duration_s = 0.2
integrator.dop853 = {{ rtol = 1e-12, atol = 1e-13 }}
"#
        )
    };
    let modes = r#"
fidelity.preset = "rigid"
nodal.stiffness = [[40.0]]
[[body.nodal.nodes]]
name = "near"
position_m = [0.1, 0.0, 0.0]
mass_kg = 1.0
inertia_kg_m2 = [[0.01, 0.001, 0.0], [0.001, 0.02, 0.0], [0.0, 0.0, 0.025]]
[[body.nodal.nodes]]
name = "far"
position_m = [0.9, 0.2, 0.0]
mass_kg = 2.0
center_of_mass_m = [0.1, 0.0, 0.0]
inertia_kg_m2 = [[0.01, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, 0.04]]
influence = [[0.0], [0.0], [0.5], [0.0], [0.3], [0.0]]
"#;
    // moments of inertia of the second node about its own centre of mass: 0.01, 0.04 - 2 0.1^2 twice
    let by_hand = r#"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.02, 0.025], products_of_inertia_kg_m2 = [0.001, 0.0, 0.0] }
node = [{ name = "near", position_m = [0.1, 0.0, 0.0] }, { name = "far", position_m = [0.9, 0.2, 0.0] }]
"#;
    let payload = r#"
[[payload]]
name = "second"
body = "link"
at = "far"
mass_kg = 2.0
center_of_mass_m = [0.1, 0.0, 0.0]
inertia_kg_m2 = [0.01, 0.02, 0.02]
"#;
    let (rigid, written) = (parsed(&text(modes)), parsed(&(text(by_hand) + payload)));
    let by_hand = completed(in_tree(&written));
    for run in [in_tree(&rigid), in_nodes(&rigid, 4)] {
        assert!(assert_alike(&by_hand, &completed(run), 10.0 * SAME) > 10);
    }
}

/// A support of a rigid boom that slides in its sleeve holds nothing that the sleeve does not.
#[test]
fn supports_hold_a_straight_axis() {
    let text = |support: &str| {
        format!(
            r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "sleeve"
rigid = {{ mass_kg = 2.0, center_of_mass_m = [0.4, 0.0, 0.0], inertia_kg_m2 = [1e-3, 0.1, 0.1] }}
[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 25.0
basis.elements = {{ count = 4 }}
[[joint]]
name = "swing"
parent = "ground"
child = {{ body = "sleeve", rotation_vector_rad = [0.0, 0.0, -0.5] }}
revolute = {{ axis = [0.0, 1.0, 0.0], initial_rate_rad_per_s = 0.8 }}
[[joint]]
name = "slide"
parent = "sleeve"
child = "boom"
prismatic = {{ axis = [1.0, 0.0, 0.0], initial_displacement_m = 0.1 }}
{support}
[[marker]]
name = "tip"
body = "boom"
[fidelity]
preset = "rigid"
[simulation]
duration_s = 0.2
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-12 }}
"#
        )
    };
    let support = |slopes: &str| {
        format!(
            r#"
[[support]]
name = "mouth"
beam = "boom"
on = {{ body = "sleeve", position_m = [0.8, 0.0, 0.0] }}
slopes = "{slopes}"
"#
        )
    };
    let without = completed(in_tree(&parsed(&text(""))));
    for slopes in ["free", "tied"] {
        let with = completed(in_tree(&parsed(&text(&support(slopes)))));
        assert!(assert_alike(&without, &with, SAME) > 10);
    }
    // only a rigid body can hold the direction of a rigid boom
    let mut mixed = parsed(&text(&support("tied")).replace(
        "rigid = { mass_kg = 2.0, center_of_mass_m = [0.4, 0.0, 0.0], inertia_kg_m2 = [1e-3, 0.1, 0.1] }",
        "beam = { length_m = 0.8, mass_per_length_kg_per_m = 1.0, bending_stiffness_y_n_m2 = 9.0, basis.clamped_free.bending_y = 1 }",
    ));
    mixed.joint[1].parent.at = Some("root".to_owned());
    mixed.body[1].fidelity = Some(mixed.fidelity);
    mixed.fidelity = lissom_spec::spec::FidelitySpec::default();
    let errors = mixed.check().unwrap_err();
    let tied = |kind: &ErrorKind| matches!(kind, ErrorKind::TiedToFlexible { .. });
    assert!(errors.iter().any(|error| tied(&error.kind)), "{errors:?}");
}

/// Two links of nodes and elements that swing, each beam with mass; a rod of mass m is m/6 at its ends and 2m/3 between.
#[test]
fn elements_are_bars() {
    let text = |links: &str| {
        format!(
            r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[node]]
name = "base"
planar_point = {{ position_m = [0.0, 0.0], roles = ["fixed", "fixed"] }}
[[node]]
name = "ground"
planar_angle.role = "fixed"
[[node]]
name = "first"
planar_angle = {{}}
[[node]]
name = "second"
planar_angle = {{}}
[[element]]
name = "shoulder"
hinge = {{ from = "ground", to = "first", initial_rate_rad_per_s = 1.0 }}
[[element]]
name = "elbow"
hinge = {{ from = "first.tip", to = "second", stiffness_n_m_per_rad = 5.0 }}
[[node]]
name = "first.tip"
planar_angle = {{}}
[[node]]
name = "second.tip"
planar_angle = {{}}
{links}
[simulation]
duration_s = 0.3
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-12 }}
"#
        )
    };
    let beam = |name: &str, from: [&str; 2], to: [&str; 2]| {
        format!(
            r#"
[[element]]
name = "{name}"
[element.beam]
from = {{ point = "{}", orientation = "{}" }}
to = {{ point = "{}", orientation = "{}" }}
divisions = 3
mass_per_length_kg_per_m = 0.6
axial_stiffness_n = 1e5
bending_stiffness_y_n_m2 = 30.0
"#,
            from[0], from[1], to[0], to[1]
        )
    };
    let point = |name: &str, x: f64, mass: f64| {
        format!(
            "[[node]]\nname = \"{name}\"\nplanar_point = {{ position_m = [{x}, 0.0], mass_kg = {mass:e} }}\n"
        )
    };
    let bar = |name: &str, from: [&str; 2], to: [&str; 2]| {
        format!(
            r#"
[[element]]
name = "{name}"
[element.rigid_beam]
from = {{ point = "{}", orientation = "{}" }}
to = {{ point = "{}", orientation = "{}" }}
"#,
            from[0], from[1], to[0], to[1]
        )
    };
    let beams = point("knee", 1.0, 0.0)
        + &point("hand", 1.5, 0.1)
        + &beam("upper", ["base", "first"], ["knee", "first.tip"])
        + &beam("lower", ["knee", "second"], ["hand", "second.tip"])
        + "[fidelity]\npreset = \"rigid\"\n";
    let (upper, lower) = (0.6, 0.3);
    let angle = |name: &str| format!("[[node]]\nname = \"{name}\"\nplanar_angle = {{}}\n");
    let bars = point("upper.middle", 0.5, upper * 2.0 / 3.0)
        + &point("knee", 1.0, upper / 6.0 + lower / 6.0)
        + &point("lower.middle", 1.25, lower * 2.0 / 3.0)
        + &point("hand", 1.5, lower / 6.0 + 0.1)
        + &angle("upper.angle")
        + &angle("lower.angle")
        + &bar(
            "upper.1",
            ["base", "first"],
            ["upper.middle", "upper.angle"],
        )
        + &bar(
            "upper.2",
            ["upper.middle", "upper.angle"],
            ["knee", "first.tip"],
        )
        + &bar(
            "lower.1",
            ["knee", "second"],
            ["lower.middle", "lower.angle"],
        )
        + &bar(
            "lower.2",
            ["lower.middle", "lower.angle"],
            ["hand", "second.tip"],
        );
    let [rigid, by_hand] = [beams, bars].map(|links| {
        let spec = parsed(&text(&links));
        completed(in_nodes(&spec, 1))
    });
    assert_eq!(elastic_channels(&rigid), 0);
    assert!(assert_alike(&by_hand, &rigid, 10.0 * SAME) > 10);
    assert!(rigid.recording.channel("elbow.rotation").is_some());
}
