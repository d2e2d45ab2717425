//! The Python of a suite's tests: a virtual environment that only the harness writes. The runs of a plan share it.
//!
//! It has pytest and the packages that the suite's `setup` installs by name. Setup itself runs code of the approach, so what it leaves in the
//! run's own environment serves the program alone.

use std::path::PathBuf;

use super::tampering::FileSnapshot;

/// The Python of a suite's tests.
#[derive(Clone, Debug)]
pub struct TestsPython {
    pub venv: PathBuf,
    /// Where this machine's pytest is, if it has one.
    pub runner: PathBuf,
    /// The state of both when they were made.
    pub census: FileSnapshot,
}

impl TestsPython {
    /// Returns whether pytest is installed in it, or lent to it.
    pub fn has_pytest(&self) -> bool {
        let libraries = std::fs::read_dir(self.venv.join("lib"))
            .into_iter()
            .flatten()
            .flatten();
        let mut packages = libraries.map(|entry| entry.path().join("site-packages/pytest"));
        self.runner.join("pytest").exists() || packages.any(|package| package.is_dir())
    }
}
