//! Models from texts, and builders of texts that several tests share.

use std::fmt::Write;

use lissom_engine::model::Model;
use lissom_engine::nodal_model::{NodalModel, NodalModelError};
use lissom_engine::simulate::close_loops;
use lissom_spatial::Motion;
use lissom_spec::{ModelSpec, Override};
use lissom_tree::tree::{Kinematics, MarkerMotion, marker_motion};
use lissom_tree::{Closure, ClosureEnd, ClosureKind, Marker};

/// The model of a text that has no error.
#[track_caller]
pub(crate) fn parsed(text: &str) -> ModelSpec {
    changed(text, &[])
}

/// The same with changes as `--set` takes them.
#[track_caller]
pub(crate) fn changed(text: &str, changes: &[&str]) -> ModelSpec {
    let changes: Vec<Override> = (changes.iter())
        .map(|change| Override::parse(change).unwrap())
        .collect();
    ModelSpec::parse(text, &changes).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// The system of a text; its loops are as open as the text leaves them.
#[track_caller]
pub(crate) fn built(text: &str) -> Model {
    Model::build(&parsed(text)).unwrap()
}

/// The system of a model with its loops closed at the start.
#[track_caller]
pub(crate) fn assembled(spec: &ModelSpec) -> Model {
    let mut model = Model::build(spec).unwrap();
    close_loops(&mut model, spec.simulation.start_s).unwrap();
    model
}

/// The nodal model of a spec whose loops close.
#[track_caller]
pub(crate) fn nodal_model(
    spec: &ModelSpec,
    elements: usize,
) -> Result<NodalModel, Vec<NodalModelError>> {
    NodalModel::new(spec, &assembled(spec), elements)
}

/// A beam on the hinge `hub` about z; `keys` are those of the beam and what else belongs to its body.
pub(crate) fn hinged_beam(keys: &str) -> String {
    format!(
        "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\n{keys}\n{}",
        revolute("hub", "\"ground\"", "\"beam\"", "")
    )
}

/// The beam of Jonker & Aarts 2001, section 7, in so many modes.
pub(crate) fn jonker_beam(modes: usize) -> String {
    hinged_beam(&format!(
        "length_m = 8.0\nmass_per_length_kg_per_m = 0.20196691\nbending_stiffness_y_n_m2 = 566.6311\n\
         basis.clamped_free = {{ bending_y = {modes} }}"
    ))
}

/// Links `upper` and `fore` of a metre each on hinges about two axes, driven by torques that would turn a rigid arm along
/// cycloids, with a payload and the marker `hand` at the end; `beam` are more keys of both.
pub(crate) fn driven_arm(gravity: [f64; 3], axes: [&str; 2], beam: &str, cycloid: &str) -> String {
    let mut text = format!("format = 1\ngravity_m_per_s2 = {gravity:?}\n");
    let mut parent = "ground";
    for (link, axis) in ["upper", "fore"].into_iter().zip(axes) {
        write!(
            text,
            "\n[[body]]\nname = \"{link}\"\n[body.beam]\nlength_m = 1.0\n\
             mass_per_length_kg_per_m = 0.8\n{beam}\n\
             \n[[joint]]\nname = \"{link}_joint\"\nparent = \"{parent}\"\nchild = \"{link}\"\n\
             [joint.revolute]\naxis = {axis}\ninitial_angle_rad = 0.3\n\
             \n[[input]]\njoint = \"{link}_joint\"\n\
             rigid_inverse_dynamics.cycloid = {{ {cycloid} }}\n"
        )
        .unwrap();
        parent = link;
    }
    text.push_str(
        "\n[[payload]]\nname = \"load\"\nbody = \"fore\"\nmass_kg = 0.5\n\
         inertia_kg_m2 = [1e-3, 1e-3, 1e-3]\n\
         \n[[marker]]\nname = \"hand\"\nbody = \"fore\"\n",
    );
    text
}

/// A joint between two places, of the kind that its last lines say.
pub(crate) fn joint(name: &str, parent: &str, child: &str, kind: &str) -> String {
    format!("[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = {child}\n{kind}\n")
}

/// A hinge about z with more keys, each behind a comma.
pub(crate) fn revolute(name: &str, parent: &str, child: &str, keys: &str) -> String {
    let kind = format!("revolute = {{ axis = [0.0, 0.0, 1.0]{keys} }}");
    joint(name, parent, child, &kind)
}

/// A hinge about z that starts at an angle.
pub(crate) fn hinge(name: &str, parent: &str, child: &str, angle: f64) -> String {
    let keys = format!(", initial_angle_rad = {angle:.17}");
    revolute(name, parent, child, &keys)
}

/// The place of a marker as the end of a closure.
pub(crate) fn end_at(model: &Model, marker: &str) -> ClosureEnd {
    let marker = model
        .linkage
        .markers
        .iter()
        .find(|m| m.name == marker)
        .unwrap();
    ClosureEnd {
        body: marker.body,
        place: marker.place.clone(),
    }
}

/// A closure between the places of two markers.
pub(crate) fn closure(
    model: &Model,
    name: &str,
    kind: ClosureKind,
    from: &str,
    to: &str,
) -> Closure {
    Closure {
        name: name.to_owned(),
        kind,
        from: end_at(model, from),
        to: end_at(model, to),
    }
}

/// Where a marker is at a state, and how it moves.
pub(crate) fn marker_at(
    model: &Model,
    marker: &Marker,
    position: &[f64],
    velocity: &[f64],
) -> MarkerMotion<f64> {
    let system = &model.linkage.system;
    let body = marker.body.unwrap();
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, position, velocity);
    kinematics.update_poses(system);
    let mut influence = vec![Motion::zero(); system.bodies()[body].modes()];
    let place = &marker.place;
    marker_motion(
        system,
        &kinematics,
        body,
        place,
        position,
        velocity,
        &mut influence,
    )
}
