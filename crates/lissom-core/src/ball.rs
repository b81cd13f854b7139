//! [`Ball`]: a joint that turns in any way, spherical or free, as both formulations build it.

use lissom_spec::spec::{FreeSpec, JointKind, JointSpec, SphericalSpec};

use crate::action::{JointResistance, Resistance};
use crate::limit::{Limit, LimitedQuantity};
use crate::view::JointId;

/// A spherical or free joint: numbers without their unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Ball {
    /// Name of the joint.
    pub name: String,
    /// Whether it slides in any way too.
    pub translates: bool,
    /// Rotation vector at the start, as written.
    pub rotation_vector: [f64; 3],
    /// Angular velocity at the start in the child's axes, as written.
    pub angular_velocity: [f64; 3],
    /// Position at the start in the parent's axes, as written.
    pub position: [f64; 3],
    /// Velocity at the start in the parent's axes, as written.
    pub velocity: [f64; 3],
    /// Inertia of motors that is felt by every component of the angular velocity, and of the velocity.
    pub motor_inertia: [f64; 2],
    /// What resists rotation and translation.
    resistance: [Resistance; 2],
    /// Smallest and largest position.
    offset: [(Option<f64>, Option<f64>); 3],
    most_angle: Option<f64>,
    /// Largest components of angular velocity and moment, and of velocity and force.
    most: [[Option<f64>; 2]; 2],
}

impl Ball {
    /// A joint, if it is one.
    pub fn of(joint: &JointSpec) -> Option<Self> {
        match joint.kind()? {
            JointKind::Spherical(spec) => Some(Self::spherical(spec, &joint.name)),
            JointKind::Free(spec) => Some(Self::free(spec, &joint.name)),
            _ => None,
        }
    }

    fn spherical(spec: &SphericalSpec, name: &str) -> Self {
        let spring = spec.spring.unwrap_or_default();
        let friction = spec.friction.unwrap_or_default();
        let limits = spec.limits.unwrap_or_default();
        let felt = (spec.motor).map_or(0.0, |motor| {
            motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio
        });
        let angular = Resistance {
            stiffness: spring.stiffness_n_m_per_rad,
            rest: 0.0,
            viscous: spring.damping_n_m_s_per_rad + friction.viscous_n_m_s_per_rad,
            coulomb: friction.coulomb_n_m,
            coulomb_rate: friction.coulomb_rate_rad_per_s,
        };
        Self {
            name: name.to_owned(),
            translates: false,
            rotation_vector: spec.initial_rotation_vector_rad,
            angular_velocity: spec.initial_angular_velocity_rad_per_s,
            position: [0.0; 3],
            velocity: [0.0; 3],
            motor_inertia: [felt, 0.0],
            resistance: [angular, Resistance::default()],
            offset: [(None, None); 3],
            most_angle: limits.max_angle_rad,
            most: [
                [limits.max_rate_rad_per_s, limits.max_torque_n_m],
                [None; 2],
            ],
        }
    }

    fn free(spec: &FreeSpec, name: &str) -> Self {
        let spring = spec.spring.unwrap_or_default();
        let friction = spec.friction.unwrap_or_default();
        let limits = spec.limits.unwrap_or_default();
        let felt = spec.motor.map_or([0.0; 2], |motor| {
            let (turn, slide) = (motor.angular_gear_ratio, motor.linear_gear_ratio_rad_per_m);
            [
                motor.angular_inertia_kg_m2 * turn * turn,
                motor.linear_inertia_kg_m2 * slide * slide,
            ]
        });
        let angular = Resistance {
            stiffness: spring.angular_stiffness_n_m_per_rad,
            rest: 0.0,
            viscous: spring.angular_damping_n_m_s_per_rad + friction.angular_viscous_n_m_s_per_rad,
            coulomb: friction.angular_coulomb_n_m,
            coulomb_rate: friction.angular_coulomb_rate_rad_per_s,
        };
        let linear = Resistance {
            stiffness: spring.linear_stiffness_n_per_m,
            rest: 0.0,
            viscous: spring.linear_damping_n_s_per_m + friction.linear_viscous_n_s_per_m,
            coulomb: friction.linear_coulomb_n,
            coulomb_rate: friction.linear_coulomb_rate_m_per_s,
        };
        let along = |bound: Option<[f64; 3]>, axis: usize| bound.map(|bound| bound[axis]);
        Self {
            name: name.to_owned(),
            translates: true,
            rotation_vector: spec.initial_rotation_vector_rad,
            angular_velocity: spec.initial_angular_velocity_rad_per_s,
            position: spec.initial_position_m,
            velocity: spec.initial_velocity_m_per_s,
            motor_inertia: felt,
            resistance: [angular, linear],
            offset: [0, 1, 2].map(|axis| (along(limits.min_m, axis), along(limits.max_m, axis))),
            most_angle: limits.max_angle_rad,
            most: [
                [limits.max_rate_rad_per_s, limits.max_torque_n_m],
                [limits.max_rate_m_per_s, limits.max_force_n],
            ],
        }
    }

    /// What resists its motion, if anything does.
    pub fn resistance(&self, joint: JointId) -> Option<JointResistance> {
        let [angular, linear] = self.resistance;
        let all = JointResistance::Joint {
            joint,
            angular,
            linear,
        };
        (!all.is_none()).then_some(all)
    }

    /// What a run watches of it.
    pub fn limits(&self, joint: JointId) -> Vec<Limit> {
        let mut limits = Vec::new();
        let mut add = |quantity, (min, max), unit| {
            limits.extend(Limit::of(&self.name, quantity, (min, max), unit));
        };
        for (axis, bounds) in self.offset.into_iter().enumerate() {
            add(LimitedQuantity::Offset(joint, axis), bounds, "m");
        }
        let angle = LimitedQuantity::Angle(joint);
        add(angle, (None, self.most_angle), "rad");
        for (part, units) in [["rad/s", "N m"], ["m/s", "N"]].into_iter().enumerate() {
            let [rate, effort] = self.most[part];
            for component in 3 * part..3 * part + 3 {
                let quantity = LimitedQuantity::ComponentRate(joint, component);
                add(quantity, (rate.map(|x| -x), rate), units[0]);
                let quantity = LimitedQuantity::ComponentEffort(joint, component);
                add(quantity, (effort.map(|x| -x), effort), units[1]);
            }
        }
        limits
    }
}
