//! NPZ recordings back from their bytes, as [`write`](super::write) makes them.

use std::collections::BTreeMap;
use std::io;

use lissom::{Channel, Recording};

use super::crc32;
use crate::output::checked;

/// Reads a recording.
///
/// # Errors
///
/// `InvalidData` when the bytes are not those of a recording: no archive with stored arrays of doubles, arrays
/// that differ in length, instants that do not increase, or channels that share an array.
pub fn read(bytes: &[u8]) -> io::Result<Recording> {
    let mut members = members(bytes)?;
    // no array is read twice, so that a recording is not larger than its file
    let mut take = |name: &str| {
        let found = members.remove(&format!("{name}.npy"));
        found.ok_or_else(|| {
            invalid(format!(
                "there is no array {name:?}, or two channels of that name"
            ))
        })
    };
    let names = texts(take("channel_names")?)?;
    let units = texts(take("channel_units")?)?;
    if names.len() != units.len() {
        return Err(invalid("channels and units differ in number".to_owned()));
    }
    let time_s = floats(take("time_s")?)?;
    let channels = names.into_iter().zip(units).map(|(name, unit)| {
        let samples = floats(take(&name)?)?;
        Ok(Channel {
            name,
            unit,
            samples,
        })
    });
    checked(Recording {
        time_s,
        channels: channels.collect::<io::Result<_>>()?,
    })
}

/// Rows of the matrices in an archive, by their names: those of one number are one by one, lists are columns.
///
/// # Errors
///
/// `InvalidData` when the bytes are no archive with stored arrays of doubles of at most two dimensions.
pub(crate) fn read_matrices(bytes: &[u8]) -> io::Result<BTreeMap<String, Vec<Vec<f64>>>> {
    let matrix = |(name, content): (String, &[u8])| {
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        let rows = rows(content).map_err(|error| invalid(format!("{name}: {error}")))?;
        Ok((name, rows))
    };
    members(bytes)?.into_iter().map(matrix).collect()
}

/// Rows of an array of at most two dimensions.
fn rows(bytes: &[u8]) -> io::Result<Vec<Vec<f64>>> {
    let (header, _) = header(bytes)?;
    let numbers = floats(bytes)?;
    let damaged = || invalid("its shape cannot be read".to_owned());
    let shape = header.split("'shape': (").nth(1).ok_or_else(damaged)?;
    let shape = shape.split(')').next().ok_or_else(damaged)?.split(',');
    let shape = shape.map(str::trim).filter(|size| !size.is_empty());
    let shape: Vec<usize> = shape
        .map(|size| size.parse().map_err(|_| damaged()))
        .collect::<io::Result<_>>()?;
    let (count, length) = match shape[..] {
        [] => (1, 1),
        [count] => (count, 1),
        [count, length] => (count, length),
        _ => return Err(invalid("it has more than two dimensions".to_owned())),
    };
    if count.checked_mul(length) != Some(numbers.len()) {
        return Err(damaged());
    }
    // there may be more rows without numbers than fit into memory
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let by_columns = header.contains("'fortran_order': True");
    let entry = |i: usize, j: usize| {
        let at = if by_columns {
            j * count + i
        } else {
            i * length + j
        };
        numbers[at]
    };
    let row = |i: usize| (0..length).map(|j| entry(i, j)).collect();
    Ok((0..count).map(row).collect())
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn cut_short() -> io::Error {
    invalid("it is cut short".to_owned())
}

/// `length` bytes from an offset on.
fn part(bytes: &[u8], at: usize, length: usize) -> io::Result<&[u8]> {
    let end = at.checked_add(length).ok_or_else(cut_short)?;
    bytes.get(at..end).ok_or_else(cut_short)
}

/// A little-endian number of up to four bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> io::Result<usize> {
    let digits = part(bytes, at, width)?.iter().rev();
    Ok(digits.fold(0, |sum, &digit| sum << 8 | usize::from(digit)))
}

/// Content of every member of a ZIP archive by its name, along its central directory.
fn members(bytes: &[u8]) -> io::Result<BTreeMap<String, &[u8]>> {
    const END: usize = 22;
    let end = (bytes.len().checked_sub(END))
        .filter(|&end| bytes[end..].starts_with(b"PK\x05\x06"))
        .ok_or_else(|| invalid("it is no npz archive, or cut short".to_owned()))?;
    let mut entry = number(bytes, end + 16, 4)?;
    let mut members = BTreeMap::new();
    let mut read = 0;
    for _ in 0..number(bytes, end + 10, 2)? {
        if part(bytes, entry, 4)? != b"PK\x01\x02" {
            return Err(invalid("its directory is damaged".to_owned()));
        }
        let size = number(bytes, entry + 24, 4)?;
        let name_length = number(bytes, entry + 28, 2)?;
        let rest = number(bytes, entry + 30, 2)? + number(bytes, entry + 32, 2)?;
        let local = number(bytes, entry + 42, 4)?;
        let name = String::from_utf8_lossy(part(bytes, entry + 46, name_length)?).into_owned();
        if number(bytes, entry + 10, 2)? != 0 {
            return Err(invalid(format!(
                "{name} is compressed, as numpy.savez_compressed writes it"
            )));
        }
        let start = local + 30 + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
        // members that overlap could be read for ever
        if start < read {
            return Err(invalid("its members overlap".to_owned()));
        }
        let content = part(bytes, start, size)?;
        read = start + size;
        if crc32(content) as usize != number(bytes, entry + 16, 4)? {
            return Err(invalid(format!("the checksum of {name} is wrong")));
        }
        members.insert(name, content);
        entry += 46 + name_length + rest;
    }
    Ok(members)
}

fn damaged() -> io::Error {
    invalid("an array has no npy header of format 1.0".to_owned())
}

/// Header and data of an NPY file.
fn header(bytes: &[u8]) -> io::Result<(&str, &[u8])> {
    if !bytes.starts_with(b"\x93NUMPY\x01\x00") {
        return Err(damaged());
    }
    let length = number(bytes, 8, 2)?;
    let header = std::str::from_utf8(part(bytes, 10, length)?).map_err(|_| damaged())?;
    Ok((header, &bytes[10 + length..]))
}

/// Item type and data of an NPY file.
fn array(bytes: &[u8]) -> io::Result<(&str, &[u8])> {
    let (header, data) = header(bytes)?;
    let item = header.split("'descr': '").nth(1).ok_or_else(damaged)?;
    let item = item.split('\'').next().ok_or_else(damaged)?;
    Ok((item, data))
}

fn floats(bytes: &[u8]) -> io::Result<Vec<f64>> {
    let (item, data) = array(bytes)?;
    if item != "<f8" || data.len() % 8 != 0 {
        return Err(invalid("an array is not one of doubles".to_owned()));
    }
    let (numbers, _) = data.as_chunks::<8>();
    Ok(numbers.iter().map(|x| f64::from_le_bytes(*x)).collect())
}

fn texts(bytes: &[u8]) -> io::Result<Vec<String>> {
    let (item, data) = array(bytes)?;
    let width = item
        .strip_prefix("<U")
        .and_then(|w| w.parse::<usize>().ok());
    let Some(width) = width.filter(|&width| width > 0) else {
        return Err(invalid("an array is not one of texts".to_owned()));
    };
    let (letters, _) = data.as_chunks::<4>();
    let text = |letters: &[[u8; 4]]| {
        let letters = letters.iter().map(|x| u32::from_le_bytes(*x));
        let letters = letters.take_while(|&x| x != 0).map(char::from_u32);
        letters
            .collect::<Option<String>>()
            .ok_or_else(|| invalid("a name is not text".to_owned()))
    };
    letters.chunks(width).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npz::{Archive, float_array, text_array, write};

    fn written() -> (Recording, Vec<u8>) {
        let mut recording = Recording::with_capacity([("shoulder.angle", "rad"), ("α", "N m")], 2);
        recording.push(0.0, &[0.1, f64::MIN_POSITIVE]);
        recording.push(0.5, &[-1e300, 3.0]);
        let mut bytes = Vec::new();
        write(&recording, &mut bytes).unwrap();
        (recording, bytes)
    }

    /// Identity: what is read is what was written.
    #[test]
    fn round_trip() {
        let (recording, bytes) = written();
        assert_eq!(read(&bytes).unwrap(), recording);
    }

    /// By construction: a directory that leads to one array twice and a list that names one channel twice are refused, so
    /// that no small file fills the memory.
    #[test]
    fn nothing_is_read_twice() {
        let (_, bytes) = written();
        let end = bytes.len() - 22;
        let first = number(&bytes, end + 16, 4).unwrap();
        let entry = &bytes[first..first + 46 + "time_s.npy".len()];
        let mut twice = [&bytes[..end], entry, &bytes[end..]].concat();
        twice[end + entry.len() + 10] += 1;
        let refused = read(&twice).unwrap_err().to_string();
        assert!(refused.contains("overlap"), "{refused}");

        let mut bytes = Vec::new();
        let mut archive = Archive::new(&mut bytes);
        let one = float_array(&[0.0]);
        let lists = [["a", "a"], ["m", "m"]].map(|list| text_array(&list));
        for (name, content) in [
            ("time_s", &one),
            ("a", &one),
            ("channel_names", &lists[0]),
            ("channel_units", &lists[1]),
        ] {
            archive.store(name, content).unwrap();
        }
        archive.finish().unwrap();
        let refused = read(&bytes).unwrap_err().to_string();
        assert!(refused.contains("two channels"), "{refused}");
    }

    /// By hand: matrices by rows and by columns, as NumPy keeps what was transposed; lists are columns, numbers one by one.
    #[test]
    fn matrices_are_read_by_rows() {
        let numbers = float_array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let shaped = |shape: &str, order: &str| {
            let header =
                format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({shape}), }}\n");
            let length = u16::try_from(header.len()).unwrap().to_le_bytes();
            let data = &numbers[numbers.len() - 48..];
            [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
        };
        let mut bytes = Vec::new();
        let mut archive = Archive::new(&mut bytes);
        archive.store("A", &shaped("2, 3", "False")).unwrap();
        archive.store("B", &shaped("2, 3", "True")).unwrap();
        archive.store("C", &float_array(&[7.0, 8.0])).unwrap();
        archive.finish().unwrap();
        let found = read_matrices(&bytes).unwrap();
        assert_eq!(found["A"], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!(found["B"], [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
        assert_eq!(found["C"], [[7.0], [8.0]]);
        for shape in ["2, 2", "x", "1, 2, 3"] {
            let mut bytes = Vec::new();
            let mut archive = Archive::new(&mut bytes);
            archive.store("A", &shaped(shape, "False")).unwrap();
            archive.finish().unwrap();
            assert!(read_matrices(&bytes).is_err(), "{shape}");
        }
    }

    /// Property: no damage of a single byte and no shortening makes the reader panic, and damaged data are
    /// refused.
    #[test]
    fn damage_is_refused() {
        let (recording, bytes) = written();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xFF;
            // time stamps and the like do not matter
            if let Ok(found) = read(&damaged) {
                assert_eq!(found, recording, "byte {at}");
            }
        }
    }
}
