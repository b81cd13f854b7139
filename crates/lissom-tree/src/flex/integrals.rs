//! Mass, moments and [`ModalIntegrals`] of a body from its [`MassNode`]s.
//!
//! A mass node is a cluster of points. A point at offset ρ from the node moves with coordinate α by
//! $`\psi_\alpha = d_\alpha + \theta_\alpha \times \rho`$, where $`d_\alpha`$ and $`\theta_\alpha`$ are
//! the displacement and rotation of the node. Both this and the position $`r = p + \rho`$ are linear in
//! $`(1, \rho)`$,
//!
//! ```math
//! \psi_\alpha = G_\alpha \begin{pmatrix} 1 \\ \rho \end{pmatrix}, \quad
//! G_\alpha = \begin{pmatrix} d_\alpha & \theta_\alpha^\times \end{pmatrix}, \qquad
//! r = Q \begin{pmatrix} 1 \\ \rho \end{pmatrix}, \quad
//! Q = \begin{pmatrix} p & 1 \end{pmatrix},
//! ```
//!
//! so with the 4 × 4 moments of the cluster $`N = \int (1, \rho)^T (1, \rho)\,dm`$ every integral of
//! \[Damaren & Sharf 1995, eqs (7)–(15)\] is a product:
//! $`\int r r^T dm = Q N Q^T`$, $`R_\alpha = Q N G_\alpha^T`$,
//! $`S_{\alpha\beta} = G_\alpha N G_\beta^T`$, and $`\int r\,dm`$ and $`P_\alpha`$ are the first columns
//! of $`Q N`$ and $`G_\alpha N`$.

use std::ops::Range;

use super::body::{MassNode, ModalIntegrals, ProductBlock};

/// Entries below this fraction of the largest value they could have are rounding, and count as zero.
const VANISHING: f64 = 1e-14;

/// What the motion of a body needs to know of the distribution of its mass.
pub(super) struct MassProperties {
    pub(super) mass: f64,
    pub(super) first_moment: [f64; 3],
    pub(super) second_moment: [[f64; 3]; 3],
    pub(super) integrals: ModalIntegrals,
}

/// A linear map from (1, ρ) to space.
type Affine = [[f64; 4]; 3];

/// Integrals over `mass_nodes` with `count` elastic coordinates.
///
/// `groups` are ranges of coordinates that together cover all of them. The product blocks of two groups
/// are stored apart, each cut down to the rows and columns that do not vanish.
pub(super) fn mass_properties(
    mass_nodes: &[MassNode],
    count: usize,
    groups: &[Range<usize>],
) -> MassProperties {
    let mut mass = 0.0;
    let mut first_moment = [0.0; 3];
    let mut second_moment = [[0.0; 3]; 3];
    let mut first = vec![[0.0; 3]; count];
    let mut with_position = vec![[[0.0; 3]; 3]; count];
    let mut products = vec![[[0.0; 3]; 3]; count * count];
    for mass_node in mass_nodes {
        let moments = cluster_moments(mass_node);
        let position = position_map(mass_node);
        let position_moments = map_moments(&position, &moments);
        mass += mass_node.mass;
        for i in 0..3 {
            first_moment[i] += position_moments[i][0];
        }
        add_product(&mut second_moment, &position_moments, &position);

        // only coordinates that move this node take part: few of them do in a mesh of elements
        let moving: Vec<(usize, Affine)> = (0..count)
            .map(|coordinate| (coordinate, displacement_map(mass_node, coordinate)))
            .filter(|(_, map)| map.iter().flatten().any(|&entry| entry != 0.0))
            .collect();
        for (index, (row, row_map)) in moving.iter().enumerate() {
            let row_moments = map_moments(row_map, &moments);
            for i in 0..3 {
                first[*row][i] += row_moments[i][0];
            }
            add_product(&mut with_position[*row], &position_moments, row_map);
            for (column, column_map) in &moving[index..] {
                add_product(
                    &mut products[row * count + column],
                    &row_moments,
                    column_map,
                );
            }
        }
    }
    mirror(&mut products, count);

    let mass_matrix = products
        .iter()
        .map(|s| s[0][0] + s[1][1] + s[2][2])
        .collect::<Vec<f64>>();
    let products = product_blocks(&products, &mass_matrix, groups);
    MassProperties {
        mass,
        first_moment,
        second_moment,
        integrals: ModalIntegrals {
            first,
            with_position,
            products,
            mass_matrix,
        },
    }
}

/// `N`, the moments of (1, ρ).
fn cluster_moments(mass_node: &MassNode) -> [[f64; 4]; 4] {
    let mut moments = [[0.0; 4]; 4];
    moments[0][0] = mass_node.mass;
    for i in 0..3 {
        moments[0][i + 1] = mass_node.mass * mass_node.centre[i];
        moments[i + 1][0] = moments[0][i + 1];
        for j in 0..3 {
            moments[i + 1][j + 1] = mass_node.second_moment[i][j];
        }
    }
    moments
}

/// `Q`, from (1, ρ) to the position of the point.
fn position_map(mass_node: &MassNode) -> Affine {
    let p = mass_node.node.position;
    [
        [p[0], 1.0, 0.0, 0.0],
        [p[1], 0.0, 1.0, 0.0],
        [p[2], 0.0, 0.0, 1.0],
    ]
}

/// `G`, from (1, ρ) to the displacement of the point per unit of the coordinate.
fn displacement_map(mass_node: &MassNode, coordinate: usize) -> Affine {
    let d = mass_node.node.displacement[coordinate];
    let t = mass_node.node.rotation[coordinate];
    [
        [d[0], 0.0, -t[2], t[1]],
        [d[1], t[2], 0.0, -t[0]],
        [d[2], -t[1], t[0], 0.0],
    ]
}

fn map_moments(map: &Affine, moments: &[[f64; 4]; 4]) -> Affine {
    let mut product = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            product[i][j] = (0..4).map(|k| map[i][k] * moments[k][j]).sum();
        }
    }
    product
}

/// Adds `left rightᵀ` to `sum`.
fn add_product(sum: &mut [[f64; 3]; 3], left: &Affine, right: &Affine) {
    for i in 0..3 {
        for j in 0..3 {
            sum[i][j] += (0..4).map(|k| left[i][k] * right[j][k]).sum::<f64>();
        }
    }
}

/// Fills the lower triangle by $`S_{\beta\alpha} = S_{\alpha\beta}^T`$.
fn mirror(products: &mut [[[f64; 3]; 3]], count: usize) {
    for row in 0..count {
        for column in 0..row {
            let upper = products[column * count + row];
            products[row * count + column] =
                std::array::from_fn(|i| std::array::from_fn(|j| upper[j][i]));
        }
    }
}

/// The blocks of the products that do not vanish, by component pair and pair of groups.
pub(super) fn product_blocks(
    products: &[[[f64; 3]; 3]],
    mass_matrix: &[f64],
    groups: &[Range<usize>],
) -> Vec<ProductBlock> {
    let count = groups.last().map_or(0, |group| group.end);
    let mut blocks = Vec::new();
    for row_component in 0..3 {
        for column_component in 0..3 {
            // by Cauchy and Schwarz no entry can exceed the root of the two diagonal ones
            let present = |row: usize, column: usize| {
                let bound = mass_matrix[row * count + row] * mass_matrix[column * count + column];
                products[row * count + column][row_component][column_component].abs()
                    > VANISHING * bound.abs().sqrt()
            };
            for row_group in groups {
                for column_group in groups {
                    let rows = span(row_group, |row| {
                        column_group.clone().any(|c| present(row, c))
                    });
                    let columns = span(column_group, |column| {
                        row_group.clone().any(|r| present(r, column))
                    });
                    if rows.is_empty() {
                        continue;
                    }
                    let values = rows
                        .clone()
                        .flat_map(|row| columns.clone().map(move |column| row * count + column))
                        .map(|index| products[index][row_component][column_component])
                        .collect();
                    blocks.push(ProductBlock {
                        row_component,
                        column_component,
                        rows,
                        columns,
                        values,
                    });
                }
            }
        }
    }
    blocks
}

/// The smallest range inside `group` that holds every index for which `present` is true.
fn span(group: &Range<usize>, present: impl Fn(usize) -> bool) -> Range<usize> {
    let first = group.clone().find(|&index| present(index));
    let last = group.clone().rev().find(|&index| present(index));
    match (first, last) {
        (Some(first), Some(last)) => first..last + 1,
        _ => group.start..group.start,
    }
}
