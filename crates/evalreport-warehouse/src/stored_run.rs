//! A run in the snapshot: numbers and names in binary, because a warm start reads all of them; rarer fields as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::domain::{
    Carried, CostSource, Git, ItemKind, ItemsDigest, JudgeProbe, Provenance, Resources, Run, RunId,
    RunStatus, ScoreRecord, StatedFigure, Usage,
};

/// Fields in the order of [`Run`]. Text is borrowed from the run or from the snapshot's bytes.
#[derive(Serialize, Deserialize)]
struct SnapshotRun<'a> {
    id: &'a str,
    suite: &'a str,
    approach: &'a str,
    model: &'a str,
    /// Seconds and nanoseconds since 1970.
    timestamp: Option<(i64, u32)>,
    duration_seconds: Option<f64>,
    counts: [Option<u64>; 11],
    counted: Option<ItemKind>,
    cost_usd: Option<f64>,
    cost_source: CostSource,
    output_dir: Option<&'a str>,
    status: RunStatus,
    error: Option<&'a str>,
    agent: Option<&'a str>,
    reported_model: Option<&'a str>,
    batch_id: Option<&'a str>,
    run_index: Option<u32>,
    seed: Option<u64>,
    #[serde(borrow)]
    tags: Vec<(&'a str, &'a str)>,
    suite_version: Option<&'a str>,
    host: Option<&'a str>,
    tool_version: Option<&'a str>,
    isolation: Option<&'a str>,
    /// [`StructuredFields`] as JSON. `None` if all its fields are absent.
    structured: Option<String>,
}

/// The fields that are records.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct StructuredFields {
    usage: Option<Usage>,
    resources: Option<Resources>,
    git: Option<Git>,
    stated: Vec<StatedFigure>,
    scores: Vec<ScoreRecord>,
    probes: Vec<JudgeProbe>,
    verification: Option<Value>,
    provenance: Option<Provenance>,
    items_digest: Option<ItemsDigest>,
    has_copied_items: bool,
    carried: Option<Carried>,
}

pub(super) fn serialize<S: Serializer>(
    runs: &[Arc<Run>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(runs.iter().map(|run| to_snapshot_run(run)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Arc<Run>>, D::Error> {
    let stored = Vec::<SnapshotRun<'de>>::deserialize(deserializer)?;
    stored
        .into_iter()
        .map(|stored| restore_run(stored).map(Arc::new).map_err(D::Error::custom))
        .collect()
}

fn to_snapshot_run(run: &Run) -> SnapshotRun<'_> {
    let is_plain = run.usage.is_none()
        && run.git.is_none()
        && run.stated.is_empty()
        && run.scores.is_empty()
        && run.probes.is_empty()
        && run.verification.is_none()
        && run.provenance.is_none()
        && run.items_digest.is_none()
        && !run.has_copied_items
        && run.carried.is_none()
        && run.resources.is_none();
    let structured = (!is_plain).then(|| {
        let structured = StructuredFields {
            usage: run.usage,
            resources: run.resources.clone(),
            git: run.git.clone(),
            stated: run.stated.clone(),
            scores: run.scores.clone(),
            probes: run.probes.clone(),
            verification: run.verification.clone(),
            provenance: run.provenance.clone(),
            items_digest: run.items_digest.clone(),
            has_copied_items: run.has_copied_items,
            carried: run.carried.clone(),
        };
        serde_json::to_string(&structured)
            .expect("the parts of a run are JSON: no map has keys other than strings")
    });
    SnapshotRun {
        id: run.id.as_str(),
        suite: &run.suite,
        approach: &run.approach,
        model: &run.model,
        timestamp: run
            .timestamp
            .map(|time| (time.timestamp(), time.timestamp_subsec_nanos())),
        duration_seconds: run.duration_seconds,
        counts: [
            run.total_calls,
            run.turns,
            run.input_tokens,
            run.output_tokens,
            run.total_tokens,
            run.shared_tests_passed,
            run.shared_tests_total,
            run.own_tests_passed,
            run.own_tests_total,
            run.files_generated,
            run.lines_generated,
        ],
        counted: run.counted,
        cost_usd: run.cost_usd,
        cost_source: run.cost_source,
        output_dir: run.output_dir.as_deref(),
        status: run.status,
        error: run.error.as_deref(),
        agent: run.agent.as_deref(),
        reported_model: run.reported_model.as_deref(),
        batch_id: run.batch_id.as_deref(),
        run_index: run.run_index,
        seed: run.seed,
        tags: run
            .tags
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect(),
        suite_version: run.suite_version.as_deref(),
        host: run.host.as_deref(),
        tool_version: run.tool_version.as_deref(),
        isolation: run.isolation.as_deref(),
        structured,
    }
}

/// Fails if the bytes were not written by [`to_snapshot_run`]; the snapshot is then ignored.
fn restore_run(stored: SnapshotRun<'_>) -> Result<Run, String> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let timestamp = match stored.timestamp {
        Some((seconds, nanos)) => {
            Some(DateTime::from_timestamp(seconds, nanos).ok_or("a time out of range")?)
        }
        None => None,
    };
    let structured = match &stored.structured {
        Some(json) => serde_json::from_str(json).map_err(|error| error.to_string())?,
        None => StructuredFields::default(),
    };
    let [
        total_calls,
        turns,
        input_tokens,
        output_tokens,
        total_tokens,
        shared_tests_passed,
        shared_tests_total,
        own_tests_passed,
        own_tests_total,
        files_generated,
        lines_generated,
    ] = stored.counts;
    Ok(Run {
        id: RunId::parse(stored.id)?,
        suite: stored.suite.to_owned(),
        approach: stored.approach.to_owned(),
        model: stored.model.to_owned(),
        timestamp,
        duration_seconds: stored.duration_seconds,
        total_calls,
        turns,
        input_tokens,
        output_tokens,
        total_tokens,
        counted: stored.counted,
        cost_usd: stored.cost_usd,
        cost_source: stored.cost_source,
        usage: structured.usage,
        shared_tests_passed,
        shared_tests_total,
        own_tests_passed,
        own_tests_total,
        files_generated,
        lines_generated,
        output_dir: own(stored.output_dir),
        status: stored.status,
        error: own(stored.error),
        agent: own(stored.agent),
        reported_model: own(stored.reported_model),
        batch_id: own(stored.batch_id),
        run_index: stored.run_index,
        seed: stored.seed,
        tags: stored
            .tags
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect::<BTreeMap<_, _>>(),
        suite_version: own(stored.suite_version),
        host: own(stored.host),
        tool_version: own(stored.tool_version),
        isolation: own(stored.isolation),
        resources: structured.resources,
        git: structured.git,
        stated: structured.stated,
        scores: structured.scores,
        probes: structured.probes,
        verification: structured.verification,
        provenance: structured.provenance,
        items_digest: structured.items_digest,
        has_copied_items: structured.has_copied_items,
        carried: structured.carried,
    })
}

#[cfg(test)]
mod tests {
    use crate::results::parse_header;

    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was() {
        let full = r#"{"id":"r-1","suite":"s","approach":"a","model":"m","timestamp":"2026-01-31T12:00:00.25Z","duration_seconds":1.5,
            "total_calls":1,"turns":12,"reported_model":"x","input_tokens":2,"output_tokens":3,"total_tokens":9,"cost_usd":0.25,"shared_tests_passed":4,
            "shared_tests_total":5,"own_tests_passed":6,"own_tests_total":7,"files_generated":8,"lines_generated":10,"output_dir":"o",
            "counted":"task","error":"e","status":"limit","agent":"g","batch_id":"b","run_index":2,"seed":11,"tags":{"k":"v"},"suite_version":"sv",
            "host":"h","tool_version":"t","resources":{"kernel":"6.8","cpus":8,"load":0.5,"repeated":{"retries":2,"throttled":1}},"git":{"rev":"abc"},"usage":{"input":1,"cache_read":2},"cost_source":"priced",
            "stated":[{"name":"pass_rate","value":0.5,"unit":"fraction"}],"scores":[{"metric":"x","value":1.0,"unit":"points","direction":"up","range":[0.0,5.0]}],
            "probes":[{"metric":"x","unit":"points","judge":"j #0","given":50.0,"reversed":75.0}],
            "verification":{"outcome":[1,2.5,null]},"provenance":{"importer":"table","file":"f","sha256":"0"},"items_digest":{"sha256":"1","items":3,"hashed":2},"has_copied_items":true,
            "carried":{"signed_by":{"name":"n","key":"SHA256:x"},"without":["output"]}}"#;
        let runs = [full, r#"{"id":"r-2","suite":"s","approach":"a"}"#].map(|json| {
            Arc::new(parse_header(json.as_bytes(), "file", None, None).expect("a header"))
        });
        let mut bytes = postcard::Serializer {
            output: postcard::ser_flavors::AllocVec::new(),
        };
        serialize(&runs, &mut bytes).expect("memory");
        let bytes = postcard::ser_flavors::Flavor::finalize(bytes.output).expect("memory");
        assert_eq!(
            deserialize(&mut postcard::Deserializer::from_bytes(&bytes)).expect("its own bytes"),
            runs
        );
    }
}
