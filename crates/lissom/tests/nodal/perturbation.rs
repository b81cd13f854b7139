//! The perturbation method.

use std::f64::consts::PI;

use lissom::integrate::{Control, Flow, FirstOrder, Method, Observer, Schedule, integrate};
use lissom::nodal::{
    Along, Drive, Dynamics, Equations, Feedback, Interpolation, Nominal, OpenLoop, Perturbed, Role,
    Servo, Steered, Terms, UndampedModes,
};
use lissom::spatial::Vector;

use crate::models::{SpinUp, TwoLinkPath, jonker_beam, lateral, two_link};

impl Nominal for SpinUp {
    fn rigid(&mut self, _: f64, _: &mut [Drive]) {}
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        drives[0] = self.at(time);
    }
    fn load(&mut self, _: f64, _: &mut [Vector<f64>]) {}
}

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
    let outcome = integrate(method, &control, system, &schedule, state, &mut states);
    eprintln!("{:?}", outcome);
    states.0
}

#[test]
fn table_1() {
    for quadratic in [true, false] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let mut motion = SpinUp { speed: 4.0, time: 15.0 };
        let mut equations = Equations::new(&beam.mechanism).unwrap();
        let times = instants(15.0, 600);
        let along = Along::new(&mut equations, &mut motion, &times, &[beam.tip]).unwrap();
        let samples = instants(15.0, 3000);
        let deflection = |time: f64, deviation: &[f64]| {
            let displacement = along.displacement(0, time, deviation, true);
            lateral(displacement.0, motion.at(time).value)
        };
        for (case, terms) in Terms::CASES.into_iter().enumerate() {
            let mut peak = 0.0_f64;
            if terms.inertia {
                for interpolation in [Interpolation::Matrices, Interpolation::StateSpace] {
                let mut system = Perturbed::new(&along, OpenLoop, terms, interpolation).unwrap();
                let mut state = vec![0.0; 2 * system.dof_count()];
                let states = solve(&mut system, &mut state, &samples, &[], 1e-7, Method::Dop853);
                peak = 0.0;
                for (time, state) in samples.iter().zip(&states) {
                    peak = peak.min(deflection(*time, &state[..system.dof_count()]));
                }
                eprintln!("{quadratic} case {} {interpolation:?} {peak}", case + 1);
                }
            } else {
                for &time in &times {
                    let steady = along.steady(time, terms, None).unwrap();
                    peak = peak.min(deflection(time, &steady));
                }
            }
            eprintln!("{quadratic} case {} {peak}", case + 1);
        }
    }
}

#[derive(Clone, Copy)]
struct QuarterTurn;

impl QuarterTurn {
    fn at(t: f64) -> Drive {
        let duration = 5.0;
        if t >= duration {
            return Drive { value: PI / 2.0, ..Drive::default() };
        }
        let turn = 2.0 * PI / duration;
        Drive {
            value: PI / 2.0 * t / duration - 0.25 * (turn * t).sin(),
            rate: PI / 2.0 / duration - 0.25 * turn * (turn * t).cos(),
            acceleration: 0.25 * turn * turn * (turn * t).sin(),
        }
    }
}

impl Nominal for QuarterTurn {
    fn rigid(&mut self, time: f64, motion: &mut [Drive]) {
        motion[0] = Self::at(time);
    }
    fn drive(&mut self, _: f64, _: &mut [Drive]) {}
    fn load(&mut self, _: f64, _: &mut [Vector<f64>]) {}
}

#[test]
fn quarter_turn() {
    let beam = jonker_beam(4, true, Role::Actuated);
    let mut equations = Equations::new(&beam.mechanism).unwrap();
    let times = instants(8.0, 600);
    let along = Along::new(&mut equations, &mut QuarterTurn, &times, &[beam.tip]).unwrap();
    eprintln!("mee {}", along.actuated_mass(0)[(0, 0)]);
    let samples = [0.0, 1.0, 3.0, 5.0, 8.0];
    let servo = Servo::new(&along, 1.45, 0.9);
    eprintln!("kp {}", servo.position_gain(0.0)[(0, 0)]);
    struct Switch(Option<Servo>);
    impl Feedback for Switch {
        fn effort(&mut self, t: f64, d: &[f64], r: &[f64], e: &mut [f64]) {
            match &mut self.0 { Some(s) => s.effort(t, d, r, e), None => OpenLoop.effort(t, d, r, e) }
        }
    }
    for closed in [false, true] {
        let servo = closed.then(|| servo.clone());
        let mut system = Perturbed::new(&along, Switch(servo.clone()), Terms::CASES[0], Interpolation::Matrices).unwrap();
        let n = system.dof_count();
        let mut state = vec![0.0; 2 * n];
        let linear = solve(&mut system, &mut state, &samples, &[5.0], 1e-8, Method::Dop853);
        let steered = Steered::new(&beam.mechanism, &along, QuarterTurn, Switch(servo));
        let mut dynamics = Dynamics::new(Equations::new(&beam.mechanism).unwrap(), steered);
        let mut state = vec![0.0; 2 * n];
        let nonlinear = solve(&mut dynamics, &mut state, &samples, &[5.0], 1e-8, Method::Dop853);
        for (i, &t) in samples.iter().enumerate() {
            let nominal = QuarterTurn::at(t).value;
            let d1 = along.displacement(0, t, &linear[i][..n], false).0;
            let d2 = along.displacement(0, t, &linear[i][..n], true).0;
            let mut elastic = linear[i][..n].to_vec();
            elastic[0] = 0.0;
            let el = lateral(along.displacement(0, t, &elastic, false).0, nominal);
            equations.place(&nonlinear[i][..n], &[]).unwrap();
            let p = equations.node(beam.tip).position.0;
            eprintln!("closed {closed} t {t}: el NL {:.5} PM {el:.5}; nom NL {:.5} PM {:.5} {:.5}", lateral(p, nonlinear[i][0]), lateral(p, nominal), lateral(d1, nominal), lateral(d2, nominal));
        }
    }
}

#[test]
fn two_link_arm() {
    let arm = two_link();
    let mut equations = Equations::new(&arm.mechanism).unwrap();
    let path = TwoLinkPath::new(&arm);
    for t in [0.0, 0.5, 1.0] {
        let mut m = [Drive::default(); 3];
        path.clone().rigid(t, &mut m);
        eprintln!("e({t}) = {:?}", m.map(|d| d.value.to_degrees()));
    }
    let start = std::time::Instant::now();
    let mut reference = None;
    for n in [1500, 250] {
        let times = instants(2.0, n);
        let along = Along::new(&mut equations, &mut path.clone(), &times, &[arm.tip]).unwrap();
        eprintln!("linearised {n} {:?}", start.elapsed());
        if n == 1500 {
            for point in [0, n / 4] {
                let (m, k) = along.constrained(point, Terms::CASES[0]);
                let modes = UndampedModes::new(&m, &k);
                eprintln!("freq {:?} u0 {:?}", modes.map(|m| m.frequencies()), along.points()[point].input);
            }
        }
        let servo = Servo::new(&along, 11.8, 0.85);
        let steady = along.steady(0.0, Terms::CASES[0], Some(&servo.position_gain(0.0))).unwrap();
        eprintln!("steady tip {:?}", along.displacement(0, 0.0, &steady, false));
        let samples = instants(2.0, 200);
        let dofs = arm.mechanism.dof_count();
        if reference.is_none() {
            let mut state = along.points()[0].position.clone();
            for (x, d) in state.iter_mut().zip(&steady) { *x += d; }
            state.extend(vec![0.0; dofs]);
            let steered = Steered::new(&arm.mechanism, &along, path.clone(), servo.clone());
            let mut dynamics = Dynamics::new(Equations::new(&arm.mechanism).unwrap(), steered);
            let states = solve(&mut dynamics, &mut state, &samples, &[0.3, 0.7, 1.0], 1e-6, Method::Radau);
            let mut tips = Vec::new();
            for (i, &t) in samples.iter().enumerate() {
                equations.place(&states[i][..dofs], &[]).unwrap();
                let tip = equations.node(arm.tip).position - Vector(path.tip(t).map(|d| d.value));
                if i % 50 == 0 { eprintln!("NL {t} {:?}", tip.0.map(|x| x * 1e3)); }
                tips.push(tip);
            }
            reference = Some(tips);
            eprintln!("nonlinear {:?}", start.elapsed());
        }
        for interpolation in [Interpolation::Matrices, Interpolation::StateSpace] {
            let mut system = Perturbed::new(&along, servo.clone(), Terms::CASES[0], interpolation).unwrap();
            let mut state = steady.clone();
            state.extend(vec![0.0; dofs]);
            let states = solve(&mut system, &mut state, &samples, &[0.3, 0.7, 1.0], 1e-6, Method::Radau);
            for second in [false, true] {
                let mut worst = [0.0_f64; 3];
                for (i, &t) in samples.iter().enumerate() {
                    let d = along.displacement(0, t, &states[i][..dofs], second) - reference.as_ref().unwrap()[i];
                    for c in 0..3 { worst[c] = worst[c].max(d[c].abs() * 1e3); }
                }
                eprintln!("{n} {interpolation:?} second {second} {worst:?}");
            }
            eprintln!("perturbed {:?}", start.elapsed());
        }
    }
}
