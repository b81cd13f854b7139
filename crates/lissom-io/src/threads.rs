//! Work on several threads, which live as long as a call. Nothing is left behind that a forked process would miss.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How often whoever waits for the others is asked whether to stop.
const ASKED_EVERY: Duration = Duration::from_millis(50);

/// Bytes of stack of a thread: what the first one of a process usually has, which unoptimised recursions need.
const STACK: usize = 8 << 20;

/// Threads that can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does something with every item on several threads, the first items first. `is_stopped` is asked on this thread alone; once it says
/// so, no other item is begun, and what is done is told.
pub fn on_threads<I: Send>(
    items: Vec<I>,
    threads: usize,
    work: impl Sync + Fn(I, &mut dyn FnMut() -> bool),
    is_stopped: &mut dyn FnMut() -> bool,
) {
    let helpers = threads.min(items.len()).saturating_sub(1);
    let queue = Mutex::new(items.into_iter());
    let stop = AtomicBool::new(false);
    let work = |is_stopped: &mut dyn FnMut() -> bool| {
        while !is_stopped() {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = next else { break };
            work(item, is_stopped);
        }
    };
    std::thread::scope(|scope| {
        let (working, all_done) = channel::<()>();
        for _ in 0..helpers {
            let (working, work, stop) = (working.clone(), &work, &stop);
            let thread = Builder::new().stack_size(STACK);
            // where the system has no more threads, those that there are do the work
            let _ = thread.spawn_scoped(scope, move || {
                work(&mut || stop.load(Ordering::Relaxed));
                drop(working);
            });
        }
        drop(working);
        let mut asked = || {
            let stopped = is_stopped();
            stop.fetch_or(stopped, Ordering::Relaxed) || stopped
        };
        work(&mut asked);
        // until the others are done too
        while all_done.recv_timeout(ASKED_EVERY) == Err(RecvTimeoutError::Timeout) {
            asked();
        }
    });
}
