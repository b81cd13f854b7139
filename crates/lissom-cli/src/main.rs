//! The command `lissom`, which is all in the library of this crate: the Python package has it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lissom_cli::main_with(std::env::args_os()))
}
