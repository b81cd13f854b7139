//! A chain of finite elements in space, for the cost of one evaluation and of one correction of an implicit step.

use lissom_nodal::{
    Assembly, BeamSection, Dynamics, End, Equations, Mechanism, NodalError, Role, Unforced,
};
use lissom_spatial::Matrix;

/// Length of an element, m.
const LENGTH_M: f64 = 0.1;

/// A clamped beam of this many elements, all of whose deformations are degrees of freedom.
///
/// # Errors
///
/// None, unless a beam without elements is asked for.
pub fn chain(elements: usize) -> Result<Mechanism, NodalError> {
    let section = BeamSection {
        rotary_inertia_per_length: [2e-4, 1e-4, 1e-4],
        ..BeamSection::slender(0.8, 4e6, 60.0, 90.0)
    };
    let mut assembly = Assembly::new();
    assembly.set_gravity([0.0, 0.0, -9.81]);
    let end = |assembly: &mut Assembly, i: usize| End {
        point: assembly.point(&format!("point_{i}"), [LENGTH_M * i as f64, 0.0, 0.0]),
        orientation: assembly.orientation(&format!("end_{i}"), &Matrix::identity()),
    };
    let mut last = end(&mut assembly, 0);
    assembly.set_node(last.point, Role::Fixed);
    assembly.set_node(last.orientation, Role::Fixed);
    for i in 1..=elements {
        let next = end(&mut assembly, i);
        assembly.beam(&format!("beam_{i}"), last, next, section, [0.0, 1.0, 0.0]);
        last = next;
    }
    assembly.finish()
}

/// The chain in a state that bends and moves, with what evaluations write into.
#[derive(Debug)]
pub struct Bench<'a> {
    dynamics: Dynamics<'a, Unforced>,
    position: Vec<f64>,
    velocity: Vec<f64>,
    /// Accelerations evaluated last.
    pub acceleration: Vec<f64>,
    residual: Vec<f64>,
}

impl<'a> Bench<'a> {
    /// Of a chain.
    ///
    /// # Errors
    ///
    /// None, for [chains](chain).
    pub fn new(mechanism: &'a Mechanism) -> Result<Self, NodalError> {
        let dofs = mechanism.dof_count();
        // bent a little, to one side and to the other in turns
        let wave = |i: usize| {
            if (i / 6).is_multiple_of(2) {
                1e-5
            } else {
                -1e-5
            }
        };
        Ok(Self {
            dynamics: Dynamics::new(Equations::new(mechanism)?, Unforced::new(mechanism)),
            position: (0..dofs).map(wave).collect(),
            velocity: (0..dofs).map(|i| 10.0 * wave(i)).collect(),
            acceleration: vec![0.0; dofs],
            residual: vec![0.0; dofs],
        })
    }

    /// One evaluation of the accelerations.
    ///
    /// # Errors
    ///
    /// None, for chains.
    pub fn evaluate(&mut self) -> Result<(), NodalError> {
        // another place every time, so that the nodes are sought again
        self.position[0] = -self.position[0];
        let acceleration = &mut self.acceleration;
        self.dynamics
            .accelerate(0.0, &self.position, &self.velocity, acceleration)
    }

    /// One step of Newton's method: residual, tangent of a step of a millisecond, factors and correction. Tells whether it could be made.
    pub fn correct(&mut self) -> bool {
        self.position[0] = -self.position[0];
        let motion = [&self.position[..], &self.velocity, &self.acceleration];
        let formed = self.dynamics.form_tangent(0.0, motion, [2.5e-7, 5e-4]);
        self.dynamics
            .update_stresses(&self.acceleration, &mut self.residual);
        self.dynamics.solve_tangent(&mut self.residual);
        formed
    }

    /// Multiplications of the factorisations of an evaluation and of a correction that was made, about.
    pub fn operations(&self) -> [usize; 2] {
        let dynamics = &self.dynamics;
        [
            dynamics.equations().operations(),
            dynamics.tangent_operations(),
        ]
    }
}
