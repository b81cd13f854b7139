//! What is held against: the sources of `validation/`, with what is wrong in them and what they say that can be checked.

use serde::{Deserialize, Serialize};

use super::Row;
use super::figures::Figure;

/// Every `source.toml` of `validation/`, with the statements of the source where they are listed.
const FILES: [(&str, Option<&str>); 10] = [
    (
        include_str!("../../../../validation/damaren_1995/source.toml"),
        Some(include_str!(
            "../../../../validation/damaren_1995/statements.toml"
        )),
    ),
    (
        include_str!("../../../../validation/fattah_1995/source.toml"),
        Some(include_str!(
            "../../../../validation/fattah_1995/statements.toml"
        )),
    ),
    (
        include_str!("../../../../validation/jain_rodriguez_1992/source.toml"),
        Some(include_str!(
            "../../../../validation/jain_rodriguez_1992/statements.toml"
        )),
    ),
    (
        include_str!("../../../../validation/jonker_aarts_2001/source.toml"),
        Some(include_str!(
            "../../../../validation/jonker_aarts_2001/statements.toml"
        )),
    ),
    (
        include_str!("../../../../validation/pan_1990/source.toml"),
        Some(include_str!(
            "../../../../validation/pan_1990/statements.toml"
        )),
    ),
    (
        include_str!("../../../../validation/simo_1986/source.toml"),
        None,
    ),
    (
        include_str!("../../../../validation/dowell_traybar_1975/source.toml"),
        None,
    ),
    (
        include_str!("../../../../validation/bathe_bolourchi_1979/source.toml"),
        None,
    ),
    (
        include_str!("../../../../validation/timoshenko_1961/source.toml"),
        None,
    ),
    (
        include_str!("../../../../validation/beck_1952/source.toml"),
        None,
    ),
];

/// A source that ours is held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Name of its folder in `validation/`.
    pub key: String,
    /// Full citation.
    pub citation: String,
    /// Tables, figures, equations and sections that are used.
    pub used: Vec<String>,
    /// Digits that it prints; 0 if the numbers used are not printed there.
    #[serde(default)]
    pub printed_digits: usize,
    /// What a reader must know to judge the rows.
    #[serde(default)]
    pub note: String,
    /// What is misprinted or wrong in it.
    #[serde(default)]
    pub correction: Vec<Correction>,
    /// What it says that can be checked; listed of the five works alone.
    #[serde(skip_deserializing)]
    pub statements: Vec<Statement>,
}

/// Something misprinted or wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// Its equation or section.
    pub equation: String,
    /// What is printed.
    pub printed: String,
    /// What is right.
    pub correct: String,
    /// How that is known.
    #[serde(default)]
    pub check: String,
}

/// Something that a work says and that can be checked: a table, a figure, a number, a finding in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Where it says it.
    pub at: String,
    /// What it says, in our words.
    pub says: String,
    /// What came out.
    pub verdict: Checked,
    /// Beginnings of `CASE: QUANTITY` of the rows that show it.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Numbers of figures that show it.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Tests that hold it, as paths.
    #[serde(default)]
    pub tests: Vec<String>,
    /// What came out instead, or why it was not attempted.
    #[serde(default)]
    pub because: String,
    /// What of the rows and figures that show it a run has found otherwise.
    #[serde(skip_deserializing)]
    pub against: Vec<String>,
    /// Whether none of the rows that show it were computed, though there are some.
    #[serde(skip_deserializing)]
    pub left_out: bool,
}

impl Statement {
    /// Whether a row is one of those that show it.
    fn is_shown_by(&self, row: &Row) -> bool {
        let name = format!("{}: {}", row.case, row.quantity);
        (self.cases.iter()).any(|case| name.starts_with(case.as_str()))
    }

    /// Takes what a run has found of the work that says it.
    fn judge(&mut self, key: &str, rows: &[Row], figures: &[Figure]) {
        let own = rows.iter().filter(|row| row.source == key);
        let own: Vec<&Row> = own.filter(|row| self.is_shown_by(row)).collect();
        self.left_out = own.is_empty() && !self.cases.is_empty();
        let passes = |row: &Row| match self.verdict {
            Checked::Met => row.pass,
            // what is refuted is shown by rows that are known to be unmet, too
            _ => !row.fails(),
        };
        let against = own.iter().filter(|row| !passes(row));
        let against = against.map(|row| format!("{}: {}", row.case, row.quantity));
        let mut against: Vec<String> = against.collect();
        let of_figures = figures.iter().filter(|figure| {
            figure.source == key
                && self.figures.contains(&figure.number)
                && !figure.missing.is_empty()
        });
        against.extend(of_figures.map(|figure| format!("figure {}", figure.number)));
        if !against.is_empty() {
            self.verdict = Checked::Fails;
        }
        self.against = against;
    }
}

/// What came out of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// It is so.
    Met,
    /// It is not so, as the rows, figures or tests show.
    Refuted,
    /// Nobody has looked.
    NotAttempted,
    /// The rows that show it do not pass in a run.
    #[serde(skip_deserializing)]
    Fails,
}

/// Verdicts counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Statements that are so.
    pub met: usize,
    /// Those that are not.
    pub refuted: usize,
    /// Those that nobody has looked at.
    pub not_attempted: usize,
    /// Those whose rows do not pass.
    pub fail: usize,
    /// Those, among the others, whose rows were left out of the run.
    pub left_out: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    statement: Vec<Statement>,
}

/// All sources.
///
/// # Panics
/// If a file that comes with the program cannot be read, which a test would tell.
pub fn works() -> Vec<Work> {
    let read = |(source, statements): (&str, Option<&str>)| {
        let mut work: Work = toml::from_str(source).expect("a test reads every source.toml");
        if let Some(text) = statements {
            let file: File = toml::from_str(text).expect("a test reads every statements.toml");
            work.statements = file.statement;
        }
        work
    };
    FILES.into_iter().map(read).collect()
}

/// The works as a run has found them: what they say is met or refuted only if the rows that show it pass in this run.
pub fn judged(rows: &[Row], figures: &[Figure]) -> Vec<Work> {
    let mut works = works();
    for work in &mut works {
        for statement in &mut work.statements {
            statement.judge(&work.key, rows, figures);
        }
    }
    works
}

/// How many statements came out each way.
pub fn counts(works: &[Work]) -> Counts {
    let mut counts = Counts::default();
    for statement in works.iter().flat_map(|work| &work.statements) {
        *match statement.verdict {
            Checked::Met => &mut counts.met,
            Checked::Refuted => &mut counts.refuted,
            Checked::NotAttempted => &mut counts.not_attempted,
            Checked::Fails => &mut counts.fail,
        } += 1;
        counts.left_out += usize::from(statement.left_out);
    }
    counts
}

impl Counts {
    /// All of them.
    pub fn statements(self) -> usize {
        self.met + self.refuted + self.not_attempted + self.fail
    }

    /// In words: what is met first, then what is not.
    pub fn in_words(self) -> String {
        let said = |count: usize, before: &str, after: &str| match count {
            0 => String::new(),
            count => format!("; {before} {count} {after}"),
        };
        format!(
            "{} met, {} refuted with evidence, {} not attempted{}{}",
            self.met,
            self.refuted,
            self.not_attempted,
            said(self.fail, "the rows of", "DO NOT PASS"),
            said(self.left_out, "the rows of", "were left out of this run")
        )
    }
}

/// What works say and what came out, as Markdown: counts, and a table for every work.
pub fn markdown(works: &[Work]) -> String {
    use std::fmt::Write as _;
    let counts = counts(works);
    // writing to a string cannot fail
    let mut out = format!(
        "Of {} statements of the five works: {}.\n",
        counts.statements(),
        counts.in_words()
    );
    for work in works.iter().filter(|work| !work.statements.is_empty()) {
        let _ = writeln!(
            out,
            "\n{}\n\n| where | what it says | verdict | shown by |\n|---|---|---|---|",
            work.citation
        );
        for statement in &work.statements {
            let verdict = match statement.verdict {
                Checked::Met => "met",
                Checked::Refuted => "**refuted**",
                Checked::NotAttempted => "**not attempted**",
                Checked::Fails => "**FAILS**",
            };
            let tests = statement.tests.iter().map(|test| format!("`{test}`"));
            let mut shown: Vec<String> = Vec::new();
            shown.extend((!statement.because.is_empty()).then(|| statement.because.clone()));
            let lists = [
                ("DO NOT PASS:", statement.against.join("; ")),
                ("rows", statement.cases.join("; ")),
                ("figures", statement.figures.join(", ")),
                ("tests", tests.collect::<Vec<_>>().join(", ")),
            ];
            let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
            shown.extend(lists.map(|(what, list)| format!("{what} {list}")));
            let _ = writeln!(
                out,
                "| {} | {} | {verdict} | {} |",
                statement.at,
                statement.says,
                shown.join(". ")
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(quantity: &str, pass: bool, unmet: bool) -> Row {
        Row {
            case: "a case".to_owned(),
            source: "key".to_owned(),
            quantity: quantity.to_owned(),
            printed: None,
            digits: None,
            reference: Some(1.0),
            computed: Some(1.0),
            tolerance: 0.0,
            pass,
            unmet,
            remark: String::new(),
        }
    }

    /// Property: what is said to be met needs rows that pass in this run, what is refuted none that fail; rows of other sources and quantities
    /// say nothing, and rows that were left out are told.
    #[test]
    fn a_statement_is_what_its_rows_are() {
        let judged = |verdict: Checked, cases: &[&str], rows: &[Row]| {
            let mut statement = Statement {
                at: String::new(),
                says: String::new(),
                verdict,
                cases: cases.iter().map(|&case| case.to_owned()).collect(),
                figures: Vec::new(),
                tests: Vec::new(),
                because: String::new(),
                against: Vec::new(),
                left_out: false,
            };
            statement.judge("key", rows, &[]);
            (statement.verdict, statement.left_out)
        };
        let (good, known, bad) = (
            row("x", true, false),
            row("y", false, true),
            row("z", false, false),
        );
        let all = [good.clone(), known.clone(), bad];
        let (met, refuted, fails) = (Checked::Met, Checked::Refuted, Checked::Fails);
        assert_eq!(judged(met, &["a case"], &[good]), (met, false));
        assert_eq!(judged(met, &["a case: x"], &all), (met, false));
        assert_eq!(judged(met, &["a case: y"], &all), (fails, false));
        assert_eq!(judged(refuted, &["a case: y"], &all), (refuted, false));
        assert_eq!(judged(refuted, &["a case: z"], &all), (fails, false));
        assert_eq!(judged(met, &["another"], &all), (met, true));
        assert_eq!(judged(met, &[], &all), (met, false));
        let others = Row {
            source: "other".to_owned(),
            ..known
        };
        assert_eq!(judged(met, &["a case"], &[others]), (met, true));
    }
}
