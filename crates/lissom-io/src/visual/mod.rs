//! [`VisualMesh`]: triangles that bodies are drawn by, from STL and OBJ files.
//!
//! Recordings keep them as OBJ files beside the manifest. What a page could not carry is thinned when it is read: corners in one
//! cell of a grid become one point, which keeps what can be seen of a housing of a million triangles.

mod obj;
mod stl;

use std::path::Path;

use thiserror::Error;

/// Most triangles of one file; finer meshes are thinned.
const MOST_TRIANGLES: usize = 20_000;

/// Cells of the first grid along the longest edge of a mesh that is thinned.
const FINEST_GRID: f32 = 256.0;

/// How much coarser every further grid is.
const COARSER: f32 = 0.8;

/// Largest coordinate that is taken, in units of the file: its square is a number in single precision.
const FURTHEST: f32 = 1e12;

/// Triangles in space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VisualMesh {
    /// Positions of the points, in units of the file.
    pub positions: Vec<[f32; 3]>,
    /// Corners of the triangles, as numbers of points from 0.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a file gives no [`VisualMesh`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VisualError {
    /// A format that is not read.
    #[error("{ending} files are not read; save it as STL or OBJ")]
    Format {
        /// How the name of the file ends.
        ending: String,
    },
    /// A line that says something else than it should.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Neither the text nor the binary form of STL.
    #[error(
        "it is no STL file: it neither begins with `solid`, as text, nor has the length that its number of triangles asks for"
    )]
    NotStl,
    /// A triangle of a binary file whose corners are no numbers.
    #[error("triangle {triangle} has a corner that is not finite, or beyond 1e12")]
    NoNumber {
        /// The triangle, from 1.
        triangle: usize,
    },
    /// Nothing to draw.
    #[error("it has no triangles")]
    Empty,
    /// Beside all others it would be too much for a page.
    #[error("the meshes before it have {before} triangles already, and a page carries {most}")]
    TooMany {
        /// Triangles of the meshes before it.
        before: usize,
        /// Most triangles of a model.
        most: usize,
    },
}

impl VisualMesh {
    /// The mesh of a file, by the ending of its name.
    ///
    /// # Errors
    /// [`VisualError`], with the line where there is one.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, VisualError> {
        let ending = Path::new(name).extension().unwrap_or_default();
        let ending = ending.to_string_lossy().to_lowercase();
        let mesh = match ending.as_str() {
            "stl" => stl::parse(bytes)?,
            "obj" => obj::parse(bytes)?,
            _ => {
                let ending = if ending.is_empty() {
                    "unnamed".to_owned()
                } else {
                    format!(".{ending}")
                };
                return Err(VisualError::Format { ending });
            }
        };
        if mesh.triangles.is_empty() {
            return Err(VisualError::Empty);
        }
        Ok(mesh.thinned(MOST_TRIANGLES))
    }

    /// The mesh as an OBJ file, with numbers that read back to the last bit.
    pub fn text(&self) -> String {
        obj::text(self)
    }

    /// The mesh of triangles by their corners, in which equal corners are one point.
    fn of_corners(corners: &[[f32; 3]]) -> Self {
        merged(corners, |corner| corner.map(f32::to_bits))
    }

    /// The mesh with at most `most` triangles.
    fn thinned(self, most: usize) -> Self {
        let mut thinned = self;
        let mut cells = FINEST_GRID;
        while thinned.triangles.len() > most {
            thinned = thinned.on_grid(cells);
            cells = (cells * COARSER).max(1.0);
        }
        thinned
    }

    /// The mesh whose points in one cell of a grid are one, with this many cells along its longest edge.
    fn on_grid(&self, cells: f32) -> Self {
        let fold = |start: f32, choose: fn(f32, f32) -> f32| {
            [0, 1, 2].map(|axis| {
                let along = self.positions.iter().map(|position| position[axis]);
                along.fold(start, choose)
            })
        };
        let (low, high) = (fold(FURTHEST, f32::min), fold(-FURTHEST, f32::max));
        let size = (0..3).fold(0.0, |size: f32, axis| size.max(high[axis] - low[axis]));
        let corners = self.triangles.iter().flatten();
        let corners: Vec<[f32; 3]> = corners
            .map(|&corner| self.positions[corner as usize])
            .collect();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 0, at most 256"
        )]
        let cell = |x: f32, low: f32| ((x - low) / size * cells).min(cells - 0.5) as u32;
        merged(&corners, |corner| {
            [0, 1, 2].map(|axis| cell(corner[axis], low[axis]))
        })
    }
}

/// The mesh of triangles by their corners, in which corners of the same key are the one that comes first. Triangles with two equal
/// corners, and all but one with the same corners, are left out.
fn merged(corners: &[[f32; 3]], key: impl Fn([f32; 3]) -> [u32; 3]) -> VisualMesh {
    let mut order: Vec<([u32; 3], usize)> = (corners.iter().enumerate())
        .map(|(index, &corner)| (key(corner), index))
        .collect();
    order.sort_unstable();
    let mut positions: Vec<[f32; 3]> = Vec::new();
    let mut point = vec![0_u32; corners.len()];
    for group in order.chunk_by(|(one, _), (other, _)| one == other) {
        // files of 256 MiB have fewer corners than 2³²
        let number = u32::try_from(positions.len()).unwrap_or(u32::MAX);
        positions.push(corners[group[0].1]);
        for &(_, index) in group {
            point[index] = number;
        }
    }
    let triangles = point.as_chunks::<3>().0;
    let mut known: Vec<([u32; 3], usize)> = (triangles.iter().enumerate())
        .filter(|(_, [a, b, c])| a != b && b != c && c != a)
        .map(|(index, &triangle)| {
            let mut sorted = triangle;
            sorted.sort_unstable();
            (sorted, index)
        })
        .collect();
    known.sort_unstable();
    known.dedup_by_key(|(corners, _)| *corners);
    known.sort_unstable_by_key(|&(_, index)| index);
    VisualMesh {
        positions,
        triangles: (known.iter()).map(|&(_, index)| triangles[index]).collect(),
    }
}

/// A coordinate of a text.
fn coordinate(word: Option<&str>, line: usize) -> Result<f32, VisualError> {
    let number = word.and_then(|word| word.parse::<f32>().ok());
    let sound = number.filter(|number| number.abs() <= FURTHEST);
    sound.ok_or_else(|| VisualError::Line {
        line,
        message: format!(
            "{:?} is no coordinate; expected a number of at most 1e12 in size",
            word.unwrap_or_default()
        ),
    })
}

#[cfg(test)]
mod tests;
