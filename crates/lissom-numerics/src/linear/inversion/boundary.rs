//! Linear equations of first order between boundary conditions at both ends.
//!
//! From point to point $`S_k x_k + R_k x_{k+1} = r_k`$, at the first point $`G_0 x_0 = g_0`$ and at the last the rest of the conditions. What
//! is known of a point, and the step from it, are brought to triangular form by one orthogonal transformation: its first rows give the
//! point by the next one, the others say what is known of the next one. So growing and decaying solutions are both kept in bounds
//! \[Ascher, Mattheij & Russell 1995, section 7.2\].

use nalgebra::{DMatrix, DVector};

/// Equations $`A x = b`$ of a point, or of two neighbouring ones.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// $`A`$.
    pub(super) matrix: DMatrix<f64>,
    /// $`b`$.
    pub(super) right: DVector<f64>,
}

/// The values at all points, of conditions at the first, equations of every step in the values before and after, and conditions at the last.
/// `None` where they determine none.
pub(super) fn solve(
    first: Rows,
    steps: &[[DMatrix<f64>; 2]],
    rights: &[DVector<f64>],
    last: &Rows,
) -> Option<Vec<DVector<f64>>> {
    let size = last.matrix.ncols();
    let mut known = first;
    let mut passed: Vec<[DMatrix<f64>; 2]> = Vec::with_capacity(steps.len());
    let mut given = Vec::with_capacity(steps.len());
    for ([before, after], right) in steps.iter().zip(rights) {
        let count = known.matrix.nrows();
        let mut own = DMatrix::zeros(count + size, size);
        own.rows_mut(0, count).copy_from(&known.matrix);
        own.rows_mut(count, size).copy_from(before);
        // of the next point, with the right side behind
        let mut next = DMatrix::zeros(count + size, size + 1);
        next.view_mut((count, 0), (size, size)).copy_from(after);
        next.view_mut((0, size), (count, 1)).copy_from(&known.right);
        next.view_mut((count, size), (size, 1)).copy_from(right);
        let factored = own.qr();
        factored.q_tr_mul(&mut next);
        let triangle = factored.r();
        passed.push([triangle, next.view((0, 0), (size, size)).into_owned()]);
        given.push(next.view((0, size), (size, 1)).column(0).into_owned());
        known = Rows {
            matrix: next.view((size, 0), (count, size)).into_owned(),
            right: next.view((size, size), (count, 1)).column(0).into_owned(),
        };
    }
    let count = known.matrix.nrows();
    let mut matrix = DMatrix::zeros(size, size);
    let mut right = DVector::zeros(size);
    matrix.rows_mut(0, count).copy_from(&known.matrix);
    matrix.rows_mut(count, size - count).copy_from(&last.matrix);
    right.rows_mut(0, count).copy_from(&known.right);
    right.rows_mut(count, size - count).copy_from(&last.right);
    let mut values = vec![matrix.lu().solve(&right)?];
    for ([triangle, next], right) in passed.iter().zip(&given).rev() {
        let after = &values[values.len() - 1];
        values.push(triangle.solve_upper_triangular(&(right - next * after))?);
    }
    values.reverse();
    Some(values)
}

/// Rows that span what a matrix maps its decaying and its growing solutions to: zero on the others. Those that grow no faster than
/// `rate` count as decaying. `None` where they cannot be told apart.
pub(super) fn split(matrix: &DMatrix<f64>, rate: f64) -> Option<[DMatrix<f64>; 2]> {
    /// Newton steps to the sign of a matrix, each of which squares what is off, after one for every factor of two between its eigenvalues.
    const MOST_STEPS: usize = 200;
    /// Change that is rounding, relative to the size.
    const ROUNDING: f64 = 1e-13;
    let size = matrix.nrows();
    let one = DMatrix::<f64>::identity(size, size);
    let mut sign = matrix - &one * rate;
    let mut done = size == 0;
    let mut before = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        if done {
            break;
        }
        let inverse = sign.clone().lu().solve(&one)?;
        // brings sizes near one first
        let scale = (inverse.norm() / sign.norm()).sqrt();
        let next = (&sign * scale + inverse / scale) * 0.5;
        let change = (&next - &sign).norm() / next.norm();
        // where rounding is larger than that it grows no smaller
        done = change < ROUNDING || (change < 1e-6 && change >= before);
        before = change;
        sign = next;
    }
    if !done || !sign.iter().all(|x| x.is_finite()) {
        return None;
    }
    let rows = |share: f64| {
        let projector = (&one + &sign * share) * 0.5;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the trace of a projector is its rank"
        )]
        let rank = projector.trace().round().max(0.0) as usize;
        let q = projector.transpose().col_piv_qr().q();
        q.columns(0, rank.min(size)).transpose()
    };
    let [decaying, growing] = [rows(-1.0), rows(1.0)];
    (decaying.nrows() + growing.nrows() == size).then_some([decaying, growing])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closed form: of $`\ddot x = \lambda^2 x + \lambda^2 s(t)`$ with $`s`$ a step at zero only one solution is bounded on both sides: $`-e^{\lambda t}/2`$ before,
    /// $`-1 + e^{-\lambda t}/2`$ after it; over 60 times the time in which others grow by e.
    #[test]
    fn bounded_solutions_are_found() {
        let (rate, span, count) = (3.0, 10.0, 4001);
        let step = 2.0 * span / f64::from(count - 1);
        let matrix = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, rate * rate, 0.0]);
        let [decaying, growing] = split(&matrix, 1e-3).unwrap();
        assert_eq!((decaying.nrows(), growing.nrows()), (1, 1));
        let one = DMatrix::<f64>::identity(2, 2);
        let steps: Vec<_> = (1..count)
            .map(|_| {
                [
                    -&one - &matrix * (0.5 * step),
                    &one - &matrix * (0.5 * step),
                ]
            })
            .collect();
        let rights: Vec<_> = (1..count)
            .map(|k| {
                let on = f64::from(u8::from((f64::from(k) - 0.5) * step > span));
                DVector::from_column_slice(&[0.0, rate * rate * on * step])
            })
            .collect();
        let resting = |matrix: DMatrix<f64>, place: f64| {
            let right = &matrix * DVector::from_column_slice(&[place, 0.0]);
            Rows { matrix, right }
        };
        let found = solve(
            resting(decaying, 0.0),
            &steps,
            &rights,
            &resting(growing, -1.0),
        )
        .unwrap();
        for (k, x) in found.iter().enumerate() {
            let time = k as f64 * step - span;
            let wanted = if time < 0.0 {
                -0.5 * (rate * time).exp()
            } else {
                -1.0 + 0.5 * (-rate * time).exp()
            };
            // a twelfth of the square of the step times the rate
            assert!(
                (x[0] - wanted).abs() < 0.1 * (rate * step).powi(2),
                "{time}: {}",
                x[0]
            );
        }
    }

    /// By hand: eigenvalues of every kind are counted to their side, those on the axis as decaying.
    #[test]
    fn eigenvalues_are_told_apart() {
        let mut matrix = DMatrix::zeros(5, 5);
        matrix[(0, 0)] = 50.0;
        matrix[(1, 1)] = -0.3;
        matrix[(2, 3)] = 40.0;
        matrix[(3, 2)] = -40.0;
        matrix[(4, 4)] = 2.0;
        matrix[(0, 4)] = 7.0;
        let [decaying, growing] = split(&matrix, 0.1).unwrap();
        assert_eq!((decaying.nrows(), growing.nrows()), (3, 2));
        // rows of one side vanish on the eigenvectors of the other
        let grown = DVector::from_column_slice(&[1.0, 0.0, 0.0, 0.0, 0.0]);
        assert!((&decaying * grown).norm() < 1e-12);
        let turning = DVector::from_column_slice(&[0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!((&growing * turning).norm() < 1e-12);
    }
}
