//! `fit`: models of answers, of votes, and of success over the length of tasks.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::{Problems, visible};
use crate::import::{ForeignVotes, VoteColumn, VoteLayout, read_matrix, read_votes};
use crate::render::json::{AbilitiesAnswer, HorizonsAnswer, PreferencesAnswer};
use crate::render::{abilities, horizons, preferences};
use crate::stats::Undefined;
use crate::views::{self, HUMAN_MINUTES, Ties, VotesOnPairs};

use super::arguments::{Abilities, Fit, Horizons, Model, Preferences, TiesAre};
use super::failure::Failure;
use super::file_arms::AskedOfFiles;
use super::settings::Settings;
use super::{audit, exit_code, foreign, output, selection};

pub(super) fn run(settings: &Settings, arguments: &Fit) -> Result<u8, Failure> {
    match &arguments.model {
        Model::Abilities(arguments) => of_answers(settings, arguments),
        Model::Preferences(arguments) => of_votes(settings, arguments),
        Model::Horizons(arguments) => of_lengths(settings, arguments),
    }
}

fn of_answers(settings: &Settings, arguments: &Abilities) -> Result<u8, Failure> {
    let mut found = Vec::new();
    for path in &arguments.matrix {
        let matrix = read_matrix(path).map_err(|problems| Failure::from(Problems(problems)))?;
        found.push(views::abilities(&audit::board_of(path, matrix)));
    }
    if arguments.matrix.is_empty() || !arguments.suites.is_empty() {
        found.extend(audit::of_suites(
            settings,
            (&arguments.selection, &arguments.of_files),
            &arguments.suites,
            views::abilities_of_suites,
        )?);
    }
    let (mut boards, mut without) = (Vec::new(), Vec::new());
    for board in found {
        match board {
            Ok(board) => boards.push(board),
            Err(board) => without.push(board),
        }
    }
    for board in &without {
        output::say(
            settings,
            &format!(
                "note: {} has no abilities: {}",
                visible(&board.board),
                board.reason
            ),
        );
    }
    if boards.is_empty() {
        let failure = Failure::new("no board has enough answers for abilities");
        return Err(failure.with_hint(
            "`evalreport compare` compares two arms; --matrix FILE reads a table of arms by items",
        ));
    }
    let table = if arguments.items {
        abilities::items
    } else {
        abilities::table
    };
    let tables: Vec<_> = boards.iter().map(table).collect();
    output::answer(settings, "fit-abilities", &tables, || AbilitiesAnswer {
        boards,
        without,
    })?;
    Ok(exit_code::DONE)
}

fn of_votes(settings: &Settings, arguments: &Preferences) -> Result<u8, Failure> {
    let layout = VoteLayout {
        columns: columns(&arguments.column)?,
        styles: arguments.style.clone(),
    };
    let ties = match arguments.ties {
        TiesAre::HalfWins => Ties::HalfWins,
        TiesAre::Davidson => Ties::Davidson,
    };
    let mut boards = Vec::new();
    for path in &arguments.files {
        let votes = votes_of(
            path,
            read_votes(path, &layout).map_err(|problems| Failure::from(Problems(problems)))?,
        );
        let board = views::preferences(&votes, ties).map_err(|reason| {
            let file = visible(&path.display().to_string());
            if reason == Undefined::TooFew {
                Failure::new(format!("{file}: no two arms have a finite strength"))
                    .with_hint("two arms need a vote that each won or tied against the other, directly or through others")
            } else {
                Failure::new(format!("{file}: no strengths: {reason}")).with_hint(if layout.styles.is_empty() {
                    "with --ties davidson some votes must not be ties"
                } else {
                    "a style must vary, and must not predict each vote or another style; try without --style"
                })
            }
        })?;
        boards.push(board);
    }
    let tables: Vec<_> = boards.iter().flat_map(preferences::tables).collect();
    output::answer_by_first_table(settings, "fit-preferences", tables, || PreferencesAnswer {
        boards,
    })?;
    Ok(exit_code::DONE)
}

fn columns(given: &[String]) -> Result<BTreeMap<VoteColumn, String>, Failure> {
    let mut columns = BTreeMap::new();
    for pair in given {
        let found = pair.split_once('=').and_then(|(word, name)| {
            let column = VoteColumn::ALL
                .into_iter()
                .find(|column| column.word() == word)?;
            Some((column, name.to_owned()))
        });
        let Some((column, name)) = found else {
            let words = VoteColumn::ALL.map(VoteColumn::word).join(", ");
            return Err(Failure::new(format!(
                "--column `{}` names no column of votes",
                visible(pair)
            ))
            .with_hint(format!(
                "write --column winner=NAME; the columns are {words}"
            )));
        };
        columns.insert(column, name);
    }
    Ok(columns)
}

fn votes_of(path: &Path, found: ForeignVotes) -> VotesOnPairs {
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let ForeignVotes {
        sha256,
        arms,
        votes,
        voters,
        prompts,
        styles,
        unvoted,
        on_itself,
    } = found;
    VotesOnPairs {
        name,
        sha256,
        arms,
        votes,
        voters,
        prompts,
        styles,
        unvoted,
        on_itself,
    }
}

fn of_lengths(settings: &Settings, arguments: &Horizons) -> Result<u8, Failure> {
    let mut filter = arguments.selection.filter()?;
    let (suites, paths) = foreign::split(settings, &arguments.suites)?;
    let asked = AskedOfFiles::take(&arguments.of_files, &mut filter, !paths.is_empty())?;
    let settings = &foreign::with_paths(settings, &paths, &asked)?;
    filter.suites.extend(suites);
    let mut warehouse = settings.open()?;
    let filter = selection::with_model_names(&warehouse, filter);
    selection::check(&warehouse, &filter)?;
    let suites = views::horizons(&warehouse, &filter)
        .map_err(|error| Failure::new(format!("outcomes cannot be read: {error}")))?;
    settings.keep(&mut warehouse)?;
    if suites.is_empty() {
        return Err(
            Failure::new("no selected outcome has a human time").with_hint(format!(
                "a time horizon needs the score `{HUMAN_MINUTES}` of outcomes; METR's runs have it"
            )),
        );
    }
    let tables: Vec<_> = suites.iter().map(horizons::table).collect();
    output::answer(settings, "fit-horizons", &tables, || HorizonsAnswer {
        suites,
    })?;
    Ok(exit_code::DONE)
}
