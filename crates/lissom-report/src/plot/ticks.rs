//! Where an axis has its ticks, and what is written beside them.

use super::chart::{Axis, Scale};

/// Powers of ten from which on they are written once, beside the unit.
const LARGE: f64 = 1e4;
const SMALL: f64 = 1e-2;

/// An axis between two values, with round numbers on it.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    low: f64,
    high: f64,
    scale: Scale,
    /// Values with their texts.
    pub(super) ticks: Vec<(f64, String)>,
    /// What stands beside the axis, and where that is too long, its unit alone.
    pub(super) label: String,
    pub(super) unit: String,
}

impl Ruler {
    /// Between two values, with about `wanted` ticks.
    pub(super) fn new(axis: &Axis, [low, high]: [f64; 2], wanted: f64) -> Self {
        let (ticks, power) = match axis.scale {
            Scale::Linear => {
                let power = power(low.abs().max(high.abs()));
                (linear([low, high], 0.0, wanted, power), power)
            }
            Scale::Whole => (linear([low, high], 1.0, wanted, 0), 0),
            Scale::Logarithmic => (logarithmic(low, high), 0),
        };
        Self {
            low,
            high,
            scale: axis.scale,
            ticks,
            label: label(&axis.label, &unit(axis, power)),
            unit: unit(axis, power),
        }
    }

    /// Where a value is, as a part of the axis.
    pub(super) fn share(&self, value: f64) -> f64 {
        let place = |x: f64| match self.scale {
            Scale::Linear | Scale::Whole => x,
            Scale::Logarithmic => x.ln(),
        };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }
}

/// The power of ten, a multiple of three, that is written once for numbers up to one.
fn power(largest: f64) -> i32 {
    if largest == 0.0 || (SMALL..LARGE).contains(&largest) {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -324 and 308")]
    let power = largest.log10().floor() as i32;
    3 * power.div_euclid(3)
}

/// Round numbers that are at least so far apart.
fn linear([low, high]: [f64; 2], apart: f64, wanted: f64, power: i32) -> Vec<(f64, String)> {
    let rough = (high - low) / wanted;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * decade)
        .into_iter()
        // a step that misses by rounding is as good
        .find(|&step| step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
        .max(apart);
    let unit = 10_f64.powi(power);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 12"
    )]
    let decimals = (-(step / unit * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (low / step).ceil();
    let count = (high / step).floor() - first;
    let mut ticks = Vec::new();
    // spans of the smallest and of the largest numbers cannot be divided
    if step == 0.0 || !step.is_finite() || !count.is_finite() {
        return ticks;
    }
    let mut i = 0.0;
    while i <= count {
        // adding zero turns a negative zero into zero
        let tick = (first + i) * step + 0.0;
        ticks.push((tick, number(tick / unit, decimals)));
        i += 1.0;
    }
    ticks
}

/// Powers of ten, or where there are fewer than two of them, their doubles and fivefold too.
fn logarithmic(low: f64, high: f64) -> Vec<(f64, String)> {
    #[expect(clippy::cast_possible_truncation, reason = "between -324 and 308")]
    let [first, last] = [low.log10().floor(), high.log10().ceil()].map(|x| x as i32);
    let step = ((last - first) / 6).max(1);
    let powers = (first..=last).filter(|power| power.rem_euclid(step) == 0);
    let between = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
    let tick = |factor: f64, power: i32| {
        let text = match (factor, power) {
            (_, 0) => factor.to_string(),
            (1.0, _) => format!("10{}", raised(&power.to_string())),
            _ => format!("{factor} × 10{}", raised(&power.to_string())),
        };
        (factor * 10_f64.powi(power), text)
    };
    let whole: Vec<_> = (powers.map(|power| tick(1.0, power)))
        .filter(|(value, _)| between(*value))
        .collect();
    if whole.len() > 1 {
        return whole;
    }
    (first..=last)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| tick(factor, power)))
        .filter(|(value, _)| between(*value))
        .collect()
}

/// A number with a true minus sign.
fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}").replace('-', "−")
}

fn label(label: &str, unit: &str) -> String {
    match (label, unit) {
        (label, "") => label.to_owned(),
        ("", unit) => unit.to_owned(),
        (label, unit) => format!("{label} ({unit})"),
    }
}

/// The unit with the power of ten that numbers are written in.
fn unit(axis: &Axis, power: i32) -> String {
    let factor = match power {
        0 => String::new(),
        power => format!("10{}", raised(&power.to_string())),
    };
    let unit = match axis.unit.as_str() {
        "1" => String::new(),
        unit => pretty(unit),
    };
    let unit = [factor, unit].into_iter().filter(|part| !part.is_empty());
    unit.collect::<Vec<_>>().join(" ")
}

/// A unit with raised powers.
fn pretty(unit: &str) -> String {
    let unit = unit.replace("kg^0.5", "√kg");
    let mut parts = unit.split('^');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_power = |c: char| c.is_ascii_digit() || c == '-';
        let (power, rest) = part.split_at(part.find(|c| !is_power(c)).unwrap_or(part.len()));
        shown.push_str(&raised(power));
        shown.push_str(rest);
    }
    shown
}

/// Digits as superscripts.
fn raised(digits: &str) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        other => other,
    };
    digits.chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::{Ruler, Scale, pretty};
    use crate::plot::Axis;

    fn ruler(unit: &str, scale: Scale, ends: [f64; 2]) -> (Vec<String>, String) {
        let axis = Axis {
            label: "Way".to_owned(),
            unit: unit.to_owned(),
            scale,
        };
        let ruler = Ruler::new(&axis, ends, 5.0);
        let texts = ruler.ticks.into_iter().map(|(_, text)| text);
        (texts.collect(), ruler.label)
    }

    /// By hand.
    #[test]
    fn ticks_are_round() {
        let texts = |low, high| ruler("m", Scale::Linear, [low, high]).0;
        assert_eq!(texts(-0.03, 1.02), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(-2.1, 2.1), ["−2", "−1", "0", "1", "2"]);
        assert_eq!(texts(0.0, 0.5), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        for [low, high] in [[-5e-324, 5e-324], [0.0, 5e-324], [f64::MIN, f64::MAX]] {
            assert!(texts(low, high).is_empty(), "{low:e} to {high:e}");
        }
    }

    /// By hand: what is counted has no halves.
    #[test]
    fn whole_numbers_have_no_halves() {
        let texts = |low, high| ruler("1", Scale::Whole, [low, high]).0;
        assert_eq!(texts(3.0, 5.0), ["3", "4", "5"]);
        assert_eq!(texts(8.0, 16.0), ["8", "10", "12", "14", "16"]);
        assert_eq!(
            texts(1e4, 3e4),
            ["10000", "15000", "20000", "25000", "30000"]
        );
    }

    /// By hand: large and small numbers have their power of ten beside the unit.
    #[test]
    fn powers_stand_beside_the_unit() {
        let (texts, label) = ruler("m/s^2", Scale::Linear, [0.0, 0.004]);
        assert_eq!(texts, ["0", "1", "2", "3", "4"]);
        assert_eq!(label, "Way (10⁻³ m/s²)");
        let (texts, label) = ruler("Pa", Scale::Linear, [0.0, 4e7]);
        assert_eq!((texts[1].as_str(), label.as_str()), ("10", "Way (10⁶ Pa)"));
        assert_eq!(ruler("1", Scale::Linear, [0.0, 1.0]).1, "Way");
        assert_eq!(pretty("kg^0.5 m"), "√kg m");
        assert_eq!(pretty("m^2/s^-1x^"), "m²/s⁻¹x");
        // time that grows with the square of the length would be minutes
        assert_eq!(pretty(&"^".repeat(1_000_000)), "");
    }

    /// By hand: powers of ten, and round numbers between them where there are few.
    #[test]
    fn logarithmic_ticks() {
        let texts = |low, high| ruler("m", Scale::Logarithmic, [low, high]).0;
        assert_eq!(texts(1e-3, 1.0), ["10⁻³", "10⁻²", "10⁻¹", "1"]);
        assert_eq!(texts(1.5, 8.0), ["2", "5"]);
        assert_eq!(texts(0.015, 0.08), ["2 × 10⁻²", "5 × 10⁻²"]);
    }
}
