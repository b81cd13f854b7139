//! `lissom eval`: the equations of motion at one state.

use lissom::evaluate::{ClosedEvaluation, ClosureError, EvaluateOptions, Evaluation, Targets};
use lissom::{Coordinate, CoordinateKind, Mechanism, State};
use lissom_io::resource;
use lissom_spec::nearest;
use serde_json::{Map, Value, json};

use crate::arguments::EvalArguments;
use crate::output::{counted, short, vector};
use crate::source;
use crate::stop::Stop;
use crate::verbs::configuration;

/// Problems of a state that are told; whoever has more will begin with these.
const TOLD: usize = 50;
/// Names that are listed where one is not known.
const LISTED: usize = 50;

/// How far a quaternion may be from unit length; six digits written by hand are within it.
const QUATERNION_SLACK: f64 = 1e-5;

/// Evaluates a model at the state of a file.
pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Stop> {
    let loaded = source::load(&arguments.model.named()?)?;
    let mechanism = loaded.mechanism.released()?;
    let start = source::start(&loaded, &arguments.start)?;
    let start = loaded.mechanism.released_state(&start, &mechanism)?;
    let names = Names {
        coordinates: mechanism.coordinates_at(&start)?,
        closures: mechanism.closure_names(),
    };
    let mut asked = read_state(arguments, start, &mechanism, &names)?;
    let configuration = mechanism.configured(&asked.state, &asked.targets)?;
    if let Some(configuration) = &configuration {
        asked.state = configuration.state.clone();
    }
    let evaluation = mechanism.evaluate(&asked.state, &asked.options)?;
    refuse_overflow(&names, &evaluation)?;
    let mut answer = as_json(&names, &evaluation);
    let mut words = String::new();
    if let Some(configuration) = configuration {
        let poses = mechanism.marker_poses(&asked.state)?;
        configuration::add(&mut answer, &configuration, &poses);
        words = configuration::in_words(&names, &configuration, &poses);
    }
    (arguments.answer).give(&answer, || words + &in_words(&names, &evaluation))
}

/// What a mechanism calls what is told of it.
pub(super) struct Names {
    /// Positions and velocities.
    pub(super) coordinates: [Vec<Coordinate>; 2],
    closures: Vec<String>,
}

impl Names {
    /// Whether a list of positions or of velocities has an entry of a name.
    fn lists(&self, key: &str, name: &str) -> bool {
        let coordinates = &self.coordinates[usize::from(key == "velocity")];
        coordinates.iter().any(|coordinate| coordinate.name == name)
    }

    fn velocities(&self) -> &[Coordinate] {
        &self.coordinates[1]
    }
}

/// What a state file asks for.
struct Asked {
    state: State,
    targets: Targets,
    options: EvaluateOptions,
}

/// A state of finite numbers may still be too large to be squared.
fn refuse_overflow(names: &Names, evaluation: &Evaluation) -> Result<(), Stop> {
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
            names.velocities()[at].name
        ))),
        None => Ok(()),
    }
}

/// What is asked by the file, beside which the state is that of the start or the one that `--from` names.
fn read_state(
    arguments: &EvalArguments,
    start: State,
    mechanism: &Mechanism,
    names: &Names,
) -> Result<Asked, Stop> {
    let Some(path) = &arguments.state else {
        let force = vec![0.0; start.velocity.len()];
        return Ok(Asked {
            state: start,
            targets: Targets::default(),
            options: EvaluateOptions {
                force,
                acceleration: None,
            },
        });
    };
    let shown = path.display();
    let bytes = resource::read_file(path)
        .map_err(|error| Stop::Failed(format!("{error}; --state names a JSON file")))?;
    let state: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Stop::Failed(format!("{shown} is not JSON: {error}")))?;
    let Value::Object(state) = state else {
        return Err(Stop::Failed(format!(
            "{shown} holds no object; write {{\"position\": …, \"velocity\": …}}"
        )));
    };
    parse_state(&state, &start, mechanism, names).map_err(|problems| {
        let told = problems.iter().take(TOLD);
        let told: Vec<String> = told.map(|problem| format!("error: {problem}")).collect();
        let only = if problems.len() > TOLD {
            format!(", of which the first {TOLD} are shown")
        } else {
            String::new()
        };
        Stop::Explained(format!(
            "{}\n{} found in {shown}{only}",
            told.join("\n"),
            counted(problems.len(), "problem")
        ))
    })
}

/// The state, or everything that is wrong with it.
fn parse_state(
    state: &Map<String, Value>,
    start: &State,
    mechanism: &Mechanism,
    names: &Names,
) -> Result<Asked, Vec<String>> {
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
    let [positions, velocities] = &names.coordinates;
    let mut read = |key: &str, coordinates: &[Coordinate], otherwise: &[f64]| {
        let mut values = otherwise.to_vec();
        if let Some(given) = state.get(key) {
            fill(key, given, coordinates, &mut values, &mut problems);
        }
        values
    };
    let mut position = read("position", positions, &start.position);
    let velocity = read("velocity", velocities, &start.velocity);
    let zeros = vec![0.0; velocities.len()];
    let force = read("force", velocities, &zeros);
    let acceleration = read("acceleration", velocities, &zeros);
    normalize_quaternions(positions, &mut position, &mut problems);
    let targets = configuration::targets(state, mechanism.spec(), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let asked = State {
        position,
        velocity,
        ..start.clone()
    };
    // lists give every entry, objects those that they name
    let is_given = |name: &str| {
        ["position", "velocity"]
            .iter()
            .any(|key| match state.get(*key) {
                Some(Value::Object(entries)) => entries.contains_key(name),
                Some(Value::Array(_)) => names.lists(key, name),
                _ => false,
            })
    };
    let asked = mechanism.followed(asked, &is_given);
    Ok(Asked {
        state: asked.map_err(|error| vec![error.to_string()])?,
        targets,
        options: EvaluateOptions {
            force,
            acceleration: state.contains_key("acceleration").then_some(acceleration),
        },
    })
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
    if let Some(near) = nearest(name, known.iter().copied()) {
        return format!("there is no {what} `{name}`; did you mean `{near}`?");
    }
    let more = match known.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" or one of {more} others"),
    };
    let listed = known[..known.len().min(LISTED)].join(", ");
    format!("there is no {what} `{name}`; use {listed}{more}")
}

/// Orientations are unit quaternions: small slips of rounding are mended, others told.
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

fn as_json(names: &Names, evaluation: &Evaluation) -> Value {
    let named = |coordinates: &[Coordinate]| -> Vec<Value> {
        let entry = |c: &Coordinate| json!({ "name": c.name, "unit": c.unit });
        coordinates.iter().map(entry).collect()
    };
    let mut object = json!({
        "positions": named(&names.coordinates[0]),
        "velocities": named(names.velocities()),
        "mass_matrix": rows(names, evaluation),
        "bias": evaluation.bias,
        "acceleration": evaluation.acceleration,
        "acceleration_by_composite_bodies": evaluation.acceleration_by_composite_bodies,
    });
    if let Some(force) = &evaluation.inverse_dynamics {
        object["inverse_dynamics"] = json!(force);
    }
    match &evaluation.closed {
        Some(Ok(closed)) => object["closed"] = closed_as_json(names, closed),
        Some(Err(error)) => object["closed"] = json!({ "problem": error.to_string() }),
        None => {}
    }
    object
}

/// The equations of the mechanism with its loops closed.
fn closed_as_json(names: &Names, closed: &ClosedEvaluation) -> Value {
    let speeds = closed.independent.len().max(1);
    let independent = (closed.independent.iter())
        .map(|(name, unit)| json!({ "name": name, "unit": unit }))
        .collect::<Vec<_>>();
    let forces: Map<String, Value> = (names.closures.iter().zip(&closed.closure_forces))
        .map(|(closure, wrench)| {
            let value = json!({ "force_n": wrench.force.0, "moment_n_m": wrench.moment.0 });
            (closure.clone(), value)
        })
        .collect();
    json!({
        "closure": closed.method,
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
fn closed_in_words(names: &Names, closed: &Result<ClosedEvaluation, ClosureError>) -> Vec<String> {
    let closed = match closed {
        Ok(closed) => closed,
        Err(error) => return vec![format!("\nwith loops closed: {error}")],
    };
    let mut lines = vec![format!(
        "\n{:<28}{:>13}{:>14}",
        format!("with loops closed, {}", closed.method),
        "bias",
        "force"
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
    for (coordinate, value) in names.velocities().iter().zip(&closed.acceleration) {
        lines.push(format!("{:<28}{:>13}", coordinate.name, short(*value)));
    }
    lines.push(String::new());
    for (closure, wrench) in names.closures.iter().zip(&closed.closure_forces) {
        lines.push(format!(
            "{closure} carries {} N and {} N m",
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

fn rows<'a>(names: &Names, evaluation: &'a Evaluation) -> Vec<&'a [f64]> {
    // a model of fixed joints has no row at all
    let n = names.velocities().len().max(1);
    evaluation.mass_matrix.chunks(n).collect()
}

fn in_words(names: &Names, evaluation: &Evaluation) -> String {
    let row = |name: &str, bias: &str, acceleration: &str, force: &str| {
        let line = format!("{name:<28}{bias:>13}{acceleration:>14}{force:>18}");
        line.trim_end().to_owned()
    };
    let inverse = evaluation.inverse_dynamics.as_ref();
    let heading = inverse.map_or("", |_| "inverse dynamics");
    let mut lines = vec![row("", "bias", "acceleration", heading)];
    for (index, coordinate) in names.velocities().iter().enumerate() {
        lines.push(row(
            &coordinate.name,
            &short(evaluation.bias[index]),
            &short(evaluation.acceleration[index]),
            &inverse.map_or_else(String::new, |force| short(force[index])),
        ));
    }
    lines.push("\nmass matrix".to_owned());
    lines.extend(matrix_in_words(rows(names, evaluation).into_iter()));
    if let Some(closed) = &evaluation.closed {
        lines.extend(closed_in_words(names, closed));
    }
    lines.push("\nAll digits, as JSON: --json".to_owned());
    lines.join("\n")
}
