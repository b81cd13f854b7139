//! Identities that the recursions must satisfy on random trees in which everything occurs.
//!
//! Derivatives are exact: dual numbers go through the same kernels. Where a test says "material points",
//! the truth is a second formulation that shares nothing with the recursions but the poses of the bodies.

mod closures;
mod derivatives;
mod elasticity;
mod equivalences;
mod exact_rod;
mod lagrange;
mod massless;
mod material_points;
mod momentum;
mod rigid_limit;
mod round_trip;
mod scalars;
mod stages;
mod tools;

pub(crate) use tools::Rate;

use std::collections::BTreeSet;

use lissom_engine::testing::Variety;
use lissom_tree::Place;

/// The trees are what the other tests take them for.
#[test]
fn every_kind_occurs_in_trees_of_thirty_bodies() {
    for seed in [14, 15] {
        let spec = Variety::everything(30).mechanism(seed);
        let joints: BTreeSet<_> = spec
            .joint
            .iter()
            .map(|joint| joint.kind().unwrap().key())
            .collect();
        assert_eq!(joints.len(), 6, "{joints:?}");
        let beams = spec.body.iter().filter_map(|body| body.beam.as_ref());
        let bases: BTreeSet<_> = beams
            .map(|beam| {
                format!("{:?}", beam.basis)
                    .split('(')
                    .next()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(bases.len(), 4, "{bases:?}");
        assert!(spec.body.iter().any(|body| body.rigid.is_some()));
        assert!(spec.body.iter().any(|body| body.nodal.is_some()));
        assert!(spec.body.iter().any(|body| !body.point_mass.is_empty()));
        assert!(!spec.payload.is_empty());

        let system = tools::build(&spec).linkage.system;
        let bodies = system.bodies();
        let at_node = |place: &Place| matches!(place, Place::Node { .. });
        assert!(bodies.iter().any(|body| at_node(&body.outboard)));
        assert!(bodies.iter().any(|body| at_node(&body.inboard)));
        let branches = |k: usize| bodies.iter().filter(|b| b.parent == Some(k)).count() > 1;
        assert!((0..bodies.len()).any(branches));
    }
}
