//! `fit`: models of answers, of votes, and of success over the length of tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::domain::{Problems, escape_invisible};
use crate::import::{ImportedVotes, VoteColumn, VoteLayout, read_matrix, read_votes};
use crate::render::json::{
    AbilitiesAnswer, AnswerSchema, HorizonsAnswer, PreferencesAnswer, answer_schema,
};
use crate::render::{abilities, horizons, preferences};
use crate::stats::Undefined;
use crate::views::{self, HUMAN_MINUTES, Ties, VotesOnPairs};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::{OfFiles, Selection, SuiteOptions};
use super::query::{QueriedRuns, RunQuery};
use super::settings::Settings;
use super::{audit, exit_code, output};

/// Fit abilities of arms, strengths from votes on pairs, or time horizons
#[derive(Args)]
pub(super) struct FitArguments {
    #[command(subcommand)]
    pub model: FitModel,
}

impl Command for FitArguments {
    const NAME: &'static str = "fit";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport fit abilities --matrix scores.csv",
            "arms that were asked different items, on one scale",
        ),
        (
            "evalreport fit preferences votes.csv",
            "a board of votes on pairs of models",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[
        ("fit-abilities", answer_schema::<AbilitiesAnswer>),
        ("fit-horizons", answer_schema::<HorizonsAnswer>),
        ("fit-preferences", answer_schema::<PreferencesAnswer>),
    ];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

#[derive(Subcommand)]
pub(super) enum FitModel {
    /// Abilities of arms that were asked different items, their expected rates on all items, and the items' difficulties
    Abilities(AbilitiesArguments),
    /// Strengths of arms from votes on pairs of them (Bradley and Terry), with ranks that hold
    Preferences(PreferencesArguments),
    /// How long tasks take people that an arm does half of the time, and 8 of 10 times
    Horizons(HorizonsArguments),
}

#[derive(Args)]
pub(super) struct AbilitiesArguments {
    /// A table of scores from 0 to 1: a row for each arm, named in the first column, and a column for each item; an empty cell if the arm was
    /// not asked; repeatable
    #[arg(long, value_name = "FILE")]
    pub matrix: Vec<PathBuf>,
    /// Print the items instead: difficulty, discrimination, and whether worse arms pass them rather than better ones
    #[arg(long)]
    pub items: bool,
    #[command(flatten)]
    pub about: SuiteOptions,
}

#[derive(Args)]
pub(super) struct PreferencesArguments {
    /// Tables of votes with the columns model_a, model_b and winner: model_a, model_b or tie
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Another name of a column, for example winner=better; first, second, winner, voter or prompt; repeatable
    #[arg(long, value_name = "COLUMN=NAME")]
    pub column: Vec<String>,
    /// Compare at equal style: two columns of amounts, for example `words` for words_a and words_b, or 'n_*_words'; repeatable
    #[arg(long, value_name = "NAME")]
    pub style: Vec<String>,
    /// Take a tie as half a win for each arm, or as an outcome of its own
    #[arg(long, value_enum, default_value_t = TiesAre::HalfWins)]
    pub ties: TiesAre,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TiesAre {
    HalfWins,
    Davidson,
}

#[derive(Args)]
pub(super) struct HorizonsArguments {
    /// Suites, or paths such as ./runs.jsonl to other tools' results [default: all suites with human times]
    #[arg(value_name = "SUITE|PATH")]
    pub suites: Vec<String>,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

fn run_command(settings: &Settings, arguments: &FitArguments) -> Result<u8, CommandFailure> {
    match &arguments.model {
        FitModel::Abilities(arguments) => fit_abilities(settings, arguments),
        FitModel::Preferences(arguments) => fit_preferences(settings, arguments),
        FitModel::Horizons(arguments) => fit_horizons(settings, arguments),
    }
}

fn fit_abilities(
    settings: &Settings,
    arguments: &AbilitiesArguments,
) -> Result<u8, CommandFailure> {
    let mut found = Vec::new();
    for path in &arguments.matrix {
        let matrix =
            read_matrix(path).map_err(|problems| CommandFailure::from(Problems(problems)))?;
        found.push(views::fit_abilities(&audit::board_of(path, matrix), &[]));
    }
    if arguments.matrix.is_empty() || !arguments.about.suites.is_empty() {
        found.extend(audit::query_suites(
            settings,
            &arguments.about,
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
        output::print_message(
            settings,
            &format!(
                "note: {} has no abilities: {}",
                escape_invisible(&board.board),
                board.reason
            ),
        );
    }
    if boards.is_empty() {
        let failure = CommandFailure::new("no board has enough answers for abilities");
        return Err(failure.with_hint(
            "`evalreport compare` compares two arms; --matrix FILE reads a table of arms by items",
        ));
    }
    let table = if arguments.items {
        abilities::difficulty_table
    } else {
        abilities::arms_table
    };
    let tables: Vec<_> = boards.iter().map(table).collect();
    output::print_answer(settings, "fit-abilities", &tables, || AbilitiesAnswer {
        boards,
        without,
    })?;
    Ok(exit_code::DONE)
}

fn fit_preferences(
    settings: &Settings,
    arguments: &PreferencesArguments,
) -> Result<u8, CommandFailure> {
    let layout = VoteLayout {
        columns: parse_columns(&arguments.column)?,
        styles: arguments.style.clone(),
    };
    let ties = match arguments.ties {
        TiesAre::HalfWins => Ties::HalfWins,
        TiesAre::Davidson => Ties::Davidson,
    };
    let mut boards = Vec::new();
    for path in &arguments.files {
        let votes = to_votes(
            path,
            read_votes(path, &layout)
                .map_err(|problems| CommandFailure::from(Problems(problems)))?,
        );
        let board = views::fit_preferences(&votes, ties).map_err(|reason| {
            let file = escape_invisible(&path.display().to_string());
            if reason == Undefined::TooFew {
                CommandFailure::new(format!("{file}: no two arms have a finite strength"))
                    .with_hint("two arms need a vote that each won or tied against the other, directly or through others")
            } else {
                CommandFailure::new(format!("{file}: no strengths: {reason}")).with_hint(if layout.styles.is_empty() {
                    "with --ties davidson some votes must not be ties"
                } else {
                    "a style must vary, and must not predict each vote or another style; try without --style"
                })
            }
        })?;
        boards.push(board);
    }
    let tables: Vec<_> = boards
        .iter()
        .flat_map(preferences::strength_tables)
        .collect();
    output::print_answer_by_first_table(settings, "fit-preferences", tables, || {
        PreferencesAnswer { boards }
    })?;
    Ok(exit_code::DONE)
}

fn parse_columns(given: &[String]) -> Result<BTreeMap<VoteColumn, String>, CommandFailure> {
    let mut columns = BTreeMap::new();
    for pair in given {
        let found = pair.split_once('=').and_then(|(word, name)| {
            let column = VoteColumn::ALL
                .into_iter()
                .find(|column| column.argument_name() == word)?;
            Some((column, name.to_owned()))
        });
        let Some((column, name)) = found else {
            let words = VoteColumn::ALL.map(VoteColumn::argument_name).join(", ");
            return Err(CommandFailure::new(format!(
                "--column `{}` names no column of votes",
                escape_invisible(pair)
            ))
            .with_hint(format!(
                "write --column winner=NAME; the columns are {words}"
            )));
        };
        columns.insert(column, name);
    }
    Ok(columns)
}

fn to_votes(path: &Path, found: ImportedVotes) -> VotesOnPairs {
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    let ImportedVotes {
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

fn fit_horizons(settings: &Settings, arguments: &HorizonsArguments) -> Result<u8, CommandFailure> {
    let query = RunQuery::new(&arguments.suites, &arguments.of_files, &arguments.selection);
    let QueriedRuns {
        ref settings,
        mut warehouse,
        filter,
        ..
    } = query.open(settings)?;
    let suites = views::suite_horizons(&warehouse, &filter)
        .map_err(|error| CommandFailure::new(format!("outcomes cannot be read: {error}")))?;
    settings.close_warehouse(&mut warehouse)?;
    if suites.is_empty() {
        return Err(
            CommandFailure::new("no selected outcome has a human time").with_hint(format!(
                "a time horizon needs the score `{HUMAN_MINUTES}` of outcomes; METR's runs have it"
            )),
        );
    }
    let tables: Vec<_> = suites.iter().map(horizons::arms_table).collect();
    output::print_answer(settings, "fit-horizons", &tables, || HorizonsAnswer {
        suites,
    })?;
    Ok(exit_code::DONE)
}
