//! Pan, Scott & Ulsoy 1990: links that slide through supports, against converged and finite-element references that
//! were computed independently, and against the paper's own formulation.

mod beam;
mod crossings;
mod floating;
mod formulation;
mod frames;
mod links;
mod robot;
mod sliders;

use lissom_core::study::Run;

use crate::models::parsed;
use crate::runs::in_tree;

/// Runs the model of a text.
fn simulated(text: &str) -> Run {
    in_tree(&parsed(text))
}
