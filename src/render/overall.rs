//! The board over suites, as a table and sentences.

use crate::views::{
    Arm, Interval, Measure, Overall, OverallEntry, Pooling, Reversal, Sample, SuiteWeight,
};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};
use super::words::{self, count_of};

/// Suites whose weights are named one by one.
const MOST_WEIGHTS: usize = 12;
const MOST_REVERSALS: usize = 3;

/// Lays out the board over suites.
pub fn table(overall: &Overall) -> Table {
    let entries = &overall.entries;
    let each =
        |cell: &dyn Fn(&OverallEntry) -> Cell| entries.iter().map(cell).collect::<Vec<Cell>>();
    let mut table = Table::of("overall").titled(format!("Leaderboard: {}", title(overall.pooling)));
    let is_score = overall.measure == Measure::Score;
    table.column(
        Column::words(if is_score { "System" } else { "Approach" }).keys(["approach"]),
        each(&|entry| Cell::words(entry.arm.approach.as_str())),
    );
    if !is_score {
        table.column(
            Column::words("Model").keys(["model"]),
            each(&|entry| Cell::words(entry.arm.model.as_str())),
        );
    }
    let rate = |entry: &OverallEntry| {
        let n = entry.items.unwrap_or(0);
        let number = if is_score {
            format::fixed(entry.rate, 4)
        } else {
            format::percent_number(entry.rate, n)
        };
        let ends = |ends: Interval| {
            if is_score {
                format!(
                    " [{}, {}]",
                    format::fixed(ends.low, 4),
                    format::fixed(ends.high, 4)
                )
            } else {
                format!(" {}", format::percent_interval(ends, n))
            }
        };
        let [low, high] = Datum::ends(entry.interval);
        Cell::shown(format!(
            "{number}{}",
            entry.interval.map_or_else(String::new, ends)
        ))
        .data([entry.rate.into(), low, high])
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
    table.column(Column::number(label).keys(keys), each(&rate));
    if overall.sample.is_some() {
        let rank = |entry: &OverallEntry| match entry.rank {
            Some(rank) => Cell::shown(words::rank(rank)).data([
                Datum::from(rank.best as u64),
                Datum::from(rank.worst as u64),
            ]),
            None => Cell::unknown("not ranked"),
        };
        table.column(
            Column::number("Rank")
                .over("95% for all at once")
                .keys(["best", "worst"]),
            each(&rank),
        );
        let to_leader = |entry: &OverallEntry| to_leader(entry, is_score);
        let label = if is_score {
            "To the leader"
        } else {
            "To the leader, pp"
        };
        table.column(
            Column::number(label).over("95% for all at once").keys([
                "to_leader",
                "to_leader_low",
                "to_leader_high",
            ]),
            each(&to_leader),
        );
    }
    let suites = |entry: &OverallEntry| {
        Cell::shown(format!("{}/{}", entry.suites.known, entry.suites.runs))
            .data([entry.suites.known.into(), entry.suites.runs.into()])
    };
    table.column(
        Column::number("Suites")
            .keys(["suites", "suites_of"])
            .rank(2),
        each(&suites),
    );
    if !is_score {
        let items =
            |entry: &OverallEntry| entry.items.map_or_else(|| Cell::unknown(""), Cell::count);
        table.column(
            Column::number("Items").keys(["items"]).rank(1),
            each(&items),
        );
        let cost = Column::number("Cost")
            .over("all runs")
            .keys(["cost_usd", "cost_is_lower_bound"])
            .rank(1);
        table.column(cost, each(&|entry| words::money_cell(entry.cost.as_ref())));
    }
    table.notes = notes(overall);
    table
}

fn title(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Macro => "macro mean over suites",
        Pooling::Micro => "micro mean over suites",
    }
}

/// Says which arm leads, and whether it is settled.
pub fn headline(overall: &Overall) -> Option<String> {
    let leader = overall.entries.first()?;
    let name = words::arm_over(&overall.suites, &leader.arm);
    let over = format!("over {}", count_of(overall.weights.len() as u64, "suites"));
    Some(match overall.could_be_first? {
        1 => format!("{name} wins {over}"),
        several => format!(
            "{name} leads {over}; {} of {} could be first",
            format::integer(several),
            count_of(overall.ranked, "arms")
        ),
    })
}

fn to_leader(entry: &OverallEntry, is_score: bool) -> Cell {
    let Some(difference) = entry.to_leader else {
        let no_figure = [Datum::Absent, Datum::Absent, Datum::Absent];
        return if entry.rank.is_some() {
            Cell::shown("leader").data(no_figure)
        } else {
            Cell::unknown("n/a")
        };
    };
    let number = |value: f64| {
        if is_score {
            format::signed(value, 4)
        } else {
            format::signed(100.0 * value, 1)
        }
    };
    let ends = difference.interval.map_or_else(
        || " [any]".to_owned(),
        |ends| format!(" [{}, {}]", number(ends.low), number(ends.high)),
    );
    let [low, high] = Datum::ends(difference.interval);
    Cell::shown(format!("{}{ends}", number(difference.value))).data([
        difference.value.into(),
        low,
        high,
    ])
}

fn notes(overall: &Overall) -> Vec<String> {
    let mut notes = vec![weights(overall)];
    notes.extend(sample(overall));
    if overall.ranked > 1 {
        notes.extend(leaders_without(overall));
        notes.extend(reversals(overall));
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
            count_of(over.len() as u64, "suites"),
            count_of(overall.ranked, unit),
            words::first_three(&over),
            count_of(unranked, unit),
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
            .map(|arm| words::arm_name(&other.suite, arm))
            .collect();
        let counted = other.counted.as_deref().map_or_else(
            || "runs of unknown version".to_owned(),
            |version| format!("version {}", words::version(version)),
        );
        notes.push(format!(
            "Of {} only {counted} counts here; not in it, with runs of another version only: {}.",
            other.suite,
            arms.join(", ")
        ));
    }
    notes
}

fn weights(overall: &Overall) -> String {
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
        .take(MOST_WEIGHTS)
        .map(named)
        .collect();
    if overall.weights.len() > MOST_WEIGHTS {
        named.push(format!(
            "{} more in --format json",
            overall.weights.len() - MOST_WEIGHTS
        ));
    }
    format!(
        "Weights as given, in shares of the mean: {}.",
        named.join(", ")
    )
}

fn sample(overall: &Overall) -> Vec<String> {
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
                    count_of(suites, "columns")
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
            count_of(suites, "suites")
        ),
        Sample::Items => format!(
            "Method: items within {} are the sample, so the order is about these suites only. Suites' variances add up by their weights, \
             and all intervals are as wide as all pairs together need.",
            count_of(suites, "suites")
        ),
    };
    vec![
        format!(
            "{} of {} could be first.",
            format::integer(first),
            count_of(overall.ranked, unit)
        ),
        method,
    ]
}

fn leaders_without(overall: &Overall) -> Option<String> {
    if overall.weights.len() < 2 {
        return None;
    }
    let leader = words::arm_over(&overall.suites, &overall.entries.first()?.arm);
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
            format!("one of {}", words::first_three(suites))
        };
        format!(
            "without {or}, {} leads",
            words::arm_over(&overall.suites, arm)
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
        format::integer(count),
        count_of(all, "suites"),
        said.join("; ")
    ))
}

fn reversals(overall: &Overall) -> Vec<String> {
    let said = |reversal: &Reversal| {
        let [first, second] =
            [&reversal.first, &reversal.second].map(|arm| words::arm_over(&overall.suites, arm));
        let mut parts = Vec::new();
        if reversal.second_ahead > reversal.first_ahead {
            let all = overall.weights.len() as u64;
            parts.push(format!(
                "{second} has the higher rate on {} of {}",
                format::integer(reversal.second_ahead),
                count_of(all, "suites")
            ));
        }
        if let Some(together) = reversal.together.filter(|together| *together < 0.0) {
            let more = format::fixed(-100.0 * together, 1);
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
        .take(MOST_REVERSALS)
        .map(said)
        .collect();
    let more = overall.reversed_pairs.saturating_sub(notes.len() as u64);
    if more > 0 {
        notes.push(format!(
            "{} more {} reversed; --format json names the first.",
            format::integer(more),
            if more == 1 { "pair is" } else { "pairs are" }
        ));
    }
    notes
}
