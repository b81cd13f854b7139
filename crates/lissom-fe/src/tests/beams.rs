//! Frames of beams against closed forms, other solutions of beam theory and their own nonlinear energy.

use nalgebra::{Matrix4x2, Rotation3, Vector3, Vector6};

use super::second_order::stiffens_as_its_energy_says;
use super::{frequencies, lowest, timoshenko};
use crate::beams::Beams;
use crate::curve::Curve;
use crate::frame::beams;
use crate::{Attached, FeError, MemberFault, NEVER, Reduction};
use lissom_spec::spec::{
    BeamFrameSpec, BeamMaterialSpec, BeamPropertiesSpec, ElasticSpec, FrameNodeSpec, LumpSpec,
    MemberPlaceSpec, MemberSpec, MeshBasisSpec, MeshFrameSpec, MeshModesSpec, PolygonSpec,
    RectangleSpec, ReducedSpec, SectionSpec, StationSpec,
};

/// The steel of [`timoshenko`].
pub(super) const STEEL: BeamMaterialSpec = BeamMaterialSpec::Elastic(ElasticSpec {
    youngs_modulus_pa: 2.0e11,
    shear_modulus_pa: 1.0e11,
    density_kg_per_m3: 7800.0,
});

pub(super) fn rectangle(size_y_m: f64, size_z_m: f64) -> SectionSpec {
    SectionSpec::Rectangle(RectangleSpec { size_y_m, size_z_m })
}

fn station(share: f64, section: SectionSpec) -> StationSpec {
    StationSpec {
        share,
        section,
        offset_m: [0.0; 2],
        angle_rad: 0.0,
    }
}

/// One member from `root` at the origin to `tip`, both interfaces.
fn link(tip: [f64; 3], member: MemberSpec, modes: usize) -> BeamFrameSpec {
    let node = |name: &str, position_m: [f64; 3]| FrameNodeSpec {
        name: name.to_owned(),
        position_m,
    };
    BeamFrameSpec {
        node: vec![node("root", [0.0; 3]), node("tip", tip)],
        member: vec![MemberSpec {
            from: "root".to_owned(),
            to: "tip".to_owned(),
            material: Some(STEEL),
            ..member
        }],
        lump: Vec::new(),
        interface: vec!["root".to_owned(), "tip".to_owned()],
        basis: MeshBasisSpec::ClampedFree(lowest(modes)),
        stiffening: true,
    }
}

pub(super) fn straight(section: SectionSpec, modes: usize) -> BeamFrameSpec {
    let member = MemberSpec {
        section: Some(section),
        ..MemberSpec::default()
    };
    link([1.0, 0.0, 0.0], member, modes)
}

fn reduce_frame(spec: &BeamFrameSpec) -> Result<Reduction, FeError> {
    crate::reduce_frame(spec, &Attached::default(), NEVER)
}

fn reduced(spec: &BeamFrameSpec) -> ReducedSpec {
    reduce_frame(spec).unwrap().body
}

fn close(found: &[f64], wanted: &[f64], within: f64) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found / wanted - 1.0).abs() < within, "{found} {wanted}");
    }
}

/// Frequencies of a cantilever of unit width whose depth is given along it, by shooting from the root: a fourth-order Runge–Kutta solution of
/// Timoshenko's equations, with steps that end where the depth jumps.
fn shooting(length: f64, depth: impl Fn(f64) -> f64, count: usize) -> Vec<f64> {
    const STEPS: usize = 400;
    let (e, rho) = (2.0e11, 7800.0);
    let shear = 0.5 * e * 5.0 / 6.0;
    let step = length / STEPS as f64;
    let determinant = |omega: f64| {
        let square = omega * omega;
        // w, θ, M, Q of two solutions that the root lets happen; moments in units that keep columns alike
        let slope = |at: f64, y: &Matrix4x2<f64>| {
            let area = depth(at);
            let inertia = area.powi(3) / 12.0;
            let row = |i: usize| y.row(i).into_owned();
            Matrix4x2::from_rows(&[
                row(1) + row(3) / (shear * area),
                row(2) / (e * inertia),
                row(1) * (-rho * inertia * square) - row(3),
                row(0) * (-rho * area * square),
            ])
        };
        let mut y = Matrix4x2::zeros();
        y[(2, 0)] = 1.0;
        y[(3, 1)] = 1.0;
        for i in 0..STEPS {
            // a step sees the side of a jump that it lies on
            let (start, end) = (i as f64 * step, (i + 1) as f64 * step);
            let (first, last) = (start + 1e-9 * step, end - 1e-9 * step);
            let a = slope(first, &y);
            let b = slope(0.5 * (start + end), &(y + a * (0.5 * step)));
            let c = slope(0.5 * (start + end), &(y + b * (0.5 * step)));
            let d = slope(last, &(y + c * step));
            y += (a + (b + c) * 2.0 + d) * (step / 6.0);
        }
        y[(2, 0)] * y[(3, 1)] - y[(2, 1)] * y[(3, 0)]
    };
    let mut found = Vec::new();
    let middle = depth(0.5 * length);
    let scan = 0.05 * 3.516 * (e * middle * middle / 12.0 / rho).sqrt() / (length * length);
    let (mut low, mut before) = (scan, determinant(scan));
    while found.len() < count {
        let (high, now) = (low + scan, determinant(low + scan));
        if before * now < 0.0 {
            let (mut a, mut b, of_a) = (low, high, before);
            for _ in 0..50 {
                let middle = 0.5 * (a + b);
                if of_a * determinant(middle) <= 0.0 {
                    b = middle;
                } else {
                    a = middle;
                }
            }
            found.push(0.5 * (a + b));
        }
        (low, before) = (high, now);
    }
    found
}

/// Elements of third degree follow the first modes of a slender beam far better than asked for.
const DISCRETE: f64 = 1e-4;

/// Closed form: Timoshenko's frequencies of a uniform cantilever in both planes.
#[test]
fn a_straight_member_has_the_frequencies_of_timoshenko() {
    let body = reduced(&straight(rectangle(0.05, 0.03), 4));
    let mut wanted: Vec<f64> = Vec::new();
    for depth in [0.05, 0.03] {
        wanted.extend(timoshenko(1.0, depth, 3));
    }
    wanted.sort_by(f64::total_cmp);
    close(&frequencies(&body), &wanted[..4], DISCRETE);
    // the solver that is the reference of the next tests agrees with the closed form
    close(&shooting(1.0, |_| 0.05, 3), &timoshenko(1.0, 0.05, 3), 1e-6);
}

/// Second solution: tapered and stepped cantilevers by shooting; and a wedge down to a point, whose frequencies Kirchhoff found in 1879:
/// 5.315, 15.207 and 30.020 √(EI₀/ρA₀)/L² (Cranch & Adler 1956).
#[test]
fn tapered_and_stepped_members_have_the_frequencies_of_beam_theory() {
    // as wide as it is deep at the root, so that bending along y comes first
    let of = |stations: Vec<StationSpec>| {
        let member = MemberSpec {
            station: stations,
            elements: Some(12),
            ..MemberSpec::default()
        };
        let body = reduced(&link([1.0, 0.0, 0.0], member, 8));
        let along_y = |&mode: &usize| {
            let tip = &body.nodes[1].influence;
            tip[4][mode].abs() > 10.0 * tip[5][mode].abs().max(tip[3][mode].abs()).max(1e-3)
        };
        let own = frequencies(&body);
        (0..own.len())
            .filter(along_y)
            .map(|mode| own[mode])
            .collect::<Vec<f64>>()
    };
    let tapered = of(vec![
        station(0.0, rectangle(0.06, 0.2)),
        station(1.0, rectangle(0.02, 0.2)),
    ]);
    let wanted = shooting(1.0, |x| 0.06 - 0.04 * x, 3);
    close(&tapered[..3], &wanted, DISCRETE);
    let stepped = of(vec![
        station(0.0, rectangle(0.06, 0.2)),
        station(0.4, rectangle(0.06, 0.2)),
        station(0.4, rectangle(0.03, 0.2)),
        station(1.0, rectangle(0.03, 0.2)),
    ]);
    let wanted = shooting(1.0, |x| if x < 0.4 { 0.06 } else { 0.03 }, 3);
    close(&stepped[..3], &wanted, DISCRETE);
    let wedge = of(vec![
        station(0.0, rectangle(0.004, 0.2)),
        station(1.0, rectangle(1e-9, 0.2)),
    ]);
    let unit = (2.0e11 * 0.004_f64.powi(2) / 12.0 / 7800.0).sqrt();
    // four digits are printed
    close(&wedge[..2], &[5.315 * unit, 15.207 * unit], 2e-4);
}

/// By construction: a beam that is described from a line beside it, with its section turned back by an angle, or drawn as a polygon where it is, is the same beam.
#[test]
fn offsets_and_angles_describe_the_same_beam() {
    let wanted = frequencies(&reduced(&straight(rectangle(0.05, 0.03), 6)));
    let (sin, cos) = 0.4_f64.sin_cos();
    let corner = |y: f64, z: f64| [0.01 + y * cos - z * sin, -0.02 + y * sin + z * cos];
    let polygon = SectionSpec::Polygon(PolygonSpec {
        points_m: vec![
            corner(0.025, 0.015),
            corner(-0.025, 0.015),
            corner(-0.025, -0.015),
            corner(0.025, -0.015),
        ],
        torsion_constant_m4: rectangle(0.05, 0.03)
            .constants(0.0)
            .map(|constants| constants.torsion),
        shear_factor: 5.0 / 6.0,
    });
    for (section, offset_m, angle_rad) in [
        (rectangle(0.05, 0.03), [0.02, -0.03], 0.0),
        (rectangle(0.05, 0.03), [0.02, -0.03], 0.7),
        (rectangle(0.03, 0.05), [0.0; 2], std::f64::consts::FRAC_PI_2),
        (polygon, [0.0; 2], 0.0),
    ] {
        let member = MemberSpec {
            section: Some(section),
            offset_m,
            angle_rad,
            ..MemberSpec::default()
        };
        let mut spec = link([1.0, 0.0, 0.0], member, 6);
        spec.stiffening = false;
        // the tip as an interface would be another point; the root is clamped all the same
        spec.interface.truncate(1);
        close(&frequencies(&reduced(&spec)), &wanted, 1e-8);
    }
}

/// Closed forms: a force beside the shear centre twists by F z L/GJ, a mass beside the line moves the centre of mass, and lumps at the tip and on
/// the way have their moments of inertia.
#[test]
fn centres_lie_where_they_are_said_to() {
    let section = SectionSpec::Properties(BeamPropertiesSpec {
        mass_per_length_kg_per_m: 2.0,
        axial_stiffness_n: 1e7,
        bending_stiffness_y_n_m2: 2e3,
        bending_stiffness_z_n_m2: 1e3,
        torsional_stiffness_n_m2: 500.0,
        shear_stiffness_y_n: 3e6,
        shear_stiffness_z_n: 2e6,
        section_inertia_y_kg_m: 1e-3,
        section_inertia_z_kg_m: 2e-3,
        mass_center_m: [0.01, 0.02],
        tension_center_m: [0.0, 0.0],
        shear_center_m: [0.0, 0.05],
    });
    let mut spec = straight(section, 3);
    spec.member[0].place.push(MemberPlaceSpec {
        name: "motor".to_owned(),
        share: 0.3,
    });
    spec.basis = MeshBasisSpec::CraigBampton(lowest(3));
    let body = reduced(&spec);
    close(&body.center_of_mass_m, &[0.5, 0.01, 0.02], 1e-12);
    assert_eq!(body.nodes[2].name, "motor");
    close(&body.nodes[2].position_m[..1], &[0.3], 1e-12);
    let compliance = |row: usize, column: usize| -> f64 {
        let own = &body.nodes[1].influence;
        (0..body.stiffness.len())
            .map(|mode| own[row][mode] * own[column][mode] / body.stiffness[mode][mode])
            .sum()
    };
    // rows: three rotations, three displacements
    close(&[compliance(0, 4)], &[0.05 / 500.0], 1e-8);
    // L³/3EI + L/kGA, and what the twist moves the tip by
    let wanted = 1.0 / 6e3 + 1.0 / 3e6 + 0.05 * 0.05 / 500.0;
    close(&[compliance(4, 4)], &[wanted], 1e-8);
    close(&[compliance(5, 5)], &[1.0 / 3e3 + 1.0 / 2e6], 1e-8);
    close(&[compliance(3, 3)], &[1e-7], 1e-8);

    let without = body.clone();
    spec.lump = vec![LumpSpec {
        at: "motor".to_owned(),
        mass_kg: 3.0,
        center_of_mass_m: [0.0, 0.1, 0.0],
        inertia_kg_m2: [0.02, 0.03, 0.04],
    }];
    let body = reduced(&spec);
    close(&[body.mass_kg], &[5.0], 1e-12);
    let centre = (2.0 * 0.01 + 3.0 * 0.1) / 5.0;
    close(&body.center_of_mass_m[1..2], &[centre], 1e-12);
    // about the x axis through the origin
    let about_line = |body: &ReducedSpec| {
        let [_, y, z] = body.center_of_mass_m;
        body.inertia_kg_m2[0][0] + body.mass_kg * (y * y + z * z)
    };
    let added = about_line(&body) - about_line(&without);
    close(&[added], &[0.02 + 3.0 * 0.01], 1e-10);
    // without inertia against twist the static shape of the tip moves nothing
    let SectionSpec::Properties(own) = spec.member[0].section.as_mut().unwrap() else {
        panic!("a section by its numbers");
    };
    (own.section_inertia_y_kg_m, own.section_inertia_z_kg_m) = (0.0, 0.0);
    (own.mass_center_m, own.shear_center_m) = ([0.0; 2], [0.0; 2]);
    spec.lump.clear();
    let massless = reduce_frame(&spec);
    assert!(
        matches!(massless, Err(FeError::Massless { .. })),
        "{massless:?}"
    );
}

/// Strain energy of displaced beams with whole rotations, with nothing of the code that is tested but functions, tangents and laws.
fn energy(beams: &Beams, unknowns: &[f64]) -> f64 {
    let mut energy = 0.0;
    for (station, nodes) in beams.stations() {
        let (mut slope, mut vector, mut along) =
            (Vector3::zeros(), Vector3::zeros(), Vector3::zeros());
        for (k, &node) in nodes.iter().enumerate() {
            let [moved, turned] = Beams::motion(node, unknowns);
            slope += moved * station.slopes[k];
            vector += turned * station.values[k];
            along += turned * station.slopes[k];
        }
        let rotation = Rotation3::new(vector);
        let strain = rotation.inverse() * (station.tangent + slope) - station.tangent;
        // what a body that turns by this vector feels of its rate [Rodrigues]
        let angle = vector.norm();
        let curvature = if angle < 1e-3 {
            along - vector.cross(&along) * 0.5 + vector.cross(&vector.cross(&along)) / 6.0
        } else {
            let (sin, cos) = angle.sin_cos();
            along - vector.cross(&along) * ((1.0 - cos) / angle.powi(2))
                + vector.cross(&vector.cross(&along)) * ((angle - sin) / angle.powi(3))
        };
        let both = Vector6::from_iterator(strain.iter().chain(&curvature).copied());
        energy += 0.5 * station.length * both.dot(&(station.law * both));
    }
    energy
}

/// An arc of 2 rad and radius 0.3 m in the plane of x and y, from the origin along x.
fn arc() -> BeamFrameSpec {
    let at = |angle: f64| [0.3 * angle.sin(), 0.3 - 0.3 * angle.cos(), 0.0];
    let member = MemberSpec {
        arc_through_m: Some(at(0.8)),
        section: Some(rectangle(0.03, 0.02)),
        elements: Some(8),
        ..MemberSpec::default()
    };
    link(at(2.0), member, 6)
}

/// Second formulation: an arc of beams, whose offset section couples everything with everything in one case.
#[test]
fn an_arc_of_beams_stiffens_as_its_nonlinear_energy_does() {
    for offset_m in [[0.0; 2], [0.004, -0.006]] {
        let mut spec = arc();
        spec.member[0].offset_m = offset_m;
        let made = beams(&spec).unwrap();
        let body = reduced(&spec);
        stiffens_as_its_energy_says(&made, &body, |unknowns| energy(&made, unknowns));
    }
}

/// The stiffening of a clamped straight beam by rotation is that of Euler and Bernoulli: 1.193 ω² \[Fattah 1995, after eq. (5.18)\].
#[test]
fn rotation_stiffens_a_straight_member_as_theory_says() {
    let body = reduced(&straight(rectangle(0.03, 0.02), 2));
    let second = body.second_order.as_ref().unwrap();
    for mode in 0..2 {
        // −∫x h_x dm
        let stiffness = -second.position_integrals[0][0][mode][mode];
        assert!((stiffness / 1.193 - 1.0).abs() < 0.005, "{stiffness}");
    }
}

/// Closed form: a free beam of Euler and Bernoulli, $`\omega L^2\sqrt{\rho A/EI} = 4.7300^2, 7.8532^2`$ in both planes, by free modes and by
/// Craig and Bampton's shapes seen from mean axes.
#[test]
fn a_free_member_rings_as_a_free_beam() {
    // shear and rotary inertia of a beam a hundred times as long as it is thick
    const SLENDER: f64 = 2e-3;
    let shape =
        |depth: f64, beta: f64| beta * beta * (2.0e11 * depth * depth / 12.0 / 7800.0).sqrt();
    let mut wanted = [4.7300, 7.8532]
        .map(|beta| [shape(0.010, beta), shape(0.007, beta)])
        .concat();
    wanted.sort_by(f64::total_cmp);
    let mean = MeshModesSpec {
        frame: MeshFrameSpec::Mean,
        ..lowest(8)
    };
    for basis in [
        MeshBasisSpec::FreeFree(lowest(4)),
        MeshBasisSpec::CraigBampton(mean),
    ] {
        let spec = BeamFrameSpec {
            basis,
            ..straight(rectangle(0.010, 0.007), 4)
        };
        let body = reduced(&spec);
        close(&frequencies(&body)[..4], &wanted, SLENDER);
        // both ends move against mean axes
        assert!(body.nodes[..2].iter().all(|node| node.influence.len() == 6));
    }
}

/// By construction: an arc as a spline through points of it.
#[test]
fn curves_describe_the_same_arc() {
    let wanted = frequencies(&reduced(&arc()));
    let mut spec = arc();
    let at = |angle: f64| [0.3 * angle.sin(), 0.3 - 0.3 * angle.cos(), 0.0];
    spec.member[0].arc_through_m = None;
    spec.member[0].spline_through_m = (1..12).map(|i| at(f64::from(i) / 6.0)).collect();
    // its ends are parabolas, which moves it a little there
    close(&frequencies(&reduced(&spec))[..4], &wanted[..4], 1e-3);
    let curve = Curve::arc(
        at(0.0).into(),
        Vector3::from(at(0.8)),
        Vector3::from(at(2.0)),
    );
    close(&[curve.unwrap().length()], &[0.6], 1e-12);
    let points = (0..13).map(|i| Vector3::from(at(f64::from(i) / 6.0)));
    let curve = Curve::spline(points.collect()).unwrap();
    close(&[curve.length()], &[0.6], 1e-4);
    let middle = curve.at(0.5) - Vector3::from(at(1.0));
    assert!(middle.norm() < 1e-4, "{middle}");
}

/// By construction: every fault of a member is told with its number and ends.
#[test]
fn faults_of_members_are_told() {
    let of = |change: &dyn Fn(&mut BeamFrameSpec)| {
        let mut spec = arc();
        change(&mut spec);
        match reduce_frame(&spec) {
            Err(FeError::Member {
                index: 0, fault, ..
            }) => fault,
            other => panic!("{other:?}"),
        }
    };
    let flat = of(&|spec| spec.member[0].arc_through_m = Some([0.0, 0.0, 0.0]));
    assert_eq!(flat, MemberFault::FlatArc);
    let along = of(&|spec| spec.member[0].z_direction = Some([1.0, 0.0, 0.0]));
    assert_eq!(along, MemberFault::AlongDirection);
    let repeated = of(&|spec| {
        spec.member[0].arc_through_m = None;
        spec.member[0].spline_through_m = vec![[0.0; 3]];
    });
    assert_eq!(repeated, MemberFault::RepeatedPoint);
    let nothing = of(&|spec| spec.member[0].section = None);
    assert_eq!(nothing, MemberFault::NoSection);
    let made_of_nothing = of(&|spec| spec.member[0].material = None);
    assert_eq!(made_of_nothing, MemberFault::NoMaterial);
    let nowhere = of(&|spec| spec.member[0].to = "end".to_owned());
    assert!(matches!(nowhere, MemberFault::UnknownNode { .. }));
    let point = of(&|spec| {
        spec.member[0].arc_through_m = None;
        spec.node[1].position_m = [0.0; 3];
    });
    assert_eq!(point, MemberFault::NoLength);
}

/// Identity: a place has the same numbers, to the last bit, however many others are named beside it and whatever share of the loads on them is
/// solved for at once.
#[test]
fn places_do_not_depend_on_others() {
    const ELEMENTS: usize = 64;
    let with_places = |every: usize| {
        let place = |i: usize| MemberPlaceSpec {
            name: format!("place_{i}"),
            share: i as f64 / ELEMENTS as f64,
        };
        let mut spec = straight(rectangle(0.02, 0.03), 3);
        let member = &mut spec.member[0];
        member.elements = Some(ELEMENTS);
        member.place = (1..ELEMENTS).step_by(every).map(place).collect();
        reduced(&spec)
    };
    let (few, many) = (with_places(40), with_places(1));
    assert!(many.nodes.len() > few.nodes.len() + 50);
    assert_eq!(few.second_order, many.second_order);
    for node in &few.nodes {
        let same = many.find_node(&node.name).unwrap();
        assert_eq!(
            (&node.influence, &node.second_order),
            (&same.influence, &same.second_order)
        );
        assert!(node.name == "root" || !node.second_order.is_empty());
    }
}
