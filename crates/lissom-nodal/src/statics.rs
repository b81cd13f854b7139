//! The balance of forces of a mechanism at rest, for `statics` to solve, with exact tangents: loads that turn with the
//! mechanism have their part in them.

use nalgebra::{DMatrix, DVector};

use lissom_numerics::statics::{self, Balance, Equilibrium, Stability};
use lissom_spatial::{Real, Vector};

use super::dynamics::Excitation;
use super::equations::Equations;
use super::error::NodalError;
use super::forces::{AppliedForces, Forces, View};
use super::linear::State;
use super::mechanism::{Mechanism, Place};
use super::role::Drive;

/// A mechanism at rest under gravity and an excitation, which grow in proportion. What is prescribed is
/// held still at its value.
#[derive(Clone, Debug)]
pub struct StaticBalance<'a, E> {
    equations: Equations<'a>,
    /// As assembled: from where every place can be reached.
    assembled: Equations<'a>,
    excitation: E,
    time: f64,
    gravity: Vector<f64>,
    /// Degrees of freedom that may move.
    moving: Vec<usize>,
    scales: Vec<f64>,
    drives: Vec<Drive>,
    forces: Forces<f64>,
    still: Vec<f64>,
    residual: Vec<f64>,
    /// Where the mechanism was placed last.
    placed: Vec<f64>,
}

impl<'a, E: Excitation> StaticBalance<'a, E> {
    /// The mechanism under this excitation at an instant.
    pub fn new(equations: Equations<'a>, excitation: E, time: f64) -> Self {
        let mechanism = equations.mechanism();
        let dofs = mechanism.dof_count();
        let mut this = Self {
            gravity: equations.gravity,
            moving: Vec::new(),
            scales: Vec::new(),
            drives: mechanism.assembled_drives(),
            forces: Forces::new(mechanism),
            still: vec![0.0; dofs],
            residual: vec![0.0; dofs],
            placed: mechanism.assembled_position(),
            assembled: equations.clone(),
            equations,
            excitation,
            time,
        };
        this.hold(&[]);
        this
    }

    /// The equations where the mechanism was placed last.
    pub fn equations(&self) -> &Equations<'a> {
        &self.equations
    }

    /// Positions where the mechanism was placed last.
    pub fn placed(&self) -> &[f64] {
        &self.placed
    }

    /// Puts the mechanism under another gravity.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.gravity = Vector(gravity);
    }

    /// Degrees of freedom that brakes hold where they are; all others may move.
    pub fn hold(&mut self, held: &[usize]) {
        let mechanism = self.equations.mechanism();
        self.moving = (0..mechanism.dof_count())
            .filter(|dof| !held.contains(dof))
            .collect();
        self.scales = (self.moving.iter())
            .map(|&dof| scale(mechanism, dof))
            .collect();
    }

    /// Finds the equilibrium from a place near that without load.
    ///
    /// # Errors
    /// When there is none, however small the part of the load that is added.
    pub fn equilibrium(&mut self, start: &[f64]) -> Result<Equilibrium<Vec<f64>>, NodalError> {
        statics::equilibrium(self, &start.to_vec()).map_err(statics::Failure::merged)
    }

    /// Whether an equilibrium holds when it is touched.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    pub fn stability(&mut self, position: &Vec<f64>) -> Result<Option<Stability>, NodalError> {
        statics::stability(self, position)
    }

    /// Places the mechanism and asks what acts on it there under a part of the load.
    fn act(&mut self, position: &[f64], load: f64) -> Result<(), NodalError> {
        self.excitation.drive(self.time, &mut self.drives);
        for drive in &mut self.drives {
            (drive.rate, drive.acceleration) = (0.0, 0.0);
        }
        if self.equations.place(position, &self.drives).is_err() {
            // from a configuration that has diverged there may be no way
            self.equations.clone_from(&self.assembled);
            if let Err(error) = self.equations.place(position, &self.drives) {
                // the next place is sought from the last
                let _ = self.equations.place(&self.placed, &self.drives);
                return Err(error);
            }
        }
        self.placed.copy_from_slice(position);
        self.equations.gravity = self.gravity.scale(load);
        self.equations.set_velocity(&self.still, &self.drives);
        self.equations.set_acceleration(&self.still, &self.drives);
        let mut view = self.equations.view(&mut self.forces);
        self.excitation.update(self.time, &mut view);
        let part = Part {
            excitation: &self.excitation,
            load,
        };
        part.apply(1.0, &mut view);
        Ok(())
    }
}

/// What acts while loads from outside grow in proportion.
#[derive(Debug)]
struct Part<'a, E> {
    excitation: &'a E,
    load: f64,
}

impl<E: AppliedForces> AppliedForces for Part<'_, E> {
    fn apply<T: Real>(&self, part: f64, view: &mut View<'_, T>) {
        self.excitation.apply(part * self.load, view);
    }

    fn springs<T: Real>(&self, view: &mut View<'_, T>, spring: &mut impl FnMut(f64, T)) {
        self.excitation.springs(view, spring);
    }
}

/// A large change of a degree of freedom: a radian, the length of the element, or the size of the mechanism.
fn scale(mechanism: &Mechanism, dof: usize) -> f64 {
    if mechanism.dof_unit(dof) != "m" {
        return 1.0;
    }
    let extent = |nodes: &mut dyn Iterator<Item = usize>| {
        let points = nodes.filter(|&node| !mechanism.nodes[node].kind.turns());
        let points: Vec<Vector<f64>> = points
            .map(|node| mechanism.nodes[node].placement.position)
            .collect();
        let from = points.first().copied().unwrap_or(Vector([0.0; 3]));
        let apart = points.iter().map(|&point| (point - from).dot(point - from));
        apart.fold(0.0, f64::max).sqrt()
    };
    let own = match mechanism.dofs[dof].place {
        Place::Deformation(deformation) => {
            let element = &mechanism.elements[mechanism.element_of[deformation]];
            extent(&mut element.nodes.iter().copied())
        }
        Place::Coordinate(..) => 0.0,
    };
    if own > 0.0 {
        return own;
    }
    let whole = extent(&mut (0..mechanism.node_count()));
    if whole > 0.0 { whole } else { 1.0 }
}

impl<E: Excitation> Balance for StaticBalance<'_, E> {
    type Place = Vec<f64>;
    type Error = NodalError;

    fn scales(&self) -> &[f64] {
        &self.scales
    }

    fn name(&self, unknown: usize) -> String {
        self.equations.mechanism().dof_name(self.moving[unknown])
    }

    fn evaluate(
        &mut self,
        position: &Vec<f64>,
        load: f64,
        residual: &mut DVector<f64>,
    ) -> Result<f64, NodalError> {
        self.act(position, load)?;
        let Forces { efforts, loads, .. } = &self.forces;
        self.equations.residual(efforts, loads, &mut self.residual);
        for (lacking, &dof) in residual.iter_mut().zip(&self.moving) {
            *lacking = self.residual[dof];
        }
        let pass = &self.equations.pass;
        let forces = (efforts.iter().copied())
            .chain(loads.iter().flat_map(|load| load.0))
            .chain(pass.force.iter().flat_map(|force| force.0))
            .chain(pass.elastic.iter().copied());
        Ok(forces.fold(0.0, |most, force| most.max(force.abs())))
    }

    fn stiffness(&mut self, position: &Vec<f64>, load: f64) -> Result<DMatrix<f64>, NodalError> {
        self.act(position, load)?;
        let state = State {
            position,
            velocity: &self.still,
            acceleration: &self.still,
            drives: &self.drives,
            loads: &Part {
                excitation: &self.excitation,
                load,
            },
        };
        let whole = self.equations.tangent_stiffness(&state)?;
        let n = self.moving.len();
        let moving = &self.moving;
        Ok(DMatrix::from_fn(n, n, |row, column| {
            whole[(moving[row], moving[column])]
        }))
    }

    fn displaced(&self, position: &Vec<f64>, change: &DVector<f64>, share: f64) -> Vec<f64> {
        let mut increment = vec![0.0; self.still.len()];
        for (&dof, change) in self.moving.iter().zip(change.iter()) {
            increment[dof] = share * change;
        }
        let mut displaced = position.clone();
        self.equations
            .displace(position, &increment, &mut displaced);
        displaced
    }
}
