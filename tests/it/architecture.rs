//! Holds the code against its own plan: the layer table in `src/lib.rs` and the invariants that a parser can see.
//!
//! The sources are parsed, not searched: [`scan`] collects every path a module names (in `use` items, expressions, types, attributes and
//! macro arguments), [`resolve`] follows renames, groups, globs and re-exports to where a name comes from, [`table`] reads the layers
//! from the documentation, so that the documentation is the rule, [`rules`] says what may be named where, and [`cycles`] that files of a
//! layer use each other in one direction.

mod cycles;
mod resolve;
mod rules;
mod scan;
mod snippets;
mod table;

use std::fs;
use std::path::Path;

use resolve::Resolver;
use rules::Violation;
use scan::{Facts, Source};
use table::LayerTable;

/// Checks a set of sources; `src/lib.rs` is among them and holds the table.
fn check(sources: &[Source], templates: &[Source]) -> Vec<Violation> {
    let Some(root) = sources.iter().find(|source| source.path == "src/lib.rs") else {
        return vec![Violation::new(
            "src/lib.rs",
            1,
            "layer table",
            "there is no `src/lib.rs`",
        )];
    };
    let (facts, mut violations) = Facts::gather(sources, templates);
    match LayerTable::parse(&root.text) {
        Ok(table) => violations.extend(rules::check_layers(&table, &facts, &Resolver::new(&facts))),
        Err(message) => violations.push(Violation::new("src/lib.rs", 1, "layer table", &message)),
    }
    violations.extend(rules::check_invariants(&facts, &Resolver::new(&facts)));
    violations.extend(cycles::check_cycles(&facts, &Resolver::new(&facts)));
    violations.sort();
    violations.dedup();
    violations
}

/// Reads all files with the given ending below a folder of the package, in path order; none when there is no such folder.
fn read_tree(folder: &str, ending: Option<&str>) -> Vec<Source> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources: Vec<Source> = walkdir::WalkDir::new(package.join(folder))
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| {
            ending.is_none_or(|ending| {
                entry
                    .path()
                    .extension()
                    .is_some_and(|extension| extension == ending)
            })
        })
        .map(|entry| {
            let relative = entry
                .path()
                .strip_prefix(package)
                .expect("the walk started below the package");
            let parts: Vec<_> = relative
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect();
            let text = fs::read_to_string(entry.path())
                .unwrap_or_else(|error| panic!("{}: {error}", relative.display()));
            Source {
                path: parts.join("/"),
                text,
            }
        })
        .collect();
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    sources
}

#[test]
fn the_code_keeps_its_layers_and_invariants() {
    let sources = read_tree("src", Some("rs"));
    assert!(
        sources.len() > 10,
        "the walk found only {} source files",
        sources.len()
    );
    let violations = check(&sources, &read_tree("templates", None));
    let report: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(
        violations.is_empty(),
        "{} places break the plan of the house:\n  {}\n",
        violations.len(),
        report.join("\n  ")
    );
}
