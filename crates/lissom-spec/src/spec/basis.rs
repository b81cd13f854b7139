//! `basis` of a beam: the functions in which its deformation is expanded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The functions in which the deformation of a beam is expanded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BasisSpec {
    /// Eigenfunctions of the beam clamped at its root and free at its tip.
    ClampedFree(ModeCounts),
    /// Eigenfunctions of the beam free at both ends.
    FreeFree(ModeCounts),
    /// The same with the rigid motions before them, counted among them: the root moves in the body's frame,
    /// which its joint carries, and supports must hold the beam.
    Unconstrained(ModeCounts),
    /// Sines in a frame on the chord: bending of links that hinge at both ends and are driven at neither. Stretch and torsion are held at
    /// the root.
    PinnedPinned(ModeCounts),
    /// Eigenfunctions of the beam clamped at both ends, which then do not move against each other.
    ClampedClamped(ModeCounts),
    /// Static shapes of what neighbours do to the ends, in a frame on the chord, and functions clamped at both ends behind them; counted
    /// together. Bending has two static shapes, stretch and torsion have one.
    FixedInterface(ModeCounts),
    /// Each deformation in functions of its own.
    Each(EachSpec),
    /// The functions that fit what holds the ends of the beam; `lissom check` tells which.
    Auto(AutoSpec),
    /// Finite elements: Hermite in bending, linear in stretch and torsion.
    Elements(ElementsSpec),
}

/// How many functions of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeCounts {
    /// Bending along y.
    #[serde(default)]
    pub bending_y: usize,
    /// Bending along z.
    #[serde(default)]
    pub bending_z: usize,
    /// Stretch along x.
    #[serde(default)]
    pub stretch: usize,
    /// Torsion about x.
    #[serde(default)]
    pub torsion: usize,
    /// Whether the stretch of a clamped beam also follows the axis as it draws back in bending: functions
    /// ∫φᵢ'φⱼ'dx of every two bending functions of one plane join the `stretch` natural ones. Without them
    /// a beam with axial strain of second order is too stiff. The stretch modes of the joint space are
    /// named `stretch_1`, `stretch_2`, … as far as functions are independent.
    #[serde(default)]
    pub foreshortening: bool,
}

impl ModeCounts {
    /// The counts of bending along y, bending along z, stretch and torsion.
    pub fn in_order(&self) -> [usize; 4] {
        [self.bending_y, self.bending_z, self.stretch, self.torsion]
    }
}

/// A mesh of finite elements along the beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementsSpec {
    /// Elements of the uniform beam, or of every segment that does not say its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Number of lowest modes of each deformation that are kept; when absent, deflections and slopes at
    /// the nodes are the coordinates. A free mesh needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<usize>,
    /// Whether the beam bends along y; when absent, if its stiffness is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_y: Option<bool>,
    /// Whether the beam bends along z; when absent, if its stiffness is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_z: Option<bool>,
    /// Whether the beam stretches.
    #[serde(default)]
    pub stretch: bool,
    /// Whether the beam twists.
    #[serde(default)]
    pub torsion: bool,
    /// How the root is held in the body's frame.
    #[serde(default)]
    pub boundary: Boundary,
    /// Where axial strain of second order is taken.
    #[serde(default)]
    pub membrane: Membrane,
}

/// Where the axial strain of second order of a bent element is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Membrane {
    /// At every point; bent elements are too stiff unless they are many.
    #[default]
    Pointwise,
    /// As the mean over every element, which a linear stretch can make vanish.
    Averaged,
}

/// How the root of a meshed beam is held in the body's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// The frame is fixed to the root.
    #[default]
    Clamped,
    /// The frame floats with the beam.
    Free,
    /// The root moves in the frame, which its joint carries: the coordinates contain the rigid motions, and
    /// supports must hold the beam.
    Unconstrained,
}

/// Functions of each deformation; those that are absent do not occur.
///
/// A hinge about z lets a link turn in the plane of its bending along y and clamps it in the other: each plane then wants
/// functions of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EachSpec {
    /// Bending along y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_y: Option<FunctionsSpec>,
    /// Bending along z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_z: Option<FunctionsSpec>,
    /// Stretch along x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<FunctionsSpec>,
    /// Torsion about x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torsion: Option<FunctionsSpec>,
}

impl EachSpec {
    /// Functions of bending along y, bending along z, stretch and torsion.
    pub fn in_order(&self) -> [Option<FunctionsSpec>; 4] {
        [self.bending_y, self.bending_z, self.stretch, self.torsion]
    }
}

/// Functions that are chosen by what holds the ends of the link: sines between hinges that carry no moment, functions clamped
/// at the root where the tip is free, static shapes of the ends and functions clamped at both otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoSpec {
    /// Bending functions in each plane, those behind static shapes where there are such; when absent two, or one behind static
    /// shapes. Stretch and torsion have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<usize>,
    /// Frequency up to which vibration matters: functions whose natural frequency lies below it are taken, instead of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_rad_per_s: Option<f64>,
    /// Whether the beam bends along y; when absent, if its stiffness is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_y: Option<bool>,
    /// Whether the beam bends along z; when absent, if its stiffness is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_z: Option<bool>,
    /// Whether the beam stretches.
    #[serde(default)]
    pub stretch: bool,
    /// Whether the beam twists.
    #[serde(default)]
    pub torsion: bool,
}

/// Functions of one deformation and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionsSpec {
    /// Clamped at the root, free at the tip.
    ClampedFree(usize),
    /// Free at both ends.
    FreeFree(usize),
    /// Sines on the chord; in stretch and torsion as `clamped_free`.
    PinnedPinned(usize),
    /// Clamped at both ends.
    ClampedClamped(usize),
    /// Static shapes of what neighbours do to the ends, and functions clamped at both ends behind them.
    FixedInterface(usize),
}

impl FunctionsSpec {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::ClampedFree(count)
            | Self::FreeFree(count)
            | Self::PinnedPinned(count)
            | Self::ClampedClamped(count)
            | Self::FixedInterface(count) => count,
        }
    }

    /// The same functions in this number.
    #[must_use]
    pub fn with_count(mut self, count: usize) -> Self {
        *self.count_mut() = count;
        self
    }

    /// Their key in a model file.
    pub fn key(self) -> &'static str {
        match self {
            Self::ClampedFree(_) => "clamped_free",
            Self::FreeFree(_) => "free_free",
            Self::PinnedPinned(_) => "pinned_pinned",
            Self::ClampedClamped(_) => "clamped_clamped",
            Self::FixedInterface(_) => "fixed_interface",
        }
    }

    fn count_mut(&mut self) -> &mut usize {
        match self {
            Self::ClampedFree(count)
            | Self::FreeFree(count)
            | Self::PinnedPinned(count)
            | Self::ClampedClamped(count)
            | Self::FixedInterface(count) => count,
        }
    }
}

impl BasisSpec {
    /// How many functions of one kind each deformation has; none in a mesh of finite elements, and where they are not chosen yet.
    pub fn counts(&self) -> [usize; 4] {
        match self {
            Self::Each(each) => each
                .in_order()
                .map(|functions| functions.map_or(0, FunctionsSpec::count)),
            Self::Auto(_) | Self::Elements(_) => [0; 4],
            _ => self.mode_counts().map_or([0; 4], ModeCounts::in_order),
        }
    }

    /// Whether the stretch follows the axis as it draws back in bending.
    pub fn foreshortens(&self) -> bool {
        self.mode_counts()
            .is_some_and(|counts| counts.foreshortening)
    }

    /// The numbers of functions that are all of one kind.
    pub fn mode_counts(&self) -> Option<&ModeCounts> {
        match self {
            Self::ClampedFree(counts)
            | Self::FreeFree(counts)
            | Self::Unconstrained(counts)
            | Self::PinnedPinned(counts)
            | Self::ClampedClamped(counts)
            | Self::FixedInterface(counts) => Some(counts),
            Self::Each(_) | Self::Auto(_) | Self::Elements(_) => None,
        }
    }

    /// The numbers of functions of bending along y, bending along z, stretch and torsion, to be changed; none in a mesh.
    pub fn counts_mut(&mut self) -> [Option<&mut usize>; 4] {
        match self {
            Self::ClampedFree(counts)
            | Self::FreeFree(counts)
            | Self::Unconstrained(counts)
            | Self::PinnedPinned(counts)
            | Self::ClampedClamped(counts)
            | Self::FixedInterface(counts) => [
                Some(&mut counts.bending_y),
                Some(&mut counts.bending_z),
                Some(&mut counts.stretch),
                Some(&mut counts.torsion),
            ],
            Self::Each(each) => [
                &mut each.bending_y,
                &mut each.bending_z,
                &mut each.stretch,
                &mut each.torsion,
            ]
            .map(|functions| functions.as_mut().map(FunctionsSpec::count_mut)),
            Self::Auto(_) | Self::Elements(_) => [const { None }; 4],
        }
    }

    /// Its key in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::ClampedFree(_) => "clamped_free",
            Self::FreeFree(_) => "free_free",
            Self::Unconstrained(_) => "unconstrained",
            Self::PinnedPinned(_) => "pinned_pinned",
            Self::ClampedClamped(_) => "clamped_clamped",
            Self::FixedInterface(_) => "fixed_interface",
            Self::Each(_) => "each",
            Self::Auto(_) => "auto",
            Self::Elements(_) => "elements",
        }
    }
}
