//! Mechanisms that several tests share.

use std::f64::consts::PI;

use lissom_nodal::{
    AppliedForces, Assembly, BeamSection, Drive, ElementId, End, Excitation, Mechanism, NodeId,
    Role, SecondOrderTerms, View,
};
use lissom_spatial::{Matrix, Real, RotationVector, Vector};

/// A hub and a straight planar beam along x, with its parts.
#[derive(Clone, Debug)]
pub(crate) struct RotatingBeam {
    /// The mechanism.
    pub(crate) mechanism: Mechanism,
    /// The hinge of the hub; its rotation is the first degree of freedom or the only drive.
    pub(crate) hinge: ElementId,
}

/// The beam of Jonker & Aarts (2001), section 7, with or without the second-order term of eq (2); `hub` is the role of its rotation.
pub(crate) fn jonker_beam(elements: usize, quadratic: bool, hub: Role) -> RotatingBeam {
    let (area, inertia, density, modulus) = (7.3e-5, 8.218e-9, 2766.67, 6.895e10);
    let section = BeamSection {
        second_order: if quadratic {
            SecondOrderTerms::ELONGATION
        } else {
            SecondOrderTerms::NONE
        },
        ..BeamSection::slender(density * area, modulus * area, 0.0, modulus * inertia)
    };
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
        let x = 8.0 * i as f64 / elements as f64;
        let next = End {
            point: assembly.planar_point(&format!("point_{i}"), [x, 0.0]),
            orientation: assembly.planar_angle(&format!("angle_{i}"), 0.0),
        };
        let beam = assembly.beam(&format!("beam_{i}"), end, next, section, [0.0; 3]);
        assembly.set_deformation(beam, 0, Role::Fixed);
        end = next;
    }
    RotatingBeam {
        mechanism: assembly.finish().unwrap(),
        hinge,
    }
}

/// Hub angle of eq (34): from rest to `speed` in `time`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpinUp {
    /// Final speed.
    pub(crate) speed: f64,
    /// Time to reach it.
    pub(crate) time: f64,
}

impl SpinUp {
    /// Angle at an instant.
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
}

impl AppliedForces for SpinUp {
    fn apply<T: Real>(&self, _: f64, _: &mut View<'_, T>) {}
}

/// A mechanism with every spatial element: hinges, one of them elastic, beams that bend, twist, stretch
/// and shear, a slider, an elastic truss, masses, inertias and gravity.
pub(crate) fn everything(damping_time: f64) -> Mechanism {
    everything_under([1.0, -2.0, -9.0], damping_time)
}

/// The same without gravity.
pub(crate) fn weightless_everything(damping_time: f64) -> Mechanism {
    everything_under([0.0; 3], damping_time)
}

fn everything_under(gravity: [f64; 3], damping_time: f64) -> Mechanism {
    let section = BeamSection {
        bending_stiffness_z: 60.0,
        shear_stiffness: Some([4e3, 3e3]),
        rotary_inertia_per_length: [0.03, 0.02, 0.01],
        damping_time,
        ..BeamSection::slender(1.5, 9e3, 30.0, 90.0)
    };
    let mut assembly = Assembly::new();
    assembly.set_gravity(gravity);
    let mut orientation =
        |name: &str, turn| assembly.orientation(name, &RotationVector::new(Vector(turn)).matrix());
    let ground = orientation("ground", [0.3, 0.1, 0.0]);
    let root = orientation("root", [0.0, 0.2, 0.1]);
    let middle = orientation("middle", [0.4, 0.0, 0.1]);
    let carrier = orientation("carrier", [0.0, 0.0, 0.5]);
    let last = orientation("last", [0.1, 0.2, 0.3]);
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
            orientation: assembly.orientation(&format!("orientation_{i}"), &Matrix::identity()),
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
            orientation: assembly.orientation(&format!("orientation_{i}"), &Matrix::identity()),
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
