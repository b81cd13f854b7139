//! Time of a call, as undisturbed as a shared machine allows.

use std::time::{Duration, Instant};

/// Shortest time per call seen over many batches: what the work costs when nothing else interferes.
pub fn seconds_per_call(mut call: impl FnMut()) -> f64 {
    const BATCH: Duration = Duration::from_millis(2);
    const BATCHES: usize = 60;
    // calls that fill one batch
    let mut calls = 1_u32;
    loop {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        if start.elapsed() >= BATCH || calls > 1 << 24 {
            break;
        }
        calls *= 2;
    }
    (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                call();
            }
            start.elapsed().as_secs_f64() / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Exponent of a power law through points, by least squares of the logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0);
    for &(x, y) in points {
        let (x, y) = (x.ln(), y.ln());
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    (n * sxy - sx * sy) / (n * sxx - sx * sx)
}
