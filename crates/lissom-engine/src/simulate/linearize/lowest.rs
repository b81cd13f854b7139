//! The lowest modes of a tree with many degrees of freedom: mass and stiffness matrices without what else linearised equations are made of,
//! velocity terms by products.

use lissom_core::study::{Linearize as _, LinearizeError};
use lissom_core::{Commanded as _, Efforts};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, FrozenPoint, LinearError, Lowest, asking, asks_for_few};
use nalgebra::DMatrix;

use super::derivatives::carried;
use super::{DIRECTIONS, Linearizer, MotionState};

impl Linearizer<'_> {
    /// The equations frozen at a state in the space of the `count` lowest modes, with driven joints held, or `free`. None for loops, where all
    /// modes are found as fast, or where these are not found like this.
    ///
    /// # Errors
    /// When the watcher stops.
    pub(super) fn lowest_at(
        &mut self,
        state: &MotionState,
        free: bool,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<Frozen>, LinearizeError> {
        let n = self.equations.state_velocities();
        let held = if free {
            Vec::new()
        } else {
            self.driven_places()
        };
        let moving: Vec<usize> = (0..n).filter(|at| !held.contains(at)).collect();
        if !self.model.linkage.closures.is_empty() || !asks_for_few(moving.len(), count) {
            return Ok(None);
        }
        let residual = self.residual(state);
        let efforts = self.equations.commands.efforts().clone();
        let mass = self.mass();
        let turning = self.quasi_rates(&state.velocity);
        let turns = turning.amax() > 0.0;
        let mut stiffness = self.by_position(state, &efforts, |_, _| {}, watch)?;
        stiffness += self.tension_stiffness(state, &carried(&residual));
        if turns {
            stiffness += self.times_velocities(state, &efforts, &turning);
        }
        let turning_rate = self.quasi_rates(&state.acceleration);
        if turning_rate.amax() > 0.0 {
            stiffness += &mass * turning_rate;
        }
        let pick = |matrix: &DMatrix<f64>| matrix.select_rows(&moving).select_columns(&moving);
        let (own_mass, stiffness) = (pick(&mass), pick(&stiffness));
        let among_all = |motions: &DMatrix<f64>| {
            let mut whole = DMatrix::zeros(n, motions.ncols());
            for (own, &at) in moving.iter().enumerate() {
                whole.set_row(at, &motions.row(own));
            }
            whole
        };
        let floating = self.rigid_motions(state);
        let rigid: Vec<usize> = (0..moving.len())
            .filter(|&own| floating.contains(&moving[own]))
            .collect();
        let mut damping = |motions: &DMatrix<f64>| {
            let motions = among_all(motions);
            let mut product = self.times_velocities(state, &efforts, &motions);
            if turns {
                product += &mass * (&turning * motions);
            }
            product.select_rows(&moving)
        };
        let mut go_on = asking(watch, state.time_s);
        let matrices = (&own_mass, &stiffness);
        let found = Lowest::of_matrices(matrices, &mut damping, &rigid, count, &mut go_on);
        let mut lowest = match found {
            Ok(Some(lowest)) => lowest,
            Err(LinearError::Stopped { at_s }) => return Err(LinearizeError::Stopped { at_s }),
            // what cannot be found like this may be found among all modes, or is told there
            Ok(None) | Err(_) => return Ok(None),
        };
        lowest.basis = among_all(&lowest.basis);
        let mut point = FrozenPoint::of_lowest(state.time_s, lowest);
        point.inertia = mass;
        Ok(Some(Frozen {
            coordinates: self.all_labels().coordinates,
            rigid: (floating.into_iter())
                .filter(|at| !held.contains(at))
                .collect(),
            held,
            points: vec![point],
        }))
    }

    /// Derivative of the residual forces by the velocities, times motions: one per column.
    fn times_velocities(
        &mut self,
        state: &MotionState,
        efforts: &Efforts,
        motions: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let mut product = DMatrix::zeros(motions.nrows(), motions.ncols());
        let columns: Vec<usize> = (0..motions.ncols()).collect();
        for block in columns.chunks(DIRECTIONS) {
            self.load_tangent(state);
            for (slot, &column) in block.iter().enumerate() {
                for (entry, &x) in motions.column(column).iter().enumerate() {
                    self.seed_velocity(entry, slot, x);
                }
            }
            self.tangent.evaluate(self.model, 0, efforts);
            self.collect(block, &mut product);
        }
        product
    }
}
