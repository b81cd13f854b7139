//! OBJ files: points (`v`) and faces (`f`); materials, normals, texture and everything else are passed over.

use std::fmt::Write as _;

use super::{VisualError, VisualMesh, coordinate};

pub(super) fn parse(bytes: &[u8]) -> Result<VisualMesh, VisualError> {
    // names of groups and comments may be in any encoding
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = VisualMesh::default();
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let mut words = content.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut next = || coordinate(words.next(), line);
                mesh.positions.push([next()?, next()?, next()?]);
            }
            Some("f") => {
                let corners = words
                    .map(|word| corner(word, mesh.positions.len(), line))
                    .collect::<Result<Vec<u32>, _>>()?;
                let &[first, ref rest @ ..] = &corners[..] else {
                    return Err(too_few(line));
                };
                if rest.len() < 2 {
                    return Err(too_few(line));
                }
                // faces with more corners are taken as convex
                let fan = rest.windows(2).map(|pair| [first, pair[0], pair[1]]);
                mesh.triangles.extend(fan);
            }
            _ => {}
        }
    }
    Ok(mesh)
}

fn too_few(line: usize) -> VisualError {
    let message = "a face has three corners or more".to_owned();
    VisualError::Line { line, message }
}

/// The point of a corner `3`, `3/1`, `3/1/2` or `3//2`; negative numbers count from the last point.
fn corner(word: &str, points: usize, line: usize) -> Result<u32, VisualError> {
    let number = word.split('/').next().unwrap_or_default();
    let found = number.parse::<i64>().ok().and_then(|number| {
        let from_zero = if number < 0 {
            i64::try_from(points).ok()?.checked_add(number)?
        } else {
            number - 1
        };
        u32::try_from(from_zero).ok()
    });
    let known = found.filter(|&point| (point as usize) < points);
    known.ok_or_else(|| VisualError::Line {
        line,
        message: format!("{word:?} is no corner: there are {points} points before this line"),
    })
}

/// The file of a mesh.
pub(super) fn text(mesh: &VisualMesh) -> String {
    let mut text = String::new();
    for [x, y, z] in &mesh.positions {
        let _ = writeln!(text, "v {x:?} {y:?} {z:?}");
    }
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|corner| u64::from(corner) + 1);
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}
