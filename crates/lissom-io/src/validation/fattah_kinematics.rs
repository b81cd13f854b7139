//! Direct kinematics of the 3-RRS manipulator of `validation/fattah_1995/direct_kinematics.toml`, position and
//! velocity \[Fattah 1995, section 6.2\].
//!
//! The thesis rotates a link by linear matrices in an order that contradicts its own figure, and its Tables 6.2 and 6.3
//! come out in no other way. So the few lines of its kinematics stand here, apart from the models:
//!
//! | | rotation of the outer link | angular velocity that bending gives it |
//! |---|---|---|
//! | as printed | $`R_i A_i F_i Q_{i+3}`$ with (6.14a) | (6.23) in the frame of the inner link |
//! | consistent | $`R_i F_i A_i Q_{i+3}`$, $`F_i = R_z(\gamma_2) R_y(-\gamma_3)`$ | that of $`F_i`$ |
//!
//! and in both $`\gamma_k = \tan^{-1}`$ of deflection over length (6.14b).

use lissom_spatial::{Matrix, Vector};
use serde::Deserialize;

use super::Row;

const CASES: &str = include_str!("../../../../validation/fattah_1995/direct_kinematics.toml");

/// References are given to five decimals, of a base known to as many: an error of half a unit there moves the platform
/// by no more than a few of them.
const REFERENCE_TOLERANCE: f64 = 2e-5;

/// Orientations are printed with three decimals, but their columns miss unit length by up to 1.2e-3.
const ORIENTATION_TOLERANCE: f64 = 1.2e-3;

/// Newton's method has converged when the sides of the platform are this exact, in square metres; it doubles its
/// digits with every step, so a dozen steps are plenty.
const CLOSED_M2: f64 = 1e-12;
const MOST_STEPS: usize = 30;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    source: Source,
    geometry: Geometry,
    state: State,
    variant: Vec<Variant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Geometry {
    base_m: [[f64; 3]; 3],
    base_angle_rad: [f64; 3],
    length_m: [f64; 3],
    twist_deg: f64,
    platform_m: Platform,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Platform {
    o7_o8: f64,
    o7_o9: f64,
    o8_o9: f64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    angle_rad: [f64; 3],
    rate_rad_per_s: [f64; 3],
    deflection_m: [f64; 2],
    deflection_rate_m_per_s: [f64; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    name: String,
    kinematics: Kinematics,
    printed: Option<Numbers>,
    reference: Numbers,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kinematics {
    Rigid,
    AsPrinted,
    Consistent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    center_m: [f64; 3],
    velocity_m_per_s: [f64; 3],
    angular_velocity_rad_per_s: [f64; 3],
    orientation: Option<[[f64; 3]; 3]>,
    elbow_rad: Option<[f64; 3]>,
}

/// What the platform does.
struct Motion {
    center: Vector<f64>,
    velocity: Vector<f64>,
    angular_velocity: Vector<f64>,
    orientation: Matrix<f64>,
    elbow: [f64; 3],
}

pub(super) fn rows() -> Vec<Row> {
    let file: File = toml::from_str(CASES).expect("a test parses direct_kinematics.toml");
    let mut rows = Vec::new();
    for variant in &file.variant {
        let motion = direct_kinematics(&file, variant.kinematics);
        rows.extend(variant_rows(&file.source.key, variant, motion.as_ref()));
    }
    rows
}

fn variant_rows(source: &str, variant: &Variant, motion: Option<&Motion>) -> Vec<Row> {
    let reference = &variant.reference;
    let printed = variant.printed.as_ref();
    let mut rows = Vec::new();
    let mut row = |what: String, printed: Option<f64>, reference: Option<f64>, computed| {
        let (tolerance, remark) = match reference {
            Some(_) => (REFERENCE_TOLERANCE, "base recovered to five decimals"),
            None => (
                ORIENTATION_TOLERANCE,
                "the printed columns miss unit length by up to 1.2e-3",
            ),
        };
        let row = Row {
            case: format!("3-RRS direct kinematics, {}", variant.name),
            source: source.to_owned(),
            quantity: what,
            printed,
            digits: None,
            reference,
            computed,
            tolerance,
            pass: false,
            unmet: false,
            remark: remark.to_owned(),
        };
        rows.push(row.judged());
    };
    type Of<'a> = (&'a str, fn(&Numbers) -> [f64; 3], fn(&Motion) -> [f64; 3]);
    let vectors: [Of<'_>; 3] = [
        ("c [m]", |n| n.center_m, |m| m.center.0),
        ("ċ [m/s]", |n| n.velocity_m_per_s, |m| m.velocity.0),
        (
            "ω [rad/s]",
            |n| n.angular_velocity_rad_per_s,
            |m| m.angular_velocity.0,
        ),
    ];
    for (name, of_numbers, of_motion) in vectors {
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            row(
                format!("{name} {axis}"),
                printed.map(|p| of_numbers(p)[i]),
                Some(of_numbers(reference)[i]),
                motion.map(|m| of_motion(m)[i]),
            );
        }
    }
    for (i, elbow) in reference.elbow_rad.iter().flatten().enumerate() {
        let computed = motion.map(|m| m.elbow[i]);
        row(format!("θ{} [rad]", i + 4), None, Some(*elbow), computed);
    }
    for (i, entries) in printed
        .and_then(|p| p.orientation)
        .iter()
        .flatten()
        .enumerate()
    {
        for (j, &entry) in entries.iter().enumerate() {
            let what = format!("R_C, row {}, column {}", i + 1, j + 1);
            row(
                what,
                Some(entry),
                None,
                motion.map(|m| m.orientation.0[i][j]),
            );
        }
    }
    rows
}

/// The end of a leg, its velocity with the elbow at rest, and its velocity per elbow rate.
struct Leg {
    end: Vector<f64>,
    carried: Vector<f64>,
    per_elbow_rate: Vector<f64>,
}

fn leg(file: &File, kinematics: Kinematics, i: usize, elbow: f64) -> Leg {
    let length = file.geometry.length_m[i];
    let ([v, w], [v_rate, w_rate]) = match kinematics {
        Kinematics::Rigid => ([0.0; 2], [0.0; 2]),
        _ => (file.state.deflection_m, file.state.deflection_rate_m_per_s),
    };
    let gamma = [(v / length).atan(), (w / length).atan()];
    let twist = about(0, file.geometry.twist_deg.to_radians());
    let inner = about(1, file.geometry.base_angle_rad[i]) * about(2, file.state.angle_rad[i]);
    let (bent, bending_rate) = match kinematics {
        Kinematics::AsPrinted => {
            let [y, z] = gamma;
            let linear = Matrix([[1.0, -y, z], [y, 1.0, 0.0], [-z, 0.0, 1.0]]);
            let rate = Vector([0.0, -w_rate / length, v_rate / length]);
            (twist * linear, rate)
        }
        Kinematics::Rigid | Kinematics::Consistent => {
            let first = about(2, gamma[0]);
            let rate = |x: f64, rate: f64| rate / length / (1.0 + (x / length).powi(2));
            let about_y = first * Vector([0.0, 1.0, 0.0]);
            let angular = Vector([0.0, 0.0, rate(v, v_rate)]) - about_y.scale(rate(w, w_rate));
            (first * about(1, -gamma[1]) * twist, angular)
        }
    };
    let outer = inner * bent * about(2, elbow);
    let axis = |rotation: &Matrix<f64>| *rotation * Vector([0.0, 0.0, 1.0]);
    let along = Vector([length, v, w]);
    let bends = Vector([0.0, v_rate, w_rate]);
    let inner_rate = axis(&inner).scale(file.state.rate_rad_per_s[i]);
    let outer_rate = inner_rate + inner * bending_rate;
    let (to_elbow, to_end) = (inner * along, outer * along);
    Leg {
        end: Vector(file.geometry.base_m[i]) + to_elbow + to_end,
        carried: inner_rate.cross(to_elbow)
            + inner * bends
            + outer_rate.cross(to_end)
            + outer * bends,
        per_elbow_rate: axis(&outer).cross(to_end),
    }
}

/// Elbows that give the platform its sides by Newton's method, (6.15), then rates by (6.24).
fn direct_kinematics(file: &File, kinematics: Kinematics) -> Option<Motion> {
    let sides = &file.geometry.platform_m;
    let sides = [
        (0, 1, sides.o7_o8),
        (0, 2, sides.o7_o9),
        (1, 2, sides.o8_o9),
    ];
    // near the branch that the tables are on
    let mut elbow = [-1.0, 0.1, 1.2];
    for _ in 0..MOST_STEPS {
        let legs: [Leg; 3] = std::array::from_fn(|i| leg(file, kinematics, i, elbow[i]));
        // half the rate of the square of each side per elbow rate
        let mut jacobian = [[0.0; 3]; 3];
        let mut open = [0.0; 3];
        let mut carried = [0.0; 3];
        for (row, &(i, j, side)) in sides.iter().enumerate() {
            let apart = legs[i].end - legs[j].end;
            jacobian[row][i] = apart.dot(legs[i].per_elbow_rate);
            jacobian[row][j] = -apart.dot(legs[j].per_elbow_rate);
            open[row] = 0.5 * (apart.dot(apart) - side * side);
            carried[row] = apart.dot(legs[i].carried - legs[j].carried);
        }
        if open.iter().all(|x| x.abs() < CLOSED_M2) {
            let rate = solve(jacobian, carried.map(|x| -x));
            return Some(platform(&legs, rate, elbow));
        }
        let step = solve(jacobian, open);
        for (elbow, step) in elbow.iter_mut().zip(step) {
            *elbow -= step;
        }
    }
    None
}

/// Pose and twist of the platform from its corners, (6.17)–(6.19) and (6.25)–(6.29).
fn platform(legs: &[Leg; 3], elbow_rate: [f64; 3], elbow: [f64; 3]) -> Motion {
    let ends: [Vector<f64>; 3] = std::array::from_fn(|i| legs[i].end);
    let rates: [Vector<f64>; 3] =
        std::array::from_fn(|i| legs[i].carried + legs[i].per_elbow_rate.scale(elbow_rate[i]));
    let mean = |x: &[Vector<f64>; 3]| (x[0] + x[1] + x[2]).scale(1.0 / 3.0);
    let (center, velocity) = (mean(&ends), mean(&rates));
    // vect(Ṗ) = ½(tr P − P) ω
    let column = |x: &[Vector<f64>; 3], about: Vector<f64>| {
        Matrix(std::array::from_fn(|i| {
            std::array::from_fn(|j| x[j][i] - about[i])
        }))
    };
    let (p, p_rate) = (column(&ends, center), column(&rates, velocity));
    let half_vector = Vector([
        p_rate.0[2][1] - p_rate.0[1][2],
        p_rate.0[0][2] - p_rate.0[2][0],
        p_rate.0[1][0] - p_rate.0[0][1],
    ]);
    let matrix = Matrix::diagonal(p.trace()) - p;
    let unit = |x: Vector<f64>| x.scale(1.0 / x.dot(x).sqrt());
    let x = unit(ends[2] - ends[0]);
    let z = unit(x.cross(ends[1] - ends[0]));
    let y = z.cross(x);
    Motion {
        center,
        velocity,
        angular_velocity: Vector(solve(matrix.0, half_vector.0)),
        orientation: Matrix(std::array::from_fn(|i| [x[i], y[i], z[i]])),
        elbow,
    }
}

/// Rotation about a coordinate axis.
fn about(axis: usize, angle: f64) -> Matrix<f64> {
    let (sin, cos) = angle.sin_cos();
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut rotation = Matrix::identity();
    rotation.0[i][i] = cos;
    rotation.0[j][j] = cos;
    rotation.0[i][j] = -sin;
    rotation.0[j][i] = sin;
    rotation
}

/// Cramer's rule.
fn solve(matrix: [[f64; 3]; 3], right: [f64; 3]) -> [f64; 3] {
    let columns: [Vector<f64>; 3] =
        std::array::from_fn(|j| Vector(std::array::from_fn(|i| matrix[i][j])));
    let [a, b, c] = columns;
    let right = Vector(right);
    let determinant = a.dot(b.cross(c));
    [
        right.dot(b.cross(c)) / determinant,
        a.dot(right.cross(c)) / determinant,
        a.dot(b.cross(right)) / determinant,
    ]
}
