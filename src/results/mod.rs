//! The append-only store under `results/`: layout, wire structs, commit, read, examine. The only writer there.
//!
//! ```text
//! results/
//!   <id>.json               one run, committed last and whole: it exists exactly when the run is complete
//!   <id>/items.jsonl        one line per item outcome, appended as each is decided
//!   <id>/scores.jsonl       one line per evaluator result and revision
//!   batches/<batch>.json    the plan of one command's runs, written before the first of them
//!   imports/<key>.runs.jsonl, <key>.items.jsonl.zst   one sealed pair per imported source
//!   retractions.jsonl       tombstones: views leave these runs out and say how many
//! ```

mod durable;
mod header;
mod journal;
mod store;

pub use header::{parse_header, read_header, to_json};
pub use journal::Journal;
pub use store::{Store, StoreError};
