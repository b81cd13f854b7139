//! Inputs: torques and forces from outside, on axes, components of joints and markers.

use lissom_numerics::linear::Label;
use lissom_spatial::{Force, Matrix, Real, Vector};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{Frame, InputSpec, LoadProfile, LoadQuantity, MotionProfile};

use crate::external::External;
use crate::profile::LoadCurve;
use crate::view::{AxisId, JointId, MarkerId, View};

/// A torque or force from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// What it acts on, as recordings call it.
    pub name: String,
    /// Torque or force.
    pub quantity: LoadQuantity,
    /// On what it acts.
    pub target: LoadTarget,
    /// How it runs in time.
    pub profile: LoadProfile,
    /// Whether rigid inverse dynamics counts on it.
    pub in_feedforward: bool,
}

/// On what a load acts.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadTarget {
    /// An axis; behind an elastic gear, the motor.
    Axis(AxisId),
    /// A component of a spherical or free joint: three of rotation, three of translation, in the child's axes.
    Component(JointId, usize),
    /// A marker, which is pulled or turned along a direction.
    Marker(MarkerId, Toward),
}

/// Direction of a load on a marker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Toward {
    /// Unit vector.
    pub direction: Vector<f64>,
    /// The marker whose axes it is given in; `None` for those of the ground.
    pub carried_by: Option<MarkerId>,
}

impl LoadTarget {
    /// The axis, if it is one.
    pub fn axis(&self) -> Option<AxisId> {
        match self {
            Self::Axis(axis) => Some(*axis),
            Self::Component(..) | Self::Marker(..) => None,
        }
    }
}

impl Load {
    /// An input of a model on an axis or component of a joint of this name, which slides or turns.
    pub fn on_joint(
        spec: &ModelSpec,
        input: &InputSpec,
        name: String,
        translates: bool,
        target: LoadTarget,
    ) -> Option<Self> {
        let (quantity, profile) = input.load()?;
        let profile = match profile {
            LoadProfile::RigidInverseDynamics(motion) => {
                LoadProfile::RigidInverseDynamics(motion.map(|motion| spec.shaped(motion)))
            }
            profile => profile,
        };
        Some(Self {
            name,
            quantity: match quantity {
                LoadQuantity::Either if translates => LoadQuantity::Force,
                LoadQuantity::Either => LoadQuantity::Torque,
                quantity => quantity,
            },
            target,
            profile,
            in_feedforward: false,
        })
    }

    /// An input of the file on a marker, along a direction in the axes of the ground or of a carrier.
    pub fn on_marker(input: &InputSpec, marker: MarkerId, carrier: MarkerId) -> Option<Self> {
        let (quantity, profile) = input.load()?;
        let toward = Toward {
            direction: Vector(input.direction?).unit(),
            carried_by: (input.frame == Frame::Body).then_some(carrier),
        };
        Some(Self {
            name: input.marker.clone()?,
            quantity,
            target: LoadTarget::Marker(marker, toward),
            profile,
            in_feedforward: input.in_feedforward,
        })
    }

    /// Name and unit of its value.
    pub fn signal(&self) -> (String, &'static str) {
        let (what, unit) = match self.quantity {
            LoadQuantity::Torque => ("torque", "N m"),
            LoadQuantity::Force | LoadQuantity::Either => ("force", "N"),
        };
        let name = match self.target {
            LoadTarget::Marker(..) => format!("{}.applied_{what}", self.name),
            LoadTarget::Axis(_) | LoadTarget::Component(..) => format!("{}.{what}", self.name),
        };
        (name, unit)
    }

    /// It as an input of linearised equations.
    pub fn label(&self) -> Label {
        let (name, unit) = self.signal();
        let rate_unit = if unit == "N" { "N/s" } else { "N m/s" };
        Label::coordinate(name, unit, rate_unit)
    }

    /// What rigid inverse dynamics has to do with it.
    pub fn nominal_motion(&self) -> Option<Option<&MotionProfile>> {
        match &self.profile {
            LoadProfile::RigidInverseDynamics(profile) => Some(profile.as_ref()),
            _ => None,
        }
    }

    /// Pushes a load of this value; returns its power.
    #[inline(always)]
    pub fn push<T: Real>(&self, value: T, view: &mut impl View<T>) -> T {
        match &self.target {
            LoadTarget::Axis(axis) => {
                let [_, rate] = view.axis(*axis);
                view.push_axis(*axis, value);
                value * rate
            }
            LoadTarget::Component(joint, component) => {
                let motion = view.joint(*joint);
                let mut wrench = Force::new(Vector::zero(), Vector::zero());
                let rate = if *component < 3 {
                    wrench.moment[*component] = value;
                    motion.angular_velocity[*component]
                } else {
                    wrench.force[component - 3] = value;
                    motion.velocity[component - 3]
                };
                view.push_joint(*joint, wrench);
                value * rate
            }
            LoadTarget::Marker(marker, toward) => {
                let carrier = toward.carried_by.filter(|carrier| carrier != marker);
                let carrier = carrier.map(|carrier| view.marker(carrier).pose.rotation);
                let motion = view.marker(*marker);
                let wrench = self.wrench(toward, value, &carrier.unwrap_or(motion.pose.rotation));
                view.push_marker(*marker, wrench);
                motion.twist.dot(wrench)
            }
        }
    }

    /// Moment and force in ground components of a load of this value along a direction, which is carried by something of
    /// this orientation if by anything.
    #[inline(always)]
    pub fn wrench<T: Real>(&self, toward: &Toward, value: T, carrier: &Matrix<T>) -> Force<T> {
        let direction = Vector::constant(toward.direction.0);
        let along = match toward.carried_by {
            None => direction,
            Some(_) => *carrier * direction,
        }
        .scale(value);
        match self.quantity {
            LoadQuantity::Torque => Force::new(along, Vector::zero()),
            LoadQuantity::Force | LoadQuantity::Either => Force::new(Vector::zero(), along),
        }
    }
}

/// Inputs as functions of time, any of which somebody outside may take over.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    curves: Vec<LoadCurve>,
    externals: Vec<Option<External>>,
}

impl Inputs {
    /// Of these loads.
    pub fn new(loads: &[Load]) -> Self {
        Self {
            curves: (loads.iter())
                .map(|load| LoadCurve::new(&load.profile))
                .collect(),
            externals: vec![None; loads.len()],
        }
    }

    /// Takes over an input, or gives it back to the model.
    pub fn set(&mut self, input: usize, external: Option<External>) {
        self.externals[input] = external;
    }

    /// Instants at which an input is not smooth.
    pub fn breakpoints(&self) -> impl Iterator<Item = f64> {
        self.curves.iter().flat_map(LoadCurve::breakpoints)
    }

    /// Values of all inputs at an instant; `feedforward` gives what rigid inverse dynamics says for what a load acts on.
    pub fn evaluate(
        &self,
        loads: &[Load],
        time: f64,
        feedforward: impl Fn(&LoadTarget) -> f64,
        values: &mut [f64],
    ) {
        for (i, (load, value)) in loads.iter().zip(values).enumerate() {
            *value = match &self.externals[i] {
                Some(external) => external.at(time),
                None if load.nominal_motion().is_some() => feedforward(&load.target),
                None => self.curves[i].value(time),
            };
        }
    }
}
