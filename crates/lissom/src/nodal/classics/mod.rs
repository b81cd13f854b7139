//! Mechanisms of the literature, for tests and validation: each has published numbers.

mod large_deflections;
mod rotating_beam;
mod two_link;

pub use large_deflections::{
    Cantilever, Spaghetti, Thrown, bend, cantilever, princeton_beam, spaghetti,
};
pub use rotating_beam::{
    QuarterTurn, RotatingBeam, SpinUp, jonker_beam, lateral, rotating_beam, simo_beam,
};
pub use two_link::{TwoLink, TwoLinkPath, two_link};
