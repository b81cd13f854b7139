//! What curves of figures are made of: runs of shipped models, of the nonlinear equations or of linearised ones, and costs.

use lissom::{
    Channel, Interpolation, LinearizedTrajectory, OutputOrder, PerturbOptions, Recording, Terms,
};
use serde::Deserialize;

use super::RunSpec;
use crate::load::Loaded;
use crate::validation::costs;
use crate::validation::perturbation::{
    COMPLETE, along_nominal, instants, lag, largest_apart, nonlinear_deviation, perturbed, shipped,
    squares, tip, turning,
};

/// Samples of a run: more than a figure of a page can show apart.
const SAMPLES: usize = 600;

/// What is done with a model.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Study {
    /// A run.
    #[default]
    Simulate,
    /// The perturbation method along the nominal motion, with the terms of a case of \[Jonker & Aarts 2001, Table I\].
    Perturb {
        case: usize,
        points: usize,
        interpolation: Between,
    },
    /// Constrained natural frequencies along the nominal motion, with the terms of a case.
    Frequencies { case: usize, points: usize },
    /// How far the tip is off its nominal place in the nonlinear run that starts from the steady deviation.
    Deviation { points: usize },
    /// Largest errors of the perturbation method over the number of points of linearisation.
    Errors {
        points: Vec<usize>,
        interpolation: Between,
    },
    /// Operations of both algorithms of \[Jain & Rodriguez 1992, section VII\] over the modes of a body.
    Operations(costs::Counting),
    /// Their times here.
    Times,
}

/// What is interpolated between points of linearisation.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Between {
    Matrices,
    StateSpace,
}

/// Curves by name, over one axis.
pub(super) struct Curves(Recording);

impl Curves {
    pub(super) fn across(&self) -> Vec<f64> {
        self.0.time_s.clone()
    }

    /// Unit and values of a channel, or of what is made of channels: the angle about z of a quaternion (`.angle_about_z`), and a
    /// tip across the axis of its hub (`.across_hub`).
    pub(super) fn of(&self, name: &str) -> Option<(String, Vec<f64>)> {
        if let Some(channel) = self.0.channel(name) {
            return Some((channel.unit.clone(), channel.samples.clone()));
        }
        if let Some(body) = name.strip_suffix(".angle_about_z") {
            let part = |axis: &str| self.0.channel(&format!("{body}.quaternion.{axis}"));
            let [z, w] = [part("z")?, part("w")?];
            let both = z.samples.iter().zip(&w.samples);
            return Some((
                "rad".to_owned(),
                both.map(|(z, w)| 2.0 * z.atan2(*w)).collect(),
            ));
        }
        let across = match name {
            "tip.across_hub" => lag(&self.0).or_else(|| Some(turning(&self.0)?[1].clone()))?,
            _ => return None,
        };
        Some(("m".to_owned(), across))
    }
}

/// Curves of numbers that are no recordings: lists of as many values as there are places across.
fn curves(across: Vec<f64>, channels: Vec<(String, &str, Vec<f64>)>) -> Curves {
    let channels = channels.into_iter().map(|(name, unit, samples)| Channel {
        name,
        unit: unit.to_owned(),
        samples,
    });
    Curves(Recording {
        time_s: across,
        channels: channels.collect(),
    })
}

impl RunSpec {
    /// What it gives; `None` if it cannot be computed.
    pub(super) fn curves(&self) -> Option<Curves> {
        match &self.study {
            Study::Operations(counting) => Some(of_costs(&counting.counts(), "")),
            Study::Times => Some(of_costs(&costs::times()?, "µs")),
            study => of_model(study, &self.loaded()?, self.samples.unwrap_or(SAMPLES)),
        }
    }

    fn loaded(&self) -> Option<Loaded> {
        let changes: Vec<&str> = self.set.iter().map(String::as_str).collect();
        shipped(&self.model, &changes)
    }

    #[cfg(test)]
    pub(super) fn loads(&self) -> bool {
        matches!(self.study, Study::Operations(_) | Study::Times) || self.loaded().is_some()
    }

    /// How it is repeated by hand, as far as there is a command for it.
    pub(super) fn command(&self) -> String {
        let verb = match self.study {
            Study::Simulate | Study::Deviation { .. } => "run",
            Study::Perturb { .. } | Study::Errors { .. } => "perturb",
            Study::Frequencies { .. } => "linearize",
            Study::Operations(_) | Study::Times => {
                return "cargo run --release -p lissom-bench -- flexible".to_owned();
            }
        };
        let set = self.set.iter().map(|change| format!(" --set '{change}'"));
        format!("lissom {verb} {}{}", self.model, set.collect::<String>())
    }
}

fn of_model(study: &Study, loaded: &Loaded, count: usize) -> Option<Curves> {
    let end = loaded.spec.simulation.duration_s;
    let samples = instants(end, count);
    let points = |count: usize| loaded.mechanism.with_breaks(&instants(end, count)).ok();
    match study {
        Study::Simulate => Some(Curves(loaded.mechanism.run(&samples).recording)),
        Study::Perturb {
            case,
            points: count,
            interpolation,
        } => {
            let found = along_nominal(loaded, &points(*count)?)?;
            let options = interpolation.options(*Terms::CASES.get(case.checked_sub(1)?)?);
            Some(Curves(perturbed(loaded, &found, options, &samples)?))
        }
        Study::Frequencies {
            case,
            points: count,
        } => {
            let found = along_nominal(loaded, &points(*count)?)?;
            of_frequencies(&found.trajectory, *Terms::CASES.get(case.checked_sub(1)?)?)
        }
        Study::Deviation { points: count } => {
            let found = along_nominal(loaded, &points(*count)?)?;
            let places = nonlinear_deviation(loaded, &found, &samples)?;
            let along = |(axis, name): (usize, &str)| {
                let values = places.iter().map(|place| place[axis]).collect();
                (format!("tip.deviation.{name}"), "m", values)
            };
            let channels = ["x", "y", "z"].into_iter().enumerate().map(along);
            Some(curves(samples.clone(), channels.collect()))
        }
        Study::Errors {
            points: counts,
            interpolation,
        } => {
            let finest = counts.iter().max()?;
            let exact =
                nonlinear_deviation(loaded, &along_nominal(loaded, &points(*finest)?)?, &samples)?;
            let mut errors = ["x", "y", "z"].map(|axis| (format!("error.{axis}"), "m", Vec::new()));
            for count in counts {
                let found = along_nominal(loaded, &points(*count)?)?;
                let linear = perturbed(loaded, &found, interpolation.options(COMPLETE), &samples)?;
                let worst = largest_apart(&tip(&linear, "deviation")?, &exact);
                for ((_, _, list), worst) in errors.iter_mut().zip(worst) {
                    list.push(worst);
                }
            }
            let across = counts.iter().map(|&count| count as f64);
            Some(curves(across.collect(), errors.into()))
        }
        Study::Operations(_) | Study::Times => None,
    }
}

impl Between {
    fn options(self, terms: Terms) -> PerturbOptions {
        PerturbOptions {
            terms,
            interpolation: match self {
                Self::Matrices => Interpolation::Matrices,
                Self::StateSpace => Interpolation::StateSpace,
            },
            order: OutputOrder::Second,
        }
    }
}

/// Frequencies `frequency.1` and on; where the square is negative, nothing is left that vibrates, and zero is drawn.
fn of_frequencies(trajectory: &LinearizedTrajectory, terms: Terms) -> Option<Curves> {
    let points = trajectory.points();
    let found: Option<Vec<Vec<f64>>> = (0..points.len())
        .map(|point| squares(trajectory, point, terms))
        .collect();
    let found = found?;
    let count = found.first()?.len();
    let of_mode = |mode: usize| {
        let values = found.iter().map(|squares| squares[mode].max(0.0).sqrt());
        (format!("frequency.{}", mode + 1), "rad/s", values.collect())
    };
    let across = points.iter().map(|point| point.time).collect();
    Some(curves(across, (0..count).map(of_mode).collect()))
}

fn of_costs(costs: &[costs::Cost], unit: &'static str) -> Curves {
    let of = |part: fn(&costs::Cost) -> f64| costs.iter().map(part).collect();
    let channels = vec![
        ("composite".to_owned(), unit, of(|cost| cost.composite)),
        ("articulated".to_owned(), unit, of(|cost| cost.articulated)),
        (
            "ratio".to_owned(),
            "",
            of(|cost| cost.composite / cost.articulated),
        ),
    ];
    curves(of(|cost| cost.modes as f64), channels)
}
