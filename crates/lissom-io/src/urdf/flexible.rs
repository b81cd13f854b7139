//! [`Flexible`]: which links of a robot are flexible, and what they are made of.
//!
//! ```toml
//! root = "free"                                   # the root link floats; it is the ground when absent
//! [upper_arm]                                     # a link
//! pose = { rotation_vector_rad = [0.0, -1.5707963267948966, 0.0] }    # of the body in the link's frame: x along the link's z
//! beam = { length_m = 0.4, … }                    # this and all else are keys of [[body]]
//! attach = { elbow = "tip" }                      # where a joint sits, if it is not at the tip
//! ```

use std::collections::BTreeMap;

use lissom_spatial::{Quaternion, Transform, Vector};
use serde::Deserialize;
use toml::{Table, Value};

use super::robot::{Joint, Robot};
use super::{UrdfError, UrdfFault};

/// Kinds of bodies, one of which a flexible link has.
const KINDS: [&str; 8] = [
    "beam",
    "frame",
    "mesh",
    "reduced",
    "reduced_file",
    "nodal",
    "nodal_file",
    "rigid",
];

/// Flexible links by their names.
#[derive(Debug, Default)]
pub(super) struct Flexible {
    links: BTreeMap<String, FlexibleLink>,
    pub(super) root_is_free: bool,
}

/// What a link is made of.
#[derive(Debug)]
pub(super) struct FlexibleLink {
    pub(super) link_from_body: Transform<f64>,
    /// Names of places by the names of joints that sit there.
    pub(super) attach: BTreeMap<String, String>,
    /// Keys of the body.
    pub(super) keys: Table,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pose {
    #[serde(default)]
    position_m: [f64; 3],
    #[serde(default)]
    rotation_vector_rad: [f64; 3],
}

impl Flexible {
    pub(super) fn parse(text: &str, robot: &Robot) -> Result<Self, Vec<UrdfError>> {
        let fault = |message: String| UrdfError::new(0, UrdfFault::Flexible { message });
        let mut table: Table = toml::from_str(text)
            .map_err(|error| vec![fault(error.to_string().trim().to_owned())])?;
        let mut errors = Vec::new();
        // a link may be called so too, and is a table then
        let root = table.remove("root");
        let root_is_free = match &root {
            None | Some(Value::Table(_)) => false,
            Some(word) => {
                if ![Some("free"), Some("ground")].contains(&word.as_str()) {
                    errors.push(fault(format!(
                        "`root` is {word}; it is \"free\" or \"ground\""
                    )));
                }
                word.as_str() == Some("free")
            }
        };
        if let Some(link @ Value::Table(_)) = root {
            table.insert("root".to_owned(), link);
        }
        let mut links = BTreeMap::new();
        for (name, value) in table {
            match FlexibleLink::of(&name, value, robot) {
                Ok(link) => {
                    links.insert(name, link);
                }
                Err(message) => errors.push(fault(message)),
            }
        }
        if errors.is_empty() {
            Ok(Self {
                links,
                root_is_free,
            })
        } else {
            Err(errors)
        }
    }

    pub(super) fn link(&self, name: &str) -> Option<&FlexibleLink> {
        self.links.get(name)
    }
}

impl FlexibleLink {
    fn of(name: &str, value: Value, robot: &Robot) -> Result<Self, String> {
        if !robot.links.iter().any(|link| link.name == name) {
            return Err(format!(
                "`{name}` is made flexible, but the robot has no such link"
            ));
        }
        let Value::Table(mut keys) = value else {
            return Err(format!(
                "`{name}` is no table; write [{name}] and the keys of a body below it"
            ));
        };
        let wrong =
            |key: &str, error: toml::de::Error| format!("`{name}.{key}`: {}", error.message());
        let pose = keys
            .remove("pose")
            .map_or_else(|| Ok(Pose::default()), Value::try_into);
        let pose: Pose = pose.map_err(|error| wrong("pose", error))?;
        let attach = keys
            .remove("attach")
            .map_or_else(|| Ok(BTreeMap::new()), Value::try_into);
        let attach: BTreeMap<String, String> = attach.map_err(|error| wrong("attach", error))?;
        if let Some(joint) = attach.keys().find(|attached| {
            let is_on = |joint: &Joint| joint.parent == name || joint.child == name;
            !(robot.joints.iter()).any(|joint| joint.name == **attached && is_on(joint))
        }) {
            return Err(format!(
                "`{name}.attach.{joint}`: no joint of this name has `{name}` as its parent or child"
            ));
        }
        if !KINDS.iter().any(|kind| keys.contains_key(*kind)) {
            return Err(format!(
                "`{name}` does not say what it is made of; give it one of {}",
                KINDS.join(", ")
            ));
        }
        // by any number of turns, which a power series is not good for
        let rotation = Quaternion::of_rotation_vector(Vector(pose.rotation_vector_rad)).matrix();
        Ok(Self {
            link_from_body: Transform::new(rotation, Vector(pose.position_m)),
            attach,
            keys,
        })
    }

    /// The place by which a joint carries the link: that of `attach`, or the first interface of a frame or mesh.
    pub(super) fn carried_at(&self, joint: &str) -> Option<&str> {
        let first = |kind: &str| self.keys.get(kind)?.get("interface")?.as_array()?.first();
        let of_interface = || {
            let of_mesh = || first("mesh")?.get("name")?.as_str();
            first("frame").and_then(Value::as_str).or_else(of_mesh)
        };
        let attached = self.attach.get(joint).map(String::as_str);
        attached.or_else(of_interface)
    }

    /// Length of a beam, at whose tip joints sit unless said otherwise.
    pub(super) fn length(&self) -> Option<f64> {
        let beam = self.keys.get("beam")?;
        let number = |value: &Value| {
            value
                .as_float()
                .or_else(|| value.as_integer().map(|n| n as f64))
        };
        if let Some(length) = beam.get("length_m") {
            return number(length);
        }
        let segments = beam.get("segments")?.as_array()?;
        let length = |segment: &Value| number(segment.get("length_m")?);
        segments.iter().map(length).sum()
    }
}
