//! The points of a [`Shortening`] and the cells of an [`AxialStrain`], four at a time, as the recursions read
//! them.
//!
//! What shortening and strain add to the equations are sums along the beam. Four neighbours are kept side by
//! side, so that a processor can work on them at once; points without mass and cells without stiffness fill
//! the last group.

use std::ops::Range;

use super::body::{AxialStrain, Shortening};

/// Points or cells of a group.
pub(crate) const GROUP: usize = 4;

/// A number for each point or cell of a group.
pub(crate) type Group = [f64; GROUP];

/// One number for each of `count` points or cells, by groups.
fn packed(count: usize, value: impl Fn(usize) -> f64) -> impl Iterator<Item = Group> {
    (0..count.div_ceil(GROUP)).map(move |group| {
        std::array::from_fn(|i| {
            let at = group * GROUP + i;
            if at < count { value(at) } else { 0.0 }
        })
    })
}

/// What the shortening adds to the kinetic energy of a beam, to the order that the fidelity keeps.
#[derive(Clone, Debug)]
pub(crate) enum ShorteningInertia {
    /// That of the quadratic displacement field.
    Full(PackedShortening),
    /// Only products with the motion of the undeformed beam.
    SecondOrder(ShorteningSums),
}

/// $`S`$ summed over the mass of a beam.
#[derive(Clone, Debug)]
pub(crate) struct ShorteningSums {
    /// As in [`Shortening::planes`].
    pub(crate) planes: [Range<usize>; 2],
    /// $`\int S\,dm`$, the y block by rows, then the z block.
    pub(crate) total: Vec<f64>,
    /// $`\int x\,S\,dm`$ likewise.
    pub(crate) with_position: Vec<f64>,
}

impl ShorteningSums {
    /// Sums the points of `shortening`.
    pub(crate) fn new(shortening: &Shortening) -> Self {
        let entries = shortening.planes.iter().map(|p| p.len() * p.len()).sum();
        let mut sums = Self {
            planes: shortening.planes.clone(),
            total: vec![0.0; entries],
            with_position: vec![0.0; entries],
        };
        for (point, (&mass, &x)) in (shortening.masses.iter())
            .zip(&shortening.positions)
            .enumerate()
        {
            for (entry, &s) in shortening.matrices[point * entries..][..entries]
                .iter()
                .enumerate()
            {
                sums.total[entry] += mass * s;
                sums.with_position[entry] += mass * x * s;
            }
        }
        sums
    }
}

/// [`Shortening`] by groups of points.
#[derive(Clone, Debug)]
pub(crate) struct PackedShortening {
    /// As in [`Shortening::planes`].
    pub(crate) planes: [Range<usize>; 2],
    /// Elastic coordinates of both planes, in rising order.
    pub(crate) bending: Vec<usize>,
    /// Elastic coordinates that stretch.
    pub(crate) stretch: Vec<usize>,
    /// As in [`Shortening::component`].
    pub(crate) component: Vec<Option<usize>>,
    /// Masses of the points.
    pub(crate) masses: Vec<Group>,
    /// Axial positions of the points.
    pub(crate) positions: Vec<Group>,
    /// Shape of every elastic coordinate: coordinates × groups by rows.
    pub(crate) shapes: Vec<Group>,
    /// Entries of $`S`$ (the y block by rows, then the z block): groups × entries by rows.
    pub(crate) matrices: Vec<Group>,
}

impl PackedShortening {
    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.masses.len()
    }

    /// Groups the points of `shortening`.
    pub(crate) fn new(shortening: &Shortening) -> Self {
        let points = shortening.masses.len();
        // a table with `width` entries per point, turned into one with a row of groups per entry
        let table = |table: &[f64], width: usize| -> Vec<Group> {
            (0..width)
                .flat_map(|column| packed(points, move |point| table[point * width + column]))
                .collect()
        };
        let entries: usize = shortening.planes.iter().map(|p| p.len() * p.len()).sum();
        let matrices = table(&shortening.matrices, entries);
        let groups = points.div_ceil(GROUP);
        let mut bending: Vec<usize> = shortening.planes.iter().cloned().flatten().collect();
        bending.sort_unstable();
        Self {
            planes: shortening.planes.clone(),
            bending,
            stretch: (0..shortening.component.len())
                .filter(|&alpha| shortening.component[alpha] == Some(0))
                .collect(),
            component: shortening.component.clone(),
            masses: table(&shortening.masses, 1),
            positions: table(&shortening.positions, 1),
            shapes: table(&shortening.shapes, shortening.component.len()),
            matrices: (0..groups * entries)
                .map(|at| matrices[at % entries * groups + at / entries])
                .collect(),
        }
    }
}

/// [`AxialStrain`] by groups of cells. All cells of a beam have the same number of points.
#[derive(Clone, Debug)]
pub(crate) struct PackedStrain {
    /// Elastic coordinates with a part in $`u'`$, in $`v'`$ and in $`w'`$.
    pub(crate) coordinates: [Range<usize>; 3],
    /// $`k_c`$ of the cells.
    pub(crate) stiffness: Vec<Group>,
    /// $`w_g`$ of the points of a cell, the same in every cell.
    pub(crate) weights: Vec<f64>,
    /// Slope per unit of every elastic coordinate: groups × points of a cell × coordinates.
    pub(crate) slopes: Vec<Group>,
}

impl PackedStrain {
    /// Groups the cells of `strain`.
    pub(crate) fn new(strain: &AxialStrain) -> Self {
        let cells = strain.cells.len();
        let points = strain.cells.first().map_or(0, Range::len);
        let n = strain.component.len();
        debug_assert!(strain.cells.iter().all(|cell| cell.len() == points));
        let rows: Vec<Vec<Group>> = (0..points * n)
            .map(|row| {
                let (point, alpha) = (row / n, row % n);
                packed(cells, |cell| {
                    strain.slopes[(strain.cells[cell].start + point) * n + alpha]
                })
                .collect()
            })
            .collect();
        Self {
            coordinates: [0, 1, 2].map(|component| {
                let has = |c: &Option<usize>| *c == Some(component);
                let first = strain.component.iter().position(has).unwrap_or(0);
                first..first + strain.component.iter().filter(|c| has(c)).count()
            }),
            stiffness: packed(cells, |cell| strain.stiffness[cell]).collect(),
            weights: strain.weights[..points].to_vec(),
            slopes: (0..cells.div_ceil(GROUP))
                .flat_map(|group| rows.iter().map(move |row| row[group]))
                .collect(),
        }
    }
}
