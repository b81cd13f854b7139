//! Splines through the rows of a table.

/// How a cubic spline ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// With a derivative of zero: a motion begins and ends at rest.
    AtRest,
    /// With a second derivative of zero: a curve begins and ends straight.
    Straight,
}

/// Second derivatives of the cubic spline through a table.
pub(crate) fn cubic(places: &[f64], values: &[f64], ends: Ends) -> Vec<f64> {
    let n = places.len().min(values.len());
    if n < 2 {
        return vec![0.0; n];
    }
    // tridiagonal system, forward elimination and back substitution
    let h = |i: usize| places[i + 1] - places[i];
    let slope = |i: usize| (values[i + 1] - values[i]) / h(i);
    let is_straight = |i: usize| ends == Ends::Straight && (i == 0 || i + 1 == n);
    let (mut diagonal, mut right) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        if is_straight(i) {
            diagonal[i] = 1.0;
            continue;
        }
        let before = if i > 0 { h(i - 1) } else { 0.0 };
        let after = if i + 1 < n { h(i) } else { 0.0 };
        diagonal[i] = 2.0 * (before + after);
        let rise = if i + 1 < n { slope(i) } else { 0.0 };
        let fall = if i > 0 { slope(i - 1) } else { 0.0 };
        right[i] = 6.0 * (rise - fall);
        if i > 0 && !is_straight(i - 1) {
            let factor = before / diagonal[i - 1];
            diagonal[i] -= factor * before;
            right[i] -= factor * right[i - 1];
        }
    }
    let mut curvature = vec![0.0; n];
    for i in (0..n).rev() {
        let next = if i + 1 < n && !is_straight(i) {
            h(i) * curvature[i + 1]
        } else {
            0.0
        };
        curvature[i] = (right[i] - next) / diagonal[i];
    }
    curvature
}

/// Value of a cubic spline with its first two derivatives in the interval that begins at row `i`.
pub(crate) fn cubic_at(
    places: &[f64],
    values: &[f64],
    curvature: &[f64],
    i: usize,
    place: f64,
) -> [f64; 3] {
    let h = places[i + 1] - places[i];
    let (a, b) = ((places[i + 1] - place) / h, (place - places[i]) / h);
    let (ca, cb) = (curvature[i], curvature[i + 1]);
    [
        a * values[i]
            + b * values[i + 1]
            + ((a * a * a - a) * ca + (b * b * b - b) * cb) * h * h / 6.0,
        (values[i + 1] - values[i]) / h
            + ((3.0 * b * b - 1.0) * cb - (3.0 * a * a - 1.0) * ca) * h / 6.0,
        a * ca + b * cb,
    ]
}

/// Coefficients, from the constant upwards, of the spline of fifth order from row to row, each in the time since its row: four derivatives
/// are continuous, and rate and acceleration are zero at the first and the last row.
///
/// It minimises $`\int \dddot x^2\,dt`$ over rates $`v`$ and accelerations $`a`$ at the rows between; what the minimum asks for is that third and
/// fourth derivative are continuous there, a positive definite system of blocks of two by two beside the diagonal.
pub(super) fn quintic(times: &[f64], values: &[f64]) -> Vec<[f64; 6]> {
    let n = times.len().min(values.len());
    if n < 2 {
        return Vec::new();
    }
    let h = |i: usize| times[i + 1] - times[i];
    let rise = |i: usize| values[i + 1] - values[i];
    // forward elimination, then back substitution; at the first and the last row everything is zero
    let mut inverses = vec![[[0.0; 2]; 2]; n];
    let mut found = vec![[0.0; 2]; n];
    for i in 1..n - 1 {
        let (b, c) = (h(i - 1), h(i));
        let mixed = 36.0 * (1.0 / (c * c) - 1.0 / (b * b));
        let mut diagonal = [
            [192.0 * (b.powi(-3) + c.powi(-3)), mixed],
            [mixed, 9.0 * (1.0 / b + 1.0 / c)],
        ];
        let mut right = [
            360.0 * (rise(i - 1) * b.powi(-4) + rise(i) * c.powi(-4)),
            60.0 * (rise(i) * c.powi(-3) - rise(i - 1) * b.powi(-3)),
        ];
        if i > 1 {
            let before = transpose(coupling(b));
            let factor = product(before, inverses[i - 1]);
            let taken = product(factor, transpose(before));
            let known = apply(factor, found[i - 1]);
            for row in 0..2 {
                right[row] -= known[row];
                for column in 0..2 {
                    diagonal[row][column] -= taken[row][column];
                }
            }
        }
        inverses[i] = inverse(diagonal);
        found[i] = right;
    }
    for i in (1..n - 1).rev() {
        let mut right = found[i];
        if i + 2 < n {
            let known = apply(coupling(h(i)), found[i + 1]);
            right = [right[0] - known[0], right[1] - known[1]];
        }
        found[i] = apply(inverses[i], right);
    }
    let piece = |i: usize| {
        let ([v, a], [w, b], h, rise) = (found[i], found[i + 1], h(i), rise(i));
        [
            values[i],
            v,
            0.5 * a,
            ((10.0 * rise / h - 6.0 * v - 4.0 * w) / h - 0.5 * (3.0 * a - b)) / h,
            ((-15.0 * rise / h + 8.0 * v + 7.0 * w) / h + 0.5 * (3.0 * a - 2.0 * b)) / (h * h),
            ((6.0 * rise / h - 3.0 * (v + w)) / h - 0.5 * (a - b)) / (h * h * h),
        ]
    };
    (0..n - 1).map(piece).collect()
}

/// What rate and acceleration at the end of a way do to the equations at its beginning.
fn coupling(h: f64) -> [[f64; 2]; 2] {
    [
        [168.0 / (h * h * h), -24.0 / (h * h)],
        [24.0 / (h * h), -3.0 / h],
    ]
}

fn transpose([[a, b], [c, d]]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    [[a, c], [b, d]]
}

fn product(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    a.map(|row| apply(transpose(b), row))
}

fn apply(a: [[f64; 2]; 2], x: [f64; 2]) -> [f64; 2] {
    a.map(|row| row[0] * x[0] + row[1] * x[1])
}

fn inverse([[a, b], [c, d]]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let determinant = a * d - b * c;
    [
        [d / determinant, -b / determinant],
        [-c / determinant, a / determinant],
    ]
}
