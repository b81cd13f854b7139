//! Joints of a model as hinges, sliders and degrees of freedom of nodes.

use super::MeshedJoint;
use super::build::{Builder, missing};
use super::{Foreseen, Load, MeshError, Target};
use crate::model::spec::{InputSpec, JointKind, LoadQuantity, MotionSpec};
use crate::model::{Limit, LimitedQuantity};
use crate::simulate::{LoadCurve, MotionCurve};
use lissom_core::Axis;
use lissom_nodal::{ElementId, End, Role};
use lissom_spatial::{Matrix, Quaternion, RotationVector, Vector};

/// Where something stands and how it turns at the start, relative to assembly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Rotation from assembly to start.
    pub(super) turn: Matrix<f64>,
    /// Angular velocity in inertial components.
    pub(super) spin: Vector<f64>,
}

/// What carries a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    pub(super) end: End,
    /// Frame of the joint at assembly, in inertial components.
    pub(super) frame: Matrix<f64>,
    pub(super) start: Start,
    /// Whether the child of the joint carries its parent.
    pub(super) reversed: bool,
}

/// An axis where it starts once loops are closed.
struct StartedAxis {
    axis: Axis,
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
    fn axes(&self, name: &str) -> Vec<StartedAxis> {
        let axes = self.spec.find_joint(name).map(Axis::of).unwrap_or_default();
        let started = axes.into_iter().map(|axis| {
            let name = axis.name.coordinate();
            let rate = self.closed.get(&format!("{name}.rate"));
            StartedAxis {
                position: self.closed.get(&name).copied().unwrap_or(axis.position),
                rate: rate.copied().unwrap_or(axis.rate),
                axis,
            }
        });
        started.collect()
    }

    /// The end that a joint carries, made of the end that carries it, and its start.
    pub(super) fn across(
        &mut self,
        name: &'a str,
        kind: JointKind<'_>,
        carrier: &Carrier,
    ) -> (End, Start) {
        let &Carrier {
            end: at,
            frame,
            start,
            reversed,
        } = carrier;
        let axes = self.axes(name);
        match kind {
            JointKind::Fixed => (at, start),
            JointKind::Revolute(revolute) => self.hinge(&axes[0], name, carrier, revolute.axis),
            JointKind::Universal(universal) => {
                let label = format!("{name}.first");
                let (end, start) = self.hinge(&axes[0], &label, carrier, universal.first.axis);
                let cross = Carrier {
                    end,
                    start,
                    ..*carrier
                };
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
                let motor = axes[0].gear().map(|gear| {
                    let label = format!("{name}.motor");
                    let position = self.assembly.position(from.point);
                    let point = self.assembly.point(&format!("{label}.point"), position.0);
                    let motor = self
                        .assembly
                        .slider(&label, from, point, direction.0, across);
                    let behind = End {
                        point,
                        orientation: from.orientation,
                    };
                    let label = format!("{name}.gear");
                    let spring = self
                        .assembly
                        .slider(&label, behind, to, direction.0, across);
                    self.set_gear(spring, gear);
                    motor
                });
                self.add_axis(&axes[0], slider, motor);
                (end, start)
            }
            JointKind::Spherical(spherical) => {
                let orientation = self
                    .assembly
                    .orientation(&format!("{name}.attitude"), &Matrix::identity());
                self.assembly.set_node(orientation, Role::Dof);
                let child = End {
                    point: at.point,
                    orientation,
                };
                let turn = RotationVector::new(Vector(spherical.initial_rotation_vector_rad));
                let turn = self.closed_turn(name).unwrap_or_else(|| turn.matrix());
                let turn = start.turn * frame * turn * frame.transpose();
                let spin = Vector(spherical.initial_angular_velocity_rad_per_s);
                let spin = self.closed_spin(name).unwrap_or(spin);
                let spin = start.spin + turn * (frame * spin);
                self.add_turning(name, at, child, frame, false);
                self.turning_starts.push((orientation, turn, spin));
                (child, Start { turn, spin })
            }
            JointKind::Free(free) => {
                let carrier = at;
                let at = self.assembly.position(carrier.point);
                let child = self.end(name, at);
                self.assembly.set_node(child.point, Role::Dof);
                self.assembly.set_node(child.orientation, Role::Dof);
                let turn = RotationVector::new(Vector(free.initial_rotation_vector_rad));
                let turn = frame * turn.matrix() * frame.transpose();
                let spin = turn * (frame * Vector(free.initial_angular_velocity_rad_per_s));
                self.add_turning(name, carrier, child, frame, true);
                self.turning_starts.push((child.orientation, turn, spin));
                self.sliding_starts.push((
                    child.point,
                    at + frame * Vector(free.initial_position_m),
                    frame * Vector(free.initial_velocity_m_per_s),
                ));
                (child, Start { turn, spin })
            }
        }
    }

    /// Attitude of a spherical joint where loops are closed.
    fn closed_turn(&self, joint: &str) -> Option<Matrix<f64>> {
        let part = |part| {
            self.closed
                .get(&format!("{joint}.quaternion.{part}"))
                .copied()
        };
        let parts = [part("w")?, part("x")?, part("y")?, part("z")?];
        Some(Quaternion(parts).matrix())
    }

    /// Its angular velocity.
    fn closed_spin(&self, joint: &str) -> Option<Vector<f64>> {
        let of = |axis| {
            let name = format!("{joint}.angular_velocity.{axis}");
            self.closed.get(&name).copied()
        };
        Some(Vector([of("x")?, of("y")?, of("z")?]))
    }

    /// A hinge, the end that it carries, and that end's start.
    fn hinge(
        &mut self,
        axis: &StartedAxis,
        label: &str,
        carrier: &Carrier,
        direction: [f64; 3],
    ) -> (End, Start) {
        let orientation = self
            .assembly
            .orientation(&format!("{label}.attitude"), &Matrix::identity());
        let direction = carrier.frame * Vector(direction);
        let (from, to) = if carrier.reversed {
            (orientation, carrier.end.orientation)
        } else {
            (carrier.end.orientation, orientation)
        };
        let hinge = self.assembly.hinge(label, from, to, direction.0);
        let motor = axis.gear().map(|gear| {
            let attitude = format!("{label}.motor.attitude");
            let rotor = self.assembly.orientation(&attitude, &Matrix::identity());
            let name = format!("{label}.motor");
            let motor = self.assembly.hinge(&name, from, rotor, direction.0);
            let name = format!("{label}.gear");
            let spring = self.assembly.hinge(&name, rotor, to, direction.0);
            self.set_gear(spring, gear);
            motor
        });
        self.add_axis(axis, hinge, motor);
        let end = End {
            point: carrier.end.point,
            orientation,
        };
        (end, self.turned(carrier, axis, direction))
    }

    /// Start of what a hinge carries, whose axis at assembly is `axis`.
    fn turned(&self, carrier: &Carrier, axis: &StartedAxis, direction: Vector<f64>) -> Start {
        let sense = if carrier.reversed { -1.0 } else { 1.0 };
        let unit = direction.scale(sense / direction.dot(direction).sqrt());
        let (angle, rate) = match self.motion_of(axis) {
            Some(curve) => {
                let point = curve.at(self.spec.simulation.start_s);
                (point.position, point.rate)
            }
            None => (axis.position, axis.rate),
        };
        let start = carrier.start;
        Start {
            spin: start.spin + start.turn * unit.scale(rate),
            turn: start.turn * RotationVector::new(unit.scale(angle)).matrix(),
        }
    }

    fn motion_of(&self, axis: &StartedAxis) -> Option<MotionCurve> {
        let name = &axis.axis.name;
        let drives = |motion: &&MotionSpec| {
            let part = name.part.as_deref();
            motion.joint == name.joint
                && part.is_none_or(|part| part == motion.component.to_string())
        };
        let motion = self.spec.motion.iter().find(drives)?;
        Some(MotionCurve::new(&motion.profile()?, axis.axis.position))
    }

    /// Makes an element the spring of an elastic gear, between a motor and its joint.
    fn set_gear(&mut self, spring: ElementId, [stiffness, damping]: [f64; 2]) {
        self.assembly.set_deformations(spring, Role::Free);
        self.assembly
            .set_spring(spring, 0, stiffness, damping / stiffness);
    }

    /// Notes a hinge or slider as an axis of a joint, with all that belongs to it; behind an elastic gear the motor is
    /// an axis too, on which inputs act.
    fn add_axis(&mut self, axis: &StartedAxis, element: ElementId, motor: Option<ElementId>) {
        let name = &axis.axis.name;
        let index = self.joints.len();
        let driven = index + usize::from(motor.is_some());
        let components = self.components.entry(name.joint.clone()).or_default();
        components.push(Target::Axis(driven));
        self.joints.push(MeshedJoint::Axis {
            name: name.clone(),
            element,
            deformation: 0,
        });
        if let Some(motor) = motor {
            self.joints.push(MeshedJoint::Axis {
                name: name.motor(),
                element: motor,
                deformation: 0,
            });
            self.assembly.set_deformation(motor, 0, Role::Actuated);
            self.axis_starts.push((motor, axis.position, axis.rate));
        }
        if let Some(curve) = self.motion_of(axis) {
            self.assembly.set_deformation(element, 0, Role::Prescribed);
            let [.., unit] = name.units();
            self.motions.push(curve);
            self.drive_channels.push((name.driving_effort(), unit));
        } else {
            self.assembly.set_deformation(element, 0, Role::Actuated);
            self.axis_starts.push((element, axis.position, axis.rate));
        }
        let mut law = axis.axis.resistance;
        if law.stiffness > 0.0 {
            let damping_time = law.viscous / law.stiffness;
            self.assembly
                .set_spring(element, 0, law.stiffness, damping_time);
            self.assembly.set_rest(element, 0, law.rest);
            (law.stiffness, law.viscous) = (0.0, 0.0);
        } else if law.viscous > 0.0 {
            self.assembly
                .couple_damping(&[(element, 0)], vec![law.viscous]);
            law.viscous = 0.0;
        }
        if !law.is_none() {
            self.drags.push((element, law));
        }
        let rotor = axis.axis.motor.map_or(0.0, |motor| motor.inertia);
        self.assembly.set_rotor(motor.unwrap_or(element), rotor);
        let units = name.units();
        let quantities = [
            LimitedQuantity::Position(index),
            LimitedQuantity::Rate(index),
            LimitedQuantity::Effort(driven),
        ];
        for (i, (min, max)) in axis.axis.limits.into_iter().enumerate() {
            if min.is_some() || max.is_some() {
                self.limits.push(Limit {
                    joint: name.joint.clone(),
                    quantity: quantities[i],
                    min: min.unwrap_or(f64::NEG_INFINITY),
                    max: max.unwrap_or(f64::INFINITY),
                    unit: units[i],
                });
            }
        }
    }

    fn add_turning(
        &mut self,
        name: &'a str,
        parent: End,
        child: End,
        frame: Matrix<f64>,
        translates: bool,
    ) {
        let index = self.joints.len();
        let count = if translates { 6 } else { 3 };
        let targets = (0..count).map(|i| Target::Component(index, i));
        self.components.insert(name.to_owned(), targets.collect());
        self.joints.push(MeshedJoint::Turning {
            joint: name.to_owned(),
            parent,
            child,
            frame,
            translates,
        });
    }

    /// An input of the model.
    pub(super) fn load(&self, input: &InputSpec) -> Result<Load, MeshError> {
        let none = || missing(input.joint.as_deref().unwrap_or("input"));
        let (mut quantity, profile) = input.load().ok_or_else(none)?;
        let curve = LoadCurve::new(&profile);
        if let Some(name) = &input.marker {
            let marker = self.markers.iter().find(|marker| marker.name == *name);
            let marker = marker.ok_or_else(|| missing(name))?;
            let direction = Vector(input.direction.ok_or_else(none)?);
            let unit = direction.scale(1.0 / direction.dot(direction).sqrt());
            let turns = quantity == LoadQuantity::Torque;
            let (what, unit_of) = if turns {
                ("torque", "N m")
            } else {
                ("force", "N")
            };
            return Ok(Load {
                channel: format!("{name}.applied_{what}"),
                unit: unit_of,
                target: Target::at_marker(marker, turns, unit, input.frame),
                curve,
                foreseen: Foreseen::of(input, 0.0),
            });
        }
        let name = input.joint.as_deref().ok_or_else(none)?;
        let joint = self.spec.find_joint(name).ok_or_else(none)?;
        let kind = joint.kind().ok_or_else(none)?;
        let components = self.components.get(name).ok_or_else(none)?;
        let at = input.component.saturating_sub(1);
        let target = components.get(at).ok_or_else(none)?.clone();
        if quantity == LoadQuantity::Either {
            quantity = if kind.translates(input.component) {
                LoadQuantity::Force
            } else {
                LoadQuantity::Torque
            };
        }
        let (what, unit) = match quantity {
            LoadQuantity::Torque => ("torque", "N m"),
            LoadQuantity::Force | LoadQuantity::Either => ("force", "N"),
        };
        let channel = if components.len() > 1 {
            format!("{name}.{}.{what}", input.component)
        } else {
            format!("{name}.{what}")
        };
        let position = match kind {
            JointKind::Revolute(revolute) => revolute.initial_angle_rad,
            JointKind::Prismatic(prismatic) => prismatic.initial_displacement_m,
            JointKind::Universal(universal) if input.component == 1 => {
                universal.first.initial_angle_rad
            }
            JointKind::Universal(universal) => universal.second.initial_angle_rad,
            _ => 0.0,
        };
        Ok(Load {
            channel,
            unit,
            target,
            curve,
            foreseen: Foreseen::of(input, position),
        })
    }
}

/// Quaternion of a rotation with the sign that is nearest to none.
pub(super) fn quaternion(rotation: &Matrix<f64>) -> [f64; 4] {
    Quaternion::of_matrix(rotation).0
}
