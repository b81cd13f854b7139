//! Mechanisms of the literature, for tests and validation: each has published numbers.

mod rotating_beam;
mod two_link;

pub use rotating_beam::{QuarterTurn, RotatingBeam, SpinUp, jonker_beam, lateral, rotating_beam};
pub use two_link::{TwoLink, TwoLinkPath, two_link};
