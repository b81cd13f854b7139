//! Supports that pass a node of their beam, or its end.
//!
//! The curvature of finite elements jumps at a node, and with it the acceleration of a support that passes there. So that no
//! step of an integrator sees the jump, the equations of a support are those of the element it was on when it
//! [latched](Loops::latch_elements), continued beyond the node, until the instant of its crossing has been found.
//!
//! Where the slope is tied its rate is $`v''\dot x`$ and more, which jumps with the curvature: velocities then change by an
//! impulse $`M\,\Delta v = J^T\Lambda`$ with $`J(v + \Delta v) = 0`$.

use super::Loops;
use crate::Linkage;
use crate::closure::error::Trouble;
use crate::closure::multipliers::Multipliers;
use crate::closure::sliding::AT_THE_BREAK;

impl Loops {
    /// From a state on, every support sees the functions of the stretch of its beam that it is on, until this is called
    /// again. The slope of a support that ties it cannot turn as fast behind a node as before: the velocity takes the
    /// impulse that this needs.
    pub fn latch_elements(&mut self, linkage: &Linkage, position: &[f64], velocity: &mut [f64]) {
        if !self.constraints.slides() {
            return;
        }
        self.evaluate(linkage, position, velocity);
        let jumps = self
            .constraints
            .latch_elements(&linkage.system, &linkage.closures);
        if jumps && self.projects() {
            self.apply_impulse(linkage, position, velocity);
        }
    }

    /// From here on every support sees the functions of the stretch that it is on at each state, as before any was
    /// [latched](Self::latch_elements).
    pub fn release_elements(&mut self) {
        self.constraints.set_stretches(&[]);
    }

    /// Changes a velocity by the impulse of the closures after which they are kept.
    fn apply_impulse(&mut self, linkage: &Linkage, position: &[f64], velocity: &mut [f64]) {
        let system = &linkage.system;
        self.kinematics.update(system, position, velocity);
        self.constraints.update(
            system,
            &linkage.closures,
            &mut self.kinematics,
            position,
            velocity,
        );
        self.articulated.factor(system, &self.kinematics);
        let mut impulse = Multipliers::new(system, self.rows.clone());
        let (kinematics, constraints) = (&self.kinematics, &self.constraints);
        if impulse.prepare(system, kinematics, constraints, &mut self.articulated) {
            impulse.correct(
                system,
                kinematics,
                &mut self.articulated,
                |row| -constraints.rate()[row],
                &mut self.change,
            );
            for (v, change) in velocity.iter_mut().zip(&self.change) {
                *v += change;
            }
        }
    }

    /// How far a support is beyond the stretch of its beam that it [latched](Self::latch_elements); not positive as long as none
    /// is. The state is brought onto the closures. Allocates nothing.
    pub fn crossing_distance(
        &mut self,
        linkage: &Linkage,
        position: &mut [f64],
        velocity: &mut [f64],
    ) -> f64 {
        if !self.constraints.slides() {
            return f64::NEG_INFINITY;
        }
        if !self.projects() {
            self.evaluate(linkage, position, velocity);
        } else if self.project(linkage, position, velocity).is_err() {
            // what cannot be closed is reported by the projection of the step
            return f64::NEG_INFINITY;
        }
        self.constraints.crossing_distance(&linkage.system)
    }

    /// The first support that is beyond an end of its beam.
    pub(super) fn off_beam(&self, linkage: &Linkage) -> Option<Trouble> {
        linkage
            .closures
            .iter()
            .enumerate()
            .find_map(|(i, closure)| {
                let place = self.constraints.place_along(i)?;
                let beam = &linkage.system.bodies()[closure.from.body?];
                let length = beam.flexible.as_ref()?.centreline.as_ref()?.length();
                ((-place).max(place - length) - AT_THE_BREAK * length > 0.0).then(|| {
                    Trouble::LeftBeam {
                        support: closure.name.clone(),
                        beam: beam.name.clone(),
                        place,
                        length,
                    }
                })
            })
    }
}
