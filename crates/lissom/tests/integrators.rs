//! Integrators.
use lissom::integrate::*;

struct Oscillator;
impl FirstOrder for Oscillator {
    fn derivative(&mut self, _t: f64, y: &[f64], r: &mut [f64]) {
        r[0] = y[1];
        r[1] = -y[0];
    }
}
struct Samples(Vec<(f64, Vec<f64>)>);
impl Observer for Samples {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        self.0.push((time, state.to_vec()));
        Flow::Continue
    }
    fn step(&mut self, _: f64, _: &[f64]) -> Flow {
        Flow::Continue
    }
}
#[test]
fn smoke() {
    for method in [Method::Dop853, Method::Dopri5] {
        for tol in [1e-4, 1e-7, 1e-10] {
            let control = Control {
                rtol: tol,
                atol: vec![tol],
                initial_step: None,
                max_step: None,
                max_steps: 100_000,
            };
            let mut y = [1.0, 0.0];
            let samples: Vec<f64> = (0..=100).map(|i| 0.1 * f64::from(i)).collect();
            let mut o = Samples(vec![]);
            let schedule = Schedule {
                start: 0.0,
                end: 10.0,
                breakpoints: &[5.0],
                samples: &samples,
            };
            let out =
                integrate(method, &control, &mut Oscillator, &schedule, &mut y, &mut o).unwrap();
            assert_eq!(o.0.len(), 101);
            let e =
                o.0.iter()
                    .map(|(t, s)| (s[0] - t.cos()).abs())
                    .fold(0.0, f64::max);
            eprintln!("{method:?} {tol:e} {e:e} {:?}", out.statistics);
            assert!(e < 100.0 * tol);
        }
    }
}
