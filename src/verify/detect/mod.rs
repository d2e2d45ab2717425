//! What a folder is made with, and which commands it has, each with the reason.
//!
//! One file per stack. A stack is known by its manifests and by whole file names, never by a word within another one.

use std::collections::BTreeSet;

use super::listing::{STACK_MANIFESTS, below, folder_of, is_foreign_folder, is_requirements, join, name_of};
use super::{Listing, Readiness, Stack};
use crate::domain::visible;

mod go;
mod java;
mod make;
mod node;
mod package;
mod python;
mod rust;

pub(super) use java::program_of;
pub(super) use node::{Runner, runner_of};
pub(super) use python::is_test_file as is_python_test;
pub(super) use rust::package_of;

/// A folder with a stack and commands of its own. All commands are lines for `sh -c` in that folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Below the root; empty for the root itself.
    pub folder: String,
    pub stack: Stack,
    pub primary_test: Option<String>,
    pub smoke_test: Option<String>,
    pub build: Option<String>,
    pub lint: Option<String>,
    pub syntax_check: Option<String>,
    /// How the smoke test shows that it is up, where it may stay up.
    pub server: Option<Readiness>,
    pub reasons: Vec<String>,
}

impl Part {
    fn new(folder: &str, stack: Stack) -> Self {
        Self {
            folder: folder.to_owned(),
            stack,
            primary_test: None,
            smoke_test: None,
            build: None,
            lint: None,
            syntax_check: None,
            server: None,
            reasons: Vec::new(),
        }
    }

    fn because(&mut self, reason: impl Into<String>) {
        self.reasons.push(reason.into());
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub stack: Stack,
    /// By folder, the root first.
    pub parts: Vec<Part>,
    /// What was seen that belongs to no part.
    pub reasons: Vec<String>,
}

/// More parts than this are counted, not listed: each may become a command.
const MOST_PARTS: usize = 30;

/// Says what the listed files are made with.
pub fn detect(listing: &Listing) -> Detected {
    let mut reasons = Vec::new();
    let (aside, main): (Vec<_>, Vec<_>) = manifest_folders(listing).into_iter().partition(|folder| is_aside(folder));
    let mut parts = parts_of(listing, &main, &mut reasons);
    if parts.is_empty() {
        parts = parts_of(listing, &aside, &mut reasons);
    } else if !aside.is_empty() {
        reasons.push(format!("left out as documentation, examples or test data: {}", names(aside.iter().map(String::as_str))));
    }
    if parts.is_empty() {
        parts.extend(without_manifest(listing, &mut reasons));
    }
    if parts.is_empty() {
        parts.extend(make::part(&Folder { listing, path: "" }));
    }
    if parts.len() > MOST_PARTS {
        reasons.push(format!("{} more folders with a stack of their own are left out", parts.len() - MOST_PARTS));
        parts.truncate(MOST_PARTS);
    }
    let stacks: BTreeSet<Stack> = parts.iter().map(|part| part.stack).collect();
    let stack = match (stacks.len(), stacks.first()) {
        (0, _) | (_, None) => Stack::Unknown,
        (1, Some(stack)) => *stack,
        (_, Some(_)) => {
            let named: Vec<String> = parts.iter().map(|part| format!("{} in {}", part.stack.name(), shown_folder(&part.folder))).collect();
            reasons.push(format!("several stacks: {}", named.join(", ")));
            Stack::Mixed
        }
    };
    if parts.is_empty() {
        reasons.push("no manifest, source file or Makefile target says how to check anything here".to_owned());
    }
    Detected { stack, parts, reasons }
}

/// The files of one folder and below.
#[derive(Clone, Copy)]
struct Folder<'l> {
    listing: &'l Listing,
    path: &'l str,
}

impl<'l> Folder<'l> {
    fn has(&self, name: &str) -> bool {
        self.listing.files.contains(&join(self.path, name))
    }

    fn text(&self, name: &str) -> Option<&'l str> {
        self.listing.contents.get(&join(self.path, name)).map(|text| text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Paths of the files here and below, without what was installed or made by a program.
    fn files(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        let path = self.path;
        self.listing.files.iter().filter_map(move |file| below(path, file)).filter(|file| !is_foreign(file))
    }

    /// Names of the files right here.
    fn names(&self) -> impl Iterator<Item = &'l str> + use<'l> {
        self.files().filter(|file| !file.contains('/'))
    }

    /// The first of the names that is a file here.
    fn first_of<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }
}

/// Says whether a path leads through a folder that was installed or made by a program.
fn is_foreign(path: &str) -> bool {
    folder_of(path).split('/').any(is_foreign_folder)
}

/// Says whether a folder holds documentation, examples or test data: a manifest there says nothing about the project.
fn is_aside(folder: &str) -> bool {
    const ASIDE: [&str; 18] = [
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
    folder.split('/').any(|name| ASIDE.contains(&name))
}

/// The folders in which a manifest of some stack stands, the outer ones first.
fn manifest_folders(listing: &Listing) -> BTreeSet<String> {
    let folder = |path: &String| {
        let is_wanted = STACK_MANIFESTS.contains(&name_of(path)) || is_requirements(path);
        // Requirements in a folder of that name belong to the folder around it.
        let folder = match folder_of(path) {
            inner if is_requirements(path) && name_of(inner) == "requirements" => folder_of(inner),
            folder => folder,
        };
        (is_wanted && !is_foreign(path)).then(|| folder.to_owned())
    };
    listing.files.iter().filter_map(folder).collect()
}

/// What a look at one folder for one stack gave.
enum Found {
    Nothing,
    Part(Box<Part>),
    /// There is something, but it is no part; this says why.
    Note(String),
}

fn parts_of(listing: &Listing, folders: &[String], reasons: &mut Vec<String>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for path in folders {
        let folder = Folder { listing, path };
        let first_here = parts.len();
        for find in [rust::find, go::find, java::find, python::find] {
            take(find(&folder, &parts), &mut parts, reasons);
        }
        // Last, because a package.json beside another stack may be there for tools alone.
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

/// What source files alone say.
fn without_manifest(listing: &Listing, reasons: &mut Vec<String>) -> Option<Part> {
    let root = Folder { listing, path: "" };
    let mut part = python::bare(&root).or_else(|| node::bare(&root));
    if let Some(part) = &mut part {
        make::fill(&root, part);
    }
    for (ending, manifest) in [("go", "go.mod"), ("rs", "Cargo.toml"), ("java", "pom.xml or build.gradle")] {
        let count = root.files().filter(|file| has_extension(file, &[ending])).count();
        if count > 0 {
            reasons.push(format!("{count} `.{ending}` files, but no {manifest}"));
        }
    }
    part
}

/// The nearest part of the stack in a folder around `folder`.
fn around<'p>(parts: &'p [Part], folder: &str, stacks: &[Stack]) -> Option<&'p Part> {
    let is_around = |part: &&Part| stacks.contains(&part.stack) && part.folder != folder && below(&part.folder, folder).is_some();
    parts.iter().filter(is_around).max_by_key(|part| part.folder.len())
}

pub(super) fn has_extension(path: &str, endings: &[&str]) -> bool {
    name_of(path).rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && endings.contains(&ending))
}

pub(super) fn shown_folder(folder: &str) -> String {
    if folder.is_empty() { "the root".to_owned() } else { format!("`{}`", visible(folder)) }
}

/// At most five names, and how many more there are.
fn names<'n>(all: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<&str> = all.collect();
    let mut shown: Vec<String> = all.iter().take(5).map(|name| format!("`{}`", visible(name))).collect();
    if all.len() > 5 {
        shown.push(format!("{} more", all.len() - 5));
    }
    shown.join(", ")
}

#[cfg(test)]
mod fixtures;
