//! Sources of pages as text for a stamp. Equal values have equal texts, and only stored fields count.

use serde::Serialize;

/// Serialises a value for a stamp.
pub(super) fn to_stamp_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what pages are made of is JSON: its keys are text")
}
