//! Links made of beams: curved, tapered, several in space; what `check` says of wrong ones, and how they move.

use std::fmt::Write as _;

use crate::{Folder, number};

/// The section and material of the spin-up beam: EI = 1.4e4 N m², ρA = 1.2 kg/m, ρI = 6e-4 kg m.
const SQUARE: &str =
    "section.rectangle = { size_y_m = 0.07745966692414834, size_z_m = 0.07745966692414834 }";
const LIGHT: &str = "material.elastic = { youngs_modulus_pa = 4.666666666666667e9, shear_modulus_pa = 2.3333333333333335e9, density_kg_per_m3 = 200.0 }";

/// A link of one member from the origin to `tip`, both of them interfaces; `keys` are those of the member.
fn link(name: &str, tip: [f64; 3], keys: &str, basis: &str) -> String {
    format!(
        r#"
[[body]]
name = "{name}"
[body.frame]
interface = ["root", "tip"]
basis.{basis}
[[body.frame.node]]
name = "root"
position_m = [0.0, 0.0, 0.0]
[[body.frame.node]]
name = "tip"
position_m = {tip:?}
[[body.frame.member]]
from = "root"
to = "tip"
{LIGHT}
{keys}
"#
    )
}

/// The shipped spin-up problem with a frame in the place of its beam.
fn spin_up(basis: &str) -> String {
    let text = lissom_io::models::find("spin-up-beam").unwrap().text;
    let (head, rest) = text.split_once("[[body]]").unwrap();
    let (_, tail) = rest.split_once("[[joint]]").unwrap();
    let tail = tail.replace(
        "child = \"beam\"",
        "child = { body = \"beam\", at = \"root\" }",
    );
    let beam = link("beam", [10.0, 0.0, 0.0], SQUARE, basis);
    format!("{head}{beam}\n[[joint]]{tail}")
}

fn lag(folder: &Folder, arguments: &[&str]) -> f64 {
    let mut words = vec!["run"];
    words.extend_from_slice(arguments);
    words.extend(["--json", "--out", "results"]);
    let summary = folder.json(&words);
    let channel = &summary["channels"]["tip.deflection.y"];
    number(&channel["minimum"]["value"]).abs()
}

/// The spin-up problem to 6 rad/s with the beam as a frame of one member: the tip lags as that of the beam, within 1 %, in either basis; without
/// the stiffening it runs away.
#[test]
fn a_frame_spins_up_as_the_beam_does() {
    let folder = Folder::new();
    folder.write("clamped.toml", spin_up("clamped_free = { modes = 6 }"));
    folder.write("bampton.toml", spin_up("craig_bampton = { modes = 4 }"));
    let beam = lag(&folder, &["spin-up-beam"]);
    let clamped = lag(&folder, &["clamped.toml"]);
    assert!((clamped / beam - 1.0).abs() < 0.01, "{clamped} {beam}");
    let radau = "simulation.integrator={radau={rtol=1e-6,atol=1e-8}}";
    let bampton = lag(&folder, &["bampton.toml", "--set", radau]);
    assert!((bampton / beam - 1.0).abs() < 0.01, "{bampton} {beam}");
    let without = folder.lissom(&[
        "run",
        "clamped.toml",
        "--set",
        "body.beam.frame.stiffening=false",
    ]);
    assert_eq!(without.code, 1, "it diverges: {}", without.stdout);
}

/// A quarter of a circle of radius 0.7 m, tapered.
fn quarter(name: &str, basis: &str) -> String {
    let keys = r"
arc_through_m = [0.4949747468305833, 0.20502525316941672, 0.0]
station = [
    { share = 0.0, section.tube = { diameter_m = 0.04, wall_m = 0.002 } },
    { share = 1.0, section.tube = { diameter_m = 0.02, wall_m = 0.001 }, offset_m = [0.004, 0.0] },
]
";
    link(name, [0.7, 0.7, 0.0], keys, basis)
}

fn drift(folder: &Folder, model: &str) -> f64 {
    let summary = folder.json(&["run", model, "--json"]);
    let bends = summary["audit"]["bodies"].as_array().unwrap();
    // they do bend, far enough for second order to matter
    assert!(
        bends
            .iter()
            .all(|body| number(&body["deflection"]["value"]) > 5e-3),
        "{bends:?}"
    );
    number(&summary["audit"]["energy"]["max_drift_percent"])
}

/// Energy of a floating hub with a straight member and a quarter of a circle that swing about it, to 1e-9 of its peak, and the balance of a two-link
/// arm with a quarter of a circle under gravity and a torque, to 1e-8.
#[test]
fn energy_is_balanced_by_links_of_beams() {
    let folder = Folder::new();
    let straight = link(
        "first",
        [1.0, 0.0, 0.0],
        "section.box = { size_y_m = 0.03, size_z_m = 0.02, wall_m = 0.002 }",
        "craig_bampton = { modes = 2 }",
    );
    let second = quarter("second", "clamped_free = { modes = 4 }");
    let arm = |carrier: &str, rest: &str| {
        format!(
            r#"format = 1
gravity_m_per_s2 = [0.0, 0.0, 0.0]
[[body]]
name = "hub"
rigid = {{ mass_kg = 2.0, inertia_kg_m2 = [0.05, 0.06, 0.07] }}
{straight}{second}
[[body.point_mass]]
mass_kg = 0.04
at = "tip"
[[joint]]
name = "base"
parent = "ground"
child = "hub"
{carrier}
[[joint]]
name = "shoulder"
parent = "hub"
child = {{ body = "first", at = "root" }}
revolute = {{ axis = [0.0, 0.3, 1.0], initial_rate_rad_per_s = -2.0 }}
[[joint]]
name = "elbow"
parent = {{ body = "first", at = "tip" }}
child = {{ body = "second", at = "root" }}
revolute = {{ axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 3.0 }}
{rest}
[simulation]
duration_s = 0.4
integrator.dop853 = {{ rtol = 1e-11, atol = 1e-13 }}
"#
        )
    };
    let floating = "free = { initial_angular_velocity_rad_per_s = [0.4, -0.3, 6.0] }";
    folder.write("hub.toml", arm(floating, ""));
    let found = drift(&folder, "hub.toml");
    assert!(found < 1e-7, "{found} %");
    let torque = "[[input]]\njoint = \"shoulder\"\ntorque_step = { value_n_m = 3.0, from_s = 0.1 }";
    let grounded = arm("fixed = {}", torque).replace(
        "gravity_m_per_s2 = [0.0, 0.0, 0.0]",
        "gravity_m_per_s2 = [0.0, -9.81, 0.0]",
    );
    folder.write("arm.toml", grounded);
    let found = drift(&folder, "arm.toml");
    assert!(found < 1e-6, "{found} %");
}

/// A chain of a straight link, a quarter of a circle and a bob that hang on passive hinges and fall.
fn chain(basis: &str) -> String {
    let straight = link(
        "first",
        [1.0, 0.0, 0.0],
        "section.box = { size_y_m = 0.03, size_z_m = 0.02, wall_m = 0.002 }",
        basis,
    );
    let arc = quarter("second", basis);
    format!(
        r#"format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
{straight}
{arc}
[[body]]
name = "bob"
rigid = {{ mass_kg = 0.5, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-3, 1e-3, 1e-3] }}
[[joint]]
name = "top"
parent = "ground"
child = {{ body = "first", at = "root" }}
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[joint]]
name = "middle"
parent = {{ body = "first", at = "tip" }}
child = {{ body = "second", at = "root" }}
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[joint]]
name = "end"
parent = {{ body = "second", at = "tip" }}
child = "bob"
revolute = {{ axis = [0.0, 0.0, 1.0] }}
[[marker]]
name = "bob"
body = "bob"
[simulation]
duration_s = 0.02
[simulation.integrator.dop853]
rtol = 1e-9
atol = 1e-11
[output]
sample_period_s = 0.005
"#
    )
}

/// Second formulation: links that hinge at both ends move from the frame on their chord as they do from the tangent frame with many more
/// shapes, and conserve energy; `auto` takes that frame and says so.
#[test]
fn hinged_links_move_on_their_chords() {
    /// A fiftieth of what the links bend by under their weight, 1.27 g/ω² with ω = 515 rad/s, and a thousandth of the fall.
    const LEFT_OUT_M: f64 = 1e-6;
    /// What shear of so slender a link adds to a share.
    const SHEAR: f64 = 0.01;
    /// As of other links of beams, in percent of the peak.
    const DRIFT: f64 = 1e-7;
    let folder = Folder::new();
    folder.write("auto.toml", chain("auto = { modes = 1 }"));
    folder.write("many.toml", chain("craig_bampton = { modes = 4 }"));
    let understood = folder.json(&["check", "auto.toml", "--json"]);
    for chosen in understood["chosen_bases"].as_array().unwrap() {
        assert_eq!(chosen["basis"], "hinged", "{chosen}");
        assert_eq!(chosen["coordinates"], 5);
    }
    // across the plane of the hinges the straight link bends in a parabola: L⁵/144EI of L⁵/120EI under its own weight
    let left = number(&understood["chosen_bases"][0]["left_out"]);
    assert!((left - 1.0 / 6.0).abs() < SHEAR, "{left}");
    folder.lissom(&["check", "auto.toml"]).says(
        0,
        &["hinged, 5 coordinates, as passive hinges at root and tip"],
    );
    let [auto, many] = ["auto.toml", "many.toml"].map(|model| {
        let summary = folder.json(&["run", model, "--json", "--out", "results"]);
        let drift = number(&summary["audit"]["energy"]["max_drift_percent"]);
        assert!(drift < DRIFT, "{model}: {drift}");
        ["x", "y"].map(|axis| number(&summary["channels"][format!("bob.position.{axis}")]["final"]))
    });
    let off = f64::hypot(auto[0] - many[0], auto[1] - many[1]);
    assert!(off < LEFT_OUT_M, "{off}: {auto:?} {many:?}");
}

/// A name and a position.
type Node = (&'static str, [f64; 3]);

/// A frame in space with a closed triangle: nodes, and members by the numbers of theirs.
const NODES: [Node; 4] = [
    ("root", [0.0, 0.0, 0.0]),
    ("elbow", [0.5, 0.0, 0.0]),
    ("top", [0.6, 0.4, 0.1]),
    ("tip", [1.0, 0.1, 0.2]),
];
const MEMBERS: [[usize; 2]; 4] = [[0, 1], [1, 2], [1, 3], [2, 3]];

/// On the last member, near its end.
const NEAR: Node = ("near", [0.95, 0.1375, 0.1875]);

/// Second formulation: the frequencies of a frame as one body are those of the same frame in nodal elements, within 0.5 %.
#[test]
fn a_frame_rings_as_the_same_frame_in_nodal_elements() {
    let folder = Folder::new();
    let (e, g, rho, [b, h]) = (7.0e10, 2.6e10, 2700.0, [0.03, 0.02]);
    let mut frame = String::from(
        "format = 1\n[[body]]\nname = \"truss\"\n[body.frame]\ninterface = [\"root\"]\nbasis.clamped_free = { modes = 6 }\n",
    );
    let mut nodal = String::from("format = 1\n");
    for (name, at) in NODES {
        writeln!(
            frame,
            "[[body.frame.node]]\nname = \"{name}\"\nposition_m = {at:?}"
        )
        .unwrap();
    }
    for (name, at) in NODES.into_iter().chain([NEAR]) {
        let (roles, role) = match name {
            "root" => (
                ", roles = [\"fixed\", \"fixed\", \"fixed\"]",
                "role = \"fixed\"",
            ),
            _ => ("", ""),
        };
        write!(
            nodal,
            "[[node]]\nname = \"{name}\"\npoint = {{ position_m = {at:?}{roles} }}\n[[node]]\nname = \"at_{name}\"\norientation = {{ {role} }}\n"
        )
        .unwrap();
    }
    // moderately thick, so that shear and rotary inertia are seen
    let torsion = 0.5 * (b * h * h * h) * 0.391_9;
    let stiffness = |size: f64, other: f64| e * other * size.powi(3) / 12.0;
    let inertia = |size: f64, other: f64| rho * other * size.powi(3) / 12.0;
    let shear = 5.0 / 6.0 * g * b * h;
    let element = |text: &mut String, from: Node, to: Node, keys: &str| {
        let along: [f64; 3] = [0, 1, 2].map(|k| to.1[k] - from.1[k]);
        let (y, z) = (inertia(b, h), inertia(h, b));
        write!(
            text,
            "[[element]]\nname = \"{0}_{1}\"\n[element.beam]\nfrom = {{ point = \"{0}\", orientation = \"at_{0}\" }}\n\
             to = {{ point = \"{1}\", orientation = \"at_{1}\" }}\n{keys}\ny_direction = {2:?}\nmass_per_length_kg_per_m = {3:?}\n\
             axial_stiffness_n = {4:?}\ntorsional_stiffness_n_m2 = {5:?}\nbending_stiffness_y_n_m2 = {6:?}\nbending_stiffness_z_n_m2 = {7:?}\n\
             shear_stiffness_n = [{shear:?}, {shear:?}]\nrotary_inertia_kg_m = {8:?}\n",
            from.0,
            to.0,
            // the z axis of the section is as near to that of the body as it can be
            [-along[1], along[0], 0.0],
            rho * b * h,
            e * b * h,
            g * torsion,
            stiffness(b, h),
            stiffness(h, b),
            [y + z, z, y],
        )
        .unwrap();
    };
    for [from, to] in MEMBERS {
        let (from, to) = (NODES[from], NODES[to]);
        let section = format!(
            "section.properties = {{ mass_per_length_kg_per_m = {:?}, axial_stiffness_n = {:?}, bending_stiffness_y_n_m2 = {:?}, \
             bending_stiffness_z_n_m2 = {:?}, torsional_stiffness_n_m2 = {:?}, shear_stiffness_y_n = {shear:?}, shear_stiffness_z_n = {shear:?}, \
             section_inertia_y_kg_m = {:?}, section_inertia_z_kg_m = {:?} }}",
            rho * b * h,
            e * b * h,
            stiffness(b, h),
            stiffness(h, b),
            g * torsion,
            inertia(b, h),
            inertia(h, b),
        );
        writeln!(
            frame,
            "[[body.frame.member]]\nfrom = \"{}\"\nto = \"{}\"\n{section}",
            from.0, to.0
        )
        .unwrap();
        match to.0 {
            // one element follows where the triangle closes
            "tip" if from.0 == "top" => {
                element(&mut nodal, from, NEAR, "divisions = 7");
                element(&mut nodal, NEAR, to, "role = \"free\"");
            }
            _ => element(&mut nodal, from, to, "divisions = 8"),
        }
    }
    frame += "[[joint]]\nname = \"base\"\nparent = \"ground\"\nchild = { body = \"truss\", at = \"root\" }\nfixed = {}\n";
    folder.write("frame.toml", &frame);
    folder.write("nodal.toml", &nodal);
    let [found, wanted] = ["frame.toml", "nodal.toml"].map(|model| {
        let answer = folder.json(&["modes", model, "--json"]);
        let modes = answer["modes"].as_array().unwrap().iter();
        let frequency = |mode: &serde_json::Value| number(&mode["frequency_rad_per_s"][0]);
        modes.map(frequency).take(5).collect::<Vec<f64>>()
    });
    assert_eq!(found.len(), 5);
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((found / wanted - 1.0).abs() < 0.005, "{found} {wanted}");
    }
    let told = folder.lissom(&["body", "frame.toml:truss"]);
    told.says(
        0,
        &["24 elements", "node top", "It stiffens under rotation"],
    );
}

/// What is wrong with a frame is said where it stands.
#[test]
fn wrong_frames_are_explained() {
    let folder = Folder::new();
    let sound = spin_up("clamped_free = { modes = 2 }");
    let member = "[[body.frame.member]]";
    let polygon = "section.polygon = { points_m = [[0, 0], [1, 1], [1, 0], [0, 1]] }";
    let cases: [(String, &[&str]); 11] = [
        (
            sound.replace(member, "[[body.frame.node]]\nname = \"top\"\nposition_m = [0, 1, 0]\n[[body.frame.member]]"),
            &["no member connects node \"top\" with \"root\"", "add a member"],
        ),
        (
            sound.replace("to = \"tip\"", "to = \"root\""),
            &["begins and ends at node \"root\""],
        ),
        (sound.replace("to = \"tip\"", "to = \"tib\""), &["did you mean \"tip\""]),
        (sound.replace(LIGHT, ""), &["key `material` is missing"]),
        (
            sound.replace(SQUARE, polygon),
            &["edges 1 and 3 of the polygon cross"],
        ),
        (
            sound.replace(SQUARE, "section.tube = { diameter_m = 0.1, wall_m = 0.06 }"),
            &["`wall_m` is 0.06", "below 0.05"],
        ),
        (
            sound.replace(SQUARE, "station = [{ share = 0.0, section.circle.diameter_m = 0.1 }, { share = 1.0, section.tube = { diameter_m = 0.1, wall_m = 0.01 } }]"),
            &["no section lies between `circle` and `tube`"],
        ),
        (
            sound.replace(SQUARE, &format!("{SQUARE}\nz_direction = [1, 0, 0]")),
            &["member 1 from \"root\" to \"tip\"", "z_direction", "arm.toml:"],
        ),
        (
            sound.replace(SQUARE, &format!("{SQUARE}\narc_through_m = [5, 0, 0]")),
            &["lie on a line"],
        ),
        (
            sound.replace("interface = [\"root\", \"tip\"]", "interface = [\"base\"]"),
            &["no node of the frame called \"base\""],
        ),
        (
            sound.replace("at = \"root\" }", "at = \"middle\" }"),
            &["no place called \"middle\""],
        ),
    ];
    for (text, words) in cases {
        assert_ne!(text, sound, "{words:?}");
        folder.write("arm.toml", text);
        folder.lissom(&["check", "arm.toml"]).says(1, words);
    }
    folder.write("arm.toml", &sound);
    folder
        .lissom(&["check", "arm.toml", "--formulation", "nodal"])
        .says(1, &["a body given by its modes"]);
    let named = format!("{SQUARE}\nplace = [{{ name = \"middle\", share = 0.5 }}]");
    folder.write("arm.toml", sound.replace(SQUARE, &named));
    let told = folder.json(&["body", "arm.toml:beam", "--out", "beam.json", "--json"]);
    assert_eq!(told["nodes"][2]["name"], "middle");
}
