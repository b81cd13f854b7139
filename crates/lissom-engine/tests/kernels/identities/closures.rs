//! Equations of closures between any two places of a random tree.

use lissom_engine::testing::Random;
use lissom_spatial::{Matrix, Quaternion, Real, Transform, Vector};
use lissom_tree::closure::Constraints;
use lissom_tree::tree::Kinematics;
use lissom_tree::{Closure, ClosureEnd, ClosureKind, Marker, Place};

use super::tools::{Case, assert_close, in_time, lift, tangents, trees};

/// Chains of up to thirty bodies, each of which adds some rounding errors.
const ROUNDING: f64 = 1e-11;

/// One closure of every kind between places of random bodies, the ground among them.
fn closures(case: &Case, seed: u64) -> Vec<Closure> {
    let mut random = Random::new(seed);
    let slanted = Vector([0.48, 0.6, 0.64]);
    let square = Vector([0.8, 0.0, -0.6]);
    let kinds = [
        ClosureKind::Fixed,
        ClosureKind::Revolute { axis: slanted },
        ClosureKind::Prismatic { axis: slanted },
        ClosureKind::Universal {
            first: slanted,
            second: square,
        },
        ClosureKind::Spherical,
        ClosureKind::PointOnLine { direction: slanted },
        ClosureKind::Distance { length: 0.7 },
    ];
    let mut end = |ground: bool| {
        let turn = Quaternion::of_rotation_vector(Vector(random.vector(1.0))).matrix();
        let offset = Transform::new(turn, Vector(random.vector(0.2)));
        if ground {
            return ClosureEnd {
                body: None,
                place: Place::Fixed(offset),
            };
        }
        let marker = &case.model.linkage.markers[random.below(case.model.linkage.markers.len())];
        let place = match &marker.place {
            Place::Fixed(pose) => Place::Fixed(*pose * offset),
            Place::Node { index, offset: own } => Place::Node {
                index: *index,
                offset: *own * offset,
            },
        };
        ClosureEnd {
            body: marker.body,
            place,
        }
    };
    kinds
        .into_iter()
        .enumerate()
        .map(|(i, kind)| Closure {
            name: format!("closure_{i}"),
            from: end(i % 3 == 0),
            to: end(i % 3 == 1 && i > 3),
            kind,
        })
        .collect()
}

/// A closure of every kind that slides, on every beam of a tree: at places inside the beam, and wherever another
/// body happens to be.
fn sliding(case: &Case, seed: u64) -> Vec<Closure> {
    let mut random = Random::new(seed);
    let kinematics = case.kinematics();
    let (q, v) = (&case.state.position, &case.state.velocity);
    let both = [true, true];
    let mut closures = Vec::new();
    for (body, flexible) in case.system().bodies().iter().enumerate() {
        let line = flexible
            .flexible
            .as_ref()
            .and_then(|f| f.centreline.as_ref());
        let Some(line) = line else { continue };
        let from = ClosureEnd {
            body: Some(body),
            place: Place::Fixed(Transform::identity()),
        };
        let origin = Marker {
            name: "origin".to_owned(),
            body: from.body,
            place: from.place.clone(),
        };
        let (frame, _) = super::tools::marker(case.system(), &kinematics, &origin, q, v);
        let turn = Quaternion::of_rotation_vector(Vector(random.vector(0.4))).matrix();
        let near = Vector([0.37 * line.length(), 0.02, -0.01]);
        let inside = ClosureEnd {
            body: None,
            place: Place::Fixed(frame.pose * Transform::new(turn, near)),
        };
        let marker = &case.model.linkage.markers[random.below(case.model.linkage.markers.len())];
        let anywhere = ClosureEnd {
            body: marker.body,
            place: marker.place.clone(),
        };
        for (to, kind) in [
            (inside.clone(), ClosureKind::OnBeam { planes: both }),
            (inside.clone(), ClosureKind::AlongBeam { planes: both }),
            (inside, ClosureKind::TwistOfBeam),
            (anywhere.clone(), ClosureKind::OnBeam { planes: both }),
            (anywhere, ClosureKind::TwistOfBeam),
        ] {
            closures.push(Closure {
                name: format!("sliding_{}", closures.len()),
                kind,
                from: from.clone(),
                to,
            });
        }
    }
    closures
}

fn updated<T: Real>(
    case: &Case,
    closures: &[Closure],
    position: &[T],
    velocity: &[T],
) -> Constraints<T> {
    let system = case.system();
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, position, velocity);
    let mut constraints = Constraints::new(system, closures);
    constraints.update(system, closures, &mut kinematics, position, velocity);
    constraints
}

/// Exact derivatives: the rate is the derivative of the residual, the Jacobian gives the rate, the bias is the
/// derivative of the rate when no velocity changes.
#[test]
fn rate_jacobian_and_bias_are_derivatives_of_the_residual() {
    for (i, case) in trees().iter().enumerate() {
        for seed in 0..4 {
            let mut closures = closures(case, 100 * i as u64 + seed);
            closures.extend(sliding(case, seed));
            let system = case.system();
            let (q, v) = (&case.state.position, &case.state.velocity);
            let at_state = updated(case, &closures, &lift::<f64>(q), v);
            let (position, velocity) = in_time(system, q, v, &vec![0.0; v.len()]);
            let in_time = updated(case, &closures, &position, &velocity);

            let what = |quantity: &str| format!("{quantity} of {}, {seed}", case.name);
            assert_close(
                at_state.rate(),
                &tangents(in_time.residual()),
                ROUNDING,
                &what("rate"),
            );
            assert_close(
                at_state.bias(),
                &tangents(in_time.rate()),
                ROUNDING,
                &what("bias"),
            );
            let product: Vec<f64> = (0..at_state.len())
                .map(|row| at_state.row(row).iter().zip(v).map(|(j, v)| j * v).sum())
                .collect();
            assert_close(&product, at_state.rate(), ROUNDING, &what("Jacobian"));
        }
    }
}

/// Closed form: where both frames coincide every residual but the distance is zero, and the rates of the six
/// equations of a weld are the relative twist.
#[test]
fn coinciding_frames_are_closed_and_rates_are_the_relative_twist() {
    let case = &trees()[1];
    let (q, v) = (&case.state.position, &case.state.velocity);
    for mut closure in closures(case, 7) {
        if matches!(closure.kind, ClosureKind::Distance { .. }) {
            continue;
        }
        let marker = &case.model.linkage.markers[0];
        let kinematics = case.kinematics();
        let (motion, _) = super::tools::marker(case.system(), &kinematics, marker, q, v);
        // one end where the other one is
        closure.to = ClosureEnd {
            body: marker.body,
            place: marker.place.clone(),
        };
        closure.from = ClosureEnd {
            body: None,
            place: Place::Fixed(motion.pose),
        };
        let constraints = updated(case, std::slice::from_ref(&closure), &lift::<f64>(q), v);
        assert!(
            constraints.residual().iter().all(|x| x.abs() < ROUNDING),
            "{:?}",
            closure.kind
        );
        let weld = Closure {
            kind: ClosureKind::Fixed,
            ..closure
        };
        let constraints = updated(case, &[weld], &lift::<f64>(q), v);
        let axes: Matrix<f64> = motion.pose.rotation;
        let linear = axes.transpose_mul(motion.twist.linear);
        let angular = axes.transpose_mul(motion.twist.angular);
        let twist = [linear.0, angular.0].concat();
        assert_close(constraints.rate(), &twist, ROUNDING, "relative twist");
    }
}
