//! A tree whose bodies are rigid, as its nominal trajectory moves it.

use crate::model::{AxisPlace, Model, Places, PrescribedMotion};
use crate::simulate::view::TreeView;
use lissom_core::{
    Actions, AxisId, ClosureEquations, Efforts, Inputs, JointId, Load, MarkerId, MotionCurve,
    MotionPoint, Nominal, NominalError, NominalMotions, Order, Purpose, RigidMechanism, RigidState,
    Trajectory, joint_of,
};
use lissom_spatial::{Motion, Transform};
use lissom_tree::closure::Constraints;
use lissom_tree::tree::{
    CompositeBody, FrameMotion, InverseDynamics, Kinematics, bias_accelerations, displace,
    frame_motion, inverse_dynamics, marker_jacobian, mass_matrix,
};
use lissom_tree::{Closure, ClosureEnd, ClosureKind, Marker, Place, System};

/// The nominal trajectory of a tree.
pub(crate) type TreeTrajectory = Trajectory<RigidTree>;

/// A tree of rigid bodies with its closures.
#[derive(Clone, Debug)]
pub struct RigidTree {
    system: System,
    kinematics: Kinematics<f64>,
    start: RigidState,
    start_velocity: Vec<f64>,
    has_loops: bool,
    closures: Vec<Closure>,
    constraints: Constraints<f64>,
    /// Joint of every motor behind an elastic gear.
    motors: Vec<AxisId>,
    /// Entry of the rigid velocity vector and inertia of the rotors behind elastic gears, which are not
    /// part of the system; here they turn with their joints.
    rotors: Vec<(usize, f64)>,
    /// Springs, dampers and friction of the joints, which the drives work against too, and loads that act.
    actions: Actions,
    places: Places,
    markers: Vec<Marker>,
    /// The marker that is on a path, and how it moves.
    on_path: Option<(MarkerId, FrameMotion<f64>)>,
    accelerations: Vec<Motion<f64>>,
    inputs: Inputs,
    efforts: Efforts,
    resistance: Vec<f64>,
    inverse: InverseDynamics<f64>,
    composite: CompositeBody<f64>,
}

impl Nominal for Model {
    type Rigid<'a> = RigidTree;

    fn nominal_motions(&self) -> NominalMotions<'_> {
        let mut prescribed = vec![None; self.linkage.system.velocity_count()];
        for (motion, curve) in self.motions.iter().zip(self.motion_curves()) {
            prescribed[motion.velocity] = Some(curve);
        }
        let places = self.places.axes.iter().enumerate();
        let axes = places.filter_map(|(index, axis)| match axis.place {
            AxisPlace::Motor(_) => None,
            AxisPlace::Joint { velocity, .. } => Some((AxisId(index), prescribed[velocity].take())),
        });
        NominalMotions {
            axes: axes.collect(),
            actions: &self.actions,
            path: self.nominal_motion.as_ref(),
            prescribes: !self.motions.is_empty(),
            start_s: self.start_s,
        }
    }

    fn rigid(&self, purpose: Purpose) -> Result<RigidTree, NominalError> {
        // a tree can be anywhere
        Ok(RigidTree::new(self, purpose))
    }
}

impl Model {
    /// Prescribed motions as functions of time.
    pub(super) fn motion_curves(&self) -> Vec<MotionCurve> {
        let motions = self.motions.iter();
        let curve = |motion: &PrescribedMotion| MotionCurve::new(&motion.profile, motion.initial);
        motions.map(curve).collect()
    }
}

/// Entries of the position vector that inputs drive along a nominal motion of their own, each with its curve.
pub(crate) fn nominal_motions(model: &Model) -> Vec<(usize, MotionCurve)> {
    let motion = |load: &lissom_core::Load| {
        let profile = load.nominal_motion()??;
        let AxisId(axis) = load.target.axis()?;
        let position = match model.places.axes[axis].place {
            AxisPlace::Joint { position, .. } => position,
            AxisPlace::Motor(motor) => model.transmissions[motor].position,
        };
        let initial = model.initial_position[position];
        Some((position, MotionCurve::new(profile, initial)))
    };
    model.actions.loads.iter().filter_map(motion).collect()
}

impl RigidTree {
    /// The rigid mechanism under the loads that act for a purpose.
    fn new(model: &Model, purpose: Purpose) -> Self {
        let system = model.linkage.system.rigidified();
        let (flexible_layout, rigid_layout) = (model.linkage.system.layout(), system.layout());
        let n = system.velocity_count();
        let mut start = RigidState {
            position: vec![0.0; system.position_count()],
            velocity: vec![0.0; n],
            acceleration: vec![0.0; n],
        };
        let mut start_velocity = vec![0.0; n];
        for (k, body) in system.bodies().iter().enumerate() {
            let count = body.joint.kind.positions();
            let from = flexible_layout.joint_position[k];
            let to = rigid_layout.joint_position[k];
            start.position[to..to + count]
                .copy_from_slice(&model.initial_position[from..from + count]);
            let count = body.joint.kind.velocities();
            let from = flexible_layout.joint_velocity[k];
            let to = rigid_layout.joint_velocity[k];
            start_velocity[to..to + count]
                .copy_from_slice(&model.initial_velocity[from..from + count]);
        }
        let places = model.places.rigid(&system);
        let motors: Vec<AxisId> = (model.actions.gears.iter())
            .map(|gear| gear.joint)
            .collect();
        let rotor = |(gear, &AxisId(joint)): (&crate::model::Transmission, &AxisId)| match places
            .axes[joint]
            .place
        {
            AxisPlace::Joint { velocity, .. } => Some((velocity, gear.inertia)),
            AxisPlace::Motor(_) => None,
        };
        let rotors = (model.transmissions.iter().zip(&motors)).filter_map(rotor);
        let closures = rigid_closures(model, &system, &start);
        let markers = undeformed_markers(model);
        let gears = &model.actions.gears;
        let loads = (model.actions.loads.iter()).filter(|load| purpose.includes(load));
        let loads = loads.map(|load| Load {
            target: joint_of(gears, &load.target),
            ..load.clone()
        });
        let actions = Actions {
            resistances: model.actions.resistances.clone(),
            stops: purpose.stops(&model.actions),
            loads: loads.collect(),
            ..Actions::default()
        };
        Self {
            kinematics: Kinematics::new(&system),
            has_loops: !model.linkage.closures.is_empty(),
            constraints: Constraints::new(&system, &closures),
            closures,
            rotors: rotors.collect(),
            motors,
            places,
            on_path: (model.nominal_motion.as_ref()).map(|path| {
                let place = &markers[path.marker.0].place;
                (path.marker, FrameMotion::fixed(place.offset()))
            }),
            markers,
            accelerations: vec![Motion::zero(); system.bodies().len()],
            inputs: Inputs::new(&actions.loads),
            efforts: Efforts::new(&actions),
            actions,
            resistance: vec![0.0; n],
            inverse: InverseDynamics::new(&system),
            composite: CompositeBody::new(&system),
            start,
            start_velocity,
            system,
        }
    }

    /// Entries of an axis in the position and velocity vectors, of a motor those of its joint.
    fn entries(&self, AxisId(axis): AxisId) -> [usize; 2] {
        match self.places.axes[axis].place {
            AxisPlace::Joint {
                position, velocity, ..
            } => [position, velocity],
            AxisPlace::Motor(motor) => self.entries(self.motors[motor]),
        }
    }

    /// Evaluates kinematics, closures and the marker on its path.
    fn prepare(&mut self, state: &RigidState) {
        let (system, kinematics) = (&self.system, &mut self.kinematics);
        let (position, velocity) = (&state.position, &state.velocity);
        kinematics.update(system, position, velocity);
        self.constraints
            .update(system, &self.closures, kinematics, position, velocity);
        if let Some((MarkerId(marker), motion)) = &mut self.on_path
            && let Marker {
                body: Some(body),
                place,
                ..
            } = &self.markers[*marker]
        {
            kinematics.update_poses(system);
            bias_accelerations(system, kinematics, &mut self.accelerations);
            *motion = frame_motion(
                system,
                kinematics,
                &self.accelerations,
                *body,
                place,
                position,
                velocity,
                &mut [],
            );
        }
    }

    /// Writes a state of the rigid mechanism as one of the flexible model, undeformed.
    pub(super) fn write(&self, model: &Model, state: &RigidState, written: [&mut [f64]; 3]) {
        let (layout, rigid) = (model.linkage.system.layout(), self.system.layout());
        let [position, velocity, acceleration] = written;
        position.fill(0.0);
        velocity.fill(0.0);
        acceleration.fill(0.0);
        for (k, body) in model.linkage.system.bodies().iter().enumerate() {
            let kind = &body.joint.kind;
            let copy = |to: &mut [f64], from: &[f64], to_at: usize, from_at: usize, n: usize| {
                to[to_at..to_at + n].copy_from_slice(&from[from_at..from_at + n]);
            };
            let (to, from) = (layout.joint_position[k], rigid.joint_position[k]);
            copy(position, &state.position, to, from, kind.positions());
            let (to, from) = (layout.joint_velocity[k], rigid.joint_velocity[k]);
            let count = kind.velocities();
            copy(velocity, &state.velocity, to, from, count);
            copy(acceleration, &state.acceleration, to, from, count);
            if let Some(at) = layout.orientation[k] {
                position[at] = 1.0;
            }
        }
    }
}

impl RigidMechanism for RigidTree {
    fn start(&self) -> RigidState {
        self.start.clone()
    }

    fn start_velocity(&self) -> Vec<f64> {
        self.start_velocity.clone()
    }

    fn has_loops(&self) -> bool {
        self.has_loops
    }

    fn breakpoints(&self) -> Vec<f64> {
        self.inputs.breakpoints().collect()
    }

    fn closures(&self) -> usize {
        self.constraints.len()
    }

    fn place(&mut self, _: f64, state: &RigidState) -> Result<(), NominalError> {
        self.prepare(state);
        Ok(())
    }

    fn set_velocity(&mut self, state: &RigidState) {
        self.prepare(state);
    }

    fn move_to(&mut self, _: f64, state: &RigidState) -> Result<(), NominalError> {
        self.prepare(state);
        Ok(())
    }

    fn displace(&mut self, position: &mut [f64], step: &[f64]) {
        displace(&self.system, position, step);
    }

    fn closure_equations(&self) -> ClosureEquations<'_> {
        ClosureEquations {
            residual: self.constraints.residual(),
            jacobian: self.constraints.jacobian(),
            drift: None,
            bias: self.constraints.bias(),
        }
    }

    fn set_axis(&self, axis: AxisId, point: MotionPoint, state: &mut RigidState) {
        let [position, velocity] = self.entries(axis);
        state.position[position] = point.position;
        state.velocity[velocity] = point.rate;
        state.acceleration[velocity] = point.acceleration;
    }

    fn axis(&self, axis: AxisId, state: &RigidState) -> f64 {
        state.position[self.entries(axis)[0]]
    }

    fn axis_rate(&self, axis: AxisId, state: &RigidState) -> f64 {
        state.velocity[self.entries(axis)[1]]
    }

    fn write_axis_row(&mut self, axis: AxisId, row: &mut [f64]) {
        row[self.entries(axis)[1]] = 1.0;
    }

    fn axis_drift(&self, _: AxisId, _: Order) -> f64 {
        0.0
    }

    fn write_component_row(&mut self, JointId(joint): JointId, component: usize, row: &mut [f64]) {
        row[self.places.joints[joint].velocity + component] = 1.0;
    }

    fn marker(&self, marker: MarkerId) -> Transform<f64> {
        match &self.on_path {
            Some((on_path, motion)) if *on_path == marker => motion.pose,
            _ => *self.markers[marker.0].place.offset(),
        }
    }

    fn write_marker_rows(&mut self, marker: MarkerId, rows: &mut [f64]) {
        let point = self.marker(marker).translation;
        match self.markers[marker.0].body {
            Some(body) => marker_jacobian(&self.system, &self.kinematics, body, point, &[], rows),
            None => rows.fill(0.0),
        }
    }

    fn marker_drift(&self, _: MarkerId, order: Order) -> Motion<f64> {
        let (Some((_, motion)), Order::Acceleration) = (&self.on_path, order) else {
            return Motion::zero();
        };
        // derivatives of components in the frame itself become those in ground axes
        let FrameMotion {
            pose, twist, bias, ..
        } = *motion;
        Motion {
            angular: pose.rotation * bias.angular,
            linear: pose.rotation * (bias.linear + twist.angular.cross(twist.linear)),
        }
    }

    fn force(&mut self, time_s: f64, state: &RigidState, force: &mut [f64]) {
        (self.inputs).evaluate(
            &self.actions.loads,
            time_s,
            |_| 0.0,
            &mut self.efforts.inputs,
        );
        self.resistance.fill(0.0);
        let mut view = TreeView {
            system: &self.system,
            places: &self.places,
            markers: &self.markers,
            position: &state.position,
            velocity: &state.velocity,
            motors: [&[], &[]],
            kinematics: &mut self.kinematics,
            force: &mut self.resistance,
            motor_force: &mut [],
            influence: &mut [],
            at: None,
            posed: false,
            accelerations: None,
        };
        (self.actions).push_inputs(&self.efforts, &mut view, &mut 0.0);
        self.actions.resist(&[], &mut view, &mut 0.0);
        inverse_dynamics(
            &self.system,
            &self.kinematics,
            &state.acceleration,
            &mut self.inverse,
            force,
        );
        for (force, resistance) in force.iter_mut().zip(&self.resistance) {
            *force -= resistance;
        }
        for &(at, inertia) in &self.rotors {
            force[at] += inertia * state.acceleration[at];
        }
    }

    fn mass(&mut self, mass: &mut [f64]) {
        let n = self.system.velocity_count();
        mass_matrix(&self.system, &self.kinematics, &mut self.composite, mass);
        for &(at, inertia) in &self.rotors {
            mass[at * n + at] += inertia;
        }
    }
}

/// A place on its body while that does not bend.
fn undeformed(model: &Model, body: Option<usize>, place: &Place) -> Place {
    let body = body.map(|k| &model.linkage.system.bodies()[k]);
    let flexible = body.and_then(|body| body.flexible.as_ref());
    place.clone().undeformed(flexible)
}

/// Markers on bodies that do not bend.
fn undeformed_markers(model: &Model) -> Vec<Marker> {
    let undeformed = |marker: &Marker| Marker {
        place: undeformed(model, marker.body, &marker.place),
        ..marker.clone()
    };
    model.linkage.markers.iter().map(undeformed).collect()
}

/// Closures between bodies that do not bend, without those that the joints keep by themselves.
fn rigid_closures(model: &Model, system: &System, start: &RigidState) -> Vec<Closure> {
    let rigid = |end: &ClosureEnd| ClosureEnd {
        body: end.body,
        place: undeformed(model, end.body, &end.place),
    };
    let closures = model.linkage.closures.iter().map(|closure| Closure {
        from: rigid(&closure.from),
        to: rigid(&closure.to),
        ..closure.clone()
    });
    closures
        .filter(|closure| !kept_by_joints(system, closure, start))
        .collect()
}

/// Whether a closure that slides along a beam is one that the joints keep by themselves where all bodies are rigid, as a
/// carriage keeps a boom in its sleeve: nothing they can do changes its equations, at a configuration like any other. It
/// says nothing of the nominal motion then, and where it bends the beam from the start no rigid motion could keep it.
fn kept_by_joints(system: &System, closure: &Closure, start: &RigidState) -> bool {
    // rounding of rows whose entries are one or a length
    const NOTHING: f64 = 1e-9;
    let (ClosureKind::OnBeam { .. } | ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam) =
        closure.kind
    else {
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
