//! [`Summary`]: what a run says of itself, as one stable JSON object.
//!
//! ```json
//! {
//!   "model": "two-link flexible arm",
//!   "lissom_version": "0.1.0",
//!   "completed": true,
//!   "duration_s": 3.0,
//!   "channels": {
//!     "hand.position.x": {
//!       "unit": "m",
//!       "final": 0.41,
//!       "minimum": { "value": -0.02, "time_s": 0.0 },
//!       "maximum": { "value": 1.31, "time_s": 1.42 }
//!     }
//!   },
//!   "at": [{ "time_s": 1.5, "channels": { "hand.position.x": 1.29 } }],
//!   "audit": {
//!     "energy": { "peak_j": 6.2, "final_drift_j": 1e-9, "max_drift_percent": 1e-7, "rms_drift_percent": 1e-8 },
//!     "limit_violations": []
//!   },
//!   "cost": { "steps": 412, "rejected": 3, "evaluations": 5120, "jacobians": 0, "stiff": false, "wall_s": 0.12 },
//!   "files": ["results/arm/recording.csv", "results/arm/manifest.json"]
//! }
//! ```
//!
//! | key | meaning |
//! |---|---|
//! | `model` | `name` of the model, or that of its file |
//! | `completed` | whether the run reached its end |
//! | `in_progress` | `true` in what a run has written on its way, while it was still going; only then |
//! | `continued_at_s` | instant at which it went on in the folder of its earlier part: `audit` and `cost` are those from there on; only then |
//! | `stopped_at_s` | instant it was interrupted at; only then |
//! | `failure` | `time_s` reached, `coordinate` in trouble, `message` with a remedy; only when it failed |
//! | `duration_s` | the time span asked for |
//! | `channels` | every recorded channel; extremes are those of the samples, the earliest of equal ones |
//! | `at` | every channel at the instants asked for, as far as the run came |
//! | `audit.energy.non_conservative` | terms of the chosen fidelity that follow from no energy; only if there are any |
//! | `audit.momentum` | only where nothing outside acts on the mechanism |
//! | `warnings` | what to know beyond the audit, as that redundant drives share their work; only if there is any |
//! | `loads` | the largest size of every load and stress along every beam, with `time_s` and `place_m` from the root; only with `output.load_sections` |
//! | `start_changes` | coordinates and rates that start elsewhere than the model writes, as its loops would not be closed there; only if there are any |
//! | `integrator` | what `auto` used: accepted steps `by` each method, `changes` between them, and `why` in a sentence; only with `auto` |
//! | `cost.wall_s` | the only entry that differs between two runs of the same model |
//! | `files` | paths of what was written |
//!
//! A number that is not finite is `null`, as JSON knows no other. Keys may be added; none changes its
//! meaning.

use lissom::diagnose::StartChange;
use lissom::recording::{Extremes, LoadPeak, Sample, SectionExtremes};
use lissom::spec::IntegratorSpec;
use lissom::{Audit, Channel, Ending, Flow, NominalDrives, Recording, Run};
use lissom_numerics::integrate::Statistics;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::load::Loaded;

/// What a run says of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the model.
    pub model: String,
    /// Version of Lissom that ran it.
    pub lissom_version: String,
    /// Whether the run reached its end.
    pub completed: bool,
    /// Whether the run was still going when this was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_progress: bool,
    /// Instant at which the run went on after its earlier part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continued_at_s: Option<f64>,
    /// Instant the run was interrupted at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_at_s: Option<f64>,
    /// Why the run could not go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The time span asked for.
    pub duration_s: f64,
    /// Final, smallest and largest value of every channel.
    #[serde(serialize_with = "by_name")]
    pub channels: Vec<Extremes>,
    /// Every channel at the instants asked for.
    pub at: Vec<Instant>,
    /// Energy, momentum and limits.
    pub audit: Audit,
    /// What to know of the run beyond its audit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The largest loads and stresses along the beams.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadPeak>,
    /// Coordinates and rates that start elsewhere than the model writes, as its loops would not be closed there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start_changes: Vec<StartChange>,
    /// What `auto` used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<IntegratorUse>,
    /// What the run cost.
    pub cost: Cost,
    /// Paths of what was written.
    pub files: Vec<String>,
}

/// Why a run could not go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// Instant up to which the motion is known.
    pub time_s: f64,
    /// The coordinate in trouble.
    pub coordinate: String,
    /// What happened and what to do about it.
    pub message: String,
}

/// Every channel at one instant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instant {
    /// The instant.
    pub time_s: f64,
    /// Name and value of every channel.
    #[serde(serialize_with = "as_map")]
    pub channels: Vec<(String, f64)>,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the equations of motion.
    pub evaluations: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Whether modes faster than the motion kept most steps of an explicit method short.
    pub stiff: bool,
    /// Seconds on the clock.
    pub wall_s: f64,
}

/// What `auto` used, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IntegratorUse {
    /// Accepted steps by method.
    pub by: StepsBy,
    /// Changes from one method to another, those for trials included.
    pub changes: u64,
    /// What it used and why, in a sentence.
    pub why: String,
}

/// Accepted steps by method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StepsBy {
    /// Explicit.
    pub dop853: u64,
    /// Implicit, its stages solved by the recursions.
    pub esdirk: u64,
    /// Implicit, by a Jacobian.
    pub radau: u64,
}

impl IntegratorUse {
    fn of(statistics: &Statistics) -> Self {
        let (all, changes) = (statistics.steps, statistics.changes);
        let by = StepsBy {
            dop853: all - statistics.esdirk_steps - statistics.radau_steps,
            esdirk: statistics.esdirk_steps,
            radau: statistics.radau_steps,
        };
        let (implicit, name) = if by.esdirk > by.radau {
            (by.esdirk, "esdirk")
        } else {
            (by.radau, "radau")
        };
        let why = if implicit == 0 && statistics.is_stiff() {
            format!(
                "dop853 for all {all} steps: fast modes kept them short, but implicit steps were not three times faster"
            )
        } else if implicit == 0 {
            format!("dop853 for all {all} steps: no mode faster than the motion kept them short")
        } else {
            format!(
                "{name} for {implicit} of {all} steps, dop853 for {}: modes faster than the motion kept explicit steps short",
                by.dop853
            )
        };
        Self { by, changes, why }
    }
}

impl Summary {
    /// The summary of a run that took `wall_s` seconds, with every channel at the instants `at_s`; no
    /// files yet.
    pub fn new(loaded: &Loaded, run: &Run, at_s: &[f64], wall_s: f64) -> Self {
        let (stopped_at_s, failure) = match &run.ending {
            Ending::Completed => (None, None),
            Ending::Stopped { at_s } => (Some(*at_s), None),
            Ending::Failed(error) => {
                let failure = Failure {
                    time_s: error.time_s(),
                    coordinate: error.coordinate().to_owned(),
                    message: error.to_string(),
                };
                (None, Some(failure))
            }
        };
        let statistics = &run.statistics;
        Self {
            model: loaded.name().to_owned(),
            lissom_version: env!("CARGO_PKG_VERSION").to_owned(),
            completed: run.ending == Ending::Completed,
            in_progress: false,
            continued_at_s: None,
            stopped_at_s,
            failure,
            duration_s: loaded.spec.simulation.duration_s,
            channels: run.recording.extremes(),
            at: (at_s.iter())
                .filter_map(|&time_s| instant(&run.recording, time_s))
                .collect(),
            audit: run.audit.clone(),
            warnings: warnings(loaded),
            loads: LoadPeak::of(&SectionExtremes::of(&run.recording, &loaded.spec)),
            start_changes: loaded.mechanism.start_changes().to_vec(),
            integrator: (run.statistics.steps > 0
                && matches!(loaded.spec.simulation.integrator, IntegratorSpec::Auto(_)))
            .then(|| IntegratorUse::of(&run.statistics)),
            cost: Cost {
                steps: statistics.steps,
                rejected: statistics.rejected,
                evaluations: statistics.evaluations,
                jacobians: statistics.jacobians,
                stiff: statistics.is_stiff(),
                wall_s,
            },
            files: Vec::new(),
        }
    }
}

/// What is said of a run that somebody else has made step by step: all but what only the integration of a whole run knows, its audit and its
/// counts.
pub fn stepped(
    loaded: &Loaded,
    recording: Recording,
    stopped_at_s: Option<f64>,
    at_s: &[f64],
    wall_s: f64,
) -> serde_json::Value {
    let run = Run {
        recording,
        audit: Audit::default(),
        statistics: Statistics::default(),
        ending: stopped_at_s.map_or(Ending::Completed, |at_s| Ending::Stopped { at_s }),
        last: None,
    };
    let mut told = serde_json::json!(Summary::new(loaded, &run, at_s, wall_s));
    if let Some(told) = told.as_object_mut() {
        told.remove("audit");
        told.insert("cost".to_owned(), serde_json::json!({ "wall_s": wall_s }));
    }
    told
}

/// What to know of a run before it is made.
fn warnings(loaded: &Loaded) -> Vec<String> {
    let start_s = loaded.spec.simulation.start_s;
    // drives that cannot follow their motion are the failure of the run
    let drives = (loaded.mechanism).nominal_drives(&[start_s], &mut |_| Flow::Continue);
    let drives = drives.unwrap_or_default();
    let mut warnings: Vec<String> = drives.iter().filter_map(NominalDrives::warning).collect();
    if let Some((first, more)) = loaded.notes.split_first() {
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(" (and {} more, see lissom check)", more.len())
        };
        warnings.push(format!("{first}{more}"));
    }
    warnings
}

/// Every channel at an instant; `None` if the recording does not reach it.
fn instant(recording: &Recording, time_s: f64) -> Option<Instant> {
    let named =
        |channel: &Channel| Some((channel.name.clone(), recording.value_at(channel, time_s)?));
    let channels: Option<Vec<_>> = recording.channels.iter().map(named).collect();
    Some(Instant {
        time_s,
        channels: channels?,
    })
}

fn by_name<S: Serializer>(channels: &[Extremes], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Entry<'a> {
        unit: &'a str,
        #[serde(rename = "final")]
        last: f64,
        minimum: Sample,
        maximum: Sample,
    }
    let mut map = serializer.serialize_map(Some(channels.len()))?;
    for channel in channels {
        let entry = Entry {
            unit: &channel.unit,
            last: channel.last.value,
            minimum: channel.minimum,
            maximum: channel.maximum,
        };
        map.serialize_entry(&channel.name, &entry)?;
    }
    map.end()
}

fn as_map<S: Serializer>(channels: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(channels.iter().map(|(name, value)| (name, value)))
}
