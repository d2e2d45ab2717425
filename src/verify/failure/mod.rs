//! What went wrong in a check, in a form that can be found again.
//!
//! What programs say is read whatever the command was, since `npm test` may run anything: reports of test runners first, then those of
//! compilers and linters, then stack traces; what none of them knows becomes one failure of its own. All of it is hostile and bounded.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::listing::join;

mod compilers;
mod found;
mod go;
mod javascript;
mod jvm;
mod other;
mod pattern;
mod python;
mod rust;
mod said;
mod signature;

use found::{Found, LONGEST_TEXT};
use said::Said;

/// One thing that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The same for the same failure at another time, in another folder, in another order.
    pub signature: String,
    /// What was said, for people.
    pub text: String,
    /// Paths below the root that the failure points at. Those of Go start with the module's name.
    pub files: Vec<String>,
    /// The test's name, where it is one.
    pub test: Option<String>,
}

/// More failures than this are one failure of everything.
const MOST_FAILURES: usize = 500;
/// Several of those found may be the same failure.
const MOST_FOUND: usize = 1000;

/// Reads the failures out of what a failed check said. `roots` are the absolute folders that the tree was in; paths below them become
/// relative. They come in the order of their signatures, each once.
pub fn failures(check: &Check, said: &str, roots: &[&str]) -> Vec<Failure> {
    let said = Said::read(said, roots);
    let lines = said.lines();
    let mut found = Vec::new();
    for read in [python::pytest, python::unittest, rust::tests, go::tests, javascript::tests, jvm::tests] {
        found.extend(read(&lines));
    }
    let has_tests = !found.is_empty();
    for read in [rust::diagnostics, go::diagnostics, javascript::bundlers, compilers::diagnostics, jvm::diagnostics] {
        found.extend(read(&lines));
    }
    if !has_tests {
        found.extend(python::tracebacks(&lines));
        if found.is_empty() {
            found.extend(javascript::traces(&lines));
        }
    }
    if found.is_empty() {
        found.extend(other::rest(&lines));
    }
    finish(check, found)
}

/// Returns what a program said, bounded and without what is only for terminals.
pub(super) fn plain(said: &str) -> String {
    Said::read(said, &[]).lines().join("\n")
}

/// Returns the failure that a check without any words is.
pub(super) fn silent(check: &Check, why: &str) -> Failure {
    let signature = signature::sign(why, check.kind.name(), "");
    Failure { signature, text: format!("{why}: {}", check.command), files: Vec::new(), test: None }
}

fn finish(check: &Check, mut found: Vec<Found>) -> Vec<Failure> {
    // Of too many, the same ones are kept in whatever order they came.
    found.sort();
    let mut failures: BTreeMap<String, Failure> = BTreeMap::new();
    for one in found.into_iter().take(MOST_FOUND) {
        let files: BTreeSet<String> = one.files.iter().filter_map(|file| below_root(&check.folder, file)).collect();
        let place = match (&one.test, one.files.first()) {
            (Some(test), _) => test.as_str(),
            (None, Some(file)) => file.as_str(),
            (None, None) => "",
        };
        let signature = signature::sign(one.tool, place, &one.message);
        let failure = failures.entry(signature.clone()).or_insert_with(|| Failure {
            signature,
            text: said::cut(one.text.trim_end(), LONGEST_TEXT).to_owned(),
            files: Vec::new(),
            test: one.test,
        });
        let all: BTreeSet<String> = failure.files.drain(..).chain(files).collect();
        failure.files = all.into_iter().collect();
    }
    failures.into_values().take(MOST_FAILURES).collect()
}

/// Returns a path that a program in `folder` named as one below the root; nothing for a path that is outside.
fn below_root(folder: &str, path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    if path.starts_with('/') || path.contains("node_modules/") || path.contains("site-packages/") || path.contains(':') {
        return None;
    }
    let joined = join(folder, &path);
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests;
