//! The pages: the one built from `viewer/`, with a report in it, and that of a single body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use serde_json::Value;

use crate::data::Report;
use crate::{Beside, Source, escaped};

/// The page without a report, as `viewer/` builds it.
const TEMPLATE: &str = include_str!("../page/report.html");

/// Where the page expects its title, the JSON object and the block of numbers.
const PLACES: [&str; 3] = [
    "LISSOM-REPORT-TITLE",
    "LISSOM-REPORT-JSON",
    "LISSOM-REPORT-NUMBERS",
];

/// One HTML page that shows the sources and needs nothing else. Plots begin with the channels whose names begin with
/// one of `channels`, or with a choice among all.
pub fn html(sources: &[Source<'_>], channels: &[String]) -> String {
    html_beside(sources, channels, &Beside::default())
}

/// The same with measured data and analyses beside the runs.
pub fn html_beside(sources: &[Source<'_>], channels: &[String], beside: &Beside<'_>) -> String {
    let (report, block) = Report::new(sources, channels, beside);
    // names and numbers only, so that this cannot fail; inside a script no tag may open
    let json = serde_json::to_string(&report).unwrap_or_default();
    let json = json.replace('<', "\\u003c");
    let title = escaped(report.title());
    let numbers = STANDARD.encode(&block.bytes);
    filled(TEMPLATE, &PLACES, &[&title, &json, &numbers])
}

/// The page of one body, without a body.
const BODY_TEMPLATE: &str = include_str!("../page/body.html");

/// Where that page expects its title, twice, what is said of the body, and the JSON object.
const BODY_PLACES: [&str; 4] = [
    "LISSOM-BODY-TITLE",
    "LISSOM-BODY-HEADING",
    "LISSOM-BODY-WORDS",
    "LISSOM-BODY-JSON",
];

/// One HTML page that shows the modes of a body, moving, and what is said of it in `words`. `body` has the `surface` of the reduced body, or null, and its
/// `modes` with their `frequency_rad_per_s`.
pub fn body_html(name: &str, words: &str, body: &Value) -> String {
    let json = body.to_string().replace('<', "\\u003c");
    let (title, words) = (escaped(name), escaped(words));
    filled(
        BODY_TEMPLATE,
        &BODY_PLACES,
        &[&title, &title, &words, &json],
    )
}

/// A template with contents at its places, which are in that order.
pub(crate) fn filled(template: &str, places: &[&str], contents: &[&str]) -> String {
    let length = contents.iter().map(|content| content.len()).sum::<usize>();
    let mut page = String::with_capacity(template.len() + length);
    let mut rest = template;
    for (place, content) in places.iter().zip(contents) {
        if let Some((before, after)) = rest.split_once(place) {
            page.push_str(before);
            page.push_str(content);
            rest = after;
        }
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: the page has every place once and in order, and asks for nothing outside itself.
    #[test]
    fn the_template_has_its_places() {
        for (template, places) in [(TEMPLATE, &PLACES[..]), (BODY_TEMPLATE, &BODY_PLACES)] {
            let at = places.iter().map(|place| {
                assert_eq!(template.matches(place).count(), 1, "{place}");
                template.find(place).unwrap()
            });
            assert!(at.is_sorted());
            for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
                assert!(!template.contains(outside), "{outside}");
            }
        }
    }

    /// Property: text cannot become markup.
    #[test]
    fn titles_are_text() {
        assert_eq!(escaped("a<b>&\"c"), "a&lt;b>&amp;&quot;c");
        assert_eq!(
            escaped("\u{1b}[31m\0ä\u{FFFF}\n"),
            "\u{FFFD}[31m\u{FFFD}ä\u{FFFD}\n"
        );
    }
}
