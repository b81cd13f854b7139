//! Arrays of Python as slices, with any number of leading axes.

use numpy::{
    BorrowError, IntoPyArray, PyArray, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyReadwriteArrayDyn, PyUntypedArrayMethods, get_array_module,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::OrRefuse;

/// An array that is handed to Python.
pub(crate) type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// An array as one piece of memory; itself where it is one already.
pub(crate) fn contiguous<'py>(any: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    if let Ok(array) = any.cast::<PyArrayDyn<f64>>()
        && array.is_c_contiguous()
    {
        return Ok(array.try_readonly()?);
    }
    if any.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(
            "expected an array of numbers, not a dictionary; mechanism.state({…}) makes a state of values by name",
        ));
    }
    let module = get_array_module(any.py())?;
    let array = module
        .getattr("ascontiguousarray")?
        .call1((any, "float64"))?;
    // a number becomes an array with one axis
    let array = array.cast_into::<PyArrayDyn<f64>>()?;
    Ok(array.try_readonly()?)
}

/// A number that is one.
pub(crate) fn finite(what: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(PyValueError::new_err(format!(
            "{what} is {value}, expected a finite number"
        )))
    }
}

/// Refuses a span of time that is none.
pub(crate) fn positive(what: &str, value: f64) -> PyResult<()> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(PyValueError::new_err(format!(
            "{what} is {value}, expected a positive number of seconds"
        )))
    }
}

/// Refuses a mechanism in which nothing can move.
pub(crate) fn refuse_without_coordinates(count: usize) -> PyResult<()> {
    match count {
        0 => Err(PyValueError::new_err("the mechanism has no coordinates")),
        _ => Ok(()),
    }
}

/// The leading axes of rows of a width.
pub(crate) fn leading<'a>(what: &str, shape: &'a [usize], width: usize) -> PyResult<&'a [usize]> {
    match shape.split_last() {
        Some((&last, leading)) if last == width => Ok(leading),
        _ => Err(PyValueError::new_err(format!(
            "{what} has the shape {shape:?}; its last axis must have {width} entries"
        ))),
    }
}

/// Rows that go with leading axes: as many, or one for all.
pub(crate) fn rows<'a>(
    what: &str,
    array: &'a PyReadonlyArrayDyn<'_, f64>,
    axes: &[usize],
    width: usize,
) -> PyResult<&'a [f64]> {
    let own = leading(what, array.shape(), width)?;
    if !own.is_empty() && own != axes {
        return Err(PyValueError::new_err(format!(
            "{what} has the leading axes {own:?}, which must be none or those of the states, {axes:?}"
        )));
    }
    numbers(array)
}

/// The numbers of an array in one piece.
pub(crate) fn numbers<'a>(array: &'a PyReadonlyArrayDyn<'_, f64>) -> PyResult<&'a [f64]> {
    array.as_slice().or_refuse()
}

/// The array that results go to: the one that was given, or a new one.
pub(crate) fn result<'py>(
    py: Python<'py>,
    given: Option<&Bound<'py, PyAny>>,
    shape: &[usize],
) -> PyResult<Array<'py>> {
    let Some(given) = given else {
        return Ok(PyArray::zeros(py, shape.to_vec(), false));
    };
    let array = given
        .cast::<PyArrayDyn<f64>>()
        .map_err(|_| PyTypeError::new_err("out must be an array of float64"))?;
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!(
            "out has the shape {:?}, and the result {shape:?}",
            array.shape()
        )));
    }
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err(
            "out must be C-contiguous; take numpy.empty of the shape",
        ));
    }
    Ok(array.clone())
}

/// A result that is about to be filled.
pub(crate) fn filling<'py>(array: &Array<'py>) -> PyResult<PyReadwriteArrayDyn<'py, f64>> {
    array.try_readwrite().map_err(|error| {
        PyValueError::new_err(match error {
            BorrowError::AlreadyBorrowed => {
                "out shares its memory with what is evaluated; give an array of its own"
            }
            _ => "out cannot be written to",
        })
    })
}

/// The numbers of a result, to be written.
pub(crate) fn written<'a>(array: &'a mut PyReadwriteArrayDyn<'_, f64>) -> PyResult<&'a mut [f64]> {
    array.as_slice_mut().or_refuse()
}

/// Numbers as an array of a shape.
pub(crate) fn shaped<'py>(
    py: Python<'py>,
    values: Vec<f64>,
    shape: &[usize],
) -> PyResult<Array<'py>> {
    values.into_pyarray(py).reshape(shape.to_vec())
}
