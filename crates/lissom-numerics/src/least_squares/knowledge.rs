//! What residuals say about parameters: standard deviations, and combinations that are known well or badly.

use nalgebra::DMatrix;

use super::step::{ANYWHERE, damped_step};
use super::{Combination, Held, Point, RANK, Unknown};

/// What is known at the end of a search.
pub(super) struct Knowledge {
    pub(super) held: Vec<Option<Held>>,
    pub(super) deviation: f64,
    pub(super) covariance: Vec<Vec<f64>>,
    pub(super) combinations: Vec<Combination>,
}

impl Knowledge {
    pub(super) fn of(unknowns: &[Unknown], point: &Point) -> Self {
        let Point {
            at,
            residuals,
            jacobian,
        } = point;
        let descent = -(jacobian.transpose() * residuals);
        let is_held = |&j: &usize| {
            let Unknown { least, most, .. } = unknowns[j];
            (at[j] <= least && descent[j] < 0.0) || (at[j] >= most && descent[j] > 0.0)
        };
        let (beyond, free): (Vec<usize>, Vec<usize>) = (0..at.len()).partition(is_held);
        let freedom = (residuals.len() - free.len()) as f64;
        let deviation = (residuals.norm_squared() / freedom).sqrt();
        let scale: Vec<f64> = unknowns.iter().map(|one| one.scale).collect();
        let combinations = combinations(jacobian, &free, deviation);
        let mut knowledge = Self {
            held: vec![None; at.len()],
            deviation,
            covariance: covariance(&combinations, &scale),
            combinations,
        };
        if !beyond.is_empty() {
            knowledge.held = wanted(point, &scale, &beyond, deviation);
        }
        knowledge
    }
}

/// Where parameters would be if none had a bound.
fn wanted(point: &Point, scale: &[f64], beyond: &[usize], deviation: f64) -> Vec<Option<Held>> {
    let all: Vec<usize> = (0..scale.len()).collect();
    let covariance = covariance(&combinations(&point.jacobian, &all, deviation), scale);
    // so little damping that it keeps only what is not known from going far
    let step = damped_step(
        &point.jacobian,
        &point.residuals,
        RANK * RANK,
        &vec![ANYWHERE; scale.len()],
    );
    let mut held = vec![None; scale.len()];
    for &j in beyond {
        let way = step.as_ref().map_or(0.0, |(step, _)| step[j]);
        held[j] = Some(Held {
            wanted: point.at[j] + scale[j] * way,
            deviation: covariance[j][j].sqrt(),
        });
    }
    held
}

/// Combinations of some of the parameters by singular values: a direction is known as well as the residuals change along it.
fn combinations(jacobian: &DMatrix<f64>, columns: &[usize], deviation: f64) -> Vec<Combination> {
    if columns.is_empty() {
        return Vec::new();
    }
    let svd = jacobian.select_columns(columns).svd(false, true);
    let largest = svd.singular_values.max();
    let Some(directions) = svd.v_t else {
        return Vec::new();
    };
    let mut found: Vec<Combination> =
        (0..svd.singular_values.len())
            .map(|k| {
                let value = svd.singular_values[k];
                let mut parts = vec![0.0; jacobian.ncols()];
                for (&j, part) in columns.iter().zip(directions.row(k).iter()) {
                    parts[j] = *part;
                }
                let most = parts.iter().copied().fold(0.0, |most: f64, part| {
                    if part.abs() > most.abs() { part } else { most }
                });
                Combination {
                    deviation: if value > RANK * largest {
                        deviation / value
                    } else {
                        f64::INFINITY
                    },
                    parts: parts.iter().map(|part| part * most.signum()).collect(),
                }
            })
            .collect();
    found.sort_by(|one, other| one.deviation.total_cmp(&other.deviation));
    found
}

fn covariance(combinations: &[Combination], scale: &[f64]) -> Vec<Vec<f64>> {
    /// Parts of a direction below this are rounding.
    const NO_PART: f64 = 1e-6;
    let entry = |i: usize, j: usize| {
        let of = |one: &Combination| {
            let parts = one.parts[i] * one.parts[j];
            if one.deviation.is_finite() {
                scale[i] * scale[j] * parts * one.deviation * one.deviation
            } else if one.parts[i].abs() > NO_PART && one.parts[j].abs() > NO_PART {
                f64::INFINITY * parts.signum()
            } else {
                0.0
            }
        };
        combinations.iter().map(of).sum::<f64>()
    };
    let row = |i: usize| (0..scale.len()).map(|j| entry(i, j)).collect();
    (0..scale.len()).map(row).collect()
}
