//! Loops of a model: cut joints and closures as elements, and which coordinates depend on which.
//!
//! A loop takes freedoms away. The mechanism is first built open, each closure an element whose deformations are free,
//! and placed where the loops are closed. There the rates of those deformations by the degrees of freedom are known;
//! elimination with pivots (`choice`) says which of the deformations are independent. These become fixed, and
//! as many degrees of freedom become free: spherical joints that nothing drives first, then axes that
//! nothing drives, then driven ones, then deformations of beams. Where that leaves a loop open, all spherical and free joints
//! are asked first, as a platform on prescribed legs needs it. Where that does not do either, such joints are taken apart
//! (`unfold`), so that a part of their freedoms is dependent: the twist of the coupler between two ball joints is not.
//! Deformations that depend on others, as those out of a planar linkage's plane do, stay free; a run ends where one opens all the same.

use std::collections::BTreeMap;

use super::build::{Builder, least_along, missing};
use super::choice::{Ball, Candidates, Choice};
use super::joints::Carrier;
use super::unfold::{UnfoldedAxis, Unfolding};
use super::{CarryingJoint, Holding, NodalAxis, NodalBall, NodalClosure, NodalModelError, Side};
use crate::model::Model;
use lissom_core::rotation_matrix;
use lissom_nodal::{Assembly, Drive, ElementId, Equations, Mechanism, Role};
use lissom_spatial::{Matrix, Vector};
use lissom_spec::spec::{
    AttachmentSpec, JointKind, JointSpec, LoopKind, LoopSpec, ModelSpec, Place,
};
use lissom_spec::{SpanningTree, is_acted_on};
use lissom_tree::CoordinateKind;

/// Gap, in m or rad, that rounding leaves where the loops are closed.
const CLOSED: f64 = 1e-8;

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
        let end = self.across(joint, kind, &carrier);
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
        let turn = rotation_matrix(Vector(rotation_vector_rad));
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

/// Gives the coordinates of an assembly their roles in closed loops, and stands it where the loops are closed. `place` puts
/// the open mechanism there.
pub(super) fn close(
    assembly: &mut Assembly,
    closings: &[Closing],
    joints: (&[NodalAxis], &[NodalBall]),
    (spec, is_bent): (&ModelSpec, bool),
    place: impl Fn(&Mechanism) -> (Vec<f64>, Vec<Drive>),
) -> Result<Closed, NodalModelError> {
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
    if let Some(row) = choice.held_twice(&mut equations, closings) {
        return Err(overdriven(row));
    }
    let candidates = Candidates::of(&open, joints, spec, &choice);
    let unfolding = Unfolding::new(&choice, joints.1, &open);
    let attempt = |balls: fn(&Candidates) -> &[Ball], unfolding| {
        let mut attempted = choice.clone();
        let chosen = attempted.choose(&candidates, balls, unfolding)?;
        Ok((attempted, chosen))
    };
    let chosen = attempt(|own| &own.willing, None)
        .or_else(|_| attempt(|own| &own.balls, None))
        .or_else(|_| attempt(|_| &[], Some(&unfolding)));
    let (choice, chosen) = chosen.map_err(overdriven)?;
    let used = choice.used(closings.len());
    assembly.stand_as(&equations);
    for candidate in &chosen {
        candidate.release(assembly);
    }
    let unfolded = unfolding.apply(assembly, &equations, &chosen);
    let held = closings.iter().zip(&used).filter(|(_, used)| **used);
    let held: Vec<&Closing> = held.map(|(closing, _)| closing).collect();
    if let Some(error) = left_open {
        close_gaps(assembly, &held).map_err(|_| error)?;
    }
    for closing in &held {
        assembly.set_deformation(closing.element, closing.deformation, Role::Fixed);
    }
    let mut loop_of = choice.loop_of(&open);
    for axis in &unfolded {
        if let Some(&own) = loop_of.get(&(axis.ball, 0)) {
            loop_of.insert((axis.axis.element, axis.axis.deformation), own);
        }
    }
    Ok(Closed { unfolded, loop_of })
}

/// What became of an assembly whose loops are closed.
pub(super) struct Closed {
    /// Axes that stand for joints that are taken apart.
    pub(super) unfolded: Vec<UnfoldedAxis>,
    /// Which loop the deformations of joints and beams belong to; loops that have some in common are one.
    pub(super) loop_of: BTreeMap<(ElementId, usize), usize>,
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
