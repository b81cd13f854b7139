//! Bookkeeping of a run: energy, momentum, limits, bending.
//!
//! The energy audit is \[Damaren & Sharf 1995, eqs (30)–(32)\]: what the mechanism holds against what the
//! inputs put in, relative to the peak, as a percentage. Here dissipation counts too, and the peak is
//! that of kinetic and strain energy, which does not depend on where gravity's potential is zero.

use serde::Serialize;

use crate::bending::{Bending, BodyExtent};
use crate::dynamics::Dynamics;
use crate::limit::Limit;
use lissom_spatial::{Force, Vector};

/// Part of the largest total energy that counts as rounding: a peak below it says nothing, as of a
/// mechanism that stays at rest.
const ROUNDING: f64 = 1e-12;

/// What the audit reads of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balance {
    /// Kinetic and strain energy.
    pub(crate) stored: f64,
    /// Total energy.
    pub(crate) total: f64,
    /// Total energy less initial energy and work of the inputs, plus losses.
    pub(crate) drift: f64,
    /// Momentum about the ground's origin.
    pub(crate) momentum: Force<f64>,
}

/// The audit of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
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
    pub repartitions: Vec<Repartitioning>,
}

/// A change of the independent coordinates during a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repartitioning {
    /// When.
    pub time_s: f64,
    /// Independent joint velocities before.
    pub before: Vec<String>,
    /// Independent joint velocities after.
    pub after: Vec<String>,
    /// Condition number of the dependent ones before.
    pub condition_before: f64,
    /// Condition number of the dependent ones after.
    pub condition_after: f64,
}

/// Energy balance of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
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
    pub non_conservative: Vec<String>,
}

/// Change of momentum of a mechanism that nothing outside acts on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// Collects what the audit tells while a run goes on.
#[derive(Clone, Debug)]
pub(crate) struct Auditor {
    drifts: Vec<f64>,
    peak: f64,
    /// Largest total energy, positive or negative.
    largest_total: f64,
    conserves_momentum: bool,
    first_momentum: Option<Force<f64>>,
    momentum: MomentumAudit,
    limits: Vec<Limit>,
    violations: Vec<Option<LimitViolation>>,
    pub(crate) bending: Bending,
    /// Instant and value of every limited quantity when it was last looked at.
    watched: Vec<Option<(f64, f64)>>,
    closures: Option<ClosureAudit>,
    initial_energy: Option<f64>,
    /// Work of inputs, energy dissipated and drift before the run.
    pub(crate) before: [f64; 3],
    non_conservative: Vec<String>,
}

impl Auditor {
    pub(crate) fn new(dynamics: &dyn Dynamics, samples: usize) -> Self {
        let limits: Vec<Limit> = dynamics.actions().watched_limits().cloned().collect();
        Self {
            drifts: Vec::with_capacity(samples),
            peak: 0.0,
            largest_total: 0.0,
            conserves_momentum: dynamics.conserves_momentum(),
            first_momentum: None,
            momentum: MomentumAudit::default(),
            violations: vec![None; limits.len()],
            bending: Bending::new(dynamics),
            watched: vec![None; limits.len()],
            limits,
            closures: None,
            initial_energy: None,
            before: [0.0; 3],
            non_conservative: dynamics.non_conservative(),
        }
    }

    /// Total energy at the start, less what was done before; `total` is that of the first sample.
    pub(crate) fn initial_energy(&self, total: f64) -> f64 {
        let [work, dissipated, drift] = self.before;
        self.initial_energy
            .unwrap_or(total - work + dissipated - drift)
    }

    /// The initial energy, once a sample has told it.
    pub(crate) fn known_initial_energy(&self) -> Option<f64> {
        self.initial_energy
    }

    /// Drift of the last sample.
    pub(crate) fn last_drift(&self) -> f64 {
        self.drifts.last().copied().unwrap_or(self.before[2])
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, balance: Balance) {
        self.initial_energy = Some(self.initial_energy(balance.total));
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

    /// Adds a violation of closures, of positions and of velocities.
    pub(crate) fn add_violation(&mut self, [position, velocity]: [f64; 2]) {
        let closures = self.closures.get_or_insert_default();
        closures.max_position_violation = closures.max_position_violation.max(position);
        closures.max_velocity_violation = closures.max_velocity_violation.max(velocity);
    }

    /// Looks at the limits in the evaluated state. What passes a limit between two looks passed it where the
    /// line between the two values did; an effort may jump, and has passed when it is seen.
    pub(crate) fn watch_limits(&mut self, time: f64, dynamics: &mut dyn Dynamics) {
        let watched = self.violations.iter_mut().zip(&mut self.watched);
        for (limit, (violation, watched)) in self.limits.iter().zip(watched) {
            let value = dynamics.limited(limit.quantity);
            let quantity = limit.quantity.word();
            let before = watched.replace((time, value));
            let excess = (limit.min - value).max(value - limit.max);
            // a number that is none has passed no limit; the run tells of it
            if excess <= 0.0 || excess.is_nan() {
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
            let jumps = limit.quantity.jumps();
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

    /// The audit so far.
    pub(crate) fn finish(&self) -> Audit {
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
                non_conservative: self.non_conservative.clone(),
            },
            momentum: self.conserves_momentum.then(|| self.momentum.clone()),
            limit_violations: self.violations.iter().flatten().cloned().collect(),
            bodies: self.bending.finish(),
            closures: self.closures.clone(),
        }
    }
}
