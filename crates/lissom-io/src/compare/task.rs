//! [`Runs`]: the runs of a comparison, planned here and made by whoever compares.

use lissom::compare::{DIVERGENCE_LENGTHS, TermGroup, term_groups};
use lissom::{
    Ending, Flow, Run, RunError, SimulateOptions, State, sample_instants, sample_instants_from,
};

use super::{Choice, first_sound, with_fidelity};
use crate::load::{LoadError, Loaded};
use crate::summary::Summary;

/// A run of a comparison that is to be made.
#[derive(Clone, Debug)]
pub struct Task {
    /// What is run, for a person: `exact`, or `exact without shortening of bent beams`.
    pub title: String,
    /// A short name, for its folder: `exact`, or `shortening=none`.
    pub name: String,
    /// The switches of `[fidelity]` that make it, such as `preset=exact`.
    pub switches: Vec<String>,
    /// The model with them.
    pub model: Loaded,
    /// Where it begins, if not where its model does.
    from: Option<Result<State, RunError>>,
}

impl Task {
    /// Runs it with every channel, until its end or until it has diverged. `watch` is called after every step with the time reached,
    /// and may stop the run, which ends the comparison.
    pub fn simulate(&self, watch: &mut dyn FnMut(f64) -> Flow) -> Run {
        let Loaded {
            spec, mechanism, ..
        } = &self.model;
        let (start, samples) = match &self.from {
            None => (mechanism.start(), sample_instants(spec, &[])),
            Some(from) => {
                let begin = from.as_ref().map_or(f64::NAN, |state| state.time_s);
                (from.clone(), sample_instants_from(spec, begin, &[]))
            }
        };
        let options = SimulateOptions {
            samples: &samples,
            channels: None,
            most_lengths: DIVERGENCE_LENGTHS,
        };
        match start {
            Ok(start) => mechanism.simulate(&start, &spec.simulation, &options, watch),
            Err(error) => Run::refused(error),
        }
    }
}

/// A run with one of the fidelities, which has ended one way or another.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The fidelity.
    pub choice: Choice,
    /// The model with it.
    pub loaded: Loaded,
    /// The run, with every channel.
    pub run: Run,
    /// Its summary.
    pub summary: Summary,
}

/// A run of the first sound fidelity without a group of terms.
#[derive(Clone, Debug)]
pub struct Without {
    /// The terms.
    pub group: TermGroup,
    /// The run, with every channel.
    pub run: Run,
}

/// The runs of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// One for every fidelity.
    pub finished: Vec<Finished>,
    /// The first sound one without each group of its terms.
    pub without: Vec<Without>,
}

impl Runs {
    /// The runs of `loaded` with the fidelities of `models`, then without terms of the first sound one. They begin at `from`, a state of
    /// `loaded`, or where the model does. `run` makes each and sums it up; nothing is run after one that was stopped.
    ///
    /// # Errors
    ///
    /// What `run` fails with.
    pub fn of<E>(
        loaded: &Loaded,
        models: Vec<(Choice, Loaded)>,
        from: Option<&State>,
        mut run: impl FnMut(&Task) -> Result<(Run, Summary), E>,
    ) -> Result<Self, E> {
        let mut runs = Self::default();
        let start_of = |model: &Loaded| {
            let state = from?;
            let carried = model.mechanism.carried_over(state, &loaded.mechanism);
            let time_s = state.time_s;
            Some(carried.map_err(|source| RunError::NoStart { source, time_s }))
        };
        for (choice, model) in models {
            let task = Task {
                title: choice.to_string(),
                name: choice.to_string(),
                switches: choice.named_switches(),
                from: start_of(&model),
                model,
            };
            let (run, summary) = run(&task)?;
            runs.finished.push(Finished {
                choice,
                loaded: task.model,
                run,
                summary,
            });
            if runs.stopped().is_some() {
                return Ok(runs);
            }
        }
        let Some(first) = first_sound(&runs.finished) else {
            return Ok(runs);
        };
        for group in term_groups(&first.loaded.mechanism) {
            // a group that the model cannot do without is not weighed
            let Ok(model) = with_fidelity(loaded, group.without) else {
                continue;
            };
            let mut switches = first.choice.named_switches();
            switches.push(group.switch.to_owned());
            let task = Task {
                title: format!("{} without {}", first.choice, group.name),
                name: group.switch.to_owned(),
                switches,
                from: start_of(&model),
                model,
            };
            let (run, _) = run(&task)?;
            runs.without.push(Without { group, run });
            if runs.stopped().is_some() {
                break;
            }
        }
        Ok(runs)
    }

    /// The run that was stopped, if one was, and the instant.
    pub fn stopped(&self) -> Option<(String, f64)> {
        let (name, run) = match (self.without.last(), self.finished.last()) {
            (Some(last), _) => (format!("the run without {}", last.group.name), &last.run),
            (None, last) => last.map(|last| (last.choice.to_string(), &last.run))?,
        };
        match run.ending {
            Ending::Stopped { at_s } => Some((name, at_s)),
            _ => None,
        }
    }
}

/// A model whose fidelity cannot be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{label} is written in nodes and elements, which leave out nothing that another fidelity has, so that there is nothing to compare; \
     `lissom converge` tells what more elements change"
)]
pub struct OfNodes {
    label: String,
}

/// Refuses a model of nodes and elements.
///
/// # Errors
///
/// If it is one.
pub fn refuse_nodes(loaded: &Loaded) -> Result<(), OfNodes> {
    let label = loaded.label.clone();
    if loaded.spec.is_of_nodes() {
        return Err(OfNodes { label });
    }
    Ok(())
}

/// The model with each of several fidelities.
///
/// # Errors
///
/// If the model cannot be built with one of them.
pub fn with_choices(
    loaded: &Loaded,
    choices: &[Choice],
) -> Result<Vec<(Choice, Loaded)>, LoadError> {
    let changed = |&choice: &Choice| Ok((choice, with_fidelity(loaded, choice.switches())?));
    choices.iter().map(changed).collect()
}
