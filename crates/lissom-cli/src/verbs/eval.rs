//! `lissom eval`: the equations of motion at one state.

use std::path::Path;

use lissom::closure::{ClosureError, Targets, close};
use lissom::model::{Coordinate, CoordinateKind, Model, nearest};
use lissom::simulate::{self, ClosedEvaluation, Evaluation, StateInput};
use serde_json::{Map, Value, json};

use crate::arguments::EvalArguments;
use crate::output::{counted, short, vector};
use crate::stop::Stop;
use crate::verbs::configuration;
use crate::{output, source};

/// How far a quaternion may be from unit length; six digits written by hand are within it.
const QUATERNION_SLACK: f64 = 1e-5;

/// Evaluates a model at the state of a file.
pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model, &arguments.changes.overrides())?;
    source::refuse_nodes(&loaded, "eval")?;
    let (mut state, targets) = read_state(&arguments.state, loaded.mechanism.tree())?;
    let mut violation = None;
    if let Some(targets) = &targets {
        let closed = close(&loaded.mechanism.tree().linkage, targets)
            .map_err(|error| Stop::Failed(error.to_string()))?;
        violation = Some(closed.violation);
        (state.position, state.velocity) = (closed.position, closed.velocity);
    }
    let evaluation = simulate::evaluate(loaded.mechanism.tree(), &state);
    refuse_overflow(loaded.mechanism.tree(), &evaluation)?;
    let mut answer = as_json(loaded.mechanism.tree(), &evaluation);
    if let Some(violation) = violation {
        configuration::add(&mut answer, loaded.mechanism.tree(), &state, violation);
    }
    if arguments.json {
        output::json(&answer)
    } else {
        if targets.is_some() {
            output::say(&configuration::in_words(loaded.mechanism.tree(), &state));
        }
        output::say(&in_words(loaded.mechanism.tree(), &evaluation));
        Ok(())
    }
}

/// A state of finite numbers may still be too large to be squared.
fn refuse_overflow(model: &Model, evaluation: &Evaluation) -> Result<(), Stop> {
    let inverse = evaluation.inverse_dynamics.iter().flatten();
    let not_finite = |value: &f64| !value.is_finite();
    let at = (evaluation.bias.iter().position(not_finite))
        .or_else(|| evaluation.acceleration.iter().position(not_finite))
        .or_else(|| {
            let closed = evaluation.closed.as_ref()?.as_ref().ok()?;
            closed.acceleration.iter().position(not_finite)
        })
        .or_else(|| inverse.clone().position(not_finite));
    match at {
        Some(at) => Err(Stop::Failed(format!(
            "the equations give no finite number for {} at this state; use smaller numbers in it, and \
             check the masses of the model",
            model.linkage.velocities[at].name
        ))),
        None => Ok(()),
    }
}

type Read = (StateInput, Option<Targets>);

fn read_state(path: &Path, model: &Model) -> Result<Read, Stop> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Stop::Failed(format!(
            "cannot read {shown}: {error}; --state names a JSON file"
        ))
    })?;
    let state: Value = serde_json::from_str(&text)
        .map_err(|error| Stop::Failed(format!("{shown} is not JSON: {error}")))?;
    let Value::Object(state) = state else {
        return Err(Stop::Failed(format!(
            "{shown} holds no object; write {{\"position\": …, \"velocity\": …}}"
        )));
    };
    parse_state(&state, model).map_err(|problems| {
        Stop::Explained(format!(
            "{}\n{} found in {shown}",
            problems
                .iter()
                .map(|problem| format!("error: {problem}"))
                .collect::<Vec<_>>()
                .join("\n"),
            counted(problems.len(), "problem")
        ))
    })
}

/// The state, or everything that is wrong with it.
fn parse_state(state: &Map<String, Value>, model: &Model) -> Result<Read, Vec<String>> {
    const KEYS: [&str; 6] = [
        "position",
        "velocity",
        "force",
        "acceleration",
        "held",
        "markers",
    ];
    let mut problems: Vec<String> = (state.keys())
        .filter(|key| !KEYS.contains(&key.as_str()))
        .map(|key| unknown(key, "key", KEYS))
        .collect();
    let n = model.linkage.velocities.len();
    let mut read = |key: &str, coordinates: &[Coordinate], otherwise: &[f64]| {
        let mut values = otherwise.to_vec();
        if let Some(given) = state.get(key) {
            fill(key, given, coordinates, &mut values, &mut problems);
        }
        values
    };
    let mut position = read(
        "position",
        &model.linkage.positions,
        &model.initial_position,
    );
    let velocity = read(
        "velocity",
        &model.linkage.velocities,
        &model.initial_velocity,
    );
    let zeros = vec![0.0; n];
    let force = read("force", &model.linkage.velocities, &zeros);
    let acceleration = read("acceleration", &model.linkage.velocities, &zeros);
    normalize_quaternions(&model.linkage.positions, &mut position, &mut problems);
    let mut targets = configuration::targets(state, model, &mut problems);
    if let Some(targets) = &mut targets {
        targets.position.clone_from(&position);
        targets.velocity.clone_from(&velocity);
    }
    if problems.is_empty() {
        let input = StateInput {
            position,
            velocity,
            force,
            acceleration: state.contains_key("acceleration").then_some(acceleration),
        };
        Ok((input, targets))
    } else {
        Err(problems)
    }
}

/// Puts a list in order, or an object by name, into `values`.
fn fill(
    key: &str,
    given: &Value,
    coordinates: &[Coordinate],
    values: &mut [f64],
    problems: &mut Vec<String>,
) {
    let names = || {
        coordinates
            .iter()
            .map(|coordinate| coordinate.name.as_str())
    };
    let mut numbers: Vec<(usize, &Value)> = Vec::new();
    match given {
        Value::Array(list) if list.len() == coordinates.len() => {
            numbers.extend(list.iter().enumerate());
        }
        Value::Array(list) => problems.push(format!(
            "`{key}` has {}, expected {}: {}",
            counted(list.len(), "number"),
            coordinates.len(),
            names().collect::<Vec<_>>().join(", ")
        )),
        Value::Object(entries) => {
            for (name, number) in entries {
                match names().position(|known| known == name) {
                    Some(index) => numbers.push((index, number)),
                    None => problems.push(unknown(name, key, names())),
                }
            }
        }
        other => problems.push(format!(
            "`{key}` is {other}, expected a list of {} or an object by name",
            counted(coordinates.len(), "number")
        )),
    }
    for (index, number) in numbers {
        match number.as_f64() {
            Some(number) if number.is_finite() => values[index] = number,
            _ => problems.push(format!(
                "`{key}` of {} is {number}, expected a finite number",
                coordinates[index].name
            )),
        }
    }
}

pub(super) fn unknown<'a>(
    name: &str,
    what: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
        None => format!("there is no {what} `{name}`; use {}", known.join(", ")),
    }
}

/// Attitudes are unit quaternions: small slips of rounding are mended, others told.
fn normalize_quaternions(
    coordinates: &[Coordinate],
    position: &mut [f64],
    problems: &mut Vec<String>,
) {
    let mut at = 0;
    while at < coordinates.len() {
        if coordinates[at].kind != CoordinateKind::Quaternion {
            at += 1;
            continue;
        }
        let quaternion = &mut position[at..at + 4];
        let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (length - 1.0).abs() > QUATERNION_SLACK {
            problems.push(format!(
                "the quaternion that begins at {} has length {}, expected 1; divide its four \
                 components by that",
                coordinates[at].name,
                short(length)
            ));
        } else {
            for component in quaternion {
                *component /= length;
            }
        }
        at += 4;
    }
}

fn as_json(model: &Model, evaluation: &Evaluation) -> Value {
    let named = |coordinates: &[Coordinate]| -> Vec<Value> {
        let entry = |c: &Coordinate| json!({ "name": c.name, "unit": c.unit });
        coordinates.iter().map(entry).collect()
    };
    let mut object = json!({
        "positions": named(&model.linkage.positions),
        "velocities": named(&model.linkage.velocities),
        "mass_matrix": rows(model, evaluation),
        "bias": evaluation.bias,
        "acceleration": evaluation.acceleration,
        "acceleration_by_composite_bodies": evaluation.acceleration_by_composite_bodies,
    });
    if let Some(force) = &evaluation.inverse_dynamics {
        object["inverse_dynamics"] = json!(force);
    }
    match &evaluation.closed {
        Some(Ok(closed)) => object["closed"] = closed_as_json(model, closed),
        Some(Err(error)) => object["closed"] = json!({ "problem": error.to_string() }),
        None => {}
    }
    object
}

/// The equations of the mechanism with its loops closed.
fn closed_as_json(model: &Model, closed: &ClosedEvaluation) -> Value {
    let speeds = closed.independent.len().max(1);
    let independent = (closed.independent.iter())
        .map(|(name, unit)| json!({ "name": name, "unit": unit }))
        .collect::<Vec<_>>();
    let forces: Map<String, Value> = (model.linkage.closures.iter().zip(&closed.closure_forces))
        .map(|(closure, wrench)| {
            let value = json!({ "force_n": wrench.force.0, "moment_n_m": wrench.moment.0 });
            (closure.name.clone(), value)
        })
        .collect();
    json!({
        "independent": independent,
        "complement": closed.complement.chunks(speeds).collect::<Vec<_>>(),
        "mass_matrix": closed.mass_matrix.chunks(speeds).collect::<Vec<_>>(),
        "bias": closed.bias,
        "force": closed.force,
        "acceleration": closed.acceleration,
        "closures": forces,
    })
}

/// The same for a person.
fn closed_in_words(model: &Model, closed: &Result<ClosedEvaluation, ClosureError>) -> Vec<String> {
    let closed = match closed {
        Ok(closed) => closed,
        Err(error) => return vec![format!("\nwith loops closed: {error}")],
    };
    let mut lines = vec![format!(
        "\n{:<28}{:>13}{:>14}",
        "with loops closed", "bias", "force"
    )];
    for (i, (name, _)) in closed.independent.iter().enumerate() {
        let (bias, force) = (short(closed.bias[i]), short(closed.force[i]));
        lines.push(format!("{name:<28}{bias:>13}{force:>14}"));
    }
    lines.push("\nmass matrix with loops closed".to_owned());
    lines.extend(matrix_in_words(
        closed.mass_matrix.chunks(closed.independent.len().max(1)),
    ));
    lines.push(format!(
        "\n{:<28}{:>13}",
        "with loops closed", "acceleration"
    ));
    for (coordinate, value) in model.linkage.velocities.iter().zip(&closed.acceleration) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(String::new());
    for (closure, wrench) in model.linkage.closures.iter().zip(&closed.closure_forces) {
        lines.push(format!(
            "{} carries {} N and {} N m",
            closure.name,
            vector(&wrench.force.0),
            vector(&wrench.moment.0)
        ));
    }
    lines
}

fn matrix_in_words<'a>(rows: impl Iterator<Item = &'a [f64]>) -> Vec<String> {
    rows.map(|row| {
        let row: Vec<String> = row.iter().map(|&x| format!("{:>12}", short(x))).collect();
        row.join(" ")
    })
    .collect()
}

fn rows<'a>(model: &Model, evaluation: &'a Evaluation) -> Vec<&'a [f64]> {
    // a model of fixed joints has no row at all
    let n = model.linkage.velocities.len().max(1);
    evaluation.mass_matrix.chunks(n).collect()
}

fn in_words(model: &Model, evaluation: &Evaluation) -> String {
    let row = |name: &str, bias: &str, acceleration: &str, force: &str| {
        let line = format!("{name:<28}{bias:>13}{acceleration:>14}{force:>18}");
        line.trim_end().to_owned()
    };
    let inverse = evaluation.inverse_dynamics.as_ref();
    let heading = inverse.map_or("", |_| "inverse dynamics");
    let mut lines = vec![row("", "bias", "acceleration", heading)];
    for (index, coordinate) in model.linkage.velocities.iter().enumerate() {
        lines.push(row(
            &coordinate.name,
            &short(evaluation.bias[index]),
            &short(evaluation.acceleration[index]),
            &inverse.map_or_else(String::new, |force| short(force[index])),
        ));
    }
    lines.push("\nmass matrix".to_owned());
    lines.extend(matrix_in_words(rows(model, evaluation).into_iter()));
    if let Some(closed) = &evaluation.closed {
        lines.extend(closed_in_words(model, closed));
    }
    lines.push("\nAll digits, as JSON: --json".to_owned());
    lines.join("\n")
}
