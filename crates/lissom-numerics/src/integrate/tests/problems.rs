//! Small problems with everything a solver meets: jumps of inputs, stiffness, state events, projection.

use super::super::{FirstOrder, Projection, SecondOrder};

/// A hardening oscillator under a force that jumps at 1 and 2.
pub(super) struct Forced;

impl FirstOrder for Forced {
    fn derivative(&mut self, time: f64, state: &[f64], rate: &mut [f64]) {
        let force = if (1.0..2.0).contains(&time) {
            3.0
        } else {
            time
        };
        rate[0] = state[1];
        rate[1] = force - state[0] - 5.0 * state[0].powi(3) - 0.2 * state[1];
    }
}

/// Van der Pol's oscillator.
pub(super) struct VanDerPol(pub(super) f64);

impl FirstOrder for VanDerPol {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = state[1];
        rate[1] = self.0 * (1.0 - state[0] * state[0]) * state[1] - state[0];
    }
}

/// A ball on a floor that throws it back, with nine tenths of its speed.
pub(super) struct Bounce;

impl FirstOrder for Bounce {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = state[1];
        rate[1] = -9.81 - 0.1 * state[1];
    }

    fn handle_event(&mut self, _time: f64, state: &mut [f64]) {
        if state[0] <= 0.0 && state[1] < 0.0 {
            state[1] *= -0.9;
        }
    }

    fn event_function(&mut self, _time: f64, state: &[f64]) -> f64 {
        if state[1] < 0.0 { -state[0] } else { -1.0 }
    }
}

/// Uniform motion on the unit circle, brought back to it after every step.
pub(super) struct Circle;

impl FirstOrder for Circle {
    fn derivative(&mut self, _time: f64, state: &[f64], rate: &mut [f64]) {
        rate[0] = -3.0 * state[1];
        rate[1] = 3.0 * state[0];
    }

    fn project(&mut self, _time: f64, state: &mut [f64]) -> Projection {
        let radius = (state[0] * state[0] + state[1] * state[1]).sqrt();
        state[0] /= radius;
        state[1] /= radius;
        Projection::Moved
    }
}

/// A problem of first order over [0, 3].
pub(super) struct Problem {
    pub(super) name: &'static str,
    pub(super) system: Box<dyn FirstOrder>,
    pub(super) start: [f64; 2],
    pub(super) breakpoints: &'static [f64],
}

pub(super) fn first_order_problems() -> [Problem; 5] {
    fn problem(
        name: &'static str,
        system: impl FirstOrder + 'static,
        start: [f64; 2],
        breakpoints: &'static [f64],
    ) -> Problem {
        Problem {
            name,
            system: Box::new(system),
            start,
            breakpoints,
        }
    }
    [
        problem("forced", Forced, [1.0, 0.0], &[1.0, 2.0]),
        problem("van der pol", VanDerPol(5.0), [2.0, 0.0], &[]),
        problem("stiff", VanDerPol(200.0), [2.0, 0.0], &[]),
        problem("bounce", Bounce, [1.0, 0.0], &[0.7]),
        problem("circle", Circle, [1.0, 0.0], &[1.25]),
    ]
}

/// A chain of two masses with hardening springs; the force jumps at 1, a wall throws the outer one back.
pub(super) struct Chain {
    pub(super) wall: bool,
}

impl SecondOrder for Chain {
    fn position_count(&self) -> usize {
        2
    }

    fn velocity_count(&self) -> usize {
        2
    }

    fn residual(&mut self, time: f64, q: &[f64], v: &[f64], a: &[f64], residual: &mut [f64]) {
        let spring = |x: f64| 10.0 * x + 4.0 * x.powi(3);
        let between = spring(q[1] - q[0]);
        let force = if time < 1.0 { 5.0 } else { -2.0 };
        residual[0] = (2.0 + q[0] * q[0]) * a[0] + spring(q[0]) - between + 0.1 * v[0];
        residual[1] = a[1] + between + 0.1 * v[1] - force;
    }

    fn mass_matrix(&mut self, _time: f64, q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0 + q[0] * q[0], 0.0, 0.0, 1.0]);
    }

    fn handle_event(&mut self, _time: f64, q: &mut [f64], v: &mut [f64]) {
        if self.wall && q[1] >= 0.75 && v[1] > 0.0 {
            v[1] *= -0.5;
        }
    }

    fn event_function(&mut self, _time: f64, q: &[f64], v: &[f64]) -> f64 {
        if self.wall && v[1] > 0.0 {
            q[1] - 0.75
        } else {
            -1.0
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        displaced[0] = position[0] + increment[0];
        displaced[1] = position[1] + increment[1];
    }
}
