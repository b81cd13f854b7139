//! Loops that pass dead points of the joints that lead them: in the nodal formulation others take over, as in the tree.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use lissom::{Inputs, Simulation};
use lissom_core::State;
use lissom_core::study::{
    Ending, Linearized, OperatingPoint, OutputOrder, PerturbOptions, Run, SimulateOptions,
    sample_instants,
};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::{Flow, IntegrateError, Statistics};
use lissom_numerics::linear::{Interpolation, SignalNames, Terms};
use lissom_numerics::statics::Stability;
use lissom_spec::ModelSpec;
use nalgebra::DVector;

use crate::closures::four_bar_angles;
use crate::models::{hinge, joint, parsed, revolute};
use crate::numbers::distance;
use crate::runs::{
    assert_alike, completed, in_nodes, in_tree, last, nodal_mechanism, samples, tree_mechanism,
    value_at, vector,
};

/// Lengths with which no link turns around: crank, coupler, rocker, ground.
const TRIPLE_ROCKER: [f64; 4] = [0.5, 0.6, 0.55, 0.9];
/// A coupler that bends, as keys of a beam.
const BENDING: &str = "mass_per_length_kg_per_m = 0.8\nbending_stiffness_y_n_m2 = 60.0\nbasis.clamped_free = { bending_y = 3 }";
const TIGHT: &str = "integrator.dop853 = { rtol = 1e-12, atol = 1e-13 }";

fn link(text: &mut String, name: &str, length: f64, mass: f64) {
    let (half, inertia) = (0.5 * length, mass * length * length / 12.0);
    write!(
        text,
        "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = {mass}, center_of_mass_m = [{half}, 0, 0], \
         inertia_kg_m2 = [1e-4, {inertia}, {inertia}] }}\n\
         node = [{{ name = \"tip\", position_m = [{length}, 0, 0] }}]\n"
    )
    .unwrap();
}

/// A four-bar under gravity that starts with a turning crank; its coupler bends where `coupler` are keys of a beam.
fn four_bar(lengths: [f64; 4], crank: f64, coupler: Option<&str>, simulation: &str) -> ModelSpec {
    let [a, b, c, d] = lengths;
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    link(&mut text, "crank", a, 0.4);
    match coupler {
        None => link(&mut text, "coupler", b, 0.5),
        Some(keys) => {
            writeln!(
                text,
                "[[body]]\nname = \"coupler\"\n[body.beam]\nlength_m = {b}\n{keys}"
            )
            .unwrap();
        }
    }
    link(&mut text, "rocker", c, 0.4);
    let (coupler, rocker) = four_bar_angles(lengths, crank);
    let turning =
        format!(", initial_angle_rad = {crank:.17}, initial_rate_rad_per_s = 8.0, held = true");
    text += &revolute("crank", "\"ground\"", "\"crank\"", &turning);
    let at_tip = "{ body = \"crank\", at = \"tip\" }";
    text += &hinge("coupler", at_tip, "\"coupler\"", coupler - crank);
    let ground = format!("{{ body = \"ground\", position_m = [{d}, 0, 0] }}");
    text += &hinge("rocker", &ground, "\"rocker\"", rocker);
    write!(
        text,
        "[[loop]]\nname = \"pin\"\nfrom = {{ body = \"coupler\", at = \"tip\" }}\n\
         to = {{ body = \"rocker\", at = \"tip\" }}\nrevolute.axis = [0.0, 0.0, 1.0]\n\
         [[marker]]\nname = \"pin\"\nbody = \"rocker\"\nat = \"tip\"\n\
         [simulation]\n{simulation}\n[output]\nsample_period_s = 0.05\n"
    )
    .unwrap();
    parsed(&text)
}

fn triple_rocker(duration_s: f64, integrator: &str) -> ModelSpec {
    let simulation = format!("duration_s = {duration_s}\n{integrator}");
    four_bar(TRIPLE_ROCKER, 1.2, None, &simulation)
}

/// A slider-crank so large that the slider leads where it starts; gravity pulls along its way and across.
fn slider_crank(gravity: [f64; 3], rate: f64, simulation: &str) -> ModelSpec {
    let (r, l, crank) = (2.0, 5.0, 1.1_f64);
    let rod = (-r * crank.sin() / l).asin();
    let slide = r * crank.cos() + l * rod.cos();
    let mut text = format!("format = 1\ngravity_m_per_s2 = {gravity:?}\n");
    link(&mut text, "crank", r, 3.0);
    link(&mut text, "rod", l, 4.0);
    text += "[[body]]\nname = \"slider\"\nrigid = { mass_kg = 2.0, inertia_kg_m2 = [1e-2, 1e-2, 1e-2] }\n";
    let turning =
        format!(", initial_angle_rad = {crank:.17}, initial_rate_rad_per_s = {rate}, held = true");
    text += &revolute("crank", "\"ground\"", "\"crank\"", &turning);
    let at_tip = "{ body = \"crank\", at = \"tip\" }";
    text += &hinge("rod", at_tip, "\"rod\"", rod - crank);
    let slides =
        format!("prismatic = {{ axis = [1, 0, 0], initial_displacement_m = {slide:.17} }}");
    text += &joint("slide", "\"ground\"", "\"slider\"", &slides);
    write!(
        text,
        "[[loop]]\nname = \"pin\"\nfrom = {{ body = \"rod\", at = \"tip\" }}\nto = \"slider\"\n\
         revolute.axis = [0.0, 0.0, 1.0]\n[simulation]\n{simulation}\n[output]\nsample_period_s = 0.1\n"
    )
    .unwrap();
    parsed(&text)
}

/// The joint that leads where a mechanism starts.
fn leading(mechanism: &Mechanism) -> String {
    mechanism.coordinates().unwrap()[0][0].name.clone()
}

fn changes(run: &Run) -> usize {
    let closures = run.audit.closures.as_ref().unwrap();
    for change in &closures.repartitions {
        assert_ne!(change.before, change.after);
        assert!(
            change.condition_before > 4.0 && change.condition_after < 2.0,
            "{change:?}"
        );
    }
    assert!(closures.max_position_violation < 1e-12, "{closures:?}");
    assert!(closures.max_velocity_violation < 1e-12, "{closures:?}");
    closures.repartitions.len()
}

/// Two formulations, and conservation of energy: rigid linkages swing and turn through dead points of every joint that leads.
#[test]
fn rigid_linkages_pass_dead_points_as_the_tree_does() {
    const AGREEMENT: f64 = 1e-9;
    let rocking = triple_rocker(1.0, TIGHT);
    assert_eq!(leading(&nodal_mechanism(&rocking, 1)), "coupler.angle");
    let turning = slider_crank(
        [0.0, -9.81, 0.0],
        6.0,
        &format!("duration_s = 1.5\n{TIGHT}"),
    );
    assert_eq!(leading(&nodal_mechanism(&turning, 1)), "slide.displacement");
    for (spec, passages) in [(rocking, 4), (turning, 1)] {
        let (tree, nodes) = (completed(in_tree(&spec)), completed(in_nodes(&spec, 1)));
        assert!(assert_alike(&tree, &nodes, AGREEMENT) > 10);
        assert!(changes(&nodes) >= passages, "{:?}", nodes.audit.closures);
        // percent of the peak
        assert!(nodes.audit.energy.max_drift_percent < 1e2 * AGREEMENT);
    }
}

/// Convergence: methods with fixed steps and implicit ones pass as well, of second order where steps are fixed.
#[test]
fn every_method_passes_dead_points() {
    let exact = completed(in_nodes(&triple_rocker(0.5, TIGHT), 1));
    let error = |integrator: &str| {
        let run = completed(in_nodes(&triple_rocker(0.5, integrator), 1));
        assert!(changes(&run) >= 2, "{integrator}");
        (last(&run.recording, "crank.angle") - last(&exact.recording, "crank.angle")).abs()
    };
    for method in ["radau", "dopri5", "adams"] {
        let found = error(&format!(
            "integrator.{method} = {{ rtol = 1e-8, atol = 1e-10 }}"
        ));
        assert!(found < 1e-5, "{method}: {found:e}");
    }
    for method in ["newmark", "generalized_alpha"] {
        let errors = [2e-3, 1e-3].map(|step| {
            error(&format!(
                "integrator.{method} = {{ step_s = {step}, tolerance = 1e-10 }}"
            ))
        });
        let order = (errors[0] / errors[1]).log2();
        assert!((order - 2.0).abs() < 0.4, "{method}: {errors:?}");
    }
}

fn to(mechanism: &Mechanism, start: &State, end_s: f64) -> Run {
    let mut simulation = mechanism.spec().simulation.clone();
    simulation.duration_s = end_s;
    let options = SimulateOptions {
        samples: &[],
        channels: None,
        most_lengths: f64::INFINITY,
    };
    completed(mechanism.simulate(start, &simulation, &options, &mut |_| Flow::Continue))
}

/// To the last bit: a run goes on from a state behind a change, and from one that was written down by name.
#[test]
fn a_run_goes_on_from_behind_a_change() {
    const STEP: &str = "integrator.newmark = { step_s = 9.765625e-4, tolerance = 1e-10 }";
    let mechanism = nodal_mechanism(&triple_rocker(0.5, STEP), 1);
    let start = mechanism.start().unwrap();
    let whole = to(&mechanism, &start, 0.5);
    let half = to(&mechanism, &start, 0.25);
    assert!(changes(&half) >= 1 && changes(&whole) > changes(&half));
    let state = half.last.unwrap();
    let end = whole.last.unwrap();
    let layout = mechanism.layout_of(&state.memory).unwrap();
    assert_ne!(layout[0].name, leading(&mechanism));
    let given: BTreeMap<String, f64> = (layout.iter().zip(state.packed()))
        .map(|(coordinate, value)| (coordinate.name.clone(), value))
        .collect();
    let written = State {
        integrator: state.integrator.clone(),
        ..mechanism
            .exact_state(state.time_s, &given, &state.memory)
            .unwrap()
    };
    assert_eq!(written.position, state.position);
    for from in [&state, &written] {
        let rest = to(&mechanism, from, 0.5).last.unwrap();
        assert_eq!(
            (&rest.position, &rest.velocity),
            (&end.position, &end.velocity)
        );
        assert_eq!(rest.memory, end.memory);
    }
}

/// Identity: whoever steps a mechanism from outside sees what a run records, and a recording gives back the states of a run on
/// either side of a dead point.
#[test]
fn those_who_look_see_the_same_behind_a_change() {
    const TOLERANCE: f64 = 1e-7;
    let spec = triple_rocker(0.6, "integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }");
    let mechanism = nodal_mechanism(&spec, 1);
    let run = completed(mechanism.run(&sample_instants(&spec, &[])));
    assert!(changes(&run) >= 2);
    for (sample, &time_s) in run.recording.time_s.iter().enumerate() {
        let state = mechanism.recorded_state(&run.recording, time_s).unwrap();
        let pose = &mechanism.marker_poses(&state).unwrap()[0];
        let recorded = [
            vector(&run.recording, "pin.position", sample),
            vector(&run.recording, "pin.velocity", sample),
        ];
        assert!(
            distance(pose.pose.translation.0, recorded[0]) < 1e-9,
            "{time_s}"
        );
        assert!(
            distance(pose.twist.linear.0, recorded[1]) < 1e-8,
            "{time_s}"
        );
    }
    let start = mechanism.start().unwrap();
    let mut stepped =
        Simulation::new(Arc::new(mechanism), &start, &spec.simulation.integrator).unwrap();
    for to_s in [0.1, 0.2, 0.35, 0.5] {
        stepped.advance(to_s, Inputs::OfModel).unwrap();
        for channel in ["crank.angle", "coupler.angle", "rocker.angle.rate"] {
            let wanted = value_at(&run.recording, channel, to_s);
            let found = stepped.value(channel).unwrap();
            assert!(
                (found - wanted).abs() < TOLERANCE,
                "{channel} {to_s}: {found} {wanted}"
            );
        }
    }
}

/// Square of the frequency with which a linkage of one degree of freedom swings about its equilibrium near a state.
fn swings(mechanism: &Mechanism, from: &State) -> f64 {
    let found = mechanism
        .linearize(from, OperatingPoint::Equilibrium, &[], &mut |_| {
            Flow::Continue
        })
        .unwrap();
    let linear = &found.trajectory.points()[0].linear;
    let stiffness = &linear.structural + &linear.dynamic + &linear.geometric;
    stiffness[(0, 0)] / linear.mass[(0, 0)]
}

/// Two formulations: where a linkage rests and how it swings there, sought from a state behind a change, and where it rests at a
/// dead point of the joint that leads at the start.
#[test]
fn linkages_rest_and_swing_as_the_tree_does() {
    const AGREEMENT: f64 = 1e-8;
    let rocking = triple_rocker(0.35, "integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }");
    let hanging = slider_crank([9.81, 0.0, 0.0], 0.0, "duration_s = 0.1");
    for (spec, joint, moves) in [
        (rocking, "rocker.angle", true),
        (hanging, "crank.angle", false),
    ] {
        let found = [tree_mechanism(&spec), nodal_mechanism(&spec, 1)].map(|mechanism| {
            let start = mechanism.start().unwrap();
            let from = if moves {
                to(&mechanism, &start, 0.35).last.unwrap()
            } else {
                start
            };
            let rest = mechanism.equilibrium(&from).unwrap();
            (last(&rest.recording, joint), swings(&mechanism, &from))
        });
        let [(tree, tree_square), (nodes, nodes_square)] = found;
        assert!((tree - nodes).abs() < AGREEMENT, "{joint}: {tree} {nodes}");
        let off = (tree_square - nodes_square).abs();
        assert!(
            off < AGREEMENT * tree_square.abs(),
            "{tree_square} {nodes_square}"
        );
        if !moves {
            // closed form: it hangs along its way
            assert!(nodes.abs() < AGREEMENT);
        }
    }
}

/// By construction: where the mechanism itself is singular, as a parallelogram is where it is folded, and where the model says which
/// joint leads, the run ends, and says where to look.
#[test]
fn singular_configurations_still_end_a_run() {
    let loose = "duration_s = 1.0\nintegrator.dop853 = { rtol = 1e-6, atol = 1e-8 }";
    let folding = four_bar([0.3, 0.7, 0.3, 0.7], 0.5, None, loose);
    let led = format!("{loose}\nclosure.joint_space.independent = [\"coupler\"]");
    let led = four_bar(TRIPLE_ROCKER, 1.2, None, &led);
    for spec in [folding, led] {
        let run = in_nodes(&spec, 1);
        let Ending::Failed(error) = &run.ending else {
            panic!("{:?}", run.ending);
        };
        let said = error.to_string();
        let joints = ["crank.angle", "coupler.angle", "rocker.angle", "pin."];
        assert!(joints.iter().any(|joint| said.contains(joint)), "{said}");
        assert!(said.contains("singular"), "{said}");
    }
}

/// Two formulations: a linkage whose coupler bends passes dead points too; the closer to the tree's, the more elements there are.
#[test]
fn a_linkage_that_bends_passes_dead_points() {
    let simulation = "duration_s = 0.25\nintegrator.dop853 = { rtol = 1e-8, atol = 1e-10 }";
    let spec = four_bar(TRIPLE_ROCKER, 1.2, Some(BENDING), simulation);
    let tree = completed(in_tree(&spec));
    let errors = [1, 3].map(|elements| {
        let nodes = completed(in_nodes(&spec, elements));
        assert!(changes(&nodes) >= 1);
        let [a, b] = [&tree, &nodes].map(|run| samples(&run.recording, "crank.angle"));
        crate::numbers::apart(a, b)
    });
    assert!(
        errors[1] < 0.2 * errors[0] && errors[1] < 1e-3,
        "{errors:?}"
    );
}

/// By construction: an evaluation that fails is the reason of a run that ends with it, and of no later one.
#[test]
fn only_the_last_evaluation_says_why_a_run_ended() {
    let mechanism = nodal_mechanism(&triple_rocker(0.1, TIGHT), 1);
    let start = mechanism.start().unwrap();
    let mut dynamics = mechanism.dynamics(&start).unwrap();
    let good = start.packed();
    let mut beyond_reach = good.clone();
    beyond_reach[0] = 3.5;
    let mut rate = vec![0.0; good.len()];
    let ended = Err(IntegrateError::StepTooSmall {
        time: 0.0,
        component: 0,
        statistics: Statistics::default(),
    });
    dynamics.derivative(0.0, &beyond_reach, &mut rate);
    assert!(rate[0].is_nan() && dynamics.failure(&ended).is_some());
    dynamics.derivative(0.0, &good, &mut rate);
    assert!(rate.iter().all(|x| x.is_finite()) && dynamics.failure(&ended).is_none());
}

/// Symmetry: wherever a linkage is caught on its way, it is found at rest where it hangs, or where it stands on its head, which is the same
/// place mirrored at the ground.
#[test]
fn a_linkage_comes_to_rest_from_anywhere_on_its_way() {
    const AGREEMENT: f64 = 1e-7;
    let spec = triple_rocker(1.5, "integrator.dop853 = { rtol = 1e-10, atol = 1e-11 }");
    let mechanism = tree_mechanism(&spec);
    let run = completed(mechanism.run(&sample_instants(&spec, &[])));
    let rest = |time_s: f64| {
        let state = mechanism.recorded_state(&run.recording, time_s).unwrap();
        let rest = mechanism.equilibrium(&state);
        let rest = rest.unwrap_or_else(|error| panic!("{time_s}: {error}"));
        (
            last(&rest.recording, "crank.angle"),
            rest.stability.unwrap(),
        )
    };
    // another test has this one in both formulations
    let (hanging, _) = rest(0.35);
    let mut found = [0; 2];
    for &time_s in &run.recording.time_s {
        let (crank, stability) = rest(time_s);
        let hangs = stability == Stability::Stable;
        let wanted = if hangs { hanging } else { -hanging };
        assert!((crank - wanted).abs() < AGREEMENT, "{time_s}: {crank}");
        found[usize::from(hangs)] += 1;
    }
    assert!(found[1] > 10, "{found:?}");
}

/// Linearised at instants of a motion that begins at a state.
fn along(mechanism: &Mechanism, from: &State, at: OperatingPoint, points: usize) -> Linearized {
    let duration_s = mechanism.spec().simulation.duration_s;
    let times: Vec<f64> = (0..points)
        .map(|i| duration_s * i as f64 / (points - 1) as f64)
        .collect();
    let found = mechanism.linearize(from, at, &times, &mut |_| Flow::Continue);
    found.unwrap_or_else(|error| panic!("{points} instants: {error}"))
}

/// Identity: where other joints take over along a run, equations in either set of coordinates say the same of every motion: its
/// energy, the power of inputs, where markers and joints go. Both formulations have the same inputs and outputs, before and after.
#[test]
fn equations_in_either_coordinates_say_the_same_of_every_motion() {
    /// Rounding, of matrices that grow with the squares of gains of about ten.
    const SAME: f64 = 1e-9;
    let simulation = "duration_s = 0.4\nintegrator.dop853 = { rtol = 1e-9, atol = 1e-11 }";
    let rigid = four_bar(TRIPLE_ROCKER, 1.2, None, simulation);
    let bends = four_bar(TRIPLE_ROCKER, 1.2, Some(BENDING), simulation);
    for spec in [rigid, bends] {
        let names = [tree_mechanism(&spec), nodal_mechanism(&spec, 2)].map(|mechanism| {
            let start = mechanism.start().unwrap();
            let found = along(&mechanism, &start, OperatingPoint::Run, 41);
            assert!(!found.further.is_empty());
            let all: Vec<_> = found.stretches().collect();
            for pair in all.windows(2) {
                let [before, after] = [pair[0], pair[1]];
                assert_ne!(before.coordinates(), after.coordinates());
                let points = [before.points().last(), after.points().first()].map(Option::unwrap);
                assert_eq!(points[0].time.to_bits(), points[1].time.to_bits());
                let n = points[0].linear.mass.nrows();
                for dof in 0..n {
                    let mut rates = vec![0.0; 2 * n];
                    rates[n + dof] = 1.0;
                    let carried = after.carried(before, &rates);
                    assert!(carried[..n].iter().all(|x| *x == 0.0));
                    let rates = [&rates[n..], &carried[n..]].map(DVector::from_column_slice);
                    let told = [0, 1].map(|side| {
                        let (point, rates) = (points[side], &rates[side]);
                        let energy = rates.dot(&(&point.linear.mass * rates));
                        let power = point.linear.input.transpose() * rates;
                        let joints = [before, after][side].joint_rows(point) * rates;
                        let markers = point.outputs.iter().flat_map(|output| {
                            let moved: DVector<f64> = &output.first * rates;
                            moved.as_slice().to_vec()
                        });
                        let told = std::iter::once(energy).chain(power.iter().copied());
                        let told = told.chain(joints.iter().copied()).chain(markers);
                        told.collect::<Vec<f64>>()
                    });
                    let most = told[0].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                    assert!(most > 0.0);
                    assert!(
                        crate::numbers::apart(&told[0], &told[1]) < SAME * most,
                        "{dof} at {}: {told:?}",
                        points[0].time
                    );
                }
            }
            let names = SignalNames::new(all[0]);
            for stretch in &all {
                let others = SignalNames::new(stretch);
                assert_eq!(names.inputs, others.inputs);
                assert_eq!(names.outputs, others.outputs);
            }
            let mut told = [names.inputs, names.outputs];
            for names in &mut told {
                names.sort();
            }
            told
        });
        assert_eq!(names[0], names[1]);
    }
}

/// Second way, and order of convergence: a linkage that starts a little faster deviates as the difference of two runs does, past dead
/// points of the joints that lead, in either formulation. The error that is stated is not exceeded, however few the points.
#[test]
fn deviations_pass_dead_points_as_runs_do() {
    /// Central differences are off by its square.
    const FASTER: f64 = 1e-4;
    let spec = triple_rocker(0.5, TIGHT);
    let samples = sample_instants(&spec, &[]);
    // the tree lets gains grow tenfold before another joint takes over, so that its matrices change faster between instants
    let both = [
        (tree_mechanism(&spec), 0.6),
        (nodal_mechanism(&spec, 1), 0.2),
    ];
    for (mechanism, off_order) in both {
        let start = mechanism.start().unwrap();
        let faster = |by: f64| State {
            velocity: start
                .velocity
                .iter()
                .map(|rate| rate * (1.0 + by))
                .collect(),
            ..start.clone()
        };
        let run = |by: f64| {
            let options = SimulateOptions {
                samples: &samples,
                channels: None,
                most_lengths: f64::INFINITY,
            };
            let simulation = &mechanism.spec().simulation;
            let run =
                mechanism.simulate(&faster(by), simulation, &options, &mut |_| Flow::Continue);
            let recording = completed(run).recording;
            ["x", "y"].map(|axis| {
                let channel = format!("pin.position.{axis}");
                recording.channel(&channel).unwrap().samples.clone()
            })
        };
        let runs = [run(FASTER), run(-FASTER)];
        let wanted = [0, 1].map(|axis| -> Vec<f64> {
            let pairs = runs[0][axis].iter().zip(&runs[1][axis]);
            pairs.map(|(a, b)| 0.5 * (a - b)).collect()
        });
        let most = (wanted.iter().flatten()).fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!(most > FASTER, "{most}");
        let errors = [201, 401, 801, 1601].map(|points| {
            let found = along(&mechanism, &faster(FASTER), OperatingPoint::Nominal, points);
            assert!(!found.further.is_empty());
            let options = PerturbOptions {
                terms: Terms::CASES[0],
                interpolation: Interpolation::Matrices,
                order: OutputOrder::First,
            };
            let linear = mechanism.perturb(&found, &samples, options, &mut |_| Flow::Continue);
            let linear = linear.unwrap();
            let stated = linear.interpolation_error.unwrap();
            let errors = ["x", "y"].into_iter().zip(&wanted).map(|(axis, wanted)| {
                let name = format!("pin.deviation.{axis}");
                let mut channels = linear.recording.channels.iter();
                let at = channels.position(|channel| channel.name == name).unwrap();
                let samples = &linear.recording.channels[at].samples;
                let error = crate::numbers::apart(samples, wanted);
                assert!(error < stated[at], "{points}: {error} {}", stated[at]);
                error
            });
            errors.fold(0.0, f64::max) / most
        });
        let [coarse, .., fine] = errors;
        // cubics of factors are of fourth order, lines near dead points of second: over all three doublings, as either may lead
        let order = (coarse / fine).log2() / 3.0;
        assert!(order > 2.0 - off_order, "{errors:?}");
        assert!(fine < 0.1, "{errors:?}");
    }
}
