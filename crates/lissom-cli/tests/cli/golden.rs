//! Numbers that must not move: every shipped model under every formulation and method of integration, and its linear model.
//!
//! Kind of truth: agreement with an earlier build, to the last bit. `golden/golden.json` holds what the command gave then;
//! it says nothing about what is right, only that something has changed. Where numbers are meant to move, write it anew
//! and commit what changed:
//!
//! ```sh
//! LISSOM_BLESS=1 cargo test -p lissom-cli --test cli golden
//! ```
//!
//! or, for a new model, only the cases whose names begin with it: `LISSOM_BLESS=frame-arm`.
//!
//! Only the command is called, so that the test outlives every rewriting inside. On a machine whose mathematical library
//! rounds sines and exponentials otherwise, bits cannot agree; a probe of that library tells, and numbers are then
//! compared with a tolerance.
//!
//! - `golden/cases.rs`: what is computed, and for how long
//! - `golden/measure.rs`: calling the command, and what is kept of its answer
//! - `golden/fixture.rs`: the file
//! - `golden/probe.rs`: bits of the mathematical library
//! - `golden/comparison.rs`: what has moved, and how far

pub(crate) mod cases;
mod comparison;
mod fixture;
mod measure;
mod probe;

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Folder;
use cases::Case;
use comparison::{Closeness, Number, compare, moved};
use fixture::Fixture;
use measure::Measured;

/// Runs of the command side by side.
const THREADS: usize = 2;

#[test]
fn shipped_models_keep_their_bits() {
    let mut cases = cases::all();
    let blessed = std::env::var("LISSOM_BLESS").ok();
    let chosen = blessed.as_deref().filter(|&chosen| chosen != "1");
    cases.retain(|case| chosen.is_none_or(|chosen| case.name().starts_with(chosen)));
    let measured = on_threads(&cases, measure::measure);
    let mut now = Fixture::new(&cases, measured);
    if blessed.is_some() {
        if chosen.is_some() {
            now.take_others(Fixture::read());
        }
        now.write();
        return;
    }
    let before = Fixture::read();
    let closeness = if before.probe == now.probe {
        Closeness::Bits
    } else {
        tell(
            "golden: the mathematical library of this machine rounds otherwise; comparing with a tolerance, not by bits",
        );
        Closeness::Tolerance
    };
    let differences = compare(&before, &now, closeness);
    assert!(
        differences.is_empty(),
        "{} of {} cases differ from golden/golden.json:\n{}",
        differences.len(),
        cases.len(),
        comparison::shown(&differences)
    );
}

/// The table of cases forgets no model that the command offers, and names none that it does not.
#[test]
fn every_shipped_model_has_golden_numbers() {
    let offered = Folder::new().lissom(&["run"]).stderr;
    let numbered = |line: &str| {
        let mut words = line.split_whitespace();
        words.next()?.parse::<u32>().ok()?;
        Some(words.next()?.to_owned())
    };
    let offered: Vec<String> = offered.lines().filter_map(numbered).collect();
    assert_eq!(offered, cases::model_names());
}

/// One unit in the last place is a difference, and is told by name and size.
#[test]
fn one_unit_in_the_last_place_is_told() {
    let number = |name: &str, value: f64| Number {
        name: name.to_owned(),
        kind: "m".to_owned(),
        value,
    };
    let before = [number("hand.x", 0.5), number("hand.y", -4.0)];
    let after = [number("hand.x", 0.5_f64.next_up()), number("hand.y", -4.0)];
    assert!(moved(&before, &before, Closeness::Bits).is_empty());
    assert!(moved(&before, &after, Closeness::Tolerance).is_empty());
    let told = moved(&before, &after, Closeness::Bits);
    assert_eq!(told.len(), 1);
    for words in ["hand.x", "0.5 became 0.5000000000000001", "2.8e-17", "m"] {
        assert!(told[0].contains(words), "{told:?}");
    }
    let after = [number("hand.x", 0.500_01), number("hand.y", -4.0)];
    assert_eq!(moved(&before, &after, Closeness::Tolerance).len(), 1);
    // zeros of either sign are different bits, and a number that is gone is told as well
    let [zero, negative] = [[number("z", 0.0)], [number("z", -0.0)]];
    assert_eq!(moved(&zero, &negative, Closeness::Bits).len(), 1);
    assert_eq!(moved(&before, &zero, Closeness::Bits).len(), 3);
}

/// Works on all cases, each thread taking the next one; answers in the order of the cases.
fn on_threads(cases: &[Case], work: impl Fn(&Case) -> Measured + Sync) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(index) else { break };
            let measured = work(case);
            done.lock().unwrap().push((index, measured));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(take);
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, measured)| measured).collect()
}

/// Says something that is seen although the test passes: what is printed in the usual way is kept back then.
fn tell(words: &str) {
    let _ = writeln!(std::io::stderr(), "{words}");
}
