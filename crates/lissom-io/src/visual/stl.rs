//! STL files, as text and binary.
//!
//! Binary files are told by their length, 84 + 50 n bytes with n in bytes 80 to 83: some of them begin with `solid`, as texts do.

use super::{FURTHEST, VisualError, VisualMesh, coordinate};

const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<VisualMesh, VisualError> {
    if let Some(triangles) = binary(bytes) {
        return of_binary(triangles);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with("solid") => of_text(text),
        _ => Err(VisualError::NotStl),
    }
}

/// The triangles of a binary file, if it is one.
fn binary(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.get(80..HEADER)?.try_into().ok()?;
    let count = usize::try_from(u32::from_le_bytes(count)).ok()?;
    let triangles = &bytes[HEADER..];
    (count.checked_mul(TRIANGLE)? == triangles.len()).then_some(triangles)
}

fn of_binary(triangles: &[u8]) -> Result<VisualMesh, VisualError> {
    let mut corners = Vec::with_capacity(triangles.len() / TRIANGLE * 3);
    for (index, triangle) in triangles.chunks_exact(TRIANGLE).enumerate() {
        // the normal comes first, an attribute last
        let mut numbers = triangle[12..48].as_chunks::<4>().0.iter();
        for _ in 0..3 {
            let corner = [0, 1, 2].map(|_| {
                let bytes = numbers.next().copied().unwrap_or_default();
                // minus zero is zero
                f32::from_le_bytes(bytes) + 0.0
            });
            if !corner.iter().all(|x| x.abs() <= FURTHEST) {
                return Err(VisualError::NoNumber {
                    triangle: index + 1,
                });
            }
            corners.push(corner);
        }
    }
    Ok(VisualMesh::of_corners(&corners))
}

fn of_text(text: &str) -> Result<VisualMesh, VisualError> {
    let mut corners: Vec<[f32; 3]> = Vec::new();
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let mut words = content.split_whitespace();
        let word = words.next().unwrap_or_default();
        if word.eq_ignore_ascii_case("vertex") {
            let mut next = || Ok(coordinate(words.next(), line)? + 0.0);
            corners.push([next()?, next()?, next()?]);
        } else if word.eq_ignore_ascii_case("endloop") && !corners.len().is_multiple_of(3) {
            let message = "a facet has three lines `vertex`".to_owned();
            return Err(VisualError::Line { line, message });
        }
    }
    if !corners.len().is_multiple_of(3) {
        let message = "the file ends inside a facet".to_owned();
        let line = text.lines().count();
        return Err(VisualError::Line { line, message });
    }
    Ok(VisualMesh::of_corners(&corners))
}
