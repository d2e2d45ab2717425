//! `import` of a table without a map: shows a proposed map and asks whether it is right.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::domain::{ItemStatus, shell_word, visible};
use crate::files;
use crate::import::{
    Better, Hints, Map, NoProposal, Proposal, ProposedRow, Question, WideAre, are_tables,
    propose_tables,
};
use crate::render::format;

use super::arguments::{End, Import, ImportAs, Mark, Table, Wide};
use super::assignments::assignments;
use super::failure::Failure;
use super::output;
use super::settings::Settings;
use super::shown::shown;

/// Maximum length of a shown line of the map, in characters.
const MOST_SHOWN: usize = 160;

fn hints_of(arguments: &Import, set: BTreeMap<String, String>) -> Result<Hints, Failure> {
    let Table {
        approach,
        model,
        suite,
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
        ..
    } = &arguments.table;
    let values = assignments("--value", values, "--value partial=fail")?;
    if let Some((_, status)) = values
        .iter()
        .find(|(_, status)| ItemStatus::from_name(status).is_none())
    {
        let names: Vec<&str> = ItemStatus::ALL.iter().map(|status| status.name()).collect();
        return Err(Failure::new(format!("`{}` is no status", visible(status)))
            .with_hint(format!("write one of {}", names.join(", "))));
    }
    let wide = wide.map(|wide| match wide {
        Wide::Approaches => WideAre::Approaches,
        Wide::Items => WideAre::Items,
        Wide::Suites => WideAre::Suites,
        Wide::Attempts => WideAre::Attempts,
    });
    Ok(Hints {
        approach: approach.clone(),
        model: model.clone(),
        suite: suite.clone(),
        item: item.clone(),
        passed: passed.clone(),
        score: score.clone(),
        attempt: attempt.clone(),
        evaluator: evaluator.clone(),
        sheet: sheet.clone(),
        list: list.clone(),
        direction: direction.map(|end| {
            if end == End::Up {
                Better::High
            } else {
                Better::Low
            }
        }),
        wide,
        decimal_comma: decimal.map(|mark| mark == Mark::Comma),
        values,
        set,
    })
}

/// Decision on tables without a map.
pub(super) enum Agreed {
    /// The files are to be read by this map, as agreed.
    Read(Box<Map>, Vec<PathBuf>),
    /// The map was only to be written to a file.
    Written,
    /// The files are not tables without a map, and no option says that they are.
    NoTable,
}

/// Shows the proposal and asks whether it is right, if the files are tables without a map: because an option says so, or because they have
/// no known format.
pub(super) fn agreed(
    settings: &Settings,
    arguments: &Import,
    set: BTreeMap<String, String>,
) -> Result<Agreed, Failure> {
    if arguments.map.is_some() || arguments.kind.is_some_and(|kind| kind != ImportAs::Table) {
        return Ok(Agreed::NoTable);
    }
    let hints = hints_of(arguments, set)?;
    let is_meant =
        arguments.kind.is_some() || arguments.table.write_map.is_some() || hints.are_given();
    if !is_meant && !are_tables(&arguments.files) {
        return Ok(Agreed::NoTable);
    }
    let proposal = match propose_tables(&arguments.files, &hints) {
        Err(NoProposal::NoTable) if !is_meant => return Ok(Agreed::NoTable),
        proposed => {
            proposed.map_err(|why| refused(why, &|option| command(settings, arguments, option)))?
        }
    };
    let described = describe(&proposal);
    let table = &arguments.table;
    if let Some(path) = &table.write_map {
        write_map(path, &proposal.text)?;
        output::say(settings, &format!("the map is in {}", shown(path)));
    }
    if table.yes || arguments.dry_run {
        say(settings, &described);
        return Ok(Agreed::Read(Box::new(proposal.map), proposal.files));
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        if table.write_map.is_some() {
            say(settings, &described);
            return Ok(Agreed::Written);
        }
        let mut failure = Failure::new("the table has no map; proposed map");
        failure.details = described;
        return Err(failure.with_hint(format!(
            "to import it so: {}",
            command(settings, arguments, "--yes")
        )));
    }
    for line in &described {
        output::tell(line);
    }
    if ask("Import it so? [Y/n] ") {
        return Ok(Agreed::Read(Box::new(proposal.map), proposal.files));
    }
    Err(Failure::new("nothing was imported").with_hint(format!(
        "change the map and use it: {}",
        command(settings, arguments, "--write-map map.yaml")
    )))
}

fn say(settings: &Settings, lines: &[String]) {
    for line in lines {
        output::say(settings, line);
    }
}

/// Asks a question. An empty answer, `y` or `yes` means yes; anything else, and the end of the input, means no.
fn ask(question: &str) -> bool {
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

fn write_map(path: &Path, text: &str) -> Result<(), Failure> {
    let written = files::open_by(
        std::fs::OpenOptions::new().write(true).create_new(true),
        path,
    )
    .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let failure = Failure::new(format!("cannot write {}: {error}", shown(path)));
        if error.kind() == io::ErrorKind::AlreadyExists {
            failure.with_hint("name another file, or take it away first")
        } else {
            failure
        }
    })
}

/// Fails if options for tables without a map are given although the files are read as something else, or by a map.
pub(super) fn refuse_unread(arguments: &Import) -> Result<(), Failure> {
    let reason = match arguments {
        Import {
            kind: Some(kind), ..
        } if *kind != ImportAs::Table => format!("--as {} reads none", kind.name()),
        Import {
            signed_by: Some(_), ..
        } => "--signed-by reads bundles".to_owned(),
        Import { map: Some(_), .. } => "--map gives one".to_owned(),
        _ => return Ok(()),
    };
    let mut names: Vec<&str> = given(&arguments.table)
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
        Failure::new(format!("{subject} for tables without a map, and {reason}"))
            .with_hint(format!("leave out {}", names.join(", "))),
    )
}

/// Returns the given command with one more option. Leaves out options that import nothing, and answers to questions that are asked again.
fn command(settings: &Settings, arguments: &Import, more: &str) -> String {
    let Import {
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
    let options = given(table)
        .into_iter()
        .filter(|(name, _)| !["--yes", "--write-map"].contains(name));
    words.extend(options.map(|(name, value)| match value {
        Some(value) => format!("{name} {}", shell_word(&visible(&value))),
        None => name.to_owned(),
    }));
    words.extend(
        set.iter()
            .map(|one| format!("--set {}", shell_word(&visible(one)))),
    );
    words.extend(again.then(|| "--again".to_owned()));
    words.extend(settings.strict.then(|| "--strict".to_owned()));
    words.push(more.to_owned());
    import_command(settings, files, &words)
}

/// Returns the given options for tables, each with its value if it takes one.
fn given(table: &Table) -> Vec<(&'static str, Option<String>)> {
    let Table {
        yes,
        write_map,
        approach,
        model,
        suite,
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
    } = table;
    let written = write_map.as_ref().map(|path| path.display().to_string());
    let single = [
        ("--approach", approach.clone()),
        ("--model", model.clone()),
        ("--suite", suite.clone()),
        ("--item", item.clone()),
        ("--passed", passed.clone()),
        ("--score", score.clone()),
        ("--attempt", attempt.clone()),
        ("--evaluator", evaluator.clone()),
        ("--sheet", sheet.clone()),
        ("--list", list.clone()),
        ("--direction", direction.as_ref().and_then(name_of)),
        ("--wide", wide.as_ref().and_then(name_of)),
        ("--decimal", decimal.as_ref().and_then(name_of)),
        ("--write-map", written),
    ];
    let single = single.into_iter().filter(|(_, value)| value.is_some());
    let values = values.iter().map(|value| ("--value", Some(value.clone())));
    single
        .chain(values)
        .chain(yes.then_some(("--yes", None)))
        .collect()
}

fn name_of(value: &impl ValueEnum) -> Option<String> {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
}

/// Returns the failure of a proposal. `command` formats the command with the option that answers an open question.
pub(super) fn refused(why: NoProposal, command: &dyn Fn(&str) -> String) -> Failure {
    match why {
        NoProposal::NoTable => Failure::new(
            "the files hold no table: no rows with columns, no list of objects, no object of rows",
        ),
        NoProposal::Unreadable(problems) => Failure::from(crate::domain::Problems(problems)),
        NoProposal::Open(questions) => {
            let mut failure = Failure::new("the table's columns are unclear");
            let detail = |Question { text, option }: &Question| match option.as_str() {
                "" => visible(text),
                option => format!("{}: {}", visible(text), visible(option)),
            };
            failure.details = questions.iter().map(detail).collect();
            let given = questions
                .iter()
                .map(Question::given)
                .find(|option| !option.is_empty());
            failure.with_hint(match given {
                Some(option) => format!(
                    "decide it: {}; or write a map, see `evalreport help import/tables`",
                    command(&visible(option))
                ),
                None => "write a map, see `evalreport help import/tables`".to_owned(),
            })
        }
    }
}

/// Returns the command that imports the files with these options into the same results.
pub(super) fn import_command(settings: &Settings, files: &[PathBuf], options: &[String]) -> String {
    let files = files.iter().map(|file| shell_word(&shown(file)));
    let words = ["evalreport".to_owned(), "import".to_owned()]
        .into_iter()
        .chain(files);
    words
        .chain(settings.place_words())
        .chain(options.iter().cloned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Describes the proposal: the map, the assumptions, and the first rows as they would be read.
fn describe(proposal: &Proposal) -> Vec<String> {
    let cut = |line: &str| {
        let line = visible(line);
        if line.chars().count() > MOST_SHOWN {
            format!("{}…", line.chars().take(MOST_SHOWN).collect::<String>())
        } else {
            line
        }
    };
    let mut lines = vec![format!(
        "{} read as a table by this map:",
        output::count(proposal.files.len(), "file")
    )];
    lines.extend(proposal.text.lines().map(|line| format!("  {}", cut(line))));
    lines.extend(
        proposal
            .notes
            .iter()
            .map(|note| format!("note: {}", visible(note))),
    );
    lines.push("the first rows as they will be read:".to_owned());
    lines.extend(
        proposal
            .rows
            .iter()
            .map(|row| format!("  {}", cut(&row_of(row)))),
    );
    lines
}

fn row_of(row: &ProposedRow) -> String {
    let score = row
        .score
        .map_or_else(String::new, |score| format!(", score {score}"));
    let arm = format!("{} · {} · {}", row.suite, row.approach, row.model);
    match (&row.item, row.counts) {
        (Some((item, status)), _) => format!("{arm}: {item} {}{score}", status.name()),
        (None, Some((passed, total))) => format!(
            "{arm}: {} of {}{score}",
            format::integer(passed),
            format::integer(total)
        ),
        (None, None) => format!("{arm}{score}"),
    }
}
