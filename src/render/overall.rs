//! The board over suites, as a table and sentences.

use crate::views::{
    Arm, Interval, Measure, Overall, OverallEntry, Pooling, Reversal, Sample, SuiteWeight,
};

use super::cell::{Datum, TableCell};
use super::format;
use super::phrases::{self, count_with_noun};
use super::table::{ReportTable, TableColumn};

/// Suites whose weights are named one by one.
const MAX_WEIGHTS: usize = 12;
const MAX_REVERSALS: usize = 3;

/// Lays out the board over suites.
pub fn suite_means_table(overall: &Overall) -> ReportTable {
    let entries = &overall.entries;
    let each = |cell: &dyn Fn(&OverallEntry) -> TableCell| {
        entries.iter().map(cell).collect::<Vec<TableCell>>()
    };
    let mut table = ReportTable::for_rows("overall")
        .with_title(format!("Leaderboard: {}", pooling_title(overall.pooling)));
    let is_score = overall.measure == Measure::Score;
    table.add_filled_column(
        TableColumn::words(if is_score { "System" } else { "Approach" }).keys(["approach"]),
        each(&|entry| TableCell::words(entry.arm.approach.as_str())),
    );
    if !is_score {
        table.add_filled_column(
            TableColumn::words("Model").keys(["model"]),
            each(&|entry| TableCell::words(entry.arm.model.as_str())),
        );
    }
    let rate = |entry: &OverallEntry| {
        let n = entry.items.unwrap_or(0);
        let number = if is_score {
            format::fixed_decimals(entry.rate, 4)
        } else {
            format::percent_number(entry.rate, n)
        };
        let ends = |ends: Interval| {
            if is_score {
                format!(
                    " [{}, {}]",
                    format::fixed_decimals(ends.low, 4),
                    format::fixed_decimals(ends.high, 4)
                )
            } else {
                format!(" {}", format::percent_interval(ends, n))
            }
        };
        let [low, high] = Datum::interval_ends(entry.interval);
        TableCell::for_people(format!(
            "{number}{}",
            entry.interval.map_or_else(String::new, ends)
        ))
        .with_data([entry.rate.into(), low, high])
    };
    let label = if is_score {
        "Mean score [95% CI]"
    } else {
        "Pass rate % [95% CI]"
    };
    let keys = if is_score {
        ["score", "score_ci95_low", "score_ci95_high"]
    } else {
        ["pass_rate", "pass_rate_ci95_low", "pass_rate_ci95_high"]
    };
    table.add_filled_column(TableColumn::number(label).keys(keys), each(&rate));
    if overall.sample.is_some() {
        let rank = |entry: &OverallEntry| match entry.rank {
            Some(rank) => TableCell::for_people(phrases::rank_range(rank)).with_data([
                Datum::from(rank.best as u64),
                Datum::from(rank.worst as u64),
            ]),
            None => TableCell::unknown("not ranked"),
        };
        table.add_filled_column(
            TableColumn::number("Rank")
                .over("95% for all at once")
                .keys(["best", "worst"]),
            each(&rank),
        );
        let to_leader = |entry: &OverallEntry| difference_to_leader_cell(entry, is_score);
        let label = if is_score {
            "To the leader"
        } else {
            "To the leader, pp"
        };
        table.add_filled_column(
            TableColumn::number(label)
                .over("95% for all at once")
                .keys(["to_leader", "to_leader_low", "to_leader_high"]),
            each(&to_leader),
        );
    }
    let suites = |entry: &OverallEntry| {
        TableCell::for_people(format!("{}/{}", entry.suites.known, entry.suites.runs))
            .with_data([entry.suites.known.into(), entry.suites.runs.into()])
    };
    table.add_filled_column(
        TableColumn::number("Suites")
            .keys(["suites", "suites_of"])
            .rank(2),
        each(&suites),
    );
    if !is_score {
        let items = |entry: &OverallEntry| {
            entry
                .items
                .map_or_else(|| TableCell::unknown(""), TableCell::count)
        };
        table.add_filled_column(
            TableColumn::number("Items").keys(["items"]).rank(1),
            each(&items),
        );
        let cost = TableColumn::number("Cost")
            .over("all runs")
            .keys(["cost_usd", "cost_is_lower_bound"])
            .rank(1);
        table.add_filled_column(
            cost,
            each(&|entry| phrases::money_cell(entry.cost.as_ref())),
        );
    }
    table.notes = method_notes(overall);
    table
}

fn pooling_title(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Macro => "macro mean over suites",
        Pooling::Micro => "micro mean over suites",
    }
}

/// Says which arm leads, and whether it is settled.
pub fn leader_headline(overall: &Overall) -> Option<String> {
    let leader = overall.entries.first()?;
    let name = phrases::arm_over_suites(&overall.suites, &leader.arm);
    let over = format!(
        "over {}",
        count_with_noun(overall.weights.len() as u64, "suites")
    );
    Some(match overall.could_be_first? {
        1 => format!("{name} wins {over}"),
        several => format!(
            "{name} leads {over}; {} of {} could be first",
            format::format_integer(several),
            count_with_noun(overall.ranked, "arms")
        ),
    })
}

/// Returns the winner over all suites with both rates: `planner wins over 9 suites: 77.1% vs 68.3%`. `None` without a winner.
pub fn winner_headline(overall: &Overall) -> Option<String> {
    let said = leader_headline(overall).filter(|_| overall.could_be_first == Some(1))?;
    let [first, next] = [0, 1].map(|place| {
        overall
            .entries
            .get(place)
            .filter(|entry| entry.rank.is_some())
            .map(|entry| rate_text(overall, entry))
    });
    Some(match first.zip(next) {
        Some((first, next)) => format!("{said}: {first} vs {next}"),
        None => said,
    })
}

/// Returns an arm's mean with its interval, and its difference to the leader, as in the table.
pub fn suite_means_cells(overall: &Overall, entry: &OverallEntry) -> [String; 2] {
    let ends = entry.interval.map_or_else(String::new, |ends| {
        let end = |rate: f64| {
            rate_text(
                overall,
                &OverallEntry {
                    rate,
                    ..entry.clone()
                },
            )
        };
        format!(" [{}, {}]", end(ends.low), end(ends.high))
    });
    [
        format!("{}{ends}", rate_text(overall, entry)),
        difference_to_leader_cell(entry, overall.measure == Measure::Score).text,
    ]
}

/// Formats an arm's mean over suites without its interval.
pub fn rate_text(overall: &Overall, entry: &OverallEntry) -> String {
    match overall.measure {
        Measure::Score => format::fixed_decimals(entry.rate, 4),
        Measure::PassRate => format::percent(entry.rate, entry.items.unwrap_or(0)),
    }
}

fn difference_to_leader_cell(entry: &OverallEntry, is_score: bool) -> TableCell {
    let Some(difference) = entry.to_leader else {
        let no_figure = [Datum::Absent, Datum::Absent, Datum::Absent];
        return if entry.rank.is_some() {
            TableCell::for_people("leader").with_data(no_figure)
        } else {
            TableCell::unknown("n/a")
        };
    };
    let number = |value: f64| {
        if is_score {
            format::signed_number(value, 4)
        } else {
            format::signed_number(100.0 * value, 1)
        }
    };
    let ends = difference.interval.map_or_else(
        || " [any]".to_owned(),
        |ends| format!(" [{}, {}]", number(ends.low), number(ends.high)),
    );
    let [low, high] = Datum::interval_ends(difference.interval);
    TableCell::for_people(format!("{}{ends}", number(difference.value))).with_data([
        difference.value.into(),
        low,
        high,
    ])
}

fn method_notes(overall: &Overall) -> Vec<String> {
    let mut notes = vec![weights_note(overall)];
    notes.extend(sample_notes(overall));
    if overall.ranked > 1 {
        notes.extend(leaders_without(overall));
        notes.extend(reversal_notes(overall));
    }
    let unit = if overall.measure == Measure::Score {
        "systems"
    } else {
        "arms"
    };
    let unranked = overall.entries.len() as u64 - overall.ranked;
    if overall.ranked > 1 && unranked > 0 {
        let over: Vec<String> = overall
            .weights
            .iter()
            .map(|suite| suite.suite.clone())
            .collect();
        notes.push(format!(
            "Means are over the {} that {} share: {}. {} without all of these {} listed last and not comparable with the others.",
            count_with_noun(over.len() as u64, "suites"),
            count_with_noun(overall.ranked, unit),
            phrases::first_three(&over),
            count_with_noun(unranked, unit),
            if unranked == 1 { "is" } else { "are" },
        ));
    } else if unranked > 0 {
        notes.push(format!(
            "Means are over different suites, so the {unit} are not comparable."
        ));
    }
    for other in &overall.other_versions {
        let arms: Vec<String> = other
            .arms
            .iter()
            .map(|arm| phrases::arm_name(&other.suite, arm))
            .collect();
        let counted = other.counted.as_deref().map_or_else(
            || "runs of unknown version".to_owned(),
            |version| format!("version {}", phrases::short_version(version)),
        );
        notes.push(format!(
            "Of {} only {counted} counts here; not in it, with runs of another version only: {}.",
            other.suite,
            arms.join(", ")
        ));
    }
    notes
}

fn weights_note(overall: &Overall) -> String {
    if overall.pooling == Pooling::Micro {
        return "Micro mean: every item weighs the same, however often it was repeated, so large suites weigh more.".to_owned();
    }
    let own: Vec<f64> = overall.weights.iter().map(|suite| suite.weight).collect();
    let is_even = own.windows(2).all(|two| (two[0] - two[1]).abs() < 1e-12);
    if is_even {
        return "Macro mean: every suite weighs the same.".to_owned();
    }
    let named =
        |suite: &SuiteWeight| format!("{} {}", suite.suite, format::percent(suite.weight, 1_000));
    let mut named: Vec<String> = overall
        .weights
        .iter()
        .take(MAX_WEIGHTS)
        .map(named)
        .collect();
    if overall.weights.len() > MAX_WEIGHTS {
        named.push(format!(
            "{} more in --format json",
            overall.weights.len() - MAX_WEIGHTS
        ));
    }
    format!(
        "Weights as given, in shares of the mean: {}.",
        named.join(", ")
    )
}

fn sample_notes(overall: &Overall) -> Vec<String> {
    let suites = overall.weights.len() as u64;
    let unit = if overall.measure == Measure::Score {
        "systems"
    } else {
        "arms"
    };
    let Some(sample) = overall.sample else {
        let why = match (overall.ranked, overall.measure) {
            (0 | 1, _) => {
                format!("No order: fewer than two {unit} have a rate on the same suites.")
            }
            (_, Measure::Score) => {
                format!(
                    "No order: {} are too few to be the sample, and a table of scores has no items.",
                    count_with_noun(suites, "columns")
                )
            }
            (_, Measure::PassRate) => {
                "No order: no two arms have been compared on each of these suites.".to_owned()
            }
        };
        return vec![why];
    };
    let first = overall.could_be_first.unwrap_or(overall.ranked);
    let method = match sample {
        Sample::Suites => format!(
            "Method: {} are the sample, so the order is about other suites like these. Signs of whole suites are flipped for all {unit} together.",
            count_with_noun(suites, "suites")
        ),
        Sample::Items => format!(
            "Method: items within {} are the sample, so the order is about these suites only. Suites' variances add up by their weights, \
             and all intervals are as wide as all pairs together need.",
            count_with_noun(suites, "suites")
        ),
    };
    vec![
        format!(
            "{} of {} could be first.",
            format::format_integer(first),
            count_with_noun(overall.ranked, unit)
        ),
        method,
    ]
}

fn leaders_without(overall: &Overall) -> Option<String> {
    if overall.weights.len() < 2 {
        return None;
    }
    let leader = phrases::arm_over_suites(&overall.suites, &overall.entries.first()?.arm);
    let found = &overall.leaders_without;
    if found.is_empty() {
        return Some(format!(
            "{leader} also leads if any single suite is left out."
        ));
    }
    let mut by_leader: Vec<(&Arm, Vec<String>)> = Vec::new();
    for without in found {
        match by_leader
            .iter_mut()
            .find(|(arm, _)| **arm == without.leader)
        {
            Some((_, suites)) => suites.push(without.suite.clone()),
            None => by_leader.push((&without.leader, vec![without.suite.clone()])),
        }
    }
    let said = |(arm, suites): &(&Arm, Vec<String>)| {
        let or = if suites.len() <= 3 {
            suites.join(" or ")
        } else {
            format!("one of {}", phrases::first_three(suites))
        };
        format!(
            "without {or}, {} leads",
            phrases::arm_over_suites(&overall.suites, arm)
        )
    };
    let said: Vec<String> = by_leader.iter().map(said).collect();
    let (count, all) = (found.len() as u64, overall.weights.len() as u64);
    let verb = if count == 1 {
        "decides"
    } else {
        "can each decide"
    };
    Some(format!(
        "{} of {} {verb} the first place: {}.",
        format::format_integer(count),
        count_with_noun(all, "suites"),
        said.join("; ")
    ))
}

fn reversal_notes(overall: &Overall) -> Vec<String> {
    let said = |reversal: &Reversal| {
        let [first, second] = [&reversal.first, &reversal.second]
            .map(|arm| phrases::arm_over_suites(&overall.suites, arm));
        let mut parts = Vec::new();
        if reversal.second_ahead > reversal.first_ahead {
            let all = overall.weights.len() as u64;
            parts.push(format!(
                "{second} has the higher rate on {} of {}",
                format::format_integer(reversal.second_ahead),
                count_with_noun(all, "suites")
            ));
        }
        if let Some(together) = reversal.together.filter(|together| *together < 0.0) {
            let more = format::fixed_decimals(-100.0 * together, 1);
            let simpson = if reversal.second_ahead == 0 {
                " (Simpson's paradox)"
            } else {
                ""
            };
            parts.push(format!(
                "{second} is {more} pp ahead if all outcomes are put together{simpson}"
            ));
        }
        format!(
            "Reversal: {first} is ahead of {second} here, but {}.",
            parts.join(", and ")
        )
    };
    let mut notes: Vec<String> = overall
        .reversals
        .iter()
        .take(MAX_REVERSALS)
        .map(said)
        .collect();
    let more = overall.reversed_pairs.saturating_sub(notes.len() as u64);
    if more > 0 {
        notes.push(format!(
            "{} more {} reversed; --format json names the first.",
            format::format_integer(more),
            if more == 1 { "pair is" } else { "pairs are" }
        ));
    }
    notes
}
