//! Names of arms in tables lead to the arms' pages, and say which arm the row is about.

use crate::views::Arm;

use super::grid::Grid;
use super::plan::Plan;

/// Links the names in a column of a table, one arm for each row, to the arms' pages.
pub(super) fn link_arms<'a>(grid: &mut Grid, column: usize, arms: impl IntoIterator<Item = &'a Arm>, plan: &Plan, root: &str) {
    for (row, arm) in grid.rows.iter_mut().zip(arms) {
        if let Some(cell) = row.get_mut(column) {
            cell.href = plan.arm_href(root, arm);
        }
    }
}

/// Says in each row of a suite's table which arm it is about, so that two rows can be ticked and compared.
pub(super) fn mark_arms<'a>(grid: &mut Grid, arms: impl IntoIterator<Item = &'a Arm>, plan: &Plan) {
    for (row, arm) in grid.rows.iter_mut().zip(arms) {
        if let Some(cell) = row.first_mut() {
            cell.arm = plan.arms.segment(arm);
        }
    }
}
