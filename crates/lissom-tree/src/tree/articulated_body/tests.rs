//! SIMD instructions change no bit of a sweep.

use super::*;
use crate::flex::{Basis, Beam, Boundary, Damping, ModeCounts, Segment};
use crate::{Body, Joint, JointKind};
use lissom_spatial::{Matrix, RigidInertia, Transform, Vector};
use lissom_spec::Fidelity;

/// Two beams of length 1 that bend, stretch and twist, one after the other on hinges.
fn two_beams(fidelity: Fidelity) -> System {
    let beam = Beam {
        segments: vec![Segment {
            length: 1.0,
            mass_per_length: 2.0,
            bending_stiffness: [30.0, 20.0],
            axial_stiffness: 1e5,
            torsional_stiffness: 15.0,
            section_inertia: [1e-3, 2e-3],
        }],
        rotary_inertia: false,
        basis: Basis::held(
            Boundary::Clamped,
            ModeCounts {
                bending_y: 2,
                bending_z: 2,
                stretch: 1,
                torsion: 1,
                ..ModeCounts::default()
            },
        ),
        point_masses: Vec::new(),
    };
    let flexible = beam.reduce(&[1.0], &Damping::None).unwrap();
    let link = |name: &str, parent: Option<usize>, axis: [f64; 3]| Body {
        name: name.to_owned(),
        parent,
        joint: Joint {
            name: format!("{name}.hinge"),
            kind: JointKind::Revolute { axis: Vector(axis) },
            armature: [0.0; 6],
            prescribed: false,
        },
        outboard: match parent {
            None => Place::Fixed(Transform::identity()),
            Some(_) => Place::Node {
                index: 0,
                offset: Transform::identity(),
            },
        },
        inboard: Place::Fixed(Transform::identity()),
        rigid: RigidInertia::from_moments(
            flexible.mass,
            Vector(flexible.first_moment),
            Matrix(flexible.second_moment),
        ),
        flexible: Some(flexible.clone()),
        fidelity,
    };
    let links = vec![
        link("upper", None, [0.0, 0.0, 1.0]),
        link("lower", Some(0), [0.0, 1.0, 0.0]),
    ];
    System::new(links, Vector([0.0, 0.0, -9.81]))
}

/// Property: SIMD instructions change no bit of a result.
#[test]
fn simd_instructions_change_no_bit() {
    for fidelity in [Fidelity::DEFAULT, Fidelity::EXACT] {
        let system = &two_beams(fidelity);
        let n = system.velocity_count();
        let positions = 0..system.position_count();
        let position: Vec<f64> = positions.map(|i| 1e-3 * (1.0 + (i % 3) as f64)).collect();
        let velocity: Vec<f64> = (0..n).map(|i| 0.1 * (1.0 + (i % 4) as f64)).collect();
        let force = vec![1.0; n];

        let mut kinematics = Kinematics::<f64>::new(system);
        let mut articulated = ArticulatedBody::new(system);
        let mut simd = vec![0.0; n];
        kinematics.update(system, &position, &velocity);
        articulated.factor(system, &kinematics);
        articulated.solve(system, &kinematics, &force, &mut simd);

        let simd_kinematics = kinematics;
        let mut kinematics = Kinematics::<f64>::new(system);
        let mut articulated = ArticulatedBody::new(system);
        let mut plain = vec![0.0; n];
        kinematics.update_here(system, 0, &position, &velocity);
        assert_eq!(simd_kinematics.bias, kinematics.bias);
        assert_eq!(simd_kinematics.modal_bias, kinematics.modal_bias);
        articulated.factor_all(system, &kinematics, None);
        articulated.inward::<false>(system, &kinematics, &force, &plain);
        articulated.outward::<false>(system, &kinematics, Motion::zero(), &mut plain);

        assert!(simd.iter().all(|a| a.is_finite() && *a != 0.0));
        for (simd, plain) in simd.iter().zip(&plain) {
            assert_eq!(simd.to_bits(), plain.to_bits());
        }
    }
}
