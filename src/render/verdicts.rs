//! The evidence in words: a short form for a column, and the whole sentence. Each pair is first oriented to the arm ahead; everything
//! printed comes from that orientation.

use crate::domain::{Direction, Metric, MetricKind, Unit};
use crate::views::{
    Adjustment, BoardEvidence, Comparison, ComparisonRow, Design, Difference, Evidence,
    ExcludedItem, Incomparable, Interval, MIN_ITEMS, MIN_LABELS, MIN_RUNS, Missing, Obstacle,
    PairEvidence, PairVerdict, Role, Scale, SuiteBoard, Test,
};

use super::{comparability, format, phrases};

/// Returns a row's text for the Verdict column.
pub fn verdict_cell(comparison: &Comparison, row: &ComparisonRow) -> String {
    let names = phrases::comparison_labels(comparison);
    let evidence = &row.evidence;
    match evidence.pairs.as_slice() {
        [] => "only one arm".to_owned(),
        [pair] => short_pair(row, pair, &names),
        pairs => {
            if let Some(winner) = evidence.winner {
                let others = only_other(row, winner, &names).map_or("all others", String::as_str);
                return format!("{} {}", names[winner], win_clause(evidence, others));
            }
            if let Some(reason) = pairs
                .iter()
                .map(|pair| incomparable_reason(pair.verdict))
                .collect::<Option<Vec<_>>>()
            {
                return reason
                    .first()
                    .map_or_else(String::new, |reason| not_comparable(*reason).to_owned());
            }
            if pairs.iter().all(|pair| {
                matches!(
                    pair.verdict,
                    PairVerdict::NoData { .. } | PairVerdict::NotComparable { .. }
                )
            }) {
                return pairs.first().map_or_else(
                    || "not measured".to_owned(),
                    |pair| missing_words(pair.verdict).to_owned(),
                );
            }
            if pairs.iter().any(|pair| pair.better_arm().is_some()) {
                return format!(
                    "{} of {} arms share the lead",
                    evidence.leading.len(),
                    comparison.arms.len()
                );
            }
            if pairs.iter().all(|pair| pair.verdict == PairVerdict::Tie) {
                return "tie".to_owned();
            }
            let why = pairs.iter().find_map(|pair| {
                pair.verdict
                    .missing_evidence()
                    .map(|obstacle| short_obstacle(obstacle, pair))
            });
            why.map_or_else(
                || {
                    format!(
                        "open: {}",
                        sizes_text(pairs[0].sizes.of, &evidence.unit_counts())
                    )
                },
                |why| format!("open: {why}"),
            )
        }
    }
}

fn sizes_text(of: &str, sizes: &[u64]) -> String {
    match sizes {
        [one] => phrases::count_with_noun(*one, of),
        [first, .., last] => format!(
            "{} to {}",
            format::format_integer(*first),
            phrases::count_with_noun(*last, of)
        ),
        [] => of.to_owned(),
    }
}

fn incomparable_reason(verdict: PairVerdict) -> Option<Incomparable> {
    if let PairVerdict::NotComparable { reason } = verdict {
        Some(reason)
    } else {
        None
    }
}

/// Returns the state of a pair without a deciding p-value, without naming its arms.
pub(super) fn short_state(pair: &PairEvidence) -> String {
    match pair.verdict {
        PairVerdict::DeterministicDifference { .. } => "fixed result".to_owned(),
        PairVerdict::Tie => "tie".to_owned(),
        PairVerdict::NotEnoughEvidence { reason } => {
            let why = reason.map_or_else(
                || units_short(pair),
                |obstacle| short_obstacle(obstacle, pair),
            );
            format!("open: {why}")
        }
        PairVerdict::NotComparable { .. } => "not comparable".to_owned(),
        PairVerdict::NoData {
            reason: Missing::NoCounts,
        } => "no counts".to_owned(),
        PairVerdict::NoData { .. } => "no value".to_owned(),
        PairVerdict::AWins | PairVerdict::BWins | PairVerdict::Equivalent => {
            "not tested".to_owned()
        }
    }
}

fn short_pair(row: &ComparisonRow, pair: &PairEvidence, names: &[String]) -> String {
    match pair.verdict {
        PairVerdict::AWins | PairVerdict::BWins => {
            let winner = pair
                .winning_arm()
                .map_or("", |winner| names[winner].as_str());
            format!(
                "{winner} {}, {}",
                winning_verb(&row.metric, row.role),
                deciding_p_value(pair, &row.evidence)
            )
        }
        PairVerdict::DeterministicDifference { .. } => {
            let better = pair
                .better_arm()
                .map_or("", |better| names[better].as_str());
            let how = if row.metric.kind == MetricKind::Amount {
                winning_verb(&row.metric, Role::Secondary)
            } else {
                "ahead"
            };
            format!("fixed result: {better} {how}")
        }
        PairVerdict::Tie => "tie".to_owned(),
        PairVerdict::Equivalent => format!("equivalent within {}", margin_text(&row.metric, pair)),
        PairVerdict::NotEnoughEvidence { reason } => {
            let why = reason.map_or_else(
                || units_short(pair),
                |obstacle| short_obstacle(obstacle, pair),
            );
            format!("open: {why}")
        }
        PairVerdict::NotComparable { reason } => not_comparable(reason).to_owned(),
        PairVerdict::NoData { .. } => missing_words(pair.verdict).to_owned(),
    }
}

/// Returns the verb for a better arm: `wins` on the deciding metric, and a verb for the metric on others.
fn winning_verb(metric: &Metric, role: Role) -> &'static str {
    match (role, metric.unit, metric.direction) {
        (Role::Primary, _, _) => "wins",
        (_, Unit::Usd, Direction::Down) => "costs less",
        (_, Unit::Seconds, Direction::Down) => "is faster",
        (_, Unit::Tokens, Direction::Down) => "uses fewer",
        _ => "is better",
    }
}

fn units_short(pair: &PairEvidence) -> String {
    if let Some(labels) = correcting_labels(pair) {
        return phrases::count_with_noun(labels, "labels");
    }
    match pair.sizes.pairs {
        Some(pairs) => phrases::count_with_noun(pairs, pair.sizes.of),
        None => phrases::counts_each(pair.sizes.first, pair.sizes.second, pair.sizes.of),
    }
}

fn short_obstacle(obstacle: Obstacle, pair: &PairEvidence) -> String {
    match obstacle {
        Obstacle::FewRuns if pair.sizes.pairs.is_some() => {
            // Enough repeats, and too few runs: they are attempts within one run.
            let repeats = pair.sizes.runs.unwrap_or(1);
            let runs = if repeats < MIN_RUNS as u64 {
                repeats
            } else {
                1
            };
            phrases::counts_each(runs, runs, "runs")
        }
        Obstacle::FewRuns => phrases::counts_each(pair.sizes.first, pair.sizes.second, "runs"),
        Obstacle::FewItems | Obstacle::FewClusters => phrases::count_with_noun(
            pair.sizes.clusters.unwrap_or_else(|| pair.unit_count()),
            if pair.sizes.clusters.is_some() {
                "clusters"
            } else {
                pair.sizes.of
            },
        ),
        Obstacle::OutOfReach => format!("{} are too few", units_short(pair)),
        Obstacle::MissingOutcomes => "missing outcomes".to_owned(),
        Obstacle::Censored => "runs hit a limit".to_owned(),
        Obstacle::TotalDisagrees => "typical and total disagree".to_owned(),
        Obstacle::IntervalIncludesZero => "interval includes 0".to_owned(),
        Obstacle::Unlabelled => "one arm has too few labels".to_owned(),
    }
}

fn not_comparable(reason: Incomparable) -> &'static str {
    match reason {
        Incomparable::OwnDenominator => "not comparable: each arm wrote its own tests",
        Incomparable::DisjointItems => "not comparable: no shared items",
        Incomparable::OtherTexts => "not comparable: other texts",
        Incomparable::OtherTotals => "not comparable: different number of tests",
        Incomparable::OtherUnit => "not comparable: other units",
        Incomparable::OtherEvaluator => "not comparable: different judges",
        Incomparable::DirectionUnknown => "not ranked",
    }
}

/// Formats a p-value with two significant digits, such as `p = 0.031`, `p < 0.001`, `p > 0.99`. Never prints 0 or 1.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => "not tested".to_owned(),
        Some(p) => format::p_value(p),
    }
}

/// Formats the deciding p-value, such as `adjusted p = 0.039` if it is adjusted for several pairs.
fn deciding_p_value(pair: &PairEvidence, evidence: &Evidence) -> String {
    let p = p_value(pair.p_adjusted);
    if evidence.tested > 1 {
        format!("adjusted {p}")
    } else {
        p
    }
}

/// Formats a margin in the metric's unit: `2.0 pp`, `10%`.
pub(super) fn margin_text(metric: &Metric, pair: &PairEvidence) -> String {
    let margin = pair.margin.unwrap_or(0.0);
    if metric.kind == MetricKind::Amount {
        format!("{}%", format::fixed_decimals(margin * 100.0, 0))
    } else {
        amount_with_unit(metric, margin)
    }
}

/// Returns the decimals of a difference of rates: those of the rates beside it.
pub(super) fn difference_decimals(pair: &PairEvidence) -> usize {
    let of_units = format::percent_decimals(pair.unit_count());
    // Over several runs, rates have more outcomes than there are items.
    let is_count = matches!(pair.test, Some(Test::McnemarExact | Test::FisherExact))
        && pair.sizes.of != "runs";
    if is_count { of_units } else { of_units.max(1) }
}

/// Formats a difference with its unit, without its sign.
pub(super) fn amount_with_unit(metric: &Metric, value: f64) -> String {
    amount_with_decimals(metric, value, 1)
}

fn amount_with_decimals(metric: &Metric, value: f64, places: usize) -> String {
    match metric.unit {
        Unit::Fraction => format!(
            "{} pp",
            format::nonzero_decimals(value.abs() * 100.0, places)
        ),
        Unit::Points => format!("{} points", format::nonzero_decimals(value.abs(), 1)),
        Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count | Unit::Number => {
            format::value_in_unit(value.abs(), metric.unit, 0)
        }
    }
}

/// Formats a difference with its sign and unit: `+16.0 pp`, `−0.8 points`, `2.6×`.
fn signed_difference(metric: &Metric, scale: Scale, value: f64, places: usize) -> String {
    // An exact zero has no sign.
    let sign = if value < 0.0 {
        "−"
    } else if value > 0.0 {
        "+"
    } else {
        ""
    };
    match scale {
        Scale::Ratio => format_ratio(value),
        Scale::Share => format!(
            "{sign}{} pp",
            format::nonzero_decimals(value.abs() * 100.0, places)
        ),
        Scale::Unit => format!("{sign}{}", amount_with_decimals(metric, value, places)),
    }
}

/// Formats the ends of a difference's interval with their signs. A ratio has no signs.
pub(super) fn signed_interval(metric: &Metric, scale: Scale, interval: Interval) -> String {
    interval_with_decimals(metric, scale, interval, 1)
}

fn interval_with_decimals(
    metric: &Metric,
    scale: Scale,
    interval: Interval,
    places: usize,
) -> String {
    let bare = |value: f64| {
        signed_difference(metric, scale, value, places)
            .trim_end_matches(" pp")
            .trim_end_matches(" points")
            .to_owned()
    };
    format!(
        "{} to {}",
        bare(interval.low),
        signed_difference(metric, scale, interval.high, places)
    )
}

/// Formats a difference with its interval: `−1.2 pp [−4.0, +1.6]`, `1.08× [0.95, 1.23]`.
pub fn difference_with_interval(metric: &Metric, difference: &Difference) -> String {
    change_with_decimals(metric, difference, 1)
}

/// Formats a pair's difference with its interval, as precisely as the pair's rates.
pub(super) fn pair_change(metric: &Metric, pair: &PairEvidence) -> Option<String> {
    pair.difference
        .map(|difference| change_with_decimals(metric, &difference, difference_decimals(pair)))
}

/// Formats a pair's difference by the judge alone, if people's labels correct it.
pub(super) fn judge_alone(metric: &Metric, pair: &PairEvidence) -> Option<String> {
    let judge = pair.judge?;
    Some(change_with_decimals(
        metric,
        &Difference {
            value: judge.value,
            interval: judge.interval,
            scale: pair.difference?.scale,
        },
        difference_decimals(pair),
    ))
}

fn change_with_decimals(metric: &Metric, difference: &Difference, places: usize) -> String {
    let one = |value: f64| signed_difference(metric, difference.scale, value, places);
    let end = |value: f64| {
        one(value)
            .trim_end_matches(" pp")
            .trim_end_matches('×')
            .to_owned()
    };
    match difference.interval {
        Some(interval) => format!(
            "{} [{}, {}]",
            one(difference.value),
            end(interval.low),
            end(interval.high)
        ),
        None => one(difference.value),
    }
}

/// Returns the Difference cell of two arms: the first minus the second, or a ratio in words.
pub fn difference_cell(row: &ComparisonRow) -> String {
    let Some((pair, found)) = row
        .evidence
        .pairs
        .first()
        .and_then(|pair| Some((pair, pair.difference?)))
    else {
        return String::new();
    };
    match found.scale {
        Scale::Ratio => phrases::ratio_words(found.value),
        Scale::Share | Scale::Unit => signed_difference(
            &row.metric,
            found.scale,
            found.value,
            difference_decimals(pair),
        ),
    }
}

/// Returns the number of labels that correct a pair's difference, if people have not labelled all of its items.
fn correcting_labels(pair: &PairEvidence) -> Option<u64> {
    pair.judge
        .map(|judge| judge.labels)
        .filter(|labels| *labels > 0 && pair.sizes.pairs.is_some_and(|pairs| *labels < pairs))
}

/// Describes the data behind a pair: `200 shared questions`, `200 shared questions, 60 labelled`, `48 of 50 tasks shared`, `3 runs each`.
pub fn units_compared(pair: &PairEvidence) -> String {
    let sizes = &pair.sizes;
    if pair.test == Some(Test::PublishedErrors) {
        return "by published standard errors".to_owned();
    }
    let Some(pairs) = sizes.pairs else {
        return phrases::counts_each(sizes.first, sizes.second, sizes.of);
    };
    let most = sizes.first.max(sizes.second);
    let clusters = sizes.clusters.map_or_else(String::new, |count| {
        format!(" in {}", phrases::count_with_noun(count, "clusters"))
    });
    let labelled = correcting_labels(pair).map_or_else(String::new, |labels| {
        format!(", {} labelled", format::format_integer(labels))
    });
    if pairs < most {
        format!(
            "{} of {} shared{clusters}{labelled}",
            format::format_integer(pairs),
            phrases::count_with_noun(most, sizes.of)
        )
    } else {
        format!(
            "{} shared {}{clusters}{labelled}",
            format::format_integer(pairs),
            phrases::singular_or_plural(pairs, sizes.of)
        )
    }
}

/// Returns the arm that is ahead on the numbers shown, or `None` if they are equal.
pub(super) fn arm_ahead(metric: &Metric, pair: &PairEvidence) -> Option<usize> {
    let value = pair.difference?.signed_distance();
    if value == 0.0 {
        return None;
    }
    let is_first = (value > 0.0) == (metric.direction != Direction::Down);
    Some(if is_first { pair.first } else { pair.second })
}

/// Returns the difference of two arms in words, seen from the arm ahead: `A's pass rate is 12.0 pp higher than B's`, `A costs 38% less than B`.
fn difference_claim(metric: &Metric, pair: &PairEvidence, names: &[String]) -> String {
    let (first, second) = (&names[pair.first], &names[pair.second]);
    let label = phrases::metric_in_sentence(metric);
    let Some(difference) = pair
        .difference
        .filter(|found| found.signed_distance() != 0.0)
    else {
        // The arms' corrected rates may differ all the same.
        if pair.judge.is_some_and(|judge| judge.labels > 0) {
            return format!("People's labels show no difference between {first} and {second}");
        }
        return format!("{first} and {second} have the same {label}");
    };
    let own = format!("{} {label}", phrases::possessive_name(first));
    match (difference.scale, metric.name.as_str()) {
        (Scale::Ratio, "cost_usd") => {
            format!(
                "{first} costs {} {second}",
                phrases::ratio_before_name(
                    difference.value,
                    "as much as",
                    "more than",
                    "less than"
                )
            )
        }
        (Scale::Ratio, "duration_seconds") => {
            format!(
                "{first} takes {} {second}",
                phrases::ratio_before_name(
                    difference.value,
                    "as long as",
                    "more time than",
                    "less time than"
                )
            )
        }
        (Scale::Ratio, "total_tokens") => {
            let tokens = phrases::ratio_before_name(
                difference.value,
                "as many tokens as",
                "more tokens than",
                "fewer tokens than",
            );
            format!("{first} uses {tokens} {second}")
        }
        (Scale::Ratio, _) => {
            let [times, more, less] = ["that of", "more than that of", "less than that of"];
            format!(
                "{own} is {} {second}",
                phrases::ratio_before_name(difference.value, times, more, less)
            )
        }
        (Scale::Share | Scale::Unit, _) => {
            let side = if difference.value > 0.0 {
                "higher"
            } else {
                "lower"
            };
            format!(
                "{own} is {} {side} than {}",
                amount_with_decimals(metric, difference.value, difference_decimals(pair)),
                phrases::possessive_name(second)
            )
        }
    }
}

/// Returns the evidence of a claim, seen from the arm ahead: `95% CI +4.0 to +23.8 pp, adjusted p = 0.031, 50 shared
/// questions: 6 only A passed, 0 only B`.
fn claim_evidence(
    metric: &Metric,
    pair: &PairEvidence,
    names: &[String],
    evidence: &Evidence,
) -> String {
    let mut parts = Vec::new();
    if let Some((difference, ends)) = pair
        .difference
        .and_then(|found| Some((found, found.interval?)))
    {
        let ends =
            interval_with_decimals(metric, difference.scale, ends, difference_decimals(pair));
        parts.push(format!("{}% CI {ends}", level_percent(evidence.alpha)));
    }
    if pair.p_adjusted.is_some() {
        parts.push(deciding_p_value(pair, evidence));
    }
    // Of equal arms, neither is ahead.
    let is_ahead = pair.difference.is_none_or(|found| found.value != 0.0);
    if let Some(first) = pair.probability_first_better.filter(|_| is_ahead) {
        parts.push(better_clause(first, &names[pair.first]));
    }
    let mut over = units_compared(pair);
    if let Some(record) = pair.record.filter(|record| record.won + record.lost > 0) {
        let verb = if metric.kind == MetricKind::Rate {
            "passed"
        } else {
            "did better on"
        };
        let (won, lost) = (
            format::format_integer(record.won),
            format::format_integer(record.lost),
        );
        over.push_str(&format!(
            ": {won} only {} {verb}, {lost} only {}",
            names[pair.first], names[pair.second]
        ));
        if metric.kind != MetricKind::Rate
            || matches!(pair.test, Some(Test::TwoWay | Test::EachRunAlone))
            || pair.test == Some(Test::PairedT)
        {
            over = format!(
                "{}: {} better on {won}, {} on {lost}",
                units_compared(pair),
                names[pair.first],
                names[pair.second]
            );
        }
    }
    parts.push(over);
    parts.join(", ")
}

/// Says how likely the arm ahead is truly better: `66% likely that A is better`. A probability that rounds to certainty is a bound.
fn better_clause(probability: f64, name: &str) -> String {
    let likely = if probability > 0.99 {
        "more than 99%".to_owned()
    } else {
        format!("{}%", format::fixed_decimals(probability * 100.0, 0))
    };
    format!("{likely} likely that {name} is better")
}

/// Returns the confidence level of a significance level: `95`, `99.5`.
fn level_percent(alpha: f64) -> String {
    let level = (1.0 - alpha) * 100.0;
    format::fixed_decimals(level, usize::from((level - level.round()).abs() > 1e-9))
}

/// Returns why a pair has no verdict.
pub(super) fn obstacle_text(reason: Obstacle) -> String {
    match reason {
        Obstacle::FewRuns => format!("needs at least {MIN_RUNS} runs per arm"),
        Obstacle::FewItems => format!("needs at least {MIN_ITEMS} shared items"),
        Obstacle::FewClusters => format!("needs at least {MIN_ITEMS} clusters"),
        Obstacle::OutOfReach => {
            "too few units for a small enough p-value with this many pairs".to_owned()
        }
        Obstacle::MissingOutcomes => "the missing outcomes could change the sign".to_owned(),
        Obstacle::Censored => "some runs hit a limit, so their true values are unknown".to_owned(),
        Obstacle::TotalDisagrees => {
            "the typical value and the total point to different arms".to_owned()
        }
        Obstacle::IntervalIncludesZero => {
            "p is small, but the interval includes no difference, and a winner needs both"
                .to_owned()
        }
        Obstacle::Unlabelled => {
            format!(
                "one arm has fewer than {MIN_LABELS} labelled items, or too few labelled runs, so its judge is not corrected"
            )
        }
    }
}

/// Returns why times and speeds need several runs, if items would be enough for other metrics: `time is compared from 3 runs per arm on: the
/// questions of one run share the machine's state`.
pub(super) fn several_runs_reason(
    metric: &Metric,
    pair: &PairEvidence,
    items: &str,
) -> Option<String> {
    let is_thin = metric.shares_state()
        && pair.difference.is_some()
        && pair.verdict.missing_evidence() == Some(Obstacle::FewRuns);
    is_thin.then(|| format!("time is compared from {MIN_RUNS} runs per arm on: the {items} of one run share the machine's state"))
}

/// Returns what a pair without data lacks, for a cell.
fn missing_words(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::NoData {
            reason: Missing::NotCompleted,
        } => "no completed run",
        PairVerdict::NoData {
            reason: Missing::NoCounts,
        } => "no test: no counts",
        _ => "not measured",
    }
}

/// Returns why two arms cannot be compared.
pub(super) fn incomparability_text(reason: Incomparable) -> &'static str {
    match reason {
        Incomparable::OwnDenominator => "each arm wrote its own tests",
        Incomparable::DisjointItems => {
            "they share no item; `--design independent` compares them as two samples"
        }
        Incomparable::OtherTexts => "no shared item has the same text in both arms",
        Incomparable::OtherUnit => "runs give it in different units or directions",
        Incomparable::OtherEvaluator => "the arms were scored by different judges or evaluators",
        Incomparable::OtherTotals => {
            "their runs counted different numbers of tests; `--design independent` compares them as two samples"
        }
        Incomparable::DirectionUnknown => "this metric has no better direction",
    }
}

/// Returns why a verdict names no winner, or `None` if it needs no reason.
pub(super) fn no_winner_reason(verdict: PairVerdict) -> Option<String> {
    match verdict {
        PairVerdict::NotEnoughEvidence { reason } => reason.map(obstacle_text),
        PairVerdict::NotComparable { reason } => Some(incomparability_text(reason).to_owned()),
        PairVerdict::NoData {
            reason: Missing::NotCompleted,
        } => Some("an arm has no completed run".to_owned()),
        PairVerdict::NoData {
            reason: Missing::NotMeasured,
        } => Some("an arm has no value".to_owned()),
        PairVerdict::NoData {
            reason: Missing::NoCounts,
        } => Some("figures without the number of items behind them cannot be tested".to_owned()),
        PairVerdict::AWins
        | PairVerdict::BWins
        | PairVerdict::DeterministicDifference { .. }
        | PairVerdict::Tie
        | PairVerdict::Equivalent => None,
    }
}

/// Returns the verdict on two arms as a sentence without its full stop.
pub fn pair_sentence(
    metric: &Metric,
    pair: &PairEvidence,
    names: &[String],
    evidence: &Evidence,
) -> String {
    if pair.difference.is_none() {
        let (first, second) = (&names[pair.first], &names[pair.second]);
        let why = no_winner_reason(pair.verdict).map_or_else(String::new, |why| format!(": {why}"));
        let label = phrases::metric_in_sentence(metric);
        return match pair.verdict {
            PairVerdict::NotComparable { .. } if phrases::is_pass_rate(metric) => {
                format!("Not comparable: {first} and {second}{why}")
            }
            PairVerdict::NotComparable { .. } => {
                format!("Not comparable on {label}: {first} and {second}{why}")
            }
            _ => format!("No {label} to compare between {first} and {second}{why}"),
        };
    }
    let seen = arm_ahead(metric, pair).map_or_else(|| pair.clone(), |arm| pair.seen_from(arm));
    let (claim, basis) = (
        difference_claim(metric, &seen, names),
        claim_evidence(metric, &seen, names, evidence),
    );
    let mut text = format!("{claim} ({basis})");
    match seen.verdict {
        PairVerdict::AWins | PairVerdict::BWins => {
            text.push_str(&format!(": {} wins", names[seen.first]));
        }
        PairVerdict::DeterministicDifference { .. } => {
            text = format!(
                "{claim} in every run ({}). The result is fixed",
                units_compared(&seen)
            );
        }
        PairVerdict::Tie => text.push_str(": a tie in these data"),
        PairVerdict::Equivalent => text.push_str(&format!(
            ": equivalent within {}",
            margin_text(metric, pair)
        )),
        PairVerdict::NotComparable { .. } => text.push_str(": not comparable"),
        PairVerdict::NoData { .. } => text.push_str(": no data"),
        PairVerdict::NotEnoughEvidence { reason } => {
            text.push_str(": not enough evidence");
            if let Some(reason) = reason {
                text.push_str(&format!("; {}", obstacle_text(reason)));
            }
        }
    }
    if let Some(bounds) = seen.bounds {
        let scale = seen.difference.map_or(Scale::Share, |seen| seen.scale);
        text.push_str(&format!(
            "; counting missing outcomes either way: {}",
            signed_interval(metric, scale, bounds)
        ));
    }
    text
}

/// Returns the planning figures of an open pair: the smallest detectable difference, and the number of units needed.
pub fn planning_figures(metric: &Metric, pair: &PairEvidence) -> Option<String> {
    let difference = pair.difference.filter(|_| pair.verdict.is_open())?;
    let mut parts = Vec::new();
    if let Some(detectable) = pair.detectable {
        let more = doubled_designs(metric, pair);
        parts.push(format!(
            "Smallest detectable difference with {}: {}{more}",
            units_compared(pair),
            detectable_words(metric, &difference, detectable)
        ));
    }
    if let Some(needed) = pair.needed {
        let each = if needed.of == "runs" { " per arm" } else { "" };
        let planned = phrases::planned_count(needed.n);
        // A figure that has only a lower bound is not about anything.
        let about = if planned.starts_with("more than") {
            ""
        } else {
            "about "
        };
        let size = pair.needed_for.map_or_else(
            || "this difference".to_owned(),
            |size| format!("one of {}", amount_with_unit(metric, size)),
        );
        parts.push(format!(
            "{about}{planned} {}{each} would be needed to detect {size}",
            phrases::singular_or_plural(needed.n, needed.of)
        ));
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

fn detectable_words(metric: &Metric, difference: &Difference, detectable: f64) -> String {
    match difference.scale {
        Scale::Ratio => format!(
            "{}% more or {}% less",
            whole_percent(detectable - 1.0),
            whole_percent(1.0 - 1.0 / detectable)
        ),
        Scale::Share | Scale::Unit => amount_with_unit(metric, detectable),
    }
}

/// Formats a ratio. Near one it needs two decimals: `0.62×`.
pub(super) fn format_ratio(value: f64) -> String {
    format!(
        "{}×",
        format::fixed_decimals(value, if value < 10.0 { 2 } else { 0 })
    )
}

fn whole_percent(share: f64) -> String {
    format::fixed_decimals(share * 100.0, 0)
}

/// Describes how the verdict was reached: design and test.
pub fn design_and_test(pair: &PairEvidence) -> String {
    let design = design_text(pair.design);
    match pair.test {
        Some(test) => format!("{design}; {}", test_name(test)),
        None => design.to_owned(),
    }
}

fn design_text(design: Design) -> &'static str {
    match design {
        Design::Items => "about items like these",
        Design::Clusters => "about clusters of items like these",
        Design::Runs => "about this suite, run again",
        Design::Counts => "counts of these runs only, no inference",
    }
}

fn test_name(test: Test) -> &'static str {
    match test {
        Test::McnemarExact => "exact McNemar test, Tango interval",
        Test::FisherExact => "Fisher's exact test on totals, unpaired: weaker evidence",
        Test::PooledTotals => {
            "t test on totals with run-to-run variation, unpaired: weaker evidence"
        }
        Test::PairedT => "paired t test over item means",
        Test::TwoWay => "paired t test over items and runs",
        Test::EachRunAlone => "each run of one arm against each of the other, with the largest p",
        Test::SignFlip => "exact sign-flip test over items",
        Test::ClusterSignFlip => "cluster-level sign-flip test, interval by its inversion",
        Test::ClusterT => "t test over clusters, cluster-robust (CR2, Satterthwaite)",
        Test::Welch => "Welch's t test over runs",
        Test::WelchOnLogs => "Welch's t test on logarithms over runs",
        Test::DeltaOnLogs => "delta method on logarithms over items",
        Test::PublishedErrors => {
            "z test of the published standard errors, unpaired: weaker evidence"
        }
        Test::PredictionPowered => "judge's outcomes corrected by people's labels (PPI++)",
        Test::Permutation => "permutation test over runs",
    }
}

/// Describes the adjustment of a table's p-values, or returns `None` for a single test.
pub(super) fn adjustment_text(evidence: &Evidence) -> Option<String> {
    let pairs = phrases::count_with_noun(evidence.tested, "pairs");
    (evidence.tested > 1).then(|| match evidence.adjustment {
        Adjustment::BenjaminiHochbergOfPairs => {
            format!("Benjamini–Hochberg over {pairs}")
        }
        Adjustment::MaxT => format!("max-T over joint sign flips, {pairs}"),
        Adjustment::BenjaminiHochberg => format!(
            "Benjamini–Hochberg, {} of secondary metrics",
            phrases::count_with_noun(evidence.tested, "tests")
        ),
    })
}

/// Returns the sentences about one metric: the pair's, or the winner or leader among more arms.
pub fn metric_sentences(row: &ComparisonRow, names: &[String]) -> Vec<String> {
    match row.evidence.pairs.as_slice() {
        [] => Vec::new(),
        [pair] => vec![format!(
            "{}.",
            pair_sentence(&row.metric, pair, names, &row.evidence)
        )],
        _ => vec![format!("{}.", group_sentence(row, names))],
    }
}

/// Returns the arms with a value.
fn arms_with_value(row: &ComparisonRow) -> impl Iterator<Item = usize> + '_ {
    (0..row.cells.len()).filter(|arm| row.cells[*arm].value.is_some())
}

/// Returns the other arm's name if only one other was measured.
fn only_other<'n>(row: &ComparisonRow, winner: usize, names: &'n [String]) -> Option<&'n String> {
    let mut others = arms_with_value(row).filter(|arm| *arm != winner);
    let only = others.next().filter(|_| others.next().is_none())?;
    names.get(only)
}

/// Returns whether one arm is ahead in every run of all arms that have data.
fn is_fixed(evidence: &Evidence) -> bool {
    let mut known = evidence
        .pairs
        .iter()
        .filter(|pair| !matches!(pair.verdict, PairVerdict::NoData { .. }));
    known.all(|pair| matches!(pair.verdict, PairVerdict::DeterministicDifference { .. }))
}

fn win_clause(evidence: &Evidence, others: &str) -> String {
    if is_fixed(evidence) {
        format!("is ahead of {others} in every run")
    } else {
        format!("wins against {others}")
    }
}

/// Describes the winner or leader among several arms.
fn group_sentence(row: &ComparisonRow, names: &[String]) -> String {
    let evidence = &row.evidence;
    let label = phrases::metric_in_sentence(&row.metric);
    let adjusted = adjustment_text(evidence).map_or_else(String::new, |how| format!(" ({how})"));
    if let Some(winner) = evidence.winner {
        let others = only_other(row, winner, names)
            .cloned()
            .unwrap_or_else(|| phrases::other_arms(arms_with_value(row).count() as u64 - 1));
        let how = win_clause(evidence, &others);
        let end = if is_fixed(evidence) {
            ". The result is fixed"
        } else {
            &adjusted
        };
        return format!("{} {how} on {label}{end}", names[winner]);
    }
    let why = || {
        evidence
            .pairs
            .iter()
            .find_map(|pair| no_winner_reason(pair.verdict))
            .map_or_else(String::new, |reason| format!(": {reason}"))
    };
    if evidence.leading.is_empty() {
        return format!("No arm can lead on {label}{}", why());
    }
    if evidence
        .pairs
        .iter()
        .all(|pair| pair.better_arm().is_none())
    {
        return format!(
            "No winner yet among {} arms on {label}{adjusted}{}",
            names.len(),
            if evidence.tested == 0 {
                why()
            } else {
                String::new()
            }
        );
    }
    let leading: Vec<String> = evidence
        .leading
        .iter()
        .map(|arm| names[*arm].clone())
        .collect();
    if let Some(ahead) = evidence.better_than_each() {
        // Pairs and ranks are two promises: the first may be kept where the second is not.
        let rivals: Vec<String> = evidence
            .leading
            .iter()
            .filter(|arm| **arm != ahead)
            .map(|arm| names[*arm].clone())
            .collect();
        return format!(
            "{} is better than each other arm on {label}{adjusted}; if all ranks are to hold at once, {} may share the lead",
            names[ahead],
            phrases::join_some(&rivals)
        );
    }
    format!(
        "{} of {} arms share the lead on {label}: {}{adjusted}",
        leading.len(),
        names.len(),
        phrases::join_some(&leading)
    )
}

pub(super) fn excluded_item_notes(items: &[ExcludedItem]) -> Vec<String> {
    let one = |excluded: &ExcludedItem| {
        format!(
            "Excluded item {} ({}): {}.",
            excluded.item,
            phrases::count_with_noun(excluded.outcomes, "outcomes"),
            excluded.reason
        )
    };
    items.iter().map(one).collect()
}

/// Returns notes on excluded items, and the headline with them.
pub fn exclusion_notes(comparison: &Comparison, names: &[String]) -> Vec<String> {
    let mut notes = excluded_item_notes(&comparison.excluded_items);
    if let Some(row) = &comparison.with_excluded {
        let cells: Vec<String> = names
            .iter()
            .zip(&row.cells)
            .map(|(name, cell)| format!("{name} {}", phrases::cell_value(&row.metric, cell)))
            .collect();
        notes.push(format!(
            "With excluded items: {}. {}",
            cells.join(", "),
            metric_sentences(row, names).join(" ")
        ));
    }
    notes
}

/// Returns the headline of a board: the winner, the leading group, or that there is no winner yet.
pub fn board_sentence(board: &SuiteBoard) -> Option<String> {
    evidence_headline(board, &|evidence| why_open(board, evidence))
}

/// Returns the headline without the reason why there is no winner.
pub fn board_line(board: &SuiteBoard) -> Option<String> {
    evidence_headline(board, &|_| String::new())
}

fn evidence_headline(
    board: &SuiteBoard,
    why_open: &dyn Fn(&BoardEvidence) -> String,
) -> Option<String> {
    let evidence = board.evidence.as_ref()?;
    let labels = phrases::arm_labels(
        &board.suite,
        &board
            .entries
            .iter()
            .map(|entry| entry.arm.clone())
            .collect::<Vec<_>>(),
    );
    let value = |place: usize| {
        board.entries[place]
            .primary
            .as_ref()
            .map_or_else(String::new, |figure| {
                phrases::primary_figure(&board.primary, figure)
            })
    };
    let leading: Vec<usize> = (0..board.entries.len())
        .filter(|place| {
            board.entries[*place]
                .standing
                .as_ref()
                .is_some_and(|standing| standing.is_leading)
        })
        .collect();
    // An arm with fewer items has a rate over different items, so it cannot head the leading group.
    let is_whole = |place: &usize| !evidence.partial.contains(&board.entries[*place].arm);
    let first = leading
        .iter()
        .copied()
        .find(is_whole)
        .or_else(|| leading.first().copied());
    if evidence.winner.is_some()
        && let [winner] = leading.as_slice()
    {
        let next = (0..board.entries.len())
            .find(|place| place != winner && board.entries[*place].primary.is_some());
        let next = next.map_or_else(String::new, |next| {
            format!(
                " vs {}{}",
                if evidence.arms > 2 { "next " } else { "" },
                value(next)
            )
        });
        let others = if evidence.arms > 2 {
            phrases::other_arms(evidence.arms - 1)
        } else {
            labels_except(&labels, *winner)
        };
        let how = if evidence.deterministic == evidence.pairs {
            format!(
                "{} is ahead of {others} in every run: {}{next}. The result is fixed.",
                labels[*winner],
                value(*winner)
            )
        } else {
            format!(
                "{} wins against {others} ({}{next}).",
                labels[*winner],
                value(*winner)
            )
        };
        return Some(how);
    }
    if evidence.resolved + evidence.deterministic == 0 {
        let lead = first.map_or_else(String::new, |first| {
            format!(" Leader: {}, {}.", labels[first], value(first))
        });
        let why = why_open(evidence);
        let among = if evidence.arms > 2 {
            format!(" among {} arms", evidence.arms)
        } else {
            String::new()
        };
        if evidence.equal > 0 && evidence.equal == evidence.pairs {
            return Some(format!(
                "Tie: {} have the same {}.",
                all_arms(evidence.arms),
                phrases::metric_in_sentence(&board.primary)
            ));
        }
        return Some(format!("No winner yet{among}{why}.{lead}"));
    }
    let first = first.map_or_else(String::new, |first| {
        format!("; {} is first with {}", labels[first], value(first))
    });
    if leading.len() as u64 == evidence.arms {
        let all = if evidence.arms == 2 {
            "Both arms".to_owned()
        } else {
            format!("All {} arms", evidence.arms)
        };
        return Some(format!(
            "{all} share the lead{first}: with all ranks at once, none is significantly worse than the first."
        ));
    }
    Some(format!(
        "{} of {} arms share the lead{first}.",
        leading.len(),
        evidence.arms
    ))
}

/// Names all arms of a board: `both arms`, `all 4 arms`.
fn all_arms(arms: u64) -> String {
    if arms == 2 {
        "both arms".to_owned()
    } else {
        format!("all {} arms", format::format_integer(arms))
    }
}

fn labels_except(labels: &[String], arm: usize) -> String {
    labels
        .iter()
        .enumerate()
        .find(|(place, _)| *place != arm)
        .map_or_else(String::new, |(_, label)| label.clone())
}

fn why_open(board: &SuiteBoard, evidence: &BoardEvidence) -> String {
    let one_run = board
        .entries
        .iter()
        .filter(|entry| entry.primary.is_some())
        .all(|entry| entry.runs == 1);
    match evidence.reason {
        Some(Obstacle::FewRuns) if one_run => {
            format!(" (1 run each; at least {MIN_RUNS} per arm are needed)")
        }
        Some(reason) => format!(" ({})", obstacle_text(reason)),
        None if evidence.tested == 0 => " (nothing could be tested)".to_owned(),
        None => String::new(),
    }
}

/// Returns the arms of the leading group, by the shortest distinct names on the board.
pub fn leading_group(board: &SuiteBoard) -> Vec<String> {
    let labels = phrases::arm_labels(
        &board.suite,
        &board
            .entries
            .iter()
            .map(|entry| entry.arm.clone())
            .collect::<Vec<_>>(),
    );
    let is_leading = |entry: &crate::views::Entry| {
        entry
            .standing
            .as_ref()
            .is_some_and(|standing| standing.is_leading)
    };
    labels
        .into_iter()
        .zip(&board.entries)
        .filter(|(_, entry)| is_leading(entry))
        .map(|(label, _)| label)
        .collect()
}

/// Explains the rank ranges, the smallest detectable difference, and the arms' comparability on this board.
pub fn board_notes(board: &SuiteBoard) -> Vec<String> {
    let comparability = || {
        let names = phrases::separating_settings_note(&board.separating_settings)
            .into_iter()
            .chain(phrases::perhaps_one_model(&board.perhaps_one_model));
        comparability::board_note(board)
            .into_iter()
            .chain(comparability::apart_notes(&board.apart))
            .chain(board.copies.map(phrases::copies_note))
            .chain(names)
    };
    let Some(evidence) = &board.evidence else {
        return comparability().collect();
    };
    let mut notes = Vec::new();
    notes.extend(settled_note(evidence));
    let family = match evidence.tested {
        0 => "no pair has enough data for a test".to_owned(),
        1 => format!("p < {} in one test", format_alpha(evidence.alpha)),
        _ => format!(
            "all ranges hold at once, with a chance of at most {} that any is wrong",
            format::percent(evidence.alpha, 1)
        ),
    };
    let is_fixed = evidence.tested == 0
        && evidence.deterministic > 0
        && evidence.deterministic == evidence.comparable;
    let mut rank = if is_fixed {
        "Rank: fixed; all runs of each arm have identical outcomes.".to_owned()
    } else {
        format!("Rank: range of places that the pairwise tests cannot rule out; {family}.")
    };
    let designs: Vec<&str> = evidence
        .designs
        .iter()
        .filter(|one| **one != Design::Counts)
        .map(|one| design_text(*one))
        .collect();
    if evidence.tested > 0 {
        rank.push_str(&format!(" Verdicts are {}.", designs.join(", or ")));
    }
    notes.push(rank);
    if let Some(resolution) = &evidence.resolution
        && resolution.scale == Scale::Share
    {
        let pair = if evidence.tested > 1 {
            " (median pair)"
        } else {
            ""
        };
        notes.push(format!(
            "Smallest detectable difference{pair}: {}, with 80% power.",
            amount_with_unit(&evidence.metric, resolution.difference)
        ));
    }
    if !evidence.partial.is_empty() {
        let name = phrases::arm_namer(board);
        let names: Vec<String> = evidence.partial.iter().map(name).collect();
        notes.push(format!(
            "Rates over fewer items than other arms have, which lead no group: {}.",
            phrases::join_some(&names)
        ));
    }
    notes.extend(comparability());
    if let Some(drawn) = &evidence.drawn {
        notes.push(format!(
            "First in resamples: share of {} bootstrap samples of the {} in which the arm ranks first. It describes these data and decides nothing.",
            format::format_integer(u64::from(drawn.resamples)),
            phrases::count_with_noun(drawn.units, drawn.of)
        ));
    }
    notes
}

/// Says how many pairs differ and which places are open: `6 of 10 pairs differ (about 5% of such findings are wrong by chance). Places 1 to 3
/// are not settled.`
fn settled_note(evidence: &BoardEvidence) -> Option<String> {
    if evidence.tested < 2 || evidence.resolved == 0 {
        return None;
    }
    let chance = match evidence.adjustment {
        Adjustment::MaxT => String::new(),
        Adjustment::BenjaminiHochbergOfPairs | Adjustment::BenjaminiHochberg => format!(
            "; up to about {} of such findings are wrong by chance",
            format::percent(evidence.alpha, 1)
        ),
    };
    let named: Vec<String> = evidence
        .open_places
        .iter()
        .map(|rank| format!("{} to {}", rank.best, rank.worst))
        .collect();
    let settled = if named.is_empty() {
        "Every place is settled.".to_owned()
    } else {
        format!("Places {} are not settled.", phrases::join_some(&named))
    };
    Some(format!(
        "{} of {} differ{chance}. {settled}",
        format::format_integer(evidence.resolved),
        phrases::count_with_noun(evidence.pairs, "pairs")
    ))
}

/// Formats a significance level: `0.05`, `0.00026`.
fn format_alpha(alpha: f64) -> String {
    // Two significant digits.
    let decimals = (2..12)
        .find(|decimals| alpha * 10f64.powi(*decimals) >= 10.0)
        .unwrap_or(12);
    format::fixed_decimals(alpha, usize::try_from(decimals).unwrap_or(2))
        .trim_end_matches('0')
        .to_owned()
}

/// Formats the smallest detectable differences of larger designs: ` (7.9 pp with twice the items, 9.6 pp with twice the attempts)`.
fn doubled_designs(metric: &Metric, pair: &PairEvidence) -> String {
    pair.detail.doubled.map_or_else(String::new, |doubled| {
        let [items, attempts] =
            [doubled.items, doubled.attempts].map(|value| amount_with_unit(metric, value));
        format!(" ({items} with twice the items, {attempts} with twice the attempts)")
    })
}
