//! Loops of a model: cut joints and closures as elements, and which coordinates follow from which.
//!
//! A loop takes freedoms away. The mechanism is first built open, each closure an element whose deformations are free,
//! and placed where the loops are closed. There the rates of those deformations by the degrees of freedom are known;
//! elimination with pivots says which of the deformations are independent. These become fixed, and
//! as many degrees of freedom become free: spherical joints that nothing drives first, then axes that
//! nothing drives, then driven ones, then deformations of beams. Where that leaves a loop open, all spherical and free joints
//! are asked first, as a platform on prescribed legs needs it. Where that does not do either, such joints are taken apart
//! (`unfold`), so that a part of their freedoms follows: the coupler between two ball joints leads its own twist.
//! Deformations that depend on others, as those out of a planar linkage's plane do, stay free.

use std::collections::BTreeMap;

use super::build::{Builder, least_along, missing};
use super::joints::Carrier;
use super::unfold::{UnfoldedAxis, Unfolding};
use super::{CarryingJoint, Holding, NodalAxis, NodalBall, NodalClosure, NodalModelError, Side};
use crate::model::Model;
use lissom_nodal::{Assembly, Drive, ElementId, Equations, Mechanism, Role};
use lissom_spatial::{Matrix, RotationVector, Vector};
use lissom_spec::spec::{
    AttachmentSpec, ClosureSpec, JointKind, JointSpec, LoopKind, LoopSpec, ModelSpec, Place,
};
use lissom_spec::{SpanningTree, is_acted_on};
use lissom_tree::CoordinateKind;

/// Pivots below this part of the largest rate count as zero: rounding leaves 1e-14, an independent closure of a
/// mechanism that can be used much more.
const DEPENDENT: f64 = 1e-9;
/// Rates of closures, of unit rates of joints, that are rounding.
const UNMOVED: f64 = 1e-12;
/// Gap, in m or rad, that rounding leaves where the loops are closed.
const CLOSED: f64 = 1e-8;
/// Displacement of the degrees of freedom by which redundancy is told from a singular start.
const NEARBY: f64 = 1e-3;
/// Opening of a redundant closure nearby; one that is not redundant opens by the square of the displacement.
const STILL_CLOSED: f64 = 1e-9;

/// A deformation that vanishes where a loop is closed.
#[derive(Clone, Debug)]
pub(super) struct Closing {
    name: String,
    element: ElementId,
    deformation: usize,
}

impl Closing {
    /// The element, and which of its deformations.
    pub(super) fn deformation(&self) -> (ElementId, usize) {
        (self.element, self.deformation)
    }
}

/// What a closure holds.
#[derive(Clone, Copy, Debug)]
enum Held {
    Revolute([f64; 3]),
    Prismatic([f64; 3]),
    Universal([f64; 3], [f64; 3]),
    Spherical,
    Fixed,
    PointOnLine([f64; 3]),
    Distance(f64),
}

/// Positions and rates of the joints of a model where its loops are closed, by the names of channels; none without loops.
pub(super) fn closed_start(model: &Model) -> BTreeMap<String, f64> {
    let linkage = &model.linkage;
    if linkage.closures.is_empty() {
        return BTreeMap::new();
    }
    let positions = linkage.positions.iter().zip(&model.initial_position);
    let velocities = linkage.velocities.iter().zip(&model.initial_velocity);
    positions
        .chain(velocities)
        .filter(|(coordinate, _)| coordinate.kind != CoordinateKind::Elastic)
        .map(|(coordinate, &value)| (coordinate.name.clone(), value))
        .collect()
}

/// Columns x along the axis, y and z.
fn about(axis: [f64; 3]) -> Matrix<f64> {
    let unit = |v: Vector<f64>| v.scale(1.0 / v.dot(v).sqrt());
    let x = unit(Vector(axis));
    let across = Vector(least_along(x));
    let y = unit(across - x.scale(x.dot(across)));
    Matrix([x.0, y.0, x.cross(y).0]).transpose()
}

impl<'a> Builder<'a> {
    /// Adds everything that closes a loop, open as yet.
    pub(super) fn add_closures(&mut self, tree: &SpanningTree) -> Result<(), NodalModelError> {
        let spec = self.spec;
        for &cut in &tree.cuts {
            let joint = &spec.joint[cut];
            if is_acted_on(spec, joint) {
                self.add_stub(joint)?;
                continue;
            }
            let held = match joint.kind() {
                Some(JointKind::Revolute(revolute)) => Held::Revolute(revolute.axis),
                Some(JointKind::Prismatic(prismatic)) => Held::Prismatic(prismatic.axis),
                Some(JointKind::Universal(universal)) => {
                    Held::Universal(universal.first.axis, universal.second.axis)
                }
                Some(JointKind::Spherical(_)) => Held::Spherical,
                Some(JointKind::Fixed) => Held::Fixed,
                Some(JointKind::Free(_)) | None => continue,
            };
            let from = self.side(&joint.parent, false)?;
            let to = self.side(&joint.child, true)?;
            self.add_closure(&joint.name, held, from, to);
        }
        for closure in &spec.loops {
            self.add_loop(closure)?;
        }
        Ok(())
    }

    /// A joint that is cut and acted on: it carries a stub without inertia, which is welded to the joint's child.
    fn add_stub(&mut self, joint: &'a JointSpec) -> Result<(), NodalModelError> {
        let kind = joint.kind().ok_or_else(|| missing(&joint.name))?;
        let parent = self.side(&joint.parent, false)?;
        let carrier = Carrier {
            end: parent.end,
            frame: parent.frame,
            reversed: false,
        };
        let end = self.across(&joint.name, kind, &carrier);
        let stub = Side {
            body: Some(self.carrying.len()),
            end,
            frame: parent.frame,
        };
        self.carrying.push(CarryingJoint {
            name: joint.name.clone(),
            parent: parent.body,
            reversed: false,
            side: stub,
        });
        let child = self.side(&joint.child, true)?;
        self.add_closure(&joint.name, Held::Fixed, stub, child);
        Ok(())
    }

    fn add_loop(&mut self, closure: &'a LoopSpec) -> Result<(), NodalModelError> {
        let held = match closure.kind() {
            Some(LoopKind::Revolute(revolute)) => Held::Revolute(revolute.axis),
            Some(LoopKind::Prismatic(prismatic)) => Held::Prismatic(prismatic.axis),
            Some(LoopKind::Universal(universal)) => {
                Held::Universal(universal.axes[0], universal.axes[1])
            }
            Some(LoopKind::Spherical) => Held::Spherical,
            Some(LoopKind::Fixed) => Held::Fixed,
            Some(LoopKind::PointOnLine(line)) => Held::PointOnLine(line.direction),
            Some(LoopKind::Distance(distance)) => Held::Distance(distance.length_m),
            None => return Ok(()),
        };
        let [from, to] = [&closure.from, &closure.to].map(|end| self.spec.loop_end(end));
        let from = self.side_at(from.body, from.place, from.rotation_vector_rad, false)?;
        let to = self.side_at(to.body, to.place, to.rotation_vector_rad, false)?;
        self.add_closure(&closure.name, held, from, to);
        Ok(())
    }

    fn side(&mut self, at: &AttachmentSpec, child_side: bool) -> Result<Side, NodalModelError> {
        self.side_at(&at.body, at.place(), at.rotation_vector_rad, child_side)
    }

    fn side_at(
        &mut self,
        body: &str,
        place: Place<'_>,
        rotation_vector_rad: [f64; 3],
        child_side: bool,
    ) -> Result<Side, NodalModelError> {
        let end = self.place(body, place, child_side)?;
        let turn = RotationVector::new(Vector(rotation_vector_rad)).matrix();
        let frame = self.orientation(body) * turn;
        let body = self.body_index.get(body).copied();
        Ok(Side { body, end, frame })
    }

    fn add_closure(&mut self, name: &str, held: Held, from: Side, to: Side) {
        let holding = self.add_holding(name, held, from, to);
        self.closures.push(NodalClosure {
            name: name.to_owned(),
            from: from.body,
            to,
            holding,
        });
    }

    /// Adds the elements that hold places and directions together.
    fn add_holding(&mut self, name: &str, held: Held, from: Side, to: Side) -> Holding {
        // points of which some offsets are held, orientations of which some angles are
        let (line, offsets): ([f64; 3], &'static [usize]) = match held {
            Held::Distance(length) => {
                let ends = [from.end.point, to.end.point];
                let truss = self
                    .assembly
                    .truss_of_length(name, ends[0], ends[1], 0.0, length);
                self.add_closing(name, truss, &[0]);
                return [Some((truss, &[0])), None];
            }
            Held::Prismatic(axis) => (axis, &[1, 2]),
            Held::PointOnLine(direction) => (direction, &[1, 2]),
            _ => ([1.0, 0.0, 0.0], &[0, 1, 2]),
        };
        // bodies that turn about one point of the ground share it: nothing can come between them
        let slider = (from.end.point != to.end.point).then(|| {
            let direction = from.frame * Vector(line);
            let across = least_along(direction);
            let slider = self
                .assembly
                .slider(name, from.end, to.end.point, direction.0, across);
            self.add_closing(name, slider, offsets);
            (slider, offsets)
        });
        let (frames, angles): ([Matrix<f64>; 2], &'static [usize]) = match held {
            Held::Revolute(axis) => ([about(axis); 2], &[1, 2]),
            Held::Fixed => ([about([1.0, 0.0, 0.0]); 2], &[0, 1, 2]),
            Held::Prismatic(axis) => ([about(axis); 2], &[0, 1, 2]),
            Held::Universal(first, second) => {
                // y of one side stays orthogonal to x of the other; both x agree at zero angles
                let [y, x] = [first, second].map(|axis| {
                    let axis = Vector(axis);
                    axis.scale(1.0 / axis.dot(axis).sqrt())
                });
                let cross = Matrix([x.0, y.0, x.cross(y).0]).transpose();
                ([cross, about(second)], &[1])
            }
            Held::Spherical | Held::PointOnLine(_) | Held::Distance(_) => {
                return [slider, None];
            }
        };
        let frames = [from.frame * frames[0], to.frame * frames[1]];
        let [p, q] = [from.end.orientation, to.end.orientation];
        let hinge = self.assembly.hinge_between(name, p, q, frames);
        self.add_closing(name, hinge, angles);
        [slider, Some((hinge, angles))]
    }

    fn add_closing(&mut self, name: &str, element: ElementId, deformations: &[usize]) {
        self.assembly.set_deformations(element, Role::Free);
        let closing = |&deformation: &usize| Closing {
            name: name.to_owned(),
            element,
            deformation,
        };
        self.closings.extend(deformations.iter().map(closing));
    }
}

/// What may follow from the others where a loop is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follower {
    Deformation(ElementId, usize),
    /// All of a spherical or free joint.
    Ball(ElementId),
    /// One coordinate of a spherical or free joint that is taken apart, by its place among those.
    Part(usize, usize),
}

impl Follower {
    /// Lets it follow in an assembly.
    fn release(self, assembly: &mut Assembly) {
        match self {
            Self::Deformation(element, index) => {
                assembly.set_deformation(element, index, Role::Free);
            }
            Self::Ball(element) => assembly.set_deformations(element, Role::Free),
            // those stand for what `unfold` puts in the joint's place
            Self::Part(..) => {}
        }
    }
}

/// Gives the coordinates of an assembly their roles in closed loops, and stands it where the loops are closed. `place` puts
/// the open mechanism there. Axes that stand for joints that are taken apart are returned.
pub(super) fn close(
    assembly: &mut Assembly,
    closings: &[Closing],
    joints: (&[NodalAxis], &[NodalBall]),
    (spec, is_bent): (&ModelSpec, bool),
    place: impl Fn(&Mechanism) -> (Vec<f64>, Vec<Drive>),
) -> Result<Vec<UnfoldedAxis>, NodalModelError> {
    let open = assembly.clone().finish()?;
    let (position, drives) = place(&open);
    let mut equations = Equations::new(&open)?;
    equations.place(&position, &drives)?;
    let gap = |closing: &Closing| equations.deformation(closing.element, closing.deformation);
    let left_open = closings.iter().find(|&closing| gap(closing).abs() > CLOSED);
    let left_open = left_open.map(|closing| NodalModelError::OpenLoop {
        name: closing.name.clone(),
        gap: gap(closing),
    });
    if let Some(error) = &left_open
        && !is_bent
    {
        return Err(error.clone());
    }
    let choice = Choice::new(&mut equations, closings);
    let overdriven = |row: usize| NodalModelError::OverdrivenLoop {
        name: closings[row].name.clone(),
    };
    if let Some(row) = choice.held_twice(&open) {
        return Err(overdriven(row));
    }
    let followers = Followers::new(&open, joints, spec);
    let unfolding = Unfolding::new(&choice.rows, choice.smallest, joints.1, &open);
    let chosen = followers
        .choose(choice.clone(), &followers.willing, None)
        .or_else(|_| followers.choose(choice.clone(), &followers.balls, None))
        .or_else(|_| followers.choose(choice, &[], Some(&unfolding)));
    let (choice, chosen) = chosen.map_err(overdriven)?;
    assembly.stand_as(&equations);
    for follower in &chosen {
        follower.release(assembly);
    }
    let unfolded = unfolding.apply(assembly, &equations, &chosen);
    let used = closings.iter().enumerate();
    let used: Vec<&Closing> = used
        .filter_map(|(row, closing)| choice.used[row].then_some(closing))
        .collect();
    if let Some(error) = left_open {
        close_gaps(assembly, &used).map_err(|_| error)?;
    }
    for closing in &used {
        assembly.set_deformation(closing.element, closing.deformation, Role::Fixed);
    }
    let closed = assembly.clone().finish()?;
    let left_out = closings.iter().enumerate();
    let left_out = left_out.filter(|(row, _)| !choice.used[*row]);
    stays_closed(&closed, left_out.map(|(_, closing)| closing))?;
    Ok(unfolded)
}

/// Lets those coordinates that follow close the gaps that are left where elements of a bent beam do not end where its functions
/// do.
fn close_gaps(assembly: &mut Assembly, used: &[&Closing]) -> Result<(), NodalModelError> {
    let mut driven = assembly.clone();
    for closing in used {
        driven.set_deformation(closing.element, closing.deformation, Role::Prescribed);
    }
    let driven = driven.finish()?;
    let mut drives = driven.assembled_drives();
    for closing in used {
        if let Some(drive) = driven.deformation_drive(closing.element, closing.deformation) {
            drives[drive].value = 0.0;
        }
    }
    let mut equations = Equations::new(&driven)?;
    equations.place(&driven.assembled_position(), &drives)?;
    assembly.stand_as(&equations);
    Ok(())
}

/// Asks whether closures that are left out as redundant stay closed near the start.
fn stays_closed<'c>(
    closed: &Mechanism,
    left_out: impl Iterator<Item = &'c Closing>,
) -> Result<(), NodalModelError> {
    let mut equations = Equations::new(closed)?;
    let position = closed.assembled_position();
    let mut displaced = position.clone();
    let step: Vec<f64> = (0..closed.dof_count())
        .map(|dof| NEARBY * (1.0 - 0.3 * (dof % 4) as f64))
        .collect();
    equations.displace(&position, &step, &mut displaced);
    // where the mechanism cannot go there is nothing to be seen
    if equations
        .place(&displaced, &closed.assembled_drives())
        .is_err()
    {
        return Ok(());
    }
    for closing in left_out {
        let gap = equations.deformation(closing.element, closing.deformation);
        if gap.abs() > STILL_CLOSED {
            return Err(NodalModelError::SingularLoop {
                name: closing.name.clone(),
            });
        }
    }
    Ok(())
}

/// Degrees of freedom that may follow, with their columns.
#[derive(Debug, Default)]
struct Followers {
    /// Spherical joints that nothing drives.
    willing: Vec<(Follower, Vec<usize>)>,
    /// All spherical and free joints.
    balls: Vec<(Follower, Vec<usize>)>,
    /// Axes that nothing drives, axes that something drives, then deformations of beams.
    single: [Vec<(Follower, usize)>; 3],
}

impl Followers {
    fn new(open: &Mechanism, joints: (&[NodalAxis], &[NodalBall]), spec: &ModelSpec) -> Self {
        let mut this = Self::default();
        let asked: &[String] = match &spec.simulation.closure {
            Some(ClosureSpec::JointSpace(settings)) => {
                settings.independent.as_deref().unwrap_or(&[])
            }
            _ => &[],
        };
        let driven = |name: &str| {
            let inputs = spec.input.iter().filter_map(|input| input.joint.as_ref());
            let controlled = spec.controller.iter().flat_map(|law| &law.joints);
            inputs.chain(controlled).any(|joint| joint == name)
        };
        let mut of_joints = Vec::new();
        let (axes, balls) = joints;
        for axis in axes {
            let Some(dof) = open.deformation_dof(axis.element, axis.deformation) else {
                continue;
            };
            of_joints.push(dof);
            let name = axis.name.joint.as_str();
            let stays = if asked.is_empty() {
                driven(name)
            } else {
                asked.iter().any(|asked| asked == name)
            };
            let follower = Follower::Deformation(axis.element, axis.deformation);
            this.single[usize::from(stays)].push((follower, dof));
        }
        for ball in balls {
            let dofs = ball.dofs(open);
            of_joints.extend(&dofs);
            if dofs.len() < open.deformations_of(ball.element) {
                continue;
            }
            let follower = (Follower::Ball(ball.element), dofs);
            if !ball.translates && !driven(&ball.joint) {
                this.willing.push(follower.clone());
            }
            this.balls.push(follower);
        }
        for element in open.element_ids() {
            for index in 0..open.deformations_of(element) {
                if let Some(dof) = open.deformation_dof(element, index)
                    && !of_joints.contains(&dof)
                {
                    this.single[2].push((Follower::Deformation(element, index), dof));
                }
            }
        }
        this
    }

    /// Lets `balls` follow first, each as a whole or not at all, then single coordinates, those of joints that are taken apart among
    /// them; or tells a closing that something moves, but nothing that may follow.
    fn choose(
        &self,
        mut choice: Choice,
        balls: &[(Follower, Vec<usize>)],
        unfolding: Option<&Unfolding<'_>>,
    ) -> Result<(Choice, Vec<Follower>), usize> {
        let mut chosen = Vec::new();
        for (ball, columns) in balls {
            let before = choice.clone();
            let mut rest = columns.clone();
            while choice.take_best(&mut rest).is_some() {}
            if rest.is_empty() {
                chosen.push(*ball);
            } else {
                choice = before;
            }
        }
        let mut tiers: Vec<&[(Follower, usize)]> = self.single.iter().map(Vec::as_slice).collect();
        let parts = unfolding.map(|unfolding| {
            unfolding.unfold(&mut choice.rows);
            let willing = |element| {
                self.willing
                    .iter()
                    .any(|(ball, _)| *ball == Follower::Ball(element))
            };
            unfolding.parts(willing)
        });
        if let Some([willing, unwilling]) = &parts {
            tiers.insert(1, unwilling);
            tiers.insert(0, willing);
        }
        for tier in tiers {
            let mut columns: Vec<usize> = tier.iter().map(|(_, column)| *column).collect();
            while let Some(taken) = choice.take_best(&mut columns) {
                let of = |(_, column): &&(Follower, usize)| *column == taken;
                chosen.extend(tier.iter().find(of).map(|(follower, _)| *follower));
            }
        }
        match choice.contradicted() {
            Some(row) => Err(row),
            None => Ok((choice, chosen)),
        }
    }
}

/// Rates of closings by degrees of freedom, being eliminated.
#[derive(Clone, Debug)]
struct Choice {
    /// One row per closing: rates by degrees of freedom, then by drives.
    rows: Vec<Vec<f64>>,
    used: Vec<bool>,
    /// Largest rate before the elimination, and what counts as zero beside it.
    largest: f64,
    smallest: f64,
    /// The first closing whose ends something moves, together or apart.
    carried: Option<usize>,
}

impl Choice {
    fn new(equations: &mut Equations<'_>, closings: &[Closing]) -> Self {
        let mechanism = equations.mechanism();
        let (dofs, driven) = (mechanism.dof_count(), mechanism.drive_count());
        let mut rows = vec![Vec::with_capacity(dofs + driven); closings.len()];
        let mut velocity = vec![0.0; dofs];
        let mut drives = vec![Drive::default(); driven];
        let mut carried = vec![false; closings.len()];
        for column in 0..dofs + driven {
            if column < dofs {
                velocity[column] = 1.0;
            } else {
                drives[column - dofs].rate = 1.0;
            }
            equations.set_velocity(&velocity, &drives);
            for (at, (row, closing)) in rows.iter_mut().zip(closings).enumerate() {
                row.push(equations.deformation_rate(closing.element, closing.deformation));
                carried[at] |= equations.gross_rate(closing.element, closing.deformation) > UNMOVED;
            }
            velocity.fill(0.0);
            drives.fill(Drive::default());
        }
        let largest = (rows.iter().flatten()).fold(0.0_f64, |most, rate| most.max(rate.abs()));
        Self {
            used: vec![false; rows.len()],
            rows,
            largest,
            smallest: DEPENDENT * largest,
            carried: carried.iter().position(|&carried| carried),
        }
    }

    /// Eliminates with the largest entry in any of the columns, and takes its column away.
    fn take_best(&mut self, columns: &mut Vec<usize>) -> Option<usize> {
        let mut best: Option<(usize, usize, f64)> = None;
        for (row, entries) in self.rows.iter().enumerate().filter(|(i, _)| !self.used[*i]) {
            for (at, &column) in columns.iter().enumerate() {
                let size = entries[column].abs();
                if size > self.smallest && best.is_none_or(|(_, _, most)| size > most) {
                    best = Some((row, at, size));
                }
            }
        }
        let (row, at, _) = best?;
        let column = columns.remove(at);
        self.used[row] = true;
        let pivot = self.rows[row].clone();
        for (other, entries) in self.rows.iter_mut().enumerate() {
            if !self.used[other] {
                let factor = entries[column] / pivot[column];
                for (entry, from) in entries.iter_mut().zip(&pivot) {
                    *entry -= factor * from;
                }
                entries[column] = 0.0;
            }
        }
        Some(column)
    }

    /// A closing whose ends are carried along by prescribed motions alone, which hold them together as it does: which of the two is to give way is not
    /// said.
    fn held_twice(&self, open: &Mechanism) -> Option<usize> {
        let prescribed = open.dof_count() == 0 && self.largest <= UNMOVED;
        self.carried.filter(|_| prescribed)
    }

    /// A closing that something moves, but nothing that may follow.
    fn contradicted(&self) -> Option<usize> {
        let moved = |row: &usize| {
            let entries = self.rows[*row].iter();
            !self.used[*row] && entries.fold(0.0_f64, |m, x| m.max(x.abs())) > self.smallest
        };
        (0..self.rows.len()).find(moved)
    }
}
