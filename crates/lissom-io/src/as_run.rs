//! [`AsRun`]: a model as its recording keeps it.
//!
//! The text stands in the manifest. Bodies that are given by numbers, as those are that came of meshes, would fill it with
//! megabytes: they become files beside it, `body-9ae0daaf.json`, named by the CRC-32 of their content, and the text names these.
//! Meshes that bodies are drawn by likewise become `visual-0c5e1a77.obj`.

use std::collections::BTreeMap;

use lissom::ModelSpec;

use crate::body_file;
use crate::visual::VisualMesh;

/// A model in the form in which recordings keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct AsRun {
    /// The model as TOML, in which bodies given by numbers are named by their files.
    pub text: String,
    /// These files, and those of the meshes that bodies are drawn by.
    pub files: Vec<KeptFile>,
}

/// A file that a recording keeps a body in, or what it is drawn by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl AsRun {
    /// The form of a model whose files have been read. `visuals` are the meshes that bodies are drawn by, by the names that the model has for
    /// their files.
    ///
    /// # Errors
    /// With what the writer of the text says, if TOML cannot hold a number of it.
    pub(crate) fn of(
        spec: &ModelSpec,
        visuals: &BTreeMap<String, VisualMesh>,
    ) -> Result<Self, String> {
        let mut spec = spec.clone();
        let mut files = Vec::new();
        for body in &mut spec.body {
            let said = |error: serde_json::Error| error.to_string();
            if let Some(reduced) = body.reduced.take() {
                let (text, hash) = body_file::text(&reduced).map_err(said)?;
                body.reduced_file = Some(keep(&mut files, Kept::Body, &hash, text));
            }
            if let Some(nodal) = body.nodal.take() {
                let (text, hash) = body_file::nodal_text(&nodal).map_err(said)?;
                body.nodal_file = Some(keep(&mut files, Kept::Body, &hash, text));
            }
        }
        let mut kept = BTreeMap::new();
        for mesh in spec.visual.iter_mut().filter_map(|own| own.mesh.as_mut()) {
            if let Some(own) = visuals.get(&mesh.file) {
                let name = kept.entry(mesh.file.clone()).or_insert_with(|| {
                    let text = own.text();
                    let hash = body_file::hash_of(&text);
                    keep(&mut files, Kept::Visual, &hash, text)
                });
                mesh.file.clone_from(name);
            }
        }
        let text = toml::to_string(&spec).map_err(|error| error.to_string())?;
        Ok(Self { text, files })
    }
}

/// What a file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A body.
    Body,
    /// A mesh that a body is drawn by.
    Visual,
}

impl Kept {
    /// How names of its files begin and end.
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Body => ("body-", ".json"),
            Self::Visual => ("visual-", ".obj"),
        }
    }

    /// What a file keeps by its name, if it may be one of [`AsRun::files`]; such a name leads out of no folder.
    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Body, Self::Visual].into_iter().find(|kept| {
            let (before, after) = kept.around();
            let middle = name.strip_prefix(before);
            middle
                .and_then(|rest| rest.strip_suffix(after))
                .is_some_and(is_hash)
        })
    }
}

/// Adds a file to those that are kept, if it is not among them, and returns its name. Of files with the same hash the
/// second and later ones are counted.
fn keep(files: &mut Vec<KeptFile>, kept: Kept, hash: &str, text: String) -> String {
    let (before, after) = kept.around();
    let beginning = format!("{before}{hash}");
    let mut alike = 0;
    for file in (files.iter()).filter(|file| file.name.starts_with(&beginning)) {
        if file.text == text {
            return file.name.clone();
        }
        alike += 1;
    }
    let name = match alike {
        0 => format!("{beginning}{after}"),
        _ => format!("{beginning}-{}{after}", alike + 1),
    };
    let kept = name.clone();
    files.push(KeptFile { name, text });
    kept
}

/// Whether a text is a CRC-32, with the number of a file that shares it or without.
fn is_hash(middle: &str) -> bool {
    let (hash, count) = middle.split_once('-').unwrap_or((middle, "2"));
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    hash.len() == 8
        && hash.bytes().all(is_digit)
        && !count.is_empty()
        && count.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: equal bodies share a file, others never do, even where their hashes agree.
    #[test]
    fn different_bodies_have_different_files() {
        let mut bodies = Vec::new();
        let names = ["a", "b", "a", "c", "b"]
            .map(|text| keep(&mut bodies, Kept::Body, "0011aaff", text.into()));
        assert_eq!(names[0], names[2]);
        assert_eq!(names[1], names[4]);
        assert_eq!(
            bodies
                .iter()
                .map(|body| body.text.as_str())
                .collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        for (index, body) in bodies.iter().enumerate() {
            assert_eq!(Kept::of(&body.name), Some(Kept::Body), "{}", body.name);
            assert!(bodies[..index].iter().all(|other| other.name != body.name));
        }
        for other in [
            "body-0011aaff",
            "body-0011aaf.json",
            "body-0011aagg.json",
            "body-0011aaff-.json",
            "body-0011aaff-2/3.json",
            "body-../../ab.json",
            "bodé-0011aaff.json",
            "manifest.json",
            "body-0011aaff.obj",
            "visual-0011aaff.json",
        ] {
            assert_eq!(Kept::of(other), None, "{other}");
        }
    }
}
