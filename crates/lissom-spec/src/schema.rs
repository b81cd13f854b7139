//! The JSON Schema of the model file, made from the structs of [`spec`](super::spec).

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::Value;

use super::bounds;
use super::spec::ModelSpec;

/// The schema as indented JSON text, ending with a line break.
pub fn json_schema() -> String {
    let mut text = format!("{:#}", schema_value());
    text.push('\n');
    text
}

/// The schema as a JSON value, which the parser walks a document along; made once for all the models that are read.
pub(super) fn schema_value() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = schema_for!(ModelSpec).to_value();
        bounds::state(&mut schema);
        schema
    });
    &SCHEMA
}
