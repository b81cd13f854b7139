//! One mechanism, written in two ways, accelerates in one way.

use lissom_engine::model::Model;
use lissom_engine::testing::{Random, Variety, random_state};
use lissom_spatial::{Quaternion, RotationVector, Transform, Vector, rotation_vector_of};
use lissom_spec::ModelSpec;
use lissom_spec::spec::{
    AttachmentSpec, BasisSpec, BeamSpec, BodySpec, ElementsSpec, FixedSpec, FreeSpec, JointSpec,
    MarkerSpec, ModeCounts, PayloadSpec, PointMassSpec, PrismaticSpec, RevoluteMotorSpec,
    RevoluteSpec, RigidSpec, SphericalSpec, UniversalSpec,
};

use super::tools::*;

/// Accelerations of badly conditioned trees, computed from rounded data.
const CONDITIONED: f64 = 1e-9;
/// The same mechanism with bodies split or joined; condition numbers are moderate.
const SAME_MECHANISM: f64 = 1e-10;
/// Mass of a body that only connects two joints, in kilograms, and its moments of inertia.
const NEARLY_NOTHING: f64 = 1e-15;

/// Turning and moving ground and gravity together changes no acceleration, and carries markers along.
#[test]
fn accelerations_do_not_depend_on_where_the_ground_is() {
    for (bodies, seed) in [(6, 71), (30, 72)] {
        let spec = Variety::everything(bodies).mechanism(seed);
        let mut random = Random::new(seed);
        let turn = RotationVector::new(Vector(random.vector(1.5))).matrix();
        let moved = Transform::new(turn, Vector(random.vector(3.0)));
        let mut turned = spec.clone();
        turned.gravity_m_per_s2 = (turn * Vector(spec.gravity_m_per_s2)).0;
        for joint in turned.joint.iter_mut().filter(|j| j.parent.is_ground()) {
            let own = RotationVector::new(Vector(joint.parent.rotation_vector_rad)).matrix();
            joint.parent.rotation_vector_rad = rotation_vector_of(&(turn * own)).0;
            let position = Vector(joint.parent.position_m.unwrap());
            joint.parent.position_m = Some(moved.point(position).0);
        }
        let models = [build(&spec), build(&turned)];
        let state = random_state(&models[0].linkage.system, &mut random);
        let force = random.list(models[0].linkage.system.velocity_count(), 10.0);
        let [here, there] = models.each_ref().map(|model| {
            let kinematics = prepared(&model.linkage.system, &state.position, &state.velocity);
            let last = model.linkage.markers.last().unwrap();
            let (motion, _) = marker(
                &model.linkage.system,
                &kinematics,
                last,
                &state.position,
                &state.velocity,
            );
            let point = motion.pose.translation;
            (
                accelerations(&model.linkage.system, &kinematics, &force),
                point,
            )
        });
        let what = format!("accelerations of {bodies} bodies");
        assert_same(&there.0, &here.0, CONDITIONED, &what);
        let expected = moved.point(here.1).0;
        assert_same(&there.1.0, &expected, SAME_MECHANISM, "marker");
    }
}

/// Asserts that accelerations agree, small ones beside large ones.
#[track_caller]
fn assert_same(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let scale: Vec<f64> = expected.iter().map(|x| 1.0 + x.abs()).collect();
    assert_close_by_entry(found, expected, &scale, tolerance, what);
}

fn joint(name: &str, parent: AttachmentSpec, child: &str) -> JointSpec {
    JointSpec {
        name: name.to_owned(),
        parent,
        child: AttachmentSpec::new(child),
        ..JointSpec::default()
    }
}

fn revolute(axis: [f64; 3]) -> RevoluteSpec {
    RevoluteSpec {
        axis,
        ..RevoluteSpec::default()
    }
}

fn rigid(name: &str, rigid: RigidSpec) -> BodySpec {
    BodySpec {
        name: name.to_owned(),
        rigid: Some(rigid),
        ..BodySpec::default()
    }
}

fn flexible(name: &str, basis: BasisSpec) -> BodySpec {
    BodySpec {
        name: name.to_owned(),
        beam: Some(BeamSpec {
            length_m: Some(1.3),
            section: None,
            material: None,
            mass_per_length_kg_per_m: Some(0.8),
            bending_stiffness_y_n_m2: Some(30.0),
            bending_stiffness_z_n_m2: Some(40.0),
            axial_stiffness_n: Some(3e3),
            torsional_stiffness_n_m2: Some(9.0),
            section_inertia_y_kg_m: 2e-3,
            section_inertia_z_kg_m: 3e-3,
            segments: Vec::new(),
            rotary_inertia: true,
            basis,
        }),
        ..BodySpec::default()
    }
}

fn modes() -> BasisSpec {
    BasisSpec::ClampedFree(ModeCounts {
        bending_y: 2,
        bending_z: 2,
        stretch: 1,
        torsion: 1,
        ..ModeCounts::default()
    })
}

/// A body that only connects two joints.
fn connector(name: &str) -> BodySpec {
    let spec = RigidSpec {
        mass_kg: NEARLY_NOTHING,
        inertia_kg_m2: [NEARLY_NOTHING; 3],
        ..RigidSpec::default()
    };
    rigid(name, spec)
}

fn model(body: Vec<BodySpec>, joint: Vec<JointSpec>) -> ModelSpec {
    ModelSpec {
        gravity_m_per_s2: [1.0, -9.0, 3.0],
        body,
        joint,
        ..ModelSpec::default()
    }
}

/// Accelerations in a state under forces.
fn response(model: &Model, position: &[f64], velocity: &[f64], force: &[f64]) -> Vec<f64> {
    let kinematics = prepared(&model.linkage.system, position, velocity);
    accelerations(&model.linkage.system, &kinematics, force)
}

#[test]
fn a_rigid_body_split_by_a_fixed_joint_moves_the_same() {
    let cut = [0.4, -0.1, 0.2];
    let turn = [0.3, 0.8, -0.5];
    let near = RigidSpec {
        mass_kg: 1.5,
        center_of_mass_m: [0.2, 0.1, -0.1],
        inertia_kg_m2: [0.03, 0.05, 0.06],
        products_of_inertia_kg_m2: [0.004, -0.002, 0.003],
    };
    let far = RigidSpec {
        mass_kg: 0.7,
        center_of_mass_m: [0.1, -0.3, 0.2],
        inertia_kg_m2: [0.02, 0.04, 0.05],
        products_of_inertia_kg_m2: [-0.001, 0.002, 0.001],
    };
    let at_tip = |at: Option<[f64; 3]>, rotation: [f64; 3]| AttachmentSpec {
        position_m: at,
        rotation_vector_rad: rotation,
        ..AttachmentSpec::new("near")
    };
    // in two pieces
    let mut hinge = joint("hinge", AttachmentSpec::new("arm"), "near");
    hinge.spherical = Some(SphericalSpec::default());
    let mut shoulder = joint("shoulder", AttachmentSpec::new("ground"), "arm");
    shoulder.revolute = Some(revolute([0.2, 1.0, 0.3]));
    let mut weld = joint("weld", at_tip(Some(cut), turn), "far");
    weld.fixed = Some(FixedSpec {});
    let split = model(
        vec![
            flexible("arm", modes()),
            rigid("near", near.clone()),
            rigid("far", far.clone()),
        ],
        vec![shoulder.clone(), hinge.clone(), weld],
    );
    // in one, with the far piece's tensor turned into the axes of the near one
    let rotation = RotationVector::new(Vector(turn)).matrix();
    let [xx, yy, zz] = far.inertia_kg_m2;
    let [xy, xz, yz] = far.products_of_inertia_kg_m2;
    let tensor = lissom_spatial::Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    let tensor = (rotation * tensor * rotation.transpose()).0;
    let payload = PayloadSpec {
        name: "far".to_owned(),
        body: "near".to_owned(),
        position_m: Some(cut),
        mass_kg: far.mass_kg,
        center_of_mass_m: (rotation * Vector(far.center_of_mass_m)).0,
        inertia_kg_m2: [tensor[0][0], tensor[1][1], tensor[2][2]],
        products_of_inertia_kg_m2: [tensor[0][1], tensor[0][2], tensor[1][2]],
        ..PayloadSpec::default()
    };
    let whole = ModelSpec {
        payload: vec![payload],
        ..model(
            vec![flexible("arm", modes()), rigid("near", near)],
            vec![shoulder, hinge],
        )
    };
    let models = [build(&split), build(&whole)];
    let mut random = Random::new(73);
    let state = random_state(&models[0].linkage.system, &mut random);
    let force = random.list(models[0].linkage.system.velocity_count(), 5.0);
    let [found, expected] = models
        .each_ref()
        .map(|model| response(model, &state.position, &state.velocity, &force));
    assert_same(&found, &expected, SAME_MECHANISM, "split body");
}

/// Mass at the tip of a beam: part of its integrals, a payload, or a body of its own.
#[test]
fn a_tip_mass_counts_the_same_in_three_ways() {
    let elements = BasisSpec::Elements(ElementsSpec {
        count: Some(2),
        ..ElementsSpec::default()
    });
    for basis in [modes(), elements] {
        let mut shoulder = joint("shoulder", AttachmentSpec::new("ground"), "arm");
        shoulder.revolute = Some(revolute([0.2, 1.0, 0.3]));
        let bare = model(vec![flexible("arm", basis)], vec![shoulder]);
        let mut integrated = bare.clone();
        integrated.body[0].point_mass.push(PointMassSpec {
            at: Some("tip".to_owned()),
            mass_kg: 0.6,
            ..PointMassSpec::default()
        });
        let mut carried = bare.clone();
        carried.payload.push(PayloadSpec {
            name: "tool".to_owned(),
            body: "arm".to_owned(),
            mass_kg: 0.6,
            ..PayloadSpec::default()
        });
        let mut welded = bare.clone();
        let tool = RigidSpec {
            mass_kg: 0.6,
            ..RigidSpec::default()
        };
        welded.body.push(rigid("tool", tool));
        let mut weld = joint("weld", AttachmentSpec::new("arm"), "tool");
        weld.fixed = Some(FixedSpec {});
        welded.joint.push(weld);

        let models = [&integrated, &carried, &welded].map(build);
        let mut random = Random::new(74);
        let state = random_state(&models[0].linkage.system, &mut random);
        let force = random.list(models[0].linkage.system.velocity_count(), 5.0);
        let [by_integrals, by_payload, by_body] = models
            .each_ref()
            .map(|model| response(model, &state.position, &state.velocity, &force));
        assert_same(&by_payload, &by_integrals, SAME_MECHANISM, "payload");
        assert_same(&by_body, &by_integrals, SAME_MECHANISM, "welded body");
        let light = build(&bare);
        let without = response(&light, &state.position, &state.velocity, &force);
        assert!(
            difference(&without, &by_integrals) > 1e-2,
            "the mass matters"
        );
    }
}

#[test]
fn a_universal_joint_is_two_revolute_ones() {
    let axes = [[1.0, 0.2, 0.1], [-0.3, 1.0, 0.2]];
    let place = AttachmentSpec {
        rotation_vector_rad: [0.4, -0.3, 0.9],
        ..AttachmentSpec::new("base")
    };
    let mut shoulder = joint("shoulder", AttachmentSpec::new("ground"), "base");
    shoulder.revolute = Some(revolute([0.2, 1.0, 0.3]));
    // only the first rotation has a motor
    let driven = RevoluteSpec {
        motor: Some(RevoluteMotorSpec {
            inertia_kg_m2: 1e-4,
            gear_ratio: 80.0,
            stiffness_n_m_per_rad: None,
            damping_n_m_s_per_rad: 0.0,
        }),
        ..revolute(axes[0])
    };
    let mut universal = joint("elbow", place.clone(), "arm");
    universal.universal = Some(UniversalSpec {
        first: driven.clone(),
        second: revolute(axes[1]),
    });
    let mut first = joint("first", place, "cross");
    first.revolute = Some(driven);
    let mut second = joint("second", AttachmentSpec::new("cross"), "arm");
    second.revolute = Some(revolute(axes[1]));
    let bodies = vec![flexible("base", modes()), flexible("arm", modes())];
    let mut with_cross = bodies.clone();
    with_cross.push(connector("cross"));
    let models = [
        build(&model(bodies, vec![shoulder.clone(), universal])),
        build(&model(with_cross, vec![shoulder, first, second])),
    ];
    let mut random = Random::new(75);
    let state = random_state(&models[0].linkage.system, &mut random);
    let force = random.list(models[0].linkage.system.velocity_count(), 5.0);
    let [by_one, by_two] = models
        .each_ref()
        .map(|model| response(model, &state.position, &state.velocity, &force));
    assert_same(&by_two, &by_one, SAME_MECHANISM, "universal joint");
}

/// Twist and its rate of the only marker, and the elastic accelerations, when nothing but gravity acts.
fn observed(model: &Model, position: &[f64], velocity: &[f64], elastic: usize) -> Vec<f64> {
    let system = &model.linkage.system;
    let acceleration = response(model, position, velocity, &vec![0.0; velocity.len()]);
    let (q, v) = in_time(system, position, velocity, &acceleration);
    let (motion, _) = marker(
        system,
        &prepared(system, &q, &v),
        &model.linkage.markers[0],
        &q,
        &v,
    );
    let twist = motion
        .twist
        .angular
        .0
        .into_iter()
        .chain(motion.twist.linear.0);
    let mut seen: Vec<f64> = twist.flat_map(|x| [x.value, x.tangent[0]]).collect();
    seen.extend(&acceleration[acceleration.len() - elastic..]);
    seen
}

/// A quaternion joint against three revolute joints in a row, and a free joint against three prismatic
/// ones below them: other coordinates, the same motion.
#[test]
fn quaternion_joints_are_chains_of_simple_ones() {
    for slides in [false, true] {
        let names = ["s1", "s2", "s3", "r1", "r2"];
        let first = if slides { 0 } else { 3 };
        let mut bodies: Vec<BodySpec> = names[first..].iter().map(|name| connector(name)).collect();
        bodies.push(flexible("arm", modes()));
        let mut joints = Vec::new();
        let mut parent = "ground";
        for i in first..6 {
            let child = names.get(i).copied().unwrap_or("arm");
            let mut step = joint(&format!("step_{i}"), AttachmentSpec::new(parent), child);
            let axis = std::array::from_fn(|j| if j == i % 3 { 1.0 } else { 0.0 });
            if i < 3 {
                step.prismatic = Some(PrismaticSpec {
                    axis,
                    ..PrismaticSpec::default()
                });
            } else {
                step.revolute = Some(revolute(axis));
            }
            joints.push(step);
            parent = child;
        }
        let mut single = joint("base", AttachmentSpec::new("ground"), "arm");
        if slides {
            single.free = Some(FreeSpec::default());
        } else {
            single.spherical = Some(SphericalSpec::default());
        }
        let tip = MarkerSpec {
            name: "tip".to_owned(),
            body: "arm".to_owned(),
            ..MarkerSpec::default()
        };
        let with_tip = |spec: ModelSpec| ModelSpec {
            marker: vec![tip.clone()],
            ..spec
        };
        let chain = build(&with_tip(model(bodies, joints)));
        let compact = build(&with_tip(model(
            vec![flexible("arm", modes())],
            vec![single],
        )));

        let state = random_state(&chain.linkage.system, &mut Random::new(76));
        let (position, velocity) = (&state.position, &state.velocity);
        let elastic = compact.linkage.system.bodies()[0].modes();
        let joints = velocity.len() - elastic;
        // the pose and twist of the arm's root give the state in the other coordinates
        let root = lissom_tree::Marker {
            name: "root".to_owned(),
            body: Some(chain.linkage.system.bodies().len() - 1),
            place: lissom_tree::Place::Fixed(Transform::identity()),
        };
        let kinematics = prepared(&chain.linkage.system, position, velocity);
        let (motion, _) = marker(
            &chain.linkage.system,
            &kinematics,
            &root,
            position,
            velocity,
        );
        let rotation = motion.pose.rotation;
        let (mut q, mut v) = (Vec::new(), Vec::new());
        v.extend(rotation.transpose_mul(motion.twist.angular).0);
        if slides {
            q.extend(motion.pose.translation.0);
            v.extend(rotation.transpose_mul(motion.twist.linear).0);
        }
        q.extend(Quaternion::of_matrix(&rotation).0);
        q.extend(&position[joints..]);
        v.extend(&velocity[joints..]);

        let expected = observed(&chain, position, velocity, elastic);
        let found = observed(&compact, &q, &v, elastic);
        let what = if slides {
            "free joint"
        } else {
            "spherical joint"
        };
        assert_same(&found, &expected, SAME_MECHANISM, what);
    }
}
