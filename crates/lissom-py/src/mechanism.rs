//! Mechanisms and their states: names, and what the equations say of states.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lissom::{Coordinate, Evaluator};
use lissom_io::load::Loaded;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{
    contiguous, finite, leading, refuse_without_coordinates, result, rows, shaped, written,
};
use crate::error::{run_error, simulation_error};
use crate::model::Model;
use crate::state::State;

/// A mechanism, with workspaces to evaluate it.
#[pyclass(frozen, subclass, module = "lissom._native")]
#[expect(
    clippy::struct_field_names,
    reason = "the mechanism of the core that everything is handed over to"
)]
pub(crate) struct Mechanism {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) mechanism: Arc<lissom::Mechanism>,
    free: OnceLock<Free>,
}

/// The mechanism with every joint free, as evaluations have it.
struct Free {
    mechanism: Arc<lissom::Mechanism>,
    /// Names, units and kinds of its positions and velocities.
    coordinates: [Vec<Coordinate>; 2],
    markers: Vec<String>,
    /// Workspaces that nobody uses just now.
    idle: Mutex<Vec<Evaluator>>,
}

type Names = Vec<(String, &'static str)>;

fn named(coordinates: &[Coordinate]) -> Names {
    let pairs = coordinates.iter();
    pairs.map(|own| (own.name.clone(), own.unit)).collect()
}

impl Mechanism {
    fn free(&self, py: Python<'_>) -> PyResult<&Free> {
        if let Some(free) = self.free.get() {
            return Ok(free);
        }
        let made = py.detach(|| {
            let evaluator = Evaluator::new(&self.mechanism)?;
            let mechanism = Arc::clone(evaluator.mechanism());
            Ok(Free {
                coordinates: mechanism.coordinates()?,
                markers: evaluator.markers(),
                mechanism,
                idle: Mutex::new(vec![evaluator]),
            })
        });
        let made = made.map_err(|error: lissom::EvaluateError| simulation_error(py, &error))?;
        Ok(self.free.get_or_init(|| made))
    }

    /// Position and velocity of a state with every joint free, side by side.
    fn free_x(&self, py: Python<'_>, free: &Free, state: &State) -> PyResult<Vec<f64>> {
        let its = state.of(self)?;
        let own = self.mechanism.coordinates_at(its);
        let own = own.map_err(|error| simulation_error(py, &error))?;
        let same = |at: usize| {
            let names = own[at].iter().map(|coordinate| &coordinate.name);
            names.eq(free.coordinates[at].iter().map(|c| &c.name))
        };
        if same(0) && same(1) {
            return Ok(state.x());
        }
        let found = self.mechanism.released_state(its, &free.mechanism);
        let found = found.map_err(|error| simulation_error(py, &error))?;
        Ok([found.position, found.velocity].concat())
    }

    /// Evaluates something of every state and returns it as one array, with the leading axes of the states. The interpreter
    /// is free meanwhile.
    fn evaluated<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        asked: &Asked<'_, 'py>,
        evaluate: impl Sync + Fn(&mut Evaluator, &[f64], &[f64], Option<&[f64]>, &mut [f64]),
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let free = self.free(py)?;
        let [n_q, n_v] = free.coordinates.each_ref().map(Vec::len);
        refuse_without_coordinates(n_q + n_v)?;
        let of_state = match states.cast::<State>() {
            Ok(state) => Some(self.free_x(py, free, state.get())?),
            Err(_) => None,
        };
        let array = match of_state {
            Some(_) => None,
            None => Some(contiguous(states)?),
        };
        let (x, axes): (&[f64], &[usize]) = match (&of_state, &array) {
            (Some(x), _) => (x, &[]),
            (None, Some(array)) => {
                let axes = leading("the array of states", array.shape(), n_q + n_v)?;
                let x = array.as_slice();
                (
                    x.map_err(|error| PyValueError::new_err(error.to_string()))?,
                    axes,
                )
            }
            (None, None) => (&[], &[]),
        };
        let with = asked.with.as_ref();
        let with = with
            .map(|(what, array)| rows(what, array, axes, n_v))
            .transpose()?;
        let shape: Vec<usize> = (axes.iter().copied()).chain((asked.shape)(n_v)).collect();
        let size: usize = (asked.shape)(n_v).iter().product();
        let out = result(py, asked.out, &shape)?;
        let mut filled = out.try_readwrite()?;
        let numbers = written(&mut filled)?;
        let made = py.detach(|| {
            let idle = || free.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = idle().pop();
            let mut evaluator = match taken {
                Some(evaluator) => evaluator,
                None => Evaluator::of_released(Arc::clone(&free.mechanism))?,
            };
            for (at, x) in x.chunks_exact(n_q + n_v).enumerate() {
                let (position, velocity) = x.split_at(n_q);
                let with = with.as_ref().map(|rows| rows.row(at));
                let out = &mut numbers[at * size..][..size];
                evaluate(&mut evaluator, position, velocity, with, out);
            }
            idle().push(evaluator);
            Ok(())
        });
        made.map_err(|error: lissom::EvaluateError| simulation_error(py, &error))?;
        drop(filled);
        Ok(out)
    }

    fn marker(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        let markers = &self.free(py)?.markers;
        let found = markers.iter().position(|marker| marker == name);
        found.ok_or_else(|| {
            PyValueError::new_err(format!(
                "there is no marker {name:?}; there are {}",
                markers.join(", ")
            ))
        })
    }

    /// The instant that is given, or that at which the model starts.
    fn instant(&self, time_s: Option<f64>) -> PyResult<f64> {
        let time_s = time_s.unwrap_or(self.loaded.spec.simulation.start_s);
        finite("time_s", time_s)
    }

    /// The instant of an evaluation: the one that is given, or that of a state.
    fn instant_of(&self, states: &Bound<'_, PyAny>, time_s: Option<f64>) -> PyResult<f64> {
        let of_state = || Some(states.cast::<State>().ok()?.get().state.time_s);
        self.instant(time_s.or_else(of_state))
    }
}

/// What is asked of states beside which quantity.
struct Asked<'a, 'py> {
    /// Rows that belong to the states, and what they are called.
    with: Option<(&'static str, numpy::PyReadonlyArrayDyn<'py, f64>)>,
    /// Shape of the answer for one state, by the number of velocities.
    shape: fn(usize) -> Vec<usize>,
    out: Option<&'a Bound<'py, PyAny>>,
}

#[pymethods]
impl Mechanism {
    #[new]
    fn new(model: &Bound<'_, Model>) -> Self {
        let loaded = Arc::clone(&model.get().loaded);
        let mechanism = Arc::new(loaded.mechanism.clone());
        Self {
            loaded,
            mechanism,
            free: OnceLock::new(),
        }
    }

    /// Names and units of the positions and of the velocities of its states.
    #[pyo3(name = "_coordinates")]
    fn coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let found = self.mechanism.coordinates();
        let [positions, velocities] = found.map_err(|error| simulation_error(py, &error))?;
        Ok((named(&positions), named(&velocities)))
    }

    /// The same with every joint free: what arrays of states and forces go by.
    #[pyo3(name = "_free_coordinates")]
    fn free_coordinates(&self, py: Python<'_>) -> PyResult<(Names, Names)> {
        let [positions, velocities] = &self.free(py)?.coordinates;
        Ok((named(positions), named(velocities)))
    }

    /// Everything that can be recorded: name, unit, and whether it is a state, an input, an output or for the audit.
    #[pyo3(name = "_signals")]
    fn signals(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str, String)>> {
        let signals = py.detach(|| self.mechanism.signals());
        let signals = signals.map_err(|error| run_error(py, &error))?;
        let told = |signal: &lissom::Signal| {
            let kind = format!("{:?}", signal.kind).to_lowercase();
            (signal.name.clone(), signal.unit, kind)
        };
        Ok(signals.iter().map(told).collect())
    }

    /// Names of the inputs of the model.
    #[pyo3(name = "_input_names")]
    fn input_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let signals = py.detach(|| self.mechanism.signals());
        let signals = signals.map_err(|error| run_error(py, &error))?;
        Ok(signals.inputs().map(|signal| signal.name.clone()).collect())
    }

    #[pyo3(name = "_markers")]
    fn markers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.free(py)?.markers.clone())
    }

    /// The state in which the model starts: as written, in equilibrium or quasi-static, as `simulation.initial` says.
    fn start(slf: &Bound<'_, Self>) -> PyResult<State> {
        let py = slf.py();
        let own = slf.get();
        let found = py.detach(|| own.mechanism.start());
        let state = found.map_err(|error| run_error(py, &error))?;
        Ok(State::new(slf, state))
    }

    /// The state of some values by name, and of the model for the rest.
    #[pyo3(name = "_state_of")]
    fn state_of(
        slf: &Bound<'_, Self>,
        values: BTreeMap<String, f64>,
        time_s: Option<f64>,
    ) -> PyResult<State> {
        let (py, own) = (slf.py(), slf.get());
        let time_s = own.instant(time_s)?;
        let found = py.detach(|| own.mechanism.state(time_s, &values));
        let state = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(State::new(slf, state))
    }

    /// The state of positions and velocities as they stand in an array, in the order of `positions` and `velocities`.
    #[pyo3(signature = (x, *, time_s=None))]
    fn state_at(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyAny>,
        time_s: Option<f64>,
    ) -> PyResult<State> {
        let own = slf.get();
        let written = own.mechanism.written();
        let (n_q, n_v) = (written.position.len(), written.velocity.len());
        let array = contiguous(x)?;
        if array.shape() != [n_q + n_v] {
            return Err(PyValueError::new_err(format!(
                "a state has {n_q} positions and {n_v} velocities, and the array has the shape {:?}",
                array.shape()
            )));
        }
        let x: Vec<f64> = array.as_array().iter().copied().collect();
        if let Some(at) = x.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "entry {at} of the state is {}, expected a finite number",
                x[at]
            )));
        }
        let (position, velocity) = x.split_at(n_q);
        let time_s = own.instant(time_s)?;
        let state = lissom::State::new(time_s, position.to_vec(), velocity.to_vec());
        Ok(State::new(slf, state))
    }

    /// A state as it was saved.
    #[pyo3(name = "_state_from_json")]
    fn state_from_json(slf: &Bound<'_, Self>, json: &str) -> PyResult<State> {
        State::from_json(slf, json)
    }

    /// A state with every joint free, as evaluations take it: positions, then velocities.
    fn free_state<'py>(&self, state: &Bound<'py, State>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let py = state.py();
        let x = self.free_x(py, self.free(py)?, state.get())?;
        let length = x.len();
        shaped(py, x, &[length])
    }

    /// The mass matrix, n × n, in kg, kg m and kg m² by the units of the velocities. Where loops close, a tree has them cut.
    #[pyo3(signature = (state, *, time_s=None, out=None))]
    fn mass_matrix<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let time_s = self.instant_of(state, time_s)?;
        let asked = Asked {
            with: None,
            shape: |n| vec![n, n],
            out,
        };
        self.evaluated(py, state, &asked, |evaluator, position, _, _, mass| {
            evaluator.mass_matrix(time_s, position, mass);
        })
    }

    /// The generalised force, in N or N m, that holds all accelerations at zero: gravity, springs, friction, velocity terms.
    #[pyo3(signature = (state, *, time_s=None, out=None))]
    fn bias<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let time_s = self.instant_of(state, time_s)?;
        let asked = Asked {
            with: None,
            shape: |n| vec![n],
            out,
        };
        let still = vec![0.0; self.free(py)?.coordinates[1].len()];
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, _, bias| {
                evaluator.inverse_dynamics(time_s, [position, velocity], &still, bias);
            },
        )
    }

    /// Accelerations under a generalised force in N or N m (none if absent), in m/s² or rad/s². Loops stay closed.
    #[pyo3(signature = (state, force=None, *, time_s=None, out=None))]
    fn forward_dynamics<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        force: Option<&Bound<'py, PyAny>>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let time_s = self.instant_of(state, time_s)?;
        let force = force.map(contiguous).transpose()?;
        let asked = Asked {
            with: force.map(|force| ("force", force)),
            shape: |n| vec![n],
            out,
        };
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, force, found| {
                let force = force.unwrap_or(&[]);
                evaluator.forward_dynamics(time_s, [position, velocity], force, found);
            },
        )
    }

    /// The generalised force, in N or N m, of accelerations. Where loops close, a tree has them cut.
    #[pyo3(signature = (state, acceleration, *, time_s=None, out=None))]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        acceleration: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let time_s = self.instant_of(state, time_s)?;
        let asked = Asked {
            with: Some(("acceleration", contiguous(acceleration)?)),
            shape: |n| vec![n],
            out,
        };
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, given, force| {
                let given = given.unwrap_or(&[]);
                evaluator.inverse_dynamics(time_s, [position, velocity], given, force);
            },
        )
    }

    /// Kinetic energy, strain energy, energy of gravity.
    #[pyo3(name = "_energies", signature = (state, *, time_s=None, out=None))]
    fn energies<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let time_s = self.instant_of(state, time_s)?;
        let asked = Asked {
            with: None,
            shape: |_| vec![3],
            out,
        };
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, _, found| {
                let energy = evaluator.energy_and_momentum(time_s, [position, velocity]);
                found.copy_from_slice(&[energy.kinetic, energy.strain, energy.gravity]);
            },
        )
    }

    /// Rotation and position of a marker in the ground frame, as a 4 × 4 matrix; positions in m.
    #[pyo3(signature = (state, marker, *, time_s=None, out=None))]
    fn marker_pose<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (time_s, marker) = (self.instant_of(state, time_s)?, self.marker(py, marker)?);
        let asked = Asked {
            with: None,
            shape: |_| vec![4, 4],
            out,
        };
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, _, found| match evaluator.marker(
                time_s,
                [position, velocity],
                marker,
            ) {
                Some(motion) => {
                    let (rotation, place) = (motion.pose.rotation.0, motion.pose.translation.0);
                    for row in 0..3 {
                        found[4 * row..][..3].copy_from_slice(&rotation[row]);
                        found[4 * row + 3] = place[row];
                    }
                    found[12..].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
                }
                None => found.fill(f64::NAN),
            },
        )
    }

    /// Angular velocity in rad/s and then velocity in m/s of a marker, in ground axes.
    #[pyo3(signature = (state, marker, *, time_s=None, out=None))]
    fn marker_twist<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (time_s, marker) = (self.instant_of(state, time_s)?, self.marker(py, marker)?);
        let asked = Asked {
            with: None,
            shape: |_| vec![6],
            out,
        };
        self.evaluated(
            py,
            state,
            &asked,
            |evaluator, position, velocity, _, found| match evaluator.marker(
                time_s,
                [position, velocity],
                marker,
            ) {
                Some(motion) => {
                    found[..3].copy_from_slice(&motion.twist.angular.0);
                    found[3..].copy_from_slice(&motion.twist.linear.0);
                }
                None => found.fill(f64::NAN),
            },
        )
    }

    /// The twist of a marker for every velocity at one, in ground axes.
    #[pyo3(name = "_ground_jacobian", signature = (state, marker, *, time_s=None, out=None))]
    fn ground_jacobian<'py>(
        &self,
        py: Python<'py>,
        state: &Bound<'py, PyAny>,
        marker: &str,
        time_s: Option<f64>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (time_s, marker) = (self.instant_of(state, time_s)?, self.marker(py, marker)?);
        let asked = Asked {
            with: None,
            shape: |n| vec![6, n],
            out,
        };
        self.evaluated(py, state, &asked, |evaluator, position, _, _, found| {
            evaluator.jacobian(time_s, position, marker, found);
        })
    }
}
