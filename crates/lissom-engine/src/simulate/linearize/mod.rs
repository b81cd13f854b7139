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
//! The orientation of an exact tip deviates with the slopes of its beam: exact as long as the beam does not vibrate.
//!
//! **Parts.** $`K_0`$ is the derivative of the elastic forces of the bodies (the quadratic strain among them), and of springs and
//! gears with the directions in which they pull held. $`G_0`$ is that of $`\sum (\partial r/\partial q)^T f`$ with the forces $`f = \ddot r\,dm - df`$ of inertia, gravity and loads held
//! at every material point, made symmetric; $`N_0`$ is the rest. This is the split of the nodal formulation.
//!
//! **Loops.** In independent coordinates, see `loops.rs`.

mod closures;
mod derivatives;
mod deviated;
mod forces;
mod frozen;
mod loops;
mod lowest;
mod names;
mod outputs;
mod states;
mod statics;
mod study;

pub use lissom_core::study::LinearizeError;
pub use states::MotionState;
pub(in crate::simulate) use statics::StaticState;

use crate::model::Model;
use crate::simulate::equations::Equations;
use crate::simulate::nominal::TreeTrajectory;
use derivatives::Derivatives;
use forces::Residual;
use lissom_core::study::{OutputOrder, linearize};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Actuation, LinearizedTrajectory, Point};
use lissom_spatial::Dual;
use lissom_tree::CoordinateKind;
use lissom_tree::tree::{CompositeBody, MaterialPoints};
use loops::Independent;
use outputs::{OutputRows, made_symmetric};

/// Directions differentiated at once.
const DIRECTIONS: usize = 4;

type Tangent = Dual<f64, DIRECTIONS>;

/// Linearises the equations of a model.
#[derive(Clone, Debug)]
pub struct Linearizer<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    points: MaterialPoints,
    plain: Residual<f64>,
    tangent: Residual<Tangent>,
    composite: CompositeBody<f64>,
    path: Option<TreeTrajectory>,
    /// Coordinates that were chosen, where loops leave a choice.
    independent: Option<Independent>,
}

impl<'m> Linearizer<'m> {
    /// For `model`.
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            equations: Equations::new(model),
            points: MaterialPoints::new(&model.linkage.system),
            plain: Residual::new(model),
            tangent: Residual::new(model),
            composite: CompositeBody::new(&model.linkage.system),
            path: None,
            independent: None,
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
    pub fn trajectory(
        &mut self,
        states: &[MotionState],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<LinearizedTrajectory, LinearizeError> {
        Ok(linearize(self, states, OutputOrder::Second, watch)?.trajectory)
    }

    /// The equations at a state in all coordinates.
    fn whole_point(
        &mut self,
        state: &MotionState,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Point, LinearizeError> {
        let mut rows = self.output_rows_at(state);
        let Derivatives { linear, residual } = self.derivatives(state, Some(&mut rows), watch)?;
        let OutputRows {
            mut outputs,
            sensors,
        } = rows;
        made_symmetric(&mut outputs);
        let velocity: Vec<f64> = (self.equations.free_velocities.iter())
            .map(|&at| state.velocity[at])
            .chain(state.motors.iter().map(|motor| motor[1]))
            .collect();
        Ok(Point {
            time: state.time_s,
            position: self.chart_position(state),
            velocity,
            linear,
            input: self.inputs(&self.actuated_entries()),
            excitation: residual.iter().map(|x| -x).collect(),
            outputs,
            sensors,
            joints: Vec::new(),
            actuation: Actuation::default(),
            dependence: None,
        })
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
