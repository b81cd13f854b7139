//! [`Deformation`]: what bending, stretch and torsion of a beam have in common and where they differ.

use super::beam::Segment;
use super::error::FlexError;
use super::shape::Field;

/// A way in which a beam deforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deformation {
    /// Bending with displacement along y.
    BendingY,
    /// Bending with displacement along z.
    BendingZ,
    /// Displacement along x.
    Stretch,
    /// Rotation about x.
    Torsion,
}

impl Deformation {
    /// The component of the axis that it displaces.
    pub(super) fn component(self) -> Option<usize> {
        match self {
            Self::BendingY => Some(1),
            Self::BendingZ => Some(2),
            Self::Stretch => Some(0),
            Self::Torsion => None,
        }
    }

    pub(super) fn field(self) -> Field {
        match self {
            Self::BendingY | Self::BendingZ => Field::Bending,
            Self::Stretch | Self::Torsion => Field::Rod,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BendingY => "bending_y",
            Self::BendingZ => "bending_z",
            Self::Stretch => "stretch",
            Self::Torsion => "torsion",
        }
    }

    /// Names of the value and of the slope at a node of an element.
    pub(super) fn nodal_names(self) -> [&'static str; 2] {
        match self {
            Self::BendingY => ["v", "v_slope"],
            Self::BendingZ => ["w", "w_slope"],
            Self::Stretch => ["u", "u_slope"],
            Self::Torsion => ["twist", "twist_slope"],
        }
    }

    pub(super) fn stiffness(self, segment: &Segment) -> f64 {
        match self {
            Self::BendingY => segment.bending_stiffness[0],
            Self::BendingZ => segment.bending_stiffness[1],
            Self::Stretch => segment.axial_stiffness,
            Self::Torsion => segment.torsional_stiffness,
        }
    }

    pub(super) fn density(self, segment: &Segment) -> f64 {
        match self {
            Self::Torsion => segment.section_inertia.iter().sum(),
            _ => segment.mass_per_length,
        }
    }

    pub(super) fn rotary(self, segment: &Segment) -> f64 {
        match self {
            Self::BendingY => segment.section_inertia[0],
            Self::BendingZ => segment.section_inertia[1],
            _ => 0.0,
        }
    }

    /// Refuses segments without the stiffness or inertia that this deformation needs.
    pub(super) fn check(self, segments: &[Segment]) -> Result<(), FlexError> {
        for (index, segment) in segments.iter().enumerate() {
            let number = index + 1;
            let value = self.stiffness(segment);
            if value <= 0.0 {
                return Err(match self {
                    Self::BendingY | Self::BendingZ => FlexError::NotPositive {
                        quantity: format!("{} stiffness of segment {number}", self.name()),
                        value,
                    },
                    Self::Stretch => FlexError::NoAxialStiffness {
                        segment: number,
                        value,
                        needed_by: self.name(),
                    },
                    Self::Torsion => FlexError::TorsionWithoutStiffness {
                        segment: number,
                        value,
                    },
                });
            }
            let value = self.density(segment);
            if value <= 0.0 {
                return Err(FlexError::TorsionWithoutSectionInertia {
                    segment: number,
                    value,
                });
            }
        }
        Ok(())
    }

    /// Wave number in a segment of a free vibration with this $`\omega^2`$.
    pub(super) fn wave_number(self, segment: &Segment, square: f64) -> f64 {
        let ratio = square * self.density(segment) / self.stiffness(segment);
        match self.field() {
            Field::Bending => ratio.sqrt().sqrt(),
            Field::Rod => ratio.sqrt(),
        }
    }

    /// $`\omega^2`$ of a vibration with this wave number in a segment.
    pub(super) fn frequency_square(self, segment: &Segment, wave_number: f64) -> f64 {
        let power = match self.field() {
            Field::Bending => 4,
            Field::Rod => 2,
        };
        wave_number.powi(power) * self.stiffness(segment) / self.density(segment)
    }
}
