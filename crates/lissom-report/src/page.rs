//! The page: the one built from `viewer/`, with a report in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::data::Report;
use crate::{Source, escaped};

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
    let (report, block) = Report::new(sources, channels);
    // names and numbers only, so that this cannot fail; inside a script no tag may open
    let json = serde_json::to_string(&report).unwrap_or_default();
    let json = json.replace('<', "\\u003c");
    let title = escaped(report.title());
    let numbers = STANDARD.encode(&block.bytes);
    let mut page = String::with_capacity(TEMPLATE.len() + json.len() + numbers.len());
    let mut rest = TEMPLATE;
    for (place, content) in PLACES.iter().zip([&title, &json, &numbers]) {
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
        let at = PLACES.map(|place| {
            assert_eq!(TEMPLATE.matches(place).count(), 1, "{place}");
            TEMPLATE.find(place).unwrap()
        });
        assert!(at.is_sorted());
        for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
            assert!(!TEMPLATE.contains(outside), "{outside}");
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
