//! `response`: frequency response, poles and zeros.

use std::f64::consts::TAU;

use serde_json::Value;

use crate::{Folder, number};

/// A uniform beam that is hinged at its root and driven there: L = 2 m, 3 kg/m, EI = 12 N m², so that √(EI/ρAL⁴) = 1/2 1/s.
const HINGED_BEAM: &str = r#"
format = 1
name = "hinged beam"

[[body]]
name = "boom"
[body.beam]
length_m = 2.0
mass_per_length_kg_per_m = 3.0
bending_stiffness_y_n_m2 = 12.0
rotary_inertia = false
basis.elements = { count = 12 }

[[joint]]
name = "hub"
parent = "ground"
child = "boom"
revolute = { axis = [0.0, 0.0, 1.0] }

[[marker]]
name = "tip"
body = "boom"
at = "tip"

[[input]]
joint = "hub"
torque_constant = { value_n_m = 0.0 }

[simulation]
duration_s = 1.0
"#;

/// √(EI/ρAL⁴) of that beam.
const RATE_PER_S: f64 = 0.5;

fn pair<'a>(answer: &'a Value, output: &str) -> &'a Value {
    let pairs = answer["pairs"].as_array().unwrap();
    let mut pairs = pairs.iter().filter(|pair| pair["output"] == output);
    pairs.next().unwrap()
}

/// Real and imaginary parts of a list of complex numbers.
fn complex(list: &Value) -> Vec<[f64; 2]> {
    let numbers = list.as_array().unwrap().iter();
    numbers
        .map(|number| [0, 1].map(|part| crate::number(&number[part])))
        .collect()
}

/// Closed forms: poles of the hinged beam (tan β = tanh β), zeros of its angle, which are frequencies of the clamped one
/// (cos β cosh β = -1), and of its tip, which are real: β = (1 + i)γ with tan γ = -tanh γ, s = ±2γ² √(EI/ρAL⁴). The torque has to turn the tip
/// the wrong way first.
#[test]
fn poles_and_zeros_of_a_hinged_beam() {
    // a frequency of cubic elements of length h is too high by (βh)⁴/1440 of it, and terms of higher order
    const ELEMENTS: f64 = 1.0 / 1400.0;
    const PINNED: [f64; 2] = [3.926_602_312, 7.068_582_745];
    const CLAMPED: [f64; 2] = [1.875_104_069, 4.694_091_133];
    const REAL: [f64; 2] = [2.365_020_372, 5.497_803_919];
    let folder = Folder::new();
    folder.write("beam.toml", HINGED_BEAM);
    let answer = folder.json(&["response", "beam.toml", "--json"]);
    let near = |found: f64, expected: f64| {
        // s² = ±β⁴ EI/ρAL⁴
        let element = (expected.abs() / RATE_PER_S).sqrt() / 12.0;
        assert!(
            (found - expected).abs() < ELEMENTS * element.powi(4) * expected.abs(),
            "{found} {expected}"
        );
    };
    let poles = complex(&answer["poles_per_s"]);
    let poles: Vec<_> = poles.iter().filter(|pole| pole[1] > 1e-3).collect();
    let own = complex(&pair(&answer, "hub.angle")["zeros_per_s"]);
    let tip = complex(&pair(&answer, "tip.position.y")["zeros_per_s"]);
    for i in 0..2 {
        near(poles[i][1], PINNED[i].powi(2) * RATE_PER_S);
        near(own[i][1], CLAMPED[i].powi(2) * RATE_PER_S);
        assert!(own[i][0].abs() < 1e-9 * own[i][1], "{own:?}");
        // in pairs of both signs
        let real = 2.0 * REAL[i].powi(2) * RATE_PER_S;
        near(tip[2 * i][0].abs(), real);
        near(tip[2 * i + 1][0], -real.copysign(tip[2 * i][0]));
    }
    assert_eq!(pair(&answer, "hub.angle")["minimum_phase"], true);
    assert_eq!(pair(&answer, "tip.position.y")["minimum_phase"], false);
    assert!(pair(&answer, "hub.angle")["static_gain"].is_null());
}

/// Closed form: far below its first frequency the beam moves as a rigid one, whose angle is the torque over -Iω², and bends under its own inertia,
/// which adds 33/140 L/EI.
#[test]
fn slow_torques_move_a_rigid_beam() {
    // what is left is the square of ω over the first frequency, 2e-6, of what bending adds, 3e-5
    const SLOW: f64 = 1e-10;
    let folder = Folder::new();
    folder.write("beam.toml", HINGED_BEAM);
    let words = [
        "response",
        "beam.toml",
        "--outputs",
        "hub.angle",
        "--frequencies",
        "0.01,0.1",
        "--count",
        "3",
        "--out",
        "response.json",
        "--json",
    ];
    let answer = folder.json(&words);
    let inertia = 3.0 * 2.0_f64.powi(3) / 3.0;
    let found = pair(&answer, "hub.angle");
    let frequencies = answer["frequency_rad_per_s"].as_array().unwrap();
    assert_eq!(frequencies.len(), 3);
    let bending = 33.0 / 140.0 * 2.0 / 12.0;
    let expected = bending - 1.0 / (inertia * number(&frequencies[0]).powi(2));
    let real = number(&found["real"][0]);
    assert!(
        (real - expected).abs() < SLOW * expected.abs(),
        "{real} {expected}"
    );
    assert_eq!(number(&found["imaginary"][0]), 0.0);
    let written = folder.read_json("response.json");
    assert_eq!(
        written["frequency_rad_per_s"],
        answer["frequency_rad_per_s"]
    );
    assert_eq!(written["real"][0][0][0], found["real"][0]);
    assert_eq!(written["output_names"][0], "hub.angle");
}

/// Agreement of two ways: in the loop of a controller the response is that of the same joint with a spring and a damper of its gains.
#[test]
fn a_controller_is_a_spring_and_a_damper() {
    const ROUNDING: f64 = 1e-9;
    let folder = Folder::new();
    let controller = "\n[[controller]]\nname = \"servo\"\njoints = [\"hub\"]\n\
                      joint_pd = { position_gain = [30.0], rate_gain = [4.0] }\n";
    folder.write("controlled.toml", format!("{HINGED_BEAM}{controller}"));
    let sprung = HINGED_BEAM.replace(
        "revolute = { axis = [0.0, 0.0, 1.0] }",
        "revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 30.0, damping_n_m_s_per_rad = 4.0 } }",
    );
    folder.write("sprung.toml", sprung);
    let closed = folder.json(&["response", "controlled.toml", "--closed-loop", "--json"]);
    let sprung = folder.json(&["response", "sprung.toml", "--json"]);
    for output in ["hub.angle", "tip.position.y"] {
        let [closed, sprung] = [&closed, &sprung].map(|answer| pair(answer, output));
        for part in ["real", "imaginary"] {
            let [a, b] = [closed, sprung].map(|pair| pair[part].as_array().unwrap());
            assert_eq!(a.len(), b.len());
            let largest = b.iter().map(|x| number(x).abs()).fold(0.0, f64::max);
            for (a, b) in a.iter().zip(b) {
                assert!(
                    (number(a) - number(b)).abs() <= ROUNDING * largest,
                    "{a} {b}"
                );
            }
        }
        assert!(number(&closed["static_gain"]) > 0.0);
    }
    folder.write("beam.toml", HINGED_BEAM);
    folder
        .lissom(&["response", "beam.toml", "--closed-loop"])
        .says(2, &["no [[controller]]"]);
}

/// What is told, drawn and refused.
#[test]
fn words_plots_and_refusals() {
    let folder = Folder::new();
    folder.write("beam.toml", HINGED_BEAM);
    let words = [
        "response",
        "beam.toml",
        "--outputs",
        "tip.position",
        "--plot",
        "bode.svg",
    ];
    folder.lissom(&words).says(
        0,
        &[
            "hub.torque to tip.position.y",
            "no static gain",
            "non-minimum phase: zeros in the right half-plane at 5.59",
            "hub.torque to tip.position.z\n    none",
            "Wrote bode.svg",
        ],
    );
    let svg = String::from_utf8(folder.read("bode.svg")).unwrap();
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{svg}");
    let hertz = 3.926_602_312_f64.powi(2) * RATE_PER_S / TAU;
    let words = [
        "response",
        "beam.toml",
        "--outputs",
        "hub.angle",
        "--frequencies",
        "3,20",
    ];
    (folder.lissom(&words)).says(0, &[&format!("({hertz:.1}"), "minimum phase"]);
    for (options, reason) in [
        (&["--frequencies", "5,1"][..], "two rising numbers"),
        (
            &["--frequencies", "1e-300,1e300"][..],
            "in rad/s, from 1e-12 to 1e12",
        ),
        (
            &["--frequencies", "0,1"][..],
            "in rad/s, from 1e-12 to 1e12",
        ),
        (&["--outputs", "tip.positon"][..], "did you mean"),
        (&["--inputs", "hub.torqe"][..], "did you mean"),
        (
            &["--about", "nominal"][..],
            "one instant of the motion with --at",
        ),
        (&["--out", "response.xlsx"][..], ".npz, .mat and .json"),
    ] {
        let words: Vec<&str> = ["response", "beam.toml"]
            .iter()
            .chain(options)
            .copied()
            .collect();
        folder.lissom(&words).says(2, &[reason]);
    }
}

/// What has no room in a plot is chosen by options that this verb has.
#[test]
fn what_a_plot_leaves_out_is_chosen_by_inputs_and_outputs() {
    let folder = Folder::new();
    let outputs = "hand.position,lower_tip.position";
    let asked = [
        "response",
        "shuttle-arm",
        "--inputs",
        "all",
        "--outputs",
        outputs,
    ];
    let answer = folder.lissom(&[&asked[..], &["--count", "20", "--plot", "bode.svg"]].concat());
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let said = &answer.stderr;
    assert!(said.starts_with("The plot has no room for"), "{said}");
    assert!(said.contains("with --inputs and --outputs"), "{said}");
}

/// Symmetry: along an arm that hangs straight nothing moves its hand, and a torque about one axis nothing across the plane of its motion. What
/// rounding makes of these zeros has neither zeros of its own nor a phase, whichever outputs are asked for.
#[test]
fn what_rounding_moves_does_not_respond() {
    const HANGING: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "arm"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 70.0
basis.auto = {}
[[joint]]
name = "shoulder"
parent = "ground"
child = "arm"
[joint.universal]
first = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -1.4 }
second = { axis = [0.0, 1.0, 0.0], initial_angle_rad = 0.1 }
[[marker]]
name = "hand"
body = "arm"
"#;
    let folder = Folder::new();
    folder.write("hanging.toml", HANGING);
    for (output, moves) in [
        ("hand.position.x", [true, false]),
        ("hand.position.y", [false, false]),
        ("hand.position.z", [false, true]),
    ] {
        let asked = ["response", "hanging.toml", "--about", "equilibrium"];
        let chosen = ["--inputs", "all", "--outputs", output, "--count", "20"];
        let answer = folder.json(&[&asked[..], &chosen, &["--json"]].concat());
        let pairs = answer["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), 2);
        for (pair, moves) in pairs.iter().zip(moves) {
            let parts = ["real", "imaginary"].map(|part| pair[part].as_array().unwrap());
            let moved = parts.into_iter().flatten().any(|x| number(x) != 0.0);
            assert_eq!(moved, moves, "{} to {output}", pair["input"]);
            assert_eq!(number(&pair["static_gain"]) != 0.0, moves);
            assert_eq!(pair["zeros_per_s"] != serde_json::json!([]), moves);
            assert_eq!(pair["minimum_phase"], !moves);
        }
    }
}
