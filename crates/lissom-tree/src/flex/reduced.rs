//! [`ReducedBody`]: a body of any shape by its modal integrals, whatever program they come from.

use nalgebra::DMatrix;

use super::body::{FlexibleBody, ModalIntegrals, Node, RigidMotions};
use super::damping::Damping;
use super::error::FlexError;
use super::integrals::{MassProperties, product_blocks};
use super::second_order::SecondOrderField;
use super::symmetric::{symmetrise, symmetrised};

/// Integrals of a sum over the mass at every entry of [`SecondOrderIntegrals::sums`]: three of the displacement, nine of
/// its products with the position.
pub(crate) const SUMS: usize = 12;

/// A body reduced to elastic coordinates by somebody else.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedBody {
    /// Name of every elastic coordinate.
    pub coordinates: Vec<String>,
    /// Mass in kilograms.
    pub mass: f64,
    /// `∫ r dm`.
    pub first_moment: [f64; 3],
    /// `∫ r rᵀ dm`.
    pub second_moment: [[f64; 3]; 3],
    /// Stiffness matrix, n × n by rows, symmetric.
    pub stiffness: Vec<f64>,
    /// Mass matrix of the elastic coordinates, n × n by rows, symmetric.
    pub mass_matrix: Vec<f64>,
    /// $`\int \psi_\alpha\,dm`$.
    pub first: Vec<[f64; 3]>,
    /// $`\int r\,\psi_\alpha^T\,dm`$.
    pub with_position: Vec<[[f64; 3]; 3]>,
    /// $`\int \psi_\alpha\,\psi_\beta^T\,dm`$, n × n by rows.
    pub products: Vec<[[f64; 3]; 3]>,
    /// Where joints, payloads and markers may sit. With `second_order`, each holds the n × n Hessians of its displacement
    /// (x, y, z) and of its rotation vector, one after the other.
    pub nodes: Vec<Node>,
    /// Integrals of the second-order displacement.
    pub second_order: Option<SecondOrderIntegrals>,
}

/// Integrals over the mass of the second-order displacement $`r_2 = \tfrac12\sum h_{\alpha\beta}\eta_\alpha\eta_\beta`$ of a body of any shape.
///
/// They are all that the kinetic energy needs of $`r_2`$ up to its products with the motion of the undeformed body and with the
/// linear field,
///
/// ```math
/// \Delta T = \int (v + \omega\times r)\cdot(\dot r_2 + \omega\times r_2)\,dm + \int \dot r_1\cdot\dot r_2\,dm .
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrderIntegrals {
    /// For every α and β, by rows: the three $`\int h_k\,dm`$, then the nine $`\int r_i h_k\,dm`$, i by rows.
    pub sums: Vec<[f64; SUMS]>,
    /// $`\int \psi_\gamma\cdot h_{\alpha\beta}\,dm`$: n matrices by rows, one for every γ.
    pub with_shapes: Vec<f64>,
}

impl SecondOrderIntegrals {
    /// Whether nothing is said of accelerations that grow with the position, as those of rotation do.
    pub fn know_no_rotation(&self) -> bool {
        let mut with_position = self.sums.iter().flat_map(|sums| &sums[3..]);
        with_position.all(|&sum| sum == 0.0)
    }
}

impl ReducedBody {
    /// Fixes a point mass to a node.
    pub fn add_point_mass(&mut self, node: usize, mass: f64) {
        let Node {
            position: r,
            displacement: shapes,
            second_order: hessians,
            ..
        } = &self.nodes[node];
        let n = self.coordinates.len();
        self.mass += mass;
        for i in 0..3 {
            self.first_moment[i] += mass * r[i];
            for j in 0..3 {
                self.second_moment[i][j] += mass * r[i] * r[j];
            }
        }
        for (alpha, shape) in shapes.iter().enumerate() {
            for i in 0..3 {
                self.first[alpha][i] += mass * shape[i];
                for j in 0..3 {
                    self.with_position[alpha][i][j] += mass * r[i] * shape[j];
                }
            }
            for (beta, other) in shapes.iter().enumerate() {
                for i in 0..3 {
                    self.mass_matrix[alpha * n + beta] += mass * shape[i] * other[i];
                    for j in 0..3 {
                        self.products[alpha * n + beta][i][j] += mass * shape[i] * other[j];
                    }
                }
            }
        }
        let Some(integrals) = &mut self.second_order else {
            return;
        };
        for entry in 0..n * n {
            let h: [f64; 3] = std::array::from_fn(|k| hessians[k * n * n + entry]);
            for k in 0..3 {
                integrals.sums[entry][k] += mass * h[k];
                for i in 0..3 {
                    integrals.sums[entry][3 + 3 * i + k] += mass * r[i] * h[k];
                }
                for (gamma, shape) in shapes.iter().enumerate() {
                    integrals.with_shapes[gamma * n * n + entry] += mass * shape[k] * h[k];
                }
            }
        }
    }

    /// Makes symmetric what is symmetric but for rounded numbers: every reader of a matrix may then read either half.
    fn symmetrised(mut self) -> Result<Self, FlexError> {
        let n = self.coordinates.len();
        let quantity = |what: &'static str| move || what.to_owned();
        let squares = [
            (&mut self.stiffness, "stiffness matrix"),
            (&mut self.mass_matrix, "mass matrix"),
        ];
        for (matrix, what) in squares {
            symmetrise(n, matrix, 1, quantity(what))?;
        }
        // a difference of larger numbers, the inertia, whose readers know how far it is rounded
        let moments = self.second_moment;
        let mean = |i: usize, j: usize| 0.5 * (moments[i][j] + moments[j][i]);
        self.second_moment = std::array::from_fn(|i| std::array::from_fn(|j| mean(i, j)));
        // a matrix of three rows and columns for every coordinate
        let at = |row: usize, column: usize| (row / 3 * n + column / 3, row % 3, column % 3);
        let products = DMatrix::from_fn(3 * n, 3 * n, |row, column| {
            let (entry, i, j) = at(row, column);
            self.products[entry][i][j]
        });
        let products = symmetrised(&products, quantity("product integrals"))?;
        for row in 0..3 * n {
            for column in 0..3 * n {
                let (entry, i, j) = at(row, column);
                self.products[entry][i][j] = products[(row, column)];
            }
        }
        for node in &mut self.nodes {
            for hessian in node.second_order.chunks_exact_mut((n * n).max(1)) {
                symmetrise(n, hessian, 1, quantity("second-order motion of a node"))?;
            }
        }
        if let Some(own) = &mut self.second_order {
            let integrals = quantity("integrals of the second-order displacement");
            for sum in 0..SUMS {
                symmetrise(n, &mut own.sums.as_flattened_mut()[sum..], SUMS, integrals)?;
            }
            for matrix in own.with_shapes.chunks_exact_mut((n * n).max(1)) {
                symmetrise(n, matrix, 1, integrals)?;
            }
        }
        Ok(self)
    }

    /// The flexible body, with the same nodes.
    ///
    /// # Errors
    /// If masses and stiffness are not those of a body.
    pub fn reduce(self, damping: &Damping) -> Result<FlexibleBody, FlexError> {
        let own = self.symmetrised()?;
        let n = own.coordinates.len();
        let all = 0..n;
        let products = product_blocks(&own.products, &own.mass_matrix, std::slice::from_ref(&all));
        let properties = MassProperties {
            mass: own.mass,
            first_moment: own.first_moment,
            second_moment: own.second_moment,
            integrals: ModalIntegrals {
                first: own.first,
                with_position: own.with_position,
                products,
                mass_matrix: own.mass_matrix,
            },
        };
        let stiffness = DMatrix::from_row_slice(n, n, &own.stiffness);
        let mut body = FlexibleBody::with_properties(
            own.coordinates,
            properties,
            own.nodes,
            Vec::new(),
            &stiffness,
            RigidMotions::AreTheFrames,
        )?
        .damped(damping)?;
        body.second_order = own
            .second_order
            .as_ref()
            .map(|_| SecondOrderField::whole(n));
        body.second_order_integrals = own.second_order;
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two coordinates, whose matrices differ from their transposes as rounded numbers do.
    fn rounded(by: f64) -> ReducedBody {
        let third = 1.0 / 3.0;
        let node = Node {
            position: [1.0, 0.0, 0.0],
            displacement: vec![[0.0, 1.0, 0.0], [0.0, 0.2, 1.0]],
            rotation: vec![[0.0; 3]; 2],
            second_order: [[0.3, 0.1, 0.1 * (1.0 + by), 0.2]; 6].concat(),
        };
        let across = [[0.0; 3], [0.0, 0.1, 0.2], [0.0; 3]];
        let back = [[0.0; 3], [0.0, 0.1 * (1.0 + by), 0.0], [0.0, 0.2, 0.0]];
        let diagonal = [[0.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        ReducedBody {
            coordinates: vec!["one".to_owned(), "other".to_owned()],
            mass: 2.0,
            first_moment: [1.0, 0.0, 0.0],
            second_moment: [[third, by, 0.0], [0.0, third, 0.0], [0.0, 0.0, third]],
            stiffness: vec![8.0, 1.0, 1.0 + by, 9.0],
            mass_matrix: vec![2.0, 0.3, 0.3 * (1.0 + by), 2.0],
            first: vec![[0.0, 0.5, 0.0], [0.0, 0.1, 0.5]],
            with_position: vec![[[0.0; 3]; 3]; 2],
            products: vec![diagonal, across, back, diagonal],
            nodes: vec![node],
            second_order: Some(SecondOrderIntegrals {
                sums: vec![
                    [0.5; SUMS],
                    [0.1; SUMS],
                    [0.1 * (1.0 + by); SUMS],
                    [0.5; SUMS],
                ],
                with_shapes: [[0.3, 0.1, 0.1 * (1.0 + by), 0.2]; 2].concat(),
            }),
        }
    }

    /// By construction: what is rounded in a file becomes the mean of both halves everywhere, and what differs by more is refused, whichever it is.
    #[test]
    fn matrices_are_symmetric() {
        const ROUNDED: f64 = 4e-8;
        let body = rounded(ROUNDED).reduce(&Damping::None).unwrap();
        assert_eq!(body.stiffness[1], body.stiffness[2]);
        assert_eq!(body.stiffness[1], 0.5 * (1.0 + (1.0 + ROUNDED)));
        let masses = &body.integrals.mass_matrix;
        assert_eq!(masses[1], masses[2]);
        assert_eq!(body.second_moment[0][1], body.second_moment[1][0]);
        let hessian = &body.nodes[0].second_order;
        assert_eq!(hessian[1], hessian[2]);
        let integrals = body.second_order_integrals.as_ref().unwrap();
        assert_eq!(integrals.sums[1], integrals.sums[2]);
        assert_eq!(integrals.with_shapes[1], integrals.with_shapes[2]);
        let product = |row: usize, column: usize, i: usize, j: usize| -> f64 {
            let blocks = body.integrals.products.iter();
            let own = blocks.filter(|own| (own.row_component, own.column_component) == (i, j));
            let own = own.filter(|own| own.rows.contains(&row) && own.columns.contains(&column));
            own.map(|own| {
                let at = (row - own.rows.start) * own.columns.len() + column - own.columns.start;
                own.values[at]
            })
            .sum()
        };
        assert_eq!(product(0, 1, 1, 1), product(1, 0, 1, 1));
        assert_eq!(product(0, 1, 1, 2), product(1, 0, 2, 1));

        /// Makes one matrix unsymmetric.
        type Spoil = fn(&mut ReducedBody);
        let spoils: [(&str, Spoil); 6] = [
            ("stiffness", |own| own.stiffness[1] += 0.01),
            ("mass matrix", |own| own.mass_matrix[1] += 0.01),
            ("product", |own| own.products[1][1][2] += 0.01),
            ("motion of a node", |own| {
                own.nodes[0].second_order[1] += 0.01;
            }),
            ("second-order displacement", |own| {
                own.second_order.as_mut().unwrap().sums[1][3] += 0.01;
            }),
            ("second-order displacement", |own| {
                own.second_order.as_mut().unwrap().with_shapes[5] += 0.01;
            }),
        ];
        for (says, spoil) in spoils {
            let mut body = rounded(0.0);
            spoil(&mut body);
            let error = body.reduce(&Damping::None).unwrap_err();
            assert!(matches!(error, FlexError::NotSymmetric { .. }), "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
