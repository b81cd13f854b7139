//! Beams that start deformed, in both formulations.
//!
//! Kind of truth: two formulations. At the start the nodes stand where the displacement field of the elastic coordinates has them. From
//! there the motions converge to each other.

use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;

use crate::models::parsed;
use crate::runs::{completed, nodal_mechanism, samples, tree_mechanism};

/// Some hundred operations on numbers of order one, and Newton's iteration of the nodes.
const ROUNDING: f64 = 1e-12;

fn ran(mechanism: &Mechanism) -> Run {
    completed(mechanism.run(&sample_instants(mechanism.spec(), &[])))
}

/// Largest difference of the positions and rates of something at a sample.
fn apart(of: &str, [a, b]: [&Run; 2], sample: usize) -> f64 {
    let channels = a.recording.channels.iter();
    let meant = channels
        .filter(|channel| channel.name.starts_with(of) && !channel.name.contains("reaction"));
    let differences = meant.map(|channel| {
        let other = samples(&b.recording, &channel.name);
        (channel.samples[sample] - other[sample]).abs()
    });
    let most = differences.fold(f64::NAN, f64::max);
    assert!(most.is_finite(), "{of}");
    most
}

const INTEGRATOR: &str = "[simulation]\nduration_s = 0.02\n\
    integrator.radau = { rtol = 1e-7, atol = 1e-10 }\n";

/// A boom on a hinge that bends, twists and stretches, with a hand on a ball joint at its tip and a free body on the hand.
fn boom(amplitude: f64) -> String {
    let a = amplitude;
    format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]
[[body]]
name = "boom"
initial = {{ elastic = {{ v_2 = {v}, v_slope_2 = {s}, v_3 = {s}, w_2 = {w}, w_slope_3 = {v}, twist_3 = {s}, u_3 = {u} }}, elastic_rate = {{ v_slope_3 = {r}, w_3 = {r}, twist_2 = {w} }} }}
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 8.0
bending_stiffness_z_n_m2 = 10.0
torsional_stiffness_n_m2 = 6.0
axial_stiffness_n = 1e5
section_inertia_y_kg_m = 1e-4
section_inertia_z_kg_m = 1e-4
basis.elements = {{ count = 2, stretch = true, torsion = true }}
[[body]]
name = "hand"
rigid = {{ mass_kg = 0.2, center_of_mass_m = [0.02, 0.01, 0.0], inertia_kg_m2 = [1e-4, 2e-4, 3e-4] }}
node = [{{ name = "end", position_m = [0.1, 0.0, 0.05] }}]
[[body]]
name = "bird"
rigid = {{ mass_kg = 0.1, inertia_kg_m2 = [1e-4, 1e-4, 1e-4] }}
[[joint]]
name = "shoulder"
parent = {{ body = "ground", rotation_vector_rad = [0.3, 0.1, 0.0] }}
child = "boom"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.4, initial_rate_rad_per_s = 0.7 }}
[[joint]]
name = "ball"
parent = {{ body = "boom", at = "tip", rotation_vector_rad = [0.0, 0.2, 0.0] }}
child = "hand"
spherical = {{ initial_rotation_vector_rad = [0.3, 0.2, 0.1], initial_angular_velocity_rad_per_s = [0.4, -0.2, 0.3] }}
[[joint]]
name = "flight"
parent = {{ body = "hand", at = "end" }}
child = "bird"
free = {{ initial_position_m = [0.1, 0.0, 0.2], initial_velocity_m_per_s = [0.2, 0.1, 0.0], initial_angular_velocity_rad_per_s = [0.1, 0.0, 0.3] }}
[[marker]]
name = "grip"
body = "hand"
at = "end"
[[marker]]
name = "beak"
body = "bird"
{INTEGRATOR}"#,
        v = 0.3 * a,
        s = a,
        w = -0.2 * a,
        u = 0.1 * a * a,
        r = 2.0 * a,
    )
}

/// Identity: elements that keep all deformations have their nodes where the functions have them, and so stands and moves what is on
/// them.
#[test]
fn nodes_stand_where_the_functions_have_them() {
    let spec = parsed(&boom(0.08));
    let runs = [tree_mechanism(&spec), nodal_mechanism(&spec, 2)]
        .map(|mechanism| completed(mechanism.run(&[0.0, 1e-6])));
    for of in ["grip.", "beak.", "ball.", "flight.", "shoulder."] {
        let apart = apart(of, runs.each_ref(), 0);
        assert!(apart < ROUNDING, "{of}: {apart}");
    }
}

/// A cantilever in its first mode, with 0.1 mm at its tip.
const CANTILEVER: &str = r#"
format = 1
[[body]]
name = "beam"
initial = { elastic = { bending_y_1 = 5e-5 }, elastic_rate = { bending_y_1 = 1e-3 } }
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 100.0
basis.clamped_free.bending_y = 1
[[joint]]
name = "root"
parent = "ground"
child = "beam"
fixed = {}
[[marker]]
name = "tip"
body = "beam"
at = "tip"
"#;

/// Order of convergence: that of the elements is four, and somewhat less from one element to two.
#[test]
fn motions_converge_at_the_order_of_the_elements() {
    const LEAST_ORDER: f64 = 3.0;
    let spec = parsed(&format!("{CANTILEVER}{INTEGRATOR}"));
    let tree = ran(&tree_mechanism(&spec));
    let last = tree.recording.time_s.len() - 1;
    let differences = [1, 2, 4].map(|elements| {
        let nodes = ran(&nodal_mechanism(&spec, elements));
        apart("tip.deflection.y", [&tree, &nodes], last)
    });
    for pair in differences.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!(order > LEAST_ORDER, "{differences:?}");
    }
}

/// A four-bar of beams whose coupler starts bent, cut at either of its pins.
fn four_bar(cut: usize) -> String {
    let beam = |name: &str, length: f64, initial: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\n{initial}[body.beam]\nlength_m = {length}\nmass_per_length_kg_per_m = 1.0\n\
             bending_stiffness_y_n_m2 = 60.0\nbasis.clamped_free.bending_y = 3\n"
        )
    };
    let hinge = |index: usize, name: &str, sides: &str, angle: &str| {
        let key = if index == cut { "cut = true\n" } else { "" };
        format!(
            "[[joint]]\n{key}name = \"{name}\"\n{sides}\nrevolute = {{ axis = [0.0, 0.0, 1.0]{angle} }}\n"
        )
    };
    let bent = "initial = { elastic = { bending_y_1 = 1e-3, bending_y_2 = -2e-4 }, elastic_rate = { bending_y_1 = 0.03 } }\n";
    let ground = "parent = { body = \"ground\", position_m = [0.5, 0.0, 0.0] }\nchild = \"rocker\"";
    let at_tips = "parent = { body = \"coupler\", at = \"tip\" }\nchild = { body = \"rocker\", at = \"tip\" }";
    [
        "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned(),
        beam("crank", 0.2, ""),
        beam("coupler", 0.6, bent),
        beam("rocker", 0.4, ""),
        hinge(
            0,
            "motor",
            "parent = \"ground\"\nchild = \"crank\"",
            ", initial_angle_rad = 1.0, initial_rate_rad_per_s = 0.8, held = true",
        ),
        hinge(
            1,
            "knuckle",
            "parent = { body = \"crank\", at = \"tip\" }\nchild = \"coupler\"",
            "",
        ),
        hinge(
            2,
            "pivot",
            ground,
            ", initial_angle_rad = 1.4, branch = \"positive\"",
        ),
        hinge(3, "pin", at_tips, ""),
        "[[marker]]\nname = \"middle\"\nbody = \"coupler\"\nposition_m = [0.3, 0.0, 0.0]\n"
            .to_owned(),
        INTEGRATOR.to_owned(),
    ]
    .concat()
}

/// The coupler without stretch is as long as its axis, which the tree keeps to second order in slopes of some thousandths.
#[test]
fn loops_are_closed_with_their_beams_bent() {
    const THIRD_ORDER_M: f64 = 1e-7;
    const LEAST_ORDER: f64 = 2.5;
    for cut in [1, 3] {
        let spec = parsed(&four_bar(cut));
        let tree = ran(&tree_mechanism(&spec));
        let last = tree.recording.time_s.len() - 1;
        let differences = [1, 2].map(|elements| {
            let nodes = ran(&nodal_mechanism(&spec, elements));
            let closure = if cut == 1 { "knuckle" } else { "pin" };
            for what in ["offset", "rotation"] {
                let open = samples(&nodes.recording, &format!("{closure}.violation.{what}"))[0];
                assert!(open < ROUNDING, "{cut} {what}: {open}");
            }
            [0, last].map(|sample| apart("middle.position", [&tree, &nodes], sample))
        });
        let [[start, coarse], [_, fine]] = differences;
        assert!(start < THIRD_ORDER_M, "{cut}: {differences:?}");
        let order = (coarse / fine).log2();
        assert!(order > LEAST_ORDER, "{cut}: {differences:?}");
    }
}
