//! What no command may write over, whatever path, link or spelling leads there: stores, configurations and suites.
//!
//! A store is known by being one of the command's own, or by what lies in it.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::domain::visible;

use super::header;

/// As many links as systems follow.
const MOST_LINKS: u32 = 40;
/// Names of files that people write for us.
const CONFIGURATIONS: [&str; 3] = ["evalreport.yaml", "evalreport.yml", "evalreport.json"];
const SUITE: &str = "suite.yaml";
/// What only stores hold.
const MARKS: [&str; 3] = ["retractions.jsonl", "batches", "imports"];

/// What a command works with, and must not write over.
#[derive(Clone, Debug, Default)]
pub struct Guarded {
    pub stores: Vec<PathBuf>,
    /// Whatever its name.
    pub configuration: Option<PathBuf>,
}

impl Guarded {
    /// Says why nothing may be written at a path, in words that follow it; none where it may.
    pub fn refusal(&self, path: &Path) -> Option<String> {
        let place = meant(path);
        let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if self.configuration.as_deref().is_some_and(|own| meant(own) == place) || CONFIGURATIONS.contains(&name) {
            return Some("is a configuration".to_owned());
        }
        if let Some(store) = self.stores.iter().find(|store| place.starts_with(meant(store))) {
            let shown = visible(&store.display().to_string());
            return Some(if place == meant(store) { "is a store".to_owned() } else { format!("lies in the store {shown}") });
        }
        if is_result(&place) {
            return Some("is a result".to_owned());
        }
        for folder in place.ancestors().skip(1) {
            let shown = || visible(&folder.display().to_string());
            if folder.join(SUITE).is_file() {
                return Some(format!("lies in the suite {}", shown()));
            }
            // A run's own folder stands beside its header.
            if is_store(folder) || folder.file_name().is_some() && is_result(&folder.with_added_extension("json")) {
                return Some(format!("lies in the store {}", shown()));
            }
        }
        // The folder itself, for commands that write one.
        if name == SUITE || place.join(SUITE).is_file() {
            return Some("is a suite".to_owned());
        }
        is_store(&place).then(|| "is a store".to_owned())
    }
}

fn is_result(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json") && path.is_file() && header::read_header(path).is_ok()
}

/// Says whether a folder holds what only stores hold. One mark is not enough: other people have folders of these names.
fn is_store(folder: &Path) -> bool {
    let marks = MARKS.iter().filter(|mark| folder.join(mark).exists()).count();
    let holds_plans = || {
        let plans = fs::read_dir(folder.join("batches")).into_iter().flatten().flatten();
        plans.take(1).any(|plan| super::Batch::load(&plan.path()).is_ok())
    };
    let holds_imports = || {
        let files = fs::read_dir(folder.join("imports")).into_iter().flatten().flatten();
        files.take(8).any(|file| file.file_name().to_string_lossy().ends_with(".runs.jsonl"))
    };
    marks > 0 && (folder.join(".runner.lock").exists() || folder.join(MARKS[0]).exists() || holds_plans() || holds_imports())
}

/// Follows a path to the place that it means, as far as that is there: links, also dangling ones, and steps upwards.
fn meant(path: &Path) -> PathBuf {
    let mut place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MOST_LINKS {
        place = canonical(&place);
        match fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_symlink() => match fs::read_link(&place) {
                Ok(target) => place = place.parent().unwrap_or(Path::new("/")).join(target),
                Err(_) => break,
            },
            _ => break,
        }
    }
    place
}

/// The canonical form of as much of a path as is there, and the rest of it.
fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(known) => {
                let mut place = known;
                for part in path.strip_prefix(ancestor).unwrap_or(Path::new("")).components() {
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
        let store = Store::at(of("kept"));
        store.save(&Run::new(RunId::parse("r1").expect("an id"), "s", "a", "m")).expect("room");
        fs::create_dir_all(of("kept/r1")).expect("room");
        fs::create_dir_all(of("suites/one/tests")).expect("room");
        fs::create_dir_all(of("out")).expect("room");
        fs::write(of("suites/one/suite.yaml"), "").expect("room");
        fs::write(of("evalreport.yaml"), "").expect("room");
        fs::write(of("mine.yaml"), "").expect("room");
        symlink(of("kept"), of("out/link")).expect("room");
        symlink(of("kept/new.json"), of("out/dangling.json")).expect("room");
        symlink("../mine.yaml", of("out/configuration")).expect("room");
        let guarded = Guarded { stores: vec![of("kept")], configuration: Some(of("mine.yaml")) };
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
            assert!(guarded.refusal(&of(path)).is_some(), "{path}");
        }
        for path in ["out", "out/x.json", "out/new/x.csv", "kept2/x.json", "suites/two/x"] {
            assert_eq!(guarded.refusal(&of(path)), None, "{path}");
        }
        // Of others too, by what lies there.
        let others = Guarded::default();
        for path in ["kept/r1.json", "kept/r1/items.jsonl", "out/link/r1.json", "suites/one/x"] {
            assert!(others.refusal(&of(path)).is_some(), "{path}");
        }
        fs::write(of("kept/retractions.jsonl"), "").expect("room");
        assert!(others.refusal(&of("kept/x.json")).is_some() && others.refusal(&of("kept")).is_some());
    }
}
