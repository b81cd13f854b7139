//! What may go wrong with beams that slide: supports that start off their beams or that prescribed motions take off them, and
//! beams whose twist nothing holds.

use std::slice;

use lissom_core::MotionCurve;
use lissom_tree::closure::Constraints;
use lissom_tree::flex::FlexibleBody;
use lissom_tree::tree::Kinematics;
use lissom_tree::{Body, Closure, ClosureKind};

use super::warning::{BeamEnd, Warning};
use crate::model::Model;

/// Distance beyond an end, as a fraction of the beam's length, within which a support is still on it: what a run allows.
const AT_THE_END: f64 = 1e-9;
/// Instants at which prescribed motions are looked at, besides those where they are not smooth.
const INSTANTS: u32 = 400;
/// Halvings by which the instant is found at which a support leaves its beam.
const HALVINGS: usize = 50;

/// Everything that may go wrong with the supports of a model in a run over a span.
pub(super) fn warnings(tree: &Model, [start_s, end_s]: [f64; 2]) -> Vec<Warning> {
    let closures = tree.linkage.closures.iter();
    let supports = closures.filter(|closure| matches!(closure.kind, ClosureKind::OnBeam { .. }));
    let left = supports.filter_map(|support| off_beam(tree, support, [start_s, end_s]));
    left.chain(free_twists(tree)).collect()
}

/// What to say of a support that is off its beam at the start, or that prescribed motions take off it.
fn off_beam(tree: &Model, support: &Closure, [start_s, end_s]: [f64; 2]) -> Option<Warning> {
    let beam = &tree.linkage.system.bodies()[support.from.body?];
    let length_m = beam.flexible.as_ref()?.centreline.as_ref()?.length();
    let mut slide = Slide::new(tree, support, length_m);
    let place_m = slide.place(start_s);
    if slide.is_off(place_m) {
        return Some(Warning::StartsOffBeam {
            support: support.name.clone(),
            beam: beam.name.clone(),
            end: BeamEnd::nearest(place_m, length_m),
            beyond_m: slide.beyond(place_m),
            length_m,
        });
    }
    if !is_prescribed(tree, support) {
        return None;
    }
    let instants = slide.instants(start_s, end_s);
    let first = instants.iter().position(|&time| {
        let place = slide.place(time);
        slide.is_off(place)
    })?;
    let (mut early, mut late) = (instants[first.saturating_sub(1)], instants[first]);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (early + late);
        let place = slide.place(middle);
        if slide.is_off(place) {
            late = middle;
        } else {
            early = middle;
        }
    }
    let (farthest_s, beyond_m) = slide.farthest(&instants);
    let place = slide.place(late);
    Some(Warning::LeavesBeam {
        support: support.name.clone(),
        beam: beam.name.clone(),
        end: BeamEnd::nearest(place, length_m),
        time_s: late,
        farthest_s,
        beyond_m,
        length_m,
    })
}

/// Whether nothing but prescribed joints moves a support along its beam, but for what links bend.
fn is_prescribed(tree: &Model, support: &Closure) -> bool {
    let bodies = tree.linkage.system.bodies();
    let way = |from: Option<usize>| {
        std::iter::successors(from, |&body| bodies[body].parent).collect::<Vec<usize>>()
    };
    let (beam, holder) = (way(support.from.body), way(support.to.body));
    let between = (beam.iter().filter(|body| !holder.contains(body)))
        .chain(holder.iter().filter(|body| !beam.contains(body)));
    let is_given = |body: &Body| body.joint.kind.velocities() == 0 || body.joint.prescribed;
    between.clone().all(|&body| is_given(&bodies[body]))
        && between.clone().any(|&body| bodies[body].joint.prescribed)
}

/// A support along its beam while prescribed joints move and all else stays as it starts.
struct Slide<'m> {
    tree: &'m Model,
    support: &'m Closure,
    length_m: f64,
    curves: Vec<MotionCurve>,
    kinematics: Kinematics<f64>,
    constraints: Constraints<f64>,
    position: Vec<f64>,
    at_rest: Vec<f64>,
}

impl<'m> Slide<'m> {
    fn new(tree: &'m Model, support: &'m Closure, length_m: f64) -> Self {
        let system = &tree.linkage.system;
        let motions = tree.motions.iter();
        Self {
            tree,
            support,
            length_m,
            curves: (motions.map(|motion| MotionCurve::new(&motion.profile, motion.initial)))
                .collect(),
            kinematics: Kinematics::new(system),
            constraints: Constraints::new(system, slice::from_ref(support)),
            position: tree.initial_position.clone(),
            at_rest: vec![0.0; system.velocity_count()],
        }
    }

    /// Where along the beam the support is at an instant.
    fn place(&mut self, time: f64) -> f64 {
        for (motion, curve) in self.tree.motions.iter().zip(&self.curves) {
            self.position[motion.position] = curve.at(time).position;
        }
        let system = &self.tree.linkage.system;
        let (position, at_rest) = (&self.position, &self.at_rest);
        self.kinematics.update(system, position, at_rest);
        self.constraints.update(
            system,
            slice::from_ref(self.support),
            &mut self.kinematics,
            position,
            at_rest,
        );
        self.constraints.place_along(0).unwrap_or(0.0)
    }

    /// How far beyond the nearer end a place is; negative on the beam.
    fn beyond(&self, place: f64) -> f64 {
        (-place).max(place - self.length_m)
    }

    fn is_off(&self, place: f64) -> bool {
        self.beyond(place) > AT_THE_END * self.length_m
    }

    /// Instants of a span between which the motions are smooth and do not turn often.
    fn instants(&self, start: f64, end: f64) -> Vec<f64> {
        let even = (0..=INSTANTS).map(|i| {
            let share = f64::from(i) / f64::from(INSTANTS);
            start + share * (end - start)
        });
        let breaks = self.curves.iter().flat_map(MotionCurve::breakpoints);
        let inside = breaks.filter(|&time| time > start && time < end);
        let mut instants: Vec<f64> = even.chain(inside).collect();
        instants.sort_by(f64::total_cmp);
        instants
    }

    /// When the support is farthest beyond an end, and how far.
    fn farthest(&mut self, instants: &[f64]) -> (f64, f64) {
        let mut beyond_at = |time: f64| {
            let place = self.place(time);
            self.beyond(place)
        };
        let mut farthest = (0, f64::NEG_INFINITY);
        for (i, &time) in instants.iter().enumerate() {
            let beyond = beyond_at(time);
            if beyond > farthest.1 {
                farthest = (i, beyond);
            }
        }
        // between the neighbours there is one extreme
        let last = instants.len() - 1;
        let mut early = instants[farthest.0.saturating_sub(1)];
        let mut late = instants[(farthest.0 + 1).min(last)];
        for _ in 0..HALVINGS {
            let third = (late - early) / 3.0;
            if beyond_at(early + third) < beyond_at(late - third) {
                early += third;
            } else {
                late -= third;
            }
        }
        let between = 0.5 * (early + late);
        let beyond = beyond_at(between);
        if beyond > farthest.1 {
            (between, beyond)
        } else {
            (instants[farthest.0], farthest.1)
        }
    }
}

/// Beams that can turn about their own axes without anything that resists.
fn free_twists(tree: &Model) -> Vec<Warning> {
    /// Entries of equations, which are one or a length, that are rounding.
    const NOTHING: f64 = 1e-9;
    let system = &tree.linkage.system;
    let twists = |body: &Body| {
        let flexible = body.flexible.as_ref()?;
        let torsion = flexible.centreline.as_ref()?.torsion();
        let mut rigid = FlexibleBody::rigid_directions(flexible).into_iter();
        rigid.find(|direction| direction.iter().all(|(at, _)| torsion.contains(at)))
    };
    let floating: Vec<_> = (system.bodies().iter().enumerate())
        .filter_map(|(k, body)| Some((k, twists(body)?)))
        .collect();
    if floating.is_empty() {
        return Vec::new();
    }
    let at_rest = vec![0.0; system.velocity_count()];
    let mut kinematics = Kinematics::new(system);
    let mut constraints = Constraints::new(system, &tree.linkage.closures);
    let position = &tree.initial_position;
    kinematics.update(system, position, &at_rest);
    constraints.update(
        system,
        &tree.linkage.closures,
        &mut kinematics,
        position,
        &at_rest,
    );
    let is_free = |&(k, ref direction): &(usize, Vec<(usize, f64)>)| {
        let first = system.layout().elastic_velocity[k];
        (0..constraints.len()).all(|row| {
            let row = &constraints.row(row)[first..];
            let rate: f64 = direction.iter().map(|&(at, x)| row[at] * x).sum();
            rate.abs() < NOTHING
        })
    };
    (floating.iter().filter(|twist| is_free(twist)))
        .map(|&(k, _)| Warning::FreeTwist {
            beam: system.bodies()[k].name.clone(),
        })
        .collect()
}
