//! Planned samples of a log. A log that an error ended has no results and does not mention the samples that it did not reach.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::json::{to_count, to_text};
use super::wire::{InspectEval, InspectHeader};

/// Maximum number of samples named one by one.
const MAX_NAMED: u64 = 1_000_000;

/// Planned samples of an unfinished log, and the samples that it has.
pub(super) struct PlannedSamples {
    pub total: u64,
    /// Ids of the planned samples. Empty if the log does not name them.
    ids: Vec<String>,
    epochs: u32,
    seen: BTreeSet<(String, u32)>,
}

impl PlannedSamples {
    /// Returns the planned samples, or `None` if the log succeeded or has results.
    pub fn from_header(header: &InspectHeader) -> Option<Self> {
        let eval = header.eval.0.as_ref()?;
        if header.results.0.is_some() || to_text(&header.status).as_deref() == Some("success") {
            return None;
        }
        let epochs = u32::try_from(
            to_count(&eval.config.get("epochs").cloned().unwrap_or_default()).unwrap_or(1),
        )
        .ok()?
        .max(1);
        let listed = eval
            .dataset
            .get("sample_ids")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        // The listed ids are the requested samples; the dataset's count is of all its samples.
        let ids: Vec<String> = listed.filter_map(to_text).collect();
        let samples = if ids.is_empty() {
            limited_count(eval)?
        } else {
            ids.len() as u64
        };
        let total = samples.checked_mul(u64::from(epochs))?;
        let ids = if total > MAX_NAMED { Vec::new() } else { ids };
        Some(Self {
            total,
            ids,
            epochs,
            seen: BTreeSet::new(),
        })
    }

    pub fn mark_seen(&mut self, id: &str, epoch: u32) {
        self.seen.insert((id.to_owned(), epoch));
    }

    /// Returns the number of samples in the log, or `None` if none is missing.
    pub fn count_if_incomplete(&self) -> Option<u64> {
        Some(self.seen.len() as u64).filter(|there| *there < self.total)
    }

    pub fn are_named(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Returns the missing samples with their epochs.
    pub fn missing_samples(&self) -> Vec<(&str, u32)> {
        let all = self
            .ids
            .iter()
            .flat_map(|id| (1..=self.epochs).map(move |epoch| (id.as_str(), epoch)));
        all.filter(|(id, epoch)| !self.seen.contains(&((*id).to_owned(), *epoch)))
            .collect()
    }
}

/// Returns the number of samples within the limit, or `None` if samples were requested by id.
fn limited_count(eval: &InspectEval) -> Option<u64> {
    let samples = to_count(eval.dataset.get("samples")?)?;
    if eval.config.get("sample_id").is_some_and(|id| !id.is_null()) {
        return None;
    }
    Some(match eval.config.get("limit") {
        Some(Value::Array(range)) => {
            let [from, to] = range.as_slice() else {
                return None;
            };
            to_count(to)?.min(samples).saturating_sub(to_count(from)?)
        }
        Some(limit) if !limit.is_null() => to_count(limit)?.min(samples),
        Some(_) | None => samples,
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_was_to_have_what_was_asked_for() {
        let total = |status: &str, dataset: Value, config: Value, results: Value| {
            let header = json!({"status": status, "eval": {"dataset": dataset, "config": config}, "results": results});
            PlannedSamples::from_header(&InspectHeader::deserialize(header).expect("anything goes"))
                .map(|planned| planned.total)
        };
        let all = || json!({"samples": 100});
        assert_eq!(
            total("error", all(), json!({"epochs": 2}), json!(null)),
            Some(200)
        );
        assert_eq!(
            total("error", all(), json!({"limit": 10}), json!(null)),
            Some(10)
        );
        assert_eq!(
            total("error", all(), json!({"limit": [95, 200]}), json!(null)),
            Some(5)
        );
        assert_eq!(
            total(
                "cancelled",
                json!({"samples": 100, "sample_ids": [1, "b"]}),
                json!({"limit": 2}),
                json!(null)
            ),
            Some(2)
        );
        for nothing in [
            total("success", all(), json!({}), json!(null)),
            total("error", all(), json!({}), json!({"total_samples": 4})),
            total("error", all(), json!({"sample_id": ["a"]}), json!(null)),
            total("error", json!({}), json!({}), json!(null)),
            total("error", all(), json!({"limit": "x"}), json!(null)),
        ] {
            assert_eq!(nothing, None);
        }
    }
}
