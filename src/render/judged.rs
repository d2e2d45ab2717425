//! A run's criteria, evaluators' scores and verification, as tables.

use crate::domain::VerifiedFailure;
use crate::views::{
    Arm, CriteriaCount, CriteriaTable, CriterionCell, CriterionRow, EvaluatorScore, ItemRow,
    JudgeView, ShownRun, StoredVerification, SuiteBoard,
};

use super::cell::{Datum, TableCell};
use super::item_table::{TextLength, more_rows_note};
use super::table::{ReportTable, TableColumn};
use super::{format, phrases, verification};

/// Lays out the criteria of a run, or returns `None` if it has none or none were requested.
pub fn criteria_table(shown: &ShownRun, texts: TextLength) -> Option<ReportTable> {
    let (page, rows) = (&shown.page, &shown.page.criteria);
    let first = rows.first()?;
    let mut table = ReportTable::new("Criteria");
    table.add_text_column("Criterion", 0);
    table.add_text_column("Outcome", 0);
    table.add_text_column("Reasoning", 1);
    table.add_number_column("Score", 3);
    table.add_number_column("Attempt", 2);
    table.add_text_column("Decided by", 2);
    table.add_text_column("Branch", 7);
    let repeats = rows.iter().any(|row| row.attempt > 1);
    let families = rows.iter().any(|row| row.evaluator != first.evaluator);
    let cells = |row: &ItemRow| {
        vec![
            texts.apply_to(&row.item).into(),
            outcome_word(&row.status).into(),
            row.reason
                .as_deref()
                .map(|reason| texts.apply_to(reason))
                .unwrap_or_default()
                .into(),
            TableCell::number_or_blank(row.score, format::unscaled_number),
            TableCell::count_or_blank(Some(u64::from(row.attempt)).filter(|_| repeats)),
            if families {
                row.evaluator.as_str().into()
            } else {
                TableCell::unknown("")
            },
            row.category
                .as_deref()
                .or(row.cluster.as_deref())
                .unwrap_or_default()
                .into(),
        ]
    };
    table.add_rows(rows.iter().map(cells));
    table.drop_empty_columns();
    table
        .notes
        .extend(page.criteria_count.map(met_criteria_count));
    table.notes.extend(
        page.evaluators
            .iter()
            .filter(|score| score.evaluator == first.evaluator)
            .filter_map(judged_by),
    );
    table.notes.extend(more_rows_note(
        rows.len(),
        shown.criteria_left_out,
        "criteria",
        "what was not met",
    ));
    Some(table)
}

/// Formats a count of criteria: `3 of 4 met, 1 not evaluated.`
pub fn met_criteria_count(count: CriteriaCount) -> String {
    let missing = if count.missing > 0 {
        format!(", {} not evaluated", format::format_integer(count.missing))
    } else {
        String::new()
    };
    format!(
        "{} of {} met{missing}.",
        format::format_integer(count.passed),
        format::format_integer(count.total)
    )
}

/// Lays out how often each arm met each criterion, with criteria in rows. CSV has one record per arm and criterion.
pub fn criteria_by_arm(board: &SuiteBoard, criteria: &CriteriaTable) -> ReportTable {
    let judge = criteria
        .judge
        .as_ref()
        .map_or_else(String::new, |judge| format!(", judged by {judge}"));
    let suite = phrases::group_name(&board.suite, board.suite_version.as_deref(), None);
    let mut table = ReportTable::for_rows("criteria")
        .with_title(format!("Criteria: {suite}: {}{judge}", criteria.evaluator));
    table.add_text_column("Criterion", 0);
    for label in phrases::arm_labels(&board.suite, &criteria.arms) {
        table.add_number_column(&label, 0);
    }
    let said = |cell: &CriterionCell| {
        let (met, missing) = met_and_missing(cell);
        if cell.total == 0 || missing.is_empty() {
            met
        } else {
            format!("{met}, {missing}")
        }
    };
    table.add_rows(
        criteria
            .rows
            .iter()
            .map(|row| std::iter::once(row.criterion.clone()).chain(row.cells.iter().map(said))),
    );
    table
        .notes
        .push("Runs that met each criterion, of the runs with a decision.".to_owned());
    table.sheet = Some(Box::new(met_by_arm(criteria)));
    table
}

fn met_by_arm(criteria: &CriteriaTable) -> ReportTable {
    let cells: Vec<(&CriterionRow, &Arm, &CriterionCell)> = criteria
        .rows
        .iter()
        .flat_map(|row| {
            criteria
                .arms
                .iter()
                .zip(&row.cells)
                .map(move |(arm, cell)| (row, arm, cell))
        })
        .collect();
    let each = |figures: &dyn Fn(&CriterionRow, &Arm, &CriterionCell) -> Vec<Datum>| {
        cells
            .iter()
            .map(|(row, arm, cell)| TableCell::for_programs(figures(row, arm, cell)))
            .collect::<Vec<_>>()
    };
    let mut table = ReportTable::for_rows("criteria");
    let judged = |row: &CriterionRow, arm: &Arm, _: &CriterionCell| {
        let judge = criteria.judge.as_deref().into();
        vec![
            row.criterion.as_str().into(),
            criteria.evaluator.as_str().into(),
            judge,
            arm.approach.as_str().into(),
            arm.model.as_str().into(),
        ]
    };
    table.add_filled_column(
        TableColumn::for_programs(["criterion", "evaluator", "judge", "approach", "model"]),
        each(&judged),
    );
    let counts = |_: &CriterionRow, _: &Arm, cell: &CriterionCell| {
        [cell.passed, cell.total, cell.missing]
            .map(Datum::from)
            .to_vec()
    };
    table.add_filled_column(
        TableColumn::for_programs(["passed", "total", "missing"]),
        each(&counts),
    );
    let rates = |_: &CriterionRow, _: &Arm, cell: &CriterionCell| {
        let Some(rate) = &cell.rate else {
            return Vec::new();
        };
        let [low, high] = Datum::interval_ends(rate.interval);
        vec![
            rate.value.into(),
            low,
            high,
            rate.n.into(),
            rate.n_of.into(),
        ]
    };
    table.add_filled_column(
        TableColumn::for_programs(["rate", "ci95_low", "ci95_high", "n", "n_of"]),
        each(&rates),
    );
    table
}

/// Returns how many of an arm's outcomes met a criterion, and how many were not evaluated, if any.
pub fn met_and_missing(cell: &CriterionCell) -> (String, String) {
    let missing = if cell.missing > 0 {
        format!("{} not evaluated", format::format_integer(cell.missing))
    } else {
        String::new()
    };
    let met = match (cell.total, cell.missing) {
        (0, 0) => "not asked".to_owned(),
        (0, _) => "not evaluated".to_owned(),
        (total, _) => format!(
            "{} of {}",
            format::format_integer(cell.passed),
            format::format_integer(total)
        ),
    };
    (met, missing)
}

/// Returns the word for an outcome: `PASS`, `FAIL`, `not evaluated`.
pub fn outcome_word(status: &str) -> String {
    match status {
        "pass" => "PASS".to_owned(),
        "fail" => "FAIL".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Describes the judge, its votes and its cost, or returns `None` without a judge.
pub fn judged_by(score: &EvaluatorScore) -> Option<String> {
    let judge = score.judge.as_ref()?;
    let parts = [
        votes_text(judge),
        revision_text(score),
        judging_cost(judge)
            .map(|cost| format!("judging cost {cost}, apart from the run's own cost")),
    ];
    let said: Vec<String> = std::iter::once(format!("Judged by {}", judge.name()))
        .chain(parts.into_iter().flatten())
        .collect();
    Some(format!("{}.", said.join("; ")))
}

fn votes_text(judge: &JudgeView) -> Option<String> {
    let agreement = judge
        .agreement
        .map(|share| format!(" that agree by {}", format::percent(share, 0)));
    (judge.votes > 1).then(|| {
        format!(
            "{} votes{}",
            format::format_integer(judge.votes),
            agreement.unwrap_or_default()
        )
    })
}

fn revision_text(score: &EvaluatorScore) -> Option<String> {
    let several = if score.earlier == 1 {
        "one is"
    } else {
        "others are"
    };
    (score.earlier > 0).then(|| format!("revision {}, earlier {several} kept", score.revision))
}

/// Formats the judging cost with its source: `$0.02 (reported)`.
pub fn judging_cost(judge: &JudgeView) -> Option<String> {
    let source = judge
        .cost_source
        .as_ref()
        .map(|source| format!(" ({source})"));
    judge
        .cost_usd
        .map(|usd| format!("{}{}", format::money(usd), source.unwrap_or_default()))
}

/// Formats the score, or `not evaluated`.
pub fn score_word(score: &EvaluatorScore) -> String {
    score.value.map_or_else(
        || "not evaluated".to_owned(),
        |value| format::value_in_unit(value, score.unit, 0),
    )
}

/// Lays out the evaluators' scores, or returns `None` if there are none.
pub fn evaluators_table(shown: &ShownRun, texts: TextLength) -> Option<ReportTable> {
    let scores = &shown.page.evaluators;
    if scores.is_empty() {
        return None;
    }
    let mut table = ReportTable::new("Evaluators");
    table.add_text_column("Evaluator", 0);
    table.add_number_column("Score", 0);
    table.add_text_column("Why", 1);
    table.add_text_column("Judge", 2);
    table.add_number_column("Votes", 3);
    table.add_number_column("Agreement", 3);
    table.add_column(
        TableColumn::number("Judge's cost")
            .keys(["judge_cost_usd"])
            .rank(3),
    );
    table.add_number_column("Judge's tokens in", 4);
    table.add_number_column("Judge's tokens out", 4);
    table.add_number_column("Revision", 3);
    let judge = |score: &EvaluatorScore, of: &dyn Fn(&JudgeView) -> TableCell| {
        score
            .judge
            .as_ref()
            .map_or_else(|| TableCell::unknown(""), of)
    };
    let several = scores.iter().any(|score| score.revision > 0);
    let cells = |score: &EvaluatorScore| {
        vec![
            score.evaluator.as_str().into(),
            TableCell::for_people(score_word(score)).with_data([score.value.into()]),
            score
                .not_evaluated
                .as_deref()
                .or(score.reasoning.as_deref())
                .map(|text| texts.apply_to(text))
                .unwrap_or_default()
                .into(),
            judge(score, &|judge| judge.name().into()),
            judge(score, &|judge| {
                TableCell::count_or_blank(Some(judge.votes).filter(|votes| *votes > 0))
            }),
            judge(score, &|judge| {
                TableCell::number_or_blank(judge.agreement, |share| format::percent(share, 0))
            }),
            judge(score, &|judge| {
                TableCell::for_people(judging_cost(judge).unwrap_or_default())
                    .with_data([judge.cost_usd.into()])
            }),
            judge(score, &|judge| {
                TableCell::count_or_blank(judge.input_tokens)
            }),
            judge(score, &|judge| {
                TableCell::count_or_blank(judge.output_tokens)
            }),
            TableCell::count_or_blank(Some(u64::from(score.revision)).filter(|_| several)),
        ]
    };
    table.add_rows(scores.iter().map(cells));
    table.drop_empty_columns();
    Some(table)
}

/// Returns the facts of a verification that fit on one line each: label and text.
pub fn verification_facts(verification: &StoredVerification) -> Vec<(&'static str, String)> {
    let own = |text: &Option<String>| text.clone();
    let record = &verification.record;
    let known = [
        ("Outcome", verification::outcome_with_next_step(record)),
        ("Because", own(&record.reason)),
        ("Goal", own(&record.goal)),
        (
            "Kind of task",
            record
                .task_kind
                .as_deref()
                .map(|kind| kind.replace('_', " ")),
        ),
        ("Profile", own(&record.profile)),
        (
            "Stack",
            record.stack.as_deref().map(|stack| stack.replace('_', " ")),
        ),
        ("Compared with", own(&verification.baseline)),
        ("For a person to check", own(&record.manual)),
        ("Follow-up", own(&record.ticket)),
    ];
    known
        .into_iter()
        .filter_map(|(label, text)| Some((label, text?)))
        .collect()
}

/// Lays out a verification: its facts, its checks, and its new and fixed failures.
pub fn verification_tables(shown: &ShownRun, texts: TextLength) -> Vec<ReportTable> {
    let Some(verification) = &shown.page.verification else {
        return Vec::new();
    };
    let mut about = ReportTable::new("Verification");
    about.add_text_column("", 0);
    about.add_text_column("", 0);
    about.add_rows(
        verification_facts(verification)
            .into_iter()
            .map(|(label, text)| vec![label.to_owned(), text]),
    );
    about.notes.extend(hidden_lines_note(verification));
    let mut tables = vec![about];
    if !verification.record.checks.is_empty() {
        let mut table = ReportTable::new("Checks");
        table.add_text_column("Check", 0);
        table.add_text_column("Outcome", 0);
        table.add_text_column("At baseline", 1);
        table.add_column(
            TableColumn::number("Duration")
                .keys(["duration_seconds"])
                .rank(3),
        );
        table.add_text_column("Folder", 4);
        table.add_text_column("Why", 2);
        table.add_text_column("Message", 1);
        table.add_rows(verification.record.checks.iter().map(|check| {
            let text = |text: &Option<String>| {
                text.as_deref()
                    .map(|text| texts.apply_to(text))
                    .unwrap_or_default()
            };
            let word = |text: &Option<String>| text.as_deref().map(|text| text.replace('_', " "));
            vec![
                TableCell::words(texts.apply_to(&check.command)),
                word(&check.outcome)
                    .unwrap_or_else(|| "not run".to_owned())
                    .into(),
                word(&check.baseline).unwrap_or_default().into(),
                TableCell::number_or_blank(check.seconds, format::duration),
                check.folder.as_deref().unwrap_or_default().into(),
                text(&check.reason).into(),
                text(&check.message).into(),
            ]
        }));
        table.drop_empty_columns();
        tables.push(table);
    }
    tables.extend(failures_table(
        "Failures",
        &verification.record.failures,
        texts,
    ));
    tables.extend(failures_table("Fixed", &verification.record.fixed, texts));
    tables
}

/// Says that more lines were stored than are shown.
pub fn hidden_lines_note(verification: &StoredVerification) -> Option<String> {
    (verification.left_out > 0).then(|| {
        format!(
            "{} more lines are in the run's header.",
            format::format_integer(verification.left_out)
        )
    })
}

fn failures_table(
    title: &str,
    failures: &[VerifiedFailure],
    texts: TextLength,
) -> Option<ReportTable> {
    if failures.is_empty() {
        return None;
    }
    let mut table = ReportTable::new(title);
    table.add_text_column("Failure", 0);
    table.add_text_column("Scope", 1);
    table.add_text_column("Check", 1);
    table.add_text_column("Why", 2);
    table.add_text_column("Files", 3);
    let cells = |failure: &VerifiedFailure| {
        vec![
            texts.apply_to(failure.test.as_ref().unwrap_or(&failure.text)),
            failure
                .scope
                .as_deref()
                .map(|scope| scope.replace('_', " "))
                .unwrap_or_default(),
            texts.apply_to(&failure.check),
            failure
                .reason
                .as_deref()
                .map(|reason| texts.apply_to(reason))
                .unwrap_or_default(),
            texts.apply_to(&failure.files.join(", ")),
        ]
    };
    table.add_rows(failures.iter().map(cells));
    table.drop_empty_columns();
    Some(table)
}
