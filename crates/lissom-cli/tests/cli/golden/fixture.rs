//! The file of golden numbers: one line per case, so that a change shows line by line.
//!
//! Numbers are the shortest decimals that read back to the same bits.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::cases::Case;
use super::measure::{Measured, Outcome};
use super::probe;

/// Everything that is compared.
#[derive(Deserialize)]
pub(super) struct Fixture {
    /// Bits of the mathematical library it was computed with.
    pub(super) probe: Vec<String>,
    /// Columns of the recordings by model and formulation.
    pub(super) columns: BTreeMap<String, Vec<String>>,
    /// Outcomes by the names of the cases.
    pub(super) cases: BTreeMap<String, Outcome>,
}

impl Fixture {
    /// Gathers what the cases gave.
    pub(super) fn new(cases: &[Case], measured: Vec<Measured>) -> Self {
        let mut fixture = Self {
            probe: probe::bits(),
            columns: BTreeMap::new(),
            cases: BTreeMap::new(),
        };
        for (case, measured) in cases.iter().zip(measured) {
            if let Some(columns) = measured.columns {
                let equations = case.equations();
                let known = fixture.columns.entry(equations).or_insert(columns.clone());
                assert_eq!(*known, columns, "{}: columns of a method", case.name());
            }
            fixture.cases.insert(case.name(), measured.outcome);
        }
        fixture
    }

    /// Takes over what another one has of cases that are not here.
    pub(super) fn take_others(&mut self, other: Self) {
        for (name, columns) in other.columns {
            self.columns.entry(name).or_insert(columns);
        }
        for (name, outcome) in other.cases {
            self.cases.entry(name).or_insert(outcome);
        }
    }

    /// Columns of the recording of a case.
    pub(super) fn columns_of(&self, case: &str) -> &[String] {
        let equations = case
            .rsplit_once(' ')
            .map_or(case, |(equations, _)| equations);
        self.columns.get(equations).map_or(&[], Vec::as_slice)
    }

    pub(super) fn read() -> Self {
        let text = std::fs::read_to_string(path()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub(super) fn write(&self) {
        let text = format!(
            "{{\n\"probe\": {},\n\"columns\": {{\n{}\n}},\n\"cases\": {{\n{}\n}}\n}}\n",
            json(&self.probe),
            lines(&self.columns),
            lines(&self.cases)
        );
        std::fs::write(path(), text).unwrap();
    }
}

fn path() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/cli/golden/golden.json"]
        .iter()
        .collect()
}

/// A line for each entry.
fn lines(entries: &BTreeMap<String, impl Serialize>) -> String {
    let line = |(key, value)| format!("{}: {}", json(key), json(value));
    let lines: Vec<String> = entries.iter().map(line).collect();
    lines.join(",\n")
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap()
}
