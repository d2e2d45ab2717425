//! `help`: prints the help of a command or a page of the documentation, which travels with the program.

use std::borrow::Cow;
use std::env;
use std::io::IsTerminal;
use std::sync::LazyLock;

use clap::Args;
use regex::{Captures, Regex};
use rust_embed::RustEmbed;

use crate::domain::nearest_name;
use crate::process;

use crate::render::terminal::Style;

use super::command::{Command, Example, Invocation};
use super::failure::CommandFailure;
use super::page_layout::lay_out_page;
use super::{exit_code, output, settings};

/// Print the help of a command, or a page of the documentation
#[derive(Args)]
pub(super) struct HelpArguments {
    /// Command or topic [default: list commands and topics]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub topic: Vec<String>,
}

impl Command for HelpArguments {
    const NAME: &'static str = "help";
    const EXAMPLES: [Example; 2] = [
        ("evalreport help suites", "a page of the documentation"),
        ("evalreport help gate", "the options of a command"),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        print_help(self, invocation)
    }
}

#[derive(RustEmbed)]
#[folder = "docs/"]
#[include = "*.md"]
#[include = "schemas/*.json"]
#[exclude = "pages/*"]
struct Pages;

/// The folders of pages by what a reader wants; a topic has its name without them.
const READER_FOLDERS: [&str; 4] = ["learn/", "do/", "look-up/", "understand/"];

/// Other names of topics, which people know or messages named.
const OTHER_NAMES: [(&str, &str); 29] = [
    ("abilities", "estimate-abilities"),
    ("audit", "audit-a-board"),
    ("benchmarks", "measured/benchmarks"),
    ("ci", "gate-pull-requests"),
    ("claims", "check-published-figures"),
    ("coming-from", "import"),
    ("coming-from/cogni", "import/cogni"),
    ("coming-from/kotef", "import/kotef"),
    ("coming-from/ralph", "import/ralph"),
    ("coming-from/zelda", "import/zelda"),
    ("csv", "compare-a-table"),
    ("exporting", "export-formats"),
    ("formats", "store-files"),
    ("guide", "commands"),
    ("inspect-promptfoo-harbor", "compare-tool-logs"),
    ("judging", "judge"),
    ("methodology", "method"),
    ("nightly", "run-nightly"),
    ("noise", "find-noise"),
    ("preferences", "rank-by-votes"),
    ("publishing", "publish-a-site"),
    ("pytest", "first-gate"),
    ("python", "record-your-own-loop"),
    ("question-evaluation", "questions"),
    ("reliability", "what-you-can-trust"),
    ("scale", "work-at-scale"),
    ("simulations", "measured/simulations"),
    ("suites", "suite-yaml"),
    ("two-prompts", "first-verdict"),
];

/// The SQL that engines answer, to be pasted into others.
#[derive(RustEmbed)]
#[folder = "queries/"]
#[include = "*.sql"]
struct Queries;

/// The folder's own page, in a folder of pages.
const INDEX_PAGE: &str = "README";

fn print_help(
    arguments: &HelpArguments,
    invocation: &Invocation<'_>,
) -> Result<u8, CommandFailure> {
    let command_line = (invocation.command_line)();
    let style = settings::terminal_style(invocation.global);
    let text = match arguments.topic.as_slice() {
        [] => overview_text(command_line),
        topic => topic_help(command_line, topic, style)?,
    };
    print_paged(&text)?;
    Ok(exit_code::DONE)
}

/// Returns the topics with the files of their pages, in alphabetical order.
fn list_topics() -> impl Iterator<Item = (String, Cow<'static, str>)> {
    Pages::iter().filter_map(|file| Some((topic_of(&file)?, file)))
}

/// Returns the names of all topics.
pub(super) fn topic_names() -> impl Iterator<Item = String> {
    list_topics()
        .map(|(topic, _)| topic)
        .chain(schema_names())
        .chain(query_names())
}

/// Returns the names of the JSON Schemas: of answers, of records and of the configuration.
fn schema_names() -> impl Iterator<Item = String> {
    Pages::iter().filter_map(|file| file.strip_suffix(".json").map(str::to_owned))
}

/// Returns the names of the queries.
fn query_names() -> impl Iterator<Item = String> {
    Queries::iter().map(|file| format!("queries/{}", file.strip_suffix(".sql").unwrap_or(&file)))
}

/// Returns the topic of a page: its path without extension and the reader's folder; for a folder's own page, the folder.
fn topic_of(file: &str) -> Option<String> {
    let path = file.strip_suffix(".md")?;
    let path = READER_FOLDERS
        .iter()
        .find_map(|folder| path.strip_prefix(folder))
        .unwrap_or(path);
    let topic = path
        .strip_suffix(INDEX_PAGE)
        .map_or(path, |folder| folder.trim_end_matches('/'));
    Some(if topic.is_empty() {
        "docs".to_owned()
    } else {
        topic.to_owned()
    })
}

/// Returns the program's help, followed by the topics.
fn overview_text(mut command_line: clap::Command) -> String {
    let mut text = command_line.render_help().to_string();
    text.push_str("\nTopics, for `evalreport help TOPIC`:\n");
    let width = list_topics()
        .map(|(topic, _)| topic.len())
        .max()
        .unwrap_or_default();
    for (topic, file) in list_topics() {
        text.push_str(&format!(
            "  {topic:width$}  {}\n",
            page_title(&read_page(&file))
        ));
    }
    text.push_str("\nJSON Schemas, for `evalreport help NAME`:\n");
    for name in schema_names() {
        text.push_str(&format!("  {name}\n"));
    }
    text.push_str("\nQueries for engines, for `evalreport help NAME`:\n");
    for name in query_names() {
        text.push_str(&format!("  {name}\n"));
    }
    text
}

/// Returns the help of a command, the page of a topic, or both if they have the same name.
fn topic_help(
    mut command_line: clap::Command,
    topic: &[String],
    style: Style,
) -> Result<String, CommandFailure> {
    let of_command = command_help(&mut command_line, topic, style.color);
    let name = topic.join(" ");
    // A path as documents write it is the same topic.
    let path = name.strip_prefix("docs/").unwrap_or(&name);
    let schema = path.strip_suffix(".json").unwrap_or(path);
    if schema_names().any(|known| known == schema) {
        return Ok(read_page(&format!("{schema}.json")));
    }
    let query = name
        .strip_prefix("queries/")
        .map(|file| format!("{}.sql", file.strip_suffix(".sql").unwrap_or(file)));
    if let Some(file) = query.and_then(|file| Queries::get(&file)) {
        return Ok(String::from_utf8_lossy(&file.data).into_owned());
    }
    let wanted = topic_of(&format!("{}.md", path.strip_suffix(".md").unwrap_or(path)));
    let wanted = wanted.as_deref().map(current_name);
    let of_page = list_topics()
        .find(|(topic, _)| Some(topic.as_str()) == wanted)
        .map(|(_, file)| lay_out_page(&format_page(&read_page(&file), &file, style.color), style));
    match (of_command, of_page) {
        (Some(command), Some(page)) => Ok(format!("{command}\n{page}")),
        (Some(text), None) | (None, Some(text)) => Ok(text),
        (None, None) => Err(unknown_topic(&command_line, &name)),
    }
}

/// Returns the name under which a topic is listed.
fn current_name(topic: &str) -> &str {
    OTHER_NAMES
        .iter()
        .find(|(other, _)| *other == topic)
        .map_or(topic, |(_, name)| name)
}

fn unknown_topic(command_line: &clap::Command, name: &str) -> CommandFailure {
    let failure = CommandFailure::new(format!(
        "no command or topic `{}`",
        crate::domain::escape_invisible(name)
    ));
    let topics: Vec<String> = list_topics().map(|(topic, _)| topic).collect();
    // The page of a format is also sought by the format's name.
    let last = topics
        .iter()
        .find(|topic| topic.rsplit('/').next() == Some(name))
        .cloned();
    let files: Vec<String> = schema_names().chain(query_names()).collect();
    let known = command_line
        .get_subcommands()
        .map(clap::Command::get_name)
        .chain(topics.iter().chain(&files).map(String::as_str))
        .chain(OTHER_NAMES.iter().map(|(other, _)| *other));
    match last.or_else(|| nearest_name(name, known).map(str::to_owned)) {
        Some(near) => failure.with_hint(format!("did you mean `evalreport help {near}`?")),
        None => failure.with_hint("`evalreport help` lists commands and topics"),
    }
}

fn command_help(
    command_line: &mut clap::Command,
    names: &[String],
    has_colour: bool,
) -> Option<String> {
    command_line.build();
    let mut found = command_line;
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

fn read_page(file: &str) -> String {
    let page = Pages::get(file).expect("the name comes from the list of pages");
    String::from_utf8_lossy(&page.data).into_owned()
}

/// Returns the first heading.
fn page_title(page: &str) -> &str {
    page.lines()
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or_default()
}

/// Returns a page for a terminal: without marks for tests and without pictures, links to other pages as commands, headings bold.
fn format_page(page: &str, file: &str, has_colour: bool) -> String {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
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
            _ => text.push_str(&replace_links(line, folder)),
        }
        text.push('\n');
    }
    text
}

/// Replaces links by their texts, with the command that shows another page, or with the address.
fn replace_links<'a>(line: &'a str, folder: &str) -> Cow<'a, str> {
    static LINK_PATTERN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\(([^)\s]*)\)").expect("the pattern is valid"));
    LINK_PATTERN.replace_all(line, |found: &Captures<'_>| {
        let (text, address) = (&found[1], &found[2]);
        let path = address.split('#').next().unwrap_or_default();
        if path.is_empty() {
            return text.to_owned();
        }
        let is_elsewhere = path.contains("://");
        let file = join_path(folder, path);
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
fn join_path(folder: &str, path: &str) -> String {
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
fn print_paged(text: &str) -> Result<(), CommandFailure> {
    let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let words: Vec<&str> = pager.split_whitespace().collect();
    if !std::io::stdout().is_terminal() || words.is_empty() || words == ["cat"] {
        return output::print_text(text);
    }
    // As git does: `less` ends if the text fits on the screen, shows colours, and leaves the text on the screen.
    let variables = if env::var_os("LESS").is_none() {
        &[("LESS", "FRX")][..]
    } else {
        &[]
    };
    // Ctrl-C is the pager's.
    drop(ctrlc::set_handler(|| {}));
    if process::show_in_pager(&words, variables, text) {
        Ok(())
    } else {
        output::print_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    const STYLE: Style = Style {
        width: 80,
        color: false,
    };

    #[test]
    fn every_link_of_every_page_leads_to_a_topic_or_away() {
        for (topic, file) in list_topics() {
            let text = format_page(&read_page(&file), &file, false);
            assert!(!text.contains("](") || text.contains("```"), "{topic}");
            for named in text
                .split("(evalreport help ")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
            {
                assert!(
                    list_topics().any(|(topic, _)| topic == named),
                    "{topic} names {named}"
                );
            }
            assert!(!page_title(&read_page(&file)).is_empty(), "{topic}");
        }
    }

    #[test]
    fn pages_are_found_by_topic_and_by_path() {
        for name in [
            "suite-yaml",
            "look-up/suite-yaml",
            "docs/look-up/suite-yaml.md",
            "import/inspect",
            "docs/look-up/import/inspect.md",
            "docs",
            "import",
            "docs/look-up/import/README.md",
        ] {
            assert!(
                topic_help(command_line(), &[name.to_owned()], STYLE).is_ok(),
                "{name}"
            );
        }
        let failure = topic_help(command_line(), &["inspect".to_owned()], STYLE)
            .expect_err("the page is in a folder");
        assert!(
            failure
                .hint
                .is_some_and(|hint| hint.contains("import/inspect"))
        );
    }

    #[test]
    fn other_names_of_topics_lead_to_their_pages() {
        for (other, name) in OTHER_NAMES {
            assert!(list_topics().all(|(topic, _)| topic != other), "{other}");
            let pages = [other, name, &format!("docs/{other}.md")]
                .map(|topic| topic_help(command_line(), &[topic.to_owned()], STYLE).is_ok());
            assert_eq!(pages, [true; 3], "{other}");
        }
    }

    #[test]
    fn links_become_commands() {
        assert_eq!(
            replace_links(
                "see [suites](../suite-yaml.md#wrap) and [below](#below)",
                "look-up/import"
            ),
            "see suites (evalreport help suite-yaml) and below"
        );
        assert_eq!(
            replace_links("[nextest](https://nexte.st)", ""),
            "nextest (https://nexte.st)"
        );
    }
}
