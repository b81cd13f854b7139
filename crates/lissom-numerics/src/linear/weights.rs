//! Where an instant lies among points of a motion, and what each of them counts in an interpolation there.
//!
//! Two points whose instants are neighbouring numbers are the two sides of a break, across which nothing is interpolated.

/// Points side by side and their weights, whose sum is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weights {
    first: usize,
    count: usize,
    shares: [f64; 4],
}

impl Weights {
    /// A line between both points around an instant.
    pub(super) fn linear(count: usize, instant: impl Fn(usize) -> f64, time: f64) -> Self {
        let (index, share) = interval(count, &instant, time);
        let alone = index + 1 >= count;
        Self {
            first: index,
            count: if alone { 1 } else { 2 },
            shares: [1.0 - share, share, 0.0, 0.0],
        }
    }

    /// A cubic through four points within what is smooth around an instant; of lower order where that has fewer points.
    pub(super) fn cubic(count: usize, instant: impl Fn(usize) -> f64, time: f64) -> Self {
        let (index, share) = interval(count, &instant, time);
        let last = count.saturating_sub(1);
        let breaks_behind = |point: usize| are_sides_of_a_break(instant(point), instant(point + 1));
        let mut shares = [0.0; 4];
        // on a break nothing lies between its two sides
        if index == last || breaks_behind(index) {
            shares[0] = 1.0;
            return Self {
                first: index,
                count: 1,
                shares,
            };
        }
        let (mut first, mut end) = (index, index + 1);
        // the interval and its neighbours; at an end of what is smooth, two of one side
        for _ in 0..2 {
            if end - first < 3 && first > 0 && !breaks_behind(first - 1) {
                first -= 1;
            }
            if end - first < 3 && end < last && !breaks_behind(end) {
                end += 1;
            }
        }
        let (start, stop) = (instant(index), instant(index + 1));
        let time = start + share * (stop - start);
        for (point, weight) in (first..=end).zip(&mut shares) {
            *weight = 1.0;
            for other in (first..=end).filter(|&other| other != point) {
                *weight *= (time - instant(other)) / (instant(point) - instant(other));
            }
        }
        Self {
            first,
            count: 1 + end - first,
            shares,
        }
    }

    /// The points with their weights.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.first..).zip(self.shares[..self.count].iter().copied())
    }
}

/// Whether two instants, the second not before the first, are the two sides of a break.
pub(super) fn are_sides_of_a_break(before: f64, after: f64) -> bool {
    before.next_up() >= after
}

/// Interval that holds `time`, the nearest outside, and the share of it that has passed.
pub(super) fn interval(count: usize, instant: impl Fn(usize) -> f64, time: f64) -> (usize, f64) {
    let (mut index, mut after) = (0, count.saturating_sub(1));
    // the last point at or before the instant that has a next one
    while after > index + 1 {
        let middle = index.midpoint(after);
        if instant(middle) <= time {
            index = middle;
        } else {
            after = middle;
        }
    }
    if after == index {
        return (index, 0.0);
    }
    let (start, stop) = (instant(index), instant(after));
    (index, ((time - start) / (stop - start)).clamp(0.0, 1.0))
}
