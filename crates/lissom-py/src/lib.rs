//! `lissom._native`: the binding behind the Python package in `python/lissom`.
//!
//! Functions check and convert what they are given and hand over to `lissom` and `lissom-io`; no equations are here. What users see,
//! with its documentation, is written in Python around these classes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments of functions that Python calls are values"
)]

mod arrays;
mod batch;
mod body;
mod error;
mod evaluation;
mod fit;
mod loops;
mod mechanism;
mod model;
mod recording;
mod response;
mod run;
mod simulator;
mod state;
mod study;
mod sweep;
mod threads;
mod watch;
mod workspace;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command, with its arguments; the first is its own name.
#[pyfunction]
fn main_with(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lissom_cli::main_with(arguments))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<batch::BatchSimulator>()?;
    module.add_class::<body::Body>()?;
    module.add_class::<mechanism::Mechanism>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<simulator::Simulator>()?;
    module.add_class::<state::State>()?;
    module.add_class::<sweep::SweepFolder>()?;
    module.add_class::<watch::Stop>()?;
    module.add_function(wrap_pyfunction!(main_with, module)?)?;
    module.add_function(wrap_pyfunction!(model::json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(model::shipped_models, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fitted, module)?)?;
    module.add_function(wrap_pyfunction!(loops::closed_evaluation, module)?)?;
    module.add_function(wrap_pyfunction!(loops::placed, module)?)?;
    module.add_function(wrap_pyfunction!(recording::measured, module)?)?;
    module.add_function(wrap_pyfunction!(recording::read_recording, module)?)?;
    module.add_function(wrap_pyfunction!(recording::stepped_summary, module)?)?;
    module.add_function(wrap_pyfunction!(recording::write_page, module)?)?;
    module.add_function(wrap_pyfunction!(recording::write_recording, module)?)?;
    module.add_function(wrap_pyfunction!(recording::write_run, module)?)?;
    module.add_function(wrap_pyfunction!(response::responded, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(study::find_equilibrium, module)?)?;
    module.add_function(wrap_pyfunction!(study::linearized, module)?)?;
    module.add_function(wrap_pyfunction!(study::find_modes, module)?)?;
    module.add_function(wrap_pyfunction!(study::inverted, module)?)?;
    module.add_function(wrap_pyfunction!(study::perturbed, module)?)?;
    module.add_function(wrap_pyfunction!(study::converged, module)?)?;
    module.add_function(wrap_pyfunction!(study::compared, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::drawn, module)?)?;
    module.add_function(wrap_pyfunction!(batch::rolled, module)?)?;
    module.add_function(wrap_pyfunction!(threads::limit_threads, module)?)?;
    module.add_function(wrap_pyfunction!(workspace::end_effector, module)?)?;
    module.add_function(wrap_pyfunction!(workspace::mapped, module)?)?;
    Ok(())
}
