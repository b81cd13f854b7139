//! `[simulation]` and `[output]`.

use super::Checker;
use super::limits::{
    LARGEST, LARGEST_ATOL, LARGEST_NEWTON_TOLERANCE, MOST_ELEMENTS_PER_LINK, SHORTEST_S,
    SMALLEST_RTOL,
};
use crate::path::Path;
use crate::spec::{AdaptiveSpec, FormulationSpec, InitialSpec, IntegratorSpec};

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
        if let FormulationSpec::Nodal(nodal) = spec.formulation {
            let count = nodal.elements_per_link;
            let accepted = (1..=MOST_ELEMENTS_PER_LINK).contains(&count);
            let expected = format!("from 1 to {MOST_ELEMENTS_PER_LINK}");
            self.in_range(
                Path::root()
                    .key("formulation")
                    .key("nodal")
                    .key("elements_per_link"),
                count as f64,
                accepted,
                &expected,
            );
        }
        let duration_s = spec.simulation.duration_s;
        self.positive(path.key("duration_s"), duration_s);
        self.in_range(
            path.key("duration_s"),
            duration_s,
            duration_s >= SHORTEST_S || duration_s <= 0.0,
            &format!("at least {SHORTEST_S:e} s"),
        );
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
        let path = Path::root().key("output").key("sample_period_s");
        if let Some(period_s) = spec.output.sample_period_s {
            self.positive(path.clone(), period_s);
            if period_s > 0.0 && duration_s > 0.0 {
                // the number that is asked for is the one that is told
                let shortest_s = duration_s / MOST_SAMPLES;
                let expected = format!("at least {shortest_s:e}, for {MOST_SAMPLES:e} samples");
                self.in_range(path, period_s, period_s >= shortest_s, &expected);
            }
        }
    }

    /// A tolerance that means something.
    fn newton_tolerance(&mut self, path: Path, tolerance: f64) {
        self.positive(path.clone(), tolerance);
        let expected = format!("below {LARGEST_NEWTON_TOLERANCE}");
        let accepted = tolerance < LARGEST_NEWTON_TOLERANCE;
        self.in_range(path, tolerance, accepted, &expected);
    }

    /// A step that is not too short for the duration.
    fn step(&mut self, path: Path, step_s: f64) {
        let duration_s = self.spec.simulation.duration_s;
        if step_s > 0.0 {
            let shortest_s = duration_s / MOST_STEPS;
            let expected = format!("at least {shortest_s:e}, for {MOST_STEPS:e} steps");
            self.in_range(path, step_s, step_s >= shortest_s, &expected);
        } else {
            self.positive(path, step_s);
        }
    }

    fn integrator(&mut self, path: &Path, integrator: &IntegratorSpec) {
        match integrator {
            IntegratorSpec::Dop853(settings) => self.adaptive(&path.key("dop853"), settings),
            IntegratorSpec::Dopri5(settings) => self.adaptive(&path.key("dopri5"), settings),
            IntegratorSpec::Adams(settings) => self.adaptive(&path.key("adams"), settings),
            IntegratorSpec::Radau(settings) => self.adaptive(&path.key("radau"), settings),
            IntegratorSpec::Esdirk(settings) => self.adaptive(&path.key("esdirk"), settings),
            IntegratorSpec::GeneralizedAlpha(settings) => {
                let path = path.key("generalized_alpha");
                self.step(path.key("step_s"), settings.step_s);
                self.newton_tolerance(path.key("tolerance"), settings.tolerance);
                let radius = settings.spectral_radius;
                let accepted = (0.0..=1.0).contains(&radius);
                self.in_range(
                    path.key("spectral_radius"),
                    radius,
                    accepted,
                    "a number from 0 to 1",
                );
            }
            IntegratorSpec::Newmark(settings) => {
                let path = path.key("newmark");
                self.step(path.key("step_s"), settings.step_s);
                self.newton_tolerance(path.key("tolerance"), settings.tolerance);
                let (beta, gamma) = (settings.beta, settings.gamma);
                let accepted = beta > 0.0 && beta <= 0.5;
                self.in_range(
                    path.key("beta"),
                    beta,
                    accepted,
                    "a number above 0 and up to 1/2",
                );
                let accepted = (0.5..=1.0).contains(&gamma);
                self.in_range(
                    path.key("gamma"),
                    gamma,
                    accepted,
                    "a number from 1/2 to 1; less is unstable",
                );
            }
        }
    }

    fn adaptive(&mut self, path: &Path, settings: &AdaptiveSpec) {
        let accepted = settings.rtol >= SMALLEST_RTOL && settings.rtol < 1.0;
        let expected = format!("at least {SMALLEST_RTOL:e}, the rounding of numbers, and below 1");
        self.in_range(path.key("rtol"), settings.rtol, accepted, &expected);
        self.positive(path.key("atol"), settings.atol);
        // beyond the largest number there is an error already
        let accepted = settings.atol <= LARGEST_ATOL || settings.atol > LARGEST;
        let expected =
            format!("at most {LARGEST_ATOL}, as errors of coordinates in metres and radians");
        self.in_range(path.key("atol"), settings.atol, accepted, &expected);
        for (key, step) in [
            ("initial_step_s", settings.initial_step_s),
            ("max_step_s", settings.max_step_s),
        ] {
            if let Some(step) = step {
                self.positive(path.key(key), step);
            }
        }
        self.positive(path.key("max_steps"), settings.max_steps as f64);
    }
}
