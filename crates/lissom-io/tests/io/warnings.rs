//! What is told of shipped models and remarked on in them.

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

/// Property: a support that ties the twist alone is not said to tie the slope.
#[test]
fn tied_twists_along_elements_are_remarked_on() {
    let spatial = [
        "body.first.beam.basis={elements={count=4,torsion=true}}",
        "body.first.beam.torsional_stiffness_n_m2=50.0",
        "body.first.beam.section_inertia_y_kg_m=1e-3",
        "body.first.beam.section_inertia_z_kg_m=1e-3",
        "support.first-bearing.twist=tied",
    ];
    let of_twist = [&spatial[..], &["support.first-bearing.slopes=free"]].concat();
    for (changes, ties) in [
        (&of_twist[..], &["twist"][..]),
        (&spatial, &["slope", "twist"]),
    ] {
        let found = loaded("sliding-links", changes)
            .mechanism
            .fidelity_warnings();
        assert_eq!(found.len(), ties.len(), "{found:?}");
        for (found, ties) in found.iter().zip(ties) {
            let said = format!("support first-bearing ties the {ties} of first");
            assert!(found.to_string().starts_with(&said), "{found}");
        }
    }
}

/// Closed form: rigid motions of a beam that only supports hold have no frequency, in functions as in elements; what bends has that of the free
/// beam.
#[test]
fn rigid_motions_have_no_frequency() {
    // twelve elements
    const DIGITS: f64 = 1e-4;
    let change = "body.second.beam.basis={elements={count=12,boundary=\"unconstrained\"}}";
    // the point mass at the tip would be part of it
    let bare = "body.second.point_mass=[]";
    for changes in [&[bare][..], &[bare, change]] {
        let diagnosis = loaded("sliding-links", changes).mechanism.diagnose();
        let mut bodies = diagnosis.bodies.iter();
        let body = bodies.find(|body| body.name == "second").unwrap();
        let found = &body.frequencies_rad_per_s;
        assert_eq!(found[..2], [0.0, 0.0]);
        let wanted = 22.373_285 * (400.0_f64 / 0.4).sqrt() / 1.2_f64.powi(2);
        assert!((found[2] / wanted - 1.0).abs() < DIGITS, "{found:?}");
    }
}
