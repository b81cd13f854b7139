//! Parallel robots with symmetry, as text of models: many of their modes are equal.

use std::f64::consts::TAU;
use std::fmt::Write as _;

type Vector = [f64; 3];

fn add(a: Vector, b: Vector, factor: f64) -> Vector {
    std::array::from_fn(|i| a[i] + factor * b[i])
}

fn cross(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

fn length(a: Vector) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn unit(a: Vector) -> Vector {
    a.map(|x| x / length(a))
}

/// Rotation vector of the frame whose axes are given.
fn rotation(axes: [Vector; 3]) -> Vector {
    let trace: f64 = (0..3).map(|i| axes[i][i]).sum();
    let angle = ((trace - 1.0) / 2.0).clamp(-1.0, 1.0).acos();
    let skew = [
        axes[1][2] - axes[2][1],
        axes[2][0] - axes[0][2],
        axes[0][1] - axes[1][0],
    ];
    if angle == 0.0 {
        return [0.0; 3];
    }
    skew.map(|x| x * angle / (2.0 * angle.sin()))
}

/// A frame whose first axis is given, and whose second is orthogonal to another vector.
fn along(first: Vector, other: Vector) -> [Vector; 3] {
    let first = unit(first);
    let second = unit(cross(other, first));
    [first, second, cross(first, second)]
}

/// Six beams from a ring on the ground to a platform, universal joints below and spherical ones above: nothing moves but by
/// bending of the legs, of pinned ends.
pub(crate) fn hexapod(stiffness: f64, mass_per_length: f64, elements: usize) -> (String, f64) {
    let ring =
        |radius: f64, angle: f64, height: f64| [radius * angle.cos(), radius * angle.sin(), height];
    let mut text = "format = 1\n[[body]]\nname = \"platform\"\n\
                    rigid = { mass_kg = 5.0, inertia_kg_m2 = [0.4, 0.4, 0.8] }\nnode = [\n"
        .to_owned();
    let height = 1.2;
    let corner = |leg: usize| {
        let side = TAU / 3.0 * (leg / 2) as f64;
        side + if leg.is_multiple_of(2) { -0.8 } else { 0.8 }
    };
    let foot = |leg: usize| {
        let side = TAU / 3.0 * (leg / 2) as f64;
        side + if leg.is_multiple_of(2) { -0.2 } else { 0.2 }
    };
    for leg in 0..6 {
        let at = ring(0.6, corner(leg), 0.0);
        writeln!(
            text,
            "  {{ name = \"corner_{leg}\", position_m = {at:?} }},"
        )
        .unwrap();
    }
    text += "]\n";
    let mut longest = 0.0;
    for leg in 0..6 {
        let (from, to) = (ring(1.0, foot(leg), 0.0), ring(0.6, corner(leg), height));
        let direction = add(to, from, -1.0);
        longest = length(direction);
        let axes = along(direction, [0.0, 0.0, 1.0]);
        let turned = rotation(axes);
        let inverse: [Vector; 3] = std::array::from_fn(|i| axes.map(|axis| axis[i]));
        let start = if leg == 0 {
            format!("initial_rotation_vector_rad = {:?}", rotation(inverse))
        } else {
            String::new()
        };
        write!(
            text,
            r#"
[[body]]
name = "leg_{leg}"
[body.beam]
length_m = {longest:?}
mass_per_length_kg_per_m = {mass_per_length:?}
bending_stiffness_y_n_m2 = {stiffness:?}
bending_stiffness_z_n_m2 = {stiffness:?}
basis.elements = {{ count = {elements} }}
[[joint]]
name = "foot_{leg}"
parent = {{ body = "ground", position_m = {from:?}, rotation_vector_rad = {turned:?} }}
child = "leg_{leg}"
universal = {{ first = {{ axis = [0.0, 1.0, 0.0] }}, second = {{ axis = [0.0, 0.0, 1.0] }} }}
[[joint]]
name = "top_{leg}"
parent = "leg_{leg}"
child = {{ body = "platform", at = "corner_{leg}" }}
spherical = {{ {start} }}
"#
        )
        .unwrap();
    }
    text += "[simulation]\nduration_s = 1.0\n";
    (text, longest)
}

/// Three driven arms that bend, each with a parallelogram of two rods, and a platform below: it turns into itself by a third of a turn.
pub(crate) fn delta() -> String {
    const ARM: f64 = 0.4;
    const HALF: f64 = 0.06;
    let mut text = "format = 1\n[[body]]\nname = \"platform\"\n\
                    rigid = { mass_kg = 0.6, inertia_kg_m2 = [0.002, 0.002, 0.004] }\nnode = [\n"
        .to_owned();
    let sides = [0, 1, 2].map(|side| TAU / 3.0 * f64::from(side));
    let radial = |side: f64| [side.cos(), side.sin(), 0.0];
    let tangent = |side: f64| [-side.sin(), side.cos(), 0.0];
    let ends = [("left", -HALF), ("right", HALF)];
    for (i, side) in sides.into_iter().enumerate() {
        for (end, offset) in ends {
            let at = add(radial(side).map(|x| 0.08 * x), tangent(side), offset);
            writeln!(text, "  {{ name = \"{end}_{i}\", position_m = {at:?} }},").unwrap();
        }
    }
    text += "]\n";
    for (i, side) in sides.into_iter().enumerate() {
        let root = radial(side).map(|x| 0.25 * x);
        let (sin, cos) = 0.4_f64.sin_cos();
        let arm = add(radial(side).map(|x| cos * x), [0.0, 0.0, 1.0], -sin);
        let axis = tangent(side);
        let axes = [arm, cross(axis, arm), axis];
        let elbow = add(root, arm, ARM);
        let wrist = add(radial(side).map(|x| 0.08 * x), [0.0, 0.0, 1.0], -0.7);
        let rod = add(wrist, elbow, -1.0);
        let rod_axes = along(rod, axis);
        // the rod's frame in that of the arm
        let dot = |a: Vector, b: Vector| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let inside = rod_axes.map(|rod| axes.map(|own| dot(rod, own)));
        let turned = rotation(inside);
        let upright: [Vector; 3] = std::array::from_fn(|i| rod_axes.map(|axis| axis[i]));
        let upright = rotation(upright);
        write!(
            text,
            r#"
[[body]]
name = "arm_{i}"
[body.beam]
length_m = {ARM:?}
mass_per_length_kg_per_m = 0.5
bending_stiffness_y_n_m2 = 60.0
bending_stiffness_z_n_m2 = 90.0
torsional_stiffness_n_m2 = 40.0
section_inertia_y_kg_m = 5e-5
section_inertia_z_kg_m = 5e-5
basis.clamped_free = {{ bending_y = 2, bending_z = 2, torsion = 1 }}
[[body]]
name = "elbow_{i}"
rigid = {{ mass_kg = 0.05, inertia_kg_m2 = [1e-4, 1e-4, 1e-4] }}
node = [{{ name = "left", position_m = [0.0, 0.0, -{HALF:?}] }}, {{ name = "right", position_m = [0.0, 0.0, {HALF:?}] }}]
[[joint]]
name = "motor_{i}"
parent = {{ body = "ground", position_m = {root:?}, rotation_vector_rad = {:?} }}
child = "arm_{i}"
revolute = {{ axis = [0.0, 0.0, 1.0], held = true }}
[[joint]]
name = "clamp_{i}"
parent = "arm_{i}"
child = "elbow_{i}"
fixed = {{}}
[[input]]
joint = "motor_{i}"
torque_constant = {{ value_n_m = 0.0 }}
"#,
            rotation(axes)
        )
        .unwrap();
        let long = length(rod);
        for (end, _) in ends {
            let carries = i == 0 && end == "left";
            let start = if carries {
                format!("initial_rotation_vector_rad = {upright:?}")
            } else {
                String::new()
            };
            write!(
                text,
                r#"
[[body]]
name = "rod_{end}_{i}"
rigid = {{ mass_kg = 0.08, center_of_mass_m = [{:?}, 0.0, 0.0], inertia_kg_m2 = [1e-5, 3e-3, 3e-3] }}
node = [{{ name = "end", position_m = [{long:?}, 0.0, 0.0] }}]
[[joint]]
name = "pivot_{end}_{i}"
parent = {{ body = "elbow_{i}", at = "{end}", rotation_vector_rad = {turned:?} }}
child = "rod_{end}_{i}"
universal = {{ first = {{ axis = [0.0, 1.0, 0.0] }}, second = {{ axis = [0.0, 0.0, 1.0] }} }}
[[joint]]
name = "ball_{end}_{i}"
parent = {{ body = "rod_{end}_{i}", at = "end" }}
child = {{ body = "platform", at = "{end}_{i}" }}
spherical = {{ {start} }}
"#,
                long / 2.0
            )
            .unwrap();
        }
    }
    text += "[simulation]\nduration_s = 1.0\n";
    text
}
