//! Glue: hands the arguments to the library and exits with its code.

use std::process::ExitCode;

/// A hundred thousand runs are millions of small texts, made on every core and given back at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    evalreport::cli::main(std::env::args_os())
}
