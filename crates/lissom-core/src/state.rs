//! [`State`]: where a mechanism is.

use lissom_numerics::integrate::IntegratorMemory;
use lissom_numerics::{Coordinate, CoordinateKind, Memory};
use lissom_spatial::readable;

/// Where a mechanism is at an instant, complete: whoever has it can go on from there.
///
/// Positions and velocities are those of [`Dynamics::state_layout`](crate::Dynamics::state_layout), motors behind
/// elastic gears among them; what is prescribed follows from the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The instant.
    pub time_s: f64,
    /// Positions.
    pub position: Vec<f64>,
    /// Velocities.
    pub velocity: Vec<f64>,
    /// States of controllers and actuators.
    pub control: Vec<f64>,
    /// Work of inputs and prescribed motions since the run began that led here.
    pub work_j: f64,
    /// Energy dissipated since then.
    pub dissipated_j: f64,
    /// Energy that no work accounts for, since then: what the audit calls drift.
    pub drift_j: f64,
    /// What evaluations remember: turns of angles, partition of coordinates, elements that supports are on. A state
    /// without memory is a start of its own.
    pub memory: Memory,
    /// What the integrator remembers, for a run that goes on as if it had never stopped.
    pub integrator: Option<IntegratorMemory>,
}

impl State {
    /// A state from which something begins.
    pub fn new(time_s: f64, position: Vec<f64>, velocity: Vec<f64>) -> Self {
        Self {
            time_s,
            position,
            velocity,
            ..Self::default()
        }
    }

    /// A state of what is integrated: positions, and rates of which the last `control` are states of controllers and actuators.
    pub(crate) fn of_motion(time_s: f64, [position, rates]: [&[f64]; 2], control: usize) -> Self {
        let (velocity, control) = rates.split_at(rates.len() - control);
        Self {
            control: control.to_vec(),
            ..Self::new(time_s, position.to_vec(), velocity.to_vec())
        }
    }

    /// What is integrated beside the positions: velocities, and states of controllers and actuators.
    pub fn rates(&self) -> Vec<f64> {
        [&self.velocity[..], &self.control].concat()
    }

    /// The vector that integrators of first order see: positions, velocities, states of controllers and actuators, works.
    pub fn packed(&self) -> Vec<f64> {
        let works = [self.work_j, self.dissipated_j];
        [&self.position[..], &self.velocity, &self.control, &works].concat()
    }
}

/// Why there is no such state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A coordinate was not recorded.
    #[error(
        "the recording has no channel {channel:?}, which is part of the state; record all channels (leave out \
         output.channels), or start from the state.json that the run has written"
    )]
    NotRecorded {
        /// The coordinate.
        channel: String,
    },
    /// The recording does not reach so far.
    #[error(
        "{} s is outside the recording, which reaches from {} to {} s; name an instant inside",
        readable(.time_s), readable(.from_s), readable(.until_s)
    )]
    Outside {
        /// The instant asked for.
        time_s: f64,
        /// First sample.
        from_s: f64,
        /// Last sample.
        until_s: f64,
    },
    /// A name that no coordinate, input or signal has.
    #[error("{name:?} is not there{}", suggestion(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The coordinate, input or signal that is spelt most like it.
        nearest: Option<String>,
    },
    /// A value that is not finite.
    #[error("{name:?} is {value}, expected a finite number")]
    NotFinite {
        /// The coordinate.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The mechanism cannot be there.
    #[error("{reason}")]
    Unplaced {
        /// Why.
        reason: String,
    },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// A state of coordinates that are all known by their names. `layout` lists positions, then velocities, then states of controllers and
/// actuators.
///
/// # Errors
/// When one is not known.
pub fn state_of(
    layout: &[Coordinate],
    positions: usize,
    time_s: f64,
    value: &dyn Fn(&str) -> Option<f64>,
) -> Result<State, StateError> {
    let known = |coordinate: &Coordinate| {
        value(&coordinate.name).ok_or_else(|| StateError::NotRecorded {
            channel: coordinate.name.clone(),
        })
    };
    let (first, rest) = layout.split_at(positions);
    let is_work = |coordinate: &&Coordinate| coordinate.unit == "J";
    let is_control = |coordinate: &&Coordinate| coordinate.kind == CoordinateKind::Control;
    let rates = (rest.iter()).filter(|rate| !is_work(rate) && !is_control(rate));
    let control = rest.iter().filter(is_control);
    let control = control.map(known).collect::<Result<Vec<f64>, _>>()?;
    let position = first.iter().map(known).collect::<Result<Vec<f64>, _>>()?;
    let velocity = rates.map(known).collect::<Result<Vec<f64>, _>>()?;
    Ok(State {
        work_j: value("energy.work").unwrap_or(0.0),
        dissipated_j: value("energy.dissipated").unwrap_or(0.0),
        control,
        ..State::new(time_s, position, velocity)
    })
}

/// Gives quaternions, whose components stand together, length one.
pub(crate) fn make_unit(layout: &[Coordinate], position: &mut [f64]) {
    let mut at = 0;
    while at < layout.len() {
        if layout[at].kind != CoordinateKind::Quaternion {
            at += 1;
            continue;
        }
        let quaternion = &mut position[at..at + 4];
        let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in quaternion {
            *x /= length;
        }
        at += 4;
    }
}
