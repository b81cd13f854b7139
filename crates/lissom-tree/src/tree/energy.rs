//! Energy and momentum of the prepared state.

use super::Kinematics;
use super::membrane;
use crate::System;
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Vector};

/// Energy of a system, in joules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy<T> {
    /// Kinetic energy, rotors of motors included.
    pub kinetic: T,
    /// Strain energy of the flexible bodies.
    pub strain: T,
    /// Potential energy of gravity, zero at the ground's origin.
    pub gravity: T,
}

impl<T: Scalar> Energy<T> {
    /// Sum of all parts.
    pub fn total(&self) -> T {
        self.kinetic + self.strain + self.gravity
    }
}

/// Energy of the state last given to [`Kinematics::update`] and [`Kinematics::update_poses`].
#[inline(never)]
pub fn energy<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    position: &[T],
    velocity: &[T],
) -> Energy<T> {
    let layout = system.layout();
    let gravity = Vector::<T>::constant(system.gravity().0);
    let mut energy = Energy {
        kinetic: T::zero(),
        strain: T::zero(),
        gravity: T::zero(),
    };
    for (k, body) in system.bodies().iter().enumerate() {
        let n = body.modes();
        let elastic = &position[layout.elastic_position[k]..][..n];
        let rate = &velocity[layout.elastic_velocity[k]..][..n];
        energy.kinetic +=
            kinematics.twist[k].dot(body_momentum(kinematics, k, layout.elastic[k], rate)) * 0.5;
        let modal_mass = &kinematics.modal_mass[layout.modal_block[k]..];
        for alpha in 0..n {
            let coupling = kinematics.coupling[layout.elastic[k] + alpha];
            energy.kinetic += kinematics.twist[k].dot(coupling) * rate[alpha] * 0.5;
            for beta in 0..n {
                energy.kinetic += rate[alpha] * modal_mass[alpha * n + beta] * rate[beta] * 0.5;
            }
        }
        for i in 0..body.joint.kind.velocities() {
            let rate = velocity[layout.joint_velocity[k] + i];
            energy.kinetic += rate * rate * (0.5 * body.joint.armature[i]);
        }
        if let Some(flexible) = &body.flexible {
            if let Some(strain) = system.strain(k) {
                energy.strain += membrane::energy(strain, body.fidelity.elasticity, elastic);
            }
            for alpha in 0..n {
                for beta in 0..n {
                    energy.strain += elastic[alpha]
                        * elastic[beta]
                        * (0.5 * flexible.stiffness[alpha * n + beta]);
                }
            }
        }
    }
    energy.gravity = -gravity.dot(first_moment(system, kinematics));
    energy
}

/// Centre of mass in ground components, in the poses last given to [`Kinematics::update_poses`]; `None` without mass.
pub fn center_of_mass(system: &System, kinematics: &Kinematics<f64>) -> Option<Vector<f64>> {
    let bodies = 0..system.bodies().len();
    let mass: f64 = bodies.map(|k| kinematics.inertia[k].mass).sum();
    (mass > 0.0).then(|| first_moment(system, kinematics).scale(1.0 / mass))
}

/// Sum of all masses times their places.
fn first_moment<T: Scalar>(system: &System, kinematics: &Kinematics<T>) -> Vector<T> {
    let mut sum = Vector::zero();
    for k in 0..system.bodies().len() {
        let (pose, inertia) = (&kinematics.ground_from_body[k], &kinematics.inertia[k]);
        sum += pose.rotation * inertia.first_moment + pose.translation.scale(inertia.mass);
    }
    sum
}

/// Linear momentum, and angular momentum about the ground's origin, in ground components.
#[inline(never)]
pub fn momentum<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    velocity: &[T],
) -> Force<T> {
    let layout = system.layout();
    let mut total = Force::zero();
    for (k, body) in system.bodies().iter().enumerate() {
        let rate = &velocity[layout.elastic_velocity[k]..][..body.modes()];
        let own = body_momentum(kinematics, k, layout.elastic[k], rate);
        total += kinematics.ground_from_body[k].force_to_parent(own);
    }
    total
}

/// Momentum of one body about its origin.
fn body_momentum<T: Scalar>(
    kinematics: &Kinematics<T>,
    k: usize,
    first: usize,
    rate: &[T],
) -> Force<T> {
    let mut momentum = kinematics.inertia[k].times(kinematics.twist[k]);
    for (coupling, &rate) in kinematics.coupling[first..].iter().zip(rate) {
        momentum += coupling.scale(rate);
    }
    momentum
}
