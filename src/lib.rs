//! `evalreport` runs evaluations of AI agents and keeps their results in an append-only store. It reports which approach wins, by how much,
//! how strong the evidence is, why, and at what cost.
//!
//! Data flows one way:
//!
//! ```text
//! suites/, question files --suite--> run (agent, process, evaluate) --+
//!                                                                     v
//! other tools' files --import--> results/ (append-only JSON) --ingest--> warehouse (polars, outcome matrices) <--engine-- Arrow Flight SQL
//!                                                                               |
//!               site, terminal, JSON, Markdown, CSV <--render-- views <-- inference (stats: pure)
//! ```
//!
//! # Layers
//!
//! A higher layer may use lower ones, never the reverse. The layers below `views` are crates, which have their layer's name here, so that a path is the
//! same wherever the layer lives; Cargo keeps their order, and `tests/it/architecture.rs` checks all code against this table.
//!
//! | layer | module | owns | may use |
//! | --- | --- | --- | --- |
//! | 0 | [`domain`] | the vocabulary as plain data; no I/O, clock or randomness | nothing of ours |
//! | 0 | [`stats`] | pure mathematics on slices and counts | nothing of ours |
//! | 0 | [`files`] | opens regular files, and nothing else, for reading; temporary files, their cleanup, and the removal of whole trees | nothing of ours |
//! | 1 | [`process`] | starts, feeds, confines, limits and stops process groups; namespaces and private networks for runs | nothing of ours |
//! | 1a | [`document`] | YAML and JSON text into a tree with lines and columns; collected problems | domain |
//! | 1a | [`transcript`] | usage in the transcripts of coding agents: tokens and tools, each counted once | domain |
//! | 1a | [`junit`] | JUnit XML into its cases, one by one | domain |
//! | 1b | [`config`] | `evalreport.yaml` into typed settings | domain, files, document |
//! | 1b | [`results`] | the store: layout, stored structs, commit, read, check; its only writer | domain, files |
//! | 1b | [`grade`] | grades of free answers: texts, numbers, patterns, JSON and choices, read from replies; pure | domain, document |
//! | 1c | [`suite`] | `suites/*/suite.yaml` and question specs into typed suites; prompts of questions | domain, files, document, grade |
//! | 1b | [`verify`] | which checks fit a goal and a stack, and what their failures mean; pure over a listing and outcomes | domain, document |
//! | 1 | [`serve`] | serves a folder's files to browsers on this machine | files |
//! | 2a | [`agent`] | turns a prompt into an answer: programs, coding agents' command lines, HTTP chat APIs, replay | domain, files, transcript, config, process |
//! | 2 | [`import`] | foreign formats, one per file, into the same records in the same store | domain, stats, files, document, transcript, junit, results |
//! | 2b | [`evaluate`] | evaluators of answers and finished workspaces, one per file | domain, files, document, junit, config, suite, process, agent |
//! | 2c | [`run`] | executes plans: workspaces, tests, limits, resume | domain, files, stats, document, config, results, grade, suite, verify, process, agent, evaluate |
//! | 3 | [`warehouse`] | tables, cache, lakes, outcome matrices and typed queries; the only module that uses polars | domain, files, results |
//! | 3b | [`engine`] | asks an engine that others run, by Arrow Flight SQL, and holds its answers against each other and the lake's own sums | domain, results, warehouse |
//! | 4 | [`inference`] | which runs count, the figures of each arm, the verdict on each pair, and what to do | domain, stats, warehouse |
//! | 4b | [`views`] | the content of pages and tables, as plain structs | domain, stats, warehouse, inference |
//! | 5 | [`render`] | views into bytes: HTML, terminal, JSON, Markdown, CSV, reports for other tools; numbers become text once | domain, views |
//! | 6 | [`publish`] | makes the site: which runs and transcripts to publish, what to redact, what is unchanged | domain, files, import, results, warehouse, views, render |
//! | 7 | [`cli`] | arguments, one file per command, printing, progress, exit codes | everything |
//!
//! # Invariants
//!
//! - Outcomes are counted in matrices and planes of bits. Numbers per run (money, time, tokens, scores) and accuracy by category are
//!   summarised by polars, for stores and lakes alike; their medians and percentiles are places in a sorted slice, which needs no frame.
//! - Only `warehouse` uses polars. Only `results` writes under `results/`, and a committed record is never rewritten.
//! - Files of a layer do not depend on each other in cycles.
//! - Text from agents, judges and imports reaches a page only as `domain::Redacted`, which only the redactor creates.
//! - `render` computes nothing, sorts nothing and reads no file.
//! - Printing, exit codes, environment and the wall clock belong to `cli`; other layers receive values. Only code that runs programs, asks
//!   engines or serves measures time, and `run` records when a run ended. `import`, `warehouse` and `publish` report progress as `tracing` events,
//!   which have no effect unless `cli` listens.
//! - Only `process` starts programs. Only `agent` and `engine` use the network; `process` checks whether a local server is up, and `serve`
//!   answers local browsers.
//! - A plan is stored before its first run, an outcome when it is decided, and a header last, so a killed batch can be resumed.
//! - A failure is a recorded status that says whose fault it was. The measurements up to then are kept with it.
//! - The same inputs give the same bytes: maps are ordered, and output has no time of day. Seeds are recorded, and all random choices
//!   follow from them.
//! - An unmeasured value is absent, never zero. No rate is shown without its n and its missing outcomes.
//! - Committed records are sealed: only `seal` defines what a digest covers, and `doctor --verify` recomputes it. A command that adds records
//!   adds an entry to the store's chain, so that a record that is taken out is missed.
//! - The cache can be deleted at any time, and holds nothing about files that could not be read.
//! - A run's programs can access only what [`run`]'s isolation grants. Tests come from a private copy of the suite.
//! - Secrets of the environment are removed when records are written ([`results::Store::with_secrets`]), and block publication.
//! - Text from results and imports is hostile: it is escaped in HTML, made visible on a terminal, and never used as a path or a shell word.

pub mod cli;
pub mod publish;
pub mod render;
pub mod serve;
pub mod views;
pub use evalreport_engine as engine;
pub use evalreport_grade as grade;
pub use evalreport_import as import;
pub use evalreport_inference as inference;
pub use evalreport_model::{config, document, domain, files, transcript};
pub use evalreport_run::{agent, evaluate, process, run, suite};
pub use evalreport_stats as stats;
pub use evalreport_store as results;
pub use evalreport_test_output as junit;
pub use evalreport_verify as verify;
pub use evalreport_warehouse as warehouse;
