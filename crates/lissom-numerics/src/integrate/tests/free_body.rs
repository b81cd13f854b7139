//! Generalised-α on a manifold: the quaternion of a free rigid body.

use super::super::{Schedule, Scheme, SecondOrder};
use super::second_order::{ORDER_MARGIN, interval, solve};

/// A free rigid body: a unit quaternion (scalar first, body to space) and the body's angular velocity.
struct FreeBody {
    inertia: [f64; 3],
}

fn quaternion_product(a: &[f64], b: &[f64]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

impl SecondOrder for FreeBody {
    fn position_count(&self) -> usize {
        4
    }

    fn velocity_count(&self) -> usize {
        3
    }

    fn residual(
        &mut self,
        _time: f64,
        _position: &[f64],
        velocity: &[f64],
        acceleration: &[f64],
        residual: &mut [f64],
    ) {
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            residual[i] = self.inertia[i] * acceleration[i]
                + (self.inertia[k] - self.inertia[j]) * velocity[j] * velocity[k];
        }
    }

    fn mass_matrix(&mut self, _time: f64, _position: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..3 {
            mass[4 * i] = self.inertia[i];
        }
    }

    fn displace(&self, position: &[f64], increment: &[f64], displaced: &mut [f64]) {
        let angle = increment.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = if angle > 1e-8 {
            (0.5 * angle).sin() / angle
        } else {
            0.5
        };
        let rotation = [
            (0.5 * angle).cos(),
            factor * increment[0],
            factor * increment[1],
            factor * increment[2],
        ];
        displaced.copy_from_slice(&quaternion_product(position, &rotation));
    }
}

#[test]
fn a_free_body_turns_on_its_quaternion() {
    // closed form: the angular velocity of a symmetric top precesses in the body; its angular momentum
    // stays in space
    let inertia = [2.0, 2.0, 1.0];
    let start = [0.6, 0.0, 3.0];
    let precession = (inertia[2] - inertia[0]) / inertia[0] * start[2];
    let samples: Vec<f64> = (0..=50).map(|i| 0.1 * f64::from(i)).collect();
    let errors = |step: f64| {
        let (_, recorder) = solve(
            Scheme::GeneralizedAlpha {
                spectral_radius: 0.9,
            },
            step,
            &mut FreeBody { inertia },
            &Schedule {
                samples: &samples,
                ..interval(5.0)
            },
            &mut [1.0, 0.0, 0.0, 0.0],
            &mut start.clone(),
        )
        .unwrap();
        let mut momentum_error: f64 = 0.0;
        let mut velocity_error: f64 = 0.0;
        for (time, state) in &recorder.samples {
            let (quaternion, rest) = state.split_at(4);
            let norm: f64 = quaternion.iter().map(|x| x * x).sum();
            assert!((norm - 1.0).abs() < 1e-12, "unit quaternions stay so");
            let momentum = [
                0.0,
                inertia[0] * rest[0],
                inertia[1] * rest[1],
                inertia[2] * rest[2],
            ];
            let conjugate = [
                quaternion[0],
                -quaternion[1],
                -quaternion[2],
                -quaternion[3],
            ];
            let in_space =
                quaternion_product(&quaternion_product(quaternion, &momentum), &conjugate);
            for i in 0..3 {
                momentum_error =
                    momentum_error.max((in_space[i + 1] - inertia[i] * start[i]).abs());
            }
            let (sine, cosine) = (precession * time).sin_cos();
            for (value, exact) in
                rest[..3]
                    .iter()
                    .zip([start[0] * cosine, start[0] * sine, start[2]])
            {
                velocity_error = velocity_error.max((value - exact).abs());
            }
        }
        [momentum_error, velocity_error]
    };
    let (coarse, fine) = (errors(0.02), errors(0.01));
    for (coarse, fine) in coarse.iter().zip(&fine) {
        let slope = (coarse / fine).log2();
        assert!((slope - 2.0).abs() < ORDER_MARGIN, "order {slope}");
    }
    assert!(fine[0] < 1e-3 && fine[1] < 1e-3, "{fine:?}");
}
