//! A comparison's table: metrics in rows, arms in columns, then their difference and the verdict.

use crate::domain::{Metric, MetricKind};
use crate::render::{comparison, details, phrases, verdicts};
use crate::views::Comparison;

use super::arm_links::link_arm_heads;
use super::grid::Grid;
use super::routes::SiteRoutes;

/// Lays a comparison out.
pub(super) fn build_grid(
    comparison: &Comparison,
    id: &str,
    caption: &str,
    plan: &SiteRoutes,
    root: &str,
) -> Grid {
    let mut grid = Grid::from_table(
        &comparison::metrics_table(comparison, &phrases::comparison_labels(comparison)),
        id,
        caption,
    )
    .without_sorting();
    for (cells, row) in grid.rows.iter_mut().zip(&comparison.rows) {
        if let Some(name) = cells.first_mut() {
            name.href = method_href(&row.metric, root);
        }
    }
    link_arm_heads(
        &mut grid,
        1,
        comparison.arms.iter().map(|compared| &compared.arm),
        plan,
        root,
    );
    grid
}

/// Returns the address of the method by which a metric's difference was computed.
pub(super) fn method_href(metric: &Metric, root: &str) -> String {
    let anchor = match metric.kind {
        MetricKind::Rate | MetricKind::Score => "rates",
        MetricKind::Amount | MetricKind::Count => "amounts",
    };
    format!("{root}method.html#{anchor}")
}

/// Returns notes on the intervals' methods, and on figures that were not measured.
pub(super) fn list_notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &comparison.rows {
        let mut methods: Vec<&str> = row
            .cells
            .iter()
            .filter_map(|cell| cell.estimate.as_ref())
            .map(|estimate| phrases::method_name(estimate.method))
            .collect();
        methods.dedup();
        if !methods.is_empty() {
            notes.push(format!("{}: {}.", row.metric.label, methods.join("; ")));
        }
    }
    notes.extend(details::second_looks(comparison));
    // Criteria are a section of their own on a pair's page.
    notes.extend(phrases::verification_note(
        comparison,
        &phrases::comparison_labels(comparison),
    ));
    notes.extend(verdicts::exclusion_notes(
        comparison,
        &phrases::comparison_labels(comparison),
    ));
    if !comparison.not_measured.is_empty() {
        notes.push(format!(
            "Not measured: {}.",
            comparison.not_measured.join(", ")
        ));
    }
    notes
}
