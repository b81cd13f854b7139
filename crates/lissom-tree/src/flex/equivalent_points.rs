//! Few points that have the mass, the moments and the modal integrals of a body that is given by them alone.
//!
//! Position and shapes of a point make a vector $`y = (r, \psi_1, \dots, \psi_n)`$. With the mean $`\bar y`$ and the covariance
//! $`C = \int (y - \bar y)(y - \bar y)^T dm = FF^T`$ of rank $`k`$, and an orthogonal matrix $`Q`$ of size $`N = k + 1`$ whose first row is constant,
//! the points $`y_j = \bar y + \sqrt{N/m}\,\sum_i F_i Q_{i+1,j}`$ of mass $`m/N`$ each have the same sums: all of
//! $`\int r\,dm`$, $`\int rr^T dm`$, $`P`$, $`R`$ and $`S`$. They lie nowhere in particular; only their sums mean something. Those of the
//! second-order displacement are right too, as it is a combination of fields that $`y`$ tells of ([`SpannedField`]).

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::body::FlexibleBody;
use super::spanned::SpannedField;

/// Directions with less than this share of the largest scaled variance are rounding.
const FLAT: f64 = 1e-12;

/// One of the points.
pub(crate) struct EquivalentPoint {
    /// Its mass.
    pub(crate) mass: f64,
    /// Its place in the undeformed body.
    pub(crate) position: [f64; 3],
    /// Its displacement per unit of every coordinate.
    pub(crate) displacement: Vec<[f64; 3]>,
    /// Hessians of its second-order displacement along x, y and z, each n × n by rows; none if the body has none.
    pub(crate) second_order: Vec<f64>,
}

/// The points of a body.
pub(crate) fn equivalent_points(body: &FlexibleBody) -> Vec<EquivalentPoint> {
    let n = body.len();
    let size = 3 + 3 * n;
    let integrals = &body.integrals;
    let mean = DVector::from_fn(size, |i, _| match i {
        0..3 => body.first_moment[i] / body.mass,
        _ => integrals.first[i / 3 - 1][i % 3] / body.mass,
    });
    let mut moments = DMatrix::zeros(size, size);
    for i in 0..3 {
        for j in 0..3 {
            moments[(i, j)] = body.second_moment[i][j];
            for (alpha, r) in integrals.with_position.iter().enumerate() {
                moments[(i, 3 + 3 * alpha + j)] = r[i][j];
                moments[(3 + 3 * alpha + j, i)] = r[i][j];
            }
        }
    }
    for block in &integrals.products {
        let rows = block.values.chunks_exact(block.columns.len());
        for (values, alpha) in rows.zip(block.rows.clone()) {
            for (value, beta) in values.iter().zip(block.columns.clone()) {
                let row = 3 + 3 * alpha + block.row_component;
                moments[(row, 3 + 3 * beta + block.column_component)] = *value;
            }
        }
    }
    let covariance = moments - &mean * mean.transpose() * body.mass;
    let scale = covariance
        .diagonal()
        .map(|x| if x > 0.0 { x.sqrt() } else { 1.0 });
    let scaled = DMatrix::from_fn(size, size, |i, j| {
        covariance[(i, j)] / (scale[i] * scale[j])
    });
    let eigen = SymmetricEigen::new(scaled);
    let least = FLAT * eigen.eigenvalues.amax();
    let kept: Vec<usize> = (0..size)
        .filter(|&i| eigen.eigenvalues[i] > least)
        .collect();

    let count = kept.len() + 1;
    let points = count as f64;
    // the reflection that takes the first axis to the constant direction
    let constant = 1.0 / points.sqrt();
    let away = |i: usize| if i == 0 { 1.0 - constant } else { -constant };
    let square = 2.0 * (1.0 - constant);
    let orthogonal = |i: usize, j: usize| {
        let unit = if i == j { 1.0 } else { 0.0 };
        if square > 0.0 {
            unit - 2.0 * away(i) * away(j) / square
        } else {
            unit
        }
    };
    let apart = (points / body.mass).sqrt();
    let field = (body.second_order_integrals.as_ref()).map(|own| SpannedField::new(body, own));
    (0..count)
        .map(|j| {
            let mut y = DVector::zeros(size);
            for (row, &i) in kept.iter().enumerate() {
                let factor = apart * eigen.eigenvalues[i].sqrt() * orthogonal(row + 1, j);
                y += eigen.eigenvectors.column(i) * factor;
            }
            let y = mean.clone() + y.component_mul(&scale);
            let position = [y[0], y[1], y[2]];
            let displacement: Vec<[f64; 3]> = (0..n)
                .map(|alpha| std::array::from_fn(|i| y[3 + 3 * alpha + i]))
                .collect();
            EquivalentPoint {
                mass: body.mass / points,
                second_order: (field.as_ref())
                    .map_or_else(Vec::new, |own| own.at(position, &displacement)),
                position,
                displacement,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::equivalent_points;
    use crate::flex::{Damping, NodalBody, NodalMass};

    /// Rounding of an eigenproblem of twelve unknowns, relative to sums of the order of one.
    const ROUNDING: f64 = 1e-12;

    /// Second formulation: the points have the sums of the lumps that the integrals were taken over.
    #[test]
    fn points_have_the_integrals_of_the_body() {
        let numbers = |seed: u32| {
            // any numbers of the order of one
            let mut x = seed;
            move || {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(x) / f64::from(u32::MAX) - 0.5
            }
        };
        let mut random = numbers(7);
        let node = |random: &mut dyn FnMut() -> f64| NodalMass {
            position: std::array::from_fn(|_| random()),
            mass: 1.0 + random(),
            centre: [0.0; 3],
            inertia: [[0.0; 3]; 3],
            influence: std::array::from_fn(|row| {
                (0..3)
                    .map(|_| if row < 3 { 0.0 } else { random() })
                    .collect()
            }),
        };
        let lumps = NodalBody {
            coordinates: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
            nodes: (0..9).map(|_| node(&mut random)).collect(),
            stiffness: vec![1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0],
        };
        let body = lumps.reduce(&Damping::None).unwrap();
        let points = equivalent_points(&body);
        // nine lumps vary about their mean in eight of the twelve directions of position and shapes
        assert_eq!(points.len(), 9);
        let close =
            |sum: f64, wanted: f64| assert!((sum - wanted).abs() < ROUNDING, "{sum} {wanted}");
        close(points.iter().map(|p| p.mass).sum(), body.mass);
        for i in 0..3 {
            close(
                points.iter().map(|p| p.mass * p.position[i]).sum(),
                body.first_moment[i],
            );
            for j in 0..3 {
                let sum = points
                    .iter()
                    .map(|p| p.mass * p.position[i] * p.position[j])
                    .sum();
                close(sum, body.second_moment[i][j]);
                for (alpha, r) in body.integrals.with_position.iter().enumerate() {
                    let products = points
                        .iter()
                        .map(|p| p.mass * p.position[i] * p.displacement[alpha][j]);
                    close(products.sum(), r[i][j]);
                }
            }
        }
        for (index, &entry) in body.integrals.mass_matrix.iter().enumerate() {
            let (a, b) = (index / 3, index % 3);
            let dot = |p: &super::EquivalentPoint| -> f64 {
                (0..3)
                    .map(|i| p.displacement[a][i] * p.displacement[b][i])
                    .sum()
            };
            close(points.iter().map(|p| p.mass * dot(p)).sum(), entry);
        }
    }
}
