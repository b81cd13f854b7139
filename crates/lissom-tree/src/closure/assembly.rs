//! Closed configurations: from approximate joint values, or from what is given of a mechanism, to positions
//! and rates at which every loop is closed.
//!
//! Direct kinematics holds joints, inverse kinematics prescribes components of markers, and the assembly of a
//! model at its start may hold nothing: all three are the [`Targets`] of [`close`]. Elastic coordinates are always
//! given. What remains is solved by Newton steps of least size, damped where they do not help (Levenberg),
//! and then moved within the closed configurations towards the guess, so that the sum of squares of what
//! changes is least. Where that fails, or ends in another branch than is asked for, other guesses are tried
//! in a fixed order.

use super::definition::{AssemblyHints, ClosureMethod};
use super::rank::{SparseRow, sparse_rank};
use super::solver::{Solver, nearest_turn};
use crate::tree::{difference, displace};
use crate::{JointKind, Linkage};
use lissom_spec::spec::TwistComponent;

/// Guesses that are tried before a mechanism counts as impossible to assemble.
const GUESSES: usize = 48;
/// Configurations within limits of which the nearest is taken where the first guess leads to none.
const ENOUGH: usize = 3;
/// Rate, relative to the largest, that a closed mechanism may keep at its closures: what is left by solving
/// for rates at a configuration that is closed to rounding.
const CLOSED_RATE: f64 = 1e-10;
/// Change of the configuration within which it is looked at for redundancy.
const NEARBY: f64 = 0.02;
/// The same of elastic coordinates, relative to it.
const NEARBY_BENDING: f64 = 0.1;

/// Change of a joint, in radians or metres, beyond which a configuration is another one rather than one nearby.
const SAME_BRANCH: f64 = 0.5;

/// What is given of a configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// Position vector near which a configuration is looked for; given where held or elastic.
    pub position: Vec<f64>,
    /// Velocity vector, likewise.
    pub velocity: Vec<f64>,
    /// Entries of the velocity vector whose coordinates keep their positions and rates.
    pub held: Vec<usize>,
    /// Components of markers.
    pub markers: Vec<MarkerTarget>,
    /// Entries of the position vector and the sign that each is to have.
    pub branches: Vec<(usize, f64)>,
    /// What coordinates that are free have to stay within.
    pub limits: Vec<CoordinateLimit>,
}

/// The smallest and the largest value of an angle or a displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateLimit {
    /// Entry of the position vector.
    pub position: usize,
    /// Entry of the velocity vector.
    pub velocity: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl CoordinateLimit {
    /// The value next to one that is allowed.
    pub(super) fn within(&self, value: f64) -> f64 {
        value.max(self.min).min(self.max)
    }
}

/// A component of a marker's pose and of its velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkerTarget {
    /// Index of the marker.
    pub marker: usize,
    /// Which component: of the position, or of the rotation vector, in ground axes.
    pub component: TwistComponent,
    /// Its value.
    pub position: f64,
    /// The same component of the twist in ground axes.
    pub rate: f64,
}

/// A closed configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// Position vector.
    pub position: Vec<f64>,
    /// Velocity vector.
    pub velocity: Vec<f64>,
    /// Largest violation that rounding leaves, m or rad.
    pub violation: f64,
}

/// Why there is no closed configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The best configuration found leaves a gap.
    #[error(
        "the loops cannot be closed: {equation} stays open by {gap:.3e} {unit}; correct lengths and places, \
         give joint values nearer to a closed configuration, or hold fewer of them"
    )]
    Open {
        /// The loop or joint whose equation is violated most, if it is not a marker's.
        closure: Option<String>,
        /// The equation.
        equation: String,
        /// By how much.
        gap: f64,
        /// In metres or radians.
        unit: &'static str,
    },
    /// A marker cannot be where it should be.
    #[error(
        "marker {marker:?} cannot be where it should: {distance_m:.4e} m and {angle_rad:.4e} rad from there is the nearest that was \
         found{}; ask for less of it, or choose another place",
        if *.limited { " within the limits of the joints" } else { "" }
    )]
    Unreachable {
        /// The marker.
        marker: String,
        /// Distance that is left.
        distance_m: f64,
        /// Angle that is left.
        angle_rad: f64,
        /// Whether joints have limits.
        limited: bool,
    },
    /// A gap in a direction in which nothing can move.
    #[error(
        "the closures contradict each other: {equation} stays open by {gap:.3e} {unit}, and no joint moves that \
         way; correct places and axes, or let the loop leave that motion free"
    )]
    Contradiction {
        /// The loop or joint.
        closure: Option<String>,
        /// The equation.
        equation: String,
        /// By how much.
        gap: f64,
        /// In metres or radians.
        unit: &'static str,
    },
    /// The loops close, but not in the branch that is asked for.
    #[error(
        "the loops close only with {coordinate} {}; correct its branch, or the guess of the other joints",
        if *.sign > 0.0 { "below zero" } else { "above zero" }
    )]
    Branch {
        /// The coordinate.
        coordinate: String,
        /// The sign that was asked for.
        sign: f64,
    },
    /// The rates that are given cannot be had.
    #[error(
        "the rates contradict each other: {equation} opens at {rate:.3e} {unit}/s; give fewer rates, or \
         others"
    )]
    Rates {
        /// The loop or joint.
        closure: Option<String>,
        /// The equation.
        equation: String,
        /// How fast.
        rate: f64,
        /// In metres or radians, per second.
        unit: &'static str,
    },
    /// Components of a marker cannot be independent coordinates.
    #[error(
        "the velocity of marker {marker:?} determines {determined} of {needed} rigid degrees of freedom; choose \
         another marker, or another closure"
    )]
    Marker {
        /// The marker.
        marker: String,
        /// Independent components it has.
        determined: usize,
        /// Degrees of freedom.
        needed: usize,
    },
}

/// Finds the configuration nearest to a guess at which all loops of `model` are closed and all targets are met.
///
/// # Errors
/// What stays open.
pub fn close(linkage: &Linkage, targets: &Targets) -> Result<Closed, AssemblyError> {
    let mut solver = Solver::new(linkage, targets);
    let guess = &targets.position;
    let mut first = with_branches(linkage, targets, guess.clone());
    solver.limit(&mut first);
    let mut closed: Option<(f64, Vec<f64>)> = None;
    let mut wrong_branch = None;
    let mut found_within = 0;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for attempt in 0..GUESSES {
        let start = match attempt {
            0 => first.clone(),
            _ => other_guess(linkage, targets, &solver, &first, attempt),
        };
        let mut found = start;
        let is_closed = solver.close(&mut found);
        if !is_closed {
            let gap = solver.gap();
            if best.as_ref().is_none_or(|(least, _)| gap < *least) {
                best = Some((gap, found));
            }
            continue;
        }
        nearest_turn(linkage, targets, &solver.free, &mut found);
        solver.approach(guess, &mut found);
        if let Some(branch) = missed_branch(linkage, targets, &found) {
            wrong_branch = Some(branch);
            continue;
        }
        let change = difference(&linkage.system, &found, guess);
        let distance: f64 = solver.free.iter().map(|&at| change[at] * change[at]).sum();
        if closed.as_ref().is_none_or(|(least, _)| distance < *least) {
            closed = Some((distance, found));
        }
        found_within += usize::from(!targets.limits.is_empty());
        if attempt == 0 || found_within == ENOUGH {
            break;
        }
    }
    let Some((_, position)) = closed else {
        if let Some((at, sign)) = wrong_branch {
            return Err(AssemblyError::Branch {
                coordinate: linkage.positions[at].name.clone(),
                sign,
            });
        }
        let mut position = best.map_or(first, |(_, position)| position);
        let open = solver.open(&position);
        let apart = match open {
            AssemblyError::Open { .. } => solver.nearest(&mut position),
            _ => None,
        };
        return Err(apart.unwrap_or(open));
    };
    let mut velocity = targets.velocity.clone();
    solver.close_rates(&position, &mut velocity, CLOSED_RATE)?;
    Ok(Closed {
        violation: solver.violation(),
        position,
        velocity,
    })
}

/// The closed configuration that is found from a guess by Newton steps of least size; `None` where they find none, or lead
/// to another branch. Elastic coordinates keep the values of the guess, as held ones do.
pub fn close_nearby(linkage: &Linkage, position: &[f64], held: Vec<usize>) -> Option<Vec<f64>> {
    let targets = Targets {
        position: position.to_vec(),
        velocity: vec![0.0; linkage.velocities.len()],
        held,
        ..Targets::default()
    };
    let mut solver = Solver::new(linkage, &targets);
    let mut found = position.to_vec();
    if !solver.close(&mut found) {
        return None;
    }
    let change = difference(&linkage.system, &found, position);
    (change.iter().all(|x| x.abs() < SAME_BRANCH)).then_some(found)
}

/// A guess with joints turned to the side of their branch.
fn with_branches(linkage: &Linkage, targets: &Targets, mut position: Vec<f64>) -> Vec<f64> {
    /// How far a joint on the wrong side is turned, rad or m.
    const LEAST: f64 = 0.5;
    for &(at, sign) in &targets.branches {
        let value = wrapped(linkage, at, position[at]);
        if value * sign < LEAST {
            position[at] = sign * value.abs().max(LEAST);
        }
    }
    position
}

/// An angle between −π and π; a displacement as it is.
fn wrapped(linkage: &Linkage, at: usize, value: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if linkage.positions[at].unit == "rad" {
        value - TAU * ((value + PI) / TAU).floor()
    } else {
        value
    }
}

/// The first branch that a configuration is not in.
fn missed_branch(linkage: &Linkage, targets: &Targets, position: &[f64]) -> Option<(usize, f64)> {
    let missed = |(at, sign): &&(usize, f64)| wrapped(linkage, *at, position[*at]) * sign <= 0.0;
    targets.branches.iter().find(missed).copied()
}

/// One of a fixed sequence of guesses that fills the space of free joints evenly.
fn other_guess(
    linkage: &Linkage,
    targets: &Targets,
    solver: &Solver<'_>,
    first: &[f64],
    attempt: usize,
) -> Vec<f64> {
    /// Golden ratio: its multiples fill the unit interval most evenly.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut step = vec![0.0; linkage.velocities.len()];
    for (i, &at) in solver.free.iter().enumerate() {
        let fraction = (attempt as f64 * GOLDEN * (1.0 + i as f64).sqrt()).fract();
        // from near the guess to anywhere
        let widest = if attempt.is_multiple_of(2) { 3.0 } else { 1.0 };
        step[at] = widest * (2.0 * fraction - 1.0);
    }
    let mut guess = first.to_vec();
    displace(&linkage.system, &mut guess, &step);
    for limit in &targets.limits {
        // anywhere between limits, wherever the guess is
        if let Ok(i) = solver.free.binary_search(&limit.velocity)
            && (limit.max - limit.min).is_finite()
        {
            let fraction = (attempt as f64 * GOLDEN * (1.0 + i as f64).sqrt()).fract();
            guess[limit.position] = limit.min + fraction * (limit.max - limit.min);
        }
    }
    let mut guess = with_branches(linkage, targets, guess);
    solver.limit(&mut guess);
    guess
}

/// Closes the loops at a start: joints move as little as possible from where they are, held and prescribed ones
/// not at all. Components of a marker that were left open as independent coordinates are chosen.
///
/// # Errors
/// What stays open.
pub fn assemble(
    linkage: &mut Linkage,
    hints: &AssemblyHints,
    position: &mut Vec<f64>,
    velocity: &mut Vec<f64>,
) -> Result<(), AssemblyError> {
    if linkage.closures.is_empty() {
        return Ok(());
    }
    let held = hints.held.iter().map(|held| held.velocity);
    let targets = Targets {
        position: position.clone(),
        velocity: velocity.clone(),
        held: held.chain(linkage.prescribed.iter().copied()).collect(),
        markers: Vec::new(),
        branches: hints.branches.clone(),
        limits: Vec::new(),
    };
    let closed = close(linkage, &targets)?;
    (*position, *velocity) = (closed.position, closed.velocity);
    choose_components(linkage, position, velocity)
}

/// What the loops of an assembled linkage leave of its freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// Degrees of freedom by the rank of the closures, at the start or near it where the start is singular.
    pub mobility: super::Mobility,
    /// Degrees of freedom by Grübler's count: those of the bodies as rigid ones less one for every equation.
    pub gruebler: isize,
    /// Whether equations that are independent nearby are not so at the start.
    pub singular_start: bool,
}

/// Counts degrees of freedom at the start of an assembled linkage and at closed configurations near it: what is
/// redundant at all of them is so by construction, what is redundant at the start alone makes it singular.
///
/// What the mechanism could do if nothing could bend is asked of straight links, where joints alone close the loops of these:
/// links bent out of a plane hold each other in ways that straight ones do not.
pub fn diagnose(linkage: &Linkage, start_position: &[f64]) -> Diagnosis {
    let start = super::mobility(linkage, start_position);
    let elastic = Solver::elastic(linkage);
    let mut best = start.clone();
    for nearby in nearby_mobilities(linkage, start_position, &elastic, NEARBY_BENDING) {
        if nearby.rank > best.rank {
            best = nearby;
        }
    }
    let singular_start = best.rank > start.rank;
    if let Some(straight) = straightened(linkage, start_position) {
        let nearby = nearby_mobilities(linkage, &straight, &all_elastic(linkage), 0.0);
        best.rigid = super::mobility(linkage, &straight).rigid;
        for nearby in nearby {
            best.rigid[1] = best.rigid[1].min(nearby.rigid[1]);
        }
    }
    let gruebler = best.rigid[0].checked_signed_diff(start.equations);
    Diagnosis {
        singular_start,
        mobility: best,
        gruebler: gruebler.unwrap_or(0),
    }
}

/// Entries of the velocity vector that belong to functions along bodies, those of rigid motions among them.
fn all_elastic(linkage: &Linkage) -> Vec<usize> {
    let layout = linkage.system.layout();
    (linkage.system.bodies().iter().enumerate())
        .flat_map(|(k, body)| {
            let first = layout.elastic_velocity[k];
            first..first + body.modes()
        })
        .collect()
}

/// What closed configurations near one leave of the freedom; `elastic` entries differ by `bending` of what others do.
fn nearby_mobilities(
    linkage: &Linkage,
    position: &[f64],
    elastic: &[usize],
    bending: f64,
) -> Vec<super::Mobility> {
    let mut sizes = vec![1.0; linkage.velocities.len()];
    for &at in elastic {
        sizes[at] = bending;
    }
    let nearby = |attempt: usize| {
        let step = sizes.iter().enumerate();
        let step: Vec<f64> = step
            .map(|(at, size)| NEARBY * size * (1.0 + (at * (attempt + 1)) as f64).sin())
            .collect();
        let mut position = position.to_vec();
        displace(&linkage.system, &mut position, &step);
        let targets = near(linkage, &position);
        let closed = Solver::new(linkage, &targets).close(&mut position);
        closed.then(|| super::mobility(linkage, &position))
    };
    (1..=3).filter_map(nearby).collect()
}

/// The configuration next to one in which no link is bent, if joints can close it.
fn straightened(linkage: &Linkage, position: &[f64]) -> Option<Vec<f64>> {
    let system = &linkage.system;
    let layout = system.layout();
    let mut straight = position.to_vec();
    for (k, body) in system.bodies().iter().enumerate() {
        straight[layout.elastic_position[k]..][..body.modes()].fill(0.0);
    }
    let targets = near(linkage, &straight);
    let closed = Solver::new(linkage, &targets).close(&mut straight);
    closed.then_some(straight)
}

/// Nothing is given but a configuration to be near.
fn near(linkage: &Linkage, position: &[f64]) -> Targets {
    Targets {
        velocity: vec![0.0; linkage.velocities.len()],
        position: position.to_vec(),
        ..Targets::default()
    }
}

/// Chooses the components of a marker that were left open: the first independent ones, as many as there are
/// rigid degrees of freedom.
///
/// # Errors
/// When the marker has too few.
pub fn choose_components(
    linkage: &mut Linkage,
    position: &[f64],
    velocity: &[f64],
) -> Result<(), AssemblyError> {
    let ClosureMethod::CartesianSpace { marker, components } = &linkage.closure_method else {
        return Ok(());
    };
    if !components.is_empty() {
        return Ok(());
    }
    let marker = *marker;
    let given: Vec<usize> = linkage.prescribed.clone();
    let targets = Targets {
        position: position.to_vec(),
        velocity: velocity.to_vec(),
        held: given,
        markers: TwistComponent::ALL
            .map(|component| MarkerTarget {
                marker,
                component,
                position: 0.0,
                rate: 0.0,
            })
            .to_vec(),
        ..Targets::default()
    };
    let mut solver = Solver::new(linkage, &targets);
    solver.evaluate(&targets.position, &targets.velocity);
    let columns = solver.free.len();
    let closures = solver.equations();
    let mut rows = solver.rate_rows(0..closures);
    let rank = |rows: &[SparseRow]| sparse_rank(rows, columns).independent.len();
    let closed = rank(&rows);
    let needed = columns - closed;
    let mut chosen = Vec::new();
    for (i, component) in TwistComponent::ALL.into_iter().enumerate() {
        if chosen.len() == needed {
            break;
        }
        let mut more = rows.clone();
        more.extend(solver.rate_rows(closures + i..closures + i + 1));
        if rank(&more) > closed + chosen.len() {
            rows = more;
            chosen.push(component.entry());
        }
    }
    if chosen.len() < needed {
        return Err(AssemblyError::Marker {
            marker: linkage.markers[marker].name.clone(),
            determined: chosen.len(),
            needed,
        });
    }
    linkage.closure_method = ClosureMethod::CartesianSpace {
        marker,
        components: chosen,
    };
    Ok(())
}

/// Whether an entry of the position vector is an angle that a whole turn leaves as it was.
pub(super) fn is_angle(linkage: &Linkage, body: usize) -> bool {
    matches!(
        linkage.system.bodies()[body].joint.kind,
        JointKind::Revolute { .. }
    )
}
