//! `cargo run -p lissom-fuzz`: gives targets hostile input and says what it finds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints what it finds"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use lissom_fuzz::campaign::{self, File, Outcomes, Target};
use lissom_fuzz::model::Models;
use lissom_fuzz::recording::Recordings;

/// Different places that panic before a campaign ends.
const MOST_FINDINGS: usize = 20;

/// Seconds between two lines that tell how far a campaign is.
const PROGRESS_S: u64 = 30;

#[derive(Debug, Parser)]
#[command(about = "Gives Lissom mutated models and recordings; nothing may panic or hang.")]
struct Arguments {
    /// Executions of each target.
    #[arg(long, default_value_t = 10_000)]
    executions: u64,
    /// What determines the inputs, together with the number of an execution.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first execution.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The only target.
    #[arg(long)]
    target: Option<Only>,
    /// Folder for inputs that panic or take too long.
    #[arg(long, default_value = "target/fuzz-findings")]
    findings: PathBuf,
    /// Write the input of every execution, before it is tried.
    #[arg(long)]
    write_inputs: bool,
    /// Longest that an execution may take, in seconds on the clock.
    #[arg(long, default_value_t = 60)]
    limit_s: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    Model,
    Recording,
}

/// The execution that is under way.
struct Current {
    target: &'static str,
    execution: u64,
    files: Vec<File>,
    since: Instant,
}

type Shared = Arc<Mutex<Option<Current>>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let shared = Shared::default();
    let place = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |panic| {
        let at = panic.location().map(ToString::to_string);
        let at = at.unwrap_or_default();
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        if *heard != at {
            eprintln!("{panic}");
            *heard = at;
        }
    }));
    watch_for_hangs(&shared, arguments.limit_s, &arguments.findings);
    let scratch = std::env::temp_dir().join(format!("lissom-fuzz-{}", std::process::id()));
    let mut targets: Vec<Box<dyn Target>> = Vec::new();
    if arguments.target != Some(Only::Recording) {
        targets.push(Box::new(Models::of_shipped()));
    }
    if arguments.target != Some(Only::Model) {
        match Recordings::new(&scratch) {
            Ok(recordings) => targets.push(Box::new(recordings)),
            Err(error) => {
                eprintln!("cannot make recordings in {}: {error}", scratch.display());
                return ExitCode::FAILURE;
            }
        }
    }
    let mut found = 0;
    for mut target in targets {
        found += campaign(&mut *target, &arguments, &shared, &place);
    }
    if found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs all executions of a target and returns how many places panicked.
fn campaign(
    target: &mut dyn Target,
    arguments: &Arguments,
    shared: &Shared,
    place: &Mutex<String>,
) -> usize {
    let name = target.name();
    let began = Instant::now();
    let (mut outcomes, mut places) = (Outcomes::new(), BTreeSet::new());
    let mut slowest = (Duration::ZERO, 0);
    let mut told = began;
    let end = arguments.first.saturating_add(arguments.executions);
    let mut done = 0_u64;
    for execution in arguments.first..end {
        let since = Instant::now();
        let mut watch = |execution: u64, files: &[File]| {
            if arguments.write_inputs {
                keep(&arguments.findings, name, execution, files);
            }
            *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(Current {
                target: name,
                execution,
                files: files.to_vec(),
                since,
            });
        };
        match campaign::execute(target, arguments.seed, execution, &mut watch) {
            Ok(reached) => *outcomes.entry(reached).or_default() += 1,
            Err(finding) => {
                *outcomes.entry("panicked").or_default() += 1;
                let at = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if places.insert(at.clone()) {
                    println!("{name} {execution}: {at}: {}", finding.message);
                    keep(&arguments.findings, name, execution, &finding.files);
                }
            }
        }
        done += 1;
        slowest = slowest.max((since.elapsed(), execution));
        if told.elapsed() > Duration::from_secs(PROGRESS_S) {
            told = Instant::now();
            let rate = done as f64 / began.elapsed().as_secs_f64();
            eprintln!("{name}: {done} executions, {rate:.0} per second, {outcomes:?}");
        }
        if places.len() >= MOST_FINDINGS {
            break;
        }
    }
    *shared.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{name}: {done} executions in {seconds:.0} s, {:.0} per second, {} findings; the slowest, {}, took {:.0} ms",
        done as f64 / seconds,
        places.len(),
        slowest.1,
        slowest.0.as_secs_f64() * 1e3
    );
    for (reached, times) in outcomes {
        println!("{times:>10}  {reached}");
    }
    places.len()
}

/// Writes an input that should be looked at.
fn keep(folder: &Path, target: &str, execution: u64, files: &[File]) {
    let folder = folder.join(target).join(execution.to_string());
    match campaign::write(files, &folder) {
        Ok(()) => println!("  written to {}", folder.display()),
        Err(error) => println!("  cannot be written to {}: {error}", folder.display()),
    }
}

/// Ends the process, with the input written, when an execution takes too long.
#[expect(
    clippy::exit,
    reason = "an execution that hangs cannot be ended otherwise"
)]
fn watch_for_hangs(shared: &Shared, limit_s: u64, findings: &Path) {
    let (shared, findings) = (Arc::clone(shared), findings.to_owned());
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let current = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(current) = &*current
                && current.since.elapsed() > Duration::from_secs(limit_s)
            {
                let Current {
                    target, execution, ..
                } = current;
                println!("{target} {execution}: takes longer than {limit_s} s");
                keep(&findings, target, *execution, &current.files);
                std::process::exit(1);
            }
        }
    });
}
