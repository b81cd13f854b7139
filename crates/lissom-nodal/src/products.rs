//! Linearised equations by what they do to motions, in time that grows with the number of elements: no matrix over the degrees of
//! freedom is formed, and nothing is solved but the conditions, once per motion.

use nalgebra::{DMatrix, DVector};

use lissom_spatial::Vector;

use super::equations::Equations;
use super::error::NodalError;
use super::forces::AppliedForces;
use super::linear::{DIRECTIONS, Lifted, State};

/// The equations linearised about a state, for products with motions: one per column, one row per degree of freedom.
pub struct Products<'e, 'm, F> {
    equations: &'e mut Equations<'m>,
    state: State<'e, F>,
    lifted: Lifted,
    /// How nodes move in a few directions.
    along: [Vec<Vector<f64>>; DIRECTIONS],
}

impl<'e, 'm, F: AppliedForces> Products<'e, 'm, F> {
    /// About a state.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn new(equations: &'e mut Equations<'m>, state: State<'e, F>) -> Result<Self, NodalError> {
        equations.place(state.position, state.drives)?;
        let mechanism = equations.mechanism;
        let still = || vec![Vector([0.0; 3]); mechanism.node_count()];
        Ok(Self {
            lifted: Lifted::new(mechanism, &state),
            along: std::array::from_fn(|_| still()),
            equations,
            state,
        })
    }

    /// $`MX`$.
    pub fn mass(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let mut product = DMatrix::zeros(motions.nrows(), motions.ncols());
        for (column, motion) in motions.column_iter().enumerate() {
            let momentum = &mut product.as_mut_slice()[column * motions.nrows()..];
            let motion = motion.clone_owned();
            (self.equations).times_mass(motion.as_slice(), &mut momentum[..motions.nrows()]);
        }
        product
    }

    /// Derivative of the residual by the positions, times motions.
    pub fn stiffness(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let mut product = DMatrix::zeros(motions.nrows(), motions.ncols());
        for first in (0..motions.ncols()).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(motions.ncols() - first);
            for direction in 0..directions {
                let motion = motions.column(first + direction).clone_owned();
                self.move_nodes(direction, &motion);
            }
            let along = &self.along;
            let moved = |node: usize, direction: usize| along[direction][node];
            (self.equations).lift_nodes(directions, moved, &mut self.lifted.pass);
            self.lifted.evaluate(self.equations, &self.state);
            self.collect(first, directions, &mut product);
        }
        product
    }

    /// Derivative of the residual by the velocities, times motions.
    pub fn damping(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let mut product = DMatrix::zeros(motions.nrows(), motions.ncols());
        let still = |_: usize, _: usize| Vector([0.0; 3]);
        self.equations.lift_nodes(0, still, &mut self.lifted.pass);
        for first in (0..motions.ncols()).step_by(DIRECTIONS) {
            let directions = DIRECTIONS.min(motions.ncols() - first);
            for (dof, velocity) in self.lifted.velocity.iter_mut().enumerate() {
                for direction in 0..directions {
                    velocity.tangent[direction] = motions[(dof, first + direction)];
                }
            }
            self.lifted.evaluate(self.equations, &self.state);
            self.collect(first, directions, &mut product);
        }
        for velocity in &mut self.lifted.velocity {
            velocity.tangent = [0.0; DIRECTIONS];
        }
        product
    }

    /// Work of the stiffness of the elements on a motion, what single nodes and deformations add to it summed without signs.
    pub fn gross_work(&mut self, motion: &DVector<f64>) -> f64 {
        self.move_nodes(0, motion);
        let mechanism = self.equations.mechanism;
        let mut work = 0.0;
        for (index, element) in mechanism.elements.iter().enumerate() {
            let count = element.count();
            let gross = |local: usize| {
                let slopes = &self.equations.pass.gradient[mechanism.first[index] + local];
                let nodes = element.nodes.iter().zip(slopes);
                nodes.fold(0.0, |sum, (&node, slope)| {
                    sum + slope.dot(self.along[0][node]).abs()
                })
            };
            for i in 0..count {
                for j in 0..count {
                    let stiffness = element.stiffness[i][j].abs();
                    if stiffness > 0.0 {
                        work += stiffness * gross(i) * gross(j);
                    }
                }
            }
        }
        work
    }

    /// Notes how nodes move with the degrees of freedom.
    fn move_nodes(&mut self, direction: usize, motion: &DVector<f64>) {
        let equations = &mut *self.equations;
        let (mechanism, factor) = (equations.mechanism, &equations.factor);
        let motion = motion.as_slice();
        (equations.pass).velocities(mechanism, factor, motion, &equations.no_drives);
        for (along, node) in self.along[direction].iter_mut().zip(&equations.pass.nodes) {
            *along = node.velocity;
        }
    }

    fn collect(&self, first: usize, directions: usize, product: &mut DMatrix<f64>) {
        for (dof, residual) in self.lifted.residual.iter().enumerate() {
            for direction in 0..directions {
                product[(dof, first + direction)] = residual.tangent[direction];
            }
        }
    }
}
