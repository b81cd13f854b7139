//! The perturbation method on the cases of Jonker & Aarts (2001): numbers of an independent implementation.

use lissom::integrate::{Control, FirstOrder, Flow, Method, Observer, Schedule, integrate};
use lissom::linear::{Feedback, Interpolation, OpenLoop, Perturbed, Servo, Terms, UndampedModes};
use lissom::nodal::classics::{QuarterTurn, SpinUp, TwoLinkPath, lateral, two_link};
use lissom::nodal::{Dynamics, Equations, Role, Steered, linearize_along};
use lissom::spatial::Vector;

use crate::models::jonker_beam;

fn instants(end: f64, count: usize) -> Vec<f64> {
    (0..=count).map(|i| end * i as f64 / count as f64).collect()
}

#[derive(Default)]
struct States(Vec<Vec<f64>>);

impl Observer for States {
    fn sample(&mut self, _: f64, state: &[f64]) -> Flow {
        self.0.push(state.to_vec());
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}

fn solve(
    system: &mut dyn FirstOrder,
    state: &mut [f64],
    samples: &[f64],
    breakpoints: &[f64],
    rtol: f64,
    method: Method,
) -> Vec<Vec<f64>> {
    let control = Control {
        rtol,
        atol: vec![rtol * 1e-2],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end: *samples.last().unwrap(),
        breakpoints,
        samples,
    };
    let mut states = States::default();
    integrate(method, &control, system, &schedule, state, &mut states).unwrap();
    states.0
}

/// Table I: largest tip deflection of the five cases, with the quadratic term and without it; case 4 is
/// 11/120 ρA L⁵ (2Ω/T)/EI in closed form, case 5 grows without bounds.
#[test]
fn five_cases_of_table_1() {
    // five digits are known; the largest of samples is below that of the curve by less than that
    const DIGITS: f64 = 1.1e-5;
    let mut motion = SpinUp {
        speed: 4.0,
        time: 15.0,
    };
    let times = instants(15.0, 600);
    let samples = instants(15.0, 3000);
    for (quadratic, wanted) in [
        (true, [0.53468, 0.52709, 0.57170, 0.571_005]),
        (false, [0.53926, 0.53248, 0.57170, 0.571_005]),
    ] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let mut equations = Equations::new(&beam.mechanism).unwrap();
        let along = linearize_along(&mut equations, &mut motion, &times, &[beam.tip]).unwrap();
        let deflection = |time: f64, deviation: &[f64]| {
            let displacement = along.displacement(0, time, deviation, true);
            -lateral(displacement.0, motion.at(time).value)
        };
        for (case, terms) in Terms::CASES.into_iter().enumerate() {
            let mut peak = 0.0_f64;
            if terms.inertia {
                let mut system =
                    Perturbed::new(&along, OpenLoop, terms, Interpolation::Matrices).unwrap();
                let dofs = system.dof_count();
                let mut state = vec![0.0; 2 * dofs];
                let states = solve(&mut system, &mut state, &samples, &[], 1e-7, Method::Dop853);
                for (time, state) in samples.iter().zip(&states) {
                    peak = peak.max(deflection(*time, &state[..dofs]));
                }
            } else {
                for &time in &times {
                    let steady = along.steady(time, terms, None).unwrap();
                    peak = peak.max(deflection(time, &steady));
                }
            }
            match wanted.get(case) {
                Some(wanted) => assert!((peak - wanted).abs() < DIGITS, "case {case}: {peak}"),
                None => assert!(peak > 1e3, "case {case} should diverge: {peak}"),
            }
        }
    }
}

/// Figure 6: without the geometric stiffening the first frequency is zero when the hub turns as fast as
/// the beam vibrates, at 9.287 s.
#[test]
fn geometric_stiffening_keeps_the_beam_stable() {
    let beam = jonker_beam(4, true, Role::Prescribed);
    let mut motion = SpinUp {
        speed: 4.0,
        time: 15.0,
    };
    let mut equations = Equations::new(&beam.mechanism).unwrap();
    let times = [9.286, 9.288, 15.0];
    let along = linearize_along(&mut equations, &mut motion, &times, &[]).unwrap();
    let lowest = |point, terms| {
        let (mass, stiffness) = along.constrained(point, terms);
        UndampedModes::new(&mass, &stiffness).unwrap().squares[0]
    };
    assert!(lowest(0, Terms::CASES[4]) > 0.0 && lowest(1, Terms::CASES[4]) < 0.0);
    assert!((lowest(2, Terms::CASES[0]).sqrt() - 3.3478).abs() < 5e-5);
}

/// Section 7.2: tip at four instants, in the frame of the hub and off the nominal place, with and
/// without feedback, nonlinear and perturbed.
#[test]
fn quarter_turn_with_and_without_feedback() {
    // as the reference states for the closed loop (five digits, two roundings) and the open one, whose
    // undamped high modes are not resolved alike
    const CLOSED: f64 = 2.1e-5;
    const OPEN: f64 = 2e-3;
    let beam = jonker_beam(4, true, Role::Actuated);
    let mut equations = Equations::new(&beam.mechanism).unwrap();
    let times = instants(8.0, 600);
    let along = linearize_along(&mut equations, &mut QuarterTurn, &times, &[beam.tip]).unwrap();
    assert!((along.actuated_mass(0)[(0, 0)] - 34.469_019).abs() < 1e-6);
    let servo = Servo::new(&along, 1.45, 0.9);
    assert!((servo.position_gain(0.0)[(0, 0)] - 72.4711).abs() < 1e-4);
    let samples = [1.0, 3.0, 5.0, 8.0];
    let open = [
        [-0.39990, -0.39980],
        [0.26284, 0.26332],
        [0.02326, 0.02392],
        [0.01136, 0.01126],
    ];
    let closed = [
        [-0.40831, -0.40842, -0.29817, -0.29829],
        [0.25449, 0.25497, 0.09112, 0.09151],
        [0.05615, 0.05631, 0.26987, 0.27023],
        [0.00594, 0.00594, 0.00496, 0.00495],
    ];
    for feedback in [None, Some(servo)] {
        let shut = feedback.is_some();
        let feedback = Switch(feedback);
        let terms = Terms::CASES[0];
        let mut system =
            Perturbed::new(&along, feedback.clone(), terms, Interpolation::Matrices).unwrap();
        let dofs = system.dof_count();
        let method = Method::Dop853;
        let mut state = vec![0.0; 2 * dofs];
        let linear = solve(&mut system, &mut state, &samples, &[5.0], 1e-7, method);
        let steered = Steered::new(&beam.mechanism, &along, QuarterTurn, feedback);
        let mut dynamics = Dynamics::new(Equations::new(&beam.mechanism).unwrap(), steered);
        let mut state = vec![0.0; 2 * dofs];
        let nonlinear = solve(&mut dynamics, &mut state, &samples, &[5.0], 1e-7, method);
        for (i, &time) in samples.iter().enumerate() {
            let nominal = QuarterTurn::at(time).value;
            let deviation = along.displacement(0, time, &linear[i][..dofs], false);
            let mut elastic = linear[i][..dofs].to_vec();
            elastic[0] = 0.0;
            let elastic = along.displacement(0, time, &elastic, false);
            equations.place(&nonlinear[i][..dofs], &[]).unwrap();
            let place = equations.node(beam.tip).position.0;
            let found = [
                lateral(place, nonlinear[i][0]),
                lateral(elastic.0, nominal),
                lateral(place, nominal),
                lateral(deviation.0, nominal),
            ];
            let (wanted, tolerance): (&[f64], f64) = if shut {
                (&closed[i], CLOSED)
            } else {
                (&open[i], OPEN)
            };
            for (found, wanted) in found.iter().zip(wanted) {
                assert!(
                    (found - wanted).abs() < tolerance,
                    "t = {time}: {found} {wanted}"
                );
            }
        }
    }
}

/// Feedback that may be absent.
#[derive(Clone)]
struct Switch(Option<Servo>);

impl Feedback for Switch {
    fn effort(&mut self, time: f64, deviation: &[f64], rate: &[f64], effort: &mut [f64]) {
        match &mut self.0 {
            Some(servo) => servo.effort(time, deviation, rate, effort),
            None => OpenLoop.effort(time, deviation, rate, effort),
        }
    }
}

/// Section 8: frequencies, nominal torques, steady deviation, the controlled nonlinear motion, and the
/// errors of the perturbation method with either interpolation.
#[test]
fn two_link_arm() {
    // digits of the reference, in millimetres
    const DIGITS: f64 = 1.5e-3;
    let arm = two_link().unwrap();
    let path = TwoLinkPath::new(&arm);
    let mut equations = Equations::new(&arm.mechanism).unwrap();
    let dofs = arm.mechanism.dof_count();
    let along_points = |equations: &mut Equations<'_>, count| {
        linearize_along(
            equations,
            &mut path.clone(),
            &instants(2.0, count),
            &[arm.tip],
        )
        .unwrap()
    };
    let fine = along_points(&mut equations, 1500);
    for (point, wanted) in [
        (0, [28.2226, 30.5512, 81.388, 120.377]),
        (375, [29.7780, 32.5638, 79.352, 116.719]),
    ] {
        let (mass, stiffness) = fine.constrained(point, Terms::CASES[0]);
        let found = UndampedModes::new(&mass, &stiffness).unwrap().frequencies();
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 6e-4, "{found} {wanted}");
        }
    }
    for (found, wanted) in fine.points()[0].input.iter().zip([0.0, 317.468, 153.280]) {
        assert!((found - wanted).abs() < 5e-4 + 1e-9, "{found} {wanted}");
    }
    let servo = Servo::new(&fine, 11.8, 0.85);
    let gain = servo.position_gain(0.0);
    let steady = fine.steady(0.0, Terms::CASES[0], Some(&gain)).unwrap();
    let tip = fine.displacement(0, 0.0, &steady, false).scale(1e3);
    for (found, wanted) in tip.0.iter().zip([-2.9236, 0.0, -9.0655]) {
        assert!((found - wanted).abs() < 6e-5, "{found} {wanted}");
    }

    let samples = instants(2.0, 200);
    let breaks = [0.3, 0.7, 1.0];
    let mut state: Vec<f64> = (0..dofs)
        .map(|i| fine.points()[0].position[i] + steady[i])
        .collect();
    state.extend(vec![0.0; dofs]);
    let steered = Steered::new(&arm.mechanism, &fine, path.clone(), servo.clone());
    let mut dynamics = Dynamics::new(Equations::new(&arm.mechanism).unwrap(), steered);
    let method = Method::Radau;
    let states = solve(&mut dynamics, &mut state, &samples, &breaks, 1e-6, method);
    let mut nonlinear = Vec::new();
    for (state, &time) in states.iter().zip(&samples) {
        equations.place(&state[..dofs], &[]).unwrap();
        let nominal = Vector(path.tip(time).map(|drive| drive.value));
        nonlinear.push((equations.node(arm.tip).position - nominal).scale(1e3));
    }
    for (sample, wanted) in [
        (0, [-2.978, 0.0, -9.035]),
        (50, [-2.233, 0.225, -6.509]),
        (100, [-7.671, 0.749, -18.944]),
    ] {
        for (found, wanted) in nonlinear[sample].0.iter().zip(wanted) {
            assert!(
                (found - wanted).abs() < DIGITS,
                "{sample}: {found} {wanted}"
            );
        }
    }

    let coarse = along_points(&mut equations, 250);
    for (along, interpolation, wanted) in [
        (&coarse, Interpolation::StateSpace, [4.76, 1.14, 0.048]),
        (&coarse, Interpolation::Matrices, [0.073, 0.069, 0.036]),
        (&fine, Interpolation::StateSpace, [0.198, 0.041, 0.035]),
    ] {
        let servo = Servo::new(along, 11.8, 0.85);
        let mut system = Perturbed::new(along, servo, Terms::CASES[0], interpolation).unwrap();
        let mut state = steady.clone();
        state.extend(vec![0.0; dofs]);
        let states = solve(&mut system, &mut state, &samples, &breaks, 1e-6, method);
        let mut worst = [0.0_f64; 3];
        for (i, &time) in samples.iter().enumerate() {
            let tip = along
                .displacement(0, time, &states[i][..dofs], true)
                .scale(1e3);
            for component in 0..3 {
                let error = (tip[component] - nonlinear[i][component]).abs();
                worst[component] = worst[component].max(error);
            }
        }
        for (found, wanted) in worst.iter().zip(wanted) {
            // two digits, and a largest error among other samples
            let tolerance = 0.015 * wanted + 1e-3;
            assert!(
                (found - wanted).abs() < tolerance,
                "{interpolation:?} {worst:?}"
            );
        }
    }
}
