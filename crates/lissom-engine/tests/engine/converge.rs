//! `converge`: stated errors against runs that are much finer.

use std::cell::Cell;

use lissom::converge::{ConvergeOptions, Convergence, CrossCheck, Task, converge};
use lissom_core::study::{Ending, Run, sample_instants};
use lissom_numerics::integrate::Flow;
use lissom_spec::spec::{BasisSpec, DampingSpec};
use lissom_spec::{ModelSpec, Override, TEMPLATE};

use crate::runs::mechanism;
use crate::shipped::{PLANAR_3RRR, ROTATING_BEAM, SHUTTLE_ARM};

/// A stated error is no less than the true one. Where differences are regular it is about the true one; at worst, where they
/// are not, three times what is left at the lowest order, which for two functions and more is some ten differences
/// where the true error is one or two. Twenty times as much would be of no use.
const MOST: f64 = 20.0;

/// Below this errors are rounding, in metres and radians.
const ROUNDING: f64 = 1e-11;

const OPTIONS: ConvergeOptions<'_> = ConvergeOptions {
    channels: None,
    within: 0.01,
    from: None,
    cross_check: false,
};

fn model(text: &str, changes: &[&str]) -> ModelSpec {
    let changes: Vec<Override> = changes
        .iter()
        .map(|c| Override::parse(c).unwrap())
        .collect();
    ModelSpec::parse(text, &changes).unwrap()
}

fn to_the_end(task: &Task<'_>) -> Run {
    task.simulate(&mut |_| Flow::Continue)
}

fn study(spec: &ModelSpec, options: &ConvergeOptions<'_>) -> Convergence {
    converge(&mechanism(spec), options, &mut to_the_end).unwrap()
}

/// Largest distance of two runs in the channels of a quantity, at their samples.
fn distance(one: &Run, other: &Run, channels: &[String]) -> f64 {
    let samples = one.recording.len();
    assert_eq!(samples, other.recording.len());
    let value = |run: &Run, name: &str, k: usize| run.recording.channel(name).unwrap().samples[k];
    let at = |k: usize| {
        let squares = channels
            .iter()
            .map(|name| (value(one, name, k) - value(other, name, k)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    (0..samples).map(at).fold(0.0, f64::max)
}

fn completed(spec: &ModelSpec) -> Run {
    let run = mechanism(spec).run(&sample_instants(spec, &[]));
    assert_eq!(run.ending, Ending::Completed);
    run
}

/// Holds the stated error of every quantity against a much finer run.
#[track_caller]
fn assert_stated(spec: &ModelSpec, finer: &ModelSpec) -> Convergence {
    let found = study(spec, &OPTIONS);
    let (user, truth) = (completed(spec), completed(finer));
    let mut held = 0;
    for (accuracy, measure) in found.accuracy.iter().zip(&found.measures) {
        let error = distance(&user, &truth, &measure.channels);
        let stated = accuracy.error.unwrap();
        if error < ROUNDING {
            continue;
        }
        held += 1;
        let ratio = stated / error;
        assert!(
            (1.0..=MOST).contains(&ratio),
            "{}: {stated} for {error}: {found:?}",
            accuracy.quantity
        );
    }
    assert!(held > 1);
    found
}

/// The model with so many functions more of every kind, tolerances a thousandth.
fn with_functions(spec: &ModelSpec, more: usize) -> ModelSpec {
    let mut finer = spec.clone();
    for beam in finer.body.iter_mut().filter_map(|body| body.beam.as_mut()) {
        match &mut beam.basis {
            BasisSpec::ClampedFree(counts) => {
                for count in [
                    &mut counts.bending_y,
                    &mut counts.bending_z,
                    &mut counts.stretch,
                    &mut counts.torsion,
                ] {
                    *count += if *count > 0 { more } else { 0 };
                }
            }
            BasisSpec::Elements(mesh) => {
                mesh.count = mesh.count.map(|count| count + more);
                mesh.modes = mesh.modes.map(|modes| modes + more);
            }
            // of which one stands behind static shapes
            BasisSpec::Auto(auto) => auto.functions = Some(1 + more),
            _ => panic!("another basis"),
        }
    }
    tightened(&finer)
}

/// The model with tolerances a thousandth, as far as rounding lets them.
fn tightened(spec: &ModelSpec) -> ModelSpec {
    let mut finer = spec.clone();
    if let Some(adaptive) = finer.simulation.integrator.adaptive_mut() {
        adaptive.rtol = (1e-3 * adaptive.rtol).max(1e-13);
        adaptive.atol *= 1e-3;
    }
    finer
}

#[test]
fn the_two_link_arm() {
    let spec = model(TEMPLATE, &["simulation.duration_s=0.6"]);
    let found = assert_stated(&spec, &with_functions(&spec, 6));
    // the two errors are told apart: functions matter, steps do not
    for accuracy in &found.accuracy {
        assert!(accuracy.time.unwrap() <= 0.1 * accuracy.bodies.unwrap() + ROUNDING);
        assert_eq!(accuracy.within, Some(true));
    }
    // what a plot of error against refinement needs
    for estimate in found.bodies.estimates.iter().flatten() {
        assert_eq!((estimate.errors.len(), estimate.changes.len()), (3, 2));
    }
    assert_eq!(found.bodies.levels[1].settings[0], "upper_arm bending_y 4");
}

#[test]
fn the_shuttle_arm() {
    let spec = model(
        SHUTTLE_ARM,
        &["simulation.duration_s=0.4", "output.sample_period_s=0.02"],
    );
    assert_stated(&spec, &with_functions(&spec, 5));
}

/// Two loops of beams whose elements are reduced to modes.
#[test]
fn the_planar_3rrr() {
    let spec = model(
        PLANAR_3RRR,
        &[
            "simulation.duration_s=0.1",
            "simulation.integrator.dop853.rtol=1e-8",
            "simulation.integrator.dop853.atol=1e-10",
        ],
    );
    assert_stated(&spec, &with_functions(&spec, 4));
}

/// The error of fixed steps is told apart from that of the bodies, each against its own truth.
#[test]
fn steps_are_told_apart_from_bodies() {
    let with = |integrator: &str| model(TEMPLATE, &["simulation.duration_s=0.3", integrator]);
    let spec = with("simulation.integrator={generalized_alpha={step_s=5e-3}}");
    let exact = with("simulation.integrator={dop853={rtol=1e-11,atol=1e-13}}");
    let found = study(&spec, &OPTIONS);
    let (user, steps) = (completed(&spec), completed(&exact));
    let functions = completed(&with_functions(&exact, 4));
    let mut held = 0;
    for (accuracy, measure) in found.accuracy.iter().zip(&found.measures) {
        let truths = [
            (accuracy.time, distance(&user, &steps, &measure.channels)),
            (
                accuracy.bodies,
                distance(&steps, &functions, &measure.channels),
            ),
        ];
        for (stated, error) in truths {
            let ratio = stated.unwrap() / error;
            assert!((1.0..=MOST).contains(&ratio), "{accuracy:?}: {error}");
            held += 1;
        }
    }
    // two markers and two joints
    assert_eq!(held, 8);
    assert!(found.time.levels[2].steps > 3 * found.time.levels[0].steps);
}

/// Elements of a tree, and those of the nodal formulation, which are refined alike.
#[test]
fn elements_are_refined() {
    let short = [
        "simulation.duration_s=0.1",
        "simulation.integrator={radau={rtol=1e-7,atol=1e-10}}",
    ];
    let mut spec = model(TEMPLATE, &short);
    for beam in spec.body.iter_mut().filter_map(|body| body.beam.as_mut()) {
        beam.basis = toml::from_str("elements = { count = 1 }").unwrap();
    }
    let tree = assert_stated(&spec, &with_functions(&spec, 5));
    assert_eq!(tree.bodies.levels[2].settings[1], "forearm 3 elements");

    let nodal = |elements: usize| {
        let formulation = format!("formulation={{nodal={{elements_per_link={elements}}}}}");
        model(TEMPLATE, &[short[0], short[1], &formulation])
    };
    let found = assert_stated(&nodal(1), &nodal(5));
    assert_eq!(found.bodies.levels[1].settings, ["2 elements per link"]);
}

/// Models that are written in elements have their beams divided.
#[test]
fn hand_written_elements_are_divided() {
    let spec = model(
        ROTATING_BEAM,
        &["simulation.duration_s=0.02", "output.sample_period_s=0.002"],
    );
    let found = study(&spec, &OPTIONS);
    assert!(found.bodies.applies);
    assert!(found.bodies.levels[1].settings[0].contains("divisions"));
    assert!(!found.accuracy.is_empty());
}

/// Rigid models have errors of time integration alone.
#[test]
fn rigid_models_have_no_error_of_bodies() {
    let text = r#"
        format = 1
        gravity_m_per_s2 = [0.0, -9.81, 0.0]
        body = [{ name = "arm", rigid = { mass_kg = 1.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] } }]
        joint = [{ name = "pivot", parent = "ground", child = "arm", revolute = { axis = [0.0, 0.0, 1.0] } }]
        simulation = { duration_s = 2.0, integrator = { dopri5 = { rtol = 1e-4, atol = 1e-6 } } }
    "#;
    let spec = model(text, &[]);
    let found = study(&spec, &OPTIONS);
    assert!(!found.bodies.applies);
    let truth = model(
        text,
        &["simulation.integrator={dop853={rtol=1e-12,atol=1e-13}}"],
    );
    let error = distance(
        &completed(&spec),
        &completed(&truth),
        &found.measures[0].channels,
    );
    let stated = found.accuracy[0].error.unwrap();
    assert!((1.0..=MOST).contains(&(stated / error)), "{stated} {error}");
}

/// What cannot be refined is not known, and says why.
#[test]
fn what_is_not_known_is_said() {
    let tight = "simulation.integrator={dop853={rtol=5e-14,atol=1e-15}}";
    let short = "simulation.duration_s=0.02";
    let found = study(&model(TEMPLATE, &[tight, short]), &OPTIONS);
    assert!(
        found
            .accuracy
            .iter()
            .all(|a| a.error.is_none() && a.time.is_none())
    );
    assert!(found.time.notes[0].contains("cannot be tightened"));

    // as many functions as damping is given for
    let mut spec = model(TEMPLATE, &[short]);
    spec.body[0].damping = Some(DampingSpec::ModalRatios(vec![0.01; 3]));
    let found = study(&spec, &OPTIONS);
    assert!(
        found
            .accuracy
            .iter()
            .all(|a| a.time.is_some() && a.bodies.is_none())
    );
    assert!(
        found.bodies.notes[0].contains("damping"),
        "{:?}",
        found.bodies.notes
    );
}

/// A state on the way is one of more functions, but not of a finer mesh.
#[test]
fn a_state_is_carried_over_to_more_functions() {
    let spec = model(TEMPLATE, &["simulation.duration_s=0.2"]);
    let half = model(TEMPLATE, &["simulation.duration_s=0.1"]);
    let state = completed(&half).last.unwrap();
    let from = ConvergeOptions {
        from: Some(&state),
        ..OPTIONS
    };
    let found = study(&spec, &from);
    assert!(
        found.accuracy.iter().all(|a| a.error.is_some()),
        "{found:?}"
    );

    let mut meshed = spec;
    for beam in meshed.body.iter_mut().filter_map(|body| body.beam.as_mut()) {
        beam.basis = toml::from_str("elements = { count = 1 }").unwrap();
    }
    let own = mechanism(&meshed).start().unwrap();
    let from = ConvergeOptions {
        from: Some(&own),
        ..OPTIONS
    };
    let found = study(&meshed, &from);
    assert!(
        found
            .accuracy
            .iter()
            .all(|a| a.time.is_some() && a.bodies.is_none())
    );
    assert!(found.bodies.notes[0].contains("finer one"), "{found:?}");
}

/// Whoever stops a run stops the study, which keeps what it knows.
#[test]
fn a_study_that_is_stopped_keeps_what_it_knows() {
    let spec = model(TEMPLATE, &["simulation.duration_s=0.05"]);
    let runs = Cell::new(0);
    let mut stopped_in_fourth = |task: &Task<'_>| {
        runs.set(runs.get() + 1);
        task.simulate(&mut |_| match runs.get() {
            4 => Flow::Stop,
            _ => Flow::Continue,
        })
    };
    let found = converge(&mechanism(&spec), &OPTIONS, &mut stopped_in_fourth).unwrap();
    assert_eq!(runs.get(), 4);
    assert!(found.interrupted);
    assert!(
        found
            .accuracy
            .iter()
            .all(|a| a.time.is_some() && a.error.is_none())
    );
}

/// Both formulations of an arm agree as far as their discretisations go.
#[test]
fn the_other_formulation_is_near() {
    let spec = model(
        TEMPLATE,
        &["simulation.duration_s=0.03", "output.sample_period_s=0.003"],
    );
    let options = ConvergeOptions {
        cross_check: true,
        ..OPTIONS
    };
    let check = study(&spec, &options).formulation.unwrap();
    // coarse and fine bodies, and finer time steps
    assert_eq!(check.levels.len(), 3);
    assert_explained(&check);
}

/// All that both formulations differ by is left of their bodies and time steps.
#[track_caller]
fn assert_explained(check: &CrossCheck) {
    assert!(
        !check.gaps.is_empty() && check.notes.is_empty(),
        "{check:?}"
    );
    for gap in &check.gaps {
        assert!(gap.difference <= gap.explained.unwrap(), "{gap:?}");
    }
}

/// What time steps leave, of the user's run or of the other formulation's, is not blamed on the equations.
#[test]
fn coarse_steps_are_no_contradiction() {
    /// Share of what is found that time steps make here.
    const MOST_OF_IT: f64 = 0.9;
    let options = ConvergeOptions {
        cross_check: true,
        ..OPTIONS
    };
    let short = [
        "simulation.duration_s=0.2",
        "simulation.integrator={generalized_alpha={step_s=2e-2}}",
    ];
    for formulation in [
        "formulation=tree",
        "formulation={nodal={elements_per_link=2}}",
    ] {
        let found = study(
            &model(TEMPLATE, &[short[0], short[1], formulation]),
            &options,
        );
        for accuracy in &found.accuracy {
            assert!(accuracy.time.unwrap() > MOST_OF_IT * accuracy.error.unwrap());
        }
        assert_explained(&found.formulation.unwrap());
    }
}

/// By hand: components of a vector are one quantity; energies, which belong to the whole mechanism, are one each. A name is the beginning of
/// others, and quantities come in the order of a recording.
#[test]
fn components_of_a_vector_are_one_quantity() {
    let names = [
        "hand.position.x",
        "hand.position.y",
        "elbow.angle",
        "energy.work",
        "energy.total",
    ];
    let channels = names.map(str::to_owned);
    let short = model(TEMPLATE, &["simulation.duration_s=0.01"]);
    let options = ConvergeOptions {
        channels: Some(&channels),
        ..OPTIONS
    };
    let found = study(&short, &options);
    let found: Vec<_> = found.measures.iter().map(|m| m.quantity.as_str()).collect();
    assert_eq!(
        found,
        [
            "elbow.angle",
            "elbow.angle.rate",
            "hand.position",
            "energy.total",
            "energy.work"
        ]
    );
}
