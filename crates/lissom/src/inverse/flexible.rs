//! Inverse dynamics of flexible mechanisms: [`flexible_inverse_dynamics`].

use lissom_core::recording::{Recording, Sample};
use lissom_core::study::{Deviation, OperatingPoint, OutputOrder};
use lissom_core::{NominalDrives, State};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::{
    Compensation, Driven, Inversion, Label, LinearizedTrajectory, Point, invert,
};

use lissom_engine::Mechanism;

use super::{InverseDynamics, InverseError, duties};

/// Part of what grows that is left where drives begin so early that they do not miss it.
const NEGLECTED: f64 = 0.01;

/// Whose path is kept how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlexibleOptions {
    /// The marker; that of the nominal motion, or else the last, if it is not said.
    pub marker: Option<String>,
    /// How deformations are taken into account.
    pub compensation: Compensation,
}

/// What would move a flexible mechanism so that a marker stays on the path that it has if every body is rigid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlexibleInverse {
    /// Torques or forces, rates, powers and positions of the drives, and what remains of the deviation of the marker.
    pub inverse: InverseDynamics,
    /// The marker.
    pub marker: String,
    /// The state in which the mechanism has to start.
    pub start: State,
    /// Largest distance by which deformations move the marker if joints are on their nominal motion.
    pub deflection: Sample,
    /// Largest distance that is expected to remain of it.
    pub residual: Sample,
    /// How far the marker is off rest where the motion begins: what drives would have to do before.
    pub unrest_m: f64,
    /// Real parts of the transmission zeros from the drives to the marker that grow, the smallest first.
    pub growing_zeros: Vec<f64>,
    /// How long before the motion the drives have to begin.
    pub pre_actuation_s: f64,
    /// How long the joints rest nominally before they move.
    pub rest_s: f64,
}

/// The torques and forces that move a flexible mechanism along its motion with a marker on its nominal path, from the equations linearised along
/// the motion of rigid bodies. What is asked for as in [`inverse_dynamics`](super::inverse_dynamics).
///
/// # Errors
/// When nothing says how it moves, or the motion has no such inverse.
pub fn flexible_inverse_dynamics(
    mechanism: &Mechanism,
    times_s: &[f64],
    options: &FlexibleOptions,
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<FlexibleInverse, InverseError> {
    if !mechanism.spec().motion.is_empty() {
        return Err(InverseError::Prescribed);
    }
    let times = mechanism.with_breaks(times_s)?;
    let rows = mechanism.nominal_drives(&times, watch)?;
    let Some(first) = rows.first() else {
        return Err(InverseError::NoMotion);
    };
    if rows.len() < times.len() {
        let at_s = times[rows.len() - 1];
        return Err(InverseError::Stopped { at_s });
    }
    let at = OperatingPoint::Nominal;
    let written = mechanism.written();
    let linearized = mechanism.linearize_to(&written, at, &times, OutputOrder::Second, watch)?;
    if !linearized.further.is_empty() {
        return Err(InverseError::Repartitioned);
    }
    let trajectory = &linearized.trajectory;
    let labels = trajectory.labels();
    let nominal = mechanism.spec().nominal_motion.as_ref();
    let named = options
        .marker
        .as_ref()
        .or(nominal.map(|nominal| &nominal.marker));
    let marker = match named {
        Some(name) => labels.markers.iter().position(|marker| marker == name),
        None => labels.markers.len().checked_sub(1),
    };
    let unknown = || InverseError::Marker {
        name: named.cloned().unwrap_or_default(),
        known: labels.markers.clone(),
    };
    let marker = marker.ok_or_else(unknown)?;
    let input = |(name, _): &(String, &str)| {
        let place = labels.inputs.iter().position(|input| input.name == *name);
        place.ok_or_else(|| InverseError::Drive { name: name.clone() })
    };
    let inputs: Vec<usize> = first.signals.iter().map(input).collect::<Result<_, _>>()?;
    let driven = Driven {
        dofs: &linearized.driven,
        geared: &linearized.geared,
        inputs: &inputs,
        marker,
    };
    let inversion = invert(trajectory, &driven, options.compensation)?;
    let independent = &trajectory.coordinates().independent;
    let deviation = Deviation {
        independent,
        position: inversion.deviation[0].as_slice(),
        rate: inversion.rate[0].as_slice(),
    };
    let start = mechanism.deviated_state(times[0], &deviation)?;
    let name = labels.markers[marker].clone();
    let recording = recorded(trajectory, &rows, &inversion, &inputs, &name);
    let largest = |of: &[nalgebra::DVector<f64>]| {
        let mut most = Sample {
            value: 0.0,
            time_s: times[0],
        };
        for (&time_s, moved) in times.iter().zip(of) {
            let value = moved.norm();
            if value > most.value || value.is_nan() {
                most = Sample { value, time_s };
            }
        }
        most
    };
    let growing = inversion.zeros.iter().map(|zero| zero.re);
    let mut growing_zeros: Vec<f64> = growing
        .filter(|rate| *rate > inversion.growing_above)
        .collect();
    growing_zeros.sort_by(f64::total_cmp);
    let is_still = |row: &&NominalDrives| row.rates.iter().all(|rate| *rate == 0.0);
    let still = rows.iter().take_while(is_still).count();
    Ok(FlexibleInverse {
        marker: name,
        start,
        deflection: largest(&inversion.deflection),
        residual: largest(&inversion.residual),
        unrest_m: inversion.unrest,
        pre_actuation_s: growing_zeros
            .first()
            .map_or(0.0, |rate| -NEGLECTED.ln() / rate),
        growing_zeros,
        rest_s: times[still.saturating_sub(1)] - times[0],
        inverse: InverseDynamics {
            drives: duties(&recording, first),
            degrees_of_freedom: first.degrees_of_freedom,
            warning: first.warning(),
            stopped_at: None,
            recording,
        },
    })
}

/// Torque or force, rate, power and position of every drive, and what remains of the deviation of the marker.
fn recorded(
    trajectory: &LinearizedTrajectory,
    rows: &[NominalDrives],
    inversion: &Inversion,
    inputs: &[usize],
    marker: &str,
) -> Recording {
    let labels = trajectory.labels();
    let mut channels = super::channels(&rows[0]);
    // inputs on joints come first, in the order of the joints
    let joints: Vec<Option<&Label>> = inputs
        .iter()
        .map(|&input| labels.joints.get(input))
        .collect();
    channels.extend(
        joints
            .iter()
            .flatten()
            .map(|joint| (joint.name.clone(), joint.unit)),
    );
    channels.push((format!("{marker}.residual"), "m"));
    let mut recording = Recording::with_capacity(channels, rows.len());
    for (k, (point, row)) in trajectory.points().iter().zip(rows).enumerate() {
        let [positions, rates] = joint_motion(trajectory, point, inversion, k);
        let mut values = Vec::new();
        let mut places = Vec::new();
        for (drive, &input) in inputs.iter().enumerate() {
            let effort = row.efforts[drive].1 + inversion.effort[k][drive];
            let rate = row.rates[drive] + rates.get(input).copied().unwrap_or(0.0);
            values.extend([effort, rate, effort * rate]);
            let nominal = point.joints.get(input).zip(positions.get(input));
            places.extend(nominal.map(|(nominal, moved)| nominal + moved));
        }
        values.extend(places);
        values.push(inversion.residual[k].norm());
        recording.push(point.time, &values);
    }
    recording
}

/// Deviations of all joints with drives, and of their rates.
fn joint_motion(
    trajectory: &LinearizedTrajectory,
    point: &Point,
    inversion: &Inversion,
    k: usize,
) -> [Vec<f64>; 2] {
    let (by_position, by_rate) = (
        trajectory.joint_rows(point),
        trajectory.joint_rate_rows(point),
    );
    let (deviation, rate) = (&inversion.deviation[k], &inversion.rate[k]);
    [
        &by_position * deviation,
        by_position * rate + by_rate * deviation,
    ]
    .map(|moved| moved.as_slice().to_vec())
}
