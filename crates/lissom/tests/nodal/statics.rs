//! Large static deflections: published numbers and closed forms.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use lissom::nodal::BeamSection;
use lissom::nodal::classics::{bend, cantilever, princeton_beam};

/// Published numbers: the Princeton beam (shell and solid models of other programs) to one per cent.
#[test]
fn beam_of_princeton() {
    const AGREEMENT: f64 = 0.01;
    let [_, y, z] = princeton_beam(16, FRAC_PI_4).unwrap();
    assert!((y / 0.008_837_2 - 1.0).abs() < AGREEMENT, "{y}");
    assert!((z / 0.108_987_9 - 1.0).abs() < AGREEMENT, "{z}");
    let [_, y, z] = princeton_beam(16, FRAC_PI_2).unwrap();
    assert!(y.abs() < 1e-12, "{y}");
    assert!((z / 0.146_246 - 1.0).abs() < AGREEMENT, "{z}");
}

/// Published numbers: Bathe & Bolourchi's 45° bend to half a per cent of each displacement.
#[test]
fn bend_of_45_degrees() {
    const AGREEMENT: f64 = 0.005;
    for (found, published) in bend(16).unwrap().into_iter().zip([-23.82, -13.73, 53.61]) {
        assert!(
            (found / published - 1.0).abs() < AGREEMENT,
            "{found} {published}"
        );
    }
}

/// Order of convergence: halving the elements divides the error by four.
#[test]
fn elements_are_of_second_order() {
    let [coarse, middle, fine] = [4, 8, 16].map(|n| princeton_beam(n, FRAC_PI_2).unwrap()[2]);
    let ratio = (coarse - middle) / (middle - fine);
    assert!((ratio - 4.0).abs() < 0.2, "{ratio}");
}

/// Closed form: a moment EI 2π/L rolls a cantilever up into a circle. The elements make a regular polygon
/// with sides λ l₀ and turns 2x, where λ = 1 − λ² sin²x/6, since nothing stretches, and the energy
/// 2 EI λ² sin²x/l₀ gives the moment: λ³ sin 2x/(1 + λ² sin²x/6) = M l₀/EI.
#[test]
fn moment_rolls_a_beam_into_a_circle() {
    // the axial stiffness is so large that elements stretch by 4e-10
    const STRETCH: f64 = 1e-8;
    let tip = |elements: usize| {
        let section = BeamSection::slender(0.0, 1e12, 10.0, 10.0);
        let points: Vec<[f64; 3]> = (0..=elements)
            .map(|i| [i as f64 / elements as f64, 0.0, 0.0])
            .collect();
        let beam = cantilever(&points, section, [0.0, 1.0, 0.0]).unwrap();
        let moved = beam
            .deflection([0.0; 3], [0.0, 0.0, 10.0 * 2.0 * PI])
            .unwrap();
        let (mut side, mut half) = (1.0_f64, PI / elements as f64);
        for _ in 0..100 {
            let slope = (side * half.sin()).powi(2) / 6.0;
            let turn = 2.0 * PI * (1.0 + slope) / (elements as f64 * side.powi(3));
            half = 0.5 * turn.asin();
            side = 1.0 - slope;
        }
        let mut polygon = [0.0, 0.0];
        for k in 0..elements {
            let (sin, cos) = (half * (2 * k + 1) as f64).sin_cos();
            polygon[0] += side * cos / elements as f64;
            polygon[1] += side * sin / elements as f64;
        }
        assert!(
            (moved[0] + 1.0 - polygon[0]).abs() < STRETCH,
            "{moved:?} {polygon:?}"
        );
        assert!(
            (moved[1] - polygon[1]).abs() < STRETCH,
            "{moved:?} {polygon:?}"
        );
        polygon[0].hypot(polygon[1])
    };
    let (coarse, fine) = (tip(20), tip(40));
    assert!((coarse / fine - 4.0).abs() < 0.5, "{coarse} {fine}");
}
