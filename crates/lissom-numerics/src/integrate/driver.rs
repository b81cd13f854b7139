//! Brings an integration to a target: piece by piece between breakpoints, step by step within, samples as they fall due.
//!
//! A step that has gone beyond a state event is cut there: what it found up to the event is good, since the system was
//! smooth for the whole step, and a new piece begins at the instant of the event. A step that has gone beyond the target
//! stays open: the next call goes on inside it.

use super::equations::{Allowance, Equations, System};
use super::event::locate_event;
use super::memory::{Phase, Progress, StepEnding};
use super::schedule::{Piece, Target};
use super::{Flow, IntegrateError, Observer, Outcome, Projection};

/// A method that advances a solution of its own by one step at a time.
pub(super) trait Stepper<S: ?Sized> {
    /// Forgets the past and prepares the first step of a piece from the state as it is.
    fn start(
        &mut self,
        equations: &mut Equations<'_, S>,
        piece: &Piece,
    ) -> Result<(), IntegrateError>;

    /// Makes one accepted step that ends at or before the end of the piece.
    fn step(
        &mut self,
        equations: &mut Equations<'_, S>,
        piece: &Piece,
    ) -> Result<(), IntegrateError>;

    /// Lets the system project the state reached by the last step.
    fn project(&mut self, equations: &mut Equations<'_, S>) -> Result<Projection, IntegrateError>;

    /// Writes the solution at an instant within the last step.
    fn interpolate(
        &mut self,
        equations: &mut Equations<'_, S>,
        time: f64,
        state: &mut [f64],
    ) -> Result<(), IntegrateError>;

    /// Puts the solution elsewhere; a start follows.
    fn place(&mut self, time: f64, state: &[f64]);

    /// Where the solution stands.
    fn time(&self) -> f64;

    /// The solution there.
    fn state(&self) -> &[f64];
}

/// Brings `stepper`, which stands where `progress` says, to `target`. After an error a start is due where the last step
/// ended. `left` receives what a call that is stopped leaves of its attempts.
pub(super) fn advance<S: System + ?Sized>(
    progress: &mut Progress,
    stepper: &mut dyn Stepper<S>,
    mut equations: Equations<'_, S>,
    target: &Target<'_>,
    observer: &mut dyn Observer,
    left: &mut Option<Allowance>,
) -> Result<Outcome, IntegrateError> {
    *left = None;
    target.check(progress.time, progress.sampled)?;
    let samples = target.samples_ahead(progress.time, progress.sampled);
    let walked = Walk {
        progress,
        stepper,
        equations: &mut equations,
        target,
        samples,
        observer,
    }
    .walk();
    progress.statistics = equations.statistics;
    if walked.is_err() {
        progress.phase = Phase::StartDue;
        progress.time = stepper.time();
    }
    // inside a step the interpolated state stays in place
    if !matches!(progress.phase, Phase::WithinStep { .. }) {
        progress.state.copy_from_slice(stepper.state());
    }
    let stopped_at = walked?;
    *left = stopped_at.map(|_| equations.allowance);
    Ok(Outcome {
        statistics: equations.statistics,
        stopped_at,
    })
}

/// One call.
struct Walk<'w, 's, S: ?Sized> {
    progress: &'w mut Progress,
    stepper: &'w mut dyn Stepper<S>,
    equations: &'w mut Equations<'s, S>,
    target: &'w Target<'w>,
    /// Those that are still to come.
    samples: &'w [f64],
    observer: &'w mut dyn Observer,
}

impl<S: System + ?Sized> Walk<'_, '_, S> {
    /// Returns where the observer or the system stopped the integration, if one of them did.
    fn walk(mut self) -> Result<Option<f64>, IntegrateError> {
        let mut piece = self.piece_at_hand();
        if self.progress.phase == Phase::StartDue {
            piece = self.start_piece()?;
        }
        loop {
            let reached = self.progress.time == self.target.time;
            let flow = match self.progress.phase {
                Phase::Refused => Flow::Stop,
                Phase::WithinStep { end, .. } if self.target.time < end => {
                    return self.sample_up_to_target();
                }
                Phase::WithinStep {
                    end,
                    ending,
                    refused,
                } => self.end_step(&mut piece, end, ending, refused)?,
                // what holds behind a breakpoint at the target is known when the next call begins
                Phase::StartDue if reached => break,
                Phase::StartDue => {
                    piece = self.start_piece()?;
                    Flow::Continue
                }
                Phase::BetweenSteps if piece.breaks && self.progress.time == piece.end => {
                    self.progress.phase = Phase::StartDue;
                    Flow::Continue
                }
                Phase::BetweenSteps if reached => break,
                Phase::BetweenSteps => match self.sample_here() {
                    Flow::Continue => self.make_step(&piece)?,
                    Flow::Stop => Flow::Stop,
                },
            };
            if flow == Flow::Stop {
                return Ok(Some(self.progress.time));
            }
        }
        Ok(match self.sample_here() {
            Flow::Continue => None,
            Flow::Stop => Some(self.progress.time),
        })
    }

    /// The piece that the integration is in, by the breakpoints of this call. One that lies inside the step made last was not
    /// known when it was made.
    fn piece_at_hand(&mut self) -> Piece {
        let progress = &mut *self.progress;
        let piece = self.target.piece(progress.piece_start, progress.time);
        self.equations.ceiling = piece.ceiling;
        match progress.phase {
            Phase::BetweenSteps if piece.breaks && piece.end == progress.time => {
                progress.phase = Phase::StartDue;
            }
            Phase::WithinStep { end, .. } if piece.breaks && piece.end < end => {
                progress.phase = Phase::WithinStep {
                    end: piece.end,
                    ending: StepEnding::Cut,
                    refused: false,
                };
            }
            _ => {}
        }
        piece
    }

    fn start_piece(&mut self) -> Result<Piece, IntegrateError> {
        let time = self.progress.time;
        let piece = self.target.piece(time, time);
        self.start(&piece)?;
        Ok(piece)
    }

    fn start(&mut self, piece: &Piece) -> Result<(), IntegrateError> {
        self.equations.ceiling = piece.ceiling;
        self.progress.piece_start = piece.start;
        let arriving = &mut self.progress.state;
        arriving.copy_from_slice(self.stepper.state());
        self.stepper.start(self.equations, piece)?;
        let (leaving, chart) = (self.stepper.state(), self.equations.chart());
        (self.observer).begin(piece.start, arriving, leaving, chart);
        self.progress.phase = Phase::BetweenSteps;
        Ok(())
    }

    fn make_step(&mut self, piece: &Piece) -> Result<Flow, IntegrateError> {
        let before = self.stepper.time();
        self.stepper.step(self.equations, piece)?;
        let scratch = &mut self.progress.state;
        let event = locate_event(self.stepper, self.equations, before, scratch)?;
        let (end, ending, refused) = if let Some(end) = event {
            (end, StepEnding::Event, false)
        } else {
            let end = self.stepper.time();
            match self.stepper.project(self.equations)? {
                Projection::Kept | Projection::Moved => (end, StepEnding::Full, false),
                Projection::Stop { good_until } => {
                    (good_until.max(before).min(end), StepEnding::Full, true)
                }
            }
        };
        self.progress.phase = Phase::WithinStep {
            end,
            ending,
            refused,
        };
        Ok(Flow::Continue)
    }

    /// Takes the samples inside the step made last up to the target, and leaves the solution there.
    fn sample_up_to_target(&mut self) -> Result<Option<f64>, IntegrateError> {
        let target = self.target.time;
        if self.take_samples_before(f64::INFINITY)? == Flow::Stop {
            return Ok(Some(self.progress.time));
        }
        if self.progress.time != target {
            self.interpolate(target)?;
        }
        Ok(None)
    }

    /// Takes the samples inside the step made last and ends it.
    fn end_step(
        &mut self,
        piece: &mut Piece,
        end: f64,
        ending: StepEnding,
        refused: bool,
    ) -> Result<Flow, IntegrateError> {
        if self.take_samples_before(end)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        // a step that is good in part ends there, and what comes behind is nobody's business
        let is_cut_short = refused && end < self.stepper.time();
        let projected = match ending {
            StepEnding::Full if is_cut_short => {
                self.interpolate(end)?;
                self.stepper.place(end, &self.progress.state);
                Flow::Stop
            }
            StepEnding::Full if refused => Flow::Stop,
            StepEnding::Full => Flow::Continue,
            StepEnding::Event | StepEnding::Cut => self.go_back_to(end, ending)?,
        };
        self.progress.time = end;
        self.progress.phase = match (projected, ending) {
            (Flow::Stop, _) => Phase::Refused,
            (Flow::Continue, StepEnding::Cut) => Phase::StartDue,
            (Flow::Continue, StepEnding::Full | StepEnding::Event) => Phase::BetweenSteps,
        };
        if ending == StepEnding::Event {
            piece.start = end;
            if projected == Flow::Continue {
                self.start(piece)?;
            }
        }
        // where a start is due, now or at the end of the piece, the sample shows what holds behind it
        let sampled = if end < piece.end && self.progress.phase != Phase::StartDue {
            self.sample_here()
        } else {
            Flow::Continue
        };
        let stepped = if is_cut_short {
            Flow::Stop
        } else {
            self.observer.step(end, self.stepper.state())
        };
        Ok(if [projected, sampled, stepped].contains(&Flow::Stop) {
            Flow::Stop
        } else {
            Flow::Continue
        })
    }

    /// Puts the solution back to an instant within the step made last, and projects it.
    fn go_back_to(&mut self, end: f64, ending: StepEnding) -> Result<Flow, IntegrateError> {
        // behind a restart the system may be another, but then the state has been found before
        if ending == StepEnding::Event || self.progress.time != end {
            self.interpolate(end)?;
        }
        self.stepper.place(end, &self.progress.state);
        Ok(match self.stepper.project(self.equations)? {
            Projection::Kept | Projection::Moved => Flow::Continue,
            Projection::Stop { .. } => Flow::Stop,
        })
    }

    /// Takes the samples inside the step made last that lie before an instant.
    fn take_samples_before(&mut self, end: f64) -> Result<Flow, IntegrateError> {
        while let Some((&sample, rest)) = self.samples.split_first()
            && sample < end
        {
            self.samples = rest;
            self.interpolate(sample)?;
            self.progress.sampled = Some(sample);
            if self.observer.sample(sample, &self.progress.state) == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// Takes a sample at the end of the step made last, if one is due.
    fn sample_here(&mut self) -> Flow {
        match self.samples.split_first() {
            Some((&sample, rest)) if sample == self.progress.time => {
                self.samples = rest;
                self.progress.sampled = Some(sample);
                self.observer.sample(sample, self.stepper.state())
            }
            _ => Flow::Continue,
        }
    }

    fn interpolate(&mut self, time: f64) -> Result<(), IntegrateError> {
        self.stepper
            .interpolate(self.equations, time, &mut self.progress.state)?;
        self.progress.time = time;
        Ok(())
    }
}
