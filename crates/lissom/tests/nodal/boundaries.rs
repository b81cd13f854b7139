//! What the formulation may use, and what it may not do once per step.

use std::fs;
use std::path::Path;

use allocation_counter::measure;
use lissom::integrate::FirstOrder;
use lissom::nodal::{Dynamics, Equations, Unforced};

use crate::models::everything;

/// Property: the module knows nothing of the other formulation, so that their agreement is a check.
#[test]
#[expect(clippy::disallowed_methods, reason = "the sources are what is tested")]
fn nodal_never_imports_the_other_formulation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/nodal");
    let mut seen = 0;
    let mut folders = vec![folder];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for module in ["tree", "flex", "model", "simulate"] {
            for form in [
                format!("crate::{module}"),
                format!("super::super::{module}"),
            ] {
                assert!(!text.contains(&form), "{} uses {form}", path.display());
            }
        }
        assert!(
            !text.contains("use crate::{"),
            "{}: name modules one by one, so that this test sees them",
            path.display()
        );
        seen += 1;
    }
    assert!(seen > 10, "the folder of the formulation was not found");
}

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
