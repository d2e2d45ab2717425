//! Versions of a suite's content: runs on different contents are different experiments.
//!
//! Only content that affects outcomes is hashed: a description, a tag, a comment or the layout of `suite.yaml` does not matter, nor does a
//! key that says what holds without it. So a key that the program learns tomorrow changes no version of today. Earlier releases hashed
//! every byte, or every key. These hashes are also computed, to recognise their runs: a store goes on with the version that it knows.

use std::collections::BTreeMap;
use std::fs::{self};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{
    DEFAULT_STARTUP_TIMEOUT, DEFAULT_TIMEOUT, RunPhase, SUITE_FILE, Suite, load_questions,
};
use crate::document::duration::parse_duration;
use crate::document::{self, Node, ScalarKind, Value};
use crate::domain::{Problem, escape_invisible, to_hex};
use crate::files;

/// Start of the hashed data, so that another hashing scheme gives other versions.
const HASH_SCHEME: &[u8] = b"suite content 2\n";
const SCHEME_OF_BYTES: &[u8] = b"suite content 1\n";
/// Keys of `suite.yaml` that affect neither the task, nor the tests, nor the limits.
const COSMETIC_KEYS: [&str; 3] = ["description", "metrics", "tags"];
/// Characters that separate words in a shell. `=` is included because options such as `--config=FILE` name files.
const BETWEEN_WORDS: &[char] = &[
    '\'', '"', '`', '=', ';', '&', '|', '(', ')', '<', '>', ',', '{', '}',
];

/// The parts of a suite that affect outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteContents {
    /// SHA-256 of all parts, as lower-case hex.
    pub version: String,
    /// The versions of the same content in earlier releases, except `bytes`. Empty if they equal `version`.
    pub earlier: Vec<String>,
    /// SHA-256 of every byte of every file, the version in the first releases.
    pub bytes: String,
    /// SHA-256 of each part by name: `key/timeout` for a key of `suite.yaml`, `suite/…` for a file in the suite's folder, `root/…` for a
    /// file in the repository, `outside/…` for other files.
    pub parts: BTreeMap<String, String>,
}

/// Returns the SHA-256 of everything that affects outcomes. See [`suite_contents`].
pub fn suite_version(root: &Path, suite: &Suite) -> Result<String, Vec<Problem>> {
    suite_contents(root, suite).map(|contents| contents.version)
}

/// Returns the content that affects outcomes: the keys of `suite.yaml` except description, tags and metrics; the requirements or questions;
/// and the files named in the shared and functional test commands.
///
/// A test file inside the suite's folder counts with the whole top-level entry that contains it, because tests use files beside them. The
/// same content has the same version on every machine and in every checkout: names are relative and sorted, and times are ignored, as are
/// hidden files and Python's caches. Line endings matter.
pub fn suite_contents(root: &Path, suite: &Suite) -> Result<SuiteContents, Vec<Problem>> {
    let mut files = BTreeMap::new();
    let roots = SuiteRoots {
        root,
        folder: &suite.folder,
    };
    let mut problems = Vec::new();
    for path in versioned_paths(root, suite) {
        if let Err((path, error)) = collect_digests(&path, &roots, &mut files) {
            let message = format!("cannot be read: {}", escape_invisible(&error.to_string()));
            problems.push(Problem::in_file(
                escape_invisible(&path.display().to_string()),
                message,
            ));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let bytes = hash_parts(SCHEME_OF_BYTES, &files);
    // A file that cannot be parsed is hashed as it is. It is rejected elsewhere.
    let file = suite.folder.join(SUITE_FILE);
    if let Some(questions) = suite.questions.as_deref()
        && let Ok(spec) = load_questions(questions)
    {
        files.insert(
            roots.file_label(questions),
            Sha256::digest(spec.version).into(),
        );
    }
    let mut as_written = files.clone();
    if let Some(keys) = read_keys(&file) {
        files.remove(&roots.file_label(&file));
        as_written.remove(&roots.file_label(&file));
        as_written.extend(
            keys.iter()
                .map(|(key, node)| (format!("key/{key}"), digest_node(node))),
        );
        files.extend(keys.iter().filter_map(|(key, node)| {
            Some((
                format!("key/{key}"),
                digest_node(&without_defaults(key, node)?),
            ))
        }));
    }
    let version = hash_parts(HASH_SCHEME, &files);
    let earlier = Vec::from_iter(
        Some(hash_parts(HASH_SCHEME, &as_written)).filter(|earlier| *earlier != version),
    );
    let parts = files
        .iter()
        .map(|(label, digest)| (label.clone(), to_hex(digest)))
        .collect();
    Ok(SuiteContents {
        version,
        earlier,
        bytes,
        parts,
    })
}

fn hash_parts(scheme: &[u8], parts: &BTreeMap<String, [u8; 32]>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(scheme);
    for (label, digest) in parts {
        hasher.update(format!("{}:{label}\n", label.len()));
        hasher.update(digest);
    }
    to_hex(&hasher.finalize())
}

/// Returns the keys of `suite.yaml` that affect outcomes.
fn read_keys(file: &Path) -> Option<BTreeMap<String, Node>> {
    let text = files::read_to_string(file).ok()?;
    let Value::Map(entries) = document::parse(SUITE_FILE, &text).ok()?.value else {
        return None;
    };
    let deciding = entries
        .into_iter()
        .filter(|(key, _)| !COSMETIC_KEYS.contains(&key.text.as_str()));
    Some(deciding.map(|(key, node)| (key.text, node)).collect())
}

/// Returns the value of a key without the parts that say what holds without them. `None` if nothing is left.
fn without_defaults(key: &str, node: &Node) -> Option<Node> {
    let mut node = node.clone();
    if let Value::Map(entries) = &mut node.value
        && ["server", "tests"].contains(&key)
    {
        entries.retain(|(name, value)| !is_default(&format!("{key}.{}", name.text), value));
    }
    (!is_default(key, &node)).then_some(node)
}

/// Returns whether a key has the value that it has if it is left out.
fn is_default(key: &str, node: &Node) -> bool {
    match &node.value {
        // An empty list grants it to nobody, and without the key everybody has it.
        Value::List(items) if key == "network" => {
            let named: Vec<&str> = items
                .iter()
                .filter_map(|item| {
                    if let Value::Scalar(scalar) = &item.value {
                        Some(scalar.text.as_str())
                    } else {
                        None
                    }
                })
                .collect();
            RunPhase::ALL
                .iter()
                .all(|phase| named.contains(&phase.name()))
        }
        Value::Scalar(scalar) => {
            let time = match key {
                "timeout" => Some(DEFAULT_TIMEOUT),
                "server.startup_timeout" => Some(DEFAULT_STARTUP_TIMEOUT),
                _ => None,
            };
            scalar.kind == ScalarKind::Null
                || time.is_some_and(|time| parse_duration(&scalar.text) == Ok(time))
        }
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
    }
}

/// Returns the digest of a document's values, whatever their notation.
fn digest_node(node: &Node) -> [u8; 32] {
    let mut text = String::new();
    write_node(node, &mut text);
    Sha256::digest(text).into()
}

fn write_node(node: &Node, text: &mut String) {
    match &node.value {
        Value::Scalar(scalar) => {
            let kind = match scalar.kind {
                ScalarKind::Text => 't',
                ScalarKind::Null => 'n',
                ScalarKind::Bool(_) => 'b',
                ScalarKind::Integer(_) | ScalarKind::Float(_) => 'f',
            };
            text.push_str(&format!("{kind}{}:{}", scalar.text.len(), scalar.text));
        }
        Value::List(items) => {
            text.push_str(&format!("l{}:", items.len()));
            for item in items {
                write_node(item, text);
            }
        }
        Value::Map(entries) => {
            text.push_str(&format!("m{}:", entries.len()));
            let sorted: BTreeMap<&str, &Node> = entries
                .iter()
                .map(|(key, node)| (key.text.as_str(), node))
                .collect();
            for (key, node) in sorted {
                text.push_str(&format!("{}:{key}", key.len()));
                write_node(node, text);
            }
        }
    }
}

/// Returns the files and folders that affect a suite's outcomes, inside its folder or not.
pub fn versioned_paths(root: &Path, suite: &Suite) -> Vec<PathBuf> {
    let fixed = [
        suite.requirements.clone(),
        suite.workspace.clone(),
        suite.questions.clone(),
    ]
    .into_iter()
    .flatten();
    std::iter::once(suite.folder.join(SUITE_FILE))
        .chain(fixed)
        .chain(tested_paths(root, suite))
        .collect()
}

/// Returns the files and folders that the shared and functional commands name.
pub fn tested_paths(root: &Path, suite: &Suite) -> Vec<PathBuf> {
    named_paths(
        root,
        suite,
        suite.tests.shared.iter().chain(&suite.tests.functional),
    )
}

/// Returns the files and folders of the suite that others than its shared and functional tests name: setup, own tests, the server, and the
/// commands that build and test.
pub fn paths_beside_tests(root: &Path, suite: &Suite) -> Vec<PathBuf> {
    let server = suite.server.iter().map(|server| &server.command);
    let others = [&suite.build_command, &suite.test_command];
    named_paths(
        root,
        suite,
        suite
            .setup
            .iter()
            .chain(&suite.tests.own)
            .chain(server)
            .chain(others.into_iter().flatten()),
    )
}

fn named_paths<'c>(
    root: &Path,
    suite: &Suite,
    commands: impl Iterator<Item = &'c String>,
) -> Vec<PathBuf> {
    let roots = SuiteRoots {
        root,
        folder: &suite.folder,
    };
    commands
        .map(|command| roots.expand_variables(command))
        .flat_map(|command| {
            file_words(&command)
                .flat_map(|word| roots.named_paths(word))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the words of a command that may name files, without a test's name after `::`.
fn file_words(command: &str) -> impl Iterator<Item = &str> {
    let words = command
        .split(|character: char| character.is_whitespace() || BETWEEN_WORDS.contains(&character));
    words
        .filter_map(|word| word.split("::").next())
        .filter(|word| !word.chars().all(|character| character == '.'))
}

struct SuiteRoots<'a> {
    root: &'a Path,
    folder: &'a Path,
}

/// Variables with folders and addresses that are never a suite's.
const OTHER_VARIABLES: [&str; 5] = ["EVAL_WORKSPACE", "EVAL_BASE_URL", "TMPDIR", "HOME", "PATH"];
/// Variables that the name or the folder of the suite has.
const SUITE_VARIABLES: [&str; 2] = ["EVAL_SUITE_DIR", "EVAL_SUITE"];

impl SuiteRoots<'_> {
    /// Returns the suite's folder as commands name it, which start at the root.
    fn shown_folder(&self) -> PathBuf {
        let folder = normalize_path(self.folder);
        relative_inside(&normalize_path(self.root), &folder)
            .map_or_else(|| PathBuf::from("."), Path::to_owned)
    }

    /// Puts in place of variables what they stand for in a path. Of a variable that only the shell knows, the path behind it is left.
    fn expand_variables(&self, command: &str) -> String {
        let folder = self.shown_folder();
        let values = [
            folder.to_string_lossy().into_owned(),
            self.folder
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        ];
        let mut expanded = String::with_capacity(command.len());
        let mut rest = command;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            let inner = after.strip_prefix('{').unwrap_or(after);
            let end = inner
                .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
                .unwrap_or(inner.len());
            let (name, behind) = inner.split_at(end);
            let behind = if after.starts_with('{') {
                behind.split_once('}').map_or("", |(_, behind)| behind)
            } else {
                behind
            };
            rest = if let Some(at) = SUITE_VARIABLES.iter().position(|known| *known == name) {
                expanded.push_str(&values[at]);
                behind
            } else if OTHER_VARIABLES.contains(&name) {
                // What follows is in no suite.
                behind.trim_start_matches(|character: char| {
                    !character.is_whitespace() && !BETWEEN_WORDS.contains(&character)
                })
            } else if name.is_empty() {
                after
            } else {
                behind.trim_start_matches('/')
            };
        }
        expanded.push_str(rest);
        expanded
    }

    /// Returns the paths that a word of a command names, if they are part of the suite's tests. A command starts at the root, but may first
    /// change into the suite's folder, or into one above it.
    fn named_paths(&self, word: &str) -> Vec<PathBuf> {
        if word.contains(['*', '?', '[']) {
            return self.matching_paths(word);
        }
        let (root, folder) = (normalize_path(self.root), normalize_path(self.folder));
        let is_above = |path: &Path| {
            let path = normalize_path(path);
            path != root && path != folder && folder.starts_with(&path) && path.starts_with(&root)
        };
        let between = self
            .folder
            .ancestors()
            .skip(1)
            .filter(|path| is_above(path));
        let mut found: Vec<PathBuf> = [self.root, self.folder]
            .into_iter()
            .chain(between)
            .map(|base| base.join(word))
            .filter(|path| path.exists())
            .filter_map(|path| {
                if is_above(&path) && !word.contains("..") {
                    Some(folder.clone())
                } else {
                    self.suite_part(&path)
                }
            })
            .collect();
        found.dedup();
        found
    }

    /// Returns the parts of the suite's folder that a pattern of the shell matches, from the root or from the folder.
    fn matching_paths(&self, pattern: &str) -> Vec<PathBuf> {
        let parts: Vec<&str> = pattern
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        let shown = self.shown_folder();
        let folder: Vec<String> = shown
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let is_on_the_way = parts
            .iter()
            .zip(&folder)
            .all(|(part, name)| matches_wildcards(part, name));
        let below = match parts.get(folder.len()) {
            _ if parts.is_empty() => return Vec::new(),
            None if is_on_the_way && pattern.contains('/') => {
                return vec![normalize_path(self.folder)];
            }
            Some(part) if is_on_the_way => Some(*part),
            None | Some(_) => None,
        };
        // The patterns of an entry, and whether more follows.
        let from_folder = pattern.contains('/').then(|| (parts[0], parts.len() > 1));
        let from_root = below.map(|part| (part, parts.len() > folder.len() + 1));
        let Ok(entries) = std::fs::read_dir(self.folder) else {
            return Vec::new();
        };
        let mut found: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                from_folder
                    .into_iter()
                    .chain(from_root)
                    .any(|(part, is_folder)| {
                        matches_wildcards(part, &name) && (!is_folder || entry.path().is_dir())
                    })
            })
            .map(|entry| normalize_path(self.folder).join(entry.file_name()))
            .collect();
        found.sort();
        found
    }

    fn suite_part(&self, path: &Path) -> Option<PathBuf> {
        let (path, folder) = (normalize_path(path), normalize_path(self.folder));
        if let Some(inside) = relative_inside(&folder, &path) {
            return Some(
                inside
                    .components()
                    .next()
                    .map_or(folder.clone(), |first| folder.join(first)),
            );
        }
        // Neither the whole repository nor a path outside it is part of a suite.
        let is_part = relative_inside(&normalize_path(self.root), &path).is_some()
            && !folder.starts_with(&path);
        is_part.then_some(path)
    }

    /// Returns a file's name, the same in every checkout.
    fn file_label(&self, path: &Path) -> String {
        let path = normalize_path(path);
        let (base, relative) = match (
            relative_inside(&normalize_path(self.folder), &path),
            relative_inside(&normalize_path(self.root), &path),
        ) {
            (Some(relative), _) => ("suite", relative),
            (None, Some(relative)) => ("root", relative),
            // Only the name and content of an outside file are the same on other machines.
            (None, None) => (
                "outside",
                path.file_name().map_or(path.as_path(), Path::new),
            ),
        };
        let parts: Vec<_> = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        format!("{base}/{}", parts.join("/"))
    }
}

/// Returns whether a name matches a pattern of the shell. A set of characters matches any one.
fn matches_wildcards(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return name.is_empty();
    };
    let rest = &pattern[first.len_utf8()..];
    let mut characters = name.chars();
    let behind_first = characters.next().map(|_| characters.as_str());
    match first {
        '*' => {
            matches_wildcards(rest, name)
                || behind_first.is_some_and(|behind| matches_wildcards(pattern, behind))
        }
        '?' => behind_first.is_some_and(|behind| matches_wildcards(rest, behind)),
        '[' => {
            let behind_set = rest.split_once(']').map_or("", |(_, behind)| behind);
            behind_first.is_some_and(|behind| matches_wildcards(behind_set, behind))
        }
        literal => name
            .strip_prefix(literal)
            .is_some_and(|behind| matches_wildcards(rest, behind)),
    }
}

/// Returns the path from `base` down to `path`, or `None` if `path` is not below it.
fn relative_inside<'p>(base: &Path, path: &'p Path) -> Option<&'p Path> {
    let relative = path.strip_prefix(base).ok()?;
    // An empty base leaves every path as it is.
    relative
        .components()
        .all(|part| matches!(part, Component::Normal(_)))
        .then_some(relative)
}

/// Adds the digest of a file, or of all files in a folder.
fn collect_digests(
    path: &Path,
    roots: &SuiteRoots,
    files: &mut BTreeMap<String, [u8; 32]>,
) -> Result<(), (PathBuf, io::Error)> {
    let at = |error| (path.to_owned(), error);
    if !fs::metadata(path).map_err(at)?.is_dir() {
        files.insert(roots.file_label(path), digest_file(path).map_err(at)?);
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(at)? {
        let entry = entry.map_err(at)?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') || name == "__pycache__" {
            continue;
        }
        let kind = entry.file_type().map_err(at)?;
        if kind.is_symlink() {
            // Hash the link target, not its content: links can form cycles.
            let target = fs::read_link(entry.path()).map_err(at)?;
            let digest = Sha256::digest(format!("link to {}", target.display()));
            files.insert(roots.file_label(&entry.path()), digest.into());
        } else if kind.is_dir() || kind.is_file() {
            collect_digests(&entry.path(), roots, files)?;
        }
    }
    Ok(())
}

fn digest_file(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = files::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// Resolves `.` and `..` in the path's text, so that different spellings of a path compare equal.
fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_files() {
        let command = "cd suites/s && FLAGS=-v pytest --config='a b.ini' \"tests/t.py::test_one\" . | tee>log";
        let expected = [
            "cd",
            "suites/s",
            "FLAGS",
            "-v",
            "pytest",
            "--config",
            "a",
            "b.ini",
            "tests/t.py",
            "tee",
            "log",
        ];
        assert_eq!(file_words(command).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn words_with_variables_patterns_and_folders_above_name_files() {
        let root = Path::new("");
        let folder = Path::new("src/suite");
        let roots = SuiteRoots { root, folder };
        let named = |command: &str| -> Vec<String> {
            let mut found: Vec<String> = file_words(&roots.expand_variables(command))
                .flat_map(|word| roots.named_paths(word))
                .map(|path| path.to_string_lossy().into_owned())
                .collect();
            found.sort();
            found.dedup();
            found
        };
        let tests = ["src/suite/tests.rs"];
        for command in [
            "sh \"$EVAL_SUITE_DIR/tests.rs\"",
            "sh ${EVAL_SUITE_DIR}/tests.rs",
            "sh \"src/$EVAL_SUITE/tests.rs\"",
            "sh src/suite/test*.rs",
            "sh src/*/tests.rs",
            "sh $X/tests.rs",
            "sh $X/suite/tests.rs",
        ] {
            assert_eq!(named(command), tests, "{command}");
        }
        for command in [
            "cd src && sh suite/tests.rs",
            "for x in src; do sh $x/suite/tests.rs; done",
            "for x in src/*; do sh $x; done",
            "cd $EVAL_SUITE_DIR && sh tests.rs",
        ] {
            assert!(
                named(command).contains(&"src/suite".to_owned()),
                "{command}"
            );
        }
        for command in [
            "test -f $EVAL_WORKSPACE/tests.rs",
            "curl -sf \"${EVAL_BASE_URL}/tests.rs\"",
            "grep -c '[a-z]*/x' out",
            "sh *.sh",
        ] {
            assert_eq!(named(command), Vec::<String>::new(), "{command}");
        }
    }

    #[test]
    fn only_what_is_below_the_root_is_part_of_a_suite() {
        // The package's own folder, where its tests start.
        for root in ["", ".", "src/.."] {
            let root = Path::new(root);
            let roots = SuiteRoots {
                root,
                folder: &root.join("src/suite"),
            };
            let folder = normalize_path(&root.join("src/suite"));
            assert_eq!(
                roots.named_paths("Cargo.toml"),
                [PathBuf::from("Cargo.toml")]
            );
            assert_eq!(
                roots.named_paths("src/suite/tests.rs"),
                [folder.join("tests.rs")]
            );
            assert_eq!(roots.named_paths("mod.rs"), [folder.join("mod.rs")]);
            assert_eq!(
                roots.named_paths("./src/suite"),
                std::slice::from_ref(&folder)
            );
            assert_eq!(
                roots.named_paths("src"),
                std::slice::from_ref(&folder),
                "what names a folder above names the suite"
            );
            for word in ["..", "../..", "src/..", "/", "/bin/sh", "gone"] {
                assert_eq!(
                    roots.named_paths(word),
                    Vec::<PathBuf>::new(),
                    "{word} from {}",
                    root.display()
                );
            }
            assert_eq!(
                roots.file_label(Path::new("src/suite/tests.rs")),
                "suite/tests.rs"
            );
            assert_eq!(
                roots.file_label(Path::new("./src/lib.rs")),
                "root/src/lib.rs"
            );
            assert_eq!(
                roots.file_label(Path::new("/elsewhere/a.md")),
                "outside/a.md"
            );
        }
    }
}
