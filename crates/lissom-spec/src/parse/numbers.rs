//! [`WrittenNumbers`]: numbers that a model writes, by their paths, to be read and to be written anew in its text.

use toml::{Table, Value};

use super::overrides::{NOWHERE, find_item, matches, path_of, steps_of};
use super::{Override, read_toml};
use crate::bounds::Bounds;
use crate::error::{ErrorKind, ModelError};
use crate::path::{Document, Path, Step, Target};

/// Numbers of a model by path.
#[derive(Clone, Debug)]
pub struct WrittenNumbers {
    document: Table,
}

impl WrittenNumbers {
    /// Those of a text with overrides.
    ///
    /// # Errors
    ///
    /// What is wrong with the syntax of the text, or with an override.
    pub fn read(text: &str, overrides: &[Override]) -> Result<Self, Vec<ModelError>> {
        let mut document = read_toml(text)?;
        for change in overrides {
            change.apply(&mut document).map_err(|error| vec![error])?;
        }
        Ok(Self { document })
    }

    /// The numbers that a path stands for, each with its own path; there is at least one. `*` in the path stands for all there are.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::BadPath`](crate::ErrorKind::BadPath) if nothing that is written has this path, or something that is no number.
    pub fn at(&self, path: &str) -> Result<Vec<(String, f64)>, ModelError> {
        let bad = |reason: &str| bad_path(path, reason);
        let steps = steps_of(path).ok_or_else(|| bad("it is not a path"))?;
        let places = matches(&self.document, &steps);
        if places.is_empty() {
            return Err(bad(NOWHERE));
        }
        let number = |steps: Vec<String>| match follow(&self.document, &steps) {
            Some((Value::Float(value), _)) => Ok((path_of(&steps), *value)),
            #[expect(clippy::cast_precision_loss, reason = "numbers of models are small")]
            Some((Value::Integer(value), _)) => Ok((path_of(&steps), *value as f64)),
            _ => Err(bad("it does not stand for a number")),
        };
        places.into_iter().map(number).collect()
    }

    /// Between which values the format has a number, by its path without `*`.
    pub fn bounds(path: &str) -> Option<Bounds> {
        Bounds::at(&steps_of(path)?)
    }

    /// The text, from which this was read, with other numbers in the places of those that it writes; all else stays, comments too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::BadPath`](crate::ErrorKind::BadPath) if the text writes no number at one of the paths, or two of them lead to one number.
    pub fn written_anew(text: &str, numbers: &[(String, f64)]) -> Result<String, ModelError> {
        let own = toml::from_str::<Table>(text).unwrap_or_default();
        let places = Document::read(text);
        let mut edits = Vec::new();
        for (path, value) in numbers {
            let bad = || bad_path(path, "the text of the model writes none there");
            let steps = steps_of(path).ok_or_else(bad)?;
            let place = follow(&own, &steps).filter(|(value, _)| is_number(value));
            let (_, place) = place.ok_or_else(bad)?;
            let range = places.locate(&place, Target::Value).ok_or_else(bad)?;
            edits.push((range, path, format!("{value:?}")));
        }
        edits.sort_by_key(|(range, ..)| range.start);
        let (mut edited, mut end) = (String::with_capacity(text.len()), 0);
        for (range, path, value) in edits {
            if range.start < end {
                return Err(bad_path(path, "another path leads to the same number"));
            }
            edited.push_str(&text[end..range.start]);
            edited.push_str(&value);
            end = range.end;
        }
        edited.push_str(&text[end..]);
        Ok(edited)
    }
}

fn bad_path(path: &str, reason: &str) -> ModelError {
    let (path, reason) = (path.to_owned(), reason.to_owned());
    ModelError::new(Path::root(), ErrorKind::BadPath { path, reason })
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Float(_) | Value::Integer(_))
}

/// What steps without `*` lead to, and where it stands.
fn follow<'d>(document: &'d Table, steps: &[String]) -> Option<(&'d Value, Path)> {
    let (first, rest) = steps.split_first()?;
    let mut value = document.get(first)?;
    let mut path = Path::root().key(first);
    for step in rest {
        let (inside, taken) = match value {
            Value::Table(table) => (table.get(step)?, Step::Key(step.clone())),
            Value::Array(items) => {
                let at = find_item(items, step).ok()?;
                (items.get(at)?, Step::Index(at))
            }
            _ => return None,
        };
        value = inside;
        path = match taken {
            Step::Key(key) => path.key(key),
            Step::Index(at) => path.index(at),
        };
    }
    Some((value, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# an arm\n[[body]]\nname = \"upper\"\ndamping.modal_ratio = 0.01 # believed\n\
                        [[body]]\nname = \"hand.left\"\nrigid.mass_kg = 2\n\
                        [[body]]\nname = \"lower\"\n[body.damping]\nmodal_ratio=2e-2\n";

    /// By hand.
    #[test]
    fn stars_stand_for_all_that_is_written() {
        let numbers = WrittenNumbers::read(TEXT, &[]).unwrap();
        let found = numbers.at("body.*.damping.modal_ratio").unwrap();
        let expected = [
            ("body.upper.damping.modal_ratio", 0.01),
            ("body.lower.damping.modal_ratio", 0.02),
        ];
        assert_eq!(
            found,
            expected.map(|(path, value)| (path.to_owned(), value))
        );
        let mass = numbers.at("body.*.rigid.mass_kg").unwrap();
        assert_eq!(mass, [("body.\"hand.left\".rigid.mass_kg".to_owned(), 2.0)]);
        assert_eq!(numbers.at("body.2.damping.modal_ratio").unwrap()[0].1, 0.02);
        let change = Override::parse("body.*.damping.modal_ratio=0.5").unwrap();
        let changed = WrittenNumbers::read(TEXT, &[change]).unwrap();
        let values = changed.at("body.*.damping.modal_ratio").unwrap();
        assert!(values.iter().all(|(_, value)| *value == 0.5) && values.len() == 2);
        for (path, says) in [
            ("body.*.beam.length_m", NOWHERE),
            ("body.upper.name", "a number"),
            ("body..x", "not a path"),
            ("a=b", "not a path"),
        ] {
            let error = numbers.at(path).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let nowhere = Override::parse("body.*.beam.length_m=1").unwrap();
        assert!(WrittenNumbers::read(TEXT, &[nowhere]).is_err());
    }

    /// By hand: nothing but the numbers changes.
    #[test]
    fn numbers_are_written_where_they_stand() {
        let numbers = [
            ("body.lower.damping.modal_ratio".to_owned(), 0.034),
            ("body.upper.damping.modal_ratio".to_owned(), 1e-7),
            ("body.\"hand.left\".rigid.mass_kg".to_owned(), 3.0),
        ];
        let edited = WrittenNumbers::written_anew(TEXT, &numbers).unwrap();
        let expected = TEXT
            .replace("0.01 #", "1e-7 #")
            .replace("modal_ratio=2e-2", "modal_ratio=0.034")
            .replace("mass_kg = 2", "mass_kg = 3.0");
        assert_eq!(edited, expected);
        let missing = [("body.upper.damping.other".to_owned(), 1.0)];
        assert!(WrittenNumbers::written_anew(TEXT, &missing).is_err());
    }
}
