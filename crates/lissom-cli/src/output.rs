//! The one place where something is printed: words for people to stderr, data to stdout.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::stop::Stop;

/// Words for a person, as lines on stderr. A reader who has gone away is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
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
    data(&(text + "\n"))
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
    with_digits(value, 5)
}

/// A number with so many digits that count.
pub(crate) fn with_digits(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    // within the range just asked for
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 5")]
    let decimals = (digits - 1 - magnitude as i32).max(0).unsigned_abs() as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    } else {
        text
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (123_456.0, "123456"),
            (1.0 / 3.0, "0.33333"),
            (9.999_999, "10"),
            (1e-3, "0.001"),
            (1.234_567e-7, "1.235e-7"),
            (1e12, "1.000e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
