//! What drives a mechanism, and how it would be simulated.

use std::collections::BTreeMap;

use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    ActuatorSpec, ControllerSpec, InputSpec, IntegratorSpec, JointSpec, MotionSpec,
};
use serde::Serialize;

/// An input, a prescribed motion, a controller or an actuator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Driven {
    /// `input`, `motion`, `controller` or `actuator`.
    #[serde(skip)]
    pub what: &'static str,
    /// Joint, with the component if it has several, or marker.
    pub target: String,
    /// Key of what it does over time.
    pub profile: &'static str,
}

pub(super) fn inputs(spec: &ModelSpec) -> Vec<Driven> {
    let joints = Joints::of(spec);
    let driven = |input: &InputSpec| {
        let target = match (&input.marker, &input.joint) {
            (Some(marker), _) => format!("marker {marker}"),
            (None, joint) => joints.target(joint.as_deref().unwrap_or_default(), input.component),
        };
        Driven {
            what: "input",
            target,
            profile: input.loads().first().map_or("", |(key, _, _)| *key),
        }
    };
    spec.input.iter().map(driven).collect()
}

pub(super) fn motions(spec: &ModelSpec) -> Vec<Driven> {
    let joints = Joints::of(spec);
    let driven = |motion: &MotionSpec| Driven {
        what: "motion",
        target: joints.target(&motion.joint, motion.component),
        profile: motion
            .profile_specs()
            .first()
            .map_or("", |profile| profile.key()),
    };
    spec.motion.iter().map(driven).collect()
}

pub(super) fn controllers(spec: &ModelSpec) -> Vec<Driven> {
    let driven = |controller: &ControllerSpec| Driven {
        what: "controller",
        target: spec.driven_by(controller).collect::<Vec<_>>().join(", "),
        profile: match (&controller.joint_pd, &controller.pid) {
            _ if controller.state_space.is_some() => "state_space",
            (Some(_), _) => "joint_pd",
            (None, Some(_)) => "pid",
            (None, None) => "computed_pd",
        },
    };
    spec.controller.iter().map(driven).collect()
}

pub(super) fn actuators(spec: &ModelSpec) -> Vec<Driven> {
    let driven = |actuator: &ActuatorSpec| Driven {
        what: "actuator",
        target: actuator.joint.clone(),
        profile: match (actuator.limit(), actuator.response_time_s) {
            (Some(_), Some(_)) => "limit and response time",
            (Some(_), None) => "limit",
            (None, Some(_)) => "response time",
            (None, None) => "torque or force",
        },
    };
    spec.actuator.iter().map(driven).collect()
}

/// Joints by their names.
struct Joints<'a>(BTreeMap<&'a str, &'a JointSpec>);

impl<'a> Joints<'a> {
    fn of(spec: &'a ModelSpec) -> Self {
        let named = spec.joint.iter().map(|joint| (joint.name.as_str(), joint));
        Self(named.collect())
    }

    /// The joint, with the component if it has several.
    fn target(&self, joint: &str, component: usize) -> String {
        let kind = self.0.get(joint).and_then(|joint| joint.kind());
        if kind.is_some_and(|kind| kind.degrees_of_freedom() > 1) {
            format!("joint {joint}, component {component}")
        } else {
            format!("joint {joint}")
        }
    }
}

/// Name of an integrator, and whether its steps are bound to the fastest oscillation.
pub(super) fn integrator(integrator: &IntegratorSpec) -> (&'static str, bool) {
    match integrator {
        IntegratorSpec::Auto(_) => ("auto", false),
        IntegratorSpec::Dop853(_) => ("dop853", true),
        IntegratorSpec::Dopri5(_) => ("dopri5", true),
        IntegratorSpec::Adams(_) => ("adams", true),
        IntegratorSpec::Radau(_) => ("radau", false),
        IntegratorSpec::Esdirk(_) => ("esdirk", false),
        IntegratorSpec::GeneralizedAlpha(_) => ("generalized_alpha", false),
        IntegratorSpec::Newmark(_) => ("newmark", false),
    }
}
