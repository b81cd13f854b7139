//! What the formulation may not do once per step.

use allocation_counter::measure;
use lissom_nodal::{Assembly, Dynamics, Equations, NodalError, Role, Unforced};
use lissom_numerics::integrate::FirstOrder;

use super::models::{deformed_beam, everything};

/// Property: the derivative of the equations of motion allocates nothing.
#[test]
fn derivatives_allocate_nothing() {
    let mechanism = everything(0.01);
    let equations = Equations::new(&mechanism).unwrap();
    let mut dynamics = Dynamics::new(equations, Unforced::new(&mechanism));
    let mut state = mechanism.assembled_position();
    state.extend(vec![0.1; mechanism.dof_count()]);
    let mut rate = vec![0.0; state.len()];
    let count = measure(|| dynamics.derivative(0.0, &state, &mut rate)).count_total;
    assert_eq!(count, 0, "the derivative allocates");
    assert!(rate.iter().all(|x| x.is_finite()));
}

/// Counted: a placement that leads nowhere is given up after a bounded number of iterations, and its nodes are where they were.
#[test]
fn placements_in_vain_end_soon() {
    // two directly, one after the other, and a way in parts
    const MOST: usize = 25 + 25 + 400 + 10;
    let mechanism = deformed_beam();
    let mut equations = Equations::new(&mechanism).unwrap();
    let start = mechanism.assembled_position();
    let before = equations.iterations();
    let mut in_vain = 0;
    for size in [1.0, 3.0, 10.0, 100.0] {
        let far: Vec<f64> = (start.iter().enumerate())
            .map(|(i, x)| x + size * (1.0 + 0.7 * i as f64).sin())
            .collect();
        in_vain += usize::from(equations.place(&far, &[]).is_err());
        equations.place(&start, &[]).unwrap();
    }
    assert!(in_vain > 1, "{in_vain}");
    let spent = equations.iterations() - before;
    assert!(spent < 4 * (MOST + 25), "{spent}");
}

/// By hand: a triangle whose sides do not meet says which of them misses its length, and by how much where the iteration ends.
#[test]
fn what_cannot_be_reached_is_named() {
    let mut assembly = Assembly::new();
    let points = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
        .map(|[x, y]| assembly.planar_point(&format!("{x} {y}"), [x, y]));
    for node in &points[..2] {
        assembly.set_node(*node, Role::Fixed);
    }
    for (name, node) in ["left", "right"].into_iter().zip(points) {
        let truss = assembly.truss(name, node, points[2], 1.0);
        assembly.set_deformation(truss, 0, Role::Dof);
    }
    let mechanism = assembly.finish().unwrap();
    let mut equations = Equations::new(&mechanism).unwrap();
    let side = mechanism.assembled_position()[0];
    assert!(side.abs() < 1e-15, "no elongation at first");
    let error = equations.place(&[-1.0, -0.5], &[]).unwrap_err();
    match error {
        NodalError::Unreachable {
            condition, miss, ..
        } => {
            assert!(condition.ends_with(".elongation"), "{condition}");
            // sides of a tenth and of six tenths beside a base of one
            assert!(miss < 1.2, "{miss}");
        }
        NodalError::SingularConfiguration { .. } => {}
        other => panic!("{other}"),
    }
}
