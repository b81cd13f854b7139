//! Bases, frames and ties against each other, closed forms and the whole mesh.

use nalgebra::{DMatrix, SymmetricEigen};

use super::{block, clamped, frequencies, lowest, spec, timoshenko};
use crate::{Attached, Kind, Mesh, NEVER, reduce};
use lissom_spec::spec::{
    MeshBasisSpec, MeshFrameSpec, MeshModesSpec, MeshSpec, ReducedSpec, TieSpec,
};

const SIZE: [f64; 3] = [1.0, 0.05, 0.03];

fn bar() -> Mesh {
    block(Kind::Hexa20, [12, 1, 1], SIZE)
}

fn reduced(mesh: &Mesh, spec: &MeshSpec) -> ReducedSpec {
    reduce(mesh, spec, &Attached::default(), NEVER)
        .unwrap()
        .body
}

/// Frequencies of a body that moves freely, rigid motions left out: those of the pair of stiffness and mass of frame and modes.
fn free_frequencies(body: &ReducedSpec) -> Vec<f64> {
    let n = body.stiffness.len();
    let mass = free_mass(body);
    let stiffness = DMatrix::from_fn(6 + n, 6 + n, |i, j| {
        if i >= 6 && i == j {
            body.stiffness[i - 6][i - 6]
        } else {
            0.0
        }
    });
    let lower = mass.cholesky().unwrap().l();
    let half = lower.solve_lower_triangular(&stiffness).unwrap();
    let whole = lower.solve_lower_triangular(&half.transpose()).unwrap();
    let mut squares: Vec<f64> = SymmetricEigen::new((&whole + whole.transpose()) * 0.5)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    squares.sort_by(f64::total_cmp);
    squares[6..].iter().map(|square| square.sqrt()).collect()
}

/// Mass of the undeformed body over displacement and rotation about the origin of its frame, and modes.
fn free_mass(body: &ReducedSpec) -> DMatrix<f64> {
    let n = body.stiffness.len();
    let [x, y, z] = body.center_of_mass_m;
    let m = body.mass_kg;
    let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let mut mass = DMatrix::zeros(6 + n, 6 + n);
    for i in 0..3 {
        mass[(i, i)] = m;
        for j in 0..3 {
            // ω × c
            mass[(i, 3 + j)] = -m * cross[i][j];
            mass[(3 + j, i)] = -m * cross[i][j];
            let steiner: f64 = (0..3).map(|k| cross[k][i] * cross[k][j]).sum();
            mass[(3 + i, 3 + j)] = body.inertia_kg_m2[i][j] + m * steiner;
        }
    }
    for a in 0..n {
        let position = body.position_integrals[a];
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let moment = position[i][j] - position[j][i];
            let force = body.displacement_integrals[a][k];
            for (row, value) in [(k, force), (3 + k, moment)] {
                mass[(row, 6 + a)] = value;
                mass[(6 + a, row)] = value;
            }
        }
        for b in 0..n {
            mass[(6 + a, 6 + b)] = body.mass_matrix[a][b];
        }
    }
    mass
}

/// Closed form: a free beam has the frequencies 4.730² √(EI/ρA)/L² and on, with what shear takes off; its modes have no momentum.
#[test]
fn free_modes_are_those_of_a_free_beam() {
    let mesh = bar();
    let body = reduced(
        &mesh,
        &spec(MeshBasisSpec::FreeFree(lowest(4)), &["root", "tip"], 0.0),
    );
    // the ends are tied rigidly, which shortens the beam by nothing
    let slender =
        |depth: f64, root: f64| root * root * (2.0e11_f64 / 7800.0 * depth * depth / 12.0).sqrt();
    let found = frequencies(&body);
    for (found, wanted) in [
        (found[0], slender(0.03, 4.730_041)),
        (found[1], slender(0.05, 4.730_041)),
    ] {
        // shear and rotary inertia: below 1.5 % for this depth
        assert!(found < wanted && found > 0.985 * wanted, "{found} {wanted}");
    }
    for a in 0..4 {
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let position = body.position_integrals[a];
            let momentum = body.displacement_integrals[a][k];
            let moment = position[i][j] - position[j][i];
            assert!(
                momentum.abs() < 1e-10 && moment.abs() < 1e-10,
                "{momentum} {moment}"
            );
        }
    }
    // the first node moves
    assert_eq!(body.nodes[0].influence.len(), 6);
    assert_eq!(body.nodes[0].second_order.len(), 6);
}

/// Second formulation: the same shapes from either frame are the same body, whose free frequencies are those of its free modes.
#[test]
fn frames_do_not_change_a_body() {
    let mesh = bar();
    let basis = |frame| {
        MeshBasisSpec::CraigBampton(MeshModesSpec {
            frame,
            ..lowest(14)
        })
    };
    let [tangent, mean] = [MeshFrameSpec::Tangent, MeshFrameSpec::Mean]
        .map(|frame| reduced(&mesh, &spec(basis(frame), &["root", "tip"], 0.3)));
    let free = reduced(
        &mesh,
        &spec(MeshBasisSpec::FreeFree(lowest(4)), &["root", "tip"], 0.3),
    );
    let (from_tangent, from_mean) = (free_frequencies(&tangent), free_frequencies(&mean));
    assert_eq!(from_tangent.len(), 20);
    for (a, b) in from_tangent.iter().zip(&from_mean) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
    // with mean axes frame and modes are uncoupled
    for (a, b) in from_mean.iter().zip(frequencies(&mean)) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
    // fourteen shapes with held ends make three free modes to a thousandth
    for (a, b) in frequencies(&free).iter().zip(&from_mean).take(3) {
        assert!(*b > a * (1.0 - 1e-9) && *b < a * 1.001, "{a} {b}");
    }
}

/// By construction: where nothing is attached but what holds the body, or where modes leave nothing out, residual shapes add nothing.
#[test]
fn residual_shapes_may_be_none() {
    let residual = |modes: usize| MeshModesSpec {
        residual: true,
        ..lowest(modes)
    };
    let with = MeshBasisSpec::ClampedFree(residual(2));
    let [with, without] =
        [with, clamped(2)].map(|basis| reduced(&bar(), &spec(basis, &["root"], 0.3)));
    assert_eq!(with, without);
    // all modes of a body of one element, whose tip moves in six ways
    let brick = block(Kind::Hexa8, [1, 1, 1], SIZE);
    let all = MeshBasisSpec::ClampedFree(residual(6));
    let body = reduced(&brick, &spec(all, &["root", "tip"], 0.3));
    assert_eq!(body.stiffness.len(), 6);
}

/// What modes leave out of the compliance of the tip is kept by residual shapes, to the last digits; low modes stay what they are.
#[test]
fn residual_shapes_keep_the_compliance() {
    let mesh = bar();
    let whole = |basis| {
        reduce(
            &mesh,
            &spec(basis, &["root", "tip"], 0.3),
            &Attached::default(),
            NEVER,
        )
        .unwrap()
    };
    let bare = whole(clamped(2));
    let with = whole(MeshBasisSpec::ClampedFree(MeshModesSpec {
        residual: true,
        ..lowest(2)
    }));
    let missing = |source: &crate::Source| {
        let all = source.interfaces[0].missing.iter();
        all.fold(0.0, |most: f64, share| most.max(share.abs()))
    };
    assert!(
        missing(&bare.source) > 0.5,
        "torsion and stretch are missing"
    );
    assert!(missing(&with.source) < 1e-8, "{}", missing(&with.source));
    // two modes and at most six residual shapes
    let count = with.body.stiffness.len();
    assert!(count > 2 && count <= 8, "{count}");
    for (a, b) in frequencies(&bare.body).iter().zip(frequencies(&with.body)) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
    let free = whole(MeshBasisSpec::FreeFree(MeshModesSpec {
        residual: true,
        ..lowest(3)
    }));
    assert_eq!(free.source.interfaces.len(), 2);
    assert!(missing(&free.source) < 1e-8, "{}", missing(&free.source));
}

/// A cut-off keeps the modes below it, and no others.
#[test]
fn modes_are_kept_up_to_a_frequency() {
    let mesh = bar();
    let many = frequencies(&reduced(&mesh, &spec(clamped(8), &["root"], 0.3)));
    let cut = 0.5 * (many[4] + many[5]);
    let basis = MeshBasisSpec::ClampedFree(MeshModesSpec {
        frequency_rad_per_s: Some(cut),
        ..MeshModesSpec::default()
    });
    let found = frequencies(&reduced(&mesh, &spec(basis, &["root"], 0.3)));
    assert_eq!(found.len(), 5);
    for (a, b) in found.iter().zip(&many) {
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
    // below all modes, and in a unit in which all of them are
    for (cut, words) in [
        (
            0.5 * many[0],
            format!("the lowest has {:.5} rad/s", many[0]),
        ),
        (1e12, "more than 128 modes lie below".to_owned()),
    ] {
        let basis = MeshBasisSpec::ClampedFree(MeshModesSpec {
            frequency_rad_per_s: Some(cut),
            ..MeshModesSpec::default()
        });
        let own = spec(basis, &["root"], 0.3);
        let error = crate::reduce(&mesh, &own, &Attached::default(), NEVER).unwrap_err();
        assert!(error.to_string().contains(&words), "{error}");
    }
}

/// Averaging ties: the section of a bar warps under them as it wants to, so that Poisson's ratio does not stiffen the root, and the compliance of
/// the tip is that of a beam whose root is not held across.
#[test]
fn averaging_ties_leave_sections_free() {
    let mesh = bar();
    let with = |tie: TieSpec| {
        let mut spec = spec(
            MeshBasisSpec::CraigBampton(lowest(6)),
            &["root", "tip"],
            0.3,
        );
        for interface in &mut spec.interface {
            interface.tie = tie;
        }
        reduced(&mesh, &spec)
    };
    let (rigid, averaging) = (with(TieSpec::Rigid), with(TieSpec::Averaging));
    assert!((rigid.mass_kg / averaging.mass_kg - 1.0).abs() < 1e-12);
    // stretch: EA/L holds for the averaged mean, the rigid ends are stiffer
    let compliance = |body: &ReducedSpec, row: usize| -> f64 {
        let own = body.nodes[1].influence[row].iter().zip(frequencies(body));
        own.map(|(psi, omega)| (psi / omega).powi(2)).sum()
    };
    let stretch = 1.0 / (2.0e11 * 0.05 * 0.03);
    // by Saint-Venant the ends differ from that over their width only, a twentieth of the length
    let ratio = compliance(&averaging, 3) / stretch;
    assert!(ratio > 1.0 && ratio < 1.05, "{ratio}");
    assert!(compliance(&rigid, 3) < stretch * (1.0 - 1e-3));
    // the lowest, which either basis holds
    for (rigid, averaging) in (frequencies(&rigid).iter().zip(frequencies(&averaging))).take(4) {
        assert!(averaging < *rigid, "{averaging} {rigid}");
    }
    // nothing clamps the section at the root, where it yields a little over its width
    let ratio = frequencies(&averaging)[0] / timoshenko(SIZE[0], SIZE[2], 1)[0];
    assert!(ratio > 0.95 && ratio < 1.0, "{ratio}");
    assert!(averaging.nodes[0].influence.is_empty());
}

/// What is attached to the interfaces decides.
#[test]
fn bases_are_chosen_by_what_is_attached() {
    let mesh = block(Kind::Hexa20, [4, 1, 1], SIZE);
    let basis = MeshBasisSpec::Auto(lowest(2));
    let with = |loaded: &[&str], floats: bool| {
        let attached = Attached {
            loaded: loaded.iter().map(|&name| name.to_owned()).collect(),
            floats,
            ..Attached::default()
        };
        let made = reduce(&mesh, &spec(basis, &["root", "tip"], 0.3), &attached, NEVER).unwrap();
        (made.source.chosen.unwrap(), made.body.stiffness.len())
    };
    let (last, count) = with(&["root"], false);
    assert_eq!((last.basis, count), (clamped(2), 2));
    let (middle, count) = with(&["root", "tip"], false);
    assert_eq!(
        (middle.basis, count),
        (MeshBasisSpec::CraigBampton(lowest(2)), 8)
    );
    assert_eq!(middle.reason, "something is attached to tip");
    let (floating, count) = with(&["tip"], true);
    let residual = MeshModesSpec {
        residual: true,
        ..lowest(2)
    };
    assert_eq!(floating.basis, MeshBasisSpec::FreeFree(residual));
    assert!(count > 2, "{count}");
}

/// A body that hinges about these axes at its root and its tip.
fn hinged(root: &[[f64; 3]], tip: &[[f64; 3]]) -> Attached {
    let ends = [("root", root), ("tip", tip)];
    Attached {
        loaded: ends.iter().map(|(name, _)| (*name).to_owned()).collect(),
        hinges: (ends.iter())
            .filter(|(_, axes)| !axes.is_empty())
            .map(|(name, axes)| ((*name).to_owned(), axes.to_vec()))
            .collect(),
        ..Attached::default()
    }
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// Closed form: between hinges a beam that shears has sines for its modes, and the smaller root of
/// `ρA ρI ω⁴ − (ρA (EI k² + κGA) + ρI κGA k²) ω² + κGA EI k⁴ = 0` with k = nπ/L for their squares. One mode is one of them.
#[test]
fn hinged_links_have_sines() {
    /// As for clamped beams of solid elements.
    const SOLID: f64 = 5e-3;
    let mesh = block(Kind::Hexa20, [20, 1, 1], SIZE);
    // without Poisson's ratio, so that G = E/2 and Cowper's factor is 5/6
    // the second is a mode of the other plane, clamped at both ends
    let basis = MeshBasisSpec::Auto(lowest(3));
    let made = reduce(
        &mesh,
        &spec(basis, &["root", "tip"], 0.0),
        &hinged(&[Y], &[Y]),
        NEVER,
    )
    .unwrap();
    let chosen = made.source.chosen.unwrap();
    assert_eq!(chosen.basis, MeshBasisSpec::Hinged(lowest(3)));
    // stretch, twist and bending of both ends in the other plane are static shapes
    assert_eq!(made.body.stiffness.len(), 4 + 3);
    let [area, second] = [SIZE[1] * SIZE[2], SIZE[1] * SIZE[2].powi(3) / 12.0];
    let (density, young) = (7800.0, 2.0e11);
    let shear = 5.0 / 6.0 * 0.5 * young * area;
    let found = frequencies(&made.body);
    for n in [1.0, 2.0] {
        let k = n * std::f64::consts::PI / SIZE[0];
        let a = density * area * density * second;
        let bend = young * second * k * k;
        let b = density * area * (bend + shear) + density * second * shear * k * k;
        let c = shear * bend * k * k;
        let wanted = ((b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt();
        let nearest = found.iter().map(|own| (own / wanted - 1.0).abs());
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        assert!(nearest < SOLID, "{wanted} is not among {found:?}");
    }
    // the ends stay on the chord: neither moves across it, and the first not along it
    let [root, tip] = &made.body.nodes[..] else {
        panic!("{} nodes", made.body.nodes.len());
    };
    let largest = |row: &Vec<f64>| row.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let along = largest(&tip.influence[3]);
    let still = root.influence[3..].iter().chain(&tip.influence[4..]);
    for row in still.chain([&root.influence[0]]) {
        assert!(largest(row) < 1e-9 * along, "{row:?}");
    }
}

/// Second formulation: with many shapes it is the same body as seen from the tangent frame.
#[test]
fn the_frame_on_the_chord_does_not_change_a_body() {
    /// Fourteen shapes with held ends make the first free modes to a thousandth, see above.
    const REDUCED: f64 = 1e-3;
    let mesh = bar();
    let made = |basis| {
        let own = spec(basis, &["root", "tip"], 0.3);
        free_frequencies(
            &reduce(&mesh, &own, &hinged(&[Y], &[Y]), NEVER)
                .unwrap()
                .body,
        )
    };
    let chord = made(MeshBasisSpec::Hinged(lowest(14)));
    let tangent = made(MeshBasisSpec::CraigBampton(lowest(14)));
    for (a, b) in chord.iter().zip(&tangent).take(3) {
        assert!((a / b - 1.0).abs() < REDUCED, "{a} {b}");
    }
}

/// By construction: what hinges leave free decides whether a frame on the chord is held, and how many static shapes are left.
#[test]
fn hinges_decide_on_the_frame() {
    let mesh = block(Kind::Hexa20, [4, 1, 1], SIZE);
    let with = |attached: &Attached, basis| {
        reduce(&mesh, &spec(basis, &["root", "tip"], 0.3), attached, NEVER)
    };
    let auto = MeshBasisSpec::Auto(lowest(1));
    for (root, tip, count) in [
        (&[Y][..], &[Y][..], Some(4)),
        (&[Y], &[Z], Some(4)),
        (&[X, Y, Z], &[Z], Some(2)),
        // the second hinge lets it turn about the chord, the first one does not
        (&[Y], &[X], Some(4)),
        // nothing holds it about the chord
        (&[X, Y, Z], &[X, Y, Z], None),
        (&[X], &[X], None),
        // a motor
        (&[Y], &[], None),
    ] {
        let attached = hinged(root, tip);
        let made = with(&attached, auto).unwrap();
        let chosen = made.source.chosen.unwrap();
        let expected = match count {
            Some(_) => MeshBasisSpec::Hinged(lowest(1)),
            None => MeshBasisSpec::CraigBampton(lowest(1)),
        };
        assert_eq!(chosen.basis, expected, "{root:?} {tip:?}");
        assert_eq!(made.body.stiffness.len(), count.unwrap_or(6) + 1);
        let asked = with(&attached, MeshBasisSpec::Hinged(lowest(1)));
        assert_eq!(asked.is_ok(), count.is_some(), "{root:?} {tip:?}");
        // what holds the frame does not give way: nothing of it is missing
        for residual in &made.source.interfaces {
            let missing = residual.missing;
            assert!(
                missing.iter().all(|own| (-1e-6..=1.0).contains(own)),
                "{missing:?}"
            );
        }
    }
}

/// By construction: accelerations do not deform a body that is seen from mean axes, and nothing is told of what is left out of nothing.
#[test]
fn nothing_is_left_out_where_nothing_deforms() {
    let mean = MeshBasisSpec::CraigBampton(MeshModesSpec {
        frame: MeshFrameSpec::Mean,
        ..lowest(2)
    });
    let floating = [MeshBasisSpec::FreeFree(lowest(4)), mean];
    let held = [clamped(4), MeshBasisSpec::CraigBampton(lowest(2))];
    for (bases, deforms) in [(floating, false), (held, true)] {
        for basis in bases {
            let own = spec(basis, &["root", "tip"], 0.3);
            let made = reduce(&bar(), &own, &Attached::default(), NEVER).unwrap();
            let left = made.source.left_out;
            assert_eq!(left.is_some(), deforms, "{basis:?}: {left:?}");
        }
    }
}

/// Closed form: under uniform acceleration the first mode of a cantilever leaves out 1 − 20 · 0.6131/12.362 = 0.0081 of the work of the load on its
/// response (effective mass 0.6131 m, ω² = 12.362 EI/mL³, response m²L³/20EI).
#[test]
fn as_many_modes_are_taken_as_an_accuracy_asks_for() {
    /// Shear and rotary inertia of a bar of this depth.
    const SHEAR: f64 = 0.05;
    const FIRST_LEAVES_OUT: f64 = 0.0081;
    let mesh = bar();
    let with = |accuracy: f64, interfaces: &[&str], loaded: &[&str]| {
        let basis = MeshBasisSpec::Auto(MeshModesSpec {
            accuracy: Some(accuracy),
            ..MeshModesSpec::default()
        });
        let attached = Attached {
            loaded: loaded.iter().map(|&name| name.to_owned()).collect(),
            ..Attached::default()
        };
        reduce(&mesh, &spec(basis, interfaces, 0.0), &attached, NEVER)
    };
    let made = with(0.01, &["root"], &["root"]).unwrap();
    // one of each plane
    assert_eq!(made.body.stiffness.len(), 2);
    let left = made.source.left_out.unwrap();
    assert!((left / FIRST_LEAVES_OUT - 1.0).abs() < SHEAR, "{left}");
    let mut before = 2;
    for accuracy in [4e-3, 1e-3, 1e-4] {
        let made = with(accuracy, &["root"], &["root"]).unwrap();
        let left = made.source.left_out.unwrap();
        assert!(left <= accuracy, "{left}");
        // and no more
        let count = made.body.stiffness.len();
        let fewer = reduce(
            &mesh,
            &spec(clamped(count - 1), &["root"], 0.0),
            &Attached::default(),
            NEVER,
        );
        assert!(
            fewer.unwrap().source.left_out.unwrap() > accuracy,
            "{count}"
        );
        assert!(count > before, "{count}");
        before = count;
    }
    // static shapes of the tip make most of it
    let between = with(0.01, &["root", "tip"], &["root", "tip"]).unwrap();
    let left = between.source.left_out.unwrap();
    assert!(left <= 0.01, "{left}");
    let error = with(1e-12, &["root"], &["root"]).unwrap_err().to_string();
    assert!(error.contains("ask for less"), "{error}");
}
