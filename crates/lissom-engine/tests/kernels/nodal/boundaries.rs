//! What the formulation may not do once per step.

use allocation_counter::measure;
use lissom_nodal::{Dynamics, Equations, Unforced};
use lissom_numerics::integrate::FirstOrder;

use super::models::everything;

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
