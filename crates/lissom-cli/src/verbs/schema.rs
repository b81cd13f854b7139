//! `lissom schema`: the JSON Schema of model files.

use crate::output;
use crate::stop::Stop;

/// Prints the schema.
pub(crate) fn run() -> Result<(), Stop> {
    output::print(&lissom::json_schema())
}
