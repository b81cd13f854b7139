//! Equilibrium of a tree under its loads: the start of a run that begins there.
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

use crate::model::{AxisPlace, Model};
use crate::simulate::equations::Equations;
use crate::simulate::extent;
use crate::simulate::linearize::{Linearizer, StaticState};
use lissom_core::study::{self, Found, StaticLoads};
use lissom_core::{AxisId, MarkerId, State};
use lissom_numerics::integrate::{Flow, SecondOrder};
use lissom_numerics::statics::{Balance, Failure, NoEquilibrium};
use lissom_spec::spec::InitialSpec;
use lissom_tree::CoordinateKind;
use lissom_tree::closure::Constraints;
use lissom_tree::tree::Kinematics;

/// The equilibrium of `model` near a state under its loads at that instant and further ones. Joints and motors that an input or a
/// controller drives stay where they are, as if brakes held them.
///
/// # Errors
/// When there is no equilibrium near where the model is.
pub(crate) fn equilibrium(
    model: &Model,
    initial: &InitialSpec,
    from: &State,
    watch: &mut dyn FnMut() -> Flow,
) -> Result<Found, NoEquilibrium> {
    let time = from.time_s;
    let markers = &model.linkage.markers;
    let loads = StaticLoads::of(initial, |name| {
        let found = markers.iter().position(|marker| marker.name == name);
        found.map(MarkerId)
    });
    let mut balance = TreeBalance::new(model, loads, time);
    let start = balance.near(from);
    let at_rest = |balance: &mut TreeBalance<'_>, place: TreePlace| {
        let still = vec![0.0; balance.equations.state_velocities()];
        State::new(time, place.position, still)
    };
    let found = study::equilibrium(&mut balance, &start, at_rest, watch);
    found.map_err(|failure| match failure {
        Failure::None(error) => error,
        Failure::Placement(never) => match never {},
    })
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
    linearizer: Linearizer<'m>,
    loads: StaticLoads,
    time: f64,
    /// Entries of the state's velocities that may move.
    moving: Vec<usize>,
    scales: Vec<f64>,
    constraints: Constraints<f64>,
    kinematics: Kinematics<f64>,
    at_rest: Vec<f64>,
    forces: Vec<f64>,
}

impl<'m> TreeBalance<'m> {
    fn new(model: &'m Model, loads: StaticLoads, time: f64) -> Self {
        let equations = Equations::new(model);
        let motors = equations.state_velocities() - model.transmissions.len();
        let driven = |entry: usize| {
            let mut axes = model.actions.driven();
            axes.any(|AxisId(axis)| match model.places.axes[axis].place {
                AxisPlace::Joint { velocity, .. } => {
                    equations.velocity_entry(entry) == Some(velocity)
                }
                AxisPlace::Motor(motor) => entry == motors + motor,
            })
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
            linearizer: Linearizer::new(model),
            loads,
            time,
            forces: vec![0.0; count],
        }
    }

    fn near(&self, from: &State) -> TreePlace {
        TreePlace {
            position: from.position.clone(),
            multipliers: vec![0.0; self.constraints.len()],
        }
    }

    /// Evaluates the closures at a place.
    fn close(&mut self, place: &TreePlace) {
        if self.constraints.is_empty() {
            return;
        }
        let linkage = &self.model.linkage;
        let full = self.equations.position_at(self.time, &place.position);
        self.kinematics.update(&linkage.system, full, &self.at_rest);
        self.constraints.update(
            &linkage.system,
            &linkage.closures,
            &mut self.kinematics,
            full,
            &self.at_rest,
        );
    }

    /// Forces and closures at a place; returns the largest force at work.
    fn forces(&mut self, place: &TreePlace, load: f64, residual: &mut DVector<f64>) -> f64 {
        let (time, position) = (self.time, &place.position);
        (self.equations).forces_at_rest(time, position, &self.loads, load, &mut self.forces);
        self.close(place);
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
            Some(&entry) => self.equations.deviations().swap_remove(entry).name,
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

    fn stiffness(&mut self, place: &TreePlace, load: f64) -> Result<DMatrix<f64>, Infallible> {
        let (n, all) = (self.moving.len(), self.scales.len());
        let at = StaticState {
            time_s: self.time,
            positions: &place.position,
            multipliers: &place.multipliers,
            loads: &self.loads,
            share: load,
        };
        let by_coordinates = self.linearizer.balance_tangent(&at, &self.moving);
        let mut matrix = DMatrix::zeros(all, all);
        matrix.columns_mut(0, n).copy_from(&by_coordinates);
        self.close(place);
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
