//! Boards of suites as systems by items, to audit their order.

use crate::domain::Filter;
use crate::inference::{Audit, AuditedBoard, Grouping, Policy, Rates, SuiteAnswer, audit, suite_groups};
use crate::stats::Undefined;
use crate::warehouse::Warehouse;

/// A board without an audit, and why.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct UnauditedBoard {
    pub board: String,
    pub reason: Undefined,
}

/// Audits the board of each suite: its arms by the pass rates of their items.
pub fn audit_suites(warehouse: &Warehouse, filter: &Filter, policy: &Policy) -> Vec<Result<Audit, UnauditedBoard>> {
    suite_groups(warehouse, filter, Grouping::AllBatches)
        .iter()
        .map(|group| audited(&board_of(&SuiteAnswer::of_primary(warehouse, group, policy))))
        .collect()
}

/// Audits a board.
pub fn audited(board: &AuditedBoard) -> Result<Audit, UnauditedBoard> {
    audit(board).map_err(|reason| UnauditedBoard { board: board.name.clone(), reason })
}

fn board_of(answer: &SuiteAnswer<'_>) -> AuditedBoard {
    let (items, matrix) = (&answer.items, &answer.matrix);
    let mut names = Vec::with_capacity(items.unit_count());
    items.each_unit(|_, columns| names.push(matrix.items[columns[0] as usize].key.item.clone()));
    let mut board = AuditedBoard {
        name: answer.group.suite.clone(),
        systems: Vec::new(),
        items: names,
        scores: Vec::new(),
        clusters: items.clusters.clone(),
        sha256: None,
    };
    // An item that no arm has a result of separates nobody.
    let mut is_asked = vec![false; items.unit_count()];
    for (arm, rates) in answer.group.arms.iter().zip(&answer.rates) {
        let Rates::Outcomes(outcomes) = rates else { continue };
        let mut scores = vec![None; items.unit_count()];
        for (unit, mean) in items.means(|column| outcomes.mean(column)) {
            scores[unit as usize] = Some(mean);
            is_asked[unit as usize] = true;
        }
        board.systems.push(format!("{} · {}", arm.arm.approach, arm.arm.model));
        board.scores.push(scores);
    }
    let kept = |place: &usize| is_asked[*place];
    let places: Vec<usize> = (0..is_asked.len()).filter(kept).collect();
    board.items = places.iter().map(|place| board.items[*place].clone()).collect();
    board.clusters = board.clusters.map(|clusters| places.iter().map(|place| clusters[*place]).collect());
    board.scores = board.scores.iter().map(|row| places.iter().map(|place| row[*place]).collect()).collect();
    board
}
