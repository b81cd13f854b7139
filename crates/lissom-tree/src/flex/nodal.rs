//! [`NodalBody`]: nodes with mass and modal influence, the form of \[Jain & Rodriguez 1992\].

use nalgebra::{DMatrix, Matrix3};

use super::body::{FlexibleBody, MassNode, Node, RigidMotions};
use super::damping::Damping;
use super::error::{FlexError, finite, not_negative};
use super::symmetric::symmetrised;

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
            std::slice::from_ref(&(0..count)),
            nodes,
            mass_nodes,
            &self.stiffness_matrix()?,
            RigidMotions::AreTheFrames,
        )?
        .damped(damping)
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
        symmetrised(&matrix, || "stiffness matrix".to_owned())
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
                second_order: Vec::new(),
            },
            mass: not_negative(self.mass, || format!("mass of node {number}"))?,
            centre: self.centre,
            second_moment: self.second_moment(number)?,
        })
    }

    /// $`\int \rho\rho^T dm = \tfrac12 \mathrm{tr}(J)\,1 - J`$.
    fn second_moment(&self, number: usize) -> Result<[[f64; 3]; 3], FlexError> {
        let inertia = DMatrix::from_fn(3, 3, |i, j| self.inertia[i][j]);
        let inertia = symmetrised(&inertia, || format!("inertia of node {number}"))?;
        let inertia = Matrix3::from_fn(|i, j| inertia[(i, j)]);
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

#[cfg(test)]
mod tests {
    use super::{NodalBody, NodalMass};
    use crate::flex::{Damping, FlexError};

    /// A few units in the last place.
    const ROUNDING: f64 = 1e-15;

    /// One node that moves along x with the only coordinate.
    fn oscillator() -> NodalBody {
        let node = NodalMass {
            position: [1.0, 0.0, 0.0],
            mass: 2.0,
            centre: [0.0; 3],
            inertia: [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]],
            influence: [
                vec![0.0],
                vec![0.0],
                vec![0.0],
                vec![1.0],
                vec![0.0],
                vec![0.0],
            ],
        };
        NodalBody {
            coordinates: vec!["slide".to_owned()],
            nodes: vec![node],
            stiffness: vec![8.0],
        }
    }

    fn error(change: impl FnOnce(&mut NodalBody)) -> FlexError {
        let mut body = oscillator();
        change(&mut body);
        body.reduce(&Damping::None).unwrap_err()
    }

    /// Closed form: frequency of a mass on a spring.
    #[test]
    fn one_mass_on_a_spring() {
        let body = oscillator()
            .reduce(&Damping::ModalRatios(vec![0.25]))
            .unwrap();
        assert_eq!(body.nodes.len(), 1);
        assert!((body.frequencies().unwrap()[0] - 2.0).abs() < ROUNDING);
        assert!((body.damping[0] - 2.0).abs() < ROUNDING);
        assert!((body.second_moment[1][1] - 0.05).abs() < ROUNDING);
        assert!(body.second_order.is_none());
    }

    /// Limit: without coordinates the body is rigid.
    #[test]
    fn no_coordinates_make_a_rigid_body() {
        let mut rigid = oscillator();
        rigid.coordinates.clear();
        rigid.stiffness.clear();
        rigid.nodes[0].influence = std::array::from_fn(|_| Vec::new());
        let body = rigid.reduce(&Damping::ModalRatios(vec![0.1])).unwrap();
        assert!(body.is_empty() && body.frequencies().unwrap().is_empty());
        assert_eq!((body.mass, body.first_moment), (2.0, [2.0, 0.0, 0.0]));
    }

    /// Errors name what is wrong.
    #[test]
    fn wrong_data_are_refused() {
        assert!(matches!(
            error(|body| body.stiffness.push(1.0)),
            FlexError::WrongCount { .. }
        ));
        assert!(matches!(
            error(|body| body.stiffness[0] = f64::NAN),
            FlexError::NotFinite { .. }
        ));
        assert!(matches!(
            error(|body| body.stiffness[0] = -8.0),
            FlexError::NotPositiveDefinite {
                quantity: "stiffness matrix",
                row: 1,
                ..
            }
        ));
        assert!(matches!(
            error(|body| body.nodes[0].influence[3][0] = 0.0),
            FlexError::NotPositiveDefinite {
                quantity: "mass matrix",
                row: 1,
                ..
            }
        ));
        assert!(matches!(
            error(|body| body.nodes[0].influence[2].clear()),
            FlexError::WrongCount {
                found: 0,
                expected: 1,
                ..
            }
        ));
        assert!(matches!(
            error(|body| body.nodes[0].mass = -2.0),
            FlexError::Negative { .. }
        ));
        assert!(matches!(
            error(|body| body.nodes[0].centre[0] = 3.0),
            FlexError::ImpossibleInertia { node: 1, .. }
        ));
        assert!(matches!(
            error(|body| body.nodes[0].inertia[0][1] = 0.05),
            FlexError::NotSymmetric { .. }
        ));
        assert!(matches!(
            error(|body| body.nodes.clear()),
            FlexError::NotPositive { .. }
        ));
    }
}
