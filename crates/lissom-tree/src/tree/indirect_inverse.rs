//! Elimination of many elastic coordinates at once, without factoring their inertia.
//!
//! When the elastic mass matrix of a body is constant, its inverse $`\Lambda`$ is known beforehand, and what hangs on the
//! body at its nodes changes the inertia felt by the elastic coordinates by no more than rank six for each.
//! \[Jain & Rodriguez 1992, eq. (B3)\], corrected: the print has $`\Gamma^{-1}`$, but $`\Gamma`$, the inertia felt at the nodes,
//! is singular for most joints and zero at the tip. With $`W = \Gamma(1 + \Omega\Gamma)^{-1}`$,
//!
//! ```math
//! D_f^{-1} = \Lambda - \Upsilon\,W\,\Upsilon^*, \qquad \Upsilon = \Lambda\Pi_t^*, \quad \Omega = \Pi_t\Lambda\Pi_t^* .
//! ```
//!
//! $`P_{rr} - P_{rf}D_f^{-1}P_{fr}`$ with this inverse is a small difference of large numbers wherever the load is heavy. It
//! is never formed. $`W`$ is the load as the body feels it that may yield, as heavy as the body itself in all directions in
//! which it yields; with the bare body's $`M`$ and $`C = \phi^* - \Pi_t\Lambda M_{fr}`$
//!
//! ```math
//! P_R = M_{rr} - M_{rf}\Lambda M_{fr} + C^* W C .
//! ```
//!
//! Forces take the same way. A load that is left to itself pushes on the nodes with $`F`$; what passes between load and body
//! when the frame accelerates by $`A`$ and the elastic coordinates are pushed by $`t`$ is
//!
//! ```math
//! f = W(\Upsilon^* t + C A) + (1 + \Gamma\Omega)^{-1}F, \qquad
//! \ddot\eta = \Lambda(t - M_{fr}A) - \Upsilon f, \qquad z_R = z_r + M_{rf}\Lambda t + C^* f|_{A=0} .
//! ```
//!
//! Two steps lead from the load to $`W`$. **Folding:** the load is taken with its joints locked and reduced along one
//! [direction](compliance::Compliance) of the body's compliance after the other, by
//! $`w \leftarrow w/(1 + \omega w_{ii})`$ in row and column $`i`$, without a difference; nothing is divided by what may vanish,
//! so $`\Omega`$ and $`\Gamma`$ may be singular. **Release:** joints are let go only then, out of the light $`W`$; released
//! before, a heavy load would leave its rounding in the direction that the joint frees.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | $`\Lambda`$ | `inverse_mass` | inverse of the elastic mass matrix |
//! | $`\Omega = B\,\mathrm{diag}(\omega)B^*`$ | `compliance` | compliance of the bare body at the nodes |
//! | $`B^*\Gamma B`$, $`B^*WB`$ | `inertia` | load along the directions, locked, then folded, then released |
//! | $`B^{-1}H`$ | `axes` | released joint axes along the directions |
//! | $`B^{-1}C`$, $`B^*WC`$ | `carried`, `carried_force` | accelerations of the nodes and forces on them, per acceleration of the frame |
//! | $`\Lambda M_{fr}`$ | `gain` | elastic accelerations per acceleration of the frame, bare body |

mod compliance;
mod floating;
mod six;

use self::compliance::{Compliance, InverseMass};
use self::floating::FloatingFrame;
use self::six::{Six, force_of_six, inertia_of_six, six_of_force, six_of_inertia, six_of_motion};
use super::articulated_body::factor_symmetric;
use crate::flex::Node;
use crate::{Body, Place, System};
use lissom_spatial::{ArticulatedInertia, Force, Matrix, Motion, Symmetric, Transform, Vector};
use lissom_spatial::{Pivot, Scalar};

/// Directions in which a load pulls on its node.
const LOADED_DIRECTIONS: usize = 6;

/// What (B3) needs of one body.
#[derive(Clone, Debug)]
pub(super) struct IndirectInverse<T> {
    inverse_mass: InverseMass,
    compliance: Compliance,
    loads: Vec<Load<T>>,
    /// Size × size by rows.
    inertia: Vec<T>,
    /// How forces on the nodes are folded: column by column what is taken off, and the reduction on the diagonal.
    folding: Vec<T>,
    /// One row along the directions per released joint axis.
    axes: Vec<T>,
    /// $`L^{-1}`$ times the folded inertia along `axes`.
    axis_gain: Vec<T>,
    /// Inertia felt by the released axes, factored.
    axis_factor: Vec<T>,
    /// One row of six per direction.
    carried: Vec<[T; 6]>,
    carried_force: Vec<[T; 6]>,
    /// $`M_{fr}`$ of the factored configuration.
    coupling: Vec<Force<T>>,
    floating: Option<FloatingFrame<T>>,
    // per right-hand side
    /// What the joints of the loads push with, then what is left of it.
    axis_force: Vec<T>,
    /// What passes along the directions while the frame is held.
    force: Vec<T>,
    /// What more the frame's acceleration makes pass, with it.
    passing: Vec<T>,
    /// $`\Lambda t`$.
    solution: Vec<T>,
}

/// A body that hangs on a node.
#[derive(Clone, Debug)]
struct Load<T> {
    body: usize,
    /// Its joint axes among those of all loads; none if the joint is prescribed.
    axes: std::ops::Range<usize>,
    armature: [f64; 6],
    /// Inertia felt at the load's frame with its joint locked.
    locked: ArticulatedInertia<T>,
    /// Pose of the load in axes of the body, from the node.
    from_node: Transform<T>,
    /// Angular velocity of the node from the rate of its small rotation.
    rate_matrix: Matrix<T>,
    /// Force of the load on the node's small rotation and displacement, its joint locked.
    force: [T; 6],
}

/// Where a node is on the body and the matrix of its rotation rates.
pub(super) type NodePlace<T> = (Vector<T>, Matrix<T>);

impl<T: Scalar> IndirectInverse<T> {
    /// Of a body, if it has at least `modes` elastic coordinates for every body that hangs on a node of it and can have
    /// one: a constant elastic mass matrix and, if its frame floats, inertia of its own in all directions.
    pub(super) fn of(system: &System, k: usize, modes: usize) -> Option<Self> {
        let body = &system.bodies()[k];
        let flexible = body.flexible.as_ref()?;
        let n = body.modes();
        if n < modes || system.shortening(k).is_some() {
            return None;
        }
        let hanging: Vec<(usize, &Node)> = (system.bodies().iter().enumerate())
            .filter_map(|(child, hanging)| match hanging.outboard {
                Place::Node { index, .. } if hanging.parent == Some(k) => {
                    Some((child, &flexible.nodes[index]))
                }
                _ => None,
            })
            .collect();
        if n < modes.saturating_mul(hanging.len()) {
            return None;
        }
        // in a frame that floats fewer modes than directions in which loads pull leave no pivot but rounding
        let floats = matches!(body.inboard, Place::Node { .. });
        if floats && n < LOADED_DIRECTIONS * hanging.len() {
            return None;
        }
        let inverse_mass = InverseMass::new(&flexible.integrals.mass_matrix, n)?;
        let nodes: Vec<&Node> = hanging.iter().map(|&(_, node)| node).collect();
        let compliance = Compliance::new(&inverse_mass, n, &nodes);
        let floating = match body.inboard {
            Place::Fixed(_) => None,
            Place::Node { index, .. } => {
                let node = &flexible.nodes[index];
                Some(FloatingFrame::new(
                    body,
                    flexible,
                    node,
                    &inverse_mass,
                    &compliance,
                )?)
            }
        };
        let mut axes = 0;
        let loads: Vec<Load<T>> = hanging
            .iter()
            .map(|&(child, _)| {
                let load = Load::new(child, &system.bodies()[child], axes);
                axes = load.axes.end;
                load
            })
            .collect();
        let size = compliance.size;
        let zeros = |count: usize| vec![T::zero(); count];
        Some(Self {
            inverse_mass,
            compliance,
            loads,
            inertia: zeros(size * size),
            folding: zeros(size * size),
            axes: zeros(axes * size),
            axis_gain: zeros(axes * size),
            axis_factor: zeros(axes * axes),
            carried: vec![[T::zero(); 6]; size],
            carried_force: vec![[T::zero(); 6]; size],
            coupling: vec![Force::zero(); n],
            floating,
            axis_force: zeros(axes),
            force: zeros(size),
            passing: zeros(size),
            solution: zeros(n),
        })
    }

    /// Forgets the loads of the configuration before.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.inertia.fill(T::zero());
        self.axes.fill(T::zero());
        self.carried.fill([T::zero(); 6]);
    }

    /// Notes the inertia `felt` at the frame of a body that hangs at `pose` on a node, before its joint moves along
    /// `axes`.
    #[inline(always)]
    pub(super) fn attach(
        &mut self,
        body: usize,
        felt: &ArticulatedInertia<T>,
        axes: &[Motion<T>],
        pose: &Transform<T>,
        (position, rate_matrix): NodePlace<T>,
    ) {
        let Some((q, load)) = load_of(&mut self.loads, body) else {
            return;
        };
        let size = self.compliance.size;
        load.locked = *felt;
        load.rate_matrix = rate_matrix;
        // at the node at once: by way of the body's frame the load's rounding would grow with the square of the lever
        load.from_node = Transform::new(pose.rotation, pose.translation - position);
        let at_node = felt.to_parent(&load.from_node);
        let gamma = six_of_inertia(&ArticulatedInertia {
            angular: at_node.angular.rotate(rate_matrix.transpose()),
            coupling: rate_matrix.transpose() * at_node.coupling,
            linear: at_node.linear,
        });
        let directions = &self.compliance.directions[6 * q * size..][..6 * size];
        for j in 0..size {
            let column: [T; 6] = std::array::from_fn(|r| {
                let mut sum = T::zero();
                for l in 0..6 {
                    sum += gamma[r][l] * directions[l * size + j];
                }
                sum
            });
            for i in j..size {
                let mut sum = self.inertia[i * size + j];
                for l in 0..6 {
                    sum += column[l] * directions[l * size + i];
                }
                self.inertia[i * size + j] = sum;
                self.inertia[j * size + i] = sum;
            }
        }

        let inverse_rates = rate_matrix.inverse();
        // φ*: small motion of the node for every motion of the frame
        let lever = Matrix::skew(-position);
        let phi: Six<T> = std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i < 3, j < 3) {
                (true, true) => inverse_rates.0[i][j],
                (true, false) => T::zero(),
                (false, true) => lever.0[i - 3][j],
                (false, false) => T::constant(f64::from(u8::from(i == j))),
            })
        });
        for (i, carried) in self.carried.iter_mut().enumerate() {
            let components = &self.compliance.components[i * size + 6 * q..][..6];
            for (l, &component) in components.iter().enumerate() {
                for j in 0..6 {
                    carried[j] += phi[l][j] * component;
                }
            }
        }
        for (at, axis) in load.axes.clone().zip(axes) {
            let motion = load.from_node.motion_to_parent(*axis);
            let small = six_of_motion(Motion::new(inverse_rates * motion.angular, motion.linear));
            for i in 0..size {
                let components = &self.compliance.components[i * size + 6 * q..][..6];
                let mut sum = T::zero();
                for (&component, &x) in components.iter().zip(&small) {
                    sum += x * component;
                }
                self.axes[at * size + i] = sum;
            }
        }
    }

    /// Eliminates the elastic coordinates: `gain` holds $`M_{fr}`$ and becomes $`\Lambda M_{fr}`$, and `felt`, without the
    /// loads, becomes $`P_R`$. `inboard` is the node that a floating frame follows.
    #[inline(always)]
    pub(super) fn eliminate(
        &mut self,
        felt: &mut ArticulatedInertia<T>,
        gain: &mut [Force<T>],
        inboard: NodePlace<T>,
    ) {
        let size = self.compliance.size;
        self.coupling.copy_from_slice(gain);
        for (alpha, gain) in gain.iter_mut().enumerate() {
            let p = self.coupling[alpha];
            let row = self.inverse_mass.times_forces(alpha, &self.coupling);
            *gain = row;
            // M_rf Λ M_fr is symmetric as a sum; one triangle of it is taken off
            felt.angular = felt.angular - Symmetric::upper(&p.moment.outer(row.moment));
            felt.coupling = felt.coupling - p.moment.outer(row.force);
            felt.linear = felt.linear - Symmetric::upper(&p.force.outer(row.force));
            let p = six_of_force(p);
            let spread = &self.compliance.spread[alpha * size..][..size];
            for (carried, &u) in self.carried.iter_mut().zip(spread) {
                for j in 0..6 {
                    carried[j] -= p[j] * u;
                }
            }
        }
        self.fold_loads();
        self.release_joints();
        for i in 0..size {
            self.carried_force[i] = std::array::from_fn(|j| {
                let mut sum = T::zero();
                for (&w, carried) in self.inertia[i * size..][..size].iter().zip(&self.carried) {
                    sum += w * carried[j];
                }
                sum
            });
        }
        let mut added = [[T::zero(); 6]; 6];
        for (carried, force) in self.carried.iter().zip(&self.carried_force) {
            for i in 0..6 {
                for j in i..6 {
                    added[i][j] += carried[i] * force[j];
                }
            }
        }
        *felt += inertia_of_six(&added);
        if let Some(floating) = &mut self.floating {
            *felt = floating.pass_on(
                felt,
                inboard,
                &self.coupling,
                &self.inertia,
                &self.carried_force,
            );
        }
    }

    /// $`\Gamma \to \Gamma(1 + \Omega\Gamma)^{-1}`$, one direction after the other.
    #[inline(always)]
    fn fold_loads(&mut self) {
        let size = self.compliance.size;
        let w = &mut self.inertia;
        for (i, &yielding) in self.compliance.yielding.iter().enumerate() {
            let one = T::constant(1.0);
            if yielding == 0.0 {
                // known when the mechanism was built: nothing is taken off along this direction
                self.folding[i * size + i] = one;
                continue;
            }
            let reduction = one / (one + w[i * size + i] * yielding);
            for j in (0..size).filter(|&j| j != i) {
                let taken = w[j * size + i] * yielding * reduction;
                self.folding[j * size + i] = taken;
                for l in (0..=j).filter(|&l| l != i) {
                    let rest = w[j * size + l] - taken * w[i * size + l];
                    w[j * size + l] = rest;
                    w[l * size + j] = rest;
                }
            }
            self.folding[i * size + i] = reduction;
            for j in 0..size {
                let reduced = w[i * size + j] * reduction;
                w[i * size + j] = reduced;
                w[j * size + i] = reduced;
            }
        }
    }

    /// Takes the joints' own directions out of the folded inertia.
    #[inline(always)]
    fn release_joints(&mut self) {
        let (size, count) = (self.compliance.size, self.axis_force.len());
        let w = &mut self.inertia;
        for a in 0..count {
            for i in 0..size {
                let axis = &self.axes[a * size..][..size];
                self.axis_gain[a * size + i] = inner(&w[i * size..][..size], axis);
            }
            for b in 0..=a {
                let gain = &self.axis_gain[a * size..][..size];
                self.axis_factor[a * count + b] = inner(gain, &self.axes[b * size..][..size]);
            }
        }
        for load in &self.loads {
            for (axis, &armature) in load.axes.clone().zip(&load.armature) {
                self.axis_factor[axis * count + axis] += T::constant(armature);
            }
        }
        factor_symmetric(&mut self.axis_factor, count);
        for a in 0..count {
            for b in 0..a {
                let share = self.axis_factor[a * count + b];
                for i in 0..size {
                    let before = self.axis_gain[b * size + i];
                    self.axis_gain[a * size + i] -= before * share;
                }
            }
            let gain = &self.axis_gain[a * size..][..size];
            for i in 0..size {
                let scaled = gain[i] * self.axis_factor[a * count + a];
                for j in 0..=i {
                    let rest = w[i * size + j] - scaled * gain[j];
                    w[i * size + j] = rest;
                    w[j * size + i] = rest;
                }
            }
        }
    }

    /// Notes the force `bias` on the frame of a body that hangs on a node: what is left of it at rest relative to the
    /// node, but for the velocity product `product`, under its `joint_force`.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        body: usize,
        bias: Force<T>,
        product: Motion<T>,
        joint_force: &[T],
    ) {
        let Some((_, load)) = load_of(&mut self.loads, body) else {
            return;
        };
        let force = bias + load.locked.times(product);
        let at_node = load.from_node.force_to_parent(force);
        load.force = six_of_force(Force::new(
            load.rate_matrix.transpose_mul(at_node.moment),
            at_node.force,
        ));
        for (axis, &force) in load.axes.clone().zip(joint_force) {
            self.axis_force[axis] = force;
        }
    }

    /// For `right` on the elastic coordinates and `bias` on the frame of the bare body: what is left on the frame once
    /// elastic coordinates and loads have taken their share.
    #[inline(always)]
    pub(super) fn solve(&mut self, right: &[T], bias: Force<T>, gain: &[Force<T>]) -> Force<T> {
        let size = self.compliance.size;
        self.fold_forces();
        // W Υ* t and Λ t
        let mut rest = bias;
        self.passing.fill(T::zero());
        for (alpha, &t) in right.iter().enumerate() {
            self.solution[alpha] = self.inverse_mass.times(alpha, right);
            rest += gain[alpha].scale(t);
            let spread = &self.compliance.spread[alpha * size..][..size];
            for (pushed, &u) in self.passing.iter_mut().zip(spread) {
                *pushed += t * u;
            }
        }
        for i in 0..size {
            self.force[i] += inner(&self.inertia[i * size..][..size], &self.passing);
        }
        let mut on_frame = [T::zero(); 6];
        for (carried, &f) in self.carried.iter().zip(&self.force) {
            for j in 0..6 {
                on_frame[j] += carried[j] * f;
            }
        }
        rest += force_of_six(on_frame);
        match &mut self.floating {
            None => rest,
            Some(floating) => floating.pass_on_force(rest, right, &self.force),
        }
    }

    /// $`(1 + \Gamma\Omega)^{-1}F`$ of the loads with their joints released.
    #[inline(always)]
    fn fold_forces(&mut self) {
        let (size, count) = (self.compliance.size, self.axis_force.len());
        let force = &mut self.force;
        force.fill(T::zero());
        for (q, load) in self.loads.iter().enumerate() {
            for (l, &x) in load.force.iter().enumerate() {
                let directions = &self.compliance.directions[(6 * q + l) * size..][..size];
                for (force, &direction) in force.iter_mut().zip(directions) {
                    *force += x * direction;
                }
            }
        }
        for i in 0..size {
            let along = force[i];
            for j in (0..size).filter(|&j| j != i) {
                force[j] -= self.folding[j * size + i] * along;
            }
            force[i] = along * self.folding[i * size + i];
        }
        for a in 0..count {
            let axis = &self.axes[a * size..][..size];
            let mut u = self.axis_force[a] - inner(axis, force);
            for b in 0..a {
                u -= self.axis_factor[a * count + b] * self.axis_force[b];
            }
            self.axis_force[a] = u;
        }
        for a in 0..count {
            let u = self.axis_force[a] * self.axis_factor[a * count + a];
            for i in 0..size {
                force[i] += self.axis_gain[a * size + i] * u;
            }
        }
    }

    /// Elastic accelerations when the joint side of the body accelerates by `total`.
    #[inline(always)]
    pub(super) fn accelerations(&mut self, total: Motion<T>, gain: &[Force<T>], elastic: &mut [T]) {
        let size = self.compliance.size;
        let frame = match &mut self.floating {
            None => total,
            Some(floating) => floating.frame_acceleration(total),
        };
        let six = six_of_motion(frame);
        for i in 0..size {
            let mut sum = self.force[i];
            for j in 0..6 {
                sum += self.carried_force[i][j] * six[j];
            }
            self.passing[i] = sum;
        }
        if let Some(floating) = &self.floating {
            floating.add_to_forces(&mut self.passing);
        }
        for (alpha, elastic) in elastic.iter_mut().enumerate() {
            let mut a = self.solution[alpha] - frame.dot(gain[alpha]);
            let spread = &self.compliance.spread[alpha * size..][..size];
            for (&f, &u) in self.passing.iter().zip(spread) {
                a -= f * u;
            }
            if let Some(floating) = &self.floating {
                a += floating.push_on_coordinate(alpha);
            }
            *elastic = a;
        }
    }
}

impl<T: Pivot> IndirectInverse<T> {
    /// Whether every pivot of the last elimination was positive and finite. Those of the folding are positive exactly if
    /// the inertia felt by the elastic coordinates is positive definite.
    pub(super) fn is_positive_definite(&self) -> bool {
        let diagonal = |matrix: &[T], n: usize| (0..n).all(|i| matrix[i * n + i].is_positive());
        diagonal(&self.folding, self.compliance.size)
            && diagonal(&self.axis_factor, self.axis_force.len())
            && (self.floating.as_ref()).is_none_or(FloatingFrame::is_positive_definite)
    }
}

impl<T: Scalar> Load<T> {
    fn new(index: usize, body: &Body, first_axis: usize) -> Self {
        let axes = if body.joint.prescribed {
            0
        } else {
            body.joint.kind.velocities()
        };
        Self {
            body: index,
            axes: first_axis..first_axis + axes,
            armature: body.joint.armature,
            locked: ArticulatedInertia::zero(),
            from_node: Transform::identity(),
            rate_matrix: Matrix::identity(),
            force: [T::zero(); 6],
        }
    }
}

/// The load that a body is, and which of the nodes it hangs on.
#[inline(always)]
fn load_of<T>(loads: &mut [Load<T>], body: usize) -> Option<(usize, &mut Load<T>)> {
    (loads.iter_mut().enumerate()).find(|(_, load)| load.body == body)
}

#[inline(always)]
fn inner<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sum = T::zero();
    for (&a, &b) in a.iter().zip(b) {
        sum += a * b;
    }
    sum
}
