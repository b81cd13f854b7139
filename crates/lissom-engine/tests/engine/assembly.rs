//! Loops at the start and at states of one's own: closed, nearest, in the branch that is meant, and what is said
//! when they cannot be.

use lissom_core::State;
use lissom_engine::Mechanism;
use lissom_engine::model::Model;
use lissom_engine::simulate::close_loops;
use lissom_spatial::{Motion, Vector};
use lissom_spec::spec::TwistComponent;
use lissom_tree::ClosureMethod;
use lissom_tree::closure::{
    AssemblyError, Closed, MarkerTarget, Targets, close, diagnose, mobility,
};

use crate::models::{assembled, built, changed, joint, marker_at, parsed, revolute};
use crate::numbers::apart;

/// Closed forms are evaluated in a dozen operations on numbers near 1, closures are met to 1e-14, and a
/// four-bar away from its dead points amplifies both by less than ten.
const CLOSED_FORM: f64 = 1e-12;

fn link(name: &str, length: f64) -> String {
    format!(
        "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}\n\
         node = [{{ name = \"end\", position_m = [{length}, 0.0, 0.0] }}]\n"
    )
}

/// Ground, crank, coupler and rocker; the rocker's pivot is at x = 1.
const LENGTHS: [f64; 4] = [1.0, 0.4, 1.1, 0.8];

fn four_bar(knee: &str, pivot: &str) -> String {
    let [ground, crank, coupler, rocker] = LENGTHS;
    [
        "format = 1\n".to_owned(),
        link("crank", crank),
        link("coupler", coupler),
        link("rocker", rocker),
        revolute(
            "motor",
            "\"ground\"",
            "\"crank\"",
            ", initial_angle_rad = 0.7, held = true",
        ),
        revolute(
            "elbow",
            "{ body = \"crank\", at = \"end\" }",
            "\"coupler\"",
            "",
        ),
        revolute(
            "knee",
            "{ body = \"coupler\", at = \"end\" }",
            "{ body = \"rocker\", at = \"end\" }",
            knee,
        ),
        revolute(
            "pivot",
            &format!("{{ body = \"ground\", position_m = [{ground}, 0.0, {pivot}] }}"),
            "\"rocker\"",
            "",
        ),
        "[[marker]]\nname = \"knee\"\nbody = \"coupler\"\nat = \"end\"\n".to_owned(),
    ]
    .concat()
}

/// Angles of coupler and rocker for an angle of the crank, by the cosine rule; `sign` is that of the angle from
/// coupler to rocker.
fn closed_form(crank_angle: f64, sign: f64) -> (f64, f64) {
    let [ground, crank, coupler, rocker] = LENGTHS;
    let (x, y) = (
        ground - crank * crank_angle.cos(),
        -crank * crank_angle.sin(),
    );
    let diagonal = x.hypot(y);
    let inner = ((coupler * coupler + diagonal * diagonal - rocker * rocker)
        / (2.0 * coupler * diagonal))
        .acos();
    let coupler_angle = y.atan2(x) + sign * inner;
    let (kx, ky) = (
        crank * crank_angle.cos() + coupler * coupler_angle.cos(),
        crank * crank_angle.sin() + coupler * coupler_angle.sin(),
    );
    (coupler_angle, ky.atan2(kx - ground))
}

fn knee(model: &Model, position: &[f64], velocity: &[f64]) -> (Vector<f64>, Motion<f64>) {
    let motion = marker_at(model, &model.linkage.markers[0], position, velocity);
    (motion.pose.translation, motion.twist)
}

fn held(model: &Model, joint: &str, angle: f64, rate: f64) -> Targets {
    let at = |names: &[lissom_tree::Coordinate], suffix: &str| {
        let name = format!("{joint}.{suffix}");
        names.iter().position(|c| c.name == name).expect("there")
    };
    let mut targets = Targets {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        held: vec![at(&model.linkage.velocities, "angle.rate")],
        branches: model.assembly.branches.clone(),
        ..Targets::default()
    };
    targets.position[at(&model.linkage.positions, "angle")] = angle;
    targets.velocity[at(&model.linkage.velocities, "angle.rate")] = rate;
    targets
}

/// Closed form: both branches of a four-bar, positions and rates, round its crank.
#[test]
fn a_four_bar_closes_as_the_cosine_rule_says() {
    for (branch, sign) in [("positive", 1.0), ("negative", -1.0)] {
        let text = four_bar(&format!(", branch = \"{branch}\""), "0.0");
        let mut model = assembled(&parsed(&text));
        for step in 0..24 {
            let angle = 0.7 + 0.25 * f64::from(step);
            let rate = 1.5;
            let Closed {
                position, velocity, ..
            } = close(&model.linkage, &held(&model, "motor", angle, rate)).expect("closes");
            let (coupler, _) = closed_form(angle, sign);
            let (point, twist) = knee(&model, &position, &velocity);
            let expected = [
                LENGTHS[1] * angle.cos() + LENGTHS[2] * coupler.cos(),
                LENGTHS[1] * angle.sin() + LENGTHS[2] * coupler.sin(),
            ];
            for i in 0..2 {
                assert!(
                    (point[i] - expected[i]).abs() < CLOSED_FORM,
                    "{branch} at {angle}"
                );
            }
            // the rate of the coupler: the knee moves orthogonal to the rocker
            let (_, rocker) = closed_form(angle, sign);
            let ratio =
                LENGTHS[1] * (rocker - angle).sin() / (LENGTHS[2] * (coupler - rocker).sin());
            assert!((twist.angular[2] - rate * ratio).abs() < CLOSED_FORM * 10.0);
            // follow the branch round
            model.initial_position = position;
            model.initial_velocity = velocity;
        }
    }
}

/// Closed form: the slider of a slider-crank by Pythagoras.
#[test]
fn a_slider_crank_closes_as_pythagoras_says() {
    let text = [
        "format = 1\n".to_owned(),
        link("crank", 0.3),
        link("rod", 0.9),
        link("slider", 0.1),
        revolute("motor", "\"ground\"", "\"crank\"", ", held = true"),
        revolute("pin", "{ body = \"crank\", at = \"end\" }", "\"rod\"", ""),
        "[[joint]]\nname = \"guide\"\nparent = \"ground\"\nchild = \"slider\"\n\
         prismatic = { axis = [1.0, 0.0, 0.0], initial_displacement_m = 1.0, branch = \"positive\" }\n\
         [[loop]]\nname = \"wrist\"\nfrom = { body = \"rod\", at = \"end\" }\nto = \"slider\"\n\
         revolute = { axis = [0.0, 0.0, 1.0] }\n"
            .to_owned(),
    ]
    .concat();
    let model = assembled(&parsed(&text));
    for step in 0..12 {
        let angle = 0.4 + 0.5 * f64::from(step);
        let closed = close(&model.linkage, &held(&model, "motor", angle, 2.0)).expect("closes");
        let slider = model
            .linkage
            .positions
            .iter()
            .position(|c| c.name == "guide.displacement");
        let slider = slider.expect("there");
        let height = 0.3 * angle.sin();
        let along = (0.81 - height * height).sqrt();
        let expected = 0.3 * angle.cos() + along;
        assert!((closed.position[slider] - expected).abs() < CLOSED_FORM);
        let rate = -2.0 * 0.3 * angle.sin() * (1.0 + 0.3 * angle.cos() / along);
        assert!((closed.velocity[slider] - rate).abs() < CLOSED_FORM);
    }
}

/// Closed form: what inverse kinematics finds for a point is where direct kinematics puts it.
#[test]
fn inverse_and_direct_kinematics_are_inverse() {
    let model = assembled(&parsed(&four_bar(", branch = \"positive\"", "0.0")));
    let (coupler, _) = closed_form(1.3, 1.0);
    let x = LENGTHS[1] * 1.3_f64.cos() + LENGTHS[2] * coupler.cos();
    let targets = Targets {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        markers: vec![MarkerTarget {
            marker: 0,
            component: TwistComponent::X,
            position: x,
            rate: 0.25,
        }],
        ..Targets::default()
    };
    let closed = close(&model.linkage, &targets).expect("closes");
    let (point, twist) = knee(&model, &closed.position, &closed.velocity);
    assert!((point[0] - x).abs() < CLOSED_FORM);
    assert!((twist.linear[0] - 0.25).abs() < CLOSED_FORM);
    assert!((closed.position[0] - 1.3).abs() < 10.0 * CLOSED_FORM);
    // the angle of the coupler instead
    let targets = Targets {
        markers: vec![MarkerTarget {
            marker: 0,
            component: TwistComponent::RotationZ,
            position: coupler,
            rate: 0.0,
        }],
        ..targets
    };
    let closed = close(&model.linkage, &targets).expect("closes");
    assert!((closed.position[0] - 1.3).abs() < 10.0 * CLOSED_FORM);
}

/// Property: nothing nearer to the guess is closed. Along the one freedom of a four-bar without held joints the
/// distance from the guess is least, so its derivative is zero; a step of 1e-4 shows 1e-8 of it.
#[test]
fn the_change_from_the_guess_is_least() {
    const STEP: f64 = 1e-4;
    let text = four_bar(", initial_angle_rad = 0.3", "0.0").replace(", held = true", "");
    let guess = built(&text).initial_position;
    let model = assembled(&parsed(&text));
    let distance = |position: &[f64]| -> f64 {
        position
            .iter()
            .zip(&guess)
            .map(|(a, b)| (a - b) * (a - b))
            .sum()
    };
    let own = distance(&model.initial_position);
    for step in [-STEP, STEP] {
        let targets = held(&model, "motor", model.initial_position[0] + step, 0.0);
        let near = close(&model.linkage, &targets).expect("closes").position;
        assert!(distance(&near) > own);
    }
}

/// By construction: a joint that carries its parent puts every body where it was.
#[test]
fn a_cut_elsewhere_closes_in_the_same_configuration() {
    let one = assembled(&parsed(&four_bar(", branch = \"positive\"", "0.0")));
    let text = four_bar(", branch = \"positive\"", "0.0");
    let text = text.replace(
        "name = \"knee\"\nparent",
        "name = \"knee\"\ncut = true\nparent",
    );
    let other = assembled(&parsed(&text));
    let rest = vec![0.0; 3];
    let (a, _) = knee(&one, &one.initial_position, &rest);
    let (b, _) = knee(&other, &other.initial_position, &rest);
    for i in 0..3 {
        assert!((a[i] - b[i]).abs() < CLOSED_FORM);
    }
    // crank and knee forced apart: the coupler hangs on the rocker, reversed
    let text = text
        .replace("cut = true\n", "")
        .replace("name = \"elbow\"\n", "name = \"elbow\"\ncut = true\n")
        .replace(", branch = \"positive\"", "");
    let third = built(&text);
    let (coupler, rocker) = closed_form(0.7, 1.0);
    let at = |name: &str| {
        third
            .linkage
            .positions
            .iter()
            .position(|c| c.name == name)
            .expect("there")
    };
    let mut position = third.initial_position.clone();
    position[at("pivot.angle")] = rocker;
    position[at("knee.angle")] = rocker - coupler;
    let (c, _) = knee(&third, &position, &rest);
    for i in 0..3 {
        assert!((a[i] - c[i]).abs() < CLOSED_FORM);
    }
}

/// By construction: what is wrong is named.
#[test]
fn what_cannot_be_closed_is_explained() {
    let error = |text: &str| close_loops(&mut built(text), 0.0).expect_err("does not close");
    // a pivot beside the plane
    match error(&four_bar("", "0.05")) {
        AssemblyError::Contradiction {
            closure,
            equation,
            gap,
            unit: "m",
        } => {
            assert_eq!(closure.as_deref(), Some("pivot"));
            assert_eq!(equation, "pivot (offset along z)");
            assert!((gap - 0.05).abs() < 1e-6, "{gap}");
        }
        other => panic!("{other}"),
    }
    // too far away: crank held, coupler and rocker stretched towards each other
    let far = four_bar("", "0.0").replace("position_m = [1, ", "position_m = [3.0, ");
    match error(&far) {
        AssemblyError::Open { closure, gap, .. } => {
            assert_eq!(closure.as_deref(), Some("pivot"));
            assert!(gap > 0.1, "{gap}");
        }
        other => panic!("{other}"),
    }
    // in both configurations the coupler is turned back from the crank
    let text = four_bar("", "0.0").replace(
        "child = \"coupler\"\nrevolute = { axis = [0.0, 0.0, 1.0]",
        "child = \"coupler\"\nrevolute = { axis = [0.0, 0.0, 1.0], branch = \"positive\"",
    );
    match error(&text) {
        AssemblyError::Branch { coordinate, .. } => assert_eq!(coordinate, "elbow.angle"),
        other => panic!("{other}"),
    }
    // the joint is found whatever its name is
    let errors = Mechanism::build(&parsed(&text.replace("elbow", "left.elbow.2"))).unwrap_err();
    assert_eq!(errors[0].path().to_string(), "joint[1].name");
}

/// By construction: rank and Gruebler's count of a planar four-bar in space, and its dead point.
#[test]
fn freedom_is_counted_by_rank() {
    let model = assembled(&parsed(&four_bar(", branch = \"positive\"", "0.0")));
    let diagnosis = diagnose(&model.linkage, &model.initial_position);
    assert_eq!(diagnosis.gruebler, -2);
    assert_eq!(diagnosis.mobility.rigid_degrees_of_freedom(), 1);
    assert_eq!(diagnosis.mobility.redundant.len(), 3);
    assert!(!diagnosis.singular_start);
    // a parallelogram flattened: every link along x, where two ways part
    let flat = [
        "format = 1\n".to_owned(),
        link("crank", 0.5),
        link("coupler", 1.0),
        link("rocker", 0.5),
        revolute("motor", "\"ground\"", "\"crank\"", ", held = true"),
        revolute(
            "elbow",
            "{ body = \"crank\", at = \"end\" }",
            "\"coupler\"",
            "",
        ),
        revolute(
            "pivot",
            "{ body = \"ground\", position_m = [1.0, 0.0, 0.0] }",
            "\"rocker\"",
            "",
        ),
        revolute(
            "knee",
            "{ body = \"coupler\", at = \"end\" }",
            "{ body = \"rocker\", at = \"end\" }",
            "",
        ),
    ]
    .concat();
    let model = assembled(&parsed(&flat));
    assert_eq!(
        mobility(&model.linkage, &model.initial_position).rigid_degrees_of_freedom(),
        2
    );
    let diagnosis = diagnose(&model.linkage, &model.initial_position);
    assert!(diagnosis.singular_start);
    assert_eq!(diagnosis.mobility.rigid_degrees_of_freedom(), 1);
}

/// By construction: components of a marker that nobody names are x and y before angles, as many as needed.
#[test]
fn components_are_chosen() {
    let change = "simulation.closure={cartesian_space={}}";
    let text = four_bar(", branch = \"positive\"", "0.0");
    let model = assembled(&changed(&text, &[change]));
    assert_eq!(
        model.linkage.closure_method,
        ClosureMethod::CartesianSpace {
            marker: 0,
            components: vec![3]
        }
    );
}

/// Property: where loops close, a ball joint that is given stays where it is given, and the others follow.
#[test]
fn given_ball_joints_stay() {
    let text = [
        "format = 1\n".to_owned(),
        link("upper", 1.0),
        link("lower", 1.0),
        joint("ball", "\"ground\"", "\"upper\"", "spherical = {}"),
        joint(
            "knee",
            "{ body = \"upper\", at = \"end\" }",
            "\"lower\"",
            "spherical = { initial_rotation_vector_rad = [0.0, 0.0, 1.5] }",
        ),
        // within reach of the upper link wherever that is given below
        "[[loop]]\nname = \"foot\"\nfrom = { body = \"lower\", at = \"end\" }\n\
         to = { body = \"ground\", position_m = [1.1, 0.9, 0.0] }\ndistance = { length_m = 0.3 }\n"
            .to_owned(),
    ];
    let mechanism = Mechanism::build(&parsed(&text.concat())).unwrap();
    let [cos, sin] = [0.05_f64.cos(), 0.05_f64.sin()];
    let given = [("w", cos), ("x", 0.0), ("y", 0.6 * sin), ("z", 0.8 * sin)]
        .map(|(part, value)| (format!("ball.quaternion.{part}"), value));
    let state = mechanism.state(0.0, &given.clone().into()).unwrap();
    let [positions, _] = mechanism.coordinates().unwrap();
    for (name, value) in given {
        let at = positions.iter().position(|own| own.name == name).unwrap();
        assert!((state.position[at] - value).abs() < CLOSED_FORM, "{name}");
    }
    let knee = |state: &State| state.position[4..8].to_vec();
    assert!(apart(&knee(&state), &knee(&mechanism.written())) > 1e-3);
}

/// By construction: a body on a ball joint that a loop welds or hinges to the ground stands upright, however far off its guess
/// is turned: half a turn away the equations of directions hold as well.
#[test]
fn loops_do_not_close_upside_down() {
    let closed = |kind: &str, turn: f64| {
        let text = [
            "format = 1\n".to_owned(),
            link("upper", 1.0),
            link("lower", 1.0),
            joint(
                "ball",
                "\"ground\"",
                "\"upper\"",
                &format!("spherical = {{ initial_rotation_vector_rad = [{turn}, 0.1, 0.0] }}"),
            ),
            revolute(
                "knee",
                "{ body = \"upper\", at = \"end\" }",
                "\"lower\"",
                "",
            ),
            format!(
                "[[loop]]\nname = \"foot\"\nfrom = \"ground\"\n\
                 to = {{ body = \"upper\", at = \"origin\" }}\n{kind}\n"
            ),
        ];
        let model = assembled(&parsed(&text.concat()));
        let freedom = mobility(&model.linkage, &model.initial_position).degrees_of_freedom();
        ([0, 1, 2, 3].map(|at| model.initial_position[at]), freedom)
    };
    for turn in [0.5, 1.5, 2.8, 3.1] {
        let ([w, ..], freedom) = closed("fixed = {}", turn);
        assert!((w.abs() - 1.0).abs() < CLOSED_FORM, "{turn}: {w}");
        assert_eq!(freedom, 1, "{turn}");
        let ([_, x, y, _], freedom) = closed("revolute = { axis = [0.0, 0.0, 1.0] }", turn);
        assert!(x.abs().max(y.abs()) < CLOSED_FORM, "{turn}: {x} {y}");
        assert_eq!(freedom, 2, "{turn}");
    }
}
