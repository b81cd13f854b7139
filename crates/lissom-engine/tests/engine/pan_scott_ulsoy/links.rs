//! Links of finite elements that are free at both ends: cubic in bending, linear in stretch and twist, (29), (30), (33).

use nalgebra::{DMatrix, DVector};

/// A link of equal elements; without elements it is rigid.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) length: f64,
    pub(crate) elements: usize,
    pub(crate) mass_per_length: f64,
    /// At the right end.
    pub(crate) payload: f64,
    /// EA, if it stretches.
    pub(crate) axial: Option<f64>,
    /// EI of v and w, in the planes in which it bends.
    pub(crate) bending: [Option<f64>; 2],
    /// GJ and polar inertia per length, if it twists.
    pub(crate) torsion: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field {
    U,
    V,
    W,
    Twist,
}

impl Link {
    fn has(&self, field: Field) -> bool {
        match field {
            Field::U => self.axial.is_some(),
            Field::V => self.bending[0].is_some(),
            Field::W => self.bending[1].is_some(),
            Field::Twist => self.torsion.is_some(),
        }
    }

    fn count(&self, field: Field) -> usize {
        let per_node = match field {
            Field::U | Field::Twist => 1,
            Field::V | Field::W => 2,
        };
        if self.has(field) && self.elements > 0 {
            per_node * (self.elements + 1)
        } else {
            0
        }
    }

    pub(crate) fn freedoms(&self) -> usize {
        [Field::U, Field::V, Field::W, Field::Twist]
            .map(|f| self.count(f))
            .iter()
            .sum()
    }

    fn first(&self, field: Field) -> usize {
        [Field::U, Field::V, Field::W, Field::Twist]
            .into_iter()
            .take_while(|f| *f != field)
            .map(|f| self.count(f))
            .sum()
    }

    /// Freedoms and functions of a field at `x`, with three derivatives.
    pub(crate) fn functions(&self, field: Field, x: f64) -> Vec<(usize, [f64; 4])> {
        if self.count(field) == 0 {
            return Vec::new();
        }
        let l = self.length / self.elements as f64;
        let element = (0..self.elements)
            .rev()
            .find(|&e| e as f64 * l <= x)
            .unwrap_or(0);
        let s = x / l - element as f64;
        let first = self.first(field);
        match field {
            Field::U | Field::Twist => vec![
                (first + element, [1.0 - s, -1.0 / l, 0.0, 0.0]),
                (first + element + 1, [s, 1.0 / l, 0.0, 0.0]),
            ],
            Field::V | Field::W => {
                let cubic = |c: [f64; 4], scale: f64| {
                    [
                        scale * (c[0] + s * (c[1] + s * (c[2] + s * c[3]))),
                        scale * (c[1] + s * (2.0 * c[2] + 3.0 * s * c[3])) / l,
                        scale * (2.0 * c[2] + 6.0 * s * c[3]) / (l * l),
                        scale * 6.0 * c[3] / (l * l * l),
                    ]
                };
                let first = first + 2 * element;
                vec![
                    (first, cubic([1.0, 0.0, -3.0, 2.0], 1.0)),
                    (first + 1, cubic([0.0, 1.0, -2.0, 1.0], l)),
                    (first + 2, cubic([0.0, 0.0, 3.0, -2.0], 1.0)),
                    (first + 3, cubic([0.0, 0.0, -1.0, 1.0], l)),
                ]
            }
        }
    }

    pub(crate) fn row(&self, field: Field, x: f64, derivative: usize) -> DVector<f64> {
        let mut row = DVector::zeros(self.freedoms());
        for (at, function) in self.functions(field, x) {
            row[at] = function[derivative];
        }
        row
    }

    /// Value of a field at `x` for the freedoms of this link.
    pub(crate) fn value(&self, field: Field, x: f64, q: &[f64]) -> f64 {
        self.functions(field, x)
            .iter()
            .map(|(at, f)| f[0] * q[*at])
            .sum()
    }

    /// Its derivative along the link.
    pub(crate) fn slope(&self, field: Field, x: f64, q: &[f64]) -> f64 {
        self.functions(field, x)
            .iter()
            .map(|(at, f)| f[1] * q[*at])
            .sum()
    }

    /// Places and weights that integrate products of the functions exactly.
    pub(crate) fn gauss(&self) -> Vec<(f64, f64)> {
        let n = self.elements.max(1);
        let l = self.length / n as f64;
        let on = |e: usize| gauss(e as f64 * l, (e + 1) as f64 * l);
        (0..n).flat_map(on).collect()
    }

    /// $`G(x)`$.
    pub(crate) fn shortening(&self, x: f64) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(self.freedoms(), self.freedoms());
        let l = self.length / self.elements.max(1) as f64;
        for e in 0..self.elements {
            let (begin, end) = (e as f64 * l, ((e + 1) as f64 * l).min(x));
            if end > begin {
                for (place, weight) in gauss(begin, end) {
                    for field in [Field::V, Field::W] {
                        let slope = self.row(field, place, 1);
                        sum += weight * &slope * slope.transpose();
                    }
                }
            }
        }
        sum
    }

    pub(crate) fn stiffness(&self) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(self.freedoms(), self.freedoms());
        for (x, weight) in self.gauss() {
            for (field, stiffness, order) in [
                (Field::U, self.axial, 1),
                (Field::V, self.bending[0], 2),
                (Field::W, self.bending[1], 2),
                (Field::Twist, self.torsion.map(|t| t[0]), 1),
            ] {
                let strain = self.row(field, x, order);
                sum += weight * stiffness.unwrap_or(0.0) * &strain * strain.transpose();
            }
        }
        sum
    }
}

/// Six points between two places.
fn gauss(begin: f64, end: f64) -> Vec<(f64, f64)> {
    const POINTS: [(f64, f64); 3] = [
        (0.238_619_186_083_196_9, 0.467_913_934_572_691_05),
        (0.661_209_386_466_264_5, 0.360_761_573_048_138_6),
        (0.932_469_514_203_152, 0.171_324_492_379_170_36),
    ];
    let (middle, half) = (0.5 * (begin + end), 0.5 * (end - begin));
    POINTS
        .iter()
        .flat_map(|&(xi, w)| {
            [
                (middle - half * xi, half * w),
                (middle + half * xi, half * w),
            ]
        })
        .collect()
}
