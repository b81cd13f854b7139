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

#[cfg(test)]
mod tests {
    use super::readable;

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
