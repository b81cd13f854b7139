//! Coordinates of joints, with what resists them, drives them and limits them.

use super::{AXES, Assembly, Component};
use crate::model::places::{AxisPlace, BallJoint, Transmission, TreeAxis};
use lissom_core::{
    Axis, AxisId, Ball, Gear, JointId, JointResistance, LoadTarget, rotation_matrix,
};
use lissom_spatial::{Quaternion, Vector};
use lissom_tree::closure::HeldStart;
use lissom_tree::{Coordinate, CoordinateKind, Joint};

impl<'a> Assembly<'a> {
    /// Appends one joint coordinate with all that belongs to it.
    pub(super) fn add_axis(&mut self, joint: &mut Joint, axis: &Axis, name: &'a str) {
        let (position, velocity) = (self.model.positions.len(), self.model.velocities.len());
        let [unit, rate_unit, _] = axis.name.units();
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
        let axes = &mut self.model.places.axes;
        let id = AxisId(axes.len());
        axes.push(TreeAxis {
            name: axis.name.clone(),
            place: AxisPlace::Joint {
                body: self.bodies.len(),
                position,
                velocity,
            },
        });
        let mut drive = id;
        if axis.held {
            let held = HeldStart { position, velocity };
            self.model.assembly.held.push(held);
        }
        if let Some(branch) = axis.branch {
            self.model.assembly.branches.push((position, branch.sign()));
        }
        if !axis.resistance.is_none() {
            let resistance = JointResistance::Axis(id, axis.resistance);
            self.model.actions.resistances.push(resistance);
        }
        if let Some(motor) = &axis.motor {
            match motor.gear {
                None => joint.armature[0] = motor.inertia,
                Some([stiffness, damping]) => {
                    let name = axis.name.motor();
                    drive = AxisId(axes.len());
                    self.model.transmissions.push(Transmission {
                        name: name.coordinate(),
                        translates: name.translates,
                        position,
                        velocity,
                        inertia: motor.inertia,
                        initial_position: axis.position,
                        initial_rate: axis.rate,
                    });
                    axes.push(TreeAxis {
                        name,
                        place: AxisPlace::Motor(self.model.transmissions.len() - 1),
                    });
                    self.model.actions.gears.push(Gear {
                        motor: drive,
                        joint: id,
                        stiffness,
                        damping,
                    });
                }
            }
        }
        self.components.entry(name).or_default().push(Component {
            position,
            velocity,
            target: LoadTarget::Axis(drive),
        });
        self.model.actions.limits.extend(axis.limits(id));
        self.model.actions.stops.extend(axis.stop(id));
    }

    /// Appends the coordinates of a spherical or free joint with all that belongs to it.
    pub(super) fn add_ball(&mut self, joint: &mut Joint, ball: &Ball, name: &'a str) {
        let first = self.model.positions.len();
        let id = JointId(self.model.places.joints.len());
        self.model.places.joints.push(BallJoint {
            body: self.bodies.len(),
            position: first,
            velocity: self.model.velocities.len(),
            translates: ball.translates,
        });
        if ball.translates {
            for (axis, x) in AXES.into_iter().zip(ball.position) {
                let name = format!("{name}.position.{axis}");
                let coordinate = Coordinate::new(name, "m", CoordinateKind::Joint);
                self.model.positions.push(coordinate);
                self.model.initial_position.push(x);
            }
        }
        self.add_quaternion(name, ball.rotation_vector);
        let angular_velocity = ball.angular_velocity;
        self.add_rates(name, (id, 0), "angular_velocity", "rad/s", angular_velocity);
        if ball.translates {
            // the file gives the velocity in the joint's axes, the coordinates are in the child's
            let rotation = rotation_matrix(Vector(ball.rotation_vector));
            let velocity = rotation.transpose_mul(Vector(ball.velocity));
            self.add_rates(name, (id, 3), "velocity", "m/s", velocity.0);
        }
        let [turning, sliding] = ball.motor_inertia;
        joint.armature[..3].fill(turning);
        joint.armature[3..].fill(sliding);
        let actions = &mut self.model.actions;
        actions.resistances.extend(ball.resistance(id));
        actions.limits.extend(ball.limits(id));
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

    /// Rates of three components of a joint, from the given one on.
    fn add_rates(
        &mut self,
        name: &'a str,
        (joint, first): (JointId, usize),
        what: &str,
        unit: &'static str,
        rates: [f64; 3],
    ) {
        let position = self.model.places.joints[joint.0].position;
        for (i, (axis, rate)) in AXES.into_iter().zip(rates).enumerate() {
            self.components.entry(name).or_default().push(Component {
                position,
                velocity: self.model.velocities.len(),
                target: LoadTarget::Component(joint, first + i),
            });
            let name = format!("{name}.{what}.{axis}");
            let coordinate = Coordinate::new(name, unit, CoordinateKind::Joint);
            self.model.velocities.push(coordinate);
            self.model.initial_velocity.push(rate);
        }
    }
}
