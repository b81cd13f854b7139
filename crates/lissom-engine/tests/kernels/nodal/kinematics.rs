//! Transfer functions of order zero, one and two; open chains and loops; singular configurations.

use lissom_engine::testing::Random;
use lissom_nodal::{Equations, Mechanism, NodalError};
use lissom_spatial::{Quaternion, Vector};

use super::models::{deformed_beam, everything, four_bar, four_bar_joint, free_beam};

/// Newton's iteration ends with an error of its last correction squared; rounding is what is left.
const ROUNDING: f64 = 1e-12;
/// Central differences with this step: truncation h² and rounding ε/h (first) or ε/h² (second), times
/// derivatives of order ten.
const STEP: f64 = 1e-4;
const FIRST_DIFFERENCE: f64 = 1e-6;
const SECOND_DIFFERENCE: f64 = 2e-6;

fn random_position(mechanism: &Mechanism, random: &mut Random, size: f64) -> Vec<f64> {
    let mut position = mechanism.assembled_position();
    for value in &mut position {
        *value += random.signed(size);
    }
    position
}

/// Property: deformations that are degrees of freedom come back from the nodal coordinates.
#[test]
fn deformations_survive_the_way_to_nodal_coordinates_and_back() {
    let mut random = Random::new(1);
    let mechanism = everything(0.0);
    let mut equations = Equations::new(&mechanism).unwrap();
    for _ in 0..20 {
        let position = random_position(&mechanism, &mut random, 0.2);
        equations.place(&position, &[]).unwrap();
        let deformations = equations.deformations();
        // all deformations but the last, the truss, and the offsets of hinge and slider are dofs
        let free: Vec<f64> = (0..mechanism.deformation_count() - 1)
            .filter(|i| ![1, 2, 13, 14].contains(i))
            .map(|i| deformations[i])
            .collect();
        assert_eq!(free.len(), position.len());
        for (found, wanted) in free.iter().zip(&position) {
            assert!((found - wanted).abs() < ROUNDING, "{found} {wanted}");
        }
    }
}

/// Property: nodal coordinates survive the way to deformations and back.
#[test]
fn nodal_coordinates_survive_the_way_to_deformations_and_back() {
    let mut random = Random::new(2);
    let (nodal, deformed) = (free_beam(), deformed_beam());
    let mut by_nodes = Equations::new(&nodal).unwrap();
    for _ in 0..20 {
        let mut position = nodal.assembled_position();
        for (i, value) in position.iter_mut().enumerate() {
            if i < 3 || (7..10).contains(&i) {
                *value += random.signed(0.1);
            }
        }
        for first in [3, 10] {
            let turn = Quaternion::of_rotation_vector(Vector(random.vector(0.3)));
            position[first..first + 4].copy_from_slice(&turn.0);
        }
        by_nodes.place(&position, &[]).unwrap();
        let mut back = position[..7].to_vec();
        back.extend(by_nodes.deformations());
        let mut by_deformations = Equations::new(&deformed).unwrap();
        by_deformations.place(&back, &[]).unwrap();
        for node in 0..4 {
            let id = deformed.node(node).unwrap();
            let (found, wanted) = (by_deformations.node(id), by_nodes.node(id));
            let apart = found.position - wanted.position;
            assert!(apart.dot(apart).sqrt() < ROUNDING);
            for (a, b) in found
                .rotation
                .0
                .iter()
                .flatten()
                .zip(wanted.rotation.0.iter().flatten())
            {
                assert!((a - b).abs() < ROUNDING);
            }
        }
    }
}

/// Second way: first- and second-order transfer functions are differences of that of order zero, in an
/// open chain and in a loop.
#[test]
fn transfer_functions_are_derivatives_of_each_other() {
    let loop_ = four_bar([0.8, 1.9, 1.5], 1.0, true).mechanism;
    for mechanism in [everything(0.0), loop_] {
        let mut random = Random::new(3);
        let mut equations = Equations::new(&mechanism).unwrap();
        let position = random_position(&mechanism, &mut random, 0.1);
        let dofs = mechanism.dof_count();
        let direction = random.list(dofs, 1.0);
        let mut places = Vec::new();
        for sign in [-1.0, 0.0, 1.0] {
            let moved: Vec<f64> = position
                .iter()
                .zip(&direction)
                .map(|(x, d)| x + sign * STEP * d)
                .collect();
            equations.place(&moved, &[]).unwrap();
            places.push(equations.clone());
        }
        equations.place(&position, &[]).unwrap();
        let transfer = equations.first_order_transfer().to_vec();
        let mut second = vec![Vector([0.0; 3]); mechanism.node_count()];
        equations.second_order_transfer(&direction, &direction, &mut second);
        for index in 0..mechanism.node_count() {
            let node = mechanism.node(index).unwrap();
            if mechanism.is_orientation(node) {
                continue;
            }
            let [before, now, after] = [0, 1, 2].map(|i| places[i].node(node).position);
            let mut first = Vector([0.0; 3]);
            for dof in 0..dofs {
                first += transfer[index * dofs + dof].scale(direction[dof]);
            }
            for i in 0..3 {
                let difference = (after[i] - before[i]) / (2.0 * STEP);
                assert!((difference - first[i]).abs() < FIRST_DIFFERENCE);
                let difference = (after[i] - 2.0 * now[i] + before[i]) / (STEP * STEP);
                assert!(
                    (difference - second[index][i]).abs()
                        < SECOND_DIFFERENCE * (1.0 + second[index][i].abs()),
                    "{difference} {}",
                    second[index][i]
                );
            }
        }
    }
}

/// Closed form: a rigid four-bar linkage through a whole turn of its crank, in steps that need
/// continuation.
#[test]
fn loops_close_through_a_whole_turn() {
    let lengths = [0.5, 2.0, 1.5];
    let linkage = four_bar(lengths, 0.3, false);
    let mut equations = Equations::new(&linkage.mechanism).unwrap();
    for i in 0..=8 {
        let turn = 2.0 * std::f64::consts::PI * f64::from(i) / 8.0;
        equations.place(&[turn], &[]).unwrap();
        let crank = equations.node(linkage.crank).position;
        let (sin, cos) = (turn + 0.3).sin_cos();
        assert!((crank[0] - 0.5 * cos).abs() + (crank[1] - 0.5 * sin).abs() < ROUNDING);
        let wanted = four_bar_joint([crank[0], crank[1]], lengths[1], lengths[2]);
        let found = equations.node(linkage.rocker).position;
        assert!((found[0] - wanted[0]).abs() + (found[1] - wanted[1]).abs() < 10.0 * ROUNDING);
    }
}

/// Property: where coupler and rocker are in line the mechanism says so and names what is undetermined.
#[test]
fn singular_configurations_are_named() {
    let linkage = four_bar([1.5, 1.0, 1.2], 0.8, false);
    let mut equations = Equations::new(&linkage.mechanism).unwrap();
    // stretched: the pivots of coupler and rocker are 2.2 apart
    let stretched = ((1.5_f64 * 1.5 + 4.0 - 2.2 * 2.2) / (2.0 * 1.5 * 2.0)).acos();
    equations.place(&[stretched - 0.8 - 1e-3], &[]).unwrap();
    let beyond = equations.place(&[stretched - 0.8 + 0.05], &[]);
    assert!(
        matches!(
            &beyond,
            Err(NodalError::Unreachable { .. } | NodalError::SingularConfiguration { .. })
        ),
        "{beyond:?}"
    );
    let text = beyond.unwrap_err().to_string();
    assert!(text.contains("singular configuration"), "{text}");
    // and what was reached is still a configuration
    let place = equations.node(linkage.rocker).position;
    assert!(place.0.iter().all(|x| x.is_finite()));

    let flat = four_bar([1.0, 1.0, 2.0], std::f64::consts::PI, false);
    let error = Equations::new(&flat.mechanism).unwrap_err();
    assert!(
        matches!(error, NodalError::SingularConfiguration { .. }),
        "{error:?}"
    );
}

/// Property: a mechanism with too many or too few conditions is refused with their numbers.
#[test]
fn conditions_and_unknowns_must_match() {
    use lissom_nodal::{Assembly, Role};
    let mut assembly = Assembly::new();
    let p = assembly.point("p", [0.0; 3]);
    let q = assembly.point("q", [1.0, 0.0, 0.0]);
    assembly.set_node(p, Role::Fixed);
    assembly.truss("truss", p, q, 1.0);
    let error = assembly.finish().unwrap_err();
    assert_eq!(
        error,
        NodalError::Unbalanced {
            conditions: 0,
            unknowns: 3
        }
    );
}
