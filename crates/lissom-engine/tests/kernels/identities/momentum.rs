//! Momentum of trees that float: only gravity and wrenches from outside change it.

use lissom_engine::testing::{Random, Variety};
use lissom_spatial::{Force, Scalar, Vector};
use lissom_tree::tree::{apply_wrench, energy, momentum};

use super::tools::*;

/// Accelerations of badly conditioned trees, summed over all bodies.
const BALANCE: f64 = 1e-10;

/// Mass and centre of mass of all bodies, from the potential energy of gravity along each axis.
fn mass_and_centre(variety: &Variety<'_>, seed: u64, position: &[f64]) -> (f64, Vector<f64>) {
    let mut spec = variety.mechanism(seed);
    let first_moment = std::array::from_fn(|axis| {
        spec.gravity_m_per_s2 = [0.0; 3];
        spec.gravity_m_per_s2[axis] = -1.0;
        let system = build(&spec).linkage.system;
        let still = vec![0.0; system.velocity_count()];
        let kinematics = prepared(&system, position, &still);
        energy(&system, &kinematics, position, &still).gravity
    });
    let system = build(&spec).linkage.system;
    let mass = system.bodies().iter().map(|body| body.rigid.mass).sum();
    (mass, Vector(first_moment).scale(1.0 / mass))
}

#[test]
fn momentum_changes_by_what_acts_from_outside() {
    for (bodies, seed) in [(1, 41), (5, 42), (20, 43)] {
        let variety = Variety {
            floating: true,
            ..Variety::everything(bodies)
        };
        let case = Case::new(&variety, seed);
        let system = case.system();
        let state = &case.state;
        let mut random = Random::new(seed);

        // internal forces everywhere but on the base, and a wrench on a marker of the last body
        let mut force: Vec<f64> = random.list(system.velocity_count(), 20.0);
        force[..6].fill(0.0);
        let mut kinematics = case.kinematics();
        let place = case.model.linkage.markers.last().unwrap();
        let (motion, influence) =
            marker(system, &kinematics, place, &state.position, &state.velocity);
        let point = motion.pose.translation;
        let wrench = Force::new(Vector(random.vector(30.0)), Vector(random.vector(30.0)));
        let body = place.body.unwrap();
        apply_wrench(system, &mut kinematics, body, point, &influence, wrench);
        let acceleration = accelerations(system, &kinematics, &force);

        let (q, v) = in_time(system, &state.position, &state.velocity, &acceleration);
        let rate = momentum(system, &prepared(system, &q, &v), &v);
        let (mass, centre) = mass_and_centre(&variety, seed, &state.position);
        let weight = system.gravity().scale(mass);
        let force = weight + wrench.force;
        let moment = centre.cross(weight) + point.cross(wrench.force) + wrench.moment;
        let tangent = |x: Vector<Rate>| x.0.map(|x| x.tangent[0]);
        let what = |quantity: &str| format!("{quantity} momentum, {}", case.name);
        assert_close(&tangent(rate.force), &force.0, BALANCE, &what("linear"));
        assert_close(&tangent(rate.moment), &moment.0, BALANCE, &what("angular"));

        // linear momentum is the mass times the velocity of its centre
        let centre_at = |step: f64| {
            let rate = position_rates(system, &state.position, &state.velocity);
            let moved: Vec<f64> = state
                .position
                .iter()
                .zip(rate)
                .map(|(q, rate)| q + step * rate)
                .collect();
            mass_and_centre(&variety, seed, &moved).1
        };
        const STEP: f64 = 1e-5;
        // central differences: STEP² and rounding / STEP
        const NUMERICAL: f64 = 1e-8;
        let velocity = (centre_at(STEP) - centre_at(-STEP)).scale(0.5 / STEP);
        let found = momentum(system, &case.kinematics(), &state.velocity).force;
        let what = what("centre of mass and linear");
        assert_close(&velocity.scale(mass).0, &found.0, NUMERICAL, &what);
        assert!(found.dot(found) > f64::zero(), "something moves");
    }
}
