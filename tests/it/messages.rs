//! `docs/look-up/messages.md` has every message with which a command ends, and its hint, as the sources have them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::links::read;

const PAGE: &str = "docs/look-up/messages.md";
const FAILURE: &str = "CommandFailure::new(";
const HINT: &str = ".with_hint(";

/// Returns the length of what stands in a pair of brackets, of which the first is open, without the last.
fn bracketed(code: &str) -> usize {
    let (mut depth, mut is_text, mut is_escaped) = (1, false, false);
    for (at, letter) in code.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            '(' if !is_text => depth += 1,
            ')' if !is_text => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Returns the first text of an expression if it is written there, directly or in `format!`, with `…` for each value.
fn written(expression: &str) -> Option<String> {
    let expression = expression.trim();
    let expression = expression
        .strip_prefix("format!(")
        .unwrap_or(expression)
        .trim_start();
    let text = expression.strip_prefix('"')?;
    let (mut found, mut letters) = (String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(found),
            '\\' => match letters.next()? {
                '\n' => while letters.next_if(|next| next.is_whitespace()).is_some() {},
                'n' => found.push(' '),
                escaped => found.push(escaped),
            },
            '{' if letters.next_if_eq(&'{').is_some() => found.push('{'),
            '}' => {
                letters.next_if_eq(&'}');
                found.push('}');
            }
            '{' => {
                while letters.next().is_some_and(|next| next != '}') {}
                found.push('…');
            }
            letter => found.push(letter),
        }
    }
    None
}

/// Adds the messages of a source, each with its hint.
fn add_messages(code: &str, messages: &mut BTreeMap<String, String>) {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for rest in code.split(FAILURE).skip(1) {
        let end = bracketed(rest);
        let Some(message) = written(&rest[..end]) else {
            continue;
        };
        let after = rest[end..].trim_start_matches(')').trim_start();
        let hint = after
            .strip_prefix(HINT)
            .and_then(|hint| written(&hint[..bracketed(hint)]))
            .unwrap_or_default();
        let known = messages.entry(message).or_default();
        if known.is_empty() {
            *known = hint;
        }
    }
}

#[test]
fn messages_page_has_every_message_of_the_sources() {
    let mut messages = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let path = entry.expect("the sources can be read").into_path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            add_messages(&fs::read_to_string(path).unwrap_or_default(), &mut messages);
        }
    }
    assert!(messages.len() > 100, "{}", messages.len());
    let mut page = "# Messages\n\nEvery message with which a command ends, in alphabetical order; `…` is any text. The hint is what the program prints \
                    below the message.\n[Troubleshoot](../do/troubleshoot.md) explains the most frequent ones.\n\n| message | hint |\n| --- | --- |\n"
        .to_owned();
    for (message, hint) in &messages {
        let row = format!(
            "| {} | {} |\n",
            message.replace('|', "\\|"),
            hint.replace('|', "\\|")
        );
        page.push_str(&row.replace("  ", " "));
    }
    if std::env::var("EVALREPORT_DOCS").is_ok_and(|wish| wish == "write") {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), &page)
            .expect("the page can be written");
    }
    assert!(
        read(PAGE) == page,
        "EVALREPORT_DOCS=write cargo test messages_page writes {PAGE}"
    );
}

#[test]
fn messages_are_found_in_sources() {
    let mut messages = BTreeMap::new();
    let code = "Err(CommandFailure::new(format!(\"no `{name}` (of {})\", f(1))).with_hint(\"see \\\n      \\\"b\\\"\"))\nCommandFailure::new(other)\n\
                CommandFailure::new(\n  \"plain\",\n)";
    add_messages(code, &mut messages);
    let found: Vec<(&str, &str)> = messages
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(found, [("no `…` (of …)", "see \"b\""), ("plain", "")]);
}

/// What a reader looks for on the page of troubles is what the program prints.
#[test]
fn troubleshooting_names_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: String = ["src", "crates"]
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(root.join(folder)))
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|ending| ending == "rs")
        })
        .map(|entry| fs::read_to_string(entry.path()).unwrap_or_default())
        .collect();
    let mut fragments = 0;
    for row in read("docs/do/troubleshoot.md")
        .lines()
        .filter(|line| line.starts_with("| "))
    {
        let seen = row.split(" | ").next().unwrap_or_default();
        for text in seen.split('`').skip(1).step_by(2) {
            let parts = text.split(|letter: char| letter == '…' || letter.is_ascii_digit());
            for part in parts.map(str::trim).filter(|part| part.len() > 3) {
                let known = part
                    .trim_end_matches(|letter: char| letter.is_ascii_uppercase())
                    .trim_end();
                assert!(sources.contains(known), "nothing prints `{known}`: {row}");
                fragments += 1;
            }
        }
    }
    assert!(fragments > 20, "{fragments}");
}
