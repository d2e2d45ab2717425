//! A suite's judged criteria: how often each arm met them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{
    Evaluator, ItemKind, ItemOutcome, ItemStatus, Redacted, RunId, RunStatus, shorten_to,
};
use crate::inference::{Arm, Estimate, SuiteGroup, evaluators_of, rate_over_runs};
use crate::warehouse::{RunRow, SqlError, Warehouse};

use super::run::{ItemPage, RunPage, is_criterion};
use super::short_text::cut_text;

/// Maximum number of reasons kept per criterion and arm.
const MAX_REASONS: usize = 3;
/// Maximum number of single verdicts kept per criterion and arm; then maximum characters of their reasons.
const MAX_VERDICTS: usize = 40;
const MAX_OF_A_VERDICT: usize = 600;
/// Maximum bytes of verdict reasons kept per suite. A store may hold far more than pages can show.
const MAX_BYTES: usize = 32 << 20;

/// How often each arm met each criterion of a suite, according to one judge.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CriteriaTable {
    /// The evaluator: `requirementFulfillment`, `rubric`, …
    pub evaluator: String,
    /// The judge behind the evaluator. Another judge or prompt has a table of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    pub arms: Vec<Arm>,
    /// By criterion.
    pub rows: Vec<CriterionRow>,
}

/// A criterion and its evaluator. Known before any run is read, so that every page can link to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CriterionKey {
    pub criterion: String,
    pub evaluator: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CriterionRow {
    pub criterion: String,
    /// One for each arm.
    pub cells: Vec<CriterionCell>,
}

/// One criterion and one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CriterionCell {
    pub passed: u64,
    /// Outcomes that count: passed or not.
    pub total: u64,
    /// Outcomes without a decision.
    pub missing: u64,
    /// Why it was not met or not decided: some distinct reasons, in the order of the runs.
    pub reasons: Vec<String>,
    /// Why it was met: the first reason given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<String>,
    /// How often it was met, over the arm's runs. Absent if nothing was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Estimate>,
    /// Single verdicts by run, within the size limit. They are shown in a file of their own.
    #[serde(skip)]
    pub verdicts: Vec<CriterionVerdict>,
}

/// The verdict on one criterion in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriterionVerdict {
    pub run: String,
    pub attempt: u32,
    /// How often the criterion was judged again.
    pub revision: u32,
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CriterionCell {
    /// Returns whether the arm meets the criterion, in more than half of its outcomes. `None` if nothing was decided.
    pub fn is_met(&self) -> Option<bool> {
        (self.total > 0).then(|| 2 * self.passed > self.total)
    }

    /// Returns whether any of the arm's runs has an outcome of the criterion, decided or not.
    pub fn is_asked(&self) -> bool {
        self.total > 0 || self.missing > 0
    }
}

type CountsByCriterion = BTreeMap<String, BTreeMap<Arm, CriterionCounts>>;

/// Counts of one criterion and one arm, while runs are added.
#[derive(Clone, Debug, Default)]
struct CriterionCounts {
    cell: CriterionCell,
    /// Passed and counted outcomes of each run.
    by_run: Vec<(u64, u64)>,
}

/// Counts the criteria of a suite's runs, one run at a time.
#[derive(Clone, Debug, Default)]
pub struct CriteriaTally {
    /// By evaluator and judge, then criterion, then arm.
    tables: BTreeMap<(String, Option<String>), CountsByCriterion>,
    /// Bytes of the reasons kept.
    bytes: usize,
}

impl CriteriaTally {
    /// Counts the criteria among the outcomes of one run, if the run counts for its arm.
    pub fn add_run(&mut self, page: &Redacted<RunPage>, items: &Redacted<Vec<ItemPage>>) {
        if !RunStatus::from_name(&page.line.status).is_some_and(RunStatus::is_counted) {
            return;
        }
        let mut of_run = BTreeMap::<(&str, &str), (u64, u64)>::new();
        for row in items
            .iter()
            .flat_map(|page| &page.rows)
            .chain(&page.criteria)
            .filter(|row| is_criterion(row))
        {
            let Some(status) = ItemStatus::from_name(&row.status) else {
                continue;
            };
            let passed = u64::from(status == ItemStatus::Pass);
            let counted = of_run
                .entry((row.evaluator.as_str(), row.item.as_str()))
                .or_default();
            *counted = (
                counted.0 + passed,
                counted.1 + u64::from(status.is_counted()),
            );
            let cell =
                &mut counts_of_criterion(&mut self.tables, page, &row.evaluator, &row.item).cell;
            cell.passed += passed;
            cell.total += u64::from(status.is_counted());
            cell.missing += u64::from(status.is_missing());
            if status == ItemStatus::Pass && cell.met.is_none() {
                cell.met = row.reason.as_deref().map(cut_text);
            }
            if let Some(reason) = row
                .reason
                .as_deref()
                .filter(|_| status != ItemStatus::Pass)
                .map(cut_text)
                && cell.reasons.len() < MAX_REASONS
                && !cell.reasons.contains(&reason)
            {
                cell.reasons.push(reason);
            }
            if cell.verdicts.len() < MAX_VERDICTS {
                let reason = row
                    .reason
                    .as_deref()
                    .map(|reason| shorten_to(reason, MAX_OF_A_VERDICT));
                let reason = reason.filter(|reason| self.bytes + reason.len() <= MAX_BYTES);
                self.bytes += reason.as_ref().map_or(0, String::len);
                let (run, status) = (page.line.id.clone(), row.status.clone());
                cell.verdicts.push(CriterionVerdict {
                    run,
                    attempt: row.attempt,
                    revision: row.revision,
                    status,
                    reason,
                });
            }
        }
        for ((evaluator, criterion), counted) in of_run {
            counts_of_criterion(&mut self.tables, page, evaluator, criterion)
                .by_run
                .push(counted);
        }
    }

    /// Returns the tables. Tables of one evaluator are adjacent.
    pub fn into_tables(self) -> Vec<CriteriaTable> {
        let table = |((evaluator, judge), rows): ((String, Option<String>), CountsByCriterion)| {
            let arms: BTreeSet<Arm> = rows.values().flat_map(BTreeMap::keys).cloned().collect();
            let cell = |counted: CriterionCounts| CriterionCell {
                rate: rate_over_runs(&counted.by_run),
                ..counted.cell
            };
            let row =
                |(criterion, mut cells): (String, BTreeMap<Arm, CriterionCounts>)| CriterionRow {
                    criterion,
                    cells: arms
                        .iter()
                        .map(|arm| cells.remove(arm).map(cell).unwrap_or_default())
                        .collect(),
                };
            CriteriaTable {
                evaluator,
                judge,
                rows: rows.into_iter().map(row).collect(),
                arms: arms.iter().cloned().collect(),
            }
        };
        self.tables.into_iter().map(table).collect()
    }
}

/// Returns the counts of a run's arm at one criterion.
fn counts_of_criterion<'t>(
    tables: &'t mut BTreeMap<(String, Option<String>), CountsByCriterion>,
    page: &RunPage,
    evaluator: &str,
    criterion: &str,
) -> &'t mut CriterionCounts {
    let table = tables
        .entry((evaluator.to_owned(), page.judge_by_evaluator(evaluator)))
        .or_default();
    table
        .entry(criterion.to_owned())
        .or_default()
        .entry(page.line.arm.clone())
        .or_default()
}

/// Replaces the name of an unknown judge beside a known one.
const UNNAMED_JUDGE: &str = "a judge without a name";

/// Judged outcomes of two arms on shared criteria. An arm meets a criterion if more than half of its runs do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriterionFlips {
    /// The judges of the runs, as far as they are known. With more than one there is no comparison: another judge is another measure.
    pub judges: Vec<String>,
    pub shared: u64,
    pub both_met: u64,
    pub neither: u64,
    /// Criteria that only the first arm meets, sorted.
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
}

/// Compares two arms by criterion. Returns `None` for any other number of arms, or if an arm has no judged run.
pub fn criterion_flips(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
) -> Result<Option<CriterionFlips>, SqlError> {
    let metric = Evaluator::RequirementFulfillment.name();
    let [first, second] = group.arms.as_slice() else {
        return Ok(None);
    };
    let is_judged = |row: &&&RunRow| row.run.scores.iter().any(|score| score.metric == metric);
    let sides = [first, second].map(|arm| {
        arm.counted
            .iter()
            .filter(is_judged)
            .copied()
            .collect::<Vec<&RunRow>>()
    });
    if sides.iter().any(Vec::is_empty) {
        return Ok(None);
    }
    let judges: BTreeSet<&str> = sides
        .iter()
        .flat_map(|rows| evaluators_of(rows, metric))
        .collect();
    let flips = CriterionFlips {
        judges: judges.iter().map(|judge| (*judge).to_owned()).collect(),
        ..CriterionFlips::default()
    };
    if judges.len() > 1 {
        return Ok(Some(flips));
    }
    let firsts: BTreeSet<&RunId> = sides[0].iter().map(|row| &row.run.id).collect();
    let ids: Vec<&RunId> = sides.iter().flatten().map(|row| &row.run.id).collect();
    let mut counted = BTreeMap::<String, [CriterionCell; 2]>::new();
    let outcomes = warehouse.read_outcomes(&ids)?;
    let is_criterion =
        |outcome: &&ItemOutcome| outcome.kind == ItemKind::Criterion && outcome.evaluator == metric;
    for outcome in outcomes
        .iter()
        .filter(is_criterion)
        .filter(|outcome| outcome.status.is_counted())
    {
        let arm = usize::from(!firsts.contains(&outcome.run));
        let cell = &mut counted.entry(outcome.item.clone()).or_default()[arm];
        cell.passed += u64::from(outcome.status == ItemStatus::Pass);
        cell.total += 1;
    }
    Ok(flips.with_criteria(counted))
}

/// Compares two arms by criterion, from a suite's tables. Returns `None` if a judge decided about only one of the arms.
pub(super) fn criterion_flips_between(
    tables: &[CriteriaTable],
    one: &Arm,
    other: &Arm,
) -> Option<CriterionFlips> {
    let metric = Evaluator::RequirementFulfillment.name();
    let tables: Vec<&CriteriaTable> = tables
        .iter()
        .filter(|table| table.evaluator == metric)
        .collect();
    let of = |arm: &Arm| -> Vec<&CriteriaTable> {
        tables
            .iter()
            .copied()
            .filter(|table| table.arms.contains(arm))
            .collect()
    };
    let sides = [of(one), of(other)];
    if sides.iter().any(Vec::is_empty) {
        return None;
    }
    // Runs of other tools may not name their judge. If no judge is named for either arm, they count as the same judge.
    let judges: BTreeSet<Option<&str>> = sides
        .iter()
        .flatten()
        .map(|table| table.judge.as_deref())
        .collect();
    let is_one = judges.len() == 1;
    let named = judges
        .iter()
        .filter(|judge| !is_one || judge.is_some())
        .map(|judge| judge.unwrap_or(UNNAMED_JUDGE).to_owned());
    let flips = CriterionFlips {
        judges: named.collect(),
        ..CriterionFlips::default()
    };
    let [table] = sides[0].as_slice() else {
        return Some(flips);
    };
    if judges.len() > 1 {
        return Some(flips);
    }
    let cell =
        |row: &CriterionRow, arm: &Arm| row.cell_for_arm(table, arm).cloned().unwrap_or_default();
    flips.with_criteria(table.rows.iter().map(|row| {
        (
            row.criterion.clone(),
            [one, other].map(|arm| cell(row, arm)),
        )
    }))
}

impl CriterionRow {
    /// Returns a table's cell of an arm.
    pub fn cell_for_arm(&self, table: &CriteriaTable, arm: &Arm) -> Option<&CriterionCell> {
        self.cells
            .get(table.arms.iter().position(|known| known == arm)?)
    }
}

impl CriterionFlips {
    /// Adds criteria with both arms' counts. Returns `None` if no criterion was decided for both.
    fn with_criteria(
        mut self,
        counted: impl IntoIterator<Item = (String, [CriterionCell; 2])>,
    ) -> Option<Self> {
        for (criterion, arms) in counted {
            let [Some(one), Some(other)] = arms.each_ref().map(CriterionCell::is_met) else {
                continue;
            };
            self.shared += 1;
            match (one, other) {
                (true, true) => self.both_met += 1,
                (false, false) => self.neither += 1,
                (true, false) => self.only_first.push(criterion),
                (false, true) => self.only_second.push(criterion),
            }
        }
        (self.shared > 0).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_arms_are_laid_side_by_side_by_one_judge() {
        let arm = |name: &str| Arm {
            approach: name.to_owned(),
            model: "m".to_owned(),
        };
        let cell = |passed, total, reason: &str| CriterionCell {
            passed,
            total,
            reasons: vec![reason.to_owned()],
            ..CriterionCell::default()
        };
        let row = |criterion: &str, cells: [CriterionCell; 3]| CriterionRow {
            criterion: criterion.to_owned(),
            cells: cells.to_vec(),
        };
        let table = CriteriaTable {
            evaluator: "requirementFulfillment".to_owned(),
            judge: Some("j #1".to_owned()),
            arms: vec![arm("a"), arm("b"), arm("c")],
            rows: vec![
                row(
                    "adds",
                    [
                        cell(2, 3, "once not"),
                        cell(1, 2, "half is too little"),
                        cell(0, 1, ""),
                    ],
                ),
                row("lists", [cell(0, 1, ""), cell(1, 1, ""), cell(1, 1, "")]),
                row("saves", [cell(1, 1, ""), cell(1, 1, ""), cell(1, 1, "")]),
                row(
                    "undecided",
                    [cell(1, 1, ""), CriterionCell::default(), cell(0, 1, "")],
                ),
            ],
        };
        let tables = [table];
        let pair =
            criterion_flips_between(&tables, &arm("a"), &arm("b")).expect("they share three");
        assert_eq!(
            (
                pair.shared,
                pair.both_met,
                pair.neither,
                pair.judges.as_slice()
            ),
            (3, 1, 0, ["j #1".to_owned()].as_slice())
        );
        assert_eq!(
            (pair.only_first.as_slice(), pair.only_second.as_slice()),
            (
                ["adds".to_owned()].as_slice(),
                ["lists".to_owned()].as_slice()
            )
        );
        let turned =
            criterion_flips_between(&tables, &arm("b"), &arm("a")).expect("they share three");
        assert_eq!(
            (turned.only_first, turned.only_second),
            (pair.only_second, pair.only_first)
        );
        assert_eq!(criterion_flips_between(&tables, &arm("a"), &arm("d")), None);
        // Runs of another tool, without a named judge.
        let [table] = tables;
        let unnamed = CriteriaTable {
            judge: None,
            ..table.clone()
        };
        let pair =
            criterion_flips_between(&[unnamed], &arm("a"), &arm("b")).expect("they share three");
        assert_eq!((pair.shared, pair.judges.len()), (3, 0));
        let of = |arms: &[Arm], judge: Option<&str>| CriteriaTable {
            judge: judge.map(str::to_owned),
            arms: arms.to_vec(),
            ..table.clone()
        };
        let mixed = [of(&[arm("a")], None), of(&[arm("b")], Some("j #1"))];
        let pair = criterion_flips_between(&mixed, &arm("a"), &arm("b")).expect("both are judged");
        assert_eq!(
            (pair.shared, pair.judges.join(", ")),
            (0, format!("{UNNAMED_JUDGE}, j #1"))
        );
    }
}
