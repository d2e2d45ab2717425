//! What is known of a folder without running anything in it.

use std::collections::{BTreeMap, BTreeSet};

/// How much of a manifest is read; what is longer is no manifest that a person keeps.
pub const MOST_MANIFEST_BYTES: usize = 256 << 10;

/// The files of a tree, with the text of those that say how it is built and tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// `/`-separated paths below the root. Folders of dependencies, caches and build output are best left out.
    pub files: BTreeSet<String>,
    /// The text of every file for which [`is_manifest`] holds, cut to [`MOST_MANIFEST_BYTES`].
    pub contents: BTreeMap<String, String>,
}

/// Says whether detection wants to read the file at `path`.
pub fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MANIFESTS.contains(&name) || is_requirements(name)
}

const MANIFESTS: [&str; 20] = [
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "pytest.ini",
    "Pipfile",
    "Cargo.toml",
    "go.mod",
    "go.work",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "deno.json",
];

/// `requirements.txt` and its kind: `requirements-dev.txt`, `requirements_test.txt`, `dev-requirements.txt`.
pub(super) fn is_requirements(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".txt") else { return false };
    stem.split(['-', '_', '.']).any(|word| word == "requirements")
}
