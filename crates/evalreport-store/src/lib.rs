//! The append-only store under `results/`: layout, wire structs, commit, read, examine. The only writer there.
//!
//! ```text
//! results/
//!   <id>.json               one run, committed last and whole: it exists exactly when the run is complete
//!   <id>/items.jsonl        one line per item outcome, appended as each is decided
//!   <id>/transcript.jsonl   messages and tool calls, written before the outcomes based on them
//!   <id>/output/            the agent's artefacts
//!   <id>/begun.json         what a recorded run is, written before its first outcome; other runs have a plan
//!   <id>/scores.jsonl       one line per evaluator result and revision
//!   batches/<batch>.json    the plan of one command's runs, written before the first of them
//!   batches/<batch>.commits.jsonl  one line per committed run of the plan, with the digest of its header
//!   imports/<key>.runs.jsonl, <key>.items.jsonl.zst   one sealed pair per imported source; judgements of its runs are in
//!                           `<id>/items.jsonl` and `<id>/scores.jsonl`, without a header beside the folder
//!   chain/<time>-<digest>.jsonl  one entry per command that added records: their digests, and the entries before it
//!   acceptances.jsonl       regressions that somebody accepted: gates with a moving baseline begin anew after them
//!   retractions.jsonl       tombstones: views hide these runs and count them
//! ```
//!
//! A header, or the line of a later judgement, ends in a seal: the digests of the files beside it, and its own.

// Layers below, under the names that they have in this house.
use evalreport_model::{domain, files};

mod acceptance;
mod added;
mod append_log;
mod atomic_output;
mod batch;
mod bundle;
mod canonical_json;
mod chain;
mod commits;
mod detailed;
mod durable;
mod examine;
mod header;
mod import_lock;
mod imported_pair;
mod item_line;
mod item_texts;
mod journal;
pub mod json_memory_limit;
mod judgement;
mod leftovers;
mod lines;
mod links;
mod output;
mod presence;
mod protected_paths;
mod records;
mod retraction;
mod run_start;
mod scan;
mod score_line;
mod seal;
mod signature;
mod store;
mod store_error;
mod templated_line;
mod unfinished;
mod untrusted_texts;
mod verify_digests;

pub use acceptance::{append_acceptances, load_acceptances};
pub use added::AddedRecords;
pub use atomic_output::AtomicOutput;
pub use batch::{
    Batch, PlannedArm, PlannedContent, PlannedRun, ReplacementRun, RerunScope, Subset,
    split_committed,
};
pub use bundle::{
    BUNDLE_PATH_IN_SITE, BundleDecisions, BundleExtent, BundleParts, BundleRewriter, BundleWriter,
    UnpackedBundle, begins_bundle, bundle_path_in_site, is_bundle, page_element, preview_bundle,
    unpack_figures, unpack_into_folder, unpack_into_store,
};
pub use chain::ChainState;
pub use examine::{StoreExamination, describe_progress, examine_store};
pub use header::{has_zeros_for_unknown, parse_header, read_opened_header, to_json};
pub use import_lock::ImportLock;
pub use imported_pair::{SealedReader, SealedWriter};
pub use item_line::{ItemLine, LineError, write_import_line, write_journal_line};
pub use item_texts::{ItemTextDigests, item_hash_of};
pub use journal::{RunJournal, TranscriptLine, details_of};
pub use judgement::Judgements;
pub use lines::{LineProblem, LineReader, MAX_LINE_BYTES, for_each_line};
pub use output::KeptFiles;
pub use protected_paths::WriteProtectedPaths;
pub use records::{RecordsWriter, records_schema};
pub use retraction::{Retraction, Retractions};
pub use run_start::RunStart;
pub use scan::{
    HeaderFile, HeaderlessFolder, ItemSource, SealedPair, StoreContents, list_plans, scan_store,
};
pub use score_line::{JudgeLine, ScoreLine};
pub use signature::{AllowedSigners, SigningKey, signature_path};
pub use store::Store;
pub use store_error::StoreError;
pub use templated_line::{ItemMeasurements, LineTemplate, parse_templated_line};
pub use unfinished::unfinished_runs;
pub use verify_digests::{StoreVerification, verify_store};
