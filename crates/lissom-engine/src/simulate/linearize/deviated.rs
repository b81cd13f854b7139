//! What a tree does at a deviation from a state of motion: coordinates, rates and markers, without any matrix.
//!
//! One evaluation over dual numbers along the deviation $`\delta`$ gives the displacement of a marker to second order,
//! $`J\delta + \tfrac12\dot J\delta`$ with $`\dot J`$ the change of its Jacobian along $`\delta`$. Where loops close, dependent coordinates
//! follow: $`\delta = N u`$, to second order with $`-\tfrac12 P\,\dot J_c\,\delta`$ of the closures, and
//! $`\dot\delta = N\dot u - P\,\dot\Phi_q\,\delta`$ (`loops.rs`).

use nalgebra::{DMatrix, DVector, Dyn, LU};

use super::closures::{closures_at, tangent_closures};
use super::{LinearizeError, Linearizer, MotionState, Tangent, constant};
use crate::simulate::equations::position_rates;
use lissom_core::State;
use lissom_core::study::{Deviated, Deviation, OutputOrder};
use lissom_spatial::Vector;
use lissom_tree::closure::{Constraints, row_rank};
use lissom_tree::tree::{displace, marker_jacobian, marker_motion};

/// Closures dependent for the coordinates that are not independent.
struct DependentEntries {
    /// Independent equations.
    rows: Vec<usize>,
    /// Dependent entries of the state's velocities.
    entries: Vec<usize>,
    factor: LU<f64, Dyn, Dyn>,
}

/// A deviation in all coordinates of the state.
struct Whole {
    position: DVector<f64>,
    rate: DVector<f64>,
    /// What closures add to the positions to second order, twice.
    second: DVector<f64>,
}

impl DependentEntries {
    /// At a state, for all but the independent coordinates.
    fn at(
        linearizer: &mut Linearizer<'_>,
        motion: &MotionState,
        independent: &[usize],
    ) -> Result<Self, LinearizeError> {
        let constraints = closures_at(linearizer, motion);
        let free = &linearizer.equations.free_velocities;
        let entries: Vec<usize> = (0..free.len())
            .filter(|i| !independent.contains(i))
            .collect();
        let block: Vec<f64> = (0..constraints.len())
            .flat_map(|row| {
                let row = constraints.row(row);
                entries.iter().map(|&entry| row[free[entry]])
            })
            .collect();
        let rows = row_rank(&block, entries.len()).independent;
        let matrix = DMatrix::from_row_slice(constraints.len(), entries.len(), &block);
        let factor = matrix.select_rows(&rows).lu();
        let time_s = motion.time_s;
        if rows.len() < entries.len() || !factor.is_invertible() {
            return Err(LinearizeError::Singular { time_s });
        }
        Ok(Self {
            rows,
            entries,
            factor,
        })
    }

    /// Puts into the dependent entries what takes a change of the closures back.
    fn take_back(&self, change: impl Fn(usize) -> f64, whole: &mut DVector<f64>) {
        // the solver knows no equations without unknowns
        if self.rows.is_empty() {
            return;
        }
        let change =
            DVector::from_iterator(self.rows.len(), self.rows.iter().map(|&row| change(row)));
        // invertible, as was found before
        if let Some(solution) = self.factor.solve(&change) {
            for (&entry, value) in self.entries.iter().zip(&solution) {
                whole[entry] = -value;
            }
        }
    }
}

impl Linearizer<'_> {
    /// Coordinates, rates, inputs and markers at a deviation from a state.
    pub(super) fn deviated_from(
        &mut self,
        motion: &MotionState,
        deviation: &Deviation<'_>,
        order: OutputOrder,
    ) -> Result<Deviated, LinearizeError> {
        let whole = self.whole(motion, deviation)?;
        let markers = self.markers_along(&whole, order);
        self.equations.act_at(motion);
        let rates = (self.equations.free_velocities.iter())
            .map(|&at| motion.velocity[at])
            .chain(motion.motors.iter().map(|motor| motor[1]));
        let sum = |nominal: Vec<f64>, deviation: &DVector<f64>| {
            let both = nominal.into_iter().zip(deviation);
            both.map(|(nominal, deviation)| nominal + deviation)
                .collect()
        };
        Ok(Deviated {
            velocity: sum(rates.collect(), &whole.rate),
            position: sum(self.chart_position(motion), &whole.position),
            input: self.inputs(&self.actuated_entries()),
            markers,
        })
    }

    /// The state at a deviation from a state of motion.
    pub(super) fn state_from(
        &mut self,
        motion: &MotionState,
        deviation: &Deviation<'_>,
    ) -> Result<State, LinearizeError> {
        let whole = self.whole(motion, deviation)?;
        let moved = &whole.position + 0.5 * &whole.second;
        let mut position = motion.position.clone();
        displace(
            &self.model.linkage.system,
            &mut position,
            &self.full(moved.as_slice(), motion.velocity.len()),
        );
        // velocities that are no rates of the chart: those deviate by δv = δ' + Wδ
        let rates = &whole.rate + self.quasi_rates(&motion.velocity) * &whole.position;
        let (free_positions, free) = (
            &self.equations.free_positions,
            &self.equations.free_velocities,
        );
        let motors = motion.motors.iter();
        let positions = free_positions.iter().map(|&at| position[at]);
        let positions = positions
            .chain((motors.clone().enumerate()).map(|(i, motor)| motor[0] + moved[free.len() + i]));
        let velocities = free.iter().map(|&at| motion.velocity[at]);
        let velocities = velocities.chain(motors.map(|motor| motor[1]));
        let velocities = velocities.zip(&rates).map(|(nominal, rate)| nominal + rate);
        Ok(State::new(
            motion.time_s,
            positions.collect(),
            velocities.collect(),
        ))
    }

    /// Entries of the state as a velocity vector of the system.
    fn full(&self, entries: &[f64], velocities: usize) -> Vec<f64> {
        let mut full = vec![0.0; velocities];
        for (&at, entry) in self.equations.free_velocities.iter().zip(entries) {
            full[at] = *entry;
        }
        full
    }

    /// A deviation in all coordinates; leaves the dual state with its direction in the first slot, kinematics up to date.
    fn whole(
        &mut self,
        motion: &MotionState,
        deviation: &Deviation<'_>,
    ) -> Result<Whole, LinearizeError> {
        let n = self.equations.state_velocities();
        let mut whole = Whole {
            position: DVector::zeros(n),
            rate: DVector::zeros(n),
            second: DVector::zeros(n),
        };
        for (i, &at) in deviation.independent.iter().enumerate() {
            whole.position[at] = deviation.position[i];
            whole.rate[at] = deviation.rate[i];
        }
        let model = self.model;
        if model.linkage.closures.is_empty() {
            self.move_along(motion, &whole.position);
            return Ok(whole);
        }
        let dependent = DependentEntries::at(self, motion, deviation.independent)?;
        let plain = closures_at(self, motion);
        let dot =
            |row: &[f64], full: &[f64]| -> f64 { row.iter().zip(full).map(|(a, b)| a * b).sum() };
        let velocities = motion.velocity.len();
        let given = self.full(whole.position.as_slice(), velocities);
        dependent.take_back(|row| dot(plain.row(row), &given), &mut whole.position);
        self.move_along(motion, &whole.position);
        let mut tangent =
            Constraints::<Tangent>::new(&model.linkage.system, &model.linkage.closures);
        tangent_closures(self, &mut tangent);
        let along = self.full(whole.position.as_slice(), velocities);
        let curved = |row: usize| -> f64 {
            let entries = tangent.row(row).iter().zip(&along);
            entries.map(|(entry, along)| entry.tangent[0] * along).sum()
        };
        dependent.take_back(curved, &mut whole.second);
        // rates of the chart: those of the tree are δ' + Wδ
        let turned = self.quasi_rates(&motion.velocity) * &whole.position;
        let given = self.full((&whole.rate + turned).as_slice(), velocities);
        let change = |row: usize| dot(plain.row(row), &given) + tangent.rate()[row].tangent[0];
        dependent.take_back(change, &mut whole.rate);
        Ok(whole)
    }

    /// Moves the dual state along a direction of the state's coordinates.
    fn move_along(&mut self, motion: &MotionState, direction: &DVector<f64>) {
        let system = &self.model.linkage.system;
        let full = self.full(direction.as_slice(), motion.velocity.len());
        let mut rate = vec![0.0; motion.position.len()];
        position_rates(system, &motion.position, &full, &mut rate);
        self.load_tangent(motion);
        let tangent = &mut self.tangent;
        for (position, rate) in tangent.position.iter_mut().zip(&rate) {
            position.tangent[0] = *rate;
        }
        tangent
            .kinematics
            .update(system, &tangent.position, &tangent.velocity);
        tangent.kinematics.update_poses(system);
    }

    /// Nominal places of the markers and their displacements along the direction of the dual state.
    fn markers_along(&mut self, whole: &Whole, order: OutputOrder) -> Vec<[Vector<f64>; 2]> {
        let model = self.model;
        let system = &model.linkage.system;
        let full = system.velocity_count();
        let along = self.full(whole.position.as_slice(), full);
        let second = self.full(whole.second.as_slice(), full);
        let tangent = &mut self.tangent;
        let mut jacobian = vec![constant(0.0); 6 * full];
        let mut markers = Vec::with_capacity(model.linkage.markers.len());
        for marker in &model.linkage.markers {
            let Some(body) = marker.body else {
                markers.push([marker.place.offset().translation, Vector::zero()]);
                continue;
            };
            let motion = marker_motion(
                system,
                &tangent.kinematics,
                body,
                &marker.place,
                &tangent.position,
                &tangent.velocity,
                &mut tangent.influence,
            );
            let place = motion.pose.translation;
            let mut moved = Vector(place.0.map(|x| x.tangent[0]));
            if order == OutputOrder::Second {
                marker_jacobian(
                    system,
                    &tangent.kinematics,
                    body,
                    place,
                    &tangent.influence,
                    &mut jacobian,
                );
                for component in 0..3 {
                    let row = &jacobian[(component + 3) * full..(component + 4) * full];
                    let terms = row.iter().zip(along.iter().zip(&second));
                    let sum: f64 = terms
                        .map(|(entry, (along, second))| {
                            entry.tangent[0] * along + entry.value * second
                        })
                        .sum();
                    moved[component] += 0.5 * sum;
                }
            }
            markers.push([Vector(place.0.map(|x| x.value)), moved]);
        }
        markers
    }
}
