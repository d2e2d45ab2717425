//! The noise ledger as tables and sentences.

use crate::domain::{Unit, score_label};
use crate::views::{
    ArmNoise, ConditionEffect, DetectableByRuns, Interval, ItemHealth, JudgeBasis, JudgeNoise,
    NoiseLedger, Sources,
};

use super::cell::{Datum, TableCell};
use super::format;
use super::phrases::{self, arm_labels, count_with_noun};
use super::table::{ReportTable, TableColumn};
use super::verdicts::p_value;

/// Lays out what pages of the site show: they list the items elsewhere.
pub(super) fn page_tables(ledger: &NoiseLedger) -> Vec<ReportTable> {
    let mut all = vec![
        sources_table(ledger, "Noise"),
        differences_table(ledger),
        arms_table(ledger),
    ];
    all.extend(
        (!ledger.conditions.is_empty())
            .then(|| conditions_table(&ledger.suite, &ledger.conditions)),
    );
    all
}

/// Lays out a ledger: the sources of noise, the differences that runs can show, the arms, the items, and the recorded conditions.
pub fn ledger_tables(ledger: &NoiseLedger) -> Vec<ReportTable> {
    let name = ledger
        .suite_version
        .as_ref()
        .map_or_else(String::new, |version| {
            format!(", version {}", phrases::short_version(version))
        });
    let name = format!("{}{name}", ledger.suite);
    let mut sources = sources_table(ledger, &name);
    sources.lead = vec![conclusion(ledger)];
    let (differences, arms) = (differences_table(ledger), arms_table(ledger));
    let mut all = Vec::new();
    if ledger.pooled.is_some() {
        all.extend([sources, differences, arms]);
    } else {
        // Tables of unknown figures say nothing: the sentence and its notes do.
        all.push(ReportTable {
            lead: sources.lead.into_iter().chain(sources.notes).collect(),
            ..ReportTable::default()
        });
        all.extend((ledger.single_runs.same_items.is_some()).then_some(differences));
    }
    all.push(health_table(&ledger.health));
    all.extend(
        (!ledger.conditions.is_empty())
            .then(|| conditions_table(&ledger.suite, &ledger.conditions)),
    );
    all
}

/// Says how much a run's pass rate varies, and what two runs of one arm differ by.
fn conclusion(ledger: &NoiseLedger) -> String {
    let Some(pooled) = ledger.pooled else {
        return format!(
            "{}: the noise of a run is unknown, because no arm has two runs.",
            ledger.suite
        );
    };
    let by_chance = ledger
        .single_runs
        .by_chance
        .map_or_else(String::new, |share| {
            format!(
                "; two runs of one arm differ by more than {} pp in 1 of 20 cases",
                percentage_points(share)
            )
        });
    format!(
        "{}: one run's pass rate has a standard error of {} pp{by_chance}.",
        ledger.suite,
        percentage_points(pooled.total)
    )
}

fn percentage_points(share: f64) -> String {
    format::fixed_decimals(100.0 * share, 1)
}

fn sources_table(ledger: &NoiseLedger, name: &str) -> ReportTable {
    let size = format!(
        "{} {}",
        format::format_integer(ledger.items),
        phrases::singular_or_plural(ledger.items, ledger.items_of)
    );
    let mut table = ReportTable::for_rows("noise")
        .with_title(format!("{name}: noise of one run's pass rate ({size})"));
    let mut rows: Vec<[TableCell; 3]> = Vec::new();
    let repeats: u64 = ledger
        .arms
        .iter()
        .filter(|arm| arm.sources.is_some())
        .map(|arm| arm.repeats)
        .sum();
    let basis = format!(
        "{} of {}",
        count_with_noun(repeats, "repeats"),
        count_with_noun(ledger.repeated_arms, "arms")
    );
    let none = "no arm has two runs".to_owned();
    let mut add = |source: &str, error: TableCell, basis: String| {
        rows.push([TableCell::words(source), error, TableCell::words(basis)]);
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
    add(
        "Answers: the same items once more",
        points_cell(answers, None),
        on_answers,
    );
    let (shared, on_shared) = known(ledger.pooled.map(|pooled| pooled.shared));
    let limits = ledger.pooled.map(|pooled| pooled.shared_limits);
    let what = if ledger.unit.is_over_items() {
        "Shared by all items of a run: machine, service, retries".to_owned()
    } else {
        format!(
            "Shared by all {} of a run: the artefact, machine, service",
            ledger.items_of
        )
    };
    add(&what, points_cell(shared, limits), on_shared);
    let (choice, on_choice) = match ledger.pooled {
        Some(pooled) if pooled.choice.is_none() => (
            None,
            format!("{} of one artefact are no sample", ledger.items_of),
        ),
        pooled => known(pooled.and_then(|pooled| pooled.choice)),
    };
    add("Choice of items", points_cell(choice, None), on_choice);
    let (total, on_total) = known(ledger.pooled.map(|pooled| pooled.total));
    add("All together", points_cell(total, None), on_total);
    for judge in ledger.judges.iter().filter(|judge| judge.metric.is_none()) {
        add(
            "Judge: one of several evaluators",
            points_cell(Some(judge.deviation), None),
            format!("{} with several", count_with_noun(judge.judged, "outcomes")),
        );
    }
    let [source, error, basis]: [Vec<TableCell>; 3] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].clone()).collect());
    table.add_filled_column(TableColumn::words("Source").keys(["source"]), source);
    table.add_filled_column(
        TableColumn::number("Standard error, pp [95% CI]").keys([
            "standard_error_pp",
            "low_pp",
            "high_pp",
        ]),
        error,
    );
    table.add_filled_column(
        TableColumn::words("Measured on").keys(["measured_on"]),
        basis,
    );
    table.notes = ledger
        .pooled
        .and_then(shared_limit_note)
        .into_iter()
        .collect();
    table
        .notes
        .extend(ledger.judges.iter().filter_map(judge_noise_note));
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

/// Returns a share in percentage points, with its limits.
fn points_cell(share: Option<f64>, limits: Option<Interval>) -> TableCell {
    let Some(share) = share else {
        return TableCell::unknown("unknown");
    };
    let limits = limits.map(|ends| [ends.low, ends.high].map(|end| 100.0 * end));
    let shown = |end: f64| format::fixed_decimals(end, 1);
    let ends = limits.and_then(|[low, high]| Interval::new(low, high));
    let [low, high] = Datum::interval_ends(ends);
    TableCell::number(percentage_points(share), 100.0 * share)
        .with_interval(ends, shown)
        .with_data([Datum::from(100.0 * share), low, high])
}

/// Says that what a run shares may be large, if the repeats do not show that it is there.
fn shared_limit_note(pooled: Sources) -> Option<String> {
    let Interval { low, high } = pooled.shared_limits;
    (low <= 0.0 && high > 0.0).then(|| {
        format!(
            "These repeats do not show that runs share anything; it may be up to {} pp (95% interval). More runs narrow it.",
            percentage_points(high)
        )
    })
}

fn judge_noise_note(judge: &JudgeNoise) -> Option<String> {
    let metric = judge.metric.as_deref()?;
    let deviation = match judge.unit? {
        Unit::Fraction => format!("{} pp", percentage_points(judge.deviation)),
        unit => format!(
            "{} {}",
            format::unscaled_number(judge.deviation),
            phrases::unit_header(unit)
        ),
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
        count_with_noun(judge.judged, "runs")
    ))
}

fn differences_table(ledger: &NoiseLedger) -> ReportTable {
    let mut table = ReportTable::for_rows("differences")
        .with_title("Differences of pass rates that runs can show");
    let single = &ledger.single_runs;
    let no_repeats = || "no arm has two runs".to_owned();
    let by_chance = single.by_chance.map_or_else(no_repeats, |_| {
        format!("mean of {}", count_with_noun(ledger.repeated_arms, "arms"))
    });
    let mut rows = vec![(
        "Two runs of one arm differ by more in 1 of 20 cases".to_owned(),
        single.by_chance,
        by_chance,
    )];
    rows.extend(if ledger.unit.is_over_items() {
        detectable_rows(ledger)
    } else {
        detectable_by_runs(ledger)
    });
    table.add_filled_column(
        TableColumn::words("Question").keys(["question"]),
        rows.iter().map(|row| TableCell::words(row.0.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Difference, pp").keys(["difference_pp", "low_pp", "high_pp"]),
        rows.iter()
            .enumerate()
            .map(|(place, row)| points_cell(row.1, single.by_chance_limits.filter(|_| place == 0))),
    );
    table.add_filled_column(
        TableColumn::words("Measured on").keys(["measured_on"]),
        rows.iter().map(|row| TableCell::words(row.2.as_str())),
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
type DetectableRow = (String, Option<f64>, String);

fn detectable_rows(ledger: &NoiseLedger) -> Vec<DetectableRow> {
    let single = &ledger.single_runs;
    let median = format!("median of {}", count_with_noun(single.pairs, "pairs"));
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
        let measured_on = match share {
            None => reason.to_owned(),
            Some(share) if share > 1.0 => "not even a difference of 100 pp".to_owned(),
            Some(_) => median.clone(),
        };
        (
            format!("Smallest detectable: {design}"),
            share.filter(|share| *share <= 1.0),
            measured_on,
        )
    })
    .collect()
}

fn detectable_by_runs(ledger: &NoiseLedger) -> Vec<DetectableRow> {
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
    let median = format!("median of {}", count_with_noun(single.pairs, "pairs"));
    let row = |found: &DetectableByRuns| {
        (
            format!(
                "Smallest detectable: {} per arm",
                count_with_noun(found.runs, "runs")
            ),
            Some(found.difference),
            median.clone(),
        )
    };
    single.by_runs.iter().map(row).collect()
}

fn arms_table(ledger: &NoiseLedger) -> ReportTable {
    let mut table = ReportTable::for_rows("arms")
        .with_title("Arms: standard errors of one run in pp, and how outcomes vary");
    let arms = &ledger.arms;
    let labels = arm_labels(
        &ledger.suite,
        &arms.iter().map(|arm| arm.arm.clone()).collect::<Vec<_>>(),
    );
    let each =
        |cell: &dyn Fn(&ArmNoise) -> TableCell| arms.iter().map(cell).collect::<Vec<TableCell>>();
    let error = |value: Option<f64>| {
        TableCell::number_or_unknown(value.map(|share| 100.0 * share), |value| {
            format::fixed_decimals(value, 1)
        })
    };
    let share = |value: Option<f64>, n: u64| {
        TableCell::number_or_unknown(value.map(|share| 100.0 * share), |value| {
            format::percent(value / 100.0, n)
        })
    };
    table.add_filled_column(
        TableColumn::words("Arm").keys(["arm"]),
        labels.into_iter().map(TableCell::words),
    );
    table.add_filled_column(
        TableColumn::number("Repeats").keys(["repeats"]),
        each(&|arm| TableCell::count(arm.repeats)),
    );
    table.add_filled_column(
        TableColumn::number("Pass rate").keys(["pass_rate_percent"]),
        each(&|arm| share(Some(arm.pass_rate), arm.items)),
    );
    table.add_filled_column(
        TableColumn::number("Answers").keys(["answers_pp"]),
        each(&|arm| error(arm.sources.map(|sources| sources.answers))),
    );
    table.add_filled_column(
        TableColumn::number("Shared").keys(["shared_pp", "shared_low_pp", "shared_high_pp"]),
        each(&|arm| {
            let mut cell = points_cell(
                arm.sources.map(|sources| sources.shared),
                arm.sources.map(|sources| sources.shared_limits),
            );
            // The limits of all arms together stand above, and those of one arm say little.
            cell.ends = None;
            cell
        }),
    );
    let choice = |arm: &ArmNoise| match arm.sources {
        Some(sources) if sources.choice.is_none() => TableCell::unknown("n/a"),
        sources => error(sources.and_then(|sources| sources.choice)),
    };
    table.add_filled_column(
        TableColumn::number("Items").keys(["choice_pp"]),
        each(&choice),
    );
    table.add_filled_column(
        TableColumn::number("Items that flip").keys(["flips_percent"]),
        each(&|arm| share(arm.flips, arm.repeated_items)),
    );
    table.add_filled_column(
        TableColumn::number("Outcome changes")
            .keys(["changes_percent"])
            .rank(2),
        each(&|arm| share(arm.changes, arm.repeated_items)),
    );
    table.add_filled_column(
        TableColumn::number("ICC").keys(["icc"]).rank(1),
        each(&|arm| TableCell::number_or_unknown(arm.icc, |icc| format::fixed_decimals(icc, 3))),
    );
    let all_pass = |arm: &ArmNoise| match arm.reliability.last() {
        Some(last) => TableCell::for_people(format!(
            "{} (k = {})",
            format::percent(last.all_pass, arm.items),
            last.k
        ))
        .with_data([Datum::from(100.0 * last.all_pass), Datum::from(last.k)]),
        None => TableCell::unknown("unknown"),
    };
    table.add_filled_column(
        TableColumn::number("pass^k")
            .keys(["all_pass_percent", "k"])
            .rank(3),
        each(&all_pass),
    );
    let half_life = |arm: &ArmNoise| match &arm.half_life {
        Some(found) => match (found.days, found.at_least) {
            (Some(days), _) => {
                TableCell::number(format!("{} days", format::fixed_decimals(days, 0)), days)
            }
            (None, Some(least)) => {
                TableCell::for_people(format!("over {} days", format::fixed_decimals(least, 0)))
            }
            (None, None) => TableCell::unknown("no decline"),
        },
        None => TableCell::unknown("unknown"),
    };
    if arms.iter().any(|arm| arm.half_life.is_some()) {
        table.add_filled_column(
            TableColumn::number("Half-life")
                .keys(["half_life_days"])
                .rank(4),
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

fn health_table(health: &ItemHealth) -> ReportTable {
    let mut table = ReportTable::for_rows("items").with_title(format!(
        "Items over {}",
        count_with_noun(health.repeats, "repeats")
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
    .map(|(finding, names)| (finding, names.len() as u64, phrases::first_three(&names)))
    .collect();
    let is_read = |finding: &str| health.with_question > 0 || !finding.starts_with("Same");
    table.add_filled_column(
        TableColumn::words("Finding").keys(["finding"]),
        rows.iter().map(|row| TableCell::words(row.0)),
    );
    let count = |row: &(&str, u64, String)| {
        if is_read(row.0) {
            TableCell::count(row.1)
        } else {
            TableCell::unknown("unknown")
        }
    };
    table.add_filled_column(
        TableColumn::number("Number").keys(["number"]),
        rows.iter().map(count),
    );
    table.add_filled_column(
        TableColumn::words("First").keys(["first"]),
        rows.iter().map(|row| TableCell::words(row.2.as_str())),
    );
    table.notes.push(format!(
        "{} passed and failed at least once, and so can tell arms apart. Items that always or never pass have at least three outcomes.",
        count_with_noun(health.live, "items")
    ));
    if health.against_by_chance > 0.0 {
        table.notes.push(format!(
            "By chance, {} would be passed by worse runs.",
            format::fixed_decimals(health.against_by_chance, 1)
        ));
    }
    if health.with_question == 0 {
        table
            .notes
            .push("The runs do not record their questions.".to_owned());
    }
    table
}

fn conditions_table(suite: &str, effects: &[ConditionEffect]) -> ReportTable {
    let mut table = ReportTable::for_rows("conditions")
        .with_title("Runs of one arm under different conditions");
    let each = |cell: &dyn Fn(&ConditionEffect) -> TableCell| {
        effects.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Arm").keys(["arm"]),
        each(&|effect| TableCell::words(phrases::arm_name(suite, &effect.arm))),
    );
    let settings = |effect: &ConditionEffect| {
        let said: Vec<String> = effect
            .settings
            .iter()
            .map(|setting| format!("{}: {}, {}", setting.what, setting.first, setting.second))
            .collect();
        TableCell::words(said.join("; "))
    };
    table.add_filled_column(
        TableColumn::words("Condition").keys(["condition"]),
        each(&settings),
    );
    let runs = |effect: &ConditionEffect| {
        let [first, second] = effect.runs;
        TableCell::for_people(format!(
            "{} and {}",
            format::format_integer(first),
            format::format_integer(second)
        ))
        .with_data([Datum::from(first), Datum::from(second)])
    };
    table.add_filled_column(
        TableColumn::number("Runs").keys(["first_runs", "second_runs"]),
        each(&runs),
    );
    let difference = |effect: &ConditionEffect| {
        let [low, high] = Datum::interval_ends(Some(effect.interval));
        TableCell::number(
            format::signed_number(100.0 * effect.difference, 1),
            effect.difference,
        )
        .with_interval(Some(effect.interval), |end| {
            format::signed_number(100.0 * end, 1)
        })
        .with_data([Datum::from(effect.difference), low, high])
    };
    table.add_filled_column(
        TableColumn::number("Difference, pp").keys(["difference", "low", "high"]),
        each(&difference),
    );
    table.add_filled_column(
        TableColumn::number("Adjusted").keys(["p_adjusted"]),
        each(&|effect| TableCell::number(p_value(Some(effect.p_adjusted)), effect.p_adjusted)),
    );
    table.add_filled_column(
        TableColumn::words("Effect").keys(["changes_rate"]),
        each(&|effect| {
            TableCell::for_people(if effect.changes_rate {
                "changes the rate"
            } else {
                "none beyond chance"
            })
            .with_data([Datum::from(effect.changes_rate)])
        }),
    );
    table.notes.push(
        "Second condition minus first, over items and runs. Runs differ in time as well, so a difference may have another cause."
            .to_owned(),
    );
    table
}
