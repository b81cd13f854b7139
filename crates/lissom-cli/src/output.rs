//! The one place where something is printed: what was asked for to stdout, everything else to stderr.
//!
//! | | stdout | stderr |
//! |---|---|---|
//! | the answer of a verb, in words or with `--json` | × | |
//! | progress, unless `--json` or `--quiet` | | × |
//! | warnings, unless `--quiet` | | × |
//! | questions, errors | | × |
//!
//! Names come from files that anybody may have written: control characters in them are shown, so that they cannot do anything to the
//! terminal, and so are those that turn the direction of writing, which would have a line read otherwise than it is.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use clap::Args;
pub(crate) use lissom_spatial::rounded;
use serde::Serialize;

use crate::interrupt;
use crate::stop::Stop;

/// How a verb answers.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct AnswerArguments {
    /// Print the answer as one JSON object instead of words.
    #[arg(long)]
    json: bool,
    /// Say nothing but errors.
    #[arg(long)]
    quiet: bool,
}

impl AnswerArguments {
    /// Gives the answer, as JSON or in words.
    pub(crate) fn give(
        self,
        answer: &impl Serialize,
        words: impl FnOnce() -> String,
    ) -> Result<(), Stop> {
        match self {
            Self { json: true, .. } => json(answer),
            Self { quiet: true, .. } => Ok(()),
            _ => print(&format!("{}\n", harmless(&words()))),
        }
    }

    /// Whether nobody wants to hear how the work goes on.
    pub(crate) fn is_silent(self) -> bool {
        self.json || self.quiet
    }

    /// Tells how the work goes on.
    pub(crate) fn progress(self, text: &str) {
        if !self.is_silent() {
            say(text);
        }
    }

    /// Says what somebody should know beside the answer.
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }
}

/// Words beside the answer, as lines on stderr. A reader who has gone away is no error.
pub(crate) fn say(text: &str) {
    say_styled(&shown(text));
}

/// Characters of a line beyond which nobody reads: names and values of files are repeated in messages, however long they are.
const LONGEST_LINE: usize = 1000;

/// A text as it is told beside the answer: harmless, and its lines not longer than anybody reads.
pub(crate) fn shown(text: &str) -> String {
    let shortened = |line: &str| match line.char_indices().nth(LONGEST_LINE) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} … ({} characters)", &line[..end], line.chars().count()),
    };
    let text = harmless(text);
    let lines: Vec<String> = text.split('\n').map(shortened).collect();
    lines.join("\n")
}

/// Words with colours of our own, whose names are harmless already.
pub(crate) fn say_styled(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// A text whose control characters are shown instead of obeyed; lines and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_meant = |c: char| is_obeyed(c) && c != '\n' && c != '\t';
    replaced(text, is_meant, |c| c.escape_default().to_string())
}

/// Whether a terminal does something at a character instead of showing it: control characters, and those of Unicode's bidirectional algorithm.
pub(crate) fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
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

/// What was asked for, on stdout.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    interrupt::begin_telling();
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
fn json(object: &impl Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string(object)
        .map_err(|error| Stop::Failed(format!("cannot write the result as json: {error}")))?;
    // strings of JSON may hold control characters that a terminal obeys
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    let text = replaced(&text, is_obeyed, escaped);
    print(&format!("{text}\n"))
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

/// A share in percent, for people; what is rounding is nothing.
pub(crate) fn percent(share: f64) -> String {
    const ROUNDING: f64 = 1e-10;
    let share = if share < ROUNDING { 0.0 } else { share };
    format!("{} %", rounded(100.0 * share, 2))
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
