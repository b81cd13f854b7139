//! `cargo run --release -p lissom-bench`: times per call, ratios, and exponents from counted operations. Names
//! of sections select some of them: `-- rigid shuttle`; `-- day` and `-- peers` take many minutes and are only run by their names.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod peers;
mod runs;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use lissom_bench::batches::{STATES, cost, mechanisms};
use lissom_bench::chain::{Bench, GROWING, chain};
use lissom_bench::counted::{Counted, count};
use lissom_bench::day;
use lissom_bench::linear::perturbation_beside_nonlinear;
use lissom_bench::loops::{ClosedChain, parallel_manipulator};
use lissom_bench::meshes::table;
use lissom_bench::nodal;
use lissom_bench::sliding::{Accuracy, newmark};
use lissom_bench::stopwatch::{exponent, seconds_per_call};
use lissom_bench::sweeps;
use lissom_engine::RowQuantity;
use lissom_engine::simulate::{Equations, Linearizer};
use lissom_io::validation::costs::Counting;
use lissom_numerics::integrate::{FirstOrder, Flow};
use lissom_spatial::Lanes;

/// What can be measured, by the name that selects it on the command line.
const SECTIONS: [(&str, fn()); 16] = [
    ("rigid", rigid_chains),
    ("flexible", flexible_chains),
    ("many-modes", many_modes),
    ("growth", growth),
    ("elements", growth_of_elements),
    ("lanes", lanes),
    ("batches", batches),
    ("shuttle", runs::shuttle_arm),
    ("stiff", runs::stiff_mechanisms),
    ("operational-space", operational_space),
    ("parallel", parallel_manipulators),
    ("newmark", newmark_with_stabilisation),
    ("linearization", linearization),
    ("perturbation", perturbation),
    ("meshes", meshes),
    ("sweeps", many_runs),
];

/// What takes many minutes, and is only run by its name.
const LONG_SECTIONS: [(&str, fn()); 1] = [("day", a_day)];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("peers", problems)) = wanted
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        return match peers::compare(problems) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                println!("{reason}");
                ExitCode::FAILURE
            }
        };
    }
    for (name, section) in SECTIONS {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            section();
        }
    }
    for (name, section) in LONG_SECTIONS {
        if wanted.iter().any(|w| w == name) {
            section();
        }
    }
    ExitCode::SUCCESS
}

fn a_day() {
    const HOUR_S: f64 = 3600.0;
    println!("\nA day of simulated time: largest imbalances until then, as parts of the peaks");
    println!(
        "{:<18} {:>6} {:>10} {:>10} {:>10}",
        "", "hours", "energy", "momentum", "angular"
    );
    for (name, model) in day::MODELS {
        let start = Instant::now();
        let run = day::run(model);
        let seconds = start.elapsed().as_secs_f64();
        for audited in day::audited(&run, &[1.0, 6.0, 24.0].map(|hours| hours * HOUR_S)) {
            let momentum = audited.momentum.map_or(String::new(), |[linear, angular]| {
                format!("{linear:>10.1e} {angular:>10.1e}")
            });
            let hours = audited.time_s / HOUR_S;
            println!("{name:<18} {hours:>6} {:>10.1e} {momentum}", audited.energy);
        }
        let statistics = &run.statistics;
        let closures = (run.audit.closures.as_ref()).map_or(String::new(), |closures| {
            format!(
                "; loops open by at most {:.1e} m or rad, their rates by {:.1e} m/s or rad/s",
                closures.max_position_violation, closures.max_velocity_violation
            )
        });
        println!(
            "  {} steps, {} evaluations, {seconds:.0} s{closures}; {:?}",
            statistics.steps, statistics.evaluations, run.ending
        );
    }
}

fn many_runs() {
    let [one, two] = sweeps::seconds();
    println!(
        "\nA sweep of {} short runs: {one:.2} s on one thread, {two:.2} s on two, {:.2} times as fast",
        sweeps::RUNS,
        one / two
    );
}

fn meshes() {
    println!("{}", table());
}

fn linearization() {
    println!(
        "\nLinearisation with outputs and parts of the stiffness, in evaluations of the equations"
    );
    println!(
        "{:>7} {:>6} {:>14} {:>18} {:>18}",
        "bodies", "dofs", "evaluation µs", "linearisation µs", "evaluations per dof"
    );
    for (bodies, modes) in [(7, 0), (3, 4), (10, 4)] {
        let model = chain(bodies, modes, true);
        let mut equations = Equations::new(&model);
        let state = equations.initial_state();
        let mut rate = vec![0.0; state.len()];
        let evaluation = seconds_per_call(|| {
            equations.derivative(0.0, &state, &mut rate);
            black_box(&rate);
        });
        let mut linearizer = Linearizer::new(&model);
        let Ok(start) = linearizer.initial_state(0.0) else {
            continue;
        };
        let states = [start];
        let whole = seconds_per_call(|| {
            black_box(
                linearizer
                    .trajectory(&states, &mut |_| Flow::Continue)
                    .is_ok(),
            );
        });
        let dofs = equations.state_velocities();
        println!(
            "{bodies:>7} {dofs:>6} {:>14.2} {:>18.1} {:>18.2}",
            evaluation * 1e6,
            whole * 1e6,
            whole / evaluation / dofs as f64
        );
    }
    println!(
        "Every coordinate takes two passes of inverse dynamics over dual numbers, by its position and by its velocity, from its\n\
         body outward, four coordinates at a time: more than one evaluation each, however little else is done."
    );
}

fn perturbation() {
    println!(
        "\nPerturbation run of a controlled beam beside the cheapest nonlinear run that is not further off"
    );
    println!(
        "{:>7} {:>12} {:>14} {:>14} {:>8}",
        "points", "error mm", "perturbed ms", "nonlinear ms", "ratio"
    );
    for points in [26, 51, 101] {
        let (perturbed, nonlinear) = perturbation_beside_nonlinear(points);
        if let Some(nonlinear) = nonlinear {
            println!(
                "{points:>7} {:>12.3} {:>14.2} {:>14.2} {:>8.2}",
                perturbed.error_m * 1e3,
                perturbed.seconds * 1e3,
                nonlinear.seconds * 1e3,
                perturbed.seconds / nonlinear.seconds
            );
        }
    }
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the methods by name are not general enough in their lifetime"
)]
fn rigid_chains() {
    println!("\nRigid chains, articulated-body call, with what its three parts take");
    println!(
        "{:>7} {:>10} {:>14} {:>12} {:>10} {:>14}",
        "bodies", "µs", "ns per body", "kinematics", "factor", "accelerations"
    );
    for bodies in [6, 7, 20, 100] {
        let model = chain(bodies, 0, true);
        let mut bench = Bench::<f64>::new(&model);
        let mut time = |part: fn(&mut Bench<'_, f64>)| {
            seconds_per_call(|| {
                part(&mut bench);
                black_box(&bench.acceleration);
            })
        };
        let whole = time(|bench| bench.articulated());
        let parts = [
            time(|bench| bench.kinematics()),
            time(|bench| bench.factor()),
            time(|bench| bench.forward()),
        ];
        let [kinematics, factor, forward] =
            parts.map(|part| 100.0 * part / parts.iter().sum::<f64>());
        println!(
            "{bodies:>7} {:>10.3} {:>14.1} {kinematics:>11.0}% {factor:>9.0}% {forward:>13.0}%",
            whole * 1e6,
            whole * 1e9 / bodies as f64,
        );
    }
}

fn flexible_chains() {
    println!("\nTen bodies with modes, accelerations by articulated and by composite bodies");
    println!(
        "{:>6} {:>14} {:>16} {:>12} {:>8} {:>12} {:>8}",
        "modes",
        "articulated µs",
        "with shortening",
        "composite µs",
        "ratio",
        "ratio of ops",
        "paper"
    );
    for paper in Counting::Paper.counts() {
        let modes = paper.modes;
        let linear = chain(10, modes, false);
        let shortened = chain(10, modes, true);
        let mut bench = Bench::<f64>::new(&linear);
        let articulated = seconds_per_call(|| {
            bench.articulated();
            black_box(&bench.acceleration);
        });
        let composite = seconds_per_call(|| {
            bench.composite();
            black_box(&bench.acceleration);
        });
        let mut bench = Bench::<f64>::new(&shortened);
        let with_shortening = seconds_per_call(|| {
            bench.articulated();
            black_box(&bench.acceleration);
        });
        let mut counted = Bench::<Counted>::new(&linear);
        let ratio_of_operations =
            count(|| counted.composite()) as f64 / count(|| counted.articulated()) as f64;
        println!(
            "{modes:>6} {:>14.2} {:>16.2} {:>12.2} {:>8.2} {:>12.2} {:>8.2}",
            articulated * 1e6,
            with_shortening * 1e6,
            composite * 1e6,
            composite / articulated,
            ratio_of_operations,
            paper.composite / paper.articulated,
        );
    }
}

fn many_modes() {
    println!("\nThree bodies with many modes: indirect inverse (B3) against factoring");
    println!(
        "{:>6} {:>14} {:>14} {:>8}",
        "modes", "factoring µs", "indirect µs", "ratio"
    );
    for modes in [8, 12, 16, 20, 24, 30, 40] {
        let model = chain(3, modes, false);
        let time = |from: usize| {
            let mut bench = Bench::<f64>::new(&model).with_indirect_from(from);
            seconds_per_call(|| {
                bench.articulated();
                black_box(&bench.acceleration);
            })
        };
        let (factoring, indirect) = (time(usize::MAX), time(1));
        println!(
            "{modes:>6} {:>14.2} {:>14.2} {:>8.2}",
            factoring * 1e6,
            indirect * 1e6,
            factoring / indirect
        );
    }
}

fn growth() {
    println!("\nGrowth of one articulated-body call");
    println!(
        "{:>6} {:>14} {:>18} {:>18}",
        "modes", "bodies", "counted exponent", "timed exponent"
    );
    for modes in [0, 4] {
        for lengths in GROWING {
            let counts = lengths.map(|bodies| {
                let model = chain(bodies, modes, true);
                let mut counted = Bench::<Counted>::new(&model);
                (bodies as f64, count(|| counted.articulated()) as f64)
            });
            let times = lengths.map(|bodies| {
                let model = chain(bodies, modes, true);
                let mut bench = Bench::<f64>::new(&model);
                let seconds = seconds_per_call(|| {
                    bench.articulated();
                    black_box(&bench.acceleration);
                });
                (bodies as f64, seconds)
            });
            println!(
                "{modes:>6} {:>14} {:>18.4} {:>18.4}",
                format!("{} to {}", lengths[0], lengths[3]),
                exponent(&counts),
                exponent(&times)
            );
        }
    }
}

fn growth_of_elements() {
    println!(
        "\nFinite elements in a chain: microseconds and multiplications of factorisations per element"
    );
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>12}",
        "elements", "evaluation", "correction", "multiplied", "multiplied"
    );
    let mut measured = [(); 4].map(|()| Vec::new());
    for elements in [8, 32, 125, 500, 2000] {
        let mechanism = nodal::chain(elements).expect("a chain of beams");
        let mut bench = nodal::Bench::new(&mechanism).expect("a chain that is not singular");
        let evaluation = seconds_per_call(|| {
            bench.evaluate().expect("accelerations");
            black_box(&bench.acceleration);
        });
        let correction = seconds_per_call(|| {
            black_box(bench.correct());
        });
        let count = elements as f64;
        let operations = bench.operations().map(|operations| operations as f64);
        let found = [evaluation, correction, operations[0], operations[1]];
        for (points, found) in measured.iter_mut().zip(found) {
            points.push((count, found));
        }
        println!(
            "{elements:>8} {:>12.2} {:>12.2} {:>12.0} {:>12.0}",
            evaluation / count * 1e6,
            correction / count * 1e6,
            operations[0] / count,
            operations[1] / count,
        );
    }
    let [evaluation, correction, factored, tangent] = measured.map(|points| exponent(&points));
    println!(
        "{:>8} {evaluation:>12.3} {correction:>12.3} {factored:>12.3} {tangent:>12.3}",
        "exponent"
    );
}

fn newmark_with_stabilisation() {
    const STEPS: [f64; 5] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4];
    println!(
        "\nA beam pushed over supports by Newmark's method with stabilised multipliers, as a Markdown table\n"
    );
    println!(
        "| push | nodes | step [s] | largest error [mm] | order | largest violation [m] | order | evaluations |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (push, duration) in [("0.7 s", 0.7), ("3.5 s", 3.5)] {
        for nodes in ["stepped_over", "located"] {
            let found = newmark(duration, &STEPS, nodes);
            for (i, (step, accuracy)) in STEPS.iter().zip(&found).enumerate() {
                let order = |of: fn(&Accuracy) -> f64| {
                    if i == 0 {
                        return String::new();
                    }
                    let fall = of(&found[i - 1]) / of(accuracy);
                    format!("{:.1}", fall.ln() / (STEPS[i - 1] / step).ln())
                };
                println!(
                    "| {push} | {} | {step:e} | {:.2e} | {} | {:.1e} | {} | {} |",
                    nodes.replace('_', " "),
                    accuracy.error_mm,
                    order(|a| a.error_mm),
                    accuracy.violation_m,
                    order(|a| a.violation_m),
                    accuracy.evaluations
                );
            }
        }
    }
}

fn lanes() {
    println!("\nFour runs side by side against four single calls");
    for (bodies, modes) in [(7, 0), (10, 5)] {
        let model = chain(bodies, modes, true);
        let mut single = Bench::<f64>::new(&model);
        let one = seconds_per_call(|| {
            single.articulated();
            black_box(&single.acceleration);
        });
        let mut batch = Bench::<Lanes<4>>::new(&model);
        let four = seconds_per_call(|| {
            batch.articulated();
            black_box(&batch.acceleration);
        });
        println!(
            "{bodies} bodies × {modes} modes: {:.2} µs for four, {:.2} of four single calls",
            four * 1e6,
            four / (4.0 * one)
        );
    }
}

fn batches() {
    println!("\n{STATES} states in one call: times the throughput of single calls, on one core");
    println!(
        "{:<16} {:>12} {:>10} {:>10} {:>12}",
        "", "single µs", "forward", "inverse", "mass matrix"
    );
    for (name, spec) in mechanisms() {
        let forward = cost(&spec, RowQuantity::ForwardDynamics);
        println!(
            "{name:<16} {:>12.2} {:>10.2} {:>10.2} {:>12.2}",
            forward.single_us,
            forward.gain(),
            cost(&spec, RowQuantity::InverseDynamics).gain(),
            cost(&spec, RowQuantity::MassMatrix).gain()
        );
    }
}

fn operational_space() {
    println!("\nGrowth of the operational-space inertia of a closed chain from 10 to 200 bodies");
    println!(
        "{:>6} {:>18} {:>18} {:>16}",
        "modes", "counted exponent", "timed exponent", "200 bodies µs"
    );
    for modes in [0, 4] {
        let (mut counts, mut times) = (Vec::new(), Vec::new());
        for bodies in [10, 20, 50, 100, 200] {
            let model = chain(bodies, modes, true);
            let mut counted = ClosedChain::<Counted>::new(&model);
            counts.push((bodies as f64, count(|| counted.operational_space()) as f64));
            let mut closed = ClosedChain::<f64>::new(&model);
            times.push((
                bodies as f64,
                seconds_per_call(|| {
                    closed.operational_space();
                    black_box(&closed.matrix);
                }),
            ));
        }
        println!(
            "{modes:>6} {:>18.4} {:>18.4} {:>16.1}",
            exponent(&counts),
            exponent(&times),
            times[4].1 * 1e6
        );
    }
}

fn parallel_manipulators() {
    println!("\nPlanar parallel manipulator: one derivative in joint space and in Cartesian space");
    println!(
        "{:>6} {:>12} {:>14} {:>8} {:>16}",
        "modes", "joint µs", "Cartesian µs", "ratio", "Fattah's ratio"
    );
    for modes in [1, 2, 4] {
        let [joint, cartesian] = parallel_manipulator(modes).map(|model| {
            let mut equations = Equations::new(&model);
            let state = equations.initial_state();
            let mut rate = vec![0.0; state.len()];
            seconds_per_call(|| {
                equations.derivative(0.0, &state, &mut rate);
                black_box(&rate);
            })
        });
        println!(
            "{modes:>6} {:>12.1} {:>14.1} {:>8.2} {:>16.2}",
            joint * 1e6,
            cartesian * 1e6,
            cartesian / joint,
            0.75
        );
    }
}
