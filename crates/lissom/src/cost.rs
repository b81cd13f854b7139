//! What a run will cost, as its first steps tell: [`cost_ahead`].

use lissom_core::RunError;
use lissom_core::study::Stepping;
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;

/// Steps after which it is noted how far they have come and what they took.
const STEPS_A_NOTE: usize = 5;
/// Fewer notes tell nothing: an integrator begins with small steps.
const LEAST_NOTES: usize = 8;
/// Notes that are enough behind the last instant at which inputs are not smooth, however long their steps are.
const NOTES_BEHIND: usize = 4;
/// Share of the span after which they are enough, behind the last such instant.
const TELLING_SHARE: f64 = 0.1;
/// More instants at which inputs are not smooth are those of a clock or a table: what is to come is like what was.
const MOST_JUMPS: usize = 16;
/// Evaluations times coordinates that may be spent: some tenths of a second.
const MOST_WORK: u64 = 1_000_000;
/// Steps that still change by more than this between the last two quarters of the trial do not tell those to come.
const SETTLED: f64 = 3.0;

/// What a run will cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CostAhead {
    /// Evaluations of the equations of motion over the whole span, to within a factor of three.
    ///
    /// # Errors
    /// Why the first steps do not tell.
    pub evaluations: Result<u64, CostUnknown>,
    /// Evaluations that were made to find out.
    pub tried: u64,
}

/// Why the first steps of a run do not tell what it will cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostUnknown {
    /// It has not got that far.
    #[error("its first steps fail: {0}")]
    Fails(Box<RunError>),
    /// There are too many coordinates to try.
    #[error("its first steps take too long to be tried")]
    TooDear,
    /// What drives it is not smooth later on.
    #[error("what drives it is not smooth at {at_s} s, which its first steps do not reach")]
    Jumps {
        /// The first such instant behind the steps that were tried.
        at_s: f64,
    },
    /// What comes is not like what was.
    #[error("its steps still change after {steps} of them")]
    Unsettled {
        /// Steps that were tried.
        steps: usize,
    },
}

/// Time reached, and evaluations until then.
#[derive(Clone, Copy)]
struct Note {
    time_s: f64,
    evaluations: u64,
}

impl Note {
    /// Evaluations per second since another one.
    fn pace_since(self, before: Self) -> f64 {
        (self.evaluations - before.evaluations) as f64 / (self.time_s - before.time_s)
    }
}

/// Makes the first steps of a run of the mechanism and concludes from the later half of them what the rest will take. They are thrown away.
///
/// ```
/// use lissom::cost::cost_ahead;
/// use lissom::{Mechanism, ModelSpec, TEMPLATE, sample_instants};
///
/// let spec = ModelSpec::parse(TEMPLATE, &[]).expect("the template has no error");
/// let mechanism = Mechanism::build(&spec).expect("its beams can be reduced to modes");
/// let ahead = cost_ahead(&mechanism).evaluations.expect("its steps are regular");
/// let run = mechanism.run(&sample_instants(&spec, &[]));
/// assert!(ahead < 3 * run.statistics.evaluations && run.statistics.evaluations < 3 * ahead);
/// ```
pub fn cost_ahead(mechanism: &Mechanism) -> CostAhead {
    let mut notes = Vec::new();
    let evaluations = match first_steps(mechanism, &mut notes) {
        Ok(jumps) => evaluations_until(end_s(mechanism), &notes, &jumps),
        Err(error) => Err(CostUnknown::Fails(Box::new(error))),
    };
    CostAhead {
        tried: notes.last().map_or(0, |note| note.evaluations),
        evaluations,
    }
}

fn end_s(mechanism: &Mechanism) -> f64 {
    let simulation = &mechanism.spec().simulation;
    simulation.start_s + simulation.duration_s
}

/// Steps until they tell enough or have cost enough, and the instants at which what drives the mechanism is not smooth.
fn first_steps(mechanism: &Mechanism, notes: &mut Vec<Note>) -> Result<Vec<f64>, RunError> {
    let start = mechanism.start()?;
    let simulation = &mechanism.spec().simulation;
    let end_s = end_s(mechanism);
    let mut dynamics = mechanism.dynamics(&start)?;
    let mut observed = mechanism.observer(&start)?;
    let mut jumps = dynamics.breakpoints(start.time_s, end_s);
    if jumps.len() > MOST_JUMPS {
        jumps.clear();
    }
    let last_s = jumps.last().copied().unwrap_or(start.time_s);
    let telling_s = last_s + TELLING_SHARE * simulation.duration_s;
    let integrator = &simulation.integrator;
    let mut stepping = Stepping::new(&mut *dynamics, &mut *observed, integrator, &start)?;
    let coordinates = dynamics.velocity_count() as u64;
    let mut note = Note {
        time_s: start.time_s,
        evaluations: 0,
    };
    notes.push(note);
    let mut behind = 0;
    let mut are_enough = false;
    while note.time_s < end_s && !are_enough && note.evaluations * coordinates < MOST_WORK {
        let mut made = 0;
        let mut watch = |_| {
            made += 1;
            if made < STEPS_A_NOTE {
                Flow::Continue
            } else {
                Flow::Stop
            }
        };
        let (dynamics, observed) = (&mut *dynamics, &mut *observed);
        stepping.advance(dynamics, observed, (end_s, false), &mut watch)?;
        note = Note {
            time_s: stepping.time_s(),
            evaluations: stepping.statistics().evaluations,
        };
        notes.push(note);
        behind += usize::from(note.time_s > last_s);
        are_enough = notes.len() > LEAST_NOTES && behind > NOTES_BEHIND && note.time_s >= telling_s;
    }
    Ok(jumps)
}

/// What the later half of the steps tells of the rest; those behind the last jump alone, if there is one.
fn evaluations_until(end_s: f64, notes: &[Note], jumps: &[f64]) -> Result<u64, CostUnknown> {
    let last = notes.len() - 1;
    let reached = notes[last];
    if reached.time_s >= end_s {
        return Ok(reached.evaluations);
    }
    if last < LEAST_NOTES {
        return Err(CostUnknown::TooDear);
    }
    if let Some(&at_s) = jumps.iter().find(|&&at_s| at_s >= reached.time_s) {
        return Err(CostUnknown::Jumps { at_s });
    }
    let behind = jumps
        .last()
        .map_or(0, |&at_s| notes.partition_point(|note| note.time_s <= at_s));
    let half = behind.max(last / 2);
    let (half, three_quarters) = (notes[half], notes[usize::midpoint(half, last)]);
    let change = reached.pace_since(three_quarters) / three_quarters.pace_since(half);
    if !(1.0 / SETTLED..=SETTLED).contains(&change) {
        let steps = last * STEPS_A_NOTE;
        return Err(CostUnknown::Unsettled { steps });
    }
    let rest = reached.pace_since(half) * (end_s - reached.time_s);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count; a cast saturates"
    )]
    Ok(reached.evaluations + rest as u64)
}
