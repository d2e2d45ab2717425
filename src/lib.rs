//! `evalreport` runs evaluations of AI agents into an append-only store and says which approach wins, by how much, whether that is
//! evidence, why, and at what cost.
//!
//! Data flows one way:
//!
//! ```text
//! suites/, question files --suite--> run (agent, process, evaluate) --+
//!                                                                     v
//! other tools' files --import--> results/ (append-only JSON) --ingest--> warehouse (polars, outcome matrices)
//!                                                                               |
//!               site, terminal, JSON, Markdown, CSV <--render-- views <-- inference (stats: pure)
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
//! | 0 | [`files`] | opens regular files, and nothing else, to read them; temporary ones, and what is left of them | nothing of ours |
//! | 1 | [`process`] | start, feed, confine, bound and stop a process group; networks of their own for runs | nothing of ours |
//! | 1a | [`document`] | YAML and JSON text into a tree that knows lines and columns; collected problems | domain |
//! | 1a | [`transcript`] | what the transcripts of coding agents say was used: tokens and tools, each once | domain |
//! | 1a | [`junit`] | JUnit XML into its cases, one after another | domain |
//! | 1b | [`config`] | `evalreport.yaml` into typed settings | domain, files, document |
//! | 1b | [`results`] | the store: layout, wire structs, commit, read, examine; the only writer there | domain, files |
//! | 1b | [`suite`] | `suites/*/suite.yaml` and question specs into typed suites; prompts of questions | domain, files, document |
//! | 1b | [`verify`] | which checks fit a goal and a stack, and what their failures mean; pure over a listing and outcomes | domain, document |
//! | 1 | [`serve`] | hands a folder's files to browsers on this machine | files |
//! | 2a | [`agent`] | how a prompt becomes an answer: programs, coding agents' command lines, HTTP chat APIs, replay | domain, files, transcript, config, process |
//! | 2 | [`import`] | one foreign format per file, into the same records through the same store | domain, files, document, transcript, junit, results |
//! | 2b | [`evaluate`] | one evaluator per file: what an answer or a finished workspace is worth | domain, files, document, junit, config, suite, process, agent |
//! | 2c | [`run`] | carries out plans: workspaces, tests, limits, resume | domain, files, stats, document, config, results, suite, verify, process, agent, evaluate |
//! | 3 | [`warehouse`] | the only module that names polars: tables, cache, outcome matrices, typed queries | domain, files, results |
//! | 4 | [`inference`] | which runs count, what each arm is worth, what may be said of each pair, and what to do | domain, stats, warehouse |
//! | 4b | [`views`] | what a page or table says, as plain structs | domain, stats, warehouse, inference |
//! | 5 | [`render`] | views into bytes: HTML, terminal, JSON, Markdown, CSV, reports for other tools; numbers become text once | domain, views |
//! | 6 | [`publish`] | making the site: which runs and transcripts, what must not be said, what is as it was | domain, files, import, results, warehouse, views, render |
//! | 7 | [`cli`] | arguments, one file per command, printing, progress, exit codes | everything |
//!
//! # Invariants
//!
//! - Only `warehouse` names polars. Only `results` writes under `results/`, and a committed record is never rewritten.
//! - Files of a layer do not use each other in a circle.
//! - What agents, judges and imports wrote reaches a page only as `domain::Published`, which the redactor alone makes.
//! - `render` computes nothing, orders nothing and reads no file.
//! - Printing, exit, environment and the wall clock belong to `cli`; other layers are handed values. Only what runs programs or serves has a
//!   stopwatch, and `run` notes when a run ended. `import`, `warehouse` and `publish` say what they did as `tracing` events, which nobody hears
//!   unless `cli` listens.
//! - Only `process` starts programs. Only `agent` talks to the network; `process` asks whether a server on this machine is up, and `serve` answers
//!   browsers on this machine.
//! - A plan is stored before its first run, an outcome once it is decided, a header last: a batch that is killed can be gone on with.
//! - A failure is a recorded status that says whose fault it was; what was measured until then is kept with it.
//! - Same inputs, same bytes: ordered maps, no time of day in the output. Seeds are recorded, and what is drawn follows from them.
//! - What was not measured is absent, never zero; no rate without its n and what is missing.
//! - What is committed is sealed: `seal` alone decides what a digest is made of, and `doctor --verify` makes it again.
//! - The cache can be deleted at any time, and knows nothing of a file that could not be read.
//! - Programs of a run reach what [`run`]'s isolation grants them. Tests come from a private copy of the suite.
//! - Secrets of the environment are taken out where records are written ([`results::Store::hiding`]), and refused where they are published.
//! - Text from results and imports is hostile: escaped in HTML, made visible on a terminal, never a path or a shell word.

pub mod agent;
pub mod cli;
pub mod config;
pub mod document;
pub mod domain;
pub mod evaluate;
pub mod files;
pub mod import;
pub mod inference;
pub mod junit;
pub mod process;
pub mod publish;
pub mod render;
pub mod results;
pub mod run;
pub mod serve;
pub mod stats;
pub mod suite;
pub mod transcript;
pub mod verify;
pub mod views;
pub mod warehouse;
