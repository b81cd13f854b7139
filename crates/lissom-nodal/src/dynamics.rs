//! A mechanism under drives, efforts and loads as the integrators see it, explicit and implicit.

use lissom_numerics::integrate::{FirstOrder, SecondOrder};
use lissom_spatial::{Real, Vector};

use super::element::ElementId;
use super::equations::Equations;
use super::error::NodalError;
use super::forces::{AppliedForces, Forces, View};
use super::node::NodeId;
use super::role::Drive;
use super::tangent::{Tangent, Weighted};

/// What is done to a mechanism from outside: what is prescribed, and forces of [`AppliedForces`].
pub trait Excitation: AppliedForces {
    /// Writes what is prescribed at `time`, in the order of [`super::Mechanism::drive_name`].
    fn drive(&mut self, time: f64, drives: &mut [Drive]);

    /// Settles what is constant where the equations are linearised: values of inputs, and feedback of positions and
    /// velocities of the degrees of freedom. Called before forces are applied in a state.
    fn update(&mut self, _time: f64, _view: &mut View<'_, f64>) {}

    /// Elements of which a [pull](Self::pulls) couples deformations, always the same.
    fn coupled(&self) -> Vec<[ElementId; 2]> {
        Vec::new()
    }

    /// Tells what pulls a deformation, or a weighted sum of two, back in the state that is seen: per displacement and per rate.
    /// Iterations use it, which need not have all that acts.
    fn pulls(&self, _view: &mut View<'_, f64>, _tell: &mut dyn FnMut(&[Weighted], [f64; 2])) {}

    /// Tells every load that turns with an orientation, as it is in the components of that node: on which node it acts, with which it turns, always
    /// the same ones in the same order.
    fn turning(&self, _tell: &mut dyn FnMut([NodeId; 2], Vector<f64>)) {}
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
}

impl AppliedForces for Unforced {
    fn apply<T: Real>(&self, _: f64, _: &mut View<'_, T>) {}
}

/// A mechanism with what acts on it.
///
/// As a [`FirstOrder`] system its state is positions, then velocities.
#[derive(Clone, Debug)]
pub struct Dynamics<'a, E> {
    equations: Equations<'a>,
    excitation: E,
    drives: Vec<Drive>,
    forces: Forces<f64>,
    /// Where forces go that are looked at for something else.
    unused: Forces<f64>,
    lacking: Vec<f64>,
    /// Tangent of implicit steps; absent before the first.
    tangent: Option<Box<Tangent>>,
    error: Option<NodalError>,
}

impl<'a, E: Excitation> Dynamics<'a, E> {
    /// The equations under this excitation.
    pub fn new(equations: Equations<'a>, excitation: E) -> Self {
        let mechanism = equations.mechanism();
        Self {
            drives: mechanism.assembled_drives(),
            forces: Forces::new(mechanism),
            unused: Forces::new(mechanism),
            lacking: vec![0.0; mechanism.dof_count()],
            tangent: None,
            equations,
            excitation,
            error: None,
        }
    }

    /// What went wrong in an evaluation last, if the integrator reports a derivative that is not finite.
    pub fn error(&self) -> Option<&NodalError> {
        self.error.as_ref()
    }

    /// Stresses and efforts of drives at an acceleration, in the state evaluated last, and what each degree of freedom lacks
    /// there.
    pub fn update_stresses(&mut self, acceleration: &[f64], residual: &mut [f64]) {
        self.equations.set_acceleration(acceleration, &self.drives);
        self.equations
            .residual(&self.forces.efforts, &self.forces.loads, residual);
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

    /// Goes on with other equations of the same mechanism, such as those in other degrees of freedom.
    pub fn set_equations(&mut self, equations: Equations<'a>) {
        self.equations = equations;
        self.tangent = None;
    }

    /// Drives of the evaluation last made.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
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
        let mut view = self.equations.view(&mut self.forces);
        self.excitation.update(time, &mut view);
        self.excitation.apply(1.0, &mut view);
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
        self.equations.accelerate_moving(
            velocity,
            &self.drives,
            &self.forces.efforts,
            &self.forces.loads,
            acceleration,
        )
    }

    /// What each degree of freedom lacks at an acceleration; stresses and reactions go with it.
    ///
    /// # Errors
    ///
    /// When there is no such configuration.
    pub fn motion_residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) -> Result<(), NodalError> {
        self.set_state(time, position, velocity)?;
        self.update_stresses(acceleration, residual);
        Ok(())
    }

    /// Forms the tangent of a step at a motion that is tried: what changes positions and velocities by `weights` of the change of
    /// accelerations. Tells whether it can be solved with.
    pub fn form_tangent(
        &mut self,
        time: f64,
        [position, velocity, acceleration]: [&[f64]; 3],
        weights: [f64; 2],
    ) -> bool {
        let mut lacking = std::mem::take(&mut self.lacking);
        let evaluated = self.motion_residual(time, position, velocity, acceleration, &mut lacking);
        self.lacking = lacking;
        if evaluated.is_err() {
            return false;
        }
        let mechanism = self.equations.mechanism();
        let excitation = &self.excitation;
        let mut tangent = self.tangent.take().unwrap_or_else(|| {
            let mut turning = Vec::new();
            excitation.turning(&mut |nodes, _| turning.push(nodes));
            Box::new(Tangent::new(mechanism, &excitation.coupled(), &turning))
        });
        let (pass, references) = (&self.equations.pass, &self.equations.references);
        tangent.form(mechanism, pass, references, weights);
        let view = &mut self.equations.view(&mut self.unused);
        excitation.pulls(view, &mut |terms, [stiffness, damping]| {
            let strength = weights[0] * stiffness + weights[1] * damping;
            tangent.pull(mechanism, terms, strength);
        });
        let mut index = 0;
        excitation.turning(&mut |[_, carrier], load| {
            let load = pass.nodes[carrier.index()].rotation * load;
            tangent.turn(index, load.scale(weights[0]));
            index += 1;
        });
        let is_regular = tangent.factor().is_ok();
        self.tangent = Some(tangent);
        is_regular
    }

    /// Multiplications of the factorization of a tangent, about; none before the first was formed.
    pub fn tangent_operations(&self) -> usize {
        self.tangent.as_deref().map_or(0, Tangent::operations)
    }

    /// Replaces what the degrees of freedom lack by the correction of their accelerations, with the tangent formed last.
    pub fn solve_tangent(&mut self, lacking: &mut [f64]) {
        if let Some(tangent) = &mut self.tangent {
            tangent.solve(self.equations.mechanism(), lacking);
        }
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
        let outcome = self.motion_residual(time, position, velocity, acceleration, residual);
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

    fn prepare_tangent(&mut self, time: f64, motion: [&[f64]; 3], weights: [f64; 2]) -> bool {
        self.form_tangent(time, motion, weights)
    }

    fn solve_tangent(&mut self, residual: &mut [f64]) {
        Self::solve_tangent(self, residual);
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        self.equations.displace(position, increment, displaced);
    }
}
