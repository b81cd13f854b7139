//! Coordinates of joints, with what resists them, drives them and limits them.

use super::{AXES, Assembly};
use crate::model::action::{JointResistance, Limit, LimitedQuantity, Resistance, Transmission};
use crate::model::coordinate::{Coordinate, CoordinateKind};
use crate::model::joint::Joint;
use crate::model::spec::{self, RevoluteSpec};
use crate::spatial::{Quaternion, RotationVector, Vector};

impl<'a> Assembly<'a> {
    /// Appends one joint coordinate; returns its entries in the two vectors.
    fn add_axis(
        &mut self,
        joint: &'a str,
        suffix: &str,
        unit: &'static str,
        rate_unit: &'static str,
        position: f64,
        rate: f64,
    ) -> (usize, usize) {
        let at = (self.model.positions.len(), self.model.velocities.len());
        self.components.entry(joint).or_default().push(at);
        let name = format!("{joint}.{suffix}");
        let kind = CoordinateKind::Joint;
        self.model
            .velocities
            .push(Coordinate::new(format!("{name}.rate"), rate_unit, kind));
        self.model.positions.push(Coordinate::new(name, unit, kind));
        self.model.initial_position.push(position);
        self.model.initial_velocity.push(rate);
        at
    }

    pub(super) fn add_revolute(
        &mut self,
        joint: &mut Joint,
        spec: &RevoluteSpec,
        suffix: &str,
        name: &'a str,
    ) {
        let (position, rate) = (spec.initial_angle_rad, spec.initial_rate_rad_per_s);
        let at = self.add_axis(name, suffix, "rad", "rad/s", position, rate);
        let mut resistance = Resistance::default();
        if let Some(spring) = &spec.spring {
            resistance.stiffness = spring.stiffness_n_m_per_rad;
            resistance.rest = spring.rest_angle_rad;
            resistance.viscous += spring.damping_n_m_s_per_rad;
        }
        if let Some(friction) = &spec.friction {
            resistance.viscous += friction.viscous_n_m_s_per_rad;
            resistance.coulomb = friction.coulomb_n_m;
            resistance.coulomb_rate = friction.coulomb_rate_rad_per_s;
        }
        self.add_resistance(JointResistance::Axis(resistance));
        if let Some(motor) = &spec.motor {
            let inertia = motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio;
            match motor.stiffness_n_m_per_rad {
                None => joint.armature = inertia,
                Some(stiffness) => self.model.transmissions.push(Transmission {
                    name: format!("{name}.motor_{suffix}"),
                    translates: false,
                    position: at.0,
                    velocity: at.1,
                    inertia,
                    stiffness,
                    damping: motor.damping_n_m_s_per_rad,
                    initial_position: position,
                    initial_rate: rate,
                }),
            }
        }
        if let Some(limits) = &spec.limits {
            self.add_limit(
                name,
                LimitedQuantity::Position(at.0),
                limits.min_rad,
                limits.max_rad,
                "rad",
            );
            let most = limits.max_rate_rad_per_s;
            self.add_limit(
                name,
                LimitedQuantity::Rate(at.1),
                most.map(|x| -x),
                most,
                "rad/s",
            );
            let most = limits.max_torque_n_m;
            self.add_limit(
                name,
                LimitedQuantity::Effort(at.1),
                most.map(|x| -x),
                most,
                "N m",
            );
        }
    }

    pub(super) fn add_prismatic(
        &mut self,
        joint: &mut Joint,
        spec: &spec::PrismaticSpec,
        name: &'a str,
    ) {
        let (position, rate) = (spec.initial_displacement_m, spec.initial_rate_m_per_s);
        let at = self.add_axis(name, "displacement", "m", "m/s", position, rate);
        let mut resistance = Resistance::default();
        if let Some(spring) = &spec.spring {
            resistance.stiffness = spring.stiffness_n_per_m;
            resistance.rest = spring.rest_displacement_m;
            resistance.viscous += spring.damping_n_s_per_m;
        }
        if let Some(friction) = &spec.friction {
            resistance.viscous += friction.viscous_n_s_per_m;
            resistance.coulomb = friction.coulomb_n;
            resistance.coulomb_rate = friction.coulomb_rate_m_per_s;
        }
        self.add_resistance(JointResistance::Axis(resistance));
        if let Some(motor) = &spec.motor {
            let inertia =
                motor.inertia_kg_m2 * motor.gear_ratio_rad_per_m * motor.gear_ratio_rad_per_m;
            match motor.stiffness_n_per_m {
                None => joint.armature = inertia,
                Some(stiffness) => self.model.transmissions.push(Transmission {
                    name: format!("{name}.motor_displacement"),
                    translates: true,
                    position: at.0,
                    velocity: at.1,
                    inertia,
                    stiffness,
                    damping: motor.damping_n_s_per_m,
                    initial_position: position,
                    initial_rate: rate,
                }),
            }
        }
        if let Some(limits) = &spec.limits {
            self.add_limit(
                name,
                LimitedQuantity::Position(at.0),
                limits.min_m,
                limits.max_m,
                "m",
            );
            let most = limits.max_rate_m_per_s;
            self.add_limit(
                name,
                LimitedQuantity::Rate(at.1),
                most.map(|x| -x),
                most,
                "m/s",
            );
            let most = limits.max_force_n;
            self.add_limit(
                name,
                LimitedQuantity::Effort(at.1),
                most.map(|x| -x),
                most,
                "N",
            );
        }
    }

    pub(super) fn add_spherical(
        &mut self,
        joint: &mut Joint,
        spec: &spec::SphericalSpec,
        name: &'a str,
    ) {
        let first = self.model.positions.len();
        self.add_quaternion(name, spec.initial_rotation_vector_rad);
        self.add_rates(
            name,
            first,
            "angular_velocity",
            "rad/s",
            spec.initial_angular_velocity_rad_per_s,
        );
        if let Some(motor) = &spec.motor {
            joint.armature = motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio;
        }
        let mut resistance = Resistance::default();
        if let Some(spring) = &spec.spring {
            resistance.stiffness = spring.stiffness_n_m_per_rad;
            resistance.viscous += spring.damping_n_m_s_per_rad;
        }
        if let Some(friction) = &spec.friction {
            resistance.viscous += friction.viscous_n_m_s_per_rad;
            resistance.coulomb = friction.coulomb_n_m;
            resistance.coulomb_rate = friction.coulomb_rate_rad_per_s;
        }
        self.add_resistance(JointResistance::Ball(resistance));
        if let Some(limits) = &spec.limits {
            let angle = LimitedQuantity::QuaternionAngle(first);
            self.add_limit(name, angle, None, limits.max_angle_rad, "rad");
        }
    }

    pub(super) fn add_free(&mut self, spec: &spec::FreeSpec, name: &'a str) {
        let first = self.model.positions.len();
        for (axis, x) in AXES.into_iter().zip(spec.initial_position_m) {
            let name = format!("{name}.position.{axis}");
            self.model
                .positions
                .push(Coordinate::new(name, "m", CoordinateKind::Joint));
            self.model.initial_position.push(x);
        }
        self.add_quaternion(name, spec.initial_rotation_vector_rad);
        self.add_rates(
            name,
            first,
            "angular_velocity",
            "rad/s",
            spec.initial_angular_velocity_rad_per_s,
        );
        // the file gives the velocity in the joint's axes, the coordinates are in the child's
        let rotation = RotationVector::new(Vector(spec.initial_rotation_vector_rad)).matrix();
        let velocity = rotation.transpose_mul(Vector(spec.initial_velocity_m_per_s));
        self.add_rates(name, first, "velocity", "m/s", velocity.0);
        let (mut angular, mut linear) = (Resistance::default(), Resistance::default());
        if let Some(spring) = &spec.spring {
            angular.stiffness = spring.angular_stiffness_n_m_per_rad;
            angular.viscous = spring.angular_damping_n_m_s_per_rad;
            linear.stiffness = spring.linear_stiffness_n_per_m;
            linear.viscous = spring.linear_damping_n_s_per_m;
        }
        if let Some(friction) = &spec.friction {
            angular.viscous += friction.angular_viscous_n_m_s_per_rad;
            angular.coulomb = friction.angular_coulomb_n_m;
            angular.coulomb_rate = friction.angular_coulomb_rate_rad_per_s;
            linear.viscous += friction.linear_viscous_n_s_per_m;
            linear.coulomb = friction.linear_coulomb_n;
            linear.coulomb_rate = friction.linear_coulomb_rate_m_per_s;
        }
        self.add_resistance(JointResistance::Free { angular, linear });
    }

    pub(super) fn add_quaternion(&mut self, joint: &str, rotation_vector: [f64; 3]) {
        let quaternion = Quaternion::of_rotation_vector(Vector(rotation_vector));
        for (axis, x) in ["w", "x", "y", "z"].into_iter().zip(quaternion.0) {
            let name = format!("{joint}.quaternion.{axis}");
            self.model
                .positions
                .push(Coordinate::new(name, "1", CoordinateKind::Quaternion));
            self.model.initial_position.push(x);
        }
    }

    fn add_rates(
        &mut self,
        joint: &'a str,
        first_position: usize,
        what: &str,
        unit: &'static str,
        rates: [f64; 3],
    ) {
        for (axis, rate) in AXES.into_iter().zip(rates) {
            let at = self.model.velocities.len();
            self.components
                .entry(joint)
                .or_default()
                .push((first_position, at));
            let name = format!("{joint}.{what}.{axis}");
            self.model
                .velocities
                .push(Coordinate::new(name, unit, CoordinateKind::Joint));
            self.model.initial_velocity.push(rate);
        }
    }

    /// Notes what resists the joint of the body that is appended next.
    fn add_resistance(&mut self, resistance: JointResistance) {
        let nothing = match &resistance {
            JointResistance::Axis(r) | JointResistance::Ball(r) => r.is_none(),
            JointResistance::Free { angular, linear } => angular.is_none() && linear.is_none(),
        };
        if !nothing {
            self.model.resistances.push((self.bodies.len(), resistance));
        }
    }

    fn add_limit(
        &mut self,
        joint: &str,
        quantity: LimitedQuantity,
        min: Option<f64>,
        max: Option<f64>,
        unit: &'static str,
    ) {
        if min.is_some() || max.is_some() {
            self.model.limits.push(Limit {
                joint: joint.to_owned(),
                quantity,
                min: min.unwrap_or(f64::NEG_INFINITY),
                max: max.unwrap_or(f64::INFINITY),
                unit,
            });
        }
    }
}
