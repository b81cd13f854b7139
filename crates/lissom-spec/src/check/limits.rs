//! Limits that checks and the JSON Schema share.

/// Largest number of a model in any unit: forces and energies made of a few such are still numbers.
pub(crate) const LARGEST: f64 = 1e30;

/// Smallest number of a model, in any unit, that counts as more than zero where one must be: the other end of the same range.
pub(crate) const SMALLEST: f64 = 1e-30;

/// Largest angle at a start or of a motion: its sine keeps ten digits.
pub(crate) const LARGEST_ANGLE_RAD: f64 = 1e6;

/// Most characters of a name: channels are named after it, and files of recordings keep their names within 65535 bytes.
pub(crate) const LONGEST_NAME: usize = 200;

/// Problems after which the rest is not looked for as closely: nobody reads more, and each takes its time and memory.
pub(crate) const MOST_ERRORS: usize = 1000;

/// Most functions of a deformation of a beam.
pub(crate) const MOST_MODES: usize = 128;

/// Most freedoms of one deformation of a beam, whose matrices are dense.
pub const MOST_BEAM_FREEDOMS: usize = 512;

/// Most elements of a beam that is reduced.
pub(crate) const MOST_ELEMENTS: usize = 1000;

/// Most elements that a beam between two nodes is divided into.
pub(crate) const MOST_DIVISIONS: usize = 1000;

/// Most elements of a beam: modes and linear models of nodal equations are dense, at a cost that grows with the cube of their number.
pub(crate) const MOST_ELEMENTS_PER_LINK: usize = 200;
/// Most sections of a beam in which loads are recorded; each has up to ten channels.
pub(crate) const MOST_LOAD_SECTIONS: usize = 201;

/// Shortest run: nothing that an arm does is faster, and steps of much shorter ones are lost in rounding.
pub(crate) const SHORTEST_S: f64 = 1e-12;

/// Smallest frequency, and smallest rate, acceleration and jerk that limits something or tells motion from rest: a turn takes 200,000
/// years.
pub(crate) const SLOWEST: f64 = 1e-12;

/// Shortest step and period of samples: a thousandth of the shortest run.
pub(crate) const SHORTEST_STEP_S: f64 = 1e-15;

/// Smallest tolerance of Newton's iteration: below it every correction is rounding.
pub(crate) const SMALLEST_NEWTON_TOLERANCE: f64 = 1e-16;

/// Largest tolerance of Newton's iteration, relative to the terms of the equations.
pub(crate) const LARGEST_NEWTON_TOLERANCE: f64 = 1.0;

/// Largest absolute tolerance: an arm that is a metre or a radian off has not been simulated.
pub(crate) const LARGEST_ATOL: f64 = 1.0;

/// Smallest relative tolerance: below it integrators would chase rounding.
pub(crate) const SMALLEST_RTOL: f64 = 1e-14;
