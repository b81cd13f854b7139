//! Forward dynamics of rigid chains beside Pinocchio's, which is called from Python: the call is a part of its time.

use std::collections::BTreeMap;
use std::hint::black_box;

use super::environment::Environment;
use lissom_bench::chain::{Bench, chain};
use lissom_bench::stopwatch::seconds_per_call;

/// Prints the time of a call for chains of 7, 20 and 100 joints.
pub(super) fn beside_pinocchio(environment: &Environment) -> Result<(), String> {
    let theirs = pinocchio(environment)?;
    println!("\nForward dynamics of rigid chains, one state (rigid-chain)");
    println!("| joints | Lissom µs | Pinocchio µs | ratio |\n|---|---|---|---|");
    for (joints, theirs) in theirs {
        let model = chain(joints, 0, true);
        let mut bench = Bench::<f64>::new(&model);
        let ours = seconds_per_call(|| {
            bench.articulated();
            black_box(&bench.acceleration);
        });
        println!(
            "| {joints} | {:.2} | {:.2} | {:.2} |",
            ours * 1e6,
            theirs * 1e6,
            ours / theirs
        );
    }
    Ok(())
}

/// Seconds per call by the number of joints.
fn pinocchio(environment: &Environment) -> Result<BTreeMap<usize, f64>, String> {
    let lines = environment.run("pinocchio_chain.py", &[])?;
    let pairs = lines.into_iter().map(|line| {
        let joints = (line.setting.parse()).map_err(|e| format!("{}: {e}", line.setting))?;
        Ok((joints, line.cpu_s))
    });
    pairs.collect()
}
