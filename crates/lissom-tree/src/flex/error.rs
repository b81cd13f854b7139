//! [`FlexError`]: why a flexible body cannot be made from what was given.

use lissom_spatial::{readable, rounded};

/// Why a flexible body cannot be made, with the quantity, its value and the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FlexError {
    /// A number is infinite or not a number.
    #[error("{quantity} is {}, give a finite number", readable(.value))]
    NotFinite {
        /// What the number stands for.
        quantity: String,
        /// The number.
        value: f64,
    },
    /// A number must be above zero.
    #[error("{quantity} is {}, it must be greater than zero", readable(.value))]
    NotPositive {
        /// What the number stands for.
        quantity: String,
        /// The number.
        value: f64,
    },
    /// A number must not be below zero.
    #[error("{quantity} is {}, it must not be negative", readable(.value))]
    Negative {
        /// What the number stands for.
        quantity: String,
        /// The number.
        value: f64,
    },
    /// The beam has no segments.
    #[error("the beam has 0 segments, give at least one")]
    NoSegments,
    /// Fixed-interface functions begin with those of the ends.
    #[error(
        "{functions} fixed-interface functions of {deformation} are fewer than its ends have, ask for {least} at least"
    )]
    TooFewFunctions {
        /// Which deformation.
        deformation: &'static str,
        /// How many were asked for.
        functions: usize,
        /// How many there must be.
        least: usize,
    },
    /// No elastic coordinate would be left.
    #[error("the basis has 0 modes, ask for at least one or make the body rigid")]
    NoModes,
    /// What needs axial stiffness was asked of a beam that has none.
    #[error(
        "segment {segment} has axial stiffness {} N, {needed_by} needs a positive one; \
         give EA or do without {needed_by}",
        readable(.value)
    )]
    NoAxialStiffness {
        /// Which segment, counted from 1 at the root.
        segment: usize,
        /// The axial stiffness.
        value: f64,
        /// What was asked for.
        needed_by: &'static str,
    },
    /// Foreshortening was asked of functions that are not clamped at the root and free at the tip.
    #[error(
        "foreshortening is measured from a clamped root to a free tip and the basis is held otherwise, \
         use clamped-free modes or do without foreshortening"
    )]
    ForeshorteningOfFreeBeam,
    /// A deformation at the start is given for a coordinate that the body does not have.
    #[error(
        "the body has no elastic coordinate {name:?}, its coordinates are {}",
        .known.join(", ")
    )]
    UnknownCoordinate {
        /// The name given.
        name: String,
        /// The coordinates of the body.
        known: Vec<String>,
    },
    /// Torsion was asked of a beam that has no torsional stiffness.
    #[error(
        "segment {segment} has torsional stiffness {} N m2, torsion needs a positive one; \
         give GJ or ask for no torsion modes",
        readable(.value)
    )]
    TorsionWithoutStiffness {
        /// Which segment, counted from 1 at the root.
        segment: usize,
        /// The torsional stiffness.
        value: f64,
    },
    /// Torsion was asked of a beam whose sections have no inertia.
    #[error(
        "segment {segment} has section inertia {} kg m in total, torsion needs a positive one; \
         give the section inertia or ask for no torsion modes",
        readable(.value)
    )]
    TorsionWithoutSectionInertia {
        /// Which segment, counted from 1 at the root.
        segment: usize,
        /// Sum of the two section inertias.
        value: f64,
    },
    /// A node or point mass lies beyond the ends of the beam.
    #[error(
        "{quantity} is {} m, it must lie on the beam, between 0 and {} m",
        readable(.position), readable(.length)
    )]
    OutsideBeam {
        /// What lies there.
        quantity: String,
        /// Where it lies.
        position: f64,
        /// Length of the beam.
        length: f64,
    },
    /// A list has the wrong number of entries.
    #[error("{quantity} has {found} entries, expected {expected}")]
    WrongCount {
        /// What the list holds.
        quantity: String,
        /// How many entries it has.
        found: usize,
        /// How many it must have.
        expected: usize,
    },
    /// More modes were asked for than the elements have freedoms.
    #[error(
        "{modes} modes of {deformation} were asked for, the elements have {available}; \
         ask for fewer modes or more elements"
    )]
    TooManyModes {
        /// Which deformation.
        deformation: &'static str,
        /// Modes asked for.
        modes: usize,
        /// Elastic modes the elements have.
        available: usize,
    },
    /// The body would be too large for dense matrices.
    #[error("{quantity} is {found}, at most {limit} are supported; use fewer modes or elements")]
    TooLarge {
        /// What is too large.
        quantity: &'static str,
        /// Its value.
        found: usize,
        /// The largest supported value.
        limit: usize,
    },
    /// Free elements contain rigid motions, which the body's frame already has.
    #[error(
        "free elements without reduction contain the rigid motions that the body frame also has, \
         give a number of modes or clamp the root"
    )]
    FreeElementsWithoutModes,
    /// A matrix that must be symmetric is not.
    #[error("{quantity} differs from its transpose by {}, give a symmetric matrix", rounded(*.difference, 3))]
    NotSymmetric {
        /// Which matrix.
        quantity: String,
        /// Largest difference of two mirrored entries, relative to the largest entry.
        difference: f64,
    },
    /// A matrix that must be positive definite is not.
    #[error(
        "{quantity} is not positive definite: pivot {row} of its scaled Cholesky factor is {}; {remedy}",
        rounded(*.pivot, 3)
    )]
    NotPositiveDefinite {
        /// Which matrix.
        quantity: &'static str,
        /// Row of the pivot that failed, counted from 1.
        row: usize,
        /// The squared pivot, 1 for a diagonal matrix.
        pivot: f64,
        /// What to do.
        remedy: &'static str,
    },
    /// The eigenvalues of a body were not found.
    #[error("eigenvalues of {size} coordinates did not converge, check the scale of the matrices")]
    NoConvergence {
        /// Number of coordinates.
        size: usize,
    },
    /// The inertia of a node cannot belong to a distribution of mass.
    #[error(
        "inertia of node {node} has principal second moment {} kg m2 about its centre of mass, \
         no mass has a negative one; check that the inertia is taken about the node",
        rounded(*.smallest, 3)
    )]
    ImpossibleInertia {
        /// Which node, counted from 1.
        node: usize,
        /// Smallest principal second moment about the centre of mass.
        smallest: f64,
    },
}

/// `value` if it is finite.
pub(super) fn finite(value: f64, quantity: impl FnOnce() -> String) -> Result<f64, FlexError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(FlexError::NotFinite {
            quantity: quantity(),
            value,
        })
    }
}

/// `value` if it is finite and above zero.
pub(super) fn positive(value: f64, quantity: impl Fn() -> String) -> Result<f64, FlexError> {
    if finite(value, &quantity)? > 0.0 {
        Ok(value)
    } else {
        Err(FlexError::NotPositive {
            quantity: quantity(),
            value,
        })
    }
}

/// `value` if it is finite and not below zero.
pub(super) fn not_negative(value: f64, quantity: impl Fn() -> String) -> Result<f64, FlexError> {
    if finite(value, &quantity)? >= 0.0 {
        Ok(value)
    } else {
        Err(FlexError::Negative {
            quantity: quantity(),
            value,
        })
    }
}
