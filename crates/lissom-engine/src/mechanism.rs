//! [`Mechanism`]: what a model is, ready to run; the one place that chooses between the formulations.

use std::collections::{BTreeMap, BTreeSet};

use lissom_core::study::{Equilibrium, Found, Run, SimulateOptions, Watch, simulate};
use lissom_core::{
    Axis, Controlled, Dynamics, NominalDrives, NominalError, PlaceError, Recording, RunError,
    Sensor, Signals, State, StateError, state_of, with_control,
};
use lissom_numerics::integrate::Flow;
use lissom_numerics::{Coordinate, Memory};
use lissom_spec::spec::{FormulationSpec, InitialSpec, SensorSpec, SimulationSpec};
use lissom_spec::{Fidelity, ModelError, ModelSpec, Path, nearest};
use lissom_tree::closure::AssemblyError;

use crate::build_error::BuildError;
use crate::formulation::Formulation;
use crate::model::{ChosenFunctions, Model, chosen_bases, rigid_counterpart};
use crate::nodal_model::{NodalModel, NodalModelError};
use crate::scene::Drawable;
use crate::simulate::{self, close_loops};

/// A mechanism: bodies reduced, formulation chosen, loops closed, every name resolved.
///
/// It never changes and holds no state. The model's written start is part of it: nominal trajectories and prescribed
/// motions refer to that, wherever a study begins.
#[derive(Clone, Debug)]
pub struct Mechanism {
    spec: ModelSpec,
    /// Bodies reduced and loops closed in joint coordinates: what the tree formulation runs on, and what is known of bodies
    /// and joints in either.
    tree: Model,
    nodal: Option<NodalModel>,
    /// Functions of beams whose model left the choice.
    chosen_functions: Vec<ChosenFunctions>,
}

impl Mechanism {
    /// Builds the mechanism that a spec describes.
    ///
    /// # Errors
    /// Everything that is wrong with the spec.
    pub fn build(spec: &ModelSpec) -> Result<Self, Vec<BuildError>> {
        let all = |errors: Vec<ModelError>| errors.into_iter().map(BuildError::Model);
        spec.check()
            .map_err(|errors| all(errors).collect::<Vec<_>>())?;
        let spec = rigid_counterpart(spec);
        let (spec, chosen_functions) = chosen_bases(&spec);
        let tree = closed_tree(&spec)?;
        let mechanism = Self {
            nodal: nodal(&spec, &tree)?,
            tree,
            chosen_functions,
            spec: spec.into_owned(),
        };
        match mechanism.ambiguous_channels() {
            errors if errors.is_empty() => Ok(mechanism),
            errors => Err(errors),
        }
    }

    /// Sensors with channels that are called like others. Only what is built knows all that is called something.
    fn ambiguous_channels(&self) -> Vec<BuildError> {
        if self.spec.sensor.is_empty() {
            return Vec::new();
        }
        let Ok(signals) = self.signals() else {
            // such a mechanism says elsewhere that it cannot be where it starts
            return Vec::new();
        };
        let error = |(sensor, own): (usize, &SensorSpec)| {
            let mut channels = own.channels().into_iter();
            let channel = channels.find(|channel| signals.is_ambiguous(channel))?;
            let name = own.name.clone();
            Some(BuildError::Channel {
                sensor,
                name,
                channel,
            })
        };
        self.spec
            .sensor
            .iter()
            .enumerate()
            .filter_map(error)
            .collect()
    }

    /// Whether every joint is free and nothing drives it.
    pub(crate) fn is_released(&self) -> bool {
        let (actions, tree) = (&self.tree.actions, &self.tree);
        let unforced = actions.loads.is_empty() && actions.controllers.is_empty();
        let of_nodes = self.spec.is_of_nodes();
        let unforced = unforced && (!of_nodes || self.spec.input.is_empty());
        unforced && tree.motions.is_empty() && tree.transmissions.is_empty()
    }

    /// The same mechanism, where it was, without what drives it; `spec` is its own without that.
    pub(crate) fn rebuilt(&self, spec: ModelSpec) -> Result<Self, Vec<BuildError>> {
        let tree = simulate::released(&self.tree);
        Ok(Self {
            nodal: nodal(&spec, &tree)?,
            tree,
            chosen_functions: self.chosen_functions.clone(),
            spec,
        })
    }

    /// The same mechanism with sensors that read without noise and steps, for whoever compares runs of mechanisms that differ a little. What sensors are
    /// biased by stays.
    #[must_use]
    pub fn with_ideal_sensors(mut self) -> Self {
        let of_nodes = self.nodal.iter_mut().map(NodalModel::actions_mut);
        for actions in of_nodes.chain([&mut self.tree.actions]) {
            actions.sensors.iter_mut().for_each(Sensor::make_ideal);
        }
        self
    }

    /// Functions of beams whose model left the choice, as they were chosen.
    pub fn chosen_functions(&self) -> &[ChosenFunctions] {
        &self.chosen_functions
    }

    /// The formulation that its model asks for: the one place that chooses.
    pub(crate) fn formulation(&self) -> &dyn Formulation {
        match &self.nodal {
            Some(nodal) => nodal,
            None => &self.tree,
        }
    }

    /// Names of what closes its loops.
    pub fn closure_names(&self) -> Vec<String> {
        let closures = self.tree.linkage.closures.iter();
        closures.map(|closure| closure.name.clone()).collect()
    }

    /// What it was built from: the model, with rigid bodies in the place of links that its fidelity makes rigid.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// The model as a tree.
    pub(crate) fn tree(&self) -> &Model {
        &self.tree
    }

    /// Which terms its equations keep, unless a body says otherwise.
    pub fn fidelity(&self) -> Fidelity {
        self.tree.fidelity
    }

    /// The state in which a simulation of it begins: as the model is written, at rest in equilibrium or in the quasi-static
    /// deviation from its nominal motion, as `simulation.initial` says.
    ///
    /// # Errors
    /// When there is no equilibrium or no such deviation.
    pub fn start(&self) -> Result<State, RunError> {
        self.start_watched(&mut |_| Flow::Continue)
    }

    /// The same for whoever wants to stop a search for it: `watch` is called with the instant of the start again and again.
    ///
    /// # Errors
    /// When there is no equilibrium or no such deviation, or the search was stopped.
    pub fn start_watched(&self, watch: &mut dyn FnMut(f64) -> Flow) -> Result<State, RunError> {
        match &self.spec.simulation.initial {
            InitialSpec::Written => Ok(self.written()),
            InitialSpec::QuasiStatic => {
                self.quasi_static()
                    .map_err(|source| RunError::NoQuasiStatic {
                        source: Box::new(source),
                        time_s: self.spec.simulation.start_s,
                    })
            }
            initial => {
                let written = self.written();
                Ok(self.equilibrium_under(initial, &written, watch)?.state)
            }
        }
    }

    /// The equilibrium near a state, at its instant, under what a start adds to the loads.
    pub(crate) fn equilibrium_under(
        &self,
        initial: &InitialSpec,
        near: &State,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Found, RunError> {
        self.accept(near)?;
        let mut watch = || watch(near.time_s);
        let found = self.formulation().equilibrium(initial, near, &mut watch)?;
        // what is driven is held, so that controllers have nothing to do
        let state = State {
            control: near.control.clone(),
            ..found.state
        };
        Ok(Found { state, ..found })
    }

    /// Refuses a state with other numbers of positions, velocities and states of controllers than its own have.
    pub(crate) fn accept(&self, state: &State) -> Result<(), RunError> {
        let counts = |state: &State| {
            let State {
                position,
                velocity,
                control,
                ..
            } = state;
            [position.len(), velocity.len(), control.len()]
        };
        let (given, own) = (counts(state), counts(&self.written()));
        if given == own {
            return Ok(());
        }
        let words = |[positions, velocities, control]: [usize; 3]| match control {
            0 => format!("{positions} positions and {velocities} velocities"),
            _ => format!(
                "{positions} positions, {velocities} velocities and {control} states of controllers and actuators"
            ),
        };
        let reason = format!(
            "the state has {}, those of this mechanism have {}; take a state of the same mechanism",
            words(given),
            words(own)
        );
        Err(RunError::Unplaced {
            source: PlaceError {
                reason,
                part: "the state",
            },
            time_s: state.time_s,
        })
    }

    /// The state that its model writes down, loops closed, whatever `simulation.initial` says.
    pub fn written(&self) -> State {
        let formulation = self.formulation();
        State {
            control: vec![0.0; formulation.actions().control_states().len()],
            ..formulation.written_state(self.spec.simulation.start_s)
        }
    }

    /// The state at an instant of a recording of it; between samples by cubics.
    ///
    /// # Errors
    /// When the recording does not hold the instant, or not all of the state.
    pub fn recorded_state(&self, recording: &Recording, time_s: f64) -> Result<State, StateError> {
        let (from_s, until_s) = match (recording.time_s.first(), recording.time_s.last()) {
            (Some(&first), Some(&last)) => (first, last),
            _ => (f64::NAN, f64::NAN),
        };
        if !(from_s..=until_s).contains(&time_s) {
            return Err(StateError::Outside {
                time_s,
                from_s,
                until_s,
            });
        }
        let mut dynamics = self
            .dynamics(&self.written())
            .map_err(|error| unplaced(&error))?;
        let channels = recording.by_name();
        let value = |name: &str| recording.smooth_value_at(channels.get(name)?, time_s);
        dynamics.recorded_state(time_s, &value)
    }

    /// A state by the names of its positions and velocities. What is not given is as written; where loops close, joints
    /// that are not given follow.
    ///
    /// # Errors
    /// When there is no such name, or the mechanism cannot be there.
    pub fn state(&self, time_s: f64, given: &BTreeMap<String, f64>) -> Result<State, StateError> {
        let open = self.exact_state(time_s, given, &Memory::default())?;
        let closed = self.formulation().closed_state(open.clone(), given)?;
        let is_given = |name: &str| given.contains_key(name);
        self.with_motors_moved(&open, closed, &|joint, motor| {
            !is_given(joint) && !is_given(motor)
        })
    }

    /// A state of another mechanism of the same joints and bodies, as one of this: with other functions or fidelities, what `from` does not
    /// have is as written, and what this one does not have is left out.
    ///
    /// # Errors
    /// When it is no state of `from`, or this mechanism cannot be there.
    pub fn carried_over(&self, state: &State, from: &Self) -> Result<State, StateError> {
        let known: BTreeSet<String> = (self.layout()?.into_iter())
            .map(|coordinate| coordinate.name)
            .collect();
        let values = (state.position.iter().chain(&state.velocity)).chain(&state.control);
        let given: BTreeMap<String, f64> = (from.layout_of(&state.memory)?.into_iter())
            .zip(values)
            .filter(|(coordinate, _)| known.contains(&coordinate.name))
            .map(|(coordinate, &value)| (coordinate.name, value))
            .collect();
        Ok(State {
            work_j: state.work_j,
            dissipated_j: state.dissipated_j,
            drift_j: state.drift_j,
            ..self.state(state.time_s, &given)?
        })
    }

    /// A state by the names of all its entries, taken as it is: for the complete states that runs leave behind with what they
    /// remember, whose loops are closed.
    ///
    /// # Errors
    /// When there is no such name.
    pub fn exact_state(
        &self,
        time_s: f64,
        given: &BTreeMap<String, f64>,
        memory: &Memory,
    ) -> Result<State, StateError> {
        let written = self.written();
        let (layout, of_written) = (self.layout_of(memory)?, self.layout()?);
        let known: BTreeSet<&str> = layout.iter().map(|entry| entry.name.as_str()).collect();
        for (name, &value) in given {
            if !known.contains(name.as_str()) {
                let names = layout.iter().map(|coordinate| coordinate.name.as_str());
                return Err(StateError::Unknown {
                    name: name.clone(),
                    nearest: nearest(name, names).map(str::to_owned),
                });
            }
            if !value.is_finite() {
                return Err(StateError::NotFinite {
                    name: name.clone(),
                    value,
                });
            }
        }
        let values = by_name(&of_written, &written.packed());
        let value = |name: &str| given.get(name).or_else(|| values.get(name)).copied();
        let memory = memory.clone();
        let state = state_of(&layout, written.position.len(), time_s, &value)?;
        let state = State { memory, ..state };
        self.followed(state, &|name| given.contains_key(name))
    }

    /// Name, unit and kind of every entry of the states that a memory belongs to: where loops close, other joints may lead
    /// than where the model starts.
    ///
    /// # Errors
    /// When it is no memory of this mechanism, or it cannot be where its model has it start.
    pub fn layout_of(&self, memory: &Memory) -> Result<Vec<Coordinate>, StateError> {
        let formulation = self.formulation();
        let layout = formulation.state_layout(&self.spec.simulation, memory)?;
        Ok(with_control(
            layout,
            &formulation.actions().control_states(),
        ))
    }

    /// Name, unit and kind of every entry of its states: positions, velocities, states of controllers and actuators, works.
    ///
    /// # Errors
    /// When it cannot be where its model has it start.
    pub fn layout(&self) -> Result<Vec<Coordinate>, StateError> {
        self.layout_of(&Memory::default())
    }

    /// Everything of it that can be named: what runs record, and what linear models, inputs and outputs are called by.
    ///
    /// # Errors
    /// When it cannot be where its model has it start.
    pub fn signals(&self) -> Result<Signals, RunError> {
        Ok(Signals::of(&*self.dynamics(&self.written())?))
    }

    /// Equations of the mechanism that begin at a state, with all the memory that evaluating them needs.
    ///
    /// # Errors
    /// When it cannot be there, or cannot be driven from there as it should.
    pub fn dynamics(&self, start: &State) -> Result<Box<dyn Dynamics + '_>, RunError> {
        self.accept(start)?;
        let time_s = start.time_s;
        let mut dynamics = self.formulation().dynamics(&self.spec.simulation, start)?;
        dynamics
            .recall(&start.memory)
            .map_err(|source| RunError::Unplaced { source, time_s })?;
        Ok(Controlled::around(dynamics, start))
    }

    /// The same for looking at a motion from there on that others integrate.
    ///
    /// # Errors
    /// When it cannot be there, or cannot be driven from there as it should.
    pub fn observer(&self, start: &State) -> Result<Box<dyn Dynamics + '_>, RunError> {
        let mut observer = self.dynamics(start)?;
        observer.observe();
        Ok(observer)
    }

    /// The mechanism as it is drawn.
    ///
    /// # Errors
    /// When it cannot be put together as its model says.
    pub(crate) fn drawable(&self) -> Result<Box<dyn Drawable + '_>, PlaceError> {
        self.formulation().drawable(&self.spec)
    }

    /// Simulates the mechanism as its model says and records everything at `samples`.
    pub fn run(&self, samples: &[f64]) -> Run {
        let options = SimulateOptions {
            samples,
            channels: None,
            most_lengths: f64::INFINITY,
        };
        let simulation = &self.spec.simulation;
        match self.start() {
            Ok(start) => self.simulate(&start, simulation, &options, &mut |_| Flow::Continue),
            Err(error) => Run::refused(error),
        }
    }

    /// Where the mechanism is at rest in equilibrium near a state, such as the [written](Self::written) one, under the loads of
    /// its instant or those that `simulation.initial` gives. What inputs drive stays where the state has it.
    ///
    /// # Errors
    /// When there is no equilibrium near the state.
    pub fn equilibrium(&self, from: &State) -> Result<Equilibrium, RunError> {
        self.equilibrium_watched(from, &mut |_| Flow::Continue)
    }

    /// The same for whoever wants to stop the search: `watch` is called with the instant of the state before every evaluation of
    /// forces.
    ///
    /// # Errors
    /// When there is no equilibrium near the state, or the search was stopped.
    pub fn equilibrium_watched(
        &self,
        from: &State,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Equilibrium, RunError> {
        let found = self.equilibrium_under(&self.spec.simulation.initial, from, watch)?;
        let mut dynamics = self.dynamics(&found.state)?;
        Ok(Equilibrium::recorded(found, &mut *dynamics))
    }

    /// What its drives do at instants along its nominal trajectory, one after the other; nothing if its inputs do not ask for one. `watch` is told
    /// every instant, and may end it there.
    ///
    /// # Errors
    /// When the trajectory cannot be followed or driven.
    pub fn nominal_drives(
        &self,
        times_s: &[f64],
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<NominalDrives>, NominalError> {
        self.formulation().nominal_drives(times_s, watch)
    }

    /// Simulates the mechanism from a state to the end that its model says, or that `simulation` says in its place.
    /// `watch` is called after every step with the time reached and may stop the run.
    pub fn simulate(
        &self,
        start: &State,
        simulation: &SimulationSpec,
        options: &SimulateOptions<'_>,
        mut watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Run {
        self.simulate_watched(start, simulation, options, &mut watch)
    }

    /// The same for a watch that may ask for the run so far, to keep it.
    pub fn simulate_watched(
        &self,
        start: &State,
        simulation: &SimulationSpec,
        options: &SimulateOptions<'_>,
        watch: &mut dyn Watch,
    ) -> Run {
        match (self.dynamics(start), self.observer(start)) {
            (Ok(mut dynamics), Ok(mut observer)) => simulate(
                &mut *dynamics,
                &mut *observer,
                start,
                simulation,
                options,
                watch,
            ),
            (Err(error), _) | (_, Err(error)) => Run::refused(error),
        }
    }
}

pub(crate) fn unplaced(error: &RunError) -> StateError {
    StateError::Unplaced {
        reason: error.to_string(),
    }
}

/// The nodal mechanism of a spec, if it asks for one.
fn nodal(spec: &ModelSpec, tree: &Model) -> Result<Option<NodalModel>, Vec<BuildError>> {
    let elements = match spec.formulation {
        FormulationSpec::Tree if spec.is_of_nodes() => Some(1),
        FormulationSpec::Tree => None,
        FormulationSpec::Nodal(nodal) => Some(nodal.elements_per_link),
    };
    let refused =
        |errors: Vec<NodalModelError>| errors.into_iter().map(BuildError::Nodal).collect();
    let nodal = elements.map(|elements| NodalModel::new(spec, tree, elements));
    nodal.transpose().map_err(refused)
}

/// Values of coordinates by their names.
pub(crate) fn by_name<'c>(coordinates: &'c [Coordinate], values: &[f64]) -> BTreeMap<&'c str, f64> {
    let named = coordinates.iter().zip(values);
    named
        .map(|(coordinate, &value)| (coordinate.name.as_str(), value))
        .collect()
}

/// The tree of a spec with its loops closed.
fn closed_tree(spec: &ModelSpec) -> Result<Model, Vec<BuildError>> {
    let mut model = Model::build(spec)
        .map_err(|errors| errors.into_iter().map(BuildError::Body).collect::<Vec<_>>())?;
    close_loops(&mut model, spec.simulation.start_s).map_err(|error| {
        let at = place_of(spec, &error);
        vec![BuildError::Loops { at, error }]
    })?;
    Ok(model)
}

/// Where the model says what cannot be assembled.
fn place_of(spec: &ModelSpec, error: &AssemblyError) -> Path {
    let (mut loops, mut joints) = (spec.loops.iter(), spec.joint.iter());
    let found = match error {
        AssemblyError::Open { closure, .. }
        | AssemblyError::Contradiction { closure, .. }
        | AssemblyError::Rates { closure, .. } => {
            let is_meant = |name: &String| closure.as_ref() == Some(name);
            let found = loops.position(|closure| is_meant(&closure.name));
            match found {
                Some(index) => Some(("loop", index)),
                None => (joints.position(|joint| is_meant(&joint.name))).map(|at| ("joint", at)),
            }
        }
        AssemblyError::Branch { coordinate, .. } => {
            let is_meant = |axis: &Axis| axis.name.coordinate() == *coordinate;
            let found = joints.position(|joint| Axis::of(joint).iter().any(is_meant));
            found.map(|index| ("joint", index))
        }
        _ => None,
    };
    let root = Path::root();
    match found {
        Some((list, index)) => root.key(list).index(index).key("name"),
        None => root.key("simulation").key("closure"),
    }
}
