//! A lake: the runs and outcomes of stores as append-only Parquet, for many readers and more than one machine.
//!
//! ```text
//! DIR/
//!   _evalreport.json                       what this folder is, and the version of its schema
//!   runs/_delta_log/N.json                 the log of the table `runs`: which files belong to it
//!   runs/part-….parquet                    one row per published revision of a run, retraction or its undo; the highest `sequence` stands
//!   outcomes/_delta_log/N.json
//!   outcomes/suite=…/month=…/part-….parquet  one row per item line, sorted by run and item; texts last
//! ```
//!
//! Both tables are Delta Lake tables. Nothing is rewritten: a file counts once a commit lists it, and a commit is a new log file that only
//! one publisher can create. `docs/look-up/lake.md` has the schema and the rule of what stands.

mod board_bytes;
mod decoding;
mod lines;
mod log;
mod marker;
mod publish;
mod read;
mod rows;
mod run_rows;
mod standing;

pub use decoding::is_decoding;
pub use publish::{Publication, PublicationCounts};
pub(super) use read::join_lake;
