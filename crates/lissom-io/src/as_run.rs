//! [`AsRun`]: a model as its recording keeps it.
//!
//! The text stands in the manifest. Bodies that are given by numbers, as those are that came of meshes, would fill it with
//! megabytes: they become files beside it, `body-9ae0daaf.json`, named by the CRC-32 of their content, and the text names these.

use lissom::ModelSpec;

use crate::body_file;

/// A model in the form in which recordings keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct AsRun {
    /// The model as TOML, in which bodies given by numbers are named by their files.
    pub text: String,
    /// These files.
    pub bodies: Vec<KeptBody>,
}

/// A file that a recording keeps a body in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBody {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl AsRun {
    /// The form of a model whose files have been read.
    ///
    /// # Errors
    /// With what the writer of the text says, if TOML cannot hold a number of it.
    pub(crate) fn of(spec: &ModelSpec) -> Result<Self, String> {
        let mut spec = spec.clone();
        let mut bodies = Vec::new();
        for body in &mut spec.body {
            let said = |error: serde_json::Error| error.to_string();
            if let Some(reduced) = body.reduced.take() {
                let (text, hash) = body_file::text(&reduced).map_err(said)?;
                body.reduced_file = Some(keep(&mut bodies, &hash, text));
            }
            if let Some(nodal) = body.nodal.take() {
                let (text, hash) = body_file::nodal_text(&nodal).map_err(said)?;
                body.nodal_file = Some(keep(&mut bodies, &hash, text));
            }
        }
        let text = toml::to_string(&spec).map_err(|error| error.to_string())?;
        Ok(Self { text, bodies })
    }
}

/// Adds a body to those that are kept, if it is not among them, and returns the name of its file. Of bodies with the same hash the
/// second and later ones are counted.
fn keep(bodies: &mut Vec<KeptBody>, hash: &str, text: String) -> String {
    let beginning = format!("body-{hash}");
    let mut alike = 0;
    for body in (bodies.iter()).filter(|body| body.name.starts_with(&beginning)) {
        if body.text == text {
            return body.name.clone();
        }
        alike += 1;
    }
    let name = match alike {
        0 => format!("{beginning}.json"),
        _ => format!("{beginning}-{}.json", alike + 1),
    };
    let kept = name.clone();
    bodies.push(KeptBody { name, text });
    kept
}

/// Whether a file may be one of [`AsRun::bodies`], by its name; such a name leads out of no folder.
pub(crate) fn is_name(name: &str) -> bool {
    let middle = name
        .strip_prefix("body-")
        .and_then(|rest| rest.strip_suffix(".json"));
    middle.is_some_and(|middle| {
        let (hash, count) = middle.split_once('-').unwrap_or((middle, "2"));
        let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        hash.len() == 8
            && hash.bytes().all(is_digit)
            && !count.is_empty()
            && count.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By construction: equal bodies share a file, others never do, even where their hashes agree.
    #[test]
    fn different_bodies_have_different_files() {
        let mut bodies = Vec::new();
        let names =
            ["a", "b", "a", "c", "b"].map(|text| keep(&mut bodies, "0011aaff", text.into()));
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
            assert!(is_name(&body.name), "{}", body.name);
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
        ] {
            assert!(!is_name(other), "{other}");
        }
    }
}
