//! [`Loops`]: the closures of a model as the equations of motion use them, under every method alike.
//!
//! The state is always that of the whole tree. A method decides two things: how accelerations are formed, and
//! how a state is brought back onto the closures. Both need changes that close the loops to first order,
//! which the [complement](super::complement) makes in the coordinates it solves for and the
//! [multipliers](super::multipliers) in those of least kinetic energy.

mod crossing;
mod memory;
mod setup;
mod watch;

use super::complement::{Complement, ReducedEquations};
use super::error::{Repartition, Singularity};
use super::multipliers::Multipliers;
use super::{Constraints, Workspace};
use crate::tree::{ArticulatedBody, Kinematics, StageInertia, displace};
use crate::{ClosureMethod, Linkage, System};
use lissom_spatial::Force;

/// Violation, in metres or radians per metre of reach, at which a configuration counts as closed: what rounding
/// leaves of sums over some ten bodies, an order below what is promised.
const CLOSED: f64 = 1e-13;
/// Newton doubles the digits: from one digit to sixteen in five.
const MOST_ITERATIONS: usize = 12;
/// A change this large, in radians or reaches, may lead to another way of assembling the mechanism.
const LARGEST_CHANGE: f64 = 0.5;
/// Condition number of a singular configuration: six of sixteen digits are lost.
const SINGULAR: f64 = 1e6;

/// The loops of a model with all the memory that evaluating them needs.
#[derive(Clone, Debug)]
pub struct Loops {
    constraints: Constraints<f64>,
    rows: Vec<usize>,
    redundant: Vec<usize>,
    /// Prescribed entries of the velocity vector, free joints and free elastic coordinates.
    given: Vec<usize>,
    joints: Vec<usize>,
    elastic: Vec<usize>,
    method: Method,
    automatic: bool,
    chosen_condition: f64,
    repartitions: Vec<Repartition>,
    worst: Option<Singularity>,
    last: Watched,
    multipliers: Vec<f64>,
    change: Vec<f64>,
    kinematics: Kinematics<f64>,
    articulated: ArticulatedBody<f64>,
    workspace: Workspace,
}

/// The configuration after the last step.
#[derive(Clone, Debug)]
struct Watched {
    /// When, not a number if there is none to compare with.
    time: f64,
    /// Time since the one before.
    step: f64,
    /// Sign of a determinant that is zero where the coordinates chosen, or any, do not determine the motion.
    side: f64,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Method {
    Complement(Complement),
    Multipliers(Multipliers),
}

/// A state that cannot be brought onto the closures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclosed;

impl Loops {
    /// Whether a state must be [projected](Self::project) before it is evaluated, so that only the independent
    /// coordinates count.
    pub fn projects_before_evaluation(&self) -> bool {
        matches!(self.method, Method::Complement(_))
    }

    /// Whether a state may be [projected](Self::project) at all: not with Baumgarte's stabilisation.
    pub fn projects(&self) -> bool {
        match &self.method {
            Method::Complement(_) => true,
            Method::Multipliers(multipliers) => !multipliers.is_stabilized(),
        }
    }

    /// Brings a state onto the closures: positions by Newton's iteration, then velocities. Independent or
    /// prescribed coordinates stay as they are. Allocates nothing.
    ///
    /// # Errors
    /// When the iteration does not converge to a configuration nearby.
    pub fn project(
        &mut self,
        linkage: &Linkage,
        position: &mut [f64],
        velocity: &mut [f64],
    ) -> Result<(), Unclosed> {
        let system = &linkage.system;
        let mut before = f64::INFINITY;
        for iteration in 0.. {
            self.evaluate(linkage, position, velocity);
            if !self.factor(linkage, position, velocity) {
                return Err(Unclosed);
            }
            let reach = self.constraints.reach().max(1.0);
            let residual = self.constraints.residual();
            let violation = (self.rows.iter()).fold(0.0, |m, &i| residual[i].abs().max(m));
            // rounding may stop the iteration a little above the goal
            let stalled = violation >= 0.5 * before && violation < 100.0 * CLOSED * reach;
            if violation <= CLOSED * reach || stalled {
                break;
            }
            if iteration == MOST_ITERATIONS || !violation.is_finite() {
                return Err(Unclosed);
            }
            before = violation;
            self.correct(system, |constraints, row| -constraints.residual()[row]);
            let (_, change) = largest(&self.change);
            if change > LARGEST_CHANGE * reach {
                return Err(Unclosed);
            }
            displace(system, position, &self.change);
        }
        self.correct(system, |constraints, row| -constraints.rate()[row]);
        for (v, &change) in velocity.iter_mut().zip(&self.change) {
            *v += change;
        }
        Ok(())
    }

    /// Chooses independent coordinates for a state at which the last choice may be a bad one, if the method
    /// leaves the choice open.
    pub fn choose(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) {
        if !self.automatic {
            return;
        }
        self.prepare(linkage, position, velocity);
        self.last.time = f64::NAN;
        if let Method::Complement(complement) = &mut self.method {
            complement.choose(&self.constraints, &self.joints, &self.elastic);
        }
    }

    /// Evaluates and factors at a state.
    fn prepare(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) -> bool {
        self.evaluate(linkage, position, velocity);
        self.factor(linkage, position, velocity)
    }

    /// Evaluates the closures at a state.
    fn evaluate(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) {
        let system = &linkage.system;
        match self.method {
            // independent coordinates follow from the closures alone
            Method::Complement(_) => self.kinematics.update_motion(system, position, velocity),
            Method::Multipliers(_) => self.kinematics.update(system, position, velocity),
        }
        self.constraints.update(
            system,
            &linkage.closures,
            &mut self.kinematics,
            position,
            velocity,
        );
    }

    fn factor(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) -> bool {
        match &mut self.method {
            Method::Complement(complement) => complement.prepare(
                linkage,
                &self.kinematics,
                &self.constraints,
                position,
                velocity,
            ),
            Method::Multipliers(multipliers) => {
                self.articulated.factor(&linkage.system, &self.kinematics);
                multipliers.prepare(
                    &linkage.system,
                    &self.kinematics,
                    &self.constraints,
                    &mut self.articulated,
                )
            }
        }
    }

    /// Leaves the change that changes the equations as `wanted` in `self.change`.
    fn correct(&mut self, system: &System, wanted: impl Fn(&Constraints<f64>, usize) -> f64) {
        let wanted = |row: usize| wanted(&self.constraints, row);
        match &mut self.method {
            Method::Complement(complement) => complement.correct(wanted, &mut self.change),
            Method::Multipliers(multipliers) => multipliers.correct(
                system,
                &self.kinematics,
                &mut self.articulated,
                wanted,
                &mut self.change,
            ),
        }
    }

    /// Accelerations of the closed mechanism under `force` and what acts on the bodies of `kinematics`, which
    /// must hold the state. Entries of prescribed joints are read. `articulated` is used for multipliers. What a stage `added` to the mass matrix
    /// goes into it before the loops are closed. Tells whether accelerations could be formed. Allocates nothing.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is constant, what varies, what is written"
    )]
    pub fn accelerate(
        &mut self,
        linkage: &Linkage,
        kinematics: &mut Kinematics<f64>,
        articulated: &mut ArticulatedBody<f64>,
        added: Option<&StageInertia>,
        position: &[f64],
        velocity: &[f64],
        force: &[f64],
        acceleration: &mut [f64],
    ) -> bool {
        let system = &linkage.system;
        self.constraints
            .update(system, &linkage.closures, kinematics, position, velocity);
        match &mut self.method {
            // the state was projected, and with it factored at this configuration
            Method::Complement(complement) => complement.accelerate(
                linkage,
                kinematics,
                &self.constraints,
                &mut self.workspace,
                added,
                force,
                acceleration,
            ),
            Method::Multipliers(multipliers) => {
                if let Some(added) = added {
                    articulated.factor_stage(system, kinematics, added);
                    articulated.forward_dynamics_stage(
                        system,
                        kinematics,
                        added,
                        force,
                        acceleration,
                    );
                } else {
                    articulated.factor(system, kinematics);
                    articulated.forward_dynamics(system, kinematics, force, acceleration);
                }
                articulated.is_positive_definite(system)
                    && multipliers.accelerate(
                        system,
                        kinematics,
                        &self.constraints,
                        articulated,
                        &mut self.change,
                        acceleration,
                        &mut self.multipliers,
                    )
            }
        }
    }

    /// Multipliers of the state and accelerations last formed, one per equation; redundant equations carry
    /// nothing. Allocates nothing.
    pub fn multipliers(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        force: &[f64],
        acceleration: &[f64],
    ) -> &[f64] {
        if let Method::Complement(complement) = &mut self.method {
            complement.multipliers(
                linkage,
                kinematics,
                &mut self.workspace,
                force,
                acceleration,
                &mut self.multipliers,
            );
        }
        &self.multipliers
    }

    /// Generalised force of the last multipliers at one entry of the velocity vector.
    pub fn generalized_force(&self, at: usize) -> f64 {
        (0..self.constraints.len())
            .map(|row| self.constraints.row(row)[at] * self.multipliers[row])
            .sum()
    }

    /// Force and moment that closure `closure` exerts on its end `to`, at the frame of that end and in its
    /// axes, by the last multipliers.
    pub fn force_on_to(&self, closure: usize) -> Force<f64> {
        let mut sum = Force::zero();
        for row in 0..self.constraints.len() {
            if self.constraints.closure_of(row) == closure {
                sum += self
                    .constraints
                    .wrench_on_to(row)
                    .scale(self.multipliers[row]);
            }
        }
        sum
    }

    /// Largest violation of one closure in the state last evaluated, redundant equations included: of its places in
    /// metres, and of its directions in radians.
    pub fn violation_of(&self, closure: usize) -> [f64; 2] {
        let mut most = [0.0_f64; 2];
        for (row, residual) in self.constraints.residual().iter().enumerate() {
            if self.constraints.closure_of(row) == closure {
                let kind = usize::from(self.constraints.is_rotation(row));
                most[kind] = most[kind].max(residual.abs());
            }
        }
        most
    }

    /// The equations in the independent speeds, at the state for which accelerations were last formed; `None` for
    /// multipliers, which have none.
    pub fn reduced(
        &mut self,
        linkage: &Linkage,
        kinematics: &Kinematics<f64>,
        position: &[f64],
        velocity: &[f64],
    ) -> Option<ReducedEquations> {
        let Method::Complement(complement) = &mut self.method else {
            return None;
        };
        Some(complement.reduce(
            linkage,
            kinematics,
            &self.constraints,
            &mut self.workspace,
            position,
            velocity,
        ))
    }

    /// Largest violation of the closures at a state, redundant equations included: of positions and of
    /// velocities.
    pub fn violation(&mut self, linkage: &Linkage, position: &[f64], velocity: &[f64]) -> [f64; 2] {
        self.evaluate(linkage, position, velocity);
        [
            largest(self.constraints.residual()).1,
            largest(self.constraints.rate()).1,
        ]
    }

    /// The configuration last [watched](Self::watch), if it was close to a singular one.
    pub fn nearly_singular(&self) -> Option<&Singularity> {
        self.worst.as_ref()
    }

    /// Changes of the independent coordinates so far.
    pub fn repartitions(&self) -> &[Repartition] {
        &self.repartitions
    }

    /// Names of the independent joint velocities, elastic ones left out; empty for multipliers.
    pub fn independent(&self, linkage: &Linkage) -> Vec<String> {
        let Method::Complement(complement) = &self.method else {
            return Vec::new();
        };
        (complement.independent.iter())
            .filter(|at| !self.elastic.contains(at))
            .map(|&at| linkage.velocities[at].name.clone())
            .collect()
    }

    /// Names of the equations that follow from the others.
    pub fn redundant(&self, linkage: &Linkage) -> Vec<String> {
        (self.redundant.iter())
            .map(|&row| self.constraints.name(&linkage.closures, row))
            .collect()
    }
}

/// The factor that a model's loops can work with.
pub fn articulated_body(linkage: &Linkage) -> ArticulatedBody<f64> {
    if !linkage.closures.is_empty() && linkage.closure_method == ClosureMethod::OperationalSpace {
        // the recursion needs the factor of every body
        ArticulatedBody::with_indirect_from(&linkage.system, usize::MAX)
    } else {
        ArticulatedBody::new(&linkage.system)
    }
}

/// Entry of largest size, and its size.
fn largest(x: &[f64]) -> (usize, f64) {
    let mut most = (0, 0.0);
    for (i, x) in x.iter().enumerate() {
        let size = if x.is_nan() { f64::INFINITY } else { x.abs() };
        if size > most.1 {
            most = (i, size);
        }
    }
    most
}
