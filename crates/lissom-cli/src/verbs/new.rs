//! `lissom new`: a model to start from.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use lissom_io::load::robot_text;
use lissom_io::urdf::is_urdf;
use lissom_io::{atomic, models};
use serde_json::json;

use crate::arguments::NewArguments;
use crate::stop::Stop;
use crate::{diagnostics, source};

/// Writes a shipped model, or the robot of a URDF file, to a model file.
pub(crate) fn run(arguments: &NewArguments) -> Result<(), Stop> {
    let path = arguments.file.as_path();
    let from = Path::new(&arguments.from);
    let (text, title) = if is_urdf(from) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let text = robot_text(from, Some(folder))
            .map_err(|error| Stop::Diagnosed(diagnostics::render(&error)))?;
        (text, format!("the robot of {}", from.display()))
    } else {
        let Some(model) = models::find(&arguments.from) else {
            return Err(Stop::Usage(source::unknown(&arguments.from)));
        };
        (model.text.to_owned(), model.title.to_owned())
    };
    let shown = path.display();
    if arguments.force {
        atomic::write(path, |out| out.write_all(text.as_bytes()))?;
    } else {
        let written = File::create_new(path).and_then(|mut file| {
            // a part of a model is none, and would be in the way of the next attempt
            let written = file.write_all(text.as_bytes());
            written.inspect_err(|_| drop(fs::remove_file(path)))
        });
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
        format!("Wrote {shown}: {title}.\n\nNext:\n  lissom check {shown}\n  lissom run {shown}")
    })
}
