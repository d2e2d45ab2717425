//! Extracts the failures of a check from its output, in a form that is comparable between runs.
//!
//! All parsers read every output, whatever the command was, since `npm test` may run anything. The reports of test runners come first, then
//! compilers and linters, then stack traces; if no parser finds anything, the output becomes one failure. The output is untrusted, so all
//! sizes are bounded.

use std::collections::{BTreeMap, BTreeSet};

use super::PlannedCheck;
use super::listing::join_path;

mod compilers;
mod go;
mod javascript;
mod jvm;
mod other;
mod parsed_failure;
mod pattern;
mod program_output;
mod python;
mod rust;
mod signature;

use parsed_failure::{MAX_TEXT, ParsedFailure};
use program_output::ProgramOutput;

/// A single failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckFailure {
    /// Text that is equal for the same failure at another time, in another folder or in another order.
    pub signature: String,
    /// The program's message, for people.
    pub text: String,
    /// Paths relative to the root that the failure points at. Go's paths start with the module's name.
    pub files: Vec<String>,
    /// Name of the failed test, if the failure is a test's.
    pub test: Option<String>,
}

/// Maximum number of failures. With more than this, everything fails.
const MAX_FAILURES: usize = 500;
/// Maximum number of findings, before equal failures are merged.
const MAX_FOUND: usize = 1000;

/// Extracts the failures from the output of a failed check. `roots` are the absolute folders of the tree; paths below them become relative.
/// Returns each failure once, ordered by signature.
pub fn extract_failures(check: &PlannedCheck, said: &str, roots: &[&str]) -> Vec<CheckFailure> {
    let said = ProgramOutput::from_raw(said, roots);
    let lines = said.lines();
    let mut found = Vec::new();
    for read in [
        python::parse_pytest,
        python::parse_unittest,
        rust::parse_tests,
        go::parse_tests,
        javascript::parse_tests,
        jvm::parse_tests,
    ] {
        found.extend(read(&lines));
    }
    let has_tests = !found.is_empty();
    for read in [
        rust::parse_diagnostics,
        go::parse_diagnostics,
        javascript::parse_bundlers,
        compilers::parse_diagnostics,
        jvm::parse_diagnostics,
    ] {
        found.extend(read(&lines));
    }
    if !has_tests {
        found.extend(python::parse_tracebacks(&lines));
        if found.is_empty() {
            found.extend(javascript::parse_traces(&lines));
        }
    }
    if found.is_empty() {
        found.extend(other::fallback_failure(&lines));
    }
    finish_failures(check, found)
}

/// Returns a program's output with bounded size and without terminal sequences.
pub(super) fn clean_output(said: &str) -> String {
    ProgramOutput::from_raw(said, &[]).lines().join("\n")
}

/// Returns the failure of a check whose output explains nothing.
pub(super) fn unexplained_failure(check: &PlannedCheck, why: &str) -> CheckFailure {
    let signature = signature::make_signature(why, check.kind.name(), "");
    CheckFailure {
        signature,
        text: format!("{why}: {}", check.command),
        files: Vec::new(),
        test: None,
    }
}

fn finish_failures(check: &PlannedCheck, mut found: Vec<ParsedFailure>) -> Vec<CheckFailure> {
    // Sorting ensures that the same findings are kept if there are too many.
    found.sort();
    let mut failures: BTreeMap<String, CheckFailure> = BTreeMap::new();
    for one in found.into_iter().take(MAX_FOUND) {
        let files: BTreeSet<String> = one
            .files
            .iter()
            .filter_map(|file| below_root(&check.folder, file))
            .collect();
        let place = match (&one.test, one.files.first()) {
            (Some(test), _) => test.as_str(),
            (None, Some(file)) => file.as_str(),
            (None, None) => "",
        };
        let signature = signature::make_signature(one.tool, place, &one.message);
        let failure = failures
            .entry(signature.clone())
            .or_insert_with(|| CheckFailure {
                signature,
                text: program_output::truncate_text(one.text.trim_end(), MAX_TEXT).to_owned(),
                files: Vec::new(),
                test: one.test,
            });
        let all: BTreeSet<String> = failure.files.drain(..).chain(files).collect();
        failure.files = all.into_iter().collect();
    }
    failures.into_values().take(MAX_FAILURES).collect()
}

/// Converts a path that a program in `folder` printed to one relative to the root. `None` for a path outside the tree or in installed
/// packages.
fn below_root(folder: &str, path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    if path.starts_with('/')
        || path.contains("node_modules/")
        || path.contains("site-packages/")
        || path.contains(':')
    {
        return None;
    }
    let joined = join_path(folder, &path);
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
