//! Inertia tensors: positive definite, and such that masses could have them.

use super::Checker;
use super::limits::SMALLEST;
use crate::error::ErrorKind;
use crate::path::Path;

/// Rounding allowed in an inertia, relative to its largest entry: files carry few digits.
const ROUNDING: f64 = 1e-5;

/// What inertias are about, but for those of nodes.
pub(super) const CENTRE_OF_MASS: &str = "the centre of mass";

/// A symmetric tensor.
type Tensor = [[f64; 3]; 3];

/// The tensor of three moments and the entries xy, xz, yz.
pub(super) fn tensor(moments: [f64; 3], products: [f64; 3]) -> Tensor {
    let [xx, yy, zz] = moments;
    let [xy, xz, yz] = products;
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

/// The tensor about the centre of mass, from the one about a point at `-centre` from it.
pub(super) fn about_centre(about_point: Tensor, mass: f64, centre: [f64; 3]) -> Tensor {
    let square: f64 = centre.iter().map(|x| x * x).sum();
    let mut about_centre = about_point;
    for row in 0..3 {
        for column in 0..3 {
            let diagonal = if row == column { square } else { 0.0 };
            about_centre[row][column] -= mass * (diagonal - centre[row] * centre[column]);
        }
    }
    about_centre
}

impl Checker<'_> {
    /// Asks for the inertia about the centre of mass of something that has a volume.
    pub(super) fn inertia_of_volume(&mut self, path: Path, inertia: Tensor) {
        let is_small = (0..3).any(|axis| inertia[axis][axis] < SMALLEST);
        if is_small || scaled(inertia).is_some_and(|inertia| !is_positive_definite(inertia)) {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::NotPositiveDefinite { key });
        } else {
            self.inertia_of_mass(path, inertia, CENTRE_OF_MASS);
        }
    }

    /// Asks for the inertia about the centre of mass of anything, be it a point.
    ///
    /// Masses can have an inertia J exactly if ½ tr(J) − J, which is ∫ρρᵀdm, is not negative in any
    /// direction; in principal axes that is the triangle inequality. `about` is the point that the file has it about.
    pub(super) fn inertia_of_mass(&mut self, path: Path, inertia: Tensor, about: &'static str) {
        let Some(inertia) = scaled(inertia) else {
            return;
        };
        let half_trace = (inertia[0][0] + inertia[1][1] + inertia[2][2]) / 2.0;
        let mut second_moment = inertia.map(|row| row.map(|entry| -entry));
        for axis in 0..3 {
            second_moment[axis][axis] += half_trace + ROUNDING;
        }
        if !is_positive_definite(second_moment) {
            let key = path.last_key().to_owned();
            self.error(path, ErrorKind::ImpossibleInertia { key, about });
        }
    }
}

/// The tensor with entries of magnitude one at most; `None` if it is not finite. Zero stays zero.
fn scaled(tensor: Tensor) -> Option<Tensor> {
    let largest = tensor
        .as_flattened()
        .iter()
        .fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let finite = tensor.as_flattened().iter().all(|entry| entry.is_finite());
    let scale = if largest > 0.0 { largest } else { 1.0 };
    finite.then(|| tensor.map(|row| row.map(|entry| entry / scale)))
}

/// Sylvester's criterion: every leading minor is positive.
fn is_positive_definite(t: Tensor) -> bool {
    let minor = |row: usize, column: usize| {
        let [a, b] = [(row + 1) % 3, (row + 2) % 3];
        let [c, d] = [(column + 1) % 3, (column + 2) % 3];
        t[a][c] * t[b][d] - t[a][d] * t[b][c]
    };
    let determinant = t[0][0] * minor(0, 0) + t[0][1] * minor(0, 1) + t[0][2] * minor(0, 2);
    t[0][0] > 0.0 && minor(2, 2) > 0.0 && determinant > 0.0
}
