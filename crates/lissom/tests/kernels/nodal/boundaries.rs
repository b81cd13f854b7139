//! What the formulation may use, and what it may not do once per step.

use std::fs;
use std::path::Path;

use allocation_counter::measure;
use lissom::integrate::FirstOrder;
use lissom::nodal::{Dynamics, Equations, Unforced};

use super::models::everything;

/// Property: the module knows nothing of the other formulation, so that their agreement is a check.
#[test]
fn nodal_never_imports_the_other_formulation() {
    never_imports("src/nodal", &["tree", "flex", "model", "simulate"], 10);
}

/// Property: linearised equations are data that either formulation fills.
#[test]
fn linearised_equations_know_no_formulation() {
    let others = [
        "tree", "flex", "model", "simulate", "nodal", "mesh", "closure",
    ];
    never_imports("src/linear", &others, 4);
}

/// Property: equilibrium is sought in one way for all formulations.
#[test]
fn statics_know_no_formulation() {
    let others = [
        "tree", "flex", "model", "simulate", "nodal", "mesh", "closure", "linear",
    ];
    never_imports("src/statics", &others, 4);
}

/// Fails if a source below `folder`, of which there are more than `least`, uses one of `modules`.
#[expect(clippy::disallowed_methods, reason = "the sources are what is tested")]
fn never_imports(folder: &str, modules: &[&str], least: usize) {
    let mut seen = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
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
        for module in modules {
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
    assert!(seen > least, "{folder} was not found");
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
