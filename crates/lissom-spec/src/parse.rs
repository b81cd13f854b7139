//! From the text of a model file to a [`ModelSpec`], with every problem of the text at once.
//!
//! The document is walked along the JSON Schema of the format, which finds unknown keys, missing keys and
//! wrong types everywhere. What is broken is replaced by something harmless, so that the checks of
//! [`ModelSpec::check`] still run over the rest, and their complaints about the replacements are dropped.

mod depth;
mod numbers;
mod overrides;
mod shape;

use serde::Deserialize;
use toml::Value;
use toml::de::DeTable;

use super::error::{ErrorKind, ModelError};
use super::path::{Document, Path};
use super::schema::schema_value;
use super::spec::ModelSpec;

pub use numbers::WrittenNumbers;
pub use overrides::Override;

impl ModelSpec {
    /// Reads and checks a model. Overrides are applied to the document before it is looked at.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, in the order of the text.
    pub fn parse(text: &str, overrides: &[Override]) -> Result<Self, Vec<ModelError>> {
        let mut document = read_toml(text)?;
        let mut errors = Vec::new();
        let mut overridden = Vec::new();
        for change in overrides {
            match change.apply(&mut document) {
                Ok(paths) => {
                    overridden.extend(paths.into_iter().map(|path| (path, change.text())));
                }
                Err(error) => errors.push(error),
            }
        }
        let findings = shape::compare(&mut document, schema_value());
        errors.extend(findings.errors);

        let asks_for_tree = asks_for_tree(&document);
        let mut spec = None;
        if findings.readable {
            match Self::deserialize(Value::Table(document)) {
                Ok(read) => {
                    let complaints = read.check().err().unwrap_or_default();
                    // every complaint is held against every repair, of which there are not many
                    let lasting = complaints.into_iter().filter(|error| {
                        !findings.repairs.iter().any(|repair| repair.explains(error))
                    });
                    errors.extend(lasting);
                    if asks_for_tree && read.is_of_nodes() {
                        let path = Path::root().key("formulation");
                        errors.push(ModelError::new(path, ErrorKind::NodesAsTree));
                    }
                    spec = Some(read);
                }
                // nothing that agrees with the schema is known to end here
                Err(error) if errors.is_empty() => errors.push(unreadable(error.message())),
                Err(_) => {}
            }
        }
        match spec {
            Some(spec) if errors.is_empty() => Ok(spec),
            _ => Err(in_file_order(errors, &overridden, text)),
        }
    }
}

/// Whether a document says that it wants the tree formulation, which is the default where nothing is said.
fn asks_for_tree(document: &toml::Table) -> bool {
    let said = document.get("formulation");
    said.and_then(Value::as_str) == Some("tree")
}

fn unreadable(message: &str) -> ModelError {
    let message = message.to_owned();
    ModelError::new(Path::root(), ErrorKind::Unreadable { message })
}

/// The document without spans, or all syntax errors.
fn read_toml(text: &str) -> Result<toml::Table, Vec<ModelError>> {
    let (_, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return toml::from_str(text).map_err(|error| vec![syntax(&error, text)]);
    }
    Err(errors.iter().map(|error| syntax(error, text)).collect())
}

fn syntax(error: &toml::de::Error, text: &str) -> ModelError {
    let too_deep = || Some((depth::TOO_DEEP, depth::deepest_key(text)?));
    let told = error.span().map(|span| (error.message(), span));
    let (message, span) = match told.or_else(too_deep) {
        Some((message, span)) => (message, Some(span)),
        None => (error.message(), None),
    };
    let message = message.to_owned();
    ModelError::new(Path::root(), ErrorKind::Syntax { message, span })
}

/// Marks what overrides wrote and sorts by place in the text; errors without one come first.
fn in_file_order(
    mut errors: Vec<ModelError>,
    overridden: &[(Path, String)],
    text: &str,
) -> Vec<ModelError> {
    for error in &mut errors {
        let by = overridden
            .iter()
            .rev()
            .find(|(path, _)| error.path.starts_with(path));
        error.set_by = by.map(|(_, text)| text.as_str().into());
    }
    let document = Document::read(text);
    errors.sort_by_cached_key(|error| {
        error
            .locate_in(&document, text.len())
            .map(|range| range.start)
    });
    errors
}
