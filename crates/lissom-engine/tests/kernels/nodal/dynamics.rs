//! Forces against energies, conservation, and a flying beam.

use lissom_engine::testing::Random;
use lissom_nodal::{Dynamics, Equations, Role, Unforced};
use lissom_numerics::integrate::{
    Control, FirstOrder, Flow, Method, Observer, Schedule, integrate,
};
use lissom_spatial::Vector;

use super::models::{SpinUp, everything, four_bar, jonker_beam};

struct Quiet;

impl Observer for Quiet {
    fn sample(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}

fn advance(system: &mut dyn FirstOrder, state: &mut [f64], end: f64, rtol: f64) {
    let control = Control {
        rtol,
        atol: vec![rtol * 1e-2],
        initial_step: None,
        max_step: None,
        max_steps: 1_000_000,
    };
    let schedule = Schedule {
        start: 0.0,
        end,
        breakpoints: &[],
        samples: &[],
    };
    integrate(
        Method::Dop853,
        &control,
        system,
        &schedule,
        state,
        &mut Quiet,
    )
    .unwrap();
}

/// Identity: what the degrees of freedom lack, times their velocities, is the rate of energy, whatever
/// the accelerations; with everything that has inertia, elasticity or weight.
#[test]
fn residual_power_is_the_rate_of_energy() {
    // central differences of energies of order ten: truncation h² times third derivatives of order 1e4
    const STEP: f64 = 1e-5;
    const TOLERANCE: f64 = 1e-6;
    let linkage = four_bar([0.8, 1.9, 1.5], 1.0, true).mechanism;
    for mechanism in [everything(0.0), linkage] {
        let mut random = Random::new(5);
        let mut equations = Equations::new(&mechanism).unwrap();
        let dofs = mechanism.dof_count();
        let still = vec![0.0; dofs];
        let loads = vec![Vector([0.0; 3]); mechanism.node_count()];
        for _ in 0..5 {
            let position: Vec<f64> = mechanism
                .assembled_position()
                .iter()
                .map(|x| x + random.signed(0.1))
                .collect();
            let (velocity, acceleration) = (random.list(dofs, 1.0), random.list(dofs, 3.0));
            let mut energy = [0.0; 2];
            for (value, sign) in energy.iter_mut().zip([-1.0, 1.0]) {
                let time = sign * STEP;
                let at: Vec<f64> = (0..dofs)
                    .map(|i| position[i] + time * (velocity[i] + 0.5 * time * acceleration[i]))
                    .collect();
                let moving: Vec<f64> = (0..dofs)
                    .map(|i| velocity[i] + time * acceleration[i])
                    .collect();
                equations.place(&at, &[]).unwrap();
                equations.set_velocity(&moving, &[]);
                *value = equations.energy().total();
            }
            equations.place(&position, &[]).unwrap();
            equations.set_velocity(&velocity, &[]);
            equations.set_acceleration(&acceleration, &[]);
            let mut residual = vec![0.0; dofs];
            equations.residual(&still, &loads, &mut residual);
            let power: f64 = residual.iter().zip(&velocity).map(|(r, v)| r * v).sum();
            let rate = (energy[1] - energy[0]) / (2.0 * STEP);
            assert!(
                (power - rate).abs() < TOLERANCE * (1.0 + rate.abs()),
                "{power} {rate}"
            );
        }
    }
}

/// Conservation: energy of an arm with every element, falling, stays within what the integrator is
/// asked for.
#[test]
fn energy_is_conserved() {
    // relative to the energy that moves; the tolerance of a step is a thousandth of it
    const DRIFT: f64 = 1e-9;
    let mechanism = everything(0.0);
    let equations = Equations::new(&mechanism).unwrap();
    let mut dynamics = Dynamics::new(equations, Unforced::new(&mechanism));
    let positions = mechanism.position_count();
    let mut state = mechanism.assembled_position();
    state.extend(vec![0.0; mechanism.dof_count()]);
    let mut energy = |state: &[f64]| {
        dynamics
            .set_state(0.0, &state[..positions], &state[positions..])
            .unwrap();
        dynamics.equations().energy()
    };
    let start = energy(&state);
    let mut again = Dynamics::new(
        Equations::new(&mechanism).unwrap(),
        Unforced::new(&mechanism),
    );
    advance(&mut again, &mut state, 0.4, 1e-12);
    let end = energy(&state);
    assert!(end.kinetic > 0.5, "something must move: {end:?}");
    let drift = (end.total() - start.total()).abs() / end.kinetic;
    assert!(drift < DRIFT, "{drift}");
}

/// A prescribed hub with the work it has done as one more state.
struct Worked<'a> {
    dynamics: Dynamics<'a, SpinUp>,
    hinge: lissom_nodal::ElementId,
    residual: Vec<f64>,
}

impl FirstOrder for Worked<'_> {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let half = (state.len() - 1) / 2;
        let end = state.len() - 1;
        self.dynamics
            .derivative(time, &state[..end], &mut rate[..end]);
        self.dynamics
            .motion_residual(
                time,
                &state[..half],
                &state[half..end],
                &rate[half..end],
                &mut self.residual,
            )
            .unwrap();
        let torque = -self.dynamics.equations().stress(self.hinge, 0);
        rate[end] = torque * self.dynamics.drives()[0].rate;
    }
}

/// Balance: the work of the hub's drive is the energy of the beam.
#[test]
fn work_of_a_drive_is_energy() {
    const BALANCE: f64 = 1e-9;
    let beam = jonker_beam(3, true, Role::Prescribed);
    let motion = SpinUp {
        speed: 6.0,
        time: 4.0,
    };
    let mechanism = &beam.mechanism;
    let mut system = Worked {
        dynamics: Dynamics::new(Equations::new(mechanism).unwrap(), motion),
        hinge: beam.hinge,
        residual: vec![0.0; mechanism.dof_count()],
    };
    let dofs = mechanism.dof_count();
    let mut state = vec![0.0; 2 * dofs + 1];
    advance(&mut system, &mut state, 1.5, 1e-12);
    system
        .dynamics
        .set_state(1.5, &state[..dofs], &state[dofs..2 * dofs])
        .unwrap();
    let energy = system.dynamics.equations().energy();
    assert!(
        energy.strain > 1e-3 * energy.kinetic,
        "it must bend: {energy:?}"
    );
    let balance = (energy.total() - state[2 * dofs]).abs() / energy.kinetic;
    assert!(balance < BALANCE, "{balance}");
}
