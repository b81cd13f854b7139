//! States of motion at which a nodal model is linearised, and what its sensors see there.

use lissom_core::State;
use lissom_nodal::{Equations, Forces, NodalError};
use lissom_numerics::Memory;

use super::charts::Chart;
use super::nominal::NodalLinearizer;
use super::view::NodalView;

/// A state of motion of a nodal model with its accelerations.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalMotion {
    pub(super) time_s: f64,
    /// What the state remembers, its chart among it; nothing if it is a start of its own.
    pub(super) memory: Memory,
    pub(super) position: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    pub(super) acceleration: Vec<f64>,
    /// States of controllers and actuators; none stands for zeros.
    pub(super) control: Vec<f64>,
}

impl<'m> NodalLinearizer<'m> {
    /// Goes on in a chart with equations that stand somewhere.
    pub(super) fn enter(&mut self, chart: Chart<'m>, equations: Equations<'m>) {
        self.chart = chart;
        self.equations = equations.clone();
        self.dynamics.set_equations(equations);
    }

    /// What sensors see at a state of the chart chosen.
    pub(super) fn look(&mut self, state: &State) -> Result<Vec<f64>, NodalError> {
        let (nodal, drives) = (self.nodal, self.nodal.drives(state.time_s));
        self.equations.place(&state.position, &drives)?;
        self.equations.set_velocity(&state.velocity, &drives);
        let mut unused = Forces::new(self.chart.mechanism);
        let nodes = &mut self.equations.view(&mut unused);
        let (mut view, mut seen) = (NodalView { nodal, nodes }, Vec::new());
        for sensor in &nodal.actions.sensors {
            sensor.see(&mut view, &mut seen);
        }
        Ok(seen)
    }
}
