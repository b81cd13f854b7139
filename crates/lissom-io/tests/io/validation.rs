//! Rows of `lissom validate`.

use lissom_io::validation;

/// Printed positions and velocities of the 3-RRS have two decimals.
const PRINTED_TOLERANCE: f64 = 5e-3;

/// Published numbers and independent implementations. Where a row of tables 6.2 and 6.3 of Fattah's thesis has a more exact reference,
/// the printed number comes out too.
#[test]
fn every_quick_row_passes() {
    let rows = validation::rows(true);
    assert!(rows.len() > 140, "only {} rows", rows.len());
    for row in &rows {
        assert!(!row.fails(), "{row:?}");
    }
    let kinematics = (rows.iter()).filter(|row| row.case.starts_with("3-RRS direct kinematics"));
    let kinematics: Vec<_> = kinematics.collect();
    assert_eq!(kinematics.len(), 3 * 12 + 2 * 9);
    for row in kinematics.iter().filter(|row| row.reference.is_some()) {
        let apart = row.printed.map(|p| (p - row.computed.unwrap()).abs());
        assert!(
            apart.is_none_or(|apart| apart < PRINTED_TOLERANCE),
            "{row:?}"
        );
    }
}
