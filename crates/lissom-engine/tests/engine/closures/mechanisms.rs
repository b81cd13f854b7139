//! Mechanisms with loops, closed by hand.

use std::fmt::Write;

use lissom_engine::model::Model;
use lissom_spatial::Vector;
use lissom_spec::ModelSpec;
use lissom_tree::closure::Loops;
use lissom_tree::{ClosureEnd, ClosureKind, ClosureMethod, Place};

use crate::models::{closure, hinge, joint, parsed};

pub(crate) const AXIS: Vector<f64> = Vector([0.0, 0.0, 1.0]);

/// A mechanism that starts closed, with what its methods need.
pub(crate) struct Mechanism {
    pub(crate) name: &'static str,
    pub(crate) spec: ModelSpec,
    pub(crate) model: Model,
    /// Independent entries of the velocity vector.
    pub(crate) independent: Vec<usize>,
    /// Marker and components of its twist that are independent.
    pub(crate) cartesian: (usize, Vec<usize>),
}

impl Mechanism {
    pub(crate) fn methods(&self) -> Vec<ClosureMethod> {
        vec![
            ClosureMethod::JointSpace {
                independent: self.independent.clone(),
            },
            ClosureMethod::CartesianSpace {
                marker: self.cartesian.0,
                components: self.cartesian.1.clone(),
            },
            ClosureMethod::Automatic,
            ClosureMethod::Projected,
            ClosureMethod::OperationalSpace,
            // decays within about a tenth of a second
            ClosureMethod::Stabilized {
                frequency: 50.0,
                damping_ratio: 1.0,
            },
        ]
    }

    pub(crate) fn with(&self, method: ClosureMethod) -> Model {
        let mut model = self.model.clone();
        model.linkage.closure_method = method;
        model
    }

    /// Makes the start consistent: independent coordinates as given, the others such that the loops close.
    fn settled(mut self) -> Self {
        let model = self.with(self.methods().swap_remove(0));
        let (mut q, mut v) = (
            model.initial_position.clone(),
            model.initial_velocity.clone(),
        );
        let mut loops = Loops::new(&model.linkage, &model.initial_position)
            .unwrap()
            .unwrap();
        loops.project(&model.linkage, &mut q, &mut v).unwrap();
        self.model.initial_position = q;
        self.model.initial_velocity = v;
        self
    }

    /// The same with something changed that leaves bodies and places where they are.
    pub(crate) fn changed(self, change: impl FnOnce(&mut ModelSpec)) -> Self {
        let mut spec = self.spec;
        change(&mut spec);
        spec.check().unwrap();
        let mut model = Model::build(&spec).unwrap();
        model.linkage.closures = self.model.linkage.closures;
        Self {
            spec,
            model,
            ..self
        }
        .settled()
    }

    /// The same with an independent velocity at the start, and the others such that the loops stay closed.
    pub(crate) fn started(mut self, independent: usize, rate: f64) -> Self {
        self.model.initial_velocity[self.independent[independent]] = rate;
        self.settled()
    }
}

fn entry(model: &Model, joint: &str) -> usize {
    let bodies = model.linkage.system.bodies();
    let k = bodies.iter().position(|b| b.joint.name == joint).unwrap();
    model.linkage.system.layout().joint_velocity[k]
}

/// A link along its own x axis.
fn link(text: &mut String, name: &str, length: f64, mass: f64, modes: Option<&str>) {
    writeln!(text, "[[body]]\nname = \"{name}\"").unwrap();
    if let Some(modes) = modes {
        write!(
            text,
            "[body.beam]\nlength_m = {length}\nmass_per_length_kg_per_m = {}\n\
             bending_stiffness_y_n_m2 = 40.0\nbending_stiffness_z_n_m2 = 60.0\n\
             basis.clamped_free = {{ {modes} }}\n",
            mass / length
        )
        .unwrap();
    } else {
        let inertia = mass * length * length / 12.0;
        write!(
            text,
            "[body.rigid]\nmass_kg = {mass}\ncenter_of_mass_m = [{}, 0, 0]\n\
             inertia_kg_m2 = [1e-4, {inertia}, {inertia}]\n\
             [[body.node]]\nname = \"tip\"\nposition_m = [{length}, 0, 0]\n",
            length / 2.0
        )
        .unwrap();
    }
    write!(
        text,
        "[[marker]]\nname = \"{name}\"\nbody = \"{name}\"\nat = \"tip\"\n"
    )
    .unwrap();
}

/// A rigid body with nodes that are markers too.
fn plate(text: &mut String, name: &str, mass: f64, inertia: [f64; 3], nodes: &[[f64; 3]]) {
    write!(
        text,
        "[[body]]\nname = \"{name}\"\nrigid = {{ mass_kg = {mass}, inertia_kg_m2 = {inertia:?} }}\n"
    )
    .unwrap();
    for (i, node) in nodes.iter().enumerate() {
        write!(
            text,
            "[[body.node]]\nname = \"{i}\"\nposition_m = {node:?}\n"
        )
        .unwrap();
    }
    for i in 0..nodes.len() {
        write!(
            text,
            "[[marker]]\nname = \"{name}_{i}\"\nbody = \"{name}\"\nat = \"{i}\"\n"
        )
        .unwrap();
    }
}

pub(crate) fn marker(model: &Model, name: &str) -> usize {
    model
        .linkage
        .markers
        .iter()
        .position(|m| m.name == name)
        .unwrap()
}

pub(crate) fn on_ground() -> ClosureEnd {
    ClosureEnd {
        body: None,
        place: Place::Fixed(lissom_spatial::Transform::identity()),
    }
}

/// Lengths of crank, coupler, rocker and ground.
pub(crate) const FOUR_BAR: [f64; 4] = [0.3, 0.8, 0.6, 0.7];

/// No link of these turns all the way round: every joint comes to rest somewhere and says nothing about the
/// others there.
pub(crate) const TRIPLE_ROCKER: [f64; 4] = [0.5, 0.6, 0.55, 0.9];

/// Angles of coupler and rocker from the ground's x axis for an angle of the crank; coupler above.
pub(crate) fn four_bar_angles(lengths: [f64; 4], crank: f64) -> (f64, f64) {
    let [a, b, c, d] = lengths;
    let (x, y) = (a * crank.cos(), a * crank.sin());
    let (dx, dy) = (d - x, -y);
    let reach = dx.hypot(dy);
    let base = dy.atan2(dx);
    let inner = ((b * b + reach * reach - c * c) / (2.0 * b * reach)).acos();
    let coupler = base + inner;
    let tip = (x + b * coupler.cos(), y + b * coupler.sin());
    (coupler, tip.1.atan2(tip.0 - d))
}

/// Crank, coupler and rocker, joined by a revolute closure in space: five equations, two of them independent.
pub(crate) fn four_bar(flexible: bool, crank: f64, more: &str) -> Mechanism {
    four_bar_of(FOUR_BAR, flexible, crank, more)
}

pub(crate) fn four_bar_of(lengths: [f64; 4], flexible: bool, crank: f64, more: &str) -> Mechanism {
    let [a, b, c, d] = lengths;
    let modes = flexible.then_some("bending_y = 2");
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    link(&mut text, "crank", a, 0.4, None);
    link(&mut text, "coupler", b, 0.5, modes);
    link(&mut text, "rocker", c, 0.4, modes);
    let (coupler, rocker) = four_bar_angles(lengths, crank);
    let at_tip = "{ body = \"crank\", at = \"tip\" }";
    let ground = format!("{{ body = \"ground\", position_m = [{d}, 0, 0] }}");
    text += &hinge("crank", "\"ground\"", "\"crank\"", crank);
    text += &hinge("coupler", at_tip, "\"coupler\"", coupler - crank);
    text += &hinge("rocker", &ground, "\"rocker\"", rocker);
    text.push_str(more);
    let spec = parsed(&text);
    let mut model = Model::build(&spec).unwrap();
    let kind = ClosureKind::Revolute { axis: AXIS };
    model.linkage.closures = vec![closure(&model, "pin", kind, "coupler", "rocker")];
    let independent = vec![entry(&model, "crank")];
    let cartesian = (marker(&model, "crank"), vec![4]);
    Mechanism {
        name: if flexible {
            "flexible four-bar"
        } else {
            "four-bar"
        },
        spec,
        model,
        independent,
        cartesian,
    }
    .settled()
}

/// Lengths of crank and connecting rod.
pub(crate) const SLIDER_CRANK: [f64; 2] = [0.2, 0.5];

/// Angle of the rod from the x axis and position of the slider.
pub(crate) fn slider_crank_position(crank: f64) -> (f64, f64) {
    let [r, l] = SLIDER_CRANK;
    let rod = (-r * crank.sin() / l).asin();
    (rod, r * crank.cos() + l * rod.cos())
}

pub(crate) fn slider_crank(flexible: bool, crank: f64, more: &str) -> Mechanism {
    let [r, l] = SLIDER_CRANK;
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    link(&mut text, "crank", r, 0.3, None);
    link(
        &mut text,
        "rod",
        l,
        0.4,
        flexible.then_some("bending_y = 2"),
    );
    plate(&mut text, "slider", 0.7, [1e-3; 3], &[[0.0; 3]]);
    let (rod, slide) = slider_crank_position(crank);
    let at_tip = "{ body = \"crank\", at = \"tip\" }";
    text += &hinge("crank", "\"ground\"", "\"crank\"", crank);
    text += &hinge("rod", at_tip, "\"rod\"", rod - crank);
    let slides =
        format!("prismatic = {{ axis = [1, 0, 0], initial_displacement_m = {slide:.17} }}");
    text += &joint("slide", "\"ground\"", "\"slider\"", &slides);
    text.push_str(more);
    let spec = parsed(&text);
    let mut model = Model::build(&spec).unwrap();
    let kind = ClosureKind::Revolute { axis: AXIS };
    model.linkage.closures = vec![closure(&model, "pin", kind, "rod", "slider_0")];
    Mechanism {
        name: "slider-crank",
        independent: vec![entry(&model, "crank")],
        cartesian: (marker(&model, "crank"), vec![4]),
        spec,
        model,
    }
    .settled()
}

/// Angles of the two links of a leg from `from` to `to`, the elbow to the given side.
fn leg_angles(from: [f64; 2], to: [f64; 2], lengths: [f64; 2], side: f64) -> (f64, f64) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let reach = dx.hypot(dy);
    let [a, b] = lengths;
    let inner = ((a * a + reach * reach - b * b) / (2.0 * a * reach)).acos();
    let first = dy.atan2(dx) - side * inner;
    let elbow = [from[0] + a * first.cos(), from[1] + a * first.sin()];
    (first, (to[1] - elbow[1]).atan2(to[0] - elbow[0]))
}

/// Planar parallel manipulator with three legs: two loops that share a leg and the platform.
pub(crate) fn planar_3rrr(flexible: bool) -> Mechanism {
    let lengths = [0.45, 0.55];
    let modes = flexible.then_some("bending_y = 2");
    let mut text = "format = 1\n".to_owned();
    let base = [[0.0, 0.0], [0.6, 0.0], [0.3, 0.519_615_242_270_663_2]];
    let a = 0.4_f64;
    let height = a * 3.0_f64.sqrt() / 6.0;
    let corners = [
        [-a / 2.0, -height, 0.0],
        [a / 2.0, -height, 0.0],
        [0.0, 2.0 * height, 0.0],
        [0.0, 0.0, 0.0],
    ];
    let centre = [0.2, 0.7];
    plate(
        &mut text,
        "platform",
        0.0959,
        [1e-3, 1e-3, 1.3e-3],
        &corners,
    );
    let mut last_angle = 0.0;
    for (i, side) in [1.0, -1.0, -1.0].into_iter().enumerate() {
        let to = [centre[0] + corners[i][0], centre[1] + corners[i][1]];
        let (first, second) = leg_angles(base[i], to, lengths, side);
        let (near, far) = (format!("near_{i}"), format!("far_{i}"));
        link(&mut text, &near, lengths[0], 0.0623, modes);
        link(&mut text, &far, lengths[1], 0.0761, modes);
        let [x, y] = base[i];
        let ground = format!("{{ body = \"ground\", position_m = [{x:.17}, {y:.17}, 0] }}");
        text += &hinge(&near, &ground, &format!("\"{near}\""), first);
        let elbow = format!("{{ body = \"{near}\", at = \"tip\" }}");
        text += &hinge(&far, &elbow, &format!("\"{far}\""), second - first);
        if i == 0 {
            last_angle = second;
        }
    }
    text += &hinge(
        "platform",
        "{ body = \"far_0\", at = \"tip\" }",
        "{ body = \"platform\", at = \"0\" }",
        -last_angle,
    );
    let spec = parsed(&text);
    let mut model = Model::build(&spec).unwrap();
    model.linkage.closures = (1..3)
        .map(|i| {
            let kind = ClosureKind::Revolute { axis: AXIS };
            let (far, node) = (format!("far_{i}"), format!("platform_{i}"));
            closure(&model, &format!("pin_{i}"), kind, &far, &node)
        })
        .collect();
    let independent = (0..3)
        .map(|i| entry(&model, &format!("near_{i}")))
        .collect();
    let cartesian = (marker(&model, "platform_3"), vec![2, 3, 4]);
    Mechanism {
        name: "planar 3-RRR",
        spec,
        model,
        independent,
        cartesian,
    }
    .settled()
}

/// Spatial parallel manipulator: three legs of two hinges each, a platform on three balls.
pub(crate) fn spatial_3rrs(flexible: bool) -> Mechanism {
    let (radius, platform, rise, lengths) = (0.6, 0.3, 0.7, [0.5, 0.6]);
    let modes = flexible.then_some("bending_y = 1, bending_z = 1");
    let mut text = "format = 1\ngravity_m_per_s2 = [0.3, -0.2, -9.81]\n".to_owned();
    let turned = |i: u32| std::f64::consts::TAU * f64::from(i) / 3.0;
    let nodes: Vec<[f64; 3]> = (0..3)
        .map(|i| [platform * turned(i).cos(), platform * turned(i).sin(), 0.0])
        .chain([[0.0; 3]])
        .collect();
    plate(&mut text, "platform", 1.2, [0.02, 0.02, 0.04], &nodes);
    // in the plane of a leg: outwards and up; the elbow outside
    let (first, second) = leg_angles([radius, 0.0], [platform, rise], lengths, 1.0);
    for i in 0..3 {
        let (near, far) = (format!("near_{i}"), format!("far_{i}"));
        link(&mut text, &near, lengths[0], 0.4, modes);
        link(&mut text, &far, lengths[1], 0.5, modes);
        let turn = turned(i);
        let ground = format!(
            "{{ body = \"ground\", position_m = [{:.17}, {:.17}, 0], rotation_vector_rad = [0, 0, {turn:.17}] }}",
            radius * turn.cos(),
            radius * turn.sin()
        );
        // turning about y lowers what points along x
        let about_y = |angle: f64| {
            format!(
                "revolute = {{ axis = [0, 1, 0], initial_angle_rad = {:.17} }}",
                -angle
            )
        };
        text += &joint(&near, &ground, &format!("\"{near}\""), &about_y(first));
        let elbow = format!("{{ body = \"{near}\", at = \"tip\" }}");
        text += &joint(
            &far,
            &elbow,
            &format!("\"{far}\""),
            &about_y(second - first),
        );
    }
    // level: undo the inclination of the link that carries it
    text += &joint(
        "ball_0",
        "{ body = \"far_0\", at = \"tip\" }",
        "{ body = \"platform\", at = \"0\" }",
        &format!("spherical = {{ initial_rotation_vector_rad = [0, {second:.17}, 0] }}"),
    );
    let spec = parsed(&text);
    let mut model = Model::build(&spec).unwrap();
    model.linkage.closures = (1..3)
        .map(|i| {
            let (far, node) = (format!("far_{i}"), format!("platform_{i}"));
            let name = format!("ball_{i}");
            closure(&model, &name, ClosureKind::Spherical, &far, &node)
        })
        .collect();
    let independent = (0..3)
        .map(|i| entry(&model, &format!("near_{i}")))
        .collect();
    // it tilts and rises; along the ground the centre moves to second order only
    let cartesian = (marker(&model, "platform_3"), vec![0, 1, 5]);
    Mechanism {
        name: "spatial 3-RRS",
        spec,
        model,
        independent,
        cartesian,
    }
    .settled()
}
