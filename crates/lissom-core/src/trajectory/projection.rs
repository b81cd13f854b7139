//! What of the forces along a motion each drive has to give.

use lissom_numerics::PivotedQr;

use super::NominalError;

/// Largest entry of the closures' Jacobian, in metres or radians per unit of velocity, that is rounding: closures that hold whatever
/// moves have no rank.
const ROUNDING: f64 = 1e-13;

/// Puts on the drives what the forces of a motion do on what the closures allow.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    /// Rates of the drives by the velocities, row by row.
    pub(super) rows: Vec<f64>,
    /// Degrees of freedom.
    freedom: usize,
    /// Factors of the transposed Jacobian of the closures.
    closures: PivotedQr,
    /// $`N`$, one column after the other.
    allowed: Vec<f64>,
    /// Factors of $`S N`$; none before the degrees of freedom are known.
    driven: Option<PivotedQr>,
    right: Vec<f64>,
}

impl Projection {
    pub(super) fn new(velocities: usize, equations: usize, drives: usize) -> Self {
        Self {
            rows: vec![0.0; drives * velocities],
            freedom: velocities,
            closures: PivotedQr::new(velocities, equations),
            allowed: vec![0.0; velocities * velocities],
            driven: None,
            right: vec![0.0; velocities],
        }
    }

    /// Degrees of freedom, once it has been applied.
    pub(super) fn freedom(&self) -> usize {
        self.freedom
    }

    /// Efforts of the drives that do what `force` does; the rows are set.
    pub(super) fn apply(
        &mut self,
        jacobian: &[f64],
        force: &[f64],
        efforts: &mut [f64],
    ) -> Result<(), NominalError> {
        let n = force.len();
        let largest = jacobian.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let part = if largest > ROUNDING { 1.0 } else { 0.0 };
        self.closures.factor(|i, j| part * jacobian[j * n + i]);
        let freedom = n - self.closures.rank();
        if self.driven.is_none() || freedom != self.freedom {
            self.freedom = freedom;
            self.driven = Some(PivotedQr::new(efforts.len(), freedom));
        }
        for (column, right) in self.right[..freedom].iter_mut().enumerate() {
            let allowed = &mut self.allowed[column * n..(column + 1) * n];
            allowed.fill(0.0);
            allowed[self.closures.rank() + column] = 1.0;
            self.closures.expand(allowed);
            *right = allowed.iter().zip(force).map(|(a, f)| a * f).sum();
        }
        let (rows, allowed) = (&self.rows, &self.allowed);
        let Some(driven) = &mut self.driven else {
            return Ok(());
        };
        driven.factor(|i, j| {
            let (row, column) = (&rows[i * n..(i + 1) * n], &allowed[j * n..(j + 1) * n]);
            row.iter().zip(column).map(|(s, a)| s * a).sum()
        });
        if driven.rank() < freedom {
            return Err(NominalError::UnderActuated {
                drives: efforts.len(),
                driven: driven.rank(),
                freedom,
            });
        }
        driven.solve_transposed(&self.right[..freedom], efforts);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closures that hold whatever moves take nothing off the drives, whatever rounding leaves in their Jacobian.
    #[test]
    fn rounding_is_no_closure() {
        let mut projection = Projection::new(2, 2, 2);
        projection.rows.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        let mut efforts = [0.0; 2];
        let jacobian = [0.0, 3e-17, -1e-16, 2e-17];
        let force = [3.0, 4.0];
        projection
            .apply(&jacobian, &force, &mut efforts)
            .expect("two drives for two freedoms");
        assert_eq!(projection.freedom(), 2);
        assert!((efforts[0] - 3.0).abs() < 1e-15 && (efforts[1] - 4.0).abs() < 1e-15);
    }
}
