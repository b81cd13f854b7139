//! Linearised equations of a mechanism: where, in which coordinates, and what they are called.
//!
//! A formulation differentiates its equations at a state of motion ([`Linearize`]). At which states that is done, and what is
//! made of the answers, is the same for both.

use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{
    ChosenCoordinates, Frozen, Label, Labels, LinearizedTrajectory, Point, Saturation, TrackedModes,
};
use lissom_spatial::Vector;

use super::analysis_error::LinearizeError;
use crate::action::{Actions, ControlledAxis, Controller};
use crate::recording::Recording;
use crate::sensor::Sensor;
use crate::state::State;
use crate::trajectory::Commanded;
use crate::view::AxisId;

/// Where a model is linearised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatingPoint {
    /// In the state that the study begins at.
    Start,
    /// In equilibrium under its loads near that state, driven joints held.
    Equilibrium,
    /// Along the motion that inputs and prescribed motions mean, or else rigid bodies under the loads have, undeformed.
    Nominal,
    /// Along the motion that is simulated from the state.
    Run,
}

/// Up to which order outputs are expanded in the deviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputOrder {
    /// Positions and their first derivatives.
    First,
    /// Second derivatives as well, eq (30).
    Second,
}

/// What a mechanism does at a deviation from a state of motion.
#[derive(Clone, Debug)]
pub struct Deviated {
    /// All coordinates, dependent ones included.
    pub position: Vec<f64>,
    /// Their rates.
    pub velocity: Vec<f64>,
    /// Inputs on the joints with actuators at the state itself.
    pub input: Vec<f64>,
    /// Every marker: where it is at the state itself, and how far it is displaced from there.
    pub markers: Vec<[Vector<f64>; 2]>,
}

/// A deviation from a state of motion, in independent coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Deviation<'a> {
    /// Places of the independent coordinates among all.
    pub independent: &'a [usize],
    /// Deviations of the coordinates.
    pub position: &'a [f64],
    /// Their rates.
    pub rate: &'a [f64],
}

/// States at which a mechanism is linearised.
#[derive(Clone, Debug)]
pub enum LinearizedAt<'a> {
    /// With the accelerations that they have.
    Moving(Vec<State>),
    /// With no acceleration, even where nothing holds what inputs drive.
    Equilibrium(Box<State>),
    /// On the nominal trajectory at instants that rise.
    Nominal(&'a [f64]),
}

/// Linearised equations of a model.
#[derive(Clone, Debug)]
pub struct Linearized {
    /// The equations at one or several states, as far as one choice of independent coordinates goes.
    pub trajectory: LinearizedTrajectory,
    /// The equations from there on, in other coordinates: stretches of the motion that each begin with the last state of the one
    /// before.
    pub further: Vec<LinearizedTrajectory>,
    /// Degrees of freedom, of the first choice, on which inputs of the model act.
    pub driven: Vec<usize>,
    /// Motors behind elastic gears with their joints, by degrees of freedom of the first choice; none for dependent joints.
    pub geared: Vec<[usize; 2]>,
    /// Instants at which inputs and motions are not smooth.
    pub breakpoints: Vec<f64>,
    /// Coordinates that every controller drives, by their places among all.
    pub controlled: Vec<Vec<usize>>,
    /// Coordinates that the actuators drive, likewise.
    pub actuators: Vec<Option<usize>>,
    /// Names of the joints with stops.
    pub stopped: Vec<String>,
    /// All coordinates, dependent ones included.
    pub coordinates: Vec<Label>,
    /// Numbers of the inputs that act on joints with actuators.
    pub actuated_inputs: Vec<usize>,
    /// Places of their nominal values among those of the points.
    pub nominal_inputs: Vec<usize>,
    /// Numbers of the inputs that something drives: joints with an input, a controller or a motor, and loads on markers.
    pub driven_inputs: Vec<usize>,
    /// Deviation of the state that the study begins at from the first one: independent coordinates, then their rates. Not numbers
    /// where that state cannot be expressed in the coordinates of the first point, see [`Linearized::start`].
    pub initial: [Vec<f64>; 2],
    /// Deviation of the states of controllers and actuators there.
    pub initial_control: Vec<f64>,
}

impl Linearized {
    /// The same with some of the inputs only, by their numbers among those of all equations.
    #[must_use]
    pub fn with_inputs(&self, inputs: &[usize]) -> Self {
        let mut chosen = self.clone();
        let place = |input: &usize| inputs.iter().position(|chosen| chosen == input);
        let actuated = self.actuated_inputs.iter().map(place);
        let (places, actuated): (Vec<usize>, Vec<usize>) = (actuated.enumerate())
            .filter_map(|(place, chosen)| Some((place, chosen?)))
            .unzip();
        chosen.actuated_inputs = actuated;
        chosen.trajectory = self.trajectory.with_inputs(inputs);
        let further = self.further.iter();
        chosen.further = further.map(|stretch| stretch.with_inputs(inputs)).collect();
        chosen.nominal_inputs = (places.iter())
            .map(|&place| self.nominal_inputs[place])
            .collect();
        chosen.driven_inputs = self.driven_inputs.iter().filter_map(place).collect();
        chosen
    }

    /// The same with every second point, see [`LinearizedTrajectory::every_second`]; `None` where none can be left out.
    #[must_use]
    pub fn every_second(&self) -> Option<Self> {
        let all: Vec<_> = (self.stretches().map(LinearizedTrajectory::every_second)).collect();
        if all.iter().all(Option::is_none) {
            return None;
        }
        let mut coarse = self.clone();
        let stretches = std::iter::once(&mut coarse.trajectory).chain(&mut coarse.further);
        for (trajectory, coarser) in stretches.zip(all) {
            if let Some(coarser) = coarser {
                *trajectory = coarser;
            }
        }
        Some(coarse)
    }

    /// Takes the deviation of the state that the study begins at, given in all coordinates.
    pub fn begin_at(&mut self, deviation: &[Vec<f64>; 2]) {
        let independent = &self.trajectory.coordinates().independent;
        let pick = |all: &Vec<f64>| independent.iter().map(|&at| all[at]).collect();
        self.initial = deviation.each_ref().map(pick);
    }

    /// Numbers of the actuators that a limit holds back at one of the states: what controllers ask of them changes nothing there.
    pub fn saturated(&self) -> Vec<usize> {
        let points = || self.stretches().flat_map(LinearizedTrajectory::points);
        let is_held = |actuator: &usize| {
            let mut all = points().filter_map(|point| point.actuation.saturations.get(*actuator));
            all.any(|own| *own != Saturation::default())
        };
        (0..self.actuators.len()).filter(is_held).collect()
    }

    /// Names of the joints whose stops press at one of the states: there they count as springs and dampers.
    pub fn pressed_stops(&self) -> Vec<String> {
        let points = || self.stretches().flat_map(LinearizedTrajectory::points);
        let presses = |stop| points().any(|own| own.actuation.pressed.get(stop) == Some(&true));
        let stops = self.stopped.iter().enumerate();
        let pressed = stops.filter(|&(stop, _)| presses(stop));
        pressed.map(|(_, joint)| joint.clone()).collect()
    }

    /// The deviation with which a study begins, rates after coordinates, and states of controllers in the loop after these; `None` where its state cannot be expressed in the coordinates of
    /// the first point.
    pub fn start(&self) -> Option<Vec<f64>> {
        let mut start = self.initial.concat();
        if !self.trajectory.labels().loop_states.is_empty() {
            start.extend(&self.initial_control);
        }
        start.iter().all(|x| x.is_finite()).then_some(start)
    }

    /// Takes the states of controllers and actuators at which the study begins, as deviations from those of the first state; none are zeros.
    pub fn begin_control_at(&mut self, control: &[f64], there: &[f64]) {
        let or_zero = |states: &[f64], at: usize| states.get(at).copied().unwrap_or(0.0);
        for (at, own) in self.initial_control.iter_mut().enumerate() {
            *own = or_zero(control, at) - or_zero(there, at);
        }
    }

    /// The equations of one stretch, by its number.
    pub(super) fn stretch(&self, number: usize) -> &LinearizedTrajectory {
        match number.checked_sub(1) {
            None => &self.trajectory,
            Some(further) => &self.further[further],
        }
    }

    /// The equations of all stretches, one after the other.
    pub fn stretches(&self) -> impl Iterator<Item = &LinearizedTrajectory> {
        std::iter::once(&self.trajectory).chain(&self.further)
    }
}

/// A formulation that differentiates its equations.
pub trait Linearize {
    /// A state of motion with its accelerations.
    type Motion;

    /// A state with the accelerations that it has.
    ///
    /// # Errors
    /// When the mechanism cannot be there, or has none.
    fn moving(&mut self, state: &State) -> Result<Self::Motion, LinearizeError>;

    /// A state of equilibrium, without velocities and accelerations.
    ///
    /// # Errors
    /// When the mechanism cannot be there.
    fn in_equilibrium(&mut self, state: &State) -> Result<Self::Motion, LinearizeError>;

    /// The state of the nominal trajectory at an instant, every body undeformed. Instants rise from call to call.
    ///
    /// # Errors
    /// When there is no such motion.
    fn nominal(&mut self, time_s: f64) -> Result<Self::Motion, LinearizeError>;

    /// The motion without vibrations that may be going on.
    fn steady(&mut self, motion: Self::Motion) -> Self::Motion;

    /// Chooses coordinates for all points of a motion where it begins.
    ///
    /// # Errors
    /// When none can be chosen.
    fn choose(&mut self, first: &Self::Motion) -> Result<(), LinearizeError>;

    /// Takes the coordinates chosen as long as they determine the mechanism at all, however badly.
    fn tolerate(&mut self) {}

    /// The equations at a state, in the coordinates chosen. `watch` is told its instant again and again, and may stop.
    ///
    /// # Errors
    /// When these coordinates do not determine the mechanism there, or the watcher stops.
    fn point(
        &mut self,
        motion: &Self::Motion,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Point, LinearizeError>;

    /// What the mechanism does at a deviation from a state, markers to an order in it.
    ///
    /// # Errors
    /// When the independent coordinates do not determine the mechanism there.
    fn deviated(
        &mut self,
        motion: &Self::Motion,
        deviation: &Deviation<'_>,
        order: OutputOrder,
    ) -> Result<Deviated, LinearizeError>;

    /// The state at a deviation from a state of motion.
    ///
    /// # Errors
    /// When the independent coordinates do not determine the mechanism there.
    fn state(
        &mut self,
        motion: &Self::Motion,
        deviation: &Deviation<'_>,
    ) -> Result<State, LinearizeError>;

    /// Names of the coordinates chosen, of inputs, joints with actuators and markers.
    fn labels(&self) -> Labels;

    /// Joints that an actuator may act on, by the places of their coordinates among all. Their inputs come first, in this order.
    fn actuated(&self) -> Vec<usize>;

    /// Coordinates on which inputs or controllers act, by their places among all; each once.
    fn driven_places(&self) -> Vec<usize> {
        let driven = self.actions().driven();
        let mut places: Vec<usize> = driven.filter_map(|axis| self.place(axis)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Coordinates chosen on which inputs or controllers act.
    fn driven(&self) -> Vec<usize> {
        let (driven, independent) = (self.driven_places(), self.independent());
        let all = 0..independent.len();
        all.filter(|&chosen| driven.contains(&independent[chosen]))
            .collect()
    }

    /// Numbers of the inputs that inputs, controllers or motors behind gears drive, and of loads on markers.
    fn driven_inputs(&self) -> Vec<usize> {
        let (actions, actuated) = (self.actions(), self.actuated());
        let mut driven = self.driven_places();
        driven.extend((actions.gears.iter()).filter_map(|gear| self.place(gear.motor)));
        let joints = (0..actuated.len()).filter(|&input| driven.contains(&actuated[input]));
        // loads on markers come after the joints
        let loads = (actuated.len()..).zip(actions.marker_loads());
        joints.chain(loads.map(|(input, _)| input)).collect()
    }

    /// What acts on the mechanism.
    fn actions(&self) -> &Actions;

    /// The coordinate that an axis is, by its place among all, if it is one.
    fn place(&self, axis: AxisId) -> Option<usize>;

    /// What the mechanism is told to do at the last [point](Self::point).
    fn commands(&self) -> &dyn Commanded;

    /// All coordinates, dependent ones included.
    fn coordinates(&self) -> Vec<Label> {
        self.labels().coordinates
    }

    /// Places of the coordinates chosen among all.
    fn independent(&self) -> Vec<usize> {
        (0..self.labels().coordinates.len()).collect()
    }

    /// Deviation of a state from another in all coordinates: positions, then rates.
    fn deviation(&mut self, state: &State, from: &Self::Motion) -> [Vec<f64>; 2];

    /// Instants at which a load or a motion is not smooth, in ascending order.
    fn breakpoints(&self) -> Vec<f64> {
        (self.commands()).breakpoints(f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The equations frozen at states, with the joints on which inputs act held, or `free`, each in coordinates of its own.
    ///
    /// # Errors
    /// When no coordinates can be chosen somewhere, or the watcher stops.
    fn frozen(
        &mut self,
        motions: &[Self::Motion],
        free: bool,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Frozen, LinearizeError>;

    /// The same at one state, in a space that contains the `count` lowest modes. None where that is not faster than all of them, or they are
    /// not found like this.
    ///
    /// # Errors
    /// When the mechanism cannot be there, or the watcher stops.
    fn frozen_lowest(
        &mut self,
        motion: &Self::Motion,
        free: bool,
        count: usize,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Option<Frozen>, LinearizeError>;
}

impl LinearizedAt<'_> {
    /// The states of motion. `watch` is told the instant of every one, and may stop.
    ///
    /// # Errors
    /// When there is no such motion, the mechanism cannot be there, or the watcher stops.
    pub fn motions<L: Linearize>(
        &self,
        of: &mut L,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<L::Motion>, LinearizeError> {
        let mut go_on = |at_s: f64| match watch(at_s) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(LinearizeError::Stopped { at_s }),
        };
        match self {
            Self::Moving(states) => {
                let states = states.iter();
                let moving =
                    states.map(|state| go_on(state.time_s).and_then(|()| of.moving(state)));
                moving.collect()
            }
            Self::Equilibrium(state) => Ok(vec![of.in_equilibrium(state)?]),
            Self::Nominal(times) => {
                let times = times.iter();
                let nominal = times.map(|&time_s| go_on(time_s).and_then(|()| of.nominal(time_s)));
                nominal.collect()
            }
        }
    }

    /// The same without vibrations that are going on, which do not count for modes.
    ///
    /// # Errors
    /// When there is no such motion, the mechanism cannot be there, or the watcher stops.
    pub fn steady_motions<L: Linearize>(
        &self,
        of: &mut L,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Vec<L::Motion>, LinearizeError> {
        let motions = self.motions(of, watch)?;
        Ok(match self {
            Self::Moving(_) => (motions.into_iter())
                .map(|motion| of.steady(motion))
                .collect(),
            Self::Equilibrium(_) | Self::Nominal(_) => motions,
        })
    }
}

/// Linearises a mechanism at states of motion of rising instants. Independent coordinates are chosen at the first, and anew where
/// they would no longer determine the mechanism well. `watch` is told the instant after every one, and may stop.
///
/// # Errors
/// When coordinates cannot be chosen.
pub fn linearize<L: Linearize>(
    of: &mut L,
    motions: &[L::Motion],
    order: OutputOrder,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Linearized, LinearizeError> {
    if let Some(first) = motions.first() {
        of.choose(first)?;
    }
    let (driven, geared) = (of.driven(), geared(of));
    let mut stretches = Vec::new();
    let mut current = Chosen::of(of);
    for (index, motion) in motions.iter().enumerate() {
        match current.point(of, motion, order, watch) {
            Ok(point) => current.points.push(point),
            Err(
                LinearizeError::IllConditioned { time_s } | LinearizeError::Singular { time_s },
            ) if index > 0 => {
                let next = repartitioned(of, [&motions[index - 1], motion], order, time_s, watch)?;
                stretches.push(std::mem::replace(&mut current, next).stretch());
            }
            Err(error) => return Err(error),
        }
        let at_s = current.points.last().map_or(f64::NAN, |point| point.time);
        if watch(at_s) == Flow::Stop {
            return Err(LinearizeError::Stopped { at_s });
        }
    }
    stretches.push(current.stretch());
    let trajectory = stretches.remove(0);
    let still = vec![0.0; trajectory.coordinates().independent.len()];
    let joints: Vec<usize> = (0..trajectory.coordinates().joints.len()).collect();
    let actions = of.actions();
    let place = |axis: &ControlledAxis| of.place(axis.drive);
    let controlled = |own: &Controller| own.axes.iter().filter_map(place).collect();
    let (actuators, stops) = (actions.actuators.iter(), actions.stops.iter());
    Ok(Linearized {
        driven,
        geared,
        breakpoints: of.breakpoints(),
        controlled: actions.controllers.iter().map(controlled).collect(),
        actuators: actuators.map(|own| of.place(own.drive)).collect(),
        stopped: stops.map(|stop| stop.name.label()).collect(),
        initial_control: vec![0.0; actions.control_states().len()],
        coordinates: of.coordinates(),
        nominal_inputs: joints.clone(),
        driven_inputs: of.driven_inputs(),
        actuated_inputs: joints,
        initial: [still.clone(), still],
        trajectory,
        further: stretches,
    })
}

/// Motors behind elastic gears with their joints, by degrees of freedom of the coordinates chosen last.
fn geared(of: &impl Linearize) -> Vec<[usize; 2]> {
    let independent = of.independent();
    let dof = |axis: AxisId| {
        let place = of.place(axis)?;
        independent.iter().position(|&own| own == place)
    };
    let gears = of.actions().gears.iter();
    let pairs = gears.filter_map(|gear| Some([dof(gear.motor)?, dof(gear.joint)?]));
    pairs.collect()
}

/// A stretch that is being gone through.
struct Chosen {
    labels: Labels,
    coordinates: ChosenCoordinates,
    points: Vec<Point>,
}

impl Chosen {
    /// In the coordinates chosen last.
    fn of(of: &impl Linearize) -> Self {
        let channels = of.actions().sensors.iter().filter(|own| own.is_output());
        let sensors = channels.flat_map(Sensor::channels).collect();
        Self {
            labels: Labels {
                sensors,
                ..of.labels()
            },
            coordinates: ChosenCoordinates {
                independent: of.independent(),
                joints: of.actuated(),
            },
            points: Vec::new(),
        }
    }

    /// The equations at a state, with the coordinates of the joints with actuators there.
    fn point<L: Linearize>(
        &self,
        of: &mut L,
        motion: &L::Motion,
        order: OutputOrder,
        watch: &mut dyn FnMut(f64) -> Flow,
    ) -> Result<Point, LinearizeError> {
        let mut point = of.point(motion, order, watch)?;
        point.actuation = of.commands().actuation();
        let ChosenCoordinates {
            independent,
            joints,
        } = &self.coordinates;
        let dof = |at: &usize| independent.iter().position(|own| own == at);
        let known = joints.iter().map(|at| Some(point.position[dof(at)?]));
        point.joints = if let Some(known) = known.collect() {
            known
        } else {
            // loops tell the others
            let still = vec![0.0; independent.len()];
            let nowhere = Deviation {
                independent,
                position: &still,
                rate: &still,
            };
            let there = of.deviated(motion, &nowhere, OutputOrder::First)?;
            joints.iter().map(|&at| there.position[at]).collect()
        };
        Ok(point)
    }

    fn stretch(self) -> LinearizedTrajectory {
        LinearizedTrajectory::new(self.labels, self.points, self.coordinates)
    }
}

/// Chooses coordinates that determine the mechanism at two instants, one after the other, and begins a stretch with the equations
/// there.
fn repartitioned<L: Linearize>(
    of: &mut L,
    [before, after]: [&L::Motion; 2],
    order: OutputOrder,
    time_s: f64,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Chosen, LinearizeError> {
    use LinearizeError::{IllConditioned, Singular};
    let well = [(after, before), (before, after)].map(|pair| (pair, false));
    let somehow = [(after, before), (before, after)].map(|pair| (pair, true));
    for ((chosen, other), tolerates) in well.into_iter().chain(somehow) {
        of.choose(chosen)?;
        if tolerates {
            of.tolerate();
        }
        let mut next = Chosen::of(of);
        let [chosen, other] = [chosen, other].map(|at| next.point(of, at, order, watch));
        match (chosen, other) {
            (Ok(chosen), Ok(other)) => {
                next.points = vec![chosen, other];
                next.points.sort_by(|a, b| a.time.total_cmp(&b.time));
                return Ok(next);
            }
            (Err(IllConditioned { .. } | Singular { .. }), _)
            | (_, Err(IllConditioned { .. } | Singular { .. })) => {}
            (Err(error), _) | (_, Err(error)) => return Err(error),
        }
    }
    Err(IllConditioned { time_s })
}

/// Frequencies and damping of modes over time, as a recording: `mode_1.frequency` in rad/s, `mode_1.damping_ratio` and
/// `mode_1.growth`, the rate at which it grows. What does not exist is not a number.
pub fn mode_recording(modes: &TrackedModes) -> Recording {
    let names = (1..=modes.modes.len()).flat_map(|mode| {
        [
            (format!("mode_{mode}.frequency"), "rad/s"),
            (format!("mode_{mode}.damping_ratio"), "1"),
            (format!("mode_{mode}.growth"), "1/s"),
        ]
    });
    let mut recording = Recording::with_capacity(names, modes.times.len());
    for (point, &time) in modes.times.iter().enumerate() {
        let row: Vec<f64> = (modes.modes.iter())
            .flat_map(|mode| {
                let at = &mode[point];
                let growth = at.roots.map(|_| at.growth_rate());
                [at.frequency(), at.damping_ratio(), growth]
            })
            .map(|value| value.unwrap_or(f64::NAN))
            .collect();
        recording.push(time, &row);
    }
    recording
}
