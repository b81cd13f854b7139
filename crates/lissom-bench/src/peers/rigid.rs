//! Forward dynamics of rigid chains beside Pinocchio's, which is compiled here from its headers.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::Command;

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
    let program = environment.folder().join("pinocchio_chain");
    let prefix = environment.prefix()?;
    let include = |path: &str| format!("-I{}", prefix.join(path).display());
    let mut compiler = Command::new("c++");
    compiler
        .args([
            "-std=c++17",
            "-O3",
            "-march=native",
            "-DNDEBUG",
            "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION=0",
            // lists of joint types are longer than Boost's default
            "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
            "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
            // models come from the library, which was compiled for any processor
            "-DEIGEN_MAX_ALIGN_BYTES=16",
            "-DEIGEN_MAX_STATIC_ALIGN_BYTES=16",
        ])
        .args([include("include"), include("include/eigen3")])
        .arg(environment.script("pinocchio_chain.cpp"))
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", prefix.join("lib").display()))
        .arg("-lpinocchio_default")
        .arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    environment.output(&mut compiler)?;
    let text = environment.output(&mut Command::new(&program))?;
    let lines = text.lines().map(|line| {
        let (joints, seconds) = line.split_once(' ')?;
        Some((joints.parse().ok()?, seconds.parse().ok()?))
    });
    lines
        .collect::<Option<_>>()
        .ok_or_else(|| format!("not understood: {text}"))
}
