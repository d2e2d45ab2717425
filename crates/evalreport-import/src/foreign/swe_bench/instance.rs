//! Facts about instances that runs and submissions share.

use serde_json::Value;

use super::super::json::to_text;

pub(super) const EVALUATOR: &str = "tests";

/// Splits a submission's folder name, `20240620_agent`, into the date in ISO form and the rest.
pub(super) fn split_date(folder: &str) -> (Option<String>, &str) {
    match folder.split_once('_') {
        Some((date, name)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => {
            (
                Some(format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..])),
                name,
            )
        }
        Some(_) | None => (None, folder),
    }
}

/// Returns the repository of an instance. Instances of one repository are not independent.
pub(super) fn instance_repository(instance: &str) -> Option<String> {
    instance
        .rsplit_once('-')
        .map(|(repository, _)| repository.to_owned())
}

/// Returns the texts of a list, including repeated ones.
pub(super) fn instance_ids(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(to_text)
        .collect()
}

/// Returns a file's name without its ending.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

/// Returns whether a file's name without its ending says neither what made it nor which run it is of.
pub(super) fn is_unnamed(stem: &str) -> bool {
    ["results", "result", "report", "evaluation", "eval"].contains(&stem)
}
