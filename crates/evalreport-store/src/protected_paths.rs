//! Files that no command may overwrite by any path, link or spelling: stores, configurations and suites.
//!
//! A store is recognised as one of the command's own, or by its content.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::domain::{CONFIGURATION_NAMES, escape_invisible};

use super::header;
use super::links::{LinkStep, MAX_LINKS, read_step};

/// A configuration that is not found automatically, but is recognised by its name.
const OTHER_CONFIGURATION: &str = "evalreport.json";
const SUITE_FILE: &str = "suite.yaml";
/// Files that only stores have.
const STORE_MARKERS: [&str; 3] = [".runner.lock", "retractions.jsonl", "acceptances.jsonl"];

/// Files that a command uses and must not overwrite.
#[derive(Clone, Debug, Default)]
pub struct WriteProtectedPaths {
    pub stores: Vec<PathBuf>,
    /// The configuration in use, whatever its name.
    pub configuration: Option<PathBuf>,
}

impl WriteProtectedPaths {
    /// Returns why nothing may be written at a path, as words to follow the path, or `None` if it may be written.
    pub fn refusal_reason(&self, path: &Path) -> Option<String> {
        let place = resolve_path(path);
        let name = place
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_named = CONFIGURATION_NAMES.contains(&name) || name == OTHER_CONFIGURATION;
        if is_named
            || self
                .configuration
                .as_deref()
                .is_some_and(|own| resolve_path(own) == place)
        {
            return Some("is a configuration".to_owned());
        }
        for store in &self.stores {
            let root = resolve_path(store);
            if place == root {
                return Some("is a store".to_owned());
            }
            if place.starts_with(root) {
                return Some(format!(
                    "lies in the store {}",
                    escape_invisible(&store.display().to_string())
                ));
            }
        }
        if is_result_file(&place) {
            return Some("is a result".to_owned());
        }
        for folder in place.ancestors().skip(1) {
            let shown = || escape_invisible(&folder.display().to_string());
            if folder.join(SUITE_FILE).is_file() {
                return Some(format!("lies in the suite {}", shown()));
            }
            // A run's own folder is beside its header.
            if is_store(folder)
                || folder.file_name().is_some()
                    && is_result_file(&folder.with_added_extension("json"))
            {
                return Some(format!("lies in the store {}", shown()));
            }
        }
        // The folder itself, for commands that write a folder.
        if name == SUITE_FILE || place.join(SUITE_FILE).is_file() {
            return Some("is a suite".to_owned());
        }
        is_store(&place).then(|| "is a store".to_owned())
    }
}

fn is_result_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
        && path.is_file()
        && header::read_header(path).is_ok()
}

/// Returns whether a folder has files that only stores have. Other folders may have the same names, so the content is checked.
fn is_store(folder: &Path) -> bool {
    let holds = |below: &str, is_ours: &dyn Fn(&Path) -> bool| {
        let entries = fs::read_dir(folder.join(below))
            .into_iter()
            .flatten()
            .flatten();
        entries.take(8).any(|entry| is_ours(&entry.path()))
    };
    // A lake has acceptances, too, and is added to.
    let is_lake = || folder.join("runs/_delta_log").is_dir();
    (STORE_MARKERS.iter().any(|mark| folder.join(mark).exists()) && !is_lake())
        || holds("batches", &|plan| super::Batch::load(plan).is_ok())
        || holds("imports", &|file| {
            file.to_string_lossy().ends_with(".runs.jsonl")
        })
}

/// Resolves a path as far as it exists: links, also dangling ones, and parent steps.
fn resolve_path(path: &Path) -> PathBuf {
    let mut place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MAX_LINKS {
        place = canonicalize_existing(&place);
        match read_step(&place) {
            Ok(LinkStep::Link(target)) => place = target,
            Ok(LinkStep::Nothing | LinkStep::End(_)) | Err(_) => break,
        }
    }
    place
}

/// Returns the canonical form of the existing part of a path, followed by the rest.
fn canonicalize_existing(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(known) => {
                let mut place = known;
                for part in path
                    .strip_prefix(ancestor)
                    .unwrap_or(Path::new(""))
                    .components()
                {
                    match part {
                        Component::ParentDir => drop(place.pop()),
                        Component::CurDir => {}
                        other => place.push(other),
                    }
                }
                return place;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => break,
        }
    }
    path.to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use crate::domain::{Run, RunId};

    use super::super::Store;
    use super::*;

    #[test]
    fn every_way_to_what_is_guarded_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |path: &str| folder.path().join(path);
        let store = Store::new(of("kept"));
        store
            .save_run(&Run::new(RunId::parse("r1").expect("an id"), "s", "a", "m"))
            .expect("room");
        fs::create_dir_all(of("kept/r1")).expect("room");
        fs::create_dir_all(of("suites/one/tests")).expect("room");
        fs::create_dir_all(of("out")).expect("room");
        fs::write(of("suites/one/suite.yaml"), "").expect("room");
        fs::write(of("evalreport.yaml"), "").expect("room");
        fs::write(of("mine.yaml"), "").expect("room");
        symlink(of("kept"), of("out/link")).expect("room");
        symlink(of("kept/new.json"), of("out/dangling.json")).expect("room");
        symlink("../mine.yaml", of("out/configuration")).expect("room");
        let guarded = WriteProtectedPaths {
            stores: vec![of("kept")],
            configuration: Some(of("mine.yaml")),
        };
        for path in [
            "kept",
            "kept/new.json",
            "kept/r1/items.jsonl",
            "out/../kept/x",
            "new/../kept/x",
            "out/link/x.json",
            "out/dangling.json",
            "out/configuration",
            "mine.yaml",
            "evalreport.yaml",
            "out/evalreport.yaml",
            "suites/one",
            "suites/one/suite.yaml",
            "suites/one/tests/test_a.py",
        ] {
            assert!(guarded.refusal_reason(&of(path)).is_some(), "{path}");
        }
        for path in [
            "out",
            "out/x.json",
            "out/new/x.csv",
            "kept2/x.json",
            "suites/two/x",
        ] {
            assert_eq!(guarded.refusal_reason(&of(path)), None, "{path}");
        }
        // Other stores are recognised by their content.
        let others = WriteProtectedPaths::default();
        for path in [
            "kept/r1.json",
            "kept/r1/items.jsonl",
            "out/link/r1.json",
            "suites/one/x",
        ] {
            assert!(others.refusal_reason(&of(path)).is_some(), "{path}");
        }
        fs::write(of("kept/retractions.jsonl"), "").expect("room");
        assert!(
            others.refusal_reason(&of("kept/x.json")).is_some()
                && others.refusal_reason(&of("kept")).is_some()
        );
    }
}
