//! What is wrong with a model is found, all of it, at the right place and in the right words.
//!
//! The truth held here is the promise of the format: one edit of a sound model makes one error, whose
//! path, text and message a reader would have given too.

use lissom::model::spec::{AttachmentSpec, BodySpec, JointKind, Place};
use lissom::model::{
    ErrorKind, ModelError, ModelSpec, Override, TEMPLATE, json_schema, tree_order,
};

/// A sound model with something of everything.
const SOUND: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, 0.0, -9.81]

[[body]]
name = "base"
rigid = { mass_kg = 5.0, inertia_kg_m2 = [0.2, 0.3, 0.4], products_of_inertia_kg_m2 = [0.01, 0.02, 0.03] }
node = [{ name = "flange", position_m = [0.1, 0.2, 0.3] }]

[[body]]
name = "boom"
damping = { modal_ratios = [0.01, 0.02, 0.03, 0.04] }
initial = { elastic = { bending_y_1 = 0.01 }, elastic_rate = { torsion_1 = 0.1 } }
node = [{ name = "middle", position_m = [0.6, 0.0, 0.0] }]
point_mass = [{ at = "middle", mass_kg = 0.25 }]
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
axial_stiffness_n = 2.0e5
torsional_stiffness_n_m2 = 15.0
section_inertia_y_kg_m = 1.0e-5
[body.beam.basis.clamped_free]
bending_y = 2
stretch = 1
torsion = 1

[[body]]
name = "stepped"
damping.rayleigh = { mass_per_s = 0.1, stiffness_s = 1.0e-4 }
[body.beam]
segments = [
  { length_m = 0.5, mass_per_length_kg_per_m = 0.4, bending_stiffness_z_n_m2 = 25.0, elements = 2 },
  { length_m = 0.3, mass_per_length_kg_per_m = 0.2, bending_stiffness_z_n_m2 = 5.0 },
]
basis.elements = { count = 3, modes = 4 }

[[body]]
name = "panel"
[body.nodal]
coordinates = ["flap", "twist"]
stiffness = [[30.0, 1.0], [1.0, 50.0]]
[[body.nodal.nodes]]
name = "hinge"
position_m = [0.0, 0.0, 0.0]
[[body.nodal.nodes]]
name = "edge"
position_m = [1.0, 0.0, 0.0]
mass_kg = 2.0
center_of_mass_m = [0.1, 0.0, 0.0]
inertia_kg_m2 = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]
influence = [[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.7, 0.0]]

[[body]]
name = "scan"
nodal_file = "scan.json"

[[joint]]
name = "float"
parent = "ground"
child = "base"
[joint.free]
spring = { linear_stiffness_n_per_m = 10.0 }
friction = { angular_viscous_n_m_s_per_rad = 0.1 }

[[joint]]
name = "shoulder"
parent = { body = "base", at = "flange", rotation_vector_rad = [0.0, 0.0, 0.5] }
child = "boom"
[joint.universal]
first = { axis = [0.0, 0.0, 1.0] }
second = { axis = [0.0, 1.0, 0.0] }

[[joint]]
name = "slide"
parent = { body = "boom", position_m = [0.9, 0.0, 0.0] }
child = "stepped"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
motor = { inertia_kg_m2 = 1.0e-4, gear_ratio_rad_per_m = 300.0 }
spring = { stiffness_n_per_m = 100.0, rest_displacement_m = 0.05 }
limits = { min_m = 0.0, max_m = 0.4, max_force_n = 90.0 }

[[joint]]
name = "wrist"
parent = "boom"
child = { body = "panel", at = "hinge" }
[joint.revolute]
axis = [0.0, 1.0, 0.0]
motor = { inertia_kg_m2 = 1.0e-4, gear_ratio = 50.0, stiffness_n_m_per_rad = 900.0 }
friction = { viscous_n_m_s_per_rad = 0.2, coulomb_n_m = 0.1 }
limits = { min_rad = -1.0, max_rad = 1.0 }

[[joint]]
name = "ball"
parent = "stepped"
child = { body = "scan", at = "any" }
[joint.spherical]
spring = { stiffness_n_m_per_rad = 3.0 }

[[payload]]
name = "tool"
body = "stepped"
mass_kg = 0.5
inertia_kg_m2 = [1.0e-3, 1.0e-3, 1.0e-3]

[[marker]]
name = "tip"
body = "boom"
at = "tip"

[[input]]
joint = "shoulder"
component = 2
torque_table = { time_s = [0.0, 0.5, 1.0], value_n_m = [0.0, 1.0, 0.0] }

[[input]]
marker = "tip"
direction = [0.0, 0.0, 1.0]
force_sines = { amplitude_n = [1.0, 0.5], frequency_rad_per_s = [3.0, 9.0] }

[[input]]
joint = "wrist"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 0.7, duration_s = 1.5 }

[[motion]]
joint = "slide"
cycloid = { final_displacement_m = 0.2, duration_s = 2.0 }

[simulation]
duration_s = 2.0
[simulation.integrator.radau]
rtol = 1e-7

[output]
sample_period_s = 0.01
channels = ["tip"]
"#;

/// The errors of a text, or none.
fn errors_of(text: &str) -> Vec<ModelError> {
    ModelSpec::parse(text, &[]).err().unwrap_or_default()
}

fn sound() -> ModelSpec {
    ModelSpec::parse(SOUND, &[]).unwrap()
}

/// The sound model with one text exchanged, which must be there exactly once.
fn edited(from: &str, to: &str) -> String {
    assert_eq!(
        SOUND.matches(from).count(),
        1,
        "{from:?} is not there exactly once"
    );
    SOUND.replacen(from, to, 1)
}

/// One edit makes one error with this path, located text and message.
#[track_caller]
fn assert_error(from: &str, to: &str, path: &str, located: &str, message: &str) {
    let text = edited(from, to);
    let errors = errors_of(&text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let error = &errors[0];
    let range = error.locate(&text);
    let found = range.map(|range| text[range].to_owned());
    assert_eq!(
        (
            error.path.to_string().as_str(),
            found.as_deref(),
            error.to_string().as_str()
        ),
        (path, Some(located), message)
    );
    assert!(!error.remedy().is_empty());
}

#[test]
fn the_sound_model_is_sound() {
    let spec = sound();
    assert_eq!(spec.body.len(), 5);
    assert!(matches!(spec.joint[0].kind(), Some(JointKind::Free(_))));
    assert_eq!(tree_order(&spec), [0, 1, 2, 4, 3]);
    assert_eq!(
        spec.body[1].elastic_coordinates().unwrap(),
        ["bending_y_1", "bending_y_2", "stretch_1", "torsion_1"]
    );
    let stepped = spec.find_body("stepped").unwrap();
    assert_eq!(stepped.elastic_coordinates().unwrap().len(), 4);
    assert_eq!(
        stepped.position(Place::Unsaid, false),
        Some([0.8, 0.0, 0.0])
    );
    assert_eq!(stepped.position(Place::Unsaid, true), Some([0.0; 3]));
}

#[test]
fn the_template_is_sound() {
    let spec = ModelSpec::parse(TEMPLATE, &[]).unwrap();
    assert_eq!(spec.body.len(), 2);
    assert_eq!(tree_order(&spec), [0, 1]);
}

/// The example that the documentation shows.
#[test]
fn the_documented_example_is_sound() {
    let text = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]

[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
bending_stiffness_z_n_m2 = 25.0
axial_stiffness_n = 2.0e5
torsional_stiffness_n_m2 = 15.0
[body.beam.basis.clamped_free]      # or free_free, or elements = { count = 4, modes = 6 }
bending_y = 2
bending_z = 2
[body.damping]
modal_ratio = 0.01

[[joint]]
name = "shoulder"
parent = "ground"                   # or { body = "base", at = "tip" }
child = "boom"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 0.0

[[input]]
joint = "shoulder"
[input.torque_step]
value_n_m = 2.0
from_s = 0.0
until_s = 0.5

[[marker]]
name = "tip"
body = "boom"
at = "tip"

[fidelity]
preset = "default"

[simulation]
duration_s = 2.0
[simulation.integrator.dop853]
rtol = 1e-9

[output]
sample_period_s = 0.005
"#;
    let spec = ModelSpec::parse(text, &[]).unwrap();
    assert_eq!(spec.input[0].torque_step.unwrap().until_s, Some(0.5));
    // the variant that its comment names
    let elements = text.replace(
        "[body.beam.basis.clamped_free]      # or free_free, or elements = { count = 4, modes = 6 }\nbending_y = 2\nbending_z = 2\n",
        "basis.elements = { count = 4, modes = 6 }\n",
    );
    assert_ne!(elements, text);
    assert!(ModelSpec::parse(&elements, &[]).is_ok());
}

/// Writing a spec and reading it again changes nothing, in TOML and in JSON.
#[test]
fn a_spec_survives_writing_and_reading() {
    for text in [SOUND, TEMPLATE] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let toml_text = toml::to_string(&spec).unwrap();
        assert_eq!(ModelSpec::parse(&toml_text, &[]).unwrap(), spec);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ModelSpec>(&json).unwrap(), spec);
    }
}

/// The copy of the schema beside the code is the one that the code makes.
#[test]
fn the_checked_in_schema_is_up_to_date() {
    let stored = include_str!("../schema/lissom.schema.json");
    assert!(
        stored == json_schema(),
        "crates/lissom/schema/lissom.schema.json differs from what `lissom schema` prints"
    );
}

#[test]
fn syntax() {
    let text = edited("name = \"base\"", "name = \"base");
    let errors = errors_of(&text);
    assert!(!errors.is_empty());
    assert!(matches!(errors[0].kind, ErrorKind::Syntax { .. }));
    let range = errors[0].locate(&text).unwrap();
    assert_eq!(text[..range.start].lines().count(), 6, "{:?}", &text[range]);
    assert!(
        errors[0]
            .to_string()
            .starts_with("the text is not valid toml: ")
    );
    // two broken lines are two errors
    let text = text.replacen("mass_kg = 2.0", "mass_kg = ", 1);
    assert!(errors_of(&text).len() >= 2);
}

#[test]
fn keys() {
    assert_error(
        "length_m = 1.2",
        "lenght_m = 1.2",
        "body[1].beam.lenght_m",
        "lenght_m",
        "unknown key `lenght_m`",
    );
    assert_error(
        "channels = [\"tip\"]",
        "colour = 3",
        "output.colour",
        "colour",
        "unknown key `colour`",
    );
    assert_error(
        "length_m = 1.2",
        "length_mm = 1200.0",
        "body[1].beam.length_mm",
        "length_mm",
        "key `length_mm` has the wrong unit, or none",
    );
    assert_error(
        "rest_displacement_m = 0.05",
        "rest_angle_rad = 0.05",
        "joint[2].prismatic.spring.rest_angle_rad",
        "rest_angle_rad",
        "key `rest_angle_rad` has the wrong unit, or none",
    );
    assert_error(
        "mass_kg = 0.5\n",
        "",
        "payload[0]",
        "[[payload]]",
        "key `mass_kg` is missing",
    );
    assert_error(
        "format = 1\n",
        "format = 2\n",
        "format",
        "2",
        "format = 2 is not known",
    );
    let errors = errors_of(&edited("format = 1\n", ""));
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].kind,
        ErrorKind::MissingKey {
            key: "format".into()
        }
    );
}

#[test]
fn types() {
    assert_error(
        "length_m = 1.2",
        "length_m = \"long\"",
        "body[1].beam.length_m",
        "\"long\"",
        "`length_m` is the string \"long\", expected a number",
    );
    assert_error(
        "bending_y = 2",
        "bending_y = 2.5",
        "body[1].beam.basis.clamped_free.bending_y",
        "2.5",
        "`bending_y` is the number 2.5, expected a whole number",
    );
    assert_error(
        "bending_y = 2",
        "bending_y = -2",
        "body[1].beam.basis.clamped_free.bending_y",
        "-2",
        "`bending_y` is -2, expected zero or more",
    );
    assert_error(
        "axis = [1.0, 0.0, 0.0]",
        "axis = [1.0, 0.0]",
        "joint[2].prismatic.axis",
        "[1.0, 0.0]",
        "`axis` has 2 entries, expected 3",
    );
    assert_error(
        "parent = \"stepped\"",
        "parent = 3",
        "joint[4].parent",
        "3",
        "`parent` is 3, expected a string or a table",
    );
    assert_error(
        "marker = \"tip\"\n",
        "marker = \"tip\"\nframe = \"moon\"\n",
        "input[1].frame",
        "\"moon\"",
        "`frame` is \"moon\", which is not known here",
    );
    assert_error(
        "damping.rayleigh = { mass_per_s = 0.1, stiffness_s = 1.0e-4 }",
        "damping = { modal_ratio = 0.1, rayleigh = {} }",
        "body[2].damping",
        "damping",
        "2 (`modal_ratio`, `rayleigh`) of `modal_ratio`, `modal_ratios`, `rayleigh` is given, expected \
         exactly one",
    );
    assert_error(
        "nodal_file = \"scan.json\"\n",
        "",
        "body[4]",
        "[[body]]",
        "none of `rigid`, `beam`, `nodal`, `nodal_file` is given, expected exactly one",
    );
}

#[test]
fn numbers_that_are_not() {
    assert_error(
        "center_of_mass_m = [0.1, 0.0, 0.0]",
        "center_of_mass_m = [0.1, nan, 0.0]",
        "body[3].nodal.nodes[1].center_of_mass_m[1]",
        "nan",
        "`center_of_mass_m` is NaN, which is not a finite number",
    );
    assert_error(
        "rtol = 1e-7",
        "rtol = -inf",
        "simulation.integrator.radau.rtol",
        "-inf",
        "`rtol` is -inf, which is not a finite number",
    );
    assert_error(
        "bending_y_1 = 0.01",
        "bending_y_1 = inf",
        "body[1].initial.elastic.bending_y_1",
        "inf",
        "`bending_y_1` is inf, which is not a finite number",
    );
}

#[test]
fn names_and_references() {
    assert_error(
        "name = \"tool\"",
        "name = \"\"",
        "payload[0].name",
        "\"\"",
        "the payload has an empty name",
    );
    assert_error(
        "name = \"float\"",
        "name = \"ball\"",
        "joint[4].name",
        "\"ball\"",
        "the joint name \"ball\" is used twice",
    );
    assert_error(
        "{ name = \"middle\", position_m = [0.6, 0.0, 0.0] }",
        "{ name = \"middle\", position_m = [0.6, 0.0, 0.0] }, { name = \"tip\", position_m = [0.6, 0.0, 0.0] }",
        "body[1].node[1].name",
        "\"tip\"",
        "the node name \"tip\" is reserved",
    );
    assert_error(
        "body = \"boom\"\nat = \"tip\"",
        "body = \"bom\"\nat = \"tip\"",
        "marker[0].body",
        "\"bom\"",
        "there is no body called \"bom\"",
    );
    assert_error(
        "joint = \"shoulder\"",
        "joint = \"knee\"",
        "input[0].joint",
        "\"knee\"",
        "there is no joint called \"knee\"",
    );
    assert_error(
        "marker = \"tip\"",
        "marker = \"top\"",
        "input[1].marker",
        "\"top\"",
        "there is no marker called \"top\"",
    );
    let errors = errors_of(&edited("marker = \"tip\"", "marker = \"top\""));
    assert_eq!(errors[0].remedy(), "did you mean \"tip\"?");
}

#[test]
fn places() {
    assert_error(
        "at = \"flange\"",
        "at = \"flank\"",
        "joint[1].parent.at",
        "\"flank\"",
        "body \"base\" has no place called \"flank\"",
    );
    assert_error(
        "body = \"boom\"\nat = \"tip\"",
        "body = \"boom\"\nat = \"tip\"\nposition_m = [0.0, 0.0, 0.0]",
        "marker[0]",
        "[[marker]]",
        "the place is said twice, by `at` and by `position_m`",
    );
    assert_error(
        "child = { body = \"panel\", at = \"hinge\" }",
        "child = \"panel\"",
        "joint[3].child",
        "\"panel\"",
        "body \"panel\" is made of nodes, so the place needs the name of a node",
    );
    assert_error(
        "position_m = [0.9, 0.0, 0.0]",
        "position_m = [1.3, 0.0, 0.0]",
        "joint[2].parent.position_m",
        "[1.3, 0.0, 0.0]",
        "x = 1.3 m is outside the beam, which reaches from 0 to 1.2 m",
    );
    assert_error(
        "position_m = [0.6, 0.0, 0.0]",
        "position_m = [0.6, 0.1, 0.0]",
        "body[1].node[0].position_m",
        "[0.6, 0.1, 0.0]",
        "the position [0.6, 0.1, 0] is beside the axis of the beam",
    );
}

#[test]
fn tree() {
    assert_error(
        "parent = \"ground\"\nchild = \"base\"",
        "parent = \"stepped\"\nchild = \"base\"",
        "joint[0].parent.body",
        "\"stepped\"",
        "the bodies carry each other in a loop: boom -> stepped -> base -> boom",
    );
    assert_error(
        "[[payload]]\n",
        "[[joint]]\nname = \"extra\"\nparent = \"ground\"\nchild = \"boom\"\nfixed = {}\n[[payload]]\n",
        "joint[5].child.body",
        "\"boom\"",
        "body \"boom\" is carried by joint \"shoulder\" and by joint \"extra\"",
    );
    assert_error(
        "[[joint]]\nname = \"float\"",
        "[[body]]\nname = \"loose\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }\n[[joint]]\nname = \"float\"",
        "body[5].name",
        "\"loose\"",
        "no joint carries body \"loose\"",
    );
    assert_error(
        "[[payload]]\n",
        "[[joint]]\nname = \"extra\"\nparent = \"boom\"\nchild = \"ground\"\nfixed = {}\n[[payload]]\n",
        "joint[5].child",
        "\"ground\"",
        "joint \"extra\" has the ground as its child",
    );
    let errors = errors_of("format = 1\n");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "the model has no body");
    assert_eq!(errors[0].locate("format = 1\n"), None);
}

#[test]
fn masses_and_inertias() {
    assert_error(
        "mass_kg = 5.0",
        "mass_kg = 0.0",
        "body[0].rigid.mass_kg",
        "0.0",
        "`mass_kg` is 0, expected a number above zero",
    );
    assert_error(
        "mass_kg = 0.25",
        "mass_kg = -0.25",
        "body[1].point_mass[0].mass_kg",
        "-0.25",
        "`mass_kg` is -0.25, expected a number above zero",
    );
    assert_error(
        "products_of_inertia_kg_m2 = [0.01, 0.02, 0.03]",
        "products_of_inertia_kg_m2 = [0.3, 0.0, 0.0]",
        "body[0].rigid.inertia_kg_m2",
        "[0.2, 0.3, 0.4]",
        "`inertia_kg_m2` is not positive definite",
    );
    assert_error(
        "inertia_kg_m2 = [0.2, 0.3, 0.4]",
        "inertia_kg_m2 = [0.2, 0.3, 0.6]",
        "body[0].rigid.inertia_kg_m2",
        "[0.2, 0.3, 0.6]",
        "no distribution of mass has this `inertia_kg_m2`: one principal moment exceeds the sum of the \
         others",
    );
    assert_error(
        "[[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "[[0.1, 0.01, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "body[3].nodal.nodes[1].inertia_kg_m2",
        "[[0.1, 0.01, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.25]]",
        "`inertia_kg_m2` is not symmetric: entry (2, 1) is 0, its mirror image is 0.01",
    );
    assert_error(
        "stiffness = [[30.0, 1.0], [1.0, 50.0]]",
        "stiffness = [[30.0, 90.0], [90.0, 50.0]]",
        "body[3].nodal.stiffness",
        "[[30.0, 90.0], [90.0, 50.0]]",
        "`stiffness` is not positive definite",
    );
    // the products are entries of the tensor: these are those of a sphere at (1, 1, 1), minus a little
    let mut sphere = sound();
    let rigid = sphere.body[0].rigid.as_mut().unwrap();
    rigid.inertia_kg_m2 = [2.01, 2.01, 2.01];
    rigid.products_of_inertia_kg_m2 = [-1.0, -1.0, -1.0];
    assert!(sphere.check().is_ok());
}

#[test]
fn beams() {
    assert_error(
        "bending_stiffness_y_n_m2 = 40.0",
        "bending_stiffness_y_n_m2 = -40.0",
        "body[1].beam.bending_stiffness_y_n_m2",
        "-40.0",
        "`bending_stiffness_y_n_m2` is -40, expected a number above zero",
    );
    assert_error(
        "length_m = 0.3",
        "length_m = -0.3",
        "body[2].beam.segments[1].length_m",
        "-0.3",
        "`length_m` is -0.3, expected a number above zero",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.free_free.bending_z = 2",
        "body[2].beam.segments[0].elements",
        "elements",
        "`elements` has no effect: the basis is not one of elements",
    );
    assert_error(
        "axial_stiffness_n = 2.0e5\n",
        "",
        "body[1].beam",
        "beam",
        "stretch needs `axial_stiffness_n`",
    );
    assert_error(
        "torsional_stiffness_n_m2 = 15.0\n",
        "",
        "body[1].beam",
        "beam",
        "torsion needs `torsional_stiffness_n_m2`",
    );
    assert_error(
        "section_inertia_y_kg_m = 1.0e-5\n",
        "",
        "body[1].beam",
        "beam",
        "torsion needs `section_inertia_y_kg_m`",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 3, modes = 400 }",
        "body[2].beam.basis.elements.modes",
        "400",
        "`modes` is 400, expected 1 to 10 modes of each deformation for this mesh",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { count = 3, boundary = \"free\" }",
        "body[2].beam.basis.elements",
        "elements",
        "a mesh that is free at both ends needs `modes`",
    );
    assert_error(
        "basis.elements = { count = 3, modes = 4 }",
        "basis.elements = { modes = 4 }",
        "body[2].beam.basis.elements",
        "elements",
        "key `count` is missing",
    );
    assert_error(
        "bending_stiffness_z_n_m2 = 5.0 }",
        "bending_stiffness_z_n_m2 = 5.0, section_inertia_y_kg_m = -1.0 }",
        "body[2].beam.segments[1].section_inertia_y_kg_m",
        "-1.0",
        "`section_inertia_y_kg_m` is -1, expected zero or more",
    );
}

#[test]
fn elastic_coordinates() {
    assert_error(
        "bending_y_1 = 0.01",
        "bending_y_3 = 0.01",
        "body[1].initial.elastic.bending_y_3",
        "bending_y_3",
        "body \"boom\" has no elastic coordinate \"bending_y_3\"",
    );
    assert_error(
        "modal_ratios = [0.01, 0.02, 0.03, 0.04]",
        "modal_ratios = [0.01, 0.02, 0.03]",
        "body[1].damping.modal_ratios",
        "[0.01, 0.02, 0.03]",
        "`modal_ratios` has 3 entries, expected 4",
    );
    assert_error(
        "modal_ratios = [0.01, 0.02, 0.03, 0.04]",
        "modal_ratio = 1.0",
        "body[1].damping.modal_ratio",
        "1.0",
        "`modal_ratio` is 1, expected a ratio from 0 to below 1, where 0.01 is 1 % of critical damping",
    );
    assert_error(
        "node = [{ name = \"flange\"",
        "damping.modal_ratio = 0.01\nnode = [{ name = \"flange\"",
        "body[0].damping",
        "damping",
        "`damping` has no effect: a rigid body does not deform",
    );
    let mut rigid_beam = sound();
    let beam = rigid_beam.body[2].beam.as_mut().unwrap();
    beam.basis =
        lissom::model::spec::BasisSpec::FreeFree(lissom::model::spec::ModeCounts::default());
    beam.segments[0].elements = None;
    let errors = rigid_beam.check().unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0].to_string(),
        "the beam \"stepped\" has no elastic coordinate"
    );
}

#[test]
fn joints() {
    assert_error(
        "axis = [1.0, 0.0, 0.0]",
        "axis = [0.0, 0.0, 0.0]",
        "joint[2].prismatic.axis",
        "[0.0, 0.0, 0.0]",
        "`axis` is zero and has no direction",
    );
    assert_error(
        "second = { axis = [0.0, 1.0, 0.0] }",
        "second = { axis = [0.0, 0.0, -2.0] }",
        "joint[1].universal.second.axis",
        "[0.0, 0.0, -2.0]",
        "the two axes of the universal joint are parallel",
    );
    assert_error(
        "limits = { min_m = 0.0, max_m = 0.4",
        "limits = { min_m = 0.5, max_m = 0.4",
        "joint[2].prismatic.limits.min_m",
        "0.5",
        "`min_m` = 0.5 is above the upper limit 0.4",
    );
    assert_error(
        "gear_ratio = 50.0",
        "gear_ratio = 0.0",
        "joint[3].revolute.motor.gear_ratio",
        "0.0",
        "`gear_ratio` is 0, expected a ratio other than zero",
    );
    assert_error(
        "spring = { stiffness_n_m_per_rad = 3.0 }",
        "spring = { stiffness_n_m_per_rad = -3.0 }",
        "joint[4].spherical.spring.stiffness_n_m_per_rad",
        "-3.0",
        "`stiffness_n_m_per_rad` is -3, expected zero or more",
    );
}

#[test]
fn inputs_and_motions() {
    assert_error(
        "time_s = [0.0, 0.5, 1.0]",
        "time_s = [0.0, 0.5, 0.5]",
        "input[0].torque_table.time_s[2]",
        "0.5",
        "`time_s` does not rise: 0.5 follows 0.5",
    );
    assert_error(
        "value_n_m = [0.0, 1.0, 0.0]",
        "value_n_m = [0.0, 1.0]",
        "input[0].torque_table.value_n_m",
        "[0.0, 1.0]",
        "`value_n_m` has 2 entries, expected 3",
    );
    assert_error(
        "component = 2",
        "component = 3",
        "input[0].component",
        "3",
        "component = 3, but joint \"shoulder\" has components 1 to 2",
    );
    assert_error(
        "torque_table = { time_s = [0.0, 0.5, 1.0], value_n_m = [0.0, 1.0, 0.0] }",
        "force_constant = { value_n = 1.0 }",
        "input[0].force_constant",
        "force_constant",
        "`force_constant` does not suit joint \"shoulder\", which takes a torque here",
    );
    assert_error(
        "joint = \"shoulder\"\ncomponent = 2\n",
        "joint = \"float\"\ncomponent = 6\n",
        "input[0].torque_table",
        "torque_table",
        "`torque_table` does not suit joint \"float\", which takes a force here",
    );
    assert_error(
        "[simulation]\n",
        "[[input]]\njoint = \"slide\"\nforce_constant.value_n = 1.0\n[simulation]\n",
        "motion[0].joint",
        "\"slide\"",
        "component 1 of joint \"slide\" has a prescribed motion and an input",
    );
    assert_error(
        "final_displacement_m = 0.2",
        "final_angle_rad = 0.2",
        "motion[0].cycloid.final_angle_rad",
        "final_angle_rad",
        "key `final_angle_rad` has the wrong unit, or none",
    );
    assert_error(
        "final_angle_rad = 0.7, ",
        "",
        "input[2].rigid_inverse_dynamics.cycloid",
        "cycloid",
        "key `final_angle_rad` is missing",
    );
    assert_error(
        "joint = \"wrist\"",
        "joint = \"ball\"",
        "input[2].rigid_inverse_dynamics",
        "rigid_inverse_dynamics",
        "the motion of joint \"ball\" cannot be prescribed: a spherical joint has no single angle",
    );
    assert_error(
        "[simulation]\n",
        "[[motion]]\njoint = \"slide\"\nconstant_rate.rate_m_per_s = 1.0\n[simulation]\n",
        "motion[1].joint",
        "\"slide\"",
        "component 1 of joint \"slide\" has two prescribed motions",
    );
    assert_error(
        "direction = [0.0, 0.0, 1.0]\n",
        "",
        "input[1]",
        "[[input]]",
        "key `direction` is missing",
    );
    let fixed = edited(
        "[joint.spherical]\nspring = { stiffness_n_m_per_rad = 3.0 }\n",
        "fixed = {}\n",
    );
    let fixed = fixed.replacen("joint = \"wrist\"", "joint = \"ball\"", 1);
    let errors = errors_of(&fixed);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(
        errors[0].to_string(),
        "joint \"ball\" is fixed and has no degree of freedom"
    );
}

#[test]
fn simulation_and_output() {
    assert_error(
        "rtol = 1e-7",
        "rtol = 0.0",
        "simulation.integrator.radau.rtol",
        "0.0",
        "`rtol` is 0, expected a number above zero",
    );
    assert_error(
        "[simulation.integrator.radau]\nrtol = 1e-7",
        "[simulation.integrator.newmark]\nstep_s = -0.1",
        "simulation.integrator.newmark.step_s",
        "-0.1",
        "`step_s` is -0.1, expected a number above zero",
    );
    assert_error(
        "sample_period_s = 0.01",
        "sample_period_s = 0.0",
        "output.sample_period_s",
        "0.0",
        "`sample_period_s` is 0, expected a number above zero",
    );
}

/// Ten different errors in one file are ten errors, in the order of the file.
#[test]
fn everything_is_found_at_once() {
    let text = r#"
format = 1
graviti_m_per_s2 = [0.0, 0.0, 0.0]
[[body]]
name = "a"
rigid = { mass_kg = -1.0, inertia_kg_m2 = [1.0, 1.0, 3.0] }
[[body]]
name = "b"
rigid = { mass_kg = "heavy", inertia_kg_m2 = [1.0, 1.0, nan] }
[[body]]
name = "c"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = -3.0
basis.clamped_free.bending_y = 1
[[joint]]
name = "j"
parent = "b"
child = "a"
revolute = { axis = [0, 0, 0] }
[[joint]]
name = "k"
parent = "a"
child = "b"
revolute = { axis = [0, 0, 1] }
[[joint]]
name = "l"
parent = "groud"
child = "c"
fixed = {}
[[marker]]
body = "c"
"#;
    let found: Vec<String> = errors_of(text)
        .iter()
        .map(|error| error.path.to_string())
        .collect();
    let expected = [
        "graviti_m_per_s2",
        "body[0].rigid.mass_kg",
        "body[0].rigid.inertia_kg_m2",
        "body[1].rigid.mass_kg",
        "body[1].rigid.inertia_kg_m2[2]",
        "body[2].beam.bending_stiffness_y_n_m2",
        "joint[0].parent.body",
        "joint[0].revolute.axis",
        "joint[2].parent.body",
    ];
    // without the missing name, on which the rest could depend
    let named = text.replace("[[marker]]\n", "[[marker]]\nname = \"m\"\nat = \"top\"\n");
    let all: Vec<String> = errors_of(&named)
        .iter()
        .map(|error| error.path.to_string())
        .collect();
    assert_eq!(all, [&expected[..], &["marker[0].at"]].concat());
    assert_eq!(all.len(), 10);
    // with it, what the text itself shows is still reported
    assert_eq!(
        found,
        ["graviti_m_per_s2", "body[1].rigid.mass_kg", "marker[0]"]
    );
}

#[test]
fn overrides_reach_every_value() {
    let set = |text: &str| Override::parse(text).unwrap();
    let overrides = [
        set("joint.wrist.revolute.initial_angle_rad=0.3"),
        set("body[1].beam.length_m = 2"),
        set("simulation.start_s=1.5"),
        set("simulation.integrator={ dopri5 = { rtol = 1e-5 } }"),
        set("fidelity.preset=jain_rodriguez"),
        set("joint.\"wrist\".parent=\"stepped\""),
    ];
    let spec = ModelSpec::parse(SOUND, &overrides).unwrap();
    assert_eq!(
        spec.joint[3].revolute.as_ref().unwrap().initial_angle_rad,
        0.3
    );
    assert_eq!(spec.body[1].beam.as_ref().unwrap().length_m, Some(2.0));
    assert_eq!(spec.simulation.start_s, 1.5);
    assert_eq!(spec.joint[3].parent, AttachmentSpec::new("stepped"));

    // a wrong value is blamed on the override, not on the text of the file
    let errors = ModelSpec::parse(SOUND, &[set("body.base.rigid.mass_kg=-1")]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path.to_string(), "body[0].rigid.mass_kg");
    assert_eq!(
        errors[0].set_by.as_deref(),
        Some("body.base.rigid.mass_kg=-1")
    );
    assert_eq!(errors[0].locate(SOUND), None);
    assert!(errors[0].remedy().contains("set by the override"));

    let errors = ModelSpec::parse(SOUND, &[set("body.bse.rigid.mass_kg=1")]).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "override `body.bse.rigid.mass_kg=1` cannot be applied: nothing there is called `bse`; did you \
         mean `base`?"
    );
    for bad in ["", "a", "=1", "a..b=1", "a=", "a=[1", "a=1\nb=2"] {
        let error = Override::parse(bad).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::BadOverride { .. }),
            "{bad:?}"
        );
    }
    for unreachable in [
        "format.x=1",
        "body=3",
        "body.9.name=3",
        "body.base=3",
        "gravity_m_per_s2.0=1",
    ] {
        assert!(
            ModelSpec::parse(SOUND, &[set(unreachable)]).is_err(),
            "{unreachable}"
        );
    }
}

/// A spec made in Rust goes through the same checks.
#[test]
fn specs_made_by_hand_are_checked_too() {
    let mut spec = sound();
    spec.body.push(BodySpec {
        name: "ground".into(),
        ..BodySpec::default()
    });
    let messages: Vec<String> = spec
        .check()
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        messages,
        [
            "the body name \"ground\" is reserved",
            "none of `rigid`, `beam`, `nodal`, `nodal_file` is given, expected exactly one",
            "no joint carries body \"ground\"",
        ]
    );
}

/// Whatever is done to a model, an answer comes back, and every error is located inside the text.
#[test]
fn damaged_texts_never_panic() {
    let look_at = |text: &str| {
        for error in errors_of(text) {
            let _ = (error.to_string(), error.remedy());
            if let Some(range) = error.locate(text) {
                assert!(text.get(range).is_some());
            }
        }
    };
    for text in [SOUND, TEMPLATE] {
        for end in (0..text.len())
            .step_by(7)
            .filter(|end| text.is_char_boundary(*end))
        {
            look_at(&text[..end]);
        }
        // Knuth's MMIX generator: any reproducible stream will do
        let mut state = 2026_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        for _ in 0..500 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random(4) {
                let place = random(bytes.len());
                bytes[place] = b" \n\"=[]{}.,-019eaxn"[random(18)];
            }
            look_at(&String::from_utf8_lossy(&bytes));
        }
    }
}
