//! Both sides of a joint are drawn at one place, whatever deformation is exaggerated by.

use lissom_engine::scene::{
    Centreline, DrawnBody, FlexiblePoint, Frames, Scene, SecondOrder, Side,
};

use crate::scene::{Recorded, SINGLE, drawn, meshed, posed, recorded};
use crate::shipped::{
    BRANCHED_TREE, COOPERATING_ARMS, FOUR_BAR, PLANAR_3RRR, SHUTTLE_ARM, SLIDER_CRANK,
    SLIDING_BOOM, SPACE_ARM, SPATIAL_3RRS,
};

const TWO_LINKS: &str = lissom_spec::TEMPLATE;

/// A scene with its frames, as a viewer has them.
struct Viewed {
    scene: Scene,
    frames: Frames,
}

impl Viewed {
    fn of(r: &Recorded) -> Self {
        Self {
            scene: r.scene(),
            frames: r.frames(usize::MAX),
        }
    }

    /// Where a point is drawn in a frame with deformation exaggerated by a factor.
    fn place(&self, frame: usize, side: &Side, factor: f64) -> [f64; 3] {
        let Some(body) = side.body else {
            return side.point.position;
        };
        let bodies = &self.scene.bodies;
        let coordinates =
            |bodies: &[DrawnBody]| -> usize { bodies.iter().map(|body| body.coordinates).sum() };
        let at = frame * coordinates(bodies) + coordinates(&bodies[..body]);
        let eta = &self.frames.elastic[at..][..bodies[body].coordinates];
        let pose = 7 * (frame * bodies.len() + body);
        let was = drawn(&self.frames.poses[pose..][..7], &side.point, eta);
        let rigid = posed(&self.frames.rigid[pose..][..7], side.point.position);
        std::array::from_fn(|i| rigid[i] + factor * (was[i] - rigid[i]))
    }

    /// Largest distance, in lengths of the arm, between the two sides of any joint or closure that keeps them together, and the
    /// largest way that exaggeration takes one.
    fn gap_and_way(&self, factor: f64) -> (f64, f64) {
        let slides = [
            "prismatic",
            "point_on_line",
            "on_beam",
            "along_beam",
            "distance",
            "free",
        ];
        let joints = self.scene.joints.iter();
        let held = joints.filter(|joint| !slides.contains(&joint.kind));
        self.apart(held.map(|joint| [&joint.parent, &joint.child]), factor)
    }

    /// The same of ends of bodies that meet in the first frame, in which nothing is deformed.
    fn gap_and_way_of_ends(&self, factor: f64) -> (f64, f64) {
        let ends: Vec<Side> = (self.scene.bodies.iter().enumerate())
            .flat_map(|(index, body)| {
                let fixed = body.struts.iter().flatten().chain(&body.plate);
                let fixed = fixed.map(|&position| FlexiblePoint {
                    position,
                    ..FlexiblePoint::default()
                });
                let of_line = body.line.iter().flat_map(|line| {
                    [0, line.positions.len() - 1].map(|k| station_of(line, k, body.coordinates))
                });
                let side = move |point| Side {
                    body: Some(index),
                    point,
                };
                of_line.chain(fixed).map(side).collect::<Vec<_>>()
            })
            .collect();
        let meet = |a: &Side, b: &Side| {
            let [a, b] = [a, b].map(|side| self.place(0, side, 1.0));
            apart(a, b) < SINGLE * self.scene.length_m
        };
        let pairs = ends.iter().enumerate().flat_map(|(i, a)| {
            let others = ends[i + 1..].iter().filter(|b| b.body != a.body);
            others.filter(|b| meet(a, b)).map(move |b| [a, b])
        });
        self.apart(pairs, factor)
    }

    fn apart<'a>(&self, pairs: impl Iterator<Item = [&'a Side; 2]>, factor: f64) -> (f64, f64) {
        let (mut gap, mut way) = (0.0_f64, 0.0_f64);
        for pair in pairs {
            for frame in 0..self.frames.time_s.len() {
                let [from, to] = pair.map(|side| self.place(frame, side, factor));
                let was = self.place(frame, pair[1], 1.0);
                gap = gap.max(apart(from, to) / self.scene.length_m);
                way = way.max(apart(was, to) / self.scene.length_m);
            }
        }
        (gap, way)
    }
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

/// Two ways: where a body is carried by a bent one, both sides of the joint are drawn at one place, also where bending and
/// torsion are so large that their second-order terms count.
#[test]
fn joints_hold_together() {
    /// Times that deformation is made larger than it was.
    const LARGE: f64 = 20.0;
    let short = "simulation.duration_s=0.3";
    for (name, text, changes) in [
        ("two links", TWO_LINKS, &[short][..]),
        ("shuttle", SHUTTLE_ARM, &[short]),
        ("branched", BRANCHED_TREE, &[short]),
        ("rigid tips", TWO_LINKS, &[short, "fidelity.tip=rigid"]),
        (
            "second order",
            TWO_LINKS,
            &[short, "fidelity.shortening=second_order"],
        ),
    ] {
        let mut r = recorded(text, changes);
        let flexible: Vec<String> = (r.scene().bodies.iter())
            .filter(|body| body.coordinates > 0)
            .map(|body| format!("{}.", body.name))
            .collect();
        let mut largest = 0.0_f64;
        for channel in &mut r.recording.channels {
            let elastic = |body: &String| channel.name.starts_with(body.as_str());
            if flexible.iter().any(elastic) {
                for sample in &mut channel.samples {
                    *sample *= LARGE;
                    largest = largest.max(sample.abs());
                }
            }
        }
        let (gap, _) = Viewed::of(&r).gap_and_way(1.0);
        assert!(largest > 1e-3, "nothing bends in {name}: {largest}");
        assert!(gap < SINGLE, "{name}: {gap}");
    }
}

/// Identity: both sides of every joint and closure are drawn at one place with and without exaggeration: trees, loops in a
/// plane and in space, with redundant drives, sliders, a base that floats, both formulations.
#[test]
fn exaggerated_loops_stay_closed() {
    /// What loops may be open by: the tolerance of the runs, in lengths of the arm.
    const CLOSED: f64 = 1e-6;
    let short = "simulation.duration_s=0.05";
    let quick = "simulation.integrator={radau={rtol=1e-5,atol=1e-7}}";
    let cases: [(&str, &str, &[&str]); 8] = [
        ("3-RRR", PLANAR_3RRR, &[short]),
        ("spatial", SPATIAL_3RRS, &[short]),
        ("arms", COOPERATING_ARMS, &[short]),
        ("four bar", FOUR_BAR, &[short]),
        ("crank", SLIDER_CRANK, &["simulation.duration_s=0.2"]),
        ("space", SPACE_ARM, &["simulation.duration_s=0.5"]),
        ("3-RRR, nodal", PLANAR_3RRR, &[short, quick]),
        ("four bar, nodal", FOUR_BAR, &[short, quick]),
    ];
    for (name, text, changes) in cases {
        let run = if name.ends_with("nodal") {
            meshed(text, changes)
        } else {
            recorded(text, changes)
        };
        let viewed = Viewed::of(&run);
        for factor in [1.0, 20.0] {
            let (gap, way) = viewed.gap_and_way(factor);
            let (of_ends, _) = viewed.gap_and_way_of_ends(factor);
            let gap = gap.max(of_ends);
            let allowed = factor * (SINGLE + CLOSED);
            assert!(gap < allowed, "{name} at {factor}: {gap}");
            if factor > 1.0 {
                assert!(way > 20.0 * gap, "{name} hardly bends: {way}, {gap}");
            }
        }
    }
}

/// Property: a beam is drawn through the supports that it slides through, to less than the thinnest beam that a viewer draws,
/// also where exaggeration makes its slopes as large as one can look at.
#[test]
fn exaggerated_beams_stay_in_their_supports() {
    /// Half thickness of the thinnest beam in lengths of the arm, and the largest slope that is drawn.
    const THINNEST: f64 = 0.0075;
    const SLOPE: f64 = 0.3;
    let run = recorded(SLIDING_BOOM, &["simulation.duration_s=2"]);
    let viewed = Viewed::of(&run);
    let scene = &viewed.scene;
    let supports = scene.joints.iter().filter(|joint| joint.kind == "on_beam");
    let mut tested = 0;
    for support in supports {
        let body = support.parent.body.unwrap();
        let line = scene.bodies[body].line.as_ref().unwrap();
        let stations: Vec<Side> = (0..line.positions.len())
            .map(|station| Side {
                body: Some(body),
                point: station_of(line, station, scene.bodies[body].coordinates),
            })
            .collect();
        for frame in (0..viewed.frames.time_s.len()).step_by(20) {
            let drawn = |factor: f64| -> Vec<[f64; 3]> {
                let places = stations.iter();
                places
                    .map(|side| viewed.place(frame, side, factor))
                    .collect()
            };
            let length = apart(line.positions[0], line.positions[line.positions.len() - 1]);
            let ways = drawn(0.0).into_iter().zip(drawn(1.0));
            let moved = ways.map(|(a, b)| apart(a, b));
            let bend = moved.fold(0.0, f64::max) / length;
            let factor = SLOPE / bend;
            for factor in [1.0, factor.clamp(1.0, 1000.0)] {
                let at = viewed.place(frame, &support.child, factor);
                let near = |pair: &[[f64; 3]]| {
                    let along: [f64; 3] = std::array::from_fn(|i| pair[1][i] - pair[0][i]);
                    let from: [f64; 3] = std::array::from_fn(|i| at[i] - pair[0][i]);
                    let dot =
                        |a: [f64; 3], b: [f64; 3]| -> f64 { (0..3).map(|i| a[i] * b[i]).sum() };
                    let share = (dot(from, along) / dot(along, along)).clamp(0.0, 1.0);
                    apart(at, std::array::from_fn(|i| pair[0][i] + share * along[i]))
                };
                let gap = drawn(factor)
                    .windows(2)
                    .map(near)
                    .fold(f64::INFINITY, f64::min);
                assert!(
                    gap < THINNEST * scene.length_m,
                    "{} at {factor}: {gap} of {} m",
                    support.name,
                    scene.length_m
                );
                tested += 1;
            }
        }
    }
    assert!(tested > 10, "{tested}");
}

/// A station of a line as a point.
fn station_of(line: &Centreline, station: usize, n: usize) -> FlexiblePoint {
    let count = line.positions.len();
    FlexiblePoint {
        position: line.positions[station],
        displacement: line.displacement[station * n..][..n].to_vec(),
        rotation: line.rotation[station * n..][..n].to_vec(),
        second_order: (line.second_order.iter())
            .map(|part| {
                let size = part.entries.len() / count;
                SecondOrder {
                    entries: part.entries[station * size..][..size].to_vec(),
                    ..part.clone()
                }
            })
            .collect(),
    }
}
