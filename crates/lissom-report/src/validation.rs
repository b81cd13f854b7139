//! The page of the validation: counts, and for every source its rows, what it says, and its figures made anew.

use std::fmt::Write as _;

use lissom_io::validation::figures::{self, Figure};
use lissom_io::validation::works::{self, Checked, Statement, Work};
use lissom_io::validation::{Row, Verdict};

use crate::plot::{Axis, Chart, Curve, Format, Panel, Scale, Style};
use crate::{escaped, page};

const TEMPLATE: &str = include_str!("../page/validation.html");
const PLACE: &str = "LISSOM-VALIDATION-BODY";

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub struct Validation<'a> {
    /// Sources, with what they say.
    pub works: &'a [Work],
    /// Rows that were computed.
    pub rows: &'a [Row],
    /// Figures that were made.
    pub figures: &'a [Figure],
    /// Whether what takes long was left out.
    pub quick: bool,
    /// Program and version that computed them.
    pub made_by: &'a str,
}

/// One HTML page of a validation that needs nothing else.
pub fn validation_html(validation: &Validation<'_>) -> String {
    let mut out = String::new();
    head(&mut out, validation);
    for work in validation.works {
        section(&mut out, validation, &work.key, Some(work));
    }
    let known = |row: &Row| validation.works.iter().any(|work| work.key == row.source);
    let mut others: Vec<&str> = Vec::new();
    for row in validation.rows.iter().filter(|row| !known(row)) {
        if !others.contains(&row.source.as_str()) {
            others.push(&row.source);
        }
    }
    for key in others {
        section(&mut out, validation, key, None);
    }
    page::filled(TEMPLATE, &[PLACE], &[&out])
}

// writing to a string cannot fail, so that what `write!` says is left aside throughout

fn head(out: &mut String, validation: &Validation<'_>) {
    let rows = validation.rows;
    let count = |wanted: Verdict| rows.iter().filter(|row| row.verdict() == wanted).count();
    let statements = works::counts(validation.works);
    let _ = writeln!(
        out,
        "<h1>Validation</h1>\n<p class=\"small\">Computed by {}{}.</p>",
        escaped(validation.made_by),
        if validation.quick {
            "; what takes long was left out (<code>--quick</code>)"
        } else {
            ""
        }
    );
    let _ = writeln!(
        out,
        "<h2>What the five works say</h2>\n<ul class=\"counts\">"
    );
    for (class, number, words) in [
        ("met", statements.met, "met"),
        ("refuted", statements.refuted, "refuted, with evidence"),
        ("not-attempted", statements.not_attempted, "not attempted"),
        ("fails", statements.fail, "whose rows do not pass"),
    ] {
        let class = if number == 0 { "met" } else { class };
        let _ = writeln!(
            out,
            "<li><b class=\"{class}\">{number}</b><span>{words}</span></li>"
        );
    }
    let _ = writeln!(
        out,
        "</ul>\n<h2>Numbers compared</h2>\n<ul class=\"counts\">"
    );
    for (class, number, words) in [
        ("fails", count(Verdict::Fails), "fail"),
        (
            "refuted",
            count(Verdict::Refuted),
            "printed numbers refuted, with evidence",
        ),
        ("met", count(Verdict::Met), "met"),
    ] {
        let class = if number == 0 { "met" } else { class };
        let _ = writeln!(
            out,
            "<li><b class=\"{class}\">{number}</b><span>{words}</span></li>"
        );
    }
    let made = validation
        .figures
        .iter()
        .filter(|figure| figure.missing.is_empty());
    let _ = writeln!(
        out,
        "<li><b>{}</b><span>figures made anew, of {}</span></li>\n</ul>\n<nav><ul>",
        made.count(),
        figures::numbers().len()
    );
    for work in validation.works {
        let _ = writeln!(
            out,
            "<li><a href=\"#{}\">{}</a></li>",
            work.key,
            escaped(&work.citation)
        );
    }
    let _ = writeln!(out, "</ul></nav>");
}

fn section(out: &mut String, validation: &Validation<'_>, key: &str, work: Option<&Work>) {
    let title = work.map_or(key, |work| &work.citation);
    let _ = writeln!(out, "<section id=\"{key}\">\n<h2>{}</h2>", escaped(title));
    if let Some(work) = work {
        let _ = writeln!(out, "<p>{}</p>", escaped(work.note.trim()));
        statements(out, &work.statements);
        corrections(out, work);
    }
    let rows: Vec<&Row> = (validation.rows.iter())
        .filter(|row| row.source == key)
        .collect();
    if !rows.is_empty() {
        let _ = writeln!(out, "<h3>Rows</h3>");
        for case in rows.chunk_by(|a, b| a.case == b.case) {
            table(out, case);
        }
    }
    for figure in validation
        .figures
        .iter()
        .filter(|figure| figure.source == key)
    {
        draw(out, figure);
    }
    let _ = writeln!(out, "</section>");
}

fn statements(out: &mut String, statements: &[Statement]) {
    if statements.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h3>What it says</h3>\n<div class=\"scroll\"><table><tr><th>where</th><th>what</th><th>verdict</th><th>shown by</th></tr>"
    );
    for statement in statements {
        let (class, word) = match statement.verdict {
            Checked::Met => ("met", "met"),
            Checked::Refuted => ("refuted", "refuted"),
            Checked::NotAttempted => ("not-attempted", "not attempted"),
            Checked::Fails => ("fails", "FAILS"),
        };
        let word = if statement.left_out {
            format!("{word} <small>(rows left out of this run)</small>")
        } else {
            word.to_owned()
        };
        let lists = [
            ("do not pass", &statement.against),
            ("rows", &statement.cases),
            ("figures", &statement.figures),
            ("tests", &statement.tests),
        ];
        let shown = lists.iter().filter(|(_, list)| !list.is_empty());
        let shown = shown.map(|(what, list)| format!("{what}: {}", list.join("; ")));
        let reason = (!statement.because.is_empty()).then(|| statement.because.clone());
        let shown: Vec<String> = reason.into_iter().chain(shown).collect();
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"{class}\">{word}</td><td>{}</td></tr>",
            escaped(&statement.at),
            escaped(&statement.says),
            shown
                .iter()
                .map(|line| escaped(line))
                .collect::<Vec<_>>()
                .join("<br>")
        );
    }
    let _ = writeln!(out, "</table></div>");
}

fn corrections(out: &mut String, work: &Work) {
    if work.correction.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details><summary>Misprints that matter <small>{}</small></summary><div class=\"scroll\"><table>\
         <tr><th>equation</th><th>printed</th><th>correct</th><th>known by</th></tr>",
        work.correction.len()
    );
    for correction in &work.correction {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&correction.equation),
            escaped(&correction.printed),
            escaped(&correction.correct),
            escaped(&correction.check)
        );
    }
    let _ = writeln!(out, "</table></div></details>");
}

fn table(out: &mut String, rows: &[&Row]) {
    let count = |wanted: Verdict| rows.iter().filter(|row| row.verdict() == wanted).count();
    let mut words = vec![format!("{} met", count(Verdict::Met))];
    for (verdict, word) in [(Verdict::Refuted, "refuted"), (Verdict::Fails, "FAIL")] {
        let count = count(verdict);
        words.extend((count > 0).then(|| format!("{count} {word}")));
    }
    let open = if count(Verdict::Fails) > 0 {
        " open"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<details{open}><summary>{} <small>{}</small></summary><div class=\"scroll\"><table>\
         <tr><th>quantity</th><th>printed</th><th>digits</th><th>reference</th><th>computed</th><th>difference</th><th>tolerance</th><th>verdict</th><th>reason</th></tr>",
        escaped(&rows[0].case),
        words.join(", ")
    );
    for row in rows {
        let theirs = row.reference.or(row.printed);
        let apart = row.computed.zip(theirs).map(|(ours, theirs)| ours - theirs);
        let (class, word) = match row.verdict() {
            Verdict::Met => ("met", "met"),
            Verdict::Refuted => ("refuted", "refuted"),
            Verdict::Fails => ("fails", "FAILS"),
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{:.1e}</td><td class=\"{class}\">{word}</td><td>{}</td></tr>",
            escaped(&row.quantity),
            number(row.printed),
            row.digits
                .map_or_else(String::new, |digits| digits.to_string()),
            number(row.reference),
            number(row.computed),
            apart
                .filter(|apart| apart.is_finite())
                .map_or_else(String::new, |apart| format!("{apart:.1e}")),
            row.tolerance,
            escaped(&row.remark)
        );
    }
    let _ = writeln!(out, "</table></div></details>");
}

fn number(x: Option<f64>) -> String {
    match x {
        None => String::new(),
        Some(x) if x.is_infinite() => "∞".to_owned(),
        Some(x) if x != 0.0 && !(1e-3..1e6).contains(&x.abs()) => format!("{x:.6e}"),
        Some(x) => {
            let text = format!("{x:.8}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

fn draw(out: &mut String, figure: &Figure) {
    let _ = writeln!(
        out,
        "<figure id=\"{}-{}\"><figcaption><b>Figure {}.</b> {}",
        figure.source,
        figure.number,
        escaped(&figure.number),
        escaped(&figure.caption)
    );
    if let Some(assumed) = &figure.assumed {
        let _ = writeln!(
            out,
            "<br><span class=\"small\">Assumed: {}</span>",
            escaped(assumed)
        );
    }
    let _ = writeln!(out, "</figcaption>");
    let drawn = chart(figure).draw(Style::default(), Format::Svg);
    let left_out = drawn
        .as_ref()
        .map(|plot| plot.left_out.clone())
        .unwrap_or_default();
    if let Some(plot) = drawn {
        out.push_str(&String::from_utf8_lossy(&plot.bytes));
    }
    for missing in figure.missing.iter().chain(&left_out) {
        let _ = writeln!(
            out,
            "<p class=\"fails\">Not drawn: {}</p>",
            escaped(missing)
        );
    }
    let _ = writeln!(out, "<details><summary>Runs</summary><ul>");
    for (label, command) in &figure.runs {
        let _ = writeln!(
            out,
            "<li>{}: <code>{}</code></li>",
            escaped(label),
            escaped(command)
        );
    }
    let _ = writeln!(out, "</ul></details></figure>");
}

/// Curves of one channel differ by colour, those of several by colour and their runs by dashes.
fn chart(figure: &Figure) -> Chart<'_> {
    let axis = |quantity: &figures::Quantity| Axis {
        label: quantity.label.clone(),
        unit: quantity.unit.clone(),
        scale: if quantity.logarithmic {
            Scale::Logarithmic
        } else {
            Scale::Linear
        },
    };
    let panels = figure.panels.iter().map(|panel| {
        let one_channel = panel.curves.iter().all(|curve| curve.channel == 0);
        let curves = panel.curves.iter().map(|curve| Curve {
            name: curve.name.clone(),
            channel: curve.name.clone(),
            points: [&curve.across, &curve.upward],
            colour: if one_channel {
                curve.run
            } else {
                curve.channel
            },
            dash: curve.run,
        });
        Panel {
            upward: axis(&panel.upward),
            curves: curves.collect(),
        }
    });
    Chart {
        title: format!("Figure {}", figure.number),
        across: axis(&figure.across),
        panels: panels.collect(),
        left_out: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(printed: f64, computed: f64, unmet: bool) -> Row {
        Row {
            case: "a case".to_owned(),
            source: "beck_1952".to_owned(),
            quantity: "x < y".to_owned(),
            printed: Some(printed),
            digits: Some(3),
            reference: None,
            computed: Some(computed),
            tolerance: 0.01,
            pass: !unmet,
            unmet,
            remark: "because".to_owned(),
        }
    }

    /// Property: counts stand first and are those of the rows, text is escaped, what could not be drawn is told, and the page asks for
    /// nothing outside itself.
    #[test]
    fn the_page_says_what_it_was_given() {
        let works = works::works();
        let figure = |across: Vec<f64>, missing: Vec<String>| Figure {
            source: "beck_1952".to_owned(),
            number: "3".to_owned(),
            caption: "A caption".to_owned(),
            assumed: Some("all of it".to_owned()),
            across: figures::Quantity {
                label: "Time".to_owned(),
                unit: "s".to_owned(),
                logarithmic: false,
            },
            panels: vec![figures::Panel {
                upward: figures::Quantity {
                    label: "Way".to_owned(),
                    unit: "m".to_owned(),
                    logarithmic: false,
                },
                curves: vec![figures::Curve {
                    name: "a run".to_owned(),
                    channel: 0,
                    run: 0,
                    upward: across.clone(),
                    across,
                }],
            }],
            runs: vec![("a run".to_owned(), "lissom run x".to_owned())],
            missing,
        };
        let page = validation_html(&Validation {
            works: &works,
            rows: &[row(1.0, 1.001, false), row(2.0, 3.0, true)],
            figures: &[
                figure(vec![0.0, 1.0], Vec::new()),
                figure(Vec::new(), vec!["z of a run".to_owned()]),
            ],
            quick: true,
            made_by: "a test",
        });
        assert!(!page.contains(PLACE));
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
        assert!(at("not attempted") < at("<section"));
        let counts = [
            "<b class=\"met\">0</b><span>fail</span>",
            "<b class=\"refuted\">1</b><span>printed numbers refuted",
            "<b class=\"met\">1</b><span>met</span>",
            "<b>1</b><span>figures made anew",
        ];
        let others = ["x &lt; y", "Assumed: all of it", "Not drawn: z of a run"];
        for text in counts.iter().chain(&others) {
            assert!(page.contains(text), "no {text}");
        }
        assert_eq!(page.matches("<svg").count(), 1);
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !outside.contains("src="));
    }
}
