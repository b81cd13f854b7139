//! [`TreeView`]: a tree in a state of motion, as actions see it.

use crate::model::{AxisPlace, Places};
use lissom_core::{AxisId, GaugeId, JointId, JointMotion, MarkerId, MarkerMotion, View};
use lissom_spatial::{Force, Motion, Quaternion, Real, Vector};
use lissom_tree::tree::{InverseDynamics, Kinematics, apply_wrench, marker_motion, specific_force};
use lissom_tree::{Marker, System};

/// A tree in a state of motion. Forces on joints and motors go into `force` and `motor_force`, those at markers into the
/// kinematics.
pub(super) struct TreeView<'a, T> {
    pub(super) system: &'a System,
    pub(super) places: &'a Places,
    pub(super) markers: &'a [Marker],
    pub(super) position: &'a [T],
    pub(super) velocity: &'a [T],
    /// Positions and rates of the motors behind elastic gears.
    pub(super) motors: [&'a [T]; 2],
    pub(super) kinematics: &'a mut Kinematics<T>,
    pub(super) force: &'a mut [T],
    pub(super) motor_force: &'a mut [T],
    /// The influence of elastic coordinates on a marker, and that marker with its place.
    pub(super) influence: &'a mut [Motion<T>],
    pub(super) at: Option<(MarkerId, Vector<T>)>,
    /// Whether the poses of the kinematics are those of the state.
    pub(super) posed: bool,
    /// Accelerations, and those of the bodies, where they are known.
    pub(super) accelerations: Option<(&'a [T], &'a InverseDynamics<T>)>,
}

impl<T: Real> View<T> for TreeView<'_, T> {
    #[inline(always)]
    fn axis(&self, AxisId(axis): AxisId) -> [T; 2] {
        match self.places.axes[axis].place {
            AxisPlace::Joint {
                position, velocity, ..
            } => [self.position[position], self.velocity[velocity]],
            AxisPlace::Motor(motor) => self.motors.map(|motors| motors[motor]),
        }
    }

    #[inline(always)]
    fn push_axis(&mut self, AxisId(axis): AxisId, effort: T) {
        match self.places.axes[axis].place {
            AxisPlace::Joint { velocity, .. } => self.force[velocity] += effort,
            AxisPlace::Motor(motor) => self.motor_force[motor] += effort,
        }
    }

    fn joint(&self, JointId(joint): JointId) -> JointMotion<T> {
        let joint = &self.places.joints[joint];
        let (q, v) = (&self.position[joint.quaternion()..], joint.velocity);
        let three = |from: &[T]| Vector([from[0], from[1], from[2]]);
        let [position, velocity] = if joint.translates {
            [&self.position[joint.position..], &self.velocity[v + 3..]].map(three)
        } else {
            [Vector::zero(); 2]
        };
        JointMotion {
            rotation: Quaternion([q[0], q[1], q[2], q[3]]).matrix(),
            position,
            angular_velocity: three(&self.velocity[v..]),
            velocity,
        }
    }

    fn push_joint(&mut self, JointId(joint): JointId, wrench: Force<T>) {
        let joint = &self.places.joints[joint];
        for i in 0..3 {
            self.force[joint.velocity + i] += wrench.moment[i];
            if joint.translates {
                self.force[joint.velocity + 3 + i] += wrench.force[i];
            }
        }
    }

    fn strain(&self, GaugeId(gauge): GaugeId) -> T {
        self.places.gauges[gauge].strain(self.position)
    }

    fn marker(&mut self, id: MarkerId) -> MarkerMotion<T> {
        let marker = &self.markers[id.0];
        let Some(body) = marker.body else {
            return MarkerMotion::still(lissom_spatial::Transform::constant(marker.place.offset()));
        };
        if !self.posed {
            self.kinematics.update_poses(self.system);
            self.posed = true;
        }
        let motion = marker_motion(
            self.system,
            self.kinematics,
            body,
            &marker.place,
            self.position,
            self.velocity,
            self.influence,
        );
        self.at = Some((id, motion.pose.translation));
        MarkerMotion {
            pose: motion.pose,
            twist: motion.twist,
            deflection: motion.deflection,
            deflection_rate: motion.deflection_rate,
        }
    }

    fn specific_force(&mut self, MarkerId(marker): MarkerId) -> Option<Vector<T>> {
        let (acceleration, inverse) = self.accelerations?;
        let marker = &self.markers[marker];
        let Some(body) = marker.body else {
            return Some(-Vector::constant(self.system.gravity().0));
        };
        Some(specific_force(
            self.system,
            (self.kinematics, inverse),
            body,
            &marker.place,
            [self.position, self.velocity, acceleration],
            self.influence,
        ))
    }

    fn push_marker(&mut self, marker: MarkerId, wrench: Force<T>) {
        let point = match self.at {
            Some((at, point)) if at == marker => point,
            _ => self.marker(marker).pose.translation,
        };
        if let Some(body) = self.markers[marker.0].body {
            let (system, influence) = (self.system, &*self.influence);
            apply_wrench(system, self.kinematics, body, point, influence, wrench);
        }
    }
}
