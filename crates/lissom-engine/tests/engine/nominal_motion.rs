//! Feed-forward along nominal motions: of loops, and given at a marker.

use std::fmt::Write as _;

use lissom_core::{Nominal as _, NominalDrives, NominalError};
use lissom_engine::model::Model;
use lissom_numerics::integrate::Flow;
use lissom_spatial::{Matrix, Vector, rotation_vector_of};
use lissom_spec::ModelSpec;
use lissom_spec::spec::SimulationSpec;
use lissom_tree::ClosureKind;

use crate::models::{built, closure, hinge};
use crate::runs::{completed, of_model};

/// One digit less than the references print with seven.
const SEVEN_DIGITS: f64 = 1e-6;

/// What the drives of a model do at an instant.
fn nominal_drives(model: &Model, time_s: f64) -> Result<NominalDrives, NominalError> {
    let found = model.nominal_drives(&[time_s], &mut |_| Flow::Continue)?;
    Ok(found.into_iter().next().unwrap())
}

/// A bar of the mechanisms of Fattah 1995: two Hermite elements, two modes in every plane.
fn link(name: &str, length: f64, mass: f64, spatial: bool) -> String {
    let other = if spatial {
        "bending_stiffness_z_n_m2 = 31.25"
    } else {
        ""
    };
    format!(
        r#"
[[body]]
name = "{name}"
[body.beam]
length_m = {length}
mass_per_length_kg_per_m = {:e}
bending_stiffness_y_n_m2 = 7.815
{other}
basis.elements = {{ count = 2, modes = 2 }}
"#,
        mass / length
    )
}

/// Joins the places of two markers.
fn close(model: &mut Model, kind: ClosureKind, from: &str, to: &str) {
    let name = format!("closure_{}", model.linkage.closures.len() + 1);
    let joined = closure(model, &name, kind, from, to);
    model.linkage.closures.push(joined);
}

fn efforts(model: &Model, time: f64) -> Vec<f64> {
    let drives = nominal_drives(model, time).unwrap();
    drives.efforts.iter().map(|(_, effort)| *effort).collect()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} {expected:?}");
    }
}

const Z: ClosureKind = ClosureKind::Revolute {
    axis: Vector([0.0, 0.0, 1.0]),
};

/// Two arms that carry a rod (Fattah 1995, Table 4.1), with motors at the joints of that number.
fn cooperating_arms(motors: &[usize], nominal: &str) -> Model {
    let absolute = [2.639_248_4, 0.502_344_2, 0.771_163_0, 2.370_429_7];
    let mut text = "format = 1\n".to_owned();
    for (name, length, mass) in [
        ("link_1", 0.45, 0.0623),
        ("link_2", 0.45, 0.0623),
        ("link_3", 0.55, 0.0761),
        ("link_4", 0.55, 0.0761),
    ] {
        text += &link(name, length, mass, false);
    }
    text += r#"
[[body]]
name = "object"
rigid = { mass_kg = 0.665, inertia_kg_m2 = [1e-6, 0.00886667, 0.00886667] }
"#;
    text += &hinge("joint_1", "\"ground\"", "\"link_1\"", absolute[0]);
    let second = r#"{ body = "ground", position_m = [0.4, 0, 0] }"#;
    text += &hinge("joint_2", second, "\"link_2\"", absolute[1]);
    let angle = absolute[2] - absolute[0];
    text += &hinge("joint_3", "\"link_1\"", "\"link_3\"", angle);
    let angle = absolute[3] - absolute[1];
    text += &hinge("joint_4", "\"link_2\"", "\"link_4\"", angle);
    let held = r#"{ body = "object", position_m = [-0.2, 0, 0] }"#;
    text += &hinge("joint_5", "\"link_3\"", held, -absolute[2]);
    text += r#"
[[marker]]
name = "center"
body = "object"
[[marker]]
name = "right"
body = "object"
position_m = [0.2, 0, 0]
[[marker]]
name = "tip_1"
body = "link_1"
[[marker]]
name = "tip_3"
body = "link_3"
[[marker]]
name = "tip_4"
body = "link_4"
"#;
    for motor in motors {
        let _ = write!(
            text,
            "[[input]]\njoint = \"joint_{motor}\"\nnominal_motion = true\n"
        );
    }
    text += nominal;
    let mut model = built(&text);
    close(&mut model, Z, "right", "tip_4");
    model
}

const CARRIED: &str = r#"
[nominal_motion]
marker = "center"
x.cycloid = { initial_displacement_m = 0.2, final_displacement_m = 0.7, duration_s = 0.5 }
y.polynomial = { coefficients_m = [0.6] }
rotation.cycloid = { initial_angle_rad = 0.0, final_angle_rad = 0.5235987755982988, duration_s = 0.5 }
"#;

/// Second implementation: torques of the cooperating arms, to the digits given.
#[test]
fn cooperating_arms_carry_their_rod() {
    let model = cooperating_arms(&[1, 2, 3], CARRIED);
    let at = |time| efforts(&model, time);
    let early = [-5.436_844_5, -0.039_371_7, -3.267_774_9];
    assert_near(&at(0.1), &early, SEVEN_DIGITS);
    let late = [2.602_037_2, 0.468_050_0, 0.142_410_2];
    assert_near(&at(0.3), &late, SEVEN_DIGITS);
}

/// Second implementation: the flexible arms under these torques, with chords for tips and without shortening, to the
/// digits given; the loop stays closed and the energy balanced.
#[test]
fn flexible_arms_follow_the_feed_forward() {
    // half a unit of the last digit, and as much for the integration of the reference
    const DIGITS: f64 = 1e-7;
    let fidelity = "[fidelity]\nshortening = \"none\"\ntip = \"chord\"\n";
    let model = cooperating_arms(&[1, 2, 3], &format!("{CARRIED}{fidelity}"));
    let simulation = "duration_s = 0.3\nintegrator.dop853 = { rtol = 1e-10, atol = 1e-12 }";
    let simulation: SimulationSpec = toml::from_str(simulation).unwrap();
    let samples = [0.0, 0.1, 0.3];
    let run = completed(of_model(&model, &simulation, &samples));
    let channels = [
        "center.position.x",
        "center.position.y",
        "tip_1.deflection.y",
        "tip_3.deflection.y",
        "tip_4.deflection.y",
    ];
    for (sample, expected) in [
        (
            1,
            [
                0.224_133_7,
                0.600_083_3,
                0.050_476_0,
                0.039_480_3,
                -0.000_773_3,
            ],
        ),
        (
            2,
            [
                0.546_918_7,
                0.599_135_2,
                -0.022_149_7,
                -0.000_859_0,
                -0.000_346_0,
            ],
        ),
    ] {
        let found = channels.map(|name| run.recording.channel(name).unwrap().samples[sample]);
        assert_near(&found, &expected, DIGITS);
    }
    assert!(run.audit.energy.max_drift_percent < 1e-6, "{:?}", run.audit);
}

/// Property: of all torques of four motors that move three degrees of freedom alike, the ones taken do the same power on
/// every motion of the mechanism as three motors do, and have the smallest norm.
#[test]
fn redundant_drives_share_the_work() {
    // a few hundred products
    const ROUNDING: f64 = 1e-9;
    let three = cooperating_arms(&[1, 2, 3], CARRIED);
    let four = cooperating_arms(&[1, 2, 3, 4], CARRIED);
    let drives = nominal_drives(&four, 0.1).unwrap();
    assert_eq!((drives.degrees_of_freedom, drives.redundant()), (3, 1));
    let shared: Vec<f64> = drives.efforts.iter().map(|(_, effort)| *effort).collect();
    let alone = efforts(&three, 0.1);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    assert!(norm(&shared) < norm(&alone) - 0.1, "{shared:?} {alone:?}");
    // what is left between them is a torque of four motors that moves nothing; the shortest has none of it
    let idle: Vec<f64> = (0..4)
        .map(|i| shared[i] - alone.get(i).copied().unwrap_or(0.0))
        .collect();
    let along: f64 = idle.iter().zip(&shared).map(|(a, b)| a * b).sum();
    assert!(along.abs() < ROUNDING * norm(&idle), "{along}");
}

#[test]
fn drives_that_reach_too_little_are_refused() {
    let model = cooperating_arms(&[1, 2], CARRIED);
    let error = nominal_drives(&model, 0.1).unwrap_err();
    let expected = NominalError::UnderActuated {
        drives: 2,
        driven: 2,
        freedom: 3,
    };
    assert_eq!(error, expected);
    let two = CARRIED.lines().filter(|line| !line.starts_with("rotation"));
    let two = two.collect::<Vec<_>>().join("\n");
    let model = cooperating_arms(&[1, 2, 3], &two);
    let error = nominal_drives(&model, 0.1).unwrap_err();
    assert_eq!(error, NominalError::Undetermined { left: 1 });
    let far = CARRIED.replace("final_displacement_m = 0.7", "final_displacement_m = 2.7");
    let model = cooperating_arms(&[1, 2, 3], &far);
    let error = nominal_drives(&model, 0.45).unwrap_err();
    assert!(matches!(error, NominalError::Unreachable { .. }), "{error}");
}

/// Angles of two links that reach `to` with the elbow to the side of `sign`.
fn two_links(to: [f64; 2], lengths: [f64; 2], sign: f64) -> [f64; 2] {
    let [a, b] = lengths;
    let square = to[0] * to[0] + to[1] * to[1];
    let bend = sign * ((square - a * a - b * b) / (2.0 * a * b)).acos();
    let first = to[1].atan2(to[0]) - (b * bend.sin()).atan2(a + b * bend.cos());
    [first, bend]
}

/// Second implementation: torques of the planar 3-RRR (Fattah 1995, Table 5.1), to the digits given.
#[test]
fn three_legs_carry_their_platform() {
    const FOUR_DIGITS: f64 = 5.1e-5;
    let side = 0.4;
    let corners = [
        [-side / 2.0, -side * 3.0_f64.sqrt() / 6.0],
        [side / 2.0, -side * 3.0_f64.sqrt() / 6.0],
        [0.0, side / 3.0_f64.sqrt()],
    ];
    let base = [[0.0, 0.0], [0.6, 0.0], [0.3, 0.519_615_242_270_663_2]];
    let mut text = "format = 1\n".to_owned();
    for i in 0..3 {
        text += &link(&format!("inner_{i}"), 0.45, 0.0623, false);
        text += &link(&format!("outer_{i}"), 0.55, 0.0761, false);
    }
    let _ = write!(
        text,
        "[[body]]\nname = \"platform\"\nrigid = {{ mass_kg = 0.0959, inertia_kg_m2 = [{0:e}, {0:e}, {1:e}] }}\n",
        0.0959 * side * side / 24.0,
        0.0959 * side * side / 12.0
    );
    let mut turned = 0.0;
    for i in 0..3 {
        let to = [
            0.2 + corners[i][0] - base[i][0],
            0.7 + corners[i][1] - base[i][1],
        ];
        let sign = if i == 0 { 1.0 } else { -1.0 };
        let [first, bend] = two_links(to, [0.45, 0.55], sign);
        if i == 0 {
            turned = first + bend;
        }
        let ground = format!(
            "{{ body = \"ground\", position_m = [{}, {}, 0] }}",
            base[i][0], base[i][1]
        );
        let (inner, outer) = (format!("\"inner_{i}\""), format!("\"outer_{i}\""));
        text += &hinge(&format!("motor_{i}"), &ground, &inner, first);
        text += &hinge(&format!("elbow_{i}"), &inner, &outer, bend);
        let _ = write!(
            text,
            "[[marker]]\nname = \"tip_{i}\"\nbody = {outer}\n\
             [[marker]]\nname = \"corner_{i}\"\nbody = \"platform\"\nposition_m = [{}, {}, 0]\n\
             [[input]]\njoint = \"motor_{i}\"\nnominal_motion = true\n",
            corners[i][0], corners[i][1]
        );
    }
    let corner = format!(
        "{{ body = \"platform\", position_m = [{}, {}, 0] }}",
        corners[0][0], corners[0][1]
    );
    text += &hinge("wrist_0", "\"outer_0\"", &corner, -turned);
    text += r#"
[[marker]]
name = "center"
body = "platform"
[nominal_motion]
marker = "center"
x.cycloid = { final_displacement_m = 0.7, duration_s = 0.25 }
y.polynomial = { coefficients_m = [0.7] }
rotation.polynomial = { coefficients_rad = [0.0] }
"#;
    let mut model = built(&text);
    close(&mut model, Z, "corner_1", "tip_1");
    close(&mut model, Z, "corner_2", "tip_2");
    let found = efforts(&model, 0.05);
    assert_near(&found, &[-3.2559, -0.4926, -3.2987], FOUR_DIGITS);
}

/// Rotation about a coordinate axis.
fn about(axis: usize, angle: f64) -> Matrix<f64> {
    let mut vector = Vector([0.0; 3]);
    vector[axis] = angle;
    lissom_spatial::RotationVector::new(vector).matrix()
}

/// Second implementation: torques of the spatial 3-RRS (Fattah 1995, chapter 6) moved at its motors, to the digits
/// given; their elbows and the orientation of the platform follow.
#[test]
fn a_spatial_platform_follows_its_motors() {
    // six decimals of a base known to five, which moves the torques by some units of their fifth
    const DIGITS: f64 = 2e-5;
    let base = [
        [1.5636, 0.0, -1.82369],
        [1.73651, 0.0, 3.03229],
        [-3.19075, 0.0, -0.28951],
    ];
    let base_angle = [1.15786, -1.35027, -2.63061];
    let lengths = [2.109, 2.470, 2.700];
    let masses = [0.292, 0.342, 0.373];
    let start = [1.872, 2.340, 2.987];
    let target = [2.570, 2.776, 1.940];
    let elbow = [1.342_621, 0.257_307, -0.518_544];
    let twist = 25.0_f64.to_radians();
    let height = 1.75_f64.sqrt();
    let corners = [[0.0, 0.0], [1.5, height], [3.0, 0.0]].map(|[x, y]| [x - 1.5, y - height / 3.0]);
    let mut text = "format = 1\n".to_owned();
    let mut ends = [Vector([0.0; 3]); 3];
    let mut outer_axes = Matrix::identity();
    for i in 0..3 {
        text += &link(&format!("inner_{i}"), lengths[i], masses[i], true);
        text += &link(&format!("outer_{i}"), lengths[i], masses[i], true);
        let inner = about(1, base_angle[i]) * about(2, start[i]);
        let outer = inner * about(0, twist) * about(2, elbow[i]);
        let along = Vector([lengths[i], 0.0, 0.0]);
        ends[i] = Vector(base[i]) + inner * along + outer * along;
        if i == 0 {
            outer_axes = outer;
        }
    }
    text += "[[body]]\nname = \"platform\"\n\
             rigid = { mass_kg = 2.748, inertia_kg_m2 = [0.2671667, 1.0305, 1.2976667] }\n";
    for i in 0..3 {
        let ground = format!(
            "{{ body = \"ground\", position_m = {:?}, rotation_vector_rad = [0, {}, 0] }}",
            base[i], base_angle[i]
        );
        let inner = format!("\"inner_{i}\"");
        let bent = format!("{{ body = {inner}, rotation_vector_rad = [{twist:.16}, 0, 0] }}");
        let outer = format!("\"outer_{i}\"");
        text += &hinge(&format!("motor_{i}"), &ground, &inner, start[i]);
        text += &hinge(&format!("elbow_{i}"), &bent, &outer, elbow[i]);
        // (t − (t_f/π) sin(πt/t_f))/(9 t_f) is 2/9 of a cycloid over twice the time
        let _ = write!(
            text,
            "[[marker]]\nname = \"tip_{i}\"\nbody = {outer}\n\
             [[marker]]\nname = \"corner_{i}\"\nbody = \"platform\"\nposition_m = [{}, {}, 0]\n\
             [[input]]\njoint = \"motor_{i}\"\n\
             rigid_inverse_dynamics.cycloid = {{ final_angle_rad = {:.16}, duration_s = 10.0 }}\n",
            corners[i][0],
            corners[i][1],
            start[i] + (target[i] - start[i]) * 2.0 / 9.0
        );
    }
    let unit = |x: Vector<f64>| x.scale(1.0 / x.dot(x).sqrt());
    let x = unit(ends[2] - ends[0]);
    let z = unit(x.cross(ends[1] - ends[0]));
    let y = z.cross(x);
    let platform = Matrix(std::array::from_fn(|i| [x[i], y[i], z[i]]));
    let turned = rotation_vector_of(&(outer_axes.transpose() * platform)).0;
    let _ = write!(
        text,
        "[[joint]]\nname = \"ball_0\"\nparent = \"outer_0\"\n\
         child = {{ body = \"platform\", position_m = [{}, {}, 0] }}\n\
         spherical = {{ initial_rotation_vector_rad = {turned:?} }}\n",
        corners[0][0], corners[0][1]
    );
    let mut model = built(&text);
    close(&mut model, ClosureKind::Spherical, "corner_1", "tip_1");
    close(&mut model, ClosureKind::Spherical, "corner_2", "tip_2");
    let found = efforts(&model, 2.0);
    assert_near(&found, &[0.720_794, 0.215_400, -0.650_830], DIGITS);
}

/// What is wrong with a nominal motion is said where it stands.
#[test]
fn mistakes_are_found() {
    let text = "format = 1\n[[body]]\nname = \"link\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1, 1, 1] }\n\
                [[joint]]\nname = \"hinge\"\nparent = \"ground\"\nchild = \"link\"\nprismatic.axis = [1, 0, 0]\n\
                [[marker]]\nname = \"hand\"\nbody = \"link\"\n\
                [nominal_motion]\nmarker = \"hand\"\nx.constant_rate.rate_m_per_s = 1.0\n\
                [[input]]\njoint = \"hinge\"\nnominal_motion = true\n";
    let paths = |from: &str, to: &str| -> Vec<String> {
        assert!(text.contains(from));
        let errors = ModelSpec::parse(&text.replace(from, to), &[]).err();
        errors
            .iter()
            .flatten()
            .map(|error| error.path.to_string())
            .collect()
    };
    assert_eq!(paths("rigid", "rigid"), [""; 0]);
    assert_eq!(
        paths("marker = \"hand\"", "marker = \"foot\""),
        ["nominal_motion.marker"]
    );
    let axis = "x.constant_rate.rate_m_per_s = 1.0\nrotation_axis = [1, 0, 0]";
    let rate = "x.constant_rate.rate_m_per_s = 1.0";
    assert_eq!(paths(rate, axis), ["nominal_motion.rotation_axis"]);
    assert_eq!(paths(rate, ""), ["nominal_motion"]);
    let wrong = "x.constant_rate.rate_rad_per_s = 1.0";
    assert_eq!(
        paths(rate, wrong),
        ["nominal_motion.x.constant_rate.rate_rad_per_s"]
    );
    let torque = "force_constant.value_n = 1.0";
    assert_eq!(
        paths("nominal_motion = true", torque),
        ["nominal_motion.marker"]
    );
    let section = "[nominal_motion]\nmarker = \"hand\"\nx.constant_rate.rate_m_per_s = 1.0\n";
    assert_eq!(paths(section, ""), ["input[0].nominal_motion"]);
}

/// A planar arm of two links, driven along a motion of its hand or of its joints.
fn arm(drives: &str) -> Model {
    built(&format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
{}{}{}{}
[[marker]]
name = "hand"
body = "forearm"
{drives}
"#,
        link("upper", 0.6, 0.4, false),
        link("forearm", 0.5, 0.3, false),
        hinge("shoulder", "\"ground\"", "\"upper\"", 0.3),
        hinge("elbow", "\"upper\"", "\"forearm\"", 0.9),
    ))
}

/// Identity: a hand that moves as nominal motions of the joints move it takes the same torques; the joints here turn at
/// constant rates, and the hand's motion is tabled finely.
#[test]
fn a_tracked_hand_moves_as_by_its_joints() {
    // a spline through 4001 rows of functions whose fourth derivatives are below 10: second derivatives to
    // 10 (0.5 ms)²/12, times an inertia below 1
    const SPLINE: f64 = 1e-6;
    let by_joints = arm(
        "[[input]]\njoint = \"shoulder\"\nrigid_inverse_dynamics.constant_rate.rate_rad_per_s = 0.7\n\
         [[input]]\njoint = \"elbow\"\nrigid_inverse_dynamics.constant_rate.rate_rad_per_s = -0.4\n",
    );
    let rows = 4001;
    let times: Vec<f64> = (0..rows).map(|i| -0.5 + f64::from(i) * 5e-4).collect();
    let hand = |t: f64| {
        let (first, second) = (0.3 + 0.7 * t, 1.2 + 0.3 * t);
        [
            0.6 * first.cos() + 0.5 * second.cos(),
            0.6 * first.sin() + 0.5 * second.sin(),
        ]
    };
    let column = |axis: usize| times.iter().map(|&t| hand(t)[axis]).collect::<Vec<_>>();
    let by_hand = arm(&format!(
        "[nominal_motion]\nmarker = \"hand\"\n\
         x.table = {{ time_s = {times:?}, displacement_m = {:?} }}\n\
         y.table = {{ time_s = {times:?}, displacement_m = {:?} }}\n\
         [[input]]\njoint = \"shoulder\"\nnominal_motion = true\n\
         [[input]]\njoint = \"elbow\"\nnominal_motion = true\n",
        column(0),
        column(1)
    ));
    for time in [0.1, 0.5, 0.9] {
        assert_near(&efforts(&by_hand, time), &efforts(&by_joints, time), SPLINE);
    }
    // the angle of the forearm cannot be chosen as well
    let too_much = arm(
        "[nominal_motion]\nmarker = \"hand\"\nx.polynomial.coefficients_m = [0.8]\n\
         y.polynomial.coefficients_m = [0.6]\nrotation.polynomial.coefficients_rad = [0.1]\n\
         [[input]]\njoint = \"shoulder\"\nnominal_motion = true\n\
         [[input]]\njoint = \"elbow\"\nnominal_motion = true\n",
    );
    let error = nominal_drives(&too_much, 0.0).unwrap_err();
    assert!(matches!(error, NominalError::Unreachable { .. }), "{error}");
}
