//! `converge`: how accurate a run is, by runs that are finer.
//!
//! ```text
//!          time:  user ──tolerance/10──► ──/10──►            errors of time integration
//!        bodies:         └──more functions──► ──more──►      errors of the bodies' discretisation
//!   formulation:                              └──other──►    what neither explains
//! ```
//!
//! Time steps and bodies are refined apart, so that their errors are told apart: bodies with the finer time steps, so that
//! those do not disturb. What is left at the finest level is estimated from how the differences fall
//! (`estimate`). A quantity's stated error is the sum of both: it is about the exact motion of the model's own
//! equations. How far those are from another formulation's is told beside it.

mod cross_check;
mod estimate;
mod findings;
mod quantities;
mod refine;

use lissom_core::study::{Ending, Run, SimulateOptions, sample_instants, sample_instants_from};
use lissom_core::{Recording, RunError, State};
use lissom_numerics::integrate::{Flow, Statistics};
use lissom_spec::spec::{IntegratorSpec, SimulationSpec};
use lissom_spec::{Discretization, ModelSpec, Refined};

use crate::compare::{chosen_channels, length_scale_m};
use cross_check::Finest;
use estimate::Orders;
use lissom_engine::{BuildError, Mechanism};

pub use estimate::{Basis, Estimate, SAFETY};
pub use findings::{Accuracy, Convergence, CrossCheck, Gap, Level, Refinement};
pub use quantities::Measure;

/// What is asked of a study of convergence.
#[derive(Clone, Copy, Debug)]
pub struct ConvergeOptions<'a> {
    /// Beginnings of the channels that are looked at; unless said, marker positions and free joint coordinates.
    pub channels: Option<&'a [String]>,
    /// Errors that are small enough: in lengths of the longest flexible body, and in radians.
    pub within: f64,
    /// Where the run starts; as the model says when absent.
    pub from: Option<&'a State>,
    /// Whether the other formulation is run too.
    pub cross_check: bool,
}

/// A run that the study needs, for whoever runs it.
#[derive(Debug)]
pub struct Task<'a> {
    /// What it is, in words.
    pub name: &'a str,
    mechanism: &'a Mechanism,
    start: &'a State,
    simulation: &'a SimulationSpec,
    samples: &'a [f64],
    channels: &'a [String],
}

impl Task<'_> {
    /// When it begins.
    pub fn start_s(&self) -> f64 {
        self.start.time_s
    }

    /// How long it lasts.
    pub fn duration_s(&self) -> f64 {
        self.simulation.start_s + self.simulation.duration_s - self.start.time_s
    }

    /// Runs it. `watch` is called after every step with the time reached and may stop the run, which ends the study.
    pub fn simulate(&self, watch: &mut dyn FnMut(f64) -> Flow) -> Run {
        let options = SimulateOptions {
            samples: self.samples,
            channels: Some(self.channels),
            most_lengths: f64::INFINITY,
        };
        self.mechanism
            .simulate(self.start, self.simulation, &options, watch)
    }
}

/// A level that has been run.
struct Done {
    level: Level,
    recording: Option<Recording>,
    interrupted: bool,
}

impl Done {
    fn new<T>(refined: &Refined<T>, run: Run) -> Self {
        let Statistics {
            steps, evaluations, ..
        } = run.statistics;
        let (failure, interrupted) = match &run.ending {
            Ending::Completed => (None, false),
            Ending::Stopped { at_s } => (Some(format!("was interrupted at {at_s} s")), true),
            Ending::Failed(error) => (
                Some(format!("failed at {} s: {error}", error.time_s())),
                false,
            ),
        };
        Self {
            recording: failure.is_none().then_some(run.recording),
            level: Level {
                name: refined.name(),
                settings: refined.settings(),
                resolution: refined.resolution,
                failure,
                steps,
                evaluations,
            },
            interrupted,
        }
    }
}

/// Resolutions and recordings of the levels that reached their end.
fn ended(levels: &[Done]) -> Vec<(f64, &Recording)> {
    let ended = levels.iter();
    ended
        .filter_map(|done| Some((done.level.resolution, done.recording.as_ref()?)))
        .collect()
}

/// Says how accurate the run of a mechanism is. `run` runs each task as it likes.
///
/// # Errors
/// When the mechanism cannot start.
pub fn converge(
    mechanism: &Mechanism,
    options: &ConvergeOptions<'_>,
    run: &mut dyn FnMut(&Task<'_>) -> Run,
) -> Result<Convergence, RunError> {
    let start = match options.from {
        Some(state) => state.clone(),
        None => mechanism.start()?,
    };
    let channels = chosen_channels(mechanism, options.channels);
    let spec = mechanism.spec();
    let samples = match options.from {
        Some(state) => sample_instants_from(spec, state.time_s, &[]),
        None => sample_instants(spec, &[]),
    };
    let mut study = Study {
        mechanism,
        start,
        channels,
        samples,
        from: options.from,
        run,
        measures: Vec::new(),
        interrupted: false,
    };
    Ok(study.converge(options))
}

/// A study under way.
struct Study<'a> {
    mechanism: &'a Mechanism,
    start: State,
    channels: Vec<String>,
    samples: Vec<f64>,
    from: Option<&'a State>,
    run: &'a mut dyn FnMut(&Task<'_>) -> Run,
    measures: Vec<Measure>,
    interrupted: bool,
}

impl Study<'_> {
    fn converge(&mut self, options: &ConvergeOptions<'_>) -> Convergence {
        let user = self.mechanism.spec().simulation.integrator;
        let mechanism = self.mechanism;
        let (at_first, orders) = refine::integrator(user, 0);
        let start = self.start.clone();
        let run = self.simulate("the model as it is", mechanism, &start, user);
        let within_m = options.within * length_scale_m(mechanism, &run, &self.channels);
        let signals = mechanism.signals().ok();
        self.measures = Measure::of(&run.recording, signals.as_ref(), &self.channels);
        let first = self.done(&at_first, run);
        let failure = first.level.failure.clone().filter(|_| !first.interrupted);
        let reached_its_end = first.recording.is_some();

        let mut times = vec![first];
        let mut bodies = (Refinement::default(), Vec::new());
        let mut time = Refinement {
            applies: true,
            ..Refinement::default()
        };
        if reached_its_end {
            time.notes.extend(self.refine_time(user, &mut times));
            bodies = self.refine_bodies(user, &times);
        }
        time.estimates = self.estimates(&ended(&times), orders);
        time.levels = times.iter().map(|done| done.level.clone()).collect();
        let formulation = options.cross_check.then(|| {
            // finer bodies have been run with the finer time steps, if those reached their end
            let finer = (times.get(1)).filter(|done| done.recording.is_some());
            let finest = Finest {
                run: bodies.1.last().or(finer).or(times.first()),
                time: (&time, usize::from(finer.is_some())),
                bodies: &bodies.0,
            };
            self.cross_check(&finest)
        });
        let accuracy = self.accuracy(&time, &bodies.0, options.within, within_m);
        Convergence {
            measures: self.measures.clone(),
            within: options.within,
            within_m,
            accuracy,
            time,
            bodies: bodies.0,
            formulation,
            failure,
            interrupted: self.interrupted,
        }
    }

    fn simulate(
        &mut self,
        name: &str,
        mechanism: &Mechanism,
        start: &State,
        integrator: IntegratorSpec,
    ) -> Run {
        let simulation = SimulationSpec {
            integrator,
            ..mechanism.spec().simulation.clone()
        };
        (self.run)(&Task {
            name,
            mechanism,
            start,
            simulation: &simulation,
            samples: &self.samples,
            channels: &self.channels,
        })
    }

    fn done<T>(&mut self, refined: &Refined<T>, run: Run) -> Done {
        let done = Done::new(refined, run);
        self.interrupted |= done.interrupted;
        done
    }

    /// Adds finer time steps; tells why there are not as many as there should be.
    fn refine_time(&mut self, user: IntegratorSpec, times: &mut Vec<Done>) -> Vec<String> {
        let mut notes = Vec::new();
        let mechanism = self.mechanism;
        for level in [1, 2] {
            let (finer, _) = refine::integrator(user, level);
            if !refine::is_above_rounding(&finer.item) {
                notes.push("the tolerance cannot be tightened further: rounding".to_owned());
                break;
            }
            // what the integrator remembers belongs to its own steps
            let start = State {
                integrator: None,
                ..self.start.clone()
            };
            let name = finer.name();
            let run = self.simulate(&name, mechanism, &start, finer.item);
            let done = self.done(&finer, run);
            let failure = done.level.failure.clone();
            times.push(done);
            if let Some(why) = failure {
                notes.push(format!("with {name} the run {why}"));
                break;
            }
        }
        let unmoved = |done: &Done| {
            let both = times[0].recording.as_ref().zip(done.recording.as_ref());
            both.is_some_and(|(user, finer)| user == finer)
        };
        if times.len() > 1 && times[1..].iter().all(unmoved) && self.moves(&times[0]) {
            times.truncate(1);
            notes.push(
                "the tolerance does not rule the steps: something else keeps them".to_owned(),
            );
        }
        notes
    }

    /// Whether a quantity changes at all in a run.
    fn moves(&self, done: &Done) -> bool {
        let Some(recording) = &done.recording else {
            return false;
        };
        let mut channels = self.measures.iter().flat_map(|measure| &measure.channels);
        channels.any(|name| {
            let channel = recording.channel(name);
            channel.is_some_and(|channel| channel.samples.iter().any(|x| *x != channel.samples[0]))
        })
    }

    /// Refines the bodies with the finer time steps, as far as those go.
    fn refine_bodies(&mut self, user: IntegratorSpec, times: &[Done]) -> (Refinement, Vec<Done>) {
        let spec = self.mechanism.spec().clone();
        let mut refinement = Refinement {
            notes: (spec.given_bodies())
                .map(|body| format!("{body} is taken with the modes that are given"))
                .collect(),
            ..Refinement::default()
        };
        let discretization = spec.discretization();
        if discretization == Discretization::None {
            return (refinement, Vec::new());
        }
        refinement.applies = true;
        let unknown = |refinement: Refinement, note: &str| {
            let mut notes = refinement.notes;
            notes.push(note.to_owned());
            let estimates = vec![None; self.measures.len()];
            (
                Refinement {
                    estimates,
                    notes,
                    ..refinement
                },
                Vec::new(),
            )
        };
        if self.interrupted {
            return unknown(refinement, "interrupted before the bodies were refined");
        }
        if self.from.is_some() && discretization != Discretization::Functions {
            let note = "a state of this mesh, as --from gives one, is not a state of a finer one";
            return unknown(refinement, note);
        }
        if let Some(body) = spec.starts_at_nodes() {
            let note = format!(
                "{body} is given deformations at nodes of its mesh, which a finer one does not have"
            );
            return unknown(refinement, &note);
        }
        let Some(as_it_is) = spec.refined(0) else {
            // all that deforms is given by its modes
            refinement.applies = false;
            return (refinement, Vec::new());
        };
        // the finer steps have been run with the bodies as they are
        let finer = times.get(1).filter(|done| done.recording.is_some());
        let (integrator, first) = match finer {
            Some(finer) => (refine::integrator(user, 1).0.item, finer),
            None => (user, &times[0]),
        };
        let mut levels = vec![Done {
            level: Level {
                name: as_it_is.name(),
                settings: as_it_is.settings(),
                resolution: as_it_is.resolution,
                ..first.level.clone()
            },
            recording: first.recording.clone(),
            interrupted: false,
        }];
        for level in [1, 2] {
            let Some(finer) = spec.refined(level) else {
                break;
            };
            let name = finer.name();
            match self.run_changed(&finer, &name, integrator) {
                Err(why) => {
                    refinement.notes.push(format!("{name}: {why}"));
                    break;
                }
                Ok(done) => {
                    let failure = done.level.failure.clone();
                    levels.push(done);
                    if let Some(why) = failure {
                        refinement.notes.push(format!("with {name} the run {why}"));
                        break;
                    }
                }
            }
        }
        refinement.estimates = self.estimates(&ended(&levels), refine::orders_of_bodies(&spec));
        refinement.levels = levels.iter().map(|done| done.level.clone()).collect();
        levels.retain(|done| done.recording.is_some());
        (refinement, levels)
    }

    /// Builds a changed model and runs it; why it cannot be built or placed otherwise.
    fn run_changed(
        &mut self,
        changed: &Refined<ModelSpec>,
        name: &str,
        integrator: IntegratorSpec,
    ) -> Result<Done, String> {
        let mechanism = Mechanism::build(&changed.item).map_err(|errors| {
            let said = |error: &BuildError| format!("{}: {error}", error.path());
            let all: Vec<String> = errors.iter().map(said).collect();
            all.join("; ")
        })?;
        let start = match self.from {
            None => mechanism.start().map_err(|error| error.to_string())?,
            Some(state) => mechanism
                .carried_over(state, self.mechanism)
                .map_err(|error| error.to_string())?,
        };
        let run = self.simulate(name, &mechanism, &start, integrator);
        Ok(self.done(changed, run))
    }

    /// Errors of every quantity at levels of rising resolution.
    fn estimates(&self, levels: &[(f64, &Recording)], orders: Orders) -> Vec<Option<Estimate>> {
        let (resolutions, recordings): (Vec<f64>, Vec<&Recording>) = levels.iter().copied().unzip();
        let of = |measure: &Measure| {
            let (finest, coarser) = recordings.split_last()?;
            let changes = recordings
                .windows(2)
                .map(|pair| measure.distance(pair[0], pair[1]));
            let from_finest = coarser.iter().map(|run| measure.distance(run, finest));
            estimate::estimate(
                &resolutions,
                &changes.collect::<Option<Vec<_>>>()?,
                &from_finest.collect::<Option<Vec<_>>>()?,
                orders,
            )
        };
        self.measures.iter().map(of).collect()
    }

    fn accuracy(
        &self,
        time: &Refinement,
        bodies: &Refinement,
        within: f64,
        within_m: f64,
    ) -> Vec<Accuracy> {
        let of = |(at, measure): (usize, &Measure)| {
            let stated = |refinement: &Refinement| {
                let estimate = refinement.estimates.get(at)?.as_ref()?;
                Some(estimate.of_user())
            };
            let from_time = stated(time);
            let from_bodies = if bodies.applies {
                stated(bodies)
            } else {
                // nothing deforms, or the run itself failed
                from_time.map(|_| 0.0)
            };
            let error = from_time.zip(from_bodies).map(|(a, b)| a + b);
            let most = match measure.unit.as_str() {
                "m" => Some(within_m),
                "rad" => Some(within),
                _ => None,
            };
            Accuracy {
                quantity: measure.quantity.clone(),
                unit: measure.unit.clone(),
                error,
                time: from_time,
                bodies: from_bodies,
                within: error.zip(most).map(|(error, most)| error <= most),
            }
        };
        self.measures.iter().enumerate().map(of).collect()
    }
}
