//! What has moved between two fixtures, by case and quantity, and how far.
//!
//! Of a large matrix the weighted sums of its rows tell how far it has moved. Where a row has another digest and the same
//! sum, it has moved by less than the last digit of that sum.

use std::collections::BTreeMap;

use super::fixture::Fixture;
use super::measure::{ArrayOutcome, Outcome, RunOutcome};

/// When numbers count as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closeness {
    /// If all their bits are.
    Bits,
    /// If they differ by little of the largest number of their kind.
    Tolerance,
}

/// What may be between two mathematical libraries, in parts of the largest number of the same kind: errors of steps that
/// were chosen otherwise, at tolerances of 1e-7 and less.
const RELATIVE: f64 = 1e-6;
/// The same where all numbers of a kind are next to zero: what the methods neglect in a state.
const ABSOLUTE: f64 = 1e-9;

/// Beginning of the channels that only bits can be asked of: of a mechanism that floats freely, momenta are sums that
/// cancel, and nothing of their unit tells how large the parts are.
const CANCELLING: &str = "momentum.";

/// Differences of one case that are told, the largest first.
const TOLD: usize = 6;
/// Cases that are told.
const CASES_TOLD: usize = 25;

/// A number with its name and what it can be measured by: numbers of the same unit, or of the same matrix.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) value: f64,
}

/// What to say of the cases that differ.
pub(super) fn compare(before: &Fixture, now: &Fixture, closeness: Closeness) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, outcome) in &now.cases {
        let lines = match before.cases.get(name) {
            None => vec!["is new".to_owned()],
            Some(earlier) => between(
                (earlier, before.columns_of(name)),
                (outcome, now.columns_of(name)),
                closeness,
            ),
        };
        differences.extend(told(name, &lines));
    }
    let gone = before
        .cases
        .keys()
        .filter(|name| !now.cases.contains_key(*name));
    differences.extend(gone.map(|name| format!("{name}: is gone")));
    differences
}

/// The differences that are shown, and how many are not.
pub(super) fn shown(differences: &[String]) -> String {
    let mut lines: Vec<String> = differences.iter().take(CASES_TOLD).cloned().collect();
    if differences.len() > CASES_TOLD {
        lines.push(format!("and {} more cases", differences.len() - CASES_TOLD));
    }
    lines.join("\n")
}

/// Lines about one case, shortened and headed by its name; nothing if there are none.
fn told(name: &str, lines: &[String]) -> Option<String> {
    if lines.is_empty() {
        return None;
    }
    let mut parts = vec![format!("{name}:")];
    parts.extend(lines.iter().take(TOLD).cloned());
    if lines.len() > TOLD {
        parts.push(format!("and {} more", lines.len() - TOLD));
    }
    Some(parts.join("\n    "))
}

/// Differences of two outcomes, each with the columns of its recording.
fn between(
    (before, columns_before): (&Outcome, &[String]),
    (now, columns_now): (&Outcome, &[String]),
    closeness: Closeness,
) -> Vec<String> {
    match (before, now) {
        (Outcome::Refused(before), Outcome::Refused(now)) if before == now => Vec::new(),
        (Outcome::Run(before), Outcome::Run(now)) => {
            let mut lines = moved(
                &before.numbers(columns_before),
                &now.numbers(columns_now),
                closeness,
            );
            lines.extend(other_marks(before.marks(), now.marks(), closeness));
            lines
        }
        (Outcome::Linear(before), Outcome::Linear(now)) => {
            let mut lines = moved(&linear_numbers(before), &linear_numbers(now), closeness);
            lines.extend(other_marks(
                linear_marks(before),
                linear_marks(now),
                closeness,
            ));
            lines
        }
        _ => vec![format!("{} became {}", before.in_words(), now.in_words())],
    }
}

/// Numbers that differ, those that moved furthest first, and names that only one side has.
pub(super) fn moved(before: &[Number], now: &[Number], closeness: Closeness) -> Vec<String> {
    let largest = largest_of_kinds(before);
    let now_by_name: BTreeMap<&str, f64> = now.iter().map(|n| (n.name.as_str(), n.value)).collect();
    let mut differences: Vec<(f64, String)> = Vec::new();
    for number in before {
        let Some(&value) = now_by_name.get(number.name.as_str()) else {
            differences.push((f64::INFINITY, format!("{} is gone", number.name)));
            continue;
        };
        let scale = largest[number.kind.as_str()];
        if !number.agrees(value, scale, closeness) {
            let share = (value - number.value).abs() / scale;
            differences.push((share, in_words(number, value, share)));
        }
    }
    let known = |name: &str| before.iter().any(|number| number.name == name);
    let new = now.iter().filter(|number| !known(&number.name));
    differences.extend(new.map(|number| (f64::INFINITY, format!("{} is new", number.name))));
    differences.sort_by(|a, b| b.0.total_cmp(&a.0));
    differences.into_iter().map(|(_, words)| words).collect()
}

impl Number {
    /// Whether another value counts as the same, next to the largest of its kind.
    fn agrees(&self, other: f64, largest: f64, closeness: Closeness) -> bool {
        match closeness {
            Closeness::Bits => self.value.to_bits() == other.to_bits(),
            Closeness::Tolerance => {
                self.name.starts_with(CANCELLING)
                    || (other - self.value).abs() <= RELATIVE * largest + ABSOLUTE
            }
        }
    }
}

fn in_words(before: &Number, now: f64, share: f64) -> String {
    format!(
        "{}: {:?} became {now:?}, apart by {:.1e} ({share:.1e} of the largest in {})",
        before.name,
        before.value,
        (now - before.value).abs(),
        before.kind
    )
}

/// The largest magnitude of each kind.
fn largest_of_kinds(numbers: &[Number]) -> BTreeMap<&str, f64> {
    let mut largest = BTreeMap::new();
    for number in numbers {
        let entry = largest.entry(number.kind.as_str()).or_insert(0.0_f64);
        *entry = entry.max(number.value.abs());
    }
    largest
}

/// Marks that are not the same; those of another mathematical library never are.
fn other_marks(
    before: Vec<(String, String)>,
    now: Vec<(String, String)>,
    closeness: Closeness,
) -> Vec<String> {
    if closeness == Closeness::Tolerance {
        return Vec::new();
    }
    let [before, now]: [BTreeMap<String, String>; 2] =
        [before, now].map(|marks| marks.into_iter().collect());
    let mut lines = Vec::new();
    for (name, mark) in &before {
        match now.get(name) {
            Some(other) if other == mark => {}
            Some(other) => lines.push(format!("{name}: {mark} became {other}")),
            None => lines.push(format!("{name} is gone")),
        }
    }
    let new = now.keys().filter(|name| !before.contains_key(*name));
    lines.extend(new.map(|name| format!("{name} is new")));
    lines
}

impl Outcome {
    fn in_words(&self) -> String {
        match self {
            Self::Refused(words) => format!("refused ({words})"),
            Self::Run(_) => "a run".to_owned(),
            Self::Linear(_) => "a linear model".to_owned(),
        }
    }
}

impl RunOutcome {
    /// The last row, each number of the kind of its unit.
    fn numbers(&self, columns: &[String]) -> Vec<Number> {
        let named = columns.iter().zip(&self.last);
        let number = |(column, value): (&String, &f64)| Number {
            name: column.clone(),
            kind: unit(column).to_owned(),
            value: *value,
        };
        named.map(number).collect()
    }

    fn marks(&self) -> Vec<(String, String)> {
        vec![
            ("digest of all rows".to_owned(), self.rows.clone()),
            ("steps".to_owned(), self.steps.to_string()),
            ("rejected steps".to_owned(), self.rejected.to_string()),
        ]
    }
}

/// What stands in the brackets of a column, else the column itself.
fn unit(column: &str) -> &str {
    let bracket = column.rsplit_once(" [").map(|(_, unit)| unit);
    bracket.map_or(column, |unit| unit.trim_end_matches(']'))
}

fn linear_numbers(arrays: &BTreeMap<String, ArrayOutcome>) -> Vec<Number> {
    let numbers = arrays.iter().map(|(name, array)| array.numbers(name));
    numbers.flatten().collect()
}

fn linear_marks(arrays: &BTreeMap<String, ArrayOutcome>) -> Vec<(String, String)> {
    let marks = arrays.iter().map(|(name, array)| array.marks(name));
    marks.flatten().collect()
}

/// What the entries of an array are measured by: those of the array, of parts of the stiffness those of all parts.
fn kind_of(array: &str) -> &str {
    match array {
        "K0" | "N0" | "G0" => "the stiffness",
        _ => array,
    }
}

impl ArrayOutcome {
    fn numbers(&self, array: &str) -> Vec<Number> {
        let number = |(index, value): (usize, f64)| Number {
            name: self.name_of(array, index),
            kind: kind_of(array).to_owned(),
            value,
        };
        self.all_values()
            .into_iter()
            .enumerate()
            .map(number)
            .collect()
    }

    fn marks(&self, array: &str) -> Vec<(String, String)> {
        let shape = (format!("shape of {array}"), format!("{:?}", self.shape));
        let digest =
            |(row, digest): (usize, &String)| (format!("digest of {array}[{row}]"), digest.clone());
        let digests = self.digests.iter().enumerate().map(digest);
        std::iter::once(shape).chain(digests).collect()
    }

    /// What a value is called, from its place in the list.
    fn name_of(&self, array: &str, index: usize) -> String {
        match self.shape[..] {
            _ if self.is_summed() => format!("weighted sum of {array}[{index}]"),
            [_, columns] => format!("{array}[{}][{}]", index / columns, index % columns),
            _ => format!("{array}[{index}]"),
        }
    }
}
