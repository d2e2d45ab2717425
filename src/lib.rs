//! `evalreport` reads results of AI-agent evaluations from an append-only store and says which approach wins, by how much, whether
//! that is evidence, why, and at what cost.
//!
//! Data flows one way:
//!
//! ```text
//! other tools' files --import--> results/ (append-only JSON) --ingest--> warehouse (polars, outcome matrices)
//!                                                                               |
//!                       site, terminal, JSON, Markdown, CSV <--render-- views <-+-- stats (pure)
//! ```
//!
//! # Layers
//!
//! A higher layer may use lower ones, never the reverse; `tests/it/architecture.rs` holds this table against the code.
//!
//! | layer | module | owns | may use |
//! | --- | --- | --- | --- |
//! | 0 | [`domain`] | the vocabulary as plain data; no I/O, clock or randomness | nothing of ours |
//! | 0 | [`stats`] | pure mathematics on slices and counts | nothing of ours |
//! | 1a | [`document`] | YAML and JSON text into a tree that knows lines and columns; collected problems | domain |
//! | 1b | [`config`] | `evalreport.yaml` into typed settings | domain, document |
//! | 1b | [`results`] | the store: layout, wire structs, commit, read, examine; the only writer there | domain |
//! | 2 | [`import`] | one foreign format per file, into the same records through the same store | domain, document, results |
//! | 2b | [`evaluate`] | what an agent left behind into outcomes and figures | domain |
//! | 3 | [`warehouse`] | the only module that names polars: tables, cache, outcome matrices, typed queries | domain, results |
//! | 4 | [`views`] | what a page or table says, as plain structs | domain, stats, warehouse |
//! | 5 | [`render`] | views into bytes: HTML, terminal, JSON, Markdown, CSV; numbers become text once | domain, views |
//! | 6 | [`cli`] | arguments, one file per command, printing, progress, exit codes, writing the site | everything |
//!
//! # Invariants
//!
//! - Only `warehouse` names polars. Only `results` writes under `results/`, and a committed record is never rewritten.
//! - `render` computes nothing, orders nothing and reads no file.
//! - Printing, exit, environment and the wall clock belong to `cli`; other layers are handed values. `import` and `warehouse` say what
//!   they did as `tracing` events, which nobody hears unless `cli` listens.
//! - Same inputs, same bytes: ordered maps, no time of day in the output.
//! - What was not measured is absent, never zero; no rate without its n and what is missing.
//! - The cache can be deleted at any time. No command starts a program or opens a socket.
//! - Text from results and imports is hostile: escaped in HTML, made visible on a terminal, never a path or a shell word.

pub mod cli;
pub mod config;
pub mod document;
pub mod domain;
pub mod evaluate;
pub mod import;
pub mod render;
pub mod results;
pub mod stats;
pub mod views;
pub mod warehouse;
