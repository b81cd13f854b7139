//! What acts from outside in the linearised equations: loads that turn with a body, and friction.

use allocation_counter::measure;
use lissom_core::study::{Linearize as _, OutputOrder};
use lissom_engine::model::Model;
use lissom_engine::nodal_model::{NodalActions, NodalLinearizer, NodalModel};
use lissom_engine::simulate::close_loops;
use lissom_engine::testing::Random;
use lissom_nodal::{
    AppliedForces, Drive, Dynamics, ElementId, Equations, Excitation, Mechanism, NodeId, State,
    View,
};
use lissom_numerics::integrate::{FirstOrder, Flow, SecondOrder};
use lissom_numerics::linear::{Linearization, unwatched};
use lissom_spatial::{Real, Vector};
use lissom_spec::ModelSpec;

use super::models::everything;

/// A model in two elements per link.
fn nodal_model(spec: &ModelSpec) -> NodalModel {
    let mut tree = Model::build(spec).unwrap();
    close_loops(&mut tree, spec.simulation.start_s).unwrap();
    NodalModel::new(spec, &tree, 2).unwrap()
}

/// A planar four-bar with a flexible coupler. Friction of every kind is in the crank's joint, which is independent, and in the
/// rocker's, which follows; a force turns with the coupler and a torque acts on the rocker's joint.
const FOUR_BAR: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]

[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }
node = [{ name = "pin", position_m = [0.2, 0.0, 0.0] }]

[[body]]
name = "coupler"
[body.beam]
length_m = 0.6
mass_per_length_kg_per_m = 0.4
bending_stiffness_y_n_m2 = 12.0
basis.clamped_free = { bending_y = 2 }

[[body]]
name = "rocker"
rigid = { mass_kg = 0.2, center_of_mass_m = [0.2, 0.0, 0.0], inertia_kg_m2 = [1e-4, 3e-3, 3e-3] }
node = [{ name = "pin", position_m = [0.4, 0.0, 0.0] }]

[[joint]]
name = "motor"
parent = "ground"
child = "crank"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 1.0
held = true
friction = { coulomb_n_m = 0.5, coulomb_rate_rad_per_s = 2.0, viscous_n_m_s_per_rad = 0.2 }

[[joint]]
name = "crank_pin"
parent = { body = "crank", at = "pin" }
child = "coupler"
revolute = { axis = [0.0, 0.0, 1.0] }

[[joint]]
name = "rocker_pivot"
parent = { body = "ground", position_m = [0.5, 0.0, 0.0] }
child = "rocker"
[joint.revolute]
axis = [0.0, 0.0, 1.0]
initial_angle_rad = 1.0
branch = "positive"
friction = { coulomb_n_m = 0.7, coulomb_rate_rad_per_s = 1.5, viscous_n_m_s_per_rad = 0.3 }
motor = { inertia_kg_m2 = 1e-4, gear_ratio = 5.0 }

[[joint]]
name = "rocker_pin"
parent = "coupler"
child = { body = "rocker", at = "pin" }
revolute = { axis = [0.0, 0.0, 1.0] }

[[marker]]
name = "middle"
body = "coupler"
position_m = [0.3, 0.0, 0.0]

[[input]]
joint = "motor"
torque_constant = { value_n_m = 0.4 }

[[input]]
joint = "rocker_pivot"
torque_constant = { value_n_m = 0.9 }

[[input]]
marker = "middle"
direction = [1.0, 2.0, 0.0]
frame = "body"
force_constant = { value_n = 6.0 }

[simulation]
duration_s = 1.0
"#;

/// A spatial arm with Coulomb friction in its joints, a force and a moment that turn with its hand, and a torque about an axis
/// that a ball joint carries.
const ARM: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]

[[body]]
name = "upper"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 2.0
bending_stiffness_y_n_m2 = 300.0
bending_stiffness_z_n_m2 = 200.0
basis.clamped_free = { bending_y = 1, bending_z = 1 }

[[body]]
name = "fore"
[body.beam]
length_m = 0.8
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 100.0
bending_stiffness_z_n_m2 = 150.0
basis.clamped_free = { bending_y = 1, bending_z = 1 }

[[body]]
name = "ball"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [0.1, 0.2, 0.3] }

[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0, 0, 1]
friction = { coulomb_n_m = 2.0, coulomb_rate_rad_per_s = 0.5, viscous_n_m_s_per_rad = 0.3 }

[[joint]]
name = "elbow"
parent = "upper"
child = "fore"
[joint.revolute]
axis = [0, 1, 1]
initial_angle_rad = 0.6
friction = { coulomb_n_m = 1.0, coulomb_rate_rad_per_s = 0.5 }

[[joint]]
name = "wrist"
parent = "fore"
child = "ball"
spherical = {}

[[marker]]
name = "hand"
body = "fore"

[[input]]
marker = "hand"
direction = [0, 1, 1]
frame = "body"
force_constant = { value_n = 50.0 }

[[input]]
marker = "hand"
direction = [1, 0, 1]
frame = "body"
torque_constant = { value_n_m = 20.0 }

[[input]]
joint = "wrist"
component = 2
torque_constant = { value_n_m = 10.0 }

[simulation]
duration_s = 1.0
"#;

/// Central differences: truncation h² and rounding ε/h, of the largest entry.
const STEP: f64 = 1e-5;
const DIFFERENCE: f64 = 1e-6;

/// Holds stiffness, its parts added up, and damping against central differences of what the degrees of freedom lack. `turned` gives
/// $`W\delta`$ of rates and a displaced position, where velocities are no rates of the coordinates: they deviate by
/// $`\dot\delta + W\delta`$.
#[track_caller]
fn compare<E: Excitation>(
    linear: &Linearization,
    dynamics: &mut Dynamics<'_, E>,
    [position, velocity, acceleration]: [&[f64]; 3],
    mut turned: impl FnMut(&[f64], &[f64]) -> Vec<f64>,
) {
    let sum = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    let dofs = velocity.len();
    let mut residual = |column: usize, [place, speed]: [f64; 2]| {
        let (mut increment, mut moved) = (vec![0.0; dofs], position.to_vec());
        increment[column] = place + speed;
        dynamics.displace(position, &increment, &mut moved);
        let carried = turned(velocity, &moved);
        let [velocity, acceleration, position] = if speed == 0.0 {
            let of_rates = turned(acceleration, &moved);
            [sum(velocity, &carried), sum(acceleration, &of_rates), moved]
        } else {
            [
                sum(velocity, &increment),
                sum(acceleration, &carried),
                position.to_vec(),
            ]
        };
        let mut residual = vec![0.0; dofs];
        dynamics
            .motion_residual(0.0, &position, &velocity, &acceleration, &mut residual)
            .unwrap();
        residual
    };
    for (matrix, step) in [
        (&linear.stiffness(), [STEP, 0.0]),
        (&linear.damping, [0.0, STEP]),
    ] {
        for column in 0..dofs {
            let after = residual(column, step);
            let before = residual(column, step.map(|x| -x));
            for row in 0..dofs {
                let difference = (after[row] - before[row]) / (2.0 * STEP);
                let error = (difference - matrix[(row, column)]).abs();
                assert!(
                    error < DIFFERENCE * matrix.amax(),
                    "{step:?} {row} {column}: {difference} {}",
                    matrix[(row, column)]
                );
            }
        }
    }
    assert_eq!(linear.geometric, linear.geometric.transpose());
}

/// Second way: in a loop and in space, for a model as it is written, matrices are differences of the residual.
#[test]
fn matrices_of_models_contain_loads_and_friction() {
    for text in [FOUR_BAR, ARM] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let nodal = nodal_model(&spec);
        let dofs = nodal.mechanism.dof_count();
        let mut random = Random::new(11);
        let position = nodal.initial_position();
        let velocity: Vec<f64> = random.list(dofs, 1.0);
        let mut linearizer = NodalLinearizer::new(&nodal).unwrap();
        let state = lissom_core::State::new(0.0, position.to_vec(), velocity.clone());
        let motion = linearizer.moving(&state).unwrap();
        let point = linearizer
            .point(&motion, OutputOrder::First, &mut |_| Flow::Continue)
            .unwrap();
        let equations = Equations::new(&nodal.mechanism).unwrap();
        let mut dynamics = Dynamics::new(equations, NodalActions::new(&nodal));
        let mut acceleration = vec![0.0; dofs];
        dynamics
            .accelerate(0.0, position, &velocity, &mut acceleration)
            .unwrap();
        let turned = |rates: &[f64], moved: &[f64]| -> Vec<f64> {
            let at =
                |position: &[f64]| lissom_core::State::new(0.0, position.to_vec(), rates.to_vec());
            let from = linearizer.moving(&at(position)).unwrap();
            let [_, rates] = linearizer.deviation(&at(moved), &from);
            // with equal velocities the rates of the coordinates deviate by -Wδ
            rates.iter().map(|rate| -rate).collect()
        };
        let state = [position, &velocity, &acceleration];
        compare(&point.linear, &mut dynamics, state, turned);
    }
}

/// Loads that turn with the last node, and friction of a hinge and of a truss.
#[derive(Clone, Copy, Debug)]
struct Handled {
    tip: NodeId,
    last: NodeId,
    hinge: ElementId,
    truss: ElementId,
}

impl Handled {
    /// On the mechanism with everything.
    fn new(mechanism: &Mechanism) -> Self {
        let node = |name: &str| {
            (0..mechanism.node_count())
                .filter_map(|index| mechanism.node(index))
                .find(|&node| mechanism.node_name(node) == name)
                .unwrap()
        };
        let element = |name: &str| {
            let position = mechanism.figures().position(|figure| figure.name == name);
            mechanism.element_ids().nth(position.unwrap()).unwrap()
        };
        Self {
            tip: node("tip"),
            last: node("last"),
            hinge: element("hinge"),
            truss: element("truss"),
        }
    }
}

impl AppliedForces for Handled {
    fn apply<T: Real>(&self, part: f64, view: &mut View<'_, T>) {
        let carried = |vector| view.node(self.last).rotation * Vector::constant(vector);
        let (force, moment) = (
            carried([30.0 * part, -20.0 * part, 10.0 * part]),
            carried([5.0 * part, 8.0 * part, -6.0 * part]),
        );
        view.push_node(self.tip, force);
        view.push_node(self.last, moment);
        for element in [self.hinge, self.truss] {
            let rate = view.deformation_rate(element, 0);
            let coulomb = rate / (rate * rate + T::constant(0.04)).sqrt();
            // the longer, the tighter
            let tight = T::constant(1.0) + view.deformation(element, 0) * 3.0;
            view.push_deformation(element, 0, -(rate * 2.0 + coulomb * tight * 4.0));
        }
    }
}

impl Excitation for Handled {
    fn drive(&mut self, _: f64, _: &mut [Drive]) {}
}

/// Second way: the same where friction is on a deformation whose direction changes, and depends on place and rate.
#[test]
fn matrices_contain_what_acts_on_dependent_deformations() {
    let mechanism = everything(0.02);
    let handled = Handled::new(&mechanism);
    let dofs = mechanism.dof_count();
    let mut random = Random::new(9);
    let position: Vec<f64> = (mechanism.assembled_position().iter())
        .map(|x| x + random.signed(0.1))
        .collect();
    let (velocity, acceleration) = (random.list(dofs, 1.0), random.list(dofs, 2.0));
    let mut equations = Equations::new(&mechanism).unwrap();
    let linear = (equations.linearize(
        &State {
            position: &position,
            velocity: &velocity,
            acceleration: &acceleration,
            drives: &[],
            loads: &handled,
        },
        &mut unwatched,
    ))
    .unwrap();
    let state = [&position[..], &velocity, &acceleration];
    // velocities of this mechanism are rates
    let turned = |rates: &[f64], _: &[f64]| vec![0.0; rates.len()];
    let mut dynamics = Dynamics::new(equations, handled);
    compare(&linear, &mut dynamics, state, turned);
}

/// Closed form: an effort that is held on a dependent deformation is a stress; its stiffness is geometric, all of it, and
/// what is left of the difference to no effort is none.
#[test]
fn efforts_held_on_dependent_deformations_are_geometric() {
    #[derive(Debug)]
    struct Pulled(ElementId, f64);
    impl AppliedForces for Pulled {
        fn apply<T: Real>(&self, part: f64, view: &mut View<'_, T>) {
            view.push_deformation(self.0, 0, T::constant(part * self.1));
        }
    }
    // stiffness of order 1e5 made of a thousand operations
    const ROUNDING: f64 = 1e-8;
    let mechanism = everything(0.0);
    let truss = Handled::new(&mechanism).truss;
    let still = vec![0.0; mechanism.dof_count()];
    let position = mechanism.assembled_position();
    let mut equations = Equations::new(&mechanism).unwrap();
    let [pulled, free] = [100.0, 0.0].map(|effort| {
        equations
            .linearize(
                &State {
                    position: &position,
                    velocity: &still,
                    acceleration: &still,
                    drives: &[],
                    loads: &Pulled(truss, effort),
                },
                &mut unwatched,
            )
            .unwrap()
    });
    assert!((&pulled.dynamic - &free.dynamic).amax() < ROUNDING);
    assert!((&pulled.geometric - &free.geometric).amax() > 1.0);
}

/// Property: applying loads and friction allocates nothing.
#[test]
fn applied_forces_allocate_nothing() {
    for text in [FOUR_BAR, ARM] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let nodal = nodal_model(&spec);
        let equations = Equations::new(&nodal.mechanism).unwrap();
        let mut dynamics = Dynamics::new(equations, NodalActions::new(&nodal));
        let mut state = nodal.initial_position().to_vec();
        state.extend(vec![0.1; nodal.mechanism.dof_count()]);
        let mut rate = vec![0.0; state.len()];
        let count = measure(|| dynamics.derivative(0.0, &state, &mut rate)).count_total;
        assert_eq!(count, 0, "the derivative allocates");
        assert!(rate.iter().all(|x| x.is_finite()));
    }
}

/// Second way: at rest the tangent of implicit steps is the derivative of what the degrees of freedom lack, loads that turn with the beam
/// among it.
#[test]
fn tangents_know_loads_that_turn() {
    // of differences of second order, beside rounding
    const DIFFERENCES: f64 = 1e-6;
    const WEIGHTS: [f64; 2] = [1.0, 0.0];
    for load in [
        "force_constant = { value_n = 40.0 }",
        "torque_constant = { value_n_m = 15.0 }",
    ] {
        let spec = ModelSpec::parse(
            &format!(
                "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\n\
                 bending_stiffness_y_n_m2 = 30.0\nbending_stiffness_z_n_m2 = 20.0\ntorsional_stiffness_n_m2 = 15.0\n\
                 section_inertia_y_kg_m = 1e-3\nsection_inertia_z_kg_m = 1e-3\n\
                 basis.clamped_free = {{ bending_y = 1, bending_z = 1, torsion = 1 }}\n\
                 [[joint]]\nname = \"wall\"\nparent = \"ground\"\nchild = \"beam\"\nfixed = {{}}\n\
                 [[marker]]\nname = \"tip\"\nbody = \"beam\"\n\
                 [[input]]\nmarker = \"tip\"\nframe = \"body\"\ndirection = [0.3, 1.0, -0.4]\n{load}\n"
            ),
            &[],
        )
        .unwrap();
        let nodal = nodal_model(&spec);
        let equations = Equations::new(&nodal.mechanism).unwrap();
        let mut dynamics = Dynamics::new(equations, NodalActions::new(&nodal));
        let dofs = nodal.mechanism.dof_count();
        let mut random = Random::new(5);
        let mut draw =
            |size: f64| -> Vec<f64> { (0..dofs).map(|_| random.uniform(-size, size)).collect() };
        let (position, direction, still) = (draw(0.02), draw(1.0), vec![0.0; dofs]);
        let motion: [&[f64]; 3] = [&position, &still, &still];
        assert!(dynamics.form_tangent(0.0, motion, WEIGHTS));
        let mut lacking = [vec![0.0; dofs], vec![0.0; dofs]];
        for (step, lacking) in [1e-5, -1e-5].into_iter().zip(&mut lacking) {
            let change: Vec<f64> = direction.iter().map(|x| step * x).collect();
            let moved: Vec<f64> = position.iter().zip(&change).map(|(x, dx)| x + dx).collect();
            dynamics
                .motion_residual(0.0, &moved, &still, &change, lacking)
                .unwrap();
        }
        let [ahead, behind] = lacking;
        let mut slope: Vec<f64> = ahead
            .iter()
            .zip(&behind)
            .map(|(a, b)| (a - b) / 2e-5)
            .collect();
        dynamics.solve_tangent(&mut slope);
        for (found, expected) in slope.iter().zip(&direction) {
            assert!(
                (found - expected).abs() < DIFFERENCES,
                "{load}: {found} {expected}"
            );
        }
    }
}
