//! Judgements, and agreement between judges, as tables. CSV has only the first table of each answer.

use crate::views::{
    AgreementReport, CategoryBias, CriterionFlip, Interval, JudgeReport, JudgedRun, PairAgreement,
    ProbeReport, SkippedRun,
};

use super::cell::{Datum, TableCell};
use super::format;
use super::table::{ReportTable, TableColumn};

/// Maximum number of runs without a score that notes explain. The table's column explains the others.
const MAX_OPEN: usize = 3;

/// Lays out the results of judging stored runs.
pub fn report_tables(report: &JudgeReport) -> Vec<ReportTable> {
    let mut table = ReportTable::new(if report.is_dry {
        "To be judged"
    } else {
        "Judged"
    });
    table.add_text_column("Run", 0);
    table.add_text_column("Suite", 2);
    table.add_text_column("What", 1);
    table.add_text_column("Judge", 1);
    table.add_number_column("Before", 0);
    table.add_number_column("After", u8::from(report.is_dry));
    table.add_column(TableColumn::number("Passed").keys(["Passed", "of"]).rank(1));
    table.add_number_column("Flips", 1);
    table.add_number_column("Revision", 2);
    table.add_column(TableColumn::number("Cost").keys(["cost_usd"]).rank(2));
    table.add_text_column("Note", 1);
    for run in &report.runs {
        table.add_row(run_cells(run, report.is_dry));
    }
    if report.runs.is_empty() {
        table.notes.push(
            if report.is_dry {
                "Nothing would be judged."
            } else {
                "Nothing was judged."
            }
            .to_owned(),
        );
    }
    let kept: u64 = report.runs.iter().map(|run| run.kept).sum();
    if kept > 0 {
        let what = if kept == 1 {
            "criterion kept:"
        } else {
            "criteria kept:"
        };
        table.notes.push(format!(
            "{} {what} the same judge already decided.",
            format::format_integer(kept)
        ));
    }
    let is_second = |run: &JudgedRun| {
        run.judge != run.judge_before && run.before.is_some() && run.after.is_some()
    };
    if !report.is_dry
        && report
            .runs
            .iter()
            .any(|run| run.judge.is_some() && run.judge_before.is_some() && is_second(run))
    {
        table.notes.push(
            "Another judge, model or prompt than before: both judgements are kept, and scores of the two are not compared.".to_owned(),
        );
    }
    // The notes' column may not fit on a narrow screen, but readers need to know why a run has no score.
    let open = report
        .runs
        .iter()
        .filter(|_| !report.is_dry)
        .filter_map(|run| Some((run, run.not_evaluated.as_ref()?)));
    table.notes.extend(
        open.take(MAX_OPEN)
            .map(|(run, reason)| format!("Run {} was not judged: {reason}.", run.run)),
    );
    table.drop_empty_columns();
    let flips: Vec<&CriterionFlip> = report.runs.iter().flat_map(|run| &run.flips).collect();
    [
        Some(table),
        flip_table(&flips, "Changed decisions", ("Before", "After")),
        skipped_runs_table(&report.skipped),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn run_cells(run: &JudgedRun, is_dry: bool) -> Vec<TableCell> {
    let note = match (&run.not_evaluated, run.revision) {
        (_, _) if is_dry => String::new(),
        (Some(reason), None) => format!("not judged: {reason}; the earlier judgement is kept"),
        (Some(reason), Some(_)) => format!("not judged: {reason}"),
        (None, _) => String::new(),
    };
    vec![
        run.run.as_str().into(),
        run.suite.as_str().into(),
        run.evaluator.as_str().into(),
        run.judge.as_deref().unwrap_or_default().into(),
        score_cell(run.before),
        if is_dry {
            TableCell::unknown("")
        } else {
            score_after_cell(run)
        },
        if run.decided > 0 && !is_dry {
            TableCell::for_people(format!("{}/{}", run.passed, run.criteria))
                .with_data([run.passed.into(), run.criteria.into()])
        } else {
            TableCell::unknown("")
        },
        TableCell::count_or_blank(Some(run.flips.len() as u64).filter(|flips| *flips > 0)),
        TableCell::count_or_blank(run.revision.map(u64::from)),
        TableCell::number_or_blank(run.cost_usd, format::money),
        note.into(),
    ]
}

/// The score afterwards. If a judge failed and nothing of it was stored, the earlier score stands.
fn score_after_cell(run: &JudgedRun) -> TableCell {
    match (
        run.after,
        run.before
            .filter(|_| run.revision.is_none() && run.not_evaluated.is_some()),
    ) {
        (None, Some(before)) => TableCell {
            text: format!("{} stands", format::fixed_decimals(before, 1)),
            ..score_cell(run.after)
        },
        (after, _) => score_cell(after),
    }
}

fn score_cell(score: Option<f64>) -> TableCell {
    score.map_or_else(
        || TableCell::unknown("n/a"),
        |score| TableCell::number(format::fixed_decimals(score, 1), score),
    )
}

fn skipped_runs_table(runs: &[SkippedRun]) -> Option<ReportTable> {
    let mut table = ReportTable::new("Left out");
    table.add_text_column("Run", 0);
    table.add_text_column("Suite", 1);
    table.add_text_column("Why", 0);
    table.add_rows(
        runs.iter()
            .map(|run| vec![run.run.clone(), run.suite.clone(), run.reason.clone()]),
    );
    (!runs.is_empty()).then_some(table)
}

fn flip_table(
    flips: &[&CriterionFlip],
    title: &str,
    (before, after): (&str, &str),
) -> Option<ReportTable> {
    let mut table = ReportTable::new(title);
    table.add_text_column("Run", 0);
    table.add_text_column("Criterion", 0);
    table.add_text_column(before, 0);
    table.add_text_column(after, 0);
    table.add_rows(flips.iter().map(|flip| {
        vec![
            flip.run.clone(),
            flip.item.clone(),
            flip.before.clone(),
            flip.after.clone(),
        ]
    }));
    (!flips.is_empty()).then_some(table)
}

/// Lays out agreement by pair of raters and by rater, and the disagreements.
pub fn agreement_tables(report: &AgreementReport) -> Vec<ReportTable> {
    let mut table = ReportTable::new("Agreement");
    table.add_text_column("Raters", 0);
    table.add_number_column("n", 0);
    table.add_column(TableColumn::number("Agreement % [95% CI]").keys([
        "agreement",
        "agreement_ci95_low",
        "agreement_ci95_high",
    ]));
    table.add_column(TableColumn::number("Kappa [95% CI]").keys([
        "kappa",
        "kappa_ci95_low",
        "kappa_ci95_high",
    ]));
    table.add_column(
        TableColumn::number("Prevalence %")
            .keys(["prevalence"])
            .rank(1),
    );
    table.add_number_column("Only the first", 2);
    table.add_number_column("Only the second", 2);
    table.add_rows(report.pairs.iter().map(pair_cells));
    let alpha = &report.alpha;
    let value = match (alpha.value, &alpha.undefined) {
        (Some(value), _) => with_interval(value, alpha.interval),
        (None, reason) => format!("n/a ({})", reason.as_deref().unwrap_or("no data")),
    };
    let all = format::format_integer(report.raters.len() as u64);
    table.notes.push(format!(
        "Krippendorff's alpha over all {all} raters: {value}, n = {} items rated by two or more.",
        format::format_integer(alpha.n)
    ));
    table.notes.push(match report.resampled.as_deref() {
        Some("runs") => {
            format!("Intervals resample whole runs ({}), because items of a run are dependent.", format::format_integer(report.runs))
        }
        Some(_) => "Intervals resample items as if independent, because there are too few runs. They may be too narrow.".to_owned(),
        None => "Too few items for intervals of kappa and alpha.".to_owned(),
    });
    if report
        .pairs
        .iter()
        .any(|pair| pair.n > 0 && pair.kappa.is_none())
    {
        table
            .notes
            .push("Kappa is undefined if both raters used only one label.".to_owned());
    }
    if report.pairs.iter().any(|pair| {
        pair.prevalence
            .is_some_and(|share| !(0.1..=0.9).contains(&share))
    }) {
        table.notes.push(
            "Kappa is low if almost everything passes or fails, even for raters who agree."
                .to_owned(),
        );
    }
    if report.undecided > 0 {
        table.notes.push(format!(
            "{} labelled but not decided by the judge: not counted.",
            items_were(report.undecided)
        ));
    }
    let mut raters = ReportTable::new("Raters");
    raters.add_text_column("Rater", 0);
    raters.add_number_column("n", 0);
    raters.add_column(TableColumn::number("Pass %").keys(["pass_rate"]));
    raters.add_rows(report.raters.iter().map(|rater| {
        [
            rater.rater.as_str().into(),
            TableCell::count(rater.n),
            share_cell(rater.prevalence, rater.n),
        ]
    }));
    let mut apart = ReportTable::new("Disagreements");
    apart.add_text_column("Run", 0);
    apart.add_text_column("Item", 0);
    for rater in &report.raters {
        apart.add_text_column(&rater.rater, 0);
    }
    apart.add_rows(report.disagreements.iter().map(|one| {
        let labels = report
            .raters
            .iter()
            .map(|rater| one.labels.get(&rater.rater).cloned().unwrap_or_default());
        [one.run.clone(), one.item.clone()]
            .into_iter()
            .chain(labels)
    }));
    let is_apart = !report.disagreements.is_empty();
    let bias = bias_table(&report.bias);
    [
        Some(table),
        bias,
        Some(raters),
        Some(apart).filter(|_| is_apart),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Lays out how judges differ from people, over all items and by category.
fn bias_table(rows: &[CategoryBias]) -> Option<ReportTable> {
    let mut table = ReportTable::new("Judge against people");
    table.add_text_column("Judge", 1);
    table.add_text_column("Category", 0);
    table.add_number_column("n", 0);
    table.add_column(TableColumn::number("Alike %").keys(["alike"]));
    table.add_column(
        TableColumn::number("Judge minus people, pp [95% CI]").keys([
            "bias",
            "bias_ci95_low",
            "bias_ci95_high",
        ]),
    );
    table.add_number_column("Only the judge passes", 0);
    table.add_number_column("Only people pass", 0);
    table.add_rows(rows.iter().map(|row| {
        let points =
            |share: f64| format::signed_number(share * 100.0, format::percent_decimals(row.n));
        let interval = row.bias_interval.map_or_else(String::new, |ends| {
            format!(" [{}, {}]", points(ends.low), points(ends.high))
        });
        [
            row.judge.as_str().into(),
            row.category.as_deref().unwrap_or("all").into(),
            TableCell::count(row.n),
            share_cell(Some(row.alike as f64 / row.n.max(1) as f64), row.n),
            interval_cell(
                format!("{}{interval}", points(row.bias)),
                Some(row.bias),
                row.bias_interval,
            ),
            TableCell::count(row.too_lenient),
            TableCell::count(row.too_strict),
        ]
    }));
    table.notes.push("Of several people the majority counts, ties do not. Intervals are Tango's, as if items were independent.".to_owned());
    (!rows.is_empty()).then_some(table)
}

fn pair_cells(pair: &PairAgreement) -> Vec<TableCell> {
    let percent = match (pair.percent, pair.percent_interval) {
        (Some(percent), Some(interval)) => {
            format!(
                "{} {}",
                format::percent_number(percent, pair.n),
                format::percent_interval(interval, pair.n)
            )
        }
        (Some(percent), None) => format::percent_number(percent, pair.n),
        (None, _) => "n/a".to_owned(),
    };
    vec![
        format!("{} / {}", pair.one, pair.other).into(),
        TableCell::count(pair.n),
        interval_cell(percent, pair.percent, pair.percent_interval),
        interval_cell(
            pair.kappa.map_or_else(
                || "n/a".to_owned(),
                |kappa| with_interval(kappa, pair.kappa_interval),
            ),
            pair.kappa,
            pair.kappa_interval,
        ),
        share_cell(pair.prevalence, pair.n),
        TableCell::count(pair.only_one),
        TableCell::count(pair.only_other),
    ]
}

fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let value = format::fixed_decimals(value, 2);
    interval.map_or_else(
        || value.clone(),
        |interval| {
            format!(
                "{value} [{}, {}]",
                format::fixed_decimals(interval.low, 2),
                format::fixed_decimals(interval.high, 2)
            )
        },
    )
}

/// Creates a cell for a figure with the ends of its interval.
fn interval_cell(text: String, value: Option<f64>, interval: Option<Interval>) -> TableCell {
    let [low, high] = Datum::interval_ends(interval);
    TableCell::for_people(text).with_data([value.into(), low, high])
}

fn share_cell(share: Option<f64>, n: u64) -> TableCell {
    share.map_or_else(
        || TableCell::unknown("n/a"),
        |share| TableCell::number(format::percent_number(share, n), share),
    )
}

fn items_were(count: u64) -> String {
    if count == 1 {
        "1 item was".to_owned()
    } else {
        format!("{} items were", format::format_integer(count))
    }
}

/// Lays out how much a judge depends on the order of the criteria.
pub fn probe_tables(report: &ProbeReport) -> Vec<ReportTable> {
    let mut table = ReportTable::new("Criteria asked in reverse order");
    table.add_text_column("Run", 0);
    table.add_text_column("Suite", 2);
    table.add_text_column("Judge", 1);
    table.add_number_column("Given", 0);
    table.add_number_column("Reversed", 0);
    table.add_number_column("n", 0);
    table.add_number_column("Flips", 0);
    table.add_text_column("Note", 0);
    for run in &report.runs {
        table.add_row([
            run.run.as_str().into(),
            run.suite.as_str().into(),
            run.judge.as_deref().unwrap_or_default().into(),
            score_cell(run.given),
            score_cell(run.reversed),
            TableCell::count(run.n),
            TableCell::count(run.flips.len() as u64),
            run.not_evaluated
                .as_ref()
                .map(|reason| format!("not judged: {reason}"))
                .unwrap_or_default()
                .into(),
        ]);
    }
    table.notes.push(match (report.share, report.interval) {
        (Some(share), Some(interval)) => format!(
            "{} of {} decisions changed: {} {}. No judgement is replaced; `evalreport noise` says how far scores move.",
            format::format_integer(report.flipped),
            format::format_integer(report.n),
            format::percent(share, report.n),
            format::percent_interval(interval, report.n)
        ),
        (_, _) => "No criterion was decided both times.".to_owned(),
    });
    let flips: Vec<&CriterionFlip> = report.runs.iter().flat_map(|run| &run.flips).collect();
    [
        Some(table),
        flip_table(
            &flips,
            "Decisions that changed in reverse order",
            ("Given", "Reversed"),
        ),
        skipped_runs_table(&report.skipped),
    ]
    .into_iter()
    .flatten()
    .collect()
}
