//! [`Checksum`]: a writer that knows the length and the CRC-32 of what went through it.

use std::io::{self, Write};

/// A writer that counts and checks what it passes on.
#[derive(Debug)]
pub struct Checksum<W> {
    out: W,
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl<W: Write> Checksum<W> {
    /// Passes everything on to `out`.
    pub fn of(out: W) -> Self {
        Self {
            out,
            bytes: 0,
            hasher: crc32fast::Hasher::new(),
        }
    }

    /// The writer, the number of bytes and their CRC-32.
    pub fn finish(self) -> (W, u64, u32) {
        (self.out, self.bytes, self.hasher.finalize())
    }
}

impl<W: Write> Write for Checksum<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let passed = self.out.write(bytes)?;
        self.hasher.update(&bytes[..passed]);
        self.bytes += passed as u64;
        Ok(passed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed number: the check value of CRC-32 for this string in its specification.
    #[test]
    fn of_the_known_string() {
        let mut out = Checksum::of(Vec::new());
        out.write_all(b"12345").unwrap();
        out.write_all(b"6789").unwrap();
        assert_eq!(out.finish(), (b"123456789".to_vec(), 9, 0xCBF4_3926));
    }
}
