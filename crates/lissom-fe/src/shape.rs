//! Shape functions and quadrature of the solid elements, nodes in the order of Abaqus.

/// A kind of solid element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Tetrahedron of 4 nodes.
    Tetra4,
    /// Tetrahedron of 10 nodes.
    Tetra10,
    /// Hexahedron of 8 nodes.
    Hexa8,
    /// Hexahedron of 20 nodes.
    Hexa20,
}

/// Corners of the reference cube.
pub(crate) const CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// Edges of the cube, in the order of their middle nodes.
const CUBE_EDGES: [[usize; 2]; 12] = [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
    [4, 5],
    [5, 6],
    [6, 7],
    [7, 4],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

/// Edges of the tetrahedron, in the order of their middle nodes.
const TETRA_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Slopes of the barycentric coordinates.
const BARYCENTRIC: [[f64; 3]; 4] = [
    [-1.0, -1.0, -1.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
];

/// A function of a node at a point: its value and its slopes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub(crate) value: f64,
    pub(crate) slopes: [f64; 3],
}

impl Kind {
    /// Number of nodes.
    pub fn nodes(self) -> usize {
        match self {
            Self::Tetra4 => 4,
            Self::Tetra10 => 10,
            Self::Hexa8 => 8,
            Self::Hexa20 => 20,
        }
    }

    /// Number of corners, which are its first nodes.
    pub(crate) fn corners(self) -> usize {
        match self {
            Self::Tetra4 | Self::Tetra10 => 4,
            Self::Hexa8 | Self::Hexa20 => 8,
        }
    }

    /// Name of the element.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tetra4 => "tetrahedron of 4 nodes",
            Self::Tetra10 => "tetrahedron of 10 nodes",
            Self::Hexa8 => "hexahedron of 8 nodes",
            Self::Hexa20 => "hexahedron of 20 nodes",
        }
    }

    /// Whether its functions are linear along every edge, so that it can shear and stretch but hardly bend.
    pub(crate) fn is_linear(self) -> bool {
        self.nodes() == self.corners()
    }

    /// The corners of the edge on whose middle a node is; none for corners.
    pub(crate) fn edge_of(self, node: usize) -> Option<[usize; 2]> {
        let edges: &[[usize; 2]] = match self {
            Self::Tetra4 | Self::Tetra10 => &TETRA_EDGES,
            Self::Hexa8 | Self::Hexa20 => &CUBE_EDGES,
        };
        edges.get(node.checked_sub(self.corners())?).copied()
    }

    /// Where a corner is in the reference element.
    pub(crate) fn corner(self, corner: usize) -> [f64; 3] {
        match self {
            Self::Tetra4 | Self::Tetra10 => {
                std::array::from_fn(|k| if k + 1 == corner { 1.0 } else { 0.0 })
            }
            Self::Hexa8 | Self::Hexa20 => CORNERS[corner],
        }
    }

    /// Corners of the faces, against the clock when seen from outside.
    pub(crate) fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tetra4 | Self::Tetra10 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Self::Hexa8 | Self::Hexa20 => &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        }
    }

    /// The functions of all nodes at a point of the reference element.
    pub(crate) fn functions(self, at: [f64; 3]) -> Vec<Function> {
        match self {
            Self::Tetra4 => tetra(at, &[]),
            Self::Tetra10 => tetra(at, &TETRA_EDGES),
            Self::Hexa8 => CORNERS.iter().map(|corner| product(*corner, at)).collect(),
            Self::Hexa20 => (CORNERS.iter().map(|corner| serendipity(*corner, at)))
                .chain(CUBE_EDGES.iter().map(|edge| edge_function(*edge, at)))
                .collect(),
        }
    }

    /// Points and weights for the stiffness.
    pub(crate) fn stiffness_rule(self) -> Vec<([f64; 3], f64)> {
        match self {
            Self::Tetra4 => vec![([0.25; 3], 1.0 / 6.0)],
            Self::Tetra10 => tetra_4_points(),
            Self::Hexa8 => cube(&GAUSS_2),
            Self::Hexa20 => cube(&GAUSS_3),
        }
    }

    /// Points and weights for the mass: exact for products of two functions on tetrahedra with straight edges and on parallelepipeds.
    pub(crate) fn mass_rule(self) -> Vec<([f64; 3], f64)> {
        match self {
            Self::Tetra4 => tetra_4_points(),
            Self::Tetra10 => tetra_15_points(),
            Self::Hexa8 => cube(&GAUSS_2),
            Self::Hexa20 => cube(&GAUSS_3),
        }
    }
}

fn tetra(at: [f64; 3], edges: &[[usize; 2]]) -> Vec<Function> {
    let [x, y, z] = at;
    let l = [1.0 - x - y - z, x, y, z];
    let corners = (0..4).map(|i| {
        let (value, factor) = if edges.is_empty() {
            (l[i], 1.0)
        } else {
            (l[i] * (2.0 * l[i] - 1.0), 4.0 * l[i] - 1.0)
        };
        Function {
            value,
            slopes: BARYCENTRIC[i].map(|slope| factor * slope),
        }
    });
    let middles = edges.iter().map(|&[i, j]| Function {
        value: 4.0 * l[i] * l[j],
        slopes: std::array::from_fn(|k| {
            4.0 * (l[i] * BARYCENTRIC[j][k] + l[j] * BARYCENTRIC[i][k])
        }),
    });
    corners.chain(middles).collect()
}

/// ⅛(1 + ξξᵢ)(1 + ηηᵢ)(1 + ζζᵢ).
fn product(corner: [f64; 3], at: [f64; 3]) -> Function {
    let f: [f64; 3] = std::array::from_fn(|k| 1.0 + corner[k] * at[k]);
    Function {
        value: 0.125 * f[0] * f[1] * f[2],
        slopes: [
            0.125 * corner[0] * f[1] * f[2],
            0.125 * corner[1] * f[0] * f[2],
            0.125 * corner[2] * f[0] * f[1],
        ],
    }
}

/// ⅛(1 + ξξᵢ)(1 + ηηᵢ)(1 + ζζᵢ)(ξξᵢ + ηηᵢ + ζζᵢ − 2).
fn serendipity(corner: [f64; 3], at: [f64; 3]) -> Function {
    let Function { value, slopes } = product(corner, at);
    let sum = (0..3).map(|k| corner[k] * at[k]).sum::<f64>() - 2.0;
    Function {
        value: value * sum,
        slopes: std::array::from_fn(|k| slopes[k] * sum + value * corner[k]),
    }
}

/// ¼(1 − ξ²)(1 + ηηᵢ)(1 + ζζᵢ), ξ along the edge.
fn edge_function([from, to]: [usize; 2], at: [f64; 3]) -> Function {
    let middle: [f64; 3] = std::array::from_fn(|k| 0.5 * (CORNERS[from][k] + CORNERS[to][k]));
    let factor: [[f64; 2]; 3] = std::array::from_fn(|k| {
        if middle[k] == 0.0 {
            [1.0 - at[k] * at[k], -2.0 * at[k]]
        } else {
            [1.0 + middle[k] * at[k], middle[k]]
        }
    });
    let with_slope = |k: usize| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        0.25 * factor[k][1] * factor[i][0] * factor[j][0]
    };
    Function {
        value: 0.25 * factor[0][0] * factor[1][0] * factor[2][0],
        slopes: [with_slope(0), with_slope(1), with_slope(2)],
    }
}

/// 1/√3.
const GAUSS_2: [(f64, f64); 2] = [
    (-0.577_350_269_189_625_8, 1.0),
    (0.577_350_269_189_625_8, 1.0),
];

/// √(3/5).
const GAUSS_3: [(f64, f64); 3] = [
    (-0.774_596_669_241_483_4, 5.0 / 9.0),
    (0.0, 8.0 / 9.0),
    (0.774_596_669_241_483_4, 5.0 / 9.0),
];

fn cube(line: &[(f64, f64)]) -> Vec<([f64; 3], f64)> {
    let mut points = Vec::new();
    for &(x, a) in line {
        for &(y, b) in line {
            for &(z, c) in line {
                points.push(([x, y, z], a * b * c));
            }
        }
    }
    points
}

/// Exact for polynomials of degree 2.
fn tetra_4_points() -> Vec<([f64; 3], f64)> {
    corners_of_tetra(0.138_196_601_125_010_5, 0.585_410_196_624_968_5, 1.0 / 24.0)
}

/// Exact for polynomials of degree 5 \[Keast 1986\].
fn tetra_15_points() -> Vec<([f64; 3], f64)> {
    /// Two of the barycentric coordinates of the points near the edges.
    const NEAR_EDGE: [f64; 2] = [0.066_550_153_573_664_28, 0.433_449_846_426_335_7];
    let mut points = vec![([0.25; 3], 0.030_283_678_097_089_18)];
    points.extend(corners_of_tetra(1.0 / 3.0, 0.0, 0.006_026_785_714_285_717));
    points.extend(corners_of_tetra(
        1.0 / 11.0,
        8.0 / 11.0,
        0.011_645_249_086_028_97,
    ));
    for [i, j] in TETRA_EDGES {
        let mut l = [NEAR_EDGE[0]; 4];
        l[i] = NEAR_EDGE[1];
        l[j] = NEAR_EDGE[1];
        points.push(([l[1], l[2], l[3]], 0.010_949_141_561_386_45));
    }
    points
}

/// The four points with one barycentric coordinate `own` and the others `other`.
fn corners_of_tetra(other: f64, own: f64, weight: f64) -> Vec<([f64; 3], f64)> {
    let point = |corner: usize| {
        let mut l = [other; 4];
        l[corner] = own;
        ([l[1], l[2], l[3]], weight)
    };
    (0..4).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of a few dozen numbers of the order of one.
    const ROUNDING: f64 = 1e-14;

    const ALL: [Kind; 4] = [Kind::Tetra4, Kind::Tetra10, Kind::Hexa8, Kind::Hexa20];

    /// Closed forms: functions sum to one, each is one at its own node and zero at others, rules have the volume.
    #[test]
    fn functions_are_a_partition_of_unity() {
        for kind in ALL {
            let volume = match kind {
                Kind::Tetra4 | Kind::Tetra10 => 1.0 / 6.0,
                Kind::Hexa8 | Kind::Hexa20 => 8.0,
            };
            for rule in [kind.stiffness_rule(), kind.mass_rule()] {
                let sum: f64 = rule.iter().map(|(_, weight)| weight).sum();
                assert!((sum - volume).abs() < ROUNDING, "{kind:?}: {sum}");
            }
            let at = [0.17, 0.23, 0.31];
            let functions = kind.functions(at);
            assert_eq!(functions.len(), kind.nodes());
            let sum: f64 = functions.iter().map(|f| f.value).sum();
            assert!((sum - 1.0).abs() < ROUNDING);
            for k in 0..3 {
                let sum: f64 = functions.iter().map(|f| f.slopes[k]).sum();
                assert!(sum.abs() < ROUNDING, "{kind:?}");
                // second formulation: central differences
                let step = 1e-5;
                let moved = |by: f64| {
                    let mut at = at;
                    at[k] += by;
                    kind.functions(at)
                };
                for ((f, ahead), behind) in functions.iter().zip(moved(step)).zip(moved(-step)) {
                    let slope = (ahead.value - behind.value) / (2.0 * step);
                    assert!((slope - f.slopes[k]).abs() < 1e-9, "{kind:?}");
                }
            }
        }
    }

    /// Closed form: ∫x^a y^b z^c over the tetrahedron is a! b! c! / (a + b + c + 3)!.
    #[test]
    fn the_mass_rule_of_quadratic_tetrahedra_is_exact_to_degree_four() {
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        for (a, b, c) in [
            (4, 0, 0),
            (2, 2, 0),
            (2, 1, 1),
            (1, 1, 1),
            (0, 3, 1),
            (0, 0, 5),
        ] {
            let power = |x: f64, n: u32| (0..n).fold(1.0, |p, _| p * x);
            let sum: f64 = (tetra_15_points().iter())
                .map(|([x, y, z], w)| w * power(*x, a) * power(*y, b) * power(*z, c))
                .sum();
            let exact = factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + 3);
            assert!((sum - exact).abs() < ROUNDING, "{a} {b} {c}: {sum} {exact}");
        }
    }
}
