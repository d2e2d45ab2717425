//! How many planted errors an audit of published figures finds, and how many of its accusations are true.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::struct_excessive_bools,
    reason = "small counts, and switches of made tables"
)]

use evalreport::domain::{PublishedRow, PublishedTable};
use evalreport::inference::{ClaimFinding, ClaimKind, RunsInStore, audit_claims};
use evalreport::stats::{
    PrintedNumber, Rounding, SpreadFormula, VarianceDivisor, standard_deviation, standard_error,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Tables of each kind of error, and as many without one.
const TABLES: u64 = 300;
/// Wide boards take longer.
const WIDE_TABLES: u64 = 100;

/// A kind of table, with the error that is planted in half of them.
#[derive(Clone, Copy, Debug)]
enum Planted {
    RateOfCounts,
    ImpossibleRate,
    RecoveredTotal,
    Mean,
    StandardError,
    Interval,
    ConflictingRows,
    ConflictingOutcomes,
    OtherTotal,
    MissingRun,
    OneRun,
    Bold,
    ColumnUnit,
    SomeUnits,
    SwappedRates,
    ShareOfOthers,
    Denominator,
    SwappedEnds,
    TotalRow,
    Deviation,
    WholeMean,
    WholeDeviation,
    StoredRuns,
    RecoveredRuns,
    Resolved,
    MeanOfTasks,
    MeanOfTypes,
    Rank,
}

const KINDS: [(Planted, &str); 28] = [
    (Planted::RateOfCounts, "rate not that of its counts"),
    (
        Planted::ImpossibleRate,
        "rate that no count of the stated total gives",
    ),
    (Planted::RecoveredTotal, "the same, total not stated"),
    (Planted::Mean, "mean not that of its columns"),
    (Planted::StandardError, "standard error"),
    (Planted::Interval, "interval"),
    (Planted::ConflictingRows, "row twice, other figures"),
    (Planted::ConflictingOutcomes, "item twice, other outcome"),
    (Planted::OtherTotal, "total that differs from the others"),
    (Planted::MissingRun, "more runs stated than columns have"),
    (Planted::OneRun, "mean of 3 runs stated, one there"),
    (Planted::Bold, "bold figure that is not the best"),
    (
        Planted::ColumnUnit,
        "column of shares whose title says percent",
    ),
    (Planted::SomeUnits, "some rates as shares among percentages"),
    (Planted::SwappedRates, "two columns of rates swapped"),
    (
        Planted::ShareOfOthers,
        "column of the failed, titled as of the passed",
    ),
    (Planted::Denominator, "column of rates over another total"),
    (Planted::SwappedEnds, "lower and upper ends swapped"),
    (Planted::TotalRow, "sums and means among the systems"),
    (Planted::Deviation, "standard deviation of outcomes"),
    (Planted::WholeMean, "mean that no whole scores have"),
    (
        Planted::WholeDeviation,
        "deviation that no whole scores have",
    ),
    (Planted::StoredRuns, "more runs stated than the store holds"),
    (
        Planted::RecoveredRuns,
        "mean of 3 in the title, one there, total not stated",
    ),
    (
        Planted::Resolved,
        "SWE-bench's shape: % resolved of another number",
    ),
    (Planted::MeanOfTasks, "MTEB's shape: mean over tasks"),
    (Planted::MeanOfTypes, "MTEB's shape: mean over types"),
    (Planted::Rank, "MTEB's shape: two ranks exchanged"),
];

/// How figures are printed.
#[derive(Clone, Copy)]
struct Print {
    decimals: usize,
    is_percent: bool,
    is_cut: bool,
    has_sign: bool,
    drops_zeros: bool,
}

struct Made {
    table: PublishedTable,
    /// Rows of which a finding is true.
    wrong: Vec<u64>,
    /// The runs that the store holds.
    held: Vec<RunsInStore>,
    /// The error is one of a whole column: it is found if it is said once.
    is_of_column: bool,
}

impl Made {
    fn of(table: PublishedTable, wrong: Vec<u64>) -> Self {
        Self {
            table,
            wrong,
            held: Vec::new(),
            is_of_column: false,
        }
    }
}

pub struct Draw(ChaCha8Rng);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn is(&mut self, chance: f64) -> bool {
        self.share() < chance
    }

    fn passed(&mut self, total: u64, rate: f64) -> u64 {
        (0..total).filter(|_| self.share() < rate).count() as u64
    }

    fn print(&mut self) -> Print {
        let is_percent = self.is(0.6);
        let decimals = if is_percent {
            self.between(1, 2)
        } else {
            self.between(3, 4)
        };
        Print {
            decimals: decimals as usize,
            is_percent,
            is_cut: self.is(0.2),
            has_sign: is_percent && self.is(0.2),
            drops_zeros: self.is(0.3),
        }
    }
}

impl Print {
    fn text(self, share: f64) -> String {
        let value = if self.is_percent {
            share * 100.0
        } else {
            share
        };
        self.number(value)
    }

    fn number(self, value: f64) -> String {
        let scale = 10_f64.powi(self.decimals as i32);
        let value = if self.is_cut {
            (value * scale + 1e-7).floor() / scale
        } else {
            value
        };
        let mut text = format!("{value:.*}", self.decimals);
        if self.drops_zeros && text.contains('.') {
            text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        if self.has_sign {
            text.push('%');
        }
        text
    }
}

/// Prints the recall for each kind, and the precision over its tables with and without an error.
pub fn found() -> super::Table {
    let columns = [
        "planted error",
        "tables",
        "found",
        "accusations that are true",
        "clean tables with an accusation",
    ];
    let mut table = super::Table::new("Planted errors in published figures", &columns);
    let (mut all_found, mut all_true, mut all_told, mut all_clean, mut all) = (0, 0, 0, 0, 0);
    for (number, (planted, name)) in (0..).zip(KINDS) {
        let (mut found, mut right, mut told, mut clean) = (0, 0, 0, 0);
        let tables = if matches!(
            planted,
            Planted::MeanOfTasks | Planted::MeanOfTypes | Planted::Rank
        ) {
            WIDE_TABLES
        } else {
            TABLES
        };
        for seed in 0..tables {
            let mut draw = Draw(ChaCha8Rng::seed_from_u64(number * 1_000_003 + seed));
            for is_wrong in [true, false] {
                let made = make(&mut draw, planted, is_wrong);
                let audit = audit_claims(std::slice::from_ref(&made.table), &made.held);
                let accused: Vec<&ClaimFinding> = audit
                    .findings
                    .iter()
                    .filter(|found| found.kind != ClaimKind::FirstPlace)
                    .collect();
                let is_true = |found: &&&ClaimFinding| {
                    found
                        .places
                        .iter()
                        .any(|place| made.wrong.contains(&place.row))
                };
                let hits = accused.iter().filter(is_true).count() as u64;
                found +=
                    u64::from(is_wrong && hits > 0 && (!made.is_of_column || accused.len() == 1));
                clean += u64::from(!is_wrong && !accused.is_empty());
                right += hits;
                told += accused.len() as u64;
            }
        }
        let line = |found, right, told, clean| {
            [
                share(found, tables),
                share(right, told),
                share(clean, tables),
            ]
        };
        table.rows.push(
            [
                vec![name.to_owned(), (2 * tables).to_string()],
                line(found, right, told, clean).to_vec(),
            ]
            .concat(),
        );
        (all_found, all_true, all_told, all_clean) = (
            all_found + found,
            all_true + right,
            all_told + told,
            all_clean + clean,
        );
        all += tables;
    }
    table.rows.push(vec![
        "all".to_owned(),
        (2 * all).to_string(),
        share(all_found, all),
        share(all_true, all_told),
        share(all_clean, all),
    ]);
    table
}

/// Prints a share with its Monte-Carlo error.
fn share(part: u64, all: u64) -> String {
    let value = part as f64 / all.max(1) as f64;
    format!(
        "{:.2}% ± {:.2}",
        value * 100.0,
        100.0 * (value * (1.0 - value) / all.max(1) as f64).sqrt()
    )
}

fn make(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    match planted {
        Planted::Mean => means(draw, is_wrong),
        Planted::ConflictingOutcomes => outcomes(draw, is_wrong),
        Planted::MissingRun | Planted::OneRun => runs(draw, planted, is_wrong),
        Planted::ColumnUnit
        | Planted::SomeUnits
        | Planted::SwappedRates
        | Planted::ShareOfOthers
        | Planted::Denominator
        | Planted::SwappedEnds
        | Planted::TotalRow => columns(draw, planted, is_wrong),
        Planted::Deviation => deviations(draw, is_wrong),
        Planted::WholeMean | Planted::WholeDeviation => ratings(draw, planted, is_wrong),
        Planted::StoredRuns | Planted::RecoveredRuns => stored(draw, planted, is_wrong),
        Planted::Resolved => resolved(draw, is_wrong),
        Planted::MeanOfTasks | Planted::MeanOfTypes | Planted::Rank => {
            tasks(draw, planted, is_wrong)
        }
        _ => board(draw, planted, is_wrong),
    }
}

fn table(columns: &[&str], rows: Vec<Vec<String>>) -> PublishedTable {
    let row = |(number, cells): (u64, Vec<String>)| PublishedRow {
        number,
        line: None,
        cells: cells
            .into_iter()
            .map(|text| Some(text).filter(|text| !text.is_empty()))
            .collect(),
        doubled: Vec::new(),
    };
    PublishedTable {
        name: "board".to_owned(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: (1..).zip(rows).map(row).collect(),
    }
}

fn words(draw: &mut Draw, of: &[&'static str]) -> &'static str {
    of[draw.below(of.len() as u64) as usize]
}

/// A leaderboard of counts, rates and their spreads.
fn board(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let mut print = draw.print();
    let systems = draw.between(8, 40) as usize;
    // A total can refuse a rate if several of the last digit's units lie between two counts.
    let most = if matches!(planted, Planted::ImpossibleRate) && print.decimals % 2 == 1 {
        330
    } else {
        600
    };
    let total = draw.between(80, most);
    let has_total = !matches!(planted, Planted::RecoveredTotal);
    let has_counts = matches!(planted, Planted::RateOfCounts)
        || (has_total && !matches!(planted, Planted::ImpossibleRate) && draw.is(0.5));
    if matches!(planted, Planted::RecoveredTotal) {
        // Only these tell a total of several hundred from few systems.
        print.decimals = if print.is_percent { 2 } else { 4 };
    }
    let formula = [
        SpreadFormula::Wald,
        SpreadFormula::WaldOfSample,
        SpreadFormula::Wilson,
        SpreadFormula::ClopperPearson,
    ][draw.below(4) as usize];
    let level = [0.95, 0.95, 0.90, 0.99][draw.below(4) as usize];
    let has_error = matches!(planted, Planted::StandardError) || (has_total && draw.is(0.2));
    let has_interval = matches!(planted, Planted::Interval) || (has_total && draw.is(0.2));
    let is_bold = matches!(planted, Planted::Bold);
    // In some sources each row has a total of its own.
    let own_totals = has_total && !matches!(planted, Planted::OtherTotal) && draw.is(0.15);
    let has_runs = has_total && !matches!(planted, Planted::ImpossibleRate);
    let runs =
        if has_runs && !has_counts && !has_error && !has_interval && total < 300 && draw.is(0.15) {
            3
        } else {
            1
        };
    let names = (
        words(draw, &["model", "Model", "system", "agent", "method"]),
        words(
            draw,
            &[
                "n",
                "total",
                "num_examples",
                "questions",
                "test_cases",
                "# tasks",
            ],
        ),
        words(draw, &["correct", "passed", "num_correct", "solved"]),
        words(
            draw,
            &["accuracy", "acc", "pass_rate", "Success rate", "score"],
        ),
    );
    let names = if has_counts {
        (
            names.0,
            names.1,
            words(draw, &["correct", "passed", "num_correct"]),
            words(draw, &["accuracy", "pass_rate", "score"]),
        )
    } else {
        names
    };
    let (low, high) = [
        ("ci_low", "ci_high"),
        ("lower", "upper"),
        ("CI lower", "CI upper"),
    ][draw.below(3) as usize];
    let mut columns = vec![names.0];
    columns.extend(has_total.then_some(names.1));
    columns.extend(has_counts.then_some(names.2));
    columns.extend((runs > 1).then_some("runs"));
    columns.push(names.3);
    columns.extend(has_error.then_some("stderr"));
    if has_interval {
        columns.extend([low, high]);
    }
    columns.push("cost");
    let mut rows = Vec::new();
    let mut rates = Vec::new();
    let bad = draw.below(systems as u64) as usize;
    for system in 0..systems {
        let mut items = if own_totals {
            draw.between(80, most)
        } else {
            total
        };
        if is_wrong && matches!(planted, Planted::OtherTotal) && system == bad {
            items -= draw.between(1, 9);
        }
        let ability = 0.1 + 0.8 * draw.share();
        let mut passed = draw.passed(items * runs, ability);
        if is_wrong
            && system == bad
            && matches!(planted, Planted::StandardError | Planted::Interval)
        {
            // Without a spread, nothing can be wrong about it.
            passed = passed.clamp(items / 5, 4 * items / 5);
        }
        let share = passed as f64 / (items * runs) as f64;
        rates.push(share);
        let mut rate = print.text(share);
        if is_wrong && system == bad {
            rate = wrong_rate(draw, planted, print, (passed, items * runs), rate);
        }
        let mut row = vec![format!(
            "{}-{system}",
            words(draw, &["nova", "lyra", "orion", "vega"])
        )];
        row.extend(has_total.then(|| items.to_string()));
        row.extend(has_counts.then(|| passed.to_string()));
        row.extend((runs > 1).then(|| runs.to_string()));
        row.push(rate);
        let spread = Print {
            decimals: print.decimals + 1,
            has_sign: false,
            drops_zeros: false,
            ..print
        };
        if has_error {
            let mut error = standard_error(passed, items, formula == SpreadFormula::WaldOfSample)
                .unwrap_or(0.0);
            if is_wrong && system == bad && matches!(planted, Planted::StandardError) {
                error *= [0.5, 0.7, 1.4, 2.0, 3.0][draw.below(5) as usize];
            }
            row.push(spread.text(error));
        }
        if has_interval && let Some(interval) = formula.interval_at(passed, items, level) {
            let (mut least, mut most) = (interval.low, interval.high);
            if is_wrong && system == bad && matches!(planted, Planted::Interval) {
                let width = most - least;
                match draw.below(3) {
                    0 => most += width * 0.3,
                    1 => (least, most) = (least + width * 0.35, most + width * 0.35),
                    _ => (least, most) = (least + width * 0.2, most - width * 0.2),
                }
            }
            row.push(spread.text(least.max(0.0)));
            row.push(spread.text(most.min(1.0)));
        }
        row.push(format!("{:.2}", 1.0 + 20.0 * draw.share()));
        rows.push(row);
    }
    let mut wrong = vec![bad as u64 + 1];
    let place = columns
        .iter()
        .position(|name| *name == names.3)
        .unwrap_or(0);
    if is_bold {
        let order = |left: &usize, right: &usize| rates[*left].total_cmp(&rates[*right]);
        let best = (0..systems).max_by(order).unwrap_or(0);
        let marked = if is_wrong {
            (0..systems)
                .filter(|system| rows[*system][place] != rows[best][place])
                .max_by(order)
                .unwrap_or(best)
        } else {
            best
        };
        rows[marked][place] = format!("**{}**", rows[marked][place]);
        wrong = vec![marked as u64 + 1];
    }
    if matches!(planted, Planted::ConflictingRows) && is_wrong {
        let mut again = rows[bad].clone();
        // The same system with other figures that fit each other.
        let other = rows[(bad + 1) % systems].clone();
        again[1..].clone_from_slice(&other[1..]);
        if again[place] == rows[bad][place] {
            again[place].clone_from(&rows[(bad + 2) % systems][place]);
        }
        rows.push(again);
        wrong.push(rows.len() as u64);
    }
    Made::of(
        table(&columns, rows),
        if is_wrong { wrong } else { Vec::new() },
    )
}

/// Changes a printed rate into one that is wrong as planned.
fn wrong_rate(
    draw: &mut Draw,
    planted: Planted,
    print: Print,
    (passed, total): (u64, u64),
    right: String,
) -> String {
    let unit = 10_f64.powi(-(print.decimals as i32)) / if print.is_percent { 100.0 } else { 1.0 };
    let share = passed as f64 / total as f64;
    match planted {
        Planted::RateOfCounts => loop {
            let off = (2.0 + 40.0 * draw.share()) * unit * if share > 0.5 { -1.0 } else { 1.0 };
            let text = print.text(share + off);
            if text != right {
                return text;
            }
        },
        Planted::ImpossibleRate | Planted::RecoveredTotal => {
            // A neighbour that is no count.
            for _ in 0..10_000 {
                let off =
                    (1.0 + draw.below(200) as f64) * unit * if share > 0.5 { -1.0 } else { 1.0 };
                let value = ((share + off) / unit).round() * unit;
                let near = (value * total as f64).round() / total as f64;
                if (near - value).abs() > 1.1 * unit {
                    return Print {
                        is_cut: false,
                        ..print
                    }
                    .text(value);
                }
            }
            right
        }
        _ => right,
    }
}

/// Scores on several suites with their mean.
fn means(draw: &mut Draw, is_wrong: bool) -> Made {
    let print = Print {
        decimals: draw.between(1, 2) as usize,
        is_percent: true,
        is_cut: false,
        has_sign: false,
        drops_zeros: draw.is(0.3),
    };
    let suites = draw.between(3, 8) as usize;
    let systems = draw.between(8, 40) as usize;
    let mut columns = vec!["model", words(draw, &["average", "Avg", "Mean", "overall"])];
    columns.extend(
        &[
            "MMLU",
            "GPQA",
            "MATH",
            "IFEval",
            "BBH",
            "MuSR",
            "HumanEval",
            "ARC",
        ][..suites],
    );
    let weights: Vec<f64> = (0..suites).map(|_| 1.0 + draw.below(9) as f64).collect();
    // Some sources weigh their suites, and do not say how.
    let is_weighted = !is_wrong && draw.is(0.3);
    let bad = draw.below(systems as u64) as usize;
    let rows = (0..systems).map(|system| {
        let scores: Vec<f64> = (0..suites).map(|_| 5.0 + 90.0 * draw.share()).collect();
        let mean = if is_weighted {
            scores
                .iter()
                .zip(&weights)
                .map(|(score, weight)| score * weight)
                .sum::<f64>()
                / weights.iter().sum::<f64>()
        } else {
            scores.iter().sum::<f64>() / suites as f64
        };
        let off = if is_wrong && system == bad {
            (0.4 + 5.0 * draw.share()) * if mean > 50.0 { -1.0 } else { 1.0 }
        } else {
            0.0
        };
        let mut row = vec![format!("nova-{system}"), print.number(mean + off)];
        row.extend(scores.into_iter().map(|score| print.number(score)));
        row
    });
    let rows = rows.collect();
    Made::of(
        table(&columns, rows),
        if is_wrong {
            vec![bad as u64 + 1]
        } else {
            Vec::new()
        },
    )
}

/// Outcomes of items.
fn outcomes(draw: &mut Draw, is_wrong: bool) -> Made {
    let (yes, no) = [
        ("pass", "fail"),
        ("true", "false"),
        ("1", "0"),
        ("correct", "incorrect"),
    ][draw.below(4) as usize];
    let attempts = draw.between(1, 3);
    let mut columns = vec![
        "model",
        words(draw, &["task", "item", "question_id", "instance_id"]),
    ];
    columns.extend((attempts > 1).then_some("attempt"));
    columns.push(words(draw, &["outcome", "passed", "result", "correct"]));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for system in ["nova", "lyra"] {
        for item in 0..draw.between(10, 60) {
            for attempt in 1..=attempts {
                let outcome = if draw.is(0.6) { yes } else { no };
                let mut row = vec![system.to_owned(), format!("t{item}")];
                row.extend((attempts > 1).then(|| attempt.to_string()));
                row.push(outcome.to_owned());
                rows.push(row);
            }
        }
    }
    let mut wrong = Vec::new();
    let bad = draw.below(rows.len() as u64) as usize;
    let mut again = rows[bad].clone();
    let outcome = again.len() - 1;
    if is_wrong {
        let other = if again[outcome] == yes { no } else { yes };
        other.clone_into(&mut again[outcome]);
        wrong = vec![bad as u64 + 1, rows.len() as u64 + 1];
    }
    // A row may be there twice, as long as it says the same.
    rows.push(again);
    Made::of(table(&columns, rows), wrong)
}

/// Rates of several runs, or their means.
fn runs(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let print = Print {
        decimals: 2,
        is_percent: true,
        is_cut: false,
        has_sign: false,
        drops_zeros: false,
    };
    let systems = draw.between(10, 30) as usize;
    let total = draw.between(80, 400);
    let has_columns = matches!(planted, Planted::MissingRun);
    let bad = draw.below(systems as u64) as usize;
    let mut columns = vec!["model", "n", "runs"];
    if has_columns {
        columns.extend(["run_1", "run_2", "run_3"]);
    } else {
        columns.push("accuracy");
    }
    let rows = (0..systems).map(|system| {
        let ability = 0.1 + 0.8 * draw.share();
        let shares: Vec<f64> = (0..3)
            .map(|_| draw.passed(total, ability) as f64 / total as f64)
            .collect();
        let mut row = vec![format!("nova-{system}"), total.to_string(), "3".to_owned()];
        if has_columns {
            let there = if is_wrong && system == bad { 1 } else { 3 };
            row.extend((0..3).map(|run| {
                if run < there {
                    print.text(shares[run])
                } else {
                    String::new()
                }
            }));
        } else {
            row.push(print.text(if is_wrong {
                shares[0]
            } else {
                shares.iter().sum::<f64>() / 3.0
            }));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let wrong = match planted {
        _ if !is_wrong => Vec::new(),
        Planted::MissingRun => vec![bad as u64 + 1],
        _ => (1..=systems as u64).collect(),
    };
    Made::of(table(&columns, rows), wrong)
}

/// Counts of passed and failed items with rates of them, and intervals. Every row of an error of a column is wrong.
fn columns(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let is_percent = matches!(planted, Planted::ColumnUnit | Planted::SomeUnits) || draw.is(0.6);
    let decimals = if is_percent {
        draw.between(1, 2)
    } else {
        draw.between(3, 4)
    };
    let print = Print {
        decimals: decimals as usize,
        is_percent,
        is_cut: draw.is(0.2),
        has_sign: false,
        drops_zeros: draw.is(0.3),
    };
    let as_share = Print {
        decimals: print.decimals + 2,
        is_percent: false,
        ..print
    };
    let systems = draw.between(8, 40) as usize;
    let total = draw.between(80, 600);
    let own_totals = draw.is(0.15) && !matches!(planted, Planted::SwappedEnds);
    let other = if own_totals { 600 } else { total } + draw.between(3, total);
    let has_two = matches!(planted, Planted::SwappedRates);
    let has_failed = matches!(planted, Planted::ShareOfOthers) || draw.is(0.3);
    let has_ends = matches!(planted, Planted::SwappedEnds);
    let attempted = matches!(planted, Planted::Denominator) && draw.is(0.5);
    let some: Vec<usize> = (0..draw.between(1, 3))
        .map(|_| draw.below(systems as u64) as usize)
        .collect();
    let mut titles = vec!["model"];
    if has_two {
        titles.extend([
            "test_cases",
            "pass_num_1",
            "pass_num_2",
            "pass_rate_1",
            "pass_rate_2",
        ]);
    } else {
        titles.extend(["total", "correct"]);
        titles.extend(has_failed.then_some("incorrect"));
        titles.extend(attempted.then_some("attempted"));
        titles.push(if is_percent {
            words(draw, &["accuracy (%)", "accuracy %", "percent correct"])
        } else {
            "accuracy"
        });
    }
    titles.extend(has_ends.then_some("ci_low"));
    titles.extend(has_ends.then_some("ci_high"));
    let mut rows = Vec::new();
    let (mut sums, mut rates) = ((0, 0), Vec::new());
    for system in 0..systems {
        let items = if own_totals {
            draw.between(80, 600)
        } else {
            total
        };
        let ability = 0.1 + 0.7 * draw.share();
        let passed = draw.passed(items, ability);
        let tried = draw.between(passed, items);
        let share = passed as f64 / items as f64;
        let mut row = vec![format!(
            "{}-{system}",
            words(draw, &["nova", "lyra", "orion", "vega"])
        )];
        if has_two {
            let again = draw.between(passed, items);
            let (first, second) = (print.text(share), print.text(again as f64 / items as f64));
            row.extend([items, passed, again].map(|count| count.to_string()));
            row.extend(if is_wrong {
                [second, first]
            } else {
                [first, second]
            });
        } else {
            row.extend([items, passed].map(|count| count.to_string()));
            row.extend(has_failed.then(|| (items - passed).to_string()));
            row.extend(attempted.then(|| tried.to_string()));
            let shown = match planted {
                _ if !is_wrong => print.text(share),
                Planted::ColumnUnit => as_share.text(share),
                Planted::SomeUnits if some.contains(&system) => as_share.text(share),
                Planted::ShareOfOthers => print.text(1.0 - share),
                Planted::Denominator if attempted => {
                    print.text(passed as f64 / tried.max(1) as f64)
                }
                Planted::Denominator => print.text(passed as f64 / other as f64),
                _ => print.text(share),
            };
            row.push(shown);
        }
        if has_ends && let Some(interval) = SpreadFormula::Wilson.interval_at(passed, items, 0.95) {
            let ends = [print.text(interval.low), print.text(interval.high)];
            row.extend(if is_wrong {
                [ends[1].clone(), ends[0].clone()]
            } else {
                ends
            });
        }
        sums = (sums.0 + items, sums.1 + passed);
        rates.push(share);
        rows.push(row);
    }
    let mut wrong: Vec<u64> = (1..=systems as u64).collect();
    if matches!(planted, Planted::SomeUnits) {
        wrong = some.iter().map(|system| *system as u64 + 1).collect();
    }
    if matches!(planted, Planted::TotalRow) {
        wrong = vec![systems as u64 + 1];
        if is_wrong {
            let mut row = vec![
                words(
                    draw,
                    &["All models", "Combined", "whole board", "Everything"],
                )
                .to_owned(),
                sums.0.to_string(),
                sums.1.to_string(),
            ];
            row.extend(has_failed.then(|| (sums.0 - sums.1).to_string()));
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            row.push(print.text(if draw.is(0.5) {
                mean
            } else {
                sums.1 as f64 / sums.0 as f64
            }));
            rows.push(row);
        }
    }
    let is_of_column = is_wrong && !matches!(planted, Planted::SomeUnits);
    Made {
        is_of_column,
        ..Made::of(
            table(&titles, rows),
            if is_wrong { wrong } else { Vec::new() },
        )
    }
}

/// Rates with the standard deviation of the outcomes.
fn deviations(draw: &mut Draw, is_wrong: bool) -> Made {
    let print = Print {
        drops_zeros: false,
        has_sign: false,
        ..draw.print()
    };
    let systems = draw.between(8, 40) as usize;
    let total = draw.between(40, 600);
    let of_sample = draw.is(0.5);
    let bad = draw.below(systems as u64) as usize;
    let titles = [
        "model",
        words(draw, &["n", "total"]),
        "accuracy",
        words(draw, &["std", "SD", "standard deviation"]),
    ];
    let rows = (0..systems).map(|system| {
        let ability = 0.15 + 0.7 * draw.share();
        let passed = draw
            .passed(total, ability)
            .clamp(total / 10, 9 * total / 10);
        let mut deviation = standard_deviation(passed, total, of_sample).unwrap_or(0.0);
        if is_wrong && system == bad {
            deviation *= [0.5, 0.8, 1.15, 1.4][draw.below(4) as usize];
        }
        let share = passed as f64 / total as f64;
        vec![
            format!("nova-{system}"),
            total.to_string(),
            print.text(share),
            print.text(deviation),
        ]
    });
    let rows = rows.collect();
    Made::of(
        table(&titles, rows),
        if is_wrong {
            vec![bad as u64 + 1]
        } else {
            Vec::new()
        },
    )
}

/// Mean ratings from 1 to 5 with their standard deviations.
fn ratings(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let systems = draw.between(12, 40) as usize;
    let own_totals = draw.is(0.5);
    let total = draw.between(12, 32);
    let of_sample = draw.is(0.7);
    let bad = draw.below(systems as u64) as usize;
    let divisor = if of_sample {
        VarianceDivisor::Sample
    } else {
        VarianceDivisor::Population
    };
    let titles = [
        "model",
        "n",
        words(draw, &["mean rating", "helpfulness", "score"]),
        words(draw, &["sd", "std", "Standard deviation"]),
    ];
    let rows = (0..systems).map(|system| {
        let items = if own_totals {
            draw.between(12, 32)
        } else {
            total
        };
        let ability = draw.share();
        let scores: Vec<u64> = (0..items).map(|_| 1 + draw.passed(4, ability)).collect();
        let mean = scores.iter().sum::<u64>() as f64 / items as f64;
        let squares: f64 = scores
            .iter()
            .map(|score| (*score as f64 - mean) * (*score as f64 - mean))
            .sum();
        let deviation = (squares / (items - u64::from(of_sample)) as f64).sqrt();
        let number = |value: f64| PrintedNumber {
            units: (value * 100.0).round() as i64,
            scale: 100,
        };
        let (mut mean, mut deviation) = (number(mean), number(deviation));
        if is_wrong && system == bad {
            match planted {
                Planted::WholeMean => {
                    while mean.possible_sums(items, Rounding::Nearest).is_some() {
                        mean.units += if mean.units > 300 { -1 } else { 1 };
                    }
                }
                _ => {
                    while mean.has_deviation(deviation, items, divisor, Rounding::Nearest) {
                        deviation.units += 1;
                    }
                }
            }
        }
        let text = |number: PrintedNumber| format!("{:.2}", number.units as f64 / 100.0);
        vec![
            format!("nova-{system}"),
            items.to_string(),
            text(mean),
            text(deviation),
        ]
    });
    let rows = rows.collect();
    Made::of(
        table(&titles, rows),
        if is_wrong {
            vec![bad as u64 + 1]
        } else {
            Vec::new()
        },
    )
}

/// Means of three runs, some of which the store holds.
fn stored(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let print = Print {
        decimals: 2,
        is_percent: true,
        is_cut: false,
        has_sign: false,
        drops_zeros: false,
    };
    let systems = draw.between(15, 30) as usize;
    let is_recovered = matches!(planted, Planted::RecoveredRuns);
    let mut total = draw.between(80, 400);
    if total.is_multiple_of(3) {
        total += 1;
    }
    let bad = draw.below(systems as u64) as usize;
    let titles = if is_recovered {
        vec!["model", "accuracy (mean of 3)"]
    } else {
        vec!["model", "suite", "runs", "accuracy"]
    };
    let mut held = Vec::new();
    let rows = (0..systems).map(|system| {
        let ability = 0.1 + 0.8 * draw.share();
        let shares: Vec<f64> = (0..3)
            .map(|_| draw.passed(total, ability) as f64 / total as f64)
            .collect();
        let name = format!("nova-{system}");
        let mean = if is_recovered && is_wrong {
            shares[0]
        } else {
            shares.iter().sum::<f64>() / 3.0
        };
        let mut row = vec![name.clone()];
        if !is_recovered {
            row.extend(["math".to_owned(), "3".to_owned()]);
            let runs = if is_wrong && system == bad {
                draw.between(1, 2)
            } else {
                draw.between(3, 6)
            };
            // The store holds other systems, other suites, and means whose runs cannot be counted.
            let suite = if system % 3 == 1 && system != bad {
                "code"
            } else {
                "math"
            };
            let runs = if system % 5 == 2 && system != bad {
                None
            } else {
                Some(runs)
            };
            if system % 4 != 3 || system == bad {
                held.push(RunsInStore {
                    suite: suite.to_owned(),
                    approach: "oneshot".to_owned(),
                    model: name,
                    runs,
                });
            }
        }
        row.push(print.text(mean));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let wrong = match planted {
        _ if !is_wrong => Vec::new(),
        Planted::StoredRuns => vec![bad as u64 + 1],
        _ => (1..=systems as u64).collect(),
    };
    Made {
        held,
        ..Made::of(table(&titles, rows), wrong)
    }
}

/// Boards of SWE-bench's shape: rates of 2,294, 500, 300 or 517 instances without counts, with dates, links and marks.
fn resolved(draw: &mut Draw, is_wrong: bool) -> Made {
    let boards: [(&str, u64, u64); 4] = [
        ("Test", 2294, 24),
        ("Verified", 500, 100),
        ("Lite", 300, 60),
        ("Multimodal", 517, 20),
    ];
    let is_one = draw.is(0.4);
    let chosen = draw.below(4) as usize;
    let titles = if is_one {
        vec!["Model", "% Resolved", "Org", "Date", "Logs", "Site", "Open"]
    } else {
        vec![
            "$.leaderboards[].name",
            "checked",
            "date",
            "folder",
            "logs",
            "name",
            "os_model",
            "resolved",
            "site",
            "warning",
        ]
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut wrong = Vec::new();
    for (place, (board, total, most)) in boards
        .into_iter()
        .enumerate()
        .filter(|(place, _)| !is_one || *place == chosen)
    {
        let systems = draw.between(most / 2, most).max(18);
        let mut figure = || {
            let ability = 0.05 + 0.7 * draw.share();
            draw.passed(total, ability) as f64 / total as f64
        };
        let mut figures: Vec<f64> = (0..systems).map(|_| figure()).collect();
        figures.sort_by(|left, right| right.total_cmp(left));
        let bad = draw.below(systems) as usize;
        for (system, share) in figures.into_iter().enumerate() {
            let mut value = (share * 1e4).round() / 100.0;
            if is_wrong && place == chosen && system == bad {
                // Not all instances were run.
                let is_count = |value: f64| {
                    ((value / 100.0 * total as f64).round() / total as f64 * 100.0 - value).abs()
                        < 0.0051
                };
                while is_count(value) {
                    let run = total - draw.between(1, 40);
                    value = (draw.passed(run, share) as f64 / run as f64 * 1e4).round() / 100.0;
                }
                wrong.push(rows.len() as u64 + 1);
            }
            let date = format!("2025-{:02}-{:02}", draw.between(1, 12), draw.between(1, 28));
            let name = format!("agent-{system} + nova");
            rows.push(if is_one {
                let mark = words(draw, &["✅", "❌"]).to_owned();
                let shown = format!("{value:.2}");
                vec![
                    format!("**[{name}](https://example.org/{system})**"),
                    shown,
                    "Nova".to_owned(),
                    date,
                    "[🔗](x)".to_owned(),
                    "🔗".to_owned(),
                    mark,
                ]
            } else {
                let (folder, logs) = (format!("{date}_{system}"), format!("s3://{board}/{system}"));
                let mark = words(draw, &["true", "false"]).to_owned();
                // Floats have one decimal at least.
                let shown = format!("{value:?}");
                let site = if draw.is(0.3) {
                    String::new()
                } else {
                    format!("https://example.org/{system}")
                };
                vec![
                    board.to_owned(),
                    mark.clone(),
                    date,
                    folder,
                    logs,
                    name,
                    mark,
                    shown,
                    site,
                    String::new(),
                ]
            });
        }
    }
    Made::of(table(&titles, rows), wrong)
}

/// Boards of MTEB's shape: tasks of several types, their means over tasks and over types, and ranks by either or by Borda's count.
fn tasks(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    const TYPES: [&str; 8] = [
        "Classification",
        "Clustering",
        "Pair Classification",
        "Reranking",
        "Retrieval",
        "STS",
        "Summarization",
        "Instruction Reranking",
    ];
    let types = draw.between(4, 8) as usize;
    let sizes: Vec<usize> = (0..types).map(|_| draw.between(1, 9) as usize).collect();
    let all: usize = sizes.iter().sum();
    let systems = draw.between(40, 120) as usize;
    // A summary has no tasks; its titles may say how many there are.
    let has_tasks = matches!(planted, Planted::Rank) || draw.is(0.4);
    let (has_types, is_titled) = (!has_tasks || draw.is(0.4), draw.is(0.3));
    let lengths: Vec<f64> = (0..all).map(|_| 20.0 + 60.0 * draw.share()).collect();
    let mut scores: Vec<Vec<f64>> = Vec::new();
    for _ in 0..systems {
        let ability = 15.0 * draw.share();
        let mut of_type = Vec::new();
        for size in &sizes {
            let shift = 8.0 * (draw.share() - 0.5);
            of_type.extend((0..*size).map(|_| shift));
        }
        let row = (0..all).map(|task| {
            lengths[task] - 10.0 + ability + of_type[task] + 8.0 * (draw.share() - 0.5)
        });
        // Instructions may make a ranking worse.
        scores.push(
            row.enumerate()
                .map(|(task, score)| {
                    if types == 8 && task + sizes[7] >= all {
                        score / 20.0 - 3.0
                    } else {
                        score
                    }
                })
                .collect(),
        );
    }
    let mean = |figures: &[f64]| figures.iter().sum::<f64>() / figures.len() as f64;
    let of_types = |row: &[f64]| -> Vec<f64> {
        let mut start = 0;
        let means = sizes.iter().map(|size| {
            start += size;
            mean(&row[start - size..start])
        });
        means.collect()
    };
    let borda: Vec<f64> = (0..systems)
        .map(|system| {
            let better = |task: usize| {
                (0..systems)
                    .filter(|other| scores[*other][task] < scores[system][task])
                    .count() as f64
            };
            (0..all).map(better).sum()
        })
        .collect();
    let by_borda = draw.is(0.5);
    let deciding: Vec<f64> = if by_borda {
        borda
    } else {
        scores.iter().map(|row| mean(row)).collect()
    };
    let mut order: Vec<usize> = (0..systems).collect();
    order.sort_by(|left, right| deciding[*right].total_cmp(&deciding[*left]));
    let mut ranks: Vec<usize> = (1..=systems).collect();
    let mut wrong = Vec::new();
    if matches!(planted, Planted::Rank) {
        let apart = draw.between(4, systems as u64 / 2) as usize;
        let first = draw.below((systems - apart) as u64) as usize;
        if is_wrong {
            ranks.swap(first, first + apart);
            wrong = vec![first as u64 + 1, (first + apart) as u64 + 1];
        }
    }
    let bad = draw.below(systems as u64) as usize;
    let mut titles: Vec<String> = vec![
        if by_borda { "Rank (Borda)" } else { "Rank" }.to_owned(),
        "Model".to_owned(),
    ];
    let described = [
        "Zero-shot",
        "Active Parameters (B)",
        "Embedding Dimensions",
        "Max Tokens",
    ];
    let is_described = draw.is(0.6);
    titles.extend(
        described
            .iter()
            .filter(|_| is_described)
            .map(|title| (*title).to_owned()),
    );
    titles.extend(
        ["Mean (Task)", "Mean (TaskType)"]
            .iter()
            .filter(|title| has_types || **title == "Mean (Task)")
            .map(|title| (*title).to_owned()),
    );
    if has_types {
        let with_size = |(title, size): (&&str, &usize)| {
            if is_titled && !has_tasks {
                format!("{title} ({size} datasets)")
            } else {
                (*title).to_owned()
            }
        };
        titles.extend(TYPES.iter().zip(&sizes).map(with_size));
    }
    if has_tasks {
        titles.extend((0..all).map(|task| {
            format!(
                "Task{}{task}",
                words(draw, &["News", "Law", "Arxiv", "Wiki"])
            )
        }));
    }
    let mut rows = Vec::new();
    for (place, system) in order.into_iter().enumerate() {
        let types = of_types(&scores[system]);
        let off =
            |draw: &mut Draw| (0.3 + 4.0 * draw.share()) * if draw.is(0.5) { -1.0 } else { 1.0 };
        let (mut of_tasks, mut of_types) = (mean(&scores[system]), mean(&types));
        if is_wrong && place == bad {
            match planted {
                Planted::MeanOfTypes if has_types => of_types += off(draw),
                Planted::MeanOfTasks | Planted::MeanOfTypes => of_tasks += off(draw),
                _ => {}
            }
            if !matches!(planted, Planted::Rank) {
                wrong = vec![place as u64 + 1];
            }
        }
        let number = |value: f64| format!("{value:.2}");
        let mut row = vec![
            ranks[place].to_string(),
            format!("[embed-{system}](https://example.org/{system})"),
        ];
        if is_described {
            let (dimensions, tokens) = (128 << draw.below(5), 512 << draw.below(6));
            let known = if draw.is(0.2) {
                "NA".to_owned()
            } else {
                draw.between(40, 100).to_string()
            };
            row.extend([
                known,
                format!("{:.3}", 7.0 * draw.share()),
                dimensions.to_string(),
                tokens.to_string(),
            ]);
        }
        row.push(number(of_tasks));
        row.extend(has_types.then(|| number(of_types)));
        if has_types {
            row.extend(types.iter().map(|value| number(*value)));
        }
        if has_tasks {
            row.extend(scores[system].iter().map(|value| number(*value)));
        }
        rows.push(row);
    }
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    Made::of(table(&titles, rows), wrong)
}
