//! Every link of a document leads to a file of the repository, and to a heading that this file has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the Markdown files of the repository's documentation, as paths from its root.
pub fn documents() -> Vec<String> {
    let folders = ["docs", "packaging", "results", "suites", "npm"];
    let below = folders
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(Path::new(ROOT).join(folder)).sort_by_file_name())
        .map(|entry| entry.expect("the folder can be read").into_path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .filter(|path| {
            path.file_name().is_some_and(|name| {
                name == "README.md" || path.starts_with(Path::new(ROOT).join("docs"))
            }) || path.ends_with("packaging/RELEASING.md")
        })
        .map(|path| {
            let below = path.strip_prefix(ROOT).expect("below the repository");
            below.display().to_string()
        });
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(below)
    .collect()
}

/// Returns the text of a file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns a document's lines outside of its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors that GitHub gives a document's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a pattern");
    for line in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let title = link.replace_all(title.trim(), "$1").to_lowercase();
        let anchor: String = title
            .chars()
            .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let repeats = (1..).map(|count| format!("{anchor}-{count}"));
        let name = [anchor.clone()]
            .into_iter()
            .chain(repeats)
            .find(|name| !found.contains(name));
        found.extend(name);
    }
    found
}

/// Returns the addresses of a text's links to files, with what follows the `#`.
fn addresses(text: &str) -> Vec<(String, Option<String>)> {
    let links = Regex::new(r"\]\(([^)\s]+)\)").expect("a pattern");
    prose(text)
        .flat_map(|line| links.captures_iter(line).map(|found| found[1].to_owned()))
        .filter(|address| !address.contains("://") && !address.starts_with("mailto:"))
        .map(|address| match address.split_once('#') {
            Some((path, anchor)) => (path.to_owned(), Some(anchor.to_owned())),
            None => (address, None),
        })
        .collect()
}

/// Returns what is wrong with the links of a document.
fn broken(document: &str, text: &str) -> Vec<String> {
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut faults = Vec::new();
    for (path, anchor) in addresses(text) {
        let target = if path.is_empty() {
            PathBuf::from(document)
        } else {
            folder.join(&path)
        };
        let file = Path::new(ROOT).join(&target);
        if !file.exists() {
            faults.push(format!("{document}: {path} is not there"));
        } else if let (Some(anchor), true) = (anchor, file.extension().is_some_and(|e| e == "md")) {
            let page = if path.is_empty() {
                text.to_owned()
            } else {
                fs::read_to_string(&file).unwrap_or_default()
            };
            if !anchors(&page).contains(&anchor) {
                faults.push(format!("{document}: {path}#{anchor} is no heading there"));
            }
        }
    }
    faults
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading() {
    let faults: Vec<String> = documents()
        .iter()
        .flat_map(|document| broken(document, &read(document)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_wrong_link_is_found() {
    assert_eq!(
        broken("docs/README.md", "[a](../README.md#try-it) [b](#x)\n# X"),
        [""; 0]
    );
    for wrong in [
        "[a](nowhere.md)",
        "[a](../README.md#nowhere)",
        "[a](#nowhere)",
    ] {
        assert_eq!(broken("docs/README.md", wrong).len(), 1, "{wrong}");
    }
}

/// Every page is one click from the index, or two by a folder's own page.
#[test]
fn the_index_leads_to_every_page() {
    let linked = |page: &str| -> BTreeSet<PathBuf> {
        let folder = Path::new(page).parent().unwrap_or(Path::new(""));
        addresses(&read(page))
            .into_iter()
            .filter_map(|(path, _)| fs::canonicalize(Path::new(ROOT).join(folder).join(path)).ok())
            .collect()
    };
    let mut reached = linked("docs/README.md");
    for index in documents()
        .iter()
        .filter(|page| page.starts_with("docs/") && page.ends_with("/README.md"))
    {
        reached.extend(linked(index));
    }
    let missing: Vec<String> = documents()
        .into_iter()
        .filter(|page| page.starts_with("docs/") && page != "docs/README.md")
        .filter(|page| {
            fs::canonicalize(Path::new(ROOT).join(page)).is_ok_and(|path| !reached.contains(&path))
        })
        .collect();
    assert!(missing.is_empty(), "not linked from an index: {missing:?}");
}
