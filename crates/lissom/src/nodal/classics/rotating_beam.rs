//! A beam on a hub that turns: Kane's as Jonker & Aarts (2001) treat it.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::spatial::Vector;

use super::super::{
    Acting, Actions, Assembly, BeamSection, Drive, ElementId, End, Excitation, Mechanism,
    NodalError, NodeId, Nominal, Role, SecondOrderTerms,
};

/// A hub and a straight planar beam along x, with its parts.
#[derive(Clone, Debug)]
pub struct RotatingBeam {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The hinge of the hub; its rotation is the first degree of freedom or the only drive.
    pub hinge: ElementId,
    /// Point at the tip.
    pub tip: NodeId,
    /// Length of the beam.
    pub length: f64,
}

/// A hinge at the origin and `elements` equal planar beam elements; `hub` is the role of its rotation.
///
/// # Errors
///
/// When the numbers make no mechanism.
pub fn rotating_beam(
    elements: usize,
    length: f64,
    section: BeamSection,
    stretches: bool,
    hub: Role,
) -> Result<RotatingBeam, NodalError> {
    let mut assembly = Assembly::new();
    let ground = assembly.planar_angle("ground", 0.0);
    assembly.set_node(ground, Role::Fixed);
    let mut end = End {
        point: assembly.planar_point("point_0", [0.0, 0.0]),
        orientation: assembly.planar_angle("angle_0", 0.0),
    };
    assembly.set_node(end.point, Role::Fixed);
    let hinge = assembly.hinge("hub", ground, end.orientation, [0.0, 0.0, 1.0]);
    assembly.set_deformation(hinge, 0, hub);
    for i in 1..=elements {
        let x = length * i as f64 / elements as f64;
        let next = End {
            point: assembly.planar_point(&format!("point_{i}"), [x, 0.0]),
            orientation: assembly.planar_angle(&format!("angle_{i}"), 0.0),
        };
        let beam = assembly.beam(&format!("beam_{i}"), end, next, section, [0.0; 3]);
        if !stretches {
            assembly.set_deformation(beam, 0, Role::Fixed);
        }
        end = next;
    }
    Ok(RotatingBeam {
        mechanism: assembly.finish()?,
        hinge,
        tip: end.point,
        length,
    })
}

/// The beam of Jonker & Aarts (2001), section 7, with or without the second-order term of eq (2).
///
/// # Errors
///
/// When the numbers make no mechanism.
pub fn jonker_beam(
    elements: usize,
    quadratic: bool,
    hub: Role,
) -> Result<RotatingBeam, NodalError> {
    let (area, inertia, density, modulus) = (7.3e-5, 8.218e-9, 2766.67, 6.895e10);
    let section = BeamSection {
        second_order: if quadratic {
            SecondOrderTerms::ELONGATION
        } else {
            SecondOrderTerms::NONE
        },
        ..BeamSection::slender(density * area, modulus * area, 0.0, modulus * inertia)
    };
    rotating_beam(elements, 8.0, section, false, hub)
}

/// Hub angle of eq (34): from rest to `speed` in `time`.
#[derive(Clone, Copy, Debug)]
pub struct SpinUp {
    /// Final speed.
    pub speed: f64,
    /// Time to reach it.
    pub time: f64,
}

impl SpinUp {
    /// Angle at an instant.
    pub fn at(&self, t: f64) -> Drive {
        let (speed, duration) = (self.speed, self.time);
        if t >= duration {
            return Drive {
                value: speed * (t - 0.5 * duration),
                rate: speed,
                acceleration: 0.0,
            };
        }
        let turn = 2.0 * PI / duration;
        let (sin, cos) = (turn * t).sin_cos();
        Drive {
            value: speed / duration * (0.5 * t * t + (cos - 1.0) / (turn * turn)),
            rate: speed / duration * (t - sin / turn),
            acceleration: speed / duration * (1.0 - cos),
        }
    }
}

impl Excitation for SpinUp {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        drives[0] = self.at(time);
    }
    fn act(&mut self, _: f64, _: &Acting<'_>, _: &mut Actions<'_>) {}
}

impl Nominal for SpinUp {
    fn rigid(&mut self, _: f64, _: &mut [Drive]) {}
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        drives[0] = self.at(time);
    }
    fn load(&mut self, _: f64, _: &mut [Vector<f64>]) {}
}

/// Hub angle of eq (35): a quarter turn from rest to rest in 5 s, of an actuated hub.
#[derive(Clone, Copy, Debug)]
pub struct QuarterTurn;

impl QuarterTurn {
    /// Angle at an instant.
    pub fn at(time: f64) -> Drive {
        let duration = 5.0;
        if time >= duration {
            return Drive {
                value: FRAC_PI_2,
                ..Drive::default()
            };
        }
        let turn = 2.0 * PI / duration;
        let (sin, cos) = (turn * time).sin_cos();
        Drive {
            value: FRAC_PI_2 * time / duration - 0.25 * sin,
            rate: FRAC_PI_2 / duration - 0.25 * turn * cos,
            acceleration: 0.25 * turn * turn * sin,
        }
    }
}

impl Nominal for QuarterTurn {
    fn rigid(&mut self, time: f64, motion: &mut [Drive]) {
        motion[0] = Self::at(time);
    }
    fn drive(&mut self, _: f64, _: &mut [Drive]) {}
    fn load(&mut self, _: f64, _: &mut [Vector<f64>]) {}
}

/// Displacement of a point across the hub's axis, in the frame that turns by `angle`.
pub fn lateral(position: [f64; 3], angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    cos * position[1] - sin * position[0]
}
