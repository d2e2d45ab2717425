//! Arms side by side: the decision, metrics in rows and arms in columns, and explanations.

use crate::domain::Direction;
use crate::views::{Comparison, ComparisonRow, JudgedBy, Leader, PairEvidence};

use super::cell::{Cell, Datum};
use super::table::{Column, Table, titled};
use super::{comparability, details, format, since, summary, verdicts, words};

/// Maximum number of arms as columns. With more, arms are rows and metrics are columns.
const MAX_ARM_COLUMNS: usize = 6;

/// Lays out a comparison: the decision, then metrics in rows and arms in columns, then at most four notes. `more` has all other
/// explanations.
pub fn table(comparison: &Comparison) -> Table {
    let labels = words::labels(comparison);
    let metrics = metrics(comparison, &labels);
    let mut table = if labels.len() > MAX_ARM_COLUMNS {
        let mut wide = wide(comparison, &labels);
        wide.sheet = Some(Box::new(metrics));
        wide
    } else {
        metrics
    };
    table.title = Some(title(comparison, &labels));
    table.lead = summary::decision(comparison, &labels).into_iter().collect();
    let mut first = vec![summary::headline(comparison, &labels)];
    first.extend(
        comparison
            .since
            .as_ref()
            .map(|since| since::sentence(&comparison.suite, since)),
    );
    first.extend(judged(comparison));
    first.extend(beyond(comparison, &labels));
    first.extend(verdicts::exclusion_notes(comparison, &labels));
    first.extend(summary::run_notes(comparison, &labels));
    first.extend(comparability::note(comparison, &labels));
    let more = std::mem::replace(&mut table.more, explained(comparison, &labels));
    // Explanations beyond the first lines go to `more`.
    table.more.splice(
        0..0,
        first
            .split_off(first.len().min(MAX_NOTES))
            .into_iter()
            .chain(more),
    );
    table.notes = first;
    table
}

/// Says which judges decide the pass rate, how far people checked them, and what the judges alone would say.
pub(super) fn judged(comparison: &Comparison) -> Option<String> {
    let said = words::judged_by(comparison.judged_by.as_ref()?);
    let row = comparison
        .rows
        .iter()
        .find(|row| words::is_pass_rate(&row.metric))?;
    let (apart, alone) = match row.evidence.pairs.as_slice() {
        [pair] => (
            rates_apart(row, pair),
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
fn rates_apart(row: &ComparisonRow, pair: &PairEvidence) -> Option<&'static str> {
    pair.judge?;
    let found = pair.difference?;
    let rate = |arm: usize| row.cells.get(arm)?.value;
    let between = rate(pair.first)? - rate(pair.second)?;
    let shown = |value: f64| format::fixed(value * 100.0, verdicts::places(pair));
    (shown(found.value) != shown(between))
        .then_some(" The difference decides: it is corrected item by item, so it need not be that of the two rates.")
}

/// Metrics in rows, arms in columns. Two arms also get a column for their difference.
pub fn metrics(comparison: &Comparison, labels: &[String]) -> Table {
    let rows = &comparison.rows;
    let each = |cell: &dyn Fn(&ComparisonRow) -> Cell| rows.iter().map(cell).collect::<Vec<Cell>>();
    let mut table = Table::of("metrics");
    let suite = [
        comparison.suite.as_str().into(),
        comparison.suite_version.as_deref().into(),
        comparison.source.as_deref().into(),
    ];
    table.column(
        Column::data(["suite", "suite_version", "source"]),
        each(&|_| Cell::figures(suite.clone())),
    );
    let name = |row: &ComparisonRow| {
        Cell::shown(metric_label(row))
            .data([row.metric.name.as_str().into()])
            .small(better(row.metric.direction))
    };
    table.column(Column::words("Metric").keys(["metric"]), each(&name));
    let kind = |row: &ComparisonRow| {
        Cell::figures([
            row.metric.unit.name().into(),
            row.metric.direction.name().into(),
        ])
    };
    table.column(Column::data(["unit", "direction"]), each(&kind));
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
        table.column(
            Column::number(label).keys(keys).left(),
            each(&|row| value(comparison, row, arm)),
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
        table.column(
            Column::words("Difference")
                .keys(keys)
                .about(format!("{first} less {second}, or over it")),
            each(&difference),
        );
    }
    table.column(
        Column::words("Verdict").keys(["verdict", "reason", "winner"]),
        each(&|row| Cell::shown(verdicts::short(comparison, row)).data(verdict(comparison, row))),
    );
    table
}

/// An arm's cell for a metric.
fn value(comparison: &Comparison, row: &ComparisonRow, arm: usize) -> Cell {
    let known = &comparison.arms[arm].arm;
    let cell = &row.cells[arm];
    let [low, high] = Datum::ends(cell.interval());
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
    let judge = cell.estimate.as_ref().and_then(words::judge_alone);
    let details = [
        words::spread(&row.metric, cell),
        words::interval(&row.metric, cell, comparison.confidence),
        judge,
    ];
    let shown = Cell::shown(words::cell(&row.metric, cell))
        .data(data)
        .small(details.into_iter().flatten().collect::<Vec<_>>().join("; "));
    Cell {
        is_unknown: cell.value.is_none() && cell.total.is_none(),
        ..shown
    }
}

/// The first arm minus the second, or their ratio.
fn difference(row: &ComparisonRow) -> Cell {
    let Some(pair) = row.evidence.pairs.first() else {
        return Cell::unknown("");
    };
    let found = pair.difference.as_ref();
    let [low, high] = Datum::ends(found.and_then(|found| found.interval));
    Cell::shown(verdicts::difference(row)).data([
        found.map(|found| found.value).into(),
        found.map_or(Datum::Absent, |found| Datum::name(found.scale)),
        low,
        high,
        row.evidence.alpha.into(),
        Datum::name(pair.design),
        pair.test.map_or(Datum::Absent, Datum::name),
        pair.p.into(),
        pair.p_adjusted.into(),
    ])
}

/// The verdict on two arms with its reason, and the arm that wins against all others.
fn verdict(comparison: &Comparison, row: &ComparisonRow) -> [Datum; 3] {
    let winner = row
        .evidence
        .winner
        .map(|arm| words::arm_name(&comparison.suite, &comparison.arms[arm].arm))
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

fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "higher is better",
        Direction::Down => "lower is better",
        Direction::None => "neither is better",
    }
}

/// Maximum number of lines below a comparison's table.
const MAX_NOTES: usize = 4;

/// Names the suite, the arms and their data: `repo-fixes: planner vs baseline (200 shared items, 1 run each)`.
fn title(comparison: &Comparison, labels: &[String]) -> String {
    let name = words::group_name(
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
            format::integer(flips.shared),
            words::one_or_many(flips.shared, "items")
        )
    });
    match (labels, runs.as_slice()) {
        ([first, second], [one, other]) => {
            format!(
                "{name}: {first} vs {second} ({}{})",
                shared.unwrap_or_default(),
                words::each(*one, *other, "runs")
            )
        }
        (_, runs) => format!(
            "{name}: {}, {}",
            words::count_of(labels.len() as u64, "arms"),
            words::count_of(runs.iter().sum(), "runs")
        ),
    }
}

/// A metric's label with the unit that its figures are over.
pub(super) fn metric_label(row: &ComparisonRow) -> String {
    let is_shared = |pair: &PairEvidence| {
        let (of_rates, sizes) = (words::is_pass_rate(&row.metric), &pair.sizes);
        of_rates
            && pair.difference.is_some()
            && sizes
                .pairs
                .is_some_and(|shared| shared < sizes.first.max(sizes.second))
    };
    match row.evidence.pairs.as_slice() {
        [pair] if row.cells.len() == 2 && is_shared(pair) => {
            titled(&row.metric.label, "shared items")
        }
        _ => titled(&row.metric.label, &words::over(&row.metric, &row.cells)),
    }
}

/// States the verdict for these items and the verdict for other clusters like these, if there is one.
fn beyond(comparison: &Comparison, labels: &[String]) -> Option<String> {
    let row = comparison.primary()?;
    let [pair] = row.evidence.pairs.as_slice() else {
        return None;
    };
    let other = pair.beyond.as_ref()?;
    let items = pair.winner().map_or_else(
        || "open".to_owned(),
        |winner| format!("{} wins", labels[winner]),
    );
    let winner = other.verdict.winner().map(|place| pair.at(place));
    let clusters = winner.map_or_else(
        || "open".to_owned(),
        |winner| format!("{} wins", labels[winner]),
    );
    Some(format!(
        "These {}: {items} ({}). Other clusters like these {}: {clusters} ({}).",
        pair.sizes.of,
        verdicts::p_value(pair.p_adjusted),
        format::integer(other.clusters),
        verdicts::p_value(other.p_adjusted)
    ))
}

/// Explains a comparison: intervals, methods, plans, second looks, flips and missing measurements.
fn explained(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    let mut more = Vec::new();
    for row in &comparison.rows {
        let intervals: Vec<String> = labels
            .iter()
            .zip(&row.cells)
            .filter_map(|(label, cell)| {
                let parts: Vec<String> = [
                    words::spread(&row.metric, cell),
                    words::interval(&row.metric, cell, comparison.confidence),
                ]
                .into_iter()
                .flatten()
                .collect();
                (!parts.is_empty()).then(|| format!("{label} {}", parts.join(", ")))
            })
            .collect();
        if !intervals.is_empty() {
            more.push(format!("{}: {}.", row.metric.label, intervals.join("; ")));
        }
        if let Some(estimate) = row.cells.iter().find_map(|cell| cell.estimate.as_ref()) {
            more.push(format!(
                "{}: {}.",
                row.metric.label,
                words::method(estimate.method)
            ));
        }
        if let [pair] = row.evidence.pairs.as_slice() {
            if pair.p_adjusted.is_some() {
                let adjusted = verdicts::adjustment(&row.evidence)
                    .map_or_else(String::new, |how| format!("; adjusted by {how}"));
                more.push(format!(
                    "{}: verdict {}{adjusted}.",
                    row.metric.label,
                    verdicts::method(pair)
                ));
            }
            if row.role == crate::views::Role::Secondary && pair.difference.is_some() {
                more.extend(verdicts::sentences(row, labels));
            }
            more.extend(verdicts::planning(&row.metric, pair));
        }
    }
    more.extend(details::second_looks(comparison));
    if let Some(flips) = &comparison.flips {
        let shared = words::count_of(flips.shared, "items");
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
            flips.equal(),
        ]
        .map(format::integer);
        more.push(if flips.by_rate {
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
                more.push(format!("{which} {label}: {}.", items.join(", ")));
            }
        }
    }
    more.extend(words::judged_notes(comparison, labels));
    if !comparison.not_measured.is_empty() {
        more.push(format!(
            "Not measured: {}.",
            comparison.not_measured.join(", ")
        ));
    }
    more
}

/// Lays out many arms, one row each, in the views' order.
fn wide(comparison: &Comparison, labels: &[String]) -> Table {
    let mut table = Table::of("arms");
    table.column(
        Column::words("Arm"),
        labels.iter().map(|label| Cell::words(label.as_str())),
    );
    for (rank, row) in (0u8..).zip(&comparison.rows) {
        let cells = (0..labels.len()).map(|arm| {
            let leads = matches!(row.leader, Leader::Leads { arm: leader, .. } if leader == arm);
            let text = words::cell(&row.metric, &row.cells[arm]);
            Cell::shown(if leads { format!("▸ {text}") } else { text })
        });
        table.column(Column::number(metric_label(row)).rank(rank.min(9)), cells);
    }
    let ranked = comparison
        .rows
        .iter()
        .filter(|row| row.metric.direction != Direction::None);
    table.more.extend(ranked.map(|row| {
        format!(
            "{}: {}.",
            row.metric.label,
            verdicts::short(comparison, row)
        )
    }));
    table
}
