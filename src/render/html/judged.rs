//! A run's criteria, evaluators' scores and verification, as parts of its page.

use crate::domain::{RunStatus, VerifiedFailure};
use crate::render::format;
use crate::render::judged::{
    hidden_lines_note, judged_by, judging_cost, met_criteria_count, outcome_word, score_word,
    verification_facts,
};
use crate::views::{EvaluatorScore, ItemRow, RunPage, StoredVerification};

use super::cut::truncate_text;
use super::grid::{ColumnLook, Grid, GridCell, GridColumn, SortOrder};
use super::items::criterion_href;
use super::routes::SuiteRoutes;
use super::score_details::build_grids;
use super::shell::Text;

/// A label with its text.
pub(super) struct LabelledText {
    pub label: &'static str,
    pub text: Text,
}

/// The criteria of a run.
pub(super) struct RunCriteria {
    pub grid: Grid,
    pub sentences: Vec<Text>,
    /// Address of the criteria over all counted runs.
    pub href: Option<String>,
}

/// One evaluator's score, with details that unfold.
pub(super) struct EvaluatorDetails {
    pub name: Text,
    pub score: Text,
    pub is_unknown: bool,
    pub facts: Vec<LabelledText>,
    pub details: Vec<Grid>,
}

pub(super) struct VerificationDetails {
    pub facts: Vec<LabelledText>,
    pub grids: Vec<Grid>,
    pub reasons: Vec<Text>,
    pub note: Option<String>,
}

pub(super) fn summarise_criteria(
    run: &RunPage,
    suite: &SuiteRoutes,
    root: &str,
) -> Option<RunCriteria> {
    let rows = &run.criteria;
    let first = rows.first()?;
    let each =
        |cell: &dyn Fn(&ItemRow) -> GridCell| rows.iter().map(cell).collect::<Vec<GridCell>>();
    let mut grid = Grid::new("criteria-table", "What was required")
        .with_about(format!("decided by {}", first.evaluator));
    let counts = RunStatus::from_name(&run.line.status).is_some_and(RunStatus::is_counted);
    // The pages of criteria only have counted runs.
    let link =
        |row: &ItemRow| criterion_href(suite, root, &row.item, &row.evaluator).filter(|_| counts);
    grid.add_column(
        GridColumn::new("Criterion", ColumnLook::Key, SortOrder::Ascending),
        each(&|row| GridCell::head(truncate_text(&row.item)).with_link(link(row))),
    );
    let outcome = |row: &ItemRow| GridCell {
        text: Text::from(outcome_word(&row.status)),
        ..GridCell::item_status(&row.status)
    };
    grid.add_column(
        GridColumn::new("Outcome", ColumnLook::Words, SortOrder::Ascending),
        each(&outcome),
    );
    if rows.iter().any(|row| row.reason.is_some()) {
        let reason = |row: &ItemRow| {
            GridCell::words(
                row.reason
                    .as_deref()
                    .map_or_else(String::new, truncate_text),
            )
        };
        grid.add_column(
            GridColumn::new("Reasoning", ColumnLook::Words, SortOrder::Ascending),
            each(&reason),
        );
    }
    if rows.iter().any(|row| row.score.is_some()) {
        let score = |row: &ItemRow| {
            GridCell::number_or_unknown(
                row.score
                    .map(|score| (format::unscaled_number(score), score)),
            )
        };
        grid.add_column(
            GridColumn::new("Score", ColumnLook::Number, SortOrder::Descending),
            each(&score),
        );
    }
    if rows.iter().any(|row| row.attempt > 1) {
        grid.add_column(
            GridColumn::new("Attempt", ColumnLook::Number, SortOrder::Ascending),
            each(&|row| GridCell::count(u64::from(row.attempt))),
        );
    }
    if rows.iter().any(|row| row.evaluator != first.evaluator) {
        grid.about = Text::default();
        grid.add_column(
            GridColumn::new("Evaluator", ColumnLook::Words, SortOrder::Ascending),
            each(&|row| GridCell::words(row.evaluator.as_str())),
        );
    }
    // Earlier versions imported branches as clusters.
    let branch_of = |row: &ItemRow| row.category.clone().or_else(|| row.cluster.clone());
    if rows.iter().any(|row| branch_of(row).is_some()) {
        let branch = |row: &ItemRow| GridCell::words(branch_of(row).unwrap_or_default());
        grid.add_column(
            GridColumn::new("Branch", ColumnLook::Words, SortOrder::Ascending),
            each(&branch),
        );
    }
    let judges = run
        .evaluators
        .iter()
        .filter(|score| score.evaluator == first.evaluator)
        .filter_map(judged_by);
    let sentences = run
        .criteria_count
        .map(met_criteria_count)
        .into_iter()
        .chain(judges)
        .map(Text::from)
        .collect();
    let href = counts.then(|| format!("{root}{}", suite.criteria_path()));
    Some(RunCriteria {
        grid: grid.with_filter(""),
        sentences,
        href,
    })
}

pub(super) fn list_evaluators(run: &RunPage) -> Vec<EvaluatorDetails> {
    run.evaluators
        .iter()
        .enumerate()
        .map(|(place, score)| describe_evaluator(place, score))
        .collect()
}

fn describe_evaluator(place: usize, score: &EvaluatorScore) -> EvaluatorDetails {
    let judge = score.judge.as_ref();
    let known = [
        ("Not evaluated because", score.not_evaluated.clone()),
        ("Reasoning", score.reasoning.clone()),
        ("Judge", judge.map(|judge| judge.agent.clone())),
        ("Judge's model", judge.and_then(|judge| judge.model.clone())),
        (
            "Judge's words (SHA-256)",
            judge.map(|judge| judge.prompt_sha256.clone()),
        ),
        (
            "Votes",
            judge
                .filter(|judge| judge.votes > 0)
                .map(|judge| format::format_integer(judge.votes)),
        ),
        (
            "Votes that agreed",
            judge
                .and_then(|judge| judge.agreement)
                .map(|share| format::percent(share, 0)),
        ),
        (
            "Judge's cost, apart from the run's",
            judge.and_then(judging_cost),
        ),
        (
            "Judge's tokens in",
            judge
                .and_then(|judge| judge.input_tokens)
                .map(format::format_integer),
        ),
        (
            "Judge's tokens out",
            judge
                .and_then(|judge| judge.output_tokens)
                .map(format::format_integer),
        ),
        (
            "Revision",
            (score.revision > 0).then(|| score.revision.to_string()),
        ),
    ];
    EvaluatorDetails {
        name: Text::new(&score.evaluator),
        score: Text::from(score_word(score)),
        is_unknown: score.value.is_none(),
        facts: known
            .into_iter()
            .filter_map(|(label, text)| {
                Some(LabelledText {
                    label,
                    text: Text::from(text?),
                })
            })
            .collect(),
        details: score
            .details
            .as_ref()
            .map(|details| build_grids(details, &format!("evaluator-{place}")))
            .unwrap_or_default(),
    }
}

pub(super) fn describe_verification(verification: &StoredVerification) -> VerificationDetails {
    let said = verification_facts(verification)
        .into_iter()
        .map(|(label, text)| LabelledText {
            label,
            text: Text::from(text),
        });
    let mut grids = Vec::new();
    if !verification.record.checks.is_empty() {
        let checks = &verification.record.checks;
        let mut grid = Grid::new("checks-table", "Checks");
        let words = |text: &Option<String>| {
            GridCell::words(text.as_deref().map_or_else(String::new, truncate_text))
        };
        let plain = |text: &Option<String>| {
            GridCell::words(text.as_deref().unwrap_or_default().replace('_', " "))
        };
        grid.add_column(
            GridColumn::new("Command", ColumnLook::Key, SortOrder::None),
            checks
                .iter()
                .map(|check| GridCell::head(truncate_text(&check.command))),
        );
        grid.add_column(
            GridColumn::new("Outcome", ColumnLook::Words, SortOrder::None),
            checks
                .iter()
                .map(|check| check_outcome_cell(check.outcome.as_deref().unwrap_or("not_run"))),
        );
        if checks.iter().any(|check| check.baseline.is_some()) {
            grid.add_column(
                GridColumn::new("At baseline", ColumnLook::Words, SortOrder::None),
                checks.iter().map(|check| plain(&check.baseline)),
            );
        }
        if checks.iter().any(|check| check.seconds.is_some()) {
            let duration = |seconds: Option<f64>| {
                GridCell::number_or_unknown(
                    seconds.map(|seconds| (format::duration(seconds), seconds)),
                )
            };
            grid.add_column(
                GridColumn::new("Duration", ColumnLook::Number, SortOrder::None),
                checks.iter().map(|check| duration(check.seconds)),
            );
        }
        if checks.iter().any(|check| check.folder.is_some()) {
            grid.add_column(
                GridColumn::new("Folder", ColumnLook::Words, SortOrder::None),
                checks.iter().map(|check| words(&check.folder)),
            );
        }
        grid.add_column(
            GridColumn::new("Why", ColumnLook::Words, SortOrder::None),
            checks.iter().map(|check| words(&check.reason)),
        );
        if checks.iter().any(|check| check.message.is_some()) {
            grid.add_column(
                GridColumn::new("Message", ColumnLook::Words, SortOrder::None),
                checks.iter().map(|check| words(&check.message)),
            );
        }
        grids.push(grid);
    }
    grids.extend(failure_grid(
        "failures-table",
        "Failures",
        &verification.record.failures,
    ));
    grids.extend(failure_grid(
        "fixed-table",
        "Fixed since the baseline",
        &verification.record.fixed,
    ));
    VerificationDetails {
        facts: said.collect(),
        grids,
        reasons: verification
            .record
            .reasons
            .iter()
            .map(|reason| Text::from(truncate_text(reason)))
            .collect(),
        note: hidden_lines_note(verification),
    }
}

fn check_outcome_cell(name: &str) -> GridCell {
    // Checks have the same signs as items.
    let like = match name {
        "passed" => "pass",
        "failed" => "fail",
        "timed_out" => "limit",
        _ => "not_evaluated",
    };
    GridCell {
        text: Text::from(name.replace('_', " ")),
        ..GridCell::item_status(like)
    }
}

fn failure_grid(id: &str, caption: &str, failures: &[VerifiedFailure]) -> Option<Grid> {
    if failures.is_empty() {
        return None;
    }
    let mut grid = Grid::new(id, caption);
    let each = |cell: &dyn Fn(&VerifiedFailure) -> GridCell| {
        failures.iter().map(cell).collect::<Vec<GridCell>>()
    };
    grid.add_column(
        GridColumn::new("Failure", ColumnLook::Key, SortOrder::None),
        each(&|failure| {
            GridCell::head(truncate_text(
                failure.test.as_ref().unwrap_or(&failure.text),
            ))
        }),
    );
    if failures.iter().any(|failure| failure.scope.is_some()) {
        let scope = |failure: &VerifiedFailure| {
            GridCell::words(
                failure
                    .scope
                    .as_deref()
                    .unwrap_or_default()
                    .replace('_', " "),
            )
        };
        grid.add_column(
            GridColumn::new("Scope", ColumnLook::Words, SortOrder::None),
            each(&scope),
        );
    }
    grid.add_column(
        GridColumn::new("Check", ColumnLook::Words, SortOrder::None),
        each(&|failure| GridCell::words(truncate_text(&failure.check))),
    );
    let reason = |failure: &VerifiedFailure| {
        GridCell::words(
            failure
                .reason
                .as_deref()
                .map_or_else(String::new, truncate_text),
        )
    };
    if failures.iter().any(|failure| failure.reason.is_some()) {
        grid.add_column(
            GridColumn::new("Why", ColumnLook::Words, SortOrder::None),
            each(&reason),
        );
    }
    if failures.iter().any(|failure| !failure.files.is_empty()) {
        grid.add_column(
            GridColumn::new("Files", ColumnLook::Words, SortOrder::None),
            each(&|failure| GridCell::words(truncate_text(&failure.files.join(", ")))),
        );
    }
    Some(grid)
}
