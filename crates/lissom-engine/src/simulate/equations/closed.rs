//! Loops in a state: brought onto the closures, watched, read.

use super::Equations;
use lissom_core::Impulse;
use lissom_numerics::integrate::Projection;
use lissom_spatial::Force;
use lissom_tree::closure::{ClosureError, Loops, Trouble};
use lissom_tree::tree::energy;

impl Equations<'_> {
    /// The closures of the model, if it has any.
    ///
    /// # Errors
    /// When they cannot be kept as asked.
    pub fn loops(&self) -> Result<Option<&Loops>, &ClosureError> {
        self.loops.as_ref().map(Option::as_ref)
    }

    /// What stopped the last projection of a state.
    pub(in crate::simulate) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// Brings a state, given by its positions and velocities, onto the closures.
    pub(super) fn project_state(&mut self, time: f64, state: &mut [f64]) -> Projection {
        if !matches!(self.loops, Ok(Some(_))) {
            return Projection::Kept;
        }
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        let (positions, rest) = state.split_at_mut(n_q);
        self.project_parts(time, positions, &mut rest[..n_v])
    }

    /// The same for positions and velocities apart.
    pub(super) fn project_parts(
        &mut self,
        time: f64,
        positions: &mut [f64],
        velocities: &mut [f64],
    ) -> Projection {
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return Projection::Kept;
        };
        if loops.projects() {
            let linkage = &self.model.linkage;
            loops.choose_on_beams(linkage, time, &self.position, &self.velocity);
            if (loops.project(linkage, &mut self.position, &mut self.velocity)).is_err() {
                self.unpack(time, positions, velocities);
                return self.stop_unclosed();
            }
            for (&at, x) in self.free_positions.iter().zip(positions) {
                *x = self.position[at];
            }
            for (&at, x) in self.free_velocities.iter().zip(velocities) {
                *x = self.velocity[at];
            }
        }
        self.trouble = loops.watch(&self.model.linkage, time, &self.position, &self.velocity);
        if let Some(trouble) = &self.trouble {
            Projection::Stop {
                good_until: loops.good_until(trouble),
            }
        } else if loops.projects() && !loops.projects_before_evaluation() {
            Projection::Moved
        } else {
            // the derivative of a state is that of the projected one
            Projection::Kept
        }
    }

    /// Ends the run at the unpacked state, which cannot be brought onto the closures.
    fn stop_unclosed(&mut self) -> Projection {
        let Ok(Some(loops)) = &mut self.loops else {
            return Projection::Kept;
        };
        let trouble = loops.unclosed(&self.model.linkage, &self.position, &self.velocity);
        let good_until = loops.good_until(&trouble);
        self.trouble = Some(trouble);
        Projection::Stop { good_until }
    }

    /// From a state on supports see the stretch of their beam that they are on. Velocities may take an impulse.
    pub(super) fn enter_stretches(&mut self, time: f64, positions: &[f64], velocities: &mut [f64]) {
        if !self.locates_crossings || !matches!(self.loops, Ok(Some(_))) {
            return;
        }
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return;
        };
        loops.latch_elements(&self.model.linkage, &self.position, &mut self.velocity);
        loops.choose_on_beams(&self.model.linkage, time, &self.position, &self.velocity);
        for (&at, x) in self.free_velocities.iter().zip(velocities) {
            *x = self.velocity[at];
        }
    }

    /// What an impulse of the closures does. It takes the kinetic energy of the velocity that it changes (Carnot's
    /// theorem), never less than nothing; what else the kinetic energy changes by is work of the drives, which hold prescribed
    /// joints on their motion against it.
    pub(super) fn impulse_at(
        &mut self,
        time: f64,
        positions: &[f64],
        before: &[f64],
        after: &[f64],
    ) -> Impulse {
        let kinetic = |equations: &mut Self, velocities: &[f64]| {
            equations.unpack(time, positions, velocities);
            equations.kinetic_energy()
        };
        let gained = kinetic(self, after) - kinetic(self, before);
        let changes = (self.free_velocities.iter()).zip(after.iter().zip(before));
        self.velocity.fill(0.0);
        for (&at, (after, before)) in changes {
            self.velocity[at] = after - before;
        }
        let dissipated = self.kinetic_energy();
        let work = if self.prescribes {
            gained + dissipated
        } else {
            0.0
        };
        Impulse { work, dissipated }
    }

    /// Kinetic energy of the bodies in the state at hand.
    fn kinetic_energy(&mut self) -> f64 {
        let system = &self.model.linkage.system;
        let (position, velocity) = (&self.position, &self.velocity);
        self.kinematics.update(system, position, velocity);
        self.kinematics.update_poses(system);
        energy(system, &self.kinematics, position, velocity).kinetic
    }

    /// How far a support is beyond that stretch.
    pub(super) fn crossing_distance(
        &mut self,
        time: f64,
        positions: &[f64],
        velocities: &[f64],
    ) -> f64 {
        if !self.locates_crossings || !matches!(self.loops, Ok(Some(_))) {
            return f64::NEG_INFINITY;
        }
        self.unpack(time, positions, velocities);
        let Ok(Some(loops)) = &mut self.loops else {
            return f64::NEG_INFINITY;
        };
        loops.crossing_distance(&self.model.linkage, &mut self.position, &mut self.velocity)
    }

    /// Brings a state onto the closures that is not the next of a run: independent coordinates are chosen for it.
    pub(in crate::simulate) fn project_sample(&mut self, time: f64, state: &mut [f64]) {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        if matches!(self.loops, Ok(Some(_))) {
            self.unpack(time, &state[..n_q], &state[n_q..n_q + n_v]);
        }
        if let Ok(Some(loops)) = &mut self.loops {
            loops.choose(&self.model.linkage, &self.position, &self.velocity);
        }
        self.project_state(time, state);
    }

    /// Largest violation of the closures at a state, of positions and of velocities.
    pub(in crate::simulate) fn violation(&mut self, time: f64, state: &[f64]) -> Option<[f64; 2]> {
        let (n_q, n_v) = (self.state_positions(), self.state_velocities());
        if !matches!(self.loops, Ok(Some(_))) {
            return None;
        }
        self.unpack(time, &state[..n_q], &state[n_q..n_q + n_v]);
        let Ok(Some(loops)) = &mut self.loops else {
            return None;
        };
        Some(loops.violation(&self.model.linkage, &self.position, &self.velocity))
    }

    /// Finds the forces of the closures in the evaluated state.
    pub(super) fn find_multipliers(&mut self) {
        if let Ok(Some(loops)) = &mut self.loops {
            loops.multipliers(
                &self.model.linkage,
                &self.kinematics,
                &self.force,
                &self.acceleration,
            );
        }
    }

    /// Force and moment of a closure on its end `to`, at the frame of that end and in its axes, where they were found last.
    pub(super) fn force_of_closure(&self, closure: usize) -> Force<f64> {
        let loops = self.loops.as_ref().ok().and_then(Option::as_ref);
        loops.map_or(Force::zero(), |loops| loops.force_on_to(closure))
    }

    /// The same of every closure in the evaluated state.
    pub fn closure_forces(&mut self) -> impl Iterator<Item = Force<f64>> {
        self.find_multipliers();
        let closures = 0..self.model.linkage.closures.len();
        closures.map(|closure| self.force_of_closure(closure))
    }
}
