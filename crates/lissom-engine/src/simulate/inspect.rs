//! What a tree tells of its equations before they are integrated.

use std::collections::BTreeMap;

use lissom_core::{Dynamics, RunError, State};
use lissom_spec::spec::{BasisSpec, BeamSpec, BodyKind, BodySpec, Membrane, Slopes, Twist};
use lissom_spec::{Elasticity, ModelSpec};
use lissom_tree::Body;
use lissom_tree::tree::{Kinematics, center_of_mass};

use super::equations::{Equations, written_state};
use crate::diagnose::{BodySummary, FidelityWarning, Inspect, Oscillation, stays_at_rest};
use crate::model::Model;

impl Inspect for Model {
    fn equations_at_start(&self) -> Result<(State, Box<dyn Dynamics + '_>), RunError> {
        let start = written_state(self, self.start_s);
        let equations = Equations::by_multipliers(self, &start);
        equations.refuse_open(start.time_s)?;
        Ok((start, Box::new(equations)))
    }

    fn is_balanced_at_start(&self) -> bool {
        if self.linkage.closures.is_empty() {
            return stays_at_rest(self.equations_at_start());
        }
        // forces tell as much as accelerations do, and loops that have nothing in common do not meet in them
        let start = written_state(self, self.start_s);
        let is_still = start.velocity.iter().all(|&rate| rate == 0.0);
        is_still && Equations::of_open_tree(self, &start).is_balanced(&start)
    }

    fn mass_at_start(&self) -> (f64, [f64; 3]) {
        let system = &self.linkage.system;
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, &self.initial_position, &self.initial_velocity);
        kinematics.update_poses(system);
        let center = center_of_mass(system, &kinematics);
        (
            system.bodies().iter().map(|body| body.rigid.mass).sum(),
            // adding zero turns a negative zero into zero
            center.map_or([f64::NAN; 3], |center| center.0.map(|x| x + 0.0)),
        )
    }

    fn fastest_oscillation(&self, bodies: &[BodySummary]) -> Option<Oscillation> {
        let gears = (self.transmissions.iter().zip(&self.actions.gears))
            .map(|(motor, gear)| (&motor.name, (gear.stiffness / motor.inertia).sqrt()));
        let elastic = (bodies.iter())
            .filter_map(|body| Some((&body.name, *body.frequencies_rad_per_s.last()?)));
        // what moves no mass has no frequency; it is told by itself
        let oscillations = elastic.chain(gears).filter(|(_, rate)| rate.is_finite());
        let fastest = oscillations.max_by(|a, b| a.1.total_cmp(&b.1));
        fastest.map(|(what, frequency_rad_per_s)| Oscillation {
            what: what.clone(),
            frequency_rad_per_s,
            remedy: "keep fewer modes",
        })
    }

    fn fidelity_warnings(&self, spec: &ModelSpec) -> Vec<FidelityWarning> {
        let specs: BTreeMap<&str, &BodySpec> = (spec.body.iter())
            .map(|body| (body.name.as_str(), body))
            .collect();
        let beam = |name: &str| match specs.get(name)?.kind()? {
            BodyKind::Beam(beam) => Some(beam),
            _ => None,
        };
        let bodies = self.linkage.system.bodies().iter();
        let elastic = bodies.filter_map(|body| elasticity_warning(body, beam(&body.name)));
        elastic.chain(jumping_slopes(self, spec)).collect()
    }
}

/// What to say of the elasticity switch on a body.
fn elasticity_warning(built: &Body, beam: Option<&BeamSpec>) -> Option<FidelityWarning> {
    let flexible = built.flexible.as_ref()?;
    let elasticity = built.fidelity.elasticity;
    if elasticity == Elasticity::Linear {
        return None;
    }
    let body = built.name.clone();
    let Some(strain) = &flexible.strain else {
        return Some(FidelityWarning::NoAxialStrain { body });
    };
    let moves = |component| strain.component.contains(&Some(component));
    let bends = moves(1) || moves(2);
    match (elasticity, moves(0)) {
        (Elasticity::ConstantAxialLoad | Elasticity::ThirdOrder, false) => {
            Some(FidelityWarning::NoStretch { body })
        }
        (Elasticity::ThirdOrder, true) if bends => Some(FidelityWarning::Unbounded { body }),
        (Elasticity::Full, false) if bends => Some(FidelityWarning::Locked { body }),
        (Elasticity::Full, true) if bends && beam.is_some_and(locks) => {
            Some(FidelityWarning::MembraneLocking { body })
        }
        _ => None,
    }
}

/// Whether the axial functions cannot make the strain of a bent beam vanish.
fn locks(beam: &BeamSpec) -> bool {
    match &beam.basis {
        BasisSpec::Elements(nodal) => nodal.membrane == Membrane::Pointwise,
        basis => !basis.foreshortens(),
    }
}

/// Supports that hold direction or twist of a beam with nodes on its way.
fn jumping_slopes(tree: &Model, spec: &ModelSpec) -> Vec<FidelityWarning> {
    let bodies = tree.linkage.system.bodies();
    let has_nodes = |name: &str| {
        let beam = bodies.iter().find(|body| body.name == name);
        let flexible = beam.and_then(|beam| beam.flexible.as_ref());
        let line = flexible.and_then(|flexible| flexible.centreline.as_ref());
        line.is_some_and(|line| !line.breaks().is_empty())
    };
    let mut found = Vec::new();
    for support in &spec.support {
        let (slope, twist) = (support.slopes == Slopes::Tied, support.twist == Twist::Tied);
        if !(slope || twist) || !has_nodes(&support.beam) {
            continue;
        }
        let names = || (support.name.clone(), support.beam.clone());
        if slope {
            let (support, beam) = names();
            found.push(FidelityWarning::JumpingSlope { support, beam });
        }
        if twist {
            let (support, beam) = names();
            found.push(FidelityWarning::JumpingTwist { support, beam });
        }
    }
    found
}
