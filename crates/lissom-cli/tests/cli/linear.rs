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
        "degrees_of_freedom",
        "encounters",
        "files",
        "further",
        "growing",
        "held",
        "judged",
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
        "--about",
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
            "--about",
            "run",
            "--at",
            "0.1,0.5",
        ])
        .says(0, &["no joint held", "2 instants"]);
    folder
        .lissom(&["modes", "spin-up-beam", "--formulation", "nodal"])
        .says(0, &["beam", "rad/s"]);
    folder
        .lissom(&["modes", "four-bar", "--about", "equilibrium"])
        .says(0, &["motor.angle held"]);
    folder
        .lissom(&["modes", "princeton-beam", "--about", "equilibrium"])
        .says(0, &["no joint held", "rad/s"]);
}

/// Existence: matrices of one state and of several, in every format, with names.
#[test]
fn linearize_writes_named_matrices() {
    let folder = Folder::new();
    for name in ["a.npz", "a.mat", "a.json"] {
        folder
            .lissom(&["linearize", "two-link-arm", "--out", name])
            .says(0, &["16 states", "2 inputs", "shoulder.torque", name]);
        assert!(!folder.read(name).is_empty());
    }
    let one = folder.read_json("a.json");
    assert_eq!(one["A"].as_array().unwrap().len(), 16);
    assert_eq!(one["state_names"][0], "shoulder.angle");
    assert_eq!(one["output_names"].as_array().unwrap().len(), 8);
    // the rates of the states are the states after them
    assert_eq!(number(&one["A"][0][8]), 1.0);
    let several = folder.json(&[
        "linearize",
        "two-link-arm",
        "--about",
        "nominal",
        "--points",
        "3",
        "--json",
    ]);
    let matrices = several["M"].as_array().unwrap();
    assert_eq!(
        [matrices.len(), matrices[0].as_array().unwrap().len()],
        [3, 8]
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

/// Second way: an arm under torques that mean no motion deviates little from what rigid bodies do under them, and stays near
/// its nonlinear run.
#[test]
fn torques_that_mean_no_motion_have_a_nominal_one() {
    // of the 0.08 m by which the hand is off the rigid motion; the rest is of second order
    const APART_M: f64 = 0.02;
    let folder = Folder::new();
    let short = ["--set", "simulation.duration_s=1", "--json"];
    let call = |verb: &[&str]| folder.json(&[verb, &["two-link-arm"], &short[..]].concat());
    let perturbed = call(&["perturb", "--points", "41"]);
    let run = call(&["run"]);
    for axis in ["x", "y"] {
        let name = format!("hand.position.{axis}");
        let [a, b] = [&perturbed, &run].map(|of| number(&of["channels"][&name]["final"]));
        assert!((a - b).abs() < APART_M, "{name}: {a} {b}");
        let deviation = &perturbed["channels"][format!("hand.deviation.{axis}")];
        assert!(number(&deviation["maximum"]["value"]) < 0.2, "{deviation}");
    }
    assert!(number(&perturbed["interpolation_error"]["error_m"]) < 1e-2);
}

/// Second way: links that drift off the rigid motion under their torques. What was computed until an angle is a radian off is kept, as a
/// run that fails keeps its samples, and every row of it is near the nominal motion.
#[test]
fn perturbations_end_where_linear_equations_do() {
    let folder = Folder::new();
    let four_bar = ["perturb", "four-bar", "--points", "201"];
    let longer = [&four_bar[..], &["--set", "simulation.duration_s=0.6"]].concat();
    let answer = folder.lissom(&longer);
    answer.says(
        1,
        &[
            "motor.angle",
            "rad off the nominal motion at t = 0.3",
            "lissom run",
            "until then is in results/four-bar-perturb",
        ],
    );
    assert!(
        (answer.stdout).contains("note: motor.angle is up to"),
        "{}",
        answer.stdout
    );
    let manifest = folder.read("results/four-bar-perturb/manifest.json");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["completed"], false);
    let summary = &manifest["summary"];
    assert_eq!(summary["failure"]["coordinate"], "motor.angle");
    let (last, largest) = (&summary["failure"]["time_s"], &summary["largest_angle"]);
    assert!((0.3..0.4).contains(&number(last)), "{summary}");
    assert_eq!(number(last), number(&manifest["stopped_at_s"]));
    assert!((0.5..1.0).contains(&number(&largest["deviation_rad"])));
    assert!(number(&summary["interpolation_error"]["error_m"]) > 0.0);
    // the same rows as of a model that ends before
    let until = format!("simulation.duration_s={}", number(last));
    let shorter = [
        &four_bar[..],
        &["--set", &until, "--json", "--out", "shorter"],
    ]
    .concat();
    let shorter = folder.json(&shorter);
    assert_eq!(shorter["completed"], true);
    assert_eq!(shorter["failure"], serde_json::Value::Null);
    let of = |of: &serde_json::Value| number(&of["channels"]["rocker_tip.position.x"]["final"]);
    // other points to interpolate between
    let stated = number(&summary["interpolation_error"]["error_m"]);
    assert!((of(&shorter) - of(summary)).abs() < stated, "{stated}");
}

/// Second way: a rotating beam whose stretch is a coordinate does not fly apart along its nominal motion. With all of the tension in its
/// stretch it deviates as one that is shortened by its slopes.
#[test]
fn spun_beams_stay_near_their_nominal_motion() {
    // of the largest: one cosine of the tension is 3 % from all
    const APART: f64 = 0.05;
    let folder = Folder::new();
    let bent = |fidelity: &str| {
        let arguments = ["perturb", "spin-up-pinned-beam", "--fidelity", fidelity];
        let told = folder.json(&[&arguments[..], &["--json", "--points", "61"]].concat());
        assert_eq!(told["completed"], true);
        number(&told["channels"]["beam.bending_y_1"]["minimum"]["value"])
    };
    let [stretched, shortened] = ["exact", "default"].map(bent);
    assert!(
        (stretched / shortened - 1.0).abs() < APART,
        "{stretched} {shortened}"
    );
}

/// Second way: booms of 100 kg under a load of 15 t, by eleven points, vibrate as by 641 points whose matrices are interpolated entry by
/// entry. Eleven such points are off by 2.7 mm.
#[test]
fn light_booms_under_a_heavy_load_need_few_points() {
    const ENTRIES_M: f64 = 3.392_57e-3;
    // what 641 points leave
    const CLOSE_M: f64 = 3e-6;
    let folder = Folder::new();
    let arguments = ["perturb", "shuttle-arm-ii", "--points", "11", "--json"];
    let second = ["--set", "simulation.duration_s=1"];
    let told = folder.json(&[&arguments[..], &second].concat());
    let tip = &told["channels"]["upper_tip.deviation.z"];
    assert!((number(&tip["final"]) - ENTRIES_M).abs() < CLOSE_M, "{tip}");
}

/// Matrices of a file at every instant, by rows.
fn series(file: &serde_json::Value, name: &str) -> Vec<Vec<f64>> {
    fn flat(value: &serde_json::Value, into: &mut Vec<f64>) {
        match value.as_array() {
            Some(list) => list.iter().for_each(|value| flat(value, into)),
            None => into.push(number(value)),
        }
    }
    let rows = file[name].as_array().unwrap().iter();
    let numbers = |value| {
        let mut numbers = Vec::new();
        flat(value, &mut numbers);
        numbers
    };
    rows.map(numbers).collect()
}

/// Solves a small system by elimination with pivots.
fn solved(matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let (mut a, mut b) = (matrix.to_vec(), right.to_vec());
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()));
        let pivot = pivot.unwrap();
        for k in 0..n {
            a.swap(column * n + k, pivot * n + k);
        }
        b.swap(column, pivot);
        for row in column + 1..n {
            let factor = a[row * n + column] / a[column * n + column];
            for k in column..n {
                a[row * n + k] -= factor * a[column * n + k];
            }
            b[row] -= factor * b[column];
        }
    }
    for row in (0..n).rev() {
        for k in row + 1..n {
            b[row] -= a[row * n + k] * b[k];
        }
        b[row] /= a[row * n + row];
    }
    b
}

/// A matrix by columns instead of rows.
fn transposed(matrix: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|k| matrix[(k % n) * n + k / n]).collect()
}

/// Solutions for all columns of a matrix, one after another.
fn solved_columns(matrix: &[f64], of: &dyn Fn(usize) -> f64, n: usize) -> Vec<f64> {
    let column = |j: usize| (0..n).map(|i| of(i * n + j)).collect::<Vec<f64>>();
    (0..n).flat_map(|j| solved(matrix, &column(j))).collect()
}

/// The lower factor of a definite matrix.
fn lower_factor(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let left = matrix[i * n + j] - known;
            l[i * n + j] = if i == j {
                left.sqrt()
            } else {
                left / l[j * n + j]
            };
        }
    }
    l
}

/// Second implementation: the time-varying model (26)–(30), rebuilt from the arrays of `linearize` alone and integrated here, is
/// what `perturb` records.
#[test]
fn linearize_exports_all_that_perturb_uses() {
    // the classical Runge–Kutta method here and the tolerance of the integrator there
    const SAME_M: f64 = 1e-6;
    const INTERVALS: usize = 60;
    const STEPS: usize = 50;
    let folder = Folder::new();
    let changes = [
        "rotating-beam",
        "--set",
        "simulation.duration_s=3",
        "--points",
        "61",
    ];
    let call = |verb: &[&str]| folder.lissom(&[verb, &changes[..]].concat());
    call(&[
        "linearize",
        "--about",
        "nominal",
        "--out",
        "beam.json",
        "--quiet",
    ])
    .says(0, &[]);
    call(&["perturb", "--out", "perturbed", "--quiet"]).says(0, &[]);
    let file = folder.read_json("beam.json");
    let [mass, damping, structural, dynamic, geometric] =
        ["M", "C", "K0", "N0", "G0"].map(|name| series(&file, name));
    let [sigma, place, output, second] =
        ["sigma0", "y0", "C_output", "H_output"].map(|name| series(&file, name));
    let n = sigma[0].len();
    // by cubics through four instants, as there
    let mix = |of: &[Vec<f64>], at: usize, share: f64| -> Vec<f64> {
        let first = at.saturating_sub(1).min(INTERVALS - 3);
        let place = at as f64 + share;
        let weight = |i: usize| {
            let others = (first..first + 4).filter(|&j| j != i);
            others.fold(1.0, |product, j| {
                product * (place - j as f64) / (i as f64 - j as f64)
            })
        };
        let sum = |k: usize| (first..first + 4).map(|i| weight(i) * of[i][k]).sum();
        (0..of[0].len()).map(sum).collect()
    };
    // the factor L of M, and what acts over it
    let factor: Vec<Vec<f64>> = mass.iter().map(|mass| lower_factor(mass, n)).collect();
    let over = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let at = |at: usize| transposed(&solved_columns(&factor[at], &|k| of(at, k), n), n);
        (0..=INTERVALS).map(at).collect()
    };
    let velocity = over(&|at, k| damping[at][k]);
    let stiffening = over(&|at, k| dynamic[at][k] + geometric[at][k]);
    let times = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
        let row = |i: usize| (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
        (0..n).map(row).collect()
    };
    let less =
        |a: Vec<f64>, b: Vec<f64>| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let rate = |at: usize, share: f64, x: &[f64]| -> Vec<f64> {
        let [l, c, k, d, s] =
            [&factor, &velocity, &structural, &stiffening, &sigma].map(|of| mix(of, at, share));
        let over = solved(&l, &less(s, times(&k, x)));
        let left = less(less(over, times(&d, x)), times(&c, &x[n..]));
        let acceleration = solved(&transposed(&l, n), &left);
        x[n..].iter().copied().chain(acceleration).collect()
    };
    let mut x: Vec<f64> = file["x_start"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    let step = 3.0 / (INTERVALS * STEPS) as f64;
    let mut tips = Vec::new();
    let marker = file["marker_names"].as_array().unwrap();
    let marker = marker.iter().position(|name| name == "tip").unwrap();
    for at in 0..=INTERVALS {
        let tip: Vec<f64> = (3 * marker..3 * marker + 2)
            .map(|row| {
                let first: f64 = (0..n).map(|i| output[at][row * 2 * n + i] * x[i]).sum();
                let pairs =
                    (0..n * n).map(|ij| second[at][row * n * n + ij] * x[ij / n] * x[ij % n]);
                place[at][row] + first + 0.5 * pairs.sum::<f64>()
            })
            .collect();
        tips.push(tip);
        for part in 0..STEPS {
            let [begin, middle, end] =
                [0.0, 0.5, 1.0].map(|part_of| (part as f64 + part_of) / STEPS as f64);
            let moved = |by: &[f64], way: f64| -> Vec<f64> {
                x.iter()
                    .zip(by)
                    .map(|(x, rate)| x + way * step * rate)
                    .collect()
            };
            let a = rate(at, begin, &x);
            let b = rate(at, middle, &moved(&a, 0.5));
            let c = rate(at, middle, &moved(&b, 0.5));
            let d = rate(at, end, &moved(&c, 1.0));
            x = (0..2 * n)
                .map(|i| x[i] + step / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
                .collect();
        }
    }
    let recorded = String::from_utf8(folder.read("perturbed/recording.csv")).unwrap();
    let recorded: Vec<Vec<&str>> = recorded
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let column = |name: &str| {
        recorded[0]
            .iter()
            .position(|head| head.starts_with(name))
            .unwrap()
    };
    let (x, y) = (column("tip.position.x"), column("tip.position.y"));
    assert_eq!(recorded.len(), INTERVALS + 2);
    for (row, tip) in recorded[1..].iter().zip(&tips) {
        for (found, wanted) in [(&row[x], tip[0]), (&row[y], tip[1])] {
            let found: f64 = found.parse().unwrap();
            assert!(
                (found - wanted).abs() < SAME_M,
                "{}: {found} {wanted}",
                row[0]
            );
        }
    }
}

/// Words and numbers: inputs are what can be driven; passive joints are inputs when asked for.
#[test]
fn inputs_are_what_can_be_driven() {
    let folder = Folder::new();
    let inputs = |more: &[&str]| {
        let file = folder.json(&[&["linearize", "four-bar", "--json"], more].concat());
        (
            file["input_names"].clone(),
            file["B"][0].as_array().unwrap().len(),
        )
    };
    assert_eq!(inputs(&[]), (serde_json::json!(["motor.torque"]), 1));
    let (names, columns) = inputs(&["--inputs", "all"]);
    assert!(
        columns > 1 && names.as_array().unwrap().len() == columns,
        "{names}"
    );
    let last = names[columns - 1].as_str().unwrap();
    assert_eq!(inputs(&["--inputs", last]), (serde_json::json!([last]), 1));
    let wrong = ["linearize", "four-bar", "--inputs", "motr.torque"];
    folder
        .lissom(&wrong)
        .says(2, &["did you mean `motor.torque`"]);
}

/// Numbers: the joints that `simulation.closure` names are the independent ones of the matrices.
#[test]
fn linearize_takes_the_independent_joints_of_the_closure() {
    let folder = Folder::new();
    let states = |joint: &str| {
        let closure = format!("simulation.closure={{joint_space={{independent=[\"{joint}\"]}}}}");
        let file = folder.json(&["linearize", "four-bar", "--json", "--set", &closure]);
        file["coordinate_names"].to_string()
    };
    assert!(states("motor").contains("motor.angle"));
    let other = states("rocker_pivot");
    assert!(
        other.contains("rocker_pivot.angle") && !other.contains("motor.angle"),
        "{other}"
    );
    // by the option too: joint space keeps the driven joints, of which the own choice leaves one out
    let states = |closure: &str| {
        let call = [
            "linearize",
            "cooperating-arms",
            "--json",
            "--closure",
            closure,
        ];
        folder.json(&call)["coordinate_names"].to_string()
    };
    assert!(!states("automatic").contains("motor_3.angle"));
    assert!(states("joint_space").contains("motor_3.angle"));
}

/// Words: what makes no sense is said before anything is computed.
#[test]
fn wrong_usage_is_explained() {
    let folder = Folder::new();
    folder
        .lissom(&["modes", "two-link-arm", "--at", "1"])
        .says(2, &["--about nominal"]);
    folder
        .lissom(&["modes", "two-link-arm", "--about", "nominal", "--at", "99"])
        .says(2, &["outside"]);
    folder
        .lissom(&["modes", "two-link-arm", "--plot", "f.png"])
        .says(2, &["several instants"]);
    folder
        .lissom(&["linearize", "two-link-arm", "--out", "a.txt"])
        .says(2, &[".npz", ".mat", ".json"]);
    // a support moves from element to element, and with it what it makes dependent
    let along = ["sliding-boom", "--about", "run", "--points", "6"];
    let matrices = [&["linearize"], &along[..], &["--out", "a.npz"]].concat();
    folder
        .lissom(&matrices)
        .says(0, &["6 instants", "s the states are"]);
    let few = [
        "linearize",
        "sliding-beam",
        "--about",
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
    let arguments = ["modes", "two-link-arm", "--about", "run", "--points", "36"];
    let set = ["--set", "simulation.duration_s=0.7", "--json"];
    let modes = folder.json(&[&arguments[..], &set].concat());
    let times = modes["time_s"].as_array().unwrap();
    assert!(number(times.last().unwrap()) == 0.7);
}
