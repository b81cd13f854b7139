//! One state under every method.

use allocation_counter::measure;
use lissom_engine::model::Model;
use lissom_engine::simulate::Equations;
use lissom_engine::testing::Random;
use lissom_numerics::integrate::FirstOrder;
use lissom_spatial::Force;
use lissom_spec::{Fidelity, Tip};
use lissom_tree::closure::{ClosureError, Loops, mobility};
use lissom_tree::{ClosureKind, ClosureMethod};

use super::mechanisms::{Mechanism, four_bar, on_ground, planar_3rrr, slider_crank, spatial_3rrs};
use crate::models::{built, end_at};
use crate::numbers::{apart, largest};

/// Condition numbers of mass matrices and Jacobians here stay below 1e5, rounding is 1e-16 of the largest.
const AGREEMENT: f64 = 1e-9;

fn all() -> Vec<Mechanism> {
    vec![
        four_bar(false, 0.7, ""),
        four_bar(true, 0.7, ""),
        slider_crank(false, 1.1, ""),
        slider_crank(true, 1.1, ""),
        planar_3rrr(false),
        planar_3rrr(true),
        spatial_3rrs(false),
        spatial_3rrs(true),
    ]
}

/// A state off the start, bent and moving, that satisfies the closures.
pub(crate) fn consistent_state(mechanism: &Mechanism, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let model = mechanism.with(mechanism.methods().swap_remove(0));
    let mut random = Random::new(seed);
    let (mut q, mut v) = (
        model.initial_position.clone(),
        model.initial_velocity.clone(),
    );
    let layout = model.linkage.system.layout();
    for &at in &mechanism.independent {
        v[at] = random.signed(2.0);
    }
    for (k, body) in model.linkage.system.bodies().iter().enumerate() {
        for alpha in 0..body.modes() {
            q[layout.elastic_position[k] + alpha] = random.signed(0.001);
            v[layout.elastic_velocity[k] + alpha] = random.signed(0.02);
        }
    }
    let mut loops = Loops::new(&model.linkage, &model.initial_position)
        .unwrap()
        .unwrap();
    loops.project(&model.linkage, &mut q, &mut v).unwrap();
    (q, v)
}

/// Derivative of the state at an instant and forces of the closures.
fn evaluated(model: &Model, time: f64, state: &[f64]) -> (Vec<f64>, Vec<Force<f64>>) {
    let mut equations = Equations::new(model);
    let mut rate = vec![0.0; state.len()];
    // a nominal motion begins at its start
    equations.derivative(0.0, state, &mut rate);
    equations.derivative(time, state, &mut rate);
    let forces = equations.closure_forces().collect();
    (rate, forces)
}

/// Asserts that all methods give the same accelerations and, where no equation is redundant or the redundant ones are
/// left without force alike, the same forces.
pub(crate) fn assert_methods_agree(mechanism: &Mechanism, time: f64) {
    for seed in 0..3 {
        let (q, v) = consistent_state(mechanism, seed);
        let state = [q, v, vec![0.0, 0.0]].concat();
        let results: Vec<_> = mechanism
            .methods()
            .into_iter()
            .map(|method| {
                let (rate, forces) = evaluated(&mechanism.with(method.clone()), time, &state);
                (method, rate, forces)
            })
            .collect();
        let (_, expected, forces) = &results[0];
        assert!(expected.iter().all(|x| x.is_finite()), "{}", mechanism.name);
        for (method, rate, other) in &results {
            let off = apart(rate, expected) / largest(expected).max(1.0);
            assert!(
                off < AGREEMENT,
                "{} {method:?}: accelerations off by {off:e}",
                mechanism.name
            );
            for (a, b) in forces.iter().zip(other) {
                let apart = [(*a - *b).force.0, (*a - *b).moment.0].concat();
                let scale = largest(&[a.force.0, a.moment.0].concat()).max(1.0);
                assert!(
                    largest(&apart) / scale < AGREEMENT,
                    "{} {method:?}: {a:?} against {b:?}",
                    mechanism.name
                );
            }
        }
    }
}

/// Second formulations: all methods agree at one state.
#[test]
fn accelerations_and_forces_agree_under_all_methods() {
    for mechanism in all() {
        assert_methods_agree(&mechanism, 0.0);
    }
}

/// Mobility by rank: Grübler's formula in space would give these planar loops -2 and -3 degrees of freedom.
#[test]
fn mobility_is_counted_by_rank_and_redundant_equations_are_named() {
    for (mechanism, rigid, redundant) in [
        (Box::new(four_bar(false, 0.7, "")), 1, 3),
        (Box::new(four_bar(true, 0.7, "")), 1, 3),
        (Box::new(slider_crank(false, 1.1, "")), 1, 3),
        (Box::new(planar_3rrr(true)), 3, 6),
        (Box::new(spatial_3rrs(false)), 3, 0),
    ] {
        let found = mobility(&mechanism.model.linkage, &mechanism.model.initial_position);
        assert_eq!(found.rigid_degrees_of_freedom(), rigid, "{found:?}");
        assert_eq!(found.redundant.len(), redundant, "{found:?}");
        for name in &found.redundant {
            assert!(
                name.contains("offset along z")
                    || name.contains("rotation about x")
                    || name.contains("rotation about y"),
                "{name}"
            );
        }
    }
}

/// Closed form: a rod held by a ball at its end and turning about it is a pendulum. Passing the lowest point at
/// rate w its support carries m g + m w^2 l / 2, and the other way round it swings as (3/2) g / l.
#[test]
fn a_free_rod_on_a_ball_is_a_pendulum() {
    const ROUNDING: f64 = 1e-12;
    let (mass, length, rate) = (2.0, 0.8, 3.0);
    let mut model = built(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "rod"
rigid = { mass_kg = 2.0, inertia_kg_m2 = [0.106666666666666667, 1e-3, 0.106666666666666667] }
[[body.node]]
name = "end"
position_m = [0.0, 0.4, 0.0]
[[marker]]
name = "end"
body = "rod"
at = "end"
[[joint]]
name = "float"
parent = "ground"
child = "rod"
free = {}
"#,
    );
    model.linkage.closures = vec![lissom_tree::Closure {
        name: "ball".to_owned(),
        kind: ClosureKind::Spherical,
        from: on_ground(),
        to: end_at(&model, "end"),
    }];
    for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
        model.linkage.closure_method = method;
        let tilt = 0.6_f64;
        // at the lowest point, and tilted at rest
        for (angle, rate) in [(0.0, rate), (tilt, 0.0)] {
            let half = 0.5 * length;
            let (sin, cos) = f64::sin_cos(angle);
            model.initial_position = vec![
                half * sin,
                -half * cos,
                0.0,
                (angle / 2.0).cos(),
                0.0,
                0.0,
                (angle / 2.0).sin(),
            ];
            model.initial_velocity = vec![0.0, 0.0, rate, half * rate, 0.0, 0.0];
            let equations = Equations::new(&model);
            let state = equations.initial_state();
            let (derivative, forces) = evaluated(&model, 0.0, &state);
            let turning = -1.5 * 9.81 / length * sin;
            assert!((derivative[7 + 2] - turning).abs() < ROUNDING * 20.0);
            if angle == 0.0 {
                let expected = mass * (9.81 + rate * rate * half);
                assert!((forces[0].force.0[1] - expected).abs() < ROUNDING * expected);
            }
        }
    }
}

/// Functions that run once per step allocate nothing.
#[test]
fn derivatives_and_projections_allocate_nothing() {
    for mechanism in [four_bar(true, 0.7, ""), spatial_3rrs(true)] {
        for method in mechanism.methods() {
            let model = mechanism.with(method.clone());
            let mut equations = Equations::new(&model);
            let mut state = equations.initial_state();
            let mut rate = vec![0.0; state.len()];
            equations.project(0.0, &mut state);
            let count = measure(|| {
                equations.derivative(0.0, &state, &mut rate);
                equations.project(0.0, &mut state);
            });
            assert_eq!(count.count_total, 0, "{method:?} allocates");
        }
    }
}

/// What cannot be run as asked is refused with the reason.
#[test]
fn methods_that_do_not_fit_are_refused() {
    let mechanism = planar_3rrr(true);
    let refused = |method: ClosureMethod| {
        let model = mechanism.with(method);
        Loops::new(&model.linkage, &model.initial_position).unwrap_err()
    };
    let few = refused(ClosureMethod::JointSpace {
        independent: mechanism.independent[..2].to_vec(),
    });
    assert!(matches!(
        few,
        ClosureError::IndependentCount {
            needed: 3,
            given: 2,
            ..
        }
    ));
    // out of the plane nothing moves
    let wrong = refused(ClosureMethod::CartesianSpace {
        marker: mechanism.cartesian.0,
        components: vec![3, 4, 5],
    });
    assert!(
        matches!(wrong, ClosureError::Undetermined { .. }),
        "{wrong}"
    );

    let mut open = mechanism.with(ClosureMethod::Automatic);
    open.initial_position[0] += 0.1;
    let error = Loops::new(&open.linkage, &open.initial_position).unwrap_err();
    assert!(error.to_string().contains("pin_"), "{error}");

    let mut spec = mechanism.spec.clone();
    for body in &mut spec.body {
        if body.beam.is_some() {
            body.fidelity = Some(lissom_spec::spec::FidelitySpec {
                tip: Some(Tip::Linear),
                ..Default::default()
            });
        }
    }
    let mut linear = Model::build(&spec).unwrap();
    (linear.linkage.closures).clone_from(&mechanism.model.linkage.closures);
    (linear.initial_position).clone_from(&mechanism.model.initial_position);
    assert_ne!(
        linear.linkage.system.bodies()[1].fidelity,
        Fidelity::DEFAULT
    );
    let error = Loops::new(&linear.linkage, &linear.initial_position).unwrap_err();
    assert!(matches!(error, ClosureError::InconsistentTip { .. }));
}
