//! Inversion: what drives have to do beside their nominal efforts so that a marker on a flexible mechanism stays on its nominal path.
//!
//! Deviations $`\delta`$ from the nominal motion of rigid bodies obey $`M\ddot\delta + C\dot\delta + K\delta = f + B u`$, and the marker deviates by
//! $`Y\delta`$. With $`R`$ the motions that rigid bodies make, one per drive and with motor and joint of an elastic gear as one, and $`E`$ the others,
//! a deviation that leaves the marker where it is, as far as the joints can see to it, is
//!
//! ```math
//! \delta = T\eta + R g, \qquad T = E - R (Y R)^+ Y E, \qquad g = -(Y R)^+ e ,
//! ```
//!
//! $`\eta`$ being the deformations and $`e`$ what the marker deviates to second order. Drives do no work on $`L`$, $`L^T B = 0`$, so that the
//! deformations obey the internal dynamics
//!
//! ```math
//! L^T\big[M T\ddot\eta + (2 M\dot T + C T)\dot\eta + (M\ddot T + C\dot T + K T)\eta\big] = L^T\big[f - M \ddot d - C\dot d - K d\big],
//! \qquad d = R g ,
//! ```
//!
//! whose eigenvalues are the transmission zeros from the drives to the marker. Those that grow have no bounded solution but one that begins
//! before the motion does: deformations are bounded if what decays is at rest where the motion begins and what grows is at rest where it ends
//! \[Devasia, Chen & Paden 1996\]. Efforts are the shortest $`u`$ with $`B u = M\ddot\delta + C\dot\delta + K\delta - f`$. Without inertia and velocity terms what remains are
//! the quasi-static deflections.

mod boundary;

use nalgebra::{Complex, DMatrix, DVector};

use self::boundary::{Rows, solve, split};
use super::error::{LinearError, unwatched};
use super::schur::RealSchur;
use super::trajectory::{LinearizedTrajectory, Output, Point};

/// Singular values of what drives do below this part of the largest are rounding.
const ROUNDING: f64 = 1e-10;
/// Rounds in which what the marker deviates to second order is taken back; each leaves a part as large as the deviation itself.
const ROUNDS: usize = 3;
/// Instants closer than that part of the span are the two sides of a break.
const SAME_INSTANT: f64 = 1e-12;

/// How deformations are taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compensation {
    /// By the deflections that loads have at every instant, without vibration.
    QuasiStatic,
    /// By their dynamics, from rest where the motion begins; not for zeros that grow.
    Causal,
    /// By their dynamics, also before the motion begins.
    Stable,
}

/// Deviations and efforts that keep a marker on its path.
#[derive(Clone, Debug)]
pub struct Inversion {
    /// Deviations of the coordinates at every point.
    pub deviation: Vec<DVector<f64>>,
    /// Their rates; zero where deflections are quasi-static.
    pub rate: Vec<DVector<f64>>,
    /// What every drive does beside its nominal effort.
    pub effort: Vec<DVector<f64>>,
    /// What remains of the deviation of the marker, to second order.
    pub residual: Vec<DVector<f64>>,
    /// What deformations would move the marker by if the joints were on their nominal motion.
    pub deflection: Vec<DVector<f64>>,
    /// Transmission zeros from the drives to the marker at the first point.
    pub zeros: Vec<Complex<f64>>,
    /// Eigenvalues above which deformations are those that grow.
    pub growing_above: f64,
    /// Largest deflection of the marker at the first point that is not at rest there.
    pub unrest: f64,
}

/// Which motions of linearised equations are those of rigid bodies, and what drives them.
#[derive(Clone, Debug)]
pub struct Driven<'a> {
    /// Degrees of freedom with drives.
    pub dofs: &'a [usize],
    /// Motors behind elastic gears with their joints.
    pub geared: &'a [[usize; 2]],
    /// Inputs of the drives.
    pub inputs: &'a [usize],
    /// Number of the marker.
    pub marker: usize,
}

/// Matrices of one point.
struct Local<'a> {
    point: &'a Point,
    output: &'a Output,
    input: DMatrix<f64>,
    /// $`R (Y R)^+`$.
    follow: DMatrix<f64>,
    /// $`T`$.
    kept: DMatrix<f64>,
    /// $`L^T`$.
    unforced: DMatrix<f64>,
}

/// Columns at all points with their first two derivatives by time.
struct Along {
    orders: [Vec<DMatrix<f64>>; 3],
}

impl Along {
    fn new(times: &[f64], values: Vec<DMatrix<f64>>) -> Self {
        let rates = derivatives(times, &values);
        let accelerations = derivatives(times, &rates);
        Self {
            orders: [values, rates, accelerations],
        }
    }

    fn at(&self, point: usize) -> [&DMatrix<f64>; 3] {
        self.orders.each_ref().map(|values| &values[point])
    }
}

/// Deviations and efforts along a trajectory that keep a marker on its path.
///
/// # Errors
/// When there are none that are bounded.
pub fn invert(
    trajectory: &LinearizedTrajectory,
    driven: &Driven<'_>,
    compensation: Compensation,
) -> Result<Inversion, LinearError> {
    let points = trajectory.points();
    let dofs = points[0].linear.mass.nrows();
    let rigid = rigid_motions(dofs, driven);
    let elastic: Vec<usize> = (0..dofs).filter(|dof| !driven.dofs.contains(dof)).collect();
    let locals = (points.iter()).map(|point| Local::new(point, driven, &rigid, &elastic));
    let locals: Vec<Local<'_>> = locals.collect::<Result<_, _>>()?;
    let times: Vec<f64> = points.iter().map(|point| point.time).collect();
    let span = times[times.len() - 1] - times[0];
    // what grows by less than e over the motion may begin with it
    let growing_above = if span > 0.0 { 1.0 / span } else { 0.0 };
    let kept = locals.iter().map(|local| local.kept.clone()).collect();
    let kept = Along::new(&times, kept);
    let mut offset = vec![DMatrix::zeros(dofs, 1); points.len()];
    let mut round = 1;
    loop {
        let moved = Along::new(&times, offset);
        let still = compensation == Compensation::QuasiStatic;
        let internal = locals.iter().enumerate();
        let internal: Vec<Internal> = internal
            .map(|(k, local)| local.internal(kept.at(k), moved.at(k), still))
            .collect();
        let solution = Deformations::of(&internal, compensation, growing_above)?;
        let inversion = Inversion::of(&solution, &locals, [&kept, &moved], &elastic, still)?;
        if round == ROUNDS {
            return Ok(Inversion {
                growing_above,
                ..inversion
            });
        }
        round += 1;
        // what is of second order is taken back by the joints
        let results = inversion.deviation.iter().zip(&inversion.residual);
        let second = locals
            .iter()
            .zip(results)
            .map(|(local, (deviation, residual))| {
                let second = residual - &local.output.first * deviation;
                let back = -(&local.follow * second);
                DMatrix::from_column_slice(dofs, 1, back.as_slice())
            });
        offset = second.collect();
    }
}

impl Inversion {
    /// What deformations come to.
    fn of(
        solution: &Deformations,
        locals: &[Local<'_>],
        [kept, moved]: [&Along; 2],
        elastic: &[usize],
        still: bool,
    ) -> Result<Self, LinearError> {
        let mut all = Self {
            deviation: Vec::with_capacity(locals.len()),
            rate: Vec::with_capacity(locals.len()),
            effort: Vec::with_capacity(locals.len()),
            residual: Vec::with_capacity(locals.len()),
            deflection: Vec::with_capacity(locals.len()),
            zeros: solution.zeros.clone(),
            growing_above: 0.0,
            unrest: solution.unrest(&locals[0], elastic),
        };
        for (k, local) in locals.iter().enumerate() {
            let [place, rate, acceleration] = solution.at(k, elastic.len());
            let [t, t_rate, t_acceleration] = kept.at(k);
            let own = moved.at(k).map(|column| column.column(0));
            let deviation = t * &place + own[0];
            let (deviation_rate, deviation_acceleration) = if still {
                (DVector::zeros(t.nrows()), DVector::zeros(t.nrows()))
            } else {
                (
                    t * &rate + t_rate * &place + own[1],
                    t * acceleration + t_rate * &rate * 2.0 + t_acceleration * &place + own[2],
                )
            };
            let effort = local.effort([&deviation, &deviation_rate, &deviation_acceleration])?;
            all.effort.push(effort);
            let bent = local.output.first.select_columns(elastic) * &place;
            all.deflection.push(bent);
            all.residual.push(displacement(local.output, &deviation));
            all.deviation.push(deviation);
            all.rate.push(deviation_rate);
        }
        Ok(all)
    }
}

/// One column per drive.
fn rigid_motions(dofs: usize, driven: &Driven<'_>) -> DMatrix<f64> {
    let mut rigid = DMatrix::zeros(dofs, driven.dofs.len());
    for (column, &dof) in driven.dofs.iter().enumerate() {
        rigid[(dof, column)] = 1.0;
        for [motor, joint] in driven.geared {
            if *motor == dof {
                rigid[(*joint, column)] = 1.0;
            }
        }
    }
    rigid
}

/// What a marker moves by to second order.
fn displacement(output: &Output, deviation: &DVector<f64>) -> DVector<f64> {
    let mut moved = &output.first * deviation;
    for (axis, second) in output.second.iter().flatten().enumerate() {
        moved[axis] += 0.5 * deviation.dot(&(second * deviation));
    }
    moved
}

impl<'a> Local<'a> {
    fn new(
        point: &'a Point,
        driven: &Driven<'_>,
        rigid: &DMatrix<f64>,
        elastic: &[usize],
    ) -> Result<Self, LinearError> {
        let singular = |reason| LinearError::SingularInversion {
            time_s: point.time,
            reason,
        };
        let dofs = rigid.nrows();
        let output = &point.outputs[driven.marker];
        let by_joints = &output.first * rigid;
        let size = by_joints.norm();
        let follow = by_joints
            .pseudo_inverse(ROUNDING * size.max(f64::MIN_POSITIVE))
            .map_err(|_| singular("the drives do not move the marker"))?;
        let follow = rigid * follow;
        let mut kept = DMatrix::zeros(dofs, elastic.len());
        let bent = output.first.select_columns(elastic);
        for (column, &dof) in elastic.iter().enumerate() {
            kept[(dof, column)] = 1.0;
        }
        kept -= &follow * bent;
        let input = point.linear.input.select_columns(driven.inputs);
        // motions on which drives do no work, from a complete basis
        let factored = input.clone().col_piv_qr();
        let triangle = factored.r();
        let largest = triangle.diagonal().amax();
        let is_of_rank = |x: &&f64| x.abs() > ROUNDING * largest;
        let rank = triangle.diagonal().iter().filter(is_of_rank).count();
        if dofs - rank != elastic.len() {
            return Err(singular(
                "its independent coordinates are not those of the drives; give every degree of freedom of its joints a drive",
            ));
        }
        let mut basis = DMatrix::identity(dofs, dofs);
        factored.q_tr_mul(&mut basis);
        Ok(Self {
            point,
            output,
            input,
            follow,
            kept,
            unforced: basis.rows(rank, dofs - rank).into_owned(),
        })
    }

    /// The internal dynamics, of columns that keep the marker and one that moves it with their derivatives; `still` without inertia and velocity
    /// terms.
    fn internal(
        &self,
        kept: [&DMatrix<f64>; 3],
        moved: [&DMatrix<f64>; 3],
        still: bool,
    ) -> Internal {
        let linear = &self.point.linear;
        let stiffness = linear.stiffness();
        let needed = |[place, rate, acceleration]: [&DMatrix<f64>; 3]| {
            let static_part = &stiffness * place;
            if still {
                static_part
            } else {
                static_part + &linear.damping * rate + &linear.mass * acceleration
            }
        };
        let excitation = DVector::from_column_slice(&self.point.excitation);
        let by_rate = &linear.mass * kept[1] * 2.0 + &linear.damping * kept[0];
        Internal {
            mass: &self.unforced * &linear.mass * kept[0],
            damping: &self.unforced * by_rate,
            stiffness: &self.unforced * needed(kept),
            force: &self.unforced * (excitation - needed(moved).column(0)),
            time: self.point.time,
        }
    }

    /// What the drives do beside their nominal efforts for a deviation with its derivatives.
    fn effort(&self, deviation: [&DVector<f64>; 3]) -> Result<DVector<f64>, LinearError> {
        let linear = &self.point.linear;
        let [place, rate, acceleration] = deviation;
        let needed =
            &linear.mass * acceleration + &linear.damping * rate + linear.stiffness() * place
                - DVector::from_column_slice(&self.point.excitation);
        let shortest = self.input.clone().svd(true, true);
        let largest = shortest.singular_values.max();
        let effort = shortest.solve(&needed, ROUNDING * largest);
        effort.map_err(|_| LinearError::SingularInversion {
            time_s: self.point.time,
            reason: "the drives do not move it",
        })
    }
}

/// Internal dynamics at a point.
struct Internal {
    mass: DMatrix<f64>,
    damping: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    force: DVector<f64>,
    time: f64,
}

/// Deformations at all points.
struct Deformations {
    /// Places, then rates.
    states: Vec<DVector<f64>>,
    accelerations: Vec<DVector<f64>>,
    zeros: Vec<Complex<f64>>,
    /// Where the first point would be at rest.
    rest: DVector<f64>,
}

impl Deformations {
    fn of(
        internal: &[Internal],
        compensation: Compensation,
        growing_above: f64,
    ) -> Result<Self, LinearError> {
        if internal[0].force.is_empty() {
            return Ok(Self::none(internal.len()));
        }
        if compensation == Compensation::QuasiStatic {
            return Self::quasi_static(internal);
        }
        let solution = Self::dynamic(internal, growing_above)?;
        let growing = solution.zeros.iter().map(|zero| zero.re);
        let fastest = growing.fold(f64::NEG_INFINITY, f64::max);
        if compensation == Compensation::Causal && fastest > growing_above {
            return Err(LinearError::Growing { rate: fastest });
        }
        Ok(solution)
    }

    /// Of a mechanism that does not bend.
    fn none(points: usize) -> Self {
        Self {
            states: vec![DVector::zeros(0); points],
            accelerations: vec![DVector::zeros(0); points],
            zeros: Vec::new(),
            rest: DVector::zeros(0),
        }
    }

    fn quasi_static(internal: &[Internal]) -> Result<Self, LinearError> {
        let mut states = Vec::with_capacity(internal.len());
        for own in internal {
            let place = own.rest()?;
            let size = place.len();
            states.push(place.resize_vertically(2 * size, 0.0));
        }
        let size = internal[0].mass.nrows();
        Ok(Self {
            rest: states[0].clone(),
            accelerations: vec![DVector::zeros(size); internal.len()],
            states,
            zeros: Vec::new(),
        })
    }

    /// By the trapezoidal rule, which keeps what grows and what decays apart.
    fn dynamic(internal: &[Internal], growing_above: f64) -> Result<Self, LinearError> {
        let size = internal[0].mass.nrows();
        let forms = internal.iter().map(Internal::first_order);
        let forms: Vec<(DMatrix<f64>, DVector<f64>)> = forms.collect::<Result<_, _>>()?;
        let one = DMatrix::<f64>::identity(2 * size, 2 * size);
        let mut steps = Vec::with_capacity(internal.len());
        let mut rights = Vec::with_capacity(internal.len());
        for (pair, forms) in internal.windows(2).zip(forms.windows(2)) {
            let half = 0.5 * (pair[1].time - pair[0].time);
            steps.push([-&one - &forms[0].0 * half, &one - &forms[1].0 * half]);
            rights.push((&forms[0].1 + &forms[1].1) * half);
        }
        let (first, last) = (&internal[0], &internal[internal.len() - 1]);
        let at_end = |own: &Internal, form: &DMatrix<f64>, growing: usize| {
            let rest = own.rest()?.resize_vertically(2 * size, 0.0);
            let sides = split(form, growing_above).ok_or(LinearError::SingularInversion {
                time_s: own.time,
                reason: "its deformations neither grow nor decay",
            })?;
            let [decaying, grown] = sides;
            let matrix = if growing == 1 { grown } else { decaying };
            let right = &matrix * &rest;
            Ok((Rows { matrix, right }, rest))
        };
        let (begin, rest) = at_end(first, &forms[0].0, 0)?;
        let (end, _) = at_end(last, &forms[forms.len() - 1].0, 1)?;
        if begin.matrix.nrows() + end.matrix.nrows() != 2 * size {
            return Err(LinearError::SingularInversion {
                time_s: last.time,
                reason: "more of its deformations grow where it ends than where it begins, or fewer",
            });
        }
        let zeros = RealSchur::new(forms[0].0.clone(), &mut unwatched)?.eigenvalues();
        let states = solve(begin, &steps, &rights, &end).ok_or(LinearError::SingularInversion {
            time_s: first.time,
            reason: "its deformations have no bounded solution",
        })?;
        let accelerations = states.iter().zip(&forms);
        let accelerations = accelerations
            .map(|(x, (matrix, force))| (matrix * x + force).rows(size, size).into_owned());
        Ok(Self {
            accelerations: accelerations.collect(),
            states,
            zeros,
            rest,
        })
    }

    /// Places, rates and accelerations at a point.
    fn at(&self, point: usize, size: usize) -> [DVector<f64>; 3] {
        let state = &self.states[point];
        [
            state.rows(0, size).into_owned(),
            state.rows(size, size).into_owned(),
            self.accelerations[point].clone(),
        ]
    }

    /// How far what deflections move the marker by is off rest at the first point.
    fn unrest(&self, local: &Local<'_>, elastic: &[usize]) -> f64 {
        let off = (&self.states[0] - &self.rest)
            .rows(0, elastic.len())
            .into_owned();
        (local.output.first.select_columns(elastic) * off).norm()
    }
}

impl Internal {
    /// Where it stays.
    fn rest(&self) -> Result<DVector<f64>, LinearError> {
        let solved = self.stiffness.clone().lu().solve(&self.force);
        solved.ok_or(LinearError::SingularInversion {
            time_s: self.time,
            reason: "nothing holds its deformations",
        })
    }

    /// Rates of places and rates by these, and without them.
    fn first_order(&self) -> Result<(DMatrix<f64>, DVector<f64>), LinearError> {
        let size = self.mass.nrows();
        let factor = self.mass.clone().lu();
        let solved = |right: &DMatrix<f64>| {
            factor.solve(right).ok_or(LinearError::SingularInversion {
                time_s: self.time,
                reason: "the drives do not accelerate the marker at once",
            })
        };
        let mut matrix = DMatrix::zeros(2 * size, 2 * size);
        let mut force = DVector::zeros(2 * size);
        matrix
            .view_mut((0, size), (size, size))
            .fill_with_identity();
        matrix
            .view_mut((size, 0), (size, size))
            .copy_from(&-solved(&self.stiffness)?);
        matrix
            .view_mut((size, size), (size, size))
            .copy_from(&-solved(&self.damping)?);
        let pushed = DMatrix::from_column_slice(size, 1, self.force.as_slice());
        force
            .rows_mut(size, size)
            .copy_from(&solved(&pushed)?.column(0));
        Ok((matrix, force))
    }
}

/// Derivatives by time of what is known at instants, of second order, from neighbours that are other instants.
fn derivatives(times: &[f64], of: &[DMatrix<f64>]) -> Vec<DMatrix<f64>> {
    let last = times.len() - 1;
    let same = SAME_INSTANT * (times[last] - times[0]).abs();
    let before = |from: usize| (0..from).rev().find(|&k| times[from] - times[k] > same);
    let after = |from: usize| (from + 1..=last).find(|&k| times[k] - times[from] > same);
    (0..=last)
        .map(|k| {
            // two others: one on either side, or both on one
            let (a, b) = match (before(k), after(k)) {
                (Some(a), Some(b)) => (a, b),
                (None, Some(b)) => (b, after(b).unwrap_or(b)),
                (Some(a), None) => (a, before(a).unwrap_or(a)),
                (None, None) => return DMatrix::zeros(of[k].nrows(), of[k].ncols()),
            };
            let [p, q] = [times[a] - times[k], times[b] - times[k]];
            let [to_a, to_b] = [(&of[a] - &of[k]) / p, (&of[b] - &of[k]) / q];
            if a == b {
                to_a
            } else {
                (to_a * q - to_b * p) / (q - p)
            }
        })
        .collect()
}
