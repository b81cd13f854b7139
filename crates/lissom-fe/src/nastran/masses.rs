//! Masses of Nastran: `CONM2`.

use nalgebra::Matrix3;

use super::Entry;
use crate::FeError;
use crate::mesh::Lump;

/// What rounding may make of a second moment that is none, relative to the largest.
const ROUNDING: f64 = 1e-6;

/// Reads `CONM2`: mass, offset, and moments and products of inertia about the centre of mass, along the axes of the basic system; nothing if all of it is zero.
pub(super) fn lump(entry: &Entry<'_>, node: usize) -> Result<Option<Lump>, FeError> {
    let number = entry.field(0);
    if !matches!(entry.field(2), "" | "0") {
        return Err(entry.error(format!(
            "CONM2 {number}: only the basic coordinate system is read; write offset and inertia in it"
        )));
    }
    let real = |k: usize| entry.real(k, "a mass, an offset or an inertia");
    let mass = real(3)?;
    let offset = [real(4)?, real(5)?, real(6)?];
    let [xx, xy, yy, xz, yz, zz] = [
        real(8)?,
        real(9)?,
        real(10)?,
        real(11)?,
        real(12)?,
        real(13)?,
    ];
    let [x, y, z] = [yy + zz - xx, xx + zz - yy, xx + yy - zz].map(|twice| 0.5 * twice);
    let second_moments = [[x, xy, xz], [xy, y, yz], [xz, yz, z]];
    let has_inertia = second_moments.iter().flatten().any(|&x| x != 0.0);
    if mass < 0.0 || (mass == 0.0 && has_inertia) {
        return Err(entry.error(format!(
            "CONM2 {number} has the mass {mass}; masses, and what has moments of inertia, must be positive"
        )));
    }
    let squares = Matrix3::from_fn(|i, j| second_moments[i][j]).symmetric_eigenvalues();
    if squares.min() < -ROUNDING * squares.amax() {
        return Err(entry.error(format!(
            "CONM2 {number}: no body has the moments of inertia {xx}, {yy}, {zz} and the products {xy}, {xz}, {yz} (I21, I31, I32): one moment is more than the sum of the others"
        )));
    }
    Ok((mass > 0.0).then_some(Lump {
        node,
        mass,
        offset,
        second_moments,
    }))
}
