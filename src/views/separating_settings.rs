//! The settings that keep runs of one approach and model apart.

use std::collections::BTreeSet;

use crate::inference::ArmRuns;

/// Returns the tags of the settings that tell the arms from others of the same approach and model, in alphabetical order.
pub(super) fn separating_settings<'a>(
    arms: impl IntoIterator<Item = &'a ArmRuns<'a>>,
) -> Vec<String> {
    let tags: BTreeSet<&String> = arms
        .into_iter()
        .flat_map(|arm| &arm.counted)
        .flat_map(|row| &row.settings)
        .collect();
    tags.into_iter().cloned().collect()
}
