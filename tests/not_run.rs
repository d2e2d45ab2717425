//! The last target of `cargo test`: says which tests were not run, and for want of what. Its name comes after that of `it`, as cargo runs
//! them by name. It names nothing of the library, so that it is linked at once.

#![expect(clippy::print_stdout, reason = "it is a program")]

#[path = "it/not_run.rs"]
mod not_run;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

fn main() {
    // Other runners ask for a list of tests first. Each test is a process of theirs, in no order: there is no end to report at.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let mut wanting: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in fs::read_dir(not_run::folder())
        .into_iter()
        .flatten()
        .flatten()
    {
        let missing = fs::read_to_string(entry.path()).unwrap_or_default();
        wanting
            .entry(missing)
            .or_default()
            .push(entry.file_name().to_string_lossy().into_owned());
    }
    forget();
    print!("{}", report(&wanting));
}

/// Removes what is recorded of this run, and of runs that never came to their end.
fn forget() {
    let this = not_run::folder();
    for entry in this
        .parent()
        .and_then(|all| fs::read_dir(all).ok())
        .into_iter()
        .flatten()
        .flatten()
    {
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|changed| changed.elapsed().ok());
        if entry.path() == this || age.is_some_and(|age| age > Duration::from_hours(24)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A line for what is missing, with the number of tests of each module.
fn report(wanting: &BTreeMap<String, Vec<String>>) -> String {
    let mut report = String::new();
    let mut ordered: Vec<_> = wanting.iter().collect();
    ordered.sort_by_key(|(missing, tests)| (std::cmp::Reverse(tests.len()), *missing));
    for (missing, tests) in ordered {
        let mut modules: BTreeMap<&str, usize> = BTreeMap::new();
        for test in tests {
            *modules
                .entry(test.split('.').next().unwrap_or_default())
                .or_default() += 1;
        }
        let mut modules: Vec<_> = modules.into_iter().collect();
        modules.sort_by_key(|(module, count)| (std::cmp::Reverse(*count), *module));
        let modules: Vec<String> = modules
            .into_iter()
            .map(|(module, count)| format!("{module} {count}"))
            .collect();
        let count = tests.len();
        report.push_str(&format!(
            "not run, for want of {missing}: {count} test{} ({})\n",
            if count == 1 { "" } else { "s" },
            modules.join(", ")
        ));
    }
    if !report.is_empty() {
        report
            .push_str("`.ci/run` installs all of it on Debian-like systems, and runs all tests.\n");
    }
    report
}
