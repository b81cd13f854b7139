//! [`ReducedBody`]: a body of any shape by its modal integrals, whatever program they come from.

use nalgebra::DMatrix;

use super::body::{FlexibleBody, ModalIntegrals, Node, RigidMotions};
use super::damping::Damping;
use super::error::FlexError;
use super::integrals::{MassProperties, product_blocks};
use super::second_order::SecondOrderField;

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

    /// The flexible body, with the same nodes.
    ///
    /// # Errors
    /// If masses and stiffness are not those of a body.
    pub fn reduce(self, damping: &Damping) -> Result<FlexibleBody, FlexError> {
        let n = self.coordinates.len();
        let all = 0..n;
        let products = product_blocks(
            &self.products,
            &self.mass_matrix,
            std::slice::from_ref(&all),
        );
        let properties = MassProperties {
            mass: self.mass,
            first_moment: self.first_moment,
            second_moment: self.second_moment,
            integrals: ModalIntegrals {
                first: self.first,
                with_position: self.with_position,
                products,
                mass_matrix: self.mass_matrix,
            },
        };
        let stiffness = DMatrix::from_row_slice(n, n, &self.stiffness);
        let mut body = FlexibleBody::with_properties(
            self.coordinates,
            properties,
            self.nodes,
            Vec::new(),
            &stiffness,
            RigidMotions::AreTheFrames,
        )?
        .damped(damping)?;
        body.second_order = self
            .second_order
            .as_ref()
            .map(|_| SecondOrderField::whole(n));
        body.second_order_integrals = self.second_order;
        Ok(body)
    }
}
