//! What has no inertia is found without forming a mass matrix.

use lissom_engine::testing::{Random, Variety, random_state};
use lissom_spec::ModelSpec;
use lissom_tree::tree::{CompositeBody, mass_diagonal, mass_matrix, without_inertia};

use super::tools::*;

/// Sums of the same terms in another order.
const ROUNDING: f64 = 1e-13;

/// Identity: the diagonal is that of the matrix, and whatever has mass everywhere has inertia everywhere.
#[test]
fn the_diagonal_is_that_of_the_mass_matrix() {
    for (bodies, seed) in [(1, 41), (6, 42), (30, 43), (60, 44)] {
        let model = build(&Variety::everything(bodies).mechanism(seed));
        let system = &model.linkage.system;
        let state = random_state(system, &mut Random::new(seed));
        let kinematics = prepared(system, &state.position, &state.velocity);
        let n = system.velocity_count();
        let mut workspace = CompositeBody::new(system);
        let mut matrix = vec![0.0; n * n];
        mass_matrix(system, &kinematics, &mut workspace, &mut matrix);
        let mut diagonal = vec![f64::NAN; n];
        mass_diagonal(system, &kinematics, &mut workspace, &mut diagonal);
        let expected: Vec<f64> = (0..n).map(|at| matrix[at * n + at]).collect();
        assert_close_by_entry(&diagonal, &expected, &expected, ROUNDING, "diagonal");
        assert_eq!(without_inertia(system, &kinematics), None);
    }
}

/// Three bodies on hinges, one metre apart, of these masses and about these axes.
fn chain(masses: [f64; 3], axes: [[f64; 3]; 3], apart_m: f64) -> ModelSpec {
    let links = axes.into_iter().enumerate().map(|(at, axis)| {
        let parent = match at {
            0 => "\"ground\"".to_owned(),
            _ => format!("{{ body = \"b{}\", position_m = [{apart_m:?}, 0.0, 0.0] }}", at - 1),
        };
        format!(
            "[[body]]\nname = \"b{at}\"\nrigid = {{ mass_kg = 1.0, inertia_kg_m2 = [0.1, 0.1, 0.1] }}\n\
             [[joint]]\nname = \"j{at}\"\nparent = {parent}\nchild = \"b{at}\"\nrevolute = {{ axis = {axis:?} }}\n"
        )
    });
    let text = "format = 1\n".to_owned() + &links.collect::<String>();
    let mut spec = ModelSpec::parse(&text, &[]).unwrap();
    // a file may not say so, a universal joint does
    for (body, mass) in spec.body.iter_mut().zip(masses) {
        let rigid = body.rigid.as_mut().unwrap();
        rigid.mass_kg *= mass;
        rigid.inertia_kg_m2 = rigid.inertia_kg_m2.map(|moment| moment * mass);
    }
    spec
}

/// By construction: what carries nothing, and two hinges that turn the same body about the same axis.
#[test]
fn what_moves_no_mass_is_named() {
    const X: [f64; 3] = [1.0, 0.0, 0.0];
    const Z: [f64; 3] = [0.0, 0.0, 1.0];
    for (spec, found) in [
        (chain([1.0, 2.0, 3.0], [Z, Z, X], 1.0), None),
        (chain([1.0, 2.0, 0.0], [Z, Z, Z], 1.0), Some(2)),
        (chain([1.0, 0.0, 0.0], [Z, Z, Z], 1.0), Some(2)),
        // the middle one is nothing but a second hinge in the same place
        (chain([1.0, 0.0, 3.0], [Z, Z, Z], 0.0), Some(1)),
        (chain([1.0, 0.0, 3.0], [X, Z, Z], 0.0), Some(1)),
        (chain([1.0, 0.0, 3.0], [Z, X, Z], 0.0), None),
    ] {
        let model = build(&spec);
        let system = &model.linkage.system;
        let kinematics = prepared(system, &[0.0; 3], &[0.0; 3]);
        assert_eq!(without_inertia(system, &kinematics), found);
        // the same by the eigenvalues of the whole matrix
        let mut matrix = vec![0.0; 9];
        mass_matrix(
            system,
            &kinematics,
            &mut CompositeBody::new(system),
            &mut matrix,
        );
        let eigenvalues = nalgebra::Matrix3::from_row_slice(&matrix).symmetric_eigenvalues();
        let is_singular = eigenvalues.min() < ROUNDING * eigenvalues.max();
        assert_eq!(is_singular, found.is_some());
    }
}
