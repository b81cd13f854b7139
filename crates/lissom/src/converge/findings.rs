//! [`Convergence`]: what a study of convergence finds, with every level of refinement.

use serde::Serialize;

use super::estimate::Estimate;
use super::quantities::Measure;

/// How accurate a run is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Convergence {
    /// What was looked at.
    pub measures: Vec<Measure>,
    /// Errors that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
    /// The same in metres.
    pub within_m: f64,
    /// The stated error of the user's run in every quantity, in the order of `measures`.
    pub accuracy: Vec<Accuracy>,
    /// Time steps refined.
    pub time: Refinement,
    /// Functions and elements of the bodies refined.
    pub bodies: Refinement,
    /// The other formulation, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formulation: Option<CrossCheck>,
    /// Why the user's own run did not reach its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether somebody stopped the study.
    pub interrupted: bool,
}

/// The stated error of the user's run in one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Accuracy {
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Sum of both errors; absent unless both are known.
    pub error: Option<f64>,
    /// Error of time integration; absent where it is not known.
    pub time: Option<f64>,
    /// Error of the bodies' discretisation; absent where it is not known, zero where nothing deforms.
    pub bodies: Option<f64>,
    /// Whether the sum is small enough; not known of units other than metres and radians.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<bool>,
}

/// Runs of rising resolution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Refinement {
    /// Whether there is anything to refine.
    pub applies: bool,
    /// The levels, the user's first.
    pub levels: Vec<Level>,
    /// Errors and changes of every quantity at every level that reached its end; absent where nothing is known.
    pub estimates: Vec<Option<Estimate>>,
    /// Why nothing, or not all, is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One run of a refinement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Level {
    /// What it was run with, in short.
    pub name: String,
    /// The same for every part.
    pub settings: Vec<String>,
    /// What grows with the level: functions or elements of the body that has most, steps or one over the tolerance
    /// beside the user's.
    pub resolution: f64,
    /// Why it did not reach its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Accepted steps.
    pub steps: u64,
    /// Evaluations of the equations.
    pub evaluations: u64,
}

/// The other formulation beside the user's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossCheck {
    /// Its runs.
    pub levels: Vec<Level>,
    /// Every quantity that both formulations have.
    pub gaps: Vec<Gap>,
    /// Why nothing, or not all, is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How far two formulations are apart in one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Gap {
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// Distance of the finest runs of both.
    pub difference: f64,
    /// What is left of the bodies' discretisations and the time steps of both there: a difference up to this is no
    /// contradiction. Absent where it is not known.
    pub explained: Option<f64>,
}
