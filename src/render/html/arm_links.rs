//! Links from arms' names in tables to the arms' pages, with the dots of their colours.

use crate::views::{Arm, OverviewSuite};

use super::any_pair;
use super::grid::Grid;
use super::routes::{SiteRoutes, SuiteRoutes};

/// Links the names in a column of a table, one arm for each row, to the arms' pages.
pub(super) fn link_arms<'a>(
    grid: &mut Grid,
    column: usize,
    arms: impl IntoIterator<Item = &'a Arm>,
    plan: &SiteRoutes,
    root: &str,
) {
    for (row, arm) in grid.rows.iter_mut().zip(arms) {
        if let Some(cell) = row.get_mut(column) {
            cell.href = plan.arm_href(root, arm);
            cell.tone = plan.arm_tone(arm);
        }
    }
}

/// Marks the first column of a suite's table as arms: names link to their pages, and two rows can be ticked and compared.
pub(super) fn link_arm_rows<'a>(
    grid: &mut Grid,
    arms: impl Iterator<Item = &'a Arm> + Clone,
    (suite, place): (&OverviewSuite, &SuiteRoutes),
    plan: &SiteRoutes,
    root: &str,
) {
    link_arms(grid, 0, arms.clone(), plan, root);
    for (row, arm) in grid.rows.iter_mut().zip(arms) {
        if let Some(cell) = row.first_mut() {
            cell.arm = plan.arms.segment(arm);
        }
    }
    grid.any_pair = any_pair::page_href(suite, place, root);
}

/// Links the heads of columns that are about one arm each.
pub(super) fn link_arm_heads<'a>(
    grid: &mut Grid,
    first: usize,
    arms: impl IntoIterator<Item = &'a Arm>,
    plan: &SiteRoutes,
    root: &str,
) {
    for (column, arm) in grid.columns.iter_mut().skip(first).zip(arms) {
        column.href = plan.arm_href(root, arm);
    }
}
