//! Where a model rests under its loads: the start of a run that begins in equilibrium.
//!
//! At rest the generalised forces balance those of the closures, and the closures hold:
//!
//! ```math
//! g(q, \lambda) = r(q) - J^T\lambda = 0 , \qquad \Phi(q) = 0 ,
//! ```
//!
//! with $`r`$ the inverse dynamics at zero rates less the applied forces. Newton's iteration solves for increments of
//! the coordinates and for $`\lambda`$ together. Its matrix is solved in the sense of least squares, so that redundant
//! closures share their load and coordinates that nothing holds or pushes stay where they are.

use nalgebra::{DMatrix, DVector};

use crate::closure::Constraints;
use crate::integrate::SecondOrder;
use crate::model::spec::{Frame, InitialSpec, LoadProfile, LoadQuantity, SimulationSpec};
use crate::model::{Load, LoadTarget, Model};
use crate::simulate::equations::Equations;
use crate::simulate::recording::Recording;
use crate::simulate::sampler::snapshot;
use crate::spatial::Vector;
use crate::tree::Kinematics;

/// A change of coordinates, in metres or radians, that is rounding.
const SETTLED: f64 = 1e-13;
/// Newton doubles the digits; a strongly bent start may need a few halved steps before.
const MOST_ITERATIONS: usize = 60;
/// Halvings of a step that does not bring the forces closer to balance.
const MOST_HALVINGS: usize = 12;
/// Largest change at once, in metres or radians.
const LARGEST_CHANGE: f64 = 0.5;
/// Step of differences: the cube root of rounding, for central ones.
const DIFFERENCE: f64 = 6e-6;
/// Singular values below this fraction of the largest are zero: what differences leave of a zero.
const SINGULAR: f64 = 1e-11;
/// Unbalanced force, as a fraction of the forces at work, that is left to rounding and differences.
const BALANCED: f64 = 1e-7;

/// Why a model has no equilibrium near where it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the forces on {coordinate} do not balance: {force:.3e} N or N m is left; hold it by a spring, a motion or a \
     support, or start closer to the equilibrium"
)]
pub struct NoEquilibrium {
    /// Name of the coordinate with the largest unbalanced force.
    pub coordinate: String,
    /// That force.
    pub force: f64,
}

/// The model as `simulation` begins: at rest in equilibrium if it says so, otherwise as it is (`None`).
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub fn settled(model: &Model, simulation: &SimulationSpec) -> Result<Option<Model>, NoEquilibrium> {
    let mut loaded = model.clone();
    match &simulation.initial {
        InitialSpec::Written => return Ok(None),
        InitialSpec::Equilibrium => {}
        InitialSpec::StaticLoad(case) => {
            if let Some(gravity) = case.gravity_m_per_s2 {
                loaded.system = loaded.system.under_gravity(Vector(gravity));
            }
            loaded.loads.extend(case.force.iter().filter_map(|force| {
                let vector = Vector(force.force_n);
                let size = vector.dot(vector).sqrt();
                Some(Load {
                    name: force.marker.clone(),
                    quantity: LoadQuantity::Force,
                    target: LoadTarget::Marker {
                        index: model.markers.iter().position(|m| m.name == force.marker)?,
                        direction: vector.scale(1.0 / size),
                        frame: Frame::World,
                    },
                    profile: LoadProfile::Constant { value: size },
                    foreseen: false,
                })
                .filter(|_| size > 0.0)
            }));
        }
    }
    let initial_position = equilibrium(&loaded, simulation.start_s)?;
    let mut settled = model.clone();
    settled.initial_position = initial_position;
    settled.initial_velocity.fill(0.0);
    Ok(Some(settled))
}

/// Every channel of a model at rest in equilibrium, under the loads of the start or those before it.
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub fn rest(model: &Model, simulation: &SimulationSpec) -> Result<Recording, NoEquilibrium> {
    let mut simulation = simulation.clone();
    if simulation.initial == InitialSpec::Written {
        simulation.initial = InitialSpec::Equilibrium;
    }
    let settled = settled(model, &simulation)?;
    let mut equations = Equations::new(settled.as_ref().unwrap_or(model));
    let state = equations.initial_state();
    let (position, rest) = state.split_at(equations.state_positions());
    let velocity = &rest[..equations.state_velocities()];
    let time = simulation.start_s;
    Ok(snapshot(&mut equations, time, position, velocity))
}

/// Positions at which `model` rests at `time`. Joints and motors that an input or a controller drives stay where the
/// model starts, as if brakes held them.
///
/// # Errors
/// When the iteration does not find any.
pub fn equilibrium(model: &Model, time: f64) -> Result<Vec<f64>, NoEquilibrium> {
    let mut balance = Balance::new(model, time);
    let (n, m) = (balance.moving.len(), balance.constraints.len());
    let mut multipliers = vec![0.0; m];
    let mut position = balance.equations.initial_state();
    position.truncate(balance.equations.state_positions());
    let mut at = balance.evaluate(&position, &multipliers);
    // what the forces are to be small beside: the loads at the start, those of closures, rounding of coordinates
    let mut at_work = at.forces;
    for _ in 0..MOST_ITERATIONS {
        let matrix = balance.tangent(&position, &multipliers);
        if matrix.iter().any(|entry| !entry.is_finite()) {
            break;
        }
        at_work = at_work.max(SETTLED * matrix.amax());
        let factors = matrix.svd(true, true);
        let smallest = SINGULAR * factors.singular_values.max();
        let change = factors
            .solve(&(-&at.residual), smallest)
            .unwrap_or_else(|_| DVector::zeros(n + m));
        let largest = change.rows(0, n).amax();
        let mut share = (LARGEST_CHANGE / largest.max(LARGEST_CHANGE)).min(1.0);
        let mut halvings = 0;
        loop {
            let (next, next_multipliers) = balance.moved(&position, &multipliers, &change, share);
            let found = balance.evaluate(&next, &next_multipliers);
            let closer = found.residual.norm() <= at.residual.norm();
            if closer || halvings == MOST_HALVINGS || largest <= SETTLED {
                (position, multipliers, at) = (next, next_multipliers, found);
                break;
            }
            share *= 0.5;
            halvings += 1;
        }
        at_work = at_work.max(at.forces);
        if largest <= SETTLED || at.residual.amax() == 0.0 {
            break;
        }
    }
    let (worst, force) = (0..n).fold((0, 0.0_f64), |(worst, force), i| {
        let found = at.residual[i].abs();
        if found > force || !found.is_finite() {
            (i, found)
        } else {
            (worst, force)
        }
    });
    if force <= BALANCED * at_work {
        Ok(balance.full_position(&position))
    } else {
        Err(NoEquilibrium {
            coordinate: balance.coordinate(worst),
            force,
        })
    }
}

/// The balance of forces of a model at rest.
struct Balance<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    time: f64,
    /// Entries of the state's velocities that may move.
    moving: Vec<usize>,
    constraints: Constraints<f64>,
    kinematics: Kinematics<f64>,
    at_rest: Vec<f64>,
}

struct Forces {
    /// $`g`$ of the entries that may move, then $`\Phi`$.
    residual: DVector<f64>,
    /// Largest force at work.
    forces: f64,
}

impl<'m> Balance<'m> {
    fn new(model: &'m Model, time: f64) -> Self {
        let equations = Equations::new(model);
        let motors = equations.state_velocities() - model.transmissions.len();
        let driven = |entry: usize| {
            model.loads.iter().any(|load| match load.target {
                LoadTarget::Joint(at) => equations.velocity_entry(entry) == Some(at),
                LoadTarget::Motor(index) => entry == motors + index,
                LoadTarget::Marker { .. } => false,
            })
        };
        let controlled = |entry: usize| {
            let mut joints = model.controllers.iter().flat_map(|c| &c.joints);
            joints.any(|joint| match joint.motor {
                Some(motor) => entry == motors + motor,
                None => equations.velocity_entry(entry) == Some(joint.velocity),
            })
        };
        let moving = (0..equations.state_velocities())
            .filter(|&entry| !driven(entry) && !controlled(entry))
            .collect();
        Self {
            model,
            moving,
            constraints: Constraints::new(&model.system, &model.closures),
            kinematics: Kinematics::new(&model.system),
            at_rest: vec![0.0; model.system.velocity_count()],
            equations,
            time,
        }
    }

    fn full_position(&mut self, position: &[f64]) -> Vec<f64> {
        self.equations.position_at(self.time, position).to_vec()
    }

    fn coordinate(&self, moving: usize) -> String {
        let first = self.equations.state_positions();
        let layout = self.equations.state_layout();
        layout[first + self.moving[moving]].name.clone()
    }

    fn evaluate(&mut self, position: &[f64], multipliers: &[f64]) -> Forces {
        let mut forces = vec![0.0; self.equations.state_velocities()];
        self.equations
            .forces_at_rest(self.time, position, &mut forces);
        let full = self.equations.position_at(self.time, position);
        self.kinematics
            .update(&self.model.system, full, &self.at_rest);
        self.constraints.update(
            &self.model.system,
            &self.model.closures,
            &mut self.kinematics,
            full,
            &self.at_rest,
        );
        let (n, m) = (self.moving.len(), self.constraints.len());
        let mut residual = DVector::zeros(n + m);
        let mut largest = 0.0_f64;
        for (i, &entry) in self.moving.iter().enumerate() {
            let mut closing = 0.0;
            if let Some(at) = self.equations.velocity_entry(entry) {
                for (row, multiplier) in multipliers.iter().enumerate() {
                    closing += self.constraints.row(row)[at] * multiplier;
                }
            }
            largest = largest.max(forces[entry].abs()).max(closing.abs());
            residual[i] = forces[entry] - closing;
        }
        for row in 0..m {
            residual[n + row] = self.constraints.residual()[row];
        }
        Forces {
            residual,
            forces: largest,
        }
    }

    /// Derivatives of the residual by central differences; those by the multipliers are exact.
    fn tangent(&mut self, position: &[f64], multipliers: &[f64]) -> DMatrix<f64> {
        let (n, m) = (self.moving.len(), self.constraints.len());
        let mut matrix = DMatrix::zeros(n + m, n + m);
        for column in 0..n {
            let mut unit = DVector::zeros(n + m);
            unit[column] = DIFFERENCE;
            let (above, _) = self.moved(position, multipliers, &unit, 1.0);
            let (below, _) = self.moved(position, multipliers, &unit, -1.0);
            let above = self.evaluate(&above, multipliers).residual;
            let below = self.evaluate(&below, multipliers).residual;
            matrix.set_column(column, &((above - below) / (2.0 * DIFFERENCE)));
        }
        self.evaluate(position, multipliers);
        for row in 0..m {
            for (i, &entry) in self.moving.iter().enumerate() {
                if let Some(at) = self.equations.velocity_entry(entry) {
                    matrix[(i, n + row)] = -self.constraints.row(row)[at];
                }
            }
        }
        matrix
    }

    fn moved(
        &self,
        position: &[f64],
        multipliers: &[f64],
        change: &DVector<f64>,
        share: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let n = self.moving.len();
        let mut increment = vec![0.0; self.equations.state_velocities()];
        for (i, &entry) in self.moving.iter().enumerate() {
            increment[entry] = share * change[i];
        }
        let mut next = vec![0.0; position.len()];
        self.equations.displace(position, &increment, &mut next);
        let next_multipliers = multipliers
            .iter()
            .enumerate()
            .map(|(row, multiplier)| multiplier + share * change[n + row])
            .collect();
        (next, next_multipliers)
    }
}
