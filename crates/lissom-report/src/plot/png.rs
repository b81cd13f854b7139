//! A picture as the bytes of a PNG file (W3C recommendation, second edition), compressed by runs only: every row is the
//! difference from the one above, which in a plot is nearly always nothing (RFC 1950 and 1951, fixed codes).

use crc32fast::hash as crc32;

use super::canvas::Canvas;

/// Bytes of a colour.
const CHANNELS: usize = 3;

/// The file.
pub(super) fn encode(canvas: &Canvas) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    for size in [canvas.width, canvas.height] {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        header.extend_from_slice(&size.to_be_bytes());
    }
    // eight bits, red green blue, the only compression and filters there are, no interlacing
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &compressed(&filtered(canvas)));
    chunk(&mut file, *b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    file.extend_from_slice(&length.to_be_bytes());
    let start = file.len();
    file.extend_from_slice(&kind);
    file.extend_from_slice(content);
    let checksum = crc32(&file[start..]);
    file.extend_from_slice(&checksum.to_be_bytes());
}

/// Rows as differences from the row above, each with the number of that filter before it.
fn filtered(canvas: &Canvas) -> Vec<u8> {
    const UP: u8 = 2;
    let mut bytes = Vec::with_capacity(canvas.height * (1 + CHANNELS * canvas.width));
    let nothing = vec![[0; CHANNELS]; canvas.width];
    let mut above = nothing.as_slice();
    for row in canvas.pixels.chunks(canvas.width) {
        bytes.push(UP);
        for (pixel, before) in row.iter().zip(above) {
            bytes.extend((0..CHANNELS).map(|c| pixel[c].wrapping_sub(before[c])));
        }
        above = row;
    }
    bytes
}

/// The stream of RFC 1950: one block with fixed codes, in which runs of a byte refer to the byte before.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    const SHORTEST: usize = 3;
    const LONGEST: usize = 258;
    let mut bits = Bits::new(vec![0x78, 0x01]);
    bits.push(0b011, 3);
    let mut at = 0;
    while at < bytes.len() {
        let run = match at.checked_sub(1).map(|before| bytes[before]) {
            Some(before) => bytes[at..]
                .iter()
                .take(LONGEST)
                .take_while(|&&b| b == before)
                .count(),
            None => 0,
        };
        if run >= SHORTEST {
            bits.length(run);
            // the distance one has the code nought
            bits.push(0, 5);
            at += run;
        } else {
            bits.symbol(u32::from(bytes[at]));
            at += 1;
        }
    }
    bits.symbol(256);
    let mut stream = bits.finish();
    stream.extend_from_slice(&adler32(bytes).to_be_bytes());
    stream
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65521;
    let (mut a, mut b) = (1_u32, 0_u32);
    // so many sums fit before the remainder must be taken
    for part in bytes.chunks(5552) {
        for &byte in part {
            a += u32::from(byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

/// Bits from the lowest of every byte on.
struct Bits {
    bytes: Vec<u8>,
    pending: u32,
    count: u32,
}

impl Bits {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            pending: 0,
            count: 0,
        }
    }

    fn push(&mut self, value: u32, width: u32) {
        self.pending |= value << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push((self.pending & 0xFF) as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// A literal, the end (256) or the code of a length, by the fixed table of RFC 1951, section 3.2.6.
    fn symbol(&mut self, symbol: u32) {
        let (code, width) = match symbol {
            0..144 => (0x30 + symbol, 8),
            144..256 => (0x190 + symbol - 144, 9),
            256..280 => (symbol - 256, 7),
            _ => (0xC0 + symbol - 280, 8),
        };
        // codes begin with their highest bit
        self.push(code.reverse_bits() >> (32 - width), width);
    }

    /// A length from 3 to 258, by the table of RFC 1951, section 3.2.5.
    fn length(&mut self, length: usize) {
        if length == 258 {
            self.symbol(285);
            return;
        }
        let offset = u32::try_from(length - 3).unwrap_or(0);
        if offset < 8 {
            self.symbol(257 + offset);
            return;
        }
        // beyond eight, four codes share each number of extra bits
        let extra = offset.ilog2() - 2;
        let quarter = offset >> extra & 3;
        self.symbol(261 + 4 * extra + quarter);
        self.push(offset & ((1 << extra) - 1), extra);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push((self.pending & 0xFF) as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::adler32;

    /// The value that descriptions of this checksum print.
    #[test]
    fn checksum_of_the_known_string() {
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }
}
