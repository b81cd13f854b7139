//! Every verb does what it says, and `--json` has the documented keys.

use crate::{Folder, keys, number};

#[test]
fn new_check_run_is_a_way_to_begin() {
    let folder = Folder::new();
    folder
        .lissom(&["new", "arm.toml"])
        .says(0, &["lissom run arm.toml"]);
    folder.lissom(&["check", "arm.toml"]).says(0, &["sound"]);
    let run = folder.lissom(&["run", "arm.toml"]);
    run.says(0, &["steps", "energy", "hand.position.x", "results/arm"]);
    for file in [
        "recording.csv",
        "recording.npz",
        "recording.mat",
        "manifest.json",
    ] {
        assert!(!folder.read(&format!("results/arm/{file}")).is_empty());
    }
}

/// Property: an answer is all that stands on stdout, in words, as JSON or not at all; nothing else is said where nothing goes on.
#[test]
fn answers_are_all_that_goes_to_stdout() {
    let folder = Folder::new();
    folder.write("state.json", "{}");
    let short = ["--set", "simulation.duration_s=0.01"];
    for (verb, more) in [
        ("new", &["arm.toml", "--force"][..]),
        ("check", &["two-link-arm"]),
        ("run", &["two-link-arm", short[0], short[1]]),
        (
            "compare",
            &[
                "two-link-arm",
                "--with",
                "default,rigid",
                short[0],
                short[1],
            ],
        ),
        ("converge", &["two-link-arm", short[0], short[1]]),
        ("report", &["results/two-link-arm"]),
        ("equilibrium", &["four-bar"]),
        ("eval", &["two-link-arm", "--state", "state.json"]),
        ("modes", &["two-link-arm"]),
        ("linearize", &["two-link-arm"]),
        ("response", &["two-link-arm"]),
        (
            "perturb",
            &["two-link-arm", "--points", "3", short[0], short[1]],
        ),
    ] {
        let call = |option: &[&str]| folder.lissom(&[&[verb][..], more, option].concat());
        let words = call(&[]);
        words.says(0, &[]);
        assert!(!words.stdout.is_empty(), "{verb}");
        let is_progress = |line: &str| line.starts_with("Running ");
        assert!(words.stderr.lines().all(is_progress), "{}", words.stderr);
        let json = call(&["--json"]);
        assert!(
            serde_json::from_str::<serde_json::Value>(&json.stdout)
                .unwrap()
                .is_object()
        );
        assert_eq!((json.code, json.stderr.as_str()), (0, ""), "{verb}");
        let quiet = call(&["--quiet"]);
        let said = (quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str());
        assert_eq!(said, (0, "", ""), "{verb}");
    }
}

/// Property: a model is not called sound where a run of it must fail, nor without a word where there are warnings.
#[test]
fn check_calls_sound_what_is_sound() {
    let folder = Folder::new();
    let thread = "format = 1\n[[body]]\nname = \"thread\"\n\
                  [body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\nbending_stiffness_y_n_m2 = 10.0\n\
                  basis.clamped_free = { bending_y = 1 }\n\
                  [[joint]]\nname = \"roll\"\nparent = \"ground\"\nchild = \"thread\"\nrevolute = { axis = [1, 0, 0] }\n";
    folder.write("thread.toml", thread);
    let check = folder.lissom(&["check", "thread.toml"]);
    check.says(
        0,
        &["roll.angle.rate moves no mass", "a run of it will fail"],
    );
    assert!(!check.stdout.contains("sound"), "{}", check.stdout);
    folder.lissom(&["run", "thread.toml"]).says(1, &[]);
    let hinge = thread.replace("[1, 0, 0]", "[0, 1, 0]");
    folder.write("hinge.toml", &hinge);
    let check = folder.lissom(&["check", "hinge.toml"]);
    check.says(0, &["warning", "can be run", "lissom run hinge.toml"]);
    assert!(!check.stdout.contains("sound"), "{}", check.stdout);
}

#[test]
fn new_replaces_a_file_only_when_told() {
    let folder = Folder::new();
    folder.write("arm.toml", "mine");
    folder.lissom(&["new"]).says(1, &["arm.toml", "--force"]);
    assert_eq!(folder.read("arm.toml"), b"mine");
    folder.lissom(&["new", "--force"]).says(0, &[]);
    assert_eq!(folder.read("arm.toml"), lissom::TEMPLATE.as_bytes());
    folder
        .lissom(&["new", "no/such/folder.toml"])
        .says(1, &["folder exists"]);
    folder
        .lissom(&["new", "b.toml", "--from", "spinup-beam"])
        .says(2, &["`spin-up-beam`"]);
}

#[test]
fn schema_is_that_of_the_library() {
    let answer = Folder::new().lissom(&["schema"]);
    assert_eq!((answer.code, answer.stdout), (0, lissom::json_schema()));
}

/// Closed form: ω = 3.51602 √(EI / μL⁴) of a clamped-free beam.
#[test]
fn check_tells_tree_masses_and_frequencies() {
    const FIRST: f64 = 3.516_015_268_542_6;
    let folder = Folder::new();
    let answer = folder.lissom(&["check", "two-link-arm"]);
    answer.says(
        0,
        &[
            "shoulder (revolute) -> upper_arm",
            "payload gripper",
            "8 (2 of joints, 6 elastic",
            "upper_arm: 3 fixed_interface in bending_y",
        ],
    );
    let [upper_arm, forearm] = ["upper_arm", "forearm"]
        .map(|body| format!("body.{body}.beam.basis={{clamped_free={{bending_y=2}}}}"));
    let clamped = ["--set", &upper_arm, "--set", &forearm];
    let json = folder.json(&[&["check", "two-link-arm", "--json"], &clamped[..]].concat());
    assert_eq!(
        keys(&json),
        [
            "bodies",
            "center_of_mass_m",
            "cost",
            "degrees_of_freedom",
            "duration_s",
            "fidelity",
            "file",
            "gravity_m_per_s2",
            "inputs",
            "integrator",
            "lissom_version",
            "model",
            "motions",
            "sample_period_s",
            "total_mass_kg",
            "warnings"
        ]
    );
    let frequency = number(&json["bodies"][0]["frequencies_rad_per_s"][0]);
    let expected = FIRST * (120.0_f64 / 0.8).sqrt();
    assert!(
        (frequency / expected - 1.0).abs() < 1e-8,
        "{frequency} {expected}"
    );
    assert!((number(&json["total_mass_kg"]) - 1.5).abs() < 1e-12);
    // hanging: 0.8 kg at 0.5 m, 0.4 kg at 1.4 m, 0.3 kg at 1.8 m
    let center = number(&json["center_of_mass_m"][1]);
    assert!((center + 1.5 / 1.5).abs() < 1e-12, "{center}");
    assert_eq!(json["degrees_of_freedom"]["total"], 6);
}

#[test]
fn check_warns_of_models_that_do_nothing_or_take_for_ever() {
    let folder = Folder::new();
    let still = folder.lissom(&["check", "two-link-arm", "--set", "input=[]"]);
    still.says(0, &["warning: nothing will move"]);
    let stiff = [
        "--set",
        "body.forearm.beam.bending_stiffness_y_n_m2=1e18",
        "--set",
        "simulation.integrator={dop853={}}",
    ];
    let answer = folder.lissom(&[&["check", "two-link-arm"], &stiff[..]].concat());
    answer.says(0, &["warning: forearm oscillates", "radau"]);
    let sound = folder.json(&["check", "two-link-arm", "--json"]);
    assert_eq!(sound["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn run_json_has_the_documented_keys() {
    let folder = Folder::new();
    let json = folder.json(&["run", "space-arm", "--json", "--at", "2.5,0.0123"]);
    assert_eq!(
        keys(&json),
        [
            "at",
            "audit",
            "channels",
            "completed",
            "cost",
            "duration_s",
            "files",
            "lissom_version",
            "model"
        ]
    );
    assert_eq!(json["completed"], true);
    assert_eq!(
        keys(&json["channels"]["tool.position.x"]),
        ["final", "maximum", "minimum", "unit"]
    );
    assert_eq!(
        keys(&json["channels"]["energy.total"]["minimum"]),
        ["time_s", "value"]
    );
    assert_eq!(
        keys(&json["cost"]),
        [
            "evaluations",
            "jacobians",
            "rejected",
            "steps",
            "stiff",
            "wall_s"
        ]
    );
    assert_eq!(
        keys(&json["audit"]),
        ["bodies", "energy", "limit_violations", "momentum"]
    );
    let files = json["files"].as_array().unwrap();
    assert_eq!(files.len(), 5);
    assert!(
        files
            .iter()
            .all(|file| folder.path.join(file.as_str().unwrap()).is_file())
    );
}

/// Identity: what the summary tells at an instant and at the end is what the recording holds there.
#[test]
fn summary_agrees_with_the_recording() {
    let folder = Folder::new();
    let json = folder.json(&[
        "run",
        "two-link-arm",
        "--json",
        "--at",
        "0.1234",
        "--out",
        "a",
    ]);
    let csv = String::from_utf8(folder.read("a/recording.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| {
            line.split(',')
                .map(|field| field.parse().unwrap())
                .collect()
        })
        .collect();
    let asked = rows
        .iter()
        .find(|row| row[0] == 0.1234)
        .expect("a sample at the instant");
    let last = rows.last().unwrap();
    for (column, name) in names.iter().enumerate().skip(1) {
        let name = name.split(" [").next().unwrap();
        assert_eq!(
            number(&json["at"][0]["channels"][name]),
            asked[column],
            "{name}"
        );
        assert_eq!(
            number(&json["channels"][name]["final"]),
            last[column],
            "{name}"
        );
        let smallest = rows
            .iter()
            .map(|row| row[column])
            .fold(f64::INFINITY, f64::min);
        assert_eq!(
            number(&json["channels"][name]["minimum"]["value"]),
            smallest,
            "{name}"
        );
    }
    assert_eq!(json["at"].as_array().unwrap().len(), 1);
}

/// Identities: both forward algorithms agree, and inverse dynamics gives back the force.
#[test]
fn eval_closes_the_circle() {
    // relative to the largest entry; rounding of a well-conditioned 17 x 17 system
    const TOLERANCE: f64 = 1e-9;
    let folder = Folder::new();
    folder.write(
        "a.json",
        r#"{"velocity": {"elbow.angle.rate": 0.3}, "force": {"elbow.angle.rate": 2.0}}"#,
    );
    let arguments = ["eval", "space-arm", "--state", "a.json", "--json"];
    let forward = folder.json(&arguments);
    assert_eq!(
        keys(&forward),
        [
            "acceleration",
            "acceleration_by_composite_bodies",
            "bias",
            "mass_matrix",
            "positions",
            "velocities"
        ]
    );
    let list = |json: &serde_json::Value| -> Vec<f64> {
        json.as_array().unwrap().iter().map(number).collect()
    };
    let articulated = list(&forward["acceleration"]);
    let composite = list(&forward["acceleration_by_composite_bodies"]);
    let largest = articulated
        .iter()
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    for (a, b) in articulated.iter().zip(&composite) {
        assert!((a - b).abs() <= TOLERANCE * largest, "{a} {b}");
    }
    let n = articulated.len();
    assert_eq!(n, 17);
    assert_eq!(forward["mass_matrix"].as_array().unwrap().len(), n);
    assert_eq!(
        forward["positions"].as_array().unwrap().len(),
        n + 1,
        "one quaternion"
    );

    let state = serde_json::json!({
        "velocity": { "elbow.angle.rate": 0.3 },
        "acceleration": articulated,
    });
    folder.write("a.json", state.to_string());
    let inverse = folder.json(&arguments);
    for (entry, force) in inverse["velocities"]
        .as_array()
        .unwrap()
        .iter()
        .zip(list(&inverse["inverse_dynamics"]))
    {
        let expected = if entry["name"] == "elbow.angle.rate" {
            2.0
        } else {
            0.0
        };
        assert!(
            (force - expected).abs() < TOLERANCE * 2.0,
            "{}: {force}",
            entry["name"]
        );
    }
    folder
        .lissom(&arguments[..4])
        .says(0, &["mass matrix", "elbow.angle.rate"]);
}

#[test]
fn every_verb_has_an_example() {
    let folder = Folder::new();
    let help = folder.lissom(&["--help"]).stdout;
    let (_, verbs) = help.split_once("Commands:\n").unwrap();
    let (verbs, _) = verbs.split_once("\n\n").unwrap();
    let verbs = verbs
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let verbs: Vec<&str> = verbs.filter(|&verb| verb != "help").collect();
    assert!(verbs.contains(&"run") && verbs.len() > 10, "{verbs:?}");
    for verb in verbs {
        folder.lissom(&[verb, "--help"]).says(0, &["Example:\n"]);
    }
}

/// Closed form: a straight line of mass has no inertia about itself.
#[test]
fn check_warns_of_motions_without_inertia() {
    let folder = Folder::new();
    let beam = r#"
format = 1
[[body]]
name = "line"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 3.0
basis.clamped_free.bending_y = 2
[[joint]]
name = "float"
parent = "ground"
child = "line"
free = {}
"#;
    folder.write("line.toml", beam);
    folder.lissom(&["check", "line.toml"]).says(
        0,
        &[
            "float.angular_velocity.x moves no mass",
            "section_inertia_y_kg_m",
        ],
    );
    let thick = beam.replace(
        "length_m = 1.0\n",
        "length_m = 1.0\nsection_inertia_y_kg_m = 1e-4\n",
    );
    folder.write("thick.toml", thick);
    let answer = folder.lissom(&["check", "thick.toml"]);
    answer.says(0, &[]);
    assert!(
        !answer.stdout.contains("moves no mass"),
        "{}",
        answer.stdout
    );
}

/// Existence and words: where a model rests, in either formulation, whether it holds, and what to do where it does not.
#[test]
fn equilibrium_tells_where_a_model_rests() {
    let folder = Folder::new();
    let answer = folder.json(&["equilibrium", "princeton-beam", "--json"]);
    assert_eq!(answer["stability"], "stable");
    assert_eq!(answer["load_parts"], 1);
    // under thirty times the load the whole at once does not do
    let heavy = "input.0.force_constant.value_n=300";
    folder
        .lissom(&["equilibrium", "princeton-beam", "--set", heavy])
        .says(0, &["stable", "parts", "tip.position.z"]);
    folder
        .lissom(&["equilibrium", "four-bar"])
        .says(0, &["four-bar: at rest in equilibrium"]);
    folder
        .lissom(&["equilibrium", "flying-spaghetti"])
        .says(1, &["no equilibrium", "nothing holds", "spring"]);
    // an arm that its motion turns is not at rest, and its reaction holds it on its circle
    let moves = "prescribed joints move at this instant";
    folder.write(
        "arm.toml",
        "format = 1\n[[body]]\nname = \"arm\"\nrigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.2, 0.2] }\n\
         [[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"arm\"\nrevolute = { axis = [0, 0, 1] }\n\
         [[motion]]\njoint = \"hub\"\nconstant_rate.rate_rad_per_s = 2.0\n",
    );
    folder
        .lissom(&["equilibrium", "arm.toml"])
        .says(0, &[moves, "-4 N"]);
    let still = folder.lissom(&["equilibrium", "princeton-beam"]);
    assert!(!still.stdout.contains(moves), "{}", still.stdout);
    // and deviates by nothing, without a marker that tells it
    let told = folder.lissom(&["perturb", "arm.toml", "--points", "5"]);
    told.says(0, &["5 points"]);
    assert!(!told.stdout.contains("interpolating"), "{}", told.stdout);
}

/// Closed form: a whisker on a tower 10¹³ times as stiff sinks by $`wL^4/8EI`$ at its tip, in meshes of both formulations, and is held.
#[test]
fn soft_meshes_on_stiff_ones_rest() {
    // squares of slopes
    const SLENDER: f64 = 1e-4;
    let folder = Folder::new();
    let beam = |name: &str, mass: f64, stiffness: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nbeam = {{ length_m = 1.0, mass_per_length_kg_per_m = {mass}, bending_stiffness_y_n_m2 = {stiffness}, \
             basis.elements = {{ count = 4, bending_y = true }} }}\n"
        )
    };
    let clamped = |name: &str, parent: &str, child: &str| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = \"{parent}\"\nchild = \"{child}\"\nfixed = {{}}\n"
        )
    };
    let text = [
        "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned(),
        beam("tower", 100.0, 1e12),
        beam("whisker", 1e-4, 0.1),
        clamped("foot", "ground", "tower"),
        clamped("clamp", "tower", "whisker"),
        "[[marker]]\nname = \"tip\"\nbody = \"whisker\"\nat = \"tip\"\n".to_owned(),
    ];
    folder.write("mesh.toml", text.concat());
    let wanted = -9.81e-4 / (8.0 * 0.1);
    for formulation in ["tree", "nodal"] {
        let call = [
            "equilibrium",
            "mesh.toml",
            "--json",
            "--formulation",
            formulation,
        ];
        let answer = folder.json(&call);
        assert_eq!(answer["stability"], "stable", "{formulation}");
        let found = number(&answer["channels"]["tip.position.y"]["value"]);
        assert!(
            (found / wanted - 1.0).abs() < SLENDER,
            "{formulation}: {found} {wanted}"
        );
    }
}

/// Second way: beams with exact tips that a state file bends accelerate as those of a model that starts bent, and a joint that is
/// prescribed moves as it does in a run.
#[test]
fn eval_begins_where_a_run_begins() {
    let folder = Folder::new();
    folder.write(
        "bent.json",
        r#"{ "position": { "upper_arm.bending_y_1": 0.1 } }"#,
    );
    folder.write("as_it_is.json", "{}");
    let acceleration = |more: &[&str]| {
        let call = ["eval", "two-link-arm", "--tip", "exact", "--json"];
        let answer = folder.json(&[&call[..], more].concat());
        let numbers = answer["acceleration"].as_array().unwrap();
        numbers.iter().map(number).collect::<Vec<f64>>()
    };
    let bent = acceleration(&["--state", "bent.json"]);
    let start = "body.upper_arm.initial={elastic={bending_y_1=0.1}}";
    let begun = acceleration(&["--state", "as_it_is.json", "--set", start]);
    for (bent, begun) in bent.iter().zip(&begun) {
        assert!(
            (bent - begun).abs() < 1e-9 * begun.abs().max(1.0),
            "{bent} {begun}"
        );
    }
    let straight = acceleration(&["--state", "as_it_is.json"]);
    assert!((straight[0] - bent[0]).abs() > 1.0, "{straight:?} {bent:?}");

    // the weight of a prescribed hub is turned at 2 rad/s from the first instant on
    folder.write(
        "hub.toml",
        "format = 1\n[[body]]\nname = \"arm\"\n\
         rigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [1, 1, 1] }\n\
         [[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"arm\"\nrevolute = { axis = [0, 0, 1] }\n\
         [[body]]\nname = \"slide\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1, 1, 1] }\n\
         [[joint]]\nname = \"rail\"\nparent = \"arm\"\nchild = \"slide\"\n\
         prismatic = { axis = [1, 0, 0], initial_displacement_m = 1.0 }\n\
         [[motion]]\njoint = \"hub\"\nconstant_rate = { rate_rad_per_s = 2.0 }\n\
         [simulation]\nduration_s = 0.1\n",
    );
    let answer = folder.json(&["eval", "hub.toml", "--state", "as_it_is.json", "--json"]);
    // centrifugal: ω² r
    assert!(
        (number(&answer["acceleration"][1]) - 4.0).abs() < 1e-9,
        "{answer}"
    );
}
