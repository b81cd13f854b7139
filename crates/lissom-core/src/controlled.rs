//! [`Controlled`]: equations of a formulation with the states of controllers and actuators behind their velocities.
//!
//! A formulation takes these states as given and tells their rates with its efforts. Here they become part of what is integrated: as a
//! first-order system
//!
//! ```text
//! [ positions | velocities | states of controllers and actuators | work of inputs | energy dissipated ]
//! ```
//!
//! as a system of second order velocities of unit mass without positions. Implicit methods find their Jacobian by differences.
//!
//! Sampled controllers jump at their ticks, which are breakpoints: the answers that they hold are states that keep still in between, so that a run can
//! go on from any of its states.

use lissom_numerics::integrate::{FirstOrder, IntegrateError, Outcome, Projection, SecondOrder};
use lissom_numerics::{Coordinate, Memory};
use lissom_spatial::{Force, Transform, Vector};

use crate::action::{Actions, Controller, Due, merged};
use crate::audit::Audit;
use crate::dynamics::{Dynamics, EnergyAndMomentum, FlexibleLink, Impulse, Power};
use crate::error::{PlaceError, RunError};
use crate::limit::LimitedQuantity;
use crate::sensor::{Sensor, read_sensors};
use crate::signal::{ElasticId, JointReading, Parts, Readout};
use crate::state::{State, StateError};
use crate::trajectory::Commanded;
use crate::view::{AxisId, GaugeId, JointId, MarkerId, MarkerMotion};

/// Equations with the states of controllers and actuators.
pub struct Controlled<'m> {
    of: Box<dyn Dynamics + 'm>,
    states: Vec<Coordinate>,
    /// Positions and velocities of the formulation.
    motion: usize,
    velocities: usize,
    /// A state of the formulation, and its rates.
    state: Vec<f64>,
    rate: Vec<f64>,
    /// The mass matrix of the formulation; empty until it is asked for.
    mass: Vec<f64>,
    /// Sensors that sampled controllers measure, and the parts that they sit on.
    sensed: Option<(Vec<Sensor>, Parts)>,
    readings: Vec<f64>,
}

impl<'m> Controlled<'m> {
    /// Equations with the states that their controllers and actuators have; the same if there are none.
    pub fn around(mut dynamics: Box<dyn Dynamics + 'm>, start: &State) -> Box<dyn Dynamics + 'm> {
        let states = dynamics.actions().control_states();
        if states.is_empty() {
            return dynamics;
        }
        dynamics.set_control(&start.control);
        let actions = dynamics.actions();
        let senses = |own: &Controller| own.sampling.is_some() && !own.measures.is_empty();
        let sensed = (actions.controllers.iter().any(senses))
            .then(|| (actions.sensors.clone(), dynamics.parts()));
        let velocities = dynamics.velocity_count();
        let motion = dynamics.position_count() + velocities;
        Box::new(Self {
            of: dynamics,
            states,
            motion,
            velocities,
            state: Vec::with_capacity(motion + 2),
            rate: vec![0.0; motion + 2],
            mass: Vec::new(),
            sensed,
            readings: Vec::new(),
        })
    }

    /// Takes a state apart: that of the formulation is left in `self.state`.
    fn take(&mut self, state: &[f64]) {
        let behind = self.motion + self.states.len();
        self.of.set_control(&state[self.motion..behind]);
        self.state.clear();
        self.state.extend_from_slice(&state[..self.motion]);
        self.state.extend_from_slice(&state[behind..]);
    }

    /// Writes `self.state` back.
    fn give(&self, state: &mut [f64]) {
        let behind = self.motion + self.states.len();
        let (motion, works) = self.state.split_at(self.motion);
        state[..self.motion].copy_from_slice(motion);
        state[behind..].copy_from_slice(works);
    }

    /// The formulation does something with its part of a state, which it may change.
    fn change<R>(
        &mut self,
        state: &mut [f64],
        with: impl FnOnce(&mut dyn Dynamics, &mut [f64]) -> R,
    ) -> R {
        self.take(state);
        let done = with(&mut *self.of, &mut self.state);
        self.give(state);
        done
    }

    /// Whether a sampled controller has something to do at an instant.
    fn ticks_at(&self, time: f64) -> bool {
        let start = self.of.first_tick();
        let mut sampled = self.of.actions().samplings();
        sampled.any(|sampling| sampling.due(start, time) != Due::default())
    }

    /// Reads the sensors where the equations were evaluated last, if a sampled controller measures any.
    fn read(&mut self) {
        self.readings.clear();
        if let Some((sensors, parts)) = &self.sensed {
            read_sensors(sensors, parts, &mut *self.of, &mut self.readings);
        }
    }

    /// Takes rates apart: velocities of the formulation, behind which stand the other states.
    fn velocities<'v>(&mut self, rates: &'v [f64]) -> &'v [f64] {
        let (velocities, control) = rates.split_at(self.velocities);
        self.of.set_control(control);
        velocities
    }
}

impl FirstOrder for Controlled<'_> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        self.take(state);
        self.of.derivative(time, &self.state, &mut self.rate);
        let behind = self.motion + self.states.len();
        let (motion, works) = self.rate.split_at(self.motion);
        rate[..self.motion].copy_from_slice(motion);
        rate[self.motion..behind].copy_from_slice(&self.of.efforts().control_rate);
        rate[behind..].copy_from_slice(works);
    }

    fn project(&mut self, time: f64, state: &mut [f64]) -> Projection {
        self.change(state, |of, state| FirstOrder::project(of, time, state))
    }

    fn handle_event(&mut self, time: f64, state: &mut [f64]) {
        self.change(state, |of, state| FirstOrder::handle_event(of, time, state));
        if self.ticks_at(time) {
            let (position, rest) = state.split_at_mut(self.motion - self.velocities);
            let (velocity, rest) = rest.split_at_mut(self.velocities);
            self.of.evaluate(time, position, velocity);
            self.read();
            (self.of).tick(time, &self.readings, &mut rest[..self.states.len()]);
        }
    }

    fn chart(&self) -> &[usize] {
        FirstOrder::chart(&*self.of)
    }

    fn event_function(&mut self, time: f64, state: &[f64]) -> f64 {
        self.take(state);
        FirstOrder::event_function(&mut *self.of, time, &self.state)
    }

    fn may_have_passed(&mut self, time: f64, state: &[f64], step: f64) -> bool {
        self.take(state);
        FirstOrder::may_have_passed(&mut *self.of, time, &self.state, step)
    }
}

impl SecondOrder for Controlled<'_> {
    fn position_count(&self) -> usize {
        self.of.position_count()
    }

    fn velocity_count(&self) -> usize {
        self.velocities + self.states.len()
    }

    fn residual(
        &mut self,
        time: f64,
        position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        let velocity = self.velocities(velocity);
        let (acceleration, changes) = acceleration.split_at(self.velocities);
        let (own, others) = residual.split_at_mut(self.velocities);
        self.of
            .residual(time, position, velocity, acceleration, own);
        let rates = &self.of.efforts().control_rate;
        for (residual, (change, rate)) in others.iter_mut().zip(changes.iter().zip(rates)) {
            *residual = change - rate;
        }
    }

    fn mass_matrix(&mut self, time: f64, position: &[f64], mass: &mut [f64]) {
        let (n, all) = (self.velocities, self.velocity_count());
        self.mass.resize(n * n, 0.0);
        self.of.mass_matrix(time, position, &mut self.mass);
        mass.fill(0.0);
        for (i, row) in mass.chunks_exact_mut(all.max(1)).enumerate() {
            if i < n {
                row[..n].copy_from_slice(&self.mass[i * n..(i + 1) * n]);
            } else {
                row[i] = 1.0;
            }
        }
    }

    fn project(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) -> Projection {
        let velocity = &mut velocity[..self.velocities];
        SecondOrder::project(&mut *self.of, time, position, velocity)
    }

    fn handle_event(&mut self, time: f64, position: &mut [f64], velocity: &mut [f64]) {
        self.velocities(velocity);
        let (velocity, states) = velocity.split_at_mut(self.velocities);
        SecondOrder::handle_event(&mut *self.of, time, position, velocity);
        if self.ticks_at(time) {
            self.of.evaluate(time, position, velocity);
            self.read();
            self.of.tick(time, &self.readings, states);
        }
    }

    fn chart(&self) -> &[usize] {
        SecondOrder::chart(&*self.of)
    }

    fn event_function(&mut self, time: f64, position: &[f64], velocity: &[f64]) -> f64 {
        let velocity = self.velocities(velocity);
        SecondOrder::event_function(&mut *self.of, time, position, velocity)
    }

    fn may_have_passed(&mut self, time: f64, [position, velocity]: [&[f64]; 2], step: f64) -> bool {
        let velocity = self.velocities(velocity);
        SecondOrder::may_have_passed(&mut *self.of, time, [position, velocity], step)
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        (self.of).displace(position, &increment[..self.velocities], displaced);
    }
}

impl Dynamics for Controlled<'_> {
    fn state_layout(&self) -> Vec<Coordinate> {
        with_control(self.of.state_layout(), &self.states)
    }

    fn commands_mut(&mut self) -> &mut dyn Commanded {
        self.of.commands_mut()
    }

    fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        let mut instants = self.of.breakpoints(start, end);
        let (actions, first) = (self.of.actions(), self.of.first_tick());
        let shortest = actions.samplings().map(|sampling| sampling.period);
        let shortest = shortest.fold(f64::INFINITY, f64::min);
        if shortest.is_finite() {
            let ticks = actions.samplings();
            instants.extend(ticks.flat_map(|sampling| sampling.instants(first, [start, end])));
            instants = merged(instants, shortest);
        }
        instants
    }

    fn evaluate(&mut self, time: f64, positions: &[f64], velocities: &[f64]) -> Power {
        let velocities = self.velocities(velocities);
        self.of.evaluate(time, positions, velocities)
    }

    fn first_tick(&self) -> f64 {
        self.of.first_tick()
    }

    fn control_count(&self) -> usize {
        self.states.len()
    }

    fn energy_and_momentum(&mut self) -> EnergyAndMomentum {
        self.of.energy_and_momentum()
    }

    fn limited(&mut self, quantity: LimitedQuantity) -> f64 {
        self.of.limited(quantity)
    }

    fn conserves_momentum(&self) -> bool {
        self.of.conserves_momentum()
    }

    fn non_conservative(&self) -> Vec<String> {
        self.of.non_conservative()
    }

    fn flexible_links(&self) -> Vec<FlexibleLink> {
        self.of.flexible_links()
    }

    fn bending(&self, link: usize) -> [f64; 2] {
        self.of.bending(link)
    }

    fn rotation_rate(&self, link: usize) -> f64 {
        self.of.rotation_rate(link)
    }

    fn leading_coordinate(&self, link: usize) -> String {
        self.of.leading_coordinate(link)
    }

    fn change_chart(&mut self, time: f64, state: &[f64], chart: &[usize]) {
        self.take(state);
        self.of.change_chart(time, &self.state, chart);
    }

    fn enter_piece(&mut self, time: f64, state: &[f64]) {
        self.take(state);
        self.of.enter_piece(time, &self.state);
    }

    fn observe(&mut self) {
        self.of.observe();
    }

    fn project_sample(&mut self, time: f64, state: &mut [f64]) {
        self.change(state, |of, state| of.project_sample(time, state));
    }

    fn violation(&mut self, time: f64, state: &[f64]) -> Option<[f64; 2]> {
        self.take(state);
        self.of.violation(time, &self.state)
    }

    fn impulse(&mut self, time: f64, positions: &[f64], before: &[f64], after: &[f64]) -> Impulse {
        let [before, after] = [before, after].map(|rates| &rates[..self.velocities]);
        self.of.impulse(time, positions, before, after)
    }

    fn failure(&self, result: &Result<Outcome, IntegrateError>) -> Option<RunError> {
        self.of.failure(result)
    }

    fn recorded_state(
        &mut self,
        time_s: f64,
        value: &dyn Fn(&str) -> Option<f64>,
    ) -> Result<State, StateError> {
        let known = |state: &Coordinate| {
            value(&state.name).ok_or_else(|| StateError::NotRecorded {
                channel: state.name.clone(),
            })
        };
        let control = self.states.iter().map(known).collect::<Result<_, _>>()?;
        let state = self.of.recorded_state(time_s, value)?;
        Ok(State { control, ..state })
    }

    fn memory(&self) -> Memory {
        self.of.memory()
    }

    fn recall(&mut self, memory: &Memory) -> Result<(), PlaceError> {
        self.of.recall(memory)
    }

    fn finish(&self, audit: &mut Audit) {
        self.of.finish(audit);
    }
}

impl Readout for Controlled<'_> {
    fn parts(&self) -> Parts {
        self.of.parts()
    }

    fn actions(&self) -> &Actions {
        self.of.actions()
    }

    fn axis(&self, axis: AxisId) -> [f64; 2] {
        self.of.axis(axis)
    }

    fn joint(&self, joint: JointId) -> JointReading {
        self.of.joint(joint)
    }

    fn elastic(&self, at: ElasticId) -> [f64; 2] {
        self.of.elastic(at)
    }

    fn orientation(&self, at: ElasticId) -> [f64; 4] {
        self.of.orientation(at)
    }

    fn orientation_rate(&self, at: ElasticId) -> [f64; 3] {
        self.of.orientation_rate(at)
    }

    fn commands(&self) -> &dyn Commanded {
        self.of.commands()
    }

    fn driving_effort(&self, drive: usize) -> f64 {
        self.of.driving_effort(drive)
    }

    fn read_node(&self, node: usize, row: &mut Vec<f64>) {
        self.of.read_node(node, row);
    }

    fn marker(&mut self, marker: MarkerId) -> MarkerMotion<f64> {
        self.of.marker(marker)
    }

    fn strain(&mut self, gauge: GaugeId) -> f64 {
        self.of.strain(gauge)
    }

    fn specific_force(&mut self, marker: MarkerId) -> Option<Vector<f64>> {
        self.of.specific_force(marker)
    }

    fn find_reactions(&mut self) {
        self.of.find_reactions();
    }

    fn needed_wrench(&self, body: usize) -> Force<f64> {
        self.of.needed_wrench(body)
    }

    fn needed_beyond(&self, beam: usize, section: usize) -> Force<f64> {
        self.of.needed_beyond(beam, section)
    }

    fn section_frame(&mut self, beam: usize, section: usize) -> Transform<f64> {
        self.of.section_frame(beam, section)
    }

    fn joint_frame(&mut self, joint: usize) -> Transform<f64> {
        self.of.joint_frame(joint)
    }

    fn closure_frame(&mut self, closure: usize) -> Transform<f64> {
        self.of.closure_frame(closure)
    }

    fn closure_force(&self, closure: usize) -> Force<f64> {
        self.of.closure_force(closure)
    }

    fn closure_violation(&self, closure: usize) -> [f64; 2] {
        self.of.closure_violation(closure)
    }
}

/// The layout of states of a formulation, which ends with two works, with states of controllers and actuators in their place.
pub fn with_control(mut layout: Vec<Coordinate>, states: &[Coordinate]) -> Vec<Coordinate> {
    let works = layout.len().saturating_sub(2);
    layout.splice(works..works, states.iter().cloned());
    layout
}
