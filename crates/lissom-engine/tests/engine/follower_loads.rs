//! Loads that turn with the body they act on, and friction, linearised in both formulations.

use lissom_core::study::{Linearized, OperatingPoint};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{LinearError, UndampedModes};
use lissom_spec::ModelSpec;
use nalgebra::DMatrix;

use crate::runs::{nodal_mechanism, tree_mechanism};

/// Beck's column [Beck 1952]: a cantilever under a thrust that stays tangential to its tip, of unit length, mass per length
/// and bending stiffness. The two lowest modes meet at this load, in EI/L², and frequency, in √(EI/ρAL⁴).
const FLUTTER_LOAD: f64 = 20.0510;
const FLUTTER_FREQUENCY: f64 = 11.016;
/// The two lowest frequencies at half of it, from the characteristic equation
/// $`p^2 + 2\omega^2(1 + \cosh a\cos b) + p\,\omega\sinh a\sin b = 0`$, $`a^2, b^2 = \sqrt{p^2/4 + \omega^2} \mp p/2`$.
const FREQUENCIES_AT_HALF: [f64; 2] = [5.1816, 18.576];

/// Finite elements per column, and functions of the tree's basis.
const ELEMENTS: usize = 8;
const FUNCTIONS: usize = 6;

#[derive(Clone, Copy, Debug)]
enum Formulation {
    Tree,
    Nodal,
}

impl Formulation {
    fn linearize(self, spec: &ModelSpec, place: OperatingPoint, times: &[f64]) -> Linearized {
        let mechanism = match self {
            Self::Tree => tree_mechanism(spec),
            Self::Nodal => nodal_mechanism(spec, ELEMENTS),
        };
        let mut watch = |_| Flow::Continue;
        mechanism
            .linearize(&mechanism.start().unwrap(), place, times, &mut watch)
            .unwrap()
    }
}

/// Undamped modes of the column, straight and at rest under a thrust.
fn modes(formulation: Formulation, thrust: f64) -> Result<UndampedModes, LinearError> {
    let text = format!(
        r#"
format = 1
[[body]]
name = "column"
[body.beam]
length_m = 1.0
mass_per_length_kg_per_m = 1.0
bending_stiffness_y_n_m2 = 1.0
basis.clamped_free = {{ bending_y = {FUNCTIONS} }}
[[joint]]
name = "clamp"
parent = "ground"
child = "column"
fixed = {{}}
[[marker]]
name = "tip"
body = "column"
[[input]]
marker = "tip"
direction = [-1.0, 0.0, 0.0]
frame = "body"
force_constant = {{ value_n = {thrust} }}
[simulation]
duration_s = 1.0
"#
    );
    let spec = ModelSpec::parse(&text, &[]).unwrap();
    let found = formulation.linearize(&spec, OperatingPoint::Start, &[]);
    let linear = &found.trajectory.points()[0].linear;
    // nothing damps it, and it stays straight
    assert_eq!(linear.damping.amax(), 0.0);
    assert_eq!(
        found.trajectory.points()[0].excitation.iter().sum::<f64>(),
        0.0
    );
    UndampedModes::new(&linear.mass, &linear.stiffness())
}

/// The largest load without complex eigenvalues, and the frequency at which the two lowest modes meet there.
fn flutter(formulation: Formulation) -> [f64; 2] {
    let (mut below, mut above) = (10.0, 30.0);
    let mut crossing = f64::NAN;
    for _ in 0..40 {
        let middle = 0.5 * (below + above);
        match modes(formulation, middle) {
            Ok(modes) => {
                below = middle;
                crossing = 0.5 * (modes.squares[0] + modes.squares[1]);
            }
            Err(LinearError::Flutter) => above = middle,
            Err(error) => panic!("{error}"),
        }
    }
    [below, crossing.sqrt()]
}

/// Closed form: Beck's column flutters at its load with its frequency, and vibrates as it should at half of the load.
#[test]
fn becks_column_flutters_in_both_formulations() {
    // error of the discretisation, of fourth order in the length of an element
    const LOAD: f64 = 0.02;
    const FREQUENCY: f64 = 2e-3;
    for formulation in [Formulation::Tree, Formulation::Nodal] {
        let [load, frequency] = flutter(formulation);
        assert!(
            (load - FLUTTER_LOAD).abs() < LOAD,
            "{formulation:?}: {load}"
        );
        assert!(
            (frequency - FLUTTER_FREQUENCY).abs() < FREQUENCY * FLUTTER_FREQUENCY,
            "{formulation:?}: {frequency}"
        );
        let at_half = modes(formulation, 0.5 * FLUTTER_LOAD)
            .unwrap()
            .frequencies();
        for (found, wanted) in at_half.iter().zip(FREQUENCIES_AT_HALF) {
            assert!(
                (found - wanted).abs() < FREQUENCY * wanted,
                "{formulation:?}: {found} {wanted}"
            );
        }
    }
}

/// Two rigid links in space with friction, driven along a motion of the rigid arm, under loads that turn with the hand.
const ARM: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "upper"
rigid = { mass_kg = 2.0, center_of_mass_m = [0.5, 0.0, 0.1], inertia_kg_m2 = [0.02, 0.2, 0.2] }
node = [{ name = "elbow", position_m = [1.0, 0.0, 0.0] }]
[[body]]
name = "fore"
rigid = { mass_kg = 1.0, center_of_mass_m = [0.3, 0.1, 0.0], inertia_kg_m2 = [0.01, 0.1, 0.1] }
node = [{ name = "hand", position_m = [0.7, 0.0, 0.0] }]
[[joint]]
name = "shoulder"
parent = "ground"
child = "upper"
[joint.revolute]
axis = [0, 0, 1]
friction = { coulomb_n_m = 2.0, coulomb_rate_rad_per_s = 0.5, viscous_n_m_s_per_rad = 0.3 }
[[joint]]
name = "elbow"
parent = { body = "upper", at = "elbow" }
child = "fore"
[joint.revolute]
axis = [0, 1, 1]
initial_angle_rad = 0.6
friction = { coulomb_n_m = 1.0, coulomb_rate_rad_per_s = 0.5 }
[[marker]]
name = "hand"
body = "fore"
at = "hand"
[[input]]
joint = "shoulder"
rigid_inverse_dynamics.cycloid = { final_angle_rad = 1.2, duration_s = 1.0 }
[[input]]
joint = "elbow"
rigid_inverse_dynamics.cycloid = { final_angle_rad = -0.8, duration_s = 1.0 }
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
[simulation]
duration_s = 1.0
"#;

/// A rigid four-bar that moves, with friction, a rotor and a torque on the joint of its rocker, which follows from the crank's.
const FOUR_BAR: &str = r#"
format = 1
gravity_m_per_s2 = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
rigid = { mass_kg = 0.3, center_of_mass_m = [0.1, 0.0, 0.0], inertia_kg_m2 = [1e-4, 1e-3, 1e-3] }
node = [{ name = "pin", position_m = [0.2, 0.0, 0.0] }]
[[body]]
name = "coupler"
rigid = { mass_kg = 0.2, center_of_mass_m = [0.3, 0.0, 0.0], inertia_kg_m2 = [1e-4, 5e-3, 5e-3] }
node = [{ name = "pin", position_m = [0.6, 0.0, 0.0] }]
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
initial_rate_rad_per_s = 3.0
held = true
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
parent = { body = "coupler", at = "pin" }
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
marker = "middle"
direction = [1.0, 2.0, 0.0]
frame = "body"
force_constant = { value_n = 6.0 }
[simulation]
duration_s = 1.0
"#;

/// Second formulation: rigid mechanisms have the same coordinates in both, and the same matrices, part by part, and inputs.
#[test]
fn linear_models_of_rigid_mechanisms_agree() {
    // matrices of order 100, closures of 1e-10
    const ROUNDING: f64 = 1e-7;
    for (text, place, times) in [
        (ARM, OperatingPoint::Nominal, &[0.3, 0.7][..]),
        (FOUR_BAR, OperatingPoint::Start, &[]),
    ] {
        let spec = ModelSpec::parse(text, &[]).unwrap();
        let [tree, nodal] = [Formulation::Tree, Formulation::Nodal]
            .map(|formulation| formulation.linearize(&spec, place, times).trajectory);
        assert_eq!(tree.labels().coordinates, nodal.labels().coordinates);
        for (a, b) in tree.points().iter().zip(nodal.points()) {
            let apart = |of: fn(&lissom_numerics::linear::Linearization) -> &DMatrix<f64>| {
                (of(&a.linear) - of(&b.linear)).amax()
            };
            assert!(apart(|linear| &linear.mass) < ROUNDING);
            assert!(apart(|linear| &linear.damping) < ROUNDING);
            assert!(apart(|linear| &linear.structural) < ROUNDING);
            assert!(apart(|linear| &linear.geometric) < ROUNDING);
            assert!(apart(|linear| &linear.dynamic) < ROUNDING);
            assert_eq!(a.input.len(), b.input.len());
            for (a, b) in a.input.iter().zip(&b.input) {
                assert!((a - b).abs() < ROUNDING, "{a} {b}");
            }
        }
    }
}
