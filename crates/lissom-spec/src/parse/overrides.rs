//! Overrides: single values of a model set from outside its file, as `--set` does.

use toml::{Table, Value};

use crate::error::{ErrorKind, ModelError};
use crate::path::Path;
use crate::spelling::nearest;

/// Where the integrator of a model stands.
const INTEGRATOR: [&str; 2] = ["simulation", "integrator"];

/// The key of the formulation.
const FORMULATION: &str = "formulation";

/// A value to be set before the model is read, written as `joint.shoulder.revolute.axis=[0, 0, 1]`.
///
/// Every step of the path is a key; in a list of tables it is the name of an item, or its place counted
/// from zero. Steps with dots in them are quoted. The step `*` stands for every item of a list, or every key of a table, in which the
/// rest of the path is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    steps: Vec<String>,
    value: Value,
    text: String,
}

impl Override {
    /// Reads an override. The value is TOML; a single word need not be quoted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::BadOverride`] if there is no `=`, the path has an empty step or the value is not TOML.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let bad = |reason: &str| bad_override(text, reason);
        let (steps, value) = split(text).ok_or_else(|| bad("it has no `=`"))?;
        if steps.iter().any(String::is_empty) {
            return Err(bad("a step of its path is empty"));
        }
        let value = read_value(value).ok_or_else(|| bad("its value is not toml"))?;
        Ok(Self {
            steps,
            value,
            text: text.to_owned(),
        })
    }

    /// The override as it was written.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    /// The steps of its path.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// Sets the value wherever its path leads; returns the paths it was set at.
    pub(super) fn apply(&self, document: &mut Table) -> Result<Vec<Path>, ModelError> {
        if !self.steps.iter().any(|step| step == EVERY) {
            return Ok(vec![self.apply_once(document)?]);
        }
        let places = matches(document, &self.steps);
        if places.is_empty() {
            return Err(bad_override(&self.text, NOWHERE));
        }
        let set = |steps| {
            let each = Self {
                steps,
                ..self.clone()
            };
            each.apply_once(document)
        };
        places.into_iter().map(set).collect()
    }

    /// Sets the value of a path that leads to one place, making tables on the way where there are none.
    fn apply_once(&self, document: &mut Table) -> Result<Path, ModelError> {
        let bad = |reason: String| bad_override(&self.text, &reason);
        let Some((last, steps)) = self.steps.split_last() else {
            return Err(bad("its path is empty".into()));
        };
        if self.keeps_formulation(document) {
            return Ok(Path::root().key(FORMULATION));
        }
        self.replace_integrator(document);
        let mut path = Path::root();
        let mut table = document;
        let mut steps = steps.iter();
        while let Some(key) = steps.next() {
            path = path.key(key);
            let entry = table
                .entry(key.clone())
                .or_insert_with(|| Value::Table(Table::new()));
            table = match entry {
                Value::Table(inside) => inside,
                Value::Array(items) => {
                    let name = steps.next().unwrap_or(last);
                    let index = find_item(items, name).map_err(bad)?;
                    path = path.index(index);
                    match items.get_mut(index) {
                        Some(Value::Table(inside)) => inside,
                        _ => return Err(bad(format!("`{path}` is not a table"))),
                    }
                }
                _ => return Err(bad(format!("`{path}` is not a table"))),
            };
        }
        table.insert(last.clone(), self.value.clone());
        Ok(path.key(last))
    }

    /// Whether the model has the formulation that is set without settings: it keeps its own.
    fn keeps_formulation(&self, document: &Table) -> bool {
        let Value::Table(choice) = &self.value else {
            return false;
        };
        let bare = |(kind, settings): (&String, &Value)| {
            settings.as_table().is_some_and(Table::is_empty)
                && (document.get(FORMULATION)).is_some_and(|given| given.get(kind).is_some())
        };
        self.steps == [FORMULATION] && !choice.is_empty() && choice.iter().all(bare)
    }

    /// A setting of another integrator than the model's takes that one's place: a model has exactly one.
    fn replace_integrator(&self, document: &mut Table) {
        if let [simulation, integrator, kind, ..] = self.steps.as_slice()
            && [simulation.as_str(), integrator.as_str()] == INTEGRATOR
            && let Some(Value::Table(simulation)) = document.get_mut(simulation)
            && let Some(Value::Table(given)) = simulation.get_mut(integrator)
        {
            given.retain(|other, _| other == kind);
        }
    }
}

fn bad_override(text: &str, reason: &str) -> ModelError {
    let kind = ErrorKind::BadOverride {
        text: text.to_owned(),
        reason: reason.to_owned(),
    };
    ModelError::new(Path::root(), kind)
}

/// The step that stands for all there are.
const EVERY: &str = "*";

/// What is wrong with a path that leads nowhere.
pub(super) const NOWHERE: &str = "nothing that the model writes has this path";

/// The paths that `steps` stand for, in the order of the document: those that lead to something written. Items of lists are called by
/// their names, or by their places where they have none.
pub(super) fn matches(document: &Table, steps: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    extend_matches(Inside::Table(document), steps, &mut Vec::new(), &mut found);
    found
}

/// Where a path has led to.
#[derive(Clone, Copy)]
enum Inside<'d> {
    Table(&'d Table),
    Value(&'d Value),
}

fn extend_matches(
    inside: Inside<'_>,
    steps: &[String],
    taken: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) {
    let Some((step, rest)) = steps.split_first() else {
        found.push(taken.clone());
        return;
    };
    let mut enter = |name: &str, value: &Value| {
        taken.push(name.to_owned());
        extend_matches(Inside::Value(value), rest, taken, found);
        taken.pop();
    };
    match inside {
        Inside::Table(table) | Inside::Value(Value::Table(table)) => {
            let meant = |key: &str| step == EVERY || step == key;
            for (key, value) in table.iter().filter(|(key, _)| meant(key)) {
                enter(key, value);
            }
        }
        Inside::Value(Value::Array(items)) if step == EVERY => {
            for (at, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Value::as_str);
                enter(name.unwrap_or(&at.to_string()), item);
            }
        }
        Inside::Value(Value::Array(items)) => {
            if let Ok(at) = find_item(items, step) {
                enter(step, &items[at]);
            }
        }
        Inside::Value(_) => {}
    }
}

/// The item of that name or place.
pub(super) fn find_item(items: &[Value], wanted: &str) -> Result<usize, String> {
    let name_of = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
    let names: Vec<Option<String>> = items.iter().map(name_of).collect();
    if let Some(index) = names
        .iter()
        .position(|name| name.as_deref() == Some(wanted))
    {
        return Ok(index);
    }
    match wanted.parse::<usize>() {
        Ok(index) if index < items.len() => return Ok(index),
        Ok(index) => {
            return Err(match items.len().checked_sub(1) {
                Some(last) => format!("there is no item {index}, only 0 to {last}"),
                None => format!("there is no item {index}, the list is empty"),
            });
        }
        Err(_) => {}
    }
    let known = names.iter().flatten().map(String::as_str);
    let nameless = names.iter().all(Option::is_none);
    Err(match nearest(wanted, known) {
        Some(name) => format!("nothing there is called `{wanted}`; did you mean `{name}`?"),
        None if nameless && !items.is_empty() => format!(
            "nothing there is called `{wanted}`: these items have no names and go by number, 0 to {}",
            items.len() - 1
        ),
        None => format!("nothing there is called `{wanted}`"),
    })
}

/// The steps of a path, which has no `=` outside quotes.
pub(super) fn steps_of(path: &str) -> Option<Vec<String>> {
    let text = format!("{path}=");
    let (steps, rest) = split(&text)?;
    (rest.is_empty() && !steps.iter().any(String::is_empty)).then_some(steps)
}

/// Steps as a path that [`split`] reads.
pub(super) fn path_of(steps: &[String]) -> String {
    let plain = |step: &&String| !step.contains(['.', '[', ']', '=', '"', '\'', ' ']);
    let step = |step: &String| match Some(step).filter(plain) {
        Some(step) => step.clone(),
        None if step.contains('"') => format!("'{step}'"),
        None => format!("\"{step}\""),
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    steps.join(".")
}

/// The steps before the first `=` outside quotes, and the text after it.
fn split(text: &str) -> Option<(Vec<String>, &str)> {
    let mut steps = vec![String::new()];
    let mut quote = None;
    for (position, letter) in text.char_indices() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('=', None) => {
                let steps = steps.iter().map(|step| step.trim().to_owned()).collect();
                return Some((steps, &text[position + 1..]));
            }
            // body[1] is body.1, as error messages write it
            ('.' | '[', None) => steps.push(String::new()),
            (']', None) => {}
            _ => {
                if let Some(step) = steps.last_mut() {
                    step.push(letter);
                }
            }
        }
    }
    None
}

/// A TOML value, or a word without quotes.
fn read_value(text: &str) -> Option<Value> {
    let text = text.trim();
    let line = format!("value = {text}");
    if let Ok(mut table) = toml::from_str::<Table>(&line) {
        // a line break in the text could have smuggled in more keys
        return if table.len() == 1 {
            table.remove("value")
        } else {
            None
        };
    }
    let is_word = text
        .chars()
        .all(|letter| letter.is_alphanumeric() || "_-".contains(letter));
    (is_word && !text.is_empty()).then(|| Value::String(text.to_owned()))
}
