//! Constants of sections against textbooks.

use super::*;

fn close(found: f64, wanted: f64, within: f64) {
    assert!((found / wanted - 1.0).abs() < within, "{found} {wanted}");
}

/// Rounding.
const EXACT: f64 = 1e-12;

/// \[Timoshenko & Goodier, Theory of Elasticity, table of art. 109\]: J = β a b³, printed to three or four digits.
#[test]
fn rectangles_twist_as_the_textbook_says() {
    for (ratio, beta, printed) in [
        (1.0, 0.1406, 5e-4),
        (1.2, 0.166, 4e-3),
        (1.5, 0.196, 3e-3),
        (2.0, 0.229, 3e-3),
        (3.0, 0.263, 2e-3),
        (5.0, 0.291, 2e-3),
        (10.0, 0.312, 2e-3),
    ] {
        let section = SectionSpec::Rectangle(RectangleSpec {
            size_y_m: ratio * 0.02,
            size_z_m: 0.02,
        });
        let found = section.constants(0.3).unwrap();
        close(found.torsion, beta * ratio * 0.02_f64.powi(4), printed);
    }
}

/// Closed forms: tube, box and I-beam of round numbers, by hand; a circle is a tube without hole.
#[test]
fn sections_have_the_constants_of_handbooks() {
    let tube = SectionSpec::Tube(TubeSpec {
        diameter_m: 0.1,
        wall_m: 0.005,
    });
    let found = tube.constants(0.3).unwrap();
    close(found.area, 1.492_256_510_455_152e-3, EXACT);
    close(found.second_moments[0], 1.688_115_177_452_391e-6, EXACT);
    close(found.torsion, 2.0 * 1.688_115_177_452_391e-6, EXACT);
    // Cowper's thin tube: 2(1 + ν)/(4 + 3ν)
    close(found.shear_areas[0] / found.area, 2.6 / 4.9, 0.01);

    // 100 × 50 mm, wall 4 mm: 12·I = 0.05·0.1³ − 0.042·0.092³
    let hollow = SectionSpec::Box(BoxSpec {
        size_y_m: 0.1,
        size_z_m: 0.05,
        wall_m: 0.004,
    });
    let found = hollow.constants(0.3).unwrap();
    close(found.area, 1.136e-3, EXACT);
    close(
        found.second_moments[0],
        (5e-5 - 3.270_489_6e-5) / 12.0,
        1e-7,
    );
    // Bredt: 4 A²t/s with A = 96·46 mm², s = 284 mm
    close(
        found.torsion,
        4.0 * (0.096_f64 * 0.046).powi(2) * 0.004 / 0.284,
        EXACT,
    );

    // IPE 200 without fillets (200 × 100, flange 8.5, web 5.6): A = 2724.8 mm², I = 1846 cm⁴ and 142.0 cm⁴
    let profile = SectionSpec::IBeam(IBeamSpec {
        size_y_m: 0.2,
        size_z_m: 0.1,
        flange_m: 0.0085,
        web_m: 0.0056,
    });
    let found = profile.constants(0.3).unwrap();
    close(found.area, 2724.8e-6, EXACT);
    close(found.second_moments[0], 1846e-8, 1e-3);
    close(found.second_moments[2], 142.0e-8, 1e-3);

    let circle = SectionSpec::Circle(CircleSpec { diameter_m: 0.1 });
    let found = circle.constants(0.3).unwrap();
    close(found.torsion, PI * 1e-4 / 32.0, EXACT);
    close(found.shear_areas[0] / found.area, 7.8 / 8.8, EXACT);
}

/// A rectangle, and a right triangle with its known product of inertia b²h²/72, as polygons, moved and either way round.
#[test]
fn polygons_have_the_moments_of_what_they_outline() {
    let mut points = vec![[0.03, -0.01], [0.07, -0.01], [0.07, 0.01], [0.03, 0.01]];
    for _ in 0..2 {
        let polygon = PolygonSpec {
            points_m: points.clone(),
            torsion_constant_m4: None,
            shear_factor: 5.0 / 6.0,
        };
        let found = SectionSpec::Polygon(polygon).constants(0.3).unwrap();
        close(found.area, 8e-4, EXACT);
        close(found.centre[0], 0.05, EXACT);
        assert!(found.centre[1].abs() < 1e-15);
        close(
            found.second_moments[0],
            0.02 * 0.04_f64.powi(3) / 12.0,
            1e-11,
        );
        close(
            found.second_moments[2],
            0.04 * 0.02_f64.powi(3) / 12.0,
            1e-11,
        );
        // the estimate for a rectangle of 2 : 1 is within 5 % of the series
        close(found.torsion, torsion_of_rectangle(0.04, 0.02), 0.05);
        points.reverse();
    }
    let [b, h] = [0.06_f64, 0.03];
    let triangle = PolygonSpec {
        points_m: vec![[0.0, 0.0], [b, 0.0], [0.0, h]],
        torsion_constant_m4: Some(1e-8),
        shear_factor: 0.8,
    };
    let found = SectionSpec::Polygon(triangle).constants(0.3).unwrap();
    close(found.second_moments[0], h * b.powi(3) / 36.0, EXACT);
    close(found.second_moments[1], -(b * h).powi(2) / 72.0, EXACT);
    close(found.torsion, 1e-8, EXACT);
    close(found.shear_areas[0], 0.8 * 0.5 * b * h, EXACT);
}

/// By construction.
#[test]
fn polygons_that_cross_themselves_are_seen() {
    let of = |points: &[[f64; 2]]| PolygonSpec {
        points_m: points.to_vec(),
        ..PolygonSpec::default()
    };
    let square = of(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    assert_eq!(square.crossing(), None);
    let bow = of(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(bow.crossing(), Some([1, 3]));
    let back = of(&[[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.0, 1.0]]);
    assert_eq!(back.crossing(), Some([1, 2]));
}

/// Half way between two tubes is the tube of mean sizes; a tube and a box have nothing between them.
#[test]
fn sections_taper_by_their_sizes() {
    let tube = |diameter_m: f64, wall_m: f64| SectionSpec::Tube(TubeSpec { diameter_m, wall_m });
    let middle = tube(0.1, 0.004).between(&tube(0.2, 0.002), 0.5);
    let SectionSpec::Tube(middle) = middle.unwrap() else {
        panic!("a tube");
    };
    close(middle.diameter_m, 0.15, EXACT);
    close(middle.wall_m, 0.003, EXACT);
    let hollow = SectionSpec::Box(BoxSpec::default());
    assert_eq!(tube(0.1, 0.004).between(&hollow, 0.5), None);
}
