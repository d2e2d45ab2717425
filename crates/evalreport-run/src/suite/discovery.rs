//! Finds suites below a repository's root.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{SUITE_FILE, Suite, load_suite};
use crate::document::{nearest_hint, quote_text};
use crate::domain::{Problem, escape_invisible};
use crate::files;

/// The folders that hold one folder per suite.
const SUITE_FOLDERS: [&str; 2] = ["suites", "evals/suites"];

/// A folder with a suite, valid or not.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSuite {
    /// The folder's name, which selects the suite.
    pub name: String,
    /// Its `suite.yaml`.
    pub path: PathBuf,
    pub suite: Result<Suite, Vec<Problem>>,
}

/// Returns all suites below `root`, sorted by name. Fails if a folder cannot be listed.
pub fn discover_suites(root: &Path) -> Result<Vec<FoundSuite>, Problem> {
    let folders = suite_folders(root)?;
    Ok(folders
        .into_iter()
        .flat_map(|(name, folders)| load_first(root, &name, &folders))
        .collect())
}

/// Loads the suite with this name.
pub fn find_suite(root: &Path, name: &str) -> Result<Suite, Vec<Problem>> {
    let folders = suite_folders(root).map_err(|problem| vec![problem])?;
    if let Some(found) = folders
        .get(name)
        .and_then(|folders| load_first(root, name, folders).into_iter().next())
    {
        return found.suite;
    }
    let known: Vec<String> = folders.keys().map(|name| quote_text(name)).collect();
    let hint =
        nearest_hint(name, folders.keys().map(String::as_str)).unwrap_or_else(|| {
            match known.as_slice() {
                [] => format!("there is no {}/NAME/{SUITE_FILE}", SUITE_FOLDERS[0]),
                known => format!("known suites: {}", known.join(", ")),
            }
        });
    let place = escape_invisible(&root.join(SUITE_FOLDERS[0]).display().to_string());
    Err(vec![
        Problem::in_file(place, format!("there is no suite {}", quote_text(name))).with_hint(hint),
    ])
}

/// Loads the suite from the first of the folders with this name. The others get an error.
fn load_first(root: &Path, name: &str, folders: &[PathBuf]) -> Vec<FoundSuite> {
    let one = |(index, folder): (usize, &PathBuf)| {
        let path = folder.join(SUITE_FILE);
        let suite = match index {
            0 => load_suite(root, folder),
            _ => {
                let first = quote_text(&folders[0].display().to_string());
                let message = format!("suite {} is already in {first}", quote_text(name));
                Err(vec![
                    Problem::in_file(escape_invisible(&path.display().to_string()), message)
                        .with_hint("rename one of the two"),
                ])
            }
        };
        FoundSuite {
            name: name.to_owned(),
            path,
            suite,
        }
    };
    folders.iter().enumerate().map(one).collect()
}

/// Returns the folders of all suites, readable or not.
pub fn all_folders(root: &Path) -> Vec<PathBuf> {
    suite_folders(root)
        .into_iter()
        .flatten()
        .flat_map(|(_, folders)| folders)
        .collect()
}

/// Returns the folders with a suite, by name.
fn suite_folders(root: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>, Problem> {
    let mut folders: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for place in SUITE_FOLDERS {
        let place = root.join(place);
        let cannot = |error: io::Error| {
            let place = escape_invisible(&place.display().to_string());
            Problem::in_file(
                place,
                format!("cannot be listed: {}", escape_invisible(&error.to_string())),
            )
        };
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(error) if files::is_absence(&error) => continue,
            Err(error) => return Err(cannot(error)),
        };
        for entry in entries {
            let folder = entry.map_err(cannot)?.path();
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            // A dangling link, or a file that may not be inspected, counts as an unreadable suite, not as no suite.
            if !name.starts_with('.')
                && !folder
                    .join(SUITE_FILE)
                    .symlink_metadata()
                    .is_err_and(|error| files::is_absence(&error))
            {
                folders.entry(name).or_default().push(folder);
            }
        }
    }
    Ok(folders)
}
