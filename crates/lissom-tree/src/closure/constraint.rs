//! The equations of closures at a state: residual $`\Phi(q)`$, Jacobian $`J`$ with $`\dot\Phi = J v`$, and bias
//! $`\gamma`$ with $`\ddot\Phi = J\dot v + \gamma`$.
//!
//! With $`R`$ the orientation of `to` and $`d`$ its origin, both seen in the frame of `from`, an equation is one of
//!
//! | equation | residual | rate |
//! |---|---|---|
//! | rotation | $`\sum u\cdot R\,w`$ over fixed directions $`u`$ of `from` and $`w`$ of `to` | $`\omega\cdot\sum (Rw\times u)`$ |
//! | offset | $`u\cdot d`$ | $`u\cdot\dot d`$ |
//! | distance | $`(d\cdot d - L^2)/2L`$ | $`d\cdot\dot d/L`$ |
//! | on a beam | $`d_y - v(d_x)`$ | see `sliding.rs` |
//! | along a beam | $`(Re_x)_y - v'(d_x)\,(Re_x)_x`$ | likewise |
//! | twist of a beam | $`(Re_y)\cdot(0, -\sin\phi, \cos\phi)`$ with the twist $`\phi(d_x)`$ | likewise |
//!
//! with the relative angular velocity $`\omega`$ in axes of `from`. Every rate is the power of a unit wrench on
//! `to` and its opposite on `from`; carried inward over the tree, the wrench gives the row of $`J`$, so that a
//! multiplier is the size of a force or moment. Directions are scaled so that, closed, the rate of a rotation is
//! a component of $`\omega`$.

use super::equation::{Equation, Relative, equations};
use super::sliding::Contact;
use super::support::{common_carrier, support};
use crate::tree::{
    FrameMotion, Kinematics, Push, add_relative_force, bias_accelerations, frame_motion,
};
use crate::{Closure, ClosureEnd, ClosureKind, System};
use lissom_spatial::{Force, Motion, Real, Vector};

/// All equations of the closures of a model, at one state. Build it once, [`update`](Self::update) it for
/// every state.
#[derive(Clone, Debug)]
pub struct Constraints<T> {
    rows: Vec<Row>,
    ends: Vec<[End<T>; 2]>,
    /// The body that both ends of each closure hang on, which no closure holds.
    carriers: Vec<Option<usize>>,
    /// Where the closures that slide touch their beams.
    contacts: Vec<Option<Contact<T>>>,
    velocities: usize,
    /// Accelerations of the bodies when no coordinate accelerates.
    accelerations: Vec<Motion<T>>,
    residual: Vec<T>,
    rate: Vec<T>,
    bias: Vec<T>,
    /// Entries of the velocity vector that can move each closure, ascending.
    supports: Vec<Vec<usize>>,
    /// By rows over all velocities, or, where there is a `packed` row to gather them in, over those of the support alone.
    jacobian: Vec<T>,
    /// Where every row begins.
    starts: Vec<usize>,
    packed: Option<Vec<T>>,
    /// Wrench on `from` and on `to` of a unit multiplier of every equation, in the frames of the ends.
    wrench: Vec<[Force<T>; 2]>,
}

/// One scalar equation.
#[derive(Clone, Debug)]
struct Row {
    closure: usize,
    equation: Equation,
}

/// One side of a closure at a state.
#[derive(Clone, Debug)]
struct End<T> {
    body: Option<usize>,
    motion: FrameMotion<T>,
    /// Of the body's elastic coordinates on the place.
    influence: Vec<Motion<T>>,
}

impl<T: Real> Constraints<T> {
    /// The equations of `closures` over `system`, in the order of the closures.
    pub fn new(system: &System, closures: &[Closure]) -> Self {
        let mut constraints = Self::packed(system, closures);
        let n = constraints.velocities;
        constraints.packed = None;
        constraints.starts = (0..constraints.len()).map(|row| row * n).collect();
        constraints.jacobian = vec![T::zero(); constraints.len() * n];
        constraints
    }

    /// The same with rows of the Jacobian that hold nothing but what can move their closures, so that what they take grows with the
    /// number of closures: read them by [`entries`](Self::entries).
    pub(super) fn packed(system: &System, closures: &[Closure]) -> Self {
        let rows: Vec<Row> = closures
            .iter()
            .enumerate()
            .flat_map(|(closure, c)| {
                let row = move |equation| Row { closure, equation };
                equations(&c.kind).into_iter().map(row)
            })
            .collect();
        let n = system.velocity_count();
        let end = |end: &ClosureEnd| End {
            body: end.body,
            motion: FrameMotion::fixed(end.place.offset()),
            influence: vec![Motion::zero(); end.body.map_or(0, |k| system.bodies()[k].modes())],
        };
        let carriers: Vec<Option<usize>> =
            closures.iter().map(|c| common_carrier(system, c)).collect();
        let supports: Vec<Vec<usize>> = (closures.iter().zip(&carriers))
            .map(|(closure, carrier)| support(system, closure, *carrier))
            .collect();
        let mut starts = Vec::with_capacity(rows.len());
        let mut entries = 0;
        for row in &rows {
            starts.push(entries);
            entries += supports[row.closure].len();
        }
        Self {
            ends: closures
                .iter()
                .map(|c| [end(&c.from), end(&c.to)])
                .collect(),
            carriers,
            supports,
            contacts: closures.iter().map(|c| Contact::new(system, c)).collect(),
            velocities: n,
            accelerations: vec![Motion::zero(); system.bodies().len()],
            residual: vec![T::zero(); rows.len()],
            rate: vec![T::zero(); rows.len()],
            bias: vec![T::zero(); rows.len()],
            jacobian: vec![T::zero(); entries],
            starts,
            packed: Some(vec![T::zero(); n]),
            wrench: vec![[Force::zero(); 2]; rows.len()],
            rows,
        }
    }

    /// Number of scalar equations.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Evaluates all equations at the state last given to [`Kinematics::update`]. Allocates nothing.
    #[inline(never)]
    pub fn update(
        &mut self,
        system: &System,
        closures: &[Closure],
        kinematics: &mut Kinematics<T>,
        position: &[T],
        velocity: &[T],
    ) {
        kinematics.update_poses(system);
        bias_accelerations(system, kinematics, &mut self.accelerations);
        for (ends, closure) in self.ends.iter_mut().zip(closures) {
            for (end, given) in ends.iter_mut().zip([&closure.from, &closure.to]) {
                let Some(body) = end.body else { continue };
                end.motion = frame_motion(
                    system,
                    kinematics,
                    &self.accelerations,
                    body,
                    &given.place,
                    position,
                    velocity,
                    &mut end.influence,
                );
            }
        }
        for ((contact, ends), closure) in
            (self.contacts.iter_mut().zip(&mut self.ends)).zip(closures)
        {
            if let Some(contact) = contact {
                let relative = Relative::new(&ends[0].motion, &ends[1].motion);
                contact.update(system, &relative, position, velocity);
                contact.influence(system, &closure.kind, &relative, &mut ends[0].influence);
            }
        }
        let n = self.velocities;
        for (i, row) in self.rows.iter().enumerate() {
            let ends = &self.ends[row.closure];
            let relative = Relative::new(&ends[0].motion, &ends[1].motion);
            let value = match (&row.equation, &self.contacts[row.closure]) {
                (Equation::OnBeam(plane), Some(contact)) => contact.on_beam(*plane, &relative),
                (Equation::AlongBeam(plane), Some(contact)) => {
                    contact.along_beam(*plane, &relative)
                }
                (Equation::TwistOfBeam, Some(contact)) => contact.twist_of_beam(&relative),
                (equation, _) => equation.at(&relative),
            };
            self.residual[i] = value.residual;
            self.rate[i] = value.moment.dot(relative.angular)
                + value.force.dot(relative.linear)
                + value.own_rate;
            self.bias[i] = value.bias;
            let lever = relative.offset.cross(value.force);
            let on_from = Force::new(-(value.moment + lever), -value.force);
            let on_to = Force::new(
                relative.orientation.transpose_mul(value.moment),
                relative.orientation.transpose_mul(value.force),
            );
            self.wrench[i] = [on_from, on_to];
            let support = &self.supports[row.closure];
            let jacobian = match &mut self.packed {
                Some(whole) => &mut whole[..],
                None => &mut self.jacobian[self.starts[i]..][..n],
            };
            for &at in support {
                jacobian[at] = T::zero();
            }
            for (end, wrench) in ends.iter().zip([on_from, on_to]) {
                let Some(body) = end.body else { continue };
                let force = end.motion.in_body.force_to_parent(wrench);
                let carrier = self.carriers[row.closure];
                let influence = &end.influence;
                add_relative_force(
                    system, kinematics, body, carrier, influence, force, jacobian,
                );
            }
            if let Some(whole) = &self.packed {
                let own = &mut self.jacobian[self.starts[i]..];
                for (own, &at) in own.iter_mut().zip(support) {
                    *own = whole[at];
                }
            }
        }
    }

    /// $`\Phi`$: by how much every equation is violated, in metres or radians.
    pub fn residual(&self) -> &[T] {
        &self.residual
    }

    /// $`J v`$: by how much its rate is.
    pub fn rate(&self) -> &[T] {
        &self.rate
    }

    /// $`\gamma = \dot J v`$.
    pub fn bias(&self) -> &[T] {
        &self.bias
    }

    /// $`J`$, by rows.
    pub fn jacobian(&self) -> &[T] {
        debug_assert!(self.packed.is_none(), "rows that are packed have entries");
        &self.jacobian
    }

    /// Row `equation` of $`J`$.
    pub fn row(&self, equation: usize) -> &[T] {
        &self.jacobian()[equation * self.velocities..(equation + 1) * self.velocities]
    }

    /// Entries of row `equation` of $`J`$ that may differ from zero, by ascending places in the velocity vector.
    pub(super) fn entries(&self, equation: usize) -> impl Iterator<Item = (usize, T)> {
        let support = &self.supports[self.rows[equation].closure];
        let first = self.starts[equation];
        let is_packed = self.packed.is_some();
        (support.iter().enumerate()).map(move |(i, &at)| {
            let place = if is_packed { i } else { at };
            (at, self.jacobian[first + place])
        })
    }

    /// Whether an equation is about a direction, in radians, and not about a place, in metres.
    pub fn is_rotation(&self, equation: usize) -> bool {
        let equation = &self.rows[equation].equation;
        matches!(
            equation,
            Equation::Rotation(_) | Equation::AlongBeam(_) | Equation::TwistOfBeam
        )
    }

    /// Index of the closure that makes an equation.
    pub fn closure_of(&self, equation: usize) -> usize {
        self.rows[equation].closure
    }

    /// Where along its beam a closure that slides touches it, from the root of the undeformed beam.
    pub fn place_along(&self, closure: usize) -> Option<T> {
        self.contacts[closure].as_ref().map(Contact::place)
    }

    /// From now on every closure that slides sees the functions of the stretch of its beam, from one break to the next,
    /// that it was last seen on, wherever it is: its equations are smooth until it is told so again. Tells whether the rate
    /// of one has jumped: of a direction that is held along a beam whose curvature or twist per length jumps.
    pub fn latch_elements(&mut self, system: &System, closures: &[Closure]) -> bool {
        let mut jumps = false;
        for (contact, closure) in self.contacts.iter_mut().zip(closures) {
            if let Some(contact) = contact {
                let turns = matches!(
                    closure.kind,
                    ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam
                );
                jumps |= contact.latch_elements(system) && turns;
            }
        }
        jumps
    }

    /// The stretches that the closures which slide have [latched](Self::latch_elements), in their order; none before they have.
    pub(super) fn stretches(&self) -> Vec<usize> {
        (self.contacts.iter().flatten())
            .filter_map(Contact::stretch)
            .collect()
    }

    /// How many stretches the beam of every closure that slides has.
    pub(super) fn stretch_counts(&self, system: &System) -> Vec<usize> {
        (self.contacts.iter().flatten())
            .map(|contact| contact.stretches(system))
            .collect()
    }

    /// Puts the closures that slide on these stretches; without any, back to before they latched one.
    pub(super) fn set_stretches(&mut self, stretches: &[usize]) {
        for (i, contact) in self.contacts.iter_mut().flatten().enumerate() {
            contact.set_stretch(stretches.get(i).copied());
        }
    }

    /// How far the furthest closure is beyond the stretch that it [latched](Self::latch_elements); negative while all are inside.
    pub fn crossing_distance(&self, system: &System) -> f64 {
        (self.contacts.iter().flatten())
            .filter_map(|contact| contact.crossing_distance(system))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether any closure slides along a beam.
    pub fn slides(&self) -> bool {
        self.contacts.iter().any(Option::is_some)
    }

    /// Wrench on `to` of a unit multiplier of an equation, at the frame of `to` in its axes.
    pub fn wrench_on_to(&self, equation: usize) -> Force<T> {
        self.wrench[equation][1]
    }

    /// Body that an equation pushes on at its end `from` (0) or `to` (1), unless that is the ground.
    pub fn pushed_body(&self, equation: usize, end: usize) -> Option<usize> {
        self.ends[self.rows[equation].closure][end].body
    }

    /// Wrench of a unit multiplier of an equation on that body, at its origin in its components, and the
    /// influence of the body's elastic coordinates on the place.
    pub fn push(&self, equation: usize, end: usize) -> Push<'_, T> {
        let place = &self.ends[self.rows[equation].closure][end];
        let wrench = self.wrench[equation][end];
        (
            place.motion.in_body.force_to_parent(wrench),
            &place.influence,
        )
    }

    /// Largest distance of an end from the ground's origin: the size that offsets are small against.
    pub fn reach(&self) -> T
    where
        T: PartialOrd,
    {
        let mut most = T::zero();
        for end in self.ends.iter().flatten() {
            let point = end.motion.pose.translation;
            let square = point.dot(point);
            if square > most {
                most = square;
            }
        }
        most.sqrt()
    }

    /// The first equation about a direction whose closure is nearer to half a turn from where its frames, or its axes, coincide: there
    /// the equation holds as well. Stubs of cut joints, which have the name of their weld, may be turned by whoever made them.
    pub(super) fn turned_over(&self, system: &System, closures: &[Closure]) -> Option<usize> {
        let is_stub = |closure: &Closure| {
            let carrier = closure.from.body.map(|body| &system.bodies()[body]);
            carrier.is_some_and(|body| body.joint.name == closure.name)
        };
        let is_turned = |row: &Row| {
            let [from, to] = &self.ends[row.closure];
            let axes = from.motion.pose.rotation.transpose() * to.motion.pose.rotation;
            let entry = |i: usize, j: usize| axes.0[i][j].value();
            match &closures[row.closure].kind {
                ClosureKind::Fixed | ClosureKind::Prismatic { .. } => {
                    entry(0, 0) + entry(1, 1) + entry(2, 2) < 1.0
                }
                ClosureKind::Revolute { axis } => {
                    let cosines = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
                    let cosine: f64 = cosines.map(|(i, j)| axis[i] * entry(i, j) * axis[j]).sum();
                    cosine < 0.0
                }
                ClosureKind::AlongBeam { .. } => entry(0, 0) < 0.0,
                ClosureKind::TwistOfBeam => entry(1, 1) < 0.0,
                ClosureKind::Universal { .. }
                | ClosureKind::Spherical
                | ClosureKind::PointOnLine { .. }
                | ClosureKind::OnBeam { .. }
                | ClosureKind::Distance { .. } => false,
            }
        };
        let is_over = |&row: &usize| {
            let closure = &closures[self.rows[row].closure];
            self.is_rotation(row) && is_turned(&self.rows[row]) && !is_stub(closure)
        };
        (0..self.rows.len()).find(is_over)
    }

    /// What an equation is called: its closure and the relative motion that it forbids.
    pub fn name(&self, closures: &[Closure], equation: usize) -> String {
        let row = &self.rows[equation];
        let closure = &closures[row.closure];
        let what = match &row.equation {
            Equation::Rotation(pairs) => match (&closure.kind, &pairs[..]) {
                (ClosureKind::Universal { .. }, _) => "angle between the axes".to_owned(),
                (_, [(u, w), ..]) => {
                    let about = w.cross(*u);
                    let length = about.dot(about).sqrt();
                    format!("rotation about {}", direction(about.scale(1.0 / length)))
                }
                (_, []) => "rotation".to_owned(),
            },
            Equation::Offset(u) => format!("offset along {}", direction(*u)),
            Equation::Distance(_) => "distance".to_owned(),
            Equation::OnBeam(plane) => format!("offset from the axis along {}", plane.name()),
            Equation::AlongBeam(plane) => format!("slope along {}", plane.name()),
            Equation::TwistOfBeam => "twist".to_owned(),
        };
        format!("{} ({what})", closure.name)
    }
}

/// A unit vector in words.
fn direction(u: Vector<f64>) -> String {
    // axes as they come out of square frames
    const ALIGNED: f64 = 1.0 - 1e-9;
    for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
        if u[i].abs() > ALIGNED {
            return name.to_owned();
        }
    }
    format!("({:.3}, {:.3}, {:.3})", u[0], u[1], u[2])
}
