//! What can be wrong with a frame of beams.

/// What is wrong with a frame of beams.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameFault {
    /// Two nodes of a frame at one place.
    #[error("nodes {first:?} and {second:?} are at one place")]
    SameNode {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// A node that members do not connect with the others.
    #[error("no member connects node {node:?} with {from:?}")]
    NodeApart {
        /// The node.
        node: String,
        /// The first node.
        from: String,
    },
    /// A member that ends where it begins.
    #[error("the member begins and ends at node {node:?}")]
    WithoutLength {
        /// The node.
        node: String,
    },
    /// Sections between which nothing lies.
    #[error("no section lies between `{before}` and `{after}`, which do not match")]
    SectionsDiffer {
        /// The one before.
        before: &'static str,
        /// The one behind.
        after: &'static str,
    },
    /// A section that a straight beam cannot have.
    #[error(
        "the section's centre lies beside the line of the beam, or its principal axes are not y and z"
    )]
    Eccentric,
    /// Numbers where there are keys for them.
    #[error("`properties` of a section are those of a member of a frame")]
    Numbers,
    /// A polygon whose edges cross or touch.
    #[error("edges {first} and {second} of the polygon cross or touch each other")]
    PolygonCrosses {
        /// One edge, from 1.
        first: usize,
        /// The other.
        second: usize,
    },
}

impl FrameFault {
    /// What to do about it.
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::SameNode { first, .. } => format!("let members name node {first:?} only"),
            Self::NodeApart { .. } => "add a member that ends there, or leave the node out".into(),
            Self::WithoutLength { .. } => "let it end at another node".into(),
            Self::SectionsDiffer { .. } => {
                "take sections of one kind (with as many corners), or put two stations at one share for a step".into()
            }
            Self::Eccentric => {
                "draw it around its centre, symmetric to y or z, or make a [body.frame] of the beam, which takes it as it is".into()
            }
            Self::Numbers => "write mass and stiffnesses as keys of [body.beam]".into(),
            Self::PolygonCrosses { .. } => "list the corners in turn, once around the section".into(),
        }
    }
}
