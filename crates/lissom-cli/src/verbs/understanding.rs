//! [`Understanding`]: what a model was understood to be, as `check --json` prints it.

use lissom::linear::UndampedModes;
use lissom::mesh::{Mesh, MeshLinearizer};
use lissom::model::spec::{
    AttachmentSpec, BodyKind, ControllerSpec, InputSpec, IntegratorSpec, JointSpec, ModelSpec,
    MotionSpec, Place,
};
use lissom::model::{Body, JointKind, Model, spanning_tree};
use lissom::simulate::{StateInput, evaluate, nominal_drives};
use lissom::study::Linearize as _;
use lissom::tree::{self, Kinematics};
use lissom_io::load::Loaded;
use lissom_io::{notes, record};
use serde::Serialize;
use serde_json::Value;

use crate::output::short;
use crate::verbs::loops::LoopsEntry;

/// Accelerations below this at the start are rounding.
const STILL: f64 = 1e-10;

/// Part of its own inertia below which a velocity, the others in balance, has none but rounding.
const NO_INERTIA: f64 = 1e-14;
/// Radians of the fastest oscillation that an explicit method passes in a step, at most.
const RADIANS_PER_STEP: f64 = 5.0;
/// Degrees of freedom of a mesh up to which its vibrations are looked at.
const MANY_FREEDOMS: usize = 150;
/// Steps beyond which an explicit method is slow.
const MANY_STEPS: f64 = 1e5;

/// What a model was understood to be.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Understanding {
    pub(super) model: String,
    pub(super) lissom_version: &'static str,
    pub(super) file: Option<String>,
    /// Bodies of the file, parents first.
    pub(super) bodies: Vec<BodyEntry>,
    pub(super) degrees_of_freedom: Freedoms,
    /// What the model is meshed into; absent for the tree formulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mesh: Option<MeshEntry>,
    /// What closes the loops of the mechanism; absent for a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) loops: Option<LoopsEntry>,
    pub(super) total_mass_kg: f64,
    pub(super) center_of_mass_m: [f64; 3],
    pub(super) gravity_m_per_s2: [f64; 3],
    pub(super) inputs: Vec<Driven>,
    pub(super) motions: Vec<Driven>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) controllers: Vec<Driven>,
    pub(super) fidelity: Value,
    pub(super) integrator: &'static str,
    pub(super) duration_s: f64,
    pub(super) sample_period_s: f64,
    pub(super) warnings: Vec<String>,
}

/// A model as nodes and elements.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MeshEntry {
    pub(super) nodes: usize,
    pub(super) elements: usize,
    /// All, joints and deformations.
    pub(super) degrees_of_freedom: usize,
    /// Names of those that no joint stands for.
    pub(super) deformations: Vec<String>,
    pub(super) prescribed: usize,
}

impl MeshEntry {
    fn of(mesh: &Mesh) -> Self {
        let mechanism = &mesh.mechanism;
        Self {
            nodes: mechanism.node_count(),
            elements: mechanism.element_count(),
            degrees_of_freedom: mechanism.dof_count(),
            deformations: (mesh.elastic_dofs().into_iter())
                .map(|dof| mechanism.dof_name(dof))
                .collect(),
            prescribed: mechanism.drive_count(),
        }
    }
}

/// One body with the joint that carries it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BodyEntry {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) mass_kg: f64,
    pub(super) joint: JointEntry,
    pub(super) elastic_coordinates: Vec<String>,
    /// With the body's frame held, rising.
    pub(super) frequencies_rad_per_s: Vec<f64>,
    pub(super) payloads: Vec<PayloadEntry>,
    pub(super) markers: Vec<String>,
    /// Joints between the body and the ground.
    pub(super) depth: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct JointEntry {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) parent: String,
    /// Place on the parent, where it is said.
    pub(super) at: Option<String>,
    pub(super) degrees_of_freedom: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct PayloadEntry {
    pub(super) name: String,
    pub(super) mass_kg: f64,
}

/// Degrees of freedom by what moves.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Freedoms {
    /// Of joints, without those that are prescribed.
    pub(super) joint: usize,
    pub(super) elastic: usize,
    /// Of motors behind elastic gears.
    pub(super) motor: usize,
    pub(super) prescribed: usize,
    /// Taken away by the closures of loops, by rank.
    pub(super) closed: usize,
    /// All that remain.
    pub(super) total: usize,
}

/// An input, a prescribed motion or a controller.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Driven {
    #[serde(skip)]
    pub(super) what: &'static str,
    /// Joint, with the component if it has several, or marker.
    pub(super) target: String,
    pub(super) profile: &'static str,
}

impl Understanding {
    pub(super) fn of(loaded: &Loaded) -> Self {
        let (spec, model) = (&loaded.spec, loaded.mechanism.tree());
        let bodies = bodies(spec, model);
        let loops = LoopsEntry::of(spec, model);
        let total_mass_kg = model
            .linkage
            .system
            .bodies()
            .iter()
            .map(|b| b.rigid.mass)
            .sum();
        Self {
            model: spec.name.clone().unwrap_or(loaded.label.clone()),
            lissom_version: env!("CARGO_PKG_VERSION"),
            file: loaded.path.as_ref().map(|path| path.display().to_string()),
            degrees_of_freedom: freedoms(model, loops.as_ref()),
            mesh: loaded.mechanism.nodal().map(MeshEntry::of),
            total_mass_kg,
            center_of_mass_m: if spec.is_of_nodes() {
                [0.0; 3]
            } else {
                center_of_mass(model)
            },
            gravity_m_per_s2: spec.gravity_m_per_s2,
            inputs: inputs(spec),
            motions: motions(spec),
            controllers: controllers(spec),
            fidelity: record::switches(model.fidelity),
            integrator: integrator(&spec.simulation.integrator).0,
            duration_s: spec.simulation.duration_s,
            sample_period_s: spec.sample_period_s(),
            warnings: match loaded.mechanism.nodal() {
                None => {
                    let found = warnings(spec, model, loops.as_ref());
                    let many = many_steps(spec, fastest(model, &bodies), "keep fewer modes");
                    [found, many, notes::notes(loaded)].concat()
                }
                Some(mesh) => {
                    let found = if spec.is_of_nodes() {
                        Vec::new()
                    } else {
                        warnings(spec, model, loops.as_ref())
                    };
                    let many = many_steps(spec, fastest_of_mesh(spec, mesh), "take fewer elements");
                    [found, many].concat()
                }
            },
            loops,
            bodies,
        }
    }
}

fn bodies(spec: &ModelSpec, model: &Model) -> Vec<BodyEntry> {
    let mut entries: Vec<BodyEntry> = Vec::new();
    for tree in spanning_tree(spec).joints {
        let joint = &spec.joint[tree.joint];
        let (carrier, carried) = tree.sides(spec);
        let name = &carried.body;
        let built = model
            .linkage
            .system
            .bodies()
            .iter()
            .find(|body| body.name == *name);
        let (Some(body), Some(built), Some(kind)) = (spec.find_body(name), built, joint.kind())
        else {
            continue;
        };
        let carried = spec.payload.iter().filter(|payload| payload.body == *name);
        let payloads: Vec<PayloadEntry> = carried
            .map(|payload| PayloadEntry {
                name: payload.name.clone(),
                mass_kg: payload.mass_kg,
            })
            .collect();
        // a rigid body was built together with its payloads
        let included: f64 = match built.flexible {
            None => payloads.iter().map(|payload| payload.mass_kg).sum(),
            Some(_) => 0.0,
        };
        let parent = entries.iter().find(|entry| entry.name == carrier.body);
        let depth = parent.map_or(1, |parent| parent.depth + 1);
        let flexible = built.flexible.as_ref();
        entries.push(BodyEntry {
            name: name.clone(),
            kind: match body.kind() {
                Some(BodyKind::Beam(_)) => "beam",
                Some(BodyKind::Nodal(_) | BodyKind::NodalFile(_)) => "nodal",
                Some(BodyKind::Rigid(_)) | None => "rigid",
            },
            mass_kg: built.rigid.mass - included,
            joint: JointEntry {
                name: joint.name.clone(),
                kind: kind.key(),
                parent: carrier.body.clone(),
                at: place(carrier),
                degrees_of_freedom: kind.degrees_of_freedom(),
            },
            elastic_coordinates: flexible.map_or_else(Vec::new, |f| f.coordinates.clone()),
            frequencies_rad_per_s: flexible
                .and_then(|f| f.frequencies().ok())
                .unwrap_or_default(),
            payloads,
            markers: (spec.marker.iter())
                .filter(|marker| marker.body == *name)
                .map(|marker| marker.name.clone())
                .collect(),
            depth,
        });
    }
    entries
}

fn place(attachment: &AttachmentSpec) -> Option<String> {
    match attachment.place() {
        Place::Named(at) => Some(at.to_owned()),
        Place::Position([x, y, z]) => Some(format!("[{x}, {y}, {z}]")),
        Place::Unsaid => None,
    }
}

fn freedoms(model: &Model, loops: Option<&LoopsEntry>) -> Freedoms {
    let bodies = model.linkage.system.bodies();
    let prescribed = model.motions.len();
    let joints: usize = bodies.iter().map(|b| b.joint.kind.velocities()).sum();
    let joint = joints.saturating_sub(prescribed);
    let elastic = bodies.iter().map(Body::modes).sum();
    let motor = model.transmissions.len();
    let closed = loops.map_or(0, |loops| loops.rank);
    Freedoms {
        joint,
        elastic,
        motor,
        prescribed,
        closed,
        total: (joint + elastic + motor).saturating_sub(closed),
    }
}

/// The centre of mass at the start.
fn center_of_mass(model: &Model) -> [f64; 3] {
    let mut kinematics = Kinematics::new(&model.linkage.system);
    kinematics.update(
        &model.linkage.system,
        &model.initial_position,
        &model.initial_velocity,
    );
    kinematics.update_poses(&model.linkage.system);
    let center = tree::center_of_mass(&model.linkage.system, &kinematics);
    // adding zero turns a negative zero into zero
    center.map_or([f64::NAN; 3], |center| center.0.map(|x| x + 0.0))
}

fn inputs(spec: &ModelSpec) -> Vec<Driven> {
    let driven = |input: &InputSpec| {
        let target = match (&input.marker, &input.joint) {
            (Some(marker), _) => format!("marker {marker}"),
            (None, joint) => component(spec, joint.as_deref().unwrap_or_default(), input.component),
        };
        Driven {
            target,
            profile: input.loads().first().map_or("", |(key, _, _)| *key),
            what: "input",
        }
    };
    spec.input.iter().map(driven).collect()
}

fn controllers(spec: &ModelSpec) -> Vec<Driven> {
    let driven = |controller: &ControllerSpec| Driven {
        what: "controller",
        target: controller.joints.join(", "),
        profile: match controller.joint_pd {
            Some(_) => "joint_pd",
            None => "computed_pd",
        },
    };
    spec.controller.iter().map(driven).collect()
}

fn motions(spec: &ModelSpec) -> Vec<Driven> {
    let driven = |motion: &MotionSpec| Driven {
        target: component(spec, &motion.joint, motion.component),
        profile: motion
            .profile_specs()
            .first()
            .map_or("", |profile| profile.key()),
        what: "motion",
    };
    spec.motion.iter().map(driven).collect()
}

/// The joint, with the component if it has several.
fn component(spec: &ModelSpec, joint: &str, component: usize) -> String {
    let kind = spec.find_joint(joint).and_then(JointSpec::kind);
    if kind.is_some_and(|kind| kind.degrees_of_freedom() > 1) {
        format!("joint {joint}, component {component}")
    } else {
        format!("joint {joint}")
    }
}

/// Name of the integrator, and whether its steps are bound to the fastest oscillation.
fn integrator(integrator: &IntegratorSpec) -> (&'static str, bool) {
    match integrator {
        IntegratorSpec::Dop853(_) => ("dop853", true),
        IntegratorSpec::Dopri5(_) => ("dopri5", true),
        IntegratorSpec::Adams(_) => ("adams", true),
        IntegratorSpec::Radau(_) => ("radau", false),
        IntegratorSpec::GeneralizedAlpha(_) => ("generalized_alpha", false),
        IntegratorSpec::Newmark(_) => ("newmark", false),
    }
}

fn warnings(spec: &ModelSpec, model: &Model, loops: Option<&LoopsEntry>) -> Vec<String> {
    let mut warnings = Vec::new();
    if loops.is_some_and(|loops| loops.singular_start) {
        warnings.push(
            "the start is a singular configuration: equations of the loops that are independent nearby are \
             not so there; start elsewhere"
                .to_owned(),
        );
    }
    let locked = |loops: &LoopsEntry| {
        let elastic = model
            .linkage
            .system
            .bodies()
            .iter()
            .any(|body| body.modes() > 0);
        loops.rigid_degrees_of_freedom == 0 && !elastic && model.transmissions.is_empty()
    };
    if loops.is_some_and(locked) {
        warnings.push(
            "nothing can move: the loops leave no degree of freedom; take a joint or a loop away, or let one leave more \
             free"
                .to_owned(),
        );
    } else if nothing_moves(model) {
        warnings.push(
            "nothing will move: the model starts in equilibrium and at rest, and nothing drives it; \
             give it gravity, an input, a motion or an initial rate"
                .to_owned(),
        );
    }
    if let Some(coordinate) = without_inertia(model) {
        warnings.push(format!(
            "{coordinate} moves no mass of its own at the start, so that a run will fail there; a beam that \
             can turn about its own axis needs section_inertia_y_kg_m or section_inertia_z_kg_m, other \
             bodies need mass"
        ));
    }
    match nominal_drives(model, spec.simulation.start_s) {
        Err(error) => warnings.push(error.to_string()),
        Ok(Some(drives)) => warnings.extend(drives.warning()),
        Ok(None) => {}
    }
    if spec.marker.is_empty() {
        warnings.push("no place in space is recorded; add a [[marker]] to follow one".to_owned());
    }
    warnings
}

/// The fastest vibration of a tree in rad/s, and what vibrates.
fn fastest<'a>(model: &'a Model, bodies: &'a [BodyEntry]) -> Option<(&'a str, f64)> {
    let gears = (model.transmissions.iter().zip(&model.actions.gears))
        .map(|(motor, gear)| (motor.name.as_str(), (gear.stiffness / motor.inertia).sqrt()));
    let elastic = (bodies.iter())
        .filter_map(|body| Some((body.name.as_str(), *body.frequencies_rad_per_s.last()?)));
    elastic.chain(gears).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The fastest vibration of finite elements at the start in rad/s, if it is found in little time.
fn fastest_of_mesh(spec: &ModelSpec, mesh: &Mesh) -> Option<(&'static str, f64)> {
    if mesh.mechanism.dof_count() > MANY_FREEDOMS {
        return None;
    }
    let (position, velocity) = (mesh.initial_position(), mesh.initial_velocity());
    let (position, velocity) = (position.to_vec(), velocity.to_vec());
    let state = lissom::State::new(spec.simulation.start_s, position, velocity);
    let mut linearizer = MeshLinearizer::new(mesh).ok()?;
    let motion = linearizer.moving(&state).ok()?;
    let linear = linearizer.point(&motion).ok()?.linear;
    let modes = UndampedModes::new(&linear.mass, &linear.structural).ok()?;
    let square = modes.squares.into_iter().fold(0.0, f64::max);
    Some(("the mesh of finite elements", square.sqrt()))
}

/// What to say of a vibration that an explicit integrator follows in many steps.
fn many_steps(spec: &ModelSpec, fastest: Option<(&str, f64)>, remedy: &str) -> Vec<String> {
    let (name, explicit) = integrator(&spec.simulation.integrator);
    let Some((what, frequency)) = fastest.filter(|_| explicit) else {
        return Vec::new();
    };
    let steps = frequency * spec.simulation.duration_s / RADIANS_PER_STEP;
    if steps <= MANY_STEPS {
        return Vec::new();
    }
    vec![format!(
        "{what} oscillates at up to {} rad/s, which takes {name} about {} steps; {remedy}, or use an \
         integrator for stiff equations: --set simulation.integrator={{radau={{}}}}, or \
         --set simulation.integrator={{generalized_alpha={{step_s=0.005}}}}",
        short(frequency),
        short(steps)
    )]
}

/// The first velocity that is free to change and has, with those before it held in balance, no inertia:
/// where Cholesky's factor of the mass matrix breaks off.
fn without_inertia(model: &Model) -> Option<&str> {
    let n = model.linkage.velocities.len();
    let mass = evaluate(model, &start(model)).mass_matrix;
    let free: Vec<usize> = (0..n)
        .filter(|&at| model.motions.iter().all(|motion| motion.velocity != at))
        .collect();
    let mut factor = vec![0.0; free.len() * free.len()];
    for (i, &row) in free.iter().enumerate() {
        for (j, &column) in free[..=i].iter().enumerate() {
            let known: f64 = (0..j)
                .map(|k| factor[i * free.len() + k] * factor[j * free.len() + k])
                .sum();
            let rest = mass[row * n + column] - known;
            factor[i * free.len() + j] = if i != j {
                rest / factor[j * free.len() + j]
            } else if rest > NO_INERTIA * mass[row * n + row] {
                rest.sqrt()
            } else {
                return Some(&model.linkage.velocities[row].name);
            };
        }
    }
    None
}

/// Whether the model starts in equilibrium and at rest, with nothing that drives it.
fn nothing_moves(model: &Model) -> bool {
    let driven = !model.actions.loads.is_empty() || !model.motions.is_empty();
    let at_rest = model.initial_velocity.iter().all(|&rate| rate == 0.0);
    if driven || !at_rest {
        return false;
    }
    let evaluation = evaluate(model, &start(model));
    let free = match evaluation.closed {
        Some(Ok(closed)) => closed.acceleration,
        _ => evaluation.acceleration,
    };
    let still = free.iter().all(|rate| rate.abs() < STILL);
    still
        || model
            .linkage
            .system
            .bodies()
            .iter()
            .all(|body| body.joint.kind == JointKind::Fixed && body.modes() == 0)
}

/// The state at the start, with no forces.
fn start(model: &Model) -> StateInput {
    StateInput {
        position: model.initial_position.clone(),
        velocity: model.initial_velocity.clone(),
        force: vec![0.0; model.linkage.velocities.len()],
        acceleration: None,
    }
}
