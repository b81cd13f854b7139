//! Loops, elastic gears and damping in the tree and in the nodal formulation, which share the model file and where its
//! loops are closed at the start.

use lissom_core::RunError;
use lissom_core::study::{Ending, Run, sample_instants};
use lissom_engine::diagnose::Warning;
use lissom_engine::nodal_model::NodalModelError;
use lissom_engine::{BuildError, Mechanism};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{GeneralizedAlphaSpec, IntegratorSpec};

use crate::models::{changed, nodal_model, parsed};
use crate::numbers::{distance, largest};
use crate::runs::{
    assert_alike, completed, in_nodes, in_tree, nodal_mechanism, nominal_point, samples,
    tree_mechanism, vector,
};
use crate::shipped::{self, FLEXIBLE_JOINT, PLANAR_3RRR, SLIDER_CRANK, SPATIAL_3RRS};

/// A few hundred steps at a relative tolerance of 1e-10, with motions that grow by less than tenfold.
pub(crate) const AGREEMENT: f64 = 1e-6;

pub(crate) fn run_tree(spec: &ModelSpec) -> Run {
    completed(in_tree(spec))
}

pub(crate) fn run_nodes(spec: &ModelSpec, elements: usize) -> Run {
    completed(in_nodes(spec, elements))
}

/// Largest distance of a marker in two runs, and how far it moves.
pub(crate) fn distances(tree: &Run, nodes: &Run, marker: &str) -> (f64, f64) {
    let name = format!("{marker}.position");
    let at = |run: &Run, sample: usize| vector(&run.recording, &name, sample);
    let samples = 0..tree.recording.len();
    samples.fold((0.0, 0.0), |(worst, way): (f64, f64), i| {
        let place = at(tree, i);
        (
            worst.max(distance(place, at(nodes, i))),
            way.max(distance(place, at(tree, 0))),
        )
    })
}

/// A rigid four-bar in a tilted plane: a joint that is cut, one that its child carries, friction and a spring at joints
/// that follow from others, a rotor, a payload.
pub(crate) const FOUR_BAR: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.02], inertia_kg_m2 = [1.0e-4, 1.0e-3, 1.0e-3] }
node = [{ name = "pin", position_m = [0.2, 0.0, 0.0] }]
[[body]]
name = "coupler"
rigid = { mass_kg = 0.6, center_of_mass_m = [0.3, 0.05, 0.0], inertia_kg_m2 = [1.0e-4, 2.0e-2, 2.0e-2] }
node = [{ name = "end", position_m = [0.6, 0.0, 0.0] }]
[[body]]
name = "rocker"
rigid = { mass_kg = 0.4, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1.0e-4, 6.0e-3, 6.0e-3] }
node = [{ name = "end", position_m = [0.4, 0.0, 0.0] }]
[[joint]]
name = "motor"
parent = { body = "ground", rotation_vector_rad = [0.4, 0.0, 0.0] }
child = "crank"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 2.0, held = true, motor = { inertia_kg_m2 = 1.0e-5, gear_ratio = 10.0 } }
[[joint]]
name = "crank_pin"
parent = "coupler"
child = { body = "crank", at = "pin" }
revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 0.5, damping_n_m_s_per_rad = 0.01, rest_angle_rad = 0.2 } }
[[joint]]
name = "rocker_pivot"
parent = { body = "ground", position_m = [0.5, 0.0, 0.0], rotation_vector_rad = [0.4, 0.0, 0.0] }
child = "rocker"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, branch = "positive", friction = { viscous_n_m_s_per_rad = 0.02 } }
[[joint]]
name = "rocker_pin"
parent = { body = "coupler", at = "end" }
child = { body = "rocker", at = "end" }
revolute = { axis = [0.0, 0.0, 1.0] }
[[payload]]
name = "load"
body = "rocker"
position_m = [0.4, 0.1, 0.0]
mass_kg = 0.2
inertia_kg_m2 = [1.0e-4, 1.0e-4, 1.0e-4]
[[input]]
joint = "motor"
torque_step = { value_n_m = 1.0, until_s = 0.3 }
[[input]]
marker = "middle"
direction = [1.0, 0.0, 0.0]
force_constant.value_n = 2.0
[[marker]]
name = "middle"
body = "coupler"
position_m = [0.3, 0.1, 0.0]
[simulation]
duration_s = 0.6
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }
[output]
sample_period_s = 0.02
"#;

/// Two formulations: a rigid four-bar, whose plane makes three of its five closures redundant.
#[test]
fn a_rigid_four_bar() {
    let spec = parsed(FOUR_BAR);
    let (tree, nodes) = (run_tree(&spec), run_nodes(&spec, 1));
    assert!(assert_alike(&tree, &nodes, AGREEMENT) > 20);
    assert!(nodes.recording.channel("crank_pin.angle.rate").is_some());
    // percent of the peak
    assert!(nodes.audit.energy.max_drift_percent < 1e2 * AGREEMENT);
    let turned = samples(&nodes.recording, "motor.angle");
    assert!((turned[30] - turned[0]).abs() > 1.0);
}

/// Two formulations: a slider-crank whose loop is written as one, its motor prescribed, its slider damped. The effort
/// of the motor is the same too.
#[test]
fn a_rigid_slider_crank() {
    let text = SLIDER_CRANK;
    let from = text.find("[body.beam]").unwrap();
    let until = text.find("[[body]]\nname = \"slider\"").unwrap();
    let rod = "[body.rigid]\nmass_kg = 0.3\ncenter_of_mass_m = [0.2, 0.0, 0.0]\ninertia_kg_m2 = [1e-4, 5e-3, 5e-3]\n\
               [[body.node]]\nname = \"tip\"\nposition_m = [0.45, 0.0, 0.0]\n\n";
    let text = format!("{}{rod}{}", &text[..from], &text[until..]);
    let mut spec = parsed(&text);
    spec.simulation.duration_s = 0.4;
    spec.simulation.integrator = tight();
    let (tree, nodes) = (run_tree(&spec), run_nodes(&spec, 1));
    assert!(assert_alike(&tree, &nodes, AGREEMENT) > 15);
    assert!(nodes.recording.channel("motor.driving_torque").is_some());
}

fn tight() -> IntegratorSpec {
    parsed(FOUR_BAR).simulation.integrator
}

/// A crank, a coupler on a ball and a rocker in space, closed by a universal joint; two pendulums held at a distance;
/// a pin in a slot.
const SPATIAL: &str = r#"
format = 1
gravity_m_per_s2 = [0.5, -9.81, 1.0]
[[body]]
name = "crank"
rigid = { mass_kg = 0.5, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-3, 2e-3, 2e-3] }
[[body]]
name = "coupler"
rigid = { mass_kg = 0.8, center_of_mass_m = [0.4, 0.0, 0.0], inertia_kg_m2 = [2e-3, 5e-2, 5e-2] }
[[body]]
name = "rocker"
rigid = { mass_kg = 0.6, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [1e-3, 2e-2, 2e-2] }
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 0.8, initial_rate_rad_per_s = 3.0, held = true }
[[joint]]
name = "ball"
parent = { body = "crank", position_m = [0.2, 0.0, 0.0] }
child = "coupler"
spherical = {}
[[joint]]
name = "pivot"
parent = { body = "ground", position_m = [0.8, 0.0, 0.2] }
child = "rocker"
revolute = { axis = [0.0, 0.3, 1.0], initial_angle_rad = 1.6 }
[[loop]]
name = "cross"
from = { body = "coupler", position_m = [0.8, 0.0, 0.0] }
to = { body = "rocker", position_m = [0.6, 0.0, 0.0] }
universal = { axes = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]] }
[[body]]
name = "left"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [1e-3, 3e-2, 3e-2] }
[[body]]
name = "right"
rigid = { mass_kg = 0.7, center_of_mass_m = [0.2, 0.1, 0.0], inertia_kg_m2 = [1e-3, 2e-2, 2e-2] }
[[joint]]
name = "left_pivot"
parent = { body = "ground", position_m = [0.0, 0.0, -1.0] }
child = "left"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -1.0, held = true }
[[joint]]
name = "right_pivot"
parent = { body = "ground", position_m = [1.0, 0.0, -1.0] }
child = "right"
universal = { first = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -1.4 }, second = { axis = [0.0, 1.0, 0.0], initial_rate_rad_per_s = 0.5, initial_angle_rad = 0.1, held = true } }
[[loop]]
name = "rope"
from = { body = "left", position_m = [0.5, 0.0, 0.0] }
to = { body = "right", position_m = [0.4, 0.0, 0.0] }
distance.length_m = 0.9
[[body]]
name = "slotted"
rigid = { mass_kg = 0.9, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-3, 2e-2, 2e-2] }
[[body]]
name = "wheel"
rigid = { mass_kg = 0.5, inertia_kg_m2 = [1e-2, 1e-2, 2e-2] }
[[joint]]
name = "slot_pivot"
parent = { body = "ground", position_m = [0.0, 0.0, 2.0] }
child = "slotted"
revolute = { axis = [0.0, 0.0, 1.0] }
[[joint]]
name = "axle"
parent = { body = "ground", position_m = [0.5, 0.0, 2.0] }
child = "wheel"
revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.0, initial_rate_rad_per_s = 4.0, held = true }
[[loop]]
name = "pin"
from = "slotted"
to = { body = "wheel", position_m = [0.2, 0.0, 0.0] }
point_on_line.direction = [1.0, 0.0, 0.0]
[[input]]
joint = "motor"
torque_constant.value_n_m = 0.5
[[input]]
joint = "axle"
torque_constant.value_n_m = 0.2
[[marker]]
name = "on_coupler"
body = "coupler"
position_m = [0.4, 0.1, 0.0]
[[marker]]
name = "on_right"
body = "right"
position_m = [0.4, 0.0, 0.0]
[simulation]
duration_s = 0.3
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }
[output]
sample_period_s = 0.02
"#;

/// Two formulations: closures of other kinds in space, with an orientation that follows from the rest.
#[test]
fn rigid_loops_in_space() {
    let spec = parsed(SPATIAL);
    let (tree, nodes) = (run_tree(&spec), run_nodes(&spec, 1));
    assert!(assert_alike(&tree, &nodes, AGREEMENT) > 40);
    let (_, way) = distances(&tree, &nodes, "on_coupler");
    assert!(way > 0.03, "it moves: {way}");
    assert!(nodes.audit.energy.max_drift_percent < 1e2 * AGREEMENT);
}

/// Two formulations: the shipped four-bar, the tree's beams as finite elements too. The tree leaves out what is of third
/// order in the deflection, which falls with the cube of the compliance.
#[test]
fn a_four_bar_that_bends() {
    /// Part of a deflection of 5 mm on 0.6 m that is left out, more than the square of its slope as vibrations shift.
    const PART: f64 = 0.01;
    const STIFFER: f64 = 2.0;
    let differences = [12.0, 12.0 * STIFFER].map(|stiffness| {
        let text = shipped::FOUR_BAR
            .replace(
                "clamped_free = { bending_y = 2 }",
                "elements = { count = 4 }",
            )
            .replace("= 12.0", &format!("= {stiffness}"));
        let mut spec = parsed(&text);
        spec.simulation.duration_s = 0.2;
        let tree = run_tree(&spec);
        spec.simulation.integrator = IntegratorSpec::GeneralizedAlpha(GeneralizedAlphaSpec {
            step_s: 2.5e-4,
            spectral_radius: 0.9,
            tolerance: 1e-8,
        });
        let nodes = run_nodes(&spec, 4);
        let bent = largest(samples(&tree.recording, "coupler_middle.deflection.y"));
        let (worst, way) = distances(&tree, &nodes, "coupler_middle");
        assert!(way > 0.05 && worst < PART * bent, "{worst} {bent} {way}");
        worst
    });
    let ratio = differences[0] / differences[1];
    // between the square and the cube, as the step of the integrator leaves a micrometre
    assert!(ratio > STIFFER.powi(2), "{differences:?}");
}

/// Property: shipped models with loops are understood by the nodal formulation as they are.
#[test]
fn shipped_loops_are_understood() {
    for text in [shipped::FOUR_BAR, SLIDER_CRANK, PLANAR_3RRR, SPATIAL_3RRS] {
        let spec = parsed(text);
        let nodal = nodal_model(&spec, 2);
        assert!(nodal.is_ok(), "{:?} {:?}", spec.name, nodal.err());
    }
}

/// Property: two prescribed motions of a loop with one freedom are refused.
#[test]
fn a_prescribed_loop_without_freedom_is_refused() {
    let text = FOUR_BAR.replace(
        "[[payload]]",
        "[[motion]]\njoint = \"rocker_pivot\"\nconstant_rate.rate_rad_per_s = 1.0\n[[payload]]",
    );
    let text = text.replace(
        "[[input]]\njoint = \"motor\"\ntorque_step = { value_n_m = 1.0, until_s = 0.3 }",
        "[[motion]]\njoint = \"motor\"\nconstant_rate.rate_rad_per_s = 1.0",
    );
    let spec = changed(&text, &["formulation.nodal.elements_per_link=1"]);
    let errors = Mechanism::build(&spec).unwrap_err();
    assert!(
        matches!(
            errors[0],
            BuildError::Nodal(NodalModelError::OverdrivenLoop { .. }) | BuildError::Loops { .. }
        ),
        "{errors:?}"
    );
}

/// Two formulations: a link behind an elastic gear, and a carriage behind an elastic rack.
#[test]
fn elastic_gears() {
    let mut spec = parsed(FLEXIBLE_JOINT);
    spec.simulation.duration_s = 0.6;
    let (tree, nodes) = (run_tree(&spec), run_nodes(&spec, 1));
    assert_alike(&tree, &nodes, AGREEMENT);
    assert!(nodes.recording.channel("drive.motor_angle.rate").is_some());
    let text = r#"
format = 1
[[body]]
name = "carriage"
rigid = { mass_kg = 3.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }
[[joint]]
name = "rack"
parent = "ground"
child = "carriage"
[joint.prismatic]
axis = [0.0, 1.0, 0.5]
initial_displacement_m = 0.1
initial_rate_m_per_s = 0.2
motor = { inertia_kg_m2 = 1e-3, gear_ratio_rad_per_m = 30.0, stiffness_n_per_m = 500.0, damping_n_s_per_m = 2.0 }
limits.max_force_n = 1.0
[[input]]
joint = "rack"
force_constant.value_n = 5.0
[simulation]
duration_s = 1.0
integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }
"#;
    let spec = parsed(text);
    let (tree, nodes) = (run_tree(&spec), run_nodes(&spec, 1));
    assert!(assert_alike(&tree, &nodes, AGREEMENT) > 4);
    let [a, b] = [&tree, &nodes].map(|run| run.audit.limit_violations[0].worst);
    assert!((a - b).abs() < AGREEMENT);
}

/// A clamped beam that bends and twists.
const CANTILEVER: &str = r#"
format = 1
[[body]]
name = "beam"
point_mass = [{ position_m = [0.5, 0.0, 0.0], mass_kg = 0.3 }]
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 0.8
bending_stiffness_y_n_m2 = 20.0
torsional_stiffness_n_m2 = 15.0
section_inertia_y_kg_m = 1e-3
section_inertia_z_kg_m = 1e-3
basis.elements = { count = 4 }
[body.damping]
DAMPING
[[joint]]
name = "wall"
parent = "ground"
child = "beam"
fixed = {}
"#;

/// Closed form: with one damping ratio for all modes the damping matrix is twice the ratio times the root of stiffness
/// over mass, C M⁻¹ C = 4 ζ² K; Rayleigh's is what it says.
#[test]
fn damping_of_the_modes_of_a_clamped_beam() {
    // eight modes whose stiffness spans five decades
    const ROUNDING: f64 = 1e-9;
    let point = |damping: &str| {
        let spec = parsed(&CANTILEVER.replace("DAMPING", damping));
        let nodal = nodal_model(&spec, 4).unwrap();
        nominal_point(&nodal, 0.0)
    };
    let linear = point("modal_ratio = 0.03").linear;
    let (mass, damping, stiffness) = (&linear.mass, &linear.damping, linear.stiffness());
    let twice = damping * mass.clone().cholesky().unwrap().solve(damping);
    let wanted = &stiffness * (4.0 * 0.03 * 0.03);
    assert!((twice - &wanted).amax() < ROUNDING * wanted.amax());
    let linear = point("rayleigh = { mass_per_s = 0.4, stiffness_s = 1e-3 }").linear;
    let wanted = &linear.mass * 0.4 + linear.stiffness() * 1e-3;
    assert!((&linear.damping - &wanted).amax() < ROUNDING * wanted.amax());
}

/// Closed form: viscous friction of a joint is in the linearised equations, with a spring or without.
#[test]
fn friction_is_linearised() {
    const ROUNDING: f64 = 1e-12;
    for spring in ["", "spring = { stiffness_n_m_per_rad = 3.0 }\n"] {
        let text = format!(
            "format = 1\n[[body]]\nname = \"arm\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }}\n\
             [[joint]]\nname = \"axle\"\nparent = \"ground\"\nchild = \"arm\"\n[joint.revolute]\n\
             axis = [0.0, 0.0, 1.0]\nfriction.viscous_n_m_s_per_rad = 0.7\n{spring}"
        );
        let spec = parsed(&text);
        let nodal = nodal_model(&spec, 1).unwrap();
        let point = nominal_point(&nodal, 0.0);
        let found = point.linear.damping[(0, 0)];
        assert!((found - 0.7).abs() < ROUNDING, "{found}");
    }
}

/// Two formulations: a rod between bodies that are fixed to each other holds nothing. Its rates are rounding, and nothing follows from them.
#[test]
fn a_loop_that_nothing_moves_is_redundant() {
    let body = |name: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = 1.5, center_of_mass_m = [0.1, 0.09, -0.12], inertia_kg_m2 = [0.04, 0.05, 0.05] }}\n"
        )
    };
    let text = format!(
        "format = 1\ngravity_m_per_s2 = [-4.2, -8.0, 1.4]\n{}{}{}\
         [[joint]]\nname = \"base\"\nparent = \"ground\"\nchild = {{ body = \"arm\", position_m = [-0.4, 0.2, 0.07], rotation_vector_rad = [-1.1, -1.3, -1.3] }}\n\
         revolute = {{ axis = [0.3, -0.8, -0.7], initial_angle_rad = -1.8 }}\n\
         [[joint]]\nname = \"weld\"\nparent = {{ body = \"arm\", position_m = [-0.5, 0.4, 0.35], rotation_vector_rad = [0.0, -1.2, 0.2] }}\n\
         child = {{ body = \"plate\", position_m = [0.25, -0.5, 0.4] }}\nfixed = {{}}\n\
         [[joint]]\nname = \"wrist\"\nparent = {{ body = \"arm\", position_m = [-0.1, -0.4, -0.2] }}\nchild = \"hand\"\n\
         revolute = {{ axis = [-0.7, -0.2, 0.0] }}\n\
         [[marker]]\nname = \"tip\"\nbody = \"hand\"\nposition_m = [0.2, -0.2, -0.3]\n\
         [simulation]\nduration_s = 0.2\nintegrator.dop853 = {{ rtol = 1e-10, atol = 1e-11 }}\n",
        body("arm"),
        body("plate"),
        body("hand"),
    );
    let free = run_tree(&parsed(&text));
    let ends = "[[loop]]\nname = \"rod\"\nfrom = { body = \"arm\", position_m = [-0.5, 0.4, 0.35] }\n\
        to = { body = \"plate\", position_m = [0.25, -0.5, 0.9] }\ndistance.length_m = 0.5\n";
    let spec = parsed(&format!("{text}{ends}"));
    let nodes = run_nodes(&spec, 1);
    let redundant = &nodes.audit.closures.as_ref().unwrap().redundant;
    assert_eq!(redundant.len(), 1, "{redundant:?}");
    let (apart, way) = distances(&free, &nodes, "tip");
    assert!(apart < AGREEMENT && way > 0.05, "{apart} {way}");
}

/// A parallelogram that starts flat, from where it can go on in two ways.
const FLAT: &str = r#"
format = 1
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }
node = [{ name = "pin", position_m = [0.3, 0.0, 0.0] }]
[[body]]
name = "coupler"
rigid = { mass_kg = 0.6, center_of_mass_m = [0.3, 0.05, 0.0], inertia_kg_m2 = [1e-4, 2e-2, 2e-2] }
node = [{ name = "end", position_m = [0.7, 0.0, 0.0] }]
[[body]]
name = "rocker"
rigid = { mass_kg = 0.4, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-4, 6e-3, 6e-3] }
node = [{ name = "end", position_m = [0.3, 0.0, 0.0] }]
[[joint]]
name = "motor"
parent = "ground"
child = "crank"
revolute = { axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 1.0 }
[[joint]]
name = "knuckle"
parent = { body = "crank", at = "pin" }
child = "coupler"
revolute = { axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = -1.0 }
[[joint]]
name = "pivot"
parent = { body = "ground", position_m = [0.7, 0.0, 0.0] }
child = "rocker"
revolute = { axis = [0.0, 0.0, 1.0], initial_rate_rad_per_s = 1.0 }
[[loop]]
name = "pin"
from = { body = "coupler", at = "end" }
to = { body = "rocker", at = "end" }
revolute = { axis = [0.0, 0.0, 1.0] }
[simulation]
duration_s = 0.5
"#;

/// Property: an equation that follows from the others at the start only ends the run as soon as it no longer does, in both formulations, and
/// `check` says before that the start is singular.
#[test]
fn runs_from_a_singular_start_end_where_the_loop_opens() {
    let spec = parsed(FLAT);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let warnings = mechanism.diagnose().warnings;
        assert!(warnings.contains(&Warning::SingularStart), "{warnings:?}");
        let run = mechanism.run(&sample_instants(mechanism.spec(), &[]));
        let Ending::Failed(error @ RunError::NoLongerRedundant { equation, .. }) = &run.ending
        else {
            panic!("{:?}", run.ending);
        };
        assert!(equation.starts_with("pin"), "{error}");
        assert!(error.time_s() < 0.5, "{error}");
    }
}
