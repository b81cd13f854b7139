//! `[simulation]` and `[output]`.

use super::Checker;
use super::limits::{LARGEST, LARGEST_ATOL, SMALLEST_RTOL};
use crate::path::Path;
use crate::spec::{AdaptiveSpec, BodyKind, BodySpec, InitialSpec, IntegratorSpec};

/// Most samples of one run; more than this is a slip of the pen and would fill the memory.
const MOST_SAMPLES: f64 = 1e8;

/// Most steps of a method of fixed steps; more would not end.
const MOST_STEPS: f64 = 1e10;

/// Most durations that the start may lie away from zero; beyond, steps are lost in the rounding of time.
const LATEST_START: f64 = 1e9;

impl Checker<'_> {
    pub(super) fn simulation(&mut self) {
        let spec = self.spec;
        let path = Path::root().key("simulation");
        let duration_s = spec.simulation.duration_s;
        let start_s = spec.simulation.start_s;
        if duration_s > 0.0 {
            let latest_s = LATEST_START * duration_s;
            let expected = format!("at most {latest_s:e} either way, for a run of this duration");
            self.in_range(
                path.key("start_s"),
                start_s,
                start_s.abs() <= latest_s,
                &expected,
            );
        }
        if let InitialSpec::StaticLoad(case) = &spec.simulation.initial {
            let path = path.key("initial").key("static_load").key("force");
            let points = spec.node.iter().filter(|node| !node.turns());
            let points: Vec<&str> = points.map(|node| node.name.as_str()).collect();
            let markers: Vec<&str> = (spec.marker.iter())
                .map(|marker| marker.name.as_str())
                .collect();
            let (what, known) = if spec.is_of_nodes() {
                ("point", points)
            } else {
                ("marker", markers)
            };
            for (index, force) in case.force.iter().enumerate() {
                if !known.contains(&force.marker.as_str()) {
                    let path = path.index(index).key("marker");
                    self.unknown(path, what, &force.marker, known.iter().copied());
                }
            }
        }
        self.integrator(&path.key("integrator"), &spec.simulation.integrator);

        if spec.output.channels.as_ref().is_some_and(Vec::is_empty) {
            let path = Path::root().key("output").key("channels");
            self.no_effect(
                path,
                "it names no channel to keep; without it every channel is kept",
            );
        }
        let is_beam = |body: &BodySpec| matches!(body.kind(), Some(BodyKind::Beam(_)));
        if spec.output.load_sections.is_some() && !spec.body.iter().any(is_beam) {
            let path = Path::root().key("output").key("load_sections");
            self.no_effect(path, "no body is a `beam`, and only beams have sections");
        }
        let path = Path::root().key("output").key("sample_period_s");
        if let Some(period_s) = spec.output.sample_period_s
            && period_s > 0.0
            && duration_s > 0.0
        {
            // the number that is asked for is the one that is told
            let shortest_s = duration_s / MOST_SAMPLES;
            let expected = format!("at least {shortest_s:e}, for {MOST_SAMPLES:e} samples");
            self.in_range(path, period_s, period_s >= shortest_s, &expected);
        }
    }

    /// A step that is not too short for the duration.
    fn step(&mut self, path: Path, step_s: f64) {
        let shortest_s = self.spec.simulation.duration_s / MOST_STEPS;
        let expected = format!("at least {shortest_s:e}, for {MOST_STEPS:e} steps");
        let accepted = step_s <= 0.0 || step_s >= shortest_s;
        self.in_range(path, step_s, accepted, &expected);
    }

    fn integrator(&mut self, path: &Path, integrator: &IntegratorSpec) {
        match integrator {
            IntegratorSpec::Auto(settings) => self.adaptive(&path.key("auto"), settings),
            IntegratorSpec::Dop853(settings) => self.adaptive(&path.key("dop853"), settings),
            IntegratorSpec::Dopri5(settings) => self.adaptive(&path.key("dopri5"), settings),
            IntegratorSpec::Adams(settings) => self.adaptive(&path.key("adams"), settings),
            IntegratorSpec::Radau(settings) => self.adaptive(&path.key("radau"), settings),
            IntegratorSpec::Esdirk(settings) => self.adaptive(&path.key("esdirk"), settings),
            IntegratorSpec::GeneralizedAlpha(settings) => {
                let path = path.key("generalized_alpha").key("step_s");
                self.step(path, settings.step_s);
            }
            IntegratorSpec::Newmark(settings) => {
                let path = path.key("newmark");
                self.step(path.key("step_s"), settings.step_s);
                let accepted = (0.5..=1.0).contains(&settings.gamma);
                let expected = "a number from 1/2 to 1; less is unstable";
                self.in_range(path.key("gamma"), settings.gamma, accepted, expected);
            }
        }
    }

    fn adaptive(&mut self, path: &Path, settings: &AdaptiveSpec) {
        let accepted = settings.rtol >= SMALLEST_RTOL && settings.rtol < 1.0;
        let expected = format!("at least {SMALLEST_RTOL:e}, the rounding of numbers, and below 1");
        self.in_range(path.key("rtol"), settings.rtol, accepted, &expected);
        // beyond the largest number there is an error already
        let accepted = settings.atol <= LARGEST_ATOL || settings.atol > LARGEST;
        let expected =
            format!("at most {LARGEST_ATOL}, as errors of coordinates in metres and radians");
        self.in_range(path.key("atol"), settings.atol, accepted, &expected);
    }
}
