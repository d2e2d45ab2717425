//! One run's header, `<id>.json`: the wire form of a [`Run`] under the field names of the original `EvalResult` schema.
//!
//! A plain file of that schema can be read, also an older one with missing fields or a newer one with additional fields. A field that is
//! absent or `null` was not measured; it never becomes zero.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{
    Carried, CostSource, Git, ItemKind, ItemsDigest, JudgeProbe, Problem, Problems, Provenance,
    Resources, Run, RunId, RunStatus, ScoreRecord, StatedFigure, Usage, amount_problem,
    count_problem, escape_invisible, is_amount, is_count,
};
use crate::files;

use super::json_memory_limit;
use super::seal::{SealState, SealedRecord, ends_with_carried};

/// The format that this version writes. A reader refuses a higher number, because the meaning may have changed.
const RUN_FORMAT: &str = "evalreport/result/1";
const FORMAT_PREFIX: &str = "evalreport/result/";
const FORMAT_VERSION: u32 = 1;

/// Maximum number of tests. No suite has more, and sums over a million runs still fit.
const MAX_TESTS: u64 = 1_000_000_000;

/// The unset time in files of `ralph eval`.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// Maximum size of a header, hundreds of times the largest seen.
const MAX_HEADER_BYTES: u64 = 64 << 20;

/// A run. Fields that were not measured are absent.
#[derive(Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
#[schemars(rename = "Run")]
pub(super) struct WireRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    suite: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    approach: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_tests_passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_tests_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_tests_passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_tests_total: Option<u64>,
    /// The kind of item that the shared counts are about, for a run without outcomes. Absent if they are tests of one artefact.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<ItemKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_generated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_generated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,

    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    status: Option<RunStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suite_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    isolation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Option<Git>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    cost_source: Option<CostSource>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stated: Vec<StatedFigure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scores: Vec<ScoreRecord>,
    /// Of a run that a lake holds: what its judges said with the criteria in two orders. A store has them as lines of `scores.jsonl`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probes: Vec<JudgeProbe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<Provenance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items_digest: Option<ItemsDigest>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_copied_items: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    carried: Option<Carried>,
}

/// A run with its header as it was sealed, by this store or another. Without a seal there is no text to keep.
#[derive(Debug)]
pub(super) struct StoredHeader {
    pub run: Run,
    pub sealed: Option<SealedRecord>,
}

impl StoredHeader {
    /// Parses a header like [`parse_header`]. Fails if the seal does not match the text.
    pub fn parse(
        bytes: &[u8],
        file: &str,
        line: Option<usize>,
        stem: Option<&str>,
    ) -> Result<Self, Problems> {
        let run = parse_unverified(bytes, file, line, stem)?;
        let text = String::from_utf8_lossy(bytes);
        let changed = |run: &Run| {
            Problems(vec![header_problem(
                file,
                line,
                format!("the header of `{}` was changed after it was sealed", run.id),
            )])
        };
        match SealState::parse(&text) {
            SealState::None => Ok(Self {
                run: drop_unproven_signature(run, bytes),
                sealed: None,
            }),
            // A sealed text cannot include `carried`, which is only added later.
            SealState::Whole(sealed) if run.carried.is_some() && sealed.text == text.trim_end() => {
                Err(changed(&run))
            }
            SealState::Whole(sealed) => Ok(Self {
                run: drop_unproven_signature(run, bytes),
                sealed: Some(sealed),
            }),
            SealState::Changed => Err(changed(&run)),
        }
    }

    /// Reads and parses a header file.
    pub fn read_file(path: &Path) -> Result<Self, Problems> {
        let bytes = read_header_bytes(path)?;
        Self::parse(&bytes, &path.to_string_lossy(), None, stem_of(path))
    }

    /// Returns the header as one line, unchanged if it was sealed.
    pub fn header_text(&self) -> String {
        match &self.sealed {
            Some(sealed) => sealed.text.clone(),
            None => to_sealable(&self.run),
        }
    }
}

/// Returns the sealed part of a header: all fields but `carried`.
pub(super) fn to_sealable(run: &Run) -> String {
    to_json(&Run {
        carried: None,
        ..run.clone()
    })
}

/// Returns the run as one line of JSON, keys in the order of the schema. Omits numbers that no reader would accept, as not measured: agents and
/// tools may claim any.
pub fn to_json(run: &Run) -> String {
    let run = run.clone();
    let counted = |count: Option<u64>| count.filter(|count| is_count(*count));
    let wire = WireRun {
        format: Some(RUN_FORMAT.to_owned()),
        id: Some(run.id.as_str().to_owned()),
        suite: Some(run.suite),
        approach: Some(run.approach),
        model: Some(run.model),
        timestamp: run
            .timestamp
            .map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        duration_seconds: run.duration_seconds.filter(|seconds| is_amount(*seconds)),
        total_calls: counted(run.total_calls),
        turns: counted(run.turns),
        input_tokens: counted(run.input_tokens),
        output_tokens: counted(run.output_tokens),
        total_tokens: counted(run.total_tokens),
        cost_usd: run.cost_usd.filter(|cost| is_amount(*cost)),
        shared_tests_passed: run.shared_tests_passed,
        shared_tests_total: run.shared_tests_total,
        own_tests_passed: run.own_tests_passed,
        own_tests_total: run.own_tests_total,
        counted: run.counted,
        files_generated: counted(run.files_generated),
        lines_generated: counted(run.lines_generated),
        output_dir: run.output_dir,
        error: run.error,
        status: Some(run.status),
        agent: run.agent,
        reported_model: run.reported_model,
        batch_id: run.batch_id,
        run_index: run.run_index,
        seed: run.seed,
        tags: run.tags,
        suite_version: run.suite_version,
        host: run.host,
        tool_version: run.tool_version,
        isolation: run.isolation,
        resources: run.resources,
        git: run.git,
        usage: run.usage.map(|usage| Usage {
            input: counted(usage.input),
            cache_write: counted(usage.cache_write),
            cache_read: counted(usage.cache_read),
            output: counted(usage.output),
        }),
        cost_source: Some(run.cost_source),
        stated: run
            .stated
            .into_iter()
            .filter(|stated| stated.find_problem().is_none())
            .collect(),
        scores: run
            .scores
            .into_iter()
            .filter(|score| score.find_problem().is_none())
            .collect(),
        probes: run.probes,
        verification: run.verification,
        provenance: run.provenance,
        items_digest: run.items_digest,
        has_copied_items: run.has_copied_items,
        carried: run.carried,
    };
    serde_json::to_string(&wire)
        .expect("every field of a run is JSON: no map has keys other than strings")
}

/// Reads and checks one header file.
pub fn read_header(path: &Path) -> Result<Run, Problems> {
    let bytes = read_header_bytes(path)?;
    parse_header(&bytes, &path.to_string_lossy(), None, stem_of(path))
}

/// Reads a header file without checking it.
pub(super) fn read_header_bytes(path: &Path) -> Result<Vec<u8>, Problems> {
    let open = files::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    match open {
        Ok((file, metadata)) => read_opened(path, file, &metadata),
        Err(error) => Err(Problems(vec![Problem::unread_file(
            path.display().to_string(),
            &error,
        )])),
    }
}

/// Reads and checks an open header file, for a caller that also needs its metadata.
pub fn read_opened_header(path: &Path, file: File, metadata: &Metadata) -> Result<Run, Problems> {
    let bytes = read_opened(path, file, metadata)?;
    parse_header(&bytes, &path.to_string_lossy(), None, stem_of(path))
}

/// Returns the name of a header file, which replaces a missing id.
fn stem_of(path: &Path) -> Option<&str> {
    path.file_stem().and_then(|stem| stem.to_str())
}

fn read_opened(path: &Path, file: File, metadata: &Metadata) -> Result<Vec<u8>, Problems> {
    let name = path.to_string_lossy();
    let one = |message: String| Problems(vec![Problem::in_file(&*name, message)]);
    if metadata.is_dir() {
        return Err(one("is a folder, not a result file".to_owned()));
    }
    if metadata.len() > MAX_HEADER_BYTES {
        return Err(one(format!(
            "is {} bytes long; a result header is at most {MAX_HEADER_BYTES}",
            metadata.len()
        )));
    }
    // A special file has no known length. A regular one is read in one call, without another to find its end.
    let length = if metadata.is_file() {
        metadata.len()
    } else {
        MAX_HEADER_BYTES
    };
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(|error| Problems(vec![Problem::unread_file(&*name, &error)]))?;
    Ok(bytes)
}

/// Parses one header. `line` is its line number in a file of several; `stem` replaces a missing id.
///
/// All problems of the header are reported together, each with its key.
pub fn parse_header(
    bytes: &[u8],
    file: &str,
    line: Option<usize>,
    stem: Option<&str>,
) -> Result<Run, Problems> {
    parse_unverified(bytes, file, line, stem).map(|run| drop_unproven_signature(run, bytes))
}

/// Drops what the header says about a signature, unless an import checked it and wrote it.
///
/// Stores, lakes, engines and bundles all give headers to this function, so it alone decides. An import adds the signer as the last field, under
/// a digest of the whole header. A header that somebody wrote or edited by hand has no such digest. Whoever can write to a store can compute
/// one: signatures tell about bundles on their way, and not about the store that they end in.
fn drop_unproven_signature(run: Run, bytes: &[u8]) -> Run {
    let is_closed = run
        .carried
        .as_ref()
        .is_none_or(|carried| ends_with_carried(&String::from_utf8_lossy(bytes), carried));
    if is_closed {
        run
    } else {
        Run {
            carried: None,
            ..run
        }
    }
}

/// Parses one header, with all that it claims.
fn parse_unverified(
    bytes: &[u8],
    file: &str,
    line: Option<usize>,
    stem: Option<&str>,
) -> Result<Run, Problems> {
    let parsed = if bytes.trim_ascii_start().starts_with(b"[") {
        // A list would be parsed as the fields in order.
        Err(vec![header_problem(
            file,
            line,
            "is JSON, but not an object".to_owned(),
        )])
    } else {
        json_memory_limit::from_slice::<WireRun>(bytes)
            .map_err(|error| explain_parse_error(bytes, file, line, &error))
    };
    let checked = parsed.and_then(|wire| validate_header(wire, file, line, stem));
    // Messages contain file names, which are foreign text too.
    checked.map_err(|problems| {
        Problems(
            problems
                .into_iter()
                .map(|problem| Problem {
                    file: escape_invisible(&problem.file),
                    ..problem
                })
                .collect(),
        )
    })
}

fn header_problem(file: &str, line: Option<usize>, message: String) -> Problem {
    Problem {
        line,
        ..Problem::in_file(file, message)
    }
}

/// Returns whether a header was written by `ralph eval` and has zeros that mean "not measured". That program sets every field, so zeros of
/// tokens, costs, calls, shared tests and the time are unknown.
pub fn has_zeros_for_unknown(bytes: &[u8]) -> bool {
    json_memory_limit::from_slice::<WireRun>(bytes)
        .is_ok_and(|wire| wire.sets_every_field() && wire.without_zeros().1)
}

impl WireRun {
    /// Returns whether all fields are set that every version of `ralph eval` writes, and `format`, which is ours, is not.
    fn sets_every_field(&self) -> bool {
        let counts = [
            self.input_tokens,
            self.output_tokens,
            self.total_tokens,
            self.shared_tests_passed,
            self.shared_tests_total,
            self.files_generated,
            self.lines_generated,
        ];
        let is_whole = counts.iter().all(Option::is_some)
            && self.cost_usd.is_some()
            && self.duration_seconds.is_some();
        is_whole && self.output_dir.is_some() && self.timestamp.is_some() && self.format.is_none()
    }

    /// Replaces zeros by "not measured", and returns whether there were any.
    fn without_zeros(mut self) -> (Self, bool) {
        let mut is_any = false;
        for count in [
            &mut self.total_calls,
            &mut self.input_tokens,
            &mut self.output_tokens,
            &mut self.total_tokens,
        ] {
            is_any |= count.take_if(|count| *count == 0).is_some();
        }
        is_any |= self.cost_usd.take_if(|cost| *cost == 0.0).is_some();
        is_any |= self.timestamp.take_if(|time| time == NO_TIME).is_some();
        // More passed than total is a reported error, so it stays. Zero own tests stays too: an approach may have no tests.
        if self.shared_tests_passed == Some(0)
            && self
                .shared_tests_total
                .take_if(|total| *total == 0)
                .is_some()
        {
            is_any = true;
            self.shared_tests_passed = None;
        }
        (self, is_any)
    }
}

/// Converts the wire form into a run and collects all invalid values.
fn validate_header(
    wire: WireRun,
    file: &str,
    line: Option<usize>,
    stem: Option<&str>,
) -> Result<Run, Vec<Problem>> {
    let wire = if wire.sets_every_field() {
        wire.without_zeros().0
    } else {
        wire
    };
    let mut problems = Vec::new();
    let mut wrong = |message: String| problems.push(header_problem(file, line, message));

    if let Some(format) = &wire.format {
        match format
            .strip_prefix(FORMAT_PREFIX)
            .and_then(|version| version.parse::<u32>().ok())
        {
            Some(version) if version <= FORMAT_VERSION => {}
            Some(_) => wrong(format!(
                "key `format`: `{}` was written by a newer evalreport than this one",
                escape_invisible(format)
            )),
            None => wrong(format!(
                "key `format`: `{}` is not `{RUN_FORMAT}`",
                escape_invisible(format)
            )),
        }
    }
    let id = match wire.id.as_deref().or(stem) {
        Some(text) => RunId::parse(text)
            .map_err(|message| wrong(format!("key `id`: {message}")))
            .ok(),
        None => {
            wrong("key `id` is missing".to_owned());
            None
        }
    };
    for (key, value) in [("suite", &wire.suite), ("approach", &wire.approach)] {
        if value.as_deref().is_none_or(|text| text.trim().is_empty()) {
            wrong(format!("key `{key}` is missing or empty"));
        }
    }
    let timestamp = wire
        .timestamp
        .as_deref()
        .and_then(|text| match parse_time(text) {
            Some(time) => Some(time),
            None => {
                wrong(format!(
                    "key `timestamp`: `{}` is not a time like 2026-01-31T12:00:00Z",
                    escape_invisible(text)
                ));
                None
            }
        });
    for (key, value) in [
        ("duration_seconds", wire.duration_seconds),
        ("cost_usd", wire.cost_usd),
    ] {
        if let Some(problem) = value.and_then(amount_problem) {
            wrong(format!("key `{key}` {problem}"));
        }
    }
    let usage = wire.usage.unwrap_or_default();
    for (key, value) in [
        ("total_calls", wire.total_calls),
        ("turns", wire.turns),
        ("input_tokens", wire.input_tokens),
        ("output_tokens", wire.output_tokens),
        ("total_tokens", wire.total_tokens),
        ("files_generated", wire.files_generated),
        ("lines_generated", wire.lines_generated),
        ("usage.input", usage.input),
        ("usage.cache_write", usage.cache_write),
        ("usage.cache_read", usage.cache_read),
        ("usage.output", usage.output),
    ] {
        if let Some(problem) = value.and_then(count_problem) {
            wrong(format!("key `{key}` {problem}"));
        }
    }
    let figures = wire
        .scores
        .iter()
        .map(|score| ("scores", score.find_problem()))
        .chain(
            wire.stated
                .iter()
                .map(|stated| ("stated", stated.find_problem())),
        );
    for (key, problem) in figures {
        if let Some(problem) = problem {
            wrong(format!("key `{key}`: {problem}"));
        }
    }
    for (name, passed, total) in [
        (
            "shared_tests",
            wire.shared_tests_passed,
            wire.shared_tests_total,
        ),
        ("own_tests", wire.own_tests_passed, wire.own_tests_total),
    ] {
        match (passed, total) {
            (Some(passed), Some(total)) if passed > total => {
                wrong(format!(
                    "keys `{name}_passed` and `{name}_total`: {passed} passed of {total}"
                ));
            }
            (_, Some(total)) if total > MAX_TESTS => wrong(format!(
                "key `{name}_total` is {total}, more than any suite has tests"
            )),
            (Some(_), None) => wrong(format!(
                "key `{name}_passed` is there without `{name}_total`"
            )),
            _ => {}
        }
    }
    let Some(id) = id.filter(|_| problems.is_empty()) else {
        return Err(problems);
    };

    let error = wire.error.filter(|text| !text.is_empty());
    let status = wire.status.unwrap_or(if error.is_some() {
        RunStatus::Failed
    } else {
        RunStatus::Completed
    });
    let cost_source = wire.cost_source.unwrap_or(if wire.cost_usd.is_some() {
        CostSource::Reported
    } else {
        CostSource::Unknown
    });
    let run = Run {
        id,
        suite: wire.suite.unwrap_or_default(),
        approach: wire.approach.unwrap_or_default(),
        model: wire.model.unwrap_or_default(),
        timestamp,
        duration_seconds: wire.duration_seconds,
        total_calls: wire.total_calls,
        turns: wire.turns,
        input_tokens: wire.input_tokens,
        output_tokens: wire.output_tokens,
        total_tokens: wire
            .total_tokens
            .or_else(|| wire.input_tokens?.checked_add(wire.output_tokens?)),
        cost_usd: wire.cost_usd,
        cost_source,
        usage: wire.usage,
        shared_tests_passed: wire.shared_tests_passed,
        shared_tests_total: wire.shared_tests_total,
        own_tests_passed: wire.own_tests_passed,
        own_tests_total: wire.own_tests_total,
        counted: wire.counted,
        files_generated: wire.files_generated,
        lines_generated: wire.lines_generated,
        output_dir: wire.output_dir.filter(|text| !text.is_empty()),
        status,
        error,
        agent: wire.agent,
        reported_model: wire.reported_model,
        batch_id: wire.batch_id,
        run_index: wire.run_index,
        seed: wire.seed,
        tags: wire.tags,
        suite_version: wire.suite_version,
        host: wire.host,
        tool_version: wire.tool_version,
        isolation: wire.isolation,
        resources: wire.resources,
        git: wire.git,
        stated: wire.stated,
        scores: wire.scores,
        probes: wire.probes,
        verification: wire.verification,
        provenance: wire.provenance,
        items_digest: wire.items_digest,
        has_copied_items: wire.has_copied_items,
        carried: wire.carried,
    };
    Ok(if run.never_started() {
        Run {
            status: RunStatus::Infra,
            ..run
        }
    } else {
        run
    })
}

/// Parses RFC 3339 times and plain dates (taken as midnight UTC).
fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text)
        .map(|time| time.to_utc())
        .ok()
        .or_else(|| {
            NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .ok()
                .and_then(|date| date.and_hms_opt(0, 0, 0))
                .map(|time| time.and_utc())
        })
}

/// Explains why the bytes did not parse: the syntax error with its place, or every key of the wrong type.
fn explain_parse_error(
    bytes: &[u8],
    file: &str,
    line: Option<usize>,
    error: &serde_json::Error,
) -> Vec<Problem> {
    let syntax = |message: String| Problem {
        line: line.or(Some(error.line()).filter(|number| *number > 0)),
        column: Some(error.column()).filter(|column| *column > 0),
        ..Problem::in_file(file, message)
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return vec![
            header_problem(file, line, "is empty".to_owned())
                .with_hint("delete the file, or run the evaluation again"),
        ];
    }
    if let Err(utf8) = std::str::from_utf8(bytes) {
        return vec![header_problem(
            file,
            line,
            format!(
                "is not UTF-8: first bad byte at offset {}",
                utf8.valid_up_to()
            ),
        )];
    }
    match json_memory_limit::from_slice::<Value>(bytes) {
        Err(_) if error.is_eof() => vec![syntax("is cut off in the middle of the JSON".to_owned())],
        Err(syntax_error) => {
            let near = text_at_error(bytes, &syntax_error);
            let mut found = syntax(format!("is not JSON: {}", without_place(&syntax_error)));
            if ["NaN", "Infinity", "-Infinity", "nan", "inf"]
                .iter()
                .any(|word| near.starts_with(word))
            {
                found.hint = Some("JSON has no NaN or Infinity; leave the key out when the value was not measured".to_owned());
            }
            vec![found]
        }
        Ok(Value::Object(object)) => {
            let wrong = wrong_keys(&object);
            if wrong.is_empty() {
                return vec![syntax(without_place(error))];
            }
            wrong
                .into_iter()
                .map(|(key, message)| header_problem(file, line, format!("key `{key}`: {message}")))
                .collect()
        }
        Ok(_) => vec![header_problem(
            file,
            line,
            "is JSON, but not an object".to_owned(),
        )],
    }
}

/// Tries each key alone, to find all wrong ones and not only the first.
fn wrong_keys(object: &Map<String, Value>) -> Vec<(String, String)> {
    object
        .iter()
        .filter_map(|(key, value)| {
            let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
            let error = serde_json::from_value::<WireRun>(alone).err()?;
            let shown = escape_invisible(&value.to_string());
            let shown: String = shown.chars().take(60).collect();
            Some((
                escape_invisible(key),
                format!("{} (it is `{shown}`)", without_place(&error)),
            ))
        })
        .collect()
}

fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    in_plain_words(text.split(" at line ").next().unwrap_or(&text))
}

/// Replaces the names of types in a parser's message by plain words.
pub(super) fn in_plain_words(message: &str) -> String {
    let whole = "expected a whole number, zero or more";
    let mut text = escape_invisible(message);
    for (words, plain) in [
        ("expected u64", whole),
        ("expected u32", whole),
        ("expected f64", "expected a number"),
        ("expected a string", "expected text"),
    ] {
        text = text.replace(words, plain);
    }
    text
}

/// Returns the text at the position of a syntax error.
fn text_at_error<'a>(bytes: &'a [u8], error: &serde_json::Error) -> &'a str {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let line = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    // The reported column is that of the first unexpected character, or the next one.
    let start = error.column().saturating_sub(2);
    let word = line.get(start..).unwrap_or_default();
    word.trim_start_matches([':', ' ', ',', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Run, Problems> {
        parse_header(json.as_bytes(), "r.json", None, Some("r"))
    }

    #[test]
    fn a_plain_result_of_the_original_schema_loads() {
        let run = parse(
            r#"{"id":"5f0c","suite":"tasktracker","approach":"ralph","model":"sonnet","timestamp":"2026-01-10T10:00:00Z",
            "duration_seconds":754,"total_calls":9,"input_tokens":200000,"output_tokens":45000,"total_tokens":245000,"cost_usd":0.52,
            "shared_tests_passed":18,"shared_tests_total":20,"own_tests_passed":25,"own_tests_total":25,"files_generated":12,
            "lines_generated":900,"output_dir":"out/x","later_field":{"a":1}}"#,
        )
        .expect("a valid result");
        assert_eq!(run.total_tokens, Some(245_000));
        assert_eq!(run.status, RunStatus::Completed);
        assert_eq!(run.cost_source, CostSource::Reported);
    }

    #[test]
    fn missing_stays_missing_and_zero_stays_zero() {
        let run = parse(
            r#"{"suite":"s","approach":"a","model":"m","own_tests_passed":0,"own_tests_total":0}"#,
        )
        .expect("valid");
        assert_eq!(
            (run.own_tests_passed, run.own_tests_total),
            (Some(0), Some(0))
        );
        assert_eq!((run.cost_usd, run.shared_tests_total), (None, None));
        assert_eq!(run.id.as_str(), "r");
    }

    #[test]
    fn an_error_text_without_a_status_is_a_failed_run() {
        let run = parse(r#"{"suite":"s","approach":"a","error":"boom"}"#).expect("valid");
        assert_eq!(run.status, RunStatus::Failed);
    }

    #[test]
    fn every_wrong_key_is_reported() {
        let problems =
            parse(r#"{"suite":3,"approach":"a","input_tokens":-5,"duration_seconds":"long"}"#)
                .expect_err("three wrong types");
        assert_eq!(problems.0.len(), 3, "{problems}");
        let problems =
            parse(r#"{"suite":"","cost_usd":-1,"shared_tests_passed":9,"shared_tests_total":3}"#)
                .expect_err("four wrong values");
        assert_eq!(problems.0.len(), 4, "{problems}");
    }

    #[test]
    fn syntax_problems_say_what_is_wrong() {
        let cases = [
            ("", "is empty"),
            (r#"{"suite":"s""#, "cut off"),
            (
                r#"{"suite":"s","approach":"a","cost_usd":NaN}"#,
                "is not JSON",
            ),
            (
                r#"{"suite":"s","approach":"a","cost_usd":1e400}"#,
                "out of range",
            ),
            ("[1]", "not an object"),
        ];
        for (json, message) in cases {
            let problems = parse(json).expect_err(json);
            assert!(problems.to_string().contains(message), "{json}: {problems}");
        }
        let nan = parse(r#"{"suite":"s","approach":"a","cost_usd":NaN}"#).expect_err("NaN");
        assert!(nan.0[0].hint.is_some());
    }

    #[test]
    fn a_run_survives_the_wire() {
        let mut run = Run::new(RunId::parse("r").expect("a valid id"), "s", "a", "m");
        run.cost_usd = Some(0.1 + 0.2);
        run.timestamp = parse_time("2026-02-03T04:05:06.789Z");
        run.items_digest = Some(ItemsDigest {
            sha256: "0f".repeat(32),
            items: 3,
            hashed: 2,
        });
        run.tags.insert("k".to_owned(), "v \u{1b}".to_owned());
        assert_eq!(
            parse(&to_json(&run)).expect("its own output"),
            Run {
                cost_source: CostSource::Unknown,
                ..run
            }
        );
    }
}
