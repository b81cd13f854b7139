//! Links of any shape: meshes that models name, what `lissom body` makes of them, and how they move.

use crate::bars::bar;
use crate::{Folder, number};

/// The section of the spin-up beam as a square: EI = 1.4e4 N m², ρA = 1.2 kg/m, ρI = 6e-4 kg m.
const SIDE: f64 = 0.077_459_666_924_148_34;

/// A body of that material, without its basis.
fn mesh(name: &str) -> String {
    format!(
        r#"
[[body]]
name = "{name}"
[body.mesh]
file = "bar.msh"
[[body.mesh.material]]
youngs_modulus_pa = 4.666666666666667e9
poisson_ratio = 0.0
density_kg_per_m3 = 200.0
[[body.mesh.interface]]
name = "root"
[[body.mesh.interface]]
name = "tip"
"#
    )
}

/// The shipped spin-up problem with the bar in the place of its beam.
fn spin_up(basis: &str) -> String {
    let text = lissom_io::models::find("spin-up-beam").unwrap().text;
    let (head, rest) = text.split_once("[[body]]").unwrap();
    let (_, tail) = rest.split_once("[[joint]]").unwrap();
    let tail = tail.replace(
        "child = \"beam\"",
        "child = { body = \"beam\", at = \"root\" }",
    );
    format!(
        "{head}{}[body.mesh.basis.{basis}\n\n[[joint]]{tail}",
        mesh("beam")
    )
}

fn lag(folder: &Folder, arguments: &[&str]) -> f64 {
    let mut words = vec!["run"];
    words.extend_from_slice(arguments);
    words.extend(["--json", "--out", "results"]);
    let summary = folder.json(&words);
    let channel = &summary["channels"]["tip.deflection.y"];
    number(&channel["minimum"]["value"]).abs()
}

/// The spin-up problem in solid elements: the tip lags as that of the beam, within 1 %, and the bar is straight again at 6 rad/s, in
/// either basis; without the stiffening it runs away.
#[test]
fn a_solid_bar_spins_up_as_the_beam_does() {
    let folder = Folder::new();
    folder.write("bar.msh", bar(20, [10.0, SIDE, SIDE], |p| p));
    folder.write("clamped.toml", spin_up("clamped_free]\nmodes = 6"));
    folder.write("bampton.toml", spin_up("craig_bampton]\nmodes = 4"));
    let beam = lag(&folder, &["spin-up-beam"]);
    let clamped = lag(&folder, &["clamped.toml"]);
    assert!((clamped / beam - 1.0).abs() < 0.01, "{clamped} {beam}");
    let bampton = lag(
        &folder,
        &[
            "bampton.toml",
            "--set",
            "simulation.integrator={radau={rtol=1e-6,atol=1e-8}}",
        ],
    );
    assert!((bampton / beam - 1.0).abs() < 0.01, "{bampton} {beam}");
    let without = folder.lissom(&[
        "run",
        "clamped.toml",
        "--set",
        "body.beam.mesh.stiffening=false",
    ]);
    // a run that leaves what its equations describe ends there, and says so
    assert_eq!(without.code, 1, "it diverges: {}", without.stdout);
    folder
        .lissom(&[
            "check",
            "clamped.toml",
            "--set",
            "body.beam.mesh.stiffening=false",
        ])
        .says(0, &["beam does not stiffen when it rotates", "0.34"]);
}

/// Energy of a floating hub with two links, a bracket and a quarter of a circle, that swing about it: 1e-9 of its peak. The balance of an arm of the
/// same two links on the ground, under gravity, a torque and friction, that bends as far: 1e-8.
#[test]
fn energy_is_balanced_by_links_of_any_shape() {
    let folder = Folder::new();
    let quarter = |[x, y, z]: [f64; 3]| {
        let angle = x * std::f64::consts::FRAC_PI_2;
        let radius = 1.0 - y;
        [radius * angle.sin(), 1.0 - radius * angle.cos(), z]
    };
    // two legs that meet in a mitre
    let bracket = |[x, y, z]: [f64; 3]| {
        if x <= 0.5 {
            [x - 2.0 * x * y, y, z]
        } else {
            [0.5 - y, x - 0.5 + 2.0 * (1.0 - x) * y, z]
        }
    };
    folder.write("bar.msh", bar(6, [1.0, 0.03, 0.02], bracket));
    folder.write("arc.msh", bar(6, [1.0, 0.03, 0.02], quarter));
    let mut text = String::from(
        r#"format = 1
gravity_m_per_s2 = [0.0, 0.0, 0.0]
[[body]]
name = "hub"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [0.05, 0.06, 0.07] }
"#,
    );
    text += &mesh("first");
    text += "[body.mesh.basis.auto]\nmodes = 2\n";
    text += &mesh("second").replace("bar.msh", "arc.msh");
    text += "[body.mesh.basis.clamped_free]\nmodes = 4\n[[body.point_mass]]\nmass_kg = 0.05\nat = \"tip\"\n";
    text += r#"
[[joint]]
name = "float"
parent = "ground"
child = "hub"
free = { initial_angular_velocity_rad_per_s = [0.4, -0.3, 6.0] }
[[joint]]
name = "shoulder"
parent = "hub"
child = { body = "first", at = "root" }
revolute = { axis = [0.0, 0.3, 1.0], initial_rate_rad_per_s = -2.0 }
[[joint]]
name = "elbow"
parent = { body = "first", at = "tip" }
child = { body = "second", at = "root" }
revolute = { axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 3.0 }
[[marker]]
name = "end"
body = "second"
at = "tip"
[simulation]
duration_s = 0.5
integrator.dop853 = { rtol = 1e-11, atol = 1e-13 }
"#;
    folder.write("arm.toml", &text);
    let words = "first: hinged, 6 coordinates, as passive hinges at root and tip carry no moment about their axes";
    folder.lissom(&["check", "arm.toml"]).says(0, &[words]);
    let drift = |model: &str| {
        let summary = folder.json(&["run", model, "--json"]);
        let bends = summary["audit"]["bodies"].as_array().unwrap();
        // they do bend, far enough for second order to matter: a link between passive hinges from its chord, others from their roots
        assert!(
            bends
                .iter()
                .all(|body| number(&body["deflection"]["value"]) > 3e-3),
            "{bends:?}"
        );
        number(&summary["audit"]["energy"]["max_drift_percent"])
    };
    let found = drift("arm.toml");
    assert!(found < 1e-7, "{found} %");
    let rubbing = "initial_rate_rad_per_s = 3.0, friction = { viscous_n_m_s_per_rad = 0.05 }";
    let grounded = text
        .replace(
            "gravity_m_per_s2 = [0.0, 0.0, 0.0]",
            "gravity_m_per_s2 = [0.0, -9.81, 0.0]",
        )
        .replace(
            "free = { initial_angular_velocity_rad_per_s = [0.4, -0.3, 6.0] }",
            "fixed = {}",
        )
        .replace("initial_rate_rad_per_s = 3.0", rubbing)
        + "[[input]]\njoint = \"shoulder\"\ntorque_step = { value_n_m = 3.0, from_s = 0.1 }\n";
    folder.write("grounded.toml", grounded);
    let found = drift("grounded.toml");
    assert!(found < 1e-6, "{found} %");
}

/// Second formulation: a soft arc between two hinges, whose static shapes and modes together nearly make motions of the hinges, bends as far from
/// its root as from mean axes, where nothing is nearly singular. An energy that were not a sum of squares would lose its positive sign on the way.
#[test]
fn a_bent_link_keeps_its_inertia() {
    /// Eight fixed-interface modes leave this much to the choice of the frame, in metres of a link of 1.4 m.
    const OF_THE_BASIS: f64 = 2e-3;
    let folder = Folder::new();
    let quarter = |[x, y, z]: [f64; 3]| {
        let angle = x * std::f64::consts::FRAC_PI_2;
        let radius = 1.0 - y;
        [radius * angle.sin(), 1.0 - radius * angle.cos(), z]
    };
    folder.write("bar.msh", bar(6, [1.0, 0.03, 0.02], quarter));
    let ends = ["tangent", "mean"].map(|frame| {
        let mut text = String::from("format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n");
        text += &mesh("arc");
        text += "[body.mesh.basis.craig_bampton]\nmodes = 8\n";
        text += &["frame = \"", frame, "\"\n"].concat();
        text += r#"
[[body]]
name = "hand"
rigid = { mass_kg = 0.3, inertia_kg_m2 = [1e-3, 2e-3, 1.5e-3], center_of_mass_m = [0.05, 0.02, 0.0] }
[[joint]]
name = "shoulder"
parent = "ground"
child = { body = "arc", at = "root" }
[joint.revolute]
axis = [0.2, -0.3, 0.9]
initial_rate_rad_per_s = 1.0
spring = { stiffness_n_m_per_rad = 30.0 }
[[joint]]
name = "wrist"
parent = { body = "arc", at = "tip" }
child = "hand"
revolute = { axis = [0.0, 1.0, 0.3], initial_rate_rad_per_s = -2.0 }
[[marker]]
name = "end"
body = "hand"
position_m = [0.1, 0.0, 0.0]
[simulation]
duration_s = 0.2
integrator.dop853 = { rtol = 1e-8, atol = 1e-10 }
"#;
        folder.write("arm.toml", &text);
        let summary = folder.json(&["run", "arm.toml", "--json"]);
        assert!(number(&summary["audit"]["energy"]["max_drift_percent"]) < 1e-6);
        ["x", "y", "z"].map(|axis| {
            let channel = &summary["channels"][format!("end.position.{axis}")];
            number(&channel["final"])
        })
    });
    for (tangent, mean) in ends[0].iter().zip(&ends[1]) {
        assert!((tangent - mean).abs() < OF_THE_BASIS, "{ends:?}");
    }
}

/// By construction: a force at an interface asks for its static shapes.
#[test]
fn forces_at_interfaces_count_as_attached() {
    let folder = Folder::new();
    folder.write("bar.msh", bar(6, [1.0, 0.03, 0.02], |p| p));
    let model = mesh("link")
        + r#"[body.mesh.basis.auto]
modes = 2
[[joint]]
name = "hub"
parent = "ground"
child = { body = "link", at = "root" }
revolute = { axis = [0.0, 0.0, 1.0] }
[[marker]]
name = "end"
body = "link"
at = "tip"
"#;
    let force = "[[input]]\nmarker = \"end\"\ndirection = [0.0, 1.0, 0.0]\nforce_constant = { value_n = 1.0 }\n";
    for (force, words) in [
        ("", "link: clamped_free, 2 coordinates"),
        (
            force,
            "link: craig_bampton, 8 coordinates, as something is attached to tip",
        ),
    ] {
        folder.write("arm.toml", format!("format = 1\n{model}{force}"));
        folder.lissom(&["check", "arm.toml"]).says(0, &[words]);
    }
}

/// A body file is the mesh that it was made of, to the last bit, and says when it is damaged.
#[test]
fn body_files_stand_for_their_meshes() {
    let folder = Folder::new();
    folder.write("bar.msh", bar(6, [10.0, SIDE, SIDE], |p| p));
    folder.write("mesh.toml", spin_up("craig_bampton]\nmodes = 2"));
    let told = folder.json(&["body", "mesh.toml:beam", "--out", "beam.json", "--json"]);
    assert!((number(&told["mass_kg"]) - 12.0).abs() < 1e-9);
    let frequencies: Vec<f64> = (told["modes"].as_array().unwrap().iter())
        .map(|mode| number(&mode["frequency_rad_per_s"]))
        .collect();
    assert_eq!(frequencies.len(), 8);
    let missing = told["mesh"]["interfaces"][0]["missing_compliance"]
        .as_array()
        .unwrap();
    assert!(
        missing.iter().all(|share| number(share).abs() < 1e-6),
        "{missing:?}"
    );
    let text = spin_up("").split("[body.mesh]").next().unwrap().to_owned();
    let tail = spin_up("").split("[[joint]]").nth(1).unwrap().to_owned();
    folder.write(
        "file.toml",
        format!("{text}reduced_file = \"beam.json\"\n[[joint]]{tail}"),
    );
    let [from_mesh, from_file] = ["mesh.toml", "file.toml"].map(|model| {
        let found = folder.json(&["check", model, "--json"])["bodies"][0].clone();
        assert_eq!(found["kind"], "reduced");
        found["frequencies_rad_per_s"].clone()
    });
    assert_eq!(from_mesh, from_file);
    let words = folder.lissom(&["body", "beam.json"]);
    words.says(0, &["12 kg", "held", "It stiffens under rotation"]);
    // what is known of loads alone says nothing of rotation
    let text = std::fs::read_to_string(folder.path.join("beam.json")).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    file.as_object_mut().unwrap().remove("crc32");
    let of_rotation = &mut file["body"]["second_order"]["position_integrals"];
    for matrix in of_rotation
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .flat_map(|own| own.as_array_mut().unwrap())
    {
        for row in matrix.as_array_mut().unwrap() {
            row.as_array_mut().unwrap().fill(0.0.into());
        }
    }
    folder.write("part.json", file.to_string());
    let part = std::fs::read_to_string(folder.path.join("file.toml")).unwrap();
    folder.write("part.toml", part.replace("beam.json", "part.json"));
    folder
        .lissom(&["check", "part.toml"])
        .says(0, &["beam does not stiffen when it rotates"]);
    let damaged = std::fs::read_to_string(folder.path.join("beam.json")).unwrap();
    folder.write("beam.json", damaged.replacen("12.", "13.", 1));
    folder
        .lissom(&["check", "file.toml"])
        .says(1, &["beam.json", "changed or damaged"]);
    folder
        .lissom(&["body", "mesh.toml:bean"])
        .says(1, &["has no body \"bean\"", "beam"]);
    folder.lissom(&["body", "nothing"]).says(2, &["MODEL:BODY"]);
}

/// What is wrong with a mesh is said at the line that names it.
#[test]
fn wrong_meshes_are_explained() {
    let folder = Folder::new();
    let sound = bar(2, [1.0, 0.1, 0.1], |p| p);
    folder.write("arm.toml", spin_up("clamped_free]\nmodes = 2"));
    for (text, words) in [
        (
            sound.replace("2.2 0 8", "2.2 1 8"),
            "bar.msh: line 2: the file is binary",
        ),
        (
            sound.replace("\"tip\"", "\"flange\""),
            "no physical group \"tip\"; its groups are root, flange, bar",
        ),
        (
            // saved with all elements, in no group
            sound
                .replace(" 16 2 1 1 ", " 16 2 0 1 ")
                .replace(" 16 2 2 2 ", " 16 2 0 2 ")
                .replace(" 17 2 3 1 ", " 17 2 0 1 "),
            "no physical group \"root\"; it has none: name surfaces",
        ),
        (
            bar(2, [-1.0, 0.1, 0.1], |p| p),
            "element 3 (hexahedron of 20 nodes) at (",
        ),
    ] {
        folder.write("bar.msh", text);
        folder
            .lissom(&["check", "arm.toml"])
            .says(1, &[words, "arm.toml:"]);
    }
    // numbers as Gmsh writes them with Mesh.Binary = 1
    let mut binary = b"$MeshFormat\n4.1 1 8\n".to_vec();
    binary.extend_from_slice(&[1, 0, 0, 0, b'\n', 0xf6, 0x28, 0x5c, 0x8f]);
    std::fs::write(folder.path.join("bar.msh"), binary).unwrap();
    folder
        .lissom(&["check", "arm.toml"])
        .says(1, &["bar.msh is not UTF-8", "Mesh.Binary = 0"]);
    folder.write("bar.msh", sound);
    folder
        .lissom(&["check", "arm.toml", "--set", "body.beam.mesh.material=[]"])
        .says(1, &["have no material"]);
    for verb in [["check", "arm.toml"], ["body", "arm.toml:beam"]] {
        // a drawing in metres, taken for millimetres: 80 Hz become 80 kHz
        let mut words = verb.to_vec();
        words.extend(["--set", "body.beam.mesh.unit_m=0.001"]);
        folder
            .lissom(&words)
            .says(0, &["beam rings at 80", "unit_m"]);
    }
    // a drawing in millimetres, taken for metres
    folder.write("bar.msh", bar(2, [300.0, 30.0, 1.0], |p| p));
    folder
        .lissom(&["check", "arm.toml"])
        .says(0, &["beam is 300 m long", "unit_m"]);
    let told = folder.json(&["body", "arm.toml:beam", "--json"]);
    let warnings: Vec<&str> = (told["warnings"].as_array().unwrap().iter())
        .filter_map(|own| own.as_str())
        .collect();
    assert!(
        matches!(warnings[..], [long] if long.contains("beam is 300 m long")),
        "{warnings:?}"
    );
    folder.write("uneven.mtx", "1 1 1.0\n1 2 1.0\n2 1 3.0\n");
    let matrices = "body.beam.mesh.matrices={mass=\"uneven.mtx\",stiffness=\"none.mtx\"}";
    folder
        .lissom(&[
            "check",
            "arm.toml",
            "--set",
            "body.beam.mesh.material=[]",
            "--set",
            matrices,
        ])
        .says(1, &["uneven.mtx: the matrix is not symmetric", "none.mtx"]);
    folder
        .lissom(&[
            "check",
            "arm.toml",
            "--set",
            "fidelity.inertia=lumped_nodes",
        ])
        .says(1, &["needs lumps"]);
    folder
        .lissom(&["check", "arm.toml", "--formulation", "nodal"])
        .says(1, &["a body given by its modes"]);
}

/// A bar of one linear hexahedron, with the groups of [`bar`].
const LINEAR_BAR: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
$PhysicalNames\n3\n2 1 \"root\"\n2 2 \"tip\"\n3 3 \"bar\"\n$EndPhysicalNames\n\
$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 .1 0\n4 0 .1 0\n5 0 0 .1\n6 1 0 .1\n7 1 .1 .1\n8 0 .1 .1\n$EndNodes\n\
$Elements\n3\n1 3 2 1 1 1 4 8 5\n2 3 2 2 2 2 3 7 6\n3 5 2 3 1 1 2 3 4 5 6 7 8\n$EndElements\n";

/// Linear elements hardly bend, which check, body and runs say; of quadratic ones they say nothing.
#[test]
fn linear_elements_are_told() {
    const WORDS: &str = "of 1 elements are linear";
    let folder = Folder::new();
    folder.write("arm.toml", spin_up("clamped_free]\nmodes = 1"));
    for (mesh, linear) in [
        (LINEAR_BAR.to_owned(), 1),
        (bar(1, [1.0, 0.1, 0.1], |p| p), 0),
    ] {
        folder.write("bar.msh", mesh);
        for verb in [
            vec!["check", "arm.toml"],
            vec!["body", "arm.toml:beam"],
            vec![
                "run",
                "arm.toml",
                "--out",
                "results",
                "--set",
                "simulation.duration_s=0.01",
            ],
        ] {
            let answer = folder.lissom(&verb);
            assert_eq!(answer.code, 0, "{}", answer.stderr);
            let told = format!("{}{}", answer.stdout, answer.stderr).contains(WORDS);
            assert_eq!(told, linear == 1, "{verb:?}: {}", answer.stdout);
        }
        let body = folder.json(&["body", "arm.toml:beam", "--json"]);
        assert_eq!(body["mesh"]["linear_elements"], linear);
    }
}

/// Lumps do not stiffen, and a run in which that matters says by how much: 1.193 (3/5)² at 3 rad/s.
#[test]
fn lumps_that_rotate_fast_are_warned_about() {
    let folder = Folder::new();
    let wing = |rate: f64| {
        format!(
            r#"format = 1
[[body]]
name = "wing"
[body.nodal]
stiffness = [[50.0]]
[[body.nodal.nodes]]
name = "root"
position_m = [0, 0, 0]
[[body.nodal.nodes]]
position_m = [1, 0, 0]
mass_kg = 2.0
influence = [[0], [0], [0], [0], [1], [0]]
[[joint]]
name = "hub"
parent = "ground"
child = {{ body = "wing", at = "root" }}
revolute = {{ axis = [0, 0, 1] }}
[[motion]]
joint = "hub"
constant_rate = {{ rate_rad_per_s = {rate:?} }}
[simulation]
duration_s = 0.1
"#
        )
    };
    folder.write("wing.toml", wing(3.0));
    folder
        .lissom(&["check", "wing.toml"])
        .says(0, &["wing does not stiffen", "faster than 0.45777 rad/s"]);
    folder
        .lissom(&["run", "wing.toml"])
        .says(0, &["wing does not stiffen", "about 43 %"]);
    folder.write("slow.toml", wing(0.4));
    let slow = folder.lissom(&["run", "slow.toml"]);
    assert!(!slow.stderr.contains("stiffen"), "{}", slow.stderr);
}

/// The page of a body and the report of a run hold its surface, with stress.
#[test]
fn surfaces_are_shown() {
    let folder = Folder::new();
    folder.write("bar.msh", bar(3, [10.0, SIDE, SIDE], |p| p));
    folder.write("arm.toml", spin_up("clamped_free]\nmodes = 2"));
    let read = |name: &str| std::fs::read_to_string(folder.path.join(name)).unwrap();
    folder
        .lissom(&["body", "arm.toml:beam", "--page", "beam.html"])
        .says(0, &["Wrote beam.html"]);
    let page = read("beam.html");
    for words in [
        "<title>beam · Lissom</title>",
        "beam: 12 kg",
        "leave out",
        "\"triangles\":[[",
        "\"stress_pa\":[[[",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let short = "simulation.duration_s=0.2";
    let run = ["run", "arm.toml", "--set", short, "--out", "results"];
    folder
        .lissom(&[&run[..], &["--report"]].concat())
        .says(0, &[]);
    let report = read("results/report.html");
    for words in [
        "\"surface\":{\"positions\":[[",
        "\"stress\":[[",
        "\"colour\":\"stress\"",
    ] {
        assert!(report.contains(words), "{words}");
    }
    // nothing but the picture depends on it
    folder.lissom(&["body", "arm.toml:beam", "--out", "whole.json"]);
    let whole = read("whole.json");
    assert!(whole.contains("\"surface\":{"), "{}", &whole[..200]);
}
