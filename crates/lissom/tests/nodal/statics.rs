//! Large static deflections: published numbers and closed forms.

use std::f64::consts::{FRAC_PI_4, PI};

use lissom::nodal::{BeamSection, Equations, StaticLoad};
use lissom::spatial::Vector;

use crate::models::{Cantilever, cantilever};

fn loaded(beam: &Cantilever, force: [f64; 3], moment: [f64; 3]) -> ([f64; 3], usize) {
    let mut equations = Equations::new(&beam.mechanism).unwrap();
    let mut loads = vec![Vector([0.0; 3]); beam.mechanism.node_count()];
    loads[beam.tip.index()] = Vector(force);
    loads[beam.tip.index() + 1] = Vector(moment);
    let start = beam.mechanism.assembled_position();
    let before = equations.node(beam.tip).position;
    let found = equations
        .equilibrium(
            &start,
            &StaticLoad {
                drives: &[],
                efforts: &vec![0.0; beam.mechanism.dof_count()],
                loads: &loads,
                first_part: 1.0,
            },
        )
        .unwrap();
    eprintln!("parts {} iterations {}", found.parts, found.iterations);
    ((equations.node(beam.tip).position - before).0, found.iterations)
}

fn princeton(elements: usize, angle: f64) -> [f64; 3] {
    let (length, wide, thin, modulus) = (0.508, 12.3777e-3_f64, 3.2024e-3_f64, 71.7e9_f64);
    let section = BeamSection {
        bending_stiffness_y: modulus * thin * wide.powi(3) / 12.0,
        bending_stiffness_z: modulus * wide * thin.powi(3) / 12.0,
        ..BeamSection::slender(0.0, modulus * wide * thin, 3.104, 0.0)
    };
    let points: Vec<[f64; 3]> = (0..=elements)
        .map(|i| [length * i as f64 / elements as f64, 0.0, 0.0])
        .collect();
    let beam = cantilever(&points, section, [0.0, 1.0, 0.0]);
    let (sin, cos) = angle.sin_cos();
    let load = 8.896;
    loaded(&beam, [0.0, load * cos, load * sin], [0.0; 3]).0
}

fn bend(elements: usize) -> [f64; 3] {
    let section = BeamSection::slender(0.0, 1e7, 5e6 * 0.1406, 1e7 / 12.0);
    let points: Vec<[f64; 3]> = (0..=elements)
        .map(|i| {
            let angle = FRAC_PI_4 * i as f64 / elements as f64;
            [100.0 * angle.sin(), 100.0 * (1.0 - angle.cos()), 0.0]
        })
        .collect();
    let beam = cantilever(&points, section, [0.0, 0.0, 1.0]);
    loaded(&beam, [0.0, 0.0, 600.0], [0.0; 3]).0
}

#[test]
fn explore() {
    for n in [4, 8, 16] {
        eprintln!("princeton {n} 45 {:?} 90 {:?}", princeton(n, FRAC_PI_4), princeton(n, PI / 2.0));
        eprintln!("bend {n} {:?}", bend(n));
    }
}
