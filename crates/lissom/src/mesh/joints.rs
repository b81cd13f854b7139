//! Joints of a model as hinges, sliders and degrees of freedom of nodes.

use super::MeshedJoint;
use super::build::{Builder, missing};
use super::{Foreseen, Load, MeshError, Target};
use crate::model::spec::{
    InputSpec, JointKind, LoadQuantity, MotionSpec, PrismaticSpec, RevoluteSpec,
};
use crate::model::{Limit, LimitedQuantity, Resistance};
use crate::nodal::{ElementId, End, Role};
use crate::simulate::{LoadCurve, MotionCurve};
use crate::spatial::{Matrix, Quaternion, RotationVector, Vector};

/// Where something stands and how it turns at the start, relative to assembly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Rotation from assembly to start.
    pub(super) turn: Matrix<f64>,
    /// Angular velocity in inertial components.
    pub(super) spin: Vector<f64>,
}

/// One degree of freedom of a joint, whether it turns or slides.
struct Axis<'s> {
    joint: &'s str,
    suffix: &'static str,
    /// Counted from 1.
    component: usize,
    translates: bool,
    position: f64,
    rate: f64,
    resistance: Resistance,
    rotor: f64,
    /// Limits of position, rate and effort.
    limits: [(Option<f64>, Option<f64>); 3],
}

fn both_ways(most: Option<f64>) -> (Option<f64>, Option<f64>) {
    (most.map(|most| -most), most)
}

impl<'s> Axis<'s> {
    fn revolute(
        spec: &RevoluteSpec,
        joint: &'s str,
        suffix: &'static str,
        component: usize,
    ) -> Self {
        let (spring, friction) = (
            spec.spring.unwrap_or_default(),
            spec.friction.unwrap_or_default(),
        );
        let limits = spec.limits.unwrap_or_default();
        Self {
            joint,
            suffix,
            component,
            translates: false,
            position: spec.initial_angle_rad,
            rate: spec.initial_rate_rad_per_s,
            resistance: Resistance {
                stiffness: spring.stiffness_n_m_per_rad,
                rest: spring.rest_angle_rad,
                viscous: spring.damping_n_m_s_per_rad + friction.viscous_n_m_s_per_rad,
                coulomb: friction.coulomb_n_m,
                coulomb_rate: friction.coulomb_rate_rad_per_s,
            },
            rotor: spec.motor.map_or(0.0, |motor| {
                motor.inertia_kg_m2 * motor.gear_ratio * motor.gear_ratio
            }),
            limits: [
                (limits.min_rad, limits.max_rad),
                both_ways(limits.max_rate_rad_per_s),
                both_ways(limits.max_torque_n_m),
            ],
        }
    }

    fn prismatic(spec: &PrismaticSpec, joint: &'s str) -> Self {
        let (spring, friction) = (
            spec.spring.unwrap_or_default(),
            spec.friction.unwrap_or_default(),
        );
        let limits = spec.limits.unwrap_or_default();
        Self {
            joint,
            suffix: "displacement",
            component: 1,
            translates: true,
            position: spec.initial_displacement_m,
            rate: spec.initial_rate_m_per_s,
            resistance: Resistance {
                stiffness: spring.stiffness_n_per_m,
                rest: spring.rest_displacement_m,
                viscous: spring.damping_n_s_per_m + friction.viscous_n_s_per_m,
                coulomb: friction.coulomb_n,
                coulomb_rate: friction.coulomb_rate_m_per_s,
            },
            rotor: spec.motor.map_or(0.0, |motor| {
                motor.inertia_kg_m2 * motor.gear_ratio_rad_per_m * motor.gear_ratio_rad_per_m
            }),
            limits: [
                (limits.min_m, limits.max_m),
                both_ways(limits.max_rate_m_per_s),
                both_ways(limits.max_force_n),
            ],
        }
    }
}

impl<'a> Builder<'a> {
    /// The end that a joint carries, made of the end that carries it, and its start.
    pub(super) fn across(
        &mut self,
        name: &'a str,
        kind: JointKind<'_>,
        carrier: End,
        frame: Matrix<f64>,
        start: Start,
    ) -> (End, Start) {
        match kind {
            JointKind::Fixed => (carrier, start),
            JointKind::Revolute(revolute) => {
                let axis = Axis::revolute(revolute, name, "angle", 1);
                let end = self.hinge(&axis, name, carrier, frame, revolute.axis);
                (
                    end,
                    self.turned(start, &axis, frame * Vector(revolute.axis)),
                )
            }
            JointKind::Universal(universal) => {
                let first = Axis::revolute(&universal.first, name, "angle_1", 1);
                let label = format!("{name}.first");
                let cross = self.hinge(&first, &label, carrier, frame, universal.first.axis);
                let start = self.turned(start, &first, frame * Vector(universal.first.axis));
                let second = Axis::revolute(&universal.second, name, "angle_2", 2);
                let label = format!("{name}.second");
                let end = self.hinge(&second, &label, cross, frame, universal.second.axis);
                let axis = frame * Vector(universal.second.axis);
                (end, self.turned(start, &second, axis))
            }
            JointKind::Prismatic(prismatic) => {
                let axis = Axis::prismatic(prismatic, name);
                let at = self.assembly.position(carrier.point);
                let point = self.assembly.point(&format!("{name}.point"), at.0);
                let direction = frame * Vector(prismatic.axis);
                let across = Vector(super::build::least_along(direction));
                let slider = self
                    .assembly
                    .slider(name, carrier, point, direction.0, across.0);
                self.add_axis(&axis, slider);
                let end = End {
                    point,
                    orientation: carrier.orientation,
                };
                (end, start)
            }
            JointKind::Spherical(spherical) => {
                let orientation = self
                    .assembly
                    .orientation(&format!("{name}.attitude"), &Matrix::identity());
                self.assembly.set_node(orientation, Role::Dof);
                let child = End {
                    point: carrier.point,
                    orientation,
                };
                let turn = RotationVector::new(Vector(spherical.initial_rotation_vector_rad));
                let turn = start.turn * frame * turn.matrix() * frame.transpose();
                let spin = Vector(spherical.initial_angular_velocity_rad_per_s);
                let spin = start.spin + turn * (frame * spin);
                self.add_turning(name, carrier, child, frame, false);
                self.turning_starts.push((orientation, turn, spin));
                (child, Start { turn, spin })
            }
            JointKind::Free(free) => {
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

    fn hinge(
        &mut self,
        axis: &Axis<'a>,
        label: &str,
        carrier: End,
        frame: Matrix<f64>,
        direction: [f64; 3],
    ) -> End {
        let orientation = self
            .assembly
            .orientation(&format!("{label}.attitude"), &Matrix::identity());
        let direction = frame * Vector(direction);
        let hinge = self
            .assembly
            .hinge(label, carrier.orientation, orientation, direction.0);
        self.add_axis(axis, hinge);
        End {
            point: carrier.point,
            orientation,
        }
    }

    /// Start of what a hinge carries, whose axis at assembly is `axis`.
    fn turned(&self, start: Start, axis: &Axis<'_>, direction: Vector<f64>) -> Start {
        let unit = direction.scale(1.0 / direction.dot(direction).sqrt());
        let (angle, rate) = match self.motion_of(axis) {
            Some(curve) => {
                let point = curve.at(self.spec.simulation.start_s);
                (point.position, point.rate)
            }
            None => (axis.position, axis.rate),
        };
        Start {
            spin: start.spin + start.turn * unit.scale(rate),
            turn: start.turn * RotationVector::new(unit.scale(angle)).matrix(),
        }
    }

    fn motion_of(&self, axis: &Axis<'_>) -> Option<MotionCurve> {
        let drives =
            |motion: &&MotionSpec| motion.joint == axis.joint && motion.component == axis.component;
        let motion = self.spec.motion.iter().find(drives)?;
        Some(MotionCurve::new(&motion.profile()?, axis.position))
    }

    /// Notes a hinge or slider as an axis of a joint, with all that belongs to it.
    fn add_axis(&mut self, axis: &Axis<'a>, element: ElementId) {
        let index = self.joints.len();
        let components = self.components.entry(axis.joint).or_default();
        components.push(Target::Axis(index));
        self.joints.push(MeshedJoint::Axis {
            coordinate: format!("{}.{}", axis.joint, axis.suffix),
            translates: axis.translates,
            element,
            deformation: 0,
        });
        if let Some(curve) = self.motion_of(axis) {
            self.assembly.set_deformation(element, 0, Role::Prescribed);
            let (what, unit) = if axis.translates {
                ("force", "N")
            } else {
                ("torque", "N m")
            };
            self.motions.push(curve);
            self.drive_channels
                .push((format!("{}.driving_{what}", axis.joint), unit));
        } else {
            self.assembly.set_deformation(element, 0, Role::Actuated);
            self.axis_starts.push((element, axis.position, axis.rate));
        }
        let mut law = axis.resistance;
        if law.stiffness > 0.0 {
            let damping_time = law.viscous / law.stiffness;
            self.assembly
                .set_spring(element, 0, law.stiffness, damping_time);
            self.assembly.set_rest(element, 0, law.rest);
            (law.stiffness, law.viscous) = (0.0, 0.0);
        }
        if !law.is_none() {
            self.drags.push((element, law));
        }
        self.assembly.set_rotor(element, axis.rotor);
        let units = if axis.translates {
            ["m", "m/s", "N"]
        } else {
            ["rad", "rad/s", "N m"]
        };
        let quantities = [
            LimitedQuantity::Position(index),
            LimitedQuantity::Rate(index),
            LimitedQuantity::Effort(index),
        ];
        for (i, (min, max)) in axis.limits.into_iter().enumerate() {
            if min.is_some() || max.is_some() {
                self.limits.push(Limit {
                    joint: axis.joint.to_owned(),
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
        self.components.insert(name, targets.collect());
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
