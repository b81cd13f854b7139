//! What a computation remembers beside its state, as plain numbers by name.

use std::collections::BTreeMap;

use lissom_spatial::readable;

/// Vectors of numbers by name: what has to be known beside positions and velocities to go on exactly where somebody else
/// stopped, such as turns of an angle, the partition of coordinates or the element that a support is on.
///
/// It holds counts and indices as numbers too, so that every file format can carry it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    vectors: BTreeMap<String, Vec<f64>>,
}

impl Memory {
    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Remembers numbers under a name, in place of what was there.
    pub fn set(&mut self, name: &str, numbers: impl IntoIterator<Item = f64>) {
        let numbers = numbers.into_iter().collect();
        self.vectors.insert(name.to_owned(), numbers);
    }

    /// Remembers indices under a name.
    pub fn set_indices(&mut self, name: &str, indices: &[usize]) {
        self.set(name, indices.iter().map(|&index| index as f64));
    }

    /// The numbers under a name.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.vectors.get(name).map(Vec::as_slice)
    }

    /// The numbers under a name, which are to be so many and finite.
    ///
    /// # Errors
    /// When they are not, or when there are none.
    pub fn numbers(&self, name: &str, length: usize) -> Result<&[f64], RecallError> {
        let numbers = self.finite(name)?;
        if numbers.len() == length {
            Ok(numbers)
        } else {
            Err(RecallError::Length {
                name: name.to_owned(),
                expected: length,
                found: numbers.len(),
            })
        }
    }

    /// The one number under a name that may hold none.
    ///
    /// # Errors
    /// When there is no such name, or more than one number, or one that is not finite.
    pub fn number(&self, name: &str) -> Result<Option<f64>, RecallError> {
        match self.finite(name)? {
            [] => Ok(None),
            [number] => Ok(Some(*number)),
            numbers => Err(RecallError::Length {
                name: name.to_owned(),
                expected: 1,
                found: numbers.len(),
            }),
        }
    }

    /// The indices under a name, which are to be below `end`.
    ///
    /// # Errors
    /// When one is not an index below `end`, or when there is no such name.
    pub fn index_list(&self, name: &str, end: usize) -> Result<Vec<usize>, RecallError> {
        let index = |(at, &number): (usize, &f64)| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast saturates, and what is no index is not what it was before"
            )]
            let index = number as usize;
            if index < end && index as f64 == number {
                Ok(index)
            } else {
                let expected = "an index within its range";
                Err(RecallError::value(name, at, number, expected))
            }
        };
        self.finite(name)?.iter().enumerate().map(index).collect()
    }

    fn finite(&self, name: &str) -> Result<&[f64], RecallError> {
        let Some(numbers) = self.get(name) else {
            return Err(RecallError::Missing {
                name: name.to_owned(),
            });
        };
        match numbers.iter().position(|number| !number.is_finite()) {
            Some(at) => Err(RecallError::value(name, at, numbers[at], "finite")),
            None => Ok(numbers),
        }
    }

    /// All names with their numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f64])> {
        let named = self.vectors.iter();
        named.map(|(name, numbers)| (name.as_str(), numbers.as_slice()))
    }
}

impl FromIterator<(String, Vec<f64>)> for Memory {
    fn from_iter<I: IntoIterator<Item = (String, Vec<f64>)>>(named: I) -> Self {
        Self {
            vectors: named.into_iter().collect(),
        }
    }
}

/// Why a memory cannot be taken over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecallError {
    /// Something is not there.
    #[error("the memory holds no `{name}`: it is not of this mechanism, or of another method")]
    Missing {
        /// Its name.
        name: String,
    },
    /// There is too little or too much of something.
    #[error(
        "`{name}` of the memory has {found} entries where there must be {expected}: it is not of this mechanism, or of \
         another method"
    )]
    Length {
        /// Its name.
        name: String,
        /// How many numbers there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number that cannot be what it stands for.
    #[error("entry {index} of `{name}` of the memory is {}; it must be {expected}", readable(.value))]
    Value {
        /// Under which name.
        name: String,
        /// Where, counted from zero.
        index: usize,
        /// The number.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// The mechanism cannot be where the memory says it is.
    #[error("the mechanism is singular at `{name}` of the memory: it is not of this mechanism")]
    Singular {
        /// The name under which that stands.
        name: String,
    },
}

impl RecallError {
    /// A number that cannot be what it stands for.
    pub fn value(name: &str, index: usize, value: f64, expected: &'static str) -> Self {
        Self::Value {
            name: name.to_owned(),
            index,
            value,
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is wrong with a memory is said by name, place and number.
    #[test]
    fn what_does_not_fit_is_named() {
        let mut memory = Memory::default();
        memory.set("angles", [1.0, f64::NAN]);
        memory.set("rows", [0.0, 2.0, 1.5]);
        memory.set("time", None);
        let said = |error: RecallError| error.to_string();
        assert_eq!(memory.number("time"), Ok(None));
        assert!(said(memory.number("step").unwrap_err()).contains("holds no `step`"));
        let error = said(memory.numbers("rows", 2).unwrap_err());
        assert!(
            error.contains("`rows`") && error.contains("has 3"),
            "{error}"
        );
        let error = memory.numbers("angles", 2).unwrap_err();
        assert!(matches!(error, RecallError::Value { index: 1, .. }));
        let error = said(memory.index_list("rows", 3).unwrap_err());
        assert!(
            error.contains("entry 2 of `rows`") && error.contains("1.5"),
            "{error}"
        );
        let error = memory.index_list("rows", 2).unwrap_err();
        assert!(matches!(error, RecallError::Value { index: 1, .. }));
        memory.set_indices("rows", &[2, 0]);
        assert_eq!(memory.index_list("rows", 3), Ok(vec![2, 0]));
    }
}
