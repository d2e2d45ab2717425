//! What is known of a folder without running anything in it.

use std::collections::{BTreeMap, BTreeSet};

/// How much of a manifest is read; what is longer is no manifest that a person keeps.
pub const MOST_MANIFEST_BYTES: usize = 256 << 10;

/// The files of a tree, with the text of those that say how it is built and tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// `/`-separated paths below the root.
    pub files: BTreeSet<String>,
    /// The text of every file for which [`is_manifest`] holds, cut to [`MOST_MANIFEST_BYTES`].
    pub contents: BTreeMap<String, String>,
}

/// Says whether detection wants to read the file at `path`.
pub fn is_manifest(path: &str) -> bool {
    STACK_MANIFESTS.contains(&name_of(path)) || MAKEFILES.contains(&name_of(path)) || is_requirements(path)
}

/// Says whether what is in a folder of that name was installed or made by a program: whoever lists files need not enter it.
pub fn is_foreign_folder(name: &str) -> bool {
    FOREIGN_FOLDERS.contains(&name)
}

/// The folder of one of these is a part of its own; requirements are found by their form.
pub(super) const STACK_MANIFESTS: [&str; 14] = [
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "pytest.ini",
    "Pipfile",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];

const FOREIGN_FOLDERS: [&str; 20] = [
    ".git",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".venv",
    ".yarn",
    "__pycache__",
    "bower_components",
    "dist",
    "node_modules",
    "site-packages",
    "target",
    "third_party",
    "vendor",
    "venv",
];

/// `requirements.txt` and its kind: `requirements-dev.txt`, `dev-requirements.txt`, `requirements/test.txt`.
pub(super) fn is_requirements(path: &str) -> bool {
    let Some(stem) = name_of(path).strip_suffix(".txt") else { return false };
    stem.split(['-', '_', '.']).any(|word| word == "requirements") || name_of(folder_of(path)) == "requirements"
}

/// The last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a path has before its last part; empty at the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The part of `path` that is below `folder`, if it is.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// Joins a folder and a path below it.
pub(super) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_known_by_their_whole_name() {
        for path in ["package.json", "web/package.json", "requirements-dev.txt", "dev-requirements.txt", "requirements/test.txt", "go.mod"]
        {
            assert!(is_manifest(path), "{path}");
        }
        for path in ["package.json.bak", "my-package.json", "requirementsx.txt", "notes.txt", "cargo.toml"] {
            assert!(!is_manifest(path), "{path}");
        }
    }

    #[test]
    fn below_stops_at_whole_folders() {
        assert_eq!(below("web", "web/a.js"), Some("a.js"));
        assert_eq!(below("web", "website/a.js"), None);
        assert_eq!(below("", "a.js"), Some("a.js"));
    }
}
