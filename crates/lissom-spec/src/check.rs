//! Everything that is wrong with a [`ModelSpec`] beyond its types, found in one pass.
//!
//! Files that the model names (`file`, `nodal_file`) are read by others before or after: what is in them
//! is checked once it stands in the spec.

mod actuators;
mod beam;
mod bodies;
mod controllers;
mod deformations;
mod fidelity;
mod frame;
mod inertia;
mod joints;
pub(crate) mod limits;
mod loads;
mod loops;
mod motions;
mod names;
mod nodes;
mod nominal;
mod reduced;
mod run;
mod sensors;
mod shaping;
mod supports;

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use super::bounds::{Bounds, Sign, key_of};
use super::error::{ErrorKind, ModelError};
use super::path::Path;
use super::spec::{BodySpec, FORMAT, ModelSpec};
use limits::{LARGEST, SLOWEST, SMALLEST};

impl ModelSpec {
    /// Checks everything that can be known without building the model.
    ///
    /// # Errors
    ///
    /// All problems, section by section.
    pub fn check(&self) -> Result<(), Vec<ModelError>> {
        let mut checker = Checker {
            spec: self,
            bodies: self.bodies_by_name(),
            errors: Vec::new(),
        };
        checker.format();
        let numbers = checker.finite_numbers();
        if self.is_of_nodes() {
            checker.nodes_and_elements();
        } else {
            checker.bodies();
            checker.joints();
            checker.tree();
            checker.loops();
            checker.supports();
            checker.payloads();
            checker.markers();
            checker.visuals();
            checker.inputs();
            checker.motions();
            checker.keys_of_nodes();
            checker.nominal_motion();
            checker.shaping();
            checker.actuators();
            checker.sensors();
            checker.controllers();
            checker.fidelity();
        }
        checker.simulation();
        checker.bounds(numbers.as_ref());
        if checker.errors.is_empty() {
            Ok(())
        } else {
            Err(checker.errors)
        }
    }
}

/// The model being checked and what was found so far.
struct Checker<'a> {
    spec: &'a ModelSpec,
    /// Bodies by their names; the first of those that share one.
    bodies: BTreeMap<&'a str, &'a BodySpec>,
    errors: Vec<ModelError>,
}

impl Checker<'_> {
    fn error(&mut self, path: Path, kind: ErrorKind) {
        self.errors.push(ModelError::new(path, kind));
    }

    fn format(&mut self) {
        let format = self.spec.format;
        if format != FORMAT {
            self.error(
                Path::root().key("format"),
                ErrorKind::UnknownFormat { format },
            );
        }
    }

    /// Looks at every number there is: finite, and of a size whose square is so too with room to spare. The
    /// other checks pass over numbers that are not finite. Returns the model as a tree of values.
    fn finite_numbers(&mut self) -> Option<Value> {
        match Value::try_from(self.spec) {
            Ok(tree) => {
                // paths are made only when there is something to report
                if !all_numbers(&tree, "", &|_, number| number.abs() <= LARGEST) {
                    self.finite(&tree, &Path::root());
                }
                Some(tree)
            }
            Err(error) => {
                let message = error.to_string();
                self.error(Path::root(), ErrorKind::Unreadable { message });
                None
            }
        }
    }

    /// Holds every number against its bounds, where nothing more particular has been said of it.
    fn bounds(&mut self, numbers: Option<&Value>) {
        let is_sound = |key: &str, number: f64| {
            let bounds = Bounds::of(key);
            !number.is_finite() || bounds.is_none_or(|bounds| bounds.contains(number))
        };
        if let Some(tree) = numbers
            && !all_numbers(tree, "", &is_sound)
        {
            let told: BTreeSet<Path> = self.errors.iter().map(|error| error.path.clone()).collect();
            self.bounds_in(tree, "", &Path::root(), &told);
        }
    }

    fn bounds_in(&mut self, value: &Value, key: &str, path: &Path, told: &BTreeSet<Path>) {
        let number = match value {
            Value::Float(number) => *number,
            Value::Integer(number) => *number as f64,
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.bounds_in(item, key, &path.index(index), told);
                }
                return;
            }
            Value::Table(table) => {
                for (own, item) in table {
                    self.bounds_in(item, key_of(key, own), &path.key(own), told);
                }
                return;
            }
            _ => return,
        };
        // of a list as a whole something may have been said
        let is_told = || path.with_lists().any(|path| told.contains(&path));
        if let Some(bounds) = Bounds::of(key)
            && !is_told()
        {
            match bounds.sign() {
                Some(Sign::Positive) if number <= 0.0 => self.positive(path.clone(), number),
                Some(Sign::NotNegative) if number < 0.0 => self.not_negative(path.clone(), number),
                _ => {
                    let accepted = bounds.contains(number);
                    self.in_range(path.clone(), number, accepted, &bounds.words());
                }
            }
        }
    }

    fn finite(&mut self, value: &Value, path: &Path) {
        match value {
            Value::Float(number) if !number.is_finite() => {
                let key = path.last_key().to_owned();
                self.error(
                    path.clone(),
                    ErrorKind::NotFinite {
                        key,
                        value: *number,
                    },
                );
            }
            Value::Float(number) if number.abs() > LARGEST => {
                let expected = format!("at most {LARGEST:e} in size");
                self.in_range(path.clone(), *number, false, &expected);
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.finite(item, &path.index(index));
                }
            }
            Value::Table(table) => {
                for (key, item) in table {
                    self.finite(item, &path.key(key));
                }
            }
            _ => {}
        }
    }

    /// Asks for a number above zero, where [`Bounds`] do not by its key.
    fn positive(&mut self, path: Path, value: f64) {
        self.at_least(path, value, SMALLEST);
    }

    /// Asks for a frequency of something that vibrates.
    fn frequency(&mut self, path: Path, value: f64) {
        self.at_least(path, value, SLOWEST);
    }

    /// Asks for a number that is not smaller than `least`, which is above zero.
    fn at_least(&mut self, path: Path, value: f64, least: f64) {
        if value.is_finite() && value <= 0.0 {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::NotPositive { key, value });
        } else {
            let expected = format!("at least {least:e}");
            self.in_range(path, value, value >= least, &expected);
        }
    }

    /// Asks for zero or a number above it, where [`Bounds`] do not by its key.
    fn not_negative(&mut self, path: Path, value: f64) {
        if value.is_finite() && value < 0.0 {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::Negative { key, value });
        }
    }

    /// Asks for a number of which `accepted` is true.
    fn in_range(&mut self, path: Path, value: f64, accepted: bool, expected: &str) {
        if value.is_finite() && !accepted {
            let kind = ErrorKind::OutOfRange {
                key: path.last_key().to_owned(),
                value,
                expected: expected.to_owned(),
            };
            self.error(path, kind);
        }
    }

    /// Asks for as many entries as expected.
    fn length(&mut self, path: Path, found: usize, expected: usize) {
        if found != expected {
            let key = path.last_key().to_owned();
            self.error(
                path,
                ErrorKind::WrongLength {
                    key,
                    expected,
                    found,
                },
            );
        }
    }

    /// Asks for a vector that points somewhere.
    fn direction(&mut self, path: Path, vector: [f64; 3]) {
        if vector.iter().all(|x| x.abs() < SMALLEST) {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::ZeroDirection { key });
        }
    }

    /// Asks for exactly one of several keys.
    fn exactly_one(&mut self, path: &Path, choices: &[(&str, bool)]) {
        let given = choices.iter().filter(|(_, given)| *given);
        let given: Vec<String> = given.map(|(key, _)| (*key).to_owned()).collect();
        if given.len() != 1 {
            let choices = choices.iter().map(|(key, _)| (*key).to_owned()).collect();
            self.error(path.clone(), ErrorKind::NotExactlyOne { given, choices });
        }
    }

    /// Reports a key that says nothing where it stands.
    fn no_effect(&mut self, path: Path, reason: &str) {
        let kind = ErrorKind::NoEffect {
            key: path.last_key().to_owned(),
            reason: reason.to_owned(),
        };
        self.error(path, kind);
    }
}

/// Whether every number of a tree of values is sound, by its key.
fn all_numbers(value: &Value, key: &str, is_sound: &impl Fn(&str, f64) -> bool) -> bool {
    match value {
        Value::Float(number) => is_sound(key, *number),
        Value::Integer(number) => is_sound(key, *number as f64),
        Value::Array(items) => items.iter().all(|item| all_numbers(item, key, is_sound)),
        Value::Table(table) => {
            (table.iter()).all(|(own, item)| all_numbers(item, key_of(key, own), is_sound))
        }
        _ => true,
    }
}
