//! Beams that deflect far: the Princeton beam, the 45° bend, the flying spaghetti.

use std::f64::consts::FRAC_PI_4;

use crate::spatial::{Matrix, Vector};

use super::super::{
    Acting, Actions, Assembly, BeamSection, Drive, End, Equations, Excitation, Mechanism,
    NodalError, NodeId, Role, StaticLoad,
};

/// A straight or curved cantilever in space, clamped at its first node.
#[derive(Clone, Debug)]
pub struct Cantilever {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Point and orientation at the tip.
    pub tip: End,
}

/// Clamped at the first of `points`; local y is as near to `y_direction` as each element allows.
///
/// # Errors
///
/// When the numbers make no mechanism.
pub fn cantilever(
    points: &[[f64; 3]],
    section: BeamSection,
    y_direction: [f64; 3],
) -> Result<Cantilever, NodalError> {
    let mut assembly = Assembly::new();
    let mut end = None;
    let mut tip = None;
    for (i, &position) in points.iter().enumerate() {
        let next = End {
            point: assembly.point(&format!("point_{i}"), position),
            orientation: assembly.orientation(&format!("attitude_{i}"), &Matrix::identity()),
        };
        if let Some(end) = end {
            assembly.beam(&format!("beam_{i}"), end, next, section, y_direction);
        } else {
            assembly.set_node(next.point, Role::Fixed);
            assembly.set_node(next.orientation, Role::Fixed);
        }
        end = Some(next);
        tip = Some(next);
    }
    let tip = tip.ok_or(NodalError::Structure {
        name: "cantilever".to_owned(),
        problem: "no points",
        remedy: "give at least two",
    })?;
    Ok(Cantilever {
        mechanism: assembly.finish()?,
        tip,
    })
}

impl Cantilever {
    /// Displacement of the tip under a force and a moment there.
    ///
    /// # Errors
    ///
    /// When no equilibrium is found.
    pub fn deflection(&self, force: [f64; 3], moment: [f64; 3]) -> Result<[f64; 3], NodalError> {
        let mut equations = Equations::new(&self.mechanism)?;
        let mut loads = vec![Vector([0.0; 3]); self.mechanism.node_count()];
        loads[self.tip.point.index()] = Vector(force);
        loads[self.tip.orientation.index()] = Vector(moment);
        let before = equations.node(self.tip.point).position;
        let load = StaticLoad {
            drives: &[],
            efforts: &vec![0.0; self.mechanism.dof_count()],
            loads: &loads,
            held: &[],
            first_part: 1.0,
        };
        equations.equilibrium(&self.mechanism.assembled_position(), &load)?;
        Ok((equations.node(self.tip.point).position - before).0)
    }
}

/// Tip displacement of the Princeton beam (Dowell & Traybar) under 8.896 N at an angle from its stiff
/// direction y.
///
/// # Errors
///
/// When no equilibrium is found.
pub fn princeton_beam(elements: usize, angle: f64) -> Result<[f64; 3], NodalError> {
    let (length, wide, thin, modulus) = (0.508, 12.3777e-3_f64, 3.2024e-3_f64, 71.7e9);
    let section = BeamSection {
        bending_stiffness_y: modulus * thin * wide.powi(3) / 12.0,
        bending_stiffness_z: modulus * wide * thin.powi(3) / 12.0,
        ..BeamSection::slender(0.0, modulus * wide * thin, 3.104, 0.0)
    };
    let points: Vec<[f64; 3]> = (0..=elements)
        .map(|i| [length * i as f64 / elements as f64, 0.0, 0.0])
        .collect();
    let beam = cantilever(&points, section, [0.0, 1.0, 0.0])?;
    let (sin, cos) = angle.sin_cos();
    beam.deflection([0.0, 8.896 * cos, 8.896 * sin], [0.0; 3])
}

/// Tip displacement of Bathe & Bolourchi's 45° bend of radius 100 under 600 across its plane.
///
/// # Errors
///
/// When no equilibrium is found.
pub fn bend(elements: usize) -> Result<[f64; 3], NodalError> {
    let section = BeamSection::slender(0.0, 1e7, 5e6 * 0.1406, 1e7 / 12.0);
    let points: Vec<[f64; 3]> = (0..=elements)
        .map(|i| {
            let (sin, cos) = (FRAC_PI_4 * i as f64 / elements as f64).sin_cos();
            [100.0 * sin, 100.0 * (1.0 - cos), 0.0]
        })
        .collect();
    let beam = cantilever(&points, section, [0.0, 0.0, 1.0])?;
    beam.deflection([0.0, 0.0, 600.0], [0.0; 3])
}

/// Force 8 along x and moment 80 clockwise at the lower end of the flying spaghetti, until 2.5 s.
#[derive(Clone, Copy, Debug)]
pub struct Thrown(pub End);

impl Excitation for Thrown {
    fn drive(&mut self, _: f64, _: &mut [Drive]) {}
    fn act(&mut self, time: f64, _: &Acting<'_>, on: &mut Actions<'_>) {
        if time < 2.5 {
            on.loads[self.0.point.index()] = Vector([8.0, 0.0, 0.0]);
            on.loads[self.0.orientation.index()] = Vector([0.0, 0.0, -80.0]);
        }
    }
}

/// Simo & Vu-Quoc's flying spaghetti in the plane.
#[derive(Clone, Debug)]
pub struct Spaghetti {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Its points, from the loaded end up.
    pub points: Vec<NodeId>,
    /// The loaded end.
    pub loaded: End,
}

/// From (6, 0) to (0, 8) in equal elements; nothing holds it.
///
/// # Errors
///
/// When there are no elements.
pub fn spaghetti(elements: usize) -> Result<Spaghetti, NodalError> {
    let section = BeamSection {
        shear_stiffness: Some([1e4, 1e4]),
        rotary_inertia_per_length: [0.0, 0.0, 10.0],
        ..BeamSection::slender(1.0, 1e4, 0.0, 100.0)
    };
    let mut assembly = Assembly::new();
    let loaded = End {
        point: assembly.planar_point("point_0", [6.0, 0.0]),
        orientation: assembly.planar_angle("angle_0", 0.0),
    };
    assembly.set_node(loaded.point, Role::Dof);
    assembly.set_node(loaded.orientation, Role::Dof);
    let mut points = vec![loaded.point];
    let mut end = loaded;
    for i in 1..=elements {
        let share = i as f64 / elements as f64;
        let next = End {
            point: assembly.planar_point(&format!("point_{i}"), [6.0 * (1.0 - share), 8.0 * share]),
            orientation: assembly.planar_angle(&format!("angle_{i}"), 0.0),
        };
        assembly.beam(&format!("beam_{i}"), end, next, section, [0.0; 3]);
        points.push(next.point);
        end = next;
    }
    Ok(Spaghetti {
        mechanism: assembly.finish()?,
        points,
        loaded,
    })
}
