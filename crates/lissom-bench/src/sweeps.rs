//! Many short runs on one thread and on two.

use std::time::Instant;

use lissom_io::load::load_text;
use lissom_io::sweep::{Folder, Measure, Points, Sweep, TABLE, Variation};
use lissom_numerics::integrate::Flow;
use lissom_spec::{Override, TEMPLATE};

/// Runs of a sweep.
pub const RUNS: usize = 1000;
/// Times are the shortest of so many, in which other work has disturbed least.
const ROUNDS: usize = 3;

/// Seconds on the clock that [`RUNS`] runs of the two-link arm over 20 ms take on one thread and on two, files and all.
///
/// # Panics
/// If the sweep cannot be made, or its table depends on the number of threads.
pub fn seconds() -> [f64; 2] {
    let short = Override::parse("simulation.duration_s=0.02").expect("a value of the model");
    let base = load_text("arm", TEMPLATE, &[short]).expect("the template has no error");
    let text = base.whole_text().expect("numbers that TOML can hold");
    let measures = Measure::asked(&base.mechanism, &[]).expect("the usual measures");
    let vary = Variation::parse(&format!("payload.gripper.mass_kg=0.1:1:{RUNS}"));
    let points = Points::grid(&[vary.expect("a range")]).expect("a grid");
    let load = |changes: &[Override]| load_text("arm", &text, changes);
    let sweep = Sweep {
        load: &load,
        points: &points,
        measures: &measures,
    };
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let tables = [1, 2].map(|threads| {
            let (taken, table) = timed(&sweep, &text, threads);
            seconds[threads - 1] = seconds[threads - 1].min(taken);
            table
        });
        assert!(tables[0] == tables[1], "threads change the table");
    }
    seconds
}

fn timed(sweep: &Sweep<'_>, text: &str, threads: usize) -> (f64, Vec<u8>) {
    let folder = std::env::temp_dir().join(format!("lissom-bench-{}", std::process::id()));
    let opened = Folder::open(&folder, &sweep.identity(text), true).expect("a folder");
    let began = Instant::now();
    let table = sweep.run(opened, threads, &mut |_| Flow::Continue);
    let taken = began.elapsed().as_secs_f64();
    let table = table.expect("rows that can be written");
    assert!(table.rows.len() == RUNS && table.failures().next().is_none());
    let file = folder.join(TABLE);
    table.write(&file).expect("a table");
    let bytes = std::fs::read(&file).expect("the table");
    // what stays in the folder of temporary files disturbs nobody
    let _ = std::fs::remove_dir_all(&folder);
    (taken, bytes)
}
