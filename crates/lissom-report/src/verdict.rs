//! What the audit of a run means, in plain words.

use serde::Serialize;
use serde_json::Value;

/// How good a piece of news is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Look at it before the numbers are used.
    Caution,
    /// Do not use the numbers.
    Bad,
}

/// One sentence on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    /// How good it is.
    level: Level,
    /// What it is about, in a word or two.
    subject: String,
    /// The sentence.
    words: String,
}

/// Imbalance of energy in percent up to which nothing in a plot could come from it.
const TRUSTWORTHY_PERCENT: f64 = 1e-3;
/// Imbalance in percent that most uses bear.
const USABLE_PERCENT: f64 = 0.1;
/// Imbalance of energy in percent beyond which the motion is not that of the model.
pub const DOUBTFUL_PERCENT: f64 = 1.0;

/// Gap of a loop, in m or rad, that no measurement would find.
const CLOSED: f64 = 1e-6;
/// Gap of a loop, in m or rad, that no picture shows.
const NEARLY_CLOSED: f64 = 1e-4;

/// What can be said of a run by the summary in its manifest.
pub(crate) fn verdicts(summary: &Value) -> Vec<Verdict> {
    let mut found = vec![ending(summary)];
    found.extend(energy(summary));
    found.extend(momentum(summary));
    found.extend(closures(summary));
    found.extend(limits(summary));
    found.extend(bending(summary));
    found
}

fn verdict(level: Level, subject: &str, words: String) -> Verdict {
    Verdict {
        level,
        subject: subject.to_owned(),
        words,
    }
}

fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

fn number(value: &Value, path: &[&str]) -> Option<f64> {
    at(value, path)?.as_f64()
}

/// A number with two digits.
fn two_digits(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e4).contains(&x.abs()) {
        let text = format!("{x:.*}", if x.abs() < 0.1 { 4 } else { 2 });
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.1e}")
    }
}

fn ending(summary: &Value) -> Verdict {
    let duration = number(summary, &["duration_s"]).unwrap_or(0.0);
    if let Some(failure) = summary.get("failure").filter(|f| !f.is_null()) {
        let reached = number(failure, &["time_s"]).unwrap_or(0.0);
        let message = at(failure, &["message"])
            .and_then(Value::as_str)
            .unwrap_or("");
        return verdict(
            Level::Bad,
            "run",
            format!("the run failed at {} s: {message}", two_digits(reached)),
        );
    }
    match number(summary, &["stopped_at_s"]) {
        Some(at_s) => verdict(
            Level::Caution,
            "run",
            format!(
                "interrupted at {} s of {} s",
                two_digits(at_s),
                two_digits(duration)
            ),
        ),
        None => verdict(
            Level::Good,
            "run",
            format!("completed {} s", two_digits(duration)),
        ),
    }
}

fn energy(summary: &Value) -> Option<Verdict> {
    let percent = number(summary, &["audit", "energy", "max_drift_percent"]);
    let Some(percent) = percent else {
        let words = "energy balance is not a number: do not use this run".to_owned();
        at(summary, &["audit", "energy"])?;
        return Some(verdict(Level::Bad, "energy", words));
    };
    let shown = two_digits(percent);
    let leaks = at(summary, &["audit", "energy", "non_conservative"])
        .and_then(Value::as_array)
        .is_some_and(|reasons| !reasons.is_empty());
    let (level, meaning) = if percent <= TRUSTWORTHY_PERCENT {
        (Level::Good, "trustworthy")
    } else if percent <= USABLE_PERCENT {
        (
            Level::Good,
            "good enough for most uses; a smaller rtol makes it finer",
        )
    } else if leaks {
        (
            Level::Caution,
            "the terms of this fidelity follow from no energy; compare with the default one",
        )
    } else if percent <= DOUBTFUL_PERCENT {
        (
            Level::Caution,
            "use with care; a smaller rtol or step should lower it",
        )
    } else {
        (
            Level::Bad,
            "not trustworthy; lower rtol or the step, or choose another integrator",
        )
    };
    Some(verdict(
        level,
        "energy",
        format!("energy balance {shown} % of the peak: {meaning}"),
    ))
}

fn momentum(summary: &Value) -> Option<Verdict> {
    let audit = at(summary, &["audit", "momentum"]).filter(|audit| !audit.is_null())?;
    let [linear, angular] = [
        ["linear_drift_kg_m_per_s", "peak_linear_kg_m_per_s"],
        ["angular_drift_kg_m2_per_s", "peak_angular_kg_m2_per_s"],
    ]
    .map(|[drift, peak]| Some([number(audit, &[drift])?, number(audit, &[peak])?]));
    let both = [linear?, angular?];
    let drifts = format!(
        "{} kg m/s and {} kg m^2/s",
        two_digits(both[0][0]),
        two_digits(both[1][0])
    );
    // what is zero at the start drifts by all that it has, which is no measure
    let shares = both.into_iter().filter(|[drift, peak]| drift < peak);
    let percent = shares.map(|[drift, peak]| 100.0 * drift / peak);
    let Some(percent) = percent.reduce(f64::max) else {
        let words =
            format!("nothing outside acts; momentum, zero at the start, stays within {drifts}");
        return Some(verdict(Level::Note, "momentum", words));
    };
    let words = format!(
        "nothing outside acts; momentum drifts by {drifts} ({} % of its peak)",
        two_digits(percent)
    );
    let level = if percent <= DOUBTFUL_PERCENT {
        Level::Good
    } else {
        Level::Note
    };
    Some(verdict(level, "momentum", words))
}

/// How well loops stayed closed, where there are any.
fn closures(summary: &Value) -> Option<Verdict> {
    let audit = at(summary, &["audit", "closures"]).filter(|audit| audit.is_object())?;
    let worst = number(audit, &["max_position_violation"])?;
    let (level, meaning) = if worst <= CLOSED {
        (Level::Good, "closed")
    } else if worst <= NEARLY_CLOSED {
        (
            Level::Note,
            "closed well enough to look at; a smaller rtol or step makes it finer",
        )
    } else {
        (
            Level::Caution,
            "not closed; lower rtol or the step, or project after every step",
        )
    };
    let redundant = at(audit, &["redundant"]).and_then(Value::as_array);
    let redundant = match redundant.map_or(0, Vec::len) {
        0 => String::new(),
        count => format!("; {count} of their equations follow from the others and carry no force"),
    };
    let words = format!(
        "loops open by at most {} m or rad: {meaning}{redundant}",
        two_digits(worst)
    );
    Some(verdict(level, "loops", words))
}

fn limits(summary: &Value) -> Vec<Verdict> {
    let passed = at(summary, &["audit", "limit_violations"]).and_then(Value::as_array);
    let word = |entry: &Value, key: &str| {
        let text = entry.get(key).and_then(Value::as_str);
        text.unwrap_or("").to_owned()
    };
    (passed.into_iter().flatten())
        .map(|entry| {
            let value = |key: &str| two_digits(number(entry, &[key]).unwrap_or(f64::NAN));
            let words = format!(
                "{} of joint {} passes its limit {} {unit} at {} s, furthest {} {unit}",
                word(entry, "quantity"),
                word(entry, "joint"),
                value("limit"),
                value("first_s"),
                value("worst"),
                unit = word(entry, "unit"),
            );
            verdict(Level::Caution, "limit", words)
        })
        .collect()
}

/// How far every flexible body bends; what counts as small, the audit says.
fn bending(summary: &Value) -> Vec<Verdict> {
    let bodies = at(summary, &["audit", "bodies"]).and_then(Value::as_array);
    let judge = |body: &Value| {
        let name = body.get("body")?.as_str()?;
        let deflection = number(body, &["deflection", "value"])?;
        let (slope, length) = (
            number(body, &["slope", "value"])?,
            number(body, &["length_m"])?,
        );
        let (level, meaning) = if body.get("small")?.as_bool()? {
            (Level::Good, "small, as the theory assumes")
        } else {
            (
                Level::Caution,
                "large for floating frames; a finer chain of bodies would be more exact",
            )
        };
        let words = format!(
            "{name} bends by {} m ({} % of its length, slope {} rad): {meaning}",
            two_digits(deflection),
            two_digits(100.0 * deflection / length),
            two_digits(slope)
        );
        Some(verdict(level, "bending", words))
    };
    bodies.into_iter().flatten().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn level_of(percent: &Value) -> Level {
        let summary = json!({ "audit": { "energy": { "max_drift_percent": percent } } });
        energy(&summary).unwrap().level
    }

    /// Property: the worse the balance, the worse the verdict; no number is the worst of all.
    #[test]
    fn energy_is_judged_by_its_size() {
        let levels = [json!(3e-7), json!(0.05), json!(0.5), json!(20.0)].map(|p| level_of(&p));
        assert!(levels.is_sorted());
        assert_eq!(
            levels,
            [Level::Good, Level::Good, Level::Caution, Level::Bad]
        );
        assert_eq!(level_of(&Value::Null), Level::Bad);
    }

    /// Property: what follows from no energy is not blamed on the integrator.
    #[test]
    fn unbalanced_terms_are_told() {
        let audit =
            json!({ "max_drift_percent": 20.0, "non_conservative": ["the inertia of body arm"] });
        let told = energy(&json!({ "audit": { "energy": audit } })).unwrap();
        assert_eq!(told.level, Level::Caution);
        assert!(told.words.contains("no energy"), "{}", told.words);
    }

    /// Property: a momentum that is zero at the start is not told in parts of itself.
    #[test]
    fn a_drift_of_zero_momentum_is_no_share_of_it() {
        let judged = |angular_peak: f64| {
            let audit = json!({
                "linear_drift_kg_m_per_s": 3e-16, "peak_linear_kg_m_per_s": 3e-16,
                "angular_drift_kg_m2_per_s": 2e-15, "peak_angular_kg_m2_per_s": angular_peak,
            });
            momentum(&json!({ "audit": { "momentum": audit } })).unwrap()
        };
        let still = judged(2e-15);
        assert!(still.words.contains("zero at the start"), "{}", still.words);
        assert!(!still.words.contains('%'), "{}", still.words);
        let spinning = judged(4.0);
        assert!(
            spinning.words.contains("(5.0e-14 % of its peak)"),
            "{}",
            spinning.words
        );
        assert_eq!(spinning.level, Level::Good);
    }

    /// Property: the wider a loop gapes, the worse the verdict; a tree has none.
    #[test]
    fn loops_are_judged_by_their_gap() {
        let judged = |gap: f64| {
            let audit = json!({ "max_position_violation": gap, "redundant": ["a", "b"] });
            closures(&json!({ "audit": { "closures": audit } })).unwrap()
        };
        let levels = [1e-12, 1e-5, 0.1].map(|gap| judged(gap).level);
        assert_eq!(levels, [Level::Good, Level::Note, Level::Caution]);
        assert!(judged(0.1).words.contains("2 of their equations"));
        assert_eq!(closures(&json!({ "audit": {} })), None);
    }

    /// By hand.
    #[test]
    fn words_are_plain() {
        let summary = json!({
            "duration_s": 20.0,
            "audit": { "energy": { "max_drift_percent": 3e-7 }, "limit_violations": [] },
        });
        let words: Vec<String> = verdicts(&summary)
            .into_iter()
            .map(|verdict| verdict.words)
            .collect();
        assert_eq!(words[0], "completed 20 s");
        assert_eq!(words[1], "energy balance 3.0e-7 % of the peak: trustworthy");
        let failed = json!({ "failure": { "time_s": 1.5, "message": "too stiff" } });
        assert_eq!(ending(&failed).level, Level::Bad);
        assert_eq!(ending(&failed).words, "the run failed at 1.5 s: too stiff");
    }
}
