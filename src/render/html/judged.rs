//! What was required of a run and what was said of it, as parts of its page; and a suite's criteria over all its runs.

use askama::Template;

use crate::domain::RunStatus;
use crate::render::judged::{cost, count, facts, judged_by, left_out, outcome_word, score_word};
use crate::render::{format, words};
use crate::views::{
    CriteriaTable, CriterionCell, CriterionRow, EvaluatorScore, ItemRow, OverviewSuite, RunPage, SiteContext, StoredVerification,
    VerificationFailure,
};

use super::SiteFile;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::run::cut;
use super::shell::{Crumb, Here, Shell, Text};

/// Criteria of one table of a suite's page, and cells of it.
const MOST_CRITERIA: usize = 200;
const MOST_CELLS: usize = 1_200;
/// Reasons that a suite's page lists: the data beside it have the others.
const MOST_REASONS: usize = 60;
/// Characters of an evaluator's own numbers on a page.
const MOST_OF_DETAILS: usize = 10_000;

/// A label and what it says.
pub(super) struct Said {
    pub label: &'static str,
    pub text: Text,
}

/// The criteria of a run.
pub(super) struct Criteria {
    pub grid: Grid,
    pub sentences: Vec<Text>,
    /// The same criteria over all runs that count.
    pub href: Option<String>,
}

/// What one evaluator said; its details unfold.
pub(super) struct Unfolding {
    pub name: Text,
    pub score: Text,
    pub is_unknown: bool,
    pub facts: Vec<Said>,
    pub details: Vec<Text>,
}

/// A verification.
pub(super) struct Verified {
    pub facts: Vec<Said>,
    pub grids: Vec<Grid>,
    pub reasons: Vec<Text>,
    pub note: Option<String>,
}

pub(super) fn criteria(run: &RunPage, href: String) -> Option<Criteria> {
    let rows = &run.criteria;
    let first = rows.first()?;
    let each = |cell: &dyn Fn(&ItemRow) -> Cell| rows.iter().map(cell).collect::<Vec<Cell>>();
    let mut grid = Grid::new("criteria-table", "What was required").about(format!("decided by {}", first.evaluator));
    grid.column(Column::new("Criterion", Look::Key, Sort::Ascending), each(&|row| Cell::head(cut(&row.item))));
    let outcome = |row: &ItemRow| Cell { text: Text::from(outcome_word(&row.status)), ..Cell::item_status(&row.status) };
    grid.column(Column::new("Outcome", Look::Words, Sort::Ascending), each(&outcome));
    if rows.iter().any(|row| row.reason.is_some()) {
        let reason = |row: &ItemRow| Cell::words(row.reason.as_deref().map_or_else(String::new, cut));
        grid.column(Column::new("Reasoning", Look::Words, Sort::Ascending), each(&reason));
    }
    if rows.iter().any(|row| row.score.is_some()) {
        let score = |row: &ItemRow| Cell::maybe(row.score.map(|score| (format::plain(score), score)));
        grid.column(Column::new("Score", Look::Number, Sort::Descending), each(&score));
    }
    if rows.iter().any(|row| row.attempt > 1) {
        grid.column(Column::new("Attempt", Look::Number, Sort::Ascending), each(&|row| Cell::count(u64::from(row.attempt))));
    }
    if rows.iter().any(|row| row.evaluator != first.evaluator) {
        grid.about = Text::default();
        grid.column(Column::new("Evaluator", Look::Words, Sort::Ascending), each(&|row| Cell::words(row.evaluator.as_str())));
    }
    if rows.iter().any(|row| row.cluster.is_some()) {
        let branch = |row: &ItemRow| Cell::words(row.cluster.as_deref().unwrap_or_default());
        grid.column(Column::new("Branch", Look::Words, Sort::Ascending), each(&branch));
    }
    let judges = run.evaluators.iter().filter(|score| score.evaluator == first.evaluator).filter_map(judged_by);
    let sentences = run.criteria_count.map(count).into_iter().chain(judges).map(Text::from).collect();
    let counts = RunStatus::from_name(&run.line.status).is_some_and(RunStatus::is_counted);
    Some(Criteria { grid: grid.filtered(""), sentences, href: counts.then_some(href) })
}

pub(super) fn evaluators(run: &RunPage) -> Vec<Unfolding> {
    run.evaluators.iter().map(unfolding).collect()
}

fn unfolding(score: &EvaluatorScore) -> Unfolding {
    let judge = score.judge.as_ref();
    let known = [
        ("Not evaluated because", score.not_evaluated.clone()),
        ("Reasoning", score.reasoning.clone()),
        ("Judge", judge.map(|judge| judge.agent.clone())),
        ("Judge's model", judge.and_then(|judge| judge.model.clone())),
        ("Judge's words (SHA-256)", judge.map(|judge| judge.prompt_sha256.clone())),
        ("Votes", judge.filter(|judge| judge.votes > 0).map(|judge| format::integer(judge.votes))),
        ("Votes that agreed", judge.and_then(|judge| judge.agreement).map(|share| format::percent(share, 0))),
        ("Judge's cost, apart from the run's", judge.and_then(cost)),
        ("Judge's tokens in", judge.and_then(|judge| judge.input_tokens).map(format::integer)),
        ("Judge's tokens out", judge.and_then(|judge| judge.output_tokens).map(format::integer)),
        ("Revision", (score.revision > 0).then(|| score.revision.to_string())),
    ];
    let details = score.details.as_ref().and_then(|details| serde_json::to_string_pretty(details).ok()).unwrap_or_default();
    let end = details.char_indices().nth(MOST_OF_DETAILS).map_or(details.len(), |(end, _)| end);
    let mut lines: Vec<Text> = details[..end].lines().map(Text::new).collect();
    if end < details.len() {
        lines.push(Text::new("…"));
    }
    Unfolding {
        name: Text::new(&score.evaluator),
        score: Text::from(score_word(score)),
        is_unknown: score.value.is_none(),
        facts: known.into_iter().filter_map(|(label, text)| Some(Said { label, text: Text::from(text?) })).collect(),
        details: lines,
    }
}

pub(super) fn verified(verification: &StoredVerification) -> Verified {
    let said = facts(verification).into_iter().map(|(label, text)| Said { label, text: Text::from(text) });
    let mut grids = Vec::new();
    if !verification.checks.is_empty() {
        let checks = &verification.checks;
        let mut grid = Grid::new("checks-table", "Checks");
        let words = |text: &Option<String>| Cell::words(text.as_deref().map_or_else(String::new, cut));
        let plain = |text: &Option<String>| Cell::words(text.as_deref().unwrap_or_default().replace('_', " "));
        grid.column(Column::new("Command", Look::Key, Sort::None), checks.iter().map(|check| Cell::head(cut(&check.command))));
        grid.column(
            Column::new("Outcome", Look::Words, Sort::None),
            checks.iter().map(|check| ending(check.outcome.as_deref().unwrap_or("not_run"))),
        );
        if checks.iter().any(|check| check.baseline.is_some()) {
            grid.column(Column::new("At baseline", Look::Words, Sort::None), checks.iter().map(|check| plain(&check.baseline)));
        }
        if checks.iter().any(|check| check.seconds.is_some()) {
            let duration = |seconds: Option<f64>| Cell::maybe(seconds.map(|seconds| (format::seconds(seconds), seconds)));
            grid.column(Column::new("Duration", Look::Number, Sort::None), checks.iter().map(|check| duration(check.seconds)));
        }
        if checks.iter().any(|check| check.folder.is_some()) {
            grid.column(Column::new("Folder", Look::Words, Sort::None), checks.iter().map(|check| words(&check.folder)));
        }
        grid.column(Column::new("Why", Look::Words, Sort::None), checks.iter().map(|check| words(&check.reason)));
        if checks.iter().any(|check| check.message.is_some()) {
            grid.column(Column::new("Message", Look::Words, Sort::None), checks.iter().map(|check| words(&check.message)));
        }
        grids.push(grid);
    }
    grids.extend(failures("failures-table", "Failures", &verification.failures));
    grids.extend(failures("fixed-table", "Fixed since the baseline", &verification.fixed));
    Verified {
        facts: said.collect(),
        grids,
        reasons: verification.reasons.iter().map(|reason| Text::from(cut(reason))).collect(),
        note: left_out(verification),
    }
}

fn ending(name: &str) -> Cell {
    // The same marks as those of items: a check is one, too.
    let like = match name {
        "passed" => "pass",
        "failed" => "fail",
        "timed_out" => "limit",
        _ => "not_evaluated",
    };
    Cell { text: Text::from(name.replace('_', " ")), ..Cell::item_status(like) }
}

fn failures(id: &str, caption: &str, failures: &[VerificationFailure]) -> Option<Grid> {
    if failures.is_empty() {
        return None;
    }
    let mut grid = Grid::new(id, caption);
    let each = |cell: &dyn Fn(&VerificationFailure) -> Cell| failures.iter().map(cell).collect::<Vec<Cell>>();
    grid.column(
        Column::new("Failure", Look::Key, Sort::None),
        each(&|failure| Cell::head(cut(failure.test.as_ref().unwrap_or(&failure.text)))),
    );
    if failures.iter().any(|failure| failure.scope.is_some()) {
        let scope = |failure: &VerificationFailure| Cell::words(failure.scope.as_deref().unwrap_or_default().replace('_', " "));
        grid.column(Column::new("Scope", Look::Words, Sort::None), each(&scope));
    }
    grid.column(Column::new("Check", Look::Words, Sort::None), each(&|failure| Cell::words(cut(&failure.check))));
    let reason = |failure: &VerificationFailure| Cell::words(failure.reason.as_deref().map_or_else(String::new, cut));
    if failures.iter().any(|failure| failure.reason.is_some()) {
        grid.column(Column::new("Why", Look::Words, Sort::None), each(&reason));
    }
    if failures.iter().any(|failure| !failure.files.is_empty()) {
        grid.column(Column::new("Files", Look::Words, Sort::None), each(&|failure| Cell::words(cut(&failure.files.join(", ")))));
    }
    Some(grid)
}

#[derive(Template)]
#[template(path = "criteria.html")]
struct CriteriaPage {
    shell: Shell,
    suite: Text,
    tables: Vec<Judged>,
}

/// The criteria as one judge saw them.
struct Judged {
    id: String,
    heading: Text,
    grid: Grid,
    reasons: Vec<Reasons>,
    more: Option<String>,
}

/// Why a criterion was not met, by arm.
struct Reasons {
    criterion: Text,
    lines: Vec<(Text, Text)>,
}

/// Makes the page of a suite's criteria; nothing for a suite without any.
pub(super) fn page(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace) -> Option<SiteFile> {
    if suite.criteria.is_empty() {
        return None;
    }
    let path = place.criteria_path();
    let title = format!("{}: criteria · {}", place.label, context.title);
    let description = format!("How often each arm met each criterion of {}.", place.label);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, description);
    let back = format!("{}{}", shell.root, place.path());
    let shell = shell.crumbs(vec![Crumb::new(back, place.label.as_str())]).download(&format!("data/suites/{}.json", place.segment), "JSON");
    let tables = (1..).zip(&suite.criteria).map(|(number, table)| judged(number, table)).collect();
    Some(SiteFile::page(path, &CriteriaPage { suite: Text::new(&place.label), tables, shell }))
}

fn judged(number: usize, table: &CriteriaTable) -> Judged {
    let heading = match &table.judge {
        Some(judge) => format!("{}, judged by {judge}", table.evaluator),
        None => table.evaluator.clone(),
    };
    let labels = words::arm_labels(&table.arms);
    let most = MOST_CRITERIA.min(MOST_CELLS / (labels.len() + 1)).max(1);
    let rows = &table.rows[..table.rows.len().min(most)];
    let mut grid = Grid::new(format!("criteria-{number}"), "Runs that met each criterion");
    grid.column(Column::new("Criterion", Look::Key, Sort::Ascending), rows.iter().map(|row| Cell::head(cut(&row.criterion))));
    for (arm, label) in labels.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.cells.get(arm)).map(cell);
        grid.column(Column::new(label.as_str(), Look::Number, Sort::Descending), cells);
    }
    let mut left = MOST_REASONS;
    let mut reasons = Vec::new();
    for row in rows {
        let lines: Vec<(Text, Text)> = reasons_of(row, &labels).take(left).collect();
        left -= lines.len();
        if !lines.is_empty() {
            reasons.push(Reasons { criterion: Text::from(cut(&row.criterion)), lines });
        }
    }
    let more = (rows.len() < table.rows.len()).then(|| {
        format!(
            "{} of {} criteria are listed here; the data have them all.",
            format::integer(rows.len() as u64),
            format::integer(table.rows.len() as u64)
        )
    });
    Judged { id: format!("judge-{number}"), heading: Text::from(heading), grid: grid.filtered(""), reasons, more }
}

fn cell(cell: &CriterionCell) -> Cell {
    let missing = if cell.missing > 0 { format!("{} not evaluated", format::integer(cell.missing)) } else { String::new() };
    if cell.total == 0 {
        return Cell::unknown(if cell.missing > 0 { "not evaluated" } else { "not asked" });
    }
    let share = cell.passed as f64 / cell.total as f64;
    Cell::number(format!("{} of {}", format::integer(cell.passed), format::integer(cell.total)), share).sub(missing)
}

fn reasons_of<'a>(row: &'a CriterionRow, labels: &'a [String]) -> impl Iterator<Item = (Text, Text)> + 'a {
    let cells = labels.iter().zip(&row.cells);
    cells.flat_map(|(label, cell)| cell.reasons.iter().map(move |reason| (Text::new(label), Text::from(cut(reason)))))
}
