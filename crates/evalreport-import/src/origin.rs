//! Names of models that have none: each is called after the file or folder that its runs come from, so that different unknowns stay
//! different arms.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};

use super::reimport::location_digest;
use super::stored::StoredRuns;
use super::texts::clip_text;
use crate::results::Store;

const UNNAMED_MODEL: &str = "unknown";
const MAX_CHARS: usize = 250;

/// The locations of a command's sources.
#[derive(Debug, Default)]
pub(super) struct SourceOrigins {
    paths: Vec<PathBuf>,
    /// Counted if a model has no name.
    ends: OnceCell<PathEnds>,
}

/// A model's name, and the digest of the location that it tells.
pub(super) struct UnnamedModel {
    pub model: String,
    pub origin: Option<String>,
}

impl SourceOrigins {
    pub fn from_paths<'p>(paths: impl Iterator<Item = &'p Path>) -> Self {
        Self {
            paths: paths
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
                .collect(),
            ends: OnceCell::new(),
        }
    }

    /// Names the model of a source at `place` after the file or folder at `path`: as the store named it before, else by the shortest end of
    /// the path that no other file or folder of the command has, and no model of the store.
    pub fn name_model(
        &self,
        path: &Path,
        place: Option<&str>,
        stored: &StoredRuns,
        store: &Store,
    ) -> UnnamedModel {
        let origin = location_digest(stored, store, path);
        let known = origin
            .as_ref()
            .and_then(|origin| stored.model_from(origin, place, &format!("{UNNAMED_MODEL} (")));
        let model = known.map_or_else(|| self.distinct_model_name(path, stored), str::to_owned);
        UnnamedModel { model, origin }
    }

    /// Returns the name that all unnamed models share where they are one arm.
    pub fn shared_model() -> UnnamedModel {
        UnnamedModel {
            model: UNNAMED_MODEL.to_owned(),
            origin: None,
        }
    }

    /// Returns the shortest end of the path that no other file or folder of the command has.
    pub fn shortest_own_end(&self, path: &Path) -> String {
        self.own_ends(path)
            .into_iter()
            .next()
            .map_or_else(String::new, |(end, _)| end)
    }

    fn distinct_model_name(&self, path: &Path, stored: &StoredRuns) -> String {
        let named = |end: &str| format!("{UNNAMED_MODEL} ({})", clip_text(end, MAX_CHARS));
        let mut ends = self
            .own_ends(path)
            .into_iter()
            .map(|(end, is_whole)| (named(&end), is_whole));
        ends.find(|(model, is_whole)| *is_whole || !stored.has_model(model))
            .map_or_else(|| UNNAMED_MODEL.to_owned(), |(model, _)| model)
    }

    /// Returns the ends of the path that are its own in this command, the shortest first. The last one is the whole path.
    ///
    /// They depend on the folder around all sources only if the store has models of the same names.
    fn own_ends(&self, path: &Path) -> Vec<(String, bool)> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let parts = path_components(&path);
        let PathEnds { counts, around } = self.ends.get_or_init(|| self.count_ends());
        let inner = parts.len().saturating_sub(*around).max(1);
        let mut ends = Vec::new();
        for depth in 1..=parts.len() {
            let end = &parts[parts.len() - depth..];
            let is_own = counts
                .get(&digest_components(end))
                .is_none_or(|count| *count <= 1);
            let is_whole = depth == parts.len();
            match depth.cmp(&inner) {
                // Only a namesake in a folder below shares the whole path from the folder around all.
                Ordering::Equal if !is_own => ends.push((format!("./{}", end.join("/")), is_whole)),
                Ordering::Less if !is_own => {}
                _ => ends.push((end.join("/"), is_whole)),
            }
        }
        ends
    }

    fn count_ends(&self) -> PathEnds {
        let folders: Vec<Vec<String>> = self
            .paths
            .iter()
            .filter_map(|path| path.parent())
            .map(path_components)
            .collect();
        let first = folders.first().map_or(&[][..], Vec::as_slice);
        let shared = |folder: &Vec<String>| {
            first
                .iter()
                .zip(folder)
                .take_while(|(one, other)| one == other)
                .count()
        };
        let around = folders.iter().map(shared).min().unwrap_or(0);
        let known: BTreeSet<Vec<String>> = self
            .paths
            .iter()
            .flat_map(|path| {
                let parts = path_components(path);
                (around + 1..=parts.len())
                    .map(|length| parts[..length].to_vec())
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut counts = HashMap::new();
        for parts in known {
            for start in around..parts.len() {
                *counts
                    .entry(digest_components(&parts[start..]))
                    .or_default() += 1;
            }
        }
        PathEnds { counts, around }
    }
}

/// The ends of the paths of a command's files and folders.
#[derive(Debug)]
struct PathEnds {
    /// Number of files and folders with an end, by its digest. Ends begin below the folder around all sources.
    counts: HashMap<u64, u32>,
    /// Depth of that folder.
    around: usize,
}

fn path_components(path: &Path) -> Vec<String> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    path.components().filter_map(named).collect()
}

fn digest_components(parts: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_end_that_tells_apart_names_a_source() {
        let paths = [
            "/x/a/report.xml",
            "/x/b/report.xml",
            "/y/b/report.xml",
            "/x/other.xml",
        ]
        .map(Path::new);
        let origins = SourceOrigins::from_paths(paths.into_iter());
        let ends = paths.map(|path| origins.shortest_own_end(path));
        assert_eq!(
            ends,
            [
                "a/report.xml",
                "x/b/report.xml",
                "y/b/report.xml",
                "other.xml"
            ]
        );
        assert_eq!(origins.shortest_own_end(Path::new("/x/a")), "a");
        assert_eq!(
            origins.shortest_own_end(Path::new("/x/b")),
            "x/b",
            "of two folders with one name"
        );
    }

    #[test]
    fn the_folder_around_all_sources_names_none() {
        for around in ["/home/runs", "/runs/report.xml"] {
            let paths = ["runs/report.xml", "report.xml", "runs/a/runs"]
                .map(|path| Path::new(around).join(path));
            let origins = SourceOrigins::from_paths(paths.iter().map(PathBuf::as_path));
            let ends = paths.each_ref().map(|path| origins.shortest_own_end(path));
            assert_eq!(
                ends,
                ["runs/report.xml", "./report.xml", "a/runs"],
                "{around}"
            );
        }
    }
}
