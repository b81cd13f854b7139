//! Loops from the command line: kinematics, reduced equations, redundant drives, singular configurations.

use serde_json::{Value, json};

use super::{Folder, keys, number};

/// A parallelogram of cranks of 0.3 m and 1 kg and a coupler of 0.8 m and 2 kg that turns by a motor; `more` is added.
fn parallelogram(more: &str) -> String {
    let bar = |name: &str, length: f64, mass: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n\
             rigid = {{ mass_kg = {mass}, center_of_mass_m = [{}, 0, 0], inertia_kg_m2 = [0.01, 0.03, 0.03] }}\n\
             node = [{{ name = \"end\", position_m = [{length}, 0, 0] }}]\n",
            length / 2.0
        )
    };
    let hinge = |name: &str, parent: &str, child: &str, angle: f64| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = {child}\n\
             revolute = {{ axis = [0, 0, 1], initial_angle_rad = {angle} }}\n"
        )
    };
    [
        "format = 1\ngravity_m_per_s2 = [0, -9.81, 0]\n".to_owned(),
        bar("crank", 0.3, 1.0),
        bar("coupler", 0.8, 2.0),
        bar("rocker", 0.3, 1.0),
        hinge("motor", "\"ground\"", "\"crank\"", 1.0),
        hinge(
            "knee",
            "{ body = \"crank\", at = \"end\" }",
            "\"coupler\"",
            -1.0,
        ),
        hinge(
            "pivot",
            "{ body = \"ground\", position_m = [0.8, 0, 0] }",
            "\"rocker\"",
            1.0,
        ),
        hinge(
            "pin",
            "{ body = \"coupler\", at = \"end\" }",
            "{ body = \"rocker\", at = \"end\" }",
            0.0,
        ),
        "[[marker]]\nname = \"hand\"\nbody = \"coupler\"\nat = \"end\"\n".to_owned(),
        more.to_owned(),
    ]
    .concat()
}

fn evaluated(folder: &Folder, state: &Value) -> Value {
    folder.write("state.json", state.to_string());
    folder.json(&["eval", "four.toml", "--state", "state.json", "--json"])
}

fn list(json: &Value) -> Vec<f64> {
    json.as_array().unwrap().iter().map(number).collect()
}

/// Numbers near one, a dozen operations, a mechanism far from its dead points.
const ROUNDING: f64 = 1e-12;

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < ROUNDING,
        "{found} instead of {expected}"
    );
}

/// Closed form: direct kinematics of a parallelogram, position and velocity.
#[test]
fn joints_that_are_held_give_the_others() {
    let folder = Folder::new();
    folder.write("four.toml", parallelogram(""));
    let found = evaluated(
        &folder,
        &json!({
            "position": { "motor.angle": 1.3 },
            "velocity": { "motor.angle.rate": 2.0 },
            "held": ["motor"],
        }),
    );
    for (found, expected) in list(&found["position"]).into_iter().zip([1.3, -1.3, 1.3]) {
        assert_near(found, expected);
    }
    for (found, expected) in list(&found["velocity"]).into_iter().zip([2.0, -2.0, 2.0]) {
        assert_near(found, expected);
    }
    let hand = &found["markers"]["hand"];
    let (sin, cos) = f64::sin_cos(1.3);
    let place = [0.8 + 0.3 * cos, 0.3 * sin, 0.0];
    for (found, expected) in list(&hand["position_m"]).into_iter().zip(place) {
        assert_near(found, expected);
    }
    let velocity = [-0.6 * sin, 0.6 * cos, 0.0];
    for (found, expected) in list(&hand["velocity_m_per_s"]).into_iter().zip(velocity) {
        assert_near(found, expected);
    }
    assert!(number(&found["violation"]) < ROUNDING);
}

/// Closed form: inverse kinematics of the same, from the height of the hand.
#[test]
fn markers_that_are_given_give_the_joints() {
    let folder = Folder::new();
    folder.write("four.toml", parallelogram(""));
    let (sin, cos) = f64::sin_cos(1.3);
    let found = evaluated(
        &folder,
        &json!({
            "markers": { "hand": { "y": 0.3 * sin, "velocity": { "y": 0.6 * cos } } },
        }),
    );
    for (found, expected) in list(&found["position"]).into_iter().zip([1.3, -1.3, 1.3]) {
        assert_near(found, expected);
    }
    assert_near(list(&found["velocity"])[0], 2.0);

    // what cannot be had, or is not there, is explained
    for (state, words) in [
        (
            json!({ "markers": { "hand": { "y": 0.5 } } }),
            // it goes up to 0.3 m
            "2.0000e-1 m",
        ),
        (
            json!({ "markers": { "hand": { "q": 0.5 } } }),
            "there is no component `q`",
        ),
        (
            json!({ "markers": { "hadn": { "y": 0.5 } } }),
            "did you mean `hand`",
        ),
        (
            json!({ "markers": { "hand": { "velocity": { "y": 1.0 } } } }),
            "give both",
        ),
        (json!({ "held": ["moter"] }), "did you mean `motor`"),
        (json!({ "held": "motor" }), "expected a list"),
    ] {
        folder.write("state.json", state.to_string());
        folder
            .lissom(&["eval", "four.toml", "--state", "state.json"])
            .says(1, &[words]);
    }
}

/// Closed form: with its loop closed a parallelogram is one inertia that gravity turns.
#[test]
fn equations_of_the_closed_mechanism_are_given() {
    let folder = Folder::new();
    let chosen = "[simulation.closure.joint_space]\nindependent = [\"motor\"]\n";
    folder.write("four.toml", parallelogram(chosen));
    let state = json!({
        "position": { "motor.angle": 1.3 },
        "held": ["motor"],
        "force": { "motor.angle.rate": 4.0 },
    });
    let found = evaluated(&folder, &state);
    let closed = &found["closed"];
    assert_eq!(
        keys(closed),
        [
            "acceleration",
            "bias",
            "closure",
            "closures",
            "complement",
            "force",
            "independent",
            "mass_matrix"
        ]
    );
    assert_eq!(
        closed["independent"],
        json!([{ "name": "motor.angle.rate", "unit": "rad/s" }])
    );
    let inertia = 2.0 * (0.03 + 0.15 * 0.15) + 2.0 * 0.3 * 0.3;
    assert_near(number(&closed["mass_matrix"][0][0]), inertia);
    let weight = 9.81 * (1.0 + 2.0) * 0.3 * f64::cos(1.3);
    assert_near(number(&closed["bias"][0]), weight);
    assert_near(number(&closed["force"][0]), 4.0);
    let turning = (4.0 - weight) / inertia;
    for (found, sign) in list(&closed["acceleration"])
        .into_iter()
        .zip([1.0, -1.0, 1.0])
    {
        assert_near(found / turning, sign);
    }
    for (row, sign) in closed["complement"]
        .as_array()
        .unwrap()
        .iter()
        .zip([1.0, -1.0, 1.0])
    {
        assert_near(number(&row[0]), sign);
    }
    // moments about the pivot of the rocker: it turns as its weight and the pin let it
    let pin = list(&closed["closures"]["pin"]["force_n"]);
    assert_eq!(list(&closed["closures"]["pin"]["moment_n_m"]).len(), 3);
    // on the rocker, in its axes: across it
    let across = (0.03 + 0.15 * 0.15) * turning + 9.81 * 0.15 * f64::cos(1.3);
    assert_near(pin[1] * 0.3, across);

    let words = folder.lissom(&["eval", "four.toml", "--state", "state.json"]);
    words.says(0, &["with loops closed", "motor.angle.rate", "pin carries"]);
}

/// Closed form: links of a parallelogram are in line when its crank has turned by half a turn, and can fold there.
#[test]
fn a_run_says_where_it_became_singular() {
    let folder = Folder::new();
    let drive = "[[motion]]\njoint = \"motor\"\nconstant_rate.rate_rad_per_s = 2.0\n[simulation]\nduration_s = 2.0\n";
    folder.write("four.toml", parallelogram(drive));
    let answer = folder.lissom(&["run", "four.toml", "--out", "out"]);
    // from 1 rad at 2 rad/s
    answer.says(
        1,
        &[
            "singular at t = 1.0708",
            "pivot.angle.rate",
            "condition number",
        ],
    );
    let summary = folder.read_json("out/manifest.json");
    let failure = &summary["summary"]["failure"];
    let flat = (std::f64::consts::PI - 1.0) / 2.0;
    assert!(
        (number(&failure["time_s"]) - flat).abs() < 1e-9,
        "{failure}"
    );
}

/// Closed form: samples end where a run fails, under every method and in steps that lead far beyond, and those that are kept are true.
#[test]
fn samples_end_where_a_run_fails() {
    // links of 0.3 m, and the tolerance of the steps
    const CLOSE_M: f64 = 1e-3;
    let folder = Folder::new();
    let drive = "[[motion]]\njoint = \"motor\"\nconstant_rate.rate_rad_per_s = 2.0\n[simulation]\nduration_s = 2.0\n\
                 integrator.dopri5 = { rtol = 1e-2, atol = 1e-2, initial_step_s = 0.2 }\n[output]\nsample_period_s = 0.001\n";
    folder.write("four.toml", parallelogram(drive));
    for closure in ["automatic", "joint_space", "projected", "operational_space"] {
        let arguments = ["run", "four.toml", "--closure", closure, "--out", closure];
        folder.lissom(&arguments).says(1, &["singular"]);
        let manifest = folder.read_json(&format!("{closure}/manifest.json"));
        let failed_s = number(&manifest["summary"]["failure"]["time_s"]);
        let rows = String::from_utf8(folder.read(&format!("{closure}/recording.csv"))).unwrap();
        let mut rows = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let names = rows.next().unwrap();
        let hand = names
            .iter()
            .position(|name| name.starts_with("hand.position.x"));
        let mut count = 0;
        for row in rows {
            let [time_s, x] = [0, hand.unwrap()].map(|at| row[at].parse::<f64>().unwrap());
            assert!(time_s <= failed_s, "{closure}: {time_s} after {failed_s}");
            let wanted = 0.8 + 0.3 * (1.0 + 2.0 * time_s).cos();
            assert!(
                (x - wanted).abs() < CLOSE_M,
                "{closure} at {time_s}: {x} {wanted}"
            );
            count += 1;
        }
        assert!(count > 1000, "{closure}: {count}");
    }
}

/// Property: drives beyond the degrees of freedom are told of, before a run and by it.
#[test]
fn redundant_drives_are_told_of() {
    let folder = Folder::new();
    let drives = "[[input]]\njoint = \"motor\"\nrigid_inverse_dynamics.cycloid = { final_angle_rad = 1.5, duration_s = 1.0 }\n\
                  [[input]]\njoint = \"pivot\"\nnominal_motion = true\n[simulation]\nduration_s = 0.1\n";
    folder.write("four.toml", parallelogram(drives));
    let told = "2 inputs drive 1 degrees of freedom";
    folder.lissom(&["check", "four.toml"]).says(0, &[told]);
    folder
        .lissom(&["run", "four.toml"])
        .says(0, &["warning", told]);
    let summary = folder.json(&["run", "four.toml", "--json"]);
    assert!(
        summary["warnings"][0].as_str().unwrap().contains(told),
        "{summary}"
    );
    // one drive is enough, and nothing is said
    let one = drives.replace("[[input]]\njoint = \"pivot\"\nnominal_motion = true\n", "");
    folder.write("four.toml", parallelogram(&one));
    let summary = folder.json(&["run", "four.toml", "--json"]);
    assert!(summary.get("warnings").is_none(), "{summary}");
}

/// Property: what a user meets first when a loop is drawn wrong says what is wrong, in the right unit, and a loop that
/// cannot move is told of.
#[test]
fn loops_that_do_not_close_are_explained() {
    let folder = Folder::new();
    let ground = "position_m = [0.8, 0, 0] }\nchild = \"rocker\"";
    let sound = parallelogram("");
    assert!(sound.contains(ground), "{sound}");
    for (changed, words) in [
        // too far
        (
            "position_m = [2.8, 0, 0] }\nchild = \"rocker\"",
            [" m; correct lengths", "pin (offset along"],
        ),
        // out of the plane
        (
            "position_m = [0.8, 0, 0.1] }\nchild = \"rocker\"",
            [
                "pin (offset along z) stays open by 1.000e-1 m",
                "no joint moves that way",
            ],
        ),
        // an axis that is not parallel
        (
            "position_m = [0.8, 0, 0], rotation_vector_rad = [0.02, 0, 0] }\nchild = \"rocker\"",
            ["pin (rotation about", " rad, and no joint moves that way"],
        ),
    ] {
        folder.write("four.toml", sound.replace(ground, changed));
        folder.lissom(&["check", "four.toml"]).says(1, &words);
    }
    // a second stay makes a truss of it
    let stay = "[[loop]]\nname = \"stay\"\nfrom = { body = \"ground\" }\nto = { body = \"coupler\", at = \"end\" }\n\
                distance = { length_m = 0.996 }\n";
    folder.write("four.toml", parallelogram(stay));
    let check = folder.lissom(&["check", "four.toml"]);
    check.says(
        0,
        &["nothing can move: the loops leave no degree of freedom"],
    );
}

/// Property: a joint under feedback is not cut, so that every gain acts on the joint it is written for.
#[test]
fn joints_under_feedback_stay_in_the_tree() {
    let folder = Folder::new();
    let pd = "[[controller]]\nname = \"pd\"\njoints = [\"pin\", \"motor\"]\n\
              joint_pd = { position_gain = [100, 0], rate_gain = [1, 0] }\n\
              [simulation]\nduration_s = 0.2\n";
    folder.write("four.toml", parallelogram(pd));
    let summary = folder.json(&["run", "four.toml", "--json"]);
    let largest = |channel: &str| {
        let told = &summary["channels"][channel];
        number(&told["maximum"]["value"])
            .abs()
            .max(number(&told["minimum"]["value"]).abs())
    };
    assert!(largest("pd.pin.torque") > 0.1);
    assert!(largest("pd.motor.torque") == 0.0);
}

/// Property: supports are among the closures that `check` lists.
#[test]
fn supports_are_listed() {
    let folder = Folder::new();
    let understood = folder.json(&["check", "sliding-links", "--json"]);
    let closures = understood["loops"]["closures"].as_array().unwrap();
    let names: Vec<&str> = closures
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"first-bearing"), "{names:?}");
    let equations: f64 = closures.iter().map(|c| number(&c["equations"])).sum();
    assert!(equations == number(&understood["loops"]["equations"]));
}

/// Property: a joint that is no coordinate of the linear system may be fed back there, too.
#[test]
fn feedback_of_solved_joints_is_perturbed() {
    let folder = Folder::new();
    let pd = "[[controller]]\nname = \"pd\"\njoints = [\"pivot\", \"motor\"]\n\
              joint_pd = { position_gain = [100, 0], rate_gain = [1, 0] }\n\
              [simulation]\nduration_s = 0.2\n";
    folder.write("four.toml", parallelogram(pd));
    let answer = folder.lissom(&["perturb", "four.toml", "--points", "21"]);
    answer.says(0, &["perturbation method", "Wrote"]);
}

/// Second formulations: `eval --closure` forms accelerations and forces of the closures by the method that is named, all of which
/// agree, and says which; one that does not fit is told and not replaced.
#[test]
fn eval_uses_the_closure_that_is_named() {
    let folder = Folder::new();
    let input = "[[input]]\njoint = \"motor\"\ntorque_constant = { value_n_m = 1.0 }\n";
    folder.write("four.toml", parallelogram(input));
    folder.write(
        "state.json",
        json!({ "velocity": { "motor.angle.rate": 2.0 }, "held": ["motor"] }).to_string(),
    );
    let closed = |closure: &str| {
        let arguments = [
            "eval",
            "four.toml",
            "--state",
            "state.json",
            "--closure",
            closure,
            "--json",
        ];
        folder.json(&arguments)["closed"].clone()
    };
    let expected = list(&closed("joint_space")["acceleration"]);
    for closure in [
        "automatic",
        "cartesian_space",
        "projected",
        "operational_space",
        "joint_space",
    ] {
        let found = closed(closure);
        assert_eq!(found["closure"], closure);
        for (found, expected) in list(&found["acceleration"]).into_iter().zip(&expected) {
            assert_near(found, *expected);
        }
    }
    // without an input nobody says which joint is independent
    folder.write("four.toml", parallelogram(""));
    let arguments = [
        "eval",
        "four.toml",
        "--state",
        "state.json",
        "--closure",
        "joint_space",
    ];
    (folder.lissom(&arguments)).says(1, &["0 independent joint coordinates"]);
}

/// By construction: `check` and `run` tell a guess that closing the loops has moved, and `--from` leaves it out.
#[test]
fn a_start_that_loops_change_is_told() {
    let folder = Folder::new();
    let guessed = parallelogram("[simulation]\nduration_s = 0.01\n")
        .replacen(
            "initial_angle_rad = 1 }",
            "initial_angle_rad = 1, held = true }",
            1,
        )
        .replace("initial_angle_rad = -1 }", "initial_angle_rad = -1.3 }");
    folder.write("four.toml", guessed);
    let told = "knee.angle is -1 rad with the loops closed, not -1.3 as written";
    folder
        .lissom(&["check", "four.toml"])
        .says(0, &["start", told]);
    folder
        .lissom(&["run", "four.toml", "--out", "once"])
        .says(0, &["start", told]);
    let summary = folder.json(&[
        "run",
        "four.toml",
        "--out",
        "again",
        "--from",
        "once",
        "--set",
        "simulation.duration_s=0.02",
        "--json",
    ]);
    assert!(summary.get("start_changes").is_none());
    let change = &folder.json(&["check", "four.toml", "--json"])["start_changes"][0];
    assert_eq!(change["coordinate"], "knee.angle");
    assert_near(number(&change["closed"]), -1.0);
}

/// Words: a frame whose columns and beam are clamped to each other vibrates, and cannot move when it is rigid: every verb says so or goes on.
#[test]
fn a_rigid_frame_cannot_move() {
    const UP: &str = "rotation_vector_rad = [0.0, 0.0, 1.5707963267948966]";
    const DOWN: &str = "rotation_vector_rad = [0.0, 0.0, -1.5707963267948966]";
    let beam = |name: &str, length: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\n[body.beam]\nlength_m = {length:?}\nmass_per_length_kg_per_m = 0.5\n\
             bending_stiffness_y_n_m2 = 20.0\nbasis.clamped_free = {{ bending_y = 2 }}\n"
        )
    };
    let clamp = |name: &str, parent: &str, child: &str| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = {{ {parent} }}\nchild = \"{child}\"\nfixed = {{}}\n"
        )
    };
    let column = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned()
        + &beam("left", 1.0)
        + &clamp("left_foot", &format!("body = \"ground\", {UP}"), "left");
    let end = "[[marker]]\nname = \"corner\"\nbody = \"left\"\n[simulation]\nduration_s = 0.05\n";
    let frame = column.clone()
        + &beam("top", 2.0)
        + &beam("right", 1.0)
        + &clamp("left_corner", &format!("body = \"left\", {DOWN}"), "top")
        + &clamp(
            "right_foot",
            &format!("body = \"ground\", position_m = [2.0, 0.0, 0.0], {UP}"),
            "right",
        )
        + &format!(
            "[[loop]]\nname = \"right_corner\"\nfrom = \"top\"\nto = {{ body = \"right\", at = \"tip\", {DOWN} }}\nfixed = {{}}\n"
        );
    let folder = Folder::new();
    folder.write("column.toml", column + end);
    folder.write("frame.toml", frame + end);
    folder.write("state.json", "{}");
    for formulation in ["tree", "nodal"] {
        let rigid = ["--fidelity", "rigid", "--formulation", formulation];
        let call = |verb: &str, model: &str| folder.lissom(&[&[verb, model], &rigid[..]].concat());
        let none = "nothing can move: the loops leave no degree of freedom";
        call("check", "frame.toml").says(0, &[none]);
        let none = "nothing can move: no joint and no body has a degree of freedom";
        call("check", "column.toml").says(0, &[none]);
        for model in ["column.toml", "frame.toml"] {
            for verb in ["run", "equilibrium", "linearize", "converge"] {
                call(verb, model).says(0, &[]);
            }
            let eval = ["eval", model, "--state", "state.json"];
            (folder.lissom(&[&eval, &rigid[..]].concat())).says(0, &[]);
            call("modes", model).says(1, &["nothing is left to vibrate"]);
        }
        for model in ["column.toml", "frame.toml"] {
            call("perturb", model).says(0, &[]);
            let steady = ["run", model, "--set", "simulation.initial=quasi_static"];
            (folder.lissom(&[&steady, &rigid[..]].concat())).says(0, &[]);
        }
    }
    let both = ["compare", "frame.toml", "--with", "default,rigid"];
    folder.lissom(&both).says(0, &[]);
}
