//! What can be wrong with a model: data first, words second.

mod frame;
mod remedy;

use std::fmt;
use std::ops::Range;

use super::check::limits::LONGEST_NAME;
use super::path::{Document, Path, Target};
pub use frame::FrameFault;
use lissom_spatial::readable;
use remedy::{given_count, list};

/// One problem of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The key or table that is wrong.
    pub path: Path,
    /// What is wrong with it.
    pub kind: ErrorKind,
    /// The override that wrote the value, if it did not come from the file.
    pub set_by: Option<Box<str>>,
}

/// What is wrong. Messages do not repeat the path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not TOML.
    #[error("the text is not valid toml: {message}")]
    Syntax {
        /// What the reader of the text says.
        message: String,
        /// Where in the text.
        span: Option<Range<usize>>,
    },
    /// Elasticity and shortening that both count the axial strain of a bent beam.
    #[error("nonlinear elasticity and shortening both count the axial strain of bending")]
    CountedTwice,
    /// Nonlinear elasticity of a body that has no slopes.
    #[error("a nodal body has no slopes, which nonlinear elasticity needs")]
    NoSlopes,
    /// Lumped nodes asked of a body that is given by integrals.
    #[error("inertia = \"lumped_nodes\" needs lumps, which body {body} does not have")]
    NoLumps {
        /// The body.
        body: String,
    },
    /// A switch that needs a beam clamped at its root, with a body that is none.
    #[error("{switch} = \"{value}\" needs a beam clamped at its root, which body {body} is not")]
    NotClamped {
        /// The body.
        body: String,
        /// The switch.
        switch: &'static str,
        /// Its value.
        value: &'static str,
        /// A value that the body may have.
        instead: &'static str,
    },
    /// A key that the format does not have.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// A known key that is nearly the same.
        suggestion: Option<String>,
        /// Every key that may stand there.
        known: Vec<String>,
    },
    /// A key that says the right thing in another unit.
    #[error("key `{key}` has the wrong unit, or none")]
    WrongUnit {
        /// The key.
        key: String,
        /// The same with the right unit.
        expected: String,
    },
    /// A key that must be there is not.
    #[error("key `{key}` is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A value of another type than asked for.
    #[error("`{key}` is {found}, expected {expected}")]
    WrongType {
        /// The key.
        key: String,
        /// The type asked for.
        expected: String,
        /// The type that is there.
        found: String,
    },
    /// A list of the wrong length.
    #[error("`{key}` has {found} entries, expected {expected}")]
    WrongLength {
        /// The key.
        key: String,
        /// Entries asked for.
        expected: usize,
        /// Entries there.
        found: usize,
    },
    /// A word that is none of the allowed ones.
    #[error("`{key}` is {value:?}, which is not known here")]
    UnknownWord {
        /// The key.
        key: String,
        /// The word.
        value: String,
        /// The allowed words.
        allowed: Vec<String>,
    },
    /// None, or more than one, of the keys of which one is to be chosen.
    #[error("{} of {} is given, expected exactly one", given_count(.given), list(.choices))]
    NotExactlyOne {
        /// The keys given.
        given: Vec<String>,
        /// The keys to choose from.
        choices: Vec<String>,
    },
    /// A value that could not be read although its type is right.
    #[error("the value cannot be read: {message}")]
    Unreadable {
        /// Why.
        message: String,
    },
    /// An override whose text or target makes no sense.
    #[error("override `{text}` cannot be applied: {reason}")]
    BadOverride {
        /// The override.
        text: String,
        /// Why.
        reason: String,
    },
    /// A path that leads to no number of the model.
    #[error("the path `{path}` leads to no number: {reason}")]
    BadPath {
        /// The path.
        path: String,
        /// Why.
        reason: String,
    },
    /// A file of another version.
    #[error("format = {format} is not known")]
    UnknownFormat {
        /// The version written.
        format: i64,
    },
    /// NaN or infinity.
    #[error("`{key}` is {value}, which is not a finite number")]
    NotFinite {
        /// The key.
        key: String,
        /// The value.
        value: f64,
    },
    /// A model without bodies.
    #[error("the model has no body")]
    NoBodies,
    /// A name of no characters.
    #[error("the {what} has an empty name")]
    EmptyName {
        /// Kind of thing.
        what: &'static str,
    },
    /// A name with a line break, a tab or the like, which would break up tables and headers.
    #[error("the {what} name {name:?} contains a control character")]
    ControlCharacter {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that nobody could read.
    #[error(
        "the {what} name has {letters} characters, a name has at most {}",
        LONGEST_NAME
    )]
    LongName {
        /// Kind of thing.
        what: &'static str,
        /// Its characters.
        letters: usize,
    },
    /// The same name twice.
    #[error("the {what} name {name:?} is used twice")]
    DuplicateName {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that means something else already.
    #[error("the {what} name {name:?} is reserved")]
    ReservedName {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A reference to something that is not there.
    #[error("there is no {what} called {name:?}")]
    UnknownReference {
        /// Kind of thing.
        what: &'static str,
        /// The name.
        name: String,
        /// A name that is nearly the same.
        suggestion: Option<String>,
    },
    /// The ground as the child of a joint.
    #[error("joint {joint:?} has the ground as its child")]
    GroundAsChild {
        /// The joint.
        joint: String,
    },
    /// A support of a body whose axis is not known everywhere.
    #[error("body {body:?} is not a beam and cannot slide through a support")]
    NotABeam {
        /// The body.
        body: String,
    },
    /// A continuous controller that measures what only a sampled one can.
    #[error("a continuous controller cannot measure {sensor:?}: {reason}")]
    OnlySampled {
        /// The sensor.
        sensor: String,
        /// Why.
        reason: &'static str,
    },
    /// A strain gauge on a body along which no strain is known.
    #[error("body {body:?} is not a beam, along which strain could be measured")]
    NoStrain {
        /// The body.
        body: String,
    },
    /// A support of a beam that does not bend.
    #[error("beam {body:?} does not bend, so that a support has nothing to hold")]
    NothingToHold {
        /// The beam.
        body: String,
    },
    /// A support that would tie the direction of a rigid beam to a body that bends.
    #[error("support {support:?} ties rigid beam {beam:?} to body {body:?}, which bends")]
    TiedToFlexible {
        /// The support.
        support: String,
        /// The beam that slides.
        beam: String,
        /// What holds it.
        body: String,
    },
    /// A joint, loop or support between places of one body.
    #[error("{what} {name:?} connects body {body:?} with itself")]
    OnItself {
        /// Joint, loop or support.
        what: &'static str,
        /// Its name.
        name: String,
        /// The body.
        body: String,
    },
    /// A body that no joint carries.
    #[error("no joint carries body {body:?}")]
    NoJoint {
        /// The body.
        body: String,
    },
    /// Bodies that are connected with each other but not with the ground.
    #[error("nothing connects these bodies with the ground: {}", .bodies.join(", "))]
    Adrift {
        /// The bodies.
        bodies: Vec<String>,
    },
    /// A body that only a joint which cannot be reversed could carry.
    #[error(
        "body {body:?} is the parent of the {kind} joint {joint:?} and nothing else carries it"
    )]
    NotReversible {
        /// The body.
        body: String,
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A model of nodes and elements that is to be a tree.
    #[error("a model of nodes and elements has no tree formulation")]
    NodesAsTree,
    /// A joint that is cut, whose motion is prescribed.
    #[error("joint {joint:?} closes a loop and is cut, but its motion is prescribed")]
    CutPrescribed {
        /// The joint.
        joint: String,
        /// Joints of the same loops that could be cut instead.
        instead: Vec<String>,
    },
    /// A joint that is cut although it holds nothing.
    #[error("joint {joint:?} is free and holds nothing, so cutting it closes nothing")]
    CutFree {
        /// The joint.
        joint: String,
    },
    /// Axes that must be orthogonal to each other.
    #[error("the two axes are not orthogonal, which those of a universal loop are")]
    NotOrthogonal,
    /// A place that the body does not have.
    #[error("body {body:?} has no place called {at:?}")]
    UnknownPlace {
        /// The body.
        body: String,
        /// The place.
        at: String,
        /// The places it has.
        known: Vec<String>,
    },
    /// A place said by name and by position.
    #[error("the place is said twice, by `at` and by `position_m`")]
    PlaceTwice,
    /// A nodal body, where only nodes can be attached to, without the name of a node.
    #[error("body {body:?} is made of nodes, so the place needs the name of a node")]
    NodeNeeded {
        /// The body.
        body: String,
    },
    /// Something about a frame of beams.
    #[error("{0}")]
    Frame(FrameFault),
    /// A place beyond the ends of a beam.
    #[error(
        "x = {} m is outside the beam, which reaches from 0 to {} m",
        readable(.x_m), readable(.length_m)
    )]
    OutsideBeam {
        /// Position along the beam.
        x_m: f64,
        /// Length of the beam.
        length_m: f64,
    },
    /// A place beside the axis of a beam.
    #[error("the position [{}, {}, {}] is beside the axis of the beam", readable(&.position_m[0]), readable(&.position_m[1]), readable(&.position_m[2]))]
    OffAxis {
        /// The position.
        position_m: [f64; 3],
    },
    /// A number that must be above zero.
    #[error("`{key}` is {}, expected a number above zero", readable(.value))]
    NotPositive {
        /// The key.
        key: String,
        /// The value.
        value: f64,
    },
    /// A number that must not be below zero.
    #[error("`{key}` is {}, expected zero or more", readable(.value))]
    Negative {
        /// The key.
        key: String,
        /// The value.
        value: f64,
    },
    /// A number outside its range.
    #[error("`{key}` is {}, expected {expected}", readable(.value))]
    OutOfRange {
        /// The key.
        key: String,
        /// The value.
        value: f64,
        /// The range in words.
        expected: String,
    },
    /// A motion that is shaped, and does not begin or end at rest.
    #[error("the motion {ends} at a rate of {rate}, which [shaping] would deal out in jumps")]
    ShapedJump {
        /// Whether it begins or ends so.
        ends: &'static str,
        /// The rate.
        rate: f64,
    },
    /// A direction of no length.
    #[error("`{key}` is zero and has no direction")]
    ZeroDirection {
        /// The key.
        key: String,
    },
    /// The two axes of a universal joint in one line.
    #[error("the two axes of the universal joint are parallel")]
    ParallelAxes,
    /// An inertia tensor or stiffness matrix with a direction in which it is zero or negative.
    #[error("`{key}` is not positive definite")]
    NotPositiveDefinite {
        /// The key.
        key: String,
    },
    /// A matrix that must be symmetric and is not.
    #[error(
        "`{key}` is not symmetric: entry ({row}, {column}) is {}, its mirror image is {}",
        readable(.value), readable(.mirror)
    )]
    NotSymmetric {
        /// The key.
        key: String,
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry across the diagonal.
        mirror: f64,
    },
    /// An inertia that no distribution of mass has.
    #[error(
        "no distribution of mass has this `{key}`: one principal moment exceeds the sum of the others"
    )]
    ImpossibleInertia {
        /// The key.
        key: String,
        /// The point that it must be about.
        about: &'static str,
    },
    /// A beam without elastic coordinates.
    #[error("the beam {body:?} has no elastic coordinate")]
    NoModes {
        /// The body.
        body: String,
    },
    /// A property without which a kind of deformation has no meaning.
    #[error("{needed_by} needs `{property}`")]
    MissingProperty {
        /// The key that is missing.
        property: String,
        /// What needs it.
        needed_by: String,
    },
    /// Instants that do not rise.
    #[error("`{key}` does not rise: {} follows {}", readable(.value), readable(.previous))]
    NotRising {
        /// The key.
        key: String,
        /// The value before.
        previous: f64,
        /// The value.
        value: f64,
    },
    /// A key that has no effect where it stands.
    #[error("`{key}` has no effect: {reason}")]
    NoEffect {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// An input or motion on a joint that cannot move.
    #[error("joint {joint:?} is fixed and has no degree of freedom")]
    NoFreedom {
        /// The joint.
        joint: String,
    },
    /// A degree of freedom that the joint does not have.
    #[error("component = {component}, but joint {joint:?} has components 1 to {count}")]
    NoSuchComponent {
        /// The joint.
        joint: String,
        /// The component asked for.
        component: usize,
        /// The components there are.
        count: usize,
    },
    /// A torque where a force belongs, or the reverse.
    #[error("`{key}` does not suit joint {joint:?}, which takes a {expected} here")]
    WrongLoad {
        /// The key.
        key: String,
        /// The joint.
        joint: String,
        /// What it takes: torque or force.
        expected: &'static str,
    },
    /// A motion, control or measurement of a joint whose rotation is not one angle.
    #[error("joint {joint:?} has no single angle to prescribe, control or measure: it is {kind}")]
    NoSingleAngle {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A degree of freedom that is both driven and prescribed.
    #[error(
        "component {component} of joint {joint:?} has a prescribed motion, and an input or a controller"
    )]
    DrivenAndPrescribed {
        /// The joint.
        joint: String,
        /// The component.
        component: usize,
    },
    /// Two prescribed motions of one degree of freedom.
    #[error("component {component} of joint {joint:?} has two prescribed motions")]
    PrescribedTwice {
        /// The joint.
        joint: String,
        /// The component.
        component: usize,
    },
    /// A lower limit above the upper one.
    #[error("`{key}` = {} is above the upper limit {}", readable(.min), readable(.max))]
    LimitsReversed {
        /// The key of the lower limit.
        key: String,
        /// Lower limit.
        min: f64,
        /// Upper limit.
        max: f64,
    },
    /// Stops of a joint whose position has no limit.
    #[error("`stops` are at the limits of the joint's position, and it has none")]
    StopsWithoutLimits,
    /// An initial value of an elastic coordinate that the body does not have.
    #[error("body {body:?} has no elastic coordinate {name:?}")]
    UnknownCoordinate {
        /// The body.
        body: String,
        /// The coordinate.
        name: String,
        /// A coordinate of nearly that name.
        suggestion: Option<String>,
    },
}

impl ModelError {
    /// An error at a path.
    pub fn new(path: Path, kind: ErrorKind) -> Self {
        Self {
            path,
            kind,
            set_by: None,
        }
    }

    /// Byte range of the key or value at the path, or of what is nearest to it; `None` for overrides, and where the text holds no part of it.
    pub fn locate(&self, source: &str) -> Option<Range<usize>> {
        self.locate_in(&Document::read(source), source.len())
    }

    /// The same of many errors, which reads the text but once.
    pub fn locate_all<'e>(
        errors: impl IntoIterator<Item = &'e Self>,
        source: &str,
    ) -> Vec<Option<Range<usize>>> {
        let document = Document::read(source);
        let errors = errors.into_iter();
        errors
            .map(|error| error.locate_in(&document, source.len()))
            .collect()
    }

    pub(super) fn locate_in(&self, document: &Document<'_>, length: usize) -> Option<Range<usize>> {
        if let ErrorKind::Syntax { span, .. } = &self.kind {
            // the text may be another one than was parsed
            let span = span.clone()?;
            return Some(span.start.min(length)..span.end.min(length));
        }
        if self.set_by.is_some() {
            return None;
        }
        document.locate(&self.path, self.target())
    }

    fn target(&self) -> Target {
        match self.kind {
            ErrorKind::UnknownKey { .. }
            | ErrorKind::WrongUnit { .. }
            | ErrorKind::NoEffect { .. }
            | ErrorKind::WrongLoad { .. }
            | ErrorKind::UnknownCoordinate { .. } => Target::Key,
            _ => Target::Value,
        }
    }

    /// What to do about it, in one sentence without a full stop.
    pub fn remedy(&self) -> String {
        let remedy = self.kind.remedy();
        match &self.set_by {
            Some(text) => format!("{remedy} (the value was set by the override `{text}`)"),
            None => remedy,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(formatter)
    }
}

impl std::error::Error for ModelError {}
