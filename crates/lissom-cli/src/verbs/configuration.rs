//! Direct and inverse kinematics of `lissom eval`: what is given of a configuration, and what follows.

use lissom::ModelSpec;
use lissom::evaluate::{Configuration, MarkerPose, MarkerTarget, Targets};
use lissom::spec::TwistComponent;
use lissom_spatial::rotation_vector_of;
use serde_json::{Map, Value, json};

use super::eval::{Names, unknown};
use crate::output::{short, vector};

/// What the state file gives of a configuration.
pub(super) fn targets(
    state: &Map<String, Value>,
    spec: &ModelSpec,
    problems: &mut Vec<String>,
) -> Targets {
    let mut targets = Targets::default();
    if let Some(held) = state.get("held") {
        read_held(held, spec, &mut targets, problems);
    }
    if let Some(markers) = state.get("markers") {
        read_markers(markers, spec, &mut targets, problems);
    }
    targets
}

fn read_held(held: &Value, spec: &ModelSpec, targets: &mut Targets, problems: &mut Vec<String>) {
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
        let mut joints = spec.joint.iter().map(|joint| joint.name.as_str());
        if joints.clone().any(|joint| joint == name) {
            targets.held.push(name.to_owned());
        } else {
            problems.push(unknown(name, "joint", &mut joints));
        }
    }
}

fn read_markers(
    given: &Value,
    spec: &ModelSpec,
    targets: &mut Targets,
    problems: &mut Vec<String>,
) {
    let Value::Object(given) = given else {
        problems.push(format!(
            "`markers` is {given}, expected an object of markers by name"
        ));
        return;
    };
    let components = || TwistComponent::ALL.map(TwistComponent::key);
    for (name, wanted) in given {
        let mut markers = spec.marker.iter().map(|marker| marker.name.as_str());
        if !markers.clone().any(|marker| marker == name) {
            problems.push(unknown(name, "marker", &mut markers));
            continue;
        }
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
                        marker: name.clone(),
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

/// Adds the configuration to the answer.
pub(super) fn add(answer: &mut Value, configuration: &Configuration, poses: &[MarkerPose]) {
    answer["position"] = json!(configuration.state.position);
    answer["velocity"] = json!(configuration.state.velocity);
    answer["violation"] = json!(configuration.violation);
    let markers: Map<String, Value> = (poses.iter())
        .map(|marker| {
            let pose = json!({
                "position_m": marker.pose.translation.0,
                "rotation_vector_rad": rotation_vector_of(&marker.pose.rotation).0,
                "rotation_matrix": marker.pose.rotation.0,
                "velocity_m_per_s": marker.twist.linear.0,
                "angular_velocity_rad_per_s": marker.twist.angular.0,
            });
            (marker.name.clone(), pose)
        })
        .collect();
    answer["markers"] = Value::Object(markers);
}

pub(super) fn in_words(
    names: &Names,
    configuration: &Configuration,
    poses: &[MarkerPose],
) -> String {
    let state = &configuration.state;
    let [positions, velocities] = &names.coordinates;
    let mut lines = vec![format!("{:<28}{:>13}", "", "position")];
    for (coordinate, value) in positions.iter().zip(&state.position) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(format!("\n{:<28}{:>13}", "", "velocity"));
    for (coordinate, value) in velocities.iter().zip(&state.velocity) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(String::new());
    for marker in poses {
        lines.push(format!(
            "{} at {} m, moving at {} m/s",
            marker.name,
            vector(&marker.pose.translation.0),
            vector(&marker.twist.linear.0)
        ));
    }
    lines.push("\n".to_owned());
    lines.join("\n")
}
