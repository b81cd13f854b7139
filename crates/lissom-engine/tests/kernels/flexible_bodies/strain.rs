//! Axial strain of second order: its energy against brute force, and the bases that do not lock.

use std::f64::consts::PI;

use lissom_tree::flex::{
    AxialStrain, Basis, Beam, Boundary, Component, Damping, FlexibleBody, Membrane, ModeCounts,
};

use super::integrals::composite_rule;
use super::{
    CLOSED_FORM, FREQUENCY, beam, close, counts, elements, entry, reduce, relatively_close,
    scattered, slender, stepped,
};

/// Promised of the points along modes; elements are exact.
const ENERGY: f64 = 2e-12;

fn strain(body: &FlexibleBody) -> &AxialStrain {
    body.strain.as_ref().expect("the beam has axial stiffness")
}

/// Slopes u', v', w' at a point.
fn at_point(strain: &AxialStrain, point: usize, eta: &[f64]) -> [f64; 3] {
    let slopes = &strain.slopes[point * eta.len()..];
    let mut sum = [0.0; 3];
    for ((component, slope), eta) in strain.component.iter().zip(slopes).zip(eta) {
        if let Some(axis) = component {
            sum[*axis] += slope * eta;
        }
    }
    sum
}

fn cell_strain(strain: &AxialStrain, cell: usize, eta: &[f64]) -> f64 {
    strain.cells[cell]
        .clone()
        .map(|point| {
            let [u, v, w] = at_point(strain, point, eta);
            strain.weights[point] * (u + 0.5 * (v * v + w * w))
        })
        .sum()
}

fn energy(strain: &AxialStrain, eta: &[f64]) -> f64 {
    (0..strain.cells.len())
        .map(|cell| 0.5 * strain.stiffness[cell] * cell_strain(strain, cell, eta).powi(2))
        .sum()
}

fn gradient(strain: &AxialStrain, eta: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; eta.len()];
    for (cell, points) in strain.cells.iter().enumerate() {
        let force = strain.stiffness[cell] * cell_strain(strain, cell, eta);
        for point in points.clone() {
            let [_, v, w] = at_point(strain, point, eta);
            let factors = [1.0, v, w];
            for (alpha, sum) in gradient.iter_mut().enumerate() {
                if let Some(axis) = strain.component[alpha] {
                    let slope = strain.slopes[point * eta.len() + alpha];
                    *sum += force * strain.weights[point] * factors[axis] * slope;
                }
            }
        }
    }
    gradient
}

/// Coordinates without pattern, of a size that makes both parts of the strain count.
fn scattered_coordinates(body: &FlexibleBody, next: &mut impl FnMut() -> f64) -> Vec<f64> {
    let strain = strain(body);
    let count = body.len();
    let points = strain.weights.len();
    (0..count)
        .map(|alpha| {
            let largest = (0..points).fold(0.0, |a: f64, point| {
                a.max(strain.slopes[point * count + alpha].abs())
            });
            let size = if strain.component[alpha] == Some(0) {
                0.05
            } else {
                0.3
            };
            if largest > 0.0 {
                size * next() / largest
            } else {
                next()
            }
        })
        .collect()
}

/// The axial strain at the points of a fine rule.
struct Fine {
    /// Place, and weight times axial stiffness.
    points: Vec<(f64, f64)>,
    slopes: Vec<Vec<f64>>,
    component: Vec<Option<usize>>,
}

impl Fine {
    /// The slopes of stretch are those of `stretch_slope`, or differences within linear elements.
    fn new(beam: &Beam, stretch_slope: Option<&dyn Fn(usize, f64) -> f64>) -> Self {
        const PANELS: usize = 480;
        // points, each with the ends of its panel, between which linear functions have their slope
        let (mut points, mut places, mut start) = (Vec::new(), Vec::new(), 0.0);
        for segment in &beam.segments {
            let panel = segment.length / PANELS as f64;
            for (x, weight) in composite_rule(segment.length, PANELS) {
                points.push((start + x, weight * segment.axial_stiffness));
                let first = start + (x / panel).floor() * panel;
                places.extend([start + x, first, (first + panel).min(beam.length())]);
            }
            start += segment.length;
        }
        let body = beam
            .reduce(&places, &Damping::None)
            .expect("the beam is valid");
        let component = strain(&body).component.clone();
        let bending = component.iter().filter(|axis| **axis > Some(0)).count();
        let slopes = points
            .iter()
            .enumerate()
            .map(|(index, &(x, _))| {
                let nodes = &body.nodes[3 * index..3 * index + 3];
                let slope = |alpha: usize| match (component[alpha], stretch_slope) {
                    (Some(1), _) => nodes[0].rotation[alpha][2],
                    (Some(2), _) => -nodes[0].rotation[alpha][1],
                    (Some(_), Some(slope)) => slope(alpha - bending, x),
                    (Some(_), None) => {
                        let [a, b] = [1, 2].map(|k| nodes[k].displacement[alpha][0]);
                        (b - a) / (nodes[2].position[0] - nodes[1].position[0])
                    }
                    (None, _) => 0.0,
                };
                (0..body.len()).map(slope).collect()
            })
            .collect();
        Self {
            points,
            slopes,
            component,
        }
    }

    fn strain_at(&self, index: usize, eta: &[f64]) -> f64 {
        let mut sum = [0.0; 3];
        for (alpha, component) in self.component.iter().enumerate() {
            if let Some(axis) = component {
                sum[*axis] += self.slopes[index][alpha] * eta[alpha];
            }
        }
        sum[0] + 0.5 * (sum[1] * sum[1] + sum[2] * sum[2])
    }

    fn energy(&self, eta: &[f64]) -> f64 {
        (0..self.points.len())
            .map(|index| 0.5 * self.points[index].1 * self.strain_at(index, eta).powi(2))
            .sum()
    }
}

fn averaged(per_segment: &[usize], modes: Option<usize>) -> Basis {
    let Basis::Elements {
        per_segment,
        planes,
        modes,
        boundary,
        ..
    } = elements(per_segment, modes, Boundary::Clamped)
    else {
        unreachable!("elements are elements")
    };
    Basis::Elements {
        per_segment,
        planes,
        modes,
        boundary,
        membrane: Membrane::Averaged,
    }
}

fn foreshortened(counts: ModeCounts) -> Basis {
    Basis::held(
        Boundary::Clamped,
        ModeCounts {
            foreshortening: true,
            ..counts
        },
    )
}

/// Agreement of two integrals: to second order the energy is that of the stiffness of stretch.
#[test]
fn stretch_has_the_energy_of_its_stiffness() {
    let mut next = scattered();
    let bases = [
        Basis::held(Boundary::Clamped, counts(3, 2, 3, 1)),
        Basis::held(Boundary::Free, counts(2, 3, 3, 1)),
        foreshortened(counts(3, 2, 2, 1)),
    ];
    let uniform = [
        elements(&[4], None, Boundary::Clamped),
        averaged(&[4], Some(3)),
    ];
    let cut = [
        elements(&[4, 3], Some(3), Boundary::Free),
        averaged(&[2, 3], None),
    ];
    let beams = bases
        .iter()
        .flat_map(|basis| [beam(basis.clone()), stepped(basis.clone())]);
    let beams = beams.chain(uniform.map(beam)).chain(cut.map(stepped));
    for beam in beams {
        let body = reduce(&beam);
        let count = body.len();
        let strain = strain(&body);
        let mut eta = scattered_coordinates(&body, &mut next);
        for (eta, component) in eta.iter_mut().zip(&strain.component) {
            if *component != Some(0) {
                *eta = 0.0;
            }
        }
        let mut expected = 0.0;
        for row in 0..count {
            for column in 0..count {
                expected +=
                    0.5 * eta[row] * eta[column] * entry(&body.stiffness, count, row, column);
            }
        }
        assert!(expected > 0.0);
        relatively_close(energy(strain, &eta), expected, CLOSED_FORM, "energy");
    }
}

/// Bodies and the fine rule that knows better.
fn cases() -> Vec<(FlexibleBody, Fine)> {
    let s = slender();
    let scale = (2.0 / (s.mass_per_length * s.length)).sqrt();
    let clamped = |index: usize, x: f64| {
        let wave = (index as f64 + 0.5) * PI / s.length;
        scale * wave * (wave * x).cos()
    };
    let free = |index: usize, x: f64| {
        let wave = (index as f64 + 1.0) * PI / s.length;
        -scale * wave * (wave * x).sin()
    };
    let mut cases = Vec::new();
    for modes in [1, 3, 6] {
        let counts = counts(modes, modes.min(2), 2, 1);
        for (basis, slope) in [
            (
                Basis::held(Boundary::Clamped, counts),
                &clamped as &dyn Fn(usize, f64) -> f64,
            ),
            (Basis::held(Boundary::Free, counts), &free),
        ] {
            let beam = beam(basis);
            cases.push((reduce(&beam), Fine::new(&beam, Some(slope))));
        }
    }
    for beam in [
        beam(elements(&[4], None, Boundary::Clamped)),
        stepped(elements(&[3, 2], None, Boundary::Clamped)),
        stepped(elements(&[4, 6], Some(3), Boundary::Free)),
    ] {
        cases.push((reduce(&beam), Fine::new(&beam, None)));
    }
    cases
}

/// Brute force: the energy by cells against a fine rule, and the forces against its differences.
#[test]
fn energy_and_forces_agree_with_a_fine_rule() {
    // central differences lose half of the digits of a third derivative over a step of 1e-5
    const STEP: f64 = 1e-5;
    const DIFFERENCES: f64 = 1e-7;
    let mut next = scattered();
    for (body, fine) in cases() {
        let strain = strain(&body);
        for _ in 0..3 {
            let eta = scattered_coordinates(&body, &mut next);
            relatively_close(energy(strain, &eta), fine.energy(&eta), ENERGY, "energy");
        }
        let eta = scattered_coordinates(&body, &mut next);
        let sizes = scattered_coordinates(&body, &mut || 1.0);
        let total = energy(strain, &eta);
        for (alpha, force) in gradient(strain, &eta).into_iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = eta.clone();
                moved[alpha] += by * sizes[alpha];
                fine.energy(&moved)
            };
            let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP * total);
            let found = force * sizes[alpha] / total;
            close(found, expected, DIFFERENCES, &body.coordinates[alpha]);
        }
    }
}

/// Numerical integration: every element is one cell with the mean of the strain.
#[test]
fn averaged_strain_is_the_mean_over_an_element() {
    let beam = stepped(averaged(&[3, 2], None));
    let fine = Fine::new(&beam, None);
    let body = reduce(&beam);
    let strain = strain(&body);
    assert_eq!(strain.cells.len(), 5);
    let mut next = scattered();
    let eta = scattered_coordinates(&body, &mut next);
    let mut start = 0;
    for cell in 0..5 {
        let points = if cell < 3 { 480 } else { 720 };
        let weight: f64 = fine.points[start..start + points].iter().map(|p| p.1).sum();
        let mean: f64 = (start..start + points)
            .map(|index| fine.points[index].1 / weight * fine.strain_at(index, &eta))
            .sum();
        relatively_close(strain.stiffness[cell], weight, CLOSED_FORM, "stiffness");
        relatively_close(cell_strain(strain, cell, &eta), mean, CLOSED_FORM, "strain");
        start += points;
    }
    assert_eq!(start, fine.points.len());
}

/// Order of accuracy: the mean over an element misses what the strain varies within it, of second order.
#[test]
fn averaged_strain_converges_to_the_strain() {
    // what the next order still contributes with 8 elements
    const ORDER: f64 = 0.1;
    let length = slender().length;
    let energies = |count: usize| {
        [
            elements(&[count], None, Boundary::Clamped),
            averaged(&[count], None),
        ]
        .map(|basis| {
            let body = reduce(&beam(basis));
            let coordinate = |name: &String| {
                let (kind, node) = name.rsplit_once('_').unwrap();
                let x = (node.parse::<f64>().unwrap() - 1.0) / count as f64 * length;
                match kind {
                    "v" => 0.2 * x * x,
                    "v_slope" => 0.4 * x,
                    "w" => -0.1 * x * x * x,
                    "w_slope" => -0.3 * x * x,
                    "u" => -0.05 * x * x,
                    _ => 0.0,
                }
            };
            let eta: Vec<f64> = body.coordinates.iter().map(coordinate).collect();
            energy(strain(&body), &eta)
        })
    };
    let differences = [8, 16].map(|count| {
        let [pointwise, averaged] = energies(count);
        assert!(averaged < pointwise);
        pointwise - averaged
    });
    let order = (differences[0] / differences[1]).log2();
    assert!((order - 2.0).abs() < ORDER, "order {order}");
}

/// The stretch that leaves the least energy at these bending coordinates; the energy without stretch, and with.
fn relaxed(body: &FlexibleBody, eta: &[f64]) -> (Vec<f64>, f64, f64) {
    let strain = strain(body);
    let mut eta = eta.to_vec();
    let stretches = |alpha: usize| strain.component[alpha] == Some(0);
    for (alpha, value) in eta.iter_mut().enumerate() {
        if stretches(alpha) {
            *value = 0.0;
        }
    }
    let locked = energy(strain, &eta);
    // the energy is a quadratic function of stretch; the second step removes the rounding of the first
    for _ in 0..2 {
        let force = gradient(strain, &eta);
        for alpha in (0..eta.len()).filter(|&alpha| stretches(alpha)) {
            eta[alpha] -= force[alpha] / entry(&body.stiffness, eta.len(), alpha, alpha);
        }
    }
    let relaxed = energy(strain, &eta);
    (eta, locked, relaxed)
}

/// Analytic: stretch can undo the strain of any bending, which natural functions cannot; the beam then keeps its
/// length, so that the stretch is the shortening.
#[test]
fn foreshortening_relieves_all_of_the_strain() {
    const RELIEVED: f64 = 1e-20;
    // of the polynomials between the points of the strain
    const SHAPE: f64 = 1e-8;
    let mut next = scattered();
    for counts in [counts(1, 0, 0, 0), counts(3, 2, 0, 0), counts(2, 4, 2, 1)] {
        for make in [beam, stepped] {
            let beam = make(foreshortened(counts));
            let places: Vec<f64> = (0..=40)
                .map(|k| f64::from(k) / 40.0 * beam.length())
                .collect();
            let body = beam.reduce(&places, &Damping::None).unwrap();
            let eta = scattered_coordinates(&body, &mut next);
            let (eta, locked, left) = relaxed(&body, &eta);
            assert!(left < RELIEVED * locked, "{left:e} of {locked:e} is left");

            let natural = reduce(&make(Basis::held(
                Boundary::Clamped,
                ModeCounts {
                    stretch: 1,
                    ..counts
                },
            )));
            let bending = scattered_coordinates(&natural, &mut next);
            let (_, locked, left) = relaxed(&natural, &bending);
            assert!(left > 1e-3 * locked, "{left:e} of {locked:e} is left");

            let field = body.second_order.as_ref().unwrap();
            let shortening = |entries: &[f64]| {
                let mut sum = 0.0;
                for (block, entries) in field.entries(entries) {
                    if block.component != Component::Displacement(0) {
                        continue;
                    }
                    let mut entries = entries.iter();
                    for &row in &eta[block.rows.clone()] {
                        for (&column, entry) in eta[block.columns.clone()].iter().zip(&mut entries)
                        {
                            sum += 0.5 * entry * row * column;
                        }
                    }
                }
                sum
            };
            let whole = shortening(&body.nodes[40].second_order);
            for node in &body.nodes {
                let moved: f64 = node
                    .displacement
                    .iter()
                    .zip(&eta)
                    .map(|(d, e)| d[0] * e)
                    .sum();
                let expected = shortening(&node.second_order);
                close(moved / whole, expected / whole, SHAPE, "stretch");
            }
        }
    }
}

/// The form of the stretch coordinates: how many are independent, their names, normalisation and signs.
#[test]
fn foreshortened_stretch_is_modal() {
    // Gram and Schmidt at the points of the strain, mass at other points
    const NORMALISED: f64 = 1e-10;
    // both planes of a uniform beam bend in the same functions, those of a stepped beam do not
    for (make, counts, expected) in [
        (beam as fn(Basis) -> Beam, counts(2, 2, 1, 1), 4),
        (stepped, counts(2, 2, 1, 1), 7),
        (beam, counts(3, 0, 0, 0), 6),
    ] {
        let body = reduce(&make(foreshortened(counts)));
        let stretch: Vec<usize> = (0..body.len())
            .filter(|&alpha| strain(&body).component[alpha] == Some(0))
            .collect();
        assert_eq!(stretch.len(), expected);
        let count = body.len();
        let mut before = 0.0;
        for (order, &alpha) in stretch.iter().enumerate() {
            assert_eq!(body.coordinates[alpha], format!("stretch_{}", order + 1));
            let square = entry(&body.stiffness, count, alpha, alpha);
            assert!(square > before);
            before = square;
            for &beta in &stretch {
                let mass = entry(&body.integrals.mass_matrix, count, alpha, beta);
                let expected = if alpha == beta { 1.0 } else { 0.0 };
                close(mass, expected, NORMALISED, "mass matrix");
            }
            if counts.stretch == 0 {
                assert!(body.nodes[2].displacement[alpha][0] > 0.0, "tip of {order}");
            }
        }
    }
}

/// Agreement of two bases: a natural function is in the space, and still a mode of it.
#[test]
fn natural_stretch_is_among_the_modes() {
    let counts = counts(2, 2, 1, 0);
    for make in [beam, stepped] {
        let natural = reduce(&make(Basis::held(Boundary::Clamped, counts)));
        let body = reduce(&make(foreshortened(counts)));
        let [found, expected] =
            [&body, &natural].map(|body| entry(&body.stiffness, body.len(), 4, 4));
        relatively_close(found.sqrt(), expected.sqrt(), FREQUENCY, "frequency");
        for (found, expected) in body.nodes.iter().zip(&natural.nodes) {
            let [found, expected] = [found, expected].map(|node| node.displacement[4][0]);
            close(found, expected, FREQUENCY, "displacement");
        }
    }
}

/// Robustness: of the products of many functions only those that are independent remain.
#[test]
fn dependent_foreshortening_is_left_out() {
    const PAIRS: usize = 45;
    let body = reduce(&beam(foreshortened(counts(9, 0, 0, 0))));
    let stretch = body.len() - 9;
    assert!(
        (9..PAIRS).contains(&stretch),
        "{stretch} stretch functions are kept"
    );
    let mut next = scattered();
    let eta = scattered_coordinates(&body, &mut next);
    let (_, locked, left) = relaxed(&body, &eta);
    // the square of the fraction below which a function is said to depend on others
    assert!(left < 1e-16 * locked, "{left:e} of {locked:e} is left");
}

/// Where there is no axial stiffness there is no axial strain.
#[test]
fn strain_needs_axial_stiffness() {
    let mut beam = stepped(Basis::held(Boundary::Clamped, counts(2, 2, 0, 0)));
    assert!(reduce(&beam).strain.is_some());
    beam.segments[1].axial_stiffness = 0.0;
    assert!(reduce(&beam).strain.is_none());
}
