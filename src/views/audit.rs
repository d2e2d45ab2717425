//! Boards of suites as systems by items, to audit their order.

use crate::domain::Filter;
use crate::inference::{
    Arm, ArmRates, Audit, AuditedBoard, BatchSelection, JudgedBy, Policy, SuiteComparison,
    audit_board as audit_figures, board_groups, recorded_facts,
};
use crate::stats::Undefined;
use crate::warehouse::Warehouse;

/// A board without an audit, and why.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct UnauditedBoard {
    pub board: String,
    pub reason: NoAudit,
}

/// Why a board has no audit.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NoAudit {
    /// An order by the judge's outcomes is not that of the board.
    #[error(
        "the figures of its judge are corrected, and an audit by item has only the judge's outcomes"
    )]
    Corrected,
    /// No run has an outcome, passed or failed.
    #[error("an audit is of items that passed or failed, and no run has any")]
    NoOutcomes,
    #[error(transparent)]
    #[serde(untagged)]
    Undefined(#[from] Undefined),
}

/// Audits the board of each suite: its arms by the pass rates of their items.
pub fn audit_suites(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
) -> Vec<Result<Audit, UnauditedBoard>> {
    board_groups(warehouse, filter, BatchSelection::AllBatches, policy)
        .iter()
        .map(|group| audit_answer(&SuiteComparison::primary_only(warehouse, group, policy)))
        .collect()
}

/// Audits the board of a suite.
pub(crate) fn audit_answer(answer: &SuiteComparison<'_>) -> Result<Audit, UnauditedBoard> {
    if answer
        .judged_by
        .as_ref()
        .is_some_and(JudgedBy::changes_figures)
    {
        return Err(UnauditedBoard {
            board: answer.group.suite.clone(),
            reason: NoAudit::Corrected,
        });
    }
    let board = board_from_answer(answer);
    if board.items.is_empty() {
        return Err(UnauditedBoard {
            board: board.name,
            reason: NoAudit::NoOutcomes,
        });
    }
    audit_board(&board)
}

/// Returns the name of an arm as a system of a suite's board.
pub fn system_name(suite: &str, arm: &Arm) -> String {
    arm.display_name().unwrap_or_else(|| suite.to_owned())
}

/// Audits a board.
pub fn audit_board(board: &AuditedBoard) -> Result<Audit, UnauditedBoard> {
    audit_figures(board).map_err(|reason| UnauditedBoard {
        board: board.name.clone(),
        reason: reason.into(),
    })
}

/// Lays out a suite's arms by its items.
pub(super) fn board_from_answer(answer: &SuiteComparison<'_>) -> AuditedBoard {
    let (items, matrix) = (&answer.items, &answer.matrix);
    let mut names = Vec::with_capacity(items.unit_count());
    items
        .for_each_item(|_, columns| names.push(matrix.items[columns[0] as usize].key.item.clone()));
    let mut board = AuditedBoard {
        name: answer.group.suite.clone(),
        systems: Vec::new(),
        items: names,
        scores: Vec::new(),
        clusters: items.clusters.clone(),
        provenance: recorded_facts(
            answer
                .group
                .arms
                .iter()
                .flat_map(|arm| &arm.counted)
                .map(|row| &*row.run),
        ),
        are_rates: true,
        judged_by: answer.judged_by.clone(),
        sha256: None,
    };
    // An item that no arm has a result of separates nobody.
    let mut is_asked = vec![false; items.unit_count()];
    for (arm, rates) in answer.group.arms.iter().zip(&answer.rates) {
        let ArmRates::Outcomes(outcomes) = rates else {
            continue;
        };
        let mut scores = vec![None; items.unit_count()];
        for (unit, mean) in items.item_means(|column| outcomes.item_mean(column)) {
            scores[unit as usize] = Some(mean);
            is_asked[unit as usize] = true;
        }
        board
            .systems
            .push(system_name(&answer.group.suite, &arm.arm));
        board.scores.push(scores);
    }
    let kept = |place: &usize| is_asked[*place];
    let places: Vec<usize> = (0..is_asked.len()).filter(kept).collect();
    board.items = places
        .iter()
        .map(|place| board.items[*place].clone())
        .collect();
    board.clusters = board
        .clusters
        .map(|clusters| places.iter().map(|place| clusters[*place]).collect());
    board.scores = board
        .scores
        .iter()
        .map(|row| places.iter().map(|place| row[*place]).collect())
        .collect();
    board
}
