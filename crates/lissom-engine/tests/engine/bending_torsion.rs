//! Geometric coupling of bending and torsion: lateral buckling, vibrations of arms that sag in space, motion of chains.

use std::fmt::Write;

use lissom_core::study::OperatingPoint;
use lissom_engine::Mechanism;
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::Linearization;
use lissom_spec::{ModelSpec, ShorteningTerms};
use nalgebra::{DMatrix, SymmetricEigen};

use crate::models::parsed;
use crate::runs::{completed, in_tree, nodal_mechanism, samples, tree_mechanism};

/// The equations about the rest under all loads.
fn at_rest(mechanism: &Mechanism) -> Linearization {
    let watch = &mut |_| Flow::Continue;
    let found = mechanism.linearize(
        &mechanism.written(),
        OperatingPoint::Equilibrium,
        &[],
        watch,
    );
    found.unwrap().trajectory.points()[0].linear.clone()
}

/// Squares of the natural frequencies about the rest, in rising order.
fn squares(mechanism: &Mechanism) -> Vec<f64> {
    let linear = at_rest(mechanism);
    let factor = linear.mass.clone().cholesky().unwrap().l();
    let lower = |m: &DMatrix<f64>| factor.solve_lower_triangular(m).unwrap();
    let standard = lower(&lower(&linear.stiffness()).transpose());
    let symmetric = (&standard + standard.transpose()) * 0.5;
    let mut squares: Vec<f64> = (SymmetricEigen::new(symmetric).eigenvalues.iter())
        .copied()
        .collect();
    squares.sort_by(f64::total_cmp);
    squares
}

const LENGTH: f64 = 1.5;
/// Weak bending and torsional stiffness; those of strong bending are [`STRONG`] times as large.
const WEAK: f64 = 20.0;
const TORSIONAL: f64 = 12.0;
const STRONG: f64 = 4000.0;

/// A narrow cantilever of `parts` equal beams with a dead load at the centroid of its tip, across the weak plane.
fn narrow_cantilever(basis: &str, parts: usize, load: f64) -> ModelSpec {
    let mut text = "format = 1\ngravity_m_per_s2 = [0, 0, 0]\n".to_owned();
    for part in 1..=parts {
        let parent = match part {
            1 => "ground".to_owned(),
            _ => format!("part_{}", part - 1),
        };
        write!(
            text,
            "[[body]]\nname = \"part_{part}\"\n[body.beam]\nlength_m = {}\nmass_per_length_kg_per_m = 0.8\n\
             bending_stiffness_y_n_m2 = {WEAK}\nbending_stiffness_z_n_m2 = {}\ntorsional_stiffness_n_m2 = {TORSIONAL}\n\
             section_inertia_y_kg_m = 1e-5\nsection_inertia_z_kg_m = 1e-3\nbasis.{basis}\n\
             [[joint]]\nname = \"joint_{part}\"\nparent = \"{parent}\"\nchild = \"part_{part}\"\nfixed = {{}}\n",
            LENGTH / parts as f64,
            STRONG * WEAK,
        ).unwrap();
    }
    write!(
            text,
        "[[marker]]\nname = \"tip\"\nbody = \"part_{parts}\"\n[[input]]\nmarker = \"tip\"\ndirection = [0, 0, -1]\n\
         force_constant = {{ value_n = {load} }}\n"
    ).unwrap();
    parsed(&text)
}

/// The load at which the lowest frequency vanishes, in $`\sqrt{EI\,GJ}/L^2`$. Its square is nearly linear in the square of the
/// load, so that secants find it.
fn buckling_load(lowest: impl Fn(f64) -> f64) -> f64 {
    let unit = (WEAK * TORSIONAL).sqrt() / (LENGTH * LENGTH);
    let at = |square: f64| (square, lowest(square.sqrt() * unit));
    let (mut before, mut last) = (at(9.0), at(18.0));
    assert!(before.1 > 0.0 && last.1 < 0.0, "{before:?} {last:?}");
    for _ in 0..6 {
        let slope = (last.1 - before.1) / (last.0 - before.0);
        (before, last) = (last, at(last.0 - last.1 / slope));
        if (last.0 - before.0).abs() < 1e-6 * last.0 {
            break;
        }
    }
    last.0.sqrt()
}

fn in_functions(count: usize) -> String {
    format!("clamped_free = {{ bending_y = {count}, bending_z = {count}, torsion = {count} }}")
}

/// Closed form: a narrow cantilever under a dead load at the centroid of its tip buckles sideways at
/// $`4.0126\sqrt{EI\,GJ}/L^2`$, the first root of $`J_{-1/4}(x/2) = 0`$ \[Timoshenko & Gere, Theory of Elastic Stability,
/// section 6.3\]. The same functions in the energy $`\tfrac12\int(EI\,v''^2 + GJ\phi'^2) + P\int(L-x)\phi v''`$ give 4.040 with
/// two of each and 4.015 with four.
#[test]
fn a_narrow_cantilever_buckles_sideways() {
    const EXACT: f64 = 4.0126;
    // the strong bending before buckling changes the load by about EI/EI_strong, and the digits given
    const DIGITS: f64 = 1e-3;
    let tree = |basis: &str, parts: usize| {
        buckling_load(|load| squares(&tree_mechanism(&narrow_cantilever(basis, parts, load)))[0])
    };
    let two = tree(&in_functions(2), 1);
    assert!((two - 4.040).abs() < DIGITS, "{two}");
    let four = tree(&in_functions(4), 1);
    assert!((four - 4.015).abs() < DIGITS, "{four}");

    // elements, which are exact under a load at the tip but for the twist, and bodies that divide the beam
    const HUNDREDTH: f64 = 0.01;
    for (count, parts) in [(8, 1), (3, 3)] {
        let basis = format!("elements = {{ count = {count}, bending_z = true, torsion = true }}");
        let found = tree(&basis, parts);
        assert!((found / EXACT - 1.0).abs() < HUNDREDTH, "{parts}: {found}");
    }
    let nodal = buckling_load(|load| {
        squares(&nodal_mechanism(
            &narrow_cantilever(&in_functions(1), 1, load),
            8,
        ))[0]
    });
    assert!((nodal / EXACT - 1.0).abs() < HUNDREDTH, "{nodal}");
}

/// Two links of elements at an angle with a payload to one side, held at the root, under a gravity that bends and twists
/// both.
fn crooked_arm(torsion: bool) -> ModelSpec {
    let mut text = "format = 1\ngravity_m_per_s2 = [0, 3.9, -9.81]\n".to_owned();
    let places = [
        ("lower", "\"ground\"", "[0, 0, 0]"),
        ("upper", "\"lower\"", "[0.3, -0.4, 1.3]"),
    ];
    let twist = if torsion {
        "torsional_stiffness_n_m2 = 260.0\nsection_inertia_y_kg_m = 1e-4\nsection_inertia_z_kg_m = 2e-4\n"
    } else {
        ""
    };
    for (link, parent, turned) in places {
        write!(
            text,
            "[[body]]\nname = \"{link}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 0.5\n\
             bending_stiffness_y_n_m2 = 420.0\nbending_stiffness_z_n_m2 = 640.0\n{twist}\
             basis.elements = {{ count = 4, bending_z = true, torsion = {torsion} }}\n\
             [[joint]]\nname = \"{link}_root\"\nparent = {{ body = {parent}, rotation_vector_rad = {turned} }}\n\
             child = \"{link}\"\nfixed = {{}}\n"
        ).unwrap();
    }
    text += "[[payload]]\nname = \"load\"\nbody = \"upper\"\nmass_kg = 0.4\ncenter_of_mass_m = [0.05, 0.15, 0.1]\n\
             inertia_kg_m2 = [0.01, 0.012, 0.014]\n";
    parsed(&text)
}

/// Two formulations: an arm that sags with slopes of a hundredth vibrates alike, also where nothing lets it twist. Without the
/// coupling of bending and torsion its frequencies are 0.2 %, and 0.06 % where it cannot twist, apart.
#[test]
fn arms_that_sag_in_space_vibrate_alike() {
    const AGREEMENT: f64 = 1e-4;
    const FREQUENCIES: usize = 6;
    let apart = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b).take(FREQUENCIES);
        (pairs.map(|(a, b)| ((a / b).sqrt() - 1.0).abs())).fold(0.0, f64::max)
    };
    for torsion in [true, false] {
        let spec = crooked_arm(torsion);
        let tree = tree_mechanism(&spec);
        let rest = tree.equilibrium(&tree.written()).unwrap();
        let slopes = [
            "lower.v_slope_5",
            "lower.w_slope_5",
            "upper.v_slope_5",
            "upper.w_slope_5",
        ]
        .map(|slope| samples(&rest.recording, slope)[0]);
        let largest = slopes.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!((0.003..0.01).contains(&largest), "{slopes:?}");

        let found = squares(&tree);
        let nodes = squares(&nodal_mechanism(&spec, 4));
        let difference = apart(&found, &nodes);
        assert!(difference < AGREEMENT, "{torsion}: {difference:e}");
        let mut uncoupled = spec.clone();
        uncoupled.fidelity.shortening = Some(ShorteningTerms::SecondOrder);
        let difference = apart(&squares(&tree_mechanism(&uncoupled)), &nodes);
        assert!(difference > 5.0 * AGREEMENT, "{torsion}: {difference:e}");
    }
}

/// Conservation: a chain that bends, twists and spins in space keeps its energy and its momentum.
#[test]
fn a_spinning_chain_keeps_energy_and_momentum() {
    // of a relative tolerance of 1e-10 over some thousand steps, in parts of the peaks
    const KEPT: f64 = 1e-7;
    let mut text = "format = 1\ngravity_m_per_s2 = [0, 0, 0]\n".to_owned();
    let joints = [
        "[joint.free]\ninitial_angular_velocity_rad_per_s = [3.0, 1.5, -2.0]",
        "[joint.revolute]\naxis = [0.3, 0.8, 0.2]\ninitial_angle_rad = 0.7\ninitial_rate_rad_per_s = -2.0",
    ];
    for (i, joint) in joints.into_iter().enumerate() {
        let parent = ["ground", "link_0"][i];
        write!(
            text,
            "[[body]]\nname = \"link_{i}\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 0.5\n\
             bending_stiffness_y_n_m2 = 1.0\nbending_stiffness_z_n_m2 = 0.7\ntorsional_stiffness_n_m2 = 0.3\n\
             section_inertia_y_kg_m = 2e-3\nsection_inertia_z_kg_m = 3e-3\n\
             basis.clamped_free = {{ bending_y = 2, bending_z = 2, torsion = 1 }}\n\
             [[joint]]\nname = \"joint_{i}\"\nparent = \"{parent}\"\nchild = \"link_{i}\"\n{joint}\n"
        ).unwrap();
    }
    text += "[simulation]\nduration_s = 2.0\nintegrator.dop853 = { rtol = 1e-10, atol = 1e-12 }\n";
    let run = completed(in_tree(&parsed(&text)));
    let momentum = run.audit.momentum.as_ref().unwrap();
    let energy = &run.audit.energy;
    assert!(momentum.linear_drift_kg_m_per_s < KEPT, "{momentum:?}");
    assert!(momentum.angular_drift_kg_m2_per_s < KEPT, "{momentum:?}");
    assert!(energy.max_drift_percent < 100.0 * KEPT, "{energy:?}");
    // it twists and bends so that second order counts
    let largest = |channel: &str| {
        let values = samples(&run.recording, channel).iter();
        values.fold(0.0_f64, |a, b| a.max(b.abs()))
    };
    for channel in [
        "link_0.torsion_1",
        "link_0.bending_y_1",
        "link_1.bending_z_1",
    ] {
        assert!(largest(channel) > 1e-3, "{channel}");
    }
}

/// Symmetry: turning the section of a beam by a right angle about its axis, with its stiffness and the loads, turns the motion.
#[test]
fn section_axes_may_be_chosen() {
    const ROUNDING: f64 = 1e-9;
    let rest = |turned: bool| {
        let (stiffness, inertia, root) = if turned {
            ([50.0, 30.0], [3e-4, 2e-4], std::f64::consts::FRAC_PI_2)
        } else {
            ([30.0, 50.0], [2e-4, 3e-4], 0.0)
        };
        let text = format!(
            "format = 1\ngravity_m_per_s2 = [0, 0, 0]\n[[body]]\nname = \"beam\"\n[body.beam]\nlength_m = 1.0\n\
             mass_per_length_kg_per_m = 0.5\nbending_stiffness_y_n_m2 = {}\nbending_stiffness_z_n_m2 = {}\n\
             torsional_stiffness_n_m2 = 10.0\nsection_inertia_y_kg_m = {}\nsection_inertia_z_kg_m = {}\n\
             basis.clamped_free = {{ bending_y = 3, bending_z = 3, torsion = 3 }}\n\
             [[joint]]\nname = \"wall\"\nparent = {{ body = \"ground\", rotation_vector_rad = [{root}, 0, 0] }}\n\
             child = \"beam\"\nfixed = {{}}\n[[body]]\nname = \"arm\"\nrigid = {{ mass_kg = 0.1, inertia_kg_m2 = [1e-3, 1e-3, 1e-3] }}\n\
             [[joint]]\nname = \"elbow\"\nparent = {{ body = \"beam\", rotation_vector_rad = [{}, 0, 0] }}\n\
             child = \"arm\"\nfixed = {{}}\n[[marker]]\nname = \"hand\"\nbody = \"arm\"\nposition_m = [0.1, 0.3, 0.2]\n\
             [[input]]\nmarker = \"hand\"\ndirection = [0.2, 1.0, -0.7]\nforce_constant = {{ value_n = 9.0 }}\n",
            stiffness[0], stiffness[1], inertia[0], inertia[1], -root
        );
        let mechanism = tree_mechanism(&parsed(&text));
        let rest = mechanism.equilibrium(&mechanism.written()).unwrap();
        ["x", "y", "z"].map(|axis| samples(&rest.recording, &format!("hand.position.{axis}"))[0])
    };
    let (plain, turned) = (rest(false), rest(true));
    for (a, b) in plain.iter().zip(turned) {
        assert!((a - b).abs() < ROUNDING, "{plain:?} {turned:?}");
    }
}
