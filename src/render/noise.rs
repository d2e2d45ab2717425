//! The noise ledger as tables and sentences.

use crate::domain::{Unit, score_label};
use crate::views::{
    ArmNoise, ConditionEffect, DetectableByRuns, ItemHealth, JudgeBasis, JudgeNoise, NoiseLedger,
};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};
use super::verdicts::p_value;
use super::words::{self, arm_labels, count_of};

/// Lays out what pages of the site show: they list the items elsewhere.
pub(super) fn for_pages(ledger: &NoiseLedger) -> Vec<Table> {
    let mut all = vec![sources(ledger, "Noise"), differences(ledger), arms(ledger)];
    all.extend(
        (!ledger.conditions.is_empty()).then(|| conditions(&ledger.suite, &ledger.conditions)),
    );
    all
}

/// Lays out a ledger: the sources of noise, the differences that runs can show, the arms, the items, and the recorded conditions.
pub fn tables(ledger: &NoiseLedger) -> Vec<Table> {
    let name = ledger
        .suite_version
        .as_ref()
        .map_or_else(String::new, |version| {
            format!(", version {}", words::version(version))
        });
    let name = format!("{}{name}", ledger.suite);
    let mut all = vec![
        sources(ledger, &name),
        differences(ledger),
        arms(ledger),
        health(&ledger.health),
    ];
    all.extend(
        (!ledger.conditions.is_empty()).then(|| conditions(&ledger.suite, &ledger.conditions)),
    );
    all
}

fn pp(share: f64) -> String {
    format::fixed(100.0 * share, 1)
}

fn sources(ledger: &NoiseLedger, name: &str) -> Table {
    let size = format!(
        "{} {}",
        format::integer(ledger.items),
        words::one_or_many(ledger.items, ledger.items_of)
    );
    let mut table =
        Table::of("noise").titled(format!("{name}: noise of one run's pass rate ({size})"));
    let mut rows: Vec<[Cell; 3]> = Vec::new();
    let repeats: u64 = ledger
        .arms
        .iter()
        .filter(|arm| arm.sources.is_some())
        .map(|arm| arm.repeats)
        .sum();
    let basis = format!(
        "{} of {}",
        count_of(repeats, "repeats"),
        count_of(ledger.repeated_arms, "arms")
    );
    let none = "no arm has two runs".to_owned();
    let mut add = |source: &str, share: Option<f64>, basis: String| {
        rows.push([
            Cell::words(source),
            Cell::measured(share.map(|share| 100.0 * share), |value| {
                format::fixed(value, 1)
            }),
            Cell::words(basis),
        ]);
    };
    let known = |share: Option<f64>| {
        (
            share,
            if share.is_some() {
                basis.clone()
            } else {
                none.clone()
            },
        )
    };
    let (answers, on_answers) = known(ledger.pooled.map(|pooled| pooled.answers));
    add("Answers: the same items once more", answers, on_answers);
    let (shared, on_shared) = known(ledger.pooled.map(|pooled| pooled.shared));
    let what = if ledger.unit.is_over_items() {
        "Shared by all items of a run: machine, service, retries".to_owned()
    } else {
        format!(
            "Shared by all {} of a run: the artefact, machine, service",
            ledger.items_of
        )
    };
    add(&what, shared, on_shared);
    let (choice, on_choice) = match ledger.pooled {
        Some(pooled) if pooled.choice.is_none() => (
            None,
            format!("{} of one artefact are no sample", ledger.items_of),
        ),
        pooled => known(pooled.and_then(|pooled| pooled.choice)),
    };
    add("Choice of items", choice, on_choice);
    let (total, on_total) = known(ledger.pooled.map(|pooled| pooled.total));
    add("All together", total, on_total);
    for judge in ledger.judges.iter().filter(|judge| judge.metric.is_none()) {
        add(
            "Judge: one of several evaluators",
            Some(judge.deviation),
            format!("{} with several", count_of(judge.judged, "outcomes")),
        );
    }
    let [source, error, basis]: [Vec<Cell>; 3] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].clone()).collect());
    table.column(Column::words("Source").keys(["source"]), source);
    table.column(
        Column::number("Standard error, pp").keys(["standard_error_pp"]),
        error,
    );
    table.column(Column::words("Measured on").keys(["measured_on"]), basis);
    table.notes = ledger.judges.iter().filter_map(judged).collect();
    if ledger.pooled.is_none() {
        table.notes.push(
            "Repeats measure the sources: `evalreport run --runs 3` makes three runs of each arm."
                .to_owned(),
        );
    }
    if ledger.judges.is_empty() {
        table.notes.push("Noise of the judge: unknown, no run was judged twice; `evalreport judge` judges stored runs again, and with `--probe` in reverse order.".to_owned());
    }
    table
}

fn judged(judge: &JudgeNoise) -> Option<String> {
    let metric = judge.metric.as_deref()?;
    let deviation = match judge.unit? {
        Unit::Fraction => format!("{} pp", pp(judge.deviation)),
        unit => format!("{} {}", format::plain(judge.deviation), words::unit(unit)),
    };
    let how = match judge.by {
        JudgeBasis::Revisions => "judged again by the same judge",
        JudgeBasis::Probes => "judged with the criteria in reverse order",
        JudgeBasis::Evaluators => "judged by several evaluators",
    };
    Some(format!(
        "Noise of the judge: {} of a run moves by {} between judgements (standard deviation, {} {how}).",
        score_label(metric),
        deviation.trim_end(),
        count_of(judge.judged, "runs")
    ))
}

fn differences(ledger: &NoiseLedger) -> Table {
    let mut table = Table::of("differences").titled("Differences of pass rates that runs can show");
    let single = &ledger.single_runs;
    let no_repeats = || "no arm has two runs".to_owned();
    let by_chance = single.by_chance.map_or_else(no_repeats, |_| {
        format!("mean of {}", count_of(ledger.repeated_arms, "arms"))
    });
    let mut rows = vec![(
        "Two runs of one arm differ by more in 1 of 20 cases".to_owned(),
        single.by_chance,
        by_chance,
    )];
    rows.extend(if ledger.unit.is_over_items() {
        detectable(ledger)
    } else {
        detectable_by_runs(ledger)
    });
    table.column(
        Column::words("Question").keys(["question"]),
        rows.iter().map(|row| Cell::words(row.0.as_str())),
    );
    let shown = |value: f64| format::fixed(value, 1);
    table.column(
        Column::number("Difference, pp").keys(["difference_pp"]),
        rows.iter()
            .map(|row| Cell::measured(row.1.map(|share| 100.0 * share), shown)),
    );
    table.column(
        Column::words("Measured on").keys(["measured_on"]),
        rows.iter().map(|row| Cell::words(row.2.as_str())),
    );
    if !ledger.unit.is_over_items() {
        table.notes.push(format!(
            "The {} of a run are of one artefact, so the run is the unit, and single runs show no difference. Smallest detectable \
             differences are found with 80% power.",
            ledger.items_of
        ));
        return table;
    }
    table.notes.push(
        "Smallest detectable differences are found with 80% power. A smaller observed difference of single runs is no evidence.".to_owned(),
    );
    if let Some((runs, items)) = single.twice_the_runs.zip(single.twice_the_items) {
        let [runs, items] = [runs, items].map(|share| (1000.0 * share).round());
        table.notes.push(
            if runs < items {
                "A second run of each arm buys more than twice as many items."
            } else if runs > items {
                "Twice as many items buy more than a second run of each arm."
            } else {
                "A second run of each arm and twice as many items buy about the same."
            }
            .to_owned(),
        );
    }
    table
}

/// A question, its difference as a share, and what that is measured on.
type Asked = (String, Option<f64>, String);

fn detectable(ledger: &NoiseLedger) -> Vec<Asked> {
    let single = &ledger.single_runs;
    let median = format!("median of {}", count_of(single.pairs, "pairs"));
    let reason = match (single.pairs, single.same_items) {
        (0, _) => "no two arms share items",
        (_, None) => "the arms' outcomes do not differ",
        (_, Some(_)) => "no two arms have two runs of each item",
    };
    [
        ("one run per arm, same items", single.same_items),
        ("one run per arm, other items", single.other_items),
        ("two runs per arm, same items", single.twice_the_runs),
        (
            "one run per arm, twice as many items",
            single.twice_the_items,
        ),
    ]
    .into_iter()
    .map(|(design, share)| {
        (
            format!("Smallest detectable: {design}"),
            share,
            share.map_or_else(|| reason.to_owned(), |_| median.clone()),
        )
    })
    .collect()
}

fn detectable_by_runs(ledger: &NoiseLedger) -> Vec<Asked> {
    let single = &ledger.single_runs;
    if single.by_runs.is_empty() {
        let reason = if single.pairs == 0 {
            "no two arms have two runs"
        } else {
            "no arm's rate varies"
        };
        return vec![(
            "Smallest detectable: several runs per arm".to_owned(),
            None,
            reason.to_owned(),
        )];
    }
    let median = format!("median of {}", count_of(single.pairs, "pairs"));
    let row = |found: &DetectableByRuns| {
        (
            format!(
                "Smallest detectable: {} per arm",
                count_of(found.runs, "runs")
            ),
            Some(found.difference),
            median.clone(),
        )
    };
    single.by_runs.iter().map(row).collect()
}

fn arms(ledger: &NoiseLedger) -> Table {
    let mut table =
        Table::of("arms").titled("Arms: standard errors of one run in pp, and how outcomes vary");
    let arms = &ledger.arms;
    let labels = arm_labels(
        &ledger.suite,
        &arms.iter().map(|arm| arm.arm.clone()).collect::<Vec<_>>(),
    );
    let each = |cell: &dyn Fn(&ArmNoise) -> Cell| arms.iter().map(cell).collect::<Vec<Cell>>();
    let error = |value: Option<f64>| {
        Cell::measured(value.map(|share| 100.0 * share), |value| {
            format::fixed(value, 1)
        })
    };
    let share = |value: Option<f64>, n: u64| {
        Cell::measured(value.map(|share| 100.0 * share), |value| {
            format::percent(value / 100.0, n)
        })
    };
    table.column(
        Column::words("Arm").keys(["arm"]),
        labels.into_iter().map(Cell::words),
    );
    table.column(
        Column::number("Repeats").keys(["repeats"]),
        each(&|arm| Cell::count(arm.repeats)),
    );
    table.column(
        Column::number("Pass rate").keys(["pass_rate_percent"]),
        each(&|arm| share(Some(arm.pass_rate), arm.items)),
    );
    table.column(
        Column::number("Answers").keys(["answers_pp"]),
        each(&|arm| error(arm.sources.map(|sources| sources.answers))),
    );
    table.column(
        Column::number("Shared").keys(["shared_pp"]),
        each(&|arm| error(arm.sources.map(|sources| sources.shared))),
    );
    let choice = |arm: &ArmNoise| match arm.sources {
        Some(sources) if sources.choice.is_none() => Cell::unknown("n/a"),
        sources => error(sources.and_then(|sources| sources.choice)),
    };
    table.column(Column::number("Items").keys(["choice_pp"]), each(&choice));
    table.column(
        Column::number("Items that flip").keys(["flips_percent"]),
        each(&|arm| share(arm.flips, arm.repeated_items)),
    );
    table.column(
        Column::number("Outcome changes")
            .keys(["changes_percent"])
            .rank(2),
        each(&|arm| share(arm.changes, arm.repeated_items)),
    );
    table.column(
        Column::number("ICC").keys(["icc"]).rank(1),
        each(&|arm| Cell::measured(arm.icc, |icc| format::fixed(icc, 3))),
    );
    let all_pass = |arm: &ArmNoise| match arm.reliability.last() {
        Some(last) => Cell::shown(format!(
            "{} (k = {})",
            format::percent(last.all_pass, arm.items),
            last.k
        ))
        .data([Datum::from(100.0 * last.all_pass), Datum::from(last.k)]),
        None => Cell::unknown("unknown"),
    };
    table.column(
        Column::number("pass^k")
            .keys(["all_pass_percent", "k"])
            .rank(3),
        each(&all_pass),
    );
    let half_life = |arm: &ArmNoise| match &arm.half_life {
        Some(found) => match (found.days, found.at_least) {
            (Some(days), _) => Cell::number(format!("{} days", format::fixed(days, 0)), days),
            (None, Some(least)) => Cell::shown(format!("over {} days", format::fixed(least, 0))),
            (None, None) => Cell::unknown("no decline"),
        },
        None => Cell::unknown("unknown"),
    };
    if arms.iter().any(|arm| arm.half_life.is_some()) {
        table.column(
            Column::number("Half-life").keys(["half_life_days"]).rank(4),
            each(&half_life),
        );
    }
    if arms.iter().any(|arm| arm.sources.is_some()) {
        table.notes.push(
            "Items that flip neither always pass nor always fail. ICC is the share of the variance of single outcomes that items explain."
                .to_owned(),
        );
    }
    table
}

fn health(health: &ItemHealth) -> Table {
    let mut table = Table::of("items").titled(format!(
        "Items over {}",
        count_of(health.repeats, "repeats")
    ));
    let groups = |groups: &[Vec<String>]| {
        groups
            .iter()
            .map(|group| group.join(" = "))
            .collect::<Vec<String>>()
    };
    let rows: Vec<(&str, u64, String)> = [
        ("Always passed", health.always_passed.clone()),
        ("Never passed", health.never_passed.clone()),
        ("Passed by worse runs", health.against_the_rest.clone()),
        ("Same question twice", groups(&health.duplicated)),
        (
            "Same question, different answers",
            groups(&health.contradictory),
        ),
    ]
    .into_iter()
    .map(|(finding, names)| (finding, names.len() as u64, words::first_three(&names)))
    .collect();
    let is_read = |finding: &str| health.with_question > 0 || !finding.starts_with("Same");
    table.column(
        Column::words("Finding").keys(["finding"]),
        rows.iter().map(|row| Cell::words(row.0)),
    );
    let count = |row: &(&str, u64, String)| {
        if is_read(row.0) {
            Cell::count(row.1)
        } else {
            Cell::unknown("unknown")
        }
    };
    table.column(
        Column::number("Number").keys(["number"]),
        rows.iter().map(count),
    );
    table.column(
        Column::words("First").keys(["first"]),
        rows.iter().map(|row| Cell::words(row.2.as_str())),
    );
    table.notes.push(format!(
        "{} passed and failed at least once, and so can tell arms apart. Items that always or never pass have at least three outcomes.",
        count_of(health.live, "items")
    ));
    if health.against_by_chance > 0.0 {
        table.notes.push(format!(
            "By chance, {} would be passed by worse runs.",
            format::fixed(health.against_by_chance, 1)
        ));
    }
    if health.with_question == 0 {
        table
            .notes
            .push("The runs do not record their questions.".to_owned());
    }
    table
}

fn conditions(suite: &str, effects: &[ConditionEffect]) -> Table {
    let mut table = Table::of("conditions").titled("Runs of one arm under different conditions");
    let each =
        |cell: &dyn Fn(&ConditionEffect) -> Cell| effects.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::words("Arm").keys(["arm"]),
        each(&|effect| Cell::words(words::arm_name(suite, &effect.arm))),
    );
    let settings = |effect: &ConditionEffect| {
        let said: Vec<String> = effect
            .settings
            .iter()
            .map(|setting| format!("{}: {}, {}", setting.what, setting.first, setting.second))
            .collect();
        Cell::words(said.join("; "))
    };
    table.column(
        Column::words("Condition").keys(["condition"]),
        each(&settings),
    );
    let runs = |effect: &ConditionEffect| {
        let [first, second] = effect.runs;
        Cell::shown(format!(
            "{} and {}",
            format::integer(first),
            format::integer(second)
        ))
        .data([Datum::from(first), Datum::from(second)])
    };
    table.column(
        Column::number("Runs").keys(["first_runs", "second_runs"]),
        each(&runs),
    );
    let difference = |effect: &ConditionEffect| {
        let [low, high] = Datum::ends(Some(effect.interval));
        Cell::number(
            format::signed(100.0 * effect.difference, 1),
            effect.difference,
        )
        .between(Some(effect.interval), |end| format::signed(100.0 * end, 1))
        .data([Datum::from(effect.difference), low, high])
    };
    table.column(
        Column::number("Difference, pp").keys(["difference", "low", "high"]),
        each(&difference),
    );
    table.column(
        Column::number("Adjusted").keys(["p_adjusted"]),
        each(&|effect| Cell::number(p_value(Some(effect.p_adjusted)), effect.p_adjusted)),
    );
    table.column(
        Column::words("Effect").keys(["changes_rate"]),
        each(&|effect| {
            Cell::shown(if effect.changes_rate {
                "changes the rate"
            } else {
                "none beyond chance"
            })
            .data([Datum::from(effect.changes_rate)])
        }),
    );
    table.notes.push(
        "Second condition minus first, over items and runs. Runs differ in time as well, so a difference may have another cause."
            .to_owned(),
    );
    table
}
