//! Numbers as messages write them.

use std::fmt;

/// From this size on a number is written with its power of ten.
const LARGE: f64 = 1e6;

/// Below this size a number other than zero is written with its power of ten.
const SMALL: f64 = 1e-4;

/// A number of a message: all its digits, and a power of ten instead of a row of zeros.
pub fn readable(value: &f64) -> impl fmt::Display {
    Readable(*value)
}

struct Readable(f64);

impl fmt::Display for Readable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value == 0.0 {
            // of either sign
            formatter.write_str("0")
        } else if value.is_finite() && !(SMALL..LARGE).contains(&value.abs()) {
            write!(formatter, "{value:e}")
        } else {
            write!(formatter, "{value}")
        }
    }
}

/// A number with so many digits that count, for messages that tell an order of size.
pub fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    // within the range just asked for
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 5")]
    let decimals = (digits - 1 - magnitude as i32).max(0).unsigned_abs() as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{readable, rounded};

    /// By hand.
    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (123_456.0, "123456"),
            (1.0 / 3.0, "0.33333"),
            (9.999_999, "10"),
            (1e-3, "0.001"),
            (1.234_567e-7, "1.235e-7"),
            (1e12, "1.000e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rounded(value, 5), text);
        }
    }

    #[test]
    fn rows_of_zeros_become_powers_of_ten() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-9.81, "-9.81"),
            (999_999.5, "999999.5"),
            (1e6, "1e6"),
            (-1e308, "-1e308"),
            (1e-4, "0.0001"),
            (9.5e-5, "9.5e-5"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(readable(&value).to_string(), text);
        }
    }
}
