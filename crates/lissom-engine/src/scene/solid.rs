//! Solids that stand for rigid bodies and payloads: of uniform density, with their mass and inertia.

use nalgebra::{Matrix3, SymmetricEigen};
use serde::Serialize;

use lissom_spatial::{Matrix, Quaternion};
use lissom_spec::spec::{PayloadSpec, RigidSpec};

/// Moments of inertia that differ by less than this part of the largest count as equal: data of a round body are
/// often given with three digits.
const EQUAL_MOMENTS: f64 = 0.01;

/// A solid fixed to a body's frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Solid {
    /// Its shape.
    pub shape: Shape,
    /// Extents along its own axes x, y, z; zero where the inertia gives none.
    pub size: [f64; 3],
    /// Its centre in the body's frame.
    pub position: [f64; 3],
    /// Quaternion (w, x, y, z) that turns its axes into those of the body's frame.
    pub quaternion: [f64; 4],
    /// Name of the payload that it stands for; `None` for the body itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// Shape of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shape {
    /// All three principal moments are equal.
    Sphere,
    /// Two are equal; the axis is the solid's own x axis.
    Cylinder,
    /// All differ.
    Box,
}

impl Solid {
    /// The solid of a rigid body without its payloads and point masses.
    pub(super) fn of_rigid(rigid: &RigidSpec) -> Self {
        Self {
            position: rigid.center_of_mass_m,
            ..Self::new(
                rigid.mass_kg,
                rigid.inertia_kg_m2,
                rigid.products_of_inertia_kg_m2,
            )
        }
    }

    /// The solid of a payload at a place of a body.
    pub(super) fn of_payload(payload: &PayloadSpec, at: [f64; 3]) -> Self {
        Self {
            position: std::array::from_fn(|i| at[i] + payload.center_of_mass_m[i]),
            payload: Some(payload.name.clone()),
            ..Self::new(
                payload.mass_kg,
                payload.inertia_kg_m2,
                payload.products_of_inertia_kg_m2,
            )
        }
    }

    /// The solid of a mass with an inertia, at a place.
    pub(super) fn of_inertia(mass: f64, inertia: &Matrix<f64>, position: [f64; 3]) -> Self {
        let Matrix([[xx, xy, xz], [_, yy, yz], [_, _, zz]]) = *inertia;
        Self {
            position,
            ..Self::new(mass, [xx, yy, zz], [xy, xz, yz])
        }
    }

    /// The solid with this mass and these moments about its centre, at the origin.
    fn new(mass: f64, [xx, yy, zz]: [f64; 3], [xy, xz, yz]: [f64; 3]) -> Self {
        let tensor = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let eigen = SymmetricEigen::new(tensor);
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let moment = order.map(|i| eigen.eigenvalues[i]);
        let equal = |i: usize, j: usize| (moment[j] - moment[i]).abs() <= EQUAL_MOMENTS * moment[2];
        // own axes x, y, z; the axis of a cylinder is the one whose moment stands alone
        let (shape, axes) = match (equal(0, 1), equal(1, 2)) {
            (true, true) => (Shape::Sphere, [0, 1, 2]),
            (_, true) => (Shape::Cylinder, [0, 1, 2]),
            (true, _) => (Shape::Cylinder, [2, 0, 1]),
            _ => (Shape::Box, [0, 1, 2]),
        };
        let [a, b, c] = axes.map(|i| moment[i] / mass);
        let root = |square: f64| square.max(0.0).sqrt();
        let size = match shape {
            Shape::Sphere => [2.0 * root(2.5 * (a + b + c) / 3.0); 3],
            Shape::Cylinder => {
                let diameter = 2.0 * root(2.0 * a);
                [root(12.0 * (0.5 * (b + c) - 0.5 * a)), diameter, diameter]
            }
            Shape::Box => [
                root(6.0 * (b + c - a)),
                root(6.0 * (c + a - b)),
                root(6.0 * (a + b - c)),
            ],
        };
        Self {
            shape,
            size: size.map(|x| if x.is_finite() { x } else { 0.0 }),
            position: [0.0; 3],
            quaternion: orientation(&eigen.eigenvectors, axes.map(|i| order[i])),
            payload: None,
        }
    }
}

/// Quaternion of the frame whose axes are these columns.
fn orientation(vectors: &Matrix3<f64>, axes: [usize; 3]) -> [f64; 4] {
    let x = vectors.column(axes[0]).into_owned();
    let y = vectors.column(axes[1]).into_owned();
    // right-handed whatever the signs of the eigenvectors are
    let z = x.cross(&y);
    let matrix = Matrix(std::array::from_fn(|i| [x[i], y[i], z[i]]));
    Quaternion::of_matrix(&matrix).0
}

#[cfg(test)]
mod tests {
    use super::{Shape, Solid};

    /// Rounding of the eigenvalues and of a square root.
    const ROUNDING: f64 = 1e-9;

    fn assert_size(solid: &Solid, size: [f64; 3]) {
        for (found, expected) in solid.size.iter().zip(size) {
            assert!((found - expected).abs() < ROUNDING, "{solid:?}");
        }
    }

    /// Closed form: the drum of the Shuttle arm, 10 m long and 4 m thick.
    #[test]
    fn a_drum_is_a_drum() {
        let drum = Solid::new(15e3, [30e3, 140e3, 140e3], [0.0; 3]);
        assert_eq!(drum.shape, Shape::Cylinder);
        assert_size(&drum, [10.0, 4.0, 4.0]);
    }

    /// Closed form: a disc turned so that its axis is z; a brick; a ball; a point.
    #[test]
    fn discs_bricks_balls_and_points() {
        let (mass, radius) = (3.0, 0.5);
        let across = mass * radius * radius / 4.0;
        let disc = Solid::new(mass, [across, across, 2.0 * across], [0.0; 3]);
        assert_eq!(disc.shape, Shape::Cylinder);
        assert_size(&disc, [0.0, 2.0 * radius, 2.0 * radius]);
        let [w, x, y, z] = disc.quaternion;
        // where its own x axis points
        let axis = [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + w * z),
            2.0 * (x * z - w * y),
        ];
        assert!(axis[2].abs() > 1.0 - ROUNDING, "{axis:?}");

        let [a, b, c] = [1.0, 2.0, 3.0];
        let moments = [b * b + c * c, c * c + a * a, a * a + b * b].map(|s: f64| s * mass / 12.0);
        let brick = Solid::new(mass, moments, [0.0; 3]);
        assert_eq!(brick.shape, Shape::Box);
        // sizes along axes of rising moment, the longest first
        assert_size(&brick, [c, b, a]);

        let ball = Solid::new(mass, [0.4 * mass * radius * radius; 3], [0.0; 3]);
        assert_eq!(ball.shape, Shape::Sphere);
        assert_size(&ball, [2.0 * radius; 3]);
        assert_size(&Solid::new(mass, [0.0; 3], [0.0; 3]), [0.0; 3]);
    }
}
