//! The time of day that a program sees, set to another day.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::programs::Start as _;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tools/clock.c");
const DAY: Duration = Duration::from_hours(24);

/// A clock that is behind the real one.
pub struct Clock {
    library: PathBuf,
    /// Before now, in seconds.
    behind: u64,
}

impl Clock {
    /// The real time of day, so many days ago.
    pub fn days_ago(days: u32) -> Self {
        Self {
            library: library(),
            behind: (DAY * days).as_secs(),
        }
    }

    /// The environment of a program that is to see it.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("CLOCK_SHIFT", format!("-{}", self.behind)),
        ]
    }

    /// The day, as in `2026-01-31`.
    pub fn day(&self) -> String {
        let time = SystemTime::now() - Duration::from_secs(self.behind);
        chrono::DateTime::<chrono::Utc>::from(time)
            .format("%Y-%m-%d")
            .to_string()
    }
}

/// Compiles the library once for all tests: whoever builds Rust has a linker that is a C compiler.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder).expect("the build's folder");
    let (library, done) = (folder.join("clock.so"), folder.join("clock.so.done"));
    let lock =
        File::create(folder.join("clock.so.lock")).expect("the build's folder can be written");
    lock.lock().expect("one at a time");
    let source = fs::read_to_string(SOURCE).expect("in the repository");
    if fs::read_to_string(&done).is_ok_and(|of| of == source) {
        return library;
    }
    let output = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(SOURCE)
        .arg("-ldl")
        .finish();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::write(done, source).expect("the build's folder can be written");
    library
}
