//! The kernels by themselves: spatial algebra, integrators, flexible bodies, the recursions of trees, the nodal formulation, and that
//! what runs once per step allocates nothing.
//! They see random mechanisms and such as are built by hand; what begins with the text of a model is in `tests/engine`.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic too")]

mod flexible_bodies;
mod identities;
mod integrators;
mod no_alloc;
mod nodal;
mod spatial;
mod tolerance;
