//! Rows of `lissom validate`.

use std::path::Path;
use std::sync::LazyLock;

use lissom_io::validation::works::{self, Checked};
use lissom_io::validation::{self, Row, figures};

/// Printed positions and velocities of the 3-RRS have two decimals.
const PRINTED_TOLERANCE: f64 = 5e-3;

/// The quick rows, which two tests look at.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| validation::rows(true));

/// Published numbers and independent implementations. Where a row of tables 6.2 and 6.3 of Fattah's thesis has a more exact reference,
/// the printed number comes out too.
#[test]
fn every_quick_row_passes() {
    let rows: &[Row] = &ROWS;
    assert!(rows.len() > 140, "only {} rows", rows.len());
    for row in rows {
        assert!(!row.fails(), "{row:?}");
    }
    let kinematics = (rows.iter()).filter(|row| row.case.starts_with("3-RRS direct kinematics"));
    let kinematics: Vec<_> = kinematics.collect();
    assert_eq!(kinematics.len(), 3 * 12 + 2 * 9);
    for row in kinematics.iter().filter(|row| row.reference.is_some()) {
        let apart = row.printed.map(|p| (p - row.computed.unwrap()).abs());
        assert!(
            apart.is_none_or(|apart| apart < PRINTED_TOLERANCE),
            "{row:?}"
        );
    }
}

/// Every figure whose runs are quick can be drawn: no curve is missing, and each has something to show.
#[test]
fn every_quick_figure_is_made() {
    let made = figures::figures(true);
    assert!(made.len() > 35, "only {} figures", made.len());
    for figure in &made {
        let name = format!("{} {}", figure.source, figure.number);
        assert!(figure.missing.is_empty(), "{name}: {:?}", figure.missing);
        for curve in figure.panels.iter().flat_map(|panel| &panel.curves) {
            assert_eq!(curve.across.len(), curve.upward.len(), "{name}");
            let shown = curve.upward.iter().filter(|x| x.is_finite()).count();
            // curves of models that fail leave the bounds of their panels
            assert!(4 * shown > curve.upward.len(), "{name}: {}", curve.name);
        }
    }
}

/// Names of all rows of a source, `CASE: QUANTITY`: of the quick rows, and as its files have them.
fn cases(key: &str) -> Vec<String> {
    let of_rows = ROWS.iter().filter(|row| row.source == key);
    let named = |row: &Row| format!("{}: {}", row.case, row.quantity);
    let mut names: Vec<String> = of_rows.map(named).collect();
    for file in ["cases.toml", "nodal.toml", "any_shape.toml"] {
        let path = repository().join("validation").join(key).join(file);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut case = "";
        for line in text.lines() {
            let of = |key: &str| Some(line.strip_prefix(key)?.trim_end_matches('"'));
            case = of("name = \"").unwrap_or(case);
            names.extend(of("quantity = \"").map(|quantity| format!("{case}: {quantity}")));
        }
    }
    names
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What a statement of a work is shown by is there: cases, figures and tests by their names. What is refuted or was not
/// attempted says why.
#[test]
fn statements_are_shown_by_what_is_there() {
    let numbers = figures::numbers();
    let works = works::works();
    assert_eq!(
        works
            .iter()
            .filter(|work| !work.statements.is_empty())
            .count(),
        5
    );
    for work in &works {
        let cases = cases(&work.key);
        for statement in &work.statements {
            let name = format!("{}, {}: {}", work.key, statement.at, statement.says);
            for case in &statement.cases {
                let found = cases.iter().any(|known| known.starts_with(case.as_str()));
                assert!(found, "{name}: no case {case}");
            }
            for figure in &statement.figures {
                let figure = (work.key.clone(), figure.clone());
                assert!(numbers.contains(&figure), "{name}: no figure {figure:?}");
            }
            for test in &statement.tests {
                assert!(repository().join(test).is_file(), "{name}: no test {test}");
            }
            let shown = !statement.cases.is_empty()
                || !statement.figures.is_empty()
                || !statement.tests.is_empty();
            match statement.verdict {
                Checked::Met => assert!(shown, "{name}"),
                Checked::Refuted => assert!(shown && !statement.because.is_empty(), "{name}"),
                // every statement has been looked at
                Checked::NotAttempted | Checked::Fails => panic!("{name}"),
            }
        }
    }
}

/// What the five works say is met or refuted by the rows of this run, as far as quick ones show it.
#[test]
fn statements_are_what_the_quick_rows_say() {
    let works = works::judged(&ROWS, &[]);
    for statement in works.iter().flat_map(|work| &work.statements) {
        assert!(statement.against.is_empty(), "{statement:?}");
    }
    let counts = works::counts(&works);
    assert_eq!((counts.not_attempted, counts.fail), (0, 0), "{counts:?}");
    assert!(counts.left_out < counts.met, "{counts:?}");
}

/// Section 4.2 of Damaren & Sharf: the booms, cantilevered, have their first frequencies at 37.2 and 34.5 rad/s. The first follows from
/// printed data; the second was what a lost stiffness was recovered from.
#[test]
fn booms_of_the_shuttle_arm_have_the_printed_frequencies() {
    let arm = super::loaded("shuttle-arm", &[]);
    for (name, printed) in [("upper_boom", 37.2), ("lower_boom", 34.5)] {
        let body = arm.spec.body.iter().find(|body| body.name == name).unwrap();
        let beam = body.beam.as_ref().unwrap();
        let stiffness = beam.bending_stiffness_y_n_m2.unwrap();
        let mass = beam.mass_per_length_kg_per_m.unwrap();
        // the first root of cos x cosh x = -1, squared
        let frequency = 3.516_015 / beam.length_m.unwrap().powi(2) * (stiffness / mass).sqrt();
        assert!((frequency - printed).abs() < 0.05, "{name}: {frequency}");
    }
}

/// The page of the validation has what the data say, and nothing else.
#[test]
fn the_page_of_the_validation_is_that_of_the_data() {
    let page = std::fs::read_to_string(repository().join("docs/validation.md")).unwrap();
    let expected = works::markdown(&works::works());
    assert!(
        page.ends_with(&expected),
        "docs/validation.md ends with what `lissom validate --report FILE` writes under \"What the five works say\""
    );
}
