//! Random trees of rigid bodies with joints of every kind, evaluated in both formulations.

use std::collections::BTreeMap;

use lissom_engine::Evaluator;
use lissom_engine::testing::{Random, RandomBody, Variety};

use crate::runs::{nodal_mechanism, tree_mechanism};

/// Parts of the largest of their kind.
const ACCELERATIONS: f64 = 1e-9;
const DERIVATIVES: f64 = 1e-8;

const TREES: u64 = 24;

/// What an evaluator finds at a state: accelerations, then their derivatives by displacements, velocities and forces, by the names of velocities.
struct Found {
    accelerations: BTreeMap<String, f64>,
    derivatives: [BTreeMap<(String, String), f64>; 3],
}

/// Displaces the written start, and moves and pushes from there, by what is `given` to the names of velocities.
fn found(evaluator: &mut Evaluator, given: impl Fn(&str) -> [f64; 3]) -> Found {
    let free = std::sync::Arc::clone(evaluator.mechanism());
    let [_, velocities] = free.coordinates().unwrap();
    let names: Vec<&str> = velocities.iter().map(|own| own.name.as_str()).collect();
    let [change, velocity, force] = [0, 1, 2].map(|what| {
        names
            .iter()
            .map(|name| given(name)[what])
            .collect::<Vec<_>>()
    });
    let start = free.written().position;
    let mut position = start.clone();
    evaluator.displace(&start, &change, &mut position);
    let n = names.len();
    let (mut accelerations, mut derivatives) = (vec![0.0; n], vec![0.0; 3 * n * n]);
    let motion = [&position[..], &velocity];
    evaluator.forward_dynamics(0.0, motion, &force, &mut accelerations);
    evaluator.forward_derivatives(0.0, motion, &force, &mut derivatives);
    let named = |at: usize| names[at].to_owned();
    let matrix = |entries: &[f64]| {
        let entries = entries.iter().enumerate();
        entries
            .map(|(at, &entry)| ((named(at / n), named(at % n)), entry))
            .collect()
    };
    let (by_position, rest) = derivatives.split_at(n * n);
    let (by_velocity, by_force) = rest.split_at(n * n);
    Found {
        accelerations: (accelerations.iter().enumerate())
            .map(|(at, &a)| (named(at), a))
            .collect(),
        derivatives: [by_position, by_velocity, by_force].map(matrix),
    }
}

#[track_caller]
fn assert_alike<K: Ord + std::fmt::Debug>(
    [tree, nodes]: [&BTreeMap<K, f64>; 2],
    share: f64,
    what: &str,
) {
    let size = tree.values().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(size > 0.0 && tree.len() == nodes.len(), "{what}");
    for (key, tree) in tree {
        let apart = (tree - nodes[key]).abs();
        assert!(
            apart < share * size,
            "{what} {key:?}: {tree} {}",
            nodes[key]
        );
    }
}

/// Two formulations: nothing that occurs in a tree of rigid bodies is refused by either; accelerations agree, and so do their derivatives, which
/// are found by other recursions over dual numbers.
#[test]
fn random_trees_of_rigid_bodies_accelerate_alike() {
    let variety = Variety {
        body_kinds: &[RandomBody::Rigid],
        ..Variety::everything(5)
    };
    for seed in 0..TREES {
        let spec = variety.mechanism(seed);
        let mut random = Random::new(seed);
        let mut numbers: BTreeMap<String, [f64; 3]> = BTreeMap::new();
        let mechanism = tree_mechanism(&spec);
        for velocity in &mechanism.released().unwrap().coordinates().unwrap()[1] {
            let own = [0.3, 1.0, 5.0].map(|size| random.uniform(-size, size));
            numbers.insert(velocity.name.clone(), own);
        }
        let both = [mechanism, nodal_mechanism(&spec, 1)];
        let [tree, nodes] = both.map(|mechanism| {
            let mut evaluator = Evaluator::new(&mechanism).unwrap();
            found(&mut evaluator, |name| numbers[name])
        });
        let accelerations = [&tree, &nodes].map(|found| &found.accelerations);
        assert_alike(accelerations, ACCELERATIONS, &format!("{seed}"));
        for which in 0..3 {
            let derivatives = [&tree, &nodes].map(|found| &found.derivatives[which]);
            assert_alike(derivatives, DERIVATIVES, &format!("{seed} {which}"));
        }
    }
}
