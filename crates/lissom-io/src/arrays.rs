//! Named arrays of numbers and lists of texts, as one NPZ, MAT or JSON file: what is no recording.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{IoError, atomic, mat, npz};

/// What a file holds, in the order it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays {
    /// Arrays of numbers.
    pub numbers: Vec<NamedArray>,
    /// Lists of texts.
    pub texts: Vec<(String, Vec<String>)>,
}

/// An array of numbers with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArray {
    /// Name; also a variable of MATLAB.
    pub name: String,
    /// Length along every axis.
    pub shape: Vec<usize>,
    /// Values, the last axis fastest.
    pub values: Vec<f64>,
}

/// Formats of such a file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayFormat {
    /// NumPy.
    Npz,
    /// MATLAB.
    Mat,
    /// Nested lists.
    Json,
}

impl ArrayFormat {
    /// The format that a file's extension stands for.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "npz" => Some(Self::Npz),
            "mat" => Some(Self::Mat),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

impl Arrays {
    /// Adds an array.
    pub fn push(&mut self, name: &str, shape: Vec<usize>, values: Vec<f64>) {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        self.numbers.push(NamedArray {
            name: name.to_owned(),
            shape,
            values,
        });
    }

    /// The arrays as one JSON object; numbers that are not finite are null.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        for array in &self.numbers {
            object.insert(array.name.clone(), nested(&array.shape, &array.values));
        }
        for (name, texts) in &self.texts {
            object.insert(name.clone(), json!(texts));
        }
        Value::Object(object)
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// [`IoError::Write`] with the path and the reason.
    pub fn write(&self, path: &Path, format: ArrayFormat) -> Result<(), IoError> {
        atomic::write(path, |out| match format {
            ArrayFormat::Npz => npz::write_arrays(self, out),
            ArrayFormat::Mat => mat::write_arrays(self, out),
            ArrayFormat::Json => {
                serde_json::to_writer(&mut *out, &self.json()).map_err(io::Error::from)?;
                writeln!(out)
            }
        })
    }
}

fn nested(shape: &[usize], values: &[f64]) -> Value {
    match shape {
        [] => json!(values.first()),
        [_] => json!(values),
        [first, rest @ ..] => {
            let size = rest.iter().product::<usize>();
            (0..*first)
                .map(|i| nested(rest, &values[i * size..(i + 1) * size]))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn json_nests_the_first_axis_outermost() {
        let mut arrays = Arrays::default();
        arrays.push("a", vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        arrays.push("none", vec![2, 0], vec![]);
        arrays
            .texts
            .push(("names".to_owned(), vec!["x".to_owned()]));
        let expected = json!({
            "a": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "none": [[], []], "names": ["x"],
        });
        assert_eq!(arrays.json(), expected);
    }
}
