//! A mechanism under drives, efforts and loads as the integrators see it, explicit and implicit.

use lissom_numerics::integrate::{FirstOrder, SecondOrder};
use lissom_spatial::Vector;

use super::equations::Equations;
use super::error::NodalError;
use super::role::Drive;

/// What is done to a mechanism from outside.
pub trait Excitation {
    /// Writes what is prescribed at `time`, in the order of [`super::Mechanism::drive_name`].
    fn drive(&mut self, time: f64, drives: &mut [Drive]);

    /// Adds efforts on degrees of freedom, and forces at points and moments at orientations, to zeros.
    ///
    /// Feedback reads positions and velocities of the degrees of freedom.
    fn act(&mut self, time: f64, state: &Acting<'_>, on: &mut Actions<'_>);
}

/// State that feedback may read.
#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    /// The mechanism in this state: where its nodes are and how they move.
    pub equations: &'a Equations<'a>,
    /// Positions of the degrees of freedom.
    pub position: &'a [f64],
    /// Velocities of the degrees of freedom.
    pub velocity: &'a [f64],
}

/// Where efforts and loads are written.
#[derive(Debug)]
pub struct Actions<'a> {
    /// One effort per degree of freedom.
    pub efforts: &'a mut [f64],
    /// One force or moment per node, in inertial components.
    pub loads: &'a mut [Vector<f64>],
}

/// Nothing acts, everything prescribed holds still where the mechanism was assembled.
#[derive(Clone, Debug)]
pub struct Unforced {
    held: Vec<Drive>,
}

impl Unforced {
    /// For this mechanism.
    pub fn new(mechanism: &super::Mechanism) -> Self {
        Self {
            held: mechanism.assembled_drives(),
        }
    }
}

impl Excitation for Unforced {
    fn drive(&mut self, _: f64, drives: &mut [Drive]) {
        drives.copy_from_slice(&self.held);
    }
    fn act(&mut self, _: f64, _: &Acting<'_>, _: &mut Actions<'_>) {}
}

/// A mechanism with what acts on it.
///
/// As a [`FirstOrder`] system its state is positions, then velocities.
#[derive(Clone, Debug)]
pub struct Dynamics<'a, E> {
    equations: Equations<'a>,
    excitation: E,
    drives: Vec<Drive>,
    efforts: Vec<f64>,
    loads: Vec<Vector<f64>>,
    error: Option<NodalError>,
}

impl<'a, E: Excitation> Dynamics<'a, E> {
    /// The equations under this excitation.
    pub fn new(equations: Equations<'a>, excitation: E) -> Self {
        let mechanism = equations.mechanism();
        Self {
            drives: mechanism.assembled_drives(),
            efforts: vec![0.0; mechanism.dof_count()],
            loads: vec![Vector([0.0; 3]); mechanism.node_count()],
            equations,
            excitation,
            error: None,
        }
    }

    /// What went wrong in an evaluation last, if the integrator reports a derivative that is not finite.
    pub fn error(&self) -> Option<&NodalError> {
        self.error.as_ref()
    }

    /// Stresses and efforts of drives at an acceleration, in the state evaluated last.
    pub fn settle_stresses(&mut self, acceleration: &[f64], residual: &mut [f64]) {
        self.equations.set_acceleration(acceleration, &self.drives);
        self.equations
            .residual(&self.efforts, &self.loads, residual);
    }

    /// What acts on the mechanism.
    pub fn excitation(&self) -> &E {
        &self.excitation
    }

    /// What acts on the mechanism, to be changed.
    pub fn excitation_mut(&mut self) -> &mut E {
        &mut self.excitation
    }

    /// The equations at the state evaluated last.
    pub fn equations(&self) -> &Equations<'a> {
        &self.equations
    }

    /// The equations, to be placed by hand.
    pub fn equations_mut(&mut self) -> &mut Equations<'a> {
        &mut self.equations
    }

    /// Drives of the evaluation last made.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
    }

    /// Efforts and loads of the evaluation last made.
    pub fn actions(&self) -> (&[f64], &[Vector<f64>]) {
        (&self.efforts, &self.loads)
    }

    /// Places and moves the mechanism, and asks what acts on it there.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn set_state(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Result<(), NodalError> {
        self.excitation.drive(time, &mut self.drives);
        self.equations.place(position, &self.drives)?;
        self.equations.set_velocity(velocity, &self.drives);
        self.efforts.fill(0.0);
        self.loads.fill(Vector([0.0; 3]));
        self.excitation.act(
            time,
            &Acting {
                equations: &self.equations,
                position,
                velocity,
            },
            &mut Actions {
                efforts: &mut self.efforts,
                loads: &mut self.loads,
            },
        );
        Ok(())
    }

    /// Accelerations of the degrees of freedom.
    ///
    /// # Errors
    ///
    /// When there is no such configuration or its mass matrix is singular.
    pub fn accelerate(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &mut [f64],
    ) -> Result<(), NodalError> {
        self.set_state(time, position, velocity)?;
        self.equations.accelerate(
            velocity,
            &self.drives,
            &self.efforts,
            &self.loads,
            acceleration,
        )
    }

    /// What each degree of freedom lacks at an acceleration; stresses and reactions go with it.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn unbalance(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) -> Result<(), NodalError> {
        self.set_state(time, position, velocity)?;
        self.equations.set_acceleration(acceleration, &self.drives);
        self.equations
            .residual(&self.efforts, &self.loads, residual);
        Ok(())
    }

    fn note(&mut self, outcome: Result<(), NodalError>, result: &mut [f64]) {
        if let Err(error) = outcome {
            self.error = Some(error);
            result.fill(f64::NAN);
        }
    }
}

impl<E: Excitation> FirstOrder for Dynamics<'_, E> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let positions = self.equations.mechanism().position_count();
        let (position, velocity) = state.split_at(positions);
        let (position_rate, acceleration) = rate.split_at_mut(positions);
        self.equations
            .position_rate(position, velocity, position_rate);
        let outcome = self.accelerate(time, position, velocity, acceleration);
        self.note(outcome, acceleration);
    }
}

impl<E: Excitation> SecondOrder for Dynamics<'_, E> {
    fn position_count(&self) -> usize {
        self.equations.mechanism().position_count()
    }

    fn velocity_count(&self) -> usize {
        self.equations.mechanism().dof_count()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        let outcome = self.unbalance(time, position, velocity, acceleration, residual);
        self.note(outcome, residual);
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        self.excitation.drive(time, &mut self.drives);
        let outcome = self.equations.place(position, &self.drives);
        if outcome.is_ok() {
            self.equations.mass_matrix(mass);
        }
        self.note(outcome, mass);
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        self.equations.displace(position, increment, displaced);
    }
}
