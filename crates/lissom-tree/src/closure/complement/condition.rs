//! How well the independent coordinates determine the dependent ones.

use super::Complement;
use crate::Linkage;
use crate::closure::error::Singularity;

impl Complement {
    /// Condition number of the choice in the 1-norm, $`\lVert [K, J_i] \rVert\,\lVert K^{-1} \rVert`$ with $`J_i`$ the columns of
    /// the independent coordinates, and the column of $`K^{-1}`$ that makes it large. $`K`$ alone would not tell that it has become small
    /// beside the rest, as happens to a single equation.
    pub(in crate::closure) fn condition(&mut self) -> (f64, usize) {
        let s = self.dependent.len();
        let mut norm = self.independent_norm;
        for column in 0..s {
            let sum = (0..s).map(|row| self.matrix[row * s + column].abs()).sum();
            norm = norm.max(sum);
        }
        let (mut inverse, mut worst) = (0.0_f64, 0);
        for column in 0..s {
            self.right.fill(0.0);
            self.right[column] = 1.0;
            self.factor.solve(&mut self.right);
            let sum: f64 = self.right.iter().map(|x| x.abs()).sum();
            let sum = if sum.is_finite() { sum } else { f64::INFINITY };
            if sum > inverse {
                (inverse, worst) = (sum, column);
            }
        }
        let condition = if s == 0 {
            1.0
        } else if inverse.is_finite() {
            norm * inverse
        } else {
            f64::INFINITY
        };
        (condition, worst)
    }

    /// The coordinates that column `worst` of $`K^{-1}`$ moves most.
    pub(in crate::closure) fn singularity(
        &mut self,
        linkage: &Linkage,
        condition: f64,
        worst: usize,
    ) -> Singularity {
        self.right.fill(0.0);
        self.right[worst] = 1.0;
        self.factor.solve(&mut self.right);
        let moved = self
            .dependent
            .iter()
            .copied()
            .zip(self.right.iter().copied());
        Singularity {
            condition,
            coordinates: most_moved(linkage, moved),
        }
    }
}

/// Names of the velocities that a direction moves most, at most three of at least a tenth of the largest.
pub(in crate::closure) fn most_moved(
    linkage: &Linkage,
    direction: impl Iterator<Item = (usize, f64)>,
) -> Vec<String> {
    const MOST: usize = 3;
    const WORTH_NAMING: f64 = 0.1;
    let mut moved: Vec<(usize, f64)> = direction.map(|(at, x)| (at, x.abs())).collect();
    moved.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let largest = moved.first().map_or(0.0, |m| m.1);
    moved
        .iter()
        .take(MOST)
        .filter(|(_, x)| *x >= WORTH_NAMING * largest)
        .map(|&(at, _)| linkage.velocities[at].name.clone())
        .collect()
}
