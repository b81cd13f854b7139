//! Linearised equations of mechanisms with loops, in independent coordinates.
//!
//! Deviations that keep the closures, $`J\delta = 0`$, are $`\delta = N u`$ with $`u`$ some of them. Their rates follow from the
//! derivatives of the closures' own rates,
//!
//! ```math
//! J\dot\delta + J_1\delta = 0, \quad J\ddot\delta + J_2\dot\delta + J_3\delta = 0
//! \;\Rightarrow\;
//! \dot\delta = N\dot u + V u, \quad \ddot\delta = N\ddot u - P J_2 N\dot u - P(J_2 V + J_3 N)\,u, \quad V = -P J_1 N ,
//! ```
//!
//! with $`P`$ the change of dependent coordinates that changes the closures by one. The curvature of the closures acts
//! through their forces: $`r_q`$ of the tree loses $`\partial(J^T\lambda)/\partial q`$. The forces themselves do no work on $`N`$.

use nalgebra::{DMatrix, DVector};

use super::closures::{Closures, closures_at, curvature, tangent_closures};
use super::derivatives::Derivatives;
use super::{DIRECTIONS, LinearizeError, Linearizer, MotionState, Tangent, is_elastic};
use lissom_core::study::{Linearize as _, OutputOrder};
use lissom_numerics::linear::{Dependence, Linearization, Output, Point};
use lissom_tree::ClosureMethod;
use lissom_tree::closure::{Constraints, pivot_columns, row_rank};

/// How much more dependent coordinates may move than independent ones: the mass matrix loses twice as many of sixteen digits.
const ILL_CONDITIONED: f64 = 1e5;

/// How much more of that there may be than where the coordinates were chosen: matrices, which go as its square, are still
/// interpolated well between instants.
const GROWN: f64 = 10.0;

/// Stiffness that a motion meets, as a share of that of what resists or of what moves as swiftly, that is rounding.
const UNDEFORMING: f64 = 1e-10;

/// The choice of independent coordinates.
#[derive(Clone, Debug)]
pub(super) struct Independent {
    /// Independent equations of the closures.
    rows: Vec<usize>,
    /// Dependent entries of the state's velocities, and independent ones.
    dependent: Vec<usize>,
    entries: Vec<usize>,
    /// How much dependent coordinates move with independent ones where they were chosen.
    ratio: Option<f64>,
}

/// Coefficients in independent coordinates.
pub(super) struct Reduced {
    pub(super) linear: Linearization,
    /// $`N`$.
    pub(super) basis: DMatrix<f64>,
    /// $`P`$.
    change: DMatrix<f64>,
    /// $`V`$.
    velocity: DMatrix<f64>,
    /// Accelerations of all coordinates beside $`N\ddot u`$: by $`\dot u`$ and by $`u`$.
    acceleration: [DMatrix<f64>; 2],
}

impl Independent {
    /// Independent entries of the state's velocities.
    pub(super) fn entries(&self) -> &[usize] {
        &self.entries
    }

    /// Does not ask how much worse they have become.
    pub(super) fn tolerate(&mut self) {
        self.ratio = Some(f64::INFINITY);
    }

    /// Chooses at a state, of what is not held; `None` for a model without closures, or none that this could open.
    pub(super) fn choose(
        linearizer: &mut Linearizer<'_>,
        state: &MotionState,
        held: &[usize],
    ) -> Result<Option<Self>, LinearizeError> {
        let model = linearizer.model;
        if model.linkage.closures.is_empty() {
            return Ok(None);
        }
        let constraints = closures_at(linearizer, state);
        let free = linearizer.equations.free_velocities.clone();
        let entry = |(i, &at): (usize, &usize), row: &[f64]| {
            if held.contains(&i) { 0.0 } else { row[at] }
        };
        let matrix: Vec<f64> = (0..constraints.len())
            .flat_map(|row| {
                let row = constraints.row(row);
                let entries = free.iter().enumerate().map(|at| entry(at, row));
                entries.collect::<Vec<_>>()
            })
            .collect();
        let rows = row_rank(&matrix, free.len()).independent;
        if rows.is_empty() {
            return Ok(None);
        }
        let (elastic, joints): (Vec<usize>, Vec<usize>) = (0..free.len())
            .filter(|i| !held.contains(i))
            .partition(|&i| is_elastic(model, free[i]));
        let named = match &model.linkage.closure_method {
            ClosureMethod::JointSpace { independent } => independent.as_slice(),
            _ => &[],
        };
        let (named, joints): (Vec<usize>, Vec<usize>) =
            joints.into_iter().partition(|&i| named.contains(&free[i]));
        let driven = linearizer.driven_places();
        let (active, passive): (Vec<usize>, Vec<usize>) =
            joints.into_iter().partition(|i| driven.contains(i));
        let picked: Vec<&[f64]> = rows
            .iter()
            .map(|&row| &matrix[row * free.len()..(row + 1) * free.len()])
            .collect();
        let dependent = pivot_columns(&picked, &[&passive, &active, &elastic, &named]);
        let time_s = state.time_s;
        if dependent.len() < rows.len() {
            return Err(LinearizeError::Singular { time_s });
        }
        if let Some(&entry) = dependent.iter().find(|entry| named.contains(entry)) {
            let name = model.linkage.velocities[free[entry]].name.clone();
            return Err(LinearizeError::NotIndependent {
                coordinate: name,
                time_s,
            });
        }
        let n = linearizer.equations.state_velocities();
        let entries = (0..n)
            .filter(|i| !dependent.contains(i) && !held.contains(i))
            .collect();
        Ok(Some(Self {
            rows,
            dependent,
            entries,
            ratio: None,
        }))
    }

    /// The equations of a state of the tree in independent coordinates.
    pub(super) fn reduce(
        &mut self,
        linearizer: &mut Linearizer<'_>,
        state: &MotionState,
        whole: Point,
        order: OutputOrder,
    ) -> Result<Point, LinearizeError> {
        let derivatives = Derivatives {
            linear: whole.linear,
            residual: whole.excitation.iter().map(|x| -x).collect(),
        };
        let Reduced {
            linear,
            basis,
            change,
            velocity: rate,
            acceleration,
        } = self.reduce_linear(linearizer, state, &derivatives)?;
        let ratio = basis.amax();
        // the first state is the one at which they were chosen
        let chosen = *self.ratio.get_or_insert(ratio);
        if ratio > ILL_CONDITIONED || ratio > GROWN * chosen {
            return Err(LinearizeError::IllConditioned {
                time_s: state.time_s,
            });
        }
        let across = basis.transpose();
        let excitation = &across * DVector::from_vec(whole.excitation);
        let curved = match order {
            OutputOrder::First => None,
            OutputOrder::Second => Some(self.second_order(linearizer, state, &basis, &change)),
        };
        let along_closures = |output: &Output| {
            let (second, curved) = (output.second.as_ref()?, curved.as_ref()?);
            Some(std::array::from_fn(|component: usize| {
                let mut reduced = &across * &second[component] * &basis;
                for (i, second) in curved.iter().enumerate() {
                    let column = (output.first.row(component) * second).transpose();
                    for (j, value) in column.iter().enumerate() {
                        reduced[(i, j)] += value;
                    }
                }
                (&reduced + reduced.transpose()) * 0.5
            }))
        };
        let outputs = (whole.outputs.iter())
            .map(|output| Output {
                second: along_closures(output),
                first: &output.first * &basis,
                position: output.position,
            })
            .collect();
        let pick = |x: &[f64]| self.entries.iter().map(|&at| x[at]).collect();
        Ok(Point {
            sensors: (whole.sensors).reduced(&basis, &rate, acceleration.each_ref()),
            time: whole.time,
            position: pick(&whole.position),
            velocity: pick(&whole.velocity),
            linear,
            input: whole.input,
            excitation: excitation.as_slice().to_vec(),
            outputs,
            joints: whole.joints,
            actuation: whole.actuation,
            dependence: Some(Dependence { basis, rate }),
        })
    }

    /// The coefficients of a state of the tree in independent coordinates.
    pub(super) fn reduce_linear(
        &self,
        linearizer: &mut Linearizer<'_>,
        state: &MotionState,
        derivatives: &Derivatives,
    ) -> Result<Reduced, LinearizeError> {
        let whole = &derivatives.linear;
        let n = whole.mass.nrows();
        let singular = LinearizeError::Singular {
            time_s: state.time_s,
        };
        let [turning, turning_rate] =
            [&state.velocity, &state.acceleration].map(|rates| linearizer.quasi_rates(rates));
        let closures =
            Closures::of(linearizer, state, &self.rows).in_chart(&turning, &turning_rate);
        let block = DMatrix::from_fn(self.rows.len(), self.dependent.len(), |i, j| {
            closures.jacobian[(i, self.dependent[j])]
        });
        let factor = block.clone().lu();
        // P, and N with ones at the independent entries
        let solution = factor
            .solve(&DMatrix::identity(self.rows.len(), self.rows.len()))
            .filter(|inverse| inverse.iter().all(|x| x.is_finite()))
            .ok_or(singular.clone())?;
        let mut change = DMatrix::zeros(n, self.rows.len());
        for (i, &at) in self.dependent.iter().enumerate() {
            change.set_row(at, &solution.row(i));
        }
        let mut basis = DMatrix::zeros(n, self.entries.len());
        for (j, &at) in self.entries.iter().enumerate() {
            basis[(at, j)] = 1.0;
        }
        basis -= &change * (&closures.jacobian * &basis);
        // forces of the closures, which balance those on dependent coordinates
        let mut needed = DVector::from_column_slice(&derivatives.residual);
        if state.undeformed {
            let structural = linearizer.elastic_stiffness(state);
            needed += self.elastic_share(&structural, &whole.mass, &basis, &needed);
        }
        let residual = needed.select_rows(&self.dependent);
        let multipliers = block.transpose().lu().solve(&residual).ok_or(singular)?;
        let curvature = curvature(linearizer, state, &self.rows, multipliers.as_slice());
        // bodies carry these forces too
        let closing = closures.jacobian.transpose() * &multipliers;
        let tension = linearizer.tension_stiffness(state, closing.as_slice());

        let velocity = -(&change * (&closures.rate * &basis));
        let acceleration =
            -(&change * (&closures.bias_by_velocity * &velocity + &closures.acceleration * &basis));
        let by_rate = -(&change * (&closures.bias_by_velocity * &basis));
        let Linearization {
            mass,
            damping,
            structural,
            dynamic,
            geometric,
            input,
            loops: _,
        } = whole;
        let across = basis.transpose();
        let moved = &across * (damping * &velocity + mass * &acceleration);
        let bent = &across * (geometric + tension - &curvature) * &basis;
        let geometric = (&bent + bent.transpose()) * 0.5;
        let linear = Linearization {
            damping: &across * (damping * &basis + mass * &by_rate),
            structural: &across * structural * &basis,
            dynamic: &across * dynamic * &basis + moved + (bent - &geometric),
            geometric,
            input: &across * input,
            mass: &across * mass * &basis,
            loops: None,
        };
        Ok(Reduced {
            linear,
            basis,
            change,
            velocity,
            acceleration: [by_rate, acceleration],
        })
    }

    /// Forces with which bodies resist what is `needed` to hold them undeformed, once they have deformed under it.
    ///
    /// A beam in a sleeve and the support at its mouth both carry the beam: how much each of them does is for the beam's stiffness to
    /// say, however large it is. Undeformed, it would leave everything to the support. `structural` is the stiffness of bodies alone: springs
    /// and gears have their nominal torques by the nominal motion of their joints and motors.
    fn elastic_share(
        &self,
        structural: &DMatrix<f64>,
        mass: &DMatrix<f64>,
        basis: &DMatrix<f64>,
        needed: &DVector<f64>,
    ) -> DVector<f64> {
        let none = DVector::zeros(needed.len());
        // where no dependent coordinate resists, the closures carry all that is needed there
        if structural.select_rows(&self.dependent).amax() == 0.0 {
            return none;
        }
        let swiftness = |&at: &usize| structural[(at, at)] / mass[(at, at)];
        let swiftest = self.dependent.iter().map(swiftness).fold(0.0, f64::max);
        let stiffness = basis.transpose() * structural * basis;
        let inertia = (basis.transpose() * mass * basis).diagonal();
        // what has no stiffness of its own is measured by its inertia, so that rounding does not make it stiff
        let size = |(own, &at): (usize, &usize)| {
            if structural[(at, at)] > 0.0 {
                stiffness[(own, own)]
            } else {
                inertia[own] * swiftest
            }
        };
        let scale = (self.entries.iter().enumerate()).map(|own| size(own).sqrt().recip());
        let scale = DMatrix::from_diagonal(&DVector::from_iterator(self.entries.len(), scale));
        let stiffness = &scale * stiffness * &scale;
        if stiffness.iter().any(|x| !x.is_finite()) {
            return none;
        }
        let Ok(compliance) = stiffness.pseudo_inverse(UNDEFORMING) else {
            return none;
        };
        let scaled = basis * scale;
        -(structural * (&scaled * (compliance * (scaled.transpose() * needed))))
    }

    /// Second derivatives of all coordinates by the independent ones: one matrix per independent coordinate.
    fn second_order(
        &self,
        linearizer: &mut Linearizer<'_>,
        state: &MotionState,
        basis: &DMatrix<f64>,
        change: &DMatrix<f64>,
    ) -> Vec<DMatrix<f64>> {
        if linearizer.model.linkage.markers.is_empty() {
            return Vec::new();
        }
        let free = linearizer.equations.free_velocities.clone();
        let n = linearizer.equations.state_velocities();
        let model = linearizer.model;
        let mut constraints =
            Constraints::<Tangent>::new(&model.linkage.system, &model.linkage.closures);
        let mut moving = state.clone();
        let mut second = Vec::with_capacity(self.entries.len());
        for column in 0..self.entries.len() {
            moving.velocity.fill(0.0);
            for (i, &at) in free.iter().enumerate() {
                moving.velocity[at] = basis[(i, column)];
            }
            let mut rate = DMatrix::zeros(self.rows.len(), n);
            for first in (0..free.len()).step_by(DIRECTIONS) {
                let directions = DIRECTIONS.min(free.len() - first);
                linearizer.load_tangent(&moving);
                for slot in 0..directions {
                    linearizer.seed_position(state, first + slot, slot);
                }
                tangent_closures(linearizer, &mut constraints);
                for (i, &row) in self.rows.iter().enumerate() {
                    for slot in 0..directions {
                        rate[(i, first + slot)] = constraints.rate()[row].tangent[slot];
                    }
                }
            }
            second.push(-(change * (rate * basis)));
        }
        second
    }
}
