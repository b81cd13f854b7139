//! A nodal mechanism at one state.

use lissom_core::{Dynamics as _, MarkerId, RunError, State, View as _};

use super::NodalModel;
use super::run::equations_at;
use super::view::NodalView;
use crate::evaluate::{Evaluate, EvaluateOptions, Evaluation, MarkerPose, by_equations};

impl Evaluate for NodalModel {
    fn evaluate(&self, state: &State, options: &EvaluateOptions) -> Result<Evaluation, RunError> {
        let mut equations = equations_at(self, state)?;
        Ok(by_equations(&mut equations, state, options))
    }

    fn marker_poses(&self, state: &State) -> Result<Vec<MarkerPose>, RunError> {
        let mut equations = equations_at(self, state)?;
        equations.evaluate(state.time_s, &state.position, &state.velocity);
        let placed = equations.dynamics.equations();
        let nodes = &mut placed.view(&mut equations.unused);
        let mut view = NodalView { nodal: self, nodes };
        let markers = self.markers.iter().enumerate();
        let poses = markers.map(|(at, marker)| {
            let motion = view.marker(MarkerId(at));
            MarkerPose {
                name: marker.name.clone(),
                pose: motion.pose,
                twist: motion.twist,
            }
        });
        Ok(poses.collect())
    }
}
