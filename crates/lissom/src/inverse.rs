//! Inverse dynamics along the motion of a model: of rigid bodies, [`inverse_dynamics`], and of flexible ones, [`flexible_inverse_dynamics`].

mod flexible;

use lissom_core::recording::{Recording, Sample};
use lissom_core::study::AnalysisError;
use lissom_core::{NominalDrives, NominalError};
use lissom_numerics::integrate::Flow;
use lissom_numerics::linear::LinearError;
use lissom_spec::ModelSpec;
use lissom_spec::spec::InputSpec;

use lissom_engine::{BuildError, Mechanism};

pub use flexible::{FlexibleInverse, FlexibleOptions, flexible_inverse_dynamics};
pub use lissom_numerics::linear::Compensation;

/// What would move a mechanism along its motion if every body and gear were rigid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InverseDynamics {
    /// Torque or force, rate and power of every drive.
    pub recording: Recording,
    /// What is asked of each over the motion.
    pub drives: Vec<DriveDuty>,
    /// Degrees of freedom of the rigid mechanism.
    pub degrees_of_freedom: usize,
    /// What to know of drives beyond the degrees of freedom.
    pub warning: Option<String>,
    /// Instant at which whoever watches stopped it.
    pub stopped_at: Option<f64>,
}

/// What is asked of a drive over a motion, at the joint side of its gear.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveDuty {
    /// The joint, with its component if it has several.
    pub name: String,
    /// Torque in N m or force in N.
    pub effort: Duty,
    /// Rate in rad/s or m/s.
    pub rate: Duty,
    /// Power in W; negative where the drive brakes.
    pub power: Duty,
}

/// How large a quantity becomes, and is on average.
#[derive(Clone, Debug, PartialEq)]
pub struct Duty {
    /// Name of its channel.
    pub channel: String,
    /// Its unit.
    pub unit: &'static str,
    /// The largest in size, with its sign.
    pub peak: Sample,
    /// Root of the mean square over the motion.
    pub rms: f64,
}

/// Why there is no inverse dynamics.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InverseError {
    /// Nothing says how the mechanism moves.
    #[error(
        "nothing says what drives the mechanism along which motion; give its inputs rigid_inverse_dynamics, or nominal_motion = true \
         beside a [nominal_motion], or joints a [[motion]] (prescribed deformations of elements are no drives)"
    )]
    NoMotion,
    /// The trajectory cannot be followed or driven.
    #[error(transparent)]
    Nominal(#[from] NominalError),
    /// The mechanism cannot be linearised along its motion.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The linearised equations have no inverse.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// Joints follow their motions whatever bends.
    #[error(
        "joints whose motion is prescribed do not give way so that a marker stays on its path; give them inputs with rigid_inverse_dynamics instead"
    )]
    Prescribed,
    /// There is no such marker.
    #[error("no marker {name:?} whose path could be kept; there are: {}", .known.join(", "))]
    Marker {
        /// The name that was asked for.
        name: String,
        /// Markers there are.
        known: Vec<String>,
    },
    /// A drive is no input of the linearised equations.
    #[error(
        "{name} is no input of the linearised equations; drive revolute and prismatic joints only"
    )]
    Drive {
        /// Its channel.
        name: String,
    },
    /// Independent coordinates change on the way.
    #[error(
        "the joints that lead the loops change along the motion, across which flexible mechanisms are not inverted; compensate a part of the motion"
    )]
    Repartitioned,
    /// Whoever watches stopped it.
    #[error("stopped at {at_s} s")]
    Stopped {
        /// When.
        at_s: f64,
    },
    /// There is no mechanism whose prescribed joints are driven.
    #[error("with drives in the place of prescribed motions: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Build(Vec<BuildError>),
}

/// The torques and forces that would move a mechanism along its motion if every body and gear were rigid, at instants that rise: of
/// the inputs that ask for inverse dynamics and of the joints whose motions are prescribed. Of more drives than degrees of freedom the
/// smallest in sum of squares are taken. `watch` is told every instant and may stop it.
///
/// ```
/// use lissom::inverse::inverse_dynamics;
/// use lissom::{Flow, Mechanism, ModelSpec, Override, TEMPLATE};
///
/// let motion = r#"input = [{ joint = "shoulder", rigid_inverse_dynamics.quintic = { final_angle_rad = 0.0, duration_s = 1.0 } }]"#;
/// let spec = ModelSpec::parse(TEMPLATE, &[Override::parse(motion).unwrap()]).unwrap();
/// let mechanism = Mechanism::build(&spec).unwrap();
/// let found = inverse_dynamics(&mechanism, &[0.0, 0.5, 1.0], &mut |_| Flow::Continue).unwrap();
/// assert_eq!(found.recording.time_s, [0.0, 0.5, 1.0]);
/// assert_eq!(found.drives[0].name, "shoulder");
/// ```
///
/// # Errors
/// When nothing says how it moves, or the motion cannot be followed or driven.
pub fn inverse_dynamics(
    mechanism: &Mechanism,
    times_s: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<InverseDynamics, InverseError> {
    let own = drivable(mechanism)?;
    driven(own.as_ref().unwrap_or(mechanism), times_s, watch)
}

/// The mechanism with drives in the place of prescribed motions, where it has any.
fn drivable(mechanism: &Mechanism) -> Result<Option<Mechanism>, InverseError> {
    let spec = mechanism.spec();
    // prescribed deformations of elements have no inputs in their place
    let mut motions = spec.motion.iter();
    if !motions.any(|motion| spec.find_joint(&motion.joint).is_some()) {
        return Ok(None);
    }
    let driven = Mechanism::build(&driven_spec(spec)).map_err(InverseError::Build)?;
    Ok(Some(driven))
}

fn driven(
    mechanism: &Mechanism,
    times_s: &[f64],
    watch: &mut dyn FnMut(f64) -> Flow,
) -> Result<InverseDynamics, InverseError> {
    let mut stopped_at = None;
    let rows = mechanism.nominal_drives(times_s, &mut |time_s| {
        let flow = watch(time_s);
        if flow == Flow::Stop {
            stopped_at = Some(time_s);
        }
        flow
    })?;
    let Some(first) = rows.first() else {
        return Err(InverseError::NoMotion);
    };
    let mut recording = Recording::with_capacity(channels(first), rows.len());
    for (&time_s, row) in times_s.iter().zip(&rows) {
        let drives = row.efforts.iter().zip(&row.rates);
        let values = drives.flat_map(|((_, effort), rate)| [*effort, *rate, effort * rate]);
        recording.push(time_s, &values.collect::<Vec<f64>>());
    }
    Ok(InverseDynamics {
        drives: duties(&recording, first),
        degrees_of_freedom: first.degrees_of_freedom,
        warning: first.warning(),
        stopped_at,
        recording,
    })
}

/// Names and units of torque or force, rate and power of every drive.
fn channels(drives: &NominalDrives) -> Vec<(String, &'static str)> {
    let names = drives.efforts.iter().map(|(name, _)| name);
    let channels = names.zip(&drives.signals).flat_map(|(name, effort)| {
        let rate_unit = if effort.1 == "N m" { "rad/s" } else { "m/s" };
        [
            effort.clone(),
            (format!("{name}.rate"), rate_unit),
            (format!("{name}.power"), "W"),
        ]
    });
    channels.collect()
}

/// What is asked of every drive, whose channels come first.
fn duties(recording: &Recording, drives: &NominalDrives) -> Vec<DriveDuty> {
    let channels = channels(drives);
    let duty = |at: usize| {
        let (name, unit) = &channels[at];
        let samples = &recording.channels[at].samples;
        Duty {
            channel: name.clone(),
            unit,
            peak: peak(&recording.time_s, samples),
            rms: root_mean_square(&recording.time_s, samples),
        }
    };
    let names = drives.efforts.iter().enumerate();
    let drives = names.map(|(at, (name, _))| DriveDuty {
        name: name.clone(),
        effort: duty(3 * at),
        rate: duty(3 * at + 1),
        power: duty(3 * at + 2),
    });
    drives.collect()
}

/// A model whose prescribed joints are driven along their motions instead.
fn driven_spec(spec: &ModelSpec) -> ModelSpec {
    let mut driven = spec.clone();
    for motion in driven.motion.drain(..) {
        driven.input.push(InputSpec {
            rigid_inverse_dynamics: motion.profile_specs().into_iter().next(),
            joint: Some(motion.joint),
            component: motion.component,
            ..InputSpec::default()
        });
    }
    driven
}

/// The largest sample in size, the earliest one when several are equal.
fn peak(times_s: &[f64], samples: &[f64]) -> Sample {
    let mut most = Sample {
        value: 0.0,
        time_s: times_s.first().copied().unwrap_or(0.0),
    };
    for (&time_s, &value) in times_s.iter().zip(samples) {
        if value.abs() > most.value.abs() || value.is_nan() {
            most = Sample { value, time_s };
        }
    }
    most
}

/// Root of the mean square of what runs straight from sample to sample.
fn root_mean_square(times_s: &[f64], samples: &[f64]) -> f64 {
    let span = times_s.last().zip(times_s.first());
    let span = span.map_or(0.0, |(last, first)| last - first);
    if span <= 0.0 {
        return samples.first().map_or(0.0, |value| value.abs());
    }
    let pairs = times_s.windows(2).zip(samples.windows(2));
    let squares = pairs.map(|(t, x)| (t[1] - t[0]) * (x[0] * x[0] + x[0] * x[1] + x[1] * x[1]));
    (squares.sum::<f64>() / (3.0 * span)).sqrt()
}
