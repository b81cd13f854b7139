//! The run: integrates a mechanism over its time span and records it.

use lissom_numerics::integrate::{
    FirstOrder, Flow, IntegrateError, Observer, Outcome, Projection, Statistics, Target,
};
use lissom_spec::spec::{ModelSpec, SimulationSpec};

use crate::audit::{Audit, Auditor};
use crate::dynamics::Dynamics;
use crate::error::RunError;
use crate::recording::Recording;
use crate::sampler::Sampler;
use crate::state::State;
use crate::stepper::Stepper;
use crate::study::watch::Watch;
use crate::study::work::{WorkSum, integrated};

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Run {
    /// Channels over time, as far as the run came.
    pub recording: Recording,
    /// Energy, momentum and limits.
    pub audit: Audit,
    /// What the integrator did.
    pub statistics: Statistics,
    /// How it ended.
    pub ending: Ending,
    /// The state that it reached, from which it can go on; absent for a run that never began.
    pub last: Option<State>,
}

impl Run {
    /// A run that ended before it began.
    pub fn refused(error: RunError) -> Self {
        Self {
            recording: Recording::default(),
            audit: Audit::default(),
            statistics: Statistics::default(),
            ending: Ending::Failed(error),
            last: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It reached the end of its span.
    Completed,
    /// The caller stopped it.
    Stopped {
        /// Time reached.
        at_s: f64,
    },
    /// It could not go on.
    Failed(RunError),
}

/// Sample instants of a model: every period from start to end, and the requested extra ones inside.
pub fn sample_instants(spec: &ModelSpec, extra: &[f64]) -> Vec<f64> {
    let (start, period) = (spec.simulation.start_s, spec.sample_period_s());
    let end = start + spec.simulation.duration_s;
    // a tenth of a period short of the end counts as the end
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of samples; a cast saturates"
    )]
    let count = ((end - start) / period - 0.1).max(0.0).floor() as usize;
    let mut instants: Vec<f64> = (0..=count).map(|i| start + i as f64 * period).collect();
    instants.push(end);
    instants.extend(extra.iter().copied().filter(|&t| t >= start && t <= end));
    instants.sort_by(f64::total_cmp);
    // an extra instant may repeat a regular one up to rounding: keep the requested number
    instants.dedup_by(|later, earlier| {
        let same = *later - *earlier <= 1e-9 * period;
        if same && extra.contains(later) {
            *earlier = *later;
        }
        same
    });
    instants
}

/// Sample instants of a run that begins at a state on the way: those of the model from there on, that of the state first.
pub fn sample_instants_from(spec: &ModelSpec, start_s: f64, extra: &[f64]) -> Vec<f64> {
    let rest = sample_instants(spec, extra).into_iter();
    let rest = rest.filter(|&instant| instant > start_s);
    std::iter::once(start_s).chain(rest).collect()
}

/// What a run records and when it is given up.
#[derive(Clone, Copy, Debug)]
pub struct SimulateOptions<'a> {
    /// Instants to be recorded.
    pub samples: &'a [f64],
    /// Beginnings of the names of the channels to be recorded; all if absent.
    pub channels: Option<&'a [String]>,
    /// A flexible body that is displaced by more than this many of its lengths at a sample ends the run as
    /// [`RunError::Diverged`].
    pub most_lengths: f64,
}

/// Integrates `dynamics` from `start` to the end of `simulation`. `observer` are dynamics of the same mechanism for the
/// recording, so that it does not disturb the integrator's. `watch` is told of every step, may stop the run, and may have it so far.
pub fn simulate(
    dynamics: &mut dyn Dynamics,
    observer: &mut dyn Dynamics,
    start: &State,
    simulation: &SimulationSpec,
    options: &SimulateOptions<'_>,
    watch: &mut dyn Watch,
) -> Run {
    let end = simulation.start_s + simulation.duration_s;
    // a run that goes on may stand where an input jumps, and has not begun behind it yet
    let from = match start.integrator {
        Some(_) => start.time_s.next_down(),
        None => start.time_s,
    };
    let breakpoints = dynamics.breakpoints(from, end);
    let target = Target {
        time: end,
        horizon: end,
        breakpoints: &breakpoints,
        samples: options.samples,
    };
    let mut recorder = Recorder::new(observer, options, watch, end);
    recorder.auditor.before = [start.work_j, start.dissipated_j, start.drift_j];

    let resumed = Stepper::resumed(&simulation.integrator, start);
    let (stepper, startable) = if let Some(stepper) = resumed {
        dynamics.enter_piece(start.time_s, &start.packed());
        (recorder.dynamics).enter_piece(start.time_s, &start.packed());
        (Ok(stepper), true)
    } else {
        let (begin, startable) = projected(dynamics, start);
        (Stepper::new(&simulation.integrator, &begin), startable)
    };
    let mut stepper = match stepper {
        Ok(stepper) => stepper,
        Err(source) => return Run::refused(failed(dynamics, 0, source)),
    };
    if !stepper.integrates_work() {
        recorder.work = Some(WorkSum::new(start, breakpoints.clone()));
    }
    let result = if startable {
        advance(&mut stepper, dynamics, &target, &mut recorder)
    } else {
        Ok(Outcome {
            statistics: stepper.statistics(),
            stopped_at: Some(start.time_s),
        })
    };
    let statistics = match &result {
        Ok(outcome) => outcome.statistics,
        Err(error) => error.statistics(),
    };
    let failure = dynamics.failure(&result);
    let ending = match (failure, result) {
        (Some(error), _) => Ending::Failed(error),
        (None, Ok(outcome)) => match (recorder.failure.take(), outcome.stopped_at) {
            (Some(error), _) => Ending::Failed(error),
            (None, Some(at_s)) => Ending::Stopped { at_s },
            (None, None) => Ending::Completed,
        },
        (None, Err(source)) => {
            let first = stepper.first_component(dynamics);
            Ending::Failed(failed(dynamics, first, source))
        }
    };
    let mut run = recorder.run(&stepper, dynamics, statistics, ending);
    let sampled_s = run.recording.time_s.last();
    if let (Some(last), Ending::Stopped { .. }) = (&mut run.last, &run.ending)
        && sampled_s != Some(&last.time_s)
    {
        last.drift_j = recorder.final_drift(last);
    }
    run
}

/// Brings a run to its target, and hands it over so far wherever its watch asks for it.
fn advance(
    stepper: &mut Stepper,
    dynamics: &mut dyn Dynamics,
    target: &Target<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Outcome, IntegrateError> {
    loop {
        let result = stepper.advance(dynamics, target, recorder);
        let is_due = std::mem::take(&mut recorder.checkpoint_due) && recorder.failure.is_none();
        let outcome = match &result {
            Ok(outcome) if is_due => outcome,
            _ => return result,
        };
        let ending = Ending::Stopped {
            at_s: stepper.time(),
        };
        let so_far = recorder.run(stepper, dynamics, outcome.statistics, ending);
        recorder.watch.checkpoint(&so_far);
        recorder.recording = so_far.recording;
    }
}

/// A start brought onto the closures, and whether anything can begin there.
pub(super) fn projected(dynamics: &mut dyn Dynamics, start: &State) -> (State, bool) {
    let mut packed = start.packed();
    let startable = !matches!(
        FirstOrder::project(dynamics, start.time_s, &mut packed),
        Projection::Stop { .. }
    );
    let (n_q, n_v) = (start.position.len(), start.velocity.len());
    let begin = State {
        position: packed[..n_q].to_vec(),
        velocity: packed[n_q..n_q + n_v].to_vec(),
        ..start.clone()
    };
    (begin, startable)
}

/// What an integrator says that has given up, whose components count from entry `first` of the state as it is now.
pub(super) fn failed(dynamics: &dyn Dynamics, first: usize, source: IntegrateError) -> RunError {
    let component = source.component();
    let entry = component.and_then(|at| dynamics.state_layout().into_iter().nth(first + at));
    RunError::Integration {
        source: Box::new(source),
        coordinate: entry.map_or_else(|| "unknown".to_owned(), |entry| entry.name),
    }
}

/// Most samples of one step that are taken before whoever watches is told of the time: what has come to rest is integrated by steps that
/// hold a hundred thousand of them, and some milliseconds are soon enough to be heard.
const UNWATCHED: usize = 1000;

/// Records samples, keeps the audit, and passes the time on to whoever watches.
struct Recorder<'w> {
    dynamics: &'w mut dyn Dynamics,
    sampler: Sampler,
    auditor: Auditor,
    recording: Recording,
    watch: &'w mut dyn Watch,
    /// Where the run ends: nobody needs it so far there.
    end: f64,
    /// Set when the run is stopped to be handed over so far.
    checkpoint_due: bool,
    /// Samples since whoever watches was told of the time.
    unwatched: usize,
    /// For methods that do not integrate the work themselves.
    work: Option<WorkSum>,
    /// Largest displacement of a flexible body, in lengths of it, that is gone on with.
    most_lengths: f64,
    /// Set when a sample cannot be recorded or is the last.
    failure: Option<RunError>,
    /// A sample brought onto the closures.
    projected: Vec<f64>,
}

impl<'w> Recorder<'w> {
    fn new(
        dynamics: &'w mut dyn Dynamics,
        options: &SimulateOptions<'_>,
        watch: &'w mut dyn Watch,
        end: f64,
    ) -> Self {
        let samples = options.samples.len();
        let (sampler, signals) = Sampler::new(dynamics, options.channels);
        let names = signals.into_iter().map(|signal| (signal.name, signal.unit));
        Self {
            sampler,
            auditor: Auditor::new(dynamics, samples),
            recording: Recording::with_capacity(names, samples),
            dynamics,
            watch,
            end,
            checkpoint_due: false,
            unwatched: 0,
            work: None,
            most_lengths: options.most_lengths,
            failure: None,
            projected: Vec::new(),
        }
    }
}

impl Observer for Recorder<'_> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        let projected = self.projected(time, state);
        if let Some(violation) = self.dynamics.violation(time, &projected) {
            self.auditor.add_violation(violation);
        }
        let flow = self.record(time, &projected);
        self.projected = projected;
        self.unwatched += 1;
        // works that are summed up by steps are not known inside of one
        if flow == Flow::Continue && self.unwatched >= UNWATCHED && self.work.is_none() {
            self.unwatched = 0;
            return self.watch.reached(time);
        }
        flow
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        if let Some(work) = &mut self.work {
            work.add(self.dynamics, time, state);
        }
        if let Some(violation) = self.dynamics.violation(time, state) {
            self.auditor.add_violation(violation);
        }
        if self.dynamics.actions().watched_limits().next().is_some() {
            let (n_q, n_v) = (
                self.dynamics.position_count(),
                self.dynamics.velocity_count(),
            );
            let projected = self.projected(time, state);
            let (q, rest) = projected.split_at(n_q);
            self.dynamics.evaluate(time, q, &rest[..n_v]);
            self.auditor.watch_limits(time, self.dynamics);
            self.projected = projected;
        }
        self.unwatched = 0;
        let flow = self.watch.reached(time);
        self.checkpoint_due =
            flow == Flow::Continue && time < self.end && self.watch.is_checkpoint_due();
        if self.checkpoint_due {
            Flow::Stop
        } else {
            flow
        }
    }

    fn begin(&mut self, time: f64, arriving: &[f64], leaving: &[f64], chart: &[usize]) {
        if let Some(work) = &mut self.work {
            work.begin(self.dynamics, time, [arriving, leaving], chart);
        }
        self.dynamics.change_chart(time, arriving, chart);
        self.dynamics.enter_piece(time, leaving);
        if let Some(work) = &mut self.work {
            work.go_on(self.dynamics, time, leaving);
        }
    }
}

impl Recorder<'_> {
    /// The run as far as it has come, with the recording, which is taken out.
    fn run(
        &mut self,
        stepper: &Stepper,
        dynamics: &dyn Dynamics,
        statistics: Statistics,
        ending: Ending,
    ) -> Run {
        let (n_q, n_v) = (dynamics.position_count(), dynamics.velocity_count());
        let (time, state) = (stepper.time(), stepper.state());
        let works = match &self.work {
            None => integrated(state, n_q + n_v),
            Some(sum) => sum.sums(),
        };
        let motion = [&state[..n_q], &state[n_q..n_q + n_v]];
        let last = State {
            work_j: works[0],
            dissipated_j: works[1],
            // evaluating here would leave traces in what is recorded later
            drift_j: self.auditor.last_drift(),
            memory: dynamics.memory(),
            integrator: Some(stepper.memory()),
            ..State::of_motion(time, motion, dynamics.control_count())
        };
        let mut audit = self.auditor.finish();
        dynamics.finish(&mut audit);
        Run {
            recording: std::mem::take(&mut self.recording),
            audit,
            statistics,
            ending,
            last: Some(last),
        }
    }

    /// Energy that no work accounts for in the last state, where that is none of a sample. Nothing is recorded after that.
    fn final_drift(&mut self, last: &State) -> f64 {
        let Some(initial) = self.auditor.known_initial_energy() else {
            return last.drift_j;
        };
        let (n_q, n_v) = (last.position.len(), last.velocity.len());
        let mut state = last.packed();
        self.dynamics.project_sample(last.time_s, &mut state);
        (self.dynamics).evaluate(last.time_s, &state[..n_q], &state[n_q..n_q + n_v]);
        let total = self.dynamics.energy_and_momentum().total();
        let drift = total - initial - last.work_j + last.dissipated_j;
        if drift.is_finite() {
            drift
        } else {
            last.drift_j
        }
    }

    /// A state as it is recorded: between steps the solution is as accurate as the integrator, not as closed as
    /// its steps.
    fn projected(&mut self, time: f64, state: &[f64]) -> Vec<f64> {
        let mut projected = std::mem::take(&mut self.projected);
        projected.clear();
        projected.extend_from_slice(state);
        self.dynamics.project_sample(time, &mut projected);
        projected
    }

    fn record(&mut self, time: f64, state: &[f64]) -> Flow {
        let (n_q, n_v) = (
            self.dynamics.position_count(),
            self.dynamics.velocity_count(),
        );
        let [work, dissipated] = match &mut self.work {
            None => integrated(state, n_q + n_v),
            Some(sum) if sum.begins() => sum.add(self.dynamics, time, state),
            Some(sum) => sum.until(self.dynamics, time, state),
        };
        let (q, rest) = state.split_at(n_q);
        self.dynamics.evaluate(time, q, &rest[..n_v]);
        self.auditor.watch_limits(time, self.dynamics);
        let auditor = &self.auditor;
        let initial = |total| auditor.initial_energy(total);
        let (row, balance) = (self.sampler).row(self.dynamics, work, dissipated, initial);
        if let Some(bad) = row.iter().position(|x| !x.is_finite()) {
            self.failure = Some(RunError::NotFinite {
                channel: self.recording.channels[bad].name.clone(),
                time_s: time,
            });
            return Flow::Stop;
        }
        self.recording.push(time, row);
        self.auditor.add(balance);
        let bending = &mut self.auditor.bending;
        match bending.look(self.dynamics, time, self.most_lengths) {
            Some(divergence) => {
                self.failure = Some(RunError::Diverged(divergence));
                Flow::Stop
            }
            None => Flow::Continue,
        }
    }
}
