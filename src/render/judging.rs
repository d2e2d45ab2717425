//! Judgements, and agreement between judges, as tables. CSV has only the first table of each answer.

use crate::views::{
    AgreementReport, CategoryBias, CriterionFlip, Interval, JudgeReport, JudgedRun, PairAgreement,
    ProbeReport, SkippedRun,
};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};

/// Maximum number of runs without a score that notes explain. The table's column explains the others.
const MOST_OPEN: usize = 3;

/// Lays out the results of judging stored runs.
pub fn report(report: &JudgeReport) -> Vec<Table> {
    let mut table = Table::new(if report.is_dry {
        "To be judged"
    } else {
        "Judged"
    });
    table.left("Run", 0);
    table.left("Suite", 2);
    table.left("What", 1);
    table.left("Judge", 1);
    table.right("Before", 0);
    table.right("After", u8::from(report.is_dry));
    table.head(Column::number("Passed").keys(["Passed", "of"]).rank(1));
    table.right("Flips", 1);
    table.right("Revision", 2);
    table.head(Column::number("Cost").keys(["cost_usd"]).rank(2));
    table.left("Note", 1);
    for run in &report.runs {
        table.row(cells(run, report.is_dry));
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
            format::integer(kept)
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
        open.take(MOST_OPEN)
            .map(|(run, reason)| format!("Run {} was not judged: {reason}.", run.run)),
    );
    table.drop_empty_columns();
    let flips: Vec<&CriterionFlip> = report.runs.iter().flat_map(|run| &run.flips).collect();
    [
        Some(table),
        flip_table(&flips, "Changed decisions", ("Before", "After")),
        skipped(&report.skipped),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cells(run: &JudgedRun, is_dry: bool) -> Vec<Cell> {
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
        points(run.before),
        if is_dry {
            Cell::unknown("")
        } else {
            after(run)
        },
        if run.decided > 0 && !is_dry {
            Cell::shown(format!("{}/{}", run.passed, run.criteria))
                .data([run.passed.into(), run.criteria.into()])
        } else {
            Cell::unknown("")
        },
        Cell::counted(Some(run.flips.len() as u64).filter(|flips| *flips > 0)),
        Cell::counted(run.revision.map(u64::from)),
        Cell::known(run.cost_usd, format::money),
        note.into(),
    ]
}

/// The score afterwards. If a judge failed and nothing of it was stored, the earlier score stands.
fn after(run: &JudgedRun) -> Cell {
    match (
        run.after,
        run.before
            .filter(|_| run.revision.is_none() && run.not_evaluated.is_some()),
    ) {
        (None, Some(before)) => Cell {
            text: format!("{} stands", format::fixed(before, 1)),
            ..points(run.after)
        },
        (after, _) => points(after),
    }
}

fn points(score: Option<f64>) -> Cell {
    score.map_or_else(
        || Cell::unknown("n/a"),
        |score| Cell::number(format::fixed(score, 1), score),
    )
}

fn skipped(runs: &[SkippedRun]) -> Option<Table> {
    let mut table = Table::new("Left out");
    table.left("Run", 0);
    table.left("Suite", 1);
    table.left("Why", 0);
    table.fill(
        runs.iter()
            .map(|run| vec![run.run.clone(), run.suite.clone(), run.reason.clone()]),
    );
    (!runs.is_empty()).then_some(table)
}

fn flip_table(
    flips: &[&CriterionFlip],
    title: &str,
    (before, after): (&str, &str),
) -> Option<Table> {
    let mut table = Table::new(title);
    table.left("Run", 0);
    table.left("Criterion", 0);
    table.left(before, 0);
    table.left(after, 0);
    table.fill(flips.iter().map(|flip| {
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
pub fn agreement(report: &AgreementReport) -> Vec<Table> {
    let mut table = Table::new("Agreement");
    table.left("Raters", 0);
    table.right("n", 0);
    table.head(Column::number("Agreement % [95% CI]").keys([
        "agreement",
        "agreement_ci95_low",
        "agreement_ci95_high",
    ]));
    table.head(Column::number("Kappa [95% CI]").keys([
        "kappa",
        "kappa_ci95_low",
        "kappa_ci95_high",
    ]));
    table.head(Column::number("Prevalence %").keys(["prevalence"]).rank(1));
    table.right("Only the first", 2);
    table.right("Only the second", 2);
    table.fill(report.pairs.iter().map(pair));
    let alpha = &report.alpha;
    let value = match (alpha.value, &alpha.undefined) {
        (Some(value), _) => with_interval(value, alpha.interval),
        (None, reason) => format!("n/a ({})", reason.as_deref().unwrap_or("no data")),
    };
    let all = format::integer(report.raters.len() as u64);
    table.notes.push(format!(
        "Krippendorff's alpha over all {all} raters: {value}, n = {} items rated by two or more.",
        format::integer(alpha.n)
    ));
    table.notes.push(match report.resampled.as_deref() {
        Some("runs") => {
            format!("Intervals resample whole runs ({}), because items of a run are dependent.", format::integer(report.runs))
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
            items(report.undecided)
        ));
    }
    let mut raters = Table::new("Raters");
    raters.left("Rater", 0);
    raters.right("n", 0);
    raters.head(Column::number("Pass %").keys(["pass_rate"]));
    raters.fill(report.raters.iter().map(|rater| {
        [
            rater.rater.as_str().into(),
            Cell::count(rater.n),
            share(rater.prevalence, rater.n),
        ]
    }));
    let mut apart = Table::new("Disagreements");
    apart.left("Run", 0);
    apart.left("Item", 0);
    for rater in &report.raters {
        apart.left(&rater.rater, 0);
    }
    apart.fill(report.disagreements.iter().map(|one| {
        let labels = report
            .raters
            .iter()
            .map(|rater| one.labels.get(&rater.rater).cloned().unwrap_or_default());
        [one.run.clone(), one.item.clone()]
            .into_iter()
            .chain(labels)
    }));
    let is_apart = !report.disagreements.is_empty();
    let bias = bias(&report.bias);
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
fn bias(rows: &[CategoryBias]) -> Option<Table> {
    let mut table = Table::new("Judge against people");
    table.left("Judge", 1);
    table.left("Category", 0);
    table.right("n", 0);
    table.head(Column::number("Alike %").keys(["alike"]));
    table.head(Column::number("Judge minus people, pp [95% CI]").keys([
        "bias",
        "bias_ci95_low",
        "bias_ci95_high",
    ]));
    table.right("Only the judge passes", 0);
    table.right("Only people pass", 0);
    table.fill(rows.iter().map(|row| {
        let points = |share: f64| format::signed(share * 100.0, format::percent_decimals(row.n));
        let interval = row.bias_interval.map_or_else(String::new, |ends| {
            format!(" [{}, {}]", points(ends.low), points(ends.high))
        });
        [
            row.judge.as_str().into(),
            row.category.as_deref().unwrap_or("all").into(),
            Cell::count(row.n),
            share(Some(row.alike as f64 / row.n.max(1) as f64), row.n),
            with(
                format!("{}{interval}", points(row.bias)),
                Some(row.bias),
                row.bias_interval,
            ),
            Cell::count(row.too_lenient),
            Cell::count(row.too_strict),
        ]
    }));
    table.notes.push("Of several people the majority counts, ties do not. Intervals are Tango's, as if items were independent.".to_owned());
    (!rows.is_empty()).then_some(table)
}

fn pair(pair: &PairAgreement) -> Vec<Cell> {
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
        Cell::count(pair.n),
        with(percent, pair.percent, pair.percent_interval),
        with(
            pair.kappa.map_or_else(
                || "n/a".to_owned(),
                |kappa| with_interval(kappa, pair.kappa_interval),
            ),
            pair.kappa,
            pair.kappa_interval,
        ),
        share(pair.prevalence, pair.n),
        Cell::count(pair.only_one),
        Cell::count(pair.only_other),
    ]
}

fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let value = format::fixed(value, 2);
    interval.map_or_else(
        || value.clone(),
        |interval| {
            format!(
                "{value} [{}, {}]",
                format::fixed(interval.low, 2),
                format::fixed(interval.high, 2)
            )
        },
    )
}

/// Creates a cell for a figure with the ends of its interval.
fn with(text: String, value: Option<f64>, interval: Option<Interval>) -> Cell {
    let [low, high] = Datum::ends(interval);
    Cell::shown(text).data([value.into(), low, high])
}

fn share(share: Option<f64>, n: u64) -> Cell {
    share.map_or_else(
        || Cell::unknown("n/a"),
        |share| Cell::number(format::percent_number(share, n), share),
    )
}

fn items(count: u64) -> String {
    if count == 1 {
        "1 item was".to_owned()
    } else {
        format!("{} items were", format::integer(count))
    }
}

/// Lays out how much a judge depends on the order of the criteria.
pub fn probe(report: &ProbeReport) -> Vec<Table> {
    let mut table = Table::new("Criteria asked in reverse order");
    table.left("Run", 0);
    table.left("Suite", 2);
    table.left("Judge", 1);
    table.right("Given", 0);
    table.right("Reversed", 0);
    table.right("n", 0);
    table.right("Flips", 0);
    table.left("Note", 0);
    for run in &report.runs {
        table.row([
            run.run.as_str().into(),
            run.suite.as_str().into(),
            run.judge.as_deref().unwrap_or_default().into(),
            points(run.given),
            points(run.reversed),
            Cell::count(run.n),
            Cell::count(run.flips.len() as u64),
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
            format::integer(report.flipped),
            format::integer(report.n),
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
        skipped(&report.skipped),
    ]
    .into_iter()
    .flatten()
    .collect()
}
