//! Paths that are not there: one message for all commands.

use std::any::TypeId;
use std::fs;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::domain::nearest_name;

use super::display_path::display_path;
use super::failure::CommandFailure;

/// Options of every command whose paths are written or made, by their ids.
const UNREAD_GLOBALS: [&str; 3] = ["cache", "log", "results"];

/// Returns whether a command does not read the paths of an option, by the command's name and the option's id.
type UnreadLookup<'a> = dyn Fn(&str, &str) -> bool + 'a;

/// Returns the paths that the command line names for reading. Words that may also name suites or runs are not among them.
pub(super) fn read_paths(
    command: &Command,
    matches: &ArgMatches,
    is_unread: &UnreadLookup<'_>,
) -> Vec<PathBuf> {
    let is_read = |id: &str| !UNREAD_GLOBALS.contains(&id) && !is_unread(command.get_name(), id);
    let mut paths = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        if is_path && is_read(id) && matches.value_source(id) == Some(ValueSource::CommandLine) {
            paths.extend(
                matches
                    .get_many::<PathBuf>(id)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
    }
    if let Some((name, below)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        paths.extend(
            read_paths(command, below, is_unread)
                .into_iter()
                .filter(|path| !paths.contains(path))
                .collect::<Vec<_>>(),
        );
    }
    paths
}

/// Fails if one of the paths is not there, and names all that are not. An address is no path, and is left to whoever reads it.
pub(super) fn check_paths<'p>(
    paths: impl IntoIterator<Item = &'p Path>,
) -> Result<(), CommandFailure> {
    let missing: Vec<&Path> = paths.into_iter().filter(|path| is_missing(path)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(paths_not_found(&missing))
    }
}

/// Returns whether nothing is there. A path that may not be looked at is reported when it is read.
pub(super) fn is_missing(path: &Path) -> bool {
    let is_address = path.to_str().is_some_and(|text| text.contains("://"));
    !is_address && matches!(path.try_exists(), Ok(false))
}

/// Says that the paths are not there, and which similar one is.
pub(super) fn paths_not_found(paths: &[&Path]) -> CommandFailure {
    let names: Vec<String> = paths.iter().map(|path| display_path(path)).collect();
    let noun = if paths.len() == 1 {
        "file or folder"
    } else {
        "files or folders"
    };
    let failure = CommandFailure::new(format!("no such {noun}: {}", names.join(", ")));
    match paths.iter().find_map(|path| similar_path(path)) {
        Some(near) => failure.with_hint(format!("did you mean `{}`?", display_path(&near))),
        None => failure.with_hint("a relative path begins in the current folder"),
    }
}

/// Says that a results folder is not there that was named.
pub(super) fn no_results_failure(folders: &[&Path]) -> CommandFailure {
    let failure = paths_not_found(folders);
    if failure
        .hint
        .as_deref()
        .is_some_and(|hint| hint.starts_with("did you mean"))
    {
        return failure;
    }
    failure.with_hint("--results names a folder of results; `import`, `record`, `run` and `eval` make one that is not there")
}

/// Returns the path beside a missing one whose name is most similar.
fn similar_path(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let name = path.file_name()?.to_str()?;
    let place = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let is_there = |name: &String| !name.starts_with('.') && !is_missing(&folder.join(name));
    let mut names: Vec<String> = fs::read_dir(place)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.retain(is_there);
    names.sort();
    nearest_name(name, names.iter().map(String::as_str)).map(|near| folder.join(near))
}

/// Returns whether a word that names nothing was meant as a path: it ends in a separator, or has the ending of a file.
pub(super) fn looks_like_path(word: &str) -> bool {
    let is_ending = |ending: &str| {
        (1..=8).contains(&ending.len())
            && ending.starts_with(|first: char| first.is_ascii_alphabetic())
            && ending
                .chars()
                .all(|character| character.is_ascii_alphanumeric())
    };
    word.ends_with(['/', std::path::MAIN_SEPARATOR])
        || Path::new(word)
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(is_ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_like_path_tells_files_from_names_and_versions() {
        for word in [
            "nowhere/",
            "reports/night.xml",
            "a.csv",
            "main.bundel",
            "a.b.parquet",
        ] {
            assert!(looks_like_path(word), "{word}");
        }
        for word in [
            "suite",
            "gsm8k-v1.1",
            "a@2.0",
            "who? me. no",
            "a/b",
            "x.",
            ".",
            "why.because it is",
        ] {
            assert!(!looks_like_path(word), "{word}");
        }
    }

    #[test]
    fn failure_names_all_paths_and_the_similar_one() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("reports.csv"), "").expect("a file");
        let [near, far] = ["report.csv", "zzzzzzzzzz"].map(|name| folder.path().join(name));
        let failure = paths_not_found(&[&near, &far]);
        assert_eq!(
            failure.message,
            format!(
                "no such files or folders: {}, {}",
                near.display(),
                far.display()
            )
        );
        assert_eq!(
            failure.hint,
            Some(format!(
                "did you mean `{}`?",
                folder.path().join("reports.csv").display()
            ))
        );
    }
}
