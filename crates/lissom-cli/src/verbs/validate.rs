//! `lissom validate`: published numbers against ours.

use std::io::Write as _;

use lissom_io::atomic;
use lissom_io::validation::{self, Row, figures, works};
use lissom_report::{Validation, validation_html};
use serde_json::json;

use crate::arguments::ValidateArguments;
use crate::output::{counted, rounded};
use crate::stop::Stop;

/// Computes every row and says which pass.
pub(crate) fn run(arguments: &ValidateArguments) -> Result<(), Stop> {
    let files = [&arguments.report, &arguments.html];
    let files = files.into_iter().flatten();
    (files.clone()).try_for_each(|path| atomic::refuse_unwritable(path))?;
    let rows = validation::rows(arguments.quick);
    let figures = match &arguments.html {
        Some(_) => figures::figures(arguments.quick),
        None => Vec::new(),
    };
    let works = works::judged(&rows, &figures);
    if let Some(path) = &arguments.report {
        let text = validation::report(&rows);
        atomic::write(path, |out| out.write_all(text.as_bytes()))?;
    }
    if let Some(path) = &arguments.html {
        let page = validation_html(&Validation {
            works: &works,
            rows: &rows,
            figures: &figures,
            quick: arguments.quick,
            made_by: concat!("lissom ", env!("CARGO_PKG_VERSION")),
        });
        atomic::write(path, |out| out.write_all(page.as_bytes()))?;
    }
    let statements = works::counts(&works);
    let answer = json!({
        "statements": statements,
        "rows": rows,
    });
    (arguments.answer).give(&answer, || {
        let written = files.map(|path| format!("Wrote {}.", path.display()));
        let counts = format!("What the five works say: {}", statements.in_words());
        let lines = [in_words(&rows), counts];
        lines
            .into_iter()
            .chain(written)
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    let failed = rows.iter().filter(|row| row.fails()).count();
    if failed > 0 {
        return Err(Stop::Explained(format!(
            "{} of {} do not pass",
            failed,
            counted(rows.len(), "row")
        )));
    }
    if statements.fail > 0 {
        let said = works.iter().flat_map(|work| &work.statements);
        let against = said.flat_map(|statement| statement.against.clone());
        return Err(Stop::Explained(format!(
            "rows and figures that are said to show a statement do not: {}",
            against.collect::<Vec<_>>().join("; ")
        )));
    }
    Ok(())
}

/// A line per row, and the count.
fn in_words(rows: &[Row]) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| rounded(x, 8));
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} {}: {} [{}]\n     printed {}, reference {}, computed {}, tolerance {:.1e}{}",
                match (row.pass, row.unmet) {
                    (true, _) => "pass",
                    (false, true) => "note",
                    (false, false) => "FAIL",
                },
                row.case,
                row.quantity,
                row.source,
                number(row.printed),
                number(row.reference),
                number(row.computed),
                row.tolerance,
                if row.unmet {
                    format!("\n     not met: {}", row.remark)
                } else {
                    String::new()
                },
            )
        })
        .collect();
    let passed = rows.iter().filter(|row| row.pass).count();
    let unmet = rows.iter().filter(|row| row.unmet).count();
    let known = match unmet {
        0 => String::new(),
        _ => format!(", {unmet} printed numbers are known not to be met"),
    };
    lines.push(format!(
        "{passed} of {} pass{known}",
        counted(rows.len(), "row")
    ));
    lines.join("\n")
}
