//! What the tree feels like at the ends of its closures: $`J M^{-1} J^T`$ in O(N).
//!
//! \[Jain & Rodriguez 1992, section VIII\]. The articulated-body factor turns a force on a body into
//! *innovations*, one per coordinate of the body, and a force handed on to its parent:
//!
//! ```math
//! \epsilon = L^{-1} S^T f , \qquad f^+ = f - K D^{-1} \epsilon .
//! ```
//!
//! Because $`M^{-1} = \Psi^* D^{-1} \Psi`$, two forces feel each other through the innovations of the coordinates
//! they share. All that is shared inboard of a body is collected outward in a compliance of six by six,
//!
//! ```math
//! C_k(f, g) = f_p^+ \cdot C_p\,g_p^+ + \sum \epsilon_f\,D^{-1}\,\epsilon_g ,
//! ```
//!
//! the acceleration of the parent's place that carries body $`k`$ under a force there. A force is carried inward
//! only as far as the nearest body it has in common with another, where the compliance stands for the rest.

use super::{ArticulatedBody, Kinematics};
use crate::{Place, System};
use lissom_spatial::Scalar;
use lissom_spatial::{Force, Motion, Vector};

/// Six by six, by rows: the acceleration of a joint's place for a force on it.
type Compliance<T> = [[T; 6]; 6];

/// The compliance of a tree at places where unit forces act. Made for given bodies, evaluated for any forces.
#[derive(Clone, Debug)]
pub struct OperationalSpace<T> {
    /// Of the place that carries every body.
    compliance: Vec<Compliance<T>>,
    /// Bodies whose compliance is asked for.
    asked: Vec<bool>,
    paths: Vec<Path<T>>,
    pairs: Vec<Pair>,
    unit_innovations: Vec<Vec<T>>,
}

/// A force on its way inward.
#[derive(Clone, Debug)]
struct Path<T> {
    bodies: Vec<usize>,
    /// What every body of the path hands on.
    handed_on: Vec<Force<T>>,
    /// Innovations of the bodies, one after the other.
    innovations: Vec<T>,
    /// Where those of every body begin, and where the last end.
    first: Vec<usize>,
}

/// Two forces and the nearest body that both pass, by its place on each path.
#[derive(Clone, Copy, Debug)]
struct Pair {
    paths: [usize; 2],
    steps: [usize; 2],
}

/// A force on a body at its origin, and the influence of the body's elastic coordinates on where it acts.
pub type Push<'a, T> = (Force<T>, &'a [Motion<T>]);

impl<T: Scalar> OperationalSpace<T> {
    /// For forces on these bodies, one after the other.
    pub fn new(system: &System, bodies: &[usize]) -> Self {
        let inward = |body: usize| {
            std::iter::successors(Some(body), |&k| system.bodies()[k].parent).collect::<Vec<_>>()
        };
        let paths: Vec<Vec<usize>> = bodies.iter().map(|&k| inward(k)).collect();
        let mut pairs = Vec::new();
        for a in 0..paths.len() {
            let mut step_of = vec![None; system.bodies().len()];
            for (i, &k) in paths[a].iter().enumerate() {
                step_of[k] = Some(i);
            }
            for b in a..paths.len() {
                let mut steps = paths[b].iter().enumerate();
                let meet = steps.find_map(|(j, &k)| Some([step_of[k]?, j]));
                if let Some(steps) = meet {
                    pairs.push(Pair {
                        paths: [a, b],
                        steps,
                    });
                }
            }
        }
        // how far every force is carried, and which compliances stand for the rest
        let mut last = vec![0; paths.len()];
        let mut asked = vec![false; system.bodies().len()];
        for pair in &pairs {
            for (&a, &step) in pair.paths.iter().zip(&pair.steps) {
                last[a] = last[a].max(step);
                asked[paths[a][step]] = true;
            }
        }
        // what is asked of a body is asked of all inboard of it
        for k in (0..asked.len()).rev() {
            if let (true, Some(p)) = (asked[k], system.bodies()[k].parent) {
                asked[p] = true;
            }
        }
        let most = (0..system.bodies().len())
            .map(|k| coordinates(system, k))
            .max()
            .unwrap_or(0);
        Self {
            compliance: vec![[[T::zero(); 6]; 6]; system.bodies().len()],
            asked,
            paths: paths
                .iter()
                .zip(last)
                .map(|(path, last)| Path::new(system, path[..=last].to_vec()))
                .collect(),
            pairs,
            unit_innovations: vec![vec![T::zero(); most]; 6],
        }
    }

    /// Writes, for every two of the forces, the acceleration along one under the other into `matrix`, by rows.
    /// The factor must be that of the prepared state, with every body factored directly. Allocates nothing.
    pub fn update<'a>(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        articulated: &ArticulatedBody<T>,
        mut push: impl FnMut(usize) -> Push<'a, T>,
        matrix: &mut [T],
    ) {
        self.update_compliances(system, kinematics, articulated);
        for (a, path) in self.paths.iter_mut().enumerate() {
            let (mut force, mut influence): Push<'_, T> = push(a);
            for step in 0..path.bodies.len() {
                let k = path.bodies[step];
                let own = &mut path.innovations[path.first[step]..path.first[step + 1]];
                let handed_on = hand_on(system, kinematics, articulated, k, influence, force, own);
                path.handed_on[step] = handed_on;
                force = kinematics.parent_from_body[k].force_to_parent(handed_on);
                influence = kinematics.outboard_influence(system, k);
            }
        }
        matrix.fill(T::zero());
        let count = self.paths.len();
        for pair in &self.pairs {
            let [a, b] = pair.paths;
            let [i, j] = pair.steps;
            let k = self.paths[a].bodies[i];
            let value = product(
                system,
                articulated,
                k,
                &self.compliance[k],
                self.paths[a].at(i),
                self.paths[b].at(j),
            );
            matrix[a * count + b] = value;
            matrix[b * count + a] = value;
        }
    }

    fn update_compliances(
        &mut self,
        system: &System,
        kinematics: &Kinematics<T>,
        articulated: &ArticulatedBody<T>,
    ) {
        for (k, body) in system.bodies().iter().enumerate() {
            let (true, Some(p)) = (self.asked[k], body.parent) else {
                continue;
            };
            let size = coordinates(system, p);
            let influence = kinematics.outboard_influence(system, k);
            let mut handed_on = [Force::zero(); 6];
            for (i, handed_on) in handed_on.iter_mut().enumerate() {
                let force = kinematics.parent_from_body[k].force_to_parent(unit_force(i));
                let own = &mut self.unit_innovations[i][..size];
                *handed_on = hand_on(system, kinematics, articulated, p, influence, force, own);
            }
            let mut compliance = [[T::zero(); 6]; 6];
            for i in 0..6 {
                for j in 0..=i {
                    let value = product(
                        system,
                        articulated,
                        p,
                        &self.compliance[p],
                        (handed_on[i], &self.unit_innovations[i][..size]),
                        (handed_on[j], &self.unit_innovations[j][..size]),
                    );
                    compliance[i][j] = value;
                    compliance[j][i] = value;
                }
            }
            self.compliance[k] = compliance;
        }
    }
}

impl<T: Scalar> Path<T> {
    fn new(system: &System, bodies: Vec<usize>) -> Self {
        let mut first = vec![0];
        for &k in &bodies {
            first.push(first[first.len() - 1] + coordinates(system, k));
        }
        Self {
            handed_on: vec![Force::zero(); bodies.len()],
            innovations: vec![T::zero(); first[bodies.len()]],
            first,
            bodies,
        }
    }

    fn at(&self, step: usize) -> (Force<T>, &[T]) {
        let own = &self.innovations[self.first[step]..self.first[step + 1]];
        (self.handed_on[step], own)
    }
}

/// Number of coordinates of a body: elastic ones and its joint's.
fn coordinates(system: &System, k: usize) -> usize {
    let body = &system.bodies()[k];
    body.modes() + body.joint.kind.velocities()
}

fn unit_force<T: Scalar>(i: usize) -> Force<T> {
    match i {
        0..3 => Force::new(Vector::axis(i), Vector::zero()),
        _ => Force::new(Vector::zero(), Vector::axis(i - 3)),
    }
}

/// What body `k` hands on to its parent of a force on it, in its own frame; writes the innovations of its
/// elastic coordinates and of its joint.
#[inline(always)]
fn hand_on<T: Scalar>(
    system: &System,
    kinematics: &Kinematics<T>,
    articulated: &ArticulatedBody<T>,
    k: usize,
    influence: &[Motion<T>],
    force: Force<T>,
    innovations: &mut [T],
) -> Force<T> {
    let layout = system.layout();
    let body = &system.bodies()[k];
    let n = body.modes();
    let (modal, hinge) = innovations.split_at_mut(n);
    let first = layout.elastic[k];
    let floats = matches!(body.inboard, Place::Node { .. });
    let factor = &articulated.modal_factor[layout.modal_block[k]..];
    let mut rest = force;
    for alpha in 0..n {
        let mut y = influence
            .get(alpha)
            .map_or(T::zero(), |motion| motion.dot(force));
        if floats {
            y += kinematics.floating[first + alpha].dot(force);
        }
        for beta in 0..alpha {
            y -= factor[alpha * n + beta] * modal[beta];
        }
        modal[alpha] = y;
        rest -= articulated.modal_gain[first + alpha].scale(y * factor[alpha * n + alpha]);
    }
    if body.joint.prescribed {
        hinge.fill(T::zero());
        return rest;
    }
    let first = layout.hinge[k];
    let factor = &articulated.hinge_factor[layout.hinge_block[k]..];
    let size = hinge.len();
    let before = rest;
    for i in 0..size {
        let mut u = kinematics.subspace[first + i].dot(before);
        for j in 0..i {
            u -= factor[i * size + j] * hinge[j];
        }
        hinge[i] = u;
        rest -= articulated.hinge_gain[first + i].scale(u * factor[i * size + i]);
    }
    rest
}

/// How two forces feel each other from body `k` inward.
#[inline(always)]
fn product<T: Scalar>(
    system: &System,
    articulated: &ArticulatedBody<T>,
    k: usize,
    compliance: &Compliance<T>,
    (force, own): (Force<T>, &[T]),
    (other, others): (Force<T>, &[T]),
) -> T {
    let layout = system.layout();
    let body = &system.bodies()[k];
    let n = body.modes();
    let mut sum = T::zero();
    if body.parent.is_some() {
        let entries = |f: Force<T>| {
            let ([a, b, c], [d, e, f]) = (f.moment.0, f.force.0);
            [a, b, c, d, e, f]
        };
        let (left, right) = (entries(force), entries(other));
        for (row, &f) in compliance.iter().zip(&left) {
            let mut along = T::zero();
            for (&c, &g) in row.iter().zip(&right) {
                along += c * g;
            }
            sum += along * f;
        }
    }
    let factor = &articulated.modal_factor[layout.modal_block[k]..];
    for alpha in 0..n {
        sum += own[alpha] * others[alpha] * factor[alpha * n + alpha];
    }
    if !body.joint.prescribed {
        let factor = &articulated.hinge_factor[layout.hinge_block[k]..];
        let size = own.len() - n;
        for i in 0..size {
            sum += own[n + i] * others[n + i] * factor[i * size + i];
        }
    }
    sum
}
