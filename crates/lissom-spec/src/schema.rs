//! The JSON Schema of the model file, made from the structs of [`spec`](super::spec).

use schemars::schema_for;

use super::spec::ModelSpec;

/// The schema as indented JSON text, ending with a line break.
pub fn json_schema() -> String {
    let mut text = format!("{:#}", schema_value());
    text.push('\n');
    text
}

/// The schema as a JSON value, which the parser walks a document along.
pub(super) fn schema_value() -> serde_json::Value {
    schema_for!(ModelSpec).to_value()
}
