//! The command as its users meet it: verbs, exit codes, words, files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bars;
mod bodies;
mod checkpoints;
mod compare;
mod compare_random;
mod control;
mod converge;
mod cost;
mod docs;
mod errors;
mod every_verb;
mod files;
mod fit;
mod frames;
mod golden;
mod interrupted;
mod killed;
mod kills;
mod linear;
mod loops;
mod map;
mod modes;
mod motions;
mod outputs;
mod parallel;
mod plot;
mod report;
mod response;
mod runs;
mod sections;
mod shapes;
mod shipped;
mod states;
mod sweep;
mod urdf;
mod verbs;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder of one test's own.
struct Folder {
    path: PathBuf,
}

/// What a call of the command left behind.
struct Answer {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Folder {
    fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("cli-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path.join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn read_json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lissom"));
        command
            .args(arguments)
            .current_dir(&self.path)
            .stdin(Stdio::null());
        command
    }

    /// Starts the command; what it says is kept for whoever waits for its end.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Calls the command; a panic fails the test whatever it asks for.
    fn lissom(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.spawn(arguments), arguments)
    }

    /// Calls the command, which must succeed, and reads its JSON.
    fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.lissom(arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {}", answer.stderr);
        serde_json::from_str(&answer.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

impl Answer {
    fn of(child: Child, arguments: &[&str]) -> Self {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        Self {
            code: output.status.code().expect("no signal ended it"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr,
        }
    }

    /// Asserts the exit code, and that all of these are in the answer or, where there is none, in the error.
    #[track_caller]
    fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.stderr);
        let said = if code == 0 {
            &self.stdout
        } else {
            &self.stderr
        };
        for word in words {
            assert!(said.contains(word), "no {word:?} in: {said}");
        }
    }
}

/// Sends a signal to a command.
#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    until_it_listens(child);
    let mut kill = Command::new("kill");
    let sent = kill.args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Waits until a command hears signals: whoever starts the tests in the background may have had SIGINT ignored, and one that comes before would be
/// lost.
#[cfg(unix)]
fn until_it_listens(child: &Child) {
    const PATIENCE: Duration = Duration::from_secs(10);
    /// Bit of SIGINT in the masks that Linux tells.
    const INTERRUPT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    let until = Instant::now() + PATIENCE;
    // other systems do not tell
    while let Ok(told) = std::fs::read_to_string(&status) {
        let mask = (told.lines()).find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        if mask.is_some_and(|mask| mask & INTERRUPT != 0) || Instant::now() > until {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}
