//! The course of a mechanism whose joints do not say their motion themselves: loops, and motions given at a marker.
//!
//! Positions solve the closures, the motions given at joints and those given at a marker all at once, by Newton's method
//! on all of these equations with the least residual (loops in a plane have equations too many). Rates and accelerations
//! follow from the same matrix.

use super::NominalError;
use super::qr::PivotedQr;
use crate::model::{Closure, ClosureEnd, ClosureKind, Model, Place, System};
use lissom_core::MotionCurve;
use lissom_spatial::{Motion, RotationVector, Vector, rotation_vector_of};
use lissom_tree::closure::Constraints;
use lissom_tree::tree::{
    FrameMotion, Kinematics, bias_accelerations, displace, frame_motion, marker_jacobian,
    marker_motion,
};

/// Correction in radians or metres after which Newton's method, which doubles its digits, has reached rounding.
pub(crate) const CONVERGED: f64 = 1e-11;
pub(crate) const MOST_ITERATIONS: usize = 20;
/// Violation that remains of equations that contradict each other, in radians or metres.
pub(crate) const CLOSED: f64 = 1e-9;
/// Correction of a prediction beyond which another branch may have been found.
pub(crate) const NEAR: f64 = 0.2;
/// Smallest part of the way from one instant to the next that is tried.
const SMALLEST_PART: f64 = 1.0 / 512.0;

/// Goes from one instant to another in one part or, where that leads nowhere, in smaller ones: `leg` goes on by a time to
/// an instant, `keep` and `back` keep where it has come and go back there. Returns the instant that was reached.
pub(crate) fn in_parts<S, E>(
    subject: &mut S,
    [from, until]: [f64; 2],
    leg: impl Fn(&mut S, f64, f64) -> Result<(), E>,
    keep: impl Fn(&mut S),
    back: impl Fn(&mut S),
) -> (f64, Result<(), E>) {
    let (mut reached, mut done, mut part) = (from, 0.0_f64, 1.0_f64);
    keep(subject);
    loop {
        let goal = done + part;
        let next = if goal >= 1.0 {
            until
        } else {
            from + (until - from) * goal
        };
        match leg(subject, next - reached, next) {
            Ok(()) if goal >= 1.0 => return (until, Ok(())),
            Ok(()) => {
                keep(subject);
                (reached, done, part) = (next, goal, 2.0 * part);
            }
            Err(error) => {
                back(subject);
                part *= 0.5;
                if part < SMALLEST_PART {
                    return (reached, Err(error));
                }
            }
        }
    }
}

/// Positions, rates and accelerations of all joints along the nominal motion.
#[derive(Clone, Debug)]
pub(super) struct Course {
    closures: Vec<Closure>,
    constraints: Constraints<f64>,
    /// Curve of every joint that has one, with its entries in the position and velocity vectors.
    joints: Vec<(MotionCurve, usize, usize)>,
    marker: Option<MarkerCourse>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    qr: PivotedQr,
    step: Vec<f64>,
    accelerations: Vec<Motion<f64>>,
    /// The instant of the state that the caller keeps; none before the first.
    time: Option<f64>,
    /// The state to which a way that led nowhere goes back.
    before: State,
}

/// What the caller keeps: the motion of the rigid mechanism at one instant.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
}

/// Motions given at a marker.
#[derive(Clone, Debug)]
struct MarkerCourse {
    body: usize,
    place: Place,
    position: Vec<(usize, MotionCurve)>,
    rotation: Option<(Vector<f64>, MotionCurve)>,
    jacobian: Vec<f64>,
    motion: FrameMotion<f64>,
}

impl Course {
    /// The course of `system`, the rigid form of the model's, from the given state.
    pub(super) fn new(
        model: &Model,
        system: &System,
        joints: Vec<(MotionCurve, usize, usize)>,
        start: &State,
    ) -> Self {
        let rigid = |end: &ClosureEnd| {
            let body = end.body.map(|k| &model.linkage.system.bodies()[k]);
            let flexible = body.and_then(|body| body.flexible.as_ref());
            ClosureEnd {
                body: end.body,
                place: end.place.clone().undeformed(flexible),
            }
        };
        let closures: Vec<Closure> = model
            .linkage
            .closures
            .iter()
            .map(|closure| Closure {
                from: rigid(&closure.from),
                to: rigid(&closure.to),
                ..closure.clone()
            })
            .filter(|closure| !kept_by_joints(system, closure, start))
            .collect();
        let constraints = Constraints::new(system, &closures);
        let marker = MarkerCourse::new(model, system, start);
        let n = system.velocity_count();
        let m = constraints.len() + joints.len() + marker.as_ref().map_or(0, MarkerCourse::rows);
        Self {
            closures,
            constraints,
            joints,
            marker,
            matrix: vec![0.0; m * n],
            right: vec![0.0; m],
            qr: PivotedQr::new(m, n),
            step: vec![0.0; n],
            accelerations: vec![Motion::zero(); system.bodies().len()],
            time: None,
            before: start.clone(),
        }
    }

    /// The curves it follows.
    pub(super) fn curves(&self) -> impl Iterator<Item = &MotionCurve> {
        let marker = self.marker.iter().flat_map(|marker| {
            let rotation = marker.rotation.iter().map(|(_, curve)| curve);
            marker
                .position
                .iter()
                .map(|(_, curve)| curve)
                .chain(rotation)
        });
        self.joints.iter().map(|(curve, ..)| curve).chain(marker)
    }

    /// Equations of the closures at the state last reached.
    pub(super) fn constraints(&self) -> &Constraints<f64> {
        &self.constraints
    }

    /// Moves `state` along the course to `time`; leaves `kinematics` prepared there.
    pub(super) fn follow(
        &mut self,
        system: &System,
        kinematics: &mut Kinematics<f64>,
        state: &mut State,
        time: f64,
    ) -> Result<(), NominalError> {
        let Some(from) = self.time else {
            self.close(system, kinematics, state, time, f64::INFINITY)?;
            self.time = Some(time);
            return Ok(());
        };
        if from == time {
            return Ok(());
        }
        let mut all = (&mut *self, kinematics, state);
        let leg =
            |(course, kinematics, state): &mut (&mut Self, &mut Kinematics<f64>, &mut State),
             way: f64,
             next: f64| {
                for ((step, rate), acceleration) in
                    (course.step.iter_mut().zip(&state.velocity)).zip(&state.acceleration)
                {
                    *step = way * (rate + 0.5 * way * acceleration);
                }
                displace(system, &mut state.position, &course.step);
                course.close(system, kinematics, state, next, NEAR)
            };
        let (reached, outcome) = in_parts(
            &mut all,
            [from, time],
            leg,
            |(course, _, state)| course.before.copy(state),
            |(course, _, state)| state.copy(&course.before),
        );
        self.time = Some(reached);
        outcome
    }

    /// Solves for positions near those of `state`, then for rates and accelerations.
    fn close(
        &mut self,
        system: &System,
        kinematics: &mut Kinematics<f64>,
        state: &mut State,
        time: f64,
        near: f64,
    ) -> Result<(), NominalError> {
        let mut corrected = 0.0;
        let mut iterations = 0;
        loop {
            self.prepare(system, kinematics, state);
            self.factor(kinematics, system)?;
            let apart = self.require_position(time, state);
            self.qr.solve(&self.right, &mut self.step);
            let size = self.step.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            corrected += size;
            iterations += 1;
            if !size.is_finite() || corrected > near || iterations > MOST_ITERATIONS {
                return Err(NominalError::Unreachable {
                    time_s: time,
                    apart,
                });
            }
            displace(system, &mut state.position, &self.step);
            if size < CONVERGED {
                break;
            }
        }
        self.prepare(system, kinematics, state);
        self.factor(kinematics, system)?;
        let apart = self.require_position(time, state);
        if apart.is_nan() || apart > CLOSED {
            return Err(NominalError::Unreachable {
                time_s: time,
                apart,
            });
        }
        self.require_rate(time);
        self.qr.solve(&self.right, &mut state.velocity);
        self.prepare(system, kinematics, state);
        self.require_acceleration(time);
        self.qr.solve(&self.right, &mut state.acceleration);
        Ok(())
    }

    /// Evaluates closures and marker at the state.
    fn prepare(&mut self, system: &System, kinematics: &mut Kinematics<f64>, state: &State) {
        let (position, velocity) = (&state.position, &state.velocity);
        kinematics.update(system, position, velocity);
        self.constraints
            .update(system, &self.closures, kinematics, position, velocity);
        if let Some(marker) = &mut self.marker {
            kinematics.update_poses(system);
            bias_accelerations(system, kinematics, &mut self.accelerations);
            marker.motion = frame_motion(
                system,
                kinematics,
                &self.accelerations,
                marker.body,
                &marker.place,
                position,
                velocity,
                &mut [],
            );
        }
    }

    /// Puts the rows of all equations together and factors them.
    fn factor(
        &mut self,
        kinematics: &Kinematics<f64>,
        system: &System,
    ) -> Result<(), NominalError> {
        let n = self.step.len();
        let closed = self.constraints.jacobian();
        let (closures, rest) = self.matrix.split_at_mut(closed.len());
        closures.copy_from_slice(closed);
        rest.fill(0.0);
        let mut rows = rest.chunks_exact_mut(n);
        for ((_, _, velocity), row) in self.joints.iter().zip(&mut rows) {
            row[*velocity] = 1.0;
        }
        if let Some(marker) = &mut self.marker {
            let point = marker.motion.pose.translation;
            let jacobian = &mut marker.jacobian;
            marker_jacobian(system, kinematics, marker.body, point, &[], jacobian);
            let turns = marker.rotation.iter().flat_map(|_| 0..3);
            let slides = marker.position.iter().map(|(axis, _)| axis + 3);
            for (component, row) in slides.chain(turns).zip(rows) {
                row.copy_from_slice(&jacobian[component * n..(component + 1) * n]);
            }
        }
        let matrix = &self.matrix;
        self.qr.factor(|i, j| matrix[i * n + j]);
        if self.qr.rank() < n {
            return Err(NominalError::Undetermined {
                left: n - self.qr.rank(),
            });
        }
        Ok(())
    }

    /// What is missing in every equation; returns the largest of it.
    fn require_position(&mut self, time: f64, state: &State) -> f64 {
        let mut right = self.right.iter_mut();
        for (residual, right) in self.constraints.residual().iter().zip(&mut right) {
            *right = -residual;
        }
        for ((curve, position, _), right) in self.joints.iter().zip(&mut right) {
            *right = curve.at(time).position - state.position[*position];
        }
        if let Some(marker) = &self.marker {
            let pose = &marker.motion.pose;
            for ((axis, curve), right) in marker.position.iter().zip(&mut right) {
                *right = curve.at(time).position - pose.translation[*axis];
            }
            if let Some((axis, curve)) = &marker.rotation {
                let wanted = RotationVector::new(axis.scale(curve.at(time).position)).matrix();
                let missing = rotation_vector_of(&(wanted * pose.rotation.transpose()));
                for (right, missing) in right.zip(missing.0) {
                    *right = missing;
                }
            }
        }
        self.right.iter().fold(0.0, |most: f64, x| {
            if x.is_nan() {
                f64::NAN
            } else {
                most.max(x.abs())
            }
        })
    }

    fn require_rate(&mut self, time: f64) {
        let mut right = self.right.iter_mut();
        for right in (&mut right).take(self.constraints.len()) {
            *right = 0.0;
        }
        for ((curve, ..), right) in self.joints.iter().zip(&mut right) {
            *right = curve.at(time).rate;
        }
        if let Some(marker) = &self.marker {
            for ((_, curve), right) in marker.position.iter().zip(&mut right) {
                *right = curve.at(time).rate;
            }
            if let Some((axis, curve)) = &marker.rotation {
                for (right, turn) in right.zip(axis.scale(curve.at(time).rate).0) {
                    *right = turn;
                }
            }
        }
    }

    fn require_acceleration(&mut self, time: f64) {
        let mut right = self.right.iter_mut();
        for (bias, right) in self.constraints.bias().iter().zip(&mut right) {
            *right = -bias;
        }
        for ((curve, ..), right) in self.joints.iter().zip(&mut right) {
            *right = curve.at(time).acceleration;
        }
        if let Some(marker) = &self.marker {
            // derivatives of components in the frame itself become those in ground axes
            let (pose, twist, bias) = (marker.motion.pose, marker.motion.twist, marker.motion.bias);
            let linear = pose.rotation * (bias.linear + twist.angular.cross(twist.linear));
            let angular = pose.rotation * bias.angular;
            for ((axis, curve), right) in marker.position.iter().zip(&mut right) {
                *right = curve.at(time).acceleration - linear[*axis];
            }
            if let Some((axis, curve)) = &marker.rotation {
                let turn = axis.scale(curve.at(time).acceleration) - angular;
                for (right, turn) in right.zip(turn.0) {
                    *right = turn;
                }
            }
        }
    }
}

impl State {
    fn copy(&mut self, other: &Self) {
        self.position.copy_from_slice(&other.position);
        self.velocity.copy_from_slice(&other.velocity);
        self.acceleration.copy_from_slice(&other.acceleration);
    }
}

impl MarkerCourse {
    fn new(model: &Model, system: &System, start: &State) -> Option<Self> {
        let nominal = model.nominal_motion.as_ref()?;
        let marker = &model.linkage.markers[nominal.marker];
        let body = marker.body?;
        let flexible = model.linkage.system.bodies()[body].flexible.as_ref();
        let place = marker.place.clone().undeformed(flexible);
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, &start.position, &start.velocity);
        kinematics.update_poses(system);
        let pose = marker_motion(
            system,
            &kinematics,
            body,
            &place,
            &start.position,
            &start.velocity,
            &mut [],
        )
        .pose;
        // profiles that do not say where they begin do so where the marker is
        let position = nominal.position.iter().enumerate();
        Some(Self {
            body,
            position: position
                .filter_map(|(axis, profile)| {
                    let curve = MotionCurve::new(profile.as_ref()?, pose.translation[axis]);
                    Some((axis, curve))
                })
                .collect(),
            rotation: nominal.rotation.as_ref().map(|(axis, profile)| {
                let turned = rotation_vector_of(&pose.rotation).dot(*axis);
                (*axis, MotionCurve::new(profile, turned))
            }),
            motion: FrameMotion::fixed(place.offset()),
            place,
            jacobian: vec![0.0; 6 * system.velocity_count()],
        })
    }

    /// Number of its equations.
    fn rows(&self) -> usize {
        self.position.len() + if self.rotation.is_some() { 3 } else { 0 }
    }
}

/// Whether a closure that slides along a beam is one that the joints keep by themselves where all bodies are rigid, as a
/// carriage keeps a boom in its sleeve: nothing they can do changes its equations, at a configuration like any other. It
/// says nothing of the nominal motion then, and where it bends the beam from the start no rigid motion could keep it.
fn kept_by_joints(system: &System, closure: &Closure, start: &State) -> bool {
    // rounding of rows whose entries are one or a length
    const NOTHING: f64 = 1e-9;
    let (ClosureKind::OnBeam { .. } | ClosureKind::AlongBeam { .. }) = closure.kind else {
        return false;
    };
    let n = system.velocity_count();
    let mut position = start.position.clone();
    // radians or metres, no two alike
    let elsewhere: Vec<f64> = (0..n).map(|i| 0.1 + 0.07 / (i + 1) as f64).collect();
    displace(system, &mut position, &elsewhere);
    let at_rest = vec![0.0; n];
    let closures = std::slice::from_ref(closure);
    let mut kinematics = Kinematics::new(system);
    let mut constraints = Constraints::new(system, closures);
    kinematics.update(system, &position, &at_rest);
    constraints.update(system, closures, &mut kinematics, &position, &at_rest);
    let reach = constraints.reach().max(1.0);
    (constraints.jacobian().iter()).all(|entry| entry.abs() < NOTHING * reach)
}
