//! Places on bodies: where joints attach, payloads hang and markers sit.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name that stands for the ground wherever a body is asked for.
pub const GROUND: &str = "ground";

/// A place on a body as it was said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place<'a> {
    /// `at = "…"`
    Named(&'a str),
    /// `position_m = […]`
    Position([f64; 3]),
    /// Neither was given.
    Unsaid,
}

impl<'a> Place<'a> {
    /// The place said by the two keys; a name wins over a position, though a checked model never has both.
    pub fn of(at: Option<&'a str>, position_m: Option<[f64; 3]>) -> Self {
        match (at, position_m) {
            (Some(at), _) => Self::Named(at),
            (None, Some(position)) => Self::Position(position),
            (None, None) => Self::Unsaid,
        }
    }
}

/// One side of a joint: a body's name, or a table that also says where on the body.
///
/// When no place is said it is the tip of a beam on the parent side, its root on the child side, and the
/// origin of a rigid body or of the ground. A nodal body needs `at`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttachmentSpec {
    /// Name of the body; `ground` on the parent side for a joint that stands on the ground.
    pub body: String,
    /// Name of a place on the body.
    pub at: Option<String>,
    /// Position in the body's frame, instead of `at`.
    pub position_m: Option<[f64; 3]>,
    /// Turns the frame of the place into the frame of the joint, which the joint's axes refer to.
    pub rotation_vector_rad: [f64; 3],
}

impl AttachmentSpec {
    /// A side of a joint that says only the body.
    pub fn new(body: impl Into<String>) -> Self {
        Self {
            body: body.into(),
            ..Self::default()
        }
    }

    /// Where on the body.
    pub fn place(&self) -> Place<'_> {
        Place::of(self.at.as_deref(), self.position_m)
    }

    /// Whether this is the ground.
    pub fn is_ground(&self) -> bool {
        self.body == GROUND
    }

    /// Whether nothing but a name is said.
    pub(crate) fn is_name_only(&self) -> bool {
        self.place() == Place::Unsaid && self.rotation_vector_rad == [0.0; 3]
    }
}

/// The table form of [`AttachmentSpec`].
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AttachmentTable {
    /// Name of the body, or `ground` on the parent side.
    body: String,
    /// Name of a place on the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// Position in the body's frame, instead of `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position_m: Option<[f64; 3]>,
    /// Turns the frame of the place into the frame of the joint.
    #[serde(default)]
    rotation_vector_rad: [f64; 3],
}

impl Serialize for AttachmentSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_name_only() {
            return serializer.serialize_str(&self.body);
        }
        AttachmentTable {
            body: self.body.clone(),
            at: self.at.clone(),
            position_m: self.position_m,
            rotation_vector_rad: self.rotation_vector_rad,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AttachmentSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;

        impl<'de> Visitor<'de> for NameOrTable {
            type Value = AttachmentSpec;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a body, or a table with the key body")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<AttachmentSpec, E> {
                Ok(AttachmentSpec::new(name))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AttachmentSpec, A::Error> {
                let table = AttachmentTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(AttachmentSpec {
                    body: table.body,
                    at: table.at,
                    position_m: table.position_m,
                    rotation_vector_rad: table.rotation_vector_rad,
                })
            }
        }

        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for AttachmentSpec {
    fn schema_name() -> Cow<'static, str> {
        "AttachmentSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<AttachmentTable>();
        json_schema!({
            "description": "The name of a body, or a table that also says where on the body.",
            "anyOf": [{ "type": "string" }, table],
        })
    }
}

/// A load that a body carries: a rigid mass fixed to one place of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PayloadSpec {
    /// Name of the payload.
    pub name: String,
    /// Name of the body that carries it.
    pub body: String,
    /// Name of a place on the body; the tip of a beam or the origin of a rigid body when no place is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Position in the body's frame, instead of `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_m: Option<[f64; 3]>,
    /// Mass.
    pub mass_kg: f64,
    /// Centre of mass, from the place, in its axes.
    #[serde(default)]
    pub center_of_mass_m: [f64; 3],
    /// Moments of inertia xx, yy, zz about the payload's centre of mass.
    #[serde(default)]
    pub inertia_kg_m2: [f64; 3],
    /// Entries xy, xz, yz of the inertia tensor.
    #[serde(default)]
    pub products_of_inertia_kg_m2: [f64; 3],
}

impl PayloadSpec {
    /// Where the payload sits.
    pub fn place(&self) -> Place<'_> {
        Place::of(self.at.as_deref(), self.position_m)
    }
}

/// A place whose motion is recorded and where a force may act.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerSpec {
    /// Name of the marker.
    pub name: String,
    /// Name of the body, or `ground`.
    pub body: String,
    /// Name of a place on the body; the tip of a beam or the origin of a rigid body when no place is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Position in the body's frame, instead of `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_m: Option<[f64; 3]>,
}

impl MarkerSpec {
    /// Where the marker sits.
    pub fn place(&self) -> Place<'_> {
        Place::of(self.at.as_deref(), self.position_m)
    }
}
