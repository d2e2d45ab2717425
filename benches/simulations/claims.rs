//! How many planted errors an audit of published figures finds, and how many of its accusations are true.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::struct_excessive_bools,
    reason = "small counts, and switches of made tables"
)]

use evalreport::domain::{ClaimedRow, ClaimedTable};
use evalreport::inference::{ClaimFinding, ClaimKind, audit_claims};
use evalreport::stats::{SpreadFormula, standard_error};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Tables of each kind of error, and as many without one.
const TABLES: u64 = 300;

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
}

const KINDS: [(Planted, &str); 12] = [
    (Planted::RateOfCounts, "rate not that of its counts"),
    (Planted::ImpossibleRate, "rate that no count of the stated total gives"),
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
    table: ClaimedTable,
    /// Rows of which a finding is true.
    wrong: Vec<u64>,
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
        let decimals = if is_percent { self.between(1, 2) } else { self.between(3, 4) };
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
        let value = if self.is_percent { share * 100.0 } else { share };
        self.number(value)
    }

    fn number(self, value: f64) -> String {
        let scale = 10_f64.powi(self.decimals as i32);
        let value = if self.is_cut { (value * scale + 1e-7).floor() / scale } else { value };
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
    let columns = ["planted error", "tables", "found", "accusations that are true", "clean tables with an accusation"];
    let mut table = super::Table::new("Planted errors in published figures", &columns);
    let (mut all_found, mut all_true, mut all_told, mut all_clean) = (0, 0, 0, 0);
    for (number, (planted, name)) in (0..).zip(KINDS) {
        let (mut found, mut right, mut told, mut clean) = (0, 0, 0, 0);
        for seed in 0..TABLES {
            let mut draw = Draw(ChaCha8Rng::seed_from_u64(number * 1_000_003 + seed));
            for is_wrong in [true, false] {
                let made = make(&mut draw, planted, is_wrong);
                let audit = audit_claims(std::slice::from_ref(&made.table));
                let accused: Vec<&ClaimFinding> = audit.findings.iter().filter(|found| found.kind != ClaimKind::FirstPlace).collect();
                let is_true = |found: &&&ClaimFinding| found.places.iter().any(|place| made.wrong.contains(&place.row));
                let hits = accused.iter().filter(is_true).count() as u64;
                found += u64::from(is_wrong && hits > 0);
                clean += u64::from(!is_wrong && !accused.is_empty());
                right += hits;
                told += accused.len() as u64;
            }
        }
        let line = |found, right, told, clean| [share(found, TABLES), share(right, told), share(clean, TABLES)];
        table.rows.push([vec![name.to_owned(), (2 * TABLES).to_string()], line(found, right, told, clean).to_vec()].concat());
        (all_found, all_true, all_told, all_clean) = (all_found + found, all_true + right, all_told + told, all_clean + clean);
    }
    let all = TABLES * KINDS.len() as u64;
    table.rows.push(vec!["all".to_owned(), (2 * all).to_string(), share(all_found, all), share(all_true, all_told), share(all_clean, all)]);
    table
}

/// Prints a share with its Monte-Carlo error.
fn share(part: u64, all: u64) -> String {
    let value = part as f64 / all.max(1) as f64;
    format!("{:.2}% ± {:.2}", value * 100.0, 100.0 * (value * (1.0 - value) / all.max(1) as f64).sqrt())
}

fn make(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    match planted {
        Planted::Mean => means(draw, is_wrong),
        Planted::ConflictingOutcomes => outcomes(draw, is_wrong),
        Planted::MissingRun | Planted::OneRun => runs(draw, planted, is_wrong),
        _ => board(draw, planted, is_wrong),
    }
}

fn table(columns: &[&str], rows: Vec<Vec<String>>) -> ClaimedTable {
    let row = |(number, cells): (u64, Vec<String>)| ClaimedRow {
        number,
        line: None,
        cells: cells.into_iter().map(|text| Some(text).filter(|text| !text.is_empty())).collect(),
        doubled: Vec::new(),
    };
    ClaimedTable {
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
    let most = if matches!(planted, Planted::ImpossibleRate) && print.decimals % 2 == 1 { 330 } else { 600 };
    let total = draw.between(80, most);
    let has_total = !matches!(planted, Planted::RecoveredTotal);
    let has_counts = matches!(planted, Planted::RateOfCounts) || (has_total && !matches!(planted, Planted::ImpossibleRate) && draw.is(0.5));
    if matches!(planted, Planted::RecoveredTotal) {
        // Only these tell a total of several hundred from few systems.
        print.decimals = if print.is_percent { 2 } else { 4 };
    }
    let formula =
        [SpreadFormula::Wald, SpreadFormula::WaldOfSample, SpreadFormula::Wilson, SpreadFormula::ClopperPearson][draw.below(4) as usize];
    let level = [0.95, 0.95, 0.90, 0.99][draw.below(4) as usize];
    let has_error = matches!(planted, Planted::StandardError) || (has_total && draw.is(0.2));
    let has_interval = matches!(planted, Planted::Interval) || (has_total && draw.is(0.2));
    let is_bold = matches!(planted, Planted::Bold);
    // In some sources each row has a total of its own.
    let own_totals = has_total && !matches!(planted, Planted::OtherTotal) && draw.is(0.15);
    let has_runs = has_total && !matches!(planted, Planted::ImpossibleRate);
    let runs = if has_runs && !has_counts && !has_error && !has_interval && total < 300 && draw.is(0.15) { 3 } else { 1 };
    let names = (
        words(draw, &["model", "Model", "system", "agent", "method"]),
        words(draw, &["n", "total", "num_examples", "questions", "test_cases", "# tasks"]),
        words(draw, &["correct", "passed", "num_correct", "solved"]),
        words(draw, &["accuracy", "acc", "pass_rate", "Success rate", "score"]),
    );
    let names = if has_counts {
        (names.0, names.1, words(draw, &["correct", "passed", "num_correct"]), words(draw, &["accuracy", "pass_rate", "score"]))
    } else {
        names
    };
    let (low, high) = [("ci_low", "ci_high"), ("lower", "upper"), ("CI lower", "CI upper")][draw.below(3) as usize];
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
        let mut items = if own_totals { draw.between(80, most) } else { total };
        if is_wrong && matches!(planted, Planted::OtherTotal) && system == bad {
            items -= draw.between(1, 9);
        }
        let ability = 0.1 + 0.8 * draw.share();
        let mut passed = draw.passed(items * runs, ability);
        if is_wrong && system == bad && matches!(planted, Planted::StandardError | Planted::Interval) {
            // Without a spread, nothing can be wrong about it.
            passed = passed.clamp(items / 5, 4 * items / 5);
        }
        let share = passed as f64 / (items * runs) as f64;
        rates.push(share);
        let mut rate = print.text(share);
        if is_wrong && system == bad {
            rate = wrong_rate(draw, planted, print, (passed, items * runs), rate);
        }
        let mut row = vec![format!("{}-{system}", words(draw, &["nova", "lyra", "orion", "vega"]))];
        row.extend(has_total.then(|| items.to_string()));
        row.extend(has_counts.then(|| passed.to_string()));
        row.extend((runs > 1).then(|| runs.to_string()));
        row.push(rate);
        let spread = Print { decimals: print.decimals + 1, has_sign: false, drops_zeros: false, ..print };
        if has_error {
            let mut error = standard_error(passed, items, formula == SpreadFormula::WaldOfSample).unwrap_or(0.0);
            if is_wrong && system == bad && matches!(planted, Planted::StandardError) {
                error *= [0.5, 0.7, 1.4, 2.0, 3.0][draw.below(5) as usize];
            }
            row.push(spread.text(error));
        }
        if has_interval && let Some(interval) = formula.interval(passed, items, level) {
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
    let place = columns.iter().position(|name| *name == names.3).unwrap_or(0);
    if is_bold {
        let order = |left: &usize, right: &usize| rates[*left].total_cmp(&rates[*right]);
        let best = (0..systems).max_by(order).unwrap_or(0);
        let marked = if is_wrong {
            (0..systems).filter(|system| rows[*system][place] != rows[best][place]).max_by(order).unwrap_or(best)
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
    Made { table: table(&columns, rows), wrong: if is_wrong { wrong } else { Vec::new() } }
}

/// Changes a printed rate into one that is wrong as planned.
fn wrong_rate(draw: &mut Draw, planted: Planted, print: Print, (passed, total): (u64, u64), right: String) -> String {
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
                let off = (1.0 + draw.below(200) as f64) * unit * if share > 0.5 { -1.0 } else { 1.0 };
                let value = ((share + off) / unit).round() * unit;
                let near = (value * total as f64).round() / total as f64;
                if (near - value).abs() > 1.1 * unit {
                    return Print { is_cut: false, ..print }.text(value);
                }
            }
            right
        }
        _ => right,
    }
}

/// Scores on several suites with their mean.
fn means(draw: &mut Draw, is_wrong: bool) -> Made {
    let print =
        Print { decimals: draw.between(1, 2) as usize, is_percent: true, is_cut: false, has_sign: false, drops_zeros: draw.is(0.3) };
    let suites = draw.between(3, 8) as usize;
    let systems = draw.between(8, 40) as usize;
    let mut columns = vec!["model", words(draw, &["average", "Avg", "Mean", "overall"])];
    columns.extend(&["MMLU", "GPQA", "MATH", "IFEval", "BBH", "MuSR", "HumanEval", "ARC"][..suites]);
    let weights: Vec<f64> = (0..suites).map(|_| 1.0 + draw.below(9) as f64).collect();
    // Some sources weigh their suites, and do not say how.
    let is_weighted = !is_wrong && draw.is(0.3);
    let bad = draw.below(systems as u64) as usize;
    let rows = (0..systems).map(|system| {
        let scores: Vec<f64> = (0..suites).map(|_| 5.0 + 90.0 * draw.share()).collect();
        let mean = if is_weighted {
            scores.iter().zip(&weights).map(|(score, weight)| score * weight).sum::<f64>() / weights.iter().sum::<f64>()
        } else {
            scores.iter().sum::<f64>() / suites as f64
        };
        let off = if is_wrong && system == bad { (0.4 + 5.0 * draw.share()) * if mean > 50.0 { -1.0 } else { 1.0 } } else { 0.0 };
        let mut row = vec![format!("nova-{system}"), print.number(mean + off)];
        row.extend(scores.into_iter().map(|score| print.number(score)));
        row
    });
    let rows = rows.collect();
    Made { table: table(&columns, rows), wrong: if is_wrong { vec![bad as u64 + 1] } else { Vec::new() } }
}

/// Outcomes of items.
fn outcomes(draw: &mut Draw, is_wrong: bool) -> Made {
    let (yes, no) = [("pass", "fail"), ("true", "false"), ("1", "0"), ("correct", "incorrect")][draw.below(4) as usize];
    let attempts = draw.between(1, 3);
    let mut columns = vec!["model", words(draw, &["task", "item", "question_id", "instance_id"])];
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
    Made { table: table(&columns, rows), wrong }
}

/// Rates of several runs, or their means.
fn runs(draw: &mut Draw, planted: Planted, is_wrong: bool) -> Made {
    let print = Print { decimals: 2, is_percent: true, is_cut: false, has_sign: false, drops_zeros: false };
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
        let shares: Vec<f64> = (0..3).map(|_| draw.passed(total, ability) as f64 / total as f64).collect();
        let mut row = vec![format!("nova-{system}"), total.to_string(), "3".to_owned()];
        if has_columns {
            let there = if is_wrong && system == bad { 1 } else { 3 };
            row.extend((0..3).map(|run| if run < there { print.text(shares[run]) } else { String::new() }));
        } else {
            row.push(print.text(if is_wrong { shares[0] } else { shares.iter().sum::<f64>() / 3.0 }));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let wrong = match planted {
        _ if !is_wrong => Vec::new(),
        Planted::MissingRun => vec![bad as u64 + 1],
        _ => (1..=systems as u64).collect(),
    };
    Made { table: table(&columns, rows), wrong }
}
