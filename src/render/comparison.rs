//! Arms side by side: the decision, metrics in rows and arms in columns, and explanations.

use crate::domain::Direction;
use crate::views::{
    Cell, Comparison, ComparisonRow, Incomparable, JudgedBy, PairEvidence, PairVerdict,
};

use super::cell::{Datum, TableCell};
use super::table::{ColumnVisibility, ReportTable, TableColumn};
use super::{arm_rows, comparability, details, format, phrases, since, summary, verdicts};

/// Maximum number of arms as columns. With more, arms are rows and metrics are columns.
const MAX_ARM_COLUMNS: usize = 2;

/// Number of arms from which on the sentence about them stands above their rows.
const MIN_LONG_TABLE: usize = 8;

/// Lays out a comparison: the decision, then the arms, one sentence, and at most three notes. Two arms are columns beside their metrics; more
/// are rows. `more` has all other explanations.
pub fn annotated_table(comparison: &Comparison) -> ReportTable {
    let labels = phrases::comparison_labels(comparison);
    let metrics = metrics_table(comparison, &labels);
    let mut table = if labels.len() > MAX_ARM_COLUMNS {
        let mut wide = arm_rows::arm_rows_table(comparison, &labels);
        wide.sheet = Some(Box::new(metrics));
        wide
    } else {
        ReportTable {
            rows_on_request: unranked_rows(comparison),
            ..metrics
        }
    };
    table.title = Some(title_with_runs(comparison, &labels));
    table.lead = summary::decision_sentence(comparison, &labels)
        .into_iter()
        .collect();
    let headline = summary::comparison_headline(comparison, &labels);
    if labels.len() < MIN_LONG_TABLE {
        table.notes.push(headline);
    } else {
        table.lead.push(headline);
    }
    let mut notes = first_notes(comparison, &labels);
    let others = notes.split_off(notes.len().min(MAX_NOTES));
    table.notes.extend(notes);
    let of_metrics = std::mem::take(&mut table.more);
    table.more = [
        spread_notes(comparison, &labels),
        others,
        of_metrics,
        explanation_notes(comparison, &labels),
        comparability::grade_details(comparison, &labels),
    ]
    .concat();
    table
}

/// Adds the items on which two arms differ to the table's notes.
pub fn add_flips(table: &mut ReportTable, comparison: &Comparison) {
    let labels = phrases::comparison_labels(comparison);
    table.notes.extend(flip_notes(comparison, &labels));
}

/// Returns the notes on what may mislead, the most important first.
fn first_notes(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let mut notes: Vec<String> = comparability::warning_note(comparison, labels)
        .into_iter()
        .collect();
    notes.extend(
        comparison
            .since
            .as_ref()
            .map(|since| since::counted_runs_sentence(&comparison.suite, since)),
    );
    notes.extend(judges_note(comparison));
    notes.extend(cluster_verdict_note(comparison, labels));
    notes.extend(verdicts::exclusion_notes(comparison, labels));
    notes.extend(summary::run_notes(comparison, labels));
    notes
}

/// Returns the metrics without a better direction, by row, unless there is nothing else.
fn unranked_rows(comparison: &Comparison) -> Vec<usize> {
    let is_pair_unranked = |pair: &PairEvidence| {
        pair.verdict
            == PairVerdict::NotComparable {
                reason: Incomparable::DirectionUnknown,
            }
    };
    let is_unranked = |row: &ComparisonRow| {
        !row.evidence.pairs.is_empty() && row.evidence.pairs.iter().all(is_pair_unranked)
    };
    let unranked: Vec<usize> = (0..comparison.rows.len())
        .filter(|row| is_unranked(&comparison.rows[*row]))
        .collect();
    if unranked.len() == comparison.rows.len() {
        Vec::new()
    } else {
        unranked
    }
}

/// Says which judges decide the pass rate, how far people checked them, and what the judges alone would say.
pub(super) fn judges_note(comparison: &Comparison) -> Option<String> {
    let said = phrases::judged_by(comparison.judged_by.as_ref()?);
    let row = comparison
        .rows
        .iter()
        .find(|row| phrases::is_pass_rate(&row.metric))?;
    let (apart, alone) = match row.evidence.pairs.as_slice() {
        [pair] => (
            corrected_rates_note(row, pair),
            verdicts::judge_alone(&row.metric, pair)
                .map(|change| format!(" The judge alone: {change}.")),
        ),
        _ => (None, None),
    };
    Some(format!(
        "{said}{}{}",
        apart.unwrap_or_default(),
        alone.unwrap_or_default()
    ))
}

/// Returns whether labels or error rates correct a judge's figures, but not its outcomes by item.
pub(super) fn is_corrected(comparison: &Comparison) -> bool {
    comparison
        .judged_by
        .as_ref()
        .is_some_and(JudgedBy::changes_figures)
}

/// Explains a corrected difference that is not that of the rates beside it, as far as they are shown.
fn corrected_rates_note(row: &ComparisonRow, pair: &PairEvidence) -> Option<&'static str> {
    pair.judge?;
    let found = pair.difference?;
    let rate = |arm: usize| row.cells.get(arm)?.value;
    let between = rate(pair.first)? - rate(pair.second)?;
    let shown =
        |value: f64| format::fixed_decimals(value * 100.0, verdicts::difference_decimals(pair));
    (shown(found.value) != shown(between))
        .then_some(" The difference decides: it is corrected item by item, so it need not be that of the two rates.")
}

/// Metrics in rows, arms in columns. Two arms also get a column for their difference.
pub fn metrics_table(comparison: &Comparison, labels: &[String]) -> ReportTable {
    let rows = &comparison.rows;
    let each = |cell: &dyn Fn(&ComparisonRow) -> TableCell| {
        rows.iter().map(cell).collect::<Vec<TableCell>>()
    };
    let mut table = ReportTable::for_rows("metrics");
    let suite = [
        comparison.suite.as_str().into(),
        comparison.suite_version.as_deref().into(),
        comparison.source.as_deref().into(),
    ];
    table.add_filled_column(
        TableColumn::for_programs(["suite", "suite_version", "source"]),
        each(&|_| TableCell::for_programs(suite.clone())),
    );
    let name = |row: &ComparisonRow| {
        TableCell::for_people(phrases::row_label(row))
            .with_data([row.metric.name.as_str().into()])
            .with_small_print(direction_words(row.metric.direction))
    };
    table.add_filled_column(TableColumn::words("Metric").keys(["metric"]), each(&name));
    let kind = |row: &ComparisonRow| {
        TableCell::for_programs([
            row.metric.unit.name().into(),
            row.metric.direction.name().into(),
        ])
    };
    table.add_filled_column(
        TableColumn::for_programs(["unit", "direction"]),
        each(&kind),
    );
    for (arm, label) in labels.iter().enumerate() {
        let keys = [
            "approach",
            "model",
            "value",
            "ci95_low",
            "ci95_high",
            "passed",
            "total",
            "n",
        ]
        .map(|key| format!("{key}_{}", arm + 1));
        table.add_filled_column(
            TableColumn::number(label).keys(keys).align_left(),
            each(&|row| arm_value_cell(comparison, row, arm)),
        );
    }
    if let [first, second] = labels {
        let keys = [
            "difference",
            "scale",
            "difference_ci95_low",
            "difference_ci95_high",
            "alpha",
            "design",
            "test",
            "p",
            "p_adjusted",
        ];
        table.add_filled_column(
            TableColumn::words("Difference")
                .keys(keys)
                .about(format!("{first} less {second}, or over it")),
            each(&difference_cell),
        );
    }
    if labels.len() > 2 {
        add_differences_to_base(comparison, &mut table);
    }
    if let [_] = labels {
        let interval = |row: &ComparisonRow| {
            phrases::cell_interval(&row.metric, &row.cells[0], comparison.confidence)
                .unwrap_or_default()
        };
        table.add_filled_column(
            TableColumn::words("Interval")
                .visible_in(ColumnVisibility::Lines)
                .rank(1),
            each(&|row| TableCell::for_people(interval(row))),
        );
    }
    table.add_filled_column(
        TableColumn::words("Verdict")
            .keys(["verdict", "reason", "winner"])
            .visible_in(if labels.len() == 1 {
                ColumnVisibility::Data
            } else {
                ColumnVisibility::Everywhere
            }),
        each(&|row| {
            TableCell::for_people(verdicts::verdict_cell(comparison, row))
                .with_data(verdict_data(comparison, row))
        }),
    );
    table
}

/// An arm's cell for a metric.
fn arm_value_cell(comparison: &Comparison, row: &ComparisonRow, arm: usize) -> TableCell {
    let known = &comparison.arms[arm].arm;
    let cell = &row.cells[arm];
    let [low, high] = Datum::interval_ends(cell.value_interval());
    let n = cell
        .estimate
        .as_ref()
        .map(|estimate| estimate.n)
        .or(cell.figure.as_ref().map(|figure| figure.summary.n));
    let [passed, total, n] = [cell.passed, cell.total, n].map(Datum::from);
    let data = [
        known.approach.as_str().into(),
        known.model.as_str().into(),
        cell.value.into(),
        low,
        high,
        passed,
        total,
        n,
    ];
    let judge = cell.estimate.as_ref().and_then(phrases::judge_alone);
    let details = [
        phrases::spread_over_runs(&row.metric, cell),
        phrases::cell_interval(&row.metric, cell, comparison.confidence),
        judge,
    ];
    let shown = TableCell::for_people(phrases::cell_value(&row.metric, cell))
        .with_data(data)
        .with_small_print(details.into_iter().flatten().collect::<Vec<_>>().join("; "));
    TableCell {
        is_unknown: cell.value.is_none() && cell.total.is_none(),
        ..shown
    }
}

/// Adds each of several arms' differences to the base, for programs: the arm minus the base, or over it.
fn add_differences_to_base(comparison: &Comparison, table: &mut ReportTable) {
    let Some(base) = comparison.base_arm() else {
        return;
    };
    let rows = &comparison.rows;
    let number = TableCell::for_programs([Datum::from(base as u64 + 1)]);
    table.add_filled_column(
        TableColumn::for_programs(["base"]),
        rows.iter().map(|_| number.clone()).collect::<Vec<_>>(),
    );
    for arm in 0..comparison.arms.len() {
        let keys = [
            "difference",
            "difference_ci95_low",
            "difference_ci95_high",
            "p_adjusted",
        ]
        .map(|key| format!("{key}_{}", arm + 1));
        let cell = |row: &ComparisonRow| {
            let pair = row.evidence.find_pair(arm, base).filter(|_| arm != base);
            let pair = pair.map(|pair| pair.seen_from(arm));
            let found = pair.as_ref().and_then(|pair| pair.difference);
            let [low, high] = Datum::interval_ends(found.and_then(|found| found.interval));
            TableCell::for_programs([
                found.map(|found| found.value).into(),
                low,
                high,
                pair.and_then(|pair| pair.p_adjusted).into(),
            ])
        };
        table.add_filled_column(
            TableColumn::for_programs(keys),
            rows.iter().map(cell).collect::<Vec<_>>(),
        );
    }
}

/// The first arm minus the second, or their ratio.
fn difference_cell(row: &ComparisonRow) -> TableCell {
    let Some(pair) = row.evidence.pairs.first() else {
        return TableCell::unknown("");
    };
    let found = pair.difference.as_ref();
    let [low, high] = Datum::interval_ends(found.and_then(|found| found.interval));
    TableCell::for_people(verdicts::difference_cell(row)).with_data([
        found.map(|found| found.value).into(),
        found.map_or(Datum::Absent, |found| Datum::json_name(found.scale)),
        low,
        high,
        row.evidence.alpha.into(),
        Datum::json_name(pair.design),
        pair.test.map_or(Datum::Absent, Datum::json_name),
        pair.p.into(),
        pair.p_adjusted.into(),
    ])
}

/// The verdict on two arms with its reason, and the arm that wins against all others.
fn verdict_data(comparison: &Comparison, row: &ComparisonRow) -> [Datum; 3] {
    let winner = row
        .evidence
        .winner
        .map(|arm| phrases::arm_name(&comparison.suite, &comparison.arms[arm].arm))
        .into();
    let [pair] = row.evidence.pairs.as_slice() else {
        return [Datum::Absent, Datum::Absent, winner];
    };
    let said = serde_json::to_value(pair.verdict).unwrap_or_default();
    [
        said["verdict"].as_str().unwrap_or_default().into(),
        said["reason"].as_str().unwrap_or_default().into(),
        winner,
    ]
}

fn direction_words(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "higher is better",
        Direction::Down => "lower is better",
        Direction::None => "neither is better",
    }
}

/// Maximum number of notes below a comparison's sentence.
pub(crate) const MAX_NOTES: usize = 3;

/// Names the suite, the arms and their data: `repo-fixes: planner vs baseline (200 shared items, 1 run each)`.
fn title_with_runs(comparison: &Comparison, labels: &[String]) -> String {
    let name = phrases::group_name(
        &comparison.suite,
        comparison.suite_version.as_deref(),
        comparison.source.as_deref(),
    );
    let runs: Vec<u64> = comparison
        .arms
        .iter()
        .map(|arm| arm.run_ids.len() as u64)
        .collect();
    let shared = comparison.flips.as_ref().map(|flips| {
        format!(
            "{} shared {}, ",
            format::format_integer(flips.shared),
            phrases::singular_or_plural(flips.shared, "items")
        )
    });
    match (labels, runs.as_slice()) {
        ([first, second], [one, other]) => {
            format!(
                "{name}: {first} vs {second} ({}{})",
                shared.unwrap_or_default(),
                attempts_of_one_run(comparison)
                    .filter(|_| (*one, *other) == (1, 1))
                    .map_or_else(
                        || phrases::counts_each(*one, *other, "runs"),
                        |attempts| format!("1 run of {attempts} attempts each")
                    )
            )
        }
        (_, runs) => {
            let base = comparison
                .against
                .map_or_else(String::new, |base| format!(" vs {}", labels[base]));
            let others = labels.len() as u64 - u64::from(comparison.against.is_some());
            format!(
                "{name}: {}{base}, {}",
                phrases::count_with_noun(others, "arms"),
                phrases::count_with_noun(runs.iter().sum(), "runs")
            )
        }
    }
}

/// Returns how often each of two runs tried each shared item, if both did so equally often and more than once.
fn attempts_of_one_run(comparison: &Comparison) -> Option<u64> {
    let shared = comparison.flips.as_ref()?.shared;
    let cells = &comparison.primary_row()?.cells;
    let total = cells.first()?.total?;
    let is_equal = cells.iter().all(|cell| cell.total == Some(total));
    (is_equal && shared > 0 && total % shared == 0)
        .then(|| total / shared)
        .filter(|attempts| *attempts > 1)
}

/// States the verdict for these items and the verdict for other clusters like these, if there is one.
fn cluster_verdict_note(comparison: &Comparison, labels: &[String]) -> Option<String> {
    let row = comparison.primary_row()?;
    let [pair] = row.evidence.pairs.as_slice() else {
        return None;
    };
    let other = pair.beyond.as_ref()?;
    let items = pair.winning_arm().map_or_else(
        || "open".to_owned(),
        |winner| format!("{} wins", labels[winner]),
    );
    let winner = other
        .verdict
        .winning_place()
        .map(|place| pair.arm_at(place));
    let clusters = winner.map_or_else(
        || "open".to_owned(),
        |winner| format!("{} wins", labels[winner]),
    );
    Some(format!(
        "These {}: {items} ({}). Other clusters like these {}: {clusters} ({}).",
        pair.sizes.of,
        verdicts::p_value(pair.p_adjusted),
        format::format_integer(other.clusters),
        verdicts::p_value(other.p_adjusted)
    ))
}

/// Returns each metric's mean, standard deviation, minimum and maximum over the runs, with its interval.
fn spread_notes(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let note = |row: &ComparisonRow| {
        let of_arm = |(label, cell): (&String, &Cell)| {
            let parts: Vec<String> = [
                phrases::spread_over_runs(&row.metric, cell),
                phrases::cell_interval(&row.metric, cell, comparison.confidence),
            ]
            .into_iter()
            .flatten()
            .collect();
            (!parts.is_empty()).then(|| format!("{label} {}", parts.join(", ")))
        };
        let arms: Vec<String> = labels.iter().zip(&row.cells).filter_map(of_arm).collect();
        (!arms.is_empty()).then(|| format!("{}: {}.", row.metric.label, arms.join("; ")))
    };
    comparison.rows.iter().filter_map(note).collect()
}

/// Says on how many items each of two arms did better, and on which if they were asked for.
fn flip_notes(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let Some(flips) = &comparison.flips else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    let shared = phrases::count_with_noun(flips.shared, "items");
    let by = if is_corrected(comparison) {
        ", by the judge alone"
    } else {
        ""
    };
    let [both, first, second, neither, equal] = [
        flips.both_passed,
        flips.only_first,
        flips.only_second,
        flips.neither,
        flips.equal_count(),
    ]
    .map(format::format_integer);
    notes.push(if flips.by_rate {
        format!("On {shared}{by}: {} has the higher pass rate on {first}, {} on {second}; {equal} are equal.", labels[0], labels[1])
    } else {
        format!("On {shared}{by}: both passed {both}, only {} {first}, only {} {second}, neither {neither}.", labels[0], labels[1])
    });
    for (label, items) in flips.items.iter().flat_map(|items| {
        [
            (&labels[0], &items.only_first),
            (&labels[1], &items.only_second),
        ]
    }) {
        if !items.is_empty() {
            let which = if flips.by_rate {
                "Higher rate of"
            } else {
                "Only"
            };
            notes.push(format!("{which} {label}: {}.", items.join(", ")));
        }
    }
    notes
}

/// Explains a comparison: methods, plans, second looks, flips and missing measurements.
fn explanation_notes(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let mut more = Vec::new();
    for row in &comparison.rows {
        if let Some(estimate) = row.cells.iter().find_map(|cell| cell.estimate.as_ref()) {
            more.push(format!(
                "{}: {}.",
                row.metric.label,
                phrases::method_name(estimate.method)
            ));
        }
        if let [pair] = row.evidence.pairs.as_slice() {
            if pair.p_adjusted.is_some() {
                let adjusted = verdicts::adjustment_text(&row.evidence)
                    .map_or_else(String::new, |how| format!("; adjusted by {how}"));
                more.push(format!(
                    "{}: verdict {}{adjusted}.",
                    row.metric.label,
                    verdicts::design_and_test(pair)
                ));
            }
            if row.role == crate::views::Role::Secondary && pair.difference.is_some() {
                more.extend(verdicts::metric_sentences(row, labels));
            }
            more.extend(verdicts::planning_figures(&row.metric, pair));
        }
    }
    more.extend(details::second_looks(comparison));
    more.extend(flip_notes(comparison, labels));
    more.extend(phrases::judged_notes(comparison, labels));
    if !comparison.not_measured.is_empty() {
        more.push(format!(
            "Not measured: {}.",
            comparison.not_measured.join(", ")
        ));
    }
    more
}
