//! Linearised equations with the controllers of the model in the loop, and the actuators through which they act.
//!
//! On the actuated coordinates controllers ask for $`u = -K_p\,\delta e - K_v\,\delta\dot e + S z`$, with the states $`z`$ of
//! [`Pid`] control and of linear systems, whose readings are rows of the deviations. What an actuator gives of it is all of it or, where it saturates, nothing; one with a response time gives its state.

use nalgebra::DMatrix;

use lissom_numerics::linear::{
    Frozen, Label, Labels, LinearizedTrajectory, LoopStates, Point, Servo,
};
use lissom_spec::ModelSpec;

use super::servo::{members, servos, uncontrolled};
use super::{AnalysisError, Linearized};
use crate::action::{ControlLaw, Pid, Saturation, StateSpaceLaw};

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
/// When a controller feeds back what loops solve for, or the independent coordinates change on the way.
pub fn with_controllers(
    spec: &ModelSpec,
    linearized: &Linearized,
) -> Result<Linearized, AnalysisError> {
    let trajectory = &linearized.trajectory;
    if let Some(next) = linearized.further.first() {
        let time_s = next.points().first().map_or(f64::NAN, |point| point.time);
        return Err(AnalysisError::OtherCoordinates { time_s });
    }
    if let Some(sampled) = spec.controller.iter().find(|own| own.sampled.is_some()) {
        return Err(AnalysisError::ControlStates {
            what: sampled.name.clone(),
            study: "a continuous linear model",
            remedy: "leave out `sampled` for the loop that it comes near to with short periods",
        });
    }
    let closing = Closing::new(spec, linearized)?;
    let mut points = trajectory.points().to_vec();
    for (point, saturations) in points.iter_mut().zip(&linearized.saturations) {
        closing.close(point, saturations);
    }
    let labels = Labels {
        loop_states: closing.names(trajectory),
        ..trajectory.labels().clone()
    };
    let coordinates = trajectory.coordinates().clone();
    Ok(Linearized {
        trajectory: LinearizedTrajectory::new(labels, points, coordinates),
        ..linearized.clone()
    })
}

/// The same frozen at its states, for modes. Joints that inputs drive without a controller are held, or `free`.
///
/// # Errors
/// As [`with_controllers`], or when controllers or actuators have states.
pub fn closed_loop(
    spec: &ModelSpec,
    linearized: &Linearized,
    free: bool,
) -> Result<Frozen, AnalysisError> {
    let closed = with_controllers(spec, linearized)?;
    if let Some((what, _)) = closed.trajectory.labels().loop_states.first() {
        return Err(AnalysisError::ControlStates {
            what: what.clone(),
            study: "a list of modes with one frequency for every coordinate",
            remedy: "lissom response --closed-loop tells all poles of the loop",
        });
    }
    let held = if free {
        Vec::new()
    } else {
        uncontrolled(linearized)
    };
    Ok(Frozen::new(&closed.trajectory, &held))
}

/// A state of a controller or an actuator on one of the actuated coordinates.
struct LoopState {
    /// The coordinate.
    row: usize,
    /// Name of the controller or actuator, and what it is called there; with the joint of a controller.
    name: String,
    kind: StateKind,
}

/// What a state does.
enum StateKind {
    /// $`\dot z = -k_i\,\delta e + (\bar u - u)/T_w`$ adds $`z`$ to what is asked for.
    Integral { gain: f64, tracking: Option<f64> },
    /// $`\dot x = (-\delta\dot e - x)/T_f`$ adds $`k_v x`$.
    Filtered { gain: f64, time: f64 },
    /// One of a linear system, which says by itself what it does.
    Numbered,
    /// $`\dot w = (\bar u - w)/T`$ is what the actuator gives.
    Delivered { time: f64 },
}

/// A controller that is a linear system.
struct System {
    law: StateSpaceLaw,
    /// What it measures, among the sensors of a point.
    channels: Vec<usize>,
    /// What it drives, among the actuated coordinates.
    rows: Vec<usize>,
    /// The first of its states.
    first: usize,
}

/// What closes the loops.
struct Closing {
    servos: Vec<Servo>,
    /// Degrees of freedom of the actuated coordinates.
    actuated: Vec<usize>,
    states: Vec<LoopState>,
    systems: Vec<System>,
    /// The actuator of every actuated coordinate under control, if it has one.
    actuator: Vec<Option<usize>>,
}

impl Closing {
    fn new(spec: &ModelSpec, linearized: &Linearized) -> Result<Self, AnalysisError> {
        let trajectory = &linearized.trajectory;
        let members = members(spec, trajectory, &linearized.controlled)?;
        let mut actuator = vec![None; trajectory.actuated().len()];
        let (mut states, mut systems) = (Vec::new(), Vec::new());
        for (controller, members) in spec.controller.iter().zip(&members) {
            for (joint, &row) in spec.driven_by(controller).zip(members) {
                let mut all = spec.actuator.iter();
                actuator[row] = all.position(|actuator| actuator.joint == joint);
            }
            match ControlLaw::of(spec, controller) {
                Some(ControlLaw::Pid(pid)) => {
                    for (i, (joint, &row)) in controller.joints.iter().zip(members).enumerate() {
                        let name = format!("{}.{joint}", controller.name);
                        states.extend(states_of(&pid, i, &name, row));
                    }
                }
                Some(ControlLaw::StateSpace(law)) => {
                    let known = &trajectory.labels().sensors;
                    let channel = |name: Option<String>| {
                        let mut all = known.iter();
                        all.position(|(own, _)| Some(own) == name.as_ref())
                    };
                    let first = states.len();
                    states.extend((0..law.states()).map(|number| LoopState {
                        row: members[0],
                        name: format!("{}.state_{}", controller.name, number + 1),
                        kind: StateKind::Numbered,
                    }));
                    systems.push(System {
                        channels: spec.measured_by(controller).filter_map(channel).collect(),
                        rows: members.clone(),
                        law,
                        first,
                    });
                }
                _ => {}
            }
        }
        for (row, actuator) in actuator.iter().enumerate() {
            let own = actuator.map(|at| &spec.actuator[at]);
            let delivered = own.and_then(|own| Some((&own.name, own.response_time_s?)));
            states.extend(delivered.map(|(name, time)| LoopState {
                row,
                name: name.clone(),
                kind: StateKind::Delivered { time },
            }));
        }
        Ok(Self {
            servos: servos(spec, trajectory, &linearized.controlled)?,
            actuated: trajectory.actuated().to_vec(),
            states,
            systems,
            actuator,
        })
    }

    /// Names and units of the states.
    fn names(&self, trajectory: &LinearizedTrajectory) -> Vec<(String, &'static str)> {
        let name = |state: &LoopState| {
            let label: &Label = &trajectory.labels().coordinates[self.actuated[state.row]];
            let (effort, unit) = match label.unit {
                "m" => ("force", "N"),
                _ => ("torque", "N m"),
            };
            if let StateKind::Numbered = state.kind {
                return (state.name.clone(), "1");
            }
            let (what, unit) = match state.kind {
                StateKind::Integral { .. } => ("integral", unit),
                StateKind::Filtered { .. } => ("filtered_rate", label.rate_unit),
                StateKind::Delivered { .. } | StateKind::Numbered => (effort, unit),
            };
            (format!("{}.{what}", state.name), unit)
        };
        self.states.iter().map(name).collect()
    }

    /// Closes the loops at a point.
    fn close(&self, point: &mut Point, saturations: &[Saturation]) {
        let (dofs, rows) = (point.linear.mass.nrows(), self.actuated.len());
        // what is asked for, against the deviations, against their rates, and by the states
        let mut gains = [(); 2].map(|()| DMatrix::zeros(rows, rows));
        for servo in &self.servos {
            servo.add_position_gain(point.time, &mut gains[0]);
            servo.add_rate_gain(point.time, &mut gains[1]);
        }
        let mut asked = [(); 2].map(|()| DMatrix::zeros(rows, dofs));
        for (asked, gains) in asked.iter_mut().zip(&gains) {
            for (j, &dof) in self.actuated.iter().enumerate() {
                asked.column_mut(dof).copy_from(&gains.column(j));
            }
        }
        for system in &self.systems {
            for (i, &row) in system.rows.iter().enumerate() {
                for (j, &channel) in system.channels.iter().enumerate() {
                    let (gain, sensors) = (system.law.feedthrough[(i, j)], &point.sensors);
                    for dof in 0..dofs {
                        asked[0][(row, dof)] -= gain * sensors.position[(channel, dof)];
                        asked[1][(row, dof)] -= gain * sensors.rate[(channel, dof)];
                    }
                }
            }
        }
        let mut by_state = DMatrix::zeros(rows, self.states.len());
        for (at, state) in self.states.iter().enumerate() {
            by_state[(state.row, at)] = match state.kind {
                StateKind::Integral { .. } => 1.0,
                StateKind::Filtered { gain, .. } => gain,
                StateKind::Delivered { .. } | StateKind::Numbered => 0.0,
            };
        }
        for system in &self.systems {
            for (i, &row) in system.rows.iter().enumerate() {
                for at in 0..system.law.states() {
                    by_state[(row, system.first + at)] = system.law.output[(i, at)];
                }
            }
        }
        let saturation = |row: usize| {
            let own = self.actuator[row].and_then(|at| saturations.get(at));
            own.copied().unwrap_or_default()
        };
        let passes = |row: usize| if saturation(row).effort { 0.0 } else { 1.0 };
        let count = self.states.len();
        let mut loops = LoopStates {
            own: DMatrix::zeros(count, count),
            position: DMatrix::zeros(count, dofs),
            rate: DMatrix::zeros(count, dofs),
            force: DMatrix::zeros(dofs, count),
        };
        // adds a multiple of what is asked on a coordinate to the rate of a state
        let add_asked = |loops: &mut LoopStates, at: usize, row: usize, share: f64| {
            for dof in 0..dofs {
                loops.position[(at, dof)] -= share * asked[0][(row, dof)];
                loops.rate[(at, dof)] -= share * asked[1][(row, dof)];
            }
            for other in 0..count {
                loops.own[(at, other)] += share * by_state[(row, other)];
            }
        };
        for System {
            law,
            channels,
            first,
            ..
        } in &self.systems
        {
            for at in 0..law.states() {
                for other in 0..law.states() {
                    loops.own[(first + at, first + other)] += law.state[(at, other)];
                }
                for (j, &channel) in channels.iter().enumerate() {
                    let (gain, sensors) = (law.input[(at, j)], &point.sensors);
                    for dof in 0..dofs {
                        loops.position[(first + at, dof)] +=
                            gain * sensors.position[(channel, dof)];
                        loops.rate[(first + at, dof)] += gain * sensors.rate[(channel, dof)];
                    }
                }
            }
        }
        let mut is_delivered = vec![false; rows];
        for (at, state) in self.states.iter().enumerate() {
            let (row, dof) = (state.row, self.actuated[state.row]);
            match state.kind {
                StateKind::Integral { gain, tracking } => {
                    loops.position[(at, dof)] -= gain;
                    if let Some(time) = tracking {
                        add_asked(&mut loops, at, row, (passes(row) - 1.0) / time);
                    }
                }
                StateKind::Filtered { time, .. } => {
                    loops.rate[(at, dof)] -= 1.0 / time;
                    loops.own[(at, at)] -= 1.0 / time;
                }
                StateKind::Numbered => {}
                StateKind::Delivered { time } => {
                    is_delivered[row] = true;
                    loops.force[(dof, at)] = 1.0;
                    if !saturation(row).rate {
                        add_asked(&mut loops, at, row, passes(row) / time);
                        loops.own[(at, at)] -= 1.0 / time;
                    }
                }
            }
        }
        let linear = &mut point.linear;
        for (row, &dof) in self.actuated.iter().enumerate() {
            if is_delivered[row] || saturation(row).effort {
                continue;
            }
            for column in 0..dofs {
                linear.structural[(dof, column)] += asked[0][(row, column)];
                linear.damping[(dof, column)] += asked[1][(row, column)];
            }
            for at in 0..count {
                loops.force[(dof, at)] += by_state[(row, at)];
            }
        }
        linear.loops = (count > 0).then_some(loops);
    }
}

/// States of one axis of a controller.
fn states_of(pid: &Pid, axis: usize, name: &str, row: usize) -> impl Iterator<Item = LoopState> {
    let integral = StateKind::Integral {
        gain: pid.integral[axis],
        tracking: pid.tracking,
    };
    let gain = pid.rate[axis];
    let filtered = (pid.filter).map(|time| StateKind::Filtered { gain, time });
    let name = name.to_owned();
    let kinds = [Some(integral), filtered].into_iter().flatten();
    kinds.map(move |kind| LoopState {
        row,
        name: name.clone(),
        kind,
    })
}
