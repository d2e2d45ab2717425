//! Why a program could not be started.

use std::ffi::OsString;
use std::io;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("program `{}` not found", .program.display())]
    NotFound { program: OsString },
    #[error("`{}` is not a program that can be executed here", .program.display())]
    NotExecutable { program: OsString },
    #[error("program `{}` could not be started: {source}", .program.display())]
    Io {
        program: OsString,
        source: io::Error,
    },
}
