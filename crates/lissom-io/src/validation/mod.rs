//! Validation: published and independently computed numbers against ours, row by row.
//!
//! A folder `validation/<first_author>_<year>/` holds what a source prints (see `validation/README.md`).
//! Cases that are runs are data (`cases.toml`: model, channel, measure, number, tolerance and its reason);
//! `nodal.toml` names numbers of mechanisms in the nodal formulation; the seeded states of Jain & Rodriguez and the kinematics of Fattah are evaluated by code of their own.

mod any_shape;
mod buckling;
mod claims;
pub mod costs;
mod fattah_kinematics;
pub mod figures;
mod flutter;
mod formulations;
mod jain_rodriguez;
mod nodal;
mod perturbation;
mod runs;
pub mod works;

use serde::{Deserialize, Serialize};

/// One number compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What was computed.
    pub case: String,
    /// Where the number comes from, by its key in `validation/`.
    pub source: String,
    /// What the number is, with its unit.
    pub quantity: String,
    /// The number as the source prints it; infinite where the source's run overflows (`null` in JSON).
    pub printed: Option<f64>,
    /// Significant digits of the printed number.
    pub digits: Option<usize>,
    /// The number of an independent implementation, or of the exact solution.
    pub reference: Option<f64>,
    /// Ours; absent when the case could not be computed.
    pub computed: Option<f64>,
    /// Largest absolute difference from the reference (from the printed number where there is none) that
    /// passes.
    pub tolerance: f64,
    /// Whether it passes.
    pub pass: bool,
    /// Whether it is known not to pass, for the reason that the remark gives. A row that is said to be unmet and is
    /// met is neither: its remark is out of date.
    pub unmet: bool,
    /// Why the tolerance is what it is, and what else a reader should know.
    pub remark: String,
}

impl Row {
    /// Decides whether `computed` passes.
    fn judged(mut self) -> Self {
        let met = match (self.computed, self.reference.or(self.printed)) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() <= self.tolerance,
            _ => false,
        };
        self.pass = met && !self.unmet;
        self.digits = self.digits.or_else(|| digits(self.printed?));
        self.unmet = self.unmet && !met && self.computed.is_some_and(f64::is_finite);
        self
    }

    /// Whether something is wrong: it does not pass, and that is not known.
    pub fn fails(&self) -> bool {
        !self.pass && !self.unmet
    }

    /// What ours says of the source's number.
    pub fn verdict(&self) -> Verdict {
        if self.fails() {
            return Verdict::Fails;
        }
        let (Some(printed), Some(computed)) = (self.printed, self.computed) else {
            return Verdict::Met;
        };
        let half_a_unit = self.digits.map_or(0.0, |digits| {
            let places = digits as f64 - 1.0 - printed.abs().log10().floor();
            0.5 * 10.0_f64.powf(-places)
        });
        // half a unit is met, however it is rounded
        let is_printed = |x: f64| (x - printed).abs() <= half_a_unit * (1.0 + 1e-9);
        // a tolerance is that of the reference: it says something of the printed number where both are the same
        let tolerated = self.pass && self.reference.is_none_or(is_printed);
        if tolerated || is_printed(computed) {
            Verdict::Met
        } else {
            Verdict::Refuted
        }
    }
}

/// What a row says of the number that a source prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ours agrees with it; without a printed number, with the reference.
    Met,
    /// Ours does not agree with it, and the row says why: a reference that it agrees with, or a reason.
    Refuted,
    /// Ours should agree and does not, or there is none.
    Fails,
}

/// Significant digits of a number as it is written shortest; none of what is not finite or zero.
fn digits(printed: f64) -> Option<usize> {
    if !printed.is_finite() || printed == 0.0 {
        return None;
    }
    let text = format!("{:e}", printed.abs());
    let mantissa = text.split('e').next()?;
    Some(mantissa.chars().filter(char::is_ascii_digit).count())
}

/// All rows; with `quick` without those of cases that take more than a few seconds.
pub fn rows(quick: bool) -> Vec<Row> {
    let mut rows = jain_rodriguez::rows();
    rows.extend(costs::rows());
    rows.extend(fattah_kinematics::rows());
    rows.extend(runs::rows(quick));
    rows.extend(nodal::rows(quick));
    rows.extend(formulations::rows(quick));
    rows
}

/// The rows as a Markdown report.
pub fn report(rows: &[Row]) -> String {
    use std::fmt::Write as _;
    let number = |x: Option<f64>| match x {
        None => String::new(),
        Some(x) if x.is_infinite() => "∞".to_owned(),
        Some(x) if x != 0.0 && x.abs() < 1e-2 => format!("{x:.6e}"),
        Some(x) => format!("{x:.8}"),
    };
    let mut text = format!(
        "# Validation\n\nMade by `lissom validate --report FILE`.\n\n## What the five works say\n\n{}\n## Rows\n\n\
         | case | source | quantity | printed | reference | computed | tolerance | pass | remark |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        works::markdown(&works::judged(rows, &[]))
    );
    for row in rows {
        // writing to a string cannot fail
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:.1e} | {} | {} |",
            row.case,
            row.source,
            row.quantity,
            number(row.printed),
            number(row.reference),
            number(row.computed),
            row.tolerance,
            match (row.pass, row.unmet) {
                (true, _) => "yes",
                (false, true) => "not met",
                (false, false) => "**no**",
            },
            row.remark,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_number_or_beyond_its_tolerance_fails() {
        let row = Row {
            case: String::new(),
            source: String::new(),
            quantity: String::new(),
            printed: Some(1.0),
            digits: None,
            reference: None,
            computed: Some(1.2),
            tolerance: 0.1,
            pass: true,
            unmet: false,
            remark: String::new(),
        };
        assert!(!row.clone().judged().pass);
        let close = Row {
            computed: Some(1.05),
            ..row.clone()
        };
        assert!(close.judged().pass);
        let missing = Row {
            computed: None,
            ..row.clone()
        };
        assert!(!missing.judged().pass);
        let not_a_number = Row {
            computed: Some(f64::NAN),
            ..row
        };
        assert!(not_a_number.judged().fails());
    }

    /// Half a unit of the last printed digit is agreement, more is not; zeros at the end of a printed number are digits if the row
    /// says so.
    #[test]
    fn verdicts_follow_the_printed_digits() {
        let row = |printed: f64, digits: Option<usize>, computed: f64| {
            let row = Row {
                case: String::new(),
                source: String::new(),
                quantity: String::new(),
                printed: Some(printed),
                digits,
                reference: Some(computed),
                computed: Some(computed),
                tolerance: 1e-9,
                pass: false,
                unmet: false,
                remark: String::new(),
            };
            row.judged().verdict()
        };
        assert_eq!(row(0.159, None, 0.15947), Verdict::Met);
        assert_eq!(row(0.159, None, 0.15955), Verdict::Refuted);
        assert_eq!(row(0.22, None, 0.2166), Verdict::Met);
        assert_eq!(row(0.22, Some(3), 0.2166), Verdict::Refuted);
        assert_eq!(row(3.27, None, 3.3478), Verdict::Refuted);
        assert_eq!(row(2.91, None, 2.9100), Verdict::Met);
        assert_eq!(row(f64::INFINITY, None, 30.0), Verdict::Refuted);
    }

    /// A remark that excuses a row must not outlive its cause.
    #[test]
    fn a_row_known_to_be_unmet_fails_when_it_is_met_or_has_no_number() {
        let row = Row {
            case: String::new(),
            source: String::new(),
            quantity: String::new(),
            printed: Some(1.0),
            digits: None,
            reference: None,
            computed: Some(2.0),
            tolerance: 0.1,
            pass: true,
            unmet: true,
            remark: String::new(),
        };
        let judged = row.clone().judged();
        assert!(!judged.pass && judged.unmet && !judged.fails());
        let overflows = Row {
            printed: Some(f64::INFINITY),
            ..row.clone()
        };
        assert!(!overflows.judged().fails());
        for computed in [Some(1.05), None, Some(f64::NAN)] {
            let row = Row {
                computed,
                ..row.clone()
            };
            assert!(row.judged().fails(), "{computed:?}");
        }
    }
}
