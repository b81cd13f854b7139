//! The target for models: parse, build and ten steps in both formulations.

use lissom::spec::{BasisSpec, FormulationSpec, InitialSpec, MeshBasisSpec, NodalFormulationSpec};
use lissom::{
    Ending, Flow, Mechanism, ModelError, ModelSpec, SimulateOptions, State, sample_instants_from,
};

use crate::campaign::{File, Target};
use crate::random::Random;
use crate::text::Dictionary;

/// Steps of a run.
const STEPS: usize = 10;

/// Largest model that is built, in bodies, joints, elements and modes: larger ones are only read and checked.
pub(crate) const LARGEST: usize = 60;

/// Seeds above this size, or that begin at rest, are taken once in so many times: their runs cost most.
const LARGE: usize = 16;
const LARGE_ONES: usize = 64;

/// Most samples of a run whose instants are listed, and those of them that are recorded: each costs as much as a stage of a step.
const MOST_SAMPLES: f64 = 1000.0;
const RECORDED: usize = 4;

/// Problems of a text that are explained; each is looked for in the text by itself.
const EXPLAINED: usize = 2;

/// Most changes of an input.
const CHANGES: usize = 3;

/// Name of the one file of an input.
const NAME: &str = "model.toml";

/// A model of what shipped ones have little of.
const CONTROL: &str = include_str!("../seeds/control/model.toml");

/// Mutated models.
#[derive(Clone, Debug)]
pub struct Models {
    seeds: Vec<String>,
    large_seeds: Vec<String>,
    dictionary: Dictionary,
}

impl Models {
    /// Mutations of the shipped models, made small, and of one with sensors and controllers.
    pub fn of_shipped() -> Self {
        let shipped = lissom_io::models::all().iter().map(|model| model.text);
        let seeds: Vec<String> = shipped.chain([CONTROL]).map(made_small).collect();
        let keys = words_of_schema();
        let dictionary = Dictionary::new(keys, &seeds);
        // a search for rest costs as much as hundreds of steps
        let is_large = |text: &String| {
            let spec = ModelSpec::parse(text, &[]);
            spec.is_ok_and(|spec| {
                size(&spec) > LARGE || spec.simulation.initial != InitialSpec::Written
            })
        };
        let (large_seeds, seeds) = seeds.into_iter().partition(is_large);
        Self {
            seeds,
            large_seeds,
            dictionary,
        }
    }
}

impl Target for Models {
    fn name(&self) -> &'static str {
        "model"
    }

    fn input(&self, random: &mut Random) -> Vec<File> {
        let seeds = if random.one_in(LARGE_ONES) {
            &self.large_seeds
        } else {
            &self.seeds
        };
        let seed = random.one_of(seeds);
        let mut text = seed.map_or_else(Vec::new, |seed| seed.clone().into_bytes());
        for _ in 0..=random.below(CHANGES) {
            self.dictionary.mutate(&mut text, random);
        }
        vec![File {
            name: NAME.to_owned(),
            bytes: text,
        }]
    }

    fn execute(&mut self, files: &[File]) -> &'static str {
        let text = files.iter().find(|file| file.name == NAME);
        let Some(text) = text.and_then(|file| std::str::from_utf8(&file.bytes).ok()) else {
            return "no text";
        };
        let spec = match ModelSpec::parse(text, &[]) {
            Ok(spec) => spec,
            Err(errors) => {
                let first = errors.iter().take(EXPLAINED);
                first.for_each(|error| explain(error, text));
                return "refused";
            }
        };
        // what a manifest keeps of a model is the same model
        let written = toml::to_string(&spec).expect("a model can be written as TOML");
        let read = ModelSpec::parse(&written, &[]);
        assert_eq!(
            read.as_ref(),
            Ok(&spec),
            "a model that is written and read is the same"
        );
        if size(&spec) > LARGEST {
            return "too large to build";
        }
        in_both_formulations(&spec, None)
    }
}

/// Runs a model as it is written, whose mechanism may have been built already, and in the other formulation, and says how far it came.
pub(crate) fn in_both_formulations(spec: &ModelSpec, built: Option<&Mechanism>) -> &'static str {
    let other = ModelSpec {
        formulation: match spec.formulation {
            FormulationSpec::Tree => FormulationSpec::Nodal(NodalFormulationSpec {
                elements_per_link: 1,
            }),
            FormulationSpec::Nodal(_) => FormulationSpec::Tree,
        },
        ..spec.clone()
    };
    let first = match built {
        Some(mechanism) => run(mechanism),
        None => build_and_run(spec),
    };
    let second = match other.check() {
        Ok(()) => build_and_run(&other),
        Err(_) => "refused",
    };
    match (first, second) {
        ("ran", "ran") => "ran in both formulations",
        ("ran", _) | (_, "ran") => "ran in one formulation",
        _ => "not run",
    }
}

/// Everything that is told of a problem.
fn explain(error: &ModelError, text: &str) {
    assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
    if let Some(at) = error.locate(text) {
        assert!(text.get(at.clone()).is_some(), "{at:?} is in the text");
    }
}

fn build_and_run(spec: &ModelSpec) -> &'static str {
    match Mechanism::build(spec) {
        Ok(mechanism) => run(&mechanism),
        Err(errors) => {
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
            "not built"
        }
    }
}

/// What is said of a mechanism before it runs, and its first steps.
fn run(mechanism: &Mechanism) -> &'static str {
    let diagnosis = mechanism.diagnose();
    assert!((diagnosis.warnings.iter()).all(|warning| !warning.to_string().is_empty()));
    match mechanism.start() {
        Ok(start) => run_from(mechanism, &start),
        Err(_) => "no start",
    }
}

/// The first steps from a state.
pub(crate) fn run_from(mechanism: &Mechanism, start: &State) -> &'static str {
    let spec = mechanism.spec();
    let simulation = &spec.simulation;
    let samples = simulation.duration_s / spec.sample_period_s();
    let mut instants = if samples < MOST_SAMPLES {
        sample_instants_from(spec, start.time_s, &[])
    } else {
        vec![start.time_s, simulation.end_s()]
    };
    instants.truncate(RECORDED);
    let options = SimulateOptions {
        samples: &instants,
        channels: spec.output.channels.as_deref(),
        most_lengths: 1e3,
    };
    let mut steps = 0;
    let run = mechanism.simulate(start, simulation, &options, &mut |_| {
        steps += 1;
        if steps < STEPS {
            Flow::Continue
        } else {
            Flow::Stop
        }
    });
    match &run.ending {
        Ending::Failed(error) => assert!(!error.to_string().is_empty()),
        Ending::Completed | Ending::Stopped { .. } => {
            assert!(run.last.is_some(), "a run that went has a last state");
        }
    }
    "ran"
}

/// How large the equations of a model are, roughly.
pub(crate) fn size(spec: &ModelSpec) -> usize {
    let per_link = match spec.formulation {
        FormulationSpec::Tree => 2,
        FormulationSpec::Nodal(nodal) => nodal.elements_per_link,
    };
    let bodies = spec.body.iter().map(|body| {
        let beam = body.beam.as_ref().map_or(0, |beam| {
            let elements = (beam.elements_per_segment().into_iter()).fold(0, usize::saturating_add);
            let modes = match &beam.basis {
                BasisSpec::Elements(mesh) => mesh.modes.unwrap_or(0),
                BasisSpec::Auto(auto) => auto.functions.unwrap_or(2).saturating_mul(4),
                basis => (basis.counts().into_iter())
                    .fold(usize::from(basis.foreshortens()) * 4, usize::saturating_add),
            };
            elements.saturating_add(modes).saturating_add(per_link)
        });
        let nodal = body.nodal.as_ref().map_or(0, |nodal| nodal.nodes.len());
        let mesh = body.mesh.as_ref().map_or(0, |mesh| kept(&mesh.basis));
        let frame = body.frame.as_ref().map_or(0, |frame| {
            let members = frame
                .member
                .iter()
                .map(|member| member.elements.unwrap_or(6));
            members.fold(kept(&frame.basis), usize::saturating_add)
        });
        [nodal, mesh, frame, 1]
            .into_iter()
            .fold(beam, usize::saturating_add)
    });
    let elements = spec.element.iter().map(|element| {
        let beam = element.beam.as_ref();
        beam.map_or(1, |beam| beam.divisions.saturating_mul(2))
    });
    let others = [
        spec.joint.len(),
        spec.loops.len(),
        spec.support.len(),
        2 * usize::from(spec.simulation.initial != InitialSpec::Written),
    ];
    (bodies.chain(elements).chain(others)).fold(0, usize::saturating_add)
}

/// Modes that are kept of a mesh or a frame.
fn kept(basis: &MeshBasisSpec) -> usize {
    basis.modes().1.modes.unwrap_or(6)
}

/// A model whose counts are small, so that an execution takes little.
pub(crate) fn made_small(text: &str) -> String {
    const COUNTS: [&str; 9] = [
        "count",
        "modes",
        "elements",
        "divisions",
        "elements_per_link",
        "bending_y",
        "bending_z",
        "stretch",
        "torsion",
    ];
    let mut text = text.to_owned();
    for key in COUNTS {
        let key = format!("{key} = ");
        let mut at = 0;
        while let Some(found) = text[at..].find(&key) {
            at += found + key.len();
            let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
            let count = text[at..at + digits].parse::<usize>().unwrap_or(0);
            if count > 2 {
                text.replace_range(at..at + digits, "2");
            }
        }
    }
    text
}

/// Keys of the format and the values that are words.
pub(crate) fn words_of_schema() -> Vec<String> {
    let schema = lissom::json_schema();
    let quoted = schema.split('"').skip(1).step_by(2);
    let is_word = |text: &&str| {
        !text.is_empty() && (text.bytes()).all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let mut words: Vec<String> = quoted.filter(is_word).map(str::to_owned).collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Property: what is mutated most runs before it is.
    #[test]
    fn the_seeds_run() {
        let mut models = Models::of_shipped();
        let mut outcomes = std::collections::BTreeMap::<&str, usize>::new();
        let seeds = models.seeds.clone();
        assert!(seeds.len() > 8, "{} small seeds", seeds.len());
        for seed in &seeds {
            let file = File {
                name: NAME.to_owned(),
                bytes: seed.clone().into_bytes(),
            };
            *outcomes.entry(models.execute(&[file])).or_default() += 1;
        }
        let one = outcomes.get("ran in one formulation").copied();
        let both = outcomes.get("ran in both formulations").copied();
        let ran = one.unwrap_or(0) + both.unwrap_or(0);
        assert!(ran * 10 >= seeds.len() * 8, "{outcomes:?}");
        assert!(both.unwrap_or(0) * 3 >= seeds.len(), "{outcomes:?}");
    }
}
