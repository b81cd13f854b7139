//! The command `lissom`: arguments in, words and files out. What it does lives in `lissom` and
//! `lissom-io`.
//!
//! ```text
//! arguments ──► verb ──► answer on stdout, progress and warnings on stderr, files
//!                 │
//!                 └─ Stop: why it ended early, with the exit code
//! ```

mod arguments;
mod diagnostics;
mod interrupt;
mod output;
mod plot;
mod progress;
mod source;
mod stop;
mod verbs;

use std::ffi::OsString;

use clap::Parser;

use arguments::{Arguments, Verb};
use lissom_io::body_summary::NamedBody;

/// The page that `lissom body --page` writes.
pub fn body_page(found: &NamedBody) -> String {
    verbs::body::page(found)
}

/// Runs the command with arguments, the first of which is its own name, and returns its exit code. Ctrl-C is the command's
/// from then on: this is for programs that are nothing else.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let typed: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) => {
            let is_harmless =
                |typed: &OsString| !typed.to_string_lossy().contains(output::is_obeyed);
            if typed.iter().all(is_harmless) {
                // a closed pipe is no reason to complain
                let _ = error.print();
            } else {
                // it repeats what was typed, or what a pattern of file names stands for
                output::say(error.render().to_string().trim_end());
            }
            return u8::from(error.use_stderr()) * stop::USAGE;
        }
    };
    interrupt::install();
    let result = match &arguments.verb {
        Verb::New(arguments) => verbs::new::run(arguments),
        Verb::Check(arguments) => verbs::check::run(arguments),
        Verb::Body(arguments) => verbs::body::run(arguments),
        Verb::Run(arguments) => verbs::run::run(arguments),
        Verb::Compare(arguments) => verbs::compare::run(arguments),
        Verb::Converge(arguments) => verbs::converge::run(arguments),
        Verb::Sweep(arguments) => verbs::sweep::run(arguments),
        Verb::Fit(arguments) => verbs::fit::run(arguments),
        Verb::Map(arguments) => verbs::map::run(arguments),
        Verb::Report(arguments) => verbs::report::run(arguments),
        Verb::Equilibrium(arguments) => verbs::equilibrium::run(arguments),
        Verb::Eval(arguments) => verbs::eval::run(arguments),
        Verb::Modes(arguments) => verbs::modes::run(arguments),
        Verb::Linearize(arguments) => verbs::linearize::run(arguments),
        Verb::Response(arguments) => verbs::response::run(arguments),
        Verb::Perturb(arguments) => verbs::perturb::run(arguments),
        Verb::Inverse(arguments) => verbs::inverse::run(arguments),
        Verb::Validate(arguments) => verbs::validate::run(arguments),
        Verb::Schema => verbs::schema::run(),
    };
    match result {
        // results that were being written are whole, and whoever called is told all the same
        Ok(()) if interrupt::is_asked() => stop::INTERRUPTED,
        Ok(()) => 0,
        Err(stop) => {
            match &stop {
                stop::Stop::Diagnosed(text) => output::say_styled(text),
                stop => output::say(&stop.to_string()),
            }
            stop.code()
        }
    }
}
