//! What is remarked on in shipped models.

use crate::loaded;

/// Property: tied slopes are remarked on where the beam has nodes, and only there.
#[test]
fn tied_slopes_along_elements_are_remarked_on() {
    let with = |changes: &[&str]| {
        loaded("sliding-links", changes)
            .mechanism
            .fidelity_warnings()
    };
    assert!(with(&[]).is_empty());
    let found = with(&["body.first.beam.basis={elements={count=4}}"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].to_string()).starts_with("support first-bearing ties the slope of first"));
}
