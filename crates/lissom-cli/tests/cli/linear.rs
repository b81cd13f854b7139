//! `modes`, `linearize` and `perturb`.

use crate::{Folder, keys, number};

/// Closed form: the first frequency of a clamped-free beam, 3.51602 √(EI/μL⁴), less what the rotary inertia of its sections takes;
/// the curve of the spinning beam rises.
#[test]
fn modes_at_rest_and_along_a_motion() {
    // squared radius of gyration of the sections over that of the beam's length, and the integral of the squared slope of
    // the first eigenfunction: to first order the square of the frequency falls by their product, to second by its square
    const GYRATION: f64 = 5e-6;
    const SLOPES: f64 = 4.647_78;
    const DIGITS: f64 = 1e-9;
    let folder = Folder::new();
    let answer = folder.json(&["modes", "spin-up-beam", "--json"]);
    let wanted = [
        "coordinates",
        "encounters",
        "files",
        "growing",
        "held",
        "model",
        "modes",
        "rigid_motions",
        "time_s",
    ];
    assert_eq!(keys(&answer), wanted);
    let first = number(&answer["modes"][0]["frequency_rad_per_s"][0]);
    let slender = 3.516_015_268_5 * (1.4e4_f64 / (1.2 * 1e4)).sqrt();
    let exact = slender * (1.0 - 0.5 * GYRATION * SLOPES);
    assert!((first - exact).abs() < DIGITS * exact, "{first} {exact}");
    let answer = folder.json(&[
        "modes",
        "spin-up-beam",
        "--along",
        "nominal",
        "--points",
        "5",
        "--csv",
        "f.csv",
        "--plot",
        "f.png",
        "--json",
    ]);
    let curve = answer["modes"][0]["frequency_rad_per_s"]
        .as_array()
        .unwrap();
    assert_eq!(curve.len(), 5);
    assert!(number(&curve[4]) > number(&curve[0]) + 0.5);
    assert!(folder.read("f.png").starts_with(b"\x89PNG"));
    let csv = String::from_utf8(folder.read("f.csv")).unwrap();
    assert!(csv.contains("mode_1.frequency"), "{csv}");
    folder.lissom(&["modes", "two-link-arm"]).says(
        0,
        &[
            "shoulder.angle, elbow.angle held",
            "upper_arm.bending_y_1",
            "Hz",
        ],
    );
    folder
        .lissom(&[
            "modes",
            "two-link-arm",
            "--free",
            "--along",
            "run",
            "--at",
            "0.1,0.5",
        ])
        .says(0, &["nothing held", "2 instants"]);
    folder
        .lissom(&["modes", "spin-up-beam", "--formulation", "nodal"])
        .says(0, &["beam", "rad/s"]);
    folder
        .lissom(&["modes", "four-bar", "--along", "equilibrium"])
        .says(0, &["motor.angle held"]);
    folder
        .lissom(&["modes", "princeton-beam", "--along", "equilibrium"])
        .says(0, &["nothing held", "rad/s"]);
}

/// Existence: matrices of one state and of several, in every format, with names.
#[test]
fn linearize_writes_named_matrices() {
    let folder = Folder::new();
    for name in ["a.npz", "a.mat", "a.json"] {
        folder
            .lissom(&["linearize", "two-link-arm", "--out", name])
            .says(0, &["12 states", "2 inputs", "shoulder.torque", name]);
        assert!(!folder.read(name).is_empty());
    }
    let one = folder.read_json("a.json");
    assert_eq!(one["A"].as_array().unwrap().len(), 12);
    assert_eq!(one["state_names"][0], "shoulder.angle");
    assert_eq!(one["output_names"].as_array().unwrap().len(), 8);
    // the rates of the states are the states after them
    assert_eq!(number(&one["A"][0][6]), 1.0);
    let several = folder.json(&[
        "linearize",
        "two-link-arm",
        "--along",
        "nominal",
        "--points",
        "3",
        "--json",
    ]);
    let matrices = several["M"].as_array().unwrap();
    assert_eq!(
        [matrices.len(), matrices[0].as_array().unwrap().len()],
        [3, 6]
    );
}

/// Existence: a recording as `run` writes it, every case and interpolation.
#[test]
fn perturb_writes_a_recording() {
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=0.2", "--points", "11"];
    let call = |more: &[&str]| {
        let mut arguments = vec!["perturb", "two-link-arm"];
        arguments.extend(short);
        arguments.extend(more);
        folder.lissom(&arguments)
    };
    call(&[]).says(
        0,
        &["case 1", "hand.deviation.x", "results/two-link-arm-perturb"],
    );
    for file in [
        "recording.csv",
        "recording.npz",
        "recording.mat",
        "manifest.json",
    ] {
        assert!(
            !folder
                .read(&format!("results/two-link-arm-perturb/{file}"))
                .is_empty()
        );
    }
    call(&[
        "--case",
        "3",
        "--interpolation",
        "state_space",
        "--first-order",
    ])
    .says(0, &["case 3"]);
    let weightless = ["--case", "2", "--set", "gravity_m_per_s2=[0.0, 0.0, 0.0]"];
    call(&weightless).says(1, &["quasi-static", "feedback"]);
    call(&["--case", "6"]).says(2, &["--case"]);
}

/// Words: torques that mean no motion take an arm far from where it is held; what the linear equations then say is told to
/// nobody.
#[test]
fn deviations_that_are_not_small_are_refused() {
    let folder = Folder::new();
    let answer = folder.lissom(&["perturb", "two-link-arm", "--points", "21"]);
    answer.says(1, &["rad off the nominal motion", "rigid_inverse_dynamics"]);
}

/// Words: what makes no sense is said before anything is computed.
#[test]
fn wrong_usage_is_explained() {
    let folder = Folder::new();
    folder
        .lissom(&["modes", "two-link-arm", "--at", "1"])
        .says(2, &["--along nominal"]);
    folder
        .lissom(&["modes", "two-link-arm", "--along", "nominal", "--at", "99"])
        .says(2, &["outside"]);
    folder
        .lissom(&["modes", "two-link-arm", "--plot", "f.png"])
        .says(2, &["several instants"]);
    folder
        .lissom(&["linearize", "two-link-arm", "--out", "a.txt"])
        .says(2, &[".npz", ".mat", ".json"]);
    // a support moves from element to element, and with it what it makes dependent
    let along = ["sliding-boom", "--along", "run", "--points", "6"];
    let matrices = [&["linearize"], &along[..], &["--out", "a.npz"]].concat();
    folder
        .lissom(&matrices)
        .says(0, &["6 instants", "s the states are"]);
    let few = [
        "linearize",
        "sliding-beam",
        "--along",
        "nominal",
        "--points",
        "2",
        "--json",
    ];
    folder.lissom(&few).says(1, &["take more instants"]);
    folder
        .lissom(&[&["modes"], &along[..]].concat())
        .says(0, &["6 instants"]);
    folder
        .lissom(&["modes", "space-arm"])
        .says(0, &["floats: float.rotation.x", "at no frequency"]);
}

/// Words: mistakes in a controller.
#[test]
fn controllers_are_checked() {
    let folder = Folder::new();
    folder.lissom(&["new", "arm.toml"]).says(0, &[]);
    let text = String::from_utf8(folder.read("arm.toml")).unwrap();
    let with = |controller: &str| {
        folder.write(
            "arm.toml",
            format!("{text}\n[[controller]]\nname = \"servo\"\n{controller}\n"),
        );
        folder.lissom(&["check", "arm.toml"])
    };
    with(
        "joints = [\"sholder\"]\ncomputed_pd = { frequency_rad_per_s = 1.0, damping_ratio = 1.0 }",
    )
    .says(1, &["did you mean \"shoulder\""]);
    with("joints = [\"shoulder\"]").says(1, &["joint_pd", "computed_pd"]);
    with("joints = [\"shoulder\"]\njoint_pd = { position_gain = [1.0, 2.0], rate_gain = [1.0] }")
        .says(1, &["position_gain"]);
    with("joints = [\"shoulder\"]\ncomputed_pd = { frequency_rad_per_s = -1.0, damping_ratio = 1.0 }")
        .says(1, &["frequency_rad_per_s"]);
    with("joints = [\"shoulder\"]\njoint_pd = { position_gain = [5.0], rate_gain = [1.0] }")
        .says(0, &["sound"]);
}

/// Property: the last of evenly spread instants is the end of the run, however its span is rounded.
#[test]
fn instants_end_with_the_run() {
    let folder = Folder::new();
    let arguments = ["modes", "two-link-arm", "--along", "run", "--points", "36"];
    let set = ["--set", "simulation.duration_s=0.7", "--json"];
    let modes = folder.json(&[&arguments[..], &set].concat());
    let times = modes["time_s"].as_array().unwrap();
    assert!(number(times.last().unwrap()) == 0.7);
}
