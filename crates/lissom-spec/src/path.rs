//! Paths of keys in a model, and where a path stands in the text of a model file.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into an array, counted from zero.
    Index(usize),
}

/// The place of a key or value in a model, printed as `body[1].beam.length_m`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Step>);

impl Path {
    /// The whole model.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path one key deeper.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.into()));
        Self(steps)
    }

    /// The path one array item deeper.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether `other` is this path or an ancestor of it.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The last key, without the array indices behind it: the name of the quantity meant.
    pub fn last_key(&self) -> &str {
        self.0
            .iter()
            .rev()
            .find_map(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                Step::Index(_) => None,
            })
            .unwrap_or_default()
    }

    /// The path and, where it ends with array indices, the paths to the lists that it goes into.
    pub(super) fn with_lists(&self) -> impl Iterator<Item = Self> {
        let indices = self.0.iter().rev();
        let indices = indices.take_while(|step| matches!(step, Step::Index(_)));
        let shortest = self.0.len() - indices.count();
        (shortest..=self.0.len()).map(|length| Self(self.0[..length].to_vec()))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => write!(formatter, "{key}")?,
                Step::Key(key) => write!(formatter, ".{key}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Which text stands for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The key itself.
    Key,
    /// What the key is set to; for a table with a header, the header.
    Value,
}

/// The text of a model file with the spans of its keys and values.
pub(super) struct Document<'a> {
    table: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    /// Reads as much of the text as can be read.
    pub(super) fn read(source: &'a str) -> Self {
        let (table, _) = DeTable::parse_recoverable(source);
        Self { table }
    }

    /// Byte range of the path, or of its nearest ancestor that the text contains; `None` if not even the
    /// first step is there.
    pub(super) fn locate(&self, path: &Path, target: Target) -> Option<Range<usize>> {
        let mut found = None;
        let mut table = Some(self.table.get_ref());
        let mut array: Option<&[Spanned<DeValue<'a>>]> = None;
        for step in path.steps() {
            let value = match (step, table, array) {
                (Step::Key(key), Some(inside), _) => {
                    let entry = inside.get_key_value(key.as_str());
                    let Some((name, value)) = entry else { break };
                    found = Some(match target {
                        Target::Key => name.span(),
                        Target::Value => value_span(name.span(), value),
                    });
                    value
                }
                (Step::Index(index), _, Some(inside)) => {
                    let Some(value) = inside.get(*index) else {
                        break;
                    };
                    found = Some(value.span());
                    value
                }
                _ => break,
            };
            (table, array) = match value.get_ref() {
                DeValue::Table(inside) => (Some(inside), None),
                DeValue::Array(inside) => (None, Some(&**inside)),
                _ => (None, None),
            };
        }
        found
    }
}

/// Tables and arrays of tables are shown by their key, everything else by its own text.
fn value_span(key: Range<usize>, value: &Spanned<DeValue<'_>>) -> Range<usize> {
    match value.get_ref() {
        DeValue::Table(_) => key,
        _ => value.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The located text is what a reader would point at.
    #[test]
    fn paths_are_found_in_the_text() {
        let source = "a = 1\n[[body]]\nname = \"x\"\n[[body]]\nname = \"y\"\n[body.beam]\nlength_m = -2.0\nbasis.free = { n = [1, 2] }\n";
        let document = Document::read(source);
        let body = Path::root().key("body").index(1);
        let text = |path: &Path, target| document.locate(path, target).map(|range| &source[range]);
        let beam = body.key("beam");
        assert_eq!(text(&Path::root().key("a"), Target::Value), Some("1"));
        assert_eq!(text(&beam.key("length_m"), Target::Value), Some("-2.0"));
        assert_eq!(text(&beam.key("length_m"), Target::Key), Some("length_m"));
        let list = beam.key("basis").key("free").key("n");
        assert_eq!(text(&list.index(1), Target::Value), Some("2"));
        assert_eq!(text(&list, Target::Value), Some("[1, 2]"));
        assert_eq!(text(&body, Target::Value), Some("[[body]]"));
        assert_eq!(text(&beam, Target::Value), Some("beam"));
        assert_eq!(text(&body.key("rigid"), Target::Value), Some("[[body]]"));
        assert_eq!(text(&Path::root().key("b"), Target::Value), None);
    }
}
