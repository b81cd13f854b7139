//! Numbers of references, and how far numbers are apart.

use serde_json::Value;

/// All numbers of a JSON value, in its order.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// The largest magnitude.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, x| x.abs().max(most))
}

/// The largest difference of two series.
pub(crate) fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    largest(&differences)
}

/// The distance of two points.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    squares.sqrt()
}

/// The component of a vector in the plane that is across the direction of an angle.
pub(crate) fn lateral(x: f64, y: f64, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    y * cos - x * sin
}
