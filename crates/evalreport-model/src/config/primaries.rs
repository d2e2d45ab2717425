//! The metric that decides in a suite, if it is not the pass rate.

use std::collections::BTreeMap;

use crate::document::{Fields, quote_text};
use crate::domain::metric_key;

/// Reads the metric keys by suite.
pub(super) fn read_section(fields: &mut Fields) -> BTreeMap<String, String> {
    let mut primaries = BTreeMap::new();
    for (suite, metric) in fields.text_map("primary") {
        let key = metric_key(&metric);
        if key.is_empty() {
            let place = quote_text(&format!("primary.{suite}"));
            fields.reject_entry(
                "primary",
                &suite,
                format!("{place} names no metric"),
                Some("such as item_score, or a score of the runs".to_owned()),
            );
        } else {
            primaries.insert(suite, key.to_owned());
        }
    }
    primaries
}
