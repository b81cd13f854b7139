//! Eigenvalues of $`(\lambda^2 M + \lambda C + \bar K)\,x = 0`$ with all velocity terms, and whether what moves so grows.
//!
//! In the shapes of the symmetric part of the stiffness ([`Symmetric`]) the mass matrix is one and the stiffness $`\Omega^2`$ and a skew part. If
//! there is neither damping nor a gyroscopic or circulatory term, the eigenvalues are $`\pm\sqrt{-\omega^2}`$. Otherwise they are those of the
//! first-order form in $`u_i = d_i p_i`$ and $`w_i = \dot p_i`$ with $`d_i = |\omega_i|`$,
//!
//! ```math
//! \dot u_i = d_i w_i, \qquad \dot w_i = -\sum_j \hat K_{ij} u_j / d_j - \sum_j \hat C_{ij} w_j ,
//! ```
//!
//! time scaled by the highest frequency, modes by falling frequency so that the matrix is graded, balanced, by its real Schur form.
//! Undamped modes are then rotations with orthogonal vectors however far their frequencies are apart. States of controllers and actuators
//! ([`LoopStates`]) follow behind them.

use nalgebra::{Complex, DMatrix, DVector};

use super::balance::balance;
use super::error::{GoOn, LinearError};
use super::loops::LoopStates;
use super::schur::RealSchur;
use super::spectrum::skew_part;
use super::symmetric::Symmetric;

/// Velocity terms between two modes, as a share of the higher frequency, that are rounding.
const UNDAMPED: f64 = 1e-14;
/// A real part is positive if it is so many times larger than what rounding of the matrix, of `size` rows, may make of it:
/// $`\mathrm{size}\cdot\varepsilon\|A\|/|y^Hx|`$ with unit left and right vectors.
const CERTAIN: f64 = 100.0;
/// Left and right vectors that are so nearly orthogonal belong to eigenvalues that have met: rounding moves them by its root.
const COALESCED: f64 = 1e-4;

/// What becomes of a motion $`e^{\lambda t}`$.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It decays, or goes on as it is.
    None,
    /// Two eigenvalues have met: on one side of this state it goes on, on the other it grows.
    AtLimit,
    /// It grows, beyond what rounding may feign.
    Grows,
}

impl Growth {
    /// Of two motions together.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Grows, _) | (_, Self::Grows) => Self::Grows,
            (Self::AtLimit, _) | (_, Self::AtLimit) => Self::AtLimit,
            _ => Self::None,
        }
    }
}

/// One eigenvalue, with non-negative imaginary part.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) value: Complex<f64>,
    pub(super) growth: Growth,
    /// Shape in the coordinates of the symmetric modes.
    pub(super) shape: DVector<Complex<f64>>,
}

/// All eigenvalues.
#[derive(Debug)]
pub(super) struct Roots {
    /// With non-negative imaginary part, by rising absolute value.
    values: Vec<Complex<f64>>,
    /// Real part that is rounding for well-conditioned eigenvalues.
    rounding: f64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Mode of each eigenvalue.
    Uncoupled { mode: Vec<usize>, size: usize },
    Coupled {
        schur: Box<RealSchur>,
        /// Place of each eigenvalue on the diagonal.
        place: Vec<usize>,
        /// Length of each state of the first-order form.
        scales: DVector<f64>,
        /// How many modes there are.
        size: usize,
    },
}

impl Roots {
    /// With the skew part of the stiffness, if it has one, the velocity terms and states of controllers in the loop, all in the coordinates
    /// of the symmetric modes.
    ///
    /// # Errors
    /// When numbers are not finite, the iteration does not converge, or is stopped.
    pub(super) fn new(
        symmetric: &Symmetric,
        skew: Option<&DMatrix<f64>>,
        damping: &DMatrix<f64>,
        loops: Option<&LoopStates>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        if skew.is_none() && loops.is_none() && is_undamped(symmetric, damping) {
            return Ok(Self::uncoupled(symmetric));
        }
        Self::coupled(symmetric, skew, damping, loops, go_on)
    }

    fn uncoupled(symmetric: &Symmetric) -> Self {
        let size = symmetric.squares.len();
        let highest = symmetric.highest_square().sqrt();
        let mut found = Vec::with_capacity(size);
        for (mode, &square) in symmetric.squares.iter().enumerate() {
            let rate = square.abs().sqrt();
            if square >= 0.0 {
                found.push((Complex::new(0.0, rate), mode));
            } else {
                found.extend([-rate, rate].map(|rate| (Complex::new(rate, 0.0), mode)));
            }
        }
        let (values, mode) = sorted(found);
        Self {
            values,
            rounding: rounding(2 * size, highest),
            kind: Kind::Uncoupled { mode, size },
        }
    }

    fn coupled(
        symmetric: &Symmetric,
        skew: Option<&DMatrix<f64>>,
        damping: &DMatrix<f64>,
        loops: Option<&LoopStates>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Self, LinearError> {
        let squares = &symmetric.squares;
        let size = squares.len();
        let scale = (symmetric.highest_square().sqrt())
            .max(damping.amax())
            .max(loops.map_or(0.0, |loops| loops.own.amax()));
        let finite = |matrix: &DMatrix<f64>| matrix.iter().all(|x| x.is_finite());
        if !scale.is_finite() || !finite(damping) || !loops.is_none_or(|own| own.all(finite)) {
            return Err(LinearError::NoModes {
                reason: "a velocity term is not finite",
            });
        }
        // a motion without frequency is measured like a low one
        let least = f64::EPSILON.sqrt() * scale;
        let own = |mode: usize| squares[mode].abs().sqrt().max(least);
        // highest first
        let at = |mode: usize| 2 * (size - 1 - mode);
        let states = loops.map_or(0, |loops| loops.own.nrows());
        let whole = 2 * size + states;
        let mut matrix = DMatrix::zeros(whole, whole);
        for j in 0..size {
            matrix[(at(j), at(j) + 1)] = own(j) / scale;
            for i in 0..size {
                let diagonal = if i == j { squares[i] } else { 0.0 };
                let stiffness = diagonal + skew.map_or(0.0, |skew| skew[(i, j)]);
                matrix[(at(i) + 1, at(j))] = -stiffness / own(j) / scale;
                matrix[(at(i) + 1, at(j) + 1)] = -damping[(i, j)] / scale;
            }
        }
        for (state, loops) in (0..states).filter_map(|state| Some((state, loops?))) {
            let row = 2 * size + state;
            for j in 0..size {
                matrix[(at(j) + 1, row)] = loops.force[(j, state)] / scale;
                matrix[(row, at(j))] = loops.position[(state, j)] / own(j) / scale;
                matrix[(row, at(j) + 1)] = loops.rate[(state, j)] / scale;
            }
            for other in 0..states {
                matrix[(row, 2 * size + other)] = loops.own[(state, other)] / scale;
            }
        }
        let balanced = balance(&mut matrix);
        let norm = norm(&matrix) * scale;
        let scales = DVector::from_fn(2 * size, |i, _| {
            let mode = size - 1 - i / 2;
            balanced[i] / if i % 2 == 0 { own(mode) } else { 1.0 }
        });
        let schur = RealSchur::new(matrix, go_on)?;
        let found = schur.eigenvalues().into_iter().enumerate();
        let found = found.map(|(place, value)| (cleared(value * scale, whole, norm), place));
        let (values, place) = sorted(found.filter(|(value, _)| value.im >= 0.0).collect());
        Ok(Self {
            values,
            rounding: rounding(whole, norm),
            kind: Kind::Coupled {
                schur: Box::new(schur),
                place,
                scales,
                size,
            },
        })
    }

    /// Eigenvalues with non-negative imaginary part, by rising absolute value.
    pub(super) fn values(&self) -> &[Complex<f64>] {
        &self.values
    }

    /// One of them with its shape.
    pub(super) fn root(&self, index: usize) -> Root {
        let value = self.values[index];
        match &self.kind {
            Kind::Uncoupled { mode, size } => {
                let mut shape = DVector::zeros(*size);
                shape[mode[index]] = Complex::new(1.0, 0.0);
                let growth = judged(value, self.rounding, 1.0);
                Root {
                    value,
                    growth,
                    shape,
                }
            }
            Kind::Coupled {
                schur,
                place,
                scales,
                size,
            } => {
                let [right, left] = schur.eigenvectors(place[index]);
                let growth = judged(value, self.rounding, left.dotc(&right).norm());
                // position and rate say the same of a coordinate; the better scaled one has less rounding
                let shape = DVector::from_fn(*size, |mode, _| {
                    let at = 2 * (size - 1 - mode);
                    if scales[at] * value.norm() <= scales[at + 1] {
                        right[at] * scales[at]
                    } else {
                        right[at + 1] * scales[at + 1] / value
                    }
                });
                // states of controllers may change where nothing moves
                let length = Some(shape.norm()).filter(|&length| length > 0.0);
                Root {
                    value,
                    growth,
                    shape: shape / Complex::new(length.unwrap_or(1.0), 0.0),
                }
            }
        }
    }

    /// Those that grow.
    pub(super) fn growing(&self) -> Vec<Complex<f64>> {
        // rounding is least for unit products of vectors, so that most need not be looked at
        let may = (0..self.values.len()).filter(|&i| self.values[i].re > self.rounding);
        let grows = |i: &usize| self.root(*i).growth == Growth::Grows;
        may.filter(grows).map(|i| self.values[i]).collect()
    }
}

fn sorted(mut found: Vec<(Complex<f64>, usize)>) -> (Vec<Complex<f64>>, Vec<usize>) {
    found.sort_by(|a, b| a.0.norm().total_cmp(&b.0.norm()));
    found.into_iter().unzip()
}

/// An eigenvalue without parts that are rounding: all of it against the matrix, of `size` rows, its real part against its own
/// size, since the matrix is graded.
fn cleared(value: Complex<f64>, size: usize, norm: f64) -> Complex<f64> {
    if value.norm() <= f64::EPSILON * norm {
        Complex::new(0.0, 0.0)
    } else if value.re.abs() <= size as f64 * f64::EPSILON * value.norm() {
        Complex::new(0.0, value.im)
    } else {
        value
    }
}

fn rounding(size: usize, norm: f64) -> f64 {
    CERTAIN * size as f64 * f64::EPSILON * norm
}

fn judged(value: Complex<f64>, rounding: f64, product: f64) -> Growth {
    let uncertain = rounding / product;
    if value.re > uncertain {
        Growth::Grows
    } else if product < COALESCED && value.re.abs() <= uncertain {
        Growth::AtLimit
    } else {
        Growth::None
    }
}

/// At least the largest singular value: the root of the largest sums over a row and over a column.
fn norm(matrix: &DMatrix<f64>) -> f64 {
    let rows = matrix.row_iter().map(|row| row.lp_norm(1));
    let columns = matrix.column_iter().map(|column| column.lp_norm(1));
    (rows.fold(0.0, f64::max) * columns.fold(0.0, f64::max)).sqrt()
}

fn is_undamped(symmetric: &Symmetric, damping: &DMatrix<f64>) -> bool {
    let frequency: Vec<f64> = (symmetric.squares.iter())
        .map(|square| square.abs().sqrt())
        .collect();
    let size = frequency.len();
    (0..size).all(|j| {
        (0..size).all(|i| damping[(i, j)].abs() <= UNDAMPED * frequency[i].max(frequency[j]))
    })
}

/// Symmetric modes, skew part and eigenvalues of three matrices.
pub(super) fn solved(
    mass: &DMatrix<f64>,
    damping: &DMatrix<f64>,
    stiffness: &DMatrix<f64>,
    go_on: &mut GoOn<'_>,
) -> Result<(Symmetric, Option<DMatrix<f64>>, Roots), LinearError> {
    let symmetric = Symmetric::new(mass, stiffness, go_on)?;
    go_on()?;
    let skew = skew_part(&symmetric, stiffness);
    let damping = symmetric.project(damping);
    let roots = Roots::new(&symmetric, skew.as_ref(), &damping, None, go_on)?;
    Ok((symmetric, skew, roots))
}
