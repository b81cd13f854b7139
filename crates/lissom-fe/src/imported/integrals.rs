//! Modal integrals of a body that is given by matrices.

use nalgebra::{Matrix3, Vector3};

use super::Imported;
use crate::finite_elements::Field;
use crate::modes::{Mode, dot};
use lissom_spec::spec::ReducedSpec;

/// Pairs of axes of a symmetric matrix.
const SYMMETRIC: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

impl Imported<'_> {
    /// Mass properties, stiffness and modal integrals, and what share of the modal mass at most is not that of displacements.
    pub(super) fn integrals(
        &self,
        modes: &[Mode],
        moved: &[Vec<f64>],
        shapes: &[Field],
    ) -> (ReducedSpec, f64) {
        let n = modes.len();
        let rigid: Vec<Vec<f64>> = (0..6).map(|k| self.rigid_rows(k)).collect();
        let with_mass: Vec<Vec<f64>> = rigid.iter().map(|r| self.mass.times(r)).collect();
        let mass = (0..3).map(|k| dot(&rigid[k], &with_mass[k])).sum::<f64>() / 3.0;
        // ∫(e_j × r)_k dm
        let first = |j: usize, k: usize| dot(&rigid[3 + j], &with_mass[k]);
        let centre = Vector3::new(
            first(2, 1) - first(1, 2),
            first(0, 2) - first(2, 0),
            first(1, 0) - first(0, 1),
        );
        let centre = centre / (2.0 * mass);
        let about_origin = Matrix3::from_fn(|i, j| dot(&rigid[3 + i], &with_mass[3 + j]));
        let about_origin = (about_origin + about_origin.transpose()) * 0.5;
        let inertia = about_origin + centre.cross_matrix().pow(2) * mass;
        let stretched: Vec<Vec<f64>> = SYMMETRIC
            .iter()
            .map(|&[i, j]| self.mass.times(&self.stretch(i, j)))
            .collect();
        let position = |rows: &Vec<f64>| -> [[f64; 3]; 3] {
            // r × ψ
            let cross: [f64; 3] = std::array::from_fn(|k| dot(&with_mass[3 + k], rows));
            let mut integral = [[0.0; 3]; 3];
            for (&[i, j], own) in SYMMETRIC.iter().zip(&stretched) {
                let symmetric = dot(own, rows);
                integral[i][j] = symmetric;
                integral[j][i] = symmetric;
            }
            for [i, j, k] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
                integral[i][j] += 0.5 * cross[k];
                integral[j][i] -= 0.5 * cross[k];
            }
            integral
        };
        let lumps: Vec<Field> = shapes
            .iter()
            .map(|shape| self.times_field_mass(shape))
            .collect();
        let mut products = vec![vec![[[0.0; 3]; 3]; n]; n];
        let mut from_displacements: f64 = 0.0;
        for a in 0..n {
            for b in 0..n {
                let nodes = shapes[a].iter().zip(&lumps[b]);
                let mut product = [[0.0; 3]; 3];
                for (shape, lump) in nodes {
                    for i in 0..3 {
                        for j in 0..3 {
                            product[i][j] += shape[i] * lump[j];
                        }
                    }
                }
                let whole = if a == b { 1.0 } else { 0.0 };
                let lacking = whole - (0..3).map(|k| product[k][k]).sum::<f64>();
                for (k, row) in product.iter_mut().enumerate() {
                    row[k] += lacking / 3.0;
                }
                from_displacements = from_displacements.max(lacking.abs());
                products[a][b] = product;
            }
        }
        let diagonal = |entry: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
            let row = |i: usize| {
                (0..n)
                    .map(|j| if i == j { entry(i) } else { 0.0 })
                    .collect()
            };
            (0..n).map(row).collect()
        };
        let body = ReducedSpec {
            coordinates: Vec::new(),
            mass_kg: mass,
            center_of_mass_m: centre.into(),
            inertia_kg_m2: std::array::from_fn(|i| std::array::from_fn(|j| inertia[(i, j)])),
            stiffness: diagonal(&|mode| modes[mode].square),
            mass_matrix: diagonal(&|_| 1.0),
            displacement_integrals: (moved.iter())
                .map(|rows| std::array::from_fn(|k| dot(&with_mass[k], rows)))
                .collect(),
            position_integrals: moved.iter().map(position).collect(),
            product_integrals: products,
            nodes: Vec::new(),
            second_order: None,
            surface: None,
        };
        (body, from_displacements)
    }

    /// Displacements that stretch the body, $`\tfrac12(r_i e_j + r_j e_i)`$, without rotations.
    fn stretch(&self, i: usize, j: usize) -> Vec<f64> {
        let entry = |&(node, direction): &(usize, usize)| {
            let at = self.mesh.nodes[node];
            let along = |k: usize, other: usize| if direction == k { 0.5 * at[other] } else { 0.0 };
            along(j, i) + along(i, j)
        };
        self.unknowns.iter().map(entry).collect()
    }

    /// Product of a field with the mass between displacements, the mean over the three directions.
    fn times_field_mass(&self, field: &Field) -> Field {
        let mut product = vec![[0.0; 3]; field.len()];
        for (row, &(node, direction)) in self.unknowns.iter().enumerate() {
            for &(column, value) in self.mass.row(row) {
                let (other, other_direction) = self.unknowns[column];
                if direction < 3 && direction == other_direction {
                    for k in 0..3 {
                        product[node][k] += value / 3.0 * field[other][k];
                    }
                }
            }
        }
        product
    }
}
