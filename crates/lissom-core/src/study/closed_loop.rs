//! Linearised equations with the controllers of the model in the loop, and the actuators through which they act.
//!
//! Joints $`e`$ deviate as the degrees of freedom have them, $`\delta e = J\,\delta q`$ and $`\delta\dot e = J\,\delta\dot q + V\,\delta q`$, those that loops
//! of the mechanism solve for included, and an effort on a joint acts by $`J^T`$. Controllers ask for $`u = -K_p\,\delta e - K_v\,\delta\dot e + S z`$, with the
//! states $`z`$ of [`Pid`] control and of linear systems, whose readings are rows of the deviations. What an actuator gives of it is all of it or, where it
//! saturates, nothing; one with a response time gives its state. States are those of a run, in the same order: deviations from those of the point,
//! which along the nominal motion are zero.

use nalgebra::DMatrix;

use lissom_numerics::linear::{
    Actuation, Frozen, FrozenPoint, Labels, LinearizedTrajectory, Loops, Point, Rows, Saturation,
};

use super::{AnalysisError, LinearizeError, Linearized};
use crate::action::{Actions, ControlLaw, Controller, Pid, StateSpaceLaw};
use crate::sensor::Sensor;

/// What joints do on which inputs or controllers act, for modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrivenJoints {
    /// Whether those that nothing controls are free; otherwise they are held.
    pub free: bool,
    /// Whether controllers close their loops; otherwise their joints are like the others.
    pub closed_loop: bool,
}

/// Linearised equations with $`K_p`$ added to the stiffness and $`K_v`$ to the damping of the joints that controllers of the model lead, Jonker &
/// Aarts (36)–(40), and with the states of controllers and actuators. Inputs are what acts beside the controllers, behind the actuators.
///
/// # Errors
/// When a controller is sampled.
pub fn with_controllers(
    actions: &Actions,
    linearized: &Linearized,
) -> Result<Linearized, AnalysisError> {
    let closing = Closing::new(actions, linearized, "a continuous linear model")?;
    let close = |trajectory: &LinearizedTrajectory| {
        let mut points = trajectory.points().to_vec();
        let loops = closing.loops(trajectory, true);
        for (point, loops) in points.iter_mut().zip(loops) {
            loops.close(&mut point.linear);
        }
        let labels = Labels {
            loop_states: state_names(actions),
            ..trajectory.labels().clone()
        };
        LinearizedTrajectory::new(labels, points, trajectory.coordinates().clone())
    };
    Ok(Linearized {
        trajectory: close(&linearized.trajectory),
        further: linearized.further.iter().map(close).collect(),
        ..linearized.clone()
    })
}

/// The same frozen at its states, for modes. Joints that inputs drive without a controller are held, or `free`.
///
/// # Errors
/// As [`with_controllers`], or when a joint that is held reaches a dead point.
pub fn closed_loop(
    actions: &Actions,
    linearized: &Linearized,
    free: bool,
) -> Result<Frozen, AnalysisError> {
    let closed = with_controllers(actions, linearized)?;
    if closed.further.is_empty() {
        let held = if free {
            Vec::new()
        } else {
            uncontrolled(linearized)
        };
        return Ok(Frozen::new(&closed.trajectory, &held));
    }
    let independent = &linearized.trajectory.coordinates().independent;
    let held = if free {
        Vec::new()
    } else {
        let dofs = uncontrolled(linearized).into_iter();
        dofs.map(|dof| independent[dof]).collect()
    };
    let mut points = Vec::new();
    for (stretch, trajectory) in closed.stretches().enumerate() {
        // a stretch begins with the last state of the one before
        for point in trajectory.points().iter().skip(usize::from(stretch > 0)) {
            points.push(frozen_point(trajectory, point, &held)?);
        }
    }
    Ok(Frozen {
        coordinates: linearized.coordinates.clone(),
        held,
        rigid: Vec::new(),
        points,
    })
}

/// The equations at a point of a motion on which other coordinates lead elsewhere, some of all coordinates held.
fn frozen_point(
    trajectory: &LinearizedTrajectory,
    point: &Point,
    held: &[usize],
) -> Result<FrozenPoint, LinearizeError> {
    let independent = &trajectory.coordinates().independent;
    let singular = LinearizeError::Singular { time_s: point.time };
    if !held.iter().all(|at| independent.contains(at)) {
        return Err(singular);
    }
    let basis = &point.dependence.as_ref().ok_or(singular)?.basis;
    let moving: Vec<usize> = (0..independent.len())
        .filter(|&dof| !held.contains(&independent[dof]))
        .collect();
    let all = basis.nrows();
    let mut inertia = DMatrix::zeros(all, all);
    for (i, &row) in independent.iter().enumerate() {
        for (j, &column) in independent.iter().enumerate() {
            inertia[(row, column)] = point.linear.mass[(i, j)];
        }
    }
    Ok(FrozenPoint {
        time: point.time,
        linear: point.linear.restricted(&moving),
        basis: basis.select_columns(&moving),
        inertia,
        gross: None,
    })
}

/// Coordinates, of the first choice, that inputs drive and no controller does.
pub(super) fn uncontrolled(linearized: &Linearized) -> Vec<usize> {
    let independent = &linearized.trajectory.coordinates().independent;
    let is_controlled = |dof: &usize| {
        let mut coordinates = linearized.controlled.iter().flatten();
        coordinates.any(|&coordinate| independent[*dof] == coordinate)
    };
    let driven = linearized.driven.iter().copied();
    driven.filter(|dof| !is_controlled(dof)).collect()
}

/// Names and units of the states of controllers and actuators.
pub(super) fn state_names(actions: &Actions) -> Vec<(String, &'static str)> {
    let states = actions.control_states().into_iter();
    states.map(|state| (state.name, state.unit)).collect()
}

/// What closes the loops.
pub(super) struct Closing {
    members: Vec<Member>,
    /// Coordinates of the joints on which controllers or actuators act, by their places among all.
    coordinates: Vec<usize>,
    /// Of each of them: its actuator.
    actuators: Vec<Option<Driving>>,
    states: usize,
}

/// A controller.
struct Member {
    law: ControlLaw,
    /// The joints that it drives, among all on which something acts.
    rows: Vec<usize>,
    /// What it measures, among the sensors of a point.
    channels: Vec<usize>,
    /// The first of its states.
    first: usize,
    /// The first of its axes among those of all controllers, and how many these are.
    place: [usize; 2],
}

/// An actuator.
#[derive(Clone, Copy)]
pub(super) struct Driving {
    /// Its number.
    pub(super) number: usize,
    /// Its state, and how fast that follows, if it has one.
    pub(super) follows: Option<(usize, f64)>,
}

impl Closing {
    /// Of the actions of a model, for a study.
    ///
    /// # Errors
    /// When a controller is sampled.
    pub(super) fn new(
        actions: &Actions,
        linearized: &Linearized,
        study: &'static str,
    ) -> Result<Self, AnalysisError> {
        let mut controllers = actions.controllers.iter();
        if let Some(sampled) = controllers.find(|own| own.sampling.is_some()) {
            return Err(AnalysisError::Sampled {
                controller: sampled.name.clone(),
                study,
            });
        }
        let mut coordinates = Vec::new();
        let mut row = |coordinate: usize| {
            let known = coordinates.iter().position(|own| *own == coordinate);
            known.unwrap_or_else(|| {
                coordinates.push(coordinate);
                coordinates.len() - 1
            })
        };
        let seen = seen_channels(&actions.sensors);
        let count = actions.controlled().count();
        let (mut members, mut first, mut place) = (Vec::new(), 0, 0);
        for (controller, places) in actions.controllers.iter().zip(&linearized.controlled) {
            let Controller {
                law,
                axes,
                measures,
                ..
            } = controller;
            members.push(Member {
                rows: places.iter().map(|&at| row(at)).collect(),
                channels: measures.iter().filter_map(|&at| seen[at]).collect(),
                law: law.clone(),
                first,
                place: [place, count],
            });
            first += controller.state_count();
            place += axes.len();
        }
        let driven: Vec<Option<usize>> = (linearized.actuators.iter())
            .map(|place| place.map(&mut row))
            .collect();
        let mut of_rows = vec![None; coordinates.len()];
        for (number, (actuator, row)) in actions.actuators.iter().zip(driven).enumerate() {
            let follows = actuator.response.map(|response| (first, response.time));
            first += usize::from(follows.is_some());
            if let Some(row) = row {
                of_rows[row] = Some(Driving { number, follows });
            }
        }
        Ok(Self {
            members,
            coordinates,
            actuators: of_rows,
            states: first,
        })
    }

    /// The joints on which something acts, among all of a stretch with actuators.
    pub(super) fn joints(&self, trajectory: &LinearizedTrajectory) -> Vec<usize> {
        let all = &trajectory.coordinates().joints;
        let place = |at: &usize| all.iter().position(|own| own == at);
        self.coordinates.iter().filter_map(place).collect()
    }

    /// The actuators, with the joints that they drive among those on which something acts.
    pub(super) fn actuators(&self) -> impl Iterator<Item = (usize, Driving)> + '_ {
        let rows = self.actuators.iter().enumerate();
        rows.filter_map(|(row, driving)| Some((row, (*driving)?)))
    }

    /// The loops at the points of a stretch. Actuators that are held back there give nothing more, or, if they are not to `saturate`, all
    /// that is asked of them.
    pub(super) fn loops(&self, trajectory: &LinearizedTrajectory, saturate: bool) -> Vec<Loops> {
        let joints = self.joints(trajectory);
        let points = trajectory.points().iter();
        points
            .map(|point| {
                let rates = trajectory.joint_rate_rows(point).select_rows(&joints);
                let deviated = [trajectory.joint_rows(point).select_rows(&joints), rates];
                self.at(point, &deviated, saturate)
            })
            .collect()
    }

    /// The loops at a point, with the derivatives of the joints' rates by rates and by deviations.
    fn at(&self, point: &Point, joints: &[DMatrix<f64>; 2], saturate: bool) -> Loops {
        let asked = self.asked(point, joints);
        let saturation = |row: usize| {
            let own = self.actuators[row].filter(|_| saturate);
            let own = own.and_then(|own| point.actuation.saturations.get(own.number));
            own.copied().unwrap_or_default()
        };
        let (rows, dofs) = (self.coordinates.len(), joints[0].ncols());
        let mut loops = Loops {
            effort: Rows::zeros(rows, dofs, self.states),
            input: joints[0].transpose(),
            change: Rows::zeros(self.states, dofs, self.states),
            drift: vec![0.0; self.states],
        };
        for member in &self.members {
            match &member.law {
                ControlLaw::Joint { .. } | ControlLaw::Computed { .. } => {}
                ControlLaw::Pid(pid) => {
                    member.integrate(pid, joints, &asked, saturation, &mut loops.change);
                }
                ControlLaw::StateSpace(law) => member.observe(law, point, &mut loops),
            }
        }
        for (row, actuator) in self.actuators.iter().enumerate() {
            let Some((number, (state, time))) =
                actuator.and_then(|own| Some((own.number, own.follows?)))
            else {
                if !saturation(row).effort {
                    loops.effort.add_row(row, 1.0, &asked, row);
                }
                continue;
            };
            loops.effort.state[(row, state)] = 1.0;
            let Saturation { effort, rate } = saturation(row);
            if rate {
                continue;
            }
            if !effort {
                loops.change.add_row(state, 1.0 / time, &asked, row);
            }
            loops.change.state[(state, state)] -= 1.0 / time;
            let nominal = point.actuation.asked.get(number);
            loops.drift[state] = nominal.map_or(0.0, |asked| asked / time);
        }
        loops
    }

    /// What controllers ask for on the joints.
    fn asked(&self, point: &Point, [joints, turning]: &[DMatrix<f64>; 2]) -> Rows {
        let (rows, dofs) = (self.coordinates.len(), joints.ncols());
        let [mut position, mut rate] = [(); 2].map(|()| DMatrix::zeros(rows, rows));
        for member in &self.members {
            member.add_gains(&point.actuation, &mut position, &mut rate);
        }
        let mut asked = Rows::zeros(rows, dofs, self.states);
        asked.position -= position * joints + &rate * turning;
        asked.rate -= rate * joints;
        for member in &self.members {
            member.answer(point, &mut asked);
        }
        asked
    }
}

impl Member {
    /// The first state of every axis of a law with integrals, and the joint.
    fn states<'a>(&'a self, pid: &'a Pid) -> impl Iterator<Item = (usize, usize)> + 'a {
        let per_axis = 1 + usize::from(pid.filter.is_some());
        let rows = self.rows.iter().enumerate();
        rows.map(move |(axis, &row)| (self.first + axis * per_axis, row))
    }

    /// Adds gains of deviations of the joints and of their rates.
    fn add_gains(
        &self,
        actuation: &Actuation,
        position: &mut DMatrix<f64>,
        rate: &mut DMatrix<f64>,
    ) {
        let [first, count] = self.place;
        for (i, &row) in self.rows.iter().enumerate() {
            match &self.law {
                ControlLaw::Joint {
                    position: positions,
                    rate: rates,
                } => {
                    position[(row, row)] += positions[i];
                    rate[(row, row)] += rates[i];
                }
                ControlLaw::Computed { frequency, damping } => {
                    for (j, &column) in self.rows.iter().enumerate() {
                        let mass = actuation.mass[(first + i) * count + first + j];
                        position[(row, column)] += mass * frequency * frequency;
                        rate[(row, column)] += 2.0 * mass * damping * frequency;
                    }
                }
                ControlLaw::Pid(pid) => {
                    position[(row, row)] += pid.position[i];
                    if pid.filter.is_none() {
                        rate[(row, row)] += pid.rate[i];
                    }
                }
                ControlLaw::StateSpace(_) => {}
            }
        }
    }

    /// Adds what its states ask for, and what readings of sensors do at once.
    fn answer(&self, point: &Point, asked: &mut Rows) {
        match &self.law {
            ControlLaw::Joint { .. } | ControlLaw::Computed { .. } => {}
            ControlLaw::Pid(pid) => {
                for (axis, (state, row)) in self.states(pid).enumerate() {
                    asked.state[(row, state)] += 1.0;
                    if pid.filter.is_some() {
                        asked.state[(row, state + 1)] += pid.rate[axis];
                    }
                }
            }
            ControlLaw::StateSpace(law) => {
                for (i, &row) in self.rows.iter().enumerate() {
                    for at in 0..law.states() {
                        asked.state[(row, self.first + at)] += law.output[(i, at)];
                    }
                    self.read(point, row, |channel| law.feedthrough[(i, channel)], asked);
                }
            }
        }
    }

    /// Adds readings with weights to a row.
    fn read(&self, point: &Point, row: usize, weight: impl Fn(usize) -> f64, rows: &mut Rows) {
        for (j, &channel) in self.channels.iter().enumerate() {
            let (weight, sensors) = (weight(j), &point.sensors);
            for dof in 0..sensors.position.ncols() {
                rows.position[(row, dof)] += weight * sensors.position[(channel, dof)];
                rows.rate[(row, dof)] += weight * sensors.rate[(channel, dof)];
            }
        }
    }

    /// Rates of integrals and filtered rates: $`\dot z = -k_i\,\delta e + (\bar u - u)/T_w`$ and $`\dot x = (-\delta\dot e - x)/T_f`$.
    fn integrate(
        &self,
        pid: &Pid,
        [joints, turning]: &[DMatrix<f64>; 2],
        asked: &Rows,
        saturation: impl Fn(usize) -> Saturation,
        change: &mut Rows,
    ) {
        for (axis, (state, row)) in self.states(pid).enumerate() {
            let mut own = change.position.row_mut(state);
            own -= joints.row(row) * pid.integral[axis];
            if let Some(time) = pid.tracking
                && saturation(row).effort
            {
                change.add_row(state, -1.0 / time, asked, row);
            }
            if let Some(time) = pid.filter {
                let mut own = change.position.row_mut(state + 1);
                own -= turning.row(row) / time;
                let mut own = change.rate.row_mut(state + 1);
                own -= joints.row(row) / time;
                change.state[(state + 1, state + 1)] -= 1.0 / time;
            }
        }
    }

    /// Rates of the states of a linear system.
    fn observe(&self, law: &StateSpaceLaw, point: &Point, loops: &mut Loops) {
        let readings = self.channels.iter().map(|&at| point.sensors.reading[at]);
        let drift = law.drift(&readings.collect::<Vec<_>>());
        for at in 0..law.states() {
            let state = self.first + at;
            for other in 0..law.states() {
                loops.change.state[(state, self.first + other)] += law.state[(at, other)];
            }
            self.read(
                point,
                state,
                |channel| law.input[(at, channel)],
                &mut loops.change,
            );
            loops.drift[state] = drift[at];
        }
    }
}

/// Where the channels of all sensors are among those that linearised equations read.
fn seen_channels(sensors: &[Sensor]) -> Vec<Option<usize>> {
    let mut read = 0..;
    let channels = sensors
        .iter()
        .flat_map(|sensor| std::iter::repeat_n(sensor.is_output(), sensor.channel_count()));
    channels
        .map(|seen| if seen { read.next() } else { None })
        .collect()
}
