//! `import` of a table without a map: shows a proposed map and asks whether it is right.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::domain::{ItemStatus, escape_invisible, shell_word, split_shell_words};
use crate::files;
use crate::import::{
    BetterEnd, MapProposal, MappingQuestion, NoProposal, ProposedRow, TableHints, TableMap,
    VoteLayout, WideKind, are_tables, propose_tables, read_votes,
};
use crate::render::format;

use super::assignments::parse_assignments;
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::import_arguments::{End, ImportArguments, ImportAs, Mark, Table, TableColumns, Wide};
use super::output;
use super::settings::Settings;

/// Maximum length of a shown line of the map, in characters.
const MAX_SHOWN: usize = 160;

fn read_hints(
    arguments: &ImportArguments,
    set: BTreeMap<String, String>,
) -> Result<TableHints, CommandFailure> {
    let table = &arguments.table;
    Ok(TableHints {
        approach: table.approach.clone(),
        model: table.model.clone(),
        suite: table.suite.clone(),
        set,
        ..column_hints(&table.columns)?
    })
}

/// Returns what the options say of the columns of a table.
pub(super) fn column_hints(columns: &TableColumns) -> Result<TableHints, CommandFailure> {
    let TableColumns {
        item,
        passed,
        score,
        direction,
        attempt,
        evaluator,
        wide,
        values,
        decimal,
        sheet,
        list,
        of_arms,
    } = columns;
    let values = parse_assignments("--value", values, "--value partial=fail")?;
    if let Some((_, status)) = values
        .iter()
        .find(|(_, status)| ItemStatus::from_name(status).is_none())
    {
        let names: Vec<&str> = ItemStatus::ALL.iter().map(|status| status.name()).collect();
        return Err(
            CommandFailure::new(format!("`{}` is no status", escape_invisible(status)))
                .with_hint(format!("write one of {}", names.join(", "))),
        );
    }
    let wide = wide.map(|wide| match wide {
        Wide::Approaches => WideKind::Approaches,
        Wide::Items => WideKind::Items,
        Wide::Suites => WideKind::Suites,
        Wide::Attempts => WideKind::Attempts,
    });
    Ok(TableHints {
        approach: of_arms.approach.clone(),
        model: of_arms.model.clone(),
        suite: of_arms.suite.clone(),
        item: item.clone(),
        passed: passed.clone(),
        score: score.clone(),
        attempt: attempt.clone(),
        evaluator: evaluator.clone(),
        sheet: sheet.clone(),
        list: list.clone(),
        direction: direction.map(|end| {
            if end == End::Up {
                BetterEnd::High
            } else {
                BetterEnd::Low
            }
        }),
        wide,
        decimal_comma: decimal.map(|mark| mark == Mark::Comma),
        values,
        ..TableHints::default()
    })
}

/// Decision on tables without a map.
pub(super) enum MapDecision {
    /// The files are to be read by this map, as agreed.
    Read(Box<TableMap>, Vec<PathBuf>),
    /// The map was only to be written to a file.
    Written,
    /// The files are not tables without a map, and no option says that they are.
    NoTable,
}

/// Shows the proposal and asks whether it is right, if the files are tables without a map: because an option says so, or because they have
/// no known format.
pub(super) fn ask_for_agreement(
    settings: &Settings,
    arguments: &ImportArguments,
    set: BTreeMap<String, String>,
) -> Result<MapDecision, CommandFailure> {
    if arguments.map.is_some() || arguments.kind.is_some_and(|kind| kind != ImportAs::Table) {
        return Ok(MapDecision::NoTable);
    }
    let hints = read_hints(arguments, set)?;
    let is_meant =
        arguments.kind.is_some() || arguments.table.write_map.is_some() || hints.has_hints();
    if !is_meant && !are_tables(&arguments.files) {
        return Ok(MapDecision::NoTable);
    }
    let proposal = match propose_tables(&arguments.files, &hints) {
        Err(NoProposal::NoTable) if !is_meant => return Ok(MapDecision::NoTable),
        proposed => proposed.map_err(|why| {
            let command = |option: &str| extend_command(settings, arguments, option);
            proposal_failure(why, &arguments.files, &command, str::to_owned)
        })?,
    };
    let described = describe_proposal(&proposal);
    let table = &arguments.table;
    if let Some(path) = &table.write_map {
        write_map(path, &proposal.text)?;
        output::print_message(settings, &format!("the map is in {}", display_path(path)));
    }
    if table.yes || arguments.dry_run {
        print_lines(settings, &described);
        return Ok(MapDecision::Read(Box::new(proposal.map), proposal.files));
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        if table.write_map.is_some() {
            print_lines(settings, &described);
            return Ok(MapDecision::Written);
        }
        let mut failure = CommandFailure::new("the table has no map; proposed map");
        failure.details = described;
        return Err(failure.with_hint(format!(
            "to import it so: {}",
            extend_command(settings, arguments, "--yes")
        )));
    }
    for line in &described {
        output::write_stderr(line);
    }
    if ask_yes_no("Import it so? [Y/n] ") {
        return Ok(MapDecision::Read(Box::new(proposal.map), proposal.files));
    }
    Err(
        CommandFailure::new("nothing was imported").with_hint(format!(
            "change the map and use it: {}",
            extend_command(settings, arguments, "--write-map map.yaml")
        )),
    )
}

fn print_lines(settings: &Settings, lines: &[String]) {
    for line in lines {
        output::print_message(settings, line);
    }
}

/// Asks a question. An empty answer, `y` or `yes` means yes; anything else, and the end of the input, means no.
fn ask_yes_no(question: &str) -> bool {
    let mut stderr = io::stderr();
    let mut answer = String::new();
    let is_asked = stderr
        .write_all(question.as_bytes())
        .and_then(|()| stderr.flush())
        .is_ok();
    let is_answered = is_asked
        && io::stdin()
            .lock()
            .read_line(&mut answer)
            .is_ok_and(|bytes| bytes > 0);
    is_answered && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

fn write_map(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let written = files::open_with_options(
        std::fs::OpenOptions::new().write(true).create_new(true),
        path,
    )
    .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let failure = CommandFailure::new(format!("cannot write {}: {error}", display_path(path)));
        if error.kind() == io::ErrorKind::AlreadyExists {
            failure.with_hint("name another file, or take it away first")
        } else {
            failure
        }
    })
}

/// Fails if options for tables without a map are given although the files are read as something else, or by a map.
pub(super) fn refuse_unread(arguments: &ImportArguments) -> Result<(), CommandFailure> {
    let reason = match arguments {
        ImportArguments {
            kind: Some(kind), ..
        } if *kind != ImportAs::Table => format!("--as {} reads none", kind.name()),
        ImportArguments {
            signed_by: Some(_), ..
        } => "--signed-by reads bundles".to_owned(),
        ImportArguments { map: Some(_), .. } => "--map gives one".to_owned(),
        _ => return Ok(()),
    };
    let mut names: Vec<&str> = given_options(&arguments.table)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    names.dedup();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let subject = match quoted.as_slice() {
        [] => return Ok(()),
        [one] => format!("{one} is"),
        [most @ .., last] => format!("{} and {last} are", most.join(", ")),
    };
    Err(
        CommandFailure::new(format!("{subject} for tables without a map, and {reason}"))
            .with_hint(format!("leave out {}", names.join(", "))),
    )
}

/// Returns the given command with one more option. Leaves out options that import nothing, and answers to questions that are asked again.
fn extend_command(settings: &Settings, arguments: &ImportArguments, more: &str) -> String {
    let ImportArguments {
        files,
        kind,
        map: _,
        set,
        signed_by: _,
        again,
        dry_run: _,
        table,
    } = arguments;
    let mut words: Vec<String> = kind
        .iter()
        .map(|kind| format!("--as {}", kind.name()))
        .collect();
    let options = given_options(table)
        .into_iter()
        .filter(|(name, _)| !["--yes", "--write-map"].contains(name));
    words.extend(options.map(|(name, value)| match value {
        Some(value) => format!("{name} {}", shell_word(&escape_invisible(&value))),
        None => name.to_owned(),
    }));
    words.extend(
        set.iter()
            .map(|one| format!("--set {}", shell_word(&escape_invisible(one)))),
    );
    words.extend(again.then(|| "--again".to_owned()));
    words.extend(settings.strict.then(|| "--strict".to_owned()));
    words.push(more.to_owned());
    import_command(settings, files, &words)
}

/// Returns the given options for tables, each with its value if it takes one.
fn given_options(table: &Table) -> Vec<(&'static str, Option<String>)> {
    let Table {
        yes,
        write_map,
        approach,
        model,
        suite,
        columns,
    } = table;
    let written = write_map.as_ref().map(|path| path.display().to_string());
    let of_table = [
        ("--approach", approach.clone()),
        ("--model", model.clone()),
        ("--suite", suite.clone()),
        ("--write-map", written),
    ];
    of_table
        .into_iter()
        .filter(|(_, value)| value.is_some())
        .chain(given_columns(columns))
        .chain(yes.then_some(("--yes", None)))
        .collect()
}

/// Returns the given options for columns, each with its value.
fn given_columns(columns: &TableColumns) -> Vec<(&'static str, Option<String>)> {
    let TableColumns {
        item,
        passed,
        score,
        direction,
        attempt,
        evaluator,
        wide,
        values,
        decimal,
        sheet,
        list,
        of_arms,
    } = columns;
    let single = [
        ("--approach", of_arms.approach.clone()),
        ("--model", of_arms.model.clone()),
        ("--suite", of_arms.suite.clone()),
        ("--item", item.clone()),
        ("--passed", passed.clone()),
        ("--score", score.clone()),
        ("--attempt", attempt.clone()),
        ("--evaluator", evaluator.clone()),
        ("--sheet", sheet.clone()),
        ("--list", list.clone()),
        ("--direction", direction.as_ref().and_then(value_name)),
        ("--wide", wide.as_ref().and_then(value_name)),
        ("--decimal", decimal.as_ref().and_then(value_name)),
    ];
    let single = single.into_iter().filter(|(_, value)| value.is_some());
    let values = values.iter().map(|value| ("--value", Some(value.clone())));
    single.chain(values).collect()
}

/// Returns the given options for columns as words of a command line.
pub(super) fn column_words(columns: &TableColumns) -> Vec<String> {
    given_columns(columns)
        .into_iter()
        .map(|(name, value)| match value {
            Some(value) => format!("{name} {}", shell_word(&escape_invisible(&value))),
            None => name.to_owned(),
        })
        .collect()
}

fn value_name(value: &impl ValueEnum) -> Option<String> {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
}

/// Returns the command that fits votes on pairs of arms, if the files are such votes.
fn votes_command(files: &[PathBuf]) -> Option<String> {
    let are_votes = |file: &PathBuf| {
        read_votes(file, &VoteLayout::default()).is_ok_and(|found| !found.votes.is_empty())
    };
    let names: Vec<String> = files
        .iter()
        .map(|file| shell_word(&display_path(file)))
        .collect();
    (!files.is_empty() && files.iter().all(are_votes))
        .then(|| format!("evalreport fit preferences {}", names.join(" ")))
}

/// Returns the failure of a proposal for these files. `command` formats the command with the option that answers an open question, and
/// `as_typed` formats the options as that command takes them.
pub(super) fn proposal_failure(
    why: NoProposal,
    files: &[PathBuf],
    command: &dyn Fn(&str) -> String,
    as_typed: fn(&str) -> String,
) -> CommandFailure {
    match why {
        NoProposal::NoTable => CommandFailure::new(
            "the files hold no table: no rows with columns, no list of objects, no object of rows",
        ),
        NoProposal::Unreadable(problems) => CommandFailure::from(crate::domain::Problems(problems)),
        NoProposal::Open(questions) => {
            if let Some(command) = votes_command(files) {
                return CommandFailure::new(
                    "the table holds votes on pairs of answers, and no outcomes of each answer",
                )
                .with_hint(format!("rank the arms by the votes: {command}"));
            }
            let mut failure = CommandFailure::new("the table's columns are unclear");
            let detail =
                |MappingQuestion { text, option, .. }: &MappingQuestion| match option.as_str() {
                    "" => escape_invisible(text),
                    option => {
                        let option = as_typed(&escape_invisible(option));
                        format!("{}: {option}", escape_invisible(text))
                    }
                };
            failure.details = questions.iter().map(detail).collect();
            let given = questions
                .iter()
                .find(|question| question.works)
                .map(MappingQuestion::given_option);
            failure.with_hint(match given {
                Some(option) => format!(
                    "decide it: {}; or write a map, see `evalreport help import/tables`",
                    command(&escape_invisible(option))
                ),
                None => "write a map, see `evalreport help import/tables`".to_owned(),
            })
        }
    }
}

/// Options that select runs, except in an import: there they name columns.
const OF_ARMS: [&str; 3] = ["--approach ", "--model ", "--suite "];

/// Marks the columns in options for commands in which these options select runs: `--approach prompt` becomes `--approach @prompt`.
pub(super) fn name_columns(options: &str) -> String {
    let mut marked = options.to_owned();
    for name in OF_ARMS {
        let mut parts = marked.split(name);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (quote, column) = part
                .strip_prefix('\'')
                .map_or(("", part), |rest| ("'", rest));
            let mark = if column.starts_with('@') { "" } else { "@" };
            text.push_str(&format!("{name}{quote}{mark}{column}"));
        }
        marked = text;
    }
    marked
}

/// Returns the command that answers a question about tables: the one that the user typed, if it takes the option, or an import.
pub(super) fn answering_command(
    settings: &Settings,
    files: &[PathBuf],
    own: &[String],
    option: &str,
) -> String {
    let more = split_shell_words(option).unwrap_or_default();
    if settings.typed.is_empty() || more.iter().any(|word| word == "--map") {
        let options: Vec<String> = own.iter().cloned().chain([option.to_owned()]).collect();
        return import_command(settings, files, &options);
    }
    let option = name_columns(option);
    // An option that is given again has one value.
    let is_given = |name: &str| {
        name.starts_with("--") && name != "--value" && more.iter().any(|word| word == name)
    };
    let is_plain = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let mut words = Vec::new();
    let mut typed = settings.typed.iter();
    while let Some(word) = typed.next() {
        match word.split_once('=') {
            Some((name, _)) if is_given(name) => {}
            None if is_given(word) => {
                typed.next();
            }
            // The name of an option needs no quotes.
            None if word.starts_with("--") && is_plain(word) => words.push(word.clone()),
            _ => words.push(shell_word(&escape_invisible(word))),
        }
    }
    format!("evalreport {} {option}", words.join(" "))
}

/// Returns the command that imports the files with these options into the same results.
pub(super) fn import_command(settings: &Settings, files: &[PathBuf], options: &[String]) -> String {
    let files = files.iter().map(|file| shell_word(&display_path(file)));
    let words = ["evalreport".to_owned(), "import".to_owned()]
        .into_iter()
        .chain(files);
    words
        .chain(settings.location_options())
        .chain(options.iter().cloned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Describes the proposal: the map, the assumptions, and the first rows as they would be read.
fn describe_proposal(proposal: &MapProposal) -> Vec<String> {
    let cut = |line: &str| {
        let line = escape_invisible(line);
        if line.chars().count() > MAX_SHOWN {
            format!("{}…", line.chars().take(MAX_SHOWN).collect::<String>())
        } else {
            line
        }
    };
    let mut lines = vec![format!(
        "{} read as a table by this map:",
        output::format_count(proposal.files.len(), "file")
    )];
    lines.extend(proposal.text.lines().map(|line| format!("  {}", cut(line))));
    lines.extend(
        proposal
            .notes
            .iter()
            .map(|note| format!("note: {}", escape_invisible(note))),
    );
    lines.push("the first rows as they will be read:".to_owned());
    lines.extend(
        proposal
            .rows
            .iter()
            .map(|row| format!("  {}", cut(&format_row(row)))),
    );
    lines
}

fn format_row(row: &ProposedRow) -> String {
    let score = row
        .score
        .map_or_else(String::new, |score| format!(", score {score}"));
    let arm = format!("{} · {} · {}", row.suite, row.approach, row.model);
    match (&row.item, row.counts) {
        // A score is all that such a row says.
        (Some((item, ItemStatus::Skipped)), _) if row.score.is_some() => {
            format!("{arm}: {item}{score}")
        }
        (Some((item, status)), _) => format!("{arm}: {item} {}{score}", status.name()),
        (None, Some((passed, total))) => format!(
            "{arm}: {} of {}{score}",
            format::format_integer(passed),
            format::format_integer(total)
        ),
        (None, None) => format!("{arm}{score}"),
    }
}
