//! The model file, as plain data: one struct per table, one field per key, the unit in every name.
//!
//! Choices between kinds are optional sibling keys (`rigid`, `beam`, … of a `[[body]]`), of which exactly
//! one is given, or externally tagged enums (`basis.clamped_free`). Nothing here is checked beyond types;
//! [`ModelSpec::check`] does that. Keys that are absent take the default written beside the field.

mod actuator;
mod basis;
mod beam;
mod body;
mod closure;
mod controller;
mod deformation;
mod frame;
mod input;
mod joint;
mod motion;
mod nodes;
mod nominal;
mod orientation;
mod place;
mod profile;
mod reduced;
mod run;
mod section;
mod sensor;
mod shaping;
mod support;
mod visual;

pub use actuator::ActuatorSpec;
pub use basis::{
    AutoSpec, BasisSpec, Boundary, EachSpec, ElementsSpec, FunctionsSpec, Membrane, ModeCounts,
};
pub use beam::{BeamSpec, SegmentSpec};
pub use body::{
    BodyKind, BodySpec, DampingSpec, InitialElasticSpec, NodalNodeSpec, NodalSpec, NodeSpec,
    PointMassSpec, RayleighSpec, RigidSpec,
};
pub use closure::{
    AutomaticSpec, AxisClosureSpec, CartesianSpaceSpec, ClosureSpec, DistanceSpec, JointSpaceSpec,
    LoopEnd, LoopKind, LoopSpec, OperationalSpaceSpec, PointOnLineSpec, ProjectedSpec,
    StabilizedSpec, TwistComponent, UniversalClosureSpec,
};
pub use controller::{
    ComputedPdSpec, ControllerSpec, JointPdSpec, PidSpec, SampledSpec, StateSpaceSpec,
};
pub use deformation::{BeamDeformationsSpec, BeamRolesSpec, Deformation};
pub use frame::{BeamFrameSpec, FrameNodeSpec, LumpSpec, MemberPlaceSpec, MemberSpec, StationSpec};
pub use input::{
    ForceConstantSpec, ForceCycloidSpec, ForcePolynomialSpec, ForceSinesSpec, ForceStepSpec,
    ForceTableSpec, Frame, InputSpec, LoadQuantity, TorqueConstantSpec, TorqueCycloidSpec,
    TorquePolynomialSpec, TorqueSinesSpec, TorqueStepSpec, TorqueTableSpec,
};
pub use joint::{
    Branch, FixedSpec, FreeFrictionSpec, FreeLimitsSpec, FreeMotorSpec, FreeSpec, FreeSpringSpec,
    JointKind, JointSpec, PrismaticFrictionSpec, PrismaticLimitsSpec, PrismaticMotorSpec,
    PrismaticSpec, PrismaticSpringSpec, PrismaticStopsSpec, RevoluteFrictionSpec,
    RevoluteLimitsSpec, RevoluteMotorSpec, RevoluteSpec, RevoluteSpringSpec, RevoluteStopsSpec,
    SphericalLimitsSpec, SphericalMotorSpec, SphericalSpec, SphericalSpringSpec, UniversalSpec,
};
pub use motion::{
    ConstantRateSpec, CycloidMotionSpec, CycloidalRampsSpec, CycloidalRateSpec, MotionProfileSpec,
    MotionSpec, PolynomialMotionSpec, QuinticMotionSpec, SCurveMotionSpec, SinesMotionSpec, Spline,
    TableMotionSpec, TrapezoidalMotionSpec,
};
pub use nodes::{
    BeamElementSpec, ElementNodeSpec, ElementSpec, EndSpec, HingeSpec, OrientationSpec,
    PlanarAngleSpec, PlanarPointSpec, PointSpec, RigidBeamSpec, RoleSpec, SecondOrderSpec,
    SliderSpec, TrussSpec,
};
pub use nominal::{ArcPathSpec, LinePathSpec, MarkerPathSpec, NominalMotionSpec, SplinePathSpec};
pub(crate) use orientation::length;
pub use orientation::{
    AngularVelocitySpec, OrientationAlongPathSpec, OrientationCycloidSpec, OrientationFrame,
    OrientationMotionSpec, OrientationRampsSpec, OrientationTableSpec,
};
pub use place::{AttachmentSpec, GROUND, MarkerSpec, PayloadSpec, Place};
pub use profile::{LoadProfile, MotionProfile, RampProfile};
pub use reduced::{
    AxisName, ForcePerMassSpec, GeometricStiffnessSpec, InterfaceLoadSpec, InterfaceSpec,
    MaterialSpec, MatricesSpec, MeshBasisSpec, MeshFrameSpec, MeshModesSpec, MeshSpec,
    ReducedNodeSpec, ReducedSpec, SecondOrderIntegralsSpec, SurfaceSpec, TieSpec,
};
pub use run::{
    AdaptiveSpec, ElementCrossings, FidelityPreset, FidelitySpec, FormulationSpec,
    GeneralizedAlphaSpec, InitialSpec, IntegratorSpec, LoadedBeam, NewmarkSpec,
    NodalFormulationSpec, OutputFormat, OutputSpec, SimulationSpec, StaticForceSpec,
    StaticLoadSpec,
};
pub use section::{
    BeamMaterialSpec, BeamPropertiesSpec, BoxSpec, CircleSpec, ElasticSpec, IBeamSpec, PolygonSpec,
    RectangleSpec, SectionConstants, SectionSpec, SectionStiffness, TubeSpec,
};
pub use sensor::{
    AtJointSpec, AtMarkerSpec, EncoderSide, EncoderSpec, NoiseSpec, SensorKind, SensorSpec,
    StrainSpec,
};
pub use shaping::{Impulse, ShapedModeSpec, ShapingSpec};
pub use support::{Slopes, SupportSpec, Twist};
pub use visual::{
    VisualBoxSpec, VisualCylinderSpec, VisualKind, VisualMeshSpec, VisualSpec, VisualSphereSpec,
};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the file format that this library reads.
pub const FORMAT: i64 = 1;

/// A whole model: bodies, the joints that carry them, what acts on them and how to simulate it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Lissom model")]
pub struct ModelSpec {
    /// Version of the file format; always 1.
    pub format: i64,
    /// What the model is called in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Acceleration of free fall in ground axes; zero when absent.
    #[serde(default)]
    pub gravity_m_per_s2: [f64; 3],
    /// Rigid and flexible bodies, in any order.
    #[serde(default)]
    pub body: Vec<BodySpec>,
    /// Joints: each carries one child body on one parent body, or on the ground. Where they make loops,
    /// joints are cut until a tree remains.
    #[serde(default)]
    pub joint: Vec<JointSpec>,
    /// Nodes of a model that is written in nodes and elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<ElementNodeSpec>,
    /// Elements between nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub element: Vec<ElementSpec>,
    /// Loops: what holds two places together beyond the joints.
    #[serde(default, rename = "loop", skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopSpec>,
    /// Supports that beams slide through.
    #[serde(default)]
    pub support: Vec<SupportSpec>,
    /// Loads carried by a body.
    #[serde(default)]
    pub payload: Vec<PayloadSpec>,
    /// Places whose motion is recorded and where forces may act.
    #[serde(default)]
    pub marker: Vec<MarkerSpec>,
    /// What rigid bodies and the ground look like in reports, instead of shapes made up from their inertia.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visual: Vec<VisualSpec>,
    /// Torques and forces that drive the model.
    #[serde(default)]
    pub input: Vec<InputSpec>,
    /// Joint motions that are prescribed instead of driven.
    #[serde(default)]
    pub motion: Vec<MotionSpec>,
    /// How a marker is to move, for inputs with `nominal_motion = true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal_motion: Option<NominalMotionSpec>,
    /// Shaping of all motions, so that they excite no vibration of some modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaping: Option<ShapingSpec>,
    /// Motors with limits, through which inputs and controllers act on their joints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actuator: Vec<ActuatorSpec>,
    /// What is measured, for recordings and controllers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensor: Vec<SensorSpec>,
    /// Feedback that keeps joints on their nominal motion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controller: Vec<ControllerSpec>,
    /// Which equations describe the mechanism; `tree` when absent.
    #[serde(default, skip_serializing_if = "FormulationSpec::is_tree")]
    pub formulation: FormulationSpec,
    /// Which terms the equations of motion keep.
    #[serde(default)]
    pub fidelity: FidelitySpec,
    /// Time span and integrator.
    #[serde(default)]
    pub simulation: SimulationSpec,
    /// What is written, and how often.
    #[serde(default)]
    pub output: OutputSpec,
}

impl Default for ModelSpec {
    /// An empty model of the current format.
    fn default() -> Self {
        Self {
            format: FORMAT,
            name: None,
            gravity_m_per_s2: [0.0; 3],
            body: Vec::new(),
            joint: Vec::new(),
            node: Vec::new(),
            element: Vec::new(),
            loops: Vec::new(),
            support: Vec::new(),
            payload: Vec::new(),
            marker: Vec::new(),
            visual: Vec::new(),
            input: Vec::new(),
            motion: Vec::new(),
            nominal_motion: None,
            shaping: None,
            actuator: Vec::new(),
            sensor: Vec::new(),
            controller: Vec::new(),
            formulation: FormulationSpec::default(),
            fidelity: FidelitySpec::default(),
            simulation: SimulationSpec::default(),
            output: OutputSpec::default(),
        }
    }
}

impl ModelSpec {
    /// The model with another fidelity in the place of its own and of those of its bodies. Fidelities are those of the tree.
    #[must_use]
    pub fn with_fidelity(&self, fidelity: FidelitySpec) -> Self {
        let mut changed = self.clone();
        changed.fidelity = fidelity;
        changed.formulation = FormulationSpec::Tree;
        for body in &mut changed.body {
            body.fidelity = None;
        }
        changed
    }

    /// The body of that name; the first one if the name is not unique.
    pub fn find_body(&self, name: &str) -> Option<&BodySpec> {
        self.body.iter().find(|body| body.name == name)
    }

    /// Bodies by their names, for whoever looks many of them up; the first of those that share one.
    pub fn bodies_by_name(&self) -> BTreeMap<&str, &BodySpec> {
        // from behind, so that the first one is left
        (self.body.iter().rev())
            .map(|body| (body.name.as_str(), body))
            .collect()
    }

    /// The joint of that name; the first one if the name is not unique.
    pub fn find_joint(&self, name: &str) -> Option<&JointSpec> {
        self.joint.iter().find(|joint| joint.name == name)
    }

    /// The marker of that name; the first one if the name is not unique.
    pub fn find_marker(&self, name: &str) -> Option<&MarkerSpec> {
        self.marker.iter().find(|marker| marker.name == name)
    }
}

/// The one that is given; `None` when there is none or more than one.
fn only<T>(given: impl IntoIterator<Item = Option<T>>) -> Option<T> {
    let mut given = given.into_iter().flatten();
    let first = given.next();
    first.filter(|_| given.next().is_none())
}

/// Default of keys that are on unless switched off.
fn on() -> bool {
    true
}

/// Default of `component`: the first, and for most joints the only one.
fn first_component() -> usize {
    1
}

/// Default of `gear_ratio`: a direct drive.
fn direct_drive() -> f64 {
    1.0
}
