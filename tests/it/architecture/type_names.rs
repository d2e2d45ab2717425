//! One name, one type: whoever searches for a type's name finds one declaration.

use std::collections::BTreeMap;

use super::scan::Source;

/// Names that two files declare. They stand in arguments, schemas and formats, where a new name would change what users see. The list only shrinks.
const SHARED: [&str; 3] = ["Discrimination", "Effect", "ItemLine"];

/// Returns what is wrong with the names of types: those that several files declare, and those of the list that no longer are.
pub fn check_type_names(sources: &[Source]) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources {
        // The tests of a file come last.
        let code = source
            .text
            .split("\n#[cfg(test)]\nmod ")
            .next()
            .unwrap_or_default();
        for name in code.lines().filter_map(declared_type) {
            let known = files.entry(name).or_default();
            if known.last() != Some(&source.path.as_str()) {
                known.push(&source.path);
            }
        }
    }
    let mut wrong: Vec<String> = files
        .iter()
        .filter(|(name, files)| files.len() > 1 && !SHARED.contains(name))
        .map(|(name, files)| {
            format!(
                "`{name}` is a type of {}: name one by what it holds",
                files.join(" and of ")
            )
        })
        .collect();
    let is_shared = |name: &&&str| files.get(**name).is_some_and(|files| files.len() > 1);
    wrong.extend(
        SHARED
            .iter()
            .filter(|name| !is_shared(name))
            .map(|name| format!("`{name}` is the name of one type now: take it off the list")),
    );
    wrong
}

/// Returns the name of the type that a line at the margin declares.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        rest.strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
            .map_or(rest.trim_start(), |(_, rest)| rest)
    });
    let rest = ["struct ", "enum ", "trait ", "type "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let end = rest
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .unwrap_or(rest.len());
    Some(&rest[..end])
}

#[test]
fn check_type_names_finds_a_second_declaration() {
    let source = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let sources = [
        source(
            "src/a.rs",
            "pub(super) struct Row<'a> {\n}\n\n#[cfg(test)]\nmod tests {\nstruct Other;\n}\n",
        ),
        source("src/b.rs", "enum Row {\n}\nstruct Other;\n"),
    ];
    let wrong = check_type_names(&sources);
    assert_eq!(
        wrong[0],
        "`Row` is a type of src/a.rs and of src/b.rs: name one by what it holds"
    );
    assert_eq!(wrong.len(), 1 + SHARED.len());
}
