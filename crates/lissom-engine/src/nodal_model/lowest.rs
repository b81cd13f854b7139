//! The lowest modes of a nodal model with many degrees of freedom: linearised equations by products, solved with by the sparse tangent of
//! implicit steps.

use lissom_core::study::{Linearize as _, LinearizeError};
use lissom_nodal::{Dynamics, State};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{
    Frozen, FrozenPoint, GoOn, LinearError, Lowest, Products, asking, asks_for_few,
};
use nalgebra::{DMatrix, DVector, Dyn, LU};

use super::NodalActions;
use super::nominal::{NodalLinearizer, NodalMotion};

impl NodalLinearizer<'_> {
    /// The equations frozen at a motion in the space of the `count` lowest modes, with driven axes held, or `free`. None where axes may
    /// exchange their places, all modes are found as fast, or these are not found like this.
    ///
    /// # Errors
    /// When the mechanism cannot be there, or the watcher stops.
    pub(super) fn lowest_at(
        &mut self,
        motion: &NodalMotion,
        free: bool,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<Frozen>, LinearizeError> {
        let driven = self.driven();
        let held = if free { Vec::new() } else { driven };
        let mechanism = self.chart.mechanism;
        let dofs = mechanism.dof_count();
        let moving: Vec<usize> = (0..dofs).filter(|dof| !held.contains(dof)).collect();
        if self.nodal.charts.is_some() || !asks_for_few(moving.len(), count) {
            return Ok(None);
        }
        let motion = &*self.in_chart(motion)?;
        let unplaced = Self::unplaced(motion.time_s);
        let placed = (self.dynamics).set_state(motion.time_s, &motion.position, &motion.velocity);
        placed.map_err(&unplaced)?;
        let state = State {
            position: &motion.position,
            velocity: &motion.velocity,
            acceleration: &motion.acceleration,
            drives: self.dynamics.drives(),
            loads: self.dynamics.excitation(),
        };
        let rates = [&motion.velocity, &motion.acceleration];
        let turning = rates.map(|rates| self.nodal.quasi_rates(mechanism, rates));
        let of = lissom_nodal::Products::new(&mut self.equations, state).map_err(&unplaced)?;
        let mut products = NotHeld {
            of,
            tangent: self.dynamics.clone(),
            motion,
            turning: turning.map(|turning| (turning.amax() > 0.0).then_some(turning)),
            moving: &moving,
            held: &held,
            shift: f64::NAN,
            letting_go: None,
        };
        let floating = self.nodal.floating_dofs();
        let rigid: Vec<usize> = (0..moving.len())
            .filter(|&at| floating.contains(&moving[at]))
            .collect();
        let mut go_on = asking(watch, motion.time_s);
        let mut lowest = match Lowest::new(&mut products, &rigid, count, &mut go_on) {
            Ok(Some(lowest)) => lowest,
            Err(LinearError::Stopped { at_s }) => return Err(LinearizeError::Stopped { at_s }),
            // what cannot be found like this may be found among all modes, or is told there
            Ok(None) | Err(_) => return Ok(None),
        };
        lowest.basis = products.among_all(&lowest.basis);
        Ok(Some(Frozen {
            coordinates: self.labels().coordinates,
            held,
            rigid: floating,
            points: vec![FrozenPoint::of_lowest(motion.time_s, lowest)],
        }))
    }
}

/// The equations of the degrees of freedom that are not held.
struct NotHeld<'a, 'm> {
    of: lissom_nodal::Products<'a, 'm, NodalActions<'m>>,
    tangent: Dynamics<'m, NodalActions<'m>>,
    motion: &'a NodalMotion,
    /// $`W`$ of the velocities and of the accelerations, where there are any: $`\delta v = \dot\delta + W\delta`$.
    turning: [Option<DMatrix<f64>>; 2],
    moving: &'a [usize],
    held: &'a [usize],
    shift: f64,
    /// What the tangent, which holds nothing, makes of forces on the degrees of freedom that are held, and how much it takes to hold them.
    letting_go: Option<(DMatrix<f64>, LU<f64, Dyn, Dyn>)>,
}

impl NotHeld<'_, '_> {
    fn among_all(&self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let all = self.moving.len() + self.held.len();
        let mut whole = DMatrix::zeros(all, motions.ncols());
        for (own, &dof) in self.moving.iter().enumerate() {
            whole.set_row(dof, &motions.row(own));
        }
        whole
    }

    fn of_moving(&self, whole: &DMatrix<f64>) -> DMatrix<f64> {
        whole.select_rows(self.moving)
    }

    /// With the tangent, every degree of freedom free.
    fn solve_free(&mut self, mut forces: DMatrix<f64>) -> DMatrix<f64> {
        for mut column in forces.column_iter_mut() {
            self.tangent.solve_tangent(column.as_mut_slice());
        }
        forces / self.shift
    }
}

impl Products for NotHeld<'_, '_> {
    fn size(&self) -> usize {
        self.moving.len()
    }

    fn mass(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let product = self.of.mass(&self.among_all(motions));
        self.of_moving(&product)
    }

    fn damping(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let motions = self.among_all(motions);
        let mut product = self.of.damping(&motions);
        if let [Some(turning), _] = &self.turning {
            product += self.of.mass(&(turning * motions));
        }
        self.of_moving(&product)
    }

    fn stiffness(&mut self, motions: &DMatrix<f64>) -> DMatrix<f64> {
        let motions = self.among_all(motions);
        let mut product = self.of.stiffness(&motions);
        if let [Some(turning), _] = &self.turning {
            product += self.of.damping(&(turning * &motions));
        }
        if let [_, Some(turning)] = &self.turning {
            product += self.of.mass(&(turning * motions));
        }
        self.of_moving(&product)
    }

    fn shift(
        &mut self,
        shift: f64,
        _lifting: &DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<bool, LinearError> {
        go_on()?;
        let NodalMotion {
            time_s,
            position,
            velocity,
            acceleration,
            ..
        } = self.motion;
        let motion = [&position[..], velocity, acceleration];
        self.shift = shift;
        self.letting_go = None;
        if !(self.tangent).form_tangent(*time_s, motion, [shift.recip(), 0.0]) {
            return Ok(false);
        }
        if self.held.is_empty() {
            return Ok(true);
        }
        let all = self.moving.len() + self.held.len();
        let mut units = DMatrix::zeros(all, self.held.len());
        for (column, &dof) in self.held.iter().enumerate() {
            units[(dof, column)] = 1.0;
        }
        let given = self.solve_free(units);
        let holding = given.select_rows(self.held).lu();
        let is_regular = holding.is_invertible();
        self.letting_go = Some((given, holding));
        Ok(is_regular)
    }

    fn solve(
        &mut self,
        forces: DMatrix<f64>,
        go_on: &mut GoOn<'_>,
    ) -> Result<DMatrix<f64>, LinearError> {
        go_on()?;
        let mut whole = self.solve_free(self.among_all(&forces));
        if let Some((given, holding)) = &self.letting_go
            && let Some(hold) = holding.solve(&whole.select_rows(self.held))
        {
            whole -= given * hold;
        }
        Ok(self.of_moving(&whole))
    }

    fn gross_work(&mut self, motion: &DVector<f64>) -> f64 {
        let motion = DMatrix::from_column_slice(motion.len(), 1, motion.as_slice());
        let whole = self.among_all(&motion);
        self.of.gross_work(&whole.column(0).into_owned())
    }
}
