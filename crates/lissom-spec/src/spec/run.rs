//! `[fidelity]`, `[simulation]` and `[output]`: how the model is run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::beam::BeamSpec;
use super::body::{BodyKind, BodySpec};
use super::closure::ClosureSpec;
use crate::fidelity::{Elasticity, Fidelity, Inertia, ShorteningTerms, Tip};

/// Which terms the equations of motion keep: a preset, and switches that override it one by one.
///
/// For a `[[body]]` a missing preset means the model's fidelity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FidelitySpec {
    /// A set of switches that belong together; `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<FidelityPreset>,
    /// How deformation enters the inertia; as in the preset when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Which strains store energy; as in the preset when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elasticity: Option<Elasticity>,
    /// Shortening of bent beams; as in the preset when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortening: Option<ShorteningTerms>,
    /// How the nodes that carry other bodies move; as in the preset when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Tip>,
}

impl FidelitySpec {
    /// The switches in force, starting from `base` where no preset is given.
    pub fn resolve(&self, base: Fidelity) -> Fidelity {
        let preset = self.preset.map_or(base, FidelityPreset::fidelity);
        Fidelity {
            inertia: self.inertia.unwrap_or(preset.inertia),
            elasticity: self.elasticity.unwrap_or(preset.elasticity),
            shortening: self.shortening.unwrap_or(preset.shortening),
            tip: self.tip.unwrap_or(preset.tip),
            frozen: preset.frozen,
            rigid: preset.rigid,
        }
    }

    /// Whether the preset makes links rigid.
    pub fn is_rigid(&self) -> bool {
        self.preset == Some(FidelityPreset::Rigid)
    }
}

impl super::ModelSpec {
    /// Whether a body is rigid, by its kind or by the preset `rigid`: that of the model holds for every body.
    pub fn makes_rigid(&self, body: &BodySpec) -> bool {
        let own = body.fidelity.is_some_and(|own| own.is_rigid());
        body.rigid.is_some() || own || self.fidelity.is_rigid()
    }
}

/// A set of switches that belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FidelityPreset {
    /// All terms of the deformed bodies' inertia, linear elasticity, kinematic shortening, and tips that
    /// turn by their rotation vector.
    #[default]
    Default,
    /// Model RL of Damaren & Sharf 1995: no nonlinear term.
    Ruthless,
    /// Model I of Damaren & Sharf 1995: all inertial terms, linear elasticity.
    Inconsistent,
    /// Model CL of Damaren & Sharf 1995: hybrid forces and the stiffness of a constant axial load.
    Consistent,
    /// Model EE of Damaren & Sharf 1995: all inertial and elastic terms, exact tips.
    Exact,
    /// The equations of Jain & Rodriguez 1992 with deformation in the inertia.
    JainRodriguez,
    /// The same with everything but the stiffness taken at zero deformation.
    JainRodriguezRuthless,
    /// Every link rigid: no elastic coordinates, no deformation. Joints keep their springs and gears.
    Rigid,
}

impl FidelityPreset {
    /// The switches of the preset.
    pub fn fidelity(self) -> Fidelity {
        match self {
            Self::Default => Fidelity::DEFAULT,
            Self::Ruthless => Fidelity::RUTHLESS,
            Self::Inconsistent => Fidelity::INCONSISTENT,
            Self::Consistent => Fidelity::CONSISTENT,
            Self::Exact => Fidelity::EXACT,
            Self::JainRodriguez => Fidelity::JAIN_RODRIGUEZ,
            Self::JainRodriguezRuthless => Fidelity::JAIN_RODRIGUEZ_RUTHLESS,
            Self::Rigid => Fidelity::RIGID,
        }
    }
}

/// Which equations describe the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormulationSpec {
    /// Bodies with elastic coordinates on the tree of joints, in O(N).
    #[default]
    Tree,
    /// Finite elements in nodal coordinates, whose beams may bend far.
    Nodal(NodalFormulationSpec),
}

impl FormulationSpec {
    /// The key that names the choice in a model file.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Nodal(_) => "nodal",
        }
    }

    /// Whether it is the default.
    pub(super) fn is_tree(&self) -> bool {
        *self == Self::Tree
    }
}

/// How beams are meshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodalFormulationSpec {
    /// Elements of a beam, about equal in length; 8 when absent. There are more where sections change or something
    /// is attached between.
    #[serde(default = "elements_per_link")]
    pub elements_per_link: usize,
}

impl Default for NodalFormulationSpec {
    fn default() -> Self {
        Self {
            elements_per_link: elements_per_link(),
        }
    }
}

/// Time span and integrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulationSpec {
    /// How long to simulate; 1 s when absent.
    #[serde(default = "one_second")]
    pub duration_s: f64,
    /// The time at which the simulation starts.
    #[serde(default)]
    pub start_s: f64,
    /// What the run begins with.
    #[serde(default)]
    pub initial: InitialSpec,
    /// The method that advances the motion in time; `auto` when absent.
    #[serde(default)]
    pub integrator: IntegratorSpec,
    /// How the equations of loops are formed; `automatic` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closure: Option<ClosureSpec>,
    /// What happens where a support passes a node of its beam.
    #[serde(default)]
    pub element_crossings: ElementCrossings,
}

/// What happens where a support passes a node of its beam, at which the curvature of finite elements jumps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElementCrossings {
    /// The instant is found, and the integrator starts afresh from there.
    #[default]
    Located,
    /// Steps go on over the node as if nothing were there.
    SteppedOver,
}

impl Default for SimulationSpec {
    fn default() -> Self {
        Self {
            duration_s: one_second(),
            start_s: 0.0,
            initial: InitialSpec::default(),
            integrator: IntegratorSpec::default(),
            closure: None,
            element_crossings: ElementCrossings::default(),
        }
    }
}

impl SimulationSpec {
    /// The time at which the simulation ends.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.duration_s
    }

    /// Has the simulation end so long after an instant.
    pub fn last_from(&mut self, from_s: f64, duration_s: f64) {
        // exactly what was asked for where the simulation starts
        self.duration_s = if from_s == self.start_s {
            duration_s
        } else {
            from_s + duration_s - self.start_s
        };
    }
}

/// What a run begins with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialSpec {
    /// The positions and rates that joints and bodies say.
    #[default]
    Written,
    /// Rest in equilibrium under the loads of the start; joints that are driven or prescribed are held where they
    /// are written.
    Equilibrium,
    /// On the nominal motion, deformed as if its forces of inertia were loads at rest: nothing accelerates relative to it,
    /// by the linear equations. Joints that inputs drive without feedback are where the motion has them.
    QuasiStatic,
    /// Rest in equilibrium under other loads, which are taken off when the run begins.
    StaticLoad(StaticLoadSpec),
}

/// Loads before the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticLoadSpec {
    /// Acceleration of free fall in ground axes; that of the model when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity_m_per_s2: Option<[f64; 3]>,
    /// Forces on markers, or on points of a model of nodes and elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<StaticForceSpec>,
}

/// A force on a marker or point before the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticForceSpec {
    /// Name of the marker; of the point in a model of nodes and elements.
    pub marker: String,
    /// Force in ground axes.
    pub force_n: [f64; 3],
}

/// The method that advances the motion in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegratorSpec {
    /// `dop853`, and `esdirk` or `radau` where the motion proves stiff and these get on faster.
    Auto(AdaptiveSpec),
    /// Explicit Runge–Kutta of order 8(5,3), for tight tolerances.
    Dop853(AdaptiveSpec),
    /// Explicit Runge–Kutta of order 5(4), for loose tolerances.
    Dopri5(AdaptiveSpec),
    /// Adams multistep of variable order, for smooth problems.
    Adams(AdaptiveSpec),
    /// Radau IIA of order 5, for stiff problems.
    Radau(AdaptiveSpec),
    /// Diagonally implicit Runge–Kutta of order 5(4), for stiff mechanisms at moderate tolerances.
    Esdirk(AdaptiveSpec),
    /// Generalised-α with fixed steps, for structural systems.
    GeneralizedAlpha(GeneralizedAlphaSpec),
    /// Newmark with fixed steps, for structural systems.
    Newmark(NewmarkSpec),
}

impl Default for IntegratorSpec {
    fn default() -> Self {
        Self::Auto(AdaptiveSpec::default())
    }
}

impl IntegratorSpec {
    /// Its tolerances and step limits, if it chooses its steps.
    pub fn adaptive_mut(&mut self) -> Option<&mut AdaptiveSpec> {
        match self {
            Self::Auto(own)
            | Self::Dop853(own)
            | Self::Dopri5(own)
            | Self::Adams(own)
            | Self::Radau(own)
            | Self::Esdirk(own) => Some(own),
            Self::GeneralizedAlpha(_) | Self::Newmark(_) => None,
        }
    }
}

/// Tolerances and step limits of an adaptive integrator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveSpec {
    /// Relative error allowed per step; 1e-9 when absent.
    #[serde(default = "relative_tolerance")]
    pub rtol: f64,
    /// Absolute error allowed per step, in the unit of each state; 1e-12 when absent.
    #[serde(default = "absolute_tolerance")]
    pub atol: f64,
    /// First step that is tried; chosen by the integrator when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_step_s: Option<f64>,
    /// Longest step; unlimited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_step_s: Option<f64>,
    /// Most steps that are tried before giving up; ten million when absent.
    #[serde(default = "max_steps")]
    pub max_steps: usize,
}

impl Default for AdaptiveSpec {
    fn default() -> Self {
        Self {
            rtol: relative_tolerance(),
            atol: absolute_tolerance(),
            initial_step_s: None,
            max_step_s: None,
            max_steps: max_steps(),
        }
    }
}

/// Settings of generalised-α.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneralizedAlphaSpec {
    /// Length of a step.
    pub step_s: f64,
    /// Spectral radius at infinite frequency, 0 (strongest damping) to 1 (none); 0.8 when absent.
    #[serde(default = "spectral_radius")]
    pub spectral_radius: f64,
    /// Relative tolerance of the Newton iteration in a step; 1e-10 when absent.
    #[serde(default = "newton_tolerance")]
    pub tolerance: f64,
}

/// Settings of Newmark's method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewmarkSpec {
    /// Length of a step.
    pub step_s: f64,
    /// β; 1/4 when absent.
    #[serde(default = "newmark_beta")]
    pub beta: f64,
    /// γ; 1/2 when absent.
    #[serde(default = "newmark_gamma")]
    pub gamma: f64,
    /// Relative tolerance of the Newton iteration in a step; 1e-10 when absent.
    #[serde(default = "newton_tolerance")]
    pub tolerance: f64,
}

/// What is written, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// Time between samples; a 200th of the duration when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_period_s: Option<f64>,
    /// Kinds of files to write; all of them when absent.
    #[serde(default = "all_formats")]
    pub formats: Vec<OutputFormat>,
    /// Beginnings of the names of the channels to keep; every channel when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// Sections of every beam, evenly from root to tip, in which forces, moments and stresses are recorded; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_sections: Option<usize>,
}

impl Default for OutputSpec {
    fn default() -> Self {
        Self {
            sample_period_s: None,
            formats: all_formats(),
            channels: None,
            load_sections: None,
        }
    }
}

/// A beam whose loads are recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedBeam<'a> {
    /// The body.
    pub body: &'a BodySpec,
    /// The beam that it is.
    pub beam: &'a BeamSpec,
    /// Places of its sections along it, from 0 at the root to its length at the tip.
    pub sections_m: Vec<f64>,
}

/// A kind of file.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// Comma-separated text.
    Csv,
    /// Arrays for NumPy.
    Npz,
    /// MATLAB, version 5.
    Mat,
}

/// Parts into which the duration is divided when no sample period is given.
const DEFAULT_SAMPLES: f64 = 200.0;

impl super::ModelSpec {
    /// The time between samples: the one written, else a 200th of the duration.
    pub fn sample_period_s(&self) -> f64 {
        self.output
            .sample_period_s
            .unwrap_or(self.simulation.duration_s / DEFAULT_SAMPLES)
    }

    /// The beams that bend, with the sections in which `output.load_sections` asks for loads, in the order of the file; none
    /// if it does not.
    pub fn loaded_beams(&self) -> Vec<LoadedBeam<'_>> {
        let Some(count) = self.output.load_sections else {
            return Vec::new();
        };
        let loaded = |body| {
            let Some(BodyKind::Beam(beam)) = BodySpec::kind(body) else {
                return None;
            };
            let (length_m, last) = (beam.total_length_m(), count.saturating_sub(1).max(1));
            let place = |section: usize| length_m * (section as f64 / last as f64);
            Some(LoadedBeam {
                body,
                beam,
                sections_m: (0..count).map(place).collect(),
            })
        };
        let bends = |body: &&BodySpec| !self.makes_rigid(body);
        self.body.iter().filter(bends).filter_map(loaded).collect()
    }
}

fn elements_per_link() -> usize {
    8
}

fn one_second() -> f64 {
    1.0
}

fn relative_tolerance() -> f64 {
    1e-9
}

fn absolute_tolerance() -> f64 {
    1e-12
}

fn max_steps() -> usize {
    10_000_000
}

fn spectral_radius() -> f64 {
    0.8
}

fn newton_tolerance() -> f64 {
    1e-10
}

fn newmark_beta() -> f64 {
    0.25
}

fn newmark_gamma() -> f64 {
    0.5
}

fn all_formats() -> Vec<OutputFormat> {
    vec![OutputFormat::Csv, OutputFormat::Npz, OutputFormat::Mat]
}
