//! A frame that floats: the joint holds a node of the body, the frame follows.
//!
//! The frame and the elastic coordinates are eliminated as if the frame were free, which leaves $`P_A`$ and $`z_A`$. The
//! joint pushes with $`f`$ on the inboard node, whose small motion is seen at the body's origin through $`Y`$. With the
//! compliances $`\Omega_{dd}`$ of this node and $`\Omega_{dt}`$ towards the others, and
//! $`C_d = 1 - Y(\Upsilon_d^* M_{fr} + \Omega_{dt} W C)`$, $`\Omega_d = Y(\Omega_{dd} - \Omega_{dt} W \Omega_{td})Y^*`$,
//!
//! ```math
//! P_A A + z_A = C_d^* f, \qquad a = C_d A + \Omega_d f + a_0
//! \quad\Rightarrow\quad P_R = (\Omega_d + C_d P_A^{-1} C_d^*)^{-1} .
//! ```

use super::NodePlace;
use super::compliance::{Compliance, InverseMass, node_rows};
use super::six::{
    Factor, Six, force_of_six, inertia_of_six, motion_of_six, product, six_of_force,
    six_of_inertia, six_of_motion, times, transpose_times,
};
use crate::Body;
use crate::flex::{FlexibleBody, Node};
use lissom_spatial::{ArticulatedInertia, Force, Matrix, Motion, Vector};
use lissom_spatial::{Pivot, Scalar};

/// Part of a bare body's inertia about and along each axis that has to be left once it yields in all other ways, for the
/// frame to be eliminated before its joint. Beams without thickness have none about their axis.
const OWN_INERTIA: f64 = 1e-9;

/// What a floating frame adds to the [indirect inverse](super).
#[derive(Clone, Debug)]
pub(super) struct FloatingFrame<T> {
    /// $`\Upsilon_d`$: elastic accelerations for unit forces on the inboard node.
    spread: Vec<[f64; 6]>,
    /// $`\Omega_{dd}`$.
    own: Six<f64>,
    /// $`\Omega_{dt}`$, one column of six per direction of the loads.
    cross: Vec<[f64; 6]>,
    /// $`Y`$ of the factored configuration.
    at_origin: Six<T>,
    /// $`P_A`$.
    frame: Factor<T>,
    /// $`L^{-1}C_d^*`$ by columns, with the factor of $`P_A`$.
    passed: Six<T>,
    /// $`P_R^{-1}`$.
    felt: Factor<T>,
    /// $`W\Omega_{td}`$, one row of six per direction of the loads.
    held_force: Vec<[T; 6]>,
    // per right-hand side
    /// $`L^{-1}z_A`$.
    frame_force: [T; 6],
    /// Acceleration of the inboard node when the joint does not push.
    free: [T; 6],
    /// Force of the joint on the small rotation and displacement of the inboard node.
    push: [T; 6],
}

impl<T: Scalar> FloatingFrame<T> {
    /// Of a body whose joint holds `node`; `None` when the bare body has no inertia in some direction.
    pub(super) fn new(
        body: &Body,
        flexible: &FlexibleBody,
        node: &Node,
        inverse_mass: &InverseMass,
        compliance: &Compliance,
    ) -> Option<Self> {
        if !has_own_inertia(body, flexible, inverse_mass) {
            return None;
        }
        let (n, size) = (body.modes(), compliance.size);
        let rows = node_rows(node, n);
        let spread: Vec<[f64; 6]> = (0..n)
            .map(|alpha| std::array::from_fn(|i| inverse_mass.times(alpha, &rows[i])))
            .collect();
        let against = |row: &[f64], column: &dyn Fn(usize) -> f64| -> f64 {
            row.iter()
                .enumerate()
                .map(|(alpha, x)| x * column(alpha))
                .sum()
        };
        let own = std::array::from_fn(|i| {
            std::array::from_fn(|j| against(&rows[i], &|alpha| spread[alpha][j]))
        });
        let cross = (0..size)
            .map(|at| {
                let column = |alpha: usize| compliance.spread[alpha * size + at];
                std::array::from_fn(|i| against(&rows[i], &column))
            })
            .collect();
        let zero = [[T::zero(); 6]; 6];
        Some(Self {
            spread,
            own,
            cross,
            at_origin: zero,
            frame: Factor::new(&zero),
            passed: zero,
            felt: Factor::new(&zero),
            held_force: vec![[T::zero(); 6]; size],
            frame_force: [T::zero(); 6],
            free: [T::zero(); 6],
            push: [T::zero(); 6],
        })
    }

    /// What the joint feels of a frame that feels `felt`.
    #[inline(always)]
    pub(super) fn pass_on(
        &mut self,
        felt: &ArticulatedInertia<T>,
        (position, rate_matrix): NodePlace<T>,
        coupling: &[Force<T>],
        inertia: &[T],
        carried_force: &[[T; 6]],
    ) -> ArticulatedInertia<T> {
        let size = self.cross.len();
        let shifted = Matrix::skew(position) * rate_matrix;
        self.at_origin = std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i < 3, j < 3) {
                (true, true) => rate_matrix.0[i][j],
                (true, false) => T::zero(),
                (false, true) => shifted.0[i - 3][j],
                (false, false) => T::constant(f64::from(u8::from(i == j))),
            })
        });
        // Υ_d* M_fr + Ω_dt W C, and Ω_dd − Ω_dt W Ω_td
        let mut lag = [[T::zero(); 6]; 6];
        for (spread, &force) in self.spread.iter().zip(coupling) {
            add_outer(&mut lag, spread, &six_of_force(force));
        }
        let mut yields: Six<T> = self.own.map(|row| row.map(T::constant));
        for (i, held) in self.held_force.iter_mut().enumerate() {
            *held = [T::zero(); 6];
            for (&w, cross) in inertia[i * size..][..size].iter().zip(&self.cross) {
                for j in 0..6 {
                    held[j] += w * cross[j];
                }
            }
            add_outer(&mut lag, &self.cross[i], &carried_force[i]);
            add_outer(&mut yields, &self.cross[i], &held.map(|x| -x));
        }
        let lag = product(&self.at_origin, &lag);
        // C_d, of which row i is what the joint's force i does to the frame
        let carried: Six<T> = std::array::from_fn(|i| {
            std::array::from_fn(|j| T::constant(f64::from(u8::from(i == j))) - lag[i][j])
        });
        self.frame = Factor::new(&six_of_inertia(felt));
        self.passed = carried.map(|row| self.frame.forward(row));

        let half = product(&self.at_origin, &yields);
        let compliance: Six<T> = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let mut sum = T::zero();
                for l in 0..6 {
                    sum += half[i][l] * self.at_origin[j][l]
                        + self.passed[i][l] * self.frame.inverse_pivot(l) * self.passed[j][l];
                }
                sum
            })
        });
        self.felt = Factor::new(&compliance);
        // its inverse, column by column
        inertia_of_six(&std::array::from_fn(|j| {
            let unit = std::array::from_fn(|i| T::constant(f64::from(u8::from(i == j))));
            self.felt.backward(self.felt.forward(unit))
        }))
    }

    /// What the joint feels of the force `on_frame`, when `right` acts on the elastic coordinates and `force` passes to
    /// the loads.
    #[inline(always)]
    pub(super) fn pass_on_force(
        &mut self,
        on_frame: Force<T>,
        right: &[T],
        force: &[T],
    ) -> Force<T> {
        let mut node = [T::zero(); 6];
        for (spread, &t) in self.spread.iter().zip(right) {
            for i in 0..6 {
                node[i] += t * spread[i];
            }
        }
        for (cross, &f) in self.cross.iter().zip(force) {
            for i in 0..6 {
                node[i] -= f * cross[i];
            }
        }
        self.frame_force = self.frame.forward(six_of_force(on_frame));
        self.free = times(&self.at_origin, &node);
        for i in 0..6 {
            for l in 0..6 {
                self.free[i] -=
                    self.passed[i][l] * self.frame.inverse_pivot(l) * self.frame_force[l];
            }
        }
        force_of_six(self.felt.backward(self.felt.forward(self.free)).map(|x| -x))
    }

    /// Acceleration of the frame when the joint side accelerates by `total`.
    #[inline(always)]
    pub(super) fn frame_acceleration(&mut self, total: Motion<T>) -> Motion<T> {
        let total = six_of_motion(total);
        let over: [T; 6] = std::array::from_fn(|i| total[i] - self.free[i]);
        let force = self.felt.backward(self.felt.forward(over));
        self.push = transpose_times(&self.at_origin, &force);
        let passed = transpose_times(&self.passed, &force);
        let rest = std::array::from_fn(|i| passed[i] - self.frame_force[i]);
        motion_of_six(self.frame.backward(rest))
    }

    /// What the joint's force makes pass to the loads.
    #[inline(always)]
    pub(super) fn add_to_forces(&self, force: &mut [T]) {
        for (force, held) in force.iter_mut().zip(&self.held_force) {
            for i in 0..6 {
                *force += held[i] * self.push[i];
            }
        }
    }

    /// Acceleration of an elastic coordinate under the joint's force.
    #[inline(always)]
    pub(super) fn push_on_coordinate(&self, alpha: usize) -> T {
        let mut sum = T::zero();
        for (&push, &spread) in self.push.iter().zip(&self.spread[alpha]) {
            sum += push * spread;
        }
        sum
    }
}

impl<T: Pivot> FloatingFrame<T> {
    /// Whether every pivot of the last elimination was positive and finite.
    pub(super) fn is_positive_definite(&self) -> bool {
        (0..6).all(|i| {
            self.frame.inverse_pivot(i).is_positive() && self.felt.inverse_pivot(i).is_positive()
        })
    }
}

/// Whether $`M_{rr} - M_{rf}\Lambda M_{fr}`$ of the undeformed body is positive definite by a margin.
fn has_own_inertia(body: &Body, flexible: &FlexibleBody, inverse_mass: &InverseMass) -> bool {
    let integrals = &flexible.integrals;
    let coupling: Vec<Force<f64>> = (0..body.modes())
        .map(|alpha| {
            Force::new(
                Matrix(integrals.with_position[alpha]).cross_of_outer(),
                Vector(integrals.first[alpha]),
            )
        })
        .collect();
    let whole = six_of_inertia(&ArticulatedInertia::from(body.rigid));
    let mut left = whole;
    for (alpha, &force) in coupling.iter().enumerate() {
        let gain = six_of_force(inverse_mass.times_forces(alpha, &coupling));
        let force = six_of_force(force).map(|x| -x);
        add_outer(&mut left, &force, &gain);
    }
    let factor = Factor::new(&left);
    // a comparison that also fails for what is not a number
    (0..6).all(|i| 1.0 / factor.inverse_pivot(i) > OWN_INERTIA * whole[i][i])
}

/// `matrix += a bᵀ`.
#[inline(always)]
fn add_outer<T: Scalar>(matrix: &mut Six<T>, a: &[f64; 6], b: &[T; 6]) {
    for (row, &a) in matrix.iter_mut().zip(a) {
        for (entry, &b) in row.iter_mut().zip(b) {
            *entry += b * a;
        }
    }
}
