//! Recordings as NPZ: an archive of NumPy arrays, one per channel, named as the channel is.
//!
//! `numpy.load` finds `time_s`, every channel under its own name, and the two text arrays
//! `channel_names` and `channel_units`, which hold name and unit of the channels in their order. Nothing
//! in it needs `allow_pickle`.
//!
//! The arrays are of format 1.0 of the NPY specification, little-endian; the archive is a ZIP file as
//! in PKWARE's application note 6.3 with stored members, without the ZIP64 extensions. Its time stamps
//! are the earliest the format knows, so that the same recording gives the same bytes.

mod read;

use std::collections::BTreeSet;
use std::io::{self, Write};

use crc32fast::hash as crc32;
use lissom::Recording;

use crate::arrays::Arrays;

pub use read::read;
pub(crate) use read::read_matrices;

/// Writes the recording.
///
/// # Errors
///
/// What the writer reports; `InvalidInput` when two arrays would have one name, or when the recording
/// exceeds the 4 GiB or 65535 arrays of the format.
pub fn write(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = recording.channels.iter().map(|c| c.name.as_str()).collect();
    let units: Vec<&str> = recording.channels.iter().map(|c| c.unit.as_str()).collect();
    let mut archive = Archive::new(out);
    archive.store("time_s", &float_array(&recording.time_s))?;
    for channel in &recording.channels {
        archive.store(&channel.name, &float_array(&channel.samples))?;
    }
    archive.store("channel_names", &text_array(&names))?;
    archive.store("channel_units", &text_array(&units))?;
    archive.finish()
}

/// Most arrays of an archive, of which all ones would announce a ZIP64 field, and most bytes.
const MOST_ARRAYS: usize = u16::MAX as usize - 1;
const MOST_BYTES: f64 = u32::MAX as f64;

/// Arrays of a recording beside its channels: instants, names and units.
const OTHER_ARRAYS: usize = 3;

/// Bytes of an array beside its samples, with room to spare: headers, and its name four times over in the list of names.
const MOST_HEADERS: f64 = 4096.0;

/// Whether an archive holds so many channels of so many samples, however they are called.
pub fn holds(channels: usize, samples: f64) -> bool {
    let arrays = channels.saturating_add(OTHER_ARRAYS);
    arrays <= MOST_ARRAYS && arrays as f64 * (8.0 * samples + MOST_HEADERS) < MOST_BYTES
}

/// Writes arrays of any shape and lists of texts.
///
/// # Errors
///
/// As [`write()`].
pub fn write_arrays(arrays: &Arrays, out: &mut impl Write) -> io::Result<()> {
    let mut archive = Archive::new(out);
    for array in &arrays.numbers {
        archive.store(&array.name, &shaped_array(&array.shape, &array.values))?;
    }
    for (name, texts) in &arrays.texts {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        archive.store(name, &text_array(&texts))?;
    }
    archive.finish()
}

/// A vector of doubles as the bytes of an NPY file.
fn float_array(values: &[f64]) -> Vec<u8> {
    shaped_array(&[values.len()], values)
}

/// An array of doubles, the last axis fastest.
fn shaped_array(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let mut bytes = array_header("<f8", shape);
    bytes.reserve(size_of_val(values));
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// A vector of texts as the bytes of an NPY file: UTF-32, every item as long as the longest.
fn text_array(texts: &[&str]) -> Vec<u8> {
    // NumPy has no strings of width zero.
    let width = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let mut bytes = array_header(&format!("<U{width}"), &[texts.len()]);
    for text in texts {
        let padding = std::iter::repeat('\0');
        for character in text.chars().chain(padding).take(width) {
            bytes.extend_from_slice(&u32::from(character).to_le_bytes());
        }
    }
    bytes
}

/// Everything of an NPY file that comes before the data.
fn array_header(item: &str, shape: &[usize]) -> Vec<u8> {
    const PREFIX: usize = 10;
    const ALIGNMENT: usize = 64;
    // a tuple of one has a comma too
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
    let lengths = lengths.concat();
    let mut description =
        format!("{{'descr': '{item}', 'fortran_order': False, 'shape': ({lengths}), }}");
    let total = (PREFIX + description.len() + 1).next_multiple_of(ALIGNMENT);
    description.extend(std::iter::repeat_n(
        ' ',
        total - PREFIX - description.len() - 1,
    ));
    description.push('\n');
    let length = u16::try_from(description.len()).expect("the description is one short line");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(description.as_bytes());
    bytes
}

/// A ZIP file in the making.
struct Archive<'a, W: Write> {
    out: &'a mut W,
    offset: u64,
    names: BTreeSet<String>,
    members: Vec<Member>,
}

/// What the central directory repeats of a member.
struct Member {
    file_name: String,
    crc: u32,
    size: u32,
    offset: u32,
}

impl<'a, W: Write> Archive<'a, W> {
    fn new(out: &'a mut W) -> Self {
        Self {
            out,
            offset: 0,
            names: BTreeSet::new(),
            members: Vec::new(),
        }
    }

    /// Appends one array.
    fn store(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let file_name = format!("{name}.npy");
        if !self.names.insert(file_name.clone()) {
            return Err(refused(format!("two arrays would be named \"{name}\"")));
        }
        let member = Member {
            file_name,
            crc: crc32(content),
            size: within_format(content.len() as u64)?,
            offset: within_format(self.offset)?,
        };
        let mut header = b"PK\x03\x04".to_vec();
        member.describe(&mut header)?;
        header.extend_from_slice(member.file_name.as_bytes());
        self.put(&header)?;
        self.put(content)?;
        self.members.push(member);
        Ok(())
    }

    /// Writes the central directory.
    fn finish(mut self) -> io::Result<()> {
        let start = within_format(self.offset)?;
        let mut directory = Vec::new();
        for member in &self.members {
            directory.extend_from_slice(b"PK\x01\x02");
            directory.extend_from_slice(&VERSION.to_le_bytes());
            member.describe(&mut directory)?;
            // No comment, first disk, no attributes.
            directory.extend_from_slice(&[0; 10]);
            directory.extend_from_slice(&member.offset.to_le_bytes());
            directory.extend_from_slice(member.file_name.as_bytes());
        }
        let size = within_format(directory.len() as u64)?;
        let count = u16::try_from(self.members.len())
            .map_err(|_| refused("more than 65535 arrays; record fewer channels".to_owned()))?;
        directory.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        directory.extend_from_slice(&count.to_le_bytes());
        directory.extend_from_slice(&count.to_le_bytes());
        directory.extend_from_slice(&size.to_le_bytes());
        directory.extend_from_slice(&start.to_le_bytes());
        directory.extend_from_slice(&[0; 2]);
        self.put(&directory)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Version 2.0 of the format suffices to read the archive.
const VERSION: u16 = 20;

impl Member {
    /// The fields that local header and central directory share, from the version needed on.
    fn describe(&self, header: &mut Vec<u8>) -> io::Result<()> {
        const NAMES_ARE_UTF8: u16 = 1 << 11;
        const STORED: u16 = 0;
        const MIDNIGHT: u16 = 0;
        const FIRST_OF_JANUARY_1980: u16 = 1 << 5 | 1;
        const NO_EXTRA_FIELD: u16 = 0;
        let name_length = u16::try_from(self.file_name.len())
            .map_err(|_| refused(format!("the name \"{}\" is too long", self.file_name)))?;
        for field in [
            VERSION,
            NAMES_ARE_UTF8,
            STORED,
            MIDNIGHT,
            FIRST_OF_JANUARY_1980,
        ] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        // The size comes twice: as stored and as it was before.
        for field in [self.crc, self.size, self.size] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        for field in [name_length, NO_EXTRA_FIELD] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        Ok(())
    }
}

fn within_format(bytes: u64) -> io::Result<u32> {
    // All ones would announce a ZIP64 field.
    u32::try_from(bytes)
        .ok()
        .filter(|&size| size != u32::MAX)
        .ok_or_else(|| {
            refused(
                "an NPZ file ends at 4 GiB; record fewer channels, sample less often or write CSV"
                    .to_owned(),
            )
        })
}

fn refused(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known bytes of the NPY format.
    #[test]
    fn header_of_an_array_of_doubles() {
        let bytes = float_array(&[1.0, -0.5, 2.0]);
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let description = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
        assert_eq!(&bytes[10..10 + description.len()], description.as_bytes());
        assert_eq!(bytes[127], b'\n');
        assert_eq!(&bytes[128..136], &1.0_f64.to_le_bytes());
        assert_eq!(bytes.len(), 128 + 3 * 8);
    }

    #[test]
    fn texts_are_padded_to_the_longest() {
        let bytes = text_array(&["m", "N m"]);
        assert!(bytes[10..].starts_with(b"{'descr': '<U3', "));
        let items: Vec<u32> = bytes[128..]
            .chunks_exact(4)
            .map(|item| u32::from_le_bytes(item.try_into().unwrap()))
            .collect();
        assert_eq!(items, "m\0\0N m".chars().map(u32::from).collect::<Vec<_>>());
    }

    /// Identity: every offset of the central directory leads to the member it names.
    #[test]
    fn directory_leads_to_the_members() {
        let mut recording = Recording::with_capacity([("shoulder.angle", "rad")], 1);
        recording.push(0.0, &[0.25]);
        let mut bytes = Vec::new();
        write(&recording, &mut bytes).unwrap();

        let number = |at: usize, width: usize| {
            bytes[at..at + width]
                .iter()
                .rev()
                .fold(0, |sum, &b| sum << 8 | usize::from(b))
        };
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
        let mut entry = number(end + 16, 4);
        assert_eq!(entry + number(end + 12, 4), end);
        let mut names = Vec::new();
        for _ in 0..number(end + 10, 2) {
            assert_eq!(&bytes[entry..entry + 4], b"PK\x01\x02");
            let name_length = number(entry + 28, 2);
            let name = &bytes[entry + 46..entry + 46 + name_length];
            let local = number(entry + 42, 4);
            assert_eq!(&bytes[local..local + 4], b"PK\x03\x04");
            assert_eq!(&bytes[local + 30..local + 30 + name_length], name);
            let content = local + 30 + name_length;
            assert!(bytes[content..].starts_with(b"\x93NUMPY"));
            let size = number(local + 18, 4);
            assert_eq!(
                number(local + 14, 4),
                crc32(&bytes[content..content + size]) as usize
            );
            names.push(String::from_utf8(name.to_vec()).unwrap());
            entry += 46 + name_length;
        }
        assert_eq!(entry, end);
        let expected = [
            "time_s.npy",
            "shoulder.angle.npy",
            "channel_names.npy",
            "channel_units.npy",
        ];
        assert_eq!(names, expected);
    }

    /// By construction: the most that it holds can be written, and more cannot.
    #[test]
    fn what_it_holds_is_known_before() {
        let of = |channels: usize| {
            let names: Vec<String> = (0..channels).map(|i| format!("body_{i}.angle")).collect();
            let pairs = names.iter().map(|name| (name.as_str(), "rad"));
            let mut recording = Recording::with_capacity(pairs, 1);
            recording.push(0.0, &vec![0.5; channels]);
            write(&recording, &mut io::sink())
        };
        assert!(holds(65_531, 1.0) && of(65_531).is_ok());
        assert!(!holds(65_533, 1.0) && of(65_533).is_err());
        assert!(holds(100, 5e6) && !holds(100, 5.4e6));
    }

    #[test]
    fn equal_names_are_refused() {
        let recording = Recording::with_capacity([("time_s", "s")], 0);
        let error = write(&recording, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "two arrays would be named \"time_s\"");
    }
}
