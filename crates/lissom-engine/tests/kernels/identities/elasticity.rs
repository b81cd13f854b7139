//! Elastic forces of the quadratic axial strain against its energy, to third order and whole.

use lissom_engine::model::Model;
use lissom_engine::testing::Random;
use lissom_spec::ModelSpec;
use lissom_tree::flex::FlexibleBody;
use lissom_tree::tree::energy;

use super::tools::*;

/// A beam in the ground's frame that bends in both planes and stretches.
fn beam(elasticity: &str) -> Model {
    let text = format!(
        "format = 1\ngravity_m_per_s2 = [0, 0, 0]\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.3\n\
         mass_per_length_kg_per_m = 0.7\nbending_stiffness_y_n_m2 = 20.0\nbending_stiffness_z_n_m2 = 30.0\n\
         axial_stiffness_n = 5e3\nbasis.clamped_free = {{ bending_y = 2, bending_z = 2, stretch = 2 }}\n\
         [[joint]]\nname = \"wall\"\nparent = \"ground\"\nchild = \"beam\"\nfixed = {{}}\n\
         [fidelity]\nelasticity = \"{elasticity}\"\nshortening = \"none\"\n"
    );
    build(&ModelSpec::parse(&text, &[]).unwrap())
}

fn body(model: &Model) -> &FlexibleBody {
    model.linkage.system.bodies()[0].flexible.as_ref().unwrap()
}

fn strain_energy(model: &Model, eta: &[f64]) -> f64 {
    let (system, still) = (&model.linkage.system, vec![0.0; eta.len()]);
    let kinematics = prepared(system, eta, &still);
    energy(system, &kinematics, eta, &still).strain
}

/// $`\int EA\,u'\,\tfrac12(v'^2 + w'^2)\,dx`$ and $`\tfrac12\int EA\,(\tfrac12(v'^2 + w'^2))^2dx`$, point by point.
fn parts(body: &FlexibleBody, eta: &[f64]) -> [f64; 2] {
    let strain = body.strain.as_ref().unwrap();
    let mut sums = [0.0; 2];
    for (slopes, stiffness) in strain.slopes.chunks(eta.len()).zip(&strain.stiffness) {
        let mut slope = [0.0; 3];
        for ((component, s), eta) in strain.component.iter().zip(slopes).zip(eta) {
            slope[component.expect("nothing twists")] += s * eta;
        }
        let [u, v, w] = slope;
        let bent = 0.5 * (v * v + w * w);
        sums[0] += stiffness * u * bent;
        sums[1] += 0.5 * stiffness * bent * bent;
    }
    sums
}

/// Second formulation and numerical differentiation: the energy to third order is the linear one with $`K_1`$'s, the whole
/// one has $`K_2`$'s too, and the forces are their gradients.
#[test]
fn elastic_forces_are_the_gradient_of_the_energy() {
    const ROUNDING: f64 = 1e-12;
    // central differences of a quartic whose derivatives of third order are within some thousands of its forces
    const STEP: f64 = 1e-5;
    const DIFFERENCE: f64 = 1e-6;
    let mut random = Random::new(31);
    let [linear, third, full] = ["linear", "third_order", "full"].map(beam);
    for _ in 0..5 {
        let eta: Vec<f64> = (0..6).map(|_| random.uniform(-0.1, 0.1)).collect();
        let [cubic, quartic] = parts(body(&linear), &eta);
        let quadratic = strain_energy(&linear, &eta);
        let sizes = [quadratic, cubic, quartic].map(f64::abs);
        assert!(
            sizes.iter().all(|size| *size > 1e-3 * sizes[0]),
            "{sizes:?}"
        );
        for (model, expected) in [
            (&third, quadratic + cubic),
            (&full, quadratic + cubic + quartic),
        ] {
            assert_close(
                &[strain_energy(model, &eta)],
                &[expected],
                ROUNDING,
                "energy",
            );
            let system = &model.linkage.system;
            let force = forces(system, &prepared(system, &eta, &[0.0; 6]), &[0.0; 6]);
            let slope = |j: usize| {
                let at = |step: f64| {
                    let mut moved = eta.clone();
                    moved[j] += step;
                    strain_energy(model, &moved)
                };
                (at(STEP) - at(-STEP)) / (2.0 * STEP)
            };
            let slopes: Vec<f64> = (0..6).map(slope).collect();
            assert_close(&force, &slopes, DIFFERENCE, "forces");
        }
    }
}

/// Property: to third order there are bent shapes with less energy than the straight beam, and the more the further they go; all
/// terms together have none.
#[test]
fn the_energy_to_third_order_has_no_lower_bound() {
    let [third, full] = ["third_order", "full"].map(beam);
    let bent = |size: f64| {
        // stretch that bending pulls together
        let mut eta = [size, 0.0, size, 0.0, 0.0, 0.0];
        eta[4] = -0.3 * size * size;
        eta
    };
    let energies = [1.0, 10.0, 100.0].map(|size| strain_energy(&third, &bent(size)));
    assert!(
        energies[1] < 0.0 && energies[2] < 100.0 * energies[1],
        "{energies:?}"
    );
    for size in [1.0, 10.0, 100.0] {
        assert!(strain_energy(&full, &bent(size)) > 0.0);
    }
}
