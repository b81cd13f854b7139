//! What acts on a system besides gravity: springs, friction, transmissions, limits, inputs, motions.

use lissom_core::{AxisName, Resistance};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Matrix, Vector};
use lissom_spec::spec::{ControllerSpec, Frame, LoadProfile, LoadQuantity, MotionProfile};

/// What resists the motion of one body's joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointResistance {
    /// Of a joint with one degree of freedom.
    Axis(Resistance),
    /// Of a spherical joint: the spring pulls along the rotation vector, friction acts on each component
    /// of the angular velocity.
    Ball(Resistance),
    /// Of a free joint: rotation like a ball, and translation.
    Free {
        /// Against rotation.
        angular: Resistance,
        /// Against translation.
        linear: Resistance,
    },
}

/// An axis of a joint of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeAxis {
    /// What it is called.
    pub name: AxisName,
    /// Index in the position vector.
    pub position: usize,
    /// Index in the velocity vector.
    pub velocity: usize,
}

/// A motor behind an elastic gear: a coordinate of its own, measured at the joint side.
///
/// The rotor's inertia counts about the joint's axis only, as is usual for large gear ratios
/// \[Spong 1987\].
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Name of the motor coordinate.
    pub name: String,
    /// Whether the joint translates.
    pub translates: bool,
    /// Index of the joint in the position vector.
    pub position: usize,
    /// Index of the joint in the velocity vector.
    pub velocity: usize,
    /// Rotor inertia at the joint side, gear ratio squared times rotor inertia.
    pub inertia: f64,
    /// Stiffness at the joint side.
    pub stiffness: f64,
    /// Damping at the joint side.
    pub damping: f64,
    /// Motor position at the start.
    pub initial_position: f64,
    /// Motor rate at the start.
    pub initial_rate: f64,
}

/// A torque or force from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// What it is called in a recording.
    pub name: String,
    /// Torque or force.
    pub quantity: LoadQuantity,
    /// On what it acts.
    pub target: LoadTarget,
    /// How it runs in time.
    pub profile: LoadProfile,
    /// Whether rigid inverse dynamics counts on it.
    pub foreseen: bool,
}

impl Load {
    /// Force and moment in ground components of a load of this value on a marker with this attitude; `None` for loads
    /// on joints and motors.
    pub fn wrench<T: Scalar>(&self, value: T, attitude: &Matrix<T>) -> Option<Force<T>> {
        let LoadTarget::Marker {
            direction, frame, ..
        } = &self.target
        else {
            return None;
        };
        let direction = Vector::constant(direction.0);
        let along = match frame {
            Frame::World => direction,
            Frame::Body => *attitude * direction,
        }
        .scale(value);
        Some(match self.quantity {
            LoadQuantity::Torque => Force::new(along, Vector::zero()),
            LoadQuantity::Force | LoadQuantity::Either => Force::new(Vector::zero(), along),
        })
    }
}

/// On what a load acts.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadTarget {
    /// Entry of the velocity vector.
    Joint(usize),
    /// The motor coordinate of a [`Transmission`], by index.
    Motor(usize),
    /// A marker, by index.
    Marker {
        /// Index of the marker.
        index: usize,
        /// Unit vector.
        direction: Vector<f64>,
        /// Axes in which the direction is given.
        frame: Frame,
    },
}

/// The prescribed motion of a joint with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMotion {
    /// Index in the position vector.
    pub position: usize,
    /// Index in the velocity vector.
    pub velocity: usize,
    /// Position at the start of profiles that do not say it.
    pub initial: f64,
    /// How it runs in time.
    pub profile: MotionProfile,
}

/// How a marker would move if every body were rigid.
#[derive(Clone, Debug, PartialEq)]
pub struct NominalMotion {
    /// Index of the marker.
    pub marker: usize,
    /// Position along each axis of the ground, where it is given.
    pub position: [Option<MotionProfile>; 3],
    /// Unit vector, and the angle about it by which the marker's axes are turned from those of the ground.
    pub rotation: Option<(Vector<f64>, MotionProfile)>,
}

/// Feedback on joints with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name, unique among controllers.
    pub name: String,
    /// What it measures and drives.
    pub joints: Vec<ControlledJoint>,
    /// How.
    pub law: ControlLaw,
}

/// A joint under feedback; behind an elastic gear, its motor.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlledJoint {
    /// Name of the joint.
    pub name: String,
    /// Whether it translates.
    pub translates: bool,
    /// Index in the position vector.
    pub position: usize,
    /// Index in the velocity vector.
    pub velocity: usize,
    /// Index of the [`Transmission`] whose motor is measured and driven.
    pub motor: Option<usize>,
}

/// Torque or force by deviations from the nominal motion, $`u = -K_p\,\delta e - K_v\,\delta\dot e`$.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlLaw {
    /// Gains of every joint.
    Joint {
        /// Diagonal of $`K_p`$.
        position: Vec<f64>,
        /// Diagonal of $`K_v`$.
        rate: Vec<f64>,
    },
    /// $`K_p = \bar M\Omega^2`$, $`K_v = 2\bar M\beta\,\Omega`$ with the mass matrix of the joints of the rigid mechanism along
    /// the nominal motion \[Jonker & Aarts 2001, eqs (36)–(40)\].
    Computed {
        /// $`\Omega`$.
        frequency: f64,
        /// $`\beta`$.
        damping: f64,
    },
}

impl ControlLaw {
    /// The law of a controller; `None` where none is given.
    pub fn of(spec: &ControllerSpec) -> Option<Self> {
        match (&spec.joint_pd, &spec.computed_pd) {
            (Some(law), _) => Some(Self::Joint {
                position: law.position_gain.clone(),
                rate: law.rate_gain.clone(),
            }),
            (None, Some(law)) => Some(Self::Computed {
                frequency: law.frequency_rad_per_s,
                damping: law.damping_ratio,
            }),
            (None, None) => None,
        }
    }

    /// Torques and forces on the joints of one controller for deviations of their positions and rates; `mass` gives
    /// $`\bar M`$ by places among these joints.
    pub fn feed_back(
        &self,
        deviations: &[[f64; 2]],
        mass: impl Fn(usize, usize) -> f64,
        efforts: &mut [f64],
    ) {
        for (i, (effort, [deviation, rate])) in efforts.iter_mut().zip(deviations).enumerate() {
            *effort = match self {
                Self::Joint {
                    position,
                    rate: rates,
                } => -position[i] * deviation - rates[i] * rate,
                Self::Computed { frequency, damping } => {
                    let mut sum = 0.0;
                    for (j, [deviation, rate]) in deviations.iter().enumerate() {
                        let wanted =
                            frequency * frequency * deviation + 2.0 * damping * frequency * rate;
                        sum -= mass(i, j) * wanted;
                    }
                    sum
                }
            };
        }
    }
}
