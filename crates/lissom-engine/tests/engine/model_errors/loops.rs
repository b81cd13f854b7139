//! Loops, joints that are cut, and how their equations are formed.

use lissom_engine::model::Model;
use lissom_spec::{ModelSpec, Override, spanning_tree};
use lissom_tree::{ClosureKind, ClosureMethod};

use super::errors_of;

/// A four-bar whose joints make the loop, with a second loop through a marker.
const FOUR_BAR: &str = include_str!("loops.toml");

fn edited(from: &str, to: &str) -> String {
    assert_eq!(
        FOUR_BAR.matches(from).count(),
        1,
        "{from:?} is not there exactly once"
    );
    FOUR_BAR.replacen(from, to, 1)
}

#[track_caller]
fn assert_error(from: &str, to: &str, path: &str, located: &str, message: &str, remedy: &str) {
    let text = edited(from, to);
    let errors = errors_of(&text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let found = errors[0].locate(&text).map(|range| text[range].to_owned());
    assert_eq!(
        (
            errors[0].path.to_string().as_str(),
            found.as_deref(),
            errors[0].to_string().as_str(),
            errors[0].remedy().as_str()
        ),
        (path, Some(located), message, remedy)
    );
}

fn built(text: &str) -> Model {
    Model::build(&ModelSpec::parse(text, &[]).expect("sound")).expect("can be built")
}

/// By construction: the joint written last is cut, and the loop after it.
#[test]
fn joints_that_make_a_loop_are_cut() {
    let spec = ModelSpec::parse(FOUR_BAR, &[]).expect("sound");
    assert_eq!(spanning_tree(&spec).cuts, [3]);
    let model = built(FOUR_BAR);
    let names: Vec<&str> = model
        .linkage
        .closures
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["rocker_pivot", "stay"]);
    assert!(matches!(
        model.linkage.closures[0].kind,
        ClosureKind::Revolute { .. }
    ));
    assert_eq!(model.linkage.closures[0].from.body, None);
    assert_eq!(model.linkage.closures[0].to.body, Some(2));
    assert_eq!(
        model.linkage.closures[1].kind,
        ClosureKind::Distance { length: 2.0 }
    );
    assert_eq!(model.linkage.closure_method, ClosureMethod::Automatic);
    assert_eq!(model.assembly.held.len(), 1);
    assert_eq!(model.assembly.branches, [(1, -1.0)]);
}

/// By construction: forced elsewhere, two joints carry their parents about the opposite axis.
#[test]
fn a_cut_can_be_forced() {
    let text = edited("name = \"elbow\"", "name = \"elbow\"\ncut = true");
    let model = built(&text);
    let names: Vec<&str> = model
        .linkage
        .system
        .bodies()
        .iter()
        .map(|b| b.name.as_str())
        .collect();
    assert_eq!(names, ["crank", "rocker", "coupler"]);
    let axis = |body: usize| model.linkage.system.bodies()[body].joint.kind.clone();
    assert_eq!(
        format!("{:?}", axis(2)),
        "Revolute { axis: Vector([-0.0, -0.0, -1.0]) }"
    );
    assert_eq!(model.linkage.closures[0].name, "elbow");
}

#[test]
fn methods_are_found_by_name() {
    let with = |text: &str| {
        let change = Override::parse(text).expect("an override");
        let spec = ModelSpec::parse(FOUR_BAR, &[change]).expect("sound");
        Model::build(&spec)
            .expect("can be built")
            .linkage
            .closure_method
    };
    assert_eq!(
        with("simulation.closure={joint_space={}}"),
        ClosureMethod::JointSpace {
            independent: vec![0]
        }
    );
    assert_eq!(
        with("simulation.closure={joint_space={independent=[\"elbow\"]}}"),
        ClosureMethod::JointSpace {
            independent: vec![1]
        }
    );
    assert_eq!(
        with("simulation.closure={cartesian_space={components=[\"x\", \"rotation_z\"]}}"),
        ClosureMethod::CartesianSpace {
            marker: 0,
            components: vec![3, 2]
        }
    );
    assert_eq!(
        with("simulation.closure={projected={}}"),
        ClosureMethod::Projected
    );
}

#[test]
fn loops() {
    assert_error(
        "distance = { length_m = 2.0 }",
        "distance = { length_m = -2.0 }",
        "loop[0].distance.length_m",
        "-2.0",
        "`length_m` is -2, expected a number above zero",
        "write a number above zero",
    );
    assert_error(
        "distance = { length_m = 2.0 }",
        "universal = { axes = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]] }",
        "loop[0].universal.axes[1]",
        "[1.0, 1.0, 0.0]",
        "the two axes are not orthogonal, which those of a universal loop are",
        "choose axes whose scalar product is zero",
    );
    assert_error(
        "to = \"hand\"",
        "to = \"hant\"",
        "loop[0].to.body",
        "\"hant\"",
        "there is no body called \"hant\"",
        "use the name of a [[body]], or \"ground\" where a joint stands",
    );
    assert_error(
        "to = \"hand\"",
        "to = \"ground\"",
        "loop[0].to.body",
        "\"ground\"",
        "loop \"stay\" connects body \"ground\" with itself",
        "let one of its sides be on another body",
    );
    assert_error(
        "name = \"stay\"",
        "name = \"elbow\"",
        "loop[0].name",
        "\"elbow\"",
        "the loop name \"elbow\" is used twice",
        "give every loop a name of its own",
    );
}

#[test]
fn cuts() {
    // what acts on a joint goes with it
    let text = edited("name = \"motor\"", "name = \"motor\"\ncut = true");
    assert_eq!(built(&text).linkage.closures[0].kind, ClosureKind::Fixed);
    assert_error(
        "[[joint]]\nname = \"rocker_pivot\"",
        "[[motion]]\njoint = \"rocker_pivot\"\nconstant_rate.rate_rad_per_s = 0.4\n[[joint]]\ncut = true\nname = \"rocker_pivot\"",
        "joint[3].cut",
        "true",
        "joint \"rocker_pivot\" closes a loop and is cut, but its motion is prescribed",
        "write cut = true at `motor`, `elbow`, `knee` instead, or remove the motion",
    );
    assert_error(
        "[simulation]",
        "[simulation.closure.joint_space]\nindependent = [\"rocker_pivot\"]\n[simulation]",
        "simulation.closure.joint_space.independent[0]",
        "\"rocker_pivot\"",
        "`independent` has no effect: the joint closes a loop and is cut; it has no coordinate",
        "remove `independent`",
    );
}

#[test]
fn what_only_loops_need() {
    let tree = FOUR_BAR.split("[[joint]]\nname = \"rocker_pivot\"").next();
    let tree = format!(
        "{}\n[simulation.closure.projected]\n",
        tree.expect("the text before")
    );
    let errors = errors_of(&tree);
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "`held` has no effect: the model has no loop to be assembled",
            "`branch` has no effect: the model has no loop to be assembled",
            "`closure` has no effect: the model has no loop",
        ]
    );
}
