//! A mechanism at a marker, and maps of its workspace.

use lissom::Flow;
use lissom::evaluate::{self, EndEffector};
use lissom_io::map::{GridAxis, Map, MapQuantity};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Array, shaped};
use crate::error::{OrRefuse, interruption};
use crate::mechanism::Mechanism;
use crate::state::State;
use crate::study::{answered, at};
use crate::threads::thread_count;
use crate::watch::watched;

/// Stiffness, velocities and lowest frequency at a marker, where the mechanism is in equilibrium near a state with its driven joints held.
#[pyfunction]
pub(crate) fn end_effector<'py>(
    mechanism: &Bound<'py, Mechanism>,
    near: &Bound<'py, State>,
    marker: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, own, near) = at(mechanism, near)?;
    let found = answered(py, |watch| {
        evaluate::end_effector(&own.mechanism, near, marker, watch)
    })?;
    let found =
        found.ok_or_else(|| PyValueError::new_err(format!("no marker {marker:?} on a body")))?;
    let told = PyDict::new(py);
    told.set_item("position_m", PyArray1::from_slice(py, &found.position_m))?;
    told.set_item(
        "compliance_m_per_n",
        shaped(py, compliance(&found).to_vec(), &[3, 3])?,
    )?;
    let stiffness = found.stiffness_n_per_m();
    let stiffness = stiffness.map_or([f64::NAN; 9], flat).to_vec();
    told.set_item("stiffness_n_per_m", shaped(py, stiffness, &[3, 3])?)?;
    told.set_item("is_stable", found.is_stable)?;
    told.set_item("free", found.compliance_m_per_n.err())?;
    let columns = found.jacobian.len();
    let entry = |at: usize| found.jacobian[at % columns][at / columns];
    let jacobian = (0..3 * columns).map(entry).collect();
    told.set_item("jacobian", shaped(py, jacobian, &[3, columns])?)?;
    told.set_item("driven", found.driven)?;
    let frequency = found.frequency_rad_per_s.unwrap_or(f64::NAN);
    told.set_item("frequency_rad_per_s", frequency)?;
    Ok(told)
}

/// A map over two axes, the first of which changes fastest: rows are places of the second one.
#[pyfunction]
pub(crate) fn mapped<'py>(
    mechanism: &Bound<'py, Mechanism>,
    marker: &str,
    axes: [(String, Vec<f64>); 2],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let (py, own) = (mechanism.py(), mechanism.get());
    let [across, upward] = axes.map(|(name, values)| GridAxis::new(&name, values));
    let axes = [across.or_refuse()?, upward.or_refuse()?];
    let (map, interrupted) = watched(py, |watch| {
        let mut watch = |_: usize| -> Flow { watch(0.0) };
        Map::of(
            &own.mechanism,
            marker,
            &axes,
            thread_count(threads),
            &mut watch,
        )
    });
    if let Some(interrupted) = interrupted {
        return Err(interruption(py, interrupted));
    }
    let map = map.or_refuse()?;
    let grid = [axes[1].values.len(), axes[0].values.len()];
    let array = |of: &dyn Fn(usize) -> Vec<f64>, more: &[usize]| -> PyResult<Array<'py>> {
        let values = (0..map.places.len()).flat_map(of).collect();
        shaped(py, values, &[&grid[..], more].concat())
    };
    let told = PyDict::new(py);
    for quantity in MapQuantity::ALL {
        let [name, _] = quantity.label();
        told.set_item(name, array(&|at| vec![map.value(quantity, at)], &[])?)?;
    }
    let position = |at: usize| {
        let found = map.places[at].as_ref();
        found.map_or([f64::NAN; 3], |place| place.position_m).into()
    };
    told.set_item("position_m", array(&position, &[3])?)?;
    let given = |at: usize| {
        let found = map.places[at].as_ref();
        found.map_or([f64::NAN; 9], compliance).into()
    };
    told.set_item("compliance_m_per_n", array(&given, &[3, 3])?)?;
    let errors = map.places.iter().map(|place| place.as_ref().err());
    told.set_item("errors", errors.collect::<Vec<_>>())?;
    told.set_item("units", map.units)?;
    Ok(told)
}

/// The compliance at a place row by row; not a number where nothing holds it.
fn compliance(place: &EndEffector) -> [f64; 9] {
    (place.compliance_m_per_n.as_ref()).map_or([f64::NAN; 9], |own| flat(*own))
}

fn flat(matrix: [[f64; 3]; 3]) -> [f64; 9] {
    std::array::from_fn(|at| matrix[at / 3][at % 3])
}
