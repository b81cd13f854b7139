//! Lissom beside other programs, on the same problems and in one run: largest error over all samples against CPU time of the
//! integration alone, each program over a grid of its settings, so that each is at its best.
//!
//! | problem | beside | compared |
//! |---|---|---|
//! | falling chain of 5 and 20 hinged links | `MuJoCo` (rigid segments), Exudyn (ANCF cables) | position of the tip |
//! | beam spun up about its root | Exudyn | lag of the tip |
//! | planar 3-RRR, base joints prescribed | Exudyn | position of the platform |
//! | forward dynamics of rigid chains | Pinocchio, called from Python | time of a call |
//! | manoeuvres of the Shuttle arm | real time: the others have no such bodies | angles of the joints |

mod environment;
mod front;
mod picture;
mod problems;
mod rigid;
mod shuttle_arm;

use environment::Environment;
use front::{Measured, cheapest};
use problems::{Problem, problems};

/// Measures everything, or the problems whose names begin with one of `wanted`; prints tables and writes `target/peers/peers.svg`.
///
/// # Errors
/// What keeps the other programs from being installed or run.
pub(crate) fn compare(wanted: &[String]) -> Result<(), String> {
    let environment = Environment::make()?;
    let asked =
        |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w.as_str()));
    let problems = problems();
    let mut shown = Vec::new();
    for problem in problems.iter().filter(|problem| asked(problem.name)) {
        let measured = measure(problem, &environment)?;
        tell(problem, &measured);
        shown.push((problem, measured));
    }
    if !shown.is_empty() {
        let path = environment.folder().join("peers.svg");
        picture::write(&shown, &path)?;
        println!("\nPicture: {}", path.display());
    }
    if asked("rigid-chain") {
        rigid::beside_pinocchio(&environment)?;
    }
    if asked("shuttle-arm") {
        shuttle_arm::beside_real_time();
    }
    Ok(())
}

/// All programs on a problem, their errors against the converged run.
fn measure(problem: &Problem, environment: &Environment) -> Result<Vec<Measured>, String> {
    let exact = problem.converged();
    if let Some(distance) = problem.distance_from_published(&exact) {
        println!(
            "\n{}: the converged run is within {distance:.1e} m of the published values",
            problem.name
        );
    }
    let mut measured = problem.ours(&exact);
    for (script, arguments) in problem.scripts {
        for line in environment.run(script, arguments)? {
            measured.push(line.against(&exact));
        }
    }
    Ok(measured)
}

/// Prints every setting, and the ratios at equal error.
fn tell(problem: &Problem, measured: &[Measured]) {
    println!("\n{} ({})", problem.title, problem.name);
    println!("| program | setting | CPU ms | largest error m |\n|---|---|---|---|");
    for m in measured {
        let error = match (&m.failed, m.error) {
            (Some(reason), _) => format!("failed: {reason}"),
            // a number that says nothing but that the run diverged
            (None, error) if error >= 1.0 => "diverged".to_owned(),
            (None, error) => format!("{error:.1e}"),
        };
        println!(
            "| {} | {} | {:.1} | {error} |",
            m.program,
            m.setting,
            m.cpu_s * 1e3
        );
    }
    for &goal in problem.goals {
        for own in problem.own() {
            tell_ratios(problem, measured, own, goal);
        }
    }
}

/// Prints the cheapest setting of Lissom within an error, beside the cheapest of the others.
fn tell_ratios(problem: &Problem, measured: &[Measured], own: &str, goal: f64) {
    let Some(ours) = cheapest(measured, own, goal) else {
        println!("Within {goal:.0e} m: no setting of {own}.");
        return;
    };
    println!(
        "Within {goal:.0e} m: {own} {:.1} ms ({}).",
        ours.cpu_s * 1e3,
        ours.setting
    );
    for peer in problem.peers() {
        match cheapest(measured, peer, goal) {
            Some(theirs) => println!(
                "  {peer} {:.1} ms ({}): ratio {:.3}",
                theirs.cpu_s * 1e3,
                theirs.setting,
                ours.cpu_s / theirs.cpu_s
            ),
            None => println!("  {peer}: no setting of the grid"),
        }
    }
}
