//! `help`: prints the help of a command or a page of the documentation, which travels with the program.

use std::borrow::Cow;
use std::env;
use std::io::IsTerminal;
use std::sync::LazyLock;

use clap::CommandFactory;
use regex::{Captures, Regex};
use rust_embed::RustEmbed;

use crate::domain::nearest;
use crate::process;
use crate::render::terminal::Style;

use super::arguments::{Arguments, Help};
use super::failure::Failure;
use super::{examples, exit_code, output};

#[derive(RustEmbed)]
#[folder = "docs/"]
#[include = "*.md"]
#[include = "schemas/*.json"]
#[exclude = "pages/*"]
struct Pages;

/// The SQL that engines answer, to be pasted into others.
#[derive(RustEmbed)]
#[folder = "queries/"]
#[include = "*.sql"]
struct Queries;

/// The folder's own page, in a folder of pages.
const INDEX: &str = "README";

pub(super) fn run(arguments: &Help, style: Style) -> Result<u8, Failure> {
    let text = match arguments.topic.as_slice() {
        [] => overview(),
        topic => about(topic, style.color)?,
    };
    show(&text)?;
    Ok(exit_code::DONE)
}

/// Returns the topics with the files of their pages, in alphabetical order.
fn topics() -> impl Iterator<Item = (String, Cow<'static, str>)> {
    Pages::iter().filter_map(|file| Some((topic_of(&file)?, file)))
}

/// Returns the names of all commands and topics.
pub(super) fn names() -> impl Iterator<Item = String> {
    let commands: Vec<String> = Arguments::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    commands
        .into_iter()
        .chain(topics().map(|(topic, _)| topic))
        .chain(schemas())
        .chain(queries())
}

/// Returns the names of the JSON Schemas: of answers, of records and of the configuration.
fn schemas() -> impl Iterator<Item = String> {
    Pages::iter().filter_map(|file| file.strip_suffix(".json").map(str::to_owned))
}

/// Returns the names of the queries.
fn queries() -> impl Iterator<Item = String> {
    Queries::iter().map(|file| format!("queries/{}", file.strip_suffix(".sql").unwrap_or(&file)))
}

/// Returns the topic of a page: its path without extension; for a folder's own page, the folder.
fn topic_of(file: &str) -> Option<String> {
    let path = file.strip_suffix(".md")?;
    let topic = path
        .strip_suffix(INDEX)
        .map_or(path, |folder| folder.trim_end_matches('/'));
    Some(if topic.is_empty() {
        "docs".to_owned()
    } else {
        topic.to_owned()
    })
}

/// Returns the program's help, followed by the topics.
fn overview() -> String {
    let mut text = command().render_help().to_string();
    text.push_str("\nTopics, for `evalreport help TOPIC`:\n");
    let width = topics()
        .map(|(topic, _)| topic.len())
        .max()
        .unwrap_or_default();
    for (topic, file) in topics() {
        text.push_str(&format!("  {topic:width$}  {}\n", title(&page(&file))));
    }
    text.push_str("\nJSON Schemas, for `evalreport help NAME`:\n");
    for name in schemas() {
        text.push_str(&format!("  {name}\n"));
    }
    text.push_str("\nQueries for engines, for `evalreport help NAME`:\n");
    for name in queries() {
        text.push_str(&format!("  {name}\n"));
    }
    text
}

fn command() -> clap::Command {
    examples::added(Arguments::command())
}

/// Returns the help of a command, the page of a topic, or both if they have the same name.
fn about(topic: &[String], has_colour: bool) -> Result<String, Failure> {
    let of_command = command_help(topic, has_colour);
    let name = topic.join(" ");
    // A path as documents write it is the same topic.
    let path = name.strip_prefix("docs/").unwrap_or(&name);
    let schema = path.strip_suffix(".json").unwrap_or(path);
    if schemas().any(|known| known == schema) {
        return Ok(page(&format!("{schema}.json")));
    }
    let query = name
        .strip_prefix("queries/")
        .map(|file| format!("{}.sql", file.strip_suffix(".sql").unwrap_or(file)));
    if let Some(file) = query.and_then(|file| Queries::get(&file)) {
        return Ok(String::from_utf8_lossy(&file.data).into_owned());
    }
    let wanted = topic_of(&format!("{}.md", path.strip_suffix(".md").unwrap_or(path)));
    let of_page = topics()
        .find(|(topic, _)| Some(topic) == wanted.as_ref())
        .map(|(topic, file)| readable(&page(&file), &topic, has_colour));
    match (of_command, of_page) {
        (Some(command), Some(page)) => Ok(format!("{command}\n{page}")),
        (Some(text), None) | (None, Some(text)) => Ok(text),
        (None, None) => Err(unknown(&name)),
    }
}

fn unknown(name: &str) -> Failure {
    let failure = Failure::new(format!(
        "no command or topic `{}`",
        crate::domain::visible(name)
    ));
    let commands = command();
    let topics: Vec<String> = topics().map(|(topic, _)| topic).collect();
    // The page of a format is also sought by the format's name.
    let last = topics
        .iter()
        .find(|topic| topic.rsplit('/').next() == Some(name))
        .cloned();
    let files: Vec<String> = schemas().chain(queries()).collect();
    let known = commands
        .get_subcommands()
        .map(clap::Command::get_name)
        .chain(topics.iter().chain(&files).map(String::as_str));
    match last.or_else(|| nearest(name, known).map(str::to_owned)) {
        Some(near) => failure.with_hint(format!("did you mean `evalreport help {near}`?")),
        None => failure.with_hint("`evalreport help` lists commands and topics"),
    }
}

fn command_help(names: &[String], has_colour: bool) -> Option<String> {
    let mut command = command();
    command.build();
    let mut found = &mut command;
    for name in names {
        found = found.find_subcommand_mut(name)?;
    }
    let help = found.render_long_help();
    Some(if has_colour {
        help.ansi().to_string()
    } else {
        help.to_string()
    })
}

fn page(file: &str) -> String {
    let page = Pages::get(file).expect("the name comes from the list of pages");
    String::from_utf8_lossy(&page.data).into_owned()
}

/// Returns the first heading.
fn title(page: &str) -> &str {
    page.lines()
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or_default()
}

/// Returns a page for a terminal: without marks for tests and without pictures, links to other pages as commands, headings bold.
fn readable(page: &str, topic: &str, has_colour: bool) -> String {
    let folder = if Pages::get(&format!("{topic}/{INDEX}.md")).is_some() {
        topic
    } else {
        topic.rsplit_once('/').map_or("", |(folder, _)| folder)
    };
    let mut text = String::with_capacity(page.len());
    let (mut is_code, mut is_gap) = (false, true);
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if !is_code && (line.starts_with("<!--") || line.starts_with("![")) {
            continue;
        }
        let is_empty = line.is_empty();
        if is_empty && is_gap && !is_code {
            continue;
        }
        is_gap = is_empty;
        match line.starts_with('#') && !is_code {
            true if has_colour => text.push_str(&format!("\u{1b}[1m{line}\u{1b}[0m")),
            _ if is_code => text.push_str(line),
            _ => text.push_str(&linked(line, folder)),
        }
        text.push('\n');
    }
    text
}

/// Replaces links by their texts, with the command that shows another page, or with the address.
fn linked<'a>(line: &'a str, folder: &str) -> Cow<'a, str> {
    static LINK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\(([^)\s]*)\)").expect("the pattern is valid"));
    LINK.replace_all(line, |found: &Captures<'_>| {
        let (text, address) = (&found[1], &found[2]);
        let path = address.split('#').next().unwrap_or_default();
        if path.is_empty() {
            return text.to_owned();
        }
        let is_elsewhere = path.contains("://");
        let file = joined(folder, path);
        match (!is_elsewhere && Pages::get(&file).is_some())
            .then(|| topic_of(&file))
            .flatten()
        {
            Some(topic) => format!("{text} (evalreport help {topic})"),
            None if is_elsewhere => format!("{text} ({address})"),
            None => text.to_owned(),
        }
    })
}

/// Returns a relative path, taken from a folder of the documentation.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Prints a text, on a terminal through the user's pager.
fn show(text: &str) -> Result<(), Failure> {
    let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let words: Vec<&str> = pager.split_whitespace().collect();
    if !std::io::stdout().is_terminal() || words.is_empty() || words == ["cat"] {
        return output::print(text);
    }
    // As git does: `less` ends if the text fits on the screen, shows colours, and leaves the text on the screen.
    let variables = if env::var_os("LESS").is_none() {
        &[("LESS", "FRX")][..]
    } else {
        &[]
    };
    // Ctrl-C is the pager's.
    drop(ctrlc::set_handler(|| {}));
    if process::page(&words, variables, text) {
        Ok(())
    } else {
        output::print(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_every_page_leads_to_a_topic_or_away() {
        for (topic, file) in topics() {
            let text = readable(&page(&file), &topic, false);
            assert!(!text.contains("](") || text.contains("```"), "{topic}");
            for named in text
                .split("(evalreport help ")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
            {
                assert!(
                    topics().any(|(topic, _)| topic == named),
                    "{topic} names {named}"
                );
            }
            assert!(!title(&page(&file)).is_empty(), "{topic}");
        }
    }

    #[test]
    fn pages_are_found_by_topic_and_by_path() {
        for name in [
            "suites",
            "docs/suites.md",
            "import/inspect",
            "docs/import/inspect.md",
            "docs",
            "import",
            "docs/import/README.md",
        ] {
            assert!(about(&[name.to_owned()], false).is_ok(), "{name}");
        }
        let failure = about(&["inspect".to_owned()], false).expect_err("the page is in a folder");
        assert!(
            failure
                .hint
                .is_some_and(|hint| hint.contains("import/inspect"))
        );
    }

    #[test]
    fn links_become_commands() {
        assert_eq!(
            linked(
                "see [suites](../suites.md#wrap) and [below](#below)",
                "import"
            ),
            "see suites (evalreport help suites) and below"
        );
        assert_eq!(
            linked("[nextest](https://nexte.st)", ""),
            "nextest (https://nexte.st)"
        );
    }
}
