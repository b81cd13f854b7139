//! How large the terms of a run are beside those that hold the mechanism together.
//!
//! At the samples of a run the equations $`r = M\dot v - f`$ with and without a group of terms differ by the
//! generalised forces $`\Delta Q`$, the accelerations being the run's own in the mean over one period of the slowest
//! vibration. On the elastic coordinates they are
//! measured as $`\sqrt{\Delta Q^T K^{-1} \Delta Q}`$ against the largest $`\sqrt{\eta^T K\,\eta}`$ of the run:
//! the strain that the terms would cause if applied slowly against the strain that there is, whatever the
//! coordinates. On joints they are measured against the largest $`M\dot v`$ of the run.

use std::f64::consts::TAU;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use serde::Serialize;

use super::deviation::lowest_frequency;
use super::states::States;
use crate::mechanism::Mechanism;
use lissom_core::Recording;
use lissom_numerics::{Coordinate, CoordinateKind};

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
    reference: &Mechanism,
    without: &Mechanism,
    recording: &Recording,
) -> Option<TermMagnitude> {
    let mut truth = reference.dynamics(&reference.written()).ok()?;
    let mut lacking = without.dynamics(&without.written()).ok()?;
    let true_states = States::of(&*truth, recording)?;
    let states = States::of(&*lacking, recording)?;
    let (n_q, n_v) = (truth.position_count(), truth.velocity_count());
    let layout = truth.state_layout();
    let bodies = stiffnesses(reference, layout.split_at(n_q));
    let period = lowest_frequency(reference).map_or(0.0, |frequency| TAU / frequency);
    let mut mass = vec![0.0; n_v * n_v];
    let mut true_state = vec![0.0; layout.len()];
    let mut state = vec![0.0; lacking.state_layout().len()];
    let mut acceleration = vec![0.0; n_v];
    let mut kept = DVector::zeros(n_v);
    let mut changed = DVector::zeros(n_v);
    let (mut terms, mut strains) = (0.0_f64, 0.0_f64);
    // of joints that turn, and of those that slide
    let (mut joint_terms, mut joint_forces) = ([0.0_f64; 2], [0.0_f64; 2]);
    for (k, &time) in true_states.time_s.iter().enumerate() {
        true_states.read(k, &mut true_state);
        true_states.mean_acceleration(time, period, &mut acceleration);
        let (q, v) = true_state.split_at(n_q);
        truth.residual(time, q, &v[..n_v], &acceleration, kept.as_mut_slice());
        truth.mass_matrix(time, q, &mut mass);
        states.read(k, &mut state);
        let (other_q, other_v) = state.split_at(lacking.position_count());
        lacking.residual(
            time,
            other_q,
            &other_v[..n_v],
            &acceleration,
            changed.as_mut_slice(),
        );
        let added = &changed - &kept;
        let inertial =
            DMatrix::from_row_slice(n_v, n_v, &mass) * DVector::from_column_slice(&acceleration);

        let (mut term, mut strain) = (0.0, 0.0);
        for body in &bodies {
            let count = body.matrix.nrows();
            let force = added.rows(body.velocity, count).into_owned();
            term += force.dot(&body.factor.solve(&force));
            let shape = DVector::from_column_slice(&q[body.position..][..count]);
            strain += shape.dot(&(&body.matrix * &shape));
        }
        terms = terms.max(term);
        strains = strains.max(strain);
        for (i, coordinate) in layout[n_q..n_q + n_v].iter().enumerate() {
            if coordinate.kind == CoordinateKind::Joint {
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

/// Stiffness of one body and where its coordinates stand in the positions and velocities of the state.
struct Stiffness {
    position: usize,
    velocity: usize,
    matrix: DMatrix<f64>,
    factor: Cholesky<f64, Dyn>,
}

fn stiffnesses(
    mechanism: &Mechanism,
    (positions, velocities): (&[Coordinate], &[Coordinate]),
) -> Vec<Stiffness> {
    let model = mechanism.tree();
    let places = model.linkage.system.layout();
    let bodies = model.linkage.system.bodies().iter().enumerate();
    let stiff = bodies.filter_map(|(k, body)| {
        let flexible = body.flexible.as_ref()?;
        let first = model.linkage.positions.get(places.elastic_position[k])?;
        let first_rate = model.linkage.velocities.get(places.elastic_velocity[k])?;
        let matrix = DMatrix::from_row_slice(body.modes(), body.modes(), &flexible.stiffness);
        Some(Stiffness {
            position: positions.iter().position(|c| c.name == first.name)?,
            velocity: velocities.iter().position(|c| c.name == first_rate.name)?,
            factor: matrix.clone().cholesky()?,
            matrix,
        })
    });
    stiff.collect()
}
