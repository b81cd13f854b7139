//! Whole runs of stiff mechanisms, and where the time of one goes.

use std::hint::black_box;
use std::time::Instant;

use lissom_bench::chain::Bench;
use lissom_bench::shuttle_arm::{Derivative, build, fastest_vibration, manoeuvre, whole_run};
use lissom_bench::stiff::{Setting, beside, falling_chain};
use lissom_bench::stopwatch::seconds_per_call;
use lissom_engine::model::Model;
use lissom_spec::ModelSpec;

/// What integrators spend for their error where parts are much faster than the motion.
pub(crate) fn stiff_mechanisms() {
    let settings: Vec<Setting> = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5]
        .map(Setting::esdirk)
        .into_iter()
        .chain([1e-4, 1e-6].map(Setting::dop853))
        .chain([Setting::radau(1e-4)])
        .collect();
    for (what, spec, ending) in [
        (
            "Shuttle arm, manoeuvre I-f, angles in rad",
            manoeuvre(),
            ".angle",
        ),
        (
            "falling chain of 5 links, tip in m",
            falling_chain(5),
            ".position.y",
        ),
        (
            "falling chain of 20 links, tip in m",
            falling_chain(20),
            ".position.y",
        ),
    ] {
        println!("\n{what}");
        println!("integrator  tolerance    steps  evaluations     error     time  times real time");
        let duration = spec.simulation.duration_s;
        for (setting, spent) in beside(&spec, Setting::dop853(1e-10), &settings, ending) {
            println!(
                "{:<10} {:>10.0e} {:>8} {:>12} {:>9.1e} {:>6.0} ms {:>16.1}",
                setting.name,
                setting.tolerance,
                spent.steps,
                spent.evaluations,
                spent.error,
                spent.seconds * 1e3,
                duration / spent.seconds,
            );
        }
    }
}

/// Where the stability region of DOP853 leaves the imaginary axis.
const DOP853_IMAGINARY: f64 = 5.95;

pub(crate) fn shuttle_arm() {
    const RUNS: usize = 5;
    println!("\nShuttle arm, 18 degrees of freedom, all terms, exact tips");
    let spec = manoeuvre();
    let model = build(&spec);
    let undriven = build(&ModelSpec {
        input: Vec::new(),
        ..spec.clone()
    });
    let time_of_derivative = |model: &Model| {
        let mut derivative = Derivative::new(model);
        seconds_per_call(|| {
            derivative.call();
            black_box(&derivative.rate);
        })
    };
    let mut bench = Bench::<f64>::new(&model);
    let recursion = seconds_per_call(|| {
        bench.articulated();
        black_box(&bench.acceleration);
    });
    let (whole, without) = (time_of_derivative(&model), time_of_derivative(&undriven));
    let row = |what: &str, seconds: f64| {
        println!(
            "{what:<52} {:>6.2} µs {:>5.0}%",
            seconds * 1e6,
            100.0 * seconds / whole
        );
    };
    row("derivative", whole);
    row("  kinematics, factorisation, accelerations", recursion);
    row("  feed-forward (rigid inverse dynamics)", whole - without);
    row("  the rest", without - recursion);

    let mut fastest = f64::INFINITY;
    let mut statistics = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let run = black_box(whole_run(&spec));
        fastest = fastest.min(start.elapsed().as_secs_f64());
        statistics = Some(run.statistics);
    }
    let Some(statistics) = statistics else { return };
    let duration = spec.simulation.duration_s;
    let (steps, evaluations) = (statistics.steps as f64, statistics.evaluations as f64);
    println!(
        "manoeuvre I-f, {duration} s in {fastest:.2} s: {:.1} times real time, {steps} steps ({} rejected), \
         {evaluations} evaluations, {:.0}% of the time in them",
        duration / fastest,
        statistics.rejected,
        100.0 * evaluations * whole / fastest,
    );
    let frequency = fastest_vibration(&model);
    println!(
        "fastest vibration {frequency:.0} rad/s: mean step {:.2} of its radians, {DOP853_IMAGINARY} at the limit of \
         stability",
        frequency * duration / steps,
    );
}
