//! Stiff mechanisms under several integrators: what each spends for its error.

use std::time::Instant;

use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_spec::ModelSpec;
use lissom_spec::spec::{AdaptiveSpec, IntegratorSpec};

/// An integrator with its tolerance, relative and absolute.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a model file.
    pub name: &'static str,
    method: fn(AdaptiveSpec) -> IntegratorSpec,
    /// The tolerance.
    pub tolerance: f64,
}

impl Setting {
    /// Dormand and Prince of order 8.
    pub fn dop853(tolerance: f64) -> Self {
        Self::of("dop853", IntegratorSpec::Dop853, tolerance)
    }

    /// Radau IIA.
    pub fn radau(tolerance: f64) -> Self {
        Self::of("radau", IntegratorSpec::Radau, tolerance)
    }

    /// The diagonally implicit method.
    pub fn esdirk(tolerance: f64) -> Self {
        Self::of("esdirk", IntegratorSpec::Esdirk, tolerance)
    }

    fn of(name: &'static str, method: fn(AdaptiveSpec) -> IntegratorSpec, tolerance: f64) -> Self {
        Self {
            name,
            method,
            tolerance,
        }
    }

    /// A model under this integrator.
    pub fn applied(&self, spec: &ModelSpec) -> ModelSpec {
        let mut spec = spec.clone();
        spec.simulation.integrator = (self.method)(AdaptiveSpec {
            rtol: self.tolerance,
            atol: self.tolerance,
            ..AdaptiveSpec::default()
        });
        spec
    }

    fn run(&self, spec: &ModelSpec) -> Run {
        let spec = self.applied(spec);
        let mechanism = Mechanism::build(&spec).expect("a sound model");
        mechanism.run(&sample_instants(&spec, &[]))
    }
}

/// What a run spent, and how far it came out from another.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Accepted steps.
    pub steps: u64,
    /// Evaluations of the equations.
    pub evaluations: u64,
    /// Shortest time of several runs, recording included.
    pub seconds: f64,
    /// Largest difference of the channels that are looked at, over all samples.
    pub error: f64,
}

/// Runs a model by every setting and compares the channels whose names end so with those of a reference.
///
/// # Panics
///
/// If the model is not sound.
pub fn beside(
    spec: &ModelSpec,
    reference: Setting,
    settings: &[Setting],
    ending: &str,
) -> Vec<(Setting, Spent)> {
    const RUNS: usize = 3;
    let exact = reference.run(spec);
    let one = |setting: &Setting| {
        let mut seconds = f64::INFINITY;
        let mut last = None;
        for _ in 0..RUNS {
            let start = Instant::now();
            last = Some(setting.run(spec));
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let run = last.expect("at least one run");
        let channels = exact.recording.channels.iter();
        let watched = channels.filter(|channel| channel.name.ends_with(ending));
        let error = watched.fold(0.0, |most: f64, exact| {
            let found = run
                .recording
                .channel(&exact.name)
                .expect("the same channels");
            let pairs = exact.samples.iter().zip(&found.samples);
            pairs.fold(most, |most, (a, b)| most.max((a - b).abs()))
        });
        Spent {
            steps: run.statistics.steps,
            evaluations: run.statistics.evaluations,
            seconds,
            error,
        }
    };
    settings
        .iter()
        .map(|setting| (*setting, one(setting)))
        .collect()
}

/// Links of one metre, hinged to each other and to the ground, that fall from the horizontal for a second: two functions of bending and one
/// of stretch each.
///
/// # Panics
///
/// If the text is no model.
pub fn falling_chain(links: usize) -> ModelSpec {
    let basis = "free_free = { bending_y = 2, stretch = 1 }";
    let text = chain_text(links, basis, "dop853 = {}");
    ModelSpec::parse(&text, &[]).expect("the text is a model")
}

/// The falling chain as the text of a model, with a basis and an integrator.
pub fn chain_text(links: usize, basis: &str, integrator: &str) -> String {
    let link = |link: usize| {
        let parent = match link.checked_sub(1) {
            Some(parent) => format!("\"b{parent}\""),
            None => "\"ground\"".to_owned(),
        };
        format!(
            "[[body]]\nname = \"b{link}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 0.1384\n\
             bending_stiffness_y_n_m2 = 7.815\naxial_stiffness_n = 3.49747e6\nbasis.{basis}\n\
             [[joint]]\nname = \"j{link}\"\nparent = {parent}\nchild = \"b{link}\"\nrevolute = {{ axis = [0, 0, 1] }}\n"
        )
    };
    format!(
        "format = 1\ngravity_m_per_s2 = [0, -9.81, 0]\n{}[[marker]]\nname = \"tip\"\nbody = \"b{}\"\n\
         [simulation]\nduration_s = 1.0\nintegrator.{integrator}\n[output]\nsample_period_s = 0.05\n",
        (0..links).map(link).collect::<String>(),
        links.saturating_sub(1)
    )
}
