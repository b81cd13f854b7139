//! Stiffness, manipulability and frequency at a marker against closed forms.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use lissom::evaluate::{EndEffector, end_effector};
use lissom_core::{State, study::AnalysisError};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_spec::ModelSpec;

/// What rounding leaves of a stiffness of a few modes.
const ROUNDING: f64 = 1e-9;

fn mechanism(text: &str) -> Mechanism {
    Mechanism::build(&ModelSpec::parse(text, &[]).unwrap()).unwrap()
}

fn at(mechanism: &Mechanism, given: &[(&str, f64)]) -> Result<EndEffector, AnalysisError> {
    let given: BTreeMap<String, f64> = given
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let state: State = mechanism.state(0.0, &given).unwrap();
    let found = end_effector(mechanism, &state, "tip", &mut |_| Flow::Continue)?;
    Ok(found.unwrap())
}

#[track_caller]
fn close(found: f64, expected: f64, size: f64) {
    assert!(
        (found - expected).abs() <= ROUNDING * size,
        "{found} {expected}"
    );
}

/// Two rigid links of different lengths, driven at both joints.
const TWO_LINKS: &str = r#"
format = 1
[[body]]
name = "upper"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
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
revolute = { axis = [0.0, 0.0, 1.0] }
[[input]]
joint = "shoulder"
torque_constant = { value_n_m = 0.0 }
[[input]]
joint = "elbow"
torque_constant = { value_n_m = 0.0 }
[[marker]]
name = "tip"
body = "lower"
at = "end"
"#;

/// Closed form: the manipulability of two links in a plane is l1 l2 |sin q2| [Yoshikawa 1985]; stretched out, they are singular.
#[test]
fn manipulability_of_two_links() {
    let arm = mechanism(TWO_LINKS);
    for elbow in [-2.0, -0.3, 0.0, 1.1, 2.9] {
        let found = at(&arm, &[("shoulder.angle", 0.8), ("elbow.angle", elbow)]).unwrap();
        let values = found.singular_values(&[0, 1]);
        close(
            values.iter().product(),
            0.7 * 0.4 * f64::sin(elbow).abs(),
            1.0,
        );
        assert_eq!(found.driven, ["shoulder.angle", "elbow.angle"]);
        assert!(found.frequency_rad_per_s.is_none());
        // nothing gives way
        assert_eq!(found.compliance_m_per_n, Ok([[0.0; 3]; 3]));
        assert_eq!(found.least_stiffness_n_per_m(), Some(f64::INFINITY));
    }
}

/// Closed form: what motors move through elastic gears is what they move through rigid ones; the tip gives way by what the gears do, J diag(1/k) Jᵀ.
#[test]
fn motors_behind_elastic_gears_move_their_joints() {
    let gear = |stiffness: f64| {
        format!(
            "revolute = {{ axis = [0.0, 0.0, 1.0], motor = {{ inertia_kg_m2 = 1e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = {stiffness:?} }} }}"
        )
    };
    let rigid = "revolute = { axis = [0.0, 0.0, 1.0] }";
    let geared = TWO_LINKS.replacen(rigid, &gear(900.0), 1);
    let geared = mechanism(&geared.replacen(rigid, &gear(400.0), 1));
    for elbow in [-2.0, -0.3, 1.1] {
        let angles = [("shoulder.angle", 0.8), ("elbow.angle", elbow)];
        let rigid = at(&mechanism(TWO_LINKS), &angles).unwrap();
        let found = at(&geared, &angles).unwrap();
        let compliance = found.compliance_m_per_n.unwrap();
        for i in 0..3 {
            close(found.position_m[i], rigid.position_m[i], 1.0);
            for column in 0..2 {
                close(found.jacobian[column][i], rigid.jacobian[column][i], 1.0);
            }
            for j in 0..3 {
                let gives = |column: usize, k: f64| {
                    rigid.jacobian[column][i] * rigid.jacobian[column][j] / k
                };
                close(compliance[i][j], gives(0, 900.0) + gives(1, 400.0), 1e-3);
            }
        }
    }
}

/// A link of 1 kg at 0.5 m, upright on a spring of 4 N m/rad, which holds less than its weight; and the same held by 6 N m/rad.
const UPRIGHT: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "link"
[body.rigid]
mass_kg = 1.0
center_of_mass_m = [0.0, 0.5, 0.0]
inertia_kg_m2 = [0.01, 0.01, 0.01]
[[body.node]]
name = "end"
position_m = [0.0, 1.0, 0.0]
[[joint]]
name = "hinge"
parent = "ground"
child = "link"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
spring = { stiffness_n_m_per_rad = 4.0 }
[[marker]]
name = "tip"
body = "link"
at = "end"
"#;

/// Closed form: the tip of a link of length l gives way by l²/(k - m g c). Where that is negative the link falls over, and is not stiff without end.
#[test]
fn what_is_unstable_has_no_least_stiffness() {
    let held = at(&mechanism(&UPRIGHT.replace("4.0 }", "6.0 }")), &[]).unwrap();
    assert!(held.is_stable);
    let left = 6.0 - 9.81 * 0.5;
    close(held.least_stiffness_n_per_m().unwrap(), left, left);
    let falls = at(&mechanism(UPRIGHT), &[]).unwrap();
    let compliance = falls.compliance_m_per_n.clone().unwrap();
    close(compliance[0][0], 1.0 / (4.0 - 9.81 * 0.5), 1.0);
    assert!(!falls.is_stable && falls.frequency_rad_per_s.is_none());
    assert_eq!(falls.least_stiffness_n_per_m(), None);
}

/// A beam on a driven hinge: 2 m long, EI = 300 N m² and 120 N m², EA = 5e4 N.
const BEAM: &str = r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 2.0
mass_per_length_kg_per_m = 1.5
bending_stiffness_y_n_m2 = 300.0
bending_stiffness_z_n_m2 = 120.0
axial_stiffness_n = 5.0e4
basis.elements = { count = 3, stretch = true }
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

/// Closed form: a cantilever gives way by L³/3EI across and L/EA along, and turns with the joint that holds it.
#[test]
fn compliance_of_a_cantilever() {
    let beam = mechanism(BEAM);
    let [along, across, upward] = [2.0 / 5.0e4, 8.0 / 900.0, 8.0 / 360.0];
    let straight = at(&beam, &[]).unwrap();
    let compliance = straight.compliance_m_per_n.clone().unwrap();
    let stiffness = straight.stiffness_n_per_m().unwrap();
    for (i, expected) in [along, across, upward].into_iter().enumerate() {
        close(compliance[i][i], expected, expected);
        close(stiffness[i][i], 1.0 / expected, 1.0 / expected);
    }
    close(straight.least_stiffness_n_per_m().unwrap(), 45.0, 45.0);
    let turned = at(&beam, &[("hinge.angle", 0.5)]).unwrap();
    let compliance = turned.compliance_m_per_n.unwrap();
    let (sine, cosine) = 0.5_f64.sin_cos();
    close(
        compliance[0][0],
        along * cosine * cosine + across * sine * sine,
        across,
    );
    close(compliance[0][1], (along - across) * sine * cosine, across);
    close(compliance[2][2], upward, upward);
    close(turned.position_m[1], 2.0 * sine, 2.0);
    // velocity of the tip by the rate of the hinge
    close(turned.jacobian[0][0], -2.0 * sine, 2.0);
    close(turned.jacobian[0][1], 2.0 * cosine, 2.0);
}

/// Closed form: a rigid arm on a spring vibrates at √(k/I) and gives way by r²/k; without the spring nothing holds it.
#[test]
fn an_arm_on_a_spring() {
    let text = |spring: &str| {
        format!(
            r#"
format = 1
[[body]]
name = "arm"
rigid = {{ mass_kg = 2.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }}
node = [{{ name = "end", position_m = [1.0, 0.0, 0.0] }}]
[[joint]]
name = "hinge"
parent = "ground"
child = "arm"
revolute = {{ axis = [0.0, 0.0, 1.0]{spring} }}
[[marker]]
name = "tip"
body = "arm"
at = "end"
"#
        )
    };
    let arm = mechanism(&text(", spring = { stiffness_n_m_per_rad = 30.0 }"));
    let found = at(&arm, &[]).unwrap();
    close(
        found.frequency_rad_per_s.unwrap(),
        (30.0_f64 / 0.6).sqrt(),
        7.0,
    );
    let compliance = found.compliance_m_per_n.unwrap();
    close(compliance[1][1], 1.0 / 30.0, 1.0);
    close(compliance[0][0], 0.0, 1.0);
    assert!(found.driven.is_empty() && found.jacobian.is_empty());
    let free = at(&mechanism(&text("")), &[]);
    let held = free.map(|found| found.compliance_m_per_n);
    match held {
        Ok(compliance) => assert_eq!(compliance, Err("hinge.angle".to_owned())),
        Err(error) => assert!(error.to_string().contains("hinge"), "{error}"),
    }
}

/// Two ways: the lowest frequency of a flexible arm is that of its modes, in both formulations, and the compliances agree as meshes do.
#[test]
fn formulations_agree() {
    // three and eight cubic elements
    const MESH: f64 = 1e-3;
    let tree = mechanism(BEAM);
    let nodal = mechanism(&format!("{BEAM}[formulation.nodal]\n"));
    let [tree, nodal] =
        [&tree, &nodal].map(|own| at(own, &[("hinge.angle", FRAC_1_SQRT_2)]).unwrap());
    let (one, other) = (
        tree.frequency_rad_per_s.unwrap(),
        nodal.frequency_rad_per_s.unwrap(),
    );
    assert!((one / other - 1.0).abs() < MESH, "{one} {other}");
    let (one, other) = (
        tree.compliance_m_per_n.unwrap(),
        nodal.compliance_m_per_n.unwrap(),
    );
    for (one, other) in one.iter().flatten().zip(other.iter().flatten()) {
        assert!((one - other).abs() < MESH * 8.0 / 360.0, "{one} {other}");
    }
}
