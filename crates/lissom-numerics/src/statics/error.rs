//! Why there is no equilibrium.

use lissom_spatial::rounded;

/// Why no equilibrium was found, with the part of the load that was reached.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoEquilibrium {
    /// A force that nothing can balance.
    #[error(
        "nothing holds {name}: {residual:.3e} N or N m is left on it; hold it by a spring, a motion or a support, or \
         start closer to the equilibrium"
    )]
    Unheld {
        /// The coordinate with the largest force left.
        name: String,
        /// That force.
        residual: f64,
    },
    /// The stiffness vanishes under a part of the load.
    #[error(
        "the equilibrium ends at {} of the load, where the stiffness against {name} vanishes: the structure buckles or \
         snaps there; take less load, prescribe the motion of the loaded point instead, or start beyond",
        rounded(*.load, 6)
    )]
    Limit {
        /// Part of the load that was reached.
        load: f64,
        /// The coordinate that moves most in the direction without stiffness.
        name: String,
    },
    /// Newton's iteration does not converge.
    #[error(
        "no equilibrium found beyond {} of the load: {name} is out of balance by {residual:.3e} (N, N m; m or rad of a \
         closure); start closer to the equilibrium, or take less load and look what happens",
        rounded(*.load, 6)
    )]
    Unbalanced {
        /// Part of the load that was reached.
        load: f64,
        /// Coordinate or closure furthest from balance.
        name: String,
        /// What it lacks.
        residual: f64,
    },
    /// Whoever looks on ended the search.
    #[error("the search was stopped")]
    Stopped,
}

impl NoEquilibrium {
    /// The coordinate or closure in trouble, if there is one.
    pub fn name(&self) -> &str {
        match self {
            Self::Unheld { name, .. }
            | Self::Limit { name, .. }
            | Self::Unbalanced { name, .. } => name,
            Self::Stopped => "the search",
        }
    }
}

/// How a search for equilibrium fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure<E> {
    /// There is none.
    None(NoEquilibrium),
    /// The mechanism cannot be where the search starts or leads.
    Placement(E),
}

impl<E: From<NoEquilibrium>> Failure<E> {
    /// As an error that knows both.
    pub fn merged(self) -> E {
        match self {
            Self::None(error) => error.into(),
            Self::Placement(error) => error,
        }
    }
}
