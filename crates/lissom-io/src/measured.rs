//! Measured data: tables that other programs have written, as recordings.
//!
//! Columns are separated by commas, tabs or semicolons, with which numbers may have decimal commas; cells may be quoted. The first line names the columns, with
//! their units in brackets of either kind. Lines that begin with `#` and empty ones are left out; an empty cell is no number.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

use lissom::{Channel, Recording};
use lissom_spec::nearest;

use crate::csv::fields_between;

/// What a column of instants may be called, whatever its case.
const TIME: [&str; 3] = ["time_s", "time", "t"];
const DEGREE: f64 = PI / 180.0;
/// Units of laboratories, those of SI that they become, and how many of these they are.
const UNITS: [(&str, &str, f64); 17] = [
    ("ms", "s", 1e-3),
    ("mm", "m", 1e-3),
    ("cm", "m", 1e-2),
    ("um", "m", 1e-6),
    ("mm/s", "m/s", 1e-3),
    ("mm/s^2", "m/s^2", 1e-3),
    ("deg", "rad", DEGREE),
    ("°", "rad", DEGREE),
    ("mrad", "rad", 1e-3),
    ("deg/s", "rad/s", DEGREE),
    ("°/s", "rad/s", DEGREE),
    ("rpm", "rad/s", PI / 30.0),
    ("kN", "N", 1e3),
    ("mNm", "N m", 1e-3),
    ("Nm", "N m", 1.0),
    ("N*m", "N m", 1.0),
    ("N·m", "N m", 1.0),
];

/// Why a text is no table of measured data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}{what}", .line.map_or_else(|| ": ".to_owned(), |line| format!(":{line}: ")))]
pub struct MeasuredError {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

/// Other names and units for columns than their heads say.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    /// Names of channels by those of columns.
    pub names: BTreeMap<String, String>,
    /// Units of columns that are headed without one.
    pub units: BTreeMap<String, String>,
}

/// Reads a table. Degrees, millimetres and the like become SI; units that are not known stay what they are.
///
/// # Errors
///
/// What is wrong with the table, with the line.
pub fn parse(file: &str, text: &str, heads: &Heads) -> Result<Recording, MeasuredError> {
    let wrong = |line: Option<usize>, what: String| MeasuredError {
        file: file.to_owned(),
        line,
        what,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let is_row = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = lines.filter(|(_, line)| is_row(line));
    let (_, first) = lines
        .next()
        .ok_or_else(|| wrong(None, "it holds no table".to_owned()))?;
    let count = |mark: char| first.matches(mark).count();
    let mark = [',', ';', '\t']
        .into_iter()
        .rev()
        .max_by_key(|&mark| count(mark));
    let mark = mark.unwrap_or(',');
    let named: Vec<(String, String)> = cells(first, mark).iter().map(|cell| head(cell)).collect();
    let names = || named.iter().map(|(name, _)| name.as_str());
    let listed = || names().collect::<Vec<_>>().join(", ");
    let is_time = |name: &str| TIME.iter().any(|time| name.eq_ignore_ascii_case(time));
    let clock = names().position(is_time).ok_or_else(|| {
        wrong(
            None,
            format!("it has no column time_s; there are {}", listed()),
        )
    })?;
    for name in heads.names.keys().chain(heads.units.keys()) {
        if names().all(|own| own != name) {
            let remedy = match nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are {}", listed()),
            };
            return Err(wrong(None, format!("it has no column '{name}'; {remedy}")));
        }
    }
    let mut channels: Vec<Channel> = Vec::new();
    let mut called = BTreeSet::new();
    let mut factors = Vec::new();
    for (at, (name, unit)) in named.iter().enumerate() {
        let given = heads.units.get(name).map(String::as_str);
        let usual = if at == clock { "s" } else { "1" };
        let unit = if unit.is_empty() {
            given.unwrap_or(usual)
        } else {
            unit
        };
        let unit = unit.replace('²', "^2");
        let known = UNITS.iter().find(|(known, ..)| *known == unit);
        let (si, factor) = known.map_or((unit.as_str(), 1.0), |&(_, si, factor)| (si, factor));
        let name = heads.names.get(name).unwrap_or(name).clone();
        if !called.insert(name.clone()) {
            return Err(wrong(None, format!("it has two columns '{name}'")));
        }
        if at == clock && si != "s" {
            return Err(wrong(
                None,
                format!("{name} is in {unit}, expected s or ms"),
            ));
        }
        channels.push(Channel {
            name,
            unit: si.to_owned(),
            samples: Vec::new(),
        });
        factors.push(factor);
    }
    for (line, row) in lines {
        let row = if mark == ';' {
            row.replace(',', ".")
        } else {
            row.to_owned()
        };
        let cells = cells(&row, mark);
        if cells.len() != named.len() {
            let (cells, columns) = (cells.len(), named.len());
            return Err(wrong(
                Some(line),
                format!("there are {cells} cells, and {columns} columns"),
            ));
        }
        for ((cell, factor), channel) in cells.iter().zip(&factors).zip(&mut channels) {
            let value = match cell.as_str() {
                "" => f64::NAN,
                cell => cell
                    .parse::<f64>()
                    .map_err(|_| wrong(Some(line), format!("'{cell}' is not a number")))?,
            };
            channel.samples.push(factor * value);
        }
    }
    let time_s = channels.remove(clock).samples;
    Ok(Recording { time_s, channels })
}

fn cells(line: &str, mark: char) -> Vec<String> {
    let cells = fields_between(line, mark).into_iter();
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// Name and unit of a column, which may be in brackets of either kind or missing.
fn head(cell: &str) -> (String, String) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let inside = cell
            .strip_suffix(close)
            .and_then(|cell| cell.split_once(open));
        if let Some((name, unit)) = inside {
            return (name.trim().to_owned(), unit.trim().to_owned());
        }
    }
    (cell.to_owned(), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the same table as laboratories write it.
    #[test]
    fn tables_come_as_they_are() {
        for text in [
            "time_s,angle [rad],w [m]\n0,0.5,1\n0.25,,2\n",
            "\u{feff}# a rig\nTime (ms); angle (mrad); w [mm]\n\n0; 500,0; 1000\n250; ; 2000\n",
            "\"t (s)\", \"angle (rad)\", \"w [m]\"\n\"0\", \"0.5\", 1\n0.25, \"\", 2\n",
        ] {
            let found = parse("m.csv", text, &Heads::default()).unwrap();
            assert_eq!(found.time_s, [0.0, 0.25], "{text}");
            let [angle, w] = &found.channels[..] else {
                panic!("{text}")
            };
            assert_eq!((angle.name.as_str(), angle.unit.as_str()), ("angle", "rad"));
            assert!(angle.samples[0] == 0.5 && angle.samples[1].is_nan());
            assert_eq!((w.unit.as_str(), &w.samples[..]), ("m", &[1.0, 2.0][..]));
        }
    }

    /// By construction: as many columns as no laboratory has, which took minutes when each was held against all before it.
    #[test]
    fn many_columns_are_read_in_time() {
        const COLUMNS: usize = 200_000;
        let named = (0..COLUMNS).map(|i| format!("channel_{i}"));
        let heads: Vec<String> = std::iter::once("t".to_owned()).chain(named).collect();
        let found = parse("m.csv", &(heads.join(",") + "\n"), &Heads::default()).unwrap();
        assert_eq!(found.channels.len(), COLUMNS);
    }

    #[test]
    fn what_is_no_table_is_said() {
        for (text, says) in [
            ("", "m.csv: it holds no table"),
            ("angle,w\n0,1\n", "no column time_s; there are angle, w"),
            ("t,a\n0,1\n1\n", "m.csv:3: there are 1 cells, and 2 columns"),
            ("t,a\n0,x\n", "m.csv:2: 'x' is not a number"),
            ("t [h],a\n0,1\n", "expected s or ms"),
            ("t,a,a\n0,1,2\n", "two columns 'a'"),
        ] {
            let error = parse("m.csv", text, &Heads::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
