//! The points of a [`Shortening`], four at a time, as the recursions read them.
//!
//! What shortening adds to the equations is a sum over points along the beam. Four neighbours are kept side
//! by side, so that a processor can work on them at once; points without mass fill the last group.

use std::ops::Range;

use super::body::Shortening;

/// Points of a group.
pub(crate) const GROUP: usize = 4;

/// A number for each point of a group.
pub(crate) type Group = [f64; GROUP];

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
    /// As in [`Shortening::component`].
    pub(crate) component: Vec<Option<usize>>,
    /// Masses of the points.
    pub(crate) masses: Vec<Group>,
    /// Axial positions of the points.
    pub(crate) positions: Vec<Group>,
    /// Shape of every elastic coordinate: coordinates × groups by rows.
    pub(crate) shapes: Vec<Group>,
    /// Entries of $`S`$ (the y block by rows, then the z block): entries × groups by rows.
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
        let groups = points.div_ceil(GROUP);
        // entry `column` of every point, from a table with `width` entries per point
        let column = |table: &[f64], width: usize, column: usize| -> Vec<Group> {
            (0..groups)
                .map(|group| {
                    std::array::from_fn(|i| {
                        let point = group * GROUP + i;
                        if point < points {
                            table[point * width + column]
                        } else {
                            0.0
                        }
                    })
                })
                .collect()
        };
        let table = |table: &[f64], width: usize| -> Vec<Group> {
            (0..width).flat_map(|c| column(table, width, c)).collect()
        };
        let entries = shortening.planes.iter().map(|p| p.len() * p.len()).sum();
        Self {
            planes: shortening.planes.clone(),
            component: shortening.component.clone(),
            masses: table(&shortening.masses, 1),
            positions: table(&shortening.positions, 1),
            shapes: table(&shortening.shapes, shortening.component.len()),
            matrices: table(&shortening.matrices, entries),
        }
    }
}
