//! The files of a folder and of the folders below it.

use crate::Listing;
use crate::domain::escape_invisible;
use crate::listing::{file_name_of, is_foreign_folder, join_path, parent_of, path_below};

/// The files of a folder and of the folders below it.
#[derive(Clone, Copy)]
pub(super) struct ListedFolder<'l> {
    pub listing: &'l Listing,
    pub path: &'l str,
}

impl<'l> ListedFolder<'l> {
    pub fn has_file(&self, name: &str) -> bool {
        self.listing.files.contains(&join_path(self.path, name))
    }

    pub fn file_text(&self, name: &str) -> Option<&'l str> {
        self.listing
            .contents
            .get(&join_path(self.path, name))
            .map(|text| text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Returns the paths of files in this folder and below, without installed or generated files.
    pub fn list_files(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        let path = self.path;
        self.listing
            .files
            .iter()
            .filter_map(move |file| path_below(path, file))
            .filter(|file| !is_foreign(file))
    }

    /// Returns the names of files directly in this folder.
    pub fn file_names(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        self.list_files().filter(|file| !file.contains('/'))
    }

    /// Returns the first of the names that is a file directly in this folder.
    pub fn first_existing<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has_file(name))
    }
}

/// Says whether a path leads through a folder of installed or generated files.
pub(super) fn is_foreign(path: &str) -> bool {
    parent_of(path).split('/').any(is_foreign_folder)
}

/// Says whether a folder holds documentation, examples or test data. A manifest in such a folder says nothing about the project.
pub(super) fn is_aside(folder: &str) -> bool {
    const ASIDE_FOLDERS: [&str; 18] = [
        "__fixtures__",
        "__tests__",
        "benches",
        "benchmarks",
        "demo",
        "demos",
        "doc",
        "docs",
        "documentation",
        "example",
        "examples",
        "fixtures",
        "templates",
        "test",
        "testdata",
        "tests",
        "website",
        ".github",
    ];
    folder.split('/').any(|name| ASIDE_FOLDERS.contains(&name))
}

pub(crate) fn has_extension(path: &str, endings: &[&str]) -> bool {
    file_name_of(path)
        .rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && endings.contains(&ending))
}

pub(crate) fn shown_folder(folder: &str) -> String {
    if folder.is_empty() {
        "the root".to_owned()
    } else {
        format!("`{}`", escape_invisible(folder))
    }
}

/// Formats at most five names, and the number of further names.
pub(super) fn format_names<'n>(all: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<&str> = all.collect();
    let mut shown: Vec<String> = all
        .iter()
        .take(5)
        .map(|name| format!("`{}`", escape_invisible(name)))
        .collect();
    if all.len() > 5 {
        shown.push(format!("{} more", all.len() - 5));
    }
    shown.join(", ")
}
