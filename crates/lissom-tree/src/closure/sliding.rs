//! Closures that slide along a bent beam: supports, sleeves, sliders.
//!
//! With $`d`$ the origin of the other side and $`a = R e_x`$ its x axis, both in the undeformed frame of the beam,
//! and $`v`$ the deflection $`\sum N_\alpha\eta_\alpha`$ in a plane, the closure holds at the place $`x = d_x`$ of the beam
//! \[Pan, Scott & Ulsoy 1990, eqs (24)–(28), (46), (47)\]:
//!
//! ```math
//! \begin{aligned}
//! \Phi &= d_y - v(x) , \qquad \dot\Phi = \dot d_y - v'\dot x - N\dot\eta , \\
//! \ddot\Phi &= \ddot d_y - v'\ddot x - N\ddot\eta - v''\dot x^2 - 2\dot x N'\dot\eta ; \\
//! \Psi &= a_y - v'(x)\,a_x , \qquad
//! \dot\Psi = \dot a_y - v'\dot a_x - a_x\,s , \quad s = v''\dot x + N'\dot\eta .
//! \end{aligned}
//! ```
//!
//! Where the twist $`\phi = \sum N_\alpha\eta_\alpha`$ is held too, the y axis $`b = R e_y`$ stays in the plane of x and of the
//! section's y axis $`y = (0, \cos\phi, \sin\phi)`$, orthogonal to its z axis $`z = (0, -\sin\phi, \cos\phi)`$:
//!
//! ```math
//! \begin{aligned}
//! \Theta &= b\cdot z , \qquad \dot\Theta = \dot b\cdot z - b\cdot y\,\dot\phi , \quad
//! \dot\phi = \phi'\dot x + N\dot\eta , \\
//! \ddot\Theta &= \ddot b\cdot z - 2\,\dot b\cdot y\,\dot\phi - b\cdot y\,\ddot\phi - b\cdot z\,\dot\phi^2 , \quad
//! \ddot\phi = \phi''\dot x^2 + \phi'\ddot x + 2\dot x N'\dot\eta + N\ddot\eta .
//! \end{aligned}
//! ```
//!
//! The place is that of the undeformed axis: stretch and shortening, of second order in the deflection, shift
//! it by less than the slope makes of them. The force is orthogonal to the bent axis, so that a support without
//! friction does no work on what slides.

use super::equation::{Relative, Value};
use crate::flex::{Centreline, Section};
use crate::{Closure, ClosureKind, System};
use lissom_spatial::{Motion, Real, Vector};

/// Distance beyond a break or an end of a beam, as a fraction of its length, at which a closure is still there: one that
/// rests at a node does not go to and fro.
pub(super) const AT_THE_BREAK: f64 = 1e-9;

/// A plane in which a beam bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plane {
    /// Deflection along y.
    Y,
    /// Deflection along z.
    Z,
}

impl Plane {
    pub(super) fn of(bends: [bool; 2]) -> impl Iterator<Item = Self> {
        [Self::Y, Self::Z]
            .into_iter()
            .filter(move |plane| bends[plane.index()])
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Y => "y",
            Self::Z => "z",
        }
    }

    fn index(self) -> usize {
        match self {
            Self::Y => 0,
            Self::Z => 1,
        }
    }

    /// Component of the deflection.
    pub(super) fn axis(self) -> usize {
        self.index() + 1
    }
}

/// Where a closure touches a beam, at a state.
#[derive(Clone, Debug)]
pub(super) struct Contact<T> {
    body: usize,
    /// The stretch of the beam whose functions hold wherever the closure is; none for those of where it is.
    stretch: Option<usize>,
    section: Section<T>,
    place: T,
    deflection: [Deflection<T>; 2],
    twist: TwistAt<T>,
}

/// Deflection in one plane at the contact: value and derivatives along the beam, and the rates that the
/// elastic coordinates give them.
#[derive(Clone, Copy, Debug)]
struct Deflection<T> {
    value: T,
    slope: T,
    curvature: T,
    curvature_slope: T,
    value_rate: T,
    slope_rate: T,
    curvature_rate: T,
}

/// Twist at the contact: value and derivatives along the beam, and the rates that the elastic coordinates give them.
#[derive(Clone, Copy, Debug)]
struct TwistAt<T> {
    value: T,
    slope: T,
    curvature: T,
    value_rate: T,
    slope_rate: T,
}

impl<T: Real> Contact<T> {
    /// For closures that slide along a beam.
    pub(super) fn new(system: &System, closure: &Closure) -> Option<Self> {
        let (ClosureKind::OnBeam { .. } | ClosureKind::AlongBeam { .. } | ClosureKind::TwistOfBeam) =
            closure.kind
        else {
            return None;
        };
        let body = closure.from.body?;
        centreline(system, body)?;
        let zero = T::zero();
        Some(Self {
            body,
            stretch: None,
            section: Section::new(system.bodies()[body].modes()),
            place: zero,
            deflection: [Deflection {
                value: zero,
                slope: zero,
                curvature: zero,
                curvature_slope: zero,
                value_rate: zero,
                slope_rate: zero,
                curvature_rate: zero,
            }; 2],
            twist: TwistAt {
                value: zero,
                slope: zero,
                curvature: zero,
                value_rate: zero,
                slope_rate: zero,
            },
        })
    }

    /// $`x`$.
    pub(super) fn place(&self) -> T {
        self.place
    }

    /// The stretch that the closure has [latched](Self::latch_elements), if it has.
    pub(super) fn stretch(&self) -> Option<usize> {
        self.stretch
    }

    /// Puts the closure on a stretch, or back to before it latched one.
    pub(super) fn set_stretch(&mut self, stretch: Option<usize>) {
        self.stretch = stretch;
    }

    /// How many stretches the beam has.
    pub(super) fn stretches(&self, system: &System) -> usize {
        centreline(system, self.body).map_or(0, |line| line.breaks().len() + 1)
    }

    /// From now on the functions of the stretch that the closure was last seen on hold, so that they are smooth. Tells
    /// whether it was another before.
    pub(super) fn latch_elements(&mut self, system: &System) -> bool {
        let before = self.stretch;
        self.stretch = centreline(system, self.body).map(|line| line.stretch(self.place.value()));
        before.is_some() && before != self.stretch
    }

    /// How far the closure is beyond the stretch that it [latched](Self::latch_elements), less what does not count.
    pub(super) fn crossing_distance(&self, system: &System) -> Option<f64> {
        let line = centreline(system, self.body)?;
        let [begin, end] = line.ends(self.stretch?);
        let place = self.place.value();
        Some((begin - place).max(place - end) - AT_THE_BREAK * line.length())
    }

    /// Evaluates the beam where it is touched.
    pub(super) fn update(
        &mut self,
        system: &System,
        relative: &Relative<T>,
        position: &[T],
        velocity: &[T],
    ) {
        let Some(line) = centreline(system, self.body) else {
            return;
        };
        self.place = relative.offset[0];
        self.section.update(line, self.stretch, self.place);
        let layout = system.layout();
        let elastic = &position[layout.elastic_position[self.body]..];
        let rate = &velocity[layout.elastic_velocity[self.body]..];
        for plane in [Plane::Y, Plane::Z] {
            let coordinates = line.bending(plane.index());
            let sum = |functions: &[T], factors: &[T]| {
                let mut sum = T::zero();
                for alpha in coordinates.clone() {
                    sum += functions[alpha] * factors[alpha];
                }
                sum
            };
            let section = &self.section;
            self.deflection[plane.index()] = Deflection {
                value: sum(&section.value, elastic),
                slope: sum(&section.slope, elastic),
                curvature: sum(&section.strain, elastic),
                curvature_slope: sum(&section.strain_slope, elastic),
                value_rate: sum(&section.value, rate),
                slope_rate: sum(&section.slope, rate),
                curvature_rate: sum(&section.strain, rate),
            };
        }
        let sum = |functions: &[T], factors: &[T]| {
            let mut sum = T::zero();
            for alpha in line.torsion() {
                sum += functions[alpha] * factors[alpha];
            }
            sum
        };
        // the strain of torsion is the slope of the twist
        let section = &self.section;
        self.twist = TwistAt {
            value: sum(&section.value, elastic),
            slope: sum(&section.strain, elastic),
            curvature: sum(&section.strain_slope, elastic),
            value_rate: sum(&section.value, rate),
            slope_rate: sum(&section.strain, rate),
        };
    }

    /// The motion of the beam's side of the contact per unit of every elastic coordinate, seen at the origin of
    /// the undeformed frame: what the closure's wrench does work on.
    pub(super) fn influence(
        &self,
        system: &System,
        kind: &ClosureKind,
        relative: &Relative<T>,
        influence: &mut [Motion<T>],
    ) {
        let Some(line) = centreline(system, self.body) else {
            return;
        };
        influence.fill(Motion::zero());
        match *kind {
            ClosureKind::OnBeam { planes } => {
                for plane in Plane::of(planes) {
                    for alpha in line.bending(plane.index()) {
                        influence[alpha].linear[plane.axis()] = self.section.value[alpha];
                    }
                }
            }
            ClosureKind::AlongBeam { planes } => self.turns(line, planes, relative, influence),
            // the moment about x of the equation is −b·y, and its work −b·y N
            ClosureKind::TwistOfBeam => {
                for alpha in line.torsion() {
                    influence[alpha].angular[0] = self.section.value[alpha];
                }
            }
            _ => {}
        }
    }

    /// Turns about y and z on which the moments of the equations in both planes do the work that they must,
    /// $`-N_\alpha' a_x`$ in the coordinate's own plane and none in the other.
    fn turns(
        &self,
        line: &Centreline,
        planes: [bool; 2],
        relative: &Relative<T>,
        influence: &mut [Motion<T>],
    ) {
        let along = relative.orientation.0[0][0];
        let moment = |plane: Plane| {
            let value = self.along_beam(plane, relative);
            -(value.moment + relative.offset.cross(value.force))
        };
        let (y, z) = (moment(Plane::Y), moment(Plane::Z));
        for plane in Plane::of(planes) {
            // (p, q) with (p, q)·own = −N′a_x and (p, q)·other = 0
            let (own, other) = match plane {
                Plane::Y => (y, z),
                Plane::Z => (z, y),
            };
            let determinant = own[1] * other[2] - own[2] * other[1];
            for alpha in line.bending(plane.index()) {
                let work = -(self.section.slope[alpha] * along);
                influence[alpha].angular[1] = work * other[2] / determinant;
                influence[alpha].angular[2] = -(work * other[1]) / determinant;
            }
        }
    }

    /// The origin on the axis.
    pub(super) fn on_beam(&self, plane: Plane, relative: &Relative<T>) -> Value<T> {
        let v = &self.deflection[plane.index()];
        let (axis, rate, bias) = (plane.axis(), relative.linear, relative.linear_bias);
        let mut force = Vector::zero();
        force[axis] = T::constant(1.0);
        force[0] = -v.slope;
        Value {
            residual: relative.offset[axis] - v.value,
            moment: Vector::zero(),
            force,
            own_rate: -v.value_rate,
            bias: force.dot(bias) - v.curvature * rate[0] * rate[0] - rate[0] * v.slope_rate * 2.0,
        }
    }

    /// The x axis along the tangent.
    pub(super) fn along_beam(&self, plane: Plane, relative: &Relative<T>) -> Value<T> {
        let v = &self.deflection[plane.index()];
        let axis = plane.axis();
        let a = Vector(relative.orientation.0.map(|row| row[0]));
        let a_rate = relative.angular.cross(a);
        let a_bias = relative.angular_bias.cross(a) + relative.angular.cross(a_rate);
        let mut across = Vector::zero();
        across[axis] = T::constant(1.0);
        across[0] = -v.slope;
        let mut force = Vector::zero();
        force[0] = -(a[0] * v.curvature);
        let sliding = relative.linear[0];
        let slope_rate = v.curvature * sliding + v.slope_rate;
        Value {
            residual: across.dot(a),
            moment: a.cross(across),
            force,
            own_rate: -(a[0] * v.slope_rate),
            bias: across.dot(a_bias)
                - a_rate[0] * slope_rate * 2.0
                - a[0]
                    * (v.curvature_slope * sliding * sliding
                        + v.curvature * relative.linear_bias[0]
                        + sliding * v.curvature_rate * 2.0),
        }
    }

    /// The y axis along that of the section.
    pub(super) fn twist_of_beam(&self, relative: &Relative<T>) -> Value<T> {
        let twist = &self.twist;
        let (sin, cos) = twist.value.sin_cos();
        let (y, z) = (
            Vector([T::zero(), cos, sin]),
            Vector([T::zero(), -sin, cos]),
        );
        let b = Vector(relative.orientation.0.map(|row| row[1]));
        let b_rate = relative.angular.cross(b);
        let b_bias = relative.angular_bias.cross(b) + relative.angular.cross(b_rate);
        let sliding = relative.linear[0];
        let twist_rate = twist.slope * sliding + twist.value_rate;
        let twist_bias = twist.curvature * sliding * sliding
            + twist.slope * relative.linear_bias[0]
            + sliding * twist.slope_rate * 2.0;
        let mut force = Vector::zero();
        force[0] = -(b.dot(y) * twist.slope);
        Value {
            residual: b.dot(z),
            moment: b.cross(z),
            force,
            own_rate: -(b.dot(y) * twist.value_rate),
            bias: b_bias.dot(z)
                - b_rate.dot(y) * twist_rate * 2.0
                - b.dot(y) * twist_bias
                - b.dot(z) * twist_rate * twist_rate,
        }
    }
}

fn centreline(system: &System, body: usize) -> Option<&Centreline> {
    system.bodies()[body].flexible.as_ref()?.centreline.as_ref()
}
