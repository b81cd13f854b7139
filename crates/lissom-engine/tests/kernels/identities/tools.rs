//! What the identities share: random cases, kernels that allocate their results, exact derivatives.

use lissom_engine::model::Model;
use lissom_engine::testing::{Random, RandomBody, RandomState, Variety, random_state};
use lissom_spatial::{Dual, Motion, Quaternion, Scalar, Vector};
use lissom_spec::{ModelSpec, ShorteningTerms, Tip};
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, MarkerMotion, inverse_dynamics,
    marker_motion, mass_matrix,
};
use lissom_tree::{JointKind, Marker, System};
use nalgebra::{DMatrix, DVector};

/// A value with its derivative in one direction.
pub(crate) type Rate = Dual<f64, 1>;

/// A random mechanism in a random state.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) state: RandomState,
}

impl Case {
    pub(crate) fn new(variety: &Variety<'_>, seed: u64) -> Self {
        let spec = variety.mechanism(seed);
        let model = Model::build(&spec).unwrap();
        let state = random_state(&model.linkage.system, &mut Random::new(seed));
        Self {
            name: format!("{} bodies of seed {seed}", variety.bodies),
            model,
            state,
        }
    }

    pub(crate) fn system(&self) -> &System {
        &self.model.linkage.system
    }

    /// The state as plain numbers, prepared.
    pub(crate) fn kinematics(&self) -> Kinematics<f64> {
        prepared(self.system(), &self.state.position, &self.state.velocity)
    }

    /// Positions and velocities of the state with their rates in time.
    pub(crate) fn in_time(&self) -> (Vec<Rate>, Vec<Rate>) {
        let state = &self.state;
        in_time(
            self.system(),
            &state.position,
            &state.velocity,
            &state.acceleration,
        )
    }
}

/// Branched trees of up to 30 bodies in which every kind of body, joint and attachment occurs, one of them
/// without shortening; and one of clamped beams whose nodes turn with their chords.
pub(crate) fn trees() -> Vec<Case> {
    let chords = Variety {
        body_kinds: &[RandomBody::ClampedFree, RandomBody::Rigid],
        tip: Tip::Chord,
        ..Variety::everything(12)
    };
    let unshortened = Variety {
        shortening: ShorteningTerms::None,
        ..Variety::everything(30)
    };
    vec![
        Case::new(&Variety::everything(2), 11),
        Case::new(&Variety::everything(6), 12),
        Case::new(&Variety::everything(12), 13),
        Case::new(&Variety::everything(30), 14),
        Case::new(&unshortened, 15),
        Case::new(&chords, 16),
    ]
}

/// Branched trees whose positions are vectors with the velocities for rates.
pub(crate) fn vector_trees() -> Vec<Case> {
    let vectors = |bodies| Variety {
        joint_kinds: Variety::VECTOR_JOINTS,
        ..Variety::everything(bodies)
    };
    let unshortened = Variety {
        shortening: ShorteningTerms::None,
        ..vectors(8)
    };
    vec![
        Case::new(&vectors(2), 21),
        Case::new(&vectors(8), 22),
        Case::new(&unshortened, 23),
    ]
}

pub(crate) fn build(spec: &ModelSpec) -> Model {
    Model::build(spec).unwrap()
}

/// Constants of another scalar.
pub(crate) fn lift<T: Scalar>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&x| T::constant(x)).collect()
}

pub(crate) fn prepared<T: Scalar>(
    system: &System,
    position: &[T],
    velocity: &[T],
) -> Kinematics<T> {
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, position, velocity);
    kinematics.update_poses(system);
    kinematics
}

pub(crate) fn forces<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
) -> Vec<T> {
    let mut force = vec![T::zero(); acceleration.len()];
    let mut workspace = InverseDynamics::new(system);
    inverse_dynamics(system, kinematics, acceleration, &mut workspace, &mut force);
    force
}

pub(crate) fn mass<T: Scalar>(system: &System, kinematics: &Kinematics<T>) -> Vec<T> {
    let size = system.velocity_count();
    let mut matrix = vec![T::zero(); size * size];
    mass_matrix(
        system,
        kinematics,
        &mut CompositeBody::new(system),
        &mut matrix,
    );
    matrix
}

pub(crate) fn accelerations<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    force: &[T],
) -> Vec<T> {
    let mut articulated = ArticulatedBody::new(system);
    let mut acceleration = vec![T::zero(); force.len()];
    articulated.factor(system, kinematics);
    articulated.forward_dynamics(system, kinematics, force, &mut acceleration);
    acceleration
}

/// Accelerations by factoring the mass matrix.
pub(crate) fn accelerations_by_mass_matrix(
    system: &System,
    kinematics: &Kinematics<f64>,
    force: &[f64],
) -> Vec<f64> {
    let size = force.len();
    let bias = forces(system, kinematics, &vec![0.0; size]);
    let right = DVector::from_fn(size, |i, _| force[i] - bias[i]);
    let factor = DMatrix::from_row_slice(size, size, &mass(system, kinematics))
        .cholesky()
        .expect("a mass matrix is positive definite");
    factor.solve(&right).as_slice().to_vec()
}

/// Motion of a marker, with the influence of its body's elastic coordinates.
pub(crate) fn marker<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    marker: &Marker,
    position: &[T],
    velocity: &[T],
) -> (MarkerMotion<T>, Vec<Motion<T>>) {
    let body = marker.body.expect("the marker is on a body");
    let mut influence = vec![Motion::zero(); system.bodies()[body].modes()];
    let motion = marker_motion(
        system,
        kinematics,
        body,
        &marker.place,
        position,
        velocity,
        &mut influence,
    );
    (motion, influence)
}

/// Rates of the positions that belong to velocities.
pub(crate) fn position_rates<T: Scalar>(system: &System, position: &[T], velocity: &[T]) -> Vec<T> {
    let layout = system.layout();
    let mut rate = Vec::with_capacity(position.len());
    for (k, body) in system.bodies().iter().enumerate() {
        let q = &position[layout.joint_position[k]..];
        let v = &velocity[layout.joint_velocity[k]..];
        match body.joint.kind {
            JointKind::Fixed => {}
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => rate.push(v[0]),
            JointKind::Spherical => {
                let quaternion = Quaternion([q[0], q[1], q[2], q[3]]);
                rate.extend(quaternion.rate(Vector([v[0], v[1], v[2]])).0);
            }
            JointKind::Free => {
                let quaternion = Quaternion([q[3], q[4], q[5], q[6]]);
                rate.extend((quaternion.matrix() * Vector([v[3], v[4], v[5]])).0);
                rate.extend(quaternion.rate(Vector([v[0], v[1], v[2]])).0);
            }
        }
        let first = layout.elastic_velocity[k];
        rate.extend(&velocity[first..first + body.modes()]);
    }
    rate
}

/// Values that change at given rates.
pub(crate) fn moving<T: Scalar>(value: &[T], rate: &[T]) -> Vec<Dual<T, 1>> {
    value
        .iter()
        .zip(rate)
        .map(|(&value, &rate)| Dual {
            value,
            tangent: [rate],
        })
        .collect()
}

/// Positions and velocities whose tangents are their time derivatives when the velocities change by
/// `acceleration`.
pub(crate) fn in_time<T: Scalar>(
    system: &System,
    position: &[T],
    velocity: &[T],
    acceleration: &[T],
) -> (Vec<Dual<T, 1>>, Vec<Dual<T, 1>>) {
    let rate = position_rates(system, position, velocity);
    (moving(position, &rate), moving(velocity, acceleration))
}

/// Positions whose tangents are their rates for a unit of velocity `direction` alone.
pub(crate) fn along_velocity(system: &System, position: &[f64], direction: usize) -> Vec<Rate> {
    let mut velocity = vec![0.0; system.velocity_count()];
    velocity[direction] = 1.0;
    moving(position, &position_rates(system, position, &velocity))
}

/// The derivatives.
pub(crate) fn tangents<T: Scalar>(x: &[Dual<T, 1>]) -> Vec<T> {
    x.iter().map(|x| x.tangent[0]).collect()
}

/// Largest entry.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| x.abs().max(most))
}

/// Euclidean length.
pub(crate) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Largest difference of two vectors, relative to the largest entry of the second; what is zero must be
/// zero exactly.
pub(crate) fn difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let apart: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    assert!(apart.iter().all(|x| x.is_finite()));
    largest(&apart) / largest(expected).max(f64::MIN_POSITIVE)
}

/// Asserts that two vectors agree relative to the largest entry.
#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let apart = difference(found, expected);
    assert!(
        apart <= tolerance,
        "{what}: differ by {apart:e}, allowed {tolerance:e}"
    );
}

/// Asserts that two vectors agree, every entry relative to its own scale.
#[track_caller]
pub(crate) fn assert_close_by_entry(
    found: &[f64],
    expected: &[f64],
    scale: &[f64],
    tolerance: f64,
    what: &str,
) {
    assert_eq!(found.len(), expected.len());
    let by_scale = |x: &[f64]| x.iter().zip(scale).map(|(x, s)| x / s).collect::<Vec<_>>();
    let (found, expected) = (by_scale(found), by_scale(expected));
    let apart = found.iter().zip(&expected).map(|(a, b)| a - b);
    assert_small(&apart.collect::<Vec<_>>(), tolerance, what);
}

/// Asserts that all entries are below a bound.
#[track_caller]
pub(crate) fn assert_small(x: &[f64], tolerance: f64, what: &str) {
    let most = largest(x);
    assert!(
        x.iter().all(|x| x.is_finite()) && most <= tolerance,
        "{what}: off by {most:e}, allowed {tolerance:e}"
    );
}

/// Scale of every entry of a symmetric positive definite matrix: the root of the product of its diagonal
/// entries, which no entry exceeds.
pub(crate) fn entry_scales(matrix: &[f64], size: usize) -> Vec<f64> {
    let diagonal: Vec<f64> = (0..size).map(|i| matrix[i * size + i].sqrt()).collect();
    (0..size * size)
        .map(|at| diagonal[at / size] * diagonal[at % size])
        .collect()
}
