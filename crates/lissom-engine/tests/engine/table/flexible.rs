//! Flexible links: the formulations converge to each other.
//!
//! Kind of truth: two formulations, under refinement. Both interpolate bending by cubics, whose frequencies converge with the
//! fourth power of the length of an element.

use lissom_core::study::OperatingPoint;

use super::going;
use crate::models::parsed;
use crate::runs::{nodal_mechanism, tree_mechanism};

const ORDER: f64 = 4.0;
/// What the next power of the length still adds at two to eight elements.
const ORDER_TOLERANCE: f64 = 0.3;

/// An arm on a sprung hinge with a load at its tip; the tree has so many elements.
fn arm(count: usize) -> String {
    format!(
        r#"
format = 1
[[body]]
name = "arm"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 0.6
bending_stiffness_y_n_m2 = 8.0
basis.elements = {{ count = {count}, bending_y = true, bending_z = false }}
[[joint]]
name = "first"
parent = "ground"
child = "arm"
revolute = {{ axis = [0.0, 0.0, 1.0], spring = {{ stiffness_n_m_per_rad = 9.0 }} }}
[[payload]]
name = "load"
body = "arm"
at = "tip"
mass_kg = 0.2
inertia_kg_m2 = [1e-4, 1e-4, 1e-4]
"#
    )
}

/// Square of the second natural frequency, the first of bending.
fn second(mechanism: &lissom_engine::Mechanism) -> f64 {
    let found = mechanism
        .frozen(
            &mechanism.written(),
            OperatingPoint::Start,
            &[],
            super::FREE,
            &mut going,
        )
        .unwrap();
    let point = &found.points[0].linear;
    let mass = point.mass.clone().cholesky().unwrap();
    let values = mass.solve(&point.structural).complex_eigenvalues();
    let mut squares: Vec<f64> = values.iter().map(|value| value.re).collect();
    squares.sort_by(f64::total_cmp);
    squares[1]
}

#[test]
fn frequencies_converge_at_the_order_of_the_elements() {
    let truth = second(&tree_mechanism(&parsed(&arm(32))));
    let spec = parsed(&arm(2));
    let apart = [2, 4, 8].map(|elements| {
        let square = second(&nodal_mechanism(&spec, elements));
        (square - truth).abs() / truth
    });
    for pair in apart.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - ORDER).abs() < ORDER_TOLERANCE, "{apart:?} {order}");
    }
}
