//! [`SpannedField`]: the second-order displacement of a body that is given by integrals, as a field.
//!
//! Of $`h`$ its products with uniform displacements $`e_k`$, with those that grow with the position, $`r_ie_k`$, and with the shapes $`\psi_\gamma`$
//! are known, summed over the mass: $`b`$. One field among the combinations of these has the same products, the projection of $`h`$,
//!
//! ```math
//! r_2 = t + L\,r + \sum_\gamma\psi_\gamma\,a_\gamma , \qquad (t, L, a) = \tfrac12\sum_{\alpha\beta} G^{-1} b_{\alpha\beta}\,\eta_\alpha\eta_\beta ,
//! ```
//!
//! where $`G`$ are the products of the fields that are combined. All products of a motion $`r + \sum\psi_\gamma\eta_\gamma + r_2`$ follow from the
//! integrals of the body, so that its kinetic energy is a sum of squares. With the products $`b`$ alone that of a bent body with many coordinates is
//! not positive: some combination of joint and shapes moves little mass, and a neglected square is more than that.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::body::FlexibleBody;
use super::reduced::{SUMS, SecondOrderIntegrals};

/// Combinations of the fields, each of unit size, with less than this share of the largest square are none: the products of a file
/// carry six digits or so, and their squares are divided by it.
const FLAT: f64 = 1e-10;

/// The second-order displacement as a combination of fields: three that are uniform, nine that grow with the position, and the shapes.
#[derive(Clone, Debug)]
pub(crate) struct SpannedField {
    /// $`G`$, by rows.
    pub(crate) products: Vec<f64>,
    /// $`G^{-1}b_{\alpha\beta}`$ for every α and β, by rows.
    pub(crate) coefficients: Vec<f64>,
}

impl SpannedField {
    /// The field of `body` that has these integrals.
    pub(crate) fn new(body: &FlexibleBody, integrals: &SecondOrderIntegrals) -> Self {
        let n = body.len();
        let products = products(body);
        let inverse = inverse(&products, &told(n, integrals));
        let known = |alpha: usize, beta: usize| {
            let [one, other] = [alpha * n + beta, beta * n + alpha];
            DVector::from_fn(SUMS + n, |field, _| {
                let of = |entry: usize| match field.checked_sub(SUMS) {
                    None => integrals.sums[entry][field],
                    Some(gamma) => integrals.with_shapes[gamma * n * n + entry],
                };
                0.5 * (of(one) + of(other))
            })
        };
        let pairs = (0..n).flat_map(|alpha| (0..n).map(move |beta| (alpha, beta)));
        let coefficients = pairs.flat_map(|(alpha, beta)| {
            let found: Vec<f64> = (&inverse * known(alpha, beta)).iter().copied().collect();
            found
        });
        Self {
            coefficients: coefficients.collect(),
            products: products.iter().copied().collect(),
        }
    }

    /// Hessian of its displacement along x, then y and z, at a point of the undeformed body with these shapes.
    pub(crate) fn at(&self, position: [f64; 3], shapes: &[[f64; 3]]) -> Vec<f64> {
        let size = SUMS + shapes.len();
        let along = |k: usize| {
            self.coefficients.chunks_exact(size).map(move |own| {
                let grown: f64 = (0..3).map(|i| own[3 + 3 * i + k] * position[i]).sum();
                let shaped = own[SUMS..].iter().zip(shapes);
                own[k] + grown + shaped.map(|(factor, shape)| factor * shape[k]).sum::<f64>()
            })
        };
        (0..3).flat_map(along).collect()
    }
}

/// $`G`$ of a body.
fn products(body: &FlexibleBody) -> DMatrix<f64> {
    let (n, own) = (body.len(), &body.integrals);
    let mut products = DMatrix::zeros(SUMS + n, SUMS + n);
    let grown = |i: usize, k: usize| 3 + 3 * i + k;
    for k in 0..3 {
        products[(k, k)] = body.mass;
        for i in 0..3 {
            products[(k, grown(i, k))] = body.first_moment[i];
            for j in 0..3 {
                products[(grown(i, k), grown(j, k))] = body.second_moment[i][j];
            }
            for alpha in 0..n {
                products[(grown(i, k), SUMS + alpha)] = own.with_position[alpha][i][k];
            }
        }
        for alpha in 0..n {
            products[(k, SUMS + alpha)] = own.first[alpha][k];
        }
    }
    for alpha in 0..n {
        for beta in 0..n {
            products[(SUMS + alpha, SUMS + beta)] = own.mass_matrix[alpha * n + beta];
        }
    }
    products.fill_lower_triangle_with_upper_triangle();
    products
}

/// Whether anything is told of the products with each field: other programs know few of them, and a field that nothing is told of is not combined
/// (a shape that stretches a beam grows with the position, and products with one of the two alone would contradict each other).
fn told(n: usize, integrals: &SecondOrderIntegrals) -> Vec<bool> {
    let any = |field: usize| match field.checked_sub(SUMS) {
        None => integrals.sums.iter().any(|sums| sums[field] != 0.0),
        Some(gamma) => {
            let own = &integrals.with_shapes[gamma * n * n..(gamma + 1) * n * n];
            own.iter().any(|&product| product != 0.0)
        }
    };
    (0..SUMS + n).map(any).collect()
}

/// The inverse on all combinations of the `told` fields that move mass: those of a straight or flat body do not all do so.
fn inverse(products: &DMatrix<f64>, told: &[bool]) -> DMatrix<f64> {
    let scale = DVector::from_fn(told.len(), |field, _| {
        let square = products[(field, field)];
        if told[field] && square > 0.0 {
            square.sqrt().recip()
        } else {
            0.0
        }
    });
    let scaled = DMatrix::from_fn(products.nrows(), products.ncols(), |i, j| {
        products[(i, j)] * scale[i] * scale[j]
    });
    let eigen = SymmetricEigen::new(scaled);
    let least = FLAT * eigen.eigenvalues.amax();
    let inverted = eigen
        .eigenvalues
        .map(|square| if square > least { square.recip() } else { 0.0 });
    let scale = DMatrix::from_diagonal(&scale);
    let vectors = scale * eigen.eigenvectors;
    &vectors * DMatrix::from_diagonal(&inverted) * vectors.transpose()
}
