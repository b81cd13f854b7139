//! [`ModelSummary`]: the summary of a model, with where it comes from.
//!
//! What there is to be told is a [`Diagnosis`]; here it is made ready to be written down.

use lissom::cost::{CostAhead, cost_ahead};
use lissom::diagnose::Diagnosis;
use serde::Serialize;

use crate::load::Loaded;

/// A diagnosis with where it comes from, as `lissom check --json` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSummary<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Version of Lissom that read it.
    pub lissom_version: &'static str,
    /// The file of the model, if it has one.
    pub file: Option<String>,
    /// Bases of meshed bodies that were to be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen_bases: Vec<ChosenBasis<'a>>,
    /// What was left out when the model was read, and why, and what may be wrong with a mesh.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
    /// What a run of it will cost, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostSummary>,
    /// What it consists of, and what may go wrong.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
}

/// What a run will cost, as its first steps tell.
#[derive(Clone, Debug, Serialize)]
pub struct CostSummary {
    /// Evaluations of the equations of motion, to within a factor of three; none where that is not known.
    pub evaluations: Option<u64>,
    /// Why it is not known.
    pub unknown: Option<String>,
    /// Evaluations that were made to find out.
    pub tried_evaluations: u64,
}

impl From<CostAhead> for CostSummary {
    fn from(ahead: CostAhead) -> Self {
        let unknown = ahead.evaluations.as_ref().err();
        Self {
            unknown: unknown.map(ToString::to_string),
            evaluations: ahead.evaluations.ok(),
            tried_evaluations: ahead.tried,
        }
    }
}

/// The basis of a meshed body that was to be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct ChosenBasis<'a> {
    /// The body.
    pub body: &'a str,
    /// Key of the basis.
    pub basis: &'static str,
    /// What it was chosen for.
    pub reason: &'a str,
    /// How many coordinates it has.
    pub coordinates: usize,
    /// Largest share of the static deformation under accelerations that it leaves out; none from mean axes.
    pub left_out: Option<f64>,
}

impl<'a> ModelSummary<'a> {
    /// The summary of a model.
    pub fn of(loaded: &'a Loaded) -> Self {
        Self {
            model: loaded.name(),
            lissom_version: env!("CARGO_PKG_VERSION"),
            file: loaded.path.as_ref().map(|path| path.display().to_string()),
            chosen_bases: (loaded.meshes.iter())
                .filter_map(|(body, source)| {
                    let chosen = source.chosen.as_ref()?;
                    Some(ChosenBasis {
                        body,
                        basis: chosen.basis.modes().0,
                        reason: &chosen.reason,
                        coordinates: (loaded.spec.find_body(body))
                            .and_then(|own| own.reduced.as_ref())
                            .map_or(0, |own| own.stiffness.len()),
                        left_out: source.left_out,
                    })
                })
                .collect(),
            notes: &loaded.notes,
            cost: None,
            diagnosis: loaded.mechanism.diagnose(),
        }
    }

    /// The same with what a run will cost, for which the first steps of one are made.
    #[must_use]
    pub fn with_cost(self, loaded: &Loaded) -> Self {
        let cost = Some(cost_ahead(&loaded.mechanism).into());
        Self { cost, ..self }
    }
}
