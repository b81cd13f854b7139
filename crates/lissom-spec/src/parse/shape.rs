//! Walks a document along the JSON Schema: unknown keys, missing keys, wrong types, all of them.
//!
//! Only what `schemars` writes for the structs of the format is understood: `$ref`, `oneOf` and `anyOf`,
//! `type`, `properties`, `required`, `additionalProperties`, `items`, `minItems`, `minimum` and `const`.

use serde_json::Value as Json;
use toml::{Table, Value};

use crate::check::limits::MOST_ERRORS;
use crate::error::{ErrorKind, ModelError};
use crate::path::{Path, Step};
use crate::spelling::{in_other_unit, nearest};

/// What the walk found, and what it changed so that the document can be read nevertheless.
pub(super) struct Findings {
    pub(super) errors: Vec<ModelError>,
    pub(super) repairs: Vec<Repair>,
    /// Whether the repaired document may be read; false when names are broken, by which everything refers
    /// to everything else, and when there are so many repairs that the rest means nothing.
    pub(super) readable: bool,
}

/// One change to the document.
pub(super) enum Repair {
    /// A value was put in or exchanged.
    Replaced { path: Path },
    /// An unknown key was taken out of the table at `path`, though `meant` may have been meant by it.
    Removed { path: Path, meant: String },
}

impl Repair {
    /// Whether an error is but the consequence of the repair.
    pub(super) fn explains(&self, error: &ModelError) -> bool {
        match self {
            Self::Replaced { path } => {
                error.path.starts_with(path) || depends_on(&error.kind, &error.path, path)
            }
            Self::Removed { path, meant } => {
                (error.path == *path && asks_for(&error.kind, meant))
                    || depends_on(&error.kind, &error.path, &path.key(meant))
            }
        }
    }
}

/// Whether an error asks for a key.
fn asks_for(kind: &ErrorKind, wanted: &String) -> bool {
    match kind {
        ErrorKind::MissingKey { key } => key == wanted,
        ErrorKind::NotExactlyOne { choices, .. } => choices.contains(wanted),
        _ => false,
    }
}

/// Whether an error compares several values, one of which may be the repaired one: then nobody knows.
fn depends_on(kind: &ErrorKind, path: &Path, repaired: &Path) -> bool {
    let key = repaired.last_key();
    let same_item = path
        .steps()
        .starts_with(&repaired.steps()[..repaired.steps().len().min(2)]);
    match kind {
        ErrorKind::NoJoint { .. }
        | ErrorKind::Adrift { .. }
        | ErrorKind::NotReversible { .. }
        | ErrorKind::OnItself { .. }
        | ErrorKind::CutPrescribed { .. }
        | ErrorKind::CutFree { .. } => {
            let sides: [&str; 6] = ["parent", "child", "from", "to", "body", "cut"];
            sides.contains(&key)
        }
        ErrorKind::OutsideBeam { .. } => ["length_m", "segments"].contains(&key),
        ErrorKind::UnknownPlace { .. } => {
            let named: [&str; 5] = ["node", "nodes", "rigid", "beam", "nodal"];
            named.contains(&key)
        }
        ErrorKind::NotPositiveDefinite { .. } | ErrorKind::ImpossibleInertia { .. } => {
            same_item && (key.contains("inertia") || key.contains("center"))
        }
        ErrorKind::WrongLength { .. }
        | ErrorKind::UnknownCoordinate { .. }
        | ErrorKind::MissingProperty { .. }
        | ErrorKind::NoModes { .. }
        | ErrorKind::NoEffect { .. }
        | ErrorKind::ParallelAxes
        | ErrorKind::LimitsReversed { .. }
        | ErrorKind::StopsWithoutLimits
        | ErrorKind::OutOfRange { .. } => same_item,
        _ => false,
    }
}

/// Compares a document with the schema of the format and repairs what does not agree.
pub(super) fn compare(document: &mut Table, schema: &Json) -> Findings {
    let mut walk = Walk {
        definitions: &schema["$defs"],
        findings: Findings {
            errors: Vec::new(),
            repairs: Vec::new(),
            readable: true,
        },
    };
    walk.table(document, schema, &Path::root());
    walk.findings
}

/// Sections whose items refer to each other by name.
const SECTIONS_OF_ITEMS: [&str; 12] = [
    "body",
    "node",
    "element",
    "joint",
    "loop",
    "support",
    "payload",
    "marker",
    "input",
    "motion",
    "actuator",
    "controller",
];

struct Walk<'a> {
    definitions: &'a Json,
    findings: Findings,
}

impl<'a> Walk<'a> {
    /// Reports a problem, unless there are more than anybody reads.
    fn error(&mut self, path: &Path, kind: ErrorKind) {
        if self.findings.errors.len() < MOST_ERRORS {
            let error = ModelError::new(path.clone(), kind);
            self.findings.errors.push(error);
        }
    }

    /// Reports a value that cannot stand and puts a harmless one in its place.
    fn replace(&mut self, value: &mut Value, schema: &'a Json, path: &Path, kind: ErrorKind) {
        self.error(path, kind);
        self.note_replaced(path);
        *value = self.harmless(schema);
    }

    fn note_replaced(&mut self, path: &Path) {
        // a whole section or item is gone, or a name; those of payloads are referred to by nothing
        let names = path.last_key() == "name" && !path.starts_with(&Path::root().key("payload"));
        let lost = match path.steps() {
            [Step::Key(section)] => SECTIONS_OF_ITEMS.contains(&section.as_str()),
            [Step::Key(_), Step::Index(_)] => true,
            _ => names,
        };
        if lost {
            self.findings.readable = false;
        }
        self.note(Repair::Replaced { path: path.clone() });
    }

    /// Notes a repair. A document that needs more of them is not read.
    fn note(&mut self, repair: Repair) {
        if self.findings.repairs.len() < MOST_ERRORS {
            self.findings.repairs.push(repair);
        } else {
            self.findings.readable = false;
        }
    }

    fn resolve(&self, schema: &'a Json) -> &'a Json {
        let mut schema = schema;
        while let Some(name) = schema["$ref"].as_str() {
            schema = &self.definitions[name.trim_start_matches("#/$defs/")];
        }
        schema
    }

    /// The branches of a `oneOf` or `anyOf`, without the null that stands for an absent key.
    fn branches(&self, schema: &'a Json) -> Option<Vec<&'a Json>> {
        let branches = schema["oneOf"].as_array().or(schema["anyOf"].as_array())?;
        let resolved = branches.iter().map(|branch| self.resolve(branch));
        Some(resolved.filter(|branch| branch["type"] != "null").collect())
    }

    fn value(&mut self, value: &mut Value, schema: &'a Json, path: &Path) {
        let schema = self.resolve(schema);
        match self.branches(schema).as_deref() {
            // an absent key is the other branch
            Some([only]) => return self.value(value, only, path),
            Some(branches) => return self.choice(value, branches, schema, path),
            None => {}
        }
        match (type_of(schema), &mut *value) {
            ("object", Value::Table(table)) => self.table(table, schema, path),
            ("array", Value::Array(_)) => self.array(value, schema, path),
            ("integer", Value::Integer(number)) => {
                let number = *number;
                // what is negative cannot be read; for other bounds there are the checks
                if schema["minimum"].is_number() && number < 0 {
                    let kind = ErrorKind::Negative {
                        key: path.last_key().to_owned(),
                        value: number as f64,
                    };
                    self.replace(value, schema, path, kind);
                }
            }
            ("number", Value::Float(_) | Value::Integer(_))
            | ("string", Value::String(_))
            | ("boolean", Value::Boolean(_)) => {}
            (expected, _) => {
                let kind = self.wrong_type(path, value, schema, expected);
                self.replace(value, schema, path, kind);
            }
        }
    }

    fn wrong_type(
        &self,
        path: &Path,
        value: &Value,
        schema: &'a Json,
        expected: &str,
    ) -> ErrorKind {
        let items = self.resolve(&schema["items"]);
        let mut kind = wrong_type(path, value, &[expected]);
        if let ErrorKind::WrongType { key, expected, .. } = &mut kind
            && type_of(items) == "object"
        {
            *expected = format!("a list of tables, each under a header [[{key}]]");
        }
        kind
    }

    /// A value of which the schema allows several kinds: words, tagged tables, both, or a word or a table.
    fn choice(&mut self, value: &mut Value, branches: &[&'a Json], schema: &'a Json, path: &Path) {
        let words: Vec<&str> = branches
            .iter()
            .filter_map(|branch| branch["const"].as_str())
            .collect();
        if !words.is_empty() {
            let tables: Vec<&'a Json> = (branches.iter().copied())
                .filter(|branch| type_of(branch) == "object")
                .collect();
            if let Value::Table(table) = &mut *value
                && !tables.is_empty()
                && !table.is_empty()
            {
                self.tagged(table, &tables, path);
                return;
            }
            let unknown = |value: &str| ErrorKind::UnknownWord {
                key: path.last_key().to_owned(),
                value: value.to_owned(),
                allowed: (words.iter().map(ToString::to_string))
                    .chain(choices(&tables).map(|(key, _)| format!("{{ {key} = … }}")))
                    .collect(),
            };
            let kind = match &*value {
                Value::String(word) if words.contains(&word.as_str()) => return,
                Value::String(word) => unknown(word),
                Value::Table(_) if !tables.is_empty() => unknown("{}"),
                value => wrong_type(path, value, &["string"]),
            };
            self.replace(value, schema, path, kind);
            return;
        }
        let tagged =
            branches.len() > 1 && branches.iter().all(|branch| type_of(branch) == "object");
        match value {
            Value::Table(table) if tagged => self.tagged(table, branches, path),
            _ => {
                let fitting = branches.iter().find(|branch| fits(value, type_of(branch)));
                if let Some(branch) = fitting {
                    self.value(value, branch, path);
                } else {
                    let mut expected: Vec<&str> = branches
                        .iter()
                        .map(|branch| type_of(self.resolve(branch)))
                        .collect();
                    expected.dedup();
                    let kind = wrong_type(path, value, &expected);
                    self.replace(value, schema, path, kind);
                }
            }
        }
    }

    /// A table whose one key says what it is.
    fn tagged(&mut self, table: &mut Table, branches: &[&'a Json], path: &Path) {
        let choices: Vec<(&str, &'a Json)> = choices(branches).collect();
        let names: Vec<&str> = choices.iter().map(|(key, _)| *key).collect();
        let meant = self.remove_unknown(table, &names, path);
        let given: Vec<String> = table.keys().cloned().collect();
        if given.len() > 1 || (given.is_empty() && meant.is_empty()) {
            let choices = names.iter().map(ToString::to_string).collect();
            self.error(
                path,
                ErrorKind::NotExactlyOne {
                    given: given.clone(),
                    choices,
                },
            );
        }
        for (key, schema) in &choices {
            if let Some(value) = table.get_mut(*key) {
                self.value(value, schema, &path.key(*key));
            }
        }
        // one choice is left, so that the document can be read
        if given.len() != 1 {
            self.note_replaced(path);
            table.clear();
            if let Some((key, schema)) = choices.first() {
                table.insert((*key).to_owned(), self.harmless(schema));
            }
        }
    }

    fn table(&mut self, table: &mut Table, schema: &'a Json, path: &Path) {
        if schema["additionalProperties"].is_object() {
            // a table whose keys are names
            for (key, value) in table.iter_mut() {
                self.value(value, &schema["additionalProperties"], &path.key(key));
            }
            return;
        }
        let properties: Vec<(&str, &'a Json)> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, schema)| (key.as_str(), schema))
            .collect();
        let names: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
        let meant = self.remove_unknown(table, &names, path);
        for (key, schema) in &properties {
            if let Some(value) = table.get_mut(*key) {
                self.value(value, schema, &path.key(*key));
            }
        }
        for key in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
        {
            if table.contains_key(key) {
                continue;
            }
            if !meant.iter().any(|meant| meant == key) {
                self.error(
                    path,
                    ErrorKind::MissingKey {
                        key: key.to_owned(),
                    },
                );
            }
            self.note_replaced(&path.key(key));
            table.insert(key.to_owned(), self.harmless(&schema["properties"][key]));
        }
    }

    /// Takes the keys that are not known out of a table; returns those that seem to have been meant.
    fn remove_unknown(&mut self, table: &mut Table, known: &[&str], path: &Path) -> Vec<String> {
        let mut meant = Vec::new();
        let keys: Vec<String> = table.keys().cloned().collect();
        for key in keys {
            if known.contains(&key.as_str()) {
                continue;
            }
            table.remove(&key);
            // left out without a word
            if self.findings.errors.len() >= MOST_ERRORS {
                continue;
            }
            let free = || {
                known
                    .iter()
                    .copied()
                    .filter(|known| !table.contains_key(*known))
            };
            let other_unit = in_other_unit(&key, free()).map(str::to_owned);
            let near = nearest(&key, free()).map(str::to_owned);
            let likely = other_unit.clone().or(near.clone());
            let kind = match other_unit {
                Some(expected) => ErrorKind::WrongUnit {
                    key: key.clone(),
                    expected,
                },
                None => ErrorKind::UnknownKey {
                    key: key.clone(),
                    suggestion: near,
                    known: known.iter().map(ToString::to_string).collect(),
                },
            };
            self.error(&path.key(&key), kind);
            if let Some(likely) = likely {
                self.note(Repair::Removed {
                    path: path.clone(),
                    meant: likely.clone(),
                });
                meant.push(likely);
            }
        }
        meant
    }

    fn array(&mut self, value: &mut Value, schema: &'a Json, path: &Path) {
        let Value::Array(items) = value else { return };
        for (index, item) in items.iter_mut().enumerate() {
            self.value(item, &schema["items"], &path.index(index));
        }
        let found = items.len() as u64;
        if let Some(expected) = schema["minItems"]
            .as_u64()
            .filter(|expected| *expected != found)
        {
            let kind = ErrorKind::WrongLength {
                key: path.last_key().to_owned(),
                expected: usize::try_from(expected).unwrap_or(usize::MAX),
                found: items.len(),
            };
            self.replace(value, schema, path, kind);
        }
    }

    /// A value that agrees with the schema and that few checks object to.
    fn harmless(&self, schema: &'a Json) -> Value {
        let schema = self.resolve(schema);
        if let Some(branch) = self
            .branches(schema)
            .and_then(|branches| branches.first().copied())
        {
            return match branch["const"].as_str() {
                Some(word) => Value::String(word.to_owned()),
                None => self.harmless(branch),
            };
        }
        match type_of(schema) {
            "object" => {
                let required = schema["required"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Json::as_str);
                let entries =
                    required.map(|key| (key.to_owned(), self.harmless(&schema["properties"][key])));
                Value::Table(entries.collect())
            }
            "array" => {
                let length = schema["minItems"].as_u64().unwrap_or(0);
                Value::Array(
                    (0..length)
                        .map(|_| self.harmless(&schema["items"]))
                        .collect(),
                )
            }
            "integer" => Value::Integer(1),
            "number" => Value::Float(1.0),
            "boolean" => Value::Boolean(true),
            _ => Value::String(String::new()),
        }
    }
}

/// Keys of tagged tables, each with what stands behind it.
fn choices<'a>(branches: &[&'a Json]) -> impl Iterator<Item = (&'a str, &'a Json)> {
    let properties = |branch: &&'a Json| branch["properties"].as_object().into_iter().flatten();
    (branches.iter().flat_map(properties)).map(|(key, schema)| (key.as_str(), schema))
}

/// The type a schema asks for; the first one that is not null if it lists several.
fn type_of(schema: &Json) -> &str {
    match &schema["type"] {
        Json::String(name) => name,
        Json::Array(names) => names
            .iter()
            .filter_map(Json::as_str)
            .find(|name| *name != "null")
            .unwrap_or_default(),
        _ => "",
    }
}

fn fits(value: &Value, type_name: &str) -> bool {
    matches!(
        (value, type_name),
        (Value::Table(_), "object")
            | (Value::Array(_), "array")
            | (Value::String(_), "string")
            | (Value::Boolean(_), "boolean")
            | (Value::Integer(_), "integer")
            | (Value::Integer(_) | Value::Float(_), "number")
    )
}

fn wrong_type(path: &Path, value: &Value, expected: &[&str]) -> ErrorKind {
    let words: Vec<&str> = expected
        .iter()
        .map(|name| match *name {
            "object" => "a table",
            "array" => "a list",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            _ => "a string",
        })
        .collect();
    ErrorKind::WrongType {
        key: path.last_key().to_owned(),
        expected: words.join(" or "),
        found: describe(value),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".into(),
        Value::Array(_) => "a list".into(),
        Value::String(text) => format!("the string {text:?}"),
        Value::Boolean(truth) => truth.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("the number {number:?}"),
        Value::Datetime(date) => format!("the date {date}"),
    }
}
