//! The same in loops: many light modes that carry a heavy platform.
//!
//! The reference solves for accelerations and multipliers at once, $`\begin{bmatrix} M & J^T\\ J & 0\end{bmatrix}`$, in twice the precision.

use lissom_engine::model::Model;
use lissom_spatial::Scalar;
use lissom_spec::ModelSpec;
use lissom_tree::ClosureMethod;
use lissom_tree::closure::{Constraints, Loops, articulated_body, row_rank};
use lissom_tree::tree::{
    CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, mass_matrix,
};

use super::twofold::Twofold;
use super::{ACCURACY, error};
use crate::models::{assembled, parsed};
use crate::runs::{completed, in_tree};
use crate::shipped::PLANAR_3RRR;

/// Modes of every link, and how many times heavier the platform is than that of Fattah, which weighs three links.
const LOADED: [(usize, f64); 3] = [(19, 10.0), (8, 100.0), (2, 1000.0)];

fn robot(modes: usize, heavier: f64, closure: &str) -> ModelSpec {
    let platform = |mass: f64, inertia: f64| {
        format!(
            "mass_kg = {mass}, inertia_kg_m2 = [{inertia}, {inertia}, {}]",
            2.0 * inertia
        )
    };
    let mut text = PLANAR_3RRR.to_owned();
    for (from, to) in [
        (
            "elements = { count = 2, modes = 2 }",
            format!("clamped_free = {{ bending_y = {modes} }}"),
        ),
        ("tip = \"chord\"", "tip = \"rotation_vector\"".to_owned()),
        (
            &platform(0.384, 0.01024),
            platform(0.384 * heavier, 0.01024 * heavier),
        ),
        (
            "[simulation]\nduration_s = 1.0",
            format!("[simulation]\nclosure.{closure} = {{}}\nduration_s = 2.0e-4"),
        ),
        (
            "sample_period_s = 0.01",
            "sample_period_s = 1.0e-4".to_owned(),
        ),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, &to);
    }
    parsed(&text)
}

/// Forces that push on everything, differently.
fn pushes(model: &Model) -> Vec<f64> {
    let velocities = 0..model.linkage.system.velocity_count();
    velocities.map(|i| 1.0 / (1.0 + (i % 7) as f64)).collect()
}

/// Accelerations by a method at the model's start.
fn by_method(model: &Model, method: ClosureMethod) -> Vec<f64> {
    let mut linkage = model.linkage.clone();
    linkage.closure_method = method;
    let (mut position, mut velocity) = (
        model.initial_position.clone(),
        model.initial_velocity.clone(),
    );
    let loops = Loops::new(&linkage, &position).unwrap();
    let mut loops = loops.unwrap();
    loops
        .project(&linkage, &mut position, &mut velocity)
        .unwrap();
    let mut kinematics = Kinematics::new(&linkage.system);
    kinematics.update(&linkage.system, &position, &velocity);
    let mut acceleration = vec![0.0; velocity.len()];
    let formed = loops.accelerate(
        &linkage,
        &mut kinematics,
        &mut articulated_body(&linkage),
        None,
        &position,
        &velocity,
        &pushes(model),
        &mut acceleration,
    );
    assert!(formed);
    acceleration
}

/// Accelerations with the multipliers, in twice the precision.
fn by_multipliers(model: &Model) -> Vec<f64> {
    let linkage = &model.linkage;
    let (position, velocity) = (&model.initial_position, &model.initial_velocity);
    let system = &linkage.system;
    let n = system.velocity_count();
    let mut plain = Kinematics::new(system);
    plain.update(system, position, velocity);
    let mut constraints = Constraints::new(system, &linkage.closures);
    constraints.update(system, &linkage.closures, &mut plain, position, velocity);
    let rows = row_rank(constraints.jacobian(), n).independent;

    let [position, velocity] = [position, velocity]
        .map(|x| -> Vec<Twofold> { x.iter().map(|&x| Twofold::constant(x)).collect() });
    let mut kinematics = Kinematics::<Twofold>::new(system);
    kinematics.update(system, &position, &velocity);
    let mut mass = vec![Twofold::zero(); n * n];
    mass_matrix(
        system,
        &kinematics,
        &mut CompositeBody::new(system),
        &mut mass,
    );
    let mut bias = vec![Twofold::zero(); n];
    let still = bias.clone();
    inverse_dynamics(
        system,
        &kinematics,
        &still,
        &mut InverseDynamics::new(system),
        &mut bias,
    );

    let force = pushes(model);
    let size = n + rows.len();
    let mut matrix = vec![Twofold::zero(); size * size];
    let mut right = vec![Twofold::zero(); size];
    for i in 0..n {
        matrix[i * size..][..n].copy_from_slice(&mass[i * n..][..n]);
        right[i] = Twofold::constant(force[i]) - bias[i];
    }
    for (k, &row) in rows.iter().enumerate() {
        right[n + k] = Twofold::constant(-constraints.bias()[row]);
        for (j, &slope) in constraints.row(row).iter().enumerate() {
            matrix[(n + k) * size + j] = Twofold::constant(slope);
            matrix[j * size + n + k] = Twofold::constant(slope);
        }
    }
    solve(&mut matrix, &mut right);
    right[..n].iter().map(|x| x.rounded()).collect()
}

/// Gaussian elimination, with the largest entry of a column as pivot.
fn solve(matrix: &mut [Twofold], right: &mut [Twofold]) {
    let n = right.len();
    for i in 0..n {
        let size = |row: &usize| matrix[row * n + i].rounded().abs();
        let pivot = (i..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap();
        right.swap(i, pivot);
        for column in 0..n {
            matrix.swap(i * n + column, pivot * n + column);
        }
        for j in i + 1..n {
            let share = matrix[j * n + i] / matrix[i * n + i];
            for column in i..n {
                let taken = share * matrix[i * n + column];
                matrix[j * n + column] -= taken;
            }
            let taken = share * right[i];
            right[j] -= taken;
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            let taken = matrix[i * n + j] * right[j];
            right[i] -= taken;
        }
        right[i] = right[i] / matrix[i * n + i];
    }
}

/// Identity: independent coordinates and multipliers give the accelerations of the closed mechanism, as exact as those of a tree.
#[test]
fn loops_under_a_heavy_platform_have_exact_accelerations() {
    for (modes, heavier) in LOADED {
        let model = assembled(&robot(modes, heavier, "automatic"));
        let exact = by_multipliers(&model);
        for method in [ClosureMethod::Automatic, ClosureMethod::Projected] {
            let found = by_method(&model, method.clone());
            let error = error(&model, &found, &exact);
            assert!(
                error < ACCURACY,
                "{modes} modes, {heavier}, {method:?}: {error:e}"
            );
        }
    }
}

/// Rounding that the step control takes for an error would make the steps as short as it is large.
#[test]
fn independent_coordinates_take_the_steps_of_projection() {
    // the two control the errors of different coordinates
    const MORE: f64 = 1.5;
    for (modes, heavier) in LOADED {
        let [automatic, projected] = ["automatic", "projected"].map(|closure| {
            let run = completed(in_tree(&robot(modes, heavier, closure)));
            run.statistics.steps as f64
        });
        assert!(
            automatic < MORE * projected,
            "{modes} modes, {heavier}: {automatic} {projected}"
        );
    }
}
