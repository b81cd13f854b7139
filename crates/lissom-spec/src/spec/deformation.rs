//! Deformations of elements by name, and what a model file says of single ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nodes::RoleSpec;

/// A deformation of an element, called as in recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deformation {
    /// Change of length of a beam or truss.
    Elongation,
    /// Twist of a beam in space, times its length.
    Torsion,
    /// Bending of a beam in space along y, at the end `from`.
    BendingYP,
    /// The same at the end `to`.
    BendingYQ,
    /// Bending of a beam in space along z, at the end `from`.
    BendingZP,
    /// The same at the end `to`.
    BendingZQ,
    /// Bending of a beam in the plane, at the end `from`.
    BendingP,
    /// The same at the end `to`.
    BendingQ,
    /// Rotation of a hinge.
    Rotation,
    /// Tilt of the axis of a hinge in space.
    TiltY,
    /// Tilt of the axis of a hinge in space, orthogonal to the other.
    TiltZ,
    /// Travel of a slider.
    Travel,
    /// Offset of a slider across its axis.
    OffsetY,
    /// Offset of a slider across its axis and the other offset; only in space.
    OffsetZ,
}

impl Deformation {
    /// The word of model files and recordings.
    pub fn key(self) -> &'static str {
        match self {
            Self::Elongation => "elongation",
            Self::Torsion => "torsion",
            Self::BendingYP => "bending_y_p",
            Self::BendingYQ => "bending_y_q",
            Self::BendingZP => "bending_z_p",
            Self::BendingZQ => "bending_z_q",
            Self::BendingP => "bending_p",
            Self::BendingQ => "bending_q",
            Self::Rotation => "rotation",
            Self::TiltY => "tilt_y",
            Self::TiltZ => "tilt_z",
            Self::Travel => "travel",
            Self::OffsetY => "offset_y",
            Self::OffsetZ => "offset_z",
        }
    }

    /// Whether a torque works on it, and not a force.
    pub fn turns(self) -> bool {
        matches!(self, Self::Rotation | Self::TiltY | Self::TiltZ)
    }
}

/// A table with an optional value for every deformation of a beam.
macro_rules! by_deformation {
    ($(#[$about:meta])* $table:ident of $value:ty: $(#[$get:meta])*) => {
        $(#[$about])*
        #[serde(deny_unknown_fields)]
        pub struct $table {
            /// Change of length.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub elongation: Option<$value>,
            /// Twist times length; only in space.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub torsion: Option<$value>,
            /// Bending along y at the end `from`; only in space.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_y_p: Option<$value>,
            /// Bending along y at the end `to`; only in space.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_y_q: Option<$value>,
            /// Bending along z at the end `from`; only in space.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_z_p: Option<$value>,
            /// Bending along z at the end `to`; only in space.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_z_q: Option<$value>,
            /// Bending at the end `from`; only in the plane.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_p: Option<$value>,
            /// Bending at the end `to`; only in the plane.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub bending_q: Option<$value>,
        }

        impl $table {
            $(#[$get])*
            pub fn get(&self, deformation: Deformation) -> Option<$value> {
                match deformation {
                    Deformation::Elongation => self.elongation,
                    Deformation::Torsion => self.torsion,
                    Deformation::BendingYP => self.bending_y_p,
                    Deformation::BendingYQ => self.bending_y_q,
                    Deformation::BendingZP => self.bending_z_p,
                    Deformation::BendingZQ => self.bending_z_q,
                    Deformation::BendingP => self.bending_p,
                    Deformation::BendingQ => self.bending_q,
                    _ => None,
                }
            }
        }
    };
}

by_deformation!(
    /// What single deformations of a beam are; those of the plane, or those of space.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    BeamRolesSpec of RoleSpec:
    /// What a deformation is said to be.
);
by_deformation!(
    /// Numbers for single deformations of a beam, all of them lengths; those of the plane, or those of space.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    BeamDeformationsSpec of f64:
    /// The number of a deformation, if there is one.
);
