//! A nodal mechanism whose deformations are all zero, as its nominal trajectory moves it.
//!
//! Its velocities are those of the degrees of freedom of joints. Prescribed motions are its drives, which show as drift of axes,
//! markers and closures. Loops close by themselves where it is placed, as long as the same joints lead; where others may have to,
//! all joints of the loops are degrees of freedom and the loops are closed by equations, as those of a tree are.

use super::nominal::NodalMotion;
use super::open_loops::{Closures, closed_motion, open_start};
use super::view::{NodalView, node_pair};
use super::{NodalAxis, NodalModel, Station};
use lissom_core::{
    Actions, AxisId, ClosureEquations, Efforts, Inputs, JointId, MarkerId, MotionPoint,
    NominalError, Order, Purpose, RigidMechanism, RigidState,
};
use lissom_nodal::{Drive, Equations, Forces, Mechanism, NodalError, NodeId};
use lissom_numerics::Memory;
use lissom_spatial::{Matrix, Motion, Transform, Vector};

/// A nodal mechanism without deformation.
#[derive(Clone, Debug)]
pub struct RigidNodal<'m> {
    nodal: &'m NodalModel,
    equations: Equations<'m>,
    start: RigidState,
    start_velocity: Vec<f64>,
    /// Loops that are open.
    closures: Closures,
    /// Degree of freedom of every velocity.
    dofs: Vec<usize>,
    /// Velocity of every axis that is a degree of freedom; motors are none here.
    entries: Vec<Option<usize>>,
    motors: Vec<Motor>,
    drives: Vec<Drive>,
    /// Motion of every axis where the mechanism was placed.
    axes: Vec<AxisMotion>,
    /// Motion that the marker on its path has of itself: rates, accelerations.
    marker_drift: [Motion<f64>; 2],
    /// Whether the first-order transfer functions are those of the place.
    transferred: bool,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    step: Vec<f64>,
    residual: Vec<f64>,
    mass: Vec<f64>,
    /// Loads that act, and resistances of the joints.
    actions: Actions,
    inputs: Inputs,
    applied: Efforts,
    forces: Forces<f64>,
}

/// The motor behind an elastic gear, which moves with its joint.
#[derive(Clone, Debug)]
struct Motor {
    dof: usize,
    joint: AxisId,
    /// Rate of the joint by the velocities.
    row: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct AxisMotion {
    position: f64,
    rate: f64,
    /// What it has of itself: rate, acceleration.
    drift: [f64; 2],
}

impl<'m> RigidNodal<'m> {
    /// The rigid mechanism under the loads that act for a purpose, with its loops `open` or closed. In forward dynamics nodes may move whose
    /// coordinates are degrees of freedom; else they are held.
    pub(super) fn new(
        nodal: &'m NodalModel,
        open: Option<&'m Mechanism>,
        purpose: Purpose,
    ) -> Result<Self, NominalError> {
        let placed = |error: NodalError| unplaced(&error, nodal.start_s);
        let mechanism = open.unwrap_or(&nodal.mechanism);
        let all = mechanism.dof_count();
        let is_motor = |axis| nodal.actions.gears.iter().any(|gear| gear.motor == axis);
        let mut dofs = Vec::new();
        let mut entries = vec![None; nodal.axes.len()];
        for axis in (0..nodal.axes.len())
            .map(AxisId)
            .filter(|&axis| !is_motor(axis))
        {
            if let Some(dof) = nodal.axis_dof_in(mechanism, axis) {
                entries[axis.0] = Some(dofs.len());
                dofs.push(dof);
            }
        }
        let of_balls = nodal.balls.iter().flat_map(|ball| ball.dofs(mechanism));
        dofs.extend(of_balls);
        if purpose == Purpose::Forward {
            // numbered alike whether loops are open or closed
            dofs.extend(coordinate_dofs(nodal));
        }
        let n = dofs.len();
        let motors = nodal.actions.gears.iter().filter_map(|gear| {
            Some(Motor {
                dof: nodal.axis_dof_in(mechanism, gear.motor)?,
                joint: gear.joint,
                row: vec![0.0; n],
            })
        });
        let loads = (nodal.actions.loads.iter()).filter(|load| purpose.includes(load));
        let actions = Actions {
            resistances: nodal.actions.resistances.clone(),
            stops: purpose.stops(&nodal.actions),
            loads: loads.cloned().collect(),
            ..Actions::default()
        };
        let mut start = undeformed_start(nodal);
        let equations = match open {
            None => Equations::new(mechanism).map_err(placed)?,
            Some(open) => {
                let opened = open_start(nodal, &start, open);
                let (equations, opened) = opened.map_err(placed)?;
                start = opened;
                equations
            }
        };
        let lissom_nodal::Motion { position, velocity } = start;
        Ok(Self {
            nodal,
            equations,
            closures: open.map_or_else(Closures::default, |_| Closures::of(nodal, n)),
            start_velocity: dofs.iter().map(|&dof| velocity[dof]).collect(),
            start: RigidState {
                position: position.clone(),
                velocity: vec![0.0; n],
                acceleration: vec![0.0; n],
            },
            dofs,
            entries,
            motors: motors.collect(),
            drives: mechanism.assembled_drives(),
            axes: vec![AxisMotion::default(); nodal.axes.len()],
            marker_drift: [Motion::zero(); 2],
            transferred: false,
            position,
            velocity: vec![0.0; all],
            acceleration: vec![0.0; all],
            step: vec![0.0; all],
            residual: vec![0.0; all],
            mass: Vec::new(),
            inputs: Inputs::new(&actions.loads),
            applied: Efforts::new(&actions),
            actions,
            forces: Forces::new(mechanism),
        })
    }

    /// The mechanism of which positions and velocities are meant.
    fn mechanism(&self) -> &'m Mechanism {
        self.equations.mechanism()
    }

    /// First-order transfer functions, once per place.
    fn transfer(&mut self) {
        if !self.transferred {
            self.equations.first_order_transfer();
            self.transferred = true;
        }
    }

    fn axis_of(&self, AxisId(axis): AxisId) -> &'m NodalAxis {
        let nodal: &'m NodalModel = self.nodal;
        &nodal.axes[axis]
    }

    /// Angular velocity and velocity of the marker on its path, or their derivatives.
    fn marker_rates(&self, of: impl Fn(NodeId) -> Vector<f64>) -> Motion<f64> {
        let path = self.nodal.path.as_ref();
        let station = path.map(|path| &self.nodal.stations[path.marker.0]);
        let (point, orientation) = station.map_or((None, None), |station| {
            (station.point, station.orientation.map(|(node, _)| node))
        });
        Motion {
            angular: orientation.map_or(Vector::zero(), &of),
            linear: point.map_or(Vector::zero(), &of),
        }
    }

    /// Writes the row of an axis; its transfer functions are known if it follows from others.
    fn write_row(&self, axis: AxisId, row: &mut [f64]) {
        let NodalAxis {
            element,
            deformation,
            ..
        } = *self.axis_of(axis);
        if let Some(entry) = self.entries[axis.0] {
            row[entry] = 1.0;
            return;
        }
        for (row, &dof) in row.iter_mut().zip(&self.dofs) {
            *row = (self.equations).deformation_transfer(element, deformation, dof);
        }
    }

    /// Velocities and accelerations of all degrees of freedom, motors among them.
    fn spread(&mut self, state: &RigidState) {
        for (entry, &dof) in self.dofs.iter().enumerate() {
            self.velocity[dof] = state.velocity[entry];
            self.acceleration[dof] = state.acceleration[entry];
        }
        for Motor { dof, joint, row } in &self.motors {
            let drift = self.axes[joint.0].drift;
            self.velocity[*dof] = drift[0] + dot(row, &state.velocity);
            self.acceleration[*dof] = drift[1] + dot(row, &state.acceleration);
        }
    }

    /// A state of which everything has been asked, with its loops closed, in the degrees of freedom that suit it.
    pub(super) fn motion(
        &self,
        state: &RigidState,
        time_s: f64,
    ) -> Result<NodalMotion, NodalError> {
        let (nodal, mechanism) = (self.nodal, self.mechanism());
        let mut motion = NodalMotion {
            time_s,
            memory: Memory::default(),
            position: state.position.clone(),
            velocity: vec![0.0; mechanism.dof_count()],
            acceleration: vec![0.0; mechanism.dof_count()],
            control: Vec::new(),
        };
        for (entry, &dof) in self.dofs.iter().enumerate() {
            motion.velocity[dof] = state.velocity[entry];
            motion.acceleration[dof] = state.acceleration[entry];
        }
        for Motor { dof, joint, row } in &self.motors {
            let axis = self.axes[joint.0];
            let drift = axis.drift;
            motion.position[mechanism.dof_positions(*dof).start] = axis.position;
            motion.velocity[*dof] = drift[0] + dot(row, &state.velocity);
            motion.acceleration[*dof] = drift[1] + dot(row, &state.acceleration);
        }
        if self.closures.count() == 0 {
            return Ok(motion);
        }
        closed_motion(nodal, self.equations.clone(), &self.drives, motion)
    }
}

impl RigidMechanism for RigidNodal<'_> {
    fn start(&self) -> RigidState {
        self.start.clone()
    }

    fn start_velocity(&self) -> Vec<f64> {
        self.start_velocity.clone()
    }

    fn has_loops(&self) -> bool {
        self.nodal.has_loops
    }

    fn breakpoints(&self) -> Vec<f64> {
        self.inputs.breakpoints().collect()
    }

    fn closures(&self) -> usize {
        self.closures.count()
    }

    fn place(&mut self, time_s: f64, state: &RigidState) -> Result<(), NominalError> {
        let nodal = self.nodal;
        nodal.write_drives(time_s, &mut self.drives);
        self.position.copy_from_slice(&state.position);
        let placed = self.equations.place(&self.position, &self.drives);
        placed.map_err(|error| unplaced(&error, time_s))?;
        self.transferred = false;
        let follows = |motor: &Motor| self.entries[motor.joint.0].is_none();
        if self.motors.iter().any(follows) {
            self.transfer();
        }
        let mut motors = std::mem::take(&mut self.motors);
        for Motor { joint, row, .. } in &mut motors {
            row.fill(0.0);
            self.write_row(*joint, row);
        }
        self.motors = motors;
        self.closures.place(&mut self.equations, &self.dofs);
        self.velocity.fill(0.0);
        self.equations.set_velocity(&self.velocity, &self.drives);
        self.closures.rest(&self.equations);
        for (motion, axis) in self.axes.iter_mut().zip(&nodal.axes) {
            let (element, index) = (axis.element, axis.deformation);
            motion.position = self.equations.deformation(element, index);
            motion.drift[0] = self.equations.deformation_rate(element, index);
        }
        let equations = &self.equations;
        self.marker_drift[0] = self.marker_rates(|node| equations.node(node).velocity);
        Ok(())
    }

    fn set_velocity(&mut self, state: &RigidState) {
        let nodal = self.nodal;
        self.spread(state);
        self.acceleration.fill(0.0);
        self.equations.set_velocity(&self.velocity, &self.drives);
        self.equations
            .set_acceleration(&self.acceleration, &self.drives);
        for (motion, axis) in self.axes.iter_mut().zip(&nodal.axes) {
            let (element, index) = (axis.element, axis.deformation);
            motion.rate = self.equations.deformation_rate(element, index);
            motion.drift[1] = self.equations.deformation_acceleration(element, index);
        }
        self.closures.coast(&self.equations);
        let equations = &self.equations;
        self.marker_drift[1] = self.marker_rates(|node| equations.node(node).acceleration);
    }

    fn displace(&mut self, position: &mut [f64], step: &[f64]) {
        self.step.fill(0.0);
        for (&dof, step) in self.dofs.iter().zip(step) {
            self.step[dof] = *step;
        }
        self.position.copy_from_slice(position);
        self.equations
            .displace(&self.position, &self.step, position);
    }

    fn closure_equations(&self) -> ClosureEquations<'_> {
        self.closures.equations()
    }

    fn set_axis(&self, axis: AxisId, point: MotionPoint, state: &mut RigidState) {
        if let Some(entry) = self.entries[axis.0] {
            let positions = self.mechanism().dof_positions(self.dofs[entry]);
            state.position[positions.start] = point.position;
            state.velocity[entry] = point.rate;
            state.acceleration[entry] = point.acceleration;
        }
    }

    fn axis(&self, AxisId(axis): AxisId, _: &RigidState) -> f64 {
        self.axes[axis].position
    }

    fn axis_rate(&self, AxisId(axis): AxisId, _: &RigidState) -> f64 {
        self.axes[axis].rate
    }

    fn write_axis_row(&mut self, axis: AxisId, row: &mut [f64]) {
        if self.entries[axis.0].is_none() {
            self.transfer();
        }
        self.write_row(axis, row);
    }

    fn axis_drift(&self, axis: AxisId, order: Order) -> f64 {
        match self.entries[axis.0] {
            Some(_) => 0.0,
            None => self.axes[axis.0].drift[order as usize],
        }
    }

    fn write_component_row(&mut self, JointId(joint): JointId, component: usize, row: &mut [f64]) {
        let element = self.nodal.balls[joint].element;
        let dof = self.mechanism().deformation_dof(element, component);
        if let Some(entry) = self.dofs.iter().position(|&own| Some(own) == dof) {
            row[entry] = 1.0;
            return;
        }
        self.transfer();
        let equations = &self.equations;
        let ball = &self.nodal.balls[joint];
        let axes = ball.child_axes(equations.node(ball.child.orientation));
        let direction = Vector([0, 1, 2].map(|i| axes.0[i][component % 3]));
        let [from, to] = node_pair(ball, |end| end.point);
        let offset = equations.node(to).position - equations.node(from).position;
        let [parent, child] = node_pair(ball, |end| end.orientation);
        for (row, &dof) in row.iter_mut().zip(&self.dofs) {
            let rate = |node| equations.node_transfer(node, dof);
            let relative = if component < 3 {
                rate(child) - rate(parent)
            } else {
                rate(to) - rate(from) - rate(parent).cross(offset)
            };
            *row = direction.dot(relative);
        }
    }

    fn marker(&self, MarkerId(marker): MarkerId) -> Transform<f64> {
        let Station {
            point, orientation, ..
        } = self.nodal.stations[marker];
        let rotation = orientation.map_or(Matrix::identity(), |(node, orientation)| {
            self.equations.node(node).rotation * orientation
        });
        let position = point.map_or(Vector::zero(), |node| self.equations.node(node).position);
        Transform::new(rotation, position)
    }

    fn write_marker_rows(&mut self, MarkerId(marker): MarkerId, rows: &mut [f64]) {
        self.transfer();
        let (equations, n) = (&self.equations, self.dofs.len());
        let Station {
            point, orientation, ..
        } = self.nodal.stations[marker];
        let nodes = [orientation.map(|(node, _)| node), point];
        for (part, node) in nodes.into_iter().enumerate() {
            for (column, &dof) in self.dofs.iter().enumerate() {
                let rate = node.map_or(Vector::zero(), |node| equations.node_transfer(node, dof));
                for component in 0..3 {
                    rows[(3 * part + component) * n + column] = rate[component];
                }
            }
        }
    }

    fn marker_drift(&self, _: MarkerId, order: Order) -> Motion<f64> {
        self.marker_drift[order as usize]
    }

    fn force(&mut self, time_s: f64, state: &RigidState, force: &mut [f64]) {
        self.spread(state);
        let equations = &mut self.equations;
        equations.set_velocity(&self.velocity, &self.drives);
        equations.set_acceleration(&self.acceleration, &self.drives);
        let (actions, applied) = (&self.actions, &mut self.applied);
        (self.inputs).evaluate(&actions.loads, time_s, |_| 0.0, &mut applied.inputs);
        let nodes = &mut equations.view(&mut self.forces);
        let mut view = NodalView {
            nodal: self.nodal,
            nodes,
        };
        actions.push_inputs(applied, &mut view, &mut 0.0);
        actions.resist(&[], &mut view, &mut 0.0);
        let (efforts, loads) = (self.forces.efforts(), self.forces.loads());
        equations.residual(efforts, loads, &mut self.residual);
        for (force, &dof) in force.iter_mut().zip(&self.dofs) {
            *force = self.residual[dof];
        }
        for Motor { dof, row, .. } in &self.motors {
            for (force, row) in force.iter_mut().zip(row) {
                *force += row * self.residual[*dof];
            }
        }
    }

    fn mass(&mut self, mass: &mut [f64]) {
        let (all, n) = (self.mechanism().dof_count(), self.dofs.len());
        self.mass.resize(all * all, 0.0);
        self.equations.mass_matrix(&mut self.mass);
        for (i, &row) in self.dofs.iter().enumerate() {
            for (j, &column) in self.dofs.iter().enumerate() {
                mass[i * n + j] = self.mass[row * all + column];
            }
        }
        // a rotor has no inertia but that about its joint's axis
        for Motor { dof, row, .. } in &self.motors {
            let inertia = self.mass[dof * all + dof];
            for i in 0..n {
                for j in 0..n {
                    mass[i * n + j] += inertia * row[i] * row[j];
                }
            }
        }
    }
}

/// The motion in which all joints are where the model has them start, and nothing is deformed.
fn undeformed_start(nodal: &NodalModel) -> lissom_nodal::Motion {
    let mechanism = &nodal.mechanism;
    let mut start = lissom_nodal::Motion {
        position: nodal.undeformed_position(),
        velocity: vec![0.0; mechanism.dof_count()],
    };
    let axes = (0..nodal.axes.len()).map(AxisId);
    let of_axes = axes.filter_map(|axis| nodal.axis_dof(axis));
    let of_balls = (nodal.balls.iter()).flat_map(|ball| ball.dofs(mechanism));
    for dof in of_axes.chain(of_balls).chain(coordinate_dofs(nodal)) {
        let at = mechanism.dof_positions(dof);
        start.position[at.clone()].copy_from_slice(&nodal.initial_position[at]);
        start.velocity[dof] = nodal.initial_velocity[dof];
    }
    start
}

/// Degrees of freedom that are coordinates of nodes.
fn coordinate_dofs(nodal: &NodalModel) -> Vec<usize> {
    let mechanism = &nodal.mechanism;
    let nodes = (0..mechanism.node_count()).filter_map(|index| mechanism.node(index));
    let components = nodes.flat_map(|node| [0, 1, 2].map(|component| (node, component)));
    components
        .filter_map(|(node, component)| mechanism.coordinate_dof(node, component))
        .collect()
}

fn unplaced(error: &NodalError, time_s: f64) -> NominalError {
    NominalError::Unplaced {
        time_s,
        reason: error.to_string(),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
