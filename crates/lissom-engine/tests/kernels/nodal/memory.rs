//! Runs that go on from what somebody else remembers.

use std::f64::consts::TAU;

use lissom_nodal::{Assembly, Dynamics, ElementId, End, Equations, Mechanism, Role, Unforced};
use lissom_numerics::integrate::FirstOrder;
use lissom_numerics::{Memory, RecallError};
use lissom_spatial::Matrix;

use super::models::{deformed_beam, everything, four_bar};

/// A mechanism under way: its state, and what evaluations make of it.
struct Walk<'m> {
    dynamics: Dynamics<'m, Unforced>,
    state: Vec<f64>,
}

/// Where a walk was, and all that is needed to go on.
#[derive(Clone, Debug)]
struct Saved {
    state: Vec<f64>,
    memory: Memory,
}

impl<'m> Walk<'m> {
    fn start(mechanism: &'m Mechanism, velocity: &[f64]) -> Self {
        let mut state = mechanism.assembled_position();
        state.extend_from_slice(velocity);
        Self::of(Equations::new(mechanism).unwrap(), state)
    }

    fn of(equations: Equations<'m>, state: Vec<f64>) -> Self {
        let unforced = Unforced::new(equations.mechanism());
        Self {
            dynamics: Dynamics::new(equations, unforced),
            state,
        }
    }

    /// Equations that begin where the mechanism was assembled and know of the rest what was saved.
    fn resume(mechanism: &'m Mechanism, saved: &Saved) -> Self {
        let mut equations = Equations::new(mechanism).unwrap();
        equations.recall(&saved.memory).unwrap();
        Self::of(equations, saved.state.clone())
    }

    fn save(&self) -> Saved {
        Saved {
            state: self.state.clone(),
            memory: self.dynamics.equations().memory(),
        }
    }

    fn rate(&mut self, state: &[f64]) -> Vec<f64> {
        let mut rate = vec![0.0; state.len()];
        self.dynamics.derivative(0.0, state, &mut rate);
        rate
    }

    /// A step of the classical method of order four; returns the bits of all that it made.
    fn step(&mut self, step: f64) -> Vec<u64> {
        let from = self.state.clone();
        let ahead = |rate: &[f64], part: f64| -> Vec<f64> {
            let entries = from.iter().zip(rate);
            entries.map(|(x, r)| x + part * step * r).collect()
        };
        let a = self.rate(&from);
        let b = self.rate(&ahead(&a, 0.5));
        let c = self.rate(&ahead(&b, 0.5));
        let d = self.rate(&ahead(&c, 1.0));
        let mean: Vec<f64> = (0..from.len())
            .map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0)
            .collect();
        let reached = ahead(&mean, 1.0);
        // as methods do whose last stage opens the next step: the next place is where the mechanism already stands
        let rate = self.rate(&reached);
        self.state = reached;
        let deformations = self.dynamics.equations().deformations();
        let made = self.state.iter().chain(&rate).chain(deformations);
        made.map(|x| x.to_bits()).collect()
    }
}

/// A mass that a telescope follows around its pivot. The mass has the degrees of freedom; angle and length of the telescope
/// follow from where it is, and a spring winds up with the angle.
fn telescope() -> (Mechanism, ElementId) {
    let mut assembly = Assembly::new();
    let ground = assembly.planar_angle("ground", 0.0);
    let base = assembly.planar_point("base", [0.0, 0.0]);
    assembly.set_node(ground, Role::Fixed);
    assembly.set_node(base, Role::Fixed);
    let carrier = assembly.planar_angle("carrier", 0.0);
    let mass = assembly.planar_point("mass", [1.0, 0.0]);
    assembly.set_node(mass, Role::Dof);
    assembly.mass(mass, 1.0);
    assembly.inertia(carrier, &Matrix::identity());
    let hinge = assembly.hinge("hinge", ground, carrier, [0.0, 0.0, 1.0]);
    assembly.set_deformation(hinge, 0, Role::Free);
    assembly.set_spring(hinge, 0, 0.05, 0.0);
    let end = End {
        point: base,
        orientation: carrier,
    };
    let slider = assembly.slider("telescope", end, mass, [1.0, 0.0, 0.0], [0.0; 3]);
    assembly.set_deformation(slider, 0, Role::Free);
    assembly.set_spring(slider, 0, 9.0, 0.0);
    (assembly.finish().unwrap(), hinge)
}

/// To the last bit: a hinge that follows from other coordinates has turned more than once. With the memory, equations made anew go
/// on as those that have turned; without it, the angle is a turn off, and the spring pulls less.
#[test]
fn turns_of_a_dependent_hinge_are_remembered() {
    const STEP: f64 = 0.02;
    /// Newton's iteration ends at rounding, from wherever it comes.
    const ROUNDING: f64 = 1e-12;
    let (mechanism, hinge) = telescope();
    let mut walk = Walk::start(&mechanism, &[0.0, 3.0]);
    let angle = |walk: &Walk<'_>| walk.dynamics.equations().deformation(hinge, 0);
    let mut steps = 0;
    while angle(&walk) < TAU {
        walk.step(STEP);
        steps += 1;
        assert!(steps < 1000, "it turns");
    }
    let saved = walk.save();
    let mut resumed = Walk::resume(&mechanism, &saved);
    assert_eq!(angle(&resumed).to_bits(), angle(&walk).to_bits());

    let mut forgetful = Walk::of(Equations::new(&mechanism).unwrap(), saved.state.clone());
    let lost = forgetful.rate(&saved.state);
    let kept = resumed.rate(&saved.state);
    walk.rate(&saved.state);
    let turned = angle(&walk) - angle(&forgetful);
    assert!((turned - TAU).abs() < ROUNDING, "{turned}");
    let weaker = kept.iter().zip(&lost).any(|(a, b)| (a - b).abs() > 0.1);
    assert!(weaker, "{kept:?} {lost:?}");

    let mut differ = false;
    for _ in 0..100 {
        let wanted = walk.step(STEP);
        assert_eq!(resumed.step(STEP), wanted);
        differ |= forgetful.step(STEP) != wanted;
    }
    assert!(differ);
    assert_eq!(resumed.save().memory, walk.save().memory);
}

/// To the last bit: mechanisms of all kinds of elements and nodes go on from any step.
#[test]
fn every_mechanism_goes_on_from_any_step() {
    const STEPS: usize = 60;
    for (mechanism, step) in [
        (everything(0.01), 1e-3),
        (deformed_beam(), 1e-3),
        (four_bar([0.5, 2.0, 1.5], 0.3, true).mechanism, 2e-3),
    ] {
        let velocity: Vec<f64> = (0..mechanism.dof_count())
            .map(|i| 0.4 * (1.0 + i as f64).sin())
            .collect();
        let mut walk = Walk::start(&mechanism, &velocity);
        let mut saved = Vec::new();
        let mut made = Vec::new();
        for _ in 0..STEPS {
            saved.push(walk.save());
            made.push(walk.step(step));
        }
        let end = walk.save().memory;
        for at in (0..STEPS).step_by(7) {
            let mut resumed = Walk::resume(&mechanism, &saved[at]);
            for wanted in &made[at..] {
                assert_eq!(&resumed.step(step), wanted, "from step {at}");
            }
            assert_eq!(resumed.save().memory, end);
        }
    }
}

/// A memory with one thing wrong, and whether it must be noticed.
fn spoilt(memory: &Memory) -> Vec<(Memory, bool)> {
    let named: Vec<(String, Vec<f64>)> = (memory.iter())
        .map(|(name, numbers)| (name.to_owned(), numbers.to_vec()))
        .collect();
    let mut spoilt = Vec::new();
    for (i, (name, numbers)) in named.iter().enumerate() {
        let mut without = named.clone();
        without.remove(i);
        spoilt.push((without.into_iter().collect(), true));
        let mut with = |numbers: Vec<f64>, noticed: bool| {
            let mut changed = memory.clone();
            changed.set(name, numbers);
            spoilt.push((changed, noticed));
        };
        with([&numbers[..], &[1e9]].concat(), true);
        for at in 0..numbers.len() {
            with(numbers[..at].to_vec(), false);
            for (value, noticed) in [
                (f64::NAN, true),
                (f64::INFINITY, true),
                (1e300, false),
                (-1.0, false),
                (0.5, false),
                (0.0, false),
            ] {
                let mut numbers = numbers.clone();
                numbers[at] = value;
                with(numbers, noticed);
            }
        }
    }
    spoilt
}

/// Property: a memory that is incomplete, too long, not finite or of another mechanism is refused and changes nothing; no
/// memory at all makes equations panic.
#[test]
fn memories_that_do_not_fit_are_refused() {
    let mechanism = everything(0.01);
    let (other, _) = telescope();
    let mut walk = Walk::start(&mechanism, &vec![0.3; mechanism.dof_count()]);
    for _ in 0..5 {
        walk.step(1e-3);
    }
    let saved = walk.save();
    let before = walk.dynamics.equations().clone();
    for (memory, noticed) in spoilt(&saved.memory) {
        let mut equations = before.clone();
        match equations.recall(&memory) {
            Ok(()) => assert!(!noticed, "{memory:?}"),
            Err(error) => {
                assert!(error.to_string().contains('`'), "{error}");
                assert_eq!(equations.memory(), saved.memory);
                assert_eq!(equations.deformations(), before.deformations());
            }
        }
        let mut tried = Walk::of(equations, saved.state.clone());
        tried.step(1e-3);
    }
    let mut equations = before.clone();
    let foreign = Equations::new(&other).unwrap().memory();
    let error = equations.recall(&foreign).unwrap_err();
    assert!(matches!(error, RecallError::Length { .. }), "{error}");
    let error = equations.recall(&Memory::default()).unwrap_err();
    assert!(matches!(error, RecallError::Missing { .. }), "{error}");
}
