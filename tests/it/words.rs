//! How many words the documents have, and how often a sentence of theirs needs a second reading.
//!
//! `words.tsv` allows each document so many of each fault. `EVALREPORT_WORDS=write cargo test words` lowers what is allowed to what is there; nothing
//! raises it but a person.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::links::{documents, read};

/// A sentence has one statement.
const MAX_SENTENCE_WORDS: usize = 25;
/// Generated pages apart.
const MAX_DOCS_WORDS: usize = 45_000;
const MAX_README_WORDS: usize = 650;
const MAX_CHANGELOG_WORDS: usize = 600;
/// What `words.tsv` may allow together.
const MAX_ALLOWED_FAULTS: usize = 100;
/// Pages that a program writes.
const GENERATED: [&str; 4] = [
    "docs/measured/",
    "docs/look-up/cli.md",
    "docs/look-up/glossary.md",
    "docs/look-up/messages.md",
];
const TABLE: &str = "tests/it/words.tsv";
const FAULTS: [&str; 6] = [
    "sentences over 25 words",
    "that of, those of",
    "say, tell",
    "is no, has no",
    "further semicolons of a paragraph",
    "bare others, another, the same",
];

/// One in a paragraph is no fault.
const SEMICOLONS: usize = 4;

/// The number of each fault in a text.
type Counts = [usize; FAULTS.len()];

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// Returns a text without what a program writes into it, between marks such as `<!-- policy: begin -->` and `<!-- policy: end -->`.
fn without_generated(text: &str) -> String {
    pattern(r"(?s)<!-- \w+: begin -->.*?<!-- \w+: end -->")
        .replace_all(text, "")
        .into_owned()
}

/// Returns paragraphs, entries of lists and cells of tables, without code and addresses.
fn pieces(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let mut is_code = false;
    let marker = pattern(r"^([-*>]|\d+\.) ");
    for line in without_generated(text).lines().map(str::trim).chain([""]) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_apart = is_fence
            || is_code
            || line.is_empty()
            || ["|", "#", "<!--", "!["]
                .iter()
                .any(|start| line.starts_with(start));
        if is_apart || marker.is_match(line) {
            found.push(std::mem::take(&mut paragraph));
        }
        if !is_code && line.starts_with('|') {
            found.extend(line.split('|').map(|cell| cell.trim().to_owned()));
        } else if !is_apart {
            paragraph.push_str(&marker.replace(line, ""));
            paragraph.push(' ');
        }
    }
    let (code, link) = (pattern("`[^`]*`"), pattern(r"\[([^\]]*)\]\([^)]*\)"));
    found
        .iter()
        .map(|piece| {
            link.replace_all(&code.replace_all(piece, "x"), "$1")
                .trim()
                .to_owned()
        })
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn count_faults(text: &str) -> Counts {
    let end = pattern(r"[.!?:]\s+");
    let there = pattern(r"(?i)\bthere (is|are) no\b");
    let others = [
        pattern(r"(?i)\b(that|those) of\b"),
        pattern(r"(?i)\b(says?|tells?)\b"),
        pattern(r"(?i)\b(is|are|gives?|has|have|replaces?|names?) no\b"),
        pattern(";"),
        pattern(
            r"(?i)\b(others|another|the same|the other)\s*([.,;:)]|$|(and|or|is|are|in|for|of|as)\b)",
        ),
    ];
    let mut counts = Counts::default();
    for piece in pieces(text) {
        counts[0] += end
            .split(&piece)
            .filter(|sentence| count_read_words(sentence) > MAX_SENTENCE_WORDS)
            .count();
        let piece = there.replace_all(&piece, "");
        for (count, other) in counts[1..].iter_mut().zip(&others) {
            *count += other.find_iter(&piece).count();
        }
        counts[SEMICOLONS] -= usize::from(piece.contains(';'));
    }
    counts
}

/// Returns the words of a sentence, without numbers and what stands in formulas.
fn count_read_words(sentence: &str) -> usize {
    let is_word = |word: &&str| {
        let letters: Vec<bool> = word
            .chars()
            .map(|letter| letter.is_ascii_alphabetic())
            .collect();
        *word == "a" || letters.windows(2).any(|pair| pair == [true, true])
    };
    sentence.split_whitespace().filter(is_word).count()
}

/// Returns the words of a text outside of its blocks of code and its marks for tests.
fn count_words(text: &str) -> usize {
    let code = pattern(r"(?s)```.*?```|<!--.*?-->");
    code.replace_all(&without_generated(text), "")
        .split_whitespace()
        .count()
}

/// Returns the documents that people write.
fn written() -> impl Iterator<Item = String> {
    documents().into_iter().filter(|page| {
        let is_root = !page.contains('/');
        let is_generated = GENERATED.iter().any(|start| page.starts_with(start));
        (is_root || page.starts_with("docs/")) && !is_generated
    })
}

/// Reads the faults that are allowed: path, then a number for each.
fn allowed() -> BTreeMap<String, Counts> {
    read(TABLE)
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split('\t');
            let path = cells.next().unwrap_or_default().to_owned();
            let counts = FAULTS.map(|fault| {
                let cell = cells.next().and_then(|cell| cell.parse().ok());
                cell.unwrap_or_else(|| panic!("{TABLE}: {path}: no number of {fault}"))
            });
            (path, counts)
        })
        .collect()
}

#[test]
fn words_of_a_document_need_no_second_reading_more_often_than_allowed() {
    let allowed = allowed();
    let mut lowered = format!("document\t{}\n", FAULTS.join("\t"));
    let mut faults = Vec::new();
    for page in written() {
        let (counts, most) = (count_faults(&read(&page)), allowed.get(&page).copied());
        let most = most.unwrap_or_default();
        for ((fault, count), most) in FAULTS.iter().zip(counts).zip(most) {
            if count > most {
                faults.push(format!("{page}: {fault}: {count}, allowed {most}"));
            }
        }
        let kept = std::array::from_fn::<_, { FAULTS.len() }, _>(|at| counts[at].min(most[at]));
        if kept != Counts::default() {
            lowered += &format!(
                "{page}\t{}\n",
                kept.map(|count| count.to_string()).join("\t")
            );
        }
    }
    if std::env::var("EVALREPORT_WORDS").is_ok_and(|wish| wish == "write") {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE), lowered)
            .expect("the table can be written");
    }
    assert!(
        faults.is_empty(),
        "shorten these sentences:\n{}",
        faults.join("\n")
    );
    let sum: usize = allowed.values().flatten().sum();
    assert!(
        sum <= MAX_ALLOWED_FAULTS,
        "{TABLE} allows {sum}, at most {MAX_ALLOWED_FAULTS}"
    );
}

#[test]
fn words_are_few() {
    let docs: usize = written()
        .filter(|page| page.starts_with("docs/"))
        .map(|page| count_words(&read(&page)))
        .sum();
    for (what, count, most) in [
        ("docs", docs, MAX_DOCS_WORDS),
        (
            "README.md",
            count_words(&read("README.md")),
            MAX_README_WORDS,
        ),
        (
            "CHANGELOG.md",
            count_words(&read("CHANGELOG.md")),
            MAX_CHANGELOG_WORDS,
        ),
    ] {
        assert!(count <= most, "{what}: {count} words, at most {most}");
    }
}

/// Longer lines of code scroll sideways on a page.
const MAX_COLUMNS: usize = 98;
/// Records of one line, and commands of other tools.
const MAX_WIDE_LINES: usize = 36;

#[test]
fn words_of_code_fit_the_width_of_a_page() {
    let mut wide = Vec::new();
    for page in documents()
        .iter()
        .filter(|page| *page != "docs/look-up/cli.md")
    {
        let mut is_code = false;
        for (number, line) in read(page).lines().enumerate() {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            if is_code && line.chars().count() > MAX_COLUMNS {
                wide.push(format!("{page}:{}", number + 1));
            }
        }
    }
    assert!(
        wide.len() <= MAX_WIDE_LINES,
        "{} lines of code over {MAX_COLUMNS} columns, at most {MAX_WIDE_LINES}:\n{}",
        wide.len(),
        wide.join("\n")
    );
}

#[test]
fn words_that_need_a_second_reading_are_counted() {
    assert_eq!(
        count_faults("A test passes. It ends.\n\n```sh\na; b; c\n```\n`a; b`"),
        [0; 6]
    );
    let long = format!("{}end.", "word ".repeat(MAX_SENTENCE_WORDS));
    let text = format!(
        "{long}\n\n- The rate is that of the arm; the file says so; it ends.\n- There is no run, and it is no rate.\n\n| others | it is the same |\n"
    );
    assert_eq!(count_faults(&text), [1, 1, 1, 1, 1, 2]);
    assert_eq!(
        count_words("one two\n```\nthree\n```\n<!-- four -->\nfive"),
        3
    );
}
