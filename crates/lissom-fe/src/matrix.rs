//! [`Matrix`]: a sparse symmetric matrix from the text of a file.
//!
//! Matrix Market's coordinate and array formats are read, real, general or symmetric; and bare triplets `row column value` without a head, as CalculiX
//! writes them, of one triangle or of both.

use crate::FeError;

/// Difference between mirrored entries, relative to them: files carry few digits.
const ASYMMETRY: f64 = 1e-6;

/// Size of entries, relative to the largest, below which they are rounding of those that cancelled.
const ROUNDING: f64 = 1e-12;

/// Rows of a matrix: far more than are reduced in reasonable time.
const MOST_ROWS: usize = 5_000_000;

/// A sparse symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// First entry of every row, and the number of all entries.
    starts: Vec<usize>,
    /// Columns and values of both triangles, row by row, columns rising.
    entries: Vec<(usize, f64)>,
}

/// Entries as they were read, with what their order means.
struct Read {
    rows: usize,
    triplets: Vec<(usize, usize, f64)>,
    is_triangle: bool,
}

impl Matrix {
    /// Reads a matrix.
    ///
    /// # Errors
    /// With the line, if the text is none, or if the matrix is not square and symmetric.
    pub fn parse(text: &str) -> Result<Self, FeError> {
        let first = text.lines().next().unwrap_or_default();
        let read = if first.starts_with("%%") {
            market(first, text)?
        } else {
            bare(text)?
        };
        read.symmetric()
    }

    /// The matrix of entries, of one triangle or of both.
    ///
    /// # Errors
    /// If both triangles are given and differ.
    pub(crate) fn of_triplets(
        rows: usize,
        triplets: Vec<(usize, usize, f64)>,
        is_triangle: bool,
    ) -> Result<Self, FeError> {
        let read = Read {
            rows,
            triplets,
            is_triangle,
        };
        read.symmetric()
    }

    /// Rows.
    pub(crate) fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// Columns and values of a row.
    pub(crate) fn row(&self, row: usize) -> &[(usize, f64)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }

    pub(crate) fn times(&self, x: &[f64]) -> Vec<f64> {
        let row = |row: usize| self.row(row).iter().map(|&(j, value)| value * x[j]).sum();
        (0..self.size()).map(row).collect()
    }

    /// Multiplies every entry by a factor of its row and of its column.
    pub(crate) fn scale(&mut self, factors: &[f64]) {
        for row in 0..self.size() {
            for (column, value) in &mut self.entries[self.starts[row]..self.starts[row + 1]] {
                *value *= factors[row] * factors[*column];
            }
        }
    }
}

impl Read {
    fn symmetric(self) -> Result<Matrix, FeError> {
        let (rows, is_triangle) = (self.rows, self.is_triangle);
        if is_triangle {
            self.is_one_triangle()?;
        }
        let mut all = Vec::with_capacity(2 * self.triplets.len());
        for (i, j, value) in self.triplets {
            all.push((i, j, value));
            if is_triangle && i != j {
                all.push((j, i, value));
            }
        }
        all.sort_by_key(|&(i, j, _)| (i, j));
        // entries that are written in parts are summed
        all.dedup_by(|next, own| {
            let same = (next.0, next.1) == (own.0, own.1);
            if same {
                own.2 += next.2;
            }
            same
        });
        let mut matrix = Matrix {
            starts: Vec::with_capacity(rows + 1),
            entries: Vec::with_capacity(all.len()),
        };
        for (i, j, value) in all {
            while matrix.starts.len() <= i {
                matrix.starts.push(matrix.entries.len());
            }
            matrix.entries.push((j, value));
        }
        matrix.starts.resize(rows + 1, matrix.entries.len());
        if !is_triangle {
            matrix.mend_asymmetry()?;
        }
        Ok(matrix)
    }

    /// Asks for one of two mirrored entries: both would be summed, and no other check sees a mass that is too large.
    fn is_one_triangle(&self) -> Result<(), FeError> {
        let beside = self.triplets.iter().filter(|(i, j, _)| i != j);
        let mut places: Vec<(usize, usize, bool)> = beside
            .map(|&(i, j, _)| (i.min(j), i.max(j), i < j))
            .collect();
        places.sort_unstable();
        let is_mirrored = |pair: &&[(usize, usize, bool)]| {
            let (one, other) = (pair[0], pair[1]);
            (one.0, one.1) == (other.0, other.1) && one.2 != other.2
        };
        match places.windows(2).find(is_mirrored) {
            None => Ok(()),
            Some(pair) => Err(FeError::BothTriangles {
                row: pair[0].0 + 1,
                column: pair[0].1 + 1,
            }),
        }
    }
}

impl Matrix {
    /// Takes the mean of mirrored entries.
    fn mend_asymmetry(&mut self) -> Result<(), FeError> {
        let size = |most: f64, entry: &(usize, f64)| most.max(entry.1.abs());
        let largest = self.entries.iter().fold(0.0, size);
        let mut mirrored = Vec::with_capacity(self.entries.len());
        for row in 0..self.size() {
            for &(column, value) in self.row(row) {
                let other = self.row(column);
                let other = other
                    .binary_search_by_key(&row, |entry| entry.0)
                    .map_or(0.0, |at| other[at].1);
                let scale = value
                    .abs()
                    .max(other.abs())
                    .max(ROUNDING / ASYMMETRY * largest);
                if (value - other).abs() > ASYMMETRY * scale {
                    return Err(FeError::NotSymmetric {
                        row: row + 1,
                        column: column + 1,
                        value,
                        mirrored: other,
                    });
                }
                mirrored.push(0.5 * (value + other));
            }
        }
        for (entry, value) in self.entries.iter_mut().zip(mirrored) {
            entry.1 = value;
        }
        Ok(())
    }
}

fn error(line: usize, message: impl Into<String>) -> FeError {
    let message = message.into();
    FeError::Text { line, message }
}

/// Matrix Market's format.
fn market(head: &str, text: &str) -> Result<Read, FeError> {
    let head = head.to_ascii_lowercase();
    let words: Vec<&str> = head.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", format, field, symmetry] = words[..] else {
        return Err(error(
            1,
            "expected %%MatrixMarket matrix coordinate real symmetric, or the like",
        ));
    };
    let is_array = match format {
        "coordinate" => false,
        "array" => true,
        _ => {
            return Err(error(
                1,
                format!("the format {format:?} is not known; write coordinate"),
            ));
        }
    };
    if !matches!(field, "real" | "integer" | "double") {
        return Err(error(
            1,
            format!("a matrix of {field} numbers is no mass or stiffness; write real"),
        ));
    }
    let is_triangle = match symmetry {
        "symmetric" => true,
        "general" => false,
        _ => {
            return Err(error(
                1,
                format!("a {symmetry} matrix is no mass or stiffness; write symmetric"),
            ));
        }
    };
    let mut lines = (text.lines().enumerate().skip(1))
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let Some((line, sizes)) = lines.next() else {
        return Err(error(1, "the line with rows and columns is missing"));
    };
    let sizes = sizes.split_whitespace().map(str::parse::<usize>);
    let sizes = sizes.collect::<Result<Vec<usize>, _>>();
    let sizes = sizes.map_err(|_| error(line, "expected numbers of rows, columns and entries"))?;
    let (rows, columns, entries) = match sizes[..] {
        [rows, columns] if is_array => (rows, columns, None),
        [rows, columns, entries] if !is_array => (rows, columns, Some(entries)),
        _ => return Err(error(line, "expected numbers of rows, columns and entries")),
    };
    if rows != columns {
        return Err(error(
            line,
            format!("the matrix has {rows} rows and {columns} columns; it must be square"),
        ));
    }
    if rows > MOST_ROWS {
        return Err(error(
            line,
            format!("the matrix has {rows} rows; {MOST_ROWS} at most are read"),
        ));
    }
    let mut triplets = Vec::new();
    let (mut at, mut last) = ([0, 0], line);
    for (line, words) in lines {
        last = line;
        if is_array {
            let [i, j] = at;
            if j >= rows {
                return Err(error(line, "there are more numbers than rows and columns"));
            }
            triplets.push((i, j, number(line, words)?));
            at = match (i + 1 < rows, is_triangle) {
                (true, _) => [i + 1, j],
                (false, true) => [j + 1, j + 1],
                (false, false) => [0, j + 1],
            };
        } else {
            triplets.push(triplet(line, words, Some(rows))?);
        }
    }
    let is_whole = match entries {
        Some(entries) => triplets.len() == entries,
        None => at[1] >= rows,
    };
    if is_whole {
        Ok(Read {
            rows,
            triplets,
            is_triangle,
        })
    } else {
        let found = triplets.len();
        Err(error(
            last,
            format!("the file ends after {found} entries, not as many as its head says"),
        ))
    }
}

/// Triplets without a head.
fn bare(text: &str) -> Result<Read, FeError> {
    let mut triplets = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let words = line.trim();
        if !words.is_empty() && !words.starts_with(['%', '#']) {
            triplets.push(triplet(index + 1, words, None)?);
        }
    }
    let rows = triplets.iter().map(|&(i, j, _)| i.max(j) + 1).max();
    let Some(rows) = rows else {
        return Err(error(
            1,
            "there are no entries; expected Matrix Market, or lines of row, column and value",
        ));
    };
    let is_triangle =
        triplets.iter().all(|(i, j, _)| i <= j) || triplets.iter().all(|(i, j, _)| i >= j);
    Ok(Read {
        rows,
        triplets,
        is_triangle,
    })
}

/// Row, column and value, from 0.
fn triplet(line: usize, words: &str, rows: Option<usize>) -> Result<(usize, usize, f64), FeError> {
    let mut words = words
        .split([' ', '\t', ','])
        .filter(|word| !word.is_empty());
    let (Some(i), Some(j), Some(value), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(error(line, "expected a row, a column and a value"));
    };
    let most = rows.unwrap_or(MOST_ROWS);
    let index = |word: &str| {
        let parsed = word.parse::<usize>().ok();
        let inside = parsed.filter(|&index| index >= 1 && index <= most);
        let none = || {
            error(
                line,
                format!("{word:?} is no row or column from 1 to {most}"),
            )
        };
        inside.map(|index| index - 1).ok_or_else(none)
    };
    Ok((index(i)?, index(j)?, number(line, value)?))
}

fn number(line: usize, word: &str) -> Result<f64, FeError> {
    let parsed = word.replace(['d', 'D'], "e").parse::<f64>().ok();
    let finite = parsed.filter(|value| value.is_finite());
    finite.ok_or_else(|| error(line, format!("{word:?} is no number")))
}
