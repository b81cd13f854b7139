//! The balance of forces at rest, differentiated: what Newton's iteration for an equilibrium needs.

use lissom_core::Commanded as _;
use nalgebra::DMatrix;

use super::{DIRECTIONS, Linearizer, MotionState, Tangent};
use lissom_core::study::StaticLoads;
use lissom_spatial::Vector;
use lissom_tree::closure::Constraints;

/// A state without velocities under a part of its loads.
pub(in crate::simulate) struct StaticState<'a> {
    pub(in crate::simulate) time_s: f64,
    /// Positions as the state has them.
    pub(in crate::simulate) positions: &'a [f64],
    /// Forces of the closures.
    pub(in crate::simulate) multipliers: &'a [f64],
    /// Loads in the place of the model's gravity, and further ones.
    pub(in crate::simulate) loads: &'a StaticLoads,
    /// Share of gravity, inputs and loads.
    pub(in crate::simulate) share: f64,
}

impl Linearizer<'_> {
    /// Derivatives by some coordinates of the state, one column each: of the forces on the same coordinates less those of the closures, then
    /// of what the closures miss.
    pub(in crate::simulate) fn balance_tangent(
        &mut self,
        place: &StaticState<'_>,
        coordinates: &[usize],
    ) -> DMatrix<f64> {
        let model = self.model;
        let linkage = &model.linkage;
        let mut constraints = Constraints::<Tangent>::new(&linkage.system, &linkage.closures);
        let state = self.state_of(place);
        self.put_loads(place);
        let mut efforts = self.equations.commands.efforts().clone();
        efforts.scale_inputs(&model.actions, place.share);
        let n = coordinates.len();
        let mut columns = vec![None; self.equations.state_velocities()];
        for (column, &entry) in coordinates.iter().enumerate() {
            columns[entry] = Some(column);
        }
        let (moved, owners): (Vec<(usize, usize)>, Vec<usize>) = (self.inward().into_iter())
            .filter_map(|(entry, body)| Some(((entry, columns[entry]?), body)))
            .unzip();
        let mut derivative = DMatrix::zeros(n + constraints.len(), n);
        for (block, owners) in moved.chunks(DIRECTIONS).zip(owners.chunks(DIRECTIONS)) {
            self.load_tangent(&state);
            for (slot, &(entry, _)) in block.iter().enumerate() {
                self.seed_position(&state, entry, slot);
            }
            // from the body nearest to the ground; the first block leaves those before it without derivatives
            let first = block[0] == moved[0];
            let from = if first { 0 } else { owners[owners.len() - 1] };
            self.tangent.evaluate(model, from, &efforts);
            let tangent = &mut self.tangent;
            if !constraints.is_empty() {
                constraints.update(
                    &linkage.system,
                    &linkage.closures,
                    &mut tangent.kinematics,
                    &tangent.position,
                    &tangent.velocity,
                );
            }
            let free = &self.equations.free_velocities;
            for (row, &entry) in coordinates.iter().enumerate() {
                let force = match free.get(entry) {
                    Some(&at) => {
                        let closing = place.multipliers.iter().enumerate();
                        closing.fold(tangent.joints[at], |force, (equation, &multiplier)| {
                            force - constraints.row(equation)[at] * multiplier
                        })
                    }
                    None => tangent.motors[entry - free.len()],
                };
                for (slot, &(_, column)) in block.iter().enumerate() {
                    derivative[(row, column)] = force.tangent[slot];
                }
            }
            for (equation, missed) in constraints.residual().iter().enumerate() {
                for (slot, &(_, column)) in block.iter().enumerate() {
                    derivative[(n + equation, column)] = missed.tangent[slot];
                }
            }
        }
        derivative
    }

    /// The state in full, with the inputs that act there.
    fn state_of(&mut self, place: &StaticState<'_>) -> MotionState {
        let still = vec![0.0; self.model.linkage.system.velocity_count()];
        let position = self
            .equations
            .position_at(place.time_s, place.positions)
            .to_vec();
        let motors = self.equations.motor_position.iter();
        let state = MotionState {
            time_s: place.time_s,
            position,
            velocity: still.clone(),
            acceleration: still,
            motors: motors.map(|&position| [position, 0.0, 0.0]).collect(),
            control: Vec::new(),
            undeformed: false,
        };
        self.equations.act_at(&state);
        state
    }

    /// Lets the share of the loads act in every evaluation to come.
    fn put_loads(&mut self, place: &StaticState<'_>) {
        let weight: Vector<f64> = self.model.linkage.system.gravity();
        let gravity = place.loads.gravity.unwrap_or(weight);
        self.tangent.put_loads(
            gravity.scale(place.share),
            place.loads.values(place.time_s, place.share),
        );
    }
}
