//! Mechanisms that several tests share.

use std::f64::consts::PI;

use lissom::nodal::{
    Acting, Actions, Assembly, BeamSection, Drive, ElementId, End, Excitation, Mechanism, NodeId,
    Nominal, Role, SecondOrderTerms,
};
use lissom::spatial::{Matrix, RotationVector, Vector};

/// A hub and a straight planar beam along x, with what tests ask about.
pub(crate) struct RotatingBeam {
    pub(crate) mechanism: Mechanism,
    pub(crate) hinge: ElementId,
    pub(crate) tip: NodeId,
    pub(crate) length: f64,
}

/// A hinge at the origin and `elements` equal planar beam elements; `hub` is the role of its rotation.
pub(crate) fn rotating_beam(
    elements: usize,
    length: f64,
    section: BeamSection,
    stretches: bool,
    hub: Role,
) -> RotatingBeam {
    let mut assembly = Assembly::new();
    let ground = assembly.planar_angle("ground", 0.0);
    assembly.set_node(ground, Role::Fixed);
    let mut end = End {
        point: assembly.planar_point("point_0", [0.0, 0.0]),
        orientation: assembly.planar_angle("angle_0", 0.0),
    };
    assembly.set_node(end.point, Role::Fixed);
    let hinge = assembly.hinge("hub", ground, end.orientation, [0.0, 0.0, 1.0]);
    assembly.set_deformation(hinge, 0, hub);
    for i in 1..=elements {
        let x = length * i as f64 / elements as f64;
        let next = End {
            point: assembly.planar_point(&format!("point_{i}"), [x, 0.0]),
            orientation: assembly.planar_angle(&format!("angle_{i}"), 0.0),
        };
        let beam = assembly.beam(&format!("beam_{i}"), end, next, section, [0.0; 3]);
        if !stretches {
            assembly.set_deformation(beam, 0, Role::Fixed);
        }
        end = next;
    }
    RotatingBeam {
        mechanism: assembly.finish().unwrap(),
        hinge,
        tip: end.point,
        length,
    }
}

/// The beam of Jonker & Aarts (2001), section 7.
pub(crate) fn jonker_beam(elements: usize, quadratic: bool, hub: Role) -> RotatingBeam {
    let (area, inertia, density, modulus) = (7.3e-5, 8.218e-9, 2766.67, 6.895e10);
    let section = BeamSection {
        second_order: if quadratic {
            SecondOrderTerms::ALL
        } else {
            SecondOrderTerms::NONE
        },
        ..BeamSection::slender(density * area, modulus * area, 0.0, modulus * inertia)
    };
    rotating_beam(elements, 8.0, section, false, hub)
}

/// Hub angle of eq (34): from rest to `speed` in `time`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpinUp {
    pub(crate) speed: f64,
    pub(crate) time: f64,
}

impl SpinUp {
    pub(crate) fn at(&self, t: f64) -> Drive {
        let (speed, duration) = (self.speed, self.time);
        if t >= duration {
            return Drive {
                value: speed * (t - 0.5 * duration),
                rate: speed,
                acceleration: 0.0,
            };
        }
        let turn = 2.0 * PI / duration;
        let (sin, cos) = (turn * t).sin_cos();
        Drive {
            value: speed / duration * (0.5 * t * t + (cos - 1.0) / (turn * turn)),
            rate: speed / duration * (t - sin / turn),
            acceleration: speed / duration * (1.0 - cos),
        }
    }
}

impl Excitation for SpinUp {
    fn drive(&mut self, time: f64, drives: &mut [Drive]) {
        drives[0] = self.at(time);
    }
    fn act(&mut self, _: f64, _: &Acting<'_>, _: &mut Actions<'_>) {}
}

/// Displacement of a point across the hub's axis, in the frame that turns by `angle`.
pub(crate) fn lateral(position: [f64; 3], angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    cos * position[1] - sin * position[0]
}

/// A straight or curved cantilever in space, clamped at its first node.
pub(crate) struct Cantilever {
    pub(crate) mechanism: Mechanism,
    pub(crate) tip: NodeId,
}

/// Clamped at the first of `points`; local y is as near to `y_direction` as each element allows.
pub(crate) fn cantilever(
    points: &[[f64; 3]],
    section: BeamSection,
    y_direction: [f64; 3],
) -> Cantilever {
    let mut assembly = Assembly::new();
    let mut end = None;
    for (i, &position) in points.iter().enumerate() {
        let next = End {
            point: assembly.point(&format!("point_{i}"), position),
            orientation: assembly.orientation(&format!("attitude_{i}"), &Matrix::identity()),
        };
        if let Some(end) = end {
            assembly.beam(&format!("beam_{i}"), end, next, section, y_direction);
        } else {
            assembly.set_node(next.point, Role::Fixed);
            assembly.set_node(next.orientation, Role::Fixed);
        }
        end = Some(next);
    }
    Cantilever {
        mechanism: assembly.finish().unwrap(),
        tip: end.unwrap().point,
    }
}

/// The spatial two-link arm of Jonker & Aarts (2001), section 8.
pub(crate) struct TwoLink {
    pub(crate) mechanism: Mechanism,
    pub(crate) elbow: NodeId,
    pub(crate) tip: NodeId,
}

/// Hinges about z, −y and −y, links along x where it is assembled; second-order term in e1 only.
pub(crate) fn two_link() -> TwoLink {
    let length = 0.7_f64;
    let section = |mass: f64, bending: f64, torsion: f64| BeamSection {
        second_order: SecondOrderTerms {
            elongation: true,
            ..SecondOrderTerms::NONE
        },
        ..BeamSection::slender(
            mass,
            0.0,
            torsion * length.powi(3),
            bending * length.powi(3),
        )
    };
    let mut assembly = Assembly::new();
    let mut attitude = |name: &str| assembly.orientation(name, &Matrix::identity());
    let [ground, yaw, upper_root, upper_end, fore_root, fore_end] = [
        "ground",
        "yaw",
        "upper_root",
        "upper_end",
        "fore_root",
        "fore_end",
    ]
    .map(&mut attitude);
    let shoulder = assembly.point("shoulder", [0.0; 3]);
    let elbow = assembly.point("elbow", [length, 0.0, 0.0]);
    let tip = assembly.point("tip", [2.0 * length, 0.0, 0.0]);
    assembly.set_node(ground, Role::Fixed);
    assembly.set_node(shoulder, Role::Fixed);
    let down = [0.0, -1.0, 0.0];
    let end = |point, orientation| End { point, orientation };
    let y = [0.0, 1.0, 0.0];
    for (name, p, q, axis) in [
        ("hinge_1", ground, yaw, [0.0, 0.0, 1.0]),
        ("hinge_2", yaw, upper_root, down),
    ] {
        let hinge = assembly.hinge(name, p, q, axis);
        assembly.set_deformation(hinge, 0, Role::Actuated);
    }
    let upper = assembly.beam(
        "upper",
        end(shoulder, upper_root),
        end(elbow, upper_end),
        section(4.0, 48300.0, 41580.0),
        y,
    );
    let hinge = assembly.hinge("hinge_3", upper_end, fore_root, down);
    assembly.set_deformation(hinge, 0, Role::Actuated);
    let fore = assembly.beam(
        "fore",
        end(elbow, fore_root),
        end(tip, fore_end),
        section(2.0, 24460.0, 0.0),
        y,
    );
    assembly.set_deformation(upper, 0, Role::Fixed);
    assembly.set_deformation(fore, 0, Role::Fixed);
    assembly.set_deformation(fore, 1, Role::Fixed);
    assembly.mass(elbow, 10.0);
    assembly.mass(tip, 30.0);
    TwoLink {
        mechanism: assembly.finish().unwrap(),
        elbow,
        tip,
    }
}

/// The tip's straight path from A to B with squared-sine ramps, and weights as nodal forces.
#[derive(Clone, Debug)]
pub(crate) struct TwoLinkPath {
    elbow: usize,
    tip: usize,
}

impl TwoLinkPath {
    pub(crate) fn new(arm: &TwoLink) -> Self {
        Self {
            elbow: arm.elbow.index(),
            tip: arm.tip.index(),
        }
    }

    /// Share of the path with its derivatives: ramps of 0.3 s at both ends of 1 s.
    fn share(time: f64) -> Drive {
        let (duration, ramp) = (1.0, 0.3);
        let speed = 1.0 / (duration - ramp);
        let rising = |t: f64| {
            let turn = 2.0 * PI / ramp;
            let (sin, cos) = (turn * t).sin_cos();
            Drive {
                value: speed / ramp * (0.5 * t * t + (cos - 1.0) / (turn * turn)),
                rate: speed / ramp * (t - sin / turn),
                acceleration: speed / ramp * (1.0 - cos),
            }
        };
        if time >= duration {
            Drive {
                value: 1.0,
                ..Drive::default()
            }
        } else if time < ramp {
            rising(time)
        } else if time < duration - ramp {
            Drive {
                value: speed * (time - 0.5 * ramp),
                rate: speed,
                acceleration: 0.0,
            }
        } else {
            let back = rising(duration - time);
            Drive {
                value: 1.0 - back.value,
                rate: back.rate,
                acceleration: -back.acceleration,
            }
        }
    }

    /// Nominal tip position by component.
    pub(crate) fn tip(&self, time: f64) -> [Drive; 3] {
        let (a, b) = ([0.9, 0.0, 0.1], [0.0, 1.28, 0.2]);
        let share = Self::share(time);
        std::array::from_fn(|i| {
            let span = b[i] - a[i];
            Drive {
                value: a[i] + span * share.value,
                rate: span * share.rate,
                acceleration: span * share.acceleration,
            }
        })
    }
}

impl Nominal for TwoLinkPath {
    /// Elbow up, in closed form over dual numbers: position, rate and acceleration from one formula.
    fn rigid(&mut self, time: f64, motion: &mut [Drive]) {
        let length = 0.7;
        // second-order Taylor series in time: value, rate, acceleration
        let [x, y, z] = self.tip(time).map(Series::from);
        let planar = x.times(x).plus(y.times(y)).sqrt();
        let squared = planar.times(planar).plus(z.times(z));
        let reach = squared.sqrt();
        let cosine = reach.scaled(0.5 / length);
        // both links are equal: the elbow stands over the middle of the line to the tip
        let sine = Series::constant(1.0)
            .plus(cosine.times(cosine).scaled(-1.0))
            .sqrt();
        let half = Series::angle(sine, cosine);
        let elevation = Series::angle(z, planar);
        motion[0] = Series::angle(y, x).drive();
        motion[1] = elevation.plus(half).drive();
        motion[2] = half.scaled(-2.0).drive();
    }

    fn drive(&mut self, _: f64, _: &mut [Drive]) {}

    fn load(&mut self, _: f64, loads: &mut [Vector<f64>]) {
        // half the mass of each link at its ends, with the masses that stand there
        loads[self.elbow] = Vector([0.0, 0.0, -9.81 * (10.0 + 1.4 + 0.7)]);
        loads[self.tip] = Vector([0.0, 0.0, -9.81 * (30.0 + 0.7)]);
    }
}

/// A function of time with two derivatives.
#[derive(Clone, Copy, Debug)]
struct Series {
    value: f64,
    rate: f64,
    second: f64,
}

impl From<Drive> for Series {
    fn from(drive: Drive) -> Self {
        Self {
            value: drive.value,
            rate: drive.rate,
            second: drive.acceleration,
        }
    }
}

impl Series {
    fn constant(value: f64) -> Self {
        Self {
            value,
            rate: 0.0,
            second: 0.0,
        }
    }
    fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            rate: self.rate * factor,
            second: self.second * factor,
        }
    }
    fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            rate: self.rate + other.rate,
            second: self.second + other.second,
        }
    }
    fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
            second: self.second * other.value
                + 2.0 * self.rate * other.rate
                + self.value * other.second,
        }
    }
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        let rate = 0.5 * self.rate / value;
        Self {
            value,
            rate,
            second: (0.5 * self.second - rate * rate) / value,
        }
    }
    /// Angle of a sine and a cosine of any common length.
    fn angle(sine: Self, cosine: Self) -> Self {
        let squared = sine.times(sine).plus(cosine.times(cosine));
        let moment = cosine.value * sine.rate - sine.value * cosine.rate;
        let moment_rate = cosine.value * sine.second - sine.value * cosine.second;
        let rate = moment / squared.value;
        Self {
            value: sine.value.atan2(cosine.value),
            rate,
            second: (moment_rate - rate * squared.rate) / squared.value,
        }
    }
    fn drive(self) -> Drive {
        Drive {
            value: self.value,
            rate: self.rate,
            acceleration: self.second,
        }
    }
}

/// A mechanism with every spatial element: hinges, one of them elastic, beams that bend, twist, stretch
/// and shear, a slider, an elastic truss, masses, inertias and gravity.
pub(crate) fn everything(damping_time: f64) -> Mechanism {
    let section = BeamSection {
        bending_stiffness_z: 60.0,
        shear_stiffness: Some([4e3, 3e3]),
        rotary_inertia_per_length: [0.03, 0.02, 0.01],
        damping_time,
        ..BeamSection::slender(1.5, 9e3, 30.0, 90.0)
    };
    let mut assembly = Assembly::new();
    assembly.set_gravity([1.0, -2.0, -9.0]);
    let mut attitude =
        |name: &str, turn| assembly.orientation(name, &RotationVector::new(Vector(turn)).matrix());
    let ground = attitude("ground", [0.3, 0.1, 0.0]);
    let root = attitude("root", [0.0, 0.2, 0.1]);
    let middle = attitude("middle", [0.4, 0.0, 0.1]);
    let carrier = attitude("carrier", [0.0, 0.0, 0.5]);
    let last = attitude("last", [0.1, 0.2, 0.3]);
    let base = assembly.point("base", [0.1, -0.2, 0.3]);
    let knee = assembly.point("knee", [0.9, 0.2, 0.4]);
    let shuttle = assembly.point("shuttle", [1.2, 0.5, 0.2]);
    let tip = assembly.point("tip", [1.6, 1.1, -0.1]);
    let anchor = assembly.point("anchor", [0.0, 1.5, 1.0]);
    for node in [ground, base, anchor] {
        assembly.set_node(node, Role::Fixed);
    }
    let end = |point, orientation| End { point, orientation };
    let hinge = assembly.hinge("hinge", ground, root, [0.2, 0.9, 0.4]);
    assembly.set_deformation(hinge, 0, Role::Actuated);
    assembly.beam(
        "first",
        end(base, root),
        end(knee, middle),
        section,
        [0.0, 0.0, 1.0],
    );
    let elastic = assembly.hinge("elastic", middle, carrier, [1.0, 0.3, -0.2]);
    assembly.set_deformations(elastic, Role::Dof);
    for (index, stiffness) in [5.0, 40.0, 60.0].into_iter().enumerate() {
        assembly.set_spring(elastic, index, stiffness, 0.0);
    }
    assembly.slider(
        "slider",
        end(knee, carrier),
        shuttle,
        [0.3, 0.3, -0.2],
        [0.0, 0.0, 1.0],
    );
    assembly.beam(
        "second",
        end(shuttle, carrier),
        end(tip, last),
        section,
        [0.0, 0.0, 1.0],
    );
    assembly.truss("truss", tip, anchor, 50.0);
    assembly.mass(knee, 0.4);
    assembly.mass(tip, 0.7);
    assembly.inertia(
        last,
        &Matrix([[0.05, 0.01, 0.0], [0.01, 0.04, 0.005], [0.0, 0.005, 0.03]]),
    );
    assembly.finish().unwrap()
}

/// The same nodes as degrees of freedom and a beam between them that is free to deform: what nodal
/// coordinates mean for it.
pub(crate) fn free_beam() -> Mechanism {
    let mut assembly = Assembly::new();
    let mut end = |i: usize, position: [f64; 3]| {
        let end = End {
            point: assembly.point(&format!("point_{i}"), position),
            orientation: assembly.orientation(&format!("attitude_{i}"), &Matrix::identity()),
        };
        assembly.set_node(end.point, Role::Dof);
        assembly.set_node(end.orientation, Role::Dof);
        end
    };
    let (p, q) = (end(0, [0.0; 3]), end(1, [1.2, 0.0, 0.0]));
    let section = BeamSection::slender(1.0, 1e3, 10.0, 20.0);
    let beam = assembly.beam("beam", p, q, section, [0.0, 1.0, 0.0]);
    assembly.set_deformations(beam, Role::Free);
    assembly.finish().unwrap()
}

/// The same beam with its first end and its deformations as degrees of freedom.
pub(crate) fn deformed_beam() -> Mechanism {
    let mut assembly = Assembly::new();
    let mut end = |i: usize, position: [f64; 3], role| {
        let end = End {
            point: assembly.point(&format!("point_{i}"), position),
            orientation: assembly.orientation(&format!("attitude_{i}"), &Matrix::identity()),
        };
        assembly.set_node(end.point, role);
        assembly.set_node(end.orientation, role);
        end
    };
    let p = end(0, [0.0; 3], Role::Dof);
    let q = end(1, [1.2, 0.0, 0.0], Role::Free);
    let section = BeamSection::slender(1.0, 1e3, 10.0, 20.0);
    assembly.beam("beam", p, q, section, [0.0, 1.0, 0.0]);
    assembly.finish().unwrap()
}

/// A planar four-bar linkage with rigid crank and rocker; the coupler bends if it is told so.
pub(crate) struct FourBar {
    pub(crate) mechanism: Mechanism,
    pub(crate) crank: NodeId,
    pub(crate) rocker: NodeId,
}

/// Lengths of crank, coupler and rocker, on pivots two apart, assembled at a crank angle.
pub(crate) fn four_bar(lengths: [f64; 3], angle: f64, bends: bool) -> FourBar {
    let [crank, coupler, rocker] = lengths;
    let c = [crank * angle.cos(), crank * angle.sin()];
    let d = four_bar_joint(c, coupler, rocker);
    let mut assembly = Assembly::new();
    assembly.set_gravity([0.0, -9.81, 0.0]);
    let mut point = |name: &str, position| assembly.planar_point(name, position);
    let (a, b) = (point("a", [0.0, 0.0]), point("b", [2.0, 0.0]));
    let (c, d) = (point("c", c), point("d", d));
    assembly.set_node(a, Role::Fixed);
    assembly.set_node(b, Role::Fixed);
    let ground = assembly.planar_angle("ground", 0.0);
    assembly.set_node(ground, Role::Fixed);
    let section = BeamSection::slender(1.0, 1e5, 0.0, 20.0);
    let mut link = |name: &str, p, q| {
        let roots = ["p", "q"].map(|end| assembly.planar_angle(&format!("{name}_{end}"), 0.0));
        let [p, q] =
            [(p, roots[0]), (q, roots[1])].map(|(point, orientation)| End { point, orientation });
        let beam = assembly.beam(name, p, q, section, [0.0; 3]);
        assembly.set_deformations(beam, Role::Fixed);
        (beam, roots[0])
    };
    let (_, crank_angle) = link("crank", a, c);
    let (coupler, _) = link("coupler", c, d);
    link("rocker", b, d);
    if bends {
        assembly.set_deformation(coupler, 1, Role::Dof);
        assembly.set_deformation(coupler, 2, Role::Dof);
    }
    let hinge = assembly.hinge("drive", ground, crank_angle, [0.0, 0.0, 1.0]);
    assembly.set_deformation(hinge, 0, Role::Actuated);
    FourBar {
        mechanism: assembly.finish().unwrap(),
        crank: c,
        rocker: d,
    }
}

/// Closed form: the upper meeting point of the circles about `c` and the right pivot.
pub(crate) fn four_bar_joint(c: [f64; 2], coupler: f64, rocker: f64) -> [f64; 2] {
    let (dx, dy) = (2.0 - c[0], -c[1]);
    let distance = dx.hypot(dy);
    let along = (distance * distance + coupler * coupler - rocker * rocker) / (2.0 * distance);
    let across = (coupler * coupler - along * along).sqrt();
    let (ux, uy) = (dx / distance, dy / distance);
    [
        c[0] + along * ux - across * uy,
        c[1] + along * uy + across * ux,
    ]
}
