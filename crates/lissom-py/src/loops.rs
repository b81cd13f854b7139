//! Where markers are to be, and the equations with loops closed.

use lissom::evaluate::{EvaluateOptions, MarkerTarget, Targets};
use lissom::spec::TwistComponent;
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{contiguous, finite, leading, numbers, shaped};
use crate::error::OrRaise;
use crate::mechanism::{Mechanism, not_there};
use crate::state::State;
use crate::study::at;

/// The state nearest to another in which markers are where they should be and loops close. Joints that are `held` stay.
#[pyfunction]
pub(crate) fn placed(
    mechanism: &Bound<'_, Mechanism>,
    near: &Bound<'_, State>,
    markers: Vec<(String, String, f64, f64)>,
    held: Vec<String>,
) -> PyResult<State> {
    let (py, own, near) = at(mechanism, near)?;
    let target = |(marker, key, position, rate): (String, String, f64, f64)| {
        let component = TwistComponent::ALL.into_iter().find(|own| own.key() == key);
        let component = component.ok_or_else(|| {
            PyValueError::new_err(format!(
                "marker {marker:?} has no component {key:?}; there are {}",
                TwistComponent::ALL.map(TwistComponent::key).join(", ")
            ))
        })?;
        Ok(MarkerTarget {
            position: finite(&format!("{key} of marker {marker:?}"), position)?,
            rate: finite(&format!("the rate of {key} of marker {marker:?}"), rate)?,
            marker,
            component,
        })
    };
    let targets = Targets {
        held,
        markers: markers.into_iter().map(target).collect::<PyResult<_>>()?,
    };
    let found = py.detach(|| own.mechanism.configured(near, &targets));
    let found = found.map_err(|error| not_there(&error))?;
    let state = found.map_or_else(|| near.clone(), |found| found.state);
    Ok(State::new(mechanism, state))
}

/// The equations of a mechanism with its loops closed, and what its closures carry.
#[pyfunction]
pub(crate) fn closed_evaluation<'py>(
    mechanism: &Bound<'py, Mechanism>,
    state: &Bound<'py, State>,
    force: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, own, state) = at(mechanism, state)?;
    let [_, n] = own.free(py)?.counts();
    let force = match force {
        None => Vec::new(),
        Some(force) => {
            let array = contiguous(force)?;
            match leading("force", array.shape(), n)? {
                [] => numbers(&array)?.to_vec(),
                _ => return Err(PyValueError::new_err("one state has one row of forces")),
            }
        }
    };
    let options = EvaluateOptions {
        force,
        acceleration: None,
    };
    let found = py.detach(|| own.mechanism.evaluate(state, &options));
    let closed = match found.or_raise(py)?.closed {
        Some(Ok(closed)) => closed,
        Some(Err(error)) => return Err(PyValueError::new_err(error.to_string())),
        None => {
            return Err(PyValueError::new_err(
                "there are no loops that a tree closes; evaluate has all there is of other mechanisms",
            ));
        }
    };
    let speeds = closed.independent.len();
    let told = PyDict::new(py);
    told.set_item("method", closed.method)?;
    let names = closed.independent.into_iter().map(|(name, _)| name);
    told.set_item("independent", names.collect::<Vec<_>>())?;
    told.set_item("complement", shaped(py, closed.complement, &[n, speeds])?)?;
    told.set_item(
        "mass_matrix",
        shaped(py, closed.mass_matrix, &[speeds, speeds])?,
    )?;
    for (name, values) in [
        ("bias", closed.bias),
        ("force", closed.force),
        ("acceleration", closed.acceleration),
    ] {
        told.set_item(name, PyArray1::from_vec(py, values))?;
    }
    let carried = PyDict::new(py);
    for (name, wrench) in (own.mechanism.closure_names().into_iter()).zip(closed.closure_forces) {
        let entries = [wrench.force.0, wrench.moment.0].concat();
        carried.set_item(name, PyArray1::from_vec(py, entries))?;
    }
    told.set_item("closures", carried)?;
    Ok(told)
}
