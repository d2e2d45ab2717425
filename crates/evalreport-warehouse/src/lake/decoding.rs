//! Decoding a lake's files. The decoder panics, on any of its threads, if parts of a file contradict each other: that is a problem of the file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use polars::prelude::*;

/// Decodings at this moment, on all threads.
static DECODINGS: AtomicUsize = AtomicUsize::new(0);

/// Returns whether files of a lake are being decoded. A panic is then reported as a problem of the file, and need not be printed.
pub fn is_decoding() -> bool {
    DECODINGS.load(Ordering::Relaxed) > 0
}

/// Counts a decoding until dropped.
struct Decoding;

impl Decoding {
    fn begin() -> Self {
        DECODINGS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Decoding {
    fn drop(&mut self) {
        DECODINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Decodes, and turns a panic of the decoder into an error.
pub(super) fn decode_file<T>(decode: impl FnOnce() -> PolarsResult<T>) -> PolarsResult<T> {
    let _decoding = Decoding::begin();
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| {
        Err(PolarsError::ComputeError(
            "its parts contradict each other".into(),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_file_makes_a_panic_an_error_and_ends_its_decoding() {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let found = decode_file(|| -> PolarsResult<()> { panic!("assertion failed") });
        std::panic::set_hook(usual);
        assert!(found.is_err_and(|error| error.to_string().contains("contradict")));
        assert_eq!(decode_file(|| Ok(1)).expect("nothing failed"), 1);
    }
}
