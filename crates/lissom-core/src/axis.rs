//! [`Axis`]: one degree of freedom of a joint, as both formulations build it.
//!
//! Hinges, sliders and universal joints of the file are lowered to axes here, once: what resists, drives and limits an
//! axis, where it starts, and what everything about it is called.

use crate::action::{JointStop, Resistance};
use crate::limit::{Limit, LimitedQuantity};
use crate::view::AxisId;
use lissom_numerics::linear::Label;
use lissom_spec::spec::{Branch, JointKind, JointSpec, PrismaticSpec, RevoluteSpec};

/// What the quantities of one axis are called. Two axes of one joint are told apart by their part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisName {
    /// The joint.
    pub joint: String,
    /// Name of the coordinate within the joint, for example `angle`.
    pub suffix: String,
    /// Which part of the joint, a component counted from 1 or a deformation; absent if the joint has only one.
    pub part: Option<String>,
    /// Whether it slides.
    pub translates: bool,
    /// Whether it is the motor behind an elastic gear.
    pub is_motor: bool,
}

impl AxisName {
    /// Its coordinate, for example `shoulder.angle`.
    pub fn coordinate(&self) -> String {
        format!("{}.{}", self.joint, self.suffix)
    }

    /// Its coordinate on the nominal trajectory, for example `shoulder.nominal_angle`.
    pub fn nominal(&self) -> String {
        format!("{}.nominal_{}", self.joint, self.suffix)
    }

    /// How far its coordinate is from the nominal trajectory, for example `shoulder.angle_error`.
    pub fn error(&self) -> String {
        format!("{}.{}_error", self.joint, self.suffix)
    }

    /// The torque or force that inputs exert on it, for example `shoulder.torque` or `wrist.2.torque`.
    pub fn effort(&self) -> String {
        self.of_part(self.effort_word())
    }

    /// The torque or force that its prescribed motion needs.
    pub fn driving_effort(&self) -> String {
        self.of_part(&format!("driving_{}", self.effort_word()))
    }

    /// The torque or force that its stops exert on it.
    pub fn stop_effort(&self) -> String {
        self.of_part(&format!("stop_{}", self.effort_word()))
    }

    fn of_part(&self, what: &str) -> String {
        format!("{}.{what}", self.label())
    }

    /// The joint with the part that is meant, for example `wrist.2`.
    pub fn label(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{part}", self.joint),
            None => self.joint.clone(),
        }
    }

    /// `torque` or `force`.
    pub fn effort_word(&self) -> &'static str {
        if self.translates { "force" } else { "torque" }
    }

    /// Units of position, rate and effort.
    pub fn units(&self) -> [&'static str; 3] {
        if self.translates {
            ["m", "m/s", "N"]
        } else {
            ["rad", "rad/s", "N m"]
        }
    }

    /// The motor behind an elastic gear of this axis.
    #[must_use]
    pub fn motor(&self) -> Self {
        Self {
            suffix: format!("motor_{}", self.suffix),
            is_motor: true,
            ..self.clone()
        }
    }
}

/// The effort on an axis as an input of linearised equations.
pub fn effort_label(axis: &AxisName) -> Label {
    let rate_unit = if axis.translates { "N/s" } else { "N m/s" };
    let [.., unit] = axis.units();
    Label::coordinate(axis.effort(), unit, rate_unit)
}

/// One degree of freedom of a joint, whether it turns or slides: numbers without their unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is called.
    pub name: AxisName,
    /// Position at the start, as written.
    pub position: f64,
    /// Rate at the start, as written.
    pub rate: f64,
    /// Whether the assembly of loops leaves it where it is written.
    pub held: bool,
    /// The branch that is meant where loops have several.
    pub branch: Option<Branch>,
    /// What resists its motion.
    pub resistance: Resistance,
    /// What drives it.
    pub motor: Option<Motor>,
    /// Smallest and largest position, rate and effort.
    limits: [(Option<f64>, Option<f64>); 3],
    /// Stiffness and damping of the stops at its smallest and largest position.
    stops: Option<[f64; 2]>,
}

/// A motor with its gear, at the joint side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Rotor inertia felt at the joint, gear ratio squared times rotor inertia.
    pub inertia: f64,
    /// Stiffness and damping of an elastic gear.
    pub gear: Option<[f64; 2]>,
}

impl Axis {
    /// The axes of a joint, in the order of its components; none of joints that turn freely or not at all.
    pub fn of(joint: &JointSpec) -> Vec<Self> {
        let name = |suffix: &str, part: Option<&str>, translates| AxisName {
            joint: joint.name.clone(),
            suffix: suffix.to_owned(),
            part: part.map(str::to_owned),
            translates,
            is_motor: false,
        };
        match joint.kind() {
            Some(JointKind::Revolute(spec)) => {
                vec![Self::revolute(spec, name("angle", None, false))]
            }
            Some(JointKind::Universal(spec)) => vec![
                Self::revolute(&spec.first, name("angle_1", Some("1"), false)),
                Self::revolute(&spec.second, name("angle_2", Some("2"), false)),
            ],
            Some(JointKind::Prismatic(spec)) => {
                vec![Self::prismatic(spec, name("displacement", None, true))]
            }
            _ => Vec::new(),
        }
    }

    /// What a run watches of it.
    pub fn limits(&self, axis: AxisId) -> impl Iterator<Item = Limit> {
        let quantities = [
            LimitedQuantity::Position(axis),
            LimitedQuantity::Rate(axis),
            LimitedQuantity::Effort(axis),
        ];
        let units = self.name.units();
        let each = quantities.into_iter().zip(self.limits).zip(units);
        each.filter_map(|((quantity, bounds), unit)| {
            Limit::of(&self.name.joint, quantity, bounds, unit)
        })
    }

    /// The stops at its ends.
    pub fn stop(&self, axis: AxisId) -> Option<JointStop> {
        let [(lower, upper), ..] = self.limits;
        self.stops.map(|[stiffness, damping]| JointStop {
            name: self.name.clone(),
            axis,
            ends: [
                lower.unwrap_or(f64::NEG_INFINITY),
                upper.unwrap_or(f64::INFINITY),
            ],
            stiffness,
            damping,
        })
    }

    fn revolute(spec: &RevoluteSpec, name: AxisName) -> Self {
        let (spring, friction) = (
            spec.spring.unwrap_or_default(),
            spec.friction.unwrap_or_default(),
        );
        let limits = spec.limits.unwrap_or_default();
        Self {
            name,
            position: spec.initial_angle_rad,
            rate: spec.initial_rate_rad_per_s,
            held: spec.held,
            branch: spec.branch,
            resistance: Resistance {
                stiffness: spring.stiffness_n_m_per_rad,
                rest: spring.rest_angle_rad,
                viscous: spring.damping_n_m_s_per_rad + friction.viscous_n_m_s_per_rad,
                coulomb: friction.coulomb_n_m,
                coulomb_rate: friction.coulomb_rate_rad_per_s,
            },
            motor: spec.motor.map(|motor| Motor {
                inertia: motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio,
                gear: (motor.stiffness_n_m_per_rad)
                    .map(|stiffness| [stiffness, motor.damping_n_m_s_per_rad]),
            }),
            limits: [
                (limits.min_rad, limits.max_rad),
                both_ways(limits.max_rate_rad_per_s),
                both_ways(limits.max_torque_n_m),
            ],
            stops: (spec.stops)
                .map(|stops| [stops.stiffness_n_m_per_rad, stops.damping_n_m_s_per_rad]),
        }
    }

    fn prismatic(spec: &PrismaticSpec, name: AxisName) -> Self {
        let (spring, friction) = (
            spec.spring.unwrap_or_default(),
            spec.friction.unwrap_or_default(),
        );
        let limits = spec.limits.unwrap_or_default();
        Self {
            name,
            position: spec.initial_displacement_m,
            rate: spec.initial_rate_m_per_s,
            held: spec.held,
            branch: spec.branch,
            resistance: Resistance {
                stiffness: spring.stiffness_n_per_m,
                rest: spring.rest_displacement_m,
                viscous: spring.damping_n_s_per_m + friction.viscous_n_s_per_m,
                coulomb: friction.coulomb_n,
                coulomb_rate: friction.coulomb_rate_m_per_s,
            },
            motor: spec.motor.map(|motor| Motor {
                inertia: motor.inertia_kg_m2
                    * motor.gear_ratio_rad_per_m
                    * motor.gear_ratio_rad_per_m,
                gear: (motor.stiffness_n_per_m)
                    .map(|stiffness| [stiffness, motor.damping_n_s_per_m]),
            }),
            limits: [
                (limits.min_m, limits.max_m),
                both_ways(limits.max_rate_m_per_s),
                both_ways(limits.max_force_n),
            ],
            stops: (spec.stops).map(|stops| [stops.stiffness_n_per_m, stops.damping_n_s_per_m]),
        }
    }
}

fn both_ways(most: Option<f64>) -> (Option<f64>, Option<f64>) {
    (most.map(|most| -most), most)
}
