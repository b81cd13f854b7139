//! Runs that go on from what somebody else remembers.

use std::fmt::Write;

use lissom_engine::model::Model;
use lissom_numerics::{Memory, RecallError};
use lissom_spec::ModelSpec;
use lissom_tree::ClosureMethod;
use lissom_tree::closure::{Loops, Trouble, articulated_body};
use lissom_tree::tree::{ArticulatedBody, Kinematics, displace};

use super::mechanisms::{Mechanism, TRIPLE_ROCKER, four_bar_angles, four_bar_of, planar_3rrr};

/// Steps after which supports are told on which element they are: some of them have passed a node before.
const ENTERED_EVERY: usize = 40;

/// A mechanism under way by steps of one length.
#[derive(Clone)]
struct Walk<'m> {
    model: &'m Model,
    loops: Loops,
    kinematics: Kinematics<f64>,
    articulated: ArticulatedBody<f64>,
    steps: usize,
    step: f64,
    position: Vec<f64>,
    velocity: Vec<f64>,
}

/// Where a walk was, and all that is needed to go on.
#[derive(Clone, Debug)]
struct Saved {
    steps: usize,
    position: Vec<f64>,
    velocity: Vec<f64>,
    memory: Memory,
}

/// What a step made, to the last bit: accelerations, positions, velocities, and why it was the last.
#[derive(Clone, Debug, PartialEq)]
struct Made {
    bits: Vec<u64>,
    trouble: Option<Trouble>,
}

impl<'m> Walk<'m> {
    /// With loops that were made at a position.
    fn at(model: &'m Model, made_at: &[f64], step: f64, saved: &Saved) -> Self {
        let Saved {
            steps,
            position,
            velocity,
            ..
        } = saved.clone();
        Self {
            model,
            loops: Loops::new(&model.linkage, made_at).unwrap().unwrap(),
            kinematics: Kinematics::new(&model.linkage.system),
            articulated: articulated_body(&model.linkage),
            steps,
            step,
            position,
            velocity,
        }
    }

    fn start(model: &'m Model, step: f64) -> Self {
        let start = Saved {
            steps: 0,
            position: model.initial_position.clone(),
            velocity: model.initial_velocity.clone(),
            memory: Memory::default(),
        };
        Self::at(model, &model.initial_position, step, &start)
    }

    fn resume(model: &'m Model, made_at: &[f64], step: f64, saved: &Saved) -> Self {
        let mut walk = Self::at(model, made_at, step, saved);
        walk.loops.recall(&model.linkage, &saved.memory).unwrap();
        walk
    }

    fn save(&self) -> Saved {
        Saved {
            steps: self.steps,
            position: self.position.clone(),
            velocity: self.velocity.clone(),
            memory: self.loops.memory(),
        }
    }

    /// Accelerations at a state, which is settled first if the method does so.
    fn accelerations(&mut self, position: &[f64], velocity: &[f64]) -> Vec<f64> {
        let linkage = &self.model.linkage;
        let (mut position, mut velocity) = (position.to_vec(), velocity.to_vec());
        let mut acceleration = vec![0.0; velocity.len()];
        if self.loops.projects_before_evaluation() {
            let settled = self.loops.project(linkage, &mut position, &mut velocity);
            if settled.is_err() {
                acceleration.fill(f64::NAN);
                return acceleration;
            }
        }
        self.kinematics
            .update(&linkage.system, &position, &velocity);
        let no_force = vec![0.0; velocity.len()];
        self.loops.accelerate(
            linkage,
            &mut self.kinematics,
            &mut self.articulated,
            None,
            &position,
            &velocity,
            &no_force,
            &mut acceleration,
        );
        acceleration
    }

    /// A step of the explicit midpoint rule.
    fn step(&mut self) -> Made {
        let linkage = &self.model.linkage;
        if self.steps.is_multiple_of(ENTERED_EVERY) {
            let (position, velocity) = (&self.position, &mut self.velocity);
            self.loops.latch_elements(linkage, position, velocity);
        }
        let (position, velocity) = (self.position.clone(), self.velocity.clone());
        let ahead = |rate: &[f64], span: f64| -> (Vec<f64>, Vec<f64>) {
            let changed: Vec<f64> = (velocity.iter().zip(rate))
                .map(|(v, a)| v + span * a)
                .collect();
            let middle: Vec<f64> = (velocity.iter().zip(&changed))
                .map(|(a, b)| span * 0.5 * (a + b))
                .collect();
            let mut moved = position.clone();
            displace(&linkage.system, &mut moved, &middle);
            (moved, changed)
        };
        let first = self.accelerations(&position, &velocity);
        let (position, velocity) = ahead(&first, 0.5 * self.step);
        let second = self.accelerations(&position, &velocity);
        (self.position, self.velocity) = ahead(&second, self.step);
        self.steps += 1;
        let mut trouble = None;
        let settled = !self.loops.projects()
            || (self.loops)
                .project(linkage, &mut self.position, &mut self.velocity)
                .is_ok();
        if settled {
            let time = self.steps as f64 * self.step;
            let (position, velocity) = (&self.position, &self.velocity);
            trouble = self.loops.watch(linkage, time, position, velocity);
        }
        let numbers = [first, second, self.position.clone(), self.velocity.clone()].concat();
        Made {
            bits: numbers.iter().map(|x| x.to_bits()).collect(),
            trouble,
        }
    }
}

/// All that a walk makes until it ends, with what was saved before every step, and its own end.
fn walked(model: &Model, step: f64, most: usize) -> (Vec<Saved>, Vec<Made>, Walk<'_>) {
    let mut walk = Walk::start(model, step);
    let (mut saved, mut made) = (Vec::new(), Vec::new());
    while made.len() < most {
        saved.push(walk.save());
        made.push(walk.step());
        if made[made.len() - 1].trouble.is_some() {
            break;
        }
    }
    (saved, made, walk)
}

/// Asserts that loops made anew, at the start or where the walk is, make of a memory what the others made.
fn assert_goes_on(
    model: &Model,
    step: f64,
    saved: &Saved,
    made: &[Made],
    end: &Walk<'_>,
    what: &str,
) {
    for made_at in [&model.initial_position, &saved.position] {
        // violations of a stabilised run may be too large to start from
        if Loops::new(&model.linkage, made_at).is_err() {
            continue;
        }
        let mut walk = Walk::resume(model, made_at, step, saved);
        assert_eq!(walk.save().memory, saved.memory, "{what}");
        for wanted in &made[saved.steps..] {
            assert_eq!(&walk.step(), wanted, "{what}, from step {}", saved.steps);
        }
        let (found, wanted) = (&walk.loops, &end.loops);
        assert_eq!(found.memory(), wanted.memory(), "{what}");
        assert_eq!(found.nearly_singular(), wanted.nearly_singular(), "{what}");
        let linkage = &model.linkage;
        assert_eq!(found.heading_for(linkage), wanted.heading_for(linkage));
        assert_eq!(found.independent(linkage), wanted.independent(linkage));
        assert_eq!(found.redundant(linkage), wanted.redundant(linkage));
    }
}

/// Whether loops made anew at a position make something else than those that were there.
fn forgets(model: &Model, made_at: &[f64], step: f64, saved: &Saved, made: &[Made]) -> bool {
    let mut walk = Walk::at(model, made_at, step, saved);
    made[saved.steps..]
        .iter()
        .any(|wanted| &walk.step() != wanted)
}

fn triple_rocker(flexible: bool) -> Mechanism {
    four_bar_of(TRIPLE_ROCKER, flexible, 1.2, "").started(0, 8.0)
}

/// To the last bit: under every method a walk goes on from any step. Coordinates of the automatic choice are partitioned anew on
/// the way, which loops made there, or at the start, do not know.
#[test]
fn repartitioned_coordinates_are_remembered() {
    for (flexible, step, steps) in [(false, 2e-3, 300), (true, 2e-4, 900)] {
        let mechanism = triple_rocker(flexible);
        for method in mechanism.methods() {
            let automatic = method == ClosureMethod::Automatic;
            let what = format!("{method:?}");
            let model = mechanism.with(method);
            let (saved, made, end) = walked(&model, step, steps);
            for saved in saved.iter().step_by(made.len() / 8) {
                assert_goes_on(&model, step, saved, &made, &end, &what);
            }
            if automatic {
                let first = end.loops.repartitions().first().unwrap().time_s;
                let mut sampled = saved.iter().step_by(made.len() / 20);
                let here = |saved: &Saved| forgets(&model, &saved.position, step, saved, &made);
                assert!(sampled.any(here), "{what}");
                let later = |saved: &&Saved| saved.steps as f64 * step > first;
                for saved in saved.iter().filter(later).step_by(made.len() / 20) {
                    let start = &model.initial_position;
                    assert!(forgets(&model, start, step, saved, &made), "{what}");
                }
            }
        }
    }
}

/// A straight rail without weight along which two beads move, the fast one behind.
fn two_beads() -> Model {
    let mut text = r#"
format = 1
[[body]]
name = "rail"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 40.0
basis = { clamped_free = { bending_y = 3 } }
[[joint]]
name = "root"
parent = "ground"
child = "rail"
fixed = {}
"#
    .to_owned();
    for (name, place, rate) in [("slow", 0.5, 0.1), ("fast", 0.1, 0.9)] {
        write!(
            text,
            r#"
[[body]]
name = "{name}"
rigid = {{ mass_kg = 0.1, inertia_kg_m2 = [1e-5, 1e-5, 1e-5] }}
[[joint]]
name = "{name}-slide"
parent = "ground"
child = "{name}"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = {place}
initial_rate_m_per_s = {rate}
[[support]]
name = "{name}-ring"
beam = "rail"
on = "{name}"
"#
        )
        .unwrap();
    }
    built(&text)
}

fn built(text: &str) -> Model {
    let spec = ModelSpec::parse(text, &[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    Model::build(&spec).unwrap()
}

/// To the last bit: where one bead overtakes the other, a step passes over a singular configuration. A walk that goes on from any step
/// before stops there too and says the same; without the memory of the last step, what lies in between is not seen.
#[test]
fn singular_configurations_are_noticed_behind_a_pause() {
    const STEP: f64 = 0.013;
    let mut model = two_beads();
    for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
        let what = format!("{method:?}");
        model.linkage.closure_method = method;
        let (saved, made, end) = walked(&model, STEP, 200);
        let trouble = &made[made.len() - 1].trouble;
        assert!(
            matches!(trouble, Some(Trouble::Singular { .. })),
            "{what}: {trouble:?}"
        );
        for saved in &saved {
            assert_goes_on(&model, STEP, saved, &made, &end, &what);
        }
        let last = &saved[saved.len() - 1];
        let mut fresh = Walk::at(&model, &last.position, STEP, last);
        assert_ne!(&fresh.step().trouble, trouble, "{what}");
    }
}

/// A four-bar whose plane is that of no two axes: of three equations for the place of its pin two are kept, now these, now those.
fn tilted_four_bar(turned: f64) -> Model {
    let lengths = TRIPLE_ROCKER;
    let [a, b, c, d] = lengths;
    let crank = 1.2;
    let (coupler, rocker) = four_bar_angles(lengths, crank);
    // unit vectors along the axes and along the links, which are turned about them
    let axis = [0.48, 0.6, 0.64];
    let (sin, cos) = turned.sin_cos();
    let along = [0.8 * cos - 0.36 * sin, 0.8 * sin, -0.6 * cos - 0.48 * sin];
    let mut text = "format = 1\ngravity_m_per_s2 = [0.0, -9.81, 0.0]\n".to_owned();
    for (name, length) in [("crank", a), ("coupler", b), ("rocker", c)] {
        let tip = along.map(|x| x * length);
        let middle = along.map(|x| x * length / 2.0);
        write!(
text,
            "[[body]]\nname = \"{name}\"\n\
             rigid = {{ mass_kg = 0.4, center_of_mass_m = {middle:?}, inertia_kg_m2 = [0.01, 0.01, 0.01] }}\n\
             [[body.node]]\nname = \"tip\"\nposition_m = {tip:?}\n"
)
.unwrap();
    }
    let far = along.map(|x| x * d);
    for (name, parent, angle) in [
        ("crank", "\"ground\"".to_owned(), crank),
        (
            "coupler",
            "{ body = \"crank\", at = \"tip\" }".to_owned(),
            coupler - crank,
        ),
        (
            "rocker",
            format!("{{ body = \"ground\", position_m = {far:?} }}"),
            rocker,
        ),
    ] {
        write!(
            text,
            "[[joint]]\nname = \"{name}\"\nparent = {parent}\nchild = \"{name}\"\n\
             revolute = {{ axis = {axis:?}, initial_angle_rad = {angle:.17} }}\n"
        )
        .unwrap();
    }
    write!(
        text,
        "[[loop]]\nname = \"pin\"\nfrom = {{ body = \"coupler\", at = \"tip\" }}\n\
         to = {{ body = \"rocker\", at = \"tip\" }}\nrevolute = {{ axis = {axis:?} }}\n"
    )
    .unwrap();
    built(&text)
}

/// To the last bit: which equations are kept of those that follow from each other is remembered.
#[test]
fn kept_equations_are_remembered() {
    const STEP: f64 = 2e-3;
    /// Links that two of the equations say as much about as two others.
    const TURNED: [f64; 3] = [1.396, 1.4, 2.094];
    let kept = |memory: &Memory| memory.get("kept_equations").map(<[f64]>::to_vec);
    for method in [ClosureMethod::Automatic, ClosureMethod::OperationalSpace] {
        let what = format!("{method:?}");
        let mut changes = 0;
        for turned in TURNED {
            let mut model = tilted_four_bar(turned);
            model.linkage.closure_method = method.clone();
            model.initial_velocity[0] = 8.0;
            let loops = Loops::new(&model.linkage, &model.initial_position);
            let (q, v) = (&mut model.initial_position, &mut model.initial_velocity);
            (loops.unwrap().unwrap())
                .project(&model.linkage, q, v)
                .unwrap();
            let (saved, made, end) = walked(&model, STEP, 300);
            for saved in saved.iter().step_by(37) {
                assert_goes_on(&model, STEP, saved, &made, &end, &what);
            }
            let last = &saved[saved.len() - 1];
            if kept(&saved[0].memory) != kept(&last.memory) {
                let start = &model.initial_position;
                assert!(forgets(&model, start, STEP, last, &made), "{what}");
                changes += 1;
            }
        }
        assert!(changes > 0, "{what}");
    }
}

/// A bent boom that its carriage pushes through a support which holds place and direction, past a node 8 mm ahead.
fn boom(method: ClosureMethod) -> Model {
    let text = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "boom"
[body.beam]
length_m = 1.2
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 40.0
basis = { elements = { count = 4 } }
[[joint]]
name = "slide"
parent = "ground"
child = "boom"
[joint.prismatic]
axis = [1.0, 0.0, 0.0]
initial_displacement_m = 0.192
[[motion]]
joint = "slide"
constant_rate = { rate_m_per_s = 3.0 }
[[support]]
name = "mouth"
beam = "boom"
on = { body = "ground", position_m = [0.5, 0.0, 0.0] }
slopes = "tied"
[simulation]
duration_s = 0.1
"#;
    let mut model = built(text);
    model.linkage.closure_method = method;
    model.initial_velocity[0] = 3.0;
    model
}

/// To the last bit: a support has passed a node, and its equations are still those of the element before, until it is told. Loops
/// made there take the element that they find.
#[test]
fn elements_of_supports_are_remembered() {
    const STEP: f64 = 2e-5;
    for method in [
        ClosureMethod::Automatic,
        ClosureMethod::Projected,
        ClosureMethod::Stabilized {
            frequency: 50.0,
            damping_ratio: 1.0,
        },
    ] {
        let what = format!("{method:?}");
        let model = boom(method);
        let (saved, made, end) = walked(&model, STEP, 200);
        let element = |saved: &Saved| saved.memory.get("support_elements").map(|e| e[0]);
        assert_eq!(element(&saved[1]), Some(1.0), "{what}");
        assert_eq!(element(&end.save()), Some(0.0), "{what}");
        for saved in saved.iter().step_by(13) {
            assert_goes_on(&model, STEP, saved, &made, &end, &what);
        }
        // beyond the node, which is at 0.3 m of the boom
        let passed = |saved: &&Saved| saved.position[0] > 0.2001 && element(saved) == Some(1.0);
        let late = saved.iter().find(passed).unwrap();
        assert!(!late.steps.is_multiple_of(ENTERED_EVERY));
        assert!(forgets(&model, &late.position, STEP, late, &made), "{what}");
        let mut latched = Walk::at(&model, &late.position, STEP, late);
        let mut velocity = late.velocity.clone();
        (latched.loops).latch_elements(&model.linkage, &late.position, &mut velocity);
        assert_ne!(latched.step(), made[late.steps], "{what}");
    }
}

/// Memories with one thing wrong, and whether it must be noticed.
fn spoilt(memory: &Memory) -> Vec<(Memory, bool)> {
    let named: Vec<(String, Vec<f64>)> = (memory.iter())
        .map(|(name, numbers)| (name.to_owned(), numbers.to_vec()))
        .collect();
    let mut spoilt = Vec::new();
    for (i, (name, numbers)) in named.iter().enumerate() {
        let mut without = named.clone();
        without.remove(i);
        spoilt.push((without.into_iter().collect(), true));
        let mut with = |numbers: Vec<f64>, noticed: bool| {
            let mut changed = memory.clone();
            changed.set(name, numbers);
            spoilt.push((changed, noticed));
        };
        with([&numbers[..], &[1e9]].concat(), true);
        for at in 0..numbers.len() {
            with(numbers[..at].to_vec(), false);
            for (value, noticed) in [
                (f64::NAN, true),
                (f64::INFINITY, true),
                (1e300, false),
                (-1.0, false),
                (0.5, false),
                (0.0, false),
                (2.0, false),
            ] {
                let mut numbers = numbers.clone();
                numbers[at] = value;
                with(numbers, noticed);
            }
        }
    }
    spoilt
}

/// Property: a memory that is incomplete, too long, not finite or of another mechanism is refused and changes nothing; no
/// memory at all makes loops panic.
#[test]
fn memories_that_do_not_fit_are_refused() {
    const STEP: f64 = 2e-5;
    let other = planar_3rrr(false).model;
    let mechanism = triple_rocker(true);
    let mut models: Vec<Model> = (mechanism.methods().into_iter())
        .map(|method| mechanism.with(method))
        .collect();
    models.push(boom(ClosureMethod::Automatic));
    models.push(boom(ClosureMethod::OperationalSpace));
    for model in &models {
        let (_, _, walk) = walked(model, STEP, 3);
        let before = walk.loops.memory();
        for (memory, noticed) in spoilt(&before) {
            let mut tried = walk.clone();
            match tried.loops.recall(&model.linkage, &memory) {
                Ok(()) => assert!(!noticed, "{memory:?}"),
                Err(error) => {
                    assert!(error.to_string().contains('`'), "{error}");
                    assert_eq!(tried.loops.memory(), before);
                }
            }
            tried.step();
        }
        let mut loops = walk.loops.clone();
        let foreign = Loops::new(&other.linkage, &other.initial_position);
        let foreign = foreign.unwrap().unwrap().memory();
        assert!(loops.recall(&model.linkage, &foreign).is_err());
        let error = loops.recall(&model.linkage, &Memory::default());
        assert!(matches!(error, Err(RecallError::Missing { .. })));
        assert_eq!(loops.memory(), before);
    }
}
