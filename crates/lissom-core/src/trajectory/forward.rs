//! The motion of a rigid mechanism that nothing leads: forward dynamics under the loads that act on it.
//!
//! With $`N`$ spanning the motions that the closures $`J a = -b`$ allow, accelerations are
//!
//! ```math
//! a = a_0 + N y, \qquad a_0 = -J^+ b, \qquad N^T M N\,y = -N^T f(a_0) ,
//! ```
//!
//! $`f`$ being what a state takes beyond the forces that are there. Positions are moved along constant velocities, as a
//! commutator-free Runge–Kutta method of order four needs it \[Celledoni, Marthinsen & Owren 2003\], the classical one where
//! velocities are rates of positions. Its step comes from halving: the two halves are taken, their difference from the whole is
//! the error. What closures have drifted is taken back after every step.

use nalgebra::{DMatrix, DVector};

use super::rigid::{RigidMechanism, RigidState};
use super::{NominalError, largest};

/// Error of a step in metres, radians and their rates, relative above one.
const TOLERANCE: f64 = 1e-10;
/// Part of the way below which a step is no longer one.
const SMALLEST_STEP: f64 = 1e-9;
/// Singular values of closures below this part of the largest belong to equations that others imply; squared it is above
/// rounding.
const DEPENDENT: f64 = 1e-7;
/// Corrections of the closures after a step, each doubling the digits.
const CORRECTIONS: usize = 3;

/// Stages of a Runge–Kutta step and what they need.
#[derive(Clone, Debug)]
pub(super) struct ForwardDynamics {
    /// Instants at which loads are not smooth, rising.
    breakpoints: Vec<f64>,
    /// The step that served last.
    step: Option<f64>,
    force: Vec<f64>,
    mass: Vec<f64>,
}

/// Motions that closures allow.
struct Closures {
    /// $`J^+`$.
    inverse: DMatrix<f64>,
    /// $`N`$ by columns.
    allowed: DMatrix<f64>,
}

impl Closures {
    /// Those of a mechanism where it was placed last; `None` where it has none, or nothing that could open them.
    fn of(mechanism: &impl RigidMechanism, velocities: usize) -> Option<Self> {
        let equations = mechanism.closure_equations();
        if equations.residual.is_empty() || velocities == 0 {
            return None;
        }
        let rows = equations.residual.len();
        let jacobian = DMatrix::from_row_slice(rows, velocities, equations.jacobian);
        // the eigenvectors of JᵀJ span all motions, also where there are fewer equations than velocities
        let square = (jacobian.transpose() * &jacobian).symmetric_eigen();
        let most = square.eigenvalues.max().max(f64::MIN_POSITIVE);
        let is_kept = |at: &usize| square.eigenvalues[*at] <= DEPENDENT * DEPENDENT * most;
        let (free, bound): (Vec<usize>, Vec<usize>) = (0..velocities).partition(is_kept);
        let mut inverse = DMatrix::zeros(velocities, rows);
        for &at in &bound {
            let along = square.eigenvectors.column(at);
            inverse += along * (&jacobian * along).transpose() / square.eigenvalues[at];
        }
        Some(Self {
            inverse,
            allowed: square.eigenvectors.select_columns(&free),
        })
    }
}

impl ForwardDynamics {
    /// Of a mechanism with so many velocities, under loads that are not smooth at some instants.
    pub(super) fn new(velocities: usize, mut breakpoints: Vec<f64>) -> Self {
        breakpoints.sort_by(f64::total_cmp);
        Self {
            breakpoints,
            step: None,
            force: vec![0.0; velocities],
            mass: vec![0.0; velocities * velocities],
        }
    }

    /// Instants at which the accelerations are not smooth.
    pub(super) fn breakpoints(&self) -> &[f64] {
        &self.breakpoints
    }

    /// Writes the accelerations of a state.
    pub(super) fn accelerate(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        time: f64,
    ) -> Result<(), NominalError> {
        let n = state.velocity.len();
        mechanism.place(time, state)?;
        mechanism.set_velocity(state);
        state.acceleration.fill(0.0);
        let closures = Closures::of(mechanism, n);
        if let Some(closures) = &closures {
            let bias = DVector::from_column_slice(mechanism.closure_equations().bias);
            let particular = -(&closures.inverse * bias);
            state.acceleration.copy_from_slice(particular.as_slice());
        }
        mechanism.force(time, state, &mut self.force);
        mechanism.mass(&mut self.mass);
        let mass = DMatrix::from_row_slice(n, n, &self.mass);
        let force = DVector::from_column_slice(&self.force);
        let singular = NominalError::Singular { time_s: time };
        let along = match closures {
            None => mass.cholesky().map(|factor| factor.solve(&force)),
            Some(Closures { allowed, .. }) => {
                let reduced = allowed.transpose() * mass * &allowed;
                let factor = reduced.cholesky();
                factor.map(|factor| &allowed * factor.solve(&(allowed.transpose() * force)))
            }
        };
        let along = along.filter(|along| along.iter().all(|x| x.is_finite()));
        for (acceleration, taken) in state.acceleration.iter_mut().zip(&along.ok_or(singular)?) {
            *acceleration -= taken;
        }
        Ok(())
    }

    /// Moves a state with its accelerations from one instant to a later one.
    pub(super) fn follow(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        [from, until]: [f64; 2],
    ) -> Result<(), NominalError> {
        let mut reached = from;
        while reached < until {
            let ahead = |time: &&f64| **time > reached && **time < until;
            let end = self
                .breakpoints
                .iter()
                .find(ahead)
                .copied()
                .unwrap_or(until);
            self.go(mechanism, state, [reached, end])?;
            reached = end;
        }
        Ok(())
    }

    /// The same where loads are smooth on the way.
    fn go(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        [from, until]: [f64; 2],
    ) -> Result<(), NominalError> {
        let span = until - from;
        let mut time = from;
        let mut step = self.step.unwrap_or(0.01 * span).min(span);
        loop {
            let left = until - time;
            let last = step >= left;
            let taken = if last { left } else { step };
            let whole = self.step(mechanism, state, [time, taken])?;
            let middle = self.step(mechanism, state, [time, 0.5 * taken])?;
            let halves = self.step(mechanism, &middle, [time + 0.5 * taken, 0.5 * taken])?;
            let error = difference(&whole, &halves) / TOLERANCE;
            // halving leaves a sixteenth of the error; half of what is allowed is on the safe side
            let change = (0.5 / error.max(1e-10)).powf(0.2).clamp(0.2, 4.0);
            if error > 1.0 || error.is_nan() {
                step = taken * if error.is_nan() { 0.2 } else { change };
                if step < SMALLEST_STEP * span {
                    return Err(NominalError::Singular { time_s: time });
                }
                continue;
            }
            state.copy(&halves);
            time += taken;
            self.correct(mechanism, state, if last { until } else { time })?;
            if !last || change < 1.0 {
                self.step = Some(taken * change);
            }
            if last {
                return Ok(());
            }
            step = taken * change;
        }
    }

    /// The state after a step.
    fn step(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        from: &RigidState,
        [time, step]: [f64; 2],
    ) -> Result<RigidState, NominalError> {
        // rates of positions and of velocities at the stages
        let mut rates: Vec<[Vec<f64>; 2]> = Vec::with_capacity(4);
        let mut stages: Vec<RigidState> = Vec::with_capacity(4);
        for stage in 0..4 {
            let mut at = match stage {
                3 => stages[1].clone(),
                _ => from.clone(),
            };
            let way = [0.0, 0.5, 0.5, 1.0][stage] * step;
            if stage > 0 {
                let [slope, change] = &rates[stage - 1];
                let displacement: Vec<f64> = match stage {
                    // from where the second stage was, along what is left of the third
                    3 => (slope.iter().zip(&rates[0][0]))
                        .map(|(third, first)| step * (third - 0.5 * first))
                        .collect(),
                    _ => slope.iter().map(|slope| way * slope).collect(),
                };
                mechanism.displace(&mut at.position, &displacement);
                for (i, velocity) in at.velocity.iter_mut().enumerate() {
                    *velocity = from.velocity[i] + way * change[i];
                }
            }
            self.accelerate(mechanism, &mut at, time + way)?;
            rates.push([at.velocity.clone(), at.acceleration.clone()]);
            stages.push(at);
        }
        let mut next = from.clone();
        for weights in [[3.0, 2.0, 2.0, -1.0], [-1.0, 2.0, 2.0, 3.0]] {
            let displacement: Vec<f64> = (0..from.velocity.len())
                .map(|i| {
                    let sum = (rates.iter().zip(weights)).map(|(rate, weight)| weight * rate[0][i]);
                    step / 12.0 * sum.sum::<f64>()
                })
                .collect();
            mechanism.displace(&mut next.position, &displacement);
        }
        for (i, velocity) in next.velocity.iter_mut().enumerate() {
            let weights = [1.0, 2.0, 2.0, 1.0];
            let sum = (rates.iter().zip(weights)).map(|(rate, weight)| weight * rate[1][i]);
            *velocity += step / 6.0 * sum.sum::<f64>();
        }
        Ok(next)
    }

    /// Takes back what the closures have drifted, and writes the accelerations.
    fn correct(
        &mut self,
        mechanism: &mut impl RigidMechanism,
        state: &mut RigidState,
        time: f64,
    ) -> Result<(), NominalError> {
        let n = state.velocity.len();
        for correction in 0..CORRECTIONS {
            mechanism.place(time, state)?;
            let Some(closures) = Closures::of(mechanism, n) else {
                break;
            };
            if correction + 1 == CORRECTIONS {
                let allowed = &closures.allowed;
                let velocity = DVector::from_column_slice(&state.velocity);
                let mut kept = allowed * (allowed.transpose() * velocity);
                if let Some(drift) = mechanism.closure_equations().drift {
                    kept -= &closures.inverse * DVector::from_column_slice(drift);
                }
                state.velocity.copy_from_slice(kept.as_slice());
            } else {
                let open = DVector::from_column_slice(mechanism.closure_equations().residual);
                let back = -(closures.inverse * open);
                mechanism.displace(&mut state.position, back.as_slice());
            }
        }
        self.accelerate(mechanism, state, time)
    }
}

/// Largest difference of positions and velocities, relative to those above one.
fn difference(a: &RigidState, b: &RigidState) -> f64 {
    let pairs = (a.position.iter().zip(&b.position)).chain(a.velocity.iter().zip(&b.velocity));
    largest(pairs.map(|(a, b)| (a - b) / b.abs().max(1.0)))
}
