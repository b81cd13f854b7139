//! The spatial two-link arm of Jonker & Aarts (2001), section 8, on a straight path of its tip.

use std::f64::consts::PI;

use crate::spatial::{Matrix, Vector};

use super::super::{
    Assembly, BeamSection, Drive, End, Mechanism, NodalError, NodeId, Nominal, Role,
    SecondOrderTerms,
};

/// The spatial two-link arm of Jonker & Aarts (2001), section 8.
#[derive(Clone, Debug)]
pub struct TwoLink {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Point at the elbow.
    pub elbow: NodeId,
    /// Point at the tip.
    pub tip: NodeId,
}

/// Hinges about z, −y and −y, links along x where it is assembled; second-order term in e1 only.
///
/// # Errors
///
/// When the assembly makes no mechanism.
pub fn two_link() -> Result<TwoLink, NodalError> {
    let length = 0.7_f64;
    let section = |mass: f64, bending: f64, torsion: f64| BeamSection {
        second_order: SecondOrderTerms::ELONGATION,
        ..BeamSection::slender(
            mass,
            0.0,
            torsion * length.powi(3),
            bending * length.powi(3),
        )
    };
    let mut assembly = Assembly::new();
    let mut attitude = |name: &str| assembly.orientation(name, &Matrix::identity());
    let [ground, yaw, upper_root, upper_end, fore_root, fore_end] = [
        "ground",
        "yaw",
        "upper_root",
        "upper_end",
        "fore_root",
        "fore_end",
    ]
    .map(&mut attitude);
    let shoulder = assembly.point("shoulder", [0.0; 3]);
    let elbow = assembly.point("elbow", [length, 0.0, 0.0]);
    let tip = assembly.point("tip", [2.0 * length, 0.0, 0.0]);
    assembly.set_node(ground, Role::Fixed);
    assembly.set_node(shoulder, Role::Fixed);
    let down = [0.0, -1.0, 0.0];
    let end = |point, orientation| End { point, orientation };
    let y = [0.0, 1.0, 0.0];
    for (name, p, q, axis) in [
        ("hinge_1", ground, yaw, [0.0, 0.0, 1.0]),
        ("hinge_2", yaw, upper_root, down),
    ] {
        let hinge = assembly.hinge(name, p, q, axis);
        assembly.set_deformation(hinge, 0, Role::Actuated);
    }
    let upper = assembly.beam(
        "upper",
        end(shoulder, upper_root),
        end(elbow, upper_end),
        section(4.0, 48300.0, 41580.0),
        y,
    );
    let hinge = assembly.hinge("hinge_3", upper_end, fore_root, down);
    assembly.set_deformation(hinge, 0, Role::Actuated);
    let fore = assembly.beam(
        "fore",
        end(elbow, fore_root),
        end(tip, fore_end),
        section(2.0, 24460.0, 0.0),
        y,
    );
    assembly.set_deformation(upper, 0, Role::Fixed);
    assembly.set_deformation(fore, 0, Role::Fixed);
    assembly.set_deformation(fore, 1, Role::Fixed);
    assembly.mass(elbow, 10.0);
    assembly.mass(tip, 30.0);
    Ok(TwoLink {
        mechanism: assembly.finish()?,
        elbow,
        tip,
    })
}

/// The tip's straight path from A to B with squared-sine ramps, and weights as nodal forces.
#[derive(Clone, Debug)]
pub struct TwoLinkPath {
    elbow: usize,
    tip: usize,
}

impl TwoLinkPath {
    /// For the nodes of an arm.
    pub fn new(arm: &TwoLink) -> Self {
        Self {
            elbow: arm.elbow.index(),
            tip: arm.tip.index(),
        }
    }

    /// Share of the path with its derivatives: ramps of 0.3 s at both ends of 1 s.
    fn share(time: f64) -> Drive {
        let (duration, ramp) = (1.0, 0.3);
        let speed = 1.0 / (duration - ramp);
        let rising = |t: f64| {
            let turn = 2.0 * PI / ramp;
            let (sin, cos) = (turn * t).sin_cos();
            Drive {
                value: speed / ramp * (0.5 * t * t + (cos - 1.0) / (turn * turn)),
                rate: speed / ramp * (t - sin / turn),
                acceleration: speed / ramp * (1.0 - cos),
            }
        };
        if time >= duration {
            Drive {
                value: 1.0,
                ..Drive::default()
            }
        } else if time < ramp {
            rising(time)
        } else if time < duration - ramp {
            Drive {
                value: speed * (time - 0.5 * ramp),
                rate: speed,
                acceleration: 0.0,
            }
        } else {
            let back = rising(duration - time);
            Drive {
                value: 1.0 - back.value,
                rate: back.rate,
                acceleration: -back.acceleration,
            }
        }
    }

    /// Nominal tip position by component.
    pub fn tip(&self, time: f64) -> [Drive; 3] {
        let (a, b) = ([0.9, 0.0, 0.1], [0.0, 1.28, 0.2]);
        let share = Self::share(time);
        std::array::from_fn(|i| {
            let span = b[i] - a[i];
            Drive {
                value: a[i] + span * share.value,
                rate: span * share.rate,
                acceleration: span * share.acceleration,
            }
        })
    }
}

impl Nominal for TwoLinkPath {
    /// Elbow up, in closed form with its derivatives by time.
    fn rigid(&mut self, time: f64, motion: &mut [Drive]) {
        let length = 0.7;
        let [x, y, z] = self.tip(time).map(Series::from);
        let planar = x.times(x).plus(y.times(y)).sqrt();
        let squared = planar.times(planar).plus(z.times(z));
        let reach = squared.sqrt();
        let cosine = reach.scaled(0.5 / length);
        // both links are equal: the elbow stands over the middle of the line to the tip
        let sine = Series::constant(1.0)
            .plus(cosine.times(cosine).scaled(-1.0))
            .sqrt();
        let half = Series::angle(sine, cosine);
        let elevation = Series::angle(z, planar);
        motion[0] = Series::angle(y, x).drive();
        motion[1] = elevation.plus(half).drive();
        motion[2] = half.scaled(-2.0).drive();
    }

    fn drive(&mut self, _: f64, _: &mut [Drive]) {}

    fn load(&mut self, _: f64, loads: &mut [Vector<f64>]) {
        // half the mass of each link at its ends, with the masses that stand there
        loads[self.elbow] = Vector([0.0, 0.0, -9.81 * (10.0 + 1.4 + 0.7)]);
        loads[self.tip] = Vector([0.0, 0.0, -9.81 * (30.0 + 0.7)]);
    }
}

/// A function of time with two derivatives.
#[derive(Clone, Copy, Debug)]
struct Series {
    value: f64,
    rate: f64,
    second: f64,
}

impl From<Drive> for Series {
    fn from(drive: Drive) -> Self {
        Self {
            value: drive.value,
            rate: drive.rate,
            second: drive.acceleration,
        }
    }
}

impl Series {
    fn constant(value: f64) -> Self {
        Self {
            value,
            rate: 0.0,
            second: 0.0,
        }
    }
    fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            rate: self.rate * factor,
            second: self.second * factor,
        }
    }
    fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            rate: self.rate + other.rate,
            second: self.second + other.second,
        }
    }
    fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
            second: self.second * other.value
                + 2.0 * self.rate * other.rate
                + self.value * other.second,
        }
    }
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        let rate = 0.5 * self.rate / value;
        Self {
            value,
            rate,
            second: (0.5 * self.second - rate * rate) / value,
        }
    }
    /// Angle of a sine and a cosine of any common length.
    fn angle(sine: Self, cosine: Self) -> Self {
        let squared = sine.times(sine).plus(cosine.times(cosine));
        let moment = cosine.value * sine.rate - sine.value * cosine.rate;
        let moment_rate = cosine.value * sine.second - sine.value * cosine.second;
        let rate = moment / squared.value;
        Self {
            value: sine.value.atan2(cosine.value),
            rate,
            second: (moment_rate - rate * squared.rate) / squared.value,
        }
    }
    fn drive(self) -> Drive {
        Drive {
            value: self.value,
            rate: self.rate,
            acceleration: self.second,
        }
    }
}
