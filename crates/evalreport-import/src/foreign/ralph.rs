//! ralph eval: one flat file per run, with the schema of the store's own headers.
//!
//! The header's parser knows which zeros mean not measured. File names are never read.

use crate::domain::{ItemKind, Run};
use crate::results::{has_zeros_for_unknown, parse_header};

use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::ForeignFileGroup;

const MAX_BYTES: u64 = 1 << 20;
const NAME_KEYS: [&str; 3] = ["suite", "approach", "model"];
const MEASURED_KEYS: [&str; 3] = [
    "duration_seconds",
    "shared_tests_passed",
    "shared_tests_total",
];

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "ralph",
        title: "ralph eval",
        kind: ItemKind::Test,
        reads_names: false,
        version: 3,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    // The store's own headers name their format.
    let is_ours = peek.has_all(&NAME_KEYS) && peek.has_all(&MEASURED_KEYS) && !peek.has("format");
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    let bytes = file.read_bytes(MAX_BYTES)?;
    let value: serde_json::Value = super::json_reader::read_value(bytes.as_slice(), &file.shown)?;
    // Later files have no id. Their content differs by the run's time.
    let content = hex_digest(&[&bytes], false);
    let header = parse_header(&bytes, &file.shown, None, Some(&content))
        .map_err(|problems| ReadStop::Unreadable(problems.0))?;
    let own_id = value.get("id").and_then(super::json::to_filled_text);
    let identity = own_id.unwrap_or(content);
    let Some(run) = sink.begin_run(
        &[&identity],
        [&header.suite, &header.approach, &header.model],
    ) else {
        return Ok(());
    };
    if has_zeros_for_unknown(&bytes) {
        sink.note_quirk("zeros for tokens, costs, calls and totals are read as not measured");
    }
    let record = sink.run_mut(run);
    *record = Run {
        id: record.id.clone(),
        suite: record.suite.clone(),
        approach: record.approach.clone(),
        model: record.model.clone(),
        // Folders of another machine are useless here.
        output_dir: None,
        ..header
    };
    if let Some(turns) = value.get("total_turns").and_then(super::json::to_count) {
        record
            .tags
            .insert("total_turns".to_owned(), turns.to_string());
        sink.note_quirk("the file has the later schema, with `total_turns`");
    }
    Ok(())
}
