//! Everything that can be known about a folder without running anything in it.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of bytes that are read from a manifest. Nobody maintains a longer one by hand.
pub const MAX_MANIFEST_BYTES: usize = 256 << 10;

/// The files of a tree, and the text of the manifests that say how the tree is built and tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Paths relative to the root, separated by `/`.
    pub files: BTreeSet<String>,
    /// Text of each file for which [`is_manifest`] returns true, cut to [`MAX_MANIFEST_BYTES`].
    pub contents: BTreeMap<String, String>,
}

/// Says whether detection needs the text of the file at `path`.
pub fn is_manifest(path: &str) -> bool {
    STACK_MANIFESTS.contains(&file_name_of(path))
        || MAKEFILES.contains(&file_name_of(path))
        || is_requirements(path)
}

/// Says whether a folder of this name holds installed or generated files. A listing of files can skip it.
pub fn is_foreign_folder(name: &str) -> bool {
    FOREIGN_FOLDERS.contains(&name)
}

/// Manifests that make their folder a part of its own. Requirements files are recognised by the form of their name.
pub(super) const STACK_MANIFESTS: [&str; 17] = [
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
    "Package.swift",
    "composer.json",
    "Gemfile",
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

/// Says whether a path is `requirements.txt` or similar: `requirements-dev.txt`, `dev-requirements.txt`, `requirements/test.txt`.
pub(super) fn is_requirements(path: &str) -> bool {
    let Some(stem) = file_name_of(path).strip_suffix(".txt") else {
        return false;
    };
    stem.split(['-', '_', '.'])
        .any(|word| word == "requirements")
        || file_name_of(parent_of(path)) == "requirements"
}

/// Returns the last component of a path.
pub(super) fn file_name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the path without its last component. Empty at the root.
pub(super) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the part of `path` below `folder`; `None` if `path` is not below it.
pub(super) fn path_below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    if folder.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(folder)?.strip_prefix('/')
    }
}

/// Joins a folder and a path relative to it.
pub(super) fn join_path(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_known_by_their_whole_name() {
        for path in [
            "package.json",
            "web/package.json",
            "requirements-dev.txt",
            "dev-requirements.txt",
            "requirements/test.txt",
            "go.mod",
        ] {
            assert!(is_manifest(path), "{path}");
        }
        for path in [
            "package.json.bak",
            "my-package.json",
            "requirementsx.txt",
            "notes.txt",
            "cargo.toml",
        ] {
            assert!(!is_manifest(path), "{path}");
        }
    }

    #[test]
    fn below_stops_at_whole_folders() {
        assert_eq!(path_below("web", "web/a.js"), Some("a.js"));
        assert_eq!(path_below("web", "website/a.js"), None);
        assert_eq!(path_below("", "a.js"), Some("a.js"));
    }
}
