//! How much closures leave of a mechanism's freedom, against the rank of a matrix of differences.

use std::fmt::Write;

use lissom_engine::Mechanism;
use lissom_engine::model::Model;
use lissom_tree::closure::Constraints;
use lissom_tree::tree::{Kinematics, displace};
use nalgebra::{DMatrix, Rotation3, Vector3};

use crate::models::parsed;
use crate::shipped::{FOUR_BAR, PLANAR_3RRR, SLIDING_BOOM, SLIDING_LINKS, SPATIAL_3RRS};

const STIFFNESS: &str = "bending_stiffness_z_n_m2 = 12.0\naxial_stiffness_n = 1e5\ntorsional_stiffness_n_m2 = 6.0\n\
                         section_inertia_y_kg_m = 1e-6\nsection_inertia_z_kg_m = 1e-6\n";

/// Independent velocities at the start by singular values: those of the tree that are free, less the rank of what
/// central differences of the residuals say of them.
fn brute_force(model: &Model) -> usize {
    // errors of differences, relative to the largest; smallest singular values here are above 1e-3 of it
    const RANK: f64 = 1e-6;
    const STEP: f64 = 1e-5;
    let linkage = &model.linkage;
    let system = &linkage.system;
    let n = system.velocity_count();
    let mut kinematics = Kinematics::new(system);
    let mut constraints = Constraints::new(system, &linkage.closures);
    let mut residual = |at: usize, step: f64| {
        let mut change = vec![0.0; n];
        change[at] = step;
        let mut position = model.initial_position.clone();
        displace(system, &mut position, &change);
        let at_rest = vec![0.0; n];
        kinematics.update(system, &position, &at_rest);
        constraints.update(
            system,
            &linkage.closures,
            &mut kinematics,
            &position,
            &at_rest,
        );
        constraints.residual().to_vec()
    };
    let free: Vec<usize> = (0..n)
        .filter(|at| !linkage.prescribed.contains(at))
        .collect();
    let columns: Vec<Vec<f64>> = (free.iter())
        .map(|&at| {
            let (ahead, behind) = (residual(at, STEP), residual(at, -STEP));
            let pairs = ahead.iter().zip(&behind);
            pairs.map(|(a, b)| (a - b) / (2.0 * STEP)).collect()
        })
        .collect();
    let jacobian = DMatrix::from_fn(columns[0].len(), free.len(), |i, j| columns[j][i]);
    let values = jacobian.singular_values();
    let most = values.max();
    free.len() - values.iter().filter(|&&value| value > RANK * most).count()
}

/// Degrees of freedom and those without bending, as the diagnosis tells them, after the first have been checked.
#[track_caller]
fn counted(name: &str, text: &str) -> (usize, usize) {
    let mechanism = Mechanism::build(&parsed(text)).unwrap();
    let diagnosis = mechanism.diagnose();
    let loops = diagnosis.loops.as_ref().unwrap();
    assert!(!loops.singular_start, "{name}");
    let total = diagnosis.degrees_of_freedom.total;
    let mut model = Model::build(mechanism.spec()).unwrap();
    lissom_engine::simulate::close_loops(&mut model, 0.0).unwrap();
    assert_eq!(total, brute_force(&model), "{name}: {loops:?}");
    (total, loops.rigid_degrees_of_freedom)
}

/// The shipped four-bar and 3-RRR with links that bend out of the plane, stretch and twist as well.
fn every_way(text: &str) -> String {
    let basis = "clamped_free = { bending_y = 2, bending_z = 2, stretch = 1, torsion = 2 }";
    text.replace("clamped_free = { bending_y = 2 }", basis)
        .replace("elements = { count = 2, modes = 2 }", basis)
        .replace(
            "bending_stiffness_y",
            &format!("{STIFFNESS}bending_stiffness_y"),
        )
}

/// The same bars with links that do not bend.
fn stiff(text: &str) -> String {
    let mut rigid = String::new();
    for piece in text.split("[body.beam]") {
        match piece.split_once("modal_ratio = 0.01\n") {
            Some((beam, rest)) if beam.contains("length_m") => {
                let length: f64 = beam
                    .split("length_m = ")
                    .nth(1)
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap();
                write!(
                    rigid,
                    "rigid = {{ mass_kg = 0.1, inertia_kg_m2 = [1e-3, 1e-3, 1e-3] }}\n\
                     node = [{{ name = \"tip\", position_m = [{length}, 0.0, 0.0] }}]\n{rest}"
                )
                .unwrap();
            }
            _ => rigid.push_str(piece),
        }
    }
    rigid
        .replace(
            "parent = \"coupler\"",
            "parent = { body = \"coupler\", at = \"tip\" }",
        )
        .replace(
            "parent = \"link_",
            "parent = { at = \"tip\", body = \"link_",
        )
        .lines()
        .map(|line| {
            if line.contains("at = \"tip\", body = \"link_") {
                format!("{line} }}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}

/// By construction and by differences: planar mechanisms in space keep their one and three degrees of freedom without bending,
/// whether their links are rigid, bend in the plane, where three and six equations are redundant, or every way, where none is.
#[test]
fn planar_loops_of_links_that_bend_out_of_the_plane() {
    for (name, text, rigid) in [("four-bar", FOUR_BAR, 1), ("3-RRR", PLANAR_3RRR, 3)] {
        let links = text.matches("modal_ratio").count();
        assert_eq!(
            counted(&format!("rigid {name}"), &stiff(text)),
            (rigid, rigid)
        );
        assert_eq!(counted(name, text), (rigid + 2 * links, rigid));
        let spatial = counted(&format!("spatial {name}"), &every_way(text));
        // three more equations per loop take elastic freedom
        let loops = if rigid == 1 { 1 } else { 2 };
        assert_eq!(spatial, (rigid + 7 * links - 3 * loops, rigid));
    }
    assert_eq!(counted("3-RRS", SPATIAL_3RRS).1, 3);
}

/// A rotation vector that turns the x axis into a direction, seen in a frame.
fn towards(direction: Vector3<f64>, frame: &Rotation3<f64>) -> (Rotation3<f64>, Vector3<f64>) {
    let turned = Rotation3::rotation_between(&Vector3::x(), &direction).unwrap();
    let relative = frame.inverse() * turned;
    (turned, relative.scaled_axis())
}

/// A leg: a straight body along its x axis, of a length.
fn leg(text: &mut String, name: &str, length: f64, flexible: bool) {
    let body = if flexible {
        format!(
            "[body.beam]\nlength_m = {length}\nmass_per_length_kg_per_m = 1.0\nbending_stiffness_y_n_m2 = 12.0\n\
             {STIFFNESS}basis.clamped_free = {{ bending_y = 2, bending_z = 2, torsion = 1 }}\n"
        )
    } else {
        format!(
            "rigid = {{ mass_kg = 1.0, inertia_kg_m2 = [1e-3, 1e-2, 1e-2] }}\n\
             node = [{{ name = \"tip\", position_m = [{length}, 0.0, 0.0] }}]\n"
        )
    };
    write!(text, "[[body]]\nname = \"{name}\"\n{body}").unwrap();
}

fn ball(text: &mut String, name: &str, parent: &str, child: &str, turn: Vector3<f64>) {
    write!(
        text,
        "[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = {child}\n\
         spherical = {{ initial_rotation_vector_rad = [{:?}, {:?}, {:?}] }}\n",
        turn.x, turn.y, turn.z
    )
    .unwrap();
}

fn platform(text: &mut String, corners: &[Vector3<f64>]) {
    text.push_str("[[body]]\nname = \"platform\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }\nnode = [\n");
    for (i, c) in corners.iter().enumerate() {
        writeln!(
            text,
            "  {{ name = \"c{i}\", position_m = [{:?}, {:?}, {:?}] }},",
            c.x, c.y, c.z
        )
        .unwrap();
    }
    text.push_str("]\n");
}

fn on_ground(place: Vector3<f64>) -> String {
    format!(
        "{{ body = \"ground\", position_m = [{:?}, {:?}, {:?}] }}",
        place.x, place.y, place.z
    )
}

/// Six legs of fixed length on balls at both ends, every one free to spin, with a slide in each.
fn hexapod(flexible: bool) -> String {
    let around =
        |angle: f64, radius: f64| Vector3::new(radius * angle.cos(), radius * angle.sin(), 0.0);
    let middle = Vector3::new(0.0, 0.0, 1.0);
    let mut text = "format = 1\n".to_owned();
    let corners: Vec<Vector3<f64>> = (0..6)
        .map(|i| {
            around(
                std::f64::consts::FRAC_PI_3 * (f64::from(i) + if i % 2 == 0 { 0.3 } else { -0.3 }),
                0.5,
            )
        })
        .collect();
    platform(&mut text, &corners);
    for (i, corner) in corners.iter().enumerate() {
        let base = around(
            std::f64::consts::FRAC_PI_3 * (i as f64 + if i % 2 == 0 { -0.3 } else { 0.3 }),
            1.0,
        );
        let way = middle + corner - base;
        let (turned, turn) = towards(way, &Rotation3::identity());
        leg(&mut text, &format!("lower_{i}"), 0.5 * way.norm(), flexible);
        leg(&mut text, &format!("upper_{i}"), 0.5 * way.norm(), flexible);
        ball(
            &mut text,
            &format!("foot_{i}"),
            &on_ground(base),
            &format!("\"lower_{i}\""),
            turn,
        );
        write!(
            text,
            "[[joint]]\nname = \"slide_{i}\"\nparent = {{ body = \"lower_{i}\", at = \"tip\" }}\nchild = \"upper_{i}\"\n\
             prismatic = {{ axis = [1.0, 0.0, 0.0] }}\n"
        )
        .unwrap();
        let child = format!("{{ body = \"platform\", at = \"c{i}\" }}");
        let parent = format!("{{ body = \"upper_{i}\", at = \"tip\" }}");
        ball(
            &mut text,
            &format!("head_{i}"),
            &parent,
            &child,
            turned.inverse().scaled_axis(),
        );
    }
    text
}

/// Three cranks, each with a pair of parallel rods on balls that carry the platform.
fn delta(flexible: bool) -> String {
    let mut text = "format = 1\n".to_owned();
    let mut corners = Vec::new();
    let mut arms = String::new();
    let drop = Vector3::new(0.0, 0.0, -0.8);
    for i in 0..3 {
        let turn = Rotation3::from_axis_angle(
            &Vector3::z_axis(),
            std::f64::consts::TAU / 3.0 * f64::from(i),
        );
        let [radial, across] = [Vector3::x(), Vector3::y()].map(|axis| turn * axis);
        // cranks of 0.3 m stand out along the radius
        let base = 0.3 * radial;
        leg(&mut arms, &format!("crank_{i}"), 0.3, flexible);
        let z = turn.scaled_axis();
        write!(
            arms,
            "[[joint]]\nname = \"motor_{i}\"\n\
             parent = {{ body = \"ground\", position_m = [{:?}, {:?}, 0.0], rotation_vector_rad = [0.0, 0.0, {:?}] }}\n\
             child = \"crank_{i}\"\nrevolute = {{ axis = [0.0, 1.0, 0.0] }}\n",
            base.x, base.y, z.z
        )
        .unwrap();
        for (side, way) in [("a", 0.1), ("b", -0.1)] {
            let corner = 0.15 * radial + way * across;
            let elbow = 0.6 * radial + way * across;
            let rod = drop + corner - elbow;
            let (turned, relative) = towards(rod, &turn);
            // a bracket of the crank's tip holds the ball beside it
            write!(
                arms,
                "[[body]]\nname = \"bracket_{i}{side}\"\nrigid = {{ mass_kg = 0.1, inertia_kg_m2 = [1e-4, 1e-4, 1e-4] }}\n\
                 node = [{{ name = \"end\", position_m = [0.0, {way:?}, 0.0] }}]\n\
                 [[joint]]\nname = \"weld_{i}{side}\"\nparent = {{ body = \"crank_{i}\", at = \"tip\" }}\n\
                 child = \"bracket_{i}{side}\"\nfixed = {{}}\n"
            )
            .unwrap();
            leg(&mut arms, &format!("rod_{i}{side}"), rod.norm(), flexible);
            let parent = format!("{{ body = \"bracket_{i}{side}\", at = \"end\" }}");
            ball(
                &mut arms,
                &format!("elbow_{i}{side}"),
                &parent,
                &format!("\"rod_{i}{side}\""),
                relative,
            );
            let parent = format!("{{ body = \"rod_{i}{side}\", at = \"tip\" }}");
            let child = format!("{{ body = \"platform\", at = \"c{}\" }}", corners.len());
            ball(
                &mut arms,
                &format!("wrist_{i}{side}"),
                &parent,
                &child,
                turned.inverse().scaled_axis(),
            );
            corners.push(corner);
        }
    }
    platform(&mut text, &corners);
    text + &arms
}

/// By construction and by differences: platforms of a hexapod move in six ways and those of a Delta robot in three, besides the
/// spins of legs and rods between two balls, of links that are rigid or bend.
#[test]
fn platforms_on_many_legs() {
    // six spins each
    assert_eq!(counted("hexapod", &hexapod(false)), (12, 12));
    assert_eq!(
        counted("flexible hexapod", &hexapod(true)),
        (12 + 12 * 5, 12)
    );
    assert_eq!(counted("delta", &delta(false)), (9, 9));
    assert_eq!(counted("flexible delta", &delta(true)), (9 + 9 * 5, 9));
}

/// By construction and by differences: a support of a beam that its joint carries takes bending and no rigid motion, and a beam
/// that only supports hold is rigid in as many ways as they leave.
#[test]
fn supports_take_bending() {
    // sleeve and boom are prescribed; one equation of eight elastic coordinates in the plane, and four of stretch
    assert_eq!(counted("boom", SLIDING_BOOM), (11, 2));
    // slider and second link follow the first, whose joints and theirs are prescribed
    assert_eq!(counted("links", SLIDING_LINKS).1, 3);
    let beam = |supports: usize| {
        let mut text = "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\n\
             bending_stiffness_y_n_m2 = 1.0\nbasis.elements = { count = 4, boundary = \"unconstrained\" }\n\
             [[joint]]\nname = \"feed\"\nparent = \"ground\"\nchild = \"beam\"\n\
             prismatic = { axis = [1.0, 0.0, 0.0], initial_displacement_m = -0.4 }\n"
            .to_owned();
        for i in 0..supports {
            write!(
                text,
                "[[support]]\nname = \"s{i}\"\nbeam = \"beam\"\non = {{ body = \"ground\", position_m = [{}, 0.0, 0.0] }}\n",
                0.25 * i as f64
            )
            .unwrap();
        }
        text
    };
    // ten coordinates of five nodes and the feed
    assert_eq!(counted("one support", &beam(1)), (10, 2));
    assert_eq!(counted("two supports", &beam(2)), (9, 1));
    assert_eq!(counted("three supports", &beam(3)), (8, 1));
}
