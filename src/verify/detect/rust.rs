//! Cargo packages and workspaces.

use toml_edit::{Document, Item};

use super::folder::{Folder, shown_folder};
use super::part::{Found, Part, around};
use crate::verify::listing::below;
use crate::verify::{Listing, Stack};

pub(super) fn find(folder: &Folder, parts: &[Part]) -> Found {
    let Some(text) = folder.text("Cargo.toml") else {
        return if folder.has("Cargo.toml") {
            Found::Part(Box::new(commands(folder.path, Workspace::Unreadable)))
        } else {
            Found::Nothing
        };
    };
    if let Some(outer) = around(parts, folder.path, &[Stack::Rust])
        && belongs_to(folder.listing, &outer.folder, folder.path)
    {
        return Found::Note(format!(
            "{} is a member of the Cargo workspace in {}",
            shown_folder(folder.path),
            shown_folder(&outer.folder)
        ));
    }
    let workspace = match Document::parse(text) {
        Ok(document) if document.get("workspace").is_some() => Workspace::Yes,
        Ok(_) => Workspace::No,
        Err(_) => Workspace::Unreadable,
    };
    let mut part = commands(folder.path, workspace);
    // If a crate has several programs, it is unclear which one to start.
    if workspace == Workspace::No
        && folder.has("src/main.rs")
        && !folder.files().any(|file| file.starts_with("src/bin/"))
    {
        part.smoke_test = Some("cargo run".to_owned());
    }
    Found::Part(Box::new(part))
}

/// Returns the package whose `Cargo.toml` is nearest around `path`: its name and its folder.
pub(in crate::verify) fn package_of(listing: &Listing, path: &str) -> Option<(String, String)> {
    let mut folder = path;
    loop {
        folder = crate::verify::listing::folder_of(folder);
        let here = Folder {
            listing,
            path: folder,
        };
        if let Some(document) = here
            .text("Cargo.toml")
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
enum Workspace {
    Yes,
    No,
    Unreadable,
}

fn commands(folder: &str, workspace: Workspace) -> Part {
    let mut part = Part::new(folder, Stack::Rust);
    let whole = match workspace {
        Workspace::Yes => " --workspace",
        Workspace::No | Workspace::Unreadable => "",
    };
    part.because(match workspace {
        Workspace::Yes => "`Cargo.toml` with `[workspace]`",
        Workspace::No => "`Cargo.toml`",
        Workspace::Unreadable => {
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
    let Some(document) = (Folder {
        listing,
        path: outer,
    })
    .text("Cargo.toml")
    .and_then(|text| Document::parse(text).ok()) else {
        return false;
    };
    let Some(workspace) = document.get("workspace") else {
        return false;
    };
    let inner = below(outer, folder).unwrap_or(folder);
    let excluded = workspace.get("exclude").and_then(Item::as_array);
    !excluded.is_some_and(|paths| {
        paths
            .iter()
            .filter_map(|path| path.as_str())
            .any(|path| path == inner || below(path, inner).is_some())
    })
}
