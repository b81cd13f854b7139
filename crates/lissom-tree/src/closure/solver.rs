//! Newton's iteration for closed configurations, by least changes of the free joint coordinates.

mod limits;

use nalgebra::DVector;

use super::Constraints;
use super::assembly::{AssemblyError, Targets, is_angle};
use super::decomposition::{Decomposition, norm};
use super::rank::SparseRow;
use crate::flex::RigidMotions;
use crate::tree::{Kinematics, difference, displace, marker_jacobian, marker_motion};
use crate::{Body, Linkage};
use lissom_spatial::{Matrix, Motion, Quaternion, Vector, inverse_rate_matrix, rotation_vector_of};

/// Violation, in metres or radians per metre of reach, at which a configuration counts as closed.
const CLOSED: f64 = 1e-14;
/// Violation at which it counts as closed when rounding keeps it from coming closer.
const STALLED: f64 = 1e-12;
/// Newton steps per guess: a dozen suffice from nearby, the rest is for damped ones from afar.
const MOST_STEPS: usize = 60;
/// Steps in which a search within limits has to leave less than a part of what is missing; it ends at limits otherwise.
const STUCK: (usize, f64) = (6, 0.9);
/// Largest change of one coordinate in one step, rad or m.
const LARGEST_STEP: f64 = 0.7;
/// Damping, relative to the largest squared singular value: where it begins and where it gives up.
const DAMPING: (f64, f64) = (1e-6, 1e4);
/// How near the configuration of least change is approached, rad or m; beyond, the sum of squares no longer
/// changes.
const NEAREST: f64 = 1e-10;
/// Steps towards it.
const MOST_APPROACHES: usize = 40;

/// Steps by which a marker is brought as near as possible to what it cannot reach, and the damping at which it gives up: where a mechanism is stretched out the
/// derivatives vanish against which damping is measured.
const MOST_SEARCHES: usize = 200;
const MOST_DAMPING: f64 = 1e12;
/// Change of what is left, relative to it, below which nothing nearer is sought.
const NOT_NEARER: f64 = 1e-9;
/// The closures of a model and the targets at a configuration.
pub(super) struct Solver<'m> {
    linkage: &'m Linkage,
    targets: &'m Targets,
    /// Entries of the velocity vector that may change.
    pub(super) free: Vec<usize>,
    constraints: Constraints<f64>,
    kinematics: Kinematics<f64>,
    at_rest: Vec<f64>,
    residual: Vec<f64>,
    /// Derivatives of the residual and of the rates, by rows over all velocities.
    jacobian: Vec<SparseRow>,
    rates: Vec<SparseRow>,
    influence: Vec<Motion<f64>>,
    /// Of every target, the orientation of its marker if all of that is given.
    oriented: Vec<Option<Matrix<f64>>>,
}

/// The orientation that a target belongs to, where its marker is to have all of one.
fn orientation_of(targets: &Targets, at: usize) -> Option<Matrix<f64>> {
    let marker = targets.markers[at].marker;
    let mut vector = [None; 3];
    for target in &targets.markers {
        if target.marker == marker && target.component.entry() < 3 {
            vector[target.component.entry()] = Some(target.position);
        }
    }
    let [Some(x), Some(y), Some(z)] = vector else {
        return None;
    };
    Some(Quaternion::of_rotation_vector(Vector([x, y, z])).matrix())
}

impl<'m> Solver<'m> {
    pub(super) fn new(linkage: &'m Linkage, targets: &'m Targets) -> Self {
        let system = &linkage.system;
        let n = system.velocity_count();
        let mut is_free = vec![true; n];
        for at in Self::elastic(linkage)
            .into_iter()
            .chain(targets.held.iter().copied())
        {
            is_free[at] = false;
        }
        let constraints = Constraints::packed(system, &linkage.closures);
        let rows = constraints.len() + targets.markers.len();
        let most = system.bodies().iter().map(Body::modes).max();
        Self {
            linkage,
            targets,
            free: (0..n).filter(|&at| is_free[at]).collect(),
            constraints,
            kinematics: Kinematics::new(system),
            at_rest: vec![0.0; n],
            residual: vec![0.0; rows],
            jacobian: vec![Vec::new(); rows],
            rates: vec![Vec::new(); rows],
            influence: vec![Motion::zero(); most.unwrap_or(0)],
            oriented: (0..targets.markers.len())
                .map(|at| orientation_of(targets, at))
                .collect(),
        }
    }

    /// Entries of the velocity vector that bend bodies. Where they move a body as a whole, as nothing else does,
    /// they are not among them.
    pub(super) fn elastic(linkage: &Linkage) -> Vec<usize> {
        let layout = linkage.system.layout();
        let bends = |body: &Body| {
            let motions = body
                .flexible
                .as_ref()
                .map(|flexible| flexible.rigid_motions);
            motions != Some(RigidMotions::AreCoordinates)
        };
        (linkage.system.bodies().iter().enumerate())
            .filter(|(_, body)| bends(body))
            .flat_map(|(k, body)| {
                let first = layout.elastic_velocity[k];
                first..first + body.modes()
            })
            .collect()
    }

    /// Number of equations of the closures; those of markers follow.
    pub(super) fn equations(&self) -> usize {
        self.constraints.len()
    }

    /// Rows of the rates over the free velocities.
    pub(super) fn rate_rows(&self, rows: std::ops::Range<usize>) -> Vec<SparseRow> {
        self.over_free(&self.rates[rows])
    }

    /// Rows over the free velocities of rows over all.
    fn over_free(&self, rows: &[SparseRow]) -> Vec<SparseRow> {
        over(&self.free, rows)
    }

    /// Largest entry of the residual.
    pub(super) fn violation(&self) -> f64 {
        self.residual.iter().fold(0.0, |most: f64, x| {
            if x.is_nan() {
                f64::INFINITY
            } else {
                most.max(x.abs())
            }
        })
    }

    /// Whether the residual is small, and not because something is upside down.
    fn is_closed(&self, tolerance: f64) -> bool {
        self.is_small(tolerance) && self.turned_over().is_none()
    }

    fn is_small(&self, tolerance: f64) -> bool {
        self.violation() <= tolerance * self.constraints.reach().max(1.0)
    }

    fn turned_over(&self) -> Option<usize> {
        let Linkage {
            system, closures, ..
        } = self.linkage;
        self.constraints.turned_over(system, closures)
    }

    /// The equation that is furthest from being met, and how far: half a turn where all are met with something upside down.
    pub(super) fn worst(&self) -> (usize, f64) {
        if let Some(row) = self.turned_over().filter(|_| self.is_small(STALLED)) {
            return (row, std::f64::consts::PI);
        }
        let size = |row: &usize| self.residual[*row].abs();
        let row = (0..self.residual.len()).max_by(|a, b| size(a).total_cmp(&size(b)));
        (row.unwrap_or(0), self.violation())
    }

    /// Residual and derivatives at a configuration.
    pub(super) fn evaluate(&mut self, position: &[f64], velocity: &[f64]) {
        let system = &self.linkage.system;
        let n = self.at_rest.len();
        self.kinematics.update(system, position, velocity);
        self.constraints.update(
            system,
            &self.linkage.closures,
            &mut self.kinematics,
            position,
            velocity,
        );
        let closures = self.constraints.len();
        self.residual[..closures].copy_from_slice(self.constraints.residual());
        for row in 0..closures {
            self.jacobian[row].clear();
            self.jacobian[row].extend(self.constraints.entries(row));
            self.rates[row].clone_from(&self.jacobian[row]);
        }
        let mut jacobian = vec![0.0; 6 * n];
        for (i, target) in self.targets.markers.iter().enumerate() {
            let marker = &self.linkage.markers[target.marker];
            let row = closures + i;
            let Some(body) = marker.body else { continue };
            let motion = marker_motion(
                system,
                &self.kinematics,
                body,
                &marker.place,
                position,
                velocity,
                &mut self.influence,
            );
            let point = motion.pose.translation;
            let influence = &self.influence;
            marker_jacobian(
                system,
                &self.kinematics,
                body,
                point,
                influence,
                &mut jacobian,
            );
            let entry = target.component.entry();
            let twist_row = &jacobian[entry * n..(entry + 1) * n];
            self.rates[row] = twist_row.iter().copied().enumerate().collect();
            if entry >= 3 {
                self.residual[row] = point[entry - 3] - target.position;
                self.jacobian[row].clone_from(&self.rates[row]);
            } else {
                let turned = match &self.oriented[i] {
                    // what it takes to get there, which no choice of a rotation vector makes jump
                    Some(wanted) => {
                        rotation_vector_of(&(motion.pose.rotation * wanted.transpose()))
                    }
                    None => rotation_vector_of(&motion.pose.rotation),
                };
                self.residual[row] = if self.oriented[i].is_some() {
                    turned[entry]
                } else {
                    let gap = turned[entry] - target.position;
                    let turns = (gap / std::f64::consts::TAU).round();
                    gap - turns * std::f64::consts::TAU
                };
                let per_turn = inverse_rate_matrix(turned);
                let rate = |at: usize| {
                    (0..3)
                        .map(|j| per_turn.0[entry][j] * jacobian[j * n + at])
                        .sum()
                };
                self.jacobian[row] = (0..n).map(|at| (at, rate(at))).collect();
            }
        }
    }

    /// What an equation is called, and the closure that makes it.
    fn name(&self, row: usize) -> (Option<String>, String) {
        let closures = &self.linkage.closures;
        if row < self.constraints.len() {
            let closure = closures[self.constraints.closure_of(row)].name.clone();
            return (Some(closure), self.constraints.name(closures, row));
        }
        let target = &self.targets.markers[row - self.constraints.len()];
        let marker = &self.linkage.markers[target.marker].name;
        (None, format!("{marker} ({})", target.component.key()))
    }

    /// What an equation is measured in.
    fn unit(&self, row: usize) -> &'static str {
        let turns = match row.checked_sub(self.constraints.len()) {
            // angular components come first
            Some(marker) => self.targets.markers[marker].component.entry() < 3,
            None => self.constraints.is_rotation(row),
        };
        if turns { "rad" } else { "m" }
    }

    fn decompose(&self, derivatives: &[SparseRow]) -> Decomposition {
        Decomposition::new(&self.over_free(derivatives), self.free.len())
    }

    /// Size of all that is missing.
    pub(super) fn gap(&self) -> f64 {
        let gap = norm(&self.residual);
        if gap.is_nan() { f64::INFINITY } else { gap }
    }

    /// Moves the free coordinates of a configuration until it is closed; tells whether it is.
    pub(super) fn close(&mut self, position: &mut Vec<f64>) -> bool {
        let at_rest = self.at_rest.clone();
        self.evaluate(position, &at_rest);
        let mut damping = 0.0;
        let limited = self.limits().next().is_some();
        let mut earlier = f64::INFINITY;
        for taken in 0..MOST_STEPS {
            if self.is_closed(CLOSED) {
                return true;
            }
            if limited && taken % STUCK.0 == 0 {
                let gap = self.gap();
                if gap > STUCK.1 * earlier && !self.is_small(STALLED) {
                    return false;
                }
                earlier = gap;
            }
            if !self.violation().is_finite() {
                return false;
            }
            let is_stalled = self.is_small(STALLED);
            let before = norm(&self.residual);
            let decomposition = self.decompose(&self.jacobian);
            let (residual, jacobian) = (self.residual.clone(), self.jacobian.clone());
            loop {
                let trial = self.stepped(position, &residual, &decomposition, &jacobian, damping);
                self.evaluate(&trial, &at_rest);
                if norm(&self.residual) < before {
                    *position = trial;
                    damping = if damping > DAMPING.0 {
                        damping / 10.0
                    } else {
                        0.0
                    };
                    break;
                }
                damping = (damping * 10.0).max(DAMPING.0);
                if damping > DAMPING.1 || is_stalled {
                    self.evaluate(position, &at_rest);
                    return self.is_closed(STALLED);
                }
            }
        }
        self.is_closed(STALLED)
    }

    /// A step of the free coordinates, cut to the largest, as a velocity vector.
    fn scattered(&self, step: &DVector<f64>) -> Vec<f64> {
        let scale = (LARGEST_STEP / step.amax().max(LARGEST_STEP)).min(1.0);
        let mut whole = vec![0.0; self.at_rest.len()];
        for (&at, x) in self.free.iter().zip(step.iter()) {
            whole[at] = scale * x;
        }
        whole
    }

    /// Moves a closed configuration within the closed ones to where it is nearest to `guess`, as far as that is
    /// found.
    pub(super) fn approach(&mut self, guess: &[f64], position: &mut Vec<f64>) {
        let at_rest = self.at_rest.clone();
        let mut share = 1.0;
        for _ in 0..MOST_APPROACHES {
            self.evaluate(position, &at_rest);
            let decomposition = self.decompose(&self.jacobian);
            let gap = difference(&self.linkage.system, position, guess);
            let gap = DVector::from_iterator(self.free.len(), self.free.iter().map(|&at| gap[at]));
            let along = self.unstopped(position, &gap, decomposition);
            if along.amax() * share < NEAREST {
                break;
            }
            let mut trial = position.clone();
            displace(
                &self.linkage.system,
                &mut trial,
                &self.scattered(&(along * share)),
            );
            self.limit(&mut trial);
            let closed = self.close(&mut trial);
            let farther = difference(&self.linkage.system, &trial, guess);
            let square: f64 = self.free.iter().map(|&at| farther[at] * farther[at]).sum();
            if closed && square < gap.norm_squared() {
                *position = trial;
                share = (share * 2.0).min(1.0);
            } else {
                share *= 0.25;
            }
        }
        self.evaluate(position, &at_rest);
    }

    /// Moves a configuration in which markers are not where they should be to where they are as near as is found with the loops
    /// closed, and says how near; `None` if it is the loops that do not close.
    pub(super) fn nearest(&mut self, position: &mut Vec<f64>) -> Option<AssemblyError> {
        let at_rest = self.at_rest.clone();
        let first = self.targets.markers.first()?.marker;
        let loops = Targets {
            markers: Vec::new(),
            ..self.targets.clone()
        };
        let mut loops = Solver::new(self.linkage, &loops);
        if !loops.close(position) {
            return None;
        }
        self.evaluate(position, &at_rest);
        let closures = self.constraints.len();
        let mut damping = 0.0;
        'search: for _ in 0..MOST_SEARCHES {
            let missing = self.residual[closures..].to_vec();
            let before = norm(&missing);
            let rows = self.marker_rows();
            let decomposition = Decomposition::new(&self.over_free(&rows), self.free.len());
            loop {
                let mut trial = self.stepped(position, &missing, &decomposition, &rows, damping);
                let closed = loops.close(&mut trial);
                self.evaluate(&trial, &at_rest);
                let after = norm(&self.residual[closures..]);
                if closed && after < before {
                    *position = trial;
                    damping *= 0.1;
                    if after > before * (1.0 - NOT_NEARER) {
                        break 'search;
                    }
                    break;
                }
                damping = (damping * 10.0).max(DAMPING.0);
                if damping > MOST_DAMPING {
                    break 'search;
                }
            }
        }
        self.evaluate(position, &at_rest);
        let markers = &self.residual[closures..];
        // of several markers the one that is furthest off
        let left = |marker: usize| {
            let of = |turns: bool| {
                let own = self.targets.markers.iter().zip(markers);
                let own = own.filter(|(target, _)| {
                    target.marker == marker && (target.component.entry() < 3) == turns
                });
                own.fold(0.0_f64, |size, (_, gap)| size.hypot(*gap))
            };
            [of(false), of(true)]
        };
        let size = |marker: usize| norm(&left(marker));
        let all = self.targets.markers.iter().map(|target| target.marker);
        let marker = all.fold(first, |worst, marker| {
            if size(marker) > size(worst) {
                marker
            } else {
                worst
            }
        });
        let [distance_m, angle_rad] = left(marker);
        Some(AssemblyError::Unreachable {
            marker: self.linkage.markers[marker].name.clone(),
            distance_m,
            angle_rad,
            limited: self.limits().next().is_some(),
        })
    }

    /// Derivatives of the equations of markers along what leaves the loops closed.
    fn marker_rows(&self) -> Vec<SparseRow> {
        let closures = self.constraints.len();
        let held = self.decompose(&self.jacobian[..closures]);
        let along = |row: &SparseRow| -> SparseRow {
            let mut whole = DVector::zeros(self.free.len());
            for &(at, x) in row {
                whole[at] = x;
            }
            let within = held.within(&whole);
            self.free
                .iter()
                .copied()
                .zip(within.iter().copied())
                .collect()
        };
        let rows = self.over_free(&self.jacobian[closures..]);
        rows.iter().map(along).collect()
    }

    /// Changes rates as little as possible until the loops stay closed and the targets are met.
    pub(super) fn close_rates(
        &mut self,
        position: &[f64],
        velocity: &mut [f64],
        tolerance: f64,
    ) -> Result<(), AssemblyError> {
        self.evaluate(position, velocity);
        let closures = self.constraints.len();
        let rows = self.residual.len();
        let opening = |velocity: &[f64], rates: &[SparseRow]| -> Vec<f64> {
            (0..rows)
                .map(|row| {
                    let wanted = match row.checked_sub(closures) {
                        Some(marker) => self.targets.markers[marker].rate,
                        None => 0.0,
                    };
                    let rate: f64 = rates[row].iter().map(|&(at, x)| x * velocity[at]).sum();
                    rate - wanted
                })
                .collect()
        };
        let decomposition = self.decompose(&self.rates);
        // twice: the second time takes off what rounding left
        for _ in 0..2 {
            let rate = opening(velocity, &self.rates);
            let step = decomposition.least(&rate, 0.0);
            for (&at, x) in self.free.iter().zip(step.iter()) {
                velocity[at] += x;
            }
        }
        let left = opening(velocity, &self.rates);
        let most = velocity.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        let worst = (0..rows).max_by(|&a, &b| left[a].abs().total_cmp(&left[b].abs()));
        match worst {
            Some(row) if left[row].abs() > tolerance * most => {
                let (closure, equation) = self.name(row);
                Err(AssemblyError::Rates {
                    closure,
                    equation,
                    rate: left[row].abs(),
                    unit: self.unit(row),
                })
            }
            _ => Ok(()),
        }
    }

    /// What stays open at the best configuration that was found.
    pub(super) fn open(&mut self, position: &[f64]) -> AssemblyError {
        /// Part of the gap that no motion reaches, from which it counts as a contradiction.
        const MOST: f64 = 0.9;
        let at_rest = self.at_rest.clone();
        self.evaluate(position, &at_rest);
        let (worst, gap) = self.worst();
        let total = norm(&self.residual).max(gap);
        let (closure, equation) = self.name(worst);
        let unit = self.unit(worst);
        // a gap out of reach lies across what a straight chain can do, and not across what a bent one can
        let mut bent = position.to_vec();
        let mut step = vec![0.0; self.at_rest.len()];
        for (i, &at) in self.free.iter().enumerate() {
            step[at] = 0.3 * (1.0 + i as f64).sin();
        }
        displace(&self.linkage.system, &mut bent, &step);
        self.evaluate(&bent, &at_rest);
        let beyond = self.decompose(&self.jacobian).beyond(&self.residual);
        if beyond > MOST * total {
            AssemblyError::Contradiction {
                closure,
                equation,
                gap,
                unit,
            }
        } else {
            AssemblyError::Open {
                closure,
                equation,
                gap,
                unit,
            }
        }
    }
}

/// Rows over some entries of the velocity vector, which rise, of rows over all.
fn over(columns: &[usize], rows: &[SparseRow]) -> Vec<SparseRow> {
    let place = |&(at, x): &(usize, f64)| Some((columns.binary_search(&at).ok()?, x));
    let of_row = |row: &SparseRow| row.iter().filter_map(place).collect();
    rows.iter().map(of_row).collect()
}

/// Takes whole turns off free angles until they are nearest to the guess, as far as their limits allow.
pub(super) fn nearest_turn(
    linkage: &Linkage,
    targets: &Targets,
    free: &[usize],
    position: &mut [f64],
) {
    use std::f64::consts::TAU;
    let guess = &targets.position;
    let layout = linkage.system.layout();
    for k in 0..linkage.system.bodies().len() {
        let (p, v) = (layout.joint_position[k], layout.joint_velocity[k]);
        if is_angle(linkage, k) && free.binary_search(&v).is_ok() {
            let turned = position[p] - TAU * ((position[p] - guess[p]) / TAU).round();
            let mut limits = targets.limits.iter();
            let limit = limits.find(|limit| limit.position == p);
            if limit.is_none_or(|limit| limit.within(turned) == turned) {
                position[p] = turned;
            }
        }
    }
}
