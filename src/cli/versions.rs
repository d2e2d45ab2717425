//! Versions of suites: the version under which a store knows a content, and the changes that made a new version.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::escape_invisible;
use crate::render::phrases;
use crate::results::{Batch, PlannedArm, PlannedContent, Store, list_plans};
use crate::run::RunnableArm;
use crate::views::VersionChange;

use super::output;
use super::settings::Settings;

/// Maximum number of changed parts listed by name. Further parts are counted.
const MAX_PARTS: usize = 4;

/// Gives each arm the version under which the store already knows its content, whatever release planned it. Prints a note if the arm is not
/// comparable with the last batch.
pub(super) fn settle_versions(settings: &Settings, arms: &mut [RunnableArm]) {
    let planned = planned_arms(settings);
    let mut told = BTreeSet::new();
    let mut stored = None;
    for arm in arms {
        let Some(content) = arm.planned.content.clone() else {
            continue;
        };
        let of_suite = || {
            planned
                .iter()
                .filter(|known| known.suite == arm.planned.suite && known.suite_version.is_some())
        };
        if let Some(known) = of_suite().find(|known| content.matches_arm(known)) {
            arm.planned.suite_version.clone_from(&known.suite_version);
        } else {
            // Runs may come without their plan, such as those of a bundle.
            let stored: &BTreeSet<(String, String)> =
                stored.get_or_insert_with(|| stored_versions(settings));
            let known = stored.iter().find(|(suite, version)| {
                *suite == arm.planned.suite && content.has_version(version)
            });
            if let Some((_, version)) = known {
                arm.planned.suite_version = Some(version.clone());
            }
        }
        let Some(newest) = of_suite().next() else {
            continue;
        };
        if arm.planned.suite_version != newest.suite_version
            && told.insert(arm.planned.suite.clone())
        {
            let [now, before] = [&arm.planned, newest].map(|arm| {
                phrases::short_version(arm.suite_version.as_deref().unwrap_or_default())
            });
            let suite = escape_invisible(&arm.planned.suite);
            let why = change_reasons(newest.content.as_ref(), &content);
            output::print_message(
                settings,
                &format!(
                    "note: `{suite}` is version {now}, and was {before} in the last batch: {why}. Runs of the two are not compared"
                ),
            );
        }
    }
}

/// Returns the versions of which the stores hold runs, each with its suite. What cannot be read is reported when it is asked for.
fn stored_versions(settings: &Settings) -> BTreeSet<(String, String)> {
    let Ok(warehouse) = settings.open_with(&settings.source_options()) else {
        return BTreeSet::new();
    };
    warehouse
        .runs()
        .iter()
        .filter_map(|row| Some((row.run.suite.clone(), row.run.suite_version.clone()?)))
        .collect()
}

/// Returns for each suite why its newest version differs from the one before. Suites with only one version are absent.
pub(super) fn version_changes(settings: &Settings) -> Vec<VersionChange> {
    let planned = planned_arms(settings);
    let mut newest: BTreeMap<&str, &PlannedArm> = BTreeMap::new();
    let mut told: BTreeMap<&str, VersionChange> = BTreeMap::new();
    for arm in &planned {
        let suite = arm.suite.as_str();
        let new = *newest.entry(suite).or_insert(arm);
        if new.suite_version == arm.suite_version || told.contains_key(suite) {
            continue;
        }
        let why = new.content.as_ref().map_or_else(
            || UNKNOWN_CHANGE.to_owned(),
            |content| change_reasons(arm.content.as_ref(), content),
        );
        let [version, before] = [new, arm].map(|arm| arm.suite_version.clone());
        told.insert(
            suite,
            VersionChange {
                suite: suite.to_owned(),
                version,
                before,
                why,
            },
        );
    }
    told.into_values().collect()
}

/// Formats a change, such as: `speed` is version 1a2b and was 3c4d before: `timeout` in suite.yaml changed.
pub(super) fn describe_change(change: &VersionChange) -> String {
    let shown = |version: &Option<String>| {
        version
            .as_deref()
            .map_or_else(|| "unknown".to_owned(), phrases::short_version)
    };
    let (now, before) = (shown(&change.version), shown(&change.before));
    format!(
        "`{}` is version {now} and was {before} before: {}.",
        escape_invisible(&change.suite),
        change.why
    )
}

const UNKNOWN_CHANGE: &str = "the change was not recorded";

/// Returns the arms of all plans of the stores, newest first. Ignores unreadable plans; resuming one reports the problem.
fn planned_arms(settings: &Settings) -> Vec<PlannedArm> {
    let stores = settings.results.iter().map(Store::new);
    let paths = stores.flat_map(|store| list_plans(&store, &mut Vec::new()));
    let mut batches: Vec<Batch> = paths.filter_map(|path| Batch::load(&path).ok()).collect();
    batches.sort_by(|left, right| {
        right
            .created
            .cmp(&left.created)
            .then_with(|| right.id.cmp(&left.id))
    });
    batches.into_iter().flat_map(|batch| batch.arms).collect()
}

/// Formats the reasons, such as: `timeout` in suite.yaml changed; `tests/test_a.py` is new.
fn change_reasons(before: Option<&PlannedContent>, now: &PlannedContent) -> String {
    let Some(before) = before.filter(|before| !before.parts.is_empty()) else {
        return UNKNOWN_CHANGE.to_owned();
    };
    let labels: BTreeSet<&String> = before.parts.keys().chain(now.parts.keys()).collect();
    let changed: Vec<String> = labels
        .into_iter()
        .filter_map(
            |label| match (before.parts.get(label), now.parts.get(label)) {
                (Some(before), Some(now)) if before == now => None,
                (Some(_), Some(_)) => Some(format!("{} changed", part_name(label))),
                (None, _) => Some(format!("{} is new", part_name(label))),
                (_, None) => Some(format!("{} is gone", part_name(label))),
            },
        )
        .collect();
    match changed.len() {
        0 => "it is hashed in another way".to_owned(),
        count if count > MAX_PARTS => format!(
            "{} and {} more",
            changed[..MAX_PARTS].join(", "),
            count - MAX_PARTS
        ),
        _ => changed.join(", "),
    }
}

fn part_name(label: &str) -> String {
    match label.split_once('/') {
        Some(("key", key)) => format!("`{}` in suite.yaml", escape_invisible(key)),
        Some((_, path)) => format!("`{}`", escape_invisible(path)),
        None => format!("`{}`", escape_invisible(label)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(parts: &[(&str, &str)]) -> PlannedContent {
        let parts = parts
            .iter()
            .map(|(label, digest)| ((*label).to_owned(), (*digest).to_owned()))
            .collect();
        PlannedContent {
            parts,
            ..PlannedContent::default()
        }
    }

    #[test]
    fn what_changed_is_named() {
        let before = content(&[
            ("key/timeout", "1"),
            ("suite/tests", "1"),
            ("root/a.md", "1"),
        ]);
        let now = content(&[
            ("key/timeout", "2"),
            ("suite/tests", "1"),
            ("suite/new.py", "1"),
        ]);
        assert_eq!(
            change_reasons(Some(&before), &now),
            "`timeout` in suite.yaml changed, `a.md` is gone, `new.py` is new"
        );
        assert_eq!(change_reasons(None, &now), UNKNOWN_CHANGE);
        let many: Vec<String> = (0..9).map(|number| format!("suite/{number}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|label| (label.as_str(), "1")).collect();
        assert!(change_reasons(Some(&before), &content(&many)).ends_with("and 8 more"));
    }
}
