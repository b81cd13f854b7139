//! States of motion at which a nodal model is linearised, and what its sensors see there.

use lissom_core::read_outputs;
use lissom_nodal::{Equations, Readings, View};
use lissom_numerics::Memory;
use lissom_spatial::Real;

use super::NodalModel;
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
    pub(super) fn change_to(&mut self, chart: Chart<'m>, equations: Equations<'m>) {
        self.chart = chart;
        self.equations = equations.clone();
        self.dynamics.set_equations(equations);
    }
}

/// What sensors read that are outputs of linear models.
impl Readings for NodalModel {
    fn read<T: Real>(&self, nodes: &mut View<'_, T>, readings: &mut Vec<T>) {
        let mut view = NodalView { nodal: self, nodes };
        read_outputs(&self.actions.sensors, &mut view, readings);
    }
}
