//! When to warn.

use std::f64::consts::TAU;

use lissom_core::{AxisName, MISSING_STIFFNESS, NominalDrives, STIFFENING};
use lissom_numerics::integrate::{Flow, fastest_rate};
use lissom_spec::spec::InitialSpec;
use lissom_tree::tree::{Kinematics, without_inertia};

use super::driven::integrator;
use super::{BodySummary, LoopsSummary, Oscillation, Warning, supports};
use crate::mechanism::Mechanism;
use crate::model::Model;
use crate::simulate::{extent, unstiffened};

/// A link of a machine that rings no lower than this, 5 kHz, has wrong units, or is rigid for all that is simulated: a steel ruler of 30 cm
/// in thousandths of its unit does at 9 kHz.
const HIGH_RAD_PER_S: f64 = TAU * 5e3;
/// A link of a machine is no longer than this: a drawing in millimetres that is read in metres is.
const LONGEST_M: f64 = 100.0;
/// How far a joint may start from its nominal motion without being remarked on: a part of where that begins, and radians or metres.
const ON_NOMINAL: (f64, f64) = (1e-3, 1e-6);
/// Radians of the fastest oscillation that an explicit method passes in a step, at most.
const RADIANS_PER_STEP: f64 = 5.0;
/// Steps beyond which an explicit method is slow.
const MANY_STEPS: f64 = 1e5;
/// The same where the fastest mode of the whole mechanism tells, and an implicit method takes hundreds.
const STIFF_STEPS: f64 = 5e4;
/// Degrees of freedom of nodes and elements, and equations of closures, up to which equations of motion are evaluated for it.
const MANY_FREEDOMS: usize = 150;

impl Mechanism {
    /// Everything that may go wrong.
    pub(super) fn warnings(
        &self,
        bodies: &[BodySummary],
        loops: Option<&LoopsSummary>,
    ) -> Vec<Warning> {
        let (spec, tree) = (self.spec(), self.tree());
        let mut warnings = Vec::new();
        if loops.is_some_and(|loops| loops.singular_start) {
            warnings.push(Warning::SingularStart);
        }
        if loops.is_some_and(|loops| is_immobile(tree, loops)) {
            warnings.push(Warning::Immobile);
        } else if loops.is_none() && !spec.is_of_nodes() && has_no_freedom(tree) {
            warnings.push(Warning::NoFreedom);
        } else if self.starts_at_rest() {
            warnings.push(Warning::AtRest);
        }
        if let Some(coordinate) = massless(tree).or_else(|| weightless(bodies)) {
            warnings.push(Warning::NoInertia { coordinate });
        }
        let span = [
            spec.simulation.start_s,
            spec.simulation.start_s + spec.simulation.duration_s,
        ];
        warnings.extend(supports::warnings(tree, span));
        match self.nominal_drives(&[spec.simulation.start_s], &mut |_| Flow::Continue) {
            Err(error) => warnings.push(error.into()),
            Ok(drives) => {
                let redundant = |explanation| Warning::RedundantDrives { explanation };
                let all = drives.iter().filter_map(NominalDrives::warning);
                warnings.extend(all.map(redundant));
            }
        }
        warnings.extend(self.off_nominal());
        for body in tree.linkage.system.bodies() {
            let frequency = body.flexible.as_ref().and_then(unstiffened);
            warnings.extend(frequency.map(|frequency| Warning::DoesNotStiffen {
                body: body.name.clone(),
                rotation_rad_per_s: frequency * (MISSING_STIFFNESS / STIFFENING).sqrt(),
            }));
            // beams say their units key by key, files of other programs do not
            let from_file = body
                .flexible
                .as_ref()
                .filter(|own| own.centreline.is_none());
            let large = from_file.map(extent).filter(|&extent| extent > LONGEST_M);
            warnings.extend(large.map(|extent_m| Warning::Large {
                body: body.name.clone(),
                extent_m,
            }));
            let lowest = from_file.and_then(|own| own.frequencies().ok()?.first().copied());
            let high = lowest.filter(|&lowest| lowest.is_finite() && lowest > HIGH_RAD_PER_S);
            warnings.extend(high.map(|frequency| Warning::RingsHigh {
                body: body.name.clone(),
                frequency_hz: frequency / TAU,
            }));
        }
        // nodes of a model that consists of them are recorded by themselves
        if spec.marker.is_empty() && !spec.is_of_nodes() {
            warnings.push(Warning::NoMarker);
        }
        let fastest = self.formulation().fastest_oscillation(bodies);
        let oscillation = fastest.and_then(|fastest| self.many_steps(fastest));
        warnings.extend(oscillation.or_else(|| self.stiffness(loops)));
        let of_fidelity = self.fidelity_warnings().into_iter();
        warnings.extend(of_fidelity.map(Warning::Fidelity));
        warnings
    }

    /// Whether the mechanism starts in equilibrium and at rest, with nothing that drives it.
    fn starts_at_rest(&self) -> bool {
        let spec = self.spec();
        let is_driven = !spec.input.is_empty() || !spec.motion.is_empty();
        // a load that is let go, and a deviation from a motion, are none of the written start
        let starts_elsewhere = matches!(
            spec.simulation.initial,
            InitialSpec::StaticLoad(_) | InitialSpec::QuasiStatic
        );
        if is_driven || starts_elsewhere {
            return false;
        }
        self.bodies_or_nodes().is_balanced_at_start()
    }

    /// Joints that inputs or controllers take along the nominal motion and that start elsewhere, or at another rate.
    fn off_nominal(&self) -> Vec<Warning> {
        if self.spec().simulation.initial == InitialSpec::QuasiStatic {
            // it starts from the nominal motion itself
            return Vec::new();
        }
        if !self.spec().is_of_nodes() && self.tree().actions.on_trajectory().is_empty() {
            return Vec::new();
        }
        let Ok((start, mut dynamics)) = self.bodies_or_nodes().equations_at_start() else {
            return Vec::new();
        };
        let nominal = dynamics.parts().nominal;
        if nominal.is_empty() {
            return Vec::new();
        }
        dynamics.evaluate(start.time_s, &start.position, &start.rates());
        let off = |(axis, name): (_, AxisName)| {
            let (starts, nominal) = (dynamics.axis(axis), dynamics.nominal_axis(axis));
            let is_off = |&at: &usize| {
                let allowed = ON_NOMINAL.0 * nominal[at].abs() + ON_NOMINAL.1;
                (starts[at] - nominal[at]).abs() > allowed
            };
            let at = [0, 1].into_iter().find(is_off)?;
            Some(Warning::StartsOffNominal {
                coordinate: match at {
                    0 => name.coordinate(),
                    _ => format!("{}.rate", name.coordinate()),
                },
                unit: name.units()[at],
                starts: starts[at],
                nominal: nominal[at],
            })
        };
        nominal.into_iter().filter_map(off).collect()
    }

    /// What to say of an oscillation that an explicit integrator follows in many steps.
    fn many_steps(&self, fastest: Oscillation) -> Option<Warning> {
        let simulation = &self.spec().simulation;
        let (integrator, is_explicit) = integrator(&simulation.integrator);
        let steps = fastest.frequency_rad_per_s * simulation.duration_s / RADIANS_PER_STEP;
        (is_explicit && steps > MANY_STEPS).then_some(Warning::ManySteps {
            fastest,
            integrator,
            steps,
        })
    }

    /// What to say of a mode of the whole mechanism that an explicit integrator follows in many steps.
    fn stiffness(&self, loops: Option<&LoopsSummary>) -> Option<Warning> {
        let simulation = &self.spec().simulation;
        let (integrator, is_explicit) = integrator(&simulation.integrator);
        let size = match self.formulation().element_counts() {
            Some(nodal) => nodal.degrees_of_freedom,
            None => loops.map_or(0, |loops| loops.equations),
        };
        if !is_explicit || size > MANY_FREEDOMS {
            return None;
        }
        let (start, mut dynamics) = self.formulation().equations_at_start().ok()?;
        let rate_per_s = fastest_rate(&mut *dynamics, start.time_s, &start.packed())?;
        let steps = rate_per_s * simulation.duration_s / RADIANS_PER_STEP;
        (steps > STIFF_STEPS).then_some(Warning::Stiff {
            rate_per_s,
            integrator,
            steps,
        })
    }
}

/// Whether loops leave nothing that could move.
fn is_immobile(tree: &Model, loops: &LoopsSummary) -> bool {
    let mut bodies = tree.linkage.system.bodies().iter();
    let is_elastic = bodies.any(|body| body.modes() > 0);
    loops.rigid_degrees_of_freedom == 0 && !is_elastic && tree.transmissions.is_empty()
}

/// Whether no joint moves and no body deforms.
fn has_no_freedom(tree: &Model) -> bool {
    tree.linkage.system.velocity_count() == 0 && tree.transmissions.is_empty()
}

/// A body some of whose functions move no mass, so that they would vibrate infinitely fast.
fn weightless(bodies: &[BodySummary]) -> Option<String> {
    let is_weightless = |body: &&BodySummary| {
        let mut frequencies = body.frequencies_rad_per_s.iter();
        frequencies.any(|frequency| !frequency.is_finite())
    };
    let body = bodies.iter().find(is_weightless)?;
    Some(format!("a deformation of {}", body.name))
}

/// Name of a velocity at the start that is free to change and moves no mass.
fn massless(tree: &Model) -> Option<String> {
    let system = &tree.linkage.system;
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, &tree.initial_position, &tree.initial_velocity);
    let at = without_inertia(system, &kinematics)?;
    Some(tree.linkage.velocities[at].name.clone())
}
