//! Straight beams whose sections are given by name and dimensions.

use crate::{Folder, number};

/// An arm of one beam with these keys.
fn arm(keys: &str) -> String {
    format!(
        r#"format = 1
[[body]]
name = "beam"
[body.beam]
{keys}
basis.clamped_free = {{ bending_y = 2, bending_z = 1, stretch = 1, torsion = 1 }}
[[joint]]
name = "drive"
parent = "ground"
child = "beam"
revolute = {{ axis = [0.0, 0.0, 1.0] }}
"#
    )
}

fn frequencies(folder: &Folder, keys: &str) -> Vec<f64> {
    folder.write("arm.toml", arm(keys));
    let body = &folder.json(&["check", "arm.toml", "--json"])["bodies"][0];
    let frequencies = body["frequencies_rad_per_s"].as_array().unwrap();
    let mut found: Vec<f64> = frequencies.iter().map(number).collect();
    found.push(number(&body["mass_kg"]));
    found
}

/// Two ways: handbook formulas of a rectangle, a tube and a square drawn by its corners, written as numbers.
#[test]
fn beams_take_sections_by_name() {
    /// Torsion of a rectangle is a series, and formulas round.
    const ROUNDING: f64 = 1e-9;
    let folder = Folder::new();
    let pi = std::f64::consts::PI;
    let by_numbers = |area: f64, [y, z]: [f64; 2], torsion: f64| {
        let [e, g, rho] = [7.0e10, 2.6e10, 2700.0];
        format!(
            "length_m = 0.8\nmass_per_length_kg_per_m = {:?}\nbending_stiffness_y_n_m2 = {:?}\nbending_stiffness_z_n_m2 = {:?}\n\
             axial_stiffness_n = {:?}\ntorsional_stiffness_n_m2 = {:?}\nsection_inertia_y_kg_m = {:?}\nsection_inertia_z_kg_m = {:?}",
            rho * area,
            e * y,
            e * z,
            e * area,
            g * torsion,
            rho * y,
            rho * z
        )
    };
    let tube = pi / 64.0 * (0.05_f64.powi(4) - 0.046_f64.powi(4));
    let side = 0.04_f64;
    // 0.1406 of the fourth power, to all digits [Timoshenko & Goodier]
    let torsion = 0.140_577_014_955_156 * side.powi(4);
    let square = (side * side, [side.powi(4) / 12.0; 2], torsion);
    for (section, numbers) in [
        (
            "tube = { diameter_m = 0.05, wall_m = 0.002 }",
            by_numbers(
                pi / 4.0 * (0.05_f64.powi(2) - 0.046_f64.powi(2)),
                [tube; 2],
                2.0 * tube,
            ),
        ),
        (
            "rectangle = { size_y_m = 0.04, size_z_m = 0.04 }",
            by_numbers(square.0, square.1, square.2),
        ),
        (
            "polygon = { points_m = [[-0.02, -0.02], [0.02, -0.02], [0.02, 0.02], [-0.02, 0.02]], torsion_constant_m4 = 3.598771582851994e-7 }",
            by_numbers(square.0, square.1, 3.598_771_582_851_994e-7),
        ),
    ] {
        let named = format!("length_m = 0.8\nmaterial = \"aluminium\"\nsection.{section}");
        let (named, numbers) = (frequencies(&folder, &named), frequencies(&folder, &numbers));
        assert_eq!(named.len(), numbers.len());
        for (named, numbers) in named.iter().zip(&numbers) {
            assert!(
                (named / numbers - 1.0).abs() < ROUNDING,
                "{section}: {named} {numbers}"
            );
        }
    }
}

/// What a section cannot be is said at its place.
#[test]
fn wrong_sections_of_beams_are_explained() {
    let folder = Folder::new();
    let tube = "section.tube = { diameter_m = 0.05, wall_m = 0.002 }";
    for (keys, words) in [
        (
            tube.to_owned(),
            &["key `length_m` is missing", "key `material` is missing"][..],
        ),
        (
            format!("length_m = 1.0\nmaterial = \"steel\"\n{tube}\naxial_stiffness_n = 1e7"),
            &["`axial_stiffness_n`", "the section says it"],
        ),
        (
            "length_m = 1.0\nmass_per_length_kg_per_m = 1.0\nmaterial = \"steel\"".to_owned(),
            &["`material`", "the beam has no section"],
        ),
        (
            "length_m = 1.0\nmaterial = \"steel\"\nsection.tube = { diameter_m = 0.05, wall_m = 0.03 }".to_owned(),
            &["`wall_m` is 0.03"],
        ),
        (
            "length_m = 1.0\nmaterial = \"steel\"\nsection.polygon = { points_m = [[0, 0], [0.1, 0], [0.1, 0.1], [0, 0.1]] }".to_owned(),
            &["centre lies beside the line", "[body.frame]"],
        ),
        (
            "length_m = 1.0\nmaterial = \"steel\"\nsection.circle = { diameter_m = 1e9 }".to_owned(),
            &["sizes and a material that give a beam mass and stiffness"],
        ),
    ] {
        folder.write("arm.toml", arm(&keys));
        folder.lissom(&["check", "arm.toml"]).says(1, words);
    }
}
