//! Reads results through an engine that others run, by Arrow Flight SQL.
//!
//! The engine does the large part: it scans a lake, picks the revision of each run that counts, and gives the outcome matrix at one byte per
//! outcome (`queries/*.sql`). Everything that needs care about numbers is done by the same code as for files, behind
//! [`EngineAnswer`](crate::warehouse::EngineAnswer).
//!
//! Nothing that an engine says is trusted: columns and types are checked, items must have the ids that their names give, each row must have
//! as many cells as the engine counted, with the same weighed sum, and the runs must be the same before and after. What the lake says of
//! itself is held against it: the rows of each commit of `runs`, a digest of each row, and the number of each run's outcomes with two sums
//! over them. Each message is measured before it is unpacked.

// Layers below, under the names that they have in this house.
use evalreport_model::domain;
use evalreport_store as results;
use evalreport_warehouse as warehouse;

mod address;
mod bounds;
mod client;
mod columns;
mod engine_error;
mod queries;
mod reading;
mod sums;

pub use address::EngineAddress;
pub use client::{EngineAccess, is_decoding};
pub use engine_error::EngineError;
pub use reading::read_engine_answer;
