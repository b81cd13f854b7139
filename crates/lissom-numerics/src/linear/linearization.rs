//! Linearised equations of motion at one state, and the names of what they are in.

use nalgebra::DMatrix;

use super::loops::LoopStates;
use super::trajectory::Terms;

/// Coefficients of $`M_0\,\delta\ddot q + C_0\,\delta\dot q + (K_0 + N_0 + G_0)\,\delta q = B\,\delta u`$, eq (21).
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// $`M_0`$, reduced mass matrix.
    pub mass: DMatrix<f64>,
    /// $`C_0`$, velocity sensitivity, damping of the material included.
    pub damping: DMatrix<f64>,
    /// $`K_0`$, structural stiffness: elastic bodies and springs.
    pub structural: DMatrix<f64>,
    /// $`N_0`$, dynamic stiffening.
    pub dynamic: DMatrix<f64>,
    /// $`G_0`$, geometric stiffening, symmetric.
    pub geometric: DMatrix<f64>,
    /// $`B`$: one column per input.
    pub input: DMatrix<f64>,
    /// States of controllers and actuators, where their loops are closed and have any.
    pub loops: Option<LoopStates>,
}

impl Linearization {
    /// $`K_0 + N_0 + G_0`$, eq (25).
    pub fn stiffness(&self) -> DMatrix<f64> {
        &self.structural + &self.dynamic + &self.geometric
    }

    /// Stiffness with the terms taken.
    pub fn stiffness_with(&self, terms: Terms) -> DMatrix<f64> {
        let mut stiffness = self.structural.clone();
        if terms.dynamic {
            stiffness += &self.dynamic;
        }
        if terms.geometric {
            stiffness += &self.geometric;
        }
        stiffness
    }

    /// The equations of some of the degrees of freedom, the others held at rest.
    #[must_use]
    pub fn restricted(&self, dofs: &[usize]) -> Self {
        let pick = |matrix: &DMatrix<f64>| matrix.select_rows(dofs).select_columns(dofs);
        Self {
            mass: pick(&self.mass),
            damping: pick(&self.damping),
            structural: pick(&self.structural),
            dynamic: pick(&self.dynamic),
            geometric: pick(&self.geometric),
            input: self.input.select_rows(dofs),
            loops: (self.loops.as_ref()).map(|loops| loops.restricted(dofs)),
        }
    }
}

/// Names of the degrees of freedom, inputs, joints, markers and states of controllers of linearised equations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// One per degree of freedom.
    pub coordinates: Vec<Label>,
    /// One per input.
    pub inputs: Vec<Label>,
    /// Joints with actuators, whose coordinates are outputs, those that follow from others included.
    pub joints: Vec<Label>,
    /// Markers whose positions are outputs.
    pub markers: Vec<String>,
    /// Channels of sensors that are outputs, with their units.
    pub sensors: Vec<(String, &'static str)>,
    /// States of controllers and actuators in the loop, with their units.
    pub loop_states: Vec<(String, &'static str)>,
}

/// What a number is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name, as in a recording.
    pub name: String,
    /// Unit.
    pub unit: &'static str,
    /// Unit of the rate.
    pub rate_unit: &'static str,
}

impl Label {
    /// A degree of freedom.
    pub fn coordinate(name: String, unit: &'static str, rate_unit: &'static str) -> Self {
        Self {
            name,
            unit,
            rate_unit,
        }
    }
}
