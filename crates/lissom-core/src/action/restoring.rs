//! What pulls axes back where they came from: derivatives of the laws of springs, dampers, friction, stops, gears and feedback, for
//! iterations that need not have all of them.

use lissom_spatial::Dual;

use super::stop::stop_pulls;
use super::{Actions, Contact, ControlLaw, Resistance};
use crate::action::JointResistance;
use crate::view::{AxisId, JointId, View};

/// What a pull acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// An axis, towards a place.
    Axis(AxisId),
    /// A motor and its joint, towards each other.
    Gear {
        /// The motor.
        motor: AxisId,
        /// The joint that it drives.
        joint: AxisId,
    },
    /// Every direction in which the child of a spherical or free joint turns, or slides.
    Joint {
        /// The joint.
        joint: JointId,
        /// Whether it is the translation.
        slides: bool,
    },
}

/// How a force changes with displacement and rate, both counted against the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Per displacement.
    pub stiffness: f64,
    /// Per rate.
    pub damping: f64,
}

impl Resistance {
    fn pull(&self, rate: f64) -> Pull {
        let rate = Dual {
            value: rate,
            tangent: [1.0],
        };
        Pull {
            stiffness: self.stiffness,
            damping: -self.drag(rate).tangent[0],
        }
    }
}

impl Actions {
    /// Tells all pulls in a state, under the contacts that hold or else its own; `mass` gives the diagonal of $`\bar M`$ by places among the axes under feedback, whose other
    /// entries are left out.
    pub fn pulls(
        &self,
        contacts: &[Contact],
        view: &impl View<f64>,
        mass: impl Fn(usize) -> f64,
        mut tell: impl FnMut(Pulled, Pull),
    ) {
        for resistance in &self.resistances {
            match *resistance {
                JointResistance::Axis(axis, law) => {
                    let [_, rate] = view.axis(axis);
                    tell(Pulled::Axis(axis), law.pull(rate));
                }
                JointResistance::Joint {
                    joint,
                    angular,
                    linear,
                } => {
                    let motion = view.joint(joint);
                    for (slides, law, rate) in [
                        (false, angular, motion.angular_velocity),
                        (true, linear, motion.velocity),
                    ] {
                        if !law.is_none() {
                            let pull = law.pull(rate.dot(rate).sqrt());
                            tell(Pulled::Joint { joint, slides }, pull);
                        }
                    }
                }
            }
        }
        stop_pulls(&self.stops, contacts, view, |axis, [stiffness, damping]| {
            tell(Pulled::Axis(axis), Pull { stiffness, damping });
        });
        for gear in &self.gears {
            let pulled = Pulled::Gear {
                motor: gear.motor,
                joint: gear.joint,
            };
            let pull = Pull {
                stiffness: gear.stiffness,
                damping: gear.damping,
            };
            tell(pulled, pull);
        }
        let mut place = 0;
        for controller in &self.controllers {
            if controller.sampling.is_some() {
                // what is held does not follow the motion
                place += controller.axes.len();
                continue;
            }
            for (i, axis) in controller.axes.iter().enumerate() {
                let pull = match &controller.law {
                    ControlLaw::Joint { position, rate } => Pull {
                        stiffness: position[i],
                        damping: rate[i],
                    },
                    ControlLaw::Computed { frequency, damping } => Pull {
                        stiffness: mass(place) * frequency * frequency,
                        damping: 2.0 * mass(place) * damping * frequency,
                    },
                    ControlLaw::Pid(pid) => Pull {
                        stiffness: pid.position[i],
                        damping: pid.filter.map_or(pid.rate[i], |_| 0.0),
                    },
                    // readings need not be those of the axes
                    ControlLaw::StateSpace(_) => Pull {
                        stiffness: 0.0,
                        damping: 0.0,
                    },
                };
                tell(Pulled::Axis(axis.drive), pull);
                place += 1;
            }
        }
    }
}
