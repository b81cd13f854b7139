//! What is told of a start before a run.

use lissom_engine::diagnose::Warning;
use lissom_spec::ModelSpec;

use crate::models::{changed, parsed};
use crate::runs::mechanism;
use crate::shipped::{PLANAR_3RRR, TWO_LINK};

/// Coordinates that start off their nominal motions, with where they start and where these begin.
fn off_nominal(spec: &ModelSpec) -> Vec<(String, f64, f64)> {
    let warnings = mechanism(spec).diagnose().warnings.into_iter();
    let off = warnings.filter_map(|warning| match warning {
        Warning::StartsOffNominal {
            coordinate,
            starts,
            nominal,
            ..
        } => Some((coordinate, starts, nominal)),
        _ => None,
    });
    off.collect()
}

/// By construction: joints that start elsewhere than their nominal motions, or at other rates, are told, in loops too.
#[test]
fn a_start_off_the_nominal_motion_is_told() {
    const ARM: &str = r#"
format = 1
[[body]]
name = "link"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "hinge"
parent = "ground"
child = "link"
revolute = { axis = [0, 0, 1], initial_angle_rad = 0.3 }
[[input]]
joint = "hinge"
rigid_inverse_dynamics = { cycloid = { initial_angle_rad = 0.3, final_angle_rad = 1.0, duration_s = 1.0 } }
[simulation]
duration_s = 1.0
"#;
    for text in [ARM, TWO_LINK, PLANAR_3RRR] {
        assert_eq!(off_nominal(&parsed(text)), []);
    }
    let told = |changes: &[&str]| off_nominal(&changed(ARM, changes));
    let angle = |starts, nominal| vec![("hinge.angle".to_owned(), starts, nominal)];
    let elsewhere = "joint.hinge.revolute.initial_angle_rad=0.25";
    assert_eq!(told(&[elsewhere]), angle(0.25, 0.3));
    assert_eq!(
        told(&[elsewhere, "formulation={nodal={}}"]),
        angle(0.25, 0.3)
    );
    let moving = told(&["joint.hinge.revolute.initial_rate_rad_per_s=0.5"]);
    assert_eq!(moving, [("hinge.angle.rate".to_owned(), 0.5, 0.0)]);
    // what is written with four digits is meant
    assert_eq!(told(&["joint.hinge.revolute.initial_angle_rad=0.3001"]), []);
}

/// Closed form: prescribed joints stand where their motions begin, whatever the joint writes, with what hangs on them.
#[test]
fn prescribed_joints_stand_where_their_motions_begin() {
    const ARM: &str = r#"
format = 1
[[body]]
name = "link"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.5, 0, 0], inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "hinge"
parent = "ground"
child = "link"
revolute = { axis = [0, 0, 1], initial_angle_rad = 0.3, motor = { inertia_kg_m2 = 0.1, stiffness_n_m_per_rad = 10.0 } }
[[motion]]
joint = "hinge"
cycloid = { initial_angle_rad = 1.0, final_angle_rad = 2.0, duration_s = 1.0 }
[simulation]
duration_s = 1.0
"#;
    let mechanism = mechanism(&parsed(ARM));
    let centre = mechanism.diagnose().center_of_mass_m;
    let exact = [0.5 * 1.0_f64.cos(), 0.5 * 1.0_f64.sin(), 0.0];
    assert!(
        crate::numbers::distance(centre, exact) < 1e-15,
        "{centre:?}"
    );
    // the motor behind its gear too
    assert_eq!(mechanism.written().position, [1.0]);
}

/// By construction: a beam that is let go is not said to stay where it is.
#[test]
fn what_is_let_go_moves() {
    const BEAM: &str = r#"
format = 1
gravity_m_per_s2 = [0, 0, 0]
[[body]]
name = "boom"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 10.0
basis.clamped_free = { bending_y = 2 }
[[joint]]
name = "root"
parent = "ground"
child = "boom"
fixed = {}
[[marker]]
name = "tip"
body = "boom"
at = "tip"
[simulation]
duration_s = 1.0
"#;
    let still = |spec: &ModelSpec| {
        let warnings = mechanism(spec).diagnose().warnings;
        warnings.contains(&Warning::AtRest)
    };
    assert!(still(&parsed(BEAM)));
    let load = "simulation.initial={static_load={force=[{marker=\"tip\",force_n=[0,1,0]}]}}";
    assert!(!still(&changed(BEAM, &[load])));
}
