//! Recordings as MATLAB files of version 5, uncompressed: read by MATLAB, Octave and SciPy.
//!
//! `load` brings the columns `time_s` and one per channel, plus three parallel cell arrays of text:
//! `channel_names` as Lissom writes them, `channel_variables` as MATLAB can (dots become underscores),
//! and `channel_units`.
//!
//! The layout is that of the "MAT-File Format" document of The `MathWorks`, "Level 5 MAT-File Format":
//! a header of 128 bytes, then elements made of a tag (type, size) and data padded to 8 bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use lissom::Recording;

use crate::arrays::Arrays;

/// Writes the recording.
///
/// # Errors
///
/// What the writer reports; `InvalidInput` when a channel exceeds the 2 GiB a variable may have.
pub fn write(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = recording.channels.iter().map(|c| c.name.as_str()).collect();
    let units: Vec<&str> = recording.channels.iter().map(|c| c.unit.as_str()).collect();
    let variables = variable_names(&names);
    let variable_texts: Vec<&str> = variables.iter().map(String::as_str).collect();
    out.write_all(&file_header())?;
    out.write_all(&column("time_s", &recording.time_s)?)?;
    for (channel, variable) in recording.channels.iter().zip(&variables) {
        out.write_all(&column(variable, &channel.samples)?)?;
    }
    out.write_all(&texts("channel_names", &names)?)?;
    out.write_all(&texts("channel_variables", &variable_texts)?)?;
    out.write_all(&texts("channel_units", &units)?)
}

/// Writes arrays of any shape and lists of texts; MATLAB has no arrays with less than two axes.
///
/// # Errors
///
/// As [`write()`].
pub fn write_arrays(arrays: &Arrays, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&file_header())?;
    for array in &arrays.numbers {
        let mut shape = array.shape.clone();
        while shape.len() < 2 {
            shape.push(1);
        }
        out.write_all(&numbers(
            &array.name,
            &shape,
            &first_axis_fastest(&shape, &array.values),
        )?)?;
    }
    for (name, lines) in &arrays.texts {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        out.write_all(&texts(name, &lines)?)?;
    }
    Ok(())
}

/// Values in the order of MATLAB from values with the last axis fastest.
fn first_axis_fastest(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let mut ordered = Vec::with_capacity(values.len());
    let mut index = vec![0; shape.len()];
    for _ in 0..values.len() {
        let at = index
            .iter()
            .zip(shape)
            .fold(0, |at, (i, length)| at * length + i);
        ordered.push(values[at]);
        for (i, length) in index.iter_mut().zip(shape) {
            *i += 1;
            if *i < *length {
                break;
            }
            *i = 0;
        }
    }
    ordered
}

/// Variables that are not channels.
const TAKEN: [&str; 4] = [
    "time_s",
    "channel_names",
    "channel_variables",
    "channel_units",
];

/// Words that MATLAB does not accept as variables.
const KEYWORDS: [&str; 20] = [
    "break",
    "case",
    "catch",
    "classdef",
    "continue",
    "else",
    "elseif",
    "end",
    "for",
    "function",
    "global",
    "if",
    "otherwise",
    "parfor",
    "persistent",
    "return",
    "spmd",
    "switch",
    "try",
    "while",
];

/// A valid MATLAB variable for every channel: a letter, then letters, digits and underscores, at most
/// 63 in all, no two alike.
fn variable_names(channels: &[&str]) -> Vec<String> {
    const LONGEST: usize = 63;
    let mut used: BTreeSet<String> = TAKEN
        .iter()
        .chain(&KEYWORDS)
        .map(|&s| s.to_owned())
        .collect();
    // where to go on counting, so that many names that look alike to MATLAB take no longer than others
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    let mut variable_of = |channel: &&str| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = channel.chars().map(plain).collect();
        if !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            base.insert(0, 'x');
        }
        base.truncate(LONGEST);
        let mut variable = base.clone();
        let copy = copies.entry(base.clone()).or_insert(1);
        while !used.insert(variable.clone()) {
            *copy += 1;
            let suffix = format!("_{copy}");
            variable.clone_from(&base);
            variable.truncate(LONGEST - suffix.len());
            variable.push_str(&suffix);
        }
        variable
    };
    channels.iter().map(&mut variable_of).collect()
}

/// Descriptive text, no subsystem, version 1.0, little-endian.
fn file_header() -> Vec<u8> {
    let mut header = b"MATLAB 5.0 MAT-file, written by Lissom".to_vec();
    header.resize(116, b' ');
    header.resize(124, 0);
    header.extend_from_slice(b"\x00\x01IM");
    header
}

/// Types of the data in an element.
#[derive(Clone, Copy)]
enum DataType {
    Int8 = 1,
    Int32 = 5,
    Uint32 = 6,
    Double = 9,
    Matrix = 14,
    Utf8 = 16,
}

/// Classes of arrays.
#[derive(Clone, Copy)]
enum Class {
    Cell = 1,
    Char = 4,
    Double = 6,
}

/// A column of doubles.
fn column(name: &str, values: &[f64]) -> io::Result<Vec<u8>> {
    numbers(name, &[values.len(), 1], values)
}

/// An array of doubles, the first axis fastest.
fn numbers(name: &str, shape: &[usize], values: &[f64]) -> io::Result<Vec<u8>> {
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let mut content = array_header(Class::Double, shape, name)?;
    content.extend_from_slice(&element(DataType::Double, &data)?);
    element(DataType::Matrix, &content)
}

/// A column of cells, each with one line of text.
fn texts(name: &str, lines: &[&str]) -> io::Result<Vec<u8>> {
    let mut content = array_header(Class::Cell, &[lines.len(), 1], name)?;
    for line in lines {
        // MATLAB counts characters in UTF-16, however they are stored.
        let mut cell = array_header(Class::Char, &[1, line.encode_utf16().count()], "")?;
        cell.extend_from_slice(&element(DataType::Utf8, line.as_bytes())?);
        content.extend_from_slice(&element(DataType::Matrix, &cell)?);
    }
    element(DataType::Matrix, &content)
}

/// The elements every array begins with: class, dimensions, name.
fn array_header(class: Class, dimensions: &[usize], name: &str) -> io::Result<Vec<u8>> {
    let mut flags = (class as u32).to_le_bytes().to_vec();
    flags.extend_from_slice(&[0; 4]);
    let mut sizes = Vec::new();
    for &dimension in dimensions {
        let size = i32::try_from(dimension).map_err(|_| too_large())?;
        sizes.extend_from_slice(&size.to_le_bytes());
    }
    let mut header = element(DataType::Uint32, &flags)?;
    header.extend_from_slice(&element(DataType::Int32, &sizes)?);
    header.extend_from_slice(&element(DataType::Int8, name.as_bytes())?);
    Ok(header)
}

/// Tag and data, padded to a multiple of 8 bytes; up to 4 bytes of data go into the tag itself.
fn element(data_type: DataType, data: &[u8]) -> io::Result<Vec<u8>> {
    let size = i32::try_from(data.len()).map_err(|_| too_large())?;
    let mut bytes = Vec::with_capacity(data.len() + 16);
    if (1..=4).contains(&size) {
        bytes.extend_from_slice(&(data_type as u32 | (size.cast_unsigned() << 16)).to_le_bytes());
    } else {
        bytes.extend_from_slice(&(data_type as u32).to_le_bytes());
        bytes.extend_from_slice(&size.to_le_bytes());
    }
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Ok(bytes)
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a variable of a MAT file ends at 2 GiB; sample less often or write CSV",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a 2 x 3 matrix by columns.
    #[test]
    fn matrices_go_by_columns() {
        let by_rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let by_columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        assert_eq!(first_axis_fastest(&[2, 3], &by_rows), by_columns);
    }

    /// Known bytes: the header as the format document has it.
    #[test]
    fn header_is_little_endian_version_one() {
        let header = file_header();
        assert_eq!(header.len(), 128);
        assert!(header.starts_with(b"MATLAB 5.0 MAT-file"));
        assert_eq!(&header[124..], [0x00, 0x01, b'I', b'M']);
    }

    /// Known bytes, assembled by hand after the format document.
    #[test]
    fn column_of_two_doubles() {
        let mut expected = Vec::new();
        let words = |bytes: &mut Vec<u8>, words: &[u32]| {
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        };
        words(&mut expected, &[14, 72]);
        words(&mut expected, &[6, 8, 6, 0]);
        words(&mut expected, &[5, 8, 2, 1]);
        words(&mut expected, &[1, 6]);
        expected.extend_from_slice(b"time_s\0\0");
        words(&mut expected, &[9, 16]);
        expected.extend([0.5_f64, 1.5].iter().flat_map(|value| value.to_le_bytes()));
        assert_eq!(column("time_s", &[0.5, 1.5]).unwrap(), expected);
    }

    #[test]
    fn short_data_goes_into_the_tag() {
        assert_eq!(
            element(DataType::Int8, b"abc").unwrap(),
            [1, 0, 3, 0, b'a', b'b', b'c', 0]
        );
        assert_eq!(
            element(DataType::Int8, b"").unwrap(),
            [1, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(element(DataType::Int8, b"abcde").unwrap().len(), 16);
    }

    #[test]
    fn variables_are_valid_and_unique() {
        let long = "a".repeat(70);
        let names = [
            "tip.position.x",
            "tip_position.x",
            "2nd.angle",
            "end",
            "time_s",
            &long,
            &long,
        ];
        let variables = variable_names(&names);
        let expected = [
            "tip_position_x",
            "tip_position_x_2",
            "x2nd_angle",
            "end_2",
            "time_s_2",
        ];
        assert_eq!(&variables[..5], &expected);
        assert_eq!(variables[5], "a".repeat(63));
        assert_eq!(variables[6], format!("{}_2", "a".repeat(61)));
    }

    /// By construction: as many names that look alike as a recording can have, which took hours when each was counted from the first.
    #[test]
    fn many_names_that_look_alike_are_counted_on() {
        const CHANNELS: u32 = 60_000;
        let letters = (0x4E00..).filter_map(char::from_u32);
        let names: Vec<String> = (letters.take(CHANNELS as usize))
            .map(String::from)
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let variables = variable_names(&names);
        assert_eq!(variables[0], "x_");
        assert_eq!(variables.last().unwrap(), &format!("x__{CHANNELS}"));
    }
}
