//! Detects the stacks of a folder and their commands, each with the reason.
//!
//! Each stack has its own file. A stack is detected by its manifests and by whole file names, never by a word within another word.

use std::collections::BTreeSet;

use super::listing::{STACK_MANIFESTS, file_name_of, is_requirements, parent_of};
use super::{Listing, Stack};

mod dotnet;
mod folder;
mod go;
mod java;
mod make;
mod node;
mod package;
mod part;
mod php;
mod python;
mod ruby;
mod rust;
mod swift;

pub(super) use folder::{has_extension, shown_folder};
pub(super) use java::build_program;
pub(super) use node::{NodeTestRunner, find_runner};
pub use part::ProjectPart;
pub(super) use python::is_test_file as is_python_test;
pub(super) use rust::find_package;

use folder::{ListedFolder, format_names, is_aside, is_foreign};
use part::DetectionResult;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedProject {
    pub stack: Stack,
    /// Parts by folder, the root first.
    pub parts: Vec<ProjectPart>,
    /// Notes about files that belong to no part.
    pub reasons: Vec<String>,
}

/// Maximum number of parts. Further parts are counted, not listed, because each of them could become a command.
const MAX_PARTS: usize = 30;

/// Detects the stacks of the listed files.
pub fn detect_stacks(listing: &Listing) -> DetectedProject {
    let mut reasons = Vec::new();
    let (aside, main): (Vec<_>, Vec<_>) = manifest_folders(listing)
        .into_iter()
        .partition(|folder| is_aside(folder));
    let mut parts = find_parts(listing, &main, &mut reasons);
    if parts.is_empty() {
        parts = find_parts(listing, &aside, &mut reasons);
    } else if !aside.is_empty() {
        reasons.push(format!(
            "left out as documentation, examples or test data: {}",
            format_names(aside.iter().map(String::as_str))
        ));
    }
    if parts.is_empty() {
        parts.extend(detect_without_manifest(listing, &mut reasons));
    }
    if parts.is_empty() {
        parts.extend(make::find_part(&ListedFolder { listing, path: "" }));
    }
    if parts.len() > MAX_PARTS {
        reasons.push(format!(
            "{} more folders with a stack of their own are left out",
            parts.len() - MAX_PARTS
        ));
        parts.truncate(MAX_PARTS);
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
    DetectedProject {
        stack,
        parts,
        reasons,
    }
}

/// Returns the folders that contain a manifest of some stack, outer folders first.
fn manifest_folders(listing: &Listing) -> BTreeSet<String> {
    let folder = |path: &String| {
        let is_wanted = STACK_MANIFESTS.contains(&file_name_of(path))
            || is_requirements(path)
            || has_extension(path, &dotnet::SOLUTION_ENDINGS)
            || has_extension(path, &dotnet::PROJECT_ENDINGS);
        // Requirements in a folder named `requirements` belong to the folder around it.
        let folder = match parent_of(path) {
            inner if is_requirements(path) && file_name_of(inner) == "requirements" => {
                parent_of(inner)
            }
            folder => folder,
        };
        (is_wanted && !is_foreign(path)).then(|| folder.to_owned())
    };
    listing.files.iter().filter_map(folder).collect()
}

fn find_parts(
    listing: &Listing,
    folders: &[String],
    reasons: &mut Vec<String>,
) -> Vec<ProjectPart> {
    let mut parts: Vec<ProjectPart> = Vec::new();
    for path in folders {
        let folder = ListedFolder { listing, path };
        let first_here = parts.len();
        for find in [
            rust::find_part,
            go::find_part,
            java::find_part,
            python::find_part,
            swift::find_part,
            dotnet::find_part,
            php::find_part,
            ruby::find_part,
        ] {
            record_finding(find(&folder, &parts), &mut parts, reasons);
        }
        // Node comes last, because a `package.json` beside another stack may exist only for tools.
        record_finding(node::find_part(&folder, &parts), &mut parts, reasons);
        for part in &mut parts[first_here..] {
            make::fill_commands(&folder, part);
        }
    }
    parts
}

fn record_finding(found: DetectionResult, parts: &mut Vec<ProjectPart>, reasons: &mut Vec<String>) {
    match found {
        DetectionResult::Nothing => {}
        DetectionResult::Part(part) => parts.push(*part),
        DetectionResult::Note(note) => reasons.push(note),
    }
}

/// Detects a stack from source files alone.
fn detect_without_manifest(listing: &Listing, reasons: &mut Vec<String>) -> Option<ProjectPart> {
    let root = ListedFolder { listing, path: "" };
    let mut part = python::detect_bare(&root).or_else(|| node::detect_bare(&root));
    if let Some(part) = &mut part {
        make::fill_commands(&root, part);
    }
    for (ending, manifest) in [
        ("go", "go.mod"),
        ("rs", "Cargo.toml"),
        ("java", "pom.xml or build.gradle"),
        ("swift", "Package.swift"),
        ("cs", "solution or project"),
        ("php", "composer.json"),
        ("rb", "Gemfile"),
    ] {
        let count = root
            .list_files()
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
