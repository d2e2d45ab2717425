//! What pages are made of, as text: equal for equal values, and told apart by nothing that is not stored.

use serde::Serialize;

/// Writes a value down for a stamp.
pub(super) fn serialised(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what pages are made of is JSON: its keys are text")
}
