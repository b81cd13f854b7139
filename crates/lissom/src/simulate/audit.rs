//! Bookkeeping of a run: energy, momentum, limits, bending.
//!
//! The energy audit is \[Damaren & Sharf 1995, eqs (30)–(32)\]: what the mechanism holds against what the
//! inputs put in, relative to the peak, as a percentage. Here dissipation is booked too, and the peak is
//! that of kinetic and strain energy, which does not depend on where gravity's potential is zero.

use serde::Serialize;

use crate::model::{
    Closure, Elasticity, Inertia, JointKind, LimitedQuantity, LoadTarget, Model, Place,
    ShorteningTerms, Tip,
};
use crate::simulate::extent::{BodyExtent, Extents};
use crate::simulate::formulation::Formulation;
use lissom_spatial::{Force, Vector};
use lissom_tree::closure::Rechoice;

/// Part of the largest total energy that counts as rounding: a peak below it says nothing, as of a
/// mechanism that stays at rest.
const ROUNDING: f64 = 1e-12;

/// What the audit reads of one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    /// Kinetic and strain energy.
    pub(super) stored: f64,
    /// Total energy.
    pub(super) total: f64,
    /// Total energy less initial energy and work of the inputs, plus losses.
    pub(super) drift: f64,
    /// Momentum about the ground's origin.
    pub(super) momentum: Force<f64>,
}

/// The books of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Audit {
    /// Energy balance.
    pub energy: EnergyAudit,
    /// Momentum, where nothing outside acts on the mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momentum: Option<MomentumAudit>,
    /// Limits that were passed.
    pub limit_violations: Vec<LimitViolation>,
    /// How far every flexible body bends, over the samples.
    pub bodies: Vec<BodyExtent>,
    /// How well the loops stayed closed, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closures: Option<ClosureAudit>,
}

/// How well loops stayed closed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClosureAudit {
    /// Largest violation of an equation of a closure after any step or in any sample, in metres or radians.
    pub max_position_violation: f64,
    /// Largest violation of its rate.
    pub max_velocity_violation: f64,
    /// Equations that follow from the others and carry no force.
    pub redundant: Vec<String>,
    /// Changes of the independent coordinates.
    pub rechoices: Vec<Rechoice>,
}

/// Energy balance of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnergyAudit {
    /// Largest sum of kinetic and strain energy.
    pub peak_j: f64,
    /// Energy at the end that no work accounts for.
    pub final_drift_j: f64,
    /// Largest imbalance in percent of the peak, or of the rounding of the total energy if that is more.
    pub max_drift_percent: f64,
    /// Root mean square over all samples of the imbalance in percent of the peak, eq. (32). The sample at the start,
    /// whose imbalance is zero, is counted: of the paper's numbers only one, 0.159 for CL, is met to its last digit
    /// either with it (0.15947) or without (0.15955), and it is so with it.
    pub rms_drift_percent: f64,
    /// Why the balance does not close however small the steps are: terms of the equations that follow from no
    /// energy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unbalanced_by: Vec<String>,
}

/// Change of momentum of a mechanism that nothing outside acts on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MomentumAudit {
    /// Largest linear momentum.
    pub peak_linear_kg_m_per_s: f64,
    /// Largest change of linear momentum from the start.
    pub linear_drift_kg_m_per_s: f64,
    /// Largest angular momentum about the ground's origin.
    pub peak_angular_kg_m2_per_s: f64,
    /// Largest change of angular momentum from the start.
    pub angular_drift_kg_m2_per_s: f64,
}

/// A limit that was passed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitViolation {
    /// Name of the joint.
    pub joint: String,
    /// What passed its limit: `position`, `rate` or `effort`.
    pub quantity: &'static str,
    /// First instant at which it was seen beyond the limit.
    pub first_s: f64,
    /// Value furthest beyond the limit.
    pub worst: f64,
    /// The limit.
    pub limit: f64,
    /// Unit of the values.
    pub unit: &'static str,
}

/// Collects the books while a run goes on.
#[derive(Clone, Debug)]
pub(super) struct Auditor {
    drifts: Vec<f64>,
    peak: f64,
    /// Largest total energy, positive or negative.
    largest_total: f64,
    conserves_momentum: bool,
    first_momentum: Option<Force<f64>>,
    momentum: MomentumAudit,
    violations: Vec<Option<LimitViolation>>,
    pub(super) extents: Extents,
    /// Instant and value of every limited quantity when it was last looked at.
    watched: Vec<Option<(f64, f64)>>,
    closures: Option<ClosureAudit>,
    initial_energy: Option<f64>,
    unbalanced_by: Vec<String>,
}

/// Whether nothing outside acts on the mechanism: no gravity, no load at a marker, and every body that
/// stands on the ground does so by a free joint without motor, resistance or input, and no closure ends there.
pub(super) fn conserves_momentum(model: &Model) -> bool {
    let layout = model.linkage.system.layout();
    let roots = model
        .linkage
        .system
        .bodies()
        .iter()
        .enumerate()
        .filter(|(_, b)| b.parent.is_none());
    let free_roots = roots.clone().all(|(k, body)| {
        let velocities = layout.joint_velocity[k]..layout.joint_velocity[k] + 6;
        body.joint.kind == JointKind::Free
            && body.joint.armature == [0.0; 6]
            && model.resistances.iter().all(|(at, _)| *at != k)
            && model.loads.iter().all(
                |load| !matches!(load.target, LoadTarget::Joint(at) if velocities.contains(&at)),
            )
    });
    let at_markers = |load: &crate::model::Load| matches!(load.target, LoadTarget::Marker { .. });
    let grounded = |closure: &Closure| closure.from.body.is_none() || closure.to.body.is_none();
    free_roots
        && !model.linkage.closures.iter().any(grounded)
        && model.linkage.system.gravity() == Vector([0.0; 3])
        && !model.loads.iter().any(at_markers)
}

/// What of the fidelity keeps the energy balance from closing, a sentence each.
pub(super) fn unbalanced_by(model: &Model) -> Vec<String> {
    let system = &model.linkage.system;
    let falls = system.gravity() != Vector([0.0; 3]);
    let mut reasons = Vec::new();
    for (k, body) in system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let (name, fidelity) = (&body.name, body.fidelity);
        let carries = || {
            system.bodies().iter().any(|other| {
                other.parent == Some(k) && matches!(other.outboard, Place::Node { .. })
            })
        };
        if fidelity.inertia != Inertia::Full {
            reasons.push(format!(
                "the inertia of body {name} leaves out what its deformation changes"
            ));
        }
        if fidelity.elasticity == Elasticity::ConstantAxialLoad && flexible.strain.is_some() {
            reasons.push(format!(
                "the axial load of body {name} stiffens its bending, and the bending does not act back"
            ));
        }
        if fidelity.shortening == ShorteningTerms::GeometricStiffness
            && flexible.shortening.is_some()
        {
            reasons.push(format!(
                "the geometric stiffness of body {name} is that of no energy"
            ));
        }
        let displaced = matches!(
            fidelity.tip,
            Tip::Rigid | Tip::Linear | Tip::RotationVectorPlainRate
        );
        if displaced && falls && carries() {
            reasons.push(format!(
                "what the tip of body {name} carries is not where its velocity takes it, and gravity pulls there"
            ));
        }
    }
    reasons
}

impl Auditor {
    pub(super) fn new(formulation: &impl Formulation, samples: usize) -> Self {
        let limits = formulation.limits().len();
        Self {
            drifts: Vec::with_capacity(samples),
            peak: 0.0,
            largest_total: 0.0,
            conserves_momentum: formulation.conserves_momentum(),
            first_momentum: None,
            momentum: MomentumAudit::default(),
            violations: vec![None; limits],
            extents: formulation.extents(),
            watched: vec![None; limits],
            closures: None,
            initial_energy: None,
            unbalanced_by: formulation.unbalanced_by(),
        }
    }

    /// Total energy of the first sample.
    pub(super) fn initial_energy(&self) -> Option<f64> {
        self.initial_energy
    }

    /// Books a sample.
    pub(super) fn book(&mut self, balance: Balance) {
        self.initial_energy.get_or_insert(balance.total);
        self.drifts.push(balance.drift);
        self.peak = self.peak.max(balance.stored);
        self.largest_total = self.largest_total.max(balance.total.abs());
        let first = *self.first_momentum.get_or_insert(balance.momentum);
        let length = |v: Vector<f64>| v.dot(v).sqrt();
        let change = balance.momentum - first;
        let m = &mut self.momentum;
        m.peak_linear_kg_m_per_s = m.peak_linear_kg_m_per_s.max(length(balance.momentum.force));
        m.peak_angular_kg_m2_per_s = m
            .peak_angular_kg_m2_per_s
            .max(length(balance.momentum.moment));
        m.linear_drift_kg_m_per_s = m.linear_drift_kg_m_per_s.max(length(change.force));
        m.angular_drift_kg_m2_per_s = m.angular_drift_kg_m2_per_s.max(length(change.moment));
    }

    /// Books the violation of closures, of positions and of velocities.
    pub(super) fn book_violation(&mut self, [position, velocity]: [f64; 2]) {
        let books = self.closures.get_or_insert_default();
        books.max_position_violation = books.max_position_violation.max(position);
        books.max_velocity_violation = books.max_velocity_violation.max(velocity);
    }

    /// Looks at the limits in the evaluated state. What passes a limit between two looks passed it where the
    /// line between the two values did; an effort may jump, and has passed when it is seen.
    pub(super) fn watch_limits(&mut self, time: f64, formulation: &impl Formulation) {
        let watched = self.violations.iter_mut().zip(&mut self.watched);
        for (limit, (violation, watched)) in formulation.limits().iter().zip(watched) {
            let value = formulation.limited(limit.quantity);
            let quantity = match limit.quantity {
                LimitedQuantity::Position(_) | LimitedQuantity::QuaternionAngle(_) => "position",
                LimitedQuantity::Rate(_) => "rate",
                LimitedQuantity::Effort(_) => "effort",
            };
            let before = watched.replace((time, value));
            let excess = (limit.min - value).max(value - limit.max);
            if excess <= 0.0 {
                continue;
            }
            let passed = if value < limit.min {
                limit.min
            } else {
                limit.max
            };
            if let Some(known) = violation {
                if excess > (known.worst - known.limit).abs() {
                    (known.worst, known.limit) = (value, passed);
                }
                continue;
            }
            let jumps = matches!(limit.quantity, LimitedQuantity::Effort(_));
            let first_s = match before {
                Some((earlier, inside)) if !jumps => {
                    earlier + (time - earlier) * (passed - inside) / (value - inside)
                }
                _ => time,
            };
            *violation = Some(LimitViolation {
                joint: limit.joint.clone(),
                quantity,
                first_s,
                worst: value,
                limit: passed,
                unit: limit.unit,
            });
        }
    }

    /// Closes the books.
    pub(super) fn finish(self) -> Audit {
        let reference = self.peak.max(ROUNDING * self.largest_total);
        let percent = |drift: f64| {
            if drift == 0.0 {
                0.0
            } else {
                100.0 * drift / reference
            }
        };
        let squares: f64 = self.drifts.iter().map(|&d| percent(d) * percent(d)).sum();
        let count = self.drifts.len().max(1) as f64;
        Audit {
            energy: EnergyAudit {
                peak_j: self.peak,
                final_drift_j: self.drifts.last().copied().unwrap_or(0.0),
                max_drift_percent: self
                    .drifts
                    .iter()
                    .fold(0.0, |m, &d| f64::max(m, percent(d).abs())),
                rms_drift_percent: (squares / count).sqrt(),
                unbalanced_by: self.unbalanced_by,
            },
            momentum: self.conserves_momentum.then_some(self.momentum),
            limit_violations: self.violations.into_iter().flatten().collect(),
            bodies: self.extents.finish(),
            closures: self.closures,
        }
    }
}
