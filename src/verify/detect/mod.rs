//! Detects the stacks of a folder and their commands, each with the reason.
//!
//! Each stack has its own file. A stack is detected by its manifests and by whole file names, never by a word within another word.

use std::collections::BTreeSet;

use super::listing::{STACK_MANIFESTS, folder_of, is_requirements, name_of};
use super::{Listing, Stack};

mod folder;
mod go;
mod java;
mod make;
mod node;
mod package;
mod part;
mod python;
mod rust;

pub(super) use folder::{has_extension, shown_folder};
pub(super) use java::program_of;
pub(super) use node::{Runner, runner_of};
pub use part::Part;
pub(super) use python::is_test_file as is_python_test;
pub(super) use rust::package_of;

use folder::{Folder, is_aside, is_foreign, names};
use part::Found;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub stack: Stack,
    /// Parts by folder, the root first.
    pub parts: Vec<Part>,
    /// Notes about files that belong to no part.
    pub reasons: Vec<String>,
}

/// Maximum number of parts. Further parts are counted, not listed, because each of them could become a command.
const MOST_PARTS: usize = 30;

/// Detects the stacks of the listed files.
pub fn detect(listing: &Listing) -> Detected {
    let mut reasons = Vec::new();
    let (aside, main): (Vec<_>, Vec<_>) = manifest_folders(listing)
        .into_iter()
        .partition(|folder| is_aside(folder));
    let mut parts = parts_of(listing, &main, &mut reasons);
    if parts.is_empty() {
        parts = parts_of(listing, &aside, &mut reasons);
    } else if !aside.is_empty() {
        reasons.push(format!(
            "left out as documentation, examples or test data: {}",
            names(aside.iter().map(String::as_str))
        ));
    }
    if parts.is_empty() {
        parts.extend(without_manifest(listing, &mut reasons));
    }
    if parts.is_empty() {
        parts.extend(make::part(&Folder { listing, path: "" }));
    }
    if parts.len() > MOST_PARTS {
        reasons.push(format!(
            "{} more folders with a stack of their own are left out",
            parts.len() - MOST_PARTS
        ));
        parts.truncate(MOST_PARTS);
    }
    let stacks: BTreeSet<Stack> = parts.iter().map(|part| part.stack).collect();
    let stack = match (stacks.len(), stacks.first()) {
        (0, _) | (_, None) => Stack::Unknown,
        (1, Some(stack)) => *stack,
        (_, Some(_)) => {
            let named: Vec<String> = parts
                .iter()
                .map(|part| format!("{} in {}", part.stack.name(), shown_folder(&part.folder)))
                .collect();
            reasons.push(format!("several stacks: {}", named.join(", ")));
            Stack::Mixed
        }
    };
    if parts.is_empty() {
        reasons.push(
            "no manifest, source file or Makefile target says how to check anything here"
                .to_owned(),
        );
    }
    Detected {
        stack,
        parts,
        reasons,
    }
}

/// Returns the folders that contain a manifest of some stack, outer folders first.
fn manifest_folders(listing: &Listing) -> BTreeSet<String> {
    let folder = |path: &String| {
        let is_wanted = STACK_MANIFESTS.contains(&name_of(path)) || is_requirements(path);
        // Requirements in a folder named `requirements` belong to the folder around it.
        let folder = match folder_of(path) {
            inner if is_requirements(path) && name_of(inner) == "requirements" => folder_of(inner),
            folder => folder,
        };
        (is_wanted && !is_foreign(path)).then(|| folder.to_owned())
    };
    listing.files.iter().filter_map(folder).collect()
}

fn parts_of(listing: &Listing, folders: &[String], reasons: &mut Vec<String>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for path in folders {
        let folder = Folder { listing, path };
        let first_here = parts.len();
        for find in [rust::find, go::find, java::find, python::find] {
            take(find(&folder, &parts), &mut parts, reasons);
        }
        // Node comes last, because a `package.json` beside another stack may exist only for tools.
        take(node::find(&folder, &parts), &mut parts, reasons);
        for part in &mut parts[first_here..] {
            make::fill(&folder, part);
        }
    }
    parts
}

fn take(found: Found, parts: &mut Vec<Part>, reasons: &mut Vec<String>) {
    match found {
        Found::Nothing => {}
        Found::Part(part) => parts.push(*part),
        Found::Note(note) => reasons.push(note),
    }
}

/// Detects a stack from source files alone.
fn without_manifest(listing: &Listing, reasons: &mut Vec<String>) -> Option<Part> {
    let root = Folder { listing, path: "" };
    let mut part = python::bare(&root).or_else(|| node::bare(&root));
    if let Some(part) = &mut part {
        make::fill(&root, part);
    }
    for (ending, manifest) in [
        ("go", "go.mod"),
        ("rs", "Cargo.toml"),
        ("java", "pom.xml or build.gradle"),
    ] {
        let count = root
            .files()
            .filter(|file| has_extension(file, &[ending]))
            .count();
        if count > 0 {
            reasons.push(format!("{count} `.{ending}` files, but no {manifest}"));
        }
    }
    part
}

#[cfg(test)]
mod fixtures;
