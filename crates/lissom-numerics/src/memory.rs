//! What a computation remembers beside its state, as plain numbers by name.

use std::collections::BTreeMap;

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

    /// The numbers under a name, if there are so many.
    pub fn vector(&self, name: &str, length: usize) -> Option<&[f64]> {
        self.get(name).filter(|numbers| numbers.len() == length)
    }

    /// The indices under a name, if all of them are below `end`.
    pub fn indices(&self, name: &str, end: usize) -> Option<Vec<usize>> {
        let index = |&number: &f64| (0..end).find(|&index| index as f64 == number);
        self.get(name)?.iter().map(index).collect()
    }

    /// Takes over what another one remembers, its names after a prefix.
    pub fn absorb(&mut self, prefix: &str, other: Self) {
        let named = other.vectors.into_iter();
        let renamed = named.map(|(name, numbers)| (format!("{prefix}{name}"), numbers));
        self.vectors.extend(renamed);
    }

    /// What is remembered under names with a prefix, without it.
    #[must_use]
    pub fn part(&self, prefix: &str) -> Self {
        let named = self.vectors.iter();
        let part = named.filter_map(|(name, numbers)| {
            let name = name.strip_prefix(prefix)?;
            Some((name.to_owned(), numbers.clone()))
        });
        Self {
            vectors: part.collect(),
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
