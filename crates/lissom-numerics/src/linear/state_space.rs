//! The first-order form $`\dot x = A x + B u`$, $`y = C x + D u`$ of linearised equations, for whoever designs controllers.

use nalgebra::DMatrix;

use super::error::LinearError;
use super::trajectory::{LinearizedTrajectory, Point};

/// Matrices of deviations: states are coordinates, then their rates, then those of controllers and actuators in the loop; outputs are positions of markers, then the
/// coordinates of joints with actuators, those that follow from others included, then readings of sensors.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// $`A`$.
    pub state: DMatrix<f64>,
    /// $`B`$.
    pub input: DMatrix<f64>,
    /// $`C`$.
    pub output: DMatrix<f64>,
    /// $`D`$: what inputs do at once to sensors that measure accelerations.
    pub feedthrough: DMatrix<f64>,
}

/// Names and units of states, inputs and outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalNames {
    /// Of every state.
    pub states: Vec<(String, String)>,
    /// Of every input.
    pub inputs: Vec<(String, String)>,
    /// Of every output.
    pub outputs: Vec<(String, String)>,
}

impl SignalNames {
    /// Of the state space of equations along a motion.
    pub fn new(trajectory: &LinearizedTrajectory) -> Self {
        let labels = trajectory.labels();
        let own = |label: &super::Label| (label.name.clone(), label.unit.to_owned());
        let rates = (labels.coordinates.iter())
            .map(|label| (format!("{}.rate", label.name), label.rate_unit.to_owned()));
        let text = |(name, unit): &(String, &'static str)| (name.clone(), (*unit).to_owned());
        let loop_states = labels.loop_states.iter().map(text);
        let markers = labels.markers.iter().flat_map(|marker| {
            ["x", "y", "z"].map(|axis| (format!("{marker}.position.{axis}"), "m".to_owned()))
        });
        let joints = labels.joints.iter().map(own);
        Self {
            states: (labels.coordinates.iter().map(own).chain(rates))
                .chain(loop_states)
                .collect(),
            inputs: labels.inputs.iter().map(own).collect(),
            outputs: (markers.chain(joints))
                .chain(labels.sensors.iter().map(text))
                .collect(),
        }
    }
}

impl StateSpace {
    /// At one point of a motion.
    ///
    /// # Errors
    /// When the mass matrix is singular.
    pub fn new(trajectory: &LinearizedTrajectory, point: &Point) -> Result<Self, LinearError> {
        let linear = &point.linear;
        let (n, inputs) = (linear.mass.nrows(), linear.input.ncols());
        let factor = linear
            .mass
            .clone()
            .cholesky()
            .ok_or(LinearError::SingularMass { time_s: point.time })?;
        let size = 2 * n + linear.loops.as_ref().map_or(0, |loops| loops.own.nrows());
        // accelerations by the states, and by the inputs
        let mut acceleration = DMatrix::zeros(n, size);
        acceleration
            .view_mut((0, 0), (n, n))
            .copy_from(&-factor.solve(&linear.stiffness()));
        acceleration
            .view_mut((0, n), (n, n))
            .copy_from(&-factor.solve(&linear.damping));
        let pushed = factor.solve(&linear.input);
        let mut state = DMatrix::zeros(size, size);
        for i in 0..n {
            state[(i, n + i)] = 1.0;
        }
        if let Some(loops) = &linear.loops {
            let own = loops.own.nrows();
            acceleration
                .view_mut((0, 2 * n), (n, own))
                .copy_from(&factor.solve(&loops.force));
            for (at, part) in [(0, &loops.position), (n, &loops.rate), (2 * n, &loops.own)] {
                state.view_mut((2 * n, at), part.shape()).copy_from(part);
            }
        }
        state.view_mut((n, 0), (n, size)).copy_from(&acceleration);
        let mut input = DMatrix::zeros(size, inputs);
        input.view_mut((n, 0), (n, inputs)).copy_from(&pushed);
        let markers = 3 * point.outputs.len();
        let joints = trajectory.joint_rows(point);
        let sensors = markers + joints.nrows();
        let rows = &point.sensors;
        let channels = rows.reading.len();
        let outputs = sensors + channels;
        let mut output = DMatrix::zeros(outputs, size);
        for (i, marker) in point.outputs.iter().enumerate() {
            output.view_mut((3 * i, 0), (3, n)).copy_from(&marker.first);
        }
        output
            .view_mut((markers, 0), (joints.nrows(), n))
            .copy_from(&joints);
        let mut measured = &rows.acceleration * &acceleration;
        for (at, part) in [(0, &rows.position), (n, &rows.rate)] {
            let mut own = measured.view_mut((0, at), (channels, n));
            own += part;
        }
        output
            .view_mut((sensors, 0), (channels, size))
            .copy_from(&measured);
        let mut feedthrough = DMatrix::zeros(outputs, inputs);
        feedthrough
            .view_mut((sensors, 0), (channels, inputs))
            .copy_from(&(&rows.acceleration * &pushed));
        Ok(Self {
            state,
            input,
            output,
            feedthrough,
        })
    }
}
