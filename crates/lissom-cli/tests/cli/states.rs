//! Runs that start at a state: one that a run has left, an instant of a recording, one by hand.

use serde_json::Value;

use crate::{Folder, number};

/// Largest difference between the last values of channels that begin with one of these, of two runs.
fn apart(one: &Value, other: &Value, beginnings: &[&str]) -> f64 {
    let mut most = 0.0_f64;
    let mut compared = 0;
    for (name, channel) in one["channels"].as_object().unwrap() {
        if beginnings
            .iter()
            .any(|beginning| name.starts_with(beginning))
        {
            let last = |channel: &Value| number(&channel["final"]);
            let other = last(&other["channels"][name]);
            most = most.max((last(channel) - other).abs());
            compared += 1;
        }
    }
    assert!(compared > 0, "nothing begins with {beginnings:?}");
    most
}

/// A run of a model over a duration, in one go or from somewhere.
fn run(folder: &Folder, model: &str, out: &str, duration: &str, more: &[&str]) -> Value {
    let duration = format!("simulation.duration_s={duration}");
    let mut arguments = vec!["run", model, "--json", "--out", out, "--set", &duration];
    arguments.extend_from_slice(more);
    folder.json(&arguments)
}

/// Identity: a run that goes on where another one ended arrives where one run over the whole span does, in both
/// formulations, with loops, gears, floating bases and supports that slide over nodes. Adaptive integrators cut their
/// last step at the end of the first run, so that the difference is their tolerance's.
#[test]
fn a_run_goes_on_where_another_ended() {
    /// The shipped tolerances are 1e-8 and looser; errors of the first half grow in the second.
    const TOLERANCE: f64 = 1e-5;
    let folder = Folder::new();
    let nodal: &[&str] = &["--formulation", "nodal"];
    let cases: [(&str, [&str; 2], &[&str], &str); 7] = [
        ("two-link-arm", ["0.2", "0.4"], &[], "hand."),
        ("two-link-arm", ["0.2", "0.4"], &[], "energy.work"),
        ("two-link-arm", ["0.05", "0.1"], nodal, "hand."),
        ("flexible-joint", ["0.2", "0.4"], &[], "tip."),
        ("four-bar", ["0.2", "0.4"], &[], "coupler_middle.position"),
        ("space-arm", ["0.2", "0.4"], &[], "float."),
        ("sliding-beam", ["0.1", "0.2"], &[], "rear.position"),
    ];
    for (model, [half, whole], more, channels) in cases {
        let uninterrupted = run(&folder, model, "whole", whole, more);
        run(&folder, model, "half", half, more);
        let from = [&["--from", "half"], more].concat();
        let continued = run(&folder, model, "rest", whole, &from);
        let most = apart(&uninterrupted, &continued, &[channels]);
        assert!(most < TOLERANCE, "{model} {more:?}: {most}");
        let start = folder.read_json("half/state.json");
        assert_eq!(number(&start["time_s"]), half.parse::<f64>().unwrap());
    }
}

/// Rows of a recording in the words of its file, but for columns of the audit that begin with one of these.
fn told(folder: &Folder, out: &str, but: &[&str]) -> Vec<Vec<String>> {
    let csv = String::from_utf8(folder.read(&format!("{out}/recording.csv"))).unwrap();
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let values = line.split(',').zip(&header);
        let told = values.filter(|(_, column)| !but.iter().any(|but| column.starts_with(but)));
        told.map(|(value, _)| value.to_owned()).collect()
    };
    lines.map(row).collect()
}

/// Identity: with fixed steps, at the end of one (a binary fraction, so that instants are exact), it does so to the last
/// bit: under both schemes, in loops under
/// several closures, over supports, in the nodal formulation and along a nominal motion.
#[test]
fn fixed_steps_go_on_to_the_last_bit() {
    const ALPHA: &str = "simulation.integrator={generalized_alpha={step_s=9.765625e-4}}";
    const NEWMARK: &str = "simulation.integrator={newmark={step_s=9.765625e-4}}";
    let folder = Folder::new();
    let cases: [(&str, &[&str]); 8] = [
        ("two-link-arm", &["--set", ALPHA]),
        ("two-link-arm", &["--set", NEWMARK]),
        ("two-link-arm", &["--set", ALPHA, "--formulation", "nodal"]),
        ("four-bar", &["--set", ALPHA]),
        ("four-bar", &["--set", NEWMARK, "--closure", "projected"]),
        ("four-bar", &["--set", ALPHA, "--formulation", "nodal"]),
        ("sliding-beam", &["--set", NEWMARK]),
        ("shuttle-arm", &["--set", ALPHA]),
    ];
    let mut off = Vec::new();
    for (model, more) in cases {
        let whole = run(&folder, model, "whole", "0.0390625", more);
        run(&folder, model, "half", "0.01953125", more);
        let from = [&["--from", "half"], more].concat();
        let rest = run(&folder, model, "rest", "0.0390625", &from);
        let moved = |summary: &Value| {
            let mut channels = summary["channels"].as_object().unwrap().values();
            channels.any(|channel| channel["minimum"]["value"] != channel["maximum"]["value"])
        };
        assert!(
            moved(&whole) && moved(&rest),
            "{model} {more:?} stands still"
        );
        // the drift is a difference of energies whose rounding is not repeated
        let last = |out: &str| told(&folder, out, &["energy.drift"]).pop();
        if last("whole") != last("rest") {
            off.push(format!("{model} {more:?}: {}", apart(&whole, &rest, &[""])));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

/// Identity: it does so where what is remembered is no longer that of the start: closures whose independent coordinates were
/// chosen anew, supports on other elements of their beam, and a hinge of a nodal mechanism that follows
/// from others and has turned by more than a full turn.
#[test]
fn what_is_remembered_on_the_way_goes_on_to_the_last_bit() {
    const ALPHA: &str = "simulation.integrator={generalized_alpha={step_s=1.953125e-3}}";
    const NEWMARK: &str = "simulation.integrator={newmark={step_s=1.953125e-3}}";
    const ONE_ELEMENT: &str = "formulation={nodal={elements_per_link=1}}";
    // steps that go on over nodes of the beam: behind an instant that is located they would begin anew there
    const OVER: &str = "simulation.element_crossings=stepped_over";
    let folder = Folder::new();
    let supports = ["--set", ALPHA, "--set", OVER];
    let slowly = ["--set", NEWMARK, "--set", OVER];
    let hinges = ["--set", ALPHA, "--set", ONE_ELEMENT];
    // (model, options, what is another in the memory than after a step)
    let cases: [(&str, &[&str], &str); 3] = [
        ("sliding-beam", &supports, "dependent_coordinates"),
        ("sliding-beam", &slowly, "dependent_coordinates"),
        ("slider-crank", &hinges, "hinges"),
    ];
    for (model, more, remembered) in cases {
        let whole = run(&folder, model, "whole", "0.37109375", more);
        run(&folder, model, "step", "0.001953125", more);
        run(&folder, model, "half", "0.34375", more);
        let [first, half] = ["step", "half"].map(|out| {
            let state = folder.read_json(&format!("{out}/state.json"));
            let memory: Vec<f64> = state["memory"][remembered]
                .as_array()
                .unwrap_or_else(|| panic!("{remembered}: {:?}", crate::keys(&state["memory"])))
                .iter()
                .map(number)
                .collect();
            memory
        });
        if remembered == "hinges" {
            let most = half
                .iter()
                .fold(0.0_f64, |most, angle| most.max(angle.abs()));
            assert!(most > std::f64::consts::TAU, "{model}: {half:?}");
        } else {
            assert_ne!(first, half, "{model}: {remembered} stayed what they were");
        }
        let from = [&["--from", "half"], more].concat();
        let rest = run(&folder, model, "rest", "0.37109375", &from);
        // nor is that of the work of prescribed motions: elements that are looked at have another past than those that move
        let last = |out: &str| told(&folder, out, &["energy.drift", "energy.work"]).pop();
        assert_eq!(
            last("whole"),
            last("rest"),
            "{model} {more:?}: {}",
            apart(&whole, &rest, &[""])
        );
    }
}

/// Identity: so does a run from an instant inside a recording, between its samples too, which cubics are good for.
#[test]
fn a_run_starts_at_any_instant_of_a_recording() {
    let folder = Folder::new();
    let recorded = ["--set", "output.sample_period_s=0.002"];
    for formulation in ["tree", "nodal"] {
        let more = [&recorded[..], &["--formulation", formulation]].concat();
        let whole = run(&folder, "two-link-arm", "whole", "0.1", &more);
        // (instant, tolerance): a sample is as exact as the run, between samples the cubic's error shows
        for (instant, tolerance) in [("whole@0.05", 1e-6), ("whole@0.0513", 1e-4)] {
            let mut from = vec!["--from", instant];
            from.extend_from_slice(&more);
            let rest = run(&folder, "two-link-arm", "rest", "0.1", &from);
            let most = apart(&whole, &rest, &["hand.position", "hand.velocity"]);
            assert!(most < tolerance, "{formulation} {instant}: {most}");
        }
    }
}

/// By hand: a state names what is other than in the model.
#[test]
fn a_state_by_hand_is_where_the_run_starts() {
    let folder = Folder::new();
    folder.write(
        "start.json",
        r#"{ "position": { "shoulder.angle": 0.7 }, "velocity": { "elbow.angle.rate": -0.5 } }"#,
    );
    run(
        &folder,
        "two-link-arm",
        "out",
        "0.01",
        &["--from", "start.json"],
    );
    let csv = String::from_utf8(folder.read("out/recording.csv")).unwrap();
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let first: Vec<f64> = (lines.next().unwrap().split(','))
        .map(|value| value.parse().unwrap())
        .collect();
    let value = |name: &str| {
        let column = header.iter().position(|column| column.starts_with(name));
        first[column.unwrap()]
    };
    assert_eq!(value("shoulder.angle ["), 0.7);
    assert_eq!(value("elbow.angle.rate ["), -0.5);
}

/// Refusals: each names what is wrong and what to do.
#[test]
fn states_that_are_none_are_refused() {
    let folder = Folder::new();
    run(&folder, "two-link-arm", "done", "0.05", &[]);
    folder.write("typo.json", r#"{ "position": { "sholder.angle": 0.7 } }"#);
    folder.write("odd.json", r#"{ "places": {} }"#);
    for (from, code, words) in [
        (
            "typo.json",
            1,
            &["sholder.angle", "did you mean", "shoulder.angle"][..],
        ),
        ("odd.json", 1, &["odd.json", "places"]),
        ("nowhere.json", 1, &["nowhere.json"]),
        ("done@9", 1, &["outside the recording"]),
        ("done@soon", 1, &["soon", "seconds"]),
        ("done", 2, &["simulation.duration_s"]),
    ] {
        let arguments = [
            "run",
            "two-link-arm",
            "--set",
            "simulation.duration_s=0.05",
            "--from",
            from,
        ];
        folder.lissom(&arguments).says(code, words);
    }
}

/// Largest difference between the numbers of two arrays, of the largest of them.
fn differ(one: &Value, other: &Value) -> f64 {
    fn numbers(value: &Value, all: &mut Vec<f64>) {
        match value {
            Value::Array(entries) => entries.iter().for_each(|entry| numbers(entry, all)),
            value => all.push(number(value)),
        }
    }
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    numbers(one, &mut a);
    numbers(other, &mut b);
    assert_eq!(a.len(), b.len());
    let largest = a
        .iter()
        .fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let most = (a.iter().zip(&b)).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    most / largest
}

/// Identity: linearised in a state of a recording a model is what it is along its run at that instant, in both formulations and
/// with loops; in equilibrium near a state, and along a run from it, too.
#[test]
fn linear_models_begin_at_a_state() {
    /// Written digits are all there; a state of the run is brought onto the closures once more.
    const ROUNDING: f64 = 1e-9;
    let folder = Folder::new();
    for (model, formulation) in [
        ("two-link-arm", "tree"),
        ("two-link-arm", "nodal"),
        ("four-bar", "tree"),
    ] {
        let more = [
            "--formulation",
            formulation,
            "--set",
            "output.sample_period_s=0.01",
        ];
        run(&folder, model, "whole", "0.04", &more);
        let linear = |options: &[&str]| {
            let fixed = [
                "linearize",
                model,
                "--json",
                "--set",
                "simulation.duration_s=0.04",
            ];
            folder.json(&[&fixed[..], &more, options].concat())
        };
        // at the samples of the recording: elements are placed from one to the next
        let along = linear(&["--about", "run", "--at", "0,0.01,0.02,0.03,0.04"]);
        let at = linear(&["--from", "whole@0.02"]);
        let from_there = linear(&["--about", "run", "--at", "0.02", "--from", "whole@0.01"]);
        for array in ["M", "C", "K0", "A", "q0", "v0", "u0"] {
            let along = &along[array][2];
            let most = differ(along, &at[array]);
            assert!(most < ROUNDING, "{model} {formulation} {array}: {most}");
            // errors of the integrator, whose steps are others
            let most = differ(along, &from_there[array]);
            assert!(most < 1e-4, "{model} {formulation} {array}: {most}");
        }
        assert_eq!(number(&at["time_s"][0]), 0.02);
    }
}

/// Identity: modes of a state by hand are those of the model that is written so.
#[test]
fn modes_begin_at_a_state() {
    const ROUNDING: f64 = 1e-12;
    let folder = Folder::new();
    folder.write("bent.json", r#"{ "position": { "elbow.angle": 0.7 } }"#);
    for formulation in ["tree", "nodal"] {
        let modes = |options: &[&str]| {
            let fixed = [
                "modes",
                "two-link-arm",
                "--json",
                "--formulation",
                formulation,
            ];
            let answer = folder.json(&[&fixed[..], options].concat());
            let frequency = |mode: &Value| number(&mode["frequency_rad_per_s"][0]);
            let modes: Vec<f64> = answer["modes"]
                .as_array()
                .unwrap()
                .iter()
                .map(frequency)
                .collect();
            modes
        };
        let from = modes(&["--from", "bent.json"]);
        let written = modes(&["--set", "joint.elbow.revolute.initial_angle_rad=0.7"]);
        let straight = modes(&[]);
        for (from, written) in from.iter().zip(&written) {
            assert!(
                (from - written).abs() < ROUNDING * written,
                "{from} {written}"
            );
        }
        assert!((from[0] - straight[0]).abs() > 1e-3 * straight[0]);
    }
}

/// Identity: vibrations about the nominal motion begin with the deviation of the state: at its instant they are where it is. The
/// nominal motion stays that of the model.
#[test]
fn perturbations_begin_at_a_state() {
    /// Nominal motion and deviation are added up again.
    const ROUNDING: f64 = 1e-9;
    /// What loops solve for follows to first order in deviations of a hundredth.
    const FIRST_ORDER: f64 = 1e-3;
    let folder = Folder::new();
    for (model, formulation, tolerance) in [
        ("spin-up-beam", "tree", ROUNDING),
        ("spin-up-beam", "nodal", ROUNDING),
        ("shuttle-arm", "tree", ROUNDING),
        ("slider-crank", "tree", FIRST_ORDER),
    ] {
        let more = [
            "--formulation",
            formulation,
            "--set",
            "output.sample_period_s=0.01",
        ];
        run(&folder, model, "whole", "0.1", &more);
        let duration = ["--set", "simulation.duration_s=0.1"];
        let fixed = [
            "perturb",
            model,
            "--json",
            "--points",
            "9",
            "--out",
            "perturbed",
        ];
        let from = ["--from", "whole@0.04"];
        folder.json(&[&fixed[..], &more, &duration, &from].concat());
        let csv = |out: &str| {
            let text = String::from_utf8(folder.read(&format!("{out}/recording.csv"))).unwrap();
            let rows: Vec<Vec<String>> = (text.lines())
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect();
            rows
        };
        let (whole, perturbed) = (csv("whole"), csv("perturbed"));
        let number = |text: &String| text.parse::<f64>().unwrap();
        let recorded = whole[1..]
            .iter()
            .find(|row| (number(&row[0]) - 0.04).abs() < 1e-9);
        let recorded = recorded.unwrap();
        assert!((number(&perturbed[1][0]) - 0.04).abs() < 1e-9);
        let mut compared = 0;
        for (column, name) in perturbed[0].iter().enumerate().skip(1) {
            let Some(same) = whole[0].iter().position(|other| other == name) else {
                continue;
            };
            // positions of markers and efforts follow to first order only
            if name.contains(".position.") || name.contains("[N") {
                continue;
            }
            let (found, wanted) = (number(&perturbed[1][column]), number(&recorded[same]));
            assert!(
                (found - wanted).abs() < tolerance * wanted.abs().max(1.0),
                "{model} {name}: {found} {wanted}"
            );
            compared += 1;
        }
        assert!(compared > 1, "{model}: {:?} {:?}", whole[0], perturbed[0]);
    }
}

/// Closed form: a pendulum that a spring holds upright too weakly rests on either side, where
/// $`k(\varphi - \pi/2) + mgl\cos\varphi = 0`$. The search ends on the side on which it begins.
#[test]
fn equilibria_are_sought_from_a_state() {
    /// Of the search.
    const CONVERGED: f64 = 1e-9;
    let folder = Folder::new();
    folder.write(
        "pendulum.toml",
        r#"
format = 1
gravity_m_per_s2 = [0.0, -10.0, 0.0]
[[body]]
name = "bob"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "hinge"
parent = "ground"
child = "bob"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.3
spring = { stiffness_n_m_per_rad = 8.0, rest_angle_rad = 1.5707963267948966 }
[simulation]
duration_s = 1.0
"#,
    );
    folder.write("left.json", r#"{ "position": { "hinge.angle": 2.8 } }"#);
    for formulation in ["tree", "nodal"] {
        let rest = |from: &[&str]| {
            let fixed = [
                "equilibrium",
                "pendulum.toml",
                "--json",
                "--formulation",
                formulation,
            ];
            let answer = folder.json(&[&fixed[..], from].concat());
            assert_eq!(answer["stability"], "stable", "{formulation}");
            number(&answer["channels"]["hinge.angle"]["value"])
        };
        let (right, left) = (rest(&[]), rest(&["--from", "left.json"]));
        let upright = std::f64::consts::FRAC_PI_2;
        assert!(
            right < upright - 0.1 && left > upright + 0.1,
            "{right} {left}"
        );
        for angle in [right, left] {
            let moment = 8.0 * (angle - upright) + 10.0 * angle.cos();
            assert!(moment.abs() < CONVERGED, "{formulation} {angle}: {moment}");
        }
    }
}

/// Identity: the file of an equilibrium is a state, from which studies begin where those in equilibrium are, in both formulations, where loops close
/// and with a quaternion among the coordinates.
#[test]
fn studies_start_from_an_equilibrium() {
    /// Written digits are all there; loops are closed once more.
    const SAME: f64 = 1e-10;
    let folder = Folder::new();
    for model in ["branched-tree", "four-bar"] {
        for formulation in ["tree", "nodal"] {
            let name = format!("{model} {formulation}");
            let of = ["--formulation", formulation];
            let found = [&["equilibrium", model, "--out", "rest.json"], &of[..]].concat();
            folder.lissom(&found).says(0, &[]);
            let there = ["--about", "equilibrium"];
            let from = ["--from", "rest.json", "--about", "start"];
            let linear = |begin: &[&str]| {
                let words = [&["linearize", model, "--json"], begin, &of[..]].concat();
                folder.json(&words)
            };
            let (there, begun) = (linear(&there), linear(&from));
            assert_eq!(there["coordinate_names"], begun["coordinate_names"]);
            for matrix in ["M", "q0"] {
                let apart = differ(&there[matrix], &begun[matrix]);
                assert!(apart < SAME, "{name} {matrix}: {apart}");
            }
            let from = [&["--from", "rest.json"], &of[..]].concat();
            run(&folder, model, "run", "0.001", &from);
        }
    }
}

/// Identity: the equations are evaluated where the state is.
#[test]
fn equations_are_evaluated_at_a_state() {
    let folder = Folder::new();
    run(&folder, "two-link-arm", "whole", "0.05", &[]);
    let state = folder.read_json("whole/state.json");
    let by_hand =
        serde_json::json!({ "position": state["position"], "velocity": state["velocity"] });
    folder.write("by_hand.json", by_hand.to_string());
    let evaluated =
        |options: &[&str]| folder.json(&[&["eval", "two-link-arm", "--json"], options].concat());
    let from = evaluated(&["--from", "whole"]);
    assert_eq!(from, evaluated(&["--state", "by_hand.json"]));
    folder.write("start.json", "{}");
    assert_ne!(from["bias"], evaluated(&["--state", "start.json"])["bias"]);
}

/// By construction: a run that begins on the way tells the time that it has computed.
#[test]
fn runs_from_a_state_tell_their_own_time() {
    let folder = Folder::new();
    let until = ["--set", "simulation.duration_s=0.03"];
    let first = ["run", "two-link-arm", "--out", "first"];
    folder
        .lissom(&[&first[..], &until].concat())
        .says(0, &[": 0.03 s in "]);
    let second = [
        "run",
        "two-link-arm",
        "--from",
        "first@0.01",
        "--out",
        "second",
    ];
    folder
        .lissom(&[&second[..], &until].concat())
        .says(0, &[": 0.02 s in "]);
}
