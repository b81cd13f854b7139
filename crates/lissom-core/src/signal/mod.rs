//! [`Signals`]: the one list of everything of a mechanism that can be named.
//!
//! A formulation says which [`Parts`] it has and reads them in an evaluated state ([`Readout`]); what the signals are called,
//! their units, kinds and stages, and their order are decided here, for both.

mod description;
mod part;
mod reaction;
mod readout;
mod row;
mod section_load;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, Range};

use lissom_numerics::Coordinate;
use lissom_spatial::Quaternion;

use crate::action::Controller;
use crate::dynamics::EnergyAndMomentum;
use crate::sensor::{Sensor, read_sensors};
use crate::view::MarkerId;
use part::{AXES, QUATERNION};
use reaction::{carried_wrenches, joint_reactions};
use row::{read_position, read_rate, read_section};
use section_load::{applied_wrenches, section_loads};

pub use description::{Kind, Quantity, Signal, Source, Stage};
pub use part::{
    BeamPart, ClosureEnd, ClosurePart, Coordinates, ElasticId, JointPart, NodePart, NodeSignals,
    Parts,
};
pub(crate) use reaction::JointForces;
pub use readout::{JointReading, Readout};

/// A signal: its place in the list of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignalId(pub usize);

/// All signals of a mechanism.
#[derive(Clone, Debug)]
pub struct Signals {
    list: Vec<Signal>,
    parts: Parts,
    sensors: Vec<Sensor>,
    /// Signals that are read together.
    groups: Vec<(Group, Range<usize>)>,
    by_name: BTreeMap<String, SignalId>,
    /// Names that several would have.
    shared: BTreeSet<String>,
}

/// Signals that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Positions,
    Rates,
    Motors,
    Inputs,
    Feedback,
    Actuators,
    Stops,
    Control,
    Drives,
    ClosureForces,
    Violations,
    Node(usize),
    Marker(MarkerId),
    Sensors,
    Reactions,
    SectionLoads,
    Nominal,
    Tracked(MarkerId),
    Whole,
}

/// Parts of the energy, as they are recorded.
const ENERGIES: [&str; 7] = [
    "kinetic",
    "strain",
    "gravity",
    "total",
    "work",
    "dissipated",
    "drift",
];
/// What the two kinds of equations of a closure are about.
const VIOLATIONS: [(&str, &str); 2] = [("offset", "m"), ("rotation", "rad")];
/// Force and moment that a section of a beam transmits.
pub(crate) const SECTION_LOADS: [(&str, &str); 6] = [
    ("axial_force", "N"),
    ("shear_force.y", "N"),
    ("shear_force.z", "N"),
    ("torque", "N m"),
    ("bending_moment.y", "N m"),
    ("bending_moment.z", "N m"),
];
/// Stresses in a section of a beam; the last two where shear is known.
pub(crate) const SECTION_STRESSES: [&str; 4] = [
    "normal_stress.max",
    "normal_stress.min",
    "torsion_stress",
    "von_mises_stress",
];
/// Vectors of a marker.
const OF_MARKER: [(&str, &str, Quantity, Stage); 5] = [
    ("position", "m", Quantity::Position, Stage::Position),
    ("velocity", "m/s", Quantity::Velocity, Stage::Velocity),
    (
        "angular_velocity",
        "rad/s",
        Quantity::AngularVelocity,
        Stage::Velocity,
    ),
    ("deflection", "m", Quantity::Deflection, Stage::Position),
    (
        "deflection_rate",
        "m/s",
        Quantity::DeflectionRate,
        Stage::Velocity,
    ),
];

impl Signals {
    /// Everything of a mechanism that can be named.
    pub fn of(readout: &dyn Readout) -> Self {
        let (parts, actions) = (readout.parts(), readout.actions());
        let mut signals = Self {
            list: Vec::new(),
            groups: Vec::new(),
            by_name: BTreeMap::new(),
            shared: BTreeSet::new(),
            parts: Parts::default(),
            sensors: actions.sensors.clone(),
        };
        signals.add(Group::Positions, |add| {
            for part in &parts.coordinates {
                add.coordinates(part.positions(), part, Stage::Position);
            }
        });
        signals.add(Group::Rates, |add| {
            for part in &parts.coordinates {
                add.coordinates(part.rates(), part, Stage::Velocity);
            }
        });
        signals.add(Group::Motors, |add| {
            for (axis, name) in &parts.motors {
                let part = Coordinates::Axis(*axis, name.clone());
                add.coordinates(part.positions(), &part, Stage::Position);
                add.coordinates(part.rates(), &part, Stage::Velocity);
            }
        });
        signals.add(Group::Inputs, |add| {
            for (at, load) in actions.loads.iter().enumerate() {
                add.input(load.signal(), Source::Input(at));
            }
        });
        signals.add(Group::Feedback, |add| {
            let all = actions.controllers.iter().flat_map(feedback_signals);
            for (at, signal) in all.enumerate() {
                add.input(signal, Source::Feedback(at));
            }
        });
        signals.add(Group::Actuators, |add| {
            for (at, actuator) in actions.actuators.iter().enumerate() {
                add.input(actuator.signal(), Source::Actuator(at));
            }
        });
        signals.add(Group::Stops, |add| {
            for stop in &actions.stops {
                let (name, unit) = stop.signal();
                let of = (Source::Axis(stop.axis), Quantity::Effort);
                add.signal(name, unit, (Kind::Output, Stage::Velocity), of);
            }
        });
        signals.add(Group::Control, |add| {
            // that of an actuator is the torque or force that it gives
            let own = actions.control_states().into_iter().enumerate();
            for (at, state) in own.take(actions.controller_states()) {
                let of = (Source::Control(at), Quantity::Coordinate(state.kind));
                add.signal(state.name, state.unit, (Kind::State, Stage::Position), of);
            }
        });
        signals.add(Group::Drives, |add| {
            for (at, (name, unit)) in parts.drives.iter().enumerate() {
                add.reaction(name.clone(), unit, (Source::Drive(at), Quantity::Effort));
            }
        });
        signals.add(Group::ClosureForces, |add| {
            for (at, closure) in parts.closures.iter().enumerate() {
                add.wrench(&closure.name, Source::Closure(at));
            }
        });
        signals.add(Group::Violations, |add| {
            for (at, closure) in parts.closures.iter().enumerate() {
                for ((what, unit), holds) in VIOLATIONS.into_iter().zip(closure.holds) {
                    if holds {
                        let name = format!("{}.violation.{what}", closure.name);
                        let of = (Source::Closure(at), Quantity::Violation);
                        add.signal(name, unit, (Kind::Audit, Stage::Position), of);
                    }
                }
            }
        });
        for (at, node) in parts.nodes.iter().enumerate() {
            signals.add(Group::Node(at), |add| {
                for (name, unit, quantity) in node.numbers() {
                    let what = (Kind::Output, Stage::Velocity);
                    add.signal(name, unit, what, (Source::Node(at), quantity));
                }
            });
        }
        for (at, marker) in parts.markers.iter().enumerate() {
            let id = MarkerId(at);
            signals.add(Group::Marker(id), |add| add.marker(marker, id));
        }
        signals.add(Group::Sensors, |add| {
            for (at, sensor) in actions.sensors.iter().enumerate() {
                let what = (Kind::Output, sensor.stage());
                for (name, unit) in sensor.channels() {
                    add.signal(name, unit, what, (Source::Sensor(at), Quantity::Reading));
                }
            }
        });
        signals.add(Group::Reactions, |add| {
            for (at, joint) in parts.joints.iter().enumerate() {
                add.wrench(&format!("{}.reaction", joint.name), Source::Reaction(at));
            }
        });
        signals.add(Group::SectionLoads, |add| {
            for (at, beam) in parts.beams.iter().enumerate() {
                for section in 0..beam.sections.len() {
                    add.section(beam, Source::Section(at, section), section + 1);
                }
            }
        });
        signals.add(Group::Nominal, |add| {
            for (axis, name) in &parts.nominal {
                let ([unit, ..], source) = (name.units(), Source::Axis(*axis));
                let what = (Kind::Output, Stage::Position);
                add.signal(name.nominal(), unit, what, (source, Quantity::Nominal));
                let of = (source, Quantity::TrackingError);
                add.signal(name.error(), unit, what, of);
            }
        });
        if let Some(id) = parts.tracked
            && let Some(marker) = parts.markers.get(id.0)
        {
            signals.add(Group::Tracked(id), |add| {
                for (what, quantity) in [
                    ("nominal_position", Quantity::Nominal),
                    ("position_error", Quantity::TrackingError),
                ] {
                    for axis in AXES {
                        let name = format!("{marker}.{what}.{axis}");
                        let kind = (Kind::Output, Stage::Position);
                        add.signal(name, "m", kind, (Source::Marker(id), quantity));
                    }
                }
            });
        }
        signals.add(Group::Whole, whole);
        signals.parts = parts;
        signals.make_unique();
        signals
    }

    fn add(&mut self, group: Group, fill: impl FnOnce(&mut Adding<'_>)) {
        let first = self.list.len();
        fill(&mut Adding(&mut self.list));
        self.groups.push((group, first..self.list.len()));
    }

    /// Two inputs on one joint would share a name: all but the first are numbered.
    fn make_unique(&mut self) {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (at, signal) in self.list.iter_mut().enumerate() {
            let written = signal.name.clone();
            let mut count = 1;
            if taken.contains(&written) {
                self.shared.insert(written.clone());
            }
            while taken.contains(&signal.name) {
                count += 1;
                signal.name = format!("{written}#{count}");
            }
            taken.insert(signal.name.clone());
            self.by_name.insert(signal.name.clone(), SignalId(at));
        }
    }

    /// Whether several signals would have a name; all but one have it with a number.
    pub fn is_ambiguous(&self, name: &str) -> bool {
        self.shared.contains(name)
    }

    /// The signals in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Signal> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The signal of a name.
    pub fn find(&self, name: &str) -> Option<SignalId> {
        self.by_name.get(name).copied()
    }

    /// Beginnings of names, as they choose channels, that no signal has.
    pub fn unknown<'a>(&self, beginnings: &'a [String]) -> Vec<&'a str> {
        let is_known = |beginning: &str| self.iter().any(|own| own.name.starts_with(beginning));
        let beginnings = beginnings.iter().map(String::as_str);
        beginnings.filter(|name| !is_known(name)).collect()
    }

    /// The inputs, in the order of the model.
    pub fn inputs(&self) -> impl Iterator<Item = &Signal> {
        self.iter()
            .filter(|signal| matches!(signal.source, Source::Input(_)))
    }

    /// Fills the row of all signals but those of the whole mechanism in the evaluated state; `asks` says of which signals
    /// somebody asks.
    pub(crate) fn read(
        &self,
        readout: &mut dyn Readout,
        asks: impl Fn(usize) -> bool,
        row: &mut Vec<f64>,
    ) {
        row.clear();
        for (group, range) in &self.groups {
            if *group == Group::Whole {
                break;
            }
            if range.clone().any(&asks) {
                self.read_group(*group, readout, row);
            }
            // what nobody asks for is not known
            row.resize(range.end, f64::NAN);
        }
    }

    fn read_group(&self, group: Group, readout: &mut dyn Readout, row: &mut Vec<f64>) {
        let parts = &self.parts;
        match group {
            Group::Positions => {
                for part in &parts.coordinates {
                    read_position(part, readout, row);
                }
            }
            Group::Rates => {
                for part in &parts.coordinates {
                    read_rate(part, readout, row);
                }
            }
            Group::Motors => {
                for (axis, _) in &parts.motors {
                    row.extend(readout.axis(*axis));
                }
            }
            Group::Inputs => row.extend_from_slice(&readout.efforts().inputs),
            Group::Feedback => row.extend_from_slice(&readout.efforts().feedback),
            Group::Actuators => {
                let delivered = readout.efforts().delivered.iter();
                row.extend(delivered.map(|delivery| delivery.effort));
            }
            Group::Stops => {
                let stops = readout.actions().stops.iter();
                row.extend(stops.map(|stop| stop.effort(readout.axis(stop.axis))));
            }
            Group::Control => {
                let own = readout.actions().controller_states();
                row.extend_from_slice(&readout.efforts().control[..own]);
            }
            Group::Drives => {
                row.extend((0..parts.drives.len()).map(|drive| readout.driving_effort(drive)));
            }
            Group::Sensors => read_sensors(&self.sensors, parts, readout, row),
            Group::Reactions => {
                readout.find_reactions();
                for wrench in joint_reactions(parts, readout) {
                    row.extend_from_slice(&wrench.force.0);
                    row.extend_from_slice(&wrench.moment.0);
                }
            }
            Group::SectionLoads => {
                readout.find_reactions();
                let carried = carried_wrenches(parts, readout);
                let applied = applied_wrenches(readout);
                for (at, beam) in parts.beams.iter().enumerate() {
                    for load in section_loads(at, parts, &carried, &applied, readout) {
                        read_section(beam, &load, row);
                    }
                }
            }
            Group::ClosureForces => {
                readout.find_reactions();
                for closure in 0..parts.closures.len() {
                    let wrench = readout.closure_force(closure);
                    row.extend_from_slice(&wrench.force.0);
                    row.extend_from_slice(&wrench.moment.0);
                }
            }
            Group::Violations => {
                for (at, closure) in parts.closures.iter().enumerate() {
                    let violations = readout.closure_violation(at).into_iter();
                    let held = violations.zip(closure.holds).filter(|(_, holds)| *holds);
                    row.extend(held.map(|(violation, _)| violation));
                }
            }
            Group::Node(node) => readout.read_node(node, row),
            Group::Marker(marker) => {
                let motion = readout.marker(marker);
                row.extend_from_slice(&motion.pose.translation.0);
                row.extend_from_slice(&motion.twist.linear.0);
                row.extend_from_slice(&motion.twist.angular.0);
                row.extend_from_slice(&motion.deflection.0);
                row.extend_from_slice(&motion.deflection_rate.0);
                row.extend(Quaternion::of_matrix(&motion.pose.rotation).0);
            }
            Group::Nominal => {
                for (axis, _) in &parts.nominal {
                    let [nominal, _] = readout.nominal_axis(*axis);
                    row.extend([nominal, nominal - readout.axis(*axis)[0]]);
                }
            }
            Group::Tracked(marker) => {
                let nominal = readout.nominal_marker(marker);
                let position = readout.marker(marker).pose.translation;
                row.extend_from_slice(&nominal.0);
                row.extend_from_slice(&(nominal - position).0);
            }
            Group::Whole => {}
        }
    }
}

impl Index<SignalId> for Signals {
    type Output = Signal;

    fn index(&self, SignalId(at): SignalId) -> &Signal {
        &self.list[at]
    }
}

/// Appends energy and momentum of the whole mechanism, with the work done and the balance that comes of it.
pub(crate) fn read_whole(
    stored: &EnergyAndMomentum,
    [work, dissipated, drift]: [f64; 3],
    row: &mut Vec<f64>,
) {
    let [kinetic, strain, gravity] = [stored.kinetic, stored.strain, stored.gravity];
    let total = stored.total();
    row.extend_from_slice(&[kinetic, strain, gravity, total, work, dissipated, drift]);
    row.extend_from_slice(&stored.momentum.force.0);
    row.extend_from_slice(&stored.momentum.moment.0);
}

/// Name of a load or stress in a section of a beam, which has this number from the root.
pub(crate) fn section_signal(beam: &str, number: usize, what: &str) -> String {
    format!("{beam}.section_{number}.{what}")
}

/// A list that signals are added to.
struct Adding<'a>(&'a mut Vec<Signal>);

impl Adding<'_> {
    fn signal(
        &mut self,
        name: String,
        unit: &'static str,
        (kind, stage): (Kind, Stage),
        (source, quantity): (Source, Quantity),
    ) {
        self.0.push(Signal {
            name,
            unit,
            kind,
            stage,
            source,
            quantity,
        });
    }

    fn input(&mut self, (name, unit): (String, &'static str), source: Source) {
        let of = (source, Quantity::Effort);
        self.signal(name, unit, (Kind::Input, Stage::Velocity), of);
    }

    fn reaction(&mut self, name: String, unit: &'static str, of: (Source, Quantity)) {
        self.signal(name, unit, (Kind::Output, Stage::Reaction), of);
    }

    fn wrench(&mut self, of: &str, source: Source) {
        for (what, unit) in [("force", "N"), ("moment", "N m")] {
            for axis in AXES {
                let name = format!("{of}.{what}.{axis}");
                self.reaction(name, unit, (source, Quantity::Reaction));
            }
        }
    }

    /// Loads and stresses of a section of a beam, which has this number from the root.
    fn section(&mut self, beam: &BeamPart, source: Source, number: usize) {
        let named = |what: &str| section_signal(&beam.name, number, what);
        for (what, unit) in SECTION_LOADS {
            self.reaction(named(what), unit, (source, Quantity::SectionLoad));
        }
        if let Some(section) = &beam.section {
            let known = if section.knows_shear() { 4 } else { 2 };
            for what in &SECTION_STRESSES[..known] {
                self.reaction(named(what), "Pa", (source, Quantity::Stress));
            }
        }
    }

    fn coordinates(&mut self, all: Vec<Coordinate>, of: &Coordinates, stage: Stage) {
        let source = match of {
            Coordinates::Axis(axis, _) => Source::Axis(*axis),
            Coordinates::Joint { joint, .. } => Source::Joint(*joint),
            Coordinates::Elastic { at, .. } | Coordinates::Orientation { at, .. } => {
                Source::Elastic(*at)
            }
        };
        for coordinate in all {
            let of = (source, Quantity::Coordinate(coordinate.kind));
            self.signal(coordinate.name, coordinate.unit, (Kind::State, stage), of);
        }
    }

    fn marker(&mut self, marker: &str, id: MarkerId) {
        for (what, unit, quantity, stage) in OF_MARKER {
            for axis in AXES {
                let name = format!("{marker}.{what}.{axis}");
                let of = (Source::Marker(id), quantity);
                self.signal(name, unit, (Kind::Output, stage), of);
            }
        }
        for part in QUATERNION {
            let name = format!("{marker}.quaternion.{part}");
            let what = (Kind::Output, Stage::Position);
            let of = (Source::Marker(id), Quantity::Orientation);
            self.signal(name, "1", what, of);
        }
    }
}

/// Energy and momentum.
fn whole(add: &mut Adding<'_>) {
    let what = (Kind::Audit, Stage::Velocity);
    for part in ENERGIES {
        let of = (Source::Mechanism, Quantity::Energy);
        add.signal(format!("energy.{part}"), "J", what, of);
    }
    for (part, unit) in [("linear", "kg m/s"), ("angular", "kg m^2/s")] {
        for axis in AXES {
            let name = format!("momentum.{part}.{axis}");
            let of = (Source::Mechanism, Quantity::Momentum);
            add.signal(name, unit, what, of);
        }
    }
}

/// Names and units of the torques and forces of a controller.
fn feedback_signals(controller: &Controller) -> impl Iterator<Item = (String, &'static str)> {
    controller.axes.iter().map(|axis| {
        let [.., unit] = axis.name.units();
        let (joint, what) = (&axis.name.joint, axis.name.effort_word());
        (format!("{}.{joint}.{what}", controller.name), unit)
    })
}
