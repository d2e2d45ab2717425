//! `audit`: says how much of a board's order is established, and what is wrong with published figures.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::domain::{Filter, Problems, escape_invisible};
use crate::import::{ImportedScores, read_matrix, read_published_tables};
use crate::render::audit::place_and_standard_tables;
use crate::render::claims;
use crate::render::json::{AnswerSchema, AuditAnswer, answer_schema};
use crate::views::{
    AuditedBoard, NoAudit, Policy, Severity, UnauditedBoard, audit_board, audit_published,
    audit_suites, facts_of_scores, reports_runs,
};
use crate::warehouse::Warehouse;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::failure::CommandFailure;
use super::options::{Format, SuiteOptions};
use super::query::{QueriedRuns, RunQuery};
use super::settings::Settings;
use super::{exit_code, output};

/// Show how much of a board's order is established
#[derive(Args)]
pub(super) struct AuditArguments {
    /// A table of scores from -1 to 1: a row for each system, named in the first column, and a column for each item; repeatable
    #[arg(long, value_name = "FILE")]
    pub matrix: Vec<PathBuf>,
    /// Instead, check a table of published figures against itself: counts, totals, intervals, repeated rows, first places; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suites", "matrix"])]
    pub claims: Vec<PathBuf>,
    /// Print the reporting card of each board too: all facts and figures of the order
    #[arg(long, conflicts_with = "claims")]
    pub card: bool,
    /// Exit with 1 if a finding is this bad or worse
    #[arg(long, value_name = "SEVERITY", requires = "claims")]
    pub fail_on: Option<FailOn>,
    #[command(flatten)]
    pub about: SuiteOptions,
}

impl Command for AuditArguments {
    const NAME: &'static str = "audit";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport audit hello",
            "how much of a suite's order is established",
        ),
        (
            "evalreport audit --claims leaderboard.csv --fail-on impossible",
            "whether a table of published figures can be true",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("audit", answer_schema::<AuditAnswer>)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// No data could give the figure
    Impossible,
    /// Two figures exclude each other
    Contradictory,
    /// The figures do not show it
    NotEstablished,
}

fn run_command(settings: &Settings, arguments: &AuditArguments) -> Result<u8, CommandFailure> {
    if !arguments.claims.is_empty() {
        return audit_claims(settings, arguments);
    }
    let mut matrices = Vec::new();
    for path in &arguments.matrix {
        matrices.push((
            path.as_path(),
            read_matrix(path).map_err(|problems| CommandFailure::from(Problems(problems)))?,
        ));
    }
    let mut found: Vec<_> = matrices
        .into_iter()
        .map(|(path, matrix)| audit_board(&board_of(path, matrix)))
        .collect();
    if arguments.matrix.is_empty() || !arguments.about.suites.is_empty() {
        found.extend(query_suites(settings, &arguments.about, audit_suites)?);
    }
    let (mut audits, mut without) = (Vec::new(), Vec::new());
    for board in found {
        match board {
            Ok(audit) => audits.push(audit),
            Err(board) => without.push(board),
        }
    }
    for board in &without {
        output::print_message(
            settings,
            &format!(
                "note: {} has no audit: {}",
                escape_invisible(&board.board),
                board.reason
            ),
        );
    }
    if audits.is_empty() {
        return Err(nothing_to_audit(&without));
    }
    let tables: Vec<_> = audits
        .iter()
        .flat_map(|audit| {
            let [places, card] = place_and_standard_tables(audit);
            let is_shown = arguments.card || settings.format == Format::Csv;
            [Some(places), Some(card).filter(|_| is_shown)]
        })
        .flatten()
        .collect();
    output::print_answer(settings, "audit", &tables, || AuditAnswer {
        audits,
        without,
        claims: None,
    })?;
    Ok(exit_code::DONE)
}

fn audit_claims(settings: &Settings, arguments: &AuditArguments) -> Result<u8, CommandFailure> {
    let (mut tables, mut problems) = (Vec::new(), Vec::new());
    for path in &arguments.claims {
        match read_published_tables(path) {
            Ok(read) => tables.extend(read),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    let mut warehouse = (reports_runs(&tables) && settings.has_results())
        .then(|| settings.open_warehouse())
        .transpose()?;
    let filter = arguments.about.selection.to_filter()?;
    let audit = audit_published(
        &tables,
        warehouse.as_ref().map(|warehouse| (warehouse, &filter)),
    );
    if let Some(warehouse) = &mut warehouse {
        settings.close_warehouse(warehouse)?;
    }
    let worst = audit.findings.iter().map(|finding| finding.severity).min();
    let limit = arguments.fail_on.map(|limit| match limit {
        FailOn::Impossible => Severity::Impossible,
        FailOn::Contradictory => Severity::Contradictory,
        FailOn::NotEstablished => Severity::NotEstablished,
    });
    let shown = claims::finding_and_check_tables(&audit);
    output::print_answer(settings, "audit", &shown, || AuditAnswer {
        audits: Vec::new(),
        without: Vec::new(),
        claims: Some(audit),
    })?;
    let is_bad = worst
        .zip(limit)
        .is_some_and(|(worst, limit)| worst <= limit);
    Ok(if is_bad {
        exit_code::NEGATIVE
    } else {
        exit_code::DONE
    })
}

/// Asks for something of each selected suite.
pub(super) fn query_suites<T>(
    settings: &Settings,
    suites: &SuiteOptions,
    ask: impl FnOnce(&Warehouse, &Filter, &Policy) -> T,
) -> Result<T, CommandFailure> {
    let query = RunQuery {
        compares: true,
        ..suites.query()
    };
    let QueriedRuns {
        settings,
        mut warehouse,
        filter,
        policy,
    } = query.open(settings)?;
    let found = ask(&warehouse, &filter, &policy);
    settings.close_warehouse(&mut warehouse)?;
    Ok(found)
}

/// Takes a table of scores for a board.
pub(super) fn board_of(path: &Path, matrix: ImportedScores) -> AuditedBoard {
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
    AuditedBoard {
        name,
        provenance: facts_of_scores(matrix.systems.len() as u64),
        systems: matrix.systems,
        items: matrix.items,
        scores: matrix.scores,
        clusters: None,
        are_rates: false,
        judged_by: None,
        sha256: Some(matrix.sha256),
    }
}

fn nothing_to_audit(without: &[UnauditedBoard]) -> CommandFailure {
    let failure = CommandFailure::new("no board has an order to audit");
    if without.is_empty() {
        failure.with_hint(
            "`evalreport list` shows the suites; --matrix FILE reads a table of systems by items",
        )
    } else if without
        .iter()
        .all(|board| board.reason == NoAudit::Corrected)
    {
        failure.with_hint("`evalreport leaderboard` ranks the arms by the corrected figures")
    } else if without
        .iter()
        .all(|board| board.reason == NoAudit::NoOutcomes)
    {
        failure.with_hint(
            "give the results a column that says which items passed; --matrix FILE reads a table of scores, with a row for each system and a \
             column for each item",
        )
    } else {
        failure.with_hint("an audit needs two systems with a result on each item, and two items")
    }
}
