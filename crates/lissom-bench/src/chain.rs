//! Chains of equal links to measure on.

use lissom_engine::model::Model;
pub use lissom_io::validation::costs::chain_spec;
use lissom_spatial::Scalar;
use lissom_tree::tree::{
    ArticulatedBody, CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, mass_matrix,
};

/// A chain of `bodies` links with `modes` elastic coordinates each, as a model.
///
/// # Panics
/// If the model cannot be built, which would be a defect of [`chain_spec`].
pub fn chain(bodies: usize, modes: usize, shortening: bool) -> Model {
    Model::build(&chain_spec(bodies, modes, shortening)).expect("a chain of beams can be built")
}

/// A state and the memory of all algorithms, in one scalar type.
#[derive(Clone, Debug)]
pub struct Bench<'m, T> {
    model: &'m Model,
    position: Vec<T>,
    velocity: Vec<T>,
    force: Vec<T>,
    /// Accelerations of the last call.
    pub acceleration: Vec<T>,
    kinematics: Kinematics<T>,
    articulated: ArticulatedBody<T>,
    composite: CompositeBody<T>,
    inverse: InverseDynamics<T>,
    mass: Vec<T>,
    bias: Vec<T>,
}

impl<'m, T: Scalar> Bench<'m, T> {
    /// Buffers for `model`, at its initial state with a little bending.
    pub fn new(model: &'m Model) -> Self {
        let system = &model.linkage.system;
        let n = system.velocity_count();
        let bend = |coordinates: &[lissom_tree::Coordinate], values: &[f64], size: f64| {
            let elastic =
                |c: &lissom_tree::Coordinate| c.kind == lissom_tree::CoordinateKind::Elastic;
            let entries = coordinates.iter().zip(values).enumerate();
            entries
                .map(|(i, (c, &x))| {
                    T::constant(if elastic(c) {
                        size * (1.0 + (i % 3) as f64)
                    } else {
                        x
                    })
                })
                .collect::<Vec<T>>()
        };
        Self {
            model,
            position: bend(&model.linkage.positions, &model.initial_position, 0.004),
            velocity: bend(&model.linkage.velocities, &model.initial_velocity, 0.05),
            force: vec![T::zero(); n],
            acceleration: vec![T::zero(); n],
            kinematics: Kinematics::new(system),
            articulated: ArticulatedBody::new(system),
            composite: CompositeBody::new(system),
            inverse: InverseDynamics::new(system),
            mass: vec![T::zero(); n * n],
            bias: vec![T::zero(); n],
        }
    }

    /// The same, with the indirect inverse for bodies of at least `modes` elastic coordinates.
    #[must_use]
    pub fn with_indirect_from(mut self, modes: usize) -> Self {
        self.articulated = ArticulatedBody::with_indirect_from(&self.model.linkage.system, modes);
        self
    }

    /// Velocities, biases, body inertias.
    pub fn kinematics(&mut self) {
        self.kinematics
            .update(&self.model.linkage.system, &self.position, &self.velocity);
    }

    /// Articulated inertias of the state last given to [`kinematics`](Self::kinematics).
    pub fn factor(&mut self) {
        self.articulated
            .factor(&self.model.linkage.system, &self.kinematics);
    }

    /// Accelerations of the state last given to [`factor`](Self::factor).
    pub fn forward(&mut self) {
        self.articulated.forward_dynamics(
            &self.model.linkage.system,
            &self.kinematics,
            &self.force,
            &mut self.acceleration,
        );
    }

    /// Accelerations by articulated bodies, kinematics included.
    pub fn articulated(&mut self) {
        self.kinematics();
        self.factor();
        self.forward();
    }

    /// Accelerations by composite bodies, kinematics included: mass matrix, bias, Cholesky.
    pub fn composite(&mut self) {
        self.kinematics();
        let system = &self.model.linkage.system;
        mass_matrix(
            system,
            &self.kinematics,
            &mut self.composite,
            &mut self.mass,
        );
        self.acceleration.fill(T::zero());
        inverse_dynamics(
            system,
            &self.kinematics,
            &self.acceleration,
            &mut self.inverse,
            &mut self.bias,
        );
        for (a, (&f, &b)) in self
            .acceleration
            .iter_mut()
            .zip(self.force.iter().zip(&self.bias))
        {
            *a = f - b;
        }
        solve_by_cholesky(&mut self.mass, &mut self.acceleration);
    }
}

/// Lengths of chains between which the cost is seen to grow. Bodies that carry hundreds of times their own mass have their accelerations
/// corrected once, so that long chains cost more by a factor: each row is a line of its own.
pub const GROWING: [[usize; 4]; 2] = [[10, 30, 100, 200], [300, 600, 1200, 2400]];

/// Solves a symmetric positive definite system in place.
fn solve_by_cholesky<T: Scalar>(a: &mut [T], b: &mut [T]) {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let mut sum = a[i * n + j];
            for l in 0..j {
                sum -= a[i * n + l] * a[j * n + l];
            }
            a[i * n + j] = if i == j {
                sum.sqrt()
            } else {
                sum / a[j * n + j]
            };
        }
    }
    for i in 0..n {
        let mut sum = b[i];
        for j in 0..i {
            sum -= a[i * n + j] * b[j];
        }
        b[i] = sum / a[i * n + i];
    }
    for i in (0..n).rev() {
        let mut sum = b[i];
        for j in i + 1..n {
            sum -= a[j * n + i] * b[j];
        }
        b[i] = sum / a[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted::{Counted, count};
    use crate::stopwatch::exponent;
    use lissom_io::validation::costs::{BODIES, Counting};

    /// The recursion visits every body three times and nothing else: its cost is a line through the origin
    /// but for the first body, which has no parent to fold into.
    #[test]
    fn operations_grow_linearly_with_bodies() {
        for modes in [0, 4] {
            for lengths in GROWING {
                let points = lengths.map(|bodies| {
                    let model = chain(bodies, modes, true);
                    let mut bench = Bench::<Counted>::new(&model);
                    (bodies as f64, count(|| bench.articulated()) as f64)
                });
                let found = exponent(&points);
                assert!(
                    (found - 1.0).abs() < 0.02,
                    "{modes} modes, {lengths:?} bodies: exponent {found}"
                );
            }
        }
    }

    /// Figure 2 of \[Jain & Rodriguez 1992\] is drawn of these counts: they are those of the recursions as they are.
    #[test]
    fn counts_of_the_figure_are_those_of_the_recursions() {
        let kept = Counting::Ours.counts();
        assert_eq!(kept.len(), 13);
        for cost in kept {
            let model = chain(BODIES, cost.modes, false);
            let mut bench = Bench::<Counted>::new(&model);
            let found = [count(|| bench.composite()), count(|| bench.articulated())];
            let kept = [cost.composite, cost.articulated];
            assert_eq!(
                found.map(|count| count as f64),
                kept,
                "{} modes",
                cost.modes
            );
        }
    }

    /// Factoring and the indirect inverse (B3) solve the same equations; condition numbers of these chains
    /// stay below 1e6.
    #[test]
    fn indirect_inverse_agrees_with_factoring() {
        const AGREEMENT: f64 = 1e-9;
        for (bodies, modes) in [(1, 20), (3, 18), (4, 30)] {
            let model = chain(bodies, modes, false);
            let mut direct = Bench::<f64>::new(&model).with_indirect_from(usize::MAX);
            let mut indirect = Bench::<f64>::new(&model).with_indirect_from(1);
            direct.articulated();
            indirect.articulated();
            let scale = direct
                .acceleration
                .iter()
                .fold(1.0_f64, |m, a| m.max(a.abs()));
            for (a, b) in direct.acceleration.iter().zip(&indirect.acceleration) {
                assert!(
                    (a - b).abs() < AGREEMENT * scale,
                    "{bodies} × {modes}: {a} {b}"
                );
            }
        }
    }
}
