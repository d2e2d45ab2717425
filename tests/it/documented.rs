//! What documents show is what the program prints, and every command in them is run or says why it is not.
//!
//! A block of commands has a mark in the line above it:
//!
//! | mark | of | is |
//! | --- | --- | --- |
//! | `<!-- shown: PLACE -->` | console blocks | run in the place; the output below each command is what it prints |
//! | `<!-- run: PLACE -->` | console blocks without output, shell scripts, steps of YAML | run in the place; everything succeeds |
//! | `<!-- not run: REASON -->` | all of them | not run, but our own commands in it have options that exist |
//!
//! In one document, blocks of one place follow each other in one folder. In expected output a line `…` is any lines, and `…` within a line is
//! any text. Workflows of this repository have the mark `# not run: REASON` above a step or a job.
//!
//! `EVALREPORT_DOCS=write cargo test documented` writes what the program prints into the documents, whole, for `git diff` to be read.

mod page;
mod places;
mod workflows;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::needs;
use page::{Block, Mark, blocks, is_commands, ours, scripts, shown};
use places::Place;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Documents with a test of their own, because they take the longest.
const ALONE: [&str; 6] = [
    "README.md",
    "docs/look-up/commands.md",
    "docs/do/run-nightly.md",
    "docs/do/publish-a-site.md",
    "docs/look-up/questions.md",
    "docs/do/test-a-skill.md",
];

/// Documents whose commands start other programs than ours.
const NEEDS: [(&str, &str); 3] = [
    ("docs/look-up/import/ralph.md", "python3"),
    ("docs/look-up/export-formats.md", "ssh-keygen"),
    ("docs/learn/first-gate.md", "python3"),
];

fn read(document: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(document)).expect("the document is in the repository")
}

/// Returns the paths of all documents that users and contributors read.
fn documents() -> Vec<String> {
    let elsewhere = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "npm/evalreport/README.md",
        "results/README.md",
        "suites/README.md",
        "suites/baselines/README.md",
    ];
    let pages = walkdir::WalkDir::new(Path::new(ROOT).join("docs"))
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("docs can be read"));
    // Hints hold places for values, such as `--resume …`.
    let pages = pages.filter(|entry| {
        entry.file_name() != "messages.md"
            && entry
                .path()
                .extension()
                .is_some_and(|ending| ending == "md")
    });
    let below = |path: &Path| {
        path.strip_prefix(ROOT)
            .expect("below the repository")
            .display()
            .to_string()
    };
    elsewhere
        .map(str::to_owned)
        .into_iter()
        .chain(pages.map(|entry| below(entry.path())))
        .collect()
}

/// Whether the lines are what is expected, with gaps.
fn fits(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((gap, rest)) if gap == "…" => {
            (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]))
        }
        Some((line, rest)) => lines
            .split_first()
            .is_some_and(|(first, others)| line_fits(line, first) && fits(rest, others)),
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    let (expected, line) = (expected.trim_end(), line.trim_end());
    let mut parts = expected.split('…');
    let Some(mut left) = line.strip_prefix(parts.next().expect("split gives a part")) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return left.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some((_, after)) = left.split_once(part) else {
            return false;
        };
        left = after;
    }
    true
}

/// Returns what the commands of a block with output print, or `None` if it is what the document shows.
fn printed(block: &Block, place: &Place) -> Option<Vec<String>> {
    let (mut actual, mut code, mut is_same) = (Vec::new(), 0, true);
    for shown in shown(block) {
        let got = if shown.command == "echo $?" {
            format!("{code}\n")
        } else {
            let got = place.run(&shown.command);
            code = got.code;
            got.stdout
        };
        let got: Vec<&str> = got.lines().collect();
        is_same &= fits(&shown.output, &got);
        actual.extend(shown.typed);
        actual.extend(got.into_iter().map(str::to_owned));
    }
    (!is_same).then_some(actual)
}

/// Runs every block that names a place and returns what differs or fails; writes what differs if that is asked.
fn differences(document: &str) -> Vec<String> {
    let text = read(document);
    let mut places = BTreeMap::<String, Place>::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut differences = Vec::new();
    let mut written = Vec::new();
    for block in blocks(&text) {
        let Some(Mark::Shown(name) | Mark::Run(name)) = &block.mark else {
            continue;
        };
        let place = places
            .entry(name.clone())
            .or_insert_with(|| Place::new(name));
        let at = format!("{document}:{}, in `{name}`", block.first + 1);
        if let Some(Mark::Run(_)) = block.mark {
            for script in scripts(&block) {
                let got = place.run(&format!("set -e\n{script}"));
                if got.code != 0 {
                    differences.push(format!(
                        "{at}: exit {}:\n{script}\n{}",
                        got.code, got.stdout
                    ));
                }
            }
        } else if let Some(actual) = printed(&block, place) {
            differences.push(format!("{at}, is now:\n{}", actual.join("\n")));
            written.push((block.first, block.lines.len(), actual));
        }
    }
    if std::env::var("EVALREPORT_DOCS").is_ok_and(|wish| wish == "write") {
        for (first, count, actual) in written.into_iter().rev() {
            lines.splice(first..first + count, actual);
        }
        fs::write(Path::new(ROOT).join(document), lines.join("\n") + "\n")
            .expect("the document can be written");
    }
    differences
}

#[track_caller]
fn shows_what_is_printed(document: &str) {
    assert!(ALONE.contains(&document), "{document} is run twice");
    let differences = differences(document);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn the_readme_shows_what_is_printed() {
    shows_what_is_printed("README.md");
}

#[test]
fn the_guide_shows_what_is_printed() {
    shows_what_is_printed("docs/look-up/commands.md");
}

#[test]
fn nightly_shows_what_is_printed() {
    shows_what_is_printed("docs/do/run-nightly.md");
}

#[test]
fn publishing_shows_what_is_printed() {
    needs!("python3");
    shows_what_is_printed("docs/do/publish-a-site.md");
}

#[test]
fn questions_show_what_is_printed() {
    shows_what_is_printed("docs/look-up/questions.md");
}

#[test]
fn with_and_without_shows_what_is_printed_and_its_settings_are_read() {
    shows_what_is_printed("docs/do/test-a-skill.md");
    let text = read("docs/do/test-a-skill.md");
    let settings: Vec<String> = blocks(&text)
        .into_iter()
        .filter(|block| block.language == "yaml")
        .map(|block| block.lines.join("\n"))
        .collect();
    assert_eq!(settings.len(), 2);
    for settings in settings {
        evalreport::config::parse("evalreport.yaml", &format!("version: 1\n{settings}\n"))
            .unwrap_or_else(|problems| panic!("{problems:#?}"));
    }
}

#[test]
fn formats_of_other_tools_show_what_is_printed() {
    all_show_what_is_printed(|document| document.starts_with("docs/look-up/import/"));
}

#[test]
fn all_other_documents_show_what_is_printed() {
    all_show_what_is_printed(|document| !document.starts_with("docs/look-up/import/"));
}

#[track_caller]
fn all_show_what_is_printed(is_meant: impl Fn(&str) -> bool) {
    let documents = documents()
        .into_iter()
        .filter(|document| is_meant(document) && !ALONE.contains(&document.as_str()));
    let documents =
        documents.filter(
            |document| match NEEDS.iter().find(|(of, _)| of == document) {
                Some((_, program)) if !needs::is_met(program) => {
                    needs::record(&format!("documented::{document}"), &[program]);
                    false
                }
                _ => true,
            },
        );
    let differences: Vec<String> = documents
        .flat_map(|document| differences(&document))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// Returns what is wrong with the marks of a document and with what is not run.
fn faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for block in blocks(text) {
        let mut fault = |what: &str| faults.push(format!("{}: {what}", block.first));
        let is_commands = is_commands(&block);
        match &block.mark {
            Some(Mark::Shown(_)) if block.language != "console" => {
                fault("only what a console shows can be shown");
            }
            Some(Mark::Run(_)) if !is_commands => fault("nothing in it can be run"),
            Some(Mark::NotRun(reason)) if is_commands && reason.split_whitespace().count() < 3 => {
                fault("give the reason why it is not run");
            }
            None if is_commands => fault(
                "commands that no test runs; name the place where they are run, or why they are not",
            ),
            None if block.language == "sql" => {
                fault(
                    "a query that no test runs; show what `evalreport sql` answers, or say why it is not run",
                );
            }
            _ => {}
        }
        if block.language == "console" && !matches!(block.mark, Some(Mark::Shown(_))) {
            let all = shown(&block);
            all.iter()
                .filter(|shown| !shown.output.is_empty())
                .for_each(|_| fault("output that no test sees"));
        }
        if let (Some(Mark::NotRun(_)), true) = (&block.mark, is_commands) {
            faults.extend(refused(
                scripts(&block).iter().flat_map(|script| ours(script)),
                block.first,
            ));
        }
    }
    faults.extend(refused(
        page::inline(text).iter().flat_map(|script| ours(script)),
        0,
    ));
    faults
}

/// Returns which of our commands have options that do not exist.
fn refused(commands: impl Iterator<Item = String>, line: usize) -> Vec<String> {
    let place = Place::new("empty");
    commands
        .filter_map(|command| {
            // What follows ` -- ` is a command of the reader's.
            let asked = match command.split_once(" -- ") {
                Some((own, others)) => format!("{own} --help -- {others}"),
                None => format!("{command} --help"),
            };
            let got = place.run(&asked);
            (got.code != 0).then(|| format!("{line}: {command}\n{}", got.stdout))
        })
        .collect()
}

#[test]
fn every_command_of_a_document_is_run_or_says_why_it_is_not() {
    let all = documents();
    assert!(
        ALONE
            .iter()
            .all(|alone| all.iter().any(|document| document == alone))
    );
    let faults: Vec<String> = all
        .iter()
        .flat_map(|document| {
            faults(&read(document))
                .into_iter()
                .map(move |fault| format!("{document}:{fault}"))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn marks_that_are_wrong_are_found() {
    let found = |text: &str| faults(&text.replace('\'', "```")).len();
    for right in [
        "<!-- run: empty -->\n'sh\nevalreport list\n'",
        "<!-- not run: it needs a network -->\n'sh\nevalreport list && rm x  # all\nsudo -u evals evalreport init .\n'",
        "<!-- shown: empty -->\n'console\n$ evalreport list\nnothing\n'",
        "'yaml\nrun: {suite: a}\n'\n'json\n{}\n'",
    ] {
        assert_eq!(found(right), 0, "{right}");
    }
    for wrong in [
        "'sh\nevalreport list\n'",
        "'bash\nls\n'",
        "'shell\nls\n'",
        "'console\n$ ls\n'",
        "'sql\nSELECT 1\n'",
        "'yaml\nsteps:\n  - run: ls\n'",
        "'yaml\ngate:\n  script:\n    - ls\n'",
        "<!-- not run: -->\n'sh\nls\n'",
        "<!-- not run: no -->\n'sh\nls\n'",
        "<!-- not run: it needs a network -->\n'console\n$ ls\na\n'",
        "<!-- not run: it needs a network -->\n'sh\nevalreport list --no-such-option\n'",
        "<!-- not run: it needs a network -->\n'yaml\nsteps:\n  - run: npx evalreport lisst\n'",
        "<!-- shown: empty -->\n'sh\nls\n'",
        "<!-- run: empty -->\n'json\n{}\n'",
        "as `evalreport\nlist --no-such-option` says",
    ] {
        assert_eq!(found(wrong), 1, "{wrong}");
    }
}

/// The program travels alone: its messages name pages by the command that shows them, and the page exists.
#[test]
fn messages_name_topics_and_no_files_of_the_repository() {
    let place = Place::new("empty");
    let mut topics = 0;
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates");
    let folders = crates
        .map(|entry| entry.expect("readable").path())
        .chain([PathBuf::from(ROOT)])
        .map(|folder| folder.join("src"));
    let entries = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| walkdir::WalkDir::new(folder).sort_by_file_name());
    for entry in entries {
        let path = entry.expect("the sources can be read").into_path();
        let is_test = |name: &str| ["tests.rs", "documented.rs", "fixtures.rs"].contains(&name);
        if !path.is_file()
            || path
                .file_name()
                .is_some_and(|name| is_test(&name.to_string_lossy()))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//") && !line.contains("include_str!"))
        {
            let is_file = line.split("docs/").skip(1).any(|rest| {
                rest.split_whitespace()
                    .next()
                    .is_some_and(|path| path.contains(".md"))
            });
            assert!(!is_file, "{}: {line}", path.display());
            for topic in line
                .split("`evalreport help ")
                .skip(1)
                .filter_map(|rest| rest.split('`').next())
            {
                if topic
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || "/-".contains(letter))
                {
                    let got = place.run(&format!("evalreport help {topic}"));
                    assert_eq!(got.code, 0, "{}: {line}\n{}", path.display(), got.stdout);
                    topics += 1;
                }
            }
        }
    }
    assert!(topics >= 5, "{topics}");
}

#[test]
fn gaps_fit_what_they_stand_for() {
    let fits = |expected: &[&str], lines: &[&str]| {
        fits(
            &expected
                .iter()
                .map(|line| (*line).to_owned())
                .collect::<Vec<_>>(),
            lines,
        )
    };
    assert!(
        fits(&["a", "…", "d"], &["a", "b", "c", "d"])
            && fits(&["…"], &[])
            && fits(&["a …, …s"], &["a 1, 2s"])
    );
    assert!(
        !fits(&["a"], &["a", "b"])
            && !fits(&["a", "…", "d"], &["a", "b"])
            && !fits(&["a … c"], &["a b d"])
            && !fits(&["a"], &["ab"])
    );
}
