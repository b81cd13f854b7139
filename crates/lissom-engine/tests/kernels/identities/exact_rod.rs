//! Sections of a beam against a rod that keeps its length, integrated with its curvatures.

use lissom_engine::model::Model;
use lissom_engine::testing::Random;
use lissom_spatial::{Matrix, RotationVector, Vector};
use lissom_spec::ModelSpec;
use lissom_tree::flex::{FlexibleBody, Section};

use super::tools::*;

/// Steps along the rod, so many that nodes of elements are between two of them. The midpoint rule is off by their inverse
/// square, far below the third order that is looked for.
const STEPS: usize = 2400;

const LENGTH: f64 = 1.3;

/// A beam in the ground's frame, with markers inside and at its end.
fn beam(basis: &str) -> Model {
    let text = format!(
        "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = {LENGTH}\nmass_per_length_kg_per_m = 0.7\n\
         bending_stiffness_y_n_m2 = 20.0\nbending_stiffness_z_n_m2 = 30.0\ntorsional_stiffness_n_m2 = 9.0\n\
         section_inertia_y_kg_m = 2e-3\nsection_inertia_z_kg_m = 3e-3\nbasis.{basis}\n\
         [[joint]]\nname = \"wall\"\nparent = \"ground\"\nchild = \"beam\"\nfixed = {{}}\n\
         [[marker]]\nname = \"inside\"\nbody = \"beam\"\nposition_m = [{}, 0, 0]\n[[marker]]\nname = \"end\"\nbody = \"beam\"\n",
        0.6 * LENGTH
    );
    build(&ModelSpec::parse(&text, &[]).unwrap())
}

/// $`\theta = (\phi, -w', v')`$ and $`\theta'`$ at a place, and the displacement of the axis.
fn sections(body: &FlexibleBody, eta: &[f64], x: f64) -> [Vector<f64>; 3] {
    let mut section = Section::new(body.len());
    section.update(body.centreline.as_ref().unwrap(), None, x);
    let [y, z, twist] = &body.second_order.as_ref().unwrap().coordinates;
    let sum = |coordinates: &std::ops::Range<usize>, functions: &[f64]| {
        let own = coordinates.clone();
        own.map(|alpha| eta[alpha] * functions[alpha]).sum::<f64>()
    };
    [
        Vector([
            sum(twist, &section.value),
            -sum(z, &section.slope),
            sum(y, &section.slope),
        ]),
        Vector([
            sum(twist, &section.strain),
            -sum(z, &section.strain),
            sum(y, &section.strain),
        ]),
        Vector([0.0, sum(y, &section.value), sum(z, &section.value)]),
    ]
}

/// Place and orientation at `end` of a rod with $`R' = R\,\theta'^\times`$ and $`r' = R\,e_x`$ that begins where the beam does.
fn rod(body: &FlexibleBody, eta: &[f64], end: f64) -> (Vector<f64>, Matrix<f64>) {
    let step = end / STEPS as f64;
    let [turned, _, mut place] = sections(body, eta, 0.0);
    let mut orientation = RotationVector::new(turned).matrix();
    for i in 0..STEPS {
        let [_, curvature, _] = sections(body, eta, (i as f64 + 0.5) * step);
        let half = RotationVector::new(curvature.scale(0.5 * step)).matrix();
        orientation = orientation * half;
        place += (orientation * Vector([1.0, 0.0, 0.0])).scale(step);
        orientation = orientation * half;
    }
    (place, orientation)
}

/// Distance of places, and angle between orientations, of the markers and the rod.
fn errors(model: &Model, eta: &[f64]) -> [f64; 2] {
    let system = &model.linkage.system;
    let body = system.bodies()[0].flexible.as_ref().unwrap();
    let still = vec![0.0; eta.len()];
    let kinematics = prepared(system, eta, &still);
    let mut largest = [0.0_f64; 2];
    for (at, end) in model.linkage.markers.iter().zip([0.6 * LENGTH, LENGTH]) {
        let (found, _) = marker(system, &kinematics, at, eta, &still);
        let (place, orientation) = rod(body, eta, end);
        let apart = found.pose.translation - place;
        // the vector of a small rotation
        let turned = orientation.transpose() * found.pose.rotation;
        let angle = Vector([
            turned.0[2][1] - turned.0[1][2],
            turned.0[0][2] - turned.0[2][0],
            turned.0[1][0] - turned.0[0][1],
        ])
        .scale(0.5);
        largest[0] = largest[0].max(length(&apart.0));
        largest[1] = largest[1].max(length(&angle.0));
    }
    largest
}

/// Order: places and orientations of the sections differ from those of the rod in third order of the deformation, also where
/// nothing holds the root.
#[test]
fn sections_follow_an_exact_rod_to_second_order() {
    // halving the deformation divides the error by eight, but for what is of fourth order
    const ORDER: f64 = 0.15;
    for basis in [
        "clamped_free = { bending_y = 3, bending_z = 2, torsion = 2 }",
        "clamped_free = { bending_y = 2, bending_z = 2 }",
        "clamped_free = { bending_y = 2, torsion = 2 }",
        "unconstrained = { bending_y = 4, bending_z = 3, torsion = 3 }",
        "elements = { count = 2, bending_z = true, torsion = true }",
    ] {
        let model = beam(basis);
        let size = model.linkage.system.velocity_count();
        let mut random = Random::new(7);
        let direction: Vec<f64> = (0..size).map(|_| random.uniform(-1.0, 1.0)).collect();
        let scaled = |factor: f64| direction.iter().map(|x| x * factor).collect::<Vec<_>>();
        let (coarse, fine) = (errors(&model, &scaled(0.02)), errors(&model, &scaled(0.01)));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = (coarse / fine).log2();
            assert!((order - 3.0).abs() < ORDER, "{basis}: {coarse:e} {fine:e}");
        }
    }
}

/// Limit: the spin of a beam about its axis leaves the frequency of its torsion alone; sections that are turned by
/// $`1 + \theta^\times`$ would grow as they twist, and soften it by half the square of the spin.
#[test]
fn spin_about_the_axis_does_not_soften_torsion() {
    // of a force of third order, in twists of 1e-5
    const THIRD_ORDER: f64 = 1e-9;
    let text = |rotary: bool| {
        format!(
            "format = 1\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = {LENGTH}\nmass_per_length_kg_per_m = 0.7\n\
             torsional_stiffness_n_m2 = 9.0\nsection_inertia_y_kg_m = 2e-3\nsection_inertia_z_kg_m = 2e-3\n\
             rotary_inertia = {rotary}\nbasis.clamped_free = {{ torsion = 2 }}\n\
             [[joint]]\nname = \"shaft\"\nparent = \"ground\"\nchild = \"beam\"\nrevolute = {{ axis = [1, 0, 0] }}\n"
        )
    };
    for rotary in [true, false] {
        let model = build(&ModelSpec::parse(&text(rotary), &[]).unwrap());
        let system = &model.linkage.system;
        let twisted = [0.0, 1e-6, -5e-7];
        let force = |spin: f64| {
            let kinematics = prepared(system, &twisted, &[spin, 0.0, 0.0]);
            forces(system, &kinematics, &[0.0; 3])
        };
        let (still, spinning) = (force(0.0), force(40.0));
        assert!(largest(&still) > 1e-3, "it is twisted");
        assert_close(&spinning, &still, THIRD_ORDER, "forces of torsion");
    }
}
