//! A nodal model linearised: where it starts, where a recording has it, and along its nominal motion.

use std::borrow::Cow;

use lissom_core::study::{Deviated, Deviation, Linearize, LinearizeError, OutputOrder, linearize};
use lissom_core::{AxisId, Coordinates, Load, RunError, State, effort_label};
use lissom_nodal::{
    Drive, Dynamics, Equations, Excitation as _, Forces, NodalError, NodeId, NodeKind,
    displaced_nodes, linearize_state,
};
use lissom_numerics::Memory;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Labels, Point};
use nalgebra::DVector;

use super::charts::Chart;
use super::outputs::unplaced;
use super::rigid::{NodalTrajectory, any_trajectory};
use super::view::NodalView;
use super::{NodalActions, NodalModel};

/// A state of motion of a nodal model with its accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalMotion {
    time_s: f64,
    /// What the state remembers, its chart among it; nothing if it is a start of its own.
    memory: Memory,
    position: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
}

impl NodalMotion {
    pub(super) fn time_s(&self) -> f64 {
        self.time_s
    }
}

/// A nodal model to be linearised.
#[derive(Debug)]
pub struct NodalLinearizer<'m> {
    pub(super) nodal: &'m NodalModel,
    /// Which axes are degrees of freedom.
    pub(super) chart: Chart<'m>,
    /// Whether they no longer determine the motion that was looked at last.
    is_ill_conditioned: bool,
    pub(super) equations: Equations<'m>,
    dynamics: Dynamics<'m, NodalActions<'m>>,
    trajectory: Option<NodalTrajectory<'m>>,
    /// Points whose positions are outputs.
    outputs: Vec<NodeId>,
}

impl<'m> NodalLinearizer<'m> {
    /// For a nodal model.
    ///
    /// # Errors
    ///
    /// When the mechanism is singular where it is assembled or starts.
    pub fn new(nodal: &'m NodalModel) -> Result<Self, NodalError> {
        let mechanism = &nodal.mechanism;
        let moves = |node: &NodeId| {
            let kind = mechanism.node_kind(*node);
            matches!(kind, NodeKind::Point | NodeKind::PlanarPoint)
                && !mechanism.is_supported(*node)
        };
        let markers = nodal.markers.iter().map(|marker| marker.end.point);
        let nodes = nodal.nodes.iter().copied().filter(moves);
        Ok(Self {
            nodal,
            chart: nodal.first_chart(),
            is_ill_conditioned: false,
            equations: Equations::new(mechanism)?,
            dynamics: Dynamics::new(Equations::new(mechanism)?, NodalActions::new(nodal)),
            trajectory: None,
            outputs: markers.chain(nodes).collect(),
        })
    }

    /// Degrees of freedom of axes, those that are none left out.
    fn dofs(&self, axes: impl Iterator<Item = AxisId>) -> Vec<usize> {
        let mechanism = self.chart.mechanism;
        axes.filter_map(|axis| self.nodal.axis_dof_in(mechanism, axis))
            .collect()
    }

    /// Goes on in a chart with equations that stand somewhere.
    fn enter(&mut self, chart: Chart<'m>, equations: Equations<'m>) {
        self.chart = chart;
        self.equations = equations.clone();
        self.dynamics.set_equations(equations);
    }

    /// Stands where a memory has the nodes, in its chart; without any in the first chart.
    fn stand(&mut self, memory: &Memory, time_s: f64) -> Result<(), LinearizeError> {
        let first = self.nodal.first_chart();
        let is_first = self.chart.following == first.following;
        if memory.is_empty() {
            if !is_first {
                let equations = Equations::new(first.mechanism);
                self.enter(first, equations.map_err(Self::unplaced(time_s))?);
            }
            return Ok(());
        }
        let recalled = self.nodal.recalled(memory);
        let (chart, equations) = recalled.map_err(|source| {
            LinearizeError::Unplaced(Box::new(RunError::Unplaced { source, time_s }))
        })?;
        self.enter(chart, equations);
        Ok(())
    }

    /// Drives at an instant.
    fn drives(&mut self, time_s: f64) -> Vec<Drive> {
        let mut drives = self.nodal.mechanism.assembled_drives();
        self.dynamics.excitation_mut().drive(time_s, &mut drives);
        drives
    }

    /// A motion in the chart chosen, of which the equations stand there then.
    fn charted(&mut self, motion: &NodalMotion) -> Result<NodalMotion, LinearizeError> {
        let (time_s, chosen) = (motion.time_s, self.chart);
        let ill_conditioned = |_| LinearizeError::IllConditioned { time_s };
        let drives = self.drives(time_s);
        self.stand(&motion.memory, time_s)?;
        let (own, from) = (self.chart, &mut self.equations);
        from.place(&motion.position, &drives)
            .map_err(Self::unplaced(time_s))?;
        from.set_velocity(&motion.velocity, &drives);
        from.set_acceleration(&motion.acceleration, &drives);
        let mechanism = chosen.mechanism;
        let acceleration = (0..mechanism.dof_count()).map(|dof| {
            let Some((element, index)) = mechanism.dof_deformation(dof) else {
                return motion.acceleration[dof];
            };
            match own.mechanism.deformation_dof(element, index) {
                Some(own) => motion.acceleration[own],
                None => from.deformation_acceleration(element, index),
            }
        });
        let acceleration = acceleration.collect();
        let moving = lissom_nodal::Motion {
            position: motion.position.clone(),
            velocity: motion.velocity.clone(),
        };
        let (equations, moving) = from
            .exchanged(mechanism, &moving, &drives)
            .map_err(ill_conditioned)?;
        self.enter(chosen, equations);
        Ok(NodalMotion {
            time_s,
            memory: motion.memory.clone(),
            position: moving.position,
            velocity: moving.velocity,
            acceleration,
        })
    }

    /// Whether other axes had better lead at a motion in the chart chosen.
    fn is_badly_led(&mut self, motion: &NodalMotion) -> Result<bool, LinearizeError> {
        if self.nodal.charts.is_none() {
            return Ok(false);
        }
        let drives = self.drives(motion.time_s);
        // a copy, so that looking does not move what is linearised
        let mut trial = self.equations.clone();
        let placed = trial.place(&motion.position, &drives);
        placed.map_err(Self::unplaced(motion.time_s))?;
        Ok(self.nodal.is_badly_led(self.chart, &mut trial))
    }

    /// Chooses a chart for a motion, whatever was chosen before.
    pub(super) fn choose_afresh(&mut self, motion: &NodalMotion) -> Result<(), LinearizeError> {
        self.is_ill_conditioned = false;
        self.choose(motion)
    }

    /// Whether a motion is given in the chart chosen.
    fn is_charted(&self, motion: &NodalMotion) -> bool {
        let own = self.nodal.remembered_chart(&motion.memory);
        own.is_ok_and(|own| own.following == self.chart.following)
    }

    /// A motion as it is in the chart chosen, where the equations stand then.
    fn in_chart<'a>(
        &mut self,
        motion: &'a NodalMotion,
    ) -> Result<Cow<'a, NodalMotion>, LinearizeError> {
        if self.is_charted(motion) {
            if !motion.memory.is_empty() {
                self.stand(&motion.memory, motion.time_s)?;
            }
            return Ok(Cow::Borrowed(motion));
        }
        let charted = self.charted(motion);
        self.is_ill_conditioned |= charted.is_err();
        charted.map(Cow::Owned)
    }

    /// Inputs on the actuated degrees of freedom where the state was set last; friction of the joints is none.
    fn inputs(&self) -> Vec<f64> {
        let (nodal, mechanism) = (self.nodal, self.chart.mechanism);
        let on = |dof: usize| {
            let is_meant = |axis| nodal.axis_dof_in(mechanism, axis) == Some(dof);
            (nodal.actions).effort_on(self.dynamics.excitation().efforts(), is_meant)
        };
        let actuated = mechanism.actuated_dofs();
        actuated.into_iter().map(on).collect()
    }

    /// Columns of the input matrix for loads on markers, where the equations were linearised last.
    fn load_columns(&self) -> Vec<DVector<f64>> {
        let (nodal, mechanism) = (self.nodal, self.chart.mechanism);
        let mut forces = Forces::new(mechanism);
        let loads = nodal.actions.marker_loads();
        let column = |load: &Load| {
            let nodes = &mut self.equations.view(&mut forces);
            load.push(1.0, &mut NodalView { nodal, nodes });
            let force = |dof, _| self.equations.generalized_force(&forces, dof);
            DVector::from_fn(mechanism.dof_count(), force)
        };
        loads.map(column).collect()
    }

    fn unplaced(time_s: f64) -> impl Fn(NodalError) -> LinearizeError {
        move |error| LinearizeError::Unplaced(Box::new(unplaced(&error, time_s)))
    }
}

impl Linearize for NodalLinearizer<'_> {
    type Motion = NodalMotion;

    fn moving(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let State {
            time_s,
            position,
            velocity,
            memory,
            ..
        } = state;
        // a state that remembers where its nodes are need not be sought from where the mechanism is assembled
        self.stand(memory, *time_s)?;
        let mut acceleration = vec![0.0; velocity.len()];
        let accelerated =
            (self.dynamics).accelerate(*time_s, position, velocity, &mut acceleration);
        accelerated.map_err(Self::unplaced(*time_s))?;
        Ok(NodalMotion {
            time_s: *time_s,
            memory: memory.clone(),
            position: position.clone(),
            velocity: velocity.clone(),
            acceleration,
        })
    }

    fn resting(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let still = vec![0.0; self.nodal.mechanism.dof_count()];
        Ok(NodalMotion {
            time_s: state.time_s,
            memory: state.memory.clone(),
            position: state.position.clone(),
            velocity: still.clone(),
            acceleration: still,
        })
    }

    fn nominal(&mut self, time_s: f64) -> Result<NodalMotion, LinearizeError> {
        let trajectory = match &mut self.trajectory {
            Some(trajectory) => trajectory,
            None => self.trajectory.insert(any_trajectory(self.nodal)?),
        };
        trajectory.update(time_s)?;
        let [mut position, mut velocity, mut acceleration] = [const { Vec::new() }; 3];
        let written = [&mut position, &mut velocity, &mut acceleration];
        trajectory.mechanism().write(trajectory.state(), written);
        Ok(NodalMotion {
            time_s,
            memory: Memory::default(),
            position,
            velocity,
            acceleration,
        })
    }

    fn steady(&mut self, motion: NodalMotion) -> NodalMotion {
        motion
    }

    fn choose(&mut self, first: &NodalMotion) -> Result<(), LinearizeError> {
        let time_s = first.time_s;
        if std::mem::take(&mut self.is_ill_conditioned) {
            // inputs and controllers go on with the joints that they have
            return Err(LinearizeError::IllConditioned { time_s });
        }
        if self.nodal.charts.is_none() {
            return Ok(());
        }
        if !first.memory.is_empty() || !self.is_charted(first) {
            self.stand(&first.memory, time_s)?;
        }
        if !self.is_badly_led(first)? {
            return Ok(());
        }
        let drives = self.drives(time_s);
        let motion = lissom_nodal::Motion {
            position: first.position.clone(),
            velocity: first.velocity.clone(),
        };
        let unplaced = Self::unplaced(time_s);
        let mut trial = self.equations.clone();
        let placed = trial.place(&motion.position, &drives);
        placed.map_err(&unplaced)?;
        let best = (self.nodal).in_best_chart(&mut trial, &motion, &drives, &[]);
        let (chart, equations, _) = best.map_err(&unplaced)?;
        self.enter(chart, equations);
        Ok(())
    }

    fn point(&mut self, motion: &NodalMotion, order: OutputOrder) -> Result<Point, LinearizeError> {
        let motion = &*self.in_chart(motion)?;
        if self.is_badly_led(motion)? {
            self.is_ill_conditioned = true;
            let time_s = motion.time_s;
            return Err(LinearizeError::IllConditioned { time_s });
        }
        let NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
            ..
        } = motion;
        let unplaced = Self::unplaced(*time_s);
        let placed = self.dynamics.set_state(*time_s, position, velocity);
        placed.map_err(&unplaced)?;
        let state = lissom_nodal::State {
            position,
            velocity,
            acceleration,
            drives: self.dynamics.drives(),
            loads: self.dynamics.excitation(),
        };
        let second_order = order == OutputOrder::Second;
        let (equations, outputs) = (&mut self.equations, &self.outputs);
        let point = linearize_state(equations, *time_s, &state, outputs, second_order);
        let mut point = point.map_err(&unplaced)?;
        point.position = self.nodal.chart_position(self.chart.mechanism, position);
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let [turning, turning_rate] = [velocity, acceleration]
            .map(|rates| self.nodal.quasi_rates(self.chart.mechanism, rates));
        let linear = &mut point.linear;
        linear.dynamic += &linear.damping * &turning + &linear.mass * turning_rate;
        linear.damping += &linear.mass * turning;
        let actuated = point.linear.input.ncols();
        let loads = self.load_columns();
        let mut input = std::mem::take(&mut point.linear.input);
        input = input.resize_horizontally(actuated + loads.len(), 0.0);
        for (index, load) in loads.iter().enumerate() {
            input.set_column(actuated + index, load);
        }
        point.linear.input = input;
        point.input = self.inputs();
        Ok(point)
    }

    fn deviated(
        &mut self,
        motion: &NodalMotion,
        deviation: &Deviation<'_>,
        order: OutputOrder,
    ) -> Result<Deviated, LinearizeError> {
        let NodalMotion {
            time_s,
            position,
            velocity,
            ..
        } = &*self.in_chart(motion)?;
        let unplaced = Self::unplaced(*time_s);
        let placed = self.dynamics.set_state(*time_s, position, velocity);
        placed.map_err(&unplaced)?;
        let placed = self.equations.place(position, self.dynamics.drives());
        placed.map_err(&unplaced)?;
        let second_order = order == OutputOrder::Second;
        let sum = |nominal: &[f64], deviation: &[f64]| -> Vec<f64> {
            let both = nominal.iter().zip(deviation);
            both.map(|(nominal, deviation)| nominal + deviation)
                .collect()
        };
        let nominal = (self.nodal).chart_position(self.chart.mechanism, position);
        let (equations, outputs) = (&mut self.equations, &self.outputs);
        Ok(Deviated {
            markers: displaced_nodes(equations, outputs, deviation.position, second_order),
            position: sum(&nominal, deviation.position),
            velocity: sum(velocity, deviation.rate),
            input: self.inputs(),
        })
    }

    fn state(
        &mut self,
        motion: &NodalMotion,
        deviation: &Deviation<'_>,
    ) -> Result<State, LinearizeError> {
        let motion = &*self.in_chart(motion)?;
        let mut position = motion.position.clone();
        self.equations
            .displace(&motion.position, deviation.position, &mut position);
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let turned = self
            .nodal
            .quasi_rates(self.chart.mechanism, &motion.velocity)
            * DVector::from_column_slice(deviation.position);
        let velocity = (motion.velocity.iter().zip(deviation.rate)).zip(turned.iter());
        let velocity = velocity.map(|((nominal, rate), turned)| nominal + rate + turned);
        let state = State::new(motion.time_s, position, velocity.collect());
        if self.chart.following == self.nodal.first_chart().following {
            return Ok(state);
        }
        // a state says in which chart it is
        let drives = self.drives(state.time_s);
        let placed = self.equations.place(&state.position, &drives);
        placed.map_err(Self::unplaced(state.time_s))?;
        let mut memory = self.equations.memory();
        self.chart.remember(self.nodal, &mut memory);
        Ok(State { memory, ..state })
    }

    fn labels(&self) -> Labels {
        let mut labels = lissom_nodal::labels(self.chart.mechanism, &self.outputs);
        let parts = self.nodal.coordinates_of_dofs(self.chart.mechanism);
        labels.coordinates = parts.iter().flat_map(Coordinates::deviations).collect();
        let actuated = self.chart.mechanism.actuated_dofs();
        for (index, axis) in self.nodal.axes.iter().enumerate() {
            let axis_id = AxisId(index);
            let Some(dof) = self.nodal.axis_dof_in(self.chart.mechanism, axis_id) else {
                continue;
            };
            let Some(input) = actuated.iter().position(|&actuated| actuated == dof) else {
                continue;
            };
            labels.inputs[input] = effort_label(&axis.name);
            let mut gears = self.nodal.actions.gears.iter();
            if gears.any(|gear| gear.joint == axis_id) {
                // inputs act on the motor, whose effort has the name of the joint
                labels.inputs[input].name =
                    format!("{}.{}", axis.name.coordinate(), axis.name.effort_word());
            }
        }
        let loads = self.nodal.actions.marker_loads();
        labels.inputs.extend(loads.map(Load::label));
        for (label, marker) in labels.markers.iter_mut().zip(&self.nodal.markers) {
            label.clone_from(&marker.name);
        }
        labels
    }

    fn actuated(&self) -> Vec<usize> {
        self.chart.mechanism.actuated_dofs()
    }

    fn driven(&self) -> Vec<usize> {
        self.nodal.driven_dofs(self.chart.mechanism)
    }

    fn driven_inputs(&self) -> Vec<usize> {
        let nodal = self.nodal;
        let motors = self.dofs(nodal.actions.gears.iter().map(|gear| gear.motor));
        let driven = self.driven();
        let actuated = self.actuated().into_iter().enumerate();
        let acts = |dof: &usize| driven.contains(dof) || motors.contains(dof);
        // loads on markers come after the joints
        let first_load = actuated.len();
        let loads = (first_load..).zip(nodal.actions.marker_loads());
        actuated
            .filter_map(|(input, dof)| acts(&dof).then_some(input))
            .chain(loads.map(|(input, _)| input))
            .collect()
    }

    fn controlled(&self) -> Vec<Vec<usize>> {
        let controllers = self.nodal.actions.controllers.iter();
        let drives = controllers.map(|controller| controller.axes.iter().map(|axis| axis.drive));
        drives.map(|axes| self.dofs(axes)).collect()
    }

    fn deviation(&mut self, state: &State, from: &NodalMotion) -> [Vec<f64>; 2] {
        let still = vec![0.0; self.nodal.mechanism.dof_count()];
        let state = NodalMotion {
            time_s: state.time_s,
            memory: state.memory.clone(),
            position: state.position.clone(),
            velocity: state.velocity.clone(),
            acceleration: still,
        };
        // what cannot be said in the coordinates chosen deviates by no number
        let [state, from] = [&state, from].map(|motion| {
            let charted = if self.is_charted(motion) {
                Ok(motion.clone())
            } else {
                self.charted(motion)
            };
            charted.unwrap_or_else(|_| NodalMotion {
                position: vec![f64::NAN; motion.position.len()],
                velocity: vec![f64::NAN; motion.velocity.len()],
                ..motion.clone()
            })
        });
        let mechanism = self.chart.mechanism;
        let deviation = (self.nodal).deviation(mechanism, &state.position, &from.position);
        let turned = self.nodal.quasi_rates(mechanism, &from.velocity)
            * DVector::from_column_slice(&deviation);
        let rates = state.velocity.iter().zip(&from.velocity);
        let rates = rates.zip(turned.iter());
        let rates = rates.map(|((rate, from), turned)| rate - from - turned);
        let rates = rates.collect();
        [deviation, rates]
    }

    fn breakpoints(&self) -> Vec<f64> {
        self.dynamics.excitation().breakpoints()
    }

    fn frozen(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        let found = match linearize(self, motions, OutputOrder::First, watch) {
            Err(LinearizeError::IllConditioned { .. }) if self.nodal.charts.is_some() => {
                return self.frozen_in_charts(motions, free, watch);
            }
            found => found?,
        };
        let held: &[usize] = if free { &[] } else { &found.driven };
        let mut frozen = Frozen::new(&found.trajectory, held);
        frozen.rigid = self.nodal.floating_dofs();
        Ok(frozen)
    }
}
