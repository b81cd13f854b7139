//! `lissom new`: a model to start from.

use std::fs::File;
use std::io::{self, Write};

use lissom_io::{atomic, models};
use serde_json::json;

use crate::arguments::NewArguments;
use crate::source;
use crate::stop::Stop;

/// Writes a shipped model to a file.
pub(crate) fn run(arguments: &NewArguments) -> Result<(), Stop> {
    let path = arguments.file.as_path();
    let Some(model) = models::find(&arguments.from) else {
        return Err(Stop::Usage(source::unknown(&arguments.from)));
    };
    let shown = path.display();
    if arguments.force {
        atomic::write(path, |out| out.write_all(model.text.as_bytes()))?;
    } else {
        let written =
            File::create_new(path).and_then(|mut file| file.write_all(model.text.as_bytes()));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Stop::Failed(format!(
                "{shown} is there already; name another file, or replace it with --force"
            )),
            _ => Stop::Failed(format!(
                "cannot write {shown}: {error}; check that its folder exists and may be written to"
            )),
        })?;
    }
    (arguments.answer).give(&json!({ "files": [path] }), || {
        format!(
            "Wrote {shown}: {}.\n\nNext:\n  lissom check {shown}\n  lissom run {shown}",
            model.title
        )
    })
}
