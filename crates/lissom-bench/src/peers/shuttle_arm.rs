//! Manoeuvres of the Shuttle arm beside real time. Bodies with modes, second-order fields and exact tips are not in the other programs.

use cpu_time::ProcessTime;
use lissom_core::study::{Run, sample_instants};
use lissom_engine::Mechanism;
use lissom_io::models::find;
use lissom_spec::ModelSpec;

use super::front::largest_difference;
use lissom_bench::stiff::Setting;

/// The manoeuvres as they are shipped.
const MANOEUVRES: [&str; 4] = [
    "shuttle-arm",
    "shuttle-arm-slow",
    "shuttle-arm-ii",
    "shuttle-arm-ii-slow",
];

/// Prints for every manoeuvre and setting the CPU time, how many times faster than real time that is, and the largest error of a joint's angle over all
/// samples.
pub(super) fn beside_real_time() {
    const RUNS: usize = 3;
    println!("\nManoeuvres of the Shuttle arm (shuttle-arm)");
    println!(
        "| manoeuvre | setting | evaluations | CPU ms | times real time | largest error rad |\n|---|---|---|---|---|---|"
    );
    let implicit = [1e-3, 3e-4, 1e-4, 3e-5, 2.5e-5, 2e-5, 1e-5].map(Setting::esdirk);
    let explicit = [1e-4, 1e-6].map(Setting::dop853);
    for name in MANOEUVRES {
        let text = find(name).expect("the manoeuvre is shipped").text;
        let spec = ModelSpec::parse(text, &[]).expect("shipped models can be read");
        let exact = angles(&spec, &run(&spec, Setting::dop853(1e-10)).1);
        for setting in implicit.into_iter().chain(explicit) {
            let runs = [(); RUNS].map(|()| run(&spec, setting));
            let cpu_s = runs
                .iter()
                .map(|(cpu_s, _)| *cpu_s)
                .fold(f64::INFINITY, f64::min);
            let last = &runs[RUNS - 1].1;
            let simulated_s = last.recording.time_s.last().copied().unwrap_or(0.0);
            println!(
                "| {name} | {} {:e} | {} | {:.0} | {:.0} | {:.1e} |",
                setting.name,
                setting.tolerance,
                last.statistics.evaluations,
                cpu_s * 1e3,
                simulated_s / cpu_s,
                largest_difference(&angles(&spec, last), &exact)
            );
        }
    }
}

/// CPU time of a run, and the run.
fn run(spec: &ModelSpec, setting: Setting) -> (f64, Run) {
    let spec = setting.applied(spec);
    let mechanism = Mechanism::build(&spec).expect("shipped models can be built");
    let instants = sample_instants(&spec, &[]);
    let start = ProcessTime::now();
    let run = mechanism.run(&instants);
    (start.elapsed().as_secs_f64(), run)
}

/// Angles of the joints, one row for each.
fn angles(spec: &ModelSpec, run: &Run) -> Vec<Vec<f64>> {
    let names = spec
        .joint
        .iter()
        .map(|joint| format!("{}.angle", joint.name));
    let channels = names.filter_map(|name| run.recording.channel(&name));
    channels.map(|channel| channel.samples.clone()).collect()
}
