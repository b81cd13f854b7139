//! Recordings as CSV, one row per instant.
//!
//! The first line names the columns: `time_s`, then `name [unit]` for every channel. Quoting is that of
//! RFC 4180; lines end with a line feed. Numbers are the shortest decimals that read back to the same
//! bits; what is not a number is written `NaN`, `inf` or `-inf`.

use std::borrow::Cow;
use std::io::{self, Write};

use lissom::{Channel, Recording};

use crate::output::checked;

/// Writes the recording; many small writes, so hand in something buffered.
///
/// # Errors
///
/// What the writer reports.
pub fn write(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    write!(out, "time_s")?;
    for channel in &recording.channels {
        let column = format!("{} [{}]", channel.name, channel.unit);
        write!(out, ",{}", quoted(&column))?;
    }
    writeln!(out)?;
    for (row, time_s) in recording.time_s.iter().enumerate() {
        // `{:?}` of a float is the shortest decimal that reads back, with an exponent where that is shorter.
        write!(out, "{time_s:?}")?;
        for channel in &recording.channels {
            write!(out, ",{:?}", channel.samples[row])?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Reads what [`write`](fn@write) has written.
///
/// # Errors
///
/// `InvalidData`, with the line, when the bytes are not those of a recording.
pub fn read(bytes: &[u8]) -> io::Result<Recording> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8".to_owned()))?;
    let mut lines = text.lines();
    let columns = fields(lines.next().unwrap_or(""));
    let Some(("time_s", named)) = columns
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    else {
        return Err(invalid("its first column is not time_s".to_owned()));
    };
    let channel = |column: &String| {
        let name_and_unit = column.strip_suffix(']').and_then(|c| c.rsplit_once(" ["));
        let (name, unit) = name_and_unit
            .ok_or_else(|| invalid(format!("the column {column:?} is not `name [unit]`")))?;
        Ok(Channel {
            name: name.to_owned(),
            unit: unit.to_owned(),
            samples: Vec::new(),
        })
    };
    let mut recording = Recording {
        time_s: Vec::new(),
        channels: named.iter().map(channel).collect::<io::Result<_>>()?,
    };
    for (index, line) in lines.enumerate() {
        let values = line.split(',').map(str::parse::<f64>);
        let values = values
            .collect::<Result<Vec<f64>, _>>()
            .map_err(|error| invalid(format!("line {}: {error}", index + 2)))?;
        if values.len() != columns.len() {
            let (found, expected) = (values.len(), columns.len());
            return Err(invalid(format!(
                "line {} has {found} columns instead of {expected}",
                index + 2
            )));
        }
        recording.time_s.push(values[0]);
        for (channel, &value) in recording.channels.iter_mut().zip(&values[1..]) {
            channel.samples.push(value);
        }
    }
    checked(recording)
}

/// The fields of a line by RFC 4180.
pub(crate) fn fields(line: &str) -> Vec<String> {
    fields_between(line, ',')
}

/// The same with another mark between them.
pub(crate) fn fields_between(line: &str, mark: char) -> Vec<String> {
    let (mut fields, mut field, mut inside) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => inside = !inside,
            _ if letter == mark && !inside => fields.push(std::mem::take(&mut field)),
            _ => field.push(letter),
        }
    }
    fields.push(field);
    fields
}

/// The field in quotes if it needs them.
pub(crate) fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(recording: &Recording) -> String {
        let mut bytes = Vec::new();
        write(recording, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Known bytes.
    #[test]
    fn header_units_and_numbers() {
        let mut recording =
            Recording::with_capacity([("shoulder.angle", "rad"), ("shoulder.torque", "N m")], 2);
        recording.push(0.0, &[0.1, -2.0]);
        recording.push(0.005, &[1e-7, 1e22]);
        assert_eq!(
            text(&recording),
            "time_s,shoulder.angle [rad],shoulder.torque [N m]\n0.0,0.1,-2.0\n0.005,1e-7,1e22\n"
        );
    }

    /// RFC 4180, section 2, rules 6 and 7.
    #[test]
    fn names_with_commas_and_quotes_are_quoted() {
        let recording = Recording::with_capacity([("a \"b\", c", "m")], 0);
        assert_eq!(text(&recording), "time_s,\"a \"\"b\"\", c [m]\"\n");
    }

    /// Identity: what is read is what was written; what was not written is refused with its line.
    #[test]
    fn read_back() {
        let mut recording = Recording::with_capacity([("a \"b\", c", "N m"), ("d [e]", "1")], 2);
        recording.push(0.0, &[0.1, -2.0]);
        recording.push(0.005, &[1e-7, 1e22]);
        assert_eq!(read(text(&recording).as_bytes()).unwrap(), recording);
        for (bytes, says) in [
            ("", "time_s"),
            ("time_s,a\n", "name [unit]"),
            ("time_s,a [m]\n0.0,1.0\n1.0\n", "line 3"),
            ("time_s,a [m]\n0.0,x\n", "line 2"),
            ("time_s,a [m]\n0.0,1.0\n0.0,1.0\n", "increase"),
        ] {
            let error = read(bytes.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    /// Identity over random bit patterns: reading what was written gives the same bits.
    #[test]
    fn round_trip_is_exact() {
        const ROWS: usize = 5000;
        // SplitMix64; every finite double can come out of it, subnormals and extremes included.
        let mut seed = 20_240_611_u64;
        let mut random_finite = || loop {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let value = f64::from_bits(z ^ (z >> 31));
            if value.is_finite() {
                return value;
            }
        };
        let mut recording = Recording::with_capacity([("a", "1"), ("b", "1")], ROWS);
        for row in 0..ROWS {
            recording.push(row as f64 * 0.1, &[random_finite(), random_finite()]);
        }
        let written = text(&recording);
        let lines: Vec<&str> = written.lines().skip(1).collect();
        assert_eq!(lines.len(), ROWS);
        for (row, line) in lines.iter().enumerate() {
            let bits: Vec<u64> = line
                .split(',')
                .map(|field| field.parse::<f64>().unwrap().to_bits())
                .collect();
            let expected = [
                recording.time_s[row],
                recording.channels[0].samples[row],
                recording.channels[1].samples[row],
            ];
            assert_eq!(bits, expected.map(f64::to_bits));
        }
    }
}
