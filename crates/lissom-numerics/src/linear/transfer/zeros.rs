//! Transmission zeros: the $`s`$ at which inputs $`u\,e^{st}`$ move a mechanism and leave its outputs at rest.
//!
//! The first-order form, in coordinates of unit mass and time scaled so that its matrix is about one, is brought to the part that the
//! inputs reach and the outputs see (staircase of Rosenbrock, by reflections). As long as outputs do not contain inputs, those of them that do not are states that stay zero, and
//! the rates of these states are outputs in their place (Emami-Naeini & Van Dooren, *Automatica* 18 (1982) 415). What is left has
//! $`D`$ of full rank, by rows and, transposed, by columns, and its zeros are the eigenvalues of $`A - BD^{-1}C`$.

use nalgebra::{Complex, DMatrix, DVector};

use super::Transfer;
use crate::linear::balance::balance;
use crate::linear::error::{GoOn, LinearError};
use crate::linear::schur::RealSchur;

/// What is smaller is no coupling: all matrices are about one, and some tens of reflections leave rounding of 1e-15.
const COUPLED: f64 = 1e-11;

impl Transfer {
    /// The transmission zeros between all inputs and all outputs, by rising absolute value; of conjugate ones that with positive imaginary part.
    ///
    /// # Errors
    /// When the mass matrix is not definite, numbers are not finite, eigenvalues are not found, or the search is stopped.
    pub fn zeros(&self, go_on: &mut GoOn<'_>) -> Result<Vec<Complex<f64>>, LinearError> {
        let (system, rate) = System::of(self)?;
        let system = system.reached().transposed().reached().transposed();
        let system = system.regular().transposed().regular().transposed();
        let System { a, b, c, d } = system;
        let matrix = match d.clone().lu().solve(&c) {
            Some(gain) if d.nrows() > 0 => a - b * gain,
            _ => a,
        };
        eigenvalues(matrix, rate, go_on)
    }

    /// Poles of the first-order form.
    pub(super) fn first_order_poles(
        &self,
        go_on: &mut GoOn<'_>,
    ) -> Result<Vec<Complex<f64>>, LinearError> {
        let (system, rate) = System::of(self)?;
        eigenvalues(system.a, rate, go_on)
    }
}

/// Eigenvalues in a unit of rates, by rising absolute value; of conjugate ones that with positive imaginary part.
fn eigenvalues(
    mut matrix: DMatrix<f64>,
    rate: f64,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Complex<f64>>, LinearError> {
    balance(&mut matrix);
    let schur = RealSchur::new(matrix, go_on)?;
    let values = schur.eigenvalues().into_iter().map(|value| value * rate);
    let mut values: Vec<Complex<f64>> = values.filter(|value| value.im >= 0.0).collect();
    values.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
    Ok(values)
}

/// $`\dot x = Ax + Bu`$, $`y = Cx + Du`$.
#[derive(Clone, Debug)]
struct System {
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
}

impl System {
    /// In coordinates of unit mass and scaled time, inputs and outputs of unit length; also what its rates are multiplied by.
    fn of(transfer: &Transfer) -> Result<(Self, f64), LinearError> {
        let unsolvable = |reason| LinearError::NoZeros { reason };
        let factor = (transfer.mass.clone().cholesky())
            .ok_or(unsolvable("the mass matrix is not positive definite"))?;
        let lower = factor.l();
        let unsound = unsolvable("a number is not finite");
        let reduced = |matrix: &DMatrix<f64>| lower.solve_lower_triangular(matrix);
        let both = |matrix: &DMatrix<f64>| {
            let rows = reduced(matrix)?;
            Some(reduced(&rows.transpose())?.transpose())
        };
        let (Some(stiffness), Some(damping), Some(input)) = (
            both(&transfer.stiffness),
            both(&transfer.damping),
            reduced(&transfer.input),
        ) else {
            return Err(unsound);
        };
        let size = lower.nrows();
        let outputs = transfer.output.nrows();
        let seen = [0, size].map(|at| {
            let rows = transfer.output.columns(at, size).transpose();
            reduced(&rows).map(|rows| rows.transpose())
        });
        let [Some(positions), Some(rates)] = seen else {
            return Err(unsound);
        };
        let rate = stiffness.norm().sqrt().max(damping.norm());
        let rate = if rate > 0.0 { rate } else { 1.0 };
        let own = transfer.loop_state_count();
        let mut a = DMatrix::zeros(2 * size + own, 2 * size + own);
        a.view_mut((0, size), (size, size)).fill_with_identity();
        let below = -stiffness / (rate * rate);
        a.view_mut((size, 0), (size, size)).copy_from(&below);
        a.view_mut((size, size), (size, size))
            .copy_from(&(-damping / rate));
        if let Some(loops) = &transfer.loops {
            let parts = [&loops.position, &loops.rate].map(|rows| reduced(&rows.transpose()));
            let (Some(force), [Some(position), Some(velocity)]) = (reduced(&loops.force), parts)
            else {
                return Err(unsound);
            };
            for ((row, column), part) in [
                ((size, 2 * size), force / (rate * rate)),
                ((2 * size, 0), position.transpose() / rate),
                ((2 * size, size), velocity.transpose()),
                ((2 * size, 2 * size), &loops.own / rate),
            ] {
                a.view_mut((row, column), part.shape()).copy_from(&part);
            }
        }
        let mut b = DMatrix::zeros(2 * size + own, transfer.input.ncols());
        b.view_mut((size, 0), input.shape()).copy_from(&input);
        let mut c = DMatrix::zeros(outputs, 2 * size + own);
        c.view_mut((0, 0), positions.shape()).copy_from(&positions);
        c.view_mut((0, size), rates.shape())
            .copy_from(&(rates * rate));
        let of_loops = transfer.output.columns(2 * size, own);
        c.view_mut((0, 2 * size), of_loops.shape())
            .copy_from(&of_loops);
        // in scaled time the inputs are accelerations by the square of its unit
        let mut d = &transfer.feedthrough * (rate * rate);
        if own > 0 {
            // states of controllers come in any unit
            let scales = balance(&mut a);
            for (i, scale) in scales.iter().enumerate() {
                b.row_mut(i).scale_mut(1.0 / scale);
                c.column_mut(i).scale_mut(*scale);
            }
        }
        let finite = [&a, &b, &c, &d].map(|matrix| matrix.iter().all(|x| x.is_finite()));
        if finite.contains(&false) {
            return Err(unsound);
        }
        let unit = |length: f64| if length > 0.0 { 1.0 / length } else { 1.0 };
        for (mut column, mut direct) in b.column_iter_mut().zip(d.column_iter_mut()) {
            let unit = unit(column.norm());
            column *= unit;
            direct *= unit;
        }
        for (mut row, mut direct) in c.row_iter_mut().zip(d.row_iter_mut()) {
            let unit = unit(row.norm().hypot(direct.norm()));
            row *= unit;
            direct *= unit;
        }
        Ok((Self { a, b, c, d }, rate))
    }

    fn transposed(&self) -> Self {
        Self {
            a: self.a.transpose(),
            b: self.c.transpose(),
            c: self.b.transpose(),
            d: self.d.transpose(),
        }
    }

    /// Reflects states, with the first that a reflection moves.
    fn reflect_states(&mut self, reflections: &[Reflection]) {
        for reflection in reflections {
            reflection.rows(&mut self.a);
            reflection.columns(&mut self.a);
            reflection.rows(&mut self.b);
            reflection.columns(&mut self.c);
        }
    }

    /// The states that the inputs reach.
    fn reached(mut self) -> Self {
        let size = self.a.nrows();
        let mut reached = 0;
        let mut moved = self.b.clone();
        while reached < size {
            let (reflections, rank) = triangular(&moved, reached);
            if rank == 0 {
                break;
            }
            self.reflect_states(&reflections);
            let own = reached;
            reached += rank;
            moved = (self.a.view((reached, own), (size - reached, rank))).into_owned();
        }
        self.kept(0, reached)
    }

    /// Some of the states, the others left out.
    fn kept(&self, first: usize, count: usize) -> Self {
        Self {
            a: self.a.view((first, first), (count, count)).into_owned(),
            b: self.b.rows(first, count).into_owned(),
            c: self.c.columns(first, count).into_owned(),
            d: self.d.clone(),
        }
    }

    /// The same zeros with $`D`$ of full rank by rows.
    fn regular(mut self) -> Self {
        loop {
            let outputs = self.d.nrows();
            let (reflections, rank) = triangular(&self.d, 0);
            for reflection in &reflections {
                reflection.rows(&mut self.c);
                reflection.rows(&mut self.d);
            }
            if rank == outputs {
                return self;
            }
            // outputs without inputs: as many states as they are independent stay zero
            let without = self.c.rows(rank, outputs - rank).transpose();
            let (reflections, zero) = triangular(&without, 0);
            self.reflect_states(&reflections);
            let mut rest = self.kept(zero, self.a.nrows() - zero);
            let [c, d] = [&rest.c, &rest.d].map(|all| all.rows(0, rank).into_owned());
            rest.c = stacked(
                &c,
                &self.a.view((0, zero), (zero, rest.a.nrows())).into_owned(),
            );
            rest.d = stacked(&d, &self.b.rows(0, zero).into_owned());
            self = rest;
            if zero == 0 {
                return self;
            }
        }
    }
}

fn stacked(above: &DMatrix<f64>, below: &DMatrix<f64>) -> DMatrix<f64> {
    let rows = above.nrows();
    DMatrix::from_fn(rows + below.nrows(), above.ncols(), |i, j| {
        if i < rows {
            above[(i, j)]
        } else {
            below[(i - rows, j)]
        }
    })
}

/// A reflection $`1 - 2vv^T`$ of the coordinates from a place on.
struct Reflection {
    at: usize,
    unit: DVector<f64>,
}

impl Reflection {
    fn rows(&self, matrix: &mut DMatrix<f64>) {
        let mut part = matrix.rows_mut(self.at, self.unit.len());
        let sums = part.tr_mul(&self.unit);
        part.ger(-2.0, &self.unit, &sums, 1.0);
    }

    fn columns(&self, matrix: &mut DMatrix<f64>) {
        let mut part = matrix.columns_mut(self.at, self.unit.len());
        let sums = &part * &self.unit;
        part.ger(-2.0, &sums, &self.unit, 1.0);
    }
}

/// Reflections of the rows of a matrix, which are coordinates from `offset` on, that leave its first rows alone, as many as its rank: its columns
/// are taken by falling length.
fn triangular(matrix: &DMatrix<f64>, offset: usize) -> (Vec<Reflection>, usize) {
    let mut matrix = matrix.clone();
    let (rows, columns) = matrix.shape();
    let mut reflections = Vec::new();
    for step in 0..rows.min(columns) {
        let length = |column: usize| matrix.view((step, column), (rows - step, 1)).norm();
        let longest = (step..columns).max_by(|&i, &j| length(i).total_cmp(&length(j)));
        let Some(longest) = longest.filter(|&column| length(column) > COUPLED) else {
            break;
        };
        matrix.swap_columns(step, longest);
        let mut unit = matrix.column(step).rows(step, rows - step).into_owned();
        let length = unit.norm();
        unit[0] += length.copysign(unit[0]);
        unit.normalize_mut();
        let own = Reflection { at: step, unit };
        own.rows(&mut matrix);
        reflections.push(Reflection {
            at: offset + step,
            unit: own.unit,
        });
    }
    let rank = reflections.len();
    (reflections, rank)
}
