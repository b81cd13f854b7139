//! Stiffness of the flexible bodies: derivatives of their elastic forces.

use super::membrane;
use crate::System;
use lissom_spatial::Dual;

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
