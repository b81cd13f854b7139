//! Coordinates of joints, with what resists them, drives them and limits them.

use super::{AXES, Assembly};
use crate::model::action::{JointResistance, Transmission, TreeAxis};
use lissom_core::{Axis, Limit, LimitedQuantity, Resistance};
use lissom_spatial::{Quaternion, RotationVector, Vector};
use lissom_spec::spec;
use lissom_tree::closure::HeldStart;
use lissom_tree::{Coordinate, CoordinateKind, Joint};

impl<'a> Assembly<'a> {
    /// Appends one joint coordinate with all that belongs to it.
    pub(super) fn add_axis(&mut self, joint: &mut Joint, axis: &Axis, name: &'a str) {
        let (position, velocity) = (self.model.positions.len(), self.model.velocities.len());
        let [unit, rate_unit, effort_unit] = axis.name.units();
        self.components
            .entry(name)
            .or_default()
            .push((position, velocity));
        let coordinate = axis.name.coordinate();
        let kind = CoordinateKind::Joint;
        self.model.velocities.push(Coordinate::new(
            format!("{coordinate}.rate"),
            rate_unit,
            kind,
        ));
        self.model
            .positions
            .push(Coordinate::new(coordinate, unit, kind));
        self.model.initial_position.push(axis.position);
        self.model.initial_velocity.push(axis.rate);
        self.model.axes.push(TreeAxis {
            name: axis.name.clone(),
            position,
            velocity,
        });
        if axis.held {
            let held = HeldStart { position, velocity };
            self.model.assembly.held.push(held);
        }
        if let Some(branch) = axis.branch {
            self.model.assembly.branches.push((position, branch.sign()));
        }
        self.add_resistance(JointResistance::Axis(axis.resistance));
        if let Some(motor) = &axis.motor {
            match motor.gear {
                None => joint.armature[0] = motor.inertia,
                Some([stiffness, damping]) => self.model.transmissions.push(Transmission {
                    name: axis.name.motor().coordinate(),
                    translates: axis.name.translates,
                    position,
                    velocity,
                    inertia: motor.inertia,
                    stiffness,
                    damping,
                    initial_position: axis.position,
                    initial_rate: axis.rate,
                }),
            }
        }
        let quantities = [
            (LimitedQuantity::Position(position), unit),
            (LimitedQuantity::Rate(velocity), rate_unit),
            (LimitedQuantity::Effort(velocity), effort_unit),
        ];
        for ((quantity, unit), (min, max)) in quantities.into_iter().zip(axis.limits) {
            self.add_limit(name, quantity, min, max, unit);
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
            let felt = motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio;
            joint.armature[..3].fill(felt);
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
            let rotation = self.model.velocities.len() - 3;
            self.add_rate_limits(
                name,
                rotation,
                (limits.max_rate_rad_per_s, "rad/s"),
                (limits.max_torque_n_m, "N m"),
            );
        }
    }

    pub(super) fn add_free(&mut self, joint: &mut Joint, spec: &spec::FreeSpec, name: &'a str) {
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
        if let Some(motor) = &spec.motor {
            let (turn, slide) = (motor.angular_gear_ratio, motor.linear_gear_ratio_rad_per_m);
            joint.armature[..3].fill(motor.angular_inertia_kg_m2 * turn * turn);
            joint.armature[3..].fill(motor.linear_inertia_kg_m2 * slide * slide);
        }
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
        if let Some(limits) = &spec.limits {
            for axis in 0..3 {
                let along = |bound: Option<[f64; 3]>| bound.map(|bound| bound[axis]);
                let position = LimitedQuantity::Position(first + axis);
                self.add_limit(
                    name,
                    position,
                    along(limits.min_m),
                    along(limits.max_m),
                    "m",
                );
            }
            let angle = LimitedQuantity::QuaternionAngle(first + 3);
            self.add_limit(name, angle, None, limits.max_angle_rad, "rad");
            let rotation = self.model.velocities.len() - 6;
            self.add_rate_limits(
                name,
                rotation,
                (limits.max_rate_rad_per_s, "rad/s"),
                (limits.max_torque_n_m, "N m"),
            );
            self.add_rate_limits(
                name,
                rotation + 3,
                (limits.max_rate_m_per_s, "m/s"),
                (limits.max_force_n, "N"),
            );
        }
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

    /// Limits rate and effort of three components, the first of which is this entry of the velocities.
    fn add_rate_limits(
        &mut self,
        joint: &str,
        first: usize,
        (rate, rate_unit): (Option<f64>, &'static str),
        (effort, effort_unit): (Option<f64>, &'static str),
    ) {
        for at in first..first + 3 {
            let quantity = LimitedQuantity::Rate(at);
            self.add_limit(joint, quantity, rate.map(|x| -x), rate, rate_unit);
            let quantity = LimitedQuantity::Effort(at);
            self.add_limit(joint, quantity, effort.map(|x| -x), effort, effort_unit);
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
