//! A nodal model linearised: where it starts, where a recording has it, and along its nominal motion.

use std::borrow::Cow;

use lissom_core::study::{Deviated, Deviation, Linearize, LinearizeError, OutputOrder};
use lissom_core::{Actions, AxisId, Commanded, Coordinates, Load, Nominal as _, RunError, State};
use lissom_nodal::{
    Dynamics, Equations, Forces, NodalError, NodeId, NodeKind, displaced_nodes, linearize_state,
};
use lissom_numerics::Memory;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Dependence, Frozen, Label, Labels, LinearError, Point, asking};
use nalgebra::{DMatrix, DVector};

use super::all_coordinates::{ActuatedJoint, AllCoordinates};
use super::charts::Chart;
pub(super) use super::motion::NodalMotion;
use super::outputs::unplaced;
use super::trajectory::NodalTrajectory;
use super::view::NodalView;
use super::{NodalActions, NodalModel};

/// A nodal model to be linearised.
#[derive(Debug)]
pub struct NodalLinearizer<'m> {
    pub(super) nodal: &'m NodalModel,
    /// Which axes are degrees of freedom.
    pub(super) chart: Chart<'m>,
    /// Whether they are taken however badly they determine the others.
    tolerates: bool,
    pub(super) all: AllCoordinates<'m>,
    pub(super) equations: Equations<'m>,
    pub(super) dynamics: Dynamics<'m, NodalActions<'m>>,
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
            tolerates: false,
            all: AllCoordinates::of(nodal),
            equations: Equations::new(mechanism)?,
            dynamics: Dynamics::new(Equations::new(mechanism)?, NodalActions::new(nodal)),
            trajectory: None,
            outputs: markers.chain(nodes).collect(),
        })
    }

    /// Stands where a memory has the nodes, in its chart; without any in the first chart, where the model starts if motions on the way
    /// have memories of their own.
    fn stand(&mut self, memory: &Memory, time_s: f64) -> Result<(), LinearizeError> {
        let first = self.nodal.first_chart();
        let is_first = self.chart.dependent == first.dependent;
        if memory.is_empty() {
            if !is_first || self.nodal.open().is_some() {
                let equations = Equations::new(first.mechanism);
                self.change_to(first, equations.map_err(Self::unplaced(time_s))?);
            }
            return Ok(());
        }
        let recalled = self.nodal.recalled(memory);
        let (chart, equations) = recalled.map_err(|source| {
            LinearizeError::Unplaced(Box::new(RunError::Unplaced { source, time_s }))
        })?;
        self.change_to(chart, equations);
        Ok(())
    }

    /// Changes to the chart in which these coordinates are independent; where the equations stand there is unknown.
    fn choose_independent(
        &mut self,
        independent: &[usize],
        time_s: f64,
    ) -> Result<(), LinearizeError> {
        let Some(charts) = &self.nodal.charts else {
            return Ok(());
        };
        let is_independent = |deformation| {
            let place = self.all.place(deformation);
            place.is_some_and(|place| independent.contains(&place))
        };
        let dependent = charts.dependent(is_independent);
        if dependent != self.chart.dependent {
            let chart = self.nodal.chart(&dependent);
            let chart = chart.map_err(Self::unplaced(time_s))?;
            self.change_to(chart, Equations::unplaced(chart.mechanism));
        }
        Ok(())
    }

    /// A motion in the chart chosen, of which the equations stand there then.
    fn charted(&mut self, motion: &NodalMotion) -> Result<NodalMotion, LinearizeError> {
        let (time_s, chosen) = (motion.time_s, self.chart);
        let ill_conditioned = |_| LinearizeError::IllConditioned { time_s };
        let drives = self.nodal.drives(time_s);
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
        self.change_to(chosen, equations);
        Ok(NodalMotion {
            time_s,
            memory: motion.memory.clone(),
            position: moving.position,
            velocity: moving.velocity,
            acceleration,
            control: motion.control.clone(),
        })
    }

    /// Whether other axes had better be independent at a motion in the chart chosen.
    fn is_ill_conditioned(&mut self, motion: &NodalMotion) -> Result<bool, LinearizeError> {
        if self.nodal.charts.is_none() {
            return Ok(false);
        }
        let drives = self.nodal.drives(motion.time_s);
        // a copy, so that looking does not move what is linearised
        let mut trial = self.equations.clone();
        let placed = trial.place(&motion.position, &drives);
        placed.map_err(Self::unplaced(motion.time_s))?;
        Ok(self.nodal.is_ill_conditioned(self.chart, &mut trial))
    }

    /// Whether a motion is given in the chart chosen.
    fn is_charted(&self, motion: &NodalMotion) -> bool {
        let own = self.nodal.remembered_chart(&motion.memory);
        own.is_ok_and(|own| own.dependent == self.chart.dependent)
    }

    /// A motion as it is in the chart chosen, where the equations stand then.
    pub(super) fn in_chart<'a>(
        &mut self,
        motion: &'a NodalMotion,
    ) -> Result<Cow<'a, NodalMotion>, LinearizeError> {
        if self.is_charted(motion) {
            self.stand(&motion.memory, motion.time_s)?;
            return Ok(Cow::Borrowed(motion));
        }
        self.charted(motion).map(Cow::Owned)
    }

    /// A motion in the chart chosen, with values and rates of dependent coordinates there.
    fn told(
        &mut self,
        motion: &NodalMotion,
    ) -> Result<(NodalMotion, Vec<[f64; 2]>), LinearizeError> {
        let motion = self.in_chart(motion)?.into_owned();
        let drives = self.nodal.drives(motion.time_s);
        let placed = self.equations.place(&motion.position, &drives);
        placed.map_err(Self::unplaced(motion.time_s))?;
        self.equations.set_velocity(&motion.velocity, &drives);
        let dependent = self.all.dependent(self.chart.mechanism).into_iter();
        let told = dependent.map(|(_, (element, index))| {
            let rate = self.equations.deformation_rate(element, index);
            [self.equations.deformation(element, index), rate]
        });
        Ok((motion, told.collect()))
    }

    /// Inputs on the joints with actuators where the state was set last; friction of the joints is none.
    fn inputs(&self) -> Vec<f64> {
        let efforts = self.dynamics.excitation().commands().efforts();
        let on = |joint: &ActuatedJoint| {
            let is_meant = |axis| joint.axis == Some(axis);
            self.nodal.actions.effort_on(efforts, is_meant)
        };
        self.all.joints.iter().map(on).collect()
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

    pub(super) fn unplaced(time_s: f64) -> impl Fn(NodalError) -> LinearizeError {
        move |error| match error {
            NodalError::Linear(LinearError::Stopped { at_s }) => LinearizeError::Stopped { at_s },
            error => LinearizeError::Unplaced(Box::new(unplaced(&error, time_s))),
        }
    }
}

impl Linearize for NodalLinearizer<'_> {
    type Motion = NodalMotion;

    fn moving(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let (time_s, position, velocity) = (state.time_s, &state.position, &state.velocity);
        // a state that remembers where its nodes are need not be sought from where the mechanism is assembled
        self.stand(&state.memory, time_s)?;
        (self.dynamics.excitation_mut().commands_mut()).set_control(&state.control);
        let mut acceleration = vec![0.0; velocity.len()];
        let accelerated = (self.dynamics).accelerate(time_s, position, velocity, &mut acceleration);
        accelerated.map_err(Self::unplaced(time_s))?;
        Ok(NodalMotion {
            time_s,
            memory: state.memory.clone(),
            position: position.clone(),
            velocity: velocity.clone(),
            acceleration,
            control: state.control.clone(),
        })
    }

    fn in_equilibrium(&mut self, state: &State) -> Result<NodalMotion, LinearizeError> {
        let still = vec![0.0; self.nodal.mechanism.dof_count()];
        Ok(NodalMotion {
            time_s: state.time_s,
            memory: state.memory.clone(),
            position: state.position.clone(),
            velocity: still.clone(),
            acceleration: still,
            control: state.control.clone(),
        })
    }

    fn nominal(&mut self, time_s: f64) -> Result<NodalMotion, LinearizeError> {
        let trajectory = match &mut self.trajectory {
            Some(trajectory) => trajectory,
            None => self.trajectory.insert(self.nodal.any_trajectory()?),
        };
        trajectory.update(time_s)?;
        let rigid = trajectory.mechanism();
        let motion = rigid.motion(trajectory.state(), time_s);
        motion.map_err(Self::unplaced(time_s))
    }

    fn steady(&mut self, motion: NodalMotion) -> NodalMotion {
        motion
    }

    fn choose(&mut self, first: &NodalMotion) -> Result<(), LinearizeError> {
        let time_s = first.time_s;
        self.tolerates = false;
        if self.nodal.charts.is_none() {
            return Ok(());
        }
        self.stand(&first.memory, time_s)?;
        if !self.is_ill_conditioned(first)? {
            return Ok(());
        }
        let drives = self.nodal.drives(time_s);
        let motion = lissom_nodal::Motion {
            position: first.position.clone(),
            velocity: first.velocity.clone(),
        };
        let unplaced = Self::unplaced(time_s);
        let mut trial = self.equations.clone();
        let placed = trial.place(&motion.position, &drives);
        placed.map_err(&unplaced)?;
        // joints that inputs or controllers drive are independent, as long as they can be
        let driven: Vec<AxisId> = self.nodal.actions.driven().collect();
        for held in [&driven[..], &[]] {
            let best = (self.nodal).in_best_chart(&mut trial, &motion, &drives, held);
            match best {
                Ok((chart, mut equations, _)) => {
                    let is_bad = self.nodal.is_ill_conditioned(chart, &mut equations);
                    if !is_bad || held.is_empty() {
                        self.change_to(chart, equations);
                        break;
                    }
                }
                Err(error) if held.is_empty() => return Err(unplaced(error)),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn tolerate(&mut self) {
        self.tolerates = true;
    }

    fn point(
        &mut self,
        motion: &NodalMotion,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Point, LinearizeError> {
        let motion = &*self.in_chart(motion)?;
        if !self.tolerates && self.is_ill_conditioned(motion)? {
            let time_s = motion.time_s;
            return Err(LinearizeError::IllConditioned { time_s });
        }
        let NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
            control,
            ..
        } = motion;
        let unplaced = Self::unplaced(*time_s);
        (self.dynamics.excitation_mut().commands_mut()).set_control(control);
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
        let go_on = &mut asking(watch, *time_s);
        let point = linearize_state(equations, *time_s, &state, (outputs, second_order), go_on);
        let mut point = point.map_err(&unplaced)?;
        let readings = equations.differentiate_readings(&state, self.nodal, go_on);
        point.sensors = readings.map_err(&unplaced)?;
        point.position = self.nodal.chart_position(self.chart.mechanism, position);
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let [turning, turning_rate] = [velocity, acceleration]
            .map(|rates| self.nodal.quasi_rates(self.chart.mechanism, rates));
        let linear = &mut point.linear;
        linear.dynamic += &linear.damping * &turning + &linear.mass * &turning_rate;
        linear.damping += &linear.mass * &turning;
        point.sensors.in_chart(&turning, &turning_rate);
        let dependent = self.all.dependent(self.chart.mechanism);
        if !dependent.is_empty() {
            let (places, deformations): (Vec<_>, Vec<_>) = dependent.into_iter().unzip();
            let dependence = equations.dependence(&state, &deformations, go_on);
            let [values, mut rates] = dependence.map_err(&unplaced)?;
            rates += &values * turning;
            let [mut basis, mut rate] =
                [(); 2].map(|()| DMatrix::zeros(self.all.labels.len(), values.ncols()));
            let independent = self.all.independent(self.chart.mechanism);
            for (dof, place) in independent.into_iter().enumerate() {
                basis[(place, dof)] = 1.0;
            }
            for (row, place) in places.into_iter().enumerate() {
                basis.set_row(place, &values.row(row));
                rate.set_row(place, &rates.row(row));
            }
            point.dependence = Some(Dependence { basis, rate });
        }
        let (joints, loads) = (&self.all.joints, self.load_columns());
        let mut input = DMatrix::zeros(velocity.len(), joints.len() + loads.len());
        for (column, joint) in joints.iter().enumerate() {
            match &point.dependence {
                Some(all) => input.set_column(column, &all.basis.row(joint.place).transpose()),
                None => input[(joint.place, column)] = 1.0,
            }
        }
        for (index, load) in loads.iter().enumerate() {
            input.set_column(joints.len() + index, load);
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
        self.choose_independent(deviation.independent, motion.time_s)?;
        let NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
            ..
        } = &*self.in_chart(motion)?;
        let unplaced = Self::unplaced(*time_s);
        let placed = self.dynamics.set_state(*time_s, position, velocity);
        placed.map_err(&unplaced)?;
        let placed = self.equations.place(position, self.dynamics.drives());
        placed.map_err(&unplaced)?;
        let mechanism = self.chart.mechanism;
        let mut moved = [(); 2].map(|()| vec![0.0; self.all.labels.len()]);
        let nominal = self.nodal.chart_position(mechanism, position);
        for (dof, &place) in deviation.independent.iter().enumerate() {
            moved[0][place] = nominal[dof] + deviation.position[dof];
            moved[1][place] = velocity[dof] + deviation.rate[dof];
        }
        let equations = &mut self.equations;
        let dependent = self.all.dependent(mechanism);
        if !dependent.is_empty() {
            let (places, deformations): (Vec<_>, Vec<_>) = dependent.into_iter().unzip();
            let state = lissom_nodal::State {
                position,
                velocity,
                acceleration,
                drives: self.dynamics.drives(),
                loads: self.dynamics.excitation(),
            };
            let rates = self.nodal.deviated_rates(mechanism, velocity, deviation);
            let deviated = [deviation.position, &rates];
            let found = equations.deviated_deformations(&state, deviated, &deformations);
            for (place, [value, rate]) in places.into_iter().zip(found.map_err(&unplaced)?) {
                (moved[0][place], moved[1][place]) = (value, rate);
            }
        }
        let second_order = order == OutputOrder::Second;
        let markers = displaced_nodes(equations, &self.outputs, deviation.position, second_order);
        let [position, velocity] = moved;
        Ok(Deviated {
            markers,
            position,
            velocity,
            input: self.inputs(),
        })
    }

    fn state(
        &mut self,
        motion: &NodalMotion,
        deviation: &Deviation<'_>,
    ) -> Result<State, LinearizeError> {
        self.choose_independent(deviation.independent, motion.time_s)?;
        let motion = &*self.in_chart(motion)?;
        let mut position = motion.position.clone();
        self.equations
            .displace(&motion.position, deviation.position, &mut position);
        let rates = (self.nodal).deviated_rates(self.chart.mechanism, &motion.velocity, deviation);
        let velocity = motion.velocity.iter().zip(rates);
        let velocity = velocity.map(|(nominal, rate)| nominal + rate);
        let state = State::new(motion.time_s, position, velocity.collect());
        if self.chart.dependent == self.nodal.first_chart().dependent {
            return Ok(state);
        }
        // a state says in which chart it is
        let drives = self.nodal.drives(state.time_s);
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
        let joints = self.all.joints.iter();
        labels.joints = (joints.clone())
            .map(|joint| self.all.labels[joint.place].clone())
            .collect();
        let efforts = joints.map(|joint| joint.effort.clone());
        let loads = self.nodal.actions.marker_loads();
        labels.inputs = efforts.chain(loads.map(Load::label)).collect();
        for (label, marker) in labels.markers.iter_mut().zip(&self.nodal.markers) {
            label.clone_from(&marker.name);
        }
        labels
    }

    fn coordinates(&self) -> Vec<Label> {
        self.all.labels.clone()
    }

    fn independent(&self) -> Vec<usize> {
        self.all.independent(self.chart.mechanism)
    }

    fn actuated(&self) -> Vec<usize> {
        self.all.joints.iter().map(|joint| joint.place).collect()
    }

    fn commands(&self) -> &dyn Commanded {
        self.dynamics.excitation().commands()
    }

    fn actions(&self) -> &Actions {
        &self.nodal.actions
    }

    fn place(&self, AxisId(axis): AxisId) -> Option<usize> {
        let axis = &self.nodal.axes[axis];
        self.all.place((axis.element, axis.deformation))
    }

    fn deviation(&mut self, state: &State, from: &NodalMotion) -> [Vec<f64>; 2] {
        let state = NodalMotion {
            time_s: state.time_s,
            memory: state.memory.clone(),
            position: state.position.clone(),
            velocity: state.velocity.clone(),
            acceleration: vec![0.0; self.nodal.mechanism.dof_count()],
            control: Vec::new(),
        };
        let both = [&state, from].map(|motion| self.told(motion));
        let [Ok((state, dependent)), Ok((from, followed))] = both else {
            // what cannot be said in the coordinates chosen deviates by no number
            return [(); 2].map(|()| vec![f64::NAN; self.all.labels.len()]);
        };
        let mechanism = self.chart.mechanism;
        let independent = (self.nodal).deviation(mechanism, &state.position, &from.position);
        let turned = self.nodal.quasi_rates(mechanism, &from.velocity)
            * DVector::from_column_slice(&independent);
        let mut deviation = [(); 2].map(|()| vec![0.0; self.all.labels.len()]);
        for (dof, place) in self.independent().into_iter().enumerate() {
            deviation[0][place] = independent[dof];
            deviation[1][place] = state.velocity[dof] - from.velocity[dof] - turned[dof];
        }
        let places = self.all.dependent(mechanism).into_iter();
        for ((place, _), (own, from)) in places.zip(dependent.into_iter().zip(followed)) {
            for order in 0..2 {
                deviation[order][place] = own[order] - from[order];
            }
        }
        deviation
    }

    fn frozen(
        &mut self,
        motions: &[NodalMotion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError> {
        self.frozen_at(motions, free, watch)
    }

    fn frozen_lowest(
        &mut self,
        motion: &NodalMotion,
        free: bool,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<Frozen>, LinearizeError> {
        self.lowest_at(motion, free, count, watch)
    }
}
