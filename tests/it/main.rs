//! The one integration binary: linking polars is what costs, so it is linked once.

mod agents;
mod architecture;
mod broken;
mod browser;
mod cache;
mod cli;
mod code_runs;
mod compare;
mod doctor;
mod evidence;
mod gate;
mod history;
mod import;
mod leaderboard;
mod log;
mod oracle;
mod published;
mod schema;
mod site;
mod sql_export;
mod store;
mod suites;
mod support;
mod textbook;
