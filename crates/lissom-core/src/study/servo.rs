//! Gains of the controllers of a model on the actuated coordinates of linearised equations.

use lissom_numerics::linear::{LinearizedTrajectory, Servo};
use lissom_spec::ModelSpec;
use lissom_spec::spec::ControllerSpec;

use super::{AnalysisError, Linearized};
use crate::action::{ControlLaw, Pid};

/// Coordinates that inputs drive and no controller does.
pub(super) fn uncontrolled(linearized: &Linearized) -> Vec<usize> {
    let independent = &linearized.trajectory.coordinates().independent;
    let is_controlled = |dof: &usize| {
        let mut coordinates = linearized.controlled.iter().flatten();
        coordinates.any(|&coordinate| independent[*dof] == coordinate)
    };
    let driven = linearized.driven.iter().copied();
    driven.filter(|dof| !is_controlled(dof)).collect()
}

/// Refuses controllers with states and actuators with limits or a response time, for studies that have only gains.
pub(super) fn refuse_control_states(
    spec: &ModelSpec,
    study: &'static str,
    remedy: &'static str,
) -> Result<(), AnalysisError> {
    let with_states = |controller: &&ControllerSpec| {
        let is_gain = |law: &ControlLaw| match law {
            ControlLaw::Joint { .. } | ControlLaw::Computed { .. } => true,
            ControlLaw::Pid(_) | ControlLaw::StateSpace(_) => false,
        };
        controller.sampled.is_some()
            || !ControlLaw::of(spec, controller).is_some_and(|law| is_gain(&law))
    };
    let controller = spec.controller.iter().find(with_states);
    let name = (controller.map(|controller| &controller.name))
        .or_else(|| spec.actuator.first().map(|actuator| &actuator.name));
    match name {
        None => Ok(()),
        Some(what) => Err(AnalysisError::ControlStates {
            what: what.clone(),
            study,
            remedy,
        }),
    }
}

/// Places of the axes of every controller among the actuated coordinates of a stretch; `controlled` are places among all coordinates.
///
/// # Errors
/// When loops solve for one of them.
pub(super) fn members(
    spec: &ModelSpec,
    trajectory: &LinearizedTrajectory,
    controlled: &[Vec<usize>],
) -> Result<Vec<Vec<usize>>, AnalysisError> {
    let independent = &trajectory.coordinates().independent;
    let place = |coordinate: &usize| {
        let mut actuated = trajectory.actuated().iter();
        actuated.position(|&dof| independent[dof] == *coordinate)
    };
    let of_controller = |(controller, coordinates): (&ControllerSpec, &Vec<usize>)| {
        let members: Vec<usize> = coordinates.iter().filter_map(place).collect();
        // gains belong to joints by their place
        if members.len() < spec.driven_by(controller).count() {
            return Err(AnalysisError::SolvedFor {
                controller: controller.name.clone(),
            });
        }
        Ok(members)
    };
    let controllers = spec.controller.iter();
    controllers.zip(controlled).map(of_controller).collect()
}

/// The gains of the controllers of a model on the actuated coordinates of a stretch, without their states; `controlled` are places among
/// all coordinates.
pub(super) fn servos(
    spec: &ModelSpec,
    trajectory: &LinearizedTrajectory,
    controlled: &[Vec<usize>],
) -> Result<Vec<Servo>, AnalysisError> {
    let members = members(spec, trajectory, controlled)?;
    let servo = |(controller, members): (&ControllerSpec, Vec<usize>)| {
        Some(match ControlLaw::of(spec, controller)? {
            ControlLaw::Joint { position, rate } => Servo::constant(members, &position, &rate),
            ControlLaw::Computed { frequency, damping } => {
                Servo::computed(trajectory, members, frequency, damping)
            }
            ControlLaw::Pid(Pid {
                position,
                mut rate,
                filter,
                ..
            }) => {
                if filter.is_some() {
                    rate.fill(0.0);
                }
                Servo::constant(members, &position, &rate)
            }
            ControlLaw::StateSpace(_) => return None,
        })
    };
    let controllers = spec.controller.iter();
    Ok(controllers.zip(members).filter_map(servo).collect())
}
