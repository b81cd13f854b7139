//! Loops of a nodal model that are left open: all joints of a loop are degrees of freedom, and equations say what keeps it closed.

use lissom_core::ClosureEquations;
use lissom_nodal::{Drive, ElementId, Equations, Mechanism, Motion, NodalError};

use super::NodalModel;
use super::nominal::NodalMotion;

/// Equations of loops that are open where the mechanism was placed.
#[derive(Clone, Debug, Default)]
pub(super) struct Closures {
    /// Deformations that are to vanish.
    deformations: Vec<(ElementId, usize)>,
    residual: Vec<f64>,
    jacobian: Vec<f64>,
    drift: Vec<f64>,
    bias: Vec<f64>,
}

impl Closures {
    /// Those of a nodal model whose rigid mechanism has so many velocities.
    pub(super) fn of(nodal: &NodalModel, velocities: usize) -> Self {
        let held = nodal.held_closed();
        let deformations: Vec<(ElementId, usize)> = held
            .flat_map(|(element, held)| held.iter().map(move |&index| (element, index)))
            .collect();
        let zeros = vec![0.0; deformations.len()];
        Self {
            jacobian: vec![0.0; deformations.len() * velocities],
            residual: zeros.clone(),
            drift: zeros.clone(),
            bias: zeros,
            deformations,
        }
    }

    /// Number of equations.
    pub(super) fn count(&self) -> usize {
        self.deformations.len()
    }

    /// The equations, as the nominal trajectory sees them.
    pub(super) fn equations(&self) -> ClosureEquations<'_> {
        ClosureEquations {
            residual: &self.residual,
            jacobian: &self.jacobian,
            drift: Some(&self.drift),
            bias: &self.bias,
        }
    }

    /// Where the equations are placed. Leaves their velocities unset.
    pub(super) fn place(&mut self, equations: &mut Equations<'_>, dofs: &[usize]) {
        if self.deformations.is_empty() {
            return;
        }
        for (column, &dof) in dofs.iter().enumerate() {
            equations.set_unit_velocities(std::iter::once(dof));
            let rows = self.jacobian.chunks_exact_mut(dofs.len());
            for (row, &(element, index)) in rows.zip(&self.deformations) {
                row[column] = equations.unit_rate(element, index);
            }
        }
        for (residual, &(element, index)) in self.residual.iter_mut().zip(&self.deformations) {
            *residual = equations.deformation(element, index);
        }
    }

    /// At velocities of zero.
    pub(super) fn rest(&mut self, equations: &Equations<'_>) {
        for (drift, &(element, index)) in self.drift.iter_mut().zip(&self.deformations) {
            *drift = equations.deformation_rate(element, index);
        }
    }

    /// At accelerations of zero.
    pub(super) fn coast(&mut self, equations: &Equations<'_>) {
        for (bias, &(element, index)) in self.bias.iter_mut().zip(&self.deformations) {
            *bias = equations.deformation_acceleration(element, index);
        }
    }
}

/// A motion in the degrees of freedom with which a nodal model starts as one with its loops open, and equations that stand there.
pub(super) fn open_start<'m>(
    nodal: &NodalModel,
    start: &Motion,
    open: &'m Mechanism,
) -> Result<(Equations<'m>, Motion), NodalError> {
    let drives = nodal.drives(nodal.start_s);
    let mut closed = Equations::new(&nodal.mechanism)?;
    closed.place(&start.position, &drives)?;
    closed.set_velocity(&start.velocity, &drives);
    closed.exchanged(open, start, &drives)
}

/// A motion with loops open as one with its loops closed, in the degrees of freedom that suit it.
pub(super) fn closed_motion(
    nodal: &NodalModel,
    mut open: Equations<'_>,
    drives: &[Drive],
    motion: NodalMotion,
) -> Result<NodalMotion, NodalError> {
    open.place(&motion.position, drives)?;
    let opened = Motion {
        position: motion.position,
        velocity: motion.velocity,
    };
    let (chart, equations, closed) = nodal.charted(&open, &opened, drives)?;
    let mut memory = equations.memory();
    chart.remember(nodal, &mut memory);
    // whatever is a degree of freedom of a chart is one where loops are open
    let of_open = |dof: usize| match chart.mechanism.dof_deformation(dof) {
        Some((element, index)) => open.mechanism().deformation_dof(element, index),
        None => Some(dof),
    };
    let accelerations = (0..chart.mechanism.dof_count()).filter_map(of_open);
    Ok(NodalMotion {
        time_s: motion.time_s,
        memory,
        position: closed.position,
        velocity: closed.velocity,
        acceleration: accelerations.map(|dof| motion.acceleration[dof]).collect(),
        control: motion.control.clone(),
    })
}
