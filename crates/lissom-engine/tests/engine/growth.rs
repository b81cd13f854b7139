//! How building and diagnosing a model grows with what it consists of. Kind of truth: counted bytes of all that is allocated on the way.

use std::fmt::Write as _;

use allocation_counter::measure;
use lissom_engine::Mechanism;
use lissom_engine::nodal_model::NodalModel;
use lissom_nodal::Equations;

use crate::models::{assembled, parsed};
use crate::runs::{assert_alike, completed, in_nodes, in_tree};

/// Twice as much takes twice as many bytes, but for vectors that double their room as they grow.
const PER_DOUBLING: f64 = 2.3;

/// Two runs to 1e-11 of the same rigid bodies.
const AGREE: f64 = 1e-8;

const HEAD: &str = "format = 1\ngravity_m_per_s2 = [0.0, 0.0, -9.81]\n";

fn add_body(text: &mut String, name: &str, length: f64) {
    let middle = 0.5 * length;
    write!(
        text,
        "[[body]]\nname = \"{name}\"\n\
         rigid = {{ mass_kg = 1.0, center_of_mass_m = [{middle:?}, 0.0, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }}\n"
    )
    .unwrap();
}

fn add_hinge(text: &mut String, name: &str, parent: &str, at: [f64; 3], child: &str, angle: f64) {
    write!(
        text,
        "[[joint]]\nname = \"{name}\"\nparent = {{ body = \"{parent}\", position_m = {at:?} }}\nchild = \"{child}\"\n\
         revolute = {{ axis = [0.0, 1.0, 0.0], initial_angle_rad = {angle:?} }}\n"
    )
    .unwrap();
}

/// Rigid links, each on the one before.
fn chain(links: usize) -> String {
    let mut text = HEAD.to_owned();
    for link in 0..links {
        let (name, parent) = (
            format!("link_{link}"),
            format!("link_{}", link.wrapping_sub(1)),
        );
        let (parent, at) = match link {
            0 => ("ground", [0.0; 3]),
            _ => (parent.as_str(), [1.0, 0.0, 0.0]),
        };
        add_body(&mut text, &name, 1.0);
        add_hinge(&mut text, &format!("joint_{link}"), parent, at, &name, 0.3);
    }
    text
}

/// Links all over a body or the ground.
fn add_star(text: &mut String, on: &str, links: usize) {
    for link in 0..links {
        let (name, angle) = (format!("link_{link}"), link as f64);
        add_body(text, &name, 1.0);
        let at = [angle.cos(), 0.1 * angle, angle.sin()];
        add_hinge(text, &format!("joint_{link}"), on, at, &name, 0.2);
    }
}

/// Links all over the ground.
fn star(links: usize) -> String {
    let mut text = HEAD.to_owned();
    add_star(&mut text, "ground", links);
    text
}

/// Four-bar linkages side by side: every third body closes a loop.
fn four_bars(count: usize) -> String {
    let mut text = HEAD.to_owned();
    let mut loops = String::new();
    for bar in 0..count {
        let aside = 0.5 * bar as f64;
        let [crank, coupler, rocker] = ["crank", "coupler", "rocker"].map(|n| format!("{n}_{bar}"));
        add_body(&mut text, &crank, 1.0);
        add_body(&mut text, &coupler, 2.0);
        add_body(&mut text, &rocker, 1.5);
        let joint = |what: &str| format!("{what}_{bar}");
        add_hinge(
            &mut text,
            &joint("a"),
            "ground",
            [0.0, aside, 0.0],
            &crank,
            -1.2,
        );
        add_hinge(
            &mut text,
            &joint("b"),
            &crank,
            [1.0, 0.0, 0.0],
            &coupler,
            1.0,
        );
        add_hinge(
            &mut text,
            &joint("c"),
            &coupler,
            [2.0, 0.0, 0.0],
            &rocker,
            1.3,
        );
        write!(
            loops,
            "[[loop]]\nname = \"d_{bar}\"\nfrom = {{ body = \"{rocker}\", position_m = [1.5, 0.0, 0.0] }}\n\
             to = {{ body = \"ground\", position_m = [2.0, {aside:?}, 0.0] }}\nrevolute = {{ axis = [0.0, 1.0, 0.0] }}\n"
        )
        .unwrap();
    }
    text + &loops
}

/// A body that swings, with links all over it.
fn hub(links: usize) -> String {
    let mut text = HEAD.to_owned();
    add_body(&mut text, "hub", 1.0);
    add_hinge(&mut text, "swing", "ground", [0.0; 3], "hub", 0.3);
    add_star(&mut text, "hub", links);
    text
}

/// A zigzag of links, each on the one before, with a strut over every tenth one that closes a loop.
fn looped_chain(links: usize) -> String {
    /// By how much the links of the zigzag turn, one way and back.
    const TURN: f64 = 0.3;
    let mut text = HEAD.to_owned();
    let mut loops = String::new();
    for link in 0..links {
        let name = format!("link_{link}");
        let before = format!("link_{}", link.wrapping_sub(1));
        let (parent, at, angle) = match link {
            0 => ("ground", [0.0; 3], 0.0),
            _ if link % 2 == 1 => (before.as_str(), [1.0, 0.0, 0.0], TURN),
            _ => (before.as_str(), [1.0, 0.0, 0.0], -TURN),
        };
        add_body(&mut text, &name, 1.0);
        add_hinge(
            &mut text,
            &format!("joint_{link}"),
            parent,
            at,
            &name,
            angle,
        );
    }
    // from the middle of a link to that of the next but one, which is parallel to it
    let [along, up] = [1.0 + TURN.cos(), -TURN.sin()];
    let (length, angle) = (along.hypot(up), -up.atan2(along));
    for link in (4..links).step_by(10) {
        let (name, end) = (format!("strut_{link}"), format!("link_{}", link + 2));
        add_body(&mut text, &name, length);
        let foot = format!("foot_{link}");
        add_hinge(
            &mut text,
            &foot,
            &format!("link_{link}"),
            [0.5, 0.0, 0.0],
            &name,
            angle,
        );
        write!(
            loops,
            "[[loop]]\nname = \"loop_{link}\"\nfrom = {{ body = \"{name}\", position_m = [{length:?}, 0.0, 0.0] }}\n\
             to = {{ body = \"{end}\", position_m = [0.5, 0.0, 0.0] }}\nrevolute = {{ axis = [0.0, 1.0, 0.0] }}\n"
        )
        .unwrap();
    }
    text + &loops
}

/// Bytes that are allocated while a model becomes a nodal one.
fn bytes(text: &str, elements: usize) -> f64 {
    let spec = parsed(text);
    let tree = assembled(&spec);
    let build = || NodalModel::new(&spec, &tree, elements);
    let mut built = None;
    let counted = measure(|| built = Some(build()));
    built.unwrap().unwrap();
    counted.bytes_total as f64
}

/// Growth: chains, stars, and loops that have nothing in common.
#[test]
fn building_grows_with_the_number_of_bodies() {
    for (what, model) in [
        ("chain", chain as fn(usize) -> String),
        ("four-bars", four_bars),
        ("hub", hub),
        ("chain with loops", looped_chain),
    ] {
        let [few, many] = [60, 120].map(|count| bytes(&model(count), 2));
        assert!(many < PER_DOUBLING * few, "{what}: {few} {many}");
    }
}

/// Growth: all that `lissom check` does with a model, from its text to its diagnosis, in both formulations: chains, links on the ground,
/// on a body that moves, loops that have nothing in common, and loops along a chain.
#[test]
fn checking_grows_with_the_number_of_bodies() {
    for (what, model) in [
        ("chain", chain as fn(usize) -> String),
        ("star", star),
        ("hub", hub),
        ("four-bars", four_bars),
        ("chain with loops", looped_chain),
    ] {
        for formulation in ["", "formulation.nodal = { elements_per_link = 2 }\n"] {
            let counted = |count: usize| {
                let text = format!("{formulation}{}", model(count));
                let counted = measure(|| {
                    let diagnosis = Mechanism::build(&parsed(&text)).unwrap().diagnose();
                    assert!(!diagnosis.bodies.is_empty());
                });
                counted.bytes_total as f64
            };
            // beyond what is looked at in small models alone
            let [few, many] = [100, 200].map(counted);
            assert!(
                many < PER_DOUBLING * few,
                "{what} {formulation}: {few} {many}"
            );
        }
    }
}

/// Growth: what an evaluation multiplies when it places the nodes and accelerates them.
#[test]
fn evaluations_grow_with_the_number_of_bodies() {
    for (what, model) in [
        ("hub", hub as fn(usize) -> String),
        ("chain with loops", looped_chain),
    ] {
        let [few, many] = [60, 120].map(|count| {
            let spec = parsed(&model(count));
            let nodal = NodalModel::new(&spec, &assembled(&spec), 2).unwrap();
            let operations = Equations::new(&nodal.mechanism).unwrap().operations();
            operations as f64
        });
        assert!(many < PER_DOUBLING * few, "{what}: {few} {many}");
    }
}

/// Agreement: places of a hub that hang on other places move as those of a tree do.
#[test]
fn many_places_move_as_in_a_tree() {
    let text = hub(12)
        + "[[marker]]\nname = \"knee\"\nbody = \"link_11\"\nposition_m = [0.7, 0.0, 0.1]\n\
           [simulation]\nduration_s = 0.2\nintegrator.dop853 = { rtol = 1e-11, atol = 1e-12 }\n";
    let spec = parsed(&text);
    let (tree, nodes) = (completed(in_tree(&spec)), completed(in_nodes(&spec, 2)));
    assert!(assert_alike(&tree, &nodes, AGREE) > 9);
}

/// Growth: elements of a beam with damping in proportion to its stiffness.
#[test]
fn building_grows_with_the_number_of_elements() {
    let beam = "[[body]]\nname = \"beam\"\ndamping.rayleigh = { stiffness_s = 1e-4 }\n[body.beam]\nlength_m = 1.0\n\
        mass_per_length_kg_per_m = 1.0\nbending_stiffness_y_n_m2 = 1e4\nbasis.clamped_free = { bending_y = 2 }\n\
        [[joint]]\nname = \"hub\"\nparent = \"ground\"\nchild = \"beam\"\nrevolute = { axis = [0.0, 1.0, 0.0] }\n";
    let text = format!("{HEAD}{beam}");
    let [few, many] = [100, 200].map(|elements| bytes(&text, elements));
    assert!(many < PER_DOUBLING * few, "{few} {many}");
}

/// Agreement: loops that have nothing in common are chosen for by themselves, and move as those of a tree do.
#[test]
fn loops_side_by_side_move_as_in_a_tree() {
    let text = four_bars(3)
        + "[[marker]]\nname = \"knee\"\nbody = \"rocker_2\"\nposition_m = [0.7, 0.0, 0.1]\n\
           [simulation]\nduration_s = 0.3\nintegrator.dop853 = { rtol = 1e-11, atol = 1e-12 }\n";
    let spec = parsed(&text);
    let (tree, nodes) = (completed(in_tree(&spec)), completed(in_nodes(&spec, 2)));
    assert!(assert_alike(&tree, &nodes, AGREE) > 9);
}
