//! Equilibrium under load in both formulations: one search, two balances.

use lissom_core::RunError;
use lissom_core::study::{AnalysisError, Equilibrium, OperatingPoint};
use lissom_engine::nodal_model::{NodalActions, NodalModel};
use lissom_nodal::{Equations, StaticBalance};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, Terms, TrackedModes};
use lissom_numerics::statics::{self, Balance, NoEquilibrium, Stability};
use lissom_spec::ModelSpec;
use nalgebra::{DMatrix, DVector};

use crate::models::{changed, nodal_model, parsed};
use crate::numbers::distance;
use crate::runs::{nodal_mechanism, samples, tree_mechanism, vector};
use crate::shipped::{BEND, PRINCETON_BEAM};

fn unsettled(found: Result<Equilibrium, RunError>) -> Result<Equilibrium, NoEquilibrium> {
    found.map_err(|error| match error {
        RunError::NoEquilibrium { source, .. } => source,
        other => panic!("{other}"),
    })
}

fn tree_rest(spec: &ModelSpec) -> Result<Equilibrium, NoEquilibrium> {
    let mechanism = tree_mechanism(spec);
    unsettled(mechanism.equilibrium(&mechanism.written()))
}

fn nodal_rest(spec: &ModelSpec, elements: usize) -> Result<Equilibrium, NoEquilibrium> {
    let mechanism = nodal_mechanism(spec, elements);
    unsettled(mechanism.equilibrium(&mechanism.written()))
}

fn value(rest: &Equilibrium, channel: &str) -> f64 {
    samples(&rest.recording, channel)[0]
}

fn place(rest: &Equilibrium, marker: &str) -> [f64; 3] {
    vector(&rest.recording, &format!("{marker}.position"), 0)
}

fn resting(nodal: &NodalModel) -> StaticBalance<'_, NodalActions<'_>> {
    let equations = Equations::new(&nodal.mechanism).unwrap();
    StaticBalance::new(equations, NodalActions::new(nodal), 0.0)
}

/// Newton's iteration as textbooks have it: the whole load at once, whole steps.
fn plain_newton<B: Balance>(balance: &mut B, start: &B::Place) -> Option<Vec<B::Place>> {
    let n = balance.scales().len();
    let mut residual = DVector::zeros(n);
    let mut places = vec![start.clone()];
    for _ in 0..60 {
        let place = places.last().unwrap().clone();
        balance.evaluate(&place, 1.0, &mut residual).ok()?;
        let change = -balance.stiffness(&place, 1.0).ok()?.lu().solve(&residual)?;
        if change.iter().any(|x| !x.is_finite()) {
            return None;
        }
        places.push(balance.displaced(&place, &change, 1.0));
        if change.amax() < 1e-12 {
            return Some(places);
        }
    }
    None
}

/// A balance that remembers where its stiffness was asked for: once in every iteration.
struct Watched<B: Balance> {
    inner: B,
    places: Vec<B::Place>,
}

impl<B: Balance> Balance for Watched<B> {
    type Place = B::Place;
    type Error = B::Error;

    fn scales(&self) -> &[f64] {
        self.inner.scales()
    }

    fn evaluate(
        &mut self,
        place: &B::Place,
        load: f64,
        residual: &mut DVector<f64>,
    ) -> Result<f64, B::Error> {
        self.inner.evaluate(place, load, residual)
    }

    fn stiffness(&mut self, place: &B::Place, load: f64) -> Result<DMatrix<f64>, B::Error> {
        self.places.push(place.clone());
        self.inner.stiffness(place, load)
    }

    fn displaced(&self, place: &B::Place, change: &DVector<f64>, share: f64) -> B::Place {
        self.inner.displaced(place, change, share)
    }

    fn name(&self, unknown: usize) -> String {
        self.inner.name(unknown)
    }
}

/// Property: with exact tangents the error is squared, so that the last two exponents differ by a factor of two, less what
/// constants make of it.
#[test]
fn errors_are_squared_near_the_solution() {
    const LEAST_ORDER: f64 = 1.8;
    let nodal = nodal_model(&parsed(PRINCETON_BEAM), 1).unwrap();
    let mut watched = Watched {
        inner: resting(&nodal),
        places: Vec::new(),
    };
    let found = statics::equilibrium(&mut watched, &nodal.initial_position().to_vec());
    let solution = found.map_err(|_| "no equilibrium").unwrap().place;
    let error = |place: &Vec<f64>| {
        let apart = place.iter().zip(&solution).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max)
    };
    // below this, rounding of coordinates of centimetres is what is seen
    let errors: Vec<f64> = (watched.places.iter().map(error))
        .filter(|&error| error > 1e-14)
        .collect();
    let [.., a, b, c] = errors[..] else {
        panic!("{errors:?}");
    };
    let order = (c / b).ln() / (b / a).ln();
    assert!(order > LEAST_ORDER, "{errors:?}: order {order}");
}

/// Property: parts of the load lead where whole steps under the whole load do not. Thirty times the loads of the
/// classics bend both beams into the direction of the load.
#[test]
fn continuation_reaches_what_newton_alone_does_not() {
    for (text, load) in [(PRINCETON_BEAM, 30.0 * 8.896), (BEND, 30.0 * 600.0)] {
        let change = format!("input.0.force_constant.value_n={load}");
        let nodal = nodal_model(&changed(text, &[&change]), 1).unwrap();
        let start = nodal.initial_position().to_vec();
        assert!(plain_newton(&mut resting(&nodal), &start).is_none());
        let mut balance = resting(&nodal);
        let found = balance.equilibrium(&start).unwrap();
        assert!(found.parts > 1, "{found:?}");
        let stability = balance.stability(&found.place).unwrap();
        assert_eq!(stability, Some(Stability::Stable));
    }
}

/// Tip of an inextensible cantilever of unit length and bending stiffness EI under a dead load across it,
/// $`\theta'' = -\frac{P}{EI}\cos\theta`$: by the midpoint rule from the tip inward, whose slope is found by bisection.
fn elastica(load_over_stiffness: f64) -> [f64; 3] {
    const STEPS: usize = 4000;
    let step = 1.0 / STEPS as f64;
    let shoot = |tip: f64| {
        let (mut theta, mut curvature) = (tip, 0.0_f64);
        let mut reached = [0.0; 3];
        for _ in 0..STEPS {
            let middle = theta - 0.5 * step * curvature;
            reached[0] += step * middle.cos();
            reached[1] += step * middle.sin();
            curvature += step * load_over_stiffness * middle.cos();
            theta = middle - 0.5 * step * curvature;
        }
        (theta, reached)
    };
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle).0 > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    shoot(low).1
}

/// Second formulation and closed form: a cantilever bent by 46 degrees at its tip, as bodies clamped to one another in
/// either formulation. Both come to the elastica at least with the square of the length of their links.
#[test]
fn large_deflections_of_tree_and_nodes_come_to_the_elastica() {
    const LOAD_N: f64 = 30.0;
    // four, less what the next order makes of it; slopes within a link count by higher orders in the tree
    const SECOND_ORDER: f64 = 3.2;
    // errors at sixteen links: a sixteenth of a radian of slope per link counts by its square, over two at most
    const AGREEMENT: f64 = 0.5 / 256.0;
    let exact = elastica(LOAD_N / STIFFNESS_N_M2);
    let rests = |links: usize| {
        let spec = chain(links, LOAD_N);
        let tree = tree_rest(&spec).unwrap();
        let nodes = nodal_rest(&spec, 1).unwrap();
        assert_eq!(tree.stability, Some(Stability::Stable));
        [tree, nodes].map(|rest| distance(place(&rest, "tip"), exact))
    };
    let (coarse, fine) = (rests(8), rests(16));
    for (coarse, fine) in coarse.into_iter().zip(fine) {
        assert!(fine < AGREEMENT, "{fine}");
        assert!(coarse > SECOND_ORDER * fine, "{coarse} {fine}");
    }
}

const STIFFNESS_N_M2: f64 = 10.0;

/// A cantilever of beams clamped to one another, a metre long, loaded across its tip.
fn chain(links: usize, force: f64) -> ModelSpec {
    use std::fmt::Write as _;
    let mut text = String::from("format = 1\n");
    let mut parent = "ground".to_owned();
    for i in 0..links {
        write!(
            text,
            "\n[[body]]\nname = \"link_{i}\"\n[body.beam]\nlength_m = {}\n\
             mass_per_length_kg_per_m = 1.0\nbending_stiffness_y_n_m2 = {STIFFNESS_N_M2}\n\
             basis.elements = {{ count = 1 }}\n\
             \n[[joint]]\nname = \"joint_{i}\"\nparent = \"{parent}\"\nchild = \"link_{i}\"\nfixed = {{}}\n",
            1.0 / links as f64
        )
        .unwrap();
        parent = format!("link_{i}");
    }
    write!(
        text,
        "\n[[marker]]\nname = \"tip\"\nbody = \"{parent}\"\n[[input]]\nmarker = \"tip\"\n\
         direction = [0.0, 1.0, 0.0]\nforce_constant = {{ value_n = {force} }}\n\
         [simulation]\nduration_s = 1.0\n"
    )
    .unwrap();
    parsed(&text)
}

/// Second formulation: a force that turns with the tip, found by Newton's iteration whose tangents know of it. The
/// deflection follows without iteration: from the tip inward, in the tip's axes, everything is known.
#[test]
fn a_force_may_turn_with_the_tip() {
    const LOAD_N: f64 = 80.0;
    // elements of second order: what is left of their extrapolated error is of fourth order, a tenth of what it was
    const LEFT: f64 = 0.1;
    let mut spec = chain(1, LOAD_N);
    spec.input[0].frame = lissom_spec::spec::Frame::Body;
    let [coarse, fine] = [12, 24].map(|elements| {
        let rest = nodal_rest(&spec, elements).unwrap();
        // only modes tell whether it holds
        assert_eq!(rest.stability, None);
        place(&rest, "tip")
    });
    let steps = 20_000;
    let step = 1.0 / f64::from(steps);
    // in the tip's axes: force along +y at the origin, the beam behind it
    let (mut turn, mut curvature, mut back) = (0.0_f64, 0.0, [0.0, 0.0]);
    for _ in 0..steps {
        let middle = turn - 0.5 * step * curvature;
        back[0] -= step * middle.cos();
        back[1] -= step * middle.sin();
        curvature += step * LOAD_N / STIFFNESS_N_M2 * middle.cos();
        turn = middle - 0.5 * step * curvature;
    }
    // the root looks along x
    let (sin, cos) = turn.sin_cos();
    let tip = [
        -(cos * back[0] + sin * back[1]),
        -(-sin * back[0] + cos * back[1]),
        0.0,
    ];
    let extrapolated = std::array::from_fn(|i| fine[i] + (fine[i] - coarse[i]) / 3.0);
    let (left, error) = (distance(extrapolated, tip), distance(fine, tip));
    assert!(left < LEFT * error, "{coarse:?} {fine:?} {tip:?}");
    // it has gone where a dead load cannot go
    assert!(tip[0] < 0.0, "{tip:?}");
}

/// A pendulum on its head, held by a spring.
fn upright(stiffness: f64) -> ModelSpec {
    let text = format!(
        r#"
format = 1
gravity_m_per_s2 = [0.0, -10.0, 0.0]
[[body]]
name = "bob"
rigid = {{ mass_kg = 2.0, center_of_mass_m = [0.5, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.1, 0.1] }}
[[joint]]
name = "hinge"
parent = "ground"
child = "bob"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = {angle}
spring = {{ stiffness_n_m_per_rad = {stiffness}, rest_angle_rad = {angle} }}
[simulation]
duration_s = 1.0
"#,
        angle = std::f64::consts::FRAC_PI_2
    );
    parsed(&text)
}

/// Closed form: upright, the stiffness is that of the spring less $`mgl = 10`$ N m.
#[test]
fn whether_an_equilibrium_holds_is_told() {
    for (stiffness, holds) in [(10.01, true), (9.99, false)] {
        let spec = upright(stiffness);
        let rests = [
            (tree_rest(&spec).unwrap(), "hinge.angle"),
            (nodal_rest(&spec, 1).unwrap(), "hinge.angle"),
        ];
        for (rest, name) in rests {
            let expected = if holds {
                Stability::Stable
            } else {
                Stability::Unstable {
                    name: name.to_owned(),
                }
            };
            assert_eq!(rest.stability, Some(expected), "{stiffness}");
            let angle = value(&rest, "hinge.angle");
            assert!(
                (angle - std::f64::consts::FRAC_PI_2).abs() < 1e-9,
                "{angle}"
            );
        }
    }
}

/// Property: what nothing holds and nothing pushes stays, and is told; what is pushed is an error that names it.
#[test]
fn mechanisms_without_stiffness_are_told() {
    let changes = ["joint.hinge.revolute.spring.stiffness_n_m_per_rad=0"];
    let text = toml::to_string(&upright(1.0)).unwrap();
    let free = changed(&text, &[changes[0], "gravity_m_per_s2=[0, 0, 0]"]);
    let rest = tree_rest(&free).unwrap();
    let name = "hinge.angle".to_owned();
    assert_eq!(rest.stability, Some(Stability::Indifferent { name }));
    // lying on its side it falls, and to first order nothing changes that
    let falls = changed(
        &text,
        &[changes[0], "joint.hinge.revolute.initial_angle_rad=0"],
    );
    let error = tree_rest(&falls).unwrap_err();
    assert!(
        matches!(&error, NoEquilibrium::Unheld { name, residual }
            if name == "hinge.angle" && (residual - 10.0).abs() < 1e-9),
        "{error:?}"
    );
    assert!(error.to_string().contains("hold it by a spring"), "{error}");
    let error = nodal_rest(&falls, 1).unwrap_err();
    assert!(
        matches!(&error, NoEquilibrium::Unheld { name, .. } if name == "hinge.angle"),
        "{error:?}"
    );
}

/// Half of von Mises' truss: a bar of slack length 1, one end on a pivot, the other on an upright line at a distance of
/// 0.96, pressed down.
const SPAN_M: f64 = 0.96;
const TRUSS_N_PER_M: f64 = 1000.0;

/// The largest load: $`P = k(l_0 - l)h/l`$ has its maximum at $`l^3 = l_0 b^2`$.
fn limit_load() -> f64 {
    let length = (SPAN_M * SPAN_M).cbrt();
    let height = (length * length - SPAN_M * SPAN_M).sqrt();
    TRUSS_N_PER_M * (1.0 - length) * height / length
}

fn limited(error: &NoEquilibrium, load: f64) {
    // the load grows in steps of 1/4096 at last
    const LAST_PART: f64 = 2.0 / 4096.0;
    let NoEquilibrium::Limit { load: reached, .. } = error else {
        panic!("{error:?}");
    };
    let expected = limit_load() / load;
    assert!(
        (expected - reached).abs() < LAST_PART,
        "{reached} {expected}"
    );
    assert!(error.to_string().contains("buckles or snaps"), "{error}");
}

/// Closed form: a tree with a loop, and the load at which it snaps through.
#[test]
fn a_loop_tells_where_it_snaps_through() {
    let load = 1.3 * limit_load();
    let text = format!(
        r#"
format = 1
[[body]]
name = "bar"
rigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}
[[body]]
name = "rod"
rigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}
[[joint]]
name = "pivot"
parent = "ground"
child = "bar"
revolute = {{ axis = [0.0, 0.0, 1.0], initial_angle_rad = {angle} }}
[[joint]]
name = "spring"
parent = "bar"
child = "rod"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 1.0
spring = {{ stiffness_n_per_m = {TRUSS_N_PER_M}, rest_displacement_m = 1.0 }}
[[loop]]
name = "guide"
from = {{ body = "ground", position_m = [{SPAN_M}, 0.0, 0.0] }}
to = {{ body = "rod", at = "origin" }}
point_on_line = {{ direction = [0.0, 1.0, 0.0] }}
[[marker]]
name = "end"
body = "rod"
[[input]]
marker = "end"
direction = [0.0, -1.0, 0.0]
force_constant = {{ value_n = {load} }}
[simulation]
duration_s = 1.0
"#,
        angle = SPAN_M.acos()
    );
    limited(&tree_rest(&parsed(&text)).unwrap_err(), load);
    // below the limit it stands, and holds
    let below = format!("input.0.force_constant.value_n={}", 0.9 * limit_load());
    let rest = tree_rest(&changed(&text, &[&below])).unwrap();
    assert_eq!(rest.stability, Some(Stability::Stable));
}

/// Closed form: the same of nodes and elements.
#[test]
fn a_truss_tells_where_it_snaps_through() {
    let load = 1.3 * limit_load();
    let text = format!(
        r#"
format = 1
[[node]]
name = "pivot"
planar_point = {{ position_m = [0.0, 0.0], roles = ["fixed", "fixed"] }}
[[node]]
name = "end"
planar_point = {{ position_m = [{SPAN_M}, {}], roles = ["fixed", "dof"], mass_kg = 1.0 }}
[[element]]
name = "bar"
truss = {{ from = "pivot", to = "end", axial_stiffness_n = {TRUSS_N_PER_M} }}
[[input]]
marker = "end"
direction = [0.0, -1.0, 0.0]
force_constant = {{ value_n = {load} }}
[simulation]
duration_s = 1.0
"#,
        (1.0 - SPAN_M * SPAN_M).sqrt()
    );
    limited(&nodal_rest(&parsed(&text), 1).unwrap_err(), load);
}

/// Closed form: frequencies about the equilibrium, $`\omega^2 = (k - mgl\sin\theta)/(J + ml^2)`$, where the spring, slack when
/// it stands upright, balances the weight of the pendulum pulled aside.
#[test]
fn frequencies_about_the_equilibrium() {
    const STIFFNESS: f64 = 30.0;
    // four times rounding through an eigenvalue and a root
    const ROUNDING: f64 = 1e-9;
    let text = toml::to_string(&upright(STIFFNESS)).unwrap();
    let changes = ["joint.hinge.revolute.spring.rest_angle_rad=1.0"];
    let spec = changed(&text, &changes);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 1)] {
        let rest = mechanism.equilibrium(&mechanism.written()).unwrap();
        let angle = value(&rest, "hinge.angle");
        let moment = STIFFNESS * (angle - 1.0) + 10.0 * angle.cos();
        assert!(moment.abs() < 10.0 * ROUNDING, "{angle}: {moment}");
        let place = OperatingPoint::Equilibrium;
        let watch = &mut |_| Flow::Continue;
        let found = mechanism.linearize(&rest.state, place, &[], watch).unwrap();
        let modes =
            TrackedModes::undamped(&Frozen::new(&found.trajectory, &[]), Terms::CASES[0], 1)
                .unwrap();
        let expected = ((STIFFNESS - 10.0 * angle.sin()) / (0.1 + 2.0 * 0.25)).sqrt();
        let frequency = modes.modes[0][0].frequency().unwrap();
        assert!(
            (frequency - expected).abs() < ROUNDING * expected,
            "{frequency} {expected}"
        );
    }
}

/// Property: whoever looks on ends a search at the next evaluation, in every study that searches, and the error says so.
#[test]
fn searches_can_be_stopped() {
    let spec = parsed(PRINCETON_BEAM);
    for mechanism in [tree_mechanism(&spec), nodal_mechanism(&spec, 4)] {
        let written = mechanism.written();
        let mut all = 0;
        let mut count = |_| {
            all += 1;
            Flow::Continue
        };
        let whole = mechanism.equilibrium_watched(&written, &mut count);
        assert!(whole.is_ok() && all > 6, "{all}");
        let mut asked = 0;
        let mut stop = |_| {
            asked += 1;
            if asked > 3 {
                Flow::Stop
            } else {
                Flow::Continue
            }
        };
        let error = mechanism.equilibrium_watched(&written, &mut stop);
        assert_eq!(unsettled(error).unwrap_err(), NoEquilibrium::Stopped);
        assert_eq!(asked, 4, "nobody who has stopped it is asked again");
        let stopped = mechanism.linearize(&written, OperatingPoint::Equilibrium, &[], &mut |_| {
            Flow::Stop
        });
        assert_eq!(
            stopped.err(),
            Some(AnalysisError::Stopped {
                at_s: written.time_s
            })
        );
    }
}
