//! Groups of terms that a fidelity keeps, and the fidelity without each.

use lissom_spec::spec::FidelitySpec;
use lissom_spec::{Elasticity, Inertia, ShorteningTerms, Tip};

use lissom_engine::Mechanism;

/// A group of terms, and the fidelity without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermGroup {
    /// What the terms are.
    pub name: &'static str,
    /// The switch that leaves them out, as `inertia=rigid`.
    pub switch: &'static str,
    /// The fidelity of the mechanism with that switch.
    pub without: FidelitySpec,
}

/// The groups of terms that a mechanism keeps; none if nothing of it bends.
pub fn term_groups(mechanism: &Mechanism) -> Vec<TermGroup> {
    if mechanism.diagnose().degrees_of_freedom.elastic == 0 {
        return Vec::new();
    }
    let (own, kept) = (mechanism.spec().fidelity, mechanism.fidelity());
    let mut groups = Vec::new();
    let mut add = |keeps: bool, name, switch, without| {
        if keeps {
            groups.push(TermGroup {
                name,
                switch,
                without,
            });
        }
    };
    add(
        kept.inertia == Inertia::Full,
        "deformation in the mass matrices",
        "inertia=hybrid_forces",
        FidelitySpec {
            inertia: Some(Inertia::HybridForces),
            ..own
        },
    );
    add(
        kept.inertia != Inertia::Rigid,
        "deformation in the inertia at all",
        "inertia=rigid",
        FidelitySpec {
            inertia: Some(Inertia::Rigid),
            ..own
        },
    );
    add(
        kept.shortening != ShorteningTerms::None,
        "shortening of bent beams",
        "shortening=none",
        FidelitySpec {
            shortening: Some(ShorteningTerms::None),
            ..own
        },
    );
    add(
        kept.elasticity != Elasticity::Linear,
        "axial strain of second order",
        "elasticity=linear",
        FidelitySpec {
            elasticity: Some(Elasticity::Linear),
            ..own
        },
    );
    add(
        !matches!(kept.tip, Tip::Linear | Tip::Rigid),
        "tips that turn truly",
        "tip=linear",
        FidelitySpec {
            tip: Some(Tip::Linear),
            ..own
        },
    );
    add(
        kept.tip != Tip::Rigid,
        "tips that are displaced and turned at all",
        "tip=rigid",
        FidelitySpec {
            tip: Some(Tip::Rigid),
            ..own
        },
    );
    groups
}
