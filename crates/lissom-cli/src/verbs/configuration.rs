//! Direct and inverse kinematics of `lissom eval`: what is given of a configuration, and what follows.

use lissom::closure::{MarkerTarget, Targets};
use lissom::model::spec::TwistComponent;
use lissom::model::{CoordinateKind, Marker, Model};
use lissom::simulate::StateInput;
use lissom::spatial::{Motion, rotation_vector_of};
use lissom::tree::{Kinematics, MarkerMotion, marker_motion};
use serde_json::{Map, Value, json};

use super::eval::unknown;
use crate::output::{short, vector};

/// What the state file gives of a configuration; `None` where nothing has to be solved for.
pub(super) fn targets(
    state: &Map<String, Value>,
    model: &Model,
    problems: &mut Vec<String>,
) -> Option<Targets> {
    let mut targets = Targets {
        branches: model.assembly.branches.clone(),
        ..Targets::default()
    };
    if let Some(held) = state.get("held") {
        read_held(held, model, &mut targets, problems);
    }
    if let Some(markers) = state.get("markers") {
        read_markers(markers, model, &mut targets, problems);
    }
    let asked = state.contains_key("held") || state.contains_key("markers");
    (asked || !model.linkage.closures.is_empty()).then_some(targets)
}

fn read_held(held: &Value, model: &Model, targets: &mut Targets, problems: &mut Vec<String>) {
    let Value::Array(names) = held else {
        problems.push(format!(
            "`held` is {held}, expected a list of names of joints"
        ));
        return;
    };
    for name in names {
        let Some(name) = name.as_str() else {
            problems.push(format!("`held` has {name}, expected the name of a joint"));
            continue;
        };
        // the velocities of a joint begin with its name
        let belongs = |at: &usize| {
            let velocity = &model.linkage.velocities[*at];
            let rest = velocity.name.strip_prefix(name);
            velocity.kind == CoordinateKind::Joint && rest.is_some_and(|rest| rest.starts_with('.'))
        };
        let before = targets.held.len();
        targets
            .held
            .extend((0..model.linkage.velocities.len()).filter(belongs));
        if targets.held.len() == before {
            let joints = model
                .linkage
                .system
                .bodies()
                .iter()
                .map(|body| body.joint.name.as_str());
            problems.push(unknown(name, "joint", joints));
        }
    }
}

fn read_markers(given: &Value, model: &Model, targets: &mut Targets, problems: &mut Vec<String>) {
    let Value::Object(given) = given else {
        problems.push(format!(
            "`markers` is {given}, expected an object of markers by name"
        ));
        return;
    };
    let components = || TwistComponent::ALL.map(TwistComponent::key);
    for (name, wanted) in given {
        let Some(marker) = model
            .linkage
            .markers
            .iter()
            .position(|marker| marker.name == *name)
        else {
            let markers = model
                .linkage
                .markers
                .iter()
                .map(|marker| marker.name.as_str());
            problems.push(unknown(name, "marker", markers));
            continue;
        };
        let Value::Object(wanted) = wanted else {
            problems.push(format!(
                "marker {name} is {wanted}, expected an object such as {{\"x\": 0.5}}"
            ));
            continue;
        };
        let empty = Map::new();
        let velocity = match wanted.get("velocity") {
            None => &empty,
            Some(Value::Object(velocity)) => velocity,
            Some(other) => {
                problems.push(format!(
                    "velocity of marker {name} is {other}, expected an object such as {{\"x\": 0.5}}"
                ));
                continue;
            }
        };
        for (key, value) in wanted.iter().filter(|(key, _)| *key != "velocity") {
            let component = TwistComponent::ALL.into_iter().find(|c| c.key() == key);
            let rate = velocity.get(key).map_or(Some(0.0), Value::as_f64);
            match (component, value.as_f64(), rate) {
                (Some(component), Some(position), Some(rate)) => {
                    targets.markers.push(MarkerTarget {
                        marker,
                        component,
                        position,
                        rate,
                    });
                }
                (None, ..) => {
                    problems.push(unknown(
                        key,
                        "component",
                        components().into_iter().chain(["velocity"]),
                    ));
                }
                _ => problems.push(format!("`{key}` of marker {name} is no finite number")),
            }
        }
        for key in velocity.keys().filter(|key| !wanted.contains_key(*key)) {
            problems.push(format!(
                "the velocity of marker {name} has `{key}`, but its position has not; give both"
            ));
        }
    }
}

/// Every marker on a body with its motion at a state.
fn motions<'m>(model: &'m Model, state: &StateInput) -> Vec<(&'m Marker, MarkerMotion<f64>)> {
    let system = &model.linkage.system;
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, &state.position, &state.velocity);
    kinematics.update_poses(system);
    let most = system.bodies().iter().map(lissom::model::Body::modes).max();
    let mut influence = vec![Motion::zero(); most.unwrap_or(0)];
    let mut motion = |marker: &'m Marker| {
        let motion = marker_motion(
            system,
            &kinematics,
            marker.body?,
            &marker.place,
            &state.position,
            &state.velocity,
            &mut influence,
        );
        Some((marker, motion))
    };
    model
        .linkage
        .markers
        .iter()
        .filter_map(&mut motion)
        .collect()
}

/// Adds the configuration to the answer.
pub(super) fn add(answer: &mut Value, model: &Model, state: &StateInput, violation: f64) {
    answer["position"] = json!(state.position);
    answer["velocity"] = json!(state.velocity);
    answer["violation"] = json!(violation);
    let markers: Map<String, Value> = motions(model, state)
        .into_iter()
        .map(|(marker, motion)| {
            let pose = json!({
                "position_m": motion.pose.translation.0,
                "rotation_vector_rad": rotation_vector_of(&motion.pose.rotation).0,
                "rotation_matrix": motion.pose.rotation.0,
                "velocity_m_per_s": motion.twist.linear.0,
                "angular_velocity_rad_per_s": motion.twist.angular.0,
            });
            (marker.name.clone(), pose)
        })
        .collect();
    answer["markers"] = Value::Object(markers);
}

pub(super) fn in_words(model: &Model, state: &StateInput) -> String {
    let mut lines = vec![format!("{:<28}{:>13}", "", "position")];
    for (coordinate, value) in model.linkage.positions.iter().zip(&state.position) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(format!("\n{:<28}{:>13}", "", "velocity"));
    for (coordinate, value) in model.linkage.velocities.iter().zip(&state.velocity) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(String::new());
    for (marker, motion) in motions(model, state) {
        lines.push(format!(
            "{} at {} m, moving at {} m/s",
            marker.name,
            vector(&motion.pose.translation.0),
            vector(&motion.twist.linear.0)
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}
