//! Linearised equations of motion of a model in joint and elastic coordinates, by dual numbers.
//!
//! With the forces $`r(q, v, \dot v)`$ that a motion needs beyond those that are there, deviations obey
//! $`r_q\,\delta + r_v\,\delta v + M\,\delta\dot v = B\,\delta u`$. All derivatives are exact: the recursions run over dual numbers.
//!
//! **Charts.** $`\delta`$ has one entry per velocity coordinate and moves the positions as a velocity in unit time would.
//! Where velocities are no rates of positions (spherical and free joints, twists in child axes) they deviate by
//! $`\delta v = \dot\delta + W\delta`$, $`W`$ the cross products with the joint's own velocity, so that
//!
//! ```math
//! C_0 = r_v + M W, \qquad K = r_q + r_v W + M\dot W .
//! ```
//!
//! The attitude of an exact tip deviates with the slopes of its beam: exact as long as the beam does not vibrate.
//!
//! **Parts.** $`K_0`$ is the derivative of the elastic forces of the bodies (the quadratic strain among them), springs and
//! gears. $`G_0`$ is that of $`\sum (\partial r/\partial q)^T f`$ with the forces $`f = \ddot r\,dm - df`$ of inertia, gravity and loads held
//! at every material point, made symmetric; $`N_0`$ is the rest. This is the split of the nodal formulation.
//!
//! **Loops.** In independent coordinates, see `loops.rs`.

mod derivatives;
mod forces;
mod frozen;
mod loops;
mod names;
mod outputs;
mod states;

pub use states::MotionState;

use crate::model::{CoordinateKind, Model};
use crate::simulate::NominalError;
use crate::simulate::equations::Equations;
use crate::simulate::nominal::TreeTrajectory;
use derivatives::Derivatives;
use forces::Unbalanced;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Along, Labels, Point};
use lissom_spatial::Dual;
use lissom_tree::tree::{CompositeBody, MaterialPoints};
use loops::Independent;
use outputs::made_symmetric;

/// Directions differentiated at once.
const DIRECTIONS: usize = 4;

type Tangent = Dual<f64, DIRECTIONS>;

/// Why a model cannot be linearised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinearizeError {
    /// There is no nominal motion.
    #[error(transparent)]
    Nominal(#[from] NominalError),
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
    /// A recording lacks a coordinate.
    #[error(
        "the recording has no channel {channel:?}; record every channel: leave output.channels out"
    )]
    NotRecorded {
        /// The channel.
        channel: String,
    },
}

/// Linearises the equations of a model.
#[derive(Clone, Debug)]
pub struct Linearizer<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    points: MaterialPoints,
    plain: Unbalanced<f64>,
    tangent: Unbalanced<Tangent>,
    composite: CompositeBody<f64>,
    path: Option<TreeTrajectory>,
}

impl<'m> Linearizer<'m> {
    /// For `model`.
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            equations: Equations::new(model),
            points: MaterialPoints::new(&model.linkage.system),
            plain: Unbalanced::new(model),
            tangent: Unbalanced::new(model),
            composite: CompositeBody::new(&model.linkage.system),
            path: None,
        }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The equations linearised at states of rising instants, which share their independent coordinates: those of the
    /// first. `watch` is told every instant, and may stop.
    ///
    /// # Errors
    /// When the closures are singular somewhere, or the watcher stops.
    pub fn along(
        &mut self,
        states: &[MotionState],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Along, LinearizeError> {
        let independent = match states.first() {
            Some(first) => Independent::choose(self, first, &[])?,
            None => None,
        };
        let mut points = Vec::with_capacity(states.len());
        for state in states {
            points.push(self.point(state, independent.as_ref())?);
            if watch(state.time_s) == Flow::Stop {
                return Err(LinearizeError::Stopped { at_s: state.time_s });
            }
        }
        let kept = match &independent {
            Some(independent) => independent.kept().to_vec(),
            None => (0..self.equations.state_velocities()).collect(),
        };
        let all = self.labels();
        let labels = Labels {
            coordinates: kept.iter().map(|&i| all.coordinates[i].clone()).collect(),
            ..all
        };
        let actuated = self.actuated();
        let actuated = (0..kept.len())
            .filter(|&i| actuated.contains(&kept[i]))
            .collect();
        Ok(Along::new(labels, points, actuated))
    }

    /// Instants strictly inside the span at which a load or a motion is not smooth, sorted.
    pub fn breakpoints(&self, start: f64, end: f64) -> Vec<f64> {
        self.equations.breakpoints(start, end)
    }

    fn point(
        &mut self,
        state: &MotionState,
        independent: Option<&Independent>,
    ) -> Result<Point, LinearizeError> {
        let mut outputs = self.outputs();
        let Derivatives { linear, unbalanced } = self.derivatives(state, Some(&mut outputs));
        made_symmetric(&mut outputs);
        let velocity: Vec<f64> = (self.equations.free_velocities.iter())
            .map(|&at| state.velocity[at])
            .chain(state.motors.iter().map(|motor| motor[1]))
            .collect();
        let whole = Point {
            time: state.time_s,
            position: self.chart_position(state),
            velocity,
            linear,
            input: self.inputs(&self.actuated()),
            excitation: unbalanced.iter().map(|x| -x).collect(),
            outputs,
        };
        match independent {
            Some(independent) => independent.reduce(self, state, whole),
            None => Ok(whole),
        }
    }
}

fn constant(value: f64) -> Tangent {
    Tangent {
        value,
        tangent: [0.0; DIRECTIONS],
    }
}

/// Whether an entry of the velocity vector belongs to an elastic coordinate.
fn is_elastic(model: &Model, at: usize) -> bool {
    model.linkage.velocities[at].kind == CoordinateKind::Elastic
}
