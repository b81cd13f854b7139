//! Changes that know nothing of what they change.

use crate::random::Random;

/// Longest piece that is removed or repeated.
const PIECE: usize = 64;

/// Makes one change to some bytes.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = bytes.len().min(at + 1 + random.below(PIECE));
    match random.below(7) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        3 => bytes.insert(at, random.number().to_le_bytes()[0]),
        _ if bytes.is_empty() => bytes.push(0),
        4 => bytes[at.min(end - 1)] ^= 1 << random.below(8),
        5 => bytes[at.min(end - 1)] = random.number().to_le_bytes()[0],
        _ => {
            let value = *random.one_of(&[0, 1, 0x7F, 0x80, 0xFF]).unwrap_or(&0);
            bytes[at..end].fill(value);
        }
    }
}
