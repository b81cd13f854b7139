//! Everything that is wrong with a [`ModelSpec`] beyond its types, found in one pass.
//!
//! Files that the model names (`file`, `nodal_file`) are read by others before or after: what is in them
//! is checked once it stands in the spec.

mod beam;
mod bodies;
mod controllers;
mod deformations;
mod fidelity;
mod inertia;
mod joints;
mod loads;
mod loops;
mod motions;
mod names;
mod nodes;
mod nominal;
mod run;
mod supports;

use std::collections::BTreeMap;

use toml::Value;

use super::error::{ErrorKind, ModelError};
use super::path::Path;
use super::spec::{BodySpec, FORMAT, ModelSpec};

/// Largest number of a model in any unit: forces and energies made of a few such are still numbers.
const LARGEST: f64 = 1e30;

/// Largest angle at a start or of a motion: its sine keeps ten digits.
const LARGEST_ANGLE_RAD: f64 = 1e6;

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
        checker.finite_numbers();
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
            checker.inputs();
            checker.motions();
            checker.keys_of_nodes();
            checker.nominal_motion();
            checker.controllers();
            checker.fidelity();
        }
        checker.simulation();
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
    /// other checks pass over numbers that are not finite.
    fn finite_numbers(&mut self) {
        match Value::try_from(self.spec) {
            // paths are made only when there is something to report
            Ok(tree) if is_in_bounds(&tree) => {}
            Ok(tree) => self.finite(&tree, &Path::root()),
            Err(error) => {
                let message = error.to_string();
                self.error(Path::root(), ErrorKind::Unreadable { message });
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

    /// Asks for a number above zero.
    fn positive(&mut self, path: Path, value: f64) {
        if value.is_finite() && value <= 0.0 {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::NotPositive { key, value });
        }
    }

    /// Asks for zero or a number above it.
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

    /// Asks for an angle of which a turn is more than rounding.
    fn angle(&mut self, path: Path, angle_rad: f64) {
        // beyond the largest number there is an error already
        let accepted = angle_rad.abs() <= LARGEST_ANGLE_RAD || angle_rad.abs() > LARGEST;
        let expected =
            format!("at most {LARGEST_ANGLE_RAD:e} rad either way; take whole turns off");
        self.in_range(path, angle_rad, accepted, &expected);
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
        if vector == [0.0; 3] {
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

/// Whether every number of a tree of values is finite and not too large.
fn is_in_bounds(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.abs() <= LARGEST,
        Value::Array(items) => items.iter().all(is_in_bounds),
        Value::Table(table) => table.values().all(is_in_bounds),
        _ => true,
    }
}
