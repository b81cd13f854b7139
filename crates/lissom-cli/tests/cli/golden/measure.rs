//! Calls the command and keeps what is compared: the last row of a recording, the matrices of a linear model, or why
//! there is none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cases::{Case, Task};
use crate::{Answer, Folder};

/// What a case gave, with the columns of the recording if there is one.
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    pub(super) columns: Option<Vec<String>>,
}

/// What is kept of a case.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// First line of the words with which it was refused or failed.
    Refused(String),
    Run(RunOutcome),
    Linear(BTreeMap<String, ArrayOutcome>),
}

/// What is kept of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunOutcome {
    pub(super) steps: u64,
    pub(super) rejected: u64,
    /// Digest of all rows.
    pub(super) rows: String,
    /// The last row.
    pub(super) last: Vec<f64>,
}

/// What is kept of a matrix or vector: every entry, or a digest and a sum per row where these are many.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ArrayOutcome {
    pub(super) shape: Vec<usize>,
    /// Entries row by row, or weighted sums of the rows; none if all entries are zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<f64>,
    /// Digests of the rows where `values` holds their sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) digests: Vec<String>,
}

/// Most entries of a matrix that are kept one by one.
const MOST_ENTRIES: usize = 64;

/// Calls the command in a folder of its own.
pub(super) fn measure(case: &Case) -> Measured {
    let folder = Folder::new();
    let mut arguments = case.arguments();
    if matches!(case.task, Task::Run(..)) {
        arguments.extend(["--out", "out"].map(str::to_owned));
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = folder.lissom(&words);
    if answer.code != 0 {
        return Measured::refused(answer.stderr.lines().next().unwrap_or("").to_owned());
    }
    match case.task {
        Task::Run(..) => run(&folder, &answer),
        Task::Linear => Measured {
            outcome: Outcome::Linear(linear(&answer)),
            columns: None,
        },
    }
}

impl Measured {
    fn refused(words: String) -> Self {
        Self {
            outcome: Outcome::Refused(words),
            columns: None,
        }
    }
}

fn run(folder: &Folder, answer: &Answer) -> Measured {
    let csv = String::from_utf8(folder.read("out/recording.csv")).unwrap();
    let mut lines = csv.lines();
    let columns: Vec<String> = lines
        .next()
        .unwrap()
        .split(',')
        .map(str::to_owned)
        .collect();
    let rows: Vec<Vec<f64>> = lines.map(row).collect();
    let last = rows.last().expect("a recording has rows").clone();
    assert_eq!(columns.len(), last.len(), "no column name holds a comma");
    if let Some(at) = last.iter().position(|value| !value.is_finite()) {
        return Measured::refused(format!("{} ends as {}", columns[at], last[at]));
    }
    let cost = &parsed(answer)["cost"];
    let outcome = RunOutcome {
        steps: cost["steps"].as_u64().unwrap(),
        rejected: cost["rejected"].as_u64().unwrap(),
        rows: format!("{:016x}", digest(rows.iter().flatten())),
        last,
    };
    Measured {
        outcome: Outcome::Run(outcome),
        columns: Some(columns),
    }
}

fn row(line: &str) -> Vec<f64> {
    line.split(',')
        .map(|field| field.parse().unwrap())
        .collect()
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap()
}

/// Arrays of a linear model that other tests look at.
const LEFT_OUT: [&str; 4] = ["sigma0", "H_output", "x_start", "u0_names"];

/// The matrices of a linear model and the state that they are of.
fn linear(answer: &Answer) -> BTreeMap<String, ArrayOutcome> {
    let model = parsed(answer);
    let arrays = model.as_object().unwrap().iter();
    let arrays = arrays.filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    let numeric = arrays.filter(|(_, array)| !is_list_of_words(array));
    let kept = numeric.map(|(name, array)| {
        let outcome = ArrayOutcome::of(array);
        let outcome = outcome.unwrap_or_else(|| panic!("{name} holds something that is no number"));
        (name.clone(), outcome)
    });
    kept.collect()
}

fn is_list_of_words(list: &Value) -> bool {
    let entries = list.as_array();
    entries.is_some_and(|entries| !entries.is_empty() && entries.iter().all(Value::is_string))
}

impl ArrayOutcome {
    /// What is kept of an array, if it is one of numbers.
    fn of(array: &Value) -> Option<Self> {
        let entries = array.as_array()?;
        if entries.iter().all(Value::is_array) && !entries.is_empty() {
            let rows = entries.iter().map(numbers).collect::<Option<Vec<_>>>()?;
            Some(Self::of_matrix(&rows))
        } else {
            let values = numbers(array)?;
            let shape = vec![values.len()];
            Some(Self::kept(shape, values, Vec::new()))
        }
    }

    fn of_matrix(rows: &[Vec<f64>]) -> Self {
        let shape = vec![rows.len(), rows[0].len()];
        let entries = rows.concat();
        if is_small(&shape) || is_zero(&entries) {
            return Self::kept(shape, entries, Vec::new());
        }
        let sums = rows.iter().map(|row| weighted_sum(row)).collect();
        let digests = rows.iter().map(|row| short_digest(row)).collect();
        Self::kept(shape, sums, digests)
    }

    fn kept(shape: Vec<usize>, values: Vec<f64>, digests: Vec<String>) -> Self {
        let values = if digests.is_empty() && is_zero(&values) {
            Vec::new()
        } else {
            values
        };
        Self {
            shape,
            values,
            digests,
        }
    }

    /// Whether sums of rows are kept instead of entries.
    pub(super) fn is_summed(&self) -> bool {
        !is_small(&self.shape)
    }

    /// The values with the zeros that are not written.
    pub(super) fn all_values(&self) -> Vec<f64> {
        let count = match self.shape[..] {
            [rows, _] if self.is_summed() => rows,
            _ => self.shape.iter().product(),
        };
        if self.values.is_empty() {
            vec![0.0; count]
        } else {
            self.values.clone()
        }
    }
}

/// Whether every entry of an array is kept: of vectors, and of matrices with few.
fn is_small(shape: &[usize]) -> bool {
    shape.len() < 2 || shape.iter().product::<usize>() <= MOST_ENTRIES
}

/// The numbers of a list, unless it holds something else.
fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}

/// Whether all are the positive zero.
fn is_zero(values: &[f64]) -> bool {
    values.iter().all(|value| value.to_bits() == 0)
}

/// Sum of a row with weights from 1 to 2: rows of a stiffness may have the plain sum zero.
fn weighted_sum(row: &[f64]) -> f64 {
    let weight = |column: usize| 1.0 + column as f64 / row.len() as f64;
    let terms = row.iter().enumerate();
    terms.map(|(column, value)| weight(column) * value).sum()
}

/// FNV-1a of the bits.
fn digest<'a>(values: impl IntoIterator<Item = &'a f64>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = values
        .into_iter()
        .flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

/// A digest of half the length, for the many rows of matrices.
fn short_digest(row: &[f64]) -> String {
    let long = digest(row);
    format!("{:08x}", (long ^ (long >> 32)) & 0xffff_ffff)
}
