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

mod acceptance;
mod added;
mod appended;
mod batch;
mod begun;
mod bundle;
mod chain;
mod commits;
mod detailed;
mod durable;
mod examine;
mod guarded;
mod header;
pub mod heap;
mod import_lock;
mod item_line;
mod item_texts;
mod journal;
mod judgement;
mod known_line;
mod leftovers;
mod lines;
mod links;
mod output;
mod presence;
mod proof;
mod records;
mod retraction;
mod scan;
mod score_line;
mod seal;
mod sealed;
mod shape;
mod signature;
mod store;
mod store_error;
mod unfinished;
mod whole_file;

pub use acceptance::{append_acceptances, load_acceptances};
pub use added::Added;
pub use batch::{Again, Batch, How, PlannedArm, PlannedContent, PlannedRun, Subset, parted};
pub use begun::Begun;
pub use bundle::{
    BundleParts, BundleWriter, Decisions, Extent, IN_SITE, Rewriter, Unpacked, adopt,
    begins_bundle, in_site, is_bundle, look_into, page_element, unpack, unpack_apart,
};
pub use chain::ChainState;
pub use examine::{Examination, examine, so_far};
pub use guarded::Guarded;
pub use header::{has_zeros_for_unknown, parse_header, read_opened_header, to_json};
pub use import_lock::ImportLock;
pub use item_line::{ItemLine, LineError, write_import_line, write_line};
pub use item_texts::{ItemTexts, item_hash_of};
pub use journal::{Journal, TranscriptLine, details_of};
pub use judgement::Judgements;
pub use known_line::{Measured, Refrain, known_line};
pub use lines::{LineProblem, LineReader, MAX_LINE_BYTES, for_each_line};
pub use output::KeptFiles;
pub use proof::{Proof, prove};
pub use records::{RecordsWriter, records_schema};
pub use retraction::{Retraction, Retractions};
pub use scan::{Contents, HeaderFile, Headless, ItemSource, SealedPair, plans, scan};
pub use score_line::{JudgeLine, ScoreLine};
pub use sealed::{SealedReader, SealedWriter};
pub use signature::{AllowedSigners, SigningKey, signature_path};
pub use store::Store;
pub use store_error::StoreError;
pub use unfinished::unfinished_runs;
pub use whole_file::WholeFile;
