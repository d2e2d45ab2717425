//! Cargo packages and workspaces.

use toml_edit::{Document, Item};

use super::folder::{ListedFolder, shown_folder};
use super::part::{DetectionResult, ProjectPart, outer_part};
use crate::listing::path_below;
use crate::{Listing, Stack};

pub(super) fn find_part(folder: &ListedFolder, parts: &[ProjectPart]) -> DetectionResult {
    let Some(text) = folder.file_text("Cargo.toml") else {
        return if folder.has_file("Cargo.toml") {
            DetectionResult::Part(Box::new(build_part(
                folder.path,
                CargoWorkspace::Unreadable,
            )))
        } else {
            DetectionResult::Nothing
        };
    };
    if let Some(outer) = outer_part(parts, folder.path, &[Stack::Rust])
        && belongs_to(folder.listing, &outer.folder, folder.path)
    {
        return DetectionResult::Note(format!(
            "{} is a member of the Cargo workspace in {}",
            shown_folder(folder.path),
            shown_folder(&outer.folder)
        ));
    }
    let workspace = match Document::parse(text) {
        Ok(document) if document.get("workspace").is_some() => CargoWorkspace::Yes,
        Ok(_) => CargoWorkspace::No,
        Err(_) => CargoWorkspace::Unreadable,
    };
    let mut part = build_part(folder.path, workspace);
    // If a crate has several programs, it is unclear which one to start.
    if workspace == CargoWorkspace::No
        && folder.has_file("src/main.rs")
        && !folder.list_files().any(|file| file.starts_with("src/bin/"))
    {
        part.smoke_test = Some("cargo run".to_owned());
    }
    DetectionResult::Part(Box::new(part))
}

/// Returns the package whose `Cargo.toml` is nearest around `path`: its name and its folder.
pub(crate) fn find_package(listing: &Listing, path: &str) -> Option<(String, String)> {
    let mut folder = path;
    loop {
        folder = crate::listing::parent_of(folder);
        let here = ListedFolder {
            listing,
            path: folder,
        };
        if let Some(document) = here
            .file_text("Cargo.toml")
            .and_then(|text| Document::parse(text).ok())
            && let Some(name) = document
                .get("package")
                .and_then(|package| package.get("name"))
                .and_then(Item::as_str)
        {
            return Some((name.to_owned(), folder.to_owned()));
        }
        if folder.is_empty() {
            return None;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CargoWorkspace {
    Yes,
    No,
    Unreadable,
}

fn build_part(folder: &str, workspace: CargoWorkspace) -> ProjectPart {
    let mut part = ProjectPart::new(folder, Stack::Rust);
    let whole = match workspace {
        CargoWorkspace::Yes => " --workspace",
        CargoWorkspace::No | CargoWorkspace::Unreadable => "",
    };
    part.add_reason(match workspace {
        CargoWorkspace::Yes => "`Cargo.toml` with `[workspace]`",
        CargoWorkspace::No => "`Cargo.toml`",
        CargoWorkspace::Unreadable => {
            "`Cargo.toml`, which cannot be read as TOML: Cargo will say what is wrong with it"
        }
    });
    part.primary_test = Some(format!("cargo test{whole}"));
    part.build = Some(format!("cargo build{whole}"));
    part.lint = Some(format!("cargo clippy{whole} --all-targets"));
    part.syntax_check = Some(format!("cargo check{whole}"));
    part
}

/// Says whether the workspace in `outer` includes the package in `folder`. By Cargo's rules it does, unless it excludes the package.
fn belongs_to(listing: &Listing, outer: &str, folder: &str) -> bool {
    let Some(document) = (ListedFolder {
        listing,
        path: outer,
    })
    .file_text("Cargo.toml")
    .and_then(|text| Document::parse(text).ok()) else {
        return false;
    };
    let Some(workspace) = document.get("workspace") else {
        return false;
    };
    let inner = path_below(outer, folder).unwrap_or(folder);
    let excluded = workspace.get("exclude").and_then(Item::as_array);
    !excluded.is_some_and(|paths| {
        paths
            .iter()
            .filter_map(|path| path.as_str())
            .any(|path| path == inner || path_below(path, inner).is_some())
    })
}
