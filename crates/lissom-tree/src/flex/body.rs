//! [`FlexibleBody`]: everything the recursions read of a body that bends, and nothing else.
//!
//! # Notation
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | $`\eta_\alpha`$ | elastic coordinate | one number per mode |
//! | $`\psi_\alpha(r)`$ | `displacement` | displacement of the point at `r` per unit of coordinate α |
//! | $`\theta_\alpha(r)`$ | `rotation` | small rotation of the section at `r`, same units |
//! | $`P_\alpha = \int \psi_\alpha\,dm`$ | `first` | \[Damaren & Sharf 1995, eq. (14)\] |
//! | $`R_\alpha = \int r\,\psi_\alpha^T\,dm`$ | `with_position` | holds $`H_\alpha`$ (14) and $`\tau_\alpha`$ (7) |
//! | $`S_{\alpha\beta} = \int \psi_\alpha\,\psi_\beta^T\,dm`$ | `products` | holds $`\nu`$, $`\Upsilon`$ (9) and $`M_{ee}`$ |

use std::ops::Range;

use nalgebra::DMatrix;

use super::centreline::Centreline;
use super::damping::Damping;
use super::eigen;
use super::error::{FlexError, finite, positive};
use super::integrals::{MassProperties, mass_properties};
use super::packed::ShorteningSums;
use super::reduced::SecondOrderIntegrals;
use super::second_order::SecondOrderField;

/// Shift of a semidefinite stiffness as a fraction of the largest squared frequencies: large beside their
/// rounding, small beside the lowest of deformation.
const FAR_BELOW: f64 = 1e-8;

/// A body that bends, reduced to elastic coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct FlexibleBody {
    /// Name of every elastic coordinate, for example `bending_y_1`.
    pub coordinates: Vec<String>,
    /// Mass in kilograms.
    pub mass: f64,
    /// `∫ r dm` of the undeformed body.
    pub first_moment: [f64; 3],
    /// `∫ r rᵀ dm` of the undeformed body (not the inertia tensor).
    pub second_moment: [[f64; 3]; 3],
    /// Integrals over the mode shapes.
    pub integrals: ModalIntegrals,
    /// Stiffness matrix, n × n by rows, symmetric.
    pub stiffness: Vec<f64>,
    /// Damping matrix, n × n by rows, symmetric.
    pub damping: Vec<f64>,
    /// Places where joints, payloads and markers sit, in the order they were asked for.
    pub nodes: Vec<Node>,
    /// Second-order motion of the sections of a beam, or of the nodes of a body of any shape; absent for bodies that bring no such data.
    pub second_order: Option<SecondOrderField>,
    /// Integrals of the second-order motion, where the body has no points that it could be summed over.
    pub second_order_integrals: Option<SecondOrderIntegrals>,
    /// Axial strain of a bent beam; absent unless the body is a beam with axial stiffness all along.
    pub strain: Option<AxialStrain>,
    /// The axis of a beam, for what slides along it; absent for other bodies.
    pub centreline: Option<Centreline>,
    /// Who makes the rigid motions of the body.
    pub rigid_motions: RigidMotions,
    /// The root section of a beam that counts as held there although its frame, on the chord, is not: natural frequencies, modal
    /// damping and deflections are told from it, so that they do not depend on the functions. Absent where they are told from the frame.
    pub held: Option<Node>,
    /// The masses the integrals were taken over, for the lumped-node variant of Jain & Rodriguez; none for bodies
    /// that are given by integrals.
    pub mass_nodes: Vec<MassNode>,
}

/// Who makes the rigid motions of a body that bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RigidMotions {
    /// Its frame, which the joints carry.
    AreTheFrames,
    /// Its elastic coordinates too: the stiffness is only semidefinite, and something outside must hold the
    /// body in its frame.
    AreCoordinates,
}

/// A place on the body with the influence of every elastic coordinate on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Position in the undeformed body, in the body's frame.
    pub position: [f64; 3],
    /// $`\psi_\alpha`$ here, one vector per elastic coordinate.
    pub displacement: Vec<[f64; 3]>,
    /// $`\theta_\alpha`$ here, one vector per elastic coordinate; $`(\phi, -w', v')`$ for beams, or after
    /// [`FlexibleBody::follow_chords`] $`(\phi, -w/x, v/x)`$.
    pub rotation: Vec<[f64; 3]>,
    /// Entries of the blocks of [`FlexibleBody::second_order`], one after the other, each by rows; empty without.
    pub second_order: Vec<f64>,
}

/// A small rigid part of a flexible body: a node of a finite-element model with its lumped mass, or a
/// slice of a beam at a quadrature point.
#[derive(Clone, Debug, PartialEq)]
pub struct MassNode {
    /// Where it sits and how it moves.
    pub node: Node,
    /// Mass in kilograms.
    pub mass: f64,
    /// Centre of mass, from the node, in the body's frame.
    pub centre: [f64; 3],
    /// `∫ ρ ρᵀ dm` about the node, ρ measured from the node (not the inertia tensor).
    pub second_moment: [[f64; 3]; 3],
}

/// Integrals of the mode shapes over the mass of the body, \[Damaren & Sharf 1995, eqs (7)–(15)\].
#[derive(Clone, Debug, PartialEq)]
pub struct ModalIntegrals {
    /// $`P_\alpha = \int \psi_\alpha\,dm`$.
    pub first: Vec<[f64; 3]>,
    /// $`R_\alpha = \int r\,\psi_\alpha^T\,dm`$: entry `[i][j]` is $`\int r_i \psi_{\alpha j}\,dm`$.
    pub with_position: Vec<[[f64; 3]; 3]>,
    /// $`S_{\alpha\beta}`$ by blocks that do not vanish: most of them do in a beam.
    pub products: Vec<ProductBlock>,
    /// $`M_{ee}`$, the trace of $`S_{\alpha\beta}`$, n × n by rows.
    pub mass_matrix: Vec<f64>,
}

/// One block of $`S_{\alpha\beta}[i][j] = \int \psi_{\alpha i}\,\psi_{\beta j}\,dm`$.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductBlock {
    /// Component `i` of $`\psi_\alpha`$.
    pub row_component: usize,
    /// Component `j` of $`\psi_\beta`$.
    pub column_component: usize,
    /// Coordinates α.
    pub rows: Range<usize>,
    /// Coordinates β.
    pub columns: Range<usize>,
    /// `rows.len() × columns.len()` values by rows.
    pub values: Vec<f64>,
}

/// Axial strain of a beam to second order, $`\varepsilon = u' + \tfrac12(v'^2 + w'^2)`$
/// \[Damaren & Sharf 1995, eqs (16)–(20)\], by cells over which it is averaged.
///
/// Over its points $`g`$ a cell $`c`$ has the strain
///
/// ```math
/// \varepsilon_c = \sum_g w_g \left(u_g' + \tfrac12 (v_g'^2 + w_g'^2)\right), \qquad \sum_g w_g = 1,
/// ```
///
/// and all cells together the energy $`\tfrac12 \sum_c k_c\,\varepsilon_c^2`$. Its part of second order in the
/// coordinates is that of the stretch coordinates in [`FlexibleBody::stiffness`].
#[derive(Clone, Debug, PartialEq)]
pub struct AxialStrain {
    /// $`k_c`$, the axial stiffness EA times the length a cell stands for, in N m.
    pub stiffness: Vec<f64>,
    /// Points of every cell; they follow one another.
    pub cells: Vec<Range<usize>>,
    /// $`w_g`$, weight of every point within its cell.
    pub weights: Vec<f64>,
    /// Slope $`u'`$, $`v'`$ or $`w'`$ (by `component`; 0 for torsion) of every point per unit of every
    /// coordinate: points × n by rows.
    pub slopes: Vec<f64>,
    /// Which component (0, 1, 2) of the centreline each elastic coordinate displaces; `None` for torsion.
    pub component: Vec<Option<usize>>,
}

impl RigidMotions {
    /// Part of the mass matrix that makes the stiffness definite, far below the squared frequencies of
    /// deformation.
    fn shift(self, stiffness: &DMatrix<f64>, mass: &DMatrix<f64>) -> f64 {
        match self {
            Self::AreTheFrames => 0.0,
            // nothing is far below where nothing deforms
            Self::AreCoordinates if stiffness.trace() == 0.0 => 1.0,
            Self::AreCoordinates => FAR_BELOW * stiffness.trace() / mass.trace(),
        }
    }
}

impl FlexibleBody {
    /// Directions in which the body moves without deformation, if its elastic coordinates make its rigid motions: the entries
    /// of each that may differ from zero.
    pub fn rigid_directions(&self) -> Vec<Vec<(usize, f64)>> {
        /// Stiffness against a rigid motion, relative to the largest: rounding of sums over elements.
        const NO_STIFFNESS: f64 = 1e-9;
        let Some(line) = &self.centreline else {
            return Vec::new();
        };
        if self.rigid_motions != RigidMotions::AreCoordinates {
            return Vec::new();
        }
        let of_deformation = |(own, most): (Range<usize>, usize)| {
            let stiffness = DMatrix::from_fn(own.len(), own.len(), |i, j| {
                self.stiffness[(own.start + i) * self.len() + own.start + j]
            });
            let eigen = stiffness.symmetric_eigen();
            let mut order: Vec<usize> = (0..own.len()).collect();
            order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
            let stiffest = eigen
                .eigenvalues
                .iter()
                .fold(0.0, |most: f64, x| most.max(*x));
            (order.into_iter().take(most))
                .filter(|&i| eigen.eigenvalues[i] <= NO_STIFFNESS * stiffest)
                .map(|i| {
                    own.clone()
                        .zip(eigen.eigenvectors.column(i).iter().copied())
                        .collect()
                })
                .collect::<Vec<_>>()
        };
        let deformations = line.rigid_motions().filter(|(own, _)| !own.is_empty());
        deformations.flat_map(of_deformation).collect()
    }

    /// Number of elastic coordinates.
    pub fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// Whether the body has no elastic coordinate.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// Natural frequencies in rad/s of the body with its frame or its root held, in rising order.
    ///
    /// # Errors
    /// If stiffness or mass matrix are not positive definite.
    pub fn frequencies(&self) -> Result<Vec<f64>, FlexError> {
        let count = self.len();
        let stiffness = DMatrix::from_row_slice(count, count, &self.stiffness);
        let mass = self.held_mass_matrix();
        let mut frequencies = Vec::with_capacity(count);
        // one group at a time, so that stiff deformations do not blur soft ones
        for members in eigen::uncoupled_groups(&stiffness, &mass) {
            let modes = eigen::modes(
                &eigen::submatrix(&stiffness, &members),
                &eigen::submatrix(&mass, &members),
                self.rigid_motions.shift(&stiffness, &mass),
            )?;
            for &square in &modes.squares {
                let square = finite(square, || "a squared frequency".to_owned())?;
                frequencies.push(square.max(0.0).sqrt());
            }
        }
        frequencies.sort_by(f64::total_cmp);
        Ok(frequencies)
    }

    /// Mass matrix of the elastic coordinates while what [holds](Self::held) the body does not move: a body whose frame lies on the
    /// chord turns by $`-\theta_\alpha`$ of the root with every coordinate.
    fn held_mass_matrix(&self) -> DMatrix<f64> {
        let count = self.len();
        let Some(held) = &self.held else {
            return DMatrix::from_row_slice(count, count, &self.integrals.mass_matrix);
        };
        let motions = DMatrix::from_fn(6 + count, count, |row, column| match row {
            0..3 => -held.rotation[column][row],
            3..6 => -held.displacement[column][row - 3],
            _ if row - 6 == column => 1.0,
            _ => 0.0,
        });
        motions.transpose() * self.free_mass_matrix() * motions
    }

    /// The body with this damping, of what is set by then.
    pub(super) fn damped(mut self, damping: &Damping) -> Result<Self, FlexError> {
        let count = self.len();
        let stiffness = DMatrix::from_row_slice(count, count, &self.stiffness);
        let mass = self.held_mass_matrix();
        let shift = self.rigid_motions.shift(&stiffness, &mass);
        let matrix = damping.matrix(&stiffness, &mass, shift)?;
        for &value in &matrix {
            finite(value, || "an entry of the damping matrix".to_owned())?;
        }
        // it is symmetric: its columns are its rows
        self.damping = matrix.as_slice().to_vec();
        Ok(self)
    }

    /// Stiffness of the bending of a beam per square of its angular velocity across its axis, n × n by rows; `None` for
    /// bodies without slope data.
    ///
    /// A section at $`x`$ carries the tension that turns the mass beyond it about the root,
    /// $`\omega^2 \int_x^L s\,dm`$, which is $`\tfrac12\rho A\,\omega^2 (L^2 - x^2)`$ for a uniform beam
    /// \[Fattah 1995, eq. (5.18)\]; so with the shortening $`-\tfrac12\eta^T S\eta`$
    ///
    /// ```math
    /// \int_0^L \varphi_\alpha'\varphi_\beta' \int_x^L s\,dm\,dx = \int x\,S_{\alpha\beta}(x)\,dm .
    /// ```
    pub fn centrifugal_stiffness(&self) -> Option<Vec<f64>> {
        let n = self.len();
        let of_beam =
            (self.second_order.as_ref()).filter(|_| self.second_order_integrals.is_none());
        let sums = ShorteningSums::new(self, of_beam?);
        let mut entries = sums.with_position.iter();
        let mut stiffness = vec![0.0; n * n];
        for plane in &sums.planes {
            for row in plane.clone() {
                for (column, entry) in plane.clone().zip(&mut entries) {
                    stiffness[row * n + column] = -entry;
                }
            }
        }
        Some(stiffness)
    }

    /// Lets the nodes of a beam that is clamped at its root turn with the chord from the root to the node instead
    /// of the section \[Fattah 1995, eq. (4.25e), without the arctangent\]. The mass keeps its motion.
    pub fn follow_chords(&mut self) {
        for node in &mut self.nodes {
            let x = node.position[0];
            if x == 0.0 {
                continue;
            }
            for (rotation, displacement) in node.rotation.iter_mut().zip(&node.displacement) {
                *rotation = [rotation[0], -displacement[2] / x, displacement[1] / x];
            }
        }
    }

    /// An undamped body from its mass nodes, its stiffness and where its joints sit.
    ///
    /// `groups` are ranges that cover all coordinates, see [`mass_properties`].
    pub(super) fn assemble(
        coordinates: Vec<String>,
        groups: &[Range<usize>],
        nodes: Vec<Node>,
        mass_nodes: Vec<MassNode>,
        stiffness: &DMatrix<f64>,
        rigid_motions: RigidMotions,
    ) -> Result<Self, FlexError> {
        let properties = mass_properties(&mass_nodes, coordinates.len(), groups);
        Self::with_properties(
            coordinates,
            properties,
            nodes,
            mass_nodes,
            stiffness,
            rigid_motions,
        )
    }

    /// An undamped body from the integrals over its mass, its stiffness and where its joints sit.
    pub(super) fn with_properties(
        coordinates: Vec<String>,
        properties: MassProperties,
        nodes: Vec<Node>,
        mass_nodes: Vec<MassNode>,
        stiffness: &DMatrix<f64>,
        rigid_motions: RigidMotions,
    ) -> Result<Self, FlexError> {
        let count = coordinates.len();
        let integrals = properties.integrals;
        let mass_matrix = DMatrix::from_row_slice(count, count, &integrals.mass_matrix);
        let moments = properties
            .second_moment
            .iter()
            .flatten()
            .chain(&properties.first_moment);
        for &value in mass_matrix.iter().chain(stiffness.iter()).chain(moments) {
            finite(value, || {
                "an integral over the mass or stiffness of the body".to_owned()
            })?;
        }
        positive(properties.mass, || "mass of the body".to_owned())?;
        let shift = rigid_motions.shift(stiffness, &mass_matrix);
        eigen::scaled_cholesky(
            &(stiffness + &mass_matrix * shift),
            "stiffness matrix",
            "remove coordinates that store no strain energy",
        )?;
        eigen::scaled_cholesky(
            &mass_matrix,
            "mass matrix",
            "remove coordinates that move no mass of their own",
        )?;
        Ok(Self {
            coordinates,
            mass: properties.mass,
            first_moment: properties.first_moment,
            second_moment: properties.second_moment,
            integrals,
            // it is symmetric: its columns are its rows
            stiffness: stiffness.as_slice().to_vec(),
            damping: vec![0.0; count * count],
            nodes,
            second_order: None,
            second_order_integrals: None,
            strain: None,
            centreline: None,
            rigid_motions,
            held: None,
            mass_nodes,
        })
    }
}
