//! Which of two methods gets on faster: paces, trials and patience.
//!
//! The pace of a method is the time that it passes per evaluation, over a stretch of accepted steps. It is what a run costs, whatever
//! makes the steps short, and it needs no eigenvalue. An implicit method is tried by steps that are thrown away, since they damp what they pass over;
//! the explicit one by steps that count.

use super::super::memory::{Pace, Stretch};

/// Accepted steps over which a pace is measured.
const STRETCH: u64 = 20;
/// The same for a method on trial, which makes as many before, since its first steps are short.
pub(super) const TRIAL_STEPS: usize = 8;
const TRIAL: u64 = TRIAL_STEPS as u64;
/// By how much an implicit method must be faster. Its steps damp what they pass over: where it gains less it would be by
/// giving up vibrations that an explicit method resolves.
const WORTH_IT: f64 = 3.0;
/// An explicit method on trial may be slower by this, as it is the more accurate one.
const NEARLY_AS_FAST: f64 = 0.7;
/// Accepted steps until the other method is tried again; twice as many behind every trial that is lost.
const FIRST_PATIENCE: u64 = 100;
const LONGEST_PATIENCE: u64 = 1 << 20;

/// What is to be done before the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Stay,
    /// The implicit method is to be tried against what the explicit one has shown.
    TryImplicit(Stretch),
    /// The other method takes over, the explicit one perhaps on trial.
    Change(FirstStep),
}

/// Length of the step that the method which takes over begins with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstStep(pub(super) f64);

fn longer(patience: u64) -> u64 {
    (2 * patience).clamp(FIRST_PATIENCE, LONGEST_PATIENCE)
}

impl Stretch {
    fn pace(&self) -> f64 {
        self.advanced / self.evaluations.max(1) as f64
    }

    pub(super) fn mean_step(&self) -> f64 {
        self.advanced / self.steps.max(1) as f64
    }
}

impl Pace {
    /// That of a method which has been chosen without having been tried.
    pub(super) const NEW: Self = Self {
        on_trial: false,
        steps: 0,
        stretch: Stretch::NONE,
        other_pace: 0.0,
        other_step: 0.0,
        patience: 0,
    };

    /// Notes an accepted step.
    pub(super) fn note(&mut self, advanced: f64, evaluations: u64, stiff: bool) {
        self.steps += 1;
        let stretch = &mut self.stretch;
        stretch.steps += 1;
        stretch.advanced += advanced;
        stretch.evaluations += evaluations;
        stretch.stiff_steps += u64::from(stiff);
    }

    /// Judges the present method at the end of a stretch.
    pub(super) fn judge(&mut self, is_implicit: bool) -> Verdict {
        let length = if self.on_trial { TRIAL } else { STRETCH };
        if self.stretch.steps < length {
            return Verdict::Stay;
        }
        let stretch = std::mem::replace(&mut self.stretch, Stretch::NONE);
        if self.on_trial {
            return self.judge_explicit_trial(&stretch);
        }
        let waited = self.steps >= self.patience;
        if !is_implicit {
            let is_stiff = 2 * stretch.stiff_steps > stretch.steps;
            if !(waited && is_stiff) {
                return Verdict::Stay;
            }
            return Verdict::TryImplicit(stretch);
        }
        // the explicit method would be no slower
        if stretch.pace() < self.other_pace {
            return Verdict::Change(self.leave(&stretch, false));
        }
        if waited {
            return Verdict::Change(self.leave(&stretch, true));
        }
        Verdict::Stay
    }

    /// Tells whether an implicit method that was tried takes over.
    pub(super) fn is_won(&mut self, explicit: &Stretch, implicit: &Stretch) -> bool {
        let won = implicit.pace() >= WORTH_IT * explicit.pace();
        self.steps = 0;
        if won {
            self.patience = FIRST_PATIENCE;
            self.other_pace = explicit.pace();
            self.other_step = explicit.mean_step();
        } else {
            self.patience = longer(self.patience);
        }
        won
    }

    fn judge_explicit_trial(&mut self, stretch: &Stretch) -> Verdict {
        // the first steps grow to the length that the method can do with
        if self.steps < 2 * TRIAL {
            return Verdict::Stay;
        }
        if stretch.pace() < NEARLY_AS_FAST * self.other_pace {
            return Verdict::Change(self.lose(stretch));
        }
        self.on_trial = false;
        self.steps = 0;
        self.patience = FIRST_PATIENCE;
        Verdict::Stay
    }

    /// Notes that the present method cannot go on.
    pub(super) fn give_up(&mut self) -> FirstStep {
        let stretch = std::mem::replace(&mut self.stretch, Stretch::NONE);
        self.lose(&stretch)
    }

    fn lose(&mut self, stretch: &Stretch) -> FirstStep {
        self.patience = longer(self.patience);
        self.leave(stretch, false)
    }

    /// Notes what the present method has shown. The other one goes on with the step that it had, or with the present one if that is shorter: what the
    /// bound of stability leaves of fast modes is small in the state, but large in its derivative, and a long step would be interpolated by it.
    fn leave(&mut self, stretch: &Stretch, on_trial: bool) -> FirstStep {
        let step = stretch.mean_step();
        let known = std::mem::replace(&mut self.other_step, step);
        self.on_trial = on_trial;
        self.steps = 0;
        self.other_pace = stretch.pace();
        FirstStep(match (known > 0.0, step > 0.0) {
            (true, true) => known.min(step),
            (true, false) => known,
            (false, _) => step,
        })
    }
}
