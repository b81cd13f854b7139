//! Steps of joint coordinates that stay within their limits: what would leave them stops there, and the others do what is left.

use nalgebra::DVector;

use super::{LARGEST_STEP, Solver, over};
use crate::closure::assembly::CoordinateLimit;
use crate::closure::decomposition::Decomposition;
use crate::closure::rank::SparseRow;
use crate::tree::displace;

impl<'m> Solver<'m> {
    /// Puts coordinates within their limits.
    pub(in crate::closure) fn limit(&self, position: &mut [f64]) {
        for limit in self.limits() {
            position[limit.position] = limit.within(position[limit.position]);
        }
    }

    /// Limits of what is free.
    pub(super) fn limits(&self) -> impl Iterator<Item = &'m CoordinateLimit> {
        let limits = self.targets.limits.iter();
        limits.filter(|limit| self.free.binary_search(&limit.velocity).is_ok())
    }

    /// A configuration after a step of the free coordinates that begins at `residual`. Those that would leave their limits go as far as these, and the others
    /// do what is left.
    pub(super) fn stepped(
        &self,
        position: &[f64],
        residual: &[f64],
        first: &Decomposition,
        jacobian: &[SparseRow],
        damping: f64,
    ) -> Vec<f64> {
        let mut step = self.scattered(&first.least(residual, damping));
        let mut stopped: Vec<usize> = Vec::new();
        loop {
            let leaving: Vec<&CoordinateLimit> = (self.limits())
                .filter(|limit| {
                    let value = position[limit.position] + step[limit.velocity];
                    !stopped.contains(&limit.velocity) && limit.within(value) != value
                })
                .collect();
            if leaving.is_empty() {
                break;
            }
            stopped.extend(leaving.iter().map(|limit| limit.velocity));
            // entries of what is stopped are its steps from here on
            let mut taken = vec![0.0; step.len()];
            for limit in self.limits() {
                if stopped.contains(&limit.velocity) {
                    let value = position[limit.position] + step[limit.velocity];
                    taken[limit.velocity] = limit.within(value) - position[limit.position];
                }
            }
            let moving: Vec<usize> = (self.free.iter().copied())
                .filter(|at| !stopped.contains(at))
                .collect();
            let left: Vec<f64> = (jacobian.iter().zip(residual))
                .map(|(row, residual)| {
                    residual + row.iter().map(|&(at, x)| x * taken[at]).sum::<f64>()
                })
                .collect();
            let rows = over(&moving, jacobian);
            let own = Decomposition::new(&rows, moving.len()).least(&left, damping);
            let scale = (LARGEST_STEP / own.amax().max(LARGEST_STEP)).min(1.0);
            for (&at, x) in moving.iter().zip(own.iter()) {
                taken[at] = scale * x;
            }
            step = taken;
        }
        let mut trial = position.to_vec();
        displace(&self.linkage.system, &mut trial, &step);
        self.limit(&mut trial);
        trial
    }

    /// The part of a step of the free coordinates that leaves the residual as it is and takes none beyond a limit at which it stands.
    pub(super) fn unstopped(
        &self,
        position: &[f64],
        step: &DVector<f64>,
        free: Decomposition,
    ) -> DVector<f64> {
        let mut stopped: Vec<usize> = Vec::new();
        let mut decomposition = free;
        loop {
            let moving: Vec<usize> = (self.free.iter().copied())
                .filter(|at| !stopped.contains(at))
                .collect();
            let mut own = DVector::zeros(moving.len());
            for (entry, &at) in self.free.iter().enumerate() {
                if let Ok(place) = moving.binary_search(&at) {
                    own[place] = step[entry];
                }
            }
            let own = decomposition.within(&own);
            let leaving: Vec<usize> = (self.limits())
                .filter_map(|limit| {
                    let place = moving.binary_search(&limit.velocity).ok()?;
                    let value = position[limit.position];
                    let out = (own[place] > 0.0 && value >= limit.max)
                        || (own[place] < 0.0 && value <= limit.min);
                    out.then_some(limit.velocity)
                })
                .collect();
            if leaving.is_empty() {
                let mut whole = DVector::zeros(self.free.len());
                for (entry, at) in self.free.iter().enumerate() {
                    if let Ok(place) = moving.binary_search(at) {
                        whole[entry] = own[place];
                    }
                }
                return whole;
            }
            stopped.extend(leaving);
            let moving: Vec<usize> = (self.free.iter().copied())
                .filter(|at| !stopped.contains(at))
                .collect();
            decomposition = Decomposition::new(&over(&moving, &self.jacobian), moving.len());
        }
    }
}
