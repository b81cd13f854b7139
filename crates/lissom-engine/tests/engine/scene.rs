//! A scene draws what was recorded: agreement of the points that a viewer computes from poses, elastic
//! coordinates and influences with the markers that the run recorded on its own.

use lissom_core::Recording;
use lissom_core::study::sample_instants;
use lissom_engine::Mechanism;
use lissom_engine::scene::{Colour, FlexiblePoint, Frames, Ghost, NotDrawn, Scene};
use lissom_spatial::{RotationVector, Vector};

use crate::loops_in_both::{AGREEMENT, FOUR_BAR};
use crate::models::{changed, parsed};
use crate::runs::{mechanism, nodal_mechanism, tree_mechanism};
use crate::shipped::{
    BRANCHED_TREE, COOPERATING_ARMS, FLYING_SPAGHETTI, ROTATING_BEAM, SHUTTLE_ARM, SPACE_ARM,
    TWO_LINK,
};

const TWO_LINKS: &str = lissom_spec::TEMPLATE;

/// Frames are kept in single precision: a few units of its rounding in poses and coordinates.
pub(crate) const SINGLE: f64 = 1e-6;

pub(crate) struct Recorded {
    mechanism: Mechanism,
    pub(crate) recording: Recording,
}

impl Recorded {
    fn of(mechanism: Mechanism) -> Self {
        let samples = sample_instants(mechanism.spec(), &[]);
        Self {
            recording: mechanism.run(&samples).recording,
            mechanism,
        }
    }

    pub(crate) fn scene(&self) -> Scene {
        self.mechanism.scene().unwrap()
    }

    pub(crate) fn frames(&self, most: usize) -> Frames {
        self.mechanism.frames(&self.recording, most).unwrap()
    }
}

pub(crate) fn recorded(text: &str, changes: &[&str]) -> Recorded {
    Recorded::of(mechanism(&changed(text, changes)))
}

fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let t = cross([x, y, z], v).map(|c| 2.0 * c);
    let u = cross([x, y, z], t);
    std::array::from_fn(|i| v[i] + w * t[i] + u[i])
}

/// A place of a body in the ground frame.
pub(crate) fn posed(pose: &[f32], r: [f64; 3]) -> [f64; 3] {
    let pose: Vec<f64> = pose.iter().map(|&x| f64::from(x)).collect();
    let turned = rotate([pose[3], pose[4], pose[5], pose[6]], r);
    std::array::from_fn(|i| pose[i] + turned[i])
}

/// Where a viewer draws a point of a body.
pub(crate) fn drawn(pose: &[f32], point: &FlexiblePoint, eta: &[f32]) -> [f64; 3] {
    let eta: Vec<f64> = eta.iter().map(|&x| f64::from(x)).collect();
    let mut r = point.position;
    for (shape, x) in point.displacement.iter().zip(&eta) {
        for i in 0..3 {
            r[i] += shape[i] * x;
        }
    }
    for part in point.second_order.iter().filter(|part| part.component < 3) {
        let mut entries = part.entries.iter();
        // entries aside from the diagonal count for their mirror image too
        let weight = if part.rows == part.columns { 0.5 } else { 1.0 };
        for row in part.rows[0]..part.rows[1] {
            for column in part.columns[0]..part.columns[1] {
                r[part.component] += weight * eta[row] * entries.next().unwrap() * eta[column];
            }
        }
    }
    posed(pose, r)
}

/// Largest distance between drawn and recorded markers, in lengths of the arm, and how many were compared. A planar node
/// has no z.
fn error(r: &Recorded) -> (f64, usize) {
    let (scene, frames, recording) = (r.scene(), r.frames(usize::MAX), &r.recording);
    let bodies = scene.bodies.len();
    let elastic: usize = scene.bodies.iter().map(|body| body.coordinates).sum();
    assert_eq!(frames.poses.len(), 7 * bodies * recording.len());
    assert_eq!(frames.rigid.len(), frames.poses.len());
    let nominal = if scene.ghost == Ghost::Nominal {
        frames.poses.len()
    } else {
        0
    };
    assert_eq!(frames.ghost.len(), nominal);
    assert_eq!(frames.elastic.len(), elastic * recording.len());
    let (mut worst, mut count) = (0.0_f64, 0);
    for frame in 0..recording.len() {
        let mut first = frame * elastic;
        let mut spans = Vec::new();
        for body in &scene.bodies {
            spans.push(first..first + body.coordinates);
            first += body.coordinates;
        }
        for marker in &scene.markers {
            let Some(body) = marker.side.body else {
                continue;
            };
            let pose = &frames.poses[7 * (frame * bodies + body)..][..7];
            let eta = &frames.elastic[spans[body].clone()];
            let place = drawn(pose, &marker.side.point, eta);
            for (i, axis) in ["x", "y", "z"].iter().enumerate() {
                let name = format!("{}.position.{axis}", marker.name);
                let channel = recording.channel(&name);
                let value = channel.map_or(0.0, |channel| channel.samples[frame]);
                worst = worst.max((place[i] - value).abs() / scene.length_m);
                count += 1;
            }
        }
    }
    (worst, count)
}

/// Two ways: markers as drawn and as recorded, with and without shortening, exact and other tips, floating
/// bases, branches, finite elements.
#[test]
fn drawn_markers_are_the_recorded_ones() {
    let short = "simulation.duration_s=0.5";
    for (name, text, changes) in [
        ("two links", TWO_LINKS, &[short][..]),
        ("shuttle", SHUTTLE_ARM, &[short]),
        ("branched", BRANCHED_TREE, &[short]),
        ("space", SPACE_ARM, &[short]),
        (
            "second order",
            TWO_LINKS,
            &[short, "fidelity.shortening=second_order"],
        ),
        ("ruthless", TWO_LINKS, &[short, "fidelity.preset=ruthless"]),
        ("linear", TWO_LINKS, &[short, "fidelity.tip=linear"]),
    ] {
        let (worst, count) = error(&recorded(text, changes));
        assert!(count > 0, "{name}");
        assert!(worst < SINGLE, "{name}: {worst}");
    }
}

/// Closed form: the curvature of a clamped uniform beam's first mode at its root is k² times its largest value
/// 2/√m, with kL = 1.8751; half axes and modulus are those of the solid ellipse.
#[test]
fn curvature_and_sections() {
    /// Difference quotient of slopes at one side only, over a thousandth of the length: of that order.
    const ONE_SIDED: f64 = 3e-3;
    let scene = mechanism(&parsed(SHUTTLE_ARM)).scene().unwrap();
    assert_eq!(scene.colour, Colour::Stress);
    assert_eq!(scene.ghost, Ghost::Nominal);
    let boom = scene
        .bodies
        .iter()
        .find(|b| b.name == "upper_boom")
        .unwrap();
    let line = boom.line.as_ref().unwrap();
    let (length, mass) = (6.4_f64, 6.4 * 21.5625_f64);
    let root = (1.875_104_068_711_961 / length).powi(2) * 2.0 / mass.sqrt();
    assert!((line.curvature[0][0] / root - 1.0).abs() < ONE_SIDED);
    assert_eq!(line.curvature[0][1], 0.0);
    // the first mode in z comes after two in y
    assert!((line.curvature[2][1] / root - 1.0).abs() < ONE_SIDED);
    let (bending, axial) = (4.046e6, 2.79e9);
    let radius = 2.0 * f64::sqrt(bending / axial);
    let modulus = axial / (std::f64::consts::PI * radius * radius);
    assert!((line.half_axes[0][0] / radius - 1.0).abs() < 1e-12);
    assert!((line.youngs_modulus[7] / modulus - 1.0).abs() < 1e-12);
    // bending stiffness of that ellipse
    let back = modulus * std::f64::consts::PI / 4.0 * radius.powi(4);
    assert!((back / bending - 1.0).abs() < 1e-12);
    // links of 0.9, 6.4, 7, 0.5, 0.8 and 0.6 m, and the centre of the drum 5 m beyond
    assert!((scene.length_m - 21.2).abs() < 1e-9, "{}", scene.length_m);
}

/// Property: a thinned animation keeps both ends, and a recording without coordinates says which it lacks.
#[test]
fn thinning_and_missing_coordinates() {
    let mut r = recorded(TWO_LINKS, &["simulation.duration_s=0.5"]);
    let frames = r.frames(7);
    assert_eq!(frames.time_s.len(), 7);
    assert_eq!(frames.time_s[0], 0.0);
    assert_eq!(frames.time_s.last(), r.recording.time_s.last());
    assert!(frames.time_s.is_sorted());

    (r.recording.channels).retain(|channel| channel.name.starts_with("energy"));
    let error = r.mechanism.frames(&r.recording, 7).unwrap_err();
    let NotDrawn::Missing(missing) = &error else {
        panic!("{error}");
    };
    // two joints, and three elastic coordinates on either link
    assert_eq!((missing.names.len(), missing.all), (8, 8));
    assert!(error.to_string().contains("output.channels"), "{error}");
}

/// Closed form: with nominal motions the ghost's shoulder has turned by the cycloid's end value at its end.
#[test]
fn the_ghost_follows_the_nominal_motion() {
    let r = recorded(SHUTTLE_ARM, &[]);
    let (scene, frames) = (r.scene(), r.frames(2));
    let base = &frames.ghost[7 * scene.bodies.len()..][..7];
    let angle = 2.0 * f64::atan2(f64::from(base[6]), f64::from(base[3]));
    assert!((angle - 0.4).abs() < SINGLE, "{angle}");
}

/// Closed form: in loops the ghost's joints follow the nominal motion of the marker together: the object that two arms
/// carry goes along its cycloid without bending any of them, and every pin stays in its hole.
#[test]
fn the_ghost_of_a_loop_follows_the_nominal_motion() {
    let r = recorded(COOPERATING_ARMS, &["simulation.duration_s=0.1"]);
    let (scene, frames) = (r.scene(), r.frames(3));
    assert_eq!(scene.ghost, Ghost::Nominal);
    let bodies = scene.bodies.len();
    let object = scene
        .bodies
        .iter()
        .position(|b| b.name == "object")
        .unwrap();
    for (i, &time) in frames.time_s.iter().enumerate() {
        let pose = &frames.ghost[7 * (i * bodies + object)..][..7];
        let share = time / 0.5;
        let way = share - (std::f64::consts::TAU * share).sin() / std::f64::consts::TAU;
        let angle = 2.0 * f64::atan2(f64::from(pose[6]), f64::from(pose[3]));
        let found = [f64::from(pose[0]), f64::from(pose[1]), angle];
        let expected = [0.2 + 0.5 * way, 0.6, std::f64::consts::FRAC_PI_6 * way];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < SINGLE,
                "{found} {expected} at {time}"
            );
        }
        // both sides of what closes the loop, undeformed
        let closing = scene.joints.iter().find(|joint| joint.closes_loop).unwrap();
        let [from, to] = [&closing.parent, &closing.child].map(|side| {
            let pose = &frames.ghost[7 * (i * bodies + side.body.unwrap())..][..7];
            drawn(pose, &side.point, &vec![0.0; side.point.displacement.len()])
        });
        for (from, to) in from.iter().zip(to) {
            assert!((from - to).abs() < SINGLE, "{from} {to}");
        }
    }
}

/// Identity: a closure that ends where a marker sits is drawn there, its other end where the ground holds it; with loops the
/// ghost does not mix nominal and recorded joints.
#[test]
fn closures_are_drawn_at_their_ends() {
    const HOLD: [f64; 3] = [1.0, 2.0, 3.0];
    let text = format!(
        "{SHUTTLE_ARM}\n[[loop]]\nname = \"stay\"\nfrom = {{ body = \"ground\", position_m = {HOLD:?} }}\n\
         to = \"lower_tip\"\ndistance.length_m = 14.0\n"
    );
    let mut spec = parsed(&text);
    // one joint on its nominal motion does not say where the others are
    spec.input.truncate(1);
    let scene = mechanism(&spec).scene().unwrap();
    assert_eq!(scene.ghost, Ghost::Undeformed);
    let stay = scene.joints.last().unwrap();
    assert!(stay.closes_loop && stay.kind == "distance");
    assert_eq!((stay.parent.body, stay.parent.point.position), (None, HOLD));
    let drawn = scene
        .markers
        .iter()
        .find(|m| m.name == "lower_tip")
        .unwrap();
    assert_eq!(stay.child, drawn.side);
    assert!(
        !stay.child.point.displacement.is_empty(),
        "the tip of a boom moves"
    );
}

/// A run by finite elements.
pub(crate) fn meshed(text: &str, changes: &[&str]) -> Recorded {
    // modal damping is for modes
    let text = text.replace("modal_ratio = ", "rayleigh.stiffness_s = 0.01 # ");
    Recorded::of(nodal_mechanism(&changed(&text, changes), 3))
}

/// Two ways: nodes and markers of finite elements as drawn and as recorded: free and turning by more than a turn, bodies
/// and joints meshed, a base that floats, masses on beams.
#[test]
fn drawn_nodes_are_the_recorded_ones() {
    let short = "simulation.duration_s=0.2";
    let quick = "simulation.integrator={radau={rtol=1e-5,atol=1e-7}}";
    for (name, text, changes) in [
        (
            "spaghetti",
            FLYING_SPAGHETTI,
            &["simulation.duration_s=2"][..],
        ),
        ("two links", TWO_LINKS, &[short, quick]),
        ("two links of nodes", TWO_LINK, &[short]),
        (
            "space",
            SPACE_ARM,
            &[
                "simulation.duration_s=0.05",
                "output.sample_period_s=0.01",
                quick,
            ],
        ),
    ] {
        let run = meshed(text, changes);
        let (worst, count) = error(&run);
        assert!(count >= 3 * run.recording.len(), "{name}: {count}");
        assert!(worst < SINGLE, "{name}: {worst}");
    }
}

/// Closed form: a drawn beam ends where its tip is, and curvature is that of its cubic: a cantilever under a load at its
/// tip has $`v''(0) = PL/EI`$ at its root and none at its tip.
#[test]
fn a_beam_of_elements_is_drawn_along_its_cubics() {
    const LOAD_N: f64 = 1e-3;
    let text = format!(
        r#"
format = 1
[[body]]
name = "beam"
[body.beam]
length_m = 2.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 5.0
basis.elements = {{ count = 1 }}
[[joint]]
name = "wall"
parent = "ground"
child = "beam"
fixed = {{}}
[[marker]]
name = "tip"
body = "beam"
[[input]]
marker = "tip"
direction = [0.0, 1.0, 0.0]
force_constant = {{ value_n = {LOAD_N} }}
[simulation]
duration_s = 0.01
initial = "equilibrium"
integrator.generalized_alpha = {{ step_s = 0.005 }}
[output]
sample_period_s = 0.01
"#
    );
    // a slope of 4e-4 counts by its square; curvatures are differences of single precision
    const DIGITS: f64 = 1e-3;
    let run = meshed(&text, &[]);
    let (scene, frames) = (run.scene(), run.frames(usize::MAX));
    let body = &scene.bodies[0];
    let line = body.line.as_ref().unwrap();
    let eta: Vec<f64> = (frames.elastic[..body.coordinates].iter())
        .map(|&x| f64::from(x))
        .collect();
    let stations = line.positions.len();
    for station in [0, stations / 3, stations / 2, stations - 1] {
        let x = line.positions[station][0];
        let influence = &line.displacement[station * eta.len()..][..eta.len()];
        let moved: f64 = influence
            .iter()
            .zip(&eta)
            .map(|(psi, eta)| psi[1] * eta)
            .sum();
        let expected = LOAD_N * x * x * (6.0 - x) / (6.0 * 5.0);
        let tip = LOAD_N * 8.0 / (3.0 * 5.0);
        assert!(
            (moved - expected).abs() < DIGITS * tip,
            "{x}: {moved} {expected}"
        );
        let influence = &line.curvature[station * eta.len()..][..eta.len()];
        let curved: f64 = influence.iter().zip(&eta).map(|(k, eta)| k[0] * eta).sum();
        let expected = LOAD_N * (2.0 - x) / 5.0;
        assert!(
            (curved - expected).abs() < DIGITS * LOAD_N * 2.0 / 5.0,
            "{x}: {curved} {expected}"
        );
    }
    assert!(!line.sections_known);
}

/// Property: a recording without coordinates says which are missing.
#[test]
fn elements_without_coordinates_are_not_drawn() {
    let mut run = meshed(FLYING_SPAGHETTI, &["simulation.duration_s=0.1"]);
    (run.recording.channels).retain(|channel| channel.name != "lower_angle.angle");
    let error = run.mechanism.frames(&run.recording, 10).unwrap_err();
    assert!(
        matches!(&error, NotDrawn::Missing(missing) if missing.names == ["lower_angle.angle"]),
        "{error}"
    );
}

/// Property: a beam is drawn by the name that its model gives it, whatever that ends with, and all its parts as one.
#[test]
fn beams_keep_their_names() {
    for (name, divisions) in [("arm.7", 1), ("arm.7", 3)] {
        let text = ROTATING_BEAM.replace("name = \"beam\"", &format!("name = \"{name}\""));
        let divisions = format!("element.1.beam.divisions={divisions}");
        let scene = mechanism(&changed(&text, &[&divisions])).scene().unwrap();
        let beams = scene.bodies.iter().filter(|body| body.line.is_some());
        let names: Vec<&str> = beams.map(|body| body.name.as_str()).collect();
        assert_eq!(names, [name]);
    }
}

/// Agreement: points of rigid bodies, on which meshes of a model stand, are where the other formulation has them, turned as bodies are.
#[test]
fn rigid_bodies_of_the_model_are_found_in_either_formulation() {
    let spec = parsed(FOUR_BAR);
    let [tree, nodes] = [tree_mechanism(&spec), nodal_mechanism(&spec, 1)].map(Recorded::of);
    let [tree_scene, node_scene] = [&tree, &nodes].map(Recorded::scene);
    let [tree_frames, node_frames] = [&tree, &nodes].map(|recorded| recorded.frames(4));
    let (mark, turned) = ([0.1, -0.2, 0.3], [0.4, 0.5, -0.6]);
    // where the mark is, and where its axes point to
    let drawn = |scene: &Scene, frames: &Frames, body: &str, frame: usize| {
        let own = scene.rigid.iter().find(|own| own.name == body).unwrap();
        let at = frame * scene.bodies.len() + own.drawn_by[0];
        let pose = &frames.poses[7 * at..][..7];
        let [place, vector] = own.place(mark, turned);
        let rotation = RotationVector::new(Vector(vector)).matrix();
        [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            .map(|axis| posed(pose, (Vector(place) + rotation * Vector(axis)).0))
    };
    assert_eq!(tree_frames.time_s, node_frames.time_s);
    for body in ["crank", "coupler", "rocker"] {
        for frame in 0..tree_frames.time_s.len() {
            let one = drawn(&tree_scene, &tree_frames, body, frame);
            let other = drawn(&node_scene, &node_frames, body, frame);
            for (a, b) in one.into_iter().flatten().zip(other.into_iter().flatten()) {
                assert!((a - b).abs() < SINGLE + AGREEMENT, "{body}: {a} {b}");
            }
        }
    }
}
