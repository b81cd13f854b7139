//! The rigid motion of a mesh, every deformation at zero: its joints move along the nominal motion of their inputs, as
//! prescribed, as a marker on its path takes them, or are held where they start.
//!
//! A marker's path is followed by Newton's method in the actuated degrees of freedom that say no motion of their own, from
//! where the mechanism starts; rates and accelerations follow from the same matrix, the marker's first-order transfer
//! function.

use crate::simulate::course::{CLOSED, CONVERGED, MOST_ITERATIONS, NEAR, in_parts};
use crate::simulate::{MotionCurve, MotionPoint, NominalError, PivotedQr};
use lissom_nodal::{Drive, Equations, NodalError, NodeId, NodeKind};
use lissom_spatial::{Matrix, RotationVector, Vector, rotation_vector_of};

use super::guidance::LedMarker;
use super::{Mesh, MeshError};
use lissom_core::AxisId;

/// Corrections of the place where a path begins, in radians or metres, beyond which it is out of reach.
const FARTHEST_START: f64 = std::f64::consts::TAU;

pub(super) fn drive(point: MotionPoint) -> Drive {
    Drive {
        value: point.position,
        rate: point.rate,
        acceleration: point.acceleration,
    }
}

/// The rigid motion of a mesh at an instant.
#[derive(Clone, Debug)]
pub(super) struct Course<'m> {
    mesh: &'m Mesh,
    pub(super) equations: Equations<'m>,
    /// Degree of freedom and motion of every axis that says its own or is held.
    curves: Vec<(usize, MotionCurve)>,
    led: Option<Led>,
    drives: Vec<Drive>,
    pub(super) state: State,
    before: State,
    /// Instant that a marker has been followed to.
    reached: Option<f64>,
    /// Instant at which the equations stand with that state.
    time: Option<f64>,
}

/// Motion of the degrees of freedom.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
}

impl State {
    fn copy(&mut self, other: &Self) {
        self.position.copy_from_slice(&other.position);
        self.velocity.copy_from_slice(&other.velocity);
        self.acceleration.copy_from_slice(&other.acceleration);
    }
}

impl<'m> Course<'m> {
    /// The course of a mesh.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular where it is assembled or cannot be placed where it starts.
    pub(super) fn new(mesh: &'m Mesh) -> Result<Self, NodalError> {
        let mechanism = &mesh.mechanism;
        let dofs = mechanism.dof_count();
        let actuated = mechanism.actuated_dofs();
        let guided = mesh.led.as_ref();
        let (mut curves, mut unknown) = (Vec::new(), Vec::new());
        let mut position = mechanism.assembled_position();
        // along the nominal motion a motor turns with its joint
        let drive_of = |axis: AxisId| {
            let gear = mesh.actions.gears.iter().find(|gear| gear.joint == axis);
            gear.map_or(axis, |gear| gear.motor)
        };
        let joint_of = |axis: AxisId| {
            let gear = mesh.actions.gears.iter().find(|gear| gear.motor == axis);
            gear.map_or(axis, |gear| gear.joint)
        };
        for axis in (0..mesh.axes.len()).map(AxisId) {
            let Some(dof) = mesh.axis_dof(axis) else {
                continue;
            };
            let at = mechanism.dof_positions(dof).start;
            position[at] = mesh.initial_position[at];
            let joint = joint_of(axis);
            let driven = drive_of(joint);
            let own = mesh.actions.loads.iter().find_map(|load| {
                let profile = load.nominal_motion()??;
                (load.target.axis() == Some(driven)).then_some(profile)
            });
            match own {
                Some(profile) => curves.push((dof, MotionCurve::new(profile, position[at]))),
                None if guided.is_some() && actuated.contains(&dof) => unknown.push((dof, at)),
                None => curves.push((dof, MotionCurve::held(position[at]))),
            }
        }
        // nodes whose coordinates are degrees of freedom count as held where they start
        for node in (0..mechanism.node_count()).filter_map(|index| mechanism.node(index)) {
            for component in 0..3 {
                if let Some(dof) = mechanism.coordinate_dof(node, component) {
                    let at = mechanism.dof_positions(dof);
                    position[at.clone()].copy_from_slice(&mesh.initial_position[at]);
                }
            }
        }
        let mut drives = mechanism.assembled_drives();
        for (target, curve) in drives.iter_mut().zip(&mesh.motions) {
            *target = drive(curve.at(mesh.start_s));
        }
        let mut equations = Equations::new(mechanism)?;
        equations.place(&position, &drives)?;
        let led = guided.map(|led| Led::new(led, unknown, &equations));
        let state = State {
            position,
            velocity: vec![0.0; dofs],
            acceleration: vec![0.0; dofs],
        };
        Ok(Self {
            mesh,
            equations,
            curves,
            led,
            drives,
            before: state.clone(),
            state,
            reached: None,
            time: None,
        })
    }

    /// The curves that it follows.
    pub(super) fn curves(&self) -> impl Iterator<Item = &MotionCurve> {
        let led = self.led.iter().flat_map(Led::curves);
        self.curves.iter().map(|(_, curve)| curve).chain(led)
    }

    /// Moves the mechanism to an instant; returns whether it had to move.
    ///
    /// # Errors
    ///
    /// When no motion of the joints takes the marker along its path, or at a singular configuration.
    pub(super) fn update(&mut self, time: f64) -> Result<bool, MeshError> {
        if self.time == Some(time) {
            return Ok(false);
        }
        self.time = None;
        if self.led.is_none() {
            self.reach(time, f64::INFINITY)?;
        } else {
            if self.reached.is_none() {
                // the branch is the one on which the mechanism starts
                let start = self.mesh.start_s;
                self.reach(start, FARTHEST_START)?;
                self.reached = Some(start);
            }
            self.follow(time)?;
        }
        self.time = Some(time);
        Ok(true)
    }

    /// Goes along the path from the instant last reached.
    fn follow(&mut self, time: f64) -> Result<(), MeshError> {
        let from = self.reached.unwrap_or(time);
        let leg = |course: &mut Self, way: f64, next: f64| {
            if let Some(led) = &course.led {
                let state = &mut course.state;
                for &(dof, at) in &led.unknown {
                    let (rate, change) = (state.velocity[dof], state.acceleration[dof]);
                    state.position[at] += way * (rate + 0.5 * way * change);
                }
            }
            course.reach(next, NEAR)
        };
        let (reached, outcome) = in_parts(
            self,
            [from, time],
            leg,
            |course| course.before.copy(&course.state),
            |course| course.state.copy(&course.before),
        );
        self.reached = Some(reached);
        outcome
    }

    /// Solves for the motion at an instant, near the state.
    fn reach(&mut self, time: f64, near: f64) -> Result<(), MeshError> {
        for (target, curve) in self.drives.iter_mut().zip(&self.mesh.motions) {
            *target = drive(curve.at(time));
        }
        let state = &mut self.state;
        for (dof, curve) in &self.curves {
            let point = curve.at(time);
            state.position[self.mesh.mechanism.dof_positions(*dof).start] = point.position;
            state.velocity[*dof] = point.rate;
            state.acceleration[*dof] = point.acceleration;
        }
        let equations = &mut self.equations;
        if let Some(led) = &mut self.led {
            return led.close(equations, state, &self.drives, time, near);
        }
        equations.place(&state.position, &self.drives)?;
        equations.set_velocity(&state.velocity, &self.drives);
        equations.set_acceleration(&state.acceleration, &self.drives);
        Ok(())
    }
}

/// A marker on its path, and the degrees of freedom that follow it.
#[derive(Clone, Debug)]
struct Led {
    /// Degree of freedom, and its place in the position vector.
    unknown: Vec<(usize, usize)>,
    /// Node, axis and curve of every component of the position that is given.
    slides: Vec<(NodeId, usize, MotionCurve)>,
    turn: Option<Turn>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    step: Vec<f64>,
    qr: PivotedQr,
}

#[derive(Clone, Debug)]
struct Turn {
    node: NodeId,
    /// Attitude of the marker where its node is unturned.
    attitude: Matrix<f64>,
    /// Unit vector.
    axis: Vector<f64>,
    /// Whether it turns about z only.
    planar: bool,
    curve: MotionCurve,
}

impl Turn {
    /// Angle about the axis.
    fn angle(&self, equations: &Equations<'_>) -> f64 {
        if self.planar {
            return equations.angle(self.node);
        }
        let attitude = equations.node(self.node).rotation * self.attitude;
        rotation_vector_of(&attitude).dot(self.axis)
    }

    /// Components of its equations.
    fn components(&self) -> std::ops::Range<usize> {
        if self.planar { 2..3 } else { 0..3 }
    }
}

impl Led {
    /// Of a mechanism that stands where the path begins for profiles that do not say so themselves.
    fn new(marker: &LedMarker, unknown: Vec<(usize, usize)>, equations: &Equations<'_>) -> Self {
        let mut slides = Vec::new();
        for (axis, profile) in marker.position.iter().enumerate() {
            if let (Some(point), Some(profile)) = (marker.point, profile) {
                let initial = equations.node(point).position[axis];
                slides.push((point, axis, MotionCurve::new(profile, initial)));
            }
        }
        let turn = match (&marker.rotation, marker.orientation) {
            (Some((axis, profile)), Some((node, attitude))) => {
                let kind = equations.mechanism().node_kind(node);
                let mut turn = Turn {
                    node,
                    attitude,
                    axis: *axis,
                    planar: kind == NodeKind::PlanarAngle,
                    curve: MotionCurve::held(0.0),
                };
                turn.curve = MotionCurve::new(profile, turn.angle(equations));
                Some(turn)
            }
            _ => None,
        };
        let turns = turn.as_ref().map_or(0, |turn| turn.components().len());
        let (m, n) = (slides.len() + turns, unknown.len());
        Self {
            slides,
            turn,
            matrix: vec![0.0; m * n],
            right: vec![0.0; m],
            step: vec![0.0; n],
            qr: PivotedQr::new(m, n),
            unknown,
        }
    }

    fn curves(&self) -> impl Iterator<Item = &MotionCurve> {
        let turn = self.turn.iter().map(|turn| &turn.curve);
        self.slides.iter().map(|(_, _, curve)| curve).chain(turn)
    }

    /// Solves for positions near those of `state`, then for rates and accelerations.
    fn close(
        &mut self,
        equations: &mut Equations<'_>,
        state: &mut State,
        drives: &[Drive],
        time: f64,
        near: f64,
    ) -> Result<(), MeshError> {
        let unreachable = |apart: f64| NominalError::Unreachable {
            time_s: time,
            apart,
        };
        let mut corrected = 0.0;
        let mut iterations = 0;
        loop {
            equations.place(&state.position, drives)?;
            self.factor(equations)?;
            let apart = self.require_position(equations, time);
            self.qr.solve(&self.right, &mut self.step);
            let size = self.step.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            corrected += size;
            iterations += 1;
            if !size.is_finite() || corrected > near || iterations > MOST_ITERATIONS {
                return Err(unreachable(apart).into());
            }
            for (&(_, at), step) in self.unknown.iter().zip(&self.step) {
                state.position[at] += step;
            }
            if size < CONVERGED {
                break;
            }
        }
        equations.place(&state.position, drives)?;
        self.factor(equations)?;
        let apart = self.require_position(equations, time);
        if apart.is_nan() || apart > CLOSED {
            return Err(unreachable(apart).into());
        }
        // what the marker does beyond what the others make it do is left to the unknowns
        for &(dof, _) in &self.unknown {
            (state.velocity[dof], state.acceleration[dof]) = (0.0, 0.0);
        }
        equations.set_velocity(&state.velocity, drives);
        self.require(equations, time, |point| point.rate, |node| node.velocity);
        self.qr.solve(&self.right, &mut self.step);
        for (&(dof, _), rate) in self.unknown.iter().zip(&self.step) {
            state.velocity[dof] = *rate;
        }
        equations.set_velocity(&state.velocity, drives);
        equations.set_acceleration(&state.acceleration, drives);
        self.require(
            equations,
            time,
            |point| point.acceleration,
            |node| node.acceleration,
        );
        self.qr.solve(&self.right, &mut self.step);
        for (&(dof, _), change) in self.unknown.iter().zip(&self.step) {
            state.acceleration[dof] = *change;
        }
        equations.set_acceleration(&state.acceleration, drives);
        Ok(())
    }

    /// Rows of the marker's first-order transfer function in the unknowns, factored.
    fn factor(&mut self, equations: &mut Equations<'_>) -> Result<(), NominalError> {
        let (dofs, n) = (equations.mechanism().dof_count(), self.unknown.len());
        let transfer = equations.first_order_transfer();
        let slides = (self.slides.iter()).map(|(node, axis, _)| (*node, *axis));
        let turns = (self.turn.iter()).flat_map(|turn| {
            turn.components()
                .map(move |component| (turn.node, component))
        });
        for (row, (node, component)) in slides.chain(turns).enumerate() {
            for (column, (dof, _)) in self.unknown.iter().enumerate() {
                self.matrix[row * n + column] = transfer[node.index() * dofs + dof][component];
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
    fn require_position(&mut self, equations: &Equations<'_>, time: f64) -> f64 {
        let mut right = self.right.iter_mut();
        for ((node, axis, curve), right) in self.slides.iter().zip(&mut right) {
            *right = curve.at(time).position - equations.node(*node).position[*axis];
        }
        if let Some(turn) = &self.turn {
            let wanted = turn.curve.at(time).position;
            if turn.planar {
                for right in right {
                    *right = wanted - turn.angle(equations);
                }
            } else {
                let attitude = equations.node(turn.node).rotation * turn.attitude;
                let wanted = RotationVector::new(turn.axis.scale(wanted)).matrix();
                let missing = rotation_vector_of(&(wanted * attitude.transpose()));
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

    /// What is missing of a derivative of the motion.
    fn require(
        &mut self,
        equations: &Equations<'_>,
        time: f64,
        wanted: impl Fn(MotionPoint) -> f64,
        found: impl Fn(&lissom_nodal::NodeState<f64>) -> Vector<f64>,
    ) {
        let mut right = self.right.iter_mut();
        for ((node, axis, curve), right) in self.slides.iter().zip(&mut right) {
            *right = wanted(curve.at(time)) - found(equations.node(*node))[*axis];
        }
        if let Some(turn) = &self.turn {
            let axis = if turn.planar {
                Vector([0.0, 0.0, 1.0])
            } else {
                turn.axis
            };
            let missing =
                axis.scale(wanted(turn.curve.at(time))) - found(equations.node(turn.node));
            for (right, component) in right.zip(turn.components()) {
                *right = missing[component];
            }
        }
    }
}
