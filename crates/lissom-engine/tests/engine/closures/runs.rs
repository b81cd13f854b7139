//! Whole runs: methods against each other, energy, violation, singular configurations.

use lissom_core::RunError;
use lissom_core::study::{Ending, Run, sample_instants};
use lissom_spec::spec::{RevoluteMotorSpec, SimulationSpec};
use lissom_spec::{ModelSpec, Tip};
use lissom_tree::ClosureMethod;

use super::mechanisms::{
    Mechanism, TRIPLE_ROCKER, four_bar, four_bar_of, planar_3rrr, slider_crank, spatial_3rrs,
};
use crate::models::{assembled, hinge, parsed};
use crate::numbers;
use crate::runs::{of_model, samples};

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
    method: &ClosureMethod,
    simulation: &SimulationSpec,
) -> Run {
    let spec = ModelSpec {
        simulation: simulation.clone(),
        ..mechanism.spec.clone()
    };
    let samples = sample_instants(&spec, &[]);
    of_model(&mechanism.with(method.clone()), simulation, &samples)
}

pub(crate) fn completed(
    mechanism: &Mechanism,
    method: &ClosureMethod,
    simulation: &SimulationSpec,
) -> Run {
    let run = ran(mechanism, method, simulation);
    assert_eq!(
        run.ending,
        Ending::Completed,
        "{} {method:?}",
        mechanism.name
    );
    run
}

/// Largest difference of two runs in the positions.
pub(crate) fn apart(a: &Run, b: &Run, mechanism: &Mechanism) -> f64 {
    let mut most = 0.0_f64;
    for coordinate in &mechanism.model.linkage.positions {
        let [a, b] = [a, b].map(|run| samples(&run.recording, &coordinate.name));
        most = most.max(numbers::apart(a, b));
    }
    most
}

fn loops_with_durations() -> Vec<(Mechanism, f64)> {
    vec![
        (four_bar(true, 0.7, ""), 0.2),
        (slider_crank(true, 1.1, ""), 0.1),
        (planar_3rrr(true), 0.05),
        (spatial_3rrs(true), 0.2),
    ]
}

/// Second formulations: independent coordinates and projected multipliers give the same motion, keep the loops
/// closed and balance the energy.
#[test]
fn methods_agree_over_whole_runs_and_stay_closed() {
    const AGREEMENT: f64 = 1e-8;
    const CLOSED: f64 = 1e-11;
    const ENERGY: f64 = 1e-9;
    for (mut mechanism, duration) in loops_with_durations() {
        // something to do where gravity does not pull
        if mechanism.model.linkage.system.gravity().0 == [0.0; 3] {
            mechanism = mechanism.started(0, 1.0);
        }
        let simulation = simulated(duration, 1e-11);
        let runs: Vec<_> = mechanism.methods()[..5]
            .iter()
            .map(|method| (method.clone(), completed(&mechanism, method, &simulation)))
            .collect();
        for (method, run) in &runs {
            let off = apart(&runs[0].1, run, &mechanism);
            let audit = run.audit.closures.as_ref().unwrap();
            let energy = run.audit.energy.max_drift_percent / 100.0;
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

/// Second formulations and the energy balance: joints that are driven, motors behind gears and nodes with an
/// orientation of their own work in loops as they do in trees.
#[test]
fn driven_joints_gears_and_exact_tips_work_in_loops() {
    const AGREEMENT: f64 = 1e-8;
    const ENERGY: f64 = 1e-9;
    let drive = "[[motion]]\njoint = \"crank\"\nconstant_rate.rate_rad_per_s = 3.0\n";
    let torque = "[[input]]\njoint = \"crank\"\ntorque_constant.value_n_m = 0.5\n";
    let geared = four_bar(true, 0.7, torque).changed(|spec| {
        let joint = spec.joint.iter_mut().find(|j| j.name == "crank").unwrap();
        joint.revolute.as_mut().unwrap().motor = Some(RevoluteMotorSpec {
            inertia_kg_m2: 1e-4,
            gear_ratio: 20.0,
            stiffness_n_m_per_rad: Some(200.0),
            damping_n_m_s_per_rad: 0.1,
        });
    });
    let exact = spatial_3rrs(true).changed(|spec| spec.fidelity.tip = Some(Tip::Exact));
    assert!(exact.model.linkage.positions.len() > spatial_3rrs(true).model.linkage.positions.len());
    for (mechanism, duration, work) in [
        (
            four_bar(true, 0.7, drive).started(0, 3.0),
            0.1,
            "crank.driving_torque",
        ),
        (geared, 0.1, "energy.work"),
        (exact, 0.1, "energy.kinetic"),
    ] {
        let simulation = simulated(duration, 1e-11);
        let runs = [
            ClosureMethod::Automatic,
            ClosureMethod::Projected,
            ClosureMethod::OperationalSpace,
        ]
        .map(|method| completed(&mechanism, &method, &simulation));
        for run in &runs {
            let off = apart(&runs[0], run, &mechanism);
            let energy = run.audit.energy.max_drift_percent / 100.0;
            assert!(off < AGREEMENT, "{} {work}: {off:e}", mechanism.name);
            assert!(energy < ENERGY, "{} {work}: {energy:e}", mechanism.name);
            let of = |run: &Run| run.recording.channel(work).unwrap().samples.clone();
            for (a, b) in of(&runs[0]).iter().zip(of(run)) {
                assert!(
                    (a - b).abs() < AGREEMENT * a.abs().max(1.0),
                    "{work}: {a} {b}"
                );
            }
        }
    }
}

/// Every integrator of first order keeps the loops closed.
#[test]
fn every_integrator_of_first_order_projects_its_steps() {
    const CLOSED: f64 = 1e-11;
    let mechanism = four_bar(true, 0.7, "");
    let reference = completed(
        &mechanism,
        &ClosureMethod::Automatic,
        &simulated(0.1, 1e-11),
    );
    for integrator in ["dopri5", "adams", "radau", "esdirk"] {
        for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
            let simulation = simulated_by(integrator, 0.1, 1e-7);
            let run = completed(&mechanism, &method, &simulation);
            let audit = run.audit.closures.as_ref().unwrap();
            let off = apart(&run, &reference, &mechanism);
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
    let method = ClosureMethod::Stabilized {
        frequency: 50.0,
        damping_ratio: 1.0,
    };
    let exact = completed(
        &mechanism,
        &ClosureMethod::Automatic,
        &simulated(0.5, 1e-11),
    );
    let runs: Vec<_> = [1e-4, 1e-6, 1e-8]
        .into_iter()
        .map(|rtol| {
            let run = completed(&mechanism, &method, &simulated_by("dopri5", 0.5, rtol));
            let violation = run.audit.closures.as_ref().unwrap().max_position_violation;
            let recorded = ["offset", "rotation"].map(|what| {
                let name = format!("pin.violation.{what}");
                let samples = &run.recording.channel(&name).unwrap().samples;
                samples.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
            });
            // the audit looks at every step too
            assert!(recorded[0] <= violation && recorded[1] <= violation);
            // the loop is planar: it opens, but does not tilt
            assert!(recorded[0] > 0.1 * violation && recorded[1] < 1e-15);
            (apart(&run, &exact, &mechanism), violation)
        })
        .collect();
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
    for (flexible, duration) in [(false, 0.6), (true, 0.18)] {
        let mechanism = four_bar_of(TRIPLE_ROCKER, flexible, 1.2, "").started(0, 8.0);
        let model = mechanism.with(ClosureMethod::Automatic);
        let first = lissom_tree::closure::Loops::new(&model.linkage, &model.initial_position)
            .unwrap()
            .unwrap()
            .independent(&mechanism.model.linkage);
        let simulation = simulated(duration, 1e-10);
        let projected = completed(&mechanism, &ClosureMethod::Projected, &simulation);
        let automatic = completed(&mechanism, &ClosureMethod::Automatic, &simulation);
        let repartitions = &automatic.audit.closures.as_ref().unwrap().repartitions;
        assert!(!repartitions.is_empty());
        assert_eq!(repartitions[0].before, first);
        assert_ne!(repartitions[0].before, repartitions[0].after);
        for repartition in repartitions {
            assert!(repartition.condition_after < repartition.condition_before);
        }
        let off = apart(&projected, &automatic, &mechanism);
        assert!(off < AGREEMENT, "{off:e}");
        assert!(automatic.audit.energy.max_drift_percent < 1e-7);

        // the same set, kept: the run ends there and says so
        let entry = mechanism
            .model
            .linkage
            .velocities
            .iter()
            .position(|c| c.name == first[0])
            .unwrap();
        let kept = ClosureMethod::JointSpace {
            independent: vec![entry],
        };
        // loosely, because steps shrink towards it
        let run = ran(&mechanism, &kept, &simulated(duration, 1e-6));
        let Ending::Failed(RunError::Singular {
            time_s,
            condition,
            coordinates,
        }) = &run.ending
        else {
            panic!("{:?}", run.ending);
        };
        assert!(*time_s > repartitions[0].time_s && *condition > 1e3);
        assert!(!coordinates.is_empty());
    }
}

/// A parallelogram that starts flat can leave that configuration in two ways: one equation seems to follow from
/// the others, and the run ends when it no longer does.
#[test]
fn an_equation_that_is_redundant_at_the_start_only_ends_the_run() {
    let mut mechanism = four_bar_of([0.3, 0.7, 0.3, 0.7], false, 0.5, "");
    mechanism.model.initial_position = vec![0.0; 3];
    mechanism.model.initial_velocity = vec![1.0, -1.0, 1.0];
    let run = ran(&mechanism, &ClosureMethod::Automatic, &simulated(0.5, 1e-8));
    let Ending::Failed(error @ RunError::NoLongerRedundant { equation, .. }) = &run.ending else {
        panic!("{:?}", run.ending);
    };
    assert!(equation.starts_with("pin"), "{error}");
}

/// Convergence: Newmark's method with closures approaches the run with error control at second order, and stays on the
/// closures.
#[test]
fn newmark_with_closures_is_of_second_order() {
    // rigid, so that steps of this size resolve everything
    let mechanism = four_bar(false, 0.7, "");
    let last = |simulation: &SimulationSpec, method: &ClosureMethod| {
        let run = ran(&mechanism, method, simulation);
        assert_eq!(run.ending, Ending::Completed);
        let violation = run.audit.closures.unwrap().max_position_violation;
        assert!(violation < 1e-11, "{violation}");
        run.recording.channels[0].samples.last().copied().unwrap()
    };
    for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
        let exact = last(&simulated(0.1, 1e-11), &method);
        let errors = [1e-3, 5e-4].map(|step| {
            let text = format!(
                "duration_s = 0.1\nintegrator.newmark = {{ step_s = {step}, tolerance = 1e-12 }}"
            );
            last(&toml::from_str(&text).unwrap(), &method) - exact
        });
        let order = (errors[0] / errors[1]).log2();
        assert!((order - 2.0).abs() < 0.2, "{method:?}: {errors:?}");
    }
}

/// The instant, condition number and coordinates of the singular configuration that ended a run, behind which nothing is
/// recorded.
fn singular(run: &Run) -> (f64, f64, &[String]) {
    match &run.ending {
        Ending::Failed(RunError::Singular {
            time_s,
            condition,
            coordinates,
        }) => {
            let last = *run.recording.time_s.last().unwrap();
            assert!(
                last <= *time_s,
                "recorded up to {last}, singular at {time_s}"
            );
            let reached = run.last.as_ref().unwrap().time_s;
            assert!(reached <= *time_s, "{reached} {time_s}");
            (*time_s, *condition, coordinates)
        }
        other => panic!("{other:?}"),
    }
}

/// Closed form: a slider-crank described by its slider is singular when the crank points along it. Steps much longer
/// than the place is wide jump over it; it is found all the same, as exactly as a cubic through both ends of the step
/// follows the motion.
#[test]
fn a_dead_point_is_noticed_by_steps_that_jump_over_it() {
    let crank = 0.3_f64;
    let mechanism = slider_crank(false, crank, "").changed(|spec| spec.gravity_m_per_s2 = [0.0; 3]);
    // towards its dead point
    let mechanism = mechanism.started(0, -20.0);
    let slide = mechanism
        .model
        .linkage
        .velocities
        .iter()
        .position(|c| c.name == "slide.displacement.rate")
        .unwrap();
    let chosen = ClosureMethod::JointSpace {
        independent: vec![slide],
    };
    let reference = completed(
        &mechanism,
        &ClosureMethod::Automatic,
        &simulated(0.1, 1e-11),
    );
    let angle = &reference.recording.channel("crank.angle").unwrap().samples;
    let times = &reference.recording.time_s;
    let after = angle.iter().position(|&x| x < 0.0).unwrap();
    let share = angle[after - 1] / (angle[after - 1] - angle[after]);
    // between samples 0.5 ms apart the crank turns almost evenly
    let expected = times[after - 1] + share * (times[after] - times[after - 1]);
    for (integrator, settings, tolerance) in [
        // cannot make the step that would jump over it; found ahead, to within a step
        ("newmark", "{ step_s = 0.004, tolerance = 1e-10 }", 4e-3),
        // hardly controlled: as coarse as its steps
        (
            "dopri5",
            "{ rtol = 1e-1, atol = 1e-1, initial_step_s = 0.004 }",
            4e-3,
        ),
        ("dop853", "{ rtol = 1e-6, atol = 1e-8 }", 1e-4),
    ] {
        let text = format!("duration_s = 0.1\nintegrator.{integrator} = {settings}");
        let run = ran(&mechanism, &chosen, &toml::from_str(&text).unwrap());
        let (time, condition, coordinates) = singular(&run);
        assert!(
            (time - expected).abs() < tolerance,
            "{integrator}: {time} instead of {expected}"
        );
        assert!(condition > 1e3, "{integrator}: {condition}");
        assert!(
            coordinates.iter().any(|c| c == "crank.angle.rate"),
            "{coordinates:?}"
        );
    }
}

/// Closed form: a parallelogram can fold over where all its links are in line, whichever way its equations are formed.
#[test]
fn a_change_point_is_noticed_under_every_method() {
    let drive = "[[motion]]\njoint = \"crank\"\nconstant_rate.rate_rad_per_s = 3.0\n";
    let start = 0.5;
    let driven = four_bar_of([0.3, 0.7, 0.3, 0.7], false, start, drive);
    let free = four_bar_of([0.3, 0.7, 0.3, 0.7], false, start, "")
        .changed(|spec| spec.gravity_m_per_s2 = [0.0; 3])
        .started(0, 3.0);
    let flat = (std::f64::consts::PI - start) / 3.0;
    // so that no step leads over two of its singular configurations
    let simulation = toml::from_str(
        "duration_s = 2.0\nintegrator.dop853 = { rtol = 1e-6, atol = 1e-8, max_step_s = 0.1 }",
    )
    .unwrap();
    for (mechanism, methods) in [
        (
            driven,
            vec![
                ClosureMethod::Automatic,
                ClosureMethod::Projected,
                ClosureMethod::OperationalSpace,
                ClosureMethod::Stabilized {
                    frequency: 50.0,
                    damping_ratio: 1.0,
                },
            ],
        ),
        {
            let mut methods = free.methods();
            // has singular configurations of its own
            methods.retain(|method| !matches!(method, ClosureMethod::CartesianSpace { .. }));
            (free, methods)
        },
    ] {
        for method in methods {
            let run = ran(&mechanism, &method, &simulation);
            let (time, condition, coordinates) = singular(&run);
            assert!(
                condition > 1e3 && !coordinates.is_empty(),
                "{method:?}: {condition}"
            );
            assert!(
                (time - flat).abs() < 1e-4,
                "{method:?}: {time} instead of {flat}"
            );
        }
    }
}

/// Closed form: in Bennett's linkage, four bars in space with $`a/\sin\alpha = b/\sin\beta`$, two of five equations are
/// independent, and not always the same two; joints across from each other turn alike, and
/// $`\tan(\theta_1/2)\tan(\theta_2/2) = \sin((\beta + \alpha)/2)/\sin((\beta - \alpha)/2)`$.
#[test]
fn equations_are_chosen_anew_when_others_become_independent() {
    /// Closed to 1e-13, and conditioned by less than a hundred where the right equations are kept.
    const CLOSED_FORM: f64 = 1e-11;
    let (a, b, alpha) = (0.5, 0.8, std::f64::consts::FRAC_PI_6);
    let beta = f64::asin(b * alpha.sin() / a);
    let bar = |name: &str, length: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = 1.0, center_of_mass_m = [{}, 0, 0], \
             inertia_kg_m2 = [0.01, 0.03, 0.03] }}\nnode = [{{ name = \"end\", position_m = [{length}, 0, 0] }}]\n",
            length / 2.0
        )
    };
    let end = |body: &str, twist: f64| {
        format!("{{ body = \"{body}\", at = \"end\", rotation_vector_rad = [{twist:.17}, 0, 0] }}")
    };
    let last = format!(
        "{{ body = \"ground\", position_m = [{}, 0, 0], rotation_vector_rad = [{:.17}, 0, 0] }}",
        -b, -beta
    );
    let text = [
        "format = 1\n".to_owned(),
        bar("first", a),
        bar("second", b),
        bar("third", a),
        hinge("one", "\"ground\"", "\"first\"", 1.0),
        hinge("two", &end("first", alpha), "\"second\"", 1.5),
        hinge("three", &end("second", beta), "\"third\"", -1.0),
        hinge("four", &last, &end("third", alpha), 0.0),
        "[[motion]]\njoint = \"one\"\nconstant_rate.rate_rad_per_s = 6.0\n\
         [simulation]\nduration_s = 2.2\n"
            .to_owned(),
    ]
    .concat();
    let spec = parsed(&text);
    let model = assembled(&spec);
    let mechanism = Mechanism {
        name: "Bennett's linkage",
        independent: Vec::new(),
        cartesian: (0, Vec::new()),
        spec,
        model,
    };
    let mut stabilized = mechanism.methods();
    for method in [
        ClosureMethod::Automatic,
        ClosureMethod::Projected,
        ClosureMethod::OperationalSpace,
        stabilized.swap_remove(5),
    ] {
        let run = completed(&mechanism, &method, &simulated(2.2, 1e-9));
        let audit = run.audit.closures.as_ref().unwrap();
        assert_eq!(audit.redundant.len(), 3, "{audit:?}");
        // what is only damped is as closed as the tolerance
        let tolerance = match method {
            ClosureMethod::Stabilized { .. } => 1e-6,
            _ => CLOSED_FORM,
        };
        let angles = |name: &str| samples(&run.recording, name);
        let (one, two, three) = (
            angles("one.angle"),
            angles("two.angle"),
            angles("three.angle"),
        );
        for ((one, two), three) in one.iter().zip(two).zip(three) {
            let ((s1, c1), (s2, c2)) = ((one / 2.0).sin_cos(), (two / 2.0).sin_cos());
            let apart = s1 * s2 * f64::sin((beta - alpha) / 2.0)
                - c1 * c2 * f64::sin(f64::midpoint(beta, alpha));
            assert!(apart.abs() < tolerance, "{method:?}: {apart:e} at {one}");
            let unlike = ((one + three) / 2.0).sin();
            assert!(unlike.abs() < tolerance, "{method:?}: {unlike:e} at {one}");
        }
    }
}
