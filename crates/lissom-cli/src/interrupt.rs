//! Ctrl-C, and the signals by which the system asks the command to end.
//!
//! ```text
//! signal ─┬─ nothing is to be kept ─────► the command ends at once
//!         ├─ work is watched ───────────► it stops at its next step, and what it has is written;
//!         │                               a step that takes longer than PATIENCE is not waited for,
//!         │                               nor is one of several threads
//!         ├─ results are being written ─► the writing goes on
//!         └─ the answer is being told ──► whoever reads it is not waited for longer than PATIENCE
//! ```
//!
//! Whatever is cut off in the midst leaves files whole: they are written beside and put in their places at the end. A SIGHUP that the
//! command was started to ignore, as `nohup` does, stays ignored.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::output;
use crate::stop::INTERRUPTED;

/// How long a watched step is waited for, and whoever reads the last words.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often it is looked whether somebody has heard.
const GLANCE: Duration = Duration::from_millis(10);
/// Signals that come so close together are one: a terminal that is closed asks its processes twice.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// There is nothing to be kept.
const IDLE: u8 = 0;
/// The work at hand asks [`is_asked`] after every step.
const WATCHED: u8 = 1;
/// Results are being written.
const KEEPING: u8 = 2;
/// Everything is written, and what remains is to be read from a pipe by somebody who may not do so.
const TELLING: u8 = 3;

static STAGE: AtomicU8 = AtomicU8::new(IDLE);
static ASKED: AtomicBool = AtomicBool::new(false);
static HEARD: AtomicBool = AtomicBool::new(false);
/// Where what was computed so far is kept, for the case that the command ends at once.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// Has the command end as this module says. Without a handler a signal ends it at once, which is the second best.
pub(crate) fn install() {
    #[cfg(target_os = "linux")]
    hangup::block_if_ignored();
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || match first {
        Some(first) if first.elapsed() < ONE_SIGNAL => {}
        Some(_) => end(),
        None => {
            first = Some(Instant::now());
            ASKED.store(true, Ordering::SeqCst);
            // elsewhere, so that a second signal is heard meanwhile
            if thread::Builder::new().spawn(wait_for_the_work).is_err() {
                end();
            }
        }
    });
}

/// Waits for the end of the command, as long as the work at hand has heard; ends it if nobody hears.
fn wait_for_the_work() {
    let mut since = Instant::now();
    loop {
        let waits = since.elapsed() < PATIENCE;
        match STAGE.load(Ordering::SeqCst) {
            KEEPING => since = Instant::now(),
            WATCHED if HEARD.load(Ordering::SeqCst) => since = Instant::now(),
            WATCHED | TELLING if waits => {}
            _ => end(),
        }
        thread::sleep(GLANCE);
    }
}

/// Ends the command here and now.
#[expect(
    clippy::exit,
    reason = "the work at hand does not hear, and no other thread can end it"
)]
fn end() -> ! {
    lissom_io::atomic::remove_temporaries();
    // whoever should read the words may have stopped reading, and would be waited for without end
    let told = thread::Builder::new().spawn(tell_the_end);
    let since = Instant::now();
    while told.as_ref().is_ok_and(|told| !told.is_finished()) && since.elapsed() < PATIENCE {
        thread::sleep(GLANCE);
    }
    std::process::exit(i32::from(INTERRUPTED))
}

fn tell_the_end() {
    if output::is_watched() {
        // a bar may stand there
        output::say_unfinished("\r\x1b[K");
    }
    let kept = KEPT.lock().ok().and_then(|mut kept| kept.take());
    output::say(&match kept {
        Some(kept) => format!("interrupted; {kept}"),
        None => "interrupted".to_owned(),
    });
}

/// Whether somebody has asked the command to end. Whoever asks this stops then, and sees to what is to be kept.
pub(crate) fn is_asked() -> bool {
    let asked = ASKED.load(Ordering::SeqCst);
    if asked {
        HEARD.store(true, Ordering::SeqCst);
    }
    asked
}

/// The same for the one of several threads that asks for all. The others may be in the midst of something that does not ask, so that only
/// the results that are written in the end show that all of them have heard.
pub(crate) fn is_asked_on_threads() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// From here on the work has something to be kept, and asks [`is_asked`] or [`is_asked_on_threads`].
pub(crate) fn watch() {
    STAGE.store(WATCHED, Ordering::SeqCst);
}

/// Says where what was computed so far is kept.
pub(crate) fn note_kept(words: String) {
    if let Ok(mut kept) = KEPT.lock() {
        *kept = Some(words);
    }
}

/// All results are written, and the answer is told.
pub(crate) fn begin_telling() {
    STAGE.store(TELLING, Ordering::SeqCst);
}

/// As long as it lives results are written, and no first signal ends that.
#[derive(Debug)]
pub(crate) struct Keeping {
    before: u8,
}

impl Keeping {
    pub(crate) fn begin() -> Self {
        Self {
            before: STAGE.swap(KEEPING, Ordering::SeqCst),
        }
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        STAGE.store(self.before, Ordering::SeqCst);
    }
}

/// SIGHUP, where whoever started the command has it ignore that: the handler would hear it all the same. Shells have what they start
/// in the background ignore SIGINT, which is no wish to outlive anything.
#[cfg(target_os = "linux")]
mod hangup {
    use nix::sys::signal::{SigSet, Signal};

    /// Blocks it in this thread and in those that it starts, so that it reaches nobody.
    pub(super) fn block_if_ignored() {
        // where the system does not tell, it is not ignored
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        if is_ignored(&status) {
            let mut set = SigSet::empty();
            set.add(Signal::SIGHUP);
            let _ = set.thread_block();
        }
    }

    /// Whether a process ignores it, by what the system tells of it: signal n is bit n - 1 of a mask.
    fn is_ignored(status: &str) -> bool {
        let told = (status.lines()).find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = told.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 1 != 0)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// By hand: SIGHUP and SIGPIPE, as `nohup` and Rust have them; SIGINT and SIGPIPE; nothing told.
        #[test]
        fn masks_are_read() {
            let status = "Name:\tlissom\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n";
            assert!(is_ignored(status));
            assert!(!is_ignored("SigIgn:\t0000000000001002\n"));
            assert!(!is_ignored("Name:\tlissom\n"));
        }
    }
}
