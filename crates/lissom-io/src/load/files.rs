//! [`Files`]: the files that a model names, found, and what is wrong with them told of the place that names them.

use std::collections::BTreeMap;

use lissom::ModelError;
use lissom_fe::{Source, Stop};

use super::{FileError, Find, Problem, below};
use crate::IoError;
use crate::resource::Content;
use crate::visual::VisualMesh;

/// Most that is read of all files of a model together, in units of 2²⁰ bytes: one that is named again is read again.
const MOST_MIB: u64 = 1 << 10;

/// The files that a model names, as they are put in its place.
pub(super) struct Files<'a> {
    find: &'a Find<'a>,
    /// Bytes of all content that was found.
    found: u64,
    pub(super) stop: Stop<'a>,
    pub(super) read: Vec<ReadFile>,
    pub(super) problems: Vec<Problem>,
    pub(super) meshes: BTreeMap<String, Source>,
    pub(super) visuals: BTreeMap<String, VisualMesh>,
    pub(super) notes: Vec<String>,
}

/// A file whose content now stands in the spec.
pub(super) struct ReadFile {
    name: String,
    /// The key that names it.
    named_at: lissom::Path,
    /// The table that holds its content.
    stands_at: lissom::Path,
}

impl<'a> Files<'a> {
    pub(super) fn found_by(find: &'a Find<'a>, stop: Stop<'a>) -> Self {
        Self {
            find,
            found: 0,
            stop,
            read: Vec::new(),
            problems: Vec::new(),
            meshes: BTreeMap::new(),
            visuals: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// The file that a model calls so, unless all of them together are more than is read.
    pub(super) fn find(&mut self, name: &str) -> Result<Content, IoError> {
        let content = (self.find)(name)?;
        self.found = self.found.saturating_add(content.bytes.len() as u64);
        if self.found > MOST_MIB << 20 {
            return Err(IoError::TooMuch {
                name: name.to_owned(),
                limit_mib: MOST_MIB,
            });
        }
        Ok(content)
    }

    /// Content of a file, or a note of what is wrong with it.
    pub(super) fn read<T>(
        &mut self,
        name: String,
        named_at: lissom::Path,
        stands_at: lissom::Path,
        parse: impl FnOnce(&str, &str) -> Result<T, FileError>,
    ) -> Option<T> {
        let called = name.clone();
        self.content(name, named_at, stands_at, |content| {
            let text = content.text().map_err(FileError::from)?;
            parse(&called, &text)
        })
    }

    /// The same of a file that may be none of text.
    pub(super) fn content<T>(
        &mut self,
        name: String,
        named_at: lissom::Path,
        stands_at: lissom::Path,
        parse: impl FnOnce(Content) -> Result<T, FileError>,
    ) -> Option<T> {
        let content = self.find(&name).map_err(FileError::from).and_then(parse);
        match content {
            Ok(content) => {
                self.read.push(ReadFile {
                    name,
                    named_at,
                    stands_at,
                });
                Some(content)
            }
            Err(error) => {
                self.problems.push(Problem::File {
                    at: named_at,
                    error,
                });
                None
            }
        }
    }

    /// A complaint about content that came from a file is a complaint about the file.
    pub(super) fn attribute(&self, error: ModelError) -> Problem {
        let source = (self.read.iter()).find(|file| error.path.starts_with(&file.stands_at));
        match source {
            Some(file) => Problem::InFile {
                at: file.named_at.clone(),
                file: file.name.clone(),
                key: below(&error.path, &file.stands_at),
                error,
            },
            None => Problem::Model(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::load::load_text_with;

    /// By construction: a model that names one large file over and over fills no memory.
    #[test]
    fn a_file_that_is_named_many_times_is_not_read_for_ever() {
        const TIMES: usize = 40;
        let input =
            "[[input]]\njoint = \"j\"\ntorque_table = { file = \"large.csv\" }\n".repeat(TIMES);
        let text = format!(
            "format = 1\n[[body]]\nname = \"a\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }}\n\
             [[joint]]\nname = \"j\"\nparent = \"ground\"\nchild = \"a\"\nrevolute = {{ axis = [0.0, 0.0, 1.0] }}\n{input}"
        );
        let mut bytes = b"0 0\n1 1\n".to_vec();
        bytes.resize(40 << 20, b'\n');
        let find = |name: &str| {
            Ok(Content {
                path: PathBuf::from(name),
                bytes: bytes.clone(),
            })
        };
        let refused = load_text_with(&find, "m", &text, &[], lissom_fe::NEVER).unwrap_err();
        let too_much = |problem: &&Problem| problem.to_string().contains("1024 MiB");
        let told = refused.problems.iter().filter(too_much).count();
        // 25 files of 40 MiB are less than 1024 MiB
        assert_eq!((told, refused.problems.len()), (TIMES - 25, TIMES - 25));
    }
}
