//! Runs and outcomes, ready for queries. The only module that uses polars.
//!
//! The cache beside `results/` has two kinds of files, which can be deleted at any time:
//!
//! - the *snapshot*: every run and one status byte per (run, attempt, item), with scores that contain more, of stores and lakes.
//!   Leaderboards, pairings and pages use it as plain slices; a command reads only the files that changed since.
//! - the *segments*: item lines as Parquet, keyed by their source's content, written when a query first needs money, time or
//!   text per item (`sql`, `export`, pages of imported tables).
//!
//! Frames are for what is not an outcome: [`GroupedNumbers`] summarises numbers per run, and `sql`, exports and lakes are tables.
//!
//! Superseded files are removed; a command that uses segments or imported stores holds the folder.

// Layers below, under the names that they have in this house.
use evalreport_model::{domain, files};
use evalreport_store as results;

mod cache;
mod conflicts;
mod counted_answer;
mod display_names;
mod engine_answer;
mod export;
mod external_rows;
mod facts;
mod hidden;
mod ingest;
mod intern;
mod item_file;
mod item_usage;
mod items;
mod judged_rows;
mod lake;
mod line_templates;
mod matrix;
mod open;
mod outcome_columns;
mod packing;
mod progress;
mod records;
mod row_check;
mod run_row;
mod segment;
mod short_digest;
mod snapshot;
mod source_stamp;
mod spool;
mod sql;
mod sql_error;
mod statuses;
mod stored_run;
mod summaries;
mod tables;
mod threads;
mod totals;

pub use cache::{
    CacheKind, CachePart, IMPORTED_PREFIX, LAKE_PREFIX, SITE_PREFIX, SOURCE_EXTENSION, cache_parts,
    clear_cache, sweep_cache,
};
pub use display_names::{DisplayNames, NameKind};
pub use engine_answer::{
    EngineAnswer, EngineCell, EngineItem, EngineLines, EngineRow, EngineRun, ExpectedOutcomes,
    describe_mismatches,
};
pub use export::ExportFormat;
pub use hidden::{HiddenBy, HiddenRun};
pub use item_usage::{AttemptUsage, ItemUsage};
pub use lake::{Publication, PublicationCounts, is_decoding};
pub use matrix::{MatrixItem, MatrixRow, OutcomeMatrix, RowScores};
pub use open::{DifferingCopy, RedactedWarehouse, Warehouse, WarehouseOptions};
pub use packing::{BundleSummary, write_bundle};
pub use progress::Progress;
pub use records::StoredLocation;
pub use row_check::CheckedRunFields;
pub use run_row::RunRow;
pub use short_digest::{cluster_id, item_id};
pub use source_stamp::FileStamp;
pub use spool::RunOutcomes;
pub use sql::{DerivedTable, SqlTable, SqlValue};
pub use sql_error::SqlError;
pub use statuses::Statuses;
pub use summaries::{GroupSummary, GroupedNumbers};
pub use threads::can_start_threads;
pub use totals::ItemTotals;
