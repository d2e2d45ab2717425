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
mod type_names;

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

/// Returns the sources of all crates as the modules of one, since the rules speak of layers, whatever crate has them: a crate of one layer is that
/// module, and one of several has them as its modules.
fn read_layers() -> Vec<Source> {
    let mut sources = read_tree("src", Some("rs"));
    let root = sources
        .iter_mut()
        .find(|source| source.path == "src/lib.rs")
        .expect("the root");
    let mut layers = Vec::new();
    let mut lines = Vec::new();
    for line in root.text.lines() {
        let Some(crate_use) = line.strip_prefix("pub use evalreport_") else {
            lines.push(line.to_owned());
            continue;
        };
        let crate_use = crate_use.trim_end_matches(';');
        let (name, modules) = match (crate_use.split_once(" as "), crate_use.split_once("::")) {
            (Some((name, layer)), _) => (name, vec![layer]),
            (None, Some((name, modules))) => {
                (name, modules.trim_matches(['{', '}']).split(", ").collect())
            }
            (None, None) => panic!("no crate of layers: {line}"),
        };
        lines.extend(modules.iter().map(|layer| format!("pub mod {layer};")));
        let modules: Vec<String> = modules.into_iter().map(str::to_owned).collect();
        layers.push((name.replace('_', "-"), modules));
    }
    root.text = lines.join("\n");
    let all: Vec<String> = layers
        .iter()
        .flat_map(|(_, modules)| modules.iter().cloned())
        .collect();
    for (name, modules) in &layers {
        let folder = format!("crates/evalreport-{name}/src");
        for source in read_tree(&folder, Some("rs")) {
            let inner = source.path[folder.len() + 1..].to_owned();
            let source = match modules.as_slice() {
                [layer] => Source {
                    path: match inner.as_str() {
                        "lib.rs" => format!("src/{layer}/mod.rs"),
                        inner => format!("src/{layer}/{inner}"),
                    },
                    text: within_layer(&source.text, layer, &all),
                },
                _ if inner == "lib.rs" => continue,
                _ => Source {
                    path: format!("src/{inner}"),
                    text: source.text,
                },
            };
            sources.push(source);
        }
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    sources
}

/// Returns the text of a crate with a single layer, in which `crate` is that layer except before the name of another.
fn within_layer(text: &str, layer: &str, layers: &[String]) -> String {
    let mut whole = String::new();
    let mut parts = text.split("crate::");
    whole.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let name: String = part
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        let is_layer = layers.contains(&name);
        whole.push_str("crate::");
        if !is_layer {
            whole.push_str(layer);
            whole.push_str("::");
        }
        whole.push_str(part);
    }
    // Where a layer names those below it, under the names that they have in the house.
    let lines: Vec<&str> = whole
        .lines()
        .filter(|line| !line.starts_with("use evalreport_"))
        .collect();
    lines.join(
        "
",
    )
}

#[test]
fn the_code_keeps_its_layers_and_invariants() {
    let sources = read_layers();
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

#[test]
fn no_type_shares_its_name_with_another() {
    let wrong = type_names::check_type_names(&read_layers());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
