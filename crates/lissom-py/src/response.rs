//! Frequency responses of linear models.

use lissom::Transfer;
use lissom_io::response::{Frequencies, Pair, Response, Signals};
use nalgebra::DMatrix;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::shaped;
use crate::study::{answered, parts};

/// Mass, damping, stiffness, inputs and outputs of equations linearised at an instant.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Equations<'py> {
    time_s: f64,
    mass: PyReadonlyArray2<'py, f64>,
    damping: PyReadonlyArray2<'py, f64>,
    stiffness: PyReadonlyArray2<'py, f64>,
    /// The matrix of the first-order form, which has states of controllers too.
    state: PyReadonlyArray2<'py, f64>,
    input: PyReadonlyArray2<'py, f64>,
    output: PyReadonlyArray2<'py, f64>,
    feedthrough: PyReadonlyArray2<'py, f64>,
    /// Names and units.
    inputs: Signals,
    outputs: Signals,
}

/// Frequencies that are named, or how many in a range.
#[derive(FromPyObject)]
pub(crate) struct Asked(Option<Vec<f64>>, Option<[f64; 2]>, usize);

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> DMatrix<f64> {
    let array = array.as_array();
    DMatrix::from_fn(array.nrows(), array.ncols(), |i, j| array[(i, j)])
}

/// The response of linear equations as arrays.
#[pyfunction]
pub(crate) fn responded<'py>(
    py: Python<'py>,
    equations: Equations<'py>,
    frequencies: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let mass = matrix(&equations.mass);
    let transfer = Transfer {
        damping: matrix(&equations.damping),
        stiffness: matrix(&equations.stiffness),
        input: matrix(&equations.input),
        output: matrix(&equations.output),
        feedthrough: matrix(&equations.feedthrough),
        loops: None,
        mass,
    }
    .with_loops_of(&matrix(&equations.state));
    let frequencies = match frequencies {
        Asked(Some(these), ..) => Frequencies::At(these),
        Asked(None, range, count) => Frequencies::Spread { range, count },
    };
    let (signals, time_s) = ([equations.inputs, equations.outputs], equations.time_s);
    let outputs: Vec<usize> = (0..signals[1].len()).collect();
    let found = answered(py, |watch| {
        Response::between(&transfer, signals, &outputs, &frequencies, time_s, watch)
    })?;
    let (inputs, outputs) = (found.inputs.len(), found.outputs.len());
    let told = PyDict::new(py);
    let frequencies = PyArray1::from_slice(py, &found.frequencies);
    told.set_item("frequency_rad_per_s", frequencies)?;
    let values = (0..found.frequencies.len())
        .flat_map(|at| found.pairs.iter().map(move |pair| pair.values[at]));
    let shape = [found.frequencies.len(), outputs, inputs];
    told.set_item("gain", parts(py, values, &shape)?)?;
    let gains = found.pairs.iter().map(|pair| pair.static_gain);
    let gains = gains.map(|gain| gain.unwrap_or(f64::NAN)).collect();
    told.set_item("static_gain", shaped(py, gains, &[outputs, inputs])?)?;
    let poles = found.poles.iter().copied();
    told.set_item("poles", parts(py, poles, &[found.poles.len()])?)?;
    let zeros = |pair: &Pair| parts(py, pair.zeros.iter().copied(), &[pair.zeros.len()]);
    let zeros = found.pairs.iter().map(zeros);
    told.set_item("zeros", zeros.collect::<PyResult<Vec<_>>>()?)?;
    let is_minimum_phase = |pair: &Pair| pair.unstable_zeros().next().is_none();
    let minimum_phase = found.pairs.iter().map(is_minimum_phase);
    told.set_item("minimum_phase", minimum_phase.collect::<Vec<_>>())?;
    Ok(told)
}
