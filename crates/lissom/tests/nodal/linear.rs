//! Linearised equations.

use lissom::nodal::{Drive, Equations, Role, State, UndampedModes};
use lissom::spatial::Vector;

use crate::models::jonker_beam;

#[test]
fn jonker_frequencies() {
    for (quadratic, speed) in [(true, 0.0), (true, 4.0), (false, 4.0)] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let mut equations = Equations::new(&beam.mechanism).unwrap();
        let still = vec![0.0; beam.mechanism.dof_count()];
        let drives = [Drive { value: 0.3, rate: speed, acceleration: 0.0 }];
        let loads = vec![Vector([0.0; 3]); beam.mechanism.node_count()];
        let linear = equations.linearize(&State { position: &still, velocity: &still, acceleration: &still, drives: &drives, loads: &loads }).unwrap();
        let modes = UndampedModes::new(&linear.mass, &linear.stiffness()).unwrap();
        eprintln!("{quadratic} {speed} {:?}", modes.frequencies());
        eprintln!("C {} N+e²M {} G-G' {}", linear.damping.norm(), (&linear.dynamic + &linear.mass * (speed*speed)).norm(), (&linear.geometric - linear.geometric.transpose()).norm());
    }
}
