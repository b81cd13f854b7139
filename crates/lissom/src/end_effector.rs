//! [`EndEffector`]: how stiff a mechanism is at a marker, how well its drives move it there, and how low it vibrates.

use lissom_core::State;
use lissom_core::study::{AnalysisError, Linearized, OperatingPoint};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{Frozen, ModeAt, Terms, TrackedModes};
use nalgebra::{DMatrix, DVector, Matrix3};

use lissom_engine::Mechanism;

/// Singular values of a stiffness below this part of the largest, its rows and columns scaled to unit diagonals, are rounding: nothing holds there.
const RANK: f64 = 1e-12;

/// A mechanism at a marker, at rest with its driven joints held.
#[derive(Clone, Debug, PartialEq)]
pub struct EndEffector {
    /// Where the marker is, in m.
    pub position_m: [f64; 3],
    /// Displacement of the marker by a force on it, $`J K^{-1} J^T`$ in ground axes and m/N, or the coordinate that nothing holds.
    pub compliance_m_per_n: Result<[[f64; 3]; 3], String>,
    /// Names of the coordinates that are driven, and are held.
    pub driven: Vec<String>,
    /// Velocity of the marker in ground axes for every driven coordinate at unit rate, neither links nor gears deforming: one column each.
    /// That of a motor whose joint a loop solves for is zero.
    pub jacobian: Vec<[f64; 3]>,
    /// Lowest natural frequency with the driven joints held, in rad/s; none where nothing vibrates or the equilibrium is unstable.
    pub frequency_rad_per_s: Option<f64>,
    /// Whether the mechanism comes back when it is touched, or nothing gives way.
    pub is_stable: bool,
}

impl EndEffector {
    /// Force on the marker by its displacement, in N/m; none where it cannot be displaced in all directions, or nothing holds it.
    pub fn stiffness_n_per_m(&self) -> Option<[[f64; 3]; 3]> {
        let compliance = Matrix3::from(*self.compliance_m_per_n.as_ref().ok()?);
        let values = compliance.singular_values();
        if values.min() <= RANK * values.max() {
            return None;
        }
        let stiffness = compliance.lu().solve(&Matrix3::identity())?;
        Some(stiffness.into())
    }

    /// Smallest stiffness in N/m of all directions in which the marker may be pushed; infinite where nothing gives way, none where nothing holds it or the
    /// equilibrium is unstable: there a displacement by a force says where the balance is, not that anything goes there.
    pub fn least_stiffness_n_per_m(&self) -> Option<f64> {
        if !self.is_stable {
            return None;
        }
        let compliance = Matrix3::from(*self.compliance_m_per_n.as_ref().ok()?);
        let symmetric = 0.5 * (compliance + compliance.transpose());
        let most = symmetric.symmetric_eigenvalues().max();
        Some(if most > 0.0 {
            1.0 / most
        } else {
            f64::INFINITY
        })
    }

    /// Singular values of the Jacobian from the largest, of some components of the velocity (0 for x): as many as there are driven
    /// coordinates, or components if these are fewer.
    pub fn singular_values(&self, components: &[usize]) -> Vec<f64> {
        let entry = |row: usize, column: usize| self.jacobian[column][components[row]];
        let jacobian = DMatrix::from_fn(components.len(), self.jacobian.len(), entry);
        if jacobian.is_empty() {
            return Vec::new();
        }
        let mut values: Vec<f64> = jacobian.singular_values().iter().copied().collect();
        values.sort_by(|one, other| other.total_cmp(one));
        values
    }
}

/// A mechanism at a marker, in equilibrium under its loads near a state with its driven joints held. `None` if there is no such marker.
///
/// # Errors
/// When there is no equilibrium there, or it cannot be linearised.
pub fn end_effector(
    mechanism: &Mechanism,
    near: &State,
    marker: &str,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<Option<EndEffector>, AnalysisError> {
    let found = mechanism.linearize(near, OperatingPoint::Equilibrium, &[], watch)?;
    let labels = found.trajectory.labels();
    let Some(at) = labels.markers.iter().position(|own| own == marker) else {
        return Ok(None);
    };
    let frozen = Frozen::new(&found.trajectory, &found.driven);
    let lowest = if found.driven.len() < labels.coordinates.len() {
        let modes = TrackedModes::watched(&frozen, Terms::CASES[0], 1, watch)?;
        let lowest = modes.modes.into_iter().next();
        lowest.and_then(|mode| mode.into_iter().next())
    } else {
        None
    };
    Ok(Some(of_linearized(&found, at, lowest.as_ref())))
}

fn of_linearized(found: &Linearized, marker: usize, lowest: Option<&ModeAt>) -> EndEffector {
    let labels = found.trajectory.labels();
    let point = &found.trajectory.points()[0];
    let output = &point.outputs[marker];
    let count = labels.coordinates.len();
    let free: Vec<usize> = (0..count)
        .filter(|dof| !found.driven.contains(dof))
        .collect();
    // a joint behind a gear that does not deform follows its motor
    let moves = |dof: usize| {
        let followers = found.geared.iter().filter(move |[motor, _]| *motor == dof);
        std::iter::once(dof).chain(followers.map(|&[_, joint]| joint))
    };
    let column =
        |&dof: &usize| [0, 1, 2].map(|row| moves(dof).map(|own| output.first[(row, own)]).sum());
    let name = |&dof: &usize| labels.coordinates[dof].name.clone();
    let restricted = point.linear.restricted(&free).stiffness();
    let moved = output.first.select_columns(&free);
    let compliance = solved(&restricted, &moved.transpose());
    EndEffector {
        position_m: output.position.0,
        compliance_m_per_n: compliance
            .map(|solved| {
                let compliance = moved * solved;
                [0, 1, 2].map(|i| [0, 1, 2].map(|j| compliance[(i, j)]))
            })
            .map_err(|dof| name(&free[dof])),
        driven: found.driven.iter().map(name).collect(),
        jacobian: found.driven.iter().map(column).collect(),
        frequency_rad_per_s: lowest.and_then(ModeAt::frequency),
        is_stable: lowest.is_none_or(|mode| mode.square.im == 0.0 && mode.square.re >= 0.0),
    }
}

/// $`K^{-1} B`$, or the coordinate that $`K`$ holds least if it holds it no better than rounding.
fn solved(stiffness: &DMatrix<f64>, right: &DMatrix<f64>) -> Result<DMatrix<f64>, usize> {
    let size = stiffness.nrows();
    if size == 0 {
        return Ok(right.clone());
    }
    // metres and radians, and modes of all frequencies, side by side
    let largest = stiffness.amax();
    let length = |i: usize| {
        let own = stiffness[(i, i)].abs();
        if own > 0.0 {
            own.sqrt()
        } else {
            largest.max(f64::MIN_POSITIVE).sqrt()
        }
    };
    let lengths = DVector::from_fn(size, |i, _| length(i));
    let scaled = DMatrix::from_fn(size, size, |i, j| {
        stiffness[(i, j)] / (lengths[i] * lengths[j])
    });
    let right = DMatrix::from_fn(size, right.ncols(), |i, j| right[(i, j)] / lengths[i]);
    let svd = scaled.clone().svd(false, true);
    let (at, &least) = svd
        .singular_values
        .iter()
        .enumerate()
        .min_by(|one, other| one.1.total_cmp(other.1))
        .ok_or(0_usize)?;
    if least <= RANK * svd.singular_values.max() {
        let direction = svd.v_t.ok_or(0_usize)?.row(at).transpose();
        return Err(direction.icamax());
    }
    let solved = scaled.lu().solve(&right).ok_or(0_usize)?;
    Ok(DMatrix::from_fn(size, solved.ncols(), |i, j| {
        solved[(i, j)] / lengths[i]
    }))
}
