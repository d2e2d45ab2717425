//! Passes the arguments to the library and exits with its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    evalreport::cli::main(std::env::args_os())
}
