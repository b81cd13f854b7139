//! Whole runs: methods against each other, energy, violation, singular configurations.

use lissom::integrate::Flow;
use lissom::model::spec::SimulationSpec;
use lissom::model::{ClosureMethod, ModelSpec};
use lissom::simulate::{Ending, Run, RunError, run, sample_instants};

use super::mechanisms::{
    Mechanism, TRIPLE_ROCKER, four_bar, four_bar_of, planar_3rrr, slider_crank, spatial_3rrs,
};

/// Settings of a run with `dop853`.
pub(crate) fn simulated(duration_s: f64, rtol: f64) -> SimulationSpec {
    simulated_by("dop853", duration_s, rtol)
}

fn simulated_by(method: &str, duration_s: f64, rtol: f64) -> SimulationSpec {
    let text = format!(
        "duration_s = {duration_s}\nintegrator.{method} = {{ rtol = {rtol:e}, atol = {:e} }}",
        rtol * 1e-2
    );
    toml::from_str(&text).unwrap()
}

pub(crate) fn ran(
    mechanism: &Mechanism,
    method: ClosureMethod,
    simulation: &SimulationSpec,
) -> Run {
    let spec = ModelSpec {
        simulation: simulation.clone(),
        ..mechanism.spec.clone()
    };
    let samples = sample_instants(&spec, &[]);
    run(
        &mechanism.with(method),
        simulation,
        &samples,
        None,
        &mut |_| Flow::Continue,
    )
}

pub(crate) fn completed(
    mechanism: &Mechanism,
    method: ClosureMethod,
    simulation: &SimulationSpec,
) -> Run {
    let run = ran(mechanism, method.clone(), simulation);
    assert_eq!(
        run.ending,
        Ending::Completed,
        "{} {method:?}",
        mechanism.name
    );
    run
}

/// Largest difference of two runs in the positions.
fn apart(a: &Run, b: &Run, mechanism: &Mechanism) -> f64 {
    let mut most = 0.0_f64;
    for coordinate in &mechanism.model.positions {
        let of = |run: &Run| {
            run.recording
                .channel(&coordinate.name)
                .unwrap()
                .samples
                .clone()
        };
        for (x, y) in of(a).iter().zip(of(b)) {
            most = most.max((x - y).abs());
        }
    }
    most
}

/// Second formulations: independent coordinates and projected multipliers give the same motion, keep the loops
/// closed and balance the energy.
#[test]
fn methods_agree_over_whole_runs_and_stay_closed() {
    const AGREEMENT: f64 = 1e-8;
    const CLOSED: f64 = 1e-11;
    const ENERGY: f64 = 1e-9;
    for (mut mechanism, duration) in [
        (four_bar(true, 0.7, ""), 0.5),
        (slider_crank(true, 1.1, ""), 0.3),
        (planar_3rrr(true), 0.05),
        (spatial_3rrs(true), 0.2),
    ] {
        // something to do where gravity does not pull
        if mechanism.model.system.gravity().0 == [0.0; 3] {
            mechanism = mechanism.started(0, 1.0);
        }
        let simulation = simulated(duration, 1e-11);
        let runs: Vec<_> = mechanism.methods()[..5]
            .iter()
            .map(|method| {
                (
                    method.clone(),
                    completed(&mechanism, method.clone(), &simulation),
                )
            })
            .collect();
        for (method, run) in &runs {
            let off = apart(&runs[0].1, run, &mechanism);
            let audit = run.audit.closures.as_ref().unwrap();
            let energy = run.audit.energy.max_drift_percent / 100.0;
            println!(
                "{} {method:?}: apart {off:.1e}, violation {:.1e} {:.1e}, energy {energy:.1e}, {} steps",
                mechanism.name,
                audit.max_position_violation,
                audit.max_velocity_violation,
                run.statistics.steps
            );
            assert!(off < AGREEMENT, "{} {method:?}: {off:e}", mechanism.name);
            assert!(
                audit.max_position_violation < CLOSED,
                "{method:?} {audit:?}"
            );
            assert!(
                audit.max_velocity_violation < CLOSED,
                "{method:?} {audit:?}"
            );
            assert!(
                energy < ENERGY,
                "{} {method:?}: energy {energy:e}",
                mechanism.name
            );
        }
    }
}

/// Every integrator of first order keeps the loops closed.
#[test]
fn every_integrator_of_first_order_projects_its_steps() {
    const CLOSED: f64 = 1e-11;
    let mechanism = four_bar(true, 0.7, "");
    let reference = completed(&mechanism, ClosureMethod::Automatic, &simulated(0.3, 1e-11));
    for integrator in ["dopri5", "adams", "radau"] {
        for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
            let simulation = simulated_by(integrator, 0.3, 1e-7);
            let run = completed(&mechanism, method.clone(), &simulation);
            let audit = run.audit.closures.as_ref().unwrap();
            let off = apart(&run, &reference, &mechanism);
            println!("{integrator} {method:?}: {off:.1e} {audit:?}");
            assert!(
                audit.max_position_violation < CLOSED,
                "{integrator} {method:?}"
            );
            // errors accumulate over some hundred steps of 1e-7 each at most
            assert!(off < 1e-5, "{integrator} {method:?}: {off:e}");
        }
    }
}

/// Convergence: with Baumgarte's stabilisation the violation and the error fall with the step.
#[test]
fn stabilized_runs_converge_to_the_others() {
    // rigid, so that accuracy and not stability sets the step
    let mechanism = four_bar(false, 0.7, "").started(0, 12.0);
    let method = || ClosureMethod::Stabilized {
        frequency: 50.0,
        damping_ratio: 1.0,
    };
    let exact = completed(&mechanism, ClosureMethod::Automatic, &simulated(0.5, 1e-11));
    let runs: Vec<_> = [1e-4, 1e-6, 1e-8]
        .into_iter()
        .map(|rtol| {
            let run = completed(&mechanism, method(), &simulated_by("dopri5", 0.5, rtol));
            let violation = run.audit.closures.as_ref().unwrap().max_position_violation;
            (apart(&run, &exact, &mechanism), violation)
        })
        .collect();
    println!("{runs:?}");
    for pair in runs.windows(2) {
        // a hundredth of the tolerance gains at least a factor of ten
        assert!(pair[1].0 < 0.1 * pair[0].0, "{runs:?}");
        assert!(pair[1].1 < 0.1 * pair[0].1, "{runs:?}");
    }
}

/// The first independent set becomes singular on the way; the automatic choice changes it, records that, and
/// goes where multipliers go, which have no set.
#[test]
fn independent_coordinates_are_chosen_anew_at_a_singularity() {
    const AGREEMENT: f64 = 1e-8;
    for flexible in [false, true] {
        let mechanism = four_bar_of(TRIPLE_ROCKER, flexible, 1.2, "").started(0, 8.0);
        let first = lissom::closure::Loops::new(&mechanism.with(ClosureMethod::Automatic))
            .unwrap()
            .unwrap()
            .independent(&mechanism.model);
        let simulation = simulated(0.6, 1e-11);
        let projected = completed(&mechanism, ClosureMethod::Projected, &simulation);
        let automatic = completed(&mechanism, ClosureMethod::Automatic, &simulation);
        let rechoices = &automatic.audit.closures.as_ref().unwrap().rechoices;
        println!("{rechoices:#?}");
        assert!(!rechoices.is_empty());
        assert_eq!(rechoices[0].before, first);
        assert_ne!(rechoices[0].before, rechoices[0].after);
        for rechoice in rechoices {
            assert!(rechoice.condition_after < rechoice.condition_before);
        }
        let off = apart(&projected, &automatic, &mechanism);
        println!(
            "apart {off:e}, energy {:e} %",
            automatic.audit.energy.max_drift_percent
        );
        assert!(off < AGREEMENT, "{off:e}");
        assert!(automatic.audit.energy.max_drift_percent < 1e-7);

        // the same set, kept: the run ends there and says so
        let entry = mechanism
            .model
            .velocities
            .iter()
            .position(|c| c.name == first[0])
            .unwrap();
        let kept = ClosureMethod::JointSpace {
            independent: vec![entry],
        };
        let run = ran(&mechanism, kept, &simulation);
        let Ending::Failed(RunError::Singular {
            time_s,
            condition,
            coordinates,
        }) = &run.ending
        else {
            panic!("{:?}", run.ending);
        };
        println!("ends at {time_s} with {condition:e}: {coordinates:?}");
        assert!(*time_s > rechoices[0].time_s && *condition > 1e3);
        assert!(!coordinates.is_empty());
    }
}

/// A method of second order cannot be used.
#[test]
fn methods_of_second_order_are_refused() {
    let mechanism = four_bar(true, 0.7, "");
    let simulation: SimulationSpec =
        toml::from_str("duration_s = 0.1\nintegrator.newmark = { step_s = 1e-3 }").unwrap();
    let run = ran(&mechanism, ClosureMethod::Automatic, &simulation);
    let Ending::Failed(error @ RunError::Closure { .. }) = &run.ending else {
        panic!("{:?}", run.ending);
    };
    assert!(error.to_string().contains("newmark"), "{error}");
}
