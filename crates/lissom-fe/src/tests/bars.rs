//! Beams of Nastran's bulk data against the same beams as a frame, and closed forms.

use std::fmt::Write as _;

use super::beams::{STEEL, rectangle, straight};
use super::{frequencies, interface, lowest};
use crate::{Attached, FeError, NEVER, parse_nastran, reduce, reduce_frame};
use lissom_spec::spec::{InterfaceSpec, LumpSpec, MeshBasisSpec, MeshSpec, ReducedSpec};
use nalgebra::{Matrix3, Vector3};

/// Beams between five nodes along x, a metre in all, of that property and kind.
fn deck(kind: &str, property: &str) -> String {
    let node = |node: u8| format!("GRID,{},,{:?},0.0,0.0\n", node + 1, 0.25 * f64::from(node));
    let beam = |beam: u8| format!("{kind},{beam},7,{beam},{},0.0,1.0,0.0\n", beam + 1);
    let nodes: String = (0..5).map(node).collect();
    let beams: String = (1..5).map(beam).collect();
    format!("BEGIN BULK\nMAT1,1,2.0+11,,0.0,7800.0\n{nodes}{beams}{property}ENDDATA\n")
}

fn spec(modes: usize) -> MeshSpec {
    let end = |name: &str, group: &str| InterfaceSpec {
        group: Some(group.to_owned()),
        ..interface(name)
    };
    MeshSpec {
        material: Vec::new(),
        interface: vec![end("root", "GRID 1"), end("tip", "GRID 5")],
        ..super::spec(MeshBasisSpec::ClampedFree(lowest(modes)), &[], 0.0)
    }
}

fn reduced(text: &str) -> Result<ReducedSpec, FeError> {
    let mesh = parse_nastran(text)?;
    Ok(reduce(&mesh, &spec(6), &Attached::default(), NEVER)?.body)
}

/// A section by its numbers, as `PBAR` and as `PBEAM`.
fn numbers([y, z]: [f64; 2]) -> [String; 2] {
    let own = rectangle(y, z).constants(0.0).unwrap();
    let [first, _, second] = own.second_moments;
    let (area, torsion) = (own.area, own.torsion);
    let [k1, k2] = own.shear_areas.map(|shear| shear / area);
    let blank = ",,,,,,,,";
    [
        format!("PBAR,7,1,{area:e},{first:e},{second:e},{torsion:e}\n{blank}\n,{k1:?},{k2:?}\n"),
        format!("PBEAM,7,1,{area:e},{first:e},{second:e},,{torsion:e}\n{blank}\n,{k1:?},{k2:?}\n"),
    ]
}

/// Two ways: the same elements as a member of a frame.
#[test]
fn beams_of_bulk_data_are_those_of_a_frame() {
    /// Numbers of the deck have all digits; what is left is rounding of frequencies up to a hundred times the first.
    const ROUNDING: f64 = 1e-8;
    let size = [0.05, 0.03];
    let mut frame = straight(rectangle(size[0], size[1]), 6);
    frame.member[0].elements = Some(4);
    let whole = reduce_frame(&frame, &Attached::default(), NEVER)
        .unwrap()
        .body;
    assert_eq!(frame.member[0].material, Some(STEEL));
    let [bar, beam] = numbers(size);
    let named = "PBARL,7,1,,BAR\n,0.03,0.05\n";
    for (kind, property) in [("CBAR", bar.as_str()), ("CBEAM", &beam), ("CBAR", named)] {
        let body = reduced(&deck(kind, property)).unwrap();
        for (found, wanted) in frequencies(&body).iter().zip(frequencies(&whole)) {
            assert!(
                (found / wanted - 1.0).abs() < ROUNDING,
                "{kind}: {found} {wanted}"
            );
        }
        assert!((body.mass_kg / whole.mass_kg - 1.0).abs() < 1e-12);
        assert_eq!(body.nodes[1].position_m, [1.0, 0.0, 0.0]);
    }
    // millimetres and tonnes
    let metric = "MAT1,1,2.0+11,,0.0,7800.0";
    let mut text =
        deck("CBAR", "PBARL,7,1,,BAR\n,30.0,50.0\n").replace(metric, "MAT1,1,2.0+5,,0.0,7.8-9");
    for node in 0..5 {
        let at = |scale: f64| format!("GRID,{},,{:?},0.0", node + 1, scale * f64::from(node));
        text = text.replace(&at(0.25), &at(250.0));
    }
    let mut mesh = parse_nastran(&text).unwrap();
    mesh.scale(1e-3, 1e3);
    let body = reduce(&mesh, &spec(6), &Attached::default(), NEVER)
        .unwrap()
        .body;
    for (found, wanted) in frequencies(&body).iter().zip(frequencies(&whole)) {
        assert!((found / wanted - 1.0).abs() < ROUNDING, "{found} {wanted}");
    }
}

/// Closed form: a light rod with a heavy point at its end swings with √(3EI/mL³), in the plane that `CBAR` names.
#[test]
fn a_heavy_point_swings_on_a_beam() {
    /// What the beam weighs (33/140 of it counts) and the shear that it does not have.
    const LIGHT: f64 = 2e-3;
    let property = "PBAR,7,1,1.0-4,2.0-9,8.0-9,5.0-9\n";
    let text = deck("CBAR", property).replace("ENDDATA", "CONM2,9,5,,400.0\nENDDATA");
    let body = reduced(&text).unwrap();
    let wanted = [2.0e-9, 8.0e-9].map(|second| (3.0 * 2.0e11 * second / 400.0_f64).sqrt());
    for (mode, wanted) in wanted.into_iter().enumerate() {
        let found = frequencies(&body)[mode];
        assert!((found / wanted - 1.0).abs() < LIGHT, "{found} {wanted}");
        // I1 is that of deflection along y
        let moved = |k: usize| body.nodes[1].influence[3 + k][mode].abs();
        let [along, across] = if mode == 0 { [1, 2] } else { [2, 1] };
        assert!(moved(along) > 1e3 * moved(across));
    }
    assert!((body.mass_kg - 400.78).abs() < 1e-9);
}

/// Two ways: a lump beside its node with moments of inertia, against the same in a frame. Closed form: what it adds to the
/// inertia of the whole by Steiner's theorem, with its products, and in other units.
#[test]
fn lumps_have_offsets_and_inertia() {
    const ROUNDING: f64 = 1e-8;
    let plain = deck("CBAR", "PBARL,7,1,,BAR\n,0.03,0.05\n");
    let with = |lump: &str| plain.replace("ENDDATA", &format!("{lump}\nENDDATA"));
    let mut frame = straight(rectangle(0.05, 0.03), 6);
    frame.member[0].elements = Some(4);
    frame.lump.push(LumpSpec {
        at: frame.interface[1].clone(),
        mass_kg: 3.0,
        center_of_mass_m: [0.02, 0.1, -0.05],
        inertia_kg_m2: [0.03, 0.02, 0.04],
    });
    let wanted = reduce_frame(&frame, &Attached::default(), NEVER)
        .unwrap()
        .body;
    let text = with("CONM2,9,5,,3.0,0.02,0.1,-0.05,,\n,0.03,,0.02,,,0.04");
    let body = reduced(&text).unwrap();
    for (found, wanted) in frequencies(&body).iter().zip(frequencies(&wanted)) {
        assert!((found / wanted - 1.0).abs() < ROUNDING, "{found} {wanted}");
    }
    // about the origin: at the tip of the rod, a metre away
    let [xx, xy, yy, xz, yz, zz] = [0.03, 0.004, 0.02, -0.003, 0.002, 0.04];
    let text = with(&format!(
        "CONM2,9,5,,3.0,0.02,0.1,-0.05,,\n,{xx},{xy},{yy},{xz},{yz},{zz}"
    ));
    let at_origin = |body: &ReducedSpec| {
        let c = Vector3::from(body.center_of_mass_m);
        let own = Matrix3::from_fn(|i, j| body.inertia_kg_m2[i][j]);
        own + (Matrix3::identity() * c.norm_squared() - c * c.transpose()) * body.mass_kg
    };
    let c = Vector3::new(1.02, 0.1, -0.05);
    let wanted: Matrix3<f64> = Matrix3::new(xx, -xy, -xz, -xy, yy, -yz, -xz, -yz, zz)
        + (Matrix3::identity() * c.norm_squared() - c * c.transpose()) * 3.0;
    let bare = at_origin(&reduced(&plain).unwrap());
    let found: Matrix3<f64> = at_origin(&reduced(&text).unwrap()) - bare;
    let apart: Matrix3<f64> = found - wanted;
    assert!(apart.amax() < 1e-12, "{found} {wanted}");
    // a deck in millimetres and tonnes holds the same in other numbers
    let mut mesh = parse_nastran(&text).unwrap();
    let own = mesh.lumps[0].clone();
    mesh.scale(1e-3, 1e3);
    let scaled = &mesh.lumps[0];
    assert!((scaled.mass / own.mass - 1e3).abs() < 1e-9);
    assert!((scaled.offset[1] / own.offset[1] - 1e-3).abs() < 1e-15);
    assert!((scaled.second_moments[0][1] / own.second_moments[0][1] - 1e-3).abs() < 1e-15);
}

/// Closed form: slender rods whose bars do not shear have the frequencies of Euler and Bernoulli, however many bars they are divided into: what keeps
/// bars from shearing must not take the digits of bending. Within twice the sum of rotary inertia, of what is left of shear, and of rounding.
#[test]
fn slender_rods_keep_their_digits() {
    let (length, modulus, density) = (10.0, 2e11_f64, 7800.0);
    // with the shear stiffness of a bar, over its bending stiffness by the square of its length
    for (bars, diameter, shear) in [
        (20, 1e-2, 2.5e4),
        (50, 1e-3, 1.6e3),
        (100, 4e-3, 1e3),
        (300, 4e-3, 1e3),
    ] {
        let area = std::f64::consts::PI * diameter * diameter / 4.0;
        let moment = area * diameter * diameter / 16.0;
        let size = length / f64::from(bars);
        let mut text = "BEGIN BULK\nMAT1,1,2.0+11,,0.3,7800.0\n".to_owned();
        for node in 0..=bars {
            writeln!(
                text,
                "GRID,{},,{:?},0.0,0.0",
                node + 1,
                size * f64::from(node)
            )
            .unwrap();
        }
        for bar in 1..=bars {
            writeln!(text, "CBAR,{bar},7,{bar},{},0.0,1.0,0.0", bar + 1).unwrap();
        }
        writeln!(
            text,
            "PBAR,7,1,{area:e},{moment:e},{moment:e},{:e}",
            2.0 * moment
        )
        .unwrap();
        let mut model = spec(6);
        model.interface[1].group = Some(format!("GRID {}", bars + 1));
        let found = reduce(
            &parse_nastran(&text).unwrap(),
            &model,
            &Attached::default(),
            NEVER,
        );
        let found = frequencies(&found.unwrap().body);
        for (pair, beta) in found
            .chunks(2)
            .zip([1.875_104_068_711_961, 4.694_091_132_974_175])
        {
            let wave = beta / length;
            let exact = wave * wave * (modulus * moment / (density * area)).sqrt();
            let rounding = 1e-16 * shear * f64::from(bars).powi(4);
            let within =
                2.0 * ((wave * diameter / 4.0).powi(2) + (wave * size).powi(2) / shear + rounding);
            for own in pair {
                let off = own / exact - 1.0;
                assert!(off.abs() < within, "{bars} {diameter}: {off} {within}");
            }
        }
    }
}

/// What is not read is said with its line.
#[test]
fn beams_that_are_not_read_are_told() {
    let sound = deck("CBAR", "PBARL,7,1,,ROD\n,0.02\n");
    reduced(&sound).unwrap();
    for (text, words) in [
        (
            sound.replace("ROD", "CHAN"),
            "line 12: PBARL: \"CHAN\" is not read",
        ),
        (
            sound.replace("CBAR,2,7,", "CBAR,2,8,"),
            "line 9: beam 2 has the property 8",
        ),
        (
            sound.replace("PBARL,7,1,", "PBARL,7,2,"),
            "line 8: beam 1 is of the material 2",
        ),
        (
            sound.replace("CBAR,1,7,1,2,0.0,1.0", "CBAR,1,7,1,2,1.0,0.0"),
            "line 8: beam 1 has no length, or its direction lies along it",
        ),
        (
            sound.replace(
                "CBAR,4,7,4,5,0.0,1.0,0.0",
                "CBAR,4,7,4,5,0.0,1.0,0.0,\n,,456",
            ),
            "line 11: CBAR 4: released ends and offsets are not read",
        ),
        (
            sound.replace("CBAR,2,7,2,3", "CBAR,2,7,2,6"),
            "line 9: CBAR has the node 6, which is not there",
        ),
        (
            sound.replace("GRID,2,,0.25,0.0,0.0", "GRID,2,,0.25,0.0,0.0,9"),
            "line 9: CBAR 2: its direction is in the axes of its first node",
        ),
        (
            sound.replace("CBAR,2,", "CONM2,2,3,,1.0\n$"),
            "the mesh falls into 2 parts that share no nodes, one of 2 elements",
        ),
    ] {
        let error = reduced(&text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let mut model = spec(2);
    model.interface[1].group = Some("all".to_owned());
    let mut mesh = parse_nastran(&sound).unwrap();
    let all = (0..5).collect();
    mesh.groups.push(crate::Group {
        name: "all".to_owned(),
        nodes: all,
    });
    let error = reduce(&mesh, &model, &Attached::default(), NEVER).unwrap_err();
    assert!(
        error.to_string().contains("has 5 nodes of beams"),
        "{error}"
    );
}
