//! The supported formats, one line each.

use super::format::ForeignFormat;
use super::importer::FormatImporter;

/// One line per format. Apart from this line, only the format's own files know it. To add a format, see CONTRIBUTING.md.
///
/// A file belongs to the first format that claims it, so formats with distinctive names come before formats that share their shape with
/// others.
const FORMATS: [&FormatImporter; 30] = [
    &super::export::FORMAT,
    &super::inspect::FORMAT,
    &super::harbor::FORMAT,
    &super::terminal_bench::FORMAT,
    &super::promptfoo::FORMAT,
    &super::lm_eval::FORMAT,
    &super::helm::FORMAT,
    &super::swe_bench::FORMAT,
    &super::aider::FORMAT,
    &super::evalperf::FORMAT,
    &super::every_eval_ever::FORMAT,
    &super::agent_skills::FORMAT,
    &super::zelda::FORMAT,
    &super::cogni::FORMAT,
    &super::kotef::FORMAT,
    &super::ralph::FORMAT,
    &super::metr::FORMAT,
    &super::hal::FORMAT,
    &super::deepeval::FORMAT,
    &super::langfuse::FORMAT,
    &super::opentelemetry::FORMAT,
    &super::pytest_json_report::FORMAT,
    &super::jest::FORMAT,
    &super::mocha::FORMAT,
    &super::playwright::FORMAT,
    &super::evalite::FORMAT,
    &super::claude_code::FORMAT,
    &super::codex::FORMAT,
    &super::ctrf::FORMAT,
    &super::junit::FORMAT,
];

/// Returns the formats in the order in which they may claim a file.
pub(super) fn all_importers() -> impl Iterator<Item = &'static FormatImporter> {
    FORMATS.into_iter()
}

pub(super) fn find_importer(name: &str) -> Option<&'static FormatImporter> {
    all_importers().find(|format| format.facts.name == name)
}

impl ForeignFormat {
    /// Returns the formats in the order in which they may claim a file.
    pub fn all() -> impl Iterator<Item = Self> {
        all_importers().map(FormatImporter::handle)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        find_importer(name).map(FormatImporter::handle)
    }

    /// Returns the functions that read the format.
    pub(super) fn importer(self) -> &'static FormatImporter {
        find_importer(self.name()).expect("handles are made of formats in the registry")
    }

    /// Returns whether costs are computed from the tokens in the format's files.
    pub(super) fn prices_tokens(self) -> bool {
        self.importer().prices_tokens
    }

    /// Returns whether a later run of the format may replace an earlier run of the same task.
    pub fn has_retries(self) -> bool {
        self.importer().retry_tag.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Files that name another format, each with the reason.
    const EXCEPTIONS: [(&str, &str); 2] = [
        // promptfoo's JUnit XML has a layout of its own, and names promptfoo at the root.
        ("junit/header.rs", "promptfoo"),
        // promptfoo writes an evaluation as JSON and as JUnit XML, and JSON holds more. Only promptfoo's module can know that both are one.
        ("promptfoo/exports.rs", "junit"),
    ];

    #[test]
    fn a_format_is_its_own_file_and_one_line_of_the_registry() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/foreign");
        let mut found = BTreeSet::new();
        for entry in walkdir::WalkDir::new(&folder)
            .into_iter()
            .map(|entry| entry.expect("readable"))
        {
            if !entry.file_type().is_file() {
                continue;
            }
            let below = entry
                .path()
                .strip_prefix(&folder)
                .expect("below the folder")
                .to_str()
                .expect("UTF-8")
                .replace('\\', "/");
            let text = fs::read_to_string(entry.path()).expect("readable");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for format in all_importers() {
                let (name, module) = (format.facts.name, format.facts.name.replace('-', "_"));
                let is_own =
                    below == format!("{module}.rs") || below.starts_with(&format!("{module}/"));
                let lines = code
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"));
                let naming: Vec<&str> = lines
                    .filter(|line| names(line, name, &module))
                    .map(str::trim)
                    .collect();
                match below.as_str() {
                    _ if is_own || naming.is_empty() => {}
                    "mod.rs" => assert_eq!(naming, [format!("mod {module};")]),
                    "registry.rs" => assert_eq!(naming, [format!("&super::{module}::FORMAT,")]),
                    _ => {
                        found.insert((below.clone(), name));
                    }
                }
            }
        }
        let expected: BTreeSet<(String, &str)> = EXCEPTIONS
            .into_iter()
            .map(|(file, format)| (file.to_owned(), format))
            .collect();
        assert_eq!(
            found, expected,
            "files that name a format which is not theirs"
        );
    }

    /// Returns whether a line of code names the format's module in a path or a declaration, or its name as a text.
    fn names(line: &str, name: &str, module: &str) -> bool {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let in_code = line.match_indices(module).any(|(place, _)| {
            let (before, after) = (&line[..place], &line[place + module.len()..]);
            let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
            is_whole
                && (before.ends_with("::") || before.ends_with("mod ") || after.starts_with("::"))
        });
        in_code || line.contains(&format!("\"{name}\""))
    }

    #[test]
    fn names_are_few_characters_and_told_apart() {
        let names: BTreeSet<&str> = all_importers().map(|format| format.facts.name).collect();
        assert_eq!(names.len(), FORMATS.len(), "no two formats share a name");
        for format in ForeignFormat::all() {
            assert_eq!(ForeignFormat::from_name(format.name()), Some(format));
            assert!(
                format
                    .name()
                    .chars()
                    .all(|character| character.is_ascii_lowercase() || character == '-'),
                "{format:?}"
            );
            assert!(
                !format.title().is_empty() && format.version() > 0,
                "{format:?}"
            );
        }
    }
}
