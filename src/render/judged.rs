//! What was required of a run and what was said of it, as tables: criteria, evaluators, verification.

use crate::domain::VerifiedFailure;
use crate::views::{
    CriteriaCount, CriteriaTable, CriterionCell, CriterionRow, EvaluatorScore, ItemRow, JudgeView, ShownRun, StoredVerification, SuiteBoard,
};

use super::shown::{Texts, some_of};
use super::table::Table;
use super::{format, tables, verification, words};

/// Lays out the criteria of a run; none where it has no criteria, or none were asked for.
pub fn criteria(shown: &ShownRun, texts: Texts) -> Option<Table> {
    let (page, rows) = (&shown.page, &shown.page.criteria);
    let first = rows.first()?;
    let mut table = Table::new("Criteria");
    table.left("Criterion", 0);
    table.left("Outcome", 0);
    table.left("Reasoning", 1);
    table.right("Score", 3);
    table.right("Attempt", 2);
    table.left("Decided by", 2);
    table.left("Branch", 7);
    let repeats = rows.iter().any(|row| row.attempt > 1);
    let families = rows.iter().any(|row| row.evaluator != first.evaluator);
    let cells = |row: &ItemRow| {
        vec![
            texts.of(&row.item),
            outcome_word(&row.status),
            row.reason.as_deref().map(|reason| texts.of(reason)).unwrap_or_default(),
            row.score.map(format::plain).unwrap_or_default(),
            if repeats { row.attempt.to_string() } else { String::new() },
            if families { row.evaluator.clone() } else { String::new() },
            row.category.as_ref().or(row.cluster.as_ref()).cloned().unwrap_or_default(),
        ]
    };
    table.rows = rows.iter().map(cells).collect();
    table.drop_empty_columns();
    table.notes.extend(page.criteria_count.map(count));
    table.notes.extend(page.evaluators.iter().filter(|score| score.evaluator == first.evaluator).filter_map(judged_by));
    table.notes.extend(some_of(rows.len(), shown.criteria_left_out, "criteria", "what was not met"));
    Some(table)
}

/// `3 of 4 met, 1 not evaluated.`
pub fn count(count: CriteriaCount) -> String {
    let missing = if count.missing > 0 { format!(", {} not evaluated", format::integer(count.missing)) } else { String::new() };
    format!("{} of {} met{missing}.", format::integer(count.passed), format::integer(count.total))
}

/// Lays out how often each arm met each criterion, criteria in rows.
pub fn criteria_by_arm(board: &SuiteBoard, criteria: &CriteriaTable) -> Table {
    let judge = criteria.judge.as_ref().map_or_else(String::new, |judge| format!(", judged by {judge}"));
    let suite = tables::group_name(&board.suite, board.suite_version.as_deref(), None);
    let mut table = Table::new(format!("Criteria: {suite}: {}{judge}", criteria.evaluator));
    table.left("Criterion", 0);
    for label in words::arm_labels(&criteria.arms) {
        table.right(&label, 0);
    }
    let said = |cell: &CriterionCell| {
        let (met, missing) = met(cell);
        if cell.total == 0 || missing.is_empty() { met } else { format!("{met}, {missing}") }
    };
    let cells = |row: &CriterionRow| std::iter::once(row.criterion.clone()).chain(row.cells.iter().map(said)).collect();
    table.rows = criteria.rows.iter().map(cells).collect();
    table.notes.push("Runs that met each criterion, of those in which it was decided.".to_owned());
    table
}

/// How many of an arm's outcomes met a criterion, and how many nobody decided, if any.
pub fn met(cell: &CriterionCell) -> (String, String) {
    let missing = if cell.missing > 0 { format!("{} not evaluated", format::integer(cell.missing)) } else { String::new() };
    let met = match (cell.total, cell.missing) {
        (0, 0) => "not asked".to_owned(),
        (0, _) => "not evaluated".to_owned(),
        (total, _) => format!("{} of {}", format::integer(cell.passed), format::integer(total)),
    };
    (met, missing)
}

/// `PASS`, `FAIL`, `not evaluated`.
pub fn outcome_word(status: &str) -> String {
    match status {
        "pass" => "PASS".to_owned(),
        "fail" => "FAIL".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Says who judged, and what that took.
pub fn judged_by(score: &EvaluatorScore) -> Option<String> {
    let judge = score.judge.as_ref()?;
    let parts = [votes(judge), revision(score), cost(judge).map(|cost| format!("judging cost {cost}, apart from the run's own cost"))];
    let said: Vec<String> = std::iter::once(format!("Judged by {}", judge.name())).chain(parts.into_iter().flatten()).collect();
    Some(format!("{}.", said.join("; ")))
}

fn votes(judge: &JudgeView) -> Option<String> {
    let agreement = judge.agreement.map(|share| format!(" that agree by {}", format::percent(share, 0)));
    (judge.votes > 1).then(|| format!("{} votes{}", format::integer(judge.votes), agreement.unwrap_or_default()))
}

fn revision(score: &EvaluatorScore) -> Option<String> {
    let several = if score.earlier == 1 { "one is" } else { "others are" };
    (score.earlier > 0).then(|| format!("revision {}, earlier {several} kept", score.revision))
}

/// `$0.02 (reported)`.
pub fn cost(judge: &JudgeView) -> Option<String> {
    let source = judge.cost_source.as_ref().map(|source| format!(" ({source})"));
    judge.cost_usd.map(|usd| format!("{}{}", format::money(usd), source.unwrap_or_default()))
}

/// The score, or that there is none.
pub fn score_word(score: &EvaluatorScore) -> String {
    score.value.map_or_else(|| "not evaluated".to_owned(), |value| format::value(value, score.unit, 0))
}

/// Lays out what evaluators said; none where none said anything.
pub fn evaluators(shown: &ShownRun, texts: Texts) -> Option<Table> {
    let scores = &shown.page.evaluators;
    if scores.is_empty() {
        return None;
    }
    let mut table = Table::new("Evaluators");
    table.left("Evaluator", 0);
    table.right("Score", 0);
    table.left("Why", 1);
    table.left("Judge", 2);
    table.right("Votes", 3);
    table.right("Agreement", 3);
    table.right("Judge's cost", 3);
    table.right("Judge's tokens in", 4);
    table.right("Judge's tokens out", 4);
    table.right("Revision", 3);
    let judge = |score: &EvaluatorScore, of: &dyn Fn(&JudgeView) -> Option<String>| score.judge.as_ref().and_then(of).unwrap_or_default();
    let several = scores.iter().any(|score| score.revision > 0);
    let cells = |score: &EvaluatorScore| {
        vec![
            score.evaluator.clone(),
            score_word(score),
            score.not_evaluated.as_deref().or(score.reasoning.as_deref()).map(|text| texts.of(text)).unwrap_or_default(),
            judge(score, &|judge| Some(judge.name())),
            judge(score, &|judge| (judge.votes > 0).then(|| format::integer(judge.votes))),
            judge(score, &|judge| judge.agreement.map(|share| format::percent(share, 0))),
            judge(score, &cost),
            judge(score, &|judge| judge.input_tokens.map(format::integer)),
            judge(score, &|judge| judge.output_tokens.map(format::integer)),
            if several { score.revision.to_string() } else { String::new() },
        ]
    };
    table.rows = scores.iter().map(cells).collect();
    table.drop_empty_columns();
    Some(table)
}

/// The facts of a verification that are one line each: label and text.
pub fn facts(verification: &StoredVerification) -> Vec<(&'static str, String)> {
    let own = |text: &Option<String>| text.clone();
    let record = &verification.record;
    let known = [
        ("Outcome", verification::outcome(record)),
        ("Because", own(&record.reason)),
        ("Goal", own(&record.goal)),
        ("Kind of task", record.task_kind.as_deref().map(|kind| kind.replace('_', " "))),
        ("Profile", own(&record.profile)),
        ("Stack", record.stack.as_deref().map(|stack| stack.replace('_', " "))),
        ("Compared with", own(&verification.baseline)),
        ("For a person to check", own(&record.manual)),
        ("Follow-up", own(&record.ticket)),
    ];
    known.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

/// Lays out a verification: its facts, its checks, and what failed or fails no more.
pub fn verification(shown: &ShownRun, texts: Texts) -> Vec<Table> {
    let Some(verification) = &shown.page.verification else { return Vec::new() };
    let mut about = Table::new("Verification");
    about.left("", 0);
    about.left("", 0);
    about.rows = facts(verification).into_iter().map(|(label, text)| vec![label.to_owned(), text]).collect();
    about.notes.extend(left_out(verification));
    let mut tables = vec![about];
    if !verification.record.checks.is_empty() {
        let mut table = Table::new("Checks");
        table.left("Check", 0);
        table.left("Outcome", 0);
        table.left("At baseline", 1);
        table.right("Duration", 3);
        table.left("Folder", 4);
        table.left("Why", 2);
        table.left("Message", 1);
        table.rows = verification
            .record
            .checks
            .iter()
            .map(|check| {
                let text = |text: &Option<String>| text.as_deref().map(|text| texts.of(text)).unwrap_or_default();
                let word = |text: &Option<String>| text.as_deref().map(|text| text.replace('_', " "));
                vec![
                    texts.of(&check.command),
                    word(&check.outcome).unwrap_or_else(|| "not run".to_owned()),
                    word(&check.baseline).unwrap_or_default(),
                    check.seconds.map(format::seconds).unwrap_or_default(),
                    check.folder.clone().unwrap_or_default(),
                    text(&check.reason),
                    text(&check.message),
                ]
            })
            .collect();
        table.drop_empty_columns();
        tables.push(table);
    }
    tables.extend(failures("Failures", &verification.record.failures, texts));
    tables.extend(failures("Fixed", &verification.record.fixed, texts));
    tables
}

/// Says that more was stored than is shown.
pub fn left_out(verification: &StoredVerification) -> Option<String> {
    (verification.left_out > 0).then(|| format!("{} more lines are in the run's header.", format::integer(verification.left_out)))
}

fn failures(title: &str, failures: &[VerifiedFailure], texts: Texts) -> Option<Table> {
    if failures.is_empty() {
        return None;
    }
    let mut table = Table::new(title);
    table.left("Failure", 0);
    table.left("Scope", 1);
    table.left("Check", 1);
    table.left("Why", 2);
    table.left("Files", 3);
    let cells = |failure: &VerifiedFailure| {
        vec![
            texts.of(failure.test.as_ref().unwrap_or(&failure.text)),
            failure.scope.as_deref().map(|scope| scope.replace('_', " ")).unwrap_or_default(),
            texts.of(&failure.check),
            failure.reason.as_deref().map(|reason| texts.of(reason)).unwrap_or_default(),
            texts.of(&failure.files.join(", ")),
        ]
    };
    table.rows = failures.iter().map(cells).collect();
    table.drop_empty_columns();
    Some(table)
}
