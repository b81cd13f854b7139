//! What can be wrong with a mechanism of nodes and elements, or go wrong with it.

use lissom_numerics::integrate::IntegrateError;
use lissom_numerics::linear::LinearError;
use lissom_numerics::statics::NoEquilibrium;
use lissom_spatial::{readable, rounded};

/// Why a mechanism cannot be built, placed, moved or solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NodalError {
    /// A number that makes no sense.
    #[error("{quantity} of `{name}` is {}; {remedy}", readable(.value))]
    Value {
        /// Node or element.
        name: String,
        /// What is wrong.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        remedy: &'static str,
    },
    /// A node of the wrong kind in an element or with a role it cannot have.
    #[error("`{name}`: {problem}; {remedy}")]
    Structure {
        /// Node or element.
        name: String,
        /// What is wrong.
        problem: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Conditions and unknowns do not match.
    #[error(
        "{conditions} deformations are fixed, prescribed or degrees of freedom, but {unknowns} nodal \
         coordinates are free; {}",
        if conditions > unknowns {
            "let deformations of a loop or a support go free"
        } else {
            "fix or prescribe more nodal coordinates or deformations, or make them degrees of freedom"
        }
    )]
    Unbalanced {
        /// Deformations that are given.
        conditions: usize,
        /// Nodal coordinates that are to follow.
        unknowns: usize,
    },
    /// The nodal coordinates do not follow from the degrees of freedom here.
    #[error(
        "singular configuration: {coordinate} does not follow from the degrees of freedom and \
         supports (pivot {} of the largest); near it, {condition} hardly depends on it; keep away \
         from this configuration or choose other degrees of freedom",
        rounded(*.ratio, 3)
    )]
    SingularConfiguration {
        /// Nodal coordinate without a pivot.
        coordinate: String,
        /// Deformation whose condition fails to determine it.
        condition: String,
        /// Pivot over the largest entry.
        ratio: f64,
    },
    /// No configuration with these degrees of freedom was found.
    #[error(
        "no configuration found: {condition} misses its value by {} after {iterations} iterations; \
         the mechanism may not reach it, or passes a singular configuration on the way",
        rounded(*.miss, 3)
    )]
    Unreachable {
        /// Deformation that is furthest from its value.
        condition: String,
        /// By how much.
        miss: f64,
        /// Iterations spent on the last part of the way.
        iterations: usize,
    },
    /// A beam turned inside out.
    #[error(
        "no configuration found but one in which beam {element} is folded over, its ends pointing against each \
         other; divide it into more elements, or keep away from this configuration"
    )]
    Folded {
        /// The beam.
        element: String,
    },
    /// A motion without inertia.
    #[error(
        "mass matrix is singular: {dof} can accelerate without force (pivot {} of the diagonal); give \
         it inertia or keep away from this configuration",
        rounded(*.ratio, 3)
    )]
    SingularMass {
        /// Degree of freedom.
        dof: String,
        /// Pivot over diagonal.
        ratio: f64,
    },
    /// There is no equilibrium.
    #[error(transparent)]
    NoEquilibrium(#[from] NoEquilibrium),
    /// The linearised equations have no answer.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The integrator gave up.
    #[error(transparent)]
    Integrate(#[from] IntegrateError),
}
