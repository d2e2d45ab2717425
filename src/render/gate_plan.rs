//! A gate's chances of each result, simulated in advance, and its decision.

use crate::views::{
    Arm, Choice, DecideReport, Gap, GateOdds, HeldDecision, PlanBasis, PlanReport, PlannedGate,
    Ruling,
};

use super::cell::TableCell;
use super::table::{ColumnVisibility, ReportTable, TableColumn};
use super::{format, gate, looked_at, phrases, summary};

/// Lays out the chances of each result, one row per arm. `notes` come last.
pub fn odds_table(report: &PlanReport, against: Option<&str>, notes: &[String]) -> ReportTable {
    let title = against.map_or_else(String::new, |against| format!(" against {against}"));
    let mut table = ReportTable::new(format!("Odds of the gate{title}"));
    table.add_column(TableColumn::words("Suite").keys(["suite"]));
    let is_named = report
        .plans
        .iter()
        .any(|plan| plan.arm.display_name().is_some());
    let arms = TableColumn::words("Arm").keys(["approach", "model"]);
    table.add_column(if is_named {
        arms
    } else {
        arms.visible_in(ColumnVisibility::Data)
    });
    table.add_column(TableColumn::number("Items").keys(["items"]).rank(3));
    table.add_column(
        TableColumn::words("Runs")
            .keys(["head_runs", "baseline_runs"])
            .rank(1),
    );
    table.add_column(
        TableColumn::number("Passes if unchanged")
            .keys(["pass_if_unchanged"])
            .rank(2),
    );
    table.add_column(TableColumn::number("False alarm").keys(["false_alarm"]));
    for drop in report
        .drops
        .iter()
        .skip(1)
        .map(|drop| format::fixed_decimals(drop * 100.0, 0))
    {
        table.add_column(
            TableColumn::number(format!("Sees −{drop} pp")).keys([format!("sees_{drop}pp")]),
        );
    }
    for plan in &report.plans {
        let odds = |place: usize, share: fn(&GateOdds) -> f64| {
            plan.odds.get(place).map_or_else(
                || TableCell::unknown(""),
                |odds| TableCell::number(phrases::chance_percent(share(odds)), share(odds)),
            )
        };
        let runs = phrases::counts_each(plan.head_runs, plan.baseline_runs, "runs");
        let mut row = vec![
            TableCell::words(plan.suite.as_str()),
            TableCell::for_people(plan.arm.display_name().unwrap_or_default()).with_data([
                plan.arm.approach.as_str().into(),
                plan.arm.model.as_str().into(),
            ]),
            TableCell::count(plan.items),
            TableCell::for_people(runs)
                .with_data([plan.head_runs.into(), plan.baseline_runs.into()]),
            odds(0, |odds| odds.pass),
        ];
        row.extend((0..report.drops.len()).map(|place| odds(place, |odds| odds.regression)));
        table.add_row(row);
    }
    table.notes.push(
        "False alarm: regressions although nothing changed. Sees: regressions when the true pass rate fell by this amount.".to_owned(),
    );
    table.notes.extend(report.plans.iter().flat_map(plan_notes));
    table.notes.extend(
        report
            .plans
            .iter()
            .map(|plan| &plan.looked_at)
            .flat_map(looked_at::missing_and_error_lines),
    );
    table.notes.extend(gate::absent_arm_lines(&report.absent));
    table
        .notes
        .extend(gate::outdated_arm_lines(&report.outdated));
    table.notes.extend_from_slice(notes);
    table
}

/// Describes the simulation behind one arm's chances, and the rules that it leaves out.
fn plan_notes(plan: &PlannedGate) -> Vec<String> {
    let who = phrases::arm_on_suite(&plan.suite, &plan.arm);
    let basis = match plan.basis {
        PlanBasis::Baseline => "the items of the baseline",
        PlanBasis::Head => "the items of the newest runs (there is no baseline)",
    };
    let runs = if plan.run_deviation > 0.0 {
        format!(
            "; whole runs differ by {} pp more than their items explain",
            format::nonzero_decimals(plan.run_deviation * 100.0, 1)
        )
    } else {
        String::new()
    };
    let mut notes: Vec<String> = plan
        .gap
        .iter()
        .map(|gap| deciding_gap_note(gap, plan))
        .collect();
    notes.push(format!(
        "{who}: simulated {} times from {basis}{runs}.",
        format::format_integer(u64::from(plan.worlds))
    ));
    if !plan.left_out.is_empty() {
        let rules = if plan.left_out.len() == 1 {
            "1 rule".to_owned()
        } else {
            format!("{} rules", plan.left_out.len())
        };
        notes.push(format!(
            "{who}: {rules} without odds, not about the pass rate."
        ));
    }
    notes
}

/// Says that what is not there decides, whatever the true pass rate is.
fn deciding_gap_note(gap: &Gap, plan: &PlannedGate) -> String {
    let (is_regression, what) = match plan.best {
        Some(Ruling::Regression) => (true, "the gate is a regression"),
        Some(_) | None => (false, "the gate cannot pass"),
    };
    format!(
        "{}: whatever the true pass rate is, {what}. {}.",
        phrases::arm_on_suite(&plan.suite, &plan.arm),
        phrases::capitalize(&looked_at::gap_clause(gap, is_regression))
    )
}

/// Lays out the decisions about the new runs, one row per arm, with the reasons below. `notes` come last.
pub fn decisions_table(
    report: &DecideReport,
    against: Option<&str>,
    notes: &[String],
) -> ReportTable {
    let title = against.map_or_else(String::new, |against| format!(" against {against}"));
    let mut table = ReportTable::new(format!("Decision{title}: {}", choice_words(report.choice)));
    table.add_text_column("Decision", 0);
    table.add_text_column("Suite", 0);
    table.add_text_column("Head", 0);
    table.add_text_column("Baseline", 0);
    for one in &report.decisions {
        let named = |arm: &Arm| arm.display_name().unwrap_or_else(|| one.suite.clone());
        let against = one
            .against
            .as_ref()
            .map_or_else(|| "none".to_owned(), named);
        table.add_row([
            choice_words(one.choice).to_owned(),
            one.suite.clone(),
            named(&one.arm),
            against,
        ]);
    }
    table.notes.extend(
        report
            .decisions
            .iter()
            .map(|one| format!("{}: {}", one.suite, decision_sentence(one))),
    );
    table
        .notes
        .extend(report.looked_at.iter().map(looked_at::summary_line));
    table.notes.extend(
        report
            .looked_at
            .iter()
            .flat_map(looked_at::missing_and_error_lines),
    );
    table
        .notes
        .extend(gate::outdated_arm_lines(&report.outdated));
    table.notes.extend_from_slice(notes);
    table
}

fn choice_words(choice: Choice) -> &'static str {
    match choice {
        Choice::Ship => "ship the head",
        Choice::ChooseByPrice => "choose by price",
        Choice::Measure => "measure more",
        Choice::CannotSettle => "cannot be settled",
        Choice::Incomplete => "not decided",
        Choice::Keep => "keep the baseline",
    }
}

/// Describes the decision about one arm.
pub fn decision_sentence(one: &HeldDecision) -> String {
    if let Some(gap) = one
        .gap
        .as_ref()
        .filter(|_| one.choice == Choice::Incomplete)
    {
        return format!(
            "Decision: not decided, because the new runs are incomplete. {}.",
            phrases::capitalize(&looked_at::gap_clause(gap, false))
        );
    }
    let names = [
        one.arm.display_name().unwrap_or_else(|| one.suite.clone()),
        "the baseline".to_owned(),
    ];
    let table = one.comparison.as_ref();
    let said = table.and_then(|table| summary::decision_beside(table, &names, Some(1)));
    said.unwrap_or_else(|| {
        format!(
            "Decision: cannot be settled ({} has no baseline).",
            names[0]
        )
    })
}
