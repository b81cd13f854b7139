//! Reduced bodies as files of their own: a mesh is reduced once, and models name what came of it.
//!
//! ```json
//! { "format": 1, "crc32": "9ae0daaf", "body": { "mass_kg": 1.2, "stiffness": [[14.4]], … } }
//! ```
//!
//! `body` is what `[body.reduced]` holds. Numbers are the shortest decimals that read back to the same bits. `crc32` is that of
//! `body` as it is written here, by which a body is recognised and damage is seen; a file by hand may leave it out.

use lissom::ModelSpec;
use lissom::spec::{BodySpec, NodalSpec, ReducedSpec};
use serde::{Deserialize, Serialize};

use crate::load::{FileError, below};

/// Version of this layout.
const FORMAT: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyFile {
    format: u32,
    #[serde(default)]
    crc32: Option<String>,
    body: ReducedSpec,
}

#[derive(Serialize)]
struct Written<'b> {
    format: u32,
    crc32: String,
    body: &'b ReducedSpec,
}

/// The body of a file called `name`.
///
/// # Errors
/// If it is none, or if it is damaged.
pub fn parse(name: &str, text: &str) -> Result<ReducedSpec, FileError> {
    let refused = |message: String| FileError::Body {
        file: name.to_owned(),
        message,
    };
    let file: BodyFile = serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
    if file.format != FORMAT {
        let message = format!("its format is {}, this program reads {FORMAT}", file.format);
        return Err(refused(message));
    }
    if let Some(written) = file.crc32 {
        let found = hash(&file.body).map_err(|error| refused(error.to_string()))?;
        if found != written {
            let message = format!(
                "its content has the CRC-32 {found} and should have {written}: it was changed or damaged"
            );
            return Err(refused(message));
        }
    }
    Ok(file.body)
}

/// The same, and sound: a body is otherwise judged in the model that names its file.
///
/// # Errors
/// If it is none, if it is damaged, or if no body is such.
pub fn parse_checked(name: &str, text: &str) -> Result<ReducedSpec, FileError> {
    let reduced = parse(name, text)?;
    // the model around a body that is judged by itself
    let model = ModelSpec {
        body: vec![BodySpec {
            reduced: Some(reduced.clone()),
            ..BodySpec::default()
        }],
        ..ModelSpec::default()
    };
    let at = lissom::Path::root().key("body").index(0).key("reduced");
    let mut errors = model.check().err().into_iter().flatten();
    match errors.find(|error| error.path.starts_with(&at)) {
        None => Ok(reduced),
        Some(error) => Err(FileError::Body {
            file: name.to_owned(),
            message: format!("`{}`: {error}", below(&error.path, &at)),
        }),
    }
}

/// The text of a body file, and the hash of the body.
///
/// # Errors
/// With what the writer says. A number that is not finite is written as null, which no reader takes: no sound body has one.
pub fn text(body: &ReducedSpec) -> serde_json::Result<(String, String)> {
    let crc32 = hash(body)?;
    let written = Written {
        format: FORMAT,
        crc32: crc32.clone(),
        body,
    };
    let mut text = serde_json::to_string(&written)?;
    text.push('\n');
    Ok((text, crc32))
}

/// The text of a file of lumped nodes, and its hash.
///
/// # Errors
/// As [`text`].
pub fn nodal_text(body: &NodalSpec) -> serde_json::Result<(String, String)> {
    let mut text = serde_json::to_string(body)?;
    let crc32 = hash_of(&text);
    text.push('\n');
    Ok((text, crc32))
}

/// The body of lumped nodes of a JSON file called `name`.
///
/// # Errors
/// If it is none, with the place.
pub fn parse_nodal(name: &str, text: &str) -> Result<NodalSpec, FileError> {
    serde_json::from_str(text).map_err(|error| {
        // the reader repeats the place at the end of its message
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        FileError::Json {
            file: name.to_owned(),
            line: error.line(),
            column: error.column(),
            message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
        }
    })
}

fn hash(body: &ReducedSpec) -> serde_json::Result<String> {
    Ok(hash_of(&serde_json::to_string(body)?))
}

/// The CRC-32 by which a text is recognised.
pub(crate) fn hash_of(content: &str) -> String {
    format!("{:08x}", crc32fast::hash(content.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_checked, text};
    use lissom::spec::{ReducedNodeSpec, ReducedSpec};

    /// Bits survive, and a change of the last one is seen.
    #[test]
    fn bodies_read_back_to_the_last_bit() {
        let body = ReducedSpec {
            mass_kg: 0.1 + 0.2,
            stiffness: vec![vec![1.0 / 3.0]],
            ..ReducedSpec::default()
        };
        let (written, hash) = text(&body).unwrap();
        assert!(written.contains(&hash));
        assert_eq!(parse("link.json", &written).unwrap(), body);
        let damaged = written.replace("0.30000000000000004", "0.3"); // the next double below
        assert_ne!(damaged, written);
        let error = parse("link.json", &damaged).unwrap_err().to_string();
        assert!(
            error.contains("link.json") && error.contains(&hash),
            "{error}"
        );
    }

    /// By construction: a body whose matrices do not fit together is refused with the place.
    #[test]
    fn a_body_by_itself_is_judged() {
        let sound = ReducedSpec {
            mass_kg: 2.0,
            inertia_kg_m2: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            stiffness: vec![vec![3.0]],
            mass_matrix: vec![vec![1.0]],
            displacement_integrals: vec![[0.0; 3]],
            position_integrals: vec![[[0.0; 3]; 3]],
            product_integrals: vec![vec![[[0.0; 3]; 3]]],
            nodes: vec![ReducedNodeSpec {
                name: "root".to_owned(),
                ..ReducedNodeSpec::default()
            }],
            ..ReducedSpec::default()
        };
        let (written, _) = text(&sound).unwrap();
        assert_eq!(parse_checked("link.json", &written).unwrap(), sound);
        let torn = ReducedSpec {
            mass_matrix: Vec::new(),
            ..sound
        };
        let (written, _) = text(&torn).unwrap();
        let error = parse_checked("link.json", &written).unwrap_err();
        assert!(error.to_string().contains("`mass_matrix`"), "{error}");
    }
}
