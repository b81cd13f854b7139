//! What there is to know of a mechanism before anything is done with it: [`Mechanism::diagnose`].
//!
//! | file | what it tells |
//! |---|---|
//! | `bodies.rs` | bodies with their joints, masses and natural frequencies |
//! | `loops.rs` | closures, mobility, redundant equations |
//! | `driven.rs` | inputs, prescribed motions, controllers, actuators, the integrator |
//! | `supports.rs` | supports that leave their beams, beams whose twist nothing holds |
//! | `warning.rs` | what may go wrong, each as data and as a sentence |
//! | `warnings.rs` | when to say it |
//!
//! Everything costs O(N) in the number of bodies: no matrix over all coordinates is formed, no eigenproblem goes beyond one
//! body. What only the equations of a formulation can tell comes through `Inspect`; nothing else here knows which
//! one it is.

mod bodies;
mod driven;
mod loops;
mod supports;
mod warning;
mod warnings;

use lissom_core::{Dynamics, RunError, Sampler, State};
use lissom_spec::spec::InitialSpec;
use lissom_spec::{Fidelity, ModelSpec, spanning_tree};
use lissom_tree::Body;
use serde::Serialize;

pub use bodies::{BodySummary, JointSummary, PayloadSummary};
pub use driven::Driven;
pub use loops::{ClosureSummary, LoopsSummary};
pub use warning::{BeamEnd, FidelityWarning, Oscillation, Warning};

use crate::mechanism::Mechanism;
use crate::model::Model;
pub use crate::model::{ChosenFunctions, StartChange};

/// What a mechanism consists of, and what may go wrong with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Bodies of the model, parents first; none in a model of nodes and elements.
    pub bodies: Vec<BodySummary>,
    /// What moves, by kind.
    pub degrees_of_freedom: DegreesOfFreedom,
    /// What the model is made of as nodes and elements; absent for the tree formulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodal: Option<ElementCounts>,
    /// Functions of beams whose model left the choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen_functions: Vec<ChosenFunctions>,
    /// What closes the loops of the mechanism; absent for a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<LoopsSummary>,
    /// Coordinates and rates that start elsewhere than the model writes, as its loops would not be closed there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start_changes: Vec<StartChange>,
    /// Mass of all bodies, or of all nodes and elements.
    pub total_mass_kg: f64,
    /// Their common centre at the start.
    pub center_of_mass_m: [f64; 3],
    /// Acceleration of free fall in ground axes.
    pub gravity_m_per_s2: [f64; 3],
    /// Torques and forces.
    pub inputs: Vec<Driven>,
    /// Prescribed joint motions.
    pub motions: Vec<Driven>,
    /// Feedback.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<Driven>,
    /// Motors with limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actuators: Vec<Driven>,
    /// Terms that are kept, unless a body says otherwise.
    pub fidelity: Fidelity,
    /// Name of the integrator.
    pub integrator: &'static str,
    /// How long a simulation lasts.
    pub duration_s: f64,
    /// Time between samples.
    pub sample_period_s: f64,
    /// What may go wrong.
    pub warnings: Vec<Warning>,
}

/// Degrees of freedom by what moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DegreesOfFreedom {
    /// Of joints, without those that are prescribed.
    pub joint: usize,
    /// Elastic coordinates.
    pub elastic: usize,
    /// Of motors behind elastic gears.
    pub motor: usize,
    /// Joint coordinates whose motion is prescribed.
    pub prescribed: usize,
    /// Taken away by the closures of loops, by rank.
    pub closed: usize,
    /// All that remain.
    pub total: usize,
}

/// A model as nodes and elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ElementCounts {
    /// Nodes.
    pub nodes: usize,
    /// Elements between them.
    pub elements: usize,
    /// All, joints and deformations.
    pub degrees_of_freedom: usize,
    /// Names of those that no joint stands for.
    pub deformations: Vec<String>,
    /// Coordinates whose motion is prescribed.
    pub prescribed: usize,
}

/// What only the equations of a formulation can tell.
pub(crate) trait Inspect {
    /// Nodes and elements, if it is made of them.
    fn element_counts(&self) -> Option<ElementCounts> {
        None
    }

    /// The start that the model writes down, and equations for one evaluation there at O(N).
    fn equations_at_start(&self) -> Result<(State, Box<dyn Dynamics + '_>), RunError>;

    /// Whether nothing accelerates at the start, where nothing moves.
    fn is_balanced_at_start(&self) -> bool {
        stays_at_rest(self.equations_at_start())
    }

    /// Mass and its centre at the start.
    fn mass_at_start(&self) -> (f64, [f64; 3]);

    /// The fastest oscillation at the start, if it is found in little time, and what makes it slower.
    fn fastest_oscillation(&self, bodies: &[BodySummary]) -> Option<Oscillation>;

    /// Terms of the equations that do nothing, or too much.
    fn fidelity_warnings(&self, _spec: &ModelSpec) -> Vec<FidelityWarning> {
        Vec::new()
    }
}

/// Whether equations at a state say that nothing moves there, and nothing accelerates.
pub(crate) fn stays_at_rest(equations: Result<(State, Box<dyn Dynamics + '_>), RunError>) -> bool {
    /// Accelerations below this are rounding.
    const STILL: f64 = 1e-10;
    let Ok((start, mut dynamics)) = equations else {
        return false;
    };
    if start.velocity.iter().any(|&rate| rate != 0.0) {
        return false;
    }
    let state = start.packed();
    let mut rate = vec![0.0; state.len()];
    dynamics.derivative(start.time_s, &state, &mut rate);
    let accelerations = &rate[start.position.len()..][..start.velocity.len()];
    accelerations.iter().all(|rate| rate.abs() < STILL)
}

impl Mechanism {
    /// Tells what the mechanism is, as its model writes its start: bodies, degrees of freedom, loops, and what may go
    /// wrong with it.
    ///
    /// ```
    /// use lissom::{Mechanism, ModelSpec, TEMPLATE};
    ///
    /// let spec = ModelSpec::parse(TEMPLATE, &[]).unwrap();
    /// let diagnosis = Mechanism::build(&spec).unwrap().diagnose();
    /// assert_eq!(diagnosis.bodies.len(), spec.body.len());
    /// assert!(diagnosis.warnings.is_empty());
    /// ```
    pub fn diagnose(&self) -> Diagnosis {
        let (spec, tree) = (self.spec(), self.tree());
        let spanning = spanning_tree(spec);
        let bodies = bodies::summaries(spec, tree, &spanning);
        let loops = loops::summary(spec, tree, &spanning);
        let (total_mass_kg, center_of_mass_m) = self.bodies_or_nodes().mass_at_start();
        Diagnosis {
            degrees_of_freedom: degrees_of_freedom(tree, loops.as_ref()),
            nodal: self.formulation().element_counts(),
            chosen_functions: self.chosen_functions().to_vec(),
            start_changes: self.start_changes().to_vec(),
            total_mass_kg,
            center_of_mass_m,
            gravity_m_per_s2: spec.gravity_m_per_s2,
            inputs: driven::inputs(spec),
            motions: driven::motions(spec),
            controllers: driven::controllers(spec),
            actuators: driven::actuators(spec),
            fidelity: self.fidelity(),
            integrator: driven::integrator(&spec.simulation.integrator).0,
            duration_s: spec.simulation.duration_s,
            sample_period_s: spec.sample_period_s(),
            warnings: self.warnings(&bodies, loops.as_ref()),
            loops,
            bodies,
        }
    }

    /// What knows of masses and of the start: bodies, which are the same in both formulations, where there are any. Elements make
    /// accelerations of what rounding leaves in stiff strains.
    fn bodies_or_nodes(&self) -> &dyn Inspect {
        if self.spec().is_of_nodes() {
            self.formulation()
        } else {
            self.tree()
        }
    }

    /// Coordinates and rates that start elsewhere than the model writes, as its loops would not be closed there; none where the
    /// start is computed.
    pub fn start_changes(&self) -> &[StartChange] {
        match self.spec().simulation.initial {
            InitialSpec::Written => &self.tree().start_changes,
            InitialSpec::Equilibrium | InitialSpec::StaticLoad(_) | InitialSpec::QuasiStatic => &[],
        }
    }

    /// Number of channels that a run of it records, unless its model names those to keep; 0 where it cannot start.
    pub fn channel_count(&self) -> usize {
        let equations = self.formulation().equations_at_start();
        equations.map_or(0, |(_, dynamics)| Sampler::new(&*dynamics, None).1.len())
    }

    /// Switches of its fidelity that do nothing, or too much, and supports whose beams have nodes on their way.
    pub fn fidelity_warnings(&self) -> Vec<FidelityWarning> {
        self.formulation().fidelity_warnings(self.spec())
    }
}

fn degrees_of_freedom(tree: &Model, loops: Option<&LoopsSummary>) -> DegreesOfFreedom {
    let bodies = tree.linkage.system.bodies();
    let prescribed = tree.motions.len();
    let joints: usize = bodies.iter().map(|b| b.joint.kind.velocities()).sum();
    let joint = joints.saturating_sub(prescribed);
    let elastic = bodies.iter().map(Body::modes).sum();
    let motor = tree.transmissions.len();
    let closed = loops.map_or(0, |loops| loops.rank);
    DegreesOfFreedom {
        joint,
        elastic,
        motor,
        prescribed,
        closed,
        total: (joint + elastic + motor).saturating_sub(closed),
    }
}
