//! Problems of a model as a compiler would show them: file, line, the text in question, what to do.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use lissom_io::load::{LoadError, Problem};

use crate::output::{self, harmless, is_obeyed, shown};

/// Problems that are shown; whoever has more will begin with these.
const SHOWN: usize = 50;

/// All problems of a model, for the terminal.
pub(crate) fn render(error: &LoadError) -> String {
    let renderer = if output::is_coloured() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let text = error.text.as_deref().map(shown_text);
    let origin = harmless(&error.origin);
    let shown = error.problems.iter().zip(error.locate(SHOWN));
    let mut parts: Vec<String> = shown
        .map(|(problem, place)| {
            let placed = text.as_deref().zip(place);
            renderer.render(&report(problem, placed, &origin))
        })
        .collect();
    let count = error.problems.len();
    let found = format!("{} found in {}", output::counted(count, "problem"), origin);
    parts.push(match count.checked_sub(SHOWN + 1) {
        Some(_) => format!("{found}, of which the first {SHOWN} are shown"),
        None => found,
    });
    parts.join("\n\n")
}

fn report<'a>(
    problem: &Problem,
    placed: Option<(&'a str, Range<usize>)>,
    origin: &'a str,
) -> Vec<Group<'a>> {
    let title = Level::ERROR.primary_title(shown(&problem.to_string()));
    let group = match placed {
        Some((text, range)) => title.element(
            Snippet::source(text)
                .path(origin)
                .annotation(AnnotationKind::Primary.span(on_characters(text, range))),
        ),
        None => title.element(Origin::path(origin)),
    };
    let remedy = problem.remedy();
    let help = remedy.map(|remedy| Level::HELP.message(shown(&remedy)));
    vec![match help {
        Some(help) => group.element(help),
        None => group,
    }]
}

/// The text of a model with its control characters replaced by others of the same length, so that places in it stay the same.
fn shown_text(text: &str) -> String {
    let shown = |c: char| match (is_obeyed(c), c.len_utf8()) {
        (true, 1) if !matches!(c, '\n' | '\r' | '\t') => '?',
        (true, 2) => '\u{bf}',
        (true, 3) => '\u{fffd}',
        _ => c,
    };
    text.chars().map(shown).collect()
}

/// The range widened to whole characters and kept inside the text.
fn on_characters(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = range.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
