//! Equilibrium under loads: Newton's iteration with exact tangents, and continuation of the load.

use nalgebra::DVector;

use crate::spatial::Vector;

use super::equations::Equations;
use super::error::NodalError;
use super::linear::State;
use super::role::Drive;

/// Newton's iterations for one load.
const MOST_ITERATIONS: usize = 30;
/// Newton's iteration squares its error: after a correction below this, rounding is what is left.
const LAST_CORRECTION: f64 = 1e-8;
/// Largest correction of a degree of freedom in one iteration, of the size of what it may be (radians,
/// or metres over the longest element).
const LARGEST_CORRECTION: f64 = 0.5;
/// Smallest part of the load that continuation tries.
const SMALLEST_PART: f64 = 1.0 / 4096.0;

/// What an equilibrium is sought under; all of it is applied in proportion.
#[derive(Clone, Copy, Debug)]
pub struct StaticLoad<'a> {
    /// What is prescribed, held still at its value.
    pub drives: &'a [Drive],
    /// Effort on each degree of freedom.
    pub efforts: &'a [f64],
    /// Force or moment at each node.
    pub loads: &'a [Vector<f64>],
    /// Degrees of freedom that brakes hold where they are; others may move.
    pub held: &'a [usize],
    /// Part of the load of the first step, at most 1.
    pub first_part: f64,
}

/// An equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Positions of the degrees of freedom.
    pub position: Vec<f64>,
    /// Parts the load was applied in.
    pub parts: usize,
    /// Newton's iterations, in all.
    pub iterations: usize,
}

impl Equations<'_> {
    /// Puts the mechanism under another gravity.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.gravity = Vector(gravity);
    }

    /// Finds the equilibrium under a load and gravity, from `start` without them; leaves the mechanism
    /// there.
    ///
    /// # Errors
    ///
    /// When Newton's iteration finds none however small the part of the load that is added.
    pub fn equilibrium(
        &mut self,
        start: &[f64],
        load: &StaticLoad<'_>,
    ) -> Result<Equilibrium, NodalError> {
        let gravity = self.gravity;
        let outcome = self.continue_load(start, load, gravity);
        self.gravity = gravity;
        outcome
    }

    fn continue_load(
        &mut self,
        start: &[f64],
        load: &StaticLoad<'_>,
        gravity: Vector<f64>,
    ) -> Result<Equilibrium, NodalError> {
        let mut found = Equilibrium {
            position: start.to_vec(),
            parts: 0,
            iterations: 0,
        };
        let (mut done, mut part) = (0.0_f64, load.first_part);
        loop {
            let goal = (done + part).min(1.0);
            self.gravity = gravity.scale(goal);
            let mut position = found.position.clone();
            let outcome = self.balance(&mut position, load, goal, &mut found.iterations);
            match outcome {
                Ok(quick) => {
                    found.position = position;
                    found.parts += 1;
                    done = goal;
                    if quick {
                        part *= 2.0;
                    }
                    if done >= 1.0 {
                        return Ok(found);
                    }
                }
                Err(error) => {
                    part *= 0.5;
                    if part < SMALLEST_PART {
                        return Err(match error {
                            NodalError::NoEquilibrium { dof, residual, .. } => {
                                NodalError::NoEquilibrium {
                                    load: done,
                                    dof,
                                    residual,
                                }
                            }
                            other => other,
                        });
                    }
                    self.place(&found.position, load.drives)?;
                }
            }
        }
    }

    /// Newton's iteration under a part of the load; whether it took few steps.
    fn balance(
        &mut self,
        position: &mut Vec<f64>,
        load: &StaticLoad<'_>,
        part: f64,
        iterations: &mut usize,
    ) -> Result<bool, NodalError> {
        let dofs = self.mechanism.dof_count();
        let still = vec![0.0; dofs];
        let drives: Vec<Drive> = load
            .drives
            .iter()
            .map(|drive| Drive {
                value: drive.value,
                ..Drive::default()
            })
            .collect();
        let efforts: Vec<f64> = load.efforts.iter().map(|x| x * part).collect();
        let loads: Vec<Vector<f64>> = load.loads.iter().map(|x| x.scale(part)).collect();
        let mut residual = vec![0.0; dofs];
        let mut displaced = position.clone();
        for iteration in 0..MOST_ITERATIONS {
            *iterations += 1;
            let state = State {
                position,
                velocity: &still,
                acceleration: &still,
                drives: &drives,
                loads: &loads,
            };
            let mut tangent = self.tangent_stiffness(&state)?;
            self.set_velocity(&still, &drives);
            self.set_acceleration(&still, &drives);
            self.residual(&efforts, &loads, &mut residual);
            for &dof in load.held {
                tangent.row_mut(dof).fill(0.0);
                tangent[(dof, dof)] = 1.0;
                residual[dof] = 0.0;
            }
            let right = DVector::from_column_slice(&residual);
            let singular = |residual: f64, dof: usize| NodalError::NoEquilibrium {
                load: part,
                dof: self.mechanism.dof_name(dof),
                residual,
            };
            let worst = right.iamax();
            let Some(mut correction) = tangent.lu().solve(&right) else {
                return Err(singular(right[worst], worst));
            };
            let largest = correction.amax();
            if !largest.is_finite() {
                return Err(singular(right[worst], worst));
            }
            if largest > LARGEST_CORRECTION {
                correction *= LARGEST_CORRECTION / largest;
            }
            correction.neg_mut();
            self.displace(position, correction.as_slice(), &mut displaced);
            position.copy_from_slice(&displaced);
            if largest < LAST_CORRECTION {
                self.place(position, &drives)?;
                self.set_velocity(&still, &drives);
                self.set_acceleration(&still, &drives);
                self.residual(&efforts, &loads, &mut residual);
                return Ok(iteration < MOST_ITERATIONS / 4);
            }
        }
        let worst = (0..dofs).fold(0, |best, i| {
            if residual[i].abs() > residual[best].abs() {
                i
            } else {
                best
            }
        });
        Err(NodalError::NoEquilibrium {
            load: part,
            dof: self.mechanism.dof_name(worst),
            residual: residual[worst],
        })
    }
}
