//! `[[input]]`: torques and forces that drive the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deformation::Deformation;
use super::motion::MotionProfileSpec;
use super::profile::LoadProfile;

/// One torque or force, on a joint or at a marker. Exactly one of the `torque_…`, `force_…`,
/// `rigid_inverse_dynamics` and `nominal_motion` keys says how it runs in time.
///
/// A torque turns a joint or acts on the body at a marker about `direction`; a force moves a prismatic
/// joint or pulls at a marker along `direction`. What drives a joint is counted at the joint side of its
/// gear: the rotor's own torque is smaller by the gear ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputSpec {
    /// Name of the driven joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// Which degree of freedom of the joint, counted from 1; a free joint rotates with 1 to 3 and
    /// translates with 4 to 6.
    #[serde(default = "super::first_component")]
    pub component: usize,
    /// Which deformation of an element, in a model of nodes and elements; needed for beams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deformation: Option<Deformation>,
    /// Name of the marker at which the load acts, instead of a joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// Direction of a load at a marker; any length but zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<[f64; 3]>,
    /// Axes in which `direction` is given.
    #[serde(default)]
    pub frame: Frame,
    /// Name of the orientation whose axes are those of the `"body"`, for a force at a point of a model of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<String>,
    /// A constant torque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_constant: Option<TorqueConstantSpec>,
    /// A torque that is switched on and off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_step: Option<TorqueStepSpec>,
    /// A torque from a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_table: Option<TorqueTableSpec>,
    /// A torque that goes smoothly from one value to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_cycloid: Option<TorqueCycloidSpec>,
    /// A polynomial in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_polynomial: Option<TorquePolynomialSpec>,
    /// A sum of sines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_sines: Option<TorqueSinesSpec>,
    /// A constant force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_constant: Option<ForceConstantSpec>,
    /// A force that is switched on and off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_step: Option<ForceStepSpec>,
    /// A force from a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_table: Option<ForceTableSpec>,
    /// A force that goes smoothly from one value to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_cycloid: Option<ForceCycloidSpec>,
    /// A polynomial in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_polynomial: Option<ForcePolynomialSpec>,
    /// A sum of sines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_sines: Option<ForceSinesSpec>,
    /// The torque or force that would move the joint as said if every body and gear were rigid, against
    /// gravity, springs and friction of the joints. Joints without a nominal motion of their own count as
    /// held where they start, or as moving as prescribed; loads at markers count where they are `in_feedforward`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rigid_inverse_dynamics: Option<MotionProfileSpec>,
    /// Whether the joint takes part in moving the model along its nominal motion, as `[nominal_motion]` or other
    /// joints' `rigid_inverse_dynamics` say it: with the torque or force that would do so if every body and gear
    /// were rigid. Of more such joints than degrees of freedom, the smallest torques and forces are taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nominal_motion: bool,
    /// Whether rigid inverse dynamics counts on this load at a marker, as on a weight that is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_feedforward: bool,
}

impl Default for InputSpec {
    /// An input on nothing, of no kind, to be filled in.
    fn default() -> Self {
        Self {
            joint: None,
            component: super::first_component(),
            deformation: None,
            marker: None,
            direction: None,
            frame: Frame::default(),
            orientation: None,
            torque_constant: None,
            torque_step: None,
            torque_table: None,
            torque_cycloid: None,
            torque_polynomial: None,
            torque_sines: None,
            force_constant: None,
            force_step: None,
            force_table: None,
            force_cycloid: None,
            force_polynomial: None,
            force_sines: None,
            rigid_inverse_dynamics: None,
            nominal_motion: false,
            in_feedforward: false,
        }
    }
}

/// Axes in which the direction of a load is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// The axes of the ground.
    #[default]
    World,
    /// The axes of the body, turning with it at the marker.
    Body,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadQuantity {
    /// A torque, in N m.
    Torque,
    /// A force, in N.
    Force,
    /// Whichever the joint takes.
    Either,
}

impl InputSpec {
    /// The keys of the profiles that are given, with what they are, in the order of the format.
    pub fn loads(&self) -> Vec<(&'static str, LoadQuantity, LoadProfile)> {
        use LoadQuantity::{Either, Force, Torque};
        let mut loads: Vec<(&'static str, LoadQuantity, LoadProfile)> = Vec::new();
        macro_rules! take {
            ($quantity:expr; $($key:ident),*) => {
                $(if let Some(spec) = &self.$key {
                    loads.push((stringify!($key), $quantity, LoadProfile::from(spec)));
                })*
            };
        }
        take!(
            Torque;
            torque_constant, torque_step, torque_table, torque_cycloid, torque_polynomial, torque_sines
        );
        take!(
            Force;
            force_constant, force_step, force_table, force_cycloid, force_polynomial, force_sines
        );
        let motion = self.rigid_inverse_dynamics.as_ref();
        loads.extend(motion.map(|motion| {
            let profile = LoadProfile::RigidInverseDynamics(Some(motion.profile()));
            ("rigid_inverse_dynamics", Either, profile)
        }));
        if self.nominal_motion {
            let profile = LoadProfile::RigidInverseDynamics(None);
            loads.push(("nominal_motion", Either, profile));
        }
        loads
    }

    /// The one profile that is given; `None` when there is none or more than one.
    pub fn load(&self) -> Option<(LoadQuantity, LoadProfile)> {
        let mut loads = self.loads().into_iter();
        match (loads.next(), loads.next()) {
            (Some((_, quantity, profile)), None) => Some((quantity, profile)),
            _ => None,
        }
    }
}

/// The profiles of one quantity; torques and forces differ in the unit of their keys alone.
macro_rules! load_specs {
    (
        $what:literal:
        $constant:ident, $step:ident, $table:ident, $cycloid:ident, $polynomial:ident, $sines:ident;
        $value:ident, $initial:ident, $target:ident, $coefficients:ident, $amplitude:ident
    ) => {
        #[doc = concat!("A constant ", $what, ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $constant {
            /// The value.
            pub $value: f64,
        }

        #[doc = concat!("A ", $what, " that is switched on and off; zero outside.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $step {
            /// The value while it is on.
            pub $value: f64,
            /// When it is switched on.
            #[serde(default)]
            pub from_s: f64,
            /// When it is switched off; never when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub until_s: Option<f64>,
        }

        #[doc = concat!("A ", $what, " from a table, linear between its rows and constant beyond them.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $table {
            /// A CSV file of two columns, time and value, below the folder of the model, instead of the
            /// two lists.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub file: Option<String>,
            /// Instants, rising.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub time_s: Vec<f64>,
            /// The value at every instant.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub $value: Vec<f64>,
        }

        #[doc = concat!(
            "A ", $what, " that goes from one value to another as a cycloid, without a jump in its rate."
        )]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $cycloid {
            /// The value before.
            #[serde(default)]
            pub $initial: f64,
            /// The value after.
            pub $target: f64,
            /// When the change begins.
            #[serde(default)]
            pub from_s: f64,
            /// How long it takes.
            pub duration_s: f64,
        }

        #[doc = concat!("A ", $what, " that is a polynomial in the time since `from_s`; zero outside.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $polynomial {
            /// Coefficients from the constant upwards; the k-th is divided by s^k.
            pub $coefficients: Vec<f64>,
            /// When it begins.
            #[serde(default)]
            pub from_s: f64,
            /// When it ends; never when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub until_s: Option<f64>,
        }

        #[doc = concat!("A ", $what, " that is a sum of sines of the time since `from_s`; zero outside.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $sines {
            /// Amplitude of every sine.
            pub $amplitude: Vec<f64>,
            /// Angular frequency of every sine.
            pub frequency_rad_per_s: Vec<f64>,
            /// Phase of every sine; zero when absent.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub phase_rad: Vec<f64>,
            /// When it begins.
            #[serde(default)]
            pub from_s: f64,
            /// When it ends; never when absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub until_s: Option<f64>,
        }

        impl From<&$constant> for LoadProfile {
            fn from(spec: &$constant) -> Self {
                Self::Constant { value: spec.$value }
            }
        }

        impl From<&$step> for LoadProfile {
            fn from(spec: &$step) -> Self {
                Self::Step {
                    value: spec.$value,
                    from_s: spec.from_s,
                    until_s: spec.until_s,
                }
            }
        }

        impl From<&$table> for LoadProfile {
            fn from(spec: &$table) -> Self {
                Self::Table {
                    time_s: spec.time_s.clone(),
                    value: spec.$value.clone(),
                }
            }
        }

        impl From<&$cycloid> for LoadProfile {
            fn from(spec: &$cycloid) -> Self {
                Self::Cycloid {
                    initial: spec.$initial,
                    target: spec.$target,
                    from_s: spec.from_s,
                    duration_s: spec.duration_s,
                }
            }
        }

        impl From<&$polynomial> for LoadProfile {
            fn from(spec: &$polynomial) -> Self {
                Self::Polynomial {
                    coefficients: spec.$coefficients.clone(),
                    from_s: spec.from_s,
                    until_s: spec.until_s,
                }
            }
        }

        impl From<&$sines> for LoadProfile {
            fn from(spec: &$sines) -> Self {
                let mut phase_rad = spec.phase_rad.clone();
                if phase_rad.is_empty() {
                    phase_rad.resize(spec.$amplitude.len(), 0.0);
                }
                Self::Sines {
                    amplitude: spec.$amplitude.clone(),
                    frequency_rad_per_s: spec.frequency_rad_per_s.clone(),
                    phase_rad,
                    from_s: spec.from_s,
                    until_s: spec.until_s,
                }
            }
        }
    };
}

load_specs!(
    "torque":
    TorqueConstantSpec, TorqueStepSpec, TorqueTableSpec, TorqueCycloidSpec, TorquePolynomialSpec,
    TorqueSinesSpec;
    value_n_m, initial_n_m, final_n_m, coefficients_n_m, amplitude_n_m
);
load_specs!(
    "force":
    ForceConstantSpec, ForceStepSpec, ForceTableSpec, ForceCycloidSpec, ForcePolynomialSpec,
    ForceSinesSpec;
    value_n, initial_n, final_n, coefficients_n, amplitude_n
);
