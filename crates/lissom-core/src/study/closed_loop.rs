//! Linearised equations with the controllers of the model in the loop.

use nalgebra::DMatrix;

use lissom_numerics::linear::{Frozen, LinearizedTrajectory};
use lissom_spec::ModelSpec;

use super::perturb::{servos, uncontrolled};
use super::{AnalysisError, Linearized};

/// What joints do on which inputs or controllers act, for modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrivenJoints {
    /// Whether those that nothing controls are free; otherwise they are held.
    pub free: bool,
    /// Whether controllers close their loops; otherwise their joints are like the others.
    pub closed_loop: bool,
}

/// Linearised equations with $`K_p`$ added to the stiffness and $`K_v`$ to the damping of the joints that controllers of the model lead, Jonker &
/// Aarts (36)–(40). Inputs are what acts beside the controllers.
///
/// # Errors
/// When a controller feeds back what loops solve for, or the independent coordinates change on the way.
pub fn with_controllers(
    spec: &ModelSpec,
    linearized: &Linearized,
) -> Result<Linearized, AnalysisError> {
    let trajectory = &linearized.trajectory;
    if let Some(next) = linearized.further.first() {
        let time_s = next.points().first().map_or(f64::NAN, |point| point.time);
        return Err(AnalysisError::OtherCoordinates { time_s });
    }
    let servos = servos(spec, trajectory, &linearized.controlled)?;
    let actuated = trajectory.actuated();
    let mut points = trajectory.points().to_vec();
    for point in &mut points {
        let mut gains = [(); 2].map(|()| DMatrix::zeros(actuated.len(), actuated.len()));
        for servo in &servos {
            servo.add_position_gain(point.time, &mut gains[0]);
            servo.add_rate_gain(point.time, &mut gains[1]);
        }
        for (i, &row) in actuated.iter().enumerate() {
            for (j, &column) in actuated.iter().enumerate() {
                point.linear.structural[(row, column)] += gains[0][(i, j)];
                point.linear.damping[(row, column)] += gains[1][(i, j)];
            }
        }
    }
    let (labels, coordinates) = (
        trajectory.labels().clone(),
        trajectory.coordinates().clone(),
    );
    Ok(Linearized {
        trajectory: LinearizedTrajectory::new(labels, points, coordinates),
        ..linearized.clone()
    })
}

/// The same frozen at its states, for modes. Joints that inputs drive without a controller are held, or `free`.
///
/// # Errors
/// As [`with_controllers`].
pub fn closed_loop(
    spec: &ModelSpec,
    linearized: &Linearized,
    free: bool,
) -> Result<Frozen, AnalysisError> {
    let closed = with_controllers(spec, linearized)?;
    let held = if free {
        Vec::new()
    } else {
        uncontrolled(linearized)
    };
    Ok(Frozen::new(&closed.trajectory, &held))
}
