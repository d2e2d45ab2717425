//! The numbers of the page of criteria, for programs and spreadsheets.

use serde::Serialize;

use crate::render::judged;
use crate::render::table::ReportTable;
use crate::views::{Arm, CriteriaTable, CriterionCell, CriterionRow, CriterionVerdict, Estimate};

use super::suite_tabs::SuitePageInputs;
use super::{SiteFile, data};

/// One criterion according to one judge.
#[derive(Serialize)]
struct CriterionAnswer<'a> {
    criterion: &'a str,
    evaluator: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<&'a str>,
    arms: Vec<ArmOnCriterion<'a>>,
}

#[derive(Serialize)]
struct ArmOnCriterion<'a> {
    #[serde(flatten)]
    arm: &'a Arm,
    passed: u64,
    total: u64,
    missing: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<&'a Estimate>,
    verdicts: &'a [CriterionVerdict],
}

/// A suite's criteria.
#[derive(Serialize)]
struct CriteriaAnswer<'a> {
    suite: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<&'a str>,
    criteria: Vec<CriterionAnswer<'a>>,
}

/// Makes the data of one suite's criteria by arm.
pub(super) fn criteria_files(
    SuitePageInputs { suite, place, .. }: SuitePageInputs<'_>,
) -> Vec<SiteFile> {
    if suite.criteria.is_empty() {
        return Vec::new();
    }
    let criteria = suite
        .criteria
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| criterion_answer(table, row)))
        .collect();
    let answer = CriteriaAnswer {
        suite: &suite.board.suite,
        suite_version: suite.board.suite_version.as_deref(),
        criteria,
    };
    let shown: Vec<ReportTable> = suite
        .criteria
        .iter()
        .map(|table| judged::criteria_by_arm(&suite.board, table))
        .collect();
    let stem = place.data_stem("criteria");
    data::answer_files(&stem, "criteria", answer, &shown)
}

fn criterion_answer<'a>(table: &'a CriteriaTable, row: &'a CriterionRow) -> CriterionAnswer<'a> {
    let arm = |(arm, cell): (&'a Arm, &'a CriterionCell)| ArmOnCriterion {
        arm,
        passed: cell.passed,
        total: cell.total,
        missing: cell.missing,
        rate: cell.rate.as_ref(),
        verdicts: &cell.verdicts,
    };
    CriterionAnswer {
        criterion: &row.criterion,
        evaluator: &table.evaluator,
        judge: table.judge.as_deref(),
        arms: table.arms.iter().zip(&row.cells).map(arm).collect(),
    }
}
