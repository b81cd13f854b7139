//! Joints of a model as hinges, sliders and degrees of freedom of nodes.

use super::build::{Builder, missing};
use super::start::{BallStart, DeformationStart};
use super::unfold::UnfoldedAxis;
use super::{NodalAxis, NodalBall, NodalJoint, NodalModelError};
use lissom_core::{
    Axis, AxisId, Ball, Coordinates, Gear, JointId, JointResistance, Load, LoadTarget, MotionCurve,
    rotation_matrix,
};
use lissom_nodal::{ElementId, End, Role};
use lissom_spatial::{Matrix, Quaternion, Vector};
use lissom_spec::spec::{InputSpec, JointKind, JointSpec};

/// What carries a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) end: End,
    /// Frame of the joint at assembly, in inertial components.
    pub(super) frame: Matrix<f64>,
    /// Whether the child of the joint carries its parent.
    pub(super) reversed: bool,
}

/// An axis where it starts once loops are closed.
struct StartedAxis {
    axis: Axis,
    /// Which component of its joint it is, from 1.
    component: usize,
    position: f64,
    rate: f64,
}

impl StartedAxis {
    /// Stiffness and damping of an elastic gear.
    fn gear(&self) -> Option<[f64; 2]> {
        self.axis.motor?.gear
    }
}

impl<'a> Builder<'a> {
    /// The axes of a joint at the start where loops are closed.
    fn axes(&self, joint: &JointSpec) -> Vec<StartedAxis> {
        let started = (1..).zip(Axis::of(joint)).map(|(component, axis)| {
            let name = axis.name.coordinate();
            let rate = self.closed.get(&format!("{name}.rate"));
            StartedAxis {
                position: self.closed.get(&name).copied().unwrap_or(axis.position),
                rate: rate.copied().unwrap_or(axis.rate),
                component,
                axis,
            }
        });
        started.collect()
    }

    /// The end that a joint carries, made of the end that carries it.
    pub(super) fn across(
        &mut self,
        joint: &'a JointSpec,
        kind: JointKind<'_>,
        carrier: &Carrier,
    ) -> End {
        let &Carrier {
            end: at,
            frame,
            reversed,
        } = carrier;
        let name = joint.name.as_str();
        let axes = self.axes(joint);
        match kind {
            JointKind::Fixed => at,
            JointKind::Revolute(revolute) => self.hinge(&axes[0], name, carrier, revolute.axis),
            JointKind::Universal(universal) => {
                let label = format!("{name}.first");
                let end = self.hinge(&axes[0], &label, carrier, universal.first.axis);
                let cross = Carrier { end, ..*carrier };
                let label = format!("{name}.second");
                self.hinge(&axes[1], &label, &cross, universal.second.axis)
            }
            JointKind::Prismatic(prismatic) => {
                let position = self.assembly.position(at.point);
                let point = self.assembly.point(&format!("{name}.point"), position.0);
                let end = End {
                    point,
                    orientation: at.orientation,
                };
                let direction = frame * Vector(prismatic.axis);
                let across = super::build::least_along(direction);
                let (from, to) = if reversed {
                    (end, at.point)
                } else {
                    (at, point)
                };
                let slider = self.assembly.slider(name, from, to, direction.0, across);
                let motor = axes[0].gear().map(|_| {
                    let label = format!("{name}.motor");
                    let position = self.assembly.position(from.point);
                    let point = self.assembly.point(&format!("{label}.point"), position.0);
                    self.assembly
                        .slider(&label, from, point, direction.0, across)
                });
                self.add_axis(&axes[0], slider, motor);
                end
            }
            JointKind::Spherical(_) | JointKind::Free(_) => match Ball::of(joint) {
                Some(ball) => self.ball(&ball, carrier),
                None => at,
            },
        }
    }

    /// A spherical or free joint, which starts as the file or closed loops have it.
    fn ball(&mut self, ball: &Ball, carrier: &Carrier) -> End {
        let &Carrier { end: at, frame, .. } = carrier;
        let name = ball.name.as_str();
        let turn = rotation_matrix(Vector(ball.rotation_vector));
        let turn = self.closed_turn(name).unwrap_or(turn);
        let angular_velocity = Vector(ball.angular_velocity);
        let child = if ball.translates {
            let from = self.assembly.position(at.point);
            self.end(name, from)
        } else {
            let label = format!("{name}.orientation");
            End {
                point: at.point,
                orientation: self.assembly.orientation(&label, &Matrix::identity()),
            }
        };
        let element = (self.assembly).ball(name, at, child, &frame, ball.translates);
        // the file has the velocity in the parent's axes, closed loops have it in the child's
        let velocity = turn.transpose_mul(Vector(ball.velocity));
        self.ball_starts.push(BallStart {
            element,
            quaternion: quaternion(&turn),
            offset: (self.closed_vector(name, "position")).unwrap_or(Vector(ball.position)),
            angular_velocity: (self.closed_vector(name, "angular_velocity"))
                .unwrap_or(angular_velocity),
            velocity: self.closed_vector(name, "velocity").unwrap_or(velocity),
        });
        self.add_ball(ball, at, child, (element, frame));
        child
    }

    /// Orientation of a spherical joint where loops are closed.
    fn closed_turn(&self, joint: &str) -> Option<Matrix<f64>> {
        let part = |part| {
            self.closed
                .get(&format!("{joint}.quaternion.{part}"))
                .copied()
        };
        let parts = [part("w")?, part("x")?, part("y")?, part("z")?];
        Some(Quaternion(parts).matrix())
    }

    /// Components x, y and z of a quantity of a joint where loops are closed.
    fn closed_vector(&self, joint: &str, what: &str) -> Option<Vector<f64>> {
        let of = |axis| self.closed.get(&format!("{joint}.{what}.{axis}")).copied();
        Some(Vector([of("x")?, of("y")?, of("z")?]))
    }

    /// A hinge, and the end that it carries.
    fn hinge(
        &mut self,
        axis: &StartedAxis,
        label: &str,
        carrier: &Carrier,
        direction: [f64; 3],
    ) -> End {
        let orientation = self
            .assembly
            .orientation(&format!("{label}.orientation"), &Matrix::identity());
        let direction = carrier.frame * Vector(direction);
        let (from, to) = if carrier.reversed {
            (orientation, carrier.end.orientation)
        } else {
            (carrier.end.orientation, orientation)
        };
        let hinge = self.assembly.hinge(label, from, to, direction.0);
        let motor = axis.gear().map(|_| {
            let orientation = format!("{label}.motor.orientation");
            let rotor = self.assembly.orientation(&orientation, &Matrix::identity());
            let name = format!("{label}.motor");
            self.assembly.hinge(&name, from, rotor, direction.0)
        });
        self.add_axis(axis, hinge, motor);
        End {
            point: carrier.end.point,
            orientation,
        }
    }

    fn motion_of(&self, axis: &StartedAxis) -> Option<MotionCurve> {
        let named = (axis.axis.name.joint.as_str(), axis.component);
        let motion = self.written.motions.get(&named)?;
        let profile = self.spec.shaped(motion.profile()?);
        Some(MotionCurve::new(&profile, axis.axis.position))
    }

    /// Notes a hinge or slider as an axis of a joint, with all that belongs to it; behind an elastic gear the motor is
    /// an axis too, on which inputs act.
    fn add_axis(&mut self, axis: &StartedAxis, element: ElementId, motor: Option<ElementId>) {
        let name = &axis.axis.name;
        let id = self.push_axis(NodalAxis {
            name: name.clone(),
            element,
            deformation: 0,
        });
        let mut drive = id;
        if let (Some(motor), Some([stiffness, damping])) = (motor, axis.gear()) {
            drive = self.push_axis(NodalAxis {
                name: name.motor(),
                element: motor,
                deformation: 0,
            });
            self.actions.gears.push(Gear {
                motor: drive,
                joint: id,
                stiffness,
                damping,
            });
            self.assembly.set_deformation(motor, 0, Role::Actuated);
            self.start_at(motor, axis);
        }
        let components = self.components.entry(name.joint.clone()).or_default();
        components.push(LoadTarget::Axis(drive));
        if let Some(curve) = self.motion_of(axis) {
            self.assembly.set_deformation(element, 0, Role::Prescribed);
            let [.., unit] = name.units();
            self.motions.push(curve);
            self.drive_channels.push((name.driving_effort(), unit));
        } else {
            self.assembly.set_deformation(element, 0, Role::Actuated);
            self.start_at(element, axis);
        }
        let resistance = axis.axis.resistance;
        if !resistance.is_none() {
            let resistance = JointResistance::Axis(id, resistance);
            self.actions.resistances.push(resistance);
        }
        let rotor = axis.axis.motor.map_or(0.0, |motor| motor.inertia);
        self.assembly.set_rotor(motor.unwrap_or(element), rotor);
        self.actions.limits.extend(axis.axis.limits(id));
        self.actions.stops.extend(axis.axis.stop(id));
    }

    /// Lets the hinge or slider of an axis, or of its motor, start where the axis does.
    fn start_at(&mut self, element: ElementId, axis: &StartedAxis) {
        self.deformation_starts.push(DeformationStart {
            element,
            deformation: 0,
            value: axis.position,
            rate: axis.rate,
        });
    }

    fn push_axis(&mut self, axis: NodalAxis) -> AxisId {
        let id = AxisId(self.axes.len());
        let name = axis.name.coordinate();
        (self.assembly).name_deformation(axis.element, axis.deformation, name);
        self.axes.push(axis);
        self.joints.push(NodalJoint::Axis(id));
        id
    }

    /// Notes a coordinate of a spherical or free joint that was taken apart.
    pub(super) fn add_unfolded(&mut self, unfolded: UnfoldedAxis) {
        let of_ball = |start: &&BallStart| start.element == unfolded.ball;
        let rate = self.ball_starts.iter().find(of_ball).map_or(0.0, |start| {
            let moves = if unfolded.axis.name.translates {
                start.velocity
            } else {
                start.angular_velocity
            };
            unfolded.direction.dot(moves)
        });
        self.deformation_starts.push(DeformationStart {
            element: unfolded.axis.element,
            deformation: unfolded.axis.deformation,
            value: unfolded.value,
            rate,
        });
        self.push_axis(unfolded.axis);
    }

    /// Notes a joint that turns in any way, with all that belongs to it.
    fn add_ball(
        &mut self,
        ball: &Ball,
        parent: End,
        child: End,
        (element, frame): (ElementId, Matrix<f64>),
    ) {
        let id = JointId(self.balls.len());
        let count = if ball.translates { 6 } else { 3 };
        let targets = (0..count).map(|i| LoadTarget::Component(id, i));
        self.components.insert(ball.name.clone(), targets.collect());
        let part = Coordinates::Joint {
            joint: id,
            name: ball.name.clone(),
            translates: ball.translates,
        };
        for (index, label) in part.deviations().into_iter().enumerate() {
            self.assembly.name_deformation(element, index, label.name);
        }
        self.joints.push(NodalJoint::Ball(id));
        self.balls.push(NodalBall {
            joint: ball.name.clone(),
            element,
            parent,
            child,
            frame,
            translates: ball.translates,
        });
        if ball.motor_inertia != [0.0; 2] {
            self.assembly.set_ball_rotors(element, ball.motor_inertia);
        }
        self.actions.resistances.extend(ball.resistance(id));
        self.actions.limits.extend(ball.limits(id));
    }

    /// An input of the model.
    pub(super) fn load(&self, input: &InputSpec) -> Result<Load, NodalModelError> {
        let none = || missing(input.joint.as_deref().unwrap_or("input"));
        if let Some(name) = &input.marker {
            let marker = self.written.markers.get(name.as_str());
            let marker = *marker.ok_or_else(|| missing(name))?;
            return Load::on_marker(input, marker, marker).ok_or_else(none);
        }
        let name = input.joint.as_deref().ok_or_else(none)?;
        let joint = self.written.joints.get(name).ok_or_else(none)?;
        let kind = joint.kind().ok_or_else(none)?;
        let components = self.components.get(name).ok_or_else(none)?;
        let at = input.component.saturating_sub(1);
        let target = components.get(at).ok_or_else(none)?.clone();
        let label = if components.len() > 1 {
            format!("{name}.{}", input.component)
        } else {
            name.to_owned()
        };
        let translates = kind.translates(input.component);
        Load::on_joint(self.spec, input, label, translates, target).ok_or_else(none)
    }
}

/// Quaternion of a rotation with the sign that is nearest to none.
pub(super) fn quaternion(rotation: &Matrix<f64>) -> [f64; 4] {
    Quaternion::of_matrix(rotation).0
}
