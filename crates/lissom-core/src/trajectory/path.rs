//! The path of a mechanism whose joints do not say their motion themselves: loops, and motions given at a marker.
//!
//! Positions solve the closures, the motions given at joints and those given at a marker all at once, by Newton's method
//! on all of these equations with the least residual (loops in a plane have equations too many). Rates and accelerations
//! follow from the same matrix.

use lissom_numerics::PivotedQr;
use lissom_spatial::{Vector, rotation_vector_of};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    Impulse, MarkerPathSpec, MotionProfile, MotionProfileSpec, OrientationMotionSpec, ShapingSpec,
};

use super::orientation::{OrientationCurve, OrientationPoint};
use super::rigid::{Order, RigidMechanism, RigidState};
use super::space_curve::SpaceCurve;
use super::{AxisCurve, NominalError, largest};
use crate::profile::{MotionCurve, MotionPoint};
use crate::view::MarkerId;

/// Correction in radians or metres after which Newton's method, which doubles its digits, has reached rounding.
const CONVERGED: f64 = 1e-11;
const MOST_ITERATIONS: usize = 20;
/// Violation that remains of equations that contradict each other, in radians or metres.
const CLOSED: f64 = 1e-9;
/// Correction of a prediction beyond which another branch may have been found.
const NEAR: f64 = 0.2;
/// Smallest part of the way from one instant to the next that is tried.
const SMALLEST_PART: f64 = 1.0 / 512.0;

/// How a marker would move if every body were rigid.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerPath {
    /// The marker.
    pub marker: MarkerId,
    /// The curve on which it stays, if it is one.
    pub path: Option<MarkerPathSpec>,
    /// Position along each axis of the ground, where it is given.
    pub position: [Option<MotionProfile>; 3],
    /// Unit vector, and the angle about it by which the marker's axes are turned from those of the ground.
    pub rotation: Option<(Vector<f64>, MotionProfile)>,
    /// The marker's axes in any way, instead.
    pub orientation: Option<OrientationMotionSpec>,
    /// Shares in which turns come one after the other, if they are shaped.
    pub impulses: Option<Vec<Impulse>>,
}

impl MarkerPath {
    /// The path of a marker of a model, if one is given; `find` finds it by its name.
    pub fn of(spec: &ModelSpec, find: impl FnOnce(&str) -> Option<MarkerId>) -> Option<Self> {
        let nominal = spec.nominal_motion.as_ref()?;
        let profile =
            |of: &Option<MotionProfileSpec>| of.as_ref().map(|of| spec.shaped(of.profile()));
        let axis = Vector(nominal.rotation_axis.unwrap_or([0.0, 0.0, 1.0])).unit();
        Some(Self {
            marker: find(&nominal.marker)?,
            path: nominal.path.clone(),
            position: [&nominal.x, &nominal.y, &nominal.z].map(profile),
            rotation: profile(&nominal.rotation).map(|profile| (axis, profile)),
            orientation: nominal.orientation.clone(),
            impulses: spec.shaping.as_ref().map(ShapingSpec::impulses),
        })
    }
}

/// Curves of a marker.
#[derive(Clone, Debug)]
struct MarkerCurves {
    marker: MarkerId,
    position: PositionCurves,
    orientation: Option<OrientationCurve>,
    /// Whether the orientation runs with the share of the way on a curve in space instead of time.
    turns_on_way: bool,
    jacobian: Vec<f64>,
}

/// How the position of a marker runs in time.
#[derive(Clone, Debug)]
enum PositionCurves {
    /// Each component for itself, where it is given.
    Components([Option<MotionCurve>; 3]),
    /// Along a curve in space, by the distance.
    OnWay {
        way: SpaceCurve,
        distance: MotionCurve,
    },
}

impl PositionCurves {
    /// Which components are given.
    fn components(&self) -> impl Iterator<Item = usize> {
        let given = match self {
            Self::Components(curves) => [0, 1, 2].map(|axis| curves[axis].is_some()),
            Self::OnWay { .. } => [true; 3],
        };
        (0..3).filter(move |axis| given[*axis])
    }

    /// Motion of the components.
    fn at(&self, time: f64) -> [MotionPoint; 3] {
        match self {
            Self::Components(curves) => [0, 1, 2].map(|axis| {
                let curve = curves[axis].as_ref();
                curve.map_or_else(MotionPoint::default, |curve| curve.at(time))
            }),
            Self::OnWay { way, distance } => way.along(distance.at(time)),
        }
    }

    /// Share of the way on a curve in space.
    fn share(&self, time: f64) -> MotionPoint {
        let Self::OnWay { way, distance } = self else {
            return MotionPoint::default();
        };
        let (point, length) = (distance.at(time), way.length());
        MotionPoint {
            position: point.position / length,
            rate: point.rate / length,
            acceleration: point.acceleration / length,
        }
    }
}

impl MarkerCurves {
    /// Profiles that do not say where they begin do so where the marker is.
    fn new(
        path: &MarkerPath,
        mechanism: &impl RigidMechanism,
        velocities: usize,
    ) -> Result<Self, NominalError> {
        let pose = mechanism.marker(path.marker);
        let position = if let Some(own) = &path.path {
            let way = SpaceCurve::new(own, pose.translation)?;
            let mut distance = own.distance.clone().ending_at(way.length()).profile();
            if let Some(impulses) = &path.impulses {
                distance = distance.in_shares(impulses);
            }
            let distance = MotionCurve::new(&distance, 0.0);
            PositionCurves::OnWay { way, distance }
        } else {
            PositionCurves::Components([0, 1, 2].map(|axis| {
                let profile = path.position[axis].as_ref()?;
                Some(MotionCurve::new(profile, pose.translation[axis]))
            }))
        };
        let rotation = path.rotation.as_ref().map(|(axis, profile)| {
            let turned = rotation_vector_of(&pose.rotation).dot(*axis);
            OrientationCurve::about(*axis, MotionCurve::new(profile, turned))
        });
        let any = path.orientation.as_ref();
        let turns_on_way =
            rotation.is_none() && any.is_some_and(OrientationMotionSpec::follows_path);
        let orientation = rotation.or_else(|| {
            any.map(|motion| OrientationCurve::new(motion, pose.rotation, path.impulses.as_deref()))
        });
        Ok(Self {
            marker: path.marker,
            position,
            orientation,
            turns_on_way,
            jacobian: vec![0.0; 6 * velocities],
        })
    }

    /// Number of its equations.
    fn rows(&self) -> usize {
        let turns = if self.orientation.is_some() { 3 } else { 0 };
        self.position.components().count() + turns
    }

    /// The orientation, if it is given.
    fn orientation(&self, time: f64) -> Option<OrientationPoint> {
        let curve = self.orientation.as_ref()?;
        Some(if self.turns_on_way {
            curve.along(self.position.share(time))
        } else {
            curve.at(time)
        })
    }

    fn breakpoints(&self) -> impl Iterator<Item = f64> {
        // along a way nothing jumps but what does so in time
        let in_time = self.orientation.iter().filter(|_| !self.turns_on_way);
        let orientation = in_time.flat_map(OrientationCurve::breakpoints);
        let position: Vec<&MotionCurve> = match &self.position {
            PositionCurves::Components(curves) => curves.iter().flatten().collect(),
            PositionCurves::OnWay { distance, .. } => vec![distance],
        };
        let position = position.into_iter();
        (position.flat_map(MotionCurve::breakpoints)).chain(orientation)
    }
}

/// Positions, rates and accelerations of all joints together.
#[derive(Clone, Debug)]
pub(super) struct Path {
    axes: Vec<AxisCurve>,
    marker: Option<MarkerCurves>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    qr: PivotedQr,
    step: Vec<f64>,
    /// The state to which a part of a way that led nowhere goes back.
    before: RigidState,
    /// The state to which the whole way goes back.
    beginning: RigidState,
}

/// Why a way leads nowhere.
#[derive(Clone, Debug)]
pub(super) struct Blocked {
    /// An instant on it that was sought in vain; nothing beyond it is reached either.
    pub(super) at: f64,
    /// The shortest part in which it was tried: shorter ways may still lead there.
    pub(super) part: f64,
    /// What was wrong there.
    pub(super) error: NominalError,
}

impl Path {
    /// The path of a mechanism that stands where the model has it start.
    pub(super) fn new(
        mechanism: &impl RigidMechanism,
        axes: Vec<AxisCurve>,
        marker: Option<&MarkerPath>,
        start: &RigidState,
    ) -> Result<Self, NominalError> {
        let n = start.velocity.len();
        let marker = marker.map(|marker| MarkerCurves::new(marker, mechanism, n));
        let marker = marker.transpose()?;
        let rows = marker.as_ref().map_or(0, MarkerCurves::rows);
        let m = mechanism.closures() + axes.len() + rows;
        Ok(Self {
            axes,
            marker,
            matrix: vec![0.0; m * n],
            right: vec![0.0; m],
            qr: PivotedQr::new(m, n),
            step: vec![0.0; n],
            before: start.clone(),
            beginning: start.clone(),
        })
    }

    /// Instants at which the curves it follows are not smooth.
    pub(super) fn breakpoints(&self) -> impl Iterator<Item = f64> {
        let marker = self.marker.iter().flat_map(MarkerCurves::breakpoints);
        let axes = self.axes.iter();
        axes.flat_map(|(_, curve)| curve.breakpoints())
            .chain(marker)
    }

    /// Solves for the state with which the path begins, on the branch on which the mechanism starts.
    pub(super) fn begin(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        time: f64,
    ) -> Result<(), NominalError> {
        self.close(mechanism, state, time, f64::INFINITY)
    }

    /// Moves `state` from one instant to another, in one part or, where that leads nowhere, in smaller ones. A way that leads
    /// nowhere in the end leaves it where it was.
    pub(super) fn follow(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        [from, until]: [f64; 2],
    ) -> Result<(), Blocked> {
        let (mut reached, mut done, mut part) = (from, 0.0_f64, 1.0_f64);
        self.beginning.copy(state);
        self.before.copy(state);
        loop {
            let goal = done + part;
            let next = if goal >= 1.0 {
                until
            } else {
                from + (until - from) * goal
            };
            match self.go(mechanism, state, next - reached, next) {
                Ok(()) if goal >= 1.0 => return Ok(()),
                Ok(()) => {
                    self.before.copy(state);
                    (reached, done, part) = (next, goal, 2.0 * part);
                }
                Err(error) => {
                    state.copy(&self.before);
                    part *= 0.5;
                    if part < SMALLEST_PART {
                        state.copy(&self.beginning);
                        // it has been there, and what is placed next is sought from wherever it is now
                        if mechanism.place(from, state).is_ok() {
                            mechanism.set_velocity(state);
                        }
                        let part = SMALLEST_PART * (until - from).abs();
                        return Err(Blocked {
                            at: next,
                            part,
                            error,
                        });
                    }
                }
            }
        }
    }

    /// Goes on by a time to an instant.
    fn go(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        way: f64,
        next: f64,
    ) -> Result<(), NominalError> {
        let rates = state.velocity.iter().zip(&state.acceleration);
        for (step, (rate, acceleration)) in self.step.iter_mut().zip(rates) {
            *step = way * (rate + 0.5 * way * acceleration);
        }
        mechanism.displace(&mut state.position, &self.step);
        self.close(mechanism, state, next, NEAR)
    }

    /// Solves for positions near those of `state`, then for rates and accelerations.
    fn close(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        time: f64,
        near: f64,
    ) -> Result<(), NominalError> {
        let mut corrected = 0.0;
        let mut iterations = 0;
        loop {
            mechanism.place(time, state)?;
            self.factor(mechanism)?;
            let apart = self.require_position(mechanism, time, state);
            self.qr.solve(&self.right, &mut self.step);
            let size = largest(self.step.iter().copied());
            corrected += size;
            iterations += 1;
            if !size.is_finite() || corrected > near || iterations > MOST_ITERATIONS {
                return Err(NominalError::Unreachable {
                    time_s: time,
                    apart,
                });
            }
            mechanism.displace(&mut state.position, &self.step);
            if size < CONVERGED {
                break;
            }
        }
        mechanism.place(time, state)?;
        self.factor(mechanism)?;
        let apart = self.require_position(mechanism, time, state);
        if apart.is_nan() || apart > CLOSED {
            return Err(NominalError::Unreachable {
                time_s: time,
                apart,
            });
        }
        self.require(mechanism, time, Order::Rate);
        self.qr.solve(&self.right, &mut state.velocity);
        mechanism.set_velocity(state);
        self.require(mechanism, time, Order::Acceleration);
        self.qr.solve(&self.right, &mut state.acceleration);
        Ok(())
    }

    /// Puts the rows of all equations together and factors them.
    fn factor(&mut self, mechanism: &mut impl RigidMechanism) -> Result<(), NominalError> {
        let n = self.step.len();
        let closed = mechanism.closure_equations().jacobian;
        let (closures, rest) = self.matrix.split_at_mut(closed.len());
        closures.copy_from_slice(closed);
        rest.fill(0.0);
        // where everything is prescribed nothing is left to solve for
        let mut rows = rest.chunks_exact_mut(n.max(1));
        for ((axis, _), row) in self.axes.iter().zip(&mut rows) {
            mechanism.write_axis_row(*axis, row);
        }
        if let Some(marker) = &mut self.marker {
            mechanism.write_marker_rows(marker.marker, &mut marker.jacobian);
            let turns = marker.orientation.iter().flat_map(|_| 0..3);
            let slides = marker.position.components().map(|axis| axis + 3);
            for (component, row) in slides.chain(turns).zip(rows) {
                row.copy_from_slice(&marker.jacobian[component * n..(component + 1) * n]);
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
    fn require_position(
        &mut self,
        mechanism: &impl RigidMechanism,
        time: f64,
        state: &RigidState,
    ) -> f64 {
        let mut right = self.right.iter_mut();
        let open = mechanism.closure_equations().residual;
        for (residual, right) in open.iter().zip(&mut right) {
            *right = -residual;
        }
        for ((axis, curve), right) in self.axes.iter().zip(&mut right) {
            *right = curve.at(time).position - mechanism.axis(*axis, state);
        }
        if let Some(marker) = &self.marker {
            let pose = mechanism.marker(marker.marker);
            let place = marker.position.at(time);
            for (axis, right) in marker.position.components().zip(&mut right) {
                *right = place[axis].position - pose.translation[axis];
            }
            if let Some(wanted) = marker.orientation(time) {
                let missing = wanted.rotation * pose.rotation.transpose();
                let missing = rotation_vector_of(&missing);
                for (right, missing) in right.zip(missing.0) {
                    *right = missing;
                }
            }
        }
        largest(self.right.iter().copied())
    }

    /// What the rows have to give of a derivative of the motion.
    fn require(&mut self, mechanism: &impl RigidMechanism, time: f64, order: Order) {
        let wanted = |point: MotionPoint| match order {
            Order::Rate => point.rate,
            Order::Acceleration => point.acceleration,
        };
        let mut right = self.right.iter_mut();
        let closures = mechanism.closure_equations();
        let moved = match order {
            Order::Rate => closures.drift,
            Order::Acceleration => Some(closures.bias),
        };
        for (closure, right) in (0..closures.residual.len()).zip(&mut right) {
            *right = moved.map_or(0.0, |moved| -moved[closure]);
        }
        for ((axis, curve), right) in self.axes.iter().zip(&mut right) {
            *right = wanted(curve.at(time)) - mechanism.axis_drift(*axis, order);
        }
        if let Some(marker) = &self.marker {
            let drift = mechanism.marker_drift(marker.marker, order);
            let place = marker.position.at(time);
            for (axis, right) in marker.position.components().zip(&mut right) {
                *right = wanted(place[axis]) - drift.linear[axis];
            }
            if let Some(point) = marker.orientation(time) {
                let turn = match order {
                    Order::Rate => point.angular_velocity,
                    Order::Acceleration => point.angular_acceleration,
                } - drift.angular;
                for (right, turn) in right.zip(turn.0) {
                    *right = turn;
                }
            }
        }
    }
}
