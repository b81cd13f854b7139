//! How fast the fastest mode of a system is, before it is integrated.
//!
//! The power method on the Jacobian $`J`$, by differences: with $`v_{k+1} = J v_k`$ the spectral radius is
//!
//! ```math
//! \rho \approx \left( \frac{\lVert v_{k+m} \rVert}{\lVert v_k \rVert} \right)^{1/m} , \quad m \text{ even}.
//! ```
//!
//! A single ratio of a mechanism says nothing: positions and velocities of an oscillation of frequency $`\omega`$ are taken into each other by
//! factors 1 and $`\omega^2`$ in turn, whose product over two is that of the frequency. Where damping shifts the phase, the
//! two norms may be taken at different ones, whose sizes differ by up to $`\omega`$: the estimate is then good to a factor of $`\omega^{1/m}`$, below two up to
//! 4000 rad/s. That is enough for a step that stability bounds.

use super::FirstOrder;

/// Applications of the Jacobian before the estimate and for it.
const BEFORE: u32 = 12;
const MEASURED: u32 = 12;

/// About the largest magnitude of an eigenvalue of $`\partial f/\partial y`$ at a state, by 25 evaluations. `None` where the system cannot be
/// evaluated; zero where nothing depends on the state.
pub fn fastest_rate(system: &mut dyn FirstOrder, time: f64, state: &[f64]) -> Option<f64> {
    let mut rate = vec![0.0; state.len()];
    system.derivative(time, state, &mut rate);
    let size = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let increment = f64::EPSILON.sqrt() * size(state).max(1.0);
    // every mode is in it, whatever its shape: entries whose signs and sizes have no pattern
    let mut direction: Vec<f64> = (0..state.len())
        .map(|i| 1.0 + (0.618_033_988_75 * i as f64).fract())
        .enumerate()
        .map(|(i, x)| if i % 3 == 1 { -x } else { x })
        .collect();
    let (mut probe, mut probed) = (rate.clone(), rate.clone());
    let mut growth = 0.0;
    for application in 0..BEFORE + MEASURED {
        let length = size(&direction);
        if length == 0.0 {
            return Some(0.0);
        }
        for i in 0..state.len() {
            probe[i] = state[i] + increment * direction[i] / length;
        }
        system.derivative(time, &probe, &mut probed);
        for i in 0..state.len() {
            direction[i] = (probed[i] - rate[i]) / increment;
        }
        if application >= BEFORE {
            growth += size(&direction).ln();
        }
    }
    let found = (growth / f64::from(MEASURED)).exp();
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two oscillators and a decay; positions before velocities.
    struct Modes {
        frequencies: [f64; 2],
        damping: f64,
        decay: f64,
    }

    impl FirstOrder for Modes {
        fn derivative(&mut self, _time: f64, y: &[f64], rate: &mut [f64]) {
            let [a, b] = self.frequencies;
            rate.copy_from_slice(&[
                y[2],
                y[3],
                -a * a * y[0] - self.damping * y[2],
                -b * b * y[1],
                1.0 - self.decay * y[4],
            ]);
        }
    }

    /// Closed form: the largest frequency, the decay, or the faster root of an overdamped oscillator.
    #[test]
    fn the_fastest_mode_is_found() {
        // twelve applications leave a mode that is half as fast 2^-12 of its share
        const ACCURACY: f64 = 0.02;
        // closed form: see above
        let damped = 700.0_f64.powf(1.0 / f64::from(MEASURED)) - 1.0;
        for (frequencies, damping, decay, exact, accuracy) in [
            ([1.0, 3000.0], 0.0, 10.0, 3000.0, ACCURACY),
            ([700.0, 3.0], 1.0, 0.0, 700.0, damped),
            ([1.0, 30.0], 0.0, 2e5, 2e5, ACCURACY),
            ([100.0, 10.0], 4000.0, 1.0, 3997.5, ACCURACY),
        ] {
            let mut system = Modes {
                frequencies,
                damping,
                decay,
            };
            let found = fastest_rate(&mut system, 0.0, &[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
            assert!((found / exact - 1.0).abs() < accuracy, "{found} {exact}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_has_no_rate() {
        struct Broken;
        impl FirstOrder for Broken {
            fn derivative(&mut self, _time: f64, _state: &[f64], rate: &mut [f64]) {
                rate.fill(f64::NAN);
            }
        }
        assert_eq!(fastest_rate(&mut Broken, 0.0, &[1.0]), None);
    }
}
