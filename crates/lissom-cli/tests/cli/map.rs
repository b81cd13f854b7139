//! `lissom map`: tables, pictures and what cannot be reached; stiffness at one place.

use crate::{Folder, number};

/// Two rigid links of 0.7 and 0.4 m, driven at both joints.
const ARM: &str = r#"
format = 1
[[body]]
name = "upper"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.35, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
node = [{ name = "end", position_m = [0.7, 0.0, 0.0] }]
[[body]]
name = "lower"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
node = [{ name = "end", position_m = [0.4, 0.0, 0.0] }]
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
revolute = { axis = [0.0, 0.0, 1.0] }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "end" }
child = "lower"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0 }
[[input]]
joint = "shoulder"
torque_constant = { value_n_m = 0.0 }
[[input]]
joint = "elbow"
torque_constant = { value_n_m = 0.0 }
[[marker]]
name = "hand"
body = "lower"
at = "end"
"#;

fn rows(folder: &Folder, file: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(folder.read(file)).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = rows[0]
        .iter()
        .position(|head| head == name)
        .unwrap_or_else(|| panic!("{:?}", rows[0]));
    rows[1..]
        .iter()
        .map(|row| row[at].parse().unwrap())
        .collect()
}

/// Closed form: manipulability l1 l2 |sin q2| over joints and over places, by as many threads as one likes.
#[test]
fn grids_of_joints_and_of_places() {
    const ROUNDING: f64 = 1e-9;
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    let joints = [
        "--over",
        "shoulder.angle=-1:1:3",
        "--over",
        "elbow.angle=0.2:2.6:4",
    ];
    let map = [&["map", "arm.toml"], &joints[..]].concat();
    let answer =
        folder.lissom(&[&map[..], &["--out", "joints.csv", "--plot", "joints.svg"]].concat());
    answer.says(0, &["12 of 12 places", "manipulability", "joints.svg"]);
    let found = rows(&folder, "joints.csv");
    let (elbow, product) = (
        column(&found, "elbow.angle [rad]"),
        column(&found, "manipulability"),
    );
    assert_eq!(
        column(&found, "shoulder.angle [rad]")[..3],
        [-1.0, 0.0, 1.0]
    );
    for (angle, product) in elbow.iter().zip(product) {
        assert!(
            (product - 0.28 * angle.sin().abs()).abs() < ROUNDING,
            "{angle} {product}"
        );
    }
    folder
        .lissom(&[&map[..], &["--out", "one.csv", "--threads", "1"]].concat())
        .says(0, &[]);
    assert_eq!(folder.read("joints.csv"), folder.read("one.csv"));
    let places = ["--over", "hand.x=0.5:1.3:3", "--over", "hand.y=0:0.4:2"];
    let answer =
        folder.lissom(&[&["map", "arm.toml", "--out", "places.csv"], &places[..]].concat());
    answer.says(0, &["4 of 6 places", "not everywhere"]);
    let found = rows(&folder, "places.csv");
    let (x, y) = (column(&found, "hand.x [m]"), column(&found, "hand.y [m]"));
    let (there, product) = (
        column(&found, "position.x [m]"),
        column(&found, "manipulability"),
    );
    let mut reached = 0;
    for at in 0..x.len() {
        let square = x[at] * x[at] + y[at] * y[at];
        // law of cosines
        let cosine = (square - 0.49 - 0.16) / 0.56;
        if cosine.abs() > 1.0 {
            assert!(product[at].is_nan(), "{:?}", found[at + 1]);
            continue;
        }
        reached += 1;
        assert!((there[at] - x[at]).abs() < ROUNDING);
        let expected = 0.28 * (1.0 - cosine * cosine).sqrt();
        assert!(
            (product[at] - expected).abs() < 1e-7,
            "{} {expected}",
            product[at]
        );
    }
    assert_eq!(reached, 4);
}

#[test]
fn what_makes_no_map_is_refused() {
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    let elbow = ["--over", "elbow.angle=0.2:2.6:4"];
    let call =
        |more: &[&str]| folder.lissom(&[&["map", "arm.toml", "--out", "map.csv"], more].concat());
    call(&elbow).says(2, &["say --over twice"]);
    call(&[elbow, elbow].concat()).says(2, &["says elbow.angle twice"]);
    call(&[&elbow[..], &["--over", "shoulder.angel=0:1:2"]].concat())
        .says(1, &["did you mean `shoulder.angle`"]);
    call(&[&elbow[..], &["--over", "shoulder.angle=1:0:2"]].concat())
        .says(2, &["values that rise"]);
    call(
        &[
            &elbow[..],
            &["--over", "shoulder.angle=0:1:2", "--marker", "hnad"],
        ]
        .concat(),
    )
    .says(1, &["did you mean `hand`"]);
    call(&["--over", "hand.x=5:6:2", "--over", "hand.y=5:6:2"]).says(1, &["nowhere on the grid"]);
    assert!(!folder.path.join("map.csv").exists());
}

/// Closed form: a beam clamped at a driven joint has 3 EI / L³ across.
#[test]
fn stiffness_at_one_place() {
    let folder = Folder::new();
    let beam = r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 2.0
mass_per_length_kg_per_m = 1.5
bending_stiffness_y_n_m2 = 300.0
basis.elements = { count = 2 }
[[joint]]
name = "hinge"
parent = "ground"
child = "beam"
revolute = { axis = [0.0, 0.0, 1.0] }
[[input]]
joint = "hinge"
torque_constant = { value_n_m = 0.0 }
[[marker]]
name = "tip"
body = "beam"
at = "tip"
"#;
    folder.write("beam.toml", beam);
    let found = folder.json(&["equilibrium", "beam.toml", "--stiffness", "tip", "--json"]);
    let compliance = number(&found["end_effector"]["compliance_m_per_n"][1][1]);
    assert!((compliance * 900.0 / 8.0 - 1.0).abs() < 1e-9, "{found}");
    let least = number(&found["end_effector"]["least_stiffness_n_per_m"]);
    assert!((least * 8.0 / 900.0 - 1.0).abs() < 1e-9, "{found}");
    let answer = folder.lissom(&["equilibrium", "beam.toml", "--stiffness", "tip"]);
    answer.says(0, &["At tip, driven joints held", "112.5"]);
    folder
        .lissom(&["equilibrium", "beam.toml", "--stiffness", "tap"])
        .says(2, &["did you mean `tip`"]);
}
