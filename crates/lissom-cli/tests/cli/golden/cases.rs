//! What is computed: models, formulations, methods, and how long the runs are.

use std::fmt;

/// A shipped model with the durations of its runs, chosen for some tens of steps of every method at small cost.
struct Model {
    name: &'static str,
    durations: Durations,
    /// Part of the duration over which `radau` runs, since a Jacobian takes many evaluations.
    radau_part: f64,
    /// Further changes for runs, as `--set` takes them.
    changes: &'static [&'static str],
}

/// Durations of runs in seconds.
#[derive(Clone, Copy)]
enum Durations {
    /// Of a model written in bodies and joints, which either formulation may take or refuse.
    Links { tree_s: f64, nodal_s: f64 },
    /// Of a model written in nodes and elements.
    Elements(f64),
}

/// Equations of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Formulation {
    Tree,
    Nodal,
    /// Those of a model written in nodes and elements, which has no choice.
    Elements,
}

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// A run by this method over this many seconds.
    Run(&'static str, f64),
    /// The linear model at the start.
    Linear,
}

/// One call of the command.
pub(super) struct Case {
    model: &'static str,
    formulation: Formulation,
    pub(super) task: Task,
    changes: &'static [&'static str],
}

const ADAPTIVE: [&str; 4] = ["dop853", "dopri5", "adams", "radau"];
const FIXED: [&str; 2] = ["generalized_alpha", "newmark"];

/// Tolerances of the methods that choose their steps, so tight that another choice of steps, as on another machine, moves
/// nothing by a part in a million.
const TOLERANCES: &str = "rtol=1e-7,atol=1e-10";
/// The same for `adams`, whose steps and orders depend on more decisions.
const TIGHTER: &str = "rtol=1e-9,atol=1e-12";
/// Steps of the methods whose steps are fixed.
const STEPS: f64 = 80.0;
/// Of Newton's iteration in these steps; the stiffest of the models do not reach the default.
const NEWTON_TOLERANCE: &str = "tolerance=1e-7";
/// Parts into which samples divide a run, so that interpolation within steps is seen too.
const PARTS: f64 = 4.0;
/// Elements of a beam in runs by the nodal formulation. The linear models have as many as when nothing is said.
const ELEMENTS_PER_LINK: &str = "formulation.nodal.elements_per_link=2";

/// Begins with the weight and nothing else.
const SAGGING: &str = "simulation.initial={static_load={gravity_m_per_s2=[0.0,0.0,-9.81]}}";

const MODELS: [Model; 34] = [
    links("two-link-arm", 0.6, 0.08),
    links("spin-up-beam", 4.0, 0.32),
    links("space-arm", 0.3, 0.04),
    links("branched-tree", 0.15, 0.15),
    links("flexible-joint", 1.5, 0.48),
    links("spin-up-pinned-beam", 0.6, 0.08),
    links("shuttle-arm", 0.08, 0.01),
    links("shuttle-arm-ii", 0.05, 0.005),
    links("floating-shuttle-arm", 0.08, 0.005),
    links("four-bar", 0.04, 0.005),
    links("slider-crank", 0.08, 0.01),
    links("cooperating-arms", 0.04, 0.04),
    links("planar-3rrr-fast", 0.03, 0.03),
    links("planar-3rrr", 0.06, 0.01),
    links("spatial-3rrs", 0.8, 0.08),
    // past the instant at which the independent coordinates are chosen anew
    links("sliding-beam", 0.25, 0.25),
    links("sliding-boom", 0.05, 0.05),
    links("sliding-boom-spatial", 0.02, 0.02),
    links("telescopic-boom", 0.1, 0.1),
    links("sliding-links", 0.1, 0.1),
    links("frame-arm", 0.04, 0.04),
    elements("rotating-beam", 0.4),
    elements("quarter-turn", 0.04),
    elements("spatial-two-link", 0.002),
    Model {
        changes: &["element.beam.beam.divisions=5"],
        ..elements("spin-up-elements", 0.05)
    },
    Model {
        changes: &["element.beam.beam.divisions=8"],
        ..elements("flying-spaghetti", 0.1)
    },
    // these two rest in equilibrium: they get to move from the equilibrium under another load
    Model {
        changes: &[SAGGING, "element.beam.beam.divisions=4"],
        ..elements("princeton-beam", 0.002)
    },
    Model {
        radau_part: 0.25,
        changes: &[SAGGING],
        ..elements("bend-45", 0.01)
    },
    elements("four-bar-elements", 0.06),
    links("spin-up-pinned-beam-element", 0.6, 0.08),
    links("shuttle-arm-slow", 0.1, 0.01),
    links("shuttle-arm-ii-slow", 0.06, 0.006),
    links("shuttle-arm-element", 0.08, 0.01),
    links("shuttle-arm-two-elements", 0.03, 0.01),
];

const fn links(name: &'static str, tree_s: f64, nodal_s: f64) -> Model {
    Model {
        name,
        durations: Durations::Links { tree_s, nodal_s },
        radau_part: 0.5,
        changes: &[],
    }
}

const fn elements(name: &'static str, duration_s: f64) -> Model {
    Model {
        name,
        durations: Durations::Elements(duration_s),
        radau_part: 0.5,
        changes: &[],
    }
}

/// Cheap durations of a model in the tree and in the nodal formulation, and what makes its runs cheaper.
pub(crate) fn cheap(name: &str) -> ([f64; 2], &'static [&'static str]) {
    let model = MODELS.iter().find(|model| model.name == name).unwrap();
    let durations = match model.durations {
        Durations::Links { tree_s, nodal_s } => [tree_s, nodal_s],
        Durations::Elements(duration_s) => [duration_s; 2],
    };
    (durations, model.changes)
}

/// Names of the models, in the order of the table.
pub(super) fn model_names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

/// Every case.
pub(super) fn all() -> Vec<Case> {
    MODELS.iter().flat_map(Model::cases).collect()
}

impl Model {
    fn cases(&self) -> Vec<Case> {
        let formulations = match self.durations {
            Durations::Links { tree_s, nodal_s } => {
                vec![(Formulation::Tree, tree_s), (Formulation::Nodal, nodal_s)]
            }
            Durations::Elements(duration_s) => vec![(Formulation::Elements, duration_s)],
        };
        let mut cases = Vec::new();
        for (formulation, duration_s) in formulations {
            let methods = ADAPTIVE.into_iter().chain(FIXED);
            let runs = methods.map(|method| match method {
                "radau" => Task::Run(method, self.radau_part * duration_s),
                _ => Task::Run(method, duration_s),
            });
            cases.extend(runs.chain([Task::Linear]).map(|task| Case {
                model: self.name,
                formulation,
                task,
                changes: self.changes,
            }));
        }
        cases
    }
}

impl Case {
    /// Model and formulation, which together determine the columns of a recording.
    pub(super) fn equations(&self) -> String {
        format!("{} {}", self.model, self.formulation)
    }

    /// What the case is called by.
    pub(super) fn name(&self) -> String {
        let task = match self.task {
            Task::Run(method, _) => method,
            Task::Linear => "linear",
        };
        format!("{} {task}", self.equations())
    }

    /// The words of the command.
    pub(super) fn arguments(&self) -> Vec<String> {
        let verb = match self.task {
            Task::Run(..) => "run",
            Task::Linear => "linearize",
        };
        let mut words: Vec<String> = [verb, self.model, "--json"].map(str::to_owned).into();
        if matches!(self.task, Task::Linear) {
            words.extend(["--inputs", "all"].map(str::to_owned));
        }
        if self.formulation != Formulation::Elements {
            words.extend(["--formulation".to_owned(), self.formulation.to_string()]);
        }
        for change in self.changes() {
            words.extend(["--set".to_owned(), change]);
        }
        words
    }

    /// What is set otherwise than in the model.
    fn changes(&self) -> Vec<String> {
        let Task::Run(method, duration_s) = self.task else {
            return Vec::new();
        };
        let sample_period_s = duration_s / PARTS;
        let mut changes = vec![
            format!("simulation.duration_s={duration_s:?}"),
            format!("simulation.integrator={}", integrator(method, duration_s)),
            format!("output={{sample_period_s={sample_period_s:?},formats=[\"csv\"]}}"),
        ];
        if self.formulation == Formulation::Nodal {
            changes.push(ELEMENTS_PER_LINK.to_owned());
        }
        changes.extend(self.changes.iter().map(|&change| change.to_owned()));
        changes
    }
}

/// A method with its settings, as a model file has it.
fn integrator(method: &str, duration_s: f64) -> String {
    let settings = match method {
        "adams" => TIGHTER.to_owned(),
        _ if ADAPTIVE.contains(&method) => TOLERANCES.to_owned(),
        _ => format!("step_s={:?},{NEWTON_TOLERANCE}", duration_s / STEPS),
    };
    format!("{{{method}={{{settings}}}}}")
}

impl fmt::Display for Formulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tree => "tree",
            Self::Nodal => "nodal",
            Self::Elements => "elements",
        })
    }
}
