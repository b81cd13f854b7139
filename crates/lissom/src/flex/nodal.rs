//! [`NodalBody`]: nodes with mass and modal influence, the form of \[Jain & Rodriguez 1992\].

use nalgebra::{DMatrix, Matrix3};

use super::body::{FlexibleBody, MassNode, Node};
use super::damping::Damping;
use super::error::{FlexError, finite, not_negative};

/// Largest difference of mirrored entries of a symmetric matrix, relative to its largest entry: files
/// hold rounded numbers.
const ASYMMETRY: f64 = 1e-6;

/// Most negative principal second moment of a node, relative to the trace of its inertia, that rounding
/// in a file explains.
const NEGATIVE_MOMENT: f64 = 1e-5;

/// A body given by nodes that carry its mass, with the influence of every elastic coordinate on them.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalBody {
    /// Name of every elastic coordinate.
    pub coordinates: Vec<String>,
    /// The nodes.
    pub nodes: Vec<NodalMass>,
    /// Stiffness matrix, n × n by rows.
    pub stiffness: Vec<f64>,
}

/// A node with the rigid mass that it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalMass {
    /// Position in the undeformed body, in the body's frame.
    pub position: [f64; 3],
    /// Mass in kilograms; zero for a node that only marks a place.
    pub mass: f64,
    /// Centre of mass, from the node, in the body's frame.
    pub centre: [f64; 3],
    /// Inertia tensor about the node, in the body's frame.
    pub inertia: [[f64; 3]; 3],
    /// $`\Pi`$, six rows of n values: rotation about x, y, z, then translation along x, y, z.
    pub influence: [Vec<f64>; 6],
}

impl NodalBody {
    /// The flexible body, with a node for every node of this one, in the same order.
    ///
    /// # Errors
    /// If a number is not finite, a list has the wrong length, or masses and stiffness are not those of
    /// a body.
    pub fn reduce(&self, damping: &Damping) -> Result<FlexibleBody, FlexError> {
        let count = self.coordinates.len();
        let mass_nodes = self
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| node.mass_node(index + 1, count))
            .collect::<Result<Vec<_>, _>>()?;
        let nodes = mass_nodes
            .iter()
            .map(|mass_node| mass_node.node.clone())
            .collect();
        FlexibleBody::assemble(
            self.coordinates.clone(),
            &[0..count],
            nodes,
            mass_nodes,
            &self.stiffness_matrix()?,
            damping,
            None,
        )
    }

    fn stiffness_matrix(&self) -> Result<DMatrix<f64>, FlexError> {
        let count = self.coordinates.len();
        if self.stiffness.len() != count * count {
            return Err(FlexError::WrongCount {
                quantity: "stiffness matrix".to_owned(),
                found: self.stiffness.len(),
                expected: count * count,
            });
        }
        for (index, &value) in self.stiffness.iter().enumerate() {
            finite(value, || {
                format!("stiffness ({}, {})", index / count + 1, index % count + 1)
            })?;
        }
        let matrix = DMatrix::from_row_slice(count, count, &self.stiffness);
        check_symmetry(&matrix, || "stiffness matrix".to_owned())?;
        Ok((&matrix + matrix.transpose()) * 0.5)
    }
}

impl NodalMass {
    /// The mass node, which is number `number` of a body with `count` coordinates.
    fn mass_node(&self, number: usize, count: usize) -> Result<MassNode, FlexError> {
        for &value in self
            .position
            .iter()
            .chain(&self.centre)
            .chain(self.inertia.iter().flatten())
        {
            finite(value, || {
                format!("position, centre or inertia of node {number}")
            })?;
        }
        for row in &self.influence {
            if row.len() != count {
                return Err(FlexError::WrongCount {
                    quantity: format!("a row of the influence on node {number}"),
                    found: row.len(),
                    expected: count,
                });
            }
            for &value in row {
                finite(value, || format!("influence on node {number}"))?;
            }
        }
        let vectors = |first: usize| {
            (0..count)
                .map(|coordinate| {
                    std::array::from_fn(|axis| self.influence[first + axis][coordinate])
                })
                .collect::<Vec<[f64; 3]>>()
        };
        Ok(MassNode {
            node: Node {
                position: self.position,
                displacement: vectors(3),
                rotation: vectors(0),
                shortening: Vec::new(),
            },
            mass: not_negative(self.mass, || format!("mass of node {number}"))?,
            centre: self.centre,
            second_moment: self.second_moment(number)?,
        })
    }

    /// $`\int \rho\rho^T dm = \tfrac12 \mathrm{tr}(J)\,1 - J`$.
    fn second_moment(&self, number: usize) -> Result<[[f64; 3]; 3], FlexError> {
        let inertia = Matrix3::from_fn(|i, j| self.inertia[i][j]);
        check_symmetry(&DMatrix::from_fn(3, 3, |i, j| inertia[(i, j)]), || {
            format!("inertia of node {number}")
        })?;
        let inertia = (inertia + inertia.transpose()) * 0.5;
        let trace = inertia.trace();
        let moment = Matrix3::identity() * (0.5 * trace) - inertia;

        // about the centre of mass no principal moment of real mass is negative
        let centre = nalgebra::Vector3::from(self.centre);
        let central = moment - centre * centre.transpose() * self.mass;
        let smallest = central.symmetric_eigenvalues().min();
        if smallest < -NEGATIVE_MOMENT * trace.abs() {
            return Err(FlexError::ImpossibleInertia {
                node: number,
                smallest,
            });
        }
        Ok(std::array::from_fn(|i| {
            std::array::from_fn(|j| moment[(i, j)])
        }))
    }
}

fn check_symmetry(
    matrix: &DMatrix<f64>,
    quantity: impl FnOnce() -> String,
) -> Result<(), FlexError> {
    let largest = matrix.amax();
    let difference = (matrix - matrix.transpose()).amax() / largest;
    if largest > 0.0 && difference > ASYMMETRY {
        return Err(FlexError::NotSymmetric {
            quantity: quantity(),
            difference,
        });
    }
    Ok(())
}
