//! What the evidence amounts to, in words: a short one for a column, and the whole sentence.

use crate::domain::{Metric, MetricKind, Unit};
use crate::views::{
    BoardEvidence, Comparison, ComparisonRow, Design, Difference, Evidence, ExcludedItem, Interval, MIN_ITEMS, MIN_RUNS, PairEvidence,
    Reason, Scale, SuiteBoard, Test, Verdict,
};

use super::{comparability, format, words};

/// The Evidence column of a table.
pub fn short(comparison: &Comparison, row: &ComparisonRow) -> String {
    let names = words::labels(comparison);
    let evidence = &row.evidence;
    match evidence.pairs.as_slice() {
        [] => "nothing to compare with".to_owned(),
        [pair] => short_pair(&row.metric, pair, &names),
        pairs => {
            if let Some(winner) = evidence.winner {
                return format!("{} beats every other", names[winner]);
            }
            if pairs.iter().all(|pair| pair.verdict == Verdict::NotComparable) {
                return pairs[0].reason.map_or("not comparable", not_comparable).to_owned();
            }
            if pairs.iter().all(|pair| pair.verdict == Verdict::NoData || pair.verdict == Verdict::NotComparable) {
                return "no data".to_owned();
            }
            if pairs.iter().any(|pair| pair.winner().is_some()) {
                return format!("leading group of {}", evidence.leading.len());
            }
            if pairs.iter().all(|pair| pair.verdict == Verdict::Tie) {
                return "tie".to_owned();
            }
            if pairs.iter().any(|pair| pair.verdict == Verdict::DeterministicDifference) {
                return "deterministic differences".to_owned();
            }
            format!("{}: not enough evidence", words::sizes(&evidence.sizes()))
        }
    }
}

fn short_pair(metric: &Metric, pair: &PairEvidence, names: &[String]) -> String {
    let n = match pair.sizes.pairs {
        Some(pairs) => words::sizes(&[pairs]),
        None => words::sizes(&[pair.sizes.first, pair.sizes.second]),
    };
    match pair.verdict {
        Verdict::AWins | Verdict::BWins => {
            let winner = pair.winner().map_or("", |winner| names[winner].as_str());
            format!("{winner} wins, {}", p_value(pair.p_adjusted))
        }
        Verdict::Tie => format!("{n}: tie"),
        Verdict::Equivalent => format!("equivalent within {}", margin(metric, pair)),
        Verdict::NotEnoughEvidence => format!("{n}: not enough evidence"),
        Verdict::NotComparable => pair.reason.map_or("not comparable", not_comparable).to_owned(),
        Verdict::NoData if pair.reason == Some(Reason::NotCompleted) => "no completed run".to_owned(),
        Verdict::NoData => "no data".to_owned(),
        Verdict::DeterministicDifference => "deterministic difference".to_owned(),
    }
}

fn not_comparable(reason: Reason) -> &'static str {
    match reason {
        Reason::OwnDenominator => "own tests: not comparable",
        Reason::DisjointItems => "no shared items: not comparable",
        Reason::OtherTexts => "other texts: not comparable",
        Reason::OtherTotals => "other totals: not comparable",
        Reason::OtherUnit => "other units: not comparable",
        Reason::OtherEvaluator => "other judges: not comparable",
        Reason::DirectionUnknown => "no direction",
        Reason::FewRuns
        | Reason::FewItems
        | Reason::FewClusters
        | Reason::NoVariation
        | Reason::MissingOutcomes
        | Reason::Censored
        | Reason::NotCompleted => "not comparable",
    }
}

/// `p = .03`, `p < .001`; nothing is never said to be certain.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => "no p".to_owned(),
        Some(p) if p < 0.001 => "p < .001".to_owned(),
        Some(p) if p >= 0.995 => "p = 1.00".to_owned(),
        Some(p) => format!("p = {}", format::fixed(p, if p < 0.1 { 3 } else { 2 }).trim_start_matches('0')),
    }
}

/// A margin in the metric's unit: `2.0 pp`, `10%`.
pub(super) fn margin(metric: &Metric, pair: &PairEvidence) -> String {
    let margin = pair.margin.unwrap_or(0.0);
    if metric.kind == MetricKind::Amount { format!("{}%", format::fixed(margin * 100.0, 0)) } else { amount(metric, margin) }
}

/// A difference without its sign, with its unit.
pub(super) fn amount(metric: &Metric, value: f64) -> String {
    match metric.unit {
        Unit::Fraction => format!("{} pp", format::fixed(value.abs() * 100.0, 1)),
        Unit::Points => format!("{} points", format::fixed(value.abs(), 1)),
        Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count | Unit::Number => format::value(value.abs(), metric.unit, 0),
    }
}

/// The ends of a difference's interval, with their signs; of a ratio, as they are.
pub(super) fn interval(metric: &Metric, scale: Scale, interval: Interval) -> String {
    match scale {
        Scale::Ratio => format!("{} to {}", ratio(interval.low), ratio(interval.high)),
        Scale::Share => format!("{} to {} pp", format::signed(interval.low * 100.0, 1), format::signed(interval.high * 100.0, 1)),
        Scale::Unit => match metric.unit {
            Unit::Points | Unit::Fraction | Unit::Number | Unit::Count => {
                format!("{} to {}", format::signed(interval.low, 1), format::signed(interval.high, 1))
            }
            Unit::Seconds | Unit::Tokens | Unit::Usd => {
                let signed = |value: f64| format!("{}{}", if value < 0.0 { "−" } else { "+" }, amount(metric, value));
                format!("{} to {}", signed(interval.low), signed(interval.high))
            }
        },
    }
}

/// The difference with its interval: `−1.2 pp [−4.0, +1.6]`, `1.08× [0.95, 1.23]`.
pub fn change(metric: &Metric, difference: &Difference) -> String {
    let one = |value: f64| match difference.scale {
        Scale::Ratio => ratio(value),
        Scale::Share => format!("{} pp", format::signed(value * 100.0, 1)),
        Scale::Unit if value < 0.0 => format!("−{}", amount(metric, value)),
        Scale::Unit => format!("+{}", amount(metric, value)),
    };
    let end = |value: f64| match difference.scale {
        Scale::Ratio => ratio(value).trim_end_matches('×').to_owned(),
        Scale::Share => format::signed(value * 100.0, 1),
        Scale::Unit => one(value),
    };
    match difference.interval {
        Some(interval) => format!("{} [{}, {}]", one(difference.value), end(interval.low), end(interval.high)),
        None => one(difference.value),
    }
}

/// What two arms were compared over: `paired on 48 of 50 questions`, `5 runs each`.
pub fn units(pair: &PairEvidence) -> String {
    let sizes = &pair.sizes;
    match (sizes.pairs, sizes.clusters) {
        (Some(pairs), clusters) => {
            let most = sizes.first.max(sizes.second);
            let of = if pairs < most { format!(" of {}", format::integer(most)) } else { String::new() };
            let clusters = clusters.map_or_else(String::new, |count| format!(" in {} clusters", format::integer(count)));
            format!("paired on {}{of} {}{clusters}", format::integer(pairs), words::one_or_many(pairs, sizes.of))
        }
        (None, _) if sizes.first == sizes.second => {
            format!("{} {} each", format::integer(sizes.first), words::one_or_many(sizes.first, sizes.of))
        }
        (None, _) => format!("{} and {} {}", format::integer(sizes.first), format::integer(sizes.second), sizes.of),
    }
}

/// Says how far apart two arms are: `A passes 12.0 pp more questions than B`, `A takes 0.62× the cost of B`.
fn claim(metric: &Metric, pair: &PairEvidence, difference: &Difference, names: &[String]) -> String {
    let (first, second) = (&names[pair.first], &names[pair.second]);
    let label = metric.label.to_lowercase();
    if difference.value == 0.0 || (difference.scale == Scale::Ratio && (difference.value - 1.0).abs() < f64::EPSILON) {
        return format!("{first} and {second} have the same {label}");
    }
    match difference.scale {
        Scale::Ratio => format!("{first} has {} the {label} of {second}", ratio(difference.value)),
        Scale::Share if metric.kind == MetricKind::Rate => {
            let (more, less) = if difference.value > 0.0 { (first, second) } else { (second, first) };
            format!("{more} passes {} more {label} than {less}", amount(metric, difference.value))
        }
        Scale::Share | Scale::Unit => {
            let (more, less) = if difference.value > 0.0 { (first, second) } else { (second, first) };
            format!("{more} has {} more {label} than {less}", amount(metric, difference.value))
        }
    }
}

/// What it was counted over and how it was tested: `95% CI +4.0 to +23.8 pp, paired on 50 questions, 6 won and 0 lost, p = .031`.
fn basis(metric: &Metric, pair: &PairEvidence, difference: &Difference, evidence: &Evidence) -> String {
    let mut parts = Vec::new();
    if let Some(ends) = difference.interval {
        parts.push(format!("{}% CI {}", level_percent(evidence.alpha), interval(metric, difference.scale, ends)));
    }
    parts.push(units(pair));
    if let Some(record) = pair.record {
        parts.push(format!("{} won and {} lost", format::integer(record.won), format::integer(record.lost)));
    }
    match (pair.p_adjusted, pair.p) {
        (Some(p), _) if evidence.tested > 1 => parts.push(format!("{} for {} pairs", p_value(Some(p)), format::integer(evidence.tested))),
        (Some(p), _) => parts.push(p_value(Some(p))),
        (None, Some(p)) if pair.design == Design::Counts => {
            parts.push(format!("Fisher {} if the tests were independent; how runs vary is unknown", p_value(Some(p))));
        }
        (None, _) => {}
    }
    parts.join(", ")
}

/// The confidence that belongs to a level: `95`, `99.5`.
fn level_percent(alpha: f64) -> String {
    let level = (1.0 - alpha) * 100.0;
    format::fixed(level, usize::from((level - level.round()).abs() > 1e-9))
}

/// What stands in the way of a verdict.
pub(super) fn obstacle(reason: Reason) -> String {
    match reason {
        Reason::FewRuns => format!("a verdict about runs needs at least {MIN_RUNS} a side"),
        Reason::FewItems => format!("a verdict about items needs at least {MIN_ITEMS} that both have"),
        Reason::FewClusters => format!("the items come in fewer than {MIN_ITEMS} clusters"),
        Reason::NoVariation => "no value differs from another, so chance cannot be measured".to_owned(),
        Reason::MissingOutcomes => "the missing outcomes could turn it round".to_owned(),
        Reason::Censored => "runs hit a limit, and how long they would have taken is unknown".to_owned(),
        Reason::NotCompleted => "an arm has no run that came to its end".to_owned(),
        Reason::OwnDenominator => "each wrote its own tests".to_owned(),
        Reason::DisjointItems => "they share no item".to_owned(),
        Reason::OtherTexts => "every item that both have was another text for each".to_owned(),
        Reason::OtherUnit => "runs give it in different units or directions".to_owned(),
        Reason::OtherEvaluator => "another judge or evaluator decided about each".to_owned(),
        Reason::OtherTotals => "their runs counted different numbers of tests".to_owned(),
        Reason::DirectionUnknown => "neither direction is better".to_owned(),
    }
}

/// The verdict on two arms in a sentence, without its full stop.
pub fn sentence(metric: &Metric, pair: &PairEvidence, names: &[String], evidence: &Evidence) -> String {
    let Some(difference) = pair.difference else {
        return match pair.verdict {
            Verdict::NotComparable => {
                format!(
                    "{} and {} are not comparable: {}",
                    names[pair.first],
                    names[pair.second],
                    pair.reason.map_or_else(String::new, obstacle)
                )
            }
            _ => "Not enough evidence: an arm has no data".to_owned(),
        };
    };
    if pair.verdict == Verdict::DeterministicDifference {
        // The outcomes say it all: no chance was involved, and no test would mean anything.
        let (claim, basis) = (claim(metric, pair, &difference, names), basis(metric, pair, &difference, evidence));
        return format!("deterministic here: {claim} in every run of this suite ({basis}); repeats add nothing");
    }
    let mut text = format!("{} ({})", claim(metric, pair, &difference, names), basis(metric, pair, &difference, evidence));
    match pair.verdict {
        Verdict::AWins | Verdict::BWins => text.push_str(&format!(": {} wins", pair.winner().map_or("", |winner| names[winner].as_str()))),
        Verdict::Tie => text.push_str(": a tie on these data"),
        Verdict::Equivalent => text.push_str(&format!(": equivalent within {}", margin(metric, pair))),
        Verdict::DeterministicDifference | Verdict::NotComparable => text.push_str(": not comparable"),
        Verdict::NoData => text.push_str(": no data"),
        Verdict::NotEnoughEvidence => {
            text.push_str(": not enough evidence");
            let mut parts: Vec<String> = pair.reason.map(obstacle).into_iter().collect();
            if let Some(detectable) = pair.detectable.filter(|_| pair.reason.is_none()) {
                let more = doubled(metric, pair);
                parts.push(format!("so much data can show {}{more}", detectable_words(metric, &difference, detectable)));
            }
            if let Some(needed) = pair.needed.filter(|_| !matches!(pair.reason, Some(Reason::MissingOutcomes | Reason::Censored))) {
                let each = if needed.of == "runs" { " each" } else { "" };
                let about = if pair.reason.is_none() { "about " } else { "" };
                parts.push(format!(
                    "{about}{} {}{each} would be needed to settle a difference of this size",
                    format::integer(needed.n),
                    words::one_or_many(needed.n, needed.of)
                ));
            }
            if !parts.is_empty() {
                text.push_str(&format!("; {}", parts.join("; ")));
            }
        }
    }
    if let Some(bounds) = pair.bounds {
        text.push_str(&format!(
            "; with the missing outcomes it lies between {} and {} pp",
            format::signed(bounds.low * 100.0, 1),
            format::signed(bounds.high * 100.0, 1)
        ));
    }
    text
}

fn detectable_words(metric: &Metric, difference: &Difference, detectable: f64) -> String {
    match difference.scale {
        Scale::Ratio => format!("an increase of {}% or a decrease of {}%", percent(detectable - 1.0), percent(1.0 - 1.0 / detectable)),
        Scale::Share | Scale::Unit => format!("a difference of {} or more", amount(metric, detectable)),
    }
}

/// A ratio near one needs two decimals: `0.62×`.
pub(super) fn ratio(value: f64) -> String {
    format!("{}×", format::fixed(value, if value < 10.0 { 2 } else { 0 }))
}

fn percent(share: f64) -> String {
    format::fixed(share * 100.0, 0)
}

/// How the verdict was reached: the design and the test.
pub fn method(pair: &PairEvidence) -> String {
    let design = design(pair.design);
    match pair.test {
        Some(test) => format!("{design}; {}", test_name(test)),
        None => design.to_owned(),
    }
}

fn design(design: Design) -> &'static str {
    match design {
        Design::Items => "over items: questions like these",
        Design::Clusters => "over clusters of items: questions like these",
        Design::Runs => "over runs: this suite, run again",
        Design::Counts => "counts of these runs only, no inference",
    }
}

fn test_name(test: Test) -> &'static str {
    match test {
        Test::McnemarExact => "exact McNemar test, Tango interval",
        Test::FisherExact => "Fisher's exact test",
        Test::PairedT => "paired t over item means",
        Test::SignFlip => "exact sign flips of item differences",
        Test::ClusterSignFlip => "arms swapped in whole clusters, cluster-robust interval (CR1, t with G − 1 degrees of freedom)",
        Test::Welch => "Welch's t over runs",
        Test::WelchOnLogs => "Welch's t on logarithms over runs",
        Test::Permutation => "permutation of runs",
    }
}

/// The sentences about one metric: the pair's, or for more arms who leads.
pub fn sentences(row: &ComparisonRow, names: &[String]) -> Vec<String> {
    let evidence = &row.evidence;
    match evidence.pairs.as_slice() {
        [] => Vec::new(),
        [pair] => vec![format!("{}.", sentence(&row.metric, pair, names, evidence))],
        _ => vec![format!("{}.", group_sentence(&row.metric, evidence, names))],
    }
}

/// Who leads among several arms.
fn group_sentence(metric: &Metric, evidence: &Evidence, names: &[String]) -> String {
    let label = metric.label.to_lowercase();
    let family = evidence.tested;
    let adjusted = if family > 1 { format!(" (each of {family} pairs tested, adjusted by Holm)") } else { String::new() };
    if let Some(winner) = evidence.winner {
        return format!("{} beats every other arm on {label}{adjusted}", names[winner]);
    }
    let reason = || evidence.pairs.iter().find_map(|pair| pair.reason).map_or_else(String::new, |reason| format!(": {}", obstacle(reason)));
    if evidence.leading.is_empty() {
        return format!("No arm can lead on {label}{}", reason());
    }
    let leading: Vec<String> = evidence.leading.iter().map(|arm| names[*arm].clone()).collect();
    if evidence.pairs.iter().any(|pair| pair.verdict == Verdict::DeterministicDifference) && family == 0 {
        return format!("Deterministic on {label}: every run of an arm has the same outcomes, so the numbers are facts about this suite");
    }
    if evidence.pairs.iter().all(|pair| pair.winner().is_none()) {
        let why = if family == 0 { reason() } else { String::new() };
        return format!("Not enough evidence to tell any two arms apart on {label}{adjusted}{why}");
    }
    format!("Leading group on {label}: {}{adjusted}", words::listed(&leading))
}

pub(super) fn excluded(items: &[ExcludedItem]) -> Vec<String> {
    let one = |excluded: &ExcludedItem| {
        let outcomes = format!("{} outcome{}", format::integer(excluded.outcomes), if excluded.outcomes == 1 { "" } else { "s" });
        format!("Excluded: {} ({outcomes}): {}.", excluded.item, excluded.reason)
    };
    items.iter().map(one).collect()
}

/// Says which items were taken out and what the headline would be with them.
pub fn exclusion_notes(comparison: &Comparison, names: &[String]) -> Vec<String> {
    let mut notes = excluded(&comparison.excluded_items);
    if let Some(row) = &comparison.with_excluded {
        let cells: Vec<String> =
            names.iter().zip(&row.cells).map(|(name, cell)| format!("{name} {}", words::cell(&row.metric, cell))).collect();
        notes.push(format!("With what was excluded: {}. {}", cells.join(", "), sentences(row, names).join(" ")));
    }
    notes
}

/// More names than this say less than their number.
pub(super) const MAX_LEADING: usize = 8;

/// What a board's evidence comes to: who beats all others, who leads, or that no two arms can be told apart.
pub fn board_sentence(board: &SuiteBoard) -> Option<String> {
    let evidence = board.evidence.as_ref()?;
    let label = evidence.metric.label.to_lowercase();
    let adjusted = if evidence.tested > 1 {
        format!(" (each of {} pairs tested, adjusted by Holm)", format::integer(evidence.tested))
    } else {
        String::new()
    };
    if evidence.deterministic > 0 && evidence.deterministic == evidence.pairs {
        return Some(format!(
            "Deterministic on {label}: every run of an arm has the same outcomes, so the order is a fact about this suite and repeats add \
             nothing."
        ));
    }
    if evidence.winner.is_none() && evidence.resolved == 0 {
        return Some(format!("{} on {label}{adjusted}{}.", untold(evidence.arms), why_untold(board, evidence)));
    }
    let leading = leading(board);
    if evidence.winner.is_some()
        && let [winner] = leading.as_slice()
    {
        let others = if evidence.arms > 2 { "every other arm" } else { "the other arm" };
        return Some(format!("{winner} beats {others} on {label}{adjusted}."));
    }
    if leading.len() as u64 == evidence.arms {
        return Some(format!(
            "No arm is significantly worse than the first on {label}, though {} of {} pairs can be told apart{adjusted}.",
            format::integer(evidence.resolved),
            format::integer(evidence.pairs)
        ));
    }
    let mut names = leading;
    let more = names.len().saturating_sub(MAX_LEADING);
    if more > 0 {
        names.truncate(MAX_LEADING);
        names.push(format!("{} more", format::integer(more as u64)));
    }
    Some(format!("Leading group on {label}, of {} arms: {}{adjusted}.", format::integer(evidence.arms), words::listed(&names)))
}

fn untold(arms: u64) -> String {
    if arms == 2 {
        "The two arms cannot be told apart".to_owned()
    } else {
        format!("No two of the {} arms can be told apart", format::integer(arms))
    }
}

fn why_untold(board: &SuiteBoard, evidence: &BoardEvidence) -> String {
    if evidence.deterministic > 0 {
        return format!(
            " by a test: in {} of {} pairs every run of each arm has the same outcomes",
            format::integer(evidence.deterministic),
            format::integer(evidence.pairs)
        );
    }
    let one_run = board.entries.iter().filter(|entry| entry.pass_rate.is_some()).all(|entry| entry.runs == 1);
    match evidence.reason {
        Some(reason @ Reason::FewRuns) if one_run => format!(": one run each; {}", obstacle(reason)),
        Some(reason) => format!(": {}", obstacle(reason)),
        None if evidence.tested == 0 => ": nothing is known that could be tested".to_owned(),
        None => String::new(),
    }
}

/// The arms of the leading group, by the shortest names that tell the board's arms apart.
pub fn leading(board: &SuiteBoard) -> Vec<String> {
    let labels = words::arm_labels(&board.entries.iter().map(|entry| entry.arm.clone()).collect::<Vec<_>>());
    let is_leading = |entry: &crate::views::Entry| entry.standing.as_ref().is_some_and(|standing| standing.is_leading);
    labels.into_iter().zip(&board.entries).filter(|(_, entry)| is_leading(entry)).map(|(label, _)| label).collect()
}

/// Says what a rank range means on this board, what the board could show at all, and what the chances of coming first were drawn from.
pub fn board_notes(board: &SuiteBoard) -> Vec<String> {
    let comparability = || comparability::board_note(board).into_iter().chain(comparability::apart_notes(&board.apart));
    let Some(evidence) = &board.evidence else { return comparability().collect() };
    let mut notes = Vec::new();
    let family = match evidence.tested {
        0 => "here no pair has enough data for a test".to_owned(),
        1 => format!("a difference counts at p < {}", level(evidence.alpha)),
        tested => {
            format!(
                "a difference counts only if it holds for all {} pairs tested (Holm, p < {})",
                format::integer(tested),
                level(evidence.alpha)
            )
        }
    };
    let mut rank = format!(
        "Rank: the places that the evidence leaves open, behind every arm that is better and before every arm that is worse; {family}."
    );
    let designs: Vec<&str> = evidence.designs.iter().filter(|one| **one != Design::Counts).map(|one| design(*one)).collect();
    if evidence.tested > 0 {
        rank.push_str(&format!(" Verdicts are {}.", designs.join(", or ")));
    }
    notes.push(rank);
    if let Some(resolution) = &evidence.resolution
        && resolution.scale == Scale::Share
    {
        let typical = if evidence.tested > 1 { "a typical pair (the median)" } else { "the pair" };
        notes.push(format!(
            "Resolution: {typical} shows a difference of {} or more, four times out of five at p < {}.",
            amount(&evidence.metric, resolution.difference),
            level(resolution.level)
        ));
    }
    if !evidence.partial.is_empty() {
        let name = words::names_on(board);
        let names: Vec<String> = evidence.partial.iter().take(MAX_LEADING).map(name).collect();
        let more = evidence.partial.len().saturating_sub(MAX_LEADING);
        let more = if more > 0 { format!(" and {} more", format::integer(more as u64)) } else { String::new() };
        notes.push(format!("Rates over fewer items than other arms', which lead no group: {}{more}.", names.join(", ")));
    }
    notes.extend(comparability());
    if let Some(drawn) = &evidence.drawn {
        notes.push(format!(
            "P(best): how often an arm comes first when the {} {} are drawn anew, {} times.",
            format::integer(drawn.units),
            words::one_or_many(drawn.units, drawn.of),
            format::integer(u64::from(drawn.resamples))
        ));
    }
    if evidence.p_best_left_out {
        notes.push("P(best) takes a while on a board of this size: --p-best gives it.".to_owned());
    }
    notes
}

/// A significance level: `0.05`, `0.00026`.
fn level(alpha: f64) -> String {
    // Two significant digits.
    let decimals = (2..12).find(|decimals| alpha * 10f64.powi(*decimals) >= 10.0).unwrap_or(12);
    format::fixed(alpha, usize::try_from(decimals).unwrap_or(2)).trim_end_matches('0').to_owned()
}

/// What twice the items, or twice the attempts, could show: ` (7.9 pp with twice the items, 9.6 pp with twice the attempts)`.
fn doubled(metric: &Metric, pair: &PairEvidence) -> String {
    pair.detail.doubled.map_or_else(String::new, |doubled| {
        let [items, attempts] = [doubled.items, doubled.attempts].map(|value| amount(metric, value));
        format!(" ({items} with twice the items, {attempts} with twice the attempts)")
    })
}
