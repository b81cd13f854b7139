//! Time tables: two columns, instant and value, one row per line.
//!
//! Columns are separated by a semicolon, a comma or blanks, whichever of these a line has first in this
//! order. A first line without any number is a header. `#` starts a comment; empty lines are passed
//! over. Decimals have a point.

/// Why a text is no time table, with the file and the line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A line has more or fewer columns than two.
    #[error(
        "{file}, line {line}: expected two columns, found {columns} in \"{text}\"; \
         write the instant in seconds and the value"
    )]
    Columns {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// How many columns there are.
        columns: usize,
        /// The line.
        text: String,
    },
    /// Something is not a number, or not a finite one.
    #[error(
        "{file}, line {line}: \"{text}\" is not a finite number; \
         write decimals with a point, for example 0.25 or 1e-3"
    )]
    Number {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// An instant is not later than the one before.
    #[error(
        "{file}, line {line}: instant {time_s} s does not come after {previous_s} s; \
         sort the rows and give every instant once"
    )]
    Order {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// The instant.
        time_s: f64,
        /// The instant before it.
        previous_s: f64,
    },
    /// There is no row.
    #[error("{file} has no rows; write an instant in seconds and a value on each line")]
    Empty {
        /// Name of the file.
        file: String,
    },
}

/// Instants in seconds, finite and strictly increasing, and the values at them, finite; `file` is the
/// name that errors give.
///
/// # Errors
///
/// The first line that does not belong to a time table.
pub fn parse(file: &str, text: &str) -> Result<(Vec<f64>, Vec<f64>), TableError> {
    let mut times_s: Vec<f64> = Vec::new();
    let mut values = Vec::new();
    let mut header_possible = true;
    // Spreadsheets like to begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        let row = line.split('#').next().unwrap_or_default().trim();
        if row.is_empty() || (std::mem::take(&mut header_possible) && is_header(row)) {
            continue;
        }
        let line = index + 1;
        let columns = split(row);
        let &[time, value] = columns.as_slice() else {
            return Err(TableError::Columns {
                file: file.to_owned(),
                line,
                columns: columns.len(),
                text: row.to_owned(),
            });
        };
        let number = |text: &str| {
            let finite = text.parse().ok().filter(|number: &f64| number.is_finite());
            finite.ok_or_else(|| TableError::Number {
                file: file.to_owned(),
                line,
                text: text.to_owned(),
            })
        };
        let (time_s, value) = (number(time)?, number(value)?);
        if let Some(&previous_s) = times_s.last().filter(|&&previous_s| time_s <= previous_s) {
            return Err(TableError::Order {
                file: file.to_owned(),
                line,
                time_s,
                previous_s,
            });
        }
        times_s.push(time_s);
        values.push(value);
    }
    if times_s.is_empty() {
        return Err(TableError::Empty {
            file: file.to_owned(),
        });
    }
    Ok((times_s, values))
}

fn is_header(row: &str) -> bool {
    row.split([',', ';', ' ', '\t'])
        .all(|word| word.parse::<f64>().is_err())
}

fn split(row: &str) -> Vec<&str> {
    for separator in [';', ','] {
        if row.contains(separator) {
            return row.split(separator).map(str::trim).collect();
        }
    }
    row.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form: all of these write the same table.
    #[test]
    fn separators_headers_and_comments() {
        let expected = Ok((vec![0.0, 0.5, 1e1], vec![1.0, -2.5, 3.0]));
        for text in [
            "0,1\n0.5,-2.5\n10,3\n",
            "time_s,torque [N m]\n0, 1\n0.5 ,-2.5\n1e1,3",
            "\u{feff}t;tau\r\n0;1\r\n0.5;-2.5\r\n10;3\r\n",
            "# a step\n\ntime [s] torque [N m]\n0 1\n  0.5\t-2.5  # down\n10   3\n",
        ] {
            assert_eq!(parse("drive.csv", text), expected, "{text:?}");
        }
    }

    fn message(text: &str) -> String {
        parse("drive.csv", text).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_file_line_and_text() {
        for (text, beginning) in [
            (
                "0,1\n1,2,3\n",
                "drive.csv, line 2: expected two columns, found 3 in \"1,2,3\"",
            ),
            (
                "0\n",
                "drive.csv, line 1: expected two columns, found 1 in \"0\"",
            ),
            (
                "t,x\n# units\n0,1\n1,two\n",
                "drive.csv, line 4: \"two\" is not a finite number",
            ),
            (
                "0,5;1,0\n",
                "drive.csv, line 1: \"0,5\" is not a finite number",
            ),
            (
                "t,x\nt,x\n",
                "drive.csv, line 2: \"t\" is not a finite number",
            ),
            (
                "0,nan\n",
                "drive.csv, line 1: \"nan\" is not a finite number",
            ),
            (
                "0,1e999\n",
                "drive.csv, line 1: \"1e999\" is not a finite number",
            ),
            (
                "0,1\n1,1\n1,2\n",
                "drive.csv, line 3: instant 1 s does not come after 1 s",
            ),
            ("t,x\n", "drive.csv has no rows"),
            ("", "drive.csv has no rows"),
        ] {
            assert!(
                message(text).starts_with(beginning),
                "{text:?}: {}",
                message(text)
            );
        }
    }
}
