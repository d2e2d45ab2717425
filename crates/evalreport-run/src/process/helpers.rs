//! The processes for which this program starts itself: only a process with a single thread can create or enter namespaces.

use std::ffi::OsString;

/// Runs such a process, and returns its exit code. Returns `None` for every other process.
///
/// Call it before anything else: a process with a second thread can neither create nor enter a namespace.
pub fn serve_helpers(arguments: &[OsString]) -> Option<u8> {
    match arguments {
        [_, only] => serve(only.to_str()?),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
fn serve(argument: &str) -> Option<u8> {
    match argument {
        super::network::HOLD_ARGUMENT => Some(super::network::hold_network()),
        super::entrance::PORTER_ARGUMENT => Some(super::entrance::serve_orders()),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn serve(_argument: &str) -> Option<u8> {
    None
}
