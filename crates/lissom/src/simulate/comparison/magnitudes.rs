//! How large the terms of a run are beside those that hold the mechanism together.
//!
//! At the samples of a run the accelerations with and without a group of terms differ by $`\Delta a`$; the terms
//! are the generalised forces $`\Delta Q = M\,\Delta a`$. On the elastic coordinates of a body they are measured
//! as $`\sqrt{\Delta Q^T K^{-1} \Delta Q}`$ against the largest $`\sqrt{\eta^T K\,\eta}`$ of the run: the strain
//! that the terms would cause if applied slowly against the strain that there is, whatever the coordinates. On
//! joints they are measured against the largest $`M a`$ of the run.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use serde::Serialize;

use super::states::States;
use crate::integrate::FirstOrder;
use crate::model::{Model, System};
use crate::simulate::equations::Equations;
use crate::simulate::recording::Recording;
use crate::tree::{CompositeBody, mass_matrix};

/// Size of a group of terms in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TermMagnitude {
    /// Largest strain that the terms would cause, relative to the largest strain of the run; `None` when nothing
    /// is strained.
    pub elastic: Option<f64>,
    /// Largest force of the terms on a joint, relative to the largest inertial force on a joint that moves the
    /// same way; `None` when no joint is free to accelerate.
    pub joints: Option<f64>,
}

/// Size of the terms that `reference` has and `without` lacks, along the recorded run of `reference`; `None` if
/// the recording lacks coordinates of either.
pub fn term_magnitude(
    reference: &Model,
    without: &Model,
    recording: &Recording,
) -> Option<TermMagnitude> {
    let mut truth = Equations::new(reference);
    let mut lacking = Equations::new(without);
    let true_states = States::of(&truth, recording)?;
    let states = States::of(&lacking, recording)?;
    let system = &reference.system;
    let n = system.velocity_count();
    let bodies = stiffnesses(system);
    let free: Vec<bool> = (0..n)
        .map(|i| reference.motions.iter().all(|motion| motion.velocity != i))
        .collect();
    let mut matrix = vec![0.0; n * n];
    let mut composite = CompositeBody::new(system);
    let (mut true_state, mut true_rate) =
        (vec![0.0; truth.state_len()], vec![0.0; truth.state_len()]);
    let (mut state, mut rate) = (
        vec![0.0; lacking.state_len()],
        vec![0.0; lacking.state_len()],
    );
    let (mut terms, mut strains) = (0.0_f64, 0.0_f64);
    // of joints that turn, and of those that slide
    let (mut joint_terms, mut joint_forces) = ([0.0_f64; 2], [0.0_f64; 2]);
    for (k, &time) in true_states.time_s.iter().enumerate() {
        true_states.read(k, &mut true_state);
        truth.derivative(time, &true_state, &mut true_rate);
        states.read(k, &mut state);
        lacking.derivative(time, &state, &mut rate);
        mass_matrix(system, &truth.kinematics, &mut composite, &mut matrix);
        let kept = DVector::from_column_slice(truth.acceleration());
        let change = DVector::from_column_slice(lacking.acceleration()) - &kept;
        let mass = DMatrix::from_row_slice(n, n, &matrix);
        let (added, inertial) = (&mass * change, &mass * kept);

        let (mut term, mut strain) = (0.0, 0.0);
        for body in &bodies {
            let count = body.stiffness.nrows();
            let force = added.rows(body.velocity, count).into_owned();
            term += force.dot(&body.factor.solve(&force));
            let shape = DVector::from_column_slice(&truth.position[body.position..][..count]);
            strain += shape.dot(&(&body.stiffness * &shape));
        }
        terms = terms.max(term);
        strains = strains.max(strain);
        for (i, coordinate) in reference.velocities.iter().enumerate() {
            let elastic = (bodies.iter())
                .any(|b| (b.velocity..b.velocity + b.stiffness.nrows()).contains(&i));
            if free[i] && !elastic {
                let way = usize::from(coordinate.unit == "m/s");
                joint_terms[way] = joint_terms[way].max(added[i].abs());
                joint_forces[way] = joint_forces[way].max(inertial[i].abs());
            }
        }
    }
    let joints = (0..2).filter(|&way| joint_forces[way] > 0.0);
    Some(TermMagnitude {
        elastic: (strains > 0.0).then(|| (terms / strains).sqrt()),
        joints: joints
            .map(|way| joint_terms[way] / joint_forces[way])
            .max_by(f64::total_cmp),
    })
}

/// Stiffness of one body and where its coordinates stand.
struct Stiffness {
    position: usize,
    velocity: usize,
    stiffness: DMatrix<f64>,
    factor: Cholesky<f64, Dyn>,
}

fn stiffnesses(system: &System) -> Vec<Stiffness> {
    let layout = system.layout();
    let bodies = system.bodies().iter().enumerate();
    let stiff = bodies.filter_map(|(k, body)| {
        let flexible = body.flexible.as_ref()?;
        let stiffness = DMatrix::from_row_slice(body.modes(), body.modes(), &flexible.stiffness);
        Some(Stiffness {
            position: layout.elastic_position[k],
            velocity: layout.elastic_velocity[k],
            factor: stiffness.clone().cholesky()?,
            stiffness,
        })
    });
    stiff.collect()
}
