//! What a nodal mechanism tells of its equations before they are integrated.

use lissom_core::study::{Linearize as _, OutputOrder};
use lissom_core::{Dynamics, RunError, State};
use lissom_nodal::Equations;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::UndampedModes;

use super::run::{equations_at, written_state};
use super::{NodalLinearizer, NodalModel};
use crate::diagnose::{BodySummary, ElementCounts, Inspect, Oscillation};

/// Degrees of freedom up to which vibrations are looked at: the eigenproblem is over all of them.
const MANY_FREEDOMS: usize = 150;

impl Inspect for NodalModel {
    fn element_counts(&self) -> Option<ElementCounts> {
        let mechanism = &self.mechanism;
        Some(ElementCounts {
            nodes: mechanism.node_count(),
            elements: mechanism.element_count(),
            degrees_of_freedom: mechanism.dof_count(),
            deformations: (self.elastic_dofs().into_iter())
                .map(|dof| mechanism.dof_name(dof))
                .collect(),
            prescribed: mechanism.drive_count(),
        })
    }

    fn equations_at_start(&self) -> Result<(State, Box<dyn Dynamics + '_>), RunError> {
        let start = written_state(self, self.start_s);
        let equations = equations_at(self, &start)?;
        Ok((start, Box::new(equations)))
    }

    fn mass_at_start(&self) -> (f64, [f64; 3]) {
        let Ok(mut equations) = Equations::new(&self.mechanism) else {
            return (f64::NAN, [f64::NAN; 3]);
        };
        // a mechanism that exists can be where it starts
        let placed = equations.place(&self.initial_position, &self.drives(self.start_s));
        if placed.is_err() {
            return (f64::NAN, [f64::NAN; 3]);
        }
        let (mass, moment) = equations.mass_and_moment();
        (mass, moment.0.map(|x| x / mass + 0.0))
    }

    fn fastest_oscillation(&self, _bodies: &[BodySummary]) -> Option<Oscillation> {
        let is_rigid = self.nodes.is_empty() && self.elastic_dofs().is_empty();
        if is_rigid || self.mechanism.dof_count() > MANY_FREEDOMS {
            return None;
        }
        let mut linearizer = NodalLinearizer::new(self).ok()?;
        let motion = linearizer.moving(&written_state(self, self.start_s)).ok()?;
        let point = linearizer.point(&motion, OutputOrder::First, &mut |_| Flow::Continue);
        let linear = point.ok()?.linear;
        let modes = UndampedModes::new(&linear.mass, &linear.structural).ok()?;
        let square = modes.squares.into_iter().fold(0.0, f64::max);
        Some(Oscillation {
            what: "the finite elements".to_owned(),
            frequency_rad_per_s: square.sqrt(),
            remedy: "take fewer elements",
        })
    }
}
