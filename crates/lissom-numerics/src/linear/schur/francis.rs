//! Francis's iteration with two shifts on a matrix in Hessenberg form.
//!
//! Deflation after Ahues & Tisseur (LAPACK Working Note 122), and the same for blocks of two, shifts and exceptional shifts as in LAPACK's
//! `dlahqr`, blocks brought to standard form as in `dlanv2`.

use nalgebra::DMatrix;

/// Sweeps allowed for an eigenvalue; two or three are usual.
const SWEEPS: usize = 60;
/// After so many sweeps without an eigenvalue the shifts are changed, which breaks cycles.
const EXCEPTIONAL: usize = 10;

/// A reflection $`1 - \tau vv^T`$ of two or three neighbouring coordinates, with $`v_1 = 1`$.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reflection {
    tau: f64,
    v: [f64; 2],
    /// Number of coordinates.
    count: usize,
}

impl Reflection {
    /// Takes a vector to its first direction; also the length that it then has there.
    pub(super) fn of(x: [f64; 3], count: usize) -> (Self, f64) {
        let scale = x[..count].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let rest = x[1..count]
            .iter()
            .fold(0.0_f64, |most, x| most.max(x.abs()));
        if rest == 0.0 {
            let none = Self {
                tau: 0.0,
                v: [0.0; 2],
                count,
            };
            return (none, x[0]);
        }
        let x = x.map(|x| x / scale);
        let length = x[..count].iter().map(|x| x * x).sum::<f64>().sqrt();
        let beta = -length.copysign(x[0]);
        let below = x[0] - beta;
        let reflection = Self {
            tau: (beta - x[0]) / beta,
            v: [x[1] / below, if count > 2 { x[2] / below } else { 0.0 }],
            count,
        };
        (reflection, beta * scale)
    }

    /// Reflects rows from `row` on in some columns.
    pub(super) fn rows(
        &self,
        matrix: &mut DMatrix<f64>,
        row: usize,
        columns: std::ops::Range<usize>,
    ) {
        let stride = matrix.nrows();
        let [v2, v3] = self.v;
        let data = matrix.as_mut_slice();
        for column in columns {
            let at = column * stride + row;
            let x = &mut data[at..at + self.count];
            if let [a, b, c] = x {
                let sum = self.tau * (*a + v2 * *b + v3 * *c);
                *a -= sum;
                *b -= sum * v2;
                *c -= sum * v3;
            } else if let [a, b] = x {
                let sum = self.tau * (*a + v2 * *b);
                *a -= sum;
                *b -= sum * v2;
            }
        }
    }

    /// Reflects columns from `column` on in the first `rows` rows.
    pub(super) fn columns(&self, matrix: &mut DMatrix<f64>, column: usize, rows: usize) {
        let stride = matrix.nrows();
        let [v2, v3] = self.v;
        let data = &mut matrix.as_mut_slice()[column * stride..(column + self.count) * stride];
        let (first, rest) = data.split_at_mut(stride);
        let (second, third) = rest.split_at_mut(stride);
        if self.count == 3 {
            for ((a, b), c) in first[..rows].iter_mut().zip(second).zip(third) {
                let sum = self.tau * (*a + v2 * *b + v3 * *c);
                *a -= sum;
                *b -= sum * v2;
                *c -= sum * v3;
            }
        } else {
            for (a, b) in first[..rows].iter_mut().zip(second) {
                let sum = self.tau * (*a + v2 * *b);
                *a -= sum;
                *b -= sum * v2;
            }
        }
    }
}

/// Two shifts, real or conjugate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shifts {
    /// Real parts.
    pub(super) real: [f64; 2],
    /// Imaginary part of the first, and with the other sign of the second.
    pub(super) imaginary: f64,
}

/// The first column of $`(H - s_1)(H - s_2)`$ but for its length, for a Hessenberg matrix that begins at a place. Differences are taken
/// first: near equal eigenvalues they are all that counts.
pub(super) fn first_column(h: &DMatrix<f64>, at: usize, shifts: Shifts) -> [f64; 3] {
    let (a, b, c, d) = (
        h[(at, at)],
        h[(at, at + 1)],
        h[(at + 1, at)],
        h[(at + 1, at + 1)],
    );
    let e = h[(at + 2, at + 1)];
    let [first, second] = shifts.real.map(|shift| a - shift);
    let other = d - shifts.real[1];
    let scale = second.abs() + shifts.imaginary.abs() + c.abs();
    if scale == 0.0 {
        return [0.0; 3];
    }
    let below = c / scale;
    [
        below * b + first * (second / scale) + shifts.imaginary * (shifts.imaginary / scale),
        below * (first + other),
        below * e,
    ]
}

/// Whether the entry below the diagonal in a row is rounding.
pub(super) fn negligible(h: &DMatrix<f64>, row: usize) -> bool {
    let below = h[(row, row - 1)].abs();
    if below <= f64::MIN_POSITIVE / f64::EPSILON {
        return true;
    }
    let (before, own) = (h[(row - 1, row - 1)], h[(row, row)]);
    let above = h[(row - 1, row)].abs();
    if below <= f64::EPSILON * (before.abs() + own.abs()) {
        let (most, least) = (below.max(above), below.min(above));
        let apart = (before - own).abs();
        let (large, small) = (own.abs().max(apart), own.abs().min(apart));
        let sum = large + most;
        let product = least * (most / sum);
        if product <= f64::EPSILON * (small * (large / sum))
            || product <= f64::MIN_POSITIVE / f64::EPSILON
        {
            return true;
        }
    }
    // oscillators without damping have a diagonal of rounding: their size stands beside it, and those of one frequency are
    // as far apart as rounding leaves them
    let beside = |i: usize| h[(i + 1, i)].abs().sqrt() * h[(i, i + 1)].abs().sqrt();
    let [mut left, mut right] = [before.abs(), own.abs()];
    if row > 1 {
        left += beside(row - 2);
    }
    if row + 1 < h.nrows() {
        right += beside(row);
    }
    let negligible = f64::EPSILON * left.min(right);
    let apart = (left - right).abs().max(f64::EPSILON * (left + right));
    below <= negligible && below * above <= negligible * apart
}

/// Brings a matrix in Hessenberg form to real Schur form, and the product of the rotations to `vectors`; false if it does not
/// converge.
pub(super) fn francis(h: &mut DMatrix<f64>, vectors: &mut DMatrix<f64>) -> bool {
    let mut high = h.nrows();
    while high > 0 {
        let mut sweep = 0;
        loop {
            let mut low = high - 1;
            while low > 0 && !negligible(h, low) {
                low -= 1;
            }
            if low > 0 {
                h[(low, low - 1)] = 0.0;
            }
            if low + 2 >= high {
                if low + 2 == high {
                    standardize(h, vectors, low);
                }
                high = low;
                break;
            }
            sweep += 1;
            if sweep > SWEEPS {
                return false;
            }
            let shifts = shifts(h, low, high, sweep);
            double_sweep(h, vectors, low, high, shifts);
        }
    }
    true
}

/// Two shifts for the block of rows from `low` to before `high`.
fn shifts(h: &DMatrix<f64>, low: usize, high: usize, sweep: usize) -> Shifts {
    let last = high - 1;
    let (a, b, c, d) = if sweep.is_multiple_of(2 * EXCEPTIONAL) {
        let near = h[(last, last - 1)].abs() + h[(last - 1, last - 2)].abs();
        let own = 0.75 * near + h[(last, last)];
        (own, -0.4375 * near, near, own)
    } else if sweep.is_multiple_of(EXCEPTIONAL) {
        let near = h[(low + 1, low)].abs() + h[(low + 2, low + 1)].abs();
        let own = 0.75 * near + h[(low, low)];
        (own, -0.4375 * near, near, own)
    } else {
        (
            h[(last - 1, last - 1)],
            h[(last - 1, last)],
            h[(last, last - 1)],
            h[(last, last)],
        )
    };
    let half = 0.5 * (a - d);
    let square = half * half + b * c;
    if square < 0.0 {
        return Shifts {
            real: [d + half; 2],
            imaginary: (-square).sqrt(),
        };
    }
    // of real ones the nearer to the corner, twice
    let step = half + square.sqrt().copysign(half);
    let near = if step == 0.0 { d } else { d - b * c / step };
    Shifts {
        real: [near; 2],
        imaginary: 0.0,
    }
}

/// One sweep with two shifts over the rows from `low` to before `high`.
fn double_sweep(
    h: &mut DMatrix<f64>,
    vectors: &mut DMatrix<f64>,
    low: usize,
    high: usize,
    shifts: Shifts,
) {
    // begin below two neighbouring small entries, if there are such
    let mut start = high - 3;
    let mut column = first_column(h, start, shifts);
    while start > low {
        let near = h[(start - 1, start - 1)].abs()
            + h[(start, start)].abs()
            + h[(start + 1, start + 1)].abs();
        let rest = h[(start, start - 1)].abs() * (column[1].abs() + column[2].abs());
        if rest <= f64::EPSILON * column[0].abs() * near {
            break;
        }
        start -= 1;
        column = first_column(h, start, shifts);
    }
    for k in start..high - 1 {
        let count = 3.min(high - k);
        if k > start {
            column = [
                h[(k, k - 1)],
                h[(k + 1, k - 1)],
                if count == 3 { h[(k + 2, k - 1)] } else { 0.0 },
            ];
        }
        let (reflection, length) = Reflection::of(column, count);
        if k > start {
            h[(k, k - 1)] = length;
            for row in k + 1..k + count {
                h[(row, k - 1)] = 0.0;
            }
        } else if start > low {
            h[(k, k - 1)] *= 1.0 - reflection.tau;
        }
        let size = h.ncols();
        reflection.rows(h, k, k..size);
        reflection.columns(h, k, (k + 4).min(high));
        let rows = vectors.nrows();
        reflection.columns(vectors, k, rows);
    }
}

/// Brings a two-by-two block to standard form: triangular if its eigenvalues are real, else with equal entries on the diagonal.
fn standardize(h: &mut DMatrix<f64>, vectors: &mut DMatrix<f64>, at: usize) {
    let next = at + 1;
    let [a, b, c, d] = [h[(at, at)], h[(at, next)], h[(next, at)], h[(next, next)]];
    let ([a, b, c, d], [cos, sin]) = standard(a, b, c, d);
    for column in next + 1..h.ncols() {
        let (x, y) = (h[(at, column)], h[(next, column)]);
        h[(at, column)] = cos * x + sin * y;
        h[(next, column)] = cos * y - sin * x;
    }
    let turn = |matrix: &mut DMatrix<f64>, rows: usize| {
        for row in 0..rows {
            let (x, y) = (matrix[(row, at)], matrix[(row, next)]);
            matrix[(row, at)] = cos * x + sin * y;
            matrix[(row, next)] = cos * y - sin * x;
        }
    };
    turn(h, at);
    let rows = vectors.nrows();
    turn(vectors, rows);
    (h[(at, at)], h[(at, next)], h[(next, at)], h[(next, next)]) = (a, b, c, d);
}

/// Entries of a block in standard form, and cosine and sine of the rotation.
fn standard(a: f64, b: f64, c: f64, d: f64) -> ([f64; 4], [f64; 2]) {
    if c == 0.0 {
        return ([a, b, c, d], [1.0, 0.0]);
    }
    if b == 0.0 {
        return ([d, -c, 0.0, a], [0.0, 1.0]);
    }
    if a == d && (b > 0.0) != (c > 0.0) {
        return ([a, b, c, d], [1.0, 0.0]);
    }
    let apart = a - d;
    let half = 0.5 * apart;
    let most = b.abs().max(c.abs());
    let least = b.abs().min(c.abs()) * b.signum() * c.signum();
    let scale = half.abs().max(most);
    let square = half / scale * half + most / scale * least;
    if square >= 4.0 * f64::EPSILON {
        // real eigenvalues
        let root = half + (scale.sqrt() * square.sqrt()).copysign(half);
        let length = c.hypot(root);
        let entries = [d + root, b - c, 0.0, d - most / root * least];
        return (entries, [root / length, c / length]);
    }
    // conjugate ones, or real ones that are nearly equal: make the diagonal equal
    let sum = b + c;
    let length = sum.hypot(apart);
    let cos = (0.5 * (1.0 + sum.abs() / length)).sqrt();
    let sin = -(half / (length * cos)) * 1.0_f64.copysign(sum);
    let [aa, bb, cc, dd] = [
        a * cos + b * sin,
        -a * sin + b * cos,
        c * cos + d * sin,
        -c * sin + d * cos,
    ];
    let [a, b, c, d] = [
        aa * cos + cc * sin,
        bb * cos + dd * sin,
        -aa * sin + cc * cos,
        -bb * sin + dd * cos,
    ];
    let mean = 0.5 * (a + d);
    if c == 0.0 {
        return ([mean, b, 0.0, mean], [cos, sin]);
    }
    if b == 0.0 {
        return ([mean, -c, 0.0, mean], [-sin, cos]);
    }
    if (b > 0.0) != (c > 0.0) {
        return ([mean, b, c, mean], [cos, sin]);
    }
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let offset = (root_b * root_c).copysign(c);
    let scale = 1.0 / (b + c).abs().sqrt();
    let (own_cos, own_sin) = (root_b * scale, root_c * scale);
    (
        [mean + offset, b - c, 0.0, mean - offset],
        [cos * own_cos - sin * own_sin, cos * own_sin + sin * own_cos],
    )
}
