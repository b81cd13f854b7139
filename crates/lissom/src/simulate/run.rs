//! The driver: integrates a model over its time span and records it.

use crate::model::spec::{ModelSpec, NodePassages, SimulationSpec};
use crate::model::{Coordinate, Model};
use crate::simulate::audit::{Audit, Auditor};
use crate::simulate::equations::{Equations, NominalError, nominal_drives};
use crate::simulate::equilibrium::settled;
use crate::simulate::extent::Departure;
use crate::simulate::formulation::{Formulation, Power};
use crate::simulate::integrator::Integrator;
use crate::simulate::recording::Recording;
use crate::simulate::sampler::Sampler;
use lissom_nodal::NodalError;
use lissom_numerics::integrate::{
    self, FirstOrder, Flow, IntegrateError, Observer, Outcome, Projection, Schedule, Statistics,
};
use lissom_numerics::statics::NoEquilibrium;
use lissom_spatial::readable;
use lissom_tree::closure::ClosureError;

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

/// Why a run could not go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The integrator gave up.
    #[error("{source}; the coordinate in trouble is {coordinate}")]
    Integration {
        /// What the integrator says.
        source: IntegrateError,
        /// Name of the coordinate with the largest error, or the first that is not finite.
        coordinate: String,
    },
    /// The motion left the range in which anything can be computed of it.
    #[error(
        "{channel} is not finite at t = {time_s}: the motion has grown without bound; look at the channels \
         before, for example for an unstable mechanism or a fidelity without shortening"
    )]
    NotFinite {
        /// The first channel that is not finite.
        channel: String,
        /// When.
        time_s: f64,
    },
    /// The run was to begin in equilibrium, and there is none.
    #[error("no equilibrium at t = {time_s}: {source}")]
    Unsettled {
        /// What does not balance.
        source: NoEquilibrium,
        /// Start of the run.
        time_s: f64,
    },
    /// A body was displaced further than asked for; see [`run_within`].
    #[error(
        "{} is displaced by {:.1} of its lengths at t = {}, most of it in {}: the motion has left what the equations \
         describe; look for an unstable mechanism, or for a fidelity whose bodies lose their stiffness",
        .0.body, .0.lengths, .0.time_s, .0.coordinate
    )]
    Diverged(Departure),
    /// The loops cannot be run as asked.
    #[error("{source}")]
    Closure {
        /// What is wrong with them.
        source: ClosureError,
        /// Start of the run.
        time_s: f64,
    },
    /// The inputs cannot drive the model along its nominal motion.
    #[error("{source}")]
    NominalMotion {
        /// Why.
        source: NominalError,
        /// When.
        time_s: f64,
    },
    /// The nodal mechanism could not be placed or moved.
    #[error("{source}")]
    Nodal {
        /// What is wrong with it.
        source: NodalError,
        /// When.
        time_s: f64,
    },
    /// The mechanism came to a singular configuration.
    #[error(
        "the configuration is singular at t = {}: {} can move without the independent coordinates or against no \
         closure, condition number {condition:.1e}; use the method \"automatic\" if independent coordinates were chosen, \
         otherwise the mechanism itself loses or gains a freedom there",
        readable(.time_s), .coordinates.join(", ")
    )]
    Singular {
        /// When.
        time_s: f64,
        /// Condition number there.
        condition: f64,
        /// Coordinates concerned.
        coordinates: Vec<String>,
    },
    /// A support slid off its beam.
    #[error(
        "support {support:?} left beam {beam:?} at t = {}: it slid over the {}, {} m from the root of a beam {length} m \
         long; make the beam longer, or the motion shorter",
        readable(.time_s), if *.place < 0.5 * .length { "root" } else { "tip" }, readable(.place)
    )]
    LeftBeam {
        /// The support.
        support: String,
        /// The beam.
        beam: String,
        /// Place of the support along the beam.
        place: f64,
        /// Length of the beam.
        length: f64,
        /// When.
        time_s: f64,
    },
    /// An equation of a closure followed from the others at the start only.
    #[error(
        "{equation} is open by {} at t = {}: at the start it followed from the other closures, now it does not; \
         the mechanism is over-constrained or starts in a singular configuration",
        readable(.violation), readable(.time_s)
    )]
    NoLongerRedundant {
        /// Name of the equation.
        equation: String,
        /// By how much it is violated.
        violation: f64,
        /// When.
        time_s: f64,
    },
}

impl RunError {
    /// Time up to which the run is good.
    pub fn time_s(&self) -> f64 {
        match self {
            Self::Integration { source, .. } => source.time(),
            Self::Diverged(departure) => departure.time_s,
            Self::NotFinite { time_s, .. }
            | Self::Singular { time_s, .. }
            | Self::Closure { time_s, .. }
            | Self::Unsettled { time_s, .. }
            | Self::LeftBeam { time_s, .. }
            | Self::Nodal { time_s, .. }
            | Self::NominalMotion { time_s, .. }
            | Self::NoLongerRedundant { time_s, .. } => *time_s,
        }
    }

    /// What went wrong with a nodal mechanism.
    pub(crate) fn of_nodes(source: NodalError, time_s: f64) -> Self {
        match source {
            NodalError::Unsettled(source) => Self::Unsettled { source, time_s },
            source => Self::Nodal { source, time_s },
        }
    }

    /// Name of the coordinate or channel in trouble.
    pub fn coordinate(&self) -> &str {
        match self {
            Self::Integration { coordinate, .. } => coordinate,
            Self::NotFinite { channel, .. } => channel,
            Self::Diverged(departure) => &departure.coordinate,
            Self::Singular { coordinates, .. } => coordinates.first().map_or("unknown", |c| c),
            Self::NoLongerRedundant { equation, .. } => equation,
            Self::Closure { .. } => "the closures",
            Self::Unsettled { source, .. } => source.name(),
            Self::LeftBeam { support, .. } => support,
            Self::NominalMotion { .. } => "the nominal motion",
            Self::Nodal { .. } => "the mechanism",
        }
    }
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

/// Integrates `model` as `simulation` says, recording at `samples` the channels that begin with one of
/// `channels`, or all. `watch` is called after every step with the time reached and may stop the run.
pub fn run(
    model: &Model,
    simulation: &SimulationSpec,
    samples: &[f64],
    channels: Option<&[String]>,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Run {
    run_within(model, simulation, samples, channels, f64::INFINITY, watch)
}

/// The same, given up as [`RunError::Diverged`] at the first sample at which a flexible body is displaced by more than
/// `most_lengths` of its length.
pub fn run_within(
    model: &Model,
    simulation: &SimulationSpec,
    samples: &[f64],
    channels: Option<&[String]>,
    most_lengths: f64,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Run {
    let (settled, unsettled) = match settled(model, simulation) {
        Ok(settled) => (settled, None),
        Err(source) => (None, Some(source)),
    };
    let model = settled.as_ref().unwrap_or(model);
    let mut equations = Equations::new(model);
    equations.locates_passages = simulation.node_passages == NodePassages::Located;
    let time_s = simulation.start_s;
    let refused = if let Some(source) = unsettled {
        Some(RunError::Unsettled { source, time_s })
    } else if let Err(source) = equations.loops().map_err(Clone::clone) {
        Some(RunError::Closure { source, time_s })
    } else {
        let drives = nominal_drives(model, time_s, time_s);
        (drives.err()).map(|source| RunError::NominalMotion { source, time_s })
    };
    if let Some(error) = refused {
        return refuse(&equations, channels, error);
    }
    advance(
        equations,
        simulation,
        samples,
        channels,
        most_lengths,
        watch,
    )
}

/// A run that ended before it began.
fn refuse(equations: &impl Formulation, channels: Option<&[String]>, error: RunError) -> Run {
    let (_, names) = Sampler::new(equations, channels);
    Run {
        recording: Recording::with_capacity(names, 0),
        audit: Auditor::new(equations, 0).finish(),
        statistics: Statistics::default(),
        ending: Ending::Failed(error),
    }
}

/// Integrates the equations of any formulation over their span.
pub(crate) fn advance<F: Formulation + Clone>(
    mut equations: F,
    simulation: &SimulationSpec,
    samples: &[f64],
    channels: Option<&[String]>,
    most_lengths: f64,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Run {
    let end = simulation.start_s + simulation.duration_s;
    let breakpoints = equations.breakpoints(simulation.start_s, end);
    let schedule = Schedule {
        start: simulation.start_s,
        end,
        breakpoints: &breakpoints,
        samples,
    };
    let mut state = equations.initial_state();
    let layout = equations.state_layout();
    let (n_q, n_v) = (equations.position_count(), equations.velocity_count());
    let mut recorder = Recorder::new(&equations, samples.len(), channels, watch);
    recorder.most_lengths = most_lengths;
    let startable =
        FirstOrder::project(&mut equations, simulation.start_s, &mut state) != Projection::Stop;

    let result = match Integrator::of(&simulation.integrator) {
        _ if !startable => Ok(Outcome {
            statistics: Statistics::default(),
            stopped_at: Some(simulation.start_s),
        }),
        Integrator::Adaptive(method, control) => integrate::integrate(
            method,
            &control,
            &mut equations,
            &schedule,
            &mut state,
            &mut recorder,
        ),
        Integrator::Fixed(scheme, options) => {
            recorder.accumulate_work(n_q, n_v, &breakpoints);
            let (q, v) = state.split_at_mut(n_q);
            integrate::integrate_second_order(
                scheme,
                &options,
                &mut equations,
                &schedule,
                q,
                &mut v[..n_v],
                &mut recorder,
            )
        }
    };
    let statistics = match &result {
        Ok(outcome) => outcome.statistics,
        Err(error) => error.statistics(),
    };
    let trouble = equations.trouble(&result);
    let ending = match (trouble, result) {
        (Some(error), _) => Ending::Failed(error),
        (None, Ok(outcome)) => match (recorder.failure.take(), outcome.stopped_at) {
            (Some(error), _) => Ending::Failed(error),
            (None, Some(at_s)) => Ending::Stopped { at_s },
            (None, None) => Ending::Completed,
        },
        (None, Err(source)) => {
            // methods of second order count velocities only
            let first = if recorder.work.is_some() { n_q } else { 0 };
            let coordinate = coordinate_name(&layout[first..], &source);
            Ending::Failed(RunError::Integration { source, coordinate })
        }
    };
    let mut audit = recorder.auditor.finish();
    equations.conclude(&mut audit);
    Run {
        recording: recorder.recording,
        audit,
        statistics,
        ending,
    }
}

/// Name of the state component an integrator complains of.
fn coordinate_name(layout: &[Coordinate], error: &IntegrateError) -> String {
    match error.component() {
        Some(component) => layout
            .get(component)
            .map_or_else(|| format!("component {component}"), |c| c.name.clone()),
        None => "unknown".to_owned(),
    }
}

/// Records samples, keeps the audit, and passes the time on to whoever watches.
struct Recorder<'w, F> {
    /// Equations of its own, so that recording does not disturb the integrator's.
    equations: F,
    sampler: Sampler,
    auditor: Auditor,
    recording: Recording,
    watch: &'w mut dyn FnMut(f64) -> Flow,
    /// For methods that do not integrate the work themselves.
    work: Option<WorkSum>,
    /// Largest displacement of a flexible body, in lengths of it, that is gone on with.
    most_lengths: f64,
    /// Set when a sample cannot be recorded or is the last.
    failure: Option<RunError>,
    /// A sample brought onto the closures.
    settled: Vec<f64>,
}

/// Work by the trapezoidal rule over the steps of a method of second order.
struct WorkSum {
    positions: usize,
    velocities: usize,
    breakpoints: Vec<f64>,
    time: f64,
    power: Power,
    work: f64,
    lost: f64,
}

impl<'w, F: Formulation + Clone> Recorder<'w, F> {
    fn new(
        equations: &F,
        samples: usize,
        channels: Option<&[String]>,
        watch: &'w mut dyn FnMut(f64) -> Flow,
    ) -> Self {
        let (sampler, names) = Sampler::new(equations, channels);
        Self {
            equations: equations.clone(),
            sampler,
            auditor: Auditor::new(equations, samples),
            recording: Recording::with_capacity(names, samples),
            watch,
            work: None,
            most_lengths: f64::INFINITY,
            failure: None,
            settled: Vec::new(),
        }
    }

    fn accumulate_work(&mut self, positions: usize, velocities: usize, breakpoints: &[f64]) {
        self.work = Some(WorkSum {
            positions,
            velocities,
            breakpoints: breakpoints.to_vec(),
            time: f64::NAN,
            power: Power::default(),
            work: 0.0,
            lost: 0.0,
        });
    }

    /// Work up to `time`, for a state of a method of second order.
    fn add_work(&mut self, time: f64, state: &[f64], keep: bool) -> (f64, f64) {
        let Some(sum) = &mut self.work else {
            return (0.0, 0.0);
        };
        let (q, rest) = state.split_at(sum.positions);
        let v = &rest[..sum.velocities];
        let jumps = sum
            .breakpoints
            .binary_search_by(|b| b.total_cmp(&time))
            .is_ok();
        // what arrives at a breakpoint belongs to its left side
        let arriving = if jumps { time.next_down() } else { time };
        let mut power = self.equations.evaluate(arriving, q, v);
        let (mut work, mut lost) = (sum.work, sum.lost);
        if !sum.time.is_nan() {
            let half = 0.5 * (time - sum.time);
            work += half * (sum.power.input + power.input);
            lost += half * (sum.power.lost + power.lost);
        }
        if keep {
            if jumps {
                power = self.equations.evaluate(time, q, v);
            }
            (sum.time, sum.power, sum.work, sum.lost) = (time, power, work, lost);
        }
        (work, lost)
    }
}

impl<F: Formulation + Clone> Observer for Recorder<'_, F> {
    fn sample(&mut self, time: f64, state: &[f64]) -> Flow {
        let settled = self.settled(time, state);
        if let Some(violation) = self.equations.violation(time, &settled) {
            self.auditor.book_violation(violation);
        }
        let flow = self.record(time, &settled);
        self.settled = settled;
        flow
    }

    fn step(&mut self, time: f64, state: &[f64]) -> Flow {
        if self.work.is_some() {
            self.add_work(time, state, true);
        }
        if let Some(violation) = self.equations.violation(time, state) {
            self.auditor.book_violation(violation);
        }
        if !self.equations.limits().is_empty() {
            let (n_q, n_v) = (
                self.equations.position_count(),
                self.equations.velocity_count(),
            );
            let settled = self.settled(time, state);
            let (q, rest) = settled.split_at(n_q);
            self.equations.evaluate(time, q, &rest[..n_v]);
            self.auditor.watch_limits(time, &self.equations);
            self.settled = settled;
        }
        (self.watch)(time)
    }
}

impl<F: Formulation + Clone> Recorder<'_, F> {
    /// A state as it is recorded: between steps the solution is as accurate as the integrator, not as closed as
    /// its steps.
    fn settled(&mut self, time: f64, state: &[f64]) -> Vec<f64> {
        let mut settled = std::mem::take(&mut self.settled);
        settled.clear();
        settled.extend_from_slice(state);
        self.equations.settle_sample(time, &mut settled);
        settled
    }

    fn record(&mut self, time: f64, state: &[f64]) -> Flow {
        let (n_q, n_v) = (
            self.equations.position_count(),
            self.equations.velocity_count(),
        );
        let (work, lost) = match &self.work {
            None => (state[n_q + n_v], state[n_q + n_v + 1]),
            Some(sum) => {
                let first = sum.time.is_nan();
                self.add_work(time, state, first)
            }
        };
        let (q, rest) = state.split_at(n_q);
        self.equations.evaluate(time, q, &rest[..n_v]);
        self.auditor.watch_limits(time, &self.equations);
        let initial = self.auditor.initial_energy();
        let (row, balance) = self.sampler.row(&mut self.equations, work, lost, initial);
        if let Some(bad) = row.iter().position(|x| !x.is_finite()) {
            self.failure = Some(RunError::NotFinite {
                channel: self.recording.channels[bad].name.clone(),
                time_s: time,
            });
            return Flow::Stop;
        }
        self.recording.push(time, row);
        self.auditor.book(balance);
        let extents = &mut self.auditor.extents;
        let departure = self.equations.look(extents, time, self.most_lengths);
        match departure {
            Some(departure) => {
                self.failure = Some(RunError::Diverged(departure));
                Flow::Stop
            }
            None => Flow::Continue,
        }
    }
}
