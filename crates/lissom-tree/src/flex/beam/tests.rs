//! Beams that cannot be reduced say why, and no number breaks a reduction.

use super::{Basis, Beam, Deformation, Membrane, ModeCounts, Segment};
use crate::flex::{Boundary, Damping, FlexError};

fn beam() -> Beam {
    let segment = Segment {
        length: 1.0,
        mass_per_length: 1.0,
        bending_stiffness: [1.0; 2],
        axial_stiffness: 1.0,
        torsional_stiffness: 1.0,
        section_inertia: [1e-3; 2],
    };
    Beam {
        segments: vec![segment.clone(), segment],
        rotary_inertia: true,
        basis: Basis::held(
            Boundary::Clamped,
            ModeCounts {
                bending_y: 1,
                bending_z: 1,
                stretch: 1,
                torsion: 1,
                foreshortening: false,
            },
        ),
        point_masses: vec![(2.0, 0.5)],
    }
}

fn elements(per_segment: Vec<usize>, modes: Option<usize>, boundary: Boundary) -> Basis {
    Basis::Elements {
        per_segment,
        planes: vec![
            Deformation::BendingY,
            Deformation::BendingZ,
            Deformation::Stretch,
            Deformation::Torsion,
        ],
        modes,
        boundary,
        membrane: Membrane::Pointwise,
    }
}

fn error(change: impl FnOnce(&mut Beam)) -> FlexError {
    let mut beam = beam();
    change(&mut beam);
    beam.reduce(&[1.0], &Damping::None).unwrap_err()
}

/// Errors name what is wrong, where, and with which value.
#[test]
fn wrong_beams_are_refused() {
    assert_eq!(error(|beam| beam.segments.clear()), FlexError::NoSegments);
    assert_eq!(
        error(|beam| beam.basis = Basis::held(Boundary::Free, ModeCounts::default())),
        FlexError::NoModes
    );
    assert_eq!(
        error(|beam| beam.segments[1].length = -1.0).to_string(),
        "length of segment 2 is -1, it must be greater than zero"
    );
    assert_eq!(
        error(|beam| beam.segments[1].axial_stiffness = 0.0),
        FlexError::NoAxialStiffness {
            segment: 2,
            value: 0.0,
            needed_by: "stretch"
        }
    );
    assert_eq!(
        error(|beam| {
            beam.segments[1].axial_stiffness = 0.0;
            beam.basis = Basis::held(
                Boundary::Clamped,
                ModeCounts {
                    bending_y: 1,
                    foreshortening: true,
                    ..ModeCounts::default()
                },
            );
        })
        .to_string(),
        "segment 2 has axial stiffness 0 N, foreshortening needs a positive one; \
         give EA or do without foreshortening"
    );
    assert_eq!(
        error(|beam| {
            beam.segments[0].axial_stiffness = 0.0;
            beam.basis = Basis::Elements {
                per_segment: vec![1, 1],
                planes: vec![Deformation::BendingY],
                modes: None,
                boundary: Boundary::Clamped,
                membrane: Membrane::Averaged,
            };
        }),
        FlexError::NoAxialStiffness {
            segment: 1,
            value: 0.0,
            needed_by: "averaged membrane strain"
        }
    );
    assert_eq!(
        error(|beam| beam.segments[0].torsional_stiffness = 0.0),
        FlexError::TorsionWithoutStiffness {
            segment: 1,
            value: 0.0
        }
    );
    assert_eq!(
        error(|beam| beam.segments[0].section_inertia = [0.0; 2]),
        FlexError::TorsionWithoutSectionInertia {
            segment: 1,
            value: 0.0
        }
    );
    assert!(matches!(
        error(|beam| beam.segments[0].bending_stiffness[1] = 0.0),
        FlexError::NotPositive { .. }
    ));
    assert!(matches!(
        error(|beam| beam.point_masses[0].0 = 2.1),
        FlexError::OutsideBeam {
            position: 2.1,
            length: 2.0,
            ..
        }
    ));
    assert!(matches!(
        beam().reduce(&[-0.1], &Damping::None),
        Err(FlexError::OutsideBeam { position: -0.1, .. })
    ));
    assert!(matches!(
        beam().reduce(&[f64::NAN], &Damping::None),
        Err(FlexError::NotFinite { .. })
    ));
}

/// Errors of the basis, however absurd its numbers.
#[test]
fn wrong_bases_are_refused() {
    let huge = ModeCounts {
        bending_y: usize::MAX,
        bending_z: 1,
        ..ModeCounts::default()
    };
    assert!(matches!(
        error(|beam| beam.basis = Basis::held(Boundary::Clamped, huge)),
        FlexError::TooLarge {
            found: usize::MAX,
            ..
        }
    ));
    let foreshortened = ModeCounts {
        bending_y: 2,
        foreshortening: true,
        ..ModeCounts::default()
    };
    assert_eq!(
        error(|beam| beam.basis = Basis::held(Boundary::Free, foreshortened)),
        FlexError::ForeshorteningOfFreeBeam
    );
    let with = |per_segment, modes, boundary| {
        error(|beam| beam.basis = elements(per_segment, modes, boundary))
    };
    assert!(matches!(
        with(vec![1], None, Boundary::Clamped),
        FlexError::WrongCount {
            found: 1,
            expected: 2,
            ..
        }
    ));
    assert!(matches!(
        with(vec![1, 0], None, Boundary::Clamped),
        FlexError::NotPositive { .. }
    ));
    assert!(matches!(
        with(vec![usize::MAX, usize::MAX], Some(1), Boundary::Clamped),
        FlexError::TooLarge { .. }
    ));
    assert!(matches!(
        with(vec![40, 40], None, Boundary::Clamped),
        FlexError::TooLarge { .. }
    ));
    assert_eq!(
        with(vec![1, 1], None, Boundary::Free),
        FlexError::FreeElementsWithoutModes
    );
    assert_eq!(
        with(vec![1, 1], Some(5), Boundary::Free),
        FlexError::TooManyModes {
            deformation: "bending_y",
            modes: 5,
            available: 4
        }
    );
    assert_eq!(
        with(vec![1, 1], Some(0), Boundary::Free),
        FlexError::NoModes
    );
}

/// Robustness: no number makes the reduction panic or return one that is not finite.
#[test]
fn no_number_breaks_the_reduction() {
    let absurd = [
        f64::NAN,
        f64::INFINITY,
        -1.0,
        0.0,
        5e-324,
        1e-200,
        1e-30,
        1e30,
        1e200,
        f64::MAX,
    ];
    let counts = ModeCounts {
        bending_y: 2,
        bending_z: 1,
        stretch: 1,
        torsion: 1,
        foreshortening: false,
    };
    let bases = [
        Basis::held(Boundary::Clamped, counts),
        Basis::held(
            Boundary::Clamped,
            ModeCounts {
                foreshortening: true,
                ..counts
            },
        ),
        Basis::held(Boundary::Free, counts),
        elements(vec![2, 1], Some(1), Boundary::Free),
        elements(vec![2, 1], None, Boundary::Clamped),
    ];
    for basis in bases {
        for value in absurd {
            for field in 0..10 {
                for uniform in [false, true] {
                    let mut beam = Beam {
                        basis: basis.clone(),
                        ..beam()
                    };
                    if uniform && !matches!(basis, Basis::Elements { .. }) {
                        beam.segments.truncate(1);
                        beam.point_masses[0].0 = 1.0;
                    }
                    let segment = &mut beam.segments[0];
                    match field {
                        0 => segment.length = value,
                        1 => segment.mass_per_length = value,
                        2 => segment.bending_stiffness[0] = value,
                        3 => segment.bending_stiffness[1] = value,
                        4 => segment.axial_stiffness = value,
                        5 => segment.torsional_stiffness = value,
                        6 => segment.section_inertia[0] = value,
                        7 => segment.section_inertia[1] = value,
                        8 => beam.point_masses[0].0 = value,
                        _ => beam.point_masses[0].1 = value,
                    }
                    if let Ok(body) = beam.reduce(&[0.0], &Damping::ModalRatios(vec![0.01])) {
                        let matrices = body.stiffness.iter().chain(&body.integrals.mass_matrix);
                        let strain = body.strain.iter();
                        let strain = strain.flat_map(|s| s.stiffness.iter().chain(&s.slopes));
                        let matrices = matrices.chain(&body.damping).chain(strain);
                        assert!(
                            matrices.copied().all(f64::is_finite),
                            "field {field} = {value}"
                        );
                    }
                }
            }
        }
    }
}
