//! Stiffness of the flexible bodies: derivatives of their elastic forces.

use nalgebra::{DMatrix, DVector};

use super::membrane;
use super::points::Points;
use crate::System;
use lissom_spatial::Dual;

/// Stiffness of a stretch below this part of the largest is none: a beam that is free in its frame moves along its axis as a whole.
const NO_STIFFNESS: f64 = 1e-12;

/// Adds the derivatives of the elastic forces of all bodies by their coordinates to `matrix`, n × n by rows.
pub fn add_elastic_stiffness(system: &System, position: &[f64], matrix: &mut [f64]) {
    let layout = system.layout();
    let size = layout.velocities;
    for (k, body) in system.bodies().iter().enumerate() {
        let Some(flexible) = &body.flexible else {
            continue;
        };
        let n = body.modes();
        let first = layout.elastic_velocity[k];
        for alpha in 0..n {
            for beta in 0..n {
                matrix[(first + alpha) * size + first + beta] +=
                    flexible.stiffness[alpha * n + beta];
            }
        }
        let Some(strain) = system.strain(k) else {
            continue;
        };
        let elastic = &position[layout.elastic_position[k]..][..n];
        let mut moved: Vec<Dual<f64, 1>> = elastic
            .iter()
            .map(|&value| Dual {
                value,
                tangent: [0.0],
            })
            .collect();
        for beta in 0..n {
            moved[beta].tangent = [1.0];
            let mut force = vec![
                Dual {
                    value: 0.0,
                    tangent: [0.0]
                };
                n
            ];
            membrane::add_forces(strain, body.fidelity.elasticity, &moved, &mut force);
            moved[beta].tangent = [0.0];
            for (alpha, force) in force.iter().enumerate() {
                matrix[(first + alpha) * size + first + beta] += force.tangent[0];
            }
        }
    }
}

/// Adds what the tension of undeformed beams with a quadratic axial strain does to their bending, $`\int N v'\,\delta v'\,dx`$, to `matrix`, n × n by
/// rows. `carried` are the elastic forces that hold the bodies undeformed, one per velocity: those along the axis stretch the beam by
/// $`K_{uu}^{-1}`$ of them, and $`N`$ is the tension of that stretch.
///
/// A stretch is a coordinate of its own there, so that no derivative at the undeformed state knows of it: it is the product of two small deviations,
/// one of which is given by forces that are not small.
pub fn add_tension_stiffness(system: &System, carried: &[f64], matrix: &mut [f64]) {
    let layout = system.layout();
    let size = layout.velocities;
    for (k, body) in system.bodies().iter().enumerate() {
        let (Some(flexible), Some(strain)) = (&body.flexible, system.strain(k)) else {
            continue;
        };
        let n = body.modes();
        let first = layout.elastic_velocity[k];
        let stretch = strain.coordinates[0].clone();
        let axial = DMatrix::from_fn(stretch.len(), stretch.len(), |i, j| {
            flexible.stiffness[(stretch.start + i) * n + stretch.start + j]
        });
        let force = DVector::from_column_slice(&carried[first..first + n][stretch.clone()]);
        if force.amax() == 0.0 {
            continue;
        }
        let most = axial.amax();
        let Ok(stretched) = axial.svd(true, true).solve(&force, NO_STIFFNESS * most) else {
            continue;
        };
        let mut elastic = vec![0.0; n];
        elastic[stretch].copy_from_slice(stretched.as_slice());
        let mut own = vec![0.0; n * n];
        let gradient = &mut vec![Points::zero(); n];
        membrane::add_stiffness(
            strain,
            body.fidelity.elasticity,
            &elastic,
            gradient,
            &mut own,
        );
        for (alpha, row) in own.chunks_exact(n).enumerate() {
            let at = (first + alpha) * size + first;
            for (entry, own) in matrix[at..at + n].iter_mut().zip(row) {
                *entry += own;
            }
        }
    }
}
