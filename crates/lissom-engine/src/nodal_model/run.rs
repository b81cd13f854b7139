//! A nodal model as integrators see it.
//!
//! The state is that of the degrees of freedom,
//!
//! ```text
//! [ positions | velocities | work of inputs | energy dissipated ]
//! ```
//!
//! Which axes these are where loops close says the chart, see `charts` and `repartition`.

use lissom_core::{Commanded as _, Power, Repartitioning, RunError, State, StateError};
use lissom_nodal::{Dynamics, Equations, Forces, NodalError};
use lissom_numerics::integrate::{FirstOrder, Projection, SecondOrder};
use lissom_numerics::{Coordinate, Memory};
use lissom_spatial::Force;

use super::NodalModel;
use super::actions::NodalActions;
use super::charts::Chart;
use super::outputs::unplaced;
use super::repartition::Watch;
use super::view::NodalView;

/// Equations of a nodal model with all the memory that evaluating them needs.
#[derive(Clone, Debug)]
pub(crate) struct NodalEquations<'m> {
    pub(super) nodal: &'m NodalModel,
    /// Which axes are degrees of freedom.
    pub(super) chart: Chart<'m>,
    pub(super) watch: Watch,
    /// Changes of the chart so far.
    pub(super) repartitions: Vec<Repartitioning>,
    pub(super) dynamics: Dynamics<'m, NodalActions<'m>>,
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
    pub(super) residual: Vec<f64>,
    /// Effort of each drive beyond what else acts on its joint.
    pub(super) drive_efforts: Vec<f64>,
    /// What each body needs beyond weight and applied forces, where reactions were found last.
    pub(super) needed: Vec<Force<f64>>,
    /// Where forces go that are looked at for something else.
    pub(super) unused: Forces<f64>,
    /// What went wrong in an evaluation last.
    pub(super) error: Option<NodalError>,
}

/// The state that the model writes down.
pub(crate) fn written_state(nodal: &NodalModel, time_s: f64) -> State {
    let (position, velocity) = (&nodal.initial_position, &nodal.initial_velocity);
    State::new(time_s, position.clone(), velocity.clone())
}

/// Name, unit and kind of every entry of the states that a memory belongs to.
pub(crate) fn state_layout(
    nodal: &NodalModel,
    memory: &Memory,
) -> Result<Vec<Coordinate>, StateError> {
    let chart = nodal.remembered_chart(memory);
    let chart = chart.map_err(|error| StateError::Unplaced {
        reason: error.to_string(),
    })?;
    Ok(nodal.state_layout(chart.mechanism))
}

/// Equations of a nodal model as they start at a state.
pub(crate) fn equations_at<'m>(
    nodal: &'m NodalModel,
    start: &State,
) -> Result<NodalEquations<'m>, RunError> {
    // a state that remembers where its nodes are need not be sought from where the mechanism is assembled
    if !start.memory.is_empty() {
        let time_s = start.time_s;
        let recalled = nodal.recalled(&start.memory);
        let (chart, placed) = recalled.map_err(|source| RunError::Unplaced { source, time_s })?;
        let mut equations = NodalEquations::of(nodal, chart, placed);
        let (position, velocity) = (&start.position, &start.velocity);
        let placed = equations.dynamics.set_state(time_s, position, velocity);
        placed.map_err(|source| unplaced(&source, time_s))?;
        return Ok(equations);
    }
    let placed = || {
        let mut equations = NodalEquations::new(nodal)?;
        let (position, velocity) = (&start.position, &start.velocity);
        equations
            .dynamics
            .set_state(start.time_s, position, velocity)?;
        Ok(equations)
    };
    placed().map_err(|source| unplaced(&source, start.time_s))
}

impl<'m> NodalEquations<'m> {
    pub(super) fn new(nodal: &'m NodalModel) -> Result<Self, NodalError> {
        let chart = nodal.first_chart();
        Ok(Self::of(nodal, chart, Equations::new(chart.mechanism)?))
    }

    /// Equations that stand somewhere in a chart.
    fn of(nodal: &'m NodalModel, chart: Chart<'m>, equations: Equations<'m>) -> Self {
        let mechanism = chart.mechanism;
        let dofs = mechanism.dof_count();
        Self {
            nodal,
            chart,
            watch: Watch::of(&equations),
            repartitions: Vec::new(),
            dynamics: Dynamics::new(equations, NodalActions::new(nodal)),
            position: nodal.initial_position.clone(),
            velocity: nodal.initial_velocity.clone(),
            acceleration: vec![0.0; dofs],
            residual: vec![0.0; dofs],
            drive_efforts: vec![0.0; mechanism.drive_count()],
            needed: vec![Force::zero(); nodal.carrying.len()],
            unused: Forces::new(mechanism),
            error: None,
        }
    }

    /// Evaluates a state: motion, forces, accelerations. Returns the power that flows.
    pub(super) fn evaluate_state(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
    ) -> Result<Power, NodalError> {
        self.position.copy_from_slice(position);
        self.velocity.copy_from_slice(velocity);
        // what went wrong in a step that was shortened since is no reason any more
        self.error = None;
        self.dynamics
            .accelerate(time, position, velocity, &mut self.acceleration)?;
        if !self.drive_efforts.is_empty() {
            self.dynamics
                .update_stresses(&self.acceleration, &mut self.residual);
        }
        Ok(self.power())
    }

    /// Power that flows in the state evaluated last, whose stresses are known where something is prescribed.
    fn power(&mut self) -> Power {
        let mut power = Power::default();
        let (nodal, equations) = (self.nodal, self.dynamics.equations());
        power.dissipated += equations.dissipation();
        // the same forces once more, for the power that flows
        let (actions, efforts) = (
            &nodal.actions,
            self.dynamics.excitation().commands().efforts(),
        );
        let nodes = &mut equations.view(&mut self.unused);
        let mut view = NodalView { nodal, nodes };
        actions.push_inputs(efforts, &mut view, &mut power.input);
        actions.push_feedback(efforts, &mut view, &mut power.input);
        actions.resist(&efforts.contacts, &mut view, &mut power.dissipated);
        actions.turn_gears(&mut view, &mut power.dissipated);
        let drives = self.dynamics.drives().iter().zip(self.unused.driven());
        for ((drive, (driven, already)), effort) in drives.enumerate().zip(&mut self.drive_efforts)
        {
            *effort = equations.drive_effort(drive) - already;
            power.input += *effort * driven.rate;
        }
        power
    }

    /// One iteration of a stage: a step of Newton's method for the accelerations, with the velocities $`b + s\,\dot v`$ and the
    /// positions $`b + s\,\dot q`$ that follow.
    fn iterate_stage(
        &mut self,
        time: f64,
        base: &[f64],
        share: f64,
        rate: &mut [f64],
    ) -> Result<(), NodalError> {
        let (n_q, n_v) = (self.position_count(), self.velocity_count());
        let (position_rate, rest) = rate.split_at_mut(n_q);
        let (acceleration, work) = rest.split_at_mut(n_v);
        self.error = None;
        for (i, velocity) in self.velocity.iter_mut().enumerate() {
            *velocity = base[n_q + i] + share * acceleration[i];
        }
        for (i, position) in self.position.iter_mut().enumerate() {
            *position = base[i] + share * position_rate[i];
        }
        // rates of positions follow from velocities and, where positions are not vectors, from positions
        let equations = self.dynamics.equations();
        equations.position_rate(&self.position, &self.velocity, position_rate);
        for (i, position) in self.position.iter_mut().enumerate() {
            *position = base[i] + share * position_rate[i];
        }
        let lacking = &mut self.residual;
        (self.dynamics).motion_residual(
            time,
            &self.position,
            &self.velocity,
            acceleration,
            lacking,
        )?;
        self.dynamics.solve_tangent(lacking);
        let power = self.power();
        for (i, acceleration) in acceleration.iter_mut().enumerate() {
            *acceleration -= self.residual[i];
            self.velocity[i] = base[n_q + i] + share * *acceleration;
        }
        self.acceleration.copy_from_slice(acceleration);
        let equations = self.dynamics.equations();
        equations.position_rate(&self.position, &self.velocity, position_rate);
        (work[0], work[1]) = (power.input, power.dissipated);
        Ok(())
    }
}

impl FirstOrder for NodalEquations<'_> {
    fn project(&mut self, _time: f64, _state: &mut [f64]) -> Projection {
        self.projection()
    }

    fn handle_event(&mut self, time: f64, state: &mut [f64]) {
        let (position, rest) = state.split_at_mut(self.nodal.mechanism.position_count());
        let velocity = &mut rest[..self.nodal.mechanism.dof_count()];
        self.begin_piece(time, position, velocity);
        self.enter_contacts(time, position, velocity);
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        let (position, velocity) = self.motion_of(state);
        self.event(time, position, velocity)
    }

    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        let (position, velocity) = self.motion_of(state);
        self.may_have_touched(time, [position, velocity], step)
    }

    fn chart(&self) -> &[usize] {
        self.chart.dependent
    }

    fn prepare_stages(
        &mut self,
        time: f64,
        state: &[f64],
        rate: &[f64],
        share: f64,
        _allowance: &mut [f64],
    ) -> bool {
        let (n_q, n_v) = (self.position_count(), self.velocity_count());
        let (position, rest) = state.split_at(n_q);
        let motion = [position, &rest[..n_v], &rate[n_q..n_q + n_v]];
        self.dynamics
            .form_tangent(time, motion, [share * share, share])
    }

    fn improve_stage(&mut self, time: f64, base: &[f64], share: f64, rate: &mut [f64]) {
        if let Err(error) = self.iterate_stage(time, base, share, rate) {
            self.error = Some(error);
            rate.fill(f64::NAN);
        }
    }

    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let (n_q, n_v) = (self.position_count(), self.velocity_count());
        let (position, rest) = state.split_at(n_q);
        let velocity = &rest[..n_v];
        match self.evaluate_state(time, position, velocity) {
            Ok(power) => {
                let (position_rate, rest) = rate.split_at_mut(n_q);
                let equations = self.dynamics.equations();
                equations.position_rate(position, velocity, position_rate);
                rest[..n_v].copy_from_slice(&self.acceleration);
                (rest[n_v], rest[n_v + 1]) = (power.input, power.dissipated);
            }
            Err(error) => {
                self.error = Some(error);
                rate.fill(f64::NAN);
            }
        }
    }
}

impl SecondOrder for NodalEquations<'_> {
    fn position_count(&self) -> usize {
        self.nodal.mechanism.position_count()
    }

    fn velocity_count(&self) -> usize {
        self.nodal.mechanism.dof_count()
    }

    fn project(&mut self, _time: f64, _position: &mut [f64], _velocity: &mut [f64]) -> Projection {
        self.projection()
    }

    fn handle_event(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) {
        self.begin_piece(time, position, velocity);
        self.enter_contacts(time, position, velocity);
    }

    fn event_function(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> f64 {
        self.event(time, position, velocity)
    }

    fn may_have_passed(&mut self, time: f64, motion: [&[f64]; 2], step: f64) -> bool {
        self.may_have_touched(time, motion, step)
    }

    fn chart(&self) -> &[usize] {
        self.chart.dependent
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        let outcome =
            (self.dynamics).motion_residual(time, position, velocity, acceleration, residual);
        self.error = outcome.err();
        if self.error.is_some() {
            residual.fill(f64::NAN);
        }
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        SecondOrder::mass_matrix(&mut self.dynamics, time, position, mass);
    }

    fn prepare_tangent(&mut self, time: f64, motion: [&[f64]; 3], weights: [f64; 2]) -> bool {
        self.dynamics.form_tangent(time, motion, weights)
    }

    fn solve_tangent(&mut self, residual: &mut [f64]) {
        self.dynamics.solve_tangent(residual);
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        SecondOrder::displace(&self.dynamics, position, increment, displaced);
    }
}
