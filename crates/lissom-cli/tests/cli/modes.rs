//! `modes` where numbers are known: eigenvalues with all terms, what grows, what nothing resists, equal frequencies, large models.

use std::f64::consts::PI;

use serde_json::{Value, json};

use crate::parallel::{delta, hexapod};
use crate::{Folder, number};

/// Rounding of eigenvalues of a few units, and of the model's numbers.
const ROUNDING: f64 = 1e-9;
const FORMULATIONS: [&str; 2] = ["tree", "nodal"];

/// Both eigenvalues of every mode at the first instant.
fn roots(answer: &Value) -> Vec<[[f64; 2]; 2]> {
    let modes = answer["modes"].as_array().unwrap();
    let root = |value: &Value| [number(&value[0]), number(&value[1])];
    let both = |mode: &Value| [0, 1].map(|which| root(&mode["eigenvalues"][0][which]));
    modes.iter().map(both).collect()
}

fn frequencies(answer: &Value) -> Vec<f64> {
    let modes = answer["modes"].as_array().unwrap().iter();
    modes
        .map(|mode| number(&mode["frequency_rad_per_s"][0]))
        .collect()
}

fn near(found: f64, wanted: f64, within: f64) {
    assert!(
        (found - wanted).abs() <= within * wanted.abs().max(1.0),
        "{found} {wanted}"
    );
}

/// A rigid bar on one joint; `more` follows.
fn bar(joint: &str, more: &str) -> String {
    format!(
        r#"
format = 1
[[body]]
name = "bar"
rigid = {{ mass_kg = 2.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.5, 0.5] }}
[[joint]]
name = "pin"
parent = "ground"
child = "bar"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
{joint}
{more}
[simulation]
duration_s = 1.0
"#
    )
}

/// Words: one rigid body on one driven joint has nothing that could vibrate, and one on a free joint nothing that resists.
#[test]
fn nothing_to_vibrate() {
    let folder = Folder::new();
    let driven = "[[input]]\njoint = \"pin\"\ntorque_constant = { value_n_m = 1.0 }";
    folder.write("driven.toml", bar("", driven));
    folder.write("loose.toml", bar("", ""));
    for formulation in FORMULATIONS {
        folder
            .lissom(&["modes", "driven.toml", "--formulation", formulation])
            .says(
                1,
                &["nothing is left to vibrate", "pin.angle held", "--free"],
            );
        folder
            .lissom(&["modes", "loose.toml", "--formulation", formulation])
            .says(1, &["nothing vibrates", "nothing resists pin.angle"]);
    }
}

/// Words: a loop all of whose joints are driven has nothing that could vibrate either.
#[test]
fn nothing_to_vibrate_in_a_driven_loop() {
    let folder = Folder::new();
    let body = |name: &str, length: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n\
             rigid = {{ mass_kg = 1.0, center_of_mass_m = [{:?}, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }}\n\
             node = [{{ name = \"end\", position_m = [{length:?}, 0.0, 0.0] }}]\n",
            length / 2.0
        )
    };
    let driven = |name: &str, parent: &str, child: &str, angle: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = {{ {parent} }}\nchild = \"{child}\"\n\
             revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = {angle:?} }}\n\
             [[input]]\njoint = \"{name}\"\ntorque_constant = {{ value_n_m = 0.1 }}\n"
        )
    };
    let text = "format = 1\n".to_owned()
        + &body("crank", 0.5)
        + &body("coupler", 1.0)
        + &body("rocker", 0.5)
        + &driven("crank_pivot", "body = \"ground\"", "crank", 1.2)
        + &driven("knee", "body = \"crank\", at = \"end\"", "coupler", -1.2)
        + &driven(
            "rocker_pivot",
            "body = \"ground\", position_m = [1.0, 0.0, 0.0]",
            "rocker",
            1.2,
        )
        + "[[loop]]\nname = \"closed\"\nfrom = { body = \"coupler\", at = \"end\" }\n\
           to = { body = \"rocker\", at = \"end\" }\nrevolute = { axis = [0.0, 0.0, 1.0] }\n\
           [simulation]\nduration_s = 1.0\n";
    folder.write("loop.toml", text);
    for formulation in FORMULATIONS {
        folder
            .lissom(&["modes", "loop.toml", "--formulation", formulation])
            .says(1, &["nothing is left to vibrate", "held", "--free"]);
    }
}

/// Closed form: a bar with spring and damper beyond critical damping, $`1\lambda^2 + 5\lambda + 4 = 0`$ by its inertia of 1 kg m² about the pin: both roots, and
/// the damping ratio 5/4; standing upright against gravity without a spring, one root of each sign.
#[test]
fn both_real_roots() {
    let folder = Folder::new();
    let spring = "spring = { stiffness_n_m_per_rad = 4.0, damping_n_m_s_per_rad = 5.0 }";
    folder.write("slow.toml", bar(spring, ""));
    let upright = bar("initial_angle_rad = 1.5707963267948966", "");
    let upright = upright.replacen(
        "format = 1",
        "format = 1\ngravity_m_per_s2 = [0.0, -9.0, 0.0]",
        1,
    );
    folder.write("upright.toml", upright);
    for formulation in FORMULATIONS {
        let call = ["modes", "slow.toml", "--formulation", formulation];
        let answer = folder.json(&[&call[..], &["--json"]].concat());
        let [[[slow, _], [fast, _]]] = roots(&answer)[..] else {
            panic!("{answer}")
        };
        near(slow, -4.0, ROUNDING);
        near(fast, -1.0, ROUNDING);
        near(
            number(&answer["modes"][0]["damping_ratio"][0]),
            1.25,
            ROUNDING,
        );
        folder.lissom(&call).says(0, &["-4, -1"]);
        let call = ["modes", "upright.toml", "--formulation", formulation];
        let answer = folder.json(&[&call[..], &["--json"]].concat());
        let [[[falls, _], [rises, _]]] = roots(&answer)[..] else {
            panic!("{answer}")
        };
        near(falls, -3.0, ROUNDING);
        near(rises, 3.0, ROUNDING);
        assert_eq!(answer["modes"][0]["growth"][0], "grows");
        assert!(answer["modes"][0]["frequency_rad_per_s"][0].is_null());
        folder.lissom(&call).says(0, &["-3, 3", "grows 3/s"]);
    }
}

/// A shaft that overhangs and spins about its own axis, of unit length, mass per length and bending stiffness.
fn shaft(rate: f64, more: &str) -> String {
    format!(
        r#"
format = 1
[[body]]
name = "shaft"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
bending_stiffness_z_n_m2 = 1.0
basis.clamped_free = {{ bending_y = 3, bending_z = 3 }}
{more}
[[joint]]
name = "bearing"
parent = "ground"
child = "shaft"
revolute = {{ axis = [1.0, 0.0, 0.0] }}
[[motion]]
joint = "bearing"
constant_rate = {{ rate_rad_per_s = {rate:?} }}
[simulation]
duration_s = 1.0
"#
    )
}

/// Closed form: in axes that turn with the shaft its eigenvalues are $`\pm i(\omega \pm \Omega)`$. Above its critical speed the stiffness pushes
/// away and gyroscopic terms hold it: nothing grows. With damping $`2\zeta\omega`$ of its own material, which turns with it,
/// $`\lambda^2 + 2(\zeta\omega + i\Omega)\lambda + \omega^2 - \Omega^2 = 0`$: it does.
#[test]
fn a_shaft_above_its_critical_speed() {
    const FIRST: f64 = 3.516_015_268_5;
    const SECOND: f64 = 22.034_491_56;
    const SPEED: f64 = 5.0;
    let folder = Folder::new();
    folder.write("shaft.toml", shaft(SPEED, ""));
    let answer = folder.json(&["modes", "shaft.toml", "--json"]);
    let mut found: Vec<f64> = roots(&answer).iter().map(|roots| roots[0][1]).collect();
    found.sort_by(f64::total_cmp);
    let wanted = [SPEED - FIRST, FIRST + SPEED, SECOND - SPEED, SECOND + SPEED];
    for (found, wanted) in found.into_iter().zip(wanted) {
        near(found, wanted, ROUNDING);
    }
    assert!(number(&answer["modes"][0]["frequency_squared"][0]) < 0.0);
    assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    let answer = folder.lissom(&["modes", "shaft.toml"]);
    answer.says(0, &["±1.484"]);
    assert!(!answer.stdout.contains("grows"), "{}", answer.stdout);

    const DAMPING: f64 = 0.01;
    let damping = format!("[body.damping]\nmodal_ratio = {DAMPING}");
    folder.write("damped.toml", shaft(SPEED, &damping));
    let answer = folder.json(&["modes", "damped.toml", "--json"]);
    // λ = −(ζω + iΩ) ± √((ζω + iΩ)² − ω² + Ω²), the square root of a complex number by halves
    let (c, w) = (DAMPING * FIRST, FIRST);
    let (re, im) = (c * c - w * w, 2.0 * c * SPEED);
    let size = re.hypot(im);
    let grows = -c + f64::midpoint(size, re).sqrt();
    let growing = answer["growing"][0].as_array().unwrap();
    assert_eq!(growing.len(), 1, "{answer}");
    near(number(&growing[0][0]), grows, ROUNDING);
    assert!(grows > 0.0);
    folder
        .lissom(&["modes", "damped.toml"])
        .says(0, &["grows 0.0148"]);
}

/// Closed form: Beck's column under a thrust that turns with its tip, as in the engine's tests: it flutters above 20.051 EI/L², and at half of
/// that vibrates at 5.1816 and 18.576 √(EI/ρAL⁴).
#[test]
fn becks_column() {
    // six functions, or eight elements
    const DISCRETE: f64 = 2e-3;
    let folder = Folder::new();
    let column = |thrust: f64| {
        format!(
            r#"
format = 1
[[body]]
name = "column"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
basis.clamped_free = {{ bending_y = 6 }}
[[joint]]
name = "clamp"
parent = "ground"
child = "column"
fixed = {{}}
[[marker]]
name = "tip"
body = "column"
[[input]]
marker = "tip"
direction = [-1.0, 0.0, 0.0]
frame = "body"
force_constant = {{ value_n = {thrust:?} }}
[simulation]
duration_s = 1.0
"#
        )
    };
    folder.write("half.toml", column(10.0255));
    folder.write("below.toml", column(20.0));
    folder.write("above.toml", column(20.2));
    for formulation in FORMULATIONS {
        let modes =
            |name: &str| folder.json(&["modes", name, "--formulation", formulation, "--json"]);
        let half = modes("half.toml");
        for (found, wanted) in frequencies(&half).into_iter().zip([5.1816, 18.576]) {
            near(found, wanted, DISCRETE);
        }
        let growing = |answer: &Value| answer["growing"][0].as_array().unwrap().len();
        let (below, above) = (modes("below.toml"), modes("above.toml"));
        assert_eq!(
            [&half, &below, &above].map(growing),
            [0, 0, 1],
            "{formulation}"
        );
        near(number(&above["growing"][0][0][1]), 11.016, 0.01);
    }
}

/// Closed form: legs of a hexapod between pinned ends, $`\pi^2\sqrt{EI/\mu L^4}`$ twelve times, in both formulations.
#[test]
fn a_hexapod_has_twelve_equal_frequencies() {
    // four Hermite elements per half wave, 1.3e-4 by their fourth-order error
    const ELEMENTS: f64 = 3e-4;
    const EQUAL: f64 = 2e-9;
    let (text, length) = hexapod(20.0, 0.3, 4);
    let folder = Folder::new();
    folder.write("hexapod.toml", text);
    let exact = PI * PI * (20.0_f64 / (0.3 * length.powi(4))).sqrt();
    for formulation in FORMULATIONS {
        let answer = folder.json(&[
            "modes",
            "hexapod.toml",
            "--formulation",
            formulation,
            "--count",
            "14",
            "--json",
        ]);
        let found = frequencies(&answer);
        near(found[0], exact, ELEMENTS);
        for other in &found[..12] {
            near(*other, found[0], EQUAL);
        }
        assert!(found[12] > 3.5 * exact, "{formulation}: {found:?}");
        assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    }
    // out of equilibrium its stiffness is not symmetric, and its frequencies are still nearly equal
    let (text, _) = hexapod(20.0, 0.3, 4);
    let heavy = text.replacen(
        "format = 1",
        "format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]",
        1,
    );
    folder.write("heavy.toml", heavy);
    for formulation in FORMULATIONS {
        let answer = folder.json(&[
            "modes",
            "heavy.toml",
            "--formulation",
            formulation,
            "--json",
        ]);
        assert_eq!(answer["modes"].as_array().unwrap().len(), 8);
    }
}

/// Closed form: legs between ball joints at both ends turn about their own axes, which nothing resists: six motions that are listed and
/// taken out, and the frequencies of legs between pinned ends, whose sections turn: $`\pi^2\sqrt{EI/\mu L^4/(1 + \rho I\pi^2/\mu L^2)}`$.
#[test]
fn legs_that_turn_about_their_axes() {
    // eight elements per half wave, 1.7e-5 by their fourth-order error
    const ELEMENTS: f64 = 4e-5;
    const EQUAL: f64 = 2e-9;
    let (text, length) = hexapod(20.0, 0.3, 8);
    let foot =
        "universal = { first = { axis = [0.0, 1.0, 0.0] }, second = { axis = [0.0, 0.0, 1.0] } }";
    let section = "section_inertia_y_kg_m = 1e-4\nsection_inertia_z_kg_m = 1e-4\nbasis";
    assert!(text.contains(foot));
    let text = text
        .replace(foot, "spherical = {}")
        .replace("basis", section);
    let folder = Folder::new();
    folder.write("hexapod.toml", text);
    let turning = 1.0 + 1e-4 / 0.3 * (PI / length).powi(2);
    let exact = PI * PI * (20.0_f64 / (0.3 * length.powi(4) * turning)).sqrt();
    for formulation in FORMULATIONS {
        let call = ["modes", "hexapod.toml", "--formulation", formulation];
        let answer = folder.json(&[&call[..], &["--count", "14", "--json"]].concat());
        let free = answer["rigid_motions"].as_array().unwrap();
        assert_eq!(free.len(), 6, "{formulation}: {free:?}");
        let found = frequencies(&answer);
        near(found[0], exact, ELEMENTS);
        for other in &found[..12] {
            near(*other, found[0], EQUAL);
        }
        assert!(found[12] > 3.5 * exact, "{formulation}: {found:?}");
        assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    }
}

/// Symmetry: a Delta robot that a third of a turn leaves as it is has modes that are alone or come in equal pairs.
#[test]
fn a_delta_has_equal_pairs() {
    const EQUAL: f64 = 2e-9;
    let folder = Folder::new();
    folder.write("delta.toml", delta());
    let answer = folder.json(&["modes", "delta.toml", "--count", "12", "--json"]);
    let found = frequencies(&answer);
    let mut pairs = 0;
    let mut at = 0;
    while at + 1 < found.len() {
        let equal = (found[at + 1] - found[at]).abs() <= EQUAL * found[at];
        pairs += usize::from(equal);
        at += 1 + usize::from(equal);
    }
    assert!(pairs >= 4, "{found:?}");
    assert!(found.iter().all(|&frequency| frequency > 1.0), "{found:?}");
    assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    folder
        .lissom(&["modes", "delta.toml"])
        .says(0, &["motor_0.angle", "held"]);
}

/// Words: what nothing resists is listed and is no mode, of free joints and of whole mechanisms, in both formulations; nothing
/// grows.
#[test]
fn free_motions_are_listed() {
    let folder = Folder::new();
    // two discs of 1 and 0.25 kg m² on one axis, a spring of 5 N m between: ω² = 5 (1/1 + 1/0.25)
    let second = r#"
[[body]]
name = "disc"
rigid = { mass_kg = 1.0, inertia_kg_m2 = [0.2, 0.2, 0.25] }
[[joint]]
name = "coupling"
parent = { body = "bar", position_m = [0.0, 0.0, 0.0] }
child = "disc"
revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 5.0 } }
"#;
    folder.write("discs.toml", bar("", second));
    for formulation in FORMULATIONS {
        let call = ["modes", "discs.toml", "--formulation", formulation];
        let answer = folder.json(&[&call[..], &["--json"]].concat());
        assert_eq!(
            answer["rigid_motions"].as_array().unwrap().len(),
            1,
            "{answer}"
        );
        let [frequency] = frequencies(&answer)[..] else {
            panic!("{answer}")
        };
        near(frequency, 5.0, ROUNDING);
        let answer = folder.lissom(&call);
        answer.says(
            0,
            &[
                "moves freely: 1 motion that nothing resists",
                "at no frequency",
            ],
        );
        assert!(!answer.stdout.contains("grows"), "{}", answer.stdout);
    }
    // a beam that floats and is pushed, so that it accelerates: its displacements are free, how it turns under a dead force is not
    let answer = folder.json(&["modes", "flying-spaghetti", "--json"]);
    assert_eq!(answer["rigid_motions"], json!(["lower.x", "lower.y"]));
    let found = frequencies(&answer);
    assert!(found[0] > 0.1, "{found:?}");
    let mut growth = answer["modes"].as_array().unwrap().iter();
    assert!(growth.all(|mode| mode["growth"][0] == "none"));
    // friction brakes an arm without gravity: zero and a decay for each joint, and nothing grows
    let still = ["--free", "--set", "gravity_m_per_s2=[0,0,0]"];
    let call = [&["modes", "two-link-arm"], &still[..]].concat();
    let answer = folder.json(&[&call[..], &["--json"]].concat());
    for [slow, fast] in &roots(&answer)[..2] {
        assert!(slow[0] < -0.1 && *fast == [0.0; 2], "{answer}");
    }
    assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    for formulation in FORMULATIONS {
        let call = ["modes", "space-arm", "--formulation", formulation];
        let answer = folder.json(&[&call[..], &["--json"]].concat());
        assert_eq!(
            answer["rigid_motions"].as_array().unwrap().len(),
            6,
            "{formulation}"
        );
        assert_eq!(
            answer["growing"][0].as_array().unwrap().len(),
            0,
            "{formulation}"
        );
        assert!(frequencies(&answer)[0] > 1.0, "{formulation}");
    }
}

/// Closed form: a bar under control is $`\lambda^2 + K_v\lambda + K_p = 0`$ by its inertia of 1 kg m², and under computed gains has their
/// frequency and damping ratio. Without the loop the driven joint is held.
#[test]
fn controllers_close_their_loops() {
    let folder = Folder::new();
    let with = |law: &str| {
        let input = "[[input]]\njoint = \"pin\"\nrigid_inverse_dynamics.cycloid = { final_angle_rad = 0.0, duration_s = 1.0 }";
        let controller = format!("[[controller]]\nname = \"servo\"\njoints = [\"pin\"]\n{law}");
        bar("", &format!("{input}\n{controller}"))
    };
    folder.write(
        "gains.toml",
        with("joint_pd = { position_gain = [25.0], rate_gain = [2.0] }"),
    );
    folder.write(
        "computed.toml",
        with("computed_pd = { frequency_rad_per_s = 5.0, damping_ratio = 0.2 }"),
    );
    for formulation in FORMULATIONS {
        for model in ["gains.toml", "computed.toml"] {
            let call = ["modes", model, "--formulation", formulation];
            folder.lissom(&call).says(1, &["pin.angle held"]);
            let answer = folder.json(&[&call[..], &["--closed-loop", "--json"]].concat());
            near(frequencies(&answer)[0], 5.0, ROUNDING);
            near(
                number(&answer["modes"][0]["damping_ratio"][0]),
                0.2,
                ROUNDING,
            );
            near(roots(&answer)[0][0][0], -1.0, ROUNDING);
        }
    }
    folder
        .lissom(&["modes", "two-link-arm", "--closed-loop"])
        .says(2, &["no [[controller]]"]);
}

/// Closed form: a damped cantilever of 400 coordinates, as forty bodies of finite elements and as two hundred elements in nodal
/// coordinates: its first three frequencies.
#[test]
fn four_hundred_coordinates() {
    const EIGENVALUES: [f64; 3] = [3.516_015_268_5, 22.034_491_56, 61.697_214_4];
    // what rounding of matrices leaves whose frequencies are 1e6 times the lowest
    const CONDITION: f64 = 1e-6;
    // a decay of 6e-7/s beside frequencies of 1e6/s
    const DAMPED: f64 = 1e-3;
    let folder = Folder::new();
    let beam = |name: &str, parent: &str, length: f64, basis: &str| {
        format!(
            r#"
[[body]]
name = "{name}"
[body.beam]
length_m = {length:?}
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
{basis}
[body.damping]
rayleigh = {{ stiffness_s = 1e-7 }}
[[joint]]
name = "clamp_{name}"
parent = "{parent}"
child = "{name}"
fixed = {{}}
"#
        )
    };
    let mut tree = "format = 1\n".to_owned();
    for part in 0..40 {
        let parent = match part {
            0 => "ground".to_owned(),
            part => format!("part_{}", part - 1),
        };
        tree += &beam(
            &format!("part_{part}"),
            &parent,
            1.0 / 40.0,
            "basis.elements = { count = 5 }",
        );
    }
    let nodal = beam(
        "beam",
        "ground",
        1.0,
        "basis.clamped_free = { bending_y = 2 }",
    );
    let simulation = "[simulation]\nduration_s = 1.0\n";
    folder.write("tree.toml", format!("{tree}{simulation}"));
    let elements = "[formulation]\nnodal.elements_per_link = 200\n";
    folder.write(
        "nodal.toml",
        format!("format = 1\n{nodal}{elements}{simulation}"),
    );
    for model in ["tree.toml", "nodal.toml"] {
        let answer = folder.json(&["modes", model, "--count", "3", "--json"]);
        assert_eq!(answer["coordinates"].as_array().unwrap().len(), 400);
        for (found, wanted) in frequencies(&answer).into_iter().zip(EIGENVALUES) {
            near(found, wanted, CONDITION);
        }
        // damping of 1e-7 s times the stiffness is half of that times the square of the frequency
        let decay = roots(&answer)[0][0][0] / (-0.5e-7 * EIGENVALUES[0].powi(2));
        near(decay, 1.0, DAMPED);
        assert_eq!(answer["growing"][0].as_array().unwrap().len(), 0);
    }
}

/// Words: instants too far apart for modes to be recognised are told, close ones are not, even where two modes have one frequency.
#[test]
fn modes_that_change_beyond_recognition_are_told() {
    let folder = Folder::new();
    let modes = ["modes", "shuttle-arm", "--about", "nominal", "--points"];
    let call = |points: &'static str| [&modes[..], &[points]].concat();
    let told = ["warning: mode", "modal assurance", "take more --points"];
    folder.lissom(&call("5")).says(0, &told);
    let close = folder.lissom(&call("81"));
    assert!(
        !close.stdout.contains("modal assurance"),
        "{}",
        close.stdout
    );
}

/// By construction: the loop of a four-bar ties two of the six coordinates that are left when its crank is held.
#[test]
fn loops_leave_fewer_degrees_of_freedom_than_coordinates() {
    let folder = Folder::new();
    (folder.lissom(&["modes", "four-bar"])).says(0, &["4 degrees of freedom in 6 coordinates"]);
    let answer = folder.json(&["modes", "four-bar", "--json"]);
    assert_eq!(answer["degrees_of_freedom"], 4);
    assert_eq!(answer["modes"].as_array().unwrap().len(), 4);
    (folder.lissom(&["modes", "two-link-arm"])).says(0, &["coordinates, shoulder.angle"]);
}
