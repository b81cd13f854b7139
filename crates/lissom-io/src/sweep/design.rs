//! [`Points`]: with which values the runs of a sweep are made.

use std::collections::BTreeSet;

use lissom::Override;
use lissom_numerics::{Random, normal_quantile};

use crate::csv::fields;

/// Most runs of a sweep.
pub const MOST_RUNS: usize = 1_000_000;

/// A path of a model, and which values it takes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// The path, as `--set` takes it.
    pub path: String,
    /// Its values.
    pub values: Values,
}

/// Values that a path takes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One after the other, as they are written.
    List(Vec<String>),
    /// Drawn between two numbers, each as likely as the others.
    Uniform {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Drawn from a normal distribution.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Each run by itself: run `i` is the same however many there are.
    MonteCarlo,
    /// As many equally likely parts of every distribution as there are runs, each of which is drawn from once
    /// \[`McKay`, Beckman & Conover 1979\].
    LatinHypercube,
}

/// The values of every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// Paths of the model.
    pub paths: Vec<String>,
    /// For every run its values, in the order of the paths, as they are written.
    pub rows: Vec<Vec<String>>,
}

impl Variation {
    /// Reads `PATH=VALUES`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and how it is written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, values) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no `=`; {HOW}"))?;
        let values = Values::parse(values.trim()).map_err(|what| format!("{what}; {HOW}"))?;
        Self::new(path.trim(), values)
    }

    /// A path with values.
    ///
    /// # Errors
    ///
    /// What is wrong with the path.
    pub fn new(path: &str, values: Values) -> Result<Self, String> {
        let change = Override::parse(&format!("{path}=0"));
        change.map_err(|error| format!("{error}; {}", error.remedy()))?;
        Ok(Self {
            path: path.to_owned(),
            values,
        })
    }
}

/// How values are written.
const HOW: &str = "write PATH=0:2:11 (eleven numbers from 0 to 2), PATH=1,2,5, PATH=uniform(0.2,1) or PATH=normal(0.5,0.1)";

impl Values {
    /// Reads a range, a list or a distribution.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        for name in ["uniform", "normal"] {
            let inside = text.strip_prefix(name).map(str::trim_start);
            let inside = inside.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
            if let Some(inside) = inside {
                return distribution(name, inside).ok_or_else(|| {
                    format!("`{text}` is not a distribution with two numbers that fit")
                });
            }
        }
        if let [low, high, count] = text.split(':').collect::<Vec<_>>()[..]
            && let (Some(low), Some(high)) = (finite(low), finite(high))
        {
            let count = count.trim().parse::<usize>().ok();
            let count = count.filter(|count| (2..=MOST_RUNS).contains(count));
            let count = count.ok_or_else(|| {
                format!("`{text}` asks for no number of values from 2 to {MOST_RUNS}")
            })?;
            let steps = (count - 1) as f64;
            let number =
                |at: usize| low * ((steps - at as f64) / steps) + high * (at as f64 / steps);
            return Ok(Self::List(
                (0..count).map(|at| format!("{:?}", number(at))).collect(),
            ));
        }
        let values = items(text);
        if values.iter().any(String::is_empty) {
            return Err(format!("`{text}` has an empty value"));
        }
        Ok(Self::List(values))
    }
}

fn finite(text: &str) -> Option<f64> {
    let value = text.trim().parse::<f64>().ok();
    value.filter(|value| value.is_finite())
}

fn distribution(name: &str, inside: &str) -> Option<Values> {
    let (first, second) = inside.split_once(',')?;
    let (first, second) = (finite(first)?, finite(second)?);
    match name {
        "uniform" => (first < second).then_some(Values::Uniform {
            low: first,
            high: second,
        }),
        _ => (second >= 0.0).then_some(Values::Normal {
            mean: first,
            deviation: second,
        }),
    }
}

/// Parts between commas that are in no brackets or quotes.
fn items(text: &str) -> Vec<String> {
    let (mut items, mut item, mut depth, mut quote) = (Vec::new(), String::new(), 0_u32, None);
    for letter in text.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                items.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(letter);
    }
    items.push(item.trim().to_owned());
    items
}

impl Points {
    /// Every combination of lists, the last of which changes fastest.
    ///
    /// # Errors
    ///
    /// Paths that are drawn from distributions or stand twice, or too many combinations.
    pub fn grid(variations: &[Variation]) -> Result<Self, String> {
        let paths = paths(variations.iter().map(|one| &one.path))?;
        let mut rows = vec![Vec::new()];
        for variation in variations {
            let Values::List(values) = &variation.values else {
                return Err(format!(
                    "{} is drawn from a distribution, and others are lists: a grid takes lists alone, and what is drawn takes no lists",
                    variation.path
                ));
            };
            if rows.len().saturating_mul(values.len()) > MOST_RUNS {
                return Err(format!(
                    "the grid has more than {MOST_RUNS} runs; take fewer values"
                ));
            }
            let extended = |row: &Vec<String>| {
                let row = row.clone();
                values.iter().map(move |value| {
                    let mut row = row.clone();
                    row.push(value.clone());
                    row
                })
            };
            rows = rows.iter().flat_map(extended).collect();
        }
        Ok(Self { paths, rows })
    }

    /// So many runs with values by chance. What is drawn depends on the seed, the path and the number of the run, and with a Latin
    /// hypercube on how many there are; never on the other paths or on who draws when.
    ///
    /// # Errors
    ///
    /// Paths whose values are a list or that stand twice, or too many runs.
    pub fn drawn(
        variations: &[Variation],
        runs: usize,
        seed: u64,
        drawing: Drawing,
    ) -> Result<Self, String> {
        let paths = paths(variations.iter().map(|one| &one.path))?;
        if !(1..=MOST_RUNS).contains(&runs) {
            return Err(format!("{runs} runs are not from 1 to {MOST_RUNS}"));
        }
        let random = Random::new(seed);
        let mut rows = vec![Vec::with_capacity(paths.len()); runs];
        for Variation { path, values } in variations {
            let stream = crc32fast::hash(path.as_bytes());
            let order = match drawing {
                Drawing::MonteCarlo => None,
                Drawing::LatinHypercube => Some(random.order(stream, runs)),
            };
            for (at, row) in rows.iter_mut().enumerate() {
                let unit = random.unit(stream, at as u64);
                let probability = match &order {
                    None => unit,
                    Some(order) => (order[at] as f64 + unit) / runs as f64,
                };
                let value = match *values {
                    Values::Uniform { low, high } => low + (high - low) * probability,
                    Values::Normal { mean, deviation } => {
                        mean + deviation * normal_quantile(probability)
                    }
                    Values::List(_) => {
                        return Err(format!(
                            "{path} has a list of values, and others are drawn; give it a distribution, for example {path}=uniform(0.2,1)"
                        ));
                    }
                };
                row.push(format!("{value:?}"));
            }
        }
        Ok(Self { paths, rows })
    }

    /// The rows of a table, whose first line names the paths; columns are separated by commas. `#` begins a line that is passed over.
    ///
    /// # Errors
    ///
    /// What is wrong with the table, with the line.
    pub fn table(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines());
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let (_, head) = lines
            .next()
            .ok_or("there is no line that names paths of the model")?;
        let named = fields(head).into_iter().map(|name| name.trim().to_owned());
        let named: Vec<String> = named.collect();
        let paths = paths(named.iter())?;
        for path in &paths {
            Variation::new(path, Values::List(Vec::new()))
                .map_err(|what| format!("line 1: {what}"))?;
        }
        let mut rows = Vec::new();
        for (line, text) in lines {
            let row: Vec<String> = (fields(text).iter())
                .map(|cell| cell.trim().to_owned())
                .collect();
            if row.len() != paths.len() || row.iter().any(String::is_empty) {
                let (cells, columns) = (row.len(), paths.len());
                return Err(format!(
                    "line {line}: {cells} cells for {columns} columns, none of which may be empty"
                ));
            }
            if rows.len() == MOST_RUNS {
                return Err(format!("there are more than {MOST_RUNS} rows"));
            }
            rows.push(row);
        }
        if rows.is_empty() {
            return Err("there are no rows below the names".to_owned());
        }
        Ok(Self { paths, rows })
    }

    /// What run `at` changes of the model.
    ///
    /// # Errors
    ///
    /// A value that no model can hold.
    pub fn changes(&self, at: usize) -> Result<Vec<Override>, String> {
        let pairs = self.paths.iter().zip(&self.rows[at]);
        let change =
            |(path, value): (&String, &String)| Override::parse(&format!("{path}={value}"));
        pairs
            .map(change)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{error}; {}", error.remedy()))
    }
}

/// Paths, none of which stands twice.
fn paths<'p>(paths: impl Iterator<Item = &'p String>) -> Result<Vec<String>, String> {
    let paths: Vec<String> = paths.cloned().collect();
    let mut seen = BTreeSet::new();
    match paths.iter().find(|path| !seen.insert(path.as_str())) {
        Some(path) => Err(format!("{path} stands twice")),
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vary(texts: &[&str]) -> Vec<Variation> {
        let parsed = texts.iter().map(|text| Variation::parse(text).unwrap());
        parsed.collect()
    }

    /// By hand.
    #[test]
    fn grids_are_all_combinations() {
        let grid = Points::grid(&vary(&["a.b=0:1:3", "c=[1, 2], x"])).unwrap();
        assert_eq!(grid.paths, ["a.b", "c"]);
        let expected = [
            ["0.0", "[1, 2]"],
            ["0.0", "x"],
            ["0.5", "[1, 2]"],
            ["0.5", "x"],
            ["1.0", "[1, 2]"],
            ["1.0", "x"],
        ];
        assert_eq!(grid.rows, expected);
        let ends = Points::grid(&vary(&["a=0.1:0.7:7"])).unwrap();
        assert_eq!(ends.rows[0][0], "0.1");
        assert_eq!(ends.rows[6][0], "0.7");
    }

    /// Property: run i is the same whatever else is drawn; a Latin hypercube has one value in every part.
    #[test]
    fn draws_depend_on_nothing_else() {
        let drawn =
            |texts: &[&str], runs, drawing| Points::drawn(&vary(texts), runs, 5, drawing).unwrap();
        let few = drawn(&["a=normal(1,2)"], 3, Drawing::MonteCarlo);
        let many = drawn(
            &["b=uniform(0,1)", "a=normal(1,2)"],
            50,
            Drawing::MonteCarlo,
        );
        for (few, many) in few.rows.iter().zip(&many.rows) {
            assert_eq!(few[0], many[1]);
        }
        let latin = drawn(&["a=uniform(2,4)"], 50, Drawing::LatinHypercube);
        let part = |row: &Vec<String>| ((row[0].parse::<f64>().unwrap() - 2.0) * 25.0).floor();
        let mut parts: Vec<f64> = latin.rows.iter().map(part).collect();
        assert!(parts.windows(2).any(|pair| pair[0] > pair[1]));
        parts.sort_by(f64::total_cmp);
        assert_eq!(parts, (0..50).map(f64::from).collect::<Vec<_>>());
        let other = Points::drawn(&vary(&["a=normal(1,2)"]), 3, 6, Drawing::MonteCarlo).unwrap();
        assert_ne!(other.rows, few.rows);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says) in [
            ("a", "has no `=`"),
            ("a=0:1:1", "from 2 to"),
            ("a=1,,2", "empty value"),
            ("a=uniform(1,0)", "two numbers that fit"),
            ("a=normal(1)", "two numbers that fit"),
            (".a=1", "empty"),
        ] {
            let error = Variation::parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let mixed = vary(&["a=1,2", "b=uniform(0,1)"]);
        assert!(
            Points::grid(&mixed)
                .unwrap_err()
                .contains("takes lists alone")
        );
        let error = Points::drawn(&mixed, 3, 0, Drawing::MonteCarlo).unwrap_err();
        assert!(error.contains("a=uniform(0.2,1)"), "{error}");
        let large = vary(&["a=0:1:1001", "b=0:1:1001"]);
        assert!(Points::grid(&large).unwrap_err().contains("more than"));
        assert!(
            Points::grid(&vary(&["a=1", "a=2"]))
                .unwrap_err()
                .contains("twice")
        );
        for (text, says) in [
            ("", "names paths"),
            ("a,b\n", "no rows"),
            ("a,b\n1,2\n3\n", "line 3: 1 cells for 2 columns"),
        ] {
            let error = Points::table(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let table = Points::table("# masses\n\"a\", b\n1,\"[1, 2]\"\n\n3,4\n").unwrap();
        assert_eq!(table.paths, ["a", "b"]);
        assert_eq!(table.rows, [["1", "[1, 2]"], ["3", "4"]]);
    }
}
