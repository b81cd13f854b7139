//! Linearised equations of a mechanism: where, in which coordinates, and what they are called.
//!
//! A formulation differentiates its equations at a state of motion ([`Linearize`]). At which states that is done, and what is
//! made of the answers, is the same for both.

use lissom_numerics::integrate::{Flow, IntegrateError};
use lissom_numerics::linear::{Along, Frozen, Labels, LinearError, Point, TrackedModes};

use crate::error::RunError;
use crate::recording::Recording;
use crate::state::{State, StateError};
use crate::trajectory::NominalError;

/// Why a mechanism cannot be linearised at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearizeError {
    /// There is no nominal motion.
    #[error(transparent)]
    Nominal(#[from] NominalError),
    /// The mechanism cannot be there.
    #[error(transparent)]
    Unplaced(Box<RunError>),
    /// The closures leave nothing to move, or are singular.
    #[error(
        "the closures of the model are singular at t = {time_s} s, so that no independent coordinates can be chosen; \
         keep away from this configuration"
    )]
    Singular {
        /// When.
        time_s: f64,
    },
    /// What is independent where a motion begins is not so on its way.
    #[error(
        "the coordinates that are independent at the first instant do not determine the mechanism at t = {time_s} s; \
         take instants one by one, or a shorter stretch of the motion"
    )]
    Worn {
        /// When.
        time_s: f64,
    },
    /// A number that is not finite.
    #[error(
        "{coordinate} has no finite acceleration at t = {time_s} s; run the model to see what happens before"
    )]
    NotFinite {
        /// The coordinate.
        coordinate: String,
        /// When.
        time_s: f64,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {at_s} s")]
    Stopped {
        /// When.
        at_s: f64,
    },
    /// A recording does not hold the state.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a linear analysis has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// The mechanism cannot be linearised.
    #[error(transparent)]
    Linearize(LinearizeError),
    /// The linearised equations have no answer.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// There is no equilibrium, or no state to start from.
    #[error(transparent)]
    Start(Box<RunError>),
    /// The simulation failed.
    #[error("the run failed: {0}")]
    Run(Box<RunError>),
    /// The integrator of the linear system gave up.
    #[error("{source}; the coordinate in trouble is {coordinate}")]
    Integration {
        /// What the integrator says.
        source: Box<IntegrateError>,
        /// The coordinate.
        coordinate: String,
    },
    /// A controller on a coordinate that the loops solve for.
    #[error(
        "controller {controller:?} feeds back a joint that the loops solve for, whose deviation is no coordinate of the \
         linear system; control independent joints, such as those that inputs drive"
    )]
    SolvedFor {
        /// Name of the controller.
        controller: String,
    },
    /// Whoever watches stopped it.
    #[error("stopped at {at_s} s")]
    Stopped {
        /// When.
        at_s: f64,
    },
}

impl From<LinearizeError> for AnalysisError {
    fn from(error: LinearizeError) -> Self {
        match error {
            LinearizeError::Stopped { at_s } => Self::Stopped { at_s },
            error => Self::Linearize(error),
        }
    }
}

/// Where a model is linearised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its state at the start of a run.
    Start,
    /// Where it rests under its loads, driven joints held.
    Equilibrium,
    /// Along the motion that its inputs and prescribed motions mean, every body undeformed.
    Nominal,
    /// Along its simulated motion.
    Run,
}

/// States at which a mechanism is linearised.
#[derive(Clone, Debug)]
pub enum LinearizedAt<'a> {
    /// With the accelerations that they have.
    Moving(Vec<State>),
    /// With no acceleration, even where nothing holds what inputs drive.
    Resting(Box<State>),
    /// On the nominal trajectory at instants that rise.
    Nominal(&'a [f64]),
}

/// Linearised equations of a model.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// The equations at one or several states.
    pub along: Along,
    /// Degrees of freedom on which inputs of the model act.
    pub driven: Vec<usize>,
    /// Instants at which inputs and motions are not smooth.
    pub breakpoints: Vec<f64>,
    /// Coordinates that every controller drives, as places among the actuated ones.
    pub controlled: Vec<Vec<usize>>,
    /// Deviation of the start of a run from the first state: coordinates, then rates.
    pub initial: [Vec<f64>; 2],
}

/// A formulation that differentiates its equations.
pub trait Linearize {
    /// A state of motion with its accelerations.
    type Motion;

    /// A state with the accelerations that it has.
    ///
    /// # Errors
    /// When the mechanism cannot be there, or has none.
    fn moving(&mut self, state: &State) -> Result<Self::Motion, LinearizeError>;

    /// A state of rest without accelerations.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    fn resting(&mut self, state: &State) -> Result<Self::Motion, LinearizeError>;

    /// The state of the nominal trajectory at an instant, every body undeformed. Instants rise from call to call.
    ///
    /// # Errors
    /// When there is no such motion.
    fn nominal(&mut self, time_s: f64) -> Result<Self::Motion, LinearizeError>;

    /// The motion without vibrations that may be going on.
    fn steady(&mut self, motion: Self::Motion) -> Self::Motion;

    /// Chooses coordinates for all points of a motion where it begins.
    ///
    /// # Errors
    /// When none can be chosen.
    fn choose(&mut self, first: &Self::Motion) -> Result<(), LinearizeError>;

    /// The equations at a state, in the coordinates chosen.
    ///
    /// # Errors
    /// When these coordinates do not determine the mechanism there.
    fn point(&mut self, motion: &Self::Motion) -> Result<Point, LinearizeError>;

    /// Names of the coordinates chosen, of inputs and of markers.
    fn labels(&self) -> Labels;

    /// Coordinates chosen that an actuator may act on, in the order of the inputs.
    fn actuated(&self) -> Vec<usize>;

    /// Coordinates chosen on which inputs or controllers act.
    fn driven(&self) -> Vec<usize>;

    /// Coordinates chosen that every controller drives; fewer than it has joints where loops solve for some.
    fn controlled(&self) -> Vec<Vec<usize>>;

    /// Deviation of the start of a run from a state in the coordinates chosen: coordinates, then rates.
    fn initial_deviation(&self, from: &Self::Motion) -> [Vec<f64>; 2];

    /// Instants at which a load or a motion is not smooth, in ascending order.
    fn breakpoints(&self) -> Vec<f64>;

    /// The equations frozen at states, with the joints on which inputs act held, or `free`, each in coordinates of its own.
    ///
    /// # Errors
    /// When no coordinates can be chosen somewhere, or the watcher stops.
    fn frozen(
        &mut self,
        motions: &[Self::Motion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError>;
}

impl LinearizedAt<'_> {
    /// The states of motion.
    ///
    /// # Errors
    /// When there is no such motion, or the mechanism cannot be there.
    pub fn motions<L: Linearize>(&self, of: &mut L) -> Result<Vec<L::Motion>, LinearizeError> {
        match self {
            Self::Moving(states) => states.iter().map(|state| of.moving(state)).collect(),
            Self::Resting(state) => Ok(vec![of.resting(state)?]),
            Self::Nominal(times) => times.iter().map(|&time| of.nominal(time)).collect(),
        }
    }

    /// The same without vibrations that are going on, which do not count for modes.
    ///
    /// # Errors
    /// When there is no such motion, or the mechanism cannot be there.
    pub fn steady_motions<L: Linearize>(
        &self,
        of: &mut L,
    ) -> Result<Vec<L::Motion>, LinearizeError> {
        let motions = self.motions(of)?;
        Ok(match self {
            Self::Moving(_) => (motions.into_iter())
                .map(|motion| of.steady(motion))
                .collect(),
            Self::Resting(_) | Self::Nominal(_) => motions,
        })
    }
}

/// Linearises a mechanism at states of motion of rising instants, in coordinates that are chosen at the first. `watch` is told the
/// instant after every one, and may stop.
///
/// # Errors
/// When coordinates cannot be chosen, or do not determine the mechanism everywhere.
pub fn linearize<L: Linearize>(
    of: &mut L,
    motions: &[L::Motion],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, LinearizeError> {
    if let Some(first) = motions.first() {
        of.choose(first)?;
    }
    let mut points = Vec::with_capacity(motions.len());
    for motion in motions {
        let point = of.point(motion)?;
        let at_s = point.time;
        points.push(point);
        if watch(at_s) == Flow::Stop {
            return Err(LinearizeError::Stopped { at_s });
        }
    }
    let actuated = of.actuated();
    let place = |dof: usize| actuated.iter().position(|&other| other == dof);
    let controlled = of.controlled();
    let controlled = controlled
        .into_iter()
        .map(|dofs| dofs.into_iter().filter_map(place).collect());
    Ok(Linearized {
        driven: of.driven(),
        breakpoints: of.breakpoints(),
        controlled: controlled.collect(),
        initial: motions
            .first()
            .map_or_else(Default::default, |first| of.initial_deviation(first)),
        along: Along::new(of.labels(), points, actuated),
    })
}

/// Frequencies and damping of modes over time, as a recording: `mode_1.frequency` in rad/s and `mode_1.damping_ratio`. What
/// does not exist is not a number.
pub fn mode_recording(modes: &TrackedModes) -> Recording {
    let names = (1..=modes.modes.len()).flat_map(|mode| {
        [
            (format!("mode_{mode}.frequency"), "rad/s"),
            (format!("mode_{mode}.damping_ratio"), "1"),
        ]
    });
    let mut recording = Recording::with_capacity(names, modes.times.len());
    for (point, &time) in modes.times.iter().enumerate() {
        let row: Vec<f64> = (modes.modes.iter())
            .flat_map(|mode| [mode[point].frequency(), mode[point].damping_ratio()])
            .map(|value| value.unwrap_or(f64::NAN))
            .collect();
        recording.push(time, &row);
    }
    recording
}
