//! The lowest modes of mechanisms with many degrees of freedom, found by themselves, are those that all modes begin with.
//!
//! Kind of truth: two independent solvers, of the same matrices in the tree, and of matrices against products with sparse solves in the
//! nodal formulation.

use lissom_core::study::{AnalysisError, DrivenJoints, OperatingPoint};
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{
    DampedMode, Frozen, Linearization, Terms, TrackedModes, UndampedModes,
};
use lissom_spec::ModelSpec;

use crate::models::parsed;
use crate::runs::mechanism;

/// Modes asked for.
const COUNT: usize = 10;
/// Agreement of the squares of frequencies: the highest square is 1e8 times the lowest, and the shares of it that are rounding are larger in a
/// chain of so many links than one.
const AGREEMENT: f64 = 1e-7;

/// How a chain of beams is held, driven and damped.
#[derive(Clone, Copy)]
struct Chain {
    links: usize,
    /// What the other links hang on, and the one in the middle.
    joint: &'static str,
    middle: &'static str,
    /// How the first link hangs.
    first: &'static str,
    /// Further tables.
    further: &'static str,
}

impl Chain {
    fn spec(self, nodal: Option<usize>) -> ModelSpec {
        let mut parts = vec!["format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned()];
        if let Some(elements) = nodal {
            parts.push(format!(
                "formulation.nodal.elements_per_link = {elements}\n"
            ));
        }
        for link in 0..self.links {
            parts.push(format!(
                "[[body]]\nname = \"b{link}\"\n[body.beam]\nlength_m = 0.5\nmass_per_length_kg_per_m = 1.0\n\
                 bending_stiffness_y_n_m2 = 20.0\nbasis.clamped_free.bending_y = 3\n\
                 [body.damping]\nrayleigh = {{ stiffness_s = 1e-4 }}\n"
            ));
        }
        for link in 0..self.links {
            let (parent, held) = match link.checked_sub(1) {
                Some(before) if 2 * link == self.links => (format!("b{before}"), self.middle),
                Some(before) => (format!("b{before}"), self.joint),
                None => ("ground".to_owned(), self.first),
            };
            parts.push(format!(
                "[[joint]]\nname = \"j{link}\"\nparent = \"{parent}\"\nchild = \"b{link}\"\n{held}\n"
            ));
        }
        parsed(&(parts.concat() + self.further))
    }
}

const SPRUNG: &str =
    "revolute = { axis = [0.0, 0.0, 1.0], spring = { stiffness_n_m_per_rad = 3.0 } }";

const HANGING: Chain = Chain {
    links: 70,
    joint: "revolute = { axis = [0.0, 0.0, 1.0] }",
    middle: "revolute = { axis = [0.0, 0.0, 1.0] }",
    first: "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -1.5707963267948966 }",
    further: "",
};

fn frozen(mechanism: &Mechanism, count: Option<usize>) -> Frozen {
    let (start, joints) = (mechanism.start().unwrap(), DrivenJoints::default());
    let watch = &mut |_| Flow::Continue;
    let at = OperatingPoint::Start;
    match count {
        Some(count) => mechanism.frozen_lowest(&start, at, &[], joints, count, watch),
        None => mechanism.frozen(&start, at, &[], joints, watch),
    }
    .unwrap()
}

/// Compares the lowest modes with all of the same matrices.
fn compare(spec: &ModelSpec) -> TrackedModes {
    let mechanism = mechanism(spec);
    let lowest = frozen(&mechanism, Some(COUNT));
    let whole = frozen(&mechanism, None);
    assert_eq!(lowest.coordinates, whole.coordinates);
    assert_eq!((&lowest.held, &lowest.rigid), (&whole.held, &whole.rigid));
    let linear = &whole.points[0].linear;
    assert!(linear.mass.nrows() >= 256, "{}", linear.mass.nrows());
    assert!(lowest.points[0].linear.mass.nrows() < linear.mass.nrows() / 2);
    let found = TrackedModes::new(&lowest, Terms::CASES[0], COUNT).unwrap();
    assert_eq!(found.modes.len(), COUNT);
    same_roots(&found, linear);
    found
}

/// Every eigenvalue with velocity terms is one of all of the complete equations.
fn same_roots(found: &TrackedModes, linear: &Linearization) {
    let all = DampedMode::all(&linear.mass, &linear.damping, &linear.stiffness()).unwrap();
    for mode in &found.modes {
        let root = mode[0].roots.unwrap()[0];
        let apart = all.iter().map(|other| (other.eigenvalue - root).norm());
        let missed = apart.fold(f64::INFINITY, f64::min);
        assert!(missed < AGREEMENT * root.norm(), "{root} {missed}");
    }
}

fn squares(spec: &ModelSpec) -> Vec<f64> {
    let whole = frozen(&mechanism(spec), None);
    let linear = &whole.points[0].linear;
    UndampedModes::new(&linear.mass, &linear.stiffness())
        .unwrap()
        .squares
}

fn same_squares(found: &TrackedModes, squares: &[f64]) {
    for (mode, square) in found.modes.iter().zip(squares) {
        let own = mode[0].square.re;
        assert!((own - square).abs() < AGREEMENT * square, "{own} {square}");
    }
}

/// Agreement: a hanging chain of many links in the tree.
#[test]
fn lowest_modes_of_a_tree() {
    let spec = HANGING.spec(None);
    let found = compare(&spec);
    same_squares(&found, &squares(&spec));
}

/// Agreement: a chain of many links that hangs from both ends, whose loop leaves fewer coordinates than it has joints and modes.
#[test]
fn lowest_modes_of_a_loop() {
    // 35 cos 0.7: where the second half ends
    let hung = Chain {
        first: "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = -0.7 }",
        middle: "revolute = { axis = [0.0, 0.0, 1.0], initial_angle_rad = 1.4 }",
        further: "[[joint]]\nname = \"close\"\n\
                  parent = { body = \"ground\", position_m = [26.769476554957096, 0.0, 0.0] }\n\
                  child = { body = \"b69\", at = \"tip\" }\nrevolute = { axis = [0.0, 0.0, 1.0] }\n",
        ..HANGING
    };
    let whole = frozen(&mechanism(&hung.spec(None)), Some(COUNT));
    let linear = &whole.points[0].linear;
    assert!(linear.mass.nrows() >= 256, "{}", linear.mass.nrows());
    let found = TrackedModes::new(&whole, Terms::CASES[0], COUNT).unwrap();
    same_roots(&found, linear);
}

/// Agreement: chains of finite elements that hang, one with its first joint driven and held, and one that floats.
#[test]
fn lowest_modes_of_finite_elements() {
    let elements = Chain {
        links: 4,
        ..HANGING
    };
    let driven = Chain {
        further: "[[input]]\njoint = \"j0\"\ntorque_constant = { value_n_m = 0.0 }\n",
        ..elements
    };
    for chain in [elements, driven] {
        let spec = chain.spec(Some(40));
        let found = compare(&spec);
        same_squares(&found, &squares(&spec));
    }
    let floating = Chain {
        first: "free = {}",
        further: "[[payload]]\nname = \"hub\"\nbody = \"b0\"\nat = \"root\"\nmass_kg = 1.0\n\
                  inertia_kg_m2 = [0.1, 0.1, 0.1]\n",
        joint: SPRUNG,
        middle: SPRUNG,
        ..elements
    };
    let found = compare(&floating.spec(Some(40)));
    assert_eq!(found.rigid.len(), 6);
}

/// Asks a study to stop at its first question, in the midst and at its last: it asks often enough, and ends there.
fn stops(least: usize, study: impl Fn(&mut dyn FnMut(f64) -> Flow) -> Option<AnalysisError>) {
    let mut questions = 0;
    let mut count = |_: f64| {
        questions += 1;
        Flow::Continue
    };
    assert_eq!(study(&mut count), None);
    assert!(questions >= least, "{questions} {least}");
    for last in [1, questions / 2, questions] {
        let mut asked = 0;
        let ended = study(&mut |_| {
            asked += 1;
            if asked == last {
                Flow::Stop
            } else {
                Flow::Continue
            }
        });
        assert_eq!(ended, Some(AnalysisError::Stopped { at_s: 0.0 }));
        assert_eq!(asked, last);
    }
}

/// Property: whoever watches is asked while the equations at one state are differentiated, and while few modes are sought, in either formulation: every
/// few degrees of freedom, however many there are.
#[test]
fn one_state_can_be_interrupted() {
    let few = Chain {
        links: 8,
        ..HANGING
    };
    for nodal in [None, Some(3)] {
        let own = mechanism(&few.spec(nodal));
        let start = own.start().unwrap();
        let freedoms = start.velocity.len();
        // four directions at a time, by positions and by velocities
        stops(freedoms / 2, |watch| {
            let found = own.linearize(&start, OperatingPoint::Start, &[], watch);
            found.err()
        });
        let many = mechanism(&HANGING.spec(nodal));
        let start = many.start().unwrap();
        let joints = DrivenJoints::default();
        stops(COUNT, |watch| {
            let at = OperatingPoint::Start;
            let found = many.frozen_lowest(&start, at, &[], joints, COUNT, watch);
            found.err()
        });
    }
}
