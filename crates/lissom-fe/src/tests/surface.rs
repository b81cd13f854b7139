//! What reduced bodies look like, and the stress on their surfaces.

use super::beams::{rectangle, straight};
use super::{lowest, spec};
use crate::{Attached, Kind, Mesh, NEVER, block, reduce, reduce_frame};
use lissom_spec::spec::{MeshBasisSpec, ReducedSpec, SurfaceSpec};

/// Five digits are kept of displacement and stress, and shapes cancel in part.
const KEPT: f64 = 1e-3;

fn reduced(mesh: &Mesh, poisson_ratio: f64) -> ReducedSpec {
    let basis = MeshBasisSpec::CraigBampton(lowest(2));
    let spec = spec(basis, &["root", "tip"], poisson_ratio);
    reduce(mesh, &spec, &Attached::default(), NEVER)
        .unwrap()
        .body
}

/// Volume that triangles enclose, positive if they are seen against the clock from outside.
fn volume(surface: &SurfaceSpec) -> f64 {
    let corners = |&[a, b, c]: &[usize; 3]| [a, b, c].map(|k| surface.positions_m[k]);
    let sixth = |[a, b, c]: [[f64; 3]; 3]| {
        (a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0]))
            / 6.0
    };
    surface.triangles.iter().map(corners).map(sixth).sum()
}

/// Elastic coordinates under a load on the tip: `row` counts moments about and forces along x, y, z.
fn under_load(body: &ReducedSpec, row: usize) -> Vec<f64> {
    let shares = body.nodes[1].influence[row].iter();
    shares
        .enumerate()
        .map(|(mode, share)| share / body.stiffness[mode][mode])
        .collect()
}

/// Closed form: the surface of a block encloses its volume, whatever it is made of, and moves as its ends do.
#[test]
fn surfaces_are_closed_and_seen_from_outside() {
    for (kind, cells) in [
        (Kind::Hexa20, [3, 2, 2]),
        (Kind::Hexa8, [3, 2, 1]),
        (Kind::Tetra10, [2, 1, 2]),
        (Kind::Tetra4, [3, 1, 1]),
    ] {
        let body = reduced(&block(kind, cells, [0.6, 0.1, 0.2]), 0.3);
        let surface = body.surface.unwrap();
        assert!((volume(&surface) / 0.012 - 1.0).abs() < 1e-12, "{kind:?}");
        // corners of the grid that are not inside
        let [x, y, z] = cells;
        let inside = (x - 1) * (y - 1) * (z - 1);
        let points = (x + 1) * (y + 1) * (z + 1) - inside;
        assert_eq!(surface.positions_m.len(), points, "{kind:?}");
        let tip = &body.nodes[1];
        for (at, moved) in surface.positions_m.iter().zip(&surface.displacement) {
            if at[0] < 0.6 {
                continue;
            }
            for (mode, moved) in moved.iter().enumerate() {
                let turn = |k: usize| tip.influence[k][mode];
                let offset = [0, 1, 2].map(|k| at[k] - tip.position_m[k]);
                let expected = [0, 1, 2].map(|k| {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    tip.influence[3 + k][mode] + turn(i) * offset[j] - turn(j) * offset[i]
                });
                let size = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                for k in 0..3 {
                    assert!((moved[k] - expected[k]).abs() <= KEPT * size, "{kind:?}");
                }
            }
        }
    }
}

/// Closed forms: a force along a bar without Poisson's effect gives F/A everywhere, a moment M y/I.
#[test]
fn stress_is_that_of_bars() {
    let size = [0.6, 0.1, 0.2];
    let body = reduced(&block(Kind::Hexa20, [3, 2, 2], size), 0.0);
    let surface = body.surface.as_ref().unwrap();
    let [area, second] = [size[1] * size[2], size[2] * size[1].powi(3) / 12.0];
    type Expected = fn(f64, f64) -> f64;
    let cases: [(usize, f64, Expected); 2] = [
        (3, 1.0 / area, |_, full| full),
        // about z: what lies at positive y is pressed
        (2, 0.05 / second, |y, full| -full * y / 0.05),
    ];
    for (row, full, expected) in cases {
        let eta = under_load(&body, row);
        for (at, stress) in surface.positions_m.iter().zip(&surface.stress_pa) {
            for component in 0..6 {
                let found: f64 = (stress.iter().zip(&eta))
                    .map(|(own, eta)| own[component] * eta)
                    .sum();
                let wanted = if component == 0 {
                    expected(at[1], full)
                } else {
                    0.0
                };
                assert!(
                    (found - wanted).abs() < KEPT * full,
                    "{row} {at:?} {component}: {found} {wanted}"
                );
            }
        }
    }
}

/// By construction: what has more points than a picture bears has no surface, and is reduced all the same.
#[test]
fn large_surfaces_are_left_out() {
    let body = reduced(&block(Kind::Hexa8, [300, 4, 4], [3.0, 0.04, 0.04]), 0.3);
    assert!(body.surface.is_none());
}

/// Closed form: a member is drawn as a bar as thick as a circle with its second moments, which is seen from outside and ends with its interface.
#[test]
fn frames_are_drawn_as_bars() {
    let body = reduce_frame(
        &straight(rectangle(0.03, 0.03), 3),
        &Attached::default(),
        NEVER,
    );
    let body = body.unwrap().body;
    let surface = body.surface.unwrap();
    assert!(surface.stress_pa.is_empty());
    // a⁴/6 = πr⁴/2 per area
    let radius = 0.03 / 3.0_f64.sqrt();
    for at in &surface.positions_m {
        assert!((at[1].hypot(at[2]) / radius - 1.0).abs() < 1e-9, "{at:?}");
    }
    for corners in &surface.triangles {
        let [a, b, c] = corners.map(|k| surface.positions_m[k]);
        let [u, v] = [b, c].map(|p| [0, 1, 2].map(|k| p[k] - a[k]));
        let normal = [u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        assert!(normal[0] * (a[1] + b[1]) + normal[1] * (a[2] + b[2]) > 0.0);
    }
    let tip = &body.nodes[1];
    let last = surface.positions_m.len() - 8..;
    let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / 8.0;
    for k in 0..3 {
        let mut at = surface.positions_m[last.clone()].iter().map(|at| at[k]);
        assert!((mean(&mut at) - tip.position_m[k]).abs() < 1e-12);
        for mode in 0..3 {
            let mut moved = surface.displacement[last.clone()]
                .iter()
                .map(|own| own[mode][k]);
            let size = (0..3)
                .map(|k| tip.influence[3 + k][mode].abs())
                .sum::<f64>();
            let error = mean(&mut moved) - tip.influence[3 + k][mode];
            assert!(error.abs() <= KEPT * size, "{mode} {k}: {error}");
        }
    }
}
