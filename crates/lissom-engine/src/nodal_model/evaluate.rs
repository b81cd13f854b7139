//! A nodal mechanism at one state.

use lissom_core::{
    Dynamics as _, EnergyAndMomentum, MarkerId, MarkerMotion, RunError, State, View as _,
};
use lissom_numerics::integrate::SecondOrder;
use lissom_spatial::{Force, Vector};
use nalgebra::{DMatrix, DVector};

use super::NodalModel;
use super::run::{NodalEquations, equations_at};
use super::view::NodalView;
use crate::evaluate::{Evaluate, EvaluateOptions, Evaluation, MarkerPose, by_equations};
use crate::evaluator::AtStates;

impl Evaluate for NodalModel {
    fn evaluate(&self, state: &State, options: &EvaluateOptions) -> Result<Evaluation, RunError> {
        let mut equations = equations_at(self, state)?;
        Ok(by_equations(&mut equations, state, options))
    }

    fn marker_poses(&self, state: &State) -> Result<Vec<MarkerPose>, RunError> {
        let mut equations = equations_at(self, state)?;
        equations.evaluate(state.time_s, &state.position, &state.velocity);
        let placed = equations.dynamics.equations();
        let nodes = &mut placed.view(&mut equations.unused);
        let mut view = NodalView { nodal: self, nodes };
        let markers = self.markers.iter().enumerate();
        let poses = markers.map(|(at, marker)| {
            let motion = view.marker(MarkerId(at));
            MarkerPose {
                name: marker.name.clone(),
                pose: motion.pose,
                twist: motion.twist,
            }
        });
        Ok(poses.collect())
    }
}

impl NodalEquations<'_> {
    /// Twist of a marker, with the motion that was set last: angular velocity, then velocity, in ground axes.
    fn marker_motion(&mut self, marker: usize) -> MarkerMotion<f64> {
        let nodal = self.nodal;
        let placed = self.dynamics.equations();
        let nodes = &mut placed.view(&mut self.unused);
        NodalView { nodal, nodes }.marker(MarkerId(marker))
    }

    /// The same for a motion; `None` where the mechanism cannot be.
    fn marker_motion_at(
        &mut self,
        time_s: f64,
        [position, velocity]: [&[f64]; 2],
        marker: usize,
    ) -> Option<MarkerMotion<f64>> {
        self.dynamics.set_state(time_s, position, velocity).ok()?;
        Some(self.marker_motion(marker))
    }
}

impl AtStates for NodalEquations<'_> {
    fn mass_matrix(&mut self, time_s: f64, position: &[f64], mass: &mut [f64]) {
        SecondOrder::mass_matrix(self, time_s, position, mass);
    }

    fn inverse_dynamics(
        &mut self,
        time_s: f64,
        [position, velocity]: [&[f64]; 2],
        acceleration: &[f64],
        force: &mut [f64],
    ) {
        self.residual(time_s, position, velocity, acceleration, force);
    }

    fn forward_dynamics(
        &mut self,
        time_s: f64,
        [position, velocity]: [&[f64]; 2],
        force: &[f64],
        acceleration: &mut [f64],
    ) {
        if self.evaluate_state(time_s, position, velocity).is_err() {
            acceleration.fill(f64::NAN);
            return;
        }
        acceleration.copy_from_slice(&self.acceleration);
        if force.iter().all(|&force| force == 0.0) {
            return;
        }
        let n = force.len();
        let mut mass = vec![0.0; n * n];
        SecondOrder::mass_matrix(self, time_s, position, &mut mass);
        match DMatrix::from_row_slice(n, n, &mass).cholesky() {
            Some(factor) => {
                let forced = factor.solve(&DVector::from_column_slice(force));
                let sums = acceleration.iter_mut().zip(&forced);
                sums.for_each(|(sum, forced)| *sum += forced);
            }
            None => acceleration.fill(f64::NAN),
        }
    }

    /// $`M\dot v + h = f`$ holds along the way.
    fn forward_derivatives(
        &mut self,
        time_s: f64,
        motion: [&[f64]; 2],
        force: &[f64],
    ) -> Option<[DMatrix<f64>; 3]> {
        let [position, velocity] = motion;
        let n = velocity.len();
        let (mut acceleration, mut mass) = (vec![0.0; n], vec![0.0; n * n]);
        AtStates::forward_dynamics(self, time_s, motion, force, &mut acceleration);
        SecondOrder::mass_matrix(self, time_s, position, &mut mass);
        let factor = DMatrix::from_row_slice(n, n, &mass).cholesky()?;
        (self.dynamics).set_state(time_s, position, velocity).ok()?;
        // a copy, so that looking does not move what is evaluated
        let mut equations = self.dynamics.equations().clone();
        let found = equations.force_derivatives(&lissom_nodal::State {
            position,
            velocity,
            acceleration: &acceleration,
            drives: self.dynamics.drives(),
            loads: self.dynamics.excitation(),
        });
        let [by_position, by_velocity] = found.ok()?;
        let forces = [-by_position, -by_velocity, DMatrix::identity(n, n)];
        Some(forces.map(|forces| factor.solve(&forces)))
    }

    fn energy_and_momentum(
        &mut self,
        time_s: f64,
        [position, velocity]: [&[f64]; 2],
    ) -> EnergyAndMomentum {
        if self.dynamics.set_state(time_s, position, velocity).is_err() {
            let nan = f64::NAN;
            return EnergyAndMomentum {
                kinetic: nan,
                strain: nan,
                gravity: nan,
                momentum: Force::new(Vector([nan; 3]), Vector([nan; 3])),
            };
        }
        lissom_core::Dynamics::energy_and_momentum(self)
    }

    fn markers(&self) -> Vec<String> {
        let markers = self.nodal.markers.iter();
        markers.map(|marker| marker.name.clone()).collect()
    }

    fn marker(&mut self, time_s: f64, motion: [&[f64]; 2], marker: usize) -> Option<MarkerPose> {
        let found = self.marker_motion_at(time_s, motion, marker)?;
        Some(MarkerPose {
            name: self.nodal.markers[marker].name.clone(),
            pose: found.pose,
            twist: found.twist,
        })
    }

    fn is_independent(&self) -> bool {
        false
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        SecondOrder::displace(self, position, increment, displaced);
    }

    fn difference(&self, from: &[f64], to: &[f64], change: &mut [f64]) {
        change.copy_from_slice(&self.nodal.deviation(self.chart.mechanism, to, from));
    }

    /// Twists are linear in the velocities: column by column, less what prescribed deformations give.
    fn jacobian(&mut self, time_s: f64, position: &[f64], marker: usize, jacobian: &mut [f64]) {
        let n = self.velocity_count();
        let mut velocity = vec![0.0; n];
        let Some(still) = self.marker_motion_at(time_s, [position, &velocity], marker) else {
            jacobian.fill(f64::NAN);
            return;
        };
        for column in 0..n {
            velocity[column] = 1.0;
            let moved = self.marker_motion_at(time_s, [position, &velocity], marker);
            velocity[column] = 0.0;
            for (row, [moved, still]) in (0..6).zip(pairs(moved.as_ref(), &still)) {
                jacobian[row * n + column] = moved - still;
            }
        }
    }
}

/// Components of two twists side by side; not a number where there is none.
fn pairs(moved: Option<&MarkerMotion<f64>>, still: &MarkerMotion<f64>) -> [[f64; 2]; 6] {
    let components = |motion: &MarkerMotion<f64>| {
        let (angular, linear) = (motion.twist.angular.0, motion.twist.linear.0);
        let mut all = [0.0; 6];
        all[..3].copy_from_slice(&angular);
        all[3..].copy_from_slice(&linear);
        all
    };
    let (moved, still) = (moved.map_or([f64::NAN; 6], components), components(still));
    std::array::from_fn(|at| [moved[at], still[at]])
}
