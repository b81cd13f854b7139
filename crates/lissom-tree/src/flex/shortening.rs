//! $`S_{\alpha\beta}(x) = \int_0^x \varphi_\alpha'\varphi_\beta'\,ds`$ of a beam, at any places along it.

use super::groups::Group;
use super::quadrature::{gauss_legendre, whole_number};

/// Gauss points of every interval: exact for the slopes of Hermite elements, and to rounding for modes
/// on intervals as short as [`LONGEST_PHASE`] makes them.
const POINTS: usize = 8;

/// Longest interval, as the phase of the fastest product of two slopes.
const LONGEST_PHASE: f64 = 2.0;

/// `S` at every place, the block of the first group by rows, then that of the second.
///
/// `breaks` are the places where the beam changes.
pub(super) fn shortening_at(places: &[f64], breaks: &[f64], groups: &[Group; 4]) -> Vec<Vec<f64>> {
    let bending = [&groups[0], &groups[1]];
    let size: usize = bending
        .iter()
        .map(|group| group.coordinates.len().pow(2))
        .sum();
    let rule = gauss_legendre(POINTS);
    let fastest = bending
        .iter()
        .flat_map(|group| &group.wave_numbers)
        .fold(0.0, |a: f64, &b| a.max(b));

    // march from the root to each place in turn, stopping wherever the functions are not smooth
    let mut stops: Vec<(f64, Option<usize>)> = breaks.iter().map(|&x| (x, None)).collect();
    for group in bending {
        stops.extend(group.shapes.breaks().into_iter().map(|x| (x, None)));
    }
    stops.extend(
        places
            .iter()
            .enumerate()
            .map(|(index, &x)| (x, Some(index))),
    );
    stops.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found = vec![Vec::new(); places.len()];
    let mut sum = vec![0.0; size];
    let mut start = 0.0;
    for (end, place) in stops {
        let length = end - start;
        if length > 0.0 {
            let intervals = whole_number((2.0 * fastest * length / LONGEST_PHASE).max(1.0));
            let step = length / intervals as f64;
            for interval in 0..intervals {
                let middle = start + (interval as f64 + 0.5) * step;
                for &(xi, weight) in &rule {
                    add_products(
                        &mut sum,
                        &bending,
                        middle + 0.5 * step * xi,
                        0.5 * step * weight,
                    );
                }
            }
            start = end;
        }
        if let Some(index) = place {
            found[index].clone_from(&sum);
        }
    }
    found
}

fn add_products(sum: &mut [f64], bending: &[&Group; 2], x: f64, weight: f64) {
    let mut first = 0;
    for group in bending {
        let shapes = group.shapes.at(x);
        let size = shapes.len();
        for (row, row_shape) in shapes.iter().enumerate() {
            if row_shape.slope == 0.0 {
                continue;
            }
            for (column, column_shape) in shapes.iter().enumerate() {
                sum[first + row * size + column] += weight * row_shape.slope * column_shape.slope;
            }
        }
        first += size * size;
    }
}
