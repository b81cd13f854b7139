//! Natural frequencies of assembled systems against closed forms.

use lissom_engine::model::Model;
use lissom_spatial::{Dual, Scalar};
use lissom_tree::tree::{
    CompositeBody, InverseDynamics, Kinematics, inverse_dynamics, mass_matrix,
};
use nalgebra::{DMatrix, SymmetricEigen};

use crate::models::{built, hinged_beam};

/// A beam hinged at its root: length 1, mass per length 1, bending stiffness 1, so that the squares of the
/// closed forms' arguments are the frequencies.
fn hinged(basis: &str) -> Model {
    built(&hinged_beam(&format!(
        "length_m = 1.0\nmass_per_length_kg_per_m = 1.0\nbending_stiffness_y_n_m2 = 1.0\nbasis.{basis}"
    )))
}

/// Frequencies in rad/s, rising, of the system about its rest: mass matrix, and derivative of the forces by
/// the positions.
fn frequencies(model: &Model) -> Vec<f64> {
    type Rate = Dual<f64, 1>;
    let system = &model.linkage.system;
    let size = system.velocity_count();
    let still = vec![Rate::zero(); size];
    let mut stiffness = DMatrix::zeros(size, size);
    let mut mass = vec![Rate::zero(); size * size];
    for j in 0..size {
        let mut position = still.clone();
        position[j] = Dual::variable(0.0, 0);
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, &position, &still);
        let mut force = still.clone();
        let mut workspace = InverseDynamics::new(system);
        inverse_dynamics(system, &kinematics, &still, &mut workspace, &mut force);
        for (i, f) in force.iter().enumerate() {
            stiffness[(i, j)] = f.tangent[0];
        }
        mass_matrix(
            system,
            &kinematics,
            &mut CompositeBody::new(system),
            &mut mass,
        );
    }
    let mass = DMatrix::from_fn(size, size, |i, j| mass[i * size + j].value);
    // L⁻¹ K L⁻ᵀ
    let factor = mass.cholesky().unwrap();
    let half = factor.l().solve_lower_triangular(&stiffness).unwrap();
    let standard = factor
        .l()
        .solve_lower_triangular(&half.transpose())
        .unwrap();
    let mut squares: Vec<f64> = SymmetricEigen::new((&standard + standard.transpose()) * 0.5)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    squares.sort_by(f64::total_cmp);
    squares.into_iter().map(|x| x.max(0.0).sqrt()).collect()
}

/// First elastic frequency of a pinned-free beam: the square of the first positive root of
/// $`\tan x = \tanh x`$.
fn pinned_free() -> f64 {
    let mut x: f64 = 3.9;
    for _ in 0..10 {
        let tan = x.tan();
        let tanh = x.tanh();
        x -= (tan - tanh) / (tan * tan + tanh * tanh);
    }
    assert!(
        (x - 3.926_602_31).abs() < 5e-9,
        "the root as tables print it"
    );
    x * x
}

/// Relative error of the first elastic frequency of the hinged beam.
fn error(basis: &str) -> f64 {
    let found = frequencies(&hinged(basis));
    // the square of zero is known to rounding times the largest square, and that to its root
    assert!(found[0] < 1e-4, "it swings freely, {}", found[0]);
    (found[1] / pinned_free() - 1.0).abs()
}

fn observed_order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

/// Asked of twelve clamped-free functions.
const TWELVE_FUNCTIONS: f64 = 1e-8;
/// Observed order of convergence against the theoretical one.
const ORDER: f64 = 0.3;

/// The hinged beam's shape less its rotation satisfies all boundary conditions of the clamped beam, so its
/// coefficients fall like the inverse sixth power of the wave number, and the frequency's error like the
/// inverse seventh power of the number of functions.
#[test]
fn clamped_free_functions_find_the_frequency_of_a_hinged_beam() {
    let with = |count: usize| error(&format!("clamped_free.bending_y = {count}"));
    assert!(with(12) < TWELVE_FUNCTIONS, "{:e}", with(12));
    let order = observed_order(with(8), with(16));
    assert!((order - 7.0).abs() < ORDER, "order {order}");
}

/// The same beam in free-free functions, whose frame floats. The pin holds the beam with a force, which no
/// free-free function has at its end: coefficients fall like the inverse fourth power of the wave number,
/// and the frequency's error like the inverse third power of the number of functions.
#[test]
fn free_free_functions_find_the_frequency_of_a_hinged_beam() {
    let with = |count: usize| error(&format!("free_free.bending_y = {count}"));
    let order = observed_order(with(12), with(24));
    assert!((order - 3.0).abs() < ORDER, "order {order}");
}

/// Cubic elements: order four.
#[test]
fn elements_find_the_frequency_of_a_hinged_beam() {
    let with = |count: usize| error(&format!("elements.count = {count}"));
    let order = observed_order(with(8), with(16));
    assert!((order - 4.0).abs() < ORDER, "order {order}");
}

/// Second implementation: two Hermite elements per link, reduced to the lowest two modes \[Fattah 1995, eqs
/// (3.32)–(3.36)\], of the bars that the thesis's mechanisms are made of; and damping 2ζω of each mode.
#[test]
fn reduced_links_have_the_frequencies_of_two_hermite_elements() {
    // as many digits as the reference gives
    const DIGITS: f64 = 5.1e-6;
    const RATIO: f64 = 0.03;
    for (length, mass, expected) in [
        (0.45, 0.0623, [130.51558, 824.46945]),
        (0.55, 0.0761, [87.39544, 552.07871]),
        (0.8, 0.1108, [41.28766, 260.81496]),
        (1.2, 0.1652, [18.40553, 116.26807]),
    ] {
        let model = built(&hinged_beam(&format!(
            "length_m = {length}\nmass_per_length_kg_per_m = {:e}\nbending_stiffness_y_n_m2 = 7.815\n\
             basis.elements = {{ count = 2, modes = 2 }}\n[body.damping]\nmodal_ratio = {RATIO}",
            mass / length
        )));
        let link = model.linkage.system.bodies()[0].flexible.as_ref().unwrap();
        let found = link.frequencies().unwrap();
        for (mode, (found, expected)) in found.iter().zip(expected).enumerate() {
            let apart = (found - expected).abs();
            assert!(apart < DIGITS, "{length} m: {found}, {expected}");
            // unit modal mass
            let damping = link.damping[mode * 2 + mode];
            assert!((damping / (2.0 * RATIO * found) - 1.0).abs() < 1e-10);
            assert!(link.damping[mode * 2 + 1 - mode].abs() < 1e-10 * found);
        }
    }
}
