//! Linearised equations: exact derivatives, closed forms, frequencies.

use lissom_engine::testing::Random;
use lissom_nodal::{Drive, Equations, Role, State};
use lissom_numerics::linear::{DampedMode, Linearization, UndampedModes, unwatched};
use lissom_spatial::Vector;

use super::models::{RotatingBeam, everything, jonker_beam};

/// The beam turning at a constant speed, undeformed.
fn turning(beam: &RotatingBeam, speed: f64) -> Linearization {
    let mut equations = Equations::new(&beam.mechanism).unwrap();
    let still = vec![0.0; beam.mechanism.dof_count()];
    let loads = vec![Vector([0.0; 3]); beam.mechanism.node_count()];
    let drives = [Drive {
        value: 0.3,
        rate: speed,
        acceleration: 0.0,
    }];
    equations
        .linearize(
            &State {
                position: &still,
                velocity: &still,
                acceleration: &still,
                drives: &drives,
                loads: &loads,
            },
            &mut unwatched,
        )
        .unwrap()
}

/// Second implementation: first frequency at rest and at 4 rad/s, with and without the quadratic term;
/// five digits.
#[test]
fn frequencies_of_a_rotating_beam() {
    for (quadratic, speed, wanted, digits) in [
        (true, 0.0, 2.9100, 5e-5),
        (true, 4.0, 3.3478, 5e-5),
        (false, 4.0, 3.2743, 5e-5),
    ] {
        let beam = jonker_beam(4, quadratic, Role::Prescribed);
        let linear = turning(&beam, speed);
        let modes = UndampedModes::new(&linear.mass, &linear.stiffness()).unwrap();
        let found = modes.frequencies()[0];
        assert!((found - wanted).abs() < digits, "{found} {wanted}");
        let zero = linear.damping.clone() * 0.0;
        let damped = DampedMode::all(&linear.mass, &zero, &linear.stiffness()).unwrap();
        // the first-order form loses digits to the highest frequency, then finds them again
        assert!((damped[0].frequency() - found).abs() < 1e-9 * found);
        assert!(damped[0].damping_ratio().abs() < 1e-9);
    }
}

/// Closed forms of the planar unit: N = −ω² M, C = 0, and the inertia about the hub ρAl³/3.
#[test]
fn parts_of_the_stiffness_of_a_rotating_beam() {
    // entries of order 1e2 made of a thousand operations
    const ROUNDING: f64 = 1e-11;
    let beam = jonker_beam(4, true, Role::Prescribed);
    let linear = turning(&beam, 4.0);
    assert!((&linear.dynamic + &linear.mass * 16.0).norm() < ROUNDING);
    assert!(linear.damping.norm() < ROUNDING);
    let hub = jonker_beam(4, true, Role::Actuated);
    let mut equations = Equations::new(&hub.mechanism).unwrap();
    let dofs = hub.mechanism.dof_count();
    let mut mass = vec![0.0; dofs * dofs];
    equations.mass_matrix(&mut mass);
    let wanted = 2766.67 * 7.3e-5 * 512.0 / 3.0;
    assert!((mass[0] - wanted).abs() < 1e-12 * wanted);
}

/// Second way: the matrices are differences of the residual, with every element, damping and motion;
/// and the parts of the stiffness add up to the whole.
#[test]
fn matrices_are_derivatives_of_the_residual() {
    // central differences: truncation h² and rounding ε/h, times stiffness of order 1e4
    const STEP: f64 = 1e-5;
    const DIFFERENCE: f64 = 1e-5;
    const ROUNDING: f64 = 1e-9;
    let mechanism = everything(0.02);
    let mut random = Random::new(8);
    let dofs = mechanism.dof_count();
    let position: Vec<f64> = mechanism
        .assembled_position()
        .iter()
        .map(|x| x + random.signed(0.1))
        .collect();
    let (velocity, acceleration) = (random.list(dofs, 1.0), random.list(dofs, 2.0));
    let loads: Vec<Vector<f64>> = (0..mechanism.node_count())
        .map(|_| Vector(random.vector(3.0)))
        .collect();
    let mut equations = Equations::new(&mechanism).unwrap();
    let state = State {
        position: &position,
        velocity: &velocity,
        acceleration: &acceleration,
        drives: &[],
        loads: &loads,
    };
    let linear = equations.linearize(&state, &mut unwatched).unwrap();
    let whole = equations.tangent_stiffness(&state).unwrap();
    assert!((linear.stiffness() - &whole).norm() < ROUNDING * whole.norm());
    assert!((&linear.geometric - linear.geometric.transpose()).norm() == 0.0);

    let still = vec![0.0; dofs];
    let mut residual = |position: &[f64], velocity: &[f64], acceleration: &[f64]| {
        equations.place(position, &[]).unwrap();
        equations.set_velocity(velocity, &[]);
        equations.set_acceleration(acceleration, &[]);
        let mut residual = vec![0.0; dofs];
        equations.residual(&still, &loads, &mut residual);
        residual
    };
    let shifted = |x: &[f64], i: usize, by: f64| {
        let mut x = x.to_vec();
        x[i] += by;
        x
    };
    for column in 0..dofs {
        for (matrix, which) in [(&whole, 0), (&linear.damping, 1), (&linear.mass, 2)] {
            let [before, after] = [-STEP, STEP].map(|by| {
                let move_if = |x: &[f64], w| {
                    if w == which {
                        shifted(x, column, by)
                    } else {
                        x.to_vec()
                    }
                };
                residual(
                    &move_if(&position, 0),
                    &move_if(&velocity, 1),
                    &move_if(&acceleration, 2),
                )
            });
            for row in 0..dofs {
                let difference = (after[row] - before[row]) / (2.0 * STEP);
                let error = (difference - matrix[(row, column)]).abs();
                assert!(
                    error < DIFFERENCE * (1.0 + matrix.norm()),
                    "{which} {row} {column} {error}"
                );
            }
        }
    }
}
