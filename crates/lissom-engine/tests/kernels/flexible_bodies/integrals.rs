//! Integrals over mass nodes and along the axis, against brute force.

use lissom_tree::flex::{
    Basis, Beam, Boundary, Damping, FlexibleBody, MassNode, ModalIntegrals, NodalBody, NodalMass,
};

use super::{
    CLOSED_FORM, beam, close, counts, elements, reduce, relatively_close, scattered, stepped,
};

/// Gauss points and weights of a composite three-point rule with `panels` panels.
pub(crate) fn composite_rule(length: f64, panels: usize) -> Vec<(f64, f64)> {
    let h = length / panels as f64;
    let root = 0.6_f64.sqrt();
    let rule = [(-root, 5.0 / 9.0), (0.0, 8.0 / 9.0), (root, 5.0 / 9.0)];
    (0..panels)
        .flat_map(|k| rule.map(|(xi, weight)| ((k as f64 + 0.5 + 0.5 * xi) * h, 0.5 * h * weight)))
        .collect()
}

/// Numerical integration of the slopes at nodes, by another rule: the shortening at the tip, at mass points
/// (through the integral of its square), and in a plane of its own.
#[test]
fn shortening_is_the_integral_of_slopes() {
    // sixth order with 400 panels over four waves of the highest mode
    const RULE: f64 = 1e-11;
    for basis in [
        Basis::held(Boundary::Clamped, counts(3, 2, 1, 1)),
        Basis::held(Boundary::Free, counts(3, 2, 1, 1)),
        elements(&[4], None, Boundary::Clamped),
        elements(&[8], Some(3), Boundary::Free),
    ] {
        let beam = beam(basis);
        let rule = composite_rule(beam.length(), 400);
        let mut places: Vec<f64> = rule.iter().map(|point| point.0).collect();
        places.push(beam.length());
        let body = beam.reduce(&places, &Damping::None).unwrap();
        let [plane_y, plane_z, _] = body.second_order.as_ref().unwrap().coordinates.clone();
        let (size_y, size_z) = (plane_y.len(), plane_z.len());
        let tip = &body.nodes[rule.len()].second_order;
        for (plane, size, offset, axis) in [
            (plane_y, size_y, 0, 2),
            (plane_z, size_z, size_y * size_y, 1),
        ] {
            let (first, last) = (plane.start, plane.end - 1);
            for (row, column) in [(first, first), (first, last), (last, last)] {
                let index = offset + (row - first) * size + (column - first);
                let (mut slopes, mut squares) = (0.0, 0.0);
                for (&(_, weight), node) in rule.iter().zip(&body.nodes) {
                    slopes += weight * node.rotation[row][axis] * node.rotation[column][axis];
                    squares += weight
                        * beam.segments[0].mass_per_length
                        * node.second_order[index].powi(2);
                }
                close(tip[index], -slopes, RULE, "shortening at the tip");
                let found: f64 = (body.mass_nodes.iter())
                    .map(|point| point.mass * point.node.second_order[index].powi(2))
                    .sum();
                relatively_close(found, squares, RULE, "integral of the squared shortening");
            }
        }
    }
}

/// The value of $`S_{\alpha\beta}[i][j]`$ in the blocks, zero if no block holds it.
fn product(integrals: &ModalIntegrals, row: usize, column: usize, i: usize, j: usize) -> f64 {
    integrals
        .products
        .iter()
        .filter(|block| block.row_component == i && block.column_component == j)
        .filter(|block| block.rows.contains(&row) && block.columns.contains(&column))
        .map(|block| {
            block.values
                [(row - block.rows.start) * block.columns.len() + column - block.columns.start]
        })
        .sum()
}

/// Brute force: nodes with inertia against the points they are made of, each moved by
/// $`d + \theta\times\rho`$.
#[test]
fn integrals_agree_with_a_cloud_of_points() {
    const COUNT: usize = 3;
    /// Mass, position and motion.
    type Point = (f64, [f64; 3], Motion);
    type Motion = [[f64; 3]; COUNT];
    let mut next = scattered();
    let mut vector = || [next(), next(), next()];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let mut nodes = Vec::new();
    let mut cloud: Vec<Point> = Vec::new();
    for _ in 0..4 {
        let position = vector();
        let turn: [[f64; 3]; COUNT] = std::array::from_fn(|_| vector());
        let shift: [[f64; 3]; COUNT] = std::array::from_fn(|_| vector());
        let (mut mass, mut moment, mut inertia) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        for _ in 0..5 {
            let offset = vector();
            let point = 1.5 + vector()[0];
            mass += point;
            let square: f64 = offset.iter().map(|x| x * x).sum();
            for i in 0..3 {
                moment[i] += point * offset[i];
                inertia[i][i] += point * square;
                for j in 0..3 {
                    inertia[i][j] -= point * offset[i] * offset[j];
                }
            }
            let moved = std::array::from_fn(|k| {
                let turned = cross(turn[k], offset);
                std::array::from_fn(|i| shift[k][i] + turned[i])
            });
            cloud.push((
                point,
                std::array::from_fn(|i| position[i] + offset[i]),
                moved,
            ));
        }
        let influence = std::array::from_fn(|row| {
            (0..COUNT)
                .map(|k| {
                    if row < 3 {
                        turn[k][row]
                    } else {
                        shift[k][row - 3]
                    }
                })
                .collect()
        });
        nodes.push(NodalMass {
            position,
            mass,
            centre: moment.map(|m| m / mass),
            inertia,
            influence,
        });
    }
    let body = NodalBody {
        coordinates: ["a", "b", "c"].map(str::to_owned).to_vec(),
        nodes,
        stiffness: vec![2.0, 0.5, 0.0, 0.5, 3.0, 0.0, 0.0, 0.0, 4.0],
    }
    .reduce(&Damping::None)
    .unwrap();
    let sum = |f: &dyn Fn(&[f64; 3], &Motion) -> f64| -> f64 {
        cloud
            .iter()
            .map(|(mass, position, moved)| mass * f(position, moved))
            .sum()
    };
    close(body.mass, sum(&|_, _| 1.0), CLOSED_FORM, "mass");
    for i in 0..3 {
        close(
            body.first_moment[i],
            sum(&|r, _| r[i]),
            CLOSED_FORM,
            "first moment",
        );
        for j in 0..3 {
            close(
                body.second_moment[i][j],
                sum(&|r, _| r[i] * r[j]),
                CLOSED_FORM,
                "second moment",
            );
            for row in 0..COUNT {
                close(
                    body.integrals.first[row][i],
                    sum(&|_, m| m[row][i]),
                    CLOSED_FORM,
                    "P",
                );
                let with_position = body.integrals.with_position[row][i][j];
                close(
                    with_position,
                    sum(&|r, m| r[i] * m[row][j]),
                    CLOSED_FORM,
                    "R",
                );
                for column in 0..COUNT {
                    let expected = sum(&|_, m| m[row][i] * m[column][j]);
                    close(
                        product(&body.integrals, row, column, i, j),
                        expected,
                        CLOSED_FORM,
                        "S",
                    );
                }
            }
        }
    }
}

fn as_nodal(mass_nodes: &[MassNode], body: &FlexibleBody) -> NodalBody {
    let nodes = mass_nodes.iter().map(|mass_node| {
        let moment = mass_node.second_moment;
        let trace = moment[0][0] + moment[1][1] + moment[2][2];
        let influence = std::array::from_fn(|row| {
            let vectors = if row < 3 {
                &mass_node.node.rotation
            } else {
                &mass_node.node.displacement
            };
            vectors.iter().map(|vector| vector[row % 3]).collect()
        });
        NodalMass {
            position: mass_node.node.position,
            mass: mass_node.mass,
            centre: mass_node.centre,
            inertia: std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    if i == j {
                        trace - moment[i][j]
                    } else {
                        -moment[i][j]
                    }
                })
            }),
            influence,
        }
    });
    NodalBody {
        coordinates: body.coordinates.clone(),
        nodes: nodes.collect(),
        stiffness: body.stiffness.clone(),
    }
}

/// Round trip: the mass nodes of a beam, read as a nodal body, give the same body.
#[test]
fn mass_nodes_hold_all_of_the_mass() {
    for rotary_inertia in [false, true] {
        let beam = Beam {
            rotary_inertia,
            point_masses: vec![(0.5, 0.7)],
            ..stepped(Basis::held(Boundary::Clamped, counts(3, 2, 2, 2)))
        };
        let direct = reduce(&beam);
        let nodal = as_nodal(&direct.mass_nodes, &direct)
            .reduce(&Damping::None)
            .unwrap();
        close(nodal.mass, direct.mass, CLOSED_FORM, "mass");
        for i in 0..3 {
            close(
                nodal.first_moment[i],
                direct.first_moment[i],
                CLOSED_FORM,
                "first moment",
            );
            for j in 0..3 {
                close(
                    nodal.second_moment[i][j],
                    direct.second_moment[i][j],
                    CLOSED_FORM,
                    "second moment",
                );
                for row in 0..9 {
                    let (found, expected) = (&nodal.integrals, &direct.integrals);
                    close(
                        found.first[row][i],
                        expected.first[row][i],
                        CLOSED_FORM,
                        "P",
                    );
                    let expected_position = expected.with_position[row][i][j];
                    close(
                        found.with_position[row][i][j],
                        expected_position,
                        CLOSED_FORM,
                        "R",
                    );
                    for column in 0..9 {
                        let expected = product(expected, row, column, i, j);
                        close(
                            product(found, row, column, i, j),
                            expected,
                            CLOSED_FORM,
                            "S",
                        );
                    }
                }
            }
        }
        let stored: usize = direct
            .integrals
            .products
            .iter()
            .map(|block| block.values.len())
            .sum();
        assert!(
            stored < 9 * 9 * 9 / 3,
            "most products of a beam vanish, {stored} are stored"
        );
    }
}
