//! The feed-forward input of the papers' manoeuvres: what would move the mechanism along a nominal motion if every body
//! were rigid.
//!
//! In a tree whose joints say their own motions it is inverse dynamics. In loops, and where a marker says the motion, the
//! joints follow by kinematics ([`Course`]), and of the tree's forces $`\tau`$ along that motion the drives give what the
//! closures do not: with $`N`$ spanning the motions that the closures allow and $`S`$ picking the drives,
//!
//! ```math
//! N^T S\,\tau_a = N^T \tau ,
//! ```
//!
//! the shortest $`\tau_a`$ if there are more drives than degrees of freedom \[Fattah 1995, section 4.5\].

pub(crate) mod course;
mod qr;

use crate::model::{Actions, Load, Marker, Model, Places, System};
use crate::simulate::view::TreeView;
use course::{Course, State};
use lissom_core::{Inputs, MotionCurve, NominalError};
use lissom_tree::tree::{
    CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, mass_matrix,
};
pub(crate) use qr::PivotedQr;

/// What the drives of a model do along its nominal motion at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct NominalDrives {
    /// Degrees of freedom of the rigid mechanism.
    pub degrees_of_freedom: usize,
    /// Name of every drive, and its torque or force.
    pub efforts: Vec<(String, f64)>,
}

impl NominalDrives {
    /// Drives beyond the degrees of freedom; their torques or forces are then the smallest in sum of squares.
    pub fn redundant(&self) -> usize {
        self.efforts.len().saturating_sub(self.degrees_of_freedom)
    }

    /// What to know of drives beyond the degrees of freedom, if there are any.
    pub fn warning(&self) -> Option<String> {
        (self.redundant() > 0).then(|| {
            format!(
                "{} inputs drive {} degrees of freedom along the nominal motion: of all that would do, the torques and \
                 forces with the smallest sum of squares are taken",
                self.efforts.len(),
                self.degrees_of_freedom
            )
        })
    }
}

/// What the drives of a model do at `time_s` along a nominal motion that begins at `start_s`; `None` for a model whose
/// inputs do not ask for one.
///
/// # Errors
/// If the motion cannot be followed or driven.
pub fn nominal_drives(
    model: &Model,
    start_s: f64,
    time_s: f64,
) -> Result<Option<NominalDrives>, NominalError> {
    let Some(mut nominal) = Nominal::new(model) else {
        return Ok(None);
    };
    nominal.update(start_s)?;
    nominal.update(time_s)?;
    let efforts = model.actions.loads.iter().filter_map(|load| {
        let at = driven_entry(model, load)?;
        Some((load.name.clone(), nominal.force(at)))
    });
    let efforts: Vec<_> = efforts.collect();
    Ok(Some(NominalDrives {
        degrees_of_freedom: match &nominal.path {
            Path::Joints(_) => efforts.len(),
            Path::Loops { projection, .. } => projection.freedom,
        },
        efforts,
    }))
}

/// Entries of the position vector that inputs drive along a nominal motion of their own, each with its curve.
pub(crate) fn nominal_motions(model: &Model) -> Vec<(usize, MotionCurve)> {
    let motion = |load: &Load| {
        let profile = load.nominal_motion()??;
        let at = driven_entry(model, load)?;
        let position = position_of_velocity(&model.linkage.system, at)?;
        let initial = model.initial_position[position];
        Some((position, MotionCurve::new(profile, initial)))
    };
    model.actions.loads.iter().filter_map(motion).collect()
}

/// Rigid inverse dynamics of a nominal motion, as an input.
#[derive(Clone, Debug)]
pub(super) struct Nominal {
    system: System,
    /// Instant of the last update that went well.
    time: Option<f64>,
    path: Path,
    /// Entry of the rigid velocity vector for every entry of the flexible one that has it.
    rigid_velocity: Vec<Option<usize>>,
    state: State,
    force: Vec<f64>,
    /// Springs, dampers and friction of the joints, which the drives work against too, and loads at markers that they count
    /// on.
    actions: Actions,
    places: Places,
    markers: Vec<Marker>,
    inputs: Inputs,
    input_values: Vec<f64>,
    resistance: Vec<f64>,
    /// Entry of the rigid velocity vector and inertia of the rotors behind elastic gears, which are not
    /// part of the system; here they turn with their joints.
    rotors: Vec<(usize, f64)>,
    kinematics: Kinematics<f64>,
    inverse: InverseDynamics<f64>,
}

/// How the joints move.
#[derive(Clone, Debug)]
enum Path {
    /// Each by itself: curve of every joint with one degree of freedom, with its entries in the rigid position and
    /// velocity vectors.
    Joints(Vec<(MotionCurve, usize, usize)>),
    /// All together.
    Loops {
        course: Box<Course>,
        projection: Box<Projection>,
    },
}

/// Where the joints would be along the nominal motion if every body were rigid, for mechanisms whose joints follow from
/// loops or from the motion of a marker.
#[derive(Clone, Debug)]
pub(crate) struct NominalPositions(Nominal);

impl NominalPositions {
    /// `None` when inputs and prescribed motions do not tell from `start_s` on.
    pub(crate) fn new(model: &Model, start_s: f64) -> Option<Self> {
        if model.linkage.closures.is_empty() && model.nominal_motion.is_none() {
            return None;
        }
        let mut positions = Self(Nominal::of(model, true));
        positions.at(start_s)?;
        Some(positions)
    }

    /// Position vector of the rigid system; `None` where the motion cannot be followed.
    pub(crate) fn at(&mut self, time_s: f64) -> Option<&[f64]> {
        let Nominal {
            system,
            path,
            state,
            kinematics,
            ..
        } = &mut self.0;
        if let Path::Loops { course, .. } = path {
            course.follow(system, kinematics, state, time_s).ok()?;
        }
        Some(&state.position)
    }
}

impl Nominal {
    /// `None` when no load asks for it.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let driven = |load: &Load| driven_entry(model, load);
        let asked = model
            .actions
            .loads
            .iter()
            .any(|load| driven(load).is_some());
        asked.then(|| Self::of(model, true))
    }

    /// The motion of `model`; of loops that nothing moves on a course, none is `asked` for.
    fn of(model: &Model, asked: bool) -> Self {
        let driven = |load: &Load| driven_entry(model, load);
        let wanted = nominal_motions(model);
        let together =
            asked && (!model.linkage.closures.is_empty() || model.nominal_motion.is_some());
        let system = model.linkage.system.rigidified();
        let (flexible_layout, rigid_layout) = (model.linkage.system.layout(), system.layout());
        let mut position = vec![0.0; system.position_count()];
        let mut rigid_velocity = vec![None; model.linkage.system.velocity_count()];
        let mut curves = Vec::new();
        for (k, body) in system.bodies().iter().enumerate() {
            let kind = &body.joint.kind;
            let (from, to) = (
                flexible_layout.joint_position[k],
                rigid_layout.joint_position[k],
            );
            position[to..to + kind.positions()]
                .copy_from_slice(&model.initial_position[from..from + kind.positions()]);
            let (from_v, to_v) = (
                flexible_layout.joint_velocity[k],
                rigid_layout.joint_velocity[k],
            );
            for i in 0..kind.velocities() {
                rigid_velocity[from_v + i] = Some(to_v + i);
            }
            if kind.velocities() != 1 {
                continue;
            }
            // joints without a nominal motion follow what is prescribed for them, or the others; in a tree they stay
            let prescribed = model
                .motions
                .iter()
                .find(|motion| motion.velocity == from_v);
            let curve = match (wanted.iter().find(|(at, _)| *at == from), prescribed) {
                (Some((_, curve)), _) => curve.clone(),
                (None, Some(motion)) => MotionCurve::new(&motion.profile, motion.initial),
                (None, None) if together => continue,
                (None, None) => MotionCurve::held(model.initial_position[from]),
            };
            curves.push((curve, to, to_v));
        }
        let rotors = model
            .transmissions
            .iter()
            .filter_map(|gear| Some((rigid_velocity[gear.velocity]?, gear.inertia)))
            .collect();
        let n = system.velocity_count();
        let state = State {
            position,
            velocity: vec![0.0; n],
            acceleration: vec![0.0; n],
        };
        let path = if together {
            // what prescribed joints need is given to them without being asked for
            let prescribed = model.motions.iter().map(|motion| motion.velocity);
            let mut drives: Vec<usize> = (model.actions.loads.iter().filter_map(driven))
                .chain(prescribed)
                .filter_map(|at| rigid_velocity[at])
                .collect();
            drives.sort_unstable();
            drives.dedup();
            let course = Course::new(model, &system, curves, &state);
            let projection = Projection::new(n, course.constraints().len(), drives);
            Path::Loops {
                course: Box::new(course),
                projection: Box::new(projection),
            }
        } else {
            Path::Joints(curves)
        };
        let actions = Actions {
            resistances: model.actions.resistances.clone(),
            loads: (model.actions.loads.iter())
                .filter(|load| load.foreseen)
                .cloned()
                .collect(),
            ..Actions::default()
        };
        Self {
            time: None,
            path,
            rigid_velocity,
            places: model.places.rigid(&system),
            markers: undeformed_markers(model),
            inputs: Inputs::new(&actions.loads),
            input_values: vec![0.0; actions.loads.len()],
            actions,
            resistance: vec![0.0; n],
            rotors,
            state,
            force: vec![0.0; n],
            kinematics: Kinematics::new(&system),
            inverse: InverseDynamics::new(&system),
            system,
        }
    }

    /// Instants at which the motion is not smooth.
    pub(super) fn breakpoints(&self) -> Vec<f64> {
        match &self.path {
            Path::Joints(curves) => curves
                .iter()
                .flat_map(|(curve, ..)| curve.breakpoints())
                .collect(),
            Path::Loops { course, .. } => {
                course.curves().flat_map(MotionCurve::breakpoints).collect()
            }
        }
    }

    /// Force at an entry of the flexible model's velocity vector, as of the last [`update`](Self::update).
    pub(super) fn force(&self, velocity: usize) -> f64 {
        self.rigid_velocity[velocity].map_or(0.0, |at| self.force[at])
    }

    /// Rigid inverse dynamics at `time`, unless it is what was last asked for: stages and iterations of an
    /// integrator share instants. Forces are not numbers where there is none.
    pub(super) fn update(&mut self, time: f64) -> Result<(), NominalError> {
        if self.time == Some(time) {
            return Ok(());
        }
        let outcome = self.drive(time);
        self.time = outcome.is_ok().then_some(time);
        if outcome.is_err() {
            self.force.fill(f64::NAN);
        }
        outcome
    }

    fn drive(&mut self, time: f64) -> Result<(), NominalError> {
        let state = &mut self.state;
        match &mut self.path {
            Path::Joints(curves) => {
                for (curve, position, velocity) in curves {
                    let point = curve.at(time);
                    state.position[*position] = point.position;
                    state.velocity[*velocity] = point.rate;
                    state.acceleration[*velocity] = point.acceleration;
                }
                self.kinematics
                    .update(&self.system, &state.position, &state.velocity);
            }
            Path::Loops { course, .. } => {
                course.follow(&self.system, &mut self.kinematics, state, time)?;
            }
        }
        let values = &mut self.input_values;
        (self.inputs).evaluate(&self.actions.loads, time, |_| 0.0, values);
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
        };
        (self.actions).push_inputs(&self.input_values, &mut view, &mut 0.0);
        self.actions.resist(&mut view, &mut 0.0);
        inverse_dynamics(
            &self.system,
            &self.kinematics,
            &state.acceleration,
            &mut self.inverse,
            &mut self.force,
        );
        for (force, resistance) in self.force.iter_mut().zip(&self.resistance) {
            *force -= resistance;
        }
        for &(at, inertia) in &self.rotors {
            self.force[at] += inertia * state.acceleration[at];
        }
        match &mut self.path {
            Path::Joints(_) => Ok(()),
            Path::Loops { course, projection } => {
                projection.apply(course.constraints().jacobian(), &mut self.force)
            }
        }
    }
}

/// The motion that a model would make if every body were rigid: along the nominal motion of its inputs where they have
/// one, as prescribed where it is, and held elsewhere.
#[derive(Clone, Debug)]
pub(in crate::simulate) struct NominalPath {
    nominal: Nominal,
    composite: CompositeBody<f64>,
    /// Mass matrix of the rigid mechanism, rotors among it, at the instant last asked for.
    mass: Vec<f64>,
    massed: Option<f64>,
}

impl NominalPath {
    /// Of `model`.
    pub(in crate::simulate) fn new(model: &Model) -> Self {
        let nominal = Nominal::new(model).unwrap_or_else(|| {
            let moves = !model.motions.is_empty();
            Nominal::of(model, moves)
        });
        let n = nominal.system.velocity_count();
        Self {
            composite: CompositeBody::new(&nominal.system),
            mass: vec![0.0; n * n],
            massed: None,
            nominal,
        }
    }

    /// Entry of the rigid mechanism's mass matrix at the instant last asked for, by entries of the flexible model's
    /// velocity vector.
    pub(in crate::simulate) fn mass(&self, row: usize, column: usize) -> f64 {
        let rigid = &self.nominal.rigid_velocity;
        let n = self.nominal.system.velocity_count();
        match (rigid[row], rigid[column]) {
            (Some(row), Some(column)) => self.mass[row * n + column],
            _ => 0.0,
        }
    }

    /// Writes the state of the flexible model at `time`, undeformed; `written` holds positions, velocities and
    /// accelerations.
    pub(in crate::simulate) fn at(
        &mut self,
        model: &Model,
        time: f64,
        written: [&mut [f64]; 3],
    ) -> Result<(), NominalError> {
        let nominal = &mut self.nominal;
        nominal.update(time)?;
        if self.massed != Some(time) {
            mass_matrix(
                &nominal.system,
                &nominal.kinematics,
                &mut self.composite,
                &mut self.mass,
            );
            let n = nominal.system.velocity_count();
            for &(at, inertia) in &nominal.rotors {
                self.mass[at * n + at] += inertia;
            }
            self.massed = Some(time);
        }
        let (layout, rigid) = (model.linkage.system.layout(), nominal.system.layout());
        let state = &nominal.state;
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
            copy(velocity, &state.velocity, to, from, kind.velocities());
            copy(
                acceleration,
                &state.acceleration,
                to,
                from,
                kind.velocities(),
            );
            if let Some(at) = layout.attitude[k] {
                position[at] = 1.0;
            }
        }
        Ok(())
    }
}

/// Puts on the drives what the forces of a motion do on what the closures allow.
#[derive(Clone, Debug)]
struct Projection {
    /// Entries of the velocity vector with a drive.
    drives: Vec<usize>,
    /// Degrees of freedom.
    freedom: usize,
    /// Factors of the transposed Jacobian of the closures.
    closures: PivotedQr,
    /// $`N`$, one column after the other.
    allowed: Vec<f64>,
    /// Factors of $`S^T N`$; none before the degrees of freedom are known.
    driven: Option<PivotedQr>,
    right: Vec<f64>,
    effort: Vec<f64>,
}

impl Projection {
    fn new(velocities: usize, equations: usize, drives: Vec<usize>) -> Self {
        Self {
            freedom: velocities,
            closures: PivotedQr::new(velocities, equations),
            allowed: vec![0.0; velocities * velocities],
            driven: None,
            right: vec![0.0; velocities],
            effort: vec![0.0; drives.len()],
            drives,
        }
    }

    /// Replaces `force` by that of the drives alone.
    fn apply(&mut self, jacobian: &[f64], force: &mut [f64]) -> Result<(), NominalError> {
        let n = force.len();
        self.closures.factor(|i, j| jacobian[j * n + i]);
        let freedom = n - self.closures.rank();
        if self.driven.is_none() || freedom != self.freedom {
            self.freedom = freedom;
            self.driven = Some(PivotedQr::new(self.drives.len(), freedom));
        }
        for (column, right) in self.right[..freedom].iter_mut().enumerate() {
            let allowed = &mut self.allowed[column * n..(column + 1) * n];
            allowed.fill(0.0);
            allowed[self.closures.rank() + column] = 1.0;
            self.closures.expand(allowed);
            *right = allowed.iter().zip(&*force).map(|(a, f)| a * f).sum();
        }
        let (drives, allowed) = (&self.drives, &self.allowed);
        let Some(driven) = &mut self.driven else {
            return Ok(());
        };
        driven.factor(|i, j| allowed[j * n + drives[i]]);
        if driven.rank() < freedom {
            return Err(NominalError::UnderActuated {
                drives: drives.len(),
                driven: driven.rank(),
                freedom,
            });
        }
        driven.solve_transposed(&self.right[..freedom], &mut self.effort);
        force.fill(0.0);
        for (&at, &effort) in drives.iter().zip(&self.effort) {
            force[at] = effort;
        }
        Ok(())
    }
}

/// Entry of the velocity vector that a load drives along the nominal motion, if it does.
fn driven_entry(model: &Model, load: &Load) -> Option<usize> {
    load.nominal_motion()?;
    model.places.velocity(&load.target, &model.transmissions)
}

/// Markers on bodies that do not bend.
fn undeformed_markers(model: &Model) -> Vec<Marker> {
    let undeformed = |marker: &Marker| {
        let body = marker.body.map(|k| &model.linkage.system.bodies()[k]);
        let flexible = body.and_then(|body| body.flexible.as_ref());
        Marker {
            place: marker.place.clone().undeformed(flexible),
            ..marker.clone()
        }
    };
    model.linkage.markers.iter().map(undeformed).collect()
}

/// Entry of the position vector that belongs to a joint velocity of a joint with one degree of freedom.
fn position_of_velocity(system: &System, at: usize) -> Option<usize> {
    let layout = system.layout();
    let k = layout
        .joint_velocity
        .iter()
        .position(|&first| first == at)?;
    (system.bodies()[k].joint.kind.velocities() == 1).then(|| layout.joint_position[k])
}
