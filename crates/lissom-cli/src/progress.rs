//! How far a run, or a row of runs, has come: a bar on a terminal, a line now and then in a log.

use std::time::{Duration, Instant};

use crate::output;

/// Shortest time between two changes of the bar.
const BAR_PERIOD: Duration = Duration::from_millis(100);
/// Time between two lines of a log.
const LINE_PERIOD: Duration = Duration::from_secs(5);
/// Characters of the bar.
const WIDTH: usize = 30;

/// Who is told, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Bar,
    Lines,
    Silent,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Seconds,
    Things(&'static str),
}

/// Progress of one run, or of many things that are done one after the other.
#[derive(Debug)]
pub(crate) struct Progress {
    manner: Manner,
    counted: Counted,
    start_s: f64,
    duration_s: f64,
    began: Instant,
    told: Instant,
    bar_drawn: bool,
}

impl Progress {
    /// Progress of a run that begins now.
    pub(crate) fn new(start_s: f64, duration_s: f64, silent: bool) -> Self {
        Self::of(Counted::Seconds, start_s, duration_s, silent)
    }

    /// Progress of `count` things of which `before` are done.
    pub(crate) fn counting(what: &'static str, before: usize, count: usize, silent: bool) -> Self {
        let left = count.saturating_sub(before);
        Self::of(Counted::Things(what), before as f64, left as f64, silent)
    }

    fn of(counted: Counted, start_s: f64, duration_s: f64, silent: bool) -> Self {
        let manner = match (silent, output::is_watched()) {
            (true, _) => Manner::Silent,
            (false, true) => Manner::Bar,
            (false, false) => Manner::Lines,
        };
        let began = Instant::now();
        Self {
            manner,
            counted,
            start_s,
            duration_s,
            began,
            told: began,
            bar_drawn: false,
        }
    }

    /// Says that the run has reached `time_s`, or so many things are done, if it is time to say so.
    pub(crate) fn reached(&mut self, time_s: f64) {
        let period = match self.manner {
            Manner::Silent => return,
            Manner::Bar => BAR_PERIOD,
            Manner::Lines => LINE_PERIOD,
        };
        let now = Instant::now();
        if now - self.told < period {
            return;
        }
        self.told = now;
        let part = ((time_s - self.start_s) / self.duration_s).clamp(0.0, 1.0);
        let left_s = (now - self.began).as_secs_f64() * (1.0 / part - 1.0);
        let end_s = self.start_s + self.duration_s;
        let reached = match self.counted {
            Counted::Seconds => format!(
                "t = {} of {} s",
                output::short(time_s),
                output::short(end_s)
            ),
            Counted::Things(what) => format!("{time_s:.0} of {end_s:.0} {what}"),
        };
        let words = format!("{:3.0} %  {reached}  {} left", 100.0 * part, clock(left_s));
        if self.manner == Manner::Bar {
            let full = (0..WIDTH)
                .filter(|&at| (at as f64) < part * WIDTH as f64)
                .count();
            let bar = "#".repeat(full) + &"-".repeat(WIDTH - full);
            output::say_unfinished(&format!("\r[{bar}] {words}\x1b[K"));
            self.bar_drawn = true;
        } else {
            output::say(&words);
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        if self.bar_drawn {
            output::say_unfinished("\r\x1b[K");
        }
    }
}

/// Seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    const LONG: f64 = 360_000.0;
    if !(0.0..LONG).contains(&seconds) {
        return "long".to_owned();
    }
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0}:{:02.0}", (seconds - 60.0 * minutes).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand.
    #[test]
    fn remaining_time_reads_like_a_clock() {
        assert_eq!(clock(0.4), "0:00");
        assert_eq!(clock(59.99), "0:59");
        assert_eq!(clock(61.0), "1:01");
        assert_eq!(clock(f64::INFINITY), "long");
        assert_eq!(clock(f64::NAN), "long");
    }
}
