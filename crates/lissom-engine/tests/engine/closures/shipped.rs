//! The shipped manipulators of Fattah's thesis under every closure: F1 two cooperating arms, F2 planar 3-RRR, F3 spatial
//! 3-RRS, from their files.

use lissom_core::study::Run;
use lissom_spec::spec::{ClosureSpec, SimulationSpec, TwistComponent};
use lissom_tree::ClosureMethod;

use super::mechanisms::{Mechanism, marker};
use super::methods::assert_methods_agree;
use super::runs::{apart, completed};
use crate::models::{assembled, parsed};
use crate::shipped::{COOPERATING_ARMS, PLANAR_3RRR, PLANAR_3RRR_FAST, SPATIAL_3RRS};

/// A file as a mechanism that can be run under every method; Cartesian coordinates are those of the marker, chosen by
/// the program.
fn shipped(name: &'static str, text: &str, hand: &str) -> Mechanism {
    let built = |closure: &str| {
        let mut spec = parsed(text);
        spec.simulation.closure = Some(toml::from_str::<ClosureSpec>(closure).unwrap());
        let model = assembled(&spec);
        (spec, model)
    };
    let (spec, model) = built("joint_space = {}");
    let ClosureMethod::JointSpace { independent } = model.linkage.closure_method.clone() else {
        panic!("{:?}", model.linkage.closure_method);
    };
    let (_, cartesian) = built(&format!("cartesian_space.marker = \"{hand}\""));
    let ClosureMethod::CartesianSpace { components, .. } = cartesian.linkage.closure_method else {
        panic!("{:?}", cartesian.linkage.closure_method);
    };
    Mechanism {
        name,
        cartesian: (marker(&model, hand), components),
        spec,
        model,
        independent,
    }
}

fn manipulators() -> Vec<Mechanism> {
    vec![
        shipped("F1", COOPERATING_ARMS, "object"),
        shipped("F2a", PLANAR_3RRR_FAST, "platform"),
        shipped("F2b", PLANAR_3RRR, "platform"),
        shipped("F3", SPATIAL_3RRS, "platform"),
    ]
}

/// Second formulations: at consistent states, bent, moving and driven, all methods give the same accelerations and forces.
#[test]
fn accelerations_of_the_shipped_manipulators_agree_under_all_methods() {
    for mechanism in manipulators() {
        let driven_at = 0.2 * mechanism.spec.simulation.duration_s;
        assert_methods_agree(&mechanism, driven_at);
    }
}

/// Property: the thesis takes all three components of a planar twist, and the velocity of the centre of the spatial
/// platform.
#[test]
fn cartesian_coordinates_are_those_of_the_thesis() {
    let entries = |components: &[TwistComponent]| -> Vec<usize> {
        components
            .iter()
            .map(|component| component.entry())
            .collect()
    };
    let [x, y, z, _, _, turn] = TwistComponent::ALL;
    for mechanism in manipulators() {
        let expected = match mechanism.name {
            "F3" => entries(&[x, y, z]),
            _ => entries(&[x, y, turn]),
        };
        assert_eq!(mechanism.cartesian.1, expected, "{}", mechanism.name);
    }
}

/// Settings of the file with another tolerance.
fn with_tolerance(mechanism: &Mechanism, integrator: &str, rtol: f64) -> SimulationSpec {
    let text = format!(
        "duration_s = {}\nintegrator.{integrator} = {{ rtol = {rtol:e}, atol = {:e} }}",
        mechanism.spec.simulation.duration_s,
        rtol * 1e-2
    );
    toml::from_str(&text).unwrap()
}

fn violation(run: &Run) -> f64 {
    run.audit.closures.as_ref().unwrap().max_position_violation
}

/// Second formulations over the whole motion: complements and projected multipliers give the same motion, keep the loops
/// closed and balance the energy.
#[test]
fn whole_runs_of_the_shipped_manipulators_agree() {
    const AGREEMENT: f64 = 1e-8;
    const CLOSED: f64 = 1e-11;
    const ENERGY: f64 = 1e-9;
    for mechanism in manipulators() {
        let simulation = with_tolerance(&mechanism, "dop853", 1e-11);
        let [joint, cartesian, automatic, projected, operational, _] =
            mechanism.methods().try_into().unwrap();
        let first = completed(&mechanism, &joint, &simulation);
        for method in [cartesian, automatic, projected, operational] {
            let run = completed(&mechanism, &method, &simulation);
            let off = apart(&first, &run, &mechanism);
            assert!(off < AGREEMENT, "{} {method:?}: {off:e}", mechanism.name);
            for run in [&first, &run] {
                let energy = run.audit.energy.max_drift_percent / 100.0;
                assert!(energy < ENERGY, "{} {method:?}: {energy:e}", mechanism.name);
                let open = violation(run);
                assert!(open < CLOSED, "{} {method:?}: {open:e}", mechanism.name);
            }
        }
    }
}

/// Convergence: with Baumgarte's stabilisation violation and error fall with the tolerance, and so with the step.
#[test]
fn stabilized_runs_of_the_shipped_manipulators_converge() {
    for mechanism in manipulators() {
        let methods = mechanism.methods();
        let exact = completed(
            &mechanism,
            &methods[0],
            &with_tolerance(&mechanism, "dop853", 1e-11),
        );
        let runs: Vec<(f64, f64)> = [1e-3, 1e-5, 1e-7]
            .into_iter()
            .map(|rtol| {
                let simulation = with_tolerance(&mechanism, "dopri5", rtol);
                let run = completed(&mechanism, &methods[5], &simulation);
                (apart(&run, &exact, &mechanism), violation(&run))
            })
            .collect();
        for pair in runs.windows(2) {
            // a hundredth of the tolerance gains at least a factor of ten
            assert!(pair[1].0 < 0.1 * pair[0].0, "{} {runs:?}", mechanism.name);
            assert!(pair[1].1 < 0.1 * pair[0].1, "{} {runs:?}", mechanism.name);
        }
    }
}
