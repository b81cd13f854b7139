//! Where a model rests under its loads: the start of a run that begins in equilibrium.
//!
//! At rest the generalised forces balance those of the closures, and the closures hold:
//!
//! ```math
//! g(q, \lambda) = r(q) - J^T\lambda = 0 , \qquad \Phi(q) = 0 ,
//! ```
//!
//! with $`r`$ the inverse dynamics at zero rates less the applied forces. `statics` solves it; a part of the load is that
//! part of gravity and inputs, in which $`r`$ is linear.

use std::convert::Infallible;

use nalgebra::{DMatrix, DVector};

use crate::model::spec::{InitialSpec, LoadProfile, LoadQuantity, SimulationSpec};
use crate::model::{AxisId, AxisPlace, CoordinateKind, Load, LoadTarget, MarkerId, Model, Toward};
use crate::simulate::equations::Equations;
use crate::simulate::extent;
use lissom_core::{Recording, State, snapshot};
use lissom_numerics::integrate::SecondOrder;
use lissom_numerics::statics::{self, Balance, Failure, NoEquilibrium, Stability};
use lissom_spatial::Vector;
use lissom_tree::closure::Constraints;
use lissom_tree::tree::Kinematics;

/// Step of differences, of the scale of a coordinate: the cube root of rounding, for central ones.
const DIFFERENCE: f64 = 6e-6;

/// A model at rest in equilibrium.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Every channel there, as a single sample.
    pub recording: Recording,
    /// Whether it holds when it is touched; `None` where only the modes tell.
    pub stability: Option<Stability>,
    /// Parts in which the load was added.
    pub parts: usize,
}

/// The model as `simulation` begins: at rest in equilibrium if it says so, otherwise as it is (`None`).
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub fn settled(model: &Model, simulation: &SimulationSpec) -> Result<Option<Model>, NoEquilibrium> {
    if simulation.initial == InitialSpec::Written {
        return Ok(None);
    }
    let loaded = loaded(model, simulation);
    Ok(Some(resting(
        model,
        equilibrium(&loaded, simulation.start_s)?,
    )))
}

/// The state in which `simulation` begins: as the model is written, or at rest in equilibrium.
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub(crate) fn resting_state(
    model: &Model,
    simulation: &SimulationSpec,
) -> Result<State, NoEquilibrium> {
    let settled = settled(model, simulation)?;
    let equations = Equations::new(settled.as_ref().unwrap_or(model));
    Ok(equations.start_state(simulation.start_s))
}

/// Every channel of a model at rest in equilibrium, under the loads of the start or those before it.
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub fn rest(model: &Model, simulation: &SimulationSpec) -> Result<Rest, NoEquilibrium> {
    let (loaded, time) = (loaded(model, simulation), simulation.start_s);
    let unloaded = unloaded(&loaded);
    let mut balance = TreeBalance::new(&loaded, &unloaded, time);
    let start = balance.start();
    let found = statics::equilibrium(&mut balance, &start).map_err(unplaced)?;
    let Ok(stability) = statics::stability(&mut balance, &found.place);
    let settled = resting(model, balance.full_position(&found.place.position));
    let mut equations = Equations::new(&settled);
    let state = equations.initial_state();
    let (position, rest) = state.split_at(equations.state_positions());
    let velocity = &rest[..equations.state_velocities()];
    Ok(Rest {
        recording: snapshot(&mut equations, time, position, velocity),
        stability,
        parts: found.parts,
    })
}

/// Positions at which `model` rests at `time`. Joints and motors that an input or a controller drives stay where the
/// model starts, as if brakes held them.
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub fn equilibrium(model: &Model, time: f64) -> Result<Vec<f64>, NoEquilibrium> {
    let unloaded = unloaded(model);
    let mut balance = TreeBalance::new(model, &unloaded, time);
    let start = balance.start();
    let found = statics::equilibrium(&mut balance, &start).map_err(unplaced)?;
    Ok(balance.full_position(&found.place.position))
}

/// The model under the loads that hold it before `simulation` begins.
fn loaded(model: &Model, simulation: &SimulationSpec) -> Model {
    let mut loaded = model.clone();
    if let InitialSpec::StaticLoad(case) = &simulation.initial {
        if let Some(gravity) = case.gravity_m_per_s2 {
            loaded.linkage.system = loaded.linkage.system.under_gravity(Vector(gravity));
        }
        loaded
            .actions
            .loads
            .extend(case.force.iter().filter_map(|force| {
                let vector = Vector(force.force_n);
                let size = vector.dot(vector).sqrt();
                Some(Load {
                    name: force.marker.clone(),
                    quantity: LoadQuantity::Force,
                    target: LoadTarget::Marker(
                        MarkerId(
                            model
                                .linkage
                                .markers
                                .iter()
                                .position(|m| m.name == force.marker)?,
                        ),
                        Toward {
                            direction: vector.scale(1.0 / size),
                            carried_by: None,
                        },
                    ),
                    profile: LoadProfile::Constant { value: size },
                    foreseen: false,
                })
                .filter(|_| size > 0.0)
            }));
    }
    loaded
}

/// The model without gravity and inputs.
fn unloaded(model: &Model) -> Model {
    let mut unloaded = model.clone();
    unloaded.linkage.system = model.linkage.system.under_gravity(Vector::zero());
    unloaded.actions.loads.clear();
    unloaded
}

/// The model at rest at a position.
fn resting(model: &Model, position: Vec<f64>) -> Model {
    let mut resting = model.clone();
    resting.initial_position = position;
    resting.initial_velocity.fill(0.0);
    resting
}

fn unplaced(failure: Failure<Infallible>) -> NoEquilibrium {
    match failure {
        Failure::None(error) => error,
        Failure::Placement(never) => match never {},
    }
}

/// Coordinates of the state and forces of the closures.
#[derive(Clone)]
struct TreePlace {
    position: Vec<f64>,
    multipliers: Vec<f64>,
}

/// The balance of forces of a model at rest.
struct TreeBalance<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    unloaded: Equations<'m>,
    time: f64,
    /// Entries of the state's velocities that may move.
    moving: Vec<usize>,
    scales: Vec<f64>,
    constraints: Constraints<f64>,
    kinematics: Kinematics<f64>,
    at_rest: Vec<f64>,
    forces: Vec<f64>,
    unloaded_forces: Vec<f64>,
}

impl<'m> TreeBalance<'m> {
    fn new(model: &'m Model, unloaded: &'m Model, time: f64) -> Self {
        let equations = Equations::new(model);
        let motors = equations.state_velocities() - model.transmissions.len();
        let driven = |entry: usize| {
            let mut axes = model.actions.driven();
            let on_axis = axes.any(|AxisId(axis)| match model.places.axes[axis].place {
                AxisPlace::Joint { velocity, .. } => {
                    equations.velocity_entry(entry) == Some(velocity)
                }
                AxisPlace::Motor(motor) => entry == motors + motor,
            });
            let on_component = |load: &Load| {
                let at = model.places.velocity(&load.target, &model.transmissions);
                load.target.axis().is_none()
                    && at.is_some()
                    && equations.velocity_entry(entry) == at
            };
            on_axis || model.actions.loads.iter().any(on_component)
        };
        let moving: Vec<usize> = (0..equations.state_velocities())
            .filter(|&entry| !driven(entry))
            .collect();
        let constraints = Constraints::new(&model.linkage.system, &model.linkage.closures);
        let scales = scales(&equations, &moving).into_iter();
        let count = equations.state_velocities();
        Self {
            model,
            scales: scales
                .chain(std::iter::repeat_n(f64::INFINITY, constraints.len()))
                .collect(),
            moving,
            constraints,
            kinematics: Kinematics::new(&model.linkage.system),
            at_rest: vec![0.0; model.linkage.system.velocity_count()],
            equations,
            unloaded: Equations::new(unloaded),
            time,
            forces: vec![0.0; count],
            unloaded_forces: vec![0.0; count],
        }
    }

    fn start(&self) -> TreePlace {
        let mut position = self.equations.initial_state();
        position.truncate(self.equations.state_positions());
        TreePlace {
            position,
            multipliers: vec![0.0; self.constraints.len()],
        }
    }

    fn full_position(&mut self, position: &[f64]) -> Vec<f64> {
        self.equations.position_at(self.time, position).to_vec()
    }

    /// Forces and closures at a place; returns the largest force at work.
    fn forces(&mut self, place: &TreePlace, load: f64, residual: &mut DVector<f64>) -> f64 {
        let (time, position) = (self.time, &place.position);
        self.equations
            .forces_at_rest(time, position, &mut self.forces);
        if load < 1.0 {
            let unloaded = &mut self.unloaded_forces;
            self.unloaded.forces_at_rest(time, position, unloaded);
            for (force, unloaded) in self.forces.iter_mut().zip(unloaded) {
                *force = *unloaded + load * (*force - *unloaded);
            }
        }
        let full = self.equations.position_at(time, position);
        self.kinematics
            .update(&self.model.linkage.system, full, &self.at_rest);
        self.constraints.update(
            &self.model.linkage.system,
            &self.model.linkage.closures,
            &mut self.kinematics,
            full,
            &self.at_rest,
        );
        let n = self.moving.len();
        let mut largest = 0.0_f64;
        for (i, &entry) in self.moving.iter().enumerate() {
            let mut closing = 0.0;
            if let Some(at) = self.equations.velocity_entry(entry) {
                for (row, multiplier) in place.multipliers.iter().enumerate() {
                    closing += self.constraints.row(row)[at] * multiplier;
                }
            }
            largest = largest.max(self.forces[entry].abs()).max(closing.abs());
            residual[i] = self.forces[entry] - closing;
        }
        for (row, &miss) in self.constraints.residual().iter().enumerate() {
            residual[n + row] = miss;
        }
        largest
    }
}

/// A large change of the coordinates that may move: a radian, or a length of the body.
fn scales(equations: &Equations<'_>, moving: &[usize]) -> Vec<f64> {
    let model = equations.model();
    let layout = equations.state_layout();
    let first = equations.state_positions();
    let elastic = extent::large_changes(model);
    let reach = extent::reach(model);
    (moving.iter())
        .map(|&entry| match equations.velocity_entry(entry) {
            Some(at) if model.linkage.velocities[at].kind == CoordinateKind::Elastic => elastic[at],
            _ if layout[first + entry].unit == "m/s" => reach,
            _ => 1.0,
        })
        .collect()
}

impl Balance for TreeBalance<'_> {
    type Place = TreePlace;
    type Error = Infallible;

    fn scales(&self) -> &[f64] {
        &self.scales
    }

    fn name(&self, unknown: usize) -> String {
        let moving = self.moving.len();
        match self.moving.get(unknown) {
            Some(entry) => {
                let first = self.equations.state_positions();
                let rate = &self.equations.state_layout()[first + entry].name;
                rate.strip_suffix(".rate").unwrap_or(rate).to_owned()
            }
            None => (self.constraints).name(&self.model.linkage.closures, unknown - moving),
        }
    }

    fn evaluate(
        &mut self,
        place: &TreePlace,
        load: f64,
        residual: &mut DVector<f64>,
    ) -> Result<f64, Infallible> {
        Ok(self.forces(place, load, residual))
    }

    /// By central differences; derivatives by the forces of closures are exact.
    fn stiffness(&mut self, place: &TreePlace, load: f64) -> Result<DMatrix<f64>, Infallible> {
        let (n, all) = (self.moving.len(), self.scales.len());
        let mut matrix = DMatrix::zeros(all, all);
        let mut unit = DVector::zeros(all);
        let [mut above, mut below] = [DVector::zeros(all), DVector::zeros(all)];
        for column in 0..n {
            let step = DIFFERENCE * self.scales[column];
            unit[column] = step;
            let ahead = self.displaced(place, &unit, 1.0);
            let behind = self.displaced(place, &unit, -1.0);
            unit[column] = 0.0;
            self.forces(&ahead, load, &mut above);
            self.forces(&behind, load, &mut below);
            matrix.set_column(column, &((&above - &below) / (2.0 * step)));
        }
        self.forces(place, load, &mut above);
        for row in 0..all - n {
            for (i, &entry) in self.moving.iter().enumerate() {
                if let Some(at) = self.equations.velocity_entry(entry) {
                    matrix[(i, n + row)] = -self.constraints.row(row)[at];
                }
            }
        }
        Ok(matrix)
    }

    fn displaced(&self, place: &TreePlace, change: &DVector<f64>, share: f64) -> TreePlace {
        let mut increment = vec![0.0; self.equations.state_velocities()];
        for (i, &entry) in self.moving.iter().enumerate() {
            increment[entry] = share * change[i];
        }
        let mut position = vec![0.0; place.position.len()];
        self.equations
            .displace(&place.position, &increment, &mut position);
        let of_closures = change.iter().skip(self.moving.len());
        let multipliers = (place.multipliers.iter().zip(of_closures))
            .map(|(multiplier, change)| multiplier + share * change)
            .collect();
        TreePlace {
            position,
            multipliers,
        }
    }
}
