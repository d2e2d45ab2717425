//! What quality is worth in money, for decisions about arms that differ in both.

use crate::document::{Fields, quote_text};

/// Reads `decision: {pp: 1, usd: 0.02}`: so many percentage points of the deciding rate are worth so many dollars for each item. Returns the
/// dollars for a whole unit, which is 100 points.
pub(super) fn read_section(fields: &mut Fields) -> Option<f64> {
    let mut fields = fields.fields("decision")?;
    let mut required = |key: &str| {
        if fields.child(key).is_none() {
            fields.reject_missing(key);
        }
        let amount = fields.amount(key)?;
        if amount <= 0.0 {
            let message = format!("{} must be above 0", quote_text(&fields.path_of(key)));
            fields.reject(key, message, None);
            return None;
        }
        Some(amount)
    };
    let rate = required("pp").zip(required("usd"));
    fields.finish();
    rate.map(|(points, usd)| usd / (points / 100.0))
}
