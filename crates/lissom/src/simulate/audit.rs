//! Bookkeeping of a run: energy, momentum, limits.
//!
//! The energy audit is \[Damaren & Sharf 1995, eqs (30)–(32)\]: what the mechanism holds against what the
//! inputs put in, relative to the peak, as a percentage. Here dissipation is booked too, and the peak is
//! that of kinetic and strain energy, which does not depend on where gravity's potential is zero.

use serde::Serialize;

use crate::closure::Rechoice;
use crate::model::{Closure, JointKind, LimitedQuantity, LoadTarget, Model};
use crate::simulate::equations::{Equations, rotation_vector};
use crate::spatial::{Force, Vector};

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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// Energy balance.
    pub energy: EnergyAudit,
    /// Momentum, where nothing outside acts on the mechanism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momentum: Option<MomentumAudit>,
    /// Limits that were passed.
    pub limit_violations: Vec<LimitViolation>,
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
    /// Root mean square over all samples of the imbalance in percent of the peak, eq. (32).
    pub rms_drift_percent: f64,
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
    closures: Option<ClosureAudit>,
    initial_energy: Option<f64>,
}

/// Whether nothing outside acts on the mechanism: no gravity, no load at a marker, and every body that
/// stands on the ground does so by a free joint without resistance or input, and no closure ends there.
fn conserves_momentum(model: &Model) -> bool {
    let layout = model.system.layout();
    let roots = model
        .system
        .bodies()
        .iter()
        .enumerate()
        .filter(|(_, b)| b.parent.is_none());
    let free_roots = roots.clone().all(|(k, body)| {
        let velocities = layout.joint_velocity[k]..layout.joint_velocity[k] + 6;
        body.joint.kind == JointKind::Free
            && model.resistances.iter().all(|(at, _)| *at != k)
            && model.loads.iter().all(
                |load| !matches!(load.target, LoadTarget::Joint(at) if velocities.contains(&at)),
            )
    });
    let at_markers = |load: &crate::model::Load| matches!(load.target, LoadTarget::Marker { .. });
    let grounded = |closure: &Closure| closure.from.body.is_none() || closure.to.body.is_none();
    free_roots
        && !model.closures.iter().any(grounded)
        && model.system.gravity() == Vector([0.0; 3])
        && !model.loads.iter().any(at_markers)
}

impl Auditor {
    pub(super) fn new(model: &Model, samples: usize) -> Self {
        Self {
            drifts: Vec::with_capacity(samples),
            peak: 0.0,
            largest_total: 0.0,
            conserves_momentum: conserves_momentum(model),
            first_momentum: None,
            momentum: MomentumAudit::default(),
            violations: vec![None; model.limits.len()],
            closures: None,
            initial_energy: None,
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

    /// Looks at the limits in the evaluated state.
    pub(super) fn watch_limits(&mut self, time: f64, equations: &Equations<'_>) {
        let model = equations.model();
        for (limit, violation) in model.limits.iter().zip(&mut self.violations) {
            let (quantity, value) = match limit.quantity {
                LimitedQuantity::Position(at) => ("position", equations.position[at]),
                LimitedQuantity::QuaternionAngle(at) => {
                    let q = &equations.position[at..];
                    let turn = rotation_vector([q[0], q[1], q[2], q[3]]);
                    ("position", turn.dot(turn).sqrt())
                }
                LimitedQuantity::Rate(at) => ("rate", equations.velocity[at]),
                LimitedQuantity::Effort(at) => ("effort", effort(equations, at)),
            };
            let excess = (limit.min - value).max(value - limit.max);
            if excess <= 0.0 {
                continue;
            }
            let passed = if value < limit.min {
                limit.min
            } else {
                limit.max
            };
            match violation {
                Some(v) => {
                    let before = (v.worst - v.limit).abs();
                    if excess > before {
                        (v.worst, v.limit) = (value, passed);
                    }
                }
                None => {
                    *violation = Some(LimitViolation {
                        joint: limit.joint.clone(),
                        quantity,
                        first_s: time,
                        worst: value,
                        limit: passed,
                        unit: limit.unit,
                    });
                }
            }
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
            },
            momentum: self.conserves_momentum.then_some(self.momentum),
            limit_violations: self.violations.into_iter().flatten().collect(),
            closures: self.closures,
        }
    }
}

/// What drives a joint: the sum of its inputs, through its gear if it has one, or what its prescribed
/// motion needs.
fn effort(equations: &Equations<'_>, at: usize) -> f64 {
    let model = equations.model();
    if model.motions.iter().any(|motion| motion.velocity == at) {
        return equations.reaction(at);
    }
    let acts = |target: &LoadTarget| match *target {
        LoadTarget::Joint(entry) => entry == at,
        LoadTarget::Motor(index) => model.transmissions[index].velocity == at,
        LoadTarget::Marker { .. } => false,
    };
    let inputs = model.loads.iter().zip(&equations.load_values);
    inputs
        .filter(|(load, _)| acts(&load.target))
        .map(|(_, value)| value)
        .sum()
}
