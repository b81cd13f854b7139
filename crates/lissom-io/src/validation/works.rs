//! What is held against: the sources of `validation/`, with what is wrong in them and what they say that can be checked.

use serde::{Deserialize, Serialize};

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
    /// Beginnings of the names of cases whose rows show it.
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

/// How many statements came out each way: met, refuted, not attempted.
pub fn counts(works: &[Work]) -> [usize; 3] {
    [Checked::Met, Checked::Refuted, Checked::NotAttempted].map(|wanted| {
        let statements = works.iter().flat_map(|work| &work.statements);
        statements
            .filter(|statement| statement.verdict == wanted)
            .count()
    })
}

/// What works say and what came out, as Markdown: counts, and a table for every work.
pub fn markdown(works: &[Work]) -> String {
    use std::fmt::Write as _;
    let [met, refuted, open] = counts(works);
    // writing to a string cannot fail
    let mut out = format!(
        "Of {} statements of the five works {open} are not attempted, {refuted} are refuted, with evidence, and {met} are met.\n",
        met + refuted + open
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
            };
            let tests = statement.tests.iter().map(|test| format!("`{test}`"));
            let mut shown: Vec<String> = Vec::new();
            shown.extend((!statement.because.is_empty()).then(|| statement.because.clone()));
            let lists = [
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
