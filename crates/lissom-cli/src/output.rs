//! The one place where something is printed: words for people to stderr, data to stdout.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

pub(crate) use lissom_spatial::rounded;
use serde::Serialize;

use crate::stop::Stop;

/// Words for a person, as lines on stderr. A reader who has gone away is no error. Names come from files that anybody may have
/// written: they cannot do anything to the terminal.
pub(crate) fn say(text: &str) {
    say_styled(&harmless(text));
}

/// Words with colours of our own, whose names are harmless already.
pub(crate) fn say_styled(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A text whose control characters are shown instead of obeyed; lines and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    replaced(text, is_obeyed, |c| c.escape_default().to_string())
}

/// A text with some of its characters replaced.
fn replaced(
    text: &str,
    is_meant: impl Fn(char) -> bool,
    by: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_meant) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_meant(c) {
            shown.push_str(&by(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Words without the end of their line, for prompts and progress.
pub(crate) fn say_unfinished(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// Data for a program, on stdout.
pub(crate) fn data(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Stop::Failed(format!(
            "cannot write to the standard output: {error}"
        ))),
        // a reader that has seen enough closes the pipe
        _ => Ok(()),
    }
}

/// An object as one line of JSON on stdout.
pub(crate) fn json(object: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string(object)
        .map_err(|error| Stop::Failed(format!("cannot write the result as json: {error}")))?;
    // strings of JSON may hold control characters that a terminal obeys
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    let text = replaced(&text, char::is_control, escaped);
    data(&format!("{text}\n"))
}

/// Whether a person watches stderr.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether stderr may be coloured: a terminal, and nobody said no.
pub(crate) fn is_coloured() -> bool {
    is_watched() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A number with five digits, for people.
pub(crate) fn short(value: f64) -> String {
    rounded(value, 5)
}

/// Numbers in brackets; what is rounding beside the largest is shown as zero.
pub(crate) fn vector(values: &[f64]) -> String {
    const ROUNDING: f64 = 1e-14;
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let shown = |&value: &f64| {
        short(if value.abs() < ROUNDING * largest {
            0.0
        } else {
            value
        })
    };
    let values: Vec<String> = values.iter().map(shown).collect();
    format!("[{}]", values.join(", "))
}

/// "1 step", "2 steps".
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
