//! A run's criteria, evaluators' scores and verification, as parts of its page.

use crate::domain::{RunStatus, VerifiedFailure};
use crate::render::format;
use crate::render::judged::{cost, count, facts, judged_by, left_out, outcome_word, score_word};
use crate::views::{EvaluatorScore, ItemRow, RunPage, StoredVerification};

use super::cut::cut;
use super::grid::{Cell, Column, Grid, Look, Sort};
use super::items::criterion_href;
use super::plan::SuitePlace;
use super::score_details::grids;
use super::shell::Text;

/// A label with its text.
pub(super) struct Said {
    pub label: &'static str,
    pub text: Text,
}

/// The criteria of a run.
pub(super) struct Criteria {
    pub grid: Grid,
    pub sentences: Vec<Text>,
    /// Address of the criteria over all counted runs.
    pub href: Option<String>,
}

/// One evaluator's score, with details that unfold.
pub(super) struct Unfolding {
    pub name: Text,
    pub score: Text,
    pub is_unknown: bool,
    pub facts: Vec<Said>,
    pub details: Vec<Grid>,
}

pub(super) struct Verified {
    pub facts: Vec<Said>,
    pub grids: Vec<Grid>,
    pub reasons: Vec<Text>,
    pub note: Option<String>,
}

pub(super) fn criteria(run: &RunPage, suite: &SuitePlace, root: &str) -> Option<Criteria> {
    let rows = &run.criteria;
    let first = rows.first()?;
    let each = |cell: &dyn Fn(&ItemRow) -> Cell| rows.iter().map(cell).collect::<Vec<Cell>>();
    let mut grid = Grid::new("criteria-table", "What was required")
        .about(format!("decided by {}", first.evaluator));
    let counts = RunStatus::from_name(&run.line.status).is_some_and(RunStatus::is_counted);
    // The pages of criteria only have counted runs.
    let link =
        |row: &ItemRow| criterion_href(suite, root, &row.item, &row.evaluator).filter(|_| counts);
    grid.column(
        Column::new("Criterion", Look::Key, Sort::Ascending),
        each(&|row| Cell::head(cut(&row.item)).link(link(row))),
    );
    let outcome = |row: &ItemRow| Cell {
        text: Text::from(outcome_word(&row.status)),
        ..Cell::item_status(&row.status)
    };
    grid.column(
        Column::new("Outcome", Look::Words, Sort::Ascending),
        each(&outcome),
    );
    if rows.iter().any(|row| row.reason.is_some()) {
        let reason =
            |row: &ItemRow| Cell::words(row.reason.as_deref().map_or_else(String::new, cut));
        grid.column(
            Column::new("Reasoning", Look::Words, Sort::Ascending),
            each(&reason),
        );
    }
    if rows.iter().any(|row| row.score.is_some()) {
        let score =
            |row: &ItemRow| Cell::maybe(row.score.map(|score| (format::plain(score), score)));
        grid.column(
            Column::new("Score", Look::Number, Sort::Descending),
            each(&score),
        );
    }
    if rows.iter().any(|row| row.attempt > 1) {
        grid.column(
            Column::new("Attempt", Look::Number, Sort::Ascending),
            each(&|row| Cell::count(u64::from(row.attempt))),
        );
    }
    if rows.iter().any(|row| row.evaluator != first.evaluator) {
        grid.about = Text::default();
        grid.column(
            Column::new("Evaluator", Look::Words, Sort::Ascending),
            each(&|row| Cell::words(row.evaluator.as_str())),
        );
    }
    // Earlier versions imported branches as clusters.
    let branch_of = |row: &ItemRow| row.category.clone().or_else(|| row.cluster.clone());
    if rows.iter().any(|row| branch_of(row).is_some()) {
        let branch = |row: &ItemRow| Cell::words(branch_of(row).unwrap_or_default());
        grid.column(
            Column::new("Branch", Look::Words, Sort::Ascending),
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
        .map(count)
        .into_iter()
        .chain(judges)
        .map(Text::from)
        .collect();
    let href = counts.then(|| format!("{root}{}", suite.criteria_path()));
    Some(Criteria {
        grid: grid.filtered(""),
        sentences,
        href,
    })
}

pub(super) fn evaluators(run: &RunPage) -> Vec<Unfolding> {
    run.evaluators
        .iter()
        .enumerate()
        .map(|(place, score)| unfolding(place, score))
        .collect()
}

fn unfolding(place: usize, score: &EvaluatorScore) -> Unfolding {
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
                .map(|judge| format::integer(judge.votes)),
        ),
        (
            "Votes that agreed",
            judge
                .and_then(|judge| judge.agreement)
                .map(|share| format::percent(share, 0)),
        ),
        ("Judge's cost, apart from the run's", judge.and_then(cost)),
        (
            "Judge's tokens in",
            judge
                .and_then(|judge| judge.input_tokens)
                .map(format::integer),
        ),
        (
            "Judge's tokens out",
            judge
                .and_then(|judge| judge.output_tokens)
                .map(format::integer),
        ),
        (
            "Revision",
            (score.revision > 0).then(|| score.revision.to_string()),
        ),
    ];
    Unfolding {
        name: Text::new(&score.evaluator),
        score: Text::from(score_word(score)),
        is_unknown: score.value.is_none(),
        facts: known
            .into_iter()
            .filter_map(|(label, text)| {
                Some(Said {
                    label,
                    text: Text::from(text?),
                })
            })
            .collect(),
        details: score
            .details
            .as_ref()
            .map(|details| grids(details, &format!("evaluator-{place}")))
            .unwrap_or_default(),
    }
}

pub(super) fn verified(verification: &StoredVerification) -> Verified {
    let said = facts(verification).into_iter().map(|(label, text)| Said {
        label,
        text: Text::from(text),
    });
    let mut grids = Vec::new();
    if !verification.record.checks.is_empty() {
        let checks = &verification.record.checks;
        let mut grid = Grid::new("checks-table", "Checks");
        let words =
            |text: &Option<String>| Cell::words(text.as_deref().map_or_else(String::new, cut));
        let plain = |text: &Option<String>| {
            Cell::words(text.as_deref().unwrap_or_default().replace('_', " "))
        };
        grid.column(
            Column::new("Command", Look::Key, Sort::None),
            checks.iter().map(|check| Cell::head(cut(&check.command))),
        );
        grid.column(
            Column::new("Outcome", Look::Words, Sort::None),
            checks
                .iter()
                .map(|check| ending(check.outcome.as_deref().unwrap_or("not_run"))),
        );
        if checks.iter().any(|check| check.baseline.is_some()) {
            grid.column(
                Column::new("At baseline", Look::Words, Sort::None),
                checks.iter().map(|check| plain(&check.baseline)),
            );
        }
        if checks.iter().any(|check| check.seconds.is_some()) {
            let duration = |seconds: Option<f64>| {
                Cell::maybe(seconds.map(|seconds| (format::seconds(seconds), seconds)))
            };
            grid.column(
                Column::new("Duration", Look::Number, Sort::None),
                checks.iter().map(|check| duration(check.seconds)),
            );
        }
        if checks.iter().any(|check| check.folder.is_some()) {
            grid.column(
                Column::new("Folder", Look::Words, Sort::None),
                checks.iter().map(|check| words(&check.folder)),
            );
        }
        grid.column(
            Column::new("Why", Look::Words, Sort::None),
            checks.iter().map(|check| words(&check.reason)),
        );
        if checks.iter().any(|check| check.message.is_some()) {
            grid.column(
                Column::new("Message", Look::Words, Sort::None),
                checks.iter().map(|check| words(&check.message)),
            );
        }
        grids.push(grid);
    }
    grids.extend(failures(
        "failures-table",
        "Failures",
        &verification.record.failures,
    ));
    grids.extend(failures(
        "fixed-table",
        "Fixed since the baseline",
        &verification.record.fixed,
    ));
    Verified {
        facts: said.collect(),
        grids,
        reasons: verification
            .record
            .reasons
            .iter()
            .map(|reason| Text::from(cut(reason)))
            .collect(),
        note: left_out(verification),
    }
}

fn ending(name: &str) -> Cell {
    // Checks have the same signs as items.
    let like = match name {
        "passed" => "pass",
        "failed" => "fail",
        "timed_out" => "limit",
        _ => "not_evaluated",
    };
    Cell {
        text: Text::from(name.replace('_', " ")),
        ..Cell::item_status(like)
    }
}

fn failures(id: &str, caption: &str, failures: &[VerifiedFailure]) -> Option<Grid> {
    if failures.is_empty() {
        return None;
    }
    let mut grid = Grid::new(id, caption);
    let each =
        |cell: &dyn Fn(&VerifiedFailure) -> Cell| failures.iter().map(cell).collect::<Vec<Cell>>();
    grid.column(
        Column::new("Failure", Look::Key, Sort::None),
        each(&|failure| Cell::head(cut(failure.test.as_ref().unwrap_or(&failure.text)))),
    );
    if failures.iter().any(|failure| failure.scope.is_some()) {
        let scope = |failure: &VerifiedFailure| {
            Cell::words(
                failure
                    .scope
                    .as_deref()
                    .unwrap_or_default()
                    .replace('_', " "),
            )
        };
        grid.column(Column::new("Scope", Look::Words, Sort::None), each(&scope));
    }
    grid.column(
        Column::new("Check", Look::Words, Sort::None),
        each(&|failure| Cell::words(cut(&failure.check))),
    );
    let reason = |failure: &VerifiedFailure| {
        Cell::words(failure.reason.as_deref().map_or_else(String::new, cut))
    };
    if failures.iter().any(|failure| failure.reason.is_some()) {
        grid.column(Column::new("Why", Look::Words, Sort::None), each(&reason));
    }
    if failures.iter().any(|failure| !failure.files.is_empty()) {
        grid.column(
            Column::new("Files", Look::Words, Sort::None),
            each(&|failure| Cell::words(cut(&failure.files.join(", ")))),
        );
    }
    Some(grid)
}
