//! `cargo run -p lissom-fuzz`: gives targets hostile input and says what it finds.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command prints what it finds"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use clap::{Parser, ValueEnum};
use lissom_fuzz::campaign::{self, File, Outcomes, Target};
use lissom_fuzz::files::Files;
use lissom_fuzz::model::Models;
use lissom_fuzz::recording::Recordings;

/// Different places that panic before a campaign ends.
const MOST_FINDINGS: usize = 20;

/// Seconds between two lines that tell how far a campaign is.
const PROGRESS_S: u64 = 30;

/// Of so many executions that follow each other so many are of each target.
const SHARES: [(Only, u64); 3] = [(Only::Model, 12), (Only::Recording, 5), (Only::Files, 3)];

#[derive(Debug, Parser)]
#[command(
    about = "Gives Lissom mutated models, files that models name, and recordings; nothing may panic or hang."
)]
struct Arguments {
    /// Executions.
    #[arg(long, default_value_t = 10_000)]
    executions: u64,
    /// What determines the inputs, together with the number of an execution.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first execution.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The only target; without it every execution has its own.
    #[arg(long)]
    target: Option<Only>,
    /// Folder for inputs that panic or take too long.
    #[arg(long, default_value = "target/fuzz-findings")]
    findings: PathBuf,
    /// Write the input of every execution, before it is tried.
    #[arg(long)]
    write_inputs: bool,
    /// Longest that an execution may take, in seconds of the processor.
    #[arg(long, default_value_t = 60)]
    limit_s: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Only {
    Model,
    Recording,
    Files,
}

impl Only {
    /// The target of an execution.
    fn of(execution: u64) -> Self {
        let all = SHARES.iter().map(|(_, share)| share).sum::<u64>();
        let mut place = execution % all;
        for (target, share) in SHARES {
            match place.checked_sub(share) {
                Some(rest) => place = rest,
                None => return target,
            }
        }
        Self::Model
    }

    fn make(self, scratch: &Path) -> io::Result<Box<dyn Target>> {
        Ok(match self {
            Self::Model => Box::new(Models::of_shipped()),
            Self::Recording => Box::new(Recordings::new(&scratch.with_extension("recordings"))?),
            Self::Files => Box::new(Files::new(&scratch.with_extension("files"))?),
        })
    }
}

/// The execution that is under way.
struct Current {
    target: &'static str,
    execution: u64,
    files: Arc<Vec<File>>,
    since: Duration,
}

type Shared = Arc<Mutex<Option<Current>>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let clock = Clock(Instant::now());
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
    watch_for_hangs(&shared, clock, arguments.limit_s, &arguments.findings);
    let scratch = std::env::temp_dir().join(format!("lissom-fuzz-{}", std::process::id()));
    let mut tallies = BTreeMap::new();
    for (only, _) in SHARES {
        if arguments.target.is_none_or(|asked| asked == only) {
            match only.make(&scratch) {
                Ok(target) => tallies.insert(only, Tally::of(target)),
                Err(error) => {
                    eprintln!("cannot write to {}: {error}", scratch.display());
                    return ExitCode::FAILURE;
                }
            };
        }
    }
    let found = campaign(&mut tallies, &arguments, clock, &shared, &place);
    if found == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Time of the processor, so that limits and rates are the same on a machine that does other things besides.
#[derive(Clone, Copy)]
struct Clock(Instant);

impl Clock {
    /// What the thread that makes the executions has had of the processor, or where the system does not tell, what has passed.
    fn now(self) -> Duration {
        let account = fs::read_to_string("/proc/self/schedstat").ok();
        let nanoseconds = account.and_then(|text| text.split(' ').next()?.parse().ok());
        nanoseconds.map_or_else(|| self.0.elapsed(), Duration::from_nanos)
    }
}

/// What became of the executions of a target.
struct Tally {
    target: Box<dyn Target>,
    done: u64,
    outcomes: Outcomes,
    spent: Duration,
    slowest: (Duration, u64),
}

impl Tally {
    fn of(target: Box<dyn Target>) -> Self {
        Self {
            target,
            done: 0,
            outcomes: Outcomes::new(),
            spent: Duration::ZERO,
            slowest: (Duration::ZERO, 0),
        }
    }

    fn told(&self) -> String {
        let Self {
            target,
            done,
            outcomes,
            spent,
            slowest,
        } = self;
        let seconds = spent.as_secs_f64();
        format!(
            "{}: {done} executions, {seconds:.0} s of the processor, {:.2} ms each, the slowest, {}, {:.0} ms; {outcomes:?}",
            target.name(),
            1e3 * seconds / (*done).max(1) as f64,
            slowest.1,
            slowest.0.as_secs_f64() * 1e3
        )
    }
}

/// Makes all executions and returns how many places panicked.
fn campaign(
    tallies: &mut BTreeMap<Only, Tally>,
    arguments: &Arguments,
    clock: Clock,
    shared: &Shared,
    place: &Mutex<String>,
) -> usize {
    let mut places = BTreeSet::new();
    let mut told = Instant::now();
    let end = arguments.first.saturating_add(arguments.executions);
    let mut since = clock.now();
    for execution in arguments.first..end {
        let only = arguments.target.unwrap_or(Only::of(execution));
        let Some(tally) = tallies.get_mut(&only) else {
            continue;
        };
        let name = tally.target.name();
        let mut watch = |files: &Arc<Vec<File>>| {
            if arguments.write_inputs {
                keep(&arguments.findings, name, execution, files);
            }
            *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(Current {
                target: name,
                execution,
                files: Arc::clone(files),
                since,
            });
        };
        let outcome = campaign::execute(&mut *tally.target, arguments.seed, execution, &mut watch);
        let reached = outcome.unwrap_or_else(|finding| {
            let at = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if places.insert(at.clone()) {
                println!("{name} {execution}: {at}: {}", finding.message);
                keep(&arguments.findings, name, execution, &finding.files);
            }
            "panicked"
        });
        *tally.outcomes.entry(reached).or_default() += 1;
        tally.done += 1;
        let now = clock.now();
        let spent = now.saturating_sub(since);
        since = now;
        tally.spent += spent;
        tally.slowest = tally.slowest.max((spent, execution));
        if told.elapsed() > Duration::from_secs(PROGRESS_S) {
            told = Instant::now();
            eprintln!("before {}:", execution + 1);
            for tally in tallies.values() {
                eprintln!("  {}", tally.told());
            }
        }
        if places.len() >= MOST_FINDINGS {
            break;
        }
    }
    *shared.lock().unwrap_or_else(PoisonError::into_inner) = None;
    for tally in tallies.values() {
        println!("{}", tally.told());
    }
    println!("{} findings", places.len());
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
fn watch_for_hangs(shared: &Shared, clock: Clock, limit_s: u64, findings: &Path) {
    let (shared, findings) = (Arc::clone(shared), findings.to_owned());
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let current = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(current) = &*current
                && clock.now().saturating_sub(current.since) > Duration::from_secs(limit_s)
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
