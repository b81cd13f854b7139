//! Bits of the mathematical library, which differ from platform to platform.

use std::hint::black_box;

/// Arguments inside and outside the first period, small and large.
const ARGUMENTS: [f64; 8] = [
    1.0e-3,
    0.1,
    0.7,
    1.3,
    2.9,
    std::f64::consts::PI,
    17.0,
    -123.456,
];

/// Bits of elementary functions, computed when the test runs and not by the compiler.
pub(super) fn bits() -> Vec<String> {
    let functions: [fn(f64) -> f64; 10] = [
        f64::sin,
        f64::cos,
        f64::tan,
        f64::exp,
        |x| f64::sinh(x / 10.0),
        |x| f64::cosh(x / 10.0),
        |x| f64::ln(x.abs()),
        |x| f64::atan2(x, 1.7),
        |x| f64::acos(x / 200.0),
        |x| f64::powf(x.abs(), 0.3),
    ];
    let values = functions.iter().flat_map(|function| {
        let values = ARGUMENTS.iter().map(|&x| function(black_box(x)));
        values.map(|value| format!("{:016x}", value.to_bits()))
    });
    values.collect()
}
